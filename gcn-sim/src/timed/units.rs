//! The units of a compute unit that access memory: vector memory with its L1, and scalar memory with its cache.

use super::cache::{Cache, Channel};
use super::memory::Memory;
use crate::core::params::Params;
use crate::core::trace::{Kind, Path, Touch};

/// Scratch is in memory as well: the scratch of each wave gets separate addresses, far from those of buffers.
const SCRATCH: u64 = 1 << 60;

/// The cache that compute units share between L1 and L2: the graphics L1 of RDNA.
pub(super) struct Middle {
    pub cache: Cache,
    latency: u64,
}

impl Middle {
    /// A cache of size 0, which passes all accesses through.
    pub(super) fn new(params: &Params) -> Middle {
        let line = params.number("l1.line");
        let cache = Cache::new(params.number("gl1.bytes"), line, params.number("gl1.ways"));
        Middle { cache, latency: params.number("gl1.latency") }
    }
}

/// The levels of the memory hierarchy after the vector L1.
pub(super) struct Way<'a> {
    pub middle: &'a mut Middle,
    pub memory: &'a mut Memory,
}

impl Way<'_> {
    /// Reads a line, starting in cycle `now`; returns the cycle in which the compute unit has it.
    fn read(&mut self, now: u64, line: u64, bytes: u64) -> u64 {
        if let Some(ready) = self.middle.cache.find(line) {
            return ready.max(now + self.middle.latency);
        }
        let ready = self.memory.read(now, line * bytes, bytes);
        self.middle.cache.insert(line, ready);
        ready
    }
}

/// The address unit and the vector L1 cache.
pub(super) struct Vector {
    lanes: u64,
    free: u64,
    queue: u64,
    /// The number of cycles in which the address unit accepts the addresses of a wave.
    address: u64,
    bandwidth: u64,
    latency: u64,
    pub l1: Cache,
    port: Channel,
    /// The cache lines that the current instruction accesses; a field, so that its memory is reused.
    lines: Vec<u64>,
    /// The time in which the unit worked for the last instruction: the first cycle and the number of cycles.
    pub span: (u64, u64),
    /// The number of cycles in which the unit was busy.
    pub busy: u64,
    /// The number of bytes that lanes read and wrote.
    pub bytes: u64,
}

impl Vector {
    /// A unit for waves of `lanes` lanes.
    pub(super) fn new(params: &Params, lanes: u64) -> Vector {
        Vector {
            lanes,
            free: 0,
            queue: params.number("vmem.queue"),
            address: lanes.div_ceil(params.number("vmem.address").max(1)),
            bandwidth: params.number("l1.bandwidth").max(1),
            latency: params.number("l1.latency"),
            l1: Cache::new(params.number("l1.bytes"), params.number("l1.line"), params.number("l1.ways")),
            port: Channel::new(params.number("l2.port"), 1, 1),
            lines: Vec::new(),
            span: (0, 0),
            busy: 0,
            bytes: 0,
        }
    }

    /// The cycle from which the unit accepts an instruction.
    pub(super) fn accepts(&self) -> u64 {
        self.free.saturating_sub(self.queue)
    }

    /// Sends the accesses of an instruction to memory in cycle `now`. Returns the cycle in which they complete. `scratch` identifies the
    /// wave, and determines the addresses of its scratch. With `bypass`, loads do not look up L1.
    pub(super) fn send(
        &mut self,
        mut way: Way<'_>,
        now: u64,
        touches: &[Touch],
        bypass: bool,
        scratch: u64,
    ) -> u64 {
        let line_bytes = self.l1.line_bytes();
        let (mut kind, mut bytes) = (Kind::Read, 0);
        self.lines.clear();
        for touch in touches.iter().filter(|t| t.space != Path::Lds) {
            (kind, bytes) = (touch.kind, bytes + u64::from(touch.bytes));
            let first = physical(touch, scratch, self.lanes);
            let lines = self.l1.line_of(first)..=self.l1.line_of(first + u64::from(touch.bytes).max(1) - 1);
            for line in lines {
                if self.lines.last() != Some(&line) {
                    self.lines.push(line);
                }
            }
        }
        self.lines.sort_unstable();
        self.lines.dedup();
        let lines = std::mem::take(&mut self.lines);
        let start = now.max(self.free);
        let transfer = (lines.len() as u64 * line_bytes).div_ceil(self.bandwidth);
        let busy = self.address.max(transfer);
        self.free = start + busy;
        self.span = (start, busy);
        self.busy += busy;
        self.bytes += bytes;
        // Without active lanes, there are no accesses and only the address unit is busy.
        let mut done = self.free;
        for (i, line) in lines.iter().enumerate() {
            let at = start + i as u64 * line_bytes / self.bandwidth;
            let share = bytes.div_ceil(lines.len() as u64).min(line_bytes);
            done = done.max(self.line(&mut way, at, *line, kind, bypass, share));
        }
        self.lines = lines;
        done
    }

    /// Accesses one line, starting in cycle `at`.
    fn line(&mut self, way: &mut Way<'_>, at: u64, line: u64, kind: Kind, bypass: bool, share: u64) -> u64 {
        let line_bytes = self.l1.line_bytes();
        let address = line * line_bytes;
        match kind {
            Kind::Read => {
                if !bypass && let Some(ready) = self.l1.find(line) {
                    return ready.max(at + self.latency);
                }
                let at = self.port.take(at, line_bytes);
                if bypass {
                    return way.memory.read(at, address, line_bytes);
                }
                let ready = way.read(at, line, line_bytes);
                self.l1.insert(line, ready);
                ready
            }
            // Stores are written through to L2, and atomics are executed there.
            Kind::Write => way.memory.write(self.port.take(at, share), address, share),
            Kind::Atomic => way.memory.read(self.port.take(at, share), address, share),
        }
    }

    /// Invalidates L1. Returns the cycle in which the invalidation completes.
    pub(super) fn invalidate(&mut self, now: u64) -> u64 {
        self.l1.clear();
        now + self.latency
    }
}

/// The memory address of an access. Scratch is interleaved by dwords and lanes, as its buffer resource specifies.
fn physical(touch: &Touch, scratch: u64, lanes: u64) -> u64 {
    if touch.space != Path::Scratch {
        return touch.address;
    }
    let lane = u64::from(touch.lane.unwrap_or(0));
    SCRATCH + (scratch << 36) + touch.address / 4 * (4 * lanes) + lane * 4 + touch.address % 4
}

/// Scalar memory and its cache.
pub(super) struct Scalar {
    pub cache: Cache,
    channel: Channel,
    latency: u64,
    store_latency: u64,
}

impl Scalar {
    pub(super) fn new(params: &Params) -> Scalar {
        let number = |name| params.number(name);
        Scalar {
            cache: Cache::new(number("scalar.bytes"), number("scalar.line"), number("scalar.ways")),
            channel: Channel::new(number("scalar.bandwidth"), 1, 1),
            latency: number("scalar.latency"),
            store_latency: number("smem.store-latency"),
        }
    }

    /// Sends the accesses of an instruction in cycle `now`; returns the cycle in which they complete.
    pub(super) fn send(&mut self, memory: &mut Memory, now: u64, touches: &[Touch]) -> u64 {
        let line_bytes = self.cache.line_bytes();
        let mut done = now + self.latency;
        let mut last = None;
        for touch in touches {
            if touch.kind != Kind::Read {
                done = done.max(now + self.store_latency);
                continue;
            }
            let line = self.cache.line_of(touch.address);
            if last == Some(line) {
                continue;
            }
            last = Some(line);
            let start = self.channel.take(now, line_bytes);
            let ready = match self.cache.find(line) {
                Some(ready) => ready.max(start + self.latency),
                None => {
                    let ready = memory.read(start, line * line_bytes, line_bytes);
                    self.cache.insert(line, ready);
                    ready
                }
            };
            done = done.max(ready);
        }
        done
    }
}
