//! Lesson 19: data that moves between lanes.
//!
//! 256 lanes transform 1024 complex numbers in five stages. In each stage, every lane combines four numbers that are
//! 256 apart, and stores the results such that the inputs of the next stage are again 256 apart (Stockham's order). No
//! bit-reversal stage is needed, and neighbouring lanes load neighbouring elements.
//!
//! The stages differ only in numbers that are known when the kernel is built. `#[unroll] for` makes five stages from one loop body, with
//! divisions and remainders by powers of 4 that become shifts and masks; `comptime if` omits the parts that the first and the last stage do
//! not need.
//!
//! Two pairs of arrays in LDS are used alternately, so one barrier between stages is enough: a fast wave does not
//! overwrite what a slow wave still reads. The roots of unity are in a table that the host computes in f64.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// The number of points of one transform.
const POINTS: u32 = 1024;
/// The number of stages: POINTS is 4 to this power.
const STAGES: u32 = 5;
/// The number of lanes in a workgroup. Each lane has four points.
const LANES: u32 = POINTS / 4;
/// The number of elements of an LDS array. It has two halves, which the stages use alternately.
const BOTH: usize = 2 * POINTS as usize;

gcn_kernel! {
    /// The Fourier transform of each block of 1024 complex numbers. `roots` has the cosines and sines of -2 pi k / 1024, interleaved.
    #[workgroup(LANES)]
    #[targets(gfx90a, gfx942, gfx950, gfx1010, gfx1030, gfx1100, gfx1151, gfx1201, gfx1250)]
    pub fn fft(roots: &[f32], x: &[f32], y: &mut [f32]) {
        let (re, im) = (Lds::<f32, BOTH>::new(), Lds::<f32, BOTH>::new());
        let (lane, block) = (local_id().x, workgroup_id().x * POINTS);

        #[unroll]
        for stage in 0..STAGES {
            // The number of points of the sub-transforms that earlier stages have finished.
            let done = comptime { 4u32.pow(stage) };
            let half = comptime { stage % 2 * POINTS };
            let mut a = [splat(0.0f32); 4];
            let mut b = [splat(0.0f32); 4];
            #[unroll]
            for k in 0..4usize {
                let from = lane + LANES * k as u32;
                comptime if stage == 0 {
                    let pair = x.load_vector::<2>(2 * (block + from));
                    a[k] = pair.get(0);
                    b[k] = pair.get(1);
                } else {
                    let (c, d) = (re[half + from], im[half + from]);
                    let root = roots.load_vector::<2>(2 * (lane % done * (k as u32 * LANES / done)));
                    a[k] = c.mul_add(root.get(0), -(d * root.get(1)));
                    b[k] = c.mul_add(root.get(1), d * root.get(0));
                }
            }
            // A transform of four points needs only additions and a multiplication by -i, which swaps real and imaginary part.
            let (sum, difference) = ([a[0] + a[2], b[0] + b[2]], [a[0] - a[2], b[0] - b[2]]);
            let (other, turned) = ([a[1] + a[3], b[1] + b[3]], [b[1] - b[3], a[3] - a[1]]);
            let out = [
                [sum[0] + other[0], sum[1] + other[1]],
                [difference[0] + turned[0], difference[1] + turned[1]],
                [sum[0] - other[0], sum[1] - other[1]],
                [difference[0] - turned[0], difference[1] - turned[1]],
            ];
            let first = lane / done * (4 * done) + lane % done;
            #[unroll]
            for k in 0..4usize {
                let to = first + k as u32 * done;
                comptime if stage == STAGES - 1 {
                    y.store_vector::<2>(2 * (block + to), Vector::from(out[k]));
                } else {
                    re[POINTS - half + to] = out[k][0];
                    im[POINTS - half + to] = out[k][1];
                }
            }
            comptime if stage < STAGES - 1 {
                barrier();
            }
        }
    }
}

/// Cosine and sine of -2 pi k / 1024 for each k, interleaved.
pub fn roots() -> Vec<f32> {
    let root = |k: u32| {
        let (sin, cos) = (-std::f64::consts::TAU * f64::from(k) / f64::from(POINTS)).sin_cos();
        [cos as f32, sin as f32]
    };
    (0..POINTS).flat_map(root).collect()
}

/// The transform by its definition, in f64.
pub fn reference(x: &[f32]) -> Vec<f32> {
    let n = POINTS as usize;
    let transform = |x: &[f32]| {
        let point = |k: usize| {
            let mut sum = [0.0f64; 2];
            for (j, x) in x.chunks(2).enumerate() {
                let (sin, cos) = (-std::f64::consts::TAU * (j * k % n) as f64 / n as f64).sin_cos();
                let (re, im) = (f64::from(x[0]), f64::from(x[1]));
                sum = [sum[0] + re * cos - im * sin, sum[1] + re * sin + im * cos];
            }
            sum.map(|x| x as f32)
        };
        (0..n).flat_map(point).collect::<Vec<f32>>()
    };
    x.chunks(2 * n).flat_map(transform).collect()
}

/// The lesson; sizes are numbers of transforms.
pub const LESSON: Lesson = Lesson {
    name: "fft",
    build_with: |target, options| fft.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[1]), Size(&[2]), Size(&[6])],
    run,
    steady: None,
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let x = Random::new(19).f32s((2 * POINTS * size.0[0]) as usize);
    let mut y = vec![f32::NAN; x.len()];
    let stats = device.launch(&fft, kernel, Grid::x(size.0[0]), (&roots(), &x, &mut y))?;
    // Results have magnitudes of about 30, and the errors of a few roundings at that magnitude add up.
    Ok(Outcome { stats, comparison: Comparison::of(&y, &reference(&x)).within(5e-5) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_finds_a_frequency() {
        let turn = |j: u32| (std::f64::consts::TAU * f64::from(3 * j) / 1024.0).sin_cos();
        let x: Vec<f32> = (0..POINTS).flat_map(|j| [turn(j).1 as f32, turn(j).0 as f32]).collect();
        for (k, y) in reference(&x).chunks(2).enumerate() {
            let want = if k == 3 { 1024.0 } else { 0.0 };
            assert!((y[0] - want).abs() < 1e-3 && y[1].abs() < 1e-3, "{k}: {y:?}");
        }
    }
}
