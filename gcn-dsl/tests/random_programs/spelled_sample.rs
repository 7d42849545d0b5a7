//! Made from random programs; see `through_macro.rs`.

use gcn_dsl::BuiltKernel;
use gcn_dsl::prelude::*;

use super::cells::{Cell, cell, put};
use super::shapes::{Long, Machine, Pair, Rows, Thing, Word, again, either, passed};
use super::through_macro::Sampled;

gcn_kernel! {
    #[workgroup(64)]
    fn program_1102(
        a_i8: i8,
        a_i16: i16,
        a_u16: u16,
        in_u16: &[u16],
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f16: f16,
        in_f16: &[f16],
        out_f16: &mut [f16],
        a_bf16: bf16,
        in_bf16: &[bf16],
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<u32> = in_u32[global as usize] % 4294967293u32;
        out_f32[global + 128] = out_f32[global + 128];
        let x1 = a_u32;
        match (x1 as i8) - a_i8 {
            4i8 => {
                if in_u32[x0 % 96u32] <= (x0 as u32) {
                    let x2 = in_i32[local as usize];
                    if (x2 > 69i32) && (local <= x0) {
                        cold_path();
                        out_i32[global] = (*[read_lane(x2, 9u32), 64i32].iter().max().unwrap());
                        let mut object0: Option<V<f16>> = if [splat(f32::from_bits(0x31a700c5)), in_f32[local]][(x0 < a_u32) as usize] >= in_f32.uniform(62u32) { None } else { Some(either(in_f16[local] / a_f16, |v| v > out_f16[global + 128], |v| v + out_f16[global + 128]).unwrap_or(in_f16.load_vector::<8>((x0 as u32) & 127u32).get(2))) };
                        let mut x3: u16 = (*[(a_i16.wrapping_shr(46u32) as u16), ([a_u16.wrapping_shr(in_i32.uniform(58u32).to_bits_as::<u32>()), 5u16].into_iter().fold(0u16, |p, q| p ^ q))].iter().min().unwrap());
                        x0 *= x0 * lane.wrapping_shr(41u32);
                    }
                }
                out_u32[global + 128] = x0;
            }
            0i8..=127i8 => {
                if (if (x1..).contains(&x0) { x0 } else { a_u32 }) < 2915934557u32 {
                    let x4 = in_u32[local as usize] * (x0 + 2u32);
                    #[unroll]
                    for x5 in 0u32..0 {
                        for x6 in 3i32..=(([(splat(0i32) % 3i32), 7i32].iter().take(1).fold(7i32, |p, q| p & q)) - 3i32) {
                            (x0, _) = (select((x4 < 4294967295u32) && (in_bf16[global as usize] != a_bf16), (if ![x0].contains(&lane) { x0 } else { x1 }), x4 * x0), 0);
                            (x0, _) = (in_u32.load_vector::<4>([(if in_u16[global] >= 44140u16 { x0 } else { x0 }), 127u32].iter().take(1).fold(127u32, |p, q| p & q)).get(1), 0);
                        }
                    }
                }
            }
            0i8 => {
            }
            _ => {
            }
        }
        out_u32[global] = x0;
        out_u32[global + 64] = x1;
    }

    #[workgroup(64)]
    fn program_1106(
        in_i32: &[i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f32: f32,
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<f32> = a_f32;
        x0 = x0;
        let mut x1: u32 = 2147483650;
        for x2 in ((([(Rows { of: in_i32, step: 1 }).at(local).wrapping_shl(local + x1), 7i32].iter().take(1).fold(7i32, |p, q| p & q)) - 3i32)..0i32).rev().step_by(2) {
            let x3 = ([(local % 2147483651u32), splat(4294967291u32)].into_iter().fold(0u32, |p, q| p ^ q)) & 127u32;
            if x3 == 30u32 {
                out_u32[global + 128] = shuffle(x3, 12u32) & 64u32;
                #[unroll]
                for x4 in 0u32..3 {
                    let mut x5: V<f32> = x0;
                    x5 += f32::from_bits(0x116c2);
                    x5 = x0;
                }
            } else {
                cold_path();
                out_u32[global + 128] = in_u32[shuffle(x3, 22u32) & 31u32];
            }
        }
        out_f32[global] = x0;
        out_u32[global] = x1;
    }

    #[workgroup(128)]
    fn program_1113(
        out_i8: &mut [i8],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<u16, 8>::filled(0u16);
        let own1 = Private::<f16, 8>::filled(f16::from_bits(0x0 /* 0 */));
        let mut x0: V<i8> = (-splat(253u8).to_bits_as::<i8>());
        let x1 = out_i32[global] * a_i32;
        let x2: V<i32>;
        if ((*[a_i32, 32768i32].iter().min().unwrap()), 1u32) != (x1, 1u32) {
            x2 = shuffle((*[x1, (Rows { of: in_i32, step: 1 }).at(global)].iter().max().unwrap()) | shuffle_xor(x1, 37), (*[global, 726697339u32].iter().min().unwrap()));
        } else {
            x2 = x1 | splat(a_i32);
        }
        if (..=shuffle_xor(local, 62)).contains(&global) {
            let mut x3: u32 = 0;
            while (x3 < 1u32) && ((*[in_i32.uniform(19u32), a_i32].iter().min().unwrap()) != a_i32) {
                (x3, _) = (x3 + (1u32), 0);
                match (wave * 0u32) & wave {
                    2u32..=7u32 => {
                        x0 = x0.wrapping_shl(32768);
                        let mut object0: Option<V<f32>> = if out_u32[global] == 24u32 { None } else { Some(in_f32[lane as usize]) };
                        for x4 in (1u64..=((a_i64 as u64) & 7u64)).rev() {
                        }
                    }
                    _ => {
                    }
                }
            }
        }
        out_i8[global] = x0;
        out_i32[global] = x1;
        out_i32[global + 128] = x2;
    }

    #[workgroup(128)]
    fn program_1115(
        out_u8: &mut [u8],
        a_i16: i16,
        in_i16: &[i16],
        out_i16: &mut [i16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_u64: u64,
        in_u64: &[u64],
        shared_u64: &mut [u64],
        in_f16: &[f16],
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f32, 128>::new();
        let own0 = Private::<f32, 8>::filled(0.0f32);
        let own1 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        lds0[local] = in_f32[local as usize].mul_add(29.375f32, (Rows { of: in_f32, step: 1 }).at(local));
        let mut x0: V<u32> = in_u32.uniform(27u32) & (a_u32 * a_u32);
        let mut x1: bool = in_u32[global] < 0u32;
        let mut object0: [V<i16>; 3] = if ([in_u32.uniform(10u32)].iter().any(|v| *v == x0)) || x1 { [in_i16[global as usize], (if out_f32[global + 256] != (Rows { of: in_f32, step: 1 }).at(global) { in_f16[local].to_bits_as::<i16>() } else { 44i16 }).wrapping_shr(25u32), (Rows { of: in_i16, step: 1 }).at(local) + a_i16] } else { [in_i16[local] / 5i16, read_lane(out_i16[global + 256], 9u32), select(x0 <= 2147483649u32, out_i16[global + 256].to_bits_as::<i16>(), in_i16[local as usize])] };
        object0[1] = (in_u64[lane] as i16) % 7091i16;
        for e in object0.iter_mut() {
            *e *= in_i16[local];
        }
        shared_u64.atomic(x0 & 15u32).fetch_and([(Rows { of: in_u64, step: 1 }).at(local), splat(a_u64)].iter().sum::<u64>(), Scope::Agent, Ordering::Relaxed);
        let mut x2: V<u32> = (*[(global % 99u32), 0u32].iter().min().unwrap());
        let mut object1: Thing = Thing::Both { near: splat(3i32).min(103053491i32), far: splat(0.1f32) };
        out_u32[global] = x0;
        out_u8[global] = x1 as u8;
        out_u32[global + 128] = x2;
    }

    #[workgroup(64)]
    fn program_1120(
        a_u8: u8,
        out_u8: &mut [u8],
        in_i16: &[i16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_bf16: bf16,
        in_bf16: &[bf16],
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
        let mut x3: u32 = 0;
        while x3 < 1u32 {
            x3 += 1;
            for x4 in (((x2 + 5u32) & 7u32)..([local.wrapping_shr(a_u32 - x2), 7u32].iter().take(1).fold(7u32, |p, q| p & q))).step_by(3) {
                match ((x1 as i8) as i32) & 7i32 {
                    4i32..=2147483647i32 => {
                        x2 *= [4096u32, in_u32[local as usize]][(a_bf16 <= (Rows { of: in_bf16, step: 1 }).at(local)) as usize];
                        (x2, _) = ([x2, 3u32].iter().skip(1).fold(x2, |p, q| p | q), 0);
                    }
                    3i32..=6i32 => {
                        match [in_i16[local as usize], 7i16].iter().take(1).fold(7i16, |p, q| p & q) {
                            3i16 => {
                                let mut object0: [V<u32>; 3] = [select(x0 > out_u8[global], x2, x4 | x4.max(lane)), x4, super::bits::table::<u32>(6)[([global, ([x4, a_u32].into_iter().fold(0u32, |p, q| p ^ q))].iter().rev().fold(0u32, |p, q| p ^ q)) & 63]];
                            }
                            3i16..=32767i16 => {
                                out_u8[global] = (x1 * x1) / 129u8;
                                let mut x5: u8 = 252;
                                x2 = x2.wrapping_shl([splat(a_u32), in_u32.uniform(58u32)].iter().fold(0u32, |p, q| p + q));
                            }
                            1i16..=32767i16 => {
                            }
                            _ => {
                            }
                        }
                    }
                    5i32..=8i32 => {
                    }
                    _ => {
                    }
                }
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
        in_u32: &[u32],
        in_u64: &[u64],
        in_f32: &[f32],
        out_f32: &mut [f32],
        at_f32: *const f32,
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<f32> = in_f32[global as usize] as f32;
        let mut x1: i16 = (read_lane(in_i16[global], 30u32) ^ 0i16).wrapping_shr(9u32);
        (x1, _) = (x1 + (-25760i16), 0);
        let mut object0 = at_f32.add((Rows { of: in_u32, step: 1 }).at((lane % 96u32)).to_bits_as::<u32>() & 63);
        let mut x2: V<u32> = 0;
        while (x2 < 1u32) && (([in_u64[lane], 5u64].iter().fold(0u64, |p, q| p + q)) > 72057594037927936u64) {
            x2 += 1;
        }
        out_f32[global] = x0;
        out_i16[global] = x1;
    }

    #[workgroup(64)]
    fn program_1124(
        a_bool: bool,
        in_i16: &[i16],
        a_u16: u16,
        in_u16: &[u16],
        out_u16: &mut [u16],
        a_u32: u32,
        out_u32: &mut [u32],
        a_f16: f16,
        in_f16: &[f16],
        out_f16: &mut [f16],
        in_f32: &[f32],
        at_f32: *const f32,
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u16, 128>::new();
        let lds1 = Lds::<u16, 128>::new();
        lds0[local] = (if a_bool { out_u16[global] } else { a_u16 });
        lds0[[local, 64u32].iter().sum::<u32>()] = select(in_f32[lane] == splat(f32::from_bits(0x116c2)), in_u16[lane], out_u16[global]);
        lds1[local] = in_u16[local as usize];
        lds1[local + 64u32] = in_i16[global].to_bits_as::<u16>();
        let mut x0: S<u32> = a_u32 / (([a_u32, a_u32].iter().skip(1).fold(a_u32, |p, q| p | q)) | 1u32);
        out_f16[global + 128] = splat(a_f16) / shuffle_xor(in_f16[local], 27);
        x0 = [x0, x0].iter().rev().fold(0u32, |p, q| p ^ q);
        x0 += x0.wrapping_shl(x0 - x0) / 2147483649u32;
        let mut x1: u32 = lane;
        x0 = x0 * x0;
        let mut object0 = at_f32.add(((x0 * x0) * 13u32) & 63);
        out_u32[global] = x0;
        out_u32[global + 128] = x1;
    }

    #[workgroup(64)]
    fn program_1125(
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        in_u64: &[u64],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f32, 128>::new();
        let lds1 = Lds::<f32, 128>::new();
        let own0 = Private::<i16, 8>::filled(0i16);
        lds0[local] = [(Rows { of: in_f32, step: 1 }).at(local), splat(f32::from_bits(0x59fa3bb2))][(0u32 >= lane) as usize];
        lds0[local + 64u32] = (&in_f32[15u32..15u32 + 47])[local.min(2147483650u32) & 63u32];
        lds1[local] = in_f32[lane].round_ties_even();
        lds1[[local, 64u32].iter().fold(0u32, |p, q| p + q)] = in_f32[local as usize];
        let x0 = (Rows { of: in_f32, step: 1 }).at(local);
        out_f32[global + 64] = x0;
        let mut x1: f32 = (if x0 < -82.75f32 { x0.mul_add(f32::from_bits(0x7f800000), x0 / splat(-61.375f32)) } else { a_f32 });
        lds0[local] = x0;
        if in_u64.uniform(83u32) == ([in_u64.uniform(8u32), in_u64.uniform(76u32)].iter().sum::<u64>()) {
            cold_path();
            return;
        }
        (x1, _) = (in_f32.load_vector::<2>(([(Rows { of: in_u32, step: 1 }).at(local), global].iter().sum::<u32>()) & 127u32).get(1), 0);
        let mut x2: V<u32> = 0;
        loop {
            x2 += 1;
            if x2 > 1u32 {
                cold_path();
                break;
            }
            x1 -= in_f32.load_vector::<2>((&in_u32[([(a_u32 as u32), 127u32].iter().take(1).fold(127u32, |p, q| p & q))..([(a_u32 as u32), 127u32].iter().take(1).fold(127u32, |p, q| p & q)) + 18])[(!local) & 63u32] & 127u32).get(1);
            x1 = splat(a_f32);
            lds0[local] = x1;
        }
        if (!((Rows { of: in_i32, step: 1 }).at(local) == 1108174142i32)) {
            cold_path();
            return;
        }
        out_f32[global] = x0;
        out_f32[global + 64] = x1;
    }

    #[workgroup(64)]
    fn program_1126(
        a_i8: i8,
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<u32> = either(global, |v| v > ([local.to_bits_as::<u32>().to_bits_as::<u32>(), a_u32].iter().sum::<u32>()), |v| v.max([local.to_bits_as::<u32>().to_bits_as::<u32>(), a_u32].iter().fold(0u32, |p, q| p + q))).unwrap_or(local | 1411279825u32);
        let mut x1: u32 = [(in_u32.uniform(55u32) - wave), 2147483648u32].into_iter().fold(0u32, |p, q| p ^ q);
        match (if matches!(a_i8.cmp(&a_i8), std::cmp::Ordering::Greater) { a_u32 } else { in_u32.uniform(89u32) as u32 }) {
            4294967290u32..=4294967295u32 => {
                let mut x2: V<u32> = 0;
                'loop0: loop {
                    x2 += 1;
                    if x2 > 4u32 {
                        cold_path();
                        break;
                    }
                    let mut x3: V<u32> = 0;
                    while (x3 < 2u32) && (983953658u32 >= lane) {
                        x3 += 1;
                        if x1.cmp(&a_u32) == std::cmp::Ordering::Less {
                            (x1, _) = (in_u32[(([local, local].iter().skip(1).fold(local, |p, q| p | q)) % 96u32) as usize], 0);
                            continue 'loop0;
                        }
                    }
                }
            }
            _ => {
            }
        }
        out_u32[global] = x0;
        out_u32[global + 64] = x1;
    }

    #[workgroup(128)]
    fn program_1127(
        out_u8: &mut [u8],
        in_i16: &[i16],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_bf16: &[bf16],
        out_bf16: &mut [bf16],
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<i64, 8>::filled(0i64);
        let own1 = Private::<i32, 8>::filled(0i32);
        let mut x0: V<bool> = in_f32[local as usize] < in_f32.uniform(36u32);
        let x1 = in_i32[local].to_bits_as::<i32>() + ((Rows { of: in_i32, step: 1 }).at(lane) | splat(a_i32));
        if in_bf16[global] == out_bf16[global + 128] {
            cold_path();
            return;
        }
        match in_i16[local] {
            3i16..=9i16 => {
                let mut x2: V<u32> = 0;
                while (x2 < 2u32) && x0 {
                    x2 += 1;
                }
            }
            _ => {
            }
        }
        out_u8[global] = x0 as u8;
        out_i32[global] = x1;
    }

    #[workgroup(64)]
    fn program_1133(
        a_bool: bool,
        in_i8: &[i8],
        out_i8: &mut [i8],
        out_u8: &mut [u8],
        a_u16: u16,
        in_u16: &[u16],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        a_i64: i64,
        shared_i64: &mut [i64],
        a_f32: f32,
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i8, 128>::new();
        let lds1 = Lds::<u16, 128>::new();
        let own0 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        let own1 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        lds0[local] = out_i8[global];
        lds0[[local, 64u32].iter().sum::<u32>()] = (&in_i8[84u32..84u32 + 62])[local.wrapping_shr(splat(42i32) as u32) & 63u32];
        lds1[local] = in_u16[local] * a_u16;
        lds1[[local, 64u32].iter().sum::<u32>()] = shuffle_xor(in_u16[local as usize], 37);
        let x0 = splat(a_i32) > splat(7i32);
        let mut x1: i32 = splat(0i32) / -3i32;
        x1 = x1.wrapping_shr(0);
        shared_i64.atomic(global.wrapping_shr((Rows { of: in_u32, step: 1 }).at((local % 96u32))) & 15u32).fetch_max(read_first_lane(splat(a_i64)), Scope::Agent, Ordering::Relaxed);
        let x2: V<i32>;
        if wave_exclusive_or(in_u32[lane]).cmp(&(&in_u32[(a_f32.to_bits_as::<u32>() & 127u32)..(a_f32.to_bits_as::<u32>() & 127u32) + 67])[[splat(a_u32), 63u32].iter().take(1).fold(63u32, |p, q| p & q)]) == std::cmp::Ordering::Less {
            x2 = (if all(x0) { x1 / 16385i32 } else { in_i32.uniform(73u32) * a_i32 });
        } else {
            x2 = a_i32;
        }
        (x1, _) = ((if x1 >= x2 { either(x1, |v| v > x1, |v| v * x1).unwrap_or(x1.wrapping_shl(in_u32[local] - wave)) } else { (if a_bool { x1 } else { x2 }) }), 0);
        out_u8[global] = x0 as u8;
        out_i32[global] = x1;
        out_i32[global + 128] = x2;
    }

    #[workgroup(64)]
    fn program_1137(
        a_bool: bool,
        out_u8: &mut [u8],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_u64: &[u64],
        a_f16: f16,
        in_f16: &[f16],
        out_f16: &mut [f16],
        a_f32: f32,
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<f16> = a_u32 as f16;
        let mut x1: u32 = ([4294967295u32, in_u32.uniform(76u32)].iter().sum::<u32>()).wrapping_shl(69u32);
        let x2 = a_f32;
        x1 = x1.wrapping_shr(super::bits::table::<u32>(7)[([wave, read_lane(lane, 12u32)].into_iter().fold(0u32, |p, q| p ^ q)) & 127]);
        (x1, _) = (x1 * (4294967290u32), 0);
        let mut x3: f16 = splat(a_f16);
        let mut x4: S<bool> = [x1.min(4u32)] == [(if a_bool { wave } else { x1 })];
        (x4, _) = ((!(x2 == x2)), 0);
        let mut x5: u32 = (x1 + x1).wrapping_shl([x1, x1].iter().sum::<u32>());
        match (read_lane(x5, ([group, a_u32].iter().sum::<u32>()) % 64u32) as u64) & 7u64 {
            6u64 => {
                if x2 == out_f32[global + 128] {
                    let mut object0: Option<V<f32>> = if either(x5, |v| v > x5, |v| v * x5).unwrap_or(wave_exclusive_product(splat(a_u32))) <= x1 { None } else { Some(x2) };
                    if let Some(x9) = object0 {
                    } else {
                        let x6 = x1.max(x1) % ([(x1 - x1), 1u32].iter().skip(1).fold((x1 - x1), |p, q| p | q));
                        match (*[x1, x6].iter().max().unwrap()) ^ 3875607223u32 {
                            5u32 => {
                                for x7 in (((*[in_u64[lane], 9223372036854775809u64].iter().min().unwrap()) & 7u64)..(in_u64[global].wrapping_shl(splat(a_u32)) & 7u64)).rev() {
                                    (x5, _) = (x5 & (3764227398u32), 0);
                                }
                                for x8 in (0u64..=((splat(81u64) / 131073u64) & 7u64)).step_by(1) {
                                    x3 = x3;
                                    x3 = (Rows { of: in_f16, step: 1 }).at(global) / x0;
                                    (x5, _) = ((x6.wrapping_shl(63u32) - ([splat(2147483648u32), 2147483648u32].iter().skip(1).fold(splat(2147483648u32), |p, q| p | q))) + (group - x6).wrapping_shr(60u32), 0);
                                }
                            }
                            _ => {
                            }
                        }
                    }
                }
            }
            0u64 => {
            }
            _ => {
            }
        }
        out_f16[global] = x0;
        out_u32[global] = x1;
        out_f32[global] = x2;
        out_f16[global + 64] = x3;
        out_u8[global] = x4 as u8;
        out_u32[global + 64] = x5;
    }
}

pub const SAMPLE: &[Sampled] = &[
    (1102, |target, options| program_1102.build_with(target, options).map(BuiltKernel::into_any)),
    (1106, |target, options| program_1106.build_with(target, options).map(BuiltKernel::into_any)),
    (1113, |target, options| program_1113.build_with(target, options).map(BuiltKernel::into_any)),
    (1115, |target, options| program_1115.build_with(target, options).map(BuiltKernel::into_any)),
    (1120, |target, options| program_1120.build_with(target, options).map(BuiltKernel::into_any)),
    (1121, |target, options| program_1121.build_with(target, options).map(BuiltKernel::into_any)),
    (1124, |target, options| program_1124.build_with(target, options).map(BuiltKernel::into_any)),
    (1125, |target, options| program_1125.build_with(target, options).map(BuiltKernel::into_any)),
    (1126, |target, options| program_1126.build_with(target, options).map(BuiltKernel::into_any)),
    (1127, |target, options| program_1127.build_with(target, options).map(BuiltKernel::into_any)),
    (1133, |target, options| program_1133.build_with(target, options).map(BuiltKernel::into_any)),
    (1137, |target, options| program_1137.build_with(target, options).map(BuiltKernel::into_any)),
];
