//! Loops whose trip counts are known only at run time and that process several trips at a time.

use gcn_dsl::prelude::*;

use super::{numbers, simulators};

const PRIME: u32 = 0x0100_0193;

gcn_kernel! {
    #[workgroup(64)]
    fn unsigned(from: u32, to: u32, x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let mut hash: V<u32> = 7;
        let mut trips: u32 = 0;
        for k in from..to {
            hash = (hash ^ x[(i + k) & 127]) * PRIME + k;
            trips += 1;
        }
        y[i] = hash;
        y[i + 64] = trips;
    }

    #[workgroup(64)]
    fn signed(from: i32, to: i32, x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let mut hash: V<u32> = 7;
        let mut trips: u32 = 0;
        for k in from..to {
            hash = (hash ^ x[(i + (k as u32)) & 127]) * PRIME + (k as u32);
            trips += 1;
        }
        y[i] = hash;
        y[i + 64] = trips;
    }

    /// A loop under a condition, in which each trip loads what the previous one stored.
    #[workgroup(64)]
    fn chained(to: u32, x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        if i % 3 != 1 {
            for k in 0..to {
                y[i * 16 + k + 1] = y[i * 16 + k] * 3 + x[i + k];
            }
        }
    }

    #[workgroup(64)]
    fn rolled(to: u32, x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let mut hash: V<u32> = 7;
        #[unroll(1)]
        for k in 0..to {
            hash = (hash ^ x[(i + k) & 127]) * PRIME + k;
        }
        y[i] = hash;
    }

    #[workgroup(64)]
    fn rolled_known(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let mut hash: V<u32> = 7;
        #[unroll(1)]
        for k in 0..6u32 {
            hash = (hash ^ x[(i + k) & 127]) * PRIME + k;
        }
        y[i] = hash;
    }
}

/// What the two kernels compute from the values of the loop counter.
fn hashed(x: &[u32], trips: impl Iterator<Item = u32> + Clone) -> Vec<u32> {
    let of = |i: u32| {
        trips.clone().fold(7u32, |hash, k| {
            (hash ^ x[(i.wrapping_add(k) & 127) as usize]).wrapping_mul(PRIME).wrapping_add(k)
        })
    };
    let count = trips.clone().count() as u32;
    (0..64).map(of).chain([count; 64]).collect()
}

fn loads(ir: &str) -> usize {
    ir.matches(" load ").count()
}

#[test]
fn trips_are_rusts() {
    let x = numbers(128);
    for device in simulators() {
        let first = unsigned.build(device.target()).unwrap();
        let second = signed.build(device.target()).unwrap();
        let top = u32::MAX;
        let ends = [
            (5, 3),
            (top, 0),
            (top, top),
            (0, 0),
            (top - 3, top),
            (top - 9, top),
            (0x7fff_fffd, 0x8000_0004),
        ];
        for (from, to) in (0..10).flat_map(|n| [(0, n), (3, 3 + n)]).chain(ends) {
            let mut y = vec![0; 128];
            device.launch(&unsigned, &first, Grid::x(1), (from, to, &x, &mut y)).unwrap();
            assert_eq!(y, hashed(&x, from..to), "{from}..{to} on {}", device.target());
        }
        let (low, high) = (i32::MIN, i32::MAX);
        let ends =
            [(3, -3), (high, low), (low, low), (0, -1), (high - 3, high), (high - 9, high), (low, low + 5)];
        for (from, to) in (0..10).flat_map(|n| [(-4, n - 4), (-20, n - 20), (0, n)]).chain(ends) {
            let mut y = vec![0; 128];
            device.launch(&signed, &second, Grid::x(1), (from, to, &x, &mut y)).unwrap();
            assert_eq!(y, hashed(&x, (from..to).map(|k| k as u32)), "{from}..{to} on {}", device.target());
        }
    }
}

#[test]
fn later_trips_see_the_stores_of_earlier_ones() {
    let x = numbers(128);
    for (device, to) in simulators().flat_map(|device| (0..10).map(move |to| (device.clone(), to))) {
        let mut y = numbers(16 * 64);
        let mut want = y.clone();
        chained.launch(&device, Grid::x(1), (to, &x, &mut y)).unwrap();
        for (i, k) in (0..64).filter(|i| i % 3 != 1).flat_map(|i| (0..to as usize).map(move |k| (i, k))) {
            want[i * 16 + k + 1] = want[i * 16 + k].wrapping_mul(3).wrapping_add(x[i + k]);
        }
        assert_eq!(y, want, "{to} on {}", device.target());
    }
}

#[test]
fn four_trips_have_four_loads_and_the_rest_one() {
    for device in simulators() {
        let target = device.target();
        assert_eq!(loads(&unsigned.build(target).unwrap().ir()), 5, "{target}");
        assert_eq!(loads(&signed.build(target).unwrap().ir()), 5, "{target}");
        assert_eq!(loads(&rolled.build(target).unwrap().ir()), 1, "{target}");
        assert_eq!(loads(&rolled_known.build(target).unwrap().ir()), 1, "{target}");
        let (x, mut y) = (numbers(128), vec![0; 64]);
        rolled.launch(&device, Grid::x(1), (9, &x, &mut y)).unwrap();
        assert_eq!(y, hashed(&x, 0..9)[..64], "{target}");
        rolled_known.launch(&device, Grid::x(1), (&x, &mut y)).unwrap();
        assert_eq!(y, hashed(&x, 0..6)[..64], "{target}");
    }
}
