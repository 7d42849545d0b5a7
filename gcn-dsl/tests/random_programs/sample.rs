//! Made from random programs; see `through_macro.rs`.

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

    #[workgroup(128)]
    fn program_28(
        a_u16: u16,
        in_u16: &[u16],
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
        let own0 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        let own1 = Private::<i32, 8>::filled(0i32);
        lds0[local] = in_f32[global];
        let mut x0: V<i32> = in_i32[global];
        let x1 = in_u32.uniform(63u32).wrapping_shr(26u32);
        x0 &= (in_i32[lane] * in_i32[local]).wrapping_shr(21u32);
        x0 &= x0;
        x0 = shuffle(x0.to_bits_as::<i32>(), lane);
        out_f32[global] = shuffle(splat(a_f32), in_u32[global] + lane);
        for x2 in (5u16..=(in_u16[local] & 7u16)).rev() {
            match a_u16.max(a_u16 | a_u16) & 7u16 {
                2u16..=6u16 => {
                    let mut x3: V<u32> = 0u32;
                    loop {
                        x3 += 1u32;
                        if x3 > 3u32 {
                            break;
                        }
                        own0[3u32] = shuffle(x2.to_bits_as::<bf16>(), in_u32[in_u32[local] % 99u32]);
                    }
                }
                _ => {
                }
            }
        }
        out_i32[global] = x0;
        out_u32[global] = x1;
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

    #[workgroup(128)]
    fn program_80(
        in_u16: &[u16],
        a_i32: i32,
        out_u32: &mut [u32],
        in_f16: &[f16],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f16, 128>::new();
        let lds1 = Lds::<u16, 128>::new();
        lds0[local] = in_f16[global];
        lds1[local] = in_u16[global].min(in_u16[global]);
        let mut x0: V<u32> = 2864774368u32;
        x0 = global;
        for x1 in ((splat(-1460868001i32) & 7i32) - 3i32)..((splat(a_i32).min(splat(0i32)) & 7i32) - 3i32) {
            if any(x0 > group) {
                x0 = x0 + ((wave / 129u32) ^ 4294967290u32);
                continue;
            }
        }
        out_u32[global] = x0;
    }

    #[workgroup(64)]
    fn program_94(
        a_bool: bool,
        a_u8: u8,
        in_u8: &[u8],
        out_u8: &mut [u8],
        a_i16: i16,
        in_i16: &[i16],
        out_i16: &mut [i16],
        a_u16: u16,
        in_u16: &[u16],
        a_u32: u32,
        in_u32: &[u32],
        a_i64: i64,
        in_i64: &[i64],
        out_i64: &mut [i64],
        a_f16: f16,
        a_bf16: bf16,
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u16, 128>::new();
        lds0[local] = splat(a_u16).max(32769u16);
        lds0[local + 64u32] = in_u16[global] & a_u16;
        let x0 = a_bf16 == (a_bf16 / bf16::from_bits(0xc2ba /* -93 */));
        let mut x1: S<u8> = read_lane(in_u8[local], a_u32 | wave) % 123u8;
        #[unroll]
        for x2 in 0u32..0 {
            let mut x3: V<f16> = (global.to_bits_as::<u32>() < splat(a_u32).wrapping_shl(select(in_u8[global] == x1, 512u32, in_u32[local]))) as f16;
            x3 *= (if a_i16 <= 42i16 { a_f16 * x3 } else { x3.min(splat(a_f16)) });
            for x4 in ((((in_i16[lane] | 1i16) & 7i16) - 3i16)..=0i16).step_by(1) {
                x3 = x3;
            }
        }
        match (if a_bool { out_i64[global + 256] } else { in_i64[lane] }) ^ (a_i64 ^ in_i64.uniform(27u32)) {
            -4i64..=3i64 => {
                let x5 = in_u8[local].min(out_u8[global + 128] * splat(a_u8));
                let mut x6: V<u32> = global;
            }
            _ => {
                for x7 in 2i16..((out_i16[global + 256] & 7i16) - 3i16) {
                }
            }
        }
        out_u8[global] = x0 as u8;
        out_u8[global + 128] = x1;
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
    fn program_198(
        a_i8: i8,
        in_i8: &[i8],
        out_i8: &mut [i8],
        out_u8: &mut [u8],
        a_u16: u16,
        out_u16: &mut [u16],
        a_i32: i32,
        shared_i32: &mut [i32],
        in_u32: &[u32],
        in_i64: &[i64],
        shared_i64: &mut [i64],
        a_f32: f32,
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i8, 128>::new();
        lds0[local] = in_i8[global] | splat(a_i8);
        let mut x0: V<bool> = true;
        let mut x1: V<u16> = 65532u16;
        let mut x2: S<i8> = a_i8;
        x1 = select(x0, x1, a_u16);
        shared_i32.atomic(in_u32[global].wrapping_shr(splat(2097152u32) | global) & 15u32).fetch_and(splat(a_i32) | a_i32, Scope::Agent, Ordering::Relaxed);
        for x3 in 4294967294u32..=splat(4294967295u32) {
            x1 += 43u16;
        }
        shared_i64.atomic((in_u32[global] % 4294967295u32) & 15u32).fetch_max(in_i64[global] * in_i64[global], Scope::Agent, Ordering::Relaxed);
        x2 ^= (a_f32 as i8) / (a_i8.to_bits_as::<i8>() | 1i8);
        out_u8[global] = x0 as u8;
        out_u16[global] = x1;
        out_i8[global] = x2;
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
    (9, |target| program_9.build(target)),
    (22, |target| program_22.build(target)),
    (28, |target| program_28.build(target)),
    (29, |target| program_29.build(target)),
    (32, |target| program_32.build(target)),
    (80, |target| program_80.build(target)),
    (94, |target| program_94.build(target)),
    (109, |target| program_109.build(target)),
    (116, |target| program_116.build(target)),
    (122, |target| program_122.build(target)),
    (133, |target| program_133.build(target)),
    (137, |target| program_137.build(target)),
    (139, |target| program_139.build(target)),
    (182, |target| program_182.build(target)),
    (198, |target| program_198.build(target)),
    (208, |target| program_208.build(target)),
    (222, |target| program_222.build(target)),
];
