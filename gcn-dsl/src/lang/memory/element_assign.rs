//! Assignments to elements of memory that is itself in a field or an array: `s.lds[i] = x`, `arrays[k][i] = x`.

use std::panic::Location;

use super::access::{LoadAt, StoreAt};
use super::layout::Index;
use crate::lang::values::element_assign::HasElements;
use crate::lang::{LanePtr, Lds, Private, Ptr, V, Writable, with};
use crate::scalar::Number;

macro_rules! memory {
    ($([$($generics:tt)*] $memory:ty, $remedy:literal;)*) => {$(
        impl<T: Number, $($generics)* I: Index> HasElements<I> for $memory {
            type Element = V<T>;
            #[track_caller]
            fn change_at(&mut self, i: I, f: impl Fn(&mut V<T>)) {
                let loc = Location::caller();
                // If a device index selects the outer array, every array is modified and the results are selected. A
                // store to memory cannot be done in that way.
                if with(|c| c.choosing > 0) {
                    let what = concat!(
                        "what is written to is one of several, chosen by an index that is not known when the kernel is built, and none \
                         would be left unchanged: ",
                        $remedy
                    );
                    return with(|c| c.fail(loc, what.to_owned()));
                }
                let mut element = self.load_at(i);
                f(&mut element);
                self.store_at(i, element);
            }
        }
    )*};
}
memory! {
    [const N: usize,] Private<T, N>, "write to one array for all, `Private::<f32, { N * M }>::new()`, at `i * M + k`";
    [const N: usize,] Lds<T, N>, "write to one array for all, `Lds::<f32, { N * M }>::new()`, at `i * M + k`";
    [] Ptr<T, Writable>, "take the pointer and write through it, `let p = a[k]; p[i] = x`";
    [] LanePtr<T, Writable>, "take the pointer and write through it, `let p = a[k]; p[i] = x`";
}
