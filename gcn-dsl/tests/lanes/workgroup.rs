//! Reductions and scans of a workgroup, with whole and partial waves, in a loop so that the LDS is reused.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{Sample, expected, options, places};

macro_rules! kernels {
    ($($t:ident $name:ident;)*) => {$(
        gcn_kernel! {
            #[workgroup(N, 2)]
            fn $name<const N: u32>(x: &[$t], y: &[$t], rounds: u32, out: &mut [$t]) {
                let flat = local_id().x + local_id().y * N;
                let all = N * 2;
                for round in 0..rounds {
                    let i = flat + round * all;
                    let at = flat + round * (all * 12);
                    out[at] = workgroup_sum(x[i]);
                    out[at + all] = workgroup_inclusive_sum(x[i]);
                    out[at + all * 2] = workgroup_exclusive_sum(x[i]);
                    out[at + all * 3] = workgroup_product(y[i]);
                    out[at + all * 4] = workgroup_inclusive_product(y[i]);
                    out[at + all * 5] = workgroup_exclusive_product(y[i]);
                    out[at + all * 6] = workgroup_min(x[i]);
                    out[at + all * 7] = workgroup_inclusive_min(x[i]);
                    out[at + all * 8] = workgroup_exclusive_min(x[i]);
                    out[at + all * 9] = workgroup_max(x[i]);
                    out[at + all * 10] = workgroup_inclusive_max(x[i]);
                    out[at + all * 11] = workgroup_exclusive_max(x[i]);
                }
            }
        }
    )*};
}

kernels! { i16 of_i16; u32 of_u32; u64 of_u64; f16 of_f16; bf16 of_bf16; f32 of_f32; f64 of_f64; }

macro_rules! check {
    ($t:ident $name:ident $n:literal) => {
        let (all, rounds) = ($n * 2, 2);
        let mut rng = Random::new($n);
        for (target, wave) in places() {
            let x: Vec<$t> = (0..all * rounds).map(|_| Sample::term(&mut rng)).collect();
            let y: Vec<$t> = (0..all * rounds).map(|_| Sample::factor(&mut rng)).collect();
            let mut out = vec![<$t>::default(); all * rounds * 12];
            let args = (&x[..], &y[..], rounds as u32, &mut out[..]);
            let built = $name::<$n>.build_with(target, &options(wave)).unwrap();
            Device::simulator(target).launch(&$name::<$n>, &built, Grid::x(1), args).unwrap();
            for round in 0..rounds {
                for op in 0..4 {
                    let operand = if op == 1 { &y } else { &x };
                    let wanted = expected(op, &operand[round * all..(round + 1) * all], &vec![true; all]);
                    for spread in 0..3 {
                        for i in 0..all {
                            let got = out[(round * 12 + op * 3 + spread) * all + i];
                            assert_eq!(
                                got,
                                wanted[i][spread],
                                "{target} {} {} {} {op} {spread} {i}",
                                wave.lanes(),
                                all,
                                stringify!($t)
                            );
                        }
                    }
                }
            }
        }
    };
}

#[test]
fn whole_waves() {
    check!(u32 of_u32 128);
    check!(f32 of_f32 512);
    check!(f16 of_f16 96);
    check!(u64 of_u64 64);
    check!(bf16 of_bf16 64);
}

#[test]
fn one_wave_and_broken_waves() {
    check!(i16 of_i16 32);
    check!(f64 of_f64 33);
    check!(u32 of_u32 50);
    check!(f32 of_f32 161);
    check!(bf16 of_bf16 65);
}

gcn_kernel! {
    #[workgroup(200)]
    fn conditions(x: &[u32], limit: u32, counts: &mut [u32]) {
        let i = global_id().x;
        let high = x[i] > limit;
        let count = workgroup_count(high);
        let mut rounds = 0;
        for k in 0..5u32 {
            if workgroup_all(x[i] < k * 100) { break; }
            rounds += 1;
        }
        if local_id().x == 0 {
            let w = workgroup_id().x;
            counts[4 * w] = count;
            counts[4 * w + 1] = rounds;
        }
        // The last wave has lanes that are never active, and all waves of the workgroup leave at the same time.
        if !workgroup_any(high) { return; }
        counts[4 * workgroup_id().x + 2] = workgroup_count(true);
    }
}

#[test]
fn conditions_are_joined_over_the_workgroup() {
    let x: Vec<u32> = (0..600).map(|i| if i < 200 { i % 97 } else { i }).collect();
    let limits = [50, 97, 250, 598, 600];
    for ((target, wave), limit) in places().into_iter().flat_map(|place| limits.map(|limit| (place, limit))) {
        let built = conditions.build_with(target, &options(wave)).unwrap();
        let mut counts = [0; 12];
        let device = Device::simulator(target);
        device.launch(&conditions, &built, Grid::x(3), (&x, limit, &mut counts)).unwrap();
        for w in 0..3 {
            let part = &x[200 * w..][..200];
            let count = part.iter().filter(|x| **x > limit).count() as u32;
            let rounds = (0..5).take_while(|k| !part.iter().all(|x| *x < k * 100)).count() as u32;
            let all = if count > 0 { 200 } else { 0 };
            assert_eq!(
                counts[4 * w..4 * w + 4],
                [count, rounds, all, 0],
                "{target}, {} lanes, {limit}, {w}",
                wave.lanes()
            );
        }
    }
}
