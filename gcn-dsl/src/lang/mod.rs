//! The DSL: device values, and the functions to which `gcn_kernel!` expands.
//!
//! A kernel's body runs once on the host, when the kernel is built; this is called *tracing*. Device values are handles
//! of IR values; operators and calls on them append instructions to the kernel that the current thread is building
//! (`context`). The names for users are re-exported here, and most of them by the prelude, too; the names for the
//! macro's expansion are in `private`, to which the expansion refers as `gcn_dsl::__private`.

#[macro_use]
mod for_each;

mod arguments;
mod collective;
mod compound;
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
mod targets;
mod values;

pub use arguments::by_value::ByValue;
pub use arguments::device_ptr::DevicePtr;
pub use arguments::signature::{Arguments, RegisterLimits, Signature, SignatureArg, SignatureArgKind};
pub use collective::barrier::{barrier, barrier_with_reads_pending};
pub use collective::match_any::match_any;
pub use collective::reduce::{
    Lanes, Segment, wave_and, wave_exclusive_and, wave_exclusive_max, wave_exclusive_min, wave_exclusive_or,
    wave_exclusive_product, wave_exclusive_sum, wave_exclusive_xor, wave_inclusive_and, wave_inclusive_max,
    wave_inclusive_min, wave_inclusive_or, wave_inclusive_product, wave_inclusive_sum, wave_inclusive_xor,
    wave_max, wave_min, wave_or, wave_product, wave_sum, wave_xor,
};
pub use collective::shuffle::{
    Distance, is_first_lane, lane_mask, mbcnt, quad_permute, row_broadcast, row_half_mirror, row_mirror,
    row_rotate, row_shift_down, row_shift_up, shuffle, shuffle_down, shuffle_up, shuffle_xor, write_lane,
};
pub use collective::workgroup::{
    workgroup_all, workgroup_and, workgroup_any, workgroup_count, workgroup_exclusive_and,
    workgroup_exclusive_max, workgroup_exclusive_min, workgroup_exclusive_or, workgroup_exclusive_product,
    workgroup_exclusive_sum, workgroup_exclusive_xor, workgroup_inclusive_and, workgroup_inclusive_max,
    workgroup_inclusive_min, workgroup_inclusive_or, workgroup_inclusive_product, workgroup_inclusive_sum,
    workgroup_inclusive_xor, workgroup_max, workgroup_min, workgroup_or, workgroup_product, workgroup_sum,
    workgroup_xor,
};
pub use compound::array_methods::DeviceArray;
pub use context::TraceError;
pub use control::assert::trap;
pub use control::everyone::{Barrier, Everyone, OnMx};
pub use control::function::{AllLanes, AllLanesHere, Numeric, all_lanes, target};
pub use device::{Maybe, Outcome};
pub use lanes::ids::{
    Dim3, global_id, global_size, lane_id, local_id, num_waves, num_workgroups, wave_id, workgroup_id,
    workgroup_size,
};
pub use lanes::size::wave_size;
pub use lanes::wave::{active_lanes, all, any, ballot, read_first_lane, read_lane};
pub use matrix::narrow_float::{Packed, PackedFormat, Unpacked};
pub use matrix::{
    Acc, AnyTarget, Bound, FragA, FragB, Gfx90a, Gfx900, Gfx906, Gfx908, Gfx942, Gfx950, Gfx1010, Gfx1011,
    Gfx1030, Gfx1100, Gfx1150, Gfx1200, Gfx1250, HasMfma, HasMfmaF8, HasMfmaF64, HasMfmaMx, HasMfmaXf32,
    HasSmfmac, LdsTile, Tile, TileA, TileB, col_major, matmul, mfma, mfma_scale, mfma_with, row_major,
    smfmac,
};
pub use memory::access::{LoadAt, StoreAt};
pub use memory::atomic::{
    Atomic, AtomicElement, AtomicHalf, AtomicInteger, AtomicMemory, AtomicPair, AtomicUnsigned, fence,
};
pub use memory::cache::Cache;
pub(crate) use memory::layout::taken;
pub use memory::layout::{Index, Run, Stored};
pub use memory::lds::{Lds, LdsElement};
pub use memory::lds_row::{LdsPlane, LdsRow};
pub use memory::lds_slice::LdsSlice;
pub use memory::ordering::{
    AcqRel, Acquire, FenceOrdering, LoadOrdering, MemoryOrdering, Ordering, Relaxed, Release, Scope, SeqCst,
    StoreOrdering,
};
pub use memory::place::ElementPlace;
pub use memory::pointer::{Displacement, LanePtr, Steps};
pub use memory::private::Private;
pub use memory::slice::{Ptr, ReadOnly, Slice, Writable};
pub use memory::subslice::PartOf;
pub use numbers::arithmetic::{Arithmetic, Float, Integer, Signed, Unsigned};
pub use numbers::cast::{CastTo, cast};
pub use numbers::float::Approximate;
pub use numbers::packed::{HalfFloat, bf16x2, f16x2, f32x2, i16x2, u16x2};
pub use schedule::{
    AsyncMemory, Awaitable, LdsAccesses, LdsBuf, LdsPair, Loads, Pending, Readable, ScalarLoads, Stores,
    WaitCounter, Written, cold_path, issue, sched_barrier, sched_barrier_except, set_priority, wait,
    wait_all,
};
pub use values::compare::{Compare, Logic, and, eq, ge, gt, le, lt, ne, or};
pub use values::elements::Elements;
pub use values::flow::Convergent;
pub use values::value::{IntoDevice, S, V, select, splat};
pub use values::vector::Vector;

pub(crate) use context::with;
pub(crate) use values::data::next_value;

/// Names for the macro's expansions only; they are not part of the DSL. They are hidden in the documentation only: if
/// rustc saw `doc(hidden)`, it would print the full paths of these items.
#[cfg_attr(doc, doc(hidden))]
pub mod private {
    /// The traits whose methods an expansion calls on wrappers of its own, so that method lookup chooses by the type of the
    /// wrapped value. Without names, because a function that imports all of them may use the same names for other things.
    pub mod by_type {
        /// The short name of this module's parent in expansions.
        pub use crate::lang::private as __gcn;

        pub use super::{
            AssertedOnHost as _, BesideAny as _, BesideOther as _, BesideSame as _, CallsWith as _,
            CallsWithAll as _, ElementBecomes as _, ElementIs as _, FirstStays as _, FirstVaries as _,
            GivenInLanes as _, GivenToAll as _, GivenUniform as _, GivesBack as _, HasElement as _,
            HoldNumber as _, HoldOther as _, IsNoSize as _, IsSize as _, JoinsLiterals as _,
            JoinsNumbers as _, JoinsOthers as _, LiteralsOfNumbers as _, LiteralsOfOthers as _,
            NumberInto as _, OtherInto as _, ShowOther as _,
        };
    }

    pub use super::arguments::by_value::{OneForAll, one_for_all, receiver, receiver_in_lanes};
    pub use super::arguments::signature::{PackedArg, Packer, WriteBack};
    pub use super::compound::aggregate::{
        Aggregate, Beside, BesideAny, BesideOther, BesideSame, Element, ElementBecomes, ElementIndex,
        ElementIs, IntoField, Like, NoField, Nothing, alike, element, field, like, nothing,
    };
    pub use super::compound::array_methods::HasElement;
    pub use super::compound::enums::{
        Blank, Listed, OfVariant, Placed, Tag, Variants, holds_blank, host_value, is_variant, variant,
    };
    pub use super::compound::iterator::{
        Listable, Ordered, Positioned, Total, all_elements, any_element, elements_of, greatest_of, least_of,
        limit, position_of, product_of, sum_of,
    };
    pub use super::compound::option::{Absent, Chosen, none, some};
    pub use super::compound::pattern::{TakenApart, taken_apart};
    pub use super::compound::result::{Bad, Good, err, ok};
    pub use super::context::calls::{CallSite, Frames, enter};
    pub use super::context::{Tracing, trace, trace_with, with_builder};
    pub use super::control::assert::{
        Asserted, AssertedOnHost, DebugCondition, HostCondition, dbg, debug_assert, debugging, on_host,
    };
    pub use super::control::function::{
        Anyone, Called, Changeable, FromCaller, InClosure, LendsMemory, Lent, PromisesAllLanes, RunsForAll,
        mutable_self,
    };
    pub use super::control::short_circuit::{LeftSide, and_begin, or_begin};
    pub use super::control::*;
    pub use super::expanded::autoref::{ByMethod, CalledOn, ChangesIn, Held, HoldNumber, HoldOther};
    pub use super::expanded::call::{
        AsArgument, Call, CallWith, CallsWith, CallsWithAll, GivesBack, KeepsToken, MetIn, OnItsOwn,
        Requirement,
    };
    pub use super::expanded::inference::{
        EachLanes, First, FirstStays, FirstVaries, Given, GivenInLanes, GivenToAll, GivenUniform, Joins,
        JoinsLiterals, JoinsNumbers, JoinsOthers, Stays, each_lanes_own, given, given_by,
    };
    pub use super::expanded::path::{AsItIs, MayBeVariant, written};
    pub use super::expanded::unsupported::{HasIterator, HasRsqrt, HasUnwrap};
    pub use super::memory::access::{load, store};
    pub use super::memory::const_index::{Counted, FromCount, HostCount, counted};
    pub use super::memory::deref::{
        LoadDeref, SafelyDereferenced, StoreDeref, load_deref, store_deref, unsafe_load_deref,
        unsafe_store_deref,
    };
    pub use super::memory::dynamic_index::{Choice, TableRow, each};
    pub use super::memory::layout::{ArrayIndex, Bytes, HoldsParts, InElement, Leaf, in_element};
    pub use super::memory::lds::LdsPlace;
    pub use super::memory::place::{PlaceAt, place_at};
    pub use super::memory::subslice::{End, part, to_last};
    pub use super::numbers::bytes::{BytesOf, from_be_bytes, from_le_bytes};
    pub use super::numbers::cast::{CastToSize, cast_to_size};
    pub use super::numbers::float_parts::{BitsOf, from_bits};
    pub use super::numbers::host_number::{KnownNumber, known};
    pub use super::numbers::host_size::{GivenSize, IsNoSize, IsSize, PerhapsSize, Size, given_size, size};
    pub use super::numbers::into::{Converts, NumberInto, OtherInto};
    pub use super::numbers::min_max::{Extreme, greatest, least};
    pub use super::schedule::{
        Carried, Carry, Drained, Interleave, Manual, MatrixPhase, PingPong, ReadPhase, StorePhase, Turn,
        TurnPhase, WritePhase, carried, interleave, manual_begin, matrix_phase_begin, ping_pong_begin,
        traced,
    };
    pub use super::values::data::{AssignIn, Declare, Flatten};
    pub use super::values::debug_name::{ShowOther, Shown};
    pub use super::values::element_assign::{HasElements, at, element_of, put};
    pub use super::values::flow::{
        After, EveryLane, Flow, InLoop, Leave, SameScope, SomeLanesOf, WholeWorkgroup, after, either,
    };
    pub use super::values::kind::{Kind, Uniform, Varying};
    pub use super::values::literal::{
        Literal, LiteralsOfNumbers, LiteralsOfOthers, Real, Receiver, TakesLiteral, Vary, Whole, literal,
        real, vary, whole,
    };
    pub use super::values::merge::{Merge, Never};
    pub use super::values::operand::{At, OfType, Operand, SameElement, of_type};
    pub use super::values::register::{Agprs, InRegisters, RegisterFile, Sgprs, Vgprs, pinned};
    pub use super::values::value::{AsIs, PerLane, annotate, convert, default_of};
    pub use super::values::variable::{Here, Var, holds};
    pub use super::*;
}
pub(crate) use private::*;
