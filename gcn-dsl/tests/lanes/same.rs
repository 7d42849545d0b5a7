//! Lanes with the same value, and conditions of single lanes.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{Sample, masks, options, places};

/// For each lane of a wave, the active lanes that have the same value.
fn same<T: PartialEq>(values: &[T], active: &[bool]) -> Vec<u64> {
    let mask = |x: &T| {
        let has = |k: &usize| active[*k] && values[*k] == *x;
        (0..values.len()).filter(has).fold(0, |mask, k| mask | 1u64 << k)
    };
    values.iter().zip(active).map(|(x, active)| if *active { mask(x) } else { u64::MAX }).collect()
}

macro_rules! matches {
    ($($name:ident: $t:ident)*) => {$(
        #[test]
        fn $name() {
            gcn_kernel! {
                #[workgroup(64)]
                fn k(x: &[$t], runs: &[u32], out: &mut [u64]) {
                    let i = global_id().x;
                    let value = x[i];
                    out[i] = u64::MAX;
                    if runs[i] == 1 {
                        out[i] = match_any(value).bits();
                    }
                }
            }
            let mut rng = Random::new(stringify!($name).len() as u64);
            for (target, wave) in places() {
                let (device, lanes) = (Device::simulator(target), wave.lanes() as usize);
                let built = k.build_with(target, &options(wave)).unwrap();
                for round in 0..12 {
                    // From one distinct value to as many as there are lanes.
                    let some: Vec<$t> = (0..[1, 2, 5, 64][round % 4]).map(|_| <$t>::any(&mut rng)).collect();
                    let x: Vec<$t> = (0..128).map(|_| some[rng.below(some.len())]).collect();
                    let active = masks(&mut rng, 128, round);
                    let runs: Vec<u32> = active.iter().map(|a| u32::from(*a)).collect();
                    let mut out = vec![0u64; 128];
                    device.launch(&k, &built, Grid::x(2), (&x, &runs, &mut out)).unwrap();
                    for first in (0..128).step_by(lanes) {
                        let of = first..first + lanes;
                        let want = same(&x[of.clone()], &active[of.clone()]);
                        assert_eq!(out[of], want, "{target}, {lanes} lanes, {round}");
                    }
                }
            }
        }
    )*};
}
matches! {
    of_u32: u32
    of_i64: i64
    of_f32: f32
    of_f64: f64
    of_f16: f16
    of_bf16: bf16
    of_i8: i8
    of_u16: u16
}

gcn_kernel! {
    #[workgroup(64)]
    fn bits(x: &[f32], out: &mut [u64]) {
        let i = global_id().x;
        out[i] = match_any(x[i]).bits();
        out[i + 64] = match_any(x[i] > 0.0).bits();
    }
}

#[test]
fn values_are_the_same_if_their_bits_are() {
    let x: Vec<f32> = (0..64).map(|i| [0.0, -0.0, f32::NAN, 1.0][i % 4]).collect();
    let mut out = vec![0; 128];
    for (target, wave) in places() {
        let built = bits.build_with(target, &options(wave)).unwrap();
        Device::simulator(target).launch(&bits, &built, Grid::x(1), (&x, &mut out)).unwrap();
        for i in 0..64 {
            let every_fourth = 0x1111_1111_1111_1111u64;
            let positive = if i % 4 == 3 { every_fourth << 3 } else { !(every_fourth << 3) };
            let (same, positive) = (every_fourth << (i % 4) & wave.mask(), positive & wave.mask());
            assert_eq!((out[i], out[i + 64]), (same, positive), "{target}, {} lanes, {i}", wave.lanes());
        }
    }
}

gcn_kernel! {
    /// Conditions of single lanes. An unknown lane number is taken modulo the number of lanes in a wave.
    #[workgroup(64)]
    fn conditions(x: &[u32], n: u32, out: &mut [u32]) {
        let i = global_id().x;
        let odd = x[i] & 1 == 1;
        let first: bool = read_first_lane(odd);
        let sixth: bool = read_lane(odd, 6);
        let other: bool = read_lane(odd, n);
        let mut word: u32 = 0;
        if first { word += 1; }
        if sixth { word += 2; }
        if other { word += 4; }
        out[i] = word;
        let with = write_lane(odd, n, !other);
        let with = write_lane(with, 6, true);
        out[i + 64] = with as u32;
        if i >= 8 {
            let first: bool = read_first_lane(odd);
            let gone: bool = read_lane(odd, 3);
            out[i + 128] = first as u32 + gone as u32 * 2;
            out[i + 192] = write_lane(odd, n, !other) as u32;
        }
    }
}

#[test]
fn conditions_of_single_lanes() {
    let mut rng = Random::new(17);
    for ((target, wave), n) in
        places().into_iter().flat_map(|place| [0, 6, 9, 63, 64 + 31].map(|n| (place, n)))
    {
        let x: Vec<u32> = (0..64).map(|_| rng.below(1000) as u32).collect();
        let mut out = vec![9u32; 256];
        let built = conditions.build_with(target, &options(wave)).unwrap();
        Device::simulator(target).launch(&conditions, &built, Grid::x(1), (&x, n, &mut out)).unwrap();
        let lanes = wave.lanes() as usize;
        let at = n as usize % lanes;
        for i in 0..64 {
            let (lane, first) = (i % lanes, i / lanes * lanes);
            let odd = |lane: usize| x[first + lane] & 1;
            let what = format!("{target}, {lanes} lanes, {i} of {n}");
            assert_eq!(out[i], odd(0) + 2 * odd(6) + 4 * odd(at), "{what}");
            let changed = if lane == at { 1 - odd(at) } else { odd(lane) };
            assert_eq!(out[i + 64], if lane == 6 { 1 } else { changed }, "{what}");
            // The first eight items are not active: the first active lane of their wave is the ninth, and lane 3 gives
            // false.
            let (active, gone) = if first == 0 { (odd(8), 0) } else { (odd(0), odd(3)) };
            let want = if i < 8 { [9, 9] } else { [active + 2 * gone, changed] };
            assert_eq!([out[i + 128], out[i + 192]], want, "{what}");
        }
    }
}
