//! Scaled matrix instructions (gfx950): each 32 consecutive k of a row of A and of a column of B have a scale of their own,
//! a power of two.
//!
//! Product and scales are exact; they are added to the accumulator for ascending k, each addition rounded once.

use gcn_isa::layout::{Controls, Matrix, Shape};
use gcn_isa::{Inst, Target};

use super::dense::{Dense, Execution, Products};
use super::elements::Acc;
use super::{Line, line};
use crate::exec::{Cx, Exec, Fault, Outcome};
use crate::fp::add_exact;
use crate::fp::host;
use crate::step::Step;

/// k that share a scale.
const RUN: usize = 32;

/// A scaled instruction with its operand layouts worked out.
pub(super) struct Scaled {
    dense: Dense<f32>,
    /// Lines of bytes, one for each 32 k.
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

    /// Exponents of the scales of A (`which` 0) or B; `None` for NaN.
    fn exponents(&self, cx: &Cx<'_>, s: &Step, which: usize, run: usize) -> [Option<i32>; 32] {
        let line = self.scales[which][run];
        let count = if which == 0 { self.dense.shape.m } else { self.dense.shape.n };
        let register = &cx.w.v[usize::from(s.scales[which])];
        let mut exponents = [Some(0); 32];
        for (i, exponent) in exponents.iter_mut().enumerate().take(usize::from(count)) {
            let byte = register[usize::from(line.lane) + i] >> line.low_bit & 0xff;
            *exponent = (byte != 0xff).then_some(byte as i32 - 127);
        }
        exponents
    }
}

impl Products<f32> for Scaled {
    #[inline(always)]
    fn add<const FUSED: bool>(&self, cx: &Cx<'_>, s: &Step, _: usize, acc: &mut [f32]) -> Result<(), Fault> {
        let (m, n) = (usize::from(self.dense.shape.m), usize::from(self.dense.shape.n));
        let (mut a, mut b) = ([0f32; 32], [0f32; 32]);
        for run in 0..usize::from(self.dense.shape.k) / RUN {
            let (ea, eb) = (self.exponents(cx, s, 0, run), self.exponents(cx, s, 1, run));
            // Far from the ends of the range, scaled elements and their products are exact in f32.
            let near = |e: &[Option<i32>]| e.iter().all(|e| e.is_some_and(|e| e.abs() <= 48));
            let exact = near(&ea[..m]) && near(&eb[..n]);
            for k in run * RUN..(run + 1) * RUN {
                self.dense.a.read(cx, &s.src[0], k, &mut a)?;
                self.dense.b.read(cx, &s.src[1], k, &mut b)?;
                if exact {
                    scale(&mut a[..m], &ea);
                    scale(&mut b[..n], &eb);
                    for (row, acc) in acc.chunks_exact_mut(n).enumerate() {
                        f32::steps::<FUSED>(acc, a[row], &b, true);
                    }
                    continue;
                }
                for (row, acc) in acc.chunks_exact_mut(n).enumerate() {
                    for (column, acc) in acc.iter_mut().enumerate() {
                        let product = f64::from(a[row]) * f64::from(b[column]);
                        *acc = match (ea[row], eb[column]) {
                            (Some(x), Some(y)) => add_exact(*acc, product * power_of_two(x + y)),
                            _ => f32::NAN,
                        };
                    }
                }
            }
        }
        Ok(())
    }
}

/// 2^n for an n in the range of f64's exponents, as sums of two scales are.
#[inline(always)]
fn power_of_two(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

#[inline(always)]
fn scale(values: &mut [f32], exponents: &[Option<i32>; 32]) {
    for (value, exponent) in values.iter_mut().zip(exponents) {
        *value *= f32::from_bits((exponent.unwrap_or(0) + 127) as u32 * (1 << 23));
    }
}

impl Exec for Scaled {
    fn run(&self, cx: &mut Cx<'_>, s: &Step) -> Outcome {
        host::run(Execution { dense: &self.dense, products: self, cx, s })
    }
}
