//! Modifiers as numbers: what an instruction word holds of them, and which rows have them.

use gcn_isa::Mods;
use gcn_isa::table::{InstDesc, Modifiers};

/// A modifier of [`Mods`] that has a field in some format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ModField {
    Neg,
    Abs,
    Sext,
    OpSel,
    OpSelHi,
    NegLo,
    NegHi,
    Clamp,
    Omod,
    Offset,
    Offset0,
    Offset1,
    Glc,
    Slc,
    Scc,
    Offen,
    Idxen,
    Lds,
    Tfe,
    Gds,
    Format,
    Cbsz,
    Abid,
    Blgp,
    Bitop3,
    DppCtrl,
    RowMask,
    BankMask,
    BoundCtrl,
    DstSel,
    DstUnused,
    Src0Sel,
    Src1Sel,
}

impl ModField {
    /// Every modifier, with its name in messages.
    pub(crate) const ALL: [(ModField, &'static str); 33] = [
        (ModField::Neg, "neg"),
        (ModField::Abs, "abs"),
        (ModField::Sext, "sext"),
        (ModField::OpSel, "op_sel"),
        (ModField::OpSelHi, "op_sel_hi"),
        (ModField::NegLo, "neg_lo"),
        (ModField::NegHi, "neg_hi"),
        (ModField::Clamp, "clamp"),
        (ModField::Omod, "omod"),
        (ModField::Offset, "offset"),
        (ModField::Offset0, "offset0"),
        (ModField::Offset1, "offset1"),
        (ModField::Glc, "glc"),
        (ModField::Slc, "slc"),
        (ModField::Scc, "scc"),
        (ModField::Offen, "offen"),
        (ModField::Idxen, "idxen"),
        (ModField::Lds, "lds"),
        (ModField::Tfe, "tfe"),
        (ModField::Gds, "gds"),
        (ModField::Format, "format"),
        (ModField::Cbsz, "cbsz"),
        (ModField::Abid, "abid"),
        (ModField::Blgp, "blgp"),
        (ModField::Bitop3, "bitop3"),
        (ModField::DppCtrl, "dpp_ctrl"),
        (ModField::RowMask, "row_mask"),
        (ModField::BankMask, "bank_mask"),
        (ModField::BoundCtrl, "bound_ctrl"),
        (ModField::DstSel, "dst_sel"),
        (ModField::DstUnused, "dst_unused"),
        (ModField::Src0Sel, "src0_sel"),
        (ModField::Src1Sel, "src1_sel"),
    ];

    /// The modifier's value. Offsets are their 32-bit two's complement.
    pub(crate) fn get(self, mods: &Mods) -> u32 {
        let dpp = |f: fn(&gcn_isa::Dpp) -> u16| mods.dpp.as_ref().map_or(0, f).into();
        let sdwa = |f: fn(&gcn_isa::Sdwa) -> u8| mods.sdwa.as_ref().map_or(0, f).into();
        match self {
            ModField::Neg => mods.neg.into(),
            ModField::Abs => mods.abs.into(),
            ModField::Sext => mods.sext.into(),
            ModField::OpSel => mods.op_sel.into(),
            ModField::OpSelHi => mods.op_sel_hi.into(),
            ModField::NegLo => mods.neg_lo.into(),
            ModField::NegHi => mods.neg_hi.into(),
            ModField::Clamp => mods.clamp.into(),
            ModField::Omod => mods.omod.into(),
            ModField::Offset => mods.offset as u32,
            ModField::Offset0 => mods.offset0.into(),
            ModField::Offset1 => mods.offset1.into(),
            ModField::Glc => mods.glc.into(),
            ModField::Slc => mods.slc.into(),
            ModField::Scc => mods.scc.into(),
            ModField::Offen => mods.offen.into(),
            ModField::Idxen => mods.idxen.into(),
            ModField::Lds => mods.lds.into(),
            ModField::Tfe => mods.tfe.into(),
            ModField::Gds => mods.gds.into(),
            ModField::Format => mods.format.into(),
            ModField::Cbsz => mods.cbsz.into(),
            ModField::Abid => mods.abid.into(),
            ModField::Blgp => mods.blgp.into(),
            ModField::Bitop3 => mods.bitop3.into(),
            ModField::DppCtrl => dpp(|d| d.ctrl),
            ModField::RowMask => dpp(|d| d.row_mask.into()),
            ModField::BankMask => dpp(|d| d.bank_mask.into()),
            ModField::BoundCtrl => dpp(|d| d.bound_ctrl.into()),
            ModField::DstSel => sdwa(|s| s.dst_sel),
            ModField::DstUnused => sdwa(|s| s.dst_unused),
            ModField::Src0Sel => sdwa(|s| s.src0_sel),
            ModField::Src1Sel => sdwa(|s| s.src1_sel),
        }
    }

    /// Sets the modifier's value; the inverse of [`ModField::get`]. DPP and SDWA controls are set only on instructions
    /// that have them.
    pub(crate) fn set(self, mods: &mut Mods, value: u32) {
        let byte = value as u8;
        let flag = value != 0;
        match self {
            ModField::Neg => mods.neg = byte,
            ModField::Abs => mods.abs = byte,
            ModField::Sext => mods.sext = byte,
            ModField::OpSel => mods.op_sel = byte,
            ModField::OpSelHi => mods.op_sel_hi = byte,
            ModField::NegLo => mods.neg_lo = byte,
            ModField::NegHi => mods.neg_hi = byte,
            ModField::Clamp => mods.clamp = flag,
            ModField::Omod => mods.omod = byte,
            ModField::Offset => mods.offset = value as i32,
            ModField::Offset0 => mods.offset0 = byte,
            ModField::Offset1 => mods.offset1 = byte,
            ModField::Glc => mods.glc = flag,
            ModField::Slc => mods.slc = flag,
            ModField::Scc => mods.scc = flag,
            ModField::Offen => mods.offen = flag,
            ModField::Idxen => mods.idxen = flag,
            ModField::Lds => mods.lds = flag,
            ModField::Tfe => mods.tfe = flag,
            ModField::Gds => mods.gds = flag,
            ModField::Format => mods.format = byte,
            ModField::Cbsz => mods.cbsz = byte,
            ModField::Abid => mods.abid = byte,
            ModField::Blgp => mods.blgp = byte,
            ModField::Bitop3 => mods.bitop3 = byte,
            _ => self.set_control(mods, value),
        }
    }

    fn set_control(self, mods: &mut Mods, value: u32) {
        let byte = value as u8;
        if let Some(dpp) = &mut mods.dpp {
            match self {
                ModField::DppCtrl => dpp.ctrl = value as u16,
                ModField::RowMask => dpp.row_mask = byte,
                ModField::BankMask => dpp.bank_mask = byte,
                ModField::BoundCtrl => dpp.bound_ctrl = value != 0,
                _ => {}
            }
        }
        if let Some(sdwa) = &mut mods.sdwa {
            match self {
                ModField::DstSel => sdwa.dst_sel = byte,
                ModField::DstUnused => sdwa.dst_unused = byte,
                ModField::Src0Sel => sdwa.src0_sel = byte,
                ModField::Src1Sel => sdwa.src1_sel = byte,
                _ => {}
            }
        }
    }

    /// The table's flag for the modifier; `None` for source modifiers, which the table lists per source, and for the
    /// buffer format and `tfe`, which go with the format.
    fn flag(self) -> Option<Modifiers> {
        Some(match self {
            ModField::Neg | ModField::Abs | ModField::Sext => return None,
            ModField::Format | ModField::Tfe => return None,
            ModField::OpSel => Modifiers::OP_SEL,
            ModField::OpSelHi => Modifiers::OP_SEL_HI,
            ModField::NegLo => Modifiers::NEG_LO,
            ModField::NegHi => Modifiers::NEG_HI,
            ModField::Clamp => Modifiers::CLAMP,
            ModField::Omod => Modifiers::OMOD,
            ModField::Offset => Modifiers::OFFSET,
            ModField::Offset0 => Modifiers::OFFSET0,
            ModField::Offset1 => Modifiers::OFFSET1,
            ModField::Glc => Modifiers::GLC,
            ModField::Slc => Modifiers::SLC,
            ModField::Scc => Modifiers::SCC,
            ModField::Offen => Modifiers::OFFEN,
            ModField::Idxen => Modifiers::IDXEN,
            ModField::Lds => Modifiers::LDS,
            ModField::Gds => Modifiers::GDS,
            ModField::Cbsz => Modifiers::CBSZ,
            ModField::Abid => Modifiers::ABID,
            ModField::Blgp => Modifiers::BLGP,
            ModField::Bitop3 => Modifiers::BITOP3,
            ModField::DppCtrl => Modifiers::DPP_CTRL,
            ModField::RowMask => Modifiers::ROW_MASK,
            ModField::BankMask => Modifiers::BANK_MASK,
            ModField::BoundCtrl => Modifiers::BOUND_CTRL,
            ModField::DstSel => Modifiers::DST_SEL,
            ModField::DstUnused => Modifiers::DST_UNUSED,
            ModField::Src0Sel => Modifiers::SRC0_SEL,
            ModField::Src1Sel => Modifiers::SRC1_SEL,
        })
    }

    /// Which bits of the modifier's value the row accepts: 0 if it has not got the modifier.
    pub(crate) fn accepted_bits(self, desc: &InstDesc) -> u32 {
        use gcn_isa::Format;
        let sdwa = matches!(desc.format, Format::Vop1Sdwa | Format::Vop2Sdwa | Format::VopcSdwa);
        let sources = desc.operands.iter().filter(|o| o.name.starts_with("src")).count();
        let per_source = (1 << sources) - 1;
        let (neg, abs, sext) = desc.source_mods;
        match self {
            ModField::Neg if desc.modifiers.contains(Modifiers::NEG) => per_source,
            ModField::Neg => neg.into(),
            ModField::Abs => abs.into(),
            // Outside SDWA there is no sign-extension bit; the assembler would write a negation there.
            ModField::Sext => {
                if sdwa {
                    sext.into()
                } else {
                    0
                }
            }
            ModField::Tfe => has_tfe(desc).into(),
            ModField::Format => {
                if desc.format == Format::Mtbuf {
                    0x7f
                } else {
                    0
                }
            }
            // v_permlane*_swap: bit 0 is `fi`, bit 1 `bound_ctrl`, where other instructions have op_sel.
            ModField::OpSel if is_permlane_swap_e64(desc) => 3,
            ModField::OpSelHi if desc.format == Format::Vop3px2 => 3,
            _ if !self.flag().is_some_and(|f| desc.modifiers.contains(f)) => 0,
            ModField::OpSel | ModField::OpSelHi => (1 << desc.op_sel_bits) - 1,
            ModField::NegLo | ModField::NegHi => per_source,
            _ => u32::MAX,
        }
    }

    /// True if this form of the instruction always has the modifier.
    pub(crate) fn is_required(self, desc: &InstDesc) -> bool {
        self.flag().is_some_and(|f| desc.required.contains(f))
    }
}

/// True for the VOP3 forms of `v_permlane16_swap_b32` and `v_permlane32_swap_b32`, which keep `fi` and `bound_ctrl`
/// in the place of `op_sel`.
pub(crate) fn is_permlane_swap_e64(desc: &InstDesc) -> bool {
    desc.format == gcn_isa::Format::Vop3a && desc.class == gcn_isa::Class::Permlane
}

/// True for the buffer loads that can return a status dword behind the data. Where the register files are unified,
/// their bit says AGPR instead; the typed loads have no such form in LLVM.
pub(crate) fn has_tfe(desc: &InstDesc) -> bool {
    use gcn_isa::{Class, Format};
    desc.format == Format::Mubuf
        && desc.class == Class::VmemLoad
        && !desc.targets.iter().any(gcn_isa::Target::has_unified_agprs)
}
