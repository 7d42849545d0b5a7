//! The attribute `#[pipeline]` before a `for`.

use std::ops::RangeInclusive;
use std::panic::Location;

use super::range::{ForIndex, ForLoop};
use crate::ir::pipeline::{BUFFERS, STAGES};
use crate::ir::pipelined::Request;
use crate::lang::context::source;
use crate::lang::values::flow::Flow;
use crate::lang::values::kind::Kind;
use crate::lang::{S, with};

/// Types of uniform loop counters.
#[diagnostic::on_unimplemented(
    message = "a pipelined `for` needs bounds that are the same for all lanes; this one counts in `{Self}`",
    label = "bounds that vary from lane to lane",
    note = "the loads of a trip start before it is known which lanes make it: loop to the largest bound and put the rest of \
            the body in an `if`, or take `#[pipeline]` away"
)]
pub trait TripsTogether: ForIndex {}

for_each_type!(N in [u8, i8, u16, i16, u32, i32, u64, i64] {
    impl TripsTogether for S<N> {}
});

/// The argument of `#[pipeline]`.
pub fn pipeline_count(n: usize) -> Option<usize> {
    Some(n)
}

/// The expansion of `#[pipeline]` before the `for` that `guard` has begun.
#[track_caller]
pub fn pipeline<I: TripsTogether, F: Flow, B: Kind, R: Kind>(
    guard: &ForLoop<I, F, B, R>,
    stages: Option<usize>,
    buffers: Option<usize>,
) {
    let loc = Location::caller();
    let within = |given: Option<usize>, limits: RangeInclusive<u8>, what: &str| {
        let Some(n) = given else { return Some(None) };
        let fits = u8::try_from(n).ok().filter(|n| limits.contains(n));
        if fits.is_none() {
            let (least, most) = limits.into_inner();
            with(|c| c.fail(loc, format!("a pipelined loop has {least} to {most} {what}, not {n}")));
        }
        fits.map(Some)
    };
    let (stages, buffers) = (within(stages, STAGES, "stages"), within(buffers, BUFFERS, "buffers"));
    if let (Some(stages), Some(buffers)) = (stages, buffers) {
        with(|c| {
            c.builder.pipeline(Request { counter: guard.counter, stages, buffers, at: Some(source(loc)) });
        });
    }
}
