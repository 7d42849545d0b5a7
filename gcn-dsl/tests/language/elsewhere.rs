//! Items of one `gcn_kernel!` that another one uses in expressions: variants, associated functions, constants, device
//! functions; also names with two meanings.

use gcn_dsl::prelude::*;

const TARGETS: [Target; 2] = [Target::GFX906, Target::GFX942];

mod shapes {
    use gcn_dsl::prelude::*;

    pub const LIMIT: f32 = 40.0;

    gcn_kernel! {
        #[device]
        pub enum Shape {
            Point,
            Circle { radius: V<f32> },
            Box(V<f32>, V<f32>),
        }

        #[device]
        pub enum Side {
            Left = 0,
            Right = 1,
        }

        #[device]
        impl Shape {
            pub const ROUND: f32 = 3.0;

            pub fn of(side: Side, x: V<f32>) -> Shape {
                match side {
                    Side::Left => Shape::Point,
                    Side::Right => Shape::Circle { radius: x },
                }
            }

            pub fn area(self) -> V<f32> {
                match self {
                    Shape::Point => 0.0,
                    Shape::Circle { radius } => Self::ROUND * radius * radius,
                    Shape::Box(a, b) => a * b,
                }
            }
        }

        #[device]
        pub struct Vec2 {
            pub x: V<f32>,
            pub y: V<f32>,
        }

        #[device]
        impl Vec2 {
            pub fn new(x: V<f32>, y: V<f32>) -> Vec2 {
                Vec2 { x, y }
            }

            pub fn dot(self, other: Vec2) -> V<f32> {
                self.x * other.x + self.y * other.y
            }
        }

        #[device]
        pub fn clamped<T: Float>(x: V<T>, low: V<T>, high: V<T>) -> V<T> {
            x.max(low).min(high)
        }
    }
}

use shapes::{Shape, Side, Vec2};

/// A host enum, whose variants are written in the same way.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Mode {
    Plain,
    Doubled,
}

gcn_kernel! {
    #[workgroup(64)]
    fn areas(#[host] mode: Mode, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let mut shape = Shape::Point;
        if x[i] > 4.0 {
            shape = Shape::Circle { radius: x[i] };
        } else if x[i] < 1.0 {
            shape = shapes::Shape::Box(x[i], 8.0);
        }
        let side = if i % 2 == 0 { Side::Left } else { Side::Right };
        let flat = matches_left(side) as u32;
        let other = Shape::of(side, x[i]);
        let v = Vec2::new(shape.area(), 1.0);
        let sum = v.dot(Vec2::new(1.0, other.area()));
        let limited = shapes::clamped(sum, 0.5, shapes::LIMIT * Shape::ROUND);
        y[i] = limited + flat as f32;
        comptime if mode == Mode::Doubled {
            y[i] *= 2.0;
        }
    }

    #[device]
    fn matches_left(side: Side) -> V<bool> {
        side == Side::Left
    }
}

#[test]
fn variants_and_functions_of_another_macro_call() {
    let x: Vec<f32> = (0..64).map(|i| i as f32 / 8.0).collect();
    for target in TARGETS {
        for mode in [Mode::Plain, Mode::Doubled] {
            let mut y = vec![0.0; 64];
            areas { mode }.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
            for (i, &x) in x.iter().enumerate() {
                let area = match x {
                    x if x > 4.0 => 3.0 * x * x,
                    x if x < 1.0 => x * 8.0,
                    _ => 0.0,
                };
                let left = i % 2 == 0;
                let other = if left { 0.0 } else { 3.0 * x * x };
                let sum = f32::clamp(area + other, 0.5, 120.0) + f32::from(u8::from(left));
                assert_eq!(y[i], if mode == Mode::Doubled { sum * 2.0 } else { sum }, "{target} {i}");
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn scale(x: &mut [f32]) {
        let i = global_id().x;
        x[i] = scaled(x[i], 3.0, 2);
        let mut bias = 1.0;
        bumped(&mut bias, x[i]);
        x[i] = bias;
    }

    #[workgroup(64)]
    fn bias(x: &mut [f32]) {
        x[global_id().x] = 0.0;
    }

    /// The parameters have the names of kernels.
    #[device]
    fn scaled(x: V<f32>, scale: f32, #[host] bias: u32) -> V<f32> {
        x * scale + bias as f32
    }

    #[device]
    fn bumped(bias: &mut V<f32>, scale: V<f32>) {
        *bias += scale;
    }
}

#[test]
fn parameters_may_be_named_like_kernels() {
    let mut x: Vec<f32> = (0..64).map(|i| i as f32).collect();
    scale.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&mut x,)).unwrap();
    assert!(x.iter().enumerate().all(|(i, x)| *x == i as f32 * 3.0 + 3.0), "{x:?}");
    bias.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&mut x,)).unwrap();
    assert!(x.iter().all(|x| *x == 0.0));
}

gcn_kernel! {
    #[device]
    fn power<T: Arithmetic>(x: V<T>, plus: V<T>, times: T) -> V<T> {
        x * x * times + plus
    }

    #[device]
    fn twice<T: Arithmetic>(x: V<T>) -> V<T> {
        power(x, 0, 2) + power(x, 1, 1)
    }

    #[device]
    fn half<T: Float>(x: V<T>) -> V<T> {
        power(x, 0.5, 2.0)
    }

    #[workgroup(64)]
    fn literals<T: Float, I: Integer>(x: &mut [T], n: &mut [I]) {
        let i = global_id().x;
        x[i] = twice(x[i]) + half(x[i]);
        n[i] = twice(n[i]) + power(n[i], 3, 1);
    }
}

#[test]
fn literals_are_arguments_for_parameters_of_any_number() {
    let mut x: Vec<f16> = (0..64).map(|i| f16::from_f32(i as f32 / 4.0)).collect();
    let mut n: Vec<i16> = (0..64).map(|i| i - 20).collect();
    literals::<f16, i16>.launch(&Device::simulator(Target::GFX90A), Grid::x(1), (&mut x, &mut n)).unwrap();
    for i in 0..64 {
        let (before, m) = (f16::from_f32(i as f32 / 4.0), i as i16 - 20);
        let square = before * before;
        let two = f16::from_f32(2.0);
        let half = square * two + f16::from_f32(0.5);
        assert_eq!(x[i], square * two + (square + f16::ONE) + half, "{i}");
        assert_eq!(n[i], 2 * m * m + (m * m + 1) + (m * m + 3), "{i}");
    }
}
