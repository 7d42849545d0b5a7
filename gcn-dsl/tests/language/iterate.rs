//! Loops over arrays of values, `.iter().sum()` and the like, and control flow in closures.

#![allow(clippy::explicit_iter_loop, reason = "that this means the same is what is tested")]

use gcn_dsl::prelude::*;
use gcn_dsl::sim::{Options, Sanitize};

gcn_kernel! {
    #[workgroup(64)]
    fn over_arrays(x: &[f32], y: &mut [f32], n: &mut [i32], flags: [u32; 3]) {
        let i = global_id().x;
        let mut v = [0.0; 4];
        for k in 0..4 {
            v[k] = x[i * 4 + k];
        }
        let mut t = 0.0;
        for e in v {
            t += e * e;
        }
        for e in &v {
            t += e;
        }
        for e in v.iter() {
            t -= *e * 0.5;
        }
        for &e in v.iter().rev() {
            t = t * 0.5 + e;
        }
        for (j, (a, b)) in v.iter().zip(&flags).enumerate() {
            t += a * j as f32 + *b as f32;
        }
        let sum: V<f32> = v.iter().sum();
        let squares: V<f32> = v.iter().map(|a| a * *a).sum();
        let product: V<f32> = v.iter().map(|&a| a + 1.0).product();
        let w = [i as i32, 3, -2];
        n[i] = w.iter().max().unwrap() * 100 + w.iter().min().unwrap() * 10 + w.iter().sum::<i32>()
            + flags.iter().max().unwrap() as i32;
        y[i] = sum + t + squares + product;
    }
}

#[test]
fn arrays_of_values_are_gone_over_as_in_rust() {
    let x: Vec<f32> = (0..256).map(|i| (i % 23) as f32 * 0.25 - 2.0).collect();
    let flags = [7, 1, 4];
    for target in [Target::GFX906, Target::GFX942] {
        let (mut y, mut n) = (vec![0.0; 64], vec![0; 64]);
        over_arrays.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y, &mut n, flags)).unwrap();
        for i in 0..64 {
            let v: [f32; 4] = x[i * 4..][..4].try_into().unwrap();
            let mut t = 0.0;
            for e in v {
                t += e * e;
            }
            for e in &v {
                t += e;
            }
            for e in v.iter() {
                t -= *e * 0.5;
            }
            for &e in v.iter().rev() {
                t = t * 0.5 + e;
            }
            for (j, (a, b)) in v.iter().zip(&flags).enumerate() {
                t += a * j as f32 + *b as f32;
            }
            let sum: f32 = v.iter().sum();
            let squares: f32 = v.iter().map(|a| a * *a).sum();
            let product: f32 = v.iter().map(|&a| a + 1.0).product();
            let w = [i as i32, 3, -2];
            let extremes = w.iter().max().unwrap() * 100 + w.iter().min().unwrap() * 10;
            assert_eq!(n[i], extremes + w.iter().sum::<i32>() + *flags.iter().max().unwrap() as i32, "{i}");
            assert_eq!(y[i], sum + t + squares + product, "{i}");
        }
    }
}

gcn_kernel! {
    #[device]
    fn twice<F: Fn(V<f32>) -> V<f32>>(f: F, x: V<f32>) -> V<f32> {
        f(f(x))
    }

    #[device]
    fn checked(x: V<f32>, i: V<u32>) -> Option<V<u32>> {
        if x > 3.0 { Some(i) } else { None }
    }

    #[workgroup(64)]
    fn in_closures<const DOUBLE: bool>(x: &[f32], table: &[f32], y: &mut [f32], steps: &mut [u32]) {
        let i = global_id().x;
        let leaky = |v: V<f32>| if v > 0.0 { v } else { 0.1 * v };
        let act = |v| if DOUBLE { v * 2.0 } else { v };
        let class = |k: V<u32>| match k {
            0 => 1.0,
            1 | 2 => 2.0,
            _ => 3.0,
        };
        let halvings = |v: V<f32>| {
            let mut rest = v.abs();
            let mut count = 0;
            while rest > 1.0 {
                rest *= 0.5;
                count += 1;
                if count == 5 {
                    break;
                }
            }
            count
        };
        let mut sum = act(leaky(x[i])) + class(i % 5) + twice(leaky, x[i]);
        if x[i] < 2.0 {
            // Only some lanes execute the closures here.
            sum += leaky(x[i] - 1.0) + class(i % 3);
        }
        // The closure is executed only where there is a number; for other lanes, `table` has no element.
        let found = checked(x[i], i).map(|k| if k % 2 == 0 { table[k] } else { table[k - 1] + 1.0 });
        y[i] = sum + found.unwrap_or(0.25);
        steps[i] = halvings(x[i] * 8.0);
    }
}

#[test]
fn closures_have_branches_and_loops() {
    let x: Vec<f32> = (0..64).map(|i| (i as f32 * 0.37) % 7.0 - 3.0).collect();
    let largest = (0..64).filter(|i| x[*i] > 3.0).max().unwrap();
    let table: Vec<f32> = (0..=largest).map(|i| i as f32 * 1.5).collect();
    for target in [Target::GFX906, Target::GFX942] {
        let options = Options { sanitize: Sanitize::all(), ..Options::strict() };
        let device = Device::simulator_with(target, options);
        let (mut y, mut steps) = (vec![0.0; 64], vec![0; 64]);
        in_closures::<true>.launch(&device, Grid::x(1), (&x, &table, &mut y, &mut steps)).unwrap();
        for i in 0..64usize {
            let leaky = |v: f32| if v > 0.0 { v } else { 0.1 * v };
            let class = |k: usize| match k {
                0 => 1.0,
                1 | 2 => 2.0,
                _ => 3.0,
            };
            let mut sum = leaky(x[i]) * 2.0 + class(i % 5) + leaky(leaky(x[i]));
            if x[i] < 2.0 {
                sum += leaky(x[i] - 1.0) + class(i % 3);
            }
            let found =
                (x[i] > 3.0).then_some(i).map(|k| if k % 2 == 0 { table[k] } else { table[k - 1] + 1.0 });
            assert_eq!(y[i], sum + found.unwrap_or(0.25), "{i}");
            let (mut rest, mut count) = ((x[i] * 8.0).abs(), 0);
            while rest > 1.0 {
                rest *= 0.5;
                count += 1;
                if count == 5 {
                    break;
                }
            }
            assert_eq!(steps[i], count, "{i}");
        }
    }
}

gcn_kernel! {
    #[device]
    #[repr(C)]
    #[derive(PartialEq)]
    pub struct Block { d: f32, q: [u8; 4] }

    #[workgroup(64)]
    fn reinterpreted(x: *const f32, b: *const u8, y: *mut f32) {
        let i = global_id().x;
        let p = x.cast::<[f32; 4]>()[i];
        y.cast::<[f32; 4]>()[i] = [p[3], p[2], p[1], p[0] * 2.0];
        let block = b.cast::<Block>().add(i);
        let whole = unsafe { *block };
        y[256 + i] = whole.d + whole.q[3] as f32 + b.cast::<Block>()[0].q[1] as f32;
    }
}

#[test]
fn pointers_are_cast_to_arrays_and_structs() {
    let x: Vec<f32> = (0..256).map(|i| i as f32 * 0.5).collect();
    let bytes: Vec<u8> = (0..64u8)
        .flat_map(|i| [f32::from(i).to_le_bytes(), [i, i.wrapping_mul(3), 5, 255 - i]].concat())
        .collect();
    for target in [Target::GFX906, Target::GFX942] {
        let device = Device::simulator(target);
        let (from, blocks, to) =
            (device.alloc(256).unwrap(), device.alloc(512).unwrap(), device.alloc(320).unwrap());
        device.write(from, &x).unwrap();
        device.write(blocks, &bytes).unwrap();
        reinterpreted.launch(&device, Grid::x(1), (from, blocks, to)).unwrap();
        let y: Vec<f32> = device.read(to, 320).unwrap();
        for i in 0..64 {
            let p = &x[i * 4..][..4];
            assert_eq!(y[i * 4..][..4], [p[3], p[2], p[1], p[0] * 2.0]);
            assert_eq!(y[256 + i], i as f32 + (255 - i) as f32 + 0.0);
        }
    }
}
