//! The part of a page about matrix instructions.

use super::page::{MatrixFacts, MatrixLayout};
use super::targets_shown;
use crate::layout::{self, Arrangement, ElemType, Matrix, Shape};
use crate::mods::Modifiers;
use crate::table::InstDesc;
use crate::target::Target;

/// The shape, speed and layout of a matrix instruction on each target.
pub(super) fn facts(rows: &[&'static InstDesc], target: Option<Target>) -> Vec<MatrixFacts> {
    let mut facts: Vec<(Target, MatrixFacts)> = Vec::new();
    for row in rows {
        for target in targets_shown(row, target) {
            if let Some(shape) = layout::shape(row, target) {
                facts.push((target, on_target(row, target, shape)));
            }
        }
    }
    facts.sort_by_key(|f| f.0);
    facts.into_iter().map(|f| f.1).collect()
}

fn on_target(row: &'static InstDesc, target: Target, shape: &Shape) -> MatrixFacts {
    let passes = passes(row, target);
    let flops = shape.flops();
    MatrixFacts {
        target: target.name(),
        wave: shape.lanes(),
        m: shape.m,
        n: shape.n,
        k: shape.k,
        blocks: shape.blocks,
        // There are four matrix cores, and a pass takes four clocks.
        flops_per_clock: passes.iter().map(|p| flops / u32::from(*p)).collect(),
        passes,
        flops,
        matrices: Matrix::ALL.into_iter().filter_map(|m| matrix(row, shape, m)).collect(),
        controls: controls(row, shape),
        provenance: shape.provenance.name(),
    }
}

/// The number of passes with 8-bit formats, followed by the number with the shorter formats, for the f8f6f4 instructions.
fn passes(row: &'static InstDesc, target: Target) -> Vec<u8> {
    let mut passes: Vec<u8> = super::probe::variants(row)
        .iter()
        .map(|inst| crate::hazards::View::new(target, inst).passes())
        // The numbers for RDNA are not published.
        .filter(|passes| *passes > 0)
        .collect();
    passes.sort_unstable();
    passes.dedup();
    passes.reverse();
    passes
}

fn matrix(row: &InstDesc, shape: &Shape, matrix: Matrix) -> Option<MatrixLayout> {
    shape.extent(matrix)?;
    if shape.sparse && matrix == Matrix::C {
        // A sparse instruction accumulates into D, so it has no C.
        return None;
    }
    let operand = match matrix {
        Matrix::A => "src0",
        Matrix::B => "src1",
        Matrix::C => "src2",
        Matrix::D => "vdst",
        Matrix::Index => row.operands.last()?.name,
        Matrix::ScaleA => "scale_src0",
        Matrix::ScaleB => "scale_src1",
    };
    let (dwords, lane, register) = if chosen(shape, matrix) {
        chosen_formats(shape, matrix)?
    } else {
        let formulas = layout::formulas(shape, matrix)?;
        (vec![shape.registers(matrix)?], formulas.lane, formulas.register)
    };
    Some(MatrixLayout {
        matrix: matrix.name(),
        operand,
        element: element(shape, matrix),
        dwords,
        lane,
        register,
    })
}

fn chosen(shape: &Shape, matrix: Matrix) -> bool {
    shape.formats_chosen && matches!(matrix, Matrix::A | Matrix::B)
}

fn element(shape: &Shape, matrix: Matrix) -> &'static str {
    match matrix {
        Matrix::A => shape.a.name(),
        Matrix::B => shape.b.name(),
        Matrix::C | Matrix::D => shape.acc.name(),
        Matrix::Index => "2-bit index",
        Matrix::ScaleA | Matrix::ScaleB => ElemType::E8m0.name(),
    }
}

/// The dwords and formulas of an f8f6f4 operand: first for 8-bit, then for 6-bit, then for 4-bit formats. `None` if the shape has no such
/// operand.
fn chosen_formats(shape: &Shape, matrix: Matrix) -> Option<(Vec<u8>, String, String)> {
    let of = |format: u8| {
        let shape = shape.with_formats(format, format)?;
        Some((shape.registers(matrix)?, layout::formulas(&shape, matrix)?))
    };
    let (eight, six, four) = (of(0)?, of(2)?, of(4)?);
    Some((
        vec![eight.0, six.0, four.0],
        format!("8 bits: {}; 6 and 4 bits: {}", eight.1.lane, six.1.lane),
        format!("8 bits: {}; 6 bits: {}; 4 bits: {}", eight.1.register, six.1.register, four.1.register),
    ))
}

fn controls(row: &InstDesc, shape: &Shape) -> Vec<&'static str> {
    let mut list = Vec::new();
    if shape.formats_chosen {
        list.push("cbsz: format of A; blgp: format of B (0 fp8, 1 bf8, 2 fp6, 3 bf6, 4 fp4)");
    }
    if shape.scaled {
        list.push("op_sel, op_sel_hi: bit i of each is the byte of scale_src i (low bit, high bit)");
    }
    if row.modifiers.contains(Modifiers::INDEX_KEY) {
        list.push("index_key: names the index set in the index register");
    }
    if shape.arrangement == Arrangement::WmmaCopied && row.modifiers.contains(Modifiers::OP_SEL) {
        list.push("op_sel: bit 2 puts C and D into the upper halves of their registers");
    }
    if shape.broadcasts_a && shape.sparse {
        list.push("cbsz 0: abid names the index set in the index register; cbsz not 0: set 0");
    } else if shape.broadcasts_a {
        list.push("cbsz, abid: groups of 2^cbsz blocks all use the group's block number abid of A");
    }
    if shape.permutes_b {
        list.push(
            "blgp: lanes of B; 1 both halves use lanes 0-31, 2 lanes 32-63, 3 rotated by 16, 4 to 7 all use one group of 16",
        );
    }
    if shape.negates {
        list.push("neg: bit 0 negates A, bit 1 B, bit 2 C");
    }
    list
}
