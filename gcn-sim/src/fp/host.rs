//! The host's wide vectors and fused multiply-add, where it has them.
//!
//! The build is for the least processor of its architecture. Work that is compiled for more as well is chosen here when it
//! runs; `multiversion` does what takes unsafe code for that.

use std::cell::Cell;

/// Work that is worth compiling for each way.
pub(crate) trait Work {
    /// The result.
    type Out;

    /// Does it; to be inlined. `FUSED`: `mul_add` is one instruction here. `WIDE`: vectors have 64 bytes, and there are 32 of
    /// them.
    fn run<const FUSED: bool, const WIDE: bool>(self) -> Self::Out;
}

/// A way that is not the best.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// Vectors of 32 bytes and fused multiply-adds, if the host has them.
    Avx2,
    /// As the build has it.
    Portable,
}

thread_local!(static WAY: Cell<Option<Way>> = const { Cell::new(None) });

/// Does `f`, and all work in it on this thread this way, for tests.
pub fn forced<T>(way: Way, f: impl FnOnce() -> T) -> T {
    WAY.set(Some(way));
    let result = f();
    WAY.set(None);
    result
}

/// Does the work in the best way that the host has, unless another is forced.
#[inline]
pub(crate) fn run<W: Work>(work: W) -> W::Out {
    match WAY.get() {
        None => wide(work),
        Some(Way::Avx2) => narrow(work),
        Some(Way::Portable) => portable(work),
    }
}

/// The same for work that is short and of many kinds, as that on the lanes of an instruction: not compiled for vectors of 64 bytes.
#[inline]
pub(crate) fn lanes<W: Work>(work: W) -> W::Out {
    match WAY.get() {
        Some(Way::Portable) => portable(work),
        _ => narrow(work),
    }
}

// Each of the three below is compiled once, and the first that the host has not falls through to the next. The code is large.

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

#[multiversion::multiversion(targets("x86_64+avx2+bmi1+bmi2+f16c+fma+lzcnt+popcnt"), dispatcher = "direct")]
fn narrow<W: Work>(work: W) -> W::Out {
    multiversion::target::match_target! {
        "x86_64+fma" => work.run::<true, false>(),
        _ => portable(work),
    }
}

/// Does the work as the build has it.
#[inline(never)]
pub(crate) fn portable<W: Work>(work: W) -> W::Out {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
        work.run::<true, false>()
    } else {
        work.run::<false, false>()
    }
}
