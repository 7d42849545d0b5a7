//! The memory after a compute unit's first caches: L2, Infinity Cache, memory.
//!
//! A model of hits: each level knows its lines, has a latency that counts from the start of the access, and moves a
//! limited number of bytes in a cycle. What several CUs share is divided evenly among those that run the kernel, so that
//! one simulated CU gets what it would get on the busy device.

use serde::Serialize;

use super::cache::{Cache, Channel};
use crate::core::params::Params;

/// L2 and what is after it.
pub(super) struct Memory {
    l2: Cache,
    l2_channel: Channel,
    l2_latency: u64,
    mall: Cache,
    mall_channel: Channel,
    mall_latency: u64,
    channel: Channel,
    latency: u64,
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
    /// For `simulated` of `active` CUs.
    pub(super) fn new(params: &Params, simulated: u64, active: u64) -> Memory {
        let per_l2 = params.number("device.cus-per-l2").max(1);
        let line = params.number("l2.line");
        let mall_line = line.max(64);
        Memory {
            l2: Cache::new(params.number("l2.bytes"), line, params.number("l2.ways")),
            l2_channel: Channel::new(params.number("l2.bandwidth"), simulated, active.min(per_l2)),
            l2_latency: params.number("l2.latency"),
            mall: Cache::new(params.number("mall.bytes"), mall_line, params.number("mall.ways")),
            mall_channel: Channel::new(params.number("mall.bandwidth"), simulated, active),
            mall_latency: params.number("mall.latency"),
            channel: Channel::new(params.number("memory.bandwidth"), simulated, active),
            latency: params.number("memory.latency"),
        }
    }

    /// Reads `bytes` at `address` from L2 on, in cycle `now`; returns when they are with the CU.
    pub(super) fn read(&mut self, now: u64, address: u64, bytes: u64) -> u64 {
        let start = self.l2_channel.take(now, bytes);
        let line = self.l2.line_of(address);
        match self.l2.find(line) {
            Some(ready) => ready.max(start + self.l2_latency),
            None => {
                let ready = self.fill(start, address);
                self.l2.insert(line, ready);
                ready
            }
        }
    }

    /// Writes `bytes` at `address` to L2 in cycle `now`; returns when the CU knows that they are there. L2 writes back: a
    /// line that is written whole is not read first, and the traffic of write-backs is not modelled.
    pub(super) fn write(&mut self, now: u64, address: u64, bytes: u64) -> u64 {
        let start = self.l2_channel.take(now, bytes);
        let line = self.l2.line_of(address);
        if self.l2.find(line).is_none() {
            self.channel.take(start, bytes);
            self.l2.insert(line, start);
        }
        start + self.l2_latency
    }

    /// A line of L2 from after it.
    fn fill(&mut self, now: u64, address: u64) -> u64 {
        let bytes = self.l2.line_bytes();
        let line = self.mall.line_of(address);
        if let Some(ready) = self.mall.find(line) {
            return ready.max(self.mall_channel.take(now, bytes) + self.mall_latency);
        }
        let ready = self.channel.take(now, bytes) + self.latency;
        self.mall.insert(line, ready);
        ready
    }

    pub(super) fn l2(&self) -> CacheUse {
        CacheUse::of(&self.l2)
    }

    pub(super) fn mall(&self) -> CacheUse {
        CacheUse::of(&self.mall)
    }

    /// Bytes to and from memory.
    pub(super) fn bytes(&self) -> u64 {
        self.channel.bytes
    }
}
