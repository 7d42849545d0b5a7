//! Compares LDS and scratch accesses at constant offsets with the sizes that the kernel declares.

use gcn_isa::counters::{self, MemoryEffect};
use gcn_isa::operand::SrcSpecial;
use gcn_isa::program::Line;
use gcn_isa::table::{Class, Format, MemBytes};
use gcn_isa::{Inst, Operand};

use super::Lints;
use super::kernel::Kernel;
use super::rules::{LDS, LDS_LIMIT, SCRATCH, TG_SPLIT, WORKGROUP};
use crate::occupancy::{Mode, Usage, occupancy_in};

pub(super) fn check(kernel: &Kernel<'_>, lints: &mut Lints<'_>) {
    lds(kernel, lints);
    split(kernel, lints);
    scratch(kernel, lints);
    workgroup(kernel, lints);
}

fn lds(kernel: &Kernel<'_>, lints: &mut Lints<'_>) {
    let have = kernel.facts.descriptor.group_segment_fixed_size;
    let limit = kernel.target().lds_per_cu();
    if have > limit {
        let message = format!("the descriptor asks for {have} bytes of LDS; a workgroup has {limit} at most");
        lints.add(&LDS_LIMIT, None, message, "use less LDS");
        return;
    }
    let accesses = kernel.lines().filter_map(|(line, l)| Some((lds_end(&l.inst)?, line)));
    // Reports the access that ends furthest; if there are several, the first.
    let Some((end, line)) = accesses.min_by_key(|(end, _)| std::cmp::Reverse(*end)) else { return };
    if end > limit {
        let message = format!("bytes up to {end} of the LDS are accessed; a workgroup has {limit} at most");
        lints.add(&LDS_LIMIT, kernel.place(line), message, "use a smaller offset");
    } else if have > 0 && end > have {
        // The message depends on whether the descriptor declares any LDS: without a declared size, all LDS is allocated at launch.
        let message =
            format!("bytes up to {end} of the LDS are accessed, but the descriptor gives the kernel {have}");
        let remedy =
            format!("write `.amdhsa_group_segment_fixed_size {end}`, or have the launch add dynamic LDS");
        lints.add(&LDS, kernel.place(line), message, remedy);
    }
}

/// In threadgroup split mode, the waves of a workgroup may be on different compute units, and LDS is not available.
fn split(kernel: &Kernel<'_>, lints: &mut Lints<'_>) {
    if !kernel.settings.tg_split {
        return;
    }
    let accesses = |l: &Line| {
        let lds = MemoryEffect::LDS_READ | MemoryEffect::LDS_WRITE | MemoryEffect::LDS_DMA;
        let events = counters::events(kernel.target(), &l.inst);
        // A FLAT access is not counted, because it may access memory.
        l.inst.desc.format != Format::Flat && events.iter().any(|e| e.memory.intersects(lds))
    };
    let first = kernel.lines().find(|(_, l)| accesses(l)).map(|(line, _)| line);
    let have = kernel.facts.descriptor.group_segment_fixed_size;
    let message = match first {
        Some(_) => "LDS is accessed in threadgroup split mode, in which there is none".to_owned(),
        None if have > 0 => {
            format!("{have} bytes of LDS are asked for in threadgroup split mode, which has none")
        }
        None => return,
    };
    let remedy = "write `.amdhsa_tg_split 0`, or use no LDS";
    lints.add(&TG_SPLIT, first.and_then(|line| kernel.place(line)), message, remedy);
}

/// A lower bound for the end of the bytes that an LDS instruction accesses, assuming that its address register is 0. `None` if it accesses
/// none.
fn lds_end(inst: &Inst) -> Option<u32> {
    let accesses =
        matches!(inst.desc.class, Class::LdsRead | Class::LdsWrite | Class::LdsAtomic | Class::LdsAtomicRet);
    if !accesses || inst.mods.gds || inst.desc.operand_index("addr").is_none() {
        return None;
    }
    let MemBytes::Bytes(bytes) = inst.desc.mem_bytes else { return None };
    let bytes = u32::from(bytes);
    if inst.desc.modifiers.contains(gcn_isa::table::Modifiers::OFFSET0) {
        // Two elements, whose offsets are in units of one element, or of 64 elements.
        let element = bytes / 2;
        let stride =
            if inst.desc.does(gcn_isa::table::Behaviours::STRIDE_64) { 64 * element } else { element };
        let farther = u32::from(inst.mods.offset0.max(inst.mods.offset1));
        return Some(farther * stride + element);
    }
    u32::try_from(inst.mods.offset).ok().map(|offset| offset + bytes)
}

fn scratch(kernel: &Kernel<'_>, lints: &mut Lints<'_>) {
    let guarded = behind_aperture(kernel);
    let lines = kernel.lines().filter(|(line, l)| !guarded(*line, &l.inst));
    let mut accesses = lines.filter(|(_, l)| l.inst.desc.format == Format::Scratch).peekable();
    let Some(first) = accesses.peek().map(|a| a.0) else { return };
    let descriptor = &kernel.facts.descriptor;
    let have = descriptor.private_segment_fixed_size;
    if !kernel.settings.uses_scratch {
        let message = "scratch is used, but the descriptor does not enable it".to_owned();
        let remedy = if kernel.target().has_architected_flat_scratch() {
            "write `.amdhsa_enable_private_segment 1`"
        } else {
            "write `.amdhsa_system_sgpr_private_segment_wavefront_offset 1`"
        };
        lints.add(&SCRATCH, kernel.place(first), message, remedy);
    } else if !kernel.settings.uses_dynamic_stack {
        let ends = accesses.filter_map(|(line, l)| Some((scratch_end(&l.inst)?, line)));
        let Some((end, line)) = ends.min_by_key(|(end, _)| std::cmp::Reverse(*end)) else { return };
        if end > i64::from(have) {
            let message = format!(
                "bytes up to {end} of the scratch are accessed, but the descriptor gives the kernel {have}"
            );
            let remedy = format!("write `.amdhsa_private_segment_fixed_size {end}` or more");
            lints.add(&SCRATCH, kernel.place(line), message, remedy);
        }
    }
}

/// In a kernel without scratch, selects the accesses to scratch at an address in a register that follow a read of
/// `src_private_base` on every path. Compilers split atomics on flat addresses by a comparison with this base: one branch is for
/// addresses in scratch, and in such a kernel no address is.
fn behind_aperture<'k>(kernel: &'k Kernel<'_>) -> impl Fn(usize, &Inst) -> bool + 'k {
    let has_none =
        kernel.facts.descriptor.private_segment_fixed_size == 0 && !kernel.settings.uses_dynamic_stack;
    let before = kernel.code.as_ref().filter(|_| has_none).map(|code| {
        let reads = |line: &Line| line.inst.operands.contains(&Operand::Special(SrcSpecial::PrivateBase));
        code.before(reads)
    });
    move |line, inst| {
        before.as_ref().is_some_and(|before| !before.contains(&line))
            && inst.desc.format == Format::Scratch
            && scratch_end(inst).is_none()
    }
}

/// The end of the bytes that a scratch instruction accesses; `None` if its address depends on a register.
fn scratch_end(inst: &Inst) -> Option<i64> {
    let no_register = |name| inst.operand(name).is_none_or(|o| o == Operand::Off);
    let MemBytes::Bytes(bytes) = inst.desc.mem_bytes else { return None };
    (no_register("vaddr") && no_register("saddr")).then(|| i64::from(inst.mods.offset) + i64::from(bytes))
}

/// Checks that a workgroup of the largest size fits on a compute unit.
fn workgroup(kernel: &Kernel<'_>, lints: &mut Lints<'_>) {
    let Some(metadata) = kernel.metadata() else { return };
    let size = metadata.max_flat_workgroup_size;
    let lds_bytes = kernel.facts.descriptor.group_segment_fixed_size;
    // Impossible sizes are reported by other rules.
    if size == 0 || size > crate::kernel::MAX_WORKGROUP || lds_bytes > kernel.target().lds_per_cu() {
        return;
    }
    let usage = Usage {
        vgprs: kernel.settings.vgprs,
        sgprs: kernel.settings.sgprs,
        lds_bytes,
        waves_per_workgroup: size.div_ceil(kernel.settings.wave.lanes()),
    };
    let workgroup_processor =
        kernel.settings.scheduling.is_some_and(|scheduling| scheduling.workgroup_processors);
    let mode = Mode { wave: kernel.settings.wave, workgroup_processor };
    let occupancy = occupancy_in(kernel.target(), mode, usage);
    if occupancy.workgroups_per_cu == 0 {
        let message = format!(
            "a workgroup of {size} work-items with {} VGPRs each does not fit a compute unit: {} are too many",
            usage.vgprs, occupancy.limited_by
        );
        lints.add(&WORKGROUP, None, message, "use fewer registers, or a smaller `.max_flat_workgroup_size`");
    }
}
