//! The register limits of a kernel, from its workgroup size and its attributes.

use gcn_emit::kernel::KernelSpec;
use gcn_emit::occupancy::{self, Mode, Usage, occupancy};
use gcn_isa::reg::{FIRST_NAMED_SGPR, NAMED_SGPRS};
use gcn_isa::target::WaveSize;
use gcn_isa::{RegFile, Target};

use super::error::BuildCause;
use crate::ir::{self, far::DS_OFFSET_MAX};
use crate::lang::Signature;
use crate::regalloc::{LdsRoom, Limits, SpillTo};

/// The mode in which workgroups run: each on one compute unit (not on a workgroup processor).
fn mode(wave: WaveSize) -> Mode {
    Mode { wave, workgroup_processor: false }
}

/// The register limits of a kernel whose workgroups use `lds_bytes` bytes of LDS.
pub(super) fn of(
    signature: &Signature,
    target: Target,
    wave: WaveSize,
    lds_bytes: u32,
) -> Result<Limits, BuildCause> {
    let asked = signature.registers;
    let fail = |what: String| Err(BuildCause::Limits(what));
    let kinds = [
        ("VGPRs", asked.vgprs, 1, target.registers(RegFile::Vgpr)),
        ("SGPRs", asked.sgprs, 1, u32::from(FIRST_NAMED_SGPR)),
        ("AGPRs", asked.agprs, 0, 256),
    ];
    for (what, given, least, most) in kinds {
        if let Some(n) = given.filter(|n| !(least..=most).contains(n)) {
            return fail(format!("`#[max_registers]` allows {n} {what}; a kernel uses {least} to {most}"));
        }
    }
    // A whole workgroup must fit on a compute unit: its waves share the registers of the unit's SIMDs.
    let waves = signature.workgroup.iter().product::<u32>().div_ceil(wave.lanes()).max(1);
    let mode = mode(wave);
    let simds = mode.simds(target);
    let mut per_simd = waves.div_ceil(simds);
    let mut limits = Limits::default();
    if let Some(wanted) = asked.min_occupancy {
        let nothing = Usage { vgprs: 1, sgprs: 1, lds_bytes, waves_per_workgroup: waves };
        let most = occupancy::Limits::in_mode(target, mode, nothing);
        let reasons = [
            (most.slots, "a SIMD has no more wave slots".to_owned()),
            (most.workgroups, format!("whole workgroups of {waves} waves do not come closer")),
            (most.lds, format!("the {lds_bytes} bytes of LDS of each workgroup leave no more")),
        ];
        if wanted == 0 {
            return fail("`#[min_occupancy(0)]` says nothing; a SIMD holds at least 1 wave".into());
        }
        if let Some((possible, why)) = reasons.into_iter().find(|r| r.0 < wanted) {
            return fail(format!(
                "`#[min_occupancy({wanted})]` cannot be met on {target}: {possible} waves per SIMD are possible, {why}"
            ));
        }
        // A workgroup is resident only as a whole, so the number of resident waves is a multiple of the waves of a
        // workgroup.
        let workgroups = (1..).find(|n| (n * waves).div_ceil(simds) >= wanted).unwrap_or(1);
        per_simd = (workgroups * waves).div_ceil(simds);
        let enough = |sgprs: &u32| {
            let usage = Usage { sgprs: sgprs + NAMED_SGPRS, ..nothing };
            occupancy::Limits::in_mode(target, mode, usage).sgprs >= per_simd
        };
        limits.sgprs = (1..=u32::from(FIRST_NAMED_SGPR)).rev().find(enough).unwrap_or(1) as u16;
    }
    let file = target.vgpr_file(wave);
    let granule = file.granule;
    let share = file.registers / per_simd.max(1) / granule * granule;
    limits.total_vector = share.min(512) as u16;
    let given = |n: Option<u32>, most: u16| n.map_or(most, |n| most.min(n as u16));
    limits.vgprs = given(asked.vgprs, limits.vgprs);
    limits.sgprs = given(asked.sgprs, limits.sgprs);
    limits.agprs = given(asked.agprs, limits.agprs);
    limits.spill = SpillTo { lanes: true, agprs: true, ..SpillTo::default() };
    Ok(limits)
}

/// The LDS that is available for spilled values. It follows the kernel's own arrays and is as large as
/// `#[max_registers]`, the target and `#[min_occupancy]` permit.
pub(super) fn lds_room(signature: &Signature, target: Target, ir: &ir::Kernel) -> LdsRoom {
    let wave = ir.wave();
    let waves = signature.workgroup.iter().product::<u32>().div_ceil(wave.lanes()).max(1);
    let (first_byte, slot_bytes) = (ir.lds_bytes().next_multiple_of(4), 4 * wave.lanes() * waves);
    let mode = mode(wave);
    let left = target.lds_per_cu().saturating_sub(first_byte);
    let asked = signature.registers.lds_spill.unwrap_or(0).min(left) / slot_bytes;
    // The offset field of an LDS instruction has 16 bits.
    let reach = |address: u32| (DS_OFFSET_MAX + 1 - (first_byte - address)) / slot_bytes;
    let address = if first_byte <= DS_OFFSET_MAX && asked <= reach(0) { 0 } else { first_byte };
    let room = |slots: u32| LdsRoom { address, first_byte, slot_bytes, slots };
    let fits = |&slots: &u32| {
        let lds_bytes = room(slots).slot(slots);
        let usage = Usage { vgprs: 1, sgprs: 1, lds_bytes, waves_per_workgroup: waves };
        let enough = signature.registers.min_occupancy;
        lds_bytes <= target.lds_per_cu()
            && enough.is_none_or(|n| occupancy::Limits::in_mode(target, mode, usage).lds >= n)
    };
    room((0..=asked.min(reach(address))).rev().find(fits).unwrap_or(0))
}

/// Checks that the kernel satisfies its attributes.
pub(super) fn check(signature: &Signature, spec: &KernelSpec) -> Result<(), BuildCause> {
    let has = occupancy(spec);
    match signature.registers.min_occupancy {
        Some(wanted) if has.waves_per_simd < wanted => {
            Err(BuildCause::Limits(format!("`#[min_occupancy({wanted})]` is not met: {has}")))
        }
        _ => Ok(()),
    }
}
