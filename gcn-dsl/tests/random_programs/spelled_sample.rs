//! Made from random programs; see `through_macro.rs`.

use super::through_macro::Sampled;

pub const SAMPLE: &[Sampled] = &[];
