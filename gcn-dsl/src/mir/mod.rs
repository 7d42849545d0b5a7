//! Machine instructions on virtual registers: the output of instruction selection and the input of register
//! allocation.
//!
//! A [`Function`] is a list of basic blocks in layout order: block `i` falls through to block `i + 1` unless
//! its last instruction never does. It is not in SSA form: a virtual register may be written several times
//! and in parts. Rules:
//!
//! - A branch names its target block as `Operand::Label(Label(block index))`.
//! - Control flow is that of the *wave*: a divergent `if` is straight-line code under a changed EXEC, with
//!   optional skip branches. So liveness on these blocks is correct for scalar and vector registers alike.
//! - A write under EXEC that must keep the inactive lanes' old value has [`MInst::keeps_dst`] set: it also
//!   reads its destination.
//! - A write of a part of a tuple keeps the rest, so it reads the tuple too, unless the tuple is not live
//!   before it. A tuple that is assembled piece by piece starts with [`Op::Undef`], which starts its live
//!   range without giving it a value.
//! - SCC and VCC are not allocated. Instruction selection keeps a writer of SCC or VCC next to its reader,
//!   with only instructions in between that leave it alone. Copies that the allocator adds never touch SCC or
//!   VCC.

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

/// A virtual register (tuple).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VReg(pub u32);

/// The requirements of a virtual register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VRegInfo {
    /// Register file.
    pub file: RegFile,
    /// Number of consecutive registers: 1, 2, 3, 4, 8, 16 or 32 (any count up to 32 is allowed).
    pub len: u8,
    /// The first register's number is a multiple of this.
    pub align: u8,
}

/// A part of a virtual register: `len` registers from its `start`-th.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VSlice {
    /// The virtual register.
    pub reg: VReg,
    /// First register of the part.
    pub start: u8,
    /// Registers in the part.
    pub len: u8,
}

/// An operand: a part of a virtual register, or anything that needs no allocation (constants, labels, EXEC,
/// VCC, M0, and at the start of the entry block the registers that hold the kernel's initial state).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MOperand {
    /// Virtual.
    Virt(VSlice),
    /// Physical or not a register.
    Fixed(Operand),
}

impl MOperand {
    /// True for EXEC or a half of it, which is all of it in waves of 32 lanes.
    pub(crate) fn is_exec(&self) -> bool {
        matches!(self, MOperand::Fixed(Operand::Reg(reg)) if reg.overlaps(EXEC))
    }
}

/// The operation of an [`MInst`].
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    /// A machine instruction: a row of the table with its modifiers.
    Machine(&'static InstDesc, Mods),
    /// `operands[0] = operands[1]`, same width in dwords (or a 32-bit constant repeated for each dword of the
    /// destination). Any file to any file but vector to scalar. Lowered to nothing or to moves.
    Copy,
    /// `operands[0]` becomes live with an undefined value. Lowered to nothing.
    Undef,
    /// Nothing moves across this place; it has no operands. Lowered to nothing.
    Order,
    /// A scheduling mark of the user at this place; it has no operands. Lowered to nothing.
    Mark(Mark),
}

/// An instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct MInst {
    /// The operation.
    pub op: Op,
    /// Operands in assembly order.
    pub operands: SmallVec<[MOperand; 5]>,
    /// The write keeps some lanes of the destination, so it also reads the destination.
    pub keeps_dst: bool,
    /// The user's source position.
    pub loc: Option<SourceLoc>,
}

/// A virtual register in a machine register that the user chose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pin {
    /// The virtual register.
    pub reg: VReg,
    /// The machine register, of the same file and length.
    pub to: Reg,
    /// Where the user says so.
    pub loc: Option<SourceLoc>,
}

/// A part of a value that has a name in the source: the number of the name, the part, and where it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShownPart {
    /// Number of the name.
    pub name: usize,
    /// Number of the part.
    pub part: usize,
    /// The virtual register.
    pub reg: VReg,
    /// The register is that of a variable, and the part is whatever value it currently holds.
    pub variable: bool,
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MBlock {
    /// Instructions; a block may end in a conditional branch followed by an `s_branch`.
    pub insts: Vec<MInst>,
    /// How many loops the block is in, for costs.
    pub loop_depth: u32,
}

/// A kernel on virtual registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The target.
    pub target: Target,
    /// The size of waves: masks of lanes are as wide.
    pub wave: WaveSize,
    /// The kernel's name.
    pub name: String,
    /// Virtual registers by [`VReg`] number.
    pub vregs: Vec<VRegInfo>,
    /// Blocks in layout order; block 0 is the entry.
    pub blocks: Vec<MBlock>,
    /// Registers whose values are observed from outside: they are computed although no instruction reads
    /// them.
    pub kept: Vec<VReg>,
    /// Machine registers that hold the initial state at entry (kernarg pointer, workgroup ids, work-item id).
    pub live_in: Vec<Reg>,
    /// Virtual registers whose machine registers the user chose.
    pub pins: Vec<Pin>,
    /// Buffer resources of slices: only accesses through the same resource reach the memory that they
    /// describe.
    pub slices: HashSet<VReg>,
    /// Results of instructions that the kernel names itself: passes leave these instructions as they are.
    pub named: HashSet<VReg>,
    /// Where debug information finds the parts of values that have names in the source.
    pub shown: Vec<ShownPart>,
}

impl VReg {
    /// The whole register of `info.len` dwords.
    pub fn all(self, info: VRegInfo) -> VSlice {
        VSlice { reg: self, start: 0, len: info.len }
    }
}

impl Function {
    /// An empty function.
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

    /// The target with the size of waves, which is what instructions are asked of.
    pub fn on(&self) -> Subtarget {
        Subtarget { target: self.target, wave: self.wave }
    }

    /// The requirements of `reg`.
    pub fn info(&self, reg: VReg) -> VRegInfo {
        self.vregs[reg.0 as usize]
    }
}
