//! Made from random programs; see `through_macro.rs`.

use gcn_dsl::BuiltKernel;
use gcn_dsl::prelude::*;

use super::cells::{Cell, cell, put};
use super::shapes::{Long, Machine, Pair, Rows, Thing, Word, again, either, passed};
use super::through_macro::Sampled;

gcn_kernel! {
    #[workgroup(64)]
    fn program_1102(
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<u32> = in_u32[global as usize] % 4294967293u32;
        for x1 in 2u16..=splat(1u16) {
            let mut x2: V<u32> = 0;
            loop {
                (x2, _) = (x2 + (1u32), 0);
                if x2 > 4u32 {
                    cold_path();
                    break;
                }
                x0 = in_u32[(shuffle_xor(x0, 11) % 96u32) as usize] as u32;
                let mut object0: Option<V<f32>> = if any([out_u32[global]] == [(Rows { of: in_u32, step: 1 }).at(local)]) { None } else { None };
                (x0, _) = (x0 - (lane.wrapping_shl(10u32)), 0);
            }
            let mut x3: V<u32> = 0;
            while (x3 < 2u32) && (!(x0 == a_u32)) {
                x3 += 1;
                if in_u32.uniform(60u32) <= (a_u32 - wave) {
                    x0 -= (in_u32[global] / 2147483649u32) ^ (*[lane, splat(2147483648u32)].iter().min().unwrap());
                    break;
                }
                let mut x4: V<u32> = 64;
            }
        }
        if false || ([splat(-7i32)] == [in_i32[local as usize]]) {
            cold_path();
            if (a_u32 as u32) > 2147483650u32 {
                cold_path();
                x0 *= in_u32[(x0 % 96u32) as usize] - 10u32;
                x0 = in_u32[local];
                let mut x5: u32 = a_u32;
                x0 = (([x0] == [x0]) as u32) as u32;
            } else {
                cold_path();
                match ((*[splat(65529u16), splat(0u16)].iter().max().unwrap()) as i64) & 7i64 {
                    -2i64..=3i64 => {
                    }
                    3i64..=9223372036854775807i64 => {
                    }
                    6i64..=9223372036854775807i64 => {
                    }
                    _ => {
                    }
                }
            }
        }
        out_u32[global] = x0;
    }

    #[workgroup(128)]
    fn program_1104(
        a_i8: i8,
        a_u8: u8,
        in_u8: &[u8],
        out_u8: &mut [u8],
        out_i16: &mut [i16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        out_f16: &mut [f16],
        a_f32: f32,
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f16, 128>::new();
        lds0[local] = f16::from_bits(0xfc00 /* -inf */) - out_f16[global];
        let mut x0: S<u8> = read_lane(either(in_u8[local as usize], |v| v > (lane as u8), |v| v | (lane as u8)).unwrap_or(128u8 & in_u8[global]) * (splat(a_u8) | 106u8), wave % 64u32);
        let mut x1: u32 = 0;
        let mut x2: S<f32> = read_lane(super::bits::table::<f32>(6)[(lane ^ x1.wrapping_shr(x1 % 1u32)) & 63], ([wave, wave].iter().skip(1).fold(wave, |p, q| p | q)) % 64u32);
        #[unroll]
        for x3 in 0u32..3 {
            x2 = (a_i8 / ([(a_i8 * a_i8), 1i8].iter().skip(1).fold((a_i8 * a_i8), |p, q| p | q))) as f32;
        }
        (x2, _) = (x2, 0);
        let mut object0: Option<V<i16>> = None;
        let mut x4: V<i16> = shuffle_xor(out_i16[global], 14);
        let mut x5: u32 = wave_inclusive_max(x1);
        let mut object1: Option<V<i64>> = if (splat(f32::from_bits(0x6b61c8ed)) / a_f32) != (splat(124.5f32) / a_f32) { None } else { None };
        { let mut change = |v: u8| x0 *= v; change(wave_xor(in_u8[local].wrapping_shl(60u32))); }
        if let Some(x10) = object0 {
        } else {
            x1 = x1.wrapping_shl(super::bits::table::<u32>(3)[([lane, x5].into_iter().fold(0u32, |p, q| p ^ q)) & 7] / 4294967291u32);
            x4 = x4.wrapping_shr([(x1 + 63u32), a_f32.to_bits_as::<u32>()].into_iter().fold(0u32, |p, q| p ^ q));
            if let Some(x9) = object1 {
            } else {
                let x6 = (group % ((group * a_u32) | 1u32)) / 69u32;
                let mut object2: Option<V<f16>> = None;
                if any(x1 >= 2147483650u32) {
                    x4 *= -32767;
                    x1 -= 7;
                    #[unroll]
                    for x7 in 0u32..2 {
                        (x5, _) = ((in_u32[global] | lane).wrapping_shl(43u32), 0);
                    }
                } else {
                    cold_path();
                    for x8 in 32767i16..splat(32767i16) {
                    }
                }
            }
        }
        out_u8[global] = x0;
        out_u32[global] = x1;
        out_f32[global] = x2;
        out_i16[global] = x4;
        out_u32[global + 128] = x5;
    }

    #[workgroup(64)]
    fn program_1105(
        a_bool: bool,
        a_u8: u8,
        in_u8: &[u8],
        out_u8: &mut [u8],
        a_i32: i32,
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        a_u64: u64,
        out_u64: &mut [u64],
        a_bf16: bf16,
        in_bf16: &[bf16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let x0 = wave;
        let mut x1: u64 = a_u64;
        let x2 = in_u32[lane as usize] as u32;
        let mut object0: Option<V<u32>> = Some(select(x2 != x2, shuffle_xor(x2, 59), (*[x0, x0].iter().max().unwrap())));
        let mut x3: bool = x2 <= x0;
        #[unroll]
        for x4 in 0u32..3 {
            x3 = x3;
            if matches!(x2.cmp(&(*[x2, x2].iter().min().unwrap())), std::cmp::Ordering::Greater) {
                for x5 in (5u32..=((x0 / 1u32) & 7u32)).rev().step_by(4) {
                    if (Rows { of: in_bf16, step: 1 }).at((splat(a_u32) % 96u32)) == in_bf16[local] {
                        if x3 {
                            let mut object1: V<Cell> = cell(x2 % ([in_u32[x2 % 96u32], 1u32].iter().skip(1).fold((Rows { of: in_u32, step: 1 }).at((x2 % 96u32)), |p, q| p | q)), in_i64.load_vector::<2>([(global | x2), 127u32].iter().take(1).fold(127u32, |p, q| p & q)).get(1) & -7483222991874644063i64);
                            x3 = (Rows { of: in_f32, step: 1 }).at(global) <= 1.0f32;
                        } else {
                            let mut object2: (V<i32>, V<f64>) = (either(in_i32[local], |v| v > in_i32[local], |v| v * in_i32[local as usize]).unwrap_or(in_i32[local] | a_i32), in_f64[local as usize]);
                            x3 = x3;
                            (x3, _) = (![(*[x2.wrapping_shr(x2), ([x2, 2754140537u32].iter().sum::<u32>())].iter().min().unwrap())].contains(&((in_bf16[global as usize] <= a_bf16) as u32)), 0);
                        }
                        x3 = ((if a_bool { out_f32[global] } else { splat(f32::from_bits(0x8edc1626)) }) / a_f32.min(2.25f32)) > (read_first_lane((Rows { of: in_f32, step: 1 }).at(global)) * a_f32);
                        x3 = matches!(x2.cmp(&x2), std::cmp::Ordering::Greater);
                    }
                    let mut x6: V<u32> = shuffle_xor(x2, 57);
                }
                out_u8[global] = [(Rows { of: in_u8, step: 1 }).at(global), a_u8].iter().sum::<u8>();
            }
        }
        out_u32[global] = x0;
        out_u64[global] = x1;
        out_u32[global + 128] = x2;
        out_u8[global] = x3 as u8;
    }

    #[workgroup(64)]
    fn program_1106(
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<f32> = a_f32;
        x0 = x0.mul_add(-48.0f32, x0);
        let mut x1: f32 = out_f32[global + 128].mul_add(f32::from_bits(0xc2ac8dff), again(out_f32[global], |v| v - ((Rows { of: in_f32, step: 1 }).at(lane) - x0)) + x0.min(-105.625f32));
        match global.wrapping_shl(39u32) & 7u32 {
            3u32 => {
                x1 = shuffle_xor(x1, 45);
                if x0 < x0.min(x0) {
                    cold_path();
                    return;
                }
                (x1, _) = (x1, 0);
                x1 = ((if x1 != x1 { x1 } else { f32::from_bits(0x4eb8fb0f) }) * (x1 * in_f32[lane])).trunc();
            }
            2u32 => {
                if x0 > a_f32 {
                }
            }
            _ => {
            }
        }
        out_f32[global] = x0;
        out_f32[global + 128] = x1;
    }

    #[workgroup(128)]
    fn program_1107(
        in_u8: &[u8],
        out_u8: &mut [u8],
        a_i16: i16,
        in_u16: &[u16],
        a_u32: u32,
        in_u32: &[u32],
        shared_u32: &mut [u32],
        in_i64: &[i64],
        out_i64: &mut [i64],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i64, 128>::new();
        lds0[local] = either(out_i64[global + 256], |v| v > in_i64[((Rows { of: in_u32, step: 1 }).at(lane) % 96u32) as usize], |v| v * in_i64[in_u32[lane] % 96u32]).unwrap_or(in_i64[local as usize]);
        let mut x0: V<f32> = out_f32[global];
        let mut x1: f32 = (Rows { of: in_f32, step: 1 }).at(local) + 113.75f32;
        barrier();
        (x1, _) = (in_f32[local], 0);
        let mut x2: V<bool> = (..=in_u32[local as usize]).contains(&lane);
        match [(a_u32 - a_u32), 34u32].iter().rev().fold(0u32, |p, q| p ^ q) {
            6u32 => {
                shared_u32.atomic([(if in_f32[global] == a_f32 { splat(76u32) } else { 20u32 }), 15u32].iter().take(1).fold(15u32, |p, q| p & q)).fetch_add(lane - 47u32, Scope::Agent, Ordering::Relaxed);
                let mut x3: f32 = in_f32.uniform(70u32);
                out_f32[global] = x0;
            }
            6u32 => {
                barrier();
            }
            2u32 => {
                let mut x4: S<f32> = a_f32.max(-89.25f32);
                if (x4 / (Rows { of: in_f32, step: 1 }).at(local)) != shuffle_xor(x1, 32) {
                    cold_path();
                    let mut object0: Option<V<f16>> = if 4294967295u32 <= a_u32 { None } else { None };
                    let x5: u8;
                    if in_f32[lane] == x4.mul_add(-0.0f32, x4) {
                        x5 = splat(32u8);
                    } else {
                        x5 = in_u8[global];
                    }
                    let mut x6: S<u32> = 0;
                    while x6 < 2u32 {
                        (x6, _) = (x6 + (1u32), 0);
                        x2 = (!(x4 > x4));
                    }
                }
            }
            _ => {
                match in_u16[local as usize] & 7u16 {
                    0u16..=2u16 => {
                        let mut object1: Pair = Pair { count: (*[(in_u32.uniform(23u32) * a_u32), a_u32.wrapping_shl(group % 4294967295u32)].iter().max().unwrap()), level: in_f32.uniform(2u32) };
                        let mut x7: V<f32> = -119.75;
                        #[unroll]
                        for x8 in 0u32..1 {
                            match ((13547i16 * a_i16) - ([a_i16, a_i16].into_iter().fold(0i16, |p, q| p ^ q))) & 7i16 {
                                -3i16..=3i16 => {
                                }
                                6i16..=12i16 => {
                                }
                                5i16..=32767i16 => {
                                }
                                _ => {
                                }
                            }
                        }
                    }
                    _ => {
                    }
                }
            }
        }
        out_f32[global] = x0;
        out_f32[global + 128] = x1;
        out_u8[global] = x2 as u8;
    }

    #[workgroup(128)]
    fn program_1108(
        a_bool: bool,
        out_u8: &mut [u8],
        a_u32: u32,
        in_u32: &[u32],
        shared_u32: &mut [u32],
        a_f32: f32,
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<bool> = (if a_bool { a_f32 } else { a_f32 }) != a_f32;
        let mut x1: f32 = a_f32;
        let mut x2: V<f32> = in_u32[lane as usize] as f32;
        let mut x3: V<u32> = 0;
        loop {
            (x3, _) = (x3 + (1u32), 0);
            if x3 > 2u32 {
                cold_path();
                break;
            }
            shared_u32.atomic(((x2 <= splat(a_f32)) as u32) & 15u32).fetch_and(splat(a_u32), Scope::Agent, Ordering::Relaxed);
        }
        out_u8[global] = x0 as u8;
        out_f32[global] = x1;
        out_f32[global + 128] = x2;
    }

    #[workgroup(64)]
    fn program_1111(
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        a_f32: f32,
        in_f32: &[f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f64, 128>::new();
        lds0[local] = in_f64[global as usize];
        lds0[[local, 64u32].iter().fold(0u32, |p, q| p + q)] = in_f64[local];
        let mut x0: V<i32> = (*[in_i32[global], (&in_i32[((a_u32 % ([in_u32.uniform(44u32).min(a_u32), 1u32].iter().skip(1).fold((*[in_u32.uniform(44u32), a_u32].iter().min().unwrap()), |p, q| p | q))) & 127u32)..((a_u32 % ([in_u32.uniform(44u32).min(a_u32), 1u32].iter().skip(1).fold((*[in_u32.uniform(44u32), a_u32].iter().min().unwrap()), |p, q| p | q))) & 127u32) + 31])[(*[splat(4089330119u32), in_u32[global]].iter().max().unwrap()) & 63u32]].iter().max().unwrap()) - ([(Rows { of: in_i32, step: 1 }).at(global), 26i32].iter().take(1).fold(26i32, |p, q| p & q));
        let mut x1: i32 = -2147483646;
        let mut x2: V<i32> = (Rows { of: in_i32, step: 1 }).at(global).max(-1i32) * a_i32;
        let mut object0: Option<V<u32>> = Some(wave_exclusive_max(in_u32[local]));
        x2 += [(if x2 >= in_i32.uniform(96u32) { x2 } else { x1 }), in_i32[local as usize]][(((Rows { of: in_f32, step: 1 }).at(global) != in_f32[lane]) || (splat(a_f32) <= in_f32[lane])) as usize];
        x1 = x2.wrapping_shl(36u32);
        out_i32[global] = x0;
        out_i32[global + 64] = x1;
        out_i32[global + 128] = x2;
    }

    #[workgroup(128)]
    fn program_1113(
        a_bool: bool,
        in_i8: &[i8],
        out_i8: &mut [i8],
        a_i32: i32,
        out_i32: &mut [i32],
        a_u32: u32,
        out_u32: &mut [u32],
        a_u64: u64,
        in_u64: &[u64],
        out_u64: &mut [u64],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<u16, 8>::filled(0u16);
        let own1 = Private::<f16, 8>::filled(f16::from_bits(0x0 /* 0 */));
        let mut x0: V<i8> = (-splat(253u8).to_bits_as::<i8>());
        let x1 = out_i32[global] * a_i32;
        (x0, _) = (x0 & ([(x0 - x0), (a_u32 as i8)].iter().sum::<i8>()), 0);
        if [a_u64] == [in_u64[lane]] {
            (x0, _) = ((!x0) & (*[in_i8[local as usize], x0].iter().max().unwrap()), 0);
            let mut x2: V<bool> = (!(in_u64[lane].cmp(&out_u64[global + 256]) == std::cmp::Ordering::Less));
            for x3 in (2147483644i32..=splat(2147483647i32)).rev() {
                if (!a_bool) {
                    (x0, _) = (x0 & ((&in_i8[54u32..54u32 + 56])[([out_u32[global + 256], splat(2147483649u32)].iter().take(1).fold(splat(2147483649u32), |p, q| p & q)) & 63u32]), 0);
                    break;
                }
                x2 = (in_f64.uniform(63u32) * 0.0f64) != in_f64.uniform(61u32);
            }
        }
        out_i8[global] = x0;
        out_i32[global] = x1;
    }

    #[workgroup(64)]
    fn program_1114(
        in_u8: &[u8],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        a_f32: f32,
        a_f64: f64,
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<f64, 8>::filled(0.0f64);
        let x0 = (*[(a_u32 * 833446027u32), 4294967289u32].iter().max().unwrap());
        let x1 = out_f64[global + 64];
        let mut x2: V<u32> = 0;
        while (x2 < 2u32) && (x1 > splat(-24.25f64)) {
            (x2, _) = (x2 + (1u32), 0);
            if own0[4u32] == 15.375f64 {
                if a_f64 > (in_f64.uniform(44u32) * -40.375f64) {
                    if (!(splat(a_i64) < 92i64)) {
                        cold_path();
                        let x3 = x0 as f64;
                    } else {
                        own0[6u32] = in_f64.uniform(25u32);
                        let mut x4: V<f64> = 28.25;
                        x4 = x4;
                    }
                    let mut x5: V<u32> = 0;
                    while (x5 < 3u32) && (global != 1024u32) {
                        x5 += 1;
                        let mut x6: V<u8> = in_u8[lane].min(splat(0u8));
                        let mut object0: Thing = Thing::Wide(super::bits::table::<i64>(7)[(global ^ (Rows { of: in_u32, step: 1 }).at(local)) & 127]);
                        let mut x7: u32 = out_u32[global + 64];
                        x7 -= [shuffle(x7, x7), x0].iter().sum::<u32>();
                    }
                } else {
                    let mut x8: S<u32> = (if -96.25f64 < a_f64 { wave_xor(lane.wrapping_shr(global)) } else { wave });
                    put(&mut own0, 2u32, out_f64[global + 64].mul_add(-37.875f64, x1) as f64);
                }
                let mut x9: u32 = 0;
                while (x9 < 3u32) && (!(51.875f32 <= a_f32)) {
                    (x9, _) = (x9 + (1u32), 0);
                }
            }
        }
        out_u32[global] = x0;
        out_f64[global] = x1;
    }

    #[workgroup(128)]
    fn program_1115(
        out_u8: &mut [u8],
        a_i32: i32,
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        shared_i64: &mut [i64],
        a_bf16: bf16,
        out_bf16: &mut [bf16],
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f32, 128>::new();
        let own0 = Private::<f32, 8>::filled(0.0f32);
        let own1 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        lds0[local] = in_f32[local as usize].mul_add(29.375f32, (Rows { of: in_f32, step: 1 }).at(local));
        let mut x0: V<u32> = in_u32.uniform(27u32) & (a_u32 * a_u32);
        let mut x1: bool = in_u32[global] < 0u32;
        shared_i64.atomic(splat(a_u32).wrapping_shl(16u32) & 15u32).fetch_add(wave_exclusive_min(splat(a_i64).wrapping_shr(super::bits::table::<u32>(6)[(global ^ x0) & 63])), Scope::Agent, Ordering::Relaxed);
        match (if x1 { x0 } else { x0 }).wrapping_shr(in_u32[local]) {
            4294967289u32..=4294967295u32 => {
                put(&mut own0, 6u32, in_f32[lane]);
            }
            4294967292u32..=4294967295u32 => {
                put(&mut own1, splat(a_i32).to_bits_as::<u32>() & 7u32, [splat(a_bf16), out_bf16[global + 256]][x1 as usize]);
                let mut object0: [V<u32>; 3] = [select((!(x0 < group)), x0 as u32, [(in_u32.uniform(43u32) * x0), 4294967295u32].iter().take(1).fold(4294967295u32, |p, q| p & q)), (Rows { of: in_u32, step: 1 }).at((x0 % 96u32)), in_u32[local]];
                put(&mut own0, 5u32, in_f32[local]);
            }
            _ => {
            }
        }
        out_u32[global] = x0;
        out_u8[global] = x1 as u8;
    }

    #[workgroup(64)]
    fn program_1120(
        a_bool: bool,
        a_u8: u8,
        in_u8: &[u8],
        out_u8: &mut [u8],
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f64, 128>::new();
        lds0[local] = splat(f64::from_bits(0xc3d9e9d16aefda7f));
        lds0[[local, 64u32].iter().sum::<u32>()] = (Rows { of: in_f64, step: 1 }).at(local).min(out_f64[global]);
        let mut x0: V<u8> = splat(a_u8);
        let mut x1: u8 = [a_u8.min(0u8), ([a_u8, a_u8].iter().skip(1).fold(a_u8, |p, q| p | q))].iter().fold(0u8, |p, q| p + q);
        let mut x2: V<u32> = lane;
        for x3 in 2147483644i32..splat(2147483647i32) {
            out_u32[global] = wave_exclusive_min(x2 & in_u32.uniform(54u32));
        }
        let mut object0: Option<V<u32>> = if x0 == x0 { Some([in_u32[local], x2].iter().rev().fold(0u32, |p, q| p ^ q)) } else { None };
        x2 &= 72;
        for x4 in (1i16..=splat(1i16)).step_by(1) {
            let x6: V<u8>;
            if x0 == ([splat(2u8), x0].iter().sum::<u8>()) {
                lds0[local] = (Rows { of: in_f64, step: 1 }).at(local);
                if a_bool {
                    let mut x5: V<u32> = 0;
                    loop {
                        x5 += 1;
                        if x5 > 4u32 {
                            cold_path();
                            break;
                        }
                        out_u8[global] = splat(a_u8);
                    }
                }
                x6 = (if matches!(([x0, out_u8[global]].into_iter().fold(0u8, |p, q| p ^ q)).cmp(&(in_u8[global] | x0)), std::cmp::Ordering::Greater) { (7u8 | x0).wrapping_shl(x2) } else { (x0 % ((in_u8[local] as u8) | 1u8)) * (x0 / 253u8) });
            } else {
                x6 = (*[x0, in_u8[local as usize]].iter().min().unwrap());
            }
        }
        out_u8[global] = x0;
        out_u8[global + 64] = x1;
        out_u32[global] = x2;
    }

    #[workgroup(64)]
    fn program_1121(
        in_i16: &[i16],
        out_i16: &mut [i16],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        a_i64: i64,
        in_i64: &[i64],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<f32> = in_f32[global as usize] as f32;
        let mut x1: i16 = (read_lane(in_i16[global], in_u32.uniform(35u32) % 64u32) ^ 0i16).wrapping_shr(69u32);
        let mut object0: V<Cell> = if out_f32[global] != (a_f32 + f32::from_bits(0x4f000000)) { cell((out_i32[global] % (x0.to_bits_as::<i32>() | 1i32)).to_bits_as::<u32>(), a_i64 - a_i64.max(a_i64)) } else { cell(splat(a_u32) * in_u32.uniform(79u32), [in_i64.uniform(4u32).wrapping_shl(16u32), (in_i64.uniform(92u32) % 2860235587026134393i64)].into_iter().fold(0i64, |p, q| p ^ q)) };
        x1 = x1.wrapping_shl((*[read_first_lane(global), 2147483649u32].iter().max().unwrap()));
        {
            let (x2, x3) = (object0.low, object0.wide);
        }
        out_f32[global] = x0;
        out_i16[global] = x1;
    }
}

pub const SAMPLE: &[Sampled] = &[
    (1102, |target, options| program_1102.build_with(target, options).map(BuiltKernel::into_any)),
    (1104, |target, options| program_1104.build_with(target, options).map(BuiltKernel::into_any)),
    (1105, |target, options| program_1105.build_with(target, options).map(BuiltKernel::into_any)),
    (1106, |target, options| program_1106.build_with(target, options).map(BuiltKernel::into_any)),
    (1107, |target, options| program_1107.build_with(target, options).map(BuiltKernel::into_any)),
    (1108, |target, options| program_1108.build_with(target, options).map(BuiltKernel::into_any)),
    (1111, |target, options| program_1111.build_with(target, options).map(BuiltKernel::into_any)),
    (1113, |target, options| program_1113.build_with(target, options).map(BuiltKernel::into_any)),
    (1114, |target, options| program_1114.build_with(target, options).map(BuiltKernel::into_any)),
    (1115, |target, options| program_1115.build_with(target, options).map(BuiltKernel::into_any)),
    (1120, |target, options| program_1120.build_with(target, options).map(BuiltKernel::into_any)),
    (1121, |target, options| program_1121.build_with(target, options).map(BuiltKernel::into_any)),
];
