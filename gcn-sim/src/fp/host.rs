//! The host's wide vectors and fused multiply-add, where it has them.
//!
//! The build is for the least processor of its architecture. Work that is compiled for more as well is chosen here when it
//! runs; `fearless_simd` does what takes unsafe code for that.

/// Work that is worth compiling twice.
pub(crate) trait Work {
    /// What comes of it.
    type Out;

    /// Does it; to be inlined. `FUSED`: `mul_add` is one instruction here.
    fn run<const FUSED: bool>(self) -> Self::Out;
}

/// Does the work in the best way that the host has.
#[cfg(target_arch = "x86_64")]
pub(crate) fn run<W: Work>(work: W) -> W::Out {
    use fearless_simd::{Level, Simd as _};
    match Level::new().as_avx2() {
        Some(avx2) => avx2.vectorize(
            #[inline(always)]
            || work.run::<true>(),
        ),
        None => portable(work),
    }
}

/// Does the work in the best way that the host has.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn run<W: Work>(work: W) -> W::Out {
    portable(work)
}

/// Does the work as the build has it.
pub(crate) fn portable<W: Work>(work: W) -> W::Out {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
        work.run::<true>()
    } else {
        work.run::<false>()
    }
}
