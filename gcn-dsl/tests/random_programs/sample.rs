//! Made from random programs; see `through_macro.rs`.

use gcn_dsl::BuiltKernel;
use gcn_dsl::prelude::*;

use super::shapes::{Long, Machine, Pair, Thing, Word, again, either, passed};
use super::through_macro::Sampled;

gcn_kernel! {
    #[workgroup(128)]
    fn program_2(
        in_i8: &[i8],
        a_u8: u8,
        out_u8: &mut [u8],
        in_u16: &[u16],
        a_i32: i32,
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        in_u64: &[u64],
        a_f16: f16,
        in_f16: &[f16],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i64, 128>::new();
        let lds1 = Lds::<f64, 128>::new();
        lds0[local] = splat(-9223372036854775808i64);
        lds1[local] = in_f64[lane];
        let mut x0: S<u32> = a_u32 + 2147483649u32;
        let mut x1: V<i32> = -934420703;
        x0 ^= x0;
        barrier();
        for x2 in (2147483644i32..=2147483647i32).step_by(2) {
            let mut object0: Result<V<u32>, V<i32>> = Ok(select(shuffle(lane, (if in_i8[lane] == in_i8[lane] { in_u32[lane] } else { global })) < in_u32[local], in_u32[local], (lane * splat(a_u32)) & in_u32[lane % 96u32]));
            let x3: V<f16>;
            if out_u8[global] > splat(a_u8).max(out_u8[global + 512]) {
                x3 = in_f16[lane];
            } else {
                x3 = select(global > 2147483649u32, in_f16[global].abs(), f16::from_bits(0xbe01 /* -1.5009766 */));
            }
        }
        let mut x4: V<bool> = (splat(a_i32) | x1).to_bits_as::<u32>() != 4294967292u32;
        let mut object1: Long = Long::Right(splat(in_u16.load_vector::<2>((lane ^ out_u32[global]) & 127u32).get(0)));
        match object1 {
            Long::Left(x5) => {
                x1 += in_u64[local] as i32;
                let mut object2: Long = Long::Left(splat(either(in_i64.load_vector::<2>((group - out_u32[global + 256]) & 127u32).get(0), |v| v > (local as u64).to_bits_as::<i64>(), |v| v.max((local as u64).to_bits_as::<i64>())).unwrap_or((if a_u32 <= x0 { in_i64.uniform(14u32) } else { in_i64.uniform(11u32) }))));
            }
            Long::Right(x6) => {
                let x11: V<u32>;
                if x4 {
                    let mut x7: V<f16> = splat(a_f16);
                    match object1 {
                        Long::Left(x8) => {
                            let mut object3: Result<V<f32>, V<u32>> = Ok(x4 as f32);
                            let x9 = lds1[in_u32[local] & 127u32];
                            x1 = (out_i32[global + 512] * 912406113i32) * -3i32;
                        }
                        Long::Right(x10) => {
                        }
                    }
                    x11 = in_u32[local];
                } else {
                    x11 = splat(a_u32);
                }
            }
        }
        out_u32[global] = x0;
        out_i32[global] = x1;
        out_u8[global] = x4 as u8;
    }

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
        a_i32: i32,
        in_i32: &[i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        out_i64: &mut [i64],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
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
        let mut object0: Option<V<i64>> = if splat(a_f32) != a_f32 { Some(splat(35i64) & -1i64) } else { Some(in_i64.uniform(36u32).to_bits_as::<i64>().max(-9223372036854775808i64)) };
        if (in_i32[local] - splat(1565762841i32)) < in_i32[in_u32[local] % 96u32] {
            let mut x2: S<u64> = 18446744073709551612;
            let mut x3: S<u32> = 0;
            while (x3 < 3u32) && a_bool {
                x3 += 1;
                x1 &= shuffle(x1 - x1, splat(a_i32) as u32);
                x1 &= 274877906944;
            }
        } else {
            cold_path();
            x1 &= 6344360052099846943;
        }
        let mut x4: V<f32> = again(splat(a_f32), |v| v.max(in_f32.uniform(87u32)));
        if let Some(x5) = object0 {
        } else {
            x4 = splat(95.375f32).floor();
            x1 = x1;
        }
        out_f64[global] = x0;
        out_i64[global] = x1;
        out_f32[global] = x4;
    }

    #[workgroup(64)]
    fn program_9(
        a_u8: u8,
        in_u8: &[u8],
        out_u8: &mut [u8],
        in_u16: &[u16],
        a_u32: u32,
        in_u32: &[u32],
        a_i64: i64,
        out_i64: &mut [i64],
        a_u64: u64,
        shared_u64: &mut [u64],
        a_bf16: bf16,
        a_f32: f32,
        out_f32: &mut [f32],
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<u8> = in_u8[local];
        if (!(in_f64[lane] <= out_f64[global + 64])) {
            let mut x1: V<u32> = 0;
            while (x1 < 3u32) && ((in_u16[lane] as i8) == shuffle(splat(-102i8), splat(a_u32).wrapping_shl(lane ^ a_u32))) {
                x1 += 1;
                let mut object0: Result<V<f32>, V<u32>> = Ok(a_f32);
                x0 = out_u8[global];
                x0 = x0;
                x0 = wave_exclusive_product(x0);
            }
            if (global == a_u32) || (splat(a_u8) == 196u8) {
                cold_path();
                return;
            }
        }
        if (x0 ^ x0) == a_u8 {
            let mut x2: V<u64> = 18446744073709551610;
            let mut x3: V<u32> = 0;
            loop {
                x3 += 1;
                if x3 > 2u32 {
                    cold_path();
                    break;
                }
                x0 += 4;
                let mut x4: S<u32> = group.wrapping_shr(wave | a_u32);
                shared_u64.atomic(in_u32[splat(4189845229u32) % 96u32] & 15u32).fetch_add(select(1697892243u32 < splat(18u32), x2 ^ a_u64, splat(bf16::from_bits(0xc260 /* -56 */)) as u64), Scope::Agent, Ordering::Relaxed);
            }
        } else {
            cold_path();
            let mut x5: V<u8> = ((splat(a_u8) as u8) & (!x0)) + ((x0 - out_u8[global + 64]) / (in_u8[local] | 1u8));
            out_f32[global + 128] = read_first_lane(x0 as f32);
            x5 = x0;
            let mut object1: Thing = if (splat(a_bf16) == splat(a_bf16)) && (a_u8 > a_u8) { Thing::Wide(a_i64) } else { Thing::Wide(read_first_lane(out_i64[global + 64] - out_i64[global])) };
        }
        out_u8[global] = x0;
    }

    #[workgroup(64)]
    fn program_10(
        a_bool: bool,
        in_u8: &[u8],
        out_u8: &mut [u8],
        a_u16: u16,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
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
                let mut object0: Result<V<f32>, V<u32>> = if a_bool { Ok(in_f32.load_vector::<2>((x0 as u32) & 127u32).get(0)) } else { Err((select(x0, out_u32[global + 64], splat(a_u32)) as u32) * in_u32[local]) };
                for x3 in (1u16..((a_u16 + a_u16) & 7u16)).step_by(3) {
                    object0 = Err(local + local);
                    out_f32[global + 128] = splat(f32::from_bits(0x68e51c26)) + in_f32[local];
                    if lane.wrapping_shr(x0 as u32) != (in_u32.uniform(66u32) * splat(a_u32)) {
                        let mut x4: S<u32> = ((in_u32.uniform(70u32) % ((in_u32.uniform(40u32) + wave) | 1u32)) % (in_u32.uniform(23u32) | 1u32)) & a_u32;
                        let mut object1: Thing = if (splat(4294967292u32) ^ global) <= 44u32 { Thing::Number(in_u32[local] * 0u32) } else { Thing::Wide(in_i64[lane] & in_i64[local]) };
                    }
                }
            }
        }
        out_u8[global] = x0 as u8;
        out_i32[global] = x1;
    }

    #[workgroup(64)]
    fn program_30(
        a_bool: bool,
        in_u16: &[u16],
        a_i32: i32,
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        a_bf16: bf16,
        in_bf16: &[bf16],
        out_bf16: &mut [bf16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<f32> = -78.375;
        let x1 = select(x0 >= 0.1f32, lane | in_u32[local], 2147483650u32);
        x0 = ((&in_f32[(a_u32 & 127u32)..(a_u32 & 127u32) + 17])[(x1 / 2147483649u32) & 63u32] - -110.625f32).trunc();
        let mut object0: Option<V<u32>> = Some(x1.to_bits_as::<u32>());
        object0 = if (!((x0 == f32::from_bits(0x67de4ef1)) || (x0 > x0))) { None } else { None };
        let mut object1: Result<V<u32>, V<i32>> = if in_u32.uniform(61u32).wrapping_shl(21u32) >= (a_u32 + a_u32) { Err((x0 as f32) as i32) } else { Err(a_i32) };
        x0 += f32::from_bits(0xdf6f87b1);
        let mut object2: Result<V<u32>, V<i32>> = if in_i64[local] == splat(a_i64) { Ok((x1 / (x1 | 1u32)) + group) } else { Err((-6i32 * x0.to_bits_as::<i32>()) & ((x0 as i32) + -2i32)) };
        let mut object3: Option<V<f32>> = if (!((x0 > a_f32) && (splat(-9223372036854775807i64) == 2i64))) { Some(in_f32[local]) } else { Some(in_f32[local]) };
        let x2: V<bf16>;
        if (32768u16 != in_u16[global]) || ((x0 < splat(a_f32)) && a_bool) {
            if read_first_lane(in_bf16[global]) == a_bf16 {
            }
            x2 = a_bf16;
        } else {
            x2 = shuffle_xor((splat(65i64) - in_i64[local]) as bf16, 48);
        }
        out_f32[global] = x0;
        out_u32[global] = x1;
        out_bf16[global] = x2;
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

    #[workgroup(64)]
    fn program_59(
        out_u8: &mut [u8],
        in_u16: &[u16],
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u16, 128>::new();
        lds0[local] = splat(48u16);
        lds0[local + 64u32] = in_u16[local];
        let mut x0: S<bool> = false;
        let mut x1: S<u32> = ((in_u32.uniform(34u32) | in_u32.uniform(90u32)) as u32) as u32;
        for x2 in 65535u16..65535u16 {
            x1 = x1.wrapping_shl(786892223);
        }
        let mut x3: V<u32> = 0;
        while x3 < 2u32 {
            x3 += 1;
            let mut x4: V<u32> = select(in_f32[lane] <= in_f32.uniform(75u32), x1 % ((x1 / 1u32) | 1u32), lane.min(in_u32[lane]));
            let mut object0: Thing = if (!(x1 < x1)) { Thing::Nothing } else { Thing::Nothing };
        }
        out_u32[global] = ((in_u32[local] as u32) > in_u32[local]) as u32;
        out_u8[global] = x0 as u8;
        out_u32[global] = x1;
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
    fn program_76(
        a_bool: bool,
        a_u16: u16,
        in_u16: &[u16],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        in_i64: &[i64],
        a_bf16: bf16,
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
        let x0 = in_i32[global];
        let mut x1: S<u32> = 0;
        while (x1 < 3u32) && (in_f32.uniform(59u32) > (a_f32 + a_f32)) {
            x1 += 1;
            let mut x2: V<bool> = wave_inclusive_min(in_u16.load_vector::<2>(local & 127u32).get(0)) != (a_u16 + 64u16);
            x2 = in_f32[lane] < 65504.0f32;
        }
        let mut object0: (V<i32>, V<f64>) = (either((x0 % -2147483647i32) * in_i32[local], |v| v > select(in_i64[local] == in_i64.uniform(27u32), read_lane(x0, (wave + group) % 64u32), x0), |v| v | select(in_i64[local] == in_i64.uniform(27u32), read_lane(x0, (wave + group) % 64u32), x0)).unwrap_or(super::bits::table::<i32>(3)[(global ^ shuffle_xor(local, 18)) & 7].min(-2147483648i32)), splat(a_f64).min(in_f64[global]));
        let mut x3: V<f32> = -111.625;
        if (if a_bool { in_u32.uniform(39u32) } else { 20u32 }) <= splat(a_u32) {
            x3 = in_f32.uniform(56u32) * x3;
            object0 = if x0 != splat(1965618447i32) { (4i32 + x0, splat(a_f64)) } else { (a_i32 as i32, out_f64[global + 256].mul_add(101.0f64, in_f64[local])) };
            out_bf16[global] = a_bf16;
        }
        out_i32[global] = x0;
        out_f32[global] = x3;
    }

    #[workgroup(128)]
    fn program_77(
        a_bool: bool,
        a_i8: i8,
        a_u8: u8,
        in_u8: &[u8],
        out_u8: &mut [u8],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f64, 128>::new();
        lds0[local] = in_f64[local];
        let mut x0: V<bool> = (a_i32.to_bits_as::<i32>() > 4i32) && (splat(a_i32) != a_f32.to_bits_as::<i32>());
        if (!(a_bool && a_bool)) {
            cold_path();
            let x1 = out_f32[global + 256] != in_f32[local];
        } else {
            cold_path();
            x0 = again(out_i32[global + 128], |v| v | splat(a_i32)) <= (out_i32[global] as i32);
            if shuffle_xor(splat(a_i32), 40) == (a_i8 as i32) {
                cold_path();
                return;
            }
            lds0[local] = splat(-70.875f64);
            match (splat(0u8) ^ a_u8).max(in_u8[local]) & 7u8 {
                4u8 => {
                    for x2 in ((in_i32.uniform(53u32).wrapping_shl(69u32) & 7i32) - 3i32)..((in_i32.load_vector::<4>(in_i32[global].to_bits_as::<u32>() & 127u32).get(1) & 7i32) - 3i32) {
                    }
                }
                6u8 => {
                }
                _ => {
                }
            }
        }
        out_u8[global] = x0 as u8;
    }

    #[workgroup(64)]
    fn program_79(
        a_bool: bool,
        a_u8: u8,
        out_u8: &mut [u8],
        a_u16: u16,
        a_u32: u32,
        out_u32: &mut [u32],
        out_bf16: &mut [bf16],
        a_f32: f32,
        in_f32: &[f32],
        a_f64: f64,
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f64, 128>::new();
        lds0[local] = in_f64[global] - 105.25f64;
        lds0[local + 64u32] = shuffle_xor(splat(a_f64), 27);
        let x0 = out_u8[global];
        let mut x1: S<bool> = 54u8 == (a_u8 & a_u8);
        let x2 = x0.max(x0) as bf16;
        let mut object0: (V<f32>, V<u16>) = (select(out_u32[global] != local, splat(a_f32), in_f32[lane]).mul_add(-20.0f32, x0 as f32), splat(a_u16));
        x1 = x1;
        x1 = a_u32 >= group;
        x1 = a_u32 > (a_u32.wrapping_shl(63u32) as u32);
        let mut x3: S<bool> = a_bool;
        x3 = a_bool;
        {
            let (x4, x5) = object0;
        }
        out_u8[global] = x0;
        out_u8[global + 64] = x1 as u8;
        out_bf16[global] = x2;
        out_u8[global + 128] = x3 as u8;
    }

    #[workgroup(64)]
    fn program_99(
        out_u8: &mut [u8],
        in_u16: &[u16],
        a_u32: u32,
        in_u32: &[u32],
        in_i64: &[i64],
        a_u64: u64,
        in_u64: &[u64],
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
        let mut object0: Pair = if ((5559080232536983251i64 < in_i64[lane]) && false) || (group != wave) { Pair { count: global + ((lane & global) + (if x1 { 27u32 } else { lane })), level: x0 } } else { Pair { count: select((lane as i16) < (splat(-32767i16) ^ 9220i16), (splat(73u32) % 2147483649u32).max(5u32), 2147483650u32), level: x0 } };
        if (wave - 84u32) <= 1464563003u32 {
            let mut x3: S<f32> = a_f32.max(in_f32.uniform(78u32));
            if in_f32[local].abs() > (x0 * x3) {
                object0.count = x0 as u32;
                if a_u32.min(group) < read_first_lane(local) {
                    {
                        let Pair { count: x4, level: x5 } = object0;
                        let mut x6: S<i64> = 4426741278397323122i64 ^ a_u64.to_bits_as::<u64>().to_bits_as::<i64>();
                        x6 = x6.min(x6).wrapping_shr(in_u32.uniform(38u32));
                    }
                    object0 = Pair { count: x0 as u32, level: x3 };
                }
                let mut x7: V<f32> = object0.level;
                let mut x8: S<u32> = 0;
                while x8 < 2u32 {
                    x8 += 1;
                    object0.level = object0.level;
                    own1[object0.count & 7u32] = in_u64[lane];
                }
            }
        }
        out_f32[global] = x0;
        out_u8[global] = x1 as u8;
        out_u8[global + 64] = x2 as u8;
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
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f16: f16,
        in_f16: &[f16],
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
        let mut object0: Option<V<u32>> = if a_bool { Some(select(x0, x1, a_u32)) } else { Some(x1.min(x1)) };
        x0 = in_f16[global].max(f16::from_bits(0xfc00 /* -inf */)) == (a_f16 - f16::from_bits(0xd61c /* -97.75 */));
        x1 += 2147483650;
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
    fn program_116(
        in_i8: &[i8],
        out_i8: &mut [i8],
        in_u16: &[u16],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f16: f16,
        in_f16: &[f16],
        out_f16: &mut [f16],
        in_bf16: &[bf16],
        out_bf16: &mut [bf16],
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<f16, 8>::filled(f16::from_bits(0x0 /* 0 */));
        let own1 = Private::<f32, 8>::filled(0.0f32);
        let x0 = read_first_lane(select(wave <= local, 67108864u32, lane));
        let mut x1: V<bf16> = select((33.5f32 == in_f32[lane]) || (in_f16[lane] != out_f16[global]), in_bf16[local], bf16::from_bits(0x1 /* 0.000000000000000000000000000000000000000091835 */));
        let mut x2: V<u32> = 0;
        while (x2 < 1u32) && ((in_u16[lane] as u32) > (in_u32[lane] as u32)) {
            x2 += 1;
            x1 = out_i8[global + 64] as bf16;
            for x3 in (0u64..=splat(5u64)).rev().step_by(2) {
                x1 *= splat(a_f16) as bf16;
                if in_u32[local] <= global.wrapping_shl(48u32) {
                    x1 = in_u32[local].min(global) as bf16;
                    continue;
                }
                x1 = (!(&in_i8[((x0 - x0) & 127u32)..((x0 - x0) & 127u32) + 62])[again(in_u32[local], |v| v.min(x0.max(x0).wrapping_shr(x0))) & 63u32]) as bf16;
            }
            x1 = (in_f16[lane] / a_f16) as bf16;
        }
        out_u32[global] = x0;
        out_bf16[global] = x1;
    }

    #[workgroup(128)]
    fn program_123(
        a_bool: bool,
        in_i8: &[i8],
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_u64: &[u64],
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
            let mut object0: Result<V<u32>, V<i32>> = Ok(in_u32[local]);
        }
        for x1 in (2147483644i32..splat(2147483647i32)).step_by(4) {
            for x2 in (254u8..splat(255u8)).step_by(3) {
                if all(in_u32[lane] == 7u32) {
                    match in_i8[local] & 7i8 {
                        2i8..=127i8 => {
                            let mut x3: V<u32> = (x0 - x0).min(0u32);
                            x3 *= (out_u32[global + 256] | x3).min(x3 & x3);
                        }
                        0i8 => {
                            let x4 = x0 - 0u32;
                            let x5 = (&in_u64[24u32..24u32 + 28])[(local as u32) & 63u32];
                        }
                        _ => {
                            let mut x6: S<bool> = a_bool;
                        }
                    }
                    let mut x7: V<u32> = 4294967289;
                }
                let mut x8: V<u32> = in_u32[lane];
                x8 = x8.wrapping_shr(4294967289);
                x8 = x8.wrapping_shl(2);
            }
        }
        out_u32[global] = x0;
    }

    #[workgroup(128)]
    fn program_131(
        a_bool: bool,
        out_u8: &mut [u8],
        a_i16: i16,
        in_i16: &[i16],
        out_i16: &mut [i16],
        a_u16: u16,
        in_u16: &[u16],
        out_u16: &mut [u16],
        a_i32: i32,
        in_i32: &[i32],
        shared_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f16: f16,
        a_bf16: bf16,
        out_bf16: &mut [bf16],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        let lds1 = Lds::<u16, 128>::new();
        lds0[local] = global.wrapping_shr(23u32);
        lds1[local] = out_u16[global + 128];
        let mut x0: S<bool> = a_bool;
        let mut x1: V<i16> = wave_inclusive_and(in_i16[lane]) % 5599i16;
        let mut x2: S<bf16> = bf16::from_bits(0x4257 /* 53.75 */) / a_bf16;
        let mut object0: Thing = Thing::Nothing;
        let mut x3: V<u32> = 0;
        while (x3 < 5u32) && (splat(a_f16) < a_f16.max(f16::from_bits(0x3c00 /* 1 */))) {
            x3 += 1;
            let x4 = a_u16 + (a_u16 * 32770u16);
        }
        x2 += x2;
        let mut object1: Option<V<u32>> = if a_i16.wrapping_shr(0u32) < 13i16 { None } else { None };
        let mut x5: V<u32> = 0;
        while (x5 < 2u32) && (-5i16 > splat(-24324i16)) {
            x5 += 1;
            let mut x6: S<u32> = 0;
            while (x6 < 1u32) && (super::bits::table::<i16>(7)[(wave ^ a_u32) & 127] >= a_i16.wrapping_shr(a_u32 * 0u32)) {
                x6 += 1;
                let mut x7: V<i16> = in_u16[local] as i16;
                x7 *= in_i16[(x7 as u32) % 96u32];
                let mut object2: Thing = Thing::Nothing;
            }
            shared_i32.atomic((&in_u32[85u32..85u32 + 46])[(wave + out_u32[global + 256]) & 63u32] & 15u32).fetch_or(a_i32, Scope::Agent, Ordering::Relaxed);
        }
        let mut object3: Result<V<u32>, V<i32>> = Err(in_i32[lane]);
        x2 = x2;
        match object3 {
            Ok(x8) => {
            }
            Err(x9) => {
            }
        }
        out_u8[global] = x0 as u8;
        out_i16[global] = x1;
        out_bf16[global] = x2;
    }

    #[workgroup(128)]
    fn program_155(
        a_u8: u8,
        out_u8: &mut [u8],
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        a_f32: f32,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<u32, 8>::filled(0u32);
        let mut x0: V<bool> = select(local == a_u32, -84.5f32, in_f32[local]) < (if a_u8 != a_u8 { a_f32 / a_f32 } else { super::bits::table::<f32>(6)[(group ^ a_u32) & 63] });
        let mut x1: V<u32> = 0;
        loop {
            x1 += 1;
            if x1 > 3u32 {
                cold_path();
                break;
            }
            own0[0u32] = in_u32.load_vector::<4>(in_i32[global].to_bits_as::<u32>() & 127u32).get(3) | (2300120311u32 * local);
            if any(in_u32[global] != in_u32[lane]) {
            }
        }
        out_u8[global] = x0 as u8;
    }

    #[workgroup(64)]
    fn program_157(
        a_bool: bool,
        a_i8: i8,
        in_i8: &[i8],
        out_u8: &mut [u8],
        in_u16: &[u16],
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_u64: &[u64],
        a_bf16: bf16,
        a_f32: f32,
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i8, 128>::new();
        lds0[local] = in_i8[lane];
        lds0[local + 64u32] = select(in_u64[local] < in_u64[lane], in_i8[local], splat(a_i8));
        let x0 = a_f32;
        if a_bool {
            cold_path();
            let mut x1: S<f32> = x0;
        }
        let mut x2: V<f32> = x0;
        let x3 = in_u32.uniform(35u32);
        let mut object0: (V<f32>, V<u16>) = if a_f32 == x0 { (a_f32, wave_inclusive_or(splat(47464u16))) } else { (splat(a_f32) as f32, (in_u32[lane] as u16).min(6u16) * in_u16[local]) };
        let mut x4: V<bool> = true;
        x4 = (x2 as u32) <= x3;
        if x0 < x0 {
            x4 = x4;
            return;
        }
        let mut x5: V<u32> = 0;
        while x5 < 1u32 {
            x5 += 1;
            x4 = splat(a_bf16) >= bf16::from_bits(0xdf7d /* -18230571000000000000 */);
        }
        out_f32[global] = x0;
        out_f32[global + 64] = x2;
        out_u32[global] = x3;
        out_u8[global] = x4 as u8;
    }

    #[workgroup(128)]
    fn program_165(
        out_u8: &mut [u8],
        in_i32: &[i32],
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
        let x0 = in_f32.uniform(30u32);
        let mut x1: V<bool> = 61.625f32 == splat(a_f32);
        let x3: V<f32>;
        if in_f16[lane] >= (f16::from_bits(0x3344 /* 0.22705078 */) + a_f16) {
            let mut x2: V<u32> = 0;
            while (x2 < 1u32) && (out_f32[global].max(splat(f32::from_bits(0xdf5931b9))) >= -92.5f32) {
                x2 += 1;
                let mut object0: Thing = Thing::Number((out_u32[global] - in_u32[global]).wrapping_shl(shuffle_xor(splat(a_u32), 2)) & (in_i32[lane].to_bits_as::<u32>() & local));
            }
            x3 = out_f32[global + 256];
        } else {
            x3 = in_f32.load_vector::<2>(splat(a_u32) & 127u32).get(0);
        }
        out_f32[global] = x0;
        out_u8[global] = x1 as u8;
        out_f32[global + 128] = x3;
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
        let mut object0: Thing = if select(x0, splat(-221873282i32), out_i32[global]) < (a_i32 % ((in_i32.uniform(33u32) as i32) | 1i32)) { Thing::Both { near: in_i32[local], far: in_f32[lane] } } else { Thing::Nothing };
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

    #[workgroup(64)]
    fn program_182(
        a_bool: bool,
        a_u8: u8,
        in_u8: &[u8],
        out_u8: &mut [u8],
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_f32: &mut [f32],
        a_f64: f64,
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<f64> = a_f64;
        let mut x1: S<f64> = in_f64.uniform(87u32);
        let x2 = in_f64[global];
        let mut object0: Pair = Pair { count: local.wrapping_shl(lane), level: (if splat(a_u8) <= (in_u8[global] + out_u8[global + 128]) { out_f32[global] } else { 98.25f32 }) };
        let mut x3: S<u32> = 0;
        while (x3 < 4u32) && a_bool {
            x3 += 1;
            let mut x4: V<i32> = in_i32.load_vector::<2>(object0.peek() & 127u32).get(0) / 1i32;
            for x5 in (4294967292u32..splat(4294967295u32)).step_by(3) {
                x4 = x4;
                let x6 = (&mut object0).step((if any(x0 == x2) { out_f64[global] as u32 } else { a_u32 * (in_u32.uniform(96u32) & in_u32.uniform(10u32)) }));
                {
                    let Pair { count: x7, level: x8 } = object0;
                }
            }
        }
        out_f64[global] = x0;
        out_f64[global + 64] = x1;
        out_f64[global + 128] = x2;
    }

    #[workgroup(128)]
    fn program_187(
        a_bool: bool,
        in_u16: &[u16],
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        shared_u32: &mut [u32],
        in_f16: &[f16],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        let own0 = Private::<f16, 8>::filled(f16::from_bits(0x0 /* 0 */));
        lds0[local] = splat(a_u32);
        let mut x0: V<u32> = in_u32[local] * in_u32.uniform(37u32);
        x0 = (if a_bool { x0 } else { a_u32 });
        x0 = in_u32[local];
        if a_bool {
            x0 = wave.wrapping_shr(a_u32).max(wave);
            let mut object0: Thing = Thing::Both { near: ((in_i32[global] | in_i32[lane]) + read_lane(splat(2097152i32), group % 64u32)).max(215650235i32), far: out_f32[global + 128] };
            own0[6u32] = in_u16.load_vector::<2>((x0 / (out_u32[global + 256] | 1u32)) & 127u32).get(1).to_bits_as::<f16>();
        }
        if (local * x0) >= (in_u32.uniform(24u32) + a_u32) {
            cold_path();
            own0[4u32] = in_f16[global];
        } else {
            cold_path();
            shared_u32.atomic(x0 & 15u32).fetch_min(a_u32 * in_u32[out_u32[global + 128] % 96u32], Scope::Agent, Ordering::Relaxed);
        }
        if x0 < 16777216u32 {
            x0 *= (a_u32 as u32) | x0;
            let mut x1: V<u32> = 0;
            while x1 < 2u32 {
                x1 += 1;
            }
        }
        out_u32[global] = x0;
    }

    #[workgroup(128)]
    fn program_188(
        a_bool: bool,
        a_i16: i16,
        in_i16: &[i16],
        out_i16: &mut [i16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        in_f16: &[f16],
        out_f16: &mut [f16],
        out_bf16: &mut [bf16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<f16, 8>::filled(f16::from_bits(0x0 /* 0 */));
        let own1 = Private::<i64, 8>::filled(0i64);
        let x0 = (in_i16[local] % -32767i16) - select(in_u32[global] <= local, in_i16[global], a_i16);
        let x1 = wave;
        let mut x2: V<u32> = 0;
        loop {
            x2 += 1;
            if x2 > 1u32 {
                cold_path();
                break;
            }
            let x3 = super::bits::table::<i16>(6)[(lane ^ out_u32[global].min(in_u32[local])) & 63];
            own1[(in_f16[global] as u32) & 7u32] = in_i64.uniform(25u32).wrapping_shr(58u32) ^ -9223372036854775806i64;
            let x4 = in_i16[lane];
        }
        own1[local & 7u32] = in_i16[local] as i64;
        let mut object0: Word = Word::Right(splat(out_f32[global + 256]));
        object0 = if a_bool { Word::Right(splat(shuffle_xor(in_f32[local], 3))) } else { Word::Left(splat(either(in_u32[lane], |v| v > (!in_u32[lane]), |v| v * (!in_u32[lane])).unwrap_or(global))) };
        let mut x5: V<i16> = (a_i16 + a_i16).wrapping_shr(x1 | 3455741077u32);
        let mut object1: Result<V<u32>, V<i32>> = Ok((group ^ a_u32) * 7u32);
        let mut x6: V<u32> = 0;
        loop {
            x6 += 1;
            if x6 > 3u32 {
                cold_path();
                break;
            }
            match object1 {
                Ok(x7) => {
                    x5 = (in_i16.load_vector::<2>((x7 & splat(3239612151u32)) & 127u32).get(1) / -8071i16).wrapping_shl(45u32);
                    let mut object2: Option<V<f16>> = if out_bf16[global] == bf16::from_bits(0x4270 /* 60 */) { Some(splat(f16::from_bits(0xc9e0 /* -11.75 */))) } else { None };
                }
                Err(x8) => {
                    own0[0u32] = select(x0 > x0, f16::from_bits(0x562a /* 98.625 */), out_f16[global].min(f16::from_bits(0x7c00 /* inf */)));
                    own1[in_u32[local].max(local) & 7u32] = splat(0i64);
                    x5 = again(splat(a_f32), |v| v + out_f32[global + 128]) as i16;
                    x5 = x5.wrapping_shl(1);
                }
            }
        }
        out_i16[global] = x0;
        out_u32[global] = x1;
        out_i16[global + 128] = x5;
    }

    #[workgroup(128)]
    fn program_190(
        a_bool: bool,
        out_i16: &mut [i16],
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_u64: &[u64],
        out_u64: &mut [u64],
        a_f32: f32,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        let own0 = Private::<i16, 8>::filled(0i16);
        lds0[local] = in_u32[local];
        let x0 = (!a_u32).wrapping_shl(wave_and(global));
        if (38u32 <= lane) && (a_f32 >= 112.25f32) {
            let mut x1: V<u64> = (18446744073709551610u64 | out_u64[global + 128]) / ((out_i16[global + 128] as u64) | 1u64);
            let mut x2: S<u32> = (if a_bool { x0 } else { x0 });
            match (shuffle_xor(in_i32[global], 38) * in_i32.load_vector::<4>(select(lane != local, lane, lane) & 127u32).get(3)) & 7i32 {
                1i32..=2147483647i32 => {
                    x1 = (&in_u64[82u32..82u32 + 3])[(splat(a_u32) ^ x0) & 63u32];
                    let mut object0: Word = if splat(a_u32) != (x2 | a_u32) { Word::Left(splat(in_u32[local] as u32)) } else { Word::Right(splat((if splat(a_u32) >= 2446228454u32 { a_f32 } else { in_f32[lane] }))) };
                    if (!(!a_bool)) {
                        cold_path();
                        return;
                    }
                }
                -1i32..=3i32 => {
                }
                -2i32..=3i32 => {
                }
                _ => {
                }
            }
        }
        out_u32[global] = x0;
    }

    #[workgroup(128)]
    fn program_220(
        in_u16: &[u16],
        out_u16: &mut [u16],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        shared_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_u64: u64,
        in_u64: &[u64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<i16, 8>::filled(0i16);
        let own1 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        let mut x0: V<u16> = in_u16[(global % (splat(2147483650u32) | 1u32)) % 96u32];
        let mut x1: S<u32> = 4;
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
                        x0 *= 65530;
                        match (in_u64[out_u32[global + 256] % 96u32] ^ (in_u64.uniform(18u32) * a_u64)) & 7u64 {
                            0u64..=6u64 => {
                            }
                            _ => {
                            }
                        }
                    }
                }
            }
        }
        out_u16[global] = x0;
        out_u32[global] = x1;
    }

    #[workgroup(128)]
    fn program_222(
        a_bool: bool,
        in_i8: &[i8],
        out_u8: &mut [u8],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        in_bf16: &[bf16],
        out_bf16: &mut [bf16],
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
        let mut x1: V<u32> = wave_exclusive_sum(global);
        let mut x2: V<bool> = (x0 ^ a_u32) < x0;
        for x3 in ((x0 & 7u32)..(x1 & 7u32)).rev().step_by(1) {
            let mut object0: Option<V<i64>> = if a_bool { Some((splat(-1i8) as i64) & (if a_bool { in_i64[lane] } else { 16i64 })) } else { None };
            object0 = Some(x1.max(x1) as i64);
            own1[in_u32[lane].min(x3) & 7u32] = shuffle(in_i8[lane], x1.wrapping_shl(4u32));
        }
        x2 = out_bf16[global + 128] <= in_bf16[lane];
        lds0[local] = in_i64[local];
        let mut x4: V<u8> = 250;
        out_u32[global] = x0;
        out_u32[global + 128] = x1;
        out_u8[global] = x2 as u8;
        out_u8[global + 128] = x4;
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

    #[workgroup(64)]
    fn program_234(
        a_bool: bool,
        a_u8: u8,
        out_u8: &mut [u8],
        a_i16: i16,
        a_u16: u16,
        out_u16: &mut [u16],
        a_i32: i32,
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        a_u64: u64,
        out_f16: &mut [f16],
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i64, 128>::new();
        lds0[local] = in_i64[lane];
        lds0[local + 64u32] = in_i64[local];
        let mut x0: S<u32> = read_lane(in_u32[lane], read_lane(local, (group % (wave | 1u32)) % 64u32) % 64u32) * a_u32;
        let mut x1: V<f16> = splat(f16::from_bits(0xd45e /* -69.875 */));
        let mut x2: S<u32> = read_lane(in_u32[local].max(lane).min(4096u32), (x0 % 11u32) % 64u32);
        lds0[local] = splat(a_i64);
        for x3 in ((a_i16.wrapping_shr(x2.min(4294967293u32)) & 7i16) - 3i16)..=((super::bits::table::<i16>(10)[(wave ^ x2) & 1023] & 7i16) - 3i16) {
            x0 -= x0;
            let x4 = x0;
            let mut x5: V<f32> = in_f32[lane];
            let mut x6: V<u32> = out_u32[global];
        }
        x0 = a_u32;
        out_i32[global + 256] = out_i32[global + 128] ^ a_i32;
        x0 = x0.wrapping_shr(0);
        x0 &= (a_u8 < a_u8) as u32;
        let mut x7: V<u8> = splat(a_u8).min(54u8);
        x7 -= 249;
        for x8 in (0u64..=((a_u64 & a_u64) & 7u64)).rev() {
            let mut object0: Long = if (x0 & x0) <= (x2 * 4294967291u32) { Long::Right(splat(out_u16[global + 128] ^ a_u16)) } else { Long::Right(splat((x2 < splat(4294967293u32)) as u16)) };
            if (if in_u32[local] >= x2 { splat(a_u64) } else { 18446744073709551614u64 }) > (if a_bool { x8 } else { 18446744073709551609u64 }) {
            }
        }
        out_u32[global] = x0;
        out_f16[global] = x1;
        out_u32[global + 128] = x2;
        out_u8[global] = x7;
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

    #[workgroup(64)]
    fn program_265(
        in_i16: &[i16],
        out_i16: &mut [i16],
        a_i32: i32,
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        out_i64: &mut [i64],
        a_u64: u64,
        in_u64: &[u64],
        a_f16: f16,
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
        let mut object0: Thing = if (x0 & x0) > x0.wrapping_shr(9u32) { Thing::Both { near: (group as i32) | (in_i32.uniform(89u32) ^ in_i32.uniform(65u32)), far: splat(-85.0f32) * in_f32.load_vector::<4>(shuffle(in_u32[global], x0 | wave) & 127u32).get(1) } } else { Thing::Wide(select(x0 > x0, in_i64.uniform(38u32), out_i64[global]) % ((in_i64[global] | a_i64) | 1i64)) };
        let mut object1: Result<V<f32>, V<u32>> = if -66.625f32 <= in_f32[lane] { Ok((local < a_u32) as f32) } else { Err(x0) };
        if in_u64.uniform(64u32) >= (in_u64.uniform(35u32) - a_u64) {
            cold_path();
            return;
        }
        object0 = Thing::Number(shuffle(splat(a_i32), x0 % 2147483651u32) as u32);
        out_i16[global] = in_i16[(x0 - x0) % 96u32];
        match object1 {
            Ok(x1) => {
                out_f32[global + 128] = (if x0.min(in_u32[local]) <= (a_u32 ^ 2147483648u32) { x1 } else { in_f32.uniform(49u32) - a_f32 });
            }
            Err(x2) => {
                lds0[local] = either(splat(a_f16), |v| v > ((splat(a_f32) < a_f32) as f16), |v| v + ((splat(a_f32) < a_f32) as f16)).unwrap_or(splat(f16::from_bits(0xd124 /* -41.125 */)) / f16::from_bits(0xcb30 /* -14.375 */));
            }
        }
        out_u32[global] = x0;
    }
}

pub const SAMPLE: &[Sampled] = &[
    (2, |target, options| program_2.build_with(target, options).map(BuiltKernel::into_any)),
    (3, |target, options| program_3.build_with(target, options).map(BuiltKernel::into_any)),
    (6, |target, options| program_6.build_with(target, options).map(BuiltKernel::into_any)),
    (9, |target, options| program_9.build_with(target, options).map(BuiltKernel::into_any)),
    (10, |target, options| program_10.build_with(target, options).map(BuiltKernel::into_any)),
    (30, |target, options| program_30.build_with(target, options).map(BuiltKernel::into_any)),
    (35, |target, options| program_35.build_with(target, options).map(BuiltKernel::into_any)),
    (52, |target, options| program_52.build_with(target, options).map(BuiltKernel::into_any)),
    (59, |target, options| program_59.build_with(target, options).map(BuiltKernel::into_any)),
    (75, |target, options| program_75.build_with(target, options).map(BuiltKernel::into_any)),
    (76, |target, options| program_76.build_with(target, options).map(BuiltKernel::into_any)),
    (77, |target, options| program_77.build_with(target, options).map(BuiltKernel::into_any)),
    (79, |target, options| program_79.build_with(target, options).map(BuiltKernel::into_any)),
    (99, |target, options| program_99.build_with(target, options).map(BuiltKernel::into_any)),
    (102, |target, options| program_102.build_with(target, options).map(BuiltKernel::into_any)),
    (108, |target, options| program_108.build_with(target, options).map(BuiltKernel::into_any)),
    (109, |target, options| program_109.build_with(target, options).map(BuiltKernel::into_any)),
    (116, |target, options| program_116.build_with(target, options).map(BuiltKernel::into_any)),
    (123, |target, options| program_123.build_with(target, options).map(BuiltKernel::into_any)),
    (131, |target, options| program_131.build_with(target, options).map(BuiltKernel::into_any)),
    (155, |target, options| program_155.build_with(target, options).map(BuiltKernel::into_any)),
    (157, |target, options| program_157.build_with(target, options).map(BuiltKernel::into_any)),
    (165, |target, options| program_165.build_with(target, options).map(BuiltKernel::into_any)),
    (173, |target, options| program_173.build_with(target, options).map(BuiltKernel::into_any)),
    (182, |target, options| program_182.build_with(target, options).map(BuiltKernel::into_any)),
    (187, |target, options| program_187.build_with(target, options).map(BuiltKernel::into_any)),
    (188, |target, options| program_188.build_with(target, options).map(BuiltKernel::into_any)),
    (190, |target, options| program_190.build_with(target, options).map(BuiltKernel::into_any)),
    (220, |target, options| program_220.build_with(target, options).map(BuiltKernel::into_any)),
    (222, |target, options| program_222.build_with(target, options).map(BuiltKernel::into_any)),
    (226, |target, options| program_226.build_with(target, options).map(BuiltKernel::into_any)),
    (231, |target, options| program_231.build_with(target, options).map(BuiltKernel::into_any)),
    (234, |target, options| program_234.build_with(target, options).map(BuiltKernel::into_any)),
    (251, |target, options| program_251.build_with(target, options).map(BuiltKernel::into_any)),
    (265, |target, options| program_265.build_with(target, options).map(BuiltKernel::into_any)),
];
