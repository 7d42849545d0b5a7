//! What memory can hold: numbers, and arrays and structs of them with the layout of `#[repr(C)]`.

use std::marker::PhantomData;
use std::panic::Location;

use half::{bf16, f16};

use super::known::within;
use super::memory::{Index, LoadAt, Slice};
use super::operand::OfType;
use super::var::Flatten;
use super::{IntoDevice, ReadOnly, S, V, Writable, with};
use crate::ir::{Bin, Inst, Memory, Place, Type, Value};
use crate::scalar::{Elem, Number, Scalar, UnknownVariant, f8e4m3, f8e5m2};

/// A slice or a pointer without its element type.
#[derive(Debug, Clone, Copy)]
pub struct Bytes {
    memory: Memory,
    start: Option<Value>,
    constant: bool,
}

impl<T, A> Slice<T, A> {
    pub(super) fn bytes(&self) -> Bytes {
        Bytes { memory: Memory::Buffer(self.resource), start: self.start, constant: self.constant }
    }
}

impl Bytes {
    /// Memory from `start` on, uniform, in bytes.
    pub(super) fn from(memory: Memory, start: Option<Value>) -> Bytes {
        Bytes { start, ..Bytes::of(memory) }
    }

    /// Memory with a beginning of its own.
    pub(super) fn of(memory: Memory) -> Bytes {
        Bytes { memory, start: None, constant: false }
    }

    /// The memory and the place `at` in it. Of a pointer of each lane a place that is not known is a part of the address.
    #[track_caller]
    fn reached(self, at: V<u32>) -> (Bytes, V<u32>) {
        match self.memory {
            Memory::Lanes(pointer) if with(|c| c.builder.as_const(at.value)).is_none() => {
                let address = V::<u64>::from_value(pointer) + super::cast::<u64, _>(at);
                (Bytes::of(Memory::Lanes(address.value)), 0.into_device())
            }
            _ => (self, at),
        }
    }
}

/// A scalar of an element: its type and its place in the element, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// Type.
    pub elem: Elem,
    /// Bytes before it.
    pub offset: u32,
}

/// Element types of slices: numbers, `bool`, arrays of them, and `#[device] #[repr(C)] struct`s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of device memory",
    label = "not a type that memory of the device holds",
    note = "memory holds bool, i8..i64, u8..u64, f16, bf16, f32, f64, f8e4m3, f8e5m2, arrays of these, structs of these that are declared in `gcn_kernel!` with `#[device] #[repr(C)]`; and enums without fields with `#[device] #[repr(u32)]`"
)]
pub trait Stored: Copy + 'static {
    /// Bytes of an element.
    const BYTES: u32;
    /// The type of a number, and of a struct `u8`.
    const ELEM: Elem;
    /// An element of memory that nothing writes: uniform at a uniform index. Arrays in it are read where they are indexed.
    type Read<I: Index>;
    /// An element, in each lane.
    type Value: Flatten;
    /// Its scalars, first to last, if it begins at `offset`.
    fn leaves(offset: u32, out: &mut Vec<Leaf>);
    /// The element whose first byte is `scale * i + offset`.
    fn read<I: Index>(from: Bytes, i: I, scale: u32, offset: u32) -> Self::Read<I>;
    /// Appends the bytes of a host value.
    fn append(&self, out: &mut Vec<u8>);
    /// Takes a host value from its bytes.
    fn take(bytes: &[u8]) -> Self;
    /// The error if these bytes are not a value on the host.
    fn unknown(bytes: &[u8]) -> Option<UnknownVariant>;
}

impl<T: Number> Stored for T {
    const BYTES: u32 = T::ELEM.bytes();
    const ELEM: Elem = T::ELEM;
    type Read<I: Index> = I::Constant<T>;
    type Value = V<T>;
    fn leaves(offset: u32, out: &mut Vec<Leaf>) {
        out.push(Leaf { elem: T::ELEM, offset });
    }
    #[track_caller]
    fn read<I: Index>(from: Bytes, i: I, scale: u32, offset: u32) -> I::Constant<T> {
        i.constant(from, scale, offset)
    }
    fn append(&self, out: &mut Vec<u8>) {
        self.write_bytes(out);
    }
    fn take(bytes: &[u8]) -> T {
        T::read_bytes(bytes)
    }
    fn unknown(bytes: &[u8]) -> Option<UnknownVariant> {
        <T as Scalar>::unknown(bytes)
    }
}

/// A byte in memory: 0 or 1 where it is written, and true where it is read as anything but 0.
impl Stored for bool {
    const BYTES: u32 = 1;
    const ELEM: Elem = Elem::U8;
    type Read<I: Index> = I::Condition;
    type Value = V<bool>;
    fn leaves(offset: u32, out: &mut Vec<Leaf>) {
        out.push(Leaf { elem: Elem::Bool, offset });
    }
    #[track_caller]
    fn read<I: Index>(from: Bytes, i: I, scale: u32, offset: u32) -> I::Condition {
        I::is_set(i.constant::<u8>(from, scale, offset))
    }
    fn append(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn take(bytes: &[u8]) -> bool {
        bytes.iter().any(|byte| *byte != 0)
    }
    fn unknown(_: &[u8]) -> Option<UnknownVariant> {
        None
    }
}

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

/// An array inside of an element of a slice: its elements are loaded where they are indexed, by numbers of the host and by
/// values of the device.
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

macro_rules! indexed_by {
    ($($k:ty),*) => {$(
        impl<X: Stored, I: Index, const N: usize> LoadAt<$k> for Run<X, I, N> {
            type Output = X::Read<V<u32>>;
            #[track_caller]
            fn load_at(&self, k: $k) -> X::Read<V<u32>> {
                let at = self.index.index() * self.scale + k.index() * X::BYTES;
                X::read(self.from, at, 1, self.offset)
            }
        }
    )*};
}
indexed_by!(S<u32>, V<u32>);

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

/// At a uniform index, one value for all lanes of each element.
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

impl<X: Stored, I: Index, const N: usize> super::Declare for Run<X, I, N> {
    type Value = [X::Value; N];
    #[track_caller]
    fn declare(self) -> [X::Value; N] {
        self.to_array()
    }
}

/// The byte `at + offset` of a slice.
#[track_caller]
fn byte(from: Bytes, at: V<u32>, offset: u32) -> V<u32> {
    let at = at + offset;
    match from.start {
        Some(start) => at + S::<u32>::from_value(start),
        None => at,
    }
}

#[track_caller]
fn load_leaf(from: Bytes, at: V<u32>, leaf: Leaf) -> Value {
    if leaf.elem == Elem::Bool {
        let byte = V::<u8>::from_value(load_leaf(from, at, Leaf { elem: Elem::U8, ..leaf }));
        return super::ne(byte, 0).value;
    }
    let (at, loc) = (byte(from, at, leaf.offset), Location::caller());
    let ty = Type { place: Place::Varying, elem: leaf.elem, count: 1 };
    with(|c| c.value(Inst::Load { memory: from.memory, offset: at.value }, ty, loc))
}

#[track_caller]
pub(super) fn store_leaf(to: Bytes, at: V<u32>, leaf: Leaf, value: Value) {
    if leaf.elem == Elem::Bool {
        let byte: V<u8> = super::cast::<u8, _>(V::<bool>::from_value(value));
        return store_leaf(to, at, Leaf { elem: Elem::U8, ..leaf }, byte.value);
    }
    let (at, loc) = (byte(to, at, leaf.offset), Location::caller());
    with(|c| c.effect(Inst::Store { memory: to.memory, offset: at.value, value }, loc));
}

pub(super) fn leaves_of<X: Stored>(offset: u32) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    X::leaves(offset, &mut leaves);
    leaves
}

#[track_caller]
pub(super) fn load<X: Stored>(from: Bytes, at: V<u32>, offset: u32) -> X::Value {
    let mut values = Vec::new();
    for leaf in leaves_of::<X>(offset) {
        values.push(load_leaf(from, at, leaf));
    }
    X::Value::unflatten(&mut values.into_iter())
}

#[track_caller]
pub(super) fn store<X: Stored>(to: Bytes, at: V<u32>, offset: u32, value: &X::Value) {
    let mut values = Vec::new();
    value.flatten(&mut values);
    for (leaf, value) in leaves_of::<X>(offset).into_iter().zip(values) {
        store_leaf(to, at, leaf, value);
    }
}

/// A scalar of memory that nothing writes, at a varying place.
#[track_caller]
pub(super) fn read_varying<T: Number>(from: Bytes, i: V<u32>, scale: u32, offset: u32) -> V<T> {
    V::from_value(load_leaf(from, i * scale, Leaf { elem: T::ELEM, offset }))
}

/// A scalar of memory that nothing writes, at a uniform place. Scalar loads move aligned dwords; for what is narrower, or may
/// lie across them, one lane loads.
#[track_caller]
pub(super) fn read_uniform<T: Number>(from: Bytes, i: S<u32>, scale: u32, offset: u32) -> S<T> {
    let loc = Location::caller();
    let dwords = T::ELEM.bytes() >= 4 && scale.is_multiple_of(4) && offset.is_multiple_of(4);
    let resource = match from.memory {
        Memory::Buffer(resource) if from.constant && dwords => resource,
        _ => {
            let i: V<u32> = i.into_device();
            let value = load_leaf(from, i * scale, Leaf { elem: T::ELEM, offset });
            return S::emit(Inst::ReadFirstLane(value), loc);
        }
    };
    let dword = S::<u32>::TYPE;
    let at = with(|c| {
        let [scale, offset] = [scale, offset].map(|n| c.builder.constant(u64::from(n), dword));
        let mut sum = |op, a, b| c.value(Inst::Bin(op, a, b), dword, loc);
        let at = sum(Bin::Mul, i.value, scale);
        let at = sum(Bin::Add, at, offset);
        from.start.map_or(at, |start| sum(Bin::Add, at, start))
    });
    S::emit(Inst::LoadUniform { resource, offset: at }, loc)
}

impl<T: Stored, I: Index> LoadAt<I> for Slice<T, ReadOnly> {
    type Output = T::Read<I>;
    #[track_caller]
    fn load_at(&self, i: I) -> T::Read<I> {
        T::read(self.bytes(), i, T::BYTES, 0)
    }
}

/// Access to slices whose elements may be assigned to in part. It is a bound of its own, so that the element type is inferred
/// from any slice and the only error for a read-only one is this trait's.
#[diagnostic::on_unimplemented(
    message = "cannot assign to a field of an element of read-only memory",
    label = "not writable",
    note = "a `&[T]` or `*const T` argument is read-only: declare it as `&mut [T]` or `*mut T`"
)]
pub trait Assignable {}
impl Assignable for Writable {}

/// A part of an element of a slice, `x[i].field`, `x[i].array[k].field`: where its scalars are, if the part is an `X`.
#[derive(Debug, Clone)]
pub struct InElement<X> {
    memory: Bytes,
    /// The element, and in it the place in arrays that the device indexes.
    at: V<u32>,
    leaves: Vec<Leaf>,
    part: PhantomData<X>,
}

/// Memory with elements that have parts: slices, pointers and arrays.
pub trait HoldsParts {
    /// The elements.
    type Element: Stored;
    /// Whether they may be written.
    type Access;
    /// The memory, and the first byte of element `i` in it.
    fn element(&self, i: V<u32>) -> (Bytes, V<u32>);
}
impl<T: Stored, A> HoldsParts for Slice<T, A> {
    type Element = T;
    type Access = A;
    #[track_caller]
    fn element(&self, i: V<u32>) -> (Bytes, V<u32>) {
        (self.bytes(), i * T::BYTES)
    }
}
impl<M: HoldsParts> HoldsParts for &M {
    type Element = M::Element;
    type Access = M::Access;
    #[track_caller]
    fn element(&self, i: V<u32>) -> (Bytes, V<u32>) {
        (**self).element(i)
    }
}

/// The expansion of the `x[i]` of an assignment to a part of it.
#[track_caller]
pub fn in_element<M: HoldsParts<Access: Assignable>, I: Index>(
    x: &M,
    i: I,
) -> InElement<<M::Element as Stored>::Value> {
    let (memory, at) = x.element(i.index());
    InElement { memory, at, leaves: leaves_of::<M::Element>(0), part: PhantomData }
}

impl<X: Flatten> InElement<X> {
    /// A field of it, or what a number of the host chooses in it.
    pub fn part<P: Flatten>(self, part: impl FnOnce(&mut X) -> &mut P) -> InElement<P> {
        // Numbers in place of values: those that stand in the part are the places of its scalars in the list of all.
        let mut whole = X::unflatten(&mut (0..).map(Value));
        let mut numbers = Vec::new();
        part(&mut whole).flatten(&mut numbers);
        let leaves = numbers.iter().map(|n| self.leaves[n.0 as usize]).collect();
        InElement { memory: self.memory, at: self.at, leaves, part: PhantomData }
    }

    /// Its value.
    #[track_caller]
    pub fn read(&self) -> X {
        let mut values = Vec::new();
        for leaf in &self.leaves {
            values.push(load_leaf(self.memory, self.at, *leaf));
        }
        X::unflatten(&mut values.into_iter())
    }

    /// Stores it, and nothing else of the element.
    #[track_caller]
    pub fn write<E: IntoDevice<X>>(&self, e: E) {
        let mut values = Vec::new();
        e.into_device().flatten(&mut values);
        for (leaf, value) in self.leaves.iter().zip(values) {
            store_leaf(self.memory, self.at, *leaf, value);
        }
    }
}

impl<X: Flatten, const N: usize> InElement<[X; N]> {
    /// Element `k` of an array.
    #[track_caller]
    pub fn at(self, k: impl ArrayIndex) -> InElement<X> {
        let k = k.of_lanes();
        if let Some(known) = with(|c| c.builder.as_const(k.value)) {
            within(known as usize, N, "element", || format!("an array of {N}"));
        }
        let of_one = self.leaves.len() / N.max(1);
        let stride = match (self.leaves.first(), self.leaves.get(of_one)) {
            (Some(first), Some(second)) => second.offset - first.offset,
            _ => 0,
        };
        let leaves = self.leaves.into_iter().take(of_one).collect();
        let (memory, at) = self.memory.reached(self.at + k * stride);
        InElement { memory, at, leaves, part: PhantomData }
    }
}

/// What chooses an element of an array inside of an element of memory: an integer of the host, or a `u32` of the device.
#[diagnostic::on_unimplemented(
    message = "an element of an array is chosen by a `usize`, `u32`, `S<u32>` or `V<u32>`, not by `{Self}`",
    label = "not an index",
    note = "convert with `as u32`"
)]
pub trait ArrayIndex {
    /// The number, in each lane.
    fn of_lanes(self) -> V<u32>;
}
macro_rules! array_indices {
    ($($t:ty)*) => {$(
        impl ArrayIndex for $t {
            #[track_caller]
            fn of_lanes(self) -> V<u32> {
                // What does not fit is no element either.
                u32::try_from(self).unwrap_or(u32::MAX).into_device()
            }
        }
    )*};
}
array_indices!(usize i32 u32);
impl ArrayIndex for S<u32> {
    #[track_caller]
    fn of_lanes(self) -> V<u32> {
        self.into_device()
    }
}
impl ArrayIndex for V<u32> {
    fn of_lanes(self) -> V<u32> {
        self
    }
}

/// Host values out of their bytes in memory.
///
/// # Errors
/// A number that stands for nothing there.
pub(crate) fn taken<T: Stored>(bytes: &[u8], mut each: impl FnMut(T)) -> Result<(), UnknownVariant> {
    for chunk in bytes.chunks_exact(T::BYTES as usize) {
        if let Some(unknown) = T::unknown(chunk) {
            return Err(unknown);
        }
        each(T::take(chunk));
    }
    Ok(())
}
