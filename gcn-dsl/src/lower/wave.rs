//! Reductions and scans over the lanes of a wave, with DPP instructions (data-parallel primitives).
//!
//! The steps run with all lanes active. Lanes that are inactive in the program contribute the operation's identity, so
//! that partial results can pass through them. Live registers keep their values in those lanes, because the allocator
//! gives the temporaries registers that no lane of the wave needs.
//!
//! A reduction combines neighbours within a quad, then quads within eight lanes, then the halves of a row of 16 lanes.
//! Each of these steps is a permutation, so every lane of the row gets the result. Two broadcasts to later rows then
//! combine the rows. A scan shifts by 1, 2, 4 and 8 lanes within the row (Hillis and Steele) and then uses the same
//! broadcasts. If the operation has a VOP2 instruction, each step is a single instruction.

use gcn_isa::inst::{Dpp, Mods};
use gcn_isa::reg::RegFile;
use gcn_isa::table;
use gcn_isa::target::{Family, WAVE_SIZE};

use super::arith::{Calc, calc};
use super::emit::reaches_all;
use super::{Lower, Lowered, Src, Width, mask};
use crate::ir::wave::{Spread, identity};
use crate::ir::{Bin, Place, Value, Wave};
use crate::mir::{MOperand, Op, VSlice};
use crate::scalar::Elem;

/// A step: the DPP control for the source lanes, and the rows that are written.
#[derive(Clone, Copy)]
struct Step {
    ctrl: u16,
    row_mask: u8,
    bank_mask: u8,
    /// True if every lane has a source lane, so that the old value of the destination is not needed.
    total: bool,
}

const fn permutation(ctrl: u16) -> Step {
    Step { ctrl, row_mask: 0xf, bank_mask: 0xf, total: true }
}

const fn shift(n: u16) -> Step {
    Step { ctrl: 0x110 | n, row_mask: 0xf, bank_mask: 0xf, total: false }
}

/// The way in which the results of rows are combined with those of later rows.
struct Join {
    /// The DPP step, on targets with row broadcasts.
    broadcast: Step,
    /// The equivalent without DPP: each source lane, with the mask of the rows that get its value.
    lanes: &'static [(u32, u8)],
}

const fn broadcast(ctrl: u16, row_mask: u8) -> Step {
    Step { ctrl, row_mask, bank_mask: 0xf, total: false }
}

/// `row_bcast:15` to rows 1 and 3, then `row_bcast:31` to rows 2 and 3.
const JOINS: [Join; 2] = [
    Join { broadcast: broadcast(0x142, 0b1010), lanes: &[(15, 0b0010), (47, 0b1000)] },
    Join { broadcast: broadcast(0x143, 0b1100), lanes: &[(31, 0b1100)] },
];

/// `quad_perm:[0,1,2,3]`: each lane reads itself.
const IDENTITY: u16 = 0xe4;

/// `quad_perm:[1,0,3,2]`, `quad_perm:[2,3,0,1]`, `row_half_mirror`, `row_mirror`.
const IN_ROW: [Step; 4] = [permutation(0xb1), permutation(0x4e), permutation(0x141), permutation(0x140)];

/// `row_shr` by 1, 2, 4, 8.
const SCAN_ROW: [Step; 4] = [shift(1), shift(2), shift(4), shift(8)];

/// The VOP2 instruction that performs the operation and the DPP step at once; `None` if there is none for this element
/// type.
fn fused(op: Bin, elem: Elem) -> Option<&'static str> {
    Some(match (op, calc(elem)) {
        (Bin::Add, Calc::I32 | Calc::U32) => "v_add_u32",
        (Bin::Min, Calc::I32) => "v_min_i32",
        (Bin::Max, Calc::I32) => "v_max_i32",
        (Bin::Min, Calc::U32) => "v_min_u32",
        (Bin::Max, Calc::U32) => "v_max_u32",
        (Bin::And, Calc::I32 | Calc::U32 | Calc::I64 | Calc::U64) => "v_and_b32",
        (Bin::Or, Calc::I32 | Calc::U32 | Calc::I64 | Calc::U64) => "v_or_b32",
        (Bin::Xor, Calc::I32 | Calc::U32 | Calc::I64 | Calc::U64) => "v_xor_b32",
        (Bin::Add, Calc::F32) => "v_add_f32",
        (Bin::Mul, Calc::F32) => "v_mul_f32",
        (Bin::Min, Calc::F32) => "v_min_f32",
        (Bin::Max, Calc::F32) => "v_max_f32",
        (Bin::Add, Calc::F16) => "v_add_f16",
        (Bin::Mul, Calc::F16) => "v_mul_f16",
        (Bin::Min, Calc::F16) => "v_min_f16",
        (Bin::Max, Calc::F16) => "v_max_f16",
        _ => return None,
    })
}

impl Lower<'_> {
    pub(super) fn wave(&mut self, v: Value, wave: Wave) -> Lowered {
        let elem = self.kernel.ty(wave.value).elem;
        let x = self.operand(wave.value);
        let neutral = Src::Const(identity(wave.op, elem, wave.spread), Width::of(elem));
        let saved = self.whole_wave(wave.all_active)?;
        let mut t = self.new_reg(RegFile::Vgpr, elem.dwords());
        match saved {
            // The old EXEC selects the value in the lanes that were active, and the identity in the others.
            Some(saved) => self.blend(t, Src::Reg(saved), x, neutral)?,
            None => self.copy(t, super::arith::raw_bits(x)),
        }
        let in_row = if wave.spread == Spread::Reduce { IN_ROW } else { SCAN_ROW };
        for step in in_row {
            t = self.step(wave.op, elem, t, neutral, step)?;
        }
        let broadcasts = usize::from(wave.width >= 32) + usize::from(u32::from(wave.width) == WAVE_SIZE);
        let whole = self.lanes();
        for join in &JOINS[..broadcasts] {
            if self.joins_rows_by_dpp() {
                t = self.step(wave.op, elem, t, neutral, join.broadcast)?;
                continue;
            }
            for (lane, row_mask) in join.lanes.iter().filter(|(lane, _)| *lane < u32::from(whole)) {
                t = self.joined(wave.op, elem, t, neutral, *lane, *row_mask)?;
            }
        }
        match (wave.spread, wave.width) {
            // EXEC can be restored first, because `v_readlane_b32` ignores it.
            (Spread::Reduce, width) if width == whole => {
                self.back(saved);
                let (dst, uniform) = (self.define(v), self.kernel.ty(v).place == Place::Uniform);
                debug_assert!(uniform, "a whole wave has one result");
                self.lane_of(dst, t, u32::from(whole - 1))
            }
            (Spread::Reduce, 32) => {
                t = self.each_half(t)?;
                self.finish_lanes(v, t, saved)
            }
            (Spread::Exclusive, width) => {
                t = self.shifted_by_one(t, neutral, width)?;
                self.finish_lanes(v, t, saved)
            }
            _ => self.finish_lanes(v, t, saved),
        }
    }

    /// Emits `ds_bpermute_b32` for targets on which it reaches only lanes of the same half of the wave. It is executed
    /// twice: for the values, and for the values with the two halves exchanged. Each lane takes the result that its
    /// address selects. Inactive lanes read as 0.
    pub(super) fn permute_by_halves(&mut self, v: Value, address: Value, value: Value) -> Lowered {
        const EXCHANGE: &str = "v_permlane64_b32";
        /// The bit of an address (four times the lane's number) that distinguishes the halves of the wave.
        const HALF: u64 = 4 * 32;
        let (address, x, ty) = (self.operand(address), self.operand(value), self.kernel.ty(v));
        if table::find_operation(self.func.on(), EXCHANGE).next().is_none() {
            let what = format!("a shuffle among 64 lanes on {}, which moves data within 32,", self.target);
            let remedy = "exchange the values through LDS, or limit the kernel with `#[targets(…)]`";
            return Err(self.unsupported(&what, ty.elem, remedy));
        }
        let address = Src::Reg(self.in_vgpr(address, 1));
        let saved = self.whole_wave(false)?;
        let [all, exchanged, near, far, half] = std::array::from_fn(|_| self.temp_v());
        let [asked, other, upper] = std::array::from_fn(|_| self.new_mask());
        let zero = Src::Const(0, Width::B32);
        if let Some(saved) = saved {
            self.blend(all, Src::Reg(saved), x, zero)?;
        }
        self.machine(EXCHANGE, &[exchanged], &[Src::Reg(all)])?;
        self.machine("ds_bpermute_b32", &[near], &[address, Src::Reg(all)])?;
        self.machine("ds_bpermute_b32", &[far], &[address, Src::Reg(exchanged)])?;
        self.machine("v_and_b32", &[half], &[Src::Const(HALF, Width::B32), address])?;
        self.machine("v_cmp_ne_u32", &[asked], &[zero, Src::Reg(half)])?;
        self.copy(upper, self.mask_const(0xffff_ffff_0000_0000));
        self.machine(self.mask_op(mask::XOR), &[other], &[Src::Reg(asked), Src::Reg(upper)])?;
        let out = self.temp_v();
        self.blend(out, Src::Reg(other), Src::Reg(far), Src::Reg(near))?;
        self.finish_lanes(v, out, saved)
    }

    /// The number of lanes in the wave.
    fn lanes(&self) -> u8 {
        self.func.wave.lanes() as u8
    }

    /// Activates all lanes. Returns the old EXEC if they were not all active.
    fn whole_wave(&mut self, all_active: bool) -> Lowered<Option<VSlice>> {
        if all_active {
            return Ok(None);
        }
        let saved = self.new_mask();
        self.machine(self.mask_op(mask::OR_SAVE), &[saved], &[self.mask_of_all(true)])?;
        Ok(Some(saved))
    }

    fn back(&mut self, saved: Option<VSlice>) {
        if let Some(saved) = saved {
            self.push(Op::Copy, [MOperand::Fixed(self.exec().into()), MOperand::Virt(saved)]);
        }
    }

    fn finish_lanes(&mut self, v: Value, t: VSlice, saved: Option<VSlice>) -> Lowered {
        self.back(saved);
        self.alias(v, Some(t.reg));
        Ok(())
    }

    /// Emits `t = t op t'`, where `t'` is `t` with its lanes moved as `step` says.
    fn step(&mut self, op: Bin, elem: Elem, t: VSlice, neutral: Src, step: Step) -> Lowered<VSlice> {
        if let Some(mnemonic) = fused(op, elem) {
            // Done in place: a lane without a source keeps its value, which is `t op identity`, so no register with the
            // identity is needed.
            let out = if step.total { self.new_reg(RegFile::Vgpr, t.len) } else { t };
            for i in 0..t.len {
                let d = VSlice { start: t.start + i, len: 1, ..t };
                let o = VSlice { reg: out.reg, ..d };
                if step.total && t.len > 1 {
                    self.assemble(out, i);
                }
                self.dpp(mnemonic, o, &[d, d], step);
            }
            self.wrap_step(op, elem, out)?;
            return Ok(out);
        }
        let other = self.moved(t, neutral, step);
        let out = self.new_reg(RegFile::Vgpr, t.len);
        self.bin_vector(op, elem, out, Src::Reg(other), Src::Reg(t))?;
        Ok(out)
    }

    /// True if DPP can move values between rows, by row broadcasts and shifts of the whole wave.
    fn joins_rows_by_dpp(&self) -> bool {
        self.target.family() == Family::GFX9
    }

    /// Emits `t = t op x` in the rows of the mask, where `x` is the value of `t` in one lane.
    fn joined(
        &mut self,
        op: Bin,
        elem: Elem,
        t: VSlice,
        neutral: Src,
        lane: u32,
        row_mask: u8,
    ) -> Lowered<VSlice> {
        let (scalar, x) = (self.new_reg(RegFile::Sgpr, t.len), self.new_reg(RegFile::Vgpr, t.len));
        self.lane_of(scalar, t, lane)?;
        self.copy(x, Src::Reg(scalar));
        let step = broadcast(IDENTITY, row_mask);
        if let Some(mnemonic) = fused(op, elem) {
            for i in 0..t.len {
                let part = |s: VSlice| VSlice { start: s.start + i, len: 1, ..s };
                self.dpp(mnemonic, part(t), &[part(x), part(t)], step);
            }
            self.wrap_step(op, elem, t)?;
            return Ok(t);
        }
        let other = self.moved(x, neutral, step);
        let out = self.new_reg(RegFile::Vgpr, t.len);
        self.bin_vector(op, elem, out, Src::Reg(other), Src::Reg(t))?;
        Ok(out)
    }

    /// Restores the extension of narrow integers after an addition.
    fn wrap_step(&mut self, op: Bin, elem: Elem, t: VSlice) -> Lowered {
        if op == Bin::Add && !elem.is_float() { self.wrap_vector(t, elem) } else { Ok(()) }
    }

    /// `t` with its lanes moved as the step says; lanes without a source lane get `neutral`.
    fn moved(&mut self, t: VSlice, neutral: Src, step: Step) -> VSlice {
        let other = self.new_reg(RegFile::Vgpr, t.len);
        if !step.total {
            self.copy(other, super::arith::raw_bits(neutral));
        }
        for i in 0..t.len {
            if step.total && t.len > 1 {
                self.assemble(other, i);
            }
            let part = |s: VSlice| VSlice { start: s.start + i, len: 1, ..s };
            self.dpp("v_mov_b32", part(other), &[part(t)], step);
        }
        other
    }

    /// Emits a DPP instruction, whose sources are vector registers.
    fn dpp(&mut self, mnemonic: &str, dst: VSlice, srcs: &[VSlice], step: Step) {
        let row = table::find_operation(self.func.on(), mnemonic)
            .find(|row| row.format.is_dpp() && reaches_all(row))
            .unwrap_or_else(|| unreachable!("every target has {mnemonic} with DPP"));
        let Step { ctrl, row_mask, bank_mask, total } = step;
        let mods =
            Mods { dpp: Some(Dpp { ctrl, row_mask, bank_mask, bound_ctrl: total }), ..row.default_mods() };
        let operands = std::iter::once(dst).chain(srcs.iter().copied()).map(MOperand::Virt);
        self.push(Op::Machine(row, mods), operands);
    }

    /// Reads lane `lane` of `t` as a uniform value.
    fn lane_of(&mut self, dst: VSlice, t: VSlice, lane: u32) -> Lowered {
        for i in 0..dst.len {
            if dst.len > 1 {
                self.assemble(dst, i);
            }
            let part = |s: VSlice| VSlice { start: s.start + i, len: 1, ..s };
            let lane = Src::Const(u64::from(lane), Width::B32);
            self.machine("v_readlane_b32", &[part(dst)], &[Src::Reg(part(t)), lane])?;
        }
        Ok(())
    }

    /// A register with the value of the last lane of each half: lane 31's in the lower half of the wave, lane 63's in
    /// the upper one.
    fn each_half(&mut self, t: VSlice) -> Lowered<VSlice> {
        let halves = [self.lanes() / 2 - 1, self.lanes() - 1]
            .map(|lane| (self.new_reg(RegFile::Sgpr, t.len), u32::from(lane)));
        for (dst, lane) in halves {
            self.lane_of(dst, t, lane)?;
        }
        let upper = self.new_mask();
        self.copy(upper, self.mask_const(0xffff_ffff_0000_0000));
        let out = self.new_reg(RegFile::Vgpr, t.len);
        let [low, high] = halves.map(|(dst, _)| Src::Reg(self.in_vgpr(Src::Reg(dst), t.len)));
        self.blend(out, Src::Reg(upper), high, low)?;
        Ok(out)
    }

    /// Shifts values up by one lane; the first lane of each segment gets `neutral`.
    fn shifted_by_one(&mut self, t: VSlice, neutral: Src, width: u8) -> Lowered<VSlice> {
        let in_row = shift(1);
        let over_wave = Step { ctrl: 0x138, ..in_row };
        if width == 16 {
            return Ok(self.moved(t, neutral, in_row));
        }
        if !self.joins_rows_by_dpp() {
            let out = self.moved(t, neutral, in_row);
            for lane in (16..u32::from(self.lanes())).step_by(16).filter(|lane| lane % u32::from(width) != 0)
            {
                let before = self.new_reg(RegFile::Sgpr, t.len);
                self.lane_of(before, t, lane - 1)?;
                for i in 0..t.len {
                    let part = |s: VSlice| Src::Reg(VSlice { start: s.start + i, len: 1, ..s });
                    let lane = Src::Const(u64::from(lane), Width::B32);
                    self.machine("v_writelane_b32", &[], &[part(out), part(before), lane])?;
                }
            }
            return Ok(out);
        }
        if width == self.lanes() {
            return Ok(self.moved(t, neutral, over_wave));
        }
        // The first lane of row 2 starts a segment, so shift that row separately.
        let out = self.moved(t, neutral, Step { row_mask: 0b1011, ..over_wave });
        for i in 0..t.len {
            let part = |s: VSlice| VSlice { start: s.start + i, len: 1, ..s };
            self.dpp("v_mov_b32", part(out), &[part(t)], Step { row_mask: 0b0100, ..in_row });
        }
        Ok(out)
    }
}
