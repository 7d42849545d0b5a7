//! Made from random programs; see `through_macro.rs`.

use gcn_dsl::BuiltKernel;
use gcn_dsl::prelude::*;

use super::shapes::{Machine, Pair, Thing, again, either};
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
            let mut x1: V<i16> = (splat(a_i16) ^ in_i16[global]) / -23189i16;
            let mut x2: V<u32> = 0;
            loop {
                x2 += 1;
                if x2 > 4u32 {
                    cold_path();
                    break;
                }
                x1 = x1.wrapping_shl(5);
                let mut x3: V<i16> = in_i16[lane].wrapping_shr(14u32) | x1.to_bits_as::<i16>();
            }
            for x4 in (((out_u16[global] - splat(65535u16)) & 7u16)..=5u16).rev().step_by(1) {
                x0 = (x0 as f32) + -0.0f32;
            }
        }
        out_f32[global] = x0;
    }

    #[workgroup(64)]
    fn program_6(
        a_bool: bool,
        in_i8: &[i8],
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        out_i64: &mut [i64],
        in_f32: &[f32],
        a_f64: f64,
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        lds0[local] = splat(0u32);
        lds0[local + 64u32] = out_u32[global + 256].wrapping_shl(in_u32[lane].to_bits_as::<u32>());
        let x0 = in_f64.uniform(63u32) * a_f64.to_bits_as::<f64>();
        let mut x1: V<i64> = (in_i8[local] > -6i8) as i64;
        let mut object0: Pair = Pair { count: either(global.max(in_u32[local]), |v| v > wave_inclusive_and(in_u32[in_u32[lane] % 96u32]), |v| v.min(wave_inclusive_and(in_u32[in_u32[lane] % 96u32]))).unwrap_or(in_u32[local] % 51u32), level: (&in_f32[(a_u32.wrapping_shr(3u32) & 127u32)..(a_u32.wrapping_shr(3u32) & 127u32) + 62])[(lane - in_u32[local]) & 63u32] };
        x1 = x1.wrapping_shl(select((-223261303i32 == in_i32[lane]) || (local >= in_u32[global]), (&in_u32[70u32..70u32 + 0])[(in_f32[local] as u32) & 63u32], 2147483648u32));
        x1 = out_i64[global + 256];
        let mut x2: S<u32> = 0;
        while x2 < 5u32 {
            x2 += 1;
            for x3 in (again(local, |v| v.max(in_u32.load_vector::<4>(global & 127u32).get(0))) & 7u32)..=4u32 {
                {
                    let Pair { count: x4, level: x5 } = object0;
                    out_i32[global] = x5.to_bits_as::<i32>();
                    {
                        let Pair { count: x6, level: x7 } = object0;
                        if a_bool {
                            cold_path();
                            break;
                        }
                        lds0[local] = object0.peek();
                        x1 ^= either(in_i64.load_vector::<2>((local % 4294967293u32) & 127u32).get(0), |v| v > (in_i64.uniform(6u32) | (x1 + x1)), |v| v - (in_i64.uniform(6u32) | (x1 + x1))).unwrap_or(either(x1, |v| v > x1, |v| v - x1).unwrap_or((a_i64 | a_i64) - a_i64.wrapping_shr(19u32)).wrapping_shr(25u32));
                    }
                }
            }
        }
        out_f64[global] = x0;
        out_i64[global] = x1;
    }

    #[workgroup(64)]
    fn program_10(
        a_i8: i8,
        in_i8: &[i8],
        in_u8: &[u8],
        out_u8: &mut [u8],
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        a_i64: i64,
        in_i64: &[i64],
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
                let mut object0: Thing = if x0 { Thing::Wide((!in_i64[global])) } else { Thing::Wide(in_i64.uniform(23u32).min(19i64).max(a_i64)) };
                let mut x3: S<u32> = 0;
                while x3 < 5u32 {
                    x3 += 1;
                    match (in_i8[local] + (a_i8 - a_i8)) & 7i8 {
                        127i8 => {
                            let mut x4: V<u32> = 11u32 * own1[(4294967292u32 * global) & 7u32];
                            x4 += in_u32[global].wrapping_shr(20u32) & own1[(in_u32.uniform(23u32) ^ in_u32[local]) & 7u32];
                            x4 *= (x4 % 371870897u32) & wave.to_bits_as::<u32>();
                            x4 *= (x4 * 2147483648u32) % 764475215u32;
                        }
                        -3i8..=3i8 => {
                        }
                        7i8..=127i8 => {
                        }
                        _ => {
                        }
                    }
                }
            }
        }
        out_u8[global] = x0 as u8;
        out_i32[global] = x1;
    }

    #[workgroup(64)]
    fn program_29(
        out_i8: &mut [i8],
        a_i16: i16,
        out_i16: &mut [i16],
        out_i32: &mut [i32],
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
        let mut x1: S<i8> = 3;
        let x5: V<f32>;
        if splat(a_f32) < splat(a_f32) {
            let mut x2: S<u32> = 0;
            while x2 < 4u32 {
                x2 += 1;
                x0 -= x0 * wave_sum(splat(a_i16));
                let mut object0: (V<i32>, V<f64>) = (out_i32[global + 64], in_f64[splat(32768u32) % 96u32]);
                {
                    let (x3, x4) = object0;
                }
            }
            x5 = in_f32[global];
        } else {
            x5 = super::bits::table::<f32>(7)[(global ^ (local * global)) & 127];
        }
        out_i16[global] = x0;
        out_i8[global] = x1;
        out_f32[global] = x5;
    }

    #[workgroup(64)]
    fn program_30(
        a_bool: bool,
        a_i32: i32,
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<f32> = -78.375;
        let x1 = select(x0 >= 0.1f32, lane | in_u32[local], 2147483650u32);
        x0 = ((&in_f32[(a_u32 & 127u32)..(a_u32 & 127u32) + 17])[(x1 / 2147483649u32) & 63u32] - -110.625f32).trunc();
        let mut object0: Option<V<u32>> = Some(x1.to_bits_as::<u32>());
        object0 = if (!((x0 == f32::from_bits(0x67de4ef1)) || (x0 > x0))) { None } else { None };
        let mut object1: (V<i32>, V<f64>) = if in_u32.uniform(61u32).wrapping_shl(21u32) >= (a_u32 + a_u32) { ((x0 as f32) as i32, in_f64[lane].ceil()) } else { (read_lane(splat(0i32), group.wrapping_shl(34u32) % 64u32).max(in_i32.uniform(77u32).wrapping_shr(group - group)), in_f64[local]) };
        out_u32[global + 256] = global.max(6u32) & (a_u32 - wave);
        for x2 in (9223372036854775804i64..9223372036854775807i64).step_by(3) {
            if (!(false && a_bool)) {
                let mut object2: Option<V<u32>> = if (in_i32.uniform(10u32) ^ a_i32) == in_u32.uniform(55u32).to_bits_as::<i32>() { Some(object0.map_or((in_i32[lane] / 5i32).to_bits_as::<u32>(), |v| v | select(x0 < splat(a_f32), x1.min(384159526u32), a_u32))) } else { None };
                for x3 in (0i32..splat(3i32)).rev() {
                }
            }
        }
        out_f32[global] = x0;
        out_u32[global] = x1;
    }

    #[workgroup(128)]
    fn program_35(
        a_i16: i16,
        in_i16: &[i16],
        a_u16: u16,
        a_u32: u32,
        a_i64: i64,
        out_i64: &mut [i64],
        a_u64: u64,
        in_u64: &[u64],
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<i64> = select(splat(a_u32) == local, splat(a_i64), a_i64) & 7275738024802130578i64;
        let mut object0: Option<V<i16>> = if in_u64[local] < a_u64.wrapping_shr(a_u32 ^ a_u32) { Some(in_i16[lane % 96u32] - a_i16) } else { Some(in_i16[local]) };
        let mut x1: V<u32> = 0;
        while x1 < 4u32 {
            x1 += 1;
            if splat(-0.0f32) < in_f32[local] {
                cold_path();
                if splat(a_u16) <= a_u16 {
                    cold_path();
                    x0 &= x0.min(-9223372036854775807i64) & 5i64;
                    x0 += -1;
                    x0 &= -7;
                    x0 -= 7;
                }
            }
        }
        out_i64[global] = x0;
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

    #[workgroup(128)]
    fn program_53(
        a_bool: bool,
        in_u32: &[u32],
        out_u32: &mut [u32],
        shared_u32: &mut [u32],
        in_i64: &[i64],
        out_i64: &mut [i64],
        in_u64: &[u64],
        a_f32: f32,
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<i64, 8>::filled(0i64);
        let mut x0: S<u32> = in_u32.uniform(6u32);
        if splat(f32::from_bits(0xa57fb520)) == (in_u64[local] as f32) {
            cold_path();
            return;
        }
        let mut x1: S<i64> = in_i64.uniform(74u32);
        let mut x2: S<f32> = a_f32.min(a_f32.mul_add(39.875f32, a_f32));
        shared_u32.atomic((global - global) & 15u32).fetch_or(super::bits::table::<u32>(7)[(lane ^ global) & 127], Scope::Agent, Ordering::Relaxed);
        let mut object0: Thing = if a_bool { Thing::Nothing() } else { Thing::Number(shuffle((in_u32[lane] & 32768u32).min(splat(68u32)), splat(a_f32) as u32)) };
        let mut x3: V<u32> = in_u32[local];
        let mut x4: S<f32> = 62.75;
        x2 = x4.min(a_f32) - -92.125f32;
        if x2 != x4.max(2.25f32) {
        }
        out_u32[global] = x0;
        out_i64[global] = x1;
        out_f32[global] = x2;
        out_u32[global + 256] = x3;
        out_f32[global + 256] = x4;
    }

    #[workgroup(64)]
    fn program_57(
        a_bool: bool,
        out_u8: &mut [u8],
        out_i16: &mut [i16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        in_bf16: &[bf16],
        out_bf16: &mut [bf16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
        a_f64: f64,
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<f64, 8>::filled(0.0f64);
        let x0 = a_bool;
        let x1 = in_f32[lane];
        let mut x2: V<f32> = x1;
        out_f32[global + 64] = x2;
        let mut x3: V<bf16> = again(splat(bf16::from_bits(0x42d4 /* 106 */)), |v| v + select(splat(bf16::from_bits(0x42dc /* 110 */)) <= in_bf16[local], shuffle_xor(out_bf16[global + 64], 48), in_bf16[local]));
        out_f32[global] = (if in_u32.uniform(26u32) >= wave { in_f32.uniform(21u32) + a_f32 } else { in_f32.uniform(18u32).floor() });
        for x4 in 4294967294u32..splat(4294967295u32) {
            x3 = x3;
        }
        let mut x5: V<u32> = 0;
        while (x5 < 5u32) && (x2 == -99.125f32) {
            x5 += 1;
            let mut object0: Option<V<f32>> = None;
        }
        let mut object1: Pair = if shuffle(out_i16[global + 64], in_u32[local]) != -2i16 { Pair { count: again(out_u32[global + 128], |v| v.max(in_u32[local])), level: in_f32[local] } } else { Pair { count: in_u32[local], level: a_f32 as f32 } };
        x2 *= f32::from_bits(0xaece530);
        let x7: V<f64>;
        if ((in_i64[global] > in_i64[local]) as u32) == either(in_u32[lane], |v| v > lane.min(global), |v| v.min(lane.min(global))).unwrap_or(super::bits::table::<u32>(6)[(lane ^ ((wave | lane) & (group | 2725321582u32))) & 63]) {
            for x6 in (5i64..=(((a_i64 ^ a_i64) & 7i64) - 3i64)).rev() {
                let mut object2: Thing = Thing::Number(either(global - 524288u32, |v| v > ((lane % ((wave + local) | 1u32)) ^ object1.count), |v| v * ((lane % ((wave + local) | 1u32)) ^ object1.count)).unwrap_or(global));
            }
            x7 = in_f64[lane].mul_add(119.25f64, splat(-0.75f64));
        } else {
            x7 = read_lane(out_f64[global + 64], a_u32.min(15u32) % 64u32) - a_f64.min(f64::from_bits(0x37a16c262777579c));
        }
        out_u8[global] = x0 as u8;
        out_f32[global] = x1;
        out_f32[global + 64] = x2;
        out_bf16[global] = x3;
        out_f64[global] = x7;
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
        let mut x1: S<f16> = a_f16 - a_f16;
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
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i8, 128>::new();
        let own0 = Private::<u16, 8>::filled(0u16);
        lds0[local] = out_i8[global + 256].max(43i8);
        lds0[local + 64u32] = in_i8[lane];
        let mut x0: V<f32> = out_f32[global];
        let mut x1: V<u32> = select(x0 <= x0, (if x0 >= f32::from_bits(0x4e96f137) { in_u32[global % 96u32] } else { (&in_u32[((a_u32 / 1u32) & 127u32)..((a_u32 / 1u32) & 127u32) + 36])[in_u32[in_u32[global] % 96u32] & 63u32] }), a_u32);
        x1 *= 1024;
        let mut object0: Option<V<i16>> = if a_f32 <= x0 { Some((x0 >= x0) as i16) } else { Some(in_i16[local]) };
        barrier();
        out_f32[global + 128] = splat(a_f32);
        let mut x2: S<i16> = a_i16 % (a_i16.wrapping_shl(group) | 1i16);
        for x3 in (4u32..(wave & 7u32)).rev().step_by(1) {
            object0 = Some(splat(a_i16));
            let mut x4: V<f32> = splat(51.125f32).to_bits_as::<f32>();
            out_u32[global + 256] = in_u32[local] / 1u32;
            if let Some(x5) = object0 {
                let mut x6: V<u32> = 0;
                while (x6 < 5u32) && ((x0 == a_f32) && (x4 >= x0)) {
                    x6 += 1;
                }
            } else {
                let mut object1: Thing = if either(x1, |v| v > x1, |v| v & x1).unwrap_or(wave) > 13u32 { Thing::Number(either(in_i32[global].min(splat(0i32)).to_bits_as::<u32>(), |v| v > x1, |v| v.min(x1)).unwrap_or(in_u32[lane].wrapping_shr(39u32))) } else { Thing::Both { near: (x1 < x3.wrapping_shl(64u32)) as i32, far: in_f32[lane].mul_add(-81.125f32, x0) } };
            }
        }
        out_f32[global] = x0;
        out_u32[global] = x1;
        out_i16[global] = x2;
    }

    #[workgroup(128)]
    fn program_96(
        a_bool: bool,
        a_u8: u8,
        out_u8: &mut [u8],
        in_i16: &[i16],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        out_i64: &mut [i64],
        in_bf16: &[bf16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i64, 128>::new();
        let own0 = Private::<i16, 8>::filled(0i16);
        lds0[local] = splat(a_i64);
        let mut x0: S<u32> = in_u32.uniform(22u32);
        let mut x1: S<f32> = a_f32;
        let x2 = (if a_bool { wave } else { 2147483649u32 }) % 1u32;
        let mut x3: V<bool> = in_f32[lane] <= x1;
        for x4 in ((a_u8.min(a_u8) & 7u8)..=((a_u8 * a_u8) & 7u8)).step_by(4) {
            lds0[local] = in_i64[local] - 5i64;
            out_f32[global + 256] = out_f32[global + 128];
            x0 = (x1 - x1) as u32;
            let mut x5: V<f32> = in_f32[local].abs();
        }
        let x7: V<f32>;
        if read_first_lane(in_bf16[global]) >= (x1 as bf16) {
            let mut x6: S<u32> = 0;
            while x6 < 2u32 {
                x6 += 1;
                lds0[local] = (splat(3i64) % -9223372036854775807i64) | in_i64[in_u32[global] % 96u32];
                lds0[local] = select(x3, in_i64[lane], out_i64[global + 128]) ^ out_i64[global + 128];
            }
            x7 = splat(-58.875f32);
        } else {
            own0[7u32] = in_i16[local];
            x0 = in_u32.uniform(69u32);
            x7 = (x1 + in_f32.uniform(35u32)).mul_add(-43.125f32, a_f32 / x1);
        }
        out_u32[global] = x0;
        out_f32[global] = x1;
        out_u32[global + 128] = x2;
        out_u8[global] = x3 as u8;
        out_f32[global + 128] = x7;
    }

    #[workgroup(64)]
    fn program_97(
        a_bool: bool,
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        a_bf16: bf16,
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u16, 128>::new();
        lds0[local] = wave_inclusive_xor(splat(0u16));
        lds0[local + 64u32] = (f32::from_bits(0x9a724b07) > in_f32[local]) as u16;
        let x0 = splat(27.375f32);
        let mut object0: (V<i32>, V<f64>) = if a_bool { (out_i32[global + 64].wrapping_shr(local / (in_u32[global] | 1u32)), super::bits::table::<f64>(7)[(lane ^ (global % 4294967291u32)) & 127]) } else { ((splat(a_i32) * in_i32.uniform(70u32)) + 0i32, in_f64[local]) };
        let mut object1: Thing = Thing::Nothing();
        match object1 {
            Thing::Nothing => {
                for x1 in ((in_u32[lane] & 7u32)..(super::bits::table::<u32>(7)[(global ^ in_u32[local]) & 127] & 7u32)).rev() {
                    let mut x2: V<u32> = 0;
                    while x2 < 1u32 {
                        x2 += 1;
                        let x3 = in_f32.uniform(58u32) - a_f32;
                        object1 = Thing::Both { near: in_i32[x1 % 96u32], far: in_f32.load_vector::<4>(again(x1, |v| v + (x1 / ((out_u32[global + 64] ^ x1) | 1u32))) & 127u32).get(2) };
                    }
                    if any(-47.5f32 == x0) || true {
                        let mut x4: S<u32> = 0;
                        while (x4 < 3u32) && (all(x0 < a_f32) && (a_bf16 < bf16::from_bits(0xc219 /* -38.25 */))) {
                            x4 += 1;
                            out_f32[global + 64] = splat(-81.0f32);
                            object0.0 = out_i32[global].wrapping_shr(12u32);
                            let x5 = in_f32[local];
                            object0 = (super::bits::table::<i32>(7)[(global ^ shuffle(x1.max(in_u32[global]), x1)) & 127], read_first_lane(in_f64[x1 % 96u32]));
                        }
                        let x6 = shuffle(x0, splat(1974370136i32).to_bits_as::<u32>());
                    }
                    object1 = Thing::Wide(in_i64[lane].wrapping_shr(x1 + 80u32));
                }
            }
            Thing::Number(x7) => {
            }
            Thing::Both { near: x8, far: x9 } => {
            }
            Thing::Wide(x10) => {
            }
        }
        out_f32[global] = x0;
    }

    #[workgroup(128)]
    fn program_98(
        a_i32: i32,
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<u32> = in_u32[local] - (lane * (a_u32 & 2147483648u32));
        let x1 = a_f32;
        let x2 = wave.wrapping_shl(in_u32.uniform(73u32)) - in_u32.uniform(22u32);
        x0 = in_u32[local].to_bits_as::<u32>();
        let mut object0: Thing = if (!(in_i32[global] > in_i32.uniform(66u32))) { Thing::Number(x0.to_bits_as::<u32>()) } else { Thing::Wide(a_i64 & in_i64[local]) };
        let mut object1: Thing = Thing::Both { near: either(in_i32[global], |v| v > either(in_i32[global], |v| v > (in_i32[local].wrapping_shr(x0 * x2) & (a_i32.wrapping_shr(x2 ^ wave) - -1498993139i32)), |v| v + (in_i32[local].wrapping_shr(x0 * x2) & (a_i32.wrapping_shr(x2 ^ wave) - -1498993139i32))).unwrap_or(((in_u32[local] >= x0) as f32).to_bits_as::<i32>()).wrapping_shr(lane.wrapping_shr(in_u32[local])), |v| v - either(in_i32[global], |v| v > (in_i32[local].wrapping_shr(x0 * x2) & (a_i32.wrapping_shr(x2 ^ wave) - -1498993139i32)), |v| v + (in_i32[local].wrapping_shr(x0 * x2) & (a_i32.wrapping_shr(x2 ^ wave) - -1498993139i32))).unwrap_or(((in_u32[local] >= x0) as f32).to_bits_as::<i32>()).wrapping_shr(lane.wrapping_shr(in_u32[local]))).unwrap_or(super::bits::table::<i32>(6)[(lane ^ x0) & 63]), far: x1 / a_f32.max(in_f32.uniform(13u32)) };
        out_u32[global] = x0;
        out_f32[global] = x1;
        out_u32[global + 128] = x2;
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
        let x1: V<i16>;
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
        a_bool: bool,
        out_u8: &mut [u8],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f32: f32,
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
        let mut x1: V<u32> = lane;
        x0 = x0;
        let mut object0: Thing = Thing::Nothing();
        match select(x0 || a_bool, in_i32[local] & out_i32[global], a_i32 ^ a_i32) {
            5i32 => {
                let x2: V<f32>;
                if splat(19.5f32) <= out_f32[global + 256] {
                    x2 = a_f32;
                } else {
                    x2 = global as f32;
                }
            }
            7i32..=14i32 => {
            }
            -8i32..=3i32 => {
            }
            _ => {
            }
        }
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
        let mut x1: V<u32> = lane * 1688272086u32;
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

    #[workgroup(64)]
    fn program_110(
        a_bool: bool,
        out_u8: &mut [u8],
        a_u16: u16,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        in_u64: &[u64],
        out_u64: &mut [u64],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
        a_f64: f64,
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f32, 128>::new();
        let lds1 = Lds::<f32, 128>::new();
        let own0 = Private::<u32, 8>::filled(0u32);
        lds0[local] = a_f32 + in_f32[global];
        lds0[local + 64u32] = out_f32[global + 256];
        lds1[local] = local.to_bits_as::<f32>();
        lds1[local + 64u32] = splat(f32::from_bits(0xdf1d9455)).max(out_f32[global + 128]);
        let mut x0: S<u32> = (if a_bool { wave & 23u32 } else { wave });
        let mut x1: S<bool> = a_f64 == in_f64.uniform(37u32);
        let mut object0: Option<V<f32>> = None;
        let mut object1: Option<V<i64>> = if (134217728u32 ^ x0) < 0u32 { None } else { None };
        x1 = in_u32.uniform(44u32) > group;
        for x2 in (4u16..=((a_u16 % 32771u16) & 7u16)).rev().step_by(4) {
            for x3 in (((in_i64[local] % ((if in_u64[local] == out_u64[global] { in_i64[global] } else { in_i64.uniform(36u32) }) | 1i64)) & 7i64) - 3i64)..=(((in_i64[lane] * splat(a_i64)) & 7i64) - 3i64) {
            }
        }
        out_u32[global] = x0;
        out_u8[global] = x1 as u8;
    }

    #[workgroup(128)]
    fn program_120(
        a_bool: bool,
        out_u8: &mut [u8],
        a_u16: u16,
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        shared_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        in_f32: &[f32],
        out_f32: &mut [f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f32, 128>::new();
        let own0 = Private::<i32, 8>::filled(0i32);
        lds0[local] = in_f32.load_vector::<4>((3921764248u32 - in_u32[local]) & 127u32).get(2);
        let mut x0: V<bool> = a_bool || (a_i32 >= a_i32);
        let x1 = a_i32;
        shared_i32.atomic((in_f64[global] as u32) & 15u32).fetch_add((-in_i32[global]), Scope::Agent, Ordering::Relaxed);
        let mut object0: Thing = if in_i64[local] > in_i64.uniform(31u32) { Thing::Wide(in_i64[local]) } else { Thing::Nothing() };
        out_f32[global] = in_f32[global];
        x0 = a_bool;
        if a_u32.min(16u32) < (in_u32.uniform(74u32) ^ wave) {
            cold_path();
            return;
        }
        lds0[local] = out_i32[global + 512] as f32;
        let x3: V<i32>;
        if wave > wave.max(2u32) {
            object0 = if (in_u32.uniform(5u32) >= in_u32.uniform(2u32)) || x0 { Thing::Wide(splat(17179869184i64)) } else { Thing::Both { near: wave_inclusive_or(in_i32[global]), far: in_f32.load_vector::<2>((in_u32[local] * splat(a_u32)) & 127u32).get(1) } };
            for x2 in ((a_u16 & 7u16)..((a_u16 & 0u16) & 7u16)).rev() {
                x0 = ((!out_u32[global + 512]) % ((4294967289u32 | local) | 1u32)) < ((group | 3299592098u32) - (wave / (a_u32 | 1u32)));
                let mut object1: Thing = Thing::Both { near: in_u32[local].to_bits_as::<i32>(), far: in_f32.load_vector::<2>((lane | 0u32) & 127u32).get(1) };
            }
            x3 = x1 * in_i32[global];
        } else {
            x3 = wave_or(splat(a_i32) ^ in_i32[local]);
        }
        out_u8[global] = x0 as u8;
        out_i32[global] = x1;
        out_i32[global + 256] = x3;
    }

    #[workgroup(64)]
    fn program_146(
        a_bool: bool,
        shared_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        out_i64: &mut [i64],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f32, 128>::new();
        let lds1 = Lds::<f32, 128>::new();
        let own0 = Private::<u64, 8>::filled(0u64);
        lds0[local] = in_f32[local].min(-17.0f32);
        lds0[local + 64u32] = super::bits::table::<f32>(6)[(global ^ in_u32[global]) & 63];
        lds1[local] = in_f32[local];
        lds1[local + 64u32] = splat(f32::from_bits(0x1df5ce2b)).max(in_f32[global]);
        let mut x0: S<f32> = f32::from_bits(0x4f000000);
        let mut x1: S<f32> = x0;
        x0 = 119.875f32 + x1;
        let mut object0: Option<V<f16>> = None;
        let mut x2: V<i64> = in_i64.uniform(65u32).wrapping_shr(x1 as u32) & (a_i64 & a_i64);
        if out_u32[global + 128].wrapping_shl(40u32) >= lane.min(90u32) {
            cold_path();
            #[unroll]
            for x3 in 0u32..2 {
                let x6: V<f32>;
                if a_f32 > a_f32 {
                    if (!(in_f32[lane] < -55.0f32)) {
                        if lane.max(in_u32[local]) < in_u32[local] {
                            let mut object1: Option<V<i64>> = if in_f32[local] != in_f32[local] { Some(either(x2, |v| v > (x2 % ((-9223372036854775806i64 & in_i64[lane]) | 1i64)), |v| v | (x2 % ((-9223372036854775806i64 & in_i64[lane]) | 1i64))).unwrap_or(a_i64)) } else { None };
                            #[unroll]
                            for x4 in 0u32..1 {
                                x2 -= object1.unwrap_or(x2);
                                x2 *= 2;
                                let mut x5: V<bool> = false;
                                let mut object2: Option<V<i64>> = None;
                            }
                        }
                        if (!(in_f32[local] > a_f32)) {
                            shared_i32.atomic((lane - in_u32[local]) & 15u32).fetch_max(in_f32[local].min(f32::from_bits(0xecfb1140)) as i32, Scope::Agent, Ordering::Relaxed);
                            x2 = x2;
                        }
                    }
                    x6 = in_f32[(if a_bool { out_u32[global] } else { local }) % 96u32];
                } else {
                    x6 = splat(f32::from_bits(0xdf549d37));
                }
            }
        }
        out_f32[global] = x0;
        out_f32[global + 128] = x1;
        out_i64[global] = x2;
    }

    #[workgroup(128)]
    fn program_156(
        in_u16: &[u16],
        out_u16: &mut [u16],
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_f32: &[f32],
        out_f32: &mut [f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        lds0[local] = splat(a_u32).max(global);
        let x0 = super::bits::table::<u32>(7)[(lane ^ splat(17.5f32).to_bits_as::<u32>()) & 127];
        let mut object0: Pair = Pair { count: (in_u16[local] < out_u16[global]) as u32, level: splat(f32::from_bits(0xdf08822c)) };
        out_u32[global + 512] = shuffle_xor(x0, 4).wrapping_shl(62u32) % (in_i32[local].to_bits_as::<u32>() | 1u32);
        if (in_u32[lane] & x0) != 2825883845u32 {
            if splat(37.5f64) <= in_f64[lane] {
                cold_path();
                let mut x1: S<u32> = a_u32;
            }
            object0 = if x0 == x0 { Pair { count: super::bits::table::<u32>(10)[(lane ^ x0) & 1023], level: (&in_f32[18u32..18u32 + 61])[in_u32[local] & 63u32] } } else { Pair { count: x0, level: (-in_f32[global].max(splat(f32::from_bits(0xd215a572))).trunc()) } };
        }
        let x2 = (&mut object0).twice(x0);
        out_u32[global + 512] = x2;
        let mut x3: V<f32> = splat(-7.25f32) / f32::from_bits(0x7f800000);
        let mut object1: Thing = Thing::Number(x2);
        barrier();
        if object0.peek() == 2u32 {
        }
        out_u32[global] = x0;
        out_u32[global + 256] = x2;
        out_f32[global] = x3;
    }

    #[workgroup(64)]
    fn program_159(
        in_u32: &[u32],
        a_u64: u64,
        in_u64: &[u64],
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        let own0 = Private::<u8, 8>::filled(0u8);
        lds0[local] = shuffle_xor(in_u32[local], 27);
        lds0[local + 64u32] = splat(0u32);
        let mut x0: V<f64> = 27.25;
        barrier();
        match (a_u64 ^ in_u64.uniform(28u32)) % 9223372036854775809u64 {
            2u64..=18446744073709551615u64 => {
                let mut x1: V<u32> = 0;
                loop {
                    x1 += 1;
                    if x1 > 2u32 {
                        cold_path();
                        break;
                    }
                    x0 = in_f64[local];
                }
                x0 *= in_f64[lane];
            }
            18446744073709551608u64..=18446744073709551615u64 => {
            }
            _ => {
            }
        }
        out_f64[global] = x0;
    }

    #[workgroup(128)]
    fn program_162(
        in_i8: &[i8],
        a_u8: u8,
        out_u8: &mut [u8],
        in_i16: &[i16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        a_f32: f32,
        in_f32: &[f32],
        out_f64: &mut [f64],
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
                }
                let mut x3: S<f32> = a_f32;
                let mut object0: Option<V<i16>> = None;
            }
            if group.min(group) <= (in_u32.uniform(73u32) ^ a_u32) {
                cold_path();
                continue;
            }
        }
        let mut object1: (V<i32>, V<f64>) = (splat(-2147483646i32).to_bits_as::<i32>(), out_f64[global] * 47.0f64);
        let mut x4: V<bool> = (in_i64[global] - a_i64) == (if splat(a_u32) != x0 { splat(a_i64) } else { splat(1073741824i64) });
        out_u32[global] = x0;
        out_u8[global] = x4 as u8;
    }

    #[workgroup(64)]
    fn program_173(
        out_u8: &mut [u8],
        in_i16: &[i16],
        a_u16: u16,
        in_u16: &[u16],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        out_i64: &mut [i64],
        in_bf16: &[bf16],
        out_bf16: &mut [bf16],
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u16, 128>::new();
        lds0[local] = in_u16[lane];
        lds0[local + 64u32] = again(splat(a_u16), |v| v + shuffle_xor(global as u16, 20).min((in_u16[global] / ((splat(a_u16) | a_u16) | 1u16)) % (splat(42u16) | 1u16)));
        let mut x0: V<bool> = in_u32[lane] <= global;
        let mut x1: V<u32> = in_u32[local];
        out_bf16[global] = (if in_i32.uniform(83u32) >= a_i32 { in_bf16[lane] } else { splat(bf16::from_bits(0xddf2 /* -2179742200000000000 */)) });
        let mut object0: Thing = if select(x0, splat(-221873282i32), out_i32[global]) < (a_i32 % ((in_i32.uniform(33u32) as i32) | 1i32)) { Thing::Both { near: in_i32[local], far: in_f32[lane] } } else { Thing::Nothing() };
        x1 = x1.min(splat(1587879103u32));
        x1 += x1;
        barrier();
        let mut object1: Option<V<i16>> = Some(wave_exclusive_and(in_i16[local]));
        let mut x2: V<u32> = 0;
        while x2 < 4u32 {
            x2 += 1;
            if (splat(59i32) - in_i32.uniform(92u32)) < -2147483647i32 {
                cold_path();
                break;
            }
            for x3 in 2u16..((a_u16 % (a_u16.wrapping_shl(in_u32.uniform(63u32).wrapping_shr(a_u32)) | 1u16)) & 7u16) {
                x0 = object1.is_some();
            }
        }
        x1 = x1.wrapping_shl(again(x1, |v| v | x1));
        let mut x4: V<i64> = splat(a_i64);
        out_u8[global] = x0 as u8;
        out_u32[global] = x1;
        out_i64[global] = x4;
    }

    #[workgroup(128)]
    fn program_193(
        a_bool: bool,
        out_u16: &mut [u16],
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_f16: &[f16],
        in_f32: &[f32],
        out_f32: &mut [f32],
        a_f64: f64,
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f16, 128>::new();
        lds0[local] = lane as f16;
        let x0 = select(out_f64[global] <= -0.0f64, out_u32[global + 256], 36u32).wrapping_shl(in_u32[lane] + 99u32);
        let x1 = wave;
        let mut object0: Option<V<f16>> = if true || a_bool { None } else { Some(in_f16[local]) };
        let mut object1: Pair = if out_u16[global + 128] >= 34697u16 { Pair { count: in_u32[(x0.max(global) / (in_u32[local] | 1u32)) % 96u32], level: out_f32[global + 256] } } else { Pair { count: splat(a_f64) as u32, level: in_f32[lane] } };
        #[unroll]
        for x2 in 0u32..1 {
            let x3 = (&mut object1).step(x0);
            let mut x4: S<u32> = x1;
            x4 *= a_f64.max(a_f64) as u32;
            let mut x5: S<u64> = 91;
        }
        object1.count = (in_f32[local].max(f32::from_bits(0x7a44c5ac)) as u32) | (x1.wrapping_shl(60u32) * x1.wrapping_shr(13u32));
        let x13: V<f64>;
        if (in_f32[global] != in_f32[local]) || false {
            lds0[local] = splat(f16::from_bits(0x5750 /* 117 */));
            object1 = Pair { count: x0 / (x0 | 1u32), level: object1.level };
            let mut x6: V<f64> = -110.125;
            if let Some(x12) = object0 {
            } else {
                #[unroll]
                for x7 in 0u32..3 {
                    #[unroll]
                    for x8 in 0u32..3 {
                        let mut x9: V<bool> = a_bool;
                        let x10 = (x1 | x0) * global.min(256u32);
                        lds0[local] = in_f32[local] as f16;
                    }
                    x6 = x6 * shuffle_xor(select(x6 < x6, x6, x6), 11);
                    let x11: V<f64>;
                    if false || (x6 != 8.625f64) {
                        lds0[local] = splat(f16::from_bits(0x2e66 /* 0.099975586 */));
                        x11 = shuffle(x6.floor(), (if a_bool { x0 } else { x0 }));
                    } else {
                        x11 = x6;
                    }
                }
            }
            x13 = in_f64[global];
        } else {
            x13 = (-out_f64[global + 256]);
        }
        out_u32[global] = x0;
        out_u32[global + 128] = x1;
        out_f64[global] = x13;
    }

    #[workgroup(128)]
    fn program_217(
        a_i8: i8,
        in_i8: &[i8],
        out_i8: &mut [i8],
        out_u8: &mut [u8],
        a_u16: u16,
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        a_bf16: bf16,
        a_f32: f32,
        out_f32: &mut [f32],
        a_f64: f64,
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<i64, 8>::filled(0i64);
        let x0 = (splat(a_f64) >= out_f64[global]) && (lane != in_u32[local]);
        match again(in_i8[global] / ((splat(-5i8) + out_i8[global]) | 1i8), |v| v.min(splat(a_i8))) & 7i8 {
            -1i8..=3i8 => {
                match (!(a_bf16 as u16)) & 7u16 {
                    1u16..=6u16 => {
                        if shuffle_xor(out_f32[global], 58) >= (splat(a_f32) / a_f32) {
                            cold_path();
                            let mut object0: Option<V<f32>> = None;
                        } else {
                            cold_path();
                            let mut object1: Option<V<i16>> = None;
                            own0[1u32] = ((in_i32[global] as u8) as i64).max(4i64);
                            out_u8[global] = (if in_i32[global] >= out_i32[global] { out_u8[global + 128] } else { 130u8 });
                            match a_u16 & 7u16 {
                                7u16 => {
                                    if let Some(x3) = object1 {
                                    } else {
                                        let mut x1: S<u16> = a_u16.wrapping_shl(52u32).wrapping_shr(66u32);
                                        #[unroll]
                                        for x2 in 0u32..0 {
                                            x1 = a_u16 | x1;
                                            x1 = x1.min(x1);
                                        }
                                    }
                                }
                                _ => {
                                }
                            }
                        }
                    }
                    0u16 => {
                    }
                    _ => {
                    }
                }
            }
            2i8 => {
            }
            _ => {
            }
        }
        out_u8[global] = x0 as u8;
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
        let mut x1: V<bf16> = in_bf16[local];
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
                let mut x5: V<f16> = in_f16[local];
                x4 = x4.wrapping_shl(4294967291);
            }
        }
        #[unroll]
        for x6 in 0u32..1 {
            x0 += a_f16;
        }
        out_f16[global] = x0;
    }

    #[workgroup(128)]
    fn program_251(
        a_bool: bool,
        a_u8: u8,
        in_u8: &[u8],
        out_u8: &mut [u8],
        a_i16: i16,
        in_i16: &[i16],
        a_u16: u16,
        a_u32: u32,
        in_u32: &[u32],
        in_i64: &[i64],
        shared_u64: &mut [u64],
        a_f16: f16,
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<u8> = (if 253u8 < splat(a_u8) { in_u8[lane] } else { splat(7u8) });
        let mut x1: V<bool> = lane < 2147483650u32;
        let mut x2: V<u8> = 1;
        x1 = x0 == 129u8;
        let mut object0: Option<V<i16>> = Some(in_i16[global] - in_i16[global]);
        x0 += 78;
        if splat(bf16::from_bits(0xc292 /* -73 */)).to_bits_as::<f16>() < a_f16 {
            if x1 {
                cold_path();
                x0 |= 19;
            }
            object0 = if a_bool { None } else { None };
            let mut object1: Thing = Thing::Wide((if in_u8[local] > x2 { in_i64[lane] } else { 83i64 }));
        } else {
            cold_path();
            #[unroll]
            for x3 in 0u32..0 {
                x2 = x2.wrapping_shr(in_u32[(splat(a_u16) as u32) % 96u32]);
                if (a_u8 - 4u8) >= (a_bool as u8) {
                    if (x0 | x0) <= 88u8 {
                        x0 -= 0;
                        let mut x4: V<u8> = 8;
                    }
                    if super::bits::table::<u32>(6)[(wave ^ a_u32) & 63] < (if a_bool { 7u32 } else { wave }) {
                        x1 = (!((lane - global) != (in_f64.uniform(42u32) as u32)));
                        for x5 in 18446744073709551613u64..splat(18446744073709551615u64) {
                            shared_u64.atomic(local.wrapping_shr(60u32) & 15u32).fetch_xor(x5, Scope::Agent, Ordering::Relaxed);
                        }
                    } else {
                        cold_path();
                        object0 = if again(out_u8[global + 128], |v| v | x2) < (x0 & x2) { Some(a_i16) } else { None };
                    }
                } else {
                    cold_path();
                    let mut x6: S<u32> = 65536;
                }
            }
        }
        out_u8[global] = x0;
        out_u8[global + 128] = x1 as u8;
        out_u8[global + 256] = x2;
    }

    #[workgroup(128)]
    fn program_252(
        a_bool: bool,
        in_i8: &[i8],
        in_i32: &[i32],
        out_i32: &mut [i32],
        shared_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        a_i64: i64,
        in_i64: &[i64],
        a_f32: f32,
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
            shared_i32.atomic((lane * 4294967293u32) & 15u32).fetch_xor((!in_i32.uniform(49u32).min(x2)), Scope::Agent, Ordering::Relaxed);
            let mut object0: Thing = if a_bool { Thing::Wide(in_i64[lane % 96u32]) } else { Thing::Both { near: a_f32.to_bits_as::<i32>(), far: splat(a_f32).max(f32::from_bits(0x572bd3f2)) } };
            x0 ^= (&in_i32[((a_u32 + wave) & 127u32)..((a_u32 + wave) & 127u32) + 51])[(in_u32[lane] | global) & 63u32];
        }
        if out_i32[global + 256] > 28i32 {
            cold_path();
            return;
        }
        match x0 {
            4i32..=2147483647i32 => {
                match in_i8[local] {
                    125i8..=127i8 => {
                        x0 |= x0.wrapping_shl(24u32) & 5i32;
                        own0[6u32] = wave_and(splat(15533u16).wrapping_shr(global.min(global)));
                        let mut x3: V<i32> = x0 ^ x1;
                    }
                    -3i8..=3i8 => {
                    }
                    _ => {
                    }
                }
            }
            3i32..=10i32 => {
            }
            2i32..=8i32 => {
            }
            _ => {
            }
        }
        out_i32[global] = x0;
        out_i32[global + 128] = x1;
    }

    #[workgroup(128)]
    fn program_255(
        a_bool: bool,
        in_i16: &[i16],
        a_u16: u16,
        in_u16: &[u16],
        out_u16: &mut [u16],
        a_i32: i32,
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u16, 128>::new();
        let own0 = Private::<u16, 8>::filled(0u16);
        lds0[local] = a_u16 ^ splat(a_u16);
        let mut x0: S<u32> = ((if a_bool { a_u32 } else { group }) + a_u32.wrapping_shr(a_u32)).wrapping_shr(wave * a_u32);
        lds0[local] = ((in_u16[global] | in_u16[global]) / ((out_u16[global + 256] / 43701u16) | 1u16)).wrapping_shl(22u32);
        let mut x1: S<u32> = a_i32.to_bits_as::<u32>();
        let mut object0: Thing = Thing::Nothing();
        out_u32[global + 128] = in_u32[local];
        x1 |= x0;
        x1 = x1.wrapping_shr(read_lane(global, x1.min(a_u32) % 64u32) % ((x0 & x1) | 1u32));
        barrier();
        for x2 in 0u32..=((in_u32[local] as u32) & 7u32) {
            own0[5u32] = splat(a_u16) / (in_u16[global] | 1u16);
            match (in_i16[lane] / 1i16) & 7i16 {
                6i16..=7i16 => {
                    for x3 in (1i32..((out_i32[global + 256].min(out_i32[global + 128]) & 7i32) - 3i32)).step_by(1) {
                        let x4 = lds0[in_u32[local] & 127u32];
                        out_u32[global] = super::bits::table::<u32>(7)[(global ^ x2) & 127];
                        let mut x5: V<u32> = lane;
                    }
                    out_u32[global] = in_u32[local];
                }
                _ => {
                }
            }
        }
        out_u32[global] = x0;
        out_u32[global + 128] = x1;
    }
}

pub const SAMPLE: &[Sampled] = &[
    (3, |target, options| program_3.build_with(target, options).map(BuiltKernel::into_any)),
    (6, |target, options| program_6.build_with(target, options).map(BuiltKernel::into_any)),
    (10, |target, options| program_10.build_with(target, options).map(BuiltKernel::into_any)),
    (29, |target, options| program_29.build_with(target, options).map(BuiltKernel::into_any)),
    (30, |target, options| program_30.build_with(target, options).map(BuiltKernel::into_any)),
    (35, |target, options| program_35.build_with(target, options).map(BuiltKernel::into_any)),
    (52, |target, options| program_52.build_with(target, options).map(BuiltKernel::into_any)),
    (53, |target, options| program_53.build_with(target, options).map(BuiltKernel::into_any)),
    (57, |target, options| program_57.build_with(target, options).map(BuiltKernel::into_any)),
    (75, |target, options| program_75.build_with(target, options).map(BuiltKernel::into_any)),
    (93, |target, options| program_93.build_with(target, options).map(BuiltKernel::into_any)),
    (96, |target, options| program_96.build_with(target, options).map(BuiltKernel::into_any)),
    (97, |target, options| program_97.build_with(target, options).map(BuiltKernel::into_any)),
    (98, |target, options| program_98.build_with(target, options).map(BuiltKernel::into_any)),
    (102, |target, options| program_102.build_with(target, options).map(BuiltKernel::into_any)),
    (108, |target, options| program_108.build_with(target, options).map(BuiltKernel::into_any)),
    (109, |target, options| program_109.build_with(target, options).map(BuiltKernel::into_any)),
    (110, |target, options| program_110.build_with(target, options).map(BuiltKernel::into_any)),
    (120, |target, options| program_120.build_with(target, options).map(BuiltKernel::into_any)),
    (146, |target, options| program_146.build_with(target, options).map(BuiltKernel::into_any)),
    (156, |target, options| program_156.build_with(target, options).map(BuiltKernel::into_any)),
    (159, |target, options| program_159.build_with(target, options).map(BuiltKernel::into_any)),
    (162, |target, options| program_162.build_with(target, options).map(BuiltKernel::into_any)),
    (173, |target, options| program_173.build_with(target, options).map(BuiltKernel::into_any)),
    (193, |target, options| program_193.build_with(target, options).map(BuiltKernel::into_any)),
    (217, |target, options| program_217.build_with(target, options).map(BuiltKernel::into_any)),
    (226, |target, options| program_226.build_with(target, options).map(BuiltKernel::into_any)),
    (231, |target, options| program_231.build_with(target, options).map(BuiltKernel::into_any)),
    (251, |target, options| program_251.build_with(target, options).map(BuiltKernel::into_any)),
    (252, |target, options| program_252.build_with(target, options).map(BuiltKernel::into_any)),
    (255, |target, options| program_255.build_with(target, options).map(BuiltKernel::into_any)),
];
