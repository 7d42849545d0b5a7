//! Vector clocks: a wave's knowledge of the progress of other waves.

/// The number of a wave in the launch: its workgroup's index times [`WAVES`], plus its number in the workgroup.
pub(super) type Thread = u32;

/// The maximum number of waves in a workgroup: 1,024 work-items in waves of 32.
pub(super) const WAVES: u32 = 32;

/// For each wave, the clock value up to which its actions are known to have happened before.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    group: u32,
    /// The clock values of the waves of the same workgroup.
    own: [u32; WAVES as usize],
    /// The number of waves, from the first on, of which something may be known.
    used: usize,
    /// The clock values of waves of other workgroups, known through atomics, in ascending order of the waves.
    foreign: Vec<(Thread, u32)>,
}

impl Clock {
    /// A clock without any knowledge, for a wave of this workgroup.
    pub(super) fn nothing(group: u32) -> Clock {
        Clock { group, ..Clock::default() }
    }

    pub(super) fn new(group: u32, wave: usize) -> Clock {
        let mut clock = Clock::nothing(group);
        clock.advance(wave);
        clock
    }

    /// True if the actions of `thread` at its clock value `at` happened before.
    pub(super) fn knows(&self, thread: Thread, at: u32) -> bool {
        let known = if thread / WAVES == self.group {
            self.own[(thread % WAVES) as usize]
        } else {
            self.place(thread).map_or(0, |at| self.foreign[at].1)
        };
        known >= at
    }

    pub(super) fn now(&self, wave: usize) -> u32 {
        self.own[wave]
    }

    /// Starts a new interval of the wave.
    pub(super) fn advance(&mut self, wave: usize) {
        self.own[wave] += 1;
        self.used = self.used.max(wave + 1);
    }

    /// Takes over what `other` knows about one wave of the workgroup.
    pub(super) fn learn_own(&mut self, wave: usize, other: &Clock) {
        self.own[wave] = self.own[wave].max(other.own[wave]);
        self.used = self.used.max(wave + 1);
    }

    /// Takes over everything that `other` knows.
    pub(super) fn join(&mut self, other: &Clock) {
        if other.group == self.group {
            // Most workgroups have few waves. Of eight at a time, the compiler uses vectors.
            let (mine, theirs) = (self.own.as_chunks_mut::<8>().0, other.own.as_chunks::<8>().0);
            for (mine, theirs) in mine.iter_mut().zip(theirs).take(other.used.div_ceil(8)) {
                for (mine, theirs) in mine.iter_mut().zip(theirs) {
                    *mine = (*mine).max(*theirs);
                }
            }
            self.used = self.used.max(other.used);
        } else {
            for (wave, &at) in (0..).zip(&other.own).filter(|(_, at)| **at > 0) {
                self.learn(other.group * WAVES + wave, at);
            }
        }
        let mut place = 0;
        for &(thread, at) in &other.foreign {
            if thread / WAVES == self.group {
                let wave = (thread % WAVES) as usize;
                self.own[wave] = self.own[wave].max(at);
                self.used = self.used.max(wave + 1);
                continue;
            }
            while self.foreign.get(place).is_some_and(|known| known.0 < thread) {
                place += 1;
            }
            match self.foreign.get_mut(place) {
                Some(known) if known.0 == thread => known.1 = known.1.max(at),
                _ => self.foreign.insert(place, (thread, at)),
            }
        }
    }

    fn learn(&mut self, thread: Thread, at: u32) {
        match self.place(thread) {
            Ok(place) => self.foreign[place].1 = self.foreign[place].1.max(at),
            Err(place) => self.foreign.insert(place, (thread, at)),
        }
    }

    /// The place of a wave among those of other workgroups, or the place at which to insert it.
    fn place(&self, thread: Thread) -> Result<usize, usize> {
        self.foreign.binary_search_by_key(&thread, |known| known.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knowledge_passes_through_third_parties_and_other_groups() {
        let (mut a, mut b, mut far) = (Clock::new(0, 0), Clock::new(0, 1), Clock::new(7, 0));
        assert!(a.knows(0, 1) && !a.knows(1, 1) && !far.knows(0, 1));
        b.join(&a);
        a.advance(0);
        assert!(b.knows(0, 1) && !b.knows(0, 2));
        far.join(&b);
        assert!(far.knows(0, 1) && far.knows(1, 1) && !far.knows(0, 2));
        a.join(&far);
        assert!(a.knows(7 * WAVES, 1) && a.knows(1, 1) && a.now(0) == 2);
    }
}
