//! Values that loops carry: pairs of accumulators in packed registers, results of a condition in the body, and values
//! that overwrite a variable where its old value is last read. The bits must equal the host's.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{TARGETS, bits};

const LANES: usize = 64;

gcn_kernel! {
    /// Three accumulators, two of which are a pair.
    #[workgroup(64)]
    fn attract(n: u32, points: &[f32], out: &mut [f32]) {
        let tile = Lds::<f32, 256>::new();
        let t = local_id().x;
        #[unroll] for c in 0..4u32 {
            tile[4 * t + c] = points[4 * t + c];
        }
        barrier();
        let (x, y, z) = (tile[4 * t], tile[4 * t + 1], tile[4 * t + 2]);
        let (mut ax, mut ay, mut az) = (0.0f32, 0.0f32, 0.0f32);
        for j in 0..n {
            let (dx, dy, dz) = (tile[4 * j] - x, tile[4 * j + 1] - y, tile[4 * j + 2] - z);
            let s = tile[4 * j + 3] * (dx * dx + dy * dy - dz);
            ax = dx.mul_add(s, ax);
            ay = dy.mul_add(s, ay);
            az = dz.mul_add(s, az);
        }
        out[3 * t] = ax;
        out[3 * t + 1] = ay;
        out[3 * t + 2] = az;
    }
}

gcn_kernel! {
    /// Lanes leave the loop one after the other; their accumulators in the pair stay unchanged.
    #[workgroup(64)]
    fn divergent(steps: &[u32], x: &[f32], out: &mut [f32]) {
        let i = local_id().x;
        let (mut a, mut b) = (x[2 * i], x[2 * i + 1]);
        let mut k = 0u32 + i * 0;
        while k < steps[i] {
            a = a * 0.5 + x[2 * k];
            b = b * 0.5 + x[2 * k + 1];
            if b > 3.0 {
                b = b - 2.0;
            }
            k += 1;
        }
        out[2 * i] = a;
        out[2 * i + 1] = b;
    }
}

gcn_kernel! {
    /// A scalar and signs as sources, and constants in one register or two.
    #[workgroup(64)]
    fn sources(s: f32, x: &[f32], out: &mut [f32]) {
        let i = global_id().x * 4;
        #[unroll] for k in 0..4u32 {
            let (a, b) = (x[i + (k ^ 1)], x[i + k]);
            let sum = a * s - b;
            out[i + k] = sum.mul_add(-b, 2.0) * (sum + 1.25);
        }
    }
}

macro_rules! narrow {
    ($($name:ident $t:ident)*) => {$(
        gcn_kernel! {
            #[workgroup(64)]
            fn $name(n: u32, zero: $t, a: &[$t], x: &[$t], y: &mut [$t]) {
                let i = local_id().x * 2;
                let a = a.assume_whole_dwords();
                let (mut s, mut t) = (a[i] * zero + zero, a[i] * zero + zero);
                for j in 0..n {
                    let v = x[j];
                    s = a[j * 128 + i] * v + s;
                    t = a[j * 128 + i + 1] * v + t;
                }
                y[i] = s;
                y[i + 1] = t;
            }
        }
    )*};
}
narrow! { halves f16 signed i16 unsigned u16 }

gcn_kernel! {
    /// The Mandelbrot iteration, whose condition contains the squares that the body needs.
    #[workgroup(64)]
    fn escape(limit: u32, c: &[f32], out: &mut [u32], at: &mut [f32]) {
        let i = local_id().x;
        let (cx, cy) = (c[2 * i], c[2 * i + 1]);
        let (mut zx, mut zy, mut k) = (0.0f32 + cx * 0.0, 0.0f32 + cx * 0.0, i * 0);
        while k < limit && zx * zx + zy * zy < 4.0 {
            let t = zx * zx - zy * zy + cx;
            zy = (2.0 * zx).mul_add(zy, cy);
            zx = t;
            k += 1;
        }
        out[i] = k;
        at[i] = zx;
    }
}

gcn_kernel! {
    /// A linked list, whose condition loads what the body adds.
    #[workgroup(64)]
    fn follow(next: &[u32], sums: &mut [u32]) {
        let mut at = local_id().x;
        let mut sum = at * 0;
        while next[at] != 0 {
            sum += next[at];
            at = next[at];
        }
        sums[local_id().x] = sum;
    }
}

fn floats(seed: u64, count: usize) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.below(1 << 20) as f32 / 65536.0 - 8.0).collect()
}

/// True if the target has packed instructions for f32.
fn packs(target: Target) -> bool {
    gcn_isa::table::find_mnemonic(target, "v_pk_fma_f32").next().is_some()
}

fn count(kernel: &impl Kernel, target: Target, name: &str) -> usize {
    kernel.build(target).unwrap().assembly(Comments::None).matches(name).count()
}

#[test]
fn accumulators_of_f32_are_pairs() {
    let points = floats(1, 256);
    for target in TARGETS {
        // On each trip, one subtraction and one sum are for two accumulators.
        let (packed, single) =
            (count(&attract, target, "v_pk_fma_f32"), count(&attract, target, "v_fmac_f32"));
        assert_eq!(packed > 0, packs(target), "{target}: {packed} and {single}");
        let mut out = vec![f32::NAN; 3 * LANES];
        attract.launch(&Device::simulator(target), Grid::x(1), (37, &points, &mut out)).unwrap();
        for t in 0..LANES {
            let at = |j: usize, c: usize| points[4 * j + c];
            let mut sums = [0f32; 3];
            for j in 0..37 {
                let d = [0, 1, 2].map(|c| at(j, c) - at(t, c));
                let s = at(j, 3) * (d[0] * d[0] + d[1] * d[1] - d[2]);
                sums = [0, 1, 2].map(|c| d[c].mul_add(s, sums[c]));
            }
            assert_eq!(
                out[3 * t..3 * t + 3].iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
                sums.map(f32::to_bits),
                "{target}, lane {t}"
            );
        }
    }
}

#[test]
fn lanes_that_left_keep_both_halves() {
    let x = floats(2, 2 * LANES);
    let steps: Vec<u32> = (0..LANES as u32).map(|i| i * 7 % 13).collect();
    for target in TARGETS {
        let mut out = vec![f32::NAN; 2 * LANES];
        divergent.launch(&Device::simulator(target), Grid::x(1), (&steps, &x, &mut out)).unwrap();
        for i in 0..LANES {
            let (mut a, mut b) = (x[2 * i], x[2 * i + 1]);
            for k in 0..steps[i] as usize {
                a = a * 0.5 + x[2 * k];
                b = b * 0.5 + x[2 * k + 1];
                if b > 3.0 {
                    b -= 2.0;
                }
            }
            assert_eq!([out[2 * i], out[2 * i + 1]], [a, b], "{target}, lane {i}");
        }
    }
}

#[test]
fn scalars_signs_and_constants_are_sources() {
    let (s, x) = (1.75f32, floats(3, 4 * LANES));
    for target in TARGETS {
        assert_eq!(count(&sources, target, "v_pk_fma_f32"), if packs(target) { 2 } else { 0 }, "{target}");
        let mut out = vec![f32::NAN; 4 * LANES];
        sources.launch(&Device::simulator(target), Grid::x(1), (s, &x, &mut out)).unwrap();
        for (i, got) in out.iter().enumerate() {
            let sum = x[i ^ 1] * s - x[i];
            let wanted = sum.mul_add(-x[i], 2.0) * (sum + 1.25);
            assert_eq!(got.to_bits(), wanted.to_bits(), "{target}, element {i}");
        }
    }
}

macro_rules! sums {
    ($($test:ident $name:ident $packed:literal $zero:expr, $make:expr, $step:expr;)*) => {$(
        #[test]
        fn $test() {
            let mut random = Random::new(5);
            let mut some = |count| (0..count).map(|_| $make(bits(&mut random))).collect::<Vec<_>>();
            let (a, x) = (some(9 * 128), some(9));
            for target in TARGETS {
                assert_eq!(count(&$name, target, $packed), 5, "{target}: four trips have four, and the rest one");
                let mut y = vec![x[0]; 2 * LANES];
                $name.launch(&Device::simulator(target), Grid::x(1), (9, $zero, &a, &x, &mut y)).unwrap();
                for (i, got) in y.iter().enumerate() {
                    let wanted = (0..9).fold($zero, |sum, j| $step(a[j * 128 + i], x[j], sum));
                    assert_eq!(*got, wanted, "{target}, element {i}");
                }
            }
        }
    )*};
}
sums! {
    accumulators_of_f16_are_packed halves "v_pk_mul_f16" f16::ZERO,
        |b: u64| f16::from_f32((b % 64) as f32 / 16.0 - 2.0), |a: f16, x: f16, sum: f16| a * x + sum;
    accumulators_of_i16_are_packed signed "v_pk_mul_lo_u16" 0i16,
        |b: u64| b as i16, |a: i16, x: i16, sum: i16| a.wrapping_mul(x).wrapping_add(sum);
    accumulators_of_u16_are_packed unsigned "v_pk_mul_lo_u16" 0u16,
        |b: u64| b as u16, |a: u16, x: u16, sum: u16| a.wrapping_mul(x).wrapping_add(sum);
}

#[test]
fn the_body_reuses_what_the_condition_computes() {
    let c: Vec<f32> = floats(7, 2 * LANES).into_iter().map(|x| x / 5.0).collect();
    for target in TARGETS {
        // The two squares are computed once before the loop and once at its end; `t` is not copied.
        let text = escape.build(target).unwrap().assembly(Comments::None);
        let looped = text.split("LBB").nth(2).unwrap_or(&text);
        assert_eq!(looped.matches("v_mul_f32").count(), 3, "{target}: {text}");
        assert_eq!(looped.matches("v_mov_b32").count(), 0, "{target}: {text}");
        let (mut out, mut at) = (vec![0u32; LANES], vec![0f32; LANES]);
        escape.launch(&Device::simulator(target), Grid::x(1), (40, &c, &mut out, &mut at)).unwrap();
        for i in 0..LANES {
            let (mut zx, mut zy, mut k) = (0f32, 0f32, 0);
            while k < 40 && zx * zx + zy * zy < 4.0 {
                let t = zx * zx - zy * zy + c[2 * i];
                zy = (2.0 * zx).mul_add(zy, c[2 * i + 1]);
                (zx, k) = (t, k + 1);
            }
            assert_eq!((out[i], at[i].to_bits()), (k, zx.to_bits()), "{target}, lane {i}");
        }
    }
}

#[test]
fn the_body_reuses_what_the_condition_loads() {
    let next: Vec<u32> = (0..LANES as u32).map(|i| if i % 9 == 0 { 0 } else { i - 1 }).collect();
    for target in TARGETS {
        // One load before the loop and one at its end.
        assert_eq!(count(&follow, target, "buffer_load"), 2, "{target}");
        let mut sums = vec![u32::MAX; LANES];
        follow.launch(&Device::simulator(target), Grid::x(1), (&next, &mut sums)).unwrap();
        for (i, got) in sums.iter().enumerate() {
            let (mut at, mut sum) = (i, 0);
            while next[at] != 0 {
                sum += next[at];
                at = next[at] as usize;
            }
            assert_eq!(*got, sum, "{target}, lane {i}");
        }
    }
}
