//! The locations of the elements of a matrix instruction's operands: lane, register and bit.
//!
//! The shapes (M, N, K, blocks, element types) are data in `gcn-isa/data/mfma.tsv`; the location of an element follows
//! from the shape. A wave's 64 lanes are divided into groups of M (for A) or N (for B, C, D) lanes:
//!
//! - A and B: lane `i + M * (block + blocks * (k / kl))`, where `kl = K * M * blocks / 64` consecutive `k` share a lane
//!   and are packed upwards from bit 0 of its first register. B is the same with columns instead of rows.
//! - C and D of 32-bit elements: four consecutive rows form a quad. Quads are distributed round-robin over the lane
//!   groups, with blocks as the outer loop; the four rows of a quad are in four consecutive registers.
//! - C and D of f64: single rows instead of quads, with blocks as the inner loop.
//! - A of a sparse instruction has two of every four consecutive `k`; the index operand tells which two, in four bits
//!   per group of four, lowest group first.
//! - A and B of the f8f6f4 instructions: as above with 6- and 4-bit elements (6-bit elements may cross registers). Of
//!   8-bit elements only 16 consecutive `k` share a lane; the lane's other 16 elements are those at a distance of half
//!   of K.
//! - The scales of the f8f6f4 instructions: one byte for each row (column) and 32 consecutive `k`, in lane
//!   `i + M * (k / 32)`.
//!
//! WMMA (RDNA 3 and later) supports two wave sizes and has another order: bits of `k`, or of the row of C and D, are
//! bits 4 and 5 of the lane ([`Arrangement`], `layout/wmma.rs`).
//!
//! [`Shape::place`] does this arithmetic. [`Layout`] adds the effects of `cbsz`, `abid`, `blgp` and the scale
//! selectors, and the inverse: the elements at a register, lane and bit.
//!
//! The layouts were checked against every row that AMD's matrix instruction calculator prints for gfx908, gfx90a, gfx942, RDNA 3 and RDNA
//! 4. The calculator does not support gfx950. `docs/layouts.md` explains what the layouts of gfx950 are based on ([`Shape::provenance`]).

mod capability;
mod describe;
mod elements;
mod lanes;
mod place;
mod wmma;

use std::collections::HashMap;
use std::sync::LazyLock;

pub use capability::{CAPABILITIES, Capability};
pub use describe::{Formulas, formulas};
pub use elements::{Blocks, Controls, Element, Elements, Layout, LayoutError, elements};
pub use lanes::{ByLane, Coordinates};

use crate::table::{self, InstDesc};
use crate::target::{Family, InstructionSet, Subtarget, Target, WaveSize};

/// The number of lanes of a wave that executes MFMA, which is the maximum for all waves.
const LANES: u32 = crate::target::WAVE_SIZE;
/// The number of consecutive rows of C and D in consecutive registers of one lane (32-bit elements).
const QUAD: u32 = 4;
/// The number of consecutive `k` that share a scale, except in the instructions of gfx12.5 that have `scale16` in their names.
const SCALE_BLOCK: u16 = 32;

/// A matrix operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Matrix {
    /// `src0`: M rows, K columns.
    A,
    /// `src1`: K rows, N columns.
    B,
    /// The accumulator input: M rows, N columns.
    C,
    /// The result: M rows, N columns.
    D,
    /// The index operand of a sparse instruction, addressed like A.
    Index,
    /// The scales of A: M rows, K / [`Shape::scale_block`] columns.
    ScaleA,
    /// The scales of B: K / [`Shape::scale_block`] rows, N columns.
    ScaleB,
}

impl Matrix {
    /// All matrices.
    pub const ALL: [Matrix; 7] =
        [Matrix::A, Matrix::B, Matrix::C, Matrix::D, Matrix::Index, Matrix::ScaleA, Matrix::ScaleB];

    /// The matrix's name in tables: `A`, `B`, `C`, `D`, `index`, `scale A`, `scale B`.
    pub const fn name(self) -> &'static str {
        match self {
            Matrix::A => "A",
            Matrix::B => "B",
            Matrix::C => "C",
            Matrix::D => "D",
            Matrix::Index => "index",
            Matrix::ScaleA => "scale A",
            Matrix::ScaleB => "scale B",
        }
    }
}

/// The element type of a matrix operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ElemType {
    /// IEEE double.
    F64,
    /// IEEE single.
    F32,
    /// f32, of which the instruction uses the upper 19 bits (gfx942).
    Xf32,
    /// IEEE half.
    F16,
    /// bfloat16.
    Bf16,
    /// Signed 32-bit integer.
    I32,
    /// Signed 8-bit integer.
    I8,
    /// 8-bit integer, signed if `neg_lo` is set (RDNA).
    Iu8,
    /// 4-bit integer, signed if `neg_lo` is set (RDNA).
    Iu4,
    /// 8-bit float with 4 exponent bits: `e4m3fnuz` on gfx942, OCP `e4m3fn` on gfx950 and RDNA 4.
    Fp8,
    /// 8-bit float with 5 exponent bits: `e5m2fnuz` on gfx942, OCP `e5m2` on gfx950 and RDNA 4.
    Bf8,
    /// OCP 6-bit float with 2 exponent bits, `e2m3`.
    Fp6,
    /// OCP 6-bit float with 3 exponent bits, `e3m2`.
    Bf6,
    /// OCP 4-bit float with 2 exponent bits, `e2m1`.
    Fp4,
    /// OCP 8-bit power of two, `e8m0`, used as a scale.
    E8m0,
    /// One of the 8-, 6- and 4-bit formats, selected by `cbsz` (A) or `blgp` (B) (gfx950).
    F8f6f4,
}

impl ElemType {
    const NAMES: [(&'static str, ElemType); 16] = [
        ("f64", ElemType::F64),
        ("f32", ElemType::F32),
        ("xf32", ElemType::Xf32),
        ("f16", ElemType::F16),
        ("bf16", ElemType::Bf16),
        ("i32", ElemType::I32),
        ("i8", ElemType::I8),
        ("iu8", ElemType::Iu8),
        ("iu4", ElemType::Iu4),
        ("fp8", ElemType::Fp8),
        ("bf8", ElemType::Bf8),
        ("fp6", ElemType::Fp6),
        ("bf6", ElemType::Bf6),
        ("fp4", ElemType::Fp4),
        ("e8m0", ElemType::E8m0),
        ("f8f6f4", ElemType::F8f6f4),
    ];

    /// The formats of an f8f6f4 operand by the value of `cbsz` or `blgp`.
    pub const F8F6F4_FORMATS: [ElemType; 5] =
        [ElemType::Fp8, ElemType::Bf8, ElemType::Fp6, ElemType::Bf6, ElemType::Fp4];

    /// The number of bits of an element; `None` if a modifier selects the format.
    pub fn bits(self) -> Option<u8> {
        match self {
            ElemType::F64 => Some(64),
            ElemType::F32 | ElemType::Xf32 | ElemType::I32 => Some(32),
            ElemType::F16 | ElemType::Bf16 => Some(16),
            ElemType::I8 | ElemType::Iu8 | ElemType::Fp8 | ElemType::Bf8 | ElemType::E8m0 => Some(8),
            ElemType::Fp6 | ElemType::Bf6 => Some(6),
            ElemType::Iu4 | ElemType::Fp4 => Some(4),
            ElemType::F8f6f4 => None,
        }
    }

    /// The type's name in tables: `f16`, `fp8` …
    pub fn name(self) -> &'static str {
        ElemType::NAMES.iter().find(|n| n.1 == self).map_or("", |n| n.0)
    }

    fn parse(name: &str) -> Option<ElemType> {
        ElemType::NAMES.iter().find(|n| n.0 == name).map(|n| n.1)
    }
}

/// The evidence for a layout.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Provenance {
    /// Every element was compared with AMD's matrix instruction calculator.
    Measured,
    /// The layout is inferred from the layouts of other targets and from published code; see `docs/layouts.md`.
    Argued,
    /// The layout is that of AMD's emulator rocjitsu, without a second witness for all of it; see `docs/layouts.md`. The simulator and
    /// [`Layout`] know it ([`described_on`]); [`shape`] and the kernel language do not use it.
    Emulated,
}

impl Provenance {
    /// The name of the evidence: `measured`, `argued` or `emulated`.
    pub const fn name(self) -> &'static str {
        match self {
            Provenance::Measured => "measured",
            Provenance::Argued => "argued",
            Provenance::Emulated => "emulated",
        }
    }
}

/// The way in which the lanes of a wave share the elements of the operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arrangement {
    /// MFMA: each group of lanes has ranges of consecutive `k`, and quads of rows.
    Mfma,
    /// WMMA of RDNA 3: every 16 lanes have complete copies of A and B. Consecutive rows of C and D are distributed over
    /// the groups of 16 lanes, and 16-bit elements use one half of a register.
    WmmaCopied,
    /// WMMA of RDNA 4: `k` and the rows are distributed over the groups of 16 lanes, in consecutive ranges.
    WmmaShared,
    /// WMMA of gfx12.5: as on RDNA 4, but the groups of 16 lanes have runs of eight `k` of A and B in turn (of two `k` in f32).
    WmmaAlternating,
}

/// The shape and types of a matrix instruction on a target: D = A * B + C for each block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The number of rows of A, C and D.
    pub m: u16,
    /// The number of columns of B, C and D.
    pub n: u16,
    /// The number of columns of A and of rows of B (before compression, for sparse instructions).
    pub k: u16,
    /// The number of independent products.
    pub blocks: u8,
    /// The element type of A.
    pub a: ElemType,
    /// The element type of B.
    pub b: ElemType,
    /// The element type of C and D.
    pub acc: ElemType,
    /// True if A holds two of every four elements, selected by an index operand.
    pub sparse: bool,
    /// True if there are scales for A and B.
    pub scaled: bool,
    /// The number of consecutive `k` that share a scale, if there are scales.
    pub scale_block: u16,
    /// True if `cbsz` and `blgp` select the formats of A and B.
    pub formats_chosen: bool,
    /// True if the hardware uses `cbsz` and `abid` (to broadcast blocks of A, or, in sparse instructions, to select an index set).
    pub broadcasts_a: bool,
    /// True if the hardware uses `blgp` as a lane pattern of B.
    pub permutes_b: bool,
    /// True if the `blgp` field instead negates A, B and C (`neg:[a,b,c]`).
    pub negates: bool,
    /// The evidence for the layout.
    pub provenance: Provenance,
    /// The way in which the lanes share the elements.
    pub arrangement: Arrangement,
    /// The size of the wave that executes the instruction.
    pub wave: WaveSize,
}

/// The location of an element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ElementPlace {
    /// The lane.
    pub lane: u8,
    /// The register of the operand, counted from the operand's first register.
    pub register: u8,
    /// The element's lowest bit in that register. Elements of 64 bits, and some elements of 6 bits, continue in the next register.
    pub low_bit: u8,
    /// The number of bits. For a sparse A, it includes both elements of a group of four; for the index, it includes the two 2-bit numbers
    /// of the group.
    pub bits: u8,
}

impl Shape {
    /// The shape with the formats that `cbsz` and `blgp` select. The shape is unchanged if they do not select formats. `None` for values
    /// that do not denote a format.
    #[must_use]
    pub fn with_formats(mut self, cbsz: u8, blgp: u8) -> Option<Shape> {
        if self.formats_chosen {
            let format = |n: u8| ElemType::F8F6F4_FORMATS.get(usize::from(n)).copied();
            (self.a, self.b) = (format(cbsz)?, format(blgp)?);
        }
        Some(self)
    }

    /// The number of lanes of the wave.
    pub const fn lanes(&self) -> u32 {
        self.wave.lanes()
    }

    /// The number of multiplications plus additions of one execution.
    pub fn flops(&self) -> u32 {
        2 * u32::from(self.m) * u32::from(self.n) * u32::from(self.k) * u32::from(self.blocks)
    }
}

/// The lane whose register has the B element that `lane` uses, under the lane pattern `blgp`: with 1 and 2, both halves of the wave use the
/// lower or upper 32 lanes; 3 rotates by 16 lanes; with 4 to 7, every 16 lanes use the same 16 lanes.
pub fn b_source_lane(blgp: u8, lane: u8) -> u8 {
    match blgp & 7 {
        0 => lane,
        1 => lane % 32,
        2 => 32 + lane % 32,
        3 => (lane + 16) % LANES as u8,
        quarter => (quarter - 4) * 16 + lane % 16,
    }
}

/// The block of A that the product of `block` uses, under `cbsz` (log2 of the number of blocks that share one block of A) and `abid` (the
/// shared block within the group).
pub fn a_source_block(cbsz: u8, abid: u8, block: u8) -> u8 {
    let group = 1u8 << cbsz.min(4);
    block / group * group + abid % group
}

type Key = (&'static str, InstructionSet, WaveSize);

static SHAPES: LazyLock<HashMap<Key, Shape>> = LazyLock::new(|| {
    let text = include_str!("../data/mfma.tsv");
    let parse = |line: &'static str| shape_row(line).unwrap_or_else(|| panic!("mfma.tsv: bad row: {line}"));
    let of_waves = |(name, set, shape): (&'static str, InstructionSet, Shape)| {
        set.wave_sizes().iter().map(move |wave| ((name, set, *wave), Shape { wave: *wave, ..shape }))
    };
    text.lines().skip(1).map(parse).flat_map(of_waves).collect()
});

fn shape_row(line: &'static str) -> Option<(&'static str, InstructionSet, Shape)> {
    let mut cells = line.split('\t');
    let mut cell = || cells.next();
    let (name, set) = (cell()?, cell()?);
    let set = InstructionSet::ALL.into_iter().find(|s| s.name() == set)?;
    let mut shape = Shape {
        m: cell()?.parse().ok()?,
        n: cell()?.parse().ok()?,
        k: cell()?.parse().ok()?,
        blocks: cell()?.parse().ok()?,
        a: ElemType::parse(cell()?)?,
        b: ElemType::parse(cell()?)?,
        acc: ElemType::parse(cell()?)?,
        sparse: name.starts_with("v_smfmac") || name.starts_with("v_swmmac"),
        scaled: name.starts_with("v_mfma_scale") || name.starts_with("v_wmma_scale"),
        scale_block: if name.starts_with("v_wmma_scale16") { 16 } else { SCALE_BLOCK },
        formats_chosen: name.ends_with("f8f6f4"),
        broadcasts_a: cell()?.parse().ok()?,
        permutes_b: cell()?.parse().ok()?,
        negates: false,
        provenance: match cell()? {
            "measured" => Provenance::Measured,
            "argued" => Provenance::Argued,
            "emulated" => Provenance::Emulated,
            _ => return None,
        },
        arrangement: match set.family() {
            Family::GFX9 => Arrangement::Mfma,
            Family::RDNA if set.copies_wmma_inputs() => Arrangement::WmmaCopied,
            Family::RDNA if set.alternates_wmma_inputs() => Arrangement::WmmaAlternating,
            Family::RDNA => Arrangement::WmmaShared,
        },
        wave: set.usual_wave(),
    };
    // f64 instructions use the `blgp` field to negate operands.
    if shape.acc == ElemType::F64 {
        (shape.negates, shape.permutes_b) = (shape.permutes_b, false);
    }
    Some((name, set, shape))
}

/// The shape of the matrix instruction `desc` on `target`, for the wave size that `desc` requires; `None` for other
/// instructions.
pub fn shape(desc: &InstDesc, target: Target) -> Option<&'static Shape> {
    shape_on(desc, usual(desc, target)?)
}

/// The same as [`shape_on`], and also the shapes whose layout only AMD's emulator describes ([`Provenance::Emulated`]).
///
/// ```
/// use gcn_isa::{Target, layout, table};
/// let row = table::find(Target::GFX1250, "v_swmmac_f32_16x16x64_f16").next().unwrap();
/// assert!(layout::described_on(row, Target::GFX1250.into()).is_some());
/// assert!(layout::shape_on(row, Target::GFX1250.into()).is_none());
/// ```
pub fn described_on(desc: &InstDesc, on: Subtarget) -> Option<&'static Shape> {
    // Most rows are of other instructions, and callers go over all rows of all targets.
    if !desc.multiplies_matrices() {
        return None;
    }
    let (set, wave) = (on.target.instruction_set().measured_as(), on.wave);
    SHAPES.get(&(desc.printed, set, wave)).or_else(|| SHAPES.get(&(desc.mnemonic, set, wave)))
}

/// The wave size that `desc` requires on `target`.
fn usual(desc: &InstDesc, target: Target) -> Option<Subtarget> {
    let mut sizes = target.instruction_set().wave_sizes().iter().copied();
    Subtarget::new(target, sizes.find(|wave| desc.waves.has(*wave))?)
}

/// The same as [`shape`], for the wave size of `on`, regardless of the size that the row requires; `None` if the processor has no such
/// instruction in that wave size.
pub fn shape_on(desc: &InstDesc, on: Subtarget) -> Option<&'static Shape> {
    described_on(desc, on).filter(|shape| shape.provenance != Provenance::Emulated)
}

/// Every matrix instruction of `target` with its shape, in table order. There is one row for each wave size.
pub fn matrix_instructions(target: Target) -> impl Iterator<Item = (&'static InstDesc, &'static Shape)> {
    table::rows_of(target.family())
        .iter()
        .filter(move |r| r.targets.contains(target))
        .filter_map(move |r| Some((r, shape(r, target)?)))
}

static INSTRUCTIONS: LazyLock<Vec<(Target, &'static InstDesc, &'static Shape)>> = LazyLock::new(|| {
    let of = |target| matrix_instructions(target).map(move |(desc, shape)| (target, desc, shape));
    Target::KNOWN.into_iter().flat_map(of).collect()
});

type OfSubtarget = Vec<(&'static InstDesc, &'static Shape)>;

static OF_SUBTARGETS: LazyLock<HashMap<Subtarget, OfSubtarget>> = LazyLock::new(|| {
    let of = |on: Subtarget| matrix_instructions(on.target).filter(|i| i.1.wave == on.wave).collect();
    let all = Target::KNOWN
        .into_iter()
        .flat_map(|target| target.wave_sizes().iter().filter_map(move |wave| Subtarget::new(target, *wave)));
    all.map(|on| (on, of(on))).collect()
});

/// The matrix instructions of a processor with one wave size, with their shapes, in table order.
///
/// ```
/// use gcn_isa::{Target, layout};
///
/// let names = |target: Target| layout::instructions_on(target.into()).iter().map(|i| i.0.mnemonic).collect::<Vec<_>>();
/// assert!(names(Target::GFX1201).contains(&"v_wmma_f32_16x16x16_fp8_fp8"));
/// assert!(names(Target::GFX1030).is_empty());
/// ```
pub fn instructions_on(on: Subtarget) -> &'static [(&'static InstDesc, &'static Shape)] {
    OF_SUBTARGETS.get(&on).map_or(&[], Vec::as_slice)
}

/// Every matrix instruction of every target in [`Target::KNOWN`] with its shape: targets in order, then table order.
pub fn instructions() -> &'static [(Target, &'static InstDesc, &'static Shape)] {
    &INSTRUCTIONS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Class;

    /// True if no public source gives the layout of the instruction on gfx12.5 (`docs/layouts.md`, CDNA 5).
    fn is_unpublished(row: &InstDesc, target: Target) -> bool {
        let has = |part: &str| row.printed.contains(part);
        let of_rdna_4 = shape(row, Target::GFX1201).is_some();
        // A load of scales multiplies nothing: it is the first half of a scaled instruction.
        let others =
            row.class == Class::Swmmac || has("f8f6f4") || has("_f4") || has("bf16f32") || has("ld_scale");
        target.instruction_set() == InstructionSet::GFX12_5 && (of_rdna_4 || others)
    }

    #[test]
    fn every_matrix_instruction_with_a_published_layout_has_a_shape() {
        let rows = Family::ALL.into_iter().flat_map(table::rows_of);
        for row in rows.filter(|r| r.is_matrix() || matches!(r.class, Class::Wmma | Class::Swmmac)) {
            for target in row.targets.targets() {
                match shape(row, target) {
                    Some(shape) => assert!(row.waves.has(shape.wave), "{} on {target}", row.printed),
                    None => assert!(is_unpublished(row, target), "{} on {target}", row.printed),
                }
            }
        }
    }
}
