//! Matrix operand layouts against AMD's matrix instruction calculator (every row it prints, modifiers included).

use std::collections::HashSet;
use std::io::Read;

use gcn_isa::layout::{self, Matrix};
use gcn_isa::{Target, table};

#[test]
fn every_element_lives_where_the_matrix_calculator_says() {
    let mut text = String::new();
    let packed = &include_bytes!("../data/layouts.tsv.gz")[..];
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("golden file unpacks");

    let (mut plain, mut modified, mut instructions) = (0, 0, HashSet::new());
    for line in text.lines().skip(1) {
        let row = Golden::parse(line).unwrap_or_else(|| panic!("bad golden row: {line}"));
        assert_eq!(row.ours(), Some((row.register, row.lane, row.low_bit, row.bits)), "{line}");
        instructions.insert((row.target, row.instruction));
        *(if row.modifiers.is_empty() { &mut plain } else { &mut modified }) += 1;
    }
    assert_eq!((plain, modified, instructions.len()), (214_912, 19_520, 93));
}

struct Golden<'a> {
    target: Target,
    instruction: &'a str,
    modifiers: &'a str,
    matrix: Matrix,
    block: u8,
    row: u16,
    column: u16,
    register: u8,
    lane: u8,
    low_bit: u8,
    bits: u8,
}

impl<'a> Golden<'a> {
    fn parse(line: &'a str) -> Option<Golden<'a>> {
        // target, instruction, modifiers, matrix, block, row, column, register, lane, low bit, high bit, negated
        let cells: Vec<&str> = line.split('\t').collect();
        let low_bit: u8 = cells[9].parse().ok()?;
        let bits = cells[10].parse::<u8>().ok()? + 1 - low_bit;
        let mut register: u8 = cells[7].parse().ok()?;
        if bits == 64 {
            // The calculator prints a 64-bit element by its higher register.
            register -= 1;
        }
        let matrix = match cells[3] {
            "A" => Matrix::A,
            "B" => Matrix::B,
            "C" => Matrix::C,
            "D" => Matrix::D,
            "K" => Matrix::Index,
            _ => return None,
        };
        Some(Golden {
            target: cells[0].parse().ok()?,
            instruction: cells[1],
            modifiers: cells[2],
            matrix,
            // A broadcast element lists every block it serves; the first stands for all.
            block: cells[4].split(',').next()?.parse().ok()?,
            row: cells[5].parse().ok()?,
            column: cells[6].parse().ok()?,
            register,
            lane: cells[8].parse().ok()?,
            low_bit,
            bits,
        })
    }

    fn ours(&self) -> Option<(u8, u8, u8, u8)> {
        let desc = table::find_mnemonic(self.target, self.instruction).next()?;
        let shape = layout::shape(desc, self.target)?;
        let modifier = |name: &str| {
            let mut words = self.modifiers.split(' ');
            words.find(|w| *w == name).and_then(|_| words.next()).map_or(0, |v| v.parse().unwrap_or(0))
        };
        let block = match self.matrix {
            // In sparse instructions the two fields choose among index sets instead.
            Matrix::A if !shape.sparse => {
                layout::a_source_block(modifier("cbsz"), modifier("abid"), self.block)
            }
            _ => self.block,
        };
        let place = shape.place(self.matrix, block, self.row, self.column)?;
        let lane = match self.matrix {
            // In f64 instructions the field negates operands instead.
            Matrix::B if shape.permutes_b => layout::b_source_lane(modifier("blgp"), place.lane),
            _ => place.lane,
        };
        Some((place.register, lane, place.low_bit, place.bits))
    }
}
