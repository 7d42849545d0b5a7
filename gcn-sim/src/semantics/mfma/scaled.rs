//! Scaled matrix instructions (gfx950): each 32 consecutive k of a row of A and of a column of B have a scale of their own,
//! a power of two.
//!
//! Product and scales are exact; they are added to the accumulator for ascending k, each addition rounded once.

use gcn_isa::layout::{Controls, Matrix, Shape};
use gcn_isa::{Inst, Target};

use super::dense::{Dense, Execution, Products, multiply, room, stretches};
use super::{Line, line};
use crate::core::exec::{Cx, Exec, Fault, Outcome};
use crate::core::step::Step;
use crate::fp::add_exact;
use crate::fp::host;

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
    fn exponents<const N: usize>(&self, cx: &Cx<'_>, s: &Step, which: usize, run: usize) -> [Option<i32>; N] {
        let line = self.scales[which][run];
        let register = &cx.w.v[usize::from(s.scales[which])][line.lanes(N)];
        let mut exponents = [None; N];
        for (exponent, bytes) in exponents.iter_mut().zip(register) {
            let byte = bytes >> line.low_bit & 0xff;
            *exponent = (byte != 0xff).then_some(byte as i32 - 127);
        }
        exponents
    }
}

impl Products<f32> for Scaled {
    #[inline(always)]
    fn add<const FUSED: bool, const N: usize, const R: usize>(
        &self,
        cx: &Cx<'_>,
        s: &Step,
        _: usize,
        acc: &mut [[f32; N]; N],
    ) -> Result<(), Fault> {
        let [a_registers, b_registers] = self.dense.inputs(cx, s)?;
        let (mut a, mut b) = (room(), room());
        for run in 0..usize::from(self.dense.shape.k) / RUN {
            let exponents = [self.exponents::<N>(cx, s, 0, run), self.exponents(cx, s, 1, run)];
            // Far from the ends of the range, scaled elements and their products are exact in f32.
            let near = |e: &Option<i32>| e.is_some_and(|e| e.abs() <= 48);
            let exact = exponents.as_flattened().iter().all(near);
            for lines in stretches(run * RUN, RUN) {
                let a = self.dense.a.read(&a_registers, lines.clone(), &mut a);
                let b = self.dense.b.read(&b_registers, lines, &mut b);
                if exact {
                    scale(a, &exponents[0]);
                    scale(b, &exponents[1]);
                    multiply::<f32, FUSED, N, R>(a, b, acc, true);
                } else {
                    multiply_far(a, b, &exponents, acc);
                }
            }
        }
        Ok(())
    }
}

/// As [`multiply`], for scales that take products out of the range of f32; `None` is NaN.
fn multiply_far<const N: usize>(
    a: &[[f32; N]],
    b: &[[f32; N]],
    exponents: &[[Option<i32>; N]; 2],
    acc: &mut [[f32; N]; N],
) {
    for (a, b) in a.iter().zip(b) {
        for (row, acc) in acc.iter_mut().enumerate() {
            for (column, acc) in acc.iter_mut().enumerate() {
                let product = f64::from(a[row]) * f64::from(b[column]);
                *acc = match (exponents[0][row], exponents[1][column]) {
                    (Some(x), Some(y)) => add_exact(*acc, product * power_of_two(x + y)),
                    _ => f32::NAN,
                };
            }
        }
    }
}

/// 2^n for an n in the range of f64's exponents, as sums of two scales are.
#[inline(always)]
fn power_of_two(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

#[inline(always)]
fn scale<const N: usize>(rows: &mut [[f32; N]], exponents: &[Option<i32>; N]) {
    let mut scales = [0.0; N];
    for (scale, exponent) in scales.iter_mut().zip(exponents) {
        *scale = f32::from_bits((exponent.unwrap_or(0) + 127) as u32 * (1 << 23));
    }
    for row in rows {
        row.iter_mut().zip(scales).for_each(|(value, scale)| *value *= scale);
    }
}

impl Exec for Scaled {
    fn run(&self, cx: &mut Cx<'_>, s: &Step) -> Outcome {
        host::run(Execution { dense: &self.dense, products: self, cx, s })
    }
}
