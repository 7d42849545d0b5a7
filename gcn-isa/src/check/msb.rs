//! Finds VGPRs whose number is not certain (gfx12.5): paths on which `s_set_vgpr_msb` has set different upper bits of the number meet
//! before the instruction.

use super::report::{Amount, Finding};
use crate::hazards::AnyRule as _;
use crate::hazards::counter::VGPR_MSB;
use crate::indexing::Indexing;
use crate::inst::Via;
use crate::program::Program;

/// One finding for each line that names such a VGPR.
pub(super) fn check(program: &Program, indexing: &Indexing) -> Vec<Finding> {
    indexing.with_several_msbs().map(|(line, operand)| finding(program, line, operand)).collect()
}

fn finding(program: &Program, line: usize, operand: usize) -> Finding {
    let inst = &program.lines[line].inst;
    Finding {
        rule: VGPR_MSB.id,
        grade: VGPR_MSB.grade(),
        title: VGPR_MSB.title,
        first: None,
        second: line,
        first_name: "",
        second_name: inst.desc.printed,
        loc: program.lines[line].loc,
        reg: inst.operands.get(operand).and_then(|o| o.reg()),
        via: Via::SeveralMsbs,
        need: Amount::Setting("s_set_vgpr_msb"),
        have: Amount::NoWait,
        path: Vec::new(),
        caveat: None,
    }
}
