//! Device functions and aggregates in the simulator against plain Rust.

mod elements;
mod literals;
mod parts;

use gcn_dsl::kernel::{BuildCause, BuildError};
use gcn_dsl::prelude::*;

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

fn inputs(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state % 2001) as f32 / 100.0 - 10.0
        })
        .collect()
}

/// Device functions in a module, called from outside.
mod library {
    use gcn_dsl::prelude::*;

    gcn_kernel! {
        /// `x` between `lo` and `hi`.
        #[device]
        pub fn clamp(x: V<f32>, lo: f32, hi: f32) -> V<f32> {
            x.max(lo).min(hi)
        }

        /// Smallest, largest.
        #[device]
        pub fn sorted<T: Arithmetic>(a: V<T>, b: V<T>) -> (V<T>, V<T>) {
            (a.min(b), a.max(b))
        }

        /// The polynomial with these coefficients, lowest first.
        #[device]
        pub fn horner<T: Float, const N: usize>(x: V<T>, c: [V<T>; N]) -> V<T> {
            let mut sum: V<T> = c[N - 1];
            #[unroll]
            for i in 1..N {
                sum = sum.mul_add(x, c[N - 1 - i]);
            }
            sum
        }
    }
}

gcn_kernel! {
    #[device]
    fn three_sorted(a: V<f32>, b: V<f32>, c: V<f32>) -> [V<f32>; 3] {
        let (a, b) = library::sorted(a, b);
        let (b, c) = library::sorted(b, c);
        let (a, b) = library::sorted(a, b);
        [a, b, c]
    }

    #[workgroup(64)]
    fn calls(lo: f32, hi: f32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let n = x.len();
        let (p, q, r) = (x[i], x[i + 64], x[i + 128]);
        y[i] = library::clamp(p, lo, hi);
        y[i + n] = library::clamp(lo, -1.0, hi);
        let sorted = three_sorted(p, q, r);
        #[unroll]
        for k in 0..3 {
            y[i + n * (2 + k as u32)] = sorted[k];
        }
        y[i + n * 5] = library::horner(p, [splat(1.0), splat(lo), splat(0.5)]);
        let (low, high) = library::sorted(i, 100);
        y[i + n * 6] = (low * 1000 + high) as f32;
    }
}

#[test]
fn calls_are_what_the_functions_say() {
    for target in TARGETS {
        let (lo, hi) = (-2.5f32, 4.0f32);
        let x = inputs(512, 7);
        let n = x.len();
        let mut y = vec![0.0f32; n * 7];
        // Two workgroups are sufficient: the elements that they read are before the end.
        calls.launch(&Device::simulator(target), Grid::x(2), (lo, hi, &x, &mut y)).unwrap();
        for i in 0..128 {
            let mut sorted = [x[i], x[i + 64], x[i + 128]];
            let expected = [x[i].clamp(lo, hi), lo.clamp(-1.0, hi)];
            sorted.sort_by(f32::total_cmp);
            let horner = 0.5f32.mul_add(x[i], lo).mul_add(x[i], 1.0);
            let pair = (i.min(100) * 1000 + i.max(100)) as f32;
            let all = [expected.as_slice(), &sorted, &[horner, pair]].concat();
            for (k, e) in all.iter().enumerate() {
                assert_eq!(y[i + n * k], *e, "{target} lane {i} output {k}");
            }
        }
    }
}

gcn_kernel! {
    #[device]
    fn block_sum(all: AllLanes, x: V<f32>) -> V<f32> {
        let parts = Lds::<f32, 128>::new();
        parts[local_id().x] = x;
        barrier();
        let mut sum: V<f32> = 0.0;
        for i in 0..128u32 {
            sum += parts[i];
        }
        barrier();
        sum
    }

    /// The token is passed on, by name and by a call.
    #[device]
    fn centred(all: AllLanes, x: V<f32>) -> V<f32> {
        let mean = block_sum(all, x) / 128.0;
        let rest = x - mean;
        rest + block_sum(all_lanes(), rest)
    }

    #[workgroup(128)]
    fn reduced(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        y[i] = centred(all_lanes(), x[i]);
    }
}

#[test]
fn functions_with_the_token_share_lds_and_wait() {
    for target in TARGETS {
        // Multiples of a quarter, so that every order of addition gives the same sum.
        let x: Vec<f32> = (0..256).map(|i| ((i * 37) % 64) as f32 / 4.0).collect();
        let mut y = vec![0.0; 256];
        reduced.launch(&Device::simulator(target), Grid::x(2), (&x, &mut y)).unwrap();
        for (block, out) in x.chunks(128).zip(y.chunks(128)) {
            let mean: f32 = block.iter().sum::<f32>() / 128.0;
            let left: f32 = block.iter().map(|x| x - mean).sum();
            for (x, y) in block.iter().zip(out) {
                assert_eq!(*y, x - mean + left, "{target}");
            }
        }
    }
}

gcn_kernel! {
    /// A complex number.
    #[device]
    pub struct Complex {
        pub re: V<f32>,
        pub im: V<f32>,
    }

    #[device]
    impl Complex {
        pub fn new(re: V<f32>, im: V<f32>) -> Self {
            Self { re, im }
        }

        pub fn times(self, o: Complex) -> Complex {
            Complex { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
        }

        pub fn norm(&self) -> V<f32> {
            self.re * self.re + self.im * self.im
        }
    }

    #[device]
    impl std::ops::Add for Complex {
        type Output = Complex;
        fn add(self, o: Complex) -> Complex {
            Complex { re: self.re + o.re, im: self.im + o.im }
        }
    }

    /// z * z + c, and the number of times it is below 4; tests fields, joins and loops.
    #[workgroup(64)]
    fn mandelbrot(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let c = Complex::new(x[i] / 8.0, x[i + 64] / 8.0);
        let mut z = Complex { re: 0.0, im: 0.0 };
        let mut steps: V<u32> = 0;
        while z.norm() < 4.0 && steps < 20 {
            z = z.times(z) + c;
            steps += 1;
        }
        z.re += 1.0;
        z.im = select(steps < 20, z.im, 0.0);
        let even = if (steps & 1) == 0 { z } else { Complex::new(-z.re, 2.0) };
        y[i] = steps as f32;
        y[i + 64] = even.re;
        y[i + 128] = even.im;
    }
}

#[test]
fn structs_are_variables_values_and_joins() {
    for target in TARGETS {
        let x = inputs(128, 91);
        let mut y = vec![0.0f32; 192];
        mandelbrot.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
        for i in 0..64 {
            let (cr, ci) = (x[i] / 8.0, x[i + 64] / 8.0);
            let (mut re, mut im, mut steps) = (0.0f32, 0.0f32, 0u32);
            while re * re + im * im < 4.0 && steps < 20 {
                (re, im) = (re * re - im * im + cr, re * im + im * re + ci);
                steps += 1;
            }
            re += 1.0;
            im = if steps < 20 { im } else { 0.0 };
            let even = if steps & 1 == 0 { (re, im) } else { (-re, 2.0) };
            assert_eq!([y[i], y[i + 64], y[i + 128]], [steps as f32, even.0, even.1], "{target} lane {i}");
        }
    }
}

gcn_kernel! {
    #[device]
    struct Pair<T: Number> {
        key: V<T>,
        count: u32,
    }

    #[device]
    struct Wrapped<const N: usize>([V<u32>; N], (V<u32>, u32));

    #[device]
    impl<T: Arithmetic> Pair<T> {
        fn swapped(self, other: V<T>) -> (Self, V<T>) {
            (Pair { key: other, ..self }, self.key)
        }
    }

    #[workgroup(64)]
    fn aggregates(n: u32, y: &mut [u32]) {
        let i = global_id().x;
        let mut pair = Pair { key: i, count: n };
        pair.count += 1;
        if i > 10 {
            // Only the varying field is assigned, so the other one can stay uniform.
            pair.key *= 3;
        }
        let (other, key) = pair.swapped(7);
        let mut w = Wrapped([i, other.key, key], (i + 5, n));
        w.0[1] += 2;
        w.1.0 = w.0[1] * 2;
        w.1.1 = n;
        let mut grid = [[i, i], [i + 2, i]];
        grid[1][0] = grid[0][0] + grid[1][1];
        let mut t: (V<u32>, u32) = (0, 4);
        t.0 += w.1.0;
        if i < 32 {
            t.0 = i;
        }
        let mut points = [(i, 1u32), (i + 1, 2)];
        points[1].0 += 40;
        let (mut a, b) = t;
        a += b;
        let [p, q] = if n > 3 { points } else { [(0, 0u32), (1, 1)] };
        let base = i * 10;
        y[base] = pair.key;
        y[base + 1] = pair.count;
        y[base + 2] = w.0[0] + w.0[1] + w.0[2];
        y[base + 3] = w.1.0 + w.1.1;
        y[base + 4] = grid[1][0];
        y[base + 5] = t.0;
        y[base + 6] = a;
        y[base + 7] = p.0 + p.1;
        y[base + 8] = q.0 * q.1;
        y[base + 9] = other.count;
    }
}

#[test]
fn tuples_arrays_and_generic_structs() {
    for (target, n) in TARGETS.into_iter().zip([3, 9, 4]) {
        let mut y = vec![0u32; 640];
        aggregates.launch(&Device::simulator(target), Grid::x(1), (n, &mut y)).unwrap();
        for i in 0..64u32 {
            let key = if i > 10 { i * 3 } else { i };
            let w0 = [i, 9, key];
            let t0 = if i < 32 { i } else { 18 };
            let [p, q] = if n > 3 { [(i, 1), (i + 41, 2)] } else { [(0, 0), (1, 1)] };
            let expected =
                [key, n + 1, w0.iter().sum(), 18 + n, i + i, t0, t0 + 4, p.0 + p.1, q.0 * q.1, n + 1];
            assert_eq!(y[i as usize * 10..][..10], expected, "{target} lane {i}");
        }
    }
}

gcn_kernel! {
    /// Writes to two variables of its caller.
    #[device]
    fn step(state: &mut V<u32>, sum: &mut (V<u32>, u32), by: V<u32>) {
        *state = *state * 5 + by;
        if *state > 1000 {
            *state -= 1000;
            sum.0 += 1;
        }
        sum.1 += 2;
    }

    #[device]
    fn twice(state: &mut V<u32>, sum: &mut (V<u32>, u32), mut by: V<u32>) {
        step(state, sum, by);
        by += 1;
        step(&mut *state, sum, by);
    }

    #[workgroup(64)]
    fn lends(y: &mut [u32]) {
        let i = global_id().x;
        let mut state = i;
        let mut sum: (V<u32>, u32) = (0, 0);
        for k in 0..4u32 {
            twice(&mut state, &mut sum, k);
        }
        if i < 20 {
            let mut inner: (V<u32>, u32) = (i, 0);
            step(&mut state, &mut inner, 3);
            sum.0 = inner.0 + inner.1;
        }
        y[i] = state;
        y[i + 64] = sum.0;
        y[i + 128] = sum.1;
    }
}

#[test]
fn variables_are_lent() {
    fn step(state: &mut u32, sum: &mut (u32, u32), by: u32) {
        *state = state.wrapping_mul(5).wrapping_add(by);
        if *state > 1000 {
            *state -= 1000;
            sum.0 += 1;
        }
        sum.1 += 2;
    }
    for target in TARGETS {
        let mut y = vec![0u32; 192];
        lends.launch(&Device::simulator(target), Grid::x(1), (&mut y,)).unwrap();
        for i in 0..64u32 {
            let (mut state, mut sum) = (i, (0, 0));
            for k in 0..4 {
                step(&mut state, &mut sum, k);
                step(&mut state, &mut sum, k + 1);
            }
            if i < 20 {
                let mut inner = (i, 0);
                step(&mut state, &mut inner, 3);
                sum.0 = inner.0 + inner.1;
            }
            let i = i as usize;
            assert_eq!([y[i], y[i + 64], y[i + 128]], [state, sum.0, sum.1], "{target} lane {i}");
        }
    }
}

gcn_kernel! {
    #[device]
    fn sum_of(x: &[u32], from: u32, count: u32) -> u32 {
        let mut sum: u32 = 0;
        for i in 0..count {
            sum += x.uniform(from + i);
        }
        sum
    }

    #[device]
    fn store_twice(y: &mut [u32], p: *mut u32, i: V<u32>, x: V<u32>) {
        y[i] = x;
        p[i] = x * 2;
    }

    #[device]
    fn polynomial<X: Numeric<u32>>(x: X) -> X {
        let mut y = x;
        y = y * x + 3;
        y
    }

    #[device]
    fn map2(f: impl Fn(V<u32>) -> V<u32>, a: V<u32>, b: V<u32>) -> [V<u32>; 2] {
        [f(a), f(b)]
    }

    /// `x` to the power `n`, which is a host value: the recursion ends when the kernel is built.
    #[device]
    fn power(x: V<u32>, n: usize) -> V<u32> {
        comptime if n == 0 {
            splat(1)
        } else {
            x * power(x, n - 1)
        }
    }

    #[device]
    fn scaled(x: V<u32>, #[host] by: u32) -> V<u32> {
        comptime if by == 1 { x } else { x * by }
    }

    #[workgroup(64)]
    fn memories(x: &[u32], y: &mut [u32], p: *mut u32) {
        let i = global_id().x;
        let total: u32 = polynomial(sum_of(x, 2, 5));
        let [a, b] = map2(|v| power(v, 3) + total, i, polynomial(i));
        store_twice(y, p, i, a);
        store_twice(y, p, i + 64, scaled(b, 3));
    }
}

#[test]
fn memory_closures_and_host_values_pass_through() {
    for target in TARGETS {
        let device = Device::simulator(target);
        let x: Vec<u32> = (0..16).map(|i| i * i + 1).collect();
        let (mut y, p) = (vec![0u32; 128], device.alloc::<u32>(128).unwrap());
        memories.launch(&device, Grid::x(1), (&x, &mut y, p)).unwrap();
        let doubled = device.read(p, 128).unwrap();
        let polynomial = |x: u32| x.wrapping_mul(x).wrapping_add(3);
        let total = polynomial(x[2..7].iter().sum());
        for i in 0..64u32 {
            let f = |v: u32| v.wrapping_pow(3).wrapping_add(total);
            let expected = [f(i), f(polynomial(i)).wrapping_mul(3)];
            for (k, e) in expected.into_iter().enumerate() {
                let at = i as usize + 64 * k;
                assert_eq!((y[at], doubled[at]), (e, e.wrapping_mul(2)), "{target} {at}");
            }
        }
    }
}

gcn_kernel! {
    #[device]
    fn ping(x: V<u32>) -> V<u32> {
        pong(x)
    }

    #[device]
    fn pong(x: V<u32>) -> V<u32> {
        ping(x + 1)
    }

    #[workgroup(64)]
    fn circle(x: &mut [u32]) {
        x[0] = ping(x[1]);
    }

    #[device]
    fn wide(x: V<f32>) -> V<f32> {
        let block = Lds::<f32, 16>::new();
        for i in (0..block.len()).step_by(0) {
            block[i] = x;
        }
        x
    }

    #[device]
    fn outer(x: V<f32>) -> V<f32> {
        wide(x) + 1.0
    }

    #[workgroup(64)]
    fn fault(x: &mut [f32]) {
        x[0] = outer(x[1]);
    }
}

#[test]
fn a_circle_of_functions_is_an_error_that_names_them() {
    let error = circle.build(Target::GFX942).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`ping` calls `pong` calls `ping`"), "{text}");
    assert!(text.contains("functions.rs:"), "{text}");
    // The failed build leaves no state in the thread: another kernel builds.
    lends.build(Target::GFX942).unwrap();
}

#[test]
fn a_fault_in_a_function_names_the_calls() {
    let built = fault.build(Target::GFX942);
    let Err(BuildError { cause: BuildCause::Trace(error), .. }) = built else { panic!("it builds") };
    let source: Vec<&str> = include_str!("functions.rs").lines().collect();
    let line_of = |text: &str| source.iter().position(|l| l.contains(text)).unwrap() + 1;
    let at = |location: &str, line: usize| {
        let mut parts = location.rsplit(':').skip(1);
        assert_eq!(parts.next().unwrap(), line.to_string(), "{location}");
    };
    at(&error.location, line_of(".step_by(0)"));
    let names: Vec<&str> = error.calls.iter().map(|c| c.function).collect();
    assert_eq!(names, ["wide", "outer"]);
    at(&error.calls[0].location, line_of("wide(x) + 1.0"));
    at(&error.calls[1].location, line_of("outer(x[1])"));
}

gcn_kernel! {
    /// Lanes return from a device function, and continue in its caller.
    #[device]
    fn collatz(start: V<u32>, most: u32) -> (V<u32>, V<u32>) {
        let mut n = start;
        let mut steps: V<u32> = 0;
        loop {
            if n == 1 {
                return (steps, n);
            }
            if steps == most {
                break;
            }
            n = if n % 2 == 0 { n / 2 } else { n * 3 + 1 };
            steps += 1;
        }
        (steps + 1000, n)
    }

    #[device]
    fn early(x: V<u32>, out: &mut V<u32>) {
        if x < 10 {
            return;
        }
        *out = x;
    }

    #[device]
    struct Two {
        a: V<u32>,
        b: V<u32>,
    }

    #[device]
    fn two(x: V<u32>) -> Two {
        let picked = match x % 3 {
            0 => return Two { a: x, b: x },
            1 => Two { a: x + 1, b: x },
            _ => Two { a: x + 2, b: x + 5 },
        };
        Two { a: picked.a * 2, ..picked }
    }

    #[workgroup(64)]
    fn returns(y: &mut [u32]) {
        let i = global_id().x;
        let (steps, last) = collatz(i + 1, 20);
        let mut kept: V<u32> = 7;
        early(i, &mut kept);
        let p = two(i);
        y[i] = steps;
        y[i + 64] = last;
        y[i + 128] = kept;
        y[i + 192] = p.a + p.b;
    }
}

#[test]
fn lanes_return_early_from_functions() {
    for target in TARGETS {
        let mut y = vec![0; 256];
        returns.launch(&Device::simulator(target), Grid::x(1), (&mut y,)).unwrap();
        for i in 0..64u32 {
            let (mut n, mut steps) = (i + 1, 0);
            while n != 1 && steps != 20 {
                n = if n % 2 == 0 { n / 2 } else { n * 3 + 1 };
                steps += 1;
            }
            let kept = if i < 10 { 7 } else { i };
            let two = match i % 3 {
                0 => i + i,
                1 => (i + 1) * 2 + i,
                _ => (i + 2) * 2 + i + 5,
            };
            let expected = [if n == 1 { steps } else { steps + 1000 }, n, kept, two];
            let at = i as usize;
            assert_eq!([y[at], y[at + 64], y[at + 128], y[at + 192]], expected, "{target} lane {i}");
        }
    }
}

gcn_kernel! {
    #[device]
    fn room() -> Lds<u32, 64> {
        Lds::<u32, 64>::new()
    }

    #[workgroup(64)]
    fn two_rooms(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let (one, other) = (room(), room());
        one[i] = x[i];
        other[i] = x[i] * 100;
        barrier();
        y[i] = one[63 - i] + other[63 - i];
    }
}

/// An array in LDS is a handle of memory that its workgroup has until it ends: a function may give it, and each call has its own.
#[test]
fn functions_give_lds_of_their_own() {
    let (x, mut y): (Vec<u32>, Vec<u32>) = ((0..64).collect(), vec![0; 64]);
    for target in TARGETS {
        two_rooms.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
        assert!((0..64).all(|i| y[i as usize] == (63 - i) * 101), "{target}");
    }
}
