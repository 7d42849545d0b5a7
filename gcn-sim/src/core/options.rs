//! The options of a run: the mode, its rules and limits, and the sanitizers.

use std::fmt;
use std::str::FromStr;

use bitflags::bitflags;
use gcn_isa::hazards::Config;

/// The level of detail with which a simulation models hazards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// The result of each instruction is available at once.
    #[default]
    Functional,
    /// As functional, but an error is reported if an instruction violates a wait counter or wait-state rule, or if a wave ends without
    /// reaching a barrier at which others of its workgroup wait.
    Strict,
    /// An instruction that executes too early reads the old contents of its operands; [`Stats::stale`](crate::Stats::stale) counts these
    /// cases. If all waits are sufficient, the result is that of [`Mode::Functional`].
    Faithful,
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Mode, UnknownMode> {
        match name {
            "functional" => Ok(Mode::Functional),
            "strict" => Ok(Mode::Strict),
            "faithful" => Ok(Mode::Faithful),
            _ => Err(UnknownMode),
        }
    }
}

/// An unknown name of a mode; the message lists the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the modes are functional, strict and faithful")]
pub struct UnknownMode;

/// The options of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The mode.
    pub mode: Mode,
    /// The rules by which strict and faithful mode decide whether an instruction is too early. By default all rules that `gcn check`
    /// applies without options. [`Config::at_least`] selects the rules of a grade.
    pub rules: Config,
    /// The maximum number of instructions that a wave may execute.
    pub max_instructions: u64,
    /// The maximum length of a wave's turn in instructions. After a turn, the next wave of the workgroup runs. With 1, the waves alternate
    /// after every instruction. Programs without data races are unaffected; some programs with data races rely on waves staying close
    /// together, as they do on hardware. While several workgroups run concurrently, a turn is at most 1024. With 512 or less, a workgroup
    /// is considered to wait for others only if its waves sleep or wait at global wave sync.
    pub turn: u64,
    /// The length of the first turn of each wave after the start of a workgroup and after each barrier. Each later turn is twice as long as
    /// the previous one, up to `turn`. The default is `turn`. With a small value, waves stay close together after a barrier, as they do on
    /// hardware. Programs with a data race there then get the usual result, and long runs take no more time.
    pub first_turn: u64,
    /// Run workgroups on all host threads. For kernels without data races between workgroups, the result is the same. If several workgroups
    /// fail, the error of the first one is reported.
    pub parallel: bool,
    /// The sanitizers to run.
    pub sanitize: Sanitize,
    /// The maximum number of sanitizer findings to keep in [`Stats::findings`](crate::Stats::findings). With 0, the first one ends the run
    /// as [`SimError::Finding`](crate::SimError::Finding).
    pub findings: u32,
    /// Require that all workgroups fit on the device at once, as `hipLaunchCooperativeKernel` does, so that each may wait for any other. If
    /// they do not fit, the launch fails with [`LaunchError::Cooperative`](crate::LaunchError::Cooperative). Resource 0 of global wave sync
    /// is initialised for one wave of each workgroup, as the runtime does.
    pub cooperative: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mode: Mode::Functional,
            rules: Config::default(),
            max_instructions: 1 << 40,
            // A turn must not be unlimited, because waves may wait for each other through memory.
            turn: 1 << 16,
            first_turn: u64::MAX,
            parallel: false,
            sanitize: Sanitize::empty(),
            findings: 0,
            cooperative: false,
        }
    }
}

impl Options {
    /// The default options with strict mode.
    pub fn strict() -> Options {
        Options { mode: Mode::Strict, ..Options::default() }
    }

    /// The default options with faithful mode.
    pub fn faithful() -> Options {
        Options { mode: Mode::Faithful, ..Options::default() }
    }
}

bitflags! {
    /// A set of sanitizers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Sanitize: u16 {
        /// Accesses that are out of bounds, to freed memory, or misaligned. Without this sanitizer, such an access ends the run as
        /// [`crate::SimError`]; with it, the access is a finding.
        const ACCESSES = 1;
        /// Uninitialized bits of registers. They are tracked through computations until they are used in an address, in EXEC, as a branch
        /// condition, or in a store to shared memory.
        const REGISTERS = 1 << 1;
        /// Reads of uninitialized LDS.
        const LDS = 1 << 2;
        /// Reads of uninitialized global memory, in allocations of [`crate::Memory::alloc_uninit`].
        const MEMORY = 1 << 3;
        /// Unordered accesses of different waves to the same bytes.
        const RACES = 1 << 4;
        /// Waves that end without reaching a barrier at which others of their workgroup wait.
        const BARRIERS = 1 << 5;
        /// Waves that cannot make progress.
        const DEADLOCK = 1 << 6;
    }
}

/// Parses names in lower case, separated by commas; `all` stands for all sanitizers.
impl FromStr for Sanitize {
    type Err = UnknownSanitizer;

    fn from_str(text: &str) -> Result<Sanitize, UnknownSanitizer> {
        let sanitizer = |name: &str| match name {
            "all" => Some(Sanitize::all()),
            name => Sanitize::all().iter_names().find(|(n, _)| n.to_lowercase() == name).map(|(_, s)| s),
        };
        text.split(',').map(|name| sanitizer(name.trim()).ok_or(UnknownSanitizer)).collect()
    }
}

impl fmt::Display for Sanitize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter_names().map(|(name, _)| name.to_lowercase()).collect();
        f.write_str(&names.join(","))
    }
}

/// An unknown name of a sanitizer; the message lists the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the sanitizers are {}, and all", Sanitize::all().to_string().replace(',', ", "))]
pub struct UnknownSanitizer;
