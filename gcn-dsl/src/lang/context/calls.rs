//! The device functions that are being inlined.

use std::cell::Cell;
use std::fmt;
use std::panic::Location;

use gcn_isa::program::Call;

use super::{source, with};

/// The largest depth of nested device function calls.
const DEEPEST: usize = 64;

thread_local! {
    /// The innermost call that is being inlined; `None` outside of device functions.
    static INNERMOST: Cell<Option<&'static Call>> = const { Cell::new(None) };
}

/// The innermost call that is being inlined; `None` outside of device functions.
pub(crate) fn innermost() -> Option<&'static Call> {
    INNERMOST.get()
}

/// The calls that are being inlined, innermost first.
fn chain() -> impl Iterator<Item = &'static Call> {
    innermost().into_iter().flat_map(Call::chain)
}

/// A guard that, when it is dropped, leaves the device function.
#[derive(Debug)]
pub struct Frames(Option<&'static Call>);

impl Drop for Frames {
    fn drop(&mut self) {
        INNERMOST.set(self.0);
    }
}

/// The panic payload that unwinds out of a kernel with endless recursion.
#[derive(Debug)]
pub(crate) struct EndlessCall;

/// Enters a device function. Dropping the result leaves it.
#[track_caller]
pub fn enter(function: &'static str) -> Frames {
    let called_at = Location::caller();
    let call = Call::of(function, source(called_at));
    let entered = Frames(INNERMOST.replace(Some(call)));
    if call.chain().count() > DEEPEST {
        with(|c| c.fail(called_at, endless(function)));
        // Stop before the host's stack overflows. `trace` catches the payload, and the panic hook does not run.
        std::panic::resume_unwind(Box::new(EndlessCall));
    }
    entered
}

/// The error message for functions that call each other endlessly.
fn endless(function: &str) -> String {
    let mut circle: Vec<&str> =
        chain().skip(1).map(|call| call.function).take_while(|name| *name != function).collect();
    circle.reverse();
    let mut path = vec![function];
    path.extend(circle);
    path.push(function);
    let path = path.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" calls ");
    format!(
        "device functions are inlined {DEEPEST} deep and no end is in sight: {path}; a device function cannot call itself \
         unless host values end it (`comptime if`); use a loop"
    )
}

/// The call sites of the device functions that are being inlined, innermost first.
pub(crate) fn call_sites() -> Vec<CallSite> {
    // For a recursion, the innermost calls are enough.
    let site = |call: &'static Call| CallSite { function: call.function, location: call.at.to_string() };
    chain().take(4).map(site).collect()
}

/// Hides the calls of an outer trace whose body builds another kernel, until the result is dropped.
pub(crate) fn outside_of_calls() -> Frames {
    Frames(INNERMOST.take())
}

/// A call of a `#[device] fn` that leads to an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    /// The function's name.
    pub function: &'static str,
    /// The user's source position of the call.
    pub location: String,
}

impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in `{}`, called at {}", self.function, self.location)
    }
}
