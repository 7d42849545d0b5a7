//! Per-lane scratch memory, for private arrays and spilled registers.
//!
//! `scratch_*` instructions access scratch at byte offsets from the wave's `FLAT_SCRATCH`. With architected flat
//! scratch (gfx942 and later, RDNA 3 and 4) the hardware initialises that register. On other targets the kernel must
//! compute it from the user SGPRs `FLAT_SCRATCH_INIT` and the wave's offset (LLVM AMDGPU guide, *Flat Scratch*,
//! absolute). On RDNA 1 and 2 it is a hardware register, which `s_setreg_b32` writes. [`Inputs::reserve_scratch`]
//! reserves memory and adds this set-up to a function; it may be called at any time before register allocation.

use gcn_emit::text::whole_hwreg;
use gcn_isa::inst::Mods;
use gcn_isa::reg::{FLAT_SCRATCH, Reg, RegFile};
use gcn_isa::table::{self, Class, InstDesc};
use gcn_isa::{Operand, Target};

use super::{Function, MInst, MOperand, Op, VSlice};
use crate::mir::Inputs;

/// The number of bytes that the offset field of a `scratch_*` instruction can address.
pub fn reach(target: Target) -> u32 {
    let range = row(target, "scratch_load_dword", |row| row.offset_range.is_some()).offset_range;
    range.map_or(0, |(_, last)| last as u32 + 1)
}

impl Inputs {
    /// Reserves `bytes` bytes of each lane's scratch and returns their offset, a multiple of `align`.
    ///
    /// If the target needs a set-up of `FLAT_SCRATCH`, the first call inserts it at the entry of `function`. The set-up
    /// needs additional user SGPRs, so it changes the machine registers in [`Function::live_in`] and in the copies from
    /// them at the start of the entry block. The descriptor is derived from [`Inputs::scratch_bytes`].
    pub fn reserve_scratch(&mut self, function: &mut Function, bytes: u32, align: u32) -> u32 {
        let before = *self;
        let offset = self.scratch_bytes.next_multiple_of(align.max(1));
        // The hardware interleaves the scratch of the lanes by dwords, so the size is a multiple of 4.
        self.scratch_bytes = (offset + bytes).next_multiple_of(4);
        if before.scratch_bytes == 0 && self.scratch_bytes > 0 {
            set_up(function, &before, self);
        }
        offset
    }
}

/// Inserts the initialisation of `FLAT_SCRATCH` into a function that was generated for the inputs `before`.
fn set_up(f: &mut Function, before: &Inputs, after: &Inputs) {
    let target = f.target;
    let (old, new) = (before.initial_sgprs(target), after.initial_sgprs(target));
    let (Some(init), Some(offset)) =
        (new.user_sgpr(gcn_emit::kernel::UserSgprs::FLAT_SCRATCH_INIT), new.scratch_wave_offset())
    else {
        return;
    };
    // User SGPRs precede the workgroup ids, so additional user SGPRs shift the ids to higher registers.
    let moved =
        |reg: Reg| (0..3).find(|d| old.workgroup_id(*d) == Some(reg)).and_then(|d| new.workgroup_id(d));
    for reg in &mut f.live_in {
        *reg = moved(*reg).unwrap_or(*reg);
    }
    let live_in = f.live_in.clone();
    let Some(entry) = f.blocks.first_mut() else { return };
    // The copies from live-in registers are first in the entry block. Insert the set-up after them, since later
    // instructions may be assigned the live-in registers.
    let mut copies = 0;
    for inst in &mut entry.insts {
        let [_, MOperand::Fixed(Operand::Reg(from))] = &mut inst.operands[..] else { break };
        *from = moved(*from).unwrap_or(*from);
        if inst.op != Op::Copy || !live_in.contains(from) {
            break;
        }
        copies += 1;
    }
    f.live_in.extend([init, offset]);
    let (base, wave) = (f.new_vreg(RegFile::Sgpr, 2), f.new_vreg(RegFile::Sgpr, 1));
    let part = |start| MOperand::Virt(VSlice { reg: base, start, len: 1 });
    let wave = MOperand::Virt(VSlice { reg: wave, start: 0, len: 1 });
    let all = MOperand::Virt(VSlice { reg: base, start: 0, len: 2 });
    let fixed = |reg: Reg| MOperand::Fixed(reg.into());
    let op = |mnemonic| {
        let row = row(target, mnemonic, |_| true);
        Op::Machine(row, row.default_mods())
    };
    let zero = MOperand::Fixed(Operand::const32(0));
    // If `FLAT_SCRATCH` is not a pair of SGPRs on the target, compute the sum in a virtual register and write it to the
    // hardware register.
    let is_named = target.named_sgprs().flat_scratch.is_some();
    let sum = if is_named { base } else { f.new_vreg(RegFile::Sgpr, 2) };
    let half = |i: u8| match is_named {
        true => fixed(Reg { index: FLAT_SCRATCH.index + u16::from(i), len: 1, ..FLAT_SCRATCH }),
        false => MOperand::Virt(VSlice { reg: sum, start: i, len: 1 }),
    };
    let mut insts = vec![
        inst(Op::Copy, [all, fixed(init)]),
        inst(Op::Copy, [wave, fixed(offset)]),
        inst(op("s_add_u32"), [half(0), part(0), wave]),
        inst(op("s_addc_u32"), [half(1), part(1), zero]),
    ];
    if !is_named {
        insts.insert(2, inst(Op::Undef, [MOperand::Virt(VSlice { reg: sum, start: 0, len: 2 })]));
        let to = hardware_register(target).into_iter().map(|to| MOperand::Fixed(Operand::Imm(to)));
        insts.extend((0..).zip(to).map(|(i, to)| inst(op("s_setreg_b32"), [to, half(i)])));
    }
    if let Some(entry) = f.blocks.first_mut() {
        entry.insts.splice(copies..copies, insts);
    }
}

/// The halves of `FLAT_SCRATCH`, as operands of `s_setreg_b32`, on targets where it is a hardware register.
fn hardware_register(target: Target) -> Vec<i64> {
    let halves = ["HW_REG_FLAT_SCR_LO", "HW_REG_FLAT_SCR_HI"];
    halves.into_iter().filter_map(|half| whole_hwreg(target, half)).map(i64::from).collect()
}

/// True if the instruction writes `FLAT_SCRATCH`, so that it belongs to the set-up of scratch.
pub fn sets_up(inst: &MInst, target: Target) -> bool {
    let is_flat_scratch = |o: &MOperand| match o {
        MOperand::Fixed(Operand::Reg(r)) => r.overlaps(FLAT_SCRATCH),
        MOperand::Fixed(Operand::Imm(to)) => hardware_register(target).contains(to),
        _ => false,
    };
    let is_setreg = |op: &Op| matches!(op, Op::Machine(row, _) if row.class == Class::Setreg);
    match inst.operands.first() {
        Some(MOperand::Fixed(Operand::Imm(_))) if !is_setreg(&inst.op) => false,
        first => first.is_some_and(is_flat_scratch),
    }
}

/// True if the target has no form of `scratch_*` without an address register. An access at a constant offset then needs
/// an SGPR that contains 0.
pub fn needs_base(target: Target) -> bool {
    table::find_operation(target, "scratch_load_dword").all(|row| row.form != NO_ADDRESS)
}

/// The name of the form of `scratch_*` instructions without an address register.
const NO_ADDRESS: &str = "noaddr";

/// Loads `data` (1 to 4 VGPRs or AGPRs) from byte `offset` of each lane's scratch. `base` is an SGPR that contains 0 if
/// [`needs_base`] is true (M0 is suitable), otherwise `None`.
///
/// # Panics
/// If the offset exceeds the [`reach`] or `data` has more than four registers.
pub fn load(target: Target, data: VSlice, base: Option<MOperand>, offset: u32) -> MInst {
    let (op, form) = access(target, "load", data, base, offset);
    let off = MOperand::Fixed(Operand::Off);
    debug_assert_eq!(form.operands.len(), 3, "data, no VGPR address, base");
    inst(op, [MOperand::Virt(data), off, base.unwrap_or(off)])
}

/// Stores `data` (1 to 4 VGPRs or AGPRs) to byte `offset` of each lane's scratch, with a `base` as for [`load`].
///
/// # Panics
/// The same as for [`load`].
pub fn store(target: Target, data: VSlice, base: Option<MOperand>, offset: u32) -> MInst {
    let (op, _) = access(target, "store", data, base, offset);
    let off = MOperand::Fixed(Operand::Off);
    inst(op, [off, MOperand::Virt(data), base.unwrap_or(off)])
}

fn access(
    target: Target,
    verb: &str,
    data: VSlice,
    base: Option<MOperand>,
    offset: u32,
) -> (Op, &'static InstDesc) {
    assert!(offset < reach(target), "a scratch instruction of {target} does not reach byte {offset}");
    let size = ["dword", "dwordx2", "dwordx3", "dwordx4"][usize::from(data.len) - 1];
    // Without a base, the form without an address register is used.
    let form = if base.is_some() { "saddr" } else { NO_ADDRESS };
    let row = row(target, &format!("scratch_{verb}_{size}"), |row| row.form == form);
    let mods = Mods { offset: offset as i32, ..row.default_mods() };
    (Op::Machine(row, mods), row)
}

fn row(target: Target, mnemonic: &str, fits: impl Fn(&InstDesc) -> bool) -> &'static InstDesc {
    table::find_operation(target, mnemonic)
        .find(|row| fits(row))
        .unwrap_or_else(|| unreachable!("every target with scratch instructions has `{mnemonic}`"))
}

fn inst<const N: usize>(op: Op, operands: [MOperand; N]) -> MInst {
    MInst { op, operands: operands.into_iter().collect(), keeps_dst: false, loc: None }
}
