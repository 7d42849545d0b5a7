//! The commands, one file each: clap parses the command line into `Args`, and `run` executes the command.

pub mod annotate;
pub mod asm;
pub mod check;
pub mod code;
pub mod completions;
pub mod container;
pub mod detection;
pub mod disasm;
pub mod evidence;
pub mod explain;
pub mod fix;
pub mod inspect;
pub mod inst;
pub mod launch;
pub mod layout;
pub mod lsp;
pub mod mutate;
pub mod new;
pub mod probe;
pub mod progress;
pub mod rule_set;
pub mod rules;
pub mod run;
pub mod schema;
pub mod sim;
pub mod targets;
pub mod timeline;
pub mod totals;
pub mod tune;
pub mod wait;

use gcn_isa::target::Subtarget;
use gcn_isa::{Target, WaveSize};

use crate::failure::Failure;
use crate::file;

/// clap parser for the name of a target; the error lists the known names.
fn target(name: &str) -> Result<Target, String> {
    name.parse().map_err(|_| format!("the targets are {}", Target::names()))
}

/// The option for the wave size, for commands that read assembly.
#[derive(clap::Args, Clone, Copy, Default)]
pub struct Wave {
    /// Lanes of a wave for assembly that does not say (by `.amdhsa_wavefront_size32`); by default the usual number on the target
    #[arg(long, value_name = "32|64", value_parser = wave)]
    pub wave: Option<WaveSize>,
}

/// The option for the wave size, for commands whose answer depends on it.
#[derive(clap::Args, Clone, Copy, Default)]
pub struct Lanes {
    /// Lanes of a wave; by default the usual number on the target
    #[arg(long, value_name = "32|64", value_parser = wave)]
    wave: Option<WaveSize>,
}

impl Lanes {
    /// The target together with this wave size.
    fn on(self, target: Target) -> Result<Subtarget, Failure> {
        let wave = self.wave.unwrap_or(target.usual_wave());
        Subtarget::new(target, wave).ok_or_else(|| {
            Failure::usage(format!("waves of {target} have {} lanes only", target.wave_size()))
        })
    }
}

/// clap parser for the number of lanes of a wave.
fn wave(lanes: &str) -> Result<WaveSize, String> {
    lanes.parse().ok().and_then(WaveSize::of_lanes).ok_or_else(|| "a wave has 32 or 64 lanes".to_owned())
}

/// Parameters of the timed mode.
#[derive(clap::Args)]
struct Parameters {
    /// Set parameters of the timed mode from a table in the form of gcn-sim/data/timing.tsv, such as `gcn probe --timing` writes
    #[arg(long, value_name = "TABLE.tsv", value_parser = file::name())]
    params: Option<String>,
    /// Set a parameter of the timed mode
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
}

impl Parameters {
    /// True if any parameters are given.
    fn are_given(&self) -> bool {
        self.params.is_some() || !self.set.is_empty()
    }

    /// Reads the table, if one is given.
    fn read(&self) -> Result<Given, Failure> {
        let mut given = Given { table: None, set: self.set.clone() };
        if let Some(path) = &self.params {
            let text = String::from_utf8_lossy(&file::read(path)?).into_owned();
            given.table = Some((path.clone(), text));
        }
        Ok(given)
    }
}

/// [`Parameters`] with the contents of the table.
struct Given {
    table: Option<(String, String)>,
    set: Vec<String>,
}

impl Given {
    /// Sets the parameters in `config` for a target: first those of the table, then single assignments.
    fn apply(&self, config: &mut gcn_sim::timed::Config, target: Target) -> Result<(), Failure> {
        self.set(config, target).map_err(|(what, error)| match what {
            Some(assignment) => Failure::usage(format!("--set {assignment}: {error}")),
            None => {
                let path = self.table.as_ref().map_or("", |(path, _)| path);
                Failure::input(format!("{path}: {error}"))
            }
        })
    }

    /// As [`Given::apply`]; the error comes with the wrong assignment, or with `None` if the table is wrong.
    fn set(
        &self,
        config: &mut gcn_sim::timed::Config,
        target: Target,
    ) -> Result<(), (Option<&str>, gcn_sim::timed::ParameterError)> {
        if let Some((_, table)) = &self.table {
            config.read(table, target).map_err(|error| (None, error))?;
        }
        self.set.iter().try_for_each(|assignment| {
            config.set(assignment).map_err(|error| (Some(assignment.as_str()), error))
        })
    }
}

/// Upper limit on the number of host threads of a command.
const MOST_JOBS: usize = 256;

/// A value as JSON text that ends with a line feed.
fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value);
    text.map(|t| t + "\n").map_err(|error| Failure::input(format!("the result has no JSON form: {error}")))
}
