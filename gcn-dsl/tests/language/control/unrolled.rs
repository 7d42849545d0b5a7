//! Loops whose trip counts are known when the kernel is built become straight-line code that computes the same.

use gcn_dsl::prelude::*;

use super::TARGETS;

gcn_kernel! {
    /// A bitonic sort of 128 keys: the trip count of the inner loop depends on the outer loop.
    #[workgroup(64)]
    fn bitonic(x: &mut [u32]) {
        let keys = Lds::<u32, 128>::new();
        let t = local_id().x;
        keys[t] = x[t];
        keys[t + 64] = x[t + 64];
        barrier();
        let mut k: S<u32> = 2;
        while k <= 128 {
            let mut j: S<u32> = k / 2;
            while j > 0 {
                let i = 2 * t - (t & (j - 1));
                let (a, b) = (keys[i], keys[i + j]);
                if (a > b) == (i & k == 0) {
                    keys[i] = b;
                    keys[i + j] = a;
                }
                barrier();
                j /= 2;
            }
            k *= 2;
        }
        x[t] = keys[t];
        x[t + 64] = keys[t + 64];
    }

    /// `break` and `continue` with uniform and with varying conditions, a step, both directions, and signed counters.
    #[workgroup(64)]
    fn left_early(stop: u32, x: &[i32], y: &mut [i32]) {
        let i = global_id().x;
        let mut sum: V<i32> = 0;
        for k in (0..20u32).step_by(3) {
            if k == stop {
                break;
            }
            sum += k as i32;
        }
        for k in (-4..=4i32).rev() {
            if k == x[i] {
                continue;
            }
            sum = sum * 3 + k;
        }
        for k in 0..10i32 {
            if k > x[i] {
                break;
            }
            sum ^= 1 << k as u32;
        }
        y[i] = sum;
    }

    /// A loop with many trips, of which several are processed at a time.
    #[workgroup(64)]
    fn hashes(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let mut hash: V<u32> = 0;
        for k in 0..200u32 {
            hash = (hash ^ x[i + k]) * 0x0100_0193;
        }
        y[i] = hash;
    }
}

#[test]
fn nested_loops() {
    let keys: Vec<u32> = (0..128u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 7).collect();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    for target in TARGETS {
        let mut x = keys.clone();
        bitonic.launch(&Device::simulator(target), Grid::x(1), (&mut x,)).unwrap();
        assert_eq!(x, sorted, "{target}");
        let text = bitonic.build(target).unwrap().assembly(Comments::None);
        assert!(!text.contains("s_cbranch_scc"), "{target}: no uniform branch is left\n{text}");
    }
}

#[test]
fn exits() {
    let x: Vec<i32> = (0..64).map(|i| i % 14 - 5).collect();
    for (target, stop) in TARGETS.into_iter().flat_map(|target| [(target, 9), (target, 10)]) {
        let mut y = vec![0; 64];
        left_early.launch(&Device::simulator(target), Grid::x(1), (stop, &x, &mut y)).unwrap();
        for (x, y) in x.iter().zip(y) {
            let mut sum: i32 = (0..20).step_by(3).take_while(|k| *k != stop).sum::<u32>() as i32;
            for k in (-4..=4).rev().filter(|k| k != x) {
                sum = sum.wrapping_mul(3).wrapping_add(k);
            }
            (0..10).take_while(|k| k <= x).for_each(|k| sum ^= 1 << k);
            assert_eq!(y, sum, "{target}, stop {stop}, x {x}");
        }
    }
}

#[test]
fn several_trips_at_a_time() {
    let x: Vec<u32> = (0..264u32).map(|i| i.wrapping_mul(0x85eb_ca6b)).collect();
    for target in TARGETS {
        let mut y = vec![0; 64];
        hashes.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
        for (i, y) in y.into_iter().enumerate() {
            let want = x[i..i + 200].iter().fold(0u32, |hash, x| (hash ^ x).wrapping_mul(0x0100_0193));
            assert_eq!(y, want, "{target}, lane {i}");
        }
        let text = hashes.build(target).unwrap().assembly(Comments::None);
        assert_eq!(text.matches("buffer_load_dword ").count(), 8, "{target}: eight trips at a time\n{text}");
    }
}
