//! Tests the inserter against golden programs, against exhaustive search, and against the checker.

mod counters;
mod fill;
mod flow;
mod full;
mod grades;
mod oracle;
mod places;
mod rdna;
mod states;
mod streams;
mod text;
