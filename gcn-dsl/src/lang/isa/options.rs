//! Modifiers of an instruction.

use gcn_isa::table::Modifiers;

use crate::ir::Given;
use crate::ir::call::BUFFER_FORMAT;

/// Modifiers of an instruction: the last parameter of a `…_with`, `…_dpp` or `…_sdwa` function.
///
/// A modifier that is not set has its default value. A modifier that the instruction lacks on the target, or a value
/// that does not fit, is a build error at the call.
///
/// ```
/// use gcn_dsl::{isa::{self, Options}, prelude::*};
/// gcn_kernel! {
///     /// Sums each pair of neighbours, clamped to 0 ..= 1.
///     #[workgroup(64)]
///     fn pairs(x: &mut [f32]) {
///         let i = global_id().x;
///         let other = isa::v_mov_b32_dpp(0, x[i], Options::new().quad_perm([1, 0, 3, 2]));
///         x[i] = isa::v_add_f32_with(x[i], other, Options::new().clamp());
///     }
/// }
/// # pairs.build(Target::GFX942).unwrap();
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[must_use]
pub struct Options(pub(super) Given);

/// Output modifiers: factors by which the result is multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Omod {
    /// `mul:2`.
    Mul2 = 1,
    /// `mul:4`.
    Mul4 = 2,
    /// `div:2`.
    Div2 = 3,
}

/// A part of a dword, for SDWA.
#[allow(missing_docs, reason = "the manuals' names")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sel {
    Byte0 = 0,
    Byte1 = 1,
    Byte2 = 2,
    Byte3 = 3,
    Word0 = 4,
    Word1 = 5,
    Dword = 6,
}

/// The content of the part of the destination that SDWA does not select.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DstUnused {
    /// Zeros.
    Pad = 0,
    /// Copies of the result's sign bit.
    Sext = 1,
    /// The old content.
    Preserve = 2,
}

/// The format of typed buffer instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BufferFormat {
    /// The data format, 0 to 15.
    pub dfmt: u8,
    /// The number format, 0 to 7.
    pub nfmt: u8,
}

impl BufferFormat {
    #[doc(hidden)]
    pub fn options(self) -> Options {
        // Values out of range stay out of range, so that the encoder reports them.
        let fits = self.dfmt < 16 && self.nfmt < 8;
        Options::new()
            .put(BUFFER_FORMAT, |g| g.mods.format = if fits { self.dfmt | self.nfmt << 4 } else { u8::MAX })
    }
}

impl Options {
    /// No modifiers yet.
    pub fn new() -> Options {
        Options::default()
    }

    fn put(mut self, flag: Modifiers, change: impl FnOnce(&mut Given)) -> Options {
        change(&mut self.0);
        self.0.set |= flag;
        self
    }

    #[doc(hidden)]
    pub fn at(offset: i32) -> Options {
        // An offset of zero is not set explicitly, since some instructions have no offset field.
        if offset == 0 {
            Options::new()
        } else {
            Options::new().put(Modifiers::OFFSET, |g| g.mods.offset = offset)
        }
    }

    #[doc(hidden)]
    pub fn at_both(offset0: u8, offset1: u8) -> Options {
        Options::new()
            .put(Modifiers::OFFSET0, |g| g.mods.offset0 = offset0)
            .put(Modifiers::OFFSET1, |g| g.mods.offset1 = offset1)
    }

    #[doc(hidden)]
    pub fn table(bitop3: u8) -> Options {
        Options::new().put(Modifiers::BITOP3, |g| g.mods.bitop3 = bitop3)
    }

    #[doc(hidden)]
    pub fn addressing(offen: bool, idxen: bool) -> Options {
        let mut options = Options::new();
        if offen {
            options = options.put(Modifiers::OFFEN, |g| g.mods.offen = true);
        }
        if idxen {
            options = options.put(Modifiers::IDXEN, |g| g.mods.idxen = true);
        }
        options
    }

    /// `clamp`: limits a float to the range 0 to 1, and an integer to the range of its type instead of letting it wrap
    /// around.
    pub fn clamp(self) -> Options {
        self.put(Modifiers::CLAMP, |g| g.mods.clamp = true)
    }

    /// Output modifier (`omod`). The hardware ignores it while MODE keeps denormals of the result's type or IEEE mode
    /// is on (CDNA ISA 6.2.2); both hold in kernels that do not change MODE with `s_setreg_b32`.
    pub fn omod(self, omod: Omod) -> Options {
        self.put(Modifiers::OMOD, |g| g.mods.omod = omod as u8)
    }

    /// `op_sel`: bit `i` selects the high half of source `i`; the bit after those of the sources makes the instruction
    /// write the high half of the destination.
    pub fn op_sel(self, bits: u8) -> Options {
        self.put(Modifiers::OP_SEL, |g| g.mods.op_sel = bits)
    }

    /// `op_sel_hi` of packed instructions: bit `i` selects the high half of source `i` for the high half of the result.
    pub fn op_sel_hi(self, bits: u8) -> Options {
        self.put(Modifiers::OP_SEL_HI, |g| g.mods.op_sel_hi = bits)
    }

    /// `neg_lo` of packed instructions: bit `i` negates source `i` for the low half of the result.
    pub fn neg_lo(self, bits: u8) -> Options {
        self.put(Modifiers::NEG_LO, |g| g.mods.neg_lo = bits)
    }

    /// `neg_hi` of packed instructions: bit `i` negates source `i` for the high half of the result.
    pub fn neg_hi(self, bits: u8) -> Options {
        self.put(Modifiers::NEG_HI, |g| g.mods.neg_hi = bits)
    }

    /// `glc`, called `sc0` on gfx942 and later.
    pub fn glc(self) -> Options {
        self.put(Modifiers::GLC, |g| g.mods.glc = true)
    }

    /// `dlc` of RDNA 1 to 3.
    pub fn dlc(self) -> Options {
        self.put(Modifiers::DLC, |g| g.mods.dlc = true)
    }

    /// The temporal hint of RDNA 4, `th`, as the bits of its field (0 to 7).
    pub fn th(self, bits: u8) -> Options {
        self.put(Modifiers::TH, |g| g.mods.th = bits)
    }

    /// The scope of RDNA 4: 0 CU, 1 SE, 2 DEV, 3 SYS.
    pub fn scope(self, scope: u8) -> Options {
        self.put(Modifiers::SCOPE, |g| g.mods.scope = scope)
    }

    /// The byte (0 to 3) that a conversion from or to 8-bit floats reads or writes on RDNA 4.
    pub fn byte_sel(self, byte: u8) -> Options {
        self.put(Modifiers::BYTE_SEL, |g| g.mods.byte_sel = byte)
    }

    /// The part of the index register that a sparse matrix instruction of RDNA 4 uses.
    pub fn index_key(self, part: u8) -> Options {
        self.put(Modifiers::INDEX_KEY, |g| g.mods.index_key = part)
    }

    /// [`Options::glc`] under its later name.
    pub fn sc0(self) -> Options {
        self.glc()
    }

    /// `slc`, called `nt` on gfx942 and later.
    pub fn slc(self) -> Options {
        self.put(Modifiers::SLC, |g| g.mods.slc = true)
    }

    /// [`Options::slc`] under its later name.
    pub fn nt(self) -> Options {
        self.slc()
    }

    /// `scc` of gfx90a, called `sc1` on gfx942 and later.
    pub fn scc(self) -> Options {
        self.put(Modifiers::SCC, |g| g.mods.scc = true)
    }

    /// [`Options::scc`] under its later name.
    pub fn sc1(self) -> Options {
        self.scc()
    }

    /// `gds`: accesses the global data share instead of LDS (before gfx90a).
    pub fn gds(self) -> Options {
        self.put(Modifiers::GDS, |g| g.mods.gds = true)
    }

    /// `cbsz` of matrix instructions: the base-2 logarithm of the number of blocks that receive a broadcast of A, or
    /// A's format in `f8f6f4`.
    pub fn cbsz(self, value: u8) -> Options {
        self.put(Modifiers::CBSZ, |g| g.mods.cbsz = value)
    }

    /// `abid` of matrix instructions: the number of the block of A that is broadcast.
    pub fn abid(self, value: u8) -> Options {
        self.put(Modifiers::ABID, |g| g.mods.abid = value)
    }

    /// `blgp` of matrix instructions: the permutation of B's lanes, or B's format in `f8f6f4`.
    pub fn blgp(self, value: u8) -> Options {
        self.put(Modifiers::BLGP, |g| g.mods.blgp = value)
    }

    /// `matrix_a_fmt` of gfx1250: the format of A in `f8f6f4` (0 fp8, 1 bf8, 2 fp6, 3 bf6, 4 fp4).
    pub fn matrix_a_fmt(self, format: u8) -> Options {
        self.put(Modifiers::MATRIX_A_FMT, |g| g.mods.cbsz = format)
    }

    /// `matrix_b_fmt` of gfx1250: the format of B, as in [`Options::matrix_a_fmt`].
    pub fn matrix_b_fmt(self, format: u8) -> Options {
        self.put(Modifiers::MATRIX_B_FMT, |g| g.mods.blgp = format)
    }

    /// `matrix_a_scale` of gfx1250: the row of lanes that has the scales of A (0 or 1).
    pub fn matrix_a_scale(self, row: u8) -> Options {
        self.put(Modifiers::MATRIX_A_SCALE, |g| g.mods.matrix_a_scale = row)
    }

    /// `matrix_b_scale` of gfx1250: the row of lanes that has the scales of B (0 or 1).
    pub fn matrix_b_scale(self, row: u8) -> Options {
        self.put(Modifiers::MATRIX_B_SCALE, |g| g.mods.matrix_b_scale = row)
    }

    /// `matrix_a_scale_fmt` of gfx1250: the type of the scales of A (0 e8, 1 e5m3, 2 e4m3).
    pub fn matrix_a_scale_fmt(self, format: u8) -> Options {
        self.put(Modifiers::MATRIX_A_SCALE_FMT, |g| g.mods.matrix_a_scale_fmt = format)
    }

    /// `matrix_b_scale_fmt` of gfx1250: the type of the scales of B, as in [`Options::matrix_a_scale_fmt`].
    pub fn matrix_b_scale_fmt(self, format: u8) -> Options {
        self.put(Modifiers::MATRIX_B_SCALE_FMT, |g| g.mods.matrix_b_scale_fmt = format)
    }

    /// `matrix_a_reuse` of gfx1250: a hint that the next matrix instruction has the same A.
    pub fn matrix_a_reuse(self) -> Options {
        self.put(Modifiers::MATRIX_A_REUSE, |g| g.mods.matrix_a_reuse = true)
    }

    /// `matrix_b_reuse` of gfx1250: a hint that the next matrix instruction has the same B.
    pub fn matrix_b_reuse(self) -> Options {
        self.put(Modifiers::MATRIX_B_REUSE, |g| g.mods.matrix_b_reuse = true)
    }

    /// `scale_sel` of gfx1250: the part of the source that has the scale of a conversion.
    pub fn scale_sel(self, part: u8) -> Options {
        self.put(Modifiers::SCALE_SEL, |g| g.mods.scale_sel = part)
    }
}

/// The modifiers of data-parallel primitives (DPP).
impl Options {
    fn control(self, ctrl: u16) -> Options {
        self.put(Modifiers::DPP_CTRL, |g| g.dpp().ctrl = ctrl)
    }

    /// The control `0x100 | kind | n` for `n` from 1 to 15; for any other `n` a value that the encoder rejects.
    fn row(self, kind: u16, n: u8) -> Options {
        self.control(if (1..=15).contains(&n) { kind | u16::from(n) } else { u16::MAX })
    }

    /// In each quad, lane `k` reads lane `lanes[k]` (0 to 3).
    pub fn quad_perm(self, lanes: [u8; 4]) -> Options {
        let fits = lanes.iter().all(|lane| *lane < 4);
        let bits = lanes.iter().rev().fold(0, |bits, lane| bits << 2 | u16::from(lane & 3));
        self.control(if fits { bits } else { u16::MAX })
    }

    /// Each lane reads the lane whose number is `n` (1 to 15) higher, in its row of 16.
    pub fn row_shl(self, n: u8) -> Options {
        self.row(0x100, n)
    }

    /// Each lane reads the lane whose number is `n` (1 to 15) lower, in its row of 16.
    pub fn row_shr(self, n: u8) -> Options {
        self.row(0x110, n)
    }

    /// Rotates each row of 16 lanes right by `n` (1 to 15).
    pub fn row_ror(self, n: u8) -> Options {
        self.row(0x120, n)
    }

    /// Each lane reads the lane with the next higher number in the wave.
    pub fn wave_shl(self) -> Options {
        self.control(0x130)
    }

    /// Rotates the wave by one lane to the left.
    pub fn wave_rol(self) -> Options {
        self.control(0x134)
    }

    /// Each lane reads the lane with the next lower number in the wave.
    pub fn wave_shr(self) -> Options {
        self.control(0x138)
    }

    /// Rotates the wave by one lane to the right.
    pub fn wave_ror(self) -> Options {
        self.control(0x13c)
    }

    /// Reverses each row of 16 lanes.
    pub fn row_mirror(self) -> Options {
        self.control(0x140)
    }

    /// Reverses each half row of 8 lanes.
    pub fn row_half_mirror(self) -> Options {
        self.control(0x141)
    }

    /// Each row reads the last lane of the row before it.
    pub fn row_bcast15(self) -> Options {
        self.control(0x142)
    }

    /// The upper half of the wave reads lane 31.
    pub fn row_bcast31(self) -> Options {
        self.control(0x143)
    }

    /// In each group of eight, lane `k` reads lane `lanes[k]` (0 to 7). RDNA only.
    pub fn dpp8(self, lanes: [u8; 8]) -> Options {
        let fits = lanes.iter().all(|lane| *lane < 8);
        let bits = lanes.iter().rev().fold(0, |bits, lane| bits << 3 | u32::from(lane & 7));
        self.put(Modifiers::DPP8, |g| g.mods.dpp8 = if fits { bits } else { u32::MAX })
    }

    /// All lanes of a row read its lane `n` (0 to 15). RDNA; on GFX9 this is [`row_newbcast`](Options::row_newbcast).
    pub fn row_share(self, n: u8) -> Options {
        self.row_newbcast(n)
    }

    /// Lane `k` of each row reads lane `k ^ n` (`n` from 0 to 15). RDNA only.
    pub fn row_xmask(self, n: u8) -> Options {
        self.control(if n < 16 { 0x160 | u16::from(n) } else { u16::MAX })
    }

    /// Reads source lanes even if EXEC disables them. RDNA only.
    pub fn fi(self) -> Options {
        self.put(Modifiers::FI, |g| g.mods.fi = true)
    }

    /// All lanes of a row read its lane `n` (0 to 15). gfx90a and later.
    pub fn row_newbcast(self, n: u8) -> Options {
        self.control(if n < 16 { 0x150 | u16::from(n) } else { u16::MAX })
    }

    /// A bit for each row of 16 lanes: only rows whose bit is set are written.
    pub fn row_mask(self, mask: u8) -> Options {
        self.put(Modifiers::ROW_MASK, |g| g.dpp().row_mask = mask)
    }

    /// A bit for each bank of 4 lanes in a row: only banks whose bit is set are written.
    pub fn bank_mask(self, mask: u8) -> Options {
        self.put(Modifiers::BANK_MASK, |g| g.dpp().bank_mask = mask)
    }

    /// `bound_ctrl:0`: a lane whose source lane does not exist or is inactive reads 0 instead of keeping its old value.
    pub fn bound_ctrl(self) -> Options {
        self.put(Modifiers::BOUND_CTRL, |g| g.dpp().bound_ctrl = true)
    }
}

/// The modifiers of sub-dword addressing (SDWA).
impl Options {
    /// The part of the destination that is written.
    pub fn dst_sel(self, sel: Sel) -> Options {
        self.put(Modifiers::DST_SEL, |g| g.sdwa().dst_sel = sel as u8)
    }

    /// The content of the rest of the destination; by default it is kept.
    pub fn dst_unused(self, unused: DstUnused) -> Options {
        self.put(Modifiers::DST_UNUSED, |g| g.sdwa().dst_unused = unused as u8)
    }

    /// The part of source 0 that is read.
    pub fn src0_sel(self, sel: Sel) -> Options {
        self.put(Modifiers::SRC0_SEL, |g| g.sdwa().src0_sel = sel as u8)
    }

    /// The part of source 1 that is read.
    pub fn src1_sel(self, sel: Sel) -> Options {
        self.put(Modifiers::SRC1_SEL, |g| g.sdwa().src1_sel = sel as u8)
    }
}
