//! `let v;` where a `loop` or a labelled block assigns the value. The reference is the same code, which rustc compiles
//! for the host.

#![allow(clippy::never_loop, reason = "that such loops give a value is what is tested")]

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn assigned_in_loops(x: &[u32], y: &mut [u32], z: &mut [u32], limit: u32) {
        let i = global_id().x;
        let v;
        loop { v = x[i] * 2; break; }
        // each lane has its own trip count
        let mut value: V<u32>;
        let mut at = i;
        loop {
            value = x[at];
            if value & 1 != 0 { break; }
            at += 1;
        }
        // uniform
        let n: u32;
        let mut k = 0u32;
        loop {
            if k * k > limit { n = k; break; }
            k += 1;
        }
        // two breaks, one of an outer loop
        let w;
        'outer: loop {
            let mut t = 0u32;
            loop {
                if t > i % 5 { w = t + 100; break 'outer; }
                if x[t] == 7 { w = 7; break 'outer; }
                t += 1;
            }
        }
        let b;
        'a: {
            if x[i] > 30 { b = 1; break 'a; }
            b = 2;
        }
        y[i] = v + value * 1000 + n * 100_000;
        z[i] = w + b * 1000;
    }
}

#[test]
fn a_variable_gets_its_value_on_every_way_out_of_a_loop() {
    let x: Vec<u32> = (0..128u32)
        .map(|i| (i * 37 + 11) % 64 * if i % 3 == 0 { 1 } else { 2 } + (i == 127) as u32)
        .collect();
    for target in [Target::GFX906, Target::GFX942] {
        let (mut y, mut z) = (vec![0; 64], vec![0; 64]);
        assigned_in_loops.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y, &mut z, 50)).unwrap();
        for i in 0..64usize {
            let v;
            loop {
                v = x[i] * 2;
                break;
            }
            let mut value: u32;
            let mut at = i;
            loop {
                value = x[at];
                if value & 1 != 0 {
                    break;
                }
                at += 1;
            }
            let n: u32;
            let mut kk = 0u32;
            loop {
                if kk * kk > 50 {
                    n = kk;
                    break;
                }
                kk += 1;
            }
            let w;
            'outer: loop {
                let mut t = 0u32;
                loop {
                    if t > i as u32 % 5 {
                        w = t + 100;
                        break 'outer;
                    }
                    if x[t as usize] == 7 {
                        w = 7;
                        break 'outer;
                    }
                    t += 1;
                }
            }
            let b;
            'a: {
                if x[i] > 30 {
                    b = 1;
                    break 'a;
                }
                b = 2;
            }
            assert_eq!(y[i], v + value * 1000 + n * 100_000, "{i}");
            assert_eq!(z[i], w + b * 1000, "{i}");
        }
    }
}
