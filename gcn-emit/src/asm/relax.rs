//! Relaxation: the sizes of gaps (alignment, fill, `.org`, LEB128) depend on offsets, and offsets on those sizes; both are recomputed until
//! nothing changes.

use super::Assembler;
use super::eval::{Atom, Memo};
use super::fault::{Fault, Located, Result};
use super::fixup::{Fixup, FixupKind, Outcome};
use super::layout::Layout;
use super::place::{Place, StreamId};
use super::section::{Gap, GapKind, Stream, write_leb};
use super::span::Span;

/// The maximum number of rounds. LEB128 numbers only grow, so they converge soon; other sizes may never converge.
const ROUNDS: usize = 64;
/// The size in bytes of a branch, and of the `s_nop` after it.
const BRANCH_BYTES: u64 = 4;

impl Assembler<'_> {
    /// Computes the layout.
    pub fn layout(&mut self) -> Result<Layout> {
        let mut layout = Layout::default();
        for section in &mut self.sections {
            let streams = &self.streams;
            section.streams.sort_by_key(|id| streams.get(id.0 as usize).map_or(0, |s| s.number));
        }
        layout.assign(self);
        if self.streams.iter().all(|s| s.gaps.is_empty()) {
            return Ok(layout);
        }
        loop {
            self.settle(&mut layout)?;
            // A branch that has received its `s_nop` keeps it, so the loop terminates.
            if !self.repair_branches(&layout) {
                break;
            }
            layout.assign(self);
        }
        // The layout is final now, so an `.org` that goes backwards is an error.
        self.resize(&layout, ROUNDS)?;
        Ok(layout)
    }

    /// Determines the sizes of all gaps except those after branches.
    fn settle(&mut self, layout: &mut Layout) -> Result<()> {
        for round in 0.. {
            let Some(span) = self.resize(layout, round)? else { break };
            if round == ROUNDS {
                return Err(Located::new(span, Fault::Unsettled));
            }
            layout.assign(self);
        }
        Ok(())
    }

    /// Inserts an `s_nop` after each branch with a bad distance. Returns true if one was inserted. As in LLVM, a branch whose distance the
    /// linker determines also gets one. Unresolvable targets are reported when branches are filled in.
    fn repair_branches(&mut self, layout: &Layout) -> bool {
        let mut memo = Memo::new(self.symbols.len());
        let mut repaired = Vec::new();
        for (index, stream) in self.streams.iter().enumerate() {
            for (number, gap) in stream.gaps.iter().enumerate().filter(|(_, gap)| gap.size == 0) {
                let GapKind::AfterBranch { to, bad } = gap.kind else { continue };
                let bytes = gap.bytes - BRANCH_BYTES;
                let place = Place { stream: StreamId(index as u32), gaps: number as u32, bytes };
                let fixup = Fixup { place, kind: FixupKind::Branch, expr: to, span: gap.span };
                let is_bad = match self.resolve(&fixup, layout.offset(self, place), layout, &mut memo) {
                    Ok(Outcome::Bytes(dwords, _)) => dwords == i64::from(bad),
                    Ok(Outcome::Relocation(..)) => true,
                    Err(_) => false,
                };
                if is_bad {
                    repaired.push((index, number));
                }
            }
        }
        for (stream, number) in &repaired {
            self.streams[*stream].gaps[*number].size = BRANCH_BYTES;
        }
        !repaired.is_empty()
    }

    /// Recomputes the sizes of all gaps for these offsets. Returns a gap whose size changed, if any.
    fn resize(&mut self, layout: &Layout, round: usize) -> Result<Option<Span>> {
        let mut memo = Memo::new(self.symbols.len());
        let mut changed = None;
        for index in 0..self.streams.len() {
            // Shift offsets by the sizes found in this round, so that a chain of gaps converges in one round.
            let mut moved = 0i64;
            for number in 0..self.streams[index].gaps.len() {
                let stream = &self.streams[index];
                let place = Place {
                    stream: StreamId(index as u32),
                    gaps: number as u32,
                    bytes: stream.gaps[number].bytes,
                };
                let offset = layout.offset(self, place).1.wrapping_add_signed(moved);
                let gap = &stream.gaps[number];
                let size = self
                    .gap_size(gap, stream, offset, layout, &mut memo, round)
                    .map_err(|f| Located::new(gap.span, f))?;
                if size != gap.size {
                    changed = Some(gap.span);
                    moved = moved.wrapping_add(size.wrapping_sub(gap.size) as i64);
                }
                self.streams[index].gaps[number].size = size;
            }
        }
        Ok(changed)
    }

    fn gap_size(
        &self,
        gap: &Gap,
        stream: &Stream,
        offset: u64,
        layout: &Layout,
        memo: &mut Memo,
        round: usize,
    ) -> std::result::Result<u64, Fault> {
        let mut number = |expr| self.value(expr, layout, memo)?.absolute().ok_or(Fault::NotAbsolute);
        Ok(match gap.kind {
            GapKind::Align { align, most, .. } => {
                let size = offset.next_multiple_of(align) - offset;
                if size <= most { size } else { 0 }
            }
            GapKind::Repeat { count, size, .. } => {
                let count = number(count)?;
                let count = u64::try_from(count).map_err(|_| Fault::Range {
                    what: "the number of bytes",
                    value: count,
                    low: 0,
                    high: i64::MAX,
                })?;
                self.fill_size(stream.section, count.saturating_mul(size.into()))?
            }
            GapKind::Org { to, .. } => {
                let value = self.value(to, layout, memo)?;
                let to = match (value.absolute(), value.plus, value.minus) {
                    (Some(to), ..) => to,
                    (None, Some(Atom { place: Some((section, at)), .. }), None)
                        if section == stream.section =>
                    {
                        at.wrapping_add_signed(value.number) as i64
                    }
                    _ => return Err(Fault::NotAbsolute),
                };
                match u64::try_from(to).ok().and_then(|to| to.checked_sub(offset)) {
                    Some(size) => self.fill_size(stream.section, size)?,
                    // Offsets may still grow, so this is not an error yet.
                    None if round < ROUNDS && to >= 0 => 0,
                    None => return Err(Fault::OrgBack { from: offset, to }),
                }
            }
            GapKind::AfterBranch { .. } => gap.size,
            GapKind::Leb { value, signed } => {
                let mut bytes = Vec::new();
                write_leb(&mut bytes, number(value)?, signed);
                gap.size.max(bytes.len() as u64)
            }
        })
    }
}
