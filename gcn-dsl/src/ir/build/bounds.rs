//! Bounds of integers while the IR is built: from the operations that computed them, and from the branches and loops
//! around the current point. Inside `if j >= 4 { .. }`, for example, `j - 4` does not wrap.
//!
//! [`range`](crate::ir::range) knows more, but only once the kernel is complete; folding an index to a sum with a
//! constant, which an access takes as its offset, happens before.

use crate::ir::build::Builder;
use crate::ir::{Bin, Inst, Pred, Un, Value};
use crate::scalar::Elem;

/// The number of operations through which bounds are derived.
const DEPTH: u32 = 8;
/// The bounds of the integers that are the same number when they are read as signed and as unsigned.
const NATURAL: u32 = i32::MAX.cast_unsigned();

/// The smallest and the largest number that a register may contain, read as unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ir) struct Bounds {
    pub low: u32,
    pub high: u32,
}

impl Bounds {
    const ANY: Bounds = Bounds { low: 0, high: u32::MAX };

    fn up_to(high: u32) -> Bounds {
        Bounds { low: 0, high }
    }

    /// The numbers that are within both.
    fn and(self, other: Bounds) -> Bounds {
        Bounds { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    /// True if all numbers are the same when they are read as signed.
    fn is_natural(self) -> bool {
        self.high <= NATURAL
    }
}

impl Builder {
    /// Records that the condition has this value in the region that was just opened.
    pub fn holds(&mut self, cond: Value, value: bool) {
        match self.kernel().def(cond).inst {
            Inst::Splat(of) => self.holds(of, value),
            Inst::Un(Un::Not, of) => self.holds(of, !value),
            Inst::Bin(op @ (Bin::And | Bin::Or), a, b) if value == (op == Bin::And) => {
                self.holds(a, value);
                self.holds(b, value);
            }
            Inst::Cmp(pred, x, y) => {
                let pred = if value { pred } else { pred.negated() };
                self.compared(pred, x, y);
                self.compared(pred.mirrored(), y, x);
            }
            _ => {}
        }
    }

    /// Records what `x pred y` says about `x`.
    fn compared(&mut self, pred: Pred, x: Value, y: Value) {
        let ty = self.kernel().ty(x);
        let (now, limit) = (self.bounds(x), self.bounds(y));
        let found = match (ty.elem, pred) {
            _ if ty.count != 1 => return,
            (Elem::U32 | Elem::I32, Pred::Eq) => limit,
            // A signed number that is not below a natural one is itself natural.
            (Elem::I32, Pred::Gt | Pred::Ge) if limit.is_natural() => {
                Bounds { low: limit.low + u32::from(pred == Pred::Gt), high: NATURAL }
            }
            (Elem::I32, _) if !(now.is_natural() && limit.is_natural()) => return,
            (Elem::U32 | Elem::I32, Pred::Lt) => Bounds::up_to(limit.high.saturating_sub(1)),
            (Elem::U32 | Elem::I32, Pred::Le) => Bounds::up_to(limit.high),
            (Elem::U32, Pred::Gt) => Bounds { low: limit.low.saturating_add(1), high: u32::MAX },
            (Elem::U32, Pred::Ge) => Bounds { low: limit.low, high: u32::MAX },
            _ => return,
        };
        self.bounded(x, found);
    }

    /// Records that `v` is within `bounds` in the innermost open region.
    pub(in crate::ir) fn bounded(&mut self, v: Value, bounds: Bounds) {
        if bounds != Bounds::ANY && self.as_const(v).is_none() {
            self.top().bounds.push((v, bounds));
        }
    }

    /// The bounds of an integer of up to 32 bits.
    pub(in crate::ir) fn bounds(&self, v: Value) -> Bounds {
        self.bounds_within(v, DEPTH)
    }

    fn bounds_within(&self, v: Value, depth: u32) -> Bounds {
        let kernel = self.kernel();
        let ty = kernel.ty(v);
        let by_type = match ty.elem {
            _ if ty.count != 1 => return Bounds::ANY,
            Elem::U8 => Bounds::up_to(u8::MAX.into()),
            Elem::U16 => Bounds::up_to(u16::MAX.into()),
            Elem::U32 | Elem::I32 => Bounds::ANY,
            _ => return Bounds::ANY,
        };
        let recorded = self.open.iter().flat_map(|open| &open.bounds);
        let recorded = recorded.filter(|(of, _)| *of == v).fold(by_type, |all, (_, bounds)| all.and(*bounds));
        match depth.checked_sub(1) {
            Some(depth) => {
                // A result above the type has wrapped.
                let computed = self.computed(v, depth).filter(|found| found.high <= by_type.high);
                recorded.and(computed.unwrap_or(Bounds::ANY))
            }
            None => recorded,
        }
    }

    /// The bounds that follow from the operation; `None` if it may wrap, or is unknown.
    fn computed(&self, v: Value, depth: u32) -> Option<Bounds> {
        let kernel = self.kernel();
        let of = |v: Value| self.bounds_within(v, depth);
        let narrow_or_word =
            |v: Value| matches!(kernel.ty(v).elem, Elem::U8 | Elem::U16 | Elem::U32 | Elem::I32);
        match kernel.def(v).inst {
            Inst::Const(bits) => Some(Bounds { low: bits as u32, high: bits as u32 }),
            Inst::LaneId => Some(Bounds::up_to(kernel.wave().lanes() - 1)),
            // `ReadLane` is not here: it may read a lane that is not active, for which the conditions do not hold.
            Inst::Splat(a) | Inst::ReadFirstLane(a) => Some(of(a)),
            Inst::Bitcast(a) | Inst::Cast(a) if narrow_or_word(a) => Some(of(a)),
            Inst::Select(_, a, b) => {
                let (a, b) = (of(a), of(b));
                Some(Bounds { low: a.low.min(b.low), high: a.high.max(b.high) })
            }
            Inst::Bin(op, a, b) => {
                let elem = kernel.ty(v).elem;
                let constant = match op {
                    Bin::Shl | Bin::Shr => kernel.shift_count(b, elem),
                    _ => kernel.constant(b).map(|bits| bits as u32),
                };
                bin(op, of(a), of(b), constant, elem.is_signed())
            }
            _ => None,
        }
    }
}

fn bin(op: Bin, a: Bounds, b: Bounds, constant: Option<u32>, signed: bool) -> Option<Bounds> {
    let between = |low: Option<u32>, high: Option<u32>| Some(Bounds { low: low?, high: high? });
    // Signed operations agree with unsigned ones on natural numbers.
    let alike = !signed || a.is_natural() && b.is_natural();
    match (op, constant) {
        // A subtraction of a constant is an addition that always wraps.
        (Bin::Add, Some(c)) if a.low.checked_add(c).is_none() => {
            Some(Bounds { low: a.low.wrapping_add(c), high: a.high.wrapping_add(c) })
        }
        (Bin::Add, _) => between(a.low.checked_add(b.low), a.high.checked_add(b.high)),
        (Bin::Mul, _) => between(a.low.checked_mul(b.low), a.high.checked_mul(b.high)),
        (Bin::And, _) => Some(Bounds::up_to(a.high.min(b.high))),
        (Bin::Shl, Some(count)) if a.high.leading_zeros() >= count => {
            Some(Bounds { low: a.low << count, high: a.high << count })
        }
        (Bin::Shr, Some(count)) if alike => Some(Bounds { low: a.low >> count, high: a.high >> count }),
        (Bin::Min, _) if alike => Some(Bounds { low: a.low.min(b.low), high: a.high.min(b.high) }),
        (Bin::Max, _) if alike => Some(Bounds { low: a.low.max(b.low), high: a.high.max(b.high) }),
        _ => None,
    }
}
