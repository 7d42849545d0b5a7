//! The guide's table "AMDHSA Memory Model Code Sequences GFX6-GFX9", row by row.

use super::Operation::{Load, Rmw, Store};
use super::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use super::Scope::{Agent, System, Wavefront, Workgroup};
use super::Space::{Generic, Global, Local};
use super::step::{GLC, NONE, Row, Step, WAIT, WAIT_LGKM, WAIT_VM, access, cache, fence, row, same};

const WBINVL1_VOL: Step = cache("buffer_wbinvl1_vol", NONE);

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    // Monotonic Atomic
    row(Load,  Relaxed, &[Wavefront, Workgroup],                &[Global, Local, Generic], &[access(NONE)]),
    row(Load,  Relaxed, &[Agent, System],                       &[Global, Generic],        &[access(GLC)]),
    row(Store, Relaxed, &[Wavefront, Workgroup, Agent, System], &[Global, Generic],        &[access(NONE)]),
    row(Store, Relaxed, &[Wavefront, Workgroup],                &[Local],                  &[access(NONE)]),
    row(Rmw,   Relaxed, &[Wavefront, Workgroup, Agent, System], &[Global, Generic],        &[access(NONE)]),
    row(Rmw,   Relaxed, &[Wavefront, Workgroup],                &[Local],                  &[access(NONE)]),
    // Acquire Atomic
    row(Load, Acquire, &[Wavefront],     &[Global, Local, Generic], &[access(NONE)]),
    row(Load, Acquire, &[Workgroup],     &[Global],                 &[access(NONE)]),
    row(Load, Acquire, &[Workgroup],     &[Local, Generic],         &[access(NONE), WAIT_LGKM]),
    row(Load, Acquire, &[Agent, System], &[Global],                 &[access(GLC), WAIT_VM, WBINVL1_VOL]),
    row(Load, Acquire, &[Agent, System], &[Generic],                &[access(GLC), WAIT, WBINVL1_VOL]),
    row(Rmw,  Acquire, &[Wavefront],     &[Global, Local, Generic], &[access(NONE)]),
    row(Rmw,  Acquire, &[Workgroup],     &[Global],                 &[access(NONE)]),
    row(Rmw,  Acquire, &[Workgroup],     &[Local, Generic],         &[access(NONE), WAIT_LGKM]),
    row(Rmw,  Acquire, &[Agent, System], &[Global],                 &[access(NONE), WAIT_VM, WBINVL1_VOL]),
    row(Rmw,  Acquire, &[Agent, System], &[Generic],                &[access(NONE), WAIT, WBINVL1_VOL]),
    fence(Acquire, &[Wavefront],     &[]),
    fence(Acquire, &[Workgroup],     &[WAIT_LGKM]),
    fence(Acquire, &[Agent, System], &[WAIT, WBINVL1_VOL]),
    // Release Atomic
    row(Store, Release, &[Wavefront],     &[Global, Local, Generic], &[access(NONE)]),
    row(Store, Release, &[Workgroup],     &[Global, Generic],        &[WAIT_LGKM, access(NONE)]),
    row(Store, Release, &[Workgroup],     &[Local],                  &[access(NONE)]),
    row(Store, Release, &[Agent, System], &[Global, Generic],        &[WAIT, access(NONE)]),
    row(Rmw,   Release, &[Wavefront],     &[Global, Local, Generic], &[access(NONE)]),
    row(Rmw,   Release, &[Workgroup],     &[Global, Generic],        &[WAIT_LGKM, access(NONE)]),
    row(Rmw,   Release, &[Workgroup],     &[Local],                  &[access(NONE)]),
    row(Rmw,   Release, &[Agent, System], &[Global, Generic],        &[WAIT, access(NONE)]),
    fence(Release, &[Wavefront],     &[]),
    fence(Release, &[Workgroup],     &[WAIT_LGKM]),
    fence(Release, &[Agent, System], &[WAIT]),
    // Acquire-Release Atomic
    row(Rmw, AcqRel, &[Wavefront],     &[Global, Local, Generic], &[access(NONE)]),
    row(Rmw, AcqRel, &[Workgroup],     &[Global],                 &[WAIT_LGKM, access(NONE)]),
    row(Rmw, AcqRel, &[Workgroup],     &[Local],                  &[access(NONE), WAIT_LGKM]),
    row(Rmw, AcqRel, &[Workgroup],     &[Generic],                &[WAIT_LGKM, access(NONE), WAIT_LGKM]),
    row(Rmw, AcqRel, &[Agent, System], &[Global],                 &[WAIT, access(NONE), WAIT_VM, WBINVL1_VOL]),
    row(Rmw, AcqRel, &[Agent, System], &[Generic],                &[WAIT, access(NONE), WAIT, WBINVL1_VOL]),
    fence(AcqRel, &[Wavefront],     &[]),
    fence(AcqRel, &[Workgroup],     &[WAIT_LGKM]),
    fence(AcqRel, &[Agent, System], &[WAIT, WBINVL1_VOL]),
    // Sequential Consistent Atomic
    row(Load,  SeqCst, &[Wavefront],                            &[Global, Local, Generic], &[same(Acquire)]),
    row(Load,  SeqCst, &[Workgroup],                            &[Global, Generic],        &[WAIT_LGKM, same(Acquire)]),
    row(Load,  SeqCst, &[Workgroup],                            &[Local],                  &[same(Acquire)]),
    row(Load,  SeqCst, &[Agent, System],                        &[Global, Generic],        &[WAIT, same(Acquire)]),
    row(Store, SeqCst, &[Wavefront, Workgroup, Agent, System],  &[Global, Local, Generic], &[same(Release)]),
    row(Rmw,   SeqCst, &[Wavefront, Workgroup, Agent, System],  &[Global, Local, Generic], &[same(AcqRel)]),
    fence(SeqCst, &[Wavefront, Workgroup, Agent, System], &[same(AcqRel)]),
];
