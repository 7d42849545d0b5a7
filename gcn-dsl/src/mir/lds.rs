//! The address of each lane's slot in LDS for spilled registers.

use gcn_isa::reg::{Reg, RegFile};
use gcn_isa::{Operand, table};

use super::{Function, MInst, MOperand, Op, VReg, VSlice};
use crate::mir::Inputs;

impl Inputs {
    /// Inserts code at the entry of `function` that computes `base + 4 * n`, where `n` is the number of the work-item
    /// in its workgroup: the address of the lane's dword in an array of one dword per work-item. Work-item ids are
    /// initially in `v0` to `v2`, or packed into `v0` with ten bits per dimension (LLVM AMDGPU guide, *Initial Kernel
    /// Execution State*).
    pub fn lane_address(&mut self, function: &mut Function, workgroup: [u32; 3], base: u32) -> VReg {
        let dims = (0..3u8).rev().find(|&d| workgroup[usize::from(d)] > 1).map_or(1, |d| d + 1);
        self.local_id_dims = self.local_id_dims.max(dims);
        let packed = function.target.has_packed_tid();
        let mut code = Code { function, insts: Vec::new() };
        let arrived: Vec<MOperand> =
            (0..if packed { 1 } else { dims }).map(|d| code.initial(Reg::v(d.into(), 1))).collect();
        let id = |code: &mut Code<'_>, d: u8| match packed && dims > 1 {
            true => code.machine("v_bfe_u32", [arrived[0], number(10 * u32::from(d)), number(10)]),
            false => arrived[usize::from(d)],
        };
        let mut lane = id(&mut code, 0);
        let mut row = 1;
        for d in 1..dims {
            row *= workgroup[usize::from(d) - 1];
            let (id, row) = (id(&mut code, d), code.copy(number(row)));
            lane = code.machine("v_mad_u32_u24", [id, row, lane]);
        }
        let mut address = code.machine("v_lshlrev_b32", [number(2), lane]);
        if base > 0 {
            let base = code.copy(number(base));
            address = code.machine("v_add_u32", [base, address]);
        }
        let (address, insts) = (code.last(address), code.insts);
        if let Some(entry) = function.blocks.first_mut() {
            entry.insts.splice(0..0, insts);
        }
        address
    }
}

fn number(n: u32) -> MOperand {
    MOperand::Fixed(Operand::const32(n))
}

/// A code sequence under construction; each instruction writes a new VGPR.
struct Code<'f> {
    function: &'f mut Function,
    insts: Vec<MInst>,
}

impl Code<'_> {
    fn push(&mut self, op: Op, sources: &[MOperand]) -> MOperand {
        let reg = self.function.new_vreg(RegFile::Vgpr, 1);
        let dst = MOperand::Virt(VSlice { reg, start: 0, len: 1 });
        let operands = std::iter::once(dst).chain(sources.iter().copied()).collect();
        self.insts.push(MInst { op, operands, keeps_dst: false, loc: None });
        dst
    }

    fn copy(&mut self, of: MOperand) -> MOperand {
        self.push(Op::Copy, &[of])
    }

    fn machine<const N: usize>(&mut self, name: &str, sources: [MOperand; N]) -> MOperand {
        let row = table::find_operation(self.function.on(), name)
            .next()
            .unwrap_or_else(|| unreachable!("every target has `{name}`"));
        self.push(Op::Machine(row, row.default_mods()), &sources)
    }

    /// Copies the initial value of a machine register.
    fn initial(&mut self, reg: Reg) -> MOperand {
        if !self.function.live_in.contains(&reg) {
            self.function.live_in.push(reg);
        }
        self.copy(MOperand::Fixed(reg.into()))
    }

    /// The virtual register of an operand.
    fn last(&self, operand: MOperand) -> VReg {
        match operand {
            MOperand::Virt(s) => s.reg,
            MOperand::Fixed(_) => VReg(self.function.vregs.len() as u32 - 1),
        }
    }
}
