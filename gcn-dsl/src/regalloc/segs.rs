//! Sets of slots (points in time) as sorted, disjoint half-open segments. Such a set is the life of one dword of a
//! virtual register.

use smallvec::SmallVec;

/// A point in the linear order of the function. Instruction `i` reads at slot `2 i` and writes at slot
/// `2 i + 1`.
pub(super) type Slot = u32;

/// The half-open range of slots `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Seg {
    pub start: Slot,
    pub end: Slot,
}

/// Segments in ascending order, neither overlapping nor touching.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Segs(SmallVec<[Seg; 2]>);

impl Segs {
    pub fn as_slice(&self) -> &[Seg] {
        &self.0
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The first slot of the set.
    pub fn start(&self) -> Option<Slot> {
        self.0.first().map(|s| s.start)
    }

    /// The segment that contains `slot`.
    pub fn at(&self, slot: Slot) -> Option<Seg> {
        let i = self.0.partition_point(|s| s.end <= slot);
        self.0.get(i).copied().filter(|s| s.start <= slot)
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a segment that ends at or before the start of the set, as in a backward scan. [`Segs::finish`] must be
    /// called before any other method is used.
    pub fn push_backward(&mut self, seg: Seg) {
        if seg.start >= seg.end {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.start == seg.end => last.start = seg.start,
            _ => self.0.push(seg),
        }
    }

    /// Ends a series of calls of [`Segs::push_backward`].
    pub fn finish(&mut self) {
        self.0.reverse();
    }

    /// Adds a segment, which may overlap or touch segments of the set.
    pub fn insert(&mut self, seg: Seg) {
        if seg.start >= seg.end {
            return;
        }
        let from = self.0.partition_point(|s| s.end < seg.start);
        let to = from + self.0[from..].partition_point(|s| s.start <= seg.end);
        if from == to {
            self.0.insert(from, seg);
            return;
        }
        let end = seg.end.max(self.0[to - 1].end);
        self.0[from].start = self.0[from].start.min(seg.start);
        self.0[from].end = end;
        if to - from > 1 {
            self.0.drain(from + 1..to);
        }
    }

    /// Adds every segment of `other`.
    pub fn absorb(&mut self, other: Segs) {
        if self.0.is_empty() {
            *self = other;
        } else if other.0.len() * 8 < self.0.len() {
            // `other` has few segments: a binary search for each is cheaper than merging the two lists. If `other`
            // comes later in program order, each insertion is at the end.
            for seg in other.0 {
                self.insert(seg);
            }
        } else {
            self.merge_linear(&other);
        }
    }

    fn merge_linear(&mut self, other: &Segs) {
        let mut merged: SmallVec<[Seg; 2]> = SmallVec::with_capacity(self.0.len() + other.0.len());
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.start <= y.start => a.next(),
                (Some(_), None) => a.next(),
                _ => b.next(),
            };
            let Some(&seg) = next else { break };
            match merged.last_mut() {
                Some(last) if last.end >= seg.start => last.end = last.end.max(seg.end),
                _ => merged.push(seg),
            }
        }
        self.0 = merged;
    }

    /// True if no slot outside `exempt` is in both sets.
    pub fn disjoint_except(&self, other: &Segs, exempt: Seg) -> bool {
        let (few, many) = if self.len() <= other.len() { (self, other) } else { (other, self) };
        let mut at = 0;
        for seg in &few.0 {
            // Iterate over the smaller set, so that a long set costs only a binary search for each segment of the short
            // one.
            at += many.0[at..].partition_point(|s| s.end <= seg.start);
            for hit in many.0[at..].iter().take_while(|s| s.start < seg.end) {
                let (start, end) = (hit.start.max(seg.start), hit.end.min(seg.end));
                if start < exempt.start || end > exempt.end {
                    return false;
                }
            }
        }
        true
    }
}

impl Segs {
    /// True if no slot is in both sets.
    pub fn disjoint(&self, other: &Segs) -> bool {
        self.first_shared(other).is_none()
    }

    /// The first slot that is in both sets.
    pub fn first_shared(&self, other: &Segs) -> Option<Slot> {
        self.0.iter().find_map(|seg| {
            let hit = other.0.get(other.0.partition_point(|s| s.end <= seg.start))?;
            (hit.start < seg.end).then(|| hit.start.max(seg.start))
        })
    }

    /// True if some slot of `seg` is in the set.
    pub fn meets(&self, seg: Seg) -> bool {
        let at = self.0.partition_point(|s| s.end <= seg.start);
        self.0.get(at).is_some_and(|s| s.start < seg.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segs(list: &[(u32, u32)]) -> Segs {
        let mut s = Segs::default();
        for &(start, end) in list {
            s.insert(Seg { start, end });
        }
        s
    }

    fn slots(s: &Segs) -> Vec<u32> {
        s.as_slice().iter().flat_map(|s| s.start..s.end).collect()
    }

    #[test]
    fn insertion_keeps_the_set_sorted_and_fused() {
        let s = segs(&[(10, 12), (2, 4), (4, 6), (20, 30), (11, 21)]);
        assert_eq!(s.as_slice(), &[Seg { start: 2, end: 6 }, Seg { start: 10, end: 30 }]);
    }

    proptest::proptest! {
        /// Compares with plain sets of slots.
        #[test]
        fn union_and_disjointness_agree_with_plain_sets(
            a in proptest::collection::vec((0u32..60, 1u32..6), 0..20),
            b in proptest::collection::vec((0u32..60, 1u32..6), 0..4),
            at in 0u32..60,
        ) {
            let set = |v: &[(u32, u32)]| segs(&v.iter().map(|&(s, n)| (s, s + n)).collect::<Vec<_>>());
            let plain = |v: &[(u32, u32)]| {
                v.iter().flat_map(|&(s, n)| s..s + n).collect::<std::collections::BTreeSet<_>>()
            };
            let exempt = Seg { start: at, end: at + 1 };
            let disjoint = plain(&a).intersection(&plain(&b)).all(|&s| s == at);
            proptest::prop_assert_eq!(set(&a).disjoint_except(&set(&b), exempt), disjoint);
            let shared = plain(&a).intersection(&plain(&b)).next().copied();
            proptest::prop_assert_eq!(set(&a).first_shared(&set(&b)), shared);
            proptest::prop_assert_eq!(set(&a).meets(exempt), plain(&a).contains(&at));
            let mut union = set(&a);
            union.absorb(set(&b));
            let expected: Vec<u32> = plain(&a).union(&plain(&b)).copied().collect();
            proptest::prop_assert_eq!(slots(&union), expected);
            proptest::prop_assert!(union.as_slice().windows(2).all(|w| w[0].end < w[1].start));
        }
    }
}
