//! Samples of the program counter, as rocprofv3 writes them.
//!
//! The fields and their meaning are those of AMD's documentation: "Using PC sampling" of ROCprofiler-SDK, and "Analyzing
//! PC sampling data on CDNA3 and CDNA4 GPU architectures". The stall reasons are those of the timed model.

use gcn_sim::timed::Stall;

/// Where a wave was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Where {
    /// At an address of a code object, relative to where that was loaded.
    Address {
        /// The number of the code object; 0 if the profiler knew none.
        object: u64,
        /// The address in the object's image.
        address: u64,
        /// The instruction, as the profiler disassembled it; empty if it did not.
        text: String,
    },
    /// At an instruction with this text and this source line; both may be empty.
    Text {
        /// The instruction.
        text: String,
        /// `file:line`.
        source: String,
    },
}

/// A sample of one wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Where the wave was.
    pub place: Where,
    /// Active lanes.
    pub lanes: u32,
    /// The dispatch that the wave belongs to.
    pub dispatch: u64,
    /// The additional data of stochastic sampling.
    pub state: Option<State>,
}

/// The state of a wave in a stochastic sample, as the hardware reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Why the wave did not issue its instruction; `None` if it did.
    pub stall: Option<Stall>,
    /// Waves on the compute unit.
    pub waves: Option<u32>,
    /// The state of the arbiter of the SIMD; CSV files lack it.
    pub arbiter: Option<Arbiter>,
}

/// The arbiter in the sampled cycle: sets of [`PIPES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arbiter {
    /// Pipelines to which it issued.
    pub issue: u16,
    /// Pipelines that did not accept what was issued.
    pub stall: u16,
    /// Two vector instructions were issued.
    pub dual_valu: bool,
}

/// The pipelines: the ends of the fields `arb_state_issue_*` and `arb_state_stall_*`, and their names.
pub const PIPES: [(&str, &str); 10] = [
    ("valu", "VALU"),
    ("matrix", "Matrix"),
    ("lds", "LDS"),
    ("lds_direct", "LDS direct"),
    ("scalar", "Scalar"),
    ("vmem_tex", "Tex"),
    ("flat", "Flat"),
    ("exp", "Exp"),
    ("misc", "Misc"),
    ("brmsg", "Branch and message"),
];

/// The prefix of a stall reason.
const PREFIX: &str = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_";
/// Names of ROCprofiler-SDK for what the documentation calls `OTHER`.
const OTHER: [&str; 2] = ["OTHER_WAIT", "SLEEP_WAIT"];

/// The stall reason with this name, with or without the prefix of ROCprofiler-SDK; upper case or lower.
pub fn stall(name: &str) -> Result<Stall, String> {
    let upper = name.trim().to_ascii_uppercase();
    let name = upper.strip_prefix(PREFIX).unwrap_or(&upper);
    if OTHER.contains(&name) {
        return Ok(Stall::Other);
    }
    Stall::ALL.into_iter().find(|stall| stall.name() == name).ok_or_else(|| {
        format!("`{name}` is not a stall reason; they are {}", Stall::ALL.map(Stall::name).join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_of_the_documentation_has_a_name() {
        for reason in [
            "NO_INSTRUCTION_AVAILABLE",
            "ALU_DEPENDENCY",
            "WAITCNT",
            "INTERNAL_INSTRUCTION",
            "BARRIER_WAIT",
            "ARBITER_NOT_WIN",
            "ARBITER_WIN_EX_STALL",
            "OTHER",
        ] {
            assert_eq!(stall(&format!("{PREFIX}{reason}")).unwrap().name(), reason);
        }
        assert_eq!(
            stall("ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_OTHER_WAIT"),
            Ok(Stall::Other)
        );
        assert!(stall("WAIT").unwrap_err().starts_with("`WAIT` is not a stall reason; they are NO_INST"));
    }
}
