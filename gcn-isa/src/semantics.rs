//! The effect of every instruction, in one line.
//!
//! The lines are part of the [`table`]'s entries. Each mnemonic has one line, with the line's source (*witness*).
//!
//! # Notation
//!
//! A line is a list of statements in order, separated by `; `. Most statements are assignments, and some are explanatory text.
//!
//! - `S0`, `S1`, `S2` are the operands `src0`, `src1`, `src2` (`ssrc0` …), `D` is the destination (`vdst`, `sdst`, or
//!   the data operand of a load), `SD` the scalar destination of an instruction that also has a vector destination,
//!   `D1` the second register of a swap, `DATA` and `DATA1` the register data of a store or atomic. `SIMM16`, `SIMM8`,
//!   `SIMM7`, `HWREG` are immediate fields, `LITERAL` is the literal, `OFFSET` the `offset:` of the instruction
//!   (`OFFSET0`, `OFFSET1` those of two-address LDS instructions), `IDX` the index operand of a sparse matrix
//!   instruction, `SCALE0` and `SCALE1` scales.
//! - `D` on the right side is the old value; *kept* marks the bits of it that are preserved.
//! - `.f32`, `.u16`, `.i64`, `.b32` … tell how bits are interpreted: `f` float, `bf16`, `u` unsigned, `i` signed, `b`
//!   uninterpreted. `S0[15:0]` selects bits, `S0[8 * i +: 8]` selects eight bits from bit `8 * i` on, and `{a, b}`
//!   concatenates, with `a` in the higher bits.
//! - `SCC`, `VCC`, `EXEC`, `M0`, `FLAT_SCRATCH`, `PC` (address of this instruction), `MODE`, `STATUS` are the registers,
//!   `HW[id]` the hardware registers of `s_getreg`.
//! - In vector instructions a line applies to each lane whose bit of EXEC is set; `lane` is its number, and `D[lane]`
//!   of a scalar destination its bit. The bits of lanes that EXEC disables become 0; vector registers of such lanes are
//!   not written.
//! - `MEM[ADDR]` is memory and `LDS[ADDR]` the local (with `gds` the global) data share; [`address`] tells how `ADDR`
//!   is computed. `rtn:` marks what only the forms with a result do, `lds:` what the forms with `lds` do instead.
//! - `a ? b : c` selects; `sext` and `zext` extend to the width of the left side; `min`, `max`, `clamp`, `abs`, `floor`
//!   … have their usual meanings; `absdiff` is the unsigned distance. `rne` rounds to nearest even. A float result
//!   without an explicit rounding is rounded, and its denormals are treated, according to MODE; `fma(a, b, c)` rounds
//!   once.
//! - `op_sel[i]` is bit `i` of the field: 0 to 2 for the sources, 3 for the destination (in assembly text the last
//!   one).
//! - A 16-bit result is written to bits 15:0 and the upper half becomes 0, unless the row has an `op_sel` bit for the
//!   destination or the line states otherwise. With SRAM-ECC a 16-bit load writes 0 where the line says *kept* (MI100
//!   ISA 9.1.6).
//! - Source modifiers, output modifiers, DPP and SDWA apply before or after the operation, and lines do not mention
//!   them.

use crate::table::{self, Entry, Format, InstDesc, Modifiers};

/// The effect of an instruction, and its source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Semantics {
    /// The mnemonic.
    pub mnemonic: &'static str,
    /// The meaning in the notation of the [module](self).
    pub line: &'static str,
    /// The source: a section of the MI100 ISA manual, or `public ISA description` for AMD's other public documents (ISA
    /// manuals and pseudo-code of the same targets); `argued` where the documents leave gaps.
    pub witness: &'static str,
}

impl From<&Entry> for Semantics {
    fn from(entry: &Entry) -> Semantics {
        Semantics { mnemonic: entry.mnemonic, line: entry.meaning, witness: entry.witness }
    }
}

/// The meaning of `mnemonic` (without `_e32`, `_e64`, `_dpp`, `_sdwa`); `None` if no target has such an instruction. The line is empty
/// for the instructions of RDNA whose meaning is not in the tables yet.
///
/// ```
/// let add = gcn_isa::semantics::of("s_add_u32").unwrap();
/// assert_eq!(add.line, "D.u32 = S0.u32 + S1.u32; SCC = carry out");
/// ```
pub fn of(mnemonic: &str) -> Option<Semantics> {
    table::entry(mnemonic).map(Semantics::from)
}

/// How the address `ADDR` of a memory instruction is computed, by format and addressing form. It is empty for other instructions.
///
/// Sources: MI100 ISA 8.2.1 and 9.1.5; AMD's public CDNA3 and CDNA4 ISA descriptions for FLAT and DS.
///
/// ```
/// use gcn_isa::{Target, semantics, table};
/// let row = table::find_form(Target::GFX942, "global_load_dword", "vaddr_saddr").unwrap();
/// assert_eq!(semantics::address(row), "SADDR.u64 + VADDR.u32 + sext(OFFSET)");
/// ```
pub fn address(row: &InstDesc) -> &'static str {
    let form = row.form.trim_start_matches("no").trim_start_matches("rtn").trim_start_matches('_');
    // The line above removes the `no` of `nortn`. The only other forms that begin with `no` are `noaddr` and `noaddr_lds` of scratch.
    let form = if row.form.contains("noaddr") { "noaddr" } else { form.trim_end_matches("_lds") };
    ADDRESSES.iter().find(|a| a.0 == row.format && a.1 == form && a.2(row)).map_or("", |a| a.3)
}

type Applies = fn(&InstDesc) -> bool;

const ANY: Applies = |_| true;

fn has_operand(row: &InstDesc, name: &str) -> bool {
    row.operands.iter().any(|o| o.name == name)
}

/// The rows have the format, the form, the condition and the address. The first matching row applies.
const ADDRESSES: [(Format, &str, Applies, &str); 25] = [
    (Format::Smem, "imm", |r| r.mnemonic.contains("buffer"), "base of SBASE + OFFSET, both multiples of 4"),
    (
        Format::Smem,
        "sgpr",
        |r| r.mnemonic.contains("buffer"),
        "base of SBASE + SOFFSET.u32, both multiples of 4",
    ),
    (
        Format::Smem,
        "sgpr_imm",
        |r| r.mnemonic.contains("buffer"),
        "base of SBASE + SOFFSET.u32 + OFFSET, all multiples of 4",
    ),
    (Format::Smem, "sgpr", |r| r.mnemonic.contains("scratch"), "(SBASE.u64 + 64 * SOFFSET.u32) & ~3"),
    (
        Format::Smem,
        "sgpr_imm",
        |r| r.mnemonic.contains("scratch"),
        "(SBASE.u64 + 64 * SOFFSET.u32 + sext(OFFSET)) & ~3",
    ),
    (Format::Smem, "imm", ANY, "(SBASE.u64 + sext(OFFSET)) & ~3"),
    (Format::Smem, "sgpr", ANY, "(SBASE.u64 + SOFFSET.u32) & ~3"),
    (Format::Smem, "sgpr_imm", ANY, "(SBASE.u64 + SOFFSET.u32 + sext(OFFSET)) & ~3"),
    (Format::Ds, "", |r| r.modifiers.contains(Modifiers::OFFSET0) && has_operand(r, "addr"), "ADDR.u32"),
    (Format::Ds, "", |r| has_operand(r, "addr"), "ADDR.u32 + OFFSET"),
    (Format::Flat, "", ANY, "VADDR.u64 + OFFSET; an aperture of it is LDS, another scratch"),
    (Format::Global, "vaddr", ANY, "VADDR.u64 + sext(OFFSET)"),
    (Format::Global, "vaddr_saddr", ANY, "SADDR.u64 + VADDR.u32 + sext(OFFSET)"),
    (Format::Scratch, "vaddr", ANY, "scratch of the lane + VADDR.u32 + sext(OFFSET)"),
    (Format::Scratch, "saddr", ANY, "scratch of the lane + SADDR.u32 + sext(OFFSET)"),
    (Format::Scratch, "vaddr_saddr", ANY, "scratch of the lane + VADDR.u32 + SADDR.u32 + sext(OFFSET)"),
    (Format::Scratch, "noaddr", ANY, "scratch of the lane + sext(OFFSET)"),
    (Format::Mubuf, "offset", ANY, "base of SRSRC + SOFFSET.u32 + OFFSET"),
    (Format::Mubuf, "offen", ANY, "base of SRSRC + SOFFSET.u32 + OFFSET + VADDR.u32"),
    (Format::Mubuf, "idxen", ANY, "base of SRSRC + SOFFSET.u32 + OFFSET + stride * VADDR.u32"),
    (
        Format::Mubuf,
        "bothen",
        ANY,
        "base of SRSRC + SOFFSET.u32 + OFFSET + stride * VADDR[31:0] + VADDR[63:32]",
    ),
    (Format::Mtbuf, "offset", ANY, "base of SRSRC + SOFFSET.u32 + OFFSET"),
    (Format::Mtbuf, "offen", ANY, "base of SRSRC + SOFFSET.u32 + OFFSET + VADDR.u32"),
    (Format::Mtbuf, "idxen", ANY, "base of SRSRC + SOFFSET.u32 + OFFSET + stride * VADDR.u32"),
    (
        Format::Mtbuf,
        "bothen",
        ANY,
        "base of SRSRC + SOFFSET.u32 + OFFSET + stride * VADDR[31:0] + VADDR[63:32]",
    ),
];
