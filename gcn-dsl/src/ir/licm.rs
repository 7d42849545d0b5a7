//! Loop-invariant code motion: integer arithmetic (mostly address arithmetic) whose result is the same in each
//! iteration is moved out of the loop.
//!
//! Arithmetic has no effect and cannot fault, so it may be executed even if the loop runs no iteration. Scalar loads
//! from read-only slices move, too: the hardware checks their bounds wherever they run, and nothing writes the memory.
//! Comparisons of lanes move as well: in the loop, at most the lanes are active that are active before it. From branches
//! of the loop only scalar arithmetic moves, which takes no vector registers.

use super::{Inst, Kernel, Place, Region, Stmt, Un, Value, gvn};
use crate::scalar::Elem;

/// Moves invariant instructions out of the loops of `kernel`.
pub fn run(kernel: &mut Kernel) {
    let mut place = vec![0; kernel.values.len()];
    kernel.rewrite(|kernel, body| Hoister { kernel, place: &mut place, next: 0 }.region(body));
}

struct Hoister<'k> {
    kernel: &'k Kernel,
    /// For each value, the number of its statement in program order; for a value that was hoisted, the number of the
    /// loop.
    place: &'k mut [u32],
    next: u32,
}

impl Hoister<'_> {
    /// Visits inner loops first, so that an instruction can leave several loops.
    fn region(&mut self, region: &mut Region) {
        region.rebuild(|mut stmt, out| {
            self.next += 1;
            let number = self.next;
            if let Stmt::Inst(v) = stmt {
                self.place[v.0 as usize] = number;
            }
            for inner in stmt.regions_mut() {
                self.region(inner);
            }
            if stmt.repeats() {
                for inner in stmt.regions_mut() {
                    self.hoist(number, inner, moves_from_body, out);
                }
            }
            out.push(stmt);
        });
    }

    /// Moves the instructions that `moves` selects, and that depend on nothing inside the loop, from its body to `out`.
    fn hoist(&mut self, loop_: u32, region: &mut Region, moves: Moves, out: &mut Vec<Stmt>) {
        region.rebuild(|mut stmt, rest| {
            match &mut stmt {
                Stmt::Inst(v) if moves(self.kernel, *v) && !self.depends(loop_, *v) => {
                    self.place[v.0 as usize] = loop_;
                    return out.push(stmt);
                }
                Stmt::Block { body, .. } => self.hoist(loop_, body, moves, out),
                // A branch does not run in every iteration.
                Stmt::If { then, els, .. } => {
                    self.hoist(loop_, then, moves_from_branch, out);
                    self.hoist(loop_, els, moves_from_branch, out);
                }
                _ => {}
            }
            rest.push(stmt);
        });
    }

    /// True if an operand of `v` is defined inside the loop. Every value that is defined before the loop has a smaller
    /// number than the loop.
    fn depends(&self, loop_: u32, v: Value) -> bool {
        let mut depends = false;
        self.kernel.def(v).inst.operands(|operand| depends |= self.place[operand.0 as usize] > loop_);
        depends
    }
}

/// True for an instruction that moves if its operands are invariant.
type Moves = fn(&Kernel, Value) -> bool;

fn moves_from_branch(kernel: &Kernel, v: Value) -> bool {
    matches!(kernel.def(v).inst, Inst::Bin(..))
        && kernel.ty(v).place == Place::Uniform
        && gvn::is_cheap(kernel, v)
}

fn moves_from_body(kernel: &Kernel, v: Value) -> bool {
    match &kernel.def(v).inst {
        Inst::LoadUniform { resource, .. } => kernel.read_only.contains(resource),
        Inst::Un(op, _) => *op == Un::Reciprocal,
        Inst::Cmp(_, x, _) => {
            let (result, compared) = (kernel.ty(v), kernel.ty(*x));
            result.place == Place::Varying && compared.count == 1 && !compared.elem.is_float()
        }
        Inst::Constants => kernel.pipelines.is_empty(),
        // A pair of dwords for packed instructions: inside the loop the pair would be composed again in each iteration,
        // while its parts stay live anyway.
        Inst::Extract { .. } | Inst::Concat(_) => {
            let ty = kernel.ty(v);
            let two = ty.elem == Elem::F32 && ty.count == 2;
            // A uniform value of several dwords, such as the resource of a slice.
            (two || ty.place == Place::Uniform) && kernel.pipelines.is_empty()
        }
        _ => gvn::is_cheap(kernel, v),
    }
}
