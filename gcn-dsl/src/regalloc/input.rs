//! Checks the rules of [`crate::mir`] on which the allocator relies.

use gcn_isa::program::SourceLoc;
use gcn_isa::table::OperandKinds;
use gcn_isa::{Class, InstDesc, Label, Operand, OperandDesc, Reg, RegFile, SrcSpecial};

use super::access;
use super::error::AllocError;
use super::place::InstPlace;
use crate::mir::{Function, MBlock, MInst, MOperand, Op, Pin, VSlice};

/// SGPRs with a name (VCC and so on) have this number or a higher one; they are never allocated.
pub(super) use gcn_isa::reg::FIRST_NAMED_SGPR;

/// True if the allocator may assign `reg`.
pub(super) fn allocatable(reg: Reg) -> bool {
    reg.file != RegFile::Sgpr || reg.index < FIRST_NAMED_SGPR
}

/// The location of instruction `inst` of `block`, with the nearest source location in the block.
pub(super) fn place(f: &Function, block: usize, inst: usize) -> InstPlace {
    let insts = f.blocks.get(block).map_or(&[][..], |b| &b.insts);
    let near = inst.min(insts.len());
    let before = insts[..(near + 1).min(insts.len())].iter().rev().find_map(|i| i.loc);
    let loc: Option<SourceLoc> = before.or_else(|| insts[near..].iter().find_map(|i| i.loc));
    InstPlace { block, inst, loc }
}

/// Checks that `f` obeys the rules on which the allocator relies.
pub(super) fn check(f: &Function) -> Result<(), AllocError> {
    let fail = |block, inst, rule| {
        Err(AllocError::Malformed { kernel: f.name.clone(), at: place(f, block, inst), rule })
    };
    if let Some((i, v)) =
        f.vregs.iter().enumerate().find(|(_, v)| !(1..=32).contains(&v.len) || !v.align.is_power_of_two())
    {
        let rule = format!(
            "%{i} has {} registers aligned to {}; 1 to 32 registers and a power of two are asked for",
            v.len, v.align
        );
        return fail(0, 0, rule);
    }
    if let Some(rule) = f.pins.iter().find_map(|pin| check_pin(f, pin)) {
        return fail(0, 0, rule);
    }
    for (b, block) in f.blocks.iter().enumerate() {
        for (i, inst) in block.insts.iter().enumerate() {
            if let Err(rule) = check_inst(f, b, inst).and_then(|()| check_branch(f, block, i)) {
                return fail(b, i, rule);
            }
        }
    }
    Ok(())
}

fn check_inst(f: &Function, block: usize, inst: &MInst) -> Result<(), String> {
    for operand in &inst.operands {
        if let MOperand::Virt(slice) = *operand {
            check_slice(f, slice)?;
        }
    }
    match &inst.op {
        Op::Machine(desc, _) => check_machine(f, block, inst, desc),
        Op::Copy => check_copy(f, block, inst),
        Op::Order | Op::Mark(_) if inst.operands.is_empty() => Ok(()),
        Op::Order | Op::Mark(_) => Err("an order mark takes no operands".into()),
        Op::Undef => match inst.operands[..] {
            [MOperand::Virt(_)] => Ok(()),
            _ => Err("Undef takes one virtual register".into()),
        },
    }
}

fn check_pin(f: &Function, pin: &Pin) -> Option<String> {
    let Some(info) = f.vregs.get(pin.reg.0 as usize) else {
        return Some(format!("%{} is not a register of the function", pin.reg.0));
    };
    let fits =
        (info.file, info.len) == (pin.to.file, pin.to.len) && pin.to.index.is_multiple_of(info.align.into());
    (!fits || !allocatable(pin.to)).then(|| format!("%{} cannot be {}", pin.reg.0, pin.to))
}

fn check_slice(f: &Function, slice: VSlice) -> Result<(), String> {
    let Some(info) = f.vregs.get(slice.reg.0 as usize) else {
        return Err(format!("%{} is not a register of the function", slice.reg.0));
    };
    if slice.len == 0 || u16::from(slice.start) + u16::from(slice.len) > u16::from(info.len) {
        return Err(format!(
            "registers {}..{} of %{} are named, which has {}",
            slice.start,
            u16::from(slice.start) + u16::from(slice.len),
            slice.reg.0,
            info.len
        ));
    }
    Ok(())
}

fn check_machine(f: &Function, block: usize, inst: &MInst, desc: &InstDesc) -> Result<(), String> {
    if !desc.is_on(f.on()) {
        return Err(format!("{} does not exist on {}", desc.printed, f.target));
    }
    if inst.operands.len() != desc.operands.len() {
        return Err(format!(
            "{} has {} operands, {} are given",
            desc.printed,
            desc.operands.len(),
            inst.operands.len()
        ));
    }
    for (operand, slot) in inst.operands.iter().zip(desc.operands) {
        match *operand {
            MOperand::Virt(slice) => {
                let file = f.info(slice.reg).file;
                if !accepts(slot, file) {
                    return Err(format!(
                        "{}: {} takes no {file:?} (%{})",
                        desc.printed, slot.name, slice.reg.0
                    ));
                }
            }
            MOperand::Fixed(Operand::Reg(reg)) => {
                check_fixed(f, block, reg, slot.access != gcn_isa::Access::Read)?;
            }
            MOperand::Fixed(_) => {}
        }
    }
    let results = access::uses(f, inst);
    let results: Vec<_> = results.iter().filter(|u| u.write).collect();
    for (i, u) in results.iter().enumerate() {
        if results[..i].iter().any(|w| access::overlap(w.slice, u.slice)) {
            return Err(format!("{} writes two results to %{}", desc.printed, u.slice.reg.0));
        }
    }
    check_matrix(inst, desc)
}

fn accepts(slot: &OperandDesc, file: RegFile) -> bool {
    // A slot for half a VGPR takes the lower half of a register that the allocator assigns.
    let half = file == RegFile::Vgpr && slot.is_half();
    half || slot.kinds.contains(match file {
        RegFile::Sgpr => OperandKinds::SGPR,
        RegFile::Vgpr => OperandKinds::VGPR,
        RegFile::Agpr => OperandKinds::AGPR,
    })
}

/// Checks the use of machine register `reg` in block `block`. A register that the allocator can assign may only be
/// read, and only in the entry block, because its only value is its initial state at kernel entry.
fn check_fixed(f: &Function, block: usize, reg: Reg, written: bool) -> Result<(), String> {
    if !allocatable(reg) {
        return Ok(());
    }
    if written {
        return Err(format!("{reg} is written, which the allocator hands out; write a virtual register"));
    }
    if block != 0 || !reg.units().all(|u| f.live_in.iter().any(|l| l.covers(u.reg()))) {
        return Err(format!(
            "{reg} is read, which holds nothing here; initial state is in `live_in` registers, in the entry block only"
        ));
    }
    Ok(())
}

/// Checks that D is identical to C or does not overlap it, and that D does not overlap A or B. Results of up to four
/// registers may overlap A and B, as in LLVM's assembler.
fn check_matrix(inst: &MInst, desc: &InstDesc) -> Result<(), String> {
    let Some(m) = access::matrix_operands(inst) else { return Ok(()) };
    let MOperand::Virt(d) = m.d else { return Ok(()) };
    let clash = |o: MOperand| matches!(o, MOperand::Virt(s) if access::overlap(d, s));
    if d.len > 4 && (clash(m.a) || clash(m.b)) {
        return Err(format!(
            "{}: D (%{}) overlaps A or B; give the result its own register",
            desc.printed, d.reg.0
        ));
    }
    if m.c.is_some_and(|c| c != m.d && clash(c)) {
        return Err(format!(
            "{}: D (%{}) overlaps a part of C; D and C must be identical or disjoint",
            desc.printed, d.reg.0
        ));
    }
    Ok(())
}

fn check_copy(f: &Function, block: usize, inst: &MInst) -> Result<(), String> {
    let [dst, src] = inst.operands[..] else { return Err("Copy takes a destination and a source".into()) };
    let (dst_file, dst_len) = match dst {
        MOperand::Virt(s) => (f.info(s.reg).file, s.len),
        MOperand::Fixed(Operand::Reg(reg)) if reg.file == RegFile::Sgpr => {
            check_fixed(f, block, reg, true)?;
            (reg.file, reg.len)
        }
        MOperand::Fixed(other) => return Err(format!("Copy to {other:?}, which is not a register")),
    };
    let (src_file, src_len) = match src {
        MOperand::Virt(s) => (f.info(s.reg).file, s.len),
        MOperand::Fixed(Operand::Reg(reg)) => {
            check_fixed(f, block, reg, false)?;
            (reg.file, reg.len)
        }
        MOperand::Fixed(Operand::Inline(_) | Operand::Literal(_)) => return Ok(()),
        // Only vector instructions may read LDS_DIRECT, and each read consumes it.
        MOperand::Fixed(Operand::Special(s)) if s != SrcSpecial::LdsDirect => return Ok(()),
        MOperand::Fixed(other) => return Err(format!("Copy from {other:?}, which is not a value")),
    };
    if dst_len != src_len {
        return Err(format!("Copy of {src_len} registers to {dst_len}"));
    }
    if dst_file == RegFile::Sgpr && src_file != RegFile::Sgpr {
        return Err("Copy from a vector to a scalar register; use v_readfirstlane_b32".into());
    }
    Ok(())
}

/// The block to which `inst` may branch; `None` if it is not a branch.
pub(super) fn branch_target(inst: &MInst) -> Option<usize> {
    let Op::Machine(desc, _) = inst.op else { return None };
    if desc.class != Class::Branch {
        return None;
    }
    inst.operands.iter().find_map(|o| match o {
        MOperand::Fixed(Operand::Label(Label(block))) => Some(*block as usize),
        _ => None,
    })
}

fn is_branch(inst: &MInst) -> bool {
    matches!(inst.op, Op::Machine(desc, _) if desc.class == Class::Branch)
}

fn check_branch(f: &Function, block: &MBlock, i: usize) -> Result<(), String> {
    if !is_branch(&block.insts[i]) {
        return Ok(());
    }
    match branch_target(&block.insts[i]) {
        None => {
            return Err(
                "a branch to an unknown place; only branches to blocks of the function are supported".into(),
            );
        }
        Some(target) if target >= f.blocks.len() => {
            return Err(format!("a branch to block {target}; the function has {}", f.blocks.len()));
        }
        Some(_) => {}
    }
    if block.insts.get(i + 1).is_some_and(|next| !is_branch(next)) {
        return Err("a branch inside a block; nothing but another branch may follow it".into());
    }
    Ok(())
}

/// The successors of each block.
pub(super) fn successors(f: &Function) -> Vec<Vec<usize>> {
    f.blocks
        .iter()
        .enumerate()
        .map(|(b, block)| {
            let mut succs: Vec<usize> = block.insts.iter().filter_map(branch_target).collect();
            let falls = block.insts.iter().all(|i| match i.op {
                Op::Machine(desc, _) => desc.falls_through(),
                _ => true,
            });
            if falls && b + 1 < f.blocks.len() {
                succs.push(b + 1);
            }
            succs.sort_unstable();
            succs.dedup();
            succs
        })
        .collect()
}
