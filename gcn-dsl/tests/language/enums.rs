//! Enums with data and `Option`.

use gcn_dsl::BuildOptions;
use gcn_dsl::prelude::*;

const TARGETS: [Target; 3] = [Target::GFX906, Target::GFX90A, Target::GFX950];

gcn_kernel! {
    /// A shape that varies between lanes.
    #[device]
    enum Shape {
        Circle(V<f32>),
        Rect { w: V<f32>, h: V<f32> },
        Point,
    }

    #[device]
    impl Shape {
        fn of(kind: V<u32>, a: V<f32>, b: V<f32>) -> Shape {
            match kind {
                0 => Shape::Circle(a),
                1 => Shape::Rect { w: a, h: b },
                _ => Shape::Point,
            }
        }

        fn area(self) -> V<f32> {
            match self {
                Self::Circle(r) => r * r * 3.0,
                Shape::Rect { w, h } => w * h,
                Shape::Point => 0.0,
            }
        }

        fn scaled(&self, by: f32) -> Self {
            match *self {
                Self::Circle(r) => Self::Circle(r * by),
                Self::Rect { w, h } => Self::Rect { w: w * by, h: h * by },
                Self::Point => Self::Point,
            }
        }
    }

    #[workgroup(64)]
    fn areas(kind: &[u32], a: &[f32], b: &[f32], y: &mut [f32], z: &mut [u32]) {
        let i = global_id().x;
        let shape = Shape::of(kind[i], a[i], b[i]);
        y[i] = shape.scaled(2.0).area();
        z[i] = match shape {
            Shape::Rect { w, .. } if w > 4.0 => 10,
            Shape::Rect { .. } => 11,
            Shape::Circle(_) | Shape::Point => 12,
        };
    }
}

#[test]
fn values_of_each_lane() {
    let kind: Vec<u32> = (0..64).map(|i| i % 4).collect();
    let a: Vec<f32> = (0..64).map(|i| i as f32 / 8.0).collect();
    let b: Vec<f32> = (0..64).map(|i| 3.0 - i as f32).collect();
    let area = |i: usize| match kind[i] {
        0 => a[i] * 2.0 * (a[i] * 2.0) * 3.0,
        1 => a[i] * 2.0 * (b[i] * 2.0),
        _ => 0.0,
    };
    let class = |i: usize| match kind[i] {
        1 if a[i] > 4.0 => 10,
        1 => 11,
        _ => 12,
    };
    for target in TARGETS {
        let (mut y, mut z) = (vec![-1.0; 64], vec![0; 64]);
        areas.launch(&Device::simulator(target), Grid::x(1), (&kind, &a, &b, &mut y, &mut z)).unwrap();
        assert_eq!(y, (0..64).map(area).collect::<Vec<f32>>(), "{target}");
        assert_eq!(z, (0..64).map(class).collect::<Vec<u32>>(), "{target}");
    }
}

gcn_kernel! {
    #[device]
    fn find(x: &[u32], wanted: u32) -> Option<u32> {
        for k in 0..x.len() {
            if x[k] == wanted {
                return Some(k);
            }
        }
        None
    }

    #[device]
    fn find_from(x: &[u32], limit: u32, from: V<u32>) -> Option<V<u32>> {
        for k in from..x.len() {
            if x[k] > limit {
                return Some(k);
            }
        }
        None
    }

    #[device]
    fn halved(x: Option<V<u32>>) -> Option<V<u32>> {
        let Some(x) = x else { return None };
        if x % 2 == 0 { Some(x / 2) } else { None }
    }

    #[workgroup(64)]
    fn options(x: &[u32], wanted: u32, y: &mut [u32], z: &mut [u32], w: &mut [u32]) {
        let i = global_id().x;
        let at = find(x, wanted);
        let next = find_from(x, 40, i);
        y[i] = at.unwrap_or(1000) + if next.is_some() { 10000 } else { 0 };
        z[i] = match (at, next) {
            (Some(a), Some(b)) => a * 100 + b,
            (None, Some(b)) => b,
            (_, None) => 7777,
        };
        let mut best: Option<V<u32>> = None;
        for k in 0..4u32 {
            let here = x[(i + k) % 64];
            best = match best {
                Some(old) if old >= here => Some(old),
                _ => Some(here),
            };
        }
        let half = halved(best);
        let mut sum = 0;
        if let Some(h) = half.map(|h| h + 1).filter(|h| h < 30) {
            sum += h;
        } else if let Some(b) = best {
            sum += b * 100;
        }
        let none = halved(None).is_none();
        w[i] = sum + halved(Some(i * 2)).unwrap_or(9) * 10000 + if none { 1000000 } else { 0 };
    }
}

fn halved_on_host(x: Option<u32>) -> Option<u32> {
    x.filter(|x| x % 2 == 0).map(|x| x / 2)
}

#[test]
fn options_of_both_places() {
    let x: Vec<u32> = (0..64).map(|i| i * 37 % 61).collect();
    for (wanted, target) in [5, 62].into_iter().flat_map(|w| TARGETS.map(|t| (w, t))) {
        let at = x.iter().position(|k| *k == wanted).map(|k| k as u32);
        let next = |i: usize| x[i..].iter().position(|k| *k > 40).map(|k| (k + i) as u32);
        let [mut y, mut z, mut w] = [(); 3].map(|()| vec![0; 64]);
        options.launch(&Device::simulator(target), Grid::x(1), (&x, wanted, &mut y, &mut z, &mut w)).unwrap();
        for i in 0..64 {
            assert_eq!(y[i], at.unwrap_or(1000) + if next(i).is_some() { 10000 } else { 0 }, "{target} {i}");
            let both = match (at, next(i)) {
                (Some(a), Some(b)) => a * 100 + b,
                (None, Some(b)) => b,
                (_, None) => 7777,
            };
            assert_eq!(z[i], both, "{target} {i}");
            let best = (0..4).map(|k| x[(i + k) % 64]).max();
            let half = halved_on_host(best).map(|h| h + 1).filter(|h| *h < 30);
            let sum = half.or(best.map(|b| b * 100)).unwrap_or(0);
            assert_eq!(w[i], sum + i as u32 * 10000 + 1_000_000, "{target} {i}");
        }
    }
}

gcn_kernel! {
    /// States without data are varying numbers.
    #[device]
    enum State {
        Idle,
        Run,
        Done,
    }

    /// All fields are uniform, so the discriminant is too.
    #[device]
    enum Mode {
        Scale(f32),
        Shift(f32, u32),
    }

    #[device]
    struct Hit {
        at: V<u32>,
        what: Option<V<f32>>,
    }

    #[workgroup(64)]
    fn machine(x: &[u32], f: &[f32], y: &mut [u32], z: &mut [f32], by: f32, add: u32) {
        let i = global_id().x;
        let mut state = State::Idle;
        let mut steps = 0u32;
        while state != State::Done {
            state = match state {
                State::Idle if x[i] > 3 => State::Run,
                State::Idle => State::Done,
                State::Run if steps > x[i] => State::Done,
                other => other,
            };
            steps += 1;
        }
        y[i] = steps * 10 + state as u32;

        let mode = if add > 0 { Mode::Shift(by, add) } else { Mode::Scale(by) };
        let value = match mode {
            Mode::Scale(by) => {
                // The discriminant is uniform, so all lanes reach the barrier.
                let tile = Lds::<f32, 64>::new();
                tile[i] = f[i] * by;
                barrier();
                tile[63 - i]
            }
            Mode::Shift(by, n) => f[i] + by * n as f32,
        };
        let hit = if x[i] > 2 { Some(Hit { at: i, what: if x[i] > 5 { Some(value) } else { None } }) } else { None };
        z[i] = match hit {
            Some(Hit { at, what: Some(v) }) => v + at as f32,
            Some(Hit { .. }) => -1.0,
            None => -2.0,
        };
    }
}

#[test]
fn numbers_of_states_and_uniform_choices() {
    let x: Vec<u32> = (0..64).map(|i| i % 9).collect();
    let f: Vec<f32> = (0..64).map(|i| i as f32).collect();
    for (add, target) in [0, 3].into_iter().flat_map(|a| TARGETS.map(|t| (a, t))) {
        let (mut y, mut z) = (vec![0; 64], vec![0.0; 64]);
        let device = Device::simulator(target);
        machine.launch(&device, Grid::x(1), (&x, &f, &mut y, &mut z, 2.0, add)).unwrap();
        for i in 0..64 {
            let steps = if x[i] > 3 { x[i] + 2 } else { 1 };
            assert_eq!(y[i], steps * 10 + 2, "{target} {i}");
            let value = if add == 0 { f[63 - i] * 2.0 } else { f[i] + 6.0 };
            let expected = match x[i] {
                6.. => value + f[i],
                3.. => -1.0,
                _ => -2.0,
            };
            assert_eq!(z[i], expected, "{target} {i}");
        }
    }
}

gcn_kernel! {
    #[device]
    fn clamped(x: V<f32>, low: Option<f32>, high: Option<f32>) -> V<f32> {
        let x = match low {
            Some(low) => x.max(low),
            None => x,
        };
        if let Some(high) = high { x.min(high) } else { x }
    }

    #[workgroup(64)]
    fn with_options(x: &mut [f32], low: f32) {
        let i = global_id().x;
        x[i] = clamped(x[i], Some(low), None);
    }

    #[workgroup(64)]
    fn without_options(x: &mut [f32], low: f32) {
        let i = global_id().x;
        x[i] = x[i].max(low);
    }

    #[workgroup(64)]
    fn with_shape(x: &mut [f32], z: &mut [u32]) {
        let i = global_id().x;
        let shape = Shape::Rect { w: x[i], h: 2.0 };
        x[i] = shape.area();
        if let Shape::Circle(_) | Shape::Point = shape {
            z[i] = 1;
        }
    }

    #[workgroup(64)]
    fn without_shape(x: &mut [f32], _z: &mut [u32]) {
        let i = global_id().x;
        x[i] = x[i] * 2.0;
    }

    #[workgroup(64)]
    fn with_discriminant(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let k = x[i];
        let half = if k % 2 == 0 { Some(k / 2) } else { None };
        if let Some(half) = half {
            y[half] = k;
        }
    }

    #[workgroup(64)]
    fn without_discriminant(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let k = x[i];
        if k % 2 == 0 {
            y[k / 2] = k;
        }
    }
}

/// The instructions, without names and source locations.
fn code(kernel: &impl Kernel, target: Target) -> Vec<String> {
    let text = kernel.build(target).unwrap().assembly(Comments::None);
    let lines = text.lines().map(|l| l.split("//").next().unwrap_or_default().trim());
    let code = lines.filter(|l| {
        l.starts_with("s_") || l.starts_with("v_") || l.starts_with("global_") || l.starts_with("buffer_")
    });
    code.map(str::to_owned).collect()
}

#[test]
fn a_discriminant_that_is_known_leaves_no_code() {
    for target in TARGETS {
        let (with, without) = (code(&with_options, target), code(&without_options, target));
        assert!(without.len() > 5, "{without:?}");
        assert_eq!(with, without, "{target}");
        assert_eq!(code(&with_shape, target), code(&without_shape, target), "{target}");
    }
}

#[test]
fn a_discriminant_of_the_device_is_a_condition() {
    for target in TARGETS {
        let (with, without) = (code(&with_discriminant, target), code(&without_discriminant, target));
        let branches = |code: &[String]| code.iter().filter(|l| l.contains("branch")).count();
        // One condition stays live after the join, and one branch on it.
        assert!(
            with.len() <= without.len() + 6 && branches(&with) <= branches(&without) + 1,
            "{with:#?}\n{without:#?}"
        );
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn unwrapped(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let even = if x[i] % 2 == 0 { Some(x[i]) } else { None };
        y[i] = even.unwrap();
    }
}

#[test]
fn unwrap_is_checked_in_debug_builds() {
    let device = Device::simulator(Target::GFX942);
    let asked = |debug| BuildOptions { debug, ..BuildOptions::default() };
    let build = |debug| unwrapped.build_with(Target::GFX942, &asked(debug)).unwrap();
    let mut y = [0; 64];
    let even = [4; 64];
    device.launch(&unwrapped, &build(true), Grid::x(1), (&even, &mut y)).unwrap();
    assert_eq!(y, even);
    let error = device.launch(&unwrapped, &build(true), Grid::x(1), (&[5; 64], &mut y)).unwrap_err();
    assert!(error.to_string().contains("`unwrap` of a `None`"), "{error}");
    device.launch(&unwrapped, &build(false), Grid::x(1), (&[5; 64], &mut y)).unwrap();
}
