//! Lowers uniform floating-point operations to scalar instructions, where the target has them ([`scalar_float`]). These
//! round, and treat denormals and NaN, as the vector instructions of the same names do.

use gcn_isa::reg::RegFile;

use super::arith::raw_bits;
use super::{Lower, Lowered, Src, Width};
use crate::ir::{Inst, Pred, Un, Value, scalar_float};
use crate::mir::VSlice;
use crate::scalar::Elem;

impl Lower<'_> {
    /// Computes `v` with one scalar instruction. `None` if there is none, or if vector registers contain all register
    /// operands as well: the value is then computed by a vector instruction, so that no operand has to be read back.
    pub(super) fn by_scalars(&mut self, v: Value, dst: VSlice, srcs: &[Src]) -> Option<Lowered> {
        let name = scalar_float::operation(self.kernel, self.target, v)?;
        if self.in_vector[v.0 as usize] || self.are_in_vectors(srcs) {
            return None;
        }
        Some(match (&self.kernel.def(v).inst, srcs) {
            (Inst::Fma(..), &[a, b, addend]) => self.scalar_fma(&name, dst, [a, b, addend]),
            (Inst::Un(op @ (Un::Neg | Un::Abs), _), &[x]) => {
                let sign = if self.kernel.ty(v).elem == Elem::F16 { 0x8000u32 } else { 0x8000_0000 };
                let mask = if *op == Un::Neg { sign } else { sign - 1 };
                self.machine(&name, &[dst], &[raw_bits(x), Src::Const(mask.into(), Width::B32)])
            }
            _ => self.machine(&name, &[dst], srcs),
        })
    }

    /// Emits a fused multiply-add. The scalar instruction adds to its destination.
    fn scalar_fma(&mut self, name: &str, dst: VSlice, [a, b, addend]: [Src; 3]) -> Lowered {
        // Use a new register: `dst` may be the register of a variable that is also a factor.
        let sum = self.new_reg(RegFile::Sgpr, 1);
        self.copy(sum, raw_bits(addend));
        self.machine(name, &[], &[Src::Reg(sum), a, b])?;
        self.copy(dst, Src::Reg(sum));
        Ok(())
    }

    /// Emits `SCC = x pred y` for uniform floats.
    pub(super) fn compare_scalar_floats(
        &mut self,
        pred: Pred,
        elem: Elem,
        operands: [Src; 2],
    ) -> Option<Lowered> {
        let name = scalar_float::comparison(self.target, pred, elem)?;
        (!self.are_in_vectors(&operands)).then(|| self.machine(&name, &[], &operands))
    }

    /// Emits `v = a as T`, where `T` is the type of `v` and one of the two types is a float. `None` if there is no
    /// scalar instruction for this conversion.
    pub(super) fn cast_scalar_float(&mut self, v: Value, a: Value) -> Option<Lowered> {
        let name = scalar_float::operation(self.kernel, self.target, v)?;
        let [from, to] = [a, v].map(|v| self.kernel.ty(v).elem);
        if from == Elem::Bool {
            return Some(self.condition_to_scc(a).and_then(|()| {
                let dst = self.define(v);
                let one = if to == Elem::F16 { 0x3c00 } else { 1f32.to_bits() };
                self.machine(&name, &[dst], &[Src::Const(one.into(), Width::B32), Src::Const(0, Width::B32)])
            }));
        }
        let src = self.operand(a);
        if self.in_vector[v.0 as usize] || self.are_in_vectors(&[src]) {
            return None;
        }
        let dst = self.define(v);
        Some(self.scalar_steps(&name, dst, src, [from, to]))
    }

    fn scalar_steps(&mut self, last: &str, dst: VSlice, src: Src, [from, to]: [Elem; 2]) -> Lowered {
        let first = match (from.is_float(), to.is_float()) {
            (false, true) if to == Elem::F16 => Some(format!("s_cvt_f32_{}", scalar_float::word(from))),
            (true, false) if from == Elem::F16 => Some("s_cvt_f32_f16".to_owned()),
            _ => None,
        };
        let mut src = src;
        if let Some(first) = first {
            let wide = self.new_reg(RegFile::Sgpr, 1);
            self.machine(&first, &[wide], &[src])?;
            src = Src::Reg(wide);
        }
        self.machine(last, &[dst], &[src])?;
        if !to.is_narrow_integer() {
            return Ok(());
        }
        let bits = 8 * to.bytes();
        let constant = |c: i32| Src::Const(u64::from(c as u32), Width::B32);
        if to.is_signed() {
            let (least, most) = (-(1i32 << (bits - 1)), (1 << (bits - 1)) - 1);
            self.machine("s_max_i32", &[dst], &[Src::Reg(dst), constant(least)])?;
            return self.machine("s_min_i32", &[dst], &[Src::Reg(dst), constant(most)]);
        }
        self.machine("s_min_u32", &[dst], &[Src::Reg(dst), constant((1i32 << bits) - 1)])
    }

    /// True if some sources are registers and vector registers contain the values of all of these.
    fn are_in_vectors(&self, srcs: &[Src]) -> bool {
        let mut registers = srcs.iter().filter(|src| matches!(src, Src::Reg(_))).peekable();
        registers.peek().is_some() && registers.all(|src| self.for_vector(*src) != *src)
    }
}
