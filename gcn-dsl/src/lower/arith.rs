//! Two-operand arithmetic.
//!
//! Scalar operations that the SALU supports run there. All others run on the VALU and are read back by
//! `v_readfirstlane_b32`, which is correct because every active lane computes the same value.

use gcn_isa::inst::Mods;
use gcn_isa::reg::RegFile;

use super::{Lower, LowerCause, LowerError, Lowered, Src, Width, mask};
use crate::ir::{Bin, Inst, Place, Pred, Type, Value};
use crate::mir::{MOperand, Op, VSlice};
use crate::scalar::Elem;

/// The kind of arithmetic for an element type; it determines registers and instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Calc {
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
    Mask,
}

pub(super) fn calc(elem: Elem) -> Calc {
    match elem {
        Elem::Bool => Calc::Mask,
        Elem::I8 | Elem::I16 | Elem::I32 => Calc::I32,
        // 8-bit floats are handled as bits until they are converted.
        Elem::U8 | Elem::U16 | Elem::U32 | Elem::F8E4M3 | Elem::F8E5M2 => Calc::U32,
        Elem::I64 => Calc::I64,
        Elem::U64 => Calc::U64,
        Elem::F16 | Elem::Bf16 => Calc::F16,
        Elem::F32 => Calc::F32,
        Elem::F64 => Calc::F64,
    }
}

/// The SALU mnemonic of an operation, if one instruction computes it.
fn scalar_op(op: Bin, calc: Calc) -> Option<&'static str> {
    use Calc::{I32, I64, Mask, U32, U64};
    Some(match (op, calc) {
        (Bin::Add, I32 | U32) => "s_add_u32",
        (Bin::Sub, I32 | U32) => "s_sub_u32",
        (Bin::Mul, I32 | U32) => "s_mul_i32",
        (Bin::MulHi, U32) => "s_mul_hi_u32",
        (Bin::MulHi, I32) => "s_mul_hi_i32",
        (Bin::And, I32 | U32 | Mask) => "s_and_b32",
        (Bin::Or, I32 | U32 | Mask) => "s_or_b32",
        (Bin::Xor, I32 | U32 | Mask) => "s_xor_b32",
        (Bin::Shl, I32 | U32) => "s_lshl_b32",
        (Bin::Shr, U32) => "s_lshr_b32",
        (Bin::Shr, I32) => "s_ashr_i32",
        (Bin::Min, U32) => "s_min_u32",
        (Bin::Min, I32) => "s_min_i32",
        (Bin::Max, U32) => "s_max_u32",
        (Bin::Max, I32) => "s_max_i32",
        (Bin::And, I64 | U64) => "s_and_b64",
        (Bin::Or, I64 | U64) => "s_or_b64",
        (Bin::Xor, I64 | U64) => "s_xor_b64",
        (Bin::Shl, I64 | U64) => "s_lshl_b64",
        (Bin::Shr, U64) => "s_lshr_b64",
        (Bin::Shr, I64) => "s_ashr_i64",
        _ => return None,
    })
}

/// The VALU mnemonic of an operation, if one instruction computes it. The flag is true if the instruction takes the two
/// sources in reverse order.
pub(super) fn vector_op(op: Bin, calc: Calc) -> Option<(&'static str, bool)> {
    use Calc::{F16, F32, F64, I32, I64, U32, U64};
    let plain = |m| Some((m, false));
    let reversed = |m| Some((m, true));
    match (op, calc) {
        (Bin::Add, I32 | U32) => plain("v_add_u32"),
        (Bin::Sub, I32 | U32) => plain("v_sub_u32"),
        (Bin::Mul, I32 | U32) => plain("v_mul_lo_u32"),
        (Bin::MulHi, U32) => plain("v_mul_hi_u32"),
        (Bin::MulHi, I32) => plain("v_mul_hi_i32"),
        (Bin::And, I32 | U32) => plain("v_and_b32"),
        (Bin::Or, I32 | U32) => plain("v_or_b32"),
        (Bin::Xor, I32 | U32) => plain("v_xor_b32"),
        (Bin::Shl, I32 | U32) => reversed("v_lshlrev_b32"),
        (Bin::Shr, U32) => reversed("v_lshrrev_b32"),
        (Bin::Shr, I32) => reversed("v_ashrrev_i32"),
        (Bin::Min, U32) => plain("v_min_u32"),
        (Bin::Min, I32) => plain("v_min_i32"),
        (Bin::Max, U32) => plain("v_max_u32"),
        (Bin::Max, I32) => plain("v_max_i32"),
        (Bin::Shl, I64 | U64) => reversed("v_lshlrev_b64"),
        (Bin::Shr, U64) => reversed("v_lshrrev_b64"),
        (Bin::Shr, I64) => reversed("v_ashrrev_i64"),
        (Bin::Add, F16) => plain("v_add_f16"),
        (Bin::Sub, F16) => plain("v_sub_f16"),
        (Bin::Mul, F16) => plain("v_mul_f16"),
        (Bin::Min, F16) => plain("v_min_f16"),
        (Bin::Max, F16) => plain("v_max_f16"),
        (Bin::Add, F32) => plain("v_add_f32"),
        (Bin::Sub, F32) => plain("v_sub_f32"),
        (Bin::Mul, F32) => plain("v_mul_f32"),
        (Bin::Min, F32) => plain("v_min_f32"),
        (Bin::Max, F32) => plain("v_max_f32"),
        (Bin::Add, F64) => plain("v_add_f64"),
        (Bin::Mul, F64) => plain("v_mul_f64"),
        (Bin::Min, F64) => plain("v_min_f64"),
        (Bin::Max, F64) => plain("v_max_f64"),
        _ => None,
    }
}

/// For integers of fewer than 32 bits: true if the operation's result is correctly sign- or zero-extended whenever its
/// operands are.
fn stays_narrow(op: Bin) -> bool {
    matches!(op, Bin::And | Bin::Or | Bin::Xor | Bin::Shr | Bin::Min | Bin::Max)
}

/// Factors below this bound are multiplied by 24-bit instructions, which run at full rate, as additions do.
const FULL_RATE: u32 = 1 << 24;

impl Lower<'_> {
    pub(super) fn bin(&mut self, v: Value, op: Bin, a: Value, b: Value) -> Lowered {
        let ty = self.kernel.ty(v);
        if ty.place == Place::Varying
            && matches!(calc(ty.elem), Calc::I32 | Calc::U32)
            && let Some(done) = self.small_division(v, op, [a, b])
        {
            return done;
        }
        if self.keeps_left(op, ty, [a, b]) {
            let src = self.operand(a);
            let dst = self.define(v);
            self.copy(dst, src);
            return Ok(());
        }
        if op == Bin::Add
            && ty.place == Place::Varying
            && matches!(calc(ty.elem), Calc::I64 | Calc::U64)
            && let Some(done) = self.sum_with_product(v, [a, b])
        {
            return done;
        }
        if let Some(done) = self.sum_with_condition(v, op, [a, b]) {
            return done;
        }
        // If both factors have at most 24 bits, there is a full-rate multiplication.
        let fits_24 = match self.ranges.get(a).max.max(self.ranges.get(b).max) {
            0..FULL_RATE => Some("v_mul_u32_u24"),
            _ if op != Bin::Mul => None,
            _ if [a, b].iter().all(|v| self.ranges.interval(*v).bits() <= FULL_RATE.ilog2()) => {
                Some("v_mul_i32_i24")
            }
            _ => None,
        };
        let zero_above = [a, b].map(|v| self.kernel.has_zero_above(v));
        // The bits above a narrow result are cleared only if they may be set.
        let fits = self.ranges.stays_within(self.kernel, op, [a, b], ty.elem);
        let elem = if fits { Elem::U32 } else { ty.elem };
        let (count, values) = (b, [a, b]);
        let (a, mut b) = (self.operand(a), self.operand(b));
        let dst = self.define(v);
        if op == Bin::Mul && ty.place == Place::Varying && matches!(calc(ty.elem), Calc::I32 | Calc::U32) {
            return self.multiply(elem, fits_24, dst, a, b);
        }
        if op == Bin::Mul && ty.place == Place::Varying && matches!(calc(ty.elem), Calc::I64 | Calc::U64) {
            return self.mul_64(dst, [a, b], zero_above);
        }
        if let (Bin::Add, Place::Varying, Calc::I64 | Calc::U64, [true, true], Src::Reg(_), Src::Reg(_)) =
            (op, ty.place, calc(ty.elem), zero_above, a, b)
        {
            let words = [(values[0], a), (values[1], b)].map(|(v, pair)| self.word(v, pair));
            return self.sum_of_words(dst, words);
        }
        if let (Bin::And | Bin::Or | Bin::Xor, Place::Varying, Calc::I64 | Calc::U64) =
            (op, ty.place, calc(ty.elem))
        {
            return self.bitwise_64(op, dst, [a, b], zero_above);
        }
        if matches!(op, Bin::Shl | Bin::Shr) && ty.elem.bytes() < 4 {
            // Rust masks shift counts by the width of the type, but the hardware masks them by 31.
            b = match self.kernel.shift_count(count, ty.elem) {
                Some(count) => Src::Const(count.into(), Width::B32),
                None => self.masked_count(b, ty.place, ty.elem.shift_mask())?,
            };
        }
        if ty.elem == Elem::Bool && ty.place == Place::Varying {
            let mnemonic = match op {
                Bin::And => mask::AND,
                Bin::Or => mask::OR,
                _ => mask::XOR,
            };
            return self.machine(self.mask_op(mnemonic), &[dst], &[a, b]);
        }
        if ty.place == Place::Uniform {
            if let Some(done) = self.by_scalars(v, dst, &[a, b]) {
                return done;
            }
            if let Some(mnemonic) = scalar_op(op, calc(ty.elem)) {
                self.machine(mnemonic, &[dst], &[a, b])?;
                return if stays_narrow(op) { Ok(()) } else { self.wrap_scalar(dst, elem) };
            }
            if matches!(calc(ty.elem), Calc::I64 | Calc::U64) && matches!(op, Bin::Add | Bin::Sub) {
                return self.add_sub_64_scalar(op, dst, a, b);
            }
            if matches!(calc(ty.elem), Calc::I64 | Calc::U64) && op == Bin::Mul {
                return self.mul_64_scalar(dst, a, b);
            }
            // The SALU lacks the operation: all active lanes compute it, and the first active lane's result is read
            // back.
            let wide = self.new_reg(RegFile::Vgpr, dst.len);
            self.bin_vector(op, elem, wide, a, b)?;
            return self.uniform_result(dst, wide, ty);
        }
        self.bin_vector(op, elem, dst, a, b)
    }

    /// True if the operation (a bitwise AND, minimum or maximum with a constant) cannot change its left operand, as the
    /// known range and known bits of that operand show.
    fn keeps_left(&self, op: Bin, ty: Type, [a, b]: [Value; 2]) -> bool {
        let (known, signed) = (self.ranges.get(a), self.ranges.interval(a));
        let bits = self.kernel.constant(b).map(|bits| bits as u32).filter(|_| ty.is_varying_word());
        match (op, bits) {
            (Bin::And, Some(bits)) => known.ones & !bits == 0,
            (Bin::Min, Some(bits)) if ty.elem == Elem::I32 => signed.high <= bits.cast_signed(),
            (Bin::Max, Some(bits)) if ty.elem == Elem::I32 => signed.low >= bits.cast_signed(),
            (Bin::Min, Some(bits)) => known.max <= bits,
            (Bin::Max, Some(bits)) => bits == 0,
            _ => false,
        }
    }

    /// Multiplies integers of up to 32 bits. The full 32-bit multiplication takes four times as long as other
    /// instructions.
    fn multiply(
        &mut self,
        elem: Elem,
        fits_24: Option<&'static str>,
        dst: VSlice,
        a: Src,
        b: Src,
    ) -> Lowered {
        let (a, b) = if self.is_vgpr(b) { (a, b) } else { (b, a) };
        match (fits_24, a) {
            (Some(short), _) => self.machine(short, &[dst], &[a, b])?,
            // x * (2^k + 1) = (x << k) + x.
            (_, Src::Const(c, _)) if c > 2 && (c as u32 - 1).is_power_of_two() => {
                let shift = Src::Const(u64::from((c as u32).ilog2()), Width::B32);
                self.machine("v_lshl_add_u32", &[dst], &[b, shift, b])?;
            }
            _ => self.machine("v_mul_lo_u32", &[dst], &[a, b])?,
        }
        self.wrap_vector(dst, elem)
    }

    fn masked_count(&mut self, count: Src, place: Place, mask: u32) -> Lowered<Src> {
        let mask = Src::Const(u64::from(mask), Width::B32);
        let (file, mnemonic) = match place {
            Place::Uniform => (RegFile::Sgpr, "s_and_b32"),
            _ => (RegFile::Vgpr, "v_and_b32"),
        };
        let dst = self.new_reg(file, 1);
        self.machine(mnemonic, &[dst], &[mask, count])?;
        Ok(Src::Reg(dst))
    }

    /// `dst = a op b` on the VALU, for any element type except masks.
    pub(super) fn bin_vector(&mut self, op: Bin, elem: Elem, dst: VSlice, a: Src, b: Src) -> Lowered {
        let calc = calc(elem);
        if elem == Elem::Bf16 {
            let (a, b) = (self.bf16_to_f32(a)?, self.bf16_to_f32(b)?);
            let wide = self.temp_v();
            self.bin_vector(op, Elem::F32, wide, a, b)?;
            // The result of a minimum or maximum is one of the operands, so bf16 represents it exactly.
            let exact = matches!(op, Bin::Min | Bin::Max);
            return self.bf16_result(dst, wide, exact);
        }
        if let Some((mnemonic, reversed)) = vector_op(op, calc) {
            let (mut x, mut y) = if reversed { (b, a) } else { (a, b) };
            // VOP2 accepts scalars and constants only as its first source.
            if op.commutes() && !self.is_vgpr(y) && self.is_vgpr(x) {
                std::mem::swap(&mut x, &mut y);
            }
            self.machine(mnemonic, &[dst], &[x, y])?;
            return if stays_narrow(op) { Ok(()) } else { self.wrap_vector(dst, elem) };
        }
        match (op, calc) {
            (Bin::Sub, Calc::F64) => {
                self.machine_with("v_add_f64", &[dst], &[a, b], |m: &mut Mods| m.neg = 0b10)
            }
            (Bin::Add | Bin::Sub, Calc::I64 | Calc::U64) => self.add_sub_64_vector(op, dst, a, b),
            (Bin::And | Bin::Or | Bin::Xor, Calc::I64 | Calc::U64) => {
                self.bitwise_64(op, dst, [a, b], [false; 2])
            }
            (Bin::Mul, Calc::I64 | Calc::U64) => self.mul_64(dst, [a, b], [false; 2]),
            (Bin::Min | Bin::Max, Calc::I64 | Calc::U64) => {
                let below = self.new_mask();
                let (a, b) = (Src::Reg(self.in_vgpr(a, 2)), Src::Reg(self.in_vgpr(b, 2)));
                let pred = if op == Bin::Min { Pred::Lt } else { Pred::Gt };
                self.cmp_vector(pred, elem, below, a, b)?;
                self.blend(dst, Src::Reg(below), a, b)
            }
            (Bin::Div, Calc::F32 | Calc::F64) => self.div_float(elem, dst, a, b),
            (Bin::Div, Calc::F16) => self.div_f16(dst, a, b),
            _ => Err(self.unsupported(
                &format!("`{op:?}`").to_lowercase(),
                elem,
                "convert to a type that has it with `as`",
            )),
        }
    }

    pub(super) fn unsupported(&self, what: &str, elem: Elem, remedy: &str) -> LowerError {
        self.error(LowerCause::Unsupported { what: what.to_owned(), elem, remedy: remedy.to_owned() })
    }

    pub(super) fn is_vgpr(&self, src: Src) -> bool {
        matches!(src, Src::Reg(s) if self.func.info(s.reg).file == RegFile::Vgpr)
    }

    /// Dword `i` of a 64-bit source operand.
    pub(super) fn half(&self, src: Src, i: u8) -> Src {
        match src {
            Src::Reg(s) => Src::Reg(VSlice { reg: s.reg, start: s.start + i, len: 1 }),
            Src::Const(bits, _) => Src::Const(bits >> (32 * i) & 0xffff_ffff, Width::B32),
            fixed @ Src::Fixed(_) => fixed,
        }
    }

    /// If `part` is 0, starts the live range of the tuple `dst`, before its first part is written.
    pub(super) fn assemble(&mut self, dst: VSlice, part: u8) {
        if part == 0 {
            self.push(Op::Undef, [MOperand::Virt(dst)]);
        }
    }

    /// Restores the sign or zero extension of a narrow integer, on the VALU.
    pub(super) fn wrap_vector(&mut self, dst: VSlice, elem: Elem) -> Lowered {
        if !elem.is_narrow_integer() {
            return Ok(());
        }
        self.narrow_integer(dst, Src::Reg(dst), 0, elem)
    }

    /// Extracts the bits of `src` from bit `first` on, as an integer of fewer than 32 bits, extended according to its
    /// type.
    pub(super) fn narrow_integer(&mut self, dst: VSlice, src: Src, first: u32, elem: Elem) -> Lowered {
        let bits = 8 * elem.bytes();
        let constant = |c: u32| Src::Const(u64::from(c), Width::B32);
        if elem.is_signed() {
            self.machine("v_bfe_i32", &[dst], &[src, constant(first), constant(bits)])
        } else if first > 0 {
            self.machine("v_bfe_u32", &[dst], &[src, constant(first), constant(bits)])
        } else {
            self.machine("v_and_b32", &[dst], &[constant((1 << bits) - 1), src])
        }
    }

    pub(super) fn wrap_scalar(&mut self, dst: VSlice, elem: Elem) -> Lowered {
        if !elem.is_narrow_integer() {
            return Ok(());
        }
        self.narrow_scalar(dst, Src::Reg(dst), 0, elem)
    }

    /// As [`Self::narrow_integer`], on the SALU.
    pub(super) fn narrow_scalar(&mut self, dst: VSlice, src: Src, first: u32, elem: Elem) -> Lowered {
        let bits = 8 * elem.bytes();
        // `s_bfe_*` takes offset and width in one operand.
        let field = Src::Const(u64::from(first | bits << 16), Width::B32);
        match (elem, first) {
            (Elem::I8, 0) => self.machine("s_sext_i32_i8", &[dst], &[src]),
            (Elem::I16, 0) => self.machine("s_sext_i32_i16", &[dst], &[src]),
            (_, 0) => self.machine("s_and_b32", &[dst], &[src, Src::Const((1 << bits) - 1, Width::B32)]),
            _ if elem.is_signed() => self.machine("s_bfe_i32", &[dst], &[src, field]),
            _ => self.machine("s_bfe_u32", &[dst], &[src, field]),
        }
    }

    pub(super) fn add_sub_64_scalar(&mut self, op: Bin, dst: VSlice, a: Src, b: Src) -> Lowered {
        let names = if op == Bin::Add { ["s_add_u32", "s_addc_u32"] } else { ["s_sub_u32", "s_subb_u32"] };
        self.assemble(dst, 0);
        for i in 0..2 {
            let d = VSlice { reg: dst.reg, start: dst.start + i, len: 1 };
            let (x, y) = (self.half(a, i), self.half(b, i));
            self.machine(names[i as usize], &[d], &[x, y])?;
        }
        Ok(())
    }

    /// The lower word of the 64-bit integer `v`. If `v` was extended from a word or assembled from two, that word
    /// itself; otherwise the lower half of `pair`.
    fn word(&mut self, v: Value, pair: Src) -> Src {
        match &self.kernel.def(v).inst {
            Inst::Concat(parts) => self.operand(parts[0]),
            Inst::Cast(of) if self.kernel.ty(*of).is_varying_word() => self.operand(*of),
            _ => self.half(pair, 0),
        }
    }

    /// Adds two 64-bit integers whose upper halves are 0. The upper half of the sum is the carry.
    fn sum_of_words(&mut self, dst: VSlice, words: [Src; 2]) -> Lowered {
        let [x, y] = words;
        let (carry, ignored) = (self.new_mask(), self.new_mask());
        let (x, zero) = (self.in_vgpr(x, 1), Src::Const(0, Width::B32));
        let (lo, hi) = (VSlice { len: 1, ..dst }, VSlice { start: dst.start + 1, len: 1, ..dst });
        self.assemble(dst, 0);
        self.machine("v_add_co_u32", &[lo, carry], &[Src::Reg(x), y])?;
        self.machine("v_addc_co_u32", &[hi, ignored], &[zero, zero, Src::Reg(carry)])
    }

    pub(super) fn add_sub_64_vector(&mut self, op: Bin, dst: VSlice, a: Src, b: Src) -> Lowered {
        // Turn the subtraction of a constant into an addition, which is a single instruction on some targets.
        if let (Bin::Sub, Src::Const(bits, width)) = (op, b) {
            return self.add_sub_64_vector(Bin::Add, dst, a, Src::Const(bits.wrapping_neg(), width));
        }
        if op == Bin::Add && gcn_isa::table::find_operation(self.target, "v_lshl_add_u64").next().is_some() {
            return self.machine("v_lshl_add_u64", &[dst], &[a, Src::Const(0, Width::B32), b]);
        }
        let (low, high) = if op == Bin::Add {
            ("v_add_co_u32", "v_addc_co_u32")
        } else {
            ("v_sub_co_u32", "v_subb_co_u32")
        };
        let (carry, ignored) = (self.new_mask(), self.new_mask());
        self.assemble(dst, 0);
        let lo = VSlice { reg: dst.reg, start: dst.start, len: 1 };
        let hi = VSlice { start: dst.start + 1, ..lo };
        let halves = [self.half(a, 0), self.half(b, 0), self.half(a, 1), self.half(b, 1)];
        // An instruction may read one scalar. The second addition reads the carry, so its other sources must be in
        // VGPRs.
        let highs = [self.in_vgpr(halves[2], 1), self.in_vgpr(halves[3], 1)];
        self.machine(low, &[lo, carry], &halves[..2])?;
        self.machine(high, &[hi, ignored], &[Src::Reg(highs[0]), Src::Reg(highs[1]), Src::Reg(carry)])
    }
}

/// A constant as the bit pattern that a move or a bitwise instruction reads.
pub(super) fn raw_bits(src: Src) -> Src {
    match src {
        Src::Const(bits, Width::B16) => Src::Const(bits, Width::B32),
        other => other,
    }
}
