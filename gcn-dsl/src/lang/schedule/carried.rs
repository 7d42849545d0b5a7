//! Values that a loop moves from one iteration to the next.
//!
//! The body of a device loop is traced once. The expansion puts it into a host loop, which also runs once, so that
//! rustc's move checker sees a loop: if the body moves a value out of a variable, it must assign a new value of the
//! same type before the body ends. This module checks in addition that the new value consists of the same buffers.

use std::marker::PhantomData;
use std::panic::Location;

use crate::ir::LdsId;
use crate::lang::with;

/// Types that `#[carried] let mut` can hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be `#[carried]` from one trip of a loop to the next",
    label = "not an LDS buffer with a phase",
    note = "`LdsBuf` and `LdsPair` are carried; device values are variables with plain `let mut`, and a `Pending` result is waited for in the trip that starts it"
)]
pub trait Carry {
    /// Appends the LDS arrays of which the value consists.
    fn arrays(&self, out: &mut Vec<LdsId>);
}

tuples!(Carry: arrays of each into out: &mut Vec<LdsId>);

/// The arrays of a `#[carried]` variable of type `C`; later values are compared with them.
#[derive(Debug)]
pub struct Carried<C> {
    arrays: Vec<LdsId>,
    contents: PhantomData<fn() -> C>,
}

/// The expansion of `#[carried] let mut name = value`.
pub fn carried<C: Carry>(value: C) -> (Carried<C>, C) {
    let mut arrays = Vec::new();
    value.arrays(&mut arrays);
    (Carried { arrays, contents: PhantomData }, value)
}

impl<C: Carry> Carried<C> {
    /// The expansion of an assignment to the variable. It is an error if the value does not consist of the same arrays.
    #[track_caller]
    pub fn again(&self, value: C) -> C {
        let mut arrays = Vec::new();
        value.arrays(&mut arrays);
        if arrays != self.arrays {
            let message = "a `#[carried]` variable stands for the same LDS buffer all the time, and this is another one; to use two \
                           buffers in turn take an `LdsPair`";
            let loc = Location::caller();
            with(|c| c.fail(loc, message.to_owned()));
        }
        value
    }
}

/// The condition that ends the host loop around a device loop's body. It is always true, but rustc cannot know that.
#[inline(never)]
pub fn traced() -> bool {
    std::hint::black_box(true)
}
