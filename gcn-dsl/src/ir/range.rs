//! Which bits of an integer are known to be zero, and the largest value that it can have, as unsigned numbers of 32 bits.
//!
//! Facts come from the types of what is loaded, from the workgroup's size, and from masks and shifts; sums, products and the
//! like keep them as long as nothing wraps around. A variable has what all of its writes have in common: the bounds grow
//! from 0 to a fixpoint, and those that still grow after a few rounds have none.

use gcn_isa::target::WAVE_SIZE;

use super::{Bin, Inst, Kernel, Place, Value};
use crate::scalar::Elem;

/// Rounds in which the bounds of variables may grow.
const ROUNDS: u32 = 4;

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// No larger than this.
    pub max: u32,
    /// Bits that may be one.
    pub ones: u32,
}

impl Range {
    const ANY: Range = Range { max: u32::MAX, ones: u32::MAX };
    const ZERO: Range = Range { max: 0, ones: 0 };

    fn up_to(max: u32) -> Range {
        Range::of(Some(max), u32::MAX)
    }

    /// Both facts, each of which may make the other stronger; `None` is a bound that wraps around.
    fn of(max: Option<u32>, ones: u32) -> Range {
        let max = max.unwrap_or(u32::MAX).min(ones);
        let below = u32::MAX.checked_shr(max.leading_zeros()).unwrap_or(0);
        Range { max, ones: ones & below }
    }

    fn or(self, other: Range) -> Range {
        Range { max: self.max.max(other.max), ones: self.ones | other.ones }
    }

    /// So many low bits are zero.
    fn zeros(self) -> u32 {
        self.ones.trailing_zeros()
    }
}

/// What is known of 32-bit integers and narrower ones.
pub struct Ranges {
    values: Vec<Range>,
    variables: Vec<Range>,
    workgroup: [u32; 3],
}

impl Ranges {
    /// Looks at the whole of `kernel`, whose workgroups have this size.
    pub fn of(kernel: &Kernel, workgroup: [u32; 3]) -> Ranges {
        let mut order = Vec::new();
        kernel.body.each_inst(&mut |v| order.push(v));
        let mut found = Ranges {
            values: vec![Range::ANY; kernel.values.len()],
            variables: vec![Range::ZERO; kernel.variables.len()],
            workgroup,
        };
        for pin in &kernel.pins {
            found.variables[pin.var.0 as usize] = Range::ANY;
        }
        for round in 0.. {
            let mut grown = Vec::new();
            for &v in &order {
                found.values[v.0 as usize] = found.look(kernel, v);
                if let Inst::Write { var, value, .. } = kernel.def(v).inst {
                    let (before, written) = (found.variables[var.0 as usize], found.get(value));
                    let after = before.or(written);
                    if after != before {
                        found.variables[var.0 as usize] = after;
                        grown.push((var, written));
                    }
                }
            }
            if grown.is_empty() {
                break;
            }
            // The bound of what still grows is given up, the multiple that it is of a power of two is not yet; then all is.
            for (var, written) in grown {
                let known = &mut found.variables[var.0 as usize];
                if round >= 2 * ROUNDS {
                    *known = Range::ANY;
                } else if round >= ROUNDS {
                    let zeros = known.zeros().min(written.zeros());
                    *known = Range::of(None, u32::MAX.checked_shl(zeros).unwrap_or(0));
                }
            }
        }
        found
    }

    /// What is known of `v`.
    pub fn get(&self, v: Value) -> Range {
        self.values[v.0 as usize]
    }

    /// True if `v + c` sets bits that are zero in `v`, or is below 2^32: the sum is exact.
    pub fn adds_exactly(&self, v: Value, c: u32) -> bool {
        let known = self.get(v);
        known.ones & c == 0 || known.max.checked_add(c).is_some()
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
            Inst::LaneId => Range::up_to(WAVE_SIZE - 1),
            Inst::Splat(a) | Inst::ReadFirstLane(a) | Inst::ReadLane(a, _) => self.get(a),
            Inst::Bitcast(a) | Inst::Cast(a) if is_word(kernel, a) => self.get(a),
            Inst::Read(var) => self.variables[var.0 as usize],
            Inst::Select(_, a, b) => self.get(a).or(self.get(b)),
            Inst::Bin(op, a, b) => bin(op, self.get(a), self.get(b), constant(kernel, b), ty.elem),
            _ => Range::ANY,
        };
        Range::of(Some(known.max.min(by_type)), known.ones)
    }
}

fn bin(op: Bin, a: Range, b: Range, constant: Option<u32>, elem: Elem) -> Range {
    // As signed numbers not negative, or unsigned ones.
    let natural = !elem.is_signed() || a.max.max(b.max) <= i32::MAX.cast_unsigned();
    // A sum is a multiple of what both are multiples of.
    let multiple = |zeros: u32| u32::MAX.checked_shl(zeros).unwrap_or(0);
    let both = multiple(a.zeros().min(b.zeros()));
    match (op, constant) {
        // No carry.
        (Bin::Add, _) if a.ones & b.ones == 0 => Range::of(a.max.checked_add(b.max), a.ones | b.ones),
        (Bin::Add, _) => Range::of(a.max.checked_add(b.max), both),
        (Bin::Sub, _) => Range::of(None, both),
        (Bin::Mul, _) => Range::of(a.max.checked_mul(b.max), multiple(a.zeros() + b.zeros())),
        (Bin::And, _) => Range::of(Some(a.max.min(b.max)), a.ones & b.ones),
        (Bin::Or | Bin::Xor, _) => Range::of(None, a.ones | b.ones),
        (Bin::Shl, Some(k)) if k < 32 => {
            let exact = a.max.leading_zeros() >= k;
            Range::of(exact.then(|| a.max << k), a.ones << k)
        }
        (Bin::Shr, Some(k)) if k < 32 && natural => Range::of(Some(a.max >> k), a.ones >> k),
        (Bin::MulHi, _) if natural => Range::up_to(((u64::from(a.max) * u64::from(b.max)) >> 32) as u32),
        (Bin::Div, Some(d)) if d > 0 && natural => Range::up_to(a.max / d),
        (Bin::Rem, Some(d)) if d > 0 && natural => Range::up_to(a.max.min(d - 1)),
        (Bin::Min, _) if natural => Range::of(Some(a.max.min(b.max)), a.ones | b.ones),
        (Bin::Max, _) if natural => a.or(b),
        (Bin::Min | Bin::Max, _) => Range::of(None, a.ones | b.ones),
        _ => Range::ANY,
    }
}

/// An unsigned integer of 32 bits or fewer, or a signed one of 32.
fn is_word(kernel: &Kernel, v: Value) -> bool {
    let ty = kernel.ty(v);
    ty.count == 1 && matches!(ty.elem, Elem::U8 | Elem::U16 | Elem::U32 | Elem::I32)
}

fn constant(kernel: &Kernel, v: Value) -> Option<u32> {
    match kernel.def(v).inst {
        Inst::Const(bits) => Some(bits as u32),
        Inst::Splat(a) => constant(kernel, a),
        _ => None,
    }
}
