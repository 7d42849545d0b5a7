//! Memory instructions: LDS, global, flat, scratch, buffer and scalar memory, and their atomics.

pub(crate) mod access;
mod address;
mod atomic;
mod blocks;
mod buffer;
mod consecutive;
mod datum;
mod ds;
mod ds_extra;
mod ds_lane;
mod format;
mod gathered;
pub(crate) mod gws;
pub(crate) mod late;
mod local;
mod smem;
mod vmem;
mod words;

pub(crate) use smem::CYCLES_OF_REAL_TIME;

use crate::semantics::op::Ops;

pub(crate) fn add(ops: &mut Ops) {
    smem::add(ops);
    ds::add(ops);
    ds_extra::add(ops);
    ds_lane::add(ops);
    gws::add(ops);
    vmem::add(ops);
    format::add(ops);
    atomic::add(ops);
    blocks::add(ops);
}

/// A mnemonic concatenated from parts. It is leaked, because the table of instruction functions is built once and lives as long as the
/// process.
fn name(parts: &[&str]) -> &'static str {
    Box::leak(parts.concat().into_boxed_str())
}
