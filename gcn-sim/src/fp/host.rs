//! Selects code compiled for the host's wide vectors and fused multiply-add instructions, if the host has them.
//!
//! The crate is compiled for the baseline processor of its architecture. Work that is also compiled for better processors is dispatched
//! here at run time. This happens for every vector instruction, so the choice is made once per process and kept in a static variable.

#![allow(
    unsafe_code,
    reason = "functions compiled for an instruction set are called after the host was found to have it"
)]

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

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

/// Runs `f` with all work on this thread forced to the given instruction set, for tests.
pub fn forced<T>(way: Way, f: impl FnOnce() -> T) -> T {
    LEVEL.store(BY_THREAD, Relaxed);
    WAY.set(Some(way));
    let result = f();
    WAY.set(None);
    result
}

/// The instruction sets, each a superset of those before.
const PORTABLE: u8 = 0;
const NARROW: u8 = 1;
const WIDE: u8 = 2;
/// [`LEVEL`] before the first use.
const UNKNOWN: u8 = 3;
/// [`LEVEL`] after a thread has called [`forced`]: each use asks for the choice of its thread.
const BY_THREAD: u8 = 4;

/// The best instruction set of the host, or how to find it.
static LEVEL: AtomicU8 = AtomicU8::new(UNKNOWN);

/// The instruction set to use, as [`PORTABLE`], [`NARROW`] or [`WIDE`]. A host has at least this one.
#[inline(always)]
fn level() -> u8 {
    match LEVEL.load(Relaxed) {
        known @ (PORTABLE | NARROW | WIDE) => known,
        _ => ask(),
    }
}

#[cold]
fn ask() -> u8 {
    let best = best();
    // Fails if a thread has called `forced`, which then counts.
    let _ = LEVEL.compare_exchange(UNKNOWN, best, Relaxed, Relaxed);
    match WAY.get() {
        None => best,
        Some(Way::Avx2) => best.min(NARROW),
        Some(Way::Portable) => PORTABLE,
    }
}

/// Defines the code for x86: the features of each instruction set are written once, for the compiler and for the question to the host.
#[cfg(target_arch = "x86_64")]
macro_rules! levels {
    (narrow: $($narrow:tt),+; wide: $($wide:tt),+) => {
        fn best() -> u8 {
            let narrow = $(std::arch::is_x86_feature_detected!($narrow))&&+;
            let wide = narrow $(&& std::arch::is_x86_feature_detected!($wide))+;
            if wide { WIDE } else { u8::from(narrow) }
        }

        $(#[target_feature(enable = $narrow)])+
        fn narrow<W: Work>(work: W) -> W::Out {
            work.run::<true, false>()
        }

        $(#[target_feature(enable = $narrow)])+
        $(#[target_feature(enable = $wide)])+
        fn wide<W: Work>(work: W) -> W::Out {
            work.run::<true, true>()
        }
    };
}

#[cfg(target_arch = "x86_64")]
levels! {
    narrow: "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "popcnt";
    wide: "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"
}

#[cfg(not(target_arch = "x86_64"))]
fn best() -> u8 {
    PORTABLE
}

/// Performs the work with the best instruction set of the host, unless another is forced.
#[inline]
pub(crate) fn run<W: Work>(work: W) -> W::Out {
    match level() {
        // SAFETY: `level` returns WIDE only if `best` has found all features of `wide` on this host.
        #[cfg(target_arch = "x86_64")]
        WIDE => unsafe { wide(work) },
        // SAFETY: `level` returns NARROW only if `best` has found all features of `narrow` on this host.
        #[cfg(target_arch = "x86_64")]
        NARROW => unsafe { narrow(work) },
        _ => portable(work),
    }
}

/// As [`run`], for short and varied work, such as one vector instruction. It is not compiled for vectors of 64 bytes, to limit code
/// size.
#[inline]
pub(crate) fn lanes<W: Work>(work: W) -> W::Out {
    match level() {
        // SAFETY: `level` returns NARROW or WIDE only if `best` has found all features of `narrow` on this host.
        #[cfg(target_arch = "x86_64")]
        NARROW | WIDE => unsafe { narrow(work) },
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
