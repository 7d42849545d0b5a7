//! Types that can be stored in memory: numbers, and arrays and structs of numbers, laid out as by `#[repr(C)]`.

mod array;
mod index;
mod part;

use std::panic::Location;

use crate::ir::{Bin, Inst, Manner, Memory, Place, Type, Value};
use crate::lang::values::data::Flatten;
use crate::lang::{IntoDevice, S, V, with};
use crate::scalar::{Elem, Number, Scalar, UnknownVariant};

pub use array::Run;
pub use index::Index;
pub use part::{ArrayIndex, Assignable, HoldsParts, InElement, in_element};

/// A slice or a pointer without its element type.
#[derive(Debug, Clone, Copy)]
pub struct Bytes {
    pub(super) memory: Memory,
    pub(super) start: Option<Value>,
    pub(super) constant: bool,
}

impl Bytes {
    /// The memory from the uniform byte offset `start` on.
    pub(in crate::lang) fn from(memory: Memory, start: Option<Value>) -> Bytes {
        Bytes { start, ..Bytes::of(memory) }
    }

    /// The whole of `memory`.
    pub(in crate::lang) fn of(memory: Memory) -> Bytes {
        Bytes { memory, start: None, constant: false }
    }

    /// The memory, and the byte offset `at` in it. If the memory is a pointer for each lane and the offset is not
    /// constant, the offset is added to the address instead.
    #[track_caller]
    fn reached(self, at: V<u32>) -> (Bytes, V<u32>) {
        match self.memory {
            Memory::Lanes(pointer) if with(|c| c.builder.as_const(at.value)).is_none() => {
                let address = V::<u64>::from_value(pointer) + crate::lang::cast::<u64, _>(at);
                (Bytes::of(Memory::Lanes(address.value)), 0.into_device())
            }
            _ => (self, at),
        }
    }
}

/// A *leaf*: one scalar of an element, with its type and its byte offset in the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// The scalar's type.
    pub elem: Elem,
    /// The offset in bytes.
    pub offset: u32,
}

/// Element types of slices: numbers, `bool`, arrays of them, and `#[device] #[repr(C)] struct`s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of device memory",
    label = "not a type that memory of the device holds",
    note = "memory holds bool, i8..i64, u8..u64, f16, bf16, f32, f64, f8e4m3, f8e5m2, arrays of these, structs of these that are declared in `gcn_kernel!` with `#[device] #[repr(C)]`; and enums without fields with `#[device] #[repr(u32)]`"
)]
pub trait Stored: Copy + 'static {
    /// The size of an element in bytes.
    const BYTES: u32;
    /// The scalar type of a number; `u8` for a struct or an array.
    const ELEM: Elem;
    /// The type of an element that is read from memory which nothing writes: it is uniform if the index is. An array in
    /// the element is not loaded as a whole, but element by element where it is indexed.
    type Read<I: Index>;
    /// The type of an element whose scalars are varying values.
    type Value: Flatten;
    /// Appends the scalars, first to last, of an element that begins at byte `offset`.
    fn leaves(offset: u32, out: &mut Vec<Leaf>);
    /// Reads the element whose first byte is `scale * i + offset`.
    fn read<I: Index>(from: Bytes, i: I, scale: u32, offset: u32) -> Self::Read<I>;
    /// Appends the bytes of a host value.
    fn append(&self, out: &mut Vec<u8>);
    /// Builds a host value from its bytes.
    fn take(bytes: &[u8]) -> Self;
    /// The error for bytes that are not a valid value of the type on the host; `None` if they are valid.
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

/// A `bool` takes one byte, written as 0 or 1; any value other than 0 is read as true.
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
        return crate::lang::ne(byte, 0).value;
    }
    let (at, loc) = (byte(from, at, leaf.offset), Location::caller());
    let ty = Type { place: Place::Varying, elem: leaf.elem, count: 1 };
    with(|c| c.value(Inst::Load { memory: from.memory, offset: at.value, manner: Manner::Plain }, ty, loc))
}

#[track_caller]
pub(in crate::lang) fn store_leaf(to: Bytes, at: V<u32>, leaf: Leaf, value: Value) {
    if leaf.elem == Elem::Bool {
        let byte: V<u8> = crate::lang::cast::<u8, _>(V::<bool>::from_value(value));
        return store_leaf(to, at, Leaf { elem: Elem::U8, ..leaf }, byte.value);
    }
    let (at, loc) = (byte(to, at, leaf.offset), Location::caller());
    with(|c| {
        c.effect(Inst::Store { memory: to.memory, offset: at.value, value, manner: Manner::Plain }, loc);
    });
}

pub(in crate::lang) fn leaves_of<X: Stored>(offset: u32) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    X::leaves(offset, &mut leaves);
    leaves
}

#[track_caller]
pub(in crate::lang) fn load<X: Stored>(from: Bytes, at: V<u32>, offset: u32) -> X::Value {
    let mut values = Vec::new();
    for leaf in leaves_of::<X>(offset) {
        values.push(load_leaf(from, at, leaf));
    }
    X::Value::unflatten(&mut values.into_iter())
}

#[track_caller]
pub(in crate::lang) fn store<X: Stored>(to: Bytes, at: V<u32>, offset: u32, value: &X::Value) {
    let mut values = Vec::new();
    value.flatten(&mut values);
    for (leaf, value) in leaves_of::<X>(offset).into_iter().zip(values) {
        store_leaf(to, at, leaf, value);
    }
}

/// Loads a scalar from memory that nothing writes, at a varying index.
#[track_caller]
pub(in crate::lang) fn read_varying<T: Number>(from: Bytes, i: V<u32>, scale: u32, offset: u32) -> V<T> {
    V::from_value(load_leaf(from, i * scale, Leaf { elem: T::ELEM, offset }))
}

/// Loads a scalar from read-only memory at a uniform index. Scalar loads move aligned dwords; an element that is
/// narrower, or that may cross a dword boundary, is loaded by one lane instead.
#[track_caller]
pub(in crate::lang) fn read_uniform<T: Number>(from: Bytes, i: S<u32>, scale: u32, offset: u32) -> S<T> {
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

/// Calls `each` with the host values that the bytes of memory represent.
///
/// # Errors
/// If the bytes are not a valid value of `T`, such as a number that is not a variant of an enum.
pub(crate) fn taken<T: Stored>(bytes: &[u8], mut each: impl FnMut(T)) -> Result<(), UnknownVariant> {
    for chunk in bytes.chunks_exact(T::BYTES as usize) {
        if let Some(unknown) = T::unknown(chunk) {
            return Err(unknown);
        }
        each(T::take(chunk));
    }
    Ok(())
}
