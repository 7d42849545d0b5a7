//! Code that is executed only if a condition requires it: the right side of `&&` and `||`, and closures passed to an
//! `Option`'s methods.

use std::marker::PhantomData;
use std::panic::Location;

use crate::ir::{Bin, Inst, Place, Region, Value};
use crate::lang::control::Condition;
use crate::lang::values::data::with_values;
use crate::lang::values::flow::{Flow, WholeWorkgroup};
use crate::lang::{Flatten, Logic, with};

/// Code under construction that is executed only where `condition` equals `when`.
#[derive(Debug)]
struct Only {
    condition: Value,
    when: bool,
    runs: Runs,
}

/// The cases in which the code is executed, as far as they are known when the kernel is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runs {
    Always,
    Never,
    Sometimes { varying: bool },
}

/// The finished code. If it is always executed, it has been emitted directly and the region is empty.
struct Closed {
    only: Only,
    region: Region,
}

impl Only {
    fn new(condition: Value, when: bool) -> Only {
        let runs = with(|c| match c.builder.as_const(condition) {
            Some(bits) if (bits != 0) == when => Runs::Always,
            Some(_) => Runs::Never,
            None => Runs::Sometimes { varying: c.builder.kernel().ty(condition).place == Place::Varying },
        });
        Only { condition, when, runs }
    }

    fn begin(&self) {
        with(|c| match self.runs {
            Runs::Always => {}
            Runs::Never => {
                c.builder.open(false);
                c.builder.never_runs();
            }
            Runs::Sometimes { varying } => c.builder.open(varying),
        });
    }

    fn is_varying(&self) -> bool {
        self.runs == Runs::Sometimes { varying: true }
    }

    fn end(self) -> Closed {
        let region = match self.runs {
            Runs::Always => Region::default(),
            _ => with(|c| c.builder.close(self.is_varying())),
        };
        Closed { only: self, region }
    }
}

impl Closed {
    /// If all lanes may execute the code, moves it to the current region and returns its values; otherwise `None`.
    fn flat(&self, values: &[Value]) -> Option<Vec<Value>> {
        with(|c| match self.only.runs {
            Runs::Always => Some(values.to_vec()),
            Runs::Never => {
                Some(values.iter().map(|v| c.builder.undefined(c.builder.kernel().ty(*v))).collect())
            }
            Runs::Sometimes { .. } => c.builder.flattened(&self.region, values),
        })
    }

    /// Puts the code into a branch and returns its values. In lanes that do not execute it, conditions have the value
    /// `otherwise`, if given, and all other values are undefined.
    fn branch(self, values: &[Value], otherwise: Option<Value>) -> Vec<Value> {
        let (condition, varying) = (self.only.condition, self.only.is_varying());
        let regions = |inside: Region| match self.only.when {
            true => (inside, Region::default()),
            false => (Region::default(), inside),
        };
        with(|c| {
            let variables = c.builder.joined_variables(values, otherwise);
            c.builder.reopen(self.region, varying);
            for (var, value) in variables.iter().zip(values) {
                if let Some(var) = var {
                    c.builder.write(*var, *value, None);
                }
            }
            let (then, els) = regions(c.builder.close(varying));
            c.builder.branch(condition, varying, then, els);
            let read = variables.into_iter().zip(values);
            read.map(|(var, value)| match var {
                Some(var) => c.builder.read(var, None),
                None => c.builder.undefined(c.builder.kernel().ty(*value)),
            })
            .collect()
        })
    }
}

/// The result of `f` where `condition` equals `when`; undefined elsewhere. Only those lanes execute the code of `f`,
/// unless executing it in all lanes makes no observable difference.
pub(in crate::lang) fn where_only<X: Flatten>(condition: Value, when: bool, f: impl FnOnce() -> X) -> X {
    let only = Only::new(condition, when);
    only.begin();
    let mut values = Vec::new();
    f().flatten(&mut values);
    let closed = only.end();
    let values =
        with_values(values, |values| closed.flat(&values).unwrap_or_else(|| closed.branch(&values, None)));
    X::unflatten(&mut values.into_iter())
}

/// The left side of `&&` or `||`, while the right side is being built.
#[derive(Debug)]
pub struct LeftSide<A, Inside> {
    left: A,
    op: Bin,
    only: Only,
    inside: PhantomData<Inside>,
}

/// Begins `left && …`.
pub fn and_begin<A: Condition<F>, F: Flow>(left: A, _flow: &F) -> LeftSide<A, A::Inside> {
    LeftSide { only: Only::new(left.value(), true), left, op: Bin::And, inside: PhantomData }
}

/// Begins `left || …`.
pub fn or_begin<A: Condition<F>, F: Flow>(left: A, _flow: &F) -> LeftSide<A, A::Inside> {
    LeftSide { only: Only::new(left.value(), false), left, op: Bin::Or, inside: PhantomData }
}

impl<A, Inside: Flow> LeftSide<A, Inside> {
    /// The flow in which the right side is computed; `None` if the left side is known and decides the result.
    pub fn right(&self) -> Option<Inside> {
        if self.only.runs == Runs::Never {
            return None;
        }
        self.only.begin();
        Some(Inside::token())
    }

    /// Ends the operator; returns its result.
    #[track_caller]
    pub fn end<B, O: Condition<WholeWorkgroup>>(self, right: Option<B>) -> O
    where
        A: Logic<B, Output = O>,
    {
        let Some(right) = right else { return self.left.left() };
        if self.only.runs == Runs::Always {
            return self.left.combine(self.op, right);
        }
        let loc = Location::caller();
        let right = [A::right(right).value()];
        let closed = self.only.end();
        let left = self.left.left().value();
        A::of(match closed.flat(&right) {
            Some(right) => with(|c| {
                let ty = c.builder.kernel().ty(left);
                c.value(Inst::Bin(self.op, left, right[0]), ty, loc)
            }),
            None => closed.branch(&right, Some(left))[0],
        })
    }
}
