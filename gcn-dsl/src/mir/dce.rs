//! Drops machine instructions whose results nobody reads: arithmetic that selection folded into other instructions.

use gcn_isa::table::{Access, Format, ImplicitRegs};

use super::{Function, MInst, MOperand, Op};

/// Removes dead instructions from `f`.
pub fn run(f: &mut Function) {
    loop {
        let read = read(f);
        let dead = |inst: &MInst| is_removable(inst) && results(inst).all(|r| !read[r as usize]);
        let mut changed = false;
        for block in &mut f.blocks {
            let before = block.insts.len();
            block.insts.retain(|inst| !dead(inst));
            changed |= block.insts.len() != before;
        }
        if !changed {
            return;
        }
    }
}

/// Registers that an instruction reads, other than to keep a part of its own result.
fn read(f: &Function) -> Vec<bool> {
    let mut read = vec![false; f.vregs.len()];
    f.kept.iter().for_each(|reg| read[reg.0 as usize] = true);
    for inst in f.blocks.iter().flat_map(|b| &b.insts) {
        for (i, operand) in inst.operands.iter().enumerate() {
            if let MOperand::Virt(slice) = operand
                && access(inst, i) != Access::Write
            {
                read[slice.reg.0 as usize] = true;
            }
        }
    }
    read
}

fn access(inst: &MInst, operand: usize) -> Access {
    match &inst.op {
        Op::Machine(row, _) => row.operands.get(operand).map_or(Access::Read, |slot| slot.access),
        Op::Copy | Op::Undef if operand == 0 => Access::Write,
        _ => Access::Read,
    }
}

fn results(inst: &MInst) -> impl Iterator<Item = u32> {
    inst.operands.iter().enumerate().filter_map(|(i, operand)| match operand {
        MOperand::Virt(slice) if access(inst, i) != Access::Read => Some(slice.reg.0),
        _ => None,
    })
}

/// True if the instruction does nothing but write virtual registers.
fn is_removable(inst: &MInst) -> bool {
    let written = |i: usize| access(inst, i) != Access::Read;
    let plain = match &inst.op {
        Op::Copy | Op::Undef => true,
        Op::Machine(row, _) => {
            let arithmetic =
                row.format.is_vop() || matches!(row.format, Format::Sop1 | Format::Sop2 | Format::Sopk);
            arithmetic && row.implicit_writes == ImplicitRegs::empty()
        }
        _ => false,
    };
    let virt = |(i, operand): (usize, &MOperand)| !written(i) || matches!(operand, MOperand::Virt(_));
    plain && inst.operands.iter().enumerate().all(virt) && results(inst).next().is_some()
}
