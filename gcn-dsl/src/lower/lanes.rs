//! Access to single lanes, and lane ids.

use gcn_isa::reg::RegFile;
use gcn_isa::target::WaveSize;
use hashbrown::HashMap;

use super::{Lower, Lowered, Src, Width, mask};
use crate::ir::{Place, Value};
use crate::mir::{VReg, VSlice};
use crate::scalar::Elem;

/// For scalars that were computed by vector instructions: the vector registers that still contain the same values in
/// all lanes of the current region. Vector instructions read those registers, so that no lane has to be read back.
#[derive(Default)]
pub(super) struct Twins {
    vector: HashMap<VReg, VReg>,
    /// The scalars that have an entry, in the order in which they were added.
    scalars: Vec<VReg>,
}

impl Twins {
    fn add(&mut self, scalar: VReg, vector: VReg) {
        self.vector.insert(scalar, vector);
        self.scalars.push(scalar);
    }

    fn of(&self, scalar: VReg) -> Option<VReg> {
        self.vector.get(&scalar).copied()
    }

    pub fn is_empty(&self) -> bool {
        self.scalars.is_empty()
    }

    /// The number of entries, to be passed to [`Twins::forget_since`] later.
    pub fn known(&self) -> usize {
        self.scalars.len()
    }

    /// Forgets all entries but the first `known`. This is called at the end of a region with different active lanes.
    pub fn forget_since(&mut self, known: usize) {
        for scalar in self.scalars.split_off(known) {
            self.vector.remove(&scalar);
        }
    }
}

impl Lower<'_> {
    /// Emits the value of the first active lane; if all lanes have the same value, any lane will do.
    pub(super) fn first_lane(&mut self, v: Value, a: Value) -> Lowered {
        let (src, ty) = (self.operand(a), self.kernel.ty(a));
        let dst = self.define(v);
        match src {
            Src::Reg(wide) if self.alike[a.0 as usize] && self.is_vgpr(src) => {
                self.uniform_result(dst, wide, ty)
            }
            _ => self.read_first_lane(dst, src, ty),
        }
    }

    /// Reads the first active lane of a varying source into SGPRs.
    pub(super) fn read_first_lane(&mut self, dst: VSlice, src: Src, ty: crate::ir::Type) -> Lowered {
        if ty.elem == Elem::Bool && ty.place == Place::Varying {
            let lane = self.new_reg(RegFile::Sgpr, 1);
            self.machine(self.mask_op(mask::FIRST), &[lane], &[Src::Fixed(self.exec().into())])?;
            let mask = Src::Reg(self.in_sgpr(src, self.func.wave.mask_registers()));
            self.machine(self.mask_op(mask::TEST), &[], &[mask, Src::Reg(lane)])?;
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

    /// Makes `dst` the result of a uniform operation that a vector instruction has computed in `wide`, with the same
    /// value in all lanes.
    pub(super) fn uniform_result(&mut self, dst: VSlice, wide: VSlice, ty: crate::ir::Type) -> Lowered {
        self.read_first_lane(dst, Src::Reg(wide), ty)?;
        self.twins.add(dst.reg, wide.reg);
        Ok(())
    }

    /// The source for a vector instruction: for a scalar register that a vector register duplicates, that vector
    /// register; otherwise `src` itself.
    pub(super) fn for_vector(&self, src: Src) -> Src {
        match src {
            Src::Reg(s) => self.twins.of(s.reg).map_or(src, |reg| Src::Reg(VSlice { reg, ..s })),
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
        // The same in all lanes. A move to a vector register here would not reach lanes that are not active.
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
            self.machine("v_readlane_b32", &[d], &[x, lane])?;
        }
        Ok(())
    }

    pub(super) fn lane_id(&mut self, v: Value) -> Lowered {
        let (ones, zero) = (Src::Const(0xffff_ffff, Width::B32), Src::Const(0, Width::B32));
        if self.func.wave == WaveSize::W32 {
            let dst = self.define(v);
            return self.machine("v_mbcnt_lo_u32_b32", &[dst], &[ones, zero]);
        }
        let low = self.temp_v();
        let dst = self.define(v);
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
        // The work-item ids are packed: ten bits for each dimension, x lowest.
        let constant = |c: u32| Src::Const(u64::from(c), Width::B32);
        self.machine("v_bfe_u32", &[dst], &[packed, constant(10 * u32::from(d)), constant(10)])
    }
}
