//! Lesson 2: a grid of two dimensions, and lanes that must not run.
//!
//! Images and matrices have rows, which are often further apart in memory than they are long: the distance is the
//! *pitch*, and the space between the end of a row and the start of the next belongs to other data. A workgroup of 64 x
//! 4 lanes covers a rectangle, and each wave one row of 64 columns of it, because lanes are numbered along x first.
//! Neighbouring lanes then access neighbouring addresses, which memory serves together.
//!
//! The rectangle extends past the right and the bottom edge. At the bottom, the slice's own bounds check would be
//! enough: a buffer resource has a length, a load past it gives 0 and a store does nothing. At the right edge it is not
//! enough, because the address is inside the buffer, in the padding or in the next row. So the kernel masks both edges.
//! The test fills the padding with marks and checks that they are unchanged.
//!
//! Here, `&&` computes both sides for all lanes and combines the two lane masks; it does not branch.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// The number of columns of a workgroup: one for each lane of a wave of 64.
const COLUMNS: u32 = 64;
/// The number of rows of a workgroup.
const ROWS: u32 = 4;

gcn_kernel! {
    /// c = a + b for `height` rows of `width` elements that start `pitch` elements apart.
    #[workgroup(COLUMNS, ROWS)]
    #[targets(gfx90a, gfx942, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn vector_add_2d(width: u32, height: u32, pitch: u32, a: &[f32], b: &[f32], c: &mut [f32]) {
        let at = global_id();
        if at.x < width && at.y < height {
            let i = at.y * pitch + at.x;
            c[i] = a[i] + b[i];
        }
    }
}

/// Reference on the host.
pub fn reference([width, height, pitch]: [usize; 3], a: &[f32], b: &[f32], c: &mut [f32]) {
    for row in 0..height {
        for i in row * pitch..row * pitch + width {
            c[i] = a[i] + b[i];
        }
    }
}

/// The lesson; sizes are width, height and pitch.
pub const LESSON: Lesson = Lesson {
    name: "vector_add_2d",
    build_with: |target, options| vector_add_2d.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[1, 1, 1]), Size(&[100, 37, 128]), Size(&[256, 64, 256])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (width, height, pitch) = (size.0[0], size.0[1], size.0[2]);
    let n = (height * pitch) as usize;
    let mut random = Random::new(2);
    // The initial content of `c` marks the padding, which the kernel must not change.
    let (a, b, mut c) = (random.f32s(n), random.f32s(n), random.f32s(n));
    let mut want = c.clone();
    reference([width, height, pitch].map(|x| x as usize), &a, &b, &mut want);
    let grid = Grid::xy(width.div_ceil(COLUMNS), height.div_ceil(ROWS));
    let stats = device.launch(&vector_add_2d, kernel, grid, (width, height, pitch, &a, &b, &mut c))?;
    Ok(Outcome { stats, comparison: Comparison::of(&c, &want) })
}
