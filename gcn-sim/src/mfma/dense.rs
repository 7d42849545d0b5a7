//! Dense matrix instructions.

use std::marker::PhantomData;

use gcn_isa::Target;
use gcn_isa::inst::Mods;
use gcn_isa::layout::{self, Matrix, Shape};

use super::elements::{Acc, Decoder, flushes_denormals, product_is_exact};
use super::{Line, input_lines, register, result_lines};
use crate::exec::{Cx, Exec, Fault, Next, Outcome};
use crate::step::{Src, Step};
use crate::value::LANES;

/// How A or B is read: a line of elements side by side for each block and k, broadcasts applied.
pub(super) struct Input {
    decoder: Decoder,
    lines: Vec<Line>,
    /// Elements of a line.
    count: usize,
    /// The lane that each lane's elements come from, if not itself.
    lanes: Option<[u8; LANES]>,
}

impl Input {
    /// Elements of a line, widened.
    pub(super) fn read<T: Acc>(
        &self,
        cx: &Cx<'_>,
        src: &Src,
        line: usize,
        out: &mut [T],
    ) -> Result<(), Fault> {
        let line = self.lines[line];
        let mut low = register(cx, src, line.register, false, T::WORDS == 2)?;
        let high = if T::WORDS == 2 { register(cx, src, line.register, true, true)? } else { low };
        let shift = u32::from(line.low_bit);
        if T::WORDS == 1 && shift + self.decoder.bits() > 32 {
            // Elements of 6 bits go on in the next register.
            let next = register(cx, src, line.register + 1, false, false)?;
            low.iter_mut().zip(next).for_each(|(low, next)| *low = *low >> shift | next << (32 - shift));
        } else {
            low.iter_mut().for_each(|low| *low >>= shift);
        }
        let first = line.lane as usize;
        for (i, out) in out[..self.count].iter_mut().enumerate() {
            let lane = self.lanes.map_or(first + i, |lanes| lanes[first + i] as usize);
            *out = T::widen(&self.decoder, low[lane], high[lane]);
        }
        Ok(())
    }
}

/// A matrix instruction with its operand layouts worked out.
pub(super) struct Dense<T> {
    pub(super) shape: Shape,
    pub(super) a: Input,
    pub(super) b: Input,
    /// One line per block and row.
    d_lines: Vec<Line>,
    flush_result: bool,
    exact_product: bool,
    /// Bit 0 A, bit 1 B, bit 2 C.
    negations: u8,
    accumulator: PhantomData<T>,
}

impl<T: Acc> Dense<T> {
    pub(super) fn new(shape: Shape, target: Target, mods: &Mods) -> Result<Dense<T>, String> {
        let missing = || "its layout is not regular".to_owned();
        let k = usize::from(shape.k);
        let plain = input_lines(&shape, Matrix::A).ok_or_else(missing)?;
        // The f8f6f4 instructions have the formats of A and B in the fields that broadcast and permute.
        let (cbsz, blgp) = if shape.formats_chosen { (0, 0) } else { (mods.cbsz, mods.blgp) };
        let source = |block: u8| usize::from(layout::a_source_block(cbsz, mods.abid, block)) * k;
        let a_lines = (0..shape.blocks).flat_map(|b| plain[source(b)..source(b) + k].to_vec()).collect();
        let permute = |lane: usize| layout::b_source_lane(blgp, lane as u8);
        Ok(Dense {
            a: Input {
                decoder: Decoder::new(shape.a, target),
                lines: a_lines,
                count: usize::from(shape.m),
                lanes: None,
            },
            b: Input {
                decoder: Decoder::new(shape.b, target),
                lines: input_lines(&shape, Matrix::B).ok_or_else(missing)?,
                count: usize::from(shape.n),
                lanes: (blgp != 0).then(|| std::array::from_fn(permute)),
            },
            d_lines: result_lines(&shape).ok_or_else(missing)?,
            flush_result: flushes_denormals(shape.a, target),
            exact_product: product_is_exact(shape.a) && product_is_exact(shape.b),
            negations: if shape.negates { mods.neg } else { 0 },
            shape,
            accumulator: PhantomData,
        })
    }

    fn block(&self, cx: &Cx<'_>, s: &Step, block: usize, acc: &mut [T]) -> Result<(), Fault> {
        let k = usize::from(self.shape.k);
        let neg = self.negations;
        let (mut a, mut b) = ([T::default(); 32], [T::default(); 32]);
        for line in block * k..(block + 1) * k {
            self.a.read(cx, &s.src[0], line, &mut a)?;
            self.b.read(cx, &s.src[1], line, &mut b)?;
            negate_if(neg & 1 == 1, &mut a);
            negate_if((neg >> 1) & 1 == 1, &mut b);
            for (row, acc) in acc.chunks_exact_mut(self.b.count).enumerate() {
                T::steps(acc, a[row], &b, self.exact_product);
            }
        }
        Ok(())
    }
}

fn negate_if<T: Acc>(negate: bool, values: &mut [T]) {
    if negate {
        values.iter_mut().for_each(|x| *x = x.negated());
    }
}

impl<T: Acc> Exec for Dense<T> {
    fn run(&self, cx: &mut Cx<'_>, s: &Step) -> Outcome {
        self.execute(cx, s, |cx, block, acc| self.block(cx, s, block, acc))
    }
}

impl<T: Acc> Dense<T> {
    /// Reads C, lets `multiply` add the products of each block to it, and writes D.
    pub(super) fn execute(
        &self,
        cx: &mut Cx<'_>,
        s: &Step,
        multiply: impl Fn(&Cx<'_>, usize, &mut [T]) -> Result<(), Fault>,
    ) -> Outcome {
        let (m, n) = (usize::from(self.shape.m), usize::from(self.shape.n));
        let mut acc = vec_of::<T>();
        let wide = T::WORDS == 2;
        // EXEC does not matter to matrix instructions.
        for (line, acc) in self.d_lines.iter().zip(acc.chunks_exact_mut(n)) {
            let low = register(cx, &s.src[2], line.register, false, wide)?;
            let high = if wide { register(cx, &s.src[2], line.register, true, true)? } else { low };
            for (i, acc) in acc.iter_mut().enumerate() {
                let lane = line.lane as usize + i;
                *acc = T::from_words(low[lane], high[lane]);
            }
        }
        negate_if(self.negations >> 2 & 1 == 1, &mut acc);
        for block in 0..usize::from(self.shape.blocks) {
            multiply(cx, block, &mut acc[block * m * n..(block + 1) * m * n])?;
        }
        for (line, acc) in self.d_lines.iter().zip(acc.chunks_exact(n)) {
            let slot = s.vdst as usize + line.register as usize;
            for (i, x) in acc.iter().enumerate() {
                let (low, high) = x.finished(self.flush_result).into_words();
                let lane = line.lane as usize + i;
                cx.w.v[slot][lane] = low;
                if wide {
                    cx.w.v[slot + 1][lane] = high;
                }
            }
        }
        Ok(Next::Fall)
    }
}

/// Room for the largest accumulator: 32 by 32 by 2.
fn vec_of<T: Acc>() -> [T; 2048] {
    [T::default(); 2048]
}
