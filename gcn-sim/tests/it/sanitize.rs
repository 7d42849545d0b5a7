//! Sanitizers: each reports an error in a program, and reports nothing for the same program without the error.

mod bits;
mod scopes;

use std::collections::BTreeMap;

use gcn_isa::{Target, WaveSize};
use gcn_sim::{
    AccessKind, Finding, FindingKind, KernelState, Machine, Memory, Options, Sanitize, SimError, Space,
    UserSgprs, run,
};

use super::harness::{assemble, state};

/// The locations of a case's buffers, and its launch parameters.
struct Case {
    target: Target,
    grid: u32,
    waves: u32,
    checks: Sanitize,
}

const ONE: Case = Case { target: Target::GFX942, grid: 1, waves: 1, checks: Sanitize::all() };
const TWO: Case = Case { waves: 2, ..ONE };

/// Sets s3 to the wave's number, v1 to the lane's number, v2 to four times that, s[4:5] to the first buffer and s[6:7] to a second,
/// uninitialised one; s2 is the workgroup's number.
const PROLOGUE: &str = "s_load_dwordx4 s[4:7], s[0:1], 0x0
    v_and_b32 v1, 63, v0
    v_lshlrev_b32 v2, 2, v1
    v_lshrrev_b32 v3, 6, v0
    s_nop 4
    v_readfirstlane_b32 s3, v3
    v_mov_b32 v4, 0
    s_waitcnt lgkmcnt(0)\n";

impl Case {
    fn kernel(&self) -> KernelState {
        KernelState {
            lds_bytes: 1024,
            vgprs: 32,
            agprs: 32,
            sgprs: 32,
            private_bytes: 16,
            user_sgprs: UserSgprs { kernarg_segment_ptr: true, ..UserSgprs::default() },
            ..state()
        }
    }

    fn options(&self) -> Options {
        Options { sanitize: self.checks, findings: 10, max_instructions: 1 << 22, ..Options::default() }
    }

    fn try_run(&self, body: &str, lines: BTreeMap<u32, String>) -> Result<Vec<Finding>, SimError> {
        let code = assemble(self.target, &format!("{PROLOGUE}{body}\ns_endpgm"));
        let machine = Machine::new(self.target, &code, self.kernel())?.with_lines(lines);
        let mut memory = Memory::new();
        let first = memory.alloc(0x1000);
        let uninit = memory.alloc_uninit(0x1000);
        memory.write(uninit, &[1; 16])?;
        let gone = memory.alloc(0x1000);
        memory.free(gone)?;
        assert_eq!(gone - uninit, 0x11000, "the third buffer is where the cases think it is");
        let kernarg: Vec<u8> = [first, uninit].iter().flat_map(|a| a.to_le_bytes()).collect();
        let size = [64 * self.waves, 1, 1];
        Ok(run(&machine, &mut memory, [self.grid, 1, 1], size, &kernarg, &self.options())?.findings)
    }

    fn run(&self, body: &str) -> Vec<Finding> {
        self.try_run(body, BTreeMap::new()).unwrap_or_else(|e| panic!("{e}\n{body}"))
    }

    fn kinds(&self, body: &str) -> Vec<FindingKind> {
        self.run(body).iter().map(|f| f.kind).collect()
    }

    /// Checks that `bad` has one finding of this kind, and that each of `good` has none.
    fn tells(&self, kind: FindingKind, bad: &str, good: &[&str]) -> Finding {
        for body in good {
            let found = self.run(body);
            assert!(found.is_empty(), "{}\n{body}", found[0]);
        }
        let mut found = self.run(bad);
        assert_eq!(found.iter().map(|f| f.kind).collect::<Vec<_>>(), [kind], "{bad}\n{found:#?}");
        let finding = found.remove(0);
        let text = finding.to_string();
        assert!(text.starts_with(kind.title()) && text.contains(&finding.party.site.text), "{text}");
        finding
    }
}

#[test]
fn accesses_out_of_bounds_misaligned_and_after_free() {
    let oob = ONE.tells(
        FindingKind::OutOfBounds,
        "v_mov_b32 v5, 7\nv_add_u32 v6, 0xf10, v2\nglobal_store_dword v6, v5, s[4:5]",
        &["v_mov_b32 v5, 7\nv_add_u32 v6, 0xf00, v2\nglobal_store_dword v6, v5, s[4:5]"],
    );
    let access = oob.party.access.unwrap();
    assert_eq!((oob.party.lane, access.kind, access.bytes), (Some(60), AccessKind::Write, 4));
    let allocation = oob.allocation.unwrap();
    assert_eq!((access.address - allocation.base, allocation.bytes), (0x1000, 0x1000));
    // A run that collects findings continues after a bad access, which reads 0.
    let both = "v_add_u32 v6, 0x1000, v2\nglobal_load_dword v5, v6, s[4:5]\nds_read_b32 v7, v4 offset:1024\ns_waitcnt lgkmcnt(0)";
    assert_eq!(ONE.kinds(both), [FindingKind::OutOfBounds, FindingKind::OutOfBounds]);
    let lds = &ONE.run("v_mov_b32 v5, 1020\nds_write_b64 v5, v[2:3]")[0];
    assert_eq!((lds.kind, lds.allocation.unwrap().bytes), (FindingKind::OutOfBounds, 1024));
    let freed = ONE.tells(
        FindingKind::UseAfterFree,
        "v_add_u32 v6, 0x11000, v2\nglobal_load_dword v5, v6, s[6:7]",
        &["global_load_dword v5, v4, s[6:7]"],
    );
    assert_eq!(freed.allocation.unwrap().bytes, 0x1000);
    let misaligned = ONE.tells(
        FindingKind::Misaligned,
        "v_mov_b32 v5, 2\nglobal_atomic_add v5, v1, s[4:5]",
        &["v_mov_b32 v5, 8\nglobal_atomic_add v5, v1, s[4:5]"],
    );
    assert_eq!(misaligned.remedy, "the address must be a multiple of 4");
}

/// Undefined bits are reported where they matter, and not where they are merely read.
#[test]
fn registers_that_nothing_has_written() {
    use FindingKind::UninitializedRegister as Kind;
    let sum = "v_add_u32 v6, v1, v9\n";
    let store = |register: &str| format!("global_store_dword v2, {register}, s[4:5]");
    let finding = ONE.tells(
        Kind,
        &format!("{sum}{}", store("v6")),
        &[sum, &format!("v_mov_b32 v9, 0\n{sum}{}", store("v6"))],
    );
    assert_eq!((finding.register.as_deref(), finding.party.lane), (Some("v6"), Some(0)));
    assert!(finding.remedy.starts_with("it is written to memory"), "{finding}");
    // Lanes are tracked separately.
    let half =
        |lanes: u32| format!("s_mov_b64 exec, 15\nv_mov_b32 v9, 0\ns_mov_b64 exec, {lanes}\n{}", store("v9"));
    assert_eq!(ONE.tells(Kind, &half(31), &[&half(15)]).party.lane, Some(4));
    // Uses that matter: addresses, EXEC, branches, LDS, atomics.
    let address = ONE.tells(
        Kind,
        "v_and_b32 v9, 0xfc, v9\nglobal_load_dword v5, v9, s[4:5]",
        &["v_and_b32 v9, 0, v9\nglobal_load_dword v5, v9, s[4:5]"],
    );
    assert_eq!(address.register.as_deref(), Some("v9"));
    let exec = ONE.tells(
        Kind,
        "s_mov_b64 exec, s[8:9]",
        &["s_and_b64 s[8:9], s[8:9], 0\ns_mov_b64 exec, s[8:9]", "s_mov_b64 s[10:11], s[8:9]"],
    );
    assert_eq!((exec.register.as_deref(), exec.party.lane), (Some("exec"), Some(0)));
    let branch = |compare: &str| format!("{compare}\ns_cbranch_scc1 over\ns_nop 0\nover:");
    let scc = ONE.tells(
        Kind,
        &branch("s_add_u32 s8, s9, 1\ns_cmp_eq_u32 s8, 0"),
        // A single bit that is set determines the result, whatever the others are.
        &[&branch("s_or_b32 s8, s9, 4\ns_cmp_eq_u32 s8, 0"), &branch("s_or_b32 s8, s9, 4")],
    );
    assert_eq!(scc.register.as_deref(), Some("scc"));
    let vcc =
        |mask: &str| format!("s_or_b64 vcc, s[8:9], {mask}\ns_nop 4\ns_cbranch_vccz over\ns_nop 0\nover:");
    ONE.tells(Kind, &vcc("0"), &[&vcc("1")]);
    ONE.tells(Kind, "ds_write_b32 v2, v9", &["v_mov_b32 v9, 0\nds_write_b32 v2, v9"]);
    ONE.tells(Kind, "global_atomic_add v2, v9, s[4:5]", &["global_atomic_add v2, v1, s[4:5]"]);
    // Only the stored bytes matter.
    let low = "v_and_b32 v9, 0xffffff00, v9\n";
    ONE.tells(Kind, &format!("{low}ds_write_b16 v2, v9"), &[&format!("{low}ds_write_b8 v2, v9")]);
    // A conversion to half a register keeps the other half.
    let pair = "v_mov_b32 v8, 1.0\nv_cvt_pk_fp8_f32 v9, v8, v8\n";
    ONE.tells(Kind, &format!("{pair}ds_write_b32 v2, v9"), &[&format!("{pair}ds_write_b16 v2, v9")]);
    // Tests AGPRs, and the lanes of a mask.
    ONE.tells(Kind, &store("a3"), &["v_accvgpr_write_b32 a3, 0\ns_nop 4\nglobal_store_dword v2, a3, s[4:5]"]);
    let select = |mask: &str| {
        format!("v_cmp_eq_u32 vcc, v1, {mask}\nv_cndmask_b32 v5, v1, v9, vcc\nds_write_b32 v2, v5")
    };
    assert_eq!(ONE.tells(Kind, &select("5"), &[&select("-1")]).party.lane, Some(5));
    // A result that is 0 for any register contents is defined.
    assert!(ONE.run("v_xor_b32 v9, v9, v9\nds_write_b32 v2, v9").is_empty());
    // A load defines its destination.
    assert!(ONE.run("global_load_dword v9, v2, s[4:5]\ns_waitcnt vmcnt(0)\nds_write_b32 v2, v9").is_empty());
}

/// Code that compilers generate: halves of operands that `op_sel` does not select, upper halves of addends, and columns that nothing uses.
/// Also permutations of lanes: an undefined address of `ds_bpermute_b32` makes the result of its own lane undefined; an undefined address
/// of `ds_permute_b32` makes the result undefined in every lane that the data might reach.
#[test]
fn permutations_with_undefined_lane_addresses() {
    let store = "s_waitcnt lgkmcnt(0)\nglobal_store_dword v2, v6, s[4:5]";
    // v5 contains an address in the lower half of the wave only.
    let half = "s_mov_b64 exec, 0xffffffff\nv_xor_b32 v5, 4, v2\ns_mov_b64 exec, -1";
    let lower = "s_mov_b64 exec, 0xffffffff";
    for permute in ["ds_bpermute_b32", "ds_permute_b32"] {
        let all = format!("{half}\n{permute} v6, v5, v1\n{store}");
        // Inactive lanes neither send nor receive data.
        let inactive = format!("{half}\n{lower}\n{permute} v6, v5, v1\n{store}");
        // Only the lane number counts, modulo the 64 lanes.
        let high = format!(
            "v_mov_b32_sdwa v5, v2 dst_sel:BYTE_0 dst_unused:UNUSED_PRESERVE\n{permute} v6, v5, v1\n{store}"
        );
        let finding = ONE.tells(FindingKind::UninitializedRegister, &all, &[&inactive, &high]);
        let lane = if permute == "ds_permute_b32" { 0 } else { 32 };
        assert_eq!(finding.party.lane, Some(lane), "{finding}");
    }
    // The lower half of the lanes reads from defined addresses.
    let own = format!("{half}\nds_bpermute_b32 v6, v5, v1\n{lower}\n{store}");
    assert!(ONE.run(&own).is_empty());
    // Lane 63 sends to lane 0 last, so the data of no other lane remains there.
    let last = "s_mov_b64 exec, 0\ns_bitset1_b64 exec, 63\nv_mov_b32 v5, 0\ns_mov_b64 exec, -1";
    let zero = format!("{last}\nds_permute_b32 v6, v5, v1\ns_mov_b64 exec, 1\n{store}");
    let one = format!("{last}\nds_permute_b32 v6, v5, v1\ns_mov_b64 exec, 2\n{store}");
    ONE.tells(FindingKind::UninitializedRegister, &one, &[&zero]);
}

#[test]
fn bits_that_an_instruction_does_not_read() {
    use FindingKind::UninitializedRegister as Kind;
    let packed = |select: &str| {
        format!(
            "v_mov_b32 v8, 1.0\nv_mov_b32 v10, 1.0\nv_mov_b32 v11, 1.0\nv_pk_mul_f32 v[12:13], v[10:11], v[8:9] op_sel_hi:[1,{select}]\n\
             v_lshlrev_b32 v3, 3, v1\nds_write_b64 v3, v[12:13] offset:256"
        )
    };
    ONE.tells(Kind, &packed("1"), &[&packed("0")]);
    let product = |stored: &str| {
        format!(
            "v_mov_b32 v8, 1\nv_mov_b32 v10, 2\nv_mad_u64_u32 v[10:11], vcc, v1, v8, v[10:11]\nds_write_b32 v2, {stored}"
        )
    };
    ONE.tells(Kind, &product("v11"), &[&product("v10")]);
    let half = |select: &str| {
        format!(
            "v_and_b32 v9, 0xffff0000, v9\nv_fma_f16 v10, v9, v9, v9 op_sel:[{select},0,0]\nds_write_b16 v2, v10"
        )
    };
    ONE.tells(Kind, &half("0,1"), &[&half("0,0")]);
    // The first column of B is undefined, and therefore the first column of the result.
    let column = |lane: u32| {
        format!(
            "v_mov_b32 v10, 1.0\ns_mov_b32 exec_lo, -2\nv_mov_b32 v11, 1.0\ns_mov_b64 exec, -1\ns_nop 4\n\
             v_mfma_f32_32x32x1_2b_f32 a[0:31], v10, v11, 0\ns_nop 15\ns_nop 7\nv_accvgpr_read_b32 v12, a0\n\
             s_mov_b32 s8, {lane}\ns_nop 4\nv_readlane_b32 s9, v12, s8\nv_mov_b32 v13, s9\nds_write_b32 v2, v13"
        )
    };
    ONE.tells(Kind, &column(0), &[&column(1)]);
    // Scratch may contain undefined bits until they matter.
    let spill = "scratch_store_dword off, v9, off\ns_waitcnt vmcnt(0)\nscratch_load_dword v10, off, off\ns_waitcnt vmcnt(0)\n";
    let restore = "scratch_store_dword off, v1, off\ns_waitcnt vmcnt(0)\nscratch_load_dword v10, off, off\ns_waitcnt vmcnt(0)\nds_write_b32 v2, v10";
    ONE.tells(Kind, &format!("{spill}ds_write_b32 v2, v10"), &[spill, &format!("{spill}{restore}")]);
}

#[test]
fn memory_that_nothing_has_written() {
    // Reads bytes next to those that were written, and uses only the value of lane 63.
    let read = "ds_write_b32 v2, v1\nds_read_b32 v5, v2 offset:4\ns_waitcnt lgkmcnt(0)\n";
    let dropped = "v_cmp_gt_u32 vcc, 63, v1\nv_cndmask_b32 v6, 0, v5, vcc\nglobal_store_dword v2, v6, s[4:5]";
    let finding = ONE.tells(
        FindingKind::UninitializedRegister,
        &format!("{read}global_store_dword v2, v5, s[4:5]"),
        &[
            read,
            &format!("{read}{dropped}"),
            "ds_write_b32 v2, v1\nds_read_b32 v5, v2",
            "ds_write_b32 v2, v1\nds_write_b32 v2, v1 offset:4\nds_read_b32 v5, v2 offset:4",
        ],
    );
    assert_eq!(finding.party.lane, Some(63));
    assert!(finding.remedy.ends_with("last at address 0x100"), "{}", finding.remedy);
    // Bytes are tracked separately.
    let used = |read: &str| {
        format!(
            "ds_write_b16 v4, v4\n{read} v5, v4 offset:1\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v2, v5, s[4:5]"
        )
    };
    ONE.tells(FindingKind::UninitializedRegister, &used("ds_read_u16"), &[&used("ds_read_u8")]);
    // An atomic operation leaves its result in LDS.
    ONE.tells(
        FindingKind::UninitializedLds,
        "ds_add_u32 v2, v1",
        &["ds_write_b32 v2, v1\nds_add_u32 v2, v1"],
    );
    let finding = ONE.tells(
        FindingKind::UninitializedMemory,
        "global_load_dword v5, v2, s[6:7]",
        &[
            "s_mov_b64 exec, 15\nglobal_load_dword v5, v2, s[6:7]",
            "global_store_dword v2, v1, s[6:7]\nglobal_load_dword v5, v2, s[6:7]",
            "global_load_dword v5, v2, s[4:5]",
        ],
    );
    assert_eq!(finding.party.lane, Some(4));
    ONE.tells(
        FindingKind::UninitializedMemory,
        "s_load_dword s8, s[6:7], 0x10",
        &["s_load_dword s8, s[6:7], 0xc"],
    );
}

#[test]
fn races_in_lds() {
    let apart = "v_add_u32 v5, 0, v4\n";
    let exchange =
        |between: &str| format!("ds_write_b32 v2, v1\ns_waitcnt lgkmcnt(0)\n{between}ds_read_b32 v5, v2\n");
    // Both waves write and read the same words.
    let found = TWO.kinds(&exchange("s_barrier\n"));
    assert_eq!(found, [FindingKind::SameValue], "the two waves write the same values");
    // Each wave writes its own half and reads the other wave's half.
    let halves = |between: &str| {
        format!(
            "v_lshlrev_b32 v6, 8, v3\nv_add_u32 v6, v6, v2\nv_xor_b32 v7, 0x100, v6\n{apart}ds_write_b32 v6, v1\ns_waitcnt lgkmcnt(0)\n{between}ds_read_b32 v5, v7\ns_waitcnt lgkmcnt(0)"
        )
    };
    let two = Case { checks: Sanitize::RACES, ..TWO };
    assert!(two.run(&halves("s_barrier\n")).is_empty());
    // The second wave writes what the first has read, and reads what the first has written.
    let found = two.run(&halves(""));
    let [write, race] = &found[..] else { panic!("{found:#?}") };
    assert!(write.party.site.text.starts_with("ds_write_b32"), "{write}");
    let other = race.other.clone().unwrap();
    assert_eq!((race.party.site.wave, other.site.wave), (1, 0));
    assert_eq!(other.access.unwrap().kind, AccessKind::Write);
    assert!(race.party.site.text.starts_with("ds_read_b32") && other.site.text.starts_with("ds_write_b32"));
    assert!(race.to_string().contains("the other is `ds_write_b32 v6, v1`"), "{race}");
    // Accesses to different bytes of a word are not a race, accesses to the same byte are; neither are reads, nor atomics among themselves.
    let byte =
        |factor: &str| format!("v_mul_u32_u24 v6, {factor}, v3\ns_mov_b64 exec, 1\nds_write_b8 v6, v3");
    two.tells(FindingKind::LdsRace, &byte("0"), &[&byte("1"), "ds_read_b32 v5, v2"]);
    two.tells(
        FindingKind::LdsRace,
        "s_cmp_eq_u32 s3, 0\ns_cbranch_scc1 other\nds_add_u32 v2, v1\ns_endpgm\nother:\nds_write_b32 v2, v1",
        &["ds_add_u32 v2, v1"],
    );
    // A write after a read, separated by a barrier; and a program with one barrier too few.
    let reuse = |second: &str| format!("{}\n{second}ds_write_b32 v6, v5", halves("s_barrier\n"));
    assert!(two.run(&reuse("s_barrier\n")).is_empty());
    assert_eq!(two.kinds(&reuse("")), [FindingKind::LdsRace; 2]);
}

/// On RDNA, a workgroup of 1,024 work-items has 32 waves. Each wave reads what the wave 16 numbers further has written.
#[test]
fn workgroups_of_32_waves() {
    let kinds = |between: &str| -> Vec<FindingKind> {
        let code = assemble(
            Target::GFX1100,
            &format!(
                "v_lshlrev_b32 v1, 2, v0\nds_store_b32 v1, v0\ns_waitcnt lgkmcnt(0)\n{between}v_xor_b32 v2, 0x800, v1\n\
                 ds_load_b32 v3, v2\ns_waitcnt lgkmcnt(0)\ns_endpgm"
            ),
        );
        let kernel = KernelState { lds_bytes: 4096, vgprs: 8, wave_size: WaveSize::W32, ..state() };
        let machine = Machine::new(Target::GFX1100, &code, kernel).unwrap();
        let options = Case { checks: Sanitize::RACES, ..ONE }.options();
        let stats = run(&machine, &mut Memory::new(), [1; 3], [1024, 1, 1], &[], &options).unwrap();
        stats.findings.iter().map(|f| f.kind).collect()
    };
    assert_eq!(kinds("s_barrier\n"), []);
    let races = kinds("");
    assert!(!races.is_empty() && races.iter().all(|kind| *kind == FindingKind::LdsRace), "{races:?}");
}

/// The findings about registers if a wave of 32 lanes runs `body` and stores `v2`; `v0` is the lane, and `v1` four times that.
fn kinds_in_32_lanes(target: Target, body: &str) -> Vec<FindingKind> {
    kinds_in_waves_of_32(target, Sanitize::REGISTERS, 1, body)
}

fn kinds_in_waves_of_32(target: Target, checks: Sanitize, waves: u32, body: &str) -> Vec<FindingKind> {
    let wait = if target >= Target::GFX1200 { "s_wait_kmcnt 0x0" } else { "s_waitcnt lgkmcnt(0)" };
    let text = format!(
        "s_load_b64 s[4:5], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\n{wait}\n{body}\n\
         global_store_b32 v1, v2, s[4:5]\ns_endpgm"
    );
    let kernel = KernelState { vgprs: 8, wave_size: WaveSize::W32, ..state() };
    let machine = Machine::new(target, &assemble(target, &text), kernel).unwrap();
    let mut memory = Memory::new();
    let kernarg = memory.alloc(0x100).to_le_bytes();
    let options = Case { checks, ..ONE }.options();
    let stats = run(&machine, &mut memory, [1; 3], [32 * waves, 1, 1], &kernarg, &options).unwrap();
    stats.findings.iter().map(|f| f.kind).collect()
}

/// In a wave of 32 lanes, the other half of the lanes, which some instructions name, does not exist.
#[test]
fn lanes_beyond_a_wave_of_32() {
    for target in [Target::GFX1100, Target::GFX1201] {
        let kinds = |body: &str| kinds_in_32_lanes(target, body);
        // The lane number is taken modulo the number of lanes.
        assert_eq!(kinds("v_readlane_b32 s6, v0, 33\nv_mov_b32 v2, s6"), [], "{target}");
        // The instruction does nothing: the old contents remain, defined or not.
        assert_eq!(kinds("v_mov_b32 v2, 1\nv_permlane64_b32 v2, v0"), [], "{target}");
        assert_eq!(kinds("v_permlane64_b32 v2, v0"), [FindingKind::UninitializedRegister], "{target}");
    }
}

/// The two operations of a VOPD instruction have nothing to do with each other.
#[test]
fn a_half_of_a_dual_instruction_is_undefined_by_its_own_sources() {
    for target in [Target::GFX1100, Target::GFX1201] {
        let kinds = |body: &str| kinds_in_32_lanes(target, body);
        assert_eq!(kinds("v_dual_mov_b32 v2, 0 :: v_dual_add_nc_u32 v3, 1, v5"), [], "{target}");
        assert_eq!(kinds("v_dual_mov_b32 v3, v5 :: v_dual_add_nc_u32 v2, 1, v0"), [], "{target}");
        let undefined = [FindingKind::UninitializedRegister];
        assert_eq!(kinds("v_dual_mov_b32 v3, 0 :: v_dual_add_nc_u32 v2, 1, v5"), undefined, "{target}");
        // Both halves read before either writes: the second one reads the undefined register that the first one defines.
        assert_eq!(kinds("v_dual_mov_b32 v5, 0 :: v_dual_add_nc_u32 v2, 1, v5"), undefined, "{target}");
    }
}

/// A lane's scratch is undefined until the lane writes it, like C's local arrays.
#[test]
fn scratch_that_nothing_has_written() {
    for target in [Target::GFX942, Target::GFX950] {
        let one = Case { target, ..ONE };
        let load = "scratch_load_dword v5, off, off offset:8\ns_waitcnt vmcnt(0)\n";
        let store = "global_store_dword v2, v5, s[4:5]";
        let finding = one.tells(
            FindingKind::UninitializedRegister,
            &format!("{load}{store}"),
            &[
                load,
                &format!("scratch_store_dword off, v1, off offset:8\n{load}{store}"),
                &format!("{load}v_and_b32 v5, 0, v5\n{store}"),
            ],
        );
        assert_eq!((finding.register.as_deref(), finding.party.lane), (Some("v5"), Some(0)));
        assert!(
            finding.remedy.ends_with("read scratch that nothing has written, last at address 0x8"),
            "{finding}"
        );
        // Lanes are tracked separately, and so are other words of the array.
        let lanes = format!(
            "s_mov_b64 exec, 15\nscratch_store_dword off, v1, off offset:8\ns_mov_b64 exec, -1\n{load}{store}"
        );
        assert_eq!(one.run(&lanes)[0].party.lane, Some(4));
        let beside = format!("scratch_store_dwordx2 off, v[2:3], off\n{load}{store}");
        assert_eq!(one.kinds(&beside), [FindingKind::UninitializedRegister]);
        // The load overwrites its own address.
        let index = format!("v_mov_b32 v5, 8\nscratch_load_dword v5, v5, off\ns_waitcnt vmcnt(0)\n{store}");
        assert_eq!(one.kinds(&index), [FindingKind::UninitializedRegister]);
        // A structure { int a; double b; } is copied including its padding, which nothing has written.
        let copy = |load: &str| {
            format!(
                "v_mov_b32 v3, 0\nscratch_store_dword off, v1, off\nscratch_store_dwordx2 off, v[2:3], off offset:8\n\
                 {load}\ns_waitcnt vmcnt(0)\nv_lshlrev_b32 v6, 4, v1\nglobal_store_dwordx4 v6, v[8:11], s[4:5]"
            )
        };
        one.tells(
            FindingKind::UninitializedRegister,
            &copy(
                "scratch_load_dword v9, off, off offset:4\nscratch_load_dword v8, off, off\n\
                   scratch_load_dwordx2 v[10:11], off, off offset:8",
            ),
            &[&copy("scratch_load_dwordx4 v[8:11], off, off")],
        );
        // A value that is undefined when it is written remains undefined in a copy.
        let spilled = "scratch_store_dwordx2 off, v[8:9], off\nv_mov_b32 v8, 0\nscratch_store_dword off, v8, off\n\
                       scratch_load_dwordx2 v[8:9], off, off\ns_waitcnt vmcnt(0)\nglobal_store_dword v2, v9, s[4:5]";
        assert_eq!(one.kinds(spilled), [FindingKind::UninitializedRegister]);
    }
}

/// A lane has as many bytes of scratch as the descriptor specifies: 16.
#[test]
fn accesses_beyond_a_lanes_scratch() {
    let store = |offset: u32| format!("v_mov_b32 v5, {offset}\nscratch_store_dword v5, v1, off");
    let finding = ONE.tells(FindingKind::OutOfBounds, &store(16), &[&store(12)]);
    let access = finding.party.access.unwrap();
    assert_eq!((access.kind, access.space, access.address), (AccessKind::Write, Space::Scratch, 16));
    assert_eq!(finding.allocation.unwrap().bytes, 16);
    let load = |offset: i32| {
        format!(
            "scratch_store_dword off, v1, off\nv_mov_b32 v5, 4\nscratch_load_dword v6, v5, off offset:{offset}"
        )
    };
    let negative = ONE.tells(FindingKind::OutOfBounds, &load(-8), &[&load(-4)]);
    assert_eq!(negative.party.access.unwrap().kind, AccessKind::Read);
    // Accesses scratch through its aperture in the flat address space.
    let flat = |offset: u32| {
        format!(
            "s_mov_b64 s[8:9], src_private_base\nv_mov_b32 v8, {offset}\nv_mov_b32 v9, s9\nflat_store_dword v[8:9], v1"
        )
    };
    ONE.tells(FindingKind::OutOfBounds, &flat(14), &[&flat(12)]);
}

/// A write to LDS for which no wait precedes a barrier is not ordered before other waves' accesses after the barrier.
#[test]
fn a_write_of_lds_may_be_late_until_it_is_waited_for() {
    let two = Case { checks: Sanitize::RACES, ..TWO };
    let body = |write: &str, behind: &str| {
        format!(
            "v_lshlrev_b32 v6, 8, v3\nv_add_u32 v6, v6, v2\nv_xor_b32 v7, 0x100, v6\n{write}\ns_barrier\n{behind}\n\
             s_waitcnt lgkmcnt(0)"
        )
    };
    let read = "ds_read_b32 v5, v7";
    let write = "ds_write_b32 v6, v1";
    let many = |wait: &str| {
        let others = "ds_write_b32 v6, v1 offset:512\n".repeat(16);
        format!("{write}\n{others}{wait}")
    };
    let good = [
        body(&format!("{write}\ns_waitcnt lgkmcnt(0)"), read),
        body(&format!("{write}\nds_write_b32 v6, v1 offset:512\ns_waitcnt lgkmcnt(1)"), read),
        body(write, &format!("s_waitcnt lgkmcnt(0)\ns_barrier\n{read}")),
        body(write, "ds_read_b32 v5, v6"),
        body("ds_add_u32 v6, v1", "ds_add_u32 v7, v1"),
        // lgkmcnt counts up to 15, so the seventeenth write does not issue before the first is complete.
        body(&many(""), read),
    ];
    let good: Vec<&str> = good.iter().map(String::as_str).collect();
    for bad in [
        body(write, read),
        body(write, &format!("s_waitcnt lgkmcnt(0)\n{read}")),
        body(write, &format!("s_barrier\n{read}")),
        body(write, "ds_add_u32 v7, v1"),
        body(&format!("{write}\nds_write_b32 v6, v1 offset:512\ns_waitcnt lgkmcnt(2)"), read),
    ] {
        let race = two.tells(FindingKind::LdsRace, &bad, &good);
        let other = race.other.unwrap();
        assert!(other.site.text.starts_with("ds_write_b32 v6"), "{other}");
        assert_ne!(other.site.wave, race.party.site.wave);
    }
}

/// LLVM AMDGPU guide, memory model: LDS operations of different waves can be reordered relative to each other, and `s_waitcnt lgkmcnt(0)`
/// orders them. A read that is outstanding at a barrier is not ordered before other waves' writes after the barrier.
#[test]
fn a_read_of_lds_may_be_late_until_it_is_waited_for() {
    let two = Case { checks: Sanitize::RACES, ..TWO };
    // Each wave reads the other wave's half, and writes its own half after the barrier.
    let body = |read: &str, behind: &str| {
        format!(
            "v_lshlrev_b32 v6, 8, v3\nv_add_u32 v6, v6, v2\nv_xor_b32 v7, 0x100, v6\nds_write_b32 v6, v1\n\
             s_waitcnt lgkmcnt(0)\ns_barrier\n{read}\ns_barrier\n{behind}\ns_waitcnt lgkmcnt(0)"
        )
    };
    let write = "ds_write_b32 v6, v4";
    let good = [
        body("ds_read_b32 v5, v7\ns_waitcnt lgkmcnt(0)", write),
        // The outstanding read is another one, of bytes that nobody writes.
        body("ds_read_b32 v5, v7\nds_read_b32 v8, v7 offset:512\ns_waitcnt lgkmcnt(1)", write),
        // The write comes after a second barrier, before which the read is complete.
        body("ds_read_b32 v5, v7", &format!("s_waitcnt lgkmcnt(0)\ns_barrier\n{write}")),
        // A write by the same wave is in order.
        body("ds_read_b32 v5, v6", write),
    ];
    let good: Vec<&str> = good.iter().map(String::as_str).collect();
    for bad in [
        body("ds_read_b32 v5, v7", write),
        body("ds_read_b32 v5, v7", &format!("s_waitcnt lgkmcnt(0)\n{write}")),
        body("ds_read_b32 v5, v7\nds_read_b32 v8, v7 offset:512\ns_waitcnt lgkmcnt(2)", write),
        body("ds_read_b32 v5, v7", &format!("s_barrier\n{write}")),
        body("ds_read_b32 v5, v7", "ds_add_u32 v6, v1"),
    ] {
        let race = two.tells(FindingKind::LdsRace, &bad, &good);
        let other = race.other.unwrap();
        assert!(other.site.text.starts_with("ds_read_b32 v5"), "{other}");
        assert_ne!(other.site.wave, race.party.site.wave);
    }
}

#[test]
fn races_in_global_memory_between_waves_and_workgroups() {
    let store = "v_add_u32 v9, s2, v1\nglobal_store_dword v2, v9, s[4:5]";
    let own = "s_lshl_b32 s8, s2, 8\ns_add_u32 s4, s4, s8\nglobal_store_dword v2, v1, s[4:5]";
    let groups = Case { grid: 2, checks: Sanitize::RACES, ..ONE };
    let race = groups.tells(FindingKind::GlobalRace, store, &[own, "global_load_dword v5, v2, s[4:5]"]);
    assert_eq!((race.party.site.workgroup, race.other.unwrap().site.workgroup), ([1, 0, 0], [0, 0, 0]));
    // Each party is reported with the bytes that it accesses: a word, of which the other party has stored a half.
    let apart = "s_cmp_eq_u32 s2, 0\ns_cbranch_scc0 reader\nv_add_u32 v2, 4, v2\nglobal_store_short v2, v1, s[4:5] offset:2\n\
                 s_endpgm\nreader:\nglobal_load_dword v10, v2, s[4:5] offset:4";
    let race = groups.tells(FindingKind::GlobalRace, apart, &[]);
    let (read, written) = (race.party.access.unwrap(), race.other.unwrap().access.unwrap());
    assert_eq!(
        (read.kind, read.bytes, written.kind, written.bytes),
        (AccessKind::Read, 4, AccessKind::Write, 2)
    );
    assert_eq!(written.address, read.address + 2);
    groups.tells(
        FindingKind::GlobalRace,
        &format!("{store}\ns_waitcnt vmcnt(0)\ns_barrier"),
        &["global_atomic_add v2, v1, s[4:5]"],
    );
    // Workgroup 0 writes data, then sets a flag atomically; workgroup 1 reads the flag, then the data.
    let message = |wait: &str, acquire: &str| {
        format!(
            "v_mov_b32 v6, 0x800
             v_mov_b32 v7, 1
             s_cmp_eq_u32 s2, 0
             s_cbranch_scc0 reader
             global_store_dword v2, v1, s[4:5]
             {wait}
             s_mov_b64 exec, 1
             global_atomic_add v6, v7, s[4:5]
             s_endpgm
             reader:
             {acquire}
             global_load_dword v9, v2, s[4:5]"
        )
    };
    let acquire = "global_atomic_add v8, v6, v4, s[4:5] sc0\ns_waitcnt vmcnt(0)\nbuffer_inv sc1";
    let release = "buffer_wbl2 sc1\ns_waitcnt vmcnt(0)";
    groups.tells(
        FindingKind::GlobalRace,
        &message(release, ""),
        &[
            &message(release, acquire),
            &message(release, "global_load_dword v8, v6, s[4:5] sc1\ns_waitcnt vmcnt(0)\nbuffer_inv sc1"),
        ],
    );
    // An atomic does not release stores that are still outstanding.
    groups.tells(FindingKind::NarrowScope, &message("", acquire), &[]);
    // Between waves of a workgroup, a barrier is sufficient.
    let waves = Case { waves: 2, grid: 1, checks: Sanitize::RACES, ..ONE };
    let turn = |between: &str| {
        format!(
            "s_cmp_eq_u32 s3, 0\ns_cbranch_scc0 second\nglobal_store_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nsecond:\n{between}\ns_cmp_eq_u32 s3, 0\ns_cbranch_scc1 done\nglobal_load_dword v5, v2, s[4:5]\ndone:"
        )
    };
    waves.tells(FindingKind::GlobalRace, &turn(""), &[&turn("s_barrier")]);
}

/// HIP and OpenCL do not define which lane's value remains.
#[test]
fn lanes_that_store_different_values_to_one_place() {
    let one = Case { checks: Sanitize::RACES, ..ONE };
    let found = one.tells(
        FindingKind::LaneRace,
        "global_store_dword v4, v1, s[4:5]",
        &[
            "global_store_dword v2, v1, s[4:5]",
            // Not errors: the same value, a single lane, an atomic store, an atomic operation.
            "global_store_dword v4, v4, s[4:5]",
            "s_mov_b64 exec, 8\nglobal_store_dword v4, v1, s[4:5]",
            "global_store_dword v4, v1, s[4:5] sc1",
            "global_atomic_add v4, v1, s[4:5]",
        ],
    );
    let lanes = (found.party.lane, found.other.and_then(|other| other.lane));
    assert_eq!(lanes, (Some(1), Some(0)), "the first two lanes that differ");
    one.tells(FindingKind::LaneRace, "ds_write_b32 v4, v1", &["ds_write_b32 v2, v1"]);
    // Addresses that overlap in part, and two addresses for all lanes.
    one.tells(
        FindingKind::LaneRace,
        "v_lshrrev_b32 v5, 1, v2\nglobal_store_dword v5, v1, s[4:5]",
        &["v_lshrrev_b32 v5, 1, v2\nglobal_store_short v5, v1, s[4:5]"],
    );
    one.tells(
        FindingKind::LaneRace,
        "v_and_b32 v5, 0x80, v2\nds_write_b32 v5, v1",
        &["v_and_b32 v6, 0x80, v2\nv_lshrrev_b32 v5, 5, v1\nds_write_b32 v6, v5"],
    );
}

/// Unordered stores of the same value are only a note, and a read that a compare-and-swap checks is only a guess.
#[test]
fn races_that_are_none() {
    let groups = Case { grid: 2, checks: Sanitize::RACES, ..ONE };
    let note = groups.tells(FindingKind::SameValue, "global_store_dword v2, v1, s[4:5]", &[]);
    assert!(note.kind.is_note() && !FindingKind::GlobalRace.is_note(), "{note}");
    // A note does not end the run.
    let code = assemble(Target::GFX942, &format!("{PROLOGUE}ds_write_b32 v2, v1\ns_endpgm"));
    let machine = Machine::new(Target::GFX942, &code, ONE.kernel()).unwrap();
    let mut memory = Memory::new();
    let buffers = [memory.alloc(64), 0].iter().flat_map(|a| a.to_le_bytes()).collect::<Vec<u8>>();
    let options = Options { findings: 0, sanitize: Sanitize::RACES, ..Options::default() };
    run(&machine, &mut memory, [1, 1, 1], [128, 1, 1], &buffers, &options).unwrap();
    // A loop as LLVM emits it for an atomic that the hardware lacks.
    let swap = |width: &str, new: &str, both: &str| {
        format!(
            "s_mov_b64 exec, 1\nglobal_load_dword{width} v[10:11], v4, s[4:5]\ns_waitcnt vmcnt(0)\n\
             v_add_u32 v8, 1, v10\nv_mov_b32 v9, v11\n{new}global_atomic_cmpswap{both}, s[4:5]"
        )
    };
    let loop_64 = swap("x2", "", "_x2 v4, v[8:11]");
    assert!(groups.run(&loop_64).is_empty());
    let loop_32 = swap("x2", "v_mov_b32 v9, v10\n", " v4, v[8:9]")
        .replace("dwordx2 v[10:11]", "dword v10")
        .replace("v_mov_b32 v9, v11\n", "");
    assert!(groups.run(&loop_32).is_empty());
    // A wave that only reads, without a compare-and-swap, reads a value that may change.
    let reader = "s_mov_b64 exec, 1\ns_cmp_eq_u32 s2, 0\ns_cbranch_scc1 reader\nv_mov_b32 v8, 1\nv_mov_b32 v9, 0\n\
                  global_atomic_cmpswap v4, v[8:9], s[4:5]\ns_endpgm\nreader:\nglobal_load_dword v9, v4, s[4:5]\ns_waitcnt vmcnt(0)";
    groups.tells(FindingKind::GlobalRace, reader, &[]);
}

/// Data that a load brings to LDS are visible to other waves after a wait and a barrier.
#[test]
fn loads_into_lds_happen_when_they_are_waited_for() {
    let two = Case { checks: Sanitize::RACES, ..TWO };
    let body = |wait: &str, offset: u32| {
        format!(
            "s_cmp_eq_u32 s3, 0\ns_cbranch_scc0 other\ns_mov_b32 m0, 0\ns_nop 0\nglobal_load_lds_dword v2, s[4:5]\n{wait}\ns_barrier\ns_endpgm\n\
             other:\ns_barrier\nds_read_b32 v5, v2 offset:{offset}\ns_waitcnt lgkmcnt(0)"
        )
    };
    let race =
        two.tells(FindingKind::LdsRace, &body("", 0), &[&body("s_waitcnt vmcnt(0)", 0), &body("", 512)]);
    assert!(race.other.unwrap().site.text.starts_with("global_load_lds_dword"));
}

/// Where arriving and waiting are separate instructions, a wave that has arrived may end, and one that has not arrived may not.
#[test]
fn split_barriers_that_do_not_meet() {
    let of_second = |arrive: &str| {
        format!(
            "v_readfirstlane_b32 s6, v0\ns_cmp_eq_u32 s6, 0\ns_cbranch_scc0 other\n\
             s_barrier_signal -1\ns_barrier_wait -1\ns_branch out\nother: {arrive}\nout: v_mov_b32 v2, 0"
        )
    };
    for target in [Target::GFX1201, Target::GFX1250] {
        let kinds = |arrive| kinds_in_waves_of_32(target, Sanitize::BARRIERS, 2, &of_second(arrive));
        assert_eq!(kinds("s_barrier_signal -1"), [], "{target}");
        assert_eq!(kinds("s_barrier_signal -1\ns_barrier_wait -1"), [], "{target}");
        assert_eq!(kinds("s_nop 0"), [FindingKind::DivergentBarrier], "{target}");
    }
}

#[test]
fn barriers_that_do_not_meet_and_deadlocks() {
    let split = "s_cmp_eq_u32 s3, 0\ns_cbranch_scc1 other\ns_barrier\ns_endpgm\nother:\ns_nop 0\n";
    let finding = TWO.tells(
        FindingKind::DivergentBarrier,
        split,
        // Waves at different `s_barrier` instructions release each other.
        &[&format!("{split}s_barrier")],
    );
    let other = finding.other.unwrap();
    assert_ne!(finding.party.site.offset, other.site.offset);
    assert_eq!((finding.party.site.wave, other.site.wave), (1, 0));
    // Wave 0 waits for a flag that wave 1 sets, or fails to set.
    let flag = |set: &str| {
        format!(
            "s_cmp_eq_u32 s3, 0
             s_cbranch_scc0 other
             spin:
             global_load_dword v5, v4, s[4:5] sc1
             s_waitcnt vmcnt(0)
             v_readfirstlane_b32 s8, v5
             s_cmp_eq_u32 s8, 0
             s_cbranch_scc1 spin
             s_barrier
             s_endpgm
             other:
             v_mov_b32 v6, 1
             s_mov_b64 exec, 1
             {set}
             s_barrier"
        )
    };
    let dead = Case { checks: Sanitize::DEADLOCK, ..TWO };
    let error = dead.try_run(&flag(""), BTreeMap::new()).unwrap_err();
    let SimError::Finding(finding) = &error else { panic!("{error}") };
    assert_eq!(finding.kind, FindingKind::Deadlock);
    assert_eq!(finding.other.as_ref().unwrap().site.text, "s_barrier");
    assert!(dead.run(&flag("global_atomic_add v4, v6, s[4:5]")).is_empty());
    // Neither a loop that counts for a long time nor one that waits for a clock is a deadlock.
    let count = "s_mov_b32 s8, 0x10000\nloop:\ns_sub_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc1 loop";
    let vector = "v_mov_b32 v5, 0\nloop:\nv_add_u32 v5, 1, v5\nv_cmp_gt_u32 vcc, 0x8000, v5\ns_nop 4\ns_cbranch_vccnz loop";
    assert!(dead.run(count).is_empty() && dead.run(vector).is_empty());
}

/// Stores by a waiting wave are not progress if memory does not change: local variables in scratch at -O0, the same value again, a lock
/// that the wave does not get.
#[test]
fn waves_that_wait_may_store() {
    let one = Case { checks: Sanitize::DEADLOCK, ..ONE };
    let wait = |trip: &str| {
        format!(
            "v_mov_b32 v6, 1\nv_mov_b32 v7, 0\nspin:\nglobal_load_dword v5, v4, s[4:5] sc1\ns_waitcnt vmcnt(0)\n{trip}\n\
             v_readfirstlane_b32 s8, v5\ns_cmp_eq_u32 s8, 0\ns_cbranch_scc1 spin"
        )
    };
    for trip in [
        "scratch_store_dword off, v5, off\nscratch_load_dword v5, off, off\ns_waitcnt vmcnt(0)",
        "ds_write_b32 v2, v1",
        "global_store_dword v2, v1, s[4:5] offset:64",
        "ds_cmpst_rtn_b32 v8, v4, v6, v7\ns_waitcnt lgkmcnt(0)",
        "global_atomic_or v8, v4, v7, s[4:5] offset:64 sc0\ns_waitcnt vmcnt(0)",
    ] {
        let error = one.try_run(&wait(trip), BTreeMap::new()).unwrap_err();
        let SimError::Finding(finding) = &error else { panic!("{trip}: {error}") };
        assert_eq!(finding.kind, FindingKind::Deadlock, "{trip}");
    }
    // A counter is progress, wherever it is stored.
    for trip in [
        "scratch_load_dword v9, off, off\ns_waitcnt vmcnt(0)\nv_add_u32 v9, 1, v9\nscratch_store_dword off, v9, off\n\
         v_cmp_lt_u32 vcc, 0x4000, v9\nv_cndmask_b32 v5, 0, v6, vcc\ns_nop 4",
        "ds_add_rtn_u32 v9, v4, v6\ns_waitcnt lgkmcnt(0)\nv_cmp_lt_u32 vcc, 0x80000, v9\nv_cndmask_b32 v5, 0, v6, vcc\ns_nop 4",
    ] {
        assert!(one.run(&wait(trip)).is_empty(), "{trip}");
    }
}

/// A kernel whose waves store the same value in many places gets a single note.
#[test]
fn notes_are_one_line() {
    let groups = Case { grid: 2, checks: Sanitize::RACES, ..ONE };
    let store = |n: u32| format!("global_store_dword v2, v1, s[4:5] offset:{}\n", 256 * n);
    let note = |count: u32| {
        let body: String = (0..count).map(store).collect();
        let found = groups.run(&body);
        assert_eq!(found.iter().map(|f| f.kind).collect::<Vec<_>>(), [FindingKind::SameValue]);
        found[0].remedy.clone()
    };
    assert_eq!(note(1), "the result is the same in any order");
    assert_eq!(note(2), "the result is the same in any order; 1 other pair of instructions does so");
    assert_eq!(note(12), "the result is the same in any order; 11 other pairs of instructions do so");
}

#[test]
fn the_first_finding_ends_the_run_unless_some_are_kept() {
    let body = "ds_write_b32 v2, v9\nds_write_b32 v2, v10\nds_write_b32 v2, v11";
    assert_eq!(ONE.run(body).len(), 3);
    let code = assemble(Target::GFX942, &format!("{PROLOGUE}{body}\ns_endpgm"));
    let machine = Machine::new(Target::GFX942, &code, ONE.kernel()).unwrap();
    let mut memory = Memory::new();
    let buffers = [memory.alloc(64), 0].iter().flat_map(|a| a.to_le_bytes()).collect::<Vec<u8>>();
    let mut with = |findings| {
        let options = Options { findings, ..ONE.options() };
        run(&machine, &mut memory, [1, 1, 1], [64, 1, 1], &buffers, &options)
    };
    assert_eq!(with(2).unwrap().findings.len(), 2);
    let error = with(0).unwrap_err();
    assert!(matches!(&error, SimError::Finding(f) if f.register.as_deref() == Some("v9")), "{error}");
}

#[test]
fn reports_name_source_lines_and_are_data() {
    let lines = BTreeMap::from([(0, "kernel.cl:3".to_owned()), (0x34, "kernel.cl:9".to_owned())]);
    let found = ONE.try_run("ds_write_b32 v2, v9", lines).unwrap();
    let line = found[0].party.site.line.as_deref();
    let expected = if found[0].party.site.offset < 0x34 { "kernel.cl:3" } else { "kernel.cl:9" };
    assert_eq!(line, Some(expected));
    assert!(found[0].to_string().contains(expected));
    let json = serde_json::to_value(&found[0]).unwrap();
    assert_eq!(json["kind"], "uninitialized-register");
    assert_eq!((&json["register"], &json["party"]["lane"]), (&"v9".into(), &0.into()));
}

/// Prints how much slower each mode is than functional mode. Run with `cargo test -p gcn-sim-tests --test it slow_down -- --ignored
/// --nocapture`.
#[test]
#[ignore = "a measurement"]
fn slow_down_of_each_mode() {
    let bodies = [
        (
            "integer",
            "v_add_u32 v5, v1, v2\nv_lshl_add_u32 v6, v5, 2, v2\nv_and_b32 v7, v6, v5\nv_mul_lo_u32 v8, v7, v6\n",
        ),
        ("lds", "ds_write_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nds_read_b32 v5, v2\ns_waitcnt lgkmcnt(0)\n"),
        (
            "global",
            "global_store_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nglobal_load_dword v5, v2, s[4:5]\ns_waitcnt vmcnt(0)\n",
        ),
        ("matrix", "v_mfma_f32_32x32x8_f16 a[0:15], v[10:11], v[12:13], a[0:15]\n"),
    ];
    let modes = [
        ("strict", Options::strict()),
        ("faithful", Options::faithful()),
        ("accesses", Options { sanitize: Sanitize::ACCESSES, findings: 9, ..Options::default() }),
        ("registers", Options { sanitize: Sanitize::REGISTERS, findings: 9, ..Options::default() }),
        (
            "lds+memory",
            Options { sanitize: Sanitize::LDS | Sanitize::MEMORY, findings: 9, ..Options::default() },
        ),
        ("races", Options { sanitize: Sanitize::RACES, findings: 9, ..Options::default() }),
        ("deadlock", Options { sanitize: Sanitize::DEADLOCK, findings: 9, ..Options::default() }),
        ("all sanitizers", Options { sanitize: Sanitize::all(), findings: 9, ..Options::default() }),
    ];
    for (name, body) in bodies {
        let text = format!(
            "{PROLOGUE}v_mov_b32 v10, 0\nv_mov_b32 v11, 0\nv_mov_b32 v12, 0\nv_mov_b32 v13, 0\ns_nop 4\ns_mov_b32 s8, 500\nloop:\n{}s_sub_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc1 loop\ns_endpgm",
            body.repeat(8)
        );
        let machine = Machine::new(Target::GFX942, &assemble(Target::GFX942, &text), ONE.kernel()).unwrap();
        let time = |options: &Options| {
            let mut memory = Memory::new();
            let buffer = memory.alloc(4096);
            let kernarg: Vec<u8> = [buffer, buffer].iter().flat_map(|a| a.to_le_bytes()).collect();
            let one = || {
                let start = std::time::Instant::now();
                run(&machine, &mut memory, [1, 1, 1], [64, 1, 1], &kernarg, options)
                    .expect("the kernel runs");
                start.elapsed().as_secs_f64()
            };
            std::iter::repeat_with(one).take(5).fold(f64::MAX, f64::min)
        };
        let functional = time(&Options::default());
        let rest = modes.map(|(mode, options)| format!("{mode} {:.1}x", time(&options) / functional));
        println!("{name}: functional {:.2} ms; {}", functional * 1e3, rest.join(", "));
    }
}

/// VGPR indexing and relative moves access the register that the index selects.
#[test]
fn registers_that_an_index_reaches() {
    let read = |index: u32| {
        format!(
            "v_mov_b32 v8, 1\ns_set_gpr_idx_on {index}, gpr_idx(SRC0)\nv_add_u32 v9, v5, v1\ns_set_gpr_idx_off\nds_write_b32 v2, v9"
        )
    };
    let finding = ONE.tells(FindingKind::UninitializedRegister, &read(2), &[&read(3)]);
    assert_eq!(finding.register.as_deref(), Some("v9"));
    // A write through an index defines that register only.
    let write = |index: u32| {
        format!(
            "s_set_gpr_idx_on {index}, gpr_idx(DST)\nv_mov_b32 v6, 1\ns_set_gpr_idx_off\nv_add_u32 v9, v8, v1\nds_write_b32 v2, v9"
        )
    };
    ONE.tells(FindingKind::UninitializedRegister, &write(1), &[&write(2)]);
    let moved = |m0: u32| {
        format!(
            "s_mov_b32 m0, {m0}\ns_nop 0\ns_movreld_b32 s16, s4\ns_add_u32 s20, s18, s4\nv_mov_b32 v9, s20\nds_write_b32 v2, v9"
        )
    };
    ONE.tells(FindingKind::UninitializedRegister, &moved(1), &[&moved(2)]);
}
