//! The state at an instruction that is about to execute.

use gcn_isa::Inst;

use super::Bits;
use super::info::Info;
use crate::core::machine::{Cx, Step};

/// An instruction that is about to execute, with what is known about undefined bits.
pub(in crate::watch::sanitize) struct Now<'a, 'c> {
    pub cx: &'a Cx<'c>,
    pub step: &'a Step,
    /// The instruction with its actual registers, if an index changes them.
    pub inst: &'a Inst,
    pub info: &'a Info,
    pub bits: &'a Bits,
}
