//! Rules about memory instructions.

use super::rule::RemedyRule;

pub(super) const RULES: &[RemedyRule] = &[];
