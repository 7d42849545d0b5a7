//! A device value whose type is known only at run time: calls the operators and functions of `gcn_dsl::lang` by
//! enumerating all types.

use gcn_dsl::__private::{self as lang, CastTo, Compare, Condition, IntoDevice, Logic, S, V, WholeWorkgroup};
use gcn_dsl::ir::{Bin, Pred, Un};
use gcn_dsl::prelude::{bf16, f16};
use gcn_dsl::scalar::Elem;

use super::ast::{Arm, Place};
use super::bits::Bits;

/// A value of one element type.
#[derive(Clone, Copy, Debug)]
pub enum D<T> {
    H(T),
    S(S<T>),
    V(V<T>),
}
use D::{H, S as W, V as L};

macro_rules! val {
    ($($variant:ident $t:ident)*) => {
        #[derive(Clone, Copy, Debug)]
        pub enum Val { $($variant(D<$t>)),* }
        $(
            impl From<D<$t>> for Val {
                fn from(d: D<$t>) -> Val { Val::$variant(d) }
            }
            impl From<S<$t>> for Val {
                fn from(s: S<$t>) -> Val { Val::$variant(W(s)) }
            }
            impl From<V<$t>> for Val {
                fn from(v: V<$t>) -> Val { Val::$variant(L(v)) }
            }
            impl TryFrom<Val> for D<$t> {
                type Error = Val;
                fn try_from(v: Val) -> Result<D<$t>, Val> {
                    match v { Val::$variant(d) => Ok(d), other => Err(other) }
                }
            }
        )*
    };
}
val! {
    Bool bool I8 i8 U8 u8 I16 i16 U16 u16 I32 i32 U32 u32 I64 i64 U64 u64 F16 f16 Bf16 bf16 F32 f32 F64 f64
}

/// Evaluates the body for the inner value of each of the listed variants.
macro_rules! each {
    ($v:expr, $d:ident => $body:expr; $($variant:ident)*) => {
        match $v {
            $(Val::$variant($d) => Val::from($body),)*
            #[allow(unreachable_patterns, reason = "some lists are of all types")]
            other => unreachable!("not for {other:?}"),
        }
    };
}

impl<T: gcn_dsl::scalar::Scalar> D<T> {
    pub fn lane(self) -> V<T> {
        match self {
            H(x) => lang::splat(x),
            W(x) => lang::splat(x),
            L(x) => x,
        }
    }

    pub fn wave(self) -> S<T> {
        match self {
            H(x) => x.into_device(),
            W(x) => x,
            L(_) => unreachable!("a varying value where a uniform one belongs"),
        }
    }
}

/// The inner value as `D<$t>`.
pub fn of<T>(v: Val) -> D<T>
where
    D<T>: TryFrom<Val, Error = Val>,
{
    D::try_from(v).unwrap_or_else(|v| unreachable!("{v:?} has another type than the checker says"))
}

pub fn literal(elem: Elem, bits: u64) -> Val {
    match elem {
        Elem::Bool => Val::Bool(H(bits != 0)),
        Elem::I8 => Val::I8(H(i8::of(bits))),
        Elem::U8 => Val::U8(H(u8::of(bits))),
        Elem::I16 => Val::I16(H(i16::of(bits))),
        Elem::U16 => Val::U16(H(u16::of(bits))),
        Elem::I32 => Val::I32(H(i32::of(bits))),
        Elem::U32 => Val::U32(H(u32::of(bits))),
        Elem::I64 => Val::I64(H(i64::of(bits))),
        Elem::U64 => Val::U64(H(u64::of(bits))),
        Elem::F16 => Val::F16(H(f16::of(bits))),
        Elem::Bf16 => Val::Bf16(H(bf16::of(bits))),
        Elem::F32 => Val::F32(H(f32::of(bits))),
        Elem::F64 => Val::F64(H(f64::of(bits))),
        Elem::F8E4M3 | Elem::F8E5M2 => unreachable!("not generated"),
    }
}

impl Val {
    /// The value after a type annotation `S<T>` or `V<T>`.
    pub fn annotated(self, place: Place) -> Val {
        each!(self, d => match place {
            Place::Host => d,
            Place::Wave => W(d.wave()),
            Place::Lane => L(d.lane()),
        }; Bool I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64)
    }
}

macro_rules! operator {
    ($a:expr, $b:expr, $op:tt; $($variant:ident)*) => {
        match ($a, $b) {
            $((Val::$variant(a), Val::$variant(b)) => match (a, b) {
                (W(a), W(b)) => (a $op b).into(),
                (W(a), L(b)) => (a $op b).into(),
                (L(a), W(b)) => (a $op b).into(),
                (L(a), L(b)) => (a $op b).into(),
                (H(a), W(b)) => (a $op b).into(),
                (H(a), L(b)) => (a $op b).into(),
                (W(a), H(b)) => (a $op b).into(),
                (L(a), H(b)) => (a $op b).into(),
                (H(_), H(_)) => unreachable!("two host values"),
            },)*
            (a, b) => unreachable!("not for {a:?} and {b:?}"),
        }
    };
}

macro_rules! shift {
    ($a:expr, $b:expr, $method:ident; $($variant:ident)*) => {
        match ($a, of::<u32>($b)) {
            $(
                (Val::$variant(W(a)), H(b)) => a.$method(b).into(),
                (Val::$variant(W(a)), W(b)) => a.$method(b).into(),
                (Val::$variant(L(a)), H(b)) => a.$method(b).into(),
                (Val::$variant(L(a)), W(b)) => a.$method(b).into(),
                (Val::$variant(L(a)), L(b)) => a.$method(b).into(),
            )*
            (a, b) => unreachable!("no shift of {a:?} by {b:?}"),
        }
    };
}

macro_rules! method {
    ($a:expr, $b:expr, $method:ident; $($variant:ident)*) => {
        match ($a, $b) {
            $((Val::$variant(a), Val::$variant(b)) => match (a, b) {
                (W(a), H(b)) => a.$method(b).into(),
                (W(a), W(b)) => a.$method(b).into(),
                (L(a), H(b)) => a.$method(b).into(),
                (L(a), W(b)) => a.$method(b).into(),
                (L(a), L(b)) => a.$method(b).into(),
                (a, b) => unreachable!("not a method of {a:?} with {b:?}"),
            },)*
            (a, b) => unreachable!("not for {a:?} and {b:?}"),
        }
    };
}

pub fn bin(op: Bin, a: Val, b: Val) -> Val {
    match op {
        Bin::Add => operator!(a, b, +; I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64),
        Bin::Sub => operator!(a, b, -; I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64),
        Bin::Mul => operator!(a, b, *; I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64),
        Bin::Div => operator!(a, b, /; I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64),
        Bin::Rem => operator!(a, b, %; I8 U8 I16 U16 I32 U32 I64 U64),
        Bin::And => operator!(a, b, &; I8 U8 I16 U16 I32 U32 I64 U64),
        Bin::Or => operator!(a, b, |; I8 U8 I16 U16 I32 U32 I64 U64),
        Bin::Xor => operator!(a, b, ^; I8 U8 I16 U16 I32 U32 I64 U64),
        Bin::Shl => shift!(a, b, wrapping_shl; I8 U8 I16 U16 I32 U32 I64 U64),
        Bin::Shr => shift!(a, b, wrapping_shr; I8 U8 I16 U16 I32 U32 I64 U64),
        Bin::Min => method!(a, b, min; I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64),
        Bin::Max => method!(a, b, max; I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64),
        Bin::MulHi => unreachable!("not in the language"),
    }
}

macro_rules! unary {
    ($v:expr, $a:ident => $e:expr; $($variant:ident)*) => {
        match $v {
            $(Val::$variant(W($a)) => $e.into(), Val::$variant(L($a)) => $e.into(),)*
            other => unreachable!("not for {other:?}"),
        }
    };
}

pub fn un(op: Un, x: Val) -> Val {
    match op {
        Un::Neg => unary!(x, a => -a; I8 I16 I32 I64 F16 Bf16 F32 F64),
        Un::Not => unary!(x, a => !a; Bool I8 U8 I16 U16 I32 U32 I64 U64),
        Un::Abs => unary!(x, a => a.abs(); F16 F32 F64),
        Un::Floor => unary!(x, a => a.floor(); F16 F32 F64),
        Un::Ceil => unary!(x, a => a.ceil(); F16 F32 F64),
        Un::Trunc => unary!(x, a => a.trunc(); F16 F32 F64),
        Un::Rndne => unary!(x, a => a.round_ties_even(); F16 F32 F64),
        other => unreachable!("{other:?} is not generated"),
    }
}

fn device<A: Compare<B>, B>(pred: Pred, a: A, b: B) -> A::Output {
    a.compare(pred, b)
}

pub fn compare(pred: Pred, a: Val, b: Val) -> Val {
    macro_rules! pairs {
        ($($variant:ident)*) => {
            match (a, b) {
                $((Val::$variant(a), Val::$variant(b)) => match (a, b) {
                    (W(a), W(b)) => device(pred, a, b).into(),
                    (W(a), L(b)) => device(pred, a, b).into(),
                    (L(a), W(b)) => device(pred, a, b).into(),
                    (L(a), L(b)) => device(pred, a, b).into(),
                    (H(a), W(b)) => device(pred, a, b).into(),
                    (H(a), L(b)) => device(pred, a, b).into(),
                    (W(a), H(b)) => device(pred, a, b).into(),
                    (L(a), H(b)) => device(pred, a, b).into(),
                    (H(_), H(_)) => unreachable!("two host values"),
                },)*
                (a, b) => unreachable!("no comparison of {a:?} and {b:?}"),
            }
        };
    }
    pairs!(I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64)
}

/// `left && right` or `left || right`. If a host value on the left decides, `lane` says whether the result is varying.
pub fn logic(and: bool, left: D<bool>, lane: bool, right: &mut dyn FnMut() -> Val) -> Val {
    match left {
        H(left) => logic_of(and, left, lane, right),
        W(left) => logic_of(and, left, lane, right),
        L(left) => logic_of(and, left, lane, right),
    }
}

fn logic_of<A, O>(and: bool, left: A, lane: bool, right: &mut dyn FnMut() -> Val) -> Val
where
    A: Condition<WholeWorkgroup> + Logic<V<bool>, Output = V<bool>> + Logic<S<bool>, Output = O>,
    O: Condition<WholeWorkgroup> + Into<Val>,
{
    let side = match and {
        true => lang::and_begin(left, &WholeWorkgroup::new()),
        false => lang::or_begin(left, &WholeWorkgroup::new()),
    };
    match (side.right().map(|_| of::<bool>(right())), lane) {
        (None, true) => side.end::<V<bool>, _>(None).into(),
        (None, false) => side.end::<S<bool>, _>(None).into(),
        (Some(L(right)), _) => side.end(Some(right)).into(),
        (Some(W(right)), _) => side.end(Some(right)).into(),
        (Some(H(right)), _) => side.end::<S<bool>, _>(Some(right.into_device())).into(),
    }
}

pub fn select(c: Val, a: Val, b: Val) -> Val {
    let c = of::<bool>(c).lane();
    macro_rules! pairs {
        ($($variant:ident)*) => {
            match (a, b) {
                $((Val::$variant(a), Val::$variant(b)) => lang::select(c, a.lane(), b.lane()).into(),)*
                (a, b) => unreachable!("no select of {a:?} and {b:?}"),
            }
        };
    }
    pairs!(Bool I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64)
}

pub fn mul_add(a: Val, b: Val, c: Val) -> Val {
    macro_rules! triples {
        ($($variant:ident)*) => {
            match (a, b, c) {
                $((Val::$variant(W(a)), Val::$variant(b), Val::$variant(c)) => a.mul_add(b.wave(), c.wave()).into(),
                (Val::$variant(L(a)), Val::$variant(b), Val::$variant(c)) => a.mul_add(b.lane(), c.lane()).into(),)*
                (a, b, c) => unreachable!("no mul_add of {a:?}, {b:?} and {c:?}"),
            }
        };
    }
    triples!(F32 F64)
}

pub fn cast(x: Val, to: Elem) -> Val {
    macro_rules! to {
        ($t:ident) => { unary!(x, a => CastTo::<$t>::cast_to(a); Bool I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64) };
    }
    super::bits::with_type!(to, T => to!(T), bool => unreachable!("nothing converts to bool"))
}

pub fn to_bits(x: Val, to: Elem) -> Val {
    macro_rules! to {
        ($t:ident: $($from:ident)*) => { unary!(x, a => a.to_bits_as::<$t>(); $($from)*) };
    }
    match to {
        Elem::I8 => to!(i8: I8 U8),
        Elem::U8 => to!(u8: I8 U8),
        Elem::I16 => to!(i16: I16 U16 F16 Bf16),
        Elem::U16 => to!(u16: I16 U16 F16 Bf16),
        Elem::F16 => to!(f16: I16 U16 F16 Bf16),
        Elem::Bf16 => to!(bf16: I16 U16 F16 Bf16),
        Elem::I32 => to!(i32: I32 U32 F32),
        Elem::U32 => to!(u32: I32 U32 F32),
        Elem::F32 => to!(f32: I32 U32 F32),
        Elem::I64 => to!(i64: I64 U64 F64),
        Elem::U64 => to!(u64: I64 U64 F64),
        Elem::F64 => to!(f64: I64 U64 F64),
        _ => unreachable!("{to} is not generated"),
    }
}

macro_rules! of_lanes {
    ($v:expr, $a:ident => $e:expr; $($variant:ident)*) => {
        match $v {
            $(Val::$variant(L($a)) => $e.into(),)*
            other => unreachable!("not across lanes: {other:?}"),
        }
    };
}

/// `again(x, |v| v op y)`
pub fn again(op: Bin, x: Val, y: Val) -> Val {
    of_lanes!(x, a => super::shapes::again(a, |v| of(bin(op, v.into(), y)).lane());
        I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64)
}

/// `either(x, |v| v > y, |v| v op y).unwrap_or(z)`
pub fn either(op: Bin, [x, y, z]: [Val; 3]) -> Val {
    let above = |v: Val| of::<bool>(compare(Pred::Gt, v, y)).lane();
    of_lanes!(x, a => super::shapes::either(a, |v| above(v.into()), |v| of(bin(op, v.into(), y)).lane())
            .unwrap_or(annotated_lane(z, a));
        I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64)
}

/// `z` as a varying value of the type of `_like`.
fn annotated_lane<T: gcn_dsl::scalar::Scalar>(z: Val, _like: V<T>) -> V<T>
where
    D<T>: TryFrom<Val, Error = Val>,
{
    of::<T>(z).lane()
}

pub fn splat(x: Val) -> Val {
    x.annotated(Place::Lane)
}

pub fn read_first(x: Val) -> Val {
    of_lanes!(x, a => lang::read_first_lane(a); I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64)
}

/// Programs use lane numbers below 64; in a shorter wave they are taken modulo its size.
pub fn read_lane(x: Val, lane: D<u32>) -> Val {
    let lane = match lang::wave_size() {
        gcn_isa::target::WAVE_SIZE => lane.wave(),
        lanes => lane.wave() % lanes,
    };
    of_lanes!(x, a => lang::read_lane(a, lane); I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64)
}

pub fn shuffle(x: Val, lane: D<u32>) -> Val {
    let lane = lane.lane();
    of_lanes!(x, a => lang::shuffle(a, lane); I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64)
}

pub fn shuffle_xor(x: Val, mask: u32) -> Val {
    let mask = mask % lang::wave_size();
    of_lanes!(x, a => lang::shuffle_xor(a, mask); I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64)
}

macro_rules! joins {
    ($op:expr, $x:expr; $($bin:ident $f:ident)*) => {
        match $op {
            $(Bin::$bin => of_lanes!($x, a => lang::$f(a); I8 U8 I16 U16 I32 U32 I64 U64),)*
            other => unreachable!("no reduction by {other:?}"),
        }
    };
}

pub fn reduce(op: Bin, x: Val) -> Val {
    joins!(op, x; Add wave_sum Mul wave_product Min wave_min Max wave_max And wave_and Or wave_or Xor wave_xor)
}

pub fn scan(op: Bin, exclusive: bool, x: Val) -> Val {
    match exclusive {
        true => joins!(op, x; Add wave_exclusive_sum Mul wave_exclusive_product Min wave_exclusive_min
            Max wave_exclusive_max And wave_exclusive_and Or wave_exclusive_or Xor wave_exclusive_xor),
        false => joins!(op, x; Add wave_inclusive_sum Mul wave_inclusive_product Min wave_inclusive_min
            Max wave_inclusive_max And wave_inclusive_and Or wave_inclusive_or Xor wave_inclusive_xor),
    }
}

/// The condition of an arm of a `match`.
pub fn is(x: Val, (low, high): Arm) -> D<bool> {
    macro_rules! patterns {
        ($($variant:ident $t:ident)*) => {
            match x {
                $(
                    Val::$variant(W(a)) if low == high => W(lang::is(a, $t::of(low))),
                    Val::$variant(W(a)) => W(lang::is_between(a, $t::of(low), $t::of(high))),
                    Val::$variant(L(a)) if low == high => L(lang::is(a, $t::of(low))),
                    Val::$variant(L(a)) => L(lang::is_between(a, $t::of(low), $t::of(high))),
                )*
                other => unreachable!("no patterns of {other:?}"),
            }
        };
    }
    patterns!(I8 i8 U8 u8 I16 i16 U16 u16 I32 i32 U32 u32 I64 i64 U64 u64)
}

macro_rules! joined {
    ($other:expr, $a:expr, $b:expr; $($variant:ident)*) => {
        match ($a, $b) {
            $((Val::$variant(a), Val::$variant(b)) => match (a, b) {
                (H(a), H(b)) => $other.end(a, b).into(),
                (H(a), W(b)) => $other.end(a, b).into(),
                (H(a), L(b)) => $other.end(a, b).into(),
                (W(a), H(b)) => $other.end(a, b).into(),
                (W(a), W(b)) => $other.end(a, b).into(),
                (W(a), L(b)) => $other.end(a, b).into(),
                (L(a), H(b)) => $other.end(a, b).into(),
                (L(a), W(b)) => $other.end(a, b).into(),
                (L(a), L(b)) => $other.end(a, b).into(),
            },)*
            (a, b) => unreachable!("branches of {a:?} and {b:?}"),
        }
    };
}

/// The value of an `if`. `side` returns the value of the side that its argument selects. The flow's type is always
/// [`WholeWorkgroup`], as in `counting`.
pub fn if_value(cond: D<bool>, side: &mut dyn FnMut(bool) -> Val) -> Val {
    match cond {
        W(cond) => {
            let guard = lang::if_begin(cond, &WholeWorkgroup::new());
            let then = side(true);
            let other = guard.otherwise();
            let els = side(false);
            joined!(other, then, els; Bool I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64)
        }
        L(cond) => {
            let guard = lang::if_begin(cond, &WholeWorkgroup::new());
            let then = side(true);
            let other = guard.otherwise();
            let els = side(false);
            joined!(other, then, els; Bool I8 U8 I16 U16 I32 U32 I64 U64 F16 Bf16 F32 F64)
        }
        H(_) => unreachable!("a host condition"),
    }
}

/// An `if` without a value.
pub fn branch(cond: D<bool>, has_else: bool, side: &mut dyn FnMut(bool)) {
    macro_rules! branch {
        ($cond:expr) => {{
            let guard = lang::if_begin($cond, &WholeWorkgroup::new());
            side(true);
            if !has_else {
                return guard.end();
            }
            let other = guard.otherwise();
            side(false);
            other.end((), ());
        }};
    }
    match cond {
        W(cond) => branch!(cond),
        L(cond) => branch!(cond),
        H(_) => unreachable!("a host condition"),
    }
}
