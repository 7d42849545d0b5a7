//! Right operands of operators, and arguments of methods. Together with the left side they determine whether the result
//! is uniform or varying.

use std::panic::Location;

use half::{bf16, f16};

use crate::ir::{Inst, Place, Type, Value};
use crate::lang::values::kind::{Kind, Uniform, Varying};
use crate::lang::{IntoDevice, S, V, with};
use crate::scalar::{LaneMask, Scalar};

/// `S<T>` if the kind `P` is uniform, `V<T>` if it is varying.
pub type At<P, T> = <P as Kind>::Pick<S<T>, V<T>>;

/// Types of the right side of an operator whose left side has elements of type `T`, and of an argument of such a
/// method: a host value, an `S<T>` or a `V<T>`. A literal takes the type of the left side; for `f16` and `bf16` it is a
/// host `f64`.
#[diagnostic::on_unimplemented(
    message = "an operator's sides have different element types: `{T}` and `{Self}`",
    label = "`{T}` on the left, `{Self}` on the right",
    note = "convert one side with `as`, for example `n as f32`; a literal for a float has a point: `2.0`",
    note = "a literal that no type reaches is an `i32` or `f64`, as in Rust: `for k in 0..16u32`, `let mut sum = 0.0f32`"
)]
pub trait Operand<T: Scalar>: Copy {
    /// The kind of the operand, uniform or varying; host values are uniform.
    type Place: Kind;
    /// The operand as a varying value.
    fn varying(self) -> V<T>;
    /// The operand as a uniform value; `None` if it is varying.
    fn uniform(self) -> Option<S<T>>;
}

/// Implemented only if the element types of an operator's two sides are equal.
#[diagnostic::on_unimplemented(
    message = "an operator's sides have different element types: `{Self}` and `{Other}`",
    label = "`{Self}` on the left, `{Other}` on the right",
    note = "convert one side with `as`, for example `n as f32`; a literal for a float has a point: `2.0`",
    note = "a literal that no type reaches is an `i32` or `f64`, as in Rust: `for k in 0..16u32`, `let mut sum = 0.0f32`"
)]
pub trait SameElement<Other>: Sized {
    /// Converts a value of the other side's type to this type.
    #[doc(hidden)]
    fn alike(value: Value, _at: Place) -> Value {
        value
    }
}
impl<T> SameElement<T> for T {}
/// A number that is combined with a lane mask. Bits for which the wave has no lane are ignored.
impl SameElement<u64> for LaneMask {
    #[track_caller]
    fn alike(value: Value, at: Place) -> Value {
        let loc = Location::caller();
        with(|c| {
            let ty = Type { place: at, elem: LaneMask::elem_in(c.wave), count: 1 };
            if c.builder.kernel().ty(value) == ty { value } else { c.value(Inst::Cast(value), ty, loc) }
        })
    }
}

impl<T: Scalar> Operand<T> for T {
    type Place = Uniform;
    fn varying(self) -> V<T> {
        self.into_device()
    }
    fn uniform(self) -> Option<S<T>> {
        Some(self.into_device())
    }
}

impl<T: Scalar + SameElement<U>, U: Scalar> Operand<T> for S<U> {
    type Place = Uniform;
    #[track_caller]
    fn varying(self) -> V<T> {
        S::<T>::from_value(T::alike(self.value, Place::Uniform)).into_device()
    }
    #[track_caller]
    fn uniform(self) -> Option<S<T>> {
        Some(S::from_value(T::alike(self.value, Place::Uniform)))
    }
}

impl<T: Scalar + SameElement<U>, U: Scalar> Operand<T> for V<U> {
    type Place = Varying;
    #[track_caller]
    fn varying(self) -> V<T> {
        V::from_value(T::alike(self.value, Place::Varying))
    }
    fn uniform(self) -> Option<S<T>> {
        None
    }
}

/// A host number can be combined with a lane mask.
#[diagnostic::do_not_recommend]
impl Operand<LaneMask> for u64 {
    type Place = Uniform;
    fn varying(self) -> V<LaneMask> {
        LaneMask::from_bits(self).into_device()
    }
    fn uniform(self) -> Option<S<LaneMask>> {
        Some(LaneMask::from_bits(self).into_device())
    }
}

// Literals as operands where the element type has none in Rust (`f16`, `bf16`).
for_each_type!(Half in [f16, bf16] {
    #[diagnostic::do_not_recommend]
    impl Operand<Half> for f64 {
        type Place = Uniform;
        fn varying(self) -> V<Half> {
            Half::from_f64(self).into_device()
        }
        fn uniform(self) -> Option<S<Half>> {
            Some(Half::from_f64(self).into_device())
        }
    }
    #[diagnostic::do_not_recommend]
    impl IntoDevice<S<Half>> for f64 {
        fn into_device(self) -> S<Half> {
            Half::from_f64(self).into_device()
        }
    }
    #[diagnostic::do_not_recommend]
    impl IntoDevice<V<Half>> for f64 {
        fn into_device(self) -> V<Half> {
            Half::from_f64(self).into_device()
        }
    }
});

/// Types of the `e` in `let x: W = e`: `W` itself, uniform or varying, and arrays and tuples that match `W`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not of the written type `{W}`",
    label = "expected `{W}`, found `{Self}`",
    note = "between element types convert with `as`; a literal for a float has a point (`2.0`), and one for an integer has none"
)]
pub trait OfType<W> {
    /// The type of the device value.
    type Value;
    /// Converts the value.
    fn of_type(self) -> Self::Value;
}

impl<T: Scalar, E: Operand<T>> OfType<T> for E {
    type Value = At<E::Place, T>;
    #[track_caller]
    fn of_type(self) -> At<E::Place, T> {
        match E::Place::VARYING {
            true => E::Place::picked(None, Some(self.varying())),
            false => E::Place::picked(self.uniform(), None),
        }
    }
}

impl<T: Scalar, E: IntoDevice<V<T>>> OfType<V<T>> for E {
    type Value = V<T>;
    #[track_caller]
    fn of_type(self) -> V<T> {
        self.into_device()
    }
}

impl<T: Scalar, E: IntoDevice<S<T>>> OfType<S<T>> for E {
    type Value = S<T>;
    #[track_caller]
    fn of_type(self) -> S<T> {
        self.into_device()
    }
}

/// The expansion of `let x: W = e` if `W` does not say whether the value is uniform or varying.
#[track_caller]
pub fn of_type<W, E: OfType<W>>(e: E) -> E::Value {
    e.of_type()
}
