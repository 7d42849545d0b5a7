//! Compares the registers that the code uses with those that the kernel declares.

use gcn_isa::cfg::Flow;
use gcn_isa::indexing::Indexing;
use gcn_isa::inst::Via;
use gcn_isa::{Reg, RegFile, Target, reg};

use super::Lints;
use super::kernel::Kernel;
use super::rules::{ACCUM_OFFSET, AGPRS, RESERVED_SGPRS, SGPRS, VGPRS};
use crate::target_id::Feature;

/// The end of the used registers of a file, and the first line that uses the highest one.
#[derive(Clone, Copy, Default)]
struct Highest {
    /// One past the highest register.
    end: u16,
    line: usize,
}

/// The registers that a kernel uses.
#[derive(Default)]
struct Used {
    vgprs: Highest,
    agprs: Highest,
    sgprs: Highest,
    /// The first line that uses VCC.
    vcc: Option<usize>,
    flat_scratch: Option<usize>,
}

pub(super) fn check(kernel: &Kernel<'_>, lints: &mut Lints<'_>) {
    let used = used(kernel);
    vector(kernel, &used, lints);
    scalar(kernel, &used, lints);
}

fn used(kernel: &Kernel<'_>) -> Used {
    let mut used = Used::default();
    // Only the numbers that `s_set_vgpr_msb` completes are certain. The other kinds of indices may reach registers that the code never
    // uses, so they are ignored.
    let has_msbs = kernel.target().addressable_vgprs() == reg::MOST_VGPRS.into();
    let program = kernel.code.as_ref().filter(|_| has_msbs).map(|code| code.program);
    let indexing = program.map(|program| Indexing::of(program, &Flow::of(program))).unwrap_or_default();
    for (line, own) in kernel.lines() {
        let inst = &own.inst;
        let all = indexing.reads(line, inst).into_iter().chain(indexing.writes(line, inst));
        let beyond = all.filter(|u| u.via == Via::Msb).map(|u| u.reg);
        for reg in inst.operands.iter().filter_map(|o| o.reg()).chain(beyond) {
            let highest = match reg.file {
                RegFile::Vgpr => &mut used.vgprs,
                RegFile::Agpr => &mut used.agprs,
                RegFile::Sgpr if u32::from(reg.index) < kernel.target().addressable_sgprs() => {
                    &mut used.sgprs
                }
                RegFile::Sgpr => {
                    named(kernel.target(), &mut used, reg, line);
                    continue;
                }
            };
            if reg.end() > highest.end {
                *highest = Highest { end: reg.end(), line };
            }
        }
        // FLAT instructions read FLAT_SCRATCH implicitly, so the implicit use does not count; only writes by the code do.
        let all = inst.reads().into_iter().map(|u| u.reg).chain(inst.writes().into_iter().map(|u| u.reg));
        for reg in all.filter(|reg| !reg.overlaps(reg::FLAT_SCRATCH)) {
            named(kernel.target(), &mut used, reg, line);
        }
    }
    used
}

fn named(target: Target, used: &mut Used, reg: Reg, line: usize) {
    if u32::from(reg.index) < target.addressable_sgprs() {
        return;
    }
    for (name, first) in [(reg::VCC, &mut used.vcc), (reg::FLAT_SCRATCH, &mut used.flat_scratch)] {
        if reg.overlaps(name) && first.is_none() {
            *first = Some(line);
        }
    }
}

fn vector(kernel: &Kernel<'_>, used: &Used, lints: &mut Lints<'_>) {
    let (vgprs, agprs) = (u32::from(used.vgprs.end), u32::from(used.agprs.end));
    let allocated = kernel.settings.vgprs;
    // In a unified file, the AGPRs start at `accum_offset`; separate files have the same size.
    let first_agpr = kernel.settings.accum_offset.unwrap_or(0);
    if vgprs > allocated {
        let message =
            format!("v{} is used, but the descriptor gives the kernel {allocated} VGPRs", vgprs - 1);
        let remedy = format!("write `.amdhsa_next_free_vgpr {}` or more", vgprs.max(first_agpr + agprs));
        lints.add(&VGPRS, kernel.place(used.vgprs.line), message, remedy);
    } else if kernel.settings.accum_offset.is_some_and(|offset| agprs > 0 && vgprs > offset) {
        let message = format!("v{} is used, but `accum_offset` {first_agpr} makes it an AGPR", vgprs - 1);
        let remedy = format!("write `.amdhsa_accum_offset {}` or more", vgprs.next_multiple_of(4));
        lints.add(&ACCUM_OFFSET, kernel.place(used.vgprs.line), message, remedy);
    }
    if agprs > 0 && first_agpr + agprs > allocated {
        let have = allocated.saturating_sub(first_agpr);
        let message = format!("a{} is used, but the descriptor gives the kernel {have} AGPRs", agprs - 1);
        let remedy = format!("write `.amdhsa_next_free_vgpr {}` or more", first_agpr + agprs);
        lints.add(&AGPRS, kernel.place(used.agprs.line), message, remedy);
    }
}

fn scalar(kernel: &Kernel<'_>, used: &Used, lints: &mut Lints<'_>) {
    let (sgprs, allocated) = (u32::from(used.sgprs.end), kernel.settings.sgprs);
    let place = kernel.place(used.sgprs.line);
    let remedy = format!("write `.amdhsa_next_free_sgpr {sgprs}` or more");
    if sgprs > allocated {
        let message =
            format!("s{} is used, but the descriptor gives the kernel {allocated} SGPRs", sgprs - 1);
        lints.add(&SGPRS, place, message, remedy);
        return;
    }
    if !kernel.target().counts_sgprs() {
        return;
    }
    let (extra, names) = reserved(kernel, used);
    if sgprs + extra > allocated {
        let message = format!(
            "s{} is used, but of the kernel's {allocated} SGPRs the last {extra} hold {names}",
            sgprs - 1
        );
        lints.add(&RESERVED_SGPRS, place, message, remedy + " and do not turn `.amdhsa_reserve_…` off");
    }
}

/// The number of SGPRs at the end of the allocation that are occupied by named registers which the code uses. Each named register also
/// reserves those after it (LLVM AMDGPU guide, `GRANULATED_WAVEFRONT_SGPR_COUNT`).
fn reserved(kernel: &Kernel<'_>, used: &Used) -> (u32, &'static str) {
    let architected = kernel.target().has_architected_flat_scratch();
    if used.flat_scratch.is_some() && !architected {
        (6, "FLAT_SCRATCH, XNACK_MASK and VCC")
    } else if kernel.target_id.xnack == Feature::On {
        (4, "XNACK_MASK and VCC")
    } else if used.vcc.is_some() {
        (2, "VCC")
    } else {
        (0, "")
    }
}
