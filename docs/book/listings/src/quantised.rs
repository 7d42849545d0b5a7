//! A quantised matrix times a vector.

use gcn_dsl::isa;
use gcn_dsl::prelude::*;
use gcn_dsl::sim::timed::{Config, TimedReport};
use gcn_examples::data::Random;
use gcn_examples::lessons::gemv::gemv;

use crate::{Fault, Output, Outputs, TARGET, row, table};

// ANCHOR: structs
gcn_kernel! {
    /// 32 weights of 8 bits with a common scale: 34 bytes.
    #[device]
    #[repr(C)]
    pub struct Block {
        scale: f16,
        q: [i8; 32],
    }

    /// A wave for each row of `blocks` blocks.
    #[workgroup(64)]
    #[wave(64)]
    pub fn by_blocks(blocks: u32, a: &[Block], x: &[f32], y: &mut [f32]) {
        let row = workgroup_id().x;
        let mut sum = 0.0;
        for b in (lane_id()..blocks).step_by(64) {
            let block = a[row * blocks + b];
            let mut dot = 0.0;
            #[unroll]
            for k in 0..32usize {
                dot += block.q[k] as f32 * x[b * 32 + k as u32];
            }
            sum += block.scale as f32 * dot;
        }
        y[row] = wave_sum(sum);
    }
}
// ANCHOR_END: structs

// ANCHOR: split
gcn_kernel! {
    /// The same with weights and scales in arrays of their own: a lane loads 16 weights at once.
    #[workgroup(256)]
    #[wave(64)]
    pub fn split(columns: u32, q: &[i8], scale: &[f16], x: &[f32], y: &mut [f32]) {
        let row = workgroup_id().x * 4 + wave_id();
        let mut sum: V<f32> = 0.0;
        for column in (16 * lane_id()..columns).step_by(16 * 64) {
            let weights = q.assume_whole_dwords().load_vector::<16>(row * columns + column);
            let mut dot: V<f32> = 0.0;
            #[unroll]
            for part in 0..4usize {
                let x = x.load_vector::<4>(column + 4 * part as u32);
                #[unroll]
                for k in 0..4usize {
                    dot = (weights.get(4 * part + k) as f32).mul_add(x.get(k), dot);
                }
            }
            sum = (scale[(row * columns + column) / 32] as f32).mul_add(dot, sum);
        }
        y[row] = wave_sum(sum);
    }
}
// ANCHOR_END: split

// ANCHOR: dots
gcn_kernel! {
    /// The vector is quantised as well; four products of bytes and their sum are one instruction.
    #[workgroup(256)]
    #[wave(64)]
    #[targets(gfx906, gfx908, gfx90a, gfx942, gfx950)]
    pub fn dots(columns: u32, q: &[u32], scale: &[f16], x: &[u32], x_scale: &[f32], y: &mut [f32]) {
        let row = workgroup_id().x * 4 + wave_id();
        let mut sum: V<f32> = 0.0;
        for column in (16 * lane_id()..columns).step_by(16 * 64) {
            let weights = q.load_vector::<4>((row * columns + column) / 4);
            let vector = x.load_vector::<4>(column / 4);
            let mut dot: V<i32> = 0;
            #[unroll]
            for k in 0..4usize {
                dot = isa::v_dot4_i32_i8(weights.get(k), vector.get(k), dot);
            }
            let scale = scale[(row * columns + column) / 32] as f32 * x_scale[column / 32];
            sum = scale.mul_add(dot as f32, sum);
        }
        y[row] = wave_sum(sum);
    }
}
// ANCHOR_END: dots

// ANCHOR: nibbles
gcn_kernel! {
    /// Weights of 4 bits, stored as 0 to 15 for -8 to 7. A lane takes 32 of them at once: 16 bytes and one scale. Word `k`
    /// has columns 4k to 4k + 3 in its lower nibbles and columns 16 + 4k to 19 + 4k in its upper ones. `x_sum` has the sum of
    /// each 32 bytes of `x`.
    #[workgroup(256)]
    #[wave(64)]
    #[targets(gfx906, gfx908, gfx90a, gfx942, gfx950)]
    pub fn nibbles(
        columns: u32, q: &[u32], scale: &[f16], x: &[u32], x_sum: &[i32], x_scale: &[f32], y: &mut [f32],
    ) {
        let row = workgroup_id().x * 4 + wave_id();
        let mut sum: V<f32> = 0.0;
        for column in (32 * lane_id()..columns).step_by(32 * 64) {
            let weights = q.load_vector::<4>((row * columns + column) / 8);
            let (low, high) = (x.load_vector::<4>(column / 4), x.load_vector::<4>(column / 4 + 4));
            let mut dot: V<i32> = 0;
            #[unroll]
            for k in 0..4usize {
                let word = weights.get(k);
                dot = isa::v_dot4_i32_i8(word & 0x0f0f_0f0f, low.get(k), dot);
                dot = isa::v_dot4_i32_i8((word >> 4) & 0x0f0f_0f0f, high.get(k), dot);
            }
            dot -= 8 * x_sum[column / 32];
            let scale = scale[(row * columns + column) / 32] as f32 * x_scale[column / 32];
            sum = scale.mul_add(dot as f32, sum);
        }
        y[row] = wave_sum(sum);
    }
}
// ANCHOR_END: nibbles

/// Rows and columns of the measurement.
const ROWS: u32 = 128;
const COLUMNS: u32 = 4096;

/// A quantised matrix: weights, scales of each 32, and the vector.
fn inputs() -> (Vec<i8>, Vec<f16>, Vec<f32>) {
    let n = ROWS * COLUMNS;
    let q = (0..n).map(|i| (i * 37 % 255) as u8 as i8).collect();
    let scale = (0..n / 32).map(|i| f16::from_f32(f32::exp2((i % 5) as f32 - 9.0))).collect();
    (q, scale, (0..COLUMNS).map(|i| (i % 17) as f32 / 8.0 - 1.0).collect())
}

/// Four bytes in each word.
fn words(bytes: impl IntoIterator<Item = i8>) -> Vec<u32> {
    let bytes: Vec<u8> = bytes.into_iter().map(|byte| byte as u8).collect();
    bytes.as_chunks::<4>().0.iter().map(|four| u32::from_le_bytes(*four)).collect()
}

/// The vector in bytes with scales: exact, as its elements are multiples of 1/8.
fn quantised(x: &[f32]) -> (Vec<u32>, Vec<f32>) {
    (words(x.iter().map(|x| (x * 8.0) as i8)), vec![0.125; x.len() / 32])
}

fn blocks(q: &[i8], scale: &[f16]) -> Vec<Block> {
    let q = q.as_chunks::<32>().0.iter();
    q.zip(scale).map(|(q, scale)| Block { scale: *scale, q: *q }).collect()
}

/// Weights as a trained layer has them, roughly: most are small, few are large.
fn weights() -> Vec<f32> {
    let numbers = Random::new(9).f64s((ROWS * COLUMNS * 4) as usize);
    numbers.chunks(4).map(|four| 0.02 * four.iter().sum::<f64>() as f32).collect()
}

// ANCHOR: round
/// Weights as whole numbers from `-limit` to `limit`, and a scale for each `group` of them.
fn rounded(weights: &[f32], limit: f32, group: usize) -> (Vec<i8>, Vec<f16>) {
    let (mut q, mut scales) = (Vec::new(), Vec::new());
    for group in weights.chunks(group) {
        let largest = group.iter().fold(0.0f32, |largest, w| largest.max(w.abs()));
        let scale = f16::from_f32(largest / limit);
        q.extend(group.iter().map(|w| (w / scale.to_f32()).round().clamp(-limit, limit) as i8));
        scales.push(scale);
    }
    (q, scales)
}
// ANCHOR_END: round

/// Nibbles as `nibbles` reads them.
fn packed(q: &[i8]) -> Vec<u32> {
    let word = |block: &[i8], k: usize| {
        let byte = |j: usize| (block[4 * k + j] + 8) as u8 | ((block[16 + 4 * k + j] + 8) as u8) << 4;
        u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])
    };
    q.chunks(32).flat_map(|block| (0..4).map(move |k| word(block, k))).collect()
}

/// The product of unrounded weights, in f64.
fn exact(weights: &[f32], x: &[f32]) -> Vec<f64> {
    let dot = |row: &[f32]| row.iter().zip(x).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum();
    weights.chunks(COLUMNS as usize).map(dot).collect()
}

/// The root of the mean square of the error, as a share of that of the results.
fn error(y: &[f64], want: &[f64]) -> f64 {
    let square = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>();
    (square(&mut y.iter().zip(want).map(|(y, want)| y - want)) / square(&mut want.iter().copied())).sqrt()
}

/// The same layer in three formats: kernel, bytes of a weight, error, cycles.
fn formats() -> Result<Vec<(&'static str, f64, f64, u64)>, Fault> {
    let (weights, (.., x), config) = (weights(), inputs(), shared()?);
    let (want, (small, x_scale)) = (exact(&weights, &x), quantised(&x));
    let mut y = vec![0.0; ROWS as usize];
    let device = Device::simulator(TARGET);
    let grid = Grid::x(ROWS / 4);
    let off = |y: &[f32]| error(&y.iter().map(|y| f64::from(*y)).collect::<Vec<_>>(), &want);

    let whole = gemv.timed(TARGET, grid, (COLUMNS, &weights, &x, &mut y), &config)?.cycles;
    gemv.launch(&device, grid, (COLUMNS, &weights, &x, &mut y))?;
    let of_whole = off(&y);

    let (q, scale) = rounded(&weights, 127.0, 32);
    let of_bytes = words(q);
    let bytes =
        dots.timed(TARGET, grid, (COLUMNS, &of_bytes, &scale, &small, &x_scale, &mut y), &config)?.cycles;
    dots.launch(&device, grid, (COLUMNS, &of_bytes, &scale, &small, &x_scale, &mut y))?;
    let off_bytes = off(&y);

    let (q, scale) = rounded(&weights, 7.0, 32);
    let halves = packed(&q);
    let x_sum: Vec<i32> = x.chunks(32).map(|x| x.iter().map(|x| (x * 8.0) as i32).sum()).collect();
    let arguments = (COLUMNS, &halves[..], &scale[..], &small[..], &x_sum[..], &x_scale[..], &mut y[..]);
    let half = nibbles.timed(TARGET, grid, arguments, &config)?.cycles;
    nibbles.launch(&device, grid, (COLUMNS, &halves, &scale, &small, &x_sum, &x_scale, &mut y))?;
    Ok(vec![
        ("`gemv`, f32", 4.0, of_whole, whole),
        ("`dots`, 8 bits", 34.0 / 32.0, off_bytes, bytes),
        ("`nibbles`, 4 bits", 18.0 / 32.0, off(&y), half),
    ])
}

/// The error of a product whose weights are rounded, computed on the host.
fn rounding(limit: f32, group: usize) -> f64 {
    let (weights, (.., x)) = (weights(), inputs());
    let (q, scale) = rounded(&weights, limit, group);
    let back: Vec<f32> =
        q.iter().enumerate().map(|(i, q)| f32::from(*q) * scale[i / group].to_f32()).collect();
    error(&exact(&back, &x), &exact(&weights, &x))
}

/// The share of the memory's bandwidth that one of 304 compute units has: 54 bytes for each cycle.
fn shared() -> Result<Config, Fault> {
    let mut config = Config::one_cu();
    for parameter in ["l2.bandwidth=54", "memory.bandwidth=54", "mall.bandwidth=54"] {
        config.set(parameter)?;
    }
    Ok(config)
}

/// Bytes of the matrix and the run, for f32, blocks, and split arrays.
fn measured() -> Result<[(&'static str, u32, TimedReport); 4], Fault> {
    let (q, scale, x) = inputs();
    let of_f32: Vec<f32> = q.iter().map(|q| f32::from(*q)).collect();
    let (mut y, config) = (vec![0.0; ROWS as usize], shared()?);
    let whole = gemv.timed(TARGET, Grid::x(ROWS / 4), (COLUMNS, &of_f32, &x, &mut y), &config)?;
    let packed = blocks(&q, &scale);
    let structs = by_blocks.timed(TARGET, Grid::x(ROWS), (COLUMNS / 32, &packed, &x, &mut y), &config)?;
    let apart = split.timed(TARGET, Grid::x(ROWS / 4), (COLUMNS, &q, &scale, &x, &mut y), &config)?;
    let (of_bytes, (small, x_scale)) = (words(q.iter().copied()), quantised(&x));
    let arguments = (COLUMNS, &of_bytes[..], &scale[..], &small[..], &x_scale[..], &mut y[..]);
    let dotted = dots.timed(TARGET, Grid::x(ROWS / 4), arguments, &config)?;
    let n = ROWS * COLUMNS;
    Ok([
        ("gemv, f32", 4 * n, whole),
        ("by_blocks", n / 32 * 34, structs),
        ("split", n / 32 * 34, apart),
        ("dots", n / 32 * 34, dotted),
    ])
}

/// What the chapter shows.
pub fn outputs() -> Outputs {
    let rows = measured()?.map(|(name, bytes, report)| {
        let rate = format!("{:.1}", f64::from(bytes) / report.cycles as f64);
        row(name, &[&bytes, &report.cycles, &rate, &report.instructions])
    });
    let head = ["kernel", "bytes of the matrix", "cycles", "bytes per cycle", "wave instructions"];
    let of_formats: Vec<_> = formats()?
        .into_iter()
        .map(|(name, bytes, error, cycles)| {
            row(name, &[&format!("{bytes:.4}"), &format!("{:.5}%", 100.0 * error), &cycles])
        })
        .collect();
    let groups: Vec<_> = [(8, 127.0), (4, 7.0)]
        .into_iter()
        .flat_map(|(bits, limit)| [32, 128, 1024].map(move |group| (bits, limit, group)))
        .map(|(bits, limit, group)| {
            let bytes = f64::from(bits) / 8.0 + 2.0 / group as f64;
            let error = format!("{:.2}%", 100.0 * rounding(limit, group));
            row(&format!("{bits} bits, a scale for {group}"), &[&format!("{bytes:.4}"), &error])
        })
        .collect();
    let of_error = ["format", "bytes of a weight", "error", "cycles"];
    Ok(vec![
        Output { name: "quantised.md", text: table(&head, &rows) },
        Output { name: "formats.md", text: table(&of_error, &of_formats) },
        Output { name: "groups.md", text: table(&["format", "bytes of a weight", "error"], &groups) },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(q: &[i8], scale: &[f16], x: &[f32]) -> Vec<f64> {
        let columns = COLUMNS as usize;
        let element = |at: usize| f64::from(q[at]) * scale[at / 32].to_f64() * f64::from(x[at % columns]);
        (0..ROWS as usize).map(|row| (row * columns..(row + 1) * columns).map(element).sum()).collect()
    }

    fn near(y: &[f32], want: &[f64]) {
        for (y, want) in y.iter().zip(want) {
            assert!((f64::from(*y) - want).abs() <= 1e-3, "{y}, {want}");
        }
    }

    #[test]
    fn both_multiply() {
        let (q, scale, x) = inputs();
        let want = definition(&q, &scale, &x);
        let device = Device::simulator(TARGET);
        let mut y = vec![f32::NAN; ROWS as usize];
        by_blocks.launch(&device, Grid::x(ROWS), (COLUMNS / 32, &blocks(&q, &scale), &x, &mut y)).unwrap();
        near(&y, &want);
        y.fill(f32::NAN);
        split.launch(&device, Grid::x(ROWS / 4), (COLUMNS, &q, &scale, &x, &mut y)).unwrap();
        near(&y, &want);
        y.fill(f32::NAN);
        let (small, x_scale) = quantised(&x);
        let of_bytes = words(q);
        dots.launch(&device, Grid::x(ROWS / 4), (COLUMNS, &of_bytes, &scale, &small, &x_scale, &mut y))
            .unwrap();
        near(&y, &want);
    }

    #[test]
    fn fewer_bytes_pay_only_with_fewer_instructions() {
        let [whole, structs, apart, dotted] = measured().unwrap().map(|(.., report)| report.cycles);
        assert!(whole < apart && apart < structs, "{whole}, {apart}, {structs}");
        assert!(2 * dotted < whole, "{dotted}, {whole}");
    }

    #[test]
    fn four_bits_are_multiplied_exactly() {
        let (_, _, x) = inputs();
        let q: Vec<i8> = (0..ROWS * COLUMNS).map(|i| (i * 11 % 16) as i8 - 8).collect();
        let scale: Vec<f16> =
            (0..q.len() / 32).map(|i| f16::from_f32(f32::exp2((i % 5) as f32 - 9.0))).collect();
        let want = definition(&q, &scale, &x);
        let (small, x_scale) = quantised(&x);
        let x_sum: Vec<i32> = x.chunks(32).map(|x| x.iter().map(|x| (x * 8.0) as i32).sum()).collect();
        let mut y = vec![f32::NAN; ROWS as usize];
        let device = Device::simulator(TARGET);
        let arguments =
            (COLUMNS, &packed(&q)[..], &scale[..], &small[..], &x_sum[..], &x_scale[..], &mut y[..]);
        nibbles.launch(&device, Grid::x(ROWS / 4), arguments).unwrap();
        near(&y, &want);
    }

    #[test]
    fn fewer_bits_and_larger_groups_round_more() {
        let errors =
            [(127.0, 32), (127.0, 1024), (7.0, 32), (7.0, 1024)].map(|(limit, group)| rounding(limit, group));
        assert!(errors.is_sorted() && errors[0] < 0.01 && errors[3] > 0.05, "{errors:?}");
    }
}
