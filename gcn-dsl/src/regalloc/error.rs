//! Errors of the allocator.

use gcn_isa::program::SourceLoc;
use gcn_isa::reg::{Reg, RegFile};

use super::place::InstPlace;
use super::pressure::LiveReg;

/// Why a function could not be allocated.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AllocError {
    /// More registers are live at once than are available, or the free registers are too fragmented.
    #[error("{}", does_not_fit(kernel, *file, *peak, (*limit, *limited), *tuple, at.as_ref(), live))]
    DoesNotFit {
        /// The kernel.
        kernel: String,
        /// The register file.
        file: RegFile,
        /// Most dwords of the file that are live at once.
        peak: u32,
        /// Registers available.
        limit: u32,
        /// The target has more.
        limited: bool,
        /// Width of the value that found no place although the peak is within the limit; `None` if the peak
        /// exceeds it.
        tuple: Option<u8>,
        /// Where.
        at: Option<InstPlace>,
        /// The widest values that are live there.
        live: Vec<LiveReg>,
    },
    /// A register that the user chose is not available.
    #[error("kernel `{kernel}`: {}`{register}` cannot be had here: {why}; choose another register, or none", SourceLoc::lead(*at))]
    Pinned {
        /// The kernel.
        kernel: String,
        /// The register.
        register: Reg,
        /// Where it is asked for.
        at: Option<SourceLoc>,
        /// What occupies it, and where.
        why: String,
    },
    /// The machine code before allocation breaks a rule that the allocator relies on: a bug in an earlier
    /// pass.
    #[error("kernel `{kernel}`, {at}: {rule}")]
    Malformed {
        /// The kernel.
        kernel: String,
        /// Where.
        at: InstPlace,
        /// What is wrong and what is asked for.
        rule: String,
    },
    /// The result failed its own check: a bug in the allocator.
    #[error("register allocation failed its own check; please report this with the kernel's source: {0}")]
    Unverified(#[from] VerifyError),
}

/// The allocated program does not compute what the function says.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("kernel `{kernel}`, {at}: {what}")]
pub struct VerifyError {
    /// The kernel.
    pub kernel: String,
    /// Where in the function.
    pub at: InstPlace,
    /// What differs.
    pub what: String,
}

/// The file's name for messages.
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
    // The number of its dwords that are live.
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
