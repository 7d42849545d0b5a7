//! Run-time checks of indices, in builds that request them.

use std::panic::Location;

use crate::ir::probe::Role;
use crate::lang::context::source;
use crate::lang::control::assert::{probe, stop};
use crate::lang::control::if_begin;
use crate::lang::values::flow::WholeWorkgroup;
use crate::lang::{IntoDevice, S, V, ballot, lt, ne, read_lane, with};

/// In a kernel built with [`BuildOptions::check_bounds`](crate::BuildOptions::check_bounds): emits a trap that is
/// executed if a lane's index is not below `len`. The message says that `whole` ("a slice") has `len` elements.
#[track_caller]
pub(in crate::lang) fn check(i: V<u32>, len: impl IntoDevice<S<u32>>, whole: &'static str) {
    check_at(i, len, whole, Location::caller());
}

/// As [`check`], with an explicit source location.
#[track_caller]
pub(in crate::lang) fn check_at(
    i: V<u32>,
    len: impl IntoDevice<S<u32>>,
    whole: &'static str,
    loc: &'static Location<'static>,
) {
    if !with(|c| c.bounds && !c.builder.is_never_run()) {
        return;
    }
    let len = len.into_device();
    let known = with(|c| Some((c.builder.as_const(i.value)?, c.builder.as_const(len.value)?)));
    // If both index and length are known, a wrong index is a build error, so no check at run time is needed.
    if known.is_some() {
        return;
    }
    let outside = ballot(!lt(i, len));
    let guard = if_begin(ne(outside, 0), &WholeWorkgroup::new());
    let index = read_lane(i, outside.trailing_zeros());
    with(|c| c.builder.note(source(loc), "an index is out of bounds".to_owned()));
    for (value, role) in [(index, Role::Index), (len, Role::Length)] {
        probe(value.value, (whole, role), None, loc);
    }
    stop(loc);
    guard.end();
}
