//! The guide's table "AMDHSA Memory Model Code Sequences GFX90A", row by row.

use super::Operation::{Load, Rmw, Store};
use super::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use super::Scope::{Agent, System, Wavefront, Workgroup};
use super::Space::{Generic, Global, Local};
use super::step::{
    GLC, NONE, Row, Step, WAIT_LGKM, WAIT_LGKM_UNLESS_SPLIT, WAIT_VM, WAIT_VM_IF_SPLIT, access, cache, fence,
    if_split, row, same, unless_split,
};

const WBL2: Step = cache("buffer_wbl2", NONE);
const INVL2: Step = cache("buffer_invl2", NONE);
const WBINVL1_VOL: Step = cache("buffer_wbinvl1_vol", NONE);
const WBINVL1_VOL_IF_SPLIT: Step = if_split(WBINVL1_VOL);
// The access, with `glc=1` only in TgSplit mode: `ACCESS` outside of this mode, `ACCESS_GLC` in it. The guide says "if not TgSplit
// execution mode, omit glc=1".
const ACCESS: Step = unless_split(access(NONE));
const ACCESS_GLC: Step = if_split(access(GLC));
/// `s_waitcnt lgkm/vmcnt(0)`: one of the two counters, depending on the mode.
const LGKM: Step = WAIT_LGKM_UNLESS_SPLIT;
const VM: Step = WAIT_VM_IF_SPLIT;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    // Monotonic Atomic
    row(Load,  Relaxed, &[Wavefront],                           &[Global, Generic], &[access(NONE)]),
    row(Load,  Relaxed, &[Workgroup],                           &[Global, Generic], &[ACCESS, ACCESS_GLC]),
    row(Load,  Relaxed, &[Wavefront, Workgroup],                &[Local],           &[access(NONE)]),
    row(Load,  Relaxed, &[Agent],                               &[Global, Generic], &[access(GLC)]),
    row(Load,  Relaxed, &[System],                              &[Global, Generic], &[access(GLC)]),
    row(Store, Relaxed, &[Wavefront, Workgroup, Agent],         &[Global, Generic], &[access(NONE)]),
    row(Store, Relaxed, &[System],                              &[Global, Generic], &[access(NONE)]),
    row(Store, Relaxed, &[Wavefront, Workgroup],                &[Local],           &[access(NONE)]),
    row(Rmw,   Relaxed, &[Wavefront, Workgroup, Agent],         &[Global, Generic], &[access(NONE)]),
    row(Rmw,   Relaxed, &[System],                              &[Global, Generic], &[access(NONE)]),
    row(Rmw,   Relaxed, &[Wavefront, Workgroup],                &[Local],           &[access(NONE)]),
    // Acquire Atomic
    row(Load, Acquire, &[Wavefront], &[Global, Local, Generic], &[access(NONE)]),
    row(Load, Acquire, &[Workgroup], &[Global],  &[ACCESS, ACCESS_GLC, VM, WBINVL1_VOL_IF_SPLIT]),
    row(Load, Acquire, &[Workgroup], &[Local],   &[access(NONE), WAIT_LGKM]),
    row(Load, Acquire, &[Workgroup], &[Generic], &[ACCESS, ACCESS_GLC, LGKM, VM, WBINVL1_VOL_IF_SPLIT]),
    row(Load, Acquire, &[Agent],     &[Global],  &[access(GLC), WAIT_VM, WBINVL1_VOL]),
    row(Load, Acquire, &[System],    &[Global],  &[access(GLC), WAIT_VM, INVL2, WBINVL1_VOL]),
    row(Load, Acquire, &[Agent],     &[Generic], &[access(GLC), WAIT_VM, LGKM, WBINVL1_VOL]),
    row(Load, Acquire, &[System],    &[Generic], &[access(GLC), WAIT_VM, LGKM, INVL2, WBINVL1_VOL]),
    row(Rmw,  Acquire, &[Wavefront], &[Global, Generic], &[access(NONE)]),
    row(Rmw,  Acquire, &[Wavefront], &[Local],   &[access(NONE)]),
    row(Rmw,  Acquire, &[Workgroup], &[Global],  &[access(NONE), VM, WBINVL1_VOL_IF_SPLIT]),
    row(Rmw,  Acquire, &[Workgroup], &[Local],   &[access(NONE), WAIT_LGKM]),
    row(Rmw,  Acquire, &[Workgroup], &[Generic], &[access(NONE), LGKM, VM, WBINVL1_VOL_IF_SPLIT]),
    row(Rmw,  Acquire, &[Agent],     &[Global],  &[access(NONE), WAIT_VM, WBINVL1_VOL]),
    row(Rmw,  Acquire, &[System],    &[Global],  &[access(NONE), WAIT_VM, INVL2, WBINVL1_VOL]),
    row(Rmw,  Acquire, &[Agent],     &[Generic], &[access(NONE), WAIT_VM, LGKM, WBINVL1_VOL]),
    row(Rmw,  Acquire, &[System],    &[Generic], &[access(NONE), WAIT_VM, LGKM, INVL2, WBINVL1_VOL]),
    fence(Acquire, &[Wavefront], &[]),
    fence(Acquire, &[Workgroup], &[LGKM, VM, WBINVL1_VOL_IF_SPLIT]),
    fence(Acquire, &[Agent],     &[LGKM, WAIT_VM, WBINVL1_VOL]),
    fence(Acquire, &[System],    &[LGKM, WAIT_VM, INVL2, WBINVL1_VOL]),
    // Release Atomic
    row(Store, Release, &[Wavefront], &[Global, Generic], &[access(NONE)]),
    row(Store, Release, &[Wavefront], &[Local],           &[access(NONE)]),
    row(Store, Release, &[Workgroup], &[Global, Generic], &[LGKM, VM, access(NONE)]),
    row(Store, Release, &[Workgroup], &[Local],           &[access(NONE)]),
    row(Store, Release, &[Agent],     &[Global, Generic], &[LGKM, WAIT_VM, access(NONE)]),
    row(Store, Release, &[System],    &[Global, Generic], &[WBL2, LGKM, WAIT_VM, access(NONE)]),
    row(Rmw,   Release, &[Wavefront], &[Global, Generic], &[access(NONE)]),
    row(Rmw,   Release, &[Wavefront], &[Local],           &[access(NONE)]),
    row(Rmw,   Release, &[Workgroup], &[Global, Generic], &[LGKM, VM, access(NONE)]),
    row(Rmw,   Release, &[Workgroup], &[Local],           &[access(NONE)]),
    row(Rmw,   Release, &[Agent],     &[Global, Generic], &[LGKM, WAIT_VM, access(NONE)]),
    row(Rmw,   Release, &[System],    &[Global, Generic], &[WBL2, LGKM, WAIT_VM, access(NONE)]),
    fence(Release, &[Wavefront], &[]),
    fence(Release, &[Workgroup], &[LGKM, VM]),
    fence(Release, &[Agent],     &[LGKM, WAIT_VM]),
    fence(Release, &[System],    &[WBL2, LGKM, WAIT_VM]),
    // Acquire-Release Atomic
    row(Rmw, AcqRel, &[Wavefront], &[Global, Generic], &[access(NONE)]),
    row(Rmw, AcqRel, &[Wavefront], &[Local],   &[access(NONE)]),
    row(Rmw, AcqRel, &[Workgroup], &[Global],  &[LGKM, VM, access(NONE), VM, WBINVL1_VOL_IF_SPLIT]),
    row(Rmw, AcqRel, &[Workgroup], &[Local],   &[access(NONE), WAIT_LGKM]),
    row(Rmw, AcqRel, &[Workgroup], &[Generic], &[LGKM, VM, access(NONE), WAIT_LGKM, VM, WBINVL1_VOL_IF_SPLIT]),
    row(Rmw, AcqRel, &[Agent],     &[Global],  &[LGKM, WAIT_VM, access(NONE), WAIT_VM, WBINVL1_VOL]),
    row(Rmw, AcqRel, &[System],    &[Global],  &[WBL2, LGKM, WAIT_VM, access(NONE), WAIT_VM, INVL2, WBINVL1_VOL]),
    row(Rmw, AcqRel, &[Agent],     &[Generic], &[LGKM, WAIT_VM, access(NONE), WAIT_VM, LGKM, WBINVL1_VOL]),
    row(Rmw, AcqRel, &[System],    &[Generic], &[WBL2, LGKM, WAIT_VM, access(NONE), WAIT_VM, LGKM, INVL2, WBINVL1_VOL]),
    fence(AcqRel, &[Wavefront], &[]),
    fence(AcqRel, &[Workgroup], &[LGKM, VM, WBINVL1_VOL_IF_SPLIT]),
    fence(AcqRel, &[Agent],     &[LGKM, WAIT_VM, WBINVL1_VOL]),
    fence(AcqRel, &[System],    &[WBL2, LGKM, WAIT_VM, INVL2, WBINVL1_VOL]),
    // Sequential Consistent Atomic
    row(Load,  SeqCst, &[Wavefront],                           &[Global, Local, Generic], &[same(Acquire)]),
    row(Load,  SeqCst, &[Workgroup],                           &[Global, Generic], &[LGKM, VM, same(Acquire)]),
    row(Load,  SeqCst, &[Workgroup],                           &[Local],           &[same(Acquire)]),
    row(Load,  SeqCst, &[Agent, System],                       &[Global, Generic], &[LGKM, WAIT_VM, same(Acquire)]),
    row(Store, SeqCst, &[Wavefront, Workgroup, Agent, System], &[Global, Local, Generic], &[same(Release)]),
    row(Rmw,   SeqCst, &[Wavefront, Workgroup, Agent, System], &[Global, Local, Generic], &[same(AcqRel)]),
    fence(SeqCst, &[Wavefront, Workgroup, Agent, System], &[same(AcqRel)]),
];
