//! `for` over all integer types, in both directions, with steps, and at the ends of the number range.

use gcn_dsl::prelude::*;

use super::{numbers, simulators};

/// A kernel that folds the loop variable, for each form of range with uniform and with varying bounds.
macro_rules! ranges {
    ($($name:ident $t:ident;)*) => {$(
        gcn_kernel! {
            #[workgroup(64)]
            fn $name(a: $t, b: $t, k: $t, xa: &[$t], xb: &[$t], out: &mut [u64]) {
                let i = global_id().x;
                let (va, vb) = (xa[i], xb[i]);
                let mut h: V<u64> = 1;
                for j in a..b { h = h * 31 + (j as u64); }
                h = h * 31;
                for j in a..=b { h = h * 31 + (j as u64); }
                h = h * 31;
                for j in (a..b).rev() { h = h * 31 + (j as u64); }
                h = h * 31;
                for j in (a..=b).rev() { h = h * 31 + (j as u64); }
                h = h * 31;
                for j in (a..b).step_by(k) { h = h * 31 + (j as u64); }
                h = h * 31;
                for j in (a..=b).step_by(k) { h = h * 31 + (j as u64); }
                h = h * 31;
                for j in (a..b).rev().step_by(k) { h = h * 31 + (j as u64); }
                out[i] = h;
                for j in va..vb { h = h * 31 + (j as u64); }
                h = h * 31;
                for j in va..=vb { h = h * 31 + (j as u64); }
                h = h * 31;
                for j in (va..vb).rev() { h = h * 31 + (j as u64); }
                h = h * 31;
                for j in (va..=vb).step_by(k) { h = h * 31 + (j as u64); }
                h = h * 31;
                for j in (va..=vb).rev().step_by(k) {
                    if j & 3 == 1 { continue; }
                    h = h * 31 + (j as u64);
                    if j & 15 == 2 { break; }
                }
                out[i + 64] = h;
            }
        }
    )*};
}

ranges! { for_u32 u32; for_i32 i32; for_u8 u8; for_i8 i8; for_u16 u16; for_i16 i16; for_u64 u64; for_i64 i64; }

#[test]
fn ranges_run_as_rusts() {
    macro_rules! check {
        ($($name:ident $t:ident)*) => {$(
            let near: [$t; 8] = [0, 3, $t::MAX - 2, $t::MAX, $t::MIN, $t::MIN + 1, 7, 20];
            let pairs: Vec<($t, $t)> = near
                .iter()
                .flat_map(|a| near.map(|b| (*a, b)))
                // Long ranges would only take time, so they are shortened.
                .map(|(a, b)| if (b as i128) - (a as i128) > 40 { (a, a + 11) } else { (a, b) })
                .collect();
            let (xa, xb): (Vec<$t>, Vec<$t>) = pairs.iter().copied().unzip();
            let fold = |h: u64, it: &mut dyn Iterator<Item = $t>| it.fold(h, |h, j| h.wrapping_mul(31).wrapping_add(j as u64));
            for device in simulators().take(2) {
                let built = $name.build(device.target()).unwrap();
                for (n, (a, b)) in pairs.iter().copied().enumerate().filter(|(n, _)| n % 5 == 1) {
                    let k = [1, 3, 5, 40][n % 4] as $t;
                    let mut out = vec![0u64; 128];
                    device.launch(&$name, &built, Grid::x(1), (a, b, k, &xa, &xb, &mut out)).unwrap();
                    let mut h = fold(1, &mut (a..b));
                    let next = |h: u64, it: &mut dyn Iterator<Item = $t>| fold(h.wrapping_mul(31), it);
                    h = next(h, &mut (a..=b));
                    h = next(h, &mut (a..b).rev());
                    h = next(h, &mut (a..=b).rev());
                    h = next(h, &mut (a..b).step_by(k as usize));
                    h = next(h, &mut (a..=b).step_by(k as usize));
                    h = next(h, &mut (a..b).rev().step_by(k as usize));
                    assert_eq!(out[..64], [h; 64], "{a}..{b} by {k}");
                    for i in 0..64 {
                        let (a, b) = (xa[i], xb[i]);
                        let mut g = fold(h, &mut (a..b));
                        g = next(g, &mut (a..=b));
                        g = next(g, &mut (a..b).rev());
                        g = next(g, &mut (a..=b).step_by(k as usize)).wrapping_mul(31);
                        for j in (a..=b).rev().step_by(k as usize) {
                            if j & 3 == 1 { continue; }
                            g = g.wrapping_mul(31).wrapping_add(j as u64);
                            if j & 15 == 2 { break; }
                        }
                        assert_eq!(out[i + 64], g, "varying {a}..{b} by {k}");
                    }
                }
            }
        )*};
    }
    check! { for_u32 u32 for_i32 i32 for_u8 u8 for_i8 i8 for_u16 u16 for_i16 i16 for_u64 u64 for_i64 i64 }
}

gcn_kernel! {
    #[workgroup(64)]
    fn short_branches(x: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let mut v: V<u32> = x[i];
        let mut w: V<u32> = 5;
        if v & 1 == 0 {
            v = v * 3;
            if v & 2 == 0 {
                w = v ^ 9;
            } else {
                w = v + 1;
            }
        }
        while w & 3 != 1 {
            w += 1;
            if w & 8 == 0 {
                v ^= w;
            }
        }
        out[i] = v + w;
    }
}

#[test]
fn short_branches_need_no_skip() {
    let x = numbers(64);
    let expected: Vec<u32> = x
        .iter()
        .map(|x| {
            let (mut v, mut w) = (*x, 5);
            if v & 1 == 0 {
                v = v.wrapping_mul(3);
                w = if v & 2 == 0 { v ^ 9 } else { v.wrapping_add(1) };
            }
            while w & 3 != 1 {
                w += 1;
                if w & 8 == 0 {
                    v ^= w;
                }
            }
            v.wrapping_add(w)
        })
        .collect();
    for device in simulators() {
        let mut out = vec![0; 64];
        short_branches.launch(&device, Grid::x(1), (&x, &mut out)).unwrap();
        assert_eq!(out, expected);
        let text = short_branches.build(device.target()).unwrap().assembly(Comments::None);
        // The loop's own test, before the first trip and after each.
        let count = |branch: &str| text.matches(branch).count();
        assert_eq!(
            (count("s_cbranch_execz"), count("s_cbranch_execnz"), count("s_branch")),
            (1, 1, 0),
            "{text}"
        );
    }
}
