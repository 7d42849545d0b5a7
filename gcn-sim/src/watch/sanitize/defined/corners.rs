//! Runs an instruction on a separate wave with different values for undefined bits.
//!
//! A *variable* is a set of undefined bits that always get the same value: the undefined bits of one source, or those of a destination that
//! may be kept. A *corner* assigns either all zeros or all ones to each variable. If a bit of the result depends on at most one bit of each
//! variable, the bit is defined if and only if it is equal in all corners.

use gcn_isa::dataflow::Flow;
use gcn_isa::reg::RegFile;
use gcn_isa::target::WaveSize;
use gcn_isa::{Inst, Operand, Reg};

use super::{Bits, Info, M0, Word, value};
use crate::core::fault::{Fault, Next};
use crate::core::machine::{Cx, Step};
use crate::core::memory::Memory;
use crate::core::operand::RegisterMap;
use crate::core::trace::Trace;
use crate::core::value::LANES;
use crate::core::wave::{Lanes, Mode, Wave};
use crate::semantics::execute::execute;

/// The limits of the separate wave: the numbers of vector and scalar registers for each operand, and the number of operands.
const VECTORS: usize = 64;
const SCALARS: usize = 16;
const OPERANDS: usize = 5;
/// Scalar registers from this number on are named and keep their numbers on the separate wave.
const NAMED: usize = 102;

/// A wave that is separate from those of the kernel, with its own LDS and memory.
pub(in crate::watch::sanitize) struct Aside {
    pub(super) wave: Wave,
    pub(super) lds: Vec<u8>,
    pub(super) memory: Memory,
}

impl Default for Aside {
    fn default() -> Aside {
        Aside {
            wave: Wave::new(OPERANDS * VECTORS, 0, WaveSize::W64),
            lds: Vec::new(),
            memory: Memory::new(),
        }
    }
}

/// A register of the instruction: its location, its location on the separate wave, and the variable that contains its undefined bits.
pub(super) struct Place {
    pub(super) real: Word,
    aside: Word,
    variable: usize,
}

/// The registers of an instruction.
pub(in crate::watch::sanitize) struct Places {
    places: Vec<Place>,
    /// The number of variables.
    variables: usize,
    /// True if the undefined bits of SCC are the last variable.
    scc: bool,
    /// The results: the location of each, and its location on the separate wave.
    results: Vec<(Word, Word)>,
}

/// The step for the same instruction with the registers of the separate wave.
fn aside(step: &Step, inst: &Inst) -> Step {
    let own = |i: usize, operand: &Operand| match *operand {
        Operand::Reg(reg) => Operand::Reg(match reg.file {
            RegFile::Sgpr => Reg { index: (i * SCALARS) as u16, ..reg },
            _ => Reg::v((i * VECTORS) as u16, reg.len),
        }),
        other => other,
    };
    let operands = inst.operands.iter().enumerate().map(|(i, operand)| own(i, operand)).collect();
    let map = RegisterMap {
        vgprs: (OPERANDS * VECTORS) as u32,
        agprs: 0,
        sgprs: NAMED as u32,
        first_named: NAMED as u16,
    };
    step.with(Inst { operands, ..inst.clone() }, &map)
}

fn place_of(real: Word, operand: Option<usize>, i: usize) -> Word {
    match (real, operand) {
        (Word::Vector(_), Some(operand)) => Word::Vector(operand * VECTORS + i),
        (Word::Scalar(_), Some(operand)) => Word::Scalar(operand * SCALARS + i),
        (named, None) => named,
    }
}

impl Places {
    pub(super) fn of(info: &Info, step: &Step, bits: &Bits) -> Places {
        let mut places: Vec<Place> = Vec::new();
        let mut firsts: Vec<(Word, usize)> = Vec::new();
        let mut variables = 0;
        // If a register is used as two sources, its bits are equal in both and may cancel out, as in `x ^ x`. With modifiers, different
        // bits may be combined, so each use then is a separate variable.
        let plain = step.plain_src && step.inst.mods.op_sel == 0 && info.flow == Flow::Bits;
        let mut add =
            |first: Word, operand: Option<usize>, words: &mut dyn Iterator<Item = Word>, share: bool| {
                let words: Vec<Word> = words.collect();
                let is_undefined = words.iter().any(|word| bits.lanes(*word) != 0);
                let known = firsts.iter().find(|known| share && known.0 == first).map(|known| known.1);
                let variable = known.unwrap_or(variables);
                if is_undefined && known.is_none() {
                    firsts.push((first, variable));
                    variables += 1;
                }
                places.extend(words.into_iter().enumerate().map(|(i, real)| Place {
                    real,
                    aside: place_of(real, operand, i),
                    variable,
                }));
            };
        for source in &info.sources {
            add(source.first, source.operand, &mut source.words(), plain);
        }
        // The kept part of a destination is a separate variable, unless the destination is also a source.
        let kept = info.results.iter().filter(|result| {
            matches!(result.first, Word::Vector(_))
                && !info.sources.iter().any(|s| s.operand == result.operand)
        });
        for result in kept {
            add(result.first, result.operand, &mut result.words(), false);
        }
        let results = info.results.iter().flat_map(|result| {
            let operand = result.operand;
            result.words().enumerate().map(move |(i, real)| (real, place_of(real, operand, i)))
        });
        let scc = info.reads_scc && bits.scc;
        Places { places, variables: variables + usize::from(scc), scc, results: results.collect() }
    }

    fn corners(&self) -> u32 {
        1 << self.variables
    }

    /// True if the instruction writes this location. A source in the same register has another location on the separate wave.
    pub(super) fn is_written(&self, place: &Place) -> bool {
        self.results.iter().any(|(_, aside)| *aside == place.aside)
    }
}

/// The result of comparing the corners.
pub(super) struct Outcome {
    /// For each written register, the bits in which corners differ, and its value in one of the corners.
    pub words: Vec<(Word, Lanes, Lanes)>,
    /// True if the corners differ in SCC.
    pub scc: bool,
}

impl Aside {
    /// Runs the instruction in each corner.
    pub(super) fn corners(
        &mut self,
        cx: &Cx<'_>,
        (info, step, inst): (&Info, &Step, &Inst),
        bits: &Bits,
    ) -> Result<Outcome, Fault> {
        let places = Places::of(info, step, bits);
        let mut outcome = Outcome { words: Vec::new(), scc: false };
        let mut scc = false;
        for corner in 0..places.corners() {
            self.fill(cx, (&places, bits), |place, _, now, undefined| {
                if corner >> place.variable & 1 == 1 { now | undefined } else { now & !undefined }
            });
            if places.scc {
                self.wave.scc = corner >> (places.variables - 1) & 1 == 1;
            }
            self.run(cx, (info, step, inst), None)?;
            if corner == 0 {
                scc = self.wave.scc;
                let value = |&(real, aside): &(Word, Word)| (real, [0; LANES], self.value(aside));
                outcome.words = places.results.iter().map(value).collect();
                continue;
            }
            outcome.scc |= scc != self.wave.scc;
            for ((_, differ, first), (_, aside)) in outcome.words.iter_mut().zip(&places.results) {
                let now = self.value(*aside);
                for lane in 0..LANES {
                    differ[lane] |= first[lane] ^ now[lane];
                }
            }
        }
        Ok(outcome)
    }

    /// For a permutation of lanes with undefined bits in its address register (operand `address`): the lanes of the result that may get
    /// data of different lanes, or none. Each lane gets different data.
    /// The undefined address bits are set to those of each lane's address in turn, and the lanes whose result changes are returned.
    pub(super) fn reached(
        &mut self,
        cx: &Cx<'_>,
        (info, step, inst): (&Info, &Step, &Inst),
        bits: &Bits,
        address: usize,
    ) -> Result<u64, Fault> {
        let places = Places::of(info, step, bits);
        let address = place_of(Word::Vector(0), Some(address), 0);
        let mut first: Option<Lanes> = None;
        let mut reached = 0;
        for to in (0..4 * LANES as u32).filter(|to| matches!(to % 4, 0 | 3)) {
            self.fill(cx, (&places, bits), |place, lane, now, undefined| match place.aside {
                aside if aside == address => now & !undefined | to & undefined,
                _ if places.is_written(place) => 0,
                _ => lane as u32 + 1,
            });
            self.run(cx, (info, step, inst), None)?;
            let Some((_, aside)) = places.results.first() else { return Ok(0) };
            let now = self.value(*aside);
            let first = first.get_or_insert(now);
            let differs = (0..LANES).filter(|lane| first[*lane] != now[*lane]);
            reached |= differs.fold(0, |lanes, lane| lanes | 1u64 << lane);
        }
        Ok(reached)
    }

    /// The bits of the instruction's vector results that it leaves unchanged.
    pub(super) fn kept(
        &mut self,
        cx: &Cx<'_>,
        (info, step, inst): (&Info, &Step, &Inst),
        bits: &Bits,
    ) -> Result<Vec<(Word, Lanes)>, Fault> {
        let places = Places::of(info, step, bits);
        let mut kept: Vec<(Word, Lanes)> = Vec::new();
        for old in [0, u32::MAX] {
            self.fill(
                cx,
                (&places, bits),
                |place, _, now, _| {
                    if places.is_written(place) { old } else { now }
                },
            );
            self.run(cx, (info, step, inst), None)?;
            for (n, (real, aside)) in places.results.iter().enumerate() {
                let now = self.value(*aside);
                match kept.get_mut(n) {
                    None => kept.push((*real, now)),
                    Some((_, first)) => first.iter_mut().zip(now).for_each(|(first, now)| *first ^= now),
                }
            }
        }
        Ok(kept)
    }

    /// Sets the registers of an instruction on the separate wave. `fill` returns the content of a register in a lane, given its actual
    /// value and its undefined bits.
    pub(super) fn fill(
        &mut self,
        cx: &Cx<'_>,
        (places, bits): (&Places, &Bits),
        fill: impl Fn(&Place, usize, u32, u32) -> u32,
    ) {
        self.wave.s[NAMED..].copy_from_slice(&cx.w.s[NAMED..]);
        self.wave.scc = cx.w.scc;
        for place in &places.places {
            match (place.real, place.aside) {
                (Word::Scalar(real), Word::Scalar(aside)) => {
                    self.wave.s[aside] = fill(place, 0, cx.w.s[real], bits.bits(place.real, 0));
                }
                (real, Word::Vector(aside)) => {
                    let (now, undefined) = (value(cx, real), bits.all(real));
                    for (lane, to) in self.wave.v[aside].iter_mut().enumerate() {
                        *to = fill(place, lane, now[lane], undefined[lane]);
                    }
                }
                (Word::Vector(_), Word::Scalar(_)) => {}
            }
        }
    }

    /// Runs the instruction on the separate wave.
    pub(super) fn run(
        &mut self,
        cx: &Cx<'_>,
        (info, step, inst): (&Info, &Step, &Inst),
        trace: Option<&mut Trace>,
    ) -> Result<(), Fault> {
        let step = info.aside.get_or_init(|| aside(step, inst));
        let Aside { wave, lds, memory } = self;
        wave.mode = Mode::new(cx.w.mode.bits() & !Mode::GPR_IDX_EN);
        (wave.pc, wave.id, wave.lanes) = (cx.w.pc, cx.w.id, cx.w.lanes);
        if inst.desc.is_relative() {
            // M0 has selected the registers already: `inst` names them.
            wave.s[M0] = 0;
        }
        let mut beside = Cx { w: wave, lds, memory, machine: cx.machine, trace, next: Next::Fall };
        execute(&mut beside, step)?;
        Ok(())
    }

    /// The results that the instruction has written on the separate wave.
    pub(super) fn results(&self, places: &Places) -> Vec<(Word, Lanes)> {
        places.results.iter().map(|(real, aside)| (*real, self.value(*aside))).collect()
    }

    fn value(&self, word: Word) -> Lanes {
        match word {
            Word::Vector(slot) => self.wave.v[slot],
            Word::Scalar(number) => [self.wave.s[number]; LANES],
        }
    }
}
