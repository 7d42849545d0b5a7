//! Errors of the allocator.

use gcn_isa::program::SourceLoc;
use gcn_isa::reg::{Reg, RegFile};

use super::place::InstPlace;
use super::pressure::LiveReg;

/// The reasons why a function could not be allocated.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AllocError {
    /// More registers are live at once than are available, or the free registers are too fragmented for a tuple.
    #[error("{}", does_not_fit(kernel, *file, *peak, (*limit, *limited), *tuple, at.as_ref(), live))]
    DoesNotFit {
        /// The kernel's name.
        kernel: String,
        /// The register file.
        file: RegFile,
        /// The largest number of dwords of the file that are live at once.
        peak: u32,
        /// The number of available registers.
        limit: u32,
        /// True if the target has more registers than `limit`.
        limited: bool,
        /// If the peak is within the limit: the width of the value for which no registers were found. `None` if the
        /// peak exceeds the limit.
        tuple: Option<u8>,
        /// The first point with the peak or, if `tuple` is given, the start of that value's life; `None` if unknown.
        at: Option<InstPlace>,
        /// The widest values that are live at that point.
        live: Vec<LiveReg>,
    },
    /// A pinned register is not available.
    #[error("kernel `{kernel}`: {}`{register}` cannot be had here: {why}; choose another register, or none", SourceLoc::lead(*at))]
    Pinned {
        /// The kernel's name.
        kernel: String,
        /// The register.
        register: Reg,
        /// The location of the user's request.
        at: Option<SourceLoc>,
        /// The reason: what occupies the register, and where.
        why: String,
    },
    /// The machine code before allocation breaks a rule that the allocator relies on, which is a bug in an earlier
    /// pass.
    #[error("kernel `{kernel}`, {at}: {rule}")]
    Malformed {
        /// The kernel's name.
        kernel: String,
        /// The instruction.
        at: InstPlace,
        /// The violated rule, and what is wrong.
        rule: String,
    },
    /// The result failed verification, which is a bug in the allocator.
    #[error("register allocation failed its own check; please report this with the kernel's source: {0}")]
    Unverified(#[from] VerifyError),
}

/// The error that the allocated program does not compute what the function does.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("kernel `{kernel}`, {at}: {what}")]
pub struct VerifyError {
    /// The kernel's name.
    pub kernel: String,
    /// The instruction in the function.
    pub at: InstPlace,
    /// The difference from the function.
    pub what: String,
}

/// The plural of the file's name, for messages.
pub(super) fn plural(file: RegFile) -> &'static str {
    match file {
        RegFile::Sgpr => "SGPRs",
        RegFile::Vgpr => "VGPRs",
        RegFile::Agpr => "AGPRs",
    }
}

fn does_not_fit(
    kernel: &str,
    file: RegFile,
    peak: u32,
    (limit, limited): (u32, bool),
    tuple: Option<u8>,
    at: Option<&InstPlace>,
    live: &[LiveReg],
) -> String {
    // Count only the live dwords of each value.
    let place =
        at.map_or(String::new(), |p| format!(" at {}", p.loc.map_or(p.to_string(), |loc| loc.to_string())));
    let file = plural(file);
    let problem = match tuple {
        Some(n) if u32::from(n) > limit => {
            format!("a value{place} takes {n} consecutive {file}, but only {limit} are available")
        }
        Some(n) if peak <= limit => format!(
            "no {n} consecutive {file} are free{place}, although no more than {peak} of the {limit} available are live at once"
        ),
        _ => format!("{peak} {file} are live{place}, but only {limit} are available"),
    };
    let value = |live: &LiveReg| {
        let (from, many) =
            (live.defined.map(|loc| format!(" from {loc}")), if live.dwords == 1 { "" } else { "s" });
        format!("{} dword{many}{}", live.dwords, from.unwrap_or_default())
    };
    let widest: Vec<String> = live.iter().take(6).map(value).collect();
    let widest = match widest.is_empty() {
        true => String::new(),
        false => format!("; the widest values there: {}", widest.join(", ")),
    };
    let why = match limited {
        true => {
            "`#[max_registers]`, `#[min_occupancy]` or the size of the workgroup leave no more: allow more, or "
        }
        false => "",
    };
    format!(
        "kernel `{kernel}`: {problem}{widest}; {why}use a smaller tile, fewer accumulators or less unrolling"
    )
}
