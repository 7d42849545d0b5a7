//! Arrays that are parts of elements of memory which nothing writes. They are loaded where they are indexed.

use std::marker::PhantomData;

use half::{bf16, f16};

use super::{Bytes, Leaf, Stored, load};
use crate::lang::memory::bounds::check;
use crate::lang::values::constant::within;
use crate::lang::values::elements::Elements;
use crate::lang::values::literal::Vary;
use crate::lang::values::merge::{Merge, Never};
use crate::lang::values::operand::OfType;
use crate::lang::{Declare, Index, IntoDevice, LoadAt, S, V};
use crate::scalar::{Elem, UnknownVariant, f8e4m3, f8e5m2};

impl<X: Stored, const N: usize> Stored for [X; N] {
    const BYTES: u32 = X::BYTES * N as u32;
    const ELEM: Elem = Elem::U8;
    type Read<I: Index> = Run<X, I, N>;
    type Value = [X::Value; N];
    fn leaves(offset: u32, out: &mut Vec<Leaf>) {
        (0..N as u32).for_each(|k| X::leaves(offset + k * X::BYTES, out));
    }
    fn read<I: Index>(from: Bytes, index: I, scale: u32, offset: u32) -> Run<X, I, N> {
        Run { from, index, scale, offset, element: PhantomData }
    }
    fn append(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|x| x.append(out));
    }
    fn take(bytes: &[u8]) -> Self {
        std::array::from_fn(|k| X::take(&bytes[k * X::BYTES as usize..][..X::BYTES as usize]))
    }
    fn unknown(bytes: &[u8]) -> Option<UnknownVariant> {
        bytes.chunks_exact(X::BYTES as usize).find_map(X::unknown)
    }
}

/// An array inside an element of a slice. Its elements are loaded only where they are indexed, by numbers of the host
/// or values of the device.
#[derive(Debug, Clone, Copy)]
pub struct Run<X, I, const N: usize> {
    from: Bytes,
    index: I,
    scale: u32,
    offset: u32,
    element: PhantomData<X>,
}

impl<X: Stored, I: Index, const N: usize> LoadAt<usize> for Run<X, I, N> {
    type Output = X::Read<I>;
    #[track_caller]
    fn load_at(&self, k: usize) -> X::Read<I> {
        let k = within(k, N, "element", || format!("an array of {N}")) as u32;
        X::read(self.from, self.index, self.scale, self.offset + k * X::BYTES)
    }
}

for_each_type!(K in [S<u32>, V<u32>] {
    impl<X: Stored, I: Index, const N: usize> LoadAt<K> for Run<X, I, N> {
        type Output = X::Read<V<u32>>;
        #[track_caller]
        fn load_at(&self, k: K) -> X::Read<V<u32>> {
            check(k.index(), N as u32, "an array");
            let at = self.index.index() * self.scale + k.index() * X::BYTES;
            X::read(self.from, at, 1, self.offset)
        }
    }
});

#[diagnostic::do_not_recommend]
impl<X: Stored, Y, I: Index, const N: usize> IntoDevice<[Y; N]> for Run<X, I, N>
where
    X::Value: IntoDevice<Y>,
{
    #[track_caller]
    fn into_device(self) -> [Y; N] {
        self.to_array().into_device()
    }
}

#[diagnostic::do_not_recommend]
impl<X: Stored, W, I: Index, const N: usize> OfType<[W; N]> for Run<X, I, N>
where
    X::Read<I>: OfType<W>,
{
    type Value = [<X::Read<I> as OfType<W>>::Value; N];
    #[track_caller]
    fn of_type(self) -> Self::Value {
        let mut out = Vec::with_capacity(N);
        for k in 0..N {
            out.push(self.load_at(k).of_type());
        }
        out.try_into().unwrap_or_else(|_| unreachable!("as many elements as there are"))
    }
}

/// If the slice's index is uniform, each element is uniform.
macro_rules! uniform_runs {
    ($i:ty: $($t:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<const N: usize> IntoDevice<[S<$t>; N]> for Run<$t, $i, N> {
            #[track_caller]
            fn into_device(self) -> [S<$t>; N] {
                let mut out = Vec::with_capacity(N);
                for k in 0..N {
                    out.push(self.load_at(k));
                }
                out.try_into().unwrap_or_else(|_| unreachable!("as many elements as there are"))
            }
        }
    )*};
    ($($i:ty),*) => {$(
        uniform_runs!($i: i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64, f8e4m3, f8e5m2);
    )*};
}
uniform_runs!(u32, S<u32>);

impl<X: Stored, I: Index, const N: usize> Run<X, I, N> {
    /// All elements.
    #[track_caller]
    pub fn to_array(&self) -> [X::Value; N] {
        let at = self.index.index() * self.scale;
        let mut out = Vec::with_capacity(N);
        for k in 0..N as u32 {
            out.push(load::<X>(self.from, at, self.offset + k * X::BYTES));
        }
        out.try_into().unwrap_or_else(|_| unreachable!("as many elements as there are"))
    }
}

impl<X: Stored, I: Index, const N: usize> Run<X, I, N> {
    #[track_caller]
    fn read_each(&self) -> Vec<X::Read<I>> {
        let mut out = Vec::with_capacity(N);
        for k in 0..N {
            out.push(self.load_at(k));
        }
        out
    }

    /// The number of elements.
    pub const fn len(&self) -> usize {
        N
    }

    /// True if it has no elements.
    pub const fn is_empty(&self) -> bool {
        N == 0
    }

    /// An iterator over the elements.
    #[track_caller]
    pub fn iter(&self) -> Elements<X::Read<I>> {
        Elements::of(self.read_each())
    }

    /// Applies `f` to each element.
    #[track_caller]
    pub fn map<Y>(self, f: impl FnMut(X::Read<I>) -> Y) -> [Y; N] {
        let mapped: Vec<Y> = self.read_each().into_iter().map(f).collect();
        mapped.try_into().unwrap_or_else(|_| unreachable!("as many elements as there are"))
    }
}

impl<X: Stored, I: Index, const N: usize> IntoIterator for Run<X, I, N> {
    type Item = X::Read<I>;
    type IntoIter = Elements<X::Read<I>>;
    #[track_caller]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<X: Stored, I: Index, const N: usize> IntoIterator for &Run<X, I, N> {
    type Item = X::Read<I>;
    type IntoIter = Elements<X::Read<I>>;
    #[track_caller]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<X: Stored, I: Index, const N: usize> Vary for Run<X, I, N> {
    type Varying = [X::Value; N];
    #[track_caller]
    fn vary(self) -> [X::Value; N] {
        self.to_array()
    }
}

/// Arrays of memory merge with arrays that come from other branches, and with each other.
impl<How, A: Merge<How, X::Value>, X: Stored, I: Index, const N: usize> Merge<How, Run<X, I, N>> for [A; N] {
    type Output = [A::Output; N];
    #[track_caller]
    fn left(self) -> Self::Output {
        self.map(A::left)
    }
    #[track_caller]
    fn right(b: Run<X, I, N>) -> Self::Output {
        b.to_array().map(A::right)
    }
}

impl<How, X, B: Copy, I: Index, const N: usize> Merge<How, [B; N]> for Run<X, I, N>
where
    X: Stored<Value: Merge<How, B>>,
{
    type Output = [<X::Value as Merge<How, B>>::Output; N];
    #[track_caller]
    fn left(self) -> Self::Output {
        Merge::<How, [B; N]>::left(self.to_array())
    }
    #[track_caller]
    fn right(b: [B; N]) -> Self::Output {
        <[X::Value; N] as Merge<How, [B; N]>>::right(b)
    }
}

impl<How, X, Y: Stored, I: Index, J: Index, const N: usize> Merge<How, Run<Y, J, N>> for Run<X, I, N>
where
    X: Stored<Value: Merge<How, Y::Value>>,
{
    type Output = [<X::Value as Merge<How, Y::Value>>::Output; N];
    #[track_caller]
    fn left(self) -> Self::Output {
        Merge::<How, [Y::Value; N]>::left(self.to_array())
    }
    #[track_caller]
    fn right(b: Run<Y, J, N>) -> Self::Output {
        <[X::Value; N] as Merge<How, [Y::Value; N]>>::right(b.to_array())
    }
}

impl<How, X: Stored<Value: Merge<How, X::Value>>, I: Index, const N: usize> Merge<How, Never>
    for Run<X, I, N>
{
    type Output = [<X::Value as Merge<How, X::Value>>::Output; N];
    const RIGHT_LEAVES: bool = true;
    #[track_caller]
    fn left(self) -> Self::Output {
        Merge::<How, [X::Value; N]>::left(self.to_array())
    }
    fn right(_: Never) -> Self::Output {
        unreachable!("the branch has no value")
    }
}

impl<X: Stored, I: Index, const N: usize> Declare for Run<X, I, N> {
    type Value = [X::Value; N];
    #[track_caller]
    fn declare(self) -> [X::Value; N] {
        self.to_array()
    }
}
