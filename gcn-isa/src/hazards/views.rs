//! The instructions of a whole program as the rules see them.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::{Index, Range};
use std::sync::Arc;

use super::view::View;
use crate::inst::Inst;
use crate::program::Program;
use crate::table::NameHasher;

/// A [`View`] of each line of a program. Lines that share their instruction share its view.
///
/// ```
/// use std::sync::Arc;
///
/// use gcn_isa::hazards::Views;
/// use gcn_isa::{Inst, Program, Target, table};
///
/// let end = Arc::new(Inst::new(table::find(Target::GFX942, "s_endpgm").next().unwrap(), []));
/// let mut program = Program::new(Target::GFX942, "f");
/// program.push(Arc::clone(&end));
/// program.push(end);
/// let views = Views::of(&program);
/// assert!(std::ptr::eq(&views[0], &views[1]));
/// ```
#[derive(Clone, Debug)]
pub struct Views {
    distinct: Vec<View>,
    /// For each line its view's place in `distinct`.
    numbers: Vec<u32>,
}

impl Views {
    /// Those of `program`.
    pub fn of(program: &Program) -> Views {
        // Nobody chooses where instructions lie.
        let mut known: HashMap<*const Inst, u32, BuildHasherDefault<NameHasher>> = HashMap::default();
        let mut distinct = Vec::new();
        let number = |line: &crate::Line| {
            *known.entry(Arc::as_ptr(&line.inst)).or_insert_with(|| {
                distinct.push(View::new(program.target, &line.inst));
                distinct.len() as u32 - 1
            })
        };
        let numbers = program.lines.iter().map(number).collect();
        Views { distinct, numbers }
    }

    /// How many lines there are.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The number of a line's view: the same for lines that share it, below [`Views::len`].
    pub fn number(&self, line: usize) -> u32 {
        self.numbers[line]
    }

    /// The views of some lines, in order; none if the program does not have all of them.
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
