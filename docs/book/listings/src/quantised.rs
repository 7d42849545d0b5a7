//! A quantised matrix times a vector.

use gcn_dsl::isa;
use gcn_dsl::prelude::*;
use gcn_dsl::sim::timed::{Config, TimedReport};
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
    Ok(vec![Output { name: "quantised.md", text: table(&head, &rows) }])
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
}
