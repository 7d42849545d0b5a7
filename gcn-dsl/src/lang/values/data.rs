//! Device data: compound values as lists of IR values.

use std::panic::Location;

use half::{bf16, f16};

use crate::ir::named::Shape;
use crate::ir::{Value, Variable};
use crate::lang::context::{Context, source};
use crate::lang::values::flow::{Flow, SameScope};
use crate::lang::{IntoDevice, S, V, with};
use crate::scalar::{LaneMask, Scalar};

/// Types that consist of IR values: `S`, `V`, vectors, fragments, accumulators, and arrays and tuples of these.
pub trait Flatten: Copy {
    /// Appends the IR values, first to last.
    fn flatten(&self, out: &mut Vec<Value>);
    /// Rebuilds the data from IR values in the same order.
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self;
    /// The way in which the type is composed of scalars, for debuggers; `None` if it depends on a value.
    fn shape() -> Option<Shape> {
        Some(Shape::Value)
    }
}

pub(crate) fn next_value(values: &mut dyn Iterator<Item = Value>) -> Value {
    values.next().unwrap_or_else(|| unreachable!("as many values come back as went in"))
}

impl<T: Scalar> Flatten for S<T> {
    fn flatten(&self, out: &mut Vec<Value>) {
        out.push(self.value);
    }
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        S::from_value(next_value(values))
    }
}

impl<T: Scalar> Flatten for V<T> {
    fn flatten(&self, out: &mut Vec<Value>) {
        out.push(self.value);
    }
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        V::from_value(next_value(values))
    }
}

/// Types that `let mut x = …` can hold: device values, arrays of them, and host scalars, which become uniform
/// variables.
#[diagnostic::on_unimplemented(
    message = "`let mut` in a kernel declares a device variable, and `{Self}` is not a device value",
    label = "not a device value",
    note = "LDS arrays and slices are declared without `mut`; host-time variables belong in `comptime {{ … }}`"
)]
pub trait Declare {
    /// The variable's type.
    type Value: Flatten;
    /// The initial value.
    fn declare(self) -> Self::Value;
}

for_each_type!(H<T> in [S, V] {
    impl<T: Scalar> Declare for H<T> {
        type Value = H<T>;
        fn declare(self) -> H<T> { self }
    }
});

for_each_type!(N in [bool, LaneMask, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64] {
    impl Declare for N {
        type Value = S<N>;
        fn declare(self) -> S<N> { self.into_device() }
    }
});

/// Types of variables declared in flow `F` that may be assigned in flow `G`. A varying variable may be assigned
/// anywhere; a uniform one only where the same lanes are active as at its declaration, not counting lanes that have
/// returned.
pub trait AssignIn<F, G> {}

impl<T, F, G> AssignIn<F, G> for V<T> {}
impl<T, F: Flow, G: Flow> AssignIn<F, G> for S<T> where G::Scope: SameScope<F::Scope> {}

/// In lists of IR values, a number with this bit stands for memory (an array or slice), not for an IR value. It cannot
/// be assigned.
pub(in crate::lang) const MEMORY: u32 = 1 << 31;

/// True if the number stands for memory.
pub(in crate::lang) fn is_memory(value: Value) -> bool {
    value.0 & MEMORY != 0
}

/// Declares a variable for this value with `declare`. If the value is a number that stands for memory, it is used as
/// the variable's number unchanged.
pub(in crate::lang) fn holding(
    c: &mut Context,
    value: Value,
    declare: impl FnOnce(&mut Context) -> Variable,
) -> Variable {
    if is_memory(value) { Variable(value.0) } else { declare(c) }
}

/// Replaces the values in the list by the results of `f`; entries that stand for memory stay.
pub(in crate::lang) fn with_values(list: Vec<Value>, f: impl FnOnce(Vec<Value>) -> Vec<Value>) -> Vec<Value> {
    let mut made = f(list.iter().copied().filter(|v| !is_memory(*v)).collect()).into_iter();
    list.into_iter().map(|v| if is_memory(v) { v } else { crate::lang::next_value(&mut made) }).collect()
}

/// The current values of the variables.
pub(in crate::lang) fn read_all(variables: &[Variable], loc: &'static Location<'static>) -> Vec<Value> {
    let read = |c: &mut Context, var: Variable| match is_memory(Value(var.0)) {
        true => Value(var.0),
        false => c.builder.read(var, Some(source(loc))),
    };
    with(|c| variables.iter().map(|var| read(c, *var)).collect())
}

/// Assigns the values to the variables.
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
