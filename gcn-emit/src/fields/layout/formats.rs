//! One list of fields per format, in the order of the manuals' microcode formats (CDNA3 ISA, chapter 13).

use gcn_isa::table::{Format, Modifiers};

use gcn_isa::mods::Modifier;

use super::{Code, Fixed, Layout, ModSlot, Slot, When, bits, field, piece, slot};

/// The fields of `format`.
pub(super) fn layout(format: Format) -> Layout {
    match format {
        Format::Sop1 => SOP1,
        Format::Sop2 => SOP2,
        Format::Sopc => SOPC,
        Format::Sopk => SOPK,
        Format::Sopp => SOPP,
        Format::Smem => SMEM,
        Format::Vop1 => VOP1,
        Format::Vop1Dpp => VOP1_DPP,
        Format::Vop1Sdwa => VOP1_SDWA,
        Format::Vop2 => VOP2,
        Format::Vop2Dpp => VOP2_DPP,
        Format::Vop2Sdwa => VOP2_SDWA,
        Format::Vopc => VOPC,
        Format::VopcSdwa => VOPC_SDWA,
        Format::Vop3a => VOP3A,
        Format::Vop3b => VOP3B,
        Format::Vop3p => VOP3P,
        Format::Vop3pMai => VOP3P_MAI,
        Format::Vop3px2 => VOP3PX2,
        Format::Ds => DS,
        Format::Flat => FLAT,
        Format::Global => GLOBAL,
        Format::Scratch => SCRATCH,
        Format::Mubuf => MUBUF,
        Format::Mtbuf => MTBUF,
        _ => Layout::NONE,
    }
}

pub(super) const SOP1: Layout = Layout {
    fixed: &[bits(23, 9, 0b1_0111_1101)],
    opcode_lo: 8,
    slots: &[slot(&["ssrc0"], Code::Source, 0, 8), slot(&["sdst"], Code::Scalar, 16, 7)],
    mods: &[],
    ..Layout::NONE
};

pub(super) const SOP2: Layout = Layout {
    fixed: &[bits(30, 2, 0b10)],
    opcode_lo: 23,
    slots: &[
        slot(&["ssrc0"], Code::Source, 0, 8),
        slot(&["ssrc1"], Code::Source, 8, 8),
        slot(&["sdst"], Code::Scalar, 16, 7),
    ],
    mods: &[],
    ..Layout::NONE
};

pub(super) const SOPC: Layout = Layout {
    fixed: &[bits(23, 9, 0b1_0111_1110)],
    opcode_lo: 16,
    slots: &[
        slot(&["ssrc0"], Code::Source, 0, 8),
        slot(&["ssrc1"], Code::Source, 8, 8),
        slot(&["simm8"], Code::Imm, 8, 8),
    ],
    mods: &[],
    ..Layout::NONE
};

pub(super) const SOPK: Layout = Layout {
    fixed: &[bits(28, 4, 0b1011)],
    opcode_lo: 23,
    slots: &[
        slot(&["simm16", "hwreg"], Code::Imm, 0, 16),
        slot(&["sdst", "ssrc0"], Code::Scalar, 16, 7),
        slot(&["literal"], Code::Literal, 32, 32),
    ],
    mods: &[],
    ..Layout::NONE
};

pub(super) const SOPP: Layout = Layout {
    fixed: &[bits(23, 9, 0b1_0111_1111)],
    opcode_lo: 16,
    slots: &[slot(&["simm16"], Code::Imm, 0, 16)],
    mods: &[],
    ..Layout::NONE
};

const SMEM: Layout = Layout {
    fixed: &[
        bits(26, 6, 0b110000),
        bits(17, 1, 1).when(When::Form("imm")),
        bits(14, 1, 1).when(When::Form("sgpr_imm")),
    ],
    opcode_lo: 18,
    slots: &[
        slot(&["sbase"], Code::ScalarPair, 0, 6),
        slot(&["sdata", "sdst"], Code::Scalar, 6, 7),
        slot(&["simm"], Code::Imm, 6, 7),
        slot(&["offset"], Code::Imm, 32, 21).when(When::Base64).signed(),
        slot(&["offset"], Code::Imm, 32, 20).when(When::Base128),
        slot(&["soffset"], Code::Scalar, 57, 7).when(When::Form("sgpr_imm")),
        slot(&["soffset"], Code::Scalar, 32, 7).when(When::Form("sgpr")),
    ],
    mods: &[field(Modifier::Offset, 32, 21), field(Modifier::Glc, 16, 1)],
    ..Layout::NONE
};

pub(super) const VOP1_SLOTS: [Slot; 2] =
    [slot(&["vdst"], Code::Vector, 17, 8), slot(&["sdst"], Code::Scalar, 17, 8)];

pub(super) const VOP1: Layout = Layout {
    fixed: &[bits(25, 7, 0b0111111)],
    opcode_lo: 9,
    slots: &[VOP1_SLOTS[0], VOP1_SLOTS[1], slot(&["src0", "vdst1"], Code::Source, 0, 9)],
    mods: &[],
    ..Layout::NONE
};

pub(super) const VOP2: Layout = Layout {
    fixed: &[bits(31, 1, 0)],
    opcode_lo: 25,
    slots: &[
        slot(&["vdst"], Code::Vector, 17, 8),
        slot(&["src0"], Code::Source, 0, 9),
        slot(&["src1"], Code::Vector, 9, 8),
        slot(&["literal"], Code::Literal, 32, 32),
    ],
    mods: &[],
    ..Layout::NONE
};

pub(super) const VOPC: Layout = Layout {
    fixed: &[bits(25, 7, 0b0111110)],
    opcode_lo: 17,
    slots: &[slot(&["src0"], Code::Source, 0, 9), slot(&["src1"], Code::Vector, 9, 8)],
    mods: &[],
    ..Layout::NONE
};

/// The `src0` codes that indicate a second dword with controls.
pub(super) const SDWA_MARK: Fixed = bits(0, 9, 0xf9);
pub(super) const DPP_MARK: Fixed = bits(0, 9, 0xfa);

pub(super) const DPP_SRC0: Slot = slot(&["src0"], Code::Vector, 32, 8);
const DPP_MODS: &[ModSlot] = &[
    field(Modifier::DppCtrl, 40, 9),
    field(Modifier::BoundCtrl, 51, 1),
    piece(Modifier::Neg, 0, 52, 1),
    piece(Modifier::Abs, 0, 53, 1),
    piece(Modifier::Neg, 1, 54, 1),
    piece(Modifier::Abs, 1, 55, 1),
    field(Modifier::BankMask, 56, 4),
    field(Modifier::RowMask, 60, 4),
];

const VOP1_DPP: Layout = Layout {
    fixed: &[bits(25, 7, 0b0111111), DPP_MARK],
    opcode_lo: 9,
    slots: &[VOP1_SLOTS[0], DPP_SRC0],
    mods: DPP_MODS,
    ..Layout::NONE
};

const VOP2_DPP: Layout = Layout {
    fixed: &[bits(31, 1, 0), DPP_MARK],
    opcode_lo: 25,
    slots: &[slot(&["vdst"], Code::Vector, 17, 8), DPP_SRC0, slot(&["src1"], Code::Vector, 9, 8)],
    mods: DPP_MODS,
    ..Layout::NONE
};

const SDWA_SRC0: Slot = slot(&["src0"], Code::SdwaSource(55), 32, 8);
const SDWA_SRC1: Slot = slot(&["src1"], Code::SdwaSource(63), 9, 8);
const SDWA_MODS: &[ModSlot] = &[
    field(Modifier::DstSel, 40, 3),
    field(Modifier::DstUnused, 43, 2),
    field(Modifier::Clamp, 45, 1),
    field(Modifier::Omod, 46, 2),
    field(Modifier::Src0Sel, 48, 3),
    piece(Modifier::Sext, 0, 51, 1),
    piece(Modifier::Neg, 0, 52, 1),
    piece(Modifier::Abs, 0, 53, 1),
    field(Modifier::Src1Sel, 56, 3),
    piece(Modifier::Sext, 1, 59, 1),
    piece(Modifier::Neg, 1, 60, 1),
    piece(Modifier::Abs, 1, 61, 1),
];
/// Rows without a destination selector, which write the whole register.
const SDWA_WHOLE_DST: Fixed = bits(40, 3, 6).when(When::WholeDestination);

pub(super) const VOP1_SDWA: Layout = Layout {
    fixed: &[bits(25, 7, 0b0111111), SDWA_MARK, SDWA_WHOLE_DST],
    opcode_lo: 9,
    slots: &[VOP1_SLOTS[0], SDWA_SRC0],
    mods: SDWA_MODS,
    ..Layout::NONE
};

pub(super) const VOP2_SDWA: Layout = Layout {
    fixed: &[bits(31, 1, 0), SDWA_MARK, SDWA_WHOLE_DST],
    opcode_lo: 25,
    slots: &[slot(&["vdst"], Code::Vector, 17, 8), SDWA_SRC0, SDWA_SRC1],
    mods: SDWA_MODS,
    ..Layout::NONE
};

pub(super) const VOPC_SDWA: Layout = Layout {
    fixed: &[bits(25, 7, 0b0111110), SDWA_MARK],
    opcode_lo: 17,
    slots: &[slot(&["sdst"], Code::SdwaScalar(47), 40, 7), SDWA_SRC0, SDWA_SRC1],
    mods: SDWA_MODS,
    ..Layout::NONE
};

const VOP3_ENC: Fixed = bits(26, 6, 0b110100);
pub(super) const SRC0: Slot = slot(&["src0", "vdst1"], Code::Source, 32, 9);
pub(super) const SRC1: Slot = slot(&["src1"], Code::Source, 41, 9);
pub(super) const SRC2: Slot = slot(&["src2"], Code::Source, 50, 9);

const VOP3A: Layout = Layout {
    fixed: &[VOP3_ENC],
    opcode_lo: 16,
    slots: &[slot(&["vdst"], Code::Vector, 0, 8), slot(&["sdst"], Code::Scalar, 0, 8), SRC0, SRC1, SRC2],
    mods: &[
        field(Modifier::Abs, 8, 3),
        field(Modifier::OpSel, 11, 4),
        field(Modifier::Clamp, 15, 1),
        field(Modifier::Omod, 59, 2),
        field(Modifier::Neg, 61, 3),
        piece(Modifier::Bitop3, 3, 8, 3),
        piece(Modifier::Bitop3, 6, 59, 2),
        piece(Modifier::Bitop3, 0, 61, 3),
    ],
    ..Layout::NONE
};

const VOP3B: Layout = Layout {
    fixed: &[VOP3_ENC],
    opcode_lo: 16,
    slots: &[slot(&["vdst"], Code::Vector, 0, 8), slot(&["sdst"], Code::Scalar, 8, 7), SRC0, SRC1, SRC2],
    mods: &[field(Modifier::Clamp, 15, 1), field(Modifier::Omod, 59, 2), field(Modifier::Neg, 61, 3)],
    ..Layout::NONE
};

const VOP3P_ENC: Fixed = bits(23, 9, 0b1_1010_0111);

const VOP3P: Layout = Layout {
    fixed: &[
        VOP3P_ENC,
        // op_sel_hi of a source that does not exist: assemblers set the bit, and the hardware does not read it.
        bits(14, 1, 1).ignored().when(When::Has(Modifiers::OP_SEL_HI)),
        // In rows that do not have op_sel_hi, its bits are all ones.
        bits(59, 2, 3).when(When::Lacks(Modifiers::OP_SEL_HI)),
        bits(14, 1, 1).when(When::Lacks(Modifiers::OP_SEL_HI)),
    ],
    opcode_lo: 16,
    slots: &[
        slot(&["vdst"], Code::Vector, 0, 8),
        SRC0,
        SRC1,
        SRC2,
        slot(&["scale_src0"], Code::Source, 32, 9),
        slot(&["scale_src1"], Code::Source, 41, 9),
    ],
    mods: &[
        field(Modifier::NegHi, 8, 3),
        field(Modifier::Abs, 8, 3),
        field(Modifier::OpSel, 11, 3),
        piece(Modifier::OpSelHi, 2, 14, 1),
        field(Modifier::Clamp, 15, 1),
        piece(Modifier::OpSelHi, 0, 59, 2),
        field(Modifier::NegLo, 61, 3),
        field(Modifier::Neg, 61, 3),
    ],
    ..Layout::NONE
};

const VOP3P_MAI: Layout = Layout {
    fixed: &[
        VOP3P_ENC,
        bits(59, 2, 3).when(When::AccvgprMove),
        bits(14, 1, 1).when(When::AccvgprMove).ignored(),
    ],
    opcode_lo: 16,
    slots: &[
        slot(&["vdst"], Code::Vector, 0, 8).acc(15),
        SRC0.acc(59),
        SRC1.acc(60),
        SRC2.acc(15),
        slot(&["idx"], Code::Source, 50, 9),
    ],
    mods: &[
        field(Modifier::Cbsz, 8, 3),
        field(Modifier::Abid, 11, 4),
        field(Modifier::Blgp, 61, 3),
        field(Modifier::Neg, 61, 3),
    ],
    ..Layout::NONE
};

const VOP3PX2: Layout = Layout {
    // The first half is a v_mfma_ld_scale_b32 (opcode 0x2c). The second is the matrix instruction, whose otherwise unused field `abid` has
    // its lowest bit set.
    fixed: &[
        VOP3P_ENC,
        bits(16, 7, 0x2c),
        // op_sel and op_sel_hi of a third source that does not exist: AMD's own kernels set them, and the hardware does
        // not read them.
        bits(13, 2, 0).ignored(),
        bits(64 + 23, 9, 0b1_1010_0111),
        bits(64 + 11, 1, 1),
    ],
    opcode_lo: 64 + 16,
    slots: &[
        slot(&["scale_src0"], Code::Source, 32, 9),
        slot(&["scale_src1"], Code::Source, 41, 9),
        slot(&["vdst"], Code::Vector, 64, 8).acc(64 + 15),
        slot(&["src0"], Code::Source, 64 + 32, 9).acc(64 + 59),
        slot(&["src1"], Code::Source, 64 + 41, 9).acc(64 + 60),
        slot(&["src2"], Code::Source, 64 + 50, 9).acc(64 + 15),
    ],
    mods: &[
        field(Modifier::OpSel, 11, 2),
        field(Modifier::OpSelHi, 59, 2),
        field(Modifier::Cbsz, 64 + 8, 3),
        field(Modifier::Blgp, 64 + 61, 3),
    ],
    ..Layout::NONE
};

const DS: Layout = Layout {
    fixed: &[bits(26, 6, 0b110110)],
    opcode_lo: 17,
    slots: &[
        slot(&["addr"], Code::Vector, 32, 8),
        slot(&["data0"], Code::Vector, 40, 8).when(When::NotGws).acc(25),
        slot(&["data0"], Code::Vector, 32, 8).when(When::Gws).acc(25),
        slot(&["data1"], Code::Vector, 48, 8).acc(25),
        slot(&["vdst"], Code::Vector, 56, 8).acc(25),
    ],
    mods: &[
        field(Modifier::Offset, 0, 16),
        field(Modifier::Offset0, 0, 8),
        field(Modifier::Offset1, 8, 8),
        field(Modifier::Gds, 16, 1),
    ],
    ..Layout::NONE
};

const FLAT_ENC: Fixed = bits(26, 6, 0b110111);

const FLAT: Layout = Layout {
    fixed: &[FLAT_ENC],
    opcode_lo: 18,
    slots: &[
        slot(&["vaddr"], Code::Vector, 32, 8),
        slot(&["vdata"], Code::Vector, 40, 8).acc(55),
        slot(&["saddr"], Code::Scalar, 48, 7).off(0x7f),
        slot(&["vdst"], Code::Vector, 56, 8).acc(55),
    ],
    mods: &[
        field(Modifier::Offset, 0, 13),
        field(Modifier::Lds, 13, 1),
        field(Modifier::Glc, 16, 1),
        field(Modifier::Slc, 17, 1),
        field(Modifier::Scc, 25, 1),
    ],
    ..Layout::NONE
};

/// The segment is in bits 15:14.
const GLOBAL: Layout = Layout { fixed: &[FLAT_ENC, bits(14, 2, 2)], ..FLAT };

const SCRATCH: Layout =
    Layout { fixed: &[FLAT_ENC, bits(14, 2, 1), bits(13, 1, 1).when(When::ScratchVaddr)], ..FLAT };

const BUFFER_SLOTS: &[Slot] = &[
    slot(&["vaddr"], Code::Vector, 32, 8),
    slot(&["vdata"], Code::Vector, 40, 8).acc(55),
    slot(&["srsrc"], Code::ScalarQuad, 48, 5),
    slot(&["soffset"], Code::Source, 56, 8),
];

const MUBUF: Layout = Layout {
    fixed: &[
        bits(26, 6, 0b111000),
        // GLC and SCC: LLVM 22's compiler sets these bits, although its assembler does not accept them here.
        bits(14, 2, 0).ignored().when(When::PlainWriteBack),
    ],
    opcode_lo: 18,
    slots: BUFFER_SLOTS,
    mods: &[
        field(Modifier::Offset, 0, 12),
        field(Modifier::Offen, 12, 1),
        field(Modifier::Idxen, 13, 1),
        field(Modifier::Glc, 14, 1),
        field(Modifier::Scc, 15, 1),
        field(Modifier::Lds, 16, 1),
        field(Modifier::Slc, 17, 1),
        field(Modifier::Tfe, 55, 1),
    ],
    ..Layout::NONE
};

const MTBUF: Layout = Layout {
    fixed: &[bits(26, 6, 0b111010)],
    opcode_lo: 15,
    slots: BUFFER_SLOTS,
    mods: &[
        field(Modifier::Offset, 0, 12),
        field(Modifier::Offen, 12, 1),
        field(Modifier::Idxen, 13, 1),
        field(Modifier::Glc, 14, 1),
        field(Modifier::Format, 19, 7),
        field(Modifier::Scc, 53, 1),
        field(Modifier::Slc, 54, 1),
        field(Modifier::Tfe, 55, 1),
    ],
    ..Layout::NONE
};
