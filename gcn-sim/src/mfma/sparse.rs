//! Sparse matrix instructions: A holds two of every four elements of a row, and an index operand says which two.

use std::marker::PhantomData;

use gcn_isa::Target;
use gcn_isa::inst::Mods;
use gcn_isa::layout::{ElemType, Matrix, Shape};

use super::elements::{Acc, Decoder, flushes_denormals, product_is_exact};
use super::{Line, input_lines, result_lines};
use crate::exec::{Cx, Exec, Fault, Next, Outcome};
use crate::fp::host::{self, Work};
use crate::step::{Src, Step};
use crate::value::LANES;

/// A sparse instruction with its operand layouts worked out.
pub(super) struct Sparse {
    shape: Shape,
    a: Decoder,
    b: Decoder,
    b_lines: Vec<Line>,
    d_lines: Vec<Line>,
    /// Of each row of A, one after the other.
    groups: Vec<Group>,
    /// Bits of the index register to skip: `abid` chooses one of several index sets if `cbsz` is 0.
    index_shift: u8,
    flush_result: bool,
    exact_product: bool,
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
            groups: groups(&shape).ok_or_else(missing)?,
            exact_product: product_is_exact(shape.a) && product_is_exact(shape.b),
            index_shift: (set_bits * set) as u8,
            flush_result: flushes_denormals(shape.a, target),
            shape,
        })
    }

    /// The rows of B by k, one after the other.
    #[inline(always)]
    fn b_rows<T: Acc>(&self, cx: &Cx<'_>, first: usize) -> Vec<T> {
        let n = usize::from(self.shape.n);
        let mut rows = Vec::with_capacity(self.b_lines.len() * n);
        let mask = u32::MAX >> (32 - self.b.bits());
        for line in &self.b_lines {
            let register = &cx.w.v[first + usize::from(line.register)];
            let lanes = usize::from(line.lane)..usize::from(line.lane) + n;
            let mut words = [0; 32];
            let words = &mut words[..n];
            words.iter_mut().zip(&register[lanes]).for_each(|(to, from)| *to = from >> line.low_bit & mask);
            let start = rows.len();
            rows.resize(start + n, T::default());
            T::widen(&self.b, words, &[], &mut rows[start..]);
        }
        rows
    }

    /// The two elements of a group of four: value and place of the k that it is for in the group.
    #[inline(always)]
    fn pair<T: Acc>(&self, cx: &Cx<'_>, a: usize, index: usize, group: &Group) -> [(T, usize); 2] {
        let word = cx.w.v[a + usize::from(group.register)][usize::from(group.lane)] >> group.low_bit;
        let set = group.index_low_bit + self.index_shift;
        let positions = cx.w.v[index][usize::from(group.index_lane)] >> set;
        let bits = self.a.bits();
        let mask = u32::MAX >> (32 - bits);
        let mut values = [T::default(); 2];
        T::widen(&self.a, &[word & mask, word >> bits & mask], &[], &mut values);
        [0, 1].map(|i| (values[i], (positions >> (2 * i) & 3) as usize))
    }
}

/// Where the two elements of four k of a row of A are, and the indices that say which two.
struct Group {
    register: u8,
    lane: u8,
    low_bit: u8,
    index_lane: u8,
    index_low_bit: u8,
}

/// The groups of all rows, row after row.
fn groups(shape: &Shape) -> Option<Vec<Group>> {
    let all = (0..shape.m).flat_map(|row| (0..shape.k / 4).map(move |group| (row, 4 * group)));
    all.map(|(row, k)| {
        let (a, index) = (shape.place(Matrix::A, 0, row, k)?, shape.place(Matrix::Index, 0, row, k)?);
        let (index_lane, index_low_bit) = (index.lane, index.low_bit);
        Some(Group { register: a.register, lane: a.lane, low_bit: a.low_bit, index_lane, index_low_bit })
    })
    .collect()
}

/// One execution, with accumulators of type `T`.
struct Execution<'e, 'c, T> {
    sparse: &'e Sparse,
    cx: &'e mut Cx<'c>,
    s: &'e Step,
    accumulator: PhantomData<T>,
}

impl<T: Acc> Work for Execution<'_, '_, T> {
    type Out = Outcome;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Outcome {
        let Execution { sparse, cx, s, .. } = self;
        let slots = [s.src[0], s.src[1], s.src[2]].map(|src| match src {
            Src::Vector(slot) => Ok(slot as usize),
            _ => Err(Fault::Unsupported("a sparse matrix operand outside the vector registers")),
        });
        let [a, b, index] = slots;
        let (a, b, index) = (a?, b?, index?);
        let (n, groups) = (usize::from(sparse.shape.n), usize::from(sparse.shape.k) / 4);
        let b_rows = sparse.b_rows::<T>(cx, b);
        let mut results = Vec::with_capacity(sparse.d_lines.len() * n);
        for (row, line) in sparse.d_lines.iter().enumerate() {
            let old = &cx.w.v[s.vdst as usize + line.register as usize];
            let lanes = usize::from(line.lane)..usize::from(line.lane) + n;
            let mut acc = [T::default(); 32];
            let acc = &mut acc[..n];
            acc.iter_mut().zip(&old[lanes]).for_each(|(acc, old)| *acc = T::from_words(*old, 0));
            for (at, group) in sparse.groups[row * groups..(row + 1) * groups].iter().enumerate() {
                for (value, k) in sparse.pair::<T>(cx, a, index, group) {
                    let b = &b_rows[(4 * at + k) * n..][..n];
                    T::steps::<FUSED>(acc, value, b, sparse.exact_product);
                }
            }
            results.extend_from_slice(acc);
        }
        for (line, acc) in sparse.d_lines.iter().zip(results.chunks_exact(n)) {
            let register = &mut cx.w.v[s.vdst as usize + line.register as usize];
            for (lane, x) in (line.lane as usize..).zip(acc) {
                register[lane] = x.finished(sparse.flush_result).into_words().0;
            }
        }
        Ok(Next::Fall)
    }
}

impl Exec for Sparse {
    fn run(&self, cx: &mut Cx<'_>, s: &Step) -> Outcome {
        match self.shape.acc {
            ElemType::I32 => host::run(Execution { sparse: self, cx, s, accumulator: PhantomData::<i32> }),
            _ => host::run(Execution { sparse: self, cx, s, accumulator: PhantomData::<f32> }),
        }
    }
}
