//! Values of other lanes: moves copy the exact bits, and inactive sources give what the documentation says.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{Sample, TARGETS, masks, options, places};

/// The source of a moved value: a lane, or another value where that lane does not exist. An inactive lane gives 0.
enum From {
    Lane(usize),
    Own,
    Fill,
}

/// A move's name, the source of each lane's value, and whether inactive sources give the fill value.
type Move = (String, Box<dyn Fn(usize) -> From>, bool);

/// The distances by which the kernels below shift, in waves of `lanes` lanes.
fn distances(lanes: usize) -> [usize; 5] {
    [0, 1, 2, 16, lanes - 1]
}

/// Every move in waves of `lanes` lanes, in the order of the kernels' outputs.
fn moves(lanes: usize) -> Vec<Move> {
    let mut list: Vec<Move> = Vec::new();
    for mask in 0..lanes {
        list.push((format!("xor {mask}"), Box::new(move |i| From::Lane(i ^ mask)), false));
    }
    for n in distances(lanes) {
        let up = move |i: usize| i.checked_sub(n).map_or(From::Own, From::Lane);
        let down = move |i: usize| if i + n < lanes { From::Lane(i + n) } else { From::Own };
        list.push((format!("up {n}"), Box::new(up), false));
        list.push((format!("down {n}"), Box::new(down), false));
    }
    for n in [0usize, 1, 7, 15] {
        let row = |i: usize| i / 16 * 16;
        list.push((
            format!("rotate {n}"),
            Box::new(move |i| From::Lane(row(i) + (i % 16 + 16 - n) % 16)),
            false,
        ));
        let up = move |i: usize| if i % 16 >= n { From::Lane(i - n) } else { From::Fill };
        let down = move |i: usize| if i % 16 + n < 16 { From::Lane(i + n) } else { From::Fill };
        // Distance 0 gives the lane's own value; any other distance gives the fill value for inactive lanes too.
        list.push((format!("shift up {n}"), Box::new(up), true));
        list.push((format!("shift down {n}"), Box::new(down), true));
        list.push((format!("broadcast {n}"), Box::new(move |i| From::Lane(row(i) + n)), false));
    }
    list.push(("mirror".into(), Box::new(|i| From::Lane(i ^ 15)), false));
    list.push(("half mirror".into(), Box::new(|i| From::Lane(i ^ 7)), false));
    list.push(("quad".into(), Box::new(|i| From::Lane(i / 4 * 4 + [2, 2, 0, 3][i % 4])), false));
    list.push(("shuffle".into(), Box::new(move |i| From::Lane((i * 5 + 3) % lanes)), false));
    list
}

fn all<T: gcn_dsl::scalar::Scalar>(x: V<T>, fill: V<T>) -> Vec<V<T>> {
    let mut out: Vec<V<T>> = (0..wave_size()).map(|mask| shuffle_xor(x, mask)).collect();
    for n in distances(wave_size() as usize) {
        out.extend([shuffle_up(x, n as u32), shuffle_down(x, n as u32)]);
    }
    for n in [0, 1, 7, 15] {
        out.extend([
            row_rotate(x, n),
            row_shift_up(x, n, fill),
            row_shift_down(x, n, fill),
            row_broadcast(x, n),
        ]);
    }
    out.extend([
        row_mirror(x),
        row_half_mirror(x),
        quad_permute(x, [2, 2, 0, 3]),
        shuffle(x, lane_id() * 5 + 3),
    ]);
    out
}

macro_rules! moves_of {
    ($($t:ident $masked:ident $plain:ident $test:ident;)*) => {$(
        gcn_kernel! {
            #[workgroup(64)]
            fn $masked(x: &[$t], fill: &[$t], active: &[u32], out: &mut [$t]) {
                let i = global_id().x;
                let (value, other) = (x[i], fill[i]);
                if active[i] != 0 {
                    let results = comptime { all(value, other) };
                    #[unroll] for k in 0..results.len() {
                        out[i + k as u32 * 64] = results[k];
                    }
                }
            }

            #[workgroup(64)]
            fn $plain(x: &[$t], fill: &[$t], out: &mut [$t]) {
                let i = global_id().x;
                let (value, other) = (x[i], fill[i]);
                let results = comptime { all(value, other) };
                #[unroll] for k in 0..results.len() {
                    out[i + k as u32 * 64] = results[k];
                }
            }
        }

        #[test]
        fn $test() {
            let mut rng = Random::new(7);
            for (target, wave) in places() {
                let lanes = wave.lanes() as usize;
                let moves = moves(lanes);
                let device = Device::simulator(target);
                let built = $masked.build_with(target, &options(wave)).unwrap();
                let whole = $plain.build_with(target, &options(wave)).unwrap();
                for round in 0..6 {
                    let [x, fill]: [Vec<$t>; 2] =
                        std::array::from_fn(|_| (0..64).map(|_| Sample::any(&mut rng)).collect());
                    let active = masks(&mut rng, 64, round);
                    let flags: Vec<u32> = active.iter().map(|a| u32::from(*a)).collect();
                    let mut out = vec![<$t>::default(); 64 * moves.len()];
                    if round == 0 {
                        device.launch(&$plain, &whole, Grid::x(1), (&x, &fill, &mut out)).unwrap();
                    } else {
                        device.launch(&$masked, &built, Grid::x(1), (&x, &fill, &flags, &mut out)).unwrap();
                    }
                    for (k, (name, from, fills)) in moves.iter().enumerate() {
                        for i in (0..64).filter(|i| active[*i]) {
                            let zero = <$t>::default();
                            // The lane's number in its wave, and the first item of the wave.
                            let (lane, first) = (i % lanes, i / lanes * lanes);
                            let wanted = match from(lane) {
                                From::Lane(lane) if active[first + lane] => x[first + lane],
                                From::Lane(_) => if *fills { fill[i] } else { zero },
                                From::Own => x[i],
                                From::Fill => fill[i],
                            };
                            assert_eq!(out[k * 64 + i], wanted, "{target}, {lanes} lanes, round {round} {name} lane {i}");
                        }
                    }
                }
            }
        }
    )*};
}

moves_of! {
    u8 masked_u8 plain_u8 moves_of_u8;
    i16 masked_i16 plain_i16 moves_of_i16;
    u32 masked_u32 plain_u32 moves_of_u32;
    i64 masked_i64 plain_i64 moves_of_i64;
    f16 masked_f16 plain_f16 moves_of_f16;
    bf16 masked_bf16 plain_bf16 moves_of_bf16;
    f64 masked_f64 plain_f64 moves_of_f64;
}

gcn_kernel! {
    /// Masks of lanes, one lane's value, and conditions of other lanes.
    #[workgroup(64)]
    fn masks_and_lanes(x: &[u32], y: &[f64], k: u32, words: &mut [u64], out: &mut [u32], wide: &mut [f64]) {
        let i = global_id().x;
        let odd = x[i] % 2 == 1;
        words[i] = ballot(odd).bits();
        words[i + 64] = active_lanes().bits();
        out[i] = mbcnt(ballot(odd));
        out[i + 64] = select(shuffle_xor(odd, 5), 1, 0);
        out[i + 128] = select(lane_mask(ballot(odd) >> 1), 1, 0);
        out[i + 192] = write_lane(x[i], k, 7u32);
        wide[i] = write_lane(y[i], k + 1, 0.5);
        if odd {
            words[i + 64] = active_lanes().bits();
            out[i + 256] = select(is_first_lane(), 2, 1);
        }
    }
}

#[test]
fn masks_of_lanes_and_single_lanes() {
    let mut rng = Random::new(3);
    for (target, wave) in places() {
        let x: Vec<u32> = (0..64).map(|_| rng.below(1000) as u32).collect();
        let y: Vec<f64> = (0..64).map(|_| rng.below(1000) as f64).collect();
        let (mut words, mut out, mut wide) = (vec![0u64; 128], vec![0u32; 320], vec![0f64; 64]);
        let built = masks_and_lanes.build_with(target, &options(wave)).unwrap();
        let lanes = wave.lanes() as usize;
        let k = lanes as u32 - 4;
        let args = (&x[..], &y[..], k, &mut words[..], &mut out[..], &mut wide[..]);
        Device::simulator(target).launch(&masks_and_lanes, &built, Grid::x(1), args).unwrap();
        for i in 0..64 {
            let (lane, first) = (i % lanes, i / lanes * lanes);
            let odd: u64 = (0..lanes).map(|lane| u64::from(x[first + lane] % 2 == 1) << lane).sum();
            let is = |lane: usize| odd >> lane & 1 == 1;
            let what = format!("{target}, {lanes} lanes, {i}");
            let active = if is(lane) { odd } else { wave.mask() };
            assert_eq!((words[i], words[i + 64]), (odd, active), "{what}");
            assert_eq!(out[i], (odd & ((1u64 << lane) - 1)).count_ones(), "{what}");
            assert_eq!(out[i + 64], u32::from(is(lane ^ 5)), "{what}");
            assert_eq!(out[i + 128], (odd >> 1 >> lane & 1) as u32, "{what}");
            assert_eq!(out[i + 192], if lane == k as usize { 7 } else { x[i] }, "{what}");
            assert_eq!(wide[i], if lane == k as usize + 1 { 0.5 } else { y[i] }, "{what}");
            let first = lane as u32 == odd.trailing_zeros();
            assert_eq!(out[i + 256], if first { 2 } else { u32::from(is(lane)) }, "{what}");
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn far<const N: u32>(x: &mut [u32]) {
        x[global_id().x] = shuffle_xor(x[global_id().x], N);
    }
}

#[test]
fn a_mask_beyond_the_wave_is_refused() {
    far::<63>.build(Target::GFX90A).unwrap();
    let error = far::<64>.build(Target::GFX90A).unwrap_err().to_string();
    assert!(error.contains("at most 63") && error.contains("shuffle.rs"), "{error}");
}

gcn_kernel! {
    #[workgroup(64)]
    fn one<const MASK: u32>(x: &mut [u32]) {
        let i = global_id().x;
        x[i] = shuffle_xor(x[i], MASK);
    }
}

#[test]
fn the_pattern_and_the_target_choose_the_instruction() {
    let text = |mask: u32, target| {
        fn built<const MASK: u32>(target: Target) -> String {
            one::<MASK>.build(target).unwrap().assembly(Comments::None)
        }
        match mask {
            1 => built::<1>(target),
            8 => built::<8>(target),
            4 => built::<4>(target),
            16 => built::<16>(target),
            20 => built::<20>(target),
            32 => built::<32>(target),
            _ => built::<33>(target),
        }
    };
    for target in TARGETS {
        let count = |mask, what| text(mask, target).matches(what).count();
        assert_eq!(count(1, "quad_perm:[1,0,3,2]"), 1, "{target}");
        assert_eq!(count(8, "row_ror:8"), 1, "{target}");
        assert_eq!(count(4, "_dpp"), 2, "{target}");
        assert_eq!(count(20, "ds_swizzle_b32"), 1, "{target}");
        assert_eq!(count(33, "ds_bpermute_b32"), 1, "{target}");
        let swaps = target == Target::GFX950;
        assert_eq!(count(32, "v_permlane32_swap_b32"), usize::from(swaps), "{target}");
        assert_eq!(count(32, "ds_bpermute_b32"), usize::from(!swaps), "{target}");
        assert_eq!(count(16, "v_permlane16_swap_b32"), usize::from(swaps), "{target}");
        assert_eq!(count(16, "ds_swizzle_b32"), usize::from(!swaps), "{target}");
    }
}
