//! How to run: the mode, its rules and limits, and the sanitizers.

use std::fmt;
use std::str::FromStr;

use bitflags::bitflags;
use gcn_isa::hazards::Config;

/// How faithful a simulation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Results are there at once.
    #[default]
    Functional,
    /// As functional, but an instruction that comes too early for a counter or a wait-state rule is an error, and
    /// so is a wave that ends without a barrier at which others of its workgroup wait.
    Strict,
    /// An instruction that executes too early sees the old contents; [`Stats::stale`](crate::Stats::stale) counts
    /// where. With enough waits the result is that of [`Mode::Functional`].
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

/// A name that no mode has; the message lists those that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the modes are functional, strict and faithful")]
pub struct UnknownMode;

/// How to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Functional, strict or faithful.
    pub mode: Mode,
    /// The rules by which strict and faithful mode decide whether an instruction is too early; all that leave no
    /// choice, as for `gcn check`. [`Config::at_least`] takes those of a grade.
    pub rules: Config,
    /// Most instructions that a wave may execute.
    pub max_instructions: u64,
    /// Instructions that a wave executes before it is the next wave's turn, if it does not have to wait before. With 1 the
    /// waves of a workgroup go side by side. Programs without data races cannot tell; some that have them count on waves
    /// that stay close together, as they do on hardware. While several workgroups run side by side it is at most 1024.
    /// With 512 or less, a workgroup is thought to wait for others only if its waves sleep or wait at global wave sync.
    pub turn: u64,
    /// The first turns of a workgroup's waves after the start and after each barrier; later ones are twice as long as those before, up
    /// to `turn`. By default as long as `turn`. With little, waves stay close together after a barrier as they do on hardware, so that
    /// programs get the result that they get there although they have a data race, and long runs cost no more.
    pub first_turn: u64,
    /// Run workgroups on all host threads. The result is the same for kernels without data races between workgroups; of
    /// several errors, that of the first workgroup is reported.
    pub parallel: bool,
    /// Sanitizers that run beside.
    pub sanitize: Sanitize,
    /// Most findings of sanitizers that are kept in [`Stats::findings`](crate::Stats::findings). With 0 the first one ends the run as
    /// [`SimError::Finding`](crate::SimError::Finding).
    pub findings: u32,
    /// All workgroups have to be on the device at a time, as in a launch of `hipLaunchCooperativeKernel`, so that each may wait
    /// for each; [`LaunchError::Cooperative`](crate::LaunchError::Cooperative) if they do not fit. The resource 0 of global
    /// wave sync is initialised for one wave of each workgroup, as the runtime does.
    pub cooperative: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mode: Mode::Functional,
            rules: Config::default(),
            max_instructions: 1 << 40,
            // Waves may wait for each other through memory.
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
    /// Strict mode, otherwise the default.
    pub fn strict() -> Options {
        Options { mode: Mode::Strict, ..Options::default() }
    }

    /// Faithful mode, otherwise the default.
    pub fn faithful() -> Options {
        Options { mode: Mode::Faithful, ..Options::default() }
    }
}

bitflags! {
    /// Which sanitizers run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Sanitize: u16 {
        /// Accesses that are out of bounds, to freed memory or misaligned. Without this they end the run as
        /// [`crate::SimError`]; with it they are findings like the others.
        const ACCESSES = 1;
        /// Bits that nothing has written, followed from registers through values to where they matter: as an address, in EXEC,
        /// at a branch, in memory that others see.
        const REGISTERS = 1 << 1;
        /// Reads of LDS that nothing has written.
        const LDS = 1 << 2;
        /// Reads of global memory that nothing has written, in allocations of [`crate::Memory::alloc_uninit`].
        const MEMORY = 1 << 3;
        /// Accesses of different waves to the same bytes that nothing orders.
        const RACES = 1 << 4;
        /// Waves that end without a barrier at which others of their workgroup wait.
        const BARRIERS = 1 << 5;
        /// Waves that can make no progress.
        const DEADLOCK = 1 << 6;
    }
}

/// Names in lower case, separated by commas; `all` stands for all sanitizers.
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

/// A name that no sanitizer has; the message lists those that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the sanitizers are {}, and all", Sanitize::all().to_string().replace(',', ", "))]
pub struct UnknownSanitizer;
