//! Explains why a wave does not issue, with the numbers of the run.

use crate::timed::{Stall, TimedReport};

/// The rule of the model that causes a stall, as text.
pub(super) fn rule(report: &TimedReport, stall: Stall) -> String {
    let value = |name: &str| {
        let parameter = report.parameters.iter().find(|p| p.name == name);
        parameter.map_or_else(|| name.to_owned(), |p| format!("{name}: {} {}", p.value, p.unit))
    };
    match stall {
        Stall::NoInstructionAvailable => format!(
            "The code is not there yet: after a taken branch ({}), or after a miss of the instruction cache ({}).",
            value("branch.taken"),
            value("l2.latency")
        ),
        Stall::AluDependency => format!(
            "A scalar instruction or a branch reads an SGPR, VCC or EXEC that the VALU has written ({}).",
            value("dependency.valu-sgpr")
        ),
        Stall::Waitcnt => "s_waitcnt: until the counters are as low as it says.".to_owned(),
        Stall::InternalInstruction => {
            format!("s_nop n takes n + 1 issue slots ({}).", value("issue.interval"))
        }
        Stall::BarrierWait => format!(
            "Until every wave of the workgroup has arrived at the barrier, and then {}.",
            value("barrier.release")
        ),
        Stall::ArbiterNotWin => {
            "The arbiter selected another wave of the SIMD for this pipeline: the higher priority, then the older wave."
                .to_owned()
        }
        Stall::ArbiterWinExStall => {
            "Selected by the arbiter, but the pipeline was busy with an earlier instruction.".to_owned()
        }
        Stall::Other => "s_sleep, or a counter that is at its maximum.".to_owned(),
    }
}
