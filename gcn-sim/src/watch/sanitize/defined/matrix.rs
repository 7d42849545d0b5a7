//! Matrix instructions: an element of the result depends on a row of A, a column of B and an element of C.

use std::collections::HashSet;

use gcn_isa::layout::{Controls, Element, Matrix, elements};

use super::Word;
use super::info::{Source, Written};
use super::now::Now;
use crate::core::value::LANES;
use crate::core::wave::Lanes;

/// Rows or columns, each with its block.
type Lines = HashSet<(u8, u16)>;

impl Now<'_, '_> {
    fn elements(&self, matrix: Matrix) -> Vec<Element> {
        let (desc, target) = (self.inst.desc, self.cx.machine.target());
        elements(desc, target, matrix, Controls::of(&self.inst.mods))
            .map_or_else(|_| Vec::new(), Iterator::collect)
    }

    fn source_named(&self, names: &[&str]) -> Option<&Source> {
        let named = |s: &&Source| s.operand.is_some_and(|i| names.contains(&self.inst.desc.operands[i].name));
        self.info.sources.iter().find(named)
    }

    /// True if any bit of the element is undefined.
    fn is_undefined(&self, source: &Source, element: &Element) -> bool {
        let bit = |bit: u8| {
            let word = source.words().nth(usize::from(element.register + bit / 32));
            word.is_some_and(|word| self.bits.bits(word, usize::from(element.lane)) >> (bit % 32) & 1 == 1)
        };
        (element.low_bit..=element.high_bit).any(bit)
    }

    /// The rows or columns of a matrix that have an undefined element.
    fn lines(&self, names: &[&str], matrix: Matrix, line: fn(&Element) -> u16) -> Lines {
        let Some(source) = self.source_named(names) else { return Lines::new() };
        if source.words().all(|word| self.bits.lanes(word) == 0) {
            return Lines::new();
        }
        let undefined = self.elements(matrix).into_iter().filter(|e| self.is_undefined(source, e));
        undefined.flat_map(|e| e.blocks.iter().map(move |block| (block, line(&e)))).collect()
    }
}

/// The undefined bits of the result.
pub(super) fn result(now: &Now<'_, '_>, result: &Written) -> Vec<(Word, Lanes)> {
    let mut rows = now.lines(&["src0"], Matrix::A, |e| e.row);
    rows.extend(now.lines(&["idx"], Matrix::Index, |e| e.row));
    rows.extend(now.lines(&["scale_src0", "scale_a"], Matrix::ScaleA, |e| e.row));
    let mut columns = now.lines(&["src1"], Matrix::B, |e| e.column);
    columns.extend(now.lines(&["scale_src1", "scale_b"], Matrix::ScaleB, |e| e.column));
    let addend = now.source_named(&["src2", "vdst"]);
    let mut words: Vec<(Word, Lanes)> = result.words().map(|word| (word, [0; LANES])).collect();
    for element in now.elements(Matrix::D) {
        let reached = element
            .blocks
            .iter()
            .any(|b| rows.contains(&(b, element.row)) || columns.contains(&(b, element.column)));
        if reached || addend.is_some_and(|c| now.is_undefined(c, &element)) {
            for bit in element.low_bit..=element.high_bit {
                if let Some((_, lanes)) = words.get_mut(usize::from(element.register + bit / 32)) {
                    lanes[usize::from(element.lane)] |= 1 << (bit % 32);
                }
            }
        }
    }
    words
}
