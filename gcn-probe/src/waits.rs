//! The suite `waits` measures how many wait states two instructions need in between.
//!
//! A rule says which instructions depend on each other, and how many wait states they need. Only the first part is used to make programs:
//! two instructions that meet the rule's conditions, and whose order affects the results in a simulator without hazards. The number of wait
//! states is measured on the GPU: the same program runs with more and more wait states between the two, until the results are those of the
//! two instructions far apart. Rules about counters and barriers have separate programs, whose wait is omitted or weakened.

pub mod counter;
pub mod measure;
pub mod pair;
