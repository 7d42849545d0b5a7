//! The lattice of the analysis: the possible values of M0 and MODE.GPR_IDX_EN.
//!
//! For the bit of MODE, a state records whether it may be set and whether it may be clear. For M0, a state records the bits that have the
//! same value on every path. The join keeps what either path allows. States change in one direction only, and each can change at most 34
//! times, which limits the number of iterations.

use crate::operand::Operand;
use crate::table::IndexedBy;

/// A number with some known bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Bits {
    known: u32,
    /// The values of the known bits; unknown bits are 0.
    value: u32,
}

impl Bits {
    pub const UNKNOWN: Bits = Bits { known: 0, value: 0 };

    pub const fn constant(value: u32) -> Bits {
        Bits { known: u32::MAX, value }
    }

    /// The value of a constant operand.
    pub fn of(operand: Operand) -> Option<Bits> {
        operand.constant32().map(Bits::constant)
    }

    /// The bitwise and. A bit is known to be 0 if it is a known 0 in either number.
    pub fn and(self, other: Bits) -> Bits {
        let zeros = (self.known & !self.value) | (other.known & !other.value);
        Bits { known: self.known & other.known | zeros, value: self.value & other.value }
    }

    /// The bits that are known and equal in both numbers.
    fn join(self, other: Bits) -> Bits {
        let known = self.known & other.known & !(self.value ^ other.value);
        Bits { known, value: self.value & known }
    }

    /// This number with the bits of `mask` replaced by those of `other`.
    pub fn with(self, mask: u32, other: Bits) -> Bits {
        let pick = |mine: u32, theirs: u32| mine & !mask | theirs & mask;
        Bits { known: pick(self.known, other.known), value: pick(self.value, other.value) }
    }

    /// This number with the bits outside `mask` cleared.
    fn only(self, mask: u32) -> Bits {
        Bits { known: self.known | !mask, value: self.value & mask }
    }

    fn least(self) -> u32 {
        self.value
    }

    fn most(self) -> u32 {
        self.value | !self.known
    }
}

/// `M0[7:0]`, the index (MI100 ISA 6.6.1).
pub(super) const INDEX: u32 = 0xff;
/// `M0[15:12]`, the mask of the operands to which the index is added.
pub(super) const OPERANDS: u32 = 0xf000;
/// The lowest bit of the operand mask.
pub(super) const FIRST_OPERAND: u32 = 12;

/// The possible values at a point of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct State {
    /// True if MODE.GPR_IDX_EN may be set.
    pub may_be_on: bool,
    /// True if MODE.GPR_IDX_EN may be clear.
    pub may_be_off: bool,
    pub m0: Bits,
}

/// The range of numbers that may be added to a register's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Offsets {
    pub least: u32,
    pub most: u32,
    /// True if the index is certainly added and the program excludes some of the index's values.
    pub bounded: bool,
}

impl State {
    /// The state at an entry. Indexing is off (the dispatcher and every caller leave it off), and M0 is unknown.
    pub const ENTRY: State = State { may_be_on: false, may_be_off: true, m0: Bits::UNKNOWN };

    pub fn join(self, other: State) -> State {
        State {
            may_be_on: self.may_be_on || other.may_be_on,
            may_be_off: self.may_be_off || other.may_be_off,
            m0: self.m0.join(other.m0),
        }
    }

    /// The offsets that may be added to an operand's register; `None` if there are no offsets other than 0. `named` is true if the manual's
    /// description covers the operand's register file.
    pub fn offsets(&self, by: IndexedBy, named: bool) -> Option<Offsets> {
        let (value, certain) = match by {
            IndexedBy::M0 => (self.m0, true),
            IndexedBy::Mode { bits, stated } => {
                let mask = u32::from(bits) << FIRST_OPERAND;
                if !self.may_be_on || self.m0.most() & mask == 0 {
                    return None;
                }
                let selected = self.m0.least() & mask == mask && !self.may_be_off;
                (self.m0.only(INDEX), stated && named && selected)
            }
        };
        let least = if certain { value.least() } else { 0 };
        let most = value.most();
        Some(Offsets { least, most, bounded: certain && most < INDEX }).filter(|o| o.most > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the operations on patterns of known bits against all five-bit numbers that such a pattern represents.
    #[test]
    fn bits_hold_for_each_number_that_they_stand_for() {
        let patterns =
            (0..32u32).flat_map(|known| (0..32u32).filter(move |v| v & !known == 0).map(move |v| (known, v)));
        let patterns: Vec<Bits> = patterns.map(|(known, value)| Bits { known: known | !31, value }).collect();
        let numbers = |b: Bits| (0..32u32).filter(move |n| n & b.known == b.value);
        for (i, &a) in patterns.iter().enumerate() {
            assert_eq!((numbers(a).min(), numbers(a).max()), (Some(a.least()), Some(a.most())));
            for &b in patterns.iter().skip(i % 7).step_by(7) {
                let (and, join) = (a.and(b), a.join(b));
                for x in numbers(a) {
                    assert!(x & join.known == join.value, "{a:?} {b:?}");
                    for y in numbers(b) {
                        assert_eq!((x & y) & and.known, and.value, "{a:?} {b:?}");
                    }
                }
            }
        }
    }
}
