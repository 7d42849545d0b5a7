//! Lesson 17: order as a number.
//!
//! To find the k largest elements of a row and their positions, a workgroup searches the row k times, each time for the
//! largest element that is below the last one found.
//!
//! Comparing pairs of value and position, between lanes and in each shuffle, would need branches. Instead, a pair is
//! encoded in one u64. The upper half contains the value's bits, rearranged so that the unsigned order is the order of
//! the numbers. The lower half contains the inverted position, so that of equal values the first has the larger key. No
//! two keys are equal, `max` finds the winner, and the position can be read from its key.
//!
//! 64-bit values take two registers, and shuffles between lanes move both; `max` and `workgroup_max` take them like any other type. With
//! waves of 64 lanes the workgroup is one wave, and `workgroup_max` is `wave_max`; with waves of 32 lanes it combines two waves through
//! LDS.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// Lanes of a workgroup.
const LANES: u32 = 64;

gcn_kernel! {
    /// The `k` largest elements of each row of `columns`, in descending order, and their positions.
    #[workgroup(LANES)]
    #[targets(gfx90a, gfx942, gfx950, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn top_k(columns: u32, k: u32, x: &[f32], values: &mut [f32], positions: &mut [u32]) {
        let (row, lane) = (workgroup_id().x, local_id().x);
        let mut last: V<u64> = u64::MAX;
        for rank in 0..k {
            let mut best: V<u64> = 0;
            for column in (lane..columns).step_by(LANES) {
                let bits = x[row * columns + column].to_bits_as::<u32>();
                // As unsigned integers, the bits of negative numbers are in descending order, so they are inverted. For
                // other numbers, the top bit is set.
                let ordered = select(bits >> 31 == 1, !bits, bits | 0x8000_0000);
                let key = (ordered as u64) << 32 | !column as u64;
                best = select(key < last, best.max(key), best);
            }
            last = workgroup_max(best);
            if lane == 0 {
                let column = !(last as u32);
                positions[row * k + rank] = column;
                values[row * k + rank] = x[row * columns + column];
            }
        }
    }
}

/// Reference on the host, by sorting.
pub fn reference(columns: usize, k: usize, x: &[f32]) -> (Vec<f32>, Vec<u32>) {
    let mut positions = Vec::new();
    for row in x.chunks(columns) {
        let mut order: Vec<u32> = (0..columns as u32).collect();
        // The sort is stable, so the first of equal values comes first.
        order.sort_by(|a, b| row[*b as usize].total_cmp(&row[*a as usize]));
        positions.extend(order.into_iter().take(k));
    }
    let values = positions.iter().enumerate().map(|(i, p)| x[i / k * columns + *p as usize]).collect();
    (values, positions)
}

/// The lesson; sizes are rows, columns and k.
pub const LESSON: Lesson = Lesson {
    name: "top_k",
    build_with: |target, options| top_k.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[1, 64, 1]), Size(&[2, 150, 3]), Size(&[12, 1000, 8])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let [rows, columns, k] = [size.0[0], size.0[1], size.0[2]];
    // Multiples of 1/16, so that some elements are equal.
    let coarse = |x: f32| (16.0 * x).trunc() / 16.0;
    let x: Vec<f32> = Random::new(17).f32s((rows * columns) as usize).into_iter().map(coarse).collect();
    let (mut values, mut positions) =
        (vec![f32::NAN; (rows * k) as usize], vec![u32::MAX; (rows * k) as usize]);
    let args = (columns, k, &x[..], &mut values[..], &mut positions[..]);
    let stats = device.launch(&top_k, kernel, Grid::x(rows), args)?;
    let want = reference(columns as usize, k as usize, &x);
    let comparison = Comparison::of(&values, &want.0).and(Comparison::of(&positions, &want.1));
    Ok(Outcome { stats, comparison })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_takes_the_first_of_equals() {
        let (values, positions) = reference(4, 3, &[-1.0, 2.0, 0.5, 2.0, -4.0, -3.0, -2.0, -1.0]);
        assert_eq!(values, [2.0, 2.0, 0.5, -1.0, -2.0, -3.0]);
        assert_eq!(positions, [1, 3, 2, 3, 2, 1]);
    }
}
