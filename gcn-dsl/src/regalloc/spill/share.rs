//! Shared homes: dwords of the frame, slots of LDS, and lanes of VGPRs. Several values with disjoint lives can use the
//! same one.
//!
//! Lives are counted in original instructions, which stay the same in all rounds; spill code counts with the original
//! instruction to which it belongs. A value is loaded and stored only where it is live, so values with disjoint lives
//! never collide in a home.

use super::super::segs::{Seg, Segs, Slot};
use super::role::Role;

/// The number of existing homes that are tried for one value. The bound keeps the search linear; after that many tries
/// the value gets a new home.
const TRIES: usize = 1024;

/// For each dword of a value, its life in original instructions.
pub(super) type Life = Vec<Segs>;

/// For each instruction of the working function, the number of original instructions before it.
pub(super) struct Clock(Vec<Slot>);

impl Clock {
    pub fn of(roles: &[Vec<Role>]) -> Clock {
        let mut owns = 0;
        let mut count = |role: &Role| {
            let before = owns;
            owns += Slot::from(*role == Role::Own);
            before
        };
        Clock(roles.iter().flatten().map(&mut count).collect())
    }

    /// Converts the lives of dwords from slots of the working function to original instructions.
    pub fn life(&self, dwords: &[Segs]) -> Life {
        let last = self.0.len().saturating_sub(1);
        let at = |slot: Slot| self.0.get((slot as usize / 2).min(last)).copied().unwrap_or(0);
        let life = |segs: &Segs| {
            let mut all = Segs::default();
            // Two more than the end: the move that stores a result comes after its original instruction and therefore
            // counts with the next one.
            segs.as_slice().iter().for_each(|s| all.insert(Seg { start: at(s.start), end: at(s.end) + 2 }));
            all
        };
        dwords.iter().map(life).collect()
    }
}

/// Numbered homes, each with the lives of the values that use it.
#[derive(Default)]
pub(super) struct Shared(Vec<Segs>);

impl Shared {
    /// The number of homes.
    pub fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// Allocates consecutive homes for the dwords of a value: existing ones if possible, otherwise new ones.
    pub fn place(&mut self, life: &[Segs], share: bool) -> u32 {
        self.take(life, self.find(life, share))
    }

    /// As `place`, but `None` if the homes would not all have numbers below `end`.
    pub fn place_below(&mut self, end: u32, life: &[Segs], share: bool) -> Option<u32> {
        let first = self.find(life, share);
        (first + life.len() <= end as usize).then(|| self.take(life, first))
    }

    fn find(&self, life: &[Segs], share: bool) -> usize {
        let free = |first: &usize| {
            let never = Seg { start: 0, end: 0 };
            life.iter().zip(&self.0[*first..]).all(|(new, old)| new.disjoint_except(old, never))
        };
        let tries = if share { TRIES } else { 0 };
        (0..self.0.len()).take(tries).find(free).unwrap_or(self.0.len())
    }

    fn take(&mut self, life: &[Segs], first: usize) -> u32 {
        self.0.resize_with(self.0.len().max(first + life.len()), Segs::default);
        for (place, life) in self.0[first..].iter_mut().zip(life) {
            place.absorb(life.clone());
        }
        first as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(list: &[(Slot, Slot)]) -> Segs {
        let mut segs = Segs::default();
        list.iter().for_each(|&(start, end)| segs.insert(Seg { start, end }));
        segs
    }

    #[test]
    fn values_share_places_where_none_of_their_dwords_meet() {
        let mut places = Shared::default();
        assert_eq!(places.place(&[life(&[(0, 4)]), life(&[(0, 9)])], true), 0);
        // The second home is in use until 9; the first is free from 4 on.
        assert_eq!(places.place(&[life(&[(4, 6)])], true), 0);
        assert_eq!(places.place(&[life(&[(5, 7)])], true), 2);
        assert_eq!(places.place(&[life(&[(6, 8)]), life(&[(9, 12)])], true), 0);
        assert_eq!((places.place(&[life(&[(20, 21)])], false), places.len()), (3, 4));
    }

    #[test]
    fn the_clock_counts_original_instructions() {
        let (own, before, after) = (Role::Own, Role::Before(0), Role::After(0));
        let clock = Clock::of(&[vec![own, after, before, own], vec![before, own]]);
        // The life lasts from the write of the first instruction to the read of the second-to-last move.
        assert_eq!(clock.life(&[life(&[(1, 9)])]), [life(&[(0, 4)])]);
    }
}
