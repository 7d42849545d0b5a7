//! Detects data races: unordered accesses of different waves to the same bytes.

use std::collections::hash_map::Entry;
use std::ops::Range;

use super::bounds::access_of;
use super::clock::{Thread, WAVES};
use super::lanes::{self, writes};
use super::scope::{Missing, Released, Role, Sync};
use super::shadow::{ByPlace, Epoch, Known, Order, Packed, Shadow, WHOLE, words};
use super::{Global, Group, Shared};
use crate::core::fault::Fault;
use crate::core::finding::{Access, AccessKind, Finding, FindingKind, Party};
use crate::core::gws::{Queued, Until};
use crate::core::machine::{Cx, Step};
use crate::core::site::Site;
use crate::core::trace::{Kind, Path, Touch};
use crate::watch::strict::outstanding::Does;
use gcn_isa::memory_model::Scope;
use gcn_isa::table::{InstDesc, MemBytes};

/// An access that races with an earlier one.
struct Race {
    touch: Touch,
    /// The number of the access among those of its instruction.
    number: usize,
    /// The dword that both instructions access.
    word: u64,
    other: Epoch,
    other_writes: bool,
    /// What the synchronisation lacks, if both accesses would be ordered if every atomic had agent scope.
    missing: Option<Missing>,
    /// True if both instructions write the same value.
    same: bool,
}

impl Race {
    fn kind(&self) -> FindingKind {
        match self.missing {
            _ if self.same => FindingKind::SameValue,
            Some(_) => FindingKind::NarrowScope,
            None if self.touch.space == Path::Lds => FindingKind::LdsRace,
            None => FindingKind::GlobalRace,
        }
    }
}

/// Fewer consecutive dwords than these are added one by one.
const FEW: usize = 8;

/// The accesses of an instruction to one memory, on their way into its shadow.
struct Walk<'a> {
    shadow: &'a mut Shadow,
    released: &'a mut ByPlace<Released>,
    found: &'a mut Vec<Race>,
    thread: Thread,
    /// The number of the wave in its workgroup.
    number: usize,
    scope: Scope,
    /// True if waves of the workgroup may see different values.
    split: bool,
}

impl Walk<'_> {
    /// Adds plain accesses to whole dwords, by the instruction `step`; `runs` are those to consecutive ones.
    fn plain(
        &mut self,
        sync: &Sync,
        (touches, runs): (&[Touch], &[Range<usize>]),
        step: u32,
        hows: &mut Vec<u32>,
    ) {
        let Some(first) = runs.first().map(|run| &touches[run.start]) else { return };
        let (writes, per_touch) = (first.kind != Kind::Read, usize::from(first.bytes / 4));
        // A read of what another wave has stored is looked at more closely if the two may see different values.
        let closely = self.split && !writes;
        let mut known = Known::new(self.thread, (!closely).then_some(&sync.clock));
        let add = |walk: &mut Walk<'_>, number: usize, word: u64, new: Packed| {
            let touch = &touches[number];
            if closely {
                walk.word(sync, (touch, number), step, Order::Plain, (word, WHOLE));
            } else {
                walk.add(sync, (touch, number), word, new);
            }
        };
        let epoch = Epoch { mask: WHOLE, ..self.epoch(sync, first, step, Order::Plain) };
        let of_first = Packed::new(first.address / 4, &epoch);
        let one = |number: usize| of_first.of_lane(touches[number].lane);
        for run in runs {
            let start = touches[run.start].address / 4;
            if run.len() * per_touch < FEW {
                for number in run.clone() {
                    let (first, word) = (one(number), touches[number].address / 4);
                    for dword in 0..per_touch as u32 {
                        let (new, word) = (first.ahead(dword), word + u64::from(dword));
                        if !self.shadow.one(word, new, writes, &mut known) {
                            add(self, number, word, new);
                        }
                    }
                }
                continue;
            }
            hows.clear();
            for number in run.clone() {
                let one = one(number);
                hows.extend((0..per_touch as u32).map(|dword| one.ahead(dword).how()));
            }
            let new = one(run.start);
            let mut done = 0;
            while done < hows.len() {
                let word = start + done as u64;
                let next = hows.len().min(done + Shadow::room(word));
                if !self.shadow.row(word, new, &hows[done..next], writes, &mut known) {
                    for n in done..next {
                        let (new, word) = (new.with(hows[n]), start + n as u64);
                        if !self.shadow.one(word, new, writes, &mut known) {
                            add(self, run.start + n / per_touch, word, new);
                        }
                    }
                }
                done = next;
            }
        }
    }

    /// Adds an access by the instruction `step`.
    fn touch(&mut self, sync: &mut Sync, (touch, number): (&Touch, usize), step: u32, order: Order) {
        let (index, key) = (self.thread / WAVES, touch.address / 4);
        if order == Order::Atomic
            && touch.kind != Kind::Write
            && let Some(released) = self.released.get(&key)
        {
            sync.acquire(released, index, self.number, self.scope);
        }
        for word in words(touch.address, touch.bytes.into()) {
            self.word(sync, (touch, number), step, order, word);
        }
        if touch.kind != Kind::Read && order != Order::Plain {
            let released = self.released.entry(key).or_insert_with(|| Released::nothing(index));
            sync.release(released, index, self.number, self.scope);
        }
    }

    fn epoch(&self, sync: &Sync, touch: &Touch, step: u32, order: Order) -> Epoch {
        let (thread, at, scope) = (self.thread, sync.clock.now(self.number), self.scope);
        let range = (touch.address, touch.bytes);
        Epoch { thread, at, step, lane: touch.lane, range, mask: 0, order, scope }
    }

    fn word(
        &mut self,
        sync: &Sync,
        (touch, number): (&Touch, usize),
        step: u32,
        order: Order,
        (word, mask): (u64, u8),
    ) {
        let epoch = Epoch { mask, ..self.epoch(sync, touch, step, order) };
        if self.split && touch.kind != Kind::Write {
            let Walk { shadow, scope, .. } = self;
            let past = touch.kind == Kind::Atomic || *scope >= Scope::Workgroup;
            let missing = |e: &Epoch| sync.missing_near(e.thread, e.at, past);
            let is_unseen = |e: &Epoch| {
                let atomics = e.are_atomic(&epoch) && e.reach(&epoch);
                sync.clock.knows(e.thread, e.at) && !atomics && missing(e).is_some()
            };
            if let Some(other) = shadow.unseen(word, &epoch, is_unseen) {
                let missing = missing(&other);
                let touch = *touch;
                let race = Race { touch, number, word, other, other_writes: true, missing, same: false };
                self.found.push(race);
            }
        }
        self.add(sync, (touch, number), word, Packed::new(word, &epoch));
    }

    fn add(&mut self, sync: &Sync, (touch, number): (&Touch, usize), word: u64, new: Packed) {
        let writes = touch.kind != Kind::Read;
        if let Some((other, other_writes)) = self.shadow.access(word, new, writes, &sync.clock) {
            let (epoch, touch) = (new.epoch(word), *touch);
            let far = other.group() != self.thread / WAVES;
            let missing = if far { narrow(&epoch, &other) } else { None };
            let missing = missing.or_else(|| sync.missing(other.thread, other.at).filter(|_| far));
            self.found.push(Race { touch, number, word, other, other_writes, missing, same: true });
        }
    }
}

/// A race of a read that a compare-and-swap may show to be harmless: a program may read a value as a guess, which its compare-and-swap then
/// checks. Contains the dword, and the wave that has read it.
pub(super) struct Guess {
    thread: Thread,
    word: u64,
    finding: Finding,
}

impl Shared {
    /// Called at the end of the launch: guesses that no compare-and-swap has checked are reported as races.
    pub(crate) fn end(&self, findings: &mut Vec<Finding>) {
        let mut global = self.global();
        let guesses = std::mem::take(&mut global.guesses).into_iter().map(|guess| guess.finding);
        findings.extend(guesses.filter(|finding| global.is_new(finding, self.limit.max(1))));
        global.count_notes(findings);
    }
}

impl Group {
    pub(super) fn races(
        &mut self,
        shared: &Shared,
        cx: &Cx<'_>,
        step: &Step,
        (touches, runs): (&[Touch], &[Range<usize>]),
    ) -> Result<(), Fault> {
        let number = cx.w.id as usize;
        let thread = self.index * WAVES + cx.w.id;
        let role = shared.code().roles[cx.w.pc];
        let stores = |run: &Range<usize>| stores(&touches[run.start]);
        if runs.iter().any(stores) {
            self.waves[number].sync.before_store(number);
        }
        if runs.len() > 1 && !lanes::are_apart(touches, runs) {
            let orders: Vec<Order> = touches.iter().map(|touch| self.order(step, role, touch)).collect();
            let writes = writes(cx, touches);
            if let Some((earlier, later)) = lanes::conflict(touches, &orders, &writes) {
                self.report(shared, self.lane_race(cx, step, earlier, later))?;
            }
        }
        if swaps(step.inst.desc) {
            // The earlier read was a guess, which this compare-and-swap checks, so it is not a race.
            let mut global = shared.global();
            for (touch, (word, mask)) in
                touches.iter().flat_map(|t| words(t.address, t.bytes.into()).map(move |w| (t, w)))
            {
                global.guesses.retain(|guess| (guess.thread, guess.word) != (thread, word));
                match touch.space {
                    Path::Lds => self.lds.forget_reads(word, mask, thread),
                    _ => global.memory.forget_reads(word, mask, thread),
                }
            }
        }
        let mut global = shared.global();
        let mut found = Vec::new();
        let like = |a: &Range<usize>, b: &Range<usize>| touches[a.start].is_like(&touches[b.start]);
        for runs in runs.chunk_by(like) {
            let touch = touches[runs[0].start];
            let order = self.order(step, role, &touch);
            if touch.space == Path::Scratch {
                continue;
            }
            let Global { memory, released, .. } = &mut *global;
            let lds = touch.space == Path::Lds;
            let (shadow, released) = match lds {
                true => (&mut self.lds, &mut self.released),
                false => (memory, released),
            };
            // All accesses to LDS have workgroup scope.
            let scope = if lds { Scope::Workgroup } else { role.scope };
            let split = shared.code().rules.is_split() && touch.space == Path::Global;
            let sync = &mut self.waves[number].sync;
            let mut walk = Walk { shadow, released, found: &mut found, thread, number, scope, split };
            let at = cx.w.pc as u32;
            let is_whole =
                |run: &Range<usize>| (touches[run.start].address | u64::from(touch.bytes)).is_multiple_of(4);
            if order == Order::Plain && runs.iter().all(is_whole) {
                walk.plain(sync, (touches, runs), at, &mut self.hows);
            } else {
                runs.iter().cloned().flatten().for_each(|n| walk.touch(sync, (&touches[n], n), at, order));
            }
        }
        drop(global);
        // The values that were written and replaced, if a race needs them.
        let mut values = None;
        for mut race in found {
            if race.other_writes && race.other.order != Order::Atomic {
                let written = values.get_or_insert_with(|| writes(cx, touches))[race.number];
                race.same &= written.is_some_and(|write| write.before() == write.after());
            } else {
                race.same = false;
            }
            let word = race.word;
            match self.guesser(cx, thread, step, &race) {
                Some(thread) => {
                    let is_new = |g: &Guess| (g.thread, g.word) != (thread, word);
                    if shared.global().guesses.iter().all(is_new) {
                        let finding = self.race(shared, cx, step, &race);
                        shared.global().guesses.push(Guess { thread, word, finding });
                    }
                }
                // Most findings are for pairs of instructions that are known: they need no text.
                None if self.is_known(shared, step, &race, cx) => {}
                None => self.report(shared, self.race(shared, cx, step, &race))?,
            }
        }
        Ok(())
    }

    /// True if a finding for the two instructions of this race would not be kept.
    fn is_known(&self, shared: &Shared, step: &Step, race: &Race, cx: &Cx<'_>) -> bool {
        let other = cx.machine.steps()[race.other.step as usize].offset;
        shared.limit > 0 && shared.global().keeps_no(race.kind(), step.offset, Some(other), shared.limit)
    }

    /// The wave whose read races with another wave's compare-and-swap, if the reading wave may check the value later with a
    /// compare-and-swap; otherwise `None`.
    fn guesser(&self, cx: &Cx<'_>, thread: Thread, step: &Step, race: &Race) -> Option<Thread> {
        let other = &cx.machine.steps()[race.other.step as usize].inst;
        match (race.touch.kind, race.other_writes) {
            (Kind::Read, true) => swaps(other.desc).then_some(thread),
            (Kind::Atomic, false) => swaps(step.inst.desc).then_some(race.other.thread),
            _ => None,
        }
    }

    /// After a barrier, moves outstanding accesses into the new interval, because they may take place after the barrier.
    pub(super) fn move_outstanding(&mut self, shared: &Shared) {
        for (number, state) in self.waves.iter_mut().enumerate() {
            let (thread, at) = (self.index * WAVES + number as u32, state.sync.clock.now(number));
            for (access, _) in state.outstanding.meet() {
                let alone = access.touches.iter().all(|t| t.lane == access.touches[0].lane);
                for touch in &access.touches {
                    let order = order_of(touch, false, access.does == Does::Write && alone);
                    for (word, mask) in words(touch.address, touch.bytes.into()) {
                        let (step, lane, scope) = (access.at as u32, touch.lane, Scope::Workgroup);
                        let range = (touch.address, touch.bytes);
                        let epoch = Epoch { thread, at, step, lane, range, mask, order, scope };
                        let (is_write, clock) = (touch.kind != Kind::Read, &state.sync.clock);
                        match touch.space {
                            Path::Lds => self.lds.access(word, Packed::new(word, &epoch), is_write, clock),
                            _ => {
                                let new = Packed::new(word, &epoch);
                                shared.global().memory.access(word, new, is_write, clock)
                            }
                        };
                    }
                }
            }
        }
    }

    /// Called when a wave executes an instruction of global wave sync, which acts as an atomic of agent scope on its resource. If `queued`,
    /// the wave has to wait.
    pub(super) fn meets(
        &mut self,
        shared: &Shared,
        number: usize,
        (mnemonic, resource): (&'static str, u8),
        queued: bool,
    ) {
        let (index, sync) = (self.index, &mut self.waves[number].sync);
        let released = &mut shared.global().released;
        let released = match released.entry(resource_key(resource)) {
            Entry::Occupied(before) => {
                let before = before.into_mut();
                if !queued {
                    sync.acquire_met(before, index, number, mnemonic);
                }
                before
            }
            Entry::Vacant(place) => place.insert(Released::nothing(index)),
        };
        sync.release(released, index, number, Scope::Agent);
    }

    /// Called when a wave that waited for a resource continues.
    pub(crate) fn released(&mut self, shared: &Shared, number: usize, queued: Queued) {
        let (mnemonic, resource) = match queued.until() {
            Until::Barrier { resource, .. } => ("ds_gws_barrier", resource),
            Until::Semaphore { resource } => ("ds_gws_sema_p", resource),
        };
        if let Some(released) = shared.global().released.get(&resource_key(resource)) {
            self.waves[number].sync.acquire_met(released, self.index, number, mnemonic);
        }
    }

    /// How an access is ordered with respect to others. Loads and stores that bypass the near caches count as atomic. On targets whose
    /// encoding does not distinguish atomic stores, a store directly after the waits of a release may be atomic ([`Order::Release`]).
    fn order(&self, step: &Step, role: Role, touch: &Touch) -> Order {
        let mods = &step.inst.mods;
        let bypasses = (mods.glc || mods.scc || mods.scope > 0) && touch.space == Path::Global;
        let releases = role.releases && touch.space == Path::Global;
        order_of(touch, bypasses, releases || self.exec.count_ones() == 1)
    }

    fn race(&self, shared: &Shared, cx: &Cx<'_>, step: &Step, race: &Race) -> Finding {
        let Race { touch, other, other_writes, missing, .. } = race;
        let kind = race.kind();
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
            access: Some(Access {
                kind: other_kind,
                address: other.range.0,
                bytes: other.range.1.into(),
                ..access_of(touch)
            }),
        });
        finding.remedy = match missing {
            _ if race.same => "the result is the same in any order".to_owned(),
            Some(missing) => shared.code().rules.remedy(*missing),
            None if group == self.index => {
                "put s_barrier between the two, with the waits before it, or make both atomic".to_owned()
            }
            None => "workgroups are not ordered: use atomics, or two kernels".to_owned(),
        };
        finding
    }
}

/// True if the access writes global memory.
pub(super) fn stores(touch: &Touch) -> bool {
    touch.kind != Kind::Read && matches!(touch.space, Path::Global | Path::Scalar)
}

/// How an access is ordered. `bypasses`: the access bypasses the near caches. `may_be`: it is a store that may be atomic.
fn order_of(touch: &Touch, bypasses: bool, may_be: bool) -> Order {
    if touch.kind == Kind::Atomic || bypasses {
        Order::Atomic
    } else if touch.kind == Kind::Write && may_be {
        Order::Release
    } else {
        Order::Plain
    }
}

/// True for a compare-and-swap, whose data operand has twice the size of the memory that it updates.
fn swaps(desc: &InstDesc) -> bool {
    let MemBytes::Bytes(bytes) = desc.mem_bytes else { return false };
    let data = desc.operands.iter().filter(|o| matches!(o.name, "vdata" | "data0" | "data1"));
    desc.class.is_atomic() && data.map(|o| 4 * u32::from(o.dwords)).sum::<u32>() == 2 * u32::from(bytes)
}

/// The key under which the clocks of a resource of global wave sync are stored in the map for words of global memory.
fn resource_key(resource: u8) -> u64 {
    u64::MAX - u64::from(resource)
}

/// The missing synchronisation if two accesses by different workgroups are atomic at workgroup scope only. Before gfx942, a load without
/// cache bits may be such an access.
fn narrow(one: &Epoch, other: &Epoch) -> Option<Missing> {
    let workgroup = |e: &Epoch| e.scope == Scope::Workgroup;
    let may_be = one.order.max(other.order) == Order::Atomic && (workgroup(one) || workgroup(other));
    let both = one.are_atomic(other) || may_be;
    (both && !one.reach(other)).then_some(Missing::Bits)
}
