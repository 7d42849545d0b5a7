//! The suite `waits` measures how many wait states two instructions need in between.
//!
//! A rule says which instructions depend on each other, and how many wait states they need. Programs are made from the first alone: two
//! instructions that meet the rule's conditions and of which the simulator, without hazards, says that their order shows in the results.
//! The number is what a GPU says: the same program with more and more wait states between the two, until the results are those of the
//! two far apart. Rules about counters and barriers have programs of their own, with the wait left out or weakened; so have rules that ask
//! for an instruction or a field between, with and without it.

pub mod counter;
pub mod measure;
pub mod pair;
pub mod sequence;
