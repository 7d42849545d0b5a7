//! Compares metadata with the descriptor.

use super::Lints;
use super::kernel::Kernel;
use super::rules::{
    METADATA_ARGUMENT, METADATA_MEMORY, METADATA_REGISTERS, METADATA_TARGET, METADATA_VALUE_TYPE,
    METADATA_VERSION, METADATA_WAVE, METADATA_WORKGROUP, NO_METADATA,
};
use crate::code::Unit;
use crate::kernel::MAX_WORKGROUP;
use crate::metadata::{KernelMetadata, VERSION_V3, VERSION_V4, VERSION_V5};
use crate::target_id::TargetId;

/// The version of the metadata for each `EI_ABIVERSION`.
const VERSIONS: [(u8, [u32; 2]); 4] = [(1, VERSION_V3), (2, VERSION_V4), (3, VERSION_V5), (4, VERSION_V5)];

pub(super) fn check(kernel: &Kernel<'_>, unit: &Unit, lints: &mut Lints<'_>) {
    let Some(metadata) = kernel.metadata() else {
        if unit.metadata.is_some() {
            let message = format!("the metadata do not have the kernel {}", kernel.facts.name);
            lints.add(&NO_METADATA, None, message, "add it to `amdhsa.kernels` in `.amdgpu_metadata`");
        }
        return;
    };
    registers(kernel, metadata, lints);
    memory(kernel, metadata, lints);
    sizes(kernel, metadata, lints);
    arguments(metadata, lints);
}

/// Checks the metadata of the whole file.
pub(super) fn check_file(unit: &Unit, lints: &mut Lints<'_>) {
    let Some(metadata) = &unit.metadata else {
        let message = "the code object has no metadata, so that HIP does not load it".to_owned();
        return lints.add(&NO_METADATA, None, message, "describe its kernels in `.amdgpu_metadata`");
    };
    if let Some((object, version)) = VERSIONS.iter().find(|v| v.0 == unit.abi_version)
        && metadata.version != *version
    {
        let said = metadata.version;
        let message =
            format!("`amdhsa.version` is {said:?}, but that of code object V{} is {version:?}", object + 2);
        let remedy = format!("write `amdhsa.version: {version:?}`");
        lints.add(&METADATA_VERSION, None, message, remedy);
    }
    if let Ok(target) = metadata.target.parse::<TargetId>()
        && !target.runs_on(unit.target_id)
    {
        let message = format!("`amdhsa.target` is {target}, but the code is for {}", unit.target_id);
        let remedy = format!("write `amdhsa.target: {}`", unit.target_id.triple());
        lints.add(&METADATA_TARGET, None, message, remedy);
    }
}

fn registers(kernel: &Kernel<'_>, metadata: &KernelMetadata, lints: &mut Lints<'_>) {
    let counts = [
        (".vgpr_count", metadata.vgpr_count, kernel.settings.vgprs),
        (".sgpr_count", metadata.sgpr_count, kernel.settings.sgprs),
    ];
    for (key, said, have) in counts {
        if said > have {
            let message = format!("`{key}` is {said}, but the descriptor gives the kernel {have}");
            lints.add(&METADATA_REGISTERS, None, message, format!("let `{key}` and the descriptor agree"));
        }
    }
}

fn memory(kernel: &Kernel<'_>, metadata: &KernelMetadata, lints: &mut Lints<'_>) {
    let descriptor = &kernel.facts.descriptor;
    let sizes = [
        (".group_segment_fixed_size", metadata.group_segment_fixed_size, descriptor.group_segment_fixed_size),
        (
            ".private_segment_fixed_size",
            metadata.private_segment_fixed_size,
            descriptor.private_segment_fixed_size,
        ),
        (".kernarg_segment_size", metadata.kernarg_segment_size, descriptor.kernarg_size),
    ];
    for (key, said, have) in sizes {
        // In a descriptor, an argument size of 0 bytes means that the size is not specified.
        let unsaid = key == ".kernarg_segment_size" && have == 0;
        if said != have && !unsaid {
            let message = format!("`{key}` is {said}, but {have} in the descriptor");
            lints.add(&METADATA_MEMORY, None, message, format!("let `{key}` and the descriptor agree"));
        }
    }
}

fn sizes(kernel: &Kernel<'_>, metadata: &KernelMetadata, lints: &mut Lints<'_>) {
    let lanes = kernel.settings.wave.lanes();
    if metadata.wavefront_size != lanes {
        let message = format!("`.wavefront_size` is {}; a wave has {lanes} lanes", metadata.wavefront_size);
        lints.add(&METADATA_WAVE, None, message, format!("write `.wavefront_size: {lanes}`"));
    }
    let most = metadata.max_flat_workgroup_size;
    if most == 0 || most > MAX_WORKGROUP {
        let message = format!("`.max_flat_workgroup_size` is {most}; 1 to {MAX_WORKGROUP} is possible");
        lints.add(
            &METADATA_WORKGROUP,
            None,
            message,
            "write the number of work-items of the largest workgroup",
        );
    } else if let Some([x, y, z]) = metadata.reqd_workgroup_size {
        let size = u64::from(x) * u64::from(y).saturating_mul(z.into());
        if size > most.into() {
            let message = format!(
                "`.reqd_workgroup_size` is {x} x {y} x {z}, which is more than `.max_flat_workgroup_size` {most}"
            );
            lints.add(
                &METADATA_WORKGROUP,
                None,
                message,
                format!("write `.max_flat_workgroup_size: {size}`"),
            );
        }
    }
}

fn arguments(metadata: &KernelMetadata, lints: &mut Lints<'_>) {
    if let Some(typed) = metadata.args.iter().find(|a| a.value_type.is_some()) {
        let message =
            format!("the argument at offset {} has `.value_type`, which nothing reads", typed.offset);
        lints.add(&METADATA_VALUE_TYPE, None, message, "leave it out");
    }
    let size = u64::from(metadata.kernarg_segment_size);
    let end = |offset: u32, bytes: u32| u64::from(offset) + u64::from(bytes);
    let farthest = metadata.args.iter().max_by_key(|a| end(a.offset, a.size));
    if let Some(argument) = farthest.filter(|a| end(a.offset, a.size) > size) {
        let message = format!(
            "the argument at offset {} of {} bytes ends beyond the {size} bytes of `.kernarg_segment_size`",
            argument.offset, argument.size
        );
        lints.add(&METADATA_ARGUMENT, None, message, "let `.kernarg_segment_size` cover all arguments");
    }
}
