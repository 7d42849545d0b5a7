#![doc = include_str!("../README.md")]
//!
//! # The language
//!
//! A kernel is written in Rust's syntax inside [`gcn_kernel!`]. Its body runs once on the host, when the kernel is
//! built: device values are handles, and operators on them append instructions to the kernel.
//!
//! - [`S<T>`](S) is one value per wave (uniform), [`V<T>`](V) one per lane (varying). `S` converts to `V` implicitly;
//!   `V` converts to `S` only by [`read_first_lane`](lang::read_first_lane) and similar functions. A parameter of a plain
//!   scalar type is an `S`.
//! - `let mut` declares a device variable. It is varying if its initial value is; `let mut x: V<f32> = 0.0;` makes it
//!   varying explicitly.
//! - `if`, `match`, `while`, `loop` and `for i in a..b` (also `a..=b`, `.rev()` and `.step_by(k)`) are scalar branches
//!   if the condition is uniform, and mask lanes if it is varying; `break`, `continue`, `return` and labels are Rust's.
//!   `&&` and `||` compute both sides.
//! - `#[device] fn`, `#[device] struct` and `#[device] impl` declare functions and data; bodies may contain `asm!`,
//!   `trap()`, `debug_assert!` and `dbg!`.
//! - Accesses to `&[T]` and `&mut [T]` arguments are bounds-checked by the hardware; `*const T` and `*mut T` are raw
//!   pointers. [`Lds`](lang::Lds) is memory that a workgroup shares, and [`barrier()`](lang::barrier) orders its use; a
//!   barrier under a varying condition does not compile.
//! - [`Acc`](lang::Acc), [`FragA`](lang::FragA), [`FragB`](lang::FragB) and [`mfma`](lang::mfma) multiply matrices,
//!   whose shapes are part of the types.
//! - `#[unroll] for`, `comptime { … }`, `comptime if`, const generics and captured constants are host code, evaluated
//!   while the kernel is built.
//! - Every instruction is available as a function in [`isa`] under its mnemonic.
//! - [`gcn_asm!`] takes literal assembly, as a kernel or as a program, and checks it while your crate compiles: see
//!   [`asm`].
//!
//! The [`guide`] has a page for each of these topics.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

extern crate self as gcn_dsl;

pub mod asm;
pub mod catalog;
#[cfg(doc)]
pub mod guide;
#[doc(hidden)]
pub mod ir;
pub mod kernel;
pub mod lang;
pub mod launch;
#[doc(hidden)]
pub mod lower;
#[doc(hidden)]
pub mod mir;
#[doc(hidden)]
pub mod regalloc;
pub mod scalar;
#[doc(hidden)]
pub mod sched;

/// The simulator behind [`Device::simulator`]: modes, sanitizers, timing, and launches of any code object.
pub use gcn_sim as sim;

pub use asm::AsmProgram;
pub use gcn_dsl_macros::{gcn_asm, gcn_kernel};
pub use gcn_emit::target_id::Feature;
pub use gcn_isa::WaveSize;
pub use gcn_isa::hazards::RuleSet;
pub use kernel::{AnyKernel, BuildCause, BuildError, BuildOptions, BuiltKernel};
#[doc(inline)]
pub use lang::isa;
#[cfg_attr(doc, doc(hidden))]
pub use lang::private as __private;
pub use lang::{DevicePtr, S, V};
pub use launch::{
    Device, DeviceBuffer, DeviceSlice, DeviceView, DeviceViewMut, Download, Event, Graph, GraphBuilder, Grid,
    Kernel, LaunchError, LaunchStats, LoadedKernel, LoadedModule, Module, PinnedBuffer, Properties, Stream,
    TimedKernel,
};
#[cfg(feature = "objects")]
pub use launch::{LoadedObject, ObjectArg, ObjectArgs, ObjectKernel};

/// The names that programs with kernels commonly use: `use gcn_dsl::prelude::*;`.
pub mod prelude {
    pub use crate::lang::matrix::{
        Acc, FragA, FragB, LdsTile, Spread, Tile, TileA, TileB, col_major, matmul, mfma, mfma_scale,
        mfma_with, row_major, smfmac,
    };
    pub use crate::lang::{
        AllLanes, Arithmetic, AtomicElement, Cache, DeviceArray, Float, Integer, LanePtr, Lds, LdsAccesses,
        LdsBuf, LdsPair, LdsSlice, Loads, Numeric, Ordering, Packed, Pending, Private, Readable, S,
        ScalarLoads, Scope, Stores, V, Vector, Writable, Written, all, all_lanes, any, ballot, barrier,
        barrier_with_reads_pending, cold_path, fence, global_id, global_size, issue, lane_id, local_id,
        num_waves, num_workgroups, read_first_lane, read_lane, sched_barrier, sched_barrier_except, select,
        set_priority, shuffle, shuffle_xor, splat, target, trap, wait, wait_all, wave_id, wave_size,
        workgroup_id, workgroup_size,
    };
    pub use crate::lang::{
        Lanes, active_lanes, bf16x2, f16x2, f32x2, i16x2, is_first_lane, lane_mask, match_any, mbcnt,
        quad_permute, row_broadcast, row_half_mirror, row_mirror, row_rotate, row_shift_down, row_shift_up,
        shuffle_down, shuffle_up, u16x2, wave_and, wave_exclusive_and, wave_exclusive_max,
        wave_exclusive_min, wave_exclusive_or, wave_exclusive_product, wave_exclusive_sum,
        wave_exclusive_xor, wave_inclusive_and, wave_inclusive_max, wave_inclusive_min, wave_inclusive_or,
        wave_inclusive_product, wave_inclusive_sum, wave_inclusive_xor, wave_max, wave_min, wave_or,
        wave_product, wave_sum, wave_xor, write_lane,
    };
    pub use crate::lang::{
        workgroup_all, workgroup_and, workgroup_any, workgroup_count, workgroup_exclusive_and,
        workgroup_exclusive_max, workgroup_exclusive_min, workgroup_exclusive_or,
        workgroup_exclusive_product, workgroup_exclusive_sum, workgroup_exclusive_xor,
        workgroup_inclusive_and, workgroup_inclusive_max, workgroup_inclusive_min, workgroup_inclusive_or,
        workgroup_inclusive_product, workgroup_inclusive_sum, workgroup_inclusive_xor, workgroup_max,
        workgroup_min, workgroup_or, workgroup_product, workgroup_sum, workgroup_xor,
    };
    pub use crate::scalar::{LaneMask, Number, Scalar, bf16, f8e4m3, f8e5m2, f16};
    pub use crate::sched::Classes;
    pub use crate::{
        AsmProgram, Device, DeviceBuffer, DevicePtr, DeviceSlice, Grid, Kernel, Stream, TimedKernel, gcn_asm,
        gcn_kernel,
    };
    pub use gcn_emit::text::Comments;
    pub use gcn_isa::Target;
}
