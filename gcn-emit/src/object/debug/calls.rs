//! Determines which code of a kernel comes from which inlined function, as a tree of calls.

use std::ops::Range;

use gcn_isa::program::{Call, SourceLoc};

use super::Files;
use super::scopes::Inlined;

/// The calls in a kernel's rows. Each row applies up to the next row, and the last one up to `end`.
pub(super) fn inlined(rows: &[(u32, u64, SourceLoc)], end: u32, files: &mut Files) -> Vec<Inlined> {
    let mut top = Vec::new();
    let ends = rows.iter().skip(1).map(|row| row.0).chain([end]);
    for ((start, _, position), end) in rows.iter().zip(ends) {
        let Some(innermost) = position.call else { continue };
        let mut chain: Vec<&'static Call> = innermost.chain().collect();
        let mut calls = &mut top;
        while let Some(call) = chain.pop() {
            calls = cover(calls, call, *start..end, files);
        }
    }
    top
}

/// Adds a range of code to a call; returns the calls inside it.
fn cover<'c>(
    calls: &'c mut Vec<Inlined>,
    call: &'static Call,
    code: Range<u32>,
    files: &mut Files,
) -> &'c mut Vec<Inlined> {
    // Ranges of the same call are merged.
    let at = calls.iter().position(|known| std::ptr::eq(known.call, call)).unwrap_or_else(|| {
        let file = files.number(call.at.file);
        calls.push(Inlined { call, file, ranges: Vec::new(), inner: Vec::new(), blocks: Vec::new() });
        calls.len() - 1
    });
    let found = &mut calls[at];
    match found.ranges.last_mut() {
        Some(last) if last.end == code.start => last.end = code.end,
        _ => found.ranges.push(code),
    }
    &mut found.inner
}
