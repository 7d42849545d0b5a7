//! Options of several commands: which defects the simulator detects while code runs.

use gcn_isa::hazards::Grade;
use gcn_report::launch;
use gcn_sim::{Mode, Options, Sanitize};

/// The defects to detect.
#[derive(clap::Args)]
pub struct Detection {
    /// Stop the kernel with an error at a missing wait or wait state
    #[arg(long)]
    strict: bool,
    /// Let an instruction that runs too early read the stale value, as on the GPU, and list these instructions
    #[arg(long, conflicts_with = "strict")]
    faithful: bool,
    /// The lowest grade of rules that --strict and --faithful enforce: certain, documented or cautious
    #[arg(long, value_name = "GRADE", default_value = "documented")]
    pub level: Grade,
    /// Sanitizers: accesses, registers, lds, memory, races, barriers, deadlock, or all
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    sanitize: Vec<Sanitize>,
}

impl Detection {
    /// The simulator's mode: functional unless `--strict` or `--faithful` is given.
    pub fn mode(&self) -> Mode {
        match (self.strict, self.faithful) {
            (true, _) => Mode::Strict,
            (_, true) => Mode::Faithful,
            _ => Mode::Functional,
        }
    }

    /// All sanitizers of `--sanitize` together.
    pub fn sanitize(&self) -> Sanitize {
        self.sanitize.iter().copied().collect()
    }

    /// The simulator's options with this mode and these sanitizers.
    pub fn options(&self) -> Options {
        launch::options(self.mode(), self.level, self.sanitize())
    }
}
