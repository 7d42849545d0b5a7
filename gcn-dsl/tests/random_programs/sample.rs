//! Made from random programs; see `through_macro.rs`.

use gcn_dsl::BuiltKernel;
use gcn_dsl::prelude::*;

use super::cells::{Cell, cell, put};
use super::shapes::{Long, Machine, Pair, Rows, Thing, Word, again, either, passed};
use super::through_macro::Sampled;

gcn_kernel! {
    #[workgroup(64)]
    fn program_3(
        a_i16: i16,
        in_i16: &[i16],
        out_u16: &mut [u16],
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<f32> = in_f32[global];
        if f32::from_bits(0x4f000000) > splat(34.0f32).ceil() {
            cold_path();
            let mut x1: i16 = (splat(a_i16) ^ in_i16[global]) / -23189i16;
            let mut x2: V<u32> = 0;
            loop {
                x2 += 1;
                if x2 > 4u32 {
                    cold_path();
                    break;
                }
                x1 = x1.wrapping_shl(5);
                let mut x3: i16 = in_i16[lane].wrapping_shr(14u32) | x1.to_bits_as::<i16>();
            }
            for x4 in (((out_u16[global] - splat(65535u16)) & 7u16)..=5u16).rev().step_by(1) {
                x0 = (x0 as f32) + -0.0f32;
            }
        }
        out_f32[global] = x0;
    }

    #[workgroup(64)]
    fn program_10(
        a_bool: bool,
        in_u8: &[u8],
        out_u8: &mut [u8],
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        shared_u32: &mut [u32],
        in_u64: &[u64],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        let own1 = Private::<u32, 8>::filled(0u32);
        let x0 = own1[(if in_u8[local] < in_u8[global] { local } else { lane }) & 7u32] > in_u32[local];
        let x1 = in_i32[local];
        if (!(x0 || false)) {
            cold_path();
            for x2 in 1i32..splat(2i32) {
                let mut object0: [V<f32>; 3] = if a_bool { [in_f32.load_vector::<2>((x0 as u32) & 127u32).get(0), (select(x0, out_u32[global + 64], splat(a_u32)) as u32) as f32, out_f32[global].mul_add(f32::from_bits(0xdf6659b2), splat(f32::from_bits(0x4da4289a)))] } else { [in_f32[local].min(out_f32[global + 64]) / splat(a_f32), out_f32[global + 128].abs() * (splat(a_f32) + 21.0f32), in_f32[lane]] };
                shared_u32.atomic((lane ^ out_u32[global + 64]) & 15u32).fetch_or(select(local == 2147483649u32, splat(4294967295u32) / 371870897u32, wave.to_bits_as::<u32>()), Scope::Agent, Ordering::Relaxed);
                if splat(a_u32).wrapping_shr(27u32) >= 2147483648u32 {
                    cold_path();
                    object0[2] = splat(a_f32);
                } else {
                    let mut object1: [u32; 3] = if x0 { [splat(7u32) + 0u32, super::bits::table::<i32>(10)[(global ^ in_u32[lane]) & 1023] as u32, shuffle_xor(again(global, |v| v.max(global - in_u32[global])), 7)] } else { [in_u32[local], global ^ group, ((in_u64[lane] | 15350814310798555200u64) as u32) - (x1.to_bits_as::<u32>() + in_u32[local])] };
                    #[unroll]
                    for x3 in 0u32..1 {
                        let x4 = super::bits::table::<u32>(6)[(global ^ lane) & 63].to_bits_as::<u32>();
                    }
                }
            }
        }
        out_u8[global] = x0 as u8;
        out_i32[global] = x1;
    }

    #[workgroup(64)]
    fn program_22(
        a_bool: bool,
        in_i8: &[i8],
        out_u8: &mut [u8],
        a_i16: i16,
        out_i16: &mut [i16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_bf16: bf16,
        a_f32: f32,
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<bool> = (global < in_u32[global]) || a_bool;
        let mut x1: V<u32> = 0;
        loop {
            x1 += 1;
            if x1 > 2u32 {
                cold_path();
                break;
            }
            if global != (global + in_u32.uniform(27u32)) {
                x0 = x0;
                continue;
            }
            x0 = (in_u32.uniform(84u32) & wave) > read_first_lane(out_u32[global + 128]);
            let mut object0: Result<V<u32>, V<i32>> = if (splat(a_u32) ^ a_u32) != (out_u32[global + 256] | lane) { Ok(in_u32[(global / (lane.wrapping_shl(46u32) | 1u32)) % 96u32]) } else { Ok(splat(4294967289u32).wrapping_shl(25u32).wrapping_shl(in_u32[local]) & 2048u32) };
            let mut object1: [i16; 3] = [((splat(a_f32) > f32::from_bits(0xc3421de)) as i16).max(-4i16), splat(a_i16), -32766i16 - out_i16[global + 128]];
        }
        if splat(bf16::from_bits(0x42f3 /* 121.5 */)) == a_bf16 {
            cold_path();
            if in_i8[lane] < 22i8 {
                cold_path();
                if global <= (&in_u32[((group ^ a_u32) & 127u32)..((group ^ a_u32) & 127u32) + 32])[out_u32[global + 128].max(splat(6u32)) & 63u32] {
                    cold_path();
                    let mut object2: Option<V<f32>> = Some(out_f32[global + 256]);
                } else {
                    x0 = in_u32.load_vector::<2>((in_u32[local] as u32) & 127u32).get(1) < a_u32.max(4294967290u32);
                    let mut object3: Result<V<f32>, V<u32>> = Ok(super::bits::table::<f32>(10)[(lane ^ lane) & 1023]);
                    x0 = in_u32[global] == (lane ^ a_u32.max(2147483649u32));
                }
            }
        }
        out_u8[global] = x0 as u8;
    }

    #[workgroup(64)]
    fn program_30(
        a_i16: i16,
        in_i16: &[i16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_f32: &[f32],
        out_f32: &mut [f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<f32> = -78.375;
        let x1 = select(x0 >= 0.1f32, lane | in_u32[local], 2147483650u32);
        x0 = ((&in_f32[(a_u32 & 127u32)..(a_u32 & 127u32) + 17])[(x1 / 2147483649u32) & 63u32] - -110.625f32).trunc();
        let mut object0: (V<i32>, V<f64>) = (x1.to_bits_as::<i32>(), in_f64[local]);
        x0 = x0.round_ties_even().to_bits_as::<f32>();
        x0 = x0;
        if in_u32.uniform(61u32).wrapping_shl(21u32) <= in_u32.uniform(10u32).wrapping_shl(a_u32 + a_u32) {
            let mut object1: Thing = Thing::Number(in_u32[local]);
            {
                let (x2, x3) = object0;
                let mut object2: [V<i16>; 3] = [((if x0 < splat(-18.5f32) { in_i16[global] } else { 35i16 }) - splat(84i16)) - in_i16.load_vector::<4>((x1 * x1) & 127u32).get(1), (a_i16 + splat(-2i16)) * in_i16[global], in_i16[global]];
                #[unroll]
                for x4 in 0u32..0 {
                }
            }
        }
        out_f32[global] = x0;
        out_u32[global] = x1;
    }

    #[workgroup(128)]
    fn program_35(
        a_bool: bool,
        out_u8: &mut [u8],
        a_i16: i16,
        out_i16: &mut [i16],
        a_u32: u32,
        in_u32: &[u32],
        a_i64: i64,
        in_i64: &[i64],
        out_i64: &mut [i64],
        a_f32: f32,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<i64> = select(splat(a_u32) == local, splat(a_i64), a_i64) & 7275738024802130578i64;
        let mut object0: Pair = if x0 <= (x0 ^ x0) { Pair { count: (in_u32[lane] | 1831927445u32) * in_u32[global].min(global), level: (&in_f32[(group.wrapping_shl(a_u32 % 2147483649u32) & 127u32)..(group.wrapping_shl(a_u32 % 2147483649u32) & 127u32) + 47])[local & 63u32] } } else { Pair { count: (x0 & x0) as u32, level: (&in_f32[((a_u32 + 4294967289u32) & 127u32)..((a_u32 + 4294967289u32) & 127u32) + 29])[(lane ^ wave) & 63u32] + a_f32 } };
        x0 |= again(x0, |v| v - (&in_i64[70u32..70u32 + 29])[((out_i16[global + 512] > a_i16) as u32) & 63u32]) % -9223372036854775807i64;
        let mut x1: u8 = 255;
        let mut x2: S<bool> = a_bool;
        x1 = splat(0i8).to_bits_as::<u8>();
        {
            let Pair { count: x3, level: x4 } = object0;
            x1 = super::bits::table::<u8>(7)[(global ^ in_u32.load_vector::<2>((x3 / 1u32) & 127u32).get(0)) & 127];
            let mut object1: Option<V<u32>> = if again(x3, |v| v & object0.peek()) > object0.peek() { None } else { Some(global) };
        }
        out_i64[global] = x0;
        out_u8[global] = x1;
        out_u8[global + 256] = x2 as u8;
    }

    #[workgroup(64)]
    fn program_41(
        a_u8: u8,
        in_u8: &[u8],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f32: f32,
        out_f32: &mut [f32],
        a_f64: f64,
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f64, 128>::new();
        lds0[local] = either(splat(a_f64), |v| v > (in_f64[local].max(splat(-103.625f64)) * a_f64), |v| v.max(in_f64[local].max(splat(-103.625f64)) * a_f64)).unwrap_or(in_f64[lane]);
        lds0[local + 64u32] = in_f64.load_vector::<2>((if 3832633909u32 <= local { in_u32[local] } else { splat(128u32) }) & 127u32).get(0);
        let mut x0: V<u32> = in_u32[local].max(out_f32[global].to_bits_as::<u32>());
        let mut x1: u32 = group - 2147483648u32;
        let mut x2: V<u32> = 0;
        loop {
            x2 += 1;
            if x2 > 3u32 {
                cold_path();
                break;
            }
            x0 = x1;
            let mut object0: V<Cell> = if (if splat(a_u8) != splat(a_u8) { a_f32 } else { splat(96.125f32) }) > shuffle(out_f32[global], x0 % 1u32) { cell(x0, super::bits::table::<i64>(7)[(group ^ x1) & 127]) } else { cell(x0.min(x0).wrapping_shr(super::bits::table::<u32>(6)[(global ^ x0) & 63]), in_u32[x0 % 96u32] as i64) };
        }
        match in_u8[x0 % 96u32] & 7u8 {
            2u8..=3u8 => {
                x0 = (if x1.min(x1) < (x0 + 0u32) { x1.min(0u32) + x1 } else { in_u32[x0 % 96u32] });
            }
            7u8..=8u8 => {
                let mut object1: Thing = if x0.min(in_u32[lane]) >= (x1 + x1) { Thing::Nothing } else { Thing::Both { near: splat(1934363920i32), far: splat(13.0f32) } };
            }
            _ => {
                x0 -= in_u32[x0 % 96u32];
            }
        }
        out_u32[global] = x0;
        out_u32[global + 64] = x1;
    }

    #[workgroup(128)]
    fn program_52(
        in_i32: &[i32],
        out_i32: &mut [i32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<i32> = in_i32.uniform(46u32);
        x0 = x0 & -2147483648i32;
        x0 = x0 & (wave_and(out_i32[global + 128]) as i32);
        x0 *= x0.wrapping_shl(splat(-111.125f32).to_bits_as::<u32>()) * (x0 ^ 0i32);
        out_i32[global] = x0;
    }

    #[workgroup(64)]
    fn program_75(
        a_bool: bool,
        in_i8: &[i8],
        a_i16: i16,
        out_i16: &mut [i16],
        a_i32: i32,
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        shared_u32: &mut [u32],
        in_u64: &[u64],
        a_f16: f16,
        out_f16: &mut [f16],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        let own0 = Private::<i16, 8>::filled(0i16);
        let own1 = Private::<i16, 8>::filled(0i16);
        lds0[local] = either(splat(a_u32), |v| v > global.wrapping_shr(splat(a_u32) % 1u32), |v| v & global.wrapping_shr(splat(a_u32) % 1u32)).unwrap_or((&in_u32[55u32..55u32 + 39])[local & 63u32].wrapping_shr(lane));
        lds0[local + 64u32] = global;
        let x0 = in_u32[local % 96u32].max(2u32);
        let mut x1: f16 = a_f16 - a_f16;
        out_i16[global + 64] = super::bits::table::<i16>(3)[(global ^ global) & 7];
        shared_u32.atomic((x0 + x0) & 15u32).fetch_add(either(x0, |v| v > ((in_u32.uniform(46u32) - a_u32) & a_u32), |v| v * ((in_u32.uniform(46u32) - a_u32) & a_u32)).unwrap_or(select(splat(9223372036854775808u64) == in_u64[global], x0.wrapping_shr(16u32), 4294967289u32)), Scope::Agent, Ordering::Relaxed);
        x1 = x1;
        let mut x2: S<u32> = a_u32 * a_u32;
        lds0[local] = (either(in_i32[lane], |v| v > (out_f64[global + 128] as i32), |v| v + (out_f64[global + 128] as i32)).unwrap_or(in_i32[global]) * (x0 as i32)).to_bits_as::<u32>();
        barrier();
        lds0.atomic(global & 127u32).fetch_and(x0, Scope::Workgroup, Ordering::Relaxed);
        barrier();
        for x3 in (((in_i8[lane] & 7i8) - 3i8)..0i8).step_by(3) {
            for x4 in (((a_i16 & 7i16) - 3i16)..(((if a_bool { a_i16 } else { a_i16 }) & 7i16) - 3i16)).rev() {
                let x5 = x0;
                if in_i32[global] != in_i32[lane] {
                    cold_path();
                    let mut x6: S<i32> = (in_i32.uniform(35u32) & in_i32.uniform(59u32)) | a_i32;
                }
            }
        }
        out_u32[global] = x0;
        out_f16[global] = x1;
        out_u32[global + 64] = x2;
    }

    #[workgroup(64)]
    fn program_93(
        in_i8: &[i8],
        out_i8: &mut [i8],
        a_i16: i16,
        in_i16: &[i16],
        out_i16: &mut [i16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f32: f32,
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i8, 128>::new();
        let own0 = Private::<u16, 8>::filled(0u16);
        lds0[local] = out_i8[global + 256].max(43i8);
        lds0[local + 64u32] = in_i8[lane];
        let mut x0: V<f32> = out_f32[global];
        let mut x1: u32 = select(x0 <= x0, (if x0 >= f32::from_bits(0x4e96f137) { in_u32[global % 96u32] } else { (&in_u32[((a_u32 / 1u32) & 127u32)..((a_u32 / 1u32) & 127u32) + 36])[in_u32[in_u32[global] % 96u32] & 63u32] }), a_u32);
        x1 *= 1024;
        let mut object0: Option<V<i16>> = if a_f32 <= x0 { Some((x0 >= x0) as i16) } else { Some(in_i16[local]) };
        barrier();
        out_f32[global + 128] = splat(a_f32);
        let mut x2: S<i16> = a_i16 % (a_i16.wrapping_shl(group) | 1i16);
        for x3 in (4u32..(wave & 7u32)).rev().step_by(1) {
            object0 = Some(splat(a_i16));
            let mut x4: V<f32> = splat(51.125f32).to_bits_as::<f32>();
            out_u32[global + 256] = in_u32[local] / 1u32;
            if let Some(x6) = object0 {
            } else {
                x4 = splat(a_f32) * x4;
                let x5 = a_f32.trunc();
            }
        }
        out_f32[global] = x0;
        out_u32[global] = x1;
        out_i16[global] = x2;
    }

    #[workgroup(64)]
    fn program_97(
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
        let lds0 = Lds::<u16, 128>::new();
        lds0[local] = wave_inclusive_xor(splat(0u16));
        lds0[local + 64u32] = (f32::from_bits(0x9a724b07) > in_f32[local]) as u16;
        let x0 = splat(27.375f32);
        let mut object0: V<Cell> = cell(in_u32[in_u32[local] % 96u32], in_i64[local].wrapping_shl(65u32));
        if x0 < (if x0 <= a_f32 { x0 } else { out_f32[global + 128] }) {
            let mut x1: V<u32> = 0;
            loop {
                x1 += 1;
                if x1 > 3u32 {
                    cold_path();
                    break;
                }
                let mut x2: V<bool> = -104.875f32 >= splat(21.0f32);
            }
            let x3: u32;
            if (!(x0 != x0)) {
                x3 = in_u32[local].wrapping_shr(splat(a_u32));
            } else {
                x3 = in_u32[global];
            }
        }
        barrier();
        let mut x4: V<u32> = 0;
        loop {
            x4 += 1;
            if x4 > 2u32 {
                cold_path();
                break;
            }
            object0 = cell(in_u32[in_u32[global] % 96u32], object0.wide);
        }
        if a_f32 <= (in_f32.uniform(25u32) as f32) {
            cold_path();
            out_u32[global + 64] = local / 3u32;
        }
        object0 = if x0 == (x0 / 0.375f32) { cell(in_u32[lane], in_i64[local].wrapping_shl(8u32)) } else { cell(global & global, (in_i64.uniform(70u32) | in_i64.uniform(47u32)).min(4i64)) };
        #[unroll]
        for x5 in 0u32..3 {
            for x6 in (0u8..splat(0u8)).rev().step_by(2) {
                let x7 = x0;
                let mut object1: Option<V<f32>> = if in_u32[local] != (global | in_u32[local]) { Some(in_f32[local]) } else { None };
            }
        }
        out_f32[global] = x0;
    }

    #[workgroup(128)]
    fn program_102(
        in_i16: &[i16],
        out_i16: &mut [i16],
        a_f16: f16,
        out_f16: &mut [f16],
        a_f64: f64,
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<f16> = f16::from_bits(0x3e79 /* 1.6181641 */);
        x0 = a_f16;
        let x1: i16;
        if out_f16[global + 256] != x0 {
            x1 = (&in_i16[77u32..77u32 + 69])[(splat(a_f64) as u32) & 63u32];
        } else {
            x1 = in_i16[lane];
        }
        x0 = x0.max(x0) + f16::from_bits(0x53b4 /* 61.625 */);
        for x2 in (125i8..splat(127i8)).rev() {
            let x3 = x0;
        }
        out_f16[global] = x0;
        out_i16[global] = x1;
    }

    #[workgroup(128)]
    fn program_108(
        out_u8: &mut [u8],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        at_u32: *const u32,
        in_f16: &[f16],
        out_f16: &mut [f16],
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
        x0 = x0;
        let mut object0 = at_u32.add(select(x0, x1, a_u32) & 63);
        if all(splat(f32::from_bits(0x4e6d553b)) > splat(f32::from_bits(0x4f000000))) {
            cold_path();
            return;
        }
        out_f16[global + 256] = in_f16[global];
        out_u8[global] = x0 as u8;
        out_u32[global] = x1;
    }

    #[workgroup(128)]
    fn program_109(
        out_u8: &mut [u8],
        in_i16: &[i16],
        out_i16: &mut [i16],
        in_u16: &[u16],
        in_u32: &[u32],
        out_u32: &mut [u32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let x0 = (!(splat(0u32) == 7u32));
        let mut x1: u32 = lane * 1688272086u32;
        #[unroll]
        for x2 in 0u32..0 {
            let x3 = x1;
            for x4 in (((lane ^ x1) & 7u32)..(in_u32[local] & 7u32)).rev().step_by(3) {
                match wave_product(in_u16[lane] / (in_u16[local] | 1u16)) {
                    65533u16..=65535u16 => {
                        x1 |= x1;
                    }
                    5u16..=65535u16 => {
                        out_i16[global] = shuffle_xor((&in_i16[89u32..89u32 + 58])[x3.to_bits_as::<u32>() & 63u32], 25);
                    }
                    _ => {
                    }
                }
            }
        }
        out_u8[global] = x0 as u8;
        out_u32[global] = x1;
    }

    #[workgroup(128)]
    fn program_129(
        out_u8: &mut [u8],
        a_i16: i16,
        out_i16: &mut [i16],
        a_u16: u16,
        in_u16: &[u16],
        out_u16: &mut [u16],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f32, 128>::new();
        lds0[local] = in_f32[lane];
        let x0 = (splat(a_f32) / in_f32[lane]) >= (splat(64.625f32) + 51.75f32);
        let x1 = (&in_f32[83u32..83u32 + 29])[(global * out_u32[global]) & 63u32];
        let x2 = (in_i32.uniform(49u32) * a_i32) - (in_i32.uniform(36u32) / 1i32);
        let mut x3: i16 = splat(a_i16);
        let mut object0: Thing = Thing::Nothing;
        let x4: V<u16>;
        if in_f32.load_vector::<4>(in_u32[local] & 127u32).get(1) < x1 {
            x3 &= x1 as i16;
            x4 = splat(90u16).max((splat(4682u16) + in_u16[lane]).min(shuffle_xor(out_u16[global], 19)));
        } else {
            x4 = a_u16;
        }
        out_u8[global] = x0 as u8;
        out_f32[global] = x1;
        out_i32[global] = x2;
        out_i16[global] = x3;
        out_u16[global] = x4;
    }

    #[workgroup(128)]
    fn program_162(
        in_i8: &[i8],
        a_u8: u8,
        in_i16: &[i16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_u64: &[u64],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<i8, 8>::filled(0i8);
        let x0 = (&in_u32[(wave_min(in_u32[lane]) & 127u32)..(wave_min(in_u32[lane]) & 127u32) + 60])[in_f32[global].to_bits_as::<u32>() & 63u32];
        out_u32[global] = splat(a_u32);
        let mut x1: V<u32> = 0;
        while x1 < 2u32 {
            x1 += 1;
            for x2 in (4i16..=((in_i16[global].to_bits_as::<i16>() & 7i16) - 3i16)).step_by(2) {
                if (a_u8 as u32) > group {
                    cold_path();
                    own0[0u32] = in_i8[global];
                } else {
                    let mut x3: u64 = (x2 as u64) % ((&in_u64[7u32..7u32 + 0])[(x0 ^ group) & 63u32] | 1u64);
                    if in_f64[lane] >= in_f64[lane] {
                        x3 -= splat(-9223372036854775806i64).to_bits_as::<u64>();
                        x3 = x3.wrapping_shr(x0);
                        out_f32[global + 512] = (a_u32 as f32).min(a_f32);
                    }
                }
            }
        }
        out_u32[global] = x0;
    }

    #[workgroup(64)]
    fn program_172(
        a_i8: i8,
        in_i8: &[i8],
        out_i8: &mut [i8],
        a_i16: i16,
        at_u16: *const u16,
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        out_i64: &mut [i64],
        in_f16: &[f16],
        out_f16: &mut [f16],
        a_f32: f32,
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let x0 = select(in_i8[global] != -126i8, (if splat(6i32) > -2i32 { in_i8[local] } else { 0i8 }), splat(a_i8));
        for x1 in 3i32..((in_i32[lane].wrapping_shr(in_u32[global]) & 7i32) - 3i32) {
            let mut object0: Option<V<i64>> = None;
            object0 = if select(x1 <= a_i32, local, global) > (global & local) { Some(out_i64[global + 64].max(splat(35184372088832i64))) } else { Some(a_i64 / -5i64) };
            let mut x2: V<u32> = 0;
            while (x2 < 2u32) && (!object0.is_some()) {
                x2 += 1;
                let mut x3: i32 = in_i32.uniform(10u32) & a_i32;
                x3 = (a_i32 & x3).wrapping_shr(58u32);
                x3 += 17;
                out_u32[global + 128] = (in_i32[lane].wrapping_shr(3u32) + x3.wrapping_shr(wave as u32)) as u32;
            }
        }
        let mut x4: V<u32> = lane;
        if 64.25f32 >= a_f32 {
            cold_path();
            if x4 != x4 {
                cold_path();
                if (out_f16[global + 64] / f16::from_bits(0x7314 /* 14496 */)) < in_f16[lane] {
                    let mut x5: i32 = ((in_i32[lane] >= -2147483648i32) as i32).wrapping_shr(59u32);
                    if any(splat(a_i16) >= -32767i16) {
                        x4 = in_u32[local].to_bits_as::<u32>();
                        x5 -= x5;
                    }
                    let mut object1: *const u16 = at_u16.add(((if in_i64[global] == in_i64[global] { x4 } else { 2u32 }) as u32) & 63);
                } else {
                    cold_path();
                    x4 = (&in_u32[((in_u32.uniform(31u32) + group) & 127u32)..((in_u32.uniform(31u32) + group) & 127u32) + 7])[(out_i32[global] as u32) & 63u32] + x4;
                }
            }
        }
        out_i8[global] = x0;
        out_u32[global] = x4;
    }

    #[workgroup(128)]
    fn program_178(
        a_bool: bool,
        a_i8: i8,
        in_i8: &[i8],
        in_u8: &[u8],
        a_u16: u16,
        in_u16: &[u16],
        out_u16: &mut [u16],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        shared_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        a_f32: f32,
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<u32, 8>::filled(0u32);
        let own1 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        let x0 = (a_u16 % 3735u16).wrapping_shr(1u32);
        if splat(a_i32) > 3i32 {
            put(&mut own1, splat(a_u32) & 7u32, (&in_u16[((if a_bool { group } else { a_u32 }) & 127u32)..((if a_bool { group } else { a_u32 }) & 127u32) + 32])[(out_u32[global] / (wave_exclusive_min(in_u32[local]) | 1u32)) & 63u32].to_bits_as::<bf16>());
            out_f32[global + 128] = (a_f32 / f32::from_bits(0xd0ffc932)) - a_f32;
        } else {
            shared_i32.atomic(in_u32[local] & 15u32).fetch_xor(splat(a_i32), Scope::Agent, Ordering::Relaxed);
            for x1 in ((a_i32.to_bits_as::<u32>() & 7u32)..0u32).rev() {
                let x5: u32;
                if (a_i64 as u32) == x1.max(a_u32) {
                    x5 = splat(4151643208u32);
                } else {
                    if out_i32[global + 256].wrapping_shl((splat(-2147483648i32) <= in_i32[global]) as u32) >= (6i32 - splat(a_i32)) {
                        cold_path();
                        let mut x2: V<i8> = shuffle_xor(either(splat(a_i8), |v| v > ((splat(a_i32).max(splat(a_i32)) & (in_i32[local] & -2147483648i32)) as i8), |v| v - ((splat(a_i32).max(splat(a_i32)) & (in_i32[local] & -2147483648i32)) as i8)).unwrap_or(in_i8[lane]) | -1i8, 27);
                    }
                    for x3 in (255u8..=splat(255u8)).step_by(4) {
                        let x4 = ballot(x3 == 7u8).bits() | 2u64;
                    }
                    x5 = 0u32 - (in_u8[local].wrapping_shl(in_u32[global].max(0u32)) as u32);
                }
            }
        }
        out_u16[global] = x0;
    }

    #[workgroup(64)]
    fn program_182(
        a_bool: bool,
        a_i8: i8,
        a_u32: u32,
        in_u32: &[u32],
        in_i64: &[i64],
        out_u64: &mut [u64],
        in_f16: &[f16],
        a_f32: f32,
        in_f32: &[f32],
        a_f64: f64,
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<f64> = a_f64;
        let mut x1: f64 = in_f64.uniform(87u32);
        let x2 = in_f64[global];
        let mut object0: [V<f32>; 3] = if a_bool { [in_f32[global], a_f32, in_f32[local]] } else { [(if splat(-5i8) != a_i8 { splat(f32::from_bits(0x4f000000)) } else { splat(35.375f32) }), a_u32 as f32, splat(a_f32)] };
        for x3 in (4i8..=splat(2i8)).rev().step_by(3) {
            let mut x4: S<bool> = (!all(splat(a_f64) < x2));
            let mut object1: (V<u32>, V<i64>) = if (x2 >= x2) && true { (either(local, |v| v > (global.min((x2 <= x2) as u32) * (a_u32.wrapping_shl(31u32) % ((group ^ a_u32) | 1u32))), |v| v ^ (global.min((x2 <= x2) as u32) * (a_u32.wrapping_shl(31u32) % ((group ^ a_u32) | 1u32)))).unwrap_or((shuffle_xor(in_f16[local], 53) as u32) | 1978235881u32), in_i64[global].min(in_i64[lane])) } else { (a_u32.min(a_u32), out_u64[global + 64].to_bits_as::<i64>()) };
        }
        if (a_f64 * x0) >= read_lane(x2, (in_u32.uniform(52u32) - in_u32.uniform(87u32)) % 64u32) {
            let x5 = in_f64[local];
            if a_bool {
            }
        }
        out_f64[global] = x0;
        out_f64[global + 64] = x1;
        out_f64[global + 128] = x2;
    }

    #[workgroup(128)]
    fn program_198(
        a_bool: bool,
        a_i8: i8,
        in_i8: &[i8],
        out_i8: &mut [i8],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i8, 128>::new();
        lds0[local] = splat(a_i8);
        let x0 = select(splat(16.75f32) <= in_f32[global], (-out_i32[global + 256]), out_i32[global + 256]);
        let x1 = (in_i8[local] as u32) / 4294967295u32;
        let mut object0: Long = if a_bool { Long::Left(splat((&in_i64[58u32..58u32 + 62])[(&in_u32[(a_u32 & 127u32)..(a_u32 & 127u32) + 31])[(x1 ^ 0u32) & 63u32] & 63u32])) } else { Long::Left(splat((in_i64[global].max(in_i64[global]) / -1i64).to_bits_as::<i64>())) };
        let mut x2: V<u32> = read_first_lane(x1) % 9u32;
        out_i8[global + 128] = (global as i8) + (out_i8[global + 128] % (splat(0i8) | 1i8));
        x2 += 84;
        x2 = x2.wrapping_shl(2147483648);
        lds0[local] = (in_i8[global] / 11i8) * (a_i8 * -3i8);
        out_i32[global] = x0;
        out_u32[global] = x1;
        out_u32[global + 128] = x2;
    }

    #[workgroup(128)]
    fn program_204(
        a_u8: u8,
        out_u8: &mut [u8],
        out_u16: &mut [u16],
        a_i32: i32,
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        out_i64: &mut [i64],
        out_u64: &mut [u64],
        in_f16: &[f16],
        in_bf16: &[bf16],
        out_bf16: &mut [bf16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i64, 128>::new();
        let own0 = Private::<i64, 8>::filled(0i64);
        lds0[local] = in_f16[lane] as i64;
        let mut x0: V<u8> = 0;
        let mut x1: u32 = select(lane <= global, lane, 2147483650u32);
        let mut x2: V<u32> = in_u32[local];
        for x3 in (4i64..=(((out_i64[global + 256] * in_i64[lane]) & 7i64) - 3i64)).step_by(3) {
            let x6: V<bf16>;
            if (if out_f32[global] > in_f32.uniform(59u32) { in_u32[global] } else { 0u32 }) != 0u32 {
                let mut object0: Thing = Thing::Both { near: in_i32[local], far: a_f32 };
                if all(in_f32[global] == in_f32[lane]) {
                    cold_path();
                    x0 -= a_u8.min(3u8) * (x0 / ((if out_u16[global + 512] != 39130u16 { out_u8[global] } else { x0 }) | 1u8));
                } else {
                    for x4 in (1i32..((splat(0i32) & 7i32) - 3i32)).rev().step_by(1) {
                        x1 = (a_u32 * a_u32).wrapping_shr(wave + 4u32);
                    }
                    x0 = in_i32[local].max(splat(a_i32) - 4i32) as u8;
                    x1 ^= x1.max(131072u32) | 2147483650u32;
                }
                put(&mut own0, 6u32, (&in_i64[43u32..43u32 + 40])[select(x2 > 2147483648u32, x2, 61u32) & 63u32]);
                x6 = shuffle_xor(in_bf16[global].to_bits_as::<bf16>(), 28);
            } else {
                for x5 in 5u64..=((in_u32.uniform(23u32) as u64) & 7u64) {
                    x2 = x2.wrapping_shl(in_u32[local]);
                    own0[0u32] = (out_u64[global + 512] as u32) as i64;
                }
                x6 = again(x1 as bf16, |v| v + out_bf16[global + 512]);
            }
        }
        out_u8[global] = x0;
        out_u32[global] = x1;
        out_u32[global + 256] = x2;
    }

    #[workgroup(128)]
    fn program_208(
        out_i8: &mut [i8],
        a_u8: u8,
        a_i16: i16,
        a_u32: u32,
        out_u32: &mut [u32],
        in_i64: &[i64],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<f32> = -75.625;
        let x1 = super::bits::table::<i8>(6)[(global ^ lane) & 63];
        let mut object0: Result<V<u32>, V<i32>> = Ok(lane);
        let mut x2: S<u32> = 0;
        while x2 < 3u32 {
            x2 += 1;
            let mut x3: V<u32> = 0;
            while x3 < 5u32 {
                x3 += 1;
                x0 = splat(-117.0f32);
            }
        }
        match a_i16 - (a_u8 as i16) {
            6i16 => {
                let x6: V<f32>;
                if a_f32 != 45.375f32 {
                    x6 = x0.to_bits_as::<f32>();
                } else {
                    let x4 = in_i64[local].wrapping_shl(out_u32[global + 256]);
                    let mut x5: V<u32> = 0;
                    while (x5 < 5u32) && ((local + a_u32) == (lane - local)) {
                        x5 += 1;
                    }
                    x6 = shuffle_xor((if object0.is_ok() { in_f32[global % 96u32] } else { in_f32[local] + a_f32 }), 33);
                }
            }
            4i16..=6i16 => {
            }
            _ => {
            }
        }
        out_f32[global] = x0;
        out_i8[global] = x1;
    }

    #[workgroup(128)]
    fn program_220(
        a_bool: bool,
        a_u16: u16,
        in_u16: &[u16],
        out_u16: &mut [u16],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        shared_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        a_f16: f16,
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<i16, 8>::filled(0i16);
        let own1 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        let mut x0: V<u16> = in_u16[(global % (splat(2147483650u32) | 1u32)) % 96u32];
        let mut x1: u32 = 4;
        shared_i32.atomic(out_u32[global + 128] & 15u32).fetch_xor(in_i32[global].min(out_i32[global + 256] * in_i32.uniform(35u32)), Scope::Agent, Ordering::Relaxed);
        for x2 in (((a_i32.wrapping_shl(63u32) & 7i32) - 3i32)..=1i32).rev().step_by(4) {
            for x3 in 4u32..(read_first_lane(in_u32[local]) & 7u32) {
                let mut object0: Option<V<f16>> = None;
                if (x3 | group) > in_u32.uniform(39u32) {
                    cold_path();
                    x0 = x0.wrapping_shr(x0 as u32);
                } else {
                    cold_path();
                    if let Some(x4) = object0 {
                    } else {
                        x0 = (if a_bool { a_u16 } else { a_u16 }) - (a_u16 as u16);
                        x0 = (if splat(f16::from_bits(0x5420 /* 66 */)) != a_f16 { splat(524288i64) } else { a_i64 }).wrapping_shl(34u32) as u16;
                    }
                }
            }
        }
        out_u16[global] = x0;
        out_u32[global] = x1;
    }

    #[workgroup(128)]
    fn program_226(
        in_bf16: &[bf16],
        out_bf16: &mut [bf16],
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<f64> = read_first_lane(in_f64[lane]);
        let mut x1: bf16 = in_bf16[local];
        let mut x2: S<u32> = 0;
        while x2 < 1u32 {
            x2 += 1;
            let x3 = out_f64[global + 512];
            if lane >= lane {
            }
        }
        out_f64[global] = x0;
        out_bf16[global] = x1;
    }

    #[workgroup(64)]
    fn program_227(
        a_bool: bool,
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<i16, 8>::filled(0i16);
        let own1 = Private::<i8, 8>::filled(0i8);
        let mut x0: V<f32> = splat(a_f32);
        if in_f32[global] >= in_f32.uniform(66u32) {
            x0 = x0;
            let mut object0: Result<V<u32>, V<i32>> = if in_f32.load_vector::<4>(either(out_u32[global], |v| v > (lane - splat(a_u32)), |v| v & (lane - splat(a_u32))).unwrap_or(lane) & 127u32).get(2) <= in_f32[global] { Ok(local) } else { Ok(super::bits::table::<u32>(10)[(lane ^ splat(a_u32).wrapping_shl(lane.min(4294967292u32))) & 1023]) };
            x0 *= -55.5;
        }
        let mut object1: V<Cell> = cell(super::bits::table::<u32>(6)[(wave ^ in_u32.uniform(72u32).max(in_u32.uniform(58u32))) & 63], splat(a_i64));
        object1 = if (!(in_i32[local] < in_i32[local])) { cell(lane, splat(16384i64).wrapping_shl(shuffle_xor(splat(0u32), 19))) } else { cell(a_f32.min(a_f32).to_bits_as::<u32>(), wave_exclusive_product(splat(a_i64)) % -3i64) };
        let x1 = object1.step(again(lane, |v| v & splat(2147483649u32)));
        x0 += x0;
        if a_bool {
            let mut x2: V<f32> = select(x1 == 1048576u32, x0, x0);
            let x3: i32;
            if (&in_u32[70u32..70u32 + 56])[(in_u32[global] * 66u32) & 63u32] >= (splat(1i32) as u32) {
                out_u32[global] = wave & in_u32.uniform(19u32);
                x2 = ((a_f32 / a_f32) * select(a_i32 > in_i32[global], x2, 113.625f32)).max(-107.0f32);
                x3 = in_i32[local];
            } else {
                x3 = select(in_i32[global] == out_i32[global + 128], splat(a_f32), f32::from_bits(0x8c237d67)).to_bits_as::<i32>() % (out_i32[global + 128].max(-2147483647i32) | 1i32);
            }
            if x0 <= a_f32 {
            }
        }
        out_f32[global] = x0;
        out_u32[global] = x1;
    }

    #[workgroup(64)]
    fn program_231(
        a_bool: bool,
        a_f16: f16,
        in_f16: &[f16],
        out_f16: &mut [f16],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<f16> = a_f16 as f16;
        x0 += x0;
        for x1 in (4u64..splat(1u64)).rev() {
            let mut x2: S<bool> = (!(!a_bool)) || false;
            for x3 in (18446744073709551612u64..18446744073709551615u64).step_by(4) {
                x2 = any(in_f16[lane] <= in_f16[lane]);
                let mut x4: S<u32> = read_first_lane(lane);
                let mut x5: f16 = in_f16[local];
                x4 = x4.wrapping_shl(4294967291);
            }
        }
        #[unroll]
        for x6 in 0u32..1 {
            x0 += a_f16;
        }
        out_f16[global] = x0;
    }

    #[workgroup(64)]
    fn program_262(
        a_bool: bool,
        out_u8: &mut [u8],
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f64: f64,
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f64, 128>::new();
        lds0[local] = splat(a_f64);
        lds0[local + 64u32] = again(in_f64[local], |v| v - splat(-10.375f64));
        let mut x0: V<u8> = 128;
        let mut x1: i32 = read_lane(in_i32[local], in_u32.uniform(77u32) % 64u32);
        barrier();
        let mut x2: V<u32> = 0;
        loop {
            x2 += 1;
            if x2 > 2u32 {
                cold_path();
                break;
            }
            let mut object0: Result<V<f32>, V<u32>> = if in_i32[lane].max(splat(-3i32)) == splat(-2147483646i32).wrapping_shr(62u32) { Err(out_u32[global].wrapping_shl(37u32)) } else { Err((if false && a_bool { in_u32.uniform(36u32).min(group) } else { 3309693844u32 })) };
        }
        out_u8[global] = x0;
        out_i32[global] = x1;
    }

    #[workgroup(128)]
    fn program_264(
        in_u8: &[u8],
        out_u8: &mut [u8],
        a_u16: u16,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        let own0 = Private::<u8, 8>::filled(0u8);
        let own1 = Private::<u64, 8>::filled(0u64);
        lds0[local] = in_u32[global] + in_u32[local];
        let mut x0: V<i32> = in_i32[lane].max(-2147483648i32) / (in_i32[local] | 1i32);
        let x2: V<u8>;
        if (a_u32 as u32) > (wave + group) {
            let mut object0: Thing = Thing::Wide(splat(-9191772365970224498i64));
            x0 = x0;
            let x1: i32;
            if (a_u16 == a_u16) || (out_f32[global + 256] >= -24.875f32) {
                x1 = splat(0i32) - -2147483648i32;
            } else {
                x1 = in_i32[local % 96u32];
            }
            x2 = shuffle(splat(129u8), lane);
        } else {
            x2 = in_u8[local].max(splat(13u8));
        }
        out_i32[global] = x0;
        out_u8[global] = x2;
    }

    #[workgroup(64)]
    fn program_265(
        a_i8: i8,
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        in_f16: &[f16],
        out_f16: &mut [f16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f16, 128>::new();
        let own0 = Private::<f64, 8>::filled(0.0f64);
        let own1 = Private::<u8, 8>::filled(0u8);
        lds0[local] = shuffle(out_f16[global + 64], splat(a_f32).to_bits_as::<u32>());
        lds0[local + 64u32] = in_f16[lane];
        let mut x0: V<u32> = super::bits::table::<u32>(10)[(lane ^ (global - in_u32[lane])) & 1023];
        out_u32[global + 128] = in_u32[local];
        lds0[local] = in_f16[global];
        let mut object0: V<Cell> = if (x0 & x0) > x0.wrapping_shr(9u32) { cell((group as u32) | (wave ^ wave), splat(-850774377047107296i64) * in_i64.load_vector::<2>(shuffle(in_u32[global], x0 | wave) & 127u32).get(1)) } else { cell(select(x0 > x0, in_u32[local], in_u32[global]) % (x0.wrapping_shl(63u32) | 1u32), in_i64[lane] * a_i64) };
        let mut x1: u32 = a_u32;
        x1 = group;
        {
            let (x2, x3) = (object0.low, object0.wide);
            out_f32[global] = in_f32[(x2 ^ x0) % 96u32].min(-65.875f32);
            if (&in_u32[54u32..54u32 + 51])[x2.max(lane) & 63u32] == 10u32 {
                cold_path();
                for x4 in (2u32..(x2 & 7u32)).step_by(2) {
                    match a_i8 {
                        -4i8..=3i8 => {
                        }
                        _ => {
                        }
                    }
                }
            }
        }
        out_u32[global] = x0;
        out_u32[global + 64] = x1;
    }

    #[workgroup(64)]
    fn program_266(
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u64: &[u64],
        out_u64: &mut [u64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<i32> = in_i32.uniform(96u32) & -2147483648i32;
        let mut x1: u64 = in_u64.uniform(85u32);
        let x2 = either(in_i32[lane], |v| v > (in_i32[local] as i32), |v| v.min(in_i32[local] as i32)).unwrap_or(in_i32[global].max(splat(a_i32))) / (in_i32[local] | 1i32);
        for x3 in (0u64..splat(5u64)).rev() {
            for x4 in (252u8..=splat(255u8)).rev() {
                x0 = splat(48i32);
                x0 = x2 ^ 0i32;
            }
        }
        out_i32[global] = x0;
        out_u64[global] = x1;
        out_i32[global + 128] = x2;
    }

    #[workgroup(64)]
    fn program_274(
        a_i8: i8,
        in_i8: &[i8],
        out_i8: &mut [i8],
        a_i16: i16,
        a_u16: u16,
        in_u16: &[u16],
        out_u16: &mut [u16],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        a_bf16: bf16,
        in_bf16: &[bf16],
        a_f32: f32,
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        let lds1 = Lds::<f32, 128>::new();
        lds0[local] = out_u32[global + 128] as u32;
        lds0[local + 64u32] = in_u32[local];
        lds1[local] = splat(a_f32).mul_add(f32::from_bits(0x3bf24dd5), out_f32[global + 64]);
        lds1[local + 64u32] = splat(a_f32);
        let x0 = in_u32[local];
        let mut x1: u16 = (splat(65532u16).wrapping_shl(x0) as u16) - (in_u16[global] - again(in_u16[local], |v| v | (a_i16.to_bits_as::<u16>() & a_u16.max(a_u16))));
        let mut x2: V<u16> = in_u16.load_vector::<4>(x0.wrapping_shr(in_u32[local]) & 127u32).get(1) | shuffle(x1, (if splat(bf16::from_bits(0x4d9b /* 325058560 */)) == in_bf16[lane] { x0 } else { wave }));
        let mut x3: V<u32> = 0;
        loop {
            x3 += 1;
            if x3 > 4u32 {
                cold_path();
                break;
            }
            let mut x4: S<u32> = a_bf16 as u32;
        }
        x2 -= in_u16[lane];
        lds1[local] = out_f32[global] - a_f32;
        match (-out_i8[global + 64]) + splat(a_i8).max(in_i8[local]) {
            6i8..=11i8 => {
                x1 |= x2;
            }
            _ => {
                let mut object0: V<Cell> = if group < 3u32 { cell(group + (wave ^ group), splat(0i64).wrapping_shl(58u32) ^ a_i64) } else { cell(global, in_i64[local]) };
                x1 &= select(local != x0, in_u16[lane] | 32769u16, 0u16);
            }
        }
        let mut x5: u16 = a_u16.to_bits_as::<u16>() - a_u16;
        let mut object1: Word = Word::Left(splat(in_u32[local]));
        out_u32[global] = x0;
        out_u16[global] = x1;
        out_u16[global + 64] = x2;
        out_u16[global + 128] = x5;
    }

    #[workgroup(128)]
    fn program_276(
        a_bool: bool,
        in_u8: &[u8],
        a_u16: u16,
        in_u16: &[u16],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        shared_i64: &mut [i64],
        a_f16: f16,
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<i32> = in_i32[local];
        if 73i32 <= x0 {
            x0 = x0.wrapping_shl(in_u32[local]);
            shared_i64.atomic(global.min(local) & 15u32).fetch_and((&in_f64[92u32..92u32 + 5])[(lane - a_u32) & 63u32].to_bits_as::<i64>(), Scope::Agent, Ordering::Relaxed);
        } else {
            shared_i64.atomic(splat(a_u32).min(61u32) & 15u32).fetch_and(splat(a_i64), Scope::Agent, Ordering::Relaxed);
            let mut object0: Result<V<u32>, V<i32>> = if x0 > -2147483648i32 { Ok((a_bool as f16) as u32) } else { Ok(in_u32[local] ^ in_u32[local]) };
        }
        let mut object1: Thing = if x0 <= x0 { Thing::Number(in_u32[local]) } else { Thing::Nothing };
        let mut object2: [V<f32>; 3] = if -3i32 <= a_i32.min(a_i32) { [splat(35.875f32), splat(a_f32), x0.to_bits_as::<f32>().round_ties_even()] } else { [in_f32[global], (lane != 2335933075u32) as f32, in_f32[global]] };
        if 0i32 > (a_f16 as i32) {
            x0 *= in_i32[local];
            let mut object3: Result<V<f32>, V<u32>> = if in_u8.load_vector::<4>((local / 2147483649u32) & 127u32).get(1) != 2u8 { Ok(shuffle(splat(f32::from_bits(0x7f61b1e6)), splat(2147483648u32) / 7u32) - super::bits::table::<f32>(6)[(lane ^ out_u32[global + 128]) & 63]) } else { Ok(read_first_lane(out_f32[global + 256] / 93.75f32)) };
        } else {
            cold_path();
            for e in object2.iter_mut() {
                *e -= a_f32;
            }
        }
        x0 = in_i32.uniform(11u32).wrapping_shl(45u32);
        match object1 {
            Thing::Nothing => {
                if (in_u16[global] as f64) < f64::from_bits(0x386f879bea9cdd43) {
                    x0 *= -2147483647;
                    x0 -= 1024;
                    let x1: u32;
                    if x0 == (splat(a_f32) as i32) {
                        x1 = (if a_u16 >= a_u16 { a_u32 | 2147483649u32 } else { in_u32.uniform(80u32).max(2147483649u32) });
                    } else {
                        x1 = splat(86u32).wrapping_shl(in_u32[global]).wrapping_shr(in_u32[global]);
                    }
                }
            }
            Thing::Number(x2) => {
            }
            Thing::Both { near: x3, far: x4 } => {
            }
            Thing::Wide(x5) => {
            }
        }
        out_i32[global] = x0;
    }

    #[workgroup(128)]
    fn program_281(
        a_i8: i8,
        in_i8: &[i8],
        out_i8: &mut [i8],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_f16: &[f16],
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f16, 128>::new();
        let lds1 = Lds::<u32, 128>::new();
        lds0[local] = in_f16[global];
        lds1[local] = in_u32[local].wrapping_shl(11u32);
        let mut x0: V<f32> = in_f32[lane % 96u32].mul_add(-67.125f32, select(in_i32[global] < in_i32[local], in_f32[global], out_f32[global + 256]));
        let mut x1: u32 = global as u32;
        let mut x2: S<i8> = a_i8 ^ a_i8;
        x2 = a_i8 + 0i8;
        let mut x3: i32 = (!(splat(-794017209i32) + out_i32[global]));
        x1 = read_lane(select(x3 >= a_i32, in_u32[global], in_u32.uniform(5u32)), (group - a_u32) % 64u32);
        let mut object0: Result<V<u32>, V<i32>> = Err(read_first_lane((if splat(a_i32) > x3 { x3 } else { x3 })));
        x2 = x2.wrapping_shl(26u32).wrapping_shr(47u32);
        if x3 == in_i32.uniform(4u32) {
            cold_path();
            match object0 {
                Ok(x4) => {
                    match in_i8[local] {
                        6i8..=127i8 => {
                            x1 = x1.wrapping_shr(in_i8[lane] as u32);
                            #[unroll]
                            for x5 in 0u32..3 {
                                x0 *= x0;
                                x0 = x0;
                            }
                            let x6 = splat(a_i32) | x0.to_bits_as::<i32>();
                        }
                        6i8 => {
                            lds1[local] = x4 - x1;
                            x1 = select(local < x4, x1.wrapping_shl(66u32), x1 % 1u32).min(object0.map_or(x1, |v| v * x4));
                        }
                        -2i8..=3i8 => {
                            x1 = (x1 - global) % 53u32;
                            x3 = in_i32[local] & x3;
                        }
                        _ => {
                        }
                    }
                }
                Err(x7) => {
                }
            }
        }
        out_f32[global] = x0;
        out_u32[global] = x1;
        out_i8[global] = x2;
        out_i32[global] = x3;
    }

    #[workgroup(128)]
    fn program_283(
        a_bool: bool,
        a_u8: u8,
        in_u8: &[u8],
        out_u8: &mut [u8],
        in_i32: &[i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<u32> = (&in_u32[18u32..18u32 + 53])[shuffle(lane, wave_exclusive_max(in_u32[local])) & 63u32];
        let mut x1: u8 = in_u8[local] & splat(a_u8);
        let mut x2: V<bool> = all(in_i32[local] == in_i32[global]);
        x0 = in_u32[lane];
        let mut object0: Result<V<f32>, V<u32>> = if a_bool { Ok(in_f32[lane]) } else { Err(x0.max(x0)) };
        x2 = in_u8[local] == x1;
        x2 = ((x0 ^ x0) + x0.wrapping_shl(14u32)) <= (x0.wrapping_shr(13u32) / ((local ^ global) | 1u32));
        let mut object1: Word = Word::Right(splat(out_f32[global].mul_add(f32::from_bits(0x7fc00000), in_f32[lane])));
        match object1 {
            Word::Left(x3) => {
                match object0 {
                    Ok(x4) => {
                        let mut x5: bool = splat(6i64) <= in_i64[global];
                    }
                    Err(x6) => {
                    }
                }
            }
            Word::Right(x7) => {
            }
        }
        out_u32[global] = x0;
        out_u8[global] = x1;
        out_u8[global + 256] = x2 as u8;
    }

    #[workgroup(128)]
    fn program_286(
        out_u8: &mut [u8],
        in_i16: &[i16],
        a_u16: u16,
        in_u16: &[u16],
        out_u16: &mut [u16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        out_i64: &mut [i64],
        a_f32: f32,
        in_f32: &[f32],
        a_f64: f64,
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        lds0[local] = lane.max(55u32);
        let mut x0: S<u32> = a_u32;
        let mut x1: bool = false;
        x1 = (in_f32.load_vector::<4>((lane + x0) & 127u32).get(2) * 65504.0f32) <= a_f32;
        x1 = (a_f64 < (if global >= in_u32[local] { in_f64[global] } else { in_f64[local] })) && (x0.max(a_u32) <= 6u32);
        let mut x2: V<i64> = in_i64[local];
        lds0[local] = in_u32[global];
        barrier();
        let mut object0: Long = Long::Right(splat(in_i16[local].to_bits_as::<u16>() - ((0u16 - out_u16[global + 128]) % (in_u16[global].wrapping_shl(local + in_u32[global]) | 1u16))));
        for x3 in (127i8..splat(127i8)).step_by(4) {
            if all(in_f32[local] != in_f32.uniform(90u32)) {
                cold_path();
                let mut x4: V<f32> = 68.875;
            } else {
                cold_path();
                object0 = if (-a_f32) <= 105.25f32 { Long::Left(splat(17592186044416i64 * x2)) } else { Long::Right(splat(splat(a_u16).min(2u16))) };
            }
            match object0 {
                Long::Left(x5) => {
                    x1 = in_f32[local] >= (local as f32);
                    match object0 {
                        Long::Left(x6) => {
                            let x7 = lds0[in_u32[local] & 127u32];
                        }
                        Long::Right(x8) => {
                        }
                    }
                }
                Long::Right(x9) => {
                }
            }
        }
        out_u32[global] = x0;
        out_u8[global] = x1 as u8;
        out_i64[global] = x2;
    }

    #[workgroup(128)]
    fn program_287(
        out_u8: &mut [u8],
        a_i16: i16,
        in_i16: &[i16],
        out_i16: &mut [i16],
        a_u16: u16,
        in_u16: &[u16],
        a_u32: u32,
        in_u32: &[u32],
        shared_u32: &mut [u32],
        in_i64: &[i64],
        a_u64: u64,
        in_u64: &[u64],
        a_f32: f32,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u16, 128>::new();
        let lds1 = Lds::<u32, 128>::new();
        lds0[local] = in_u16[global] - 29335u16;
        lds1[local] = in_u32[lane] + global;
        let x0 = in_i64[local] < in_i64[lane];
        let mut x1: i16 = out_i16[global + 128] - -1i16;
        x1 -= (x1 | x1) ^ (a_i16 & a_i16);
        barrier();
        let x2 = x1.min(x1) <= (a_i16 * a_i16);
        let mut object0: Word = if x0 { Word::Right(splat(in_f32[local])) } else { Word::Left(splat(splat(0u32).wrapping_shr(13u32))) };
        if (!(in_u64[local] != splat(2093597301269287965u64))) {
            cold_path();
            if (a_f32 + in_f32.uniform(66u32)) < a_f32 {
                let x3 = lds0[(a_u32 | in_u32[local]) & 127u32];
                x1 = select(x2, splat(1i16), a_i16);
                let x4 = lds0[(in_u32[local] * local) & 127u32];
            }
            x1 ^= out_i16[global];
            shared_u32.atomic(global & 15u32).fetch_min(a_f32.to_bits_as::<u32>() ^ group, Scope::Agent, Ordering::Relaxed);
            let mut x5: u16 = splat(0u16) + splat(a_u16);
        } else {
            cold_path();
            match object0 {
                Word::Left(x6) => {
                    let mut object1: Result<V<u32>, V<i32>> = if super::bits::table::<f16>(6)[(wave ^ group) & 63] < f16::from_bits(0xd1dc /* -46.875 */) { Ok(select(x6 < x6, x6, 0u32)) } else { Ok(in_i16[in_u32[local] % 96u32] as u32) };
                    x1 &= 79;
                    x1 = again(x1 ^ in_i16[lane], |v| v ^ (x1 % -32765i16));
                    for x7 in (0u64..(splat(a_u64) & 7u64)).rev() {
                    }
                }
                Word::Right(x8) => {
                }
            }
        }
        out_u8[global] = x0 as u8;
        out_i16[global] = x1;
        out_u8[global + 128] = x2 as u8;
    }
}

pub const SAMPLE: &[Sampled] = &[
    (3, |target, options| program_3.build_with(target, options).map(BuiltKernel::into_any)),
    (10, |target, options| program_10.build_with(target, options).map(BuiltKernel::into_any)),
    (22, |target, options| program_22.build_with(target, options).map(BuiltKernel::into_any)),
    (30, |target, options| program_30.build_with(target, options).map(BuiltKernel::into_any)),
    (35, |target, options| program_35.build_with(target, options).map(BuiltKernel::into_any)),
    (41, |target, options| program_41.build_with(target, options).map(BuiltKernel::into_any)),
    (52, |target, options| program_52.build_with(target, options).map(BuiltKernel::into_any)),
    (75, |target, options| program_75.build_with(target, options).map(BuiltKernel::into_any)),
    (93, |target, options| program_93.build_with(target, options).map(BuiltKernel::into_any)),
    (97, |target, options| program_97.build_with(target, options).map(BuiltKernel::into_any)),
    (102, |target, options| program_102.build_with(target, options).map(BuiltKernel::into_any)),
    (108, |target, options| program_108.build_with(target, options).map(BuiltKernel::into_any)),
    (109, |target, options| program_109.build_with(target, options).map(BuiltKernel::into_any)),
    (129, |target, options| program_129.build_with(target, options).map(BuiltKernel::into_any)),
    (162, |target, options| program_162.build_with(target, options).map(BuiltKernel::into_any)),
    (172, |target, options| program_172.build_with(target, options).map(BuiltKernel::into_any)),
    (178, |target, options| program_178.build_with(target, options).map(BuiltKernel::into_any)),
    (182, |target, options| program_182.build_with(target, options).map(BuiltKernel::into_any)),
    (198, |target, options| program_198.build_with(target, options).map(BuiltKernel::into_any)),
    (204, |target, options| program_204.build_with(target, options).map(BuiltKernel::into_any)),
    (208, |target, options| program_208.build_with(target, options).map(BuiltKernel::into_any)),
    (220, |target, options| program_220.build_with(target, options).map(BuiltKernel::into_any)),
    (226, |target, options| program_226.build_with(target, options).map(BuiltKernel::into_any)),
    (227, |target, options| program_227.build_with(target, options).map(BuiltKernel::into_any)),
    (231, |target, options| program_231.build_with(target, options).map(BuiltKernel::into_any)),
    (262, |target, options| program_262.build_with(target, options).map(BuiltKernel::into_any)),
    (264, |target, options| program_264.build_with(target, options).map(BuiltKernel::into_any)),
    (265, |target, options| program_265.build_with(target, options).map(BuiltKernel::into_any)),
    (266, |target, options| program_266.build_with(target, options).map(BuiltKernel::into_any)),
    (274, |target, options| program_274.build_with(target, options).map(BuiltKernel::into_any)),
    (276, |target, options| program_276.build_with(target, options).map(BuiltKernel::into_any)),
    (281, |target, options| program_281.build_with(target, options).map(BuiltKernel::into_any)),
    (283, |target, options| program_283.build_with(target, options).map(BuiltKernel::into_any)),
    (286, |target, options| program_286.build_with(target, options).map(BuiltKernel::into_any)),
    (287, |target, options| program_287.build_with(target, options).map(BuiltKernel::into_any)),
];
