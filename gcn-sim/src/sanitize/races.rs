//! Data races: accesses of different waves to the same bytes that nothing orders.

use super::bounds::access_of;
use super::clock::WAVES;
use super::scope::Missing;
use super::shadow::{Epoch, Order, words};
use super::{Access, AccessKind, Finding, FindingKind, Global, Group, Party, Shared};
use crate::error::Site;
use crate::exec::{Cx, Fault, Kind, Path, Touch};
use crate::gws::Queued;
use crate::step::Step;
use gcn_isa::memory_model::Scope;

/// An access that races with an earlier one.
struct Race {
    touch: Touch,
    other: Epoch,
    other_writes: bool,
    /// What would order the two if it were of agent scope.
    missing: Option<Missing>,
}

impl Group {
    pub(super) fn races(
        &mut self,
        shared: &Shared,
        cx: &Cx<'_>,
        step: &Step,
        touches: &[Touch],
    ) -> Result<(), Fault> {
        let number = cx.w.id as usize;
        let (thread, index) = (self.index * WAVES + cx.w.id, self.index);
        let role = shared.roles[cx.w.pc];
        let orders: Vec<Order> = touches.iter().map(|touch| self.order(step, touch)).collect();
        let stores = |t: &Touch| t.kind != Kind::Read && matches!(t.space, Path::Global | Path::Scalar);
        if touches.iter().any(stores) {
            self.waves[number].sync.before_store(number);
        }
        let mut found = Vec::new();
        let mut global = shared.global();
        let Global { memory, released, .. } = &mut *global;
        for (touch, &order) in touches.iter().zip(&orders).filter(|(t, _)| t.space != Path::Scratch) {
            let lds = touch.space == Path::Lds;
            let sync = &mut self.waves[number].sync;
            let (shadow, released) = match lds {
                true => (&mut self.lds, &mut self.released),
                false => (&mut *memory, &mut *released),
            };
            // LDS is the workgroup's.
            let scope = if lds { Scope::Workgroup } else { role.scope };
            let key = touch.address / 4;
            if order == Order::Atomic
                && touch.kind != Kind::Write
                && let Some(released) = released.get(&key)
            {
                sync.acquire(released, index, number, scope);
            }
            let at = sync.clock.now(number);
            for (word, mask) in words(touch.address, u32::from(touch.bytes)) {
                let (step, lane) = (cx.w.pc as u32, touch.lane);
                let epoch = Epoch { thread, at, step, lane, mask, order, scope };
                if let Some((other, other_writes)) =
                    shadow.access(word, epoch, touch.kind != Kind::Read, &sync.clock)
                {
                    let far = other.group() != index;
                    let missing = if far { narrow(&epoch, &other) } else { None };
                    let missing = missing.or_else(|| sync.missing(other.thread, other.at).filter(|_| far));
                    found.push(Race { touch: *touch, other, other_writes, missing });
                }
            }
            if touch.kind != Kind::Read && order != Order::Plain {
                let before = released.remove(&key);
                released.insert(key, sync.release(before, index, number, scope));
            }
        }
        drop(global);
        for race in found {
            let finding = self.race(shared, cx, step, &race);
            self.report(shared, finding)?;
        }
        Ok(())
    }

    /// Behind a barrier: the reads of LDS that are outstanding are yet to happen.
    pub(super) fn move_late_reads(&mut self) {
        for (number, state) in self.waves.iter_mut().enumerate() {
            let (thread, at) = (self.index * WAVES + number as u32, state.sync.clock.now(number));
            for (read, _) in state.reads.outstanding(&state.counters) {
                for touch in &read.touches {
                    for (word, mask) in words(touch.address, u32::from(touch.bytes)) {
                        let (step, lane) = (read.at as u32, touch.lane);
                        let (order, scope) = (Order::Plain, Scope::Workgroup);
                        let epoch = Epoch { thread, at, step, lane, mask, order, scope };
                        self.lds.access(word, epoch, false, &state.sync.clock);
                    }
                }
            }
        }
    }

    /// A wave executes an instruction of global wave sync, which is an atomic of agent scope on its resource; it waits if it
    /// is `queued`.
    pub(super) fn meets(&mut self, shared: &Shared, number: usize, resource: u8, queued: bool) {
        let (index, sync) = (self.index, &mut self.waves[number].sync);
        let released = &mut shared.global().released;
        let before = released.remove(&resource_key(resource));
        if let Some(before) = before.as_ref().filter(|_| !queued) {
            sync.acquire_waited(before, index, number);
        }
        let made = sync.release(before, index, number, Scope::Agent);
        released.insert(resource_key(resource), made);
    }

    /// A wave that waited at a resource goes on.
    pub(crate) fn released(&mut self, shared: &Shared, number: usize, queued: Queued) {
        let (Queued::Barrier { resource, .. } | Queued::Semaphore { resource }) = queued;
        if let Some(released) = shared.global().released.get(&resource_key(resource)) {
            self.waves[number].sync.acquire_waited(released, self.index, number);
        }
    }

    /// How an access orders itself against others. Loads and stores that bypass the nearer caches are taken to be atomic;
    /// before gfx942 atomic stores look like any other.
    fn order(&self, step: &Step, touch: &Touch) -> Order {
        let mods = &step.inst.mods;
        let bypasses = (mods.glc || mods.scc) && touch.space == Path::Global;
        if touch.kind == Kind::Atomic || bypasses {
            Order::Atomic
        } else if touch.kind == Kind::Write && self.exec.count_ones() == 1 {
            Order::Release
        } else {
            Order::Plain
        }
    }

    fn race(&self, shared: &Shared, cx: &Cx<'_>, step: &Step, race: &Race) -> Finding {
        let Race { touch, other, other_writes, missing } = race;
        let kind = match missing {
            Some(_) => FindingKind::NarrowScope,
            None if touch.space == Path::Lds => FindingKind::LdsRace,
            None => FindingKind::GlobalRace,
        };
        let mut finding = self.finding(kind, cx, step, touch.lane, Some(access_of(touch)));
        let [x, y, _] = self.grid;
        let group = other.group();
        let first = &cx.machine.steps()[other.step as usize];
        let other_kind = match (other.order, other_writes) {
            (Order::Atomic, true) => AccessKind::Atomic,
            (_, true) => AccessKind::Write,
            (_, false) => AccessKind::Read,
        };
        finding.other = Some(Party {
            site: Site {
                workgroup: [group % x, group / x % y, group / x / y],
                wave: other.wave(),
                offset: first.offset,
                text: cx.machine.text(&first.inst),
                line: cx.machine.line_text(first.offset),
            },
            lane: other.lane,
            access: Some(Access { kind: other_kind, ..access_of(touch) }),
        });
        finding.remedy = match missing {
            Some(missing) => shared.rules.remedy(*missing),
            None if group == self.index => {
                "put s_barrier between the two, with the waits before it, or make both atomic".to_owned()
            }
            None => "workgroups are not ordered: use atomics, or two kernels".to_owned(),
        };
        finding
    }
}

/// What stands for a resource of global wave sync among the words of global memory.
fn resource_key(resource: u8) -> u64 {
    u64::MAX - u64::from(resource)
}

/// Accesses of different workgroups that are atomic, but for a workgroup only. Before gfx942 a load without bits may be one.
fn narrow(one: &Epoch, other: &Epoch) -> Option<Missing> {
    let workgroup = |e: &Epoch| e.scope == Scope::Workgroup;
    let may_be = one.order.max(other.order) == Order::Atomic && (workgroup(one) || workgroup(other));
    let both = one.are_atomic(other) || may_be;
    (both && !one.reach(other)).then_some(Missing::Bits)
}
