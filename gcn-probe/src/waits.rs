//! The suite `waits` measures how many wait states two instructions need in between.
//!
//! A hazard rule names the instructions that depend on each other, and the number of wait states between them. Only the former is used to
//! make test programs: two instructions that meet the rule's conditions and whose order, according to the simulator without hazards,
//! affects the results. The number is measured on a GPU: the same program runs with more and more wait states between the two, until its
//! results equal those with the two far apart.

pub mod measure;
pub mod pair;
