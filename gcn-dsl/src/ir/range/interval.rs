//! Interval analysis of signed integers of up to 32 bits.

use super::super::{Bin, Inst, Kernel, Place, Type, Value};
use super::Ranges;
use crate::scalar::Elem;

/// The numbers from `low` to `high`, inclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    /// The smallest number.
    pub low: i32,
    /// The largest number.
    pub high: i32,
}

impl Interval {
    /// All numbers.
    pub const ANY: Interval = Interval { low: i32::MIN, high: i32::MAX };

    /// The interval of `v`, given those of its operands.
    pub(super) fn of(kernel: &Kernel, known: &Ranges, v: Value) -> Interval {
        let ty = kernel.ty(v);
        let all = Interval::of_type(ty);
        let max = i32::try_from(known.get(v).max).ok().filter(|_| is_integer(ty));
        let by_range = max.map_or(Interval::ANY, |high| Interval { low: 0, high });
        all.and(by_range).and(Interval::of_inst(kernel, known, v, ty).unwrap_or(all))
    }

    /// The interval that follows from the type: narrow integers are extended to 32 bits.
    fn of_type(ty: Type) -> Interval {
        match ty.elem {
            _ if ty.count != 1 => Interval::ANY,
            Elem::I8 => Interval { low: i8::MIN.into(), high: i8::MAX.into() },
            Elem::U8 => Interval { low: 0, high: u8::MAX.into() },
            Elem::I16 => Interval { low: i16::MIN.into(), high: i16::MAX.into() },
            Elem::U16 => Interval { low: 0, high: u16::MAX.into() },
            _ => Interval::ANY,
        }
    }

    /// The interval that follows from the instruction; `None` if it is unknown, or if the result may wrap around.
    fn of_inst(kernel: &Kernel, known: &Ranges, v: Value, ty: Type) -> Option<Interval> {
        if !is_integer(ty) {
            return None;
        }
        let of = |v: Value| Some(known.interval(v)).filter(|_| is_integer(kernel.ty(v)));
        let found = match kernel.def(v).inst {
            Inst::Const(bits) => return Interval::exact(ty, bits as i32, bits as i32),
            Inst::Splat(a) | Inst::Bitcast(a) | Inst::Cast(a) => of(a)?,
            Inst::Select(_, a, b) => {
                let (a, b) = (of(a)?, of(b)?);
                Interval { low: a.low.min(b.low), high: a.high.max(b.high) }
            }
            Inst::Bin(op, a, b) => Interval::of_bin(op, ty, of(a)?, of(b)?, kernel.shift_count(b, ty.elem))?,
            _ => return None,
        };
        Interval::exact(ty, found.low, found.high)
    }

    fn of_bin(op: Bin, ty: Type, a: Interval, b: Interval, count: Option<u32>) -> Option<Interval> {
        // Operations on unsigned numbers agree with signed ones if no operand can be negative.
        let natural = ty.elem.is_signed() || a.low >= 0 && b.low >= 0;
        let between = |low: Option<i32>, high: Option<i32>| Some(Interval { low: low?, high: high? });
        match op {
            Bin::Add => between(a.low.checked_add(b.low), a.high.checked_add(b.high)),
            Bin::Sub => between(a.low.checked_sub(b.high), a.high.checked_sub(b.low)),
            Bin::Mul => {
                let corners = [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)];
                let mut products = corners.into_iter().map(|(x, y)| x.checked_mul(y));
                let first = products.next()??;
                products.try_fold(Interval { low: first, high: first }, |all, product| {
                    Some(Interval { low: all.low.min(product?), high: all.high.max(product?) })
                })
            }
            Bin::Shr if natural => Some(Interval { low: a.low >> count?, high: a.high >> count? }),
            Bin::Min if natural => Some(Interval { low: a.low.min(b.low), high: a.high.min(b.high) }),
            Bin::Max if natural => Some(Interval { low: a.low.max(b.low), high: a.high.max(b.high) }),
            _ => None,
        }
    }

    /// The interval from `low` to `high`, if the type can represent all its numbers; otherwise `None`, because the
    /// result may wrap around.
    fn exact(ty: Type, low: i32, high: i32) -> Option<Interval> {
        let all = Interval::of_type(ty);
        (all.low <= low && high <= all.high).then_some(Interval { low, high })
    }

    /// True if the numbers of the interval, which have the integer type `from`, are numbers of the integer type `to`.
    pub fn is_of(self, from: Type, to: Type) -> bool {
        let all = Interval::of_type(to);
        is_integer(from) && is_integer(to) && all.low <= self.low && self.high <= all.high
    }

    /// The intersection of two intervals.
    fn and(self, other: Interval) -> Interval {
        Interval { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    /// The number of bits, including the sign bit, that represent every number of the interval.
    pub fn bits(self) -> u32 {
        let bits = |x: i32| u32::BITS - x.leading_zeros().max(x.leading_ones()) + 1;
        bits(self.low).max(bits(self.high))
    }
}

fn is_integer(ty: Type) -> bool {
    let word = matches!(ty.elem, Elem::I8 | Elem::U8 | Elem::I16 | Elem::U16 | Elem::I32 | Elem::U32);
    word && ty.count == 1 && ty.place != Place::Acc
}
