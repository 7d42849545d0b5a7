//! Made from random programs; see `through_macro.rs`.

use gcn_dsl::BuiltKernel;
use gcn_dsl::prelude::*;

use super::cells::{Cell, cell, put};
use super::shapes::{Long, Machine, Pair, Rows, Thing, Word, again, either, passed};
use super::through_macro::Sampled;

gcn_kernel! {
    #[workgroup(128)]
    fn program_2(
        a_bool: bool,
        in_i8: &[i8],
        in_i16: &[i16],
        out_i16: &mut [i16],
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        in_bf16: &[bf16],
        a_f32: f32,
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i64, 128>::new();
        let lds1 = Lds::<f64, 128>::new();
        lds0[local] = splat(-9223372036854775808i64);
        lds1[local] = in_f64[lane];
        let mut x0: S<u32> = a_u32 + 2147483649u32;
        let mut x1: i32 = -934420703;
        x0 ^= x0;
        x0 = x0.to_bits_as::<u32>();
        let mut object0: Thing = if (!a_bool) || false { Thing::Wide(shuffle(in_i64[lane], (if in_i8[lane] == in_i8[lane] { in_u32[lane] } else { global }))) } else { Thing::Wide(read_lane(in_i64[global], 6u32)) };
        for x2 in (4294967294u32..splat(4294967295u32)).step_by(4) {
            let x3 = splat(-31.625f32);
            x1 *= x1.max(0i32).wrapping_shl(20u32);
            x1 ^= 40;
        }
        x0 -= (a_f32 + a_f32) as u32;
        let mut object1: Result<V<f32>, V<u32>> = Err(((splat(a_f32) as u32) & (local & 0u32)).wrapping_shr(28u32));
        x1 |= x1;
        x1 ^= 69;
        let mut x4: V<i16> = in_i16[local];
        let mut x5: u32 = 0;
        match object1 {
            Ok(x6) => {
                x1 |= in_i32[local] - in_i32.uniform(88u32).wrapping_shr(22u32);
            }
            Err(x7) => {
                if (!(in_bf16[local] < bf16::from_bits(0x4229 /* 42.25 */))) {
                }
            }
        }
        out_u32[global] = x0;
        out_i32[global] = x1;
        out_i16[global] = x4;
        out_u32[global + 256] = x5;
    }

    #[workgroup(64)]
    fn program_29(
        out_i8: &mut [i8],
        out_i16: &mut [i16],
        out_u32: &mut [u32],
        a_u64: u64,
        a_f16: f16,
        in_f16: &[f16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f16, 128>::new();
        let own0 = Private::<f16, 8>::filled(f16::from_bits(0x0 /* 0 */));
        let own1 = Private::<i8, 8>::filled(0i8);
        lds0[local] = select(out_f32[global] >= a_f32, splat(a_f16), a_f16);
        lds0[local + 64u32] = in_f16[lane];
        let mut x0: V<i16> = -4;
        let mut x1: i8 = 3;
        if in_f32[local] < super::bits::table::<f32>(3)[(lane ^ global) & 7] {
            x0 = x0.wrapping_shr(24u32);
            match a_u64 & 7u64 {
                4u64..=7u64 => {
                    let x2: V<f64>;
                    if (a_u64 as i8) <= (x1 & x1) {
                        lds0[local] = (in_f32[global].min(out_f32[global + 64]) as f16).min((in_f32[lane] as bf16).to_bits_as::<f16>());
                        x2 = splat(-104.75f64);
                    } else {
                        x2 = in_f64[out_u32[global + 128] % 96u32];
                    }
                }
                1u64 => {
                }
                2u64..=18446744073709551615u64 => {
                }
                _ => {
                }
            }
        }
        out_i16[global] = x0;
        out_i8[global] = x1;
    }

    #[workgroup(64)]
    fn program_34(
        a_i8: i8,
        in_i8: &[i8],
        out_u8: &mut [u8],
        a_i32: i32,
        out_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        out_i64: &mut [i64],
        in_u64: &[u64],
        out_u64: &mut [u64],
        a_f32: f32,
        in_f32: &[f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i8, 128>::new();
        let own0 = Private::<f32, 8>::filled(0.0f32);
        let own1 = Private::<i32, 8>::filled(0i32);
        lds0[local] = in_i8[local];
        lds0[local + 64u32] = in_i8[local];
        let mut x0: V<i64> = in_i64[lane];
        let mut x1: u32 = (in_f64[lane] as i32).to_bits_as::<u32>() + (shuffle(local, in_u32[global]) / ((in_f32[local] as u32) | 1u32));
        let mut object0: [V<u32>; 3] = if splat(a_f32) >= splat(a_f32) { [in_f32[local].to_bits_as::<u32>().wrapping_shr(25u32), x1 + 47u32, in_u32[local]] } else { [wave, in_u32.load_vector::<4>(out_i32[global + 64].to_bits_as::<u32>() & 127u32).get(1), lane.wrapping_shl(62u32)] };
        let mut x2: V<bool> = splat(a_i32) == a_i32;
        lds0[local] = a_i8;
        object0[0] = object0[0];
        #[unroll]
        for x3 in 0u32..1 {
            x0 = in_u64[local] as i64;
        }
        out_u64[global] = in_u64[local];
        out_i64[global] = x0;
        out_u32[global] = x1;
        out_u8[global] = x2 as u8;
    }

    #[workgroup(128)]
    fn program_35(
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        out_i64: &mut [i64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<i64> = select(splat(a_u32) == local, splat(a_i64), a_i64) & 7275738024802130578i64;
        let mut x1: u32 = 4294967290;
        let mut object0: Option<V<u32>> = Some((splat(a_i64) as u32) - 0u32);
        x1 = a_u32 | x1;
        for x2 in (2i32..=((in_i32[lane] & 7i32) - 3i32)).step_by(1) {
            for x3 in (18446744073709551612u64..splat(18446744073709551615u64)).step_by(2) {
                if let Some(x4) = object0 {
                } else {
                    x1 = object0.map_or((x1 / 85u32) + in_u32.uniform(13u32).wrapping_shl(53u32), |v| v * (x1 + x1));
                    x1 += x1 & 2147483648u32;
                }
            }
        }
        out_i64[global] = x0;
        out_u32[global] = x1;
    }

    #[workgroup(128)]
    fn program_52(
        in_i16: &[i16],
        a_u16: u16,
        out_u16: &mut [u16],
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_u64: &[u64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<i32> = in_i32.uniform(46u32);
        if (a_u16 != out_u16[global]) && (in_i16[lane] == in_i16[lane]) {
            x0 = (x0 / -2147483645i32).to_bits_as::<u32>() as i32;
            let mut object0: Thing = if (!(in_u32.uniform(84u32) > group)) { Thing::Wide(in_u64[local].to_bits_as::<i64>()) } else { Thing::Number(again(global + out_u32[global + 128], |v| v ^ splat(4u32))) };
        }
        out_i32[global] = x0;
    }

    #[workgroup(64)]
    fn program_85(
        a_bool: bool,
        a_i8: i8,
        out_u8: &mut [u8],
        a_i16: i16,
        in_i16: &[i16],
        out_i16: &mut [i16],
        at_u16: *const u16,
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<i16, 8>::filled(0i16);
        let mut x0: V<u32> = 0u32 | (in_u32[global] / (lane | 1u32));
        let mut x1: V<f32> = a_f32;
        let mut x2: V<u8> = 71;
        let mut object0 = at_u16.add(again(x0.wrapping_shl(34u32), |v| v + x0) & 63);
        let mut x3: f32 = in_f32[local % 96u32].max(-80.125f32);
        x3 = (&in_f32[((a_u32 % (a_u32.max(1048576u32) | 1u32)) & 127u32)..((a_u32 % (a_u32.max(1048576u32) | 1u32)) & 127u32) + 5])[(x0 / ((x1 as u32) | 1u32)) & 63u32] - x3;
        x3 = in_f32[local];
        put(&mut own0, 6u32, a_i16 - in_i16[global]);
        let mut x4: S<f32> = -63.375;
        x0 = lane & a_u32;
        if (splat(a_i8) >= a_i8) && any(x0 <= x0) {
            cold_path();
            if a_f32 >= a_f32 {
                cold_path();
                x0 &= x0;
            } else {
                cold_path();
                if a_bool {
                    if in_f32.uniform(92u32) < x1.max(x3) {
                        cold_path();
                        return;
                    }
                    object0 = at_u16.add(x0 & 63);
                    if (x4 > x4) && true {
                        cold_path();
                        let x5: u32;
                        if splat(3u32).wrapping_shr(55u32) >= (x0 - 0u32) {
                            own0[2u32] = out_i16[global + 128].min(in_i16[lane]) | out_i16[global + 128];
                            x5 = in_i16[lane] as u32;
                        } else {
                            x5 = x0 + wave;
                        }
                    }
                }
            }
        }
        out_u32[global] = x0;
        out_f32[global] = x1;
        out_u8[global] = x2;
        out_f32[global + 64] = x3;
        out_f32[global + 128] = x4;
    }

    #[workgroup(64)]
    fn program_87(
        a_bool: bool,
        out_i16: &mut [i16],
        in_u16: &[u16],
        in_u32: &[u32],
        a_u64: u64,
        in_u64: &[u64],
        a_bf16: bf16,
        in_bf16: &[bf16],
        out_bf16: &mut [bf16],
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u16, 128>::new();
        let own0 = Private::<u16, 8>::filled(0u16);
        let own1 = Private::<i32, 8>::filled(0i32);
        lds0[local] = select(in_f32[local] == in_f32[global], in_u16[lane], in_u16[global]);
        lds0[local + 64u32] = in_u16[local];
        let mut x0: V<f32> = read_first_lane(in_f32[lane].to_bits_as::<f32>());
        let x1 = in_u32[local] as i16;
        x0 = x0.trunc();
        let x3: bf16;
        if a_u64.max(in_u64.uniform(69u32)) >= (if a_bool { a_u64 } else { a_u64 }) {
            x3 = in_bf16[in_f32[global].to_bits_as::<u32>() % 96u32] / a_bf16;
        } else {
            x0 = x0;
            x0 = x0;
            let x2 = x0;
            x3 = splat(a_bf16);
        }
        #[unroll]
        for x4 in 0u32..0 {
            let mut object0: Pair = Pair { count: in_u32[global] % 4294967293u32, level: x0 };
            out_f32[global + 64] = splat(-43.625f32);
        }
        out_f32[global] = x0;
        out_i16[global] = x1;
        out_bf16[global] = x3;
    }

    #[workgroup(64)]
    fn program_91(
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f16: f16,
        in_f16: &[f16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f16, 128>::new();
        let lds1 = Lds::<u32, 128>::new();
        let own0 = Private::<u64, 8>::filled(0u64);
        lds0[local] = in_f16[lane];
        lds0[local + 64u32] = splat(a_f16).to_bits_as::<f16>();
        lds1[local] = in_u32[local].wrapping_shr(select(lane <= a_u32, splat(2147483648u32), in_u32.uniform(3u32)));
        lds1[local + 64u32] = out_u32[global];
        let mut x0: V<f32> = read_lane(in_f32[lane].to_bits_as::<f32>(), in_u32.uniform(79u32).wrapping_shr(wave.min(a_u32)) % 64u32);
        let mut x1: f32 = x0;
        let mut x2: V<u32> = lane.wrapping_shl(30u32).wrapping_shr(in_u32[local].min(in_u32[lane]));
        for x3 in (1i32..(((in_i32[global] - out_i32[global + 128]) & 7i32) - 3i32)).rev() {
            x0 = (x1 - f32::from_bits(0x4e91023e)) as f32;
            x2 = x2;
            let x4 = shuffle(local ^ x2, x2) & 127u32;
            if x4 > 60u32 {
                out_u32[global] = shuffle(x4, 9u32) & 63u32;
                let mut object0: [V<f32>; 3] = [-103.5f32 - in_f32.uniform(5u32).min(a_f32), x0, x0];
                x1 = x1;
                {
                    let [x5, x6, x7] = object0;
                    let mut x8: V<f32> = x6;
                    lds1[local] = local;
                    out_f32[global + 128] = x1;
                }
                x1 = x1;
            }
        }
        let mut object1: Option<V<i64>> = if in_f32.uniform(80u32) <= in_f32[x2 % 96u32] { None } else { None };
        out_f32[global] = x0;
        out_f32[global + 64] = x1;
        out_u32[global] = x2;
    }

    #[workgroup(128)]
    fn program_98(
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f32: f32,
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<u32> = in_u32[local] - (lane * (a_u32 & 2147483648u32));
        let x1 = a_f32;
        let x2 = wave.wrapping_shl(in_u32.uniform(73u32)) - in_u32.uniform(22u32);
        let mut object0: Thing = Thing::Nothing;
        if false || (x2 != x2) {
            cold_path();
            x0 &= shuffle(x0.to_bits_as::<u32>(), x0 + x2);
        }
        out_u32[global] = x0;
        out_f32[global] = x1;
        out_u32[global + 128] = x2;
    }

    #[workgroup(64)]
    fn program_99(
        in_i8: &[i8],
        out_u8: &mut [u8],
        a_u16: u16,
        in_u16: &[u16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        shared_i64: &mut [i64],
        a_u64: u64,
        in_u64: &[u64],
        in_f16: &[f16],
        out_f16: &mut [f16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<u16, 8>::filled(0u16);
        let own1 = Private::<u64, 8>::filled(0u64);
        let x0 = 0.1f32 * splat(13.625f32);
        let x1 = (if x0 != a_f32 { in_u16[lane] } else { in_u16[lane] }) > in_u16[local];
        let x2 = in_f32.uniform(32u32) != a_f32;
        let mut object0: Option<V<f16>> = None;
        let mut x3: f32 = -44.0;
        match ((&in_i8[75u32..75u32 + 62])[in_u32.load_vector::<2>(global & 127u32).get(0) & 63u32] + again(in_i8[global], |v| v * in_i8[lane])) & 7i8 {
            7i8 => {
                if (if x1 { in_u64[local] } else { 45u64 }) < (if x2 { a_u64 } else { 6u64 }) {
                    cold_path();
                    return;
                }
                if a_u32.wrapping_shr(36u32) <= 55u32 {
                    cold_path();
                    return;
                }
                let mut x4: V<bool> = x0 >= x0;
                x4 = x3 != (x3 / x3);
            }
            127i8 => {
                if x1 && true {
                    let mut object1: Option<V<f16>> = Some(out_f16[global + 64]);
                    let x5 = read_first_lane(x0).abs();
                }
                object0 = Some(in_f16[global].max(out_f16[global]));
            }
            _ => {
                let x6 = a_f32.to_bits_as::<f32>() * x3;
                for x7 in (4u16..=((a_u16 / 65533u16) & 7u16)).step_by(2) {
                    shared_i64.atomic(out_u32[global + 64].to_bits_as::<u32>() & 15u32).fetch_xor(in_f32[lane] as i64, Scope::Agent, Ordering::Relaxed);
                }
            }
        }
        out_f32[global] = x0;
        out_u8[global] = x1 as u8;
        out_u8[global + 64] = x2 as u8;
        out_f32[global + 64] = x3;
    }

    #[workgroup(64)]
    fn program_103(
        in_i16: &[i16],
        out_i16: &mut [i16],
        in_u32: &[u32],
        out_u32: &mut [u32],
        out_f16: &mut [f16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<u32, 8>::filled(0u32);
        let mut x0: S<f16> = f16::from_bits(0xcde0 /* -23.5 */);
        #[unroll]
        for x1 in 0u32..3 {
            if (in_f32[local] + in_f32[local]) >= (in_u32[global] as f32) {
                let mut object0: Option<V<i16>> = Some((if local == in_u32.uniform(25u32) { splat(a_f32) as i16 } else { (&in_i16[(group.max(in_u32.uniform(43u32)) & 127u32)..(group.max(in_u32.uniform(43u32)) & 127u32) + 50])[select(global == 4294967294u32, out_u32[global + 64], 21u32) & 63u32] }));
                let mut x2: V<i16> = (in_i16[lane] / 19i16) + either(out_i16[global], |v| v > object0.unwrap_or(again(out_i16[global + 64], |v| v & ((out_f32[global + 128] as i16) + select(in_f32[global] <= a_f32, out_i16[global], splat(84i16))))), |v| v.max(object0.unwrap_or(again(out_i16[global + 64], |v| v & ((out_f32[global + 128] as i16) + select(in_f32[global] <= a_f32, out_i16[global], splat(84i16))))))).unwrap_or(in_i16[local]);
            }
        }
        out_f16[global] = x0;
    }

    #[workgroup(64)]
    fn program_107(
        a_bool: bool,
        a_u32: u32,
        out_u32: &mut [u32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<u32> = read_first_lane(global);
        let mut object0: Word = if (global as u32) == 0u32 { Word::Left(splat(((splat(5u32) / 2147483649u32) - 4294967292u32).min(6u32))) } else { Word::Right(splat(out_f32[global + 128].ceil())) };
        for x1 in (18446744073709551612u64..18446744073709551615u64).rev() {
            for x2 in 255u8..splat(255u8) {
                if (if a_bool { group } else { a_u32 }) != lane {
                }
            }
        }
        out_u32[global] = x0;
    }

    #[workgroup(128)]
    fn program_108(
        out_u8: &mut [u8],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_f16: &[f16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f64, 128>::new();
        let lds1 = Lds::<f32, 128>::new();
        lds0[local] = in_f64[lane].round_ties_even();
        lds1[local] = splat(f32::from_bits(0x6f7dd625));
        let mut x0: V<bool> = in_u32.load_vector::<4>(lane & 127u32).get(0) >= group;
        let mut x1: u32 = lane;
        let mut object0: Option<V<f16>> = if wave > (group / (a_u32 | 1u32)) { Some(in_f16[lane].min(in_f16[lane]) + (splat(f16::from_bits(0x5354 /* 58.625 */)) * f16::from_bits(0xd602 /* -96.125 */))) } else { None };
        let x2: V<f32>;
        if object0.is_some() {
            x2 = in_f32[lane].min(1.0f32);
        } else {
            x2 = a_f32;
        }
        x0 = (x2 as u32) > x1;
        lds1[local] = x2;
        out_u8[global] = x0 as u8;
        out_u32[global] = x1;
        out_f32[global] = x2;
    }

    #[workgroup(128)]
    fn program_123(
        a_bool: bool,
        in_u8: &[u8],
        out_u8: &mut [u8],
        in_i16: &[i16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        let own0 = Private::<u8, 8>::filled(0u8);
        let own1 = Private::<u8, 8>::filled(0u8);
        lds0[local] = shuffle_xor(global, 63);
        let mut x0: S<u32> = wave;
        if local < global {
            cold_path();
            let mut x1: V<i32> = -6;
        }
        let x2 = again(in_u8[local], |v| v ^ in_u8[local]);
        let mut x3: u32 = splat(81u32);
        x0 = x0;
        if x3.min(7u32) < (a_u32 - x0) {
            let mut x4: V<u32> = 0;
            loop {
                x4 += 1;
                if x4 > 2u32 {
                    cold_path();
                    break;
                }
                x3 = 1559590661u32 ^ x0.wrapping_shl(33u32);
                let x5 = wave_inclusive_xor(x3) != super::bits::table::<u32>(6)[(lane ^ x3) & 63];
            }
        }
        let mut object0: Word = Word::Left(splat(x3));
        let x6 = (if a_bool { wave } else { 2147483648u32 }) > (x0 + x0);
        lds0[local] = (in_u32[x3 % 96u32] | (x3 ^ x3)) % 1u32;
        barrier();
        lds0.atomic((x3 % 3u32) & 127u32).fetch_add(in_u32[((x3 + in_u32.uniform(87u32)) & in_u32[local]) % 96u32], Scope::Workgroup, Ordering::Relaxed);
        barrier();
        for x7 in (((in_i16[global] & 7i16) - 3i16)..1i16).step_by(1) {
            let mut object1: Option<V<f32>> = Some(in_f32[local]);
        }
        x3 ^= (x3 as u32).wrapping_shr(12u32);
        out_u32[global] = x0;
        out_u8[global] = x2;
        out_u32[global + 128] = x3;
        out_u8[global + 128] = x6 as u8;
    }

    #[workgroup(64)]
    fn program_124(
        in_u16: &[u16],
        out_u32: &mut [u32],
        in_bf16: &[bf16],
        out_bf16: &mut [bf16],
        in_f32: &[f32],
        out_f32: &mut [f32],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<i64, 8>::filled(0i64);
        let own1 = Private::<u64, 8>::filled(0u64);
        let mut x0: V<u32> = 3;
        let x1 = either((&in_bf16[35u32..35u32 + 54])[(x0 / 5u32) & 63u32], |v| v > ((splat(0i16) * -2i16) as bf16).max(splat(bf16::from_bits(0x4283 /* 65.5 */))), |v| v.min(((splat(0i16) * -2i16) as bf16).max(splat(bf16::from_bits(0x4283 /* 65.5 */))))).unwrap_or((if out_f64[global] <= f64::from_bits(0x47ec363cbf21f28a) { in_bf16[lane] } else { out_bf16[global + 128] }) + splat(bf16::from_bits(0x42f8 /* 124 */)));
        let mut x2: V<f32> = in_f32[global] * in_f32[lane];
        x2 = x2 - x2;
        x2 = x2 / x2;
        let mut object0: Long = Long::Right(splat(in_u16[global]));
        let mut object1: Option<V<f32>> = if (lane ^ local) >= 4294967289u32 { None } else { Some(in_f32[local]) };
        out_u32[global] = x0;
        out_bf16[global] = x1;
        out_f32[global] = x2;
    }

    #[workgroup(128)]
    fn program_126(
        a_i8: i8,
        a_i16: i16,
        in_i16: &[i16],
        out_i16: &mut [i16],
        a_u16: u16,
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        out_i64: &mut [i64],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<u32> = (if (a_i16 == 5i16) || true { (2147483648u32 & in_u32.uniform(20u32)) / 295424347u32 } else { 536870912u32 });
        let mut x1: i16 = in_i16[lane] as i16;
        let mut x2: V<u32> = x1 as u32;
        let mut x3: u32 = x2;
        if x1 <= 0i16 {
            cold_path();
            if a_u16.to_bits_as::<i16>() != 512i16 {
                cold_path();
                match ((splat(a_i64) - out_i64[global + 512]) / (in_i64.load_vector::<2>((x3 * x3) & 127u32).get(0) | 1i64)) & 7i64 {
                    9223372036854775804i64..=9223372036854775807i64 => {
                        if 0.1f64 != shuffle_xor(in_f64[local], 42) {
                            let mut object0: (V<u32>, V<i64>) = if x1 <= (splat(a_u32) as i16) { (either(x3, |v| v > x3, |v| v.max(x3)).unwrap_or((in_u32[x2 % 96u32] * x2.wrapping_shl(wave_exclusive_and(in_u32[lane]))) as u32).to_bits_as::<u32>().max(768340998u32), in_f64[global].to_bits_as::<i64>()) } else { (((x2 + 1u32) as u32).min(0u32), (in_i64.uniform(59u32) | in_i64[local]).wrapping_shl(47u32)) };
                            x1 &= -32768;
                            x2 = 86u32 | (in_u32[local].max(2147483648u32) & a_u32.wrapping_shr(34u32));
                        } else {
                            cold_path();
                            x3 -= (x2 - wave).min(x3.min(x2));
                        }
                    }
                    9223372036854775800i64..=9223372036854775807i64 => {
                        let mut x4: V<i16> = (-(x1 | x1));
                    }
                    -5i64..=3i64 => {
                        let mut object1: Thing = Thing::Number(in_u32[global] - x3);
                        match (a_i8 ^ a_i8).wrapping_shr(x0) & 7i8 {
                            122i8..=127i8 => {
                            }
                            _ => {
                            }
                        }
                    }
                    _ => {
                    }
                }
            }
        }
        out_u32[global] = x0;
        out_i16[global] = x1;
        out_u32[global + 256] = x2;
        out_u32[global + 512] = x3;
    }

    #[workgroup(128)]
    fn program_135(
        a_bool: bool,
        a_u8: u8,
        a_i16: i16,
        in_i16: &[i16],
        a_u32: u32,
        in_u32: &[u32],
        in_i64: &[i64],
        out_i64: &mut [i64],
        a_f16: f16,
        out_f16: &mut [f16],
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<u8, 8>::filled(0u8);
        let mut x0: V<f16> = f16::from_bits(0xd0ac /* -37.375 */);
        let mut x1: V<f16> = f16::from_bits(0x56fa /* 111.625 */);
        own0[2u32] = ((global as u8) | splat(a_u8)) * 4u8;
        for x2 in 2i8..=1i8 {
            let mut x3: i64 = in_i64.uniform(48u32);
        }
        #[unroll]
        for x4 in 0u32..0 {
            let mut x5: f16 = x0;
            let mut object0: Result<V<u32>, V<i32>> = if a_bool { Ok((splat(a_u32) + in_u32[global]).max(1u32) + (3161394804u32 * (group + 4096u32))) } else { Ok(read_lane(in_u32[global], a_u32 % 64u32).max(a_f16 as u32)) };
            if (&in_i16[((a_u32 * a_u32) & 127u32)..((a_u32 * a_u32) & 127u32) + 31])[(lane - local) & 63u32] > splat(a_i16) {
                let mut object1: [f32; 3] = [in_f32[local].max(-98.375f32), out_i64[global + 512] as f32, (splat(a_f16) as f16) as f32];
                let mut x6: V<u32> = 0;
                while x6 < 3u32 {
                    x6 += 1;
                    out_f16[global + 512] = (f16::from_bits(0x576c /* 118.75 */) >= x0) as f16;
                    if a_bool {
                        cold_path();
                        continue;
                    }
                    x0 = a_f16;
                    if a_bool {
                        cold_path();
                        break;
                    }
                }
            } else {
                let mut object2: [V<f32>; 3] = [out_f32[global + 256], select(in_i64[global] < splat(-3i64), out_f32[global + 512], splat(-43.0f32)), splat(-105.25f32).min(splat(f32::from_bits(0xdf194382)))];
                match (a_i16.wrapping_shr(3u32) + (a_i16 % 23i16)) & 7i16 {
                    4i16..=7i16 => {
                        object2[0] = out_f32[global + 512];
                    }
                    7i16..=32767i16 => {
                    }
                    _ => {
                    }
                }
            }
        }
        out_f16[global] = x0;
        out_f16[global + 256] = x1;
    }

    #[workgroup(64)]
    fn program_157(
        a_i8: i8,
        in_i8: &[i8],
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_u64: &[u64],
        a_f16: f16,
        in_f16: &[f16],
        a_bf16: bf16,
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i8, 128>::new();
        lds0[local] = in_i8[lane];
        lds0[local + 64u32] = select(in_u64[local] < in_u64[lane], in_i8[local], splat(a_i8));
        let x0 = a_f32;
        let mut x1: u32 = in_u32.uniform(30u32);
        barrier();
        let mut object0: [V<u32>; 3] = if in_f16[local] == a_f16 { [in_u32[local], lane.min(global), out_u32[global + 128]] } else { [global % 3u32, (in_f32[lane] as u32).wrapping_shr(10u32), (splat(a_f32) as u32) * x1.wrapping_shr(26u32)] };
        let x2 = ((global - wave) as u32) & 127u32;
        if x2 == 35u32 {
            out_u32[global + 128] = in_u32.uniform(read_lane(x2, (x1 % (x1 | 1u32)) % 64u32) + 64u32);
            let x3 = a_bf16.to_bits_as::<bf16>();
        }
        let mut x4: V<f32> = in_f32[lane];
        x1 = x1.wrapping_shl(14);
        out_f32[global + 64] = out_f32[global + 128].abs();
        for e in object0.iter_mut() {
            *e -= x2;
        }
        x1 &= 0;
        out_f32[global] = x0;
        out_u32[global] = x1;
        out_u32[global + 64] = x2;
        out_f32[global + 64] = x4;
    }

    #[workgroup(128)]
    fn program_160(
        in_u8: &[u8],
        out_u8: &mut [u8],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        in_f16: &[f16],
        out_f16: &mut [f16],
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i64, 128>::new();
        let own0 = Private::<i32, 8>::filled(0i32);
        let own1 = Private::<i8, 8>::filled(0i8);
        lds0[local] = in_i64[local] + a_i64;
        let mut x0: V<u8> = in_u8[lane];
        let mut x1: f16 = f16::from_bits(0xd472 /* -71.125 */);
        let mut x2: S<u32> = group & 2147483650u32;
        let mut object0: Word = if (x2 | x2) <= 4294967289u32 { Word::Left(splat(read_lane(local, 25u32) / (x2.max(2147483650u32) | 1u32))) } else { Word::Right(splat(in_f32[global] * ((x2 / 2212521405u32) as f32))) };
        x1 = in_f16[local];
        x1 = super::bits::table::<f16>(7)[(lane ^ either(splat(a_u32), |v| v > ((splat(0u32) <= lane) as u32), |v| v.max((splat(0u32) <= lane) as u32)).unwrap_or(in_u32[local].wrapping_shl(23u32) & local)) & 127] * x1;
        let mut object1: Result<V<u32>, V<i32>> = Err((out_i32[global + 512] / ((&in_i32[52u32..52u32 + 59])[lane.min(1319125272u32) & 63u32] | 1i32)) & 0i32);
        own0[1u32] = (a_i32 ^ -6i32) & -3i32;
        match object0 {
            Word::Left(x3) => {
                x1 = x1.min(in_f16[lane]).to_bits_as::<f16>().min(f16::from_bits(0x2e66 /* 0.099975586 */));
                lds0[local] = shuffle_xor(splat(5i64), 51);
            }
            Word::Right(x4) => {
            }
        }
        out_u8[global] = x0;
        out_f16[global] = x1;
        out_u32[global] = x2;
    }

    #[workgroup(64)]
    fn program_161(
        a_bool: bool,
        out_u8: &mut [u8],
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        out_i64: &mut [i64],
        a_u64: u64,
        out_bf16: &mut [bf16],
        in_f32: &[f32],
        out_f32: &mut [f32],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f32, 128>::new();
        lds0[local] = out_f32[global + 128];
        lds0[local + 64u32] = (&in_f32[17u32..17u32 + 38])[in_u32[global] & 63u32];
        let mut x0: S<bool> = any((!((out_bf16[global + 128] <= bf16::from_bits(0x424c /* 51 */)) || (in_u32[lane] < 0u32))));
        let mut object0: Option<V<f16>> = None;
        object0 = None;
        x0 = a_bool;
        let mut x1: V<u32> = 0;
        loop {
            x1 += 1;
            if x1 > 1u32 {
                cold_path();
                break;
            }
            let mut x2: S<i32> = in_i32.uniform(55u32).wrapping_shl(a_u32.wrapping_shr(in_u32.uniform(90u32) * 1u32));
            let x3: f32;
            if x2 != wave_and(in_i32[local]) {
                out_u32[global + 128] = in_u32[local];
                let mut object1: Pair = if 7600340474671927735i64 >= (in_i64[local] - out_i64[global]) { Pair { count: (splat(-7i32) % -2147483647i32).to_bits_as::<u32>(), level: in_f32[global] } } else { Pair { count: (if splat(-7i32) <= in_i32[local] { out_f64[global + 128] } else { splat(48.125f64) }) as u32, level: in_f32[local] } };
                x3 = in_f32[local] as f32;
            } else {
                x3 = splat(a_u64) as f32;
            }
        }
        out_u8[global] = x0 as u8;
    }

    #[workgroup(64)]
    fn program_182(
        a_i8: i8,
        in_i8: &[i8],
        a_u8: u8,
        a_i16: i16,
        in_u16: &[u16],
        in_u32: &[u32],
        at_u32: *const u32,
        a_f64: f64,
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<f64> = a_f64;
        let mut x1: f64 = in_f64.uniform(87u32);
        let x2 = in_f64[global];
        for x3 in (3u16..=((in_u16[lane] % 65531u16) & 7u16)).rev() {
            if splat(bf16::from_bits(0xc2a9 /* -84.5 */)).max(bf16::from_bits(0xc1dd /* -27.625 */)) >= splat(bf16::from_bits(0xc2ea /* -117 */)) {
                let mut x4: V<u32> = 0;
                while (x4 < 3u32) && (in_i8[local].max(in_i8[global]) > (a_i8 ^ a_i8)) {
                    x4 += 1;
                    let mut x5: bool = a_i16 == a_i16;
                    let mut x6: V<bool> = splat(-87.375f64) <= x2;
                    let mut object0 = at_u32.add(in_u32[local] & 63);
                }
            } else {
                cold_path();
                let x7 = a_u8;
            }
        }
        out_f64[global] = x0;
        out_f64[global + 64] = x1;
        out_f64[global + 128] = x2;
    }

    #[workgroup(128)]
    fn program_187(
        a_bool: bool,
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_u64: &[u64],
        shared_u64: &mut [u64],
        a_f16: f16,
        a_f32: f32,
        in_f32: &[f32],
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        let own0 = Private::<f16, 8>::filled(f16::from_bits(0x0 /* 0 */));
        lds0[local] = splat(a_u32);
        let mut x0: V<u32> = in_u32[local] * in_u32.uniform(37u32);
        barrier();
        barrier();
        shared_u64.atomic(x0 & 15u32).fetch_or(in_u64[local].wrapping_shl(wave_exclusive_max(x0)), Scope::Agent, Ordering::Relaxed);
        if (x0 as u32) == (local ^ a_u32) {
            let mut object0: (V<i32>, V<f64>) = (in_i32[local], splat(-41.5f64).min((if a_bool { out_f64[global + 128] } else { in_f64[lane] }) + in_f64[lane]));
            for x1 in (splat(29u16) & 7u16)..3u16 {
                x0 = (!x0);
                own0[1u32] = splat(f16::from_bits(0xccc8 /* -19.125 */));
                x0 |= 4294967293;
                x0 *= 443752226u32 | ((lane >= x0) as u32);
            }
        } else {
            let mut object1: Option<V<f16>> = if in_f32.uniform(22u32) <= a_f32 { None } else { Some(a_f16 - a_f16.min(f16::from_bits(0xd1b8 /* -45.75 */))) };
            lds0[local] = ((x0 ^ 2u32) & 0u32) as u32;
        }
        out_u32[global] = x0;
    }

    #[workgroup(128)]
    fn program_196(
        out_u8: &mut [u8],
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let x0 = in_f32.uniform(45u32);
        let mut x1: f32 = x0;
        let mut x2: S<u8> = 129;
        if (!((splat(-27.0f32) == -111.625f32) || (splat(-5334835846919291658i64) <= in_i64[global]))) {
            if lane > out_u32[global + 256] {
                cold_path();
                let x3 = (a_f32 as f32) - x1.min(x1);
            } else {
                for x4 in (3i32..=((in_i32[local] & 7i32) - 3i32)).rev().step_by(3) {
                    let mut x5: f32 = x0 as f32;
                    x5 += (global - group) as f32;
                }
                let mut x6: V<f32> = in_f32[global] - x1;
                x6 *= -29.0;
            }
            let mut x7: V<u32> = 0;
            while (x7 < 5u32) && (in_i32[local] >= in_i32[local]) {
                x7 += 1;
                let x8 = splat(a_f32).min(in_f32[global] as f32);
                let mut x9: V<u32> = a_u32 * 4294967290u32;
                let mut x10: S<f32> = f32::from_bits(0x4da945c2);
                let mut x11: V<u32> = 0;
                while x11 < 3u32 {
                    x11 += 1;
                    let mut object0: Result<V<u32>, V<i32>> = Ok(in_u32[local]);
                    let mut x12: V<f32> = x10;
                }
            }
        }
        out_f32[global] = x0;
        out_f32[global + 256] = x1;
        out_u8[global] = x2;
    }

    #[workgroup(64)]
    fn program_200(
        a_bool: bool,
        in_i8: &[i8],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f16: f16,
        out_f16: &mut [f16],
        a_f64: f64,
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i8, 128>::new();
        let own0 = Private::<i64, 8>::filled(0i64);
        let own1 = Private::<i32, 8>::filled(0i32);
        lds0[local] = splat(a_i32) as i8;
        lds0[local + 64u32] = in_i8[local];
        let mut x0: V<f16> = splat(a_f16).max(splat(a_f16));
        let mut x1: u32 = splat(a_u32) % (select(in_i32[local] <= in_i32.uniform(46u32), splat(a_u32), lane) | 1u32);
        let x2 = splat(a_i32);
        let mut object0: Result<V<u32>, V<i32>> = Err(in_i32[local]);
        x1 = in_u32.load_vector::<2>((x1 as u32) & 127u32).get(1);
        if (a_i32 / ((in_i32.uniform(4u32) * 6i32) | 1i32)) < wave_and(x2) {
            cold_path();
            match x2 {
                6i32..=13i32 => {
                    if (a_f16 - a_f16) >= (if a_bool { a_f16 } else { f16::from_bits(0x57a0 /* 122 */) }) {
                        x1 = lane % (x1 | 1u32);
                        return;
                    }
                    let x3: i32;
                    if x1 == out_u32[global + 128] {
                        x1 |= splat(a_f64) as u32;
                        x0 = (f16::from_bits(0xd5de /* -93.875 */) + x0).ceil();
                        x1 = passed(object0, x1) * (in_u32[local] - a_u32);
                        x3 = splat(a_i32) | a_i32;
                    } else {
                        lds0[local] = in_i8[lane];
                        x3 = shuffle_xor(in_i32[global], 62);
                    }
                }
                _ => {
                }
            }
        }
        out_f16[global] = x0;
        out_u32[global] = x1;
        out_i32[global] = x2;
    }

    #[workgroup(128)]
    fn program_208(
        a_bool: bool,
        out_i8: &mut [i8],
        in_u8: &[u8],
        in_u16: &[u16],
        in_u32: &[u32],
        a_f32: f32,
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<f32> = -75.625;
        let x1 = super::bits::table::<i8>(6)[(global ^ lane) & 63];
        let mut x2: S<f32> = a_f32 + a_f32;
        for x3 in ((in_u16[lane] & 7u16)..3u16).rev().step_by(4) {
            for x4 in (65533u16..splat(65535u16)).rev() {
                x0 = x0.mul_add(f32::from_bits(0x7f61b1e6), x0);
            }
            if (!(a_bool && a_bool)) {
                cold_path();
                let mut object0: Result<V<f32>, V<u32>> = if x0 <= x0 { Err(in_u32[local]) } else { Ok(x0) };
            } else {
                cold_path();
                if wave_sum(in_u8[lane]) > 6u8 {
                    cold_path();
                    let mut object1: Option<V<i64>> = None;
                }
            }
        }
        out_f32[global] = x0;
        out_i8[global] = x1;
        out_f32[global + 128] = x2;
    }

    #[workgroup(128)]
    fn program_215(
        in_i8: &[i8],
        out_i8: &mut [i8],
        in_u8: &[u8],
        out_u8: &mut [u8],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        in_u64: &[u64],
        a_f16: f16,
        a_f64: f64,
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i8, 128>::new();
        let lds1 = Lds::<f64, 128>::new();
        lds0[local] = select(out_u32[global] > out_u32[global + 512], out_i8[global + 512], out_i8[global + 256]);
        lds1[local] = in_f64[local];
        let x0 = shuffle_xor(in_i8[local], 19);
        let mut x1: i32 = select(splat(4294967293u32) >= splat(0u32), in_i32[lane].max(in_i32[local]), -2147483647i32);
        x1 = in_i32[global] & x1;
        x1 |= 0;
        let mut object0: Option<V<u32>> = if (!(a_f16 != splat(f16::from_bits(0x62a2 /* 849 */)))) { None } else { None };
        let mut x2: V<u32> = object0.map_or(local, |v| v ^ splat(4154088092u32).min(in_u32[local]));
        x2 = (x2 & 2048u32) & in_u32.uniform(66u32);
        if in_i64[global] >= -4240018809060121502i64 {
            cold_path();
            match x1 | (a_i32 / 1i32) {
                2147483641i32..=2147483647i32 => {
                    lds0[local] = either(in_i8[local], |v| v > x0, |v| v ^ x0).unwrap_or((in_u8[lane] & out_u8[global + 256]).to_bits_as::<i8>());
                }
                6i32..=13i32 => {
                    x2 = x2.wrapping_shr(56);
                    x2 = x2.wrapping_shl(either(x2 * a_u32, |v| v > x2, |v| v * x2).unwrap_or(object0.map_or((if object0.is_some() { in_u32[local].max(64u32) | 2770791962u32 } else { 1044960839u32 }), |v| v & x2.wrapping_shl(17u32))));
                    for x3 in 2u64..((in_u64[global] - 7u64) & 7u64) {
                        let x4 = wave_min(x2);
                    }
                }
                -8i32..=3i32 => {
                    match (-in_i8[local].wrapping_shr(in_i32[global].to_bits_as::<u32>())) & 7i8 {
                        6i8 => {
                            lds1[local] = splat(a_f64).floor();
                        }
                        _ => {
                        }
                    }
                }
                _ => {
                }
            }
        }
        out_i8[global] = x0;
        out_i32[global] = x1;
        out_u32[global] = x2;
    }

    #[workgroup(128)]
    fn program_220(
        a_bool: bool,
        a_u16: u16,
        in_u16: &[u16],
        out_u16: &mut [u16],
        at_u16: *const u16,
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        at_u32: *const u32,
        in_i64: &[i64],
        out_i64: &mut [i64],
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<i16, 8>::filled(0i16);
        let own1 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        let mut x0: V<u16> = in_u16[(global % (splat(2147483650u32) | 1u32)) % 96u32];
        let mut x1: u32 = 4;
        let mut object0: V<Cell> = if a_bool || (a_u16 == 32769u16) { cell((splat(a_u32) != x1) as u32, in_i64[global]) } else { cell(a_u32, (in_i64[local] % (shuffle_xor(in_i64[lane], 62) | 1i64)) | (out_i64[global + 128] | -7i64)) };
        {
            let (x2, x3) = (object0.low, object0.wide);
            let x4 = in_f32.load_vector::<2>((x2 - x1) & 127u32).get(0) * in_f32[x2 % 96u32];
            x0 ^= in_u16[lane % 96u32];
        }
        let mut x5: V<u32> = 0;
        loop {
            x5 += 1;
            if x5 > 1u32 {
                cold_path();
                break;
            }
            let mut object1: *const u16 = at_u16.add(((local / 83u32) % ((global + a_u32) | 1u32)) & 63);
        }
        if (group ^ a_u32) == x1 {
            let mut x6: V<u32> = 0;
            loop {
                x6 += 1;
                if x6 > 1u32 {
                    cold_path();
                    break;
                }
                let mut object2 = at_u32.add(select(x0 > a_u16, 2147483649u32, (&in_u32[(a_u32.wrapping_shr(a_bool as u32) & 127u32)..(a_u32.wrapping_shr(a_bool as u32) & 127u32) + 60])[local & 63u32]) & 63);
            }
        }
        out_u16[global] = x0;
        out_u32[global] = x1;
    }

    #[workgroup(64)]
    fn program_224(
        a_i16: i16,
        out_i16: &mut [i16],
        a_u32: u32,
        in_u32: &[u32],
        in_i64: &[i64],
        out_i64: &mut [i64],
        out_bf16: &mut [bf16],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u16, 128>::new();
        let lds1 = Lds::<i64, 128>::new();
        let own0 = Private::<u8, 8>::filled(0u8);
        lds0[local] = splat(44u16);
        lds0[local + 64u32] = splat(2147483648u32) as u16;
        lds1[local] = (&in_i64[35u32..35u32 + 52])[(if out_i16[global + 64] >= a_i16 { in_u32[global] } else { 2884236795u32 }) & 63u32];
        lds1[local + 64u32] = in_i64[local].max(in_i64[lane]);
        let mut x0: V<f32> = -119.625;
        let mut x1: bf16 = bf16::from_bits(0xc2aa /* -85 */);
        let mut x2: V<u32> = 0;
        while x2 < 4u32 {
            x2 += 1;
            own0[6u32] = own0[1u32];
            let mut object0: V<Cell> = cell(again(global, |v| v & local.wrapping_shl(lane % 2811241103u32)) / 1u32, shuffle_xor(out_i64[global + 128], 6));
            let x3 = 4294967291u32 <= a_u32;
        }
        out_f32[global] = x0;
        out_bf16[global] = x1;
    }

    #[workgroup(128)]
    fn program_252(
        a_i8: i8,
        a_i16: i16,
        in_i16: &[i16],
        in_u16: &[u16],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        a_i64: i64,
        in_i64: &[i64],
        a_u64: u64,
        in_u64: &[u64],
        shared_u64: &mut [u64],
        a_f32: f32,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i8, 128>::new();
        let lds1 = Lds::<i64, 128>::new();
        let own0 = Private::<u16, 8>::filled(0u16);
        lds0[local] = shuffle_xor(splat(-1i8), 13);
        lds1[local] = splat(a_i64) - in_i64[global];
        let mut x0: V<i32> = in_i32[global].wrapping_shr(40u32);
        let x1 = in_i32[local];
        for x2 in 3i32..2i32 {
            x0 = wave_exclusive_max((!splat(a_u64))) as i32;
            lds0[local] = a_i8 / (a_i8.to_bits_as::<i8>() | 1i8);
            let mut x3: V<u32> = 0;
            while (x3 < 1u32) && (splat(a_i16) != 56i16) {
                x3 += 1;
                x0 -= x1;
            }
        }
        let mut x4: V<i32> = in_i32[local];
        shared_u64.atomic(in_u32[splat(a_u32) % 96u32] & 15u32).fetch_xor(wave_inclusive_sum(in_u64[lane]), Scope::Agent, Ordering::Relaxed);
        put(&mut own0, 2u32, in_u16[lane].wrapping_shl(40u32));
        let mut object0: Thing = if in_i16[local].min(splat(a_i16)) != (in_i16[global] ^ splat(a_i16)) { Thing::Both { near: splat(a_i32).min(x0), far: in_f32[local].max(splat(a_f32)) } } else { Thing::Nothing };
        own0[5u32] = splat(0u16);
        out_i32[global] = x0;
        out_i32[global + 128] = x1;
        out_i32[global + 256] = x4;
    }

    #[workgroup(64)]
    fn program_259(
        a_i16: i16,
        in_i16: &[i16],
        a_u32: u32,
        in_u32: &[u32],
        in_f32: &[f32],
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        lds0[local] = super::bits::table::<u32>(6)[(lane ^ global) & 63];
        lds0[local + 64u32] = in_u32[local];
        let mut x0: V<f64> = in_f64[global];
        #[unroll]
        for x1 in 0u32..2 {
            let x2 = (if in_i16[global] >= 2i16 { in_i16[lane] } else { a_i16 }).wrapping_shl(14u32);
            let mut x3: V<u32> = 0;
            loop {
                x3 += 1;
                if x3 > 3u32 {
                    cold_path();
                    break;
                }
                x0 = shuffle_xor(x0, 8);
                let x4: V<f32>;
                if (local / (in_u32[lane].min(2147483649u32) | 1u32)) > (lane | a_u32) {
                    x0 = in_f64.uniform(24u32);
                    x4 = in_f32[local];
                } else {
                    x4 = in_f32.load_vector::<4>((in_u32[lane] ^ wave) & 127u32).get(2);
                }
            }
        }
        out_f64[global] = x0;
    }

    #[workgroup(128)]
    fn program_283(
        a_bool: bool,
        in_i8: &[i8],
        a_u8: u8,
        in_u8: &[u8],
        out_u8: &mut [u8],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<u32> = (&in_u32[18u32..18u32 + 53])[shuffle(lane, wave_exclusive_max(in_u32[local])) & 63u32];
        let mut x1: u8 = in_u8[local] & splat(a_u8);
        let mut x2: V<bool> = all(in_i32[local] == in_i32[global]);
        if (in_i32[global] + -1186366803i32) >= splat(a_i32) {
            cold_path();
            let mut x3: V<u8> = 0;
        }
        x0 = x0 / 4294967293u32;
        let mut object0: Thing = Thing::Both { near: splat(a_i32), far: in_f32[global] };
        x2 = a_bool;
        x0 = global.max((&in_i8[70u32..70u32 + 41])[(x0 + x0) & 63u32] as u32);
        let x4: V<i32>;
        if a_u8.max(a_u8) <= a_u8.to_bits_as::<u8>() {
            let mut object1: Thing = Thing::Wide(in_i64[global] % -9223372036854775807i64);
            x4 = either(in_i32[local], |v| v > out_i32[global], |v| v + out_i32[global]).unwrap_or((-in_i32[global]));
        } else {
            x4 = (out_i32[global] * a_i32) - in_i32[x0 % 96u32];
        }
        out_u32[global] = x0;
        out_u8[global] = x1;
        out_u8[global + 256] = x2 as u8;
        out_i32[global] = x4;
    }

    #[workgroup(128)]
    fn program_285(
        in_u8: &[u8],
        out_u8: &mut [u8],
        in_u16: &[u16],
        a_i32: i32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i64, 128>::new();
        let lds1 = Lds::<u16, 128>::new();
        let own0 = Private::<i16, 8>::filled(0i16);
        lds0[local] = (&in_i64[29u32..29u32 + 59])[in_u32[local % 96u32] & 63u32];
        lds1[local] = splat(32769u16) / 32769u16;
        let mut x0: V<u8> = in_u8[global];
        let mut x1: f32 = 39.625;
        let mut x2: V<bool> = in_u32.uniform(48u32) != local;
        barrier();
        x0 = select((!(splat(-5i32) < a_i32)), (in_f32[global] > in_f32[global]) as u8, in_f32[local] as u8);
        if local == lane.wrapping_shr(67u32) {
            let x3 = lds1[out_u32[global + 256] & 127u32];
            let x4: V<u16>;
            if in_f32[global].max(in_f32[local]) == splat(a_f32) {
                x4 = in_u16[out_u32[global + 256] % 96u32];
            } else {
                x4 = in_u16[global].wrapping_shr(global as u32) % (x3 | 1u16);
            }
        }
        match wave_exclusive_and(x0.wrapping_shl(global)) {
            0u8..=1u8 => {
            }
            250u8..=255u8 => {
            }
            5u8 => {
            }
            _ => {
            }
        }
        out_u8[global] = x0;
        out_f32[global] = x1;
        out_u8[global + 128] = x2 as u8;
    }
}

pub const SAMPLE: &[Sampled] = &[
    (2, |target, options| program_2.build_with(target, options).map(BuiltKernel::into_any)),
    (29, |target, options| program_29.build_with(target, options).map(BuiltKernel::into_any)),
    (34, |target, options| program_34.build_with(target, options).map(BuiltKernel::into_any)),
    (35, |target, options| program_35.build_with(target, options).map(BuiltKernel::into_any)),
    (52, |target, options| program_52.build_with(target, options).map(BuiltKernel::into_any)),
    (85, |target, options| program_85.build_with(target, options).map(BuiltKernel::into_any)),
    (87, |target, options| program_87.build_with(target, options).map(BuiltKernel::into_any)),
    (91, |target, options| program_91.build_with(target, options).map(BuiltKernel::into_any)),
    (98, |target, options| program_98.build_with(target, options).map(BuiltKernel::into_any)),
    (99, |target, options| program_99.build_with(target, options).map(BuiltKernel::into_any)),
    (103, |target, options| program_103.build_with(target, options).map(BuiltKernel::into_any)),
    (107, |target, options| program_107.build_with(target, options).map(BuiltKernel::into_any)),
    (108, |target, options| program_108.build_with(target, options).map(BuiltKernel::into_any)),
    (123, |target, options| program_123.build_with(target, options).map(BuiltKernel::into_any)),
    (124, |target, options| program_124.build_with(target, options).map(BuiltKernel::into_any)),
    (126, |target, options| program_126.build_with(target, options).map(BuiltKernel::into_any)),
    (135, |target, options| program_135.build_with(target, options).map(BuiltKernel::into_any)),
    (157, |target, options| program_157.build_with(target, options).map(BuiltKernel::into_any)),
    (160, |target, options| program_160.build_with(target, options).map(BuiltKernel::into_any)),
    (161, |target, options| program_161.build_with(target, options).map(BuiltKernel::into_any)),
    (182, |target, options| program_182.build_with(target, options).map(BuiltKernel::into_any)),
    (187, |target, options| program_187.build_with(target, options).map(BuiltKernel::into_any)),
    (196, |target, options| program_196.build_with(target, options).map(BuiltKernel::into_any)),
    (200, |target, options| program_200.build_with(target, options).map(BuiltKernel::into_any)),
    (208, |target, options| program_208.build_with(target, options).map(BuiltKernel::into_any)),
    (215, |target, options| program_215.build_with(target, options).map(BuiltKernel::into_any)),
    (220, |target, options| program_220.build_with(target, options).map(BuiltKernel::into_any)),
    (224, |target, options| program_224.build_with(target, options).map(BuiltKernel::into_any)),
    (252, |target, options| program_252.build_with(target, options).map(BuiltKernel::into_any)),
    (259, |target, options| program_259.build_with(target, options).map(BuiltKernel::into_any)),
    (283, |target, options| program_283.build_with(target, options).map(BuiltKernel::into_any)),
    (285, |target, options| program_285.build_with(target, options).map(BuiltKernel::into_any)),
];
