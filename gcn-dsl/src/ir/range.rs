//! Range and known-bits analysis of unsigned 32-bit integers: finds the largest possible value, and the bits that are
//! known to be zero.
//!
//! Facts come from the types of loaded elements, from the workgroup's size, and from masks and shifts; sums, products
//! and similar operations preserve them as long as the result does not wrap. The abstract value of a variable is the
//! join of all its writes. The analysis ascends from 0 to a fixpoint. Values that still grow after a few rounds are
//! widened, because a loop counter would otherwise take one round for each iteration.
//!
//! The [intervals](Interval) of signed integers are derived from these facts.

mod interval;

use super::{Bin, Inst, Kernel, Place, Type, Value};
use crate::scalar::Elem;
pub use interval::Interval;

/// The number of rounds before widening starts. After twice as many rounds, every value that still grows becomes
/// unknown.
const EXACT_ROUNDS: u32 = 4;

/// The abstract value of an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The largest possible value.
    pub max: u32,
    /// A mask of the bits that may be one; all others are zero.
    pub ones: u32,
}

impl Range {
    const ANY: Range = Range { max: u32::MAX, ones: u32::MAX };
    const ZERO: Range = Range { max: 0, ones: 0 };

    fn up_to(max: u32) -> Range {
        Range::of(Some(max), u32::MAX)
    }

    /// The abstract value with this bound and these bits; each of the two may sharpen the other. `max` is `None` if the
    /// bound wraps and is therefore unknown.
    fn of(max: Option<u32>, ones: u32) -> Range {
        let max = max.unwrap_or(u32::MAX).min(ones);
        let below = u32::MAX.checked_shr(max.leading_zeros()).unwrap_or(0);
        Range { max, ones: ones & below }
    }

    /// The join of two abstract values: the facts that both have.
    fn join(self, other: Range) -> Range {
        Range { max: self.max.max(other.max), ones: self.ones | other.ones }
    }

    /// The number of low bits that are known to be zero.
    fn zeros(self) -> u32 {
        self.ones.trailing_zeros()
    }
}

/// The abstract values of all integers of up to 32 bits in a kernel.
pub struct Ranges {
    values: Vec<Range>,
    variables: Vec<Range>,
    intervals: Vec<Interval>,
    workgroup: [u32; 3],
}

impl Ranges {
    /// Analyses `kernel`, with the given workgroup size.
    pub fn of(kernel: &Kernel, workgroup: [u32; 3]) -> Ranges {
        let mut order = Vec::new();
        kernel.body.each_inst(&mut |v| order.push(v));
        let mut found = Ranges {
            values: vec![Range::ANY; kernel.values.len()],
            variables: vec![Range::ZERO; kernel.variables.len()],
            intervals: vec![Interval::ANY; kernel.values.len()],
            workgroup,
        };
        // Machine instructions that the kernel names may write pinned variables.
        for pin in &kernel.pins {
            found.variables[pin.var.0 as usize] = Range::ANY;
        }
        for round in 0.. {
            let mut grown = Vec::new();
            for &v in &order {
                found.values[v.0 as usize] = found.look(kernel, v);
                if let Inst::Write { var, value, .. } = kernel.def(v).inst {
                    let (before, written) = (found.variables[var.0 as usize], found.get(value));
                    let after = before.join(written);
                    if after != before {
                        found.variables[var.0 as usize] = after;
                        grown.push((var, written));
                    }
                }
            }
            if grown.is_empty() {
                break;
            }
            // Widen in two steps. First give up the bound but keep the number of low zero bits, so that a byte offset
            // that grows by 16 stays a multiple of 16. If the value still changes, give up all facts.
            for (var, written) in grown {
                let known = &mut found.variables[var.0 as usize];
                if round >= 2 * EXACT_ROUNDS {
                    *known = Range::ANY;
                } else if round >= EXACT_ROUNDS {
                    let zeros = known.zeros().min(written.zeros());
                    *known = Range::of(None, u32::MAX.checked_shl(zeros).unwrap_or(0));
                }
            }
        }
        for v in order {
            found.intervals[v.0 as usize] = Interval::of(kernel, &found, v);
        }
        found
    }

    /// The abstract value of `v`.
    pub fn get(&self, v: Value) -> Range {
        self.values[v.0 as usize]
    }

    /// The interval of the register of `v`, read as a signed integer.
    pub fn interval(&self, v: Value) -> Interval {
        self.intervals[v.0 as usize]
    }

    /// True if `v` is an integer of up to 32 bits and is known to be a number of the integer type `ty`, so that a
    /// conversion does not change its register.
    pub fn fits(&self, kernel: &Kernel, v: Value, ty: Type) -> bool {
        self.interval(v).is_of(kernel.ty(v), ty)
    }

    /// True if `v + c` cannot wrap: either `c` only sets bits that are zero in `v`, or the sum of the bounds is below
    /// 2^32.
    pub fn adds_exactly(&self, v: Value, c: u32) -> bool {
        let known = self.get(v);
        known.ones & c == 0 || known.max.checked_add(c).is_some()
    }

    /// True if `a op b`, computed in a 32-bit register, is known to be a number of the narrow type `elem`, so that no
    /// bit has to be cleared. Always false for signed types.
    pub fn stays_within(&self, kernel: &Kernel, op: Bin, [a, b]: [Value; 2], elem: Elem) -> bool {
        let most = match elem {
            Elem::U8 => u32::from(u8::MAX),
            Elem::U16 => u32::from(u16::MAX),
            _ => return false,
        };
        self.bin(kernel, op, [a, b], elem).max <= most
    }

    /// The range of `a op b`, computed in a 32-bit register from operands of the type `elem`.
    fn bin(&self, kernel: &Kernel, op: Bin, [a, b]: [Value; 2], elem: Elem) -> Range {
        let right = match op {
            Bin::Shl | Bin::Shr => kernel.shift_count(b, elem),
            _ => kernel.constant(b).map(|bits| bits as u32),
        };
        bin(op, self.get(a), self.get(b), right, elem)
    }

    fn look(&self, kernel: &Kernel, v: Value) -> Range {
        let ty = kernel.ty(v);
        let by_type = match ty.elem {
            _ if ty.count != 1 || ty.place == Place::Acc => return Range::ANY,
            Elem::Bool if ty.place == Place::Uniform => 1,
            Elem::U8 => 0xff,
            Elem::U16 => 0xffff,
            Elem::U32 | Elem::I32 => u32::MAX,
            _ => return Range::ANY,
        };
        let known = match kernel.def(v).inst {
            Inst::Const(bits) => Range { max: bits as u32, ones: bits as u32 },
            Inst::LocalId(d) => Range::up_to(self.workgroup[usize::from(d)].saturating_sub(1)),
            Inst::LaneId => Range::up_to(kernel.wave().lanes() - 1),
            Inst::Splat(a) | Inst::ReadFirstLane(a) | Inst::ReadLane(a, _) => self.get(a),
            Inst::Bitcast(a) | Inst::Cast(a) if is_word(kernel, a) => self.get(a),
            Inst::Read(var) => self.variables[var.0 as usize],
            Inst::Select(_, a, b) => self.get(a).join(self.get(b)),
            Inst::Bin(op, a, b) => self.bin(kernel, op, [a, b], ty.elem),
            _ => Range::ANY,
        };
        Range::of(Some(known.max.min(by_type)), known.ones)
    }
}

fn bin(op: Bin, a: Range, b: Range, constant: Option<u32>, elem: Elem) -> Range {
    // Signed operations agree with unsigned ones if no operand can be negative.
    let natural = !elem.is_signed() || a.max.max(b.max) <= i32::MAX.cast_unsigned();
    // A mask of the bits that can be one in a multiple of `1 << zeros`.
    let multiple = |zeros: u32| u32::MAX.checked_shl(zeros).unwrap_or(0);
    // A sum is a multiple of the smaller of the two powers of two.
    let both = multiple(a.zeros().min(b.zeros()));
    match (op, constant) {
        // The operands have no common bits, so there is no carry, and the sum is their union.
        (Bin::Add, _) if a.ones & b.ones == 0 => Range::of(a.max.checked_add(b.max), a.ones | b.ones),
        (Bin::Add, _) => Range::of(a.max.checked_add(b.max), both),
        // A difference may wrap below 0, so it has no bound, but it keeps the common low zeros.
        (Bin::Sub, _) => Range::of(None, both),
        (Bin::Mul, _) => Range::of(a.max.checked_mul(b.max), multiple(a.zeros() + b.zeros())),
        (Bin::And, _) => Range::of(Some(a.max.min(b.max)), a.ones & b.ones),
        // The bound of an `or` or `xor` follows from the highest bit that may be one, because there are no carries.
        (Bin::Or | Bin::Xor, _) => Range::of(None, a.ones | b.ones),
        (Bin::Shl, Some(k)) => {
            // If no bit that may be one is shifted out, the bound shifts as well.
            let exact = a.max.leading_zeros() >= k;
            Range::of(exact.then(|| a.max << k), a.ones << k)
        }
        (Bin::Shr, Some(k)) if natural => Range::of(Some(a.max >> k), a.ones >> k),
        (Bin::MulHi, _) if natural => Range::up_to(((u64::from(a.max) * u64::from(b.max)) >> 32) as u32),
        (Bin::Div, Some(d)) if d > 0 && natural => Range::up_to(a.max / d),
        (Bin::Rem, Some(d)) if d > 0 && natural => Range::up_to(a.max.min(d - 1)),
        (Bin::Min, _) if natural => Range::of(Some(a.max.min(b.max)), a.ones | b.ones),
        (Bin::Max, _) if natural => a.join(b),
        (Bin::Min | Bin::Max, _) => Range::of(None, a.ones | b.ones),
        _ => Range::ANY,
    }
}

/// True for an unsigned integer of up to 32 bits, or a signed one of 32 bits.
fn is_word(kernel: &Kernel, v: Value) -> bool {
    let ty = kernel.ty(v);
    ty.count == 1 && matches!(ty.elem, Elem::U8 | Elem::U16 | Elem::U32 | Elem::I32)
}
