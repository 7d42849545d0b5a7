//! The facts about a kernel in the code object, besides its code.

use gcn_emit::kernel::{DenormMode, KernelSpec, WorkItemIds, WorkgroupSize};
use gcn_emit::metadata::KernelArg;
use gcn_isa::Program;
use gcn_isa::check;
use gcn_isa::hazards::Config;

use crate::ir;
use crate::lang::{Signature, SignatureArg, SignatureArgKind};
use crate::mir::Inputs;

pub(super) fn describe(
    signature: &Signature,
    ir: &ir::Kernel,
    inputs: Inputs,
    program: Program,
) -> KernelSpec {
    let mut spec = KernelSpec::new(program, WorkgroupSize::Required(signature.workgroup));
    mind_the_last_register(&mut spec);
    // The sequences of the memory model assume workgroups on one compute unit.
    spec.scheduling.workgroup_processors &= !spec.target().has_workgroup_processors();
    spec.lds_bytes = ir.lds_bytes();
    if ir.lds.iter().any(|array| array.dynamic) {
        // The launch's LDS follows the kernel's own, at the offset that the kernel uses.
        spec.lds_bytes = ir.lds_end().next_multiple_of(16);
    }
    spec.scratch_bytes = inputs.scratch_bytes;
    spec.constants.clone_from(&ir.constants);
    spec.user_sgprs = inputs.user_sgprs(spec.target());
    spec.workgroup_ids = inputs.workgroup_id;
    spec.work_item_ids = WorkItemIds::of_dimensions(inputs.local_id_dims);
    declare(signature, &mut spec);
    spec
}

/// The facts that all kernels of this crate have in common: arguments and floating-point modes.
pub(crate) fn declare(signature: &Signature, spec: &mut KernelSpec) {
    spec.kernarg_bytes = signature.kernarg_bytes();
    // f32 results are Rust's, denormal ones too, and exact division needs them.
    spec.float_mode.denorm_32 = DenormMode::FlushNone;
    spec.args = signature.args.iter().flat_map(arguments).collect();
}

/// Avoids the erratum about the last allocated VGPR (64-bit shifts on gfx90a): with one more register, the allocation
/// ends elsewhere.
pub(crate) fn mind_the_last_register(spec: &mut KernelSpec) {
    let concerned = !check::register_errata(&spec.program, Config::default()).is_empty();
    spec.resources.next_free_vgpr += u32::from(concerned);
}

/// A slice is two arguments to the runtime: the pointer, and the length after it.
fn arguments(arg: &SignatureArg) -> Vec<KernelArg> {
    let elem = match arg.count {
        1 => arg.elem.name().to_owned(),
        count => format!("[{}; {count}]", arg.elem.name()),
    };
    let pointer = |ty: String| KernelArg::global_buffer(arg.name, arg.offset).typed(ty);
    match arg.kind {
        SignatureArgKind::Value => {
            vec![KernelArg::by_value(arg.name, arg.offset, arg.elem.bytes().max(4)).typed(elem)]
        }
        SignatureArgKind::Slice | SignatureArgKind::SliceMut => {
            let reference = if arg.kind == SignatureArgKind::Slice { "&" } else { "&mut " };
            let len = KernelArg::by_value(format!("{}.len", arg.name), arg.offset + 8, 4).typed("u32");
            vec![pointer(format!("{reference}[{elem}]")), len]
        }
        SignatureArgKind::Pointer => vec![pointer(format!("*const {elem}"))],
        SignatureArgKind::PointerMut => vec![pointer(format!("*mut {elem}"))],
    }
}
