//! Reductions and scans over a workgroup, written in the language: waves by themselves, one value for each wave in LDS,
//! and the waves' values by themselves again.

use std::marker::PhantomData;
use std::panic::Location;

use super::ops::{Arithmetic, Integer};
use super::reduce::wave;
use super::shuffle::all_lanes_run;
use super::wave::Convergent;
use super::{IntoDevice, S, V, lane_id, read_first_lane, read_lane, select, wave_id, with, workgroup_size};
use crate::ir::wave::{Spread, identity};
use crate::ir::{Bin, Inst, Memory, Type};
use crate::scalar::{Elem, Number};

/// How many waves a workgroup has.
fn waves() -> u32 {
    let size = workgroup_size();
    (size.x * size.y * size.z).div_ceil(64)
}

/// The waves' values, as memory that every wave can read.
struct Exchange<T> {
    memory: Memory,
    waves: u32,
    element: PhantomData<T>,
}

impl<T: Number> Exchange<T> {
    /// Puts each wave's value into LDS and waits until all are there.
    #[track_caller]
    fn new<F: Convergent>(flow: &F, own: S<T>, waves: u32) -> Self {
        let memory = Memory::Lds(with(|c| c.builder.lds(T::ELEM.bytes() * waves)));
        let exchange = Exchange { memory, waves, element: PhantomData };
        let (to, value) = (exchange.offset(wave_id().into_device()), IntoDevice::<V<T>>::into_device(own));
        // Every lane of a wave stores the same.
        let store = Inst::Store { memory, offset: to.value, value: value.value };
        with(|c| c.effect(store, Location::caller()));
        super::barrier(flow);
        exchange
    }

    fn offset(&self, i: V<u32>) -> V<u32> {
        i * T::ELEM.bytes()
    }

    /// The value of wave `i`.
    #[track_caller]
    fn get(&self, i: impl IntoDevice<V<u32>>) -> V<T> {
        let offset = self.offset(i.into_device());
        V::emit(Inst::Load { memory: self.memory, offset: offset.value }, Location::caller())
    }

    /// All waves' values together, and those of the waves before this one. The barrier behind lets the memory be written
    /// again.
    #[track_caller]
    fn joined<F: Convergent>(self, flow: &F, op: Bin) -> (S<T>, S<T>) {
        let loc = Location::caller();
        // At most 16 waves, so that a row of lanes holds all of them, if its lanes run.
        if all_lanes_run() {
            let all = self.get(lane_id().min(self.waves - 1));
            super::barrier(flow);
            let scan = |spread| V::<T>::from_value(wave::<T>(op, spread, 16, all.value, loc));
            let total = read_lane(scan(Spread::Inclusive), self.waves - 1);
            return (total, read_lane(scan(Spread::Exclusive), wave_id()));
        }
        let bits = identity(op, T::ELEM, Spread::Exclusive);
        let neutral: V<T> = V::from_value(with(|c| c.builder.constant(bits, V::<T>::TYPE)));
        let (mut total, mut before) = (neutral, neutral);
        for w in 0..self.waves {
            let value = self.get(w);
            total = combine(op, total, value, loc);
            before = select(super::lt(w, wave_id()), total, before);
        }
        super::barrier(flow);
        (read_first_lane(total), read_first_lane(before))
    }
}

#[track_caller]
fn reduce<F: Convergent, T: Number>(flow: &F, op: Bin, x: V<T>) -> S<T> {
    let own: S<T> = S::from_value(wave::<T>(op, Spread::Reduce, 64, x.value, Location::caller()));
    match waves() {
        1 => own,
        waves => Exchange::new(flow, own, waves).joined(flow, op).0,
    }
}

#[track_caller]
fn scan<F: Convergent, T: Number>(flow: &F, op: Bin, spread: Spread, x: V<T>) -> V<T> {
    let loc = Location::caller();
    let in_wave: V<T> = V::from_value(wave::<T>(op, spread, 64, x.value, loc));
    let waves = waves();
    if waves == 1 {
        return in_wave;
    }
    let own: S<T> = S::from_value(wave::<T>(op, Spread::Reduce, 64, x.value, loc));
    let before = Exchange::new(flow, own, waves).joined(flow, op).1;
    combine(op, before.into_device(), in_wave, loc)
}

/// `a op b` for every number; bf16 through f32.
fn combine<T: Number>(op: Bin, a: V<T>, b: V<T>, loc: &'static Location<'static>) -> V<T> {
    if T::ELEM != Elem::Bf16 {
        return V::emit(Inst::Bin(op, a.value, b.value), loc);
    }
    let wide = Type::varying(Elem::F32);
    let value = with(|c| {
        let (a, b) = (c.value(Inst::Cast(a.value), wide, loc), c.value(Inst::Cast(b.value), wide, loc));
        c.value(Inst::Bin(op, a, b), wide, loc)
    });
    V::emit(Inst::Cast(value), loc)
}

macro_rules! workgroup {
    ($($bound:ident $op:ident $reduce:ident $inclusive:ident $exclusive:ident $what:literal $first:literal;)*) => {$(
        #[doc = concat!($what, " of the values of all work-items of the workgroup, in each of them.")]
        ///
        /// Every work-item must get here: two barriers.
        #[track_caller]
        pub fn $reduce<F: Convergent, T: $bound>(flow: &F, x: V<T>) -> S<T> {
            reduce(flow, Bin::$op, x)
        }

        #[doc = concat!($what, " of the values of this work-item and those before it in the workgroup.")]
        ///
        /// Work-items are in order of `x + size.x * (y + size.y * z)`. Every work-item must get here: two barriers.
        #[track_caller]
        pub fn $inclusive<F: Convergent, T: $bound>(flow: &F, x: V<T>) -> V<T> {
            scan(flow, Bin::$op, Spread::Inclusive, x)
        }

        #[doc = concat!($what, " of the values of the work-items before this one in the workgroup; ", $first, " for the first.")]
        ///
        /// Work-items are in order of `x + size.x * (y + size.y * z)`. Every work-item must get here: two barriers.
        #[track_caller]
        pub fn $exclusive<F: Convergent, T: $bound>(flow: &F, x: V<T>) -> V<T> {
            scan(flow, Bin::$op, Spread::Exclusive, x)
        }
    )*};
}

workgroup! {
    Arithmetic Add workgroup_sum workgroup_inclusive_sum workgroup_exclusive_sum "The sum" "0 (-0.0 for floats)";
    Arithmetic Mul workgroup_product workgroup_inclusive_product workgroup_exclusive_product "The product" "1";
    Arithmetic Min workgroup_min workgroup_inclusive_min workgroup_exclusive_min
        "The smallest" "the type's largest value (infinity for floats)";
    Arithmetic Max workgroup_max workgroup_inclusive_max workgroup_exclusive_max
        "The largest" "the type's smallest value (minus infinity for floats)";
    Integer And workgroup_and workgroup_inclusive_and workgroup_exclusive_and "The bitwise and" "all ones";
    Integer Or workgroup_or workgroup_inclusive_or workgroup_exclusive_or "The bitwise or" "0";
    Integer Xor workgroup_xor workgroup_inclusive_xor workgroup_exclusive_xor "The bitwise exclusive or" "0";
}
