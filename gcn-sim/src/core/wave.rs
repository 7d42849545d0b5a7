//! The state of a wave.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gcn_isa::reg;
use gcn_isa::target::WaveSize;

use crate::core::gws::Queued;
use crate::core::late::Late;
use crate::core::value::LANES;
use crate::fp::Round;

/// Vector registers at the end that no program names: room for three operands of a vector instruction that are not in registers as they
/// are needed.
const ROOM: usize = 6;

/// One vector register: a word per lane.
pub(crate) type Lanes = [u32; LANES];

/// SGPR numbers of the named registers.
const VCC: usize = reg::VCC.index as usize;
const EXEC: usize = reg::EXEC.index as usize;
const M0: usize = reg::M0.index as usize;

/// The SGPRs that encodings can number.
pub(crate) const NUMBERED: usize = 128;
/// Writes to `null` go to the registers from here on: as many as an instruction can write.
const DROPPED: usize = 16;
/// SGPRs, and room for what is dropped.
pub(crate) type Sgprs = [u32; NUMBERED + DROPPED];

/// The MODE register, unpacked where it is read often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Mode {
    bits: u32,
    /// Rounding of f32.
    pub round32: Round,
    /// Rounding of f16 and f64.
    pub round16_64: Round,
    /// Flush f32 denormal inputs.
    pub flush_in32: bool,
    /// Flush f32 denormal results.
    pub flush_out32: bool,
    /// Flush f16 and f64 denormal inputs.
    pub flush_in16_64: bool,
    /// Flush f16 and f64 denormal results.
    pub flush_out16_64: bool,
    /// Clamp turns NaN into 0.
    pub dx10_clamp: bool,
    /// Signaling NaNs are made quiet; output modifiers are off.
    pub ieee: bool,
    /// VGPR numbers of VALU instructions are relative to M0.
    pub gpr_indexing: bool,
    /// Vector instructions are skipped.
    pub vskip: bool,
}

impl Mode {
    /// Overflow of f16.
    pub(crate) const FP16_OVFL: u32 = 1 << 23;
    /// GPR index enable.
    pub(crate) const GPR_IDX_EN: u32 = 1 << 27;
    /// Skip vector instructions.
    pub(crate) const VSKIP: u32 = 1 << 28;

    pub(crate) fn new(bits: u32) -> Mode {
        Mode {
            bits,
            round32: Round::from_field(bits),
            round16_64: Round::from_field(bits >> 2),
            // FP_DENORM: bit 0 of each pair allows input, bit 1 output denormals: 1 = allow in, 2 = allow out.
            flush_in32: bits >> 4 & 1 == 0,
            flush_out32: bits >> 5 & 1 == 0,
            flush_in16_64: bits >> 6 & 1 == 0,
            flush_out16_64: bits >> 7 & 1 == 0,
            dx10_clamp: bits >> 8 & 1 == 1,
            ieee: bits >> 9 & 1 == 1,
            gpr_indexing: bits & Mode::GPR_IDX_EN != 0,
            vskip: bits & Mode::VSKIP != 0,
        }
    }

    pub(crate) fn bits(self) -> u32 {
        self.bits
    }

    /// An f16 result that overflows is the greatest finite number.
    pub(crate) fn keeps_f16_finite(self) -> bool {
        self.bits & Mode::FP16_OVFL != 0
    }

    /// True if vector instructions have results other than the usual ones.
    pub(crate) fn is_special(self) -> bool {
        self.is_directed() || self.keeps_f16_finite()
    }

    /// True unless everything rounds to nearest even.
    pub(crate) fn is_directed(self) -> bool {
        self.bits & 0xf != 0
    }
}

/// A wave of 64 lanes, or of 32, whose upper 32 here are never active.
#[derive(Debug)]
pub(crate) struct Wave {
    /// SGPRs by encoding number; VCC, M0 and EXEC included.
    pub s: Sgprs,
    /// The lanes that there are.
    pub lanes: u64,
    /// Vector registers: VGPRs, then AGPRs, then room for operands ([`Wave::room`]).
    pub v: Vec<Lanes>,
    pub scc: bool,
    pub mode: Mode,
    /// Index of the next instruction.
    pub pc: usize,
    /// Number in the workgroup.
    pub id: u32,
    /// Instructions executed.
    pub count: u64,
    /// Cycles that it has slept or waited for a clock; the clocks add them to the instructions.
    pub slept: u64,
    pub reading: Reading,
    /// Scratch bytes, lane after lane.
    pub scratch: Vec<u8>,
    /// Allocation that the last global access hit.
    pub memory_hint: usize,
    pub late: Late,
    pub arrivals: Arrivals,
    pub status: Status,
}

/// Readings of a clock, one soon after the other, as in a loop that waits for a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    number: u32,
    /// The time of the first one.
    first: u64,
    /// Instructions that had been executed at the last one.
    at: u64,
}

/// Cycles that a wave waits for a clock (`memtime.latency`); a loop that waits for a time ends sooner for them.
const CYCLES_OF_READING: u64 = 40;
/// Readings are of one loop if there are fewer instructions between them, and if there are more of them.
const APART: u64 = 256;
const FEW: u32 = 64;
/// From then on a reading takes this part of the time since the first one, up to 20 µs at 2.1 GHz: loops for milliseconds end after tens of
/// turns instead of thousands, and wait for a twentieth too long at most.
const PART: u64 = 20;
const LONGEST: u64 = 42_000;

/// A wave's part in a barrier at which arriving and waiting are two instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    /// How often it has arrived, and waited for the others.
    signals: u64,
    waits: u64,
    /// The most often that a wave of the workgroup has arrived.
    most: Arc<AtomicU64>,
}

impl Arrivals {
    /// Arrives; true for the first wave that does.
    pub(crate) fn signal(&mut self) -> bool {
        self.signals += 1;
        self.most.fetch_max(self.signals, Ordering::Relaxed) < self.signals
    }

    /// True if this wave has arrived where the other one waits.
    pub(crate) fn has_met(&self, other: &Arrivals) -> bool {
        self.signals > other.waits
    }

    /// How often it has waited.
    pub(crate) fn waits(&self) -> u64 {
        self.waits
    }

    /// The wait is over.
    pub(crate) fn go_on(&mut self) {
        self.waits += 1;
    }

    /// Makes this wave one of a workgroup with another.
    pub(crate) fn join(&mut self, other: &Arrivals) {
        self.most = Arc::clone(&other.most);
    }

    fn clear(&mut self) {
        (self.signals, self.waits) = (0, 0);
        self.most.store(0, Ordering::Relaxed);
    }
}

/// Whether a wave can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    Running,
    /// At an `s_barrier`, by instruction index.
    AtBarrier(usize),
    /// At an `s_barrier_wait`, by instruction index.
    AtWait(usize),
    /// At an instruction of global wave sync, by its index.
    Queued(usize, Queued),
    Ended,
}

/// Everything that a wave's next instructions depend on, except memory, and the target of its last backward jump: to
/// detect that it returns to the same state.
pub(crate) struct Snapshot {
    pc: usize,
    s: Sgprs,
    scc: bool,
    v: Vec<Lanes>,
    scratch: Vec<u8>,
}

impl Snapshot {
    pub(crate) fn of(wave: &Wave, pc: usize) -> Snapshot {
        Snapshot {
            pc,
            s: wave.s,
            scc: wave.scc,
            v: wave.v[..wave.room()].to_vec(),
            scratch: wave.scratch.clone(),
        }
    }

    pub(crate) fn is(&self, wave: &Wave, pc: usize) -> bool {
        self.pc == pc
            && self.s == wave.s
            && self.scc == wave.scc
            && self.v == wave.v[..wave.room()]
            && self.scratch == wave.scratch
    }
}

impl Wave {
    /// The cycles so far: executed instructions stand for it.
    pub(crate) fn cycles(&self) -> u64 {
        self.count + self.slept
    }

    /// The cycles so far, for a clock. Reading it takes time.
    pub(crate) fn clock(&mut self) -> u64 {
        let now = self.cycles();
        let Reading { number, first, at } = self.reading;
        let again = number > 0 && self.count - at < APART;
        self.reading = Reading {
            number: if again { number.saturating_add(1) } else { 1 },
            first: if again { first } else { now },
            at: self.count,
        };
        let long = if again && number > FEW { (now - first) / PART } else { 0 };
        self.slept += long.clamp(CYCLES_OF_READING, LONGEST);
        now
    }

    pub(crate) fn new(vector_registers: usize, scratch_bytes: usize, size: WaveSize) -> Wave {
        Wave {
            s: [0; NUMBERED + DROPPED],
            lanes: size.mask(),
            v: vec![[0; LANES]; vector_registers + ROOM],
            scc: false,
            mode: Mode::new(0),
            pc: 0,
            id: 0,
            count: 0,
            slept: 0,
            reading: Reading::default(),
            scratch: vec![0; scratch_bytes * LANES],
            memory_hint: 0,
            late: Late::default(),
            arrivals: Arrivals::default(),
            status: Status::Running,
        }
    }

    /// Back to the state before the first instruction, registers zero.
    pub(crate) fn reset(&mut self, id: u32, mode: Mode) {
        self.s = [0; NUMBERED + DROPPED];
        let registers = self.room();
        self.v[..registers].fill([0; LANES]);
        self.scratch.fill(0);
        (self.scc, self.mode, self.pc, self.id, self.count) = (false, mode, 0, id, 0);
        (self.slept, self.reading) = (0, Reading::default());
        self.late.clear();
        self.arrivals.clear();
        self.status = Status::Running;
    }

    #[inline(always)]
    pub(crate) fn exec(&self) -> u64 {
        self.mask(EXEC)
    }

    #[inline(always)]
    pub(crate) fn set_exec(&mut self, mask: u64) {
        self.set_mask(EXEC, mask);
    }

    /// The slot from which on there is room for operands; also the number of the vector registers that programs have.
    #[inline(always)]
    pub(crate) fn room(&self) -> usize {
        self.v.len().saturating_sub(ROOM)
    }

    /// The number of its lanes.
    pub(crate) fn size(&self) -> usize {
        self.lanes.count_ones() as usize
    }

    #[inline(always)]
    pub(crate) fn vcc(&self) -> u64 {
        self.mask(VCC)
    }

    #[inline(always)]
    pub(crate) fn m0(&self) -> u32 {
        self.s[M0]
    }

    /// Replaces the bits of `mask` in M0.
    pub(crate) fn set_m0_bits(&mut self, mask: u32, value: u32) {
        self.s[M0] = self.s[M0] & !mask | value & mask;
    }

    /// The mask with a bit for each lane, in one SGPR or in two, according to the size of the wave.
    #[inline(always)]
    pub(crate) fn mask(&self, n: usize) -> u64 {
        self.pair(n) & self.lanes
    }

    /// Writes a mask with a bit for each lane.
    #[inline(always)]
    pub(crate) fn set_mask(&mut self, n: usize, mask: u64) {
        self.s[n] = mask as u32;
        if self.lanes == u64::MAX {
            self.s[n + 1] = (mask >> 32) as u32;
        }
    }

    /// SGPR pair starting at encoding number `n`.
    #[inline(always)]
    pub(crate) fn pair(&self, n: usize) -> u64 {
        u64::from(self.s[n]) | u64::from(self.s[n + 1]) << 32
    }

    #[inline(always)]
    pub(crate) fn set_pair(&mut self, n: usize, value: u64) {
        self.s[n] = value as u32;
        self.s[n + 1] = (value >> 32) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_that_starts_again_has_read_no_clock() {
        let mut wave = Wave::new(0, 0, WaveSize::W64);
        wave.count = 1000;
        assert_eq!(wave.clock(), 1000);
        wave.reset(0, Mode::new(0));
        assert_eq!(wave.clock(), 0);
        assert_eq!(wave.clock(), CYCLES_OF_READING);
    }
}
