//! The lattice of the analysis: the possible values of M0, MODE.GPR_IDX_EN and the fields that `s_set_vgpr_msb` sets.
//!
//! For the bit of MODE, a state records whether it may be set and whether it may be clear; for M0, the bits that have
//! the same value on every path; for each field, the set of its values. The join keeps what either path allows. States
//! change in one direction only, and each can change at most 46 times, which bounds the iteration.

use crate::operand::Operand;
use crate::reg::MOST_VGPRS;
use crate::table::{IndexedBy, M0Part, MsbField};

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

    /// The value of a constant operand; `None` for other operands.
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

    /// A part of this number, if it is the number in M0.
    fn part(self, part: M0Part) -> Bits {
        let (first, mask) = part.bits();
        Bits { known: self.known >> first, value: self.value >> first }.only(mask)
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
    pub msb: Msb,
}

/// The possible values of each field that `s_set_vgpr_msb` sets: bit v of element f for value v of field f.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Msb([u8; 4]);

impl Msb {
    /// The values that an operand of `s_set_vgpr_msb` sets.
    pub fn constant(operand: u8) -> Msb {
        Msb(MsbField::ALL.map(|field| 1 << field.of(operand)))
    }

    fn join(self, other: Msb) -> Msb {
        Msb(MsbField::ALL.map(|field| self.0[field as usize] | other.0[field as usize]))
    }

    /// The least and the greatest value of a field.
    pub fn range(self, field: MsbField) -> (u32, u32) {
        let values = self.0[field as usize];
        (values.trailing_zeros(), values.ilog2())
    }
}

/// The range of numbers that may be added to a register's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Offsets {
    pub least: u32,
    pub most: u32,
    /// True if the index is certainly added and the program excludes some of the index's values.
    pub bounded: bool,
}

impl Offsets {
    /// The offsets that may be added if either of two ranges applies; `None` stands for 0.
    pub fn either(a: Option<Offsets>, b: Option<Offsets>) -> Option<Offsets> {
        let all = [a, b].into_iter().flatten().reduce(|a, b| Offsets {
            least: a.least.min(b.least),
            most: a.most.max(b.most),
            bounded: a.bounded && b.bounded,
        })?;
        Some(Offsets { least: if a.is_none() || b.is_none() { 0 } else { all.least }, ..all })
    }
}

impl State {
    /// The state at an entry: indexing is off (the dispatcher and every caller leave it off), the upper bits of VGPR numbers are 0, and
    /// nothing is known about M0.
    pub const ENTRY: State =
        State { may_be_on: false, may_be_off: true, m0: Bits::UNKNOWN, msb: Msb([1; 4]) };

    pub fn join(self, other: State) -> State {
        State {
            may_be_on: self.may_be_on || other.may_be_on,
            may_be_off: self.may_be_off || other.may_be_off,
            m0: self.m0.join(other.m0),
            msb: self.msb.join(other.msb),
        }
    }

    /// The offsets that may be added to an operand's register; `None` if there are no offsets other than 0. `named` is true if the manual's
    /// description covers the operand's register file.
    pub fn offsets(&self, by: IndexedBy, named: bool) -> Option<Offsets> {
        let (value, certain) = match by {
            IndexedBy::M0(part) => (self.m0.part(part), true),
            IndexedBy::Msb(field, part) => {
                let (least, most) = self.msb.range(field);
                let [least, most] = [least, most].map(|msb| msb * u32::from(MsbField::REGISTERS));
                let added = part.map_or(Bits::constant(0), |part| self.m0.part(part));
                let bounded = added.most() < u32::from(MOST_VGPRS);
                let [least, most] = [least.saturating_add(added.least()), most.saturating_add(added.most())];
                return Some(Offsets { least, most, bounded }).filter(|o| o.most > 0);
            }
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
