//! Arithmetic: operators, comparisons, conversions and the methods of integers and floats.

pub(super) mod arithmetic;
mod ascii;
pub(super) mod bytes;
pub(super) mod cast;
pub(super) mod divide;
pub(super) mod euclid;
pub(super) mod float;
pub(super) mod float_parts;
pub(super) mod host_number;
pub(super) mod host_size;
pub(super) mod integer;
pub(super) mod integer_math;
pub(super) mod into;
pub(super) mod literal;
pub(super) mod math;
pub(super) mod math32;
mod math64;
pub(super) mod min_max;
pub(super) mod overflow;
pub(super) mod packed;
pub(super) mod power;
pub(super) mod powf;
pub(super) mod promotion;
pub(super) mod remainder;
pub(super) mod shift;
