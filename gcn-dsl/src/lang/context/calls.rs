//! The device functions that are being inlined.

use std::cell::Cell;
use std::fmt;
use std::panic::Location;

use gcn_isa::program::Call;

use super::{source, with};

/// Most device functions inside each other.
const DEEPEST: usize = 64;

thread_local! {
    /// The innermost call that is being inlined.
    static INNERMOST: Cell<Option<&'static Call>> = const { Cell::new(None) };
}

/// The call whose device function is being inlined.
pub(crate) fn innermost() -> Option<&'static Call> {
    INNERMOST.get()
}

/// The calls that are being inlined, innermost first.
fn chain() -> impl Iterator<Item = &'static Call> {
    innermost().into_iter().flat_map(Call::chain)
}

/// A device function is left when this ends.
#[derive(Debug)]
pub struct Frames(Option<&'static Call>);

impl Drop for Frames {
    fn drop(&mut self) {
        INNERMOST.set(self.0);
    }
}

/// The payload for unwinding out of a kernel whose functions call each other endlessly.
#[derive(Debug)]
pub(crate) struct EndlessCall;

/// A device function begins.
#[track_caller]
pub fn enter(function: &'static str) -> Frames {
    let called_at = Location::caller();
    let call = Call::of(function, source(called_at));
    let entered = Frames(INNERMOST.replace(Some(call)));
    if call.chain().count() > DEEPEST {
        with(|c| c.fail(called_at, endless(function)));
        // The host's stack would end before this does. `trace` catches it; the panic hook stays silent.
        std::panic::resume_unwind(Box::new(EndlessCall));
    }
    entered
}

/// The cycle of functions that call each other.
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

/// The call sites of the device functions around the current point, innermost first.
pub(crate) fn call_sites() -> Vec<CallSite> {
    // Of a circle the inner calls say enough.
    let site = |call: &'static Call| CallSite { function: call.function, location: call.at.to_string() };
    chain().take(4).map(site).collect()
}

/// Takes the calls of an outer trace away while another kernel is built inside its body.
pub(crate) fn outside_of_calls() -> Frames {
    Frames(INNERMOST.take())
}

/// A call of a `#[device] fn` around a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    /// The function.
    pub function: &'static str,
    /// The user's source position of the call.
    pub location: String,
}

impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in `{}`, called at {}", self.function, self.location)
    }
}
