//! The fields of RDNA's formats, in the order of the manuals' microcode formats (RDNA2 ISA chapter 13, RDNA3 ISA
//! chapter 15, RDNA4 ISA chapter 15). Formats with the same fields as on GFX9 reuse those.

use gcn_isa::mods::Modifier;
use gcn_isa::table::{Format, Modifiers};
use gcn_isa::target::Generation;

use super::formats::{
    DPP_MARK, DPP_SRC0, SOP1, SOP2, SOPC, SOPK, SOPP, SRC0, SRC1, SRC2, VOP1, VOP1_SDWA, VOP1_SLOTS, VOP2,
    VOP2_SDWA, VOPC, VOPC_SDWA,
};
use super::{Code, Fixed, Layout, ModSlot, Slot, When, bits, field, piece, slot};

/// The fields of `format` in a generation.
pub(super) fn layout(format: Format, generation: Generation) -> Layout {
    let by_generation = |gfx10: Layout, gfx11: Layout, gfx12: Layout| match generation {
        Generation::GFX9 | Generation::GFX10 => gfx10,
        Generation::GFX11 => gfx11,
        Generation::GFX12 => gfx12,
    };
    match format {
        Format::Sop1 => Layout { slots: SOP1_SLOTS, ..SOP1 },
        Format::Sop2 => Layout { slots: SOP2_SLOTS, ..SOP2 },
        Format::Sopc => SOPC,
        Format::Sopk => SOPK,
        Format::Sopp => SOPP,
        Format::Smem => by_generation(GFX10_SMEM, GFX11_SMEM, GFX12_SMEM),
        Format::Vop1 => VOP1,
        Format::Vop1Dpp => Layout { fixed: &[VOP1_ENC, DPP_MARK], mods: DPP16, ..VOP1_DPP },
        Format::Vop1Dpp8 => {
            Layout { fixed: &[VOP1_ENC, DPP8_MARK], mods: DPP8, opposite: Some(0), ..VOP1_DPP }
        }
        Format::Vop1Sdwa => VOP1_SDWA,
        Format::Vop2 => VOP2,
        Format::Vop2Dpp => Layout { fixed: &[VOP2_ENC, DPP_MARK], mods: DPP16, ..VOP2_DPP },
        Format::Vop2Dpp8 => {
            Layout { fixed: &[VOP2_ENC, DPP8_MARK], mods: DPP8, opposite: Some(0), ..VOP2_DPP }
        }
        Format::Vop2Sdwa => VOP2_SDWA,
        Format::Vopc => VOPC,
        Format::VopcDpp => Layout { fixed: &[VOPC_ENC, DPP_MARK], mods: DPP16, ..VOPC_DPP },
        Format::VopcDpp8 => {
            Layout { fixed: &[VOPC_ENC, DPP8_MARK], mods: DPP8, opposite: Some(0), ..VOPC_DPP }
        }
        Format::VopcSdwa => VOPC_SDWA,
        Format::Vop3a => Layout { fixed: &[VOP3_ENC, TO_EXEC], slots: VOP3_SLOTS, mods: VOP3A_MODS, ..VOP3 },
        Format::Vop3aDpp => Layout {
            fixed: &[VOP3_ENC, TO_EXEC, LONG_DPP_MARK],
            slots: VOP3_DPP_SLOTS,
            mods: VOP3A_DPP16,
            ..VOP3
        },
        Format::Vop3aDpp8 => Layout {
            fixed: &[VOP3_ENC, TO_EXEC, LONG_DPP8_MARK],
            slots: VOP3_DPP_SLOTS,
            mods: VOP3A_DPP8,
            opposite: Some(32),
            ..VOP3
        },
        Format::Vop3b => Layout { fixed: &[VOP3_ENC], slots: VOP3B_SLOTS, mods: VOP3B_MODS, ..VOP3 },
        Format::Vop3bDpp => {
            Layout { fixed: &[VOP3_ENC, LONG_DPP_MARK], slots: VOP3B_DPP_SLOTS, mods: VOP3B_DPP16, ..VOP3 }
        }
        Format::Vop3bDpp8 => Layout {
            fixed: &[VOP3_ENC, LONG_DPP8_MARK],
            slots: VOP3B_DPP_SLOTS,
            mods: VOP3B_DPP8,
            opposite: Some(32),
            ..VOP3
        },
        Format::Vop3p => Layout { fixed: VOP3P_FIXED, slots: VOP3P_SLOTS, mods: VOP3P_MODS, ..VOP3 },
        Format::Vop3pDpp => {
            Layout { fixed: VOP3P_DPP_FIXED, slots: VOP3_DPP_SLOTS, mods: VOP3P_DPP16, ..VOP3 }
        }
        Format::Vop3pDpp8 => Layout {
            fixed: VOP3P_DPP8_FIXED,
            slots: VOP3_DPP_SLOTS,
            mods: VOP3P_DPP8,
            opposite: Some(32),
            ..VOP3
        },
        Format::Vop3px2 => VOP3PX2,
        Format::Vopd => VOPD,
        Format::Vopd3 => VOPD3,
        Format::LdsDir | Format::VdsDir => LDSDIR,
        Format::Ds | Format::Vds => DS,
        Format::Flat => by_generation(GFX10_FLAT, GFX11_FLAT, Layout::NONE),
        Format::Global => by_generation(GFX10_GLOBAL, GFX11_GLOBAL, Layout::NONE),
        Format::Scratch => by_generation(GFX10_SCRATCH, GFX11_SCRATCH, Layout::NONE),
        Format::VFlat => VFLAT,
        Format::VGlobal => VGLOBAL,
        Format::VScratch => VSCRATCH,
        Format::Mubuf => by_generation(GFX10_MUBUF, GFX11_MUBUF, Layout::NONE),
        Format::Mtbuf => by_generation(GFX10_MTBUF, GFX11_MTBUF, Layout::NONE),
        // In an untyped access, the format field has the default value of typed accesses, which is not printed.
        Format::VBuffer => Layout { fixed: UNTYPED, ..VBUFFER },
        Format::VBufferTyped => VBUFFER,
        Format::VImage => VIMAGE,
        _ => Layout::NONE,
    }
}

/// A message is encoded in the field of a source.
const SOP1_SLOTS: &[Slot] = &[SOP1.slots[0], SOP1.slots[1], slot(&["msg"], Code::Imm, 0, 8)];

const SOP2_SLOTS: &[Slot] =
    &[SOP2.slots[0], SOP2.slots[1], SOP2.slots[2], slot(&["literal"], Code::Literal, 32, 32)];

/// The encoding numbers of `null`.
const GFX10_NULL: u16 = 0x7d;
const GFX11_NULL: u16 = 0x7c;

const SMEM_ENC: Fixed = bits(26, 6, 0b111101);

const GFX10_SMEM: Layout = Layout {
    fixed: &[SMEM_ENC, bits(57, 7, GFX10_NULL as u64).when(When::Is("imm"))],
    opcode_lo: 18,
    slots: &[
        slot(&["sbase"], Code::ScalarPair, 0, 6),
        slot(&["sdata", "sdst"], Code::Scalar, 6, 7),
        slot(&["simm"], Code::Imm, 6, 7),
        slot(&["offset"], Code::Imm, 32, 20).when(When::Base128),
        slot(&["offset"], Code::Imm, 32, 21).signed(),
        slot(&["soffset"], Code::Scalar, 57, 7),
    ],
    mods: &[field(Modifier::Offset, 32, 21), field(Modifier::Glc, 16, 1), field(Modifier::Dlc, 14, 1)],
    ..Layout::NONE
};

const GFX11_SMEM: Layout = Layout {
    fixed: &[SMEM_ENC, bits(57, 7, GFX11_NULL as u64).when(When::Is("imm"))],
    mods: &[field(Modifier::Offset, 32, 21), field(Modifier::Glc, 14, 1), field(Modifier::Dlc, 13, 1)],
    ..GFX10_SMEM
};

const GFX12_SMEM: Layout = Layout {
    opcode_lo: 13,
    slots: &[
        slot(&["sbase"], Code::ScalarPair, 0, 6),
        slot(&["sdata", "sdst"], Code::Scalar, 6, 7),
        slot(&["simm"], Code::Imm, 6, 7),
        slot(&["length"], Code::Imm, 6, 5),
        slot(&["offset"], Code::Imm, 32, 23).when(When::Base128),
        slot(&["offset"], Code::Imm, 32, 24).signed(),
        slot(&["soffset"], Code::Scalar, 57, 7),
    ],
    mods: &[
        field(Modifier::Offset, 32, 24),
        field(Modifier::Nv, 20, 1),
        field(Modifier::Scope, 21, 2),
        field(Modifier::Th, 23, 2),
        field(Modifier::ScaleOffset, 56, 1),
    ],
    ..GFX11_SMEM
};

const VOP1_ENC: Fixed = bits(25, 7, 0b0111111);
const VOP2_ENC: Fixed = bits(31, 1, 0);
const VOPC_ENC: Fixed = bits(25, 7, 0b0111110);

/// The two values that mark DPP8, 0xe9 and 0xea: 0xea with `fi`, 0xe9 without it.
const DPP8_MARK: Fixed = bits(2, 7, 0xe8 >> 2);
/// The marks in the first source of the long encodings.
const LONG_DPP_MARK: Fixed = bits(32, 9, 0xfa);
const LONG_DPP8_MARK: Fixed = bits(34, 7, 0xe8 >> 2);

const VOP1_DPP: Layout = Layout { opcode_lo: 9, slots: &[VOP1_SLOTS[0], DPP_SRC0], ..Layout::NONE };
const VOP2_DPP: Layout = Layout {
    opcode_lo: 25,
    slots: &[slot(&["vdst"], Code::Vector, 17, 8), DPP_SRC0, slot(&["src1"], Code::Vector, 9, 8)],
    ..Layout::NONE
};
const VOPC_DPP: Layout =
    Layout { opcode_lo: 17, slots: &[DPP_SRC0, slot(&["src1"], Code::Vector, 9, 8)], ..Layout::NONE };

const DPP16: &[ModSlot] = &[
    field(Modifier::DppCtrl, 40, 9),
    field(Modifier::Fi, 50, 1),
    field(Modifier::BoundCtrl, 51, 1),
    piece(Modifier::Neg, 0, 52, 1),
    piece(Modifier::Abs, 0, 53, 1),
    piece(Modifier::Neg, 1, 54, 1),
    piece(Modifier::Abs, 1, 55, 1),
    field(Modifier::BankMask, 56, 4),
    field(Modifier::RowMask, 60, 4),
];
const DPP8: &[ModSlot] = &[field(Modifier::Fi, 1, 1), field(Modifier::Dpp8, 40, 24)];

const VOP3_ENC: Fixed = bits(26, 6, 0b110101);
/// A comparison without a destination writes EXEC, whose number is encoded as the destination.
const TO_EXEC: Fixed = bits(0, 8, 0x7e).when(When::WritesExec);
const VOP3: Layout = Layout { opcode_lo: 16, ..Layout::NONE };
const VDST: Slot = slot(&["vdst"], Code::Vector, 0, 8);
const VOP3_SLOTS: &[Slot] = &[VDST, slot(&["sdst"], Code::Scalar, 0, 8), SRC0, SRC1, SRC2];
const VOP3B_SLOTS: &[Slot] = &[VDST, slot(&["sdst"], Code::Scalar, 8, 7), SRC0, SRC1, SRC2];
const LONG_DPP_SRC0: Slot = slot(&["src0"], Code::Vector, 64, 8);
const VOP3_DPP_SLOTS: &[Slot] = &[VDST, slot(&["sdst"], Code::Scalar, 0, 8), LONG_DPP_SRC0, SRC1, SRC2];
const VOP3B_DPP_SLOTS: &[Slot] = &[VDST, slot(&["sdst"], Code::Scalar, 8, 7), LONG_DPP_SRC0, SRC1, SRC2];

/// The modifiers of a long encoding, followed by those of its DPP forms.
macro_rules! long {
    ($plain:ident, $dpp16:ident, $dpp8:ident: $($field:expr),* $(,)?) => {
        const $plain: &[ModSlot] = &[$($field),*];
        const $dpp16: &[ModSlot] = &[
            $($field,)*
            field(Modifier::DppCtrl, 72, 9),
            field(Modifier::Fi, 82, 1),
            field(Modifier::BoundCtrl, 83, 1),
            field(Modifier::BankMask, 88, 4),
            field(Modifier::RowMask, 92, 4),
        ];
        const $dpp8: &[ModSlot] = &[$($field,)* field(Modifier::Fi, 33, 1), field(Modifier::Dpp8, 72, 24)];
    };
}

long! {
    VOP3A_MODS, VOP3A_DPP16, VOP3A_DPP8:
    field(Modifier::Abs, 8, 3),
    field(Modifier::OpSel, 11, 4),
    // The two bits of a source's byte number are exchanged in the encoding; the two bits of a destination's byte number are not.
    piece(Modifier::ByteSel, 1, 11, 1).when(When::WholeResult),
    piece(Modifier::ByteSel, 0, 12, 1).when(When::WholeResult),
    field(Modifier::ByteSel, 13, 2).when(When::PartOfResult),
    field(Modifier::ScaleSel, 11, 4),
    field(Modifier::Bitop3, 61, 3),
    piece(Modifier::Bitop3, 3, 8, 3),
    piece(Modifier::Bitop3, 6, 59, 2),
    field(Modifier::Clamp, 15, 1),
    field(Modifier::Omod, 59, 2),
    field(Modifier::Neg, 61, 3),
}

long! {
    VOP3B_MODS, VOP3B_DPP16, VOP3B_DPP8:
    field(Modifier::Clamp, 15, 1),
    field(Modifier::Omod, 59, 2),
    field(Modifier::Neg, 61, 3),
}

const VOP3P_ENC: Fixed = bits(24, 8, 0b1100_1100);
/// The modifiers that share the bits of op_sel_hi, including op_sel_hi; an instruction has at most one of them.
const NOT_SEL_HI: Modifiers = Modifiers::OP_SEL_HI
    .union(Modifiers::MATRIX_B_REUSE)
    .union(Modifiers::MATRIX_B_FMT)
    .union(Modifiers::MATRIX_B_SCALE);
/// In rows that do not have op_sel_hi, its bits are all ones.
const SEL_HI: [Fixed; 3] = [
    bits(14, 1, 1).ignored().when(When::Has(Modifiers::OP_SEL_HI)),
    bits(59, 2, 3).when(When::Lacks(
        Modifiers::OP_SEL_HI.union(Modifiers::MATRIX_B_FMT).union(Modifiers::MATRIX_B_SCALE),
    )),
    bits(14, 1, 1).when(When::Lacks(NOT_SEL_HI)),
];
/// The instruction that loads the scales of a matrix has no third source; the field of that source has the code of `v0`.
const NO_THIRD_SOURCE: Fixed = bits(50, 9, 0x100).when(When::Has(Modifiers::MATRIX_A_SCALE));
const VOP3P_FIXED: &[Fixed] = &[VOP3P_ENC, SEL_HI[0], SEL_HI[1], SEL_HI[2], NO_THIRD_SOURCE];
const VOP3P_DPP_FIXED: &[Fixed] = &[VOP3P_ENC, LONG_DPP_MARK, SEL_HI[0], SEL_HI[1], SEL_HI[2]];
const VOP3P_DPP8_FIXED: &[Fixed] = &[VOP3P_ENC, LONG_DPP8_MARK, SEL_HI[0], SEL_HI[1], SEL_HI[2]];
const SCALE_A: Slot = slot(&["scale_a"], Code::Source, 32, 9);
const SCALE_B: Slot = slot(&["scale_b"], Code::Source, 41, 9);
const VOP3P_SLOTS: &[Slot] = &[VDST, SRC0, SRC1, SRC2, slot(&["idx"], Code::Source, 50, 9), SCALE_A, SCALE_B];
/// The modifier fields of scales.
const SCALES: [ModSlot; 6] = [
    field(Modifier::MatrixAScale, 11, 1),
    field(Modifier::MatrixBScale, 59, 1),
    field(Modifier::MatrixAScaleFmt, 61, 2),
    field(Modifier::MatrixBScaleFmt, 8, 2),
    field(Modifier::MatrixAReuse, 13, 1),
    field(Modifier::MatrixBReuse, 14, 1),
];

long! {
    VOP3P_MODS, VOP3P_DPP16, VOP3P_DPP8:
    field(Modifier::NegHi, 8, 3),
    field(Modifier::Abs, 8, 3),
    field(Modifier::OpSel, 11, 3),
    field(Modifier::IndexKey, 11, 2),
    SCALES[0],
    SCALES[1],
    SCALES[2],
    SCALES[3],
    SCALES[4],
    SCALES[5],
    field(Modifier::MatrixAFmt, 11, 3),
    piece(Modifier::MatrixBFmt, 2, 14, 1),
    piece(Modifier::MatrixBFmt, 0, 59, 2),
    piece(Modifier::OpSelHi, 2, 14, 1),
    field(Modifier::Clamp, 15, 1),
    piece(Modifier::OpSelHi, 0, 59, 2),
    field(Modifier::NegLo, 61, 3),
    field(Modifier::Neg, 61, 3),
}

/// Two instructions in one: the one that loads the scales, and the matrix instruction.
const VOP3PX2: Layout = Layout {
    fixed: &[
        VOP3P_ENC,
        bits(50, 9, 0x100),
        bits(88, 8, 0b1100_1100),
        bits(123, 2, 3).when(When::Lacks(Modifiers::MATRIX_B_FMT)),
        bits(78, 1, 1).when(When::Lacks(Modifiers::MATRIX_B_FMT)),
    ],
    opcode_lo: 80,
    opcode_hi: Some((8, 16)),
    slots: &[
        slot(&["vdst"], Code::Vector, 64, 8),
        slot(&["src0"], Code::Source, 96, 9),
        slot(&["src1"], Code::Source, 105, 9),
        slot(&["src2"], Code::Source, 114, 9),
        SCALE_A,
        SCALE_B,
    ],
    mods: &[
        SCALES[0],
        SCALES[1],
        SCALES[2],
        SCALES[3],
        SCALES[4],
        SCALES[5],
        field(Modifier::NegHi, 72, 3),
        field(Modifier::MatrixAFmt, 75, 3),
        piece(Modifier::MatrixBFmt, 2, 78, 1),
        piece(Modifier::MatrixBFmt, 0, 123, 2),
        field(Modifier::NegLo, 125, 3),
    ],
    ..Layout::NONE
};

const VOPD3: Layout = Layout {
    fixed: &[bits(24, 8, 0b1100_1111)],
    opcode_lo: 12,
    slots: &[
        slot(&["src0x"], Code::Source, 0, 9),
        slot(&["src0y"], Code::Source, 32, 9),
        slot(&["vsrc1x"], Code::Vector, 48, 8),
        slot(&["vsrc2x"], Code::Vector, 56, 8),
        slot(&["lane_maskx"], Code::Source, 56, 8),
        slot(&["vdstx"], Code::Vector, 64, 8),
        slot(&["vsrc1y"], Code::Vector, 72, 8),
        slot(&["vsrc2y"], Code::Vector, 80, 8),
        slot(&["lane_masky"], Code::Source, 80, 8),
        slot(&["vdsty"], Code::Vector, 88, 8),
    ],
    mods: &[field(Modifier::Neg, 41, 6), field(Modifier::Bitop3, 80, 8)],
    ..Layout::NONE
};

const VOPD: Layout = Layout {
    fixed: &[bits(26, 6, 0b110010)],
    opcode_lo: 17,
    slots: &[
        slot(&["src0x"], Code::Source, 0, 9),
        slot(&["vsrc1x"], Code::Vector, 9, 8),
        slot(&["src0y"], Code::Source, 32, 9),
        slot(&["vsrc1y"], Code::Vector, 41, 8),
        slot(&["vdsty"], Code::VectorPair(56), 49, 7),
        slot(&["vdstx"], Code::Vector, 56, 8),
        slot(&["literalx", "literaly"], Code::Literal, 64, 32),
    ],
    ..Layout::NONE
};

const LDSDIR: Layout = Layout {
    fixed: &[bits(24, 8, 0b1100_1110)],
    opcode_lo: 20,
    slots: &[VDST, slot(&["attr"], Code::Imm, 8, 8)],
    mods: &[
        field(Modifier::WaitVdst, 16, 4),
        field(Modifier::WaitVaVdst, 16, 4),
        field(Modifier::WaitVmVsrc, 23, 1),
    ],
    ..Layout::NONE
};

const DS: Layout = Layout {
    fixed: &[bits(26, 6, 0b110110)],
    opcode_lo: 18,
    slots: &[
        slot(&["addr"], Code::Vector, 32, 8),
        slot(&["data0"], Code::Vector, 40, 8).when(When::NotGws),
        slot(&["data0"], Code::Vector, 32, 8).when(When::Gws),
        slot(&["data1"], Code::Vector, 48, 8),
        slot(&["vdst"], Code::Vector, 56, 8),
    ],
    mods: &[
        field(Modifier::Offset, 0, 16),
        field(Modifier::Offset0, 0, 8),
        field(Modifier::Offset1, 8, 8),
        field(Modifier::Gds, 17, 1),
    ],
    ..Layout::NONE
};

const FLAT_ENC: Fixed = bits(26, 6, 0b110111);

const fn flat_slots(saddr: Slot) -> [Slot; 4] {
    [
        slot(&["vaddr"], Code::Vector, 32, 8),
        slot(&["vdata"], Code::Vector, 40, 8),
        saddr,
        slot(&["vdst"], Code::Vector, 56, 8),
    ]
}

const SADDR: Slot = slot(&["saddr"], Code::Scalar, 48, 7);
const GFX10_FLAT_SLOTS: &[Slot] = &flat_slots(SADDR.off(GFX10_NULL));
const GFX11_FLAT_SLOTS: &[Slot] = &flat_slots(SADDR.off(GFX11_NULL));

const fn null_saddr(null: u16) -> Fixed {
    bits(48, 7, null as u64).when(When::LacksOperand("saddr"))
}

/// The segment is in bits 15:14.
const GFX10_FLAT: Layout = Layout {
    fixed: &[FLAT_ENC, null_saddr(GFX10_NULL)],
    opcode_lo: 18,
    slots: GFX10_FLAT_SLOTS,
    mods: &[
        field(Modifier::Offset, 0, 12),
        field(Modifier::Dlc, 12, 1),
        field(Modifier::Lds, 13, 1),
        field(Modifier::Glc, 16, 1),
        field(Modifier::Slc, 17, 1),
    ],
    ..Layout::NONE
};
const GFX10_GLOBAL: Layout =
    Layout { fixed: &[FLAT_ENC, bits(14, 2, 2), null_saddr(GFX10_NULL)], ..GFX10_FLAT };
/// Without any address register, the scalar address is encoded as 0x7f instead of `null` (RDNA2 ISA, scratch address modes).
const GFX10_SCRATCH: Layout = Layout {
    fixed: &[FLAT_ENC, bits(14, 2, 1)],
    slots: &[
        GFX10_FLAT_SLOTS[0],
        GFX10_FLAT_SLOTS[1],
        SADDR.off(GFX10_NULL).when(When::HasVaddr),
        SADDR.off(0x7f),
        GFX10_FLAT_SLOTS[3],
    ],
    ..GFX10_FLAT
};

/// The segment is in bits 17:16.
const GFX11_FLAT: Layout = Layout {
    fixed: &[FLAT_ENC, null_saddr(GFX11_NULL)],
    slots: GFX11_FLAT_SLOTS,
    mods: &[
        field(Modifier::Offset, 0, 13),
        field(Modifier::Dlc, 13, 1),
        field(Modifier::Glc, 14, 1),
        field(Modifier::Slc, 15, 1),
    ],
    ..GFX10_FLAT
};
const GFX11_GLOBAL: Layout =
    Layout { fixed: &[FLAT_ENC, bits(16, 2, 2), null_saddr(GFX11_NULL)], ..GFX11_FLAT };
/// A bit indicates an address VGPR.
const GFX11_SCRATCH: Layout =
    Layout { fixed: &[FLAT_ENC, bits(16, 2, 1), bits(55, 1, 1).when(When::HasVaddr)], ..GFX11_FLAT };

const VFLAT_ENC: Fixed = bits(26, 6, 0b111011);
const GFX12_NULL_SADDR: Fixed = bits(0, 7, GFX11_NULL as u64).when(When::LacksOperand("saddr"));

/// The segment is in bits 25:24.
const VFLAT: Layout = Layout {
    fixed: &[VFLAT_ENC, GFX12_NULL_SADDR],
    opcode_lo: 14,
    slots: &[
        slot(&["saddr"], Code::Scalar, 0, 7).off(GFX11_NULL),
        slot(&["vdata", "lds_addr"], Code::Vector, 55, 8).when(When::StoresAsync),
        slot(&["vdst", "lds_addr"], Code::Vector, 32, 8),
        slot(&["vdata"], Code::Vector, 55, 8),
        slot(&["vaddr"], Code::Vector, 64, 8),
    ],
    mods: &[
        field(Modifier::Nv, 7, 1),
        field(Modifier::ScaleOffset, 48, 1),
        field(Modifier::Scope, 50, 2),
        field(Modifier::Th, 52, 3),
        field(Modifier::Offset, 72, 24),
    ],
    ..Layout::NONE
};
const VGLOBAL: Layout = Layout { fixed: &[VFLAT_ENC, bits(24, 2, 2), GFX12_NULL_SADDR], ..VFLAT };
const VSCRATCH: Layout =
    Layout { fixed: &[VFLAT_ENC, bits(24, 2, 1), bits(49, 1, 1).when(When::HasVaddr)], ..VFLAT };

const BUFFER_SLOTS: &[Slot] = &[
    slot(&["vaddr"], Code::Vector, 32, 8),
    slot(&["vdata"], Code::Vector, 40, 8),
    slot(&["srsrc"], Code::ScalarQuad, 48, 5),
    slot(&["soffset"], Code::Source, 56, 8),
];

const GFX10_MUBUF: Layout = Layout {
    fixed: &[bits(26, 6, 0b111000)],
    opcode_lo: 18,
    slots: BUFFER_SLOTS,
    mods: &[
        field(Modifier::Offset, 0, 12),
        field(Modifier::Offen, 12, 1),
        field(Modifier::Idxen, 13, 1),
        field(Modifier::Glc, 14, 1),
        field(Modifier::Dlc, 15, 1),
        field(Modifier::Lds, 16, 1),
        field(Modifier::Slc, 54, 1),
        field(Modifier::Tfe, 55, 1),
    ],
    ..Layout::NONE
};

const GFX10_MTBUF: Layout = Layout {
    fixed: &[bits(26, 6, 0b111010)],
    opcode_lo: 16,
    opcode_hi: Some((3, 53)),
    slots: BUFFER_SLOTS,
    mods: &[
        field(Modifier::Offset, 0, 12),
        field(Modifier::Offen, 12, 1),
        field(Modifier::Idxen, 13, 1),
        field(Modifier::Glc, 14, 1),
        field(Modifier::Dlc, 15, 1),
        field(Modifier::Format, 19, 7),
        field(Modifier::Slc, 54, 1),
        field(Modifier::Tfe, 55, 1),
    ],
    ..Layout::NONE
};

const GFX11_MUBUF: Layout = Layout {
    mods: &[
        field(Modifier::Offset, 0, 12),
        field(Modifier::Slc, 12, 1),
        field(Modifier::Dlc, 13, 1),
        field(Modifier::Glc, 14, 1),
        field(Modifier::Tfe, 53, 1),
        field(Modifier::Offen, 54, 1),
        field(Modifier::Idxen, 55, 1),
    ],
    ..GFX10_MUBUF
};

const GFX11_MTBUF: Layout = Layout {
    opcode_lo: 15,
    opcode_hi: None,
    mods: &[
        field(Modifier::Offset, 0, 12),
        field(Modifier::Slc, 12, 1),
        field(Modifier::Dlc, 13, 1),
        field(Modifier::Glc, 14, 1),
        field(Modifier::Format, 19, 7),
        field(Modifier::Tfe, 53, 1),
        field(Modifier::Offen, 54, 1),
        field(Modifier::Idxen, 55, 1),
    ],
    ..GFX10_MTBUF
};

const VBUFFER_ENC: Fixed = bits(26, 6, 0b110001);
const UNTYPED: &[Fixed] = &[VBUFFER_ENC, bits(55, 7, 1)];
const VBUFFER: Layout = Layout {
    fixed: &[VBUFFER_ENC],
    opcode_lo: 14,
    slots: &[
        slot(&["soffset"], Code::Scalar, 0, 7),
        slot(&["vdata"], Code::Vector, 32, 8),
        slot(&["srsrc"], Code::Scalar, 41, 9),
        slot(&["vaddr"], Code::Vector, 64, 8),
    ],
    mods: &[
        field(Modifier::Nv, 7, 1),
        field(Modifier::Tfe, 22, 1),
        field(Modifier::Scope, 50, 2),
        field(Modifier::Th, 52, 3),
        field(Modifier::Format, 55, 7),
        field(Modifier::Offen, 62, 1),
        field(Modifier::Idxen, 63, 1),
        field(Modifier::Offset, 72, 24),
    ],
    ..Layout::NONE
};

/// Tensor copies are the only supported image instructions. They have no per-lane registers; an omitted group of registers is encoded as
/// `null`.
const VIMAGE: Layout = Layout {
    fixed: &[
        bits(26, 6, 0b110100),
        bits(22, 4, 1),
        bits(0, 3, 1),
        bits(56, 7, GFX11_NULL as u64),
        bits(80, 7, GFX11_NULL as u64).when(When::LacksOperand("group2")),
        bits(88, 7, GFX11_NULL as u64).when(When::LacksOperand("group3")),
    ],
    opcode_lo: 14,
    slots: &[
        slot(&["group0"], Code::Scalar, 64, 7),
        slot(&["group1"], Code::Scalar, 72, 7),
        slot(&["group2"], Code::Scalar, 80, 7),
        slot(&["group3"], Code::Scalar, 88, 7),
    ],
    mods: &[field(Modifier::Nv, 7, 1), field(Modifier::Scope, 50, 2), field(Modifier::Th, 52, 3)],
    ..Layout::NONE
};
