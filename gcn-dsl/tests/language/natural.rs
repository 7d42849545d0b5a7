//! Lines that have the same meaning as in Rust: literals, variables, receivers, tables, parts of slices, structs in
//! memory.

use gcn_dsl::prelude::*;

fn on_all(run: impl Fn(&Device)) {
    for target in [Target::GFX906, Target::GFX942] {
        run(&Device::simulator(target));
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn literals(x: &[i32], f: &[f32], h: &[f16], out: &mut [i32], floats: &mut [f32], halves: &mut [f16], n: u32) {
        let i = global_id().x;
        let sign = if x[i] > 3 { 1 } else if x[i] < -3 { -1 } else { 0 };
        let class = match x[i] { 3 => 1u32, 2 => 7, _ => 0 };
        let mut sum = 0;
        for k in 0..n {
            sum += 2 * k + 1;
        }
        let mut bits = 0u32;
        for k in (0..8).rev().step_by(3) {
            bits |= 1 << k;
        }
        let shifted = 1 << lane_id() % 31;
        out[i] = sign + class as i32 * 10 + sum as i32 * 100 + bits as i32 * 10000 + shifted as i32;
        let mut scale = 1.0;
        if f[i] < 0.0 {
            scale = -0.5;
        }
        floats[i] = 1.0 / 3.0 * f[i] + 2.0 * scale * if x[i] == 0 { 4.0 } else { 0.25 };
        halves[i] = 0.1 * h[i] + (h[i] - 1.5).max(0.0) + if h[i] > 2.0 { 1.0 } else { h[i] };
    }
}

#[test]
fn literals_take_their_type() {
    let x: Vec<i32> = (0..64).map(|i| i % 9 - 4).collect();
    let f: Vec<f32> = (0..64).map(|i| i as f32 - 31.5).collect();
    let h: Vec<f16> = (0..64).map(|i| f16::from_f32(i as f32 / 16.0)).collect();
    on_all(|device| {
        let (mut out, mut floats, mut halves) = (vec![0; 64], vec![0.0; 64], vec![f16::ZERO; 64]);
        literals.launch(device, Grid::x(1), (&x, &f, &h, &mut out, &mut floats, &mut halves, 5)).unwrap();
        for i in 0..64 {
            let sign = (x[i] > 3) as i32 - (x[i] < -3) as i32;
            let class = match x[i] {
                3 => 1,
                2 => 7,
                _ => 0,
            };
            let bits = 1 << 7 | 1 << 4 | 1 << 1;
            let want = sign + class * 10 + 25 * 100 + bits * 10000 + (1 << (i % 31));
            assert_eq!(out[i], want);
            let scale = if f[i] < 0.0 { -0.5 } else { 1.0 };
            let last = if x[i] == 0 { 4.0 } else { 0.25 };
            assert_eq!(floats[i], 1.0 / 3.0 * f[i] + 2.0 * scale * last);
            let (c, one) = (f16::from_f64(0.1), f16::from_f64(1.5));
            let above = if h[i] > f16::from_f64(2.0) { f16::ONE } else { h[i] };
            let difference = h[i] - one;
            let most = if difference > f16::ZERO { difference } else { f16::ZERO };
            assert_eq!(halves[i], c * h[i] + most + above);
        }
    });
}

gcn_kernel! {
    #[device]
    fn varying_of(x: u32) -> V<u32> {
        lane_id() + x
    }

    #[workgroup(64)]
    fn variables(x: &[u32], limit: u32, out: &mut [u32]) {
        let i = global_id().x;
        // Assigned under a varying condition.
        let mut count = 0;
        // Assigned a varying value, by way of another variable.
        let (mut a, mut b) = (0, 1);
        // Changed in a loop that some lanes leave early.
        let mut trips = limit - limit;
        // Assigned the result of a device function.
        let mut of_function = 7;
        // Uniform for its whole lifetime.
        let mut uniform = 0;
        let mut all = [0; 3];
        for k in 0..limit {
            if x[i] & (1 << k) != 0 {
                count += 1;
            }
            (a, b) = (b, a + x[i]);
            uniform += 2;
            all[1] += x[i];
        }
        loop {
            if trips == x[i] % 5 {
                break;
            }
            trips += 1;
        }
        of_function += varying_of(1);
        let late;
        if x[i] > 100 {
            let other;
            other = x[i] / 2;
            late = other + 1;
        } else if uniform > 3 {
            late = 0;
        } else {
            late = 9;
        }
        while uniform > 0 {
            barrier();
            uniform -= 1;
        }
        out[i * 8] = count;
        out[i * 8 + 1] = a;
        out[i * 8 + 2] = b;
        out[i * 8 + 3] = trips;
        out[i * 8 + 4] = of_function;
        out[i * 8 + 5] = late;
        out[i * 8 + 6] = all[0] + all[1] + all[2];
        out[i * 8 + 7] = uniform;
    }
}

#[test]
fn variables_vary_where_that_is_needed() {
    let x: Vec<u32> = (0..64).map(|i| i * 37 % 211).collect();
    on_all(|device| {
        let mut out = vec![0; 64 * 8];
        variables.launch(device, Grid::x(1), (&x, 6, &mut out)).unwrap();
        for i in 0..64 {
            let v = x[i as usize];
            let (mut a, mut b) = (0u32, 1);
            for _ in 0..6 {
                (a, b) = (b, a + v);
            }
            let late = if v > 100 { v / 2 + 1 } else { 0 };
            let want = [(v & 63).count_ones(), a, b, v % 5, 7 + i + 1, late, 6 * v, 0];
            assert_eq!(out[i as usize * 8..][..8], want, "lane {i}");
        }
    });
}

/// A kernel that calls methods with varying arguments, on a uniform receiver and on the same value as a varying one.
macro_rules! receivers {
    ($($kernel:ident $t:ty, |$s:ident, $v:ident, $w:ident| $($call:expr),*;)*) => {$(
        gcn_kernel! {
            #[allow(unused_assignments, reason = "after the last call too")]
            #[workgroup(64)]
            fn $kernel(s: $t, x: &[$t], uniform: &mut [$t], varying: &mut [$t]) {
                let i = global_id().x;
                let ($v, $w) = (x[i], x[i + 64]);
                let mut at: V<u32> = i;
                {
                    let $s = s;
                    $(uniform[at] = $call; at += 64;)*
                }
                at = i;
                {
                    let $s: V<$t> = s;
                    $(varying[at] = $call; at += 64;)*
                }
            }
        }
    )*};
}
receivers! {
    unsigned u32, |s, v, w| s.min(v), s.max(v), s.clamp(v.min(w), v.max(w)), s.abs_diff(v), s.midpoint(v), s.mul_hi(v),
        s.saturating_sub(v), s.saturating_add(v), s.wrapping_mul(v), s.overflowing_sub(v).0, s.rotate_left(v),
        s.div_ceil(v), s.next_multiple_of(v), s.rem_euclid(v), s.unbounded_shl(v), s.wrapping_shr(v);
    signed i32, |s, v, w| s.min(v), s.max(v), s.saturating_mul(v), s.div_euclid(v), s.wrapping_sub(v), s.clamp(v.min(w), 100);
    floating f32, |s, v, w| s.min(v), s.max(v), s.mul_add(v, w), s.mul_add(v, 2.0), s.mul_add(3.0, w), s.copysign(v), s.powf(v), s.hypot(v),
        s.clamp(v.min(w), v.max(w)), s.rem_euclid(v);
}

#[test]
fn receivers_widen() {
    fn same<T: PartialEq + std::fmt::Debug>(a: &[T], b: &[T], first: impl Fn(usize) -> T) {
        assert_eq!(a, b);
        (0..64).for_each(|i| assert_eq!(a[i], first(i)));
    }
    on_all(|device| {
        let x: Vec<u32> = (0..128).map(|i| i * 2_654_435 + 1).collect();
        let (mut a, mut b) = (vec![0; 64 * 16], vec![1; 64 * 16]);
        unsigned.launch(device, Grid::x(1), (77_777_777, &x, &mut a, &mut b)).unwrap();
        same(&a, &b, |i| x[i].min(77_777_777));
        let x: Vec<i32> = x.iter().map(|x| (*x as i32 / 1000 - 80_000) | 1).collect();
        let (mut a, mut b) = (vec![0; 64 * 6], vec![1; 64 * 6]);
        signed.launch(device, Grid::x(1), (-3000, &x, &mut a, &mut b)).unwrap();
        same(&a, &b, |i| x[i].min(-3000));
        let x: Vec<f32> = x.iter().map(|x| *x as f32 / 1e4).collect();
        let (mut a, mut b) = (vec![0.0; 64 * 10], vec![1.0; 64 * 10]);
        floating.launch(device, Grid::x(1), (1.25, &x, &mut a, &mut b)).unwrap();
        same(&a, &b, |i| x[i].min(1.25));
    });
}

const PRIMES: [u32; 17] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59];
const SIGNS: &[f32] = &[1.0, -1.0, 0.5];

gcn_kernel! {
    #[workgroup(64)]
    fn tables(n: u32, one: [u32; 1], pairs: ([f32; 3], (u32, bool)), out: &mut [u32], floats: &mut [f32]) {
        let i = global_id().x;
        let own = [i, i * 2, i * 3];
        let mut sum = 0;
        for k in 0..17 {
            sum += PRIMES[k];
        }
        out[i] = PRIMES[i % 17] + own[i % 3] * 1000 + sum * 1000000 + one[n - n] + own[n];
        floats[i] = SIGNS[i % 3] * (pairs.0)[n] + if (pairs.1).1 { (pairs.1).0 as f32 } else { 0.0 };
    }
}

#[test]
fn tables_are_indexed_by_the_device() {
    on_all(|device| {
        let (mut out, mut floats) = (vec![0; 64], vec![0.0; 64]);
        let pairs = ([1.5, 2.5, 3.5], (40, true));
        tables.launch(device, Grid::x(1), (2, [9], pairs, &mut out, &mut floats)).unwrap();
        for i in 0..64u32 {
            let sum: u32 = PRIMES.iter().sum();
            let want = PRIMES[i as usize % 17] + i * (i % 3 + 1) * 1000 + sum * 1000000 + 9 + 3 * i;
            assert_eq!(out[i as usize], want);
            assert_eq!(floats[i as usize], SIGNS[i as usize % 3] * 3.5 + 40.0);
        }
    });
}

gcn_kernel! {
    #[device]
    fn first_of(row: &[f32], k: u32) -> V<f32> {
        row[k] + row.len() as f32
    }

    #[workgroup(64)]
    fn parts(x: &[f32], bytes: &[u8], start: u32, end: u32, out: &mut [f32], narrow: &mut [u8]) {
        let lane = lane_id();
        let row = &x[start..end];
        let inner = &row[2..];
        out[lane] = row[lane];
        out[64 + lane] = inner[lane];
        out[128 + lane] = first_of(row, 1) + inner.len() as f32;
        let target = &mut out[192..200];
        target[lane] = 4.0;
        out[192 + lane % 8] = out[192 + lane % 8] + 1.0;
        target[lane] = target[lane] + 0.0;
        let unaligned = &bytes[start..=end];
        let four = unaligned.load_vector::<4>(lane);
        #[unroll]
        for k in 0..4 {
            narrow[lane * 4 + k as u32] = four.get(k);
        }
    }
}

#[test]
fn parts_of_slices_have_their_own_ends() {
    let x: Vec<f32> = (0..50).map(|i| i as f32 + 1.0).collect();
    let bytes: Vec<u8> = (0..50).map(|i| i as u8 + 1).collect();
    on_all(|device| {
        for (start, end) in [(3, 9), (0, 50), (45, 80), (60, 70), (9, 3)] {
            let (mut out, mut narrow) = (vec![-1.0; 264], vec![0xff; 256]);
            parts.launch(device, Grid::x(1), (&x, &bytes, start, end, &mut out, &mut narrow)).unwrap();
            let range = (start as usize).min(50)..(end as usize).min(50);
            let row = x.get(range).unwrap_or(&[]);
            let at = |row: &[f32], i: usize| row.get(i).copied().unwrap_or(0.0);
            let inner = row.get(2..).unwrap_or(&[]);
            for i in 0..64 {
                assert_eq!(out[i], at(row, i), "{start}..{end}");
                assert_eq!(out[64 + i], at(inner, i));
                assert_eq!(out[128 + i], at(row, 1) + row.len() as f32 + inner.len() as f32);
                assert_eq!(out[192 + i], if i < 8 { 5.0 } else { -1.0 });
                let part = bytes.get((start as usize).min(50)..(end as usize + 1).min(50)).unwrap_or(&[]);
                for k in 0..4 {
                    assert_eq!(narrow[i * 4 + k], part.get(i + k).copied().unwrap_or(0), "{start}..={end}");
                }
            }
        }
    });
}

gcn_kernel! {
    #[device]
    #[repr(C)]
    #[derive(PartialEq)]
    pub struct Inner {
        a: u8,
        b: i16,
    }

    #[device]
    #[repr(C)]
    #[derive(PartialEq)]
    pub struct Outer {
        tag: u8,
        wide: f64,
        inner: [Inner; 3],
        n: u32,
    }

    #[workgroup(64)]
    fn structs(x: &[Outer], y: &mut [Outer], sums: &mut [i32], own: Inner) {
        let i = global_id().x;
        // Uniform, so its fields can bound loops.
        let first = x[workgroup_id().x];
        let mut sum = 0;
        for k in 0..first.n {
            let inner = x[i].inner[k % 3];
            sum += inner.b as i32 + inner.a as i32;
        }
        sums[i] = sum + own.b as i32;
        let mut z = x[i];
        z.wide *= 2.0;
        y[i] = z;
        y[i].inner[1].b = -7;
        y[i].inner[2] = Inner { a: 3, b: z.inner[0].b };
        y[i].n += first.n;
    }
}

#[test]
fn structs_have_the_layout_of_c() {
    let inner = |i: i32| Inner { a: i as u8, b: (i * 3 - 90) as i16 };
    let x: Vec<Outer> = (0..64)
        .map(|i| Outer {
            tag: i as u8 + 1,
            wide: f64::from(i) + 0.5,
            inner: [inner(i), inner(i + 1), inner(i + 2)],
            n: i as u32 + 4,
        })
        .collect();
    on_all(|device| {
        let zero = Outer { tag: 0, wide: 0.0, inner: [inner(0); 3], n: 0 };
        let (mut y, mut sums) = (vec![zero; 64], vec![0; 64]);
        structs.launch(device, Grid::x(1), (&x, &mut y, &mut sums, inner(4))).unwrap();
        for i in 0..64 {
            let of = |k: usize| i32::from(x[i].inner[k].a) + i32::from(x[i].inner[k].b);
            assert_eq!(sums[i], of(0) * 2 + of(1) + of(2) + i32::from(inner(4).b));
            let mut want = x[i];
            want.wide *= 2.0;
            want.inner[1].b = -7;
            want.inner[2] = Inner { a: 3, b: want.inner[0].b };
            want.n += 4;
            assert_eq!(y[i], want);
        }
    });
}

#[test]
fn only_fields_that_are_used_are_loaded_and_stored() {
    gcn_kernel! {
        #[device]
        #[repr(C)]
        pub struct Wide {
            a: f32,
            b: [f32; 7],
        }

        #[workgroup(64)]
        fn one_field(x: &[Wide], y: &mut [Wide]) {
            let i = global_id().x;
            y[i].a = x[i].b[3];
        }
    }
    let text = one_field.build(Target::GFX942).unwrap().assembly(Comments::None);
    assert_eq!(text.matches("buffer_load").count(), 1, "{text}");
    assert_eq!(text.matches("buffer_store").count(), 1, "{text}");
}

gcn_kernel! {
    #[workgroup(64)]
    fn distances(x: &[u32], n: u32, out: &mut [u32]) {
        let lane = lane_id();
        let v = x[lane];
        out[lane] = shuffle_xor(v, n);
        out[64 + lane] = shuffle_up(v, n);
        out[128 + lane] = shuffle_down(v, n);
        out[192 + lane] = shuffle_xor(v, lane & 3);
    }
}

#[test]
fn distances_of_shuffles_may_be_computed() {
    let x: Vec<u32> = (0..64).map(|i| i * 10).collect();
    on_all(|device| {
        for n in [0u32, 1, 5, 16, 63] {
            let mut out = vec![0; 256];
            distances.launch(device, Grid::x(1), (&x, n, &mut out)).unwrap();
            for i in 0..64u32 {
                let at = |k: u32| x[k as usize];
                let got = |part: u32| out[(64 * part + i) as usize];
                assert_eq!(got(0), at(i ^ n));
                assert_eq!(got(1), at(if i < n { i } else { i - n }));
                assert_eq!(got(2), at(if i + n > 63 { i } else { i + n }));
                assert_eq!(got(3), at(i ^ (i & 3)));
            }
        }
    });
}

#[test]
fn what_only_the_whole_kernel_tells_is_an_error_of_the_build() {
    const WIDTH: usize = 5;
    gcn_kernel! {
        #[workgroup(64)]
        fn wide(x: &[f32], y: &mut [f32]) {
            let i = global_id().x;
            y[i] = x.load_vector::<WIDTH>(i).get(0);
        }
    }
    let error = wide.build(Target::GFX942).unwrap_err().to_string();
    assert!(error.contains("a vector of 5 `f32` is 20 bytes"), "{error}");
    assert!(error.contains("1, 2, 3, 4 elements") && error.contains("natural.rs"), "{error}");
}

gcn_kernel! {
    /// Literals next to a type parameter, and constants before the type parameter.
    #[workgroup(64)]
    fn over_constants<const HALVE: bool, T: Float, const N: usize>(x: &[T], y: &mut [T]) {
        let i = global_id().x;
        let kept = if i % 2 == 0 { x[i] } else { 1.0 };
        let other = if i % 3 == 0 { 3.0 } else { if HALVE { x[i] } else { 2.0 } };
        let mut sum: V<T> = kept;
        #[unroll] for _ in 0..N {
            sum += other;
        }
        y[i] = sum;
    }

    #[device]
    fn above_zero<I: Integer>(x: V<I>) -> V<u32> {
        if x >= 0 && x != 7 { 1 } else { 0 }
    }

    #[workgroup(64)]
    fn with_integers(x: &[i32], y: &mut [u32]) {
        let i = global_id().x;
        y[i] = above_zero(x[i]) + 2 * above_zero(x[i] as i64);
    }

    /// A state machine; some lanes leave the loop instead of changing to the next state.
    #[workgroup(64)]
    fn states(x: &[u32], y: &mut [u32], bits: &mut [f32]) {
        let i = global_id().x;
        let mut state: V<u32> = 0;
        let mut steps: V<u32> = 0;
        for k in 0..8 {
            state = match (state, x[(i + k) % 64] % 5) {
                (0, 0) => 1,
                (1, 3) => break,
                (_, 4) => continue,
                (s, c) => (s + c) % 3,
            };
            steps += if state == 2 && steps == 5 { return } else { 1 };
        }
        y[i] = state * 100 + steps;
        bits[i] = f32::from_bits(x[i] << 23 | 0x0040_0000);
    }
}

#[test]
fn constants_stand_before_types() {
    let x: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let device = Device::simulator(Target::GFX942);
    let mut y = vec![0.0; 64];
    over_constants::<true, f32, 3>.launch(&device, Grid::x(1), (&x, &mut y)).unwrap();
    let want = |i: u32| {
        let x = i as f32;
        let kept = if i.is_multiple_of(2) { x } else { 1.0 };
        let other = if i.is_multiple_of(3) { 3.0 } else { x };
        kept + other + other + other
    };
    assert_eq!(y, (0..64).map(want).collect::<Vec<f32>>());
}

#[test]
fn literals_compare_with_a_type_parameter() {
    let x: Vec<i32> = (0..64).map(|i| i - 20).collect();
    let mut y = vec![0; 64];
    with_integers.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&x, &mut y)).unwrap();
    assert_eq!(y, x.iter().map(|x| 3 * u32::from(*x >= 0 && *x != 7)).collect::<Vec<u32>>());
}

#[test]
fn an_assigned_match_may_leave() {
    let x: Vec<u32> = (0..64).map(|i| (i * 29 + 3) % 101).collect();
    let (mut y, mut bits) = (vec![9999; 64], vec![0.0; 64]);
    states.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&x, &mut y, &mut bits)).unwrap();
    let of = |i: usize| {
        let (mut state, mut steps) = (0, 0);
        for k in 0..8 {
            state = match (state, x[(i + k) % 64] % 5) {
                (0, 0) => 1,
                (1, 3) => break,
                (_, 4) => continue,
                (s, c) => (s + c) % 3,
            };
            steps += if state == 2 && steps == 5 { return 9999 } else { 1 };
        }
        state * 100 + steps
    };
    assert_eq!(y, (0..64).map(of).collect::<Vec<u32>>());
    for (i, bits) in bits.iter().enumerate().filter(|(i, _)| y[*i] != 9999) {
        assert_eq!(*bits, f32::from_bits(x[i] << 23 | 0x0040_0000));
    }
}

gcn_kernel! {
    #[device]
    fn through(p: V<*const u32>, most: u32) -> V<u32> {
        unsafe {
            if *p > most {
                return most;
            }
            *p
        }
    }

    /// `unsafe` blocks as statements, values, operands, arguments of macros, and around expressions that decide whether
    /// a variable varies.
    #[workgroup(64)]
    fn unsafe_blocks(x: *const u32, y: *mut u32, most: u32) {
        let (p, own) = (x.add(lane_id()), y.add(lane_id()));
        let mut sum = 0;
        let first = unsafe { *x };
        unsafe {
            sum += *p;
            for k in 0..3 {
                if *p.add(k) == 7 {
                    continue;
                }
                sum += k;
            }
        }
        sum = sum * 2 + unsafe { *p } % 5 + first;
        let Some(left) = (unsafe { *p }).checked_sub(3) else {
            unsafe { *own = 99 };
            return;
        };
        let above = |k: u32| unsafe { *p.add(k) } > most;
        if above(1) || matches!(unsafe { *p }, 8 | 9) {
            sum += 1000;
        }
        unsafe { *own = sum + left + through(p, most) }
    }
}

#[test]
fn pointers_are_dereferenced_in_unsafe_blocks() {
    let x: Vec<u32> = (0..72).map(|i| i * 5 % 11).collect();
    let most = 6;
    on_all(|device| {
        let (from, to) = (device.alloc::<u32>(72).unwrap(), device.alloc::<u32>(64).unwrap());
        device.write(from, &x).unwrap();
        unsafe_blocks.launch(device, Grid::x(1), (from, to, most)).unwrap();
        let want = |i: usize| {
            let mut sum = x[i];
            sum += (0..3).filter(|k| x[i + *k as usize] != 7).sum::<u32>();
            sum = sum * 2 + x[i] % 5 + x[0];
            let Some(left) = x[i].checked_sub(3) else { return 99 };
            if x[i + 1] > most || matches!(x[i], 8 | 9) {
                sum += 1000;
            }
            sum + left + x[i].min(most)
        };
        assert_eq!(device.read(to, 64).unwrap(), (0..64).map(want).collect::<Vec<u32>>());
    });
}

gcn_kernel! {
    /// Mutable references to array elements together with values and with other such references, in loops and in
    /// `for_each`.
    #[workgroup(64)]
    fn places_beside(x: &[u32], n: u32, out: &mut [u32]) {
        let i = global_id().x;
        let (mut a, mut c) = ([0; 4], [n; 3]);
        let b = [x[i], n, 3, 4];
        for (p, q) in a.iter_mut().zip(b.iter()) {
            *p += q;
        }
        for (k, (q, p)) in b.iter().zip(&mut a).enumerate() {
            if q % 2 == 0 {
                *p += k as u32;
            }
        }
        // As many elements as the shorter array has.
        a.iter_mut().zip(c.iter_mut()).for_each(|(p, q)| {
            *q += *p;
            *p *= 2;
        });
        a.iter_mut().for_each(|p| *p ^= 1);
        out[i] = a.iter().chain(&c).fold(0, |h, v| h * 31 + v);
    }

    /// Arrays that become varying by what is assigned to them; their elements; and the target.
    #[workgroup(64)]
    fn of_arrays(x: &[u32], n: u32, out: &mut [u32]) {
        let i = global_id().x;
        let (mut a, mut b) = ([0; 3], [1; 3]);
        let from = [x[i], 5, x[i] / 2];
        a.copy_from_slice(&from);
        b.fill(x[i] % 3);
        let uniform = [n, 7, 9];
        let held = a.contains(&5) as u32 + b.contains(&2) as u32 * 2 + uniform.contains(&x[i]) as u32 * 4;
        let newest = if target() == Target::GFX950 { 1000 } else { 0 };
        out[i] = held + newest + a[2] * 7 + b[1];
    }
}

#[test]
fn places_stand_beside_values() {
    let x: Vec<u32> = (0..64).map(|i| i * 37 % 211).collect();
    on_all(|device| {
        let mut out = vec![0; 64];
        places_beside.launch(device, Grid::x(1), (&x, 6, &mut out)).unwrap();
        let want = x.iter().map(|x| {
            let (mut a, mut c, b) = ([0u32; 4], [6; 3], [*x, 6, 3, 4]);
            for k in 0..4 {
                a[k] += b[k];
                if b[k] % 2 == 0 {
                    a[k] += k as u32;
                }
            }
            for k in 0..3 {
                c[k] += a[k];
                a[k] *= 2;
            }
            let all = a.iter().map(|a| a ^ 1).chain(c);
            all.fold(0u32, |h, v| h.wrapping_mul(31).wrapping_add(v))
        });
        assert_eq!(out, want.collect::<Vec<u32>>());
    });
}

#[test]
fn arrays_have_the_methods_of_slices() {
    let x: Vec<u32> = (0..64).map(|i| i * 37 % 11).collect();
    for target in [Target::GFX906, Target::GFX950] {
        let mut out = vec![0; 64];
        of_arrays.launch(&Device::simulator(target), Grid::x(1), (&x, 6, &mut out)).unwrap();
        let want = x.iter().map(|x| {
            let (a, b) = ([*x, 5, x / 2], [x % 3; 3]);
            let held = u32::from(a.contains(&5))
                + u32::from(b.contains(&2)) * 2
                + u32::from([6, 7, 9].contains(x)) * 4;
            let newest = if target == Target::GFX950 { 1000 } else { 0 };
            held + newest + a[2] * 7 + b[1]
        });
        assert_eq!(out, want.collect::<Vec<u32>>(), "{target}");
    }
}

gcn_kernel! {
    #[device]
    struct Candidate {
        cost: V<u32>,
        id: u32,
    }

    /// `mem::swap` and its like, on variables, on elements of arrays and on memory.
    #[workgroup(64)]
    fn exchanged(n: u32, x: &mut [u32]) {
        let i = global_id().x;
        let (mut a, mut b) = (x[i], 7);
        std::mem::swap(&mut a, &mut b);
        let c = std::mem::replace(&mut a, b + 3);
        let d = std::mem::take(&mut b);
        let mut list = [Candidate { cost: x[i], id: n }, Candidate { cost: 60, id: 2 }];
        let mut next = Candidate { cost: x[i] / 2, id: 5 };
        for slot in list.iter_mut() {
            if next.cost < slot.cost {
                std::mem::swap(&mut slot.cost, &mut next.cost);
            }
        }
        let old = std::mem::replace(&mut x[i], 1);
        x[i] += a + b + c * 3 + d * 5 + old * 7 + next.cost * 11 + list[0].cost * 13 + list[1].cost * 17 + list[1].id;
    }

    #[device]
    fn own(b: V<u8>) -> V<u8> {
        b + 1
    }

    /// `into()` takes the type of the place.
    #[allow(unused_assignments, reason = "the first value says the type")]
    #[workgroup(64)]
    fn converted(b: &[u8], x: &mut [u32], y: &mut [f32]) {
        let shared = Lds::<u32, 64>::new();
        let i = global_id().x;
        shared[i] = b[i].into();
        let plain: u32 = b[i].into();
        let lanes: V<i64> = b[i].into();
        let mut later = 0.0f32;
        later = own(b[i]).into();
        x[i] = (b[i] > 60).into();
        x[i] += plain + lanes as u32 + shared[i];
        y[i] = b[i].into();
        y[i] += later;
    }

    /// An untyped and a typed `None` on either side.
    #[workgroup(64)]
    fn nothing(x: &mut [u32]) {
        let i = global_id().x;
        let some = if x[i] > 70 { Some(x[i]) } else { None };
        let cases = [some != None::<u32>, some == None, None::<u32> == some, None < some, some == Some(72)];
        let mut bits = 0u32;
        for (k, case) in cases.iter().enumerate() {
            bits |= (*case as u32) << k;
        }
        x[i] = bits;
    }

    /// A variable of a plain type that is assigned later: one of its values is each lane's own, as only rustc knows.
    #[workgroup(64)]
    fn assigned_later(n: u32, x: &mut [u32]) {
        let later: u32;
        if n > 3 {
            later = splat(n).rotate_left(1);
        } else {
            later = read_first_lane(x[0]);
        }
        x[global_id().x] = later;
    }

    /// What all lanes have alike is taken by functions across lanes, too.
    #[workgroup(64)]
    fn of_one_for_all(n: u32, f: bool, x: &mut [u32]) {
        let i = global_id().x;
        let masks = ballot(f).count_ones() + read_first_lane(f) as u32 + any(f) as u32 + all(!f) as u32;
        x[i] = read_first_lane(n + 1) + read_lane(n, 3) + masks;
    }
}

#[test]
fn values_are_exchanged_as_in_rust() {
    let x: Vec<u32> = (0..64).map(|i| i * 37 % 211).collect();
    let want = x.iter().map(|&x| {
        let (a, b, c, d) = (x + 3, 0, 7, x);
        let mut costs = [x, 60, x / 2];
        for k in 0..2 {
            if costs[2] < costs[k] {
                costs.swap(k, 2);
            }
        }
        1 + a + b + c * 3 + d * 5 + x * 7 + costs[2] * 11 + costs[0] * 13 + costs[1] * 17 + 2
    });
    let want: Vec<u32> = want.collect();
    on_all(|device| {
        let mut got = x.clone();
        exchanged.launch(device, Grid::x(1), (9, &mut got)).unwrap();
        assert_eq!(got, want);
    });
}

#[test]
fn into_takes_the_type_of_the_place() {
    let b: Vec<u8> = (0..64).map(|i| i * 3).collect();
    on_all(|device| {
        let (mut x, mut y) = (vec![0; 64], vec![0.0; 64]);
        converted.launch(device, Grid::x(1), (&b, &mut x, &mut y)).unwrap();
        for (i, b) in b.iter().enumerate() {
            assert_eq!((x[i], y[i]), (u32::from(*b) * 3 + u32::from(*b > 60), f32::from(*b) * 2.0 + 1.0));
        }
    });
}

#[test]
fn none_is_compared_on_either_side() {
    let x: Vec<u32> = (50..114).collect();
    on_all(|device| {
        let mut got = x.clone();
        nothing.launch(device, Grid::x(1), (&mut got,)).unwrap();
        for (x, got) in x.iter().zip(got) {
            let some = (*x > 70).then_some(*x);
            let cases = [some.is_some(), some.is_none(), some.is_none(), None < some, some == Some(72)];
            assert_eq!(
                got,
                cases.iter().enumerate().map(|(k, case)| u32::from(*case) << k).sum::<u32>(),
                "{x}"
            );
        }
    });
}

#[test]
fn functions_across_lanes_take_what_all_lanes_have_alike() {
    on_all(|device| {
        for (n, want) in [(9, 18), (1, 77)] {
            let mut x = vec![77; 64];
            assigned_later.launch(device, Grid::x(1), (n, &mut x)).unwrap();
            assert_eq!(x, [want; 64]);
        }
        for f in [false, true] {
            let mut x = vec![0; 64];
            of_one_for_all.launch(device, Grid::x(1), (9, f, &mut x)).unwrap();
            assert_eq!(x, [10 + 9 + if f { 64 + 1 + 1 } else { 1 }; 64]);
        }
    });
}
