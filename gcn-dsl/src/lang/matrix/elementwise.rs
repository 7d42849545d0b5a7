//! Operations on elements, for single accumulators as well as for tiles of accumulators.

use std::panic::Location;

use super::format::AccElement;
use super::place::{At, Places, Run};
use crate::ir::{Inst, Place, Type, Value};
use crate::lang::values::vector::{element, pack};
use crate::lang::{V, with};
use crate::scalar::Number;

/// The register file of accumulators: AGPRs if the target has them, otherwise VGPRs.
pub(super) fn home() -> Place {
    if with(|c| c.target.instruction_set().has_agprs()) { Place::Acc } else { Place::Varying }
}

/// An accumulator of zeros, with room for `count` elements in the registers of each lane.
#[track_caller]
pub(super) fn zero<T: AccElement>(count: usize) -> Value {
    let place = home();
    if place == Place::Varying {
        let zero = V::<T>::emit(Inst::Const(0), Location::caller());
        return pack(&vec![zero; count], Location::caller());
    }
    let ty = Type { place, elem: T::ELEM, count: count as u8 };
    with(|c| c.builder.value(Inst::Const(0), ty, None))
}

/// The elements of an accumulator that are in this lane.
pub(super) fn extract<T: AccElement>(
    from: Value,
    count: usize,
    loc: &'static Location<'static>,
) -> Vec<V<T>> {
    (0..count).map(|i| one(from, i, count, loc)).collect()
}

/// Element `i` of the `count` elements of an accumulator that are in this lane.
pub(super) fn one<T: AccElement>(
    from: Value,
    i: usize,
    count: usize,
    loc: &'static Location<'static>,
) -> V<T> {
    if T::ELEM.bytes() < 4 {
        let places = usize::from(with(|c| c.builder.kernel().ty(from).count));
        return V::from_value(element::<T>(from, i * (places / count), places, loc));
    }
    V::emit(Inst::Extract { from, dword: i as u8 * T::ELEM.dwords() }, loc)
}

/// Assembles an accumulator from a lane's elements, in VGPRs or AGPRs as `place` says. In VGPRs, each element is `spacing` places after the
/// one before ([`Operand::spacing`](super::operand::Operand::spacing)).
pub(super) fn collect<T: AccElement>(
    parts: &[V<T>],
    spacing: usize,
    place: Place,
    loc: &'static Location<'static>,
) -> Value {
    if place == Place::Varying && spacing > 1 {
        let nothing = V::<T>::emit(Inst::Const(0), loc);
        let places =
            parts.iter().flat_map(|x| [*x].into_iter().chain(std::iter::repeat_n(nothing, spacing - 1)));
        return pack(&places.collect::<Vec<V<T>>>(), loc);
    }
    if place == Place::Varying {
        return pack(parts, loc);
    }
    let ty = Type { place: Place::Acc, elem: T::ELEM, count: parts.len() as u8 };
    let parts = parts.iter().map(|p| p.value).collect();
    with(|c| c.value(Inst::Concat(parts), ty, loc))
}

/// Copies the accumulator to VGPRs.
pub(super) fn in_vgprs(acc: Value, loc: &'static Location<'static>) -> Value {
    with(|c| {
        let ty = Type { place: Place::Varying, ..c.builder.kernel().ty(acc) };
        c.value(Inst::Splat(acc), ty, loc)
    })
}

/// Stores the elements of several accumulators. `at` is the position of the tile in the matrix, `origins` are the
/// positions of the accumulators in the tile.
#[track_caller]
pub(super) fn store<U: Number>(
    places: Places,
    at: [V<u32>; 2],
    origins: &[[u32; 2]],
    runs: &[Run],
    elements: &[V<U>],
) {
    each(at, origins, elements, |at, part| places.store::<U>(at, runs, part));
}

/// As `store`, but stores `f(x, old)`, where `old` is the matrix's current element.
#[track_caller]
pub(super) fn update<T: AccElement, U: Number>(
    places: Places,
    at: [V<u32>; 2],
    origins: &[[u32; 2]],
    runs: &[Run],
    elements: &[V<T>],
    mut f: impl FnMut(V<T>, V<U>) -> V<U>,
) {
    each(at, origins, elements, |at, part| {
        let old = places.load_each::<U>(at, runs);
        let new: Vec<V<U>> = part.iter().zip(old).map(|(x, old)| f(*x, old)).collect();
        places.store::<U>(at, runs, &new);
    });
}

/// Calls `f` for each accumulator, with its position in the matrix and its elements.
fn each<T: Number>(
    at: [V<u32>; 2],
    origins: &[[u32; 2]],
    elements: &[V<T>],
    mut f: impl FnMut([At; 2], &[V<T>]),
) {
    let [row, col] = at.map(At::new);
    for (part, [down, right]) in elements.chunks(elements.len() / origins.len()).zip(origins) {
        f([row.plus(*down), col.plus(*right)], part);
    }
}

/// Methods of both `Acc` and `Tile`. The type must have `elements`, `from_elements`, `place`, `origins` and `runs`.
macro_rules! methods {
    ($handle:ident, $last:ident) => {
        /// Applies `f` to each element.
        #[must_use]
        #[track_caller]
        pub fn map<U: AccElement>(&self, f: impl FnMut(V<T>) -> V<U>) -> $handle<U, M, N, $last> {
            let parts: Vec<V<U>> = self.elements().into_iter().map(f).collect();
            $handle::from_elements(&parts, self.place(), Location::caller())
        }

        /// Stores `f` of each element: for example, the element scaled or converted.
        #[track_caller]
        pub fn store_with<U: Number>(
            &self,
            view: impl AsViewMut<U>,
            row: impl IntoDevice<V<u32>>,
            col: impl IntoDevice<V<u32>>,
            f: impl FnMut(V<T>) -> V<U>,
        ) {
            let at = [row.into_device(), col.into_device()];
            let runs = Self::runs(Location::caller());
            let elements: Vec<V<U>> = self.elements().into_iter().map(f).collect();
            $crate::lang::matrix::elementwise::store(view.places(), at, &Self::origins(), &runs, &elements);
        }

        /// Stores `f(x, old)` for each element `x`, where `old` is the matrix's current element: for example, `alpha *
        /// x + beta * old`.
        #[track_caller]
        pub fn update<U: Number>(
            &self,
            view: impl AsViewMut<U>,
            row: impl IntoDevice<V<u32>>,
            col: impl IntoDevice<V<u32>>,
            f: impl FnMut(V<T>, V<U>) -> V<U>,
        ) {
            let at = [row.into_device(), col.into_device()];
            let runs = Self::runs(Location::caller());
            $crate::lang::matrix::elementwise::update(
                view.places(),
                at,
                &Self::origins(),
                &runs,
                &self.elements(),
                f,
            );
        }
    };
}
pub(super) use methods;
