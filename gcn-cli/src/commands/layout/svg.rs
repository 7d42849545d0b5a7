//! A layout as a picture: a grid for each block, coloured by lane.

use std::fmt::Write as _;

use gcn_isa::Target;
use gcn_isa::layout::Element;
use gcn_isa::target::WAVE_SIZE;

use super::{Operand, grids};

/// Sizes in pixels: the height of a cell, its width without the text, the width of a character, the margin around a grid and the height of
/// a title.
const HEIGHT: usize = 24;
const AROUND: usize = 10;
const CHARACTER: usize = 7;
const MARGIN: usize = 36;
const TITLE: usize = 28;
/// Height of the row with the column numbers.
const NUMBERS: usize = 14;

/// Draws the operands one below the other, each block as a grid of rows and columns.
pub fn draw(instruction: &str, target: Target, operands: &[Operand]) -> String {
    let mut body = String::new();
    let (mut y, mut width) = (TITLE + 8, 0);
    for operand in operands {
        let labels = operand.layout.elements().map(|element| label(&element).len());
        let wide = labels.max().unwrap_or(0) * CHARACTER + AROUND;
        for (block, rows) in grids(&operand.layout) {
            let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
            let name = operand.matrix.name();
            let _ = writeln!(
                body,
                "<text x=\"{MARGIN}\" y=\"{}\" class=\"t\">{name}, block {block}</text>",
                y + 14
            );
            y += TITLE + NUMBERS;
            for column in 0..columns {
                let x = MARGIN + column * wide + wide / 2;
                let _ = writeln!(body, "<text x=\"{x}\" y=\"{}\" class=\"n m\">{column}</text>", y - 5);
            }
            for (row, cells) in rows.iter().enumerate() {
                let middle = y + row * HEIGHT + HEIGHT / 2 + 4;
                let _ =
                    writeln!(body, "<text x=\"{}\" y=\"{middle}\" class=\"n e\">{row}</text>", MARGIN - 6);
                for (column, element) in cells.iter().enumerate() {
                    let Some(e) = element else { continue };
                    let (x, top) = (MARGIN + column * wide, y + row * HEIGHT);
                    let hue = u32::from(e.lane) * 360 / WAVE_SIZE;
                    let _ = writeln!(
                        body,
                        "<g><title>row {row}, column {column}: register {}, lane {}, bits {}:{}</title>\
                         <rect x=\"{x}\" y=\"{top}\" width=\"{wide}\" height=\"{HEIGHT}\" fill=\"hsl({hue} 70% 85%)\"/>\
                         <text x=\"{}\" y=\"{middle}\" class=\"c m\">{}</text></g>",
                        e.register,
                        e.lane,
                        e.high_bit,
                        e.low_bit,
                        x + wide / 2,
                        label(e),
                    );
                }
            }
            y += rows.len() * HEIGHT + 12;
            width = width.max(columns * wide + 2 * MARGIN);
        }
    }
    let width = width.max(560);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {y}\" width=\"{width}\" height=\"{y}\" \
         font-family=\"sans-serif\">\n\
         <style>.ground{{fill:#fff}}text{{fill:#222}}g rect{{stroke:#555;stroke-width:.5}}.t{{font-size:14px;font-weight:bold}}\
         .n{{font-size:10px}}.m{{text-anchor:middle}}.e{{text-anchor:end}}.c{{font-size:11px;fill:#111}}\
         @media(prefers-color-scheme:dark){{.ground{{fill:#1b1d21}}text{{fill:#ddd}}}}</style>\n\
         <rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n\
         <text x=\"{MARGIN}\" y=\"22\" class=\"t\">{instruction} on {target}: register.lane of each element</text>\n\
         {body}</svg>\n"
    )
}

/// Register and lane of an element, with the part of the register that it occupies: `v0.lo.17`, `v0[7:0].17`.
fn label(element: &Element) -> String {
    let sign = if element.negated { "-" } else { "" };
    let part = match (element.low_bit, element.high_bit) {
        (0, 31..) => String::new(),
        (0, 15) => ".lo".to_owned(),
        (16, 31) => ".hi".to_owned(),
        (low, high) => format!("[{high}:{low}]"),
    };
    format!("{sign}v{}{part}.{}", element.register, element.lane)
}
