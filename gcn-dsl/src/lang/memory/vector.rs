//! Loads and stores of vectors.

use std::panic::Location;

use super::layout::Index;
use super::slice::{Elements, load_elements, store_elements};
use crate::ir::{Type, Value};
use crate::lang::values::vector::pack;
use crate::lang::{V, Vector, with};
use crate::scalar::Number;

impl<T: Number, const N: usize> Vector<T, N> {
    /// True if one instruction can move the vector; otherwise an error is recorded.
    fn is_one_access(loc: &'static Location<'static>) -> bool {
        let (bytes, elem) = (N * T::ELEM.bytes() as usize, T::ELEM);
        if matches!(bytes, 4 | 8 | 12 | 16) {
            return true;
        }
        let whole = [4, 8, 12, 16].into_iter().filter(|b| b % elem.bytes() as usize == 0);
        let each: Vec<String> = whole.map(|b| (b / elem.bytes() as usize).to_string()).collect();
        let message = format!(
            "a vector of {N} `{elem}` is {bytes} bytes, and an instruction loads or stores 4, 8, 12 or 16: of `{elem}` it moves {} \
             elements; use several, or single elements, which are merged where that is possible",
            each.join(", ")
        );
        with(|c| c.fail(loc, message));
        false
    }

    #[track_caller]
    pub(in crate::lang) fn load(from: &impl Elements<T>, i: impl Index) -> Self {
        from.check(i.index(), N);
        Self::loaded(|loc| load_elements(from, i.index(), N, loc))
    }

    /// The vector that one load instruction returns.
    #[track_caller]
    pub(in crate::lang) fn loaded(load: impl FnOnce(&'static Location<'static>) -> Value) -> Self {
        let loc = Location::caller();
        if !Self::is_one_access(loc) {
            let zeros =
                [(); N].map(|()| V::<T>::from_value(with(|c| c.builder.constant(0, Type::varying(T::ELEM)))));
            return Self::of(pack(&zeros, loc));
        }
        Self::of(load(loc))
    }

    #[track_caller]
    pub(in crate::lang) fn store(self, to: &impl Elements<T>, i: impl Index) {
        let loc = Location::caller();
        if Self::is_one_access(loc) {
            to.check(i.index(), N);
            store_elements(to, i.index(), self.value, loc);
        }
    }
}
