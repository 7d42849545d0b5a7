//! Instructions that GFX9 lacks, in waves of both sizes.

use gcn_dsl::isa::{self, Options};
use gcn_dsl::prelude::*;

use super::{assert_text, floats, numbers};

gcn_kernel! {
    /// Clamps, sums of bytes, and values from lanes of the other row.
    #[workgroup(64)]
    fn vectors(a: &[u32], b: &[u32], c: &[u32], out: &mut [u32]) {
        let i = local_id().x;
        out[i] = isa::v_maxmin_u32(a[i], b[i], c[i]);
        out[64 + i] = isa::v_add3_u32(a[i], b[i], c[i]);
        // Lane k of each row reads lane 15 - k of the other row in the same half of 32 lanes.
        out[128 + i] = isa::v_permlanex16_b32(0u32, a[i], 0x89ab_cdefu32, 0x0123_4567u32);
        out[192 + i] = isa::v_mov_b32_dpp(0u32, a[i], Options::new().dpp8([7, 6, 5, 4, 3, 2, 1, 0]));
    }

    /// The same operation by its RDNA name, in a line of `asm!`.
    #[workgroup(64)]
    fn lines(a: &[u32], b: &[u32], out: &mut [u32]) {
        let i = local_id().x;
        let (sum, least) = asm! {
            x = in(a[i]), y = in(b[i]), sum = out, least = out;
            v_add_nc_u32 {sum}, {x}, {y};
            v_minmax_u32 {least}, {x}, {y}, {y};
        };
        out[i] = sum;
        out[64 + i] = least;
    }

    /// Instructions that only gfx1250 has: with literals of 64 bits, with packed sources, and a conversion from a byte.
    #[workgroup(64)]
    fn newest(x: &[f64], y: &[f64], pairs: &[u32], out: &mut [f64], largest: &mut [u32]) {
        let i = local_id().x;
        out[i] = isa::v_fmaak_f64(x[i], y[i], 0x3ff1_2345_6789_abcd);
        out[64 + i] = isa::v_fmamk_f64(x[i], 0x3ff1_2345_6789_abcd, y[i]);
        largest[i] = isa::v_mov_b32(isa::v_pk_max3_u16(pairs[i], pairs[i ^ 1], pairs[i ^ 2]));
    }

    /// Floats in scalar registers.
    #[workgroup(64)]
    fn scalars(x: &[f32], out: &mut [f32]) {
        let (a, b) = (x.uniform(0), x.uniform(1));
        let sum: S<f32> = isa::s_add_f32(a, b);
        let product: S<f32> = isa::s_mul_f32(a, b);
        let largest: S<f32> = isa::s_max_f32(sum, product);
        if local_id().x == 0 {
            out[0] = sum;
            out[1] = product;
            out[2] = largest;
        }
    }
}

fn devices(targets: &[Target]) -> Vec<(Target, Device)> {
    targets.iter().map(|target| (*target, Device::simulator(*target))).collect()
}

#[test]
fn vectors_are_as_in_plain_rust() {
    let (a, b, c) = (numbers(64, 3), numbers(64, 5), numbers(64, 7));
    for (target, device) in devices(&[Target::GFX1100, Target::GFX1151, Target::GFX1201]) {
        let mut out = vec![0; 256];
        vectors.launch(&device, Grid::x(1), (&a, &b, &c, &mut out)).unwrap();
        for i in 0..64 {
            assert_eq!(out[i], a[i].max(b[i]).min(c[i]), "{target} {i}");
            assert_eq!(out[64 + i], a[i].wrapping_add(b[i]).wrapping_add(c[i]), "{target} {i}");
            let other = (i & !31) | ((i & 16) ^ 16) | (15 - i % 16);
            assert_eq!(out[128 + i], a[other], "{target} {i}");
            assert_eq!(out[192 + i], a[i ^ 7], "{target} {i}");
        }
        let built = vectors.build(target).unwrap();
        assert_text(&built, &["v_maxmin_u32", "v_permlanex16_b32", "dpp8:[7,6,5,4,3,2,1,0]"]);
    }
}

#[test]
fn functions_of_gfx1250_are_as_in_plain_rust() {
    let pairs = numbers(64, 17);
    let (x, y): (Vec<f64>, Vec<f64>) =
        (0..64).map(|i| (f64::from(i) * 1.7 - 11.3, 3.1 / (f64::from(i) + 0.7))).unzip();
    let (mut out, mut largest) = (vec![0.0; 128], vec![0; 64]);
    let device = Device::simulator(Target::GFX1250);
    newest.launch(&device, Grid::x(1), (&x, &y, &pairs, &mut out, &mut largest)).unwrap();
    let literal = f64::from_bits(0x3ff1_2345_6789_abcd);
    for i in 0..64 {
        assert_eq!(out[i], x[i].mul_add(y[i], literal));
        assert_eq!(out[64 + i], x[i].mul_add(literal, y[i]));
        let half =
            |shift: u32| [i, i ^ 1, i ^ 2].map(|at| pairs[at] >> shift & 0xffff).into_iter().max().unwrap();
        assert_eq!(largest[i], half(0) | half(16) << 16);
    }
    assert_text(
        &newest.build(Target::GFX1250).unwrap(),
        &["v_fmaak_f64", "0x3ff123456789abcd", "v_pk_max3_u16"],
    );
}

#[test]
fn lines_have_the_names_of_rdna() {
    let (a, b) = (numbers(64, 11), numbers(64, 13));
    for (target, device) in devices(&[Target::GFX1100, Target::GFX1201]) {
        let mut out = vec![0; 128];
        lines.launch(&device, Grid::x(1), (&a, &b, &mut out)).unwrap();
        for i in 0..64 {
            assert_eq!(out[i], a[i].wrapping_add(b[i]), "{target} {i}");
            assert_eq!(out[64 + i], a[i].min(b[i]).max(b[i]), "{target} {i}");
        }
    }
}

#[test]
fn uniform_floats_are_as_in_plain_rust() {
    for (target, device) in devices(&[Target::GFX1151, Target::GFX1201]) {
        for seed in 0..20 {
            let x = floats(2, 2 * seed + 17);
            let mut out = vec![0.0; 3];
            scalars.launch(&device, Grid::x(1), (&x, &mut out)).unwrap();
            let (sum, product) = (x[0] + x[1], x[0] * x[1]);
            let wanted = [sum, product, sum.max(product)];
            for (ours, wanted) in out.iter().zip(wanted) {
                assert!(*ours == wanted || ours.is_nan() && wanted.is_nan(), "{target} {x:?}: {out:?}");
            }
        }
        assert_text(&scalars.build(target).unwrap(), &["s_add_f32", "s_mul_f32", "s_max"]);
    }
    let error = scalars.build(Target::GFX1100).unwrap_err().to_string();
    assert!(error.contains("s_add_f32") && error.contains("gfx1151"), "{error}");
}
