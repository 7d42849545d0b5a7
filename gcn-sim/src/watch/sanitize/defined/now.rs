//! An instruction at the moment before it runs.

use gcn_isa::Inst;

use super::Bits;
use super::info::Info;
use crate::core::machine::{Cx, Step};

/// An instruction that is about to run, with what is known about it.
pub(in crate::watch::sanitize) struct Now<'a, 'c> {
    pub cx: &'a Cx<'c>,
    pub step: &'a Step,
    /// With the registers that an index leads to.
    pub inst: &'a Inst,
    pub info: &'a Info,
    pub bits: &'a Bits,
}
