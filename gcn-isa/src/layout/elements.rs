//! Layouts under the control fields of an instruction, and the elements that they contain.

use std::fmt;

use thiserror::Error;

use super::{Arrangement, ElemType, Matrix, Shape, a_source_block, b_source_lane, described_on, usual};
use crate::inst::Mods;
use crate::table::InstDesc;
use crate::target::Target;

/// The fields of an instruction that change a layout. The default values do not change it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Controls {
    /// The field `cbsz`: log2 of the number of blocks that share one block of A. For sparse instructions, a value other than zero selects
    /// index set 0. For f8f6f4 instructions, the field is the format of A.
    pub cbsz: u8,
    /// The field `abid`: the block of A that is shared. For sparse instructions, the index set.
    pub abid: u8,
    /// The field `blgp`: the lane pattern of B. For f8f6f4 instructions, the format of B. For f64 instructions, the negations (bit 0 A, bit
    /// 1 B, bit 2 C).
    pub blgp: u8,
    /// The byte of `scale_src0` that has the scales of A. Its number consists of bit 0 of `op_sel` and bit 0 of `op_sel_hi`, in this order
    /// from the lowest bit.
    pub scale_a: u8,
    /// The byte of `scale_src1` that has the scales of B. Its number consists of bit 1 of `op_sel` and bit 1 of `op_sel_hi`, in this order
    /// from the lowest bit.
    pub scale_b: u8,
    /// The field `index_key` of RDNA's sparse instructions: the index set.
    pub index_key: u8,
    /// True if C and D are in the upper halves of their registers. This is bit 2 of `op_sel` of WMMA with f16 or bf16 results on RDNA 3.
    pub upper_halves: bool,
}

impl Controls {
    /// The control fields in an instruction's modifiers.
    pub fn of(mods: &Mods) -> Controls {
        let byte = |source: u8| (mods.op_sel >> source & 1) | (mods.op_sel_hi >> source & 1) << 1;
        Controls {
            cbsz: mods.cbsz,
            abid: mods.abid,
            blgp: mods.blgp | mods.neg,
            scale_a: byte(0),
            scale_b: byte(1),
            index_key: mods.index_key,
            upper_halves: mods.op_sel >> 2 & 1 == 1,
        }
    }
}

/// A set of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Blocks(u16);

impl Blocks {
    /// The `count` blocks from `first` on.
    fn range(first: u8, count: u8) -> Blocks {
        Blocks((first..first + count).fold(0, |set, block| set | 1u16.checked_shl(block.into()).unwrap_or(0)))
    }

    /// True if `block` is in the set.
    pub fn contains(self, block: u8) -> bool {
        1u16.checked_shl(block.into()).is_some_and(|bit| self.0 & bit != 0)
    }

    /// The blocks, lowest first.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..16).filter(move |b| self.contains(*b))
    }
}

impl fmt::Display for Blocks {
    /// Writes the block numbers, separated by commas.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, block) in self.iter().enumerate() {
            write!(f, "{}{block}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// An element of a matrix operand and its location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Element {
    /// The products in which the element takes part. There are several if `cbsz` broadcasts a block of A.
    pub blocks: Blocks,
    /// The row.
    pub row: u16,
    /// The column.
    pub column: u16,
    /// The register of the operand, counted from the operand's first register.
    pub register: u8,
    /// The lane.
    pub lane: u8,
    /// The element's lowest bit in that register.
    pub low_bit: u8,
    /// The element's highest bit. Values above 31 are in the next register: bit 32 is bit 0 of the next register.
    pub high_bit: u8,
    /// True if the instruction uses the negated element.
    pub negated: bool,
}

/// The reason why there is no layout.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The instruction does not multiply matrices.
    #[error("{mnemonic} is not a matrix instruction of {target}; its operands have one value in each lane")]
    NotMatrix {
        /// The instruction.
        mnemonic: &'static str,
        /// The target.
        target: Target,
    },
    /// The instruction multiplies matrices, but no public source says which lane and register has an element.
    #[error("the layout of {mnemonic} on {target} is not known: no public source states it")]
    Unknown {
        /// The instruction.
        mnemonic: &'static str,
        /// The target.
        target: Target,
    },
    /// The instruction has no such operand.
    #[error("{mnemonic} has no matrix {}; it has {has}", matrix.name())]
    NoSuchMatrix {
        /// The instruction.
        mnemonic: &'static str,
        /// The requested matrix.
        matrix: Matrix,
        /// The matrices of the instruction.
        has: String,
    },
    /// A control field has a value that the instruction does not accept.
    #[error("{mnemonic} on {target}: {control}:{value} is not possible, {remedy}")]
    Control {
        /// The instruction.
        mnemonic: &'static str,
        /// The target.
        target: Target,
        /// `cbsz`, `abid`, `blgp`, or `op_sel` for a scale selector.
        control: &'static str,
        /// The value.
        value: u8,
        /// The permitted values.
        remedy: String,
    },
}

/// The layout of one matrix operand under given control fields.
///
/// ```
/// use gcn_isa::layout::{Controls, Layout, Matrix};
/// use gcn_isa::{Target, table};
///
/// let row = table::find(Target::GFX90A, "v_mfma_f32_16x16x4f16").next().unwrap();
/// let controls = Controls { cbsz: 1, abid: 1, ..Controls::default() };
/// let layout = Layout::new(row, Target::GFX90A, Matrix::A, controls).unwrap();
/// // Of four blocks the first two use block 1 of A, the others block 3.
/// let at: Vec<_> = layout.at(0, 16, 0).collect();
/// assert_eq!((at[0].blocks.to_string(), at[0].row, at[0].column), ("0,1".to_owned(), 0, 0));
/// assert_eq!(layout.at(0, 0, 0).count(), 0); // block 0 of A is not used
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    shape: Shape,
    matrix: Matrix,
    controls: Controls,
}

/// The elements of a matrix: see [`elements`].
pub type Elements = std::vec::IntoIter<Element>;

/// The elements of `matrix` in `desc`, ordered by block, row and column.
///
/// # Errors
/// [`LayoutError`] if `desc` is no matrix instruction, has no such matrix, or does not accept a value in `controls`. Where
/// there are permitted matrices or values, the message names them.
///
/// ```
/// use gcn_isa::layout::{self, Controls, Matrix};
/// use gcn_isa::{Target, table};
///
/// let row = table::find(Target::GFX942, "v_mfma_f32_32x32x8_f16").next().unwrap();
/// let a: Vec<_> = layout::elements(row, Target::GFX942, Matrix::A, Controls::default()).unwrap().collect();
/// assert_eq!(a.len(), 32 * 8);
/// let e = a.iter().find(|e| (e.row, e.column) == (3, 6)).unwrap();
/// assert_eq!((e.register, e.lane, e.low_bit, e.high_bit), (1, 35, 0, 15));
/// ```
pub fn elements(
    desc: &InstDesc,
    target: Target,
    matrix: Matrix,
    controls: Controls,
) -> Result<Elements, LayoutError> {
    let layout = Layout::new(desc, target, matrix, controls)?;
    Ok(layout.elements().collect::<Vec<_>>().into_iter())
}

impl Layout {
    /// The layout of `matrix` in `desc` on `target`.
    ///
    /// # Errors
    /// [`LayoutError`] if `desc` is no matrix instruction, has no such matrix, or does not accept a value in `controls`. Where
    /// there are permitted matrices or values, the message names them.
    pub fn new(
        desc: &InstDesc,
        target: Target,
        matrix: Matrix,
        controls: Controls,
    ) -> Result<Layout, LayoutError> {
        let mnemonic = desc.mnemonic;
        let shape = usual(desc, target).and_then(|on| described_on(desc, on));
        let shape = *shape.ok_or(match desc.multiplies_matrices() {
            true => LayoutError::Unknown { mnemonic, target },
            false => LayoutError::NotMatrix { mnemonic, target },
        })?;
        let illegal = |(control, value, remedy)| LayoutError::Control {
            mnemonic: desc.mnemonic,
            target,
            control,
            value,
            remedy,
        };
        check(&shape, controls).map_err(illegal)?;
        if !has(&shape, matrix) {
            let names: Vec<_> =
                Matrix::ALL.into_iter().filter(|m| has(&shape, *m)).map(Matrix::name).collect();
            return Err(LayoutError::NoSuchMatrix { mnemonic: desc.mnemonic, matrix, has: names.join(", ") });
        }
        let shape = shape.with_formats(controls.cbsz, controls.blgp).unwrap_or(shape);
        Ok(Layout { shape, matrix, controls })
    }

    /// The shape, with the chosen formats.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of registers of the operand in each lane.
    pub fn registers(&self) -> u8 {
        self.shape.registers(self.matrix).unwrap_or(0)
    }

    /// All elements, ordered by block, row and column. An element that several lanes hold appears once for each of these lanes.
    pub fn elements(&self) -> impl Iterator<Item = Element> + use<> {
        let layout = *self;
        let (rows, cols) = self.shape.extent(self.matrix).unwrap_or((0, 0));
        let shared = self.blocks_that_share();
        let copies = self.shape.copies(self.matrix) as u8;
        let apart = (self.shape.lanes() / u32::from(copies)) as u8;
        (0..self.shape.blocks)
            .step_by(usize::from(shared))
            .flat_map(move |first| {
                (0..rows)
                    .flat_map(move |row| (0..cols).filter_map(move |col| layout.element(first, row, col)))
            })
            .flat_map(move |e| (0..copies).map(move |copy| Element { lane: e.lane + apart * copy, ..e }))
    }

    /// The elements at `bit` of `register` in `lane`. There may be none, one, or several (a sparse operand represents four elements in the
    /// space of two; with a lane pattern of B, a lane is used more than once).
    pub fn at(&self, register: u8, lane: u8, bit: u8) -> impl Iterator<Item = Element> + use<> {
        let layout = *self;
        let lanes: Vec<u8> = match self.lane_pattern() {
            0 => vec![lane],
            pattern => (0..super::LANES as u8).filter(|l| b_source_lane(pattern, *l) == lane).collect(),
        };
        let bit = bit.checked_sub(self.first_bit());
        lanes.into_iter().flat_map(move |lane| {
            bit.into_iter()
                .flat_map(move |bit| layout.shape.elements_at(layout.matrix, register, lane, bit))
                .filter_map(move |(block, row, col)| layout.used(block, row, col))
                .map(move |e| if layout.shape.copies(layout.matrix) > 1 { Element { lane, ..e } } else { e })
        })
    }

    /// The element at (`row`, `col`) of the block that serves the products from `first` on; `None` if it is outside the matrix.
    fn element(&self, first: u8, row: u16, col: u16) -> Option<Element> {
        let Controls { cbsz, abid, .. } = self.controls;
        let block = if self.broadcasts() { a_source_block(cbsz, abid, first) } else { first };
        let place = self.shape.place(self.matrix, block, row, col)?;
        let low_bit = place.low_bit + self.first_bit();
        Some(Element {
            blocks: self.blocks_of(first),
            row,
            column: col,
            register: place.register,
            lane: b_source_lane(self.lane_pattern(), place.lane),
            low_bit,
            high_bit: low_bit + place.bits - 1,
            negated: self.negated(),
        })
    }

    /// The element, if some product uses it.
    fn used(&self, block: u8, row: u16, col: u16) -> Option<Element> {
        let first = block / self.blocks_that_share() * self.blocks_that_share();
        let source = a_source_block(self.controls.cbsz, self.controls.abid, first);
        if self.broadcasts() && source != block {
            return None;
        }
        self.element(first, row, col)
    }

    /// True if `cbsz` broadcasts blocks of this matrix.
    fn broadcasts(&self) -> bool {
        self.matrix == Matrix::A && self.shape.broadcasts_a && !self.shape.sparse && self.controls.cbsz != 0
    }

    fn blocks_that_share(&self) -> u8 {
        if self.broadcasts() { 1 << self.controls.cbsz } else { 1 }
    }

    /// The products that the block or group of blocks `first` serves. AMD's calculator lists A of a sparse instruction for 2^cbsz blocks,
    /// although A has only one block. This function does the same, so that the listings agree.
    fn blocks_of(&self, first: u8) -> Blocks {
        let sparse_a = self.shape.sparse && self.matrix == Matrix::A;
        let count = if sparse_a { 1 << self.controls.cbsz.min(4) } else { self.blocks_that_share() };
        Blocks::range(first, count)
    }

    /// The lane pattern of this matrix.
    fn lane_pattern(&self) -> u8 {
        if self.matrix == Matrix::B && self.shape.permutes_b { self.controls.blgp } else { 0 }
    }

    /// The bit of the register at which the index set or the scale byte begins.
    fn first_bit(&self) -> u8 {
        match self.matrix {
            Matrix::Index if self.shape.arrangement != Arrangement::Mfma => {
                self.controls.index_key * self.shape.index_set_bits()
            }
            Matrix::C | Matrix::D if self.controls.upper_halves => 16,
            Matrix::Index if self.controls.cbsz == 0 => self.controls.abid * self.shape.index_set_bits(),
            Matrix::ScaleA => 8 * self.controls.scale_a,
            Matrix::ScaleB => 8 * self.controls.scale_b,
            _ => 0,
        }
    }

    fn negated(&self) -> bool {
        let bit = match self.matrix {
            Matrix::A => 0,
            Matrix::B => 1,
            Matrix::C => 2,
            _ => return false,
        };
        self.shape.negates && self.controls.blgp >> bit & 1 == 1
    }
}

/// True if the instruction has the operand. A sparse instruction accumulates into D, so it has no C.
fn has(shape: &Shape, matrix: Matrix) -> bool {
    shape.extent(matrix).is_some() && !(shape.sparse && matrix == Matrix::C)
}

impl Shape {
    /// The number of bits of one index set of a sparse instruction: four for each group of four `k` in a lane.
    pub fn index_set_bits(&self) -> u8 {
        if self.arrangement != Arrangement::Mfma {
            return self.wmma_index_bits() as u8;
        }
        (u32::from(self.k) * u32::from(self.m) / super::LANES) as u8
    }
}

/// A control field with a value that the shape does not accept: its name, its value, and the permitted values.
type Illegal = (&'static str, u8, String);

fn check(shape: &Shape, controls: Controls) -> Result<(), Illegal> {
    check_cbsz(shape, controls.cbsz)?;
    check_abid(shape, controls)?;
    check_blgp(shape, controls.blgp)?;
    check_wmma(shape, controls)?;
    // For these arrangements, bits 0 and 1 of `op_sel` do not select bytes.
    if shape.arrangement != Arrangement::Mfma {
        return Ok(());
    }
    for scale in [controls.scale_a, controls.scale_b] {
        let most = if shape.scaled { 3 } else { 0 };
        limit("op_sel", scale, most, || "the selector of a scale has two bits".to_owned())?;
    }
    Ok(())
}

fn limit(
    control: &'static str,
    value: u8,
    most: u8,
    why: impl Fn() -> String,
) -> Result<(), (&'static str, u8, String)> {
    if value <= most {
        return Ok(());
    }
    let remedy =
        if most == 0 { format!("leave it out: {}", why()) } else { format!("0 to {most} are: {}", why()) };
    Err((control, value, remedy))
}

fn check_cbsz(shape: &Shape, cbsz: u8) -> Result<(), Illegal> {
    if shape.formats_chosen {
        return limit("cbsz", cbsz, 4, formats);
    }
    if shape.sparse && shape.arrangement == Arrangement::Mfma {
        return limit("cbsz", cbsz, 7, || "the field has three bits".to_owned());
    }
    let most = if shape.broadcasts_a { shape.blocks.trailing_zeros() as u8 } else { 0 };
    limit("cbsz", cbsz, most, || format!("2^cbsz of its {} blocks share a block of A", shape.blocks))
}

fn check_abid(shape: &Shape, controls: Controls) -> Result<(), Illegal> {
    let (most, why) = if shape.sparse && shape.arrangement == Arrangement::Mfma {
        let sets = 32 / shape.index_set_bits().max(1);
        (sets - 1, format!("the index register holds {sets} index sets"))
    } else if shape.broadcasts_a {
        ((1 << controls.cbsz) - 1, "it names one of 2^cbsz blocks".to_owned())
    } else {
        (0, "the instruction broadcasts no blocks".to_owned())
    };
    limit("abid", controls.abid, most, || why.clone())
}

fn check_wmma(shape: &Shape, controls: Controls) -> Result<(), Illegal> {
    let has_key = shape.sparse && shape.arrangement != Arrangement::Mfma;
    let sets = if has_key { (32 / shape.index_set_bits()).max(1) } else { 1 };
    limit("index_key", controls.index_key, sets - 1, || match sets {
        1 => "the instruction has no choice of index sets".to_owned(),
        _ => format!("the index register holds {sets} index sets"),
    })?;
    let has_halves = shape.arrangement == Arrangement::WmmaCopied && shape.acc.bits() == Some(16);
    limit("op_sel", u8::from(controls.upper_halves) << 2, u8::from(has_halves) << 2, || {
        "C and D do not use halves of registers".to_owned()
    })
}

fn check_blgp(shape: &Shape, blgp: u8) -> Result<(), Illegal> {
    if shape.formats_chosen {
        return limit("blgp", blgp, 4, formats);
    }
    let most = if shape.permutes_b || shape.negates { 7 } else { 0 };
    limit("blgp", blgp, most, || "the instruction has no lane pattern of B".to_owned())
}

fn formats() -> String {
    let names: Vec<String> = ElemType::F8F6F4_FORMATS
        .iter()
        .enumerate()
        .map(|(i, format)| format!("{i} = {}", format.name()))
        .collect();
    names.join(", ")
}
