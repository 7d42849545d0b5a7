//! Made from random programs; see `through_macro.rs`.

use gcn_dsl::BuiltKernel;
use gcn_dsl::prelude::*;

use super::through_macro::Sampled;

gcn_kernel! {
    #[workgroup(64)]
    fn program_9(
        a_bool: bool,
        a_i8: i8,
        in_i8: &[i8],
        out_i8: &mut [i8],
        a_u8: u8,
        in_u8: &[u8],
        out_u8: &mut [u8],
        in_i16: &[i16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        shared_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<u8> = in_u8[local];
        let mut x1: V<u8> = (in_i8[local] - splat(a_i8)).wrapping_shl(lane).to_bits_as::<u8>();
        let mut x2: V<f32> = read_first_lane(in_f32[global].round_ties_even());
        x1 *= in_u8[global % 99u32].max(out_u8[global].wrapping_shr(splat(625070912u32).wrapping_shr(in_u32[global].wrapping_shl((x1 >= x1) as u32))));
        x0 ^= wave_exclusive_xor(out_u8[global + 64]) + 40u8;
        if a_bool {
            shared_u32.atomic(out_u32[global + 64].max(2147483649u32) & 15u32).fetch_or((a_u32 as u32) % 592432295u32, Scope::Agent, Ordering::Relaxed);
            let mut x3: V<u8> = x1 - 255u8;
        } else {
            let mut x4: S<u32> = (a_bool as u32) / 3049808765u32;
            if (a_u32 | x4) != (a_u32 * x4) {
                match in_i16[(local + x4) % 99u32] {
                    5i16..=32767i16 => {
                        for x5 in (((if a_bool { a_i64 } else { a_i64 }) & 7i64) - 3i64)..(((in_i64[global] % 39i64) & 7i64) - 3i64) {
                            if in_u8[in_u32[lane] % 99u32] < out_i8[global + 64].to_bits_as::<u8>() {
                                x0 = x1 / ((out_u8[global + 128] | x1) | 1u8);
                                let x6 = x2.floor();
                                out_u8[global] = (x0.wrapping_shr(splat(2147483648u32)) as i8).to_bits_as::<u8>();
                            } else {
                                x1 = a_u8.wrapping_shl(12u32) ^ (a_u8 % 1u8);
                            }
                            x0 = x0.wrapping_shl(2147483649u32);
                        }
                    }
                    6i16..=9i16 => {
                    }
                    3i16..=32767i16 => {
                    }
                    _ => {
                    }
                }
            }
        }
        out_u8[global] = x0;
        out_u8[global + 64] = x1;
        out_f32[global] = x2;
    }

    #[workgroup(64)]
    fn program_22(
        a_bool: bool,
        out_u8: &mut [u8],
        in_i16: &[i16],
        a_u32: u32,
        in_u32: &[u32],
        a_f32: f32,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<bool> = (global < in_u32[global]) || a_bool;
        if (in_f32.uniform(44u32) / a_f32) == (in_f32.uniform(8u32) + a_f32) {
            x0 = a_bool;
        } else {
            x0 = a_bool || x0;
            #[unroll]
            for x1 in 0u32..3 {
                for x2 in (5u32..((in_u32[lane] + splat(4294967293u32)) & 7u32)).rev() {
                    let mut x3: V<u32> = in_u32[global % 99u32];
                    if any(x2 == x2) {
                        if (in_u32[lane] < x3) || false {
                            if (in_i16[lane] as u32) != (splat(a_u32) as u32) {
                                x3 = x2 % 75u32;
                                let x4 = splat(a_f32).to_bits_as::<u32>();
                                x0 = 4294967293u32 == x3;
                            }
                        }
                    }
                }
            }
        }
        out_u8[global] = x0 as u8;
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
            x1 = x0;
        } else {
            let mut x2: V<u32> = 0u32;
            loop {
                x2 += 1u32;
                if x2 > 2u32 {
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
            x1 = x1;
        }
        out_i64[global] = x0;
        out_f32[global] = x1;
    }

    #[workgroup(64)]
    fn program_67(
        a_i8: i8,
        a_u8: u8,
        in_u8: &[u8],
        out_u8: &mut [u8],
        in_i16: &[i16],
        out_i16: &mut [i16],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f16: f16,
        a_bf16: bf16,
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<u8> = (a_u8 as u8) | (a_u8 & a_u8);
        x0 |= (x0 as u8) * x0;
        let mut x1: S<u32> = 39065448u32;
        out_i16[global] = select(lane <= 262144u32, -12070i16, in_i16[lane].wrapping_shr(in_u32[local] / (lane.min(3066207676u32) | 1u32))) & -32768i16;
        #[unroll]
        for x2 in 0u32..2 {
            if (lane as u8) < (in_u8[global] & splat(a_u8)) {
                out_u8[global + 128] = a_i8.to_bits_as::<u8>().max(94u8);
            } else {
                let mut x3: S<bf16> = a_bf16.min(bf16::from_bits(0xc2d4 /* -106 */));
                x3 = a_f16.to_bits_as::<bf16>();
                if (in_u8[global] / ((x0 ^ splat(a_u8)) | 1u8)) >= x0.wrapping_shr(59u32) {
                }
            }
        }
        out_u8[global] = x0;
        out_u32[global] = x1;
    }

    #[workgroup(128)]
    fn program_109(
        out_u8: &mut [u8],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_u64: &[u64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let x0 = (!(splat(0u32) == 7u32));
        let mut x1: V<u32> = 2147483649u32 * select(in_u32[global] < lane, splat(a_u32).max(2147483650u32), read_first_lane(lane));
        match in_u64[local].max(9223372036854775810u64).wrapping_shl(39u32) & 7u64 {
            4u64 => {
                x1 = in_u32[wave_inclusive_product(global) % 99u32];
                x1 |= in_u32[select(x0, 4294967294u32, lane) % 99u32];
            }
            _ => {
                if (!(wave > out_u32[global])) {
                    return;
                }
            }
        }
        x1 = x1.wrapping_shr((global & x1).min(956234209u32));
        x1 = x1.wrapping_shl(x1.wrapping_shr(x1.wrapping_shl(55u32)) | x1);
        out_u8[global] = x0 as u8;
        out_u32[global] = x1;
    }

    #[workgroup(64)]
    fn program_116(
        a_bool: bool,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_u64: &[u64],
        shared_u64: &mut [u64],
        a_f16: f16,
        a_f32: f32,
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<f16, 8>::filled(f16::from_bits(0x0 /* 0 */));
        let own1 = Private::<f32, 8>::filled(0.0f32);
        let x0 = in_u32.uniform(53u32).to_bits_as::<u32>() - wave_sum(lane);
        let mut x1: V<f32> = own1[lane & 7u32];
        for x2 in (32767i16..32767i16).step_by(1) {
            own0[5u32] = a_f16;
        }
        x1 = out_u32[global + 64] as f32;
        x1 = a_f32;
        shared_u64.atomic((lane | x0) & 15u32).fetch_max(in_u64[lane].wrapping_shr(35u32), Scope::Agent, Ordering::Relaxed);
        if (x0 == 2147483650u32) && (!a_bool) {
            return;
        }
        let x3 = (x0 - in_u32.uniform(75u32)).max(x0 - x0);
        out_u32[global] = x0;
        out_f32[global] = x1;
        out_u32[global + 64] = x3;
    }

    #[workgroup(128)]
    fn program_122(
        a_bool: bool,
        a_i8: i8,
        in_i8: &[i8],
        in_u8: &[u8],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
        out_u64: &mut [u64],
        a_f32: f32,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i8, 128>::new();
        let lds1 = Lds::<i64, 128>::new();
        lds0[local] = splat(a_i8) | in_i8[local];
        lds1[local] = in_i64[local].wrapping_shr(in_u32[lane % 99u32]);
        let mut x0: V<u64> = 0u64;
        let mut x1: S<i32> = (if a_bool { in_i32.uniform(31u32) } else { in_i32.uniform(27u32) });
        let mut x2: V<u32> = in_f32[lane] as u32;
        for x3 in (((in_i64[global] & 7i64) - 3i64)..1i64).rev() {
            let mut x4: S<i32> = x1.max(-1i32);
            for x5 in ((in_u8[global] & 7u8)..=((splat(bf16::from_bits(0xc2e3 /* -113.5 */)) as u8) & 7u8)).rev().step_by(3) {
                out_i32[global] = shuffle_xor(out_i32[global + 256] as i32, 43);
                x0 ^= 262144u64;
                let x6 = (x4 * x1) / ((x4 * x4) | 1i32);
                x2 |= 3u32;
            }
            lds1[local] = select(in_f32[global] >= a_f32, splat(a_i64), x3) ^ (in_i64.uniform(94u32) % (a_i64 | 1i64));
            x2 = shuffle_xor(lane, 46) as u32;
        }
        x1 = (!(x1 - x1)) - (if x1 <= x1 { read_first_lane(in_i32[lane]) } else { -5i32 | a_i32 });
        barrier();
        out_u64[global] = x0;
        out_i32[global] = x1;
        out_u32[global] = x2;
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
            for x3 in ((((in_i32[local] + in_i32[local]) & 7i32) - 3i32)..=4i32).rev() {
            }
        }
        out_u32[global] = x0;
        out_bf16[global] = x1;
        out_i64[global] = x2;
    }

    #[workgroup(128)]
    fn program_133(
        out_i16: &mut [i16],
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        in_bf16: &[bf16],
        out_bf16: &mut [bf16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
        a_f64: f64,
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f32, 128>::new();
        let lds1 = Lds::<u32, 128>::new();
        lds0[local] = a_f32 - splat(-77.375f32);
        lds1[local] = global ^ in_u32.uniform(17u32);
        let mut x0: V<f32> = shuffle_xor(in_f32[local], 12);
        x0 *= in_f32[global];
        x0 = shuffle_xor(x0, 22);
        let x1 = (a_f64 / a_f64) as i16;
        x0 = x0.mul_add(-94.125f32, x0.ceil());
        out_i32[global] = in_i32[global];
        barrier();
        out_bf16[global] = shuffle_xor(in_bf16[lane], 36);
        x0 = x0;
        out_f32[global] = x0;
        out_i16[global] = x1;
    }

    #[workgroup(128)]
    fn program_137(
        a_bool: bool,
        a_i8: i8,
        in_i8: &[i8],
        out_i8: &mut [i8],
        out_u8: &mut [u8],
        in_i16: &[i16],
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
        let lds0 = Lds::<i64, 128>::new();
        lds0[local] = in_i64[local] ^ a_i64;
        let x0 = in_u32.uniform(8u32);
        let x1 = in_i64[(global / ((out_i8[global + 256] as u32) | 1u32)) % 99u32];
        let mut x2: V<bool> = in_i8[(if a_bool { global } else { x0 }) % 99u32] >= a_i8;
        out_f32[global] = (if in_f32[lane] != splat(a_f32) { in_f32[local] } else { a_f32 });
        for x3 in (65533u16..65535u16).rev().step_by(2) {
            if select(x2, out_i8[global + 512], a_i8) > splat(0i8).min(in_i8[local]) {
                x2 = local < 34u32;
                let mut x4: V<i16> = in_i16[global].wrapping_shr(in_u32[local] ^ out_u32[global + 256]);
            }
        }
        out_u32[global] = x0;
        out_i64[global] = x1;
        out_u8[global] = x2 as u8;
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
    fn program_178(
        in_i8: &[i8],
        out_i16: &mut [i16],
        a_u16: u16,
        out_u16: &mut [u16],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        in_u64: &[u64],
        shared_u64: &mut [u64],
        a_bf16: bf16,
        in_bf16: &[bf16],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<u32, 8>::filled(0u32);
        let own1 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        let x0 = read_lane((if lane < in_u32[local] { splat(a_u16) } else { splat(32770u16) }), a_u32 % 64u32);
        own1[(in_u32[lane] & local) & 7u32] = (-(if a_u32 != group { in_bf16[global] } else { a_bf16 }));
        own1[((splat(4294967289u32) != lane) as u32) & 7u32] = a_bf16;
        let mut x1: V<i32> = select(in_i32[lane] == 14i32, in_i32[local] / 561819435i32, splat(1i32).min(1714803529i32));
        match (out_i16[global + 128] as i8).to_bits_as::<i8>() & 7i8 {
            1i8 => {
                shared_u64.atomic(x1.to_bits_as::<u32>() & 15u32).fetch_and(in_u64[local], Scope::Agent, Ordering::Relaxed);
                if (!(a_i32 > a_i32)) {
                    x1 -= x1 - x1;
                    return;
                }
                for x2 in 4294967292u32..splat(4294967295u32) {
                    x1 ^= x1;
                }
            }
            126i8..=127i8 => {
                match in_i8[global].wrapping_shl(4294967294u32 | global).max(6i8) {
                    -1i8..=3i8 => {
                        let mut x3: V<bool> = true;
                    }
                    7i8..=127i8 => {
                    }
                    3i8..=5i8 => {
                    }
                    _ => {
                    }
                }
            }
            _ => {
            }
        }
        out_u16[global] = x0;
        out_i32[global] = x1;
    }

    #[workgroup(64)]
    fn program_182(
        out_u8: &mut [u8],
        a_u32: u32,
        out_u32: &mut [u32],
        a_f64: f64,
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<f64> = a_f64;
        let mut x1: S<f64> = read_first_lane(shuffle(in_f64[local % 99u32], local.wrapping_shl(24u32)));
        let mut x2: V<f64> = f64::from_bits(0xfff0000000000000);
        let mut x3: S<bool> = all((!(x2 != x2)));
        if (lane * lane) != (splat(4294967289u32) + 4294967294u32) {
            return;
        }
        if (global / 95u32) <= a_u32.min(2722912064u32) {
            if x3 {
                if out_u32[global + 64] >= 1716245697u32 {
                    return;
                }
                x2 = x2.trunc();
                x2 = x2;
            }
        }
        out_f64[global] = x0;
        out_f64[global + 64] = x1;
        out_f64[global + 128] = x2;
        out_u8[global] = x3 as u8;
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
            x0 = in_f32[global % 99u32];
        } else {
            let mut x4: S<u32> = (a_u32 * a_u32) * wave;
        }
        out_f32[global] = x0;
        out_i8[global] = x1;
        out_f32[global + 128] = x3;
    }

    #[workgroup(64)]
    fn program_216(
        in_i16: &[i16],
        out_i16: &mut [i16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_u64: u64,
        in_u64: &[u64],
        a_f32: f32,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<u64, 8>::filled(0u64);
        let mut x0: V<u32> = in_u32[lane].min(in_u32[lane]);
        x0 = a_u32.wrapping_shr(61u32);
        x0 &= x0;
        #[unroll]
        for x1 in 0u32..3 {
            x0 = x0.wrapping_shr(group.min(3043249799u32) + (in_f32[lane] as u32));
        }
        if splat(-83.75f32) == splat(a_f32) {
            return;
        }
        for x2 in 3i16..=(((in_i16[lane] ^ out_i16[global + 64]) & 7i16) - 3i16) {
            if a_u64.wrapping_shl(a_u32.wrapping_shl(13u32)) <= in_u64.uniform(40u32).min(in_u64.uniform(26u32)) {
                continue;
            }
            own0[5u32] = in_u64[global].min(splat(16017792814721351680u64));
            x0 = x0 & in_u32.uniform(42u32);
        }
        out_u32[global] = x0;
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
}

pub const SAMPLE: &[Sampled] = &[
    (9, |target| program_9.build(target).map(BuiltKernel::into_any)),
    (22, |target| program_22.build(target).map(BuiltKernel::into_any)),
    (29, |target| program_29.build(target).map(BuiltKernel::into_any)),
    (32, |target| program_32.build(target).map(BuiltKernel::into_any)),
    (67, |target| program_67.build(target).map(BuiltKernel::into_any)),
    (109, |target| program_109.build(target).map(BuiltKernel::into_any)),
    (116, |target| program_116.build(target).map(BuiltKernel::into_any)),
    (122, |target| program_122.build(target).map(BuiltKernel::into_any)),
    (124, |target| program_124.build(target).map(BuiltKernel::into_any)),
    (133, |target| program_133.build(target).map(BuiltKernel::into_any)),
    (137, |target| program_137.build(target).map(BuiltKernel::into_any)),
    (139, |target| program_139.build(target).map(BuiltKernel::into_any)),
    (159, |target| program_159.build(target).map(BuiltKernel::into_any)),
    (178, |target| program_178.build(target).map(BuiltKernel::into_any)),
    (182, |target| program_182.build(target).map(BuiltKernel::into_any)),
    (208, |target| program_208.build(target).map(BuiltKernel::into_any)),
    (216, |target| program_216.build(target).map(BuiltKernel::into_any)),
    (222, |target| program_222.build(target).map(BuiltKernel::into_any)),
];
