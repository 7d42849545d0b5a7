//! Functions in expressions. LLVM uses them for register counts that are known only after all functions of a file have been compiled.

use gcn_isa::Target;

use super::fault::Fault;
use crate::kernel::Resources;
use crate::target_id::{Feature, TargetId};

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Function {
    /// `max(a, b, …)`
    Max,
    /// `or(a, b, …)`: bitwise or.
    Or,
    /// `extrasgprs(vcc, flat_scratch, xnack)`: the number of SGPRs in addition to the numbered ones.
    ExtraSgprs,
    /// `totalnumvgprs(agprs, vgprs)`: the number of registers of both kinds together.
    TotalNumVgprs,
    /// `alignto(value, align)`
    AlignTo,
    /// `occupancy(max_waves, granule, total_vgprs, generation, initial, sgprs, vgprs)`: the number of waves on a SIMD.
    Occupancy,
}

/// The names, the numbers of arguments (`None` for one or more), and descriptions of the arguments.
const FUNCTIONS: [(&str, Function, Option<u32>, &str); 6] = [
    ("max", Function::Max, None, "one or more arguments"),
    ("or", Function::Or, None, "one or more arguments"),
    (
        "extrasgprs",
        Function::ExtraSgprs,
        Some(3),
        "three arguments: uses VCC, uses FLAT_SCRATCH, uses XNACK_MASK",
    ),
    ("totalnumvgprs", Function::TotalNumVgprs, Some(2), "two arguments: AGPRs, VGPRs"),
    ("alignto", Function::AlignTo, Some(2), "two arguments: a value and a positive alignment"),
    (
        "occupancy",
        Function::Occupancy,
        Some(7),
        "seven arguments: waves, granule, VGPRs of a SIMD, generation, limit, SGPRs, VGPRs",
    ),
];

/// `occupancy` numbers generations as LLVM's `AMDGPUSubtarget::Generation` does; GFX9 is 7, GFX10 is 8.
const GENERATION_GFX10: i64 = 8;

impl Function {
    pub fn named(name: &str) -> Option<Function> {
        FUNCTIONS.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    fn row(self) -> &'static (&'static str, Function, Option<u32>, &'static str) {
        // Every variant has a row in the table.
        FUNCTIONS.iter().find(|row| row.1 == self).unwrap_or(&FUNCTIONS[0])
    }

    fn bad(self) -> Fault {
        let (name, _, _, want) = *self.row();
        Fault::Arguments { name, want }
    }

    pub fn check_count(self, count: u32) -> Result<(), Fault> {
        if self.row().2.is_none_or(|want| want == count) { Ok(()) } else { Err(self.bad()) }
    }

    /// The result for numeric arguments.
    pub fn of(self, arguments: &[i64], target: Option<TargetId>) -> Result<i64, Fault> {
        match (self, arguments) {
            (Function::Max, values) => values.iter().copied().max().ok_or_else(|| self.bad()),
            (Function::Or, values) => Ok(values.iter().fold(0, |all, value| all | value)),
            (Function::ExtraSgprs, &[vcc, flat_scratch, xnack]) => {
                let target = target.ok_or(Fault::NoTarget)?.target;
                Ok(extra_sgprs(target, vcc != 0, flat_scratch != 0, xnack != 0).into())
            }
            (Function::TotalNumVgprs, &[agprs, vgprs]) => {
                let unified = target.ok_or(Fault::NoTarget)?.target.has_unified_agprs();
                Ok(match (unified, agprs) {
                    (true, 0) => vgprs,
                    (true, _) => align(vgprs, 4).ok_or_else(|| self.bad())?.wrapping_add(agprs),
                    (false, _) => vgprs.max(agprs),
                })
            }
            (Function::AlignTo, &[value, to]) => align(value, to).ok_or_else(|| self.bad()),
            (Function::Occupancy, &[waves, granule, total, generation, initial, sgprs, vgprs]) => {
                let by_sgprs = if sgprs == 0 { initial } else { waves_by_sgprs(sgprs, waves, generation) };
                let by_vgprs = if vgprs == 0 {
                    initial
                } else {
                    waves_by_vgprs(vgprs, granule, waves, total).ok_or_else(|| self.bad())?
                };
                Ok(initial.min(by_sgprs).min(by_vgprs))
            }
            _ => Err(self.bad()),
        }
    }
}

/// The number of SGPRs in addition to the numbered ones.
pub(super) fn extra_sgprs(target: Target, vcc: bool, flat_scratch: bool, xnack: bool) -> u32 {
    let resources = Resources { uses_vcc: vcc, uses_flat_scratch: flat_scratch, ..Resources::default() };
    // A requested mask is reserved on every target, even on those without replay.
    let without = resources.extra_sgprs(target, Feature::Off);
    if xnack && target.counts_sgprs() { without.max(4) } else { without }
}

/// The smallest multiple of `to` that is at least `value`; `None` if it overflows, or if `to` is not positive.
pub(super) fn align(value: i64, to: i64) -> Option<i64> {
    let rest = value.checked_rem_euclid(to).filter(|_| to > 0)?;
    if rest == 0 { Some(value) } else { value.checked_add(to - rest) }
}

fn waves_by_sgprs(sgprs: i64, waves: i64, generation: i64) -> i64 {
    match sgprs {
        _ if generation >= GENERATION_GFX10 => waves,
        ..=80 => 10,
        81..=88 => 9,
        89..=100 => 8,
        _ => 7,
    }
}

fn waves_by_vgprs(vgprs: i64, granule: i64, waves: i64, total: i64) -> Option<i64> {
    if vgprs < granule {
        return Some(waves);
    }
    let fit = total.checked_div(align(vgprs, granule)?)?;
    Some(fit.max(1).min(waves))
}
