//! The kernel language: device values and the functions that `gcn_kernel!` expands to.
//!
//! A kernel's body runs once on the host, when the kernel is built. Device values are handles to IR values; operators and
//! calls on them append instructions to the kernel that the current thread is building (`context`). What a user names is
//! re-exported by the crate's prelude; the functions that only the macro's expansion names are here.

mod absent;
mod aggregate;
mod args;
mod arrays;
mod atomic;
mod beside;
mod bounds;
mod by_value;
mod bytes;
mod called_on;
mod cast;
mod checked;
mod compare;
mod context;
mod control;
mod counted;
mod deref;
mod device;
mod device_ptr;
mod divide;
mod dma;
mod element;
mod elements;
mod embed;
mod euclid;
mod extreme;
mod float;
mod float_parts;
mod function;
mod given;
mod held;
mod hinted;
mod ids;
mod integer;
pub mod isa;
mod iterate;
mod known;
mod lazy;
mod lds;
mod lds_row;
mod lds_slice;
mod literal;
mod match_any;
mod math;
pub mod matrix;
mod maybe;
mod measures;
mod memory;
mod only_where;
mod operand;
mod ops;
mod ordering;
mod outcome;
mod overflow;
mod pack;
mod places;
mod pointer;
mod power;
mod private;
mod reduce;
mod register;
mod remainder;
mod schedule;
mod shift;
mod short;
mod shown;
mod shuffle;
mod size;
mod small;
mod stored;
mod subslice;
mod table;
mod taken_apart;
mod value;
mod var;
mod variants;
mod vector;
mod wave;
mod while_any;
mod workgroup;
mod written;

pub use absent::{HasIterator, HasRsqrt, HasUnwrap};
pub use aggregate::{
    Aggregate, AsIs, Beside, BesideAny, BesideOther, BesideSame, Element, ElementBecomes, ElementIndex,
    ElementIs, IntoField, Like, NoField, Nothing, alike, element, field, like, nothing,
};
pub use args::{
    Arguments, PackedArg, Packer, RegisterLimits, Signature, SignatureArg, SignatureArgKind, WriteBack,
};
pub use arrays::DeviceArray;
pub use atomic::{
    Atomic, AtomicElement, AtomicHalf, AtomicInteger, AtomicMemory, AtomicPair, AtomicUnsigned, fence,
};
pub use by_value::{ByValue, OneForAll, one_for_all, receiver, receiver_in_lanes};
pub use bytes::{BytesOf, from_be_bytes, from_le_bytes};
pub use called_on::{ByMethod, CalledOn, ChangesIn, Held, HoldNumber, HoldOther};
pub use cast::{CastTo, CastToSize, cast, cast_to_size};
pub use compare::{Compare, Logic, and, eq, ge, gt, le, lt, ne, or};
pub use context::{TraceError, Tracing, trace, trace_with, with_builder};
pub use control::*;
pub use counted::{Counted, FromCount, HostCount, counted};
pub use deref::{LoadDeref, StoreDeref, load_deref, store_deref};
pub use device::{Maybe, Outcome};
pub use device_ptr::DevicePtr;
pub use element::{HasElements, Here, at, element_of, put};
pub use embed::{DebugCondition, HostCondition, dbg, debug_assert, debugging, on_host, trap};
pub use extreme::{Extreme, greatest, least};
pub use float::Approximate;
pub use float_parts::{BitsOf, from_bits};
pub use function::{
    AllLanes, Anyone, CallSite, Called, Changeable, Frames, FromCaller, LendsMemory, Lent, Numeric,
    PromisesAllLanes, all_lanes, enter, mutable_self, target,
};
pub use given::{
    EachLanes, First, FirstStays, FirstVaries, Given, GivenInLanes, GivenToAll, Stays, each_lanes_own, given,
};
pub use hinted::Cache;
pub use ids::{
    Dim3, global_id, global_size, lane_id, local_id, num_workgroups, wave_id, workgroup_id, workgroup_size,
};
pub use iterate::{
    Elements, Listable, Ordered, Positioned, Total, all_elements, any_element, elements_of, given_by,
    greatest_of, least_of, position_of, product_of, sum_of,
};
pub use lazy::{LeftSide, and_begin, or_begin};
pub use lds::{Lds, LdsElement, LdsPlace};
pub use lds_row::{LdsPlane, LdsRow};
pub use lds_slice::LdsSlice;
pub use literal::{Literal, Real, TakesLiteral, Vary, Whole, literal, real, vary, whole};
pub use match_any::match_any;
pub use matrix::{
    Acc, AnyTarget, Bound, FragA, FragB, Gfx90a, Gfx900, Gfx906, Gfx908, Gfx942, Gfx950, HasMfma, HasMfmaF8,
    HasMfmaF64, HasMfmaMx, HasMfmaXf32, HasSmfmac, LdsTile, On, Tile, TileA, TileB, col_major, matmul, mfma,
    mfma_scale, mfma_with, row_major, smfmac,
};
pub use maybe::{Absent, Chosen, none, some};
pub use memory::{Index, LoadAt, Ptr, ReadOnly, Slice, StoreAt, Writable, load, store};
pub use operand::{At, OfType, Operand, SameElement, of_type};
pub use ops::{Arithmetic, Float, Integer, Signed, Unsigned};
pub use ordering::{
    AcqRel, Acquire, FenceOrdering, LoadOrdering, MemoryOrdering, Ordering, Relaxed, Release, Scope, SeqCst,
    StoreOrdering,
};
pub use outcome::{Bad, Good, err, ok};
pub use pack::{HalfFloat, bf16x2, f16x2, f32x2, i16x2, u16x2};
pub use places::{ElementPlace, PlaceAt, place_at};
pub use pointer::{Displacement, LanePtr};
pub use private::Private;
pub use reduce::{
    Lanes, Segment, wave_and, wave_exclusive_and, wave_exclusive_max, wave_exclusive_min, wave_exclusive_or,
    wave_exclusive_product, wave_exclusive_sum, wave_exclusive_xor, wave_inclusive_and, wave_inclusive_max,
    wave_inclusive_min, wave_inclusive_or, wave_inclusive_product, wave_inclusive_sum, wave_inclusive_xor,
    wave_max, wave_min, wave_or, wave_product, wave_sum, wave_xor,
};
pub use register::{Agprs, InRegisters, RegisterFile, Sgprs, Vgprs, pinned};
pub use schedule::{
    AsyncMemory, Awaitable, Carried, Carry, Drained, Interleave, LdsBuf, LdsPair, Lgkm, Manual, MatrixPhase,
    Pending, PingPong, ReadPhase, Readable, StorePhase, Turn, TurnPhase, Vm, WaitCounter, WritePhase,
    Written, barrier_turn, carried, cold_path, interleave, issue, manual_begin, matrix_phase_begin,
    ping_pong_begin, sched_barrier, sched_barrier_except, set_priority, traced, wait, wait_all,
};
pub use shown::{ShowDevice, ShowOther, Shown};
pub use shuffle::{
    Distance, active_lanes, is_first_lane, lane_mask, mbcnt, quad_permute, row_broadcast, row_half_mirror,
    row_mirror, row_rotate, row_shift_down, row_shift_up, shuffle, shuffle_down, shuffle_up, shuffle_xor,
    write_lane,
};
pub use size::{IsNoSize, IsSize, PerhapsSize, Size, size};
pub use small::{Packed, PackedFormat, Unpacked};
pub(crate) use stored::taken;
pub use stored::{ArrayIndex, Bytes, HoldsParts, InElement, Leaf, Run, Stored, in_element};
pub use subslice::{End, PartOf, part, to_last};
pub use table::{Choice, TableRow, each};
pub use taken_apart::{TakenApart, taken_apart};
pub use value::{IntoDevice, PerLane, S, V, annotate, convert, select, splat};
pub use var::{AssignIn, Declare, Flatten, Var, holds};
pub use variants::{Blank, Listed, OfVariant, Placed, Tag, Variants, holds_blank, is_variant, variant};
pub use vector::Vector;
pub use wave::{
    Convergent, all, any, ballot, barrier, barrier_with_reads_pending, read_first_lane, read_lane,
};
pub use workgroup::{
    workgroup_all, workgroup_and, workgroup_any, workgroup_count, workgroup_exclusive_and,
    workgroup_exclusive_max, workgroup_exclusive_min, workgroup_exclusive_or, workgroup_exclusive_product,
    workgroup_exclusive_sum, workgroup_exclusive_xor, workgroup_inclusive_and, workgroup_inclusive_max,
    workgroup_inclusive_min, workgroup_inclusive_or, workgroup_inclusive_product, workgroup_inclusive_sum,
    workgroup_inclusive_xor, workgroup_max, workgroup_min, workgroup_or, workgroup_product, workgroup_sum,
    workgroup_xor,
};
pub use written::{AsItIs, MayBeVariant, written};

pub(crate) use context::with;
pub(crate) use var::next_value;
