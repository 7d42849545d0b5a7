//! Samples of the program counter, as rocprofv3 writes them.
//!
//! The fields and their meaning are those of AMD's documentation: "Using PC sampling" of ROCprofiler-SDK, and "Analyzing
//! PC sampling data on CDNA3 and CDNA4 GPU architectures". The stall reasons are those of the timed model.

use gcn_sim::timed::Stall;

/// The location of a wave, as the profiler reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Where {
    /// An address in a code object, relative to its load address.
    Address {
        /// The number of the code object; 0 if the profiler knew none.
        object: u64,
        /// The address in the object's image.
        address: u64,
        /// The instruction as the profiler disassembled it; empty if the profiler did not disassemble it.
        text: String,
    },
    /// An instruction that is identified only by its text and source line; both may be empty.
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
    /// The reason why the wave did not issue its instruction; `None` if the wave issued it.
    pub stall: Option<Stall>,
    /// Waves on the compute unit.
    pub waves: Option<u32>,
    /// The state of the arbiter of the SIMD; CSV files lack it.
    pub arbiter: Option<Arbiter>,
}

/// The state of the arbiter in the sampled cycle; each set has bit `i` for the pipeline `PIPES[i]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arbiter {
    /// Pipelines to which an instruction was issued.
    pub issue: u16,
    /// Pipelines that did not accept the instruction.
    pub stall: u16,
    /// The VALU was issued two instructions.
    pub dual_valu: bool,
}

/// The pipelines: the suffix of the fields `arb_state_issue_*` and `arb_state_stall_*`, and the name that is printed.
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

/// ROCprofiler-SDK's prefix of stall reasons.
const PREFIX: &str = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_";
/// Reasons of ROCprofiler-SDK that the documentation calls `OTHER`.
const OTHER: [&str; 2] = ["OTHER_WAIT", "SLEEP_WAIT"];

/// The stall reason with this name, with or without the prefix of ROCprofiler-SDK, in upper or lower case.
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
