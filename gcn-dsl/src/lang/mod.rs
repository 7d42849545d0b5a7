//! The kernel language: device values and the functions that `gcn_kernel!` expands to.
//!
//! A kernel's body runs once on the host, when the kernel is built. Device values are handles to IR values; operators and
//! calls on them append instructions to the kernel that the current thread is building (`context`). What a user names is
//! re-exported by the crate's prelude; the functions that only the macro's expansion names are here.

mod arguments;
mod context;
mod control;
mod device;
mod expanded;
pub mod isa;
mod lanes;
pub mod matrix;
mod memory;
mod numbers;
mod schedule;
mod values;

pub use arguments::by_value::{ByValue, OneForAll, one_for_all, receiver, receiver_in_lanes};
pub use arguments::device_ptr::DevicePtr;
pub use arguments::signature::{
    Arguments, PackedArg, Packer, RegisterLimits, Signature, SignatureArg, SignatureArgKind, WriteBack,
};
pub use context::calls::{CallSite, Frames, enter};
pub use context::{TraceError, Tracing, trace, trace_with, with_builder};
pub use control::assert::{DebugCondition, HostCondition, dbg, debug_assert, debugging, on_host, trap};
pub use control::function::{
    AllLanes, Anyone, Called, Changeable, FromCaller, LendsMemory, Lent, Numeric, PromisesAllLanes,
    all_lanes, mutable_self, target,
};
pub use control::short_circuit::{LeftSide, and_begin, or_begin};
pub use control::*;
pub use device::{Maybe, Outcome};
pub use expanded::autoref::{ByMethod, CalledOn, ChangesIn, Held, HoldNumber, HoldOther};
pub use expanded::inference::{
    EachLanes, First, FirstStays, FirstVaries, Given, GivenInLanes, GivenToAll, Stays, each_lanes_own, given,
};
pub use expanded::path::{AsItIs, MayBeVariant, written};
pub use expanded::unsupported::{HasIterator, HasRsqrt, HasUnwrap};
pub use lanes::ids::{
    Dim3, global_id, global_size, lane_id, local_id, num_workgroups, wave_id, workgroup_id, workgroup_size,
};
pub use lanes::match_any::match_any;
pub use lanes::reduce::{
    Lanes, Segment, wave_and, wave_exclusive_and, wave_exclusive_max, wave_exclusive_min, wave_exclusive_or,
    wave_exclusive_product, wave_exclusive_sum, wave_exclusive_xor, wave_inclusive_and, wave_inclusive_max,
    wave_inclusive_min, wave_inclusive_or, wave_inclusive_product, wave_inclusive_sum, wave_inclusive_xor,
    wave_max, wave_min, wave_or, wave_product, wave_sum, wave_xor,
};
pub use lanes::shuffle::{
    Distance, is_first_lane, lane_mask, mbcnt, quad_permute, row_broadcast, row_half_mirror, row_mirror,
    row_rotate, row_shift_down, row_shift_up, shuffle, shuffle_down, shuffle_up, shuffle_xor, write_lane,
};
pub use lanes::size::wave_size;
pub use lanes::wave::{
    Convergent, active_lanes, all, any, ballot, barrier, barrier_with_reads_pending, read_first_lane,
    read_lane,
};
pub use lanes::workgroup::{
    workgroup_all, workgroup_and, workgroup_any, workgroup_count, workgroup_exclusive_and,
    workgroup_exclusive_max, workgroup_exclusive_min, workgroup_exclusive_or, workgroup_exclusive_product,
    workgroup_exclusive_sum, workgroup_exclusive_xor, workgroup_inclusive_and, workgroup_inclusive_max,
    workgroup_inclusive_min, workgroup_inclusive_or, workgroup_inclusive_product, workgroup_inclusive_sum,
    workgroup_inclusive_xor, workgroup_max, workgroup_min, workgroup_or, workgroup_product, workgroup_sum,
    workgroup_xor,
};
pub use matrix::{
    Acc, AnyTarget, Bound, FragA, FragB, Gfx90a, Gfx900, Gfx906, Gfx908, Gfx942, Gfx950, Gfx1010, Gfx1011,
    Gfx1030, Gfx1100, Gfx1150, Gfx1200, HasMfma, HasMfmaF8, HasMfmaF64, HasMfmaMx, HasMfmaXf32, HasSmfmac,
    LdsTile, On, Tile, TileA, TileB, col_major, matmul, mfma, mfma_scale, mfma_with, row_major, smfmac,
};
pub use memory::atomic::{
    Atomic, AtomicElement, AtomicHalf, AtomicInteger, AtomicMemory, AtomicPair, AtomicUnsigned, fence,
};
pub use memory::cache::Cache;
pub use memory::deref::{LoadDeref, StoreDeref, load_deref, store_deref};
pub(crate) use memory::layout::taken;
pub use memory::layout::{ArrayIndex, Bytes, HoldsParts, InElement, Leaf, Run, Stored, in_element};
pub use memory::lds::{Lds, LdsElement, LdsPlace};
pub use memory::lds_row::{LdsPlane, LdsRow};
pub use memory::lds_slice::LdsSlice;
pub use memory::ordering::{
    AcqRel, Acquire, FenceOrdering, LoadOrdering, MemoryOrdering, Ordering, Relaxed, Release, Scope, SeqCst,
    StoreOrdering,
};
pub use memory::place::{ElementPlace, PlaceAt, place_at};
pub use memory::pointer::{Displacement, LanePtr};
pub use memory::private::Private;
pub use memory::slice::{Index, LoadAt, Ptr, ReadOnly, Slice, StoreAt, Writable, load, store};
pub use memory::subslice::{End, PartOf, part, to_last};
pub use numbers::arithmetic::{Arithmetic, Float, Integer, Signed, Unsigned};
pub use numbers::bytes::{BytesOf, from_be_bytes, from_le_bytes};
pub use numbers::cast::{CastTo, CastToSize, cast, cast_to_size};
pub use numbers::compare::{Compare, Logic, and, eq, ge, gt, le, lt, ne, or};
pub use numbers::float::Approximate;
pub use numbers::float_parts::{BitsOf, from_bits};
pub use numbers::host_size::{IsNoSize, IsSize, PerhapsSize, Size, size};
pub use numbers::min_max::{Extreme, greatest, least};
pub use numbers::narrow_float::{Packed, PackedFormat, Unpacked};
pub use numbers::packed::{HalfFloat, bf16x2, f16x2, f32x2, i16x2, u16x2};
pub use schedule::{
    AsyncMemory, Awaitable, Carried, Carry, Drained, Interleave, LdsAccesses, LdsBuf, LdsPair, Loads, Manual,
    MatrixPhase, Pending, PingPong, ReadPhase, Readable, ScalarLoads, StorePhase, Stores, Turn, TurnPhase,
    WaitCounter, WritePhase, Written, barrier_turn, carried, cold_path, interleave, issue, manual_begin,
    matrix_phase_begin, ping_pong_begin, sched_barrier, sched_barrier_except, set_priority, traced, wait,
    wait_all,
};
pub use values::aggregate::{
    Aggregate, AsIs, Beside, BesideAny, BesideOther, BesideSame, Element, ElementBecomes, ElementIndex,
    ElementIs, IntoField, Like, NoField, Nothing, alike, element, field, like, nothing,
};
pub use values::array_methods::DeviceArray;
pub use values::const_index::{Counted, FromCount, HostCount, counted};
pub use values::data::{AssignIn, Declare, Flatten};
pub use values::debug_name::{ShowDevice, ShowOther, Shown};
pub use values::dynamic_index::{Choice, TableRow, each};
pub use values::element_assign::{HasElements, Here, at, element_of, put};
pub use values::enums::{Blank, Listed, OfVariant, Placed, Tag, Variants, holds_blank, is_variant, variant};
pub use values::iterator::{
    Elements, Listable, Ordered, Positioned, Total, all_elements, any_element, elements_of, given_by,
    greatest_of, least_of, position_of, product_of, sum_of,
};
pub use values::literal::{Literal, Real, TakesLiteral, Vary, Whole, literal, real, vary, whole};
pub use values::operand::{At, OfType, Operand, SameElement, of_type};
pub use values::option::{Absent, Chosen, none, some};
pub use values::pattern::{TakenApart, taken_apart};
pub use values::register::{Agprs, InRegisters, RegisterFile, Sgprs, Vgprs, pinned};
pub use values::result::{Bad, Good, err, ok};
pub use values::value::{IntoDevice, PerLane, S, V, annotate, convert, select, splat};
pub use values::variable::{Var, holds};
pub use values::vector::Vector;

pub(crate) use context::with;
pub(crate) use values::data::next_value;
