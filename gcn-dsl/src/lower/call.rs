//! Machine instructions that the kernel names by mnemonic (`crate::isa`).
//!
//! A call names its operands and the types of its results. This module chooses a row of the instruction table for the
//! call: of the rows that have the call's modifiers, the one with the fewest copies, then the one with the shortest
//! encoding. Moves surround the instruction. Before it are moves for operands that no row accepts, for the old value of
//! a tied operand, and for SCC, VCC and M0. After it are moves for SCC, VCC, the rest of a wide result, and the old
//! EXEC. None of these moves changes SCC.
//!
//! The encoder checks modifiers and immediates: it encodes the instruction once with stand-in registers. Errors are
//! therefore reported at the user's call, and this module need not repeat the encoder's rules.

mod fits;

use gcn_isa::inst::{Inst as MachineInst, Mods};
use gcn_isa::operand::Operand;
use gcn_isa::reg::{EXEC, M0, Reg, RegFile, VCC};
use gcn_isa::table::{self, Access, Class, Entry, ImplicitRegs, InstDesc, OperandDesc, OperandKinds};
use gcn_isa::target::WaveSize;
use hashbrown::HashMap;
use smallvec::SmallVec;

use super::emit::{Bus, can_copy, file_kind, is_fixed_vcc, is_low_half, to_operand};
use super::{Lower, LowerCause, LowerError, Lowered, Src, Width};
use crate::catalog::returns_exec;
use crate::ir::call::BUFFER_FORMAT;
use crate::ir::{Arg, Call, Type, Value};
use crate::mir::{MOperand, Op, VSlice};
use crate::scalar::Elem;
use fits::{Fit, accepts_bits, can_hold, has_modifiers, modifiers, narrow_fits, starts_accumulator, takes};

/// A row, with the call's modifiers.
struct Choice {
    row: &'static InstDesc,
    mods: Mods,
}

/// The operands of the instruction in the chosen row, and the moves that follow the instruction.
#[derive(Default)]
struct Placed {
    operands: SmallVec<[MOperand; 5]>,
    after: SmallVec<[(VSlice, Src); 2]>,
}

impl Lower<'_> {
    /// Emits the call of value `v`.
    pub(super) fn call(&mut self, v: Value, call: &Call) -> Lowered {
        let srcs: SmallVec<[Src; 4]> =
            call.args.iter().map(|arg| self.argument(call.mnemonic, arg)).collect();
        self.call_with(v, call, &srcs)
    }

    /// Emits a call with the operands `srcs` instead of its arguments.
    pub(super) fn call_with(&mut self, v: Value, call: &Call, srcs: &[Src]) -> Lowered {
        let choice = self.choose(call, srcs)?;
        let results = self.results(v, call);
        self.names_lds |= matches!(choice.row.class, Class::LdsRead | Class::LdsWrite);
        // The kernel names this instruction, so no peephole pattern may replace it.
        self.func.named.extend(results.iter().map(|slice| slice.reg));
        // The instruction must stay even if its results are unused, so treat them as observed.
        if call.effect == crate::ir::Effect::Kept {
            self.func.kept.extend(results.iter().map(|slice| slice.reg));
        }
        if self.func.wave == WaveSize::W32 && choice.row.implicit_writes.contains(ImplicitRegs::EXEC) {
            let what = format!("`{}` in waves of 32 lanes, which changes a mask of 64,", call.mnemonic);
            return Err(self.unsupported(&what, Elem::Bool, "build the kernel with `#[wave(64)]`"));
        }
        let placed = self.place(call, &choice, &results, srcs);
        self.check_encoding(call.mnemonic, &choice, &placed.operands)?;
        self.keep_old(call, &choice, &placed);
        let saved = self.before(call, choice.row)?;
        self.push(Op::Machine(choice.row, choice.mods), placed.operands);
        for (dst, src) in placed.after {
            self.copy(dst, src);
        }
        self.after(v, call, choice.row, &results, saved)
    }

    /// Assigns the register of a further result of a call.
    pub(super) fn further_result(&mut self, v: Value, of: Value, index: u8) {
        let reg = self.further.get(&(of, index)).copied();
        self.alias(v, reg);
    }

    fn argument(&mut self, mnemonic: &str, arg: &Arg) -> Src {
        match *arg {
            Arg::Imm(i) => Src::Fixed(Operand::Imm(i)),
            Arg::Literal(bits) => Src::Fixed(Operand::Literal(bits)),
            Arg::Literal64(bits) => Src::Fixed(Operand::Literal64(bits)),
            Arg::Off => Src::Fixed(Operand::Off),
            Arg::Value(v) => match self.operand(v) {
                // The instruction has no 16-bit operands, and an inline float constant has other bits in wider
                // operands, so pass the bits as a 32-bit constant.
                Src::Const(bits, Width::B16) if !table::entry(mnemonic).is_some_and(Entry::has_words) => {
                    Src::Const(bits, Width::B32)
                }
                other => other,
            },
        }
    }

    /// The registers for the results. The first result is the value `v` itself.
    fn results(&mut self, v: Value, call: &Call) -> SmallVec<[VSlice; 2]> {
        let types = call.results.iter().enumerate();
        types
            .map(|(i, &ty)| {
                if i == 0 {
                    return self.define(v);
                }
                let (file, len) = ty.registers_in(self.func.wave);
                let slice = self.new_reg(file, len);
                self.further.insert((v, i as u8), slice.reg);
                slice
            })
            .collect()
    }

    fn choose(&self, call: &Call, srcs: &[Src]) -> Lowered<Choice> {
        let rows: SmallVec<[&'static InstDesc; 8]> = call.rows(self.func.on()).collect();
        if rows.is_empty() {
            return Err(self.no_instruction(call.mnemonic));
        }
        let able = rows.iter().copied().filter(|row| has_modifiers(row, call));
        let best = able
            .filter_map(|row| {
                let fit = self.fit_call(row, call, srcs)?;
                let mods = modifiers(row, call, self.target);
                // If no row accepts the values, the encoder says which of them is wrong.
                let refused = !accepts_bits(row, &mods);
                let cost = (refused, fit.copies, row.bytes + 4 * u8::from(fit.literal), row.id);
                Some((cost, Choice { row, mods }))
            })
            .min_by_key(|(cost, _)| *cost);
        match best {
            Some((_, choice)) => Ok(choice),
            None if !rows.iter().any(|row| has_modifiers(row, call)) => Err(self.no_modifier(&rows, call)),
            None => Err(self.no_encoding(call.mnemonic, &[], srcs)),
        }
    }

    /// The constant bus reads of a call with these sources (one source for each operand that the instruction reads).
    fn bus_of_call(&self, row: &InstDesc, srcs: &[Src]) -> Bus {
        let mut bus = Bus::new(row, self.target);
        let slots = row.operands.iter().filter(|slot| slot.access != Access::Write);
        bus.reserve(slots.zip(srcs).map(|(slot, src)| (slot, *src, self.file(*src))));
        bus
    }

    /// The number of copies that the call needs if it uses `row`; `None` if `row` cannot be used.
    fn fit_call(&self, row: &InstDesc, call: &Call, srcs: &[Src]) -> Option<Fit> {
        let mut types = call.results.iter();
        let mut srcs = srcs.iter();
        let mut fit = Fit { copies: 0, literal: false };
        let mut bus = self.bus_of_call(row, srcs.as_slice());
        for slot in row.operands {
            if slot.access != Access::Read {
                fit.copies += self.result_copies(slot, *types.next()?)?;
            }
            if slot.access == Access::Write {
                continue;
            }
            let src = *srcs.next()?;
            let file = self.file(src);
            if slot.access == Access::ReadWrite {
                // A tied operand is always copied to the result's register; the allocator coalesces that copy if it
                // can.
                can_hold(slot, src, file).then_some(())?;
            } else if is_fixed_vcc(slot) {
                fit.copies += 1;
            } else if takes(row, slot, src, file) && bus.take(src, file) {
                fit.literal |= matches!(to_operand(src), MOperand::Fixed(Operand::Literal(_)));
            } else {
                let copied = can_copy(slot, src, file) || narrow_fits(row, slot, src);
                (copied || starts_accumulator(row, slot, src)).then_some(())?;
                fit.copies += 1;
            }
        }
        srcs.next().is_none().then_some(fit)
    }

    /// The number of copies needed to move a result of type `ty` from the register file of the operand `slot`; `None`
    /// if it cannot be moved.
    fn result_copies(&self, slot: &OperandDesc, ty: Type) -> Option<u32> {
        let (file, len) = ty.registers_in(self.func.wave);
        if is_fixed_vcc(slot) {
            return (file == RegFile::Sgpr && len == self.func.wave.mask_registers()).then_some(1);
        }
        let narrower = slot.access == Access::ReadWrite && slot.dwords == 2 * len;
        if slot.dwords != len && !narrower {
            return None;
        }
        if slot.kinds.contains(file_kind(file)) || is_low_half(slot, file_kind(file)) {
            return Some(u32::from(narrower));
        }
        (file == RegFile::Vgpr && slot.kinds.contains(OperandKinds::AGPR)).then_some(1)
    }

    /// Determines the operands of the instruction in the chosen row. Emits the copies that precede the instruction, and
    /// returns those that follow it.
    fn place(&mut self, call: &Call, choice: &Choice, results: &[VSlice], srcs: &[Src]) -> Placed {
        let row = choice.row;
        let mut placed = Placed::default();
        let (mut results, mut srcs) = (results.iter(), srcs.iter());
        let mut bus = self.bus_of_call(row, srcs.as_slice());
        for slot in row.operands {
            let dst = if slot.access == Access::Read { None } else { results.next().copied() };
            let src = if slot.access == Access::Write { None } else { srcs.next().copied() };
            let operand = match (dst, src) {
                (Some(dst), src) => self.place_result(slot, dst, src, &mut placed),
                (None, Some(src)) => self.place_source(row, slot, src, &mut bus),
                (None, None) => unreachable!("{}: counted when the row was chosen", call.mnemonic),
            };
            placed.operands.push(operand);
        }
        self.unify_files(row, &mut placed.operands);
        placed
    }

    fn place_result(
        &mut self,
        slot: &OperandDesc,
        dst: VSlice,
        tied: Option<Src>,
        placed: &mut Placed,
    ) -> MOperand {
        if is_fixed_vcc(slot) {
            placed.after.push((dst, Src::Fixed(self.vcc().into())));
            return MOperand::Fixed(self.vcc().into());
        }
        let file = self.func.info(dst.reg).file;
        let held = slot.kinds.contains(file_kind(file)) || is_low_half(slot, file_kind(file));
        let at = if held && slot.dwords == dst.len {
            dst
        } else {
            let file = if slot.kinds.contains(file_kind(file)) { file } else { RegFile::Agpr };
            let wide = self.new_reg(file, slot.dwords);
            placed.after.push((dst, Src::Reg(VSlice { len: dst.len, ..wide })));
            wide
        };
        if let Some(src) = tied {
            self.copy(at, super::arith::raw_bits(src));
        }
        MOperand::Virt(at)
    }

    fn place_source(&mut self, row: &InstDesc, slot: &OperandDesc, src: Src, bus: &mut Bus) -> MOperand {
        let file = self.file(src);
        if is_fixed_vcc(slot) {
            self.set_fixed(self.vcc(), src);
            return MOperand::Fixed(self.vcc().into());
        }
        if takes(row, slot, src, file) && bus.take(src, file) {
            return to_operand(src);
        }
        let vector = slot.kinds.intersects(OperandKinds::VGPR | OperandKinds::AGPR);
        if !vector && slot.allows_special("m0") && row.format.is_vop() && bus.take_m0() {
            // The lane number of v_writelane_b32 may be in M0 if another SGPR takes the constant bus.
            self.set_fixed(M0, src);
            return MOperand::Fixed(M0.into());
        }
        MOperand::Virt(self.copied(slot, src))
    }

    /// If the row requires two operands in the same register file, moves an accumulator to the file of the result.
    fn unify_files(&mut self, row: &InstDesc, operands: &mut [MOperand]) {
        for pair in row.same_file {
            let (a, b) = (usize::from(pair.a), usize::from(pair.b));
            let (Some(&MOperand::Virt(x)), Some(&MOperand::Virt(y))) = (operands.get(a), operands.get(b))
            else {
                continue;
            };
            if self.func.info(x.reg).file == self.func.info(y.reg).file {
                continue;
            }
            for (i, slice) in [(a, x), (b, y)] {
                if self.func.info(slice.reg).file == RegFile::Agpr && row.operands[i].access == Access::Read {
                    operands[i] = MOperand::Virt(self.in_vgpr(Src::Reg(slice), slice.len));
                }
            }
        }
    }

    /// If the instruction does not write the whole destination, copies the old value to it.
    fn keep_old(&mut self, call: &Call, choice: &Choice, placed: &Placed) {
        let inst = MachineInst { desc: choice.row, operands: SmallVec::new(), mods: choice.mods };
        if !inst.preserves_destination() {
            return;
        }
        let written = choice.row.operands.iter().position(|o| o.access == Access::Write && o.name == "vdst");
        let Some(&MOperand::Virt(dst)) = written.and_then(|i| placed.operands.get(i)) else { return };
        match call.old.map(|old| self.operand(old)) {
            Some(old) => self.copy(dst, super::arith::raw_bits(old)),
            None => {
                self.push(Op::Undef, [MOperand::Virt(dst)]);
            }
        }
    }

    /// Sets the registers that the instruction reads implicitly. Returns the register in which EXEC is saved, if the
    /// instruction writes EXEC.
    fn before(&mut self, call: &Call, row: &InstDesc) -> Lowered<Option<VSlice>> {
        let saved = row.implicit_writes.contains(ImplicitRegs::EXEC).then(|| {
            let saved = self.new_mask();
            self.copy(saved, Src::Fixed(self.exec().into()));
            saved
        });
        for (reg, value) in [(VCC, call.vcc), (M0, call.m0)] {
            if let Some(value) = value {
                let src = self.operand(value);
                let len = match src {
                    Src::Reg(s) => s.len,
                    _ => reg.len,
                };
                self.set_fixed(reg.slice(0, len), super::arith::raw_bits(src));
            }
        }
        match call.scc {
            Some(scc) if !self.scc_follows.contains(&scc) => self.condition_to_scc(scc)?,
            _ => {}
        }
        Ok(saved)
    }

    /// Copies the results out of special registers, and restores EXEC.
    fn after(
        &mut self,
        v: Value,
        call: &Call,
        row: &InstDesc,
        results: &[VSlice],
        saved: Option<VSlice>,
    ) -> Lowered {
        let explicit = row.operands.iter().filter(|o| o.access != Access::Read).count();
        let mut implicit = results.iter().enumerate().skip(explicit);
        if returns_exec(call.mnemonic)
            && let Some((_, dst)) = implicit.next()
        {
            self.copy(*dst, Src::Fixed(EXEC.into()));
        }
        if let Some(saved) = saved {
            self.set_fixed(self.exec(), Src::Reg(saved));
        }
        if let Some((i, dst)) = implicit.next() {
            let used = if i == 0 { Some(v) } else { self.scc_results.get(&(v, i as u8)).copied() };
            if used.is_some_and(|used| !self.scc_follows.contains(&used)) {
                self.select_scc(*dst)?;
            }
        }
        Ok(())
    }

    /// Copies `src` to a special register.
    fn set_fixed(&mut self, reg: Reg, src: Src) {
        let src = match src {
            // `Op::Copy` repeats a 32-bit constant in each dword, so other 64-bit constants need a register.
            Src::Const(bits, Width::B64) if bits != 0 && bits != u64::MAX => Src::Reg(self.in_sgpr(src, 2)),
            other => other,
        };
        self.push(Op::Copy, [MOperand::Fixed(reg.into()), to_operand(src)]);
    }

    /// Lets the encoder check the call, with stand-ins for the virtual registers.
    fn check_encoding(&self, mnemonic: &str, choice: &Choice, operands: &[MOperand]) -> Lowered {
        let mut next: HashMap<RegFile, u16> = HashMap::new();
        let mut known: HashMap<VSlice, Reg> = HashMap::new();
        let stand_ins = operands.iter().map(|operand| match *operand {
            MOperand::Fixed(fixed) => fixed,
            MOperand::Virt(slice) => Operand::Reg(*known.entry(slice).or_insert_with(|| {
                let file = self.func.info(slice.reg).file;
                let free = next.entry(file).or_insert(0);
                let index = *free;
                *free += u16::from(slice.len).next_multiple_of(4);
                Reg { file, index, len: slice.len }
            })),
        });
        let inst = MachineInst { desc: choice.row, operands: stand_ins.collect(), mods: choice.mods };
        gcn_emit::encode::encode_inst(&inst, self.target).map(|_| ()).map_err(|error| {
            let (mnemonic, target) = (mnemonic.to_owned(), self.target);
            self.error(LowerCause::Encoding { mnemonic, target, fault: error.into() })
        })
    }

    fn no_modifier(&self, rows: &[&'static InstDesc], call: &Call) -> LowerError {
        let missing: Vec<String> = (call.given.set - BUFFER_FORMAT)
            .iter_names()
            .filter(|(_, flag)| !rows.iter().any(|row| row.modifiers.contains(*flag)))
            .map(|(name, _)| format!("`{}`", name.to_lowercase()))
            .collect();
        let what = match missing.len() {
            0 => "these modifiers together".to_owned(),
            _ => missing.join(", "),
        };
        let mnemonic = format!("{}{}", call.mnemonic, call.variant.suffix());
        self.error(LowerCause::Modifier { mnemonic, target: self.target, what })
    }
}
