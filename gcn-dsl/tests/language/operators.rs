//! The DSL in the simulator (strict mode), compared with plain Rust.

use gcn_dsl::prelude::*;

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

fn numbers(n: usize, seed: u64) -> Vec<u32> {
    let mut state = seed | 1;
    (0..n)
        .map(|i| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // Small, huge and extreme values side by side.
            match i % 7 {
                0 => (state >> 60) as u32,
                1 => u32::MAX - (state >> 60) as u32,
                2 => 0x8000_0000 ^ (state >> 62) as u32,
                _ => (state >> 32) as u32,
            }
        })
        .collect()
}

fn floats(n: usize, seed: u64) -> Vec<f32> {
    let special = [0.0, -0.0, 1.0, -1.5, f32::INFINITY, f32::NAN, f32::MIN_POSITIVE / 4.0, 3e38, 1e-20];
    let bits = numbers(n, seed);
    bits.iter()
        .enumerate()
        .map(|(i, b)| if i % 5 == 0 { special[i / 5 % special.len()] } else { f32::from_bits(*b) })
        .collect()
}

fn same_f32(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

macro_rules! int_ops {
    ($($name:ident $t:ident;)*) => {$(
        gcn_kernel! {
            #[workgroup(64)]
            fn $name(a: &[$t], b: &[$t], out: &mut [$t]) {
                let i = global_id().x;
                let n = a.len();
                let (x, y) = (a[i], b[i]);
                let d = select(y == 0, 1, y);
                out[i] = x + y;
                out[i + n] = x - y;
                out[i + 2 * n] = x * y;
                out[i + 3 * n] = x / d;
                out[i + 4 * n] = x % d;
                out[i + 5 * n] = (x & y) | !x;
                out[i + 6 * n] = x ^ y;
                out[i + 7 * n] = x << (y as u32 & 7);
                out[i + 8 * n] = x >> (y as u32 & 7);
                out[i + 9 * n] = x.min(y) - x.max(y);
                out[i + 10 * n] = select(x < y, x, -y);
            }
        }
    )*};
}

int_ops! { ops_u32 u32; ops_i32 i32; ops_u16 u16; ops_i16 i16; ops_u8 u8; ops_i8 i8; }

#[test]
fn integer_operators_are_rusts() {
    macro_rules! check {
        ($($name:ident $t:ident)*) => {$(
            for target in TARGETS {
                let a: Vec<$t> = numbers(256, 11).iter().map(|x| *x as $t).collect();
                let b: Vec<$t> = numbers(256, 77).iter().rev().map(|x| *x as $t).collect();
                let mut out = vec![0 as $t; 256 * 11];
                $name.launch(&Device::simulator(target), Grid::x(4), (&a, &b, &mut out)).unwrap();
                for i in 0..256 {
                    let (x, y) = (a[i], b[i]);
                    let d = if y == 0 { 1 } else { y };
                    let shift = y as u32 & 7;
                    let expected = [
                        x.wrapping_add(y), x.wrapping_sub(y), x.wrapping_mul(y), x.wrapping_div(d), x.wrapping_rem(d),
                        (x & y) | !x, x ^ y, x.wrapping_shl(shift), x.wrapping_shr(shift),
                        x.min(y).wrapping_sub(x.max(y)), if x < y { x } else { (0 as $t).wrapping_sub(y) },
                    ];
                    for (op, e) in expected.iter().enumerate() {
                        assert_eq!(out[i + op * 256], *e, "{target} {} op {op}: {x} {y}", stringify!($t));
                    }
                }
            }
        )*};
    }
    check!(ops_u32 u32 ops_i32 i32 ops_u16 u16 ops_i16 i16 ops_u8 u8 ops_i8 i8);
}

gcn_kernel! {
    #[workgroup(64)]
    fn ops_f32(a: &[f32], b: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        let n = a.len();
        let (x, y) = (a[i], b[i]);
        out[i] = x + y;
        out[i + n] = x - y;
        out[i + 2 * n] = x * y;
        out[i + 3 * n] = x / y;
        out[i + 4 * n] = -x;
        out[i + 5 * n] = x.abs();
        out[i + 6 * n] = x.mul_add(y, 1.0);
        out[i + 7 * n] = x.floor();
        out[i + 8 * n] = select(x <= y, x, y);
        out[i + 9 * n] = select(x != y, 1.0, 0.0);
    }
}

#[test]
fn float_operators_are_rusts() {
    for target in TARGETS {
        let (a, b) = (floats(256, 5), floats(256, 9).into_iter().rev().collect::<Vec<_>>());
        let mut out = vec![0f32; 2560];
        ops_f32.launch(&Device::simulator(target), Grid::x(4), (&a, &b, &mut out)).unwrap();
        for i in 0..256 {
            let (x, y) = (a[i], b[i]);
            let expected = [
                x + y,
                x - y,
                x * y,
                x / y,
                -x,
                x.abs(),
                x.mul_add(y, 1.0),
                x.floor(),
                if x <= y { x } else { y },
                if x != y { 1.0 } else { 0.0 },
            ];
            for (op, e) in expected.iter().enumerate() {
                let got = out[i + op * 256];
                assert!(same_f32(got, *e), "{target} op {op}: {x:e} {y:e} gives {got:e}, not {e:e}");
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn ops_f64(a: &[f64], b: &[f64], s: f64, out: &mut [f64]) {
        let i = global_id().x;
        let n = a.len();
        out[i] = a[i] + b[i] * s;
        out[i + n] = a[i] / b[i];
        out[i + 2 * n] = a[i] - s;
        out[i + 3 * n] = a[i].mul_add(b[i], -s);
    }
}

#[test]
fn f64_operators_are_rusts() {
    let wide = |v: &[f32]| v.iter().map(|x| f64::from(*x) * 1.000_000_001).collect::<Vec<f64>>();
    for target in TARGETS {
        let (a, b) = (wide(&floats(128, 3)), wide(&floats(128, 8)));
        let mut out = vec![0f64; 512];
        ops_f64.launch(&Device::simulator(target), Grid::x(2), (&a, &b, 0.1, &mut out)).unwrap();
        for i in 0..128 {
            let expected = [a[i] + b[i] * 0.1, a[i] / b[i], a[i] - 0.1, a[i].mul_add(b[i], -0.1)];
            for (op, e) in expected.iter().enumerate() {
                let got = out[i + op * 128];
                assert!(
                    got.to_bits() == e.to_bits() || (got.is_nan() && e.is_nan()),
                    "{op}: {} {}",
                    a[i],
                    b[i]
                );
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn casts(x: &[f32], i32s: &mut [i32], u8s: &mut [u8], f16s: &mut [f16], bf16s: &mut [bf16], back: &mut [f32]) {
        let i = global_id().x;
        i32s[i] = x[i] as i32;
        u8s[i] = x[i] as u8;
        f16s[i] = x[i] as f16;
        bf16s[i] = x[i] as bf16;
        back[i] = (x[i] as i32) as f32 + (x[i] as f16) as f32;
    }
}

#[test]
fn casts_follow_rust() {
    let mut x = floats(128, 21);
    x.extend([2147483647.0, -2147483648.0, 255.5, 256.0, -1.0, 65504.0, 65520.0, 1.0009765, 6e-8, 0.5]);
    x.resize(192, 3.7);
    for target in TARGETS {
        let n = x.len();
        let (mut i32s, mut u8s) = (vec![0i32; n], vec![0u8; n]);
        let (mut f16s, mut bf16s, mut back) = (vec![f16::ZERO; n], vec![bf16::ZERO; n], vec![0f32; n]);
        let args = (&x[..], &mut i32s[..], &mut u8s[..], &mut f16s[..], &mut bf16s[..], &mut back[..]);
        casts.launch(&Device::simulator(target), Grid::x(3), args).unwrap();
        for i in 0..n {
            assert_eq!(i32s[i], x[i] as i32, "{}", x[i]);
            assert_eq!(u8s[i], x[i] as u8, "{}", x[i]);
            let half = f16::from_f32(x[i]);
            assert!(f16s[i].to_bits() == half.to_bits() || half.is_nan() && f16s[i].is_nan(), "{}", x[i]);
            let b = bf16::from_f32(x[i]);
            assert!(bf16s[i].to_bits() == b.to_bits() || b.is_nan() && bf16s[i].is_nan(), "{}", x[i]);
            assert!(same_f32(back[i], (x[i] as i32) as f32 + half.to_f32()), "{}", x[i]);
        }
    }
}

gcn_kernel! {
    /// Collatz steps: a loop with a varying trip count, which contains a varying `if` with two branches.
    #[workgroup(64)]
    fn collatz(n: &[u32], steps: &mut [u32]) {
        let i = global_id().x;
        let mut x: V<u32> = n[i];
        let mut count: V<u32> = 0;
        while x > 1 {
            if x % 2 == 0 {
                x = x / 2;
            } else {
                x = 3 * x + 1;
            }
            count += 1;
        }
        steps[i] = count;
    }
}

#[test]
fn varying_loops_and_branches() {
    let reference = |mut x: u32| {
        let mut steps = 0;
        while x > 1 {
            x = if x.is_multiple_of(2) { x / 2 } else { 3 * x + 1 };
            steps += 1;
        }
        steps
    };
    let n: Vec<u32> = (0..128).map(|i| i * 7 % 97).collect();
    for target in TARGETS {
        let mut steps = vec![0; 128];
        collatz.launch(&Device::simulator(target), Grid::x(2), (&n, &mut steps)).unwrap();
        assert_eq!(steps, n.iter().map(|x| reference(*x)).collect::<Vec<u32>>(), "{target}");
    }
}

gcn_kernel! {
    /// Nested uniform and varying control flow, values of `if`, and `for` with all kinds of bounds.
    #[workgroup(64)]
    fn nested(n: u32, x: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let mut sum: V<u32> = 0;
        let mut trips = 0u32;
        for k in 0..n {
            if k % 2 == 0 {
                sum += k + x[i];
            } else {
                if x[i] > k {
                    for j in 0..(x[i] & 3) {
                        sum += j * k;
                    }
                } else {
                    let bonus = if x[i] == 0 { 5 } else { x[i] };
                    sum += bonus;
                }
            }
            trips += 1;
        }
        for k in (3..n).step_by(5) {
            sum = sum * 3 + k;
        }
        for k in 2..=n {
            sum ^= k;
        }
        let flavour = if n > 10 { 100u32 } else { 200 };
        out[i] = sum + trips * 1000 + flavour;
    }
}

#[test]
fn nested_control_flow() {
    let reference = |n: u32, x: u32| {
        let mut sum = 0u32;
        for k in 0..n {
            if k % 2 == 0 {
                sum = sum.wrapping_add(k + x);
            } else if x > k {
                for j in 0..(x & 3) {
                    sum = sum.wrapping_add(j * k);
                }
            } else {
                sum = sum.wrapping_add(if x == 0 { 5 } else { x });
            }
        }
        for k in (3..n).step_by(5) {
            sum = sum.wrapping_mul(3).wrapping_add(k);
        }
        for k in 2..=n {
            sum ^= k;
        }
        sum.wrapping_add(n * 1000).wrapping_add(if n > 10 { 100 } else { 200 })
    };
    for target in TARGETS {
        for n in [0, 1, 2, 3, 4, 11, 23] {
            let x: Vec<u32> = (0..64).map(|i| i % 13).collect();
            let mut out = vec![0; 64];
            nested.launch(&Device::simulator(target), Grid::x(1), (n, &x, &mut out)).unwrap();
            assert_eq!(out, x.iter().map(|x| reference(n, *x)).collect::<Vec<_>>(), "{target} n = {n}");
        }
    }
}

gcn_kernel! {
    /// Code that is executed while the kernel is built, const generics, arrays of device values, vectors, raw pointers.
    #[workgroup(64)]
    fn meta<const N: usize>(p: *const u32, q: *mut u32, halves: &[f16], out: &mut [f32]) {
        let i = global_id().x;
        let mut parts = [0u32; N];
        #[unroll]
        for k in 0..N {
            parts[k] = parts[k] + k as u32 * 10;
        }
        let mut total: V<u32> = 0;
        #[unroll]
        for k in 0..N {
            total += parts[k];
        }
        comptime if N > 2 {
            total += comptime { (N * N) as u32 };
        }
        q[i] = p[i] + total;
        let v = halves.load_vector::<4>(4 * i);
        let mut sum: V<f32> = 0.0;
        #[unroll]
        for k in 0..4 {
            sum += v.get(k) as f32;
        }
        out[i] = sum;
    }
}

#[test]
fn host_time_code() {
    for target in TARGETS {
        let device = Device::simulator(target);
        let (p, q) = (device.alloc::<u32>(64).unwrap(), device.alloc::<u32>(64).unwrap());
        let data = numbers(64, 4);
        device.write(p, &data).unwrap();
        let halves: Vec<f16> = (0..256).map(|i| f16::from_f32(i as f32 / 8.0)).collect();
        let mut out = vec![0f32; 64];
        meta::<3>.launch(&device, Grid::x(1), (p, q, &halves, &mut out)).unwrap();
        let expected: Vec<u32> = data.iter().map(|x| x.wrapping_add(30 + 9)).collect();
        assert_eq!(device.read(q, 64).unwrap(), expected);
        for (i, got) in out.iter().enumerate() {
            let sum: f32 = (0..4).map(|k| (4 * i + k) as f32 / 8.0).sum();
            assert_eq!(*got, sum);
        }
        assert_eq!(meta::<3>.signature().name, "meta_3");
    }
}

gcn_kernel! {
    /// Cross-lane functions, and uniform values computed from varying ones.
    #[workgroup(128)]
    fn lanes(x: &[u32], table: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let first = read_first_lane(x[i]);
        let third = read_lane(x[i], 3);
        let swapped = shuffle_xor(x[i], 1);
        let odd = ballot(x[i] % 2 == 1);
        let some = any(x[i] > 1_000_000);
        let mut r: V<u32> = swapped + first * 3 + third * 5;
        if some {
            r += 7;
        }
        r += (odd & 0xffff) as u32 + table.uniform(first % 4) + wave_id() * 11 + lane_id();
        out[i] = r;
    }
}

#[test]
fn cross_lane() {
    for target in TARGETS {
        let x: Vec<u32> = numbers(128, 6).iter().map(|x| x % 1000).collect();
        let table = [10, 20, 30, 40];
        let mut out = vec![0; 128];
        lanes.launch(&Device::simulator(target), Grid::x(1), (&x, &table, &mut out)).unwrap();
        for i in 0..128 {
            let wave = &x[i / 64 * 64..i / 64 * 64 + 64];
            let lane = i % 64;
            let odd: u64 = wave.iter().enumerate().map(|(l, x)| u64::from(x % 2) << l).sum();
            let expected = wave[lane ^ 1]
                + wave[0] * 3
                + wave[3] * 5
                + (odd & 0xffff) as u32
                + table[wave[0] as usize % 4]
                + (i / 64) as u32 * 11
                + lane as u32;
            assert_eq!(out[i], expected, "{target} lane {i}");
        }
    }
}

gcn_kernel! {
    /// Names that could conflict with those of the expansion.
    #[workgroup(64)]
    fn hygiene(kernel: u32, ctx: u32, target: u32, flow: u32, args: &mut [u32]) {
        let i = global_id().x;
        let lang = kernel + ctx;
        let mut __flow_ = lang;
        __flow_ += target * flow;
        args[i] = i + __flow_;
    }
}

#[test]
fn no_name_is_reserved() {
    let mut out = vec![0; 64];
    hygiene.launch(&Device::simulator(Target::GFX942), Grid::x(1), (1, 2, 3, 4, &mut out)).unwrap();
    assert_eq!(out[5], 5 + 1 + 2 + 12);
}

gcn_kernel! {
    #[workgroup(64)]
    fn bounds(x: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        // Past the end, a load gives 0 and a store does nothing.
        out[i] = x[i] + 1;
        out[i - 60] = 9;
    }
}

#[test]
fn slices_are_bounds_checked_by_the_buffer() {
    for target in TARGETS {
        let x = vec![5; 10];
        let mut out = vec![0; 20];
        bounds.launch(&Device::simulator(target), Grid::x(1), (&x, &mut out)).unwrap();
        let expected: Vec<u32> = (0..20)
            .map(|i| {
                if i < 4 {
                    9
                } else if i < 10 {
                    6
                } else {
                    1
                }
            })
            .collect();
        assert_eq!(out, expected, "{target}");
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn shifts(n: i32, m: i64, x: &[u64], by: &[i8], wide: &mut [u64], y: &mut [i32], z: &mut [u32]) {
        let i = global_id().x;
        let odd = ballot(x[i] & 1 == 1);
        wide[i] = (odd >> i) ^ (x[i] << n) ^ (x[i] >> by[i]) ^ (1u64 << m);
        y[i] = ((1 << n) - 1) ^ (7 << by[i]) ^ (0x4000_0000 >> (i as i64));
        let mut bits = z[i];
        bits <<= by[i];
        bits ^= 1 << (n - 3);
        z[i] = bits;
    }
}

/// As in Rust, a shift count may be any integer. A uniform value may be shifted by a varying count.
#[test]
fn shift_counts_of_any_integer() {
    let x: Vec<u64> = (0..64).map(|i| i * 0x0123_4567_89ab_cdef).collect();
    let by: Vec<i8> = (0..64).map(|i| i % 32).collect();
    let odd = (0..64).fold(0u64, |odd, i| odd | (x[i] & 1) << i);
    for target in [Target::GFX900, Target::GFX90A, Target::GFX950] {
        for (n, m) in [(3, 40), (9, 63i64)] {
            let (mut wide, mut y, mut z) = (vec![0; 64], vec![0; 64], vec![0x1234_5678u32; 64]);
            let args = (n, m, &x[..], &by[..], &mut wide[..], &mut y[..], &mut z[..]);
            shifts.launch(&Device::simulator(target), Grid::x(1), args).unwrap();
            for i in 0..64 {
                let by = by[i];
                assert_eq!(wide[i], (odd >> i) ^ (x[i] << n) ^ (x[i] >> by) ^ (1u64 << m), "{target} {i}");
                let y_of = ((1 << n) - 1) ^ (7i32 << by) ^ 0x4000_0000i32.wrapping_shr(i as u32);
                assert_eq!(y[i], y_of, "{target} {i}");
                assert_eq!(z[i], (0x1234_5678 << by) ^ (1 << (n - 3)), "{target} {i}");
            }
        }
    }
}
