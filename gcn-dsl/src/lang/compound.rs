//! Compound values: structs, tuples and arrays, enums, `Option` and `Result`, their fields, patterns and iterators.

pub(super) mod aggregate;
pub(super) mod array_methods;
pub(super) mod checked;
pub(super) mod enums;
pub(super) mod fields;
pub(super) mod iterator;
pub(super) mod option;
mod ordering;
pub(super) mod pattern;
pub(super) mod result;
