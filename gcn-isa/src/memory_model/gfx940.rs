//! The guide's table "AMDHSA Memory Model Code Sequences GFX940", row by row.
//!
//! Where the guide contradicts itself, [`super::ERRATA`] records the interpretation that is used.

use super::Operation::{Load, Rmw, Store};
use super::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use super::Scope::{Agent, System, Wavefront, Workgroup};
use super::Space::{Generic, Global, Local};
use super::step::{
    NONE, Row, SC0, SC0_SC1, SC1, Step, WAIT_LGKM, WAIT_LGKM_UNLESS_SPLIT, WAIT_VM, WAIT_VM_IF_SPLIT, access,
    cache, fence, if_split, row, same,
};

const WBL2_SC1: Step = cache("buffer_wbl2", SC1);
const WBL2_SC0_SC1: Step = cache("buffer_wbl2", SC0_SC1);
const INV_SC0_IF_SPLIT: Step = if_split(cache("buffer_inv", SC0));
const INV_SC1: Step = cache("buffer_inv", SC1);
const INV_SC0_SC1: Step = cache("buffer_inv", SC0_SC1);
/// `s_waitcnt lgkm/vmcnt(0)`: one of the two counters, depending on the mode.
const LGKM: Step = WAIT_LGKM_UNLESS_SPLIT;
const VM: Step = WAIT_VM_IF_SPLIT;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    // Monotonic Atomic
    row(Load,  Relaxed, &[Wavefront],                   &[Global, Generic], &[access(NONE)]),
    row(Load,  Relaxed, &[Workgroup],                   &[Global, Generic], &[access(SC0)]),
    row(Load,  Relaxed, &[Wavefront, Workgroup],        &[Local],           &[access(NONE)]),
    row(Load,  Relaxed, &[Agent],                       &[Global, Generic], &[access(SC1)]),
    row(Load,  Relaxed, &[System],                      &[Global, Generic], &[access(SC0_SC1)]),
    row(Store, Relaxed, &[Wavefront],                   &[Global, Generic], &[access(NONE)]),
    row(Store, Relaxed, &[Workgroup],                   &[Global, Generic], &[access(SC0)]),
    row(Store, Relaxed, &[Agent],                       &[Global, Generic], &[access(SC1)]),
    row(Store, Relaxed, &[System],                      &[Global, Generic], &[access(SC0_SC1)]),
    row(Store, Relaxed, &[Wavefront, Workgroup],        &[Local],           &[access(NONE)]),
    row(Rmw,   Relaxed, &[Wavefront, Workgroup, Agent], &[Global, Generic], &[access(NONE)]),
    row(Rmw,   Relaxed, &[System],                      &[Global, Generic], &[access(SC1)]),
    row(Rmw,   Relaxed, &[Wavefront, Workgroup],        &[Local],           &[access(NONE)]),
    // Acquire Atomic
    row(Load, Acquire, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
    row(Load, Acquire, &[Workgroup], &[Global],  &[access(SC0), VM, INV_SC0_IF_SPLIT]),
    row(Load, Acquire, &[Workgroup], &[Local],   &[access(NONE), WAIT_LGKM]),
    row(Load, Acquire, &[Workgroup], &[Generic], &[access(SC0), LGKM, VM, INV_SC0_IF_SPLIT]),
    row(Load, Acquire, &[Agent],     &[Global],  &[access(SC1), WAIT_VM, INV_SC1]),
    row(Load, Acquire, &[System],    &[Global],  &[access(SC0_SC1), WAIT_VM, INV_SC0_SC1]),
    row(Load, Acquire, &[Agent],     &[Generic], &[access(SC1), WAIT_VM, LGKM, INV_SC1]),
    row(Load, Acquire, &[System],    &[Generic], &[access(SC0_SC1), WAIT_VM, LGKM, INV_SC0_SC1]),
    row(Rmw,  Acquire, &[Wavefront], &[Global, Generic], &[access(NONE)]),
    row(Rmw,  Acquire, &[Wavefront], &[Local],   &[access(NONE)]),
    row(Rmw,  Acquire, &[Workgroup], &[Global],  &[access(NONE), VM, INV_SC0_IF_SPLIT]),
    row(Rmw,  Acquire, &[Workgroup], &[Local],   &[access(NONE), WAIT_LGKM]),
    row(Rmw,  Acquire, &[Workgroup], &[Generic], &[access(NONE), LGKM, VM, INV_SC0_IF_SPLIT]),
    row(Rmw,  Acquire, &[Agent],     &[Global],  &[access(NONE), WAIT_VM, INV_SC1]),
    row(Rmw,  Acquire, &[System],    &[Global],  &[access(SC1), WAIT_VM, INV_SC0_SC1]),
    row(Rmw,  Acquire, &[Agent],     &[Generic], &[access(NONE), WAIT_VM, LGKM, INV_SC1]),
    row(Rmw,  Acquire, &[System],    &[Generic], &[access(SC1), WAIT_VM, LGKM, INV_SC0_SC1]),
    fence(Acquire, &[Wavefront], &[]),
    fence(Acquire, &[Workgroup], &[LGKM, VM, INV_SC0_IF_SPLIT]),
    fence(Acquire, &[Agent],     &[LGKM, WAIT_VM, INV_SC1]),
    fence(Acquire, &[System],    &[LGKM, WAIT_VM, INV_SC0_SC1]),
    // Release Atomic
    row(Store, Release, &[Wavefront], &[Global, Generic], &[access(NONE)]),
    row(Store, Release, &[Wavefront], &[Local],           &[access(NONE)]),
    row(Store, Release, &[Workgroup], &[Global, Generic], &[LGKM, VM, access(SC0)]),
    row(Store, Release, &[Workgroup], &[Local],           &[access(NONE)]),
    row(Store, Release, &[Agent],     &[Global, Generic], &[WBL2_SC1, LGKM, WAIT_VM, access(SC1)]),
    row(Store, Release, &[System],    &[Global, Generic], &[WBL2_SC0_SC1, LGKM, WAIT_VM, access(SC0_SC1)]),
    row(Rmw,   Release, &[Wavefront], &[Global, Generic], &[access(NONE)]),
    row(Rmw,   Release, &[Wavefront], &[Local],           &[access(NONE)]),
    row(Rmw,   Release, &[Workgroup], &[Global, Generic], &[LGKM, VM, access(NONE)]),
    row(Rmw,   Release, &[Workgroup], &[Local],           &[access(NONE)]),
    row(Rmw,   Release, &[Agent],     &[Global, Generic], &[WBL2_SC1, LGKM, WAIT_VM, access(NONE)]),
    row(Rmw,   Release, &[System],    &[Global, Generic], &[WBL2_SC0_SC1, LGKM, WAIT_VM, access(SC1)]),
    fence(Release, &[Wavefront], &[]),
    fence(Release, &[Workgroup], &[LGKM, VM]),
    fence(Release, &[Agent],     &[WBL2_SC1, LGKM, WAIT_VM]),
    fence(Release, &[System],    &[WBL2_SC0_SC1, LGKM, WAIT_VM]),
    // Acquire-Release Atomic
    row(Rmw, AcqRel, &[Wavefront], &[Global, Generic], &[access(NONE)]),
    row(Rmw, AcqRel, &[Wavefront], &[Local],   &[access(NONE)]),
    row(Rmw, AcqRel, &[Workgroup], &[Global],  &[LGKM, VM, access(NONE), VM, INV_SC0_IF_SPLIT]),
    row(Rmw, AcqRel, &[Workgroup], &[Local],   &[access(NONE), WAIT_LGKM]),
    row(Rmw, AcqRel, &[Workgroup], &[Generic], &[LGKM, VM, access(NONE), WAIT_LGKM, VM, INV_SC0_IF_SPLIT]),
    row(Rmw, AcqRel, &[Agent],     &[Global],  &[WBL2_SC1, LGKM, WAIT_VM, access(NONE), WAIT_VM, INV_SC1]),
    row(Rmw, AcqRel, &[System],    &[Global],  &[WBL2_SC0_SC1, LGKM, WAIT_VM, access(SC1), WAIT_VM, INV_SC0_SC1]),
    row(Rmw, AcqRel, &[Agent],     &[Generic], &[WBL2_SC1, LGKM, WAIT_VM, access(NONE), WAIT_VM, LGKM, INV_SC1]),
    row(Rmw, AcqRel, &[System],    &[Generic], &[WBL2_SC0_SC1, LGKM, WAIT_VM, access(SC1), WAIT_VM, LGKM, INV_SC0_SC1]),
    fence(AcqRel, &[Wavefront], &[]),
    fence(AcqRel, &[Workgroup], &[LGKM, VM, INV_SC0_IF_SPLIT]),
    fence(AcqRel, &[Agent],     &[WBL2_SC1, LGKM, WAIT_VM, INV_SC1]),
    fence(AcqRel, &[System],    &[WBL2_SC0_SC1, LGKM, WAIT_VM, INV_SC0_SC1]),
    // Sequential Consistent Atomic
    row(Load,  SeqCst, &[Wavefront],                           &[Global, Local, Generic], &[same(Acquire)]),
    row(Load,  SeqCst, &[Workgroup],                           &[Global, Generic], &[LGKM, VM, same(Acquire)]),
    row(Load,  SeqCst, &[Workgroup],                           &[Local],           &[same(Acquire)]),
    row(Load,  SeqCst, &[Agent, System],                       &[Global, Generic], &[LGKM, WAIT_VM, same(Acquire)]),
    row(Store, SeqCst, &[Wavefront, Workgroup, Agent, System], &[Global, Local, Generic], &[same(Release)]),
    row(Rmw,   SeqCst, &[Wavefront, Workgroup, Agent, System], &[Global, Local, Generic], &[same(AcqRel)]),
    fence(SeqCst, &[Wavefront, Workgroup, Agent, System], &[same(AcqRel)]),
];
