//! Finds where control enters a program, and the possible targets of jumps whose destination is not visible.
//!
//! Assumptions about code that is not part of the program:
//!
//! - Control enters the program at its [entries](crate::program::Entry), and after bytes that could not be decoded.
//! - A call with a known destination leads there and nowhere else. Control reaches the instruction after the call
//!   through the returns of the called function, and a return leads only to calls of its own function.
//! - `s_setpc`, a branch with a numeric offset, and control that runs into undecoded bytes may go to any *unknown
//!   entry* of the program: a function's entry, the instruction after a call, a label that no branch names, or a block
//!   without predecessors.
//! - `s_swappc` with an unknown destination may go to any of these except the instructions after calls.
//! - A call of code outside the program returns to the next instruction. Callee and caller follow LLVM's convention
//!   (LLVM 22, measured): a function waits for all counters at its entry and before it returns, so nothing is
//!   outstanding after a call. A return is an `s_setpc` to `s[30:31]`, which by the same convention has the return
//!   address, or to a copy of that address ([`Jump::Back`](crate::program::Jump::Back)).
//!
//! Edges to all unknown entries, and edges from all returns of a function to all its calls, go through *hubs*, blocks
//! without instructions. Otherwise `m` exits and `n` entries would need `m · n` edges.

use super::entries::{roots, unknown_entries};
use super::flow::{Callee, End, Flow, Hub};
use super::{Cfg, returns};
use crate::program::Program;

impl Flow {
    /// The control flow with all edges that control may take.
    pub fn of(program: &Program) -> Flow {
        Flow::new(program, true)
    }

    /// The control flow with only the edges that are visible in the program. A jump with an unknown destination has no
    /// successors; instead, control enters from outside at the possible targets of such jumps.
    pub fn sure(program: &Program) -> Flow {
        Flow::new(program, false)
    }

    fn new(program: &Program, guesses: bool) -> Flow {
        let cfg = Cfg::build(program);
        let entries = unknown_entries(program, &cfg);
        let ends = (0..cfg.blocks.len()).map(|b| End::of(program, &cfg, b)).collect();
        let roots = roots(program, &cfg);
        let mut flow = Flow { cfg, roots, ends, hubs: Vec::new() };
        flow.cut_calls(program);
        let entries: Vec<usize> = (0..entries.len()).filter(|b| entries[*b]).collect();
        flow.connect_unknown(program, &entries, guesses);
        returns::connect(&mut flow, program, &entries, guesses);
        flow.set_preds();
        flow
    }

    /// Removes the fall-through edges of calls whose callee is in the program: control reaches the next instruction
    /// only through a return.
    fn cut_calls(&mut self, program: &Program) {
        for block in 0..self.real() {
            let after = self.after(program, block);
            let succs = &mut self.cfg.blocks[block].succs;
            match self.ends[block] {
                End::Call(Callee::Block(callee)) => *succs = vec![callee],
                End::Call(_) => *succs = after.into_iter().collect(),
                _ => {}
            }
        }
    }

    /// The block to which a call at the end of `block` returns; `None` if the block does not end with a call, or if undecoded bytes or the
    /// end of the program follow.
    fn after(&self, program: &Program, block: usize) -> Option<usize> {
        self.after_call(block).and_then(|_| returns::after(program, &self.cfg, block))
    }

    /// Handles jumps and calls with unknown destinations. If `guesses` is true, adds edges from them to the unknown entries. Otherwise adds
    /// no edges, but makes these entries roots, at which control may arrive from outside with any state. Does nothing if the program has no
    /// such jumps and calls.
    fn connect_unknown(&mut self, program: &Program, entries: &[usize], guesses: bool) {
        let blocks = |is: &dyn Fn(usize) -> bool| (0..self.real()).filter(|b| is(*b)).collect::<Vec<_>>();
        let calls = blocks(&|b| self.ends[b] == End::Call(Callee::Unknown));
        // A call directly before undecoded bytes returns into them, which is an unknown destination, too.
        let into_gap = |b: usize| self.after_call(b).is_some() && self.after(program, b).is_none();
        let jumps = blocks(&|b| self.ends[b] == End::Unknown || into_gap(b));
        let after_calls = (0..self.real()).filter_map(|b| self.after(program, b));
        let mut all: Vec<usize> = entries.iter().copied().chain(after_calls).collect();
        all.sort_unstable();
        all.dedup();
        match (calls.is_empty(), jumps.is_empty()) {
            (true, true) => {}
            _ if !guesses => self.add_roots(if jumps.is_empty() { entries } else { &all }),
            (no_calls, no_jumps) => {
                if !no_calls {
                    self.add_hub(program, Hub::Guess, &calls, entries.to_vec());
                }
                if !no_jumps {
                    self.add_hub(program, Hub::Guess, &jumps, all);
                }
            }
        }
    }

    fn set_preds(&mut self) {
        self.cfg.blocks.iter_mut().for_each(|b| b.preds.clear());
        for from in 0..self.cfg.blocks.len() {
            for i in 0..self.cfg.blocks[from].succs.len() {
                let to = self.cfg.blocks[from].succs[i];
                self.cfg.blocks[to].preds.push(from);
            }
        }
    }
}
