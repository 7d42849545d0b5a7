//! Options of several commands: which hazard rules apply.

use clap::ValueEnum;
use gcn_emit::target_id::TargetId;
use gcn_isa::hazards::{Config, Grade, RuleSet};

use crate::failure::Failure;

/// Options that select the rules.
#[derive(clap::Args)]
pub struct Rules {
    /// The rule set: safe, fast, manual, certain, llvm (what LLVM 22 inserts), or mesa (what Mesa does on RDNA)
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
    /// The selected rules, without those of XNACK replay; [`Xnack`] decides whether the caller adds them.
    pub fn config(&self) -> Result<Config, Failure> {
        let all = self.with.iter().try_fold(self.rules.into(), |rules: Config, id| rules.with(id));
        let rules = self.without.iter().try_fold(all.map_err(unknown)?, |rules, id| rules.without(id));
        rules.map_err(unknown)
    }
}

/// When the rules of XNACK replay apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Xnack {
    /// Unless the target id says `xnack-`.
    Target,
    /// Always.
    On,
    /// Never.
    Off,
}

impl Xnack {
    /// Whether the rules of XNACK replay apply; `None` if the target ID decides.
    pub fn choice(self) -> Option<bool> {
        match self {
            Xnack::Target => None,
            Xnack::On => Some(true),
            Xnack::Off => Some(false),
        }
    }

    /// True if the rules of XNACK replay apply to code for `id`.
    pub fn counts(self, id: TargetId) -> bool {
        self.choice().unwrap_or(id.may_replay())
    }
}

/// Options that select the rules, and the findings that are listed.
#[derive(clap::Args)]
pub struct Shown {
    /// The lowest grade of findings to list: certain, documented or cautious; findings of all grades are counted
    #[arg(long, value_name = "GRADE")]
    pub level: Option<Grade>,
    #[command(flatten)]
    rules: Rules,
    /// Whether memory accesses may be replayed (XNACK); `target`: unless the target id says xnack-
    #[arg(long, value_name = "WHEN", default_value = "target")]
    pub xnack: Xnack,
}

impl Shown {
    /// The selected rules, without those of XNACK replay; [`Xnack`] decides whether the caller adds them.
    pub fn config(&self) -> Result<Config, Failure> {
        self.rules.config()
    }
}

fn unknown(error: gcn_isa::hazards::UnknownRule) -> Failure {
    Failure::usage(error.to_string())
}
