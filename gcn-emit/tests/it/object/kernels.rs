//! Kernels of different shapes, for both targets of the comparisons with LLVM.

use gcn_emit::kernel::{
    DenormMode, FloatExceptions, FloatMode, KernelSpec, RoundMode, UserSgprs, WorkItemIds, WorkgroupSize,
};
use gcn_emit::metadata::{KernelArg, ValueKind};
use gcn_emit::target_id::Feature;
use gcn_emit::text::parse_program;
use gcn_isa::Target;

pub fn kernel(target: Target, name: &str, code: &str) -> KernelSpec {
    let program = parse_program(code, target, name).expect("test code parses");
    KernelSpec::new(program, WorkgroupSize::Required([256, 1, 1]))
}

/// A kernel with arguments of every usual kind.
fn saxpy(target: Target) -> KernelSpec {
    let code = "
        s_load_dwordx4 s[4:7], s[0:1], 0x0
        v_lshlrev_b32_e32 v0, 2, v0
        s_waitcnt lgkmcnt(0)
        global_load_dword v1, v0, s[4:5]
        s_cbranch_scc1 .Lend
        v_mov_b32_e32 v2, 0x40490fdb
        s_waitcnt vmcnt(0)
        global_store_dword v0, v1, s[6:7]
    .Lend:
        s_endpgm";
    let mut k = kernel(target, "saxpy", code);
    k.kernarg_bytes = 48;
    k.user_sgprs = UserSgprs::KERNARG_SEGMENT_PTR;
    k.uniform_workgroups = true;
    k.args = vec![
        KernelArg::global_buffer("x", 0).typed("&[f32]"),
        KernelArg::global_buffer("y", 8).typed("&mut [f32]"),
        KernelArg::by_value("n", 16, 4).typed("u32"),
        KernelArg::by_value("inf", 20, 4).typed("12"),
        KernelArg { value_kind: ValueKind::HiddenBlockCountX, offset: 24, size: 4, ..KernelArg::default() },
    ];
    k
}

/// A kernel with many registers of each kind, VCC, LDS and all IDs.
fn large(target: Target) -> KernelSpec {
    let code = "
        v_mov_b32_e32 v117, s95
        v_cmp_gt_u32_e32 vcc, v117, v0
        v_accvgpr_write_b32 a66, v3
        ds_write_b32 v0, v117 offset:4
        s_cbranch_vccz .Lend
        s_barrier
    .Lend:
        s_endpgm";
    let mut k = kernel(target, "large", code);
    k.lds_bytes = 65_536;
    k.workgroup_ids = [true; 3];
    k.workgroup_info = true;
    k.work_item_ids = WorkItemIds::XYZ;
    k.user_sgprs = UserSgprs::DISPATCH_PTR | UserSgprs::KERNARG_SEGMENT_PTR | UserSgprs::DISPATCH_ID;
    k.workgroup = WorkgroupSize::Required([16, 8, 2]);
    k
}

/// A kernel in which every mode bit differs from its default.
fn modes(target: Target) -> KernelSpec {
    let mut k = kernel(target, "modes", "v_add_f32_e32 v40, v41, v42\ns_endpgm");
    k.float_mode = FloatMode {
        round_32: RoundMode::Zero,
        round_16_64: RoundMode::PlusInfinity,
        denorm_32: DenormMode::FlushNone,
        denorm_16_64: DenormMode::FlushSrc,
        dx10_clamp: false,
        ieee_mode: false,
        fp16_overflow: true,
    };
    k.exceptions = FloatExceptions::DIVISION_BY_ZERO | FloatExceptions::INEXACT;
    k.tg_split = target.has_unified_agprs();
    k.workgroup_ids = [false, true, false];
    k.workgroup = WorkgroupSize::AtMost(1024);
    k
}

/// A kernel with scratch, and with a first AGPR that is higher than necessary.
fn scratch(target: Target) -> KernelSpec {
    let mut k = kernel(target, "scratch", "s_mov_b32 s33, 0\nv_mov_b32_e32 v9, s33\ns_endpgm");
    k.scratch_bytes = 272;
    k.uses_dynamic_stack = true;
    k.user_sgprs = UserSgprs::PRIVATE_SEGMENT_SIZE | UserSgprs::QUEUE_PTR;
    if !target.has_architected_flat_scratch() {
        k.user_sgprs |= UserSgprs::NOT_ARCHITECTED;
        k.resources.uses_flat_scratch = true;
    }
    if target.has_unified_agprs() {
        k.resources.first_agpr = Some(64);
        k.resources.agprs = 3;
    }
    k
}

/// The smallest kernel, with a name that an assembler must quote.
fn tiny(target: Target) -> KernelSpec {
    kernel(target, "größe<f32>", "s_endpgm")
}

/// Groups of kernels of different shapes; each group becomes one object.
pub fn shapes(target: Target) -> Vec<Vec<KernelSpec>> {
    let each = [saxpy(target), modes(target), scratch(target), tiny(target)];
    let mut all: Vec<Vec<KernelSpec>> = each.into_iter().map(|k| vec![k]).collect();
    if target.has_agprs() {
        all.push(vec![large(target)]);
    }
    // Labels with the same name in two kernels, and enough symbols for several hash buckets.
    let mut many = vec![saxpy(target), modes(target), scratch(target), tiny(target)];
    let mut second = saxpy(target);
    second.program.name = "saxpy2".into();
    many.push(second);
    all.push(many);
    let mut features = saxpy(target);
    features.xnack = Feature::Off;
    if target.supports_sramecc() {
        features.sramecc = Feature::On;
    }
    all.push(vec![features]);
    all
}

/// One kernel with different register counts and with the other properties that affect how many are allocated.
pub fn counts(target: Target) -> Vec<Vec<KernelSpec>> {
    let spec = |(i, next_free_sgpr): (u32, u32)| {
        let mut k = kernel(target, "counts", "s_endpgm");
        k.resources.next_free_sgpr = next_free_sgpr;
        k.resources.next_free_vgpr = (i * 17).min(256);
        k.resources.agprs = if target.has_agprs() { i * 19 % 257 } else { 0 };
        k.resources.uses_vcc = i.is_multiple_of(2);
        k.resources.uses_flat_scratch = i.is_multiple_of(3);
        k.xnack = [Feature::Any, Feature::Off, Feature::On][i as usize / 2 % 3];
        k.workgroup = WorkgroupSize::Required([64, 1, 1]);
        vec![k]
    };
    (0..).zip((0..=102).step_by(6)).map(spec).collect()
}
