//! Propagates undefined bits through memory.
//!
//! Undefined bits that are written to scratch, which only their lane sees, are tracked there. Bytes of scratch and LDS are undefined until
//! they are written. Other memory contains only defined bytes, because a write of undefined bits is reported. The instruction runs on the
//! separate wave to determine which bits it transfers: a store only records its writes, and a load reads from memory that contains masks of
//! undefined bits instead of values.

use gcn_isa::Inst;
use gcn_isa::table::MemBytes;

use super::corners::{Aside, Places};
use super::info::Source;
use super::{Bits, Changes, Info, Undefined, Word};
use crate::core::fault::Fault;
use crate::core::machine::{Cx, Step};
use crate::core::trace::{Kind, Path, Touch, Trace};

/// An instruction that has accessed memory.
pub(in crate::watch::sanitize) struct Access<'a> {
    pub step: &'a Step,
    pub inst: &'a Inst,
    pub info: &'a Info,
    pub touches: &'a [Touch],
    /// The value of EXEC when the instruction executed.
    pub exec: u64,
    /// The addresses of the uninitialised bytes of LDS that the instruction has read.
    pub unwritten: &'a [u64],
}

/// For each access of a store, the undefined bits that it writes.
type Stored = Vec<u128>;

impl Bits {
    /// Applies the effects of a memory instruction to the undefined bits of registers and scratch. Returns the first undefined bits that it
    /// has written to memory that others see, if any.
    pub(in crate::watch::sanitize) fn memory(
        &mut self,
        cx: &Cx<'_>,
        access: &Access<'_>,
        aside: &mut Aside,
    ) -> Result<Option<Undefined>, Fault> {
        let stored = self.stored(cx, access, aside)?;
        let found = self.report(cx, access, stored.as_ref());
        if !self.scratch.is_empty() {
            for (n, touch) in access.touches.iter().enumerate() {
                self.scratch.write(touch, stored.as_ref().map_or(0, |stored| stored[n]));
            }
        }
        Ok(found)
    }

    /// The undefined bits that each access of a store writes; `None` if there are none.
    fn stored(&self, cx: &Cx<'_>, access: &Access<'_>, aside: &mut Aside) -> Result<Option<Stored>, Fault> {
        let data = || access.info.sources.iter().filter(|s| s.data);
        let seen = |word: Word| {
            self.lanes(word) & if matches!(word, Word::Vector(_)) { access.exec } else { u64::MAX }
        };
        let lanes = data().flat_map(Source::words).fold(0, |all, word| all | seen(word));
        if lanes == 0 || access.touches.iter().all(|t| t.kind == Kind::Read) {
            return Ok(None);
        }
        let in_lane = |touch: &Touch| touch.lane.is_none_or(|lane| lanes >> lane & 1 == 1);
        let converts = matches!(access.inst.desc.mem_bytes, MemBytes::FormatComponents(_));
        if converts || access.touches.iter().any(|t| t.kind == Kind::Atomic) {
            let all = |t: &Touch| if t.kind != Kind::Read && in_lane(t) { u128::MAX } else { 0 };
            return Ok(Some(access.touches.iter().map(all).collect()));
        }
        // Runs the store once with the undefined bits set to 0 and once with them set to 1, and only records its writes.
        let places = Places::of(access.info, access.step, self);
        let mut records = Vec::new();
        for filled in [0, u32::MAX] {
            let mut trace = Trace { stored: Some(Vec::new()), lenient: true, ..Trace::default() };
            aside.fill(cx, (&places, self), |_, _, now, undefined| now & !undefined | filled & undefined);
            aside.run(cx, (access.info, access.step, access.inst), Some(&mut trace))?;
            records.push(trace.stored.unwrap_or_default());
        }
        let mut stored = vec![0; access.touches.len()];
        for (a, b) in records[0].iter().zip(&records[1]) {
            let is = |t: &&Touch| {
                t.kind == Kind::Write && (t.lane, t.address, t.bytes) == (a.0.lane, a.0.address, a.0.bytes)
            };
            if let Some(at) = access.touches.iter().position(|t| is(&t)) {
                stored[at] = a.1 ^ b.1;
            }
        }
        Ok(stored.iter().any(|bits| *bits != 0).then_some(stored))
    }

    /// The first undefined bits that the store writes to memory that others see, if any.
    fn report(&mut self, cx: &Cx<'_>, access: &Access<'_>, stored: Option<&Stored>) -> Option<Undefined> {
        let visible = |(touch, bits): &(&Touch, &u128)| **bits != 0 && touch.space != Path::Scratch;
        let (touch, _) = access.touches.iter().zip(stored?).find(visible)?;
        let data = access.info.sources.iter().filter(|s| s.data);
        let lane = usize::from(touch.lane.unwrap_or(0));
        let word = data.flat_map(Source::words).find(|word| self.bits(*word, lane) != 0)?;
        let found = Undefined::at(cx, word, touch.lane, "it is written to memory");
        let data = access.info.sources.iter().filter(|s| s.data);
        for word in data.flat_map(Source::words).collect::<Vec<_>>() {
            self.define(word, access.exec);
        }
        Some(found)
    }

    /// Prepares a load on the separate wave. Does so only if the effect of the load on undefined bits may be needed and the load cannot be
    /// prepared after it has executed. With `lds`, also prepares loads from LDS.
    pub(in crate::watch::sanitize) fn begin_load(
        &self,
        cx: &Cx<'_>,
        (info, step): (&Info, &Step),
        aside: &mut Aside,
        lds: bool,
    ) -> Option<Places> {
        let undefined = |word: Word| self.lanes(word) & cx.w.exec() != 0;
        let kept = info.merges && info.results.iter().any(|r| r.words().any(undefined));
        (info.loads && kept || self.must_prepare(info, lds)).then(|| self.beside(cx, (info, step), aside))
    }

    /// True if a load overwrites its own address, so that it can be prepared on the separate wave only before it executes.
    pub(in crate::watch::sanitize) fn must_prepare(&self, info: &Info, lds: bool) -> bool {
        let scratch = info.may_be_scratch && !self.scratch.is_empty();
        info.loads && info.overwrites_source && (lds || scratch)
    }

    /// True if any of the accesses is to scratch.
    pub(in crate::watch::sanitize) fn concern(&self, touches: &[Touch]) -> bool {
        self.scratch.concern(touches)
    }

    /// Prepares a load on the separate wave: its sources have their actual values, and its destination contains undefined bits.
    fn beside(&self, cx: &Cx<'_>, (info, step): (&Info, &Step), aside: &mut Aside) -> Places {
        let places = Places::of(info, step, self);
        aside.fill(
            cx,
            (&places, self),
            |place, _, now, undefined| {
                if places.is_written(place) { undefined } else { now }
            },
        );
        places
    }

    /// The undefined bits that a memory instruction has loaded into registers.
    pub(in crate::watch::sanitize) fn load(
        &mut self,
        cx: &Cx<'_>,
        access: &Access<'_>,
        aside: &mut Aside,
        places: Option<Places>,
    ) -> Result<Changes, Fault> {
        let mut changes = Changes::default();
        let finds = self.scratch.finds_any(access.touches);
        let padding = if finds { self.scratch.hide_padding(access.touches) } else { Vec::new() };
        let scratch = finds && access.info.loads && self.scratch.find(access.touches);
        let known = access.info.merges && places.is_some() || !access.unwritten.is_empty();
        if scratch || known {
            // A load that does not overwrite its address can be prepared after it has executed.
            let places = places.unwrap_or_else(|| self.beside(cx, (access.info, access.step), aside));
            self.run_on_bits(cx, access, aside, &places, &mut changes)?;
            self.scratch.show(&padding);
            return Ok(changes);
        }
        self.scratch.show(&padding);
        for result in &access.info.results {
            let vector = matches!(result.first, Word::Vector(_));
            result.words().for_each(|word| changes.define(word, if vector { access.exec } else { u64::MAX }));
        }
        Ok(changes)
    }

    /// Runs a load from memory that contains undefined bits instead of values: from scratch, or from uninitialised LDS.
    fn run_on_bits(
        &mut self,
        cx: &Cx<'_>,
        access: &Access<'_>,
        aside: &mut Aside,
        places: &Places,
        changes: &mut Changes,
    ) -> Result<(), Fault> {
        aside.wave.scratch = std::mem::take(self.scratch.bits());
        aside.lds = vec![0; cx.lds.len()];
        for address in access.unwritten {
            if let Some(byte) = aside.lds.get_mut(*address as usize) {
                *byte = u8::MAX;
            }
        }
        let mut trace = Trace { lenient: true, ..Trace::default() };
        let ran = aside.run(cx, (access.info, access.step, access.inst), Some(&mut trace));
        *self.scratch.bits() = std::mem::take(&mut aside.wave.scratch);
        ran?;
        changes.words.extend(aside.results(places));
        Ok(())
    }
}
