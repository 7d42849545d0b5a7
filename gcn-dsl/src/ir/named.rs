//! Names of values in the user's source, for debug information.

use gcn_isa::program::SourceLoc;

use super::{Kernel, Value, Variable};
use crate::scalar::Elem;

/// A scalar part of a named value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leaf {
    /// The result of an instruction.
    Value(Value),
    /// The current value of a variable.
    Variable(Variable),
    /// A number that the host knew when the kernel was built, given by its register bits.
    Constant(u64, Elem),
}

/// The way in which a value is composed of scalar parts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Shape {
    /// A single part.
    Value,
    /// An array: the shape and the number of its elements.
    Array(Box<Shape>, usize),
    /// A struct or tuple: the names and shapes of its fields.
    Struct(&'static str, Vec<(&'static str, Shape)>),
}

impl Shape {
    /// The number of scalar parts.
    pub fn leaves(&self) -> usize {
        match self {
            Shape::Value => 1,
            Shape::Array(of, count) => count * of.leaves(),
            Shape::Struct(_, fields) => fields.iter().map(|field| field.1.leaves()).sum(),
        }
    }
}

/// A `let` in the user's source.
#[derive(Clone, PartialEq, Debug)]
pub struct Named {
    /// The name.
    pub name: &'static str,
    /// The location of the `let`.
    pub at: SourceLoc,
    /// The end of the name's scope: line and column in the same file.
    pub end: (u32, u32),
    /// The way in which the value is composed of its parts.
    pub shape: Shape,
    /// The parts.
    pub leaves: Vec<Leaf>,
}

impl Kernel {
    /// Records a name. If a `let` is traced several times, as in an unrolled loop, it names several values, and no
    /// instruction tells which one is meant; such a name is dropped.
    pub fn name(&mut self, new: Named) {
        let names = &mut self.debug.names;
        match names.iter_mut().find(|known| known.name == new.name && known.at == new.at) {
            None => names.push(new),
            Some(known) if known.leaves == new.leaves => {}
            Some(known) => known.leaves.clear(),
        }
    }
}
