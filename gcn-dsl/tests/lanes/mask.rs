//! `LaneMask` against sets of lanes in plain Rust, in waves of both sizes.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{masks, options};

/// The number of words in each work-item's output.
const OUT: usize = 28;

gcn_kernel! {
    #[device]
    fn union(a: LaneMask, b: V<LaneMask>) -> V<LaneMask> {
        a | b
    }

    /// `given` contains lanes that waves of 32 lanes do not have. `at` is uniform, `lane` is varying.
    #[workgroup(64)]
    fn sets(x: &[u32], y: &[u32], lane: &[u32], at: u32, given: LaneMask, number: u64, counts: &mut [u32], out: &mut [u64]) {
        let i = local_id().x;
        let of = i * comptime { OUT as u32 };
        if y[i] & 4 == 0 {
            let a = ballot(x[i] & 1 == 1);
            let b: LaneMask = ballot(x[i] & 2 == 2);
            let own = match_any(x[i]);
            let either: V<LaneMask> = if x[i] & 1 == 1 { a } else { !a };
            out[of] = a.bits();
            out[of + 1] = (!a).bits();
            out[of + 2] = (a & b).bits();
            out[of + 3] = (a | b).bits();
            out[of + 4] = (a ^ given).bits();
            out[of + 5] = own.bits();
            out[of + 6] = (!own).bits();
            out[of + 7] = union(a, own).bits();
            out[of + 8] = either.bits();
            out[of + 9] = given.bits();
            out[of + 10] = (a & number).bits();
            out[of + 11] = (own ^ ((1u64 << lane_id()) - 1)).bits();
            out[of + 12] = LaneMask::from(number).bits();
            out[of + 13] = a.below(at).bits();
            out[of + 14] = a.below(lane[i]).bits();
            out[of + 15] = own.below(lane[i]).bits();
            out[of + 16] = (a & 5).bits();
            out[of + 17] = a >> at;
            out[of + 18] = own << lane[i];
            out[of + 19] = a as u64;
            let mut rest = a;
            let mut sum = 0;
            while rest != 0 {
                sum += rest.first();
                rest &= rest.bits() - 1;
            }
            out[of + 20] = sum as u64;
            let mut all: V<LaneMask> = LaneMask::ALL;
            all &= own;
            out[of + 21] = all.bits();
            out[of + 22] = read_first_lane(own).bits();
            out[of + 23] = shuffle_xor(own, 1).bits();
            out[of + 24] = select(x[i] & 2 == 2, a, own).bits();
            out[of + 25] = active_lanes().bits();
            out[of + 26] = write_lane(own, at, given).bits();
            out[of + 27] = match_any(own).bits();
            let flags = [
                a.is_empty(), a.any(), a.all(), given.all(), a == b, a != b, a.contains(at), mask_is(a, 0),
                (a | !a).all(),
            ];
            let mut word = 0;
            #[unroll]
            for k in 0..9 {
                if flags[k] {
                    word |= 1 << k;
                }
            }
            if lane_mask(a) == a.contains(lane_id()) { word |= 1 << 9; }
            if a.contains(lane[i]) { word |= 1 << 10; }
            if own.contains(lane[i]) { word |= 1 << 11; }
            if own.contains(at) { word |= 1 << 12; }
            if lane_mask(given) { word |= 1 << 13; }
            if lane_mask(own) { word |= 1 << 14; }
            if own == a { word |= 1 << 15; }
            if own.is_empty() { word |= 1 << 16; }
            if own.all() { word |= 1 << 17; }
            counts[8 * i] = word;
            counts[8 * i + 1] = a.count_ones();
            counts[8 * i + 2] = (!a).count_ones();
            counts[8 * i + 3] = a.first();
            counts[8 * i + 4] = a.last();
            counts[8 * i + 5] = own.first() + 100 * own.last() + 10000 * own.count_ones();
            counts[8 * i + 6] = mbcnt(a) + 100 * a.below(lane_id()).count_ones() + 10000 * mbcnt(number);
            counts[8 * i + 7] = own.below(lane_id()).count_ones() + 100 * own.trailing_zeros();
        }
    }

    #[device]
    fn mask_is(mask: LaneMask, bits: u64) -> bool {
        mask.bits() == bits
    }
}

/// True if the mask contains the lane.
fn has(mask: u64, lane: u32) -> bool {
    mask >> lane & 1 == 1
}

#[test]
fn masks_are_sets_of_the_lanes_of_a_wave() {
    let mut rng = Random::new(530);
    for target in [Target::GFX942, Target::GFX1030, Target::GFX1201] {
        for &wave in target.wave_sizes() {
            let built = sets.build_with(target, &options(wave)).unwrap();
            let lanes = wave.lanes();
            for round in 0..12 {
                let x: Vec<u32> = (0..64).map(|_| rng.below([1, 4, 64][round % 3]) as u32).collect();
                let active = masks(&mut rng, 64, round);
                let y: Vec<u32> = active.iter().map(|runs| if *runs { 0 } else { 4 }).collect();
                let lane: Vec<u32> = (0..64).map(|_| rng.below(lanes as usize) as u32).collect();
                let at = rng.below(lanes as usize) as u32;
                let (given, number) = (super::bits(&mut rng) | 1 << 63, super::bits(&mut rng));
                let given = if round == 3 { u64::MAX } else { given };
                let (mut counts, mut out) = (vec![0u32; 64 * 8], vec![0u64; 64 * OUT]);
                let args = (&x, &y, &lane, at, LaneMask::from_bits(given), number, &mut counts, &mut out);
                Device::simulator(target).launch(&sets, &built, Grid::x(1), args).unwrap();
                for i in (0..64u32).filter(|i| active[*i as usize]) {
                    let (first, me) = (i / lanes * lanes, i % lanes);
                    let of = |holds: &dyn Fn(u32) -> bool| {
                        let runs = |k: &u32| active[(first + k) as usize] && holds(x[(first + k) as usize]);
                        (0..lanes).filter(runs).fold(0u64, |mask, k| mask | 1 << k)
                    };
                    let every = wave.mask();
                    let mine = x[i as usize];
                    let (a, b, runs) = (of(&|x| x & 1 == 1), of(&|x| x & 2 == 2), of(&|_| true));
                    let same = |x: u32| of(&|other| other == x);
                    let own = same(mine);
                    let (given, other) = (given & every, lane[i as usize]);
                    let below = |lane: u32| (1u64 << lane) - 1;
                    let neighbour = first + (me ^ 1);
                    let beside = if active[neighbour as usize] { same(x[neighbour as usize]) } else { 0 };
                    let leader = first + runs.trailing_zeros();
                    let want = [
                        a,
                        !a & every,
                        a & b,
                        a | b,
                        a ^ given,
                        own,
                        !own & every,
                        a | own,
                        if mine & 1 == 1 { a } else { !a & every },
                        given,
                        a & number,
                        own ^ below(me),
                        number & every,
                        a & below(at),
                        a & below(other),
                        own & below(other),
                        a & 5,
                        a >> at,
                        own << other,
                        a,
                        (0..lanes).filter(|k| has(a, *k)).map(u64::from).sum(),
                        own,
                        same(x[leader as usize]),
                        beside,
                        if mine & 2 == 2 { a } else { own },
                        runs,
                        if me == at { given } else { own },
                        own,
                    ];
                    let at_place = format!("{target}, {lanes} lanes, round {round}, work-item {i}");
                    assert_eq!(out[i as usize * OUT..][..OUT], want, "{at_place}");
                    let flags = [
                        a == 0,
                        a != 0,
                        a == every,
                        given == every,
                        a == b,
                        a != b,
                        has(a, at),
                        a == 0,
                        true,
                        true,
                        has(a, other),
                        has(own, other),
                        has(own, at),
                        has(given, me),
                        has(own, me),
                        own == a,
                        own == 0,
                        own == every,
                    ];
                    let word =
                        flags.iter().enumerate().fold(0, |word, (k, flag)| word | u32::from(*flag) << k);
                    let last = |mask: u64| 63u32.wrapping_sub(mask.leading_zeros());
                    let first_of = |mask: u64| mask.trailing_zeros().min(lanes);
                    let before = |mask: u64| (mask & below(me)).count_ones();
                    let want = [
                        word,
                        a.count_ones(),
                        (!a & every).count_ones(),
                        first_of(a),
                        last(a),
                        first_of(own) + 100 * last(own) + 10000 * own.count_ones(),
                        before(a) + 100 * before(a) + 10000 * before(number),
                        before(own) + 100 * first_of(own),
                    ];
                    assert_eq!(counts[i as usize * 8..][..8], want, "{at_place}");
                }
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn votes(x: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let mask = !ballot(x[i] == 7);
        out[i] = mask.count_ones() + mask.below(lane_id()).count_ones();
    }
}

/// In waves of 32 lanes a mask is one SGPR: nothing is computed for lanes that the wave lacks.
#[test]
fn masks_of_32_lanes_are_one_register() {
    let text = votes.build(Target::GFX1201).unwrap().assembly(Comments::None);
    let names: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let has = |name: &str| names.contains(&name);
    assert!(has("s_bcnt1_i32_b32") && has("v_mbcnt_lo_u32_b32") && !has("v_bcnt_u32_b32"), "{text}");
    assert!(!has("v_mbcnt_hi_u32_b32") && !names.iter().any(|name| name.ends_with("_b64")), "{text}");
}
