//! Tracks which bits of a wave's registers are defined.
//!
//! As in Valgrind's Memcheck, undefined bits are propagated through instructions and reported only when they matter: when they determine an
//! address, a lane of EXEC or a branch, or are written to memory that others see. Reading undefined bits is not an error.
//!
//! A table ([`gcn_isa::dataflow`]) specifies how an instruction propagates bits. If each bit of a result depends on few bits of the
//! sources, the instruction's own function determines the dependence ([`corners`]): it runs on a separate wave, once with the undefined
//! bits of each source set to 0 and once with them set to 1, and result bits that differ are undefined. So no instruction needs a second
//! definition of its semantics, and modifiers, DPP and SDWA need no special rules.

mod alone;
mod corners;
mod evaluate;
mod info;
mod matrix;
mod memory;
mod now;
mod scratch;
mod uses;

use gcn_isa::reg::{self, Reg, RegFile};

use crate::core::machine::{Cx, Machine};
use crate::core::value::LANES;
use crate::core::wave::{Lanes, Wave};

use scratch::Scratch;

pub use alone::{Alone, Registers};
pub(super) use corners::{Aside, Places};
pub(super) use evaluate::Changes;
pub(super) use info::{Info, Kind};
pub(super) use memory::Access;
pub(super) use now::Now;
pub(super) use uses::Undefined;

/// The SGPR number of `null`.
const NULL: usize = reg::NULL.index as usize;
/// The SGPR number of M0.
const M0: usize = reg::M0.index as usize;

/// A 32-bit register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Word {
    /// A vector register, by slot.
    Vector(usize),
    /// A scalar register, by number.
    Scalar(usize),
}

impl Word {
    fn reg(self, machine: &Machine) -> Reg {
        match self {
            Word::Scalar(number) => Reg::s(number as u16, 1),
            Word::Vector(slot) => match slot.checked_sub(machine.state().vgprs as usize) {
                Some(index) => Reg::a(index as u16, 1),
                None => Reg::v(slot as u16, 1),
            },
        }
    }

    /// The 32-bit registers of an operand.
    fn all(machine: &Machine, reg: Reg) -> impl Iterator<Item = Word> {
        let first = match reg.file {
            RegFile::Sgpr => Word::Scalar(usize::from(reg.index)),
            _ => Word::Vector(usize::from(machine.registers().slot(reg))),
        };
        (0..usize::from(reg.len)).map(move |i| match first {
            Word::Scalar(number) => Word::Scalar(number + i),
            Word::Vector(slot) => Word::Vector(slot + i),
        })
    }
}

/// The undefined bits of a wave's registers.
#[derive(Clone, Default)]
pub(super) struct Bits {
    /// For each slot, the undefined bits of each lane that is in `lanes` and not in `whole`; as far as such lanes have existed.
    vectors: Vec<Lanes>,
    /// For each slot, a mask of the lanes with undefined bits.
    lanes: Vec<u64>,
    /// For each slot, a mask of lanes (of those in `lanes`) in which every bit is undefined.
    whole: Vec<u64>,
    scalars: Vec<u32>,
    scc: bool,
    scratch: Scratch,
}

impl Bits {
    /// Sets the state before the first instruction: `sgprs` SGPRs are initialised, and the first VGPRs contain work-item IDs. Scratch is
    /// uninitialised.
    pub(super) fn start(&mut self, machine: &Machine, sgprs: usize, wave: &Wave) {
        self.scratch.clear(wave.scratch.len());
        let ids =
            if machine.target().has_packed_tid() { 1 } else { 1 + usize::from(machine.state().workitem_id) };
        let count = machine.vector_registers();
        // Lanes that the wave does not have are not undefined: instructions that read other lanes do not read these.
        for masks in [&mut self.lanes, &mut self.whole] {
            masks.clear();
            masks.resize(count, wave.lanes);
        }
        self.scalars.clear();
        self.scalars.resize(128, u32::MAX);
        self.scc = true;
        for slot in 0..ids.min(count) {
            self.define(Word::Vector(slot), wave.exec());
        }
        // The launch initialises FLAT_SCRATCH, XNACK_MASK, the trap handler's registers and EXEC.
        let named = if machine.target().named_sgprs().flat_scratch.is_some() { 102..106 } else { 0..0 };
        for number in (0..sgprs.min(106)).chain(named).chain(108..M0).chain(NULL..128) {
            self.scalars[number] = 0;
        }
    }

    /// The last address in scratch from which a load has read undefined bits.
    pub(super) fn found_in_scratch(&self) -> Option<u64> {
        self.scratch.found
    }

    /// A mask of the lanes in which a register has undefined bits; for a scalar register, either all lanes or none.
    fn lanes(&self, word: Word) -> u64 {
        match word {
            Word::Vector(slot) => self.lanes.get(slot).copied().unwrap_or(0),
            Word::Scalar(number) if self.scalars[number] != 0 => u64::MAX,
            Word::Scalar(_) => 0,
        }
    }

    /// The undefined bits of a register in a lane.
    fn bits(&self, word: Word, lane: usize) -> u32 {
        match word {
            Word::Vector(_) if self.lanes(word) >> lane & 1 == 0 => 0,
            Word::Vector(slot) if self.whole[slot] >> lane & 1 == 1 => u32::MAX,
            Word::Vector(slot) => self.vectors[slot][lane],
            Word::Scalar(number) => self.scalars[number],
        }
    }

    /// The undefined bits of a register in every lane.
    fn all(&self, word: Word) -> Lanes {
        match word {
            Word::Vector(_) if self.lanes(word) == 0 => [0; LANES],
            Word::Vector(slot) => {
                let (lanes, whole) = (self.lanes[slot], self.whole[slot]);
                let mask = |lanes: u64, lane: usize| ((lanes >> lane & 1) as u32).wrapping_neg();
                if lanes == whole {
                    return std::array::from_fn(|lane| mask(whole, lane));
                }
                let bits = &self.vectors[slot];
                std::array::from_fn(|lane| mask(whole, lane) | bits[lane] & mask(lanes, lane))
            }
            Word::Scalar(number) => [self.scalars[number]; LANES],
        }
    }

    /// True if an instruction that uses and writes these registers changes no undefined bits: they have none in the lanes that count.
    pub(in crate::watch::sanitize) fn are_defined(&self, info: &Info, exec: u64) -> bool {
        let counts = if info.uses_all_lanes { u64::MAX } else { exec };
        let defined = |word: &Word| match *word {
            Word::Vector(slot) => self.lanes.get(slot).is_none_or(|lanes| lanes & counts == 0),
            Word::Scalar(number) => self.scalars[number] == 0,
        };
        !(self.scc && (info.reads_scc || info.writes_scc)) && info.words.iter().all(defined)
    }

    /// Marks all bits in these lanes as defined; in a scalar register, all bits.
    fn define(&mut self, word: Word, lanes: u64) {
        match word {
            Word::Scalar(number) => self.scalars[number] = 0,
            Word::Vector(slot) => {
                if let Some((old, whole)) = self.lanes.get_mut(slot).zip(self.whole.get_mut(slot)) {
                    *old &= !lanes;
                    *whole &= !lanes;
                }
            }
        }
    }

    /// Sets the undefined bits of a register.
    fn set(&mut self, word: Word, bits: &Lanes) {
        match word {
            // EXEC counts as defined after its undefined bits have been reported, and `null` reads as 0.
            Word::Scalar(NULL | 126..128) => {}
            Word::Scalar(number) => self.scalars[number] = bits[0],
            Word::Vector(slot) => {
                if slot < self.lanes.len() {
                    // Most registers never have lanes of which only some bits are undefined.
                    if self.vectors.len() <= slot {
                        self.vectors.resize(slot + 1, [0; LANES]);
                    }
                    self.vectors[slot] = *bits;
                    let lane = |all: u64, (lane, bits): (usize, &u32)| all | u64::from(*bits != 0) << lane;
                    self.lanes[slot] = bits.iter().enumerate().fold(0, lane);
                    self.whole[slot] = 0;
                }
            }
        }
    }
}

/// The value of a register in every lane.
fn value(cx: &Cx<'_>, word: Word) -> Lanes {
    match word {
        Word::Vector(slot) => cx.w.v.get(slot).copied().unwrap_or([0; LANES]),
        Word::Scalar(number) => [cx.w.s[number]; LANES],
    }
}
