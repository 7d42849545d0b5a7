//! A set-associative cache: tags with the time at which each line is there, replaced least recently used first.

/// Tags of a cache. Times are cycles.
pub(super) struct Cache {
    /// The sets one after another; in a set, lines from most to least recently used, each as its number plus one and the
    /// cycle from which it is present. A free place is all zeros: zeroed memory is committed only when it is written, so
    /// that the unused sets of a large cache cost nothing.
    lines: Vec<[u64; 2]>,
    sets: u64,
    ways: usize,
    line: u64,
    /// Its logarithm, if it is a power of two.
    shift: Option<u32>,
    /// Accesses that found their line, and that did not.
    pub hits: u64,
    pub misses: u64,
}

impl Cache {
    /// A cache of `bytes` bytes in lines of `line` bytes; with 0 bytes nothing is ever found.
    pub(super) fn new(bytes: u64, line: u64, ways: u64) -> Cache {
        let (line, ways) = (line.max(1), ways.clamp(1, MOST_WAYS));
        let lines = (bytes / line).min(MOST_LINES);
        let sets = if lines == 0 { 0 } else { (lines / ways).max(1) };
        let shift = line.is_power_of_two().then(|| line.trailing_zeros());
        let lines = vec![[0; 2]; (sets * ways) as usize];
        Cache { lines, sets, ways: ways as usize, line, shift, hits: 0, misses: 0 }
    }

    /// The places of the set of a line.
    fn set(&mut self, line: u64) -> &mut [[u64; 2]] {
        let first = line.checked_rem(self.sets).map_or(0, |set| set as usize * self.ways);
        self.lines.get_mut(first..first + self.ways).unwrap_or_default()
    }

    /// Bytes of a line.
    pub(super) fn line_bytes(&self) -> u64 {
        self.line
    }

    /// Number of the line that holds `address`.
    pub(super) fn line_of(&self, address: u64) -> u64 {
        match self.shift {
            Some(shift) => address >> shift,
            None => address / self.line,
        }
    }

    /// The cycle from which `line` is there, if it is in the cache or on its way.
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

    /// Puts `line` into the cache, to be there from `ready` on.
    pub(super) fn insert(&mut self, line: u64, ready: u64) {
        let set = self.set(line);
        if let [_, ..] = set {
            set.rotate_right(1);
            set[0] = [line + 1, ready];
        }
    }

    /// Forgets every line.
    pub(super) fn clear(&mut self) {
        self.lines.fill([0; 2]);
    }
}

/// Limits of a cache's size, whatever its parameters say.
const MOST_LINES: u64 = 1 << 24;
const MOST_WAYS: u64 = 1 << 10;

/// Something that moves so many bytes in a cycle, one request after the other.
pub(super) struct Channel {
    /// When it is free, in parts of a cycle: bandwidths shared by many CUs are fractions of a byte.
    free: u64,
    /// Parts of a cycle for a byte, rounded.
    per_byte: u64,
    /// Bytes moved.
    pub bytes: u64,
}

/// Parts of a cycle. At 100 bytes a cycle, rounding changes the time of a byte by less than one part in 100,000.
const PARTS: u64 = 1 << 24;

impl Channel {
    /// A channel with a share of `share`/`of` of `bytes_per_cycle`.
    pub(super) fn new(bytes_per_cycle: u64, share: u64, of: u64) -> Channel {
        let (parts, bytes) = (PARTS * of.max(1), bytes_per_cycle.max(1).saturating_mul(share.max(1)));
        Channel {
            free: 0,
            per_byte: (parts / bytes + u64::from(parts % bytes * 2 >= bytes)).max(1),
            bytes: 0,
        }
    }

    /// Takes `bytes` from cycle `now` on; returns the cycle in which they begin to move.
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
        // Two sets of two ways: lines 0, 2, 4 share a set.
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
        // A quarter of 64 bytes a cycle.
        let mut share = Channel::new(64, 1, 4);
        assert_eq!([0, 0].map(|now| share.take(now, 128)), [0, 8]);
        // A byte takes no whole number of parts.
        let mut odd = Channel::new(54, 1, 1);
        for line in 0..10_000 {
            let (start, want) = (odd.take(0, 128), line * 128 / 54);
            assert!(start.abs_diff(want) <= 1, "{start} instead of {want}");
        }
    }
}
