//! Tests counters with several types of operations, and the assumptions about LDS accesses.

use gcn_isa::InstructionSet;
use gcn_isa::check::{self, Caveat, MemoryModel, Options};
use gcn_isa::counters::{Counter, Stream};
use gcn_isa::hazards::{Config, Grade};
use gcn_isa::{Program, Target};

use crate::golden;

fn program(text: &str) -> Program {
    golden::program(text, Target::GFX942)
}

fn rules(text: &str, memory_model: MemoryModel) -> Vec<(&'static str, Grade)> {
    let options = Options { memory_model, ..Options::default() };
    check::check_with(&program(text), options).findings.iter().map(|f| (f.rule, f.grade)).collect()
}

/// Tests operations of several types. The manual says that operations of one type return in order. LLVM waits for zero as soon as the types
/// are mixed.
#[test]
fn a_count_of_the_own_type_is_doubted_when_types_are_mixed() {
    let mixed = |n: u8| {
        let text = format!(
            "ds_read_b32 v0, v9 | ds_read_b32 v1, v9 | s_load_dword s4, s[8:9], 0x0 | s_waitcnt lgkmcnt({n}) | \
             v_mov_b32_e32 v2, v0 | s_endpgm"
        );
        rules(&text, MemoryModel::Sure)
    };
    assert_eq!(mixed(0), []);
    assert_eq!(mixed(1), [("waitcnt.mixed", Grade::Cautious)]);
    assert_eq!(mixed(2), [("waitcnt.raw", Grade::Certain)]);
    // Scalar loads are not ordered relative to each other.
    let scalar = "s_load_dword s4, s[8:9], 0x0 | s_load_dword s5, s[8:9], 0x4 | s_waitcnt lgkmcnt(1) | s_mov_b32 s6, s4";
    assert_eq!(rules(scalar, MemoryModel::Sure), [("waitcnt.raw", Grade::Certain)]);
    // FLAT may decrease either counter first.
    let flat = "flat_load_dword v0, v[4:5] | global_load_dword v1, v[4:5], off | s_waitcnt vmcnt(1) lgkmcnt(0) | \
                v_mov_b32_e32 v2, v0 | s_endpgm";
    assert_eq!(rules(flat, MemoryModel::Sure), [("waitcnt.raw", Grade::Certain)]);
}

/// Tests that all bits set in a field means no wait. Tests of full counters are in [`super::full`].
#[test]
fn counters_saturate() {
    let most = [Counter::Vm, Counter::Lgkm, Counter::Exp].map(|c| c.capacity(InstructionSet::GFX900));
    assert_eq!(most, [63, 15, 7]);
    let reads = |n: usize, wait: u8| {
        let more = "ds_read_b32 v1, v9 | ".repeat(n);
        let text =
            format!("ds_read_b32 v0, v9 | {more}s_waitcnt lgkmcnt({wait}) | v_mov_b32_e32 v2, v0 | s_endpgm");
        rules(&text, MemoryModel::Sure).iter().filter(|r| r.0 != "waitcnt.waw").count()
    };
    assert_eq!((reads(14, 14), reads(20, 14), reads(14, 15), reads(20, 15), reads(13, 14)), (0, 0, 1, 1, 1));
    let loads = |n: usize, wait: u8| {
        let more = "global_store_dword v[4:5], v1, off | ".repeat(n);
        let text = format!(
            "global_load_dword v0, v[4:5], off | {more}s_waitcnt vmcnt({wait}) | v_mov_b32_e32 v2, v0 | s_endpgm"
        );
        rules(&text, MemoryModel::Sure).len()
    };
    assert_eq!((loads(62, 62), loads(70, 62), loads(70, 63), loads(61, 62)), (0, 0, 1, 1));
    assert_eq!(Stream::ALL.map(Stream::in_order).iter().filter(|o| **o).count(), 9);
}

/// Tests that cache control instructions count on vmcnt like stores from gfx942 on (LLVM pull requests 178316 and 220694).
#[test]
fn cache_control_counts_on_vmcnt() {
    for control in ["buffer_inv sc1", "buffer_wbl2 sc1"] {
        let text = |n: u8| {
            format!(
                "global_load_dword v0, v[4:5], off | {control} | s_waitcnt vmcnt({n}) | v_mov_b32_e32 v1, v0 | s_endpgm"
            )
        };
        assert_eq!(rules(&text(1), MemoryModel::Sure), []);
        assert_eq!(rules(&text(2), MemoryModel::Sure).len(), 1);
    }
}

#[test]
fn a_dma_into_one_buffer_may_run_while_another_is_read() {
    let dma = "global_load_lds_dword v[2:3], off";
    let read = "ds_read_b32 v0, v9 | s_waitcnt lgkmcnt(0) | v_mov_b32_e32 v1, v0";
    let never = format!("{dma} | {read} | s_endpgm");
    assert_eq!(rules(&never, MemoryModel::Sure), [("waitcnt.lds-dma", Grade::Cautious)]);
    assert_eq!(rules(&never, MemoryModel::Off), []);
    // LDS is read again after a wait for the load: the wait is for this second read.
    let twice = format!("{dma} | {read} | s_waitcnt vmcnt(0) | {read} | s_endpgm");
    assert_eq!(rules(&twice, MemoryModel::Sure), []);
    assert_eq!(rules(&twice, MemoryModel::Strict), [("waitcnt.lds-dma", Grade::Cautious)]);
    // A wait that leaves the load outstanding does not count.
    let short = format!("{dma} | {read} | s_waitcnt vmcnt(1) | {read} | s_endpgm");
    assert_eq!(rules(&short, MemoryModel::Sure).len(), 1);
    let barrier = format!("{dma} | s_barrier | s_waitcnt vmcnt(0) | s_endpgm");
    assert_eq!(rules(&barrier, MemoryModel::Sure), [("barrier.lds-dma", Grade::Cautious)]);
    let second = format!("{dma} | s_barrier | s_waitcnt vmcnt(0) | s_barrier | s_endpgm");
    assert_eq!(rules(&second, MemoryModel::Sure), []);
    let report = check::check(&program(&barrier));
    assert_eq!(report.findings[0].caveat, Some(Caveat::Addresses));
}

/// Tests reads before barriers. Such a read conflicts with writes of other waves between its barrier and the next one. Without addresses,
/// it is unknown whether these writes are to the same buffer, so the finding is never certain.
#[test]
fn a_read_may_pass_a_barrier_that_no_write_follows() {
    let sure = |text: &str| rules(text, MemoryModel::Sure);
    let found = [("barrier.lds-read", Grade::Cautious)];
    let read = "ds_read_b32 v0, v9";
    for behind in [
        "s_waitcnt lgkmcnt(0) | ds_write_b32 v9, v8 | s_endpgm",
        "ds_write_b32 v9, v8 | s_waitcnt lgkmcnt(0) | s_barrier | s_endpgm",
        "ds_add_u32 v9, v8 | s_endpgm",
        "global_load_lds_dword v[2:3], off | s_endpgm",
        "s_cbranch_scc1 L1 | s_endpgm | L1: | ds_write_b32 v9, v8 | s_endpgm",
    ] {
        let text = format!("{read} | s_barrier | {behind}");
        assert_eq!(sure(&text), found, "{text}");
        assert_eq!(check::check(&program(&text)).findings[0].caveat, Some(Caveat::Addresses));
        assert_eq!(rules(&text, MemoryModel::Off), []);
    }
    for behind in [
        "s_waitcnt lgkmcnt(0) | s_endpgm",
        "s_waitcnt lgkmcnt(0) | s_barrier | ds_write_b32 v9, v8 | s_endpgm",
        "ds_read_b32 v1, v9 | s_endpgm",
        "ds_bpermute_b32 v1, v9, v8 | s_endpgm",
        "s_cbranch_scc1 L1 | s_endpgm | L1: | s_barrier | s_waitcnt lgkmcnt(0) | s_endpgm",
    ] {
        assert_eq!(sure(&format!("{read} | s_barrier | {behind}")), [], "{behind}");
    }
    // A loop whose first barrier publishes the tile, and whose second barrier allows the tile to be overwritten.
    let tile = |wait: &str| {
        format!(
            "L1: | ds_write_b32 v9, v8 | s_waitcnt lgkmcnt(0) | s_barrier | {read} | {wait} | s_barrier | \
             s_waitcnt lgkmcnt(0) | s_cbranch_scc1 L1 | s_endpgm"
        )
    };
    assert_eq!(sure(&tile("v_nop")), found);
    assert_eq!(sure(&tile("s_waitcnt lgkmcnt(0)")), []);
}

/// Tests code in which clang waits before the barrier (AMDGPU guide, memory model: a release of workgroup scope waits for lgkmcnt(0)).
/// Neither a wait for results read after the barrier nor a second barrier is a substitute for this wait.
#[test]
fn a_write_that_others_read_after_the_barrier_is_documented() {
    let written = [("barrier.lds", Grade::Documented)];
    let sure = |text: &str| {
        let found = rules(text, MemoryModel::Sure);
        found
            .into_iter()
            .filter(|f| f.0.starts_with("barrier.") && f.0 != "barrier.lds-read")
            .collect::<Vec<_>>()
    };
    let (write, read) =
        ("ds_write_b32 v9, v8", "ds_read_b32 v0, v7 | s_waitcnt lgkmcnt(0) | v_mov_b32_e32 v1, v0");
    // The same code with a wait before the barrier.
    let done = |text: &str| text.replacen("| s_barrier", "| s_waitcnt vmcnt(0) lgkmcnt(0) | s_barrier", 1);
    for text in [
        format!("{write} | s_barrier | {read} | s_endpgm"),
        format!("{write} | s_barrier | {read} | s_barrier | s_endpgm"),
        format!(
            "{write} | s_barrier | {read} | s_barrier | {write} | s_waitcnt lgkmcnt(0) | s_barrier | {read} | s_endpgm"
        ),
        format!("L1: | {write} | s_barrier | {read} | s_barrier | s_cbranch_scc1 L1 | s_endpgm"),
        // After the loop, another value is read.
        format!(
            "L1: | {write} | s_barrier | {read} | s_barrier | s_cbranch_scc1 L1 | ds_write_b32 v6, v1 | \
             s_waitcnt lgkmcnt(0) | s_barrier | {read} | s_endpgm"
        ),
        // The address is recomputed, but remains the same.
        format!(
            "L1: | v_lshlrev_b32_e32 v9, 2, v20 | {write} | s_barrier | {read} | s_barrier | s_cbranch_scc1 L1 | s_endpgm"
        ),
        // Of the two writes, the older one is read.
        format!("{write} | ds_add_u32 v6, v8 | s_barrier | {read} | s_endpgm"),
        // One path waits, and the other path does not.
        format!(
            "{write} | s_cbranch_scc1 L1 | s_waitcnt lgkmcnt(0) | L1: | s_nop 0 | s_barrier | {read} | s_endpgm"
        ),
        // Waves that branch around the reads of a tree reduction are no evidence for waves that execute the reads.
        format!(
            "{write} | s_barrier | s_and_saveexec_b64 s[0:1], vcc | s_cbranch_execz L1 | {read} | global_store_dword v6, v1, s[2:3] | \
             L1: | s_waitcnt lgkmcnt(0) | s_barrier | {read} | s_endpgm"
        ),
        format!(
            "s_cbranch_scc0 L0 | {write} | L0: | s_nop 0 | s_barrier | s_cbranch_scc1 L1 | {read} | {write} | \
             L1: | s_waitcnt lgkmcnt(0) | s_barrier | {read} | s_endpgm"
        ),
    ] {
        assert_eq!(sure(&text), written, "{text}");
        assert_eq!(sure(&done(&text)), [], "{}", done(&text));
        assert_eq!(rules(&text, MemoryModel::Off), []);
    }
    // The conflict is around the back edge of the loop.
    let rotated = format!("L1: | s_nop 0 | s_barrier | {read} | {write} | s_cbranch_scc1 L1 | s_endpgm");
    assert_eq!(sure(&rotated), written);
    assert_eq!(sure(&done(&rotated)), []);
    let dma = "L1: | global_load_lds_dword v[2:3], off | s_barrier | ds_read_b32 v0, v7 | s_waitcnt vmcnt(0) lgkmcnt(0) | \
         v_mov_b32_e32 v1, v0 | s_barrier | s_cbranch_scc1 L1 | s_endpgm";
    assert_eq!(sure(dma), [("barrier.lds-dma", Grade::Documented)]);
    assert_eq!(sure(&done(dma)), []);
    // The FLAT access may be to memory.
    assert_eq!(
        sure(&format!("flat_store_dword v[2:3], v8 | s_barrier | {read} | s_endpgm")),
        [("barrier.lds", Grade::Cautious)]
    );
}

/// Tests loops that clang 22 -O3 emits for kernels with two buffers (gfx90a, gfx942, gfx950). In these loops, clang waits before the
/// barrier, because the read after the barrier accesses the location of the write. For each loop there is also a variant that reads the
/// other buffer, for which the waits of the next iteration may publish the write.
#[test]
fn a_read_of_the_buffer_that_was_written_needs_the_wait() {
    let read = "s_waitcnt lgkmcnt(0) | v_mov_b32_e32 v1, v0 | s_barrier";
    for (same, other) in [
        // The address itself changes in each iteration.
        (
            format!(
                "L1: | ds_write_b32 v9, v8 | s_barrier | ds_read_b32 v0, v9 offset:1020 | {read} | \
                 v_add_u32_e32 v9, 0x400, v9 | s_cbranch_scc1 L1 | s_endpgm"
            ),
            format!(
                "L1: | ds_write_b32 v9, v8 | s_barrier | ds_read_b32 v0, v7 | {read} | v_add_u32_e32 v9, 0x400, v9 | \
                 v_add_u32_e32 v7, 0x400, v7 | s_cbranch_scc1 L1 | s_endpgm"
            ),
        ),
        // A number selects the buffer.
        (
            format!(
                "L1: | s_mul_i32 s9, s8, 0x2400 | v_mad_u32_u24 v9, v20, 4, s9 | ds_write_b32 v9, v8 | s_barrier | \
                 s_add_i32 s10, s9, 0x4800 | v_mov_b32_e32 v3, s10 | v_lshl_add_u32 v7, v21, 2, v3 | \
                 ds_read_b32 v0, v7 | {read} | s_xor_b32 s8, s8, 1 | s_cbranch_scc1 L1 | s_endpgm"
            ),
            format!(
                "L1: | s_mul_i32 s9, s8, 0x2400 | v_mad_u32_u24 v9, v20, 4, s9 | ds_write_b32 v9, v8 | s_barrier | \
                 s_xor_b32 s8, s8, 1 | s_mul_i32 s10, s8, 0x2400 | v_lshl_add_u32 v7, v21, 2, s10 | \
                 ds_read_b32 v0, v7 | {read} | s_cbranch_scc1 L1 | s_endpgm"
            ),
        ),
        // The buffer that is filled at the end of an iteration is read in the next iteration.
        (
            format!(
                "L1: | v_mul_lo_u32 v5, v4, s7 | v_add_u32_e32 v7, v20, v5 | ds_read_b32 v0, v7 | {read} | \
                 s_cbranch_vccnz L2 | v_xor_b32_e32 v4, 1, v4 | v_mul_lo_u32 v5, v4, s7 | v_add_u32_e32 v9, v21, v5 | \
                 ds_write_b32 v9, v8 | s_barrier | L2: | s_nop 0 | s_cbranch_scc1 L1 | s_endpgm"
            ),
            format!(
                "L1: | v_mul_lo_u32 v5, v4, s7 | v_add_u32_e32 v7, v20, v5 | ds_read_b32 v0, v7 | {read} | \
                 s_cbranch_vccnz L2 | v_xor_b32_e32 v4, 1, v4 | v_xor_b32_e32 v6, 2, v4 | v_mul_lo_u32 v5, v6, s7 | \
                 v_add_u32_e32 v9, v21, v5 | ds_write_b32 v9, v8 | s_barrier | L2: | s_nop 0 | s_cbranch_scc1 L1 | \
                 s_endpgm"
            ),
        ),
        // Inner loops fill the buffer and read it.
        (
            format!(
                "L1: | s_mul_i32 s9, s8, 0x2400 | v_add_u32_e32 v2, s9, v20 | s_mov_b32 s13, 0 | L2: | \
                 v_add_u32_e32 v9, s13, v2 | s_addk_i32 s13, 0x900 | ds_write_b32 v9, v8 | s_cbranch_scc0 L2 | \
                 v_add_u32_e32 v7, s9, v21 | s_barrier | L3: | ds_read_b32 v0, v7 | v_add_u32_e32 v7, 0x900, v7 | \
                 s_cbranch_scc0 L3 | {read} | s_xor_b32 s8, s8, 1 | s_cbranch_scc1 L1 | s_endpgm"
            ),
            format!(
                "L1: | s_mul_i32 s9, s8, 0x2400 | v_add_u32_e32 v2, s9, v20 | s_mov_b32 s13, 0 | L2: | \
                 v_add_u32_e32 v9, s13, v2 | s_addk_i32 s13, 0x900 | ds_write_b32 v9, v8 | s_cbranch_scc0 L2 | \
                 v_subrev_u32_e32 v7, s9, v21 | s_barrier | L3: | ds_read_b32 v0, v7 | v_add_u32_e32 v7, 0x900, v7 | \
                 s_cbranch_scc0 L3 | {read} | s_xor_b32 s8, s8, 1 | s_cbranch_scc1 L1 | s_endpgm"
            ),
        ),
        // A load into LDS.
        (
            format!(
                "L1: | s_lshl_b32 s9, s8, 12 | s_add_i32 m0, s4, s9 | s_nop 0 | global_load_lds_dword v[2:3], off | \
                 s_barrier | v_add_u32_e32 v7, s9, v20 | ds_read_b32 v0, v7 | s_waitcnt vmcnt(0) | {read} | \
                 s_xor_b32 s8, s8, 1 | s_cbranch_scc1 L1 | s_endpgm"
            ),
            format!(
                "L1: | s_lshl_b32 s9, s8, 12 | s_add_i32 m0, s4, s9 | s_nop 0 | global_load_lds_dword v[2:3], off | \
                 s_barrier | s_xor_b32 s10, s9, 0x1000 | v_add_u32_e32 v7, s10, v20 | ds_read_b32 v0, v7 | \
                 s_waitcnt vmcnt(0) | {read} | s_xor_b32 s8, s8, 1 | s_cbranch_scc1 L1 | s_endpgm"
            ),
        ),
    ] {
        let barriers = |text: &str| {
            let found = rules(text, MemoryModel::Sure);
            let of_writes = |f: &&(&str, Grade)| f.0 == "barrier.lds" || f.0 == "barrier.lds-dma";
            found.iter().filter(of_writes).map(|f| f.1).collect::<Vec<_>>()
        };
        assert_eq!(barriers(&same), [Grade::Documented], "{same}");
        assert_eq!(barriers(&other), [], "{other}");
        let at = same.find("s_barrier").unwrap();
        let last = same.rfind("ds_write").map_or(at, |w| w + same[w..].find("s_barrier").unwrap());
        let waited = format!("{}s_waitcnt vmcnt(0) lgkmcnt(0) | {}", &same[..last], &same[last..]);
        assert_eq!(barriers(&waited), [], "{waited}");
    }
}

/// Tests code patterns of AITER's attention kernels and of Triton's pipelines, which use several buffers.
#[test]
fn a_write_may_be_left_to_a_later_barrier() {
    let read = "ds_read_b32 v0, v7 | s_waitcnt lgkmcnt(0) | v_mov_b32_e32 v1, v0";
    for text in [
        // The write is waited for before LDS is accessed.
        format!("ds_write_b32 v9, v8 | s_barrier | s_waitcnt lgkmcnt(0) | s_barrier | {read} | s_endpgm"),
        // The waits leave some operations outstanding.
        format!(
            "ds_write_b32 v9, v8 | s_barrier | ds_read_b32 v2, v6 | s_waitcnt lgkmcnt(1) | s_barrier | {read} | s_endpgm"
        ),
        format!(
            "ds_write_b32 v6, v8 | ds_write_b32 v9, v8 | s_waitcnt lgkmcnt(1) | s_barrier | ds_read_b32 v2, v6 | \
             s_waitcnt lgkmcnt(0) | s_barrier | {read} | s_endpgm"
        ),
        // The buffers rotate.
        format!(
            "L1: | s_barrier | {read} | s_barrier | v_lshl_add_u32 v9, v20, 4, s9 | ds_write_b32 v9, v8 | \
             s_add_i32 s9, s9, s10 | s_cbranch_scc1 L1 | s_endpgm"
        ),
        format!(
            "L1: | s_mov_b32 m0, s9 | s_add_i32 s9, s9, s10 | global_load_lds_dword v[2:3], off | s_barrier | {read} | \
             s_waitcnt vmcnt(0) | s_barrier | s_cbranch_scc1 L1 | s_endpgm"
        ),
    ] {
        let found = rules(&text, MemoryModel::Sure);
        assert_eq!(
            found.iter().filter(|f| f.0 != "barrier.lds-read").collect::<Vec<_>>(),
            [] as [&(&str, Grade); 0],
            "{text}"
        );
    }
}

/// Tests scalar loads that overwrite their own address. A page fault in the middle of such a load replays it, and by then it may have
/// overwritten the address.
#[test]
fn a_scalar_load_over_its_own_address_may_not_be_replayed() {
    let xnack = Options { rules: Config::default().with_xnack(true), ..Options::default() };
    let found = |text: &str, options| -> Vec<&str> {
        check::check_with(&golden::program(text, Target::GFX90A), options)
            .findings
            .iter()
            .map(|f| f.rule)
            .collect()
    };
    let own = "s_load_dwordx2 s[4:5], s[4:5], 0x4 | s_endpgm";
    assert_eq!(found(own, xnack), ["xnack.smem-address"]);
    assert_eq!(found(own, Options::default()), [""; 0]);
    assert_eq!(found("s_load_dwordx2 s[6:7], s[4:5], 0x0 | s_endpgm", xnack), [""; 0]);
    assert_eq!(found("s_load_dword s4, s[4:5], 0x4 | s_endpgm", xnack), [""; 0]);
    // This load is aligned, so it is not split. LLVM allows it to overwrite its address.
    assert_eq!(found("s_load_dwordx2 s[4:5], s[4:5], 0x8 | s_endpgm", xnack), [""; 0]);
}

/// Tests the result of a matrix instruction that a later matrix instruction overwrites: the first write requires no wait states.
#[test]
fn a_result_that_a_later_matrix_instruction_overwrites_binds_no_more() {
    let first = "v_mfma_f32_32x32x8_f16 v[0:15], v[100:101], v[102:103], 0";
    let second = "v_mfma_f32_16x16x16_f16 v[0:3], v[100:101], v[102:103], 0";
    let after = |nops: u8, between: &str, read: &str| {
        let text =
            format!("{first} | s_nop 11 | {between} | s_nop {nops} | v_mov_b32_e32 v20, {read} | s_endpgm");
        rules(&text, MemoryModel::Sure).len()
    };
    // Without overwriting: 12 + 1 wait states or more. The second instruction's own four passes require seven.
    assert_eq!((after(6, second, "v0"), after(5, second, "v0")), (0, 1));
    let short = |between: &str, read: &str| {
        let text = format!("{first} | {between} | v_mov_b32_e32 v20, {read} | s_endpgm");
        let findings = check::check(&program(&text)).findings;
        findings.iter().filter(|f| f.second == 2).filter_map(|f| f.first).collect::<Vec<_>>()
    };
    assert_eq!(short(second, "v0"), [1]);
    assert_eq!(short(second, "v4"), [0]);
    // A vector instruction that overwrites the result does not remove the requirement.
    assert_eq!(short("v_mov_b32_e32 v0, 0", "v0"), [0]);
}

/// Tests that a wait before the first read of LDS also serves the later reads of the same block.
#[test]
fn a_load_into_lds_without_a_wait_is_found_once() {
    let text = "s_mov_b32 m0, 0 | s_nop 0 | global_load_lds_dword v[2:3], off | ds_read_b32 v0, v9 | \
                ds_read_b32 v1, v9 offset:4 | s_waitcnt vmcnt(0) lgkmcnt(0) | s_endpgm";
    assert_eq!(rules(text, MemoryModel::Strict), [("waitcnt.lds-dma", Grade::Cautious)]);
}

/// Tests that the inserter preserves the order of LDS accesses that a program leaves to the wait insertion; other missing waits are not
/// included.
#[test]
fn unordered_lds_accesses_are_no_other_accesses() {
    let late = |first: &str| {
        check::unordered_lds_accesses(&program(&format!(
            "{first} | v_mov_b32_e32 v1, v0 | ds_read_b32 v4, v9 | s_barrier | ds_write_b32 v9, v8 | s_endpgm"
        )))
    };
    assert_eq!(late("global_load_dword v0, v[2:3], off"), [2]);
    assert_eq!(late("s_nop 0"), [2]);
}
