//! Lesson 13: rows of any length.
//!
//! A sparse matrix in CSR form stores all non-zero elements in one list, and for each row the position where it starts
//! in the list. With one lane per row, accesses would be scattered over memory, and the longest row would keep all
//! other lanes of its wave waiting. Here a wave processes a row. The row's start and end are uniform and read with
//! `uniform`, and the lanes process the elements between, as many at a time as the wave has lanes.
//!
//! The last iteration masks the lanes without an element. The sum stays defined for these lanes: a variable that a
//! masked lane does not write keeps its value, and all lanes take part in the shuffles after the loop.
//!
//! `x[columns[k]]` is a gather. Nothing makes it contiguous, but a slice still checks each lane's bound, so
//! that a wrong column reads 0 instead of other memory.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use super::block_reduce::sum_of_lanes;
use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// Lanes of a workgroup. Each of its waves processes a row.
const LANES: u32 = 256;

gcn_kernel! {
    /// y = A x for a sparse matrix in CSR form. Row r consists of the elements `starts[r]..starts[r + 1]`.
    #[workgroup(LANES)]
    #[targets(gfx90a, gfx942, gfx950, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn spmv(starts: &[u32], columns: &[u32], values: &[f32], x: &[f32], y: &mut [f32]) {
        let row = workgroup_id().x * (LANES / wave_size()) + wave_id();
        let (start, end) = (starts.uniform(row), starts.uniform(row + 1));
        let mut sum: V<f32> = 0.0;
        for k in (start + lane_id()..end).step_by(wave_size()) {
            sum = values[k].mul_add(x[columns[k]], sum);
        }
        #[unroll]
        for step in 1..=wave_size().trailing_zeros() {
            sum += shuffle_xor(sum, wave_size() >> step);
        }
        if lane_id() == 0 {
            y[row] = sum;
        }
    }
}

/// A matrix in CSR form.
#[derive(Debug, Clone)]
pub struct Csr {
    /// Where each row starts, and where the last one ends.
    pub starts: Vec<u32>,
    /// The column of each element.
    pub columns: Vec<u32>,
    /// The elements.
    pub values: Vec<f32>,
}

impl Csr {
    /// A random matrix whose rows have up to about `longest` elements; some are empty.
    pub fn random(rows: u32, columns: u32, longest: u32, random: &mut Random) -> Csr {
        let mut csr = Csr { starts: vec![0], columns: Vec::new(), values: Vec::new() };
        for length in random.u32s(rows as usize) {
            let length = (length % (longest + 1)) as usize;
            csr.columns.extend(random.u32s(length).into_iter().map(|c| c % columns));
            csr.values.extend(random.f32s(length));
            csr.starts.push(csr.values.len() as u32);
        }
        csr
    }

    /// The product with `x` on the host. The order of additions is that of the kernel with waves of `wave` lanes.
    pub fn times(&self, wave: u32, x: &[f32]) -> Vec<f32> {
        let row = |row: &[u32]| {
            let mut lanes = vec![0.0f32; wave as usize];
            for k in row[0] as usize..row[1] as usize {
                let lane = &mut lanes[(k - row[0] as usize) % wave as usize];
                *lane = self.values[k].mul_add(x[self.columns[k] as usize], *lane);
            }
            sum_of_lanes(&lanes)
        };
        self.starts.windows(2).map(row).collect()
    }
}

/// The lesson; sizes are the numbers of rows and columns, and the maximum number of elements in a row.
pub const LESSON: Lesson = Lesson {
    name: "spmv",
    build_with: |target, options| spmv.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[4, 30, 20]), Size(&[9, 100, 200]), Size(&[300, 1000, 150])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let mut random = Random::new(13);
    let csr = Csr::random(size.0[0], size.0[1], size.0[2], &mut random);
    let x = random.f32s(size.0[1] as usize);
    let mut y = vec![f32::NAN; size.0[0] as usize];
    let args = (&csr.starts[..], &csr.columns[..], &csr.values[..], &x[..], &mut y[..]);
    let stats =
        device.launch(&spmv, kernel, Grid::x(size.0[0].div_ceil(LANES / kernel.wave_size())), args)?;
    Ok(Outcome { stats, comparison: Comparison::of(&y, &csr.times(kernel.wave_size(), &x)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_multiplies() {
        let csr = Csr { starts: vec![0, 2, 2, 3], columns: vec![0, 3, 1], values: vec![2.0, 3.0, 5.0] };
        assert_eq!(csr.times(64, &[1.0, 10.0, 100.0, 1000.0]), [3002.0, 0.0, 50.0]);
    }
}
