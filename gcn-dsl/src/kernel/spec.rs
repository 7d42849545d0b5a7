//! The facts about a kernel that its code object contains in addition to the code.

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
    // The code sequences for the memory model assume that a workgroup runs on one compute unit.
    spec.scheduling.workgroup_processors &= !spec.target().has_workgroup_processors();
    spec.lds_bytes = ir.lds_bytes();
    if ir.lds.iter().any(|array| array.dynamic) {
        // The dynamic LDS of a launch follows the kernel's own arrays, at the offset that the code uses.
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

/// Sets the arguments and the floating-point modes, which are the same for all kinds of kernels.
pub(crate) fn declare(signature: &Signature, spec: &mut KernelSpec) {
    spec.kernarg_bytes = signature.kernarg_bytes();
    // f32 results must equal Rust's, including denormals, and exact division relies on denormals.
    spec.float_mode.denorm_32 = DenormMode::FlushNone;
    spec.args = signature.args.iter().flat_map(arguments).collect();
}

/// Avoids the erratum about 64-bit shifts with the last allocated VGPR (gfx90a): if the program contains such a shift,
/// one additional VGPR is allocated.
pub(crate) fn mind_the_last_register(spec: &mut KernelSpec) {
    let concerned = !check::register_errata(&spec.program, Config::default()).is_empty();
    spec.resources.next_free_vgpr += u32::from(concerned);
}

/// The arguments for the runtime. A slice gives two: the pointer and, after it, the length.
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
