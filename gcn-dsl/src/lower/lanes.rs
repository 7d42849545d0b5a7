//! Single lanes and what a lane knows of itself.

use gcn_isa::reg::{EXEC, RegFile};

use super::{Lower, Lowered, Src, Width};
use crate::ir::{Place, Value};
use crate::mir::VSlice;
use crate::scalar::Elem;

impl Lower<'_> {
    /// First active lane of a varying source into an SGPR (tuple).
    pub(super) fn read_first_lane(&mut self, dst: VSlice, src: Src, ty: crate::ir::Type) -> Lowered {
        if ty.elem == Elem::Bool && ty.place == Place::Varying {
            let lane = self.new_reg(RegFile::Sgpr, 1);
            self.machine("s_ff1_i32_b64", &[lane], &[Src::Fixed(EXEC.into())])?;
            let mask = Src::Reg(self.in_sgpr(src, 2));
            self.machine("s_bitcmp1_b64", &[], &[mask, Src::Reg(lane)])?;
            return self.select_scc(dst);
        }
        if !self.is_vgpr(src) {
            self.copy(dst, src);
            return Ok(());
        }
        for i in 0..dst.len {
            if dst.len > 1 {
                self.assemble(dst, i);
            }
            let d = VSlice { reg: dst.reg, start: dst.start + i, len: 1 };
            let x = self.half(src, i);
            self.machine("v_readfirstlane_b32", &[d], &[x])?;
        }
        Ok(())
    }

    /// A uniform value that a vector instruction has computed, alike in all lanes.
    pub(super) fn uniform_result(&mut self, dst: VSlice, wide: VSlice, ty: crate::ir::Type) -> Lowered {
        self.read_first_lane(dst, Src::Reg(wide), ty)?;
        self.twins.insert(dst.reg, wide.reg);
        self.twins_in_order.push(dst.reg);
        Ok(())
    }

    /// The vector register that has the same value as a scalar one, for a vector instruction.
    pub(super) fn for_vector(&self, src: Src) -> Src {
        match src {
            Src::Reg(s) => match self.twins.get(&s.reg) {
                Some(reg) => Src::Reg(VSlice { reg: *reg, ..s }),
                None => src,
            },
            other => other,
        }
    }

    pub(super) fn read_lane(&mut self, v: Value, a: Value, lane: Value) -> Lowered {
        let ty = self.kernel.ty(a);
        if ty.elem == Elem::Bool {
            return Err(self.unsupported("`read_lane`", ty.elem, "use `ballot` and shift the mask"));
        }
        let (src, lane) = (self.operand(a), self.operand(lane));
        let dst = self.define(v);
        let src = self.in_vgpr(src, dst.len);
        for i in 0..dst.len {
            if dst.len > 1 {
                self.assemble(dst, i);
            }
            let d = VSlice { reg: dst.reg, start: dst.start + i, len: 1 };
            let x = self.half(Src::Reg(src), i);
            self.machine("v_readlane_b32", &[d], &[x, lane])?;
        }
        Ok(())
    }

    pub(super) fn lane_id(&mut self, v: Value) -> Lowered {
        let low = self.temp_v();
        let dst = self.define(v);
        let (ones, zero) = (Src::Const(0xffff_ffff, Width::B32), Src::Const(0, Width::B32));
        self.machine("v_mbcnt_lo_u32_b32", &[low], &[ones, zero])?;
        self.machine("v_mbcnt_hi_u32_b32", &[dst], &[ones, Src::Reg(low)])
    }

    pub(super) fn local_id(&mut self, v: Value, d: u8) -> Lowered {
        let packed = self.target.has_packed_tid();
        let reg = self.entry.local_id[if packed { 0 } else { usize::from(d) }];
        let one_dimension = self.workgroup[1] == 1 && self.workgroup[2] == 1;
        if !packed || d == 0 && one_dimension {
            self.alias(v, reg);
            return Ok(());
        }
        let Some(reg) = reg else { unreachable!("enabled because it is read") };
        let packed = Src::Reg(reg.all(self.func.info(reg)));
        let dst = self.define(v);
        // Ten bits a dimension, x lowest (targets with packed work-item ids).
        let constant = |c: u32| Src::Const(u64::from(c), Width::B32);
        self.machine("v_bfe_u32", &[dst], &[packed, constant(10 * u32::from(d)), constant(10)])
    }
}
