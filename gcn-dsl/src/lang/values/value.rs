//! The handles of uniform and varying values, `S<T>` and `V<T>`, and implicit conversions to them.

use std::marker::PhantomData;
use std::panic::Location;

use gcn_isa::target::WaveSize;

use crate::ir::{Inst, Place, Type, Value};
use crate::lang::with;
use crate::scalar::{LaneMask, Number, Scalar};

/// One value per wave, in SGPRs: the same for every lane.
#[derive(Debug)]
pub struct S<T> {
    pub(crate) value: Value,
    element: PhantomData<T>,
}

/// One value per lane, in VGPRs. `V<bool>` is a lane mask.
#[derive(Debug)]
pub struct V<T> {
    pub(crate) value: Value,
    element: PhantomData<T>,
}

macro_rules! handle {
    ($name:ident, $place:ident) => {
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T> Copy for $name<T> {}

        impl<T: Number> $name<T> {
            pub(crate) const TYPE: Type = Type { place: Place::$place, elem: T::ELEM, count: 1 };
        }

        impl<T: Scalar> $name<T> {
            /// The type of the IR value in waves of this size.
            pub(crate) fn type_in(wave: WaveSize) -> Type {
                Type { place: Place::$place, elem: T::elem_in(wave), count: 1 }
            }

            #[doc(hidden)]
            pub fn from_value(value: Value) -> Self {
                $name { value, element: PhantomData }
            }

            #[doc(hidden)]
            pub fn to_value(self) -> Value {
                self.value
            }

            pub(crate) fn emit(inst: Inst, loc: &'static Location<'static>) -> Self {
                Self::from_value(with(|c| c.value(inst, Self::type_in(c.wave), loc)))
            }
        }
    };
}

handle!(S, Uniform);
handle!(V, Varying);

/// Types that convert implicitly to an `X`: `X` itself, host values to `S` and `V`, `S<T>` to `V<T>`; tuples and arrays
/// convert member by member.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not become `{X}` by itself",
    label = "expected `{X}`, found `{Self}`",
    note = "a varying `V<T>` does not become a uniform `S<T>`: declare the variable, the parameter or the result as `V<T>`, of a pointer as `V<*const T>`; `read_first_lane(v)` is the value of one lane only",
    note = "between element types convert with `as`, to a mask of lanes by `LaneMask::from(n)` and from one by `mask.bits()`; a literal for a float has a point (`2.0`), and one that no type reaches is an `i32` or `f64`, as in Rust: beside a type parameter write it, `let a: T = 0.5`; the plain scalar type of a parameter, field or result means `S<T>`, an alias of one does not"
)]
pub trait IntoDevice<X> {
    /// Converts the value.
    fn into_device(self) -> X;
}

/// Types that convert implicitly only to themselves. Tuples and arrays are not among them, because they convert member
/// by member.
pub trait AsIs {}

impl<X: AsIs> IntoDevice<X> for X {
    fn into_device(self) -> X {
        self
    }
}

impl<T> AsIs for S<T> {}
impl<T> AsIs for V<T> {}

macro_rules! as_is { ($($t:ty),*) => { $(impl AsIs for $t {})* }; }
as_is!(bool, LaneMask, i8, u8, i16, u16, i32, u32, i64, u64, i128, u128, isize, usize, f32, f64);
as_is!(half::f16, half::bf16, (), String, &str);

impl<T: Scalar> IntoDevice<S<T>> for T {
    fn into_device(self) -> S<T> {
        S::from_value(with(|c| c.constant(self, Place::Uniform)))
    }
}

impl<T: Scalar> IntoDevice<V<T>> for T {
    fn into_device(self) -> V<T> {
        V::from_value(with(|c| c.constant(self, Place::Varying)))
    }
}

impl<T: Scalar> IntoDevice<V<T>> for S<T> {
    #[track_caller]
    fn into_device(self) -> V<T> {
        V::emit(Inst::Splat(self.value), Location::caller())
    }
}

/// Types of the arguments of cross-lane functions: a `V<T>`, or an `S<T>`, which has the same value in every lane.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a value of the device",
    label = "expected `V<T>` or `S<T>`, found `{Self}`",
    note = "functions across lanes take what lanes have: a value of each lane, or one for all; a number of the host needs no such function"
)]
pub trait PerLane<T> {
    /// The argument as a varying value.
    fn per_lane(self) -> V<T>;
}

impl<T> PerLane<T> for V<T> {
    fn per_lane(self) -> V<T> {
        self
    }
}

impl<T: Scalar> PerLane<T> for S<T> {
    #[track_caller]
    fn per_lane(self) -> V<T> {
        self.into_device()
    }
}

for_each_type!(H<T> in [S, V] {
    /// The default is 0 or `false`.
    impl<T: Scalar> Default for H<T> {
        #[track_caller]
        fn default() -> Self {
            Self::emit(Inst::Const(0), Location::caller())
        }
    }
});

/// The default of the type of `_of`; for the expansion of `mem::take(&mut x)`.
#[track_caller]
pub fn default_of<X: Default>(_of: &X) -> X {
    X::default()
}

/// The expansion of `let x: X = e`.
#[track_caller]
pub fn annotate<X, E: IntoDevice<X>>(e: E) -> X {
    e.into_device()
}

/// The expansion of an assignment to an element of a device variable.
#[track_caller]
pub fn convert<X, E: IntoDevice<X>>(e: E) -> X {
    e.into_device()
}

/// Converts a uniform or host value to a varying one.
#[track_caller]
pub fn splat<T: Scalar>(x: impl IntoDevice<V<T>>) -> V<T> {
    x.into_device()
}

/// `condition ? a : b`, lane by lane. Both sides are computed.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// Negative elements become zero.
///     #[workgroup(64)]
///     fn relu(x: &mut [f32]) {
///         let i = global_id().x;
///         x[i] = select(x[i] > 0.0, x[i], 0.0);
///     }
/// }
/// # relu.build(Target::GFX942).unwrap();
/// ```
#[track_caller]
pub fn select<T: Scalar>(
    condition: impl IntoDevice<V<bool>>,
    a: impl IntoDevice<V<T>>,
    b: impl IntoDevice<V<T>>,
) -> V<T> {
    let (condition, a, b) = (condition.into_device(), a.into_device(), b.into_device());
    V::emit(Inst::Select(condition.value, a.value, b.value), Location::caller())
}
