//! Exits: the common form of `break`, `continue` and `return`.
//!
//! Only one construct can be left: [`Stmt::Block`], and only by [`Stmt::Exit`]. The lanes that execute the exit
//! continue after the block. `break` leaves a block around a loop, `continue` a block around the loop's body, and
//! `return` a block around a function's body. Values are passed in variables.
//!
//! An exit is *plain* if all lanes that run the block's body leave together, that is, if nothing between the exit and
//! its block can have separated them. Otherwise the exit is *varying*, and so is its block: lanes that have left are
//! inactive until the block's end. A pass that moves code, or that tracks what memory contains, must take into account
//! that the end of a block is reached from each of its exits.

use hashbrown::HashSet;

use super::{Kernel, Label, Place, Region, Stmt};

/// True if no lane continues after `stmt`.
pub fn never_falls_through(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Exit(_) | Stmt::Loop { .. } => true,
        Stmt::If { then, els, .. } => ends(then) && ends(els),
        Stmt::DoWhile { body, .. } => ends(body),
        Stmt::Block { label, body } => ends(body) && !leaves(body, *label),
        Stmt::Inst(_) | Stmt::While { .. } => false,
    }
}

/// True if no lane reaches the end of `region`.
pub fn ends(region: &Region) -> bool {
    region.stmts.last().is_some_and(never_falls_through)
}

/// True if `region` contains an exit from block `label`.
pub fn leaves(region: &Region, label: Label) -> bool {
    region.stmts.iter().any(|stmt| match stmt {
        Stmt::Exit(target) => *target == label,
        other => other.regions().into_iter().any(|r| leaves(r, label)),
    })
}

/// The blocks that have a varying exit.
pub fn varying_blocks(kernel: &Kernel) -> HashSet<Label> {
    let mut found = HashSet::new();
    // An exit that leaves a varying block is varying itself, so iterate to a fixpoint. Each round only adds enclosing
    // blocks, so there are at most as many rounds as nested blocks.
    loop {
        let before = found.len();
        Walk { kernel, found: &mut found, around: Vec::new() }.region(&kernel.body);
        if found.len() == before {
            return found;
        }
    }
}

/// An enclosing statement that affects exits inside it.
#[derive(Clone, Copy)]
enum Around {
    /// A statement with a varying condition.
    Varying,
    /// A block.
    Block(Label),
}

struct Walk<'a> {
    kernel: &'a Kernel,
    found: &'a mut HashSet<Label>,
    around: Vec<Around>,
}

impl Walk<'_> {
    fn region(&mut self, region: &Region) {
        for stmt in &region.stmts {
            if let Stmt::Exit(label) = stmt {
                self.exit(*label);
                continue;
            }
            let depth = self.around.len();
            match stmt {
                Stmt::If { cond, .. } | Stmt::While { cond, .. }
                    if self.kernel.ty(*cond).place == Place::Varying =>
                {
                    self.around.push(Around::Varying);
                }
                Stmt::Block { label, .. } => self.around.push(Around::Block(*label)),
                _ => {}
            }
            stmt.regions().into_iter().for_each(|r| self.region(r));
            self.around.truncate(depth);
        }
    }

    fn exit(&mut self, target: Label) {
        let between = self.around.iter().rev().take_while(|a| !matches!(a, Around::Block(l) if *l == target));
        let varying = |a: &Around| match a {
            Around::Varying => true,
            Around::Block(label) => self.found.contains(label),
        };
        if between.into_iter().any(varying) {
            self.found.insert(target);
        }
    }
}
