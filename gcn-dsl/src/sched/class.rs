//! The classes of instructions on virtual registers. Scheduling directives name instructions by their class.

use gcn_isa::reg::RegFile;

use crate::mir::{Function, MInst, MOperand, Op};

pub use crate::ir::mark::{Classes, NAMES};

impl Classes {
    /// The class of an instruction. A copy has the class of the move that implements it.
    pub fn of_inst(f: &Function, inst: &MInst) -> Classes {
        match (&inst.op, inst.operands.first()) {
            (Op::Machine(desc, _), _) => Classes::of(desc),
            (Op::Copy, Some(MOperand::Virt(slice))) if f.info(slice.reg).file == RegFile::Sgpr => {
                Classes::SALU
            }
            (Op::Copy, _) => Classes::VALU,
            _ => Classes::empty(),
        }
    }
}
