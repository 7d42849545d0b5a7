//! Sparse matrix instructions: A holds two of every four elements of a row, and an index operand says which two.

use gcn_isa::Target;
use gcn_isa::inst::Mods;
use gcn_isa::layout::{ElemType, Matrix, Shape};

use super::elements::{Acc, Decoder, flushes_denormals};
use super::{Line, input_lines, result_lines};
use crate::exec::{Cx, Exec, Fault, Next, Outcome};
use crate::step::{Src, Step};
use crate::value::LANES;

/// A sparse instruction with its operand layouts worked out.
pub(super) struct Sparse {
    shape: Shape,
    a: Decoder,
    b: Decoder,
    b_lines: Vec<Line>,
    d_lines: Vec<Line>,
    /// Bits of the index register to skip: `abid` chooses one of several index sets if `cbsz` is 0.
    index_shift: u8,
    flush_result: bool,
}

impl Sparse {
    pub(super) fn new(shape: Shape, target: Target, mods: &Mods) -> Result<Sparse, String> {
        let missing = || "its layout is not regular".to_owned();
        // A set has four bits for each group of four elements that a lane holds.
        let per_lane = u32::from(shape.k) * u32::from(shape.m) / LANES as u32;
        let set_bits = per_lane;
        let set = if mods.cbsz == 0 { u32::from(mods.abid) } else { 0 };
        if set_bits * (set + 1) > 32 {
            return Err(format!("its index register has no set number {set}"));
        }
        if mods.blgp != 0 {
            return Err("blgp has no documented effect on it".to_owned());
        }
        Ok(Sparse {
            a: Decoder::new(shape.a, target),
            b: Decoder::new(shape.b, target),
            b_lines: input_lines(&shape, Matrix::B).ok_or_else(missing)?,
            d_lines: result_lines(&shape).ok_or_else(missing)?,
            index_shift: (set_bits * set) as u8,
            flush_result: flushes_denormals(shape.a, target),
            shape,
        })
    }

    fn multiply<T: Acc>(&self, cx: &mut Cx<'_>, s: &Step) -> Outcome {
        let slots = [s.src[0], s.src[1], s.src[2]].map(|src| match src {
            Src::Vector(slot) => Ok(slot as usize),
            _ => Err(Fault::Unsupported("a sparse matrix operand outside the vector registers")),
        });
        let [a, b, index] = slots;
        let (a, b, index) = (a?, b?, index?);
        let b_bits = self.b.bits();
        let columns: Vec<Vec<T>> = self
            .b_lines
            .iter()
            .map(|line| {
                let register = &cx.w.v[b + line.register as usize];
                let first = line.lane as usize;
                let shift = u32::from(line.low_bit);
                let mask = u32::MAX >> (32 - b_bits);
                let widen = |j| T::widen(&self.b, register[first + j] >> shift & mask, 0);
                (0..usize::from(self.shape.n)).map(widen).collect()
            })
            .collect();
        let mut results = Vec::with_capacity(self.d_lines.len());
        for (row, line) in (0u16..).zip(&self.d_lines) {
            let old = &cx.w.v[s.vdst as usize + line.register as usize];
            let first = line.lane as usize;
            let mut acc: Vec<T> =
                (0..usize::from(self.shape.n)).map(|j| T::from_words(old[first + j], 0)).collect();
            for group in 0..self.shape.k / 4 {
                for (value, k) in self.pair::<T>(cx, a, index, row, group)? {
                    for (acc, b) in acc.iter_mut().zip(&columns[k]) {
                        *acc = acc.step(value, *b, false);
                    }
                }
            }
            results.push(acc);
        }
        for (line, acc) in self.d_lines.iter().zip(results) {
            let register = &mut cx.w.v[s.vdst as usize + line.register as usize];
            for (lane, x) in (line.lane as usize..).zip(acc) {
                register[lane] = x.finished(self.flush_result).into_words().0;
            }
        }
        Ok(Next::Fall)
    }

    /// The two elements of a group of four: value and k.
    fn pair<T: Acc>(
        &self,
        cx: &Cx<'_>,
        a: usize,
        index: usize,
        row: u16,
        group: u16,
    ) -> Result<[(T, usize); 2], Fault> {
        let unknown = Fault::Unsupported("a sparse matrix of this layout");
        let place = self.shape.place(Matrix::A, 0, row, group * 4).ok_or(unknown.clone())?;
        let which = self.shape.place(Matrix::Index, 0, row, group * 4).ok_or(unknown)?;
        let word = cx.w.v[a + place.register as usize][place.lane as usize] >> place.low_bit;
        let positions = cx.w.v[index][which.lane as usize] >> (which.low_bit + self.index_shift);
        let bits = self.a.bits();
        let mask = u32::MAX >> (32 - bits);
        Ok([0u32, 1].map(|i| {
            let value = T::widen(&self.a, word >> (i * bits) & mask, 0);
            (value, usize::from(group) * 4 + (positions >> (2 * i) & 3) as usize)
        }))
    }
}

impl Exec for Sparse {
    fn run(&self, cx: &mut Cx<'_>, s: &Step) -> Outcome {
        match self.shape.acc {
            ElemType::I32 => self.multiply::<i32>(cx, s),
            _ => self.multiply::<f32>(cx, s),
        }
    }
}
