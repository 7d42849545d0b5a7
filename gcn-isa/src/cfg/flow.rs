//! Where control comes in, and where it may go when the program does not say.
//!
//! What is assumed about what cannot be seen:
//!
//! - The program is entered at its [entries](crate::program::Entry), and behind bytes that could not be read.
//! - `s_setpc`, a branch by number and control that runs into unread bytes may go to any *unknown entry* of the program: a
//!   function's entry, the instruction behind a call, a label that no branch names, a block that nothing leads to.
//! - `s_swappc` may go to any of these but the instructions behind calls.
//! - A call comes back to the next instruction. Callee and caller keep LLVM's convention (LLVM 22, measured): a function waits
//!   for every counter when it is entered and again before it returns, so that nothing is outstanding behind a call. A
//!   return is an `s_setpc` to `s[30:31]`, which holds the return address by the same convention.
//!
//! Edges to all unknown entries go through one or two blocks without instructions, so that there are no more of them than
//! exits and entries.

use super::{Block, Cfg};
use crate::inst::Inst;
use crate::operand::Operand;
use crate::program::{EntryKind, Program};
use crate::reg::Reg;

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
/// assert!(flow.is_hub(2));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Flow {
    /// The blocks of the program, then those without instructions, which stand behind the last line.
    pub cfg: Cfg,
    /// Where control comes in, by block; a block may be entered in both ways.
    pub roots: Vec<Root>,
    /// How many blocks have instructions.
    real: usize,
    /// For each block whether it ends with a call.
    calls: Vec<bool>,
}

impl Flow {
    /// Analyses `program`.
    pub fn of(program: &Program) -> Flow {
        let cfg = Cfg::build(program);
        let real = cfg.blocks.len();
        let last = |b: &Block| &program.lines[b.end - 1].inst;
        let calls: Vec<bool> = cfg.blocks.iter().map(|b| is_call(last(b))).collect();
        let roots = roots(program, &cfg);
        let mut flow = Flow { cfg, roots, real, calls };
        flow.connect(program);
        flow
    }

    /// True for a block without instructions, through which control goes to where the program does not say.
    pub fn is_hub(&self, block: usize) -> bool {
        block >= self.real
    }

    /// True if control comes along the edge from a called function.
    pub fn comes_back(&self, from: usize, to: usize) -> bool {
        self.calls.get(from).copied().unwrap_or(false) && to == from + 1 && to < self.real
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

    /// Leads unknown exits to unknown entries.
    fn connect(&mut self, program: &Program) {
        let exits = (0..self.real).filter(|b| self.cfg.blocks[*b].unknown_exit);
        let (calls, jumps): (Vec<usize>, Vec<usize>) = exits.partition(|b| self.calls[*b]);
        if calls.is_empty() && jumps.is_empty() {
            return;
        }
        let entries = self.unknown_entries(program);
        let behind_calls: Vec<usize> =
            (1..self.real).filter(|b| self.calls[b - 1] && !entries.contains_block(*b)).collect();
        if !calls.is_empty() {
            self.add_hub(program, &calls, entries.blocks.clone());
        }
        if !jumps.is_empty() {
            let mut all = entries.blocks;
            all.extend(behind_calls);
            all.sort_unstable();
            self.add_hub(program, &jumps, all);
        }
    }

    fn add_hub(&mut self, program: &Program, exits: &[usize], entries: Vec<usize>) {
        let hub = self.cfg.blocks.len();
        let end = program.lines.len();
        for &exit in exits {
            self.cfg.blocks[exit].succs.push(hub);
        }
        for &entry in &entries {
            self.cfg.blocks[entry].preds.push(hub);
        }
        let preds = exits.to_vec();
        self.cfg.blocks.push(Block { start: end, end, succs: entries, preds, unknown_exit: false });
    }

    /// Functions, labels that no branch names, blocks that nothing leads to; but nothing that only the dispatcher enters.
    fn unknown_entries(&self, program: &Program) -> Entries {
        let mut found = vec![false; self.real];
        for (block, found) in self.cfg.blocks.iter().zip(&mut found) {
            *found = block.preds.is_empty();
        }
        let mut named = vec![false; program.labels.len()];
        for operand in program.lines.iter().flat_map(|l| &l.inst.operands) {
            if let Operand::Label(label) = operand
                && let Some(named) = named.get_mut(label.0 as usize)
            {
                *named = true;
            }
        }
        for (label, _) in program.labels.iter().zip(&named).filter(|(_, named)| !**named) {
            if let Some(at) = label.at.filter(|at| *at < program.lines.len()) {
                found[self.cfg.block_of(at)] = true;
            }
        }
        let entry = |kind| program.entries.iter().filter(move |e| e.kind == kind).map(|e| e.at);
        let start = program.entries.is_empty().then_some(0);
        for (at, is_entry) in start
            .into_iter()
            .chain(entry(EntryKind::Kernel))
            .map(|at| (at, false))
            .chain(program.gaps.iter().copied().chain(entry(EntryKind::Function)).map(|at| (at, true)))
            .filter(|(at, _)| *at < program.lines.len())
        {
            found[self.cfg.block_of(at)] = is_entry;
        }
        let blocks = (0..self.real).filter(|b| found[*b]).collect();
        Entries { found, blocks }
    }
}

struct Entries {
    found: Vec<bool>,
    blocks: Vec<usize>,
}

impl Entries {
    fn contains_block(&self, block: usize) -> bool {
        self.found[block]
    }
}

fn roots(program: &Program, cfg: &Cfg) -> Vec<Root> {
    let lines = program.lines.len();
    let mut roots: Vec<Root> = program
        .entries
        .iter()
        .filter(|e| e.at < lines)
        .map(|e| Root { block: cfg.block_of(e.at), kind: e.kind })
        .collect();
    if roots.is_empty() && lines > 0 {
        roots.push(Root { block: 0, kind: EntryKind::Kernel });
    }
    let gaps = program.gaps.iter().filter(|g| **g < lines);
    roots.extend(gaps.map(|gap| Root { block: cfg.block_of(*gap), kind: EntryKind::Kernel }));
    roots.sort_by_key(|r| (r.block, r.kind == EntryKind::Function));
    roots.dedup();
    roots
}

/// True for an instruction behind which control comes back from elsewhere.
pub fn is_call(inst: &Inst) -> bool {
    matches!(inst.desc.mnemonic, "s_swappc_b64" | "s_call_b64")
}

/// True for a return by LLVM's calling convention.
pub fn is_return(inst: &Inst) -> bool {
    const RETURN_ADDRESS: Reg = Reg::s(30, 2);
    inst.desc.mnemonic == "s_setpc_b64" && inst.operands.first().and_then(|o| o.reg()) == Some(RETURN_ADDRESS)
}
