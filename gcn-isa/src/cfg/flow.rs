//! Where control comes in, and where it may go when the program does not say.
//!
//! What is assumed about what cannot be seen:
//!
//! - The program is entered at its [entries](crate::program::Entry), and after bytes that could not be read.
//! - A call whose destination is known leads there and nowhere else; control comes to the instruction after it by the returns of
//!   that function, and a return leads to the calls of its own function only.
//! - `s_setpc`, a branch by number and control that runs into unread bytes may go to any *unknown entry* of the program: a
//!   function's entry, the instruction after a call, a label that no branch names, a block that nothing leads to.
//! - `s_swappc` whose destination is not known may go to any of these but the instructions after calls.
//! - A call of code that the program does not show comes back to the next instruction. Callee and caller keep LLVM's convention
//!   (LLVM 22, measured): a function waits for every counter when it is entered and again before it returns, so that nothing is
//!   outstanding after a call. A return is an `s_setpc` to `s[30:31]`, which holds the return address by the same convention, or
//!   to a copy of that address ([`Jump::Back`]).
//!
//! Edges to all unknown entries, and edges from all returns of a function to all of its calls, go through blocks without
//! instructions, so that there are no more edges than exits and entries.

use super::entries::{roots, tidy, unknown_entries};
use super::{Block, Cfg, RETURN_ADDRESS, destination, returns};
use crate::inst::Inst;
use crate::program::{EntryKind, Jump, Line, Program};
use crate::table::Behaviours;

/// A block at which control comes in from outside the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Root {
    /// The block.
    pub block: usize,
    /// Who comes.
    pub kind: EntryKind,
}

/// A control-flow graph with every way that control may take.
///
/// ```
/// use gcn_isa::cfg::Flow;
/// use gcn_isa::{Inst, Operand, Program, Reg, Target, table};
///
/// let target = Target::GFX942;
/// let find = |name| table::find(target, name).next().unwrap();
/// let mut program = Program::new(target, "jump");
/// program.push(Inst::new(find("s_setpc_b64"), [Reg::s(4, 2).into()]));
/// program.push(Inst::new(find("s_endpgm"), []));
/// let flow = Flow::of(&program);
/// // The second block is reached by way of a block without instructions.
/// assert_eq!(flow.cfg.blocks[0].succs, [2]);
/// assert_eq!(flow.cfg.blocks[2].succs, [1]);
/// assert!(flow.is_hub(2) && flow.is_guess(2));
/// // Of what is sure, nothing leads from the one to the other.
/// assert_eq!(Flow::sure(&program).cfg.blocks[0].succs, []);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Flow {
    /// The blocks of the program, then those without instructions, which stand after the last line.
    pub cfg: Cfg,
    /// Where control comes in, by block; a block may be entered in both ways.
    pub roots: Vec<Root>,
    /// How the blocks with instructions end.
    pub(super) ends: Vec<End>,
    /// The blocks without instructions.
    hubs: Vec<Hub>,
}

/// How a block ends, as far as it matters between functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// Every way is shown in the graph.
    Shown,
    /// With a call.
    Call(Callee),
    /// With a return.
    Return,
    /// With a jump to a function outside, which returns in its place.
    TailCall,
    /// Control goes to an unknown place.
    Unknown,
}

/// Who is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Callee {
    Block(usize),
    Outside,
    Unknown,
}

/// A block without instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hub {
    /// From the returns of a function to what follows its calls.
    Returns,
    /// From unknown exits to where control only may come.
    Guess,
}

impl Flow {
    /// Every way that control may take.
    pub fn of(program: &Program) -> Flow {
        Flow::new(program, true)
    }

    /// The ways that the program shows. From a jump to an unknown place none leads on; where such a jump may lead, control comes
    /// in from outside.
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

    /// The blocks that have instructions.
    fn real(&self) -> usize {
        self.ends.len()
    }

    fn hub(&self, block: usize) -> Option<Hub> {
        self.hubs.get(block.checked_sub(self.real())?).copied()
    }

    fn end(&self, block: usize) -> Option<End> {
        self.ends.get(block).copied()
    }

    /// True for a block without instructions: between unknown places, or from the returns of a function to its calls.
    pub fn is_hub(&self, block: usize) -> bool {
        self.hub(block).is_some()
    }

    /// True for a block without instructions by which control only may go, because the program does not say where it goes.
    pub fn is_guess(&self, block: usize) -> bool {
        self.hub(block) == Some(Hub::Guess)
    }

    /// True if control comes along the edge from code that the program does not show, at the end of a call.
    pub fn comes_back(&self, from: usize, to: usize) -> bool {
        match self.end(from) {
            Some(End::Call(Callee::Outside | Callee::Unknown)) => to == from + 1 && !self.is_hub(to),
            Some(End::TailCall) => true,
            _ => false,
        }
    }

    /// True if the edge leads from a call into the function that it is known to call.
    pub fn enters(&self, from: usize, to: usize) -> bool {
        self.end(from) == Some(End::Call(Callee::Block(to)))
    }

    /// The block of the call that ends along this edge, if it comes from a return of the function that is called there.
    pub fn ends_call(&self, from: usize, to: usize) -> Option<usize> {
        self.hub(from).filter(|h| *h == Hub::Returns).and_then(|_| to.checked_sub(1))
    }

    /// The block that follows a call, if the block ends with one.
    pub fn after_call(&self, block: usize) -> Option<usize> {
        let after = block + 1;
        (matches!(self.end(block), Some(End::Call(_))) && after < self.real()).then_some(after)
    }

    /// The lines at which control leaves to an unknown place.
    pub fn unknown_exits(&self) -> impl Iterator<Item = usize> {
        let unknown = |b: &usize| matches!(self.ends[*b], End::Unknown | End::Call(Callee::Unknown));
        (0..self.real()).filter(unknown).map(|b| self.cfg.blocks[b].end - 1)
    }

    /// For each block whether control may come there.
    pub fn reachable(&self) -> Vec<bool> {
        let mut reached = vec![false; self.cfg.blocks.len()];
        let mut open: Vec<usize> = self.roots.iter().map(|r| r.block).collect();
        while let Some(block) = open.pop() {
            if !std::mem::replace(&mut reached[block], true) {
                open.extend(&self.cfg.blocks[block].succs);
            }
        }
        reached
    }

    /// From a call in the program control comes to the instruction after it by a return only.
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

    /// The block to which a call at the end of `block` comes back.
    fn after(&self, program: &Program, block: usize) -> Option<usize> {
        self.after_call(block).and_then(|_| returns::after(program, &self.cfg, block))
    }

    /// Leads jumps and calls to unknown places to the unknown entries, or lets control come in there.
    fn connect_unknown(&mut self, program: &Program, entries: &[usize], guesses: bool) {
        let blocks = |is: &dyn Fn(usize) -> bool| (0..self.real()).filter(|b| is(*b)).collect::<Vec<_>>();
        let calls = blocks(&|b| self.ends[b] == End::Call(Callee::Unknown));
        let into_gap = |b: usize| self.after_call(b).is_some() && self.after(program, b).is_none();
        let jumps = blocks(&|b| self.ends[b] == End::Unknown || into_gap(b));
        let behind_calls = (0..self.real()).filter_map(|b| self.after(program, b));
        let mut all: Vec<usize> = entries.iter().copied().chain(behind_calls).collect();
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

    /// Lets control come in at these blocks.
    pub(super) fn add_roots(&mut self, blocks: &[usize]) {
        let entered: Vec<bool> = self.entered();
        let new = blocks.iter().filter(|b| !entered[**b]);
        self.roots.extend(new.map(|&block| Root { block, kind: EntryKind::Kernel }));
        tidy(&mut self.roots);
    }

    /// For each block whether control comes in there.
    fn entered(&self) -> Vec<bool> {
        let mut entered = vec![false; self.cfg.blocks.len()];
        self.roots.iter().for_each(|r| entered[r.block] = true);
        entered
    }

    pub(super) fn add_hub(&mut self, program: &Program, hub: Hub, exits: &[usize], entries: Vec<usize>) {
        let block = self.cfg.blocks.len();
        let end = program.lines.len();
        for &exit in exits {
            self.cfg.blocks[exit].succs.push(block);
        }
        self.cfg.blocks.push(Block {
            start: end,
            end,
            succs: entries,
            preds: Vec::new(),
            unknown_exit: false,
        });
        self.hubs.push(hub);
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

impl End {
    /// How a block of the program ends.
    pub fn of(program: &Program, cfg: &Cfg, block: usize) -> End {
        let line = &program.lines[cfg.blocks[block].end - 1];
        let to = destination(line).and_then(|l| program.labels.get(l.0 as usize)?.at);
        let to = to.filter(|at| *at < program.lines.len()).map(|at| cfg.block_of(at));
        match (to, line.jump) {
            (Some(to), _) if is_call(&line.inst) => End::Call(Callee::Block(to)),
            (_, Some(Jump::Outside)) if is_call(&line.inst) => End::Call(Callee::Outside),
            _ if is_call(&line.inst) => End::Call(Callee::Unknown),
            (Some(_), _) => End::Shown,
            (_, Some(Jump::Outside)) => End::TailCall,
            (_, Some(Jump::Back { .. })) => End::Return,
            _ if is_return(line) => End::Return,
            _ if cfg.blocks[block].unknown_exit => End::Unknown,
            _ => End::Shown,
        }
    }
}

/// True for an instruction after which control comes back from elsewhere.
pub fn is_call(inst: &Inst) -> bool {
    inst.desc.does(Behaviours::CALLS)
}

/// True for a return by LLVM's calling convention.
pub fn is_return(line: &Line) -> bool {
    let by_name = || line.inst.operands.first().and_then(|o| o.reg()) == Some(RETURN_ADDRESS);
    line.inst.desc.does(Behaviours::LEAVES | Behaviours::TO_REGISTER)
        && match line.jump {
            None => by_name(),
            Some(jump) => jump == Jump::Back { by_convention: true },
        }
}
