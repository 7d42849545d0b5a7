//! Slices and raw pointers.

use std::marker::PhantomData;
use std::panic::Location;

use gcn_isa::Target;
use gcn_isa::program::SourceLoc;
use gcn_isa::target::Generation;

use super::access::LoadAt;
use super::bounds::check;
use super::layout::{Assignable, Bytes, HoldsParts, Index, Stored, read_uniform};
use crate::ir::{Bin, Inst, Manner, Memory, Place, Type, Value};
use crate::lang::context::Context;
use crate::lang::isa::operand::{Input, UniformSource};
use crate::lang::values::constant::refuse_outside;
use crate::lang::values::value::AsIs;
use crate::lang::{IntoDevice, S, V, Vector, with};
use crate::scalar::{Elem, Number, Scalar};

/// Marks memory that a kernel may only read (`&[T]`, `*const T`).
#[derive(Debug, Clone, Copy)]
pub struct ReadOnly;
/// Marks memory that a kernel may write (`&mut [T]`, `*mut T`).
#[derive(Debug, Clone, Copy)]
pub struct Writable;

impl Assignable for Writable {}

/// A slice argument: `&[T]` is `Slice<T, ReadOnly>`, `&mut [T]` is `Slice<T, Writable>`.
///
/// Accesses use a buffer resource with the slice's length, so the hardware checks bounds: a load past the end returns
/// 0, and a store past the end has no effect. The hardware checks the 32-bit byte offset, so an index of `2^32 /
/// size_of::<T>()` or more wraps around before the check.
#[derive(Debug)]
pub struct Slice<T, A> {
    pub(crate) resource: Value,
    /// The address of the memory.
    pub(in crate::lang) pointer: Value,
    /// The byte offset of the first element relative to `pointer`; `None` if it is 0.
    pub(in crate::lang) start: Option<Value>,
    /// The number of elements.
    pub(in crate::lang) len: Value,
    /// True if nothing writes the elements while the kernel runs.
    pub(in crate::lang) constant: bool,
    pub(in crate::lang) types: PhantomData<(T, A)>,
}

/// A raw pointer argument, `*const T` or `*mut T`. It is indexed like a slice, but without bounds checks; the index
/// gives an unsigned 32-bit byte offset from the uniform pointer.
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

/// Word 3 of a raw buffer resource: a valid format, no swizzle, and no addition of the thread ID. On RDNA, OOB_SELECT
/// (bits 29:28) is 3, so that accesses at byte offset NUM_RECORDS or more are out of bounds, and bit 24 is set, which
/// RDNA 1 and 2 require. The words for RDNA are those of Composable Kernel (`CK_BUFFER_RESOURCE_3RD_DWORD`).
fn raw_buffer_word3(target: Target) -> u32 {
    match target.generation() {
        Generation::GFX9 => 0x0002_7000,
        Generation::GFX10 => 0x3101_4000,
        _ => 0x3100_4000,
    }
}

/// The resource of a raw buffer of `bytes` bytes at `pointer`.
pub(in crate::lang) fn raw_buffer(
    c: &mut Context,
    pointer: Value,
    bytes: Value,
    loc: Option<SourceLoc>,
) -> Value {
    let dword = Type::uniform(Elem::U32);
    let parts = if c.target.has_long_buffers() {
        // The low seven bits of the size follow the 57 bits of the base. The stride and the flags are 0.
        let [low, high] =
            [0, 1].map(|i| c.builder.value(Inst::Extract { from: pointer, dword: i }, dword, loc));
        let [seven, rest, zero] = [7, 25, 0].map(|n| c.builder.constant(n, dword));
        let first = c.builder.value(Inst::Bin(Bin::Shl, bytes, rest), dword, loc);
        let high = c.builder.value(Inst::Bin(Bin::Or, high, first), dword, loc);
        let others = c.builder.value(Inst::Bin(Bin::Shr, bytes, seven), dword, loc);
        [low, high, others, zero].into_iter().collect()
    } else {
        let word3 = c.builder.constant(u64::from(raw_buffer_word3(c.target)), dword);
        [pointer, bytes, word3].into_iter().collect()
    };
    c.builder.value(Inst::Concat(parts), Type { count: 4, ..dword }, loc)
}

impl<T: Stored, A> Slice<T, A> {
    /// Loads the slice from the kernel argument at `offset`: a 64-bit pointer, then the length in elements as u32.
    pub(in crate::lang) fn from_kernarg(offset: u32) -> Self {
        with(|c| {
            let dword = Type::uniform(Elem::U32);
            let pointer = c.builder.value(Inst::KernArg { offset }, Type { count: 2, ..dword }, None);
            let len = c.builder.value(Inst::KernArg { offset: offset + 8 }, dword, None);
            let size = c.builder.constant(u64::from(T::BYTES), dword);
            let bytes = c.builder.value(Inst::Bin(Bin::Mul, len, size), dword, None);
            let resource = raw_buffer(c, pointer, bytes, None);
            Slice { resource, pointer, start: None, len, constant: false, types: PhantomData }
        })
    }

    /// The number of elements.
    pub fn len(&self) -> S<u32> {
        S::from_value(self.len)
    }

    /// True if there are no elements.
    #[track_caller]
    pub fn is_empty(&self) -> S<bool> {
        crate::lang::eq(self.len(), 0)
    }
}

impl<T, A> Slice<T, A> {
    /// In builds that check indices: emits a check that element `i` exists.
    #[track_caller]
    pub(in crate::lang) fn check_index(&self, i: V<u32>) {
        check(i, S::<u32>::from_value(self.len), "a slice");
    }

    pub(in crate::lang) fn bytes(&self) -> Bytes {
        Bytes { memory: Memory::Buffer(self.resource), start: self.start, constant: self.constant }
    }
}

impl<T: Stored, A> HoldsParts for Slice<T, A> {
    type Element = T;
    type Access = A;
    #[track_caller]
    fn element(&self, i: V<u32>) -> (Bytes, V<u32>) {
        self.check_index(i);
        (self.bytes(), i * T::BYTES)
    }
}

impl<T: Stored, I: Index> LoadAt<I> for Slice<T, ReadOnly> {
    type Output = T::Read<I>;
    #[track_caller]
    fn load_at(&self, i: I) -> T::Read<I> {
        self.check_index(i.index());
        T::read(self.bytes(), i, T::BYTES, 0)
    }
}

impl<T: Number, A> Slice<T, A> {
    /// The same slice, with the promise that its length fills whole dwords: a multiple of 4 elements of 8 bits, or of 2
    /// elements of 16 bits.
    ///
    /// The hardware checks bounds by dwords. `load_vector` and `store_vector` of elements of 8 and 16 bits therefore
    /// need additional instructions for a last dword that is only partly inside the slice; this promise removes them.
    /// Matrix loads and stores always assume it. [`Device::launch`](crate::Device::launch) rejects slices that break
    /// the promise. If another launcher passes such a slice, wide loads return 0 for the elements of the last dword,
    /// and wide stores do not write them.
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
    /// As `from_kernarg`, for a slice whose elements nothing writes while the kernel runs.
    pub(in crate::lang) fn constant_from_kernarg(offset: u32) -> Self {
        let slice = Self::from_kernarg(offset);
        with(|c| c.builder.read_only(slice.resource));
        Slice { constant: true, ..slice }
    }
}

impl<T: Number> Slice<T, ReadOnly> {
    /// Element `i` as a uniform value; `x[i]` with a uniform index has this meaning. Bounds are checked.
    ///
    /// Elements of 32 and 64 bits of a `&[T]` argument are loaded by scalar loads. In two cases one lane loads the
    /// element instead: if the element is narrower than 32 bits, because scalar loads move only whole dwords; and if
    /// the slice is a `&mut [T]` that a device function takes as `&[T]`, because the scalar cache does not see the
    /// kernel's own stores.
    #[track_caller]
    pub fn uniform(&self, i: impl IntoDevice<S<u32>>) -> S<T> {
        let i = i.into_device();
        self.check_index(i.into_device());
        read_uniform(self.bytes(), i, T::BYTES, 0)
    }
}

/// Passes a `&mut [T]` where a `&[T]` is expected.
#[diagnostic::do_not_recommend]
impl<T> IntoDevice<Slice<T, ReadOnly>> for Slice<T, Writable> {
    fn into_device(self) -> Slice<T, ReadOnly> {
        let Slice { resource, pointer, start, len, constant, .. } = self;
        Slice { resource, pointer, start, len, constant, types: PhantomData }
    }
}

/// Passes a `*mut T` where a `*const T` is expected.
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
    /// Makes a pointer from a value of two uniform dwords.
    pub(in crate::lang) fn from_value(pointer: Value) -> Self {
        Ptr { pointer, types: PhantomData }
    }
}

/// Memory of elements `T` that IR loads and stores can address.
pub(in crate::lang) trait Backing<T> {
    fn memory(&self) -> Memory;
    /// The byte offset of the first element, a uniform value; `None` if it is 0.
    fn start(&self) -> Option<Value> {
        None
    }
    /// The number of elements; `None` if it is not known when the kernel is built.
    fn known_len(&self) -> Option<usize> {
        None
    }
    /// In builds that check indices, for memory with a length: emits a check that `count` elements from `i` on exist.
    #[track_caller]
    fn check(&self, i: V<u32>, count: usize) {
        if let Some(len) = self.known_len() {
            check(i + (count as u32 - 1), len as u32, "an array");
        }
    }
    /// Converts the user's index `i` to an index relative to the base that the IR addresses.
    fn rebase(&self, i: V<u32>, _loc: &'static Location<'static>) -> V<u32> {
        i
    }
}

/// Device memory with elements `T`.
#[allow(private_bounds, reason = "the IR is not part of the language")]
pub trait Elements<T>: Backing<T> {}

impl<T, A> Backing<T> for Slice<T, A> {
    fn memory(&self) -> Memory {
        Memory::Buffer(self.resource)
    }
    fn start(&self) -> Option<Value> {
        self.start
    }
    /// Check only the first element: the hardware drops the part of a vector that is past the end.
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

/// The byte offset of element `i`.
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

/// Makes the promise of [`Slice::assume_whole_dwords`] for accesses that move several narrow elements at once, such as
/// those of matrices. A launch rejects slices that break the promise.
pub(in crate::lang) fn assume_whole_dwords<T: Number>(memory: Memory, count: usize) {
    if let Memory::Buffer(resource) = memory
        && count > 1
        && T::ELEM.bytes() < 4
    {
        with(|c| c.builder.whole_dwords(resource));
    }
}

/// Stores a value that consists of one or several elements.
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

impl<T, A> AsIs for Slice<T, A> {}
impl<T, A> AsIs for Ptr<T, A> {}

/// A slice as an operand of `isa` functions is its buffer resource.
impl<T, A> UniformSource<4> for Slice<T, A> {
    fn input(self) -> Input {
        Input::value(self.resource)
    }
}

/// A pointer as an operand of `isa` functions is its address.
impl<T, A> UniformSource<2> for Ptr<T, A> {
    fn input(self) -> Input {
        Input::value(self.pointer)
    }
}
