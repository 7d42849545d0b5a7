//! The memory hierarchy after the first-level caches of a compute unit: L2, Infinity Cache, memory.
//!
//! Each level stores which lines it contains, has a latency that is measured from the start of the access, and moves a limited number of
//! bytes per cycle. Simulated CUs share the lines of their L2 and of the Infinity Cache. For the CUs that are not simulated, `l2.reuse` and
//! `mall.reuse` state how many CUs access the same lines. Bandwidth is divided evenly among the CUs that run the kernel, so a simulated CU
//! gets as much as it would get on the busy device.

use serde::Serialize;

use super::cache::{Cache, Channel};
use crate::core::params::Params;

/// The L2 caches and the levels after them.
pub(super) struct Memory {
    /// One entry for each L2 with a simulated CU.
    l2s: Vec<(Cache, Channel)>,
    /// The index of the L2 of the CU that is accessing memory.
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

/// True if it is assumed that a CU that is not simulated has fetched the line already: of the `reuse` CUs that access the same lines, each
/// fetches an equal share of the lines first. Multiplicative hashing (Knuth, volume 3, 6.4) selects the lines, so that no stride always
/// hits or always misses.
fn others_came_first(line: u64, reuse: u64) -> bool {
    !(line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).is_multiple_of(reuse)
}

/// The distribution of the grid over the device.
pub(super) struct Device {
    /// The number of CUs over which the grid is distributed: workgroup `i` runs on CU `i % cus`.
    pub cus: u64,
    /// The number of L2 caches. CU `c` uses L2 `c % l2s`, because workgroups are assigned to the XCDs in turn.
    pub l2s: u64,
    pub groups: u64,
    /// The simulated CUs, starting with those of the first L2.
    pub simulated: Vec<u64>,
}

impl Device {
    /// A device with `cus` CUs, of which `of_an_l2` share an L2.
    pub(super) fn new((cus, of_an_l2): (u64, u64), simulated: u64, groups: u64) -> Device {
        let l2s = cus.div_ceil(of_an_l2.max(1)).max(1);
        let of_l2 = |l2: u64| (l2..cus.min(groups)).step_by(l2s as usize);
        let simulated = (0..l2s).flat_map(of_l2).take(simulated as usize).collect();
        Device { cus, l2s, groups, simulated }
    }

    /// The number of CUs that have at least one workgroup.
    fn active(&self) -> u64 {
        self.cus.min(self.groups)
    }

    /// The index of a CU's L2.
    pub(super) fn l2_of(&self, cu: u64) -> u64 {
        cu % self.l2s
    }

    /// The number of workgroups that the simulated CUs run.
    pub(super) fn simulated_workgroups(&self) -> u64 {
        self.simulated.iter().map(|cu| (self.groups - cu).div_ceil(self.cus)).sum()
    }
}

/// The lookups in a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CacheUse {
    /// The number of lines that were found.
    pub hits: u64,
    /// The number of lines that were not found.
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
    /// The memory for the simulated CUs of a device.
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

    /// Selects the L2 for the following requests.
    pub(super) fn select(&mut self, l2: u64) {
        self.current = (l2 as usize).min(self.l2s.len() - 1);
    }

    /// Reads `bytes` at `address` through L2, starting in cycle `now`; returns the cycle in which the CU has them.
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

    /// Writes `bytes` at `address` to L2 in cycle `now`; returns the cycle in which the CU receives the acknowledgement. L2 is write-back:
    /// a line that is written completely is not read first. The traffic of write-backs is not modelled.
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

    /// Fetches a line of L2 from the levels after it.
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

    /// The number of bytes moved to and from memory.
    pub(super) fn bytes(&self) -> u64 {
        self.channel.bytes
    }
}
