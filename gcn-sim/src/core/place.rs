//! Adds the position in the code to faults.

use super::error::SimError;
use super::fault::Fault;
use super::machine::{Cx, Step};
use super::memory::Range;
use super::site::{OutOfBounds, Site, Space};
use super::value::LANES;

pub(crate) fn site(cx: &Cx<'_>, workgroup: [u32; 3], step: &Step) -> Site {
    let line = cx.machine.line_text(step.offset);
    Site { workgroup, wave: cx.w.id, offset: step.offset, text: cx.machine.text(&step.inst), line }
}

pub(crate) fn end_of_code(cx: &Cx<'_>, workgroup: [u32; 3]) -> Site {
    let offset = cx.machine.steps().last().map_or(0, |last| last.offset + last.size);
    Site { workgroup, wave: cx.w.id, offset, text: "(end of the code)".to_owned(), line: None }
}

pub(crate) fn ran_off(cx: &Cx<'_>, workgroup: [u32; 3]) -> SimError {
    let site = end_of_code(cx, workgroup);
    let target = cx.machine.code_base() + u64::from(site.offset);
    SimError::BadBranch { site, target }
}

/// The error for a fault in this step.
pub(crate) fn explain(cx: &Cx<'_>, workgroup: [u32; 3], step: &Step, fault: Fault) -> SimError {
    let site = site(cx, workgroup, step);
    match fault {
        Fault::Unsupported(what) => SimError::Unsupported {
            offset: site.offset,
            text: site.text,
            what: what.to_owned(),
            line: site.line,
        },
        Fault::OutOfBounds { space, write, lane, address, bytes } => {
            let nearest = match space {
                Space::Global => cx.memory.nearest(address),
                Space::Lds => Some(Range { base: 0, bytes: cx.lds.len() as u64 }),
                Space::Scratch => Some(Range { base: 0, bytes: (cx.w.scratch.len() / LANES) as u64 }),
            };
            SimError::OutOfBounds(Box::new(OutOfBounds { site, space, write, lane, address, bytes, nearest }))
        }
        Fault::Misaligned { lane, address, alignment } => {
            SimError::Misaligned { site: Box::new(site), lane, address, alignment }
        }
        Fault::BadBranch(target) => SimError::BadBranch { site, target },
        Fault::Trap(id) => SimError::Trap { site, id },
        Fault::Finding(finding) => SimError::Finding(finding),
        Fault::Loaded => cx.machine.fault_at(step.offset),
        Fault::Hazard(mut hazard) => {
            hazard.second = site;
            SimError::Hazard(hazard)
        }
    }
}
