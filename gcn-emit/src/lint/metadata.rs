//! Metadata against the descriptor.

use super::Lints;
use super::kernel::Kernel;
use super::rules::{
    METADATA_ARGUMENT, METADATA_MEMORY, METADATA_REGISTERS, METADATA_WAVE, METADATA_WORKGROUP,
};
use crate::kernel::MAX_WORKGROUP;
use crate::metadata::KernelMetadata;

pub(super) fn check(kernel: &Kernel<'_>, lints: &mut Lints<'_>) {
    let Some(metadata) = kernel.metadata() else { return };
    registers(kernel, metadata, lints);
    memory(kernel, metadata, lints);
    sizes(kernel, metadata, lints);
    arguments(metadata, lints);
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
        // 0 bytes of arguments in a descriptor say nothing.
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
