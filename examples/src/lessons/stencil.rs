//! Lesson 7: a tile with a border.
//!
//! Every new value depends on the old values around it. If each lane loaded them from memory, each element would be
//! loaded five times. With LDS, it is loaded once, but then the tile also needs the elements around its edge, which
//! belong to the neighbouring workgroups: the halo.
//!
//! 16 x 16 lanes load the 18 x 18 cells of tile and halo in two steps, numbered consecutively, so that
//! neighbouring lanes load neighbouring elements; the second step is for the remaining 68 cells. In the first
//! row and column the halo lies outside the matrix, at coordinate -1. Unsigned arithmetic wraps as in Rust's
//! release builds, so -1 is the largest `u32`, and one comparison, `x < width`, covers both ends.
//!
//! `select` computes both sides, so the load happens in any case; it is harmless, because the hardware checks
//! the slice's bounds.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// The number of rows and of columns of a tile.
const TILE: u32 = 16;
/// The number of cells in a row of the tile with its halo.
const PITCH: u32 = TILE + 2;
/// The number of cells of the tile with its halo.
const CELLS: usize = (PITCH * PITCH) as usize;

gcn_kernel! {
    /// One step of heat flow on `height` rows of `width` cells: the temperature of each cell moves by `rate` towards the mean of its four
    /// neighbours; outside the matrix it is 0.
    #[workgroup(TILE, TILE)]
    #[targets(gfx90a, gfx942, gfx950, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn stencil(width: u32, height: u32, rate: f32, input: &[f32], output: &mut [f32]) {
        let tile = Lds::<f32, CELLS>::new();
        let (lane, group) = (local_id(), workgroup_id());

        let number = lane.y * TILE + lane.x;
        #[unroll]
        for step in 0..2 {
            let cell = number + step * TILE * TILE;
            let (x, y) = (group.x * TILE + cell % PITCH - 1, group.y * TILE + cell / PITCH - 1);
            if cell < CELLS as u32 {
                tile[cell] = select(x < width && y < height, input[y * width + x], 0.0);
            }
        }
        barrier();

        let (x, y) = (group.x * TILE + lane.x, group.y * TILE + lane.y);
        let here = (lane.y + 1) * PITCH + lane.x + 1;
        let around = tile[here - 1] + tile[here + 1] + tile[here - PITCH] + tile[here + PITCH];
        if x < width && y < height {
            output[y * width + x] = (0.25 * around - tile[here]) * rate + tile[here];
        }
    }
}

/// Reference on the host.
pub fn reference(width: usize, height: usize, rate: f32, input: &[f32]) -> Vec<f32> {
    let at = |x: usize, y: usize| if x < width && y < height { input[y * width + x] } else { 0.0 };
    let step = |i: usize| {
        let (x, y) = (i % width, i / width);
        let around = at(x.wrapping_sub(1), y) + at(x + 1, y) + at(x, y.wrapping_sub(1)) + at(x, y + 1);
        (0.25 * around - at(x, y)) * rate + at(x, y)
    };
    (0..width * height).map(step).collect()
}

/// The lesson; sizes are width and height.
pub const LESSON: Lesson = Lesson {
    name: "stencil",
    build_with: |target, options| stencil.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[16, 16]), Size(&[37, 21]), Size(&[130, 66])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (width, height) = (size.0[0], size.0[1]);
    let n = (width * height) as usize;
    let input = Random::new(7).f32s(n);
    let mut output = vec![f32::NAN; n];
    let grid = Grid::xy(width.div_ceil(TILE), height.div_ceil(TILE));
    let stats = device.launch(&stencil, kernel, grid, (width, height, 0.3, &input, &mut output))?;
    let want = reference(width as usize, height as usize, 0.3, &input);
    Ok(Outcome { stats, comparison: Comparison::of(&output, &want) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_moves_heat_to_the_neighbours() {
        let spot = [0.0, 0.0, 0.0, 0.0, 8.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(reference(3, 3, 0.5, &spot), [0.0, 1.0, 0.0, 1.0, 4.0, 1.0, 0.0, 1.0, 0.0]);
    }
}
