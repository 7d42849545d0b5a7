//! LDS arrays.

use std::marker::PhantomData;
use std::panic::Location;

use super::memory::{Backing, Elements, indexed};
use super::{Index, IntoDevice, LdsPlane, LdsRow, LdsSlice, LoadAt, PlaceAt, StoreAt, V, Vector, with};
use crate::ir::{LdsId, Memory};
use crate::scalar::Number;

/// An array of `N` elements in the workgroup's LDS, shared by its waves; what it holds at first is undefined.
///
/// Indices are not checked: one out of range reads or writes other LDS data, or nothing; [`get`](Lds::get) checks. Between a store and another wave's load of the same element there must be a `barrier()`.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// Reverses each block of 256 elements.
///     #[workgroup(256)]
///     fn reverse(x: &mut [u32]) {
///         let block = Lds::<u32, 256>::new();
///         let i = local_id().x;
///         block[i] = x[global_id().x];
///         barrier();
///         x[global_id().x] = block[255 - i];
///     }
/// }
/// # reverse.build(Target::GFX90A).unwrap();
/// ```
///
/// Elements may be rows of numbers, `tile[y][x]`:
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// Transposes tiles of 16 x 16. A row has one element more, so that columns are in different banks.
///     #[workgroup(16, 16)]
///     fn transpose(x: &[f32], y: &mut [f32], n: u32) {
///         let tile = Lds::<[f32; 17], 16>::new();
///         let (i, j) = (local_id().x, local_id().y);
///         tile[j][i] = x[global_id().y * n + global_id().x];
///         barrier();
///         y[(workgroup_id().x * 16 + j) * n + workgroup_id().y * 16 + i] = tile[i][j];
///     }
/// }
/// let x: Vec<f32> = (0..32 * 32).map(|i| i as f32).collect();
/// let mut y = vec![0.0; 32 * 32];
/// transpose.launch(&Device::simulator(Target::GFX90A), Grid::xy(2, 2), (&x, &mut y, 32))?;
/// assert!((0..32 * 32).all(|i| y[i] == x[i % 32 * 32 + i / 32]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// or planes of rows, `t[z][y][x]` of an `Lds::<[[f32; 64]; 4], 2>`: two planes of four rows.
#[derive(Debug)]
pub struct Lds<T, const N: usize> {
    id: LdsId,
    element: PhantomData<T>,
}

impl<T, const N: usize> Clone for Lds<T, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const N: usize> Copy for Lds<T, N> {}

/// What an [`Lds`] array consists of: numbers, rows of numbers, or planes of rows.
#[diagnostic::on_unimplemented(
    message = "LDS holds numbers, rows of numbers and planes of rows, not values of type `{Self}`",
    label = "no element of LDS",
    note = "keep the parts of a struct in arrays of their own, `Lds::<f32, N>::new()` for each; an enum without fields is a number with `#[device] #[repr(u32)]`; of four dimensions compute two as one index"
)]
pub trait LdsElement {
    /// Numbers in one element.
    const LEN: usize;
    /// Bytes of a number.
    const BYTES: u32;
}

impl<T: Number> LdsElement for T {
    const LEN: usize = 1;
    const BYTES: u32 = T::ELEM.bytes();
}

impl<T: Number, const M: usize> LdsElement for [T; M] {
    const LEN: usize = M;
    const BYTES: u32 = T::ELEM.bytes();
}

impl<T: Number, const M: usize, const L: usize> LdsElement for [[T; M]; L] {
    const LEN: usize = M * L;
    const BYTES: u32 = T::ELEM.bytes();
}

impl<T: Number, const M: usize, const N: usize, I: Index> LoadAt<I> for Lds<[T; M], N> {
    type Output = LdsRow<T>;
    #[track_caller]
    fn load_at(&self, i: I) -> LdsRow<T> {
        LdsRow::of(self.id, i.index(), [N, M], M as u32, None, Location::caller())
    }
}

/// A whole row.
impl<T: Number, const M: usize, const N: usize, I: Index> StoreAt<I> for Lds<[T; M], N> {
    type Element = [V<T>; M];
    #[track_caller]
    fn store_at(&self, i: I, row: [V<T>; M]) {
        let place = self.load_at(i);
        for (k, element) in row.into_iter().enumerate() {
            place.store_at(k as u32, element);
        }
    }
}

impl<T: Number, const M: usize, const L: usize, const N: usize, I: Index> LoadAt<I> for Lds<[[T; M]; L], N> {
    type Output = LdsPlane<T, M, L>;
    #[track_caller]
    fn load_at(&self, i: I) -> LdsPlane<T, M, L> {
        LdsPlane::of(self.id, i.index(), N, Location::caller())
    }
}

/// A row or a plane is its own place.
impl<T, const N: usize, I: Index> PlaceAt<I> for Lds<T, N>
where
    Self: LoadAt<I>,
{
    type Place = <Self as LoadAt<I>>::Output;
    #[track_caller]
    fn place_at(&self, i: I) -> Self::Place {
        self.load_at(i)
    }
}

impl<T, const N: usize> Lds<T, N> {
    pub(super) fn id(&self) -> LdsId {
        self.id
    }

    pub(super) fn of_id(id: LdsId) -> Self {
        Lds { id, element: PhantomData }
    }

    /// Declares an array. Arrays are laid out in order of declaration, each on a multiple of 16 bytes.
    #[allow(clippy::new_without_default, reason = "it allocates: every call is another array")]
    pub fn new() -> Self
    where
        T: LdsElement,
    {
        Lds { id: with(|c| c.builder.lds(N * T::LEN, T::BYTES)), element: PhantomData }
    }
}

impl<T: Number, const N: usize> Lds<T, N> {
    /// Number of elements.
    pub const fn len(&self) -> u32 {
        N as u32
    }

    /// True for an array of no elements.
    pub const fn is_empty(&self) -> bool {
        N == 0
    }

    /// Element `i`, or 0 if there is none.
    #[track_caller]
    pub fn get(&self, i: impl Index) -> V<T> {
        self.as_slice().get(i)
    }

    /// The array as a slice.
    pub fn as_slice(&self) -> LdsSlice<T> {
        LdsSlice::whole(self.id, self.len())
    }

    /// `len` elements from element `start` on. The bounds are not checked.
    #[track_caller]
    pub fn slice(
        &self,
        start: impl IntoDevice<super::S<u32>>,
        len: impl IntoDevice<super::S<u32>>,
    ) -> LdsSlice<T> {
        self.as_slice().slice(start, len)
    }

    /// The same bytes as elements of another type.
    #[track_caller]
    pub fn cast<U: Number>(&self) -> LdsSlice<U> {
        self.as_slice().cast()
    }

    /// Byte address of the array in the workgroup's LDS, for [`isa`](crate::isa) functions. An instruction that takes it
    /// reads and writes the same memory as `a[i]`.
    pub fn address(&self) -> u32 {
        with(|c| c.builder.kernel().lds.get(self.id.0 as usize).map_or(0, |lds| lds.offset))
    }

    /// Loads `K` consecutive elements from index `i` on with one instruction of up to 16 bytes. The address must be a
    /// multiple of the bytes loaded.
    #[track_caller]
    pub fn load_vector<const K: usize>(&self, i: impl Index) -> Vector<T, K> {
        Vector::load(self, i)
    }

    /// Stores `K` consecutive elements from index `i` on with one instruction of up to 16 bytes. The address must be a
    /// multiple of the bytes stored.
    #[track_caller]
    pub fn store_vector<const K: usize>(&self, i: impl Index, v: Vector<T, K>) {
        v.store(self, i);
    }
}

impl<T, const N: usize> Backing<T> for Lds<T, N> {
    fn memory(&self) -> Memory {
        Memory::Lds(self.id)
    }
    fn known_len(&self) -> Option<usize> {
        Some(N)
    }
}
impl<T, const N: usize> Elements<T> for Lds<T, N> {}

indexed!([const N: usize,] Lds<T, N>);
