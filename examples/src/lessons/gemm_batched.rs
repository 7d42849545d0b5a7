//! Many small matrices at once: one instruction multiplies sixteen of them.
//!
//! C = A * B for a batch of 4 x 4 matrices in f32, stored row by row. A matrix instruction of 4 x 4 x 1 in 16 blocks
//! multiplies a column of A by a row of B for each of sixteen matrices; four such instructions are the whole product.
//! The last parameter of the types is the number of blocks, and a matrix in memory has the distance from one block's
//! matrix to the next (`blocks`). A batch that is not a multiple of sixteen is truncated by the bounds of the slices.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// The number of rows and of columns of a matrix.
const SIDE: usize = 4;
/// The number of elements of a matrix.
const ELEMENTS: u32 = (SIDE * SIDE) as u32;
/// The number of matrices that a wave multiplies.
const BLOCKS: usize = 16;
/// The number of matrices that a workgroup of four waves multiplies.
pub const BATCH: u32 = 4 * BLOCKS as u32;

gcn_kernel! {
    /// c = a * b for each matrix of a batch. The grid is batch / 64, rounded up.
    #[workgroup(256)]
    #[targets(gfx90a, gfx942, gfx950)]
    pub fn gemm_batched(a: &[f32], b: &[f32], c: &mut [f32]) {
        let wave = workgroup_id().x * 4 + wave_id();
        // The first row of the wave's first matrix, if all matrices are stacked vertically.
        let first = wave * (BLOCKS * SIDE) as u32;
        let (a, b) = (row_major(a, SIDE as u32).blocks(ELEMENTS), row_major(b, SIDE as u32).blocks(ELEMENTS));
        let mut acc = Acc::<f32, SIDE, SIDE, BLOCKS>::zero();
        #[unroll]
        for k in 0..SIDE as u32 {
            let left = FragA::<f32, SIDE, 1, BLOCKS>::load_from(a, first, k);
            let right = FragB::<f32, 1, SIDE, BLOCKS>::load_from(b, first + k, 0);
            acc = mfma(left, right, acc);
        }
        acc.store_to(row_major(c, SIDE as u32).blocks(ELEMENTS), first, 0);
    }
}

/// Reference on the host: a chain of fused multiply-adds for each element, in ascending order of `k`.
pub fn reference(a: &[f32], b: &[f32]) -> Vec<f32> {
    let pairs = a.chunks_exact(SIDE * SIDE).zip(b.chunks_exact(SIDE * SIDE));
    let product = |(a, b): (&[f32], &[f32])| -> Vec<f32> {
        let element = |i: usize| {
            let terms = (0..SIDE).map(|k| (a[i / SIDE * SIDE + k], b[k * SIDE + i % SIDE]));
            terms.fold(0.0, |sum, (a, b)| f32::mul_add(a, b, sum))
        };
        (0..SIDE * SIDE).map(element).collect()
    };
    pairs.flat_map(product).collect()
}

/// The lesson; the size is the number of matrices.
pub const LESSON: Lesson = Lesson {
    name: "gemm_batched",
    build_with: |target, options| gemm_batched.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[64]), Size(&[1000])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let batch = size.0[0];
    let mut random = Random::new(11);
    let (a, b) = (random.f32s((batch * ELEMENTS) as usize), random.f32s((batch * ELEMENTS) as usize));
    let mut c = vec![f32::NAN; a.len()];
    let stats = device.launch(&gemm_batched, kernel, Grid::x(batch.div_ceil(BATCH)), (&a, &b, &mut c))?;
    Ok(Outcome { stats, comparison: Comparison::of(&c, &reference(&a, &b)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_multiplies_each_pair() {
        let one: Vec<f32> = (0..16).map(|i| if i % 5 == 0 { 1.0 } else { 0.0 }).collect();
        let x: Vec<f32> = (0..16u8).map(f32::from).collect();
        let product = reference(&[one.clone(), x.clone()].concat(), &[x.clone(), one].concat());
        assert_eq!(product, [x.clone(), x].concat());
    }
}
