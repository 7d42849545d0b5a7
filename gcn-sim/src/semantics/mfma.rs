//! Matrix instructions, driven by the shapes and layouts of [`gcn_isa::layout`].
//!
//! Numerics. For instructions with a model of the hardware's arithmetic that was validated on hardware ([`model`]), the simulator uses that
//! model, unless [`MatrixArithmetic::Chain`](crate::MatrixArithmetic::Chain) is selected. All other instructions start from C and add the
//! products in ascending order of k, each step a fused multiply-add in the accumulator's type: exact for integers, one rounding to nearest
//! even per step for floats. On gfx90a, denormal f16 and bf16 inputs count as zero, and denormal results of f16 and bf16 instructions
//! become zero. xf32 inputs are truncated to 10 fraction bits. NaN results are the default NaN.

mod cut;
mod dense;
mod elements;
pub(crate) mod model;
mod modelled;
mod scaled;
mod sparse;
mod sum;

use std::ops::Range;
use std::sync::Arc;

use gcn_isa::layout::{self, ElemType, Matrix, Shape};
use gcn_isa::{Inst, Target};

use self::model::Arithmetic;
use crate::core::fault::Fault;
use crate::core::machine::{Cx, Exec};
use crate::core::operand::Src;
use crate::core::value::LANES;
use crate::core::wave::Lanes;

/// The function of a matrix instruction.
///
/// # Errors
/// The reason, if the simulator does not support the instruction.
pub(crate) fn exec(inst: &Inst, target: Target) -> Result<Arc<dyn Exec>, String> {
    let shape = *layout::shape(inst.desc, target).ok_or("its shape is not known")?;
    let mods = &inst.mods;
    if shape.formats_chosen {
        let shape = shape.with_formats(mods.cbsz, mods.blgp).ok_or("cbsz or blgp names no format")?;
        return Ok(if shape.scaled {
            Arc::new(scaled::Scaled::new(shape, target, inst)?)
        } else {
            Arc::new(dense::Dense::<f32>::new(shape, target, mods)?)
        });
    }
    if shape.sparse {
        return Ok(match shape.acc {
            ElemType::I32 => Arc::new(sparse::Sparse::<i32>::new(shape, target, mods)?),
            _ => Arc::new(sparse::Sparse::<f32>::new(shape, target, mods)?),
        });
    }
    if (mods.cbsz != 0 || mods.abid != 0) && !shape.broadcasts_a {
        return Err("cbsz and abid have no documented effect on it".to_owned());
    }
    if mods.blgp != 0 && !shape.permutes_b {
        return Err("blgp has no documented effect on it".to_owned());
    }
    Ok(match shape.acc {
        ElemType::F64 => Arc::new(dense::Dense::<f64>::new(shape, target, mods)?),
        ElemType::I32 => Arc::new(dense::Dense::<i32>::new(shape, target, mods)?),
        _ => {
            let dense = dense::Dense::<f32>::new(shape, target, mods)?;
            match model::of(&shape, target).filter(|model| model.arithmetic != Arithmetic::Chain) {
                Some(model) => Arc::new(modelled::Modelled::new(dense, model)?),
                None => Arc::new(dense),
            }
        }
    })
}

/// True if the instruction has a function when used without modifiers.
pub(crate) fn is_known(row: &gcn_isa::InstDesc, target: Target) -> bool {
    layout::shape(row, target).is_some()
}

/// A *line*: elements of a matrix operand that are in the same register and bits of consecutive lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    lane: u8,
    register: u8,
    low_bit: u8,
}

impl Line {
    /// The first `count` lanes of the line.
    #[inline(always)]
    fn lanes(self, count: usize) -> Range<usize> {
        usize::from(self.lane)..usize::from(self.lane) + count
    }
}

/// The line of `count` elements of `block`, where element i has the row and column `at(i)`; `None` if these elements do not form a line.
fn line(
    shape: &Shape,
    matrix: Matrix,
    block: u8,
    count: u16,
    at: impl Fn(u16) -> (u16, u16),
) -> Option<Line> {
    let place = |i: u16| {
        let (row, col) = at(i);
        shape.place(matrix, block, row, col)
    };
    let first = place(0)?;
    let in_line = (0..count).all(|i| {
        place(i).is_some_and(|p| {
            u16::from(p.lane) == u16::from(first.lane) + i
                && (p.register, p.low_bit) == (first.register, first.low_bit)
        })
    });
    in_line.then_some(Line { lane: first.lane, register: first.register, low_bit: first.low_bit })
}

/// All lines of A or B (one for each block and k), or of the indices of a sparse A; `None` if elements do not form lines.
fn input_lines(shape: &Shape, matrix: Matrix) -> Option<Vec<Line>> {
    let blocks = 0..shape.blocks;
    let lines = blocks.flat_map(|block| (0..shape.k).map(move |k| (block, k)));
    lines
        .map(|(block, k)| match matrix {
            Matrix::A | Matrix::Index => line(shape, matrix, block, shape.m, |i| (i, k)),
            _ => line(shape, matrix, block, shape.n, |j| (k, j)),
        })
        .collect()
}

/// All lines of C and D, one for each block and row; `None` if elements do not form lines.
fn result_lines(shape: &Shape) -> Option<Vec<Line>> {
    let blocks = 0..shape.blocks;
    let lines = blocks.flat_map(|block| (0..shape.m).map(move |row| (block, row)));
    lines.map(|(block, row)| line(shape, Matrix::D, block, shape.n, |j| (row, j))).collect()
}

/// The registers of a matrix operand; a constant is the same in every lane and register.
#[allow(
    clippy::large_enum_variant,
    reason = "it is on the stack for one instruction, and constants are rare"
)]
enum Registers<'c> {
    Vector(&'c [Lanes]),
    /// The low and the high dword of an element.
    Const([Lanes; 2]),
}

impl<'c> Registers<'c> {
    #[inline(always)]
    fn of(cx: &'c Cx<'_>, src: &Src, wide: bool) -> Result<Registers<'c>, Fault> {
        let both = |low, high| Registers::Const([[low; LANES], [high; LANES]]);
        Ok(match src {
            Src::Vector(slot) => Registers::Vector(&cx.w.v[usize::from(*slot)..]),
            Src::Const(c) if wide => {
                let bits = c.wide(crate::core::value::Ty::F64);
                both(bits as u32, (bits >> 32) as u32)
            }
            Src::Const(c) => both(c.narrow(crate::core::value::Ty::F32), 0),
            _ => return Err(Fault::Unsupported("a matrix operand of this kind")),
        })
    }

    /// Register `n`. With `upper`, the register after it, which contains the upper half of a 64-bit element.
    #[inline(always)]
    fn get(&self, n: u8, upper: bool) -> &Lanes {
        match self {
            Registers::Vector(registers) => &registers[usize::from(n) + usize::from(upper)],
            Registers::Const(halves) => &halves[usize::from(upper)],
        }
    }
}
