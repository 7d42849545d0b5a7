//! The views of the instructions of a whole program.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::{Index, Range};
use std::sync::Arc;

use super::view::View;
use crate::indexing::{Indexed, Indexing};
use crate::inst::Inst;
use crate::program::Program;
use crate::table::NameHasher;

/// A [`View`] of each line of a program. Lines with the same instruction share a view.
///
/// ```
/// use std::sync::Arc;
///
/// use gcn_isa::hazards::Views;
/// use gcn_isa::indexing::Indexing;
/// use gcn_isa::{Inst, Program, Target, table};
///
/// let end = Arc::new(Inst::new(table::find(Target::GFX942, "s_endpgm").next().unwrap(), []));
/// let mut program = Program::new(Target::GFX942, "f");
/// program.push(Arc::clone(&end));
/// program.push(end);
/// let views = Views::of(&program, &Indexing::default());
/// assert!(std::ptr::eq(&views[0], &views[1]));
/// ```
#[derive(Clone, Debug)]
pub struct Views {
    distinct: Vec<View>,
    /// The index in `distinct` of each line's view.
    numbers: Vec<u32>,
}

/// The value for a view that has not been created yet.
const NEW: u32 = u32::MAX;

impl Views {
    /// The views of `program`. `indexing` states which registers are accessed through indices.
    pub fn of(program: &Program, indexing: &Indexing) -> Views {
        // The keys are addresses, which no attacker can choose, so a fast hasher is safe.
        let mut known: HashMap<*const Inst, u32, BuildHasherDefault<NameHasher>> = HashMap::default();
        let mut distinct = Vec::new();
        // If an instruction is indexed, its view depends on the index.
        let mut indexed: HashMap<(*const Inst, &Indexed), u32> = HashMap::new();
        let number = |(at, line): (usize, &crate::Line)| {
            let inst = Arc::as_ptr(&line.inst);
            let place = match indexing.at(at) {
                None => known.entry(inst).or_insert(NEW),
                Some(by) => indexed.entry((inst, by)).or_insert(NEW),
            };
            if *place == NEW {
                *place = distinct.len() as u32;
                let by = indexing.at(at);
                distinct.push(by.map_or_else(
                    || View::new(program.target, &line.inst),
                    |by| View::indexed(program.target, &line.inst, by),
                ));
            }
            *place
        };
        let numbers = program.lines.iter().enumerate().map(number).collect();
        Views { distinct, numbers }
    }

    /// The number of lines.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The number of a line's view, below [`Views::len`]. Lines that share an instruction and its index have the same
    /// number.
    pub fn number(&self, line: usize) -> u32 {
        self.numbers[line]
    }

    /// The views of some lines, in order; `None` if a line is outside the program.
    pub fn lines(
        &self,
        lines: Range<usize>,
    ) -> impl ExactSizeIterator<Item = &View> + DoubleEndedIterator + Clone {
        let numbers = self.numbers.get(lines).unwrap_or_default();
        numbers.iter().map(|number| &self.distinct[*number as usize])
    }
}

impl Index<usize> for Views {
    type Output = View;

    fn index(&self, line: usize) -> &View {
        &self.distinct[self.numbers[line] as usize]
    }
}
