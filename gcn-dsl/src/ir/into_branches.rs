//! Moves scalar arithmetic into a side of a branch if only that side uses the results.
//!
//! A wave that skips the side then also skips the arithmetic. Only instructions of the scalar unit move: a vector
//! instruction computes for the lanes that are active at its position, and inside a branch fewer lanes may be active.

use super::{Bin, Inst, Kernel, Place, Region, Stmt, Value};
use crate::scalar::Elem;

/// Moves scalar arithmetic of `kernel` into the branches that need it.
pub fn run(kernel: &mut Kernel) {
    kernel.rewrite(|kernel, body| {
        let mut tree = Tree { regions: Vec::new(), needed: vec![None; kernel.values.len()] };
        let mut order = Vec::new();
        tree.read(body, Parent::None, &mut order);
        let mut moved = vec![Vec::new(); tree.regions.len()];
        // Go backwards, so that an operand can follow readers that have already moved.
        for (v, at) in order.into_iter().rev() {
            let target = tree.needed[v.0 as usize].map_or(at, |needed| tree.side(at, needed));
            if target != at && is_scalar_word(kernel, v) {
                moved[target as usize].push(v);
                tree.note(kernel, v, target);
            } else {
                tree.note(kernel, v, at);
            }
        }
        if moved.iter().any(|values| !values.is_empty()) {
            let mut gone = vec![false; kernel.values.len()];
            moved.iter().flatten().for_each(|v| gone[v.0 as usize] = true);
            place(body, &mut 0, &moved, &gone);
        }
    });
}

/// True for arithmetic that takes one instruction of the scalar unit.
fn is_scalar_word(kernel: &Kernel, v: Value) -> bool {
    let word = |v: Value| {
        let ty = kernel.ty(v);
        ty.place == Place::Uniform && ty.count == 1 && matches!(ty.elem, Elem::I32 | Elem::U32)
    };
    word(v)
        && match kernel.def(v).inst {
            Inst::Bin(op, ..) => !matches!(op, Bin::Div | Bin::Rem),
            Inst::Bitcast(of) => word(of),
            _ => false,
        }
}

/// The parent of a region, and the region's role in it.
#[derive(Clone, Copy)]
enum Parent {
    None,
    /// The region is a side of a branch.
    Side(u32),
    /// The region is the body of a block, which runs once each time the block does.
    Block(u32),
    /// The region belongs to a loop, so it may run several times.
    Loop(u32),
}

impl Parent {
    fn region(self) -> Option<u32> {
        match self {
            Parent::None => None,
            Parent::Side(region) | Parent::Block(region) | Parent::Loop(region) => Some(region),
        }
    }
}

/// The tree of regions, numbered in program order; and for each value the innermost region that contains all its
/// readers.
struct Tree {
    /// The parent and the depth of each region.
    regions: Vec<(Parent, u32)>,
    needed: Vec<Option<u32>>,
}

impl Tree {
    /// Numbers the regions, records where operands and conditions are read, and lists the instructions with their
    /// regions.
    fn read(&mut self, region: &Region, parent: Parent, order: &mut Vec<(Value, u32)>) {
        let number = self.regions.len() as u32;
        let depth = parent.region().map_or(0, |around| self.regions[around as usize].1 + 1);
        self.regions.push((parent, depth));
        for stmt in &region.stmts {
            if let Stmt::Inst(v) = stmt {
                order.push((*v, number));
            }
            let first_inner = self.regions.len() as u32;
            for inner in stmt.regions() {
                let parent = match stmt {
                    Stmt::If { .. } => Parent::Side(number),
                    _ if stmt.repeats() => Parent::Loop(number),
                    _ => Parent::Block(number),
                };
                self.read(inner, parent, order);
            }
            if let Some(condition) = stmt.condition() {
                // A loop's condition is read inside the loop.
                self.read_in(condition, if stmt.repeats() { first_inner } else { number });
            }
        }
    }

    /// Records that the instruction `v` in `region` reads its operands.
    fn note(&mut self, kernel: &Kernel, v: Value, region: u32) {
        kernel.def(v).inst.operands(|operand| self.read_in(operand, region));
    }

    fn read_in(&mut self, v: Value, region: u32) {
        let before = self.needed[v.0 as usize];
        self.needed[v.0 as usize] = Some(before.map_or(region, |before| self.common(before, region)));
    }

    /// The innermost region that contains both regions.
    fn common(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            let deeper =
                if self.regions[a as usize].1 >= self.regions[b as usize].1 { &mut a } else { &mut b };
            *deeper = self.regions[*deeper as usize].0.region().unwrap_or(0);
        }
        a
    }

    /// The innermost side of a branch that contains region `inner` and runs at most once each time region `outer` runs;
    /// `outer` if there is none.
    fn side(&self, outer: u32, inner: u32) -> u32 {
        let (mut target, mut at) = (None, inner);
        while at != outer {
            match self.regions[at as usize].0 {
                Parent::Side(_) => target = target.or(Some(at)),
                Parent::Block(_) => {}
                Parent::Loop(_) => target = None,
                Parent::None => return outer,
            }
            at = self.regions[at as usize].0.region().unwrap_or(outer);
        }
        target.unwrap_or(outer)
    }
}

/// Inserts the moved instructions at the start of their new region, in program order.
fn place(region: &mut Region, next: &mut usize, moved: &[Vec<Value>], gone: &[bool]) {
    let here = &moved[*next];
    *next += 1;
    region.rebuild(|mut stmt, out| {
        stmt.regions_mut().into_iter().for_each(|inner| place(inner, next, moved, gone));
        if !matches!(stmt, Stmt::Inst(v) if gone[v.0 as usize]) {
            out.push(stmt);
        }
    });
    region.stmts.splice(0..0, here.iter().rev().map(|v| Stmt::Inst(*v)));
}
