//! Findings of the checker and the linter.

mod analysis;
pub mod json;
mod place;
mod summary;

pub use analysis::{Checked, Group, Place, Section, counts};
pub use place::Places;
pub use summary::{RuleCount, Summary, plural};
