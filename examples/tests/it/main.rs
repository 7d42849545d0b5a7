//! Tests of the lessons: their results, LLVM's view of the output, and the necessity of each wait.

mod debug_info;
mod ir;
mod lines;
mod links;
mod llvm;
mod oracle;
mod own_checker;
mod rdna;
mod results;
mod tight;
mod waits;
mod wmma;

use gcn_dsl::prelude::Target;
use gcn_examples::{Lesson, lessons};
use gcn_test_support::env::{daily_sample, is_thorough, some_of};

/// Lessons, each with a target on which to test it: in an ordinary run one pair for each lesson, in a thorough run a third of all pairs,
/// which differ from day to day, and in a full run all.
fn lessons_on_targets() -> Vec<(&'static Lesson, Target)> {
    let targets = |number| some_of(&Target::REPRESENTATIVES, number).iter();
    let pairs = lessons::ALL.iter().enumerate().flat_map(|(n, lesson)| targets(n).map(move |&t| (lesson, t)));
    if is_thorough() { daily_sample(pairs, 3) } else { pairs.collect() }
}
