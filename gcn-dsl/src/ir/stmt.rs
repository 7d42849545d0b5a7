//! Statements and regions.

use smallvec::SmallVec;

use super::{Label, Value};

/// A statement of a region.
#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    /// The instruction that defines this value (or has an effect only).
    Inst(Value),
    /// Two-way branch.
    If {
        /// `bool`, uniform or varying.
        cond: Value,
        /// Taken where true.
        then: Region,
        /// Taken where false.
        els: Region,
    },
    /// Loop tested at the top.
    While {
        /// Computes the condition on each trip.
        head: Region,
        /// `bool`, uniform or varying, defined in `head` or outside.
        cond: Value,
        /// The body.
        body: Region,
    },
    /// Loop tested at the bottom on a uniform condition; runs at least once.
    DoWhile {
        /// The body.
        body: Region,
        /// Uniform `bool`, defined in `body` or outside.
        cond: Value,
    },
    /// Loop without a condition: only exits leave it.
    Loop {
        /// The body.
        body: Region,
    },
    /// Statements that an exit can leave.
    Block {
        /// The label, which exits name. No other block has it.
        label: Label,
        /// The statements.
        body: Region,
    },
    /// The lanes that reach this statement continue after the enclosing block with this label. It is the last statement
    /// of its region.
    Exit(Label),
}

impl Stmt {
    /// The regions of the statement, in the order in which they run first.
    pub fn regions(&self) -> SmallVec<[&Region; 2]> {
        match self {
            Stmt::Inst(_) | Stmt::Exit(_) => SmallVec::new(),
            Stmt::If { then, els, .. } => SmallVec::from_slice(&[then, els]),
            Stmt::While { head, body, .. } => SmallVec::from_slice(&[head, body]),
            Stmt::DoWhile { body, .. } | Stmt::Loop { body } | Stmt::Block { body, .. } => {
                SmallVec::from_slice(&[body])
            }
        }
    }

    /// Its regions may run several times.
    pub fn repeats(&self) -> bool {
        matches!(self, Stmt::While { .. } | Stmt::DoWhile { .. } | Stmt::Loop { .. })
    }

    /// The condition that the statement itself branches on.
    pub fn condition(&self) -> Option<Value> {
        match self {
            Stmt::If { cond, .. } | Stmt::While { cond, .. } | Stmt::DoWhile { cond, .. } => Some(*cond),
            Stmt::Inst(_) | Stmt::Loop { .. } | Stmt::Block { .. } | Stmt::Exit(_) => None,
        }
    }

    /// The regions of the statement, to change them.
    pub fn regions_mut(&mut self) -> SmallVec<[&mut Region; 2]> {
        match self {
            Stmt::Inst(_) | Stmt::Exit(_) => SmallVec::new(),
            Stmt::If { then, els, .. } => SmallVec::from([then, els]),
            Stmt::While { head, body, .. } => SmallVec::from([head, body]),
            Stmt::DoWhile { body, .. } | Stmt::Loop { body } | Stmt::Block { body, .. } => {
                std::iter::once(body).collect()
            }
        }
    }
}

/// Statements in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Region {
    /// The statements.
    pub stmts: Vec<Stmt>,
}

impl Region {
    /// Calls `f` for each instruction, those of nested regions included, in order.
    pub fn each_inst(&self, f: &mut dyn FnMut(Value)) {
        self.each_stmt(&mut |stmt| {
            if let Stmt::Inst(v) = stmt {
                f(*v);
            }
        });
    }

    /// Calls `f` for each statement, before those nested in it, in order.
    pub fn each_stmt(&self, f: &mut dyn FnMut(&Stmt)) {
        // Without recursion, since nesting may be arbitrarily deep.
        let mut open = vec![self.stmts.iter()];
        while let Some(rest) = open.last_mut() {
            let Some(stmt) = rest.next() else {
                open.pop();
                continue;
            };
            f(stmt);
            open.extend(stmt.regions().into_iter().rev().map(|region| region.stmts.iter()));
        }
    }
}
