//! Machine instructions on virtual registers: the output of instruction selection and the input of register
//! allocation.
//!
//! A [`Function`] is a list of basic blocks in layout order: block `i` falls through to block `i + 1` unless its last
//! instruction is an unconditional branch or ends the program. It is not in SSA form: a virtual register may be written
//! several times and in parts. Rules:
//!
//! - A branch names its target block as `Operand::Label(Label(block index))`.
//! - Control flow is that of the *wave*: a divergent `if` is straight-line code under a changed EXEC, with optional
//!   branches that skip it if no lane is active. So liveness on these blocks is correct for scalar and vector registers
//!   alike.
//! - A write under EXEC that must keep the old value of the inactive lanes has [`MInst::keeps_dst`] set: it also reads
//!   its destination.
//! - A write of a part of a tuple keeps the rest, so it also reads the tuple, unless the tuple is not live before it. A
//!   tuple that is assembled from parts starts with [`Op::Undef`], which starts its live range without giving it a
//!   value.
//! - SCC and VCC are not allocated. Instruction selection keeps a writer of SCC or VCC close to its reader; no
//!   instruction between the two writes that register. Copies that the allocator inserts never change SCC or VCC.

pub mod constants;
pub mod dce;
mod inputs;
pub mod lds;
pub mod scratch;

use gcn_isa::inst::Mods;
use gcn_isa::operand::Operand;
use gcn_isa::program::SourceLoc;
use gcn_isa::reg::{EXEC, Reg, RegFile};
use gcn_isa::target::{Subtarget, WaveSize};
use gcn_isa::{InstDesc, Target};
use hashbrown::HashSet;
use smallvec::SmallVec;

use crate::ir::mark::Mark;

pub use inputs::Inputs;

/// A virtual register: a tuple of one or more consecutive 32-bit registers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VReg(pub u32);

/// The file, size and alignment of a virtual register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VRegInfo {
    /// Register file.
    pub file: RegFile,
    /// The number of consecutive registers: usually 1, 2, 3, 4, 8, 16 or 32, but any number up to 32 is allowed.
    pub len: u8,
    /// The number of the first register must be a multiple of this number.
    pub align: u8,
}

/// A part of a virtual register: `len` of its registers, from number `start` on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VSlice {
    /// The virtual register.
    pub reg: VReg,
    /// Index of the first register of the part.
    pub start: u8,
    /// Number of registers in the part.
    pub len: u8,
}

/// An operand: a part of a virtual register, or anything that needs no allocation: constants, labels, EXEC, VCC, M0,
/// and at the start of the entry block the registers with the kernel's initial state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MOperand {
    /// A part of a virtual register.
    Virt(VSlice),
    /// A physical register, or an operand that is not a register.
    Fixed(Operand),
}

impl MOperand {
    /// True for EXEC or a half of it; the low half is the whole mask in waves of 32 lanes.
    pub(crate) fn is_exec(&self) -> bool {
        matches!(self, MOperand::Fixed(Operand::Reg(reg)) if reg.overlaps(EXEC))
    }
}

/// The operation of an [`MInst`].
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    /// A machine instruction: a row of the instruction table, with modifiers.
    Machine(&'static InstDesc, Mods),
    /// `operands[0] = operands[1]`, where both have the same number of dwords, or the source is a 32-bit constant that
    /// is repeated for each dword of the destination. All combinations of register files are allowed except vector to
    /// scalar. It is lowered to moves or to nothing.
    Copy,
    /// `operands[0]` becomes live with an undefined value. It is lowered to nothing.
    Undef,
    /// An order barrier without operands: the scheduler moves no instruction across it. It is lowered to nothing.
    Order,
    /// The position of a scheduling mark of the user, without operands. It is lowered to nothing.
    Mark(Mark),
}

/// A machine instruction on virtual registers, or a pseudo-instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct MInst {
    /// The operation.
    pub op: Op,
    /// The operands in assembly order.
    pub operands: SmallVec<[MOperand; 5]>,
    /// True if the write keeps some lanes of the destination, so that the instruction also reads the destination.
    pub keeps_dst: bool,
    /// The location in the user's source.
    pub loc: Option<SourceLoc>,
}

/// A virtual register for which the user chose the machine register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pin {
    /// The virtual register.
    pub reg: VReg,
    /// The machine register, of the same file and length.
    pub to: Reg,
    /// The location of the user's choice in the source.
    pub loc: Option<SourceLoc>,
}

/// The virtual registers of a part of a named value of the source, for debug information.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShownPart {
    /// The number of the name.
    pub name: usize,
    /// The number of the part in the value.
    pub part: usize,
    /// The registers.
    pub of: VSlice,
    /// True if the register is that of a mutable variable, so that the part is the register's current contents.
    pub variable: bool,
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MBlock {
    /// The instructions. A block may end with a conditional branch followed by an `s_branch`.
    pub insts: Vec<MInst>,
    /// The number of loops that contain the block, for cost estimates.
    pub loop_depth: u32,
}

/// A kernel on virtual registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The target.
    pub target: Target,
    /// The wave size, which is also the width of lane masks.
    pub wave: WaveSize,
    /// The kernel's name.
    pub name: String,
    /// The virtual registers, indexed by [`VReg`].
    pub vregs: Vec<VRegInfo>,
    /// The blocks in layout order; block 0 is the entry.
    pub blocks: Vec<MBlock>,
    /// Registers whose values are observed from outside, so that they must be computed although no instruction reads
    /// them.
    pub kept: Vec<VReg>,
    /// Machine registers with initial state that the entry block reads (kernarg pointer, workgroup ids, work-item id).
    pub live_in: Vec<Reg>,
    /// Virtual registers for which the user chose the machine registers.
    pub pins: Vec<Pin>,
    /// The buffer resources of slices. The memory that such a resource describes is accessed only through that
    /// resource.
    pub slices: HashSet<VReg>,
    /// Results of instructions that the user's code names explicitly (functions of `isa`). Passes do not change these
    /// instructions.
    pub named: HashSet<VReg>,
    /// The virtual registers of named values of the source, for debug information.
    pub shown: Vec<ShownPart>,
}

impl VReg {
    /// All registers of the tuple, whose length is `info.len`.
    pub fn all(self, info: VRegInfo) -> VSlice {
        VSlice { reg: self, start: 0, len: info.len }
    }
}

impl Function {
    /// A function without registers and blocks.
    pub fn new(target: Target, name: impl Into<String>) -> Function {
        Function {
            target,
            wave: target.usual_wave(),
            name: name.into(),
            vregs: Vec::new(),
            blocks: Vec::new(),
            kept: Vec::new(),
            live_in: Vec::new(),
            pins: Vec::new(),
            slices: HashSet::new(),
            named: HashSet::new(),
            shown: Vec::new(),
        }
    }

    /// A new virtual register with the alignment that the target's encodings require.
    pub fn new_vreg(&mut self, file: RegFile, len: u8) -> VReg {
        let align = self.target.tuple_alignment(file, len);
        self.vregs.push(VRegInfo { file, len, align });
        VReg(self.vregs.len() as u32 - 1)
    }

    /// The target and the wave size, which together select the rows of the instruction table.
    pub fn on(&self) -> Subtarget {
        Subtarget { target: self.target, wave: self.wave }
    }

    /// The file, size and alignment of `reg`.
    pub fn info(&self, reg: VReg) -> VRegInfo {
        self.vregs[reg.0 as usize]
    }
}
