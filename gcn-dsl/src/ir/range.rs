//! The largest value that an integer can have, as an unsigned number of 32 bits.
//!
//! Facts come from the types of what is loaded, from the workgroup's size, and from masks and shifts; sums, products and the
//! like keep them as long as nothing wraps around. A variable holds at most the largest of what is written to it: the
//! bounds grow from 0 to a fixpoint, and those that still grow after a few rounds have none.

use super::{Bin, Inst, Kernel, Place, Value, Variable};
use crate::scalar::Elem;

/// Rounds in which the bounds of variables may grow.
const ROUNDS: u32 = 4;

/// Upper bounds of 32-bit integers and narrower ones.
pub struct Ranges {
    values: Vec<u32>,
    variables: Vec<u32>,
    workgroup: [u32; 3],
}

impl Ranges {
    /// Looks at the whole of `kernel`, whose workgroups have this size.
    pub fn of(kernel: &Kernel, workgroup: [u32; 3]) -> Ranges {
        let mut order = Vec::new();
        kernel.body.each_inst(&mut |v| order.push(v));
        let mut found = Ranges {
            values: vec![u32::MAX; kernel.values.len()],
            variables: vec![0; kernel.variables.len()],
            workgroup,
        };
        for pin in &kernel.pins {
            found.variables[pin.var.0 as usize] = u32::MAX;
        }
        for round in 0.. {
            let mut grown: Vec<Variable> = Vec::new();
            for &v in &order {
                found.values[v.0 as usize] = found.look(kernel, v);
                if let Inst::Write { var, value, .. } = kernel.def(v).inst
                    && found.max(value) > found.variables[var.0 as usize]
                {
                    found.variables[var.0 as usize] = found.max(value);
                    grown.push(var);
                }
            }
            if grown.is_empty() {
                break;
            }
            // Each of these rounds ends the growth of one variable at least, and of all after as many again.
            if round >= 2 * ROUNDS {
                found.variables.fill(u32::MAX);
            } else if round >= ROUNDS {
                grown.iter().for_each(|var| found.variables[var.0 as usize] = u32::MAX);
            }
        }
        found
    }

    /// No larger than this is `v`.
    pub fn max(&self, v: Value) -> u32 {
        self.values[v.0 as usize]
    }

    fn look(&self, kernel: &Kernel, v: Value) -> u32 {
        let ty = kernel.ty(v);
        let by_type = match ty.elem {
            _ if ty.count != 1 || ty.place == Place::Acc => return u32::MAX,
            Elem::Bool if ty.place == Place::Uniform => 1,
            Elem::U8 => 0xff,
            Elem::U16 => 0xffff,
            Elem::U32 | Elem::I32 => u32::MAX,
            _ => return u32::MAX,
        };
        let known = match kernel.def(v).inst {
            Inst::Const(bits) => bits as u32,
            Inst::LocalId(d) => self.workgroup[usize::from(d)].saturating_sub(1),
            Inst::LaneId => 63,
            Inst::Splat(a) | Inst::ReadFirstLane(a) | Inst::ReadLane(a, _) => self.max(a),
            Inst::Bitcast(a) | Inst::Cast(a) if is_word(kernel, a) => self.max(a),
            Inst::Read(var) => self.variables[var.0 as usize],
            Inst::Select(_, a, b) => self.max(a).max(self.max(b)),
            Inst::Bin(op, a, b) => self.bin(op, self.max(a), self.max(b), constant(kernel, b), ty.elem),
            _ => u32::MAX,
        };
        known.min(by_type)
    }

    fn bin(&self, op: Bin, a: u32, b: u32, constant: Option<u32>, elem: Elem) -> u32 {
        // As a signed number negative.
        let negative = |x: u32| elem.is_signed() && x > i32::MAX.cast_unsigned();
        let both = |x: Option<u32>| x.unwrap_or(u32::MAX);
        match (op, constant) {
            (Bin::Add, _) => both(a.checked_add(b)),
            (Bin::Mul, _) => both(a.checked_mul(b)),
            (Bin::And, _) => a.min(b),
            (Bin::Or | Bin::Xor, _) => (a | b).checked_next_power_of_two().map_or(u32::MAX, |p| (p - 1) | a | b),
            (Bin::Shl, Some(k)) if k < 32 => both(a.checked_mul(1 << k)),
            (Bin::Shr, Some(k)) if k < 32 && !negative(a) => a >> k,
            (Bin::MulHi, _) if !negative(a) && !negative(b) => ((u64::from(a) * u64::from(b)) >> 32) as u32,
            (Bin::Div, Some(d)) if d > 0 && !negative(a) && !negative(d) => a / d,
            (Bin::Rem, Some(d)) if d > 0 && !negative(a) && !negative(d) => a.min(d - 1),
            (Bin::Min, _) if !negative(a) && !negative(b) => a.min(b),
            (Bin::Min, _) if !elem.is_signed() => a.min(b),
            (Bin::Max, _) if !negative(a) && !negative(b) => a.max(b),
            (Bin::Max, _) if !elem.is_signed() => a.max(b),
            _ => u32::MAX,
        }
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
