//! Activation functions, which a kernel applies to each result before it is stored.
//!
//! ```
//! use gcn_dsl::prelude::*;
//! use gcn_kernels::activation::Activation;
//!
//! /// max(0, x)^2.
//! #[derive(Debug, Clone, Copy)]
//! struct Square;
//! impl Activation<f32> for Square {
//!     fn apply(x: V<f32>) -> V<f32> {
//!         let x = x.max(0.0);
//!         x * x
//!     }
//! }
//! # use gcn_dsl::lang::matrix::Rows;
//! gcn_kernels::gemm::f16s::<Rows, Rows, Square, true>.build(Target::GFX942)?;
//! # Ok::<(), gcn_dsl::BuildError>(())
//! ```

use std::f32::consts::{FRAC_2_SQRT_PI, LOG2_E, SQRT_2};
use std::fmt::Debug;

use gcn_dsl::prelude::*;

/// An activation function of one element. It is called on device values while the kernel is built.
pub trait Activation<T>: Copy + Debug + 'static {
    /// Applies the function.
    fn apply(x: V<T>) -> V<T>;
}

/// The identity.
#[derive(Debug, Clone, Copy)]
pub struct Identity;
/// max(0, x).
#[derive(Debug, Clone, Copy)]
pub struct Relu;
/// x / (1 + e^-x).
#[derive(Debug, Clone, Copy)]
pub struct Silu;
/// x times the probability that a normally distributed variable is less than x. Computed by Hendrycks and Gimpel's
/// approximation with tanh, whose error is below 5 * 10^-4.
#[derive(Debug, Clone, Copy)]
pub struct Gelu;

impl<T> Activation<T> for Identity {
    fn apply(x: V<T>) -> V<T> {
        x
    }
}

macro_rules! relu {
    ($($of:ident $zero:literal)*) => {$(
        impl Activation<$of> for Relu {
            #[track_caller]
            fn apply(x: V<$of>) -> V<$of> {
                x.max($zero)
            }
        }
    )*};
}
relu! { f32 0.0 f64 0.0 i32 0 }

/// x / (1 + 2^y), with the hardware's approximate exponential and reciprocal.
#[track_caller]
fn weighed(x: V<f32>, y: V<f32>) -> V<f32> {
    x * (y.approx_exp2() + 1.0f32).approx_recip()
}

impl Activation<f32> for Silu {
    #[track_caller]
    fn apply(x: V<f32>) -> V<f32> {
        weighed(x, x * -LOG2_E)
    }
}

impl Activation<f32> for Gelu {
    #[track_caller]
    fn apply(x: V<f32>) -> V<f32> {
        // tanh(y) = 1 - 2 / (1 + e^(2y)), for y = sqrt(2 / pi) * (x + 0.044715 x^3).
        let factor = -2.0 * LOG2_E * FRAC_2_SQRT_PI / SQRT_2;
        weighed(x, (x * x * x * 0.044715f32 + x) * factor)
    }
}
