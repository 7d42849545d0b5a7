//! Device values: handles of IR values, variables, literals, tuples and arrays of these.

pub(super) mod compare;
pub(super) mod constant;
pub(super) mod data;
pub(super) mod debug_name;
pub(super) mod element_assign;
pub(super) mod elements;
pub(super) mod flow;
pub(super) mod kind;
pub(super) mod literal;
pub(super) mod merge;
pub(super) mod operand;
pub(super) mod register;
pub(super) mod value;
pub(super) mod variable;
pub(super) mod vector;
