//! Device values: handles of IR values, variables, literals, tuples and arrays of them, `Option`, `Result` and enums.

pub(super) mod aggregate;
pub(super) mod array_methods;
pub(super) mod const_index;
pub(super) mod data;
pub(super) mod debug_name;
pub(super) mod dynamic_index;
pub(super) mod element_assign;
pub(super) mod enums;
pub(super) mod fields;
pub(super) mod iterator;
pub(super) mod literal;
pub(super) mod operand;
pub(super) mod option;
pub(super) mod pattern;
pub(super) mod register;
pub(super) mod result;
pub(super) mod value;
pub(super) mod variable;
pub(super) mod vector;
