//! The lines of each function, and the places where control enters.

use std::ops::Range;

use gcn_isa::Target;
use gcn_isa::program::{Entry, EntryKind};

use super::{CodePlace, Function};
use crate::descriptor::KernelDescriptor;

/// The start of a function, according to a symbol or descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Start {
    /// The offset in the section.
    pub offset: u64,
    /// The size in bytes; 0 if unknown.
    pub size: u64,
    pub name: String,
    pub kind: EntryKind,
    /// A second offset at which the dispatcher may start the kernel.
    pub other_entry: Option<u64>,
}

/// The number of bytes at a kernel's start that a dispatcher skips if it has loaded kernel arguments into SGPRs (LLVM
/// AMDGPU guide, *Preloaded Kernel Arguments*).
const PRELOAD_PROLOGUE: u64 = 256;

impl Start {
    /// The start of a kernel.
    pub fn kernel(target: Target, offset: u64, name: &str, descriptor: &KernelDescriptor) -> Start {
        let preloads = descriptor.kernarg_preload != 0 && target.has_preload_prologue();
        let other_entry = preloads.then(|| offset.saturating_add(PRELOAD_PROLOGUE));
        Start { offset, size: 0, name: name.to_owned(), kind: EntryKind::Kernel, other_entry }
    }

    /// The start of a function that has a symbol.
    pub fn function(offset: u64, size: u64, name: &str) -> Start {
        Start { offset, size, name: name.to_owned(), kind: EntryKind::Function, other_entry: None }
    }
}

/// Sorts functions by offset and keeps one for each offset. In decreasing precedence: a kernel, a function with known size, the first
/// function.
pub(super) fn in_order(mut starts: Vec<Start>) -> Vec<Start> {
    starts.sort_by_key(|s| (s.offset, s.kind != EntryKind::Kernel, s.size == 0));
    starts.dedup_by(|later, first| {
        let same = later.offset == first.offset;
        if same {
            first.size = first.size.max(later.size);
        }
        same
    });
    starts
}

/// The offsets that each function covers: up to its size, the next function, or the end of the section.
pub(super) fn ranges(starts: &[Start], end: u64) -> Vec<Range<u64>> {
    let range = |(i, start): (usize, &Start)| {
        let next = starts.get(i + 1).map_or(end, |n| n.offset).min(end);
        let last = if start.size == 0 { next } else { start.offset.saturating_add(start.size).min(next) };
        start.offset..last.max(start.offset)
    };
    starts.iter().enumerate().map(range).collect()
}

/// The functions of a section whose instructions are at `places`, and the section's entries. `is_reached` tells whether control reaches a
/// line from the line before it or by a branch.
pub(super) fn functions(
    section: &str,
    places: &[CodePlace],
    starts: &[Start],
    ranges: &[Range<u64>],
    is_reached: impl Fn(usize) -> bool,
) -> (Vec<Function>, Vec<Entry>) {
    if places.is_empty() {
        return (Vec::new(), Vec::new());
    }
    if starts.is_empty() {
        let whole = Function { name: section.to_owned(), lines: 0..places.len(), kind: EntryKind::Kernel };
        return (vec![whole], Vec::new());
    }
    let name = |line: usize| format!("{section}+{:#x}", places.get(line).map_or(0, |p| p.offset));
    let mut functions = Vec::with_capacity(starts.len());
    let mut covered = 0;
    for (start, range) in starts.iter().zip(ranges) {
        let lines = lines_in(places, range);
        functions.extend(nameless(covered..lines.start, &is_reached, name));
        covered = covered.max(lines.end);
        if !lines.is_empty() {
            functions.push(Function { name: start.name.clone(), lines, kind: start.kind });
        }
    }
    functions.extend(nameless(covered..places.len(), &is_reached, name));
    let mut entries: Vec<Entry> =
        functions.iter().map(|f| Entry { at: f.lines.start, kind: f.kind }).collect();
    let others =
        starts.iter().filter_map(|s| places.binary_search_by_key(&s.other_entry?, |p| p.offset).ok());
    entries.extend(others.map(|at| Entry { at, kind: EntryKind::Kernel }));
    entries.sort_by_key(|e| e.at);
    entries.dedup_by_key(|e| e.at);
    (functions, entries)
}

/// The lines whose instructions begin in a range of offsets.
fn lines_in(places: &[CodePlace], range: &Range<u64>) -> Range<usize> {
    let line = |offset: u64| places.partition_point(|p| p.offset < offset);
    line(range.start)..line(range.end)
}

/// Finds functions whose symbols were stripped: code between named functions that is reached neither by falling through nor by a branch.
fn nameless(
    lines: Range<usize>,
    is_reached: impl Fn(usize) -> bool,
    name: impl Fn(usize) -> String,
) -> Vec<Function> {
    let starts: Vec<usize> = lines.clone().filter(|line| !is_reached(*line)).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.end]);
    let function =
        |(start, end)| Function { name: name(start), lines: start..end, kind: EntryKind::Function };
    starts.iter().copied().zip(ends).map(function).collect()
}
