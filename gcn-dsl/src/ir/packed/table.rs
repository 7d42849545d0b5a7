//! Table of the packed instructions by operation.

use gcn_isa::Target;

use super::super::Bin;
use crate::scalar::Elem;

/// The operations of packed instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packed {
    /// An operation of two operands.
    Bin(Bin),
    /// A fused multiply-add.
    Fma,
}

/// The packed instruction for an element type; `None` if there is none. The flag is true if the second source must be
/// negated, since there is no packed subtraction of floats.
pub fn instruction(op: Packed, elem: Elem) -> Option<(&'static str, bool)> {
    use Packed::{Bin as B, Fma};
    Some(match (elem, op) {
        (Elem::F16, B(Bin::Add)) => ("v_pk_add_f16", false),
        (Elem::F16, B(Bin::Sub)) => ("v_pk_add_f16", true),
        (Elem::F16, B(Bin::Mul)) => ("v_pk_mul_f16", false),
        (Elem::F16, B(Bin::Min)) => ("v_pk_min_f16", false),
        (Elem::F16, B(Bin::Max)) => ("v_pk_max_f16", false),
        (Elem::F16, Fma) => ("v_pk_fma_f16", false),
        (Elem::F32, B(Bin::Add)) => ("v_pk_add_f32", false),
        (Elem::F32, B(Bin::Sub)) => ("v_pk_add_f32", true),
        (Elem::F32, B(Bin::Mul)) => ("v_pk_mul_f32", false),
        (Elem::F32, Fma) => ("v_pk_fma_f32", false),
        (Elem::I16 | Elem::U16, B(Bin::Add)) => ("v_pk_add_u16", false),
        (Elem::I16 | Elem::U16, B(Bin::Sub)) => ("v_pk_sub_i16", false),
        (Elem::I16 | Elem::U16, B(Bin::Mul)) => ("v_pk_mul_lo_u16", false),
        (Elem::I16, B(Bin::Min)) => ("v_pk_min_i16", false),
        (Elem::I16, B(Bin::Max)) => ("v_pk_max_i16", false),
        (Elem::U16, B(Bin::Min)) => ("v_pk_min_u16", false),
        (Elem::U16, B(Bin::Max)) => ("v_pk_max_u16", false),
        _ => return None,
    })
}

/// True if the target has the instruction.
pub fn exists(mnemonic: &str, target: Target) -> bool {
    gcn_isa::table::find_operation(target, mnemonic).next().is_some()
}
