//! The suite `waits` measures how many wait states a GPU needs between two dependent instructions.
//!
//! A rule states which instructions depend on each other and how many wait states they need. Programs are made from its conditions on the
//! two instructions, without its number: they contain two instructions that satisfy the conditions and whose order affects the results in
//! the simulator, which has no hazards. The number is then measured. The GPU runs the program with more and more wait states between the
//! two instructions, until the results equal those with the two far apart.
//!
//! Rules about counters and barriers have separate programs, in which the wait is omitted or weakened (`counter`). So have rules whose
//! remedy is an instruction or a changed field: each program runs with and without the remedy (`sequence`).

pub mod counter;
pub mod measure;
pub mod pair;
pub mod sequence;
