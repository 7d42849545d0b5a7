//! Dense matrix instructions.

use std::marker::PhantomData;

use gcn_isa::Target;
use gcn_isa::inst::Mods;
use gcn_isa::layout::{self, Matrix, Shape};

use super::elements::{Acc, Decoder, flushes_denormals, product_is_exact};
use super::{Line, Registers, input_lines, result_lines};
use crate::exec::{Cx, Exec, Fault, Next, Outcome};
use crate::fp::host::{self, Work};
use crate::step::{Src, Step};
use crate::value::LANES;
use crate::wave::Lanes;

/// Most elements of a row of the result.
const ROW: usize = 32;

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
    #[inline(always)]
    pub(super) fn read<T: Acc>(
        &self,
        cx: &Cx<'_>,
        src: &Src,
        line: usize,
        out: &mut [T],
    ) -> Result<(), Fault> {
        let line = self.lines[line];
        let registers = Registers::of(cx, src, T::WORDS == 2)?;
        let (mut low, mut high) = ([0; ROW], [0; ROW]);
        let (low, high) = (&mut low[..self.count], &mut high[..self.count]);
        let shift = u32::from(line.low_bit);
        self.copy(registers.get(line.register, false), line, low, |bits| bits >> shift);
        if T::WORDS == 2 {
            self.copy(registers.get(line.register, true), line, high, |bits| bits);
        } else if shift + self.decoder.bits() > 32 {
            // Elements of 6 bits go on in the next register.
            self.copy(registers.get(line.register + 1, false), line, high, |bits| bits << (32 - shift));
            low.iter_mut().zip(high.iter()).for_each(|(low, high)| *low |= high);
        }
        T::widen(&self.decoder, low, high, &mut out[..self.count]);
        Ok(())
    }

    /// The words of a line.
    #[inline(always)]
    fn copy(&self, register: &Lanes, line: Line, to: &mut [u32], shifted: impl Fn(u32) -> u32) {
        let first = usize::from(line.lane);
        match &self.lanes {
            None => to.iter_mut().zip(&register[first..]).for_each(|(to, from)| *to = shifted(*from)),
            Some(lanes) => {
                let from = lanes[first..].iter().map(|lane| register[usize::from(*lane)]);
                to.iter_mut().zip(from).for_each(|(to, from)| *to = shifted(from));
            }
        }
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
}

/// What is added to a block of the accumulator.
pub(super) trait Products<T> {
    /// Adds it. `FUSED`: the host has a fused multiply-add.
    fn add<const FUSED: bool>(&self, cx: &Cx<'_>, s: &Step, block: usize, acc: &mut [T])
    -> Result<(), Fault>;
}

impl<T: Acc> Products<T> for Dense<T> {
    #[inline(always)]
    fn add<const FUSED: bool>(
        &self,
        cx: &Cx<'_>,
        s: &Step,
        block: usize,
        acc: &mut [T],
    ) -> Result<(), Fault> {
        let k = usize::from(self.shape.k);
        let neg = self.negations;
        let (mut a, mut b) = ([T::default(); ROW], [T::default(); ROW]);
        for line in block * k..(block + 1) * k {
            self.a.read(cx, &s.src[0], line, &mut a)?;
            self.b.read(cx, &s.src[1], line, &mut b)?;
            negate_if(neg & 1 == 1, &mut a);
            negate_if((neg >> 1) & 1 == 1, &mut b);
            for (row, acc) in acc.chunks_exact_mut(self.b.count).enumerate() {
                T::steps::<FUSED>(acc, a[row], &b, self.exact_product);
            }
        }
        Ok(())
    }
}

#[inline(always)]
fn negate_if<T: Acc>(negate: bool, values: &mut [T]) {
    if negate {
        values.iter_mut().for_each(|x| *x = x.negated());
    }
}

impl<T: Acc> Exec for Dense<T> {
    fn run(&self, cx: &mut Cx<'_>, s: &Step) -> Outcome {
        host::run(Execution { dense: self, products: self, cx, s })
    }
}

/// Reads C, adds the products of each block to it, and writes D.
pub(super) struct Execution<'e, 'c, T, P> {
    pub(super) dense: &'e Dense<T>,
    pub(super) products: &'e P,
    pub(super) cx: &'e mut Cx<'c>,
    pub(super) s: &'e Step,
}

impl<T: Acc, P: Products<T>> Work for Execution<'_, '_, T, P> {
    type Out = Outcome;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Outcome {
        let Execution { dense, products, cx, s } = self;
        let (m, n) = (usize::from(dense.shape.m), usize::from(dense.shape.n));
        let mut room = T::room();
        let acc = &mut room.as_mut()[..usize::from(dense.shape.blocks) * m * n];
        let wide = T::WORDS == 2;
        // EXEC does not matter to matrix instructions.
        let registers = Registers::of(cx, &s.src[2], wide)?;
        for (line, acc) in dense.d_lines.iter().zip(acc.chunks_exact_mut(n)) {
            let lanes = usize::from(line.lane)..usize::from(line.lane) + n;
            let low = &registers.get(line.register, false)[lanes.clone()];
            let high = if wide { &registers.get(line.register, true)[lanes] } else { low };
            for ((acc, low), high) in acc.iter_mut().zip(low).zip(high) {
                *acc = T::from_words(*low, *high);
            }
        }
        negate_if(dense.negations >> 2 & 1 == 1, acc);
        for block in 0..usize::from(dense.shape.blocks) {
            products.add::<FUSED>(cx, s, block, &mut acc[block * m * n..(block + 1) * m * n])?;
        }
        for (line, acc) in dense.d_lines.iter().zip(acc.chunks_exact_mut(n)) {
            acc.iter_mut().for_each(|x| *x = x.finished(dense.flush_result));
            let slot = s.vdst as usize + line.register as usize;
            let lanes = usize::from(line.lane)..usize::from(line.lane) + n;
            let low = &mut cx.w.v[slot][lanes.clone()];
            low.iter_mut().zip(acc.iter()).for_each(|(low, x)| *low = x.into_words().0);
            if wide {
                let high = &mut cx.w.v[slot + 1][lanes];
                high.iter_mut().zip(acc.iter()).for_each(|(high, x)| *high = x.into_words().1);
            }
        }
        Ok(Next::Fall)
    }
}
