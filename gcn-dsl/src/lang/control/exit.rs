//! `break`, `continue` and `return`: the lanes that leave and the values that they carry.

use std::cell::RefCell;
use std::fmt::Debug;
use std::panic::Location;

use crate::ir::{Inst, Label, Region, Stmt, Value, Variable};
use crate::lang::values::data::Flatten;
use crate::lang::values::flow::Leave;
use crate::lang::values::kind::Kind;
use crate::lang::values::merge::Merge;
use crate::lang::values::merge::Never;
use crate::lang::with;

/// The values of type `A` with which lanes leave a construct, one for each exit. The code that converts such a value
/// will be inserted at the exit, where an empty block, whose label is stored with the value, reserves the position.
#[derive(Debug)]
pub struct Slot<A>(RefCell<Vec<(Label, A)>>);

impl<A> Slot<A> {
    /// A slot without values.
    #[allow(clippy::new_without_default, reason = "made by the macro only")]
    pub fn new() -> Slot<A> {
        Slot(RefCell::default())
    }

    /// Records that the lanes that are active here leave with `value`, or reach the construct's end with it. The type
    /// to which `value` must be converted is known only when all exits are known; until then an empty block reserves
    /// the position of the conversion.
    pub fn put(&self, value: A) {
        let place = with(|c| {
            let place = c.builder.open_block();
            c.builder.close_block(place);
            place
        });
        self.0.borrow_mut().push((place, value));
    }
}

/// The values of several exits, which merge into one value according to the kind `How` of the exits. They are nested
/// pairs of slots, with [`Last`] or `()` at the end.
pub trait JoinAll<How> {
    /// The type of the merged value.
    type Output;
    /// Appends each value's label and its conversion to the merged type.
    fn each(self, out: &mut Vec<(Label, Convert<Self::Output>)>);
}

/// Converts a value to the merged type. It is called when the position at which the conversion belongs is open.
pub type Convert<X> = Box<dyn FnOnce() -> X>;

impl<How> JoinAll<How> for () {
    type Output = Never;
    fn each(self, _: &mut Vec<(Label, Convert<Never>)>) {}
}

/// The last of several slots. It is not converted separately but merged with the slot before it, so that a literal
/// takes the type of the value in that slot.
#[derive(Debug)]
pub struct Last<A>(pub Slot<A>);

impl<How, A: 'static> JoinAll<How> for Last<A> {
    type Output = A;
    fn each(self, out: &mut Vec<(Label, Convert<A>)>) {
        for (place, value) in self.0.0.into_inner() {
            out.push((place, Box::new(move || value)));
        }
    }
}

impl<How, A, Rest> JoinAll<How> for (Slot<A>, Rest)
where
    A: Merge<How, Rest::Output> + 'static,
    Rest: JoinAll<How>,
    Rest::Output: 'static,
    A::Output: 'static,
{
    type Output = A::Output;
    fn each(self, out: &mut Vec<(Label, Convert<A::Output>)>) {
        if !A::LEFT_LEAVES {
            for (place, value) in self.0.0.into_inner() {
                out.push((place, Box::new(move || value.left())));
            }
        }
        if !A::RIGHT_LEAVES {
            let mut rest = Vec::new();
            self.1.each(&mut rest);
            for (place, value) in rest {
                out.push((place, Box::new(move || A::right(value()))));
            }
        }
    }
}

/// Ends a construct with a value. Fills each reserved block in `body` with a write of the exit's value to variables,
/// makes a statement from `body` with `stmt`, and reads the variables after it.
pub(super) fn join<How, J: JoinAll<How>>(
    mut body: Region,
    values: J,
    loc: &'static Location<'static>,
    stmt: impl FnOnce(Region) -> Stmt,
) -> J::Output
where
    J::Output: Flatten,
{
    let mut converted = Vec::new();
    values.each(&mut converted);
    let mut variables: Vec<Variable> = Vec::new();
    for (place, value) in converted {
        with(|c| c.builder.open(true));
        let mut leaves = Vec::new();
        value().flatten(&mut leaves);
        with(|c| {
            if variables.is_empty() {
                let types: Vec<_> = leaves.iter().map(|v| c.builder.kernel().ty(*v)).collect();
                variables.extend(types.into_iter().map(|ty| c.builder.declare_joined(ty)));
            }
            for (var, value) in variables.iter().zip(&leaves) {
                if c.builder.is_undefined(*value) {
                    continue;
                }
                c.effect(Inst::Write { var: *var, value: *value, keep: true }, loc);
            }
            let filling = c.builder.close(true);
            fill(&mut body, place, filling);
        });
    }
    with(|c| {
        c.builder.stmt(stmt(body));
        let values: Vec<Value> = variables.iter().map(|var| c.builder.read(*var, None)).collect();
        J::Output::unflatten(&mut values.into_iter())
    })
}

/// Fills the empty block `place` with the statements of `filling`. If no lane reaches the block, it does not exist, and
/// `filling` is returned.
fn fill(region: &mut Region, place: Label, filling: Region) -> Option<Region> {
    let mut filling = Some(filling);
    for stmt in &mut region.stmts {
        match stmt {
            Stmt::Block { label, body } if *label == place => {
                *body = filling?;
                return None;
            }
            other => {
                for inner in other.regions_mut() {
                    filling = Some(fill(inner, place, filling?)?);
                }
            }
        }
    }
    filling
}

/// An open block that lanes can leave: a labelled block with `break 'label`, or a function's body with `return`.
#[derive(Debug)]
pub struct Block(Label);

/// Begins a block. Until an exit leaves it, its flow is that outside of the block.
pub fn block_begin() -> Block {
    Block(with(|c| c.builder.open_block()))
}

impl Block {
    /// Makes the lanes that run here jump to the block's end.
    pub fn leave(&self) -> Never {
        with(|c| c.builder.exit(self.0));
        Never
    }

    /// Ends a block without a value.
    pub fn end(self) {
        with(|c| c.builder.close_block(self.0));
    }

    /// Ends a block; its value is merged from those of its exits and of its last expression.
    #[track_caller]
    pub fn end_with<K: Kind, J: JoinAll<K>>(self, _kind: &Leave<K>, values: J) -> J::Output
    where
        J::Output: Flatten,
    {
        let body = with(|c| c.builder.close(true));
        let label = self.0;
        join::<K, J>(body, values, Location::caller(), |body| Stmt::Block { label, body })
    }
}
