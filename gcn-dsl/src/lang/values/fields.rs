//! What the variables of a struct hold: values, and handles of memory. A field may be an array in LDS or in a lane's private memory, or a
//! slice. Such memory is not a value, and a variable of the struct always names the same. In the list of the struct's values it
//! stands as a number with the highest bit set, which no value has.

use std::marker::PhantomData;
use std::panic::Location;

use super::variable::{AssignIn, Flatten};
use crate::ir::named::Shape;
use crate::ir::{LdsId, PrivateId, Value, Variable};
use crate::lang::context::{Context, source};
use crate::lang::control::Uniform;
use crate::lang::{Lds, Placed, Private, Slice, with};

/// The bit of numbers that stand for memory.
const MEMORY: u32 = 1 << 31;

/// True for what stands for memory.
pub(in crate::lang) fn is_memory(value: Value) -> bool {
    value.0 & MEMORY != 0
}

/// A variable that holds this value, which `declare` makes if it is one.
pub(in crate::lang) fn holding(
    c: &mut Context,
    value: Value,
    declare: impl FnOnce(&mut Context) -> Variable,
) -> Variable {
    if is_memory(value) { Variable(value.0) } else { declare(c) }
}

/// The list with its values made by `f` of those in it; what stands for memory stays.
pub(in crate::lang) fn with_values(list: Vec<Value>, f: impl FnOnce(Vec<Value>) -> Vec<Value>) -> Vec<Value> {
    let mut made = f(list.iter().copied().filter(|v| !is_memory(*v)).collect()).into_iter();
    list.into_iter().map(|v| if is_memory(v) { v } else { crate::lang::next_value(&mut made) }).collect()
}

/// What the variables hold.
pub(in crate::lang) fn read_all(variables: &[Variable], loc: &'static Location<'static>) -> Vec<Value> {
    let read = |c: &mut Context, var: Variable| match is_memory(Value(var.0)) {
        true => Value(var.0),
        false => c.builder.read(var, Some(source(loc))),
    };
    with(|c| variables.iter().map(|var| read(c, *var)).collect())
}

/// Gives the variables these values.
pub(in crate::lang) fn write_all(
    variables: &[Variable],
    values: Vec<Value>,
    loc: &'static Location<'static>,
) {
    with(|c| {
        for (var, value) in variables.iter().zip(values) {
            if !is_memory(value) {
                c.builder.write(*var, value, Some(source(loc)));
            } else if value.0 != var.0 {
                let what = "the variable would mean another array from here on, in some lanes or in all; an array or slice in a struct is \
                            memory, which stays where it is: assign its elements";
                c.fail(loc, what.to_owned());
            }
        }
    });
}

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

        // It is one for all lanes.
        impl<T, const N: usize> Placed for $memory<T, N> {
            type Place = Uniform;
            type Pattern = Self;
        }
    )*};
}
held! { Private PrivateId; Lds LdsId; }

/// The values that a slice consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lang) struct SliceParts {
    resource: Value,
    pointer: Value,
    start: Option<Value>,
    len: Value,
    constant: bool,
}

/// A slice stands as its place among those that structs hold.
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
