//! Range checks of numbers that are known when the kernel is built. A violation is a build error at the user's source
//! location.

use std::panic::Location;

use crate::ir::{Bin, Value};
use crate::lang::{V, with};
use crate::scalar::Scalar;

/// Returns `k`, which selects one of `len` parts of `whole` (for example, an "element" of "a vector of 4"). If there is
/// no such part, an error is recorded, and 0 is returned.
#[track_caller]
pub(in crate::lang) fn within(k: usize, len: usize, part: &str, whole: impl FnOnce() -> String) -> usize {
    if k < len {
        return k;
    }
    let loc = Location::caller();
    with(|c| c.fail_if_run(loc, || format!("{part} {k} of {}: {}", whole(), numbers(part, len))));
    0
}

/// The part of an error message that says which numbers are valid.
fn numbers(part: &str, len: usize) -> String {
    match len {
        0 => format!("it has no {part}"),
        1 => format!("it has {part} 0 only"),
        _ => format!("they are numbered from 0 to {}", len - 1),
    }
}

/// Records an error if an access to `count` elements from `i` on is known to exceed an array of `len` elements.
pub(in crate::lang) fn refuse_outside(i: V<u32>, count: usize, len: usize, loc: &'static Location<'static>) {
    with(|c| {
        let Some(first) = c.builder.as_const(i.value) else { return };
        let last = first + count as u64 - 1;
        if last >= len as u64 {
            c.fail_if_run(loc, || format!("index {last} of an array of {len}: {}", numbers("element", len)));
        }
    });
}

/// Records an error if the lane's number is known and is not below the wave size.
pub(in crate::lang) fn refuse_lane(lane: Value, loc: &'static Location<'static>) {
    with(|c| {
        let lanes = c.wave.lanes();
        if let Some(lane) = c.builder.as_const(lane).filter(|lane| *lane >= u64::from(lanes)) {
            c.fail_if_run(loc, || {
                let written_for_more = lane < u64::from(gcn_isa::target::WAVE_SIZE);
                let remedy = "; the last is `wave_size() - 1`, and a kernel that is written for 64 lanes says `#[wave(64)]`";
                let remedy = if written_for_more { remedy } else { "" };
                format!("lane {} of a wave: they are numbered from 0 to {}{remedy}", lane as u32, lanes - 1)
            });
        }
    });
}

/// Records an error for an integer division by 0 and for a shift by at least the width, if the right side is known;
/// rustc rejects these for host numbers, too.
pub(in crate::lang) fn refuse_operand<T: Scalar>(op: Bin, right: Value, loc: &'static Location<'static>) {
    if T::ELEM.is_float() || !matches!(op, Bin::Div | Bin::Rem | Bin::Shl | Bin::Shr) {
        return;
    }
    let width = u64::from(8 * T::ELEM.bytes());
    with(|c| {
        let Some(right) = c.builder.as_const(right) else { return };
        match op {
            Bin::Div | Bin::Rem if right == 0 => {
                c.fail_if_run(loc, || "this divides by zero".to_owned());
            }
            Bin::Shl | Bin::Shr if right >= width => c.fail_if_run(loc, || {
                let (elem, most) = (T::ELEM, width - 1);
                format!(
                    "this shifts a `{elem}` by {right}, and it has {width} bits: shift by at most {most}, or use `wrapping_shl` or \
                     `wrapping_shr`, which take the count modulo {width}"
                )
            }),
            _ => {}
        }
    });
}
