//! The options of the functions, as the Python side serializes them.

use std::path::PathBuf;

use gcn_emit::asm::Folders;
use gcn_emit::rewrite::Only;
use gcn_emit::target_id::TargetId;
use gcn_isa::WaveSize;
use gcn_isa::hazards::{Config, Grade, RuleSet};
use gcn_report::container::Choice;
use gcn_sim::Mode;
use pyo3::PyResult;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use crate::refused;

/// The options of all functions; each function uses only some of them.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    #[serde(deserialize_with = "parsed")]
    pub target: Option<TargetId>,
    #[serde(deserialize_with = "lanes")]
    pub wave: Option<WaveSize>,
    pub entry: Option<usize>,
    pub kernel: Option<String>,
    #[serde(deserialize_with = "grade")]
    pub level: Grade,
    rules: String,
    with: Vec<String>,
    without: Vec<String>,
    pub xnack: Option<bool>,
    include: Vec<PathBuf>,
    pub advice: bool,
    pub strip: bool,
    only: Option<String>,
    pub comment: bool,
    pub expand: bool,
    pub writers: bool,
    pub bytes: bool,
    #[serde(deserialize_with = "mode")]
    pub mode: Mode,
    pub sanitize: Vec<String>,
    pub timed: bool,
    pub set: Vec<String>,
    pub cus: Option<u32>,
    pub limit: Option<u64>,
    pub jobs: Option<usize>,
    pub folder: PathBuf,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            target: None,
            wave: None,
            entry: None,
            kernel: None,
            level: Grade::Cautious,
            rules: RuleSet::Safe.to_string(),
            with: Vec::new(),
            without: Vec::new(),
            xnack: None,
            include: Vec::new(),
            advice: false,
            strip: false,
            only: None,
            comment: false,
            expand: false,
            writers: false,
            bytes: false,
            mode: Mode::default(),
            sanitize: Vec::new(),
            timed: false,
            set: Vec::new(),
            cus: None,
            limit: None,
            jobs: None,
            folder: PathBuf::new(),
        }
    }
}

fn parsed<'d, D: Deserializer<'d>>(from: D) -> Result<Option<TargetId>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| text.parse().map_err(|e| D::Error::custom(format!("target `{text}`: {e}")))).transpose()
}

fn lanes<'d, D: Deserializer<'d>>(from: D) -> Result<Option<WaveSize>, D::Error> {
    let lanes = Option::<u32>::deserialize(from)?;
    let known = |n| {
        WaveSize::of_lanes(n).ok_or_else(|| D::Error::custom(format!("wave {n}: a wave has 32 or 64 lanes")))
    };
    lanes.map(known).transpose()
}

fn grade<'d, D: Deserializer<'d>>(from: D) -> Result<Grade, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(|e| D::Error::custom(format!("level `{text}`: {e}")))
}

fn mode<'d, D: Deserializer<'d>>(from: D) -> Result<Mode, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(|e| D::Error::custom(format!("mode `{text}`: {e}")))
}

impl Options {
    pub fn read(json: &str) -> PyResult<Options> {
        // serde appends a position in the JSON text, which means nothing to a caller who passed keyword arguments.
        serde_json::from_str(json).map_err(|error: serde_json::Error| {
            let message = error.to_string();
            refused(message.rsplit_once(" at line ").map_or(message.as_str(), |(text, _)| text))
        })
    }

    pub fn choice(&self) -> Choice {
        Choice { target: self.target, wave: self.wave, entry: self.entry }
    }

    pub fn folders(&self) -> Folders {
        Folders { folders: self.include.clone(), ..Folders::default() }
    }

    /// The selected rules, without those of XNACK replay.
    pub fn rules(&self) -> PyResult<Config> {
        let set: RuleSet = self.rules.parse().map_err(|e| refused(format!("rules `{}`: {e}", self.rules)))?;
        let all = self.with.iter().try_fold(set.into(), |rules: Config, id| rules.with(id));
        let rules = self.without.iter().try_fold(all.map_err(refused)?, |rules, id| rules.without(id));
        rules.map_err(refused)
    }

    /// The kind of wait that `fix` may change; the Python side passes only the words below.
    pub fn only(&self) -> Option<Only> {
        match self.only.as_deref()? {
            "counters" => Some(Only::Counters),
            _ => Some(Only::WaitStates),
        }
    }
}
