//! Groups of lanes with equal values.

use std::panic::Location;

use crate::ir::Inst;
use crate::lang::control::while_any::WhileAny;
use crate::lang::{IntoDevice, V, ballot, eq, read_first_lane, select, with};
use crate::scalar::{Elem, LaneMask, Number, Scalar};

/// For each lane, the mask of the active lanes that have the same value, including its own bit.
///
/// Values are equal if their bits are: 0.0 and -0.0 differ, and a NaN equals a NaN with the same bits.
///
/// No single instruction does this. The code is a loop with one iteration for each distinct value: the first lane that
/// has no mask yet broadcasts its value; all lanes with that value take the mask of those lanes and leave the loop.
/// There are at most as many iterations as lanes. An iteration reads one lane (twice for 64-bit types), compares, and
/// moves masks; for conditions no loop is needed. If few distinct values are expected, as for the keys of a histogram
/// or the targets of atomics, this replaces the atomics of all lanes by one for each value:
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// How often each key occurs, by one addition for each key in a wave.
///     #[workgroup(64)]
///     fn histogram(keys: &[u32], counts: &mut [u32]) {
///         let key = keys[global_id().x];
///         let same = match_any(key);
///         if same.trailing_zeros() == lane_id() {
///             counts.atomic(key).fetch_add(same.count_ones(), Scope::Agent, Ordering::Relaxed);
///         }
///     }
/// }
/// let keys: Vec<u32> = (0..256).map(|i| i * i % 5).collect();
/// let mut counts = vec![0; 5];
/// histogram.launch(&Device::simulator(Target::GFX90A), Grid::x(4), (&keys, &mut counts))?;
/// assert_eq!(counts, [52, 102, 0, 0, 102]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn match_any<T: Scalar>(value: V<T>) -> V<LaneMask> {
    let loc = Location::caller();
    match with(|c| T::elem_in(c.wave)) {
        Elem::Bool => {
            let holds = V::<bool>::from_value(value.value);
            select(holds, ballot(holds), ballot(!holds))
        }
        elem if elem.dwords() == 2 => matched(V::<u64>::emit(Inst::Bitcast(value.value), loc)),
        elem => {
            let word = V::<u32>::emit(Inst::Bitcast(value.value), loc);
            // Narrow integers are extended to the whole register, but only the low bits of a narrow float are defined.
            let narrow_float = elem.is_float() && elem.bytes() < 4;
            matched(if narrow_float { word & ((1 << (8 * elem.bytes())) - 1) } else { word })
        }
    }
}

/// The types of the words that lanes compare.
trait Word: Number {}
impl Word for u32 {}
impl Word for u64 {}

#[track_caller]
fn matched<T: Word>(value: V<T>) -> V<LaneMask> {
    let (nothing, waits): (V<LaneMask>, V<bool>) = (LaneMask::EMPTY.into_device(), true.into_device());
    let mut trips = WhileAny::begin((nothing, waits));
    trips.test(trips.values().1.value);
    let (mask, _) = trips.values();
    let first = read_first_lane(value);
    let same: V<bool> = eq(value, first);
    trips.end((select(same, ballot(same), mask), !same)).0
}
