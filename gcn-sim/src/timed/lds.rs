//! The timing of LDS: two ports, one for each pair of SIMDs. They share one array of banks or, on RDNA, each has its own array.
//!
//! An instruction passes through the input of its port (addresses and data to write), the banks, and the output of its port (data read).
//! For each of these stages the model keeps the time from which it is free, so instructions overlap. Bank conflicts are computed from the
//! lanes' addresses: an instruction is executed in phases of several lanes each, and in a phase every bank serves one dword per cycle, to
//! any number of lanes (rocprofiler-compute documentation, LDS).
//!
//! Loads to LDS bypass the ports: their data are written to the banks when they arrive from memory. Instructions issued after the load may
//! use the banks before that. So these writes are kept in a queue until the banks' time reaches the arrival.

use crate::core::params::Params;
use crate::core::trace::{Kind, Touch};
use crate::core::value::LANES;

/// The access widths with different phases: up to 4, up to 8 and up to 16 bytes.
const WIDTHS: [&str; 3] = ["32", "64", "128"];
/// The maximum number of banks.
const MOST_BANKS: u64 = 128;

/// The number of ports, and the maximum number of arrays.
const PORTS: usize = 2;

/// The LDS of a compute unit, or of a workgroup processor.
pub(super) struct Lds {
    lanes: u64,
    /// The number of arrays of banks; the LDS of each workgroup is in one of them.
    pub arrays: usize,
    banks: usize,
    in_bytes: u64,
    out_bytes: u64,
    latency: u64,
    queue: u64,
    /// The lane masks of the phases by width, for reads and for writes.
    phases: [[Vec<u64>; 3]; 2],
    in_free: [u64; PORTS],
    out_free: [u64; PORTS],
    /// For each array, the cycle from which its banks are free.
    bank_free: [u64; PORTS],
    /// For each array, the pending writes of loads to LDS: arrival and duration in cycles, the latest first.
    arriving: [Vec<(u64, u64)>; PORTS],
    /// Temporary lists of accesses, kept to reuse their memory.
    rounds: Vec<Vec<Touch>>,
    /// The time in which the banks worked for the last instruction: the first cycle and the number of cycles.
    pub span: (u64, u64),
    /// The number of cycles in which the banks worked.
    pub busy: u64,
    /// The number of these cycles that were due to conflicts.
    pub conflicts: u64,
    /// The number of bytes read and written.
    pub bytes: u64,
}

/// The data that an LDS instruction transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Transfer {
    /// The number of bytes of a lane that pass through the input: addresses and data.
    pub input: u64,
    /// The number of bytes of a lane that pass through the output.
    pub output: u64,
}

impl Lds {
    /// An LDS for waves of `lanes` lanes.
    pub(super) fn new(params: &Params, lanes: u64) -> Lds {
        // Omits phases that contain only lanes which the wave does not have.
        let there = u64::MAX >> (LANES as u64).saturating_sub(lanes);
        let groups = |name: &str| params.groups(name).into_iter().filter(|mask| mask & there != 0).collect();
        let phases = |direction: &str| WIDTHS.map(|width| groups(&format!("lds.phases.{direction}.{width}")));
        Lds {
            lanes,
            arrays: (params.number("lds.arrays") as usize).clamp(1, PORTS),
            banks: params.number("lds.banks").clamp(1, MOST_BANKS) as usize,
            in_bytes: params.number("lds.port-in").max(1),
            out_bytes: params.number("lds.port-out").max(1),
            latency: params.number("lds.latency"),
            queue: params.number("lds.queue"),
            phases: [phases("read"), phases("write")],
            in_free: [0; PORTS],
            out_free: [0; PORTS],
            bank_free: [0; PORTS],
            arriving: Default::default(),
            rounds: Vec::new(),
            span: (0, 0),
            busy: 0,
            conflicts: 0,
            bytes: 0,
        }
    }

    /// The cycle from which the port of `simd` accepts an instruction.
    pub(super) fn accepts(&self, simd: usize) -> u64 {
        let port = port(simd);
        self.in_free[port].max(self.out_free[port]).saturating_sub(self.queue)
    }

    /// Sends an instruction with the accesses `touches` to an array in cycle `now`; returns the cycle in which its data are available.
    pub(super) fn send(
        &mut self,
        simd: usize,
        array: usize,
        now: u64,
        transfer: Transfer,
        touches: &[Touch],
    ) -> u64 {
        let (port, array) = (port(simd), array % self.arrays);
        let (cycles, conflicts) = self.bank_cycles(touches);
        let start = now.max(self.in_free[port]);
        self.in_free[port] = start + (transfer.input * self.lanes).div_ceil(self.in_bytes);
        self.take_arrived(array, start);
        let banks = start.max(self.bank_free[array]);
        self.bank_free[array] = banks + cycles;
        let out = banks.max(self.out_free[port]);
        self.out_free[port] = out + (transfer.output * self.lanes).div_ceil(self.out_bytes);
        self.span = (banks, cycles);
        self.busy += cycles;
        self.conflicts += conflicts;
        self.bytes += touches.iter().map(|t| u64::from(t.bytes)).sum::<u64>();
        self.in_free[port].max(self.bank_free[array]).max(self.out_free[port]) + self.latency
    }

    /// Queues the data of a load to LDS that arrive in cycle `arrival`. Returns the cycle in which they are written.
    pub(super) fn write_arriving(&mut self, array: usize, arrival: u64, touches: &[Touch]) -> u64 {
        self.span = (arrival, 0);
        let array = array % self.arrays;
        if touches.is_empty() {
            return arrival;
        }
        let (cycles, conflicts) = self.bank_cycles(touches);
        self.busy += cycles;
        self.conflicts += conflicts;
        self.bytes += touches.iter().map(|t| u64::from(t.bytes)).sum::<u64>();
        let at = self.arriving[array].partition_point(|(other, _)| *other > arrival);
        self.arriving[array].insert(at, (arrival, cycles));
        self.span = (arrival.max(self.bank_free[array]), cycles);
        self.span.0 + cycles
    }

    /// Executes the queued writes that arrive by cycle `time`, or while the banks are busy.
    fn take_arrived(&mut self, array: usize, time: u64) {
        let (arriving, free) = (&mut self.arriving[array], &mut self.bank_free[array]);
        while let Some((arrival, cycles)) = arriving.pop_if(|(at, _)| *at <= time.max(*free)) {
            *free = (*free).max(arrival) + cycles;
        }
    }

    /// The number of bank cycles for `touches`, and how many of these are due to conflicts.
    fn bank_cycles(&mut self, touches: &[Touch]) -> (u64, u64) {
        if touches.is_empty() {
            // A permutation of lanes (ds_swizzle, ds_bpermute): data pass through the ports and banks without an access to memory.
            return (self.phases[0][0].len() as u64, 0);
        }
        // Lanes are in ascending order, each with all its accesses. Conflicting accesses of one lane are executed in separate rounds.
        if touches.windows(2).all(|pair| pair[0].lane < pair[1].lane) {
            return self.access(touches);
        }
        let mut rounds = std::mem::take(&mut self.rounds);
        rounds.iter_mut().for_each(Vec::clear);
        let mut rest = touches;
        while let [first, ..] = rest {
            let mine = rest.iter().take_while(|t| t.lane == first.lane).count();
            let (own, others) = rest.split_at(mine);
            put_rounds(&mut rounds, own);
            rest = others;
        }
        let all = rounds.iter().map(|round| self.access(round)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        self.rounds = rounds;
        all
    }

    /// The cycles for at most one access of each lane, in ascending order of lanes: the sum, over all phases, of the number of dwords in
    /// the busiest bank.
    fn access(&self, touches: &[Touch]) -> (u64, u64) {
        // All accesses of an instruction have the same kind and width.
        let Some(first) = touches.first() else { return (0, 0) };
        let (write, atomic) = (first.kind == Kind::Write, first.kind == Kind::Atomic);
        let width = usize::from(first.bytes > 4) + usize::from(first.bytes > 8);
        let mut place = [NOWHERE; LANES];
        for (i, touch) in touches.iter().enumerate() {
            place[usize::from(touch.lane.unwrap_or(0)) % LANES] = i as u8;
        }
        let (mut cycles, mut conflicts) = (0, 0);
        for mask in &self.phases[usize::from(write)][width] {
            let active = Active { touches, place: &place, rest: *mask };
            let degree = match self.apart(active) {
                Some(any) => u64::from(any),
                None => self.degree(active, atomic),
            };
            cycles += degree;
            conflicts += degree.saturating_sub(1);
        }
        (cycles, conflicts)
    }

    /// A quick test: `None` if two accesses of the phase use the same bank; otherwise whether the phase has any accesses.
    fn apart(&self, active: Active<'_>) -> Option<bool> {
        let mut used = 0u128;
        for touch in active {
            let dwords = dwords(&touch);
            let (bank, count) = (self.bank(*dwords.start()), dwords.end() - dwords.start() + 1);
            if bank + count as usize > self.banks {
                return None;
            }
            let banks = ((1u128 << count) - 1) << bank;
            if used & banks != 0 {
                return None;
            }
            used |= banks;
        }
        Some(used != 0)
    }

    /// The number of dwords in the busiest bank. Reads and writes of the same dword count once, but atomics do not.
    fn degree(&self, active: Active<'_>, atomic: bool) -> u64 {
        let mut all: Vec<u32> = active.flat_map(|touch| dwords(&touch)).collect();
        all.sort_unstable();
        if !atomic {
            all.dedup();
        }
        let mut counts = [0u64; MOST_BANKS as usize];
        all.iter().for_each(|dword| counts[self.bank(*dword)] += 1);
        counts.into_iter().max().unwrap_or(0)
    }

    fn bank(&self, dword: u32) -> usize {
        // The result is less than 128, because the number of banks is limited.
        if self.banks.is_power_of_two() {
            dword as usize & (self.banks - 1)
        } else {
            dword as usize % self.banks
        }
    }
}

/// Marks a lane without an access.
const NOWHERE: u8 = u8::MAX;

/// Iterates over the accesses of the lanes in a mask.
#[derive(Clone, Copy)]
struct Active<'a> {
    touches: &'a [Touch],
    /// For each lane, the index of its access, or [`NOWHERE`].
    place: &'a [u8; LANES],
    rest: u64,
}

impl Iterator for Active<'_> {
    type Item = Touch;

    fn next(&mut self) -> Option<Touch> {
        while self.rest != 0 {
            let lane = self.rest.trailing_zeros() as usize;
            self.rest &= self.rest - 1;
            if let Some(touch) = self.touches.get(usize::from(self.place[lane])) {
                return Some(*touch);
            }
        }
        None
    }
}

/// The dwords that an access covers.
fn dwords(touch: &Touch) -> std::ops::RangeInclusive<u32> {
    let first = touch.address as u32;
    first / 4..=(first + u32::from(touch.bytes).max(1) - 1) / 4
}

/// Distributes the accesses of one lane over rounds, one access for each round; adjacent accesses are merged.
fn put_rounds(rounds: &mut Vec<Vec<Touch>>, mut own: &[Touch]) {
    let mut round = 0;
    while let [first, ..] = own {
        let mut touch = *first;
        let mut count = 1;
        while let Some(next) = own.get(count).filter(|next| continues(&touch, next)) {
            touch.bytes += next.bytes;
            count += 1;
        }
        match rounds.get_mut(round) {
            Some(accesses) => accesses.push(touch),
            None => rounds.push(vec![touch]),
        }
        round += 1;
        own = &own[count..];
    }
}

/// True if `next` starts where `touch` ends, and both together are not wider than the widest access.
fn continues(touch: &Touch, next: &Touch) -> bool {
    let end = touch.address + u64::from(touch.bytes);
    next.lane == touch.lane
        && next.kind == touch.kind
        && next.address == end
        && touch.kind != Kind::Atomic
        && touch.bytes + next.bytes <= 16
}

/// The port of a SIMD: SIMDs 0 and 1 share a port, and so do SIMDs 2 and 3.
fn port(simd: usize) -> usize {
    simd / 2 % PORTS
}

#[cfg(test)]
mod tests {
    use gcn_isa::Target;

    use super::*;
    use crate::core::trace::Path;

    fn touches(bytes: u16, kind: Kind, address: impl Fn(u64) -> u64) -> Vec<Touch> {
        (0..64)
            .map(|lane| Touch {
                space: Path::Lds,
                lane: Some(lane as u8),
                address: address(lane),
                bytes,
                kind,
            })
            .collect()
    }

    fn lds(target: Target) -> Lds {
        Lds::new(&Params::new(target, &[]), LANES as u64)
    }

    /// The expected cycles are measurements on an MI308X (github.com/tingqli/pyhip, docs/mem_latency.md). Strides are in dwords.
    #[test]
    fn b32_conflicts_take_as_long_as_measured() {
        let mut lds = lds(Target::GFX942);
        let mut cycles = |stride: u64| lds.bank_cycles(&touches(4, Kind::Read, |lane| lane * stride * 4)).0;
        // Measured: 4, 16 and 64 cycles. The 4 cycles are those of the port; with both ports in use this corresponds to 2 cycles of the
        // banks.
        assert_eq!([1, 8, 32].map(&mut cycles), [2, 16, 64]);
        // If all lanes read one dword, it is broadcast.
        assert_eq!(cycles(0), 2);
    }

    /// The expected phases and banks are those that HipKittens found on an MI355X: 64 banks, four phases for 128 bits.
    #[test]
    fn wide_reads_of_consecutive_data_have_no_conflicts() {
        for (target, phases) in [(Target::GFX942, [2, 4, 8]), (Target::GFX950, [1, 2, 4])] {
            let mut lds = lds(target);
            let mut cycles =
                |bytes: u16| lds.bank_cycles(&touches(bytes, Kind::Read, |lane| lane * u64::from(bytes)));
            assert_eq!([4, 8, 16].map(&mut cycles), phases.map(|n| (n, 0)), "{target}");
        }
    }

    /// A write that arrives in cycle 100 delays later accesses, but not earlier ones.
    #[test]
    fn writes_of_loads_to_lds_take_the_banks_when_they_arrive() {
        let data = |kind| touches(16, kind, |lane| lane * 16);
        let read = Transfer { input: 4, output: 16 };
        let done = |copies: u64, now: u64| {
            let mut lds = lds(Target::GFX942);
            let there: Vec<u64> =
                (0..copies).map(|_| lds.write_arriving(0, 100, &data(Kind::Write))).collect();
            // Eight phases without conflicts.
            assert!(there.iter().all(|there| *there == 108), "{there:?}");
            lds.send(0, 0, now, read, &data(Kind::Read))
        };
        assert_eq!(done(4, 50), done(0, 50));
        // The write occupies the banks for 32 cycles first. The output of the port is busy for 16 cycles in either case.
        assert_eq!(done(4, 100), done(0, 100) + 32);
        assert_eq!(done(4, 200), done(0, 200));
    }

    #[test]
    fn atomics_on_one_dword_are_served_one_by_one() {
        let mut lds = lds(Target::GFX942);
        assert_eq!(lds.bank_cycles(&touches(4, Kind::Atomic, |_| 16)).0, 64);
    }
}
