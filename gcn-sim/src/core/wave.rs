//! The state of a wave.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gcn_isa::reg;
use gcn_isa::target::WaveSize;

use crate::core::gws::Queued;
use crate::core::late::Late;
use crate::core::value::LANES;
use crate::fp::Round;

/// The number of extra vector registers after those that programs can name. Three 64-bit operands fit in them, which must be converted
/// before use, such as constants and permuted values; and a 64-bit result to which modifiers must still be applied.
const ROOM: usize = 8;

/// A vector register: one dword for each lane.
pub(crate) type Lanes = [u32; LANES];

/// The SGPR numbers of named registers.
const VCC: usize = reg::VCC.index as usize;
const EXEC: usize = reg::EXEC.index as usize;
const M0: usize = reg::M0.index as usize;

/// The number of SGPRs that an encoding can name.
pub(crate) const NUMBERED: usize = 128;
/// The number of registers from [`NUMBERED`] on, which absorb writes to `null`: the largest number that one instruction can write.
const DROPPED: usize = 16;
/// The SGPRs, followed by those that absorb writes to `null`.
pub(crate) type Sgprs = [u32; NUMBERED + DROPPED];

/// The MODE register; fields that are read often are unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Mode {
    bits: u32,
    /// The rounding mode of f32.
    pub round32: Round,
    /// The rounding mode of f16 and f64.
    pub round16_64: Round,
    /// Flush f32 denormal inputs.
    pub flush_in32: bool,
    /// Flush f32 denormal results.
    pub flush_out32: bool,
    /// Flush f16 and f64 denormal inputs.
    pub flush_in16_64: bool,
    /// Flush f16 and f64 denormal results.
    pub flush_out16_64: bool,
    /// Clamping turns NaN into 0.
    pub dx10_clamp: bool,
    /// Signaling NaNs are quieted, and output modifiers are disabled.
    pub ieee: bool,
    /// VGPR numbers of VALU instructions are relative to M0.
    pub gpr_indexing: bool,
    /// Vector instructions are skipped.
    pub vskip: bool,
    /// The upper bits of the numbers of VGPRs, as `s_set_vgpr_msb` sets them.
    pub vgpr_msb: u8,
    /// The kinds of denormals that are flushed, as a mask, and the bit [`Mode::ALWAYS`].
    pub flushes: u8,
}

impl Mode {
    pub(crate) const FLUSH_IN_32: u8 = 1;
    pub(crate) const FLUSH_OUT_32: u8 = 2;
    pub(crate) const FLUSH_IN_16_64: u8 = 4;
    pub(crate) const FLUSH_OUT_16_64: u8 = 8;
    /// The bit that is set in every mode.
    pub(crate) const ALWAYS: u8 = 1 << 7;
    /// The bit FP16_OVFL: f16 results that overflow stay finite.
    pub(crate) const FP16_OVFL: u32 = 1 << 23;
    /// The bit that enables VGPR indexing.
    pub(crate) const GPR_IDX_EN: u32 = 1 << 27;
    /// The bit that skips vector instructions.
    pub(crate) const VSKIP: u32 = 1 << 28;

    pub(crate) fn new(bits: u32) -> Mode {
        Mode {
            bits,
            round32: Round::from_field(bits),
            round16_64: Round::from_field(bits >> 2),
            // In each pair of FP_DENORM bits, bit 0 enables denormal inputs and bit 1 denormal results.
            flush_in32: bits >> 4 & 1 == 0,
            flush_out32: bits >> 5 & 1 == 0,
            flush_in16_64: bits >> 6 & 1 == 0,
            flush_out16_64: bits >> 7 & 1 == 0,
            dx10_clamp: bits >> 8 & 1 == 1,
            ieee: bits >> 9 & 1 == 1,
            gpr_indexing: bits & Mode::GPR_IDX_EN != 0,
            vskip: bits & Mode::VSKIP != 0,
            vgpr_msb: 0,
            flushes: !(bits >> 4) as u8 & 0xf | Mode::ALWAYS,
        }
    }

    pub(crate) fn bits(self) -> u32 {
        self.bits
    }

    /// True if an f16 result that overflows becomes the largest finite number.
    pub(crate) fn keeps_f16_finite(self) -> bool {
        self.bits & Mode::FP16_OVFL != 0
    }

    /// True if MODE changes the results of vector instructions from those in the usual mode.
    pub(crate) fn is_special(self) -> bool {
        self.is_directed() || self.keeps_f16_finite()
    }

    /// True if instructions do what they do in most programs: vector instructions are neither skipped nor change their registers, and
    /// their results are those of the usual mode.
    #[inline(always)]
    pub(crate) fn is_plain(self) -> bool {
        self.bits & (0xf | Mode::FP16_OVFL | Mode::GPR_IDX_EN | Mode::VSKIP) == 0 && self.vgpr_msb == 0
    }

    /// True if any rounding mode is not to nearest even.
    pub(crate) fn is_directed(self) -> bool {
        self.bits & 0xf != 0
    }
}

/// A wave of 64 lanes, or one of 32, whose upper 32 lanes are never active.
#[derive(Debug)]
pub(crate) struct Wave {
    /// SGPRs by encoding number, including VCC, M0 and EXEC.
    pub s: Sgprs,
    /// A mask of the wave's lanes.
    pub lanes: u64,
    /// The vector registers: VGPRs, then AGPRs, then extra ones for converted operands ([`Wave::room`]).
    pub v: Vec<Lanes>,
    pub scc: bool,
    pub mode: Mode,
    /// The index of the next instruction.
    pub pc: usize,
    /// The wave's number in the workgroup.
    pub id: u32,
    /// The number of executed instructions.
    pub count: u64,
    /// The number of cycles that the wave has slept or waited for a clock. Clocks show this number plus the number of executed
    /// instructions.
    pub slept: u64,
    pub reading: Reading,
    /// The scratch of all lanes, one lane after the other.
    pub scratch: Vec<u8>,
    /// The indices of the allocations that the last global accesses hit, by the program counter: an instruction in a loop usually accesses
    /// one allocation, while neighbouring instructions access others.
    memory_hints: [usize; HINTS],
    pub late: Late,
    pub arrivals: Arrivals,
    pub status: Status,
    /// True if the wave has not started yet, so that registers and scratch are zero.
    new: bool,
}

/// A series of clock readings in quick succession, as in a loop that waits for a certain time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    number: u32,
    /// The time of the first reading.
    first: u64,
    /// The number of executed instructions at the last reading.
    at: u64,
}

/// The number of instructions whose allocations are remembered.
const HINTS: usize = 16;

/// The number of cycles that reading a clock takes (`memtime.latency`). Counting them lets a loop that waits for a certain time end sooner.
const CYCLES_OF_READING: u64 = 40;
/// A series ends if at least `APART` instructions lie between two readings. A series of more than `FEW` readings is considered a waiting
/// loop.
const APART: u64 = 256;
const FEW: u32 = 64;
/// In a waiting loop, a reading takes 1/`PART` of the time since the first reading, at most `LONGEST` cycles (20 µs at 2.1 GHz). Loops that
/// wait for milliseconds then end after tens of trips instead of thousands, and wait at most a twentieth too long.
const PART: u64 = 20;
const LONGEST: u64 = 42_000;

/// A wave's progress at split barriers, where arriving (`s_barrier_signal`) and waiting are separate instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    /// The number of times that the wave has arrived, and the number of times that it has waited for the others.
    signals: u64,
    waits: u64,
    /// The largest number of arrivals of any wave of the workgroup.
    most: Arc<AtomicU64>,
}

impl Arrivals {
    /// Records an arrival. Returns true if this wave is the first to arrive at this barrier.
    pub(crate) fn signal(&mut self) -> bool {
        self.signals += 1;
        self.most.fetch_max(self.signals, Ordering::Relaxed) < self.signals
    }

    /// True if this wave has arrived at the barrier at which `other` waits.
    pub(crate) fn has_met(&self, other: &Arrivals) -> bool {
        self.signals > other.waits
    }

    /// True if this wave has not arrived at the barrier with this number, counted from 1.
    pub(crate) fn has_missed(&self, barrier: u64) -> bool {
        self.signals < barrier
    }

    /// The number of completed waits.
    pub(crate) fn waits(&self) -> u64 {
        self.waits
    }

    /// Records that the wait is over.
    pub(crate) fn go_on(&mut self) {
        self.waits += 1;
    }

    /// Makes this wave share the barrier state of the workgroup of `other`.
    pub(crate) fn join(&mut self, other: &Arrivals) {
        self.most = Arc::clone(&other.most);
    }

    fn clear(&mut self) {
        (self.signals, self.waits) = (0, 0);
        self.most.store(0, Ordering::Relaxed);
    }
}

/// The execution state of a wave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    Running,
    /// Waits at the `s_barrier` with this instruction index.
    AtBarrier(usize),
    /// Waits at the `s_barrier_wait` with this instruction index.
    AtWait(usize),
    /// Waits at the global wave sync instruction with this index.
    Queued(usize, Queued),
    Ended,
}

/// The state of a wave at the target of its last backward jump: all state, except memory, on which its next instructions depend. If the
/// wave comes back to this target in the same state, it is in a loop that only a change in memory can end.
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
    /// The number of cycles so far, counting one for each executed instruction and the cycles that the wave has slept.
    pub(crate) fn cycles(&self) -> u64 {
        self.count + self.slept
    }

    /// Reads a clock: returns the number of cycles so far, and adds the time that the reading takes.
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
            memory_hints: [0; HINTS],
            late: Late::default(),
            arrivals: Arrivals::default(),
            status: Status::Running,
            new: true,
        }
    }

    /// Resets to the state before the first instruction, with all registers zero.
    pub(crate) fn reset(&mut self, id: u32, mode: Mode) {
        self.s = [0; NUMBERED + DROPPED];
        if !std::mem::take(&mut self.new) {
            let registers = self.room();
            self.v[..registers].fill([0; LANES]);
            self.scratch.fill(0);
        }
        (self.scc, self.mode, self.pc, self.id, self.count) = (false, mode, 0, id, 0);
        (self.slept, self.reading) = (0, Reading::default());
        self.late.clear();
        self.arrivals.clear();
        self.status = Status::Running;
    }

    /// The index of the allocation that the current instruction hit last, or another instruction in its place.
    #[inline(always)]
    pub(crate) fn memory_hint(&self) -> usize {
        self.memory_hints[self.pc % HINTS]
    }

    #[inline(always)]
    pub(crate) fn set_memory_hint(&mut self, allocation: usize) {
        self.memory_hints[self.pc % HINTS] = allocation;
    }

    #[inline(always)]
    pub(crate) fn exec(&self) -> u64 {
        self.mask(EXEC)
    }

    #[inline(always)]
    pub(crate) fn set_exec(&mut self, mask: u64) {
        self.set_mask(EXEC, mask);
    }

    /// The first of the extra slots for converted operands; also the number of vector registers that programs can use.
    #[inline(always)]
    pub(crate) fn room(&self) -> usize {
        self.v.len().saturating_sub(ROOM)
    }

    /// The number of lanes.
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

    /// Replaces the bits of M0 that are set in `mask`.
    pub(crate) fn set_m0_bits(&mut self, mask: u32, value: u32) {
        self.s[M0] = self.s[M0] & !mask | value & mask;
    }

    /// A lane mask, from one SGPR or two, depending on the wave size.
    #[inline(always)]
    pub(crate) fn mask(&self, n: usize) -> u64 {
        self.pair(n) & self.lanes
    }

    /// Writes a lane mask to one SGPR or two, depending on the wave size.
    #[inline(always)]
    pub(crate) fn set_mask(&mut self, n: usize, mask: u64) {
        self.s[n] = mask as u32;
        if self.lanes == u64::MAX {
            self.s[n + 1] = (mask >> 32) as u32;
        }
    }

    /// The SGPR pair starting at encoding number `n`.
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
