//! Describes the contents of a code object and the resources of its kernels.

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
    /// The target with its feature settings.
    pub target_id: String,
    /// The version of the code object format, 3 to 6.
    pub version: u8,
    /// True for an object that has to be linked.
    pub relocatable: bool,
    /// The loaded sections.
    pub sections: Vec<Section>,
    /// The kernels.
    pub kernels: Vec<Kernel>,
}

/// A loaded section.
#[derive(Serialize)]
pub struct Section {
    /// The name.
    pub name: String,
    /// The address.
    pub address: u64,
    /// The size in bytes.
    pub bytes: u64,
}

/// A kernel.
#[derive(Serialize)]
pub struct Kernel {
    /// The name.
    pub name: String,
    /// The address of the first instruction in the object.
    pub address: u64,
    /// The size of its code in bytes.
    pub code_bytes: usize,
    /// The number of VGPRs allocated to a wave, including AGPRs if the register file is unified.
    pub vgprs: u32,
    /// The number of the first AGPR in a unified register file.
    pub accum_offset: Option<u32>,
    /// The number of SGPRs allocated to a wave.
    pub sgprs: u32,
    /// The LDS size of a workgroup in bytes.
    pub lds_bytes: u32,
    /// The scratch size of a work-item in bytes.
    pub scratch_bytes: u32,
    /// The size of the arguments in bytes.
    pub kernarg_bytes: u32,
    /// The workgroup size for which the occupancy is computed, in work-items.
    pub workgroup: u32,
    /// The wave size.
    pub wave_size: u32,
    /// The number of waves that run concurrently.
    pub occupancy: OccupancyReport,
    /// The occupancy with the same register counts in each mode of the target: for either wave size, and on one or two compute units.
    pub occupancies: Vec<ModeReport>,
    /// The fields of the descriptor.
    pub descriptor: Vec<Field>,
    /// The metadata, if there is any.
    pub metadata: Option<KernelMetadata>,
}

/// The occupancy.
#[derive(Serialize)]
pub struct OccupancyReport {
    /// The number of waves on a SIMD.
    pub waves_per_simd: u32,
    /// The number of workgroups on a compute unit.
    pub workgroups_per_cu: u32,
    /// The resource that limits these numbers.
    pub limited_by: String,
}

/// The occupancy in a certain mode, given the same number of registers.
#[derive(Serialize)]
pub struct ModeReport {
    /// The wave size.
    pub wave_size: u32,
    /// `wgp` if a workgroup may run on both compute units of a workgroup processor, `cu` if on one.
    pub mode: &'static str,
    /// True for the mode that the kernel's descriptor selects.
    pub own: bool,
    /// The number of waves that run concurrently.
    #[serde(flatten)]
    pub occupancy: OccupancyReport,
}

/// A field of the descriptor.
#[derive(Serialize)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The value.
    pub value: u64,
    /// Its meaning; empty if it is a plain number.
    pub meaning: String,
    /// True if a reserved bit that must be 0 is set.
    pub wrong: bool,
}

/// The contents of a code object or, with `only`, of one kernel.
pub fn report(object: &CodeObject<'_>, only: Option<&str>) -> InspectReport {
    let wanted = object.kernels.iter().filter(|k| only.is_none_or(|o| o == k.name));
    let section =
        |s: &SectionView<'_>| Section { name: s.name.to_owned(), address: s.address, bytes: s.size };
    InspectReport {
        target_id: object.target_id.to_string(),
        // Code object V3 has ABI version 1, so the versions differ by 2.
        version: object.abi_version.saturating_add(2),
        relocatable: object.is_relocatable,
        sections: object.sections.iter().filter(|s| s.is_loaded() && s.size > 0).map(section).collect(),
        kernels: wanted.map(|k| kernel(k, object.target_id.target)).collect(),
    }
}

fn kernel(kernel: &KernelCode<'_>, target: Target) -> Kernel {
    let settings = kernel.descriptor.settings(target);
    let metadata = kernel.metadata.clone();
    let usage = |workgroup: u32| Usage {
        vgprs: settings.vgprs,
        sgprs: settings.sgprs,
        lds_bytes: kernel.descriptor.group_segment_fixed_size,
        waves_per_workgroup: workgroup.div_ceil(settings.wave.lanes()).max(1),
    };
    let workgroup_processor = settings.scheduling.is_some_and(|scheduling| scheduling.workgroup_processors);
    let own = Mode { wave: settings.wave, workgroup_processor };
    let declared = metadata.as_ref().map(|m| {
        m.reqd_workgroup_size
            .map_or(m.max_flat_workgroup_size, |[x, y, z]| x.saturating_mul(y).saturating_mul(z))
    });
    // Without metadata, the largest workgroup that can run.
    let workgroup = declared.unwrap_or_else(|| {
        let smaller = |w: &u32| (*w > settings.wave.lanes()).then_some(w / 2);
        let runs = |w: &u32| occupancy_in(target, own, usage(*w)).waves_per_simd > 0;
        std::iter::successors(Some(MAX_WORKGROUP), smaller).find(runs).unwrap_or(MAX_WORKGROUP)
    });
    let usage = usage(workgroup);
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
