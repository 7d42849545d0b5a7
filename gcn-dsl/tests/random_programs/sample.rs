//! Made from random programs; see `through_macro.rs`.

use gcn_dsl::BuiltKernel;
use gcn_dsl::prelude::*;

use super::through_macro::Sampled;

gcn_kernel! {
    #[workgroup(128)]
    fn program_2(
        a_bool: bool,
        in_u8: &[u8],
        out_u8: &mut [u8],
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        out_u32: &mut [u32],
        in_u64: &[u64],
        out_u64: &mut [u64],
        a_bf16: bf16,
        in_f32: &[f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i64, 128>::new();
        let lds1 = Lds::<f64, 128>::new();
        lds0[local] = splat(-9223372036854775808i64);
        lds1[local] = in_f64[lane];
        let mut x0: S<u32> = a_u32 + 2147483649u32;
        let mut x1: V<i32> = -934420703i32;
        let mut x2: S<u32> = 0u32;
        while (x2 < 4u32) && (!any(global != 5u32)) {
            x2 += 1u32;
            let mut x3: V<u32> = 0u32;
            while (x3 < 4u32) && ((splat(a_u32) as f32) < (in_f32.uniform(16u32) + -13.375f32)) {
                x3 += 1u32;
                x1 &= -2i32;
            }
        }
        let x4 = (splat(1496313453u32) + lane) + (splat(a_bf16) as u32);
        let mut x5: S<bool> = (x0.max(2269470842u32) == (a_bool as u32)) || a_bool;
        let mut x6: V<u32> = 0u32;
        loop {
            x6 += 1u32;
            if x6 > 4u32 {
                cold_path();
                break;
            }
            if (!(x4 != x4)) {
                cold_path();
                x1 = x1.wrapping_shr(x4.wrapping_shl(6u32 & splat(256u32)));
            } else {
                cold_path();
                x1 = x1.wrapping_shr((x4 + 4294967289u32).wrapping_shl(x4 - x4));
                x1 = x1.wrapping_shl(31u32);
                if all(in_u64[global] == out_u64[global + 256]) {
                    cold_path();
                    break;
                }
                x1 = in_i32[local].wrapping_shr(55u32) ^ 262144i32;
            }
        }
        for x7 in (4294967294u32..4294967295u32).rev() {
            let mut x8: V<u32> = 2147483650u32;
            x8 = x8;
        }
        for x9 in (read_first_lane(in_u8[local]) & 7u8)..5u8 {
        }
        out_u32[global] = x0;
        out_i32[global] = x1;
        out_u32[global + 256] = x4;
        out_u8[global] = x5 as u8;
    }

    #[workgroup(64)]
    fn program_29(
        a_bool: bool,
        in_u32: &[u32],
        in_f16: &[f16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f16, 128>::new();
        let own0 = Private::<f16, 8>::filled(f16::from_bits(0x0 /* 0 */));
        let own1 = Private::<i8, 8>::filled(0i8);
        lds0[local] = in_f16[local];
        lds0[local + 64u32] = splat(f16::from_bits(0xd6f8 /* -111.5 */));
        let x0 = splat(a_f32) * in_f32[local];
        let mut x1: V<f32> = shuffle(x0, in_u32[lane] * lane);
        if in_f32.uniform(54u32) != (a_bool as f32) {
            cold_path();
            x1 = x0;
        } else {
            let mut x2: V<u32> = 0u32;
            loop {
                x2 += 1u32;
                if x2 > 2u32 {
                    cold_path();
                    break;
                }
                let x3 = (if x0 <= -111.125f32 { in_f32[global] } else { splat(bf16::from_bits(0x41e0 /* 28 */)) as f32 });
                out_f32[global + 64] = x0;
            }
        }
        out_f32[global] = x0;
        out_f32[global + 64] = x1;
    }

    #[workgroup(64)]
    fn program_32(
        in_u32: &[u32],
        a_i64: i64,
        in_i64: &[i64],
        out_i64: &mut [i64],
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<i64> = read_first_lane(in_i64[lane] + in_i64[lane]) / ((a_i64 | -9223372036854775807i64) | 1i64);
        let mut x1: V<f32> = in_f32[global].round_ties_even();
        x1 -= x1;
        if (!(global != in_u32[global])) {
            cold_path();
            x1 = x1;
        }
        out_i64[global] = x0;
        out_f32[global] = x1;
    }

    #[workgroup(128)]
    fn program_56(
        a_i8: i8,
        in_i8: &[i8],
        in_u16: &[u16],
        out_u16: &mut [u16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        out_i64: &mut [i64],
        a_u64: u64,
        in_f16: &[f16],
        a_f64: f64,
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u16, 128>::new();
        let lds1 = Lds::<i8, 128>::new();
        let own0 = Private::<u64, 8>::filled(0u64);
        let own1 = Private::<u8, 8>::filled(0u8);
        lds0[local] = in_u16[lane] ^ out_u16[global + 512];
        lds1[local] = splat(a_i8) * in_i8[local];
        let mut x0: S<u32> = wave_and(in_u32[local]) * ((wave ^ 2389071734u32) + (a_u32 - 2147483649u32));
        let mut x1: V<u32> = 0u32;
        while x1 < 1u32 {
            x1 += 1u32;
            match (a_u64 | 9223372036854775810u64).min(a_f64.to_bits_as::<u64>()) {
                1u64..=18446744073709551615u64 => {
                    for x2 in ((a_u32.max(in_u32.uniform(64u32)) & 7u32)..=3u32).rev().step_by(1) {
                        let mut x3: V<f32> = wave_exclusive_and(lane) as f32;
                        out_u32[global] = in_f16[lane] as u32;
                    }
                    let mut x4: V<u32> = select((x0 ^ global) <= 97u32, lane & (1428110270u32 * x0), local);
                    x4 *= (in_u32[lane] & 4294967289u32) ^ 3780921243u32;
                }
                6u64..=18446744073709551615u64 => {
                    for x5 in (5i16..(((out_i64[global + 512] as i16) & 7i16) - 3i16)).rev().step_by(1) {
                        match ((out_i64[global + 512] | out_i64[global + 512]) | -9223372036854775808i64) & 7i64 {
                            -4i64..=3i64 => {
                                let mut x6: S<f32> = 35.75f32;
                                x6 = x6;
                            }
                            _ => {
                                let mut x7: V<f32> = 5.75f32;
                                x7 -= x7.min(shuffle(x7, splat(a_u32).to_bits_as::<u32>()));
                                x7 = x7;
                            }
                        }
                    }
                }
                18446744073709551612u64..=18446744073709551615u64 => {
                }
                _ => {
                }
            }
        }
        out_u32[global] = x0;
    }

    #[workgroup(64)]
    fn program_57(
        a_bool: bool,
        out_u8: &mut [u8],
        a_i16: i16,
        in_i16: &[i16],
        out_i16: &mut [i16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_u64: u64,
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<f64, 8>::filled(0.0f64);
        let x0 = a_bool;
        let x1 = in_f32[lane];
        if in_f32.uniform(98u32) != (in_u32.uniform(23u32) as f32) {
            let mut x2: V<f32> = x1 / f32::from_bits(0x64bbba70);
            let mut x3: V<f32> = in_f32.uniform(53u32);
            if splat(a_u32).min(512u32) == 2147483650u32 {
                cold_path();
                let x4 = ballot(x1 == x3) / ((a_u64 + a_u64) | 1u64);
            }
        } else {
            cold_path();
            if (!(x1 >= a_f32)) {
                cold_path();
                #[unroll]
                for x5 in 0u32..0 {
                    if a_u32 >= in_u32[global] {
                        if (local * in_u32[lane]) != wave_inclusive_or(in_u32[lane]) {
                            cold_path();
                            out_i16[global + 64] = ((in_i16[local] / (in_i16[local].max(in_i16[global]) | 1i16)) - (a_i16 & a_i16)).wrapping_shl(out_u32[global + 128].min(splat(a_u32)));
                        } else {
                            cold_path();
                            #[unroll]
                            for x6 in 0u32..0 {
                                let mut x7: V<u32> = 34u32;
                            }
                        }
                        for x8 in 32764i16..32767i16 {
                        }
                    }
                }
            }
        }
        out_u8[global] = x0 as u8;
        out_f32[global] = x1;
    }

    #[workgroup(128)]
    fn program_102(
        a_bool: bool,
        a_u8: u8,
        a_i32: i32,
        in_i32: &[i32],
        a_u32: u32,
        a_i64: i64,
        in_i64: &[i64],
        out_f16: &mut [f16],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<f16> = f16::from_bits(0x3e79 /* 1.6181641 */);
        for x1 in 2i32..((select(splat(a_u8) != 145u8, splat(a_i32), in_i32.uniform(3u32)) & 7i32) - 3i32) {
            for x2 in 5i64..(((a_i64 ^ in_i64.uniform(48u32)) & 7i64) - 3i64) {
                let mut x3: V<u32> = 4293372740u32;
                if (x2 & x2) < (a_u32 as i64) {
                    cold_path();
                    if a_bool && true {
                    }
                }
            }
        }
        out_f16[global] = x0;
    }

    #[workgroup(128)]
    fn program_114(
        a_bool: bool,
        a_i8: i8,
        in_i8: &[i8],
        out_u16: &mut [u16],
        a_i32: i32,
        in_i32: &[i32],
        in_u32: &[u32],
        shared_u32: &mut [u32],
        a_bf16: bf16,
        in_bf16: &[bf16],
        out_bf16: &mut [bf16],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i8, 128>::new();
        lds0[local] = splat(a_i8);
        let mut x0: V<bf16> = in_bf16[lane] / splat(a_bf16);
        let mut x1: S<u16> = 32768u16;
        for x2 in (((in_i32[lane] / ((splat(a_i32) * a_i32) | 1i32)) & 7i32) - 3i32)..=(((splat(a_i32) % (splat(-6i32) | 1i32)) & 7i32) - 3i32) {
            x0 *= x0 * x0;
        }
        x1 |= 65532u16;
        let mut x3: V<u32> = 0u32;
        loop {
            x3 += 1u32;
            if x3 > 3u32 {
                cold_path();
                break;
            }
            shared_u32.atomic((in_bf16[global] as u32) & 15u32).fetch_and(in_u32[wave_inclusive_xor(splat(a_i32) as u32) % 99u32], Scope::Agent, Ordering::Relaxed);
            let mut x4: V<bf16> = shuffle(x0, (if a_bool { global } else { 3u32 }));
            lds0[local] = in_i8[local].wrapping_shl(3u32);
        }
        out_bf16[global] = x0;
        out_u16[global] = x1;
    }

    #[workgroup(64)]
    fn program_116(
        a_bool: bool,
        a_u16: u16,
        in_u16: &[u16],
        out_u16: &mut [u16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f16: f16,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<f16, 8>::filled(f16::from_bits(0x0 /* 0 */));
        let own1 = Private::<f32, 8>::filled(0.0f32);
        let x0 = in_u32.uniform(53u32).to_bits_as::<u32>() - wave_sum(lane);
        let mut x1: V<f32> = super::bits::table::<f32>(6)[(lane ^ global) & 63];
        if a_bool {
            cold_path();
            out_f32[global + 128] = lane.to_bits_as::<f32>().max(-94.75f32).ceil();
        }
        x1 = in_f32[local] + own1[splat(a_u32).min(in_u32[global]) & 7u32];
        let x2 = select((2147483650u32 >= splat(a_u32)) && false, a_u16, in_u16[local]);
        x1 *= splat(0i32).to_bits_as::<f32>().max(x1);
        own0[0u32] = a_f16;
        x1 = super::bits::table::<f32>(10)[(group ^ (x0 % 3550052843u32)) & 1023];
        out_u32[global] = x0;
        out_f32[global] = x1;
        out_u16[global] = x2;
    }

    #[workgroup(64)]
    fn program_124(
        a_bool: bool,
        in_i32: &[i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        out_i64: &mut [i64],
        in_bf16: &[bf16],
        out_bf16: &mut [bf16],
        a_f32: f32,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<i64, 8>::filled(0i64);
        let own1 = Private::<u64, 8>::filled(0u64);
        let mut x0: V<u32> = 3u32;
        let x1 = splat(bf16::from_bits(0xacc /* 0.000000000000000000000000000000019644485 */)).min(splat(bf16::from_bits(0x420e /* 35.5 */))) * select(splat(83.875f32) > 58.0f32, out_bf16[global + 64], in_bf16[lane]);
        let mut x2: V<i64> = -4i64;
        own0[4u32] = (if splat(a_f32) != in_f32[lane] { in_i64.uniform(92u32) } else { out_i64[global + 64] });
        x0 = (x0 / 4294967293u32) | x0;
        if (!(in_u32.uniform(89u32) >= x0)) && a_bool {
            cold_path();
            for x3 in ((((in_i32[local] + in_i32[local]) & 7i32) - 3i32)..=4i32).rev() {
            }
        }
        out_u32[global] = x0;
        out_bf16[global] = x1;
        out_i64[global] = x2;
    }

    #[workgroup(128)]
    fn program_131(
        a_bool: bool,
        a_i8: i8,
        in_i8: &[i8],
        out_i8: &mut [i8],
        out_u8: &mut [u8],
        a_i16: i16,
        in_i16: &[i16],
        out_i16: &mut [i16],
        out_u16: &mut [u16],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        let lds1 = Lds::<u16, 128>::new();
        lds0[local] = global.wrapping_shr(23u32);
        lds1[local] = out_u16[global + 128].max(out_u16[global]);
        let mut x0: V<i8> = lane as i8;
        let x1 = a_i16.max(3i16) > (in_i16[lane] * in_i16[local]);
        let x2 = (a_i16 % ((a_i16 ^ a_i16) | 1i16)) | -32768i16;
        match wave_xor(in_i16[global]) as i32 {
            7i32..=9i32 => {
                if 4294967290u32 > wave {
                    cold_path();
                    return;
                }
            }
            _ => {
                x0 += (-x0);
                barrier();
            }
        }
        if x1 {
            x0 |= x0.to_bits_as::<i8>() * -127i8;
            #[unroll]
            for x3 in 0u32..0 {
                #[unroll]
                for x4 in 0u32..1 {
                    x0 &= x0;
                    x0 ^= (splat(-32768i16) as i8) / 1i8;
                    let mut x5: S<i16> = (x2 / 1i16).wrapping_shr(group) + (if a_bool { 97i16 } else { x2 }).min(a_i16 & x2);
                    x0 = in_i8[lane];
                }
                let mut x6: V<u32> = 0u32;
                loop {
                    x6 += 1u32;
                    if x6 > 1u32 {
                        cold_path();
                        break;
                    }
                    x0 *= (in_i8[lane] ^ 4i8) - a_i8.wrapping_shl(78u32 & group);
                }
            }
        }
        out_i8[global] = x0;
        out_u8[global] = x1 as u8;
        out_i16[global] = x2;
    }

    #[workgroup(64)]
    fn program_139(
        out_i32: &mut [i32],
        a_u32: u32,
        a_u64: u64,
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<u32, 8>::filled(0u32);
        let mut x0: V<i32> = -6i32;
        if (wave & a_u32) > wave {
            cold_path();
            for x1 in ((splat(a_u64).to_bits_as::<u64>() & 7u64)..5u64).rev() {
                let mut x2: V<u32> = 0u32;
                while (x2 < 2u32) && (out_f32[global + 64] == f32::from_bits(0x4c864089)) {
                    x2 += 1u32;
                }
            }
        }
        out_i32[global] = x0;
    }

    #[workgroup(64)]
    fn program_159(
        in_i8: &[i8],
        a_u32: u32,
        in_u32: &[u32],
        in_f32: &[f32],
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        let own0 = Private::<u8, 8>::filled(0u8);
        lds0[local] = shuffle_xor(in_u32[local], 27);
        lds0[local + 64u32] = splat(0u32);
        let mut x0: V<f64> = 27.25f64;
        if in_f32[lane] < splat(f32::from_bits(0xff800000)).mul_add(-0.0f32, splat(-91.125f32)) {
            x0 = select(in_f32[local] == 105.625f32, x0, in_f64[lane]);
            if (x0 as i8) != in_i8[local].wrapping_shl(47u32) {
                x0 = (in_f32[local] as f64).min(x0);
                return;
            }
            for x1 in ((a_u32 & 7u32)..=(wave_inclusive_xor(in_u32[lane]) & 7u32)).step_by(4) {
                x0 = splat(-8.625f64).min(-103.125f64).max((x0 / in_f64[local]) - (splat(104.125f64) * 9.0f64));
            }
        }
        out_f64[global] = x0;
    }

    #[workgroup(128)]
    fn program_185(
        out_u8: &mut [u8],
        in_u32: &[u32],
        a_i64: i64,
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f64, 128>::new();
        let lds1 = Lds::<u32, 128>::new();
        lds0[local] = super::bits::table::<f64>(10)[(lane ^ local) & 1023];
        lds1[local] = 2147483648u32 + in_u32[lane];
        let mut x0: V<bool> = (a_f32 < in_f32.uniform(91u32)) && false;
        x0 = (in_f32[lane] - in_f32[lane]) >= (a_f32 / in_f32.uniform(24u32));
        if f32::from_bits(0xdf116a54) >= in_f32[local].ceil() {
            x0 = splat(a_i64) != 1i64;
            let mut x1: V<f32> = out_f32[global + 128];
            lds1[local] = global;
        }
        barrier();
        out_u8[global] = x0 as u8;
    }

    #[workgroup(128)]
    fn program_208(
        in_i8: &[i8],
        out_i8: &mut [i8],
        out_u8: &mut [u8],
        in_u16: &[u16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<f32> = -75.625f32;
        let x1 = out_u8[global + 128].to_bits_as::<i8>() | 90i8;
        for x2 in ((in_i8[global] & 7i8) - 3i8)..=((x1 & 7i8) - 3i8) {
            out_f32[global + 256] = x0.abs();
        }
        let x3 = (if splat(36119u16) >= in_u16[global] { (if in_f32[local] >= x0 { in_f32[local] } else { x0 }) } else { 45.375f32 });
        x0 *= f32::from_bits(0x4f000000);
        out_f32[global + 256] = x0;
        if shuffle(out_u32[global + 256], in_u32[local] % 5u32) < (a_u32 | a_u32) {
            cold_path();
            x0 = in_f32[splat(a_u32) % 99u32];
        } else {
            let mut x4: V<u32> = 0u32;
            loop {
                x4 += 1u32;
                if x4 > 3u32 {
                    cold_path();
                    break;
                }
            }
        }
        out_f32[global] = x0;
        out_i8[global] = x1;
        out_f32[global + 128] = x3;
    }

    #[workgroup(128)]
    fn program_222(
        a_bool: bool,
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        a_f16: f16,
        in_f32: &[f32],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i64, 128>::new();
        let lds1 = Lds::<f64, 128>::new();
        let own0 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        let own1 = Private::<i8, 8>::filled(0i8);
        lds0[local] = (-splat(-9223372036854775808i64));
        lds1[local] = out_f64[global];
        let x0 = (wave | a_u32) % (wave.min(a_u32) | 1u32);
        let mut x1: V<u32> = local * local;
        let mut x2: V<u32> = a_u32;
        lds0[local] = in_i64.uniform(65u32).wrapping_shr(x0) ^ (in_f32.uniform(90u32) as i64);
        barrier();
        lds0.atomic(x1 & 127u32).fetch_min(in_i64[local], Scope::Workgroup, Ordering::Relaxed);
        barrier();
        for x3 in ((x1 & x1) & 7u32)..=(x2 & 7u32) {
            #[unroll]
            for x4 in 0u32..2 {
                x1 = (if x2.min(x3) != 4294967290u32 { in_u32[lane].min(x3) ^ local } else { (local % ((global / ((if lane == 7u32 { x3 } else { x3 }) | 1u32)) | 1u32)).wrapping_shl(local | global) });
                let mut x5: V<f16> = a_f16.trunc() - a_f16.max(a_f16);
                x2 = x1.to_bits_as::<u32>() & 1398047745u32;
            }
            let x6 = lds0[(if a_bool { x3 } else { x1 }) & 127u32];
        }
        out_u32[global] = x0;
        out_u32[global + 128] = x1;
        out_u32[global + 256] = x2;
    }

    #[workgroup(128)]
    fn program_223(
        a_bool: bool,
        a_i8: i8,
        in_i8: &[i8],
        out_i8: &mut [i8],
        a_i32: i32,
        out_i32: &mut [i32],
        shared_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_u64: u64,
        in_u64: &[u64],
        out_u64: &mut [u64],
        a_bf16: bf16,
        a_f32: f32,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<f32, 8>::filled(0.0f32);
        let own1 = Private::<f16, 8>::filled(f16::from_bits(0x0 /* 0 */));
        let mut x0: V<i8> = out_i8[global + 256] * a_i8;
        let mut x1: V<u64> = out_i32[global].wrapping_shr(in_u32[global].min(4194304u32)) as u64;
        if (!(a_bf16 >= a_bf16)) {
            x1 = x1;
            x0 = x0.wrapping_shl((!select(a_f32 <= splat(a_f32), splat(a_u32), splat(3343736161u32))));
            own0[1u32] = in_f32[lane];
        } else {
            for x2 in 9223372036854775805i64..splat(9223372036854775807i64) {
                if (a_bool && a_bool) || (a_i32 != 46i32) {
                    for x3 in (2i8..((shuffle(x0, (if a_bool { out_u32[global + 256] } else { a_u32 })) & 7i8) - 3i8)).step_by(4) {
                        x1 = wave_exclusive_or(x1 | a_u64).wrapping_shr(53u32);
                        let mut x4: S<f32> = a_f32.mul_add(f32::from_bits(0x79dbd8fc), a_f32);
                        x0 -= 0i8;
                    }
                    if 1u32 >= lane {
                        cold_path();
                        continue;
                    }
                    x1 = in_u64[global];
                }
                for x5 in (((in_i8[local] & 7i8) - 3i8)..((x0 & 7i8) - 3i8)).rev().step_by(2) {
                    x1 = (x1 % ((x1 * 8977538877943410520u64) | 1u64)).max(in_u64[global]);
                    x0 = x0;
                }
                let mut x6: V<u32> = 0u32;
                loop {
                    x6 += 1u32;
                    if x6 > 4u32 {
                        cold_path();
                        break;
                    }
                    x1 += 65u64 + (splat(a_u32) as u64);
                    x0 = x0.wrapping_shl(in_u32[local]);
                    shared_i32.atomic((global & wave) & 15u32).fetch_add(shuffle(splat(-2147483646i32), local % 1u32) / 3i32, Scope::Agent, Ordering::Relaxed);
                }
            }
            x0 = (!(x0 >= x0)) as i8;
        }
        out_i8[global] = x0;
        out_u64[global] = x1;
    }

    #[workgroup(128)]
    fn program_226(
        a_bool: bool,
        a_i32: i32,
        in_u32: &[u32],
        a_u64: u64,
        in_u64: &[u64],
        out_u64: &mut [u64],
        a_f64: f64,
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<f64> = a_f64 + read_lane(in_f64[lane], read_lane(in_u32[global], (group + in_u32.uniform(5u32)) % 64u32) % 64u32);
        let mut x1: S<f64> = x0;
        if a_bool {
            cold_path();
            if (!(x1 != splat(65504.0f64))) {
                cold_path();
                out_u64[global] = shuffle_xor(out_u64[global + 512] % (in_u64[global] | 1u64), 18) * (in_u64.uniform(48u32) * a_u64).max(a_i32 as u64);
            }
        }
        out_f64[global] = x0;
        out_f64[global + 256] = x1;
    }
}

pub const SAMPLE: &[Sampled] = &[
    (2, |target| program_2.build(target).map(BuiltKernel::into_any)),
    (29, |target| program_29.build(target).map(BuiltKernel::into_any)),
    (32, |target| program_32.build(target).map(BuiltKernel::into_any)),
    (56, |target| program_56.build(target).map(BuiltKernel::into_any)),
    (57, |target| program_57.build(target).map(BuiltKernel::into_any)),
    (102, |target| program_102.build(target).map(BuiltKernel::into_any)),
    (114, |target| program_114.build(target).map(BuiltKernel::into_any)),
    (116, |target| program_116.build(target).map(BuiltKernel::into_any)),
    (124, |target| program_124.build(target).map(BuiltKernel::into_any)),
    (131, |target| program_131.build(target).map(BuiltKernel::into_any)),
    (139, |target| program_139.build(target).map(BuiltKernel::into_any)),
    (159, |target| program_159.build(target).map(BuiltKernel::into_any)),
    (185, |target| program_185.build(target).map(BuiltKernel::into_any)),
    (208, |target| program_208.build(target).map(BuiltKernel::into_any)),
    (222, |target| program_222.build(target).map(BuiltKernel::into_any)),
    (223, |target| program_223.build(target).map(BuiltKernel::into_any)),
    (226, |target| program_226.build(target).map(BuiltKernel::into_any)),
];
