//! Shapes of loops: ranges, nests, variables that determine the addresses, and code around the loop and in its body.

use gcn_dsl::BuildOptions;
use gcn_dsl::prelude::*;

use super::{EVERYWHERE, for_stages};

gcn_kernel! {
    /// All forms of ranges, also at the ends of their types.
    #[workgroup(64)]
    fn ranges<const STAGES: usize>(n: u32, x: &[u32], y: &mut [u32]) {
        let lane = local_id().x;
        let mut sum: V<u32> = 0;
        #[pipeline(stages = STAGES)]
        for k in (0..n).rev() {
            sum = sum * 3 + x[k * 64 + lane];
        }
        #[pipeline(stages = STAGES)]
        for k in (0..n).step_by(3) {
            sum = sum * 3 + x[k * 64 + lane];
        }
        let first = 255 - n as u8;
        #[pipeline(stages = STAGES)]
        for k in first..=255 {
            sum = sum * 3 + x[(k - first) as u32 * 64 + lane];
        }
        let last = i64::MIN + n as i64;
        #[pipeline(stages = STAGES)]
        for k in (i64::MIN..=last).rev().step_by(2) {
            sum = sum * 3 + x[(k - i64::MIN) as u32 * 64 + lane];
        }
        y[lane] = sum;
    }

    /// Addresses from the user's own variables, uniform and varying, which are also used after the loop.
    #[workgroup(64)]
    fn strides<const STAGES: usize>(n: u32, by: u32, x: &[u32], y: &mut [u32]) {
        let lane = local_id().x;
        let mut row = 0u32;
        let mut at: V<u32> = lane;
        let mut sum: V<u32> = 0;
        #[pipeline(stages = STAGES)]
        for _ in 0..n {
            sum = sum * 3 + x[row + lane] * 7 + x[at];
            row += by;
            at = at * 2 + 1;
            if lane > 40 {
                sum ^= at;
            }
            sum += x[at];
        }
        y[lane] = sum + row + at;
    }

    /// Variables that are declared in the trip, some of which are changed in branches.
    #[workgroup(64)]
    fn locals<const STAGES: usize>(n: u32, x: &[u32], y: &mut [u32]) {
        let lane = local_id().x;
        let mut sum: V<u32> = 0;
        #[pipeline(stages = STAGES)]
        for k in 0..n {
            let mut at: V<u32> = k * 64 + lane;
            let mut other: V<u32> = at;
            if lane > 11 {
                sum = sum * 2;
                other += 64;
            }
            sum += x[at];
            at += 64;
            if lane > 22 {
                sum = sum ^ at;
            }
            sum += x[at] * 3 + x[other] * 5;
        }
        y[lane] = sum;
    }

    /// Indices that are themselves loaded.
    #[workgroup(64)]
    fn gather<const STAGES: usize>(n: u32, index: &[u32], x: &[u32], y: &mut [u32]) {
        let lane = local_id().x;
        let mut sum: V<u32> = 0;
        #[pipeline(stages = STAGES)]
        for k in 0..n {
            let i = index[k * 64 + lane];
            sum = sum * 3 + x[i] + read_first_lane(i);
        }
        y[lane] = sum;
    }
}

fn data(n: u32) -> Vec<u32> {
    (0..n).map(|i| i.wrapping_mul(2_654_435_761) >> 20).collect()
}

#[test]
fn every_range_counts_as_it_does_unpipelined() {
    let x = data(16 * 64);
    for_stages!(EVERYWHERE; device, N => {
        let built = ranges::<N>.build(device.target()).unwrap();
        for n in 0..N as u32 + 4 {
            let mut y = vec![0; 64];
            device.launch(&ranges::<N>, &built, Grid::x(1), (n, &x, &mut y)).unwrap();
            let trips = (0..n).rev().chain((0..n).step_by(3)).chain(0..=n).chain((0..=n).rev().step_by(2));
            let trips: Vec<u32> = trips.collect();
            for lane in 0..64 {
                let at = |k: &u32| x[(k * 64 + lane) as usize];
                let want = trips.iter().fold(0u32, |sum, k| sum.wrapping_mul(3).wrapping_add(at(k)));
                assert_eq!(y[lane as usize], want, "lane {lane}, n {n}, {N} stages, {}", device.target());
            }
        }
    });
}

#[test]
fn variables_run_ahead_and_have_their_value_behind_the_loop() {
    let x = data(1024);
    let get = |i: u32| x.get(i as usize).copied().unwrap_or(0);
    for_stages!(EVERYWHERE; device, N => {
        let built = strides::<N>.build(device.target()).unwrap();
        assert_eq!(built.pipelines()[0].ahead.len(), 3);
        for n in 0..N as u32 + 4 {
            let mut y = vec![0; 64];
            device.launch(&strides::<N>, &built, Grid::x(1), (n, 37, &x, &mut y)).unwrap();
            for lane in 0..64u32 {
                let (mut row, mut at, mut sum) = (0u32, lane, 0u32);
                for _ in 0..n {
                    sum = sum.wrapping_mul(3).wrapping_add(get(row + lane).wrapping_mul(7)).wrapping_add(get(at));
                    (row, at) = (row + 37, at * 2 + 1);
                    sum = if lane > 40 { sum ^ at } else { sum };
                    sum = sum.wrapping_add(get(at));
                }
                let want = sum.wrapping_add(row).wrapping_add(at);
                assert_eq!(y[lane as usize], want, "lane {lane}, n {n}, {N} stages, {}", device.target());
            }
        }
    });
}

#[test]
fn variables_of_the_trip_begin_in_it() {
    let x = data(14 * 64);
    for_stages!(EVERYWHERE; device, N => {
        let built = locals::<N>.build(device.target()).unwrap();
        let pipeline = &built.pipelines()[0];
        assert_eq!((pipeline.ahead.len(), pipeline.left.len()), (2, 1), "{pipeline:?}");
        for n in 0..N as u32 + 4 {
            let mut y = vec![0; 64];
            device.launch(&locals::<N>, &built, Grid::x(1), (n, &x, &mut y)).unwrap();
            for lane in 0..64u32 {
                let want = (0..n).fold(0u32, |sum, k| {
                    let at = k * 64 + lane;
                    let (sum, other) = if lane > 11 { (sum.wrapping_mul(2), at + 64) } else { (sum, at) };
                    let sum = sum.wrapping_add(x[at as usize]);
                    let sum = if lane > 22 { sum ^ (at + 64) } else { sum };
                    sum.wrapping_add(x[at as usize + 64] * 3).wrapping_add(x[other as usize] * 5)
                });
                assert_eq!(y[lane as usize], want, "lane {lane}, n {n}, {N} stages, {}", device.target());
            }
        }
    });
}

#[test]
fn loads_at_loaded_indices_run_ahead_together() {
    let (index, x) = (data(12 * 64), data(4096));
    for_stages!(EVERYWHERE; device, N => {
        let built = gather::<N>.build(device.target()).unwrap();
        assert_eq!(built.pipelines()[0].ahead.len(), 2);
        for n in 0..N + 4 {
            let mut y = vec![0; 64];
            device.launch(&gather::<N>, &built, Grid::x(1), (n as u32, &index, &x, &mut y)).unwrap();
            for lane in 0..64 {
                let wave = built.wave_size() as usize;
                let want = (0..n).fold(0u32, |sum, k| {
                    let loaded = x[index[k * 64 + lane] as usize];
                    sum.wrapping_mul(3).wrapping_add(loaded).wrapping_add(index[k * 64 + lane / wave * wave])
                });
                assert_eq!(y[lane], want, "lane {lane}, n {n}, {N} stages, {}", device.target());
            }
        }
    });
}

gcn_kernel! {
    /// Both loops of a nest, and one in a varying branch whose body contains loops, exits and branches.
    #[workgroup(64)]
    fn nest<const STAGES: usize>(rows: u32, columns: u32, x: &[u32], scale: &[u32], y: &mut [u32]) {
        let lane = local_id().x;
        let mut sum: V<u32> = 0;
        #[pipeline(stages = STAGES)]
        for r in 0..rows {
            let factor = scale[r * 64 + lane];
            let mut part: V<u32> = 0;
            #[pipeline(stages = 3)]
            for c in 0..columns {
                part = part * 5 + x[(r * columns + c) * 64 + lane];
            }
            sum = sum * 3 + part * factor;
        }
        if lane < 29 {
            #[pipeline(stages = STAGES)]
            'rows: for r in 0..rows {
                let mut left = scale[r * 64 + lane] & 7;
                while left != 0 {
                    left -= 1;
                    if (sum & 1) == 1 {
                        sum = sum * 3 + 1;
                        continue;
                    }
                    sum = sum >> 1;
                    if sum == 5 {
                        break;
                    }
                }
                sum += 'found: {
                    if sum > r * 1000 {
                        break 'found 1u32;
                    }
                    2u32
                };
                sum = match sum & 3 { 0 => sum + 1, 1 => sum ^ 64, _ => sum };
            }
        }
        y[lane] = sum;
    }
}

fn nest_in_rust(lane: u32, rows: u32, columns: u32, x: &[u32], scale: &[u32]) -> u32 {
    let mut sum = 0u32;
    for r in 0..rows {
        let part = (0..columns).fold(0u32, |part, c| {
            part.wrapping_mul(5).wrapping_add(x[((r * columns + c) * 64 + lane) as usize])
        });
        sum = sum.wrapping_mul(3).wrapping_add(part.wrapping_mul(scale[(r * 64 + lane) as usize]));
    }
    for r in 0..rows * u32::from(lane < 29) {
        for _ in 0..scale[(r * 64 + lane) as usize] & 7 {
            if sum & 1 == 1 {
                sum = sum.wrapping_mul(3).wrapping_add(1);
                continue;
            }
            sum >>= 1;
            if sum == 5 {
                break;
            }
        }
        sum = sum.wrapping_add(if sum > r * 1000 { 1 } else { 2 });
        sum = match sum & 3 {
            0 => sum.wrapping_add(1),
            1 => sum ^ 64,
            _ => sum,
        };
    }
    sum
}

#[test]
fn nests_and_bodies_with_branches_and_loops() {
    let (x, scale) = (data(64 * 64), data(12 * 64));
    for_stages!(EVERYWHERE; device, N => {
        let built = nest::<N>.build(device.target()).unwrap();
        assert_eq!(built.pipelines().len(), 3);
        for (rows, columns) in [(0, 4), (1, 0), (1, 5), (2, 1), (3, 3), (N as u32, 2), (N as u32 + 3, 4)] {
            let mut y = vec![0; 64];
            device.launch(&nest::<N>, &built, Grid::x(1), (rows, columns, &x, &scale, &mut y)).unwrap();
            let want: Vec<u32> = (0..64).map(|lane| nest_in_rust(lane, rows, columns, &x, &scale)).collect();
            assert_eq!(y, want, "{rows} rows, {columns} columns, {N} stages, {}", device.target());
        }
    });
}

gcn_kernel! {
    /// Generic over the number of stages, and with a `return`.
    #[device]
    fn sum_of<const STAGES: usize>(n: u32, x: &[u32], odd: V<bool>) -> V<u32> {
        if odd {
            return 1;
        }
        let mut sum: V<u32> = 0;
        #[pipeline(stages = STAGES)]
        for k in 0..n {
            sum += x[k * 64 + local_id().x];
            debug_assert!(sum < 0x8000_0000);
        }
        sum
    }

    #[workgroup(64)]
    fn through_functions(#[host] ahead: usize, n: u32, x: &[u32], y: &mut [u32]) {
        let odd = (local_id().x & 1) == 1;
        let once = sum_of::<2>(n, x, odd);
        let again = sum_of::<4>(n, x, !odd);
        let mut sum: V<u32> = 0;
        #[pipeline(stages = ahead + 1)]
        for k in 0..n {
            sum = sum * 2 + dbg!(x[k * 64 + local_id().x]);
        }
        y[local_id().x] = once * 3 + again * 5 + sum;
    }
}

/// The code that `debug_assert!` and `dbg!` add does not prevent a load from a slice from running ahead.
#[test]
fn device_functions_and_host_values_say_how_many_stages() {
    let x = data(8 * 64);
    for target in EVERYWHERE {
        let device = Device::simulator(target);
        for (n, debug) in [(0u32, false), (1, false), (2, true), (7, false)] {
            let kernel = through_functions { ahead: 2 };
            let built =
                kernel.build_with(target, &BuildOptions { debug, ..BuildOptions::default() }).unwrap();
            let stages: Vec<u8> = built.pipelines().iter().map(|p| p.stages).collect();
            assert_eq!(stages, [2, 4, 3], "debug: {debug}");
            let mut y = vec![0; 64];
            device.launch(&kernel, &built, Grid::x(1), (n, &x, &mut y)).unwrap();
            for lane in 0..64u32 {
                let at = |k: u32| x[(k * 64 + lane) as usize];
                let total: u32 = (0..n).map(at).sum();
                let (once, again) = if lane & 1 == 1 { (1, total) } else { (total, 1) };
                let sum = (0..n).fold(0u32, |sum, k| sum.wrapping_mul(2).wrapping_add(at(k)));
                assert_eq!(
                    y[lane as usize],
                    (once * 3 + again * 5).wrapping_add(sum),
                    "lane {lane} of {target}"
                );
            }
        }
    }
}
