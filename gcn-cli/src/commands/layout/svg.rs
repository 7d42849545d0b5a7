//! A layout as a picture: a grid for each block, coloured by lane.

use std::fmt::Write as _;

use gcn_isa::Target;
use gcn_isa::target::WAVE_SIZE;

use super::{Operand, grids};

/// Sizes in pixels: of a cell, and of the space around a grid.
const CELL: (usize, usize) = (46, 24);
const MARGIN: usize = 36;
const TITLE: usize = 28;
/// The operands one below the other, each block a grid of rows and columns.
pub fn draw(instruction: &str, target: Target, operands: &[Operand]) -> String {
    let mut body = String::new();
    let (mut y, mut width) = (TITLE + 8, 0);
    for operand in operands {
        for (block, rows) in grids(&operand.layout) {
            let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
            let name = operand.matrix.name();
            let _ = writeln!(
                body,
                "<text x=\"{MARGIN}\" y=\"{}\" class=\"t\">{name}, block {block}</text>",
                y + 14
            );
            y += TITLE;
            for (row, cells) in rows.iter().enumerate() {
                let _ = writeln!(
                    body,
                    "<text x=\"4\" y=\"{}\" class=\"n\">{row}</text>",
                    y + row * CELL.1 + CELL.1 / 2 + 4
                );
                for (column, element) in cells.iter().enumerate() {
                    let Some(e) = element else { continue };
                    let (x, top) = (MARGIN + column * CELL.0, y + row * CELL.1);
                    let hue = u32::from(e.lane) * 360 / WAVE_SIZE;
                    let sign = if e.negated { "-" } else { "" };
                    let _ = writeln!(
                        body,
                        "<g><title>row {row}, column {column}: register {}, lane {}, bits {}:{}</title>\
                         <rect x=\"{x}\" y=\"{top}\" width=\"{}\" height=\"{}\" fill=\"hsl({hue} 70% 85%)\"/>\
                         <text x=\"{}\" y=\"{}\" class=\"c\">{sign}v{}.{}</text></g>",
                        e.register,
                        e.lane,
                        e.high_bit,
                        e.low_bit,
                        CELL.0,
                        CELL.1,
                        x + CELL.0 / 2,
                        top + CELL.1 / 2 + 4,
                        e.register,
                        e.lane
                    );
                }
            }
            y += rows.len() * CELL.1 + 12;
            width = width.max(columns * CELL.0 + 2 * MARGIN);
        }
    }
    let width = width.max(480);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{y}\" font-family=\"sans-serif\">\n\
         <style>rect{{stroke:#555;stroke-width:.5}}.t{{font-size:14px;font-weight:bold}}.n{{font-size:10px}}\
         .c{{font-size:11px;text-anchor:middle}}</style>\n\
         <text x=\"{MARGIN}\" y=\"22\" class=\"t\">{instruction} on {target}: register.lane of each element</text>\n\
         {body}</svg>\n"
    )
}
