//! Kernel arguments by value: scalars, and arrays, tuples and structs of them.

use std::panic::Location;

use super::signature::{Arguments, Packer, Signature};
use crate::ir::{Inst, Place, Type, Value};
use crate::lang::compound::enums::Placed;
use crate::lang::values::kind::Kind;
use crate::lang::{Declare, Flatten, IntoDevice, S, Stored, with};
use crate::scalar::Scalar;

/// Types that a kernel can take by value. Their scalars become consecutive arguments, each at its natural alignment and
/// with at least 4 bytes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel argument",
    label = "not a type that a kernel takes by value",
    note = "a kernel takes bool, i8..i64, u8..u64, f16, bf16, f32, f64, f8e4m3 and f8e5m2, and arrays, tuples and `#[device] #[repr(C)] struct`s of these"
)]
pub trait ByValue: Copy {
    /// The type of the value in the kernel; its scalars are uniform.
    type Device;
    /// Adds the value's scalars to the signature.
    fn declare(signature: Signature, name: &'static str) -> Signature;
    /// Reads the value from the arguments.
    fn receive(args: &mut Arguments) -> Self::Device;
    /// Passes the value's scalars to the packer.
    fn pack(self, packer: &mut Packer<'_>);
}

impl<T: Scalar> ByValue for T {
    type Device = S<T>;
    fn declare(signature: Signature, name: &'static str) -> Signature {
        signature.scalar::<T>(name)
    }
    fn receive(args: &mut Arguments) -> S<T> {
        args.scalar::<T>()
    }
    fn pack(self, packer: &mut Packer<'_>) {
        packer.scalar(self);
    }
}

impl<X: ByValue, const N: usize> ByValue for [X; N] {
    type Device = [X::Device; N];
    fn declare(signature: Signature, name: &'static str) -> Signature {
        (0..N).fold(signature, |signature, _| X::declare(signature, name))
    }
    fn receive(args: &mut Arguments) -> Self::Device {
        std::array::from_fn(|_| X::receive(args))
    }
    fn pack(self, packer: &mut Packer<'_>) {
        self.into_iter().for_each(|x| x.pack(packer));
    }
}

macro_rules! tuples {
    ($(($($a:ident $i:tt),+))*) => {$(
        impl<$($a: ByValue),+> ByValue for ($($a,)+) {
            type Device = ($($a::Device,)+);
            fn declare(signature: Signature, name: &'static str) -> Signature {
                $(let signature = $a::declare(signature, name);)+
                signature
            }
            fn receive(args: &mut Arguments) -> Self::Device {
                ($($a::receive(args),)+)
            }
            fn pack(self, packer: &mut Packer<'_>) {
                $(self.$i.pack(packer);)+
            }
        }
    )*};
}
tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}

/// Types that can be passed for a parameter `s: Sphere` of a device function, whose value is uniform: such a struct of
/// the host, an argument of the kernel, or an element of a `&[Sphere]` at a uniform index.
#[diagnostic::on_unimplemented(
    message = "this parameter takes one `{D}` for all lanes",
    label = "not one `{D}` for all lanes",
    note = "an element at a varying index, or of a `&mut [{D}]`, is each lane's own: declare the parameter as `V<{D}>`"
)]
pub trait OneForAll<D: ByValue> {
    /// The struct as uniform values.
    fn one(self) -> D::Device;
}

#[diagnostic::do_not_recommend]
impl<D: ByValue, E: IntoDevice<D::Device>> OneForAll<D> for E {
    #[track_caller]
    fn one(self) -> D::Device {
        self.into_device()
    }
}

/// The expansion of the use of a parameter such as `s: Sphere`.
#[track_caller]
pub fn one_for_all<D: ByValue, E: OneForAll<D>>(e: E) -> D::Device {
    e.one()
}

/// The expansion of `s` in `s.method()`, where `s` is a struct `D`, uniform or varying. If `s` is an element of memory,
/// its arrays are loaded as a whole.
#[track_caller]
pub fn receiver<D, E>(e: E) -> <<E::Value as Placed>::Place as Kind>::Pick<D::Device, D::Value>
where
    D: ByValue<Device: Flatten> + Stored,
    E: Declare<Value: Placed>,
{
    let (loc, mut values) = (Location::caller(), Vec::new());
    e.declare().flatten(&mut values);
    match <E::Value as Placed>::Place::VARYING {
        true => <E::Value as Placed>::Place::picked(None, Some(in_lanes::<D>(values, loc))),
        false => {
            let one = D::Device::unflatten(&mut values.into_iter());
            <E::Value as Placed>::Place::picked(Some(one), None)
        }
    }
}

/// As `receiver`, for a method that returns a `D`: the receiver becomes varying.
#[track_caller]
pub fn receiver_in_lanes<D: Stored, E: Declare>(e: E) -> D::Value {
    let mut values = Vec::new();
    e.declare().flatten(&mut values);
    in_lanes::<D>(values, Location::caller())
}

fn in_lanes<D: Stored>(values: Vec<Value>, loc: &'static Location<'static>) -> D::Value {
    let splat = |value: Value| {
        with(|c| match c.builder.kernel().ty(value) {
            ty if ty.place == Place::Varying => value,
            ty => c.value(Inst::Splat(value), Type { place: Place::Varying, ..ty }, loc),
        })
    };
    D::Value::unflatten(&mut values.into_iter().map(splat))
}

impl Signature {
    /// Adds an argument that is passed by value.
    #[must_use]
    pub fn value<T: ByValue>(self, name: &'static str) -> Signature {
        T::declare(self, name)
    }
}

impl Arguments {
    /// Reads the next argument, which is passed by value.
    pub fn value<T: ByValue>(&mut self) -> T::Device {
        T::receive(self)
    }
}

impl Packer<'_> {
    /// Packs an argument that is passed by value.
    pub fn value<T: ByValue>(&mut self, x: T) {
        x.pack(self);
    }
}
