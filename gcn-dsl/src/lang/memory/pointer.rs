//! Arithmetic on raw pointers to global memory.

use std::marker::PhantomData;
use std::panic::Location;

use super::deref::RawPointer;
use super::layout::Bytes;
use super::slice::{Backing, Elements, ReadOnly, Writable};
use crate::ir::{Bin, Inst, Memory, Type, Value};
use crate::lang::values::flow::{Flow, SameScope};
use crate::lang::values::operand::OfType;
use crate::lang::values::value::AsIs;
use crate::lang::{
    CastTo, Choice, Flatten, FromCaller, HoldsParts, Index, IntoDevice, LoadAt, LoadDeref, Ptr, S, StoreAt,
    StoreDeref, Stored, V, Vector, each, element_of, with,
};
use crate::scalar::{Elem, Number};

/// A raw pointer to global memory for each lane: the result of `p.add(i)` with a varying `i`.
///
/// Accesses are not checked, and two pointers may point to the same memory. Addresses must be multiples of the
/// element's size.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// Each lane follows a list of nodes, `[value, index of the next one or u32::MAX]`, and sums the values.
///     #[workgroup(64)]
///     fn sums(nodes: *const u32, first: &[u32], sum: &mut [u32]) {
///         let i = global_id().x;
///         let mut next: V<u32> = first[i];
///         let mut total: V<u32> = 0;
///         while next != u32::MAX {
///             let node = nodes.add(next * 2);
///             total += unsafe { *node };
///             next = node[1];
///         }
///         sum[i] = total;
///     }
/// }
/// let device = Device::simulator(Target::GFX942);
/// let nodes = device.alloc::<u32>(8)?;
/// device.write(nodes, &[1, 2, 10, u32::MAX, 100, 1, 1000, 0])?;
/// let mut sum = vec![0; 4];
/// sums.launch(&device, Grid::x(1), (nodes, &[0, 1, 2, 3], &mut sum))?;
/// assert_eq!(sum, [111, 10, 110, 1111]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LanePtr<T, A> {
    /// The address, a varying u64.
    pointer: Value,
    types: PhantomData<(T, A)>,
}

impl<T, A> Clone for LanePtr<T, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, A> Copy for LanePtr<T, A> {}

/// Types of a number of elements by which a pointer is advanced: `u32`, `S<u32>` or `V<u32>`.
#[diagnostic::on_unimplemented(
    message = "a pointer is advanced by `u32`, `S<u32>` or `V<u32>`, not by `{Self}`",
    label = "not a number of elements",
    note = "convert with `as u32`; `p.offset(i)` takes signed distances"
)]
pub trait Steps {
    /// The resulting pointer type: a [`Ptr`] if the number is uniform, otherwise a [`LanePtr`].
    type Pointer<T, A>;
    /// Returns `pointer` advanced by this many elements.
    fn advance<T: Stored, A>(self, pointer: Ptr<T, A>) -> Self::Pointer<T, A>;
}

impl Steps for V<u32> {
    type Pointer<T, A> = LanePtr<T, A>;
    #[track_caller]
    fn advance<T: Stored, A>(self, pointer: Ptr<T, A>) -> LanePtr<T, A> {
        pointer.for_each_lane().add(self)
    }
}

impl Steps for S<u32> {
    type Pointer<T, A> = Ptr<T, A>;
    #[track_caller]
    fn advance<T: Stored, A>(self, pointer: Ptr<T, A>) -> Ptr<T, A> {
        pointer.advanced(self)
    }
}

impl Steps for u32 {
    type Pointer<T, A> = Ptr<T, A>;
    #[track_caller]
    fn advance<T: Stored, A>(self, pointer: Ptr<T, A>) -> Ptr<T, A> {
        pointer.advanced(self.into_device())
    }
}

/// Types of a signed distance in elements: `i32` or `i64`, uniform, varying or a host value.
#[diagnostic::on_unimplemented(
    message = "a pointer is offset by `i32` or `i64`, not by `{Self}`",
    label = "not a signed distance",
    note = "`p.add(i)` takes unsigned `u32`; convert with `as`"
)]
pub trait Displacement {
    /// The type of the distance in 64 bits, uniform or varying.
    type Wide: Advance;
    /// The distance in 64 bits.
    fn wide(self) -> Self::Wide;
}

/// A distance by which a pointer can be advanced: `S<i64>` or `V<i64>`.
pub trait Advance {
    /// The type of the resulting pointer.
    type Pointer<T, A>;
    /// Returns `pointer` advanced by this many bytes.
    fn advance<T: Stored, A>(self, pointer: Ptr<T, A>) -> Self::Pointer<T, A>;
    /// Returns `pointer` advanced by this many bytes, in each lane.
    fn advance_lanes<T: Stored, A>(self, pointer: LanePtr<T, A>) -> LanePtr<T, A>;
}

impl Advance for S<i64> {
    type Pointer<T, A> = Ptr<T, A>;
    #[track_caller]
    fn advance<T: Stored, A>(self, pointer: Ptr<T, A>) -> Ptr<T, A> {
        pointer.plus_bytes(bytes(self * i64::from(T::BYTES)))
    }
    #[track_caller]
    fn advance_lanes<T: Stored, A>(self, pointer: LanePtr<T, A>) -> LanePtr<T, A> {
        let distance: V<i64> = self.into_device();
        distance.advance_lanes(pointer)
    }
}

impl Advance for V<i64> {
    type Pointer<T, A> = LanePtr<T, A>;
    #[track_caller]
    fn advance<T: Stored, A>(self, pointer: Ptr<T, A>) -> LanePtr<T, A> {
        self.advance_lanes(pointer.for_each_lane())
    }
    #[track_caller]
    fn advance_lanes<T: Stored, A>(self, pointer: LanePtr<T, A>) -> LanePtr<T, A> {
        let loc = Location::caller();
        let distance = self * i64::from(T::BYTES);
        let ty = V::<u64>::TYPE;
        let sum = with(|c| {
            let distance = c.value(Inst::Bitcast(distance.value), ty, loc);
            c.value(Inst::Bin(Bin::Add, pointer.pointer, distance), ty, loc)
        });
        LanePtr { pointer: sum, types: PhantomData }
    }
}

#[track_caller]
fn bytes(distance: S<i64>) -> S<u64> {
    S::emit(Inst::Bitcast(distance.value), Location::caller())
}

macro_rules! displacement {
    ($($from:ty => $wide:ident;)*) => {$(
        impl Displacement for $from {
            type Wide = $wide<i64>;
            #[track_caller]
            fn wide(self) -> $wide<i64> {
                CastTo::<i64>::cast_to(self).into_device()
            }
        }
    )*};
}
displacement! { i32 => S; i64 => S; S<i32> => S; S<i64> => S; V<i32> => V; V<i64> => V; }

impl<T: Stored, A> Ptr<T, A> {
    /// Makes a pointer from an address.
    #[track_caller]
    pub fn from_address(address: S<u64>) -> Self {
        let ty = Type { count: 2, ..Type::uniform(Elem::U32) };
        Self::from_value(with(|c| c.value(Inst::Bitcast(address.value), ty, Location::caller())))
    }

    /// The address. `p as u64` gives the same.
    #[track_caller]
    pub fn address(self) -> S<u64> {
        S::emit(Inst::Bitcast(self.pointer), Location::caller())
    }

    /// True if the address is 0.
    #[track_caller]
    pub fn is_null(self) -> S<bool> {
        crate::lang::eq(self.address(), 0u64)
    }

    /// The pointer advanced by `i` elements: a [`LanePtr`] if `i` is varying.
    #[track_caller]
    #[allow(clippy::should_implement_trait, reason = "Rust's pointers have this method")]
    pub fn add<I: Steps>(self, i: I) -> I::Pointer<T, A> {
        i.advance(self)
    }

    /// The pointer advanced by a signed number of elements.
    #[track_caller]
    pub fn offset<D: Displacement>(self, distance: D) -> <D::Wide as Advance>::Pointer<T, A> {
        distance.wide().advance(self)
    }

    /// The same address, for elements of another type: a number, an array of numbers (`p.cast::<[f32; 4]>()[i]`) or a
    /// `#[device] #[repr(C)] struct`.
    pub fn cast<U: Stored>(self) -> Ptr<U, A> {
        Ptr::from_value(self.pointer)
    }

    /// The pointer as a per-lane pointer, with the same address in each lane.
    #[track_caller]
    pub fn for_each_lane(self) -> LanePtr<T, A> {
        let address: V<u64> = self.address().into_device();
        LanePtr::from_address(address)
    }

    #[track_caller]
    fn advanced(self, i: S<u32>) -> Self {
        self.plus_bytes(CastTo::<u64>::cast_to(i) * u64::from(T::BYTES))
    }

    #[track_caller]
    fn plus_bytes(self, bytes: S<u64>) -> Self {
        Self::from_address(self.address() + bytes)
    }
}

impl<T: Number, A> Ptr<T, A> {
    /// Loads `N` consecutive elements from index `i` on with one instruction of up to 16 bytes.
    #[track_caller]
    pub fn load_vector<const N: usize>(&self, i: impl Index) -> Vector<T, N> {
        Vector::load(self, i)
    }
}

impl<T: Number> Ptr<T, Writable> {
    /// Stores `N` consecutive elements from index `i` on with one instruction of up to 16 bytes.
    #[track_caller]
    pub fn store_vector<const N: usize>(&self, i: impl Index, v: Vector<T, N>) {
        v.store(self, i);
    }
}

impl<T: Stored, A> LanePtr<T, A> {
    /// Makes a pointer from an address.
    pub fn from_address(address: V<u64>) -> Self {
        LanePtr { pointer: address.value, types: PhantomData }
    }

    /// The address. `p as u64` gives the same.
    pub fn address(self) -> V<u64> {
        V::from_value(self.pointer)
    }

    /// True if the address is 0.
    #[track_caller]
    pub fn is_null(self) -> V<bool> {
        crate::lang::eq(self.address(), 0u64)
    }

    /// The pointer advanced by `i` elements.
    #[track_caller]
    #[allow(clippy::should_implement_trait, reason = "Rust's pointers have this method")]
    pub fn add(self, i: impl Index) -> Self {
        let i = i.index();
        let size = T::BYTES;
        Self::from_address(self.address() + CastTo::<u64>::cast_to(i) * u64::from(size))
    }

    /// The pointer advanced by a signed number of elements.
    #[track_caller]
    pub fn offset(self, distance: impl Displacement) -> Self {
        distance.wide().advance_lanes(self)
    }

    /// The same address, for elements of another type.
    pub fn cast<U: Stored>(self) -> LanePtr<U, A> {
        LanePtr { pointer: self.pointer, types: PhantomData }
    }

    /// Returns the pointer and the index of the access: a small constant index is kept, to become the instruction's
    /// offset; any other index is added to the pointer.
    #[track_caller]
    fn reached(self, i: V<u32>) -> (Self, V<u32>) {
        const OFFSET_MAX: u64 = 4095;
        let constant = with(|c| c.builder.as_const(i.value));
        match constant {
            Some(k) if k * u64::from(T::BYTES) <= OFFSET_MAX => (self, i),
            _ => (self.add(i), 0.into_device()),
        }
    }
}

impl<T: Number, A> LanePtr<T, A> {
    /// Loads `N` consecutive elements from index `i` on with one instruction of up to 16 bytes.
    #[track_caller]
    pub fn load_vector<const N: usize>(&self, i: impl Index) -> Vector<T, N> {
        let (to, i) = self.reached(i.index());
        Vector::load(&to, i)
    }
}

impl<T, A> Backing<T> for LanePtr<T, A> {
    fn memory(&self) -> Memory {
        Memory::Lanes(self.pointer)
    }
}
impl<T, A> Elements<T> for LanePtr<T, A> {}

impl<T: Stored, A> HoldsParts for Ptr<T, A> {
    type Element = T;
    type Access = A;
    #[track_caller]
    fn element(&self, i: V<u32>) -> (Bytes, V<u32>) {
        (Bytes::of(Memory::Global(self.pointer)), i * T::BYTES)
    }
}
impl<T: Stored, A> HoldsParts for LanePtr<T, A> {
    type Element = T;
    type Access = A;
    #[track_caller]
    fn element(&self, i: V<u32>) -> (Bytes, V<u32>) {
        let (to, i) = self.reached(i);
        (Bytes::of(Memory::Lanes(to.pointer)), i * T::BYTES)
    }
}

impl<T: Stored, A> LoadDeref for Ptr<T, A> {
    type Output = T::Value;
    type Allowed = RawPointer;
    #[track_caller]
    fn load_deref(self) -> T::Value {
        self.load_at(0)
    }
}

impl<T: Stored, A> LoadDeref for LanePtr<T, A> {
    type Output = T::Value;
    type Allowed = RawPointer;
    #[track_caller]
    fn load_deref(self) -> T::Value {
        self.load_at(0)
    }
}

impl<T: Stored> StoreDeref for Ptr<T, Writable> {
    type Element = T::Value;
    type Allowed = RawPointer;
    #[track_caller]
    fn store_deref(self, value: T::Value) {
        self.store_at(0, value);
    }
}

impl<T: Stored> StoreDeref for LanePtr<T, Writable> {
    type Element = T::Value;
    type Allowed = RawPointer;
    #[track_caller]
    fn store_deref(self, value: T::Value) {
        self.store_at(0, value);
    }
}

impl<T: Stored, A> CastTo<u64> for Ptr<T, A> {
    type Output = S<u64>;
    #[track_caller]
    fn cast_to(self) -> S<u64> {
        self.address()
    }
}

impl<T: Stored, A> CastTo<u64> for LanePtr<T, A> {
    type Output = V<u64>;
    fn cast_to(self) -> V<u64> {
        self.address()
    }
}

macro_rules! pointer_casts {
    ($([$($generics:tt)*] $from:ty => $to:ty: $result:ty, $how:expr;)*) => {$(
        impl<U: Stored, $($generics)*> CastTo<$to> for $from {
            type Output = $result;
            #[track_caller]
            fn cast_to(self) -> $result {
                $how(self)
            }
        }
    )*};
}
pointer_casts! {
    [T: Stored, A] Ptr<T, A> => *const U: Ptr<U, ReadOnly>, |p: Self| Ptr::from_value(p.pointer);
    [T: Stored] Ptr<T, Writable> => *mut U: Ptr<U, Writable>, Self::cast;
    [T: Stored, A] LanePtr<T, A> => *const U: LanePtr<U, ReadOnly>, |p: Self| LanePtr::from_address(p.address());
    [T: Stored] LanePtr<T, Writable> => *mut U: LanePtr<U, Writable>, Self::cast;
    [] S<u64> => *const U: Ptr<U, ReadOnly>, Ptr::from_address;
    [] S<u64> => *mut U: Ptr<U, Writable>, Ptr::from_address;
    [] V<u64> => *const U: LanePtr<U, ReadOnly>, LanePtr::from_address;
    [] V<u64> => *mut U: LanePtr<U, Writable>, LanePtr::from_address;
}

for_each_type!(P<T, A> in [Ptr, LanePtr] {
    impl<T: Stored, A> OfType<*const T> for P<T, A> {
        type Value = P<T, ReadOnly>;
        #[track_caller]
        fn of_type(self) -> P<T, ReadOnly> {
            CastTo::<*const T>::cast_to(self)
        }
    }
    impl<T: Stored> OfType<*mut T> for P<T, Writable> {
        type Value = Self;
        fn of_type(self) -> Self {
            self
        }
    }
});

// Variables can hold pointers: uniform ones, or one per lane.
impl<T: Stored, A> Flatten for LanePtr<T, A> {
    fn flatten(&self, out: &mut Vec<Value>) {
        out.push(self.pointer);
    }
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        Self::from_address(V::from_value(crate::lang::next_value(values)))
    }
}
impl<T: Stored, A> Flatten for Ptr<T, A> {
    fn flatten(&self, out: &mut Vec<Value>) {
        out.push(self.pointer);
    }
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        Self::from_value(crate::lang::next_value(values))
    }
}
for_each_type!(P<T, A> in [Ptr, LanePtr] {
    impl<T: Stored, A> crate::lang::Declare for P<T, A> {
        type Value = Self;
        fn declare(self) -> Self {
            self
        }
    }
});

impl<T: Stored, A> Choice for LanePtr<T, A> {
    type Varying = Self;
    type Uniform = Self;
    #[track_caller]
    fn at_varying(list: &[Self], i: V<u32>) -> Self {
        element_of(list, i)
    }
    #[track_caller]
    fn at_uniform(list: &[Self], i: S<u32>) -> Self {
        element_of(list, i)
    }
}
impl<T: Stored, A> Choice for Ptr<T, A> {
    type Varying = LanePtr<T, A>;
    type Uniform = Self;
    #[track_caller]
    fn at_varying(list: &[Self], i: V<u32>) -> LanePtr<T, A> {
        element_of(&each(list, |p| p.for_each_lane()), i)
    }
    #[track_caller]
    fn at_uniform(list: &[Self], i: S<u32>) -> Self {
        Self::from_address(element_of(&each(list, |p| p.address()), i))
    }
}

impl<T: Stored, A> crate::lang::Vary for LanePtr<T, A> {
    type Varying = Self;
    fn vary(self) -> Self {
        self
    }
}
impl<T: Stored, A> crate::lang::Vary for Ptr<T, A> {
    type Varying = LanePtr<T, A>;
    #[track_caller]
    fn vary(self) -> LanePtr<T, A> {
        self.for_each_lane()
    }
}
#[diagnostic::do_not_recommend]
impl<T: Stored, A> IntoDevice<LanePtr<T, A>> for Ptr<T, A> {
    #[track_caller]
    fn into_device(self) -> LanePtr<T, A> {
        self.for_each_lane()
    }
}

impl<T, A, F: Flow, G: Flow> crate::lang::AssignIn<F, G> for Ptr<T, A> where G::Scope: SameScope<F::Scope> {}
impl<T, A, F: Flow, G: Flow> crate::lang::AssignIn<FromCaller<F>, G> for Ptr<T, A> where
    G::Lanes: SameScope<F::Lanes>
{
}
impl<T, A, F, G> crate::lang::AssignIn<F, G> for LanePtr<T, A> {}

impl<T, A> AsIs for LanePtr<T, A> {}
