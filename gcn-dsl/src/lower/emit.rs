//! Emits machine instructions: selects the encoding that accepts the operands, and copies operands that no encoding
//! accepts.

use gcn_isa::Target;
use gcn_isa::inst::Mods;
use gcn_isa::operand::{Inline, Operand};
use gcn_isa::reg::{RegFile, VCC};
use gcn_isa::table::{self, Access, InstDesc, OperandDesc, OperandKinds};
use smallvec::SmallVec;

use super::{Lower, LowerCause, LowerError, Lowered, Src, Width};
use crate::mir::{MOperand, Op, VReg, VSlice};

impl Lower<'_> {
    /// Emits `mnemonic` with default modifiers.
    pub(super) fn machine(&mut self, mnemonic: &str, dsts: &[VSlice], srcs: &[Src]) -> Lowered {
        self.machine_with(mnemonic, dsts, srcs, |_| {})
    }

    /// Emits `mnemonic`, with destinations and sources in assembly order. VCC may be omitted where the encoding has it
    /// as a fixed operand.
    pub(super) fn machine_with(
        &mut self,
        mnemonic: &str,
        dsts: &[VSlice],
        srcs: &[Src],
        modify: impl Fn(&mut Mods),
    ) -> Lowered {
        let rows: SmallVec<[&'static InstDesc; 8]> = table::find_operation(self.func.on(), mnemonic)
            // DPP and SDWA forms need controls; `combine` introduces these forms where they save instructions.
            .filter(|row| !row.format.is_dpp() && !row.format.is_sdwa() && reaches_all(row))
            .collect();
        if rows.is_empty() {
            return Err(self.no_instruction(mnemonic));
        }
        let srcs = self.twins_of(&rows, srcs);
        let srcs = &srcs[..];
        // Prefer the fewest copies, then the fewest bytes: a move costs more than a longer encoding.
        let best = rows
            .into_iter()
            .filter_map(|row| {
                let mut mods = row.default_mods();
                modify(&mut mods);
                let fit = self.fit(row, dsts, srcs, &mods)?;
                // A literal adds four bytes to the instruction.
                Some((fit.copies, row.bytes + 4 * u8::from(fit.literal), row.id, row, mods))
            })
            // The row's number breaks ties, so the choice is deterministic.
            .min_by_key(|c| (c.0, c.1, c.2));
        let Some((_, _, _, row, mods)) = best else {
            return Err(self.no_encoding(mnemonic, dsts, srcs));
        };
        self.emit_row(row, mods, dsts, srcs);
        Ok(())
    }

    /// The sources, in which each scalar that a vector instruction has computed is replaced by the vector register with
    /// the same value, so that no lane has to be read back.
    fn twins_of(&self, rows: &[&InstDesc], srcs: &[Src]) -> SmallVec<[Src; 4]> {
        let takes = |row: &InstDesc, i: usize| {
            let mut slots = row.operands.iter().filter(|o| o.access != Access::Write && !is_fixed_vcc(o));
            row.format.is_vop() && slots.nth(i).is_some_and(|slot| slot.kinds.contains(OperandKinds::VGPR))
        };
        let twin = |(i, src): (usize, &Src)| {
            let vector = !self.twins.is_empty() && rows.iter().any(|row| takes(row, i));
            if vector { self.for_vector(*src) } else { *src }
        };
        srcs.iter().enumerate().map(twin).collect()
    }

    /// Emits `row` with the given operands, and copies for sources that the row's slots do not accept. The caller must
    /// have checked with `fit` that this is possible.
    fn emit_row(&mut self, row: &'static InstDesc, mods: Mods, dsts: &[VSlice], srcs: &[Src]) {
        let written = dsts;
        let (mut dsts, mut srcs) = (dsts.iter(), srcs.iter());
        let mut operands: SmallVec<[MOperand; 5]> = SmallVec::new();
        let mut bus = self.bus(row, srcs.as_slice());
        for slot in row.operands {
            let operand = if is_fixed_vcc(slot) {
                MOperand::Fixed(self.vcc().into())
            } else if slot.access == Access::Write {
                dsts.next().map(|d| MOperand::Virt(*d)).unwrap_or_else(|| unreachable!("checked by fit"))
            } else {
                let src = *srcs.next().unwrap_or_else(|| unreachable!("checked by fit"));
                if slot_takes(slot, src, self.file(src)) && bus.take(src, self.file(src)) {
                    to_operand(src)
                // Try this before a copy to a vector register: a scalar move can issue in parallel with the vector
                // instructions of other waves.
                } else if let Some(scalar) = self.in_scalar(slot, src, &mut bus) {
                    MOperand::Virt(scalar)
                } else {
                    MOperand::Virt(self.copied(slot, src))
                }
            };
            operands.push(operand);
        }
        // The instruction keeps the other half of its destination. In a new register that half is undefined, and
        // [`Op::Undef`] says so.
        if row.has_halves() && row.keeps_other_half() {
            written.iter().for_each(|dst| {
                self.push(Op::Undef, [MOperand::Virt(*dst)]);
            });
        }
        self.push(Op::Machine(row, mods), operands);
    }

    /// If the slot and the constant bus accept a scalar register, moves the constant `src` to one; this costs no vector
    /// instruction. `None` otherwise.
    fn in_scalar(&mut self, slot: &OperandDesc, src: Src, bus: &mut Bus) -> Option<VSlice> {
        let dwords = match src {
            Src::Const(_, Width::B32 | Width::B16) => 1,
            Src::Const(_, Width::B64) => 2,
            _ => return None,
        };
        if slot.dwords != dwords || !slot.kinds.contains(OperandKinds::SGPR) || !bus.is_free() {
            return None;
        }
        let scalar = self.new_reg(RegFile::Sgpr, dwords);
        bus.take(Src::Reg(scalar), Some(RegFile::Sgpr));
        self.copy(scalar, src);
        Some(scalar)
    }

    /// Copies `src` to a register that `slot` accepts.
    pub(super) fn copied(&mut self, slot: &OperandDesc, src: Src) -> VSlice {
        let file = if slot.kinds.intersects(OperandKinds::VGPR | OperandKinds::HALF_VGPR) {
            RegFile::Vgpr
        } else if slot.kinds.contains(OperandKinds::SGPR) {
            RegFile::Sgpr
        } else {
            RegFile::Agpr
        };
        let len = match src {
            Src::Reg(s) => s.len,
            _ => slot.dwords.max(1),
        };
        let dst = self.new_reg(file, len);
        self.copy(dst, src);
        dst
    }

    /// The number of copies that the operands need if `row` is used; `None` if `row` cannot be used.
    fn fit(&self, row: &InstDesc, dsts: &[VSlice], srcs: &[Src], mods: &Mods) -> Option<Fit> {
        if !mods_fit(row, mods) {
            return None;
        }
        let (mut dsts, mut srcs) = (dsts.iter(), srcs.iter());
        let mut fit = Fit { copies: 0, literal: false };
        let mut bus = self.bus(row, srcs.as_slice());
        for slot in row.operands {
            if is_fixed_vcc(slot) {
                continue;
            }
            if slot.access == Access::Write {
                let dst = dsts.next()?;
                let kind = file_kind(self.func.info(dst.reg).file);
                if !(slot.kinds.contains(kind) || is_low_half(slot, kind)) || slot.dwords != dst.len {
                    return None;
                }
                continue;
            }
            let src = *srcs.next()?;
            let file = self.file(src);
            if slot_takes(slot, src, file) && bus.take(src, file) {
                fit.literal |= matches!(to_operand(src), MOperand::Fixed(Operand::Literal(_)));
                continue;
            }
            if !can_copy(slot, src, file) {
                return None;
            }
            fit.copies += 1;
        }
        (dsts.next().is_none() && srcs.next().is_none()).then_some(fit)
    }

    /// The constant bus reads of these sources (one source for each slot that is read, except VCC). Sources that can
    /// only be in scalar registers are reserved first, before sources that could also be in vector registers.
    fn bus(&self, row: &InstDesc, srcs: &[Src]) -> Bus {
        let mut bus = Bus::new(row, self.target);
        let slots = row.operands.iter().filter(|slot| slot.access != Access::Write && !is_fixed_vcc(slot));
        bus.reserve(slots.zip(srcs).map(|(slot, src)| (slot, *src, self.file(*src))));
        bus
    }

    pub(super) fn file(&self, src: Src) -> Option<RegFile> {
        match src {
            Src::Reg(s) => Some(self.func.info(s.reg).file),
            Src::Fixed(Operand::Reg(r)) => Some(r.file),
            _ => None,
        }
    }

    /// Emits `dst = src`, dword by dword if the dwords of a constant differ.
    pub(super) fn copy(&mut self, dst: VSlice, src: Src) {
        match src {
            Src::Const(bits, Width::B64) if dst.len == 2 => {
                // The whole register is assembled from two halves. For a part of a longer tuple, the code that
                // assembles the tuple has emitted `Op::Undef`.
                if self.func.info(dst.reg).len == 2 {
                    self.push(Op::Undef, [MOperand::Virt(dst)]);
                }
                for i in 0..2 {
                    let half = VSlice { reg: dst.reg, start: dst.start + i, len: 1 };
                    let word = (bits >> (32 * i)) as u32;
                    self.push(Op::Copy, [MOperand::Virt(half), MOperand::Fixed(Operand::const32(word))]);
                }
            }
            Src::Const(bits, _) => {
                let word = Operand::const32(bits as u32);
                self.push(Op::Copy, [MOperand::Virt(dst), MOperand::Fixed(word)]);
            }
            Src::Reg(from) => {
                self.push(Op::Copy, [MOperand::Virt(dst), MOperand::Virt(from)]);
            }
            Src::Fixed(operand) => {
                self.push(Op::Copy, [MOperand::Virt(dst), MOperand::Fixed(operand)]);
            }
        }
    }

    /// The source in VGPRs.
    pub(super) fn in_vgpr(&mut self, src: Src, len: u8) -> VSlice {
        match self.for_vector(src) {
            Src::Reg(s) if self.func.info(s.reg).file == RegFile::Vgpr => s,
            src => {
                let dst = self.new_reg(RegFile::Vgpr, len);
                self.copy(dst, src);
                dst
            }
        }
    }

    /// The source, which must not be varying, in SGPRs.
    pub(super) fn in_sgpr(&mut self, src: Src, len: u8) -> VSlice {
        match src {
            Src::Reg(s) => s,
            _ => {
                let dst = self.new_reg(RegFile::Sgpr, len);
                self.copy(dst, src);
                dst
            }
        }
    }

    pub(super) fn no_instruction(&self, mnemonic: &str) -> LowerError {
        let others: Vec<&str> = gcn_isa::Target::KNOWN
            .into_iter()
            .filter(|t| table::find_mnemonic(*t, mnemonic).next().is_some())
            .map(gcn_isa::Target::name)
            .collect();
        let remedy = if others.is_empty() {
            "check its spelling".to_owned()
        } else {
            format!("it exists on {}: limit the kernel with `#[targets(…)]`", others.join(", "))
        };
        self.error(LowerCause::NoInstruction { mnemonic: mnemonic.to_owned(), target: self.target, remedy })
    }

    pub(super) fn no_encoding(&self, mnemonic: &str, dsts: &[VSlice], srcs: &[Src]) -> LowerError {
        let describe = |s: VSlice| format!("{:?} x{}", self.func.info(s.reg).file, s.len).to_lowercase();
        let mut parts: Vec<String> = dsts.iter().map(|d| describe(*d)).collect();
        parts.extend(srcs.iter().map(|s| match s {
            Src::Reg(r) => describe(*r),
            Src::Const(bits, _) => format!("{bits:#x}"),
            Src::Fixed(o) => format!("{o:?}"),
        }));
        self.error(LowerCause::Operands {
            mnemonic: mnemonic.to_owned(),
            target: self.target,
            operands: parts.join(", "),
            remedy: "see `gcn_isa::table` for the operand kinds and widths of its encodings".to_owned(),
        })
    }
}

struct Fit {
    copies: u32,
    literal: bool,
}

/// The state of the constant bus. The target limits the number of different SGPRs (or SGPR pairs) and literals that a
/// VALU instruction may read. Other instructions may read one literal.
pub(super) struct Bus {
    /// The limit for a vector instruction; `None` for other instructions.
    reads: Option<usize>,
    used: SmallVec<[MOperand; 2]>,
    literal: Option<u32>,
    /// True if M0 contains an operand of the instruction.
    m0: bool,
}

impl Bus {
    pub(super) fn new(row: &InstDesc, target: Target) -> Bus {
        let reads = row.format.is_vop().then(|| row.constant_bus_reads(target));
        let mut bus = Bus { reads, used: SmallVec::new(), literal: None, m0: false };
        // A mask or carry in VCC takes one read of the bus.
        if row.operands.iter().any(|o| is_fixed_vcc(o) && o.access != Access::Write) {
            bus.used.push(MOperand::Fixed(VCC.into()));
        }
        bus
    }

    /// The bus with one more scalar register that is read.
    pub(super) fn with_another(mut self) -> Bus {
        self.used.push(MOperand::Virt(VSlice { reg: VReg(u32::MAX), start: 0, len: 1 }));
        self
    }

    /// Reserves the bus for those sources of a vector instruction that can only be in scalar registers. A constant that
    /// must be copied to a scalar register is one of them.
    pub(super) fn reserve<'a>(
        &mut self,
        sources: impl Iterator<Item = (&'a OperandDesc, Src, Option<RegFile>)>,
    ) {
        if self.reads.is_none() {
            return;
        }
        let vector = OperandKinds::VGPR | OperandKinds::AGPR | OperandKinds::HALF_VGPR;
        for (slot, src, file) in sources {
            if slot.kinds.contains(OperandKinds::SGPR) && !slot.kinds.intersects(vector) {
                match slot_takes(slot, src, file) {
                    true => _ = self.take(src, file),
                    false => self.used.push(to_operand(src)),
                }
            }
        }
    }

    /// True if the instruction can read another scalar.
    fn is_free(&self) -> bool {
        self.held() < self.reads.unwrap_or(1)
    }

    fn held(&self) -> usize {
        self.used.len() + usize::from(self.literal.is_some())
    }

    /// Takes M0 for an operand. Returns false if M0 already contains another operand.
    pub(super) fn take_m0(&mut self) -> bool {
        !std::mem::replace(&mut self.m0, true)
    }

    pub(super) fn take(&mut self, src: Src, file: Option<RegFile>) -> bool {
        let operand = to_operand(src);
        if let MOperand::Fixed(Operand::Literal(bits)) = operand {
            // Two operands may share a literal but not have different ones, since an encoding has room for one.
            let room = self.reads.is_none_or(|reads| self.used.len() < reads);
            return self.literal.replace(bits).is_none_or(|l| l == bits) && room;
        }
        let Some(reads) = self.reads.filter(|_| file == Some(RegFile::Sgpr)) else { return true };
        // Reading the same SGPR twice takes the bus once. There must still be room if a literal has been added after
        // the first read.
        if self.used.contains(&operand) {
            return self.held() <= reads;
        }
        let free = self.held() < reads;
        if free {
            self.used.push(operand);
        }
        free
    }
}

/// True for a slot that accepts only VCC.
pub(super) fn is_fixed_vcc(slot: &OperandDesc) -> bool {
    slot.kinds == OperandKinds::SPECIAL && slot.specials == "vcc"
}

/// True if the row's fields can name every register. Short encodings with 16-bit operands can name only halves of the
/// first 128 VGPRs, a restriction that the allocator does not know.
pub(super) fn reaches_all(row: &InstDesc) -> bool {
    !row.has_halves() || row.is_vop3()
}

/// True for a VGPR in a slot that reads half of a register. Without `op_sel` the slot reads the lower half, where
/// 16-bit values are kept.
pub(super) fn is_low_half(slot: &OperandDesc, kind: OperandKinds) -> bool {
    slot.is_half() && kind == OperandKinds::VGPR
}

pub(super) fn file_kind(file: RegFile) -> OperandKinds {
    match file {
        RegFile::Sgpr => OperandKinds::SGPR,
        RegFile::Vgpr => OperandKinds::VGPR,
        RegFile::Agpr => OperandKinds::AGPR,
    }
}

pub(super) fn slot_takes(slot: &OperandDesc, src: Src, file: Option<RegFile>) -> bool {
    match (src, to_operand(src)) {
        (Src::Reg(s), _) => {
            file.is_some_and(|f| slot.kinds.contains(file_kind(f)) || is_low_half(slot, file_kind(f)))
                && (slot.dwords == s.len || slot.dwords == 0)
        }
        (_, MOperand::Fixed(operand)) => match operand {
            Operand::Inline(Inline::Int(_)) => slot.kinds.contains(OperandKinds::INLINE_INT),
            Operand::Inline(Inline::Float(_)) => slot.kinds.contains(OperandKinds::INLINE_FLOAT),
            Operand::Literal(_) => {
                // The hardware extends a 32-bit literal in ways that depend on the operand's type, so 64-bit constants
                // are put in registers.
                slot.kinds.intersects(OperandKinds::LITERAL) && !matches!(src, Src::Const(_, Width::B64))
            }
            Operand::Literal64(_) => slot.kinds.contains(OperandKinds::LITERAL64),
            Operand::Imm(_) | Operand::Label(_) => slot.kinds.contains(OperandKinds::IMM),
            Operand::Off => slot.kinds.contains(OperandKinds::OFF),
            Operand::Reg(reg) => {
                let name = reg.to_string();
                // The table names register pairs by their low half.
                slot.allows_special(&name) || slot.allows_special(&format!("{name}_lo"))
            }
            Operand::Special(s) => slot.allows_special(s.name()),
        },
        _ => false,
    }
}

/// True if `src` can be copied to a register file that `slot` accepts. A vector register cannot be copied to a scalar
/// slot.
pub(super) fn can_copy(slot: &OperandDesc, src: Src, file: Option<RegFile>) -> bool {
    let width_fits = match src {
        Src::Reg(s) => slot.dwords == s.len,
        Src::Const(..) => slot.dwords <= 2,
        Src::Fixed(_) => return false,
    };
    let into_vector =
        slot.kinds.intersects(OperandKinds::VGPR | OperandKinds::AGPR | OperandKinds::HALF_VGPR);
    let into_scalar = slot.kinds.contains(OperandKinds::SGPR) && file.is_none_or(|f| f == RegFile::Sgpr);
    width_fits && (into_vector || into_scalar)
}

/// The source as an instruction operand.
pub(super) fn to_operand(src: Src) -> MOperand {
    match src {
        Src::Reg(s) => MOperand::Virt(s),
        Src::Fixed(o) => MOperand::Fixed(o),
        Src::Const(bits, width) => MOperand::Fixed(constant(bits, width)),
    }
}

fn constant(bits: u64, width: Width) -> Operand {
    let inline = match width {
        Width::B16 => (0..=208u16)
            .chain(240..=248)
            .filter_map(Inline::from_code)
            // Inline floats have different bits as f16 and as f32, so search by the bits at this width.
            .find(|i| u64::from(i.bits16()) == bits & 0xffff),
        Width::B32 => Inline::of_bits32(bits as u32),
        Width::B64 => Inline::of_bits64(bits),
    };
    inline.map_or(Operand::Literal(bits as u32), Operand::Inline)
}

/// True if the row has every modifier that differs from its default.
fn mods_fit(row: &InstDesc, mods: &Mods) -> bool {
    let table::OperandBits { neg, abs, .. } = row.bits;
    let default = row.default_mods();
    let clamp = !mods.clamp || row.modifiers.contains(table::Modifiers::CLAMP);
    let has_neg = mods.neg & !neg == 0 || row.modifiers.contains(table::Modifiers::NEG);
    let offset =
        mods.offset == 0 || row.offset_range.is_some_and(|(lo, hi)| (lo..=hi).contains(&mods.offset));
    let addressing = mods.offen == default.offen && mods.idxen == default.idxen && mods.lds == default.lds;
    clamp && has_neg && mods.abs & !abs == 0 && offset && addressing
}
