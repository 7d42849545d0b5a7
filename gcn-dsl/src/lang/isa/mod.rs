//! Every instruction of the table as a typed function with its own mnemonic, for use in kernels.
//!
//! The functions are generated from `gcn_isa::table`; [`catalog`] lists them. The compiler handles waits, encodings,
//! register allocation and the choice between VGPRs and AGPRs.
//!
//! - **Operands** that are read are parameters, in assembly order. A vector operand takes a [`V`], an [`S`] or a host
//!   value of the right width; a scalar operand takes an `S` or a host value ([`Sgprs`] if it is wider than two dwords,
//!   `&[T]` if it is a buffer resource). [`neg`], [`abs`] and [`sext`] around an operand are source modifiers.
//! - **An operand that is read and written** is a parameter, and its new value is a result: `let c = v_fmac_f32(c, a,
//!   b)`.
//! - **Results** are a tuple if there are several: written operands in order, then the new EXEC (of `s_*_saveexec_b64`,
//!   whose destination operand gets the old EXEC), then SCC as an `S<bool>`. A lane mask is a `V<bool>`.
//! - **Registers that are read implicitly** are parameters: `scc` takes an `S<bool>`, `vcc` a lane mask, `m0` an
//!   `S<u32>`. A write of EXEC is undone after the instruction, because the compiler manages EXEC.
//! - **Addresses** are one parameter, whose type is the addressing form: [`Off`], [`Offen`], [`Idxen`], [`Bothen`] for
//!   buffers; `V<u64>` or `(offset, base)` for global memory; `i32`, `S<u32>` or both for scalar memory.
//! - **Modifiers**: `f_with` takes the parameters of `f`, followed by [`Options`]. Offsets are parameters.
//! - **Variants** have a suffix: `_rtn` for an atomic that returns the old value, `_lds` for a load to LDS, `_dpp` for
//!   data-parallel primitives, `_sdwa` for sub-dword addressing. The last two take `old` as the first parameter: the
//!   destination's content in lanes or bytes that are not written.
//!
//! A kernel that calls an instruction that its target lacks does not build; with `#[targets(…)]` it does not even
//! compile. Modifiers and immediates that do not fit are build errors that name the call.
//!
//! ```
//! use gcn_dsl::{isa, prelude::*};
//! gcn_kernel! {
//!     /// 64-bit sums from 32-bit halves: two results, a carry in.
//!     #[workgroup(64)]
//!     fn add64(low: &mut [u32], high: &mut [u32], x: u32) {
//!         let i = global_id().x;
//!         let (sum, carry) = isa::v_add_co_u32(low[i], x);
//!         let (upper, _) = isa::v_addc_co_u32(high[i], 0, carry);
//!         low[i] = sum;
//!         high[i] = upper;
//!     }
//! }
//! # add64.build(Target::GFX90A).unwrap();
//! ```
//!
//! # Instructions without a function
//!
#![doc = include_str!(concat!(env!("OUT_DIR"), "/isa_excluded.md"))]

mod constant;
pub(super) mod operand;
mod options;
#[doc(hidden)] // for the test that calls every function
pub mod request;
mod sgprs;
#[cfg(test)]
mod tests;

use half::{bf16, f16};

use crate::catalog::{Effect, Variant};
use crate::lang::{IntoDevice, S, V, Vector};
use request::Request;

pub use crate::catalog;
pub use crate::catalog::excluded::{EXCLUDED, Excluded, excluded};
pub use constant::EachDword;
pub use operand::halves;
pub use operand::{
    Bothen, BufferAddress, GlobalAddress, Idxen, Input, MatrixSource, Modified, Off, Offen, SmemOffset,
    Source, UniformSource, abs, neg, sext,
};
pub use options::{BufferFormat, DstUnused, Omod, Options, Sel};
pub use request::Results;
pub use sgprs::Sgprs;

/// The immediate operand of `s_getreg_b32` and `s_setreg_b32`: `width` bits of hardware register `id`, from bit
/// `offset` on.
///
/// ```
/// // hwreg(HW_REG_MODE, 0, 4): the rounding modes.
/// assert_eq!(gcn_dsl::isa::hwreg(1, 0, 4), 0x1801);
/// ```
pub const fn hwreg(id: u8, offset: u8, width: u8) -> i64 {
    (id as i64 & 0x3f) | ((offset as i64 & 0x1f) << 6) | ((width as i64 - 1) & 0x1f) << 11
}

include!(concat!(env!("OUT_DIR"), "/isa.rs"));
