//! Names of values in `let`, for debuggers.

use std::panic::Location;

use half::{bf16, f16};

use crate::ir::named::{Leaf, Named, Shape};
use crate::lang::context::source;
use crate::lang::{Flatten, with};
use crate::scalar::Scalar;

/// A value that the user has named. Method lookup decides whether it is a device value: it finds the method of `Shown`
/// itself before that of [`ShowOther`], which all types implement.
#[derive(Debug)]
pub struct Shown<X>(pub X);

impl<X: Showable> Shown<X> {
    /// Records that the value is called `name`, in the scope that ends at this line and column. Returns the value.
    #[track_caller]
    pub fn shown(self, name: &'static str, line: u32, column: u32) -> X {
        tell((name, (line, column)), X::shape, || self.0.leaves(), Location::caller());
        self.0
    }
}

/// All other values; they do not exist on the GPU.
pub trait ShowOther {
    /// The value's type.
    type Value;
    /// Returns the value.
    fn shown(self, _name: &'static str, _line: u32, _column: u32) -> Self::Value;
}

impl<X> ShowOther for Shown<X> {
    type Value = X;
    fn shown(self, _name: &'static str, _line: u32, _column: u32) -> X {
        self.0
    }
}

/// Device values, and also host numbers whose type rustc may still have to infer.
pub trait Showable {
    /// The way in which the type is composed of scalars.
    fn shape() -> Option<Shape>;
    /// The scalars of the value.
    fn leaves(&self) -> Vec<Leaf>;
}

impl<X: Flatten> Showable for X {
    fn shape() -> Option<Shape> {
        X::shape()
    }
    fn leaves(&self) -> Vec<Leaf> {
        let mut values = Vec::new();
        self.flatten(&mut values);
        values.into_iter().map(Leaf::Value).collect()
    }
}

for_each_type!(N in [bool, i8, u8, i16, u16, i32, u32, i64, u64] {
    impl Showable for N {
        fn shape() -> Option<Shape> {
            Some(Shape::Value)
        }
        fn leaves(&self) -> Vec<Leaf> {
            vec![Leaf::Constant(self.to_bits(), <N as Scalar>::ELEM)]
        }
    }
});

for_each_type!(N in [i128, u128, isize, usize, f16, bf16, f32, f64] {
    impl Showable for N {
        fn shape() -> Option<Shape> {
            None
        }
        fn leaves(&self) -> Vec<Leaf> {
            Vec::new()
        }
    }
});

/// Records a name, if the build records names.
pub(in crate::lang) fn tell(
    (name, end): (&'static str, (u32, u32)),
    shape: impl FnOnce() -> Option<Shape>,
    leaves: impl FnOnce() -> Vec<Leaf>,
    at: &'static Location<'static>,
) {
    if !with(|c| c.names) {
        return;
    }
    let Some(shape) = shape() else { return };
    let named = Named { name, at: source(at), end, shape, leaves: leaves() };
    with(|c| c.builder.named(named));
}
