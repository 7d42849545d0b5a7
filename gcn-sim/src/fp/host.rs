//! Selects code compiled for the host's wide vectors and fused multiply-add instructions, if the host has them.
//!
//! The crate is compiled for the baseline processor of its architecture. Work that is also compiled for better processors is dispatched
//! here at run time; the crate `multiversion` contains the unsafe code that this requires.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Work that is compiled for several host instruction sets.
pub(crate) trait Work {
    /// The result.
    type Out;

    /// Performs the work; should be inlined. `FUSED`: `mul_add` is a single instruction. `WIDE`: there are 32 vector registers of 64 bytes.
    fn run<const FUSED: bool, const WIDE: bool>(self) -> Self::Out;
}

/// A host instruction set that a test selects instead of the best one.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// AVX2: vectors of 32 bytes and fused multiply-add, if the host has them.
    Avx2,
    /// The instruction set for which the crate is compiled.
    Portable,
}

thread_local!(static WAY: Cell<Option<Way>> = const { Cell::new(None) });

/// True if [`forced`] has been called, so that `WAY` must be read. In a shared library, reading it is a call.
static MAY_BE_FORCED: AtomicBool = AtomicBool::new(false);

#[inline(always)]
fn way() -> Option<Way> {
    if MAY_BE_FORCED.load(Relaxed) { forced_way() } else { None }
}

#[cold]
#[inline(never)]
fn forced_way() -> Option<Way> {
    WAY.get()
}

/// Runs `f` with all work on this thread forced to the given instruction set, for tests.
pub fn forced<T>(way: Way, f: impl FnOnce() -> T) -> T {
    MAY_BE_FORCED.store(true, Relaxed);
    WAY.set(Some(way));
    let result = f();
    WAY.set(None);
    result
}

/// True if the portable instruction set is forced on this thread.
#[inline(always)]
pub(crate) fn is_portable() -> bool {
    matches!(way(), Some(Way::Portable))
}

/// Performs the work with the best instruction set of the host, unless another is forced.
#[inline]
pub(crate) fn run<W: Work>(work: W) -> W::Out {
    match way() {
        None => wide(work),
        Some(Way::Avx2) => narrow(work),
        Some(Way::Portable) => portable(work),
    }
}

/// As [`run`], for short and varied work, such as one vector instruction. It is not compiled for vectors of 64 bytes, to limit code
/// size.
#[inline]
pub(crate) fn lanes<W: Work>(work: W) -> W::Out {
    if is_portable() { portable(work) } else { narrow(work) }
}

// Each of the next three functions is compiled for one instruction set, and falls back to the next function if the host lacks it.

#[multiversion::multiversion(
    targets("x86_64+avx2+avx512bw+avx512cd+avx512dq+avx512f+avx512vl+bmi1+bmi2+f16c+fma+lzcnt+popcnt"),
    dispatcher = "direct"
)]
fn wide<W: Work>(work: W) -> W::Out {
    multiversion::target::match_target! {
        "x86_64+avx512f" => work.run::<true, true>(),
        _ => narrow(work),
    }
}

// Each feature in the list costs a test whenever a vector instruction is executed, so only those are listed that make lanes faster.
#[multiversion::multiversion(targets("x86_64+avx2+fma"), dispatcher = "direct")]
fn narrow<W: Work>(work: W) -> W::Out {
    multiversion::target::match_target! {
        "x86_64+fma" => work.run::<true, false>(),
        _ => portable(work),
    }
}

/// Performs the work with the instruction set that the crate is compiled for.
#[inline(never)]
pub(crate) fn portable<W: Work>(work: W) -> W::Out {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
        work.run::<true, false>()
    } else {
        work.run::<false, false>()
    }
}
