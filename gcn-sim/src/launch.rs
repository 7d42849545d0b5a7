//! Runs kernels from any compiler: takes a code object and a spec, which describes the launch and its arguments, and returns the results.
//!
//! A [`Program`] is a kernel in a loaded code object. [`Program::prepare`] sets up a launch as a [`Spec`] describes it: buffers in memory,
//! and a kernarg segment with the layout in the metadata, including hidden arguments. [`Prepared::run`] runs the kernel, and
//! [`Prepared::buffer`] reads its results.
//!
//! ```
//! use gcn_emit::asm::{Options, assemble};
//! use gcn_sim::launch::{Buffer, Element, Program, Spec};
//!
//! let text = r#"
//! .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
//! .amdhsa_code_object_version 5
//! .globl double
//! .p2align 8
//! .type double,@function
//! double:
//!   s_load_dwordx2 s[4:5], s[0:1], 0x0
//!   v_lshlrev_b32 v1, 2, v0
//!   s_waitcnt lgkmcnt(0)
//!   global_load_dword v2, v1, s[4:5]
//!   s_waitcnt vmcnt(0)
//!   v_lshlrev_b32 v2, 1, v2
//!   global_store_dword v1, v2, s[4:5]
//!   s_endpgm
//! .rodata
//! .amdhsa_kernel double
//!   .amdhsa_next_free_vgpr 3
//!   .amdhsa_next_free_sgpr 6
//!   .amdhsa_accum_offset 4
//!   .amdhsa_kernarg_size 8
//!   .amdhsa_user_sgpr_kernarg_segment_ptr 1
//! .end_amdhsa_kernel
//! .amdgpu_metadata
//! amdhsa.version: [1, 2]
//! amdhsa.kernels:
//!   - .name: double
//!     .symbol: double.kd
//!     .kernarg_segment_size: 8
//!     .kernarg_segment_align: 8
//!     .group_segment_fixed_size: 0
//!     .private_segment_fixed_size: 0
//!     .wavefront_size: 64
//!     .sgpr_count: 6
//!     .vgpr_count: 3
//!     .max_flat_workgroup_size: 64
//!     .args:
//!       - { .name: x, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
//! .end_amdgpu_metadata
//! "#;
//! let object = assemble("double.s", text, &Options::default())?.code_object()?;
//! let spec = Spec::new([1, 1, 1], [64, 1, 1]).arg("x", Buffer::iota(Element::U32, 64));
//! let mut launch = Program::load(&object, None)?.prepare(&spec, ".".as_ref())?;
//! launch.run(&gcn_sim::Options::strict())?;
//! let x = launch.buffer("x").unwrap();
//! assert_eq!(x.numbers().last().unwrap().to_string(), "126");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bind;
mod call;
mod element;
mod error;
mod fill;
mod image;
mod json;
mod kernarg;
mod npy;
mod object;
mod output;
mod prepared;
mod program;
mod reach;
mod sizes;
mod spec;
mod template;

pub use call::Call;
pub use element::{Element, Number, UnknownElement};
pub use error::Error;
pub use kernarg::Provided;
pub use object::{Object, Variable};
pub use output::Output;
pub use prepared::Prepared;
pub use program::Program;
pub use spec::{Arg, Buffer, Init, Key, Out, Spec, random_bits};

/// The scratch size in bytes per work-item that a kernel with a stack of unknown size gets in addition to that in its descriptor.
pub const DYNAMIC_STACK: u32 = 4096;
