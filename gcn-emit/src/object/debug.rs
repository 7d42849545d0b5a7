//! Debug information: line tables and call frames, including those described by the assembler's directives; and, for
//! kernels of this project, the source line of each instruction (DWARF 5).
//!
//! There is one compilation unit for all kernels of an object. It has a subprogram for each kernel, which contains the kernel's parameters,
//! its blocks with their variables, and the functions that were inlined into it. The line table covers all kernels. Numbers in comments are
//! sections of the DWARF 5 standard.

pub(crate) mod bytes;
mod calls;
#[cfg(feature = "tools")]
pub(crate) mod frames;
mod info;
pub(crate) mod line_table;
mod parameters;
mod scopes;
mod types;
pub(crate) mod variables;

use std::collections::HashMap;

use gcn_isa::program::SourceLoc;

use bytes::Bytes;
use line_table::{File, LineTable, Paths, Row, Sequence};
use parameters::Parameter;
use scopes::{Block, Inlined};

use super::layout::Span;
use super::{Section, SectionId};
use crate::kernel::KernelSpec;

/// The source files of several programs, in the order in which they are first named.
#[derive(Default)]
pub(crate) struct Files {
    pub(crate) names: Vec<&'static str>,
    numbers: HashMap<&'static str, u64>,
}

impl Files {
    /// The file's number, from 1. In the line table, both file 0 and file 1 are the unit's own file.
    pub(crate) fn number(&mut self, name: &'static str) -> u64 {
        let next = self.names.len() as u64 + 1;
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name);
            next
        })
    }
}

/// The debug information of one kernel.
pub(super) struct Lines<'k> {
    kernel: &'k KernelSpec,
    span: Span,
    /// Byte offset in the kernel and position, for each point at which the position changes.
    rows: Vec<(u32, u64, SourceLoc)>,
    /// The functions that were inlined into the kernel.
    inlined: Vec<Inlined>,
    parameters: Vec<Parameter>,
    /// The blocks of the kernel itself that declare variables.
    blocks: Vec<Block>,
}

impl<'k> Lines<'k> {
    /// The debug information of a kernel whose instructions are at `offsets`.
    pub(super) fn new(kernel: &'k KernelSpec, span: Span, offsets: &[u32], files: &mut Files) -> Lines<'k> {
        let mut rows: Vec<(u32, u64, SourceLoc)> = Vec::new();
        for (position, offset) in kernel.program.positions().into_iter().zip(offsets) {
            let Some(position) = position else { continue };
            if rows.last().is_none_or(|row| row.2 != position) {
                rows.push((*offset, files.number(position.file), position));
            }
        }
        let end = span.size as u32;
        let parameters = parameters::parameters(kernel, offsets, end);
        let mut lines = Lines { kernel, span, rows, inlined: Vec::new(), parameters, blocks: Vec::new() };
        lines.inlined = calls::inlined(&lines.rows, end, files);
        variables::place(&mut lines, offsets, files);
        lines
    }
}

/// The debug sections for `kernels`, whose code is in the section `text`. The first of them becomes section number `first`. Empty if no
/// instruction has a position.
pub(super) fn sections(kernels: &[Lines<'_>], files: &Files, text: SectionId, first: u32) -> Vec<Section> {
    let Some(unit) = files.names.first() else { return Vec::new() };
    let [abbreviations, lines, ranges, locations] = [0, 1, 2, 3].map(|n| SectionId(first + n));
    let places = info::Places { unit, text, abbreviations, lines, ranges, locations };
    let info = info::info(kernels, &places);
    let lines = line_table(kernels, files, text);
    vec![info::abbreviations(), lines, info.ranges, info.locations, info.unit]
}

/// The line table for kernels of this project.
fn line_table(kernels: &[Lines<'_>], files: &Files, text: SectionId) -> Section {
    let row = |(offset, file, position): &(u32, u64, SourceLoc), start: u64| Row {
        offset: start + u64::from(*offset),
        file: *file,
        line: position.line,
        column: position.column,
        is_statement: true,
        ..Row::default()
    };
    let sequence = |kernel: &Lines<'_>| Sequence {
        section: text,
        rows: kernel.rows.iter().map(|at| row(at, kernel.span.offset)).collect(),
        end: kernel.span.offset + kernel.span.size,
    };
    // File 0 is the same as the first file. Relative names are relative to the directory in which the compiler ran.
    let names = files.names.first().into_iter().chain(&files.names);
    let table = LineTable {
        version: bytes::VERSION,
        directories: vec![String::new()],
        files: names.map(|name| File { name: (*name).to_owned(), ..File::default() }).collect(),
        sequences: kernels.iter().filter(|kernel| !kernel.rows.is_empty()).map(sequence).collect(),
    };
    let mut out = Bytes::default();
    table.write(&mut out, Paths { form: bytes::STRING, put: &mut |out, text| out.string(text) });
    out.into_section(".debug_line")
}
