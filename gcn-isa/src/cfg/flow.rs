//! The control-flow graph with every edge that control may take, and queries about it.

use super::{Block, Cfg, RETURN_ADDRESS, destination};
use crate::inst::Inst;
use crate::program::{EntryKind, Jump, Line, Program};
use crate::table::Behaviours;

/// A block at which control enters from outside the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Root {
    /// The block.
    pub block: usize,
    /// The kind of entry: by a dispatch or by a call.
    pub kind: EntryKind,
}

impl Root {
    /// Sorts the roots and removes duplicates.
    pub(super) fn sort(roots: &mut Vec<Root>) {
        roots.sort_by_key(|r| (r.block, r.kind == EntryKind::Function));
        roots.dedup();
    }
}

/// A control-flow graph with every edge that control may take.
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
/// // The second block is reached through a block without instructions.
/// assert_eq!(flow.cfg.blocks[0].succs, [2]);
/// assert_eq!(flow.cfg.blocks[2].succs, [1]);
/// assert!(flow.is_hub(2) && flow.is_guess(2));
/// // Counting only what is certain, no edge leads from the first to the second.
/// assert_eq!(Flow::sure(&program).cfg.blocks[0].succs, []);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Flow {
    /// The blocks of the program, followed by the hubs, which have no lines.
    pub cfg: Cfg,
    /// The blocks at which control enters from outside. The same block may be entered by dispatch and by calls.
    pub roots: Vec<Root>,
    /// How each block with instructions ends.
    pub(super) ends: Vec<End>,
    /// The blocks without instructions. They are numbered after the blocks with instructions, in the order of this list.
    pub(super) hubs: Vec<Hub>,
}

/// How a block ends, in the terms that matter for control flow between functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// The control-flow graph shows all successors.
    Shown,
    /// A call.
    Call(Callee),
    /// A return.
    Return,
    /// A jump to a function outside the program. That function returns to the caller of the jumping function.
    TailCall,
    /// A jump with an unknown destination.
    Unknown,
}

/// The function to which a call leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Callee {
    Block(usize),
    Outside,
    Unknown,
}

/// The purpose of a hub, a block without instructions through which many edges pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hub {
    /// Connects the returns of a function with the instructions after the calls of the function.
    Returns,
    /// Connects jumps with unknown destinations with the possible targets of these jumps.
    Guess,
}

impl Flow {
    /// The number of blocks with instructions.
    pub(super) fn real(&self) -> usize {
        self.ends.len()
    }

    fn hub(&self, block: usize) -> Option<Hub> {
        self.hubs.get(block.checked_sub(self.real())?).copied()
    }

    fn end(&self, block: usize) -> Option<End> {
        self.ends.get(block).copied()
    }

    /// True for a block without instructions: one between unknown jumps and their possible targets, or one between a
    /// function's returns and its calls.
    pub fn is_hub(&self, block: usize) -> bool {
        self.hub(block).is_some()
    }

    /// True for a hub whose edges are only possible, because the program does not show the destinations of the jumps.
    pub fn is_guess(&self, block: usize) -> bool {
        self.hub(block) == Some(Hub::Guess)
    }

    /// True if some block is a hub of unknown jumps.
    pub fn has_guesses(&self) -> bool {
        self.hubs.contains(&Hub::Guess)
    }

    /// True if the edge represents the return from a called function that is outside the program.
    pub fn comes_back(&self, from: usize, to: usize) -> bool {
        match self.end(from) {
            Some(End::Call(Callee::Outside | Callee::Unknown)) => to == from + 1 && !self.is_hub(to),
            Some(End::TailCall) => true,
            _ => false,
        }
    }

    /// True if the edge leads from a call into the called function, and the call's destination is known.
    pub fn enters(&self, from: usize, to: usize) -> bool {
        self.end(from) == Some(End::Call(Callee::Block(to)))
    }

    /// The block that contains the call, if the edge leads from a function's returns to the instruction after that call; otherwise `None`.
    pub fn ends_call(&self, from: usize, to: usize) -> Option<usize> {
        self.hub(from).filter(|h| *h == Hub::Returns).and_then(|_| to.checked_sub(1))
    }

    /// The block after the call, if the block ends with a call; otherwise `None`.
    pub fn after_call(&self, block: usize) -> Option<usize> {
        let after = block + 1;
        (matches!(self.end(block), Some(End::Call(_))) && after < self.real()).then_some(after)
    }

    /// The lines at which control leaves to an unknown destination.
    pub fn unknown_exits(&self) -> impl Iterator<Item = usize> {
        let unknown = |b: &usize| matches!(self.ends[*b], End::Unknown | End::Call(Callee::Unknown));
        (0..self.real()).filter(unknown).map(|b| self.cfg.blocks[b].end - 1)
    }

    /// For each block, whether control may reach it.
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

    /// Makes these blocks roots.
    pub(super) fn add_roots(&mut self, blocks: &[usize]) {
        let entered: Vec<bool> = self.entered();
        let new = blocks.iter().filter(|b| !entered[**b]);
        self.roots.extend(new.map(|&block| Root { block, kind: EntryKind::Kernel }));
        Root::sort(&mut self.roots);
    }

    /// For each block, whether it is a root.
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
}

impl End {
    /// Determines how a block of the program ends.
    pub fn of(program: &Program, cfg: &Cfg, block: usize) -> End {
        let line = &program.lines[cfg.blocks[block].end - 1];
        // A call that never returns is a jump.
        let calls = is_call(&line.inst) && !line.never_returns;
        let to = destination(line).and_then(|l| program.labels.get(l.0 as usize)?.at);
        let to = to.filter(|at| *at < program.lines.len()).map(|at| cfg.block_of(at));
        match (to, line.jump) {
            (Some(to), _) if calls => End::Call(Callee::Block(to)),
            (_, Some(Jump::Outside)) if calls => End::Call(Callee::Outside),
            _ if calls => End::Call(Callee::Unknown),
            (Some(_), _) => End::Shown,
            (_, Some(Jump::Outside)) => End::TailCall,
            (_, Some(Jump::Back { .. })) => End::Return,
            _ if is_return(line) => End::Return,
            _ if cfg.blocks[block].unknown_exit => End::Unknown,
            _ => End::Shown,
        }
    }
}

/// True for a call, after which control returns to the next instruction.
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
