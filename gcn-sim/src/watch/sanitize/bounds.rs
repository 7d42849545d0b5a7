//! Accesses to memory that is not allocated, and reads of memory that has not been written.

use std::ops::Range;

use super::shadow::words;
use super::{Group, Shared};
use crate::core::fault::Fault;
use crate::core::finding::{Access, AccessKind, Finding, FindingKind};
use crate::core::machine::{Cx, Step};
use crate::core::memory::Range as Bytes;
use crate::core::options::Sanitize;
use crate::core::site::Space;
use crate::core::trace::{Kind, Path, Touch};

/// An access in the form in which findings contain it.
pub(super) fn access_of(touch: &Touch) -> Access {
    let kind = match touch.kind {
        Kind::Read => AccessKind::Read,
        Kind::Write => AccessKind::Write,
        Kind::Atomic => AccessKind::Atomic,
    };
    let space = match touch.space {
        Path::Global | Path::Scalar => Space::Global,
        Path::Lds => Space::Lds,
        Path::Scratch => Space::Scratch,
    };
    Access { kind, space, address: touch.address, bytes: u32::from(touch.bytes) }
}

impl Group {
    pub(super) fn bad_accesses(
        &mut self,
        shared: &Shared,
        cx: &mut Cx<'_>,
        step: &Step,
    ) -> Result<(), Fault> {
        let faults = match cx.trace.as_deref_mut() {
            Some(trace) if !trace.faults.is_empty() => std::mem::take(&mut trace.faults),
            _ => return Ok(()),
        };
        for fault in faults {
            let finding = match fault {
                Fault::OutOfBounds { space, write, lane, address, bytes } => {
                    let kind = if write { AccessKind::Write } else { AccessKind::Read };
                    let access = Access { kind, space, address, bytes };
                    self.out_of_bounds(cx, step, lane, access)
                }
                Fault::Misaligned { lane, address, alignment } => {
                    let space = if step.inst.desc.is_ds() { Space::Lds } else { Space::Global };
                    let access = Access { kind: AccessKind::Atomic, space, address, bytes: alignment };
                    let mut finding =
                        self.finding(FindingKind::Misaligned, cx, step, Some(lane), Some(access));
                    finding.remedy = format!("the address must be a multiple of {alignment}");
                    finding
                }
                other => return Err(other),
            };
            self.report(shared, finding)?;
        }
        Ok(())
    }

    fn out_of_bounds(&self, cx: &Cx<'_>, step: &Step, lane: Option<u8>, access: Access) -> Finding {
        let freed = match access.space {
            Space::Global => cx.memory.freed(access.address),
            _ => None,
        };
        let kind = if freed.is_some() { FindingKind::UseAfterFree } else { FindingKind::OutOfBounds };
        let mut finding = self.finding(kind, cx, step, lane, Some(access));
        finding.allocation = match access.space {
            Space::Global => freed.or_else(|| cx.memory.nearest(access.address)),
            Space::Lds => Some(Bytes { base: 0, bytes: cx.lds.len() as u64 }),
            Space::Scratch => Some(Bytes { base: 0, bytes: (cx.w.scratch.len() / 64) as u64 }),
        };
        finding.remedy = match kind {
            FindingKind::UseAfterFree => "free it after the kernel".to_owned(),
            _ => "check the index, or allocate more".to_owned(),
        };
        finding
    }

    pub(super) fn unwritten(
        &mut self,
        shared: &Shared,
        cx: &Cx<'_>,
        step: &Step,
        (touches, runs): (&[Touch], &[Range<usize>]),
    ) -> Result<(), Fault> {
        let like = |a: &Range<usize>, b: &Range<usize>| touches[a.start].is_like(&touches[b.start]);
        for runs in runs.chunk_by(like) {
            let touch = &touches[runs[0].start];
            let reads_lds = touch.space == Path::Lds && touch.kind == Kind::Read;
            let is_fine = touch.space == Path::Scratch
                || reads_lds && runs.len() > 1 && self.is_written_around(touches, runs);
            if !is_fine {
                self.unwritten_by_run(shared, cx, step, (touches, runs))?;
            }
        }
        Ok(())
    }

    /// True if all bytes from the first to the last one that these runs access in LDS have been written.
    fn is_written_around(&self, touches: &[Touch], runs: &[Range<usize>]) -> bool {
        let (mut first, mut end) = (u64::MAX, 0);
        for run in runs {
            let touch = &touches[run.start];
            first = first.min(touch.address);
            end = end.max(touch.address + run.len() as u64 * u64::from(touch.bytes));
        }
        self.lds.is_written(first, end - first)
    }

    fn unwritten_by_run(
        &mut self,
        shared: &Shared,
        cx: &Cx<'_>,
        step: &Step,
        (touches, runs): (&[Touch], &[Range<usize>]),
    ) -> Result<(), Fault> {
        for run in runs.iter().cloned() {
            let (first, bytes) =
                (&touches[run.start], run.len() as u64 * u64::from(touches[run.start].bytes));
            let is_written = match first.space {
                Path::Scratch => true,
                Path::Lds => first.kind == Kind::Write || self.lds.is_written(first.address, bytes),
                Path::Global | Path::Scalar => {
                    let counts = shared.has(Sanitize::MEMORY) && first.kind == Kind::Read;
                    !counts || cx.memory.is_written(first.address, bytes)
                }
            };
            if !is_written {
                self.unwritten_in(shared, cx, step, &touches[run])?;
            } else if first.space == Path::Lds && first.kind != Kind::Read {
                self.lds.mark_written(first.address, bytes);
            }
        }
        Ok(())
    }

    /// As [`Group::unwritten`], for accesses that read bytes that have not been written, one by one.
    fn unwritten_in(
        &mut self,
        shared: &Shared,
        cx: &Cx<'_>,
        step: &Step,
        touches: &[Touch],
    ) -> Result<(), Fault> {
        for touch in touches {
            let lds = touch.space == Path::Lds;
            let reads = touch.kind != Kind::Write;
            let bytes = u64::from(touch.bytes);
            let missing = if lds {
                let shadow = &mut self.lds;
                let missing = reads && words(touch.address, bytes).any(|(w, m)| shadow.unwritten(w, m) != 0);
                // The value that was read may never be used, so it is not reported here, but tracked as undefined bits of a register.
                let missing = if missing && touch.kind == Kind::Read && self.tracks {
                    let is = |at: &u64| shadow.unwritten(at / 4, 1 << (at % 4)) != 0;
                    self.unwritten.extend((touch.address..touch.address + bytes).filter(is));
                    self.waves[cx.w.id as usize].unwritten = Some(touch.address);
                    false
                } else {
                    missing
                };
                if touch.kind != Kind::Read {
                    shadow.mark_written(touch.address, bytes);
                }
                missing && shared.has(Sanitize::LDS)
            } else {
                let looked_at = shared.has(Sanitize::MEMORY) && touch.space != Path::Scratch;
                looked_at && touch.kind == Kind::Read && !cx.memory.is_written(touch.address, bytes)
            };
            if missing {
                let kind = if lds { FindingKind::UninitializedLds } else { FindingKind::UninitializedMemory };
                let mut finding = self.finding(kind, cx, step, touch.lane, Some(access_of(touch)));
                finding.remedy = "write it first, or start from a buffer that is".to_owned();
                self.report(shared, finding)?;
            }
        }
        Ok(())
    }
}
