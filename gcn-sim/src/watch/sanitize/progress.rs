//! Detects barriers that not all waves reach, and waves that cannot continue.

use std::sync::atomic::Ordering::Relaxed;

use super::{Finding, FindingKind, Group, Party, Sanitize, Shared, scope};
use crate::core::fault::{Fault, Next};
use crate::core::machine::{Cx, Machine};
use crate::core::site::Site;
use crate::core::trace::{Kind, Path, Touch};
use crate::core::wave::{Status, Wave};

/// The first of an instruction's accesses that has changed memory that others see. A store of the value that was already there, or a
/// failing compare-and-swap, changes nothing. Scratch counts as part of the wave's own state.
fn changed(cx: &Cx<'_>, touches: &[Touch]) -> Option<usize> {
    let trace = cx.trace.as_deref()?;
    let (mut replaced, mut updated) = (&trace.replaced[..], &trace.updated[..]);
    if replaced.is_empty() && updated.is_empty() {
        return None;
    }
    touches.iter().position(|touch| {
        let before = match touch.kind {
            Kind::Write if touch.space != Path::Scratch => &mut replaced,
            Kind::Atomic if touch.space != Path::Scratch => &mut updated,
            _ => return false,
        };
        let (mine, others) = before.split_at(before.len().min(usize::from(touch.bytes)));
        *before = others;
        let mut now = [0; 16];
        let now = &mut now[..mine.len()];
        match touch.space {
            Path::Lds => {
                let start = touch.address as usize;
                if let Some(bytes) = cx.lds.get(start..start + mine.len()) {
                    now.copy_from_slice(bytes);
                }
            }
            _ => _ = cx.memory.peek(touch.address, now),
        }
        now != mine || mine.is_empty()
    })
}

impl Group {
    /// Called when all waves meet at a barrier: each wave's clock learns what all others have done.
    pub(crate) fn barrier(&mut self, shared: &Shared) {
        scope::meet(self.index, self.waves.iter_mut().map(|w| &mut w.sync));
        self.waves.iter_mut().for_each(|w| w.spin.reset());
        self.move_outstanding(shared);
    }

    /// Reports a barrier that some waves reach after others have ended. The hardware only counts arrivals, so waves at different
    /// `s_barrier` instructions release each other; that alone is not reported.
    pub(crate) fn divergent(
        &mut self,
        shared: &Shared,
        machine: &Machine,
        waves: &[Wave],
        absent: Option<usize>,
    ) -> Result<(), Fault> {
        if !shared.has(Sanitize::BARRIERS) {
            return Ok(());
        }
        let waits = |w: &&Wave| matches!(w.status, Status::AtBarrier(_) | Status::AtWait(_));
        let Some(first) = waves.iter().find(waits) else { return Ok(()) };
        let Some(other) = absent.and_then(|wave| waves.get(wave)) else { return Ok(()) };
        let finding = Finding {
            kind: FindingKind::DivergentBarrier,
            party: self.party_of(machine, first),
            other: Some(self.party_of(machine, other)),
            register: None,
            allocation: None,
            remedy: "the other wave has ended; let it come to a barrier too".to_owned(),
        };
        self.report(shared, finding)
    }

    /// The position of a wave that waits or has ended.
    fn party_of(&self, machine: &Machine, wave: &Wave) -> Party {
        let at = match wave.status {
            Status::AtBarrier(at) | Status::AtWait(at) | Status::Queued(at, _) => at,
            Status::Running | Status::Ended => wave.pc,
        };
        let (offset, text) = match machine.steps().get(at) {
            Some(step) => (step.offset, machine.text(&step.inst)),
            None => (0, String::new()),
        };
        let line = machine.line_text(offset);
        let site = Site { workgroup: self.id, wave: wave.id, offset, text, line };
        Party { site, lane: None, access: None }
    }

    /// Tracks whether the wave makes progress.
    pub(super) fn follow(&mut self, shared: &Shared, cx: &Cx<'_>, next: Next, touches: &[Touch]) {
        if let Some(changed) = changed(cx, touches) {
            self.waves.iter_mut().for_each(|w| w.spin.reset());
            let global = |t: &Touch| t.kind != Kind::Read && matches!(t.space, Path::Global | Path::Scalar);
            if touches[changed..].iter().any(global) {
                self.seen = shared.changes.fetch_add(1, Relaxed) + 1;
            }
            return;
        }
        let back = match next {
            Next::Jump(to) if to as usize <= cx.w.pc => Some(to as usize),
            _ => None,
        };
        self.waves[cx.w.id as usize].spin.step(cx.w, back);
    }

    /// Called after each wave has had a turn. Returns the finding if no wave can continue.
    pub(crate) fn deadlock(
        &mut self,
        shared: &Shared,
        machine: &Machine,
        waves: &[Wave],
    ) -> Option<Box<Finding>> {
        if !shared.has(Sanitize::DEADLOCK) {
            return None;
        }
        let changes = shared.changes.load(Relaxed);
        if self.seen != changes {
            // Another workgroup has changed memory, so this one may continue.
            self.seen = changes;
            self.waves.iter_mut().for_each(|w| w.spin.reset());
            return None;
        }
        let mut running = waves.iter().filter(|w| w.status == Status::Running);
        let stuck = |w: &Wave| self.waves[w.id as usize].spin.stuck;
        let first = running.clone().next()?;
        if !running.all(stuck) {
            return None;
        }
        let other = waves.iter().find(|w| matches!(w.status, Status::AtBarrier(_)));
        Some(Box::new(Finding {
            kind: FindingKind::Deadlock,
            party: self.party_of(machine, first),
            other: other.map(|wave| self.party_of(machine, wave)),
            register: None,
            allocation: None,
            remedy: "neither its workgroup nor one that runs beside it writes what it waits for; a device runs as many \
                     workgroups at a time as fit, and starts others only when these end"
                .to_owned(),
        }))
    }
}
