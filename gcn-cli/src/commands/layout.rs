//! `gcn layout`.

mod svg;

use std::fmt::Write as _;

use clap::ValueEnum;
use gcn_isa::Target;
use gcn_isa::layout::{self, Controls, Element, Layout, LayoutError, Matrix};
use gcn_isa::target::Subtarget;
use serde::Serialize;

use super::inst::matrix_row;
use crate::failure::Failure;
use crate::{commands, file};

/// Shows which lane and register holds each element of the operands of a matrix instruction.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The matrix instruction
    #[arg(value_name = "NAME")]
    name: String,
    /// The target
    #[arg(long, value_name = "T", value_parser = commands::target)]
    target: Target,
    #[command(flatten)]
    wave: commands::Lanes,
    /// Show this operand only; by default every operand of the instruction
    #[arg(long, value_enum)]
    matrix: Option<MatrixName>,
    /// log2 of the number of blocks that share one block of A; for f8f6f4 the format of A; for sparse instructions the index set
    #[arg(long, default_value_t = 0)]
    cbsz: u8,
    /// The number of the shared block of A; for sparse instructions the index set
    #[arg(long, default_value_t = 0)]
    abid: u8,
    /// Lane pattern of B; for f8f6f4 the format of B; for f64 the negations
    #[arg(long, default_value_t = 0)]
    blgp: u8,
    /// The byte of the scale operands that holds A's scales (scaled instructions)
    #[arg(long, default_value_t = 0)]
    scale_a: u8,
    /// The byte of the scale operands that holds B's scales (scaled instructions)
    #[arg(long, default_value_t = 0)]
    scale_b: u8,
    /// The index set of sparse instructions of RDNA
    #[arg(long, default_value_t = 0)]
    index_key: u8,
    /// C and D of 16-bit elements are in the upper halves of the registers, as bit 2 of op_sel selects (RDNA 3)
    #[arg(long)]
    upper_halves: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Print the elements as JSON
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// The output file; by default standard output
    #[arg(short, long, value_name = "FILE", default_value = file::STANDARD, value_parser = file::name())]
    output: String,
}

const EXAMPLES: &str = "\
Examples:
  gcn layout v_mfma_f32_16x16x16_f16 --target gfx942                           every operand
  gcn layout v_mfma_f32_16x16x16_f16 --target gfx942 --matrix d --format csv   the elements of D
  gcn layout v_mfma_f32_4x4x4_16b_f16 --target gfx942 --cbsz 2 --abid 1        blocks that share A
  gcn layout v_mfma_f32_32x32x8_f16 --target gfx942 --format svg -o mfma.svg   a picture
  gcn layout v_wmma_f32_16x16x16_f16 --target gfx1100 --wave 64 --matrix a     in the larger waves";

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MatrixName {
    A,
    B,
    C,
    D,
    Index,
    ScaleA,
    ScaleB,
}

impl MatrixName {
    fn matrix(self) -> Matrix {
        match self {
            MatrixName::A => Matrix::A,
            MatrixName::B => Matrix::B,
            MatrixName::C => Matrix::C,
            MatrixName::D => Matrix::D,
            MatrixName::Index => Matrix::Index,
            MatrixName::ScaleA => Matrix::ScaleA,
            MatrixName::ScaleB => Matrix::ScaleB,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A grid per block, as text: `v2.17[15:0]` is register 2 of the operand, lane 17, bits 15 to 0
    Table,
    /// One line per element
    Csv,
    /// A picture
    Svg,
}

/// The layouts as JSON.
#[derive(Serialize)]
struct Report {
    instruction: &'static str,
    target: &'static str,
    /// Lanes of a wave.
    wave: u32,
    /// `measured`, `argued` or `emulated` (see docs/layouts.md).
    provenance: &'static str,
    matrices: Vec<MatrixReport>,
}

#[derive(Serialize)]
struct MatrixReport {
    matrix: &'static str,
    registers: u8,
    elements: Vec<ElementReport>,
}

/// An element and its location.
#[derive(Serialize)]
struct ElementReport {
    blocks: Vec<u8>,
    row: u16,
    column: u16,
    register: u8,
    lane: u8,
    low_bit: u8,
    high_bit: u8,
    negated: bool,
}

/// A matrix with its layout.
pub(super) struct Operand {
    pub matrix: Matrix,
    pub layout: Layout,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let on = args.wave.on(args.target)?;
    let desc = matrix_row(&args.name, on)?;
    let controls = Controls {
        cbsz: args.cbsz,
        abid: args.abid,
        blgp: args.blgp,
        scale_a: args.scale_a,
        scale_b: args.scale_b,
        index_key: args.index_key,
        upper_halves: args.upper_halves,
    };
    let wanted: Vec<Matrix> = match args.matrix {
        Some(one) => vec![one.matrix()],
        None => {
            let shape = layout::described_on(desc, on);
            let has = |m: &Matrix| shape.is_some_and(|s| s.extent(*m).is_some());
            Matrix::ALL.into_iter().filter(has).collect()
        }
    };
    // Requesting D makes an instruction without matrices fail with an error about its layout, instead of succeeding with an empty list.
    let wanted = if wanted.is_empty() { vec![Matrix::D] } else { wanted };
    let mut operands = Vec::new();
    for matrix in wanted {
        match Layout::new(desc, args.target, matrix, controls) {
            Ok(layout) => operands.push(Operand { matrix, layout }),
            // Sparse instructions accumulate into D and have no C.
            Err(LayoutError::NoSuchMatrix { .. }) if args.matrix.is_none() => {}
            Err(error) => return Err(Failure::input(error.to_string())),
        }
    }
    let text = if args.json {
        commands::json(&report(desc.mnemonic, on, &operands))?
    } else {
        match args.format {
            Format::Table => table(desc.mnemonic, on, &operands),
            Format::Csv => csv(&operands),
            Format::Svg => svg::draw(desc.mnemonic, args.target, &operands),
        }
    };
    file::write(&args.output, text.as_bytes())
}

fn provenance(operands: &[Operand]) -> &'static str {
    operands.first().map_or("", |o| o.layout.shape().provenance.name())
}

fn report(instruction: &'static str, on: Subtarget, operands: &[Operand]) -> Report {
    let element = |e: Element| ElementReport {
        blocks: e.blocks.iter().collect(),
        row: e.row,
        column: e.column,
        register: e.register,
        lane: e.lane,
        low_bit: e.low_bit,
        high_bit: e.high_bit,
        negated: e.negated,
    };
    let matrices = operands.iter().map(|o| MatrixReport {
        matrix: o.matrix.name(),
        registers: o.layout.registers(),
        elements: o.layout.elements().map(element).collect(),
    });
    let matrices = matrices.collect();
    let (target, wave) = (on.target.name(), on.wave.lanes());
    Report { instruction, target, wave, provenance: provenance(operands), matrices }
}

/// `v2.17[15:0]`: register 2 of the operand, lane 17, bits 15 to 0.
pub(super) fn place(element: &Element) -> String {
    let sign = if element.negated { "-" } else { "" };
    format!("{sign}v{}.{}[{}:{}]", element.register, element.lane, element.high_bit, element.low_bit)
}

fn csv(operands: &[Operand]) -> String {
    let mut out = "matrix,block,row,column,register,lane,low_bit,high_bit,negated\n".to_owned();
    for operand in operands {
        for e in operand.layout.elements() {
            let blocks: Vec<_> = e.blocks.iter().map(|b| b.to_string()).collect();
            let _ = writeln!(
                out,
                "{},{},{},{},{},{},{},{},{}",
                operand.matrix.name(),
                blocks.join(" "),
                e.row,
                e.column,
                e.register,
                e.lane,
                e.low_bit,
                e.high_bit,
                u8::from(e.negated)
            );
        }
    }
    out
}

/// Each block with its name and its elements, by row and column.
pub(super) fn grids(layout: &Layout) -> Vec<(String, Vec<Vec<Option<Element>>>)> {
    let mut grids: Vec<(String, Vec<Vec<Option<Element>>>)> = Vec::new();
    for element in layout.elements() {
        let name = element.blocks.to_string();
        let at = grids.iter().position(|g| g.0 == name).unwrap_or_else(|| {
            grids.push((name, Vec::new()));
            grids.len() - 1
        });
        let rows = &mut grids[at].1;
        let (row, column) = (usize::from(element.row), usize::from(element.column));
        if rows.len() <= row {
            rows.resize(row + 1, Vec::new());
        }
        if rows[row].len() <= column {
            rows[row].resize(column + 1, None);
        }
        // If several lanes hold copies of an element, the one in the lowest lane is shown.
        rows[row][column].get_or_insert(element);
    }
    grids
}

/// Width of the column with the row numbers, in characters.
const ROW: usize = 4;

fn table(instruction: &str, on: Subtarget, operands: &[Operand]) -> String {
    let waves = if on.wave_sizes().len() > 1 {
        format!(", waves of {} lanes", on.wave.lanes())
    } else {
        String::new()
    };
    let mut out = format!(
        "{instruction} on {}{waves} (layout {})\nvR.L[H:L]: register R of the operand, lane L, bits H to L\n",
        on.target,
        provenance(operands)
    );
    for operand in operands {
        let formulas = layout::formulas(operand.layout.shape(), operand.matrix);
        let _ = write!(out, "\n{}, {} registers", operand.matrix.name(), operand.layout.registers());
        if let Some(formulas) = formulas {
            let _ = write!(out, "; without controls: lane {}, {}", formulas.lane, formulas.register);
        }
        out.push('\n');
        for (block, rows) in grids(&operand.layout) {
            let _ = writeln!(out, "block {block}: one line per row, under the numbers of the columns");
            let cells: Vec<Vec<String>> = rows
                .iter()
                .map(|row| row.iter().map(|e| e.as_ref().map_or("-".into(), place)).collect())
                .collect();
            let width = cells.iter().flatten().map(String::len).max().unwrap_or(0);
            let columns = cells.iter().map(Vec::len).max().unwrap_or(0);
            let _ = write!(out, "{:ROW$}", "");
            for column in 0..columns {
                let _ = write!(out, " {column:<width$}");
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
            for (number, row) in cells.iter().enumerate() {
                let _ = write!(out, "{number:>ROW$}");
                for cell in row {
                    let _ = write!(out, " {cell:<width$}");
                }
                out.truncate(out.trim_end().len());
                out.push('\n');
            }
        }
    }
    out
}
