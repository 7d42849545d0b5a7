//! Groups of lanes in the register file: arithmetic reads and writes a group at a time.

use std::cell::Cell;

use crate::core::value::{GROUP, GROUPS, Raw};
use crate::core::wave::Lanes;

/// A group of lanes of a register. A cell, because the result of an instruction may be one of its operands.
pub(crate) type Words = Cell<[u32; GROUP]>;

/// The registers as groups.
#[inline(always)]
pub(crate) fn groups(v: &mut [Lanes]) -> &[[Words; GROUPS]] {
    let words = v.as_flattened_mut().as_chunks_mut::<GROUP>().0;
    Cell::from_mut(words).as_slice_of_cells().as_chunks().0
}

/// A type of register contents, in groups of lanes.
pub(crate) trait Grouped: Raw {
    /// A register, or as many as the type needs.
    type Place<'v>: Copy;

    /// The place that starts at a slot of the register file.
    fn at(registers: &[[Words; GROUPS]], slot: usize) -> Self::Place<'_>;

    fn get(place: Self::Place<'_>, group: usize) -> [Self; GROUP];

    /// Writes the active lanes of a group.
    fn put(place: Self::Place<'_>, group: usize, active: u16, out: &[Self; GROUP]);

    /// Writes a number to all lanes.
    fn fill(place: Self::Place<'_>, value: u64);

    /// The content as a number.
    fn word(self) -> u64;

    /// The content that is the low bits of a number.
    fn from_word(word: u64) -> Self;
}

impl Grouped for u32 {
    type Place<'v> = &'v [Words; GROUPS];

    #[inline(always)]
    fn at(registers: &[[Words; GROUPS]], slot: usize) -> &[Words; GROUPS] {
        &registers[slot]
    }

    #[inline(always)]
    fn get(place: &[Words; GROUPS], group: usize) -> [u32; GROUP] {
        place[group].get()
    }

    #[inline(always)]
    fn put(place: &[Words; GROUPS], group: usize, active: u16, out: &[u32; GROUP]) {
        if active == u16::MAX {
            return place[group].set(*out);
        }
        let mut register = place[group].get();
        let active = u32::from(active);
        for lane in 0..GROUP {
            let kept = (active >> lane & 1).wrapping_sub(1);
            register[lane] = register[lane] & kept | out[lane] & !kept;
        }
        place[group].set(register);
    }

    #[inline(always)]
    fn fill(place: &[Words; GROUPS], value: u64) {
        place.iter().for_each(|group| group.set([value as u32; GROUP]));
    }

    #[inline(always)]
    fn word(self) -> u64 {
        self.into()
    }

    #[inline(always)]
    fn from_word(word: u64) -> u32 {
        word as u32
    }
}

impl Grouped for u64 {
    type Place<'v> = [&'v [Words; GROUPS]; 2];

    #[inline(always)]
    fn at(registers: &[[Words; GROUPS]], slot: usize) -> [&[Words; GROUPS]; 2] {
        [&registers[slot], &registers[slot + 1]]
    }

    #[inline(always)]
    fn get(place: [&[Words; GROUPS]; 2], group: usize) -> [u64; GROUP] {
        let [low, high] = place.map(|register| register[group].get());
        let mut pairs = [0; GROUP];
        for i in 0..GROUP {
            pairs[i] = u64::from(low[i]) | u64::from(high[i]) << 32;
        }
        pairs
    }

    #[inline(always)]
    fn put(place: [&[Words; GROUPS]; 2], group: usize, active: u16, out: &[u64; GROUP]) {
        // Loops, because the compiler vectorises them, unlike `map`.
        let (mut low, mut high) = ([0; GROUP], [0; GROUP]);
        for lane in 0..GROUP {
            (low[lane], high[lane]) = (out[lane] as u32, (out[lane] >> 32) as u32);
        }
        u32::put(place[0], group, active, &low);
        u32::put(place[1], group, active, &high);
    }

    #[inline(always)]
    fn fill([low, high]: [&[Words; GROUPS]; 2], value: u64) {
        u32::fill(low, value);
        u32::fill(high, value >> 32);
    }

    #[inline(always)]
    fn word(self) -> u64 {
        self
    }

    #[inline(always)]
    fn from_word(word: u64) -> u64 {
        word
    }
}

/// The type of an operand or a result that an instruction does not have.
impl Grouped for () {
    type Place<'v> = ();

    #[inline(always)]
    fn at(_: &[[Words; GROUPS]], _: usize) {}

    #[inline(always)]
    fn get(_: (), _: usize) -> [(); GROUP] {
        [(); GROUP]
    }

    #[inline(always)]
    fn put(_: (), _: usize, _: u16, _: &[(); GROUP]) {}

    #[inline(always)]
    fn fill(_: (), _: u64) {}

    fn word(self) -> u64 {
        0
    }

    fn from_word(_: u64) {}
}
