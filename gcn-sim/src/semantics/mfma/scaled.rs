//! Scaled matrix instructions (gfx950): in each row of A and each column of B, every 32 consecutive k share a scale, which is a power of
//! two.
//!
//! Scaled products are exact. They are added to the accumulator in ascending order of k, and each addition is rounded once.

use gcn_isa::layout::{Controls, Matrix, Shape};
use gcn_isa::{Inst, Target};

use super::dense::{Dense, Execution, Products, multiply, room, stretches};
use super::{Line, line};
use crate::core::fault::{Done, Fault};
use crate::core::machine::{Cx, Exec, Step};
use crate::core::operand::Src;
use crate::fp::{add_exact, host};

/// The number of consecutive k that share a scale.
const RUN: usize = 32;

/// A scaled instruction with its operand layouts.
pub(super) struct Scaled {
    dense: Dense<f32>,
    /// The lines of the scales (bytes) of A and of B, one line for each 32 k.
    scales: [Vec<Line>; 2],
}

impl Scaled {
    pub(super) fn new(shape: Shape, target: Target, inst: &Inst) -> Result<Scaled, String> {
        let controls = Controls::of(&inst.mods);
        let lines = |matrix: Matrix, byte: u8| -> Option<Vec<Line>> {
            let runs = 0..shape.k / RUN as u16;
            runs.map(|run| {
                let found = match matrix {
                    Matrix::ScaleA => line(&shape, matrix, 0, shape.m, |i| (i, run)),
                    _ => line(&shape, matrix, 0, shape.n, |j| (run, j)),
                };
                found.map(|line| Line { low_bit: line.low_bit + 8 * byte, ..line })
            })
            .collect()
        };
        let missing = "the layout of its scales is not regular";
        Ok(Scaled {
            dense: Dense::new(shape, target, &inst.mods)?,
            scales: [
                lines(Matrix::ScaleA, controls.scale_a).ok_or(missing)?,
                lines(Matrix::ScaleB, controls.scale_b).ok_or(missing)?,
            ],
        })
    }

    /// The scales of A (`which` 0) or B.
    #[inline(always)]
    fn scales<const N: usize>(&self, cx: &Cx<'_>, s: &Step, which: usize, run: usize) -> [u32; N] {
        let line = self.scales[which][run];
        // The instruction table allows only VGPRs here.
        let Src::Vector(slot) = s.scales[which] else { return [0; N] };
        let register = &cx.w.v[usize::from(slot)][line.lanes(N)];
        let mut scales = [0; N];
        scales.iter_mut().zip(register).for_each(|(scale, bits)| *scale = bits >> line.low_bit & 0xff);
        scales
    }
}

/// The encoding of a NaN scale. Other encodings are exponents biased as in f32.
const NAN: u32 = 0xff;
const BIAS: u32 = 127;

/// True if elements with this scale are exact in f32, and so are their products, because the exponents are far from the ends of f32's
/// range.
#[inline(always)]
fn is_near(scale: u32) -> bool {
    scale.abs_diff(BIAS) <= 48
}

impl Products<f32> for Scaled {
    const ROWS: [u16; 2] = [16, 32];

    #[inline(always)]
    fn add<const FUSED: bool, const N: usize, const R: usize>(
        &self,
        cx: &Cx<'_>,
        s: &Step,
        _: usize,
        acc: &mut [[f32; N]; N],
    ) -> Result<(), Fault> {
        let registers = self.dense.inputs(cx, s)?;
        let mut widened = room();
        // The value equals `N`, but the compiler does not know that here; otherwise it would unroll the loop over a row and vectorise
        // across rows instead.
        let width = usize::from(self.dense.shape.n);
        for run in 0..usize::from(self.dense.shape.k) / RUN {
            let scales = [self.scales::<N>(cx, s, 0, run), self.scales(cx, s, 1, run)];
            let exact = scales.as_flattened().iter().fold(true, |all, scale| all & is_near(*scale));
            for lines in stretches(run * RUN, RUN) {
                let [a, b] = self.dense.read(&registers, [lines.clone(), lines], &mut widened);
                if exact {
                    scale(a, &scales[0][..width]);
                    scale(b, &scales[1][..width]);
                    multiply::<f32, FUSED, N, R>(a, b, acc, true);
                } else {
                    multiply_far(a, b, &scales, acc);
                }
            }
        }
        Ok(())
    }
}

/// As [`multiply`], for scales for which products may exceed the range of f32.
fn multiply_far<const N: usize>(
    a: &[[f32; N]],
    b: &[[f32; N]],
    scales: &[[u32; N]; 2],
    acc: &mut [[f32; N]; N],
) {
    for (a, b) in a.iter().zip(b) {
        for (row, acc) in acc.iter_mut().enumerate() {
            for (column, acc) in acc.iter_mut().enumerate() {
                let product = f64::from(a[row]) * f64::from(b[column]);
                *acc = match (scales[0][row], scales[1][column]) {
                    (NAN, _) | (_, NAN) => f32::NAN,
                    (x, y) => add_exact(*acc, product * power_of_two(x as i32 + y as i32 - 2 * BIAS as i32)),
                };
            }
        }
    }
}

/// 2^n as an f64. The sum of the exponents of two scales is always in the range of f64.
#[inline(always)]
fn power_of_two(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// Multiplies elements by scales for which [`is_near`] holds.
#[inline(always)]
fn scale<const N: usize>(rows: &mut [[f32; N]], scales: &[u32]) {
    for row in rows {
        row.iter_mut().zip(scales).for_each(|(value, scale)| *value *= f32::from_bits(scale << 23));
    }
}

impl Exec for Scaled {
    fn execute(&self, cx: &mut Cx<'_>, s: &Step) -> Done {
        host::run(Execution { dense: &self.dense, products: self, cx, s }).map(|_| ()).map_err(Box::new)
    }
}
