//! Sparse matrix instructions: A holds two of every four elements of a row, and an index operand says which two.

use std::marker::PhantomData;

use gcn_isa::Target;
use gcn_isa::inst::Mods;
use gcn_isa::layout::{ElemType, Matrix, Shape};

use super::dense::{Input, load, store};
use super::elements::{Acc, Decoder, Sum, flushes_denormals, product_is_exact};
use super::{Line, Registers, input_lines, result_lines};
use crate::core::exec::{Cx, Exec, Fault, Next, Outcome};
use crate::core::step::{Src, Step};
use crate::core::value::LANES;
use crate::fp::host::{self, Work};

/// Elements of B: of 16x16x128 and 32x32x64.
const B_ELEMENTS: usize = 2048;

/// A sparse instruction with its operand layouts worked out.
pub(super) struct Sparse {
    shape: Shape,
    a: Decoder,
    b: Input,
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
            b: Input {
                decoder: Decoder::new(shape.b, target),
                lines: input_lines(&shape, Matrix::B).ok_or_else(missing)?,
                lanes: None,
            },
            d_lines: result_lines(&shape).ok_or_else(missing)?,
            groups: groups(&shape).ok_or_else(missing)?,
            exact_product: product_is_exact(shape.a) && product_is_exact(shape.b),
            index_shift: (set_bits * set) as u8,
            flush_result: flushes_denormals(shape.a, target),
            shape,
        })
    }

    /// The two elements of a group of four: value and place of the k that it is for in the group.
    #[inline(always)]
    fn pair<T: Sum>(&self, cx: &Cx<'_>, a: usize, index: usize, group: &Group) -> [(T, usize); 2] {
        let word = cx.w.v[a + usize::from(group.register)][usize::from(group.lane)] >> group.low_bit;
        let set = group.index_low_bit + self.index_shift;
        let positions = cx.w.v[index][usize::from(group.index_lane)] >> set;
        let bits = self.a.bits();
        let mask = u32::MAX >> (32 - bits);
        let mut values = [T::default(); 2];
        T::widen(&self.a, &[word & mask, word >> bits & mask], &[], &mut values);
        let k = |i: u32| (positions >> (2 * i) & 3) as usize;
        [(values[0], k(0)), (values[1], k(1))]
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
        match self.sparse.shape.n {
            16 => self.sized::<FUSED, 16>(),
            32 => self.sized::<FUSED, 32>(),
            _ => Err(Fault::Unsupported("a matrix of this size")),
        }
    }
}

impl<T: Acc> Execution<'_, '_, T> {
    /// For matrices of N rows and columns.
    #[inline(always)]
    fn sized<const FUSED: bool, const N: usize>(self) -> Outcome {
        let Execution { sparse, cx, s, .. } = self;
        let slot = |src: &Src| match src {
            Src::Vector(slot) => Ok(usize::from(*slot)),
            _ => Err(Fault::Unsupported("a sparse matrix operand outside the vector registers")),
        };
        let (a, _, index) = (slot(&s.src[0])?, slot(&s.src[1])?, slot(&s.src[2])?);
        let (k, groups) = (usize::from(sparse.shape.k), usize::from(sparse.shape.k) / 4);
        let mut room = [T::Sum::default(); B_ELEMENTS];
        let b = &mut room.as_chunks_mut::<N>().0[..k];
        let b = sparse.b.read(&Registers::of(cx, &s.src[1], false)?, 0..k, b);
        let mut acc: Vec<[T; N]> = load(&Registers::of(cx, &Src::Vector(s.vdst), false)?, &sparse.d_lines);
        for (acc, own) in acc.iter_mut().zip(sparse.groups.chunks_exact(groups)) {
            // It is in registers throughout.
            let mut sum = [T::Sum::default(); N];
            sum.iter_mut().zip(&*acc).for_each(|(sum, acc)| *sum = acc.begin());
            for (four, group) in b.as_chunks::<4>().0.iter().zip(own) {
                for (value, k) in sparse.pair::<T::Sum>(cx, a, index, group) {
                    T::Sum::steps::<FUSED>(&mut sum, value, &four[k & 3], sparse.exact_product);
                }
            }
            acc.iter_mut().zip(sum).for_each(|(acc, sum)| *acc = acc.end(sum));
        }
        store(cx, s, &sparse.d_lines, &acc, sparse.flush_result);
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
