//! Lesson 1: one lane per element.
//!
//! A kernel's body is the program of one *lane*. 64 lanes are executed in lockstep as a *wave*; waves that share LDS
//! and barriers form a *workgroup*, here of 256 lanes; the launch determines the number of workgroups. `global_id().x`
//! counts the lanes of the whole grid, so it is the index of this lane's element.
//!
//! There are two kinds of values. `a` is the same for every lane: it is an `S<f32>` in one scalar register. `i` differs
//! from lane to lane: it is a `V<u32>` in one vector register, which contains 64 numbers. `a * x[i]` combines both
//! kinds; the scalar is converted implicitly.
//!
//! The grid consists of whole workgroups, so the last one may extend past the end of the data. `if i < y.len()` has a
//! condition that varies between lanes: it is compiled not to a jump but to a change of the lane mask, EXEC, which
//! deactivates lanes.
//!
//! In the assembly (`target/gcn/saxpy.gfx942.s`) find the `s_waitcnt vmcnt(0)` before the arithmetic: a load
//! instruction only *starts* the load, and nothing but the `s_waitcnt` makes the wave wait for the data. Its comment
//! names the load.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// Lanes of a workgroup.
const WORKGROUP: u32 = 256;

gcn_kernel! {
    /// y = a * x + y
    #[workgroup(WORKGROUP)]
    #[targets(gfx90a, gfx942, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        if i < y.len() {
            y[i] = a * x[i] + y[i];
        }
    }
}

/// Reference on the host. Like the kernel, it does not fuse the multiplication and the addition: each of them rounds.
pub fn reference(a: f32, x: &[f32], y: &mut [f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// The lesson; sizes are element counts: less than a wave, a ragged tail, whole workgroups.
pub const LESSON: Lesson = Lesson {
    name: "saxpy",
    build_with: |target, options| saxpy.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[1]), Size(&[1000]), Size(&[65536])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let n = size.0[0];
    let mut random = Random::new(1);
    let (x, mut y) = (random.f32s(n as usize), random.f32s(n as usize));
    let mut want = y.clone();
    reference(1.75, &x, &mut want);
    let stats = device.launch(&saxpy, kernel, Grid::x(n.div_ceil(WORKGROUP)), (1.75, &x, &mut y))?;
    Ok(Outcome { stats, comparison: Comparison::of(&y, &want) })
}
