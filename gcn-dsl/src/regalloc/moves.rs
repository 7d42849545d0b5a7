//! The machine instructions that implement copies.
//!
//! A copy of several dwords is a sequence of moves. If source and destination overlap, the order of the moves is chosen
//! as in `memmove`: every source dword is read before it is overwritten. Parallel copies with cycles do not occur,
//! because a copy has a single source range and a single destination range.

use gcn_isa::table::OperandKinds;
use gcn_isa::{Inst, InstDesc, Operand, Reg, RegFile, SrcSpecial, Target, table};
use smallvec::SmallVec;

/// The source of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// Registers.
    Reg(Reg),
    /// A 32-bit constant for every dword.
    Const(u32),
    /// A special source operand of the hardware, read for every dword.
    Special(SrcSpecial),
}

impl Source {
    /// The source that a fixed operand represents; `None` if the operand has no value, such as a label.
    pub fn of(operand: Operand) -> Option<Source> {
        match operand {
            Operand::Reg(reg) => Some(Source::Reg(reg)),
            Operand::Inline(inline) => Some(Source::Const(inline.bits32())),
            Operand::Literal(bits) => Some(Source::Const(bits)),
            Operand::Special(special) => Some(Source::Special(special)),
            _ => None,
        }
    }

    fn dword(self, k: u8) -> Operand {
        match self {
            Source::Reg(reg) => Operand::Reg(reg.sub(k)),
            Source::Const(bits) => Operand::const32(bits),
            Source::Special(special) => Operand::Special(special),
        }
    }
}

/// The instruction table's rows of the moves that a target has.
pub(super) struct Moves {
    s_mov_b32: Option<&'static InstDesc>,
    s_mov_b64: Option<&'static InstDesc>,
    v_mov: Option<&'static InstDesc>,
    acc_write: Option<&'static InstDesc>,
    acc_read: Option<&'static InstDesc>,
    acc_mov: Option<&'static InstDesc>,
}

/// The mnemonics of the moves.
pub(super) const MNEMONICS: [&str; 6] = [
    "s_mov_b32",
    "s_mov_b64",
    "v_mov_b32_e32",
    "v_accvgpr_write_b32",
    "v_accvgpr_read_b32",
    "v_accvgpr_mov_b32",
];

impl Moves {
    pub fn of(target: Target) -> Moves {
        let [s_mov_b32, s_mov_b64, v_mov, acc_write, acc_read, acc_mov] =
            MNEMONICS.map(|name| table::find_form(target, name, ""));
        Moves { s_mov_b32, s_mov_b64, v_mov, acc_write, acc_read, acc_mov }
    }

    /// True if a copy from `src` to `dst` must go through a VGPR: AGPRs accept no literals, and on gfx908 neither SGPRs
    /// nor other AGPRs. For a register source only the file matters.
    pub fn needs_scratch(&self, dst: RegFile, src: Source) -> bool {
        if dst != RegFile::Agpr {
            return false;
        }
        let writes_sgpr =
            self.acc_write.is_some_and(|row| row.operands[1].kinds.contains(OperandKinds::SGPR));
        match src {
            Source::Reg(reg) => match reg.file {
                RegFile::Vgpr => false,
                RegFile::Sgpr => !writes_sgpr,
                RegFile::Agpr => self.acc_mov.is_none(),
            },
            Source::Const(bits) => matches!(Operand::const32(bits), Operand::Literal(_)),
            Source::Special(_) => !writes_sgpr,
        }
    }

    /// The instructions that copy `src` to `dst`; there are none if the two are the same. `scratch` is a VGPR that may
    /// be overwritten; [`Moves::needs_scratch`] says when it is required. `None` if the target has no move for this
    /// copy.
    pub fn emit(&self, dst: Reg, src: Source, scratch: Option<Reg>) -> Option<SmallVec<[Inst; 4]>> {
        if src == Source::Reg(dst) {
            return Some(SmallVec::new());
        }
        if dst.file == RegFile::Sgpr {
            return self.scalar(dst, src);
        }
        let mut insts = SmallVec::new();
        let row = match (dst.file, src) {
            (RegFile::Agpr, _) if self.needs_scratch(dst.file, src) => {
                return self.through(dst, src, scratch?);
            }
            (RegFile::Agpr, Source::Reg(Reg { file: RegFile::Agpr, .. })) => self.acc_mov?,
            (RegFile::Agpr, _) => self.acc_write?,
            (_, Source::Reg(Reg { file: RegFile::Agpr, .. })) => self.acc_read?,
            _ => self.v_mov?,
        };
        for k in order(dst, src) {
            insts.push(Inst::new(row, [Operand::Reg(dst.sub(k)), src.dword(k)]));
        }
        Some(insts)
    }

    /// Moves to AGPRs through a VGPR.
    fn through(&self, dst: Reg, src: Source, scratch: Reg) -> Option<SmallVec<[Inst; 4]>> {
        let (to, from) = (self.acc_write?, Operand::Reg(scratch));
        let read = match src {
            Source::Reg(Reg { file: RegFile::Agpr, .. }) => self.acc_read?,
            _ => self.v_mov?,
        };
        let mut insts = SmallVec::new();
        for (n, k) in order(dst, src).into_iter().enumerate() {
            // All dwords of a constant are equal, so it is loaded into the scratch register once.
            if n == 0 || matches!(src, Source::Reg(_)) {
                insts.push(Inst::new(read, [from, src.dword(k)]));
            }
            insts.push(Inst::new(to, [Operand::Reg(dst.sub(k)), from]));
        }
        Some(insts)
    }

    /// Moves to SGPRs, in aligned pairs where both sides allow it.
    fn scalar(&self, dst: Reg, src: Source) -> Option<SmallVec<[Inst; 4]>> {
        let pair = |k: u8| -> Option<Operand> {
            if k + 1 >= dst.len || !(dst.index + u16::from(k)).is_multiple_of(2) {
                return None;
            }
            match src {
                Source::Reg(reg) if (reg.index + u16::from(k)).is_multiple_of(2) => {
                    Some(Operand::Reg(reg.slice(k, 2)))
                }
                // A 64-bit move sign-extends its 32-bit constant, so only these two constants fill both halves equally.
                Source::Const(bits @ (0 | u32::MAX)) => Some(Operand::const32(bits)),
                _ => None,
            }
        };
        let mut insts: SmallVec<[Inst; 4]> = SmallVec::new();
        let mut k = 0;
        while k < dst.len {
            if let Some(from) = pair(k) {
                insts.push(Inst::new(self.s_mov_b64?, [Operand::Reg(dst.slice(k, 2)), from]));
                k += 2;
            } else {
                insts.push(Inst::new(self.s_mov_b32?, [Operand::Reg(dst.sub(k)), src.dword(k)]));
                k += 1;
            }
        }
        if descends(dst, src) {
            insts.reverse();
        }
        Some(insts)
    }
}

/// True if the highest dword must be moved first, because the destination overlaps the source and starts above it.
fn descends(dst: Reg, src: Source) -> bool {
    matches!(src, Source::Reg(reg) if reg.overlaps(dst) && reg.index < dst.index)
}

/// The dwords of a copy in an order that reads each source before it is overwritten.
fn order(dst: Reg, src: Source) -> SmallVec<[u8; 32]> {
    let mut order: SmallVec<[u8; 32]> = (0..dst.len).collect();
    if descends(dst, src) {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Executes moves one after the other on an array of registers. The tests compare the result with that of the whole
    /// copy.
    fn run(insts: &[Inst], registers: &mut [u32]) {
        let at = |reg: Reg, k: usize| reg.units().nth(k).map(gcn_isa::reg::RegUnit::index).unwrap();
        for inst in insts {
            let to = inst.operands[0].reg().unwrap();
            let values: Vec<u32> = (0..usize::from(to.len))
                .map(|k| match inst.operands[1] {
                    Operand::Reg(from) => registers[at(from, k)],
                    Operand::Inline(inline) if to.len == 2 => (inline.bits64() >> (32 * k)) as u32,
                    Operand::Inline(inline) => inline.bits32(),
                    Operand::Literal(bits) => bits,
                    other => panic!("{other:?}"),
                })
                .collect();
            values.into_iter().enumerate().for_each(|(k, v)| registers[at(to, k)] = v);
        }
    }

    #[test]
    fn copies_arrive_whole_whatever_they_overlap() {
        let files = [RegFile::Sgpr, RegFile::Vgpr, RegFile::Agpr];
        for (target, dst_file, src_file) in [Target::GFX908, Target::GFX90A]
            .into_iter()
            .flat_map(|t| files.map(|d| (t, d)))
            .flat_map(|(t, d)| files.map(|s| (t, d, s)))
            .filter(|c| c.1 != RegFile::Sgpr || c.2 == RegFile::Sgpr)
        {
            let moves = Moves::of(target);
            for (to, from, len) in (8..24).flat_map(|to| [1, 2, 3, 4, 7, 8].map(|len| (to, 16, len))) {
                let dst = Reg { file: dst_file, index: to, len };
                let src = Reg { file: src_file, index: from, len };
                let insts = moves.emit(dst, Source::Reg(src), Some(Reg::v(100, 1))).unwrap();
                let before: Vec<u32> = (0..gcn_isa::reg::RegUnit::COUNT as u32).collect();
                let mut after = before.clone();
                run(&insts, &mut after);
                let mut expected = before.clone();
                for (d, s) in dst.units().zip(src.units()) {
                    expected[d.index()] = before[s.index()];
                }
                let scratch = gcn_isa::reg::RegUnit::new(RegFile::Vgpr, 100).index();
                if moves.needs_scratch(dst_file, Source::Reg(src)) && dst != src {
                    expected[scratch] = after[scratch];
                }
                assert!(after == expected, "{target} {dst} <- {src}: {insts:?}");
            }
            for bits in [0, 64, u32::MAX, 0x3f80_0000, 0x1234_5678] {
                let dst = Reg { file: dst_file, index: 3, len: 5 };
                let insts = moves.emit(dst, Source::Const(bits), Some(Reg::v(100, 1))).unwrap();
                let mut after = vec![7; gcn_isa::reg::RegUnit::COUNT];
                run(&insts, &mut after);
                assert!(dst.units().all(|u| after[u.index()] == bits), "{target} {dst} <- {bits:#x}");
            }
        }
    }
}
