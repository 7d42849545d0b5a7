//! The sequences of RDNA 1 to 3, row by row.
//!
//! In the guide on which the GFX9 tables are based, the corresponding section is "Memory Model GFX10-GFX11". The rows here are what LLVM
//! 22.1.8's memory legalizer emits for every combination (`tests/it/memory_model/llvm.rs` in the crate's tests repeats the comparison).
//! Before a release in LDS, LLVM waits for more operations than the guide requires.

use super::Operation::{Load, Rmw, Store};
use super::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use super::Scope::{Agent, System, Wavefront, Workgroup};
use super::Space::{Generic, Global, Local};
use super::step::{
    ALL, ATOMIC, GLC, GLC_DLC, LGKM, LGKM_ATOMIC, NONE, Row, Step, VM, VM_LGKM, VM_VS, access, cache, fence,
    if_wgp, row, same,
};

const GL0_INV: Step = cache("buffer_gl0_inv", NONE);
/// Invalidates GL1, which several compute units share, before GL0.
const GL1_INV: Step = cache("buffer_gl1_inv", NONE);

/// The rows, with the cache bits of a load that other workgroups may observe: RDNA 3 does not use `dlc`.
macro_rules! rows {
    ($wide:expr) => {
        &[
            row(Load, Relaxed, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
            row(Load, Relaxed, &[Workgroup], &[Local], &[access(NONE)]),
            row(Load, Relaxed, &[Workgroup], &[Global, Generic], &[access(NONE), if_wgp(access(GLC))]),
            row(Load, Relaxed, &[Agent, System], &[Global, Generic], &[access($wide)]),
            row(Load, Acquire, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
            row(
                Load,
                Acquire,
                &[Workgroup],
                &[Global],
                &[access(NONE), if_wgp(access(GLC)), if_wgp(VM), if_wgp(GL0_INV)],
            ),
            row(Load, Acquire, &[Workgroup], &[Local], &[access(NONE), LGKM, if_wgp(GL0_INV)]),
            row(
                Load,
                Acquire,
                &[Workgroup],
                &[Generic],
                &[access(NONE), if_wgp(access(GLC)), LGKM, if_wgp(VM), if_wgp(GL0_INV)],
            ),
            row(Load, Acquire, &[Agent, System], &[Global], &[access($wide), VM, GL1_INV, GL0_INV]),
            row(Load, Acquire, &[Agent, System], &[Generic], &[access($wide), VM_LGKM, GL1_INV, GL0_INV]),
            row(Load, SeqCst, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
            row(
                Load,
                SeqCst,
                &[Workgroup],
                &[Global],
                &[ALL, access(NONE), if_wgp(access(GLC)), VM, if_wgp(GL0_INV)],
            ),
            row(Load, SeqCst, &[Workgroup], &[Local], &[ALL, access(NONE), LGKM, if_wgp(GL0_INV)]),
            row(
                Load,
                SeqCst,
                &[Workgroup],
                &[Generic],
                &[ALL, access(NONE), if_wgp(access(GLC)), VM_LGKM, if_wgp(GL0_INV)],
            ),
            row(Load, SeqCst, &[Agent, System], &[Global], &[ALL, access($wide), VM, GL1_INV, GL0_INV]),
            row(Load, SeqCst, &[Agent, System], &[Generic], &[ALL, access($wide), VM_LGKM, GL1_INV, GL0_INV]),
            row(Store, Relaxed, &[Wavefront, Workgroup], &[Global, Local, Generic], &[access(NONE)]),
            row(Store, Relaxed, &[Agent, System], &[Global, Generic], &[access(NONE)]),
            row(Store, Release, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
            row(Store, Release, &[Workgroup], &[Global, Local, Generic], &[ALL, access(NONE)]),
            row(Store, Release, &[Agent, System], &[Global, Generic], &[ALL, access(NONE)]),
            row(
                Store,
                SeqCst,
                &[Wavefront, Workgroup, Agent, System],
                &[Global, Local, Generic],
                &[same(Release)],
            ),
            row(Rmw, Relaxed, &[Wavefront, Workgroup], &[Global, Local, Generic], &[access(NONE)]),
            row(Rmw, Relaxed, &[Agent, System], &[Global, Generic], &[access(NONE)]),
            row(Rmw, Acquire, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
            row(Rmw, Acquire, &[Workgroup], &[Global], &[access(NONE), if_wgp(ATOMIC), if_wgp(GL0_INV)]),
            row(Rmw, Acquire, &[Workgroup], &[Local], &[access(NONE), LGKM, if_wgp(GL0_INV)]),
            row(
                Rmw,
                Acquire,
                &[Workgroup],
                &[Generic],
                &[access(NONE), LGKM, if_wgp(ATOMIC), if_wgp(GL0_INV)],
            ),
            row(Rmw, Acquire, &[Agent, System], &[Global], &[access(NONE), ATOMIC, GL1_INV, GL0_INV]),
            row(Rmw, Acquire, &[Agent, System], &[Generic], &[access(NONE), LGKM_ATOMIC, GL1_INV, GL0_INV]),
            row(Rmw, Release, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
            row(Rmw, Release, &[Workgroup], &[Global, Local, Generic], &[ALL, access(NONE)]),
            row(Rmw, Release, &[Agent, System], &[Global, Generic], &[ALL, access(NONE)]),
            row(Rmw, AcqRel, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
            row(Rmw, AcqRel, &[Workgroup], &[Global], &[ALL, access(NONE), ATOMIC, if_wgp(GL0_INV)]),
            row(Rmw, AcqRel, &[Workgroup], &[Local], &[ALL, access(NONE), LGKM, if_wgp(GL0_INV)]),
            row(Rmw, AcqRel, &[Workgroup], &[Generic], &[ALL, access(NONE), LGKM_ATOMIC, if_wgp(GL0_INV)]),
            row(Rmw, AcqRel, &[Agent, System], &[Global], &[ALL, access(NONE), ATOMIC, GL1_INV, GL0_INV]),
            row(
                Rmw,
                AcqRel,
                &[Agent, System],
                &[Generic],
                &[ALL, access(NONE), LGKM_ATOMIC, GL1_INV, GL0_INV],
            ),
            row(
                Rmw,
                SeqCst,
                &[Wavefront, Workgroup, Agent, System],
                &[Global, Local, Generic],
                &[same(AcqRel)],
            ),
            fence(Acquire, &[Wavefront], &[]),
            fence(Acquire, &[Workgroup], &[LGKM, if_wgp(VM_VS), if_wgp(GL0_INV)]),
            fence(Acquire, &[Agent, System], &[ALL, GL1_INV, GL0_INV]),
            fence(Release, &[Wavefront], &[]),
            fence(Release, &[Workgroup, Agent, System], &[ALL]),
            fence(AcqRel, &[Wavefront], &[]),
            fence(AcqRel, &[Workgroup], &[ALL, if_wgp(GL0_INV)]),
            fence(AcqRel, &[Agent, System], &[ALL, GL1_INV, GL0_INV]),
            fence(SeqCst, &[Wavefront, Workgroup, Agent, System], &[same(AcqRel)]),
        ]
    };
}

#[rustfmt::skip]
pub(super) const GFX10: &[Row] = rows!(GLC_DLC);
#[rustfmt::skip]
pub(super) const GFX11: &[Row] = rows!(GLC);
