//! One machine instruction: a table row with operands and modifiers.

use smallvec::SmallVec;

use crate::operand::{Operand, SrcSpecial};
use crate::reg::{self, Reg, RegFile};
use crate::table::{Access, ImplicitRegs, InstDesc};

/// A machine instruction: a row of the [table](crate::table), its operands in assembly order, and its modifiers.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// The table row.
    pub desc: &'static InstDesc,
    /// Operands, one for each of the row's [`operands`](InstDesc::operands), in that order.
    pub operands: SmallVec<[Operand; 5]>,
    /// Modifiers. Those that the row does not have stay at their default.
    pub mods: Mods,
}

/// Modifiers of an instruction. `Default` is "as written without any": every flag off, DPP masks 0xf,
/// `op_sel_hi` all ones for VOP3P must be set by whoever makes such an instruction ([`InstDesc::default_mods`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Mods {
    /// Negate, bit i for source i (VOP3, SDWA, DPP; `neg:[..]` of f64 MFMA).
    pub neg: u8,
    /// Absolute value, bit i for source i.
    pub abs: u8,
    /// Sign-extend (SDWA), bit i for source i.
    pub sext: u8,
    /// `op_sel` bits: sources first, then (VOP3) the destination.
    pub op_sel: u8,
    /// `op_sel_hi` bits (VOP3P).
    pub op_sel_hi: u8,
    /// `neg_lo` bits (VOP3P).
    pub neg_lo: u8,
    /// `neg_hi` bits (VOP3P).
    pub neg_hi: u8,
    /// Clamp the result.
    pub clamp: bool,
    /// Output modifier: 0 none, 1 `mul:2`, 2 `mul:4`, 3 `div:2`.
    pub omod: u8,
    /// Immediate byte offset of a memory instruction (`offset:`; DS too).
    pub offset: i32,
    /// `offset0:` of two-address DS instructions.
    pub offset0: u8,
    /// `offset1:` of two-address DS instructions.
    pub offset1: u8,
    /// `glc`, spelled `sc0` on gfx942 and later.
    pub glc: bool,
    /// `slc`, spelled `nt` on gfx942 and later.
    pub slc: bool,
    /// `scc` on gfx90a, spelled `sc1` on gfx942 and later.
    pub scc: bool,
    /// Buffer: use the address VGPR as byte offset.
    pub offen: bool,
    /// Buffer: use the address VGPR as index.
    pub idxen: bool,
    /// Load into LDS (or `lds` of buffer/global/scratch).
    pub lds: bool,
    /// `tfe`.
    pub tfe: bool,
    /// DS: global data share.
    pub gds: bool,
    /// MTBUF format: dfmt in bits 3:0, nfmt in bits 6:4.
    pub format: u8,
    /// MFMA `cbsz`.
    pub cbsz: u8,
    /// MFMA `abid`.
    pub abid: u8,
    /// MFMA `blgp`.
    pub blgp: u8,
    /// `bitop3` truth table (gfx950).
    pub bitop3: u8,
    /// DPP controls, for the DPP formats.
    pub dpp: Option<Dpp>,
    /// SDWA selectors, for the SDWA formats.
    pub sdwa: Option<Sdwa>,
}

/// DPP controls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dpp {
    /// The 9-bit `dpp_ctrl` field: 0x000..=0x0ff `quad_perm`, 0x101.. `row_shl`, 0x111.. `row_shr`, 0x121.. `row_ror`,
    /// 0x130 `wave_shl`, 0x134 `wave_rol`, 0x138 `wave_shr`, 0x13c `wave_ror`, 0x140 `row_mirror`,
    /// 0x141 `row_half_mirror`, 0x142 `row_bcast:15`, 0x143 `row_bcast:31`, 0x150.. `row_newbcast` (gfx90a and later).
    pub ctrl: u16,
    /// Rows of 16 lanes that are written, bit per row.
    pub row_mask: u8,
    /// Banks of 4 lanes that are written, bit per bank.
    pub bank_mask: u8,
    /// Out-of-range lanes read 0 instead of keeping the destination.
    pub bound_ctrl: bool,
}

/// SDWA selectors: 0..=3 BYTE_0..3, 4 WORD_0, 5 WORD_1, 6 DWORD.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sdwa {
    /// Which part of the destination is written.
    pub dst_sel: u8,
    /// 0 UNUSED_PAD, 1 UNUSED_SEXT, 2 UNUSED_PRESERVE.
    pub dst_unused: u8,
    /// Which part of source 0 is read.
    pub src0_sel: u8,
    /// Which part of source 1 is read.
    pub src1_sel: u8,
}

/// A register that an instruction reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegUse {
    /// The registers.
    pub reg: Reg,
    /// Index into [`Inst::operands`], or `None` for an implicit register.
    pub operand: Option<u8>,
    /// Whether the program names it.
    pub via: Via,
}

impl RegUse {
    /// A register that the program names.
    pub const fn named(reg: Reg, operand: Option<u8>) -> RegUse {
        RegUse { reg, operand, via: Via::Name }
    }
}

/// How an instruction comes to a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Via {
    /// The program names it, or it is implicit.
    #[default]
    Name,
    /// By an index whose value is known ([`crate::indexing`]).
    Index,
    /// By an index of which not all is known: it may be this register or another.
    AnyIndex,
}

impl Via {
    /// What a message adds to a register that the program does not name; empty for one that it does.
    pub const fn words(self) -> &'static str {
        match self {
            Via::Name => "",
            Via::Index | Via::AnyIndex => ", reached by an index",
        }
    }
}

impl Inst {
    /// An instruction with the row's default modifiers.
    pub fn new(desc: &'static InstDesc, operands: impl IntoIterator<Item = Operand>) -> Inst {
        Inst { desc, operands: operands.into_iter().collect(), mods: desc.default_mods() }
    }

    /// Same instruction, modifiers changed by `f`.
    #[must_use]
    pub fn with(mut self, f: impl FnOnce(&mut Mods)) -> Inst {
        f(&mut self.mods);
        self
    }

    /// The operand called `name` in the table row (`vdst`, `src0`, `saddr` …).
    pub fn operand(&self, name: &str) -> Option<Operand> {
        self.desc.operand_index(name).map(|i| self.operands[i])
    }

    /// Registers read, explicit ones first, as the program names them: [`crate::indexing`] knows those that an index reaches. Tied operands (read and written) are included, also those that a modifier
    /// makes so: SDWA `UNUSED_PRESERVE`, DPP (old value of the destination) and op_sel writes of half a register.
    /// `src_vccz` and `src_execz` read the register that they are a flag of.
    pub fn reads(&self) -> SmallVec<[RegUse; 6]> {
        let mut uses = SmallVec::new();
        for (i, (operand, desc)) in self.operands.iter().zip(self.desc.operands).enumerate() {
            if let Operand::Reg(reg) = *operand
                && (desc.access != Access::Write
                    || (reg.file != RegFile::Sgpr && self.preserves_destination()))
            {
                uses.push(RegUse::named(reg, Some(i as u8)));
            }
            let flag_of = match *operand {
                Operand::Special(SrcSpecial::Vccz) => reg::VCC,
                Operand::Special(SrcSpecial::Execz) => reg::EXEC,
                _ => continue,
            };
            uses.push(RegUse::named(flag_of, None));
        }
        push_implicit(&mut uses, self.desc.implicit_reads);
        uses
    }

    /// Registers written, explicit ones first, as the program names them.
    pub fn writes(&self) -> SmallVec<[RegUse; 3]> {
        let mut uses = SmallVec::new();
        for (i, (operand, desc)) in self.operands.iter().zip(self.desc.operands).enumerate() {
            if let Operand::Reg(reg) = *operand
                && desc.access != Access::Read
            {
                uses.push(RegUse::named(reg, Some(i as u8)));
            }
        }
        push_implicit(&mut uses, self.desc.implicit_writes);
        uses
    }

    /// True if lanes or bits of the (vector) destination that the instruction does not write keep their old value
    /// because of a modifier. EXEC masking is not meant: it applies to every vector instruction.
    pub fn preserves_destination(&self) -> bool {
        let dpp_partial =
            self.mods.dpp.is_some_and(|d| !d.bound_ctrl || d.row_mask != 0xf || d.bank_mask != 0xf);
        let sdwa_partial = self.mods.sdwa.is_some_and(|s| s.dst_unused == 2 && s.dst_sel != 6);
        // Every 16-bit VOP3 result with a destination op_sel keeps the other half of the register.
        dpp_partial || sdwa_partial || self.desc.keeps_other_half()
    }
}

fn push_implicit<const N: usize>(uses: &mut SmallVec<[RegUse; N]>, implicit: ImplicitRegs)
where
    [RegUse; N]: smallvec::Array<Item = RegUse>,
{
    let named = [
        (ImplicitRegs::EXEC, reg::EXEC),
        (ImplicitRegs::VCC, reg::VCC),
        (ImplicitRegs::M0, reg::M0),
        (ImplicitRegs::FLAT_SCRATCH, reg::FLAT_SCRATCH),
    ];
    for (flag, reg) in named {
        if implicit.contains(flag) {
            uses.push(RegUse::named(reg, None));
        }
    }
}
