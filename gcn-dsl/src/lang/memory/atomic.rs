//! Atomics on slices, raw pointers and LDS arrays, and fences.

use std::marker::PhantomData;
use std::panic::Location;

use super::ordering::{FenceOrdering, LoadOrdering, MemoryOrdering, Ordering, Relaxed, Scope, StoreOrdering};
use super::slice::{Backing, byte_offset};
use crate::ir::atomic::value_type;
use crate::ir::{self, AtomicOp, Bin, Inst, Memory, Place, Pred, Type, Value};
use crate::lang::control::while_any::WhileAny;
use crate::lang::{Index, IntoDevice, LanePtr, Lds, LdsRow, LdsSlice, Ptr, Slice, V, Vector, Writable, with};
use crate::scalar::{Number, bf16, f16};
use gcn_isa::memory_model::Ordering as Model;

/// Orders each lane's memory accesses, in all address spaces, with respect to lanes in `scope`.
///
/// With `Release`, accesses before the fence are visible before any atomic store after it. With `Acquire`, accesses
/// after the fence see what was released to an atomic load before it. The instructions are those of the memory model in
/// LLVM's AMDGPU guide; see `docs/memory-model.md`. A fence waits for this wave's memory accesses, not for other waves;
/// [`barrier()`](crate::lang::barrier) waits for those.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// The last workgroup to finish writes the sum of what all have written.
///     #[workgroup(64)]
///     fn total(part: &mut [u32], done: &mut [u32], sum: &mut [u32], groups: u32) {
///         part[workgroup_id().x] = workgroup_id().x + 1;
///         fence(Scope::Agent, Ordering::Release);
///         if lane_id() == 0 {
///             let before = done.atomic(0).fetch_add(1, Scope::Agent, Ordering::Relaxed);
///             fence(Scope::Agent, Ordering::Acquire);
///             if before == groups - 1 {
///                 let mut all: V<u32> = 0;
///                 for i in 0..groups {
///                     all += part[i];
///                 }
///                 sum[0] = all;
///             }
///         }
///     }
/// }
/// # let (mut part, mut done, mut sum) = (vec![0u32; 8], vec![0u32], vec![0u32]);
/// # let device = Device::simulator(Target::GFX942);
/// # total.launch(&device, Grid::x(8), (&mut part, &mut done, &mut sum, 8)).unwrap();
/// # assert_eq!((done[0], sum[0]), (8, 36));
/// ```
#[track_caller]
pub fn fence<O: FenceOrdering>(scope: Scope, ordering: O) {
    _ = ordering;
    with(|c| c.effect(Inst::Fence { scope, ordering: O::ORDERING }, Location::caller()));
}

/// Marks memory that atomics may change.
#[diagnostic::on_unimplemented(
    message = "atomics need memory that the kernel may write",
    label = "this argument is read-only",
    note = "declare the argument as `&mut [T]` or `*mut T`"
)]
pub trait AtomicMemory {}
impl AtomicMemory for Writable {}

/// Element types with hardware atomics: u32, i32, u64, i64, f32, f64.
#[diagnostic::on_unimplemented(
    message = "there are no atomics on elements of type `{Self}`",
    label = "atomics work on whole dwords",
    note = "atomics exist for u32, i32, u64, i64, f32 and f64; for pairs of f16 or bf16 there is `atomic_pair`"
)]
pub trait AtomicElement: Number {}

/// Integer types with hardware atomics.
#[diagnostic::on_unimplemented(
    message = "this atomic operation does not exist for `{Self}`",
    label = "integers only",
    note = "atomics on f32 and f64 are load, store, swap, fetch_add, fetch_min and fetch_max"
)]
pub trait AtomicInteger: AtomicElement {}

/// Unsigned integer types with hardware atomics.
#[diagnostic::on_unimplemented(
    message = "wrapping increments and decrements do not exist for `{Self}`",
    label = "unsigned integers only",
    note = "use u32 or u64, or `fetch_add`"
)]
pub trait AtomicUnsigned: AtomicInteger {}

/// Element types of which an atomic can add a pair.
#[diagnostic::on_unimplemented(
    message = "there are no atomics on pairs of `{Self}`",
    label = "pairs of f16 or bf16 only",
    note = "elements of 32 and 64 bits have `atomic`"
)]
pub trait AtomicHalf: Number {}

macro_rules! elements {
    ($($class:ident: $($t:ty)*;)*) => { $($(impl $class for $t {})*)* };
}
elements! {
    AtomicElement: u32 i32 u64 i64 f32 f64;
    AtomicInteger: u32 i32 u64 i64;
    AtomicUnsigned: u32 u64;
    AtomicHalf: f16 bf16;
}

/// For each lane, an element of shared memory for atomic operations: `x.atomic(i)`.
///
/// As with Rust's atomics, each operation takes an ordering; in addition it takes the scope within which it is atomic.
/// `fetch_*` and `swap` return the old value; if the result is unused, the compiler chooses the instruction that does
/// not return it. Lanes that access the same element are served one after another. In a slice, an index past the end
/// changes nothing and returns 0.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// How many of the elements have each value below 16.
///     #[workgroup(256)]
///     fn histogram(x: &[u32], bins: &mut [u32]) {
///         let local = Lds::<u32, 16>::new();
///         let t = local_id().x;
///         if t < 16 {
///             local[t] = 0;
///         }
///         barrier();
///         let i = global_id().x;
///         if i < x.len() {
///             local.atomic(x[i] & 15).fetch_add(1, Scope::Workgroup, Ordering::Relaxed);
///         }
///         barrier();
///         if t < 16 {
///             bins.atomic(t).fetch_add(local[t], Scope::Agent, Ordering::Relaxed);
///         }
///     }
/// }
/// let x: Vec<u32> = (0..1000).map(|i| i * i % 16).collect();
/// let mut bins = vec![0u32; 16];
/// histogram.launch(&Device::simulator(Target::GFX90A), Grid::x(4), (&x, &mut bins))?;
/// assert_eq!(bins[..5], [250, 250, 0, 0, 250]);
/// # assert_eq!(bins.iter().sum::<u32>(), 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Atomic<T> {
    memory: Memory,
    offset: Value,
    element: PhantomData<T>,
}

impl<T> Clone for Atomic<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Atomic<T> {}

impl<T: Number> Atomic<T> {
    #[track_caller]
    fn at(memory: &impl Backing<T>, i: impl Index) -> Self {
        let loc = Location::caller();
        memory.check(i.index(), 1);
        let offset = byte_offset::<T>(memory, memory.rebase(i.index(), loc), loc);
        Self::at_offset(memory, offset)
    }

    fn at_offset(memory: &impl Backing<T>, offset: Value) -> Self {
        Atomic { memory: memory.memory(), offset, element: PhantomData }
    }

    /// Emits the access, with an operand of `count` elements.
    fn access<O: MemoryOrdering>(
        self,
        op: AtomicOp,
        count: u8,
        [value, expected]: [Option<Value>; 2],
        scope: Scope,
        loc: &'static Location<'static>,
    ) -> Option<Value> {
        let ty = Type { place: Place::Varying, elem: T::ELEM, count };
        let Atomic { memory, offset, .. } = self;
        let atomic = ir::Atomic { op, ty, memory, offset, value, expected, scope, ordering: O::ORDERING };
        let inst = Inst::Atomic(Box::new(atomic));
        with(|c| match value_type(op, ty) {
            Some(ty) => Some(c.value(inst, ty, loc)),
            None => {
                c.effect(inst, loc);
                None
            }
        })
    }

    #[track_caller]
    fn fetch<O: MemoryOrdering>(self, op: AtomicOp, value: Option<V<T>>, scope: Scope) -> V<T> {
        if let (Some(step), Some(value)) = (step(op), value)
            && T::ELEM.is_float()
            && !self.has(op)
        {
            let loc = Location::caller();
            return match T::ELEM.bytes() {
                8 => self.exchanged::<u64, O>(step, value, scope, loc),
                _ => self.exchanged::<u32, O>(step, value, scope, loc),
            };
        }
        let operands = [value.map(|v| v.value), None];
        let old = self.access::<O>(op, 1, operands, scope, Location::caller());
        V::from_value(old.unwrap_or_else(|| unreachable!("everything but a store has a value")))
    }

    /// True if the target has an instruction for the operation. Some operations have only an instruction that does not
    /// return the old value.
    fn has(self, op: AtomicOp) -> bool {
        let family = match self.memory {
            Memory::Buffer(_) => "buffer",
            Memory::Lds(_) => "ds",
            _ => "global",
        };
        let target = with(|c| c.target);
        op.name(T::ELEM).is_some_and(|name| {
            let name = name.mnemonic(family, T::ELEM, false);
            gcn_isa::table::find_operation(target, &name).next().is_some()
        })
    }

    /// Performs the operation by a compare-exchange loop on the bits of the element, as the integer type `W`; LLVM
    /// expands it in the same way. Past the end of a slice both the load and the exchange return 0, so the loop ends.
    fn exchanged<W: AtomicInteger, O: MemoryOrdering>(
        self,
        step: Bin,
        value: V<T>,
        scope: Scope,
        loc: &'static Location<'static>,
    ) -> V<T> {
        let bits = Atomic::<W> { memory: self.memory, offset: self.offset, element: PhantomData };
        let load = bits.access::<Relaxed>(AtomicOp::Load, 1, [None, None], scope, loc);
        let holds = |value: Option<Value>| value.unwrap_or_else(|| unreachable!("a load has a value"));
        let waits: V<bool> = true.into_device();
        let mut trips = WhileAny::begin((V::<W>::from_value(holds(load)), waits));
        trips.test(trips.values().1.value);
        let (old, _) = trips.values();
        let before = V::<T>::emit(Inst::Bitcast(old.value), loc);
        let after = V::<T>::emit(Inst::Bin(step, before.value, value.value), loc);
        let new = V::<W>::emit(Inst::Bitcast(after.value), loc);
        let operands = [Some(new.value), Some(old.value)];
        let seen =
            V::<W>::from_value(holds(bits.access::<O>(AtomicOp::CompareExchange, 1, operands, scope, loc)));
        let lost = V::<bool>::emit(Inst::Cmp(Pred::Ne, seen.value, old.value), loc);
        V::emit(Inst::Bitcast(trips.end((seen, lost)).0.value), loc)
    }
}

/// The arithmetic of the operation; `None` if a compare-exchange loop cannot implement it.
fn step(op: AtomicOp) -> Option<Bin> {
    match op {
        AtomicOp::Add => Some(Bin::Add),
        AtomicOp::Min => Some(Bin::Min),
        AtomicOp::Max => Some(Bin::Max),
        _ => None,
    }
}

impl<T: Number> Atomic<T> {
    /// Loads the element.
    #[track_caller]
    pub fn load<O: LoadOrdering>(self, scope: Scope, ordering: O) -> V<T> {
        _ = ordering;
        self.fetch::<O>(AtomicOp::Load, None, scope)
    }

    /// Replaces the element.
    #[track_caller]
    pub fn store<O: StoreOrdering>(self, value: impl IntoDevice<V<T>>, scope: Scope, ordering: O) {
        _ = ordering;
        let value = value.into_device().value;
        self.access::<O>(AtomicOp::Store, 1, [Some(value), None], scope, Location::caller());
    }

    /// Replaces the element and returns the old value.
    #[track_caller]
    pub fn swap<O: MemoryOrdering>(self, value: impl IntoDevice<V<T>>, scope: Scope, ordering: O) -> V<T> {
        _ = ordering;
        self.fetch::<O>(AtomicOp::Swap, Some(value.into_device()), scope)
    }

    /// Adds to the element. The order in which lanes add floats is unspecified, and denormal results in memory may be
    /// flushed to zero. If the target has no instruction that adds such floats (f32 in memory before gfx908 and on RDNA
    /// 1 and 2, f64 before gfx90a and on RDNA), this is a compare-exchange loop.
    #[track_caller]
    pub fn fetch_add<O: MemoryOrdering>(
        self,
        value: impl IntoDevice<V<T>>,
        scope: Scope,
        ordering: O,
    ) -> V<T> {
        _ = ordering;
        self.fetch::<O>(AtomicOp::Add, Some(value.into_device()), scope)
    }
}

impl<T: Number> Atomic<T> {
    /// Replaces the element by `new` in the lanes in which it equals `current`. Returns the old value: if that equals
    /// `current`, the element was replaced. The ordering applies in both cases.
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// gcn_kernel! {
    ///     /// One lane of each workgroup claims the slot that carries the group's number.
    ///     #[workgroup(64)]
    ///     fn claim(owner: &mut [u32], won: &mut [u32]) {
    ///         let old = owner.atomic(workgroup_id().x).compare_exchange(
    ///             u32::MAX, lane_id(), Scope::Workgroup, Ordering::AcqRel,
    ///         );
    ///         won[global_id().x] = select(old == u32::MAX, splat::<u32>(1), 0);
    ///     }
    /// }
    /// # let (mut owner, mut won) = (vec![u32::MAX; 2], vec![7u32; 128]);
    /// # claim.launch(&Device::simulator(Target::GFX942), Grid::x(2), (&mut owner, &mut won)).unwrap();
    /// # assert_eq!(won.iter().sum::<u32>(), 2);
    /// ```
    #[track_caller]
    pub fn compare_exchange<O: MemoryOrdering>(
        self,
        current: impl IntoDevice<V<T>>,
        new: impl IntoDevice<V<T>>,
        scope: Scope,
        ordering: O,
    ) -> V<T>
    where
        T: AtomicInteger,
    {
        _ = ordering;
        let operands = [Some(new.into_device().value), Some(current.into_device().value)];
        let old = self.access::<O>(AtomicOp::CompareExchange, 1, operands, scope, Location::caller());
        V::from_value(old.unwrap_or_else(|| unreachable!("everything but a store has a value")))
    }
}

impl<T: AtomicInteger> Atomic<T> {
    /// Like [`compare_exchange`](Self::compare_exchange), with separate orderings for success and failure, as in
    /// `core`. A call `x.compare_exchange(current, new, scope, success, failure)` in a kernel expands to this function.
    /// The hardware has no separate orderings, so the operation gets one that satisfies both.
    #[track_caller]
    pub fn compare_exchange_ordered<O: MemoryOrdering, F: LoadOrdering>(
        self,
        current: impl IntoDevice<V<T>>,
        new: impl IntoDevice<V<T>>,
        scope: Scope,
        success: O,
        failure: F,
    ) -> V<T> {
        let (current, new) = (current.into_device(), new.into_device());
        _ = failure;
        match (O::ORDERING, F::ORDERING) {
            (Model::Relaxed, Model::Acquire) => self.compare_exchange(current, new, scope, Ordering::Acquire),
            (Model::Release, Model::Acquire) => self.compare_exchange(current, new, scope, Ordering::AcqRel),
            (_, Model::SeqCst) => self.compare_exchange(current, new, scope, Ordering::SeqCst),
            _ => self.compare_exchange(current, new, scope, success),
        }
    }
}

macro_rules! integer_operations {
    ($($class:ident $(#[$doc:meta])* $name:ident $op:ident)*) => {
        impl<T: Number> Atomic<T> {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $name<O: MemoryOrdering>(
                self,
                value: impl IntoDevice<V<T>>,
                scope: Scope,
                ordering: O,
            ) -> V<T>
            where
                T: $class,
            {
                _ = ordering;
                self.fetch::<O>(AtomicOp::$op, Some(value.into_device()), scope)
            }
        )*}
    };
}

integer_operations! {
    AtomicInteger /// Subtracts with wrapping and returns the old value.
    fetch_sub Sub
    AtomicElement /// Stores the minimum, signed or unsigned according to the element type, and returns the old value. Floats for
    /// which the target has no instruction use a compare-exchange loop. If one value is a NaN, the result is unspecified.
    fetch_min Min
    AtomicElement /// Stores the maximum and returns the old value, otherwise like [`fetch_min`](Self::fetch_min).
    fetch_max Max
    AtomicInteger /// Stores the bitwise and, and returns the old value.
    fetch_and And
    AtomicInteger /// Stores the bitwise or, and returns the old value.
    fetch_or Or
    AtomicInteger /// Stores the bitwise exclusive or, and returns the old value.
    fetch_xor Xor
    AtomicUnsigned /// Adds 1, or stores 0 if the old value is at least `value` (LLVM's `uinc_wrap`); returns the old value.
    fetch_inc_wrap IncWrap
    AtomicUnsigned /// Subtracts 1, or stores `value` if the old value is 0 or greater than `value` (LLVM's `udec_wrap`); returns the
    /// old value.
    fetch_dec_wrap DecWrap
}

/// Two neighbouring elements of shared memory, for atomic addition: `x.atomic_pair(i)`.
#[derive(Debug)]
pub struct AtomicPair<T> {
    first: Atomic<T>,
}

impl<T> Clone for AtomicPair<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for AtomicPair<T> {}

impl<T: AtomicHalf> AtomicPair<T> {
    /// Adds to both elements at once and returns the old values. The pair must start at an even element. Adding f16 in
    /// global memory needs gfx908 or later (gfx90a if the old value is used); all other cases need gfx942.
    #[track_caller]
    pub fn fetch_add<O: MemoryOrdering>(
        self,
        value: Vector<T, 2>,
        scope: Scope,
        ordering: O,
    ) -> Vector<T, 2> {
        _ = ordering;
        let operands = [Some(value.value), None];
        let old = self.first.access::<O>(AtomicOp::Add, 2, operands, scope, Location::caller());
        Vector::of(old.unwrap_or_else(|| unreachable!("everything but a store has a value")))
    }
}

/// Defines `atomic` and `atomic_pair` for all kinds of memory, with the same documentation.
macro_rules! atomic_places {
    ($([$($generics:tt)*] $memory:ty $(, $access:ident)?;)*) => {$(
        impl<T: Number, $($generics)*> $memory {
            /// Selects element `i` for atomic operations.
            #[track_caller]
            pub fn atomic(&self, i: impl Index) -> Atomic<T>
            where
                T: AtomicElement,
                $($access: AtomicMemory,)?
            {
                Atomic::at(self, i)
            }

            /// Selects elements `i` and `i + 1` for atomic addition; `i` must be even.
            #[track_caller]
            pub fn atomic_pair(&self, i: impl Index) -> AtomicPair<T>
            where
                T: AtomicHalf,
                $($access: AtomicMemory,)?
            {
                AtomicPair { first: Atomic::at(self, i) }
            }
        }
    )*};
}

atomic_places! {
    [A] Slice<T, A>, A;
    [A] Ptr<T, A>, A;
    [const N: usize] Lds<T, N>;
    [] LdsSlice<T>;
    [] LdsRow<T>;
}

impl<T: Number, A> LanePtr<T, A> {
    /// Selects the pointer's target for atomic operations.
    #[track_caller]
    pub fn atomic(&self) -> Atomic<T>
    where
        T: AtomicElement,
        A: AtomicMemory,
    {
        Atomic::at(self, 0)
    }
}
