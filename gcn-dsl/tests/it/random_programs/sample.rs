//! Made from random programs; see `through_macro.rs`.

use gcn_dsl::prelude::*;

use super::through_macro::Sampled;

gcn_kernel! {
    #[workgroup(128)]
    fn program_2(
        in_i16: &[i16],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        in_i64: &[i64],
        out_i64: &mut [i64],
        out_bf16: &mut [bf16],
        a_f32: f32,
        out_f32: &mut [f32],
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let x0 = (in_u32[lane] >> 44u32) as bf16;
        let mut x1: V<i32> = in_i32[((in_i16[global] as u32) ^ 3769814896u32) % 99u32];
        let mut x2: V<i32> = ((x1 / ((out_i32[global + 128] - x1) | 1i32)) - select(splat(a_u32) < a_u32, in_i32[lane], x1)) >> (2147483648u32 ^ in_u32[local]);
        x1 *= (x1 + x1) % -3i32;
        let x3 = (in_f64[local] - in_f64.uniform(82u32)).mul_add(-122.625f64, in_f64[local].trunc());
        out_i32[global] = (x2 / -1i32) >> lane;
        x1 += in_i32[lane];
        let mut x4: V<f32> = -85.75f32;
        x2 ^= 6i32;
        for x5 in (in_u32[lane].max(in_u32[lane]) & 7u32)..4u32 {
            x4 = a_f32;
        }
        x2 ^= select((!(in_i64[global] > out_i64[global])), x2, 0i32);
        for x6 in ((splat(2147483649u32) & 7u32)..=(shuffle_xor(in_u32[local], 10) & 7u32)).rev() {
            out_i32[global + 128] = ((x2 / 55i32) + 5i32) & a_i32;
            if in_i32[global] <= (-2147483648i32 * x1) {
                out_i32[global + 128] = x1 % 1923262607i32;
                x4 += shuffle(x1, in_u32[x6 % 99u32]).to_bits_as::<f32>();
            }
        }
        out_bf16[global] = x0;
        out_i32[global] = x1;
        out_i32[global + 128] = x2;
        out_f64[global] = x3;
        out_f32[global] = x4;
    }

    #[workgroup(64)]
    fn program_3(
        a_bool: bool,
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f16: f16,
        in_f16: &[f16],
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f16, 128>::new();
        lds0[local] = in_f16[lane] * splat(a_f16);
        lds0[local + 64u32] = in_f16[lane] * f16::from_bits(0x54b0 /* 75 */);
        let mut x0: V<u32> = in_f32[global] as u32;
        let mut x1: S<u32> = 0u32;
        while (x1 < 2u32) && a_bool {
            x1 += 1u32;
            x0 = x0 * x0;
            x0 <<= x0;
        }
        x0 ^= x0;
        barrier();
        out_u32[global + 64] = shuffle_xor(x0, 41);
        let mut x2: V<i32> = in_i32[global];
        if (-3i32 * x2) == (a_i32 % -3i32) {
            x0 += 94u32;
        }
        let mut x3: V<u32> = 0u32;
        loop {
            x3 += 1u32;
            if x3 > 3u32 {
                break;
            }
            x2 <<= x0.max(x0) / ((4294967289u32 & x0) | 1u32);
            for x4 in 2u32..(in_u32.uniform(7u32) & 7u32) {
            }
        }
        out_u32[global] = x0;
        out_i32[global] = x2;
    }

    #[workgroup(64)]
    fn program_4(
        a_i8: i8,
        out_i8: &mut [i8],
        in_u8: &[u8],
        in_i16: &[i16],
        out_i16: &mut [i16],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        out_i64: &mut [i64],
        shared_i64: &mut [i64],
        in_f16: &[f16],
        out_bf16: &mut [bf16],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i8, 128>::new();
        lds0[local] = out_i8[global] >> 19u32;
        lds0[local + 64u32] = splat(a_i8) << (if in_i16[global] <= out_i16[global + 128] { out_u32[global + 256] } else { in_u32[global] });
        let mut x0: S<u32> = 2147483649u32;
        let mut x1: V<u32> = global;
        let mut x2: S<bf16> = bf16::from_bits(0xad52 /* -0.000000000011937118 */);
        for x3 in (((a_i32 * a_i32) & 7i32) - 3i32)..((shuffle(out_i32[global + 128], in_u32[local] << 6u32) & 7i32) - 3i32) {
            if false || (in_u8[lane] == in_u8[local]) {
                let x4 = select(x3 <= x3, in_i32[local], x1 as i32);
                shared_i64.atomic((in_f16[global] as u32) & 15u32).fetch_add(out_i64[global].min(2i64), Scope::Agent, Ordering::Relaxed);
            } else {
                let mut x5: S<u32> = 0u32;
                while (x5 < 1u32) && (x0.max(70u32) > 16u32) {
                    x5 += 1u32;
                }
            }
        }
        out_u32[global] = x0;
        out_u32[global + 128] = x1;
        out_bf16[global] = x2;
    }

    #[workgroup(64)]
    fn program_5(
        out_u8: &mut [u8],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        out_u64: &mut [u64],
        a_f64: f64,
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f64, 128>::new();
        lds0[local] = out_f64[global];
        lds0[local + 64u32] = splat(a_f64).trunc();
        let mut x0: S<bool> = a_u32 < 4294967294u32;
        let mut x1: V<u32> = local;
        let mut x2: S<i32> = ((a_i32 & a_i32) % (a_u32.to_bits_as::<i32>() | 1i32)) << in_u32.uniform(89u32);
        let mut x3: V<u32> = 0u32;
        loop {
            x3 += 1u32;
            if x3 > 3u32 {
                break;
            }
            let mut x4: V<i32> = 2038757482i32;
            let mut x5: V<i32> = in_i32[x1 % 99u32].max(3i32);
            let mut x6: V<u32> = 0u32;
            loop {
                x6 += 1u32;
                if x6 > 3u32 {
                    break;
                }
                x5 = ((out_u64[global + 64] / 7u64) as i32) - in_i32[(x1 | group) % 99u32];
                x5 = (in_i32[global] << (x1 | x1)) % ((out_i32[global + 64] & 2i32) | 1i32);
                out_u32[global + 64] = x1 << (x1 / (shuffle_xor(x1, 8) | 1u32));
                x1 = ((x1 / (global | 1u32)) >> in_u32[x1 % 99u32]).max(2147483649u32);
            }
        }
        lds0[local] = in_f64[local];
        x1 |= 84u32;
        x2 &= (if x0 { x2 } else { in_i32.uniform(90u32) }) * x2;
        out_u8[global] = x0 as u8;
        out_u32[global] = x1;
        out_i32[global] = x2;
    }

    #[workgroup(128)]
    fn program_7(
        a_bool: bool,
        a_i8: i8,
        out_i8: &mut [i8],
        out_u8: &mut [u8],
        a_i16: i16,
        in_i16: &[i16],
        out_i16: &mut [i16],
        a_u16: u16,
        in_u16: &[u16],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        out_i64: &mut [i64],
        in_u64: &[u64],
        a_f32: f32,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<i8> = a_i8;
        let mut x1: S<i32> = (if (a_i32 * 63i32) > (a_i32 + in_i32.uniform(20u32)) { a_i32 } else { (if a_bool { in_i32.uniform(58u32) } else { in_i32.uniform(52u32) }) * (a_i32 - a_i32) });
        let x2 = 0u32 != x1.to_bits_as::<u32>();
        x1 += (if a_bool && x2 { read_first_lane(in_i32[global]) } else { x1 | x1 });
        out_u32[global + 256] = wave;
        if (splat(0i32) as i32) != (if splat(67u32) > local { splat(a_i32) } else { splat(-1706893226i32) }) {
            let mut x3: V<u64> = in_u64[global];
        } else {
            let mut x4: V<f32> = in_f32[global] * a_f32;
            x4 = x4;
            out_u32[global + 128] = lane.min(0u32);
        }
        if out_i16[global + 256] >= in_i16[global].max(out_i16[global]) {
            let mut x5: V<u32> = (if in_u16[lane] != a_u16 { in_u32.uniform(14u32) } else { out_u32[global] });
            if (in_i16[lane] ^ splat(a_i16)) <= -32768i16 {
                let x6 = out_i64[global];
                x5 = ((x6 >> (x5 | x5)) - x6) as u32;
                let mut x7: S<i32> = x1 / ((if x2 { x1 } else { x1 }) | 1i32);
            }
            let mut x8: S<i32> = 0i32;
        } else {
            if in_u32[local] != wave {
                let x9 = shuffle(out_u32[global].min(1u32), splat(1073741824u32));
            }
        }
        out_i8[global] = x0;
        out_i32[global] = x1;
        out_u8[global] = x2 as u8;
    }

    #[workgroup(128)]
    fn program_8(
        a_bool: bool,
        in_u16: &[u16],
        out_u16: &mut [u16],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f16: f16,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f32, 128>::new();
        let lds1 = Lds::<u32, 128>::new();
        let own0 = Private::<f64, 8>::filled(0.0f64);
        lds0[local] = out_f32[global + 256];
        lds1[local] = splat(a_u32);
        let x0 = (!(in_u16[global] | in_u16[global]));
        let x1 = in_u32.uniform(58u32);
        out_i32[global + 256] = read_lane(splat(a_i32), 2337439587u32 ^ a_u32);
        if (in_i32.uniform(23u32) >> 2u32) != a_i32 {
            return;
        }
        if a_bool {
            let mut x2: V<u32> = 0u32;
            while (x2 < 3u32) && (in_i32[lane] > -1i32) {
                x2 += 1u32;
                out_f32[global + 256] = out_f32[global + 128] + in_f32[lane];
            }
            if in_f32[local] > in_f32[global] {
                let mut x3: V<bool> = local < in_u32[lane];
            } else {
                if x1 > x1.min(x1) {
                    let mut x4: S<bool> = (a_i32 as i32) > (a_bool as i32);
                    return;
                }
                let x5 = a_f16;
            }
            lds1[local] = (if a_i32 <= a_i32 { wave_exclusive_sum(out_u32[global + 256]) } else { 2u32 });
        } else {
            let mut x6: V<u32> = 0u32;
            loop {
                x6 += 1u32;
                if x6 > 4u32 {
                    break;
                }
                let mut x7: V<i32> = a_i32;
                let mut x8: V<u32> = 2147483650u32;
            }
            let mut x9: V<i32> = splat(-1299150460i32) & in_i32[global];
            if (a_i32 & a_i32) < (a_i32 & a_i32) {
                let mut x10: V<u32> = 0u32;
                while x10 < 2u32 {
                    x10 += 1u32;
                    out_u32[global + 128] = x1;
                    out_i32[global + 256] = in_i32[lane].min(in_i32[lane]) ^ (x9 as i32);
                }
            }
        }
        out_u16[global] = x0;
        out_u32[global] = x1;
    }

    #[workgroup(128)]
    fn program_10(
        a_i8: i8,
        in_i8: &[i8],
        out_u8: &mut [u8],
        a_u16: u16,
        in_i32: &[i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        shared_u32: &mut [u32],
        a_u64: u64,
        in_u64: &[u64],
        a_bf16: bf16,
        out_bf16: &mut [bf16],
        in_f32: &[f32],
        out_f32: &mut [f32],
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f64, 128>::new();
        let lds1 = Lds::<f64, 128>::new();
        let own0 = Private::<f64, 8>::filled(0.0f64);
        lds0[local] = in_f64[lane];
        lds1[local] = in_f64[global].mul_add(19.75f64, out_f64[global + 256]);
        let mut x0: V<u32> = 1703420427u32;
        let mut x1: S<bool> = a_bf16 == a_bf16;
        let mut x2: S<u32> = wave & in_f32.uniform(49u32).to_bits_as::<u32>();
        out_f32[global + 128] = out_f32[global];
        if (x2 + 2147483649u32) != (a_u64 as u32) {
            let mut x3: V<f16> = in_u32[local] as f16;
            for x4 in (65534u16..=65535u16).rev() {
                if (x4 * a_u16) < 2u16 {
                    lds0[local] = ((x0 < x0) as f64).floor();
                } else {
                    for x5 in ((if out_u32[global + 256] <= x0 { in_u32.uniform(91u32) } else { x0 }) & 7u32)..(x0 & 7u32) {
                        x0 = (x2 / 1u32).max(x2.max(4u32));
                    }
                    let mut x6: V<bf16> = out_bf16[global + 128];
                }
                x3 = shuffle(global as f16, x0 % 4294967289u32);
                #[unroll]
                for x7 in 0u32..0 {
                    x1 = (read_lane(splat(a_u16), x2) != (x4 << 43u32)) && false;
                    shared_u32.atomic((in_u64[lane] as u32) & 15u32).fetch_xor((if splat(a_i8) == in_i8[global] { in_u32[x0 % 99u32] } else { x0 }), Scope::Agent, Ordering::Relaxed);
                }
            }
        }
        let mut x8: V<u32> = 0u32;
        while (x8 < 1u32) && (x0.max(x0) >= (x2 | x2)) {
            x8 += 1u32;
            for x9 in ((((in_i32[global] & 2i32) & 7i32) - 3i32)..=5i32).rev() {
            }
        }
        out_u32[global] = x0;
        out_u8[global] = x1 as u8;
        out_u32[global + 128] = x2;
    }

    #[workgroup(128)]
    fn program_11(
        a_bool: bool,
        out_i16: &mut [i16],
        a_u16: u16,
        in_u16: &[u16],
        out_u16: &mut [u16],
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        out_i64: &mut [i64],
        shared_i64: &mut [i64],
        a_f32: f32,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<u16> = read_lane(in_u16[local], (if a_bool { wave } else { wave }));
        let x1 = (local - lane) | ((8192u32 >= in_u32[local]) as u32);
        let mut x2: V<i16> = (splat(-5i32) as i16) << (x1 * x1);
        x0 >>= 32768u32;
        let mut x3: V<i32> = -1582188473i32 + ((x1 as i32) / (in_i32[lane % 99u32] | 1i32));
        x2 += -26997i16;
        x3 >>= 2498659213u32;
        x0 = a_u16;
        if (-3i32 - x3) != -7i32 {
            let mut x4: V<u32> = 0u32;
            loop {
                x4 += 1u32;
                if x4 > 3u32 {
                    break;
                }
                x2 = x2 % 7i16;
                shared_i64.atomic(select(in_f32.uniform(38u32) >= in_f32[global], x1, in_u32.uniform(99u32)) & 15u32).fetch_and(out_i64[global + 128], Scope::Agent, Ordering::Relaxed);
                x3 += x3;
                let mut x5: V<u32> = x1.max(73u32);
            }
            if splat(a_f32) < -69.0f32 {
            }
        }
        out_u16[global] = x0;
        out_u32[global] = x1;
        out_i16[global] = x2;
        out_i32[global] = x3;
    }

    #[workgroup(64)]
    fn program_12(
        in_i16: &[i16],
        out_i16: &mut [i16],
        a_u16: u16,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        let own1 = Private::<i16, 8>::filled(0i16);
        let mut x0: V<u32> = lane ^ in_u32[lane];
        let mut x1: S<u32> = 3882359250u32;
        if in_f32[lane] != a_f32 {
            out_f32[global] = in_f32[local];
            x0 = (x0 / 3526576601u32) % ((in_u32[local] - 1270632600u32) | 1u32);
        } else {
            x0 -= 2147483649u32;
            if in_f32[local] != f32::from_bits(0x1647bff2) {
                own1[(x1 & x0) & 7u32] = in_i16[local];
            } else {
                out_f32[global] = 67.125f32 - (splat(25.125f32) as f32);
                x0 &= x0;
                x0 -= in_u32[x0 % 99u32].max(x0);
                let mut x2: V<u32> = 0u32;
                while x2 < 1u32 {
                    x2 += 1u32;
                    x0 = (in_f32[global] + in_f32.uniform(72u32)).to_bits_as::<u32>();
                    x0 += 0u32;
                    let mut x3: V<f32> = in_f32[in_u32[local] % 99u32];
                    if a_f32.mul_add(93.25f32, in_f32.uniform(11u32)) > a_f32 {
                        continue;
                    }
                }
            }
        }
        x1 = x1;
        #[unroll]
        for x4 in 0u32..3 {
            let x5 = splat(a_u16).max(2u16);
        }
        #[unroll]
        for x6 in 0u32..3 {
            x1 &= 2147483649u32;
            if in_f32[x0 % 99u32] <= in_f32[local] {
                own1[x0.min(0u32) & 7u32] = out_i16[global] * -32767i16;
            }
        }
        out_u32[global] = x0;
        out_u32[global + 128] = x1;
    }

    #[workgroup(64)]
    fn program_14(
        a_bool: bool,
        a_i8: i8,
        in_i8: &[i8],
        out_i8: &mut [i8],
        in_u8: &[u8],
        out_u8: &mut [u8],
        a_i16: i16,
        in_i32: &[i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i8, 128>::new();
        let lds1 = Lds::<i8, 128>::new();
        lds0[local] = global as i8;
        lds0[local + 64u32] = (if a_bool { 0i8 } else { out_i8[global + 64] });
        lds1[local] = in_i8[lane] | 0i8;
        lds1[local + 64u32] = splat(a_i8).min(96i8);
        let mut x0: V<u32> = lane;
        let x1 = in_i8[lane].min(in_i8[local] % -65i8);
        let mut x2: V<u8> = in_u8[((splat(4294967290u32) != x0) as u32) % 99u32];
        if a_bool {
            x2 <<= 45u32;
        }
        out_u32[global + 128] = x0;
        x0 *= (x0 % (x0.max(5u32) | 1u32)) - (in_u32[local] | x0);
        if (!(local >= 2147483649u32)) {
            x2 &= 249u8;
        } else {
            for x3 in (4i32..=((in_i32[global].min(0i32) & 7i32) - 3i32)).rev() {
                out_f32[global + 128] = (splat(a_i16) as f32).max(47.625f32);
                x0 = ((local & x0) | (if a_bool { x0 } else { x0 })) % 2147483651u32;
                x2 |= (x2 - in_u8[global]) << (x0 + 19u32);
                x2 = (if x0 == x0 { x2 / ((x0 as u8) | 1u8) } else { x2 }) - (x1 as u8);
            }
        }
        out_u32[global] = x0;
        out_i8[global] = x1;
        out_u8[global] = x2;
    }

    #[workgroup(128)]
    fn program_16(
        a_bool: bool,
        out_u8: &mut [u8],
        in_u32: &[u32],
        in_f16: &[f16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        let lds1 = Lds::<f16, 128>::new();
        let own0 = Private::<f64, 8>::filled(0.0f64);
        let own1 = Private::<u16, 8>::filled(0u16);
        lds0[local] = local + group;
        lds1[local] = in_f16[global];
        let mut x0: V<f32> = (in_f32[global] >= in_f32[lane]) as f32;
        let mut x1: V<f32> = a_f32;
        out_f32[global + 128] = x0 as f32;
        x0 = select(splat(a_f32) <= 105.625f32, in_f32[global], splat(f32::from_bits(0x7f800000)));
        let mut x2: V<bool> = false;
        let mut x3: S<bool> = a_bool && ((if a_bool { -122.125f32 } else { a_f32 }) == (a_f32 - f32::from_bits(0xdf3f998b)));
        for x4 in ((a_f32 as u32) & 7u32)..(in_u32[global] & 7u32) {
            let x5 = in_f32[local].max(31.375f32) as f32;
        }
        out_f32[global] = x0;
        out_f32[global + 128] = x1;
        out_u8[global] = x2 as u8;
        out_u8[global + 128] = x3 as u8;
    }

    #[workgroup(64)]
    fn program_18(
        a_i8: i8,
        in_i8: &[i8],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        in_i64: &[i64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<u32, 8>::filled(0u32);
        let mut x0: V<u32> = (in_u32[global] >> 14u32).min(751473332u32);
        if in_i64.uniform(2u32).min(a_i64) != (a_i64 ^ a_i64) {
            out_i32[global + 64] = in_i32[global].min(splat(a_i32)) / 33i32;
            x0 |= x0.max(x0) >> x0;
        } else {
            if a_i8 == (a_i8 % (read_first_lane(in_i8[lane]) | 1i8)) {
                if splat(a_i32) <= in_i32[lane] {
                    x0 |= x0 ^ x0;
                    if (in_i32.uniform(5u32) as u32) >= 2u32 {
                        for x1 in 2147483644i32..2147483647i32 {
                            x0 *= in_u32[global];
                        }
                    }
                }
            }
        }
        out_u32[global] = x0;
    }

    #[workgroup(64)]
    fn program_20(
        a_u8: u8,
        in_u8: &[u8],
        out_u8: &mut [u8],
        a_u16: u16,
        in_u32: &[u32],
        in_i64: &[i64],
        out_i64: &mut [i64],
        shared_i64: &mut [i64],
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<i64> = -9223372036854775806i64;
        let x1 = (a_u8 % 3u8).min(a_u8 * 121u8);
        let mut x2: V<u8> = in_u8[(in_u32.uniform(70u32) - global) % 99u32];
        if in_u8[lane] >= in_u8[local] {
            for x3 in (4u16..((a_u16 | a_u16) & 7u16)).step_by(2) {
                shared_i64.atomic(splat(131072u32) & 15u32).fetch_xor(in_i64[global] / 69i64, Scope::Agent, Ordering::Relaxed);
                #[unroll]
                for x4 in 0u32..1 {
                    x2 &= 125u8;
                }
            }
        }
        x0 *= (if splat(-59.75f32) >= in_f32[lane] { x0 } else { x0 });
        out_i64[global] = x0;
        out_u8[global] = x1;
        out_u8[global + 64] = x2;
    }

    #[workgroup(64)]
    fn program_21(
        in_i8: &[i8],
        out_i8: &mut [i8],
        a_u16: u16,
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        in_u64: &[u64],
        shared_u64: &mut [u64],
        a_bf16: bf16,
        out_bf16: &mut [bf16],
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        let mut x0: S<f32> = (a_u32 << a_u32).to_bits_as::<i32>() as f32;
        let x1 = select(in_f32[local] >= splat(-114.875f32), in_i32[in_u32[lane] % 99u32], 551456622i32);
        for x2 in ((in_u32[local] as u64) & 7u64)..(in_u64[global] & 7u64) {
            shared_u64.atomic((local % 3646745675u32) & 15u32).fetch_or(((x2 % 18446744073709551609u64) / ((9223372036854775809u64 & x2) | 1u64)).max(9223372036854775808u64), Scope::Agent, Ordering::Relaxed);
        }
        own0[0u32] = splat(a_bf16);
        shared_u64.atomic((splat(a_u16) as u32) & 15u32).fetch_or(in_u64[in_u32[local] % 99u32].max(34359738368u64) % ((18446744073709551611u64 & in_u64[lane]) | 1u64), Scope::Agent, Ordering::Relaxed);
        let mut x3: V<i8> = 23i8;
        for x4 in (((in_i32.uniform(31u32) | a_i32) & 7i32) - 3i32)..(((x1 % (x1.max(x1) | 1i32)) & 7i32) - 3i32) {
            own0[0u32] = out_bf16[global];
        }
        x0 = x0;
        let mut x5: S<u32> = 0u32;
        while x5 < 5u32 {
            x5 += 1u32;
            x0 = x0;
            x3 *= 5i8;
        }
        x3 = (!in_i8[lane]) << 54u32;
        out_f32[global] = x0;
        out_i32[global] = x1;
        out_i8[global] = x3;
    }

    #[workgroup(64)]
    fn program_22(
        a_i8: i8,
        in_u8: &[u8],
        out_u8: &mut [u8],
        a_i32: i32,
        in_i32: &[i32],
        a_u32: u32,
        out_u32: &mut [u32],
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
        let lds1 = Lds::<f32, 128>::new();
        lds0[local] = in_f16[lane] + in_f16[lane];
        lds0[local + 64u32] = select(out_f32[global + 128] > f32::from_bits(0xdeb00965), in_f16[local], out_f16[global + 64]);
        lds1[local] = in_u8[local] as f32;
        lds1[local + 64u32] = in_f32[local];
        let x0 = (!(a_i32 < -2i32));
        if (if x0 { splat(-154950164i32) } else { splat(-2147483648i32) }) == (in_i32[local] % (lane.to_bits_as::<i32>() | 1i32)) {
            let mut x1: V<bool> = out_f32[global + 64] < in_f32[global];
            for x2 in 4294967293u32..splat(4294967295u32) {
                for x3 in ((((a_i8 | a_i8) & 7i8) - 3i8)..=((a_i8 & 7i8) - 3i8)).step_by(3) {
                    lds1[local] = splat(a_f32) - a_f32;
                    out_u32[global + 64] = x2;
                    x1 = f16::from_bits(0xfc00 /* -inf */) == ((splat(f16::from_bits(0x6639 /* 1593 */)) * in_f16[global]) / select(x1, in_f16[global], a_f16));
                    x1 = in_i32[lane] <= 0i32;
                }
                if (a_i32 % (wave_xor(in_i32[lane]) | 1i32)) != a_u32.to_bits_as::<i32>() {
                }
            }
        }
        out_u8[global] = x0 as u8;
    }

    #[workgroup(128)]
    fn program_23(
        a_bool: bool,
        in_i8: &[i8],
        out_u8: &mut [u8],
        in_i16: &[i16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        shared_u32: &mut [u32],
        in_i64: &[i64],
        out_i64: &mut [i64],
        a_f16: f16,
        in_f16: &[f16],
        out_f16: &mut [f16],
        in_f32: &[f32],
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f64, 128>::new();
        let own0 = Private::<u32, 8>::filled(0u32);
        let own1 = Private::<u64, 8>::filled(0u64);
        lds0[local] = in_f64[local] / 68.5f64;
        let x0 = (in_i64[local] & in_i64[lane]).max(in_i64[global] ^ in_i64.uniform(99u32));
        let mut x1: S<u32> = 0u32;
        while x1 < 3u32 {
            x1 += 1u32;
            let mut x2: V<f16> = out_f16[global + 256];
        }
        let mut x3: V<bool> = true;
        for x4 in ((in_f32[lane] as u8) & 7u8)..2u8 {
            let mut x5: V<u32> = 0u32;
            while (x5 < 5u32) && ((splat(a_f16) * out_f16[global + 128]) == in_f16[local]) {
                x5 += 1u32;
                let mut x6: S<f16> = a_f16;
                let mut x7: V<f16> = splat(f16::from_bits(0x7c00 /* inf */));
                own0[6u32] = shuffle(global.min(lane) / 13u32, x7 as u32);
            }
        }
        let x8 = in_f64[local];
        x3 = local > 92u32;
        if in_i16[lane] != splat(-17847i16) {
            let x9 = (a_u32 ^ wave) - (out_u32[global] >> 43u32);
            shared_u32.atomic((x9 >> (x9 >> (if a_bool { in_u32[lane] } else { x9 }))) & 15u32).fetch_and(select((lane | a_u32) <= x9, x9, 4u32), Scope::Agent, Ordering::Relaxed);
        } else {
            let mut x10: V<u32> = 0u32;
            while (x10 < 1u32) && ((in_i8[global] as i32) <= 2i32) {
                x10 += 1u32;
            }
        }
        out_i64[global] = x0;
        out_u8[global] = x3 as u8;
        out_f64[global] = x8;
    }

    #[workgroup(64)]
    fn program_24(
        a_bool: bool,
        out_u8: &mut [u8],
        a_i16: i16,
        out_i16: &mut [i16],
        a_u16: u16,
        in_u16: &[u16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: V<u32> = global;
        let mut x1: V<i16> = (if a_bool { a_i16 } else { a_i16 }) * a_i16;
        let mut x2: V<bool> = false;
        let mut x3: V<f32> = shuffle_xor(in_f32[lane] + splat(a_f32), 28).abs();
        if in_u16[x0 % 99u32] != a_u16.min(a_u16) {
            let mut x4: S<f32> = 112.25f32;
        } else {
            x1 = shuffle(x1 & x1, out_f64[global + 64] as u32);
            x2 = 62u32 >= x0;
        }
        x3 = x3;
        x1 = x1;
        out_u32[global] = global;
        out_u32[global + 128] = in_u32[lane] / 3u32;
        let mut x5: V<u32> = (a_u32 + a_u32) + 2928961760u32;
        x3 = x3;
        out_u32[global] = x0;
        out_i16[global] = x1;
        out_u8[global] = x2 as u8;
        out_f32[global] = x3;
        out_u32[global + 64] = x5;
    }

    #[workgroup(128)]
    fn program_25(
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_u64: &[u64],
        out_u64: &mut [u64],
        in_f32: &[f32],
        out_f32: &mut [f32],
        a_f64: f64,
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<f64, 8>::filled(0.0f64);
        let mut x0: S<u64> = ((in_u64.uniform(84u32) << a_u32) ^ 9223372036854775808u64) << 21u32;
        x0 = x0 / (x0.min(0u64) | 1u64);
        if (global | in_u32[global]) >= out_i32[global + 512].to_bits_as::<u32>() {
            let mut x1: V<u32> = 2147483650u32;
            return;
        }
        if 4294967293u32 >= (wave - wave) {
            out_u32[global + 512] = in_u32[global] >> 37u32;
            match (if a_u32 <= in_u32.uniform(16u32) { select(out_f32[global] <= in_f32[global], in_u64[lane], 9223372036854775810u64) } else { in_u64[global] }) {
                5u64 => {
                    let mut x2: S<u32> = (in_u32.uniform(18u32) / 4294967293u32) ^ ((a_u32 >> in_f32.uniform(53u32).to_bits_as::<u32>()) + 361934538u32);
                    for x3 in ((8388608u32 | x2) & 7u32)..=((in_u32.uniform(90u32) % 7u32) & 7u32) {
                        if in_f32.uniform(84u32).to_bits_as::<u32>() != (wave << (5u32 | x2)) {
                            x2 = x3.max(x3);
                            own0[3u32] = a_f64;
                            x2 |= wave << 50u32;
                        } else {
                            x2 = x2;
                            let mut x4: S<u32> = 0u32;
                            while x4 < 5u32 {
                                x4 += 1u32;
                                x2 = x3;
                                let mut x5: V<u32> = in_u32[global] / ((global * a_u32) | 1u32);
                                x5 &= in_u32[splat(a_u32) % 99u32] * x5.min(5u32);
                                x5 ^= 4u32;
                            }
                        }
                    }
                    #[unroll]
                    for x6 in 0u32..0 {
                        x2 |= x2 % ((x2 << (group + x2)) | 1u32);
                    }
                }
                7u64..=12u64 => {
                }
                18446744073709551615u64 => {
                }
                _ => {
                }
            }
        }
        out_u64[global] = x0;
    }

    #[workgroup(128)]
    fn program_26(
        a_i8: i8,
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f16: f16,
        out_f16: &mut [f16],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        lds0[local] = out_u32[global + 256];
        let x0 = in_i32[local];
        let mut x1: V<i32> = 2i32;
        let mut x2: V<u32> = 0u32;
        loop {
            x2 += 1u32;
            if x2 > 1u32 {
                break;
            }
            if (out_u32[global + 512] < splat(0u32)) || (global != local) {
                lds0[local] = in_u32.uniform(58u32).min(a_u32) - (a_u32 - in_u32.uniform(87u32));
                x1 -= -2147483647i32;
            } else {
                x1 += -1324679996i32;
                x1 = (in_i32.uniform(13u32) % 140834037i32) ^ ((in_i32[local] & a_i32) % 1i32);
            }
            out_f16[global] = a_f16 / splat(a_f16);
            for x3 in ((a_i8.to_bits_as::<i8>() & 7i8) - 3i8)..((a_i8 & 7i8) - 3i8) {
                match ((x3 as i32) as i16) & 7i16 {
                    1i16..=5i16 => {
                        x1 <<= 4294967292u32;
                        x1 += -2147483647i32;
                        x1 ^= 1532137950i32;
                    }
                    _ => {
                        x1 += 0i32;
                        x1 &= (x1 >> 12u32) * (x1 % 1i32);
                    }
                }
            }
        }
        out_i32[global] = x0;
        out_i32[global + 256] = x1;
    }

    #[workgroup(128)]
    fn program_27(
        out_u8: &mut [u8],
        in_u16: &[u16],
        out_u16: &mut [u16],
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        in_u64: &[u64],
        in_bf16: &[bf16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        let lds1 = Lds::<u16, 128>::new();
        let own0 = Private::<u16, 8>::filled(0u16);
        lds0[local] = local / ((local & lane) | 1u32);
        lds1[local] = in_u16[local] + out_u16[global + 512];
        let mut x0: V<bool> = in_u64[local] > in_u64.uniform(69u32);
        for x1 in (((in_u32.uniform(49u32) << in_i32.uniform(81u32).to_bits_as::<u32>()) & 7u32)..=(a_u32 & 7u32)).rev() {
            out_f32[global] = wave_exclusive_sum(local).to_bits_as::<f32>();
            match lane {
                6u32 => {
                    lds0[local] = wave.to_bits_as::<u32>();
                    #[unroll]
                    for x2 in 0u32..2 {
                        x0 = x0;
                    }
                    x0 = x0;
                    x0 = (in_bf16[lane] * in_bf16[global]) < bf16::from_bits(0xc2b5 /* -90.5 */);
                }
                _ => {
                    lds1[local] = (in_f32.uniform(11u32) / a_f32) as u16;
                    let mut x3: S<f32> = -106.625f32;
                }
            }
        }
        out_u8[global] = x0 as u8;
    }

    #[workgroup(64)]
    fn program_28(
        out_u8: &mut [u8],
        a_u32: u32,
        in_u32: &[u32],
        in_i64: &[i64],
        a_u64: u64,
        in_u64: &[u64],
        out_u64: &mut [u64],
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f32, 128>::new();
        let lds1 = Lds::<u32, 128>::new();
        let own0 = Private::<i8, 8>::filled(0i8);
        lds0[local] = splat(1u64) as f32;
        lds0[local + 64u32] = in_f32[global].mul_add(-1282.299f32, out_f32[global + 256]);
        lds1[local] = a_u32 ^ global;
        lds1[local + 64u32] = select(in_u32[global] >= lane, lane, wave);
        let x0 = (in_u64[global] + in_u64[lane]) > (splat(17782619891576814907u64) ^ 1u64);
        for x1 in 2147483646i32..splat(2147483647i32) {
            let mut x2: V<bool> = x0;
            lds0[local] = in_f32[local];
            if (2147483649u32 + in_u32.uniform(57u32)) < (a_u32 * a_u32) {
                x2 = (a_u64 >> 50u32) > (x0 as u64);
                break;
            }
        }
        let mut x3: V<bool> = in_i64[global] == 8705146227359958705i64;
        if (!(out_u64[global] <= in_u64[global])) {
        }
        out_u8[global] = x0 as u8;
        out_u8[global + 128] = x3 as u8;
    }

    #[workgroup(64)]
    fn program_29(
        a_u8: u8,
        a_i16: i16,
        in_i16: &[i16],
        out_i16: &mut [i16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        shared_i64: &mut [i64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        lds0[local] = splat(a_i16) as u32;
        lds0[local + 64u32] = splat(68u32) >> (out_u32[global] * lane);
        let x0 = -5i16 + in_i16[local].max(splat(a_i16));
        let mut x1: V<u32> = 4294967292u32;
        let x2 = (a_u32 % ((in_u32.uniform(99u32) % 268435457u32) | 1u32)) >> 6u32;
        match ((a_u8 + splat(74u8)) ^ (splat(a_u8) & splat(a_u8))) & 7u8 {
            2u8..=4u8 => {
                for x3 in (((select(in_u32[lane] != x2, splat(6i64), -9223372036854775808i64) & 7i64) - 3i64)..5i64).step_by(2) {
                    shared_i64.atomic(in_u32[lane] & 15u32).fetch_xor((a_i16 >> 62u32) as i64, Scope::Agent, Ordering::Relaxed);
                    x1 += x1;
                    lds0[local] = x1 >> 57u32;
                    x1 <<= (x1 + x2) & (4294967292u32 ^ x1);
                }
                x1 = x2;
            }
            2u8..=9u8 => {
            }
            _ => {
            }
        }
        out_i16[global] = x0;
        out_u32[global] = x1;
        out_u32[global + 64] = x2;
    }

    #[workgroup(128)]
    fn program_30(
        out_u8: &mut [u8],
        in_i32: &[i32],
        a_u32: u32,
        out_u32: &mut [u32],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u32, 128>::new();
        let lds1 = Lds::<f32, 128>::new();
        let own0 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        lds0[local] = global;
        lds1[local] = (in_i32[lane] < 1710692211i32) as f32;
        let mut x0: V<bool> = (!(splat(6u32) == a_u32));
        let mut x1: V<f32> = in_f32[lane] - splat(a_f32);
        x1 = splat(a_f32);
        x0 = any(out_u32[global] >= 3509802432u32);
        for x2 in (3u32..((if 4294967293u32 != splat(a_u32) { splat(a_u32) } else { 0u32 }) & 7u32)).step_by(3) {
        }
        out_u8[global] = x0 as u8;
        out_f32[global] = x1;
    }

    #[workgroup(64)]
    fn program_31(
        a_bool: bool,
        out_i8: &mut [i8],
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_u64: u64,
        in_u64: &[u64],
        out_u64: &mut [u64],
        in_f32: &[f32],
        a_f64: f64,
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f32, 128>::new();
        let lds1 = Lds::<f64, 128>::new();
        lds0[local] = global.to_bits_as::<f32>();
        lds0[local + 64u32] = select(out_i8[global] < -3i8, splat(8.25f32), in_f32[lane]);
        lds1[local] = splat(a_f64).mul_add(112.75f64, out_f64[global + 128]);
        lds1[local + 64u32] = in_f64[local] * a_f64;
        let mut x0: S<u32> = 4294967293u32;
        out_u64[global] = wave_inclusive_product((if (in_u64[local] <= splat(a_u64)) && a_bool { 14276642832756284453u64 } else { in_u64[local] - in_u64[global] }));
        barrier();
        if (in_u32[local] != x0) && (in_u64[local] < a_u64) {
            if in_u64[global] >= (a_u64 ^ a_u64) {
            }
        }
        out_u32[global] = x0;
    }

    #[workgroup(64)]
    fn program_32(
        a_bool: bool,
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_i64: i64,
        out_i64: &mut [i64],
        in_f16: &[f16],
        a_bf16: bf16,
        a_f32: f32,
        in_f64: &[f64],
        out_f64: &mut [f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f64, 128>::new();
        let lds1 = Lds::<u32, 128>::new();
        let own0 = Private::<u32, 8>::filled(0u32);
        lds0[local] = out_f64[global + 64];
        lds0[local + 64u32] = in_f64[lane];
        lds1[local] = a_u32 | splat(a_u32);
        lds1[local + 64u32] = out_u32[global] % (own0[6u32] | 1u32);
        let x0 = in_i32[lane % 99u32].min(out_i32[global + 64]);
        let mut x1: V<u32> = (if in_f16[global % 99u32] < in_f16[lane % 99u32] { (lane & out_u32[global + 128]) << in_u32[global] } else { 6u32 });
        if all(x0 <= x0) {
            x1 >>= x1.max(x1).min(x1 * a_u32);
        } else {
            #[unroll]
            for x2 in 0u32..2 {
                let mut x3: V<f64> = in_f64[local];
                x3 = x3.to_bits_as::<f64>();
                let mut x4: S<bf16> = a_bf16 / bf16::from_bits(0xc347 /* -199 */);
            }
            for x5 in 2i64..(((out_i64[global + 128] | splat(a_i64)) & 7i64) - 3i64) {
                if in_i32.uniform(22u32) == in_i32[x1 % 99u32] {
                    continue;
                }
                out_i32[global + 64] = x0;
                for x6 in ((a_u32 + a_u32) & 7u32)..((if a_bool { wave } else { x1 }) & 7u32) {
                    own0[5u32] = 2147483650u32 - a_f32.to_bits_as::<u32>();
                }
            }
        }
        out_i32[global] = x0;
        out_u32[global] = x1;
    }

    #[workgroup(128)]
    fn program_34(
        a_i8: i8,
        a_i16: i16,
        in_i16: &[i16],
        out_i16: &mut [i16],
        a_i32: i32,
        in_i32: &[i32],
        out_i32: &mut [i32],
        out_i64: &mut [i64],
        a_u64: u64,
        in_u64: &[u64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<u64, 8>::filled(0u64);
        let x0 = (splat(a_i16) - in_i16[local]) + (out_i16[global + 128] ^ a_i16);
        let mut x1: V<i32> = in_i32.uniform(17u32) & in_i32[global];
        x1 = (in_i32.uniform(51u32) - a_i32) + (a_i32 + in_i32.uniform(84u32));
        x1 |= x1;
        x1 = x1 & a_i32;
        match (out_i64[global + 128] | 7932854878563272875i64).to_bits_as::<i64>() & 7i64 {
            6i64..=9223372036854775807i64 => {
                own0[0u32] = a_u64;
                for x2 in (3i8..((a_i8 & 7i8) - 3i8)).rev() {
                    let mut x3: V<u32> = 0u32;
                    loop {
                        x3 += 1u32;
                        if x3 > 3u32 {
                            break;
                        }
                        own0[1u32] = in_u64.uniform(7u32);
                    }
                }
            }
            _ => {
            }
        }
        out_i16[global] = x0;
        out_i32[global] = x1;
    }

    #[workgroup(64)]
    fn program_37(
        out_u8: &mut [u8],
        a_u16: u16,
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_f32: f32,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f32, 128>::new();
        let own0 = Private::<u16, 8>::filled(0u16);
        let own1 = Private::<i16, 8>::filled(0i16);
        lds0[local] = in_f32[local] * a_f32;
        lds0[local + 64u32] = in_f32[lane];
        let mut x0: V<u32> = (in_u32[global] >> (lane >> (if global == 57u32 { splat(4u32) } else { lane }))) / (in_u32[lane] | 1u32);
        let mut x1: V<u32> = ((x0 as u32) & shuffle_xor(x0, 41)) * x0;
        let mut x2: V<bool> = true;
        out_u32[global] = x1.min(x0) << (x0 << select(splat(47.0f32) > splat(65504.0f32), lane, 4294967294u32));
        x0 &= 4294967295u32;
        own0[4u32] = (a_u16 | a_u16).min(32769u16);
        out_u32[global + 64] = select((!x2), (global as u32) | 0u32, in_u32[global].min(1864893726u32));
        x0 = ((a_u32 >> 45u32) * x1) + ((in_u32.uniform(80u32) % (a_u32 | 1u32)) + read_lane(in_u32[lane], a_u32));
        out_u32[global] = x0;
        out_u32[global + 64] = x1;
        out_u8[global] = x2 as u8;
    }

    #[workgroup(128)]
    fn program_38(
        a_bool: bool,
        out_u8: &mut [u8],
        a_i16: i16,
        in_i16: &[i16],
        a_u16: u16,
        in_u16: &[u16],
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        a_u64: u64,
        a_f16: f16,
        in_f16: &[f16],
        out_bf16: &mut [bf16],
        a_f32: f32,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f16, 128>::new();
        lds0[local] = in_f16[global];
        let x0 = in_u32[in_u32[lane % 99u32] % 99u32];
        let mut x1: S<bf16> = bf16::from_bits(0x42a0 /* 80 */);
        #[unroll]
        for x2 in 0u32..0 {
            x1 = x1.max((if a_bool { x1 } else { x1 })) / ((a_u64 as bf16) / x1);
        }
        let mut x3: V<bool> = x0 > 4294967295u32;
        if (a_i16 as u16) >= a_u16.min(a_u16) {
            x3 = (in_i16[global].to_bits_as::<u16>() + 65535u16) > ((splat(30162u16) ^ 45u16) >> 45u32);
            x1 = all((in_u16[lane] <= in_u16[local]) || a_bool) as bf16;
            barrier();
            let x4 = (if a_f16 == a_f16 { a_u16 - a_u16 } else { a_u16 - 3u16 });
        } else {
            x1 = x1 / bf16::from_bits(0x42e6 /* 115 */);
        }
        match in_i64[local].min(46i64) - (splat(a_u16) as i64) {
            6i64 => {
                x3 = (in_f32[local] * splat(a_f32)) >= read_first_lane(in_f32[global]);
            }
            5i64..=9223372036854775807i64 => {
                #[unroll]
                for x5 in 0u32..0 {
                    let x6 = lds0[(if a_bool { x0 } else { x0 }) & 127u32];
                }
                let mut x7: V<u32> = 0u32;
                while (x7 < 3u32) && ((x0 + x0) != 8u32) {
                    x7 += 1u32;
                    let mut x8: V<u32> = (x0 - x0).max(in_f32[lane] as u32);
                }
            }
            _ => {
            }
        }
        out_u32[global] = x0;
        out_bf16[global] = x1;
        out_u8[global] = x3 as u8;
    }

    #[workgroup(128)]
    fn program_43(
        a_bool: bool,
        a_u32: u32,
        in_u32: &[u32],
        a_i64: i64,
        out_i64: &mut [i64],
        a_u64: u64,
        a_f16: f16,
        out_f16: &mut [f16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<f16> = f16::from_bits(0xd786 /* -120.375 */);
        x0 = x0;
        if in_f32[local] < read_first_lane(out_f32[global + 256]) {
            let mut x1: V<u32> = 0u32;
            loop {
                x1 += 1u32;
                if x1 > 1u32 {
                    break;
                }
                let mut x2: V<u32> = 2u32;
            }
            let mut x3: V<f32> = splat(2.375f32);
        }
        x0 = a_f16;
        if global.min(local) != read_lane(in_u32[local], read_lane(splat(a_u32), a_u32 ^ 2u32)) {
            for x4 in (((a_u64 as i8) & 7i8) - 3i8)..3i8 {
                if (if a_bool { a_f32 } else { a_f32 }) > a_f32.trunc() {
                    if (out_i64[global + 256] + 92i64) != select(in_f64[local] != splat(f64::from_bits(0x41d1de2c8a4981b5)), splat(a_i64), 6346466115813418257i64) {
                        let mut x5: V<u32> = (group * group) * (in_u32.uniform(37u32) & wave);
                        x5 = x5;
                        if (!(!a_bool)) {
                            continue;
                        }
                        x5 -= x5.to_bits_as::<u32>() * (group % ((a_u32 * wave) | 1u32));
                    }
                } else {
                    let mut x6: V<f32> = splat(69.125f32) - (splat(f32::from_bits(0xf64f15c8)) * splat(a_f32));
                    match (out_i64[global + 256] >> 23u32).min(7227089360361117845i64) {
                        6i64..=13i64 => {
                        }
                        -3i64..=3i64 => {
                        }
                        9223372036854775803i64..=9223372036854775807i64 => {
                        }
                        _ => {
                        }
                    }
                }
            }
        }
        out_f16[global] = x0;
    }

    #[workgroup(64)]
    fn program_44(
        a_u8: u8,
        in_u8: &[u8],
        a_i32: i32,
        in_i32: &[i32],
        out_u32: &mut [u32],
        out_i64: &mut [i64],
        in_f32: &[f32],
        out_f32: &mut [f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f32, 128>::new();
        let lds1 = Lds::<f32, 128>::new();
        lds0[local] = in_f32[local].min(splat(-36.5f32));
        lds0[local + 64u32] = splat(-112.125f32) / -65.375f32;
        lds1[local] = out_f32[global + 256].min(in_f32[lane]);
        lds1[local + 64u32] = in_f32[local];
        let mut x0: V<i64> = in_f64[lane].to_bits_as::<i64>();
        let mut x1: S<u32> = read_lane(select(splat(1i32) >= a_i32, lane, 2147483649u32), wave / 1u32);
        if (splat(-112.75f32) + in_f32[lane]) < (in_f32[lane] + in_f32[local]) {
            out_u32[global] = select(splat(-3i32) != splat(a_i32), out_f32[global + 256], in_f32[local]).to_bits_as::<u32>() as u32;
        }
        for x2 in (5u8..((splat(130u8) & a_u8) & 7u8)).rev() {
            let mut x3: V<u8> = 7u8;
            x3 |= in_u8[(lane + 2147483649u32) % 99u32];
        }
        if (in_i32[lane] % 15i32) < (in_i32[global] + splat(3i32)) {
        }
        out_i64[global] = x0;
        out_u32[global] = x1;
    }

    #[workgroup(128)]
    fn program_46(
        a_u8: u8,
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u32: &[u32],
        a_f16: f16,
        in_f16: &[f16],
        a_f32: f32,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f64, 128>::new();
        lds0[local] = splat(42i32) as f64;
        let mut x0: S<i32> = 3i32;
        let mut x1: V<i32> = shuffle(splat(-2147483648i32), splat(0u32));
        match (a_u8 | 130u8) / (a_u8 | 1u8) {
            5u8..=9u8 => {
                x1 |= 47i32;
                let mut x2: V<u32> = 0u32;
                while (x2 < 4u32) && (in_i32[global] == -1439875599i32) {
                    x2 += 1u32;
                    x1 = x1;
                    if in_f16[lane] == splat(a_f16) {
                        let mut x3: V<u32> = 0u32;
                        while (x3 < 3u32) && (local >= in_u32[local]) {
                            x3 += 1u32;
                            x1 &= (out_i32[global + 256] ^ x1) * splat(1i32);
                        }
                        x1 |= in_f32[global].to_bits_as::<i32>();
                        let x4 = x1;
                    }
                }
            }
            1u8..=255u8 => {
                x0 = a_f32.to_bits_as::<i32>();
            }
            _ => {
            }
        }
        out_i32[global] = x0;
        out_i32[global + 128] = x1;
    }

    #[workgroup(64)]
    fn program_47(
        out_u8: &mut [u8],
        in_i16: &[i16],
        a_i32: i32,
        in_i32: &[i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        a_bf16: bf16,
        in_bf16: &[bf16],
        out_bf16: &mut [bf16],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let own0 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        let mut x0: V<u32> = 1u32;
        let mut x1: V<f32> = read_lane(shuffle_xor(splat(a_f32), 27), wave << (a_u32 & a_u32));
        let mut x2: S<bool> = false;
        if any(splat(bf16::from_bits(0xc038 /* -2.875 */)) < in_bf16[global]) {
            if x1 <= a_f32 {
                for x3 in ((((if in_u32.uniform(59u32) <= lane { 0i16 } else { in_i16[local] }) & 7i16) - 3i16)..((in_i16[local].to_bits_as::<i16>() & 7i16) - 3i16)).step_by(3) {
                    if (a_i32 - in_i32.uniform(18u32)) <= 7i32 {
                        continue;
                    }
                    x1 = x1;
                    out_bf16[global + 256] = in_bf16[local];
                }
                let mut x4: S<u32> = 0u32;
                while (x4 < 1u32) && x2 {
                    x4 += 1u32;
                    x1 = in_f32.uniform(29u32);
                }
            } else {
                if (!(a_f32 > -37.375f32)) {
                    if in_bf16[lane] != bf16::from_bits(0x427e /* 63.5 */) {
                        if a_bf16 >= a_bf16.min(a_bf16) {
                            return;
                        }
                    } else {
                        x1 = x1;
                    }
                    x1 = splat(a_f32);
                    let mut x5: S<bf16> = bf16::from_bits(0xc2b6 /* -91 */);
                }
            }
        }
        out_u32[global] = x0;
        out_f32[global] = x1;
        out_u8[global] = x2 as u8;
    }

    #[workgroup(128)]
    fn program_48(
        a_bool: bool,
        a_i8: i8,
        in_i8: &[i8],
        out_i8: &mut [i8],
        in_u16: &[u16],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        in_f16: &[f16],
        out_f16: &mut [f16],
        in_f32: &[f32],
        out_f32: &mut [f32],
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f64, 128>::new();
        let lds1 = Lds::<u32, 128>::new();
        lds0[local] = in_f64[global];
        lds1[local] = global.max(out_u32[global]);
        let mut x0: V<i8> = splat(85i8);
        let x1 = (a_u32 * in_u32.uniform(57u32)).max(a_u32);
        if (x1 >> 0u32) <= (if a_bool { x1 } else { x1 }) {
            if global != (x1 / 1u32) {
                for x2 in (2147483644i32..2147483647i32).rev().step_by(2) {
                    x0 = (-select(in_u32[global] != x1, x0 + splat(4i8), 0i8));
                    x0 &= 0i8;
                    match x0 {
                        2i8..=9i8 => {
                            let mut x3: S<f32> = 2.1322007f32;
                            x3 = (in_u32.uniform(93u32) >> 15u32) as f32;
                            out_f32[global + 128] = in_f32[local];
                            let mut x4: S<u64> = ballot(splat(5u32) == global) | 1u64;
                        }
                        5i8..=7i8 => {
                            if in_i64[global] == in_i64.uniform(47u32) {
                                x0 += (local as i8) * 0i8;
                            } else {
                                lds1[local] = in_u32[lane].min(5u32);
                                x0 *= -127i8;
                                #[unroll]
                                for x5 in 0u32..1 {
                                    x0 = a_i8.max(a_i8);
                                    out_f16[global] = in_f16[splat(4294967293u32) % 99u32];
                                    x0 = splat(252u8).to_bits_as::<i8>() + -5i8;
                                }
                            }
                            let mut x6: V<u32> = 0u32;
                            while x6 < 4u32 {
                                x6 += 1u32;
                                x0 = in_i8[global % 99u32];
                                x0 = (x1 as f32) as i8;
                            }
                            match in_u16[local] {
                                65529u16..=65535u16 => {
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
        }
        out_i8[global] = x0;
        out_u32[global] = x1;
    }

    #[workgroup(128)]
    fn program_49(
        in_u8: &[u8],
        a_i16: i16,
        in_i16: &[i16],
        in_u32: &[u32],
        out_u32: &mut [u32],
        shared_u32: &mut [u32],
        a_i64: i64,
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<f32> = -88.0f32;
        out_u32[global] = splat(2147483650u32) & local;
        for x1 in ((in_u8[out_u32[global] % 99u32] & 7u8)..=((splat(0u8) % ((splat(a_i64) as u8) | 1u8)) & 7u8)).rev() {
            let mut x2: V<i64> = -1033093917048489733i64;
        }
        match shuffle_xor(a_i16 | in_i16[local], 8) & 7i16 {
            32765i16..=32767i16 => {
                let mut x3: V<f32> = -34.625f32;
                let mut x4: V<u32> = 0u32;
                loop {
                    x4 += 1u32;
                    if x4 > 3u32 {
                        break;
                    }
                    x3 = in_f32[global];
                    x3 = x3 - x3;
                    x3 = splat(f32::from_bits(0x641b38a8));
                }
            }
            _ => {
                if in_f32[lane].floor() == in_f32[local].mul_add(f32::from_bits(0xdf66c37a), in_f32[local]) {
                    let mut x5: V<f32> = out_f32[global] * 78.625f32;
                    shared_u32.atomic((lane & lane) & 15u32).fetch_add(in_u32[splat(647474811u32) % 99u32], Scope::Agent, Ordering::Relaxed);
                }
            }
        }
        let mut x6: V<f32> = 0.1f32;
        if (if splat(a_f32) > x6 { in_f32[local] } else { in_f32[global] }) >= x6 {
        }
        out_f32[global] = x0;
        out_f32[global + 128] = x6;
    }

    #[workgroup(64)]
    fn program_50(
        a_bool: bool,
        out_u8: &mut [u8],
        a_i32: i32,
        out_i32: &mut [i32],
        a_f32: f32,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let x0 = splat(a_f32) != f32::from_bits(0x2d4997f8);
        let x1 = (splat(-1625781388i32) as u32) < lane;
        let mut x2: V<f32> = in_f32[global];
        let mut x3: V<u32> = 0u32;
        while x3 < 1u32 {
            x3 += 1u32;
            let mut x4: S<i32> = read_first_lane(out_i32[global + 128]) ^ a_i32;
            if x1 {
                if x1 {
                    x2 = in_f32[global];
                    x2 = (x2 - x2).max(x2.max(-83.875f32)) / in_f32.uniform(98u32);
                    let x5 = (a_bool as f32) - a_f32;
                    x2 = splat(-4.125f32);
                }
            }
        }
        out_u8[global] = x0 as u8;
        out_u8[global + 128] = x1 as u8;
        out_f32[global] = x2;
    }

    #[workgroup(128)]
    fn program_51(
        in_i8: &[i8],
        in_i32: &[i32],
        out_i32: &mut [i32],
        a_u32: u32,
        out_u32: &mut [u32],
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<i8, 128>::new();
        let lds1 = Lds::<u32, 128>::new();
        let own0 = Private::<bf16, 8>::filled(bf16::from_bits(0x0 /* 0 */));
        let own1 = Private::<u64, 8>::filled(0u64);
        lds0[local] = in_i8[local];
        lds1[local] = in_f32[local].to_bits_as::<u32>();
        let x0 = in_i32[lane].max(in_i32[global]);
        let mut x1: V<u32> = (!((in_i32[global] == x0) as u32));
        x1 = x1;
        let mut x2: V<u32> = x1;
        x1 ^= group.max(a_u32) & (2147483650u32 - x2);
        out_i32[global] = x0;
        out_u32[global] = x1;
        out_u32[global + 256] = x2;
    }

    #[workgroup(64)]
    fn program_52(
        a_bool: bool,
        a_i32: i32,
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        out_i64: &mut [i64],
        a_u64: u64,
        in_u64: &[u64],
        in_f16: &[f16],
        out_f16: &mut [f16],
        a_bf16: bf16,
        in_f32: &[f32],
        out_f32: &mut [f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<f16, 128>::new();
        let own0 = Private::<i64, 8>::filled(0i64);
        let own1 = Private::<u64, 8>::filled(0u64);
        lds0[local] = in_f16[local];
        lds0[local + 64u32] = in_f16[local];
        let mut x0: S<f32> = f32::from_bits(0xac6d810a);
        let mut x1: V<f32> = in_f32[global].max(select(in_f32[local] >= x0, splat(f32::from_bits(0xa4cd8b6c)), out_f32[global]));
        let x2 = (x0 as u32).min(a_u32.max(4107074290u32));
        for x3 in ((read_first_lane(splat(1944700971i32)) & 7i32) - 3i32)..=((a_i32 & 7i32) - 3i32) {
            let mut x4: V<bool> = in_u32[global] >= 39u32;
            if splat(f32::from_bits(0xdf73efa8)) <= x0 {
                continue;
            }
        }
        x1 = x1;
        x0 = x0;
        let mut x5: V<f32> = x1.to_bits_as::<f32>() - x1;
        let mut x6: S<u32> = 0u32;
        while x6 < 5u32 {
            x6 += 1u32;
            lds0[local] = splat(a_bf16).to_bits_as::<f16>();
        }
        x0 = x0;
        x1 = (if a_bool { x1 } else { x0 });
        out_f16[global + 128] = in_f16[local];
        x0 = x0.mul_add(111.25f32, read_first_lane(x5)).min(x0.min(x0));
        own1[local.max(4294967295u32) & 7u32] = in_u64[global] - splat(a_u64);
        if all((x5 == 90.75f32) && (global < 4294967291u32)) {
            let mut x7: V<u32> = 0u32;
            while (x7 < 1u32) && (x1 > f32::from_bits(0x7f800000)) {
                x7 += 1u32;
                x1 = shuffle(x5, in_u32[local] / 2944367711u32);
                out_i64[global] = splat(-8690721408804784632i64).min(in_i64[lane]);
            }
        }
        out_f32[global] = x0;
        out_f32[global + 128] = x1;
        out_u32[global] = x2;
        out_f32[global + 256] = x5;
    }

    #[workgroup(64)]
    fn program_54(
        a_u8: u8,
        in_u8: &[u8],
        in_i32: &[i32],
        out_i32: &mut [i32],
        in_u64: &[u64],
        out_u64: &mut [u64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let mut x0: S<i32> = (in_u64.uniform(39u32) as i32) | wave_or(in_i32[global]);
        let x1 = in_u64[lane];
        x0 *= 0i32;
        x0 = x0 % ((-x0) | 1i32);
        if wave_exclusive_xor(in_u8[lane]) < a_u8 {
            let mut x2: V<u32> = 4294967289u32;
            for x3 in (18446744073709551613u64..=splat(18446744073709551615u64)).rev().step_by(4) {
            }
        }
        out_i32[global] = x0;
        out_u64[global] = x1;
    }

    #[workgroup(128)]
    fn program_56(
        a_bool: bool,
        a_i8: i8,
        in_i8: &[i8],
        out_u8: &mut [u8],
        a_u16: u16,
        in_u16: &[u16],
        a_i32: i32,
        in_i32: &[i32],
        in_u32: &[u32],
        a_i64: i64,
        in_i64: &[i64],
        out_i64: &mut [i64],
        in_bf16: &[bf16],
        out_bf16: &mut [bf16],
        in_f32: &[f32],
        out_f32: &mut [f32],
        a_f64: f64,
        in_f64: &[f64],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let lds0 = Lds::<u16, 128>::new();
        lds0[local] = splat(a_u16).min(splat(a_u16));
        let mut x0: S<bool> = (a_bool || a_bool) && (89u16 > a_u16);
        let x1 = in_bf16[lane];
        out_f32[global + 128] = ((in_i8[local] > a_i8) as f32) + in_f32[(in_u32[local] ^ global) % 99u32];
        x0 = any(splat(a_i64) == out_i64[global]);
        let mut x2: S<f32> = in_f32.uniform(26u32);
        let mut x3: V<u32> = 0u32;
        while (x3 < 5u32) && (in_u32[local] > in_u32.uniform(10u32)) {
            x3 += 1u32;
            lds0[local] = in_u16[global] >> 25u32;
        }
        match ((in_i32.uniform(36u32) % ((in_i32.uniform(91u32) % -7i32) | 1i32)) & a_i32) & 7i32 {
            7i32..=13i32 => {
                #[unroll]
                for x4 in 0u32..1 {
                    x0 = a_f64 < in_f64.uniform(51u32);
                    if (a_i64 < a_i64) && any(in_i64[lane] != in_i64[local]) {
                        let mut x5: S<u32> = 0u32;
                        while x5 < 4u32 {
                            x5 += 1u32;
                        }
                    }
                }
            }
            _ => {
            }
        }
        out_u8[global] = x0 as u8;
        out_bf16[global] = x1;
        out_f32[global] = x2;
    }

    #[workgroup(64)]
    fn program_57(
        a_bool: bool,
        a_i16: i16,
        out_i16: &mut [i16],
        a_i32: i32,
        out_i32: &mut [i32],
        a_u32: u32,
        in_u32: &[u32],
        out_u32: &mut [u32],
        in_i64: &[i64],
        in_u64: &[u64],
        shared_u64: &mut [u64],
        a_f32: f32,
        in_f32: &[f32],
    ) {
        let (local, global, lane) = (local_id().x, global_id().x, lane_id());
        let (wave, group) = (wave_id(), workgroup_id().x);
        let x0 = splat(-4i16);
        let mut x1: V<i32> = in_i64[in_u32[local] % 99u32] as i32;
        let mut x2: V<u32> = 0u32;
        while (x2 < 4u32) && ((splat(-124.625f32) as f32) <= (a_f32 / 77.5f32)) {
            x2 += 1u32;
            x1 ^= 4i32;
            let mut x3: S<f32> = (if a_bool { a_f32 } else { a_f32 }).mul_add(-99.0f32, 44.375f32 * a_f32);
            x1 &= (a_i32 >> in_u32.uniform(24u32).min(a_u32)) ^ (x1 & a_i32);
        }
        x1 = (if (in_f32[local] != -121.125f32) && (in_f32[global] > in_f32.uniform(82u32)) { x1 } else { (in_f32[local] as i32) + (splat(a_i32) & a_i32) });
        if (a_f32 > in_f32.uniform(12u32)) && (in_f32.uniform(74u32) <= a_f32) {
            let mut x4: V<u32> = 0u32;
            loop {
                x4 += 1u32;
                if x4 > 2u32 {
                    break;
                }
                match ((a_i16 & a_i16) | a_i16.min(a_i16)) & 7i16 {
                    32767i16 => {
                        x1 ^= 86i32;
                        shared_u64.atomic(out_u32[global + 128] & 15u32).fetch_max(in_u64[local] >> (local ^ 2147483649u32), Scope::Agent, Ordering::Relaxed);
                        x1 *= 0i32;
                        for x5 in 126i8..splat(127i8) {
                            x1 |= wave_exclusive_xor(out_i32[global] << 11u32);
                        }
                    }
                    _ => {
                    }
                }
            }
        }
        out_i16[global] = x0;
        out_i32[global] = x1;
    }
}

pub const SAMPLE: [Sampled; 40] = [
    (2, |target| program_2.build(target)),
    (3, |target| program_3.build(target)),
    (4, |target| program_4.build(target)),
    (5, |target| program_5.build(target)),
    (7, |target| program_7.build(target)),
    (8, |target| program_8.build(target)),
    (10, |target| program_10.build(target)),
    (11, |target| program_11.build(target)),
    (12, |target| program_12.build(target)),
    (14, |target| program_14.build(target)),
    (16, |target| program_16.build(target)),
    (18, |target| program_18.build(target)),
    (20, |target| program_20.build(target)),
    (21, |target| program_21.build(target)),
    (22, |target| program_22.build(target)),
    (23, |target| program_23.build(target)),
    (24, |target| program_24.build(target)),
    (25, |target| program_25.build(target)),
    (26, |target| program_26.build(target)),
    (27, |target| program_27.build(target)),
    (28, |target| program_28.build(target)),
    (29, |target| program_29.build(target)),
    (30, |target| program_30.build(target)),
    (31, |target| program_31.build(target)),
    (32, |target| program_32.build(target)),
    (34, |target| program_34.build(target)),
    (37, |target| program_37.build(target)),
    (38, |target| program_38.build(target)),
    (43, |target| program_43.build(target)),
    (44, |target| program_44.build(target)),
    (46, |target| program_46.build(target)),
    (47, |target| program_47.build(target)),
    (48, |target| program_48.build(target)),
    (49, |target| program_49.build(target)),
    (50, |target| program_50.build(target)),
    (51, |target| program_51.build(target)),
    (52, |target| program_52.build(target)),
    (54, |target| program_54.build(target)),
    (56, |target| program_56.build(target)),
    (57, |target| program_57.build(target)),
];
