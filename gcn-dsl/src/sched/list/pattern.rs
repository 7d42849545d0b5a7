//! `interleave!`: an order of instruction classes that the user requests.
//!
//! The scheduler walks through the pattern's groups cyclically. A group takes the next ready instructions of its class.
//! While none is ready, instructions of classes outside the pattern are scheduled first. If the only ready instructions
//! are of other groups' classes, these are scheduled out of turn, since the instructions of the group's own class must
//! depend on them. A group whose class is exhausted is skipped.

use gcn_isa::program::SourceLoc;

use crate::ir::mark::{Group, Mark};
use crate::mir::{Function, MInst, Op};
use crate::sched::class::Classes;

/// The error that a window with an `interleave!` contains no instruction of a class in its pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}`interleave!` asks for `{class}`, but between the barriers, branches and marks around it there is none; write it beside the instructions that it orders", SourceLoc::lead(*at))]
pub struct MissingClass {
    /// The source location of the `interleave!`.
    pub at: Option<SourceLoc>,
    /// The name of the class.
    pub class: &'static str,
}

/// The position in a pattern during scheduling.
pub(super) struct Pattern {
    groups: Box<[Group]>,
    classes: Vec<Classes>,
    /// The union of all classes in the pattern.
    all: Classes,
    /// The index of the current group, and the number of instructions that it still takes.
    at: usize,
    left: u8,
    /// For each group, the number of instructions of its class that have not been scheduled.
    rest: Vec<usize>,
}

impl Pattern {
    /// The pattern of a window; `None` if the window contains no `interleave!`.
    ///
    /// # Errors
    /// [`MissingClass`] if the window lacks one of its classes.
    pub fn of(f: &Function, insts: &[MInst]) -> Result<Option<Pattern>, MissingClass> {
        let found = insts.iter().find_map(|i| match &i.op {
            Op::Mark(Mark::Interleave(groups)) => Some((groups.clone(), i.loc)),
            _ => None,
        });
        let Some((groups, at)) = found else { return Ok(None) };
        let classes: Vec<Classes> = insts.iter().map(|i| Classes::of_inst(f, i)).collect();
        let count = |g: &Group| classes.iter().filter(|c| !c.is_empty() && g.class.contains(**c)).count();
        let rest: Vec<usize> = groups.iter().map(count).collect();
        if let Some(missing) = rest.iter().position(|n| *n == 0) {
            return Err(MissingClass { at, class: groups[missing].class.name() });
        }
        let all = groups.iter().fold(Classes::empty(), |all, g| all | g.class);
        let left = groups[0].count;
        Ok(Some(Pattern { groups, classes, all, at: 0, left, rest }))
    }

    /// The priority of scheduling instruction `inst` next; a smaller number is preferred.
    pub fn rank(&self, inst: usize) -> u8 {
        let class = self.classes[inst];
        match () {
            () if class.is_empty() => 1,
            () if self.groups[self.at].class.contains(class) => 0,
            () if !self.all.contains(class) => 1,
            () => 2,
        }
    }

    /// Records that `inst` was scheduled.
    pub fn take(&mut self, inst: usize) {
        let class = self.classes[inst];
        if class.is_empty() {
            return;
        }
        for (rest, group) in self.rest.iter_mut().zip(&self.groups) {
            *rest -= usize::from(group.class.contains(class));
        }
        if self.groups[self.at].class.contains(class) {
            self.left -= 1;
        }
        for _ in 0..self.groups.len() {
            if self.left > 0 && self.rest[self.at] > 0 {
                break;
            }
            self.at = (self.at + 1) % self.groups.len();
            self.left = self.groups[self.at].count;
        }
    }
}
