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
    #[wave(64)]
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

// ANCHOR: passes
gcn_kernel! {
    /// A row of `n` scores for each lane: the mean of the values, weighted by 2^score. Two passes over the scores.
    /// They are stored key by key, so that neighbouring lanes read neighbouring elements.
    #[workgroup(64)]
    pub fn two_passes(rows: u32, n: u32, scores: &[f32], values: &[f32], out: &mut [f32]) {
        let row = global_id().x;
        let mut largest: V<f32> = f32::NEG_INFINITY;
        for key in 0..n {
            largest = largest.max(scores[key * rows + row]);
        }
        let mut sum: V<f32> = 0.0;
        let mut total: V<f32> = 0.0;
        for key in 0..n {
            let weight = (scores[key * rows + row] - largest).exp2();
            sum += weight;
            total = weight.mul_add(values[key], total);
        }
        out[row] = total / sum;
    }
}
// ANCHOR_END: passes

// ANCHOR: online
gcn_kernel! {
    /// The same in one pass.
    #[workgroup(64)]
    pub fn online(rows: u32, n: u32, scores: &[f32], values: &[f32], out: &mut [f32]) {
        let row = global_id().x;
        let mut largest: V<f32> = f32::NEG_INFINITY;
        let mut sum: V<f32> = 0.0;
        let mut total: V<f32> = 0.0;
        for key in 0..n {
            let score = scores[key * rows + row];
            let larger = largest.max(score);
            let keep = (largest - larger).exp2(); // 1, unless this score is the largest so far
            let weight = (score - larger).exp2();
            sum = sum.mul_add(keep, weight);
            total = total.mul_add(keep, weight * values[key]);
            largest = larger;
        }
        out[row] = total / sum;
    }
}
// ANCHOR_END: online

// ANCHOR: four
gcn_kernel! {
    /// The same, four keys at a time: one correction for four weights.
    #[workgroup(64)]
    pub fn online_four(rows: u32, n: u32, scores: &[f32], values: &[f32], out: &mut [f32]) {
        let row = global_id().x;
        let mut largest: V<f32> = f32::NEG_INFINITY;
        let mut sum: V<f32> = 0.0;
        let mut total: V<f32> = 0.0;
        for first in (0..n).step_by(4) {
            let mut score: [V<f32>; 4] = [0.0; 4];
            #[unroll]
            for j in 0..4usize {
                score[j] = scores[(first + j as u32) * rows + row];
            }
            let larger = largest.max(score[0].max(score[1])).max(score[2].max(score[3]));
            let keep = (largest - larger).exp2();
            sum *= keep;
            total *= keep;
            #[unroll]
            for j in 0..4usize {
                let weight = (score[j] - larger).exp2();
                sum += weight;
                total = weight.mul_add(values[first + j as u32], total);
            }
            largest = larger;
        }
        out[row] = total / sum;
    }
}
// ANCHOR_END: four

/// Rows and keys of the three kernels' measurement.
const ROWS: u32 = 256;
const KEYS: u32 = 256;

/// Scores, key by key, and values.
fn scores() -> (Vec<f32>, Vec<f32>) {
    let score = |i: u32| ((i / ROWS * 7 + i % ROWS * 3) % 23) as f32 / 2.0;
    ((0..ROWS * KEYS).map(score).collect(), (0..KEYS).map(|i| (i % 9) as f32).collect())
}

/// Reports of the three kernels.
fn passes() -> Result<[(&'static str, TimedReport); 3], Fault> {
    let ((scores, values), mut out, config) = (scores(), vec![0.0; ROWS as usize], one_cu());
    let grid = Grid::x(ROWS / 64);
    Ok([
        ("two_passes", two_passes.timed(TARGET, grid, (ROWS, KEYS, &scores, &values, &mut out), &config)?),
        ("online", online.timed(TARGET, grid, (ROWS, KEYS, &scores, &values, &mut out), &config)?),
        ("online_four", online_four.timed(TARGET, grid, (ROWS, KEYS, &scores, &values, &mut out), &config)?),
    ])
}

/// The scores and values of the example in numbers.
const SCORES: [f32; 6] = [3.0, 5.0, 2.0, 6.0, 6.0, 1.0];
const VALUES: [f32; 6] = [8.0, 16.0, 24.0, 32.0, 40.0, 48.0];

/// The state of `online` after each key, and what kernel and definition give at the end.
fn in_numbers() -> Result<(String, String), Fault> {
    let (mut largest, mut sum, mut total) = (f32::NEG_INFINITY, 0.0f32, 0.0f32);
    let mut lines = Vec::new();
    for (key, (score, value)) in SCORES.into_iter().zip(VALUES).enumerate() {
        let larger = largest.max(score);
        let (keep, weight) = ((largest - larger).exp2(), (score - larger).exp2());
        sum = sum * keep + weight;
        total = total * keep + weight * value;
        largest = larger;
        lines.push(row(&key.to_string(), &[&score, &value, &largest, &keep, &weight, &sum, &total]));
    }
    // All lanes have the same row.
    let scores: Vec<f32> = SCORES.iter().flat_map(|score| [*score; 64]).collect();
    let mut out = [0.0; 64];
    online.launch(&Device::simulator(TARGET), Grid::x(1), (64, 6, &scores, &VALUES, &mut out))?;
    let weights = SCORES.map(|score| f64::from(score).exp2());
    let mean =
        weights.iter().zip(VALUES).map(|(w, v)| w * f64::from(v)).sum::<f64>() / weights.iter().sum::<f64>();
    let head = ["key", "score", "value", "largest", "keep", "weight", "sum", "total"];
    let results = [
        row("total / sum", &[&format!("{:.5}", total / sum)]),
        row("the kernel `online`", &[&format!("{:.5}", out[0])]),
        row("the definition, in f64", &[&format!("{mean:.5}")]),
    ];
    Ok((table(&head, &lines), table(&["", "mean"], &results)))
}

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
    let (steps, results) = in_numbers()?;
    let of_passes = passes()?.map(|(name, report)| {
        let exponentials: u64 =
            report.by_instruction.iter().filter(|i| i.text.starts_with("v_exp")).map(|i| i.issued).sum();
        row(name, &[&report.memory.bytes, &exponentials, &report.instructions, &report.cycles])
    });
    let head_of_passes =
        ["kernel", "bytes that lanes read and wrote", "exponentials", "wave instructions", "cycles"];
    Ok(vec![
        Output { name: "attention.md", text: table(&head, &rows) },
        Output { name: "online.md", text: steps },
        Output { name: "online-result.md", text: results },
        Output { name: "passes.md", text: table(&head_of_passes, &of_passes) },
    ])
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

    #[test]
    fn one_pass_is_as_good_as_two() {
        let (scores, values) = scores();
        let mean = |row: u32| {
            let weight = |key: u32| f64::from(scores[(key * ROWS + row) as usize]).exp2();
            let sum: f64 = (0..KEYS).map(weight).sum();
            (0..KEYS).map(|key| weight(key) * f64::from(values[key as usize])).sum::<f64>() / sum
        };
        let want: Vec<f64> = (0..ROWS).map(mean).collect();
        let (device, grid) = (Device::simulator(TARGET), Grid::x(ROWS / 64));
        let near = |out: &[f32]| out.iter().zip(&want).all(|(o, w)| (f64::from(*o) - w).abs() < 1e-4);
        let mut out = vec![f32::NAN; ROWS as usize];
        two_passes.launch(&device, grid, (ROWS, KEYS, &scores, &values, &mut out)).unwrap();
        assert!(near(&out), "{out:?}, {want:?}");
        out.fill(f32::NAN);
        online.launch(&device, grid, (ROWS, KEYS, &scores, &values, &mut out)).unwrap();
        assert!(near(&out), "{out:?}, {want:?}");
        out.fill(f32::NAN);
        online_four.launch(&device, grid, (ROWS, KEYS, &scores, &values, &mut out)).unwrap();
        assert!(near(&out), "{out:?}, {want:?}");
    }
}
