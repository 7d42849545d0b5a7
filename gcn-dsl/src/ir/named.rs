//! The values that have names in the user's source, for debug information.

use gcn_isa::program::SourceLoc;

use super::{Kernel, Value, Variable};
use crate::scalar::Elem;

/// A part of a named value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leaf {
    /// The result of an instruction.
    Value(Value),
    /// The content of a variable.
    Variable(Variable),
    /// A number of the host, by its register bits.
    Constant(u64, Elem),
}

/// How parts compose a value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Shape {
    /// One part.
    Value,
    /// So many of the same shape.
    Array(Box<Shape>, usize),
    /// A struct or tuple: the names and shapes of its fields.
    Struct(&'static str, Vec<(&'static str, Shape)>),
}

impl Shape {
    /// The number of parts.
    pub fn leaves(&self) -> usize {
        match self {
            Shape::Value => 1,
            Shape::Array(of, count) => count * of.leaves(),
            Shape::Struct(_, fields) => fields.iter().map(|field| field.1.leaves()).sum(),
        }
    }
}

/// A `let`.
#[derive(Clone, PartialEq, Debug)]
pub struct Named {
    /// The name.
    pub name: &'static str,
    /// Where it is bound.
    pub at: SourceLoc,
    /// The end of the scope of the name: line and column in the same file.
    pub end: (u32, u32),
    /// How the parts compose the value.
    pub shape: Shape,
    /// Its parts.
    pub leaves: Vec<Leaf>,
}

impl Kernel {
    /// Records a name. A `let` that is traced again, in an unrolled loop, names several values. No instruction tells
    /// which of them is meant, so the name is omitted.
    pub fn name(&mut self, new: Named) {
        let names = &mut self.debug.names;
        match names.iter_mut().find(|known| known.name == new.name && known.at == new.at) {
            None => names.push(new),
            Some(known) if known.leaves == new.leaves => {}
            Some(known) => known.leaves.clear(),
        }
    }
}
