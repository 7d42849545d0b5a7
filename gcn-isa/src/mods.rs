//! Modifiers of instructions: their values, and the table of their fields, flags and spellings.

mod table;
mod words;

pub(crate) use table::named;
pub use table::{DppControls, Modifier, Modifiers, TemporalHints};
pub(crate) use words::words;
pub use words::{
    Form, HINTS, MATRIX_FORMATS, MATRIX_SCALES, SCALE_FORMATS, SCOPES, SDWA_SELECTORS, SDWA_UNUSED, Spelling,
    WORDS, Word, dpp_word, word_named, word_of,
};

/// The modifiers of an instruction. `Default` corresponds to text without modifiers: all flags are off and the DPP masks are 0xf. Code that
/// creates a VOP3P instruction must set its `op_sel_hi` to all ones ([`InstDesc::default_mods`](crate::InstDesc::default_mods)).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Mods {
    /// Negation, with bit i for source i (VOP3, SDWA, DPP; `neg:[..]` of f64 MFMA).
    pub neg: u8,
    /// Absolute value, with bit i for source i.
    pub abs: u8,
    /// Sign extension (SDWA), with bit i for source i.
    pub sext: u8,
    /// `op_sel` bits: first those of the sources, then (VOP3) that of the destination.
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
    /// The immediate byte offset of a memory instruction (`offset:`), including DS instructions.
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
    /// Load into LDS (or the `lds` modifier of buffer, global and scratch instructions).
    pub lds: bool,
    /// `tfe`.
    pub tfe: bool,
    /// DS: global data share.
    pub gds: bool,
    /// MTBUF format: dfmt in bits 3:0, nfmt in bits 6:4.
    pub format: u8,
    /// MFMA `cbsz`; the format of A (`matrix_a_fmt` of gfx12.5).
    pub cbsz: u8,
    /// MFMA `abid`.
    pub abid: u8,
    /// MFMA `blgp`; the format of B (`matrix_b_fmt` of gfx12.5).
    pub blgp: u8,
    /// `bitop3` truth table (gfx950).
    pub bitop3: u8,
    /// `dlc` of RDNA 1 to 3.
    pub dlc: bool,
    /// The temporal hint of RDNA 4 (`th:`), as the field's bits; for an atomic, bit 0 requests the old value.
    pub th: u8,
    /// The scope of RDNA 4 (`scope:`): 0 CU, 1 SE, 2 DEV, 3 SYS.
    pub scope: u8,
    /// `byte_sel`: the byte of the source that a conversion from fp8 or bf8 reads, or of the destination that it writes.
    pub byte_sel: u8,
    /// `index_key` of sparse matrix instructions of RDNA 4: the part of the index register that is used.
    pub index_key: u8,
    /// `wait_vdst` (`wait_va_vdst`) of direct LDS loads: the number of vector ALU instructions that may be outstanding.
    pub wait_vdst: u8,
    /// `wait_vm_vsrc` of direct LDS loads: the number of vector memory instructions that may have yet to read their sources.
    pub wait_vm_vsrc: u8,
    /// `nv` of gfx12.5: the data are not volatile.
    pub nv: bool,
    /// `scale_offset` of gfx12.5: the offset in a register counts elements.
    pub scale_offset: bool,
    /// `matrix_a_reuse` of gfx12.5: a hint that the next matrix instruction has the same A.
    pub matrix_a_reuse: bool,
    /// `matrix_b_reuse` of gfx12.5: a hint that the next matrix instruction has the same B.
    pub matrix_b_reuse: bool,
    /// `matrix_a_scale` of gfx12.5: the lanes that have the scales of A.
    pub matrix_a_scale: u8,
    /// `matrix_b_scale` of gfx12.5: the lanes that have the scales of B.
    pub matrix_b_scale: u8,
    /// `matrix_a_scale_fmt` of gfx12.5: the type of the scales of A.
    pub matrix_a_scale_fmt: u8,
    /// `matrix_b_scale_fmt` of gfx12.5: the type of the scales of B.
    pub matrix_b_scale_fmt: u8,
    /// `scale_sel` of gfx12.5: the part of the source that has the scale.
    pub scale_sel: u8,
    /// `fi` of RDNA: the instruction also reads from lanes that EXEC disables.
    pub fi: bool,
    /// `dpp8`: for each lane of a group of eight, the lane from which it reads, in three bits each.
    pub dpp8: u32,
    /// DPP controls, for the DPP formats.
    pub dpp: Option<Dpp>,
    /// SDWA selectors, for the SDWA formats.
    pub sdwa: Option<Sdwa>,
}

impl Mods {
    /// True if lanes or bits of a vector result keep their old value: lanes that DPP masks disable or whose source would be out of range,
    /// and bits that SDWA preserves.
    pub(crate) fn keep_a_part(&self) -> bool {
        self.dpp.is_some_and(|d| !d.bound_ctrl || d.row_mask != 0xf || d.bank_mask != 0xf)
            || self.sdwa.is_some_and(|s| s.dst_unused == 2 && s.dst_sel != 6)
    }
}

/// DPP controls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dpp {
    /// The 9-bit `dpp_ctrl` field: 0x000..=0x0ff `quad_perm`, 0x101.. `row_shl`, 0x111.. `row_shr`, 0x121.. `row_ror`,
    /// 0x130 `wave_shl`, 0x134 `wave_rol`, 0x138 `wave_shr`, 0x13c `wave_ror`, 0x140 `row_mirror`,
    /// 0x141 `row_half_mirror`, 0x142 `row_bcast:15`, 0x143 `row_bcast:31`, 0x150.. `row_newbcast` (gfx90a and later) or `row_share`
    /// (RDNA), 0x160.. `row_xmask`.
    pub ctrl: u16,
    /// The rows of 16 lanes that are written, one bit for each row.
    pub row_mask: u8,
    /// The banks of 4 lanes that are written, one bit for each bank.
    pub bank_mask: u8,
    /// True if out-of-range lanes read 0 instead of keeping the destination.
    pub bound_ctrl: bool,
}

/// SDWA selectors: 0..=3 BYTE_0..3, 4 WORD_0, 5 WORD_1, 6 DWORD.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sdwa {
    /// The part of the destination that is written.
    pub dst_sel: u8,
    /// 0 UNUSED_PAD, 1 UNUSED_SEXT, 2 UNUSED_PRESERVE.
    pub dst_unused: u8,
    /// The part of source 0 that is read.
    pub src0_sel: u8,
    /// The part of source 1 that is read.
    pub src1_sel: u8,
}
