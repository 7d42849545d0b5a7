//! Uniform floats, which targets of RDNA 3.5 and 4 compute by scalar instructions, compared with the same arithmetic on
//! the host. The inputs include NaN, zeros, denormals, ties and numbers that are out of range.

use gcn_dsl::prelude::*;
use gcn_dsl::sim::{Mode, Options};
use gcn_dsl::{BuildOptions, WaveSize};

gcn_kernel! {
    #[workgroup(64)]
    fn singles(a: f32, b: f32, c: f32, n: i32, u: u32, out: &mut [f32], ints: &mut [u32]) {
        let [sum, less, product] = [a + b, a - b, a * b];
        let fused: S<f32> = a.mul_add(b, c);
        let (low, high): (S<f32>, S<f32>) = (a.min(b), a.max(b));
        let rounded: [S<f32>; 4] = [a.floor(), a.ceil(), a.trunc(), a.round_ties_even()];
        let signs: [S<f32>; 2] = [-a, a.abs()];
        let from: [S<f32>; 2] = [n as f32, u as f32];
        let choice: S<f32> = if a < b { a * c } else { b * c };
        let flag: S<f32> = (a >= c) as u32 as f32;
        let mut turns: S<f32> = 1.0;
        for i in 0..u {
            turns = turns * a + (i as f32);
            if turns > 1.0e6 {
                turns = turns * 0.5;
            }
        }
        if local_id().x == 0 {
            out[0] = sum; out[1] = less; out[2] = product; out[3] = fused; out[4] = low; out[5] = high;
            out[6] = rounded[0]; out[7] = rounded[1]; out[8] = rounded[2]; out[9] = rounded[3];
            out[10] = signs[0]; out[11] = signs[1]; out[12] = from[0]; out[13] = from[1];
            out[14] = choice; out[15] = flag; out[16] = turns; out[17] = (a + 0.1) * 0.3;
            ints[0] = (a as i32) as u32;
            ints[1] = a as u32;
            ints[2] = ((a as i8) as i32) as u32;
            ints[3] = (a as u16) as u32;
            ints[4] = (a == b) as u32; ints[5] = (a != b) as u32; ints[6] = (a < b) as u32; ints[7] = (a <= b) as u32;
            ints[8] = (a > b) as u32; ints[9] = (a >= b) as u32; ints[10] = (fused > c) as u32;
        }
    }

    #[workgroup(64)]
    fn halves(a: f16, b: f16, c: f16, n: i32, out: &mut [f16], wide: &mut [f32], ints: &mut [i32]) {
        let [sum, less, product] = [a + b, a - b, a * b];
        let fused: S<f16> = a.mul_add(b, c);
        let (low, high): (S<f16>, S<f16>) = (a.min(b), a.max(b));
        let [neg, abs]: [S<f16>; 2] = [-a, a.abs()];
        if local_id().x == 0 {
            out[0] = sum; out[1] = less; out[2] = product; out[3] = fused; out[4] = low; out[5] = high;
            out[6] = neg; out[7] = abs; out[8] = n as f16; out[9] = a.floor();
            wide[0] = a as f32; wide[1] = (a as f32) * (b as f32);
            out[10] = (a as f32 * 0.7) as f16;
            ints[0] = a as i32; ints[1] = (a < b) as i32; ints[2] = (a != b) as i32;
            ints[3] = (sum.to_bits() as u32) as i32; ints[4] = (fused > c) as i32;
        }
    }

    /// The sum and the sign are read by vector instructions only.
    #[workgroup(64)]
    fn distances(a: f32, b: f32, x: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        out[i] = x[i].mul_add(x[i], -(a * b)) + a.mul_add(a, b);
    }
}

const TARGETS: [Target; 3] = [Target::GFX1100, Target::GFX1151, Target::GFX1201];

fn same(x: f32, y: f32) -> bool {
    x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
}

#[test]
fn signs_and_sums_of_products_go_to_the_vector_unit_that_reads_them() {
    for target in TARGETS {
        let text = distances.build(target).unwrap().assembly(Comments::None);
        let [product, sign, sum] = ["s_mul_f32", "s_xor_b32", "s_fmac_f32"].map(|name| text.contains(name));
        assert_eq!([product, sign, sum], [target != Target::GFX1100, false, false], "{target}: {text}");
    }
}

#[test]
fn uniform_floats_are_those_of_the_host() {
    let values = [
        0.0f32,
        -0.0,
        1.5,
        -2.5,
        3.75e9,
        -1.0e-40,
        f32::MIN_POSITIVE,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        300.7,
        65503.4,
        0.1,
    ];
    for (target, wave) in TARGETS.into_iter().flat_map(|t| WaveSize::ALL.map(|wave| (t, wave))) {
        let options = BuildOptions { wave: Some(wave), ..BuildOptions::default() };
        let device = Device::simulator_with(target, Options { mode: Mode::Strict, ..Options::default() });
        let (one, two) =
            (singles.build_with(target, &options).unwrap(), halves.build_with(target, &options).unwrap());
        // As in clang 22's code for this source: scalar instructions from gfx1150 on, vector instructions before.
        for (built, kernel) in
            [(one.assembly(Comments::None), "singles"), (two.assembly(Comments::None), "halves")]
        {
            let scalar = ["s_add_f", "s_mul_f", "s_fmac_f", "s_cmp_lt_f", "s_floor_f", "s_cvt_"]
                .map(|name| built.contains(name));
            assert_eq!(scalar, [target != Target::GFX1100; 6], "{kernel} on {target}");
            assert_eq!(
                built.contains("v_fma_f") || built.contains("v_readfirstlane"),
                target == Target::GFX1100,
                "{kernel} on {target}"
            );
        }
        for (i, a) in values.into_iter().enumerate() {
            for (j, b) in values.into_iter().enumerate() {
                let (c, n, u) = (values[(i + 3 * j) % values.len()], i as i32 - 6, j as u32);
                let (mut out, mut ints) = (vec![0f32; 18], vec![0u32; 11]);
                device.launch(&singles, &one, Grid::x(1), (a, b, c, n, u, &mut out, &mut ints)).unwrap();
                let mut turns = 1f32;
                for i in 0..u {
                    turns = turns * a + i as f32;
                    if turns > 1.0e6 {
                        turns *= 0.5;
                    }
                }
                let want = [
                    a + b,
                    a - b,
                    a * b,
                    a.mul_add(b, c),
                    a.min(b),
                    a.max(b),
                    a.floor(),
                    a.ceil(),
                    a.trunc(),
                    a.round_ties_even(),
                    -a,
                    a.abs(),
                    n as f32,
                    u as f32,
                    if a < b { a * c } else { b * c },
                    f32::from(u8::from(a >= c)),
                    turns,
                    (a + 0.1) * 0.3,
                ];
                for (k, (x, y)) in out.iter().zip(want).enumerate() {
                    let zeros = matches!(k, 4 | 5) && *x == 0.0 && y == 0.0;
                    assert!(same(*x, y) || zeros, "{target} {wave:?} {a} {b} {c}: {k}: {x} {y}");
                }
                let bits = [a == b, a != b, a < b, a <= b, a > b, a >= b, a.mul_add(b, c) > c].map(u32::from);
                let want = [
                    vec![a as i32 as u32, a as u32, a as i8 as i32 as u32, u32::from(a as u16)],
                    bits.to_vec(),
                ]
                .concat();
                assert_eq!(ints, want, "{target} {wave:?} {a} {b}");

                let [x, y, z] = [a, b, c].map(f16::from_f32);
                let (mut out, mut wide, mut ints) = (vec![f16::ZERO; 11], vec![0f32; 2], vec![0i32; 5]);
                device
                    .launch(&halves, &two, Grid::x(1), (x, y, z, n, &mut out, &mut wide, &mut ints))
                    .unwrap();
                let f = |v: f16| v.to_f64();
                let want = [
                    f16::from_f64(f(x) + f(y)),
                    f16::from_f64(f(x) - f(y)),
                    f16::from_f64(f(x) * f(y)),
                    f16::from_f64(f(x) * f(y) + f(z)),
                    f16::from_f64(f(x).min(f(y))),
                    f16::from_f64(f(x).max(f(y))),
                    -x,
                    f16::from_f64(f(x).abs()),
                    f16::from_f64(f64::from(n)),
                    f16::from_f64(f(x).floor()),
                    f16::from_f32(x.to_f32() * 0.7),
                ];
                for (k, (have, want)) in out.iter().zip(want).enumerate() {
                    let zeros = matches!(k, 4 | 5) && f(*have) == 0.0 && f(want) == 0.0;
                    assert!(
                        have.to_bits() == want.to_bits() || have.is_nan() && want.is_nan() || zeros,
                        "{target} {wave:?} {x} {y} {z}: half {k}: {have} {want}"
                    );
                }
                assert!(same(wide[0], x.to_f32()) && same(wide[1], x.to_f32() * y.to_f32()));
                assert_eq!(ints[..3], [f(x) as i32, i32::from(x < y), i32::from(x != y)], "{target} {x} {y}");
                assert_eq!(ints[3] as u32 & 0xffff_0000, 0);
            }
        }
    }
}
