//! The checker against golden programs, against exhaustive search, and rule family by rule family.

mod advice;
mod counters;
mod distance;
mod families;
mod search;
