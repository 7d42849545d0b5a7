//! Values take the types that functions declare: arguments of a trait's functions, numbers of a type that belongs to a
//! type parameter, and structs of memory as results.

use gcn_dsl::prelude::*;

struct Sum;
struct Scaled;

gcn_kernel! {
    #[device]
    trait Op {
        fn combine(a: V<f32>, b: V<f32>, weight: f32) -> V<f32>;
        fn choose(of: Option<V<f32>>, [low, high]: [V<f32>; 2]) -> V<f32> {
            of.unwrap_or(low) + high
        }
    }

    #[device]
    impl Op for Sum {
        fn combine(a: V<f32>, b: V<f32>, weight: f32) -> V<f32> {
            a + b * weight
        }
    }

    #[device]
    impl Op for Scaled {
        fn combine(a: V<f32>, b: V<f32>, weight: f32) -> V<f32> {
            a * b - weight
        }
    }

    #[device]
    trait Numbers {
        type Element: Arithmetic;
        fn one(x: V<Self::Element>) -> V<Self::Element>;
    }

    #[device]
    impl Numbers for Sum {
        type Element = f32;
        fn one(x: V<f32>) -> V<f32> {
            x + 1.0
        }
    }

    #[device]
    impl Numbers for Scaled {
        type Element = u32;
        fn one(x: V<u32>) -> V<u32> {
            x * 2
        }
    }

    /// The numbers beside `of` are of the type that belongs to `N`.
    #[device]
    fn twice<N: Numbers>(_of: &N, x: V<N::Element>, y: S<N::Element>) -> V<N::Element> {
        N::one(N::one(x)) + y
    }

    #[workgroup(64)]
    fn traits<O: Op>(n: f32, x: &[f32], y: &mut [f32], words: &mut [u32]) {
        let i = global_id().x;
        y[i] = O::combine(x[i], 2.0, 1.5) + O::combine(n, 0.5, n) + O::choose(None, [n, 3.0]) + O::choose(Some(2.0), [1.0, x[i]]);
        y[i] += twice(&Sum, 2.0, 0.25) + twice(&Sum, x[i], n);
        words[i] = twice(&Scaled, i, 7) + twice(&Scaled, 3, 1);
    }
}

#[test]
fn arguments_of_a_traits_functions_convert() {
    let x: Vec<f32> = (0..64).map(|i| i as f32 * 0.5 - 3.0).collect();
    for sums in [true, false] {
        let (mut y, mut words) = (vec![0.0; 64], vec![0; 64]);
        let (device, args) = (Device::simulator(Target::GFX942), (4.0, &x[..], &mut y[..], &mut words[..]));
        match sums {
            true => traits::<Sum>.launch(&device, Grid::x(1), args).unwrap(),
            false => traits::<Scaled>.launch(&device, Grid::x(1), args).unwrap(),
        };
        for i in 0..64 {
            let combine = |a: f32, b: f32, weight: f32| if sums { a + b * weight } else { a * b - weight };
            let chosen = (4.0 + 3.0) + (2.0 + x[i]);
            let numbers = (2.0 + 2.0 + 0.25) + (x[i] + 2.0 + 4.0);
            assert_eq!(y[i], combine(x[i], 2.0, 1.5) + combine(4.0, 0.5, 4.0) + chosen + numbers);
            assert_eq!(words[i], (i as u32 * 4 + 7) + (3 * 4 + 1));
        }
    }
}

gcn_kernel! {
    #[device]
    #[repr(C)]
    #[derive(PartialEq)]
    struct Limits { low: f32, high: f32, steps: u32 }

    #[device]
    fn limits(n: u32, scale: f32, of: Limits) -> Limits {
        if n > 3 {
            return Limits { low: -scale, high: scale, steps: n };
        }
        Limits { steps: of.steps + n, ..of }
    }

    #[device]
    fn unit() -> Limits {
        Limits { low: 0.0, high: 1.0, steps: 1 }
    }

    #[workgroup(64)]
    fn results(n: u32, given: Limits, y: &mut [f32]) {
        let i = global_id().x;
        let of = limits(n, 2.0, given);
        let mut sum = 0.0;
        for k in 0..of.steps + unit().steps {
            sum += (i + k) as f32 * (of.high - of.low) + unit().high;
        }
        y[i] = sum;
    }
}

#[test]
fn a_function_returns_a_struct_of_memory() {
    let given = Limits { low: 1.0, high: 1.5, steps: 2 };
    for n in [2, 5] {
        let mut y = vec![0.0; 64];
        results.launch(&Device::simulator(Target::GFX90A), Grid::x(1), (n, given, &mut y)).unwrap();
        let (low, high, steps) = if n > 3 { (-2.0, 2.0, n) } else { (1.0, 1.5, 2 + n) };
        for i in 0..64 {
            let want: f32 = (0..steps + 1).map(|k| (i + k) as f32 * (high - low) + 1.0).sum();
            assert_eq!(y[i as usize], want);
        }
    }
}

gcn_kernel! {
    #[device]
    struct Pair { a: V<f32>, b: V<f32> }

    #[device]
    impl From<V<f32>> for Pair {
        fn from(x: V<f32>) -> Pair {
            Pair { a: x, b: x + 1.0 }
        }
    }

    #[device]
    impl From<V<u32>> for Pair {
        fn from(x: V<u32>) -> Pair {
            Pair { a: x as f32, b: 0.0 }
        }
    }

    #[device]
    trait Mixes<T: Arithmetic> {
        fn mix(a: V<T>, b: V<T>) -> V<T>;
    }

    #[device]
    impl Mixes<f32> for Sum {
        fn mix(a: V<f32>, b: V<f32>) -> V<f32> {
            a + b
        }
    }

    #[device]
    impl Mixes<u32> for Sum {
        fn mix(a: V<u32>, b: V<u32>) -> V<u32> {
            a * b
        }
    }

    /// The arguments decide which implementation is meant.
    #[workgroup(64)]
    fn decided(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let (of_float, of_word) = (Pair::from(x[i]), Pair::from(i));
        let mixed = Sum::mix(x[i], x[i]) + Sum::mix(i, i) as f32;
        y[i] = of_float.a * of_float.b + of_word.a + of_word.b + mixed + u32::from(x[i] > 0.0) as f32;
    }
}

#[test]
fn arguments_may_decide_the_implementation() {
    let x: Vec<f32> = (0..64).map(|i| i as f32 * 0.5 - 3.0).collect();
    let mut y = vec![0.0; 64];
    decided.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&x, &mut y)).unwrap();
    for i in 0..64 {
        let (x, k) = (x[i], i as f32);
        assert_eq!(y[i], x * (x + 1.0) + k + (x + x) + k * k + f32::from(u8::from(x > 0.0)));
    }
}
