//! Lesson 4: LDS turns a scattered access into a contiguous one.
//!
//! A transposition reads along rows and writes along columns. However the lanes are mapped to the matrix, one of the
//! two accesses advances by a whole row from lane to lane, and memory transfers a cache line for each of these rows.
//! The remedy is to transpose in LDS: a workgroup reads a 32 x 32 tile row by row, passes a barrier, and writes the
//! tile row by row into the other matrix; only the LDS access is along a column.
//!
//! LDS has its own weakness: 32 banks of 4 bytes. Lanes that access different words of the same bank are served one
//! after the other. In a tile with 32 words per row, *all* words of a column are in the same bank. One unused word at
//! the end of each row (`PITCH` = 33) shifts every row by one bank, which removes the conflict.
//!
//! A workgroup of 32 x 8 lanes processes a tile in four steps. `#[unroll] for` is executed when the kernel is built:
//! `step` is a Rust number, and the steps follow each other without a loop, so that all four loads are in flight before
//! the first wait. The loads have no mask: a lane outside the matrix reads the next row or 0, and does not store it.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// The number of rows and of columns of a tile.
const TILE: u32 = 32;
/// The number of rows that the workgroup handles at a time.
const ROWS: u32 = 8;
/// The distance in words between rows of the tile in LDS.
const PITCH: u32 = TILE + 1;
/// The number of words of the tile, including the unused ones.
const TILE_WORDS: usize = (TILE * PITCH) as usize;

gcn_kernel! {
    /// output = the transpose of input, which has `height` rows of `width` elements.
    #[workgroup(TILE, ROWS)]
    #[targets(gfx90a, gfx942, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn transpose_lds(width: u32, height: u32, input: &[f32], output: &mut [f32]) {
        let tile = Lds::<f32, TILE_WORDS>::new();
        let (lane, group) = (local_id(), workgroup_id());

        let x = group.x * TILE + lane.x;
        #[unroll]
        for step in 0..TILE / ROWS {
            let row = lane.y + step * ROWS;
            tile[row * PITCH + lane.x] = input[(group.y * TILE + row) * width + x];
        }
        barrier();

        let x = group.y * TILE + lane.x;
        #[unroll]
        for step in 0..TILE / ROWS {
            let row = lane.y + step * ROWS;
            let y = group.x * TILE + row;
            if x < height && y < width {
                output[y * height + x] = tile[lane.x * PITCH + row];
            }
        }
    }
}

/// Reference on the host.
pub fn reference(width: usize, height: usize, input: &[f32]) -> Vec<f32> {
    (0..width * height).map(|i| input[i % height * width + i / height]).collect()
}

/// The lesson; sizes are width and height.
pub const LESSON: Lesson = Lesson {
    name: "transpose_lds",
    build_with: |target, options| transpose_lds.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[32, 32]), Size(&[70, 45]), Size(&[128, 96])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (width, height) = (size.0[0], size.0[1]);
    let n = (width * height) as usize;
    let input = Random::new(4).f32s(n);
    let mut output = vec![f32::NAN; n];
    let grid = Grid::xy(width.div_ceil(TILE), height.div_ceil(TILE));
    let stats = device.launch(&transpose_lds, kernel, grid, (width, height, &input, &mut output))?;
    let want = reference(width as usize, height as usize, &input);
    Ok(Outcome { stats, comparison: Comparison::of(&output, &want) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_transposes() {
        assert_eq!(reference(3, 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
}
