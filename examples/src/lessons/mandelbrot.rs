//! Lesson 12: lanes that finish at different times.
//!
//! Each pixel iterates until its point escapes, which takes one lane 2 iterations and its neighbour 200. A `while` with
//! a varying condition deactivates lanes as they finish, and the wave iterates until the last lane is done. The source
//! needs nothing special for this. The assembly shows what it costs: one `s_and_b64` on EXEC and one branch per
//! iteration.
//!
//! A wave takes as long as its slowest lane. Neighbouring pixels of the image tend to finish together, so a
//! workgroup is a square of the image and not a line.
//!
//! The compiler does not fuse operations: `x * x - y * y` is three operations, each rounded, as in Rust. So the picture
//! equals the reference bit for bit, even though chaos magnifies every difference in rounding.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::{Comparison, Lesson, Outcome, Size};

/// The number of pixels of a workgroup in each dimension.
const TILE: u32 = 8;

gcn_kernel! {
    /// For each point in a window of the complex plane: the number of steps that the point takes to leave the circle of
    /// radius 2, at most `limit`.
    #[workgroup(TILE, TILE)]
    #[targets(gfx90a, gfx942, gfx950, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn mandelbrot(width: u32, height: u32, limit: u32, left: f32, top: f32, pixel: f32, steps: &mut [u32]) {
        let id = global_id();
        let (cx, cy) = (left + id.x as f32 * pixel, top + id.y as f32 * pixel);

        let mut x: V<f32> = 0.0;
        let mut y: V<f32> = 0.0;
        let mut count: V<u32> = 0;
        while count < limit && x * x + y * y <= 4.0 {
            let next = x * x - y * y + cx;
            y = 2.0 * x * y + cy;
            x = next;
            count += 1;
        }

        if id.x < width && id.y < height {
            steps[id.y * width + id.x] = count;
        }
    }
}

/// Reference on the host.
pub fn reference(width: u32, height: u32, limit: u32, left: f32, top: f32, pixel: f32) -> Vec<u32> {
    let steps = |i: u32| {
        let (cx, cy) = (left + (i % width) as f32 * pixel, top + (i / width) as f32 * pixel);
        let (mut x, mut y, mut count) = (0.0f32, 0.0f32, 0);
        while count < limit && x * x + y * y <= 4.0 {
            (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
            count += 1;
        }
        count
    };
    (0..width * height).map(steps).collect()
}

/// The lesson; sizes are width, height and the limit of steps.
pub const LESSON: Lesson = Lesson {
    name: "mandelbrot",
    build_with: |target, options| mandelbrot.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[8, 8, 20]), Size(&[27, 20, 50]), Size(&[96, 64, 300])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let [width, height, limit] = [size.0[0], size.0[1], size.0[2]];
    let (left, top, pixel) = (-2.1, -1.2, 2.8 / width as f32);
    let mut steps = vec![u32::MAX; (width * height) as usize];
    let grid = Grid::xy(width.div_ceil(TILE), height.div_ceil(TILE));
    let args = (width, height, limit, left, top, pixel, &mut steps[..]);
    let stats = device.launch(&mandelbrot, kernel, grid, args)?;
    let want = reference(width, height, limit, left, top, pixel);
    Ok(Outcome { stats, comparison: Comparison::of(&steps, &want) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_knows_points_of_the_set() {
        // 0 and -1 never escape; 1 escapes at the third step (1, 2, 5), 2 at the second and 3 at the first.
        assert_eq!(reference(5, 1, 50, -1.0, 0.0, 1.0), [50, 50, 3, 2, 1]);
    }
}
