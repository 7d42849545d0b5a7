//! The contents of a code object and the requirements of its kernels.

use gcn_emit::descriptor::KernelDescriptor;
use gcn_emit::kernel::MAX_WORKGROUP;
use gcn_emit::metadata::KernelMetadata;
use gcn_emit::object::{CodeObject, KernelCode, SectionView};
use gcn_emit::occupancy::{Mode, Occupancy, Usage, occupancy_in};
use gcn_isa::Target;
use serde::Serialize;

/// A code object.
#[derive(Serialize)]
pub struct InspectReport {
    /// The target and its features.
    pub target_id: String,
    /// Version of the code object format, 3 to 6.
    pub version: u8,
    /// True for an object that is still to be linked.
    pub relocatable: bool,
    /// The sections that are loaded.
    pub sections: Vec<Section>,
    /// The kernels.
    pub kernels: Vec<Kernel>,
}

/// A section that is loaded.
#[derive(Serialize)]
pub struct Section {
    /// The name.
    pub name: String,
    /// Where it is.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
}

/// A kernel.
#[derive(Serialize)]
pub struct Kernel {
    /// The name.
    pub name: String,
    /// Address of the first instruction in the object.
    pub address: u64,
    /// The size of its code.
    pub code_bytes: usize,
    /// VGPRs that a wave gets, AGPRs included where they are of one file.
    pub vgprs: u32,
    /// The first AGPR, where they are of one file.
    pub accum_offset: Option<u32>,
    /// SGPRs that a wave gets.
    pub sgprs: u32,
    /// LDS of a workgroup.
    pub lds_bytes: u32,
    /// Scratch of a work-item.
    pub scratch_bytes: u32,
    /// The size of the arguments.
    pub kernarg_bytes: u32,
    /// The workgroup size for which the occupancy is computed, in work-items.
    pub workgroup: u32,
    /// Lanes of a wave.
    pub wave_size: u32,
    /// The number of waves that run at once.
    pub occupancy: OccupancyReport,
    /// The same in each mode that the target has: for either size of waves, and on one or two compute units.
    pub occupancies: Vec<ModeReport>,
    /// The fields of the descriptor.
    pub descriptor: Vec<Field>,
    /// The metadata, if there is any.
    pub metadata: Option<KernelMetadata>,
}

/// The occupancy.
#[derive(Serialize)]
pub struct OccupancyReport {
    /// Waves of a SIMD.
    pub waves_per_simd: u32,
    /// Workgroups of a compute unit.
    pub workgroups_per_cu: u32,
    /// The resource that limits it.
    pub limited_by: String,
}

/// The occupancy in a mode, with as many registers.
#[derive(Serialize)]
pub struct ModeReport {
    /// Lanes of a wave.
    pub wave_size: u32,
    /// `wgp` if a workgroup may run on both compute units of a workgroup processor, `cu` if on one.
    pub mode: &'static str,
    /// True for the mode that the descriptor selects.
    pub own: bool,
    /// The number of waves that run at once.
    #[serde(flatten)]
    pub occupancy: OccupancyReport,
}

/// A field of the descriptor.
#[derive(Serialize)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The number.
    pub value: u64,
    /// Its meaning; empty if it is a plain number.
    pub meaning: String,
    /// True if a reserved bit that must be 0 is set.
    pub wrong: bool,
}

/// The contents of a code object; with `only` those of this kernel alone.
pub fn report(object: &CodeObject<'_>, only: Option<&str>) -> InspectReport {
    let wanted = object.kernels.iter().filter(|k| only.is_none_or(|o| o == k.name));
    let section =
        |s: &SectionView<'_>| Section { name: s.name.to_owned(), address: s.address, bytes: s.size };
    InspectReport {
        target_id: object.target_id.to_string(),
        // Code object V3 has ABI version 1.
        version: object.abi_version.saturating_add(2),
        relocatable: object.is_relocatable,
        sections: object.sections.iter().filter(|s| s.is_loaded() && s.size > 0).map(section).collect(),
        kernels: wanted.map(|k| kernel(k, object.target_id.target)).collect(),
    }
}

fn kernel(kernel: &KernelCode<'_>, target: Target) -> Kernel {
    let settings = kernel.descriptor.settings(target);
    let metadata = kernel.metadata.clone();
    let workgroup = metadata.as_ref().map_or(MAX_WORKGROUP, |m| {
        m.reqd_workgroup_size
            .map_or(m.max_flat_workgroup_size, |[x, y, z]| x.saturating_mul(y).saturating_mul(z))
    });
    let usage = Usage {
        vgprs: settings.vgprs,
        sgprs: settings.sgprs,
        lds_bytes: kernel.descriptor.group_segment_fixed_size,
        waves_per_workgroup: workgroup.div_ceil(settings.wave.lanes()).max(1),
    };
    let workgroup_processor = settings.scheduling.is_some_and(|scheduling| scheduling.workgroup_processors);
    let own = Mode { wave: settings.wave, workgroup_processor };
    let fields = KernelDescriptor::describe(kernel.descriptor_bytes, target);
    Kernel {
        name: kernel.name.to_owned(),
        address: kernel.address,
        code_bytes: kernel.code.len(),
        vgprs: settings.vgprs,
        accum_offset: settings.accum_offset,
        sgprs: settings.sgprs,
        lds_bytes: usage.lds_bytes,
        scratch_bytes: kernel.descriptor.private_segment_fixed_size,
        kernarg_bytes: kernel.descriptor.kernarg_size,
        workgroup,
        wave_size: settings.wave.lanes(),
        occupancy: occupancy(occupancy_in(target, own, usage)),
        occupancies: occupancies(target, own, usage, workgroup),
        descriptor: fields
            .into_iter()
            .map(|f| Field { wrong: f.is_wrong(), name: f.name, value: f.value, meaning: f.meaning })
            .collect(),
        metadata,
    }
}

/// The occupancy in every mode of a target.
fn occupancies(target: Target, own: Mode, usage: Usage, workgroup: u32) -> Vec<ModeReport> {
    let report = |mode: Mode| {
        let usage = Usage { waves_per_workgroup: workgroup.div_ceil(mode.wave.lanes()).max(1), ..usage };
        ModeReport {
            wave_size: mode.wave.lanes(),
            mode: if mode.workgroup_processor { "wgp" } else { "cu" },
            own: mode == own,
            occupancy: occupancy(occupancy_in(target, mode, usage)),
        }
    };
    Mode::all(target).map(report).collect()
}

fn occupancy(occupancy: Occupancy) -> OccupancyReport {
    OccupancyReport {
        waves_per_simd: occupancy.waves_per_simd,
        workgroups_per_cu: occupancy.workgroups_per_cu,
        limited_by: occupancy.limited_by.to_string(),
    }
}
