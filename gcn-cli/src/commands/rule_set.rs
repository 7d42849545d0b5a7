//! Options of several commands: the rules that count.

use gcn_isa::hazards::{Config, RuleSet};

use crate::failure::Failure;

/// The rules that count.
#[derive(clap::Args)]
pub struct Rules {
    /// The rule set: safe, fast, manual, certain, or llvm for what LLVM 22 inserts
    #[arg(long, value_name = "SET", default_value_t = RuleSet::Safe)]
    rules: RuleSet,
    /// Add this rule; may be repeated
    #[arg(long, value_name = "RULE")]
    with: Vec<String>,
    /// Omit this rule; may be repeated
    #[arg(long, value_name = "RULE")]
    without: Vec<String>,
}

impl Rules {
    /// The selected rules, without those of XNACK replay.
    pub fn config(&self) -> Result<Config, Failure> {
        let all = self.with.iter().try_fold(self.rules.into(), |rules: Config, id| rules.with(id));
        let rules = self.without.iter().try_fold(all.map_err(unknown)?, |rules, id| rules.without(id));
        rules.map_err(unknown)
    }
}

fn unknown(error: gcn_isa::hazards::UnknownRule) -> Failure {
    Failure::usage(error.to_string())
}
