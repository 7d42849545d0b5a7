//! Vector compares: the result is a mask of the lanes in which a condition holds; bits of inactive lanes are 0.

use std::marker::PhantomData;

use super::each::Vector;
use super::{Lane, each};
use crate::core::fault::Fault;
use crate::core::machine::{Cx, Step};
use crate::core::value::{Half, HalfBits};
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    floats::<Half>(ops, &FLOAT_NAMES_16);
    floats::<f32>(ops, &FLOAT_NAMES_32);
    floats::<f64>(ops, &FLOAT_NAMES_64);
    integers::<i16>(ops, &INT_NAMES[0]);
    integers::<u16>(ops, &INT_NAMES[1]);
    integers::<i32>(ops, &INT_NAMES[2]);
    integers::<u32>(ops, &INT_NAMES[3]);
    integers::<i64>(ops, &INT_NAMES[4]);
    integers::<u64>(ops, &INT_NAMES[5]);
    both(ops, ["v_cmp_class_f32", "v_cmpx_class_f32"], |a: u32, b: u32| {
        class(f64::from(f32::from_bits(a)), a >> 22 & 1 == 1, f32::from_bits(a).is_subnormal()) & b != 0
    });
    both(ops, ["v_cmp_class_f64", "v_cmpx_class_f64"], |a: u64, b: u32| {
        class(f64::from_bits(a), a >> 51 & 1 == 1, f64::from_bits(a).is_subnormal()) & b != 0
    });
    both(ops, ["v_cmp_class_f16", "v_cmpx_class_f16"], |a: HalfBits, b: u32| {
        let value = crate::fp::f16_to_f32(a.0);
        class(f64::from(value), a.0 >> 9 & 1 == 1, a.0 & 0x7c00 == 0 && a.0 & 0x3ff != 0) & b != 0
    });
}

/// Adds two forms of a compare: one that writes a mask, and one that also writes EXEC.
fn both<A: Lane, B: Lane>(
    ops: &mut Ops,
    [plain, exec]: [&'static str; 2],
    f: impl Fn(A, B) -> bool + Copy + Send + Sync + 'static,
) {
    ops.add(plain, compare(false, f));
    ops.add(exec, compare(true, f));
}

fn compare<A: Lane, B: Lane>(
    write_exec: bool,
    f: impl Fn(A, B) -> bool + Copy + Send + Sync + 'static,
) -> Op {
    each::op(Compare { write_exec, f, of: PhantomData::<fn(A, B)> })
}

/// The execution of a compare.
#[derive(Clone, Copy)]
struct Compare<F, T> {
    write_exec: bool,
    f: F,
    of: PhantomData<T>,
}

impl<A: Lane, B: Lane, F> Vector for Compare<F, fn(A, B)>
where
    F: Fn(A, B) -> bool + Copy + Send + Sync + 'static,
{
    #[inline(always)]
    fn run<const FUSED: bool>(self, cx: &mut Cx<'_>, s: &Step) -> Result<(), Fault> {
        let f = self.f;
        let holds = each::Flagged(move |_, a: A, b: B, ()| ((), f(a, b)));
        let mask = each::run::<FUSED, A, B, (), (), _>(cx, s, [0, 1, 2], 0, holds)?;
        let mask = mask & cx.w.exec();
        cx.w.set_mask(s.sdst as usize, mask);
        if self.write_exec {
            cx.w.set_exec(mask);
        }
        Ok(())
    }
}

/// The names of the sixteen float compares of a type, `v_cmp` and `v_cmpx`, in the order of condition codes.
macro_rules! float_names {
    ($ty:literal) => {
        float_names!(@ $ty, "f" "lt" "eq" "le" "gt" "lg" "ge" "o" "u" "nge" "nlg" "ngt" "nle" "neq" "nlt" "tru")
    };
    (@ $ty:literal, $($cond:literal)*) => {
        [$([concat!("v_cmp_", $cond, "_", $ty), concat!("v_cmpx_", $cond, "_", $ty)]),*]
    };
}

macro_rules! int_names {
    ($ty:literal) => { int_names!(@ $ty, "f" "lt" "eq" "le" "gt" "ne" "ge" "t") };
    (@ $ty:literal, $($cond:literal)*) => {
        [$([concat!("v_cmp_", $cond, "_", $ty), concat!("v_cmpx_", $cond, "_", $ty)]),*]
    };
}

static FLOAT_NAMES_16: [[&str; 2]; 16] = float_names!("f16");
static FLOAT_NAMES_32: [[&str; 2]; 16] = float_names!("f32");
static FLOAT_NAMES_64: [[&str; 2]; 16] = float_names!("f64");
static INT_NAMES: [[[&str; 2]; 8]; 6] = [
    int_names!("i16"),
    int_names!("u16"),
    int_names!("i32"),
    int_names!("u32"),
    int_names!("i64"),
    int_names!("u64"),
];

#[allow(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN makes the negated conditions true")]
fn floats<A: Lane + Compared>(ops: &mut Ops, names: &[[&'static str; 2]; 16]) {
    both(ops, names[0], |_: A, _: A| false);
    both(ops, names[1], |a: A, b: A| a.number() < b.number());
    both(ops, names[2], |a: A, b: A| a.number() == b.number());
    both(ops, names[3], |a: A, b: A| a.number() <= b.number());
    both(ops, names[4], |a: A, b: A| a.number() > b.number());
    both(ops, names[5], |a: A, b: A| a.number() < b.number() || a.number() > b.number());
    both(ops, names[6], |a: A, b: A| a.number() >= b.number());
    both(ops, names[7], |a: A, b: A| a.number() <= b.number() || a.number() > b.number());
    both(ops, names[8], |a: A, b: A| !(a.number() <= b.number() || a.number() > b.number()));
    both(ops, names[9], |a: A, b: A| !(a.number() >= b.number()));
    both(ops, names[10], |a: A, b: A| !(a.number() < b.number() || a.number() > b.number()));
    both(ops, names[11], |a: A, b: A| !(a.number() > b.number()));
    both(ops, names[12], |a: A, b: A| !(a.number() <= b.number()));
    both(ops, names[13], |a: A, b: A| a.number() != b.number());
    both(ops, names[14], |a: A, b: A| !(a.number() < b.number()));
    both(ops, names[15], |_: A, _: A| true);
}

/// A float operand, as a number that the host can compare.
trait Compared: Copy {
    type Number: PartialOrd;
    fn number(self) -> Self::Number;
}

impl Compared for Half {
    type Number = f32;
    fn number(self) -> f32 {
        self.0
    }
}

impl Compared for f32 {
    type Number = f32;
    fn number(self) -> f32 {
        self
    }
}

impl Compared for f64 {
    type Number = f64;
    fn number(self) -> f64 {
        self
    }
}

fn integers<A: Lane + Ord>(ops: &mut Ops, names: &[[&'static str; 2]; 8]) {
    both(ops, names[0], |_: A, _: A| false);
    both(ops, names[1], |a: A, b: A| a < b);
    both(ops, names[2], |a: A, b: A| a == b);
    both(ops, names[3], |a: A, b: A| a <= b);
    both(ops, names[4], |a: A, b: A| a > b);
    both(ops, names[5], |a: A, b: A| a != b);
    both(ops, names[6], |a: A, b: A| a >= b);
    both(ops, names[7], |_: A, _: A| true);
}

/// The class mask of a number. Bits: 0 signaling NaN, 1 quiet NaN, 2 -inf, 3 -normal, 4 -denormal, 5 -0, 6 +0, 7 +denormal, 8 +normal, 9
/// +inf.
fn class(x: f64, quiet: bool, denormal: bool) -> u32 {
    let negative = x.is_sign_negative();
    let bit = if x.is_nan() {
        u32::from(quiet)
    } else if x.is_infinite() {
        if negative { 2 } else { 9 }
    } else if x == 0.0 {
        if negative { 5 } else { 6 }
    } else if denormal {
        if negative { 4 } else { 7 }
    } else if negative {
        3
    } else {
        8
    };
    1 << bit
}
