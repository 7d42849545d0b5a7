//! Determines where EXEC has its value from the kernel's start, so that every lane that takes part in the kernel is
//! active.
//!
//! Spill moves of vector registers, to AGPRs as well as to memory, move active lanes only. That is correct if the
//! instruction that reads the value obeys EXEC. An instruction that accesses lanes regardless of EXEC needs a reload of
//! all lanes. This forward dataflow analysis finds the points at which a reload moves all lanes.

use gcn_isa::table::{Access, Behaviours, ImplicitRegs};
use gcn_isa::{Class, Operand, reg};
use hashbrown::HashSet;

use super::super::input;
use super::super::live::{self, Liveness};
use super::super::worklist::Worklist;
use crate::mir::{Function, MInst, MOperand, Op, VReg};

/// For each block, whether EXEC has its initial value before each of its instructions and at its end.
pub(super) struct InitialExec(Vec<Vec<bool>>);

#[derive(Clone, PartialEq)]
struct State {
    initial: bool,
    /// The SGPR pairs that contain the initial EXEC.
    saved: HashSet<VReg>,
}

impl InitialExec {
    /// Tracks EXEC and its saved copies through the blocks.
    pub fn of(f: &Function, live: &Liveness) -> InitialExec {
        let succs = input::successors(f);
        let mut entry: Vec<Option<State>> = vec![None; f.blocks.len()];
        if let Some(first) = entry.first_mut() {
            *first = Some(State { initial: true, saved: HashSet::new() });
        }
        let mut work = Worklist::from_entry(f.blocks.len());
        let mut result: Vec<Vec<bool>> = f.blocks.iter().map(|b| vec![false; b.insts.len() + 1]).collect();
        while let Some(block) = work.next() {
            let Some(mut state) = entry.get(block).cloned().flatten() else { continue };
            for (i, inst) in f.blocks[block].insts.iter().enumerate() {
                result[block][i] = state.initial;
                state.step(inst, f.wave.mask_registers());
            }
            if let Some(end) = result[block].last_mut() {
                *end = state.initial;
            }
            for &s in &succs[block] {
                // Drop saved copies of EXEC that are dead at the block's entry, which keeps the sets small.
                let lives = |v: &&VReg| live::mask_of(&live.live_in[s], **v) != 0;
                let joined = match &entry[s] {
                    None => State {
                        initial: state.initial,
                        saved: state.saved.iter().filter(lives).copied().collect(),
                    },
                    Some(old) => State {
                        initial: old.initial && state.initial,
                        saved: old.saved.intersection(&state.saved).copied().collect(),
                    },
                };
                if entry[s].as_ref() != Some(&joined) {
                    entry[s] = Some(joined);
                    work.push(s);
                }
            }
        }
        InitialExec(result)
    }

    /// True if EXEC has its initial value before instruction `inst` of `block`.
    pub fn at(&self, block: usize, inst: usize) -> bool {
        self.0[block][inst]
    }
}

impl State {
    fn step(&mut self, inst: &MInst, mask: u8) {
        let initial = self.initial;
        let holds = |o: &MOperand, saved: &HashSet<VReg>| match o {
            MOperand::Fixed(Operand::Reg(r)) => r.index == reg::EXEC.index && initial,
            MOperand::Virt(s) => s.start == 0 && s.len == mask && saved.contains(&s.reg),
            MOperand::Fixed(_) => false,
        };
        let moved = match inst.op {
            Op::Copy => true,
            Op::Machine(desc, _) => desc.does(Behaviours::MOVES_SCALAR),
            _ => false,
        };
        let value = moved && inst.operands.get(1).is_some_and(|o| holds(o, &self.saved));
        // `s_…_saveexec` writes the old EXEC to its destination.
        let saves = matches!(inst.op, Op::Machine(desc, _) if desc.does(Behaviours::SAVES_EXEC));
        for (i, operand) in inst.operands.iter().enumerate() {
            if let MOperand::Virt(s) = operand
                && (!matches!(inst.op, Op::Machine(desc, _) if desc.operands[i].access == Access::Read)
                    && (i == 0 || !matches!(inst.op, Op::Copy)))
            {
                self.saved.remove(&s.reg);
                if i == 0 && s.start == 0 && s.len == mask && (value || saves && initial) {
                    self.saved.insert(s.reg);
                }
            }
        }
        if writes_exec(inst) {
            let to_exec = matches!(inst.operands.first(), Some(MOperand::Fixed(Operand::Reg(r))) if r.index == reg::EXEC.index);
            self.initial = to_exec && value;
        }
    }
}

/// True if `inst` writes EXEC.
pub(super) fn writes_exec(inst: &MInst) -> bool {
    let explicit = |(i, o): (usize, &MOperand)| {
        let written = match inst.op {
            Op::Machine(desc, _) => desc.operands[i].access != Access::Read,
            _ => i == 0,
        };
        written && matches!(o, MOperand::Fixed(Operand::Reg(r)) if r.overlaps(reg::EXEC))
    };
    let implicit =
        matches!(inst.op, Op::Machine(desc, _) if desc.implicit_writes.contains(ImplicitRegs::EXEC));
    implicit || inst.operands.iter().enumerate().any(explicit)
}

/// True if `inst` may read or write inactive lanes.
pub(super) fn ignores_exec(inst: &MInst) -> bool {
    let Op::Machine(desc, _) = inst.op else { return false };
    // `v_readfirstlane_b32` reads an active lane unless EXEC is zero.
    let one_lane = desc.class == Class::Readlane && !desc.does(Behaviours::READS_FIRST_ACTIVE);
    one_lane || matches!(desc.class, Class::Writelane | Class::Permlane) || desc.multiplies_matrices()
}
