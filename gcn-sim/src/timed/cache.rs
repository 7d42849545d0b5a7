//! A set-associative cache with LRU replacement, which stores for each line the cycle from which it is present; and a channel with limited
//! bandwidth.

/// The tags of a cache. All times are in cycles.
pub(super) struct Cache {
    /// The sets, one after the other. In a set, lines are ordered from the most to the least recently used. An entry consists of the line
    /// number plus one and of the cycle from which the line is present. A free entry is all zeros: zeroed memory is committed only when it
    /// is written, so unused sets of a large cache cost nothing.
    lines: Vec<[u64; 2]>,
    sets: u64,
    ways: usize,
    line: u64,
    /// The log2 of the line size; `None` if it is not a power of two.
    shift: Option<u32>,
    /// The numbers of hits and of misses.
    pub hits: u64,
    pub misses: u64,
}

impl Cache {
    /// A cache of `bytes` bytes with lines of `line` bytes; with 0 bytes, every access misses.
    pub(super) fn new(bytes: u64, line: u64, ways: u64) -> Cache {
        let (line, ways) = (line.max(1), ways.clamp(1, MOST_WAYS));
        let lines = (bytes / line).min(MOST_LINES);
        let sets = if lines == 0 { 0 } else { (lines / ways).max(1) };
        let shift = line.is_power_of_two().then(|| line.trailing_zeros());
        let lines = vec![[0; 2]; (sets * ways) as usize];
        Cache { lines, sets, ways: ways as usize, line, shift, hits: 0, misses: 0 }
    }

    /// The entries of the set to which a line belongs.
    fn set(&mut self, line: u64) -> &mut [[u64; 2]] {
        let first = line.checked_rem(self.sets).map_or(0, |set| set as usize * self.ways);
        self.lines.get_mut(first..first + self.ways).unwrap_or_default()
    }

    /// The line size in bytes.
    pub(super) fn line_bytes(&self) -> u64 {
        self.line
    }

    /// The number of the line that contains `address`.
    pub(super) fn line_of(&self, address: u64) -> u64 {
        match self.shift {
            Some(shift) => address >> shift,
            None => address / self.line,
        }
    }

    /// Looks up a line. Returns the cycle from which it is present, or `None` if it is neither in the cache nor being fetched.
    pub(super) fn find(&mut self, line: u64) -> Option<u64> {
        let set = self.set(line);
        let found = set.iter().position(|[tag, _]| *tag == line + 1);
        let ready = found.and_then(|at| {
            set[..=at].rotate_right(1);
            set.first().map(|[_, ready]| *ready)
        });
        match ready {
            Some(_) => self.hits += 1,
            None => self.misses += 1,
        }
        ready
    }

    /// Inserts `line`, which is present from cycle `ready` on.
    pub(super) fn insert(&mut self, line: u64, ready: u64) {
        let set = self.set(line);
        if let [_, ..] = set {
            set.rotate_right(1);
            set[0] = [line + 1, ready];
        }
    }

    /// Invalidates all lines.
    pub(super) fn clear(&mut self) {
        self.lines.fill([0; 2]);
    }
}

/// Upper limits for the size of a cache, whatever its parameters are.
const MOST_LINES: u64 = 1 << 24;
const MOST_WAYS: u64 = 1 << 10;

/// A channel with limited bandwidth that serves one request after the other.
pub(super) struct Channel {
    /// The time from which the channel is free, in 1/[`PARTS`] of a cycle, because a share of a bandwidth may be less than a byte per
    /// cycle.
    free: u64,
    /// The time for a byte in 1/[`PARTS`] of a cycle, rounded.
    per_byte: u64,
    /// The number of bytes moved.
    pub bytes: u64,
}

/// The resolution of times. At 100 bytes per cycle, rounding changes the time for a byte by less than one part in 100,000.
const PARTS: u64 = 1 << 24;

impl Channel {
    /// A channel with the fraction `share`/`of` of `bytes_per_cycle`.
    pub(super) fn new(bytes_per_cycle: u64, share: u64, of: u64) -> Channel {
        let (parts, bytes) = (PARTS * of.max(1), bytes_per_cycle.max(1).saturating_mul(share.max(1)));
        Channel {
            free: 0,
            per_byte: (parts / bytes + u64::from(parts % bytes * 2 >= bytes)).max(1),
            bytes: 0,
        }
    }

    /// Requests `bytes` in cycle `now`; returns the cycle in which the transfer starts.
    pub(super) fn take(&mut self, now: u64, bytes: u64) -> u64 {
        let start = self.free.max(now.saturating_mul(PARTS));
        self.free = start.saturating_add(bytes.saturating_mul(self.per_byte));
        self.bytes += bytes;
        start / PARTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_recently_used_lines_go_first() {
        // Two sets of two ways; lines 0, 2 and 4 belong to the same set.
        let mut cache = Cache::new(256, 64, 2);
        for line in [0, 2] {
            assert_eq!(cache.find(line), None);
            cache.insert(line, 10 + line);
        }
        assert_eq!(cache.find(0), Some(10));
        cache.insert(4, 20);
        assert_eq!((cache.find(0), cache.find(2), cache.find(4)), (Some(10), None, Some(20)));
        assert_eq!((cache.hits, cache.misses), (3, 3));
        cache.clear();
        assert_eq!(cache.find(0), None);
        assert_eq!(Cache::new(0, 64, 4).find(0), None);
    }

    #[test]
    fn a_channel_moves_its_bytes_and_no_more() {
        let mut channel = Channel::new(64, 1, 1);
        assert_eq!([0, 0, 0, 100].map(|now| channel.take(now, 128)), [0, 2, 4, 100]);
        // A quarter of 64 bytes per cycle.
        let mut share = Channel::new(64, 1, 4);
        assert_eq!([0, 0].map(|now| share.take(now, 128)), [0, 8]);
        // The time for a byte is not a whole number of 1/`PARTS` cycles.
        let mut odd = Channel::new(54, 1, 1);
        for line in 0..10_000 {
            let (start, want) = (odd.take(0, 128), line * 128 / 54);
            assert!(start.abs_diff(want) <= 1, "{start} instead of {want}");
        }
    }
}
