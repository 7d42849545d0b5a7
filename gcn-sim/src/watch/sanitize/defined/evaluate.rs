//! The effect of an instruction on undefined bits.

use gcn_isa::dataflow::Flow;
use gcn_isa::table::Class;
use gcn_isa::{Inst, Operand};
use smallvec::SmallVec;

use super::corners::Aside;
use super::info::{Info, Kind, Source, Written};
use super::now::Now;
use super::{Bits, Word, matrix, value};
use crate::core::fault::Fault;
use crate::core::machine::Step;
use crate::core::permutation::Permutation;
use crate::core::value::{LANES, lanes};
use crate::core::wave::Lanes;
use crate::semantics::valu::write::write_mask;

/// The changes to undefined bits, to be applied after the instruction has executed.
#[derive(Default)]
pub(in crate::watch::sanitize) struct Changes {
    /// Registers whose bits become defined, each with the lanes in which they do.
    defined: SmallVec<[(Word, u64); 4]>,
    /// Registers with their new undefined bits.
    pub(super) words: Vec<(Word, Lanes)>,
    scc: Option<bool>,
}

impl Changes {
    pub(super) fn define(&mut self, word: Word, lanes: u64) {
        self.defined.push((word, lanes));
    }

    /// These changes and those of another instruction that executes at the same time.
    fn and(mut self, other: Changes) -> Changes {
        self.defined.extend(other.defined);
        self.words.extend(other.words);
        Changes { scc: self.scc.or(other.scc), ..self }
    }

    /// A lane of EXEC that becomes undefined; `None` if there is none.
    pub(in crate::watch::sanitize) fn exec(&self) -> Option<u8> {
        let half = |word: &Word| match word {
            Word::Scalar(number @ 126..128) => Some(*number as u32 - 126),
            _ => None,
        };
        let undefined = |(word, bits): &(Word, Lanes)| {
            half(word).filter(|_| bits[0] != 0).map(|half| (32 * half + bits[0].trailing_zeros()) as u8)
        };
        self.words.iter().find_map(undefined)
    }

    pub(in crate::watch::sanitize) fn apply(self, bits: &mut Bits) {
        for (word, lanes) in self.defined {
            bits.define(word, lanes);
        }
        for (word, undefined) in &self.words {
            bits.set(*word, undefined);
        }
        bits.scc = self.scc.unwrap_or(bits.scc);
    }
}

impl Now<'_, '_> {
    fn all(&self) -> (&Info, &Step, &Inst) {
        (self.info, self.step, self.inst)
    }

    /// The lanes in which the instruction uses undefined bits of a source.
    fn undefined_lanes(&self, source: &Source) -> u64 {
        let word = |all: u64, word: Word| all | self.bits.lanes(word);
        match source.first {
            Word::Scalar(first) if source.mask => self.mask_bits(first) & self.cx.w.exec(),
            _ => source.words().fold(0, word) & self.seen(source),
        }
    }

    /// The lanes of a source that the instruction may use.
    fn seen(&self, source: &Source) -> u64 {
        let vector = matches!(source.first, Word::Vector(_));
        if vector && !self.info.crosses { self.cx.w.exec() } else { u64::MAX }
    }

    /// The undefined bits of a lane mask.
    fn mask_bits(&self, first: usize) -> u64 {
        let half = |number: usize| u64::from(self.bits.bits(Word::Scalar(number), 0));
        half(first) | half(first + 1) << 32
    }

    /// The undefined bits of the results, given those of the sources. Memory instructions are handled separately.
    pub(in crate::watch::sanitize) fn changes(&self, aside: &mut Aside) -> Result<Changes, Fault> {
        let info = self.info;
        if let Some(halves) = &info.halves {
            // Both halves read their sources before either writes its result.
            let [x, y] = &**halves;
            let half = |(info, step): &'_ (Info, Step), aside: &mut Aside| {
                Now { info, step, inst: &step.inst, cx: self.cx, bits: self.bits }.changes(aside)
            };
            return Ok(half(x, aside)?.and(half(y, aside)?));
        }
        let mut changes = Changes::default();
        match info.kind {
            Kind::Computes => {}
            Kind::Matrix => return Ok(self.matrix()),
            Kind::Memory | Kind::Nothing => return Ok(changes),
            Kind::Decides => {
                info.results.iter().flat_map(Written::words).for_each(|word| changes.define(word, u64::MAX));
                return Ok(changes);
            }
        }
        let undefined = info.reads_scc && self.bits.scc
            || info.sources.iter().any(|source| self.undefined_lanes(source) != 0);
        if !undefined && self.defines(&mut changes) {
            return Ok(changes);
        }
        match info.flow {
            Flow::Bits | Flow::Up => self.by_corners(aside, undefined, &mut changes)?,
            Flow::Equal => self.equal(&mut changes),
            Flow::All => self.by_parts(aside, &mut changes)?,
        }
        if info.writes_scc && changes.scc.is_none() {
            changes.scc = Some(undefined);
        }
        Ok(changes)
    }

    /// Handles the case that all sources are defined. Returns false if the result depends on the kept part of a destination.
    fn defines(&self, changes: &mut Changes) -> bool {
        let info = self.info;
        // Of other permutations, it is not known which lanes they write.
        let permutes = self.step.dpp.is_some() || self.inst.desc.class == Class::LdsPermute;
        let partly = info.crosses && !permutes || info.keeps;
        for result in &info.results {
            for word in result.words() {
                let vector = matches!(word, Word::Vector(_));
                match self.bits.lanes(word) {
                    0 => {}
                    _ if vector && partly => return false,
                    _ => changes.define(word, if vector { self.written() } else { u64::MAX }),
                }
            }
        }
        changes.scc = info.writes_scc.then_some(false);
        true
    }

    fn written(&self) -> u64 {
        write_mask(self.cx, self.step)
    }

    /// Handles instructions in which each bit of the result depends on few bits of the sources.
    fn by_corners(&self, aside: &mut Aside, undefined: bool, changes: &mut Changes) -> Result<(), Fault> {
        let info = self.info;
        let mut outcome = aside.corners(self.cx, self.all(), self.bits)?;
        if info.writes_scc {
            changes.scc = Some(match outcome.words.last() {
                _ if info.flow == Flow::Up => undefined,
                None => outcome.scc,
                // SCC is set if the result is not 0, so a single bit of the result that is certainly 1 determines SCC.
                Some(_) => {
                    let last = info.results.last().map_or(0, |r| usize::from(r.reg.len));
                    let result = &outcome.words[outcome.words.len() - last.min(outcome.words.len())..];
                    let certain = result.iter().any(|(_, differ, value)| value[0] & !differ[0] != 0);
                    !certain && result.iter().any(|(_, differ, _)| differ[0] != 0)
                }
            });
        }
        let control: u64 =
            info.sources.iter().filter(|s| s.control).fold(0, |all, s| all | self.undefined_lanes(s));
        if control != 0 && info.writes_scc {
            changes.scc = Some(true);
        }
        // The lanes after DPP has permuted them.
        let any = info.sources.iter().fold(0, |all, source| all | self.reads_bits(source, u64::MAX));
        let mut words = outcome.words.drain(..);
        for result in &info.results {
            let mut differ: Vec<(Word, Lanes)> = words
                .by_ref()
                .take(usize::from(result.reg.len))
                .map(|(word, bits, _)| (word, bits))
                .collect();
            let vector = matches!(result.first, Word::Vector(_));
            if result.mask {
                differ = self.mask(result, any);
            } else if info.flow == Flow::Up && undefined {
                self.spread(vector, &mut differ);
            }
            if control != 0 {
                let address = info.sources.iter().find(|s| s.control).and_then(|s| s.operand);
                let permutes = self.inst.desc.class == Class::LdsPermute;
                let reached = match vector {
                    true if permutes => {
                        aside.reached(self.cx, self.all(), self.bits, address.unwrap_or_default())?
                    }
                    true if info.crosses => u64::MAX,
                    true => control & self.written(),
                    false => u64::MAX,
                };
                for (_, bits) in &mut differ {
                    lanes(reached).for_each(|lane| bits[lane] = u32::MAX);
                }
            }
            changes.words.append(&mut differ);
        }
        Ok(())
    }

    /// Carries propagate upwards: makes all bits of a part undefined from its lowest undefined bit on.
    fn spread(&self, vector: bool, differ: &mut [(Word, Lanes)]) {
        let whole = [u64::MAX];
        let parts: Vec<u64> = self.info.parts.iter().map(|p| p.result).filter(|_| vector).collect();
        let parts = if parts.is_empty() { &whole[..] } else { &parts[..] };
        for lane in lanes(if vector { self.written() } else { 1 }) {
            for pair in differ.chunks_mut(2) {
                let mut bits =
                    u64::from(pair[0].1[lane]) | pair.get(1).map_or(0, |high| u64::from(high.1[lane]) << 32);
                for part in parts {
                    let lowest = bits & part;
                    bits |= part
                        & !(lowest & lowest.wrapping_neg()).wrapping_sub(1)
                        & if lowest == 0 { 0 } else { u64::MAX };
                }
                for (half, word) in pair.iter_mut().enumerate() {
                    let now = (bits >> (32 * half)) as u32;
                    match vector {
                        true => word.1[lane] = now,
                        false => word.1 = [now; LANES],
                    }
                }
            }
        }
    }

    /// The undefined bits of a lane mask, for a mask result whose bits are undefined in the given lanes.
    fn mask(&self, result: &Written, undefined: u64) -> Vec<(Word, Lanes)> {
        let undefined = undefined & self.cx.w.exec();
        let half = |(i, word): (usize, Word)| (word, [(undefined >> (32 * i)) as u32; LANES]);
        result.words().enumerate().map(half).collect()
    }

    /// Handles comparisons for equality, whose result is certain if any pair of defined bits differs.
    fn equal(&self, changes: &mut Changes) {
        let info = self.info;
        let mut undefined: u64 = (0..2).fold(0, |all, role| all | self.reads(role, |bits| bits));
        if self.inst.mods.sdwa.is_none() && self.inst.mods.op_sel == 0 {
            let [a, b] = [0, 1].map(|role| self.operand(role));
            for (a, b) in a.into_iter().flatten().zip(b.into_iter().flatten()) {
                let mask = info.parts.first().map_or(u32::MAX, |part| part.sources[0] as u32);
                for lane in 0..LANES {
                    let decided = (a.0[lane] ^ b.0[lane]) & !(a.1[lane] | b.1[lane]) & mask;
                    undefined &= !(u64::from(decided != 0) << lane);
                }
            }
        }
        changes.scc = info.writes_scc.then_some(undefined & 1 != 0);
        for result in &info.results {
            changes.words.append(&mut self.mask(result, undefined));
        }
    }

    /// The values and the undefined bits of each dword of source `role`; `None` for a constant whose width matters.
    fn operand(&self, role: usize) -> Option<Vec<(Lanes, Lanes)>> {
        if let Some(source) = self.info.sources.iter().find(|s| s.role == Some(role)) {
            return Some(source.words().map(|word| (value(self.cx, word), self.bits.all(word))).collect());
        }
        let name = [["src0", "ssrc0"], ["src1", "ssrc1"]][role];
        let at = self.inst.desc.operands.iter().position(|o| name.contains(&o.name))?;
        let bits = match self.inst.operands[at] {
            Operand::Inline(inline) => inline.bits32(),
            Operand::Literal(bits) => bits,
            _ => return None,
        };
        (self.inst.desc.operands[at].dwords == 1).then(|| vec![([bits; LANES], [0; LANES])])
    }

    /// The lanes in which source `role` has an undefined bit that the instruction uses. `mask` selects these bits among those that the
    /// instruction's parts read. DPP is taken into account.
    fn reads(&self, role: usize, mask: impl Fn(u64) -> u64) -> u64 {
        let parts = &self.info.parts;
        let read = parts.iter().fold(0, |all, part| all | part.sources[role]);
        let read = mask(if parts.is_empty() { u64::MAX } else { read });
        let Some(source) = self.info.sources.iter().find(|s| s.role == Some(role)) else { return 0 };
        self.reads_bits(source, read)
    }

    /// The lanes in which a source has an undefined bit; `read` selects the bits of each 64 bits that count.
    fn reads_bits(&self, source: &Source, read: u64) -> u64 {
        if source.mask {
            return self.undefined_lanes(source);
        }
        let mut lanes_with = 0;
        for (i, word) in source.words().enumerate() {
            let read = (read >> (32 * (i % 2))) as u32;
            if read == 0 || self.bits.lanes(word) == 0 {
                continue;
            }
            let mut bits = self.bits.all(word);
            if let (Some(0), Some(dpp)) = (source.role, Permutation::of(self.inst)) {
                bits = dpp.of_words(self.cx.w.exec(), &bits);
            }
            let lane = |all: u64, (lane, bits): (usize, &u32)| all | u64::from(bits & read != 0) << lane;
            lanes_with |= bits.iter().enumerate().fold(0, lane);
        }
        lanes_with & if self.inst.desc.format.is_vop() { self.cx.w.exec() } else { u64::MAX }
    }

    /// Handles instructions in which each part of the result depends on all bits that the part reads.
    fn by_parts(&self, aside: &mut Aside, changes: &mut Changes) -> Result<(), Fault> {
        let info = self.info;
        let kept = if info.keeps && !info.parts.iter().any(|p| p.accumulates) {
            aside.kept(self.cx, self.all(), self.bits)?
        } else {
            Vec::new()
        };
        let of_part = |part: &gcn_isa::dataflow::Part| {
            info.sources.iter().fold(0, |all, source| {
                all | match source.role {
                    Some(role) => self.reads_bits(source, part.sources[role]),
                    None if source.operand.is_none() || part.accumulates => self.reads_bits(source, u64::MAX),
                    None => 0,
                }
            })
        };
        let parts: Vec<(u64, u64)> = info.parts.iter().map(|part| (part.result, of_part(part))).collect();
        let any = info.sources.iter().fold(0, |all, source| all | self.reads_bits(source, u64::MAX));
        // A control source may determine which bits a result keeps.
        let control =
            info.sources.iter().filter(|s| s.control).fold(0, |all, s| all | self.reads_bits(s, u64::MAX));
        let any_part = parts.iter().fold(0, |all, part| all | part.1);
        for result in &info.results {
            if result.mask {
                let lanes = if parts.is_empty() { any } else { any_part };
                changes.words.append(&mut self.mask(result, lanes));
                continue;
            }
            let Word::Vector(_) = result.first else {
                let lanes = if info.parts.is_empty() { any } else { any_part | any };
                let bits = if lanes != 0 || info.reads_scc && self.bits.scc { u32::MAX } else { 0 };
                changes.words.extend(result.words().map(|word| (word, [bits; LANES])));
                continue;
            };
            for (i, word) in result.words().enumerate() {
                let mut bits = self.bits.all(word);
                let kept = kept.iter().find(|kept| kept.0 == word).map_or([0; LANES], |kept| kept.1);
                for lane in lanes(self.written()) {
                    let reached = parts.iter().filter(|part| part.1 >> lane & 1 == 1);
                    let new = reached.fold(0, |all, part| all | (part.0 >> (32 * (i % 2))) as u32);
                    let moved = if control >> lane & 1 == 1 { u32::MAX } else { 0 };
                    bits[lane] = bits[lane] & kept[lane] | new & !kept[lane] | moved;
                }
                changes.words.push((word, bits));
            }
        }
        Ok(())
    }

    /// The undefined bits of the results of a matrix instruction.
    fn matrix(&self) -> Changes {
        let mut changes = Changes::default();
        let undefined = |source: &Source| source.words().any(|word| self.bits.lanes(word) != 0);
        let Some(result) = self.info.results.first() else { return changes };
        if !self.info.sources.iter().any(undefined) {
            result.words().for_each(|word| changes.define(word, u64::MAX));
            return changes;
        }
        changes.words = matrix::result(self, result);
        changes
    }
}
