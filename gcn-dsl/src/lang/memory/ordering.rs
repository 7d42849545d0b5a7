//! Memory orderings as types, so that an ordering that an operation does not allow does not compile.

pub use gcn_isa::memory_model::Scope;

use gcn_isa::memory_model::Ordering as Model;

/// Memory orderings with the names of [`std::sync::atomic::Ordering`]; each is a separate type.
///
/// An operation accepts only the orderings that make sense for it: a load accepts `Relaxed`, `Acquire` and `SeqCst`; a
/// store `Relaxed`, `Release` and `SeqCst`; a fence all but `Relaxed`; a read-modify-write all of them.
#[derive(Debug)]
pub enum Ordering {}

#[allow(non_upper_case_globals, reason = "they are written like the variants of Rust's `Ordering`")]
impl Ordering {
    /// The operation is atomic; it orders no other accesses.
    pub const Relaxed: Relaxed = Relaxed;
    /// Later accesses do not happen before the operation. If it reads the value of a `Release` store, all accesses
    /// before that store are visible.
    pub const Acquire: Acquire = Acquire;
    /// Earlier accesses do not happen after the operation.
    pub const Release: Release = Release;
    /// Both `Acquire` and `Release`.
    pub const AcqRel: AcqRel = AcqRel;
    /// As `AcqRel`; in addition, all lanes see all `SeqCst` operations in one order.
    pub const SeqCst: SeqCst = SeqCst;
}

/// The types of the five orderings.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a memory ordering of the device",
    label = "expected one of the orderings of `gcn_dsl`",
    note = "write `Ordering::Relaxed`, `Acquire`, `Release`, `AcqRel` or `SeqCst` with the `Ordering` of `gcn_dsl::prelude`"
)]
pub trait MemoryOrdering {
    /// The ordering as a value of the memory model.
    const ORDERING: Model;
}

/// An ordering that a load can have.
#[diagnostic::on_unimplemented(
    message = "a load cannot have the ordering `{Self}`",
    label = "not an ordering of loads",
    note = "a load writes nothing that it could release: use `Ordering::Acquire`, `Ordering::Relaxed` or `Ordering::SeqCst` of `gcn_dsl::prelude`"
)]
pub trait LoadOrdering: MemoryOrdering {}

/// An ordering that a store can have.
#[diagnostic::on_unimplemented(
    message = "a store cannot have the ordering `{Self}`",
    label = "not an ordering of stores",
    note = "a store reads nothing that it could acquire: use `Ordering::Release`, `Ordering::Relaxed` or `Ordering::SeqCst` of `gcn_dsl::prelude`"
)]
pub trait StoreOrdering: MemoryOrdering {}

/// An ordering that a fence can have.
#[diagnostic::on_unimplemented(
    message = "a fence cannot have the ordering `{Self}`",
    label = "not an ordering of fences",
    note = "a fence is there to order: use `Ordering::Acquire`, `Ordering::Release`, `Ordering::AcqRel` or `Ordering::SeqCst` of `gcn_dsl::prelude`"
)]
pub trait FenceOrdering: MemoryOrdering {}

macro_rules! orderings {
    ($($(#[$attr:meta])* $name:ident: $($used:ident)*;)*) => {$(
        $(#[$attr])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name;
        impl MemoryOrdering for $name {
            const ORDERING: Model = Model::$name;
        }
        $(impl $used for $name {})*
    )*};
}

orderings! {
    /// The type of [`Ordering::Relaxed`].
    Relaxed: LoadOrdering StoreOrdering;
    /// The type of [`Ordering::Acquire`].
    Acquire: LoadOrdering FenceOrdering;
    /// The type of [`Ordering::Release`].
    Release: StoreOrdering FenceOrdering;
    /// The type of [`Ordering::AcqRel`].
    AcqRel: FenceOrdering;
    /// The type of [`Ordering::SeqCst`].
    SeqCst: LoadOrdering StoreOrdering FenceOrdering;
}
