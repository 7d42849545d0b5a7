//! LDS arrays of constant length.

use std::marker::PhantomData;
use std::panic::Location;

use super::bounds::check;
use super::layout::{Bytes, HoldsParts, Stored};
use super::slice::{Backing, Elements};
use crate::ir::{LdsId, Memory};
use crate::lang::memory::layout;
use crate::lang::values::constant::refuse_outside;
use crate::lang::values::value::AsIs;
use crate::lang::{
    Index, IntoDevice, LdsPlane, LdsRow, LdsSlice, LoadAt, PlaceAt, StoreAt, V, Vector, Writable, with,
};
use crate::scalar::Number;

/// An array of `N` elements in the workgroup's LDS, shared by its waves; the initial contents are undefined.
///
/// Indices are not checked: an index that is out of range reads or writes other LDS data, or has no effect.
/// [`get`](Lds::get) checks its index. A `barrier()` is needed between a store and another wave's load of the same
/// element.
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
/// Elements may be planes of rows, `t[z][y][x]`: an `Lds::<[[f32; 64]; 4], 2>` has two planes of four rows. Elements
/// may also be structs that can be stored in memory:
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     #[device]
///     #[repr(C)]
///     pub struct Body {
///         at: [f32; 3],
///         mass: f32,
///     }
///
///     /// The mass within `r` of each body, of those of its block.
///     #[workgroup(64)]
///     fn near(bodies: &[Body], r: f32, y: &mut [f32]) {
///         let block = Lds::<Body, 64>::new();
///         let me = bodies[global_id().x];
///         block[local_id().x] = me;
///         barrier();
///         let mut mass = 0.0;
///         for k in 0..64u32 {
///             let other = block[k];
///             let d = [other.at[0] - me.at[0], other.at[1] - me.at[1], other.at[2] - me.at[2]];
///             mass += if d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= r * r { other.mass } else { 0.0 };
///         }
///         y[global_id().x] = mass;
///     }
/// }
/// let bodies: Vec<Body> = (0..64).map(|i| Body { at: [i as f32, 0.0, 0.0], mass: 2.0 }).collect();
/// let mut y = vec![0.0; 64];
/// near.launch(&Device::simulator(Target::GFX90A), Grid::x(1), (&bodies, 1.5, &mut y))?;
/// assert_eq!((y[0], y[9]), (4.0, 6.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

/// Element types of an [`Lds`] array: numbers, `bool`, rows of numbers, planes of rows, and `#[device] #[repr(C)]
/// struct`s.
#[diagnostic::on_unimplemented(
    message = "LDS holds numbers, rows of numbers, planes of rows and structs of memory, not values of type `{Self}`",
    label = "no element of LDS",
    note = "a struct is declared in `gcn_kernel!` with `#[device] #[repr(C)]`, an enum without fields with `#[device] #[repr(u32)]`; of four dimensions compute two as one index, and of two dimensions of structs one: `Lds::<Item, {{ 5 * 13 }}>::new()` at the flat index `i * 13 + k`"
)]
pub trait LdsElement: Stored {
    /// The type of `a[i]`: a varying value, or a row or plane that can be indexed further.
    type Indexed;
    /// The element at `from`.
    fn indexed(from: LdsPlace) -> Self::Indexed;
}

/// The address of an element of an LDS array.
#[derive(Debug, Clone, Copy)]
pub struct LdsPlace {
    id: LdsId,
    /// The element's index, and the array's length.
    i: V<u32>,
    len: usize,
}

impl LdsPlace {
    /// Loads the element.
    #[track_caller]
    pub fn read<T: Stored>(self) -> T::Value {
        let (from, at) = self.reached::<T>();
        layout::load::<T>(from, at, 0)
    }

    /// The array, and the byte offset of the element in it.
    #[track_caller]
    fn reached<T: Stored>(self) -> (Bytes, V<u32>) {
        refuse_outside(self.i, 1, self.len, Location::caller());
        check(self.i, self.len as u32, "an LDS array");
        (Bytes::of(Memory::Lds(self.id)), self.i * T::BYTES)
    }
}

impl<T: Number> LdsElement for T {
    type Indexed = V<T>;
    #[track_caller]
    fn indexed(from: LdsPlace) -> V<T> {
        from.read::<T>()
    }
}

impl LdsElement for bool {
    type Indexed = V<bool>;
    #[track_caller]
    fn indexed(from: LdsPlace) -> V<bool> {
        from.read::<bool>()
    }
}

impl<T: Number, const M: usize> LdsElement for [T; M] {
    type Indexed = LdsRow<T>;
    #[track_caller]
    fn indexed(from: LdsPlace) -> LdsRow<T> {
        LdsRow::of(from.id, from.i, [from.len, M], M as u32, None, Location::caller())
    }
}

impl<T: Number, const M: usize, const L: usize> LdsElement for [[T; M]; L] {
    type Indexed = LdsPlane<T, M, L>;
    #[track_caller]
    fn indexed(from: LdsPlace) -> LdsPlane<T, M, L> {
        LdsPlane::of(from.id, from.i, from.len, Location::caller())
    }
}

impl<T: LdsElement, const N: usize, I: Index> LoadAt<I> for Lds<T, N> {
    type Output = T::Indexed;
    #[track_caller]
    fn load_at(&self, i: I) -> Self::Output {
        T::indexed(self.place(i))
    }
}

impl<T: LdsElement, const N: usize, I: Index> StoreAt<I> for Lds<T, N> {
    type Element = T::Value;
    #[track_caller]
    fn store_at(&self, i: I, value: T::Value) {
        let (to, at) = self.place(i).reached::<T>();
        layout::store::<T>(to, at, 0, &value);
    }
}

impl<T: Stored, const N: usize> HoldsParts for Lds<T, N> {
    type Element = T;
    type Access = Writable;
    #[track_caller]
    fn element(&self, i: V<u32>) -> (Bytes, V<u32>) {
        self.place(i).reached::<T>()
    }
}

/// For an array with several dimensions, `a[i]` is a row or plane, which refers to LDS and can be assigned through. So the place `a[i]` is
/// the same as the value `a[i]`.
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
    #[track_caller]
    fn place(&self, i: impl Index) -> LdsPlace {
        LdsPlace { id: self.id, i: i.index(), len: N }
    }

    pub(in crate::lang) fn id(&self) -> LdsId {
        self.id
    }

    pub(in crate::lang) fn of_id(id: LdsId) -> Self {
        Lds { id, element: PhantomData }
    }

    /// Declares an array. Arrays are laid out in order of declaration, each aligned to 16 bytes.
    #[allow(clippy::new_without_default, reason = "it allocates: every call is another array")]
    pub fn new() -> Self
    where
        T: LdsElement,
    {
        Lds { id: with(|c| c.builder.lds(N, T::BYTES)), element: PhantomData }
    }

    /// The number of elements.
    pub const fn len(&self) -> u32 {
        N as u32
    }

    /// True for an array of no elements.
    pub const fn is_empty(&self) -> bool {
        N == 0
    }

    /// The byte address of the array in the workgroup's LDS, for [`isa`](crate::isa) functions: an instruction that
    /// accesses this address accesses the same memory as `a[0]`.
    pub fn address(&self) -> u32 {
        with(|c| c.builder.kernel().lds.get(self.id.0 as usize).map_or(0, |lds| lds.offset))
    }
}

impl<T: Stored, const N: usize> Lds<T, N> {
    /// The array as a slice.
    pub fn as_slice(&self) -> LdsSlice<T> {
        LdsSlice::whole(self.id, self.len())
    }

    /// The `len` elements from element `start` on. The bounds are not checked.
    #[track_caller]
    pub fn slice(
        &self,
        start: impl IntoDevice<crate::lang::S<u32>>,
        len: impl IntoDevice<crate::lang::S<u32>>,
    ) -> LdsSlice<T> {
        self.as_slice().slice(start, len)
    }

    /// The same bytes as elements of another type.
    #[track_caller]
    pub fn cast<U: Stored>(&self) -> LdsSlice<U> {
        self.as_slice().cast()
    }
}

impl<T: Number, const N: usize> Lds<T, N> {
    /// Element `i`; 0 if it does not exist.
    #[track_caller]
    pub fn get(&self, i: impl Index) -> V<T> {
        self.as_slice().get(i)
    }

    /// Loads `K` consecutive elements from index `i` on with one instruction of up to 16 bytes. The address must be a
    /// multiple of the number of bytes loaded.
    #[track_caller]
    pub fn load_vector<const K: usize>(&self, i: impl Index) -> Vector<T, K> {
        Vector::load(self, i)
    }

    /// Stores `K` consecutive elements from index `i` on with one instruction of up to 16 bytes. The address must be a
    /// multiple of the number of bytes stored.
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

impl<T, const N: usize> AsIs for Lds<T, N> {}
