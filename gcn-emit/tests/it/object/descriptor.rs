//! Tests the bits of a descriptor, each against the assembler's directive for it.

use gcn_emit::descriptor::{DescribedField, KernelDescriptor};
use gcn_emit::object::read_code_object;
use gcn_isa::Target;

use super::golden;
use crate::llvm::{Llvm, Scratch};

/// The directive, its value, the field for the value, and the number that the field then contains.
const DIRECTIVES: &[(&str, u32, &str, u64)] = &[
    ("group_segment_fixed_size", 4096, "GROUP_SEGMENT_FIXED_SIZE", 4096),
    ("private_segment_fixed_size", 272, "PRIVATE_SEGMENT_FIXED_SIZE", 272),
    ("kernarg_size", 48, "KERNARG_SIZE", 48),
    ("user_sgpr_dispatch_ptr", 1, "ENABLE_SGPR_DISPATCH_PTR", 1),
    ("user_sgpr_queue_ptr", 1, "ENABLE_SGPR_QUEUE_PTR", 1),
    ("user_sgpr_kernarg_segment_ptr", 1, "ENABLE_SGPR_KERNARG_SEGMENT_PTR", 1),
    ("user_sgpr_dispatch_id", 1, "ENABLE_SGPR_DISPATCH_ID", 1),
    ("user_sgpr_private_segment_size", 1, "ENABLE_SGPR_PRIVATE_SEGMENT_SIZE", 1),
    ("uses_dynamic_stack", 1, "USES_DYNAMIC_STACK", 1),
    ("system_sgpr_workgroup_id_x", 0, "ENABLE_SGPR_WORKGROUP_ID_X", 0),
    ("system_sgpr_workgroup_id_y", 1, "ENABLE_SGPR_WORKGROUP_ID_Y", 1),
    ("system_sgpr_workgroup_id_z", 1, "ENABLE_SGPR_WORKGROUP_ID_Z", 1),
    ("system_sgpr_workgroup_info", 1, "ENABLE_SGPR_WORKGROUP_INFO", 1),
    ("system_vgpr_workitem_id", 2, "ENABLE_VGPR_WORKITEM_ID", 2),
    ("next_free_vgpr", 40, "GRANULATED_WORKITEM_VGPR_COUNT", 0),
    ("next_free_sgpr", 60, "GRANULATED_WAVEFRONT_SGPR_COUNT", 0),
    ("float_round_mode_32", 3, "FLOAT_ROUND_MODE_32", 3),
    ("float_round_mode_16_64", 2, "FLOAT_ROUND_MODE_16_64", 2),
    ("float_denorm_mode_32", 2, "FLOAT_DENORM_MODE_32", 2),
    ("float_denorm_mode_16_64", 1, "FLOAT_DENORM_MODE_16_64", 1),
    ("dx10_clamp", 0, "ENABLE_DX10_CLAMP", 0),
    ("ieee_mode", 0, "ENABLE_IEEE_MODE", 0),
    ("fp16_overflow", 1, "FP16_OVFL", 1),
    ("exception_fp_ieee_invalid_op", 1, "ENABLE_EXCEPTION_IEEE_754_FP_INVALID_OPERATION", 1),
    ("exception_fp_denorm_src", 1, "ENABLE_EXCEPTION_FP_DENORMAL_SOURCE", 1),
    ("exception_fp_ieee_div_zero", 1, "ENABLE_EXCEPTION_IEEE_754_FP_DIVISION_BY_ZERO", 1),
    ("exception_fp_ieee_overflow", 1, "ENABLE_EXCEPTION_IEEE_754_FP_OVERFLOW", 1),
    ("exception_fp_ieee_underflow", 1, "ENABLE_EXCEPTION_IEEE_754_FP_UNDERFLOW", 1),
    ("exception_fp_ieee_inexact", 1, "ENABLE_EXCEPTION_IEEE_754_FP_INEXACT", 1),
    ("exception_int_div_zero", 1, "ENABLE_EXCEPTION_INT_DIVIDE_BY_ZERO", 1),
];

/// Directives of targets with a unified register file, and of targets without architected flat scratch.
const UNIFIED: &[(&str, u32, &str, u64)] = &[
    ("accum_offset", 32, "ACCUM_OFFSET", 7),
    ("tg_split", 1, "TG_SPLIT", 1),
    ("user_sgpr_kernarg_preload_length", 3, "KERNARG_PRELOAD_SPEC_LENGTH", 3),
];
const NOT_ARCHITECTED: &[(&str, u32, &str, u64)] = &[
    ("user_sgpr_private_segment_buffer", 1, "ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER", 1),
    ("user_sgpr_flat_scratch_init", 1, "ENABLE_SGPR_FLAT_SCRATCH_INIT", 1),
    ("system_sgpr_private_segment_wavefront_offset", 1, "ENABLE_PRIVATE_SEGMENT", 1),
];

#[test]
fn each_directive_of_the_assembler_changes_the_field_of_its_name() {
    let Some(llvm) = Llvm::find() else { return };
    let dir = Scratch::new("descriptor");
    for target in [Target::GFX906, Target::GFX90A, Target::GFX942] {
        let mut directives = DIRECTIVES.to_vec();
        directives.extend(if target.has_unified_agprs() { UNIFIED } else { &[] });
        directives.extend(if target.has_architected_flat_scratch() { &[] } else { NOT_ARCHITECTED });
        // One kernel for each directive, and one without any.
        let all = [("", 0, "", 0)].into_iter().chain(directives.iter().copied());
        let kernels: String = all.enumerate().map(|(i, d)| kernel(target, i, d)).collect();
        let code: String =
            (0..=directives.len()).map(|i| format!(".globl k{i}\nk{i}:\n s_endpgm\n")).collect();
        let source = format!(".text\n.p2align 8\n{code}.rodata\n.p2align 6\n{kernels}");
        let path = llvm.code_object(&dir, target.name(), target.into(), &source);
        let bytes = std::fs::read(path).unwrap();
        let object = read_code_object(&bytes).unwrap();
        let fields = |i: usize| {
            let kernel = object.kernel(&format!("k{i}")).unwrap();
            KernelDescriptor::describe(kernel.descriptor_bytes, target)
        };
        let plain = fields(0);
        assert!(plain.iter().all(|f| !f.is_wrong()));
        for (i, (directive, value, field, expected)) in (1..).zip(&directives) {
            let changed = fields(i);
            let differs: Vec<&DescribedField> =
                changed.iter().zip(&plain).filter(|(a, b)| a.value != b.value).map(|p| p.0).collect();
            // Ignores the distance to the code, which differs anyway, and the number of user SGPRs.
            let kept: Vec<_> = differs
                .iter()
                .filter(|f| f.name != "KERNEL_CODE_ENTRY_BYTE_OFFSET" && f.name != "USER_SGPR_COUNT")
                .collect();
            assert_eq!(kept.len(), 1, "{target} {directive}: {differs:?}");
            assert_eq!(kept[0].name, *field, "{directive}");
            assert!(!kept[0].must_be_zero && !kept[0].meaning.is_empty(), "{directive}");
            match *directive {
                "next_free_vgpr" => assert!(kept[0].meaning.starts_with("40 VGPRs"), "{}", kept[0].meaning),
                // VCC, FLAT_SCRATCH and XNACK_MASK take six more SGPRs, so nine blocks of eight are needed.
                "next_free_sgpr" => assert!(kept[0].meaning.starts_with("72 SGPRs"), "{}", kept[0].meaning),
                _ => assert_eq!(kept[0].value, *expected, "{directive} {value}"),
            }
        }
    }
}

fn kernel(target: Target, i: usize, (directive, value, ..): (&str, u32, &str, u64)) -> String {
    let mut all = vec![("next_free_vgpr", 64), ("next_free_sgpr", 8)];
    if target.has_unified_agprs() {
        all.push(("accum_offset", 4));
    }
    // Preloaded arguments follow the pointer, which is described separately.
    match directive {
        "" => {}
        directive => match all.iter_mut().find(|d| d.0 == directive) {
            Some(found) => found.1 = value,
            None => all.push((directive, value)),
        },
    }
    let lines: String = all.iter().map(|(name, value)| format!(".amdhsa_{name} {value}\n")).collect();
    format!(".amdhsa_kernel k{i}\n{lines}.end_amdhsa_kernel\n")
}

/// Compilers do not set bits that must be zero.
#[test]
fn descriptors_of_compilers_have_no_wrong_bits() {
    for (name, _, linked) in golden::objects() {
        let object = read_code_object(&linked).unwrap();
        for kernel in &object.kernels {
            let fields = KernelDescriptor::describe(kernel.descriptor_bytes, object.target_id.target);
            let wrong: Vec<_> = fields.iter().filter(|f| f.is_wrong()).collect();
            assert!(wrong.is_empty(), "{name} {}: {wrong:?}", kernel.name);
            assert_eq!(fields.iter().map(|f| f.bits).sum::<u32>(), 512);
        }
    }
}
