//! The address of the kernel's constant tables, which are placed after its code.
//!
//! Code computes the address from the program counter and the distance to the tables. The distance is known only when
//! the code is encoded; until then a unique literal stands for it.

use gcn_emit::encode::{EncodeError, encode_program};
use gcn_emit::kernel::constants_offset;
use gcn_isa::reg::RegFile;
use gcn_isa::table::Behaviours;
use gcn_isa::{Operand, Program};

use super::{Lower, Lowered, Src, Width};
use crate::ir::Inst;
use crate::mir::VSlice;

/// The instruction that gives the address of the instruction after it.
const PLACE: &str = "s_getpc_b64";
/// The placeholder for the distance. No other literal of a kernel is added directly after [`PLACE`].
const UNKNOWN: u32 = 0x5bad_ad0e;

impl Lower<'_> {
    /// If the kernel reads the address, computes it at the kernel's start.
    pub(super) fn constants(&mut self) -> Lowered {
        let mut reads = false;
        self.kernel.body.each_inst(&mut |v| reads |= self.kernel.def(v).inst == Inst::Constants);
        if !reads {
            return Ok(());
        }
        let (here, address) = (self.func.new_vreg(RegFile::Sgpr, 2), self.func.new_vreg(RegFile::Sgpr, 2));
        let [here_all, all] = [here, address].map(|reg| reg.all(self.func.info(reg)));
        self.machine(PLACE, &[here_all], &[])?;
        self.assemble(all, 0);
        let half = |of: VSlice, start: u8| VSlice { reg: of.reg, start: of.start + start, len: 1 };
        let distance = [Src::Const(u64::from(UNKNOWN), Width::B32), Src::Const(0, Width::B32)];
        for (i, (name, distance)) in ["s_add_u32", "s_addc_u32"].into_iter().zip(distance).enumerate() {
            let from = Src::Reg(half(here_all, i as u8));
            self.machine(name, &[half(all, i as u8)], &[from, distance])?;
        }
        self.entry.constants = Some(address);
        Ok(())
    }
}

/// Replaces the placeholder by the distance. All literals have the same length, so offsets do not change.
pub(crate) fn resolve(program: &mut Program) -> Result<(), EncodeError> {
    let encoded = encode_program(program)?;
    // Targets have different names for the instruction.
    let place = program.lines.iter().position(|line| line.inst.desc.does(Behaviours::READS_PC));
    let Some(here) = place.and_then(|line| encoded.offsets.get(line + 1)) else { return Ok(()) };
    let distance = constants_offset(encoded.bytes.len() as u64) as u32 - here;
    for line in &mut program.lines {
        if line.inst.operands.contains(&Operand::Literal(UNKNOWN)) {
            let unknown = line.inst_mut().operands.iter_mut().filter(|o| **o == Operand::Literal(UNKNOWN));
            unknown.for_each(|operand| *operand = Operand::Literal(distance));
            break;
        }
    }
    Ok(())
}
