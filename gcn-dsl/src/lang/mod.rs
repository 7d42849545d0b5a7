//! The kernel language: device values and the functions that `gcn_kernel!` expands to.
//!
//! A kernel's body runs once on the host, when the kernel is built. Device values are handles to IR values; operators and
//! calls on them append instructions to the kernel that the current thread is building (`context`). What a user names is
//! re-exported by the crate's prelude; the functions that only the macro's expansion names are here.

mod args;
mod atomic;
mod cast;
mod compare;
mod context;
mod control;
mod dma;
mod hinted;
mod ids;
mod lds;
mod lds_slice;
mod matrix;
mod memory;
mod ops;
mod ordering;
mod pointer;
mod private;
mod value;
mod var;
mod vector;
mod wave;

pub use args::{Arguments, PackedArg, Packer, Signature, SignatureArg, SignatureArgKind, WriteBack};
pub use atomic::{
    Atomic, AtomicElement, AtomicHalf, AtomicInteger, AtomicMemory, AtomicPair, AtomicUnsigned, fence,
};
pub use cast::{CastTo, cast};
pub use compare::{Compare, Logic, and, eq, ge, gt, le, lt, ne, or};
pub use context::{TraceError, trace};
pub use control::*;
pub use hinted::Cache;
pub use ids::{Dim3, global_id, lane_id, local_id, wave_id, workgroup_id, workgroup_size};
pub use lds::Lds;
pub use lds_slice::LdsSlice;
pub use matrix::{Acc, Accumulates, FragA, FragB, mfma};
pub use memory::{
    Index, LoadAt, LoadDeref, Ptr, ReadOnly, Slice, StoreAt, StoreDeref, Writable, load, load_deref, store,
    store_deref,
};
pub use ops::{Arithmetic, Float, Integer, SameElement};
pub use ordering::{
    AcqRel, Acquire, FenceOrdering, LoadOrdering, MemoryOrdering, Ordering, Relaxed, Release, Scope, SeqCst,
    StoreOrdering,
};
pub use pointer::{Displacement, LanePtr};
pub use private::Private;
pub use value::{IntoDevice, S, V, annotate, convert, select, splat};
pub use var::{AssignIn, Declare, Flatten, Var};
pub use vector::Vector;
pub use wave::{all, any, ballot, barrier, read_first_lane, read_lane, shuffle, shuffle_xor};

pub(crate) use context::with;
pub(crate) use var::next_value;
