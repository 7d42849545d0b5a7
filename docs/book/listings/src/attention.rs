//! Attention.

use gcn_dsl::prelude::*;
use gcn_dsl::sim::timed::TimedReport;
use gcn_examples::lessons::flash_attention as lesson;
use gcn_examples::lessons::flash_attention::flash_attention;

use crate::{Fault, Output, Outputs, TARGET, gemm, one_cu, row, table};

// ANCHOR: rows
gcn_kernel! {
    /// A workgroup of one wave for each query, and its scores in LDS: o = softmax(scale * q * k^T) * v.
    #[workgroup(64)]
    pub fn by_rows(length: u32, scale: f32, q: &[f16], k: &[f16], v: &[f16], o: &mut [f16]) {
        let (lane, query) = (lane_id(), workgroup_id().x * 64);
        let scores = Lds::<f32, 1024>::new();
        let mut largest: V<f32> = f32::NEG_INFINITY;
        for key in (lane..length).step_by(64) {
            let mut score: V<f32> = 0.0;
            for d in 0..64u32 {
                score = (q[query + d] as f32).mul_add(k[key * 64 + d] as f32, score);
            }
            scores[key] = scale * score;
            largest = largest.max(scale * score);
        }
        let largest = wave_max(largest);
        let mut sum: V<f32> = 0.0;
        for key in (lane..length).step_by(64) {
            let weight = (scores[key] - largest).exp2();
            scores[key] = weight;
            sum += weight;
        }
        let sum = wave_sum(sum);
        barrier();
        let mut out: V<f32> = 0.0;
        for key in 0..length {
            out = scores[key].mul_add(v[key * 64 + lane] as f32, out);
        }
        o[query + lane] = (out / sum) as f16;
    }
}
// ANCHOR_END: rows

/// Queries and keys of the measurement; both kernels take heads of 64 elements.
const LENGTH: u32 = 256;

/// Queries, keys and values.
type Inputs = [Vec<f16>; 3];

fn inputs() -> Inputs {
    let numbers = |step: u32, scale: f32| -> Vec<f16> {
        (0..LENGTH * 64).map(|i| f16::from_f32(scale * ((i * step % 61) as f32 / 30.0 - 1.0))).collect()
    };
    [numbers(7, 1.0), numbers(11, 1.0), numbers(13, 0.5)]
}

/// log2(e) / sqrt(64).
fn scale() -> f32 {
    std::f32::consts::LOG2_E / 8.0
}

fn measured() -> Result<[TimedReport; 2], Fault> {
    let [q, k, v] = inputs();
    let mut o = vec![f16::ZERO; q.len()];
    let rows = by_rows.timed(TARGET, Grid::x(LENGTH), (LENGTH, scale(), &q, &k, &v, &mut o), &one_cu())?;
    let grid = Grid::x(LENGTH / lesson::BLOCK);
    let arguments = (LENGTH, scale(), &q[..], &k[..], &v[..], &mut o[..]);
    Ok([rows, flash_attention::<false, 64>.timed(TARGET, grid, arguments, &one_cu())?])
}

/// What the chapter shows.
pub fn outputs() -> Outputs {
    let lines = measured()?.map(|report| {
        let matrix = format!("{:.0}%", 100.0 * gemm::matrix_share(&report));
        [report.cycles.to_string(), report.instructions.to_string(), matrix]
    });
    let [by_row, flash] = &lines;
    let rows = [
        row("by_rows", &[&by_row[0], &by_row[1], &by_row[2]]),
        row("flash_attention", &[&flash[0], &flash[1], &flash[2]]),
    ];
    let head = ["kernel", "cycles", "wave instructions", "matrix pipe busy"];
    Ok(vec![Output { name: "attention.md", text: table(&head, &rows) }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_agree_with_the_definition() {
        let [q, k, v] = inputs();
        let want = lesson::reference::<64>(false, LENGTH as usize, [&q, &k, &v]);
        let device = Device::simulator(TARGET);
        let mut o = vec![f16::NAN; q.len()];
        by_rows.launch(&device, Grid::x(LENGTH), (LENGTH, scale(), &q, &k, &v, &mut o)).unwrap();
        assert!(o.iter().zip(&want).all(|(o, want)| (o.to_f64() - want).abs() < f64::exp2(-10.0)));
        o.fill(f16::NAN);
        let grid = Grid::x(LENGTH / lesson::BLOCK);
        flash_attention::<false, 64>.launch(&device, grid, (LENGTH, scale(), &q, &k, &v, &mut o)).unwrap();
        assert!(o.iter().zip(&want).all(|(o, want)| (o.to_f64() - want).abs() < f64::exp2(-10.0)));
    }

    #[test]
    fn chained_products_are_faster() {
        let [rows, flash] = measured().unwrap();
        assert!(flash.cycles * 5 < rows.cycles, "{}, {}", flash.cycles, rows.cycles);
    }
}
