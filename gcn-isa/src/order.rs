//! Determines which instructions may be reordered: dependencies through registers and memory (treated as a single location), and
//! instructions across which no instruction may be moved.

use crate::counters::events;
use crate::indexing::Indexing;
use crate::reg::{self, Reg, RegUnit};
use crate::table::{Class, ImplicitRegs, InstDesc};
use crate::{Inst, Operand, Program};

/// The bit of MODE in a [`Set`]. The first bits are those of the registers, which include SCC; MODE and memory follow.
const MODE: usize = RegUnit::COUNT;
const MEMORY: usize = MODE + 1;
const WORDS: usize = MEMORY / 64 + 1;

/// A set of registers, with SCC, and of MODE and memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Set([u64; WORDS]);

impl Set {
    /// The set of all elements.
    pub const ALL: Set = Set([u64::MAX; WORDS]);

    fn add(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    /// Adds a register.
    pub fn add_reg(&mut self, reg: Reg) {
        reg.units().for_each(|unit| self.add(unit.index()));
    }

    /// Adds all elements of `other`.
    pub fn add_all(&mut self, other: &Set) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine |= theirs);
    }

    /// Removes all elements of `other`.
    pub fn take_all(&mut self, other: &Set) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine &= !theirs);
    }

    /// True if the two sets have a common element.
    pub fn meets(&self, other: &Set) -> bool {
        self.0.iter().zip(other.0).any(|(mine, theirs)| mine & theirs != 0)
    }

    fn contains(&self, bit: usize) -> bool {
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }
}

/// The registers and other state that instructions read and write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Touched {
    /// The elements that are read.
    pub reads: Set,
    /// The elements that are written.
    pub writes: Set,
}

impl Touched {
    /// The reads and writes of the instruction at `line`. Every vector instruction reads EXEC, and every memory access counts as a write of
    /// memory.
    pub fn of(program: &Program, indexing: &Indexing, line: usize) -> Touched {
        let inst = &program.lines[line].inst;
        let mut touched = Touched::default();
        indexing.reads(line, inst).iter().for_each(|u| touched.reads.add_reg(u.reg));
        indexing.writes(line, inst).iter().for_each(|u| touched.writes.add_reg(u.reg));
        if indexing.at(line).is_some() {
            touched.reads.add_reg(reg::M0);
        }
        let desc = inst.desc;
        let vector = desc.is_valu() || desc.is_matrix() || desc.is_vmem() || desc.is_ds();
        if vector {
            touched.reads.add_reg(reg::EXEC);
        }
        let (read, written) = inst.scc();
        read.iter().for_each(|u| touched.reads.add_reg(u.reg));
        written.iter().for_each(|u| touched.writes.add_reg(u.reg));
        if desc.implicit_reads.contains(ImplicitRegs::MODE) {
            touched.reads.add(MODE);
        }
        if desc.implicit_writes.contains(ImplicitRegs::MODE) {
            touched.writes.add(MODE);
        }
        if accesses_memory(desc) || !events(program.target, inst).is_empty() || desc.class == Class::Waitcnt {
            touched.writes.add(MEMORY);
        }
        touched
    }

    /// Adds the reads and writes of `other`.
    pub fn add(&mut self, other: &Touched) {
        self.reads.add_all(&other.reads);
        self.writes.add_all(&other.writes);
    }

    /// True if exchanging the two instructions has no effect.
    pub fn may_swap_with(&self, other: &Touched) -> bool {
        let Touched { reads, writes } = self;
        !writes.meets(&other.reads) && !writes.meets(&other.writes) && !reads.meets(&other.writes)
    }

    /// True for a memory access, or for another instruction that must stay in order with memory accesses.
    pub fn is_memory(&self) -> bool {
        self.writes.contains(MEMORY)
    }
}

fn accesses_memory(desc: &InstDesc) -> bool {
    desc.is_vmem() || desc.is_smem() || desc.is_ds()
}

/// True if no instruction may be moved across this one, and this one may not be moved.
pub fn is_boundary(inst: &Inst) -> bool {
    let desc = inst.desc;
    // The registers that a relative move accesses are not those that it names.
    desc.class.is_boundary()
        || desc.is_relative()
        || desc.ends_block()
        || inst.operands.iter().any(Operand::is_opaque)
}
