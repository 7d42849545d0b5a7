//! The error of the exponentials and logarithms of f32 over their arguments, where `v_exp_f32` and `v_log_f32` are off by up to a unit
//! of the last place, which is what AMD's manual promises.
//!
//! The steps of `gcn_dsl`'s functions stand here again, in the host's arithmetic, with both f32 neighbours of the exact value as
//! what the hardware may give: other results within a unit lie between those. The reference is the host's f64 function,
//! whose error does not show. `cargo test --release -p gcn-dsl-tests --test types every_f32 -- --ignored --nocapture` goes over
//! all 2^32 arguments; what it prints is in the guide to types.

/// A function with a result of the hardware's instruction in the middle.
struct Function {
    name: &'static str,
    exact: fn(f64) -> f64,
    /// What the instruction's argument is.
    before: fn(f32) -> f32,
    /// The instruction.
    hardware: fn(f64) -> f64,
    /// The result, of the argument and what the instruction gives.
    after: fn(f32, f32) -> f32,
    bound: f64,
}

const LOG2_E: [f32; 2] = [std::f32::consts::LOG2_E, f32::from_bits(0x32a5_7060)];

/// `a * b + c`, rounded to f32 but for what f64 loses.
fn fma(a: f32, b: f32, c: f32) -> f32 {
    (f64::from(a) * f64::from(b) + f64::from(c)) as f32
}

fn ldexp(x: f32, by: i32) -> f32 {
    let by = by.clamp(-400, 400);
    (f64::from(x) * 2f64.powi(by)) as f32
}

fn log2_after(x: f32, log: f32) -> f32 {
    log - if x < f32::MIN_POSITIVE { 32.0 } else { 0.0 }
}

fn scaled(x: f32) -> f32 {
    if x < f32::MIN_POSITIVE { ldexp(x, 32) } else { x }
}

const FUNCTIONS: [Function; 3] = [
    Function {
        name: "exp2",
        exact: f64::exp2,
        before: |x| if x < -126.0 { x + 64.0 } else { x },
        hardware: f64::exp2,
        after: |x, power| if x < -126.0 { ldexp(power, -64) } else { power },
        bound: 2.0,
    },
    Function {
        name: "exp",
        exact: f64::exp,
        before: |x| {
            let high = x * LOG2_E[0];
            let low = fma(x, LOG2_E[1], fma(x, LOG2_E[0], -high));
            if x.abs() > 1000.0 { x } else { (high - high.round_ties_even()) + low }
        },
        hardware: f64::exp2,
        after: |x, power| ldexp(power, (x * LOG2_E[0]).round_ties_even() as i32),
        bound: 2.0,
    },
    Function {
        name: "log2",
        exact: f64::log2,
        before: scaled,
        hardware: f64::log2,
        after: log2_after,
        bound: 2.0,
    },
];

/// The f32 neighbours of `x`, which may be one; denormals flush.
fn neighbours(x: f64) -> [f32; 2] {
    let near = x as f32;
    let other = match f64::from(near).total_cmp(&x) {
        _ if !near.is_finite() || f64::from(near) == x => near,
        std::cmp::Ordering::Less => near.next_up(),
        _ => near.next_down(),
    };
    [near, other].map(|x| if x.abs() < f32::MIN_POSITIVE { 0.0 * x } else { x })
}

/// Distance in units of the last place of the exact result.
fn ulps(got: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if got.is_nan() && exact.is_nan() || f64::from(got) == exact || got == rounded && got.is_infinite() {
        return 0.0;
    }
    if got.is_nan() || exact.is_nan() || exact.is_infinite() {
        return f64::INFINITY;
    }
    // An infinity stands for the power of two after the largest number.
    let got = if got.is_infinite() { f64::from(got.signum()) * 2f64.powi(128) } else { f64::from(got) };
    let exponent = i64::from((exact.abs().to_bits() >> 52) as u32) - 1023;
    let unit = exponent.clamp(-126, 127) - 23;
    (got - exact).abs() * f64::from_bits(((1023 - unit) as u64) << 52)
}

/// The largest error of `function` over the arguments from `first` in such steps, and where it is.
fn worst(function: &Function, first: u32, step: u32) -> (f64, f32) {
    let mut worst = (0.0, 0.0);
    let mut bits = Some(first);
    while let Some(now) = bits {
        let x = f32::from_bits(now);
        let exact = (function.exact)(f64::from(x));
        for hardware in neighbours((function.hardware)(f64::from((function.before)(x)))) {
            let error = ulps((function.after)(x, hardware), exact);
            if error > worst.0 {
                worst = (error, x);
            }
        }
        bits = now.checked_add(step);
    }
    worst
}

fn check(step: u32) {
    for function in &FUNCTIONS {
        let threads = std::thread::available_parallelism().map_or(1, usize::from) as u32;
        let (error, at) = std::thread::scope(|scope| {
            let parts: Vec<_> = (0..threads)
                .map(|first| scope.spawn(move || worst(function, first * step, threads * step)))
                .collect();
            let parts = parts.into_iter().map(|part| part.join().unwrap());
            parts.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
        });
        println!("{}: {error:.4} ulp at {at:e}", function.name);
        assert!(error <= function.bound, "{}({at:e}) is off by {error} ulp", function.name);
    }
}

#[test]
fn a_sample_of_f32() {
    check(4099);
}

#[test]
#[ignore = "all 2^32 arguments of three functions take minutes; the test above takes a sample"]
fn every_f32() {
    check(1);
}
