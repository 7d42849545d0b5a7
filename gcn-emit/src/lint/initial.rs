//! Compares the initial state that the dispatcher provides with the state on which the code certainly relies.

use gcn_isa::cfg::is_call;
use gcn_isa::reg::RegUnit;
use gcn_isa::table::{Access, Behaviours, Class, Format, MemBytes};
use gcn_isa::{Inline, Inst, Operand, Reg, RegFile};

use super::Lints;
use super::kernel::{Kernel, Reached};
use super::rules::{KERNARG, KERNARG_TAIL, SGPR_UNSET, WORKITEM_ID};
use crate::kernel::{UserSgprs, WorkItemIds};

/// The SGPRs and VGPRs that may have been written since the kernel started.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Written([u64; 6]);

/// The number of SGPRs that code can refer to by number.
const SGPRS: u16 = 102;

impl Written {
    const ALL: Written = Written([u64::MAX; 6]);

    fn unit(unit: RegUnit) -> (usize, u64) {
        (unit.index() / 64, 1 << (unit.index() % 64))
    }

    fn set(&mut self, reg: Reg) {
        for unit in reg.units() {
            let (word, bit) = Written::unit(unit);
            if let Some(word) = self.0.get_mut(word) {
                *word |= bit;
            }
        }
    }

    /// True if any register of `reg` may have been written; always true for AGPRs.
    fn any(&self, reg: Reg) -> bool {
        reg.units().any(|unit| {
            let (word, bit) = Written::unit(unit);
            self.0.get(word).is_none_or(|w| w & bit != 0)
        })
    }

    /// Adds the registers of `other`. Returns true if that added any.
    fn add(&mut self, other: &Written) -> bool {
        let mut more = false;
        for (own, other) in self.0.iter_mut().zip(other.0) {
            more |= other & !*own != 0;
            *own |= other;
        }
        more
    }

    fn step(&mut self, inst: &Inst) {
        if is_call(inst) {
            *self = Written::ALL;
            return;
        }
        inst.writes().iter().for_each(|u| self.set(u.reg));
        // Indexed moves write a register whose number is computed.
        match inst.desc.class {
            Class::GprIdx => *self = Written::ALL,
            _ if !inst.desc.does(Behaviours::DESTINATION_BY_M0) => {}
            Class::Movrel => (0..SGPRS).for_each(|s| self.set(Reg::s(s, 1))),
            _ => *self = Written::ALL,
        }
    }
}

pub(super) fn check(kernel: &Kernel<'_>, lints: &mut Lints<'_>) {
    // If control may return to the code from unknown places, any register may have changed.
    let Some(code) = kernel.code.as_ref().filter(|c| !c.jumps) else { return };
    let written = before_blocks(code);
    let mut checker = Checker { kernel, lints, seen: [false; 4] };
    for block in &code.blocks {
        let Some(Some(mut state)) = written.get(*block).copied() else { continue };
        for (line, own) in code.lines(*block) {
            checker.inst(line, &own.inst, &state);
            state.step(&own.inst);
        }
    }
}

/// The registers that may have been written before each block that the kernel reaches.
fn before_blocks(code: &Reached<'_>) -> Vec<Option<Written>> {
    let mut before: Vec<Option<Written>> = vec![None; code.cfg.blocks.len()];
    let mut own: Vec<Option<Written>> = vec![None; code.cfg.blocks.len()];
    let mut open = Vec::new();
    for entry in &code.entries {
        if let Some(slot) = before.get_mut(*entry) {
            *slot = Some(Written::default());
            open.push(*entry);
        }
    }
    while let Some(block) = open.pop() {
        let Some(Some(start)) = before.get(block).copied() else { continue };
        // The registers that a block writes do not depend on the state before it, so they are computed once.
        let Some(slot) = own.get_mut(block) else { continue };
        let writes = slot.get_or_insert_with(|| {
            let mut writes = Written::default();
            code.lines(block).for_each(|(_, l)| writes.step(&l.inst));
            writes
        });
        let mut end = start;
        end.add(writes);
        for next in code.cfg.blocks.get(block).into_iter().flat_map(|b| &b.succs) {
            let Some(slot) = before.get_mut(*next) else { continue };
            let changed = match slot {
                Some(known) => known.add(&end),
                None => {
                    *slot = Some(end);
                    true
                }
            };
            if changed {
                open.push(*next);
            }
        }
    }
    before
}

struct Checker<'c, 'l> {
    kernel: &'c Kernel<'c>,
    lints: &'c mut Lints<'l>,
    /// For each rule, whether it has been reported. Only the first violation is reported.
    seen: [bool; 4],
}

impl Checker<'_, '_> {
    fn inst(&mut self, line: usize, inst: &Inst, written: &Written) {
        if inst.desc.format == Format::Smem {
            self.kernarg(line, inst, written);
        }
        self.address(line, inst, written);
        self.work_item(line, inst, written);
    }

    fn once(&mut self, which: usize) -> bool {
        self.seen.get_mut(which).is_some_and(|seen| !std::mem::replace(seen, true))
    }

    /// Checks a scalar load from the kernarg pointer.
    fn kernarg(&mut self, line: usize, inst: &Inst, written: &Written) {
        let initial = &self.kernel.settings.initial_sgprs;
        let Some(pointer) = initial.user_sgpr(UserSgprs::KERNARG_SEGMENT_PTR) else { return };
        let size = match (self.kernel.facts.descriptor.kernarg_size, self.kernel.metadata()) {
            (0, Some(metadata)) => metadata.kernarg_segment_size,
            (size, _) => size,
        };
        let base = inst.operand("sbase").and_then(Operand::reg);
        if size == 0 || base != Some(pointer) || written.any(pointer) || inst.desc.form != "imm" {
            return;
        }
        let (Some(offset), MemBytes::Bytes(bytes)) = (smem_offset(inst), inst.desc.mem_bytes) else { return };
        let (end, size) = (offset + i64::from(bytes), i64::from(size));
        let remedy = format!("write `.amdhsa_kernarg_size {end}`, or load less");
        if offset >= size && self.once(0) {
            let message = format!("offset {offset} is loaded of a kernarg segment of {size} bytes");
            self.lints.add(&KERNARG, self.kernel.place(line), message, remedy);
        } else if offset < size && end > size && self.once(1) {
            let message =
                format!("bytes {offset} to {} are loaded of a kernarg segment of {size} bytes", end - 1);
            self.lints.add(&KERNARG_TAIL, self.kernel.place(line), message, remedy);
        }
    }

    /// Checks scalar operands that contain an address or a resource.
    fn address(&mut self, line: usize, inst: &Inst, written: &Written) {
        for (operand, slot) in inst.operands.iter().zip(inst.desc.operands) {
            let is_address = matches!(slot.name, "sbase" | "saddr" | "srsrc") && slot.access == Access::Read;
            let Some(reg) =
                operand.reg().filter(|r| is_address && r.file == RegFile::Sgpr && r.end() <= SGPRS)
            else {
                continue;
            };
            let set_up = self.kernel.settings.initial_sgprs.count();
            let unset = |r: &Reg| u32::from(r.index) >= set_up && !written.any(*r);
            let Some(unset) = (0..reg.len).map(|i| reg.sub(i)).find(unset) else { continue };
            if self.once(2) {
                let message = format!(
                    "{reg} is an address, but nothing sets {unset}: the dispatcher sets {set_up} SGPRs"
                );
                let remedy =
                    "enable the user SGPR that is meant (`.amdhsa_user_sgpr_…`), or use the right register";
                self.lints.add(&SGPR_UNSET, self.kernel.place(line), message, remedy);
            }
        }
    }

    /// Checks reads of work-item IDs in `v1`, `v2`, or in bits of `v0`.
    fn work_item(&mut self, line: usize, inst: &Inst, written: &Written) {
        let enabled = self.kernel.settings.work_item_ids;
        let wanted = if self.kernel.target().has_packed_tid() {
            packed_id(inst).filter(|_| !written.any(Reg::v(0, 1)))
        } else {
            let reads = inst.reads();
            let id = |r: &Reg| r.file == RegFile::Vgpr && !written.any(*r);
            let y = reads.iter().any(|u| u.reg.overlaps(Reg::v(1, 1)) && id(&Reg::v(1, 1)));
            let z = reads.iter().any(|u| u.reg.overlaps(Reg::v(2, 1)) && id(&Reg::v(2, 1)));
            // Only operands that name exactly this register are considered: tuples and tied operands commonly include registers that were
            // never set.
            let plain = inst.operands.iter().zip(inst.desc.operands).any(|(o, d)| {
                d.access == Access::Read
                    && inst.desc.format.is_vop()
                    && o.reg().is_some_and(|r| r == Reg::v(1, 1) || r == Reg::v(2, 1))
            });
            match (plain, y, z) {
                (true, _, true) => Some(WorkItemIds::XYZ),
                (true, true, _) => Some(WorkItemIds::XY),
                _ => None,
            }
        };
        if let Some(wanted) = wanted.filter(|w| *w > enabled)
            && self.once(3)
        {
            let (name, number) = if wanted == WorkItemIds::XY { ("y", 1) } else { ("z", 2) };
            let message =
                format!("the work-item id in {name} is read, but the descriptor does not ask for it");
            let remedy = format!("write `.amdhsa_system_vgpr_workitem_id {number}`");
            self.lints.add(&WORKITEM_ID, self.kernel.place(line), message, remedy);
        }
    }
}

/// The offset of a scalar load; `None` if it is not a constant.
fn smem_offset(inst: &Inst) -> Option<i64> {
    match inst.operand("offset") {
        Some(Operand::Imm(offset)) => Some(offset),
        None => Some(inst.mods.offset.into()),
        _ => None,
    }
}

/// The work-item ID that a `v_bfe_u32` extracts from `v0`: y in bits 19:10, z in bits 29:20; `None` for other fields.
fn packed_id(inst: &Inst) -> Option<WorkItemIds> {
    let constant = |index: usize| match inst.operands.get(index)? {
        Operand::Inline(Inline::Int(value)) => Some(*value),
        _ => None,
    };
    let of_v0 = inst.operands.get(1)?.reg() == Some(Reg::v(0, 1));
    match (inst.desc.mnemonic, of_v0, constant(2)?, constant(3)?) {
        ("v_bfe_u32", true, 10, 10) => Some(WorkItemIds::XY),
        ("v_bfe_u32", true, 20, 10) => Some(WorkItemIds::XYZ),
        _ => None,
    }
}
