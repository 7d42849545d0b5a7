//! The memory after a compute unit's first caches: L2, Infinity Cache, memory.
//!
//! A model of hits: each level knows its lines, has a latency that counts from the start of the access, and moves a
//! limited number of bytes in a cycle. CUs that are simulated share the lines of their L2 and of the Infinity Cache; of
//! those that are not, `l2.reuse` and `mall.reuse` say how many want the same lines. Bandwidth is divided evenly among the
//! CUs that run the kernel, so that a simulated CU gets what it would get on the busy device.

use serde::Serialize;

use super::cache::{Cache, Channel};
use crate::core::params::Params;

/// The L2 caches and what is after them.
pub(super) struct Memory {
    /// One for each L2 with a simulated CU.
    l2s: Vec<(Cache, Channel)>,
    /// The one of the CU that asks.
    current: usize,
    l2_latency: u64,
    l2_reuse: u64,
    mall_reuse: u64,
    mall: Cache,
    mall_channel: Channel,
    mall_latency: u64,
    channel: Channel,
    latency: u64,
}

/// True if a CU that is not simulated has brought the line: of CUs that want the same lines each is the first for an equal
/// share of them. Lines are spread by multiplicative hashing (Knuth, volume 3, 6.4), so that no stride of lines is always
/// first.
fn others_came_first(line: u64, reuse: u64) -> bool {
    !(line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).is_multiple_of(reuse)
}

/// How the grid lies on the device.
pub(super) struct Device {
    /// CUs that share the grid: workgroup `i` runs on CU `i % cus`.
    pub cus: u64,
    /// L2 caches: CU `c` has L2 `c % l2s`, as workgroups go to the XCDs in turn.
    pub l2s: u64,
    pub groups: u64,
    /// The CUs that are simulated, those of the first L2 first.
    pub simulated: Vec<u64>,
}

impl Device {
    /// `cus` CUs, so many for an L2.
    pub(super) fn new((cus, of_an_l2): (u64, u64), simulated: u64, groups: u64) -> Device {
        let l2s = cus.div_ceil(of_an_l2.max(1)).max(1);
        let of_l2 = |l2: u64| (l2..cus.min(groups)).step_by(l2s as usize);
        let simulated = (0..l2s).flat_map(of_l2).take(simulated as usize).collect();
        Device { cus, l2s, groups, simulated }
    }

    /// CUs that have work.
    fn active(&self) -> u64 {
        self.cus.min(self.groups)
    }

    /// The L2 of a CU.
    pub(super) fn l2_of(&self, cu: u64) -> u64 {
        cu % self.l2s
    }

    /// Workgroups of the simulated CUs.
    pub(super) fn simulated_workgroups(&self) -> u64 {
        self.simulated.iter().map(|cu| (self.groups - cu).div_ceil(self.cus)).sum()
    }
}

/// How often a cache was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CacheUse {
    /// Lines found.
    pub hits: u64,
    /// Lines not found.
    pub misses: u64,
}

impl CacheUse {
    pub(super) fn of(cache: &Cache) -> CacheUse {
        CacheUse { hits: cache.hits, misses: cache.misses }
    }

    pub(super) fn plus(self, other: CacheUse) -> CacheUse {
        CacheUse { hits: self.hits + other.hits, misses: self.misses + other.misses }
    }
}

impl Memory {
    /// For the simulated CUs of a device.
    pub(super) fn new(params: &Params, device: &Device) -> Memory {
        let line = params.number("l2.line");
        let mall_line = line.max(64);
        let (simulated, active) = (device.simulated.len() as u64, device.active());
        let l2 = |l2: u64| {
            let cache = Cache::new(params.number("l2.bytes"), line, params.number("l2.ways"));
            let own = device.simulated.iter().filter(|cu| device.l2_of(**cu) == l2).count() as u64;
            (cache, Channel::new(params.number("l2.bandwidth"), own, active.div_ceil(device.l2s)))
        };
        Memory {
            l2s: (0..device.l2s).take_while(|n| *n < simulated.max(1)).map(l2).collect(),
            current: 0,
            l2_reuse: params.number("l2.reuse").max(1),
            mall_reuse: params.number("mall.reuse").max(1),
            l2_latency: params.number("l2.latency"),
            mall: Cache::new(params.number("mall.bytes"), mall_line, params.number("mall.ways")),
            mall_channel: Channel::new(params.number("mall.bandwidth"), simulated, active),
            mall_latency: params.number("mall.latency"),
            channel: Channel::new(params.number("memory.bandwidth"), simulated, active),
            latency: params.number("memory.latency"),
        }
    }

    /// The following is requested by a CU of this L2.
    pub(super) fn select(&mut self, l2: u64) {
        self.current = (l2 as usize).min(self.l2s.len() - 1);
    }

    /// Reads `bytes` at `address` from L2 on, in cycle `now`; returns when they are with the CU.
    pub(super) fn read(&mut self, now: u64, address: u64, bytes: u64) -> u64 {
        let (l2, channel) = &mut self.l2s[self.current];
        let start = channel.take(now, bytes);
        let (line, line_bytes) = (l2.line_of(address), l2.line_bytes());
        if let Some(ready) = l2.find(line) {
            return ready.max(start + self.l2_latency);
        }
        let ready = match others_came_first(line, self.l2_reuse) {
            true => start + self.l2_latency,
            false => self.fill(start, address, line_bytes),
        };
        self.l2s[self.current].0.insert(line, ready);
        ready
    }

    /// Writes `bytes` at `address` to L2 in cycle `now`; returns when the CU knows that they are there. L2 writes back: a
    /// line that is written whole is not read first, and the traffic of write-backs is not modelled.
    pub(super) fn write(&mut self, now: u64, address: u64, bytes: u64) -> u64 {
        let (l2, channel) = &mut self.l2s[self.current];
        let start = channel.take(now, bytes);
        let line = l2.line_of(address);
        if l2.find(line).is_none() {
            self.channel.take(start, bytes);
            l2.insert(line, start);
        }
        start + self.l2_latency
    }

    /// A line of L2 from after it.
    fn fill(&mut self, now: u64, address: u64, bytes: u64) -> u64 {
        let line = self.mall.line_of(address);
        if let Some(ready) = self.mall.find(line) {
            return ready.max(self.mall_channel.take(now, bytes) + self.mall_latency);
        }
        let ready = match others_came_first(line, self.mall_reuse) {
            true => self.mall_channel.take(now, bytes) + self.mall_latency,
            false => self.channel.take(now, bytes) + self.latency,
        };
        self.mall.insert(line, ready);
        ready
    }

    pub(super) fn l2(&self) -> CacheUse {
        self.l2s.iter().map(|(cache, _)| CacheUse::of(cache)).fold(CacheUse::default(), CacheUse::plus)
    }

    pub(super) fn mall(&self) -> CacheUse {
        CacheUse::of(&self.mall)
    }

    /// Bytes to and from memory.
    pub(super) fn bytes(&self) -> u64 {
        self.channel.bytes
    }
}
