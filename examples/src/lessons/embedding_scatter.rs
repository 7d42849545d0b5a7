//! Lesson 20: concurrent additions to the same elements.
//!
//! The gradient of an embedding: each token selects a row of a table by the token's number, and the token's row of
//! gradients is added to that row. Two tokens may select the same row, at the same time and from different compute
//! units, so the addition is atomic. It takes place in the L2 cache, and the lanes do not wait for it.
//!
//! A workgroup processes one token. The token's row number is the same for all lanes, `ids.uniform(…)`, so the row's address is computed on
//! the scalar unit, and the lanes iterate over the row.
//!
//! The order of concurrent additions is not defined, and floating-point addition is not associative, so such a sum can
//! differ in the last bits from run to run. The lesson's gradients are multiples of 1/256 and small enough that every
//! sum is exact, so the order makes no difference here.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// Lanes of a workgroup.
const LANES: u32 = 128;

gcn_kernel! {
    /// Adds row t of `gradients` to row `ids[t]` of `table`; rows have `width` elements.
    #[workgroup(LANES)]
    #[targets(gfx90a, gfx942, gfx950, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn embedding_scatter(width: u32, ids: &[u32], gradients: &[f32], table: &mut [f32]) {
        let token = workgroup_id().x;
        let (from, to) = (token * width, ids.uniform(token) * width);
        for column in (local_id().x..width).step_by(LANES) {
            let gradient = gradients[from + column];
            table.atomic(to + column).fetch_add(gradient, Scope::Agent, Ordering::Relaxed);
        }
    }
}

/// Reference on the host.
pub fn reference(width: usize, ids: &[u32], gradients: &[f32], table: &mut [f32]) {
    for (id, gradients) in ids.iter().zip(gradients.chunks(width)) {
        let row = &mut table[*id as usize * width..][..width];
        row.iter_mut().zip(gradients).for_each(|(x, gradient)| *x += gradient);
    }
}

/// The lesson; sizes are tokens, rows of the table, and elements of a row.
pub const LESSON: Lesson = Lesson {
    name: "embedding_scatter",
    build_with: |target, options| embedding_scatter.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[4, 10, 128]), Size(&[12, 5, 300]), Size(&[200, 50, 768])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let [tokens, rows, width] = [size.0[0], size.0[1], size.0[2]];
    let mut random = Random::new(20);
    let ids: Vec<u32> = random.u32s(tokens as usize).into_iter().map(|id| id % rows).collect();
    let exact = |x: f32| (x * 256.0).trunc() / 256.0;
    let gradients: Vec<f32> = random.f32s((tokens * width) as usize).into_iter().map(exact).collect();
    let mut table: Vec<f32> = random.f32s((rows * width) as usize).into_iter().map(exact).collect();
    let mut want = table.clone();
    reference(width as usize, &ids, &gradients, &mut want);
    let args = (width, &ids[..], &gradients[..], &mut table[..]);
    let stats = device.launch(&embedding_scatter, kernel, Grid::x(tokens), args)?;
    Ok(Outcome { stats, comparison: Comparison::of(&table, &want) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_adds_rows() {
        let mut table = [1.0, 2.0, 3.0, 4.0];
        reference(2, &[1, 0, 1], &[0.5, 0.25, 10.0, 20.0, 0.5, 0.25], &mut table);
        assert_eq!(table, [11.0, 22.0, 4.0, 4.5]);
    }
}
