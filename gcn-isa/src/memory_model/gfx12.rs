//! The sequences of RDNA 4 and of gfx12.5, row by row.
//!
//! In the guide on which the GFX9 tables are based, the corresponding section is "Memory Model GFX12". The rows here are what LLVM 22.1.8's
//! memory legalizer emits for every combination (`tests/it/memory_model/llvm.rs` in the crate's tests repeats the comparison). Before a
//! release in LDS, LLVM waits for more operations than the guide requires.

use super::Operation::{Load, Rmw, Store};
use super::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use super::Scope::{Agent, Cluster, System, Wavefront, Workgroup};
use super::Space::{Generic, Global, Local};
use super::step::{
    ALL, ATOMIC, DEV, LGKM, LGKM_ATOMIC, NONE, Row, SE, SYS, Step, VM, VM_LGKM, VM_VS, access, cache, fence,
    if_wgp, row, same,
};

const INV_SE: Step = cache("global_inv", SE);
const INV_DEV: Step = cache("global_inv", DEV);
const INV_SYS: Step = cache("global_inv", SYS);
const WB_DEV: Step = cache("global_wb", DEV);
const WB_SYS: Step = cache("global_wb", SYS);

/// The rows that both instruction sets have. `$wait` is applied to the wait for vector memory in an acquire at workgroup scope: `if_wgp`
/// inserts the wait only if the workgroup runs on two compute units, `always` inserts it in any case. `$wb`, if given, writes caches back
/// before a release at agent scope. `$more` are rows for further scopes.
macro_rules! rows {
    ($wait:ident [$($wb:expr)?] [$($more:expr,)*]) => {
        &[
            $($more,)*
                row(Load, Relaxed, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
                row(Load, Relaxed, &[Workgroup], &[Local], &[access(NONE)]),
                row(Load, Relaxed, &[Workgroup], &[Global, Generic], &[access(NONE), if_wgp(access(SE))]),
                row(Load, Relaxed, &[Agent], &[Global, Generic], &[access(DEV)]),
                row(Load, Relaxed, &[System], &[Global, Generic], &[access(SYS)]),
                row(Load, Acquire, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
                row(Load, Acquire, &[Workgroup], &[Global], &[access(NONE), if_wgp(access(SE)), $wait(VM), if_wgp(INV_SE)]),
                row(Load, Acquire, &[Workgroup], &[Local], &[access(NONE), LGKM, if_wgp(INV_SE)]),
                row(Load, Acquire, &[Workgroup], &[Generic], &[access(NONE), if_wgp(access(SE)), LGKM, $wait(VM), if_wgp(INV_SE)]),
                row(Load, Acquire, &[Agent], &[Global], &[access(DEV), VM, INV_DEV]),
                row(Load, Acquire, &[Agent], &[Generic], &[access(DEV), VM_LGKM, INV_DEV]),
                row(Load, Acquire, &[System], &[Global], &[access(SYS), VM, INV_SYS]),
                row(Load, Acquire, &[System], &[Generic], &[access(SYS), VM_LGKM, INV_SYS]),
                row(Load, SeqCst, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
                row(Load, SeqCst, &[Workgroup], &[Global], &[ALL, access(NONE), if_wgp(access(SE)), VM, if_wgp(INV_SE)]),
                row(Load, SeqCst, &[Workgroup], &[Local], &[ALL, access(NONE), LGKM, if_wgp(INV_SE)]),
                row(Load, SeqCst, &[Workgroup], &[Generic], &[ALL, access(NONE), if_wgp(access(SE)), VM_LGKM, if_wgp(INV_SE)]),
                row(Load, SeqCst, &[Agent], &[Global], &[ALL, access(DEV), VM, INV_DEV]),
                row(Load, SeqCst, &[Agent], &[Generic], &[ALL, access(DEV), VM_LGKM, INV_DEV]),
                row(Load, SeqCst, &[System], &[Global], &[ALL, access(SYS), VM, INV_SYS]),
                row(Load, SeqCst, &[System], &[Generic], &[ALL, access(SYS), VM_LGKM, INV_SYS]),
                row(Store, Relaxed, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
                row(Store, Relaxed, &[Workgroup], &[Local], &[access(NONE)]),
                row(Store, Relaxed, &[Workgroup], &[Global, Generic], &[access(NONE), if_wgp(access(SE))]),
                row(Store, Relaxed, &[Agent], &[Global, Generic], &[access(DEV)]),
                row(Store, Relaxed, &[System], &[Global, Generic], &[access(SYS)]),
                row(Store, Release, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
                row(Store, Release, &[Workgroup], &[Global, Generic], &[ALL, access(NONE), if_wgp(access(SE))]),
                row(Store, Release, &[Workgroup], &[Local], &[ALL, access(NONE)]),
                row(Store, Release, &[Agent], &[Global, Generic], &[$($wb,)? ALL, access(DEV)]),
                row(Store, Release, &[System], &[Global, Generic], &[WB_SYS, ALL, access(SYS)]),
                row(Store, SeqCst, &[Wavefront, Workgroup, Agent, System], &[Global, Local, Generic], &[same(Release)]),
                row(Rmw, Relaxed, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
                row(Rmw, Relaxed, &[Workgroup], &[Local], &[access(NONE)]),
                row(Rmw, Relaxed, &[Workgroup], &[Global, Generic], &[access(NONE), if_wgp(access(SE))]),
                row(Rmw, Relaxed, &[Agent], &[Global, Generic], &[access(DEV)]),
                row(Rmw, Relaxed, &[System], &[Global, Generic], &[access(SYS)]),
                row(Rmw, Acquire, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
                row(Rmw, Acquire, &[Workgroup], &[Global], &[access(NONE), if_wgp(access(SE)), $wait(ATOMIC), if_wgp(INV_SE)]),
                row(Rmw, Acquire, &[Workgroup], &[Local], &[access(NONE), LGKM, if_wgp(INV_SE)]),
                row(Rmw, Acquire, &[Workgroup], &[Generic], &[access(NONE), if_wgp(access(SE)), LGKM, $wait(ATOMIC), if_wgp(INV_SE)]),
                row(Rmw, Acquire, &[Agent], &[Global], &[access(DEV), ATOMIC, INV_DEV]),
                row(Rmw, Acquire, &[Agent], &[Generic], &[access(DEV), LGKM_ATOMIC, INV_DEV]),
                row(Rmw, Acquire, &[System], &[Global], &[access(SYS), ATOMIC, INV_SYS]),
                row(Rmw, Acquire, &[System], &[Generic], &[access(SYS), LGKM_ATOMIC, INV_SYS]),
                row(Rmw, Release, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
                row(Rmw, Release, &[Workgroup], &[Global, Generic], &[ALL, access(NONE), if_wgp(access(SE))]),
                row(Rmw, Release, &[Workgroup], &[Local], &[ALL, access(NONE)]),
                row(Rmw, Release, &[Agent], &[Global, Generic], &[$($wb,)? ALL, access(DEV)]),
                row(Rmw, Release, &[System], &[Global, Generic], &[WB_SYS, ALL, access(SYS)]),
                row(Rmw, AcqRel, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
                row(Rmw, AcqRel, &[Workgroup], &[Global], &[ALL, access(NONE), if_wgp(access(SE)), ATOMIC, if_wgp(INV_SE)]),
                row(Rmw, AcqRel, &[Workgroup], &[Local], &[ALL, access(NONE), LGKM, if_wgp(INV_SE)]),
                row(Rmw, AcqRel, &[Workgroup], &[Generic], &[ALL, access(NONE), if_wgp(access(SE)), LGKM_ATOMIC, if_wgp(INV_SE)]),
                row(Rmw, AcqRel, &[Agent], &[Global], &[$($wb,)? ALL, access(DEV), ATOMIC, INV_DEV]),
                row(Rmw, AcqRel, &[Agent], &[Generic], &[$($wb,)? ALL, access(DEV), LGKM_ATOMIC, INV_DEV]),
                row(Rmw, AcqRel, &[System], &[Global], &[WB_SYS, ALL, access(SYS), ATOMIC, INV_SYS]),
                row(Rmw, AcqRel, &[System], &[Generic], &[WB_SYS, ALL, access(SYS), LGKM_ATOMIC, INV_SYS]),
                row(Rmw, SeqCst, &[Wavefront, Workgroup, Agent, System], &[Global, Local, Generic], &[same(AcqRel)]),
                fence(Acquire, &[Wavefront], &[]),
                fence(Acquire, &[Workgroup], &[LGKM, $wait(VM_VS), if_wgp(INV_SE)]),
                fence(Acquire, &[Agent], &[ALL, INV_DEV]),
                fence(Acquire, &[System], &[ALL, INV_SYS]),
                fence(Release, &[Wavefront], &[]),
                fence(Release, &[Workgroup], &[ALL]),
                fence(Release, &[Agent], &[$($wb,)? ALL]),
                fence(Release, &[System], &[WB_SYS, ALL]),
                fence(AcqRel, &[Wavefront], &[]),
                fence(AcqRel, &[Workgroup], &[ALL, if_wgp(INV_SE)]),
                fence(AcqRel, &[Agent], &[$($wb,)? ALL, INV_DEV]),
                fence(AcqRel, &[System], &[WB_SYS, ALL, INV_SYS]),
                fence(SeqCst, &[Wavefront, Workgroup, Agent, System], &[same(AcqRel)]),
        ]
    };
}

const fn always(step: Step) -> Step {
    step
}

pub(super) const ROWS: &[Row] = rows!(if_wgp [] []);

/// In contrast to RDNA 4, gfx12.5 also writes caches back before a release at agent scope, and an acquire at workgroup scope waits for
/// vector memory even if the workgroup runs on one compute unit. Cluster scope uses the scope SE of the cache instructions.
#[rustfmt::skip]
pub(super) const ROWS_12_5: &[Row] = rows!(always [WB_DEV] [
    row(Load, Relaxed, &[Cluster], &[Global, Generic], &[access(SE)]),
    row(Load, Acquire, &[Cluster], &[Global], &[access(SE), VM, INV_SE]),
    row(Load, Acquire, &[Cluster], &[Generic], &[access(SE), VM_LGKM, INV_SE]),
    row(Load, SeqCst, &[Cluster], &[Global], &[ALL, access(SE), VM, INV_SE]),
    row(Load, SeqCst, &[Cluster], &[Generic], &[ALL, access(SE), VM_LGKM, INV_SE]),
    row(Store, Relaxed, &[Cluster], &[Global, Generic], &[access(SE)]),
    row(Store, Release, &[Cluster], &[Global, Generic], &[ALL, access(SE)]),
    row(Store, SeqCst, &[Cluster], &[Global, Local, Generic], &[same(Release)]),
    row(Rmw, Relaxed, &[Cluster], &[Global, Generic], &[access(SE)]),
    row(Rmw, Acquire, &[Cluster], &[Global], &[access(SE), ATOMIC, INV_SE]),
    row(Rmw, Acquire, &[Cluster], &[Generic], &[access(SE), LGKM_ATOMIC, INV_SE]),
    row(Rmw, Release, &[Cluster], &[Global, Generic], &[ALL, access(SE)]),
    row(Rmw, AcqRel, &[Cluster], &[Global], &[ALL, access(SE), ATOMIC, INV_SE]),
    row(Rmw, AcqRel, &[Cluster], &[Generic], &[ALL, access(SE), LGKM_ATOMIC, INV_SE]),
    row(Rmw, SeqCst, &[Cluster], &[Global, Local, Generic], &[same(AcqRel)]),
    fence(Acquire, &[Cluster], &[ALL, INV_SE]),
    fence(Release, &[Cluster], &[ALL]),
    fence(AcqRel, &[Cluster], &[ALL, INV_SE]),
    fence(SeqCst, &[Cluster], &[same(AcqRel)]),
]);
