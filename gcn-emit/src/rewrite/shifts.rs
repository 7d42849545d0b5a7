//! Repairs 64-bit shifts whose amount is in the last allocated VGPR: gfx90a reads the register after it. For that one instruction, the
//! amount is exchanged with a lower register, as LLVM does (`fixShift64HighRegBug`).

use gcn_isa::check;
use gcn_isa::hazards::Config;
use gcn_isa::hazards::counter::SHIFT64;
use gcn_isa::{Inst, Operand, Reg, RegFile};

use super::edit::Edits;
use super::source::SourceText;
use crate::code::Unit;
use crate::text::InstText;

/// A register, and the register with which it is exchanged.
type Exchange = (u16, u16);

/// The repaired text, and for each such shift, in the order of the file, the exchanges around it. The list is empty if the shift is in a
/// macro or an included file, whose text is not changed.
pub(super) fn mended(text: &str, unit: &Unit, rules: Config) -> (String, Vec<Vec<Exchange>>) {
    let source = SourceText::new(text);
    let mut edits = Edits::default();
    let mut shifts = Vec::new();
    let found = unit.sections.iter().flat_map(|code| {
        let errata = check::register_errata(&code.program, rules).into_iter();
        errata.filter(|finding| finding.rule == SHIFT64.id).map(move |finding| (code, finding))
    });
    for (code, finding) in found {
        let place = code.places.get(finding.second).filter(|place| place.origin.is_none());
        let statement = place.and_then(|place| source.statement(place.line?));
        let inst = &code.program.lines[finding.second].inst;
        let lower = finding.reg.and_then(|amount| with_lower(inst, amount));
        let (Some(statement), Some((inst, exchanges))) = (statement, lower) else {
            shifts.push(Vec::new());
            continue;
        };
        let words = InstText { inst: &inst, target: code.program.target, program: None }.to_string();
        let swaps: Vec<String> = exchanges.iter().map(|(a, b)| format!("v_swap_b32 v{a}, v{b}")).collect();
        swaps.iter().for_each(|swap| edits.before(&source, &statement, swap));
        edits.operands(&source, &statement, words.split_once(' ').map_or("", |(_, operands)| operands));
        swaps.iter().for_each(|swap| edits.behind(&source, &statement, swap));
        shifts.push(exchanges);
    }
    (edits.apply(text), shifts)
}

/// The shift with its amount in a lower register, and the registers that are exchanged. If the source or the result is the pair that ends
/// with the amount, the whole pair is exchanged. `None` if no lower register is free.
fn with_lower(inst: &Inst, amount: Reg) -> Option<(Inst, Vec<Exchange>)> {
    let used: Vec<Reg> =
        inst.operands.iter().filter_map(|o| o.reg()).filter(|r| r.file == RegFile::Vgpr).collect();
    let overlaps = used.iter().any(|r| r.len > 1 && r.overlaps(amount));
    let length = if overlaps { 2 } else { 1 };
    let old = Reg::v(amount.index + 1 - length, length as u8);
    let free = |start: &u16| !used.iter().any(|r| r.overlaps(Reg::v(*start, length as u8)));
    let new = (0..old.index).step_by(usize::from(length)).find(free)?;
    let mut changed = inst.clone();
    for operand in &mut changed.operands {
        if let Operand::Reg(reg) = operand
            && reg.file == RegFile::Vgpr
            && reg.overlaps(old)
        {
            *reg = Reg::v(reg.index - old.index + new, reg.len);
        }
    }
    Some((changed, (0..length).map(|i| (new + i, old.index + i)).collect()))
}
