//! The implementation of the generated functions: collects the operands and modifiers of a call, then emits the
//! instruction.

use std::panic::Location;

use smallvec::SmallVec;

use crate::ir::call::ArgMods;
use crate::ir::{Arg, Call, Effect, Given, Inst, Place, Type, Value, Variant};
use crate::lang::{Flatten, IntoDevice, S, V, Vector, with};
use crate::scalar::{Number, Scalar};

use super::operand::Input;
use super::options::Options;
use super::sgprs::Sgprs;

/// Result types of instruction functions: nothing, one value or a tuple.
pub trait Results: Sized {
    /// The IR types of the results, in order.
    fn types() -> SmallVec<[Type; 2]>;
    /// Builds the results from IR values in the same order.
    fn take(values: &mut dyn Iterator<Item = Value>) -> Self;
}

impl Results for () {
    fn types() -> SmallVec<[Type; 2]> {
        SmallVec::new()
    }
    fn take(_: &mut dyn Iterator<Item = Value>) -> Self {}
}

/// Types of a single result.
trait OneResult: Flatten {
    const TYPE: Type;
}

impl<T: Scalar> OneResult for V<T> {
    const TYPE: Type = Type { place: Place::Varying, elem: T::ELEM, count: 1 };
}
impl<T: Scalar> OneResult for S<T> {
    const TYPE: Type = Type { place: Place::Uniform, elem: T::ELEM, count: 1 };
}
impl<T: Number, const N: usize> OneResult for Vector<T, N> {
    const TYPE: Type = Type { place: Place::Varying, elem: T::ELEM, count: N as u8 };
}
impl<const N: usize> OneResult for Sgprs<N> {
    const TYPE: Type = Sgprs::<N>::TYPE;
}

macro_rules! results {
    ($($(#[$attr:meta])* ($($x:ident),+),)*) => {$(
        $(#[$attr])*
        impl<$($x: OneResult),+> Results for ($($x,)+) {
            fn types() -> SmallVec<[Type; 2]> {
                SmallVec::from_slice(&[$($x::TYPE),+])
            }
            fn take(values: &mut dyn Iterator<Item = Value>) -> Self {
                ($($x::unflatten(values),)+)
            }
        }
    )*};
}
results! { (A, B), (A, B, C), }

macro_rules! one_result {
    ($([$($generics:tt)*] $t:ty;)*) => {$(
        impl<$($generics)*> Results for $t {
            fn types() -> SmallVec<[Type; 2]> {
                SmallVec::from_slice(&[<$t as OneResult>::TYPE])
            }
            fn take(values: &mut dyn Iterator<Item = Value>) -> Self {
                <$t>::unflatten(values)
            }
        }
    )*};
}
one_result! {
    [T: Scalar] V<T>;
    [T: Scalar] S<T>;
    [T: Number, const N: usize] Vector<T, N>;
    [const N: usize] Sgprs<N>;
}

/// A call of an instruction function under construction.
pub struct Request {
    mnemonic: &'static str,
    variant: Variant,
    effect: Effect,
    old: Option<Value>,
    scc: Option<Value>,
    vcc: Option<Value>,
    m0: Option<Value>,
    given: Given,
}

impl Request {
    /// A call without operands.
    pub fn new(mnemonic: &'static str, variant: Variant, effect: Effect) -> Request {
        let given = Given::default();
        Request { mnemonic, variant, effect, old: None, scc: None, vcc: None, m0: None, given }
    }

    /// Sets the old content of the destination, which the instruction keeps where it does not write.
    pub fn old(self, old: Input) -> Request {
        Request { old: value(old), ..self }
    }

    /// Sets the value of SCC that the instruction reads.
    pub fn scc(self, scc: impl IntoDevice<S<bool>>) -> Request {
        Request { scc: Some(scc.into_device().value), ..self }
    }

    /// Sets the lane mask that the instruction reads in VCC.
    pub fn vcc(self, vcc: Input) -> Request {
        Request { vcc: value(vcc), ..self }
    }

    /// Sets the value of M0 that the instruction reads.
    pub fn m0(self, m0: Input) -> Request {
        Request { m0: value(m0), ..self }
    }

    /// Adds modifiers.
    pub fn set(self, options: Options) -> Request {
        Request { given: self.given.and(options.0), ..self }
    }

    /// Emits the instruction; returns its results.
    #[track_caller]
    pub fn call<R: Results>(self, inputs: &[Input]) -> R {
        let values = self.append(inputs, R::types(), Location::caller());
        R::take(&mut values.into_iter())
    }

    /// Emits the instruction; returns its results as IR values, in order.
    pub fn append(
        self,
        inputs: &[Input],
        results: SmallVec<[Type; 2]>,
        loc: &'static Location<'static>,
    ) -> SmallVec<[Value; 2]> {
        let bits = |get: fn(&Input) -> bool| {
            inputs.iter().enumerate().fold(0, |bits, (i, input)| bits | u8::from(get(input)) << i)
        };
        let call = Call {
            mnemonic: self.mnemonic,
            variant: self.variant,
            args: inputs.iter().map(|input| input.arg).collect(),
            arg_mods: ArgMods { neg: bits(|i| i.neg), abs: bits(|i| i.abs), sext: bits(|i| i.sext) },
            old: self.old,
            scc: self.scc,
            vcc: self.vcc,
            m0: self.m0,
            given: self.given,
            results: results.clone(),
            effect: self.effect,
        };
        with(|c| {
            if gcn_isa::table::class_of(call.mnemonic) == Some(gcn_isa::Class::Barrier)
                && c.builder.divergence() > 0
            {
                let message = "`s_barrier` under a varying condition: lanes that skip it would never arrive; move it \
                               out of the branch";
                c.fail(loc, message.into());
            }
            let inst = Inst::Machine(Box::new(call));
            let Some((&first, others)) = results.split_first() else {
                c.effect(inst, loc);
                return SmallVec::new();
            };
            let of = c.value(inst, first, loc);
            let others = others.iter().enumerate();
            let others = others.map(|(i, &ty)| c.value(Inst::Result { of, index: i as u8 + 1 }, ty, loc));
            std::iter::once(of).chain(others).collect()
        })
    }
}

fn value(input: Input) -> Option<Value> {
    match input.arg {
        Arg::Value(value) => Some(value),
        _ => None,
    }
}
