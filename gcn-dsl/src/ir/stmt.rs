//! Statements and regions.

use smallvec::SmallVec;

use super::{Label, Value};

/// A statement of a region.
#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    /// An instruction: the one that defines this value, or one without a result that has only an effect.
    Inst(Value),
    /// A two-way branch.
    If {
        /// The condition, a uniform or varying `bool`.
        cond: Value,
        /// Executed by the lanes in which the condition is true.
        then: Region,
        /// Executed by the lanes in which the condition is false.
        els: Region,
    },
    /// A loop tested at the top.
    While {
        /// Computes the condition in each iteration.
        head: Region,
        /// The condition, a uniform or varying `bool` defined in `head` or outside.
        cond: Value,
        /// The body.
        body: Region,
    },
    /// A loop tested at the bottom on a uniform condition; its body runs at least once.
    DoWhile {
        /// The body.
        body: Region,
        /// The condition, a uniform `bool` defined in `body` or outside.
        cond: Value,
    },
    /// A loop without a condition; only exits leave it.
    Loop {
        /// The body.
        body: Region,
    },
    /// Statements that an exit can leave.
    Block {
        /// The label by which exits refer to the block. It is unique in the kernel.
        label: Label,
        /// The statements.
        body: Region,
    },
    /// The lanes that reach this statement continue after the enclosing block with this label. An exit is the last
    /// statement of its region.
    Exit(Label),
}

impl Stmt {
    /// The regions of the statement, in execution order.
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

    /// True if the regions may run several times.
    pub fn repeats(&self) -> bool {
        matches!(self, Stmt::While { .. } | Stmt::DoWhile { .. } | Stmt::Loop { .. })
    }

    /// The condition of the statement itself; `None` if it has none.
    pub fn condition(&self) -> Option<Value> {
        match self {
            Stmt::If { cond, .. } | Stmt::While { cond, .. } | Stmt::DoWhile { cond, .. } => Some(*cond),
            Stmt::Inst(_) | Stmt::Loop { .. } | Stmt::Block { .. } | Stmt::Exit(_) => None,
        }
    }

    /// The regions of the statement, for modification.
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
    /// Calls `f` for each instruction in order, including those of nested regions.
    pub fn each_inst(&self, f: &mut dyn FnMut(Value)) {
        self.each_stmt(&mut |stmt| {
            if let Stmt::Inst(v) = stmt {
                f(*v);
            }
        });
    }

    /// Calls `f` for each statement in order; a statement comes before the statements nested in it.
    pub fn each_stmt(&self, f: &mut dyn FnMut(&Stmt)) {
        // Do not use recursion, since nesting may be arbitrarily deep.
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
