//! Tests the lint of descriptors and metadata on wrong hand-written kernels and on correct compiled ones.

use gcn_emit::asm::{Options, assemble};
use gcn_emit::code::Unit;
use gcn_emit::lint::{ALL, Lint, lint};
use gcn_emit::object::read_code_object;
use gcn_emit::target_id::TargetId;
use gcn_test_support::env::fuzz_step;

use crate::asm::corpus;
use crate::disasm::rdna::rdna_objects;
use crate::llvm::{Llvm, Scratch};

/// A kernel with this code, these lines in `.amdhsa_kernel` and these in its metadata. Lines that begin with `amdhsa.` are metadata of the
/// whole file.
struct Case {
    target: &'static str,
    code: &'static str,
    descriptor: &'static str,
    metadata: &'static str,
}

const RIGHT: Case = Case {
    target: "gfx90a",
    code: "s_endpgm",
    descriptor: ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 8",
    metadata: "",
};

/// The value of `metadata` for a kernel without metadata.
const NO_METADATA: &str = "none";

const PLAIN: &str = ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16";

/// Descriptor lines for a kernel with a kernarg pointer in `s[0:1]`.
const ARGUMENTS: &str =
    ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n.amdhsa_user_sgpr_kernarg_segment_ptr 1";

impl Case {
    fn source(&self) -> String {
        let mut metadata = String::new();
        let said = |key: &str| {
            self.descriptor.lines().find_map(|l| l.strip_prefix(&format!(".amdhsa_{key} "))).unwrap_or("0")
        };
        let arguments = said("kernarg_size");
        let id: TargetId = self.target.parse().expect("a target");
        let lanes = id.target.wave_size().to_string();
        let defaults = [
            (".group_segment_fixed_size", said("group_segment_fixed_size")),
            (".kernarg_segment_align", "8"),
            (".kernarg_segment_size", if arguments == "0" { "16" } else { arguments }),
            (".max_flat_workgroup_size", "256"),
            (".name", "k"),
            (".private_segment_fixed_size", said("private_segment_fixed_size")),
            (".sgpr_count", "1"),
            (".symbol", "k.kd"),
            (".vgpr_count", "1"),
            (".wavefront_size", &lanes),
        ];
        for (key, value) in defaults.iter().filter(|(key, _)| !self.metadata.contains(&format!("{key}:"))) {
            metadata += &format!("    {key}: {value}\n");
        }
        let (file, own): (Vec<&str>, Vec<&str>) =
            self.metadata.lines().partition(|l| l.starts_with("amdhsa."));
        let own: String = own.into_iter().map(|l| format!("    {l}\n")).collect();
        let file = if self.metadata.contains("amdhsa.version") {
            file.join("\n")
        } else {
            ["amdhsa.version: [1, 2]"].into_iter().chain(file).collect::<Vec<_>>().join("\n")
        };
        let metadata = if self.metadata == NO_METADATA {
            String::new()
        } else {
            let kernel = (metadata + &own).replacen("    ", "  - ", 1);
            format!("\t.amdgpu_metadata\n---\namdhsa.kernels:\n{kernel}{file}\n...\n\t.end_amdgpu_metadata\n")
        };
        format!(
            "\t.amdgcn_target \"amdgcn-amd-amdhsa--{}\"\n\t.text\n\t.globl k\n\t.p2align 8\n\t.type k,@function\nk:\n{}\n\t.size k, \
             .-k\n\t.section .rodata,\"a\"\n\t.p2align 6\n\t.amdhsa_kernel k\n{}\n\t.end_amdhsa_kernel\n{metadata}",
            self.target, self.code, self.descriptor
        )
    }

    fn lints(&self) -> Vec<Lint> {
        let source = self.source();
        let options = Options { keep_instructions: true, ..Options::default() };
        let assembly = assemble("k.s", &source, &options).unwrap_or_else(|e| panic!("{e}\n{source}"));
        let lints = lint(&Unit::of_assembly(&assembly).expect("kept"));
        // The lints of the object are the same.
        let bytes = assembly.code_object().expect("links");
        let object = read_code_object(&bytes).expect("an object");
        let from_object = lint(&Unit::of_object(&object).expect("a unit"));
        assert_eq!(lints, from_object, "{source}");
        lints
    }
}

/// A wrong kernel: target, code, descriptor, metadata, the lint and its message, and a change that makes the kernel correct.
struct Wrong {
    case: Case,
    rule: &'static str,
    message: &'static str,
    /// The text to replace in code, descriptor and metadata, and the replacement.
    repair: (&'static str, &'static str),
}

#[rustfmt::skip]
const WRONG: &[Wrong] = &[
    Wrong {
        case: Case { target: "gfx906", code: "v_mov_b32 v21, 0\ns_endpgm", descriptor: ".amdhsa_next_free_vgpr 4\n.amdhsa_next_free_sgpr 8", metadata: "" },
        rule: "kernel.vgprs", message: "v21 is used, but the descriptor gives the kernel 4 VGPRs",
        repair: ("vgpr 4", "vgpr 22"),
    },
    Wrong {
        // Registers are allocated in blocks of 8: v7 exists, v8 does not.
        case: Case { code: "v_mov_b32 v7, 0\nv_mov_b32 v8, 0\ns_endpgm", ..RIGHT },
        rule: "kernel.vgprs", message: "v8 is used, but the descriptor gives the kernel 8 VGPRs",
        repair: ("vgpr 8", "vgpr 9"),
    },
    Wrong {
        case: Case { target: "gfx1100", code: "v_mov_b32 v7, 0\nv_dual_mov_b32 v8, 0 :: v_dual_mov_b32 v1, 0\ns_endpgm", descriptor: ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 8", metadata: "" },
        rule: "kernel.vgprs", message: "v8 is used, but the descriptor gives the kernel 8 VGPRs",
        repair: ("vgpr 8", "vgpr 9"),
    },
    Wrong {
        case: Case { code: "v_mov_b32 v8, 0\nv_accvgpr_write_b32 a0, 0\ns_endpgm", descriptor: ".amdhsa_next_free_vgpr 16\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 8", ..RIGHT },
        rule: "kernel.accum-offset", message: "v8 is used, but `accum_offset` 8 makes it an AGPR",
        repair: ("offset 8", "offset 12"),
    },
    Wrong {
        case: Case { code: "v_accvgpr_write_b32 a8, 0\ns_endpgm", descriptor: ".amdhsa_next_free_vgpr 16\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 8", ..RIGHT },
        rule: "kernel.agprs", message: "a8 is used, but the descriptor gives the kernel 8 AGPRs",
        repair: ("vgpr 16", "vgpr 17"),
    },
    Wrong {
        // Separate register files of the same size.
        case: Case { target: "gfx908", code: "v_accvgpr_write_b32 a8, 0\ns_endpgm", descriptor: PLAIN, metadata: "" },
        rule: "kernel.agprs", message: "a8 is used, but the descriptor gives the kernel 8 AGPRs",
        repair: ("vgpr 8", "vgpr 9"),
    },
    Wrong {
        case: Case { target: "gfx906", code: "s_mov_b32 s40, 0\ns_endpgm", descriptor: PLAIN, metadata: "" },
        rule: "kernel.sgprs", message: "s40 is used, but the descriptor gives the kernel 24 SGPRs",
        repair: ("sgpr 16", "sgpr 41"),
    },
    Wrong {
        // 16 SGPRs, of which VCC needs the last two.
        case: Case { target: "gfx906:xnack-", code: "s_mov_b32 s15, 0\ns_mov_b64 vcc, 0\ns_endpgm", descriptor: ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n.amdhsa_reserve_vcc 0\n.amdhsa_reserve_flat_scratch 0", metadata: "" },
        rule: "kernel.reserved-sgprs", message: "s15 is used, but of the kernel's 16 SGPRs the last 2 hold VCC",
        repair: ("vcc 0\n", "vcc 1\n"),
    },
    Wrong {
        case: Case { code: "v_mov_b32 v0, 0\nds_read_b128 v[4:7], v0 offset:1024\ns_endpgm", descriptor: ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 8\n.amdhsa_group_segment_fixed_size 1032", ..RIGHT },
        rule: "kernel.lds", message: "bytes up to 1040 of the LDS are accessed, but the descriptor gives the kernel 1032",
        repair: ("size 1032", "size 1040"),
    },
    Wrong {
        // Two elements of 8 bytes; offsets are in units of 64 elements.
        case: Case { code: "ds_write2st64_b64 v0, v[2:3], v[4:5] offset1:4\ns_endpgm", descriptor: ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 8\n.amdhsa_group_segment_fixed_size 2048", ..RIGHT },
        rule: "kernel.lds", message: "bytes up to 2056 of the LDS are accessed, but the descriptor gives the kernel 2048",
        repair: ("size 2048", "size 2056"),
    },
    Wrong {
        case: Case { code: "ds_read_b32 v1, v0 offset:65535\ns_endpgm", ..RIGHT },
        rule: "kernel.lds-limit", message: "bytes up to 65539 of the LDS are accessed; a workgroup has 65536 at most",
        repair: ("offset:65535", "offset:65532"),
    },
    Wrong {
        case: Case { target: "gfx942", code: "scratch_load_dword v1, off, off offset:12\ns_endpgm", descriptor: ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 8\n.amdhsa_private_segment_fixed_size 16", metadata: "" },
        rule: "kernel.scratch", message: "scratch is used, but the descriptor does not enable it",
        repair: ("fixed_size 16", "fixed_size 16\n.amdhsa_enable_private_segment 1"),
    },
    Wrong {
        case: Case { target: "gfx942", code: "scratch_load_dword v1, off, off offset:12\nscratch_load_dwordx2 v[2:3], off, off offset:12\ns_endpgm", descriptor: ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 8\n.amdhsa_private_segment_fixed_size 16\n.amdhsa_enable_private_segment 1", metadata: "" },
        rule: "kernel.scratch", message: "bytes up to 20 of the scratch are accessed, but the descriptor gives the kernel 16",
        repair: ("fixed_size 16", "fixed_size 20"),
    },
    Wrong {
        case: Case { code: "s_load_dword s4, s[0:1], 0x10\ns_endpgm", descriptor: ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 8\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_kernarg_size 16", ..RIGHT },
        rule: "kernel.kernarg", message: "offset 16 is loaded of a kernarg segment of 16 bytes",
        repair: ("0x10", "0xc"),
    },
    Wrong {
        // The dispatch pointer precedes the kernarg pointer.
        case: Case { code: "s_load_dwordx2 s[4:5], s[2:3], 0xc\ns_endpgm", descriptor: ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 8\n.amdhsa_user_sgpr_dispatch_ptr 1\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_kernarg_size 16", ..RIGHT },
        rule: "kernel.kernarg-tail", message: "bytes 12 to 19 are loaded of a kernarg segment of 16 bytes",
        repair: ("0xc", "0x8"),
    },
    Wrong {
        case: Case { code: "s_load_dword s4, s[4:5], 0x0\ns_endpgm", descriptor: ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 8\n.amdhsa_user_sgpr_kernarg_segment_ptr 1", ..RIGHT },
        rule: "kernel.sgpr-unset", message: "s[4:5] is an address, but nothing sets s4: the dispatcher sets 3 SGPRs",
        repair: ("s[4:5]", "s[0:1]"),
    },
    Wrong {
        case: Case { target: "gfx906", code: "v_add_u32 v0, v0, v1\ns_endpgm", descriptor: PLAIN, metadata: "" },
        rule: "kernel.workitem-id", message: "the work-item id in y is read, but the descriptor does not ask for it",
        repair: ("sgpr 16", "sgpr 16\n.amdhsa_system_vgpr_workitem_id 1"),
    },
    Wrong {
        case: Case { code: "v_bfe_u32 v1, v0, 20, 10\ns_endpgm", ..RIGHT },
        rule: "kernel.workitem-id", message: "the work-item id in z is read, but the descriptor does not ask for it",
        repair: ("sgpr 16", "sgpr 16\n.amdhsa_system_vgpr_workitem_id 2"),
    },
    Wrong {
        case: Case { metadata: ".vgpr_count: 9", ..RIGHT },
        rule: "kernel.metadata-registers", message: "`.vgpr_count` is 9, but the descriptor gives the kernel 8",
        repair: ("count: 9", "count: 8"),
    },
    Wrong {
        case: Case { metadata: ".group_segment_fixed_size: 64", ..RIGHT },
        rule: "kernel.metadata-memory", message: "`.group_segment_fixed_size` is 64, but 0 in the descriptor",
        repair: ("size: 64", "size: 0"),
    },
    Wrong {
        case: Case { metadata: ".wavefront_size: 32", ..RIGHT },
        rule: "kernel.metadata-wave", message: "`.wavefront_size` is 32; a wave has 64 lanes",
        repair: ("size: 32", "size: 64"),
    },
    Wrong {
        case: Case { metadata: ".max_flat_workgroup_size: 2048", ..RIGHT },
        rule: "kernel.metadata-workgroup", message: "`.max_flat_workgroup_size` is 2048; 1 to 1024 is possible",
        repair: ("2048", "1024"),
    },
    Wrong {
        case: Case { metadata: ".max_flat_workgroup_size: 64\n.reqd_workgroup_size: [16, 8, 1]", ..RIGHT },
        rule: "kernel.metadata-workgroup",
        message: "`.reqd_workgroup_size` is 16 x 8 x 1, which is more than `.max_flat_workgroup_size` 64",
        repair: ("8, 1", "4, 1"),
    },
    Wrong {
        case: Case { metadata: ".args: [{.offset: 12, .size: 8, .value_kind: by_value}]", ..RIGHT },
        rule: "kernel.metadata-argument",
        message: "the argument at offset 12 of 8 bytes ends beyond the 16 bytes of `.kernarg_segment_size`",
        repair: ("12", "8"),
    },
    Wrong {
        case: Case { metadata: NO_METADATA, ..RIGHT },
        rule: "kernel.no-metadata", message: "the code object has no metadata, so that HIP does not load it",
        repair: ("none", ""),
    },
    Wrong {
        case: Case { metadata: ".symbol: other.kd", ..RIGHT },
        rule: "kernel.no-metadata", message: "the metadata do not have the kernel k",
        repair: ("other", "k"),
    },
    Wrong {
        // The metadata version of V3 in an object of V6.
        case: Case { metadata: "amdhsa.version: [1, 0]", ..RIGHT },
        rule: "kernel.metadata-version", message: "`amdhsa.version` is [1, 0], but that of code object V6 is [1, 2]",
        repair: ("0]", "2]"),
    },
    Wrong {
        case: Case { metadata: "amdhsa.target: amdgcn-amd-amdhsa--gfx906", ..RIGHT },
        rule: "kernel.metadata-target", message: "`amdhsa.target` is gfx906, but the code is for gfx90a",
        repair: ("gfx906", "gfx90a"),
    },
    Wrong {
        case: Case { target: "gfx90a:xnack+", metadata: "amdhsa.target: amdgcn-amd-amdhsa--gfx90a:xnack-", ..RIGHT },
        rule: "kernel.metadata-target", message: "`amdhsa.target` is gfx90a:xnack-, but the code is for gfx90a:xnack+",
        repair: ("xnack-", "xnack+"),
    },
    Wrong {
        case: Case { metadata: ".args: [{.offset: 8, .size: 8, .value_kind: by_value, .value_type: i64}]", ..RIGHT },
        rule: "kernel.metadata-value-type", message: "the argument at offset 8 has `.value_type`, which nothing reads",
        repair: (", .value_type: i64", ""),
    },
    Wrong {
        case: Case { code: "ds_read_b32 v0, v1\ns_waitcnt lgkmcnt(0)\ns_endpgm", descriptor: ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 8\n.amdhsa_tg_split 1\n.amdhsa_group_segment_fixed_size 64", ..RIGHT },
        rule: "kernel.tg-split", message: "LDS is accessed in threadgroup split mode, in which there is none",
        repair: ("split 1", "split 0"),
    },
    Wrong {
        case: Case { code: "s_mov_b32 m0, 0\nbuffer_load_dword v0, s[0:3], 0 offen lds\ns_endpgm", descriptor: ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 8\n.amdhsa_tg_split 1\n.amdhsa_user_sgpr_private_segment_buffer 1", ..RIGHT },
        rule: "kernel.tg-split", message: "LDS is accessed in threadgroup split mode, in which there is none",
        repair: ("split 1", "split 0"),
    },
    Wrong {
        case: Case { descriptor: ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 8\n.amdhsa_tg_split 1\n.amdhsa_group_segment_fixed_size 64", ..RIGHT },
        rule: "kernel.tg-split", message: "64 bytes of LDS are asked for in threadgroup split mode, which has none",
        repair: ("size 64", "size 0"),
    },
    Wrong {
        case: Case { target: "gfx906", code: "s_store_dword s4, s[0:1], s5\ns_dcache_wb\ns_endpgm", descriptor: ARGUMENTS, metadata: "" },
        rule: "kernel.scalar-store-offset", message: "the offset of `s_store_dword` stands in s5",
        repair: ("s5", "m0"),
    },
    Wrong {
        case: Case { target: "gfx900", code: "s_atomic_add s4, s[0:1], s5\ns_endpgm", descriptor: ARGUMENTS, metadata: "" },
        rule: "kernel.scalar-store-offset", message: "the offset of `s_atomic_add` stands in s5",
        repair: ("s5", "0x10"),
    },
    Wrong {
        // The path of the branch lacks a write-back.
        case: Case { target: "gfx906", code: "s_store_dword s4, s[0:1], m0\ns_cbranch_scc0 .Lend\ns_dcache_wb\n.Lend: s_endpgm", descriptor: ARGUMENTS, metadata: "" },
        rule: "kernel.scalar-write-back", message: "the kernel may end before what this writes has left the scalar cache",
        repair: ("s_dcache_wb\n.Lend:", ".Lend: s_dcache_wb\n"),
    },
    Wrong {
        // With 512 registers per lane, a SIMD runs one wave and a compute unit 4, but this workgroup has 16.
        case: Case { descriptor: ".amdhsa_next_free_vgpr 512\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 256", metadata: ".max_flat_workgroup_size: 1024", ..RIGHT },
        rule: "kernel.workgroup",
        message: "a workgroup of 1024 work-items with 512 VGPRs each does not fit a compute unit: VGPRs are too many",
        repair: ("1024", "256"),
    },
];

#[test]
fn wrong_descriptors_are_told_and_repaired_ones_are_not() {
    for wrong in WRONG {
        let found: Vec<_> = wrong.case.lints().iter().map(|l| (l.rule.id, l.message.clone())).collect();
        assert_eq!(found, [(wrong.rule, wrong.message.to_owned())], "{}", wrong.case.source());
        let leak = |text: &str| -> &'static str { text.replace(wrong.repair.0, wrong.repair.1).leak() };
        let case = &wrong.case;
        let right = Case {
            target: case.target,
            code: leak(case.code),
            descriptor: leak(case.descriptor),
            metadata: leak(case.metadata),
        };
        assert_ne!(right.source(), case.source(), "{}", wrong.rule);
        assert_eq!(right.lints(), [], "{}", right.source());
    }
    for rule in ALL {
        assert!(WRONG.iter().any(|w| w.rule == rule.id), "{} has no test", rule.id);
    }
}

#[test]
fn only_what_is_certain_counts() {
    // Correct: code that is not reached, registers that were written before, and calls, which may have any effect.
    let cases = [
        "s_endpgm\nv_mov_b32 v90, 0",
        "s_mov_b64 s[4:5], 0\ns_load_dword s6, s[4:5], 0x0\ns_endpgm",
        "s_swappc_b64 s[8:9], s[0:1]\ns_load_dword s6, s[4:5], 0x0\ns_endpgm",
        // A call that does not return, and the next function.
        "s_swappc_b64 s[8:9], s[0:1]\n.type f,@function\nf: v_mov_b32 v90, 0\ns_endpgm",
        "s_mov_b64 s[0:1], s[2:3]\ns_load_dword s4, s[0:1], 0x100\ns_endpgm",
        "v_mov_b32 v0, 5\nv_bfe_u32 v1, v0, 10, 10\ns_endpgm",
        "s_cbranch_scc0 .La\ns_mov_b64 s[0:1], 0\n.La: s_load_dword s4, s[0:1], 0x100\ns_endpgm",
        "s_setpc_b64 s[0:1]\n.La: s_load_dword s4, s[6:7], 0x100\ns_endpgm",
        "s_set_gpr_idx_on s0, 0x8\nv_mov_b32 v0, v1\ns_set_gpr_idx_off\nv_bfe_u32 v1, v0, 10, 10\ns_endpgm",
    ];
    for code in cases {
        let descriptor = ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 8\n\
                          .amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_kernarg_size 16";
        let case = Case { code, descriptor, ..RIGHT };
        assert_eq!(case.lints(), [], "{code}");
    }
}

/// Scalar stores that are written back on every path, including in loops, or possibly by a called function.
/// Atomics on flat addresses as clang 22 splits them. A kernel without scratch has no addresses in it, so the branch for them is not taken.
#[test]
fn scratch_behind_a_comparison_with_its_aperture() {
    let guarded = "s_mov_b64 s[4:5], src_private_base
        v_cmp_eq_u32 vcc, s5, v1
        s_cbranch_vccz .La
        scratch_load_dwordx2 v[2:3], v4, off
        .La: s_endpgm";
    let rules = |code: &'static str, scratch: &str| {
        let descriptor = format!("{PLAIN}\n.amdhsa_accum_offset 8\n{scratch}").leak();
        let case = Case { target: "gfx942", code, descriptor, metadata: "" };
        case.lints().iter().map(|l| l.rule.id).collect::<Vec<_>>()
    };
    assert_eq!(rules(guarded, ""), [""; 0]);
    let found = ["kernel.scratch"];
    // A kernel that has scratch but does not enable it; an address that no comparison has seen; and a path around the comparison.
    assert_eq!(rules(guarded, ".amdhsa_private_segment_fixed_size 16"), found);
    assert_eq!(rules(guarded.replace("v4, off", "off, off").leak(), ""), found);
    assert_eq!(
        rules(format!("s_cbranch_scc0 .Lb\n{}", guarded.replace("scratch", ".Lb: scratch")).leak(), ""),
        found
    );
}

#[test]
fn scalar_stores_that_are_written_back() {
    let store = "s_store_dword s4, s[0:1], 0x0";
    let cases = [
        format!("{store}\ns_dcache_wb\ns_endpgm"),
        format!(".La: {store}\ns_cbranch_scc0 .La\ns_dcache_wb\ns_endpgm"),
        format!("s_cbranch_scc0 .La\n{store}\ns_dcache_wb\n.La: s_endpgm"),
        format!("{store}\ns_swappc_b64 s[8:9], s[0:1]\ns_endpgm"),
        format!("s_endpgm\n{store}\ns_endpgm"),
    ];
    for code in cases {
        let case = Case { target: "gfx906", code: code.leak(), descriptor: ARGUMENTS, metadata: "" };
        assert_eq!(case.lints(), [], "{}", case.code);
    }
    let wrong = [
        format!(".La: s_dcache_wb\n{store}\ns_cbranch_scc0 .La\ns_endpgm"),
        format!("s_dcache_wb\n{store}\ns_endpgm"),
        format!("{store}\ns_dcache_inv\ns_endpgm"),
    ];
    for code in wrong {
        let case = Case { target: "gfx906", code: code.leak(), descriptor: ARGUMENTS, metadata: "" };
        let found: Vec<_> = case.lints().iter().map(|l| l.rule.id).collect();
        assert_eq!(found, ["kernel.scalar-write-back"], "{}", case.code);
    }
}

/// llvm-mc accepts `next_free_vgpr 4` for code that uses `v21`; the lint reports its object.
#[test]
fn what_llvm_accepts_without_a_word_is_told() {
    let Some(llvm) = Llvm::find() else { return };
    let dir = Scratch::new("lint");
    for (number, wrong) in WRONG.iter().enumerate() {
        let id = wrong.case.target.parse().expect("a target");
        let path = llvm.code_object(&dir, &format!("wrong{number}"), id, &wrong.case.source());
        let bytes = std::fs::read(path).expect("written");
        let object = read_code_object(&bytes).expect("an object");
        let found = lint(&Unit::of_object(&object).expect("a unit"));
        let found: Vec<_> = found.iter().map(|l| (l.rule.id, l.message.as_str())).collect();
        assert_eq!(found, [(wrong.rule, wrong.message)]);
    }
}

/// Some files of the corpus: in a thorough run, every sixth.
fn some_files() -> Vec<corpus::File> {
    corpus::files().into_iter().step_by(fuzz_step(6)).collect()
}

fn unit(name: &str, text: &str) -> Unit {
    let options = Options { keep_instructions: true, ..Options::default() };
    let assembly = assemble(name, text, &options).unwrap_or_else(|e| panic!("{e}"));
    Unit::of_assembly(&assembly).expect("kept")
}

#[test]
fn compilers_descriptors_are_right() {
    let mut kernels = 0;
    for file in some_files() {
        let unit = unit(&file.path, &file.text);
        assert_eq!(lint(&unit), [], "{}", file.path);
        kernels += unit.kernels.len();
    }
    println!("{kernels} kernels");
    assert!(kernels * fuzz_step(6) > 200, "{kernels}");
}

/// If the descriptor has too few registers, the reported register is the last one that the compiler says it uses (`.vgpr_count`).
#[test]
fn the_last_register_is_the_compilers() {
    let mut told = 0;
    for file in some_files() {
        let lines = file.text.lines().map(|line| match line.split_whitespace().next() {
            Some(".amdhsa_next_free_vgpr") => "\t.amdhsa_next_free_vgpr 1",
            Some(".amdhsa_accum_offset") => "\t.amdhsa_accum_offset 4",
            _ => line,
        });
        let unit = unit(&file.path, &lines.collect::<Vec<_>>().join("\n"));
        let lints = lint(&unit);
        for kernel in &unit.kernels {
            let (Some(metadata), Some((section, line))) = (&kernel.metadata, kernel.entry) else { continue };
            let code = &unit.sections[section];
            let function = code.function_of(line).expect("a kernel's line");
            let own = &code.program.lines[function.lines.clone()];
            let calls = own.iter().any(|l| l.inst.desc.mnemonic == "s_swappc_b64");
            let agprs = own.iter().any(|l| l.inst.desc.mnemonic.contains("accvgpr"));
            if calls || agprs || metadata.agpr_count.is_some_and(|n| n > 0) || metadata.vgpr_count <= 8 {
                continue;
            }
            let vgprs = |l: &&Lint| l.kernel == kernel.name && l.rule.id == "kernel.vgprs";
            let found = lints.iter().find(vgprs).unwrap_or_else(|| panic!("{}: {}", file.path, kernel.name));
            let register = format!("v{} is used", metadata.vgpr_count - 1);
            assert!(found.message.starts_with(&register), "{}: {}, {register}", file.path, found.message);
            told += 1;
        }
    }
    println!("{told} kernels told");
    assert!(told > 20);
}

/// As in the ROCm 6.4 libraries for gfx908: LLVM allocates no registers for FLAT_SCRATCH unless the code initialises it (LLVM 22,
/// `SIResourceUsage`), although each FLAT instruction reads it.
#[test]
fn flat_scratch_that_nobody_sets_up_needs_no_registers() {
    let descriptor = ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n.amdhsa_reserve_vcc 0\n\
                      .amdhsa_reserve_flat_scratch 0\n.amdhsa_user_sgpr_kernarg_segment_ptr 1";
    let with = |set_up: &str| {
        let code = format!(
            "{set_up}v_mov_b32 v2, 0\nv_mov_b32 v3, 0\ns_mov_b32 s15, 0\nflat_load_dword v1, v[2:3]\ns_endpgm"
        );
        let case = Case { target: "gfx908:xnack-", code: code.leak(), descriptor, metadata: "" };
        case.lints().into_iter().map(|l| l.rule.id).collect::<Vec<_>>()
    };
    assert_eq!(with(""), Vec::<&str>::new());
    assert_eq!(with("s_mov_b64 flat_scratch, 0\n"), ["kernel.reserved-sgprs"]);
}

/// Objects from clang and Triton for RDNA, with waves of both sizes, have descriptors that match their code.
#[test]
fn compilers_objects_for_rdna_have_no_lints() {
    let mut kernels = 0;
    for (name, bytes) in rdna_objects() {
        let object = read_code_object(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        kernels += object.kernels.len();
        assert_eq!(lint(&Unit::of_object(&object).expect("a unit")), [], "{name}");
    }
    assert!(kernels >= 24, "{kernels}");
}
