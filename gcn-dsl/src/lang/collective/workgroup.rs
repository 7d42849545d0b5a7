//! Reductions and scans over a workgroup, written in the DSL itself, as any library of device functions could be.
//!
//! Each wave reduces its lanes and stores one value to LDS; after a barrier every wave combines the values of all
//! waves. A device function of another crate would take an `AllLanes` token for the barriers. The public functions at
//! the end of this file create the token themselves and return [`Everyone`] instead.

use super::reduce::{
    Lanes, Segment, wave_and, wave_exclusive_and, wave_exclusive_max, wave_exclusive_min, wave_exclusive_or,
    wave_exclusive_product, wave_exclusive_sum, wave_exclusive_xor, wave_inclusive_and, wave_inclusive_max,
    wave_inclusive_min, wave_inclusive_or, wave_inclusive_product, wave_inclusive_sum, wave_inclusive_xor,
    wave_max, wave_min, wave_or, wave_product, wave_sum, wave_xor,
};
use crate::gcn_kernel;
use crate::ir::Bin;
use crate::ir::wave::{Spread, identity};
use crate::lang::control::everyone::Everyone;
use crate::lang::control::function::AllLanes;
use crate::lang::matrix::AnyTarget;
use crate::lang::numbers::arithmetic::{Arithmetic, Integer};
use crate::lang::{
    IntoDevice, LdsSlice, PerLane, S, V, all_lanes, ballot, barrier, eq, lane_id, ne, read_first_lane,
    read_lane, select, splat, wave_id, wave_size, with, workgroup_size,
};
use crate::scalar::Number;

/// The number of waves in a workgroup.
fn waves() -> u32 {
    work_items().div_ceil(wave_size())
}

/// True if the last wave of the workgroup is full, so that every lane of every wave belongs to a work-item.
fn whole_waves() -> bool {
    work_items().is_multiple_of(wave_size())
}

fn work_items() -> u32 {
    let size = workgroup_size();
    size.x * size.y * size.z
}

/// An associative and commutative operation on values.
trait Operation<T: Number> {
    /// The operation's identity element.
    fn identity() -> S<T>;
    fn join(a: V<T>, b: V<T>) -> V<T>;
    fn of_wave(x: V<T>) -> S<T>;
    fn inclusive<const W: usize>(x: V<T>) -> V<T>
    where
        Lanes<W>: Segment;
    fn exclusive<const W: usize>(x: V<T>) -> V<T>
    where
        Lanes<W>: Segment;
    fn inclusive_in_wave(x: V<T>) -> V<T>;
    fn exclusive_in_wave(x: V<T>) -> V<T>;
}

gcn_kernel! {
    /// The combination of the values of all waves, and the combination of the values of the waves before this one.
    #[device]
    #[track_caller]
    fn joined<O: Operation<T>, T: Number>(all: AllLanes, own: T) -> (T, T) {
        let values = LdsSlice::<T>::new(waves() as usize);
        // All lanes of a wave store the same value.
        values[wave_id()] = own;
        barrier();
        comptime if whole_waves() {
            let value = values[lane_id().min(waves() - 1)];
            // After this barrier the array may be overwritten.
            barrier();
            // With up to 16 waves, each row of 16 lanes contains the values of all waves.
            let (upto, before) = comptime if waves() <= 16 {
                (O::inclusive::<16>(value), O::exclusive::<16>(value))
            } else {
                (O::inclusive_in_wave(value), O::exclusive_in_wave(value))
            };
            (read_lane(upto, waves() - 1), read_lane(before, wave_id()))
        } else {
            let mut total: V<T> = O::identity();
            let mut before: V<T> = O::identity();
            #[unroll]
            for w in 0..waves() {
                total = O::join(total, values[w]);
                before = select(w < wave_id(), total, before);
            }
            barrier();
            (read_first_lane(total), read_first_lane(before))
        }
    }

    #[device]
    #[track_caller]
    fn reduce<O: Operation<T>, T: Number>(all: AllLanes, x: V<T>) -> T {
        let own = O::of_wave(x);
        comptime if waves() == 1 { own } else { joined::<O, T>(all_lanes(), own).0 }
    }

    /// The number of work-items in which `c` is true.
    #[device]
    #[track_caller]
    fn counted(all: AllLanes, c: V<bool>) -> u32 {
        let own = ballot(c).count_ones();
        comptime if waves() == 1 { own } else { joined::<Add, u32>(all_lanes(), own).0 }
    }

    #[device]
    #[track_caller]
    fn inclusive<O: Operation<T>, T: Number>(all: AllLanes, x: V<T>) -> V<T> {
        let in_wave = O::inclusive_in_wave(x);
        comptime if waves() == 1 { in_wave } else {
            let (_, before) = joined::<O, T>(all_lanes(), O::of_wave(x));
            O::join(splat(before), in_wave)
        }
    }

    #[device]
    #[track_caller]
    fn exclusive<O: Operation<T>, T: Number>(all: AllLanes, x: V<T>) -> V<T> {
        let in_wave = O::exclusive_in_wave(x);
        comptime if waves() == 1 { in_wave } else {
            let (_, before) = joined::<O, T>(all_lanes(), O::of_wave(x));
            O::join(splat(before), in_wave)
        }
    }
}

macro_rules! workgroup {
    ($($bound:ident $op:ident $reduce:ident $inclusive:ident $exclusive:ident $what:literal $first:literal
        $wave:ident $up_to:ident $before:ident $wave_inclusive:ident $wave_exclusive:ident |$a:ident, $b:ident| $join:expr;)*) => {$(
        struct $op;

        impl<T: $bound> Operation<T> for $op {
            fn identity() -> S<T> {
                let bits = identity(Bin::$op, T::ELEM, Spread::Exclusive);
                S::from_value(with(|c| c.builder.constant(bits, S::<T>::TYPE)))
            }
            #[track_caller]
            fn join($a: V<T>, $b: V<T>) -> V<T> {
                $join
            }
            #[track_caller]
            fn of_wave(x: V<T>) -> S<T> {
                $wave(x)
            }
            #[track_caller]
            fn inclusive<const W: usize>(x: V<T>) -> V<T>
            where
                Lanes<W>: Segment,
            {
                Lanes::<W>::$wave_inclusive(x)
            }
            #[track_caller]
            fn exclusive<const W: usize>(x: V<T>) -> V<T>
            where
                Lanes<W>: Segment,
            {
                Lanes::<W>::$wave_exclusive(x)
            }
            #[track_caller]
            fn inclusive_in_wave(x: V<T>) -> V<T> {
                $up_to(x)
            }
            #[track_caller]
            fn exclusive_in_wave(x: V<T>) -> V<T> {
                $before(x)
            }
        }

        #[doc = concat!($what, " of the values of all work-items of the workgroup, in each of them.")]
        ///
        /// Every work-item must reach this call, which contains two barriers.
        #[track_caller]
        pub fn $reduce<T: $bound>(x: impl PerLane<T>) -> Everyone<S<T>> {
            Everyone::gives(reduce::<$op, T>(AllLanes::<AnyTarget>::here(), x.per_lane()))
        }

        #[doc = concat!($what, " of the values of this work-item and those before it in the workgroup.")]
        ///
        /// Work-items are ordered by `x + size.x * (y + size.y * z)`. Every work-item must reach this call, which
        /// contains two barriers.
        #[track_caller]
        pub fn $inclusive<T: $bound>(x: impl PerLane<T>) -> Everyone<V<T>> {
            Everyone::gives(inclusive::<$op, T>(AllLanes::<AnyTarget>::here(), x.per_lane()))
        }

        #[doc = concat!($what, " of the values of the work-items before this one in the workgroup; ", $first, " for the first.")]
        ///
        /// Work-items are ordered by `x + size.x * (y + size.y * z)`. Every work-item must reach this call, which
        /// contains two barriers.
        #[track_caller]
        pub fn $exclusive<T: $bound>(x: impl PerLane<T>) -> Everyone<V<T>> {
            Everyone::gives(exclusive::<$op, T>(AllLanes::<AnyTarget>::here(), x.per_lane()))
        }
    )*};
}

workgroup! {
    Arithmetic Add workgroup_sum workgroup_inclusive_sum workgroup_exclusive_sum "The sum" "0 (-0.0 for floats)"
        wave_sum wave_inclusive_sum wave_exclusive_sum inclusive_sum exclusive_sum |a, b| a + b;
    Arithmetic Mul workgroup_product workgroup_inclusive_product workgroup_exclusive_product "The product" "1"
        wave_product wave_inclusive_product wave_exclusive_product inclusive_product exclusive_product |a, b| a * b;
    Arithmetic Min workgroup_min workgroup_inclusive_min workgroup_exclusive_min
        "The smallest" "the type's largest value (infinity for floats)"
        wave_min wave_inclusive_min wave_exclusive_min inclusive_min exclusive_min |a, b| a.min(b);
    Arithmetic Max workgroup_max workgroup_inclusive_max workgroup_exclusive_max
        "The largest" "the type's smallest value (minus infinity for floats)"
        wave_max wave_inclusive_max wave_exclusive_max inclusive_max exclusive_max |a, b| a.max(b);
    Integer And workgroup_and workgroup_inclusive_and workgroup_exclusive_and "The bitwise and" "all ones"
        wave_and wave_inclusive_and wave_exclusive_and inclusive_and exclusive_and |a, b| a & b;
    Integer Or workgroup_or workgroup_inclusive_or workgroup_exclusive_or "The bitwise or" "0"
        wave_or wave_inclusive_or wave_exclusive_or inclusive_or exclusive_or |a, b| a | b;
    Integer Xor workgroup_xor workgroup_inclusive_xor workgroup_exclusive_xor "The bitwise exclusive or" "0"
        wave_xor wave_inclusive_xor wave_exclusive_xor inclusive_xor exclusive_xor |a, b| a ^ b;
}

/// The number of work-items of the workgroup in which `c` is true, as CUDA's `__syncthreads_count`.
///
/// Every work-item must reach this call, which contains two barriers.
#[track_caller]
pub fn workgroup_count(c: impl IntoDevice<V<bool>>) -> Everyone<S<u32>> {
    Everyone::gives(counted(AllLanes::<AnyTarget>::here(), c.into_device()))
}

/// True if `c` is true in any work-item of the workgroup, as CUDA's `__syncthreads_or`.
///
/// Every work-item must reach this call, which contains two barriers.
#[track_caller]
pub fn workgroup_any(c: impl IntoDevice<V<bool>>) -> Everyone<S<bool>> {
    Everyone::gives(ne(counted(AllLanes::<AnyTarget>::here(), c.into_device()), 0))
}

/// True if `c` is true in every work-item of the workgroup, as CUDA's `__syncthreads_and`.
///
/// Every work-item must reach this call, which contains two barriers.
#[track_caller]
pub fn workgroup_all(c: impl IntoDevice<V<bool>>) -> Everyone<S<bool>> {
    Everyone::gives(eq(counted(AllLanes::<AnyTarget>::here(), !c.into_device()), 0))
}
