//! One kernel for each kind of multiplication, generic over the fragments, and the code that runs it.

use std::marker::PhantomData;

use gcn_dsl::__private::{Arguments, Call, Everyone, Packer, Signature, WholeWorkgroup, load};
use gcn_dsl::Kernel;
use gcn_dsl::lang::matrix::{
    AccElement, Accumulates, AccumulatesScaled, AccumulatesSparse, AnyTarget, ExistsOn, MxA, MxB, MxFormat,
    Scales, SparseA, SparseIndex,
};
use gcn_dsl::launch::DevicePacker;
use gcn_dsl::prelude::*;
use gcn_isa::layout::{self, Matrix, Shape};
use gcn_isa::table::InstDesc;
use gcn_test_support::Random;

use super::TARGETS;
use super::formats::Stored;

/// What the macro expands a call by all lanes to.
fn by_all<C, X: ExistsOn<AnyTarget>>(called: Everyone<C, X>) -> C {
    Call(called).in_a_kernel::<_, AnyTarget, AnyTarget>(&WholeWorkgroup::new())
}

/// An instruction on a target.
pub struct Case {
    target: Target,
    desc: &'static InstDesc,
    shape: Shape,
}

impl Case {
    /// The instruction, on each target that has it.
    pub fn all<A: Stored, B: Stored, C: Stored>(size: [u16; 4], sparse: bool, scaled: bool) -> Vec<Case> {
        let mut cases = Vec::new();
        for &(target, desc, shape) in layout::instructions() {
            let [m, n, k, blocks] = size;
            let mx = shape.formats_chosen;
            let formats = mx || (shape.a, shape.b, shape.acc) == (A::FORMAT, B::FORMAT, C::FORMAT);
            let same = (shape.m, shape.n, shape.k, u16::from(shape.blocks)) == (m, n, k, blocks)
                && mx == (k * m > 1024 && !sparse)
                && (shape.sparse, shape.scaled) == (sparse, scaled);
            if TARGETS.contains(&target) && formats && same {
                cases.push(Case { target, desc, shape: *shape });
            }
        }
        assert!(!cases.is_empty(), "{size:?}");
        cases
    }

    pub fn key(&self) -> (&'static str, String) {
        (self.target.name(), self.desc.printed.to_owned())
    }

    fn size(&self) -> [usize; 4] {
        [self.shape.m.into(), self.shape.n.into(), self.shape.k.into(), self.shape.blocks.into()]
    }
}

/// A grid of one wave.
const ONE: Grid = Grid::x(1);

/// Small numbers.
fn numbers(rng: &mut Random, n: usize) -> Vec<i32> {
    (0..n).map(|_| rng.below(9) as i32 - 4).collect()
}

/// C + A * B for each block; all are stored row by row.
fn product([m, n, k, blocks]: [usize; 4], a: &[i32], b: &[i32], c: &[i32]) -> Vec<i32> {
    let mut d = c.to_vec();
    for block in 0..blocks {
        let (a, b) = (&a[block * m * k..], &b[block * k * n..]);
        for (i, d) in d[block * m * n..][..m * n].iter_mut().enumerate() {
            let (row, col) = (i / n, i % n);
            *d += (0..k).map(|l| a[row * k + l] * b[l * n + col]).sum::<i32>();
        }
    }
    d
}

/// Each block, transposed.
fn transposed(rows: usize, cols: usize, xs: &[i32]) -> Vec<i32> {
    let block =
        |block: &[i32]| (0..rows * cols).map(|i| block[i % rows * cols + i / rows]).collect::<Vec<_>>();
    xs.chunks(rows * cols).flat_map(block).collect()
}

fn check<C: Stored<Memory = C> + AccElement>(case: &Case, got: &[C], want: &[i32]) {
    let want = C::matrix(want.iter().copied(), case.target);
    let first = got.iter().zip(&want).position(|(a, b)| a != b);
    assert_eq!(
        first.map(|i| (i, got[i], want[i])),
        None,
        "{} on {}: element, got, want",
        case.desc.printed,
        case.target
    );
}

macro_rules! kernel {
    ($(#[$doc:meta])* $name:ident<$($t:ident: $bound:path),+; $($dim:ident),+> { $($field:ident: $ty:ty),* } args($($arg:ty => $kind:ident $elem:ty),+)
     where [$($where:tt)*] |$self_:ident, $($value:ident),+| $body:block) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default)]
        pub struct $name<$($t,)+ $(const $dim: usize),+> { types: PhantomData<($($t,)+)>, $($field: $ty),* }

        impl<$($t: $bound,)+ $(const $dim: usize),+> Kernel for $name<$($t,)+ $($dim),+> where $($where)* {
            type Args<'a> = ($($arg,)+);
            type DeviceArgs<'a> = ();
            fn signature(&self) -> Signature {
                Signature::new(stringify!($name), &[], [64, 1, 1])$(.$kind::<$elem>(stringify!($value)))+
            }
            fn trace(&$self_, arguments: &mut Arguments) {
                $(let $value = arguments.$kind::<$elem>();)+
                $body
            }
            fn pack<'b, 'a: 'b>(args: &'b mut Self::Args<'a>, packer: &mut Packer<'b>) {
                let ($($value,)+) = args;
                $(packer.$kind::<$elem>($value);)+
            }
            fn pack_device<'b, 'a: 'b>((): &'b mut Self::DeviceArgs<'a>, _: &mut DevicePacker<'b>) {}
        }
    };
}

kernel! {
    /// d += a * b. If `wide`, a is stored row by row and b column by column, otherwise the reverse.
    Dense<A: Stored, B: Stored, C: AccElement; M, N, K, BLOCKS> { wide: bool }
    args(&'a [A::Memory] => slice A::Memory, &'a [B::Memory] => slice B::Memory, &'a mut [C] => slice_mut C)
    where [Acc<C, M, N, BLOCKS>: Accumulates<FragA<A, M, K, BLOCKS>, FragB<B, K, N, BLOCKS>>]
    |self, a, b, d| {
        let (m, n, k) = (M as u32, N as u32, K as u32);
        let (a, b, d) = if self.wide {
            (row_major(a, k), col_major(b, k), row_major(d, n))
        } else {
            (col_major(a, m), row_major(b, n), col_major(d, m))
        };
        let (a, b, d) = (a.blocks(m * k), b.blocks(k * n), d.blocks(m * n));
        let left = FragA::<A, M, K, BLOCKS>::load_from(a, 0, 0);
        let right = FragB::<B, K, N, BLOCKS>::load_from(b, 0, 0);
        let acc = Acc::<C, M, N, BLOCKS>::load_from(d, 0, 0);
        by_all(mfma(left, right, acc)).store_to(d, 0, 0);
    }
}

impl<A, B, C, const M: usize, const N: usize, const K: usize, const BLOCKS: usize>
    Dense<A, B, C, M, N, K, BLOCKS>
{
    pub fn new(wide: bool) -> Self {
        Dense { types: PhantomData, wide }
    }
}

pub fn run_dense<A, B, C, const M: usize, const N: usize, const K: usize, const BLOCKS: usize>(
    kernel: &Dense<A, B, C, M, N, K, BLOCKS>,
    case: &Case,
) where
    A: Stored,
    B: Stored,
    C: AccElement + Stored<Memory = C>,
    Acc<C, M, N, BLOCKS>: Accumulates<FragA<A, M, K, BLOCKS>, FragB<B, K, N, BLOCKS>>,
{
    let mut rng = Random::new(1);
    let size @ [m, n, k, blocks] = case.size();
    let (a, b, c) = (
        numbers(&mut rng, blocks * m * k),
        numbers(&mut rng, blocks * k * n),
        numbers(&mut rng, blocks * m * n),
    );
    let want = product(size, &a, &b, &c);
    let turned =
        |turn: bool, rows, cols, xs: &[i32]| if turn { transposed(rows, cols, xs) } else { xs.to_vec() };
    let a = A::matrix(turned(!kernel.wide, m, k, &a), case.target);
    let b = B::matrix(turned(kernel.wide, k, n, &b), case.target);
    let mut d = C::matrix(turned(!kernel.wide, m, n, &c), case.target);
    run(kernel, case, (&a, &b, &mut d));
    check(case, &d, &turned(!kernel.wide, m, n, &want));
}

/// Builds and runs the kernel, and checks that it contains the expected instruction.
fn run<K: Kernel>(kernel: &K, case: &Case, args: K::Args<'_>) {
    let built = kernel.build(case.target).unwrap_or_else(|e| panic!("{}: {e}", case.desc.printed));
    let text = built.assembly(Comments::None);
    assert!(text.contains(case.desc.printed), "{} on {}: {text}", case.desc.printed, case.target);
    Device::simulator(case.target).launch(kernel, &built, ONE, args).unwrap();
}

kernel! {
    /// d += a * b, where a is compressed.
    Sparse<A: Stored, B: Stored, C: AccElement; M, N, K> {}
    args(&'a [A::Memory] => slice A::Memory, &'a [B::Memory] => slice B::Memory, &'a [u32] => slice u32, &'a mut [C] => slice_mut C)
    where [Acc<C, M, N>: AccumulatesSparse<SparseA<A, M, K>, FragB<B, K, N>>]
    |self, a, b, index, d| {
        let at = SparseA::<A, M, K>::row() * (K as u32 / 2) + SparseA::<A, M, K>::k() / 2u32;
        let left = SparseA::<A, M, K>::load(&a, at);
        let right = FragB::<B, K, N>::load_from(col_major(b, K as u32), 0, 0);
        let d = row_major(d, N as u32);
        let acc = Acc::<C, M, N>::load_from(d, 0, 0);
        let index = load(&index, lane_id());
        // Every set of indices in the register is used once, so the test detects if one is confused with another.
        let sets = 32 / (M * K / 64);
        let mut sum = acc;
        for set in 0..sets {
            sum = by_all(smfmac(left, SparseIndex::new(index).set(set as u8), right, sum));
        }
        sum.store_to(d, 0, 0);
    }
}

pub fn run_sparse<A, B, C, const M: usize, const N: usize, const K: usize>(
    kernel: &Sparse<A, B, C, M, N, K>,
    case: &Case,
) where
    A: Stored,
    B: Stored,
    C: AccElement + Stored<Memory = C>,
    Acc<C, M, N>: AccumulatesSparse<SparseA<A, M, K>, FragB<B, K, N>>,
{
    let mut rng = Random::new(2);
    let size @ [m, n, k, _] = case.size();
    let (compressed, b, c) =
        (numbers(&mut rng, m * k / 2), numbers(&mut rng, k * n), numbers(&mut rng, m * n));
    let mut index = vec![0u32; 64];
    let mut want = c.clone();
    for set in 0..32 / (m * k / 64) {
        let mut a = vec![0; m * k];
        for group in 0..m * k / 4 {
            let first = rng.below(3);
            let second = first + 1 + rng.below(3 - first);
            a[group * 4 + first] = compressed[group * 2];
            a[group * 4 + second] = compressed[group * 2 + 1];
            let (row, col) = (group * 4 / k, group * 4 % k);
            let place = case.shape.place(Matrix::Index, 0, row as u16, col as u16).unwrap();
            let low = u32::from(place.low_bit) + (set * (m * k / 64)) as u32;
            index[usize::from(place.lane)] |= ((first | second << 2) as u32) << low;
        }
        want = product(size, &a, &b, &want);
    }
    let a = A::matrix(compressed, case.target);
    let b = B::matrix(transposed(k, n, &b), case.target);
    let mut d = C::matrix(c, case.target);
    run(kernel, case, (&a, &b, &index, &mut d));
    check(case, &d, &want);
}

kernel! {
    /// d += a * b, in MX formats.
    Mx<A: MxStored, B: MxStored; M, N, K> {}
    args(&'a [u8] => slice u8, &'a [u8] => slice u8, &'a mut [f32] => slice_mut f32)
    where [Acc<f32, M, N>: Accumulates<MxA<A, M, K>, MxB<B, K, N>>]
    |self, a, b, d| {
        let left = MxA::<A, M, K>::load_from(row_major(a, K as u32), 0, 0);
        let right = MxB::<B, K, N>::load_from(col_major(b, K as u32), 0, 0);
        let d = row_major(d, N as u32);
        let acc = Acc::<f32, M, N>::load_from(d, 0, 0);
        by_all(mfma(left, right, acc)).store_to(d, 0, 0);
    }
}

/// MX formats that a test can write.
pub trait MxStored: Stored<Memory = u8> + MxFormat {}
impl<T: Stored<Memory = u8> + MxFormat> MxStored for T {}

pub fn run_mx<A: MxStored, B: MxStored, const M: usize, const N: usize, const K: usize>(
    kernel: &Mx<A, B, M, N, K>,
    case: &Case,
) where
    Acc<f32, M, N>: Accumulates<MxA<A, M, K>, MxB<B, K, N>>,
{
    let mut rng = Random::new(3);
    let size @ [m, n, k, _] = case.size();
    let (a, b, c) = (numbers(&mut rng, m * k), numbers(&mut rng, k * n), numbers(&mut rng, m * n));
    let want = product(size, &a, &b, &c);
    let (left, right) = (A::matrix(a, case.target), B::matrix(transposed(k, n, &b), case.target));
    let mut d = f32::matrix(c, case.target);
    run(kernel, case, (&left, &right, &mut d));
    check(case, &d, &want);
}

kernel! {
    /// d += a * b with scales: a byte for each row (column) and 32 k, stored row by row. A and B use different bytes of
    /// the register.
    Scaled<A: MxStored, B: MxStored; M, N, K> {}
    args(&'a [u8] => slice u8, &'a [u8] => slice u8, &'a [u8] => slice u8, &'a [u8] => slice u8, &'a mut [f32] => slice_mut f32)
    where [Acc<f32, M, N>: AccumulatesScaled<MxA<A, M, K>, MxB<B, K, N>>]
    |self, a, b, scales_a, scales_b, d| {
        let left = MxA::<A, M, K>::load_from(row_major(a, K as u32), 0, 0);
        let right = MxB::<B, K, N>::load_from(col_major(b, K as u32), 0, 0);
        let at_a = MxA::<A, M, K>::scale_row() * (K as u32 / 32) + MxA::<A, M, K>::scale_block();
        let at_b = MxB::<B, K, N>::scale_col() * (K as u32 / 32) + MxB::<B, K, N>::scale_block();
        let as_u32 = |x: V<u8>| gcn_dsl::lang::cast::<u32, _>(x);
        let (of_a, of_b) = (as_u32(load(&scales_a, at_a)), as_u32(load(&scales_b, at_b)));
        let d = row_major(d, N as u32);
        let acc = Acc::<f32, M, N>::load_from(d, 0, 0);
        let scales = (Scales::new(of_a << 16u32).byte(2), Scales::new(of_b << 8u32).byte(1));
        by_all(mfma_scale(left, scales.0, right, scales.1, acc)).store_to(d, 0, 0);
    }
}

pub fn run_scaled<A: MxStored, B: MxStored, const M: usize, const N: usize, const K: usize>(
    kernel: &Scaled<A, B, M, N, K>,
    case: &Case,
) where
    Acc<f32, M, N>: AccumulatesScaled<MxA<A, M, K>, MxB<B, K, N>>,
{
    let mut rng = Random::new(4);
    let size @ [m, n, k, _] = case.size();
    let (a, b, c) = (numbers(&mut rng, m * k), numbers(&mut rng, k * n), numbers(&mut rng, m * n));
    let mut scales =
        |lines: usize| (0..lines * k / 32).map(|_| 127 + rng.below(4) as u8).collect::<Vec<u8>>();
    let (scales_a, scales_b) = (scales(m), scales(n));
    // The exponents are 0 to 3, so that all numbers remain small integers.
    let scaled = |x: i32, scales: &[u8], line: usize, l: usize| x << (scales[line * (k / 32) + l / 32] - 127);
    let left: Vec<i32> = (0..m * k).map(|i| scaled(a[i], &scales_a, i / k, i % k)).collect();
    let right: Vec<i32> = (0..k * n).map(|i| scaled(b[i], &scales_b, i % n, i / n)).collect();
    let want = product(size, &left, &right, &c);
    let (left, right) = (A::matrix(a, case.target), B::matrix(transposed(k, n, &b), case.target));
    let mut d = f32::matrix(c, case.target);
    run(kernel, case, (&left, &right, &scales_a, &scales_b, &mut d));
    check(case, &d, &want);
}
