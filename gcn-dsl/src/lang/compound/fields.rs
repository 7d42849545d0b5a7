//! Fields of structs that are memory: an array in LDS or in private memory, or a slice. Such a field is not a value: in
//! every variable of the struct it refers to the same memory. In the struct's list of IR values it is represented by a
//! number whose highest bit is set, which no IR value has.

use std::marker::PhantomData;

use crate::ir::named::Shape;
use crate::ir::{LdsId, PrivateId, Value};
use crate::lang::context::SliceParts;
use crate::lang::values::data::{AssignIn, Flatten, MEMORY};
use crate::lang::values::kind::Uniform;
use crate::lang::{Lds, Placed, Private, Slice, with};

macro_rules! held {
    ($($memory:ident $id:ident;)*) => {$(
        impl<T, const N: usize> Flatten for $memory<T, N> {
            fn flatten(&self, out: &mut Vec<Value>) {
                out.push(Value(self.id().0 ^ MEMORY));
            }
            fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
                Self::of_id($id(crate::lang::next_value(values).0 ^ MEMORY))
            }
            fn shape() -> Option<Shape> {
                None
            }
        }
        impl<T, const N: usize, F, G> AssignIn<F, G> for $memory<T, N> {}

        // Such memory is the same for all lanes.
        impl<T, const N: usize> Placed for $memory<T, N> {
            type Place = Uniform;
            type Pattern = Self;
        }
    )*};
}
held! { Private PrivateId; Lds LdsId; }

/// A slice is represented by its index in the list of slices that structs contain.
impl<T, A> Flatten for Slice<T, A> {
    fn flatten(&self, out: &mut Vec<Value>) {
        let Slice { resource, pointer, start, len, constant, .. } = *self;
        let parts = SliceParts { resource, pointer, start, len, constant };
        let place = with(|c| {
            let known = c.slices.iter().position(|known| *known == parts);
            known.unwrap_or_else(|| {
                c.slices.push(parts);
                c.slices.len() - 1
            })
        });
        out.push(Value(place as u32 ^ MEMORY));
    }
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        let place = crate::lang::next_value(values).0 ^ MEMORY;
        let SliceParts { resource, pointer, start, len, constant } = with(|c| c.slices[place as usize]);
        Slice { resource, pointer, start, len, constant, types: PhantomData }
    }
    fn shape() -> Option<Shape> {
        None
    }
}

impl<T, A, F, G> AssignIn<F, G> for Slice<T, A> {}

impl<T, A> Placed for Slice<T, A> {
    type Place = Uniform;
    type Pattern = Self;
}
