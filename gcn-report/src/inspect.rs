//! What a code object holds and what its kernels need.

use gcn_emit::descriptor::KernelDescriptor;
use gcn_emit::kernel::{MAX_WORKGROUP, WAVE_SIZE};
use gcn_emit::metadata::KernelMetadata;
use gcn_emit::object::{CodeObject, KernelCode, SectionView};
use gcn_emit::occupancy::{Occupancy, Usage, occupancy_of};
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
    /// How many run at once.
    pub occupancy: OccupancyReport,
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
    /// What there is too little of.
    pub limited_by: String,
}

/// A field of the descriptor.
#[derive(Serialize)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The number.
    pub value: u64,
    /// What it means; empty if it is a plain number.
    pub meaning: String,
    /// True if a reserved bit that must be 0 is set.
    pub wrong: bool,
}

/// What a code object holds; with `only` of this kernel alone.
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
        waves_per_workgroup: workgroup.div_ceil(WAVE_SIZE).max(1),
    };
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
        occupancy: occupancy(occupancy_of(target, usage)),
        descriptor: fields
            .into_iter()
            .map(|f| Field { wrong: f.is_wrong(), name: f.name, value: f.value, meaning: f.meaning })
            .collect(),
        metadata,
    }
}

fn occupancy(occupancy: Occupancy) -> OccupancyReport {
    OccupancyReport {
        waves_per_simd: occupancy.waves_per_simd,
        workgroups_per_cu: occupancy.workgroups_per_cu,
        limited_by: occupancy.limited_by.to_string(),
    }
}
