//! Slices and raw pointers.

use std::marker::PhantomData;
use std::panic::Location;

use gcn_isa::Target;
use gcn_isa::target::Generation;

use super::bounds::check;
use super::layout::{Bytes, Stored, read_uniform, read_varying};
use crate::ir::{Bin, Inst, Manner, Memory, Place, Type, Value};
use crate::lang::numbers::constant::{refuse_outside, within};
use crate::lang::{IntoDevice, LanePtr, S, V, Vector, with};
use crate::scalar::{Elem, Number, Scalar};

/// Marks memory that a kernel may only read (`&[T]`, `*const T`).
#[derive(Debug, Clone, Copy)]
pub struct ReadOnly;
/// Marks memory that a kernel may write (`&mut [T]`, `*mut T`).
#[derive(Debug, Clone, Copy)]
pub struct Writable;

/// A slice argument: `&[T]` is `Slice<T, ReadOnly>`, `&mut [T]` is `Slice<T, Writable>`.
///
/// Accesses go through a buffer resource with the slice's length, so the hardware checks bounds: a load past the end gives
/// 0, a store past the end does nothing. The check is on the 32-bit byte offset: an index of `2^32 / size_of::<T>()` or
/// more wraps around before it.
#[derive(Debug)]
pub struct Slice<T, A> {
    pub(crate) resource: Value,
    /// The address, and the bytes between it and the first element.
    pub(in crate::lang) pointer: Value,
    pub(in crate::lang) start: Option<Value>,
    pub(in crate::lang) len: Value,
    /// Nothing writes the elements while the kernel runs.
    pub(in crate::lang) constant: bool,
    pub(in crate::lang) types: PhantomData<(T, A)>,
}

/// A raw pointer argument, `*const T` or `*mut T`: indexed like a slice, without bounds checks, by unsigned 32-bit byte
/// offset from the (uniform) pointer.
#[derive(Debug)]
pub struct Ptr<T, A> {
    pub(crate) pointer: Value,
    types: PhantomData<(T, A)>,
}

impl<T, A> Clone for Slice<T, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, A> Copy for Slice<T, A> {}
impl<T, A> Clone for Ptr<T, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, A> Copy for Ptr<T, A> {}

/// Word 3 of a raw buffer resource: a format that is valid, no swizzle, no TID. On RDNA also that an access is outside from NUM_RECORDS
/// on, counted in bytes (OOB_SELECT, bits 29:28, is 3), and bit 24, which RDNA 1 and 2 want set. RDNA's words are those of Composable
/// Kernel (`CK_BUFFER_RESOURCE_3RD_DWORD`).
pub(in crate::lang) fn raw_buffer_word3(target: Target) -> u32 {
    match target.generation() {
        Generation::GFX9 => 0x0002_7000,
        Generation::GFX10 => 0x3101_4000,
        _ => 0x3100_4000,
    }
}

impl<T: Stored, A> Slice<T, A> {
    /// From the kernel argument at `offset`: 64-bit pointer, then length in elements as u32.
    pub(in crate::lang) fn from_kernarg(offset: u32) -> Self {
        with(|c| {
            let dword = Type::uniform(Elem::U32);
            let pointer = c.builder.value(Inst::KernArg { offset }, Type { count: 2, ..dword }, None);
            let len = c.builder.value(Inst::KernArg { offset: offset + 8 }, dword, None);
            let size = c.builder.constant(u64::from(T::BYTES), dword);
            let bytes = c.builder.value(Inst::Bin(Bin::Mul, len, size), dword, None);
            let word3 = c.builder.constant(u64::from(raw_buffer_word3(c.target)), dword);
            let parts = [pointer, bytes, word3].into_iter().collect();
            let resource = c.builder.value(Inst::Concat(parts), Type { count: 4, ..dword }, None);
            Slice { resource, pointer, start: None, len, constant: false, types: PhantomData }
        })
    }

    /// Number of elements.
    pub fn len(&self) -> S<u32> {
        S::from_value(self.len)
    }

    /// True if there are no elements.
    #[track_caller]
    pub fn is_empty(&self) -> S<bool> {
        crate::lang::eq(self.len(), 0)
    }
}

impl<T: Number, A> Slice<T, A> {
    /// The same slice, said to end with a whole dword: its length is a multiple of 4 elements of 8 bits, or of 2 of 16 bits.
    ///
    /// The hardware checks bounds by dwords. `load_vector` and `store_vector` of elements of 8 and 16 bits therefore have some
    /// instructions more, for a last dword that is only partly inside the slice; after this call they have not. Matrix loads and
    /// stores always assume it. [`Device::launch`](crate::Device::launch) refuses a slice of another length. Where the kernel is
    /// launched in another way with such a slice, wide loads give 0 for the elements of that dword, and wide stores do not
    /// write them.
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// gcn_kernel! {
    ///     /// The length is even.
    ///     #[workgroup(64)]
    ///     fn double(x: &mut [f16]) {
    ///         let x = x.assume_whole_dwords();
    ///         let i = global_id().x * 8;
    ///         let v = x.load_vector::<8>(i);
    ///         x.store_vector(i, v + v);
    ///     }
    /// }
    /// let text = double.build(Target::GFX942)?.assembly(Comments::None);
    /// assert!(!text.contains("short"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn assume_whole_dwords(self) -> Self {
        with(|c| c.builder.whole_dwords(self.resource));
        self
    }

    /// Loads `N` consecutive elements from index `i` on with one instruction of up to 16 bytes.
    #[track_caller]
    pub fn load_vector<const N: usize>(&self, i: impl Index) -> Vector<T, N> {
        Vector::load(self, i)
    }
}

impl<T: Stored> Slice<T, ReadOnly> {
    /// From the kernel argument at `offset`. Nothing writes the elements while the kernel runs.
    pub(in crate::lang) fn constant_from_kernarg(offset: u32) -> Self {
        let slice = Self::from_kernarg(offset);
        with(|c| c.builder.read_only(slice.resource));
        Slice { constant: true, ..slice }
    }
}

impl<T: Number> Slice<T, ReadOnly> {
    /// Element `i` as a uniform value: what `x[i]` is for a uniform index. Bounds are checked.
    ///
    /// Elements of 32 and 64 bits of an argument `&[T]` come through a scalar load. One lane loads narrower ones, which need not
    /// lie on a dword, which is all that scalar loads move, and those of a `&mut [T]` that a device function takes as `&[T]`,
    /// as the scalar cache does not see what the kernel has stored.
    #[track_caller]
    pub fn uniform(&self, i: impl IntoDevice<S<u32>>) -> S<T> {
        let i = i.into_device();
        self.check_index(i.into_device());
        read_uniform(self.bytes(), i, T::BYTES, 0)
    }
}

/// A `&mut [T]` for a `&[T]`.
#[diagnostic::do_not_recommend]
impl<T> IntoDevice<Slice<T, ReadOnly>> for Slice<T, Writable> {
    fn into_device(self) -> Slice<T, ReadOnly> {
        let Slice { resource, pointer, start, len, constant, .. } = self;
        Slice { resource, pointer, start, len, constant, types: PhantomData }
    }
}

/// A `*mut T` for a `*const T`.
#[diagnostic::do_not_recommend]
impl<T> IntoDevice<Ptr<T, ReadOnly>> for Ptr<T, Writable> {
    fn into_device(self) -> Ptr<T, ReadOnly> {
        Ptr { pointer: self.pointer, types: PhantomData }
    }
}

impl<T: Number> Slice<T, Writable> {
    /// Stores `N` consecutive elements from index `i` on with one instruction of up to 16 bytes.
    #[track_caller]
    pub fn store_vector<const N: usize>(&self, i: impl Index, v: Vector<T, N>) {
        v.store(self, i);
    }
}

impl<T: Stored, A> Ptr<T, A> {
    pub(in crate::lang) fn from_kernarg(offset: u32) -> Self {
        let ty = Type { count: 2, ..Type::uniform(Elem::U32) };
        Self::from_value(with(|c| c.builder.value(Inst::KernArg { offset }, ty, None)))
    }
}

impl<T, A> Ptr<T, A> {
    /// From two uniform dwords.
    pub(in crate::lang) fn from_value(pointer: Value) -> Self {
        Ptr { pointer, types: PhantomData }
    }
}

/// What may stand in `x[i]` for device memory: `u32`, `S<u32>` or `V<u32>`.
#[diagnostic::on_unimplemented(
    message = "device memory is indexed by `u32`, `S<u32>` or `V<u32>`, not by `{Self}`",
    label = "not a device index",
    note = "convert with `as u32`; of `global_id()` and the like take a dimension: `global_id().x`"
)]
pub trait Index: Copy {
    /// What a pointer advanced by such an index is: a [`Ptr`] if the index is uniform, else a [`LanePtr`].
    type Pointer<T, A>;
    /// `pointer` advanced by so many elements.
    fn advance<T: Stored, A>(self, pointer: Ptr<T, A>) -> Self::Pointer<T, A>;
    /// What an element of memory that nothing writes is at such an index: `S<T>` if the index is uniform, else `V<T>`.
    type Constant<T: Number>;
    /// What an element of such memory that is a `bool` is there.
    type Condition;
    /// That a byte is not 0.
    fn is_set(byte: Self::Constant<u8>) -> Self::Condition;
    /// The index, varying.
    fn index(self) -> V<u32>;
    /// The scalar whose first byte is `scale * self + offset`.
    fn constant<T: Number>(self, from: Bytes, scale: u32, offset: u32) -> Self::Constant<T>;
}

impl Index for V<u32> {
    type Pointer<T, A> = LanePtr<T, A>;
    #[track_caller]
    fn advance<T: Stored, A>(self, pointer: Ptr<T, A>) -> LanePtr<T, A> {
        pointer.for_each_lane().add(self)
    }
    type Constant<T: Number> = V<T>;
    type Condition = V<bool>;
    #[track_caller]
    fn is_set(byte: V<u8>) -> V<bool> {
        crate::lang::ne(byte, 0)
    }
    fn index(self) -> V<u32> {
        self
    }
    #[track_caller]
    fn constant<T: Number>(self, from: Bytes, scale: u32, offset: u32) -> V<T> {
        read_varying(from, self, scale, offset)
    }
}
impl Index for S<u32> {
    type Pointer<T, A> = Ptr<T, A>;
    #[track_caller]
    fn advance<T: Stored, A>(self, pointer: Ptr<T, A>) -> Ptr<T, A> {
        pointer.advanced(self)
    }
    type Constant<T: Number> = S<T>;
    type Condition = S<bool>;
    #[track_caller]
    fn is_set(byte: S<u8>) -> S<bool> {
        crate::lang::ne(byte, 0)
    }
    #[track_caller]
    fn index(self) -> V<u32> {
        self.into_device()
    }
    #[track_caller]
    fn constant<T: Number>(self, from: Bytes, scale: u32, offset: u32) -> S<T> {
        read_uniform(from, self.into_device(), scale, offset)
    }
}
impl Index for u32 {
    type Pointer<T, A> = Ptr<T, A>;
    #[track_caller]
    fn advance<T: Stored, A>(self, pointer: Ptr<T, A>) -> Ptr<T, A> {
        pointer.advanced(self.into_device())
    }
    type Constant<T: Number> = S<T>;
    type Condition = S<bool>;
    #[track_caller]
    fn is_set(byte: S<u8>) -> S<bool> {
        crate::lang::ne(byte, 0)
    }
    fn index(self) -> V<u32> {
        self.into_device()
    }
    #[track_caller]
    fn constant<T: Number>(self, from: Bytes, scale: u32, offset: u32) -> S<T> {
        read_uniform(from, self.into_device(), scale, offset)
    }
}

/// Memory of `T` with a base that the IR knows.
pub(in crate::lang) trait Backing<T> {
    fn memory(&self) -> Memory;
    /// Byte offset of the first element, uniform.
    fn start(&self) -> Option<Value> {
        None
    }
    /// How many elements there are, if that is known.
    fn known_len(&self) -> Option<usize> {
        None
    }
    /// If the build checks indices: that an access to `count` elements from `i` on is inside, as far as the memory has a length.
    #[track_caller]
    fn check(&self, i: V<u32>, count: usize) {
        if let Some(len) = self.known_len() {
            check(i + (count as u32 - 1), len as u32, "an array");
        }
    }
    /// The index from that base of what the user calls element `i`.
    fn rebase(&self, i: V<u32>, _loc: &'static Location<'static>) -> V<u32> {
        i
    }
}

/// Device memory whose elements are `T`.
#[allow(private_bounds, reason = "the IR is not part of the language")]
pub trait Elements<T>: Backing<T> {}

impl<T, A> Backing<T> for Slice<T, A> {
    fn memory(&self) -> Memory {
        Memory::Buffer(self.resource)
    }
    fn start(&self) -> Option<Value> {
        self.start
    }
    /// Of a vector at the end the hardware drops what is outside.
    #[track_caller]
    fn check(&self, i: V<u32>, _count: usize) {
        self.check_index(i);
    }
}
impl<T, A> Elements<T> for Slice<T, A> {}
impl<T, A> Backing<T> for Ptr<T, A> {
    fn memory(&self) -> Memory {
        Memory::Global(self.pointer)
    }
}
impl<T, A> Elements<T> for Ptr<T, A> {}

/// Byte offset of element `i`.
pub(in crate::lang) fn byte_offset<T: Scalar>(
    memory: &impl Backing<T>,
    i: V<u32>,
    loc: &'static Location<'static>,
) -> Value {
    let start = memory.start();
    with(|c| {
        let size = c.v_u32(T::ELEM.bytes());
        let offset = c.value(Inst::Bin(Bin::Mul, i.value, size), V::<u32>::TYPE, loc);
        let Some(start) = start else { return offset };
        let start = c.value(Inst::Splat(start), V::<u32>::TYPE, loc);
        c.value(Inst::Bin(Bin::Add, offset, start), V::<u32>::TYPE, loc)
    })
}

/// Loads `count` consecutive elements.
pub(in crate::lang) fn load_elements<T: Number>(
    from: &impl Backing<T>,
    i: V<u32>,
    count: usize,
    loc: &'static Location<'static>,
) -> Value {
    if let Some(len) = from.known_len() {
        refuse_outside(i, count, len, loc);
    }
    let offset = byte_offset::<T>(from, from.rebase(i, loc), loc);
    let ty = Type { place: Place::Varying, elem: T::ELEM, count: count as u8 };
    with(|c| c.value(Inst::Load { memory: from.memory(), offset, manner: Manner::Plain }, ty, loc))
}

/// Says of a slice that it ends with a whole dword, because matrices move several of its narrow elements at a time. A launch
/// refuses slices of which this is not true.
pub(in crate::lang) fn assume_whole_dwords<T: Number>(memory: Memory, count: usize) {
    if let Memory::Buffer(resource) = memory
        && count > 1
        && T::ELEM.bytes() < 4
    {
        with(|c| c.builder.whole_dwords(resource));
    }
}

/// Stores a value of one or several elements.
pub(in crate::lang) fn store_elements<T: Number>(
    to: &impl Backing<T>,
    i: V<u32>,
    value: Value,
    loc: &'static Location<'static>,
) {
    if let Some(len) = to.known_len() {
        let count = with(|c| c.builder.kernel().ty(value).count);
        refuse_outside(i, count.into(), len, loc);
    }
    let offset = byte_offset::<T>(to, to.rebase(i, loc), loc);
    with(|c| c.effect(Inst::Store { memory: to.memory(), offset, value, manner: Manner::Plain }, loc));
}

/// What `a[i]` reads.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be indexed by `{I}` in a kernel",
    label = "cannot be indexed by `{I}`",
    note = "slices, pointers and LDS arrays take `u32`, `S<u32>` or `V<u32>`; arrays of device values (registers) take a host `usize`"
)]
pub trait LoadAt<I> {
    /// The element.
    type Output;
    /// Reads it.
    fn load_at(&self, i: I) -> Self::Output;
}

/// Where `a[i] = v` may write.
#[diagnostic::on_unimplemented(
    message = "cannot assign to an element of `{Self}`",
    label = "not writable",
    note = "a `&[T]` or `*const T` argument is read-only: declare it as `&mut [T]` or `*mut T`"
)]
pub trait StoreAt<I> {
    /// The element.
    type Element;
    /// Writes it.
    fn store_at(&self, i: I, value: Self::Element);
}

/// The expansion of a read of `a[i]`.
#[track_caller]
#[must_use = "the element is read for nothing"]
pub fn load<A: LoadAt<I, Output = O> + ?Sized, I, O>(a: &A, i: I) -> O {
    a.load_at(i)
}

/// The expansion of `a[i] = v`.
#[track_caller]
pub fn store<A: StoreAt<I> + ?Sized, I, E: IntoDevice<A::Element>>(a: &A, i: I, value: E) {
    a.store_at(i, value.into_device());
}

impl<X: Copy, const N: usize> LoadAt<usize> for [X; N] {
    type Output = X;
    #[track_caller]
    fn load_at(&self, i: usize) -> X {
        element_of(self, i)
    }
}

impl<X: Copy> LoadAt<usize> for [X] {
    type Output = X;
    #[track_caller]
    fn load_at(&self, i: usize) -> X {
        element_of(self, i)
    }
}

impl<X: Copy> LoadAt<usize> for Vec<X> {
    type Output = X;
    #[track_caller]
    fn load_at(&self, i: usize) -> X {
        element_of(self, i)
    }
}

/// Element `i` of values in registers.
///
/// # Panics
/// If there are none: no element can stand for the one that is missing.
#[track_caller]
fn element_of<X: Copy>(values: &[X], i: usize) -> X {
    let i = within(i, values.len(), "element", || format!("an array of {}", values.len()));
    values[i]
}
