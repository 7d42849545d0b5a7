//! Small whole kernels: control flow, workgroups, barriers, initial state, and errors that stop a kernel.

mod launch;
mod triton;

use gcn_isa::Target;
use gcn_sim::{KernelState, LaunchError, Machine, Memory, Options, SimError, UserSgprs, run};

use super::harness::{Kernel, assemble, state, words};

fn kernel(target: Target, text: &str) -> Kernel {
    Kernel { target, state: state(), text: text.to_owned() }
}

/// Computes the address of the work-item's dword in the buffer at s[4:5] to v2, for workgroups of 64 in x.
const PROLOGUE: &str = "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_lshl_b32 s6, s2, 6\nv_add_u32 v1, s6, v0\nv_lshlrev_b32 v2, 2, v1\ns_waitcnt lgkmcnt(0)\n";

fn run_on(
    kernel: &Kernel,
    input: &[u32],
    grid: u32,
    size: [u32; 3],
    options: &Options,
) -> Result<Vec<u32>, SimError> {
    let mut memory = Memory::new();
    let buffer = memory.alloc(input.len() * 4);
    memory.write(buffer, &super::harness::bytes(input))?;
    kernel.run(&mut memory, [grid, 1, 1], size, &[buffer, input.len() as u64], options)?;
    Ok(words(&memory.read(buffer, input.len() * 4)?))
}

#[test]
fn a_divergent_loop_counts_collatz_steps() {
    // Lanes leave the loop one by one.
    let text = format!(
        "{PROLOGUE}global_load_dword v3, v2, s[4:5]\nv_mov_b32 v4, 0\ns_mov_b64 s[8:9], exec\ns_waitcnt vmcnt(0)
         loop: v_cmp_lt_u32 vcc, 1, v3\ns_and_b64 exec, exec, vcc\ns_cbranch_execz done
         v_and_b32 v5, 1, v3\nv_lshrrev_b32 v6, 1, v3\nv_mul_lo_u32 v7, v3, 3\nv_add_u32 v7, 1, v7\nv_cmp_eq_u32 vcc, 1, v5
         v_cndmask_b32 v3, v6, v7, vcc\nv_add_u32 v4, 1, v4\ns_branch loop
         done: s_mov_b64 exec, s[8:9]\nglobal_store_dword v2, v4, s[4:5]\ns_endpgm"
    );
    let input: Vec<u32> = (1..=256).collect();
    let expected: Vec<u32> = input
        .iter()
        .map(|&n| {
            std::iter::successors(Some(n), |&n| (n > 1).then(|| if n % 2 == 0 { n / 2 } else { 3 * n + 1 }))
                .count() as u32
                - 1
        })
        .collect();
    for target in [Target::GFX90A, Target::GFX942] {
        let out = run_on(&kernel(target, &text), &input, 4, [64, 1, 1], &Options::default()).unwrap();
        assert_eq!(out, expected);
    }
}

#[test]
fn both_sides_of_a_divergent_if() {
    let text = format!(
        "{PROLOGUE}global_load_dword v3, v2, s[4:5]\ns_waitcnt vmcnt(0)\nv_cmp_gt_i32 vcc, 0, v3\ns_and_saveexec_b64 s[8:9], vcc
         s_cbranch_execz else\nv_sub_u32 v3, 0, v3
         else: s_xor_b64 exec, exec, s[8:9]\ns_cbranch_execz end\nv_lshlrev_b32 v3, 1, v3
         end: s_or_b64 exec, exec, s[8:9]\nglobal_store_dword v2, v3, s[4:5]\ns_endpgm"
    );
    for input in [
        vec![5u32; 64],
        vec![-7i32 as u32; 64],
        (0..64).map(|i| if i % 3 == 0 { -i as u32 } else { i as u32 }).collect(),
    ] {
        let out = run_on(&kernel(Target::GFX942, &text), &input, 1, [64, 1, 1], &Options::default()).unwrap();
        let expected: Vec<u32> =
            input.iter().map(|&x| if (x as i32) < 0 { x.wrapping_neg() } else { 2 * x }).collect();
        assert_eq!(out, expected);
    }
}

/// A workgroup of four waves reverses the order of its 256 dwords through LDS.
const REVERSE: &str = "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_lshl_b32 s6, s2, 10\nv_lshlrev_b32 v1, 2, v0\nv_add_u32 v2, s6, v1\ns_waitcnt lgkmcnt(0)
     global_load_dword v3, v2, s[4:5]\nv_sub_u32 v4, 0x3fc, v1\ns_waitcnt vmcnt(0)\nds_write_b32 v4, v3\ns_waitcnt lgkmcnt(0)
     s_barrier\nds_read_b32 v5, v1\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v2, v5, s[4:5]\ns_endpgm";

#[test]
fn waves_exchange_data_through_lds() {
    let mut kernel = kernel(Target::GFX90A, REVERSE);
    kernel.state.lds_bytes = 1024;
    let input: Vec<u32> = (0..1024).map(|i| i * 7 + 1).collect();
    let expected: Vec<u32> =
        input.chunks(256).flat_map(|c| c.iter().rev().copied().collect::<Vec<_>>()).collect();
    for options in [Options::default(), Options::strict(), Options { parallel: true, ..Options::default() }] {
        assert_eq!(run_on(&kernel, &input, 4, [256, 1, 1], &options).unwrap(), expected);
    }
}

#[test]
fn work_item_ids_are_packed_or_not_and_partial_waves_masked() {
    // 5 x 3 x 2 work-items; each stores its packed ID at its flat number.
    let state = KernelState { workitem_id: 2, workgroup_id: [true, true, true], ..state() };
    let packed = "s_load_dwordx2 s[6:7], s[0:1], 0x0\nv_bfe_u32 v1, v0, 10, 10\nv_bfe_u32 v2, v0, 20, 10\nv_and_b32 v3, 0x3ff, v0\nv_mul_u32_u24 v4, 15, v2\nv_mul_u32_u24 v5, 5, v1\nv_add3_u32 v4, v4, v5, v3\ns_mul_i32 s8, s4, 120\nv_lshlrev_b32 v4, 2, v4\nv_add_u32 v4, s8, v4\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v4, v0, s[6:7]\ns_endpgm";
    let plain = "s_load_dwordx2 s[6:7], s[0:1], 0x0\nv_mul_u32_u24 v4, 15, v2\nv_mul_u32_u24 v5, 5, v1\nv_add3_u32 v4, v4, v5, v0\ns_mul_i32 s8, s4, 120\nv_lshlrev_b32 v4, 2, v4\nv_add_u32 v4, s8, v4\nv_lshl_or_b32 v0, v1, 10, v0\nv_lshl_or_b32 v0, v2, 20, v0\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v4, v0, s[6:7]\ns_endpgm";
    for (target, text, agprs) in [(Target::GFX942, packed, 256), (Target::GFX900, &plain.replace("v4, v0, s[6:7]", "v[4:5], v0, off").replace("s_waitcnt", "s_waitcnt lgkmcnt(0)\nv_mov_b32 v5, s7\nv_add_co_u32 v4, vcc, s6, v4\nv_addc_co_u32 v5, vcc, 0, v5, vcc\ns_waitcnt")[..], 0)] {
        let kernel = Kernel { target, state: KernelState { agprs, ..state.clone() }, text: text.to_owned() };
        let mut memory = Memory::new();
        let buffer = memory.alloc(2 * 30 * 4);
        let stats = kernel.run(&mut memory, [1, 1, 2], [5, 3, 2], &[buffer], &Options::default()).unwrap();
        assert_eq!(stats.waves, 2);
        let out = words(&memory.read(buffer, 240).unwrap());
        for (i, id) in out.iter().enumerate() {
            let i = i as u32 % 30;
            assert_eq!(*id, (i % 5) | ((i / 5 % 3) << 10) | (i / 15) << 20, "{target}");
        }
    }
}

#[test]
fn initial_sgprs_hold_what_the_descriptor_asks_for() {
    let user = UserSgprs {
        dispatch_ptr: true,
        kernarg_segment_ptr: true,
        dispatch_id: true,
        private_segment_size: true,
        ..UserSgprs::default()
    };
    let state = KernelState {
        user_sgprs: user,
        user_sgpr_count: 8,
        workgroup_id: [true, false, true],
        workgroup_info: true,
        private_bytes: 48,
        ..state()
    };
    // s[0:1] dispatch packet, s[2:3] kernarg, s[4:5] dispatch ID, s6 scratch size, s7 padding, s8 and s9 workgroup IDs, s10 number of
    // waves.
    let text = "s_load_dwordx2 s[12:13], s[2:3], 0x0\ns_load_dwordx4 s[16:19], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v1, 0\nv_mov_b32 v2, s6\nv_mov_b32 v3, s8\nv_mov_b32 v4, s9\nv_mov_b32 v5, s10\nglobal_store_dwordx4 v1, v[2:5], s[12:13]\nv_mov_b32 v2, s17\nv_mov_b32 v3, s19\nglobal_store_dwordx2 v1, v[2:3], s[12:13] offset:16\ns_endpgm";
    let kernel = Kernel { target: Target::GFX942, state, text: text.to_owned() };
    let mut memory = Memory::new();
    let buffer = memory.alloc(64);
    kernel.run(&mut memory, [3, 1, 5], [100, 2, 1], &[buffer], &Options::default()).unwrap();
    // The packet: workgroup sizes 100 and 2 at bytes 4 and 6, grid size x in work-items at byte 12.
    assert_eq!(words(&memory.read(buffer, 24).unwrap()), [48, 2, 4, 4, 100 | 2 << 16, 300]);
}

#[test]
fn calls_return_through_the_program_counter() {
    let text = format!(
        "{PROLOGUE}global_load_dword v3, v2, s[4:5]\ns_waitcnt vmcnt(0)\ns_getpc_b64 s[10:11]\nhere: s_add_u32 s10, s10, 24\ns_addc_u32 s11, s11, 0
         s_swappc_b64 s[12:13], s[10:11]\nglobal_store_dword v2, v3, s[4:5]\ns_endpgm\ndouble: v_lshlrev_b32 v3, 1, v3\ns_setpc_b64 s[12:13]"
    );
    let out = run_on(&kernel(Target::GFX942, &text), &[21; 64], 1, [64, 1, 1], &Options::default()).unwrap();
    assert_eq!(out, [42; 64]);
}

#[test]
fn workgroups_in_parallel_count_together() {
    let text = "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mov_b32 v1, 0\nv_mov_b32 v2, 1\ns_waitcnt lgkmcnt(0)\nglobal_atomic_add v1, v2, s[4:5]\nv_mov_b32 v3, 0\nglobal_atomic_add_x2 v1, v[2:3], s[4:5] offset:8\ns_endpgm";
    let options = Options { parallel: true, ..Options::default() };
    let mut memory = Memory::new();
    let buffer = memory.alloc(16);
    let stats =
        kernel(Target::GFX942, text).run(&mut memory, [50, 2, 1], [128, 1, 1], &[buffer], &options).unwrap();
    assert_eq!(words(&memory.read(buffer, 16).unwrap()), [12_800, 0, 12_800, 0]);
    assert_eq!((stats.waves, stats.wave_instructions), (200, 200 * 8));
    assert_eq!(stats.by_class[0].1, 600);
}

/// The maximum number of work-items in a dimension, which would take minutes one after the other.
#[test]
fn kernels_that_do_nothing_are_counted() {
    let mut memory = Memory::new();
    let grid = [u32::MAX / 1024, 1, 1];
    let stats = kernel(Target::GFX942, "s_endpgm")
        .run(&mut memory, grid, [1024, 1, 1], &[], &Options::default())
        .unwrap();
    let waves = u64::from(grid[0]) * 16;
    assert_eq!((stats.waves, stats.wave_instructions), (waves, waves));
}

#[test]
fn of_several_errors_the_first_workgroup_is_reported() {
    // Workgroups from number 10 on write past the end of the buffer.
    let text = format!("{PROLOGUE}global_store_dword v2, v1, s[4:5]\ns_endpgm");
    let options = Options { parallel: true, ..Options::default() };
    for _ in 0..10 {
        let error = run_on(&kernel(Target::GFX942, &text), &[0; 640], 64, [64, 1, 1], &options).unwrap_err();
        let SimError::OutOfBounds(oob) = error else { panic!("{error}") };
        assert_eq!((oob.site.workgroup, oob.lane), ([10, 0, 0], Some(0)));
    }
}

#[test]
fn waves_wait_for_each_other_through_lds() {
    // Wave 1 loops until wave 0, whose turn comes later, sets a flag.
    let text = "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mov_b32 v1, 0\nv_readfirstlane_b32 s6, v0\ns_cmp_eq_u32 s6, 0\ns_cbranch_scc0 set
        spin: ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nv_readfirstlane_b32 s7, v2\ns_cmp_eq_u32 s7, 5\ns_cbranch_scc0 spin\nglobal_store_dword v1, v2, s[4:5]\ns_endpgm
        set: v_mov_b32 v2, 5\nds_write_b32 v1, v2\ns_endpgm";
    let mut kernel = kernel(Target::GFX90A, text);
    kernel.state.lds_bytes = 64;
    assert_eq!(run_on(&kernel, &[0; 4], 1, [128, 1, 1], &Options::default()).unwrap()[0], 5);
}

#[test]
fn barriers_must_be_met_by_every_wave_in_strict_mode() {
    let early_exit =
        "v_readfirstlane_b32 s4, v0\ns_cmp_eq_u32 s4, 0\ns_cbranch_scc1 out\ns_barrier\nout: s_endpgm";
    let result = run_on(&kernel(Target::GFX942, early_exit), &[0; 1], 1, [256, 1, 1], &Options::default());
    assert!(result.is_ok(), "the hardware does not count ended waves");
    let error =
        run_on(&kernel(Target::GFX942, early_exit), &[0; 1], 1, [256, 1, 1], &Options::strict()).unwrap_err();
    assert!(
        matches!(error, SimError::DivergentBarrier { ref waves, .. } if waves[0] == "wave 0 has ended" && waves[3] == "wave 3 waits at `s_barrier` at offset 0xc"),
        "{error}"
    );
    let split = early_exit.replace("s_barrier", "s_barrier_signal -1\ns_barrier_wait -1");
    for target in [Target::GFX1201, Target::GFX1250] {
        let run = |options: Options| run_on(&kernel(target, &split), &[0; 1], 1, [256, 1, 1], &options);
        assert!(run(Options::default()).is_ok(), "{target}");
        let error = run(Options::strict()).unwrap_err();
        assert!(matches!(error, SimError::DivergentBarrier { .. }), "{target}: {error}");
    }
}

/// M0 selects the scalar register that a relative move writes (RDNA ISA documents, SOP1).
#[test]
fn relative_moves_write_scalar_registers_on_rdna() {
    let of = |[load, store, wait]: [&str; 3]| {
        let stores: String = (24..28)
            .map(|s| format!("v_mov_b32 v2, s{s}\n{store} v1, v2, s[4:5] offset:{}\n", 4 * (s - 24)))
            .collect();
        format!(
            "{load} s[4:5], s[0:1], 0x0\ns_mov_b32 s18, 3\ns_mov_b32 s19, 4\ns_mov_b32 m0, 2\n\
             s_movreld_b64 s[22:23], s[18:19]\ns_movreld_b32 s24, s19\ns_mov_b32 m0, 0\n\
             s_movreld_b32 s27, s18\nv_mov_b32 v1, 0\n{wait}\n{stores}s_endpgm"
        )
    };
    let gfx10 = ["s_load_dwordx2", "global_store_dword", "s_waitcnt lgkmcnt(0)"];
    let gfx11 = ["s_load_b64", "global_store_b32", "s_waitcnt lgkmcnt(0)"];
    let gfx12 = ["s_load_b64", "global_store_b32", "s_wait_kmcnt 0x0"];
    let list = [
        (Target::GFX1010, gfx10),
        (Target::GFX1030, gfx10),
        (Target::GFX1100, gfx11),
        (Target::GFX1201, gfx12),
        (Target::GFX1250, gfx12),
    ];
    for (target, spelled) in list {
        let out = run_on(&kernel(target, &of(spelled)), &[0; 4], 1, [32, 1, 1], &Options::default());
        assert_eq!(out.unwrap(), [3, 4, 4, 3], "{target}");
    }
}

#[test]
fn endless_loops_hit_the_limit() {
    let error = run_on(
        &kernel(Target::GFX942, "s_nop 0\nspin: s_branch spin"),
        &[0; 1],
        1,
        [64, 1, 1],
        &Options { max_instructions: 1000, ..Options::default() },
    )
    .unwrap_err();
    assert!(
        matches!(error, SimError::InstructionLimit { limit: 1000, ref site } if site.offset == 4),
        "{error}"
    );
}

#[test]
fn bad_code_is_refused_when_it_is_loaded() {
    let good = assemble(Target::GFX942, "s_nop 0\ns_endpgm");
    let mut bad = good[..4].to_vec();
    bad.extend([0xff; 8]);
    assert!(matches!(Machine::new(Target::GFX942, &bad, state()), Err(SimError::Decode { offset: 4, .. })));
    // Any bytes may follow the end of the program.
    let mut padded = good;
    padded.extend([0xff; 8]);
    assert_eq!(Machine::new(Target::GFX942, &padded, state()).unwrap().len(), 2);

    let few = KernelState { vgprs: 8, agprs: 0, sgprs: 16, ..state() };
    let load = |text: &str| Machine::new(Target::GFX942, &assemble(Target::GFX942, text), few.clone());
    let error = load("v_mov_b32 v8, 0\ns_endpgm").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`v_mov_b32_e32 v8, 0` at offset 0x0 names v8, but the kernel descriptor allocates only 8 of them; raise the descriptor's count"
    );
    assert!(matches!(
        load("v_accvgpr_write_b32 a0, 0\ns_endpgm"),
        Err(SimError::Register { allocated: 0, .. })
    ));
    assert!(matches!(
        load("s_nop 0\ns_mov_b64 s[16:17], vcc\ns_endpgm"),
        Err(SimError::Register { offset: 4, allocated: 16, .. })
    ));
    assert!(load("v_mov_b32 v7, 0\ns_mov_b64 vcc, s[14:15]\ns_endpgm").is_ok());
}

/// Tests `llvm.debugtrap` (LLVM AMDGPU guide, "Trap Handler ABI").
#[test]
fn the_breakpoint_without_a_debugger_does_nothing() {
    for target in Target::REPRESENTATIVES {
        let machine = kernel(target, "s_trap 3\ns_endpgm");
        run_on(&machine, &[0; 1], 1, [64, 1, 1], &Options::default()).unwrap();
    }
}

#[test]
fn running_off_the_code_and_wild_jumps_are_errors() {
    let run = |text: &str| {
        run_on(&kernel(Target::GFX942, text), &[0; 1], 1, [64, 1, 1], &Options::default()).unwrap_err()
    };
    assert!(matches!(run("s_nop 0"), SimError::BadBranch { .. }));
    assert!(matches!(
        run("s_mov_b64 s[4:5], 64\ns_setpc_b64 s[4:5]"),
        SimError::BadBranch { target: 64, .. }
    ));
    assert!(matches!(run("s_trap 2\ns_endpgm"), SimError::Trap { id: 2, .. }));
    assert!(matches!(
        run("s_getreg_b32 s4, hwreg(HW_REG_GPR_ALLOC)\ns_endpgm"),
        SimError::Unsupported { offset: 0, .. }
    ));
}

#[test]
fn impossible_launches_are_refused() {
    let machine = Machine::new(Target::GFX942, &assemble(Target::GFX942, "s_endpgm"), state()).unwrap();
    let mut memory = Memory::new();
    let mut launch = |grid, size| run(&machine, &mut memory, grid, size, &[], &Options::default());
    assert_eq!(launch([1, 0, 1], [64, 1, 1]), Err(SimError::Launch(LaunchError::EmptyGrid([1, 0, 1]))));
    assert_eq!(
        launch([1, 1, 1], [1025, 1, 1]),
        Err(SimError::Launch(LaunchError::WorkgroupSize([1025, 1, 1])))
    );
    assert_eq!(launch([1, 1, 1], [64, 0, 1]), Err(SimError::Launch(LaunchError::WorkgroupSize([64, 0, 1]))));
    assert_eq!(
        launch([1, 1, 1], [1 << 31, 2, 1]),
        Err(SimError::Launch(LaunchError::WorkgroupSize([1 << 31, 2, 1])))
    );
    assert!(launch([2, 2, 2], [1024, 1, 1]).is_ok());
    let large = KernelState { lds_bytes: 65_540, ..state() };
    let machine = Machine::new(Target::GFX942, &assemble(Target::GFX942, "s_endpgm"), large).unwrap();
    let error = run(&machine, &mut memory, [1, 1, 1], [64, 1, 1], &[], &Options::default()).unwrap_err();
    assert_eq!(error, SimError::Launch(LaunchError::Lds { asked: 65_540, available: 65_536 }));
}
