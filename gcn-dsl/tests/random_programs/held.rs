//! Variables with parts in a traced program: what the macro's expansion does with each of their types.

use std::rc::Rc;

use gcn_dsl::__private::{
    self as lang, IntoDevice, Maybe, OfVariant, Outcome, V, Var, Variants, WholeWorkgroup,
};
use gcn_dsl::prelude::f16;
use gcn_dsl::scalar::Elem;

use super::ast::Shape;
use super::cells::{Cell, cell};
use super::shapes::{Either, Long, Machine, Pair, Thing, Word, passed};
use super::value::{D, Val, of};

/// A varying cell.
type Lanes = <Cell as lang::Stored>::Value;
type Body<'b> = &'b mut dyn FnMut(usize, Vec<Val>);
pub type Values<'b> = &'b mut dyn FnMut(bool) -> (usize, Vec<Val>);

/// A variable with parts.
pub trait Held {
    /// Assigns a value, or one of two values.
    fn set(&self, cond: Option<D<bool>>, values: Values);
    /// `match` on the variable.
    fn take(&self, body: Body);
    fn member(&self, _: usize) -> Val {
        unreachable!("`typing` knows what has fields")
    }
    fn set_member(&self, _: usize, _: Val) {
        unreachable!("`typing` knows what has fields")
    }
    fn step(&self, _: bool, _: Val) -> Val {
        unreachable!("`typing` knows what steps")
    }
    fn peek(&self) -> Val {
        unreachable!("`typing` knows what peeks")
    }
    fn is_some(&self) -> Val {
        unreachable!("`typing` knows what an option is")
    }
    fn unwrap_or(&self, _: Val) -> Val {
        unreachable!("`typing` knows what an option is")
    }
    fn pointed(&self, _: Val) -> Val {
        unreachable!("`typing` knows what points")
    }
    fn passed(&self, _: Val) -> Val {
        unreachable!("`typing` knows what is passed on")
    }
    fn map_or(&self, _: Val, _: &dyn Fn(Val) -> Val) -> Val {
        unreachable!("`typing` knows what an option is")
    }
}

/// `if cond { then } else { else }`, with the values of the two expressions.
macro_rules! choose {
    ($cond:expr, $then:expr, $else:expr) => {
        match $cond {
            D::V(cond) => {
                let guard = lang::if_begin(cond, &WholeWorkgroup::new());
                let then = $then;
                let other = guard.otherwise();
                let els = $else;
                other.end(then, els)
            }
            cond => {
                let guard = lang::if_begin(cond.wave(), &WholeWorkgroup::new());
                let then = $then;
                let other = guard.otherwise();
                let els = $else;
                other.end(then, els)
            }
        }
    };
}

/// An `if` without a value.
macro_rules! branch {
    ($cond:expr, $then:expr, $else:expr) => {{
        let guard = lang::if_begin($cond, &WholeWorkgroup::new());
        $then;
        let other = guard.otherwise();
        $else;
        other.end((), ())
    }};
}

struct Variable<X>(Var<X, WholeWorkgroup>);

/// `let mut objectK = …;`
pub fn declare(shape: Shape, cond: Option<D<bool>>, values: Values) -> Rc<dyn Held> {
    macro_rules! declared {
        ($t:ty) => {{
            // A variable that is declared without a value and then assigned: `let objectK: T; objectK = …;`.
            let mut first: Option<$t> = None;
            <$t as Makes>::made(cond, values, &mut |x| first = Some(x));
            let first = first.unwrap_or_else(|| unreachable!("a value is made"));
            Rc::new(Variable::<$t>(Var::declare(&WholeWorkgroup::new(), first)))
        }};
    }
    match shape {
        Shape::Pair => declared!(Pair),
        Shape::Thing => declared!(Thing),
        Shape::Option(Elem::U32) => declared!(Maybe<V<u32>>),
        Shape::Option(Elem::F32) => declared!(Maybe<V<f32>>),
        Shape::Option(Elem::I64) => declared!(Maybe<V<i64>>),
        Shape::Option(Elem::I16) => declared!(Maybe<V<i16>>),
        Shape::Option(Elem::F16) => declared!(Maybe<V<f16>>),
        Shape::Result(Elem::U32, Elem::I32) => declared!(Outcome<V<u32>, V<i32>>),
        Shape::Result(Elem::F32, Elem::U32) => declared!(Outcome<V<f32>, V<u32>>),
        Shape::Either(Elem::U32, Elem::F32) => declared!(Word),
        Shape::Either(Elem::I64, Elem::U16) => declared!(Long),
        Shape::Array(Elem::U32) => declared!([V<u32>; 3]),
        Shape::Array(Elem::F32) => declared!([V<f32>; 3]),
        Shape::Array(Elem::I16) => declared!([V<i16>; 3]),
        Shape::Cell => declared!(Lanes),
        Shape::Tuple(Elem::U32, Elem::I64) => declared!((V<u32>, V<i64>)),
        Shape::Tuple(Elem::F32, Elem::U16) => declared!((V<f32>, V<u16>)),
        Shape::Tuple(Elem::I32, Elem::F64) => declared!((V<i32>, V<f64>)),
        other => unreachable!("{other:?} is not generated"),
    }
}

/// Constructs values of a type from a variant and its fields.
trait Makes: Sized {
    fn made(cond: Option<D<bool>>, values: Values, put: &mut dyn FnMut(Self));
}

macro_rules! made {
    ($cond:expr, $values:expr, $put:expr, $one:expr) => {{
        let one = $one;
        match $cond {
            None => $put(one($values(true))),
            Some(cond) => $put(choose!(cond, one($values(true)), one($values(false)))),
        }
    }};
}

impl Makes for Pair {
    fn made(cond: Option<D<bool>>, values: Values, put: &mut dyn FnMut(Self)) {
        made!(cond, values, put, |(_, x): (usize, Vec<Val>)| Pair {
            count: lang::field(of::<u32>(x[0]).lane()),
            level: lang::field(of::<f32>(x[1]).lane()),
        });
    }
}

impl Makes for Thing {
    fn made(cond: Option<D<bool>>, values: Values, put: &mut dyn FnMut(Self)) {
        type Host = <Thing as Variants>::Host;
        made!(cond, values, put, |(variant, x): (usize, Vec<Val>)| match variant {
            0 => Thing::Nothing(),
            1 => match of::<u32>(x[0]) {
                D::H(x) => Thing::Number(x),
                D::S(x) => Thing::Number(x),
                D::V(x) => Thing::Number(x),
            },
            2 => <Thing as OfVariant>::of(Host::Both {
                near: lang::field(of::<i32>(x[0]).lane()),
                far: lang::field(of::<f32>(x[1]).lane()),
            }),
            _ => Thing::Wide(of::<i64>(x[0]).lane()),
        });
    }
}

impl<T: gcn_dsl::scalar::Number> Makes for Maybe<V<T>>
where
    D<T>: TryFrom<Val, Error = Val>,
    Maybe<lang::S<T>>: IntoDevice<Maybe<V<T>>>,
{
    fn made(cond: Option<D<bool>>, values: Values, put: &mut dyn FnMut(Self)) {
        let Some(cond) = cond else {
            return put(match values(true) {
                (0, _) => lang::none().into_device(),
                (_, x) => match of::<T>(x[0]) {
                    D::V(x) => lang::some(x),
                    x => lang::some(x.wave()).into_device(),
                },
            });
        };
        put(choose!(cond, value_of(values(true)), value_of(values(false))));
    }
}

/// Constructed like the result of a function that returns an `Option`.
fn value_of<T: gcn_dsl::scalar::Number>((variant, x): (usize, Vec<Val>)) -> Maybe<V<T>>
where
    D<T>: TryFrom<Val, Error = Val>,
{
    match variant {
        0 => lang::none().into_device(),
        _ => lang::some(of::<T>(x[0]).lane()),
    }
}

macro_rules! tuples {
    ($($a:ty, $b:ty;)*) => {$(
        impl Makes for (V<$a>, V<$b>) {
            fn made(cond: Option<D<bool>>, values: Values, put: &mut dyn FnMut(Self)) {
                made!(cond, values, put, |(_, x): (usize, Vec<Val>)| {
                    (of::<$a>(x[0]).lane(), of::<$b>(x[1]).lane())
                });
            }
        }
        impl Held for Variable<(V<$a>, V<$b>)> {
            fn set(&self, cond: Option<D<bool>>, values: Values) {
                Makes::made(cond, values, &mut |x: (V<$a>, V<$b>)| self.0.set(&WholeWorkgroup::new(), x));
            }
            fn take(&self, body: Body) {
                let (a, b) = self.0.get();
                body(0, vec![a.into(), b.into()]);
            }
            fn member(&self, field: usize) -> Val {
                if field == 0 { self.0.get().0.into() } else { self.0.get().1.into() }
            }
            fn set_member(&self, field: usize, value: Val) {
                match field {
                    0 => self.0.set_part(&WholeWorkgroup::new(), |whole| &mut whole.0, of::<$a>(value).lane()),
                    _ => self.0.set_part(&WholeWorkgroup::new(), |whole| &mut whole.1, of::<$b>(value).lane()),
                }
            }
        }
    )*};
}
tuples! { u32, i64; f32, u16; i32, f64; }

macro_rules! arrays {
    ($($t:ty)*) => {$(
        impl Makes for [V<$t>; 3] {
            fn made(cond: Option<D<bool>>, values: Values, put: &mut dyn FnMut(Self)) {
                made!(cond, values, put, |(_, x): (usize, Vec<Val>)| {
                    [0, 1, 2].map(|k| of::<$t>(x[k]).lane())
                });
            }
        }
        impl Held for Variable<[V<$t>; 3]> {
            fn set(&self, cond: Option<D<bool>>, values: Values) {
                Makes::made(cond, values, &mut |x: [V<$t>; 3]| self.0.set(&WholeWorkgroup::new(), x));
            }
            fn take(&self, body: Body) {
                body(0, self.0.get().map(Val::from).to_vec());
            }
            fn member(&self, field: usize) -> Val {
                self.0.get()[field].into()
            }
            fn set_member(&self, field: usize, value: Val) {
                self.0.set_part(&WholeWorkgroup::new(), |whole| &mut whole[field], of::<$t>(value).lane());
            }
        }
    )*};
}
arrays! { u32 f32 i16 }

impl Makes for Lanes {
    fn made(cond: Option<D<bool>>, values: Values, put: &mut dyn FnMut(Self)) {
        made!(cond, values, put, |(_, x): (usize, Vec<Val>)| {
            cell(of::<u32>(x[0]).lane(), of::<i64>(x[1]).lane())
        });
    }
}

impl Held for Variable<Lanes> {
    fn set(&self, cond: Option<D<bool>>, values: Values) {
        Makes::made(cond, values, &mut |x: Lanes| self.0.set(&WholeWorkgroup::new(), x));
    }
    fn take(&self, body: Body) {
        body(0, vec![self.member(0), self.member(1)]);
    }
    fn member(&self, field: usize) -> Val {
        if field == 0 { self.0.get().low.into() } else { self.0.get().wide.into() }
    }
    fn set_member(&self, field: usize, value: Val) {
        match field {
            0 => self.0.set_part(&WholeWorkgroup::new(), |whole| &mut whole.low, of::<u32>(value).lane()),
            _ => self.0.set_part(&WholeWorkgroup::new(), |whole| &mut whole.wide, of::<i64>(value).lane()),
        }
    }
    fn step(&self, twice: bool, by: Val) -> Val {
        let (mut receiver, by) = (self.0.get(), of::<u32>(by).lane());
        let result = if twice { receiver.twice(by) } else { receiver.step(by) };
        self.0.set(&WholeWorkgroup::new(), receiver);
        result.into()
    }
    fn peek(&self) -> Val {
        self.0.get().peek().into()
    }
}

impl Held for Variable<Pair> {
    fn set(&self, cond: Option<D<bool>>, values: Values) {
        Makes::made(cond, values, &mut |x: Pair| self.0.set(&WholeWorkgroup::new(), x));
    }
    fn take(&self, body: Body) {
        let Pair { count, level } = self.0.get();
        body(0, vec![count.into(), level.into()]);
    }
    fn member(&self, field: usize) -> Val {
        if field == 0 { self.0.get().count.into() } else { self.0.get().level.into() }
    }
    fn set_member(&self, field: usize, value: Val) {
        match field {
            0 => self.0.set_part(&WholeWorkgroup::new(), |whole| &mut whole.count, of::<u32>(value).lane()),
            _ => self.0.set_part(&WholeWorkgroup::new(), |whole| &mut whole.level, of::<f32>(value).lane()),
        }
    }
    fn step(&self, twice: bool, by: Val) -> Val {
        let (mut receiver, by) = (self.0.get(), of::<u32>(by).lane());
        let result = match twice {
            false => receiver.step(by),
            true => receiver.twice(by),
        };
        self.0.set(&WholeWorkgroup::new(), receiver);
        result.into()
    }
    fn peek(&self) -> Val {
        self.0.get().peek().into()
    }
}

impl Held for Variable<Thing> {
    fn set(&self, cond: Option<D<bool>>, values: Values) {
        Makes::made(cond, values, &mut |x: Thing| self.0.set(&WholeWorkgroup::new(), x));
    }
    fn take(&self, body: Body) {
        type Host = <Thing as Variants>::Host;
        let whole = self.0.get();
        let is = |n: usize| {
            lang::is_variant(&whole, |host| match host {
                Host::Nothing => n == 0,
                Host::Number(_) => n == 1,
                Host::Both { .. } => n == 2,
                Host::Wide(_) => n == 3,
            })
        };
        let number = || lang::variant(&whole, |h| if let Host::Number(x) = h { Some(x) } else { None });
        let both = || {
            lang::variant(&whole, |h| if let Host::Both { near, far } = h { Some((near, far)) } else { None })
        };
        let wide = || lang::variant(&whole, |h| if let Host::Wide(x) = h { Some(x) } else { None });
        branch!(is(0), body(0, Vec::new()), {
            branch!(is(1), body(1, vec![number().into()]), {
                branch!(
                    is(2),
                    {
                        let (near, far) = both();
                        body(2, vec![near.into(), far.into()]);
                    },
                    body(3, vec![wide().into()])
                );
            });
        });
    }
}

macro_rules! options {
    ($($t:ty)*) => {$(
        impl Held for Variable<Maybe<V<$t>>> {
            fn set(&self, cond: Option<D<bool>>, values: Values) {
                Makes::made(cond, values, &mut |x: Maybe<V<$t>>| self.0.set(&WholeWorkgroup::new(), x));
            }
            fn take(&self, body: Body) {
                let whole = self.0.get();
                let is = lang::is_variant(&whole, |host| host.is_some());
                branch!(is, body(1, vec![lang::variant(&whole, |host| host).into()]), body(0, Vec::new()));
            }
            fn is_some(&self) -> Val {
                self.0.get().is_some().into()
            }
            fn unwrap_or(&self, other: Val) -> Val {
                match of::<$t>(other) {
                    D::H(x) => self.0.get().unwrap_or(x).into(),
                    D::S(x) => self.0.get().unwrap_or(x).into(),
                    D::V(x) => self.0.get().unwrap_or(x).into(),
                }
            }
            fn map_or(&self, other: Val, f: &dyn Fn(Val) -> Val) -> Val {
                self.0.get().map_or(of::<$t>(other).lane(), |x| of::<$t>(f(x.into())).lane()).into()
            }
        }
    )*};
}
options! { u32 f32 i64 i16 f16 }

macro_rules! results {
    ($($t:ty, $e:ty $(, $passed:ident)?;)*) => {$(
        impl Makes for Outcome<V<$t>, V<$e>> {
            fn made(cond: Option<D<bool>>, values: Values, put: &mut dyn FnMut(Self)) {
                // Constructed like the result of a function that returns a `Result`.
                made!(cond, values, put, |(variant, x): (usize, Vec<Val>)| -> Self {
                    match variant {
                        0 => lang::ok(of::<$t>(x[0]).lane()).into_device(),
                        _ => lang::err(of::<$e>(x[0]).lane()).into_device(),
                    }
                });
            }
        }
        impl Held for Variable<Outcome<V<$t>, V<$e>>> {
            fn set(&self, cond: Option<D<bool>>, values: Values) {
                Makes::made(cond, values, &mut |x: Outcome<V<$t>, V<$e>>| self.0.set(&WholeWorkgroup::new(), x));
            }
            fn take(&self, body: Body) {
                let whole = self.0.get();
                let is = lang::is_variant(&whole, |host| host.is_ok());
                branch!(
                    is,
                    body(0, vec![lang::variant(&whole, |host| host.ok()).into()]),
                    body(1, vec![lang::variant(&whole, |host| host.err()).into()])
                );
            }
            fn is_some(&self) -> Val {
                self.0.get().is_ok().into()
            }
            fn unwrap_or(&self, other: Val) -> Val {
                self.0.get().unwrap_or(of::<$t>(other).lane()).into()
            }
            fn map_or(&self, other: Val, f: &dyn Fn(Val) -> Val) -> Val {
                self.0.get().map_or(of::<$t>(other).lane(), |x| of::<$t>(f(x.into())).lane()).into()
            }
            $(fn passed(&self, by: Val) -> Val {
                $passed(self.0.get(), of::<u32>(by).lane()).into()
            })?
        }
    )*};
}
results! { u32, i32, passed; f32, u32; }

macro_rules! eithers {
    ($($a:ty, $b:ty;)*) => {$(
        impl Makes for Either<V<$a>, V<$b>> {
            fn made(cond: Option<D<bool>>, values: Values, put: &mut dyn FnMut(Self)) {
                made!(cond, values, put, |(variant, x): (usize, Vec<Val>)| match variant {
                    0 => Self::Left(of::<$a>(x[0]).lane()),
                    _ => Self::Right(of::<$b>(x[0]).lane()),
                });
            }
        }
        impl Held for Variable<Either<V<$a>, V<$b>>> {
            fn set(&self, cond: Option<D<bool>>, values: Values) {
                Makes::made(cond, values, &mut |x: Either<V<$a>, V<$b>>| self.0.set(&WholeWorkgroup::new(), x));
            }
            fn take(&self, body: Body) {
                type Host = <Either<V<$a>, V<$b>> as Variants>::Host;
                let whole = self.0.get();
                let left = |host| if let Host::Left(x) = host { Some(x) } else { None };
                let right = |host| if let Host::Right(x) = host { Some(x) } else { None };
                let is = lang::is_variant(&whole, |host| left(host).is_some());
                branch!(
                    is,
                    body(0, vec![lang::variant(&whole, left).into()]),
                    body(1, vec![lang::variant(&whole, right).into()])
                );
            }
        }
    )*};
}
eithers! { u32, f32; i64, u16; }
