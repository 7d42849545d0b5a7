//! Registers selected by an index: the effect of instructions, strict and faithful mode, the sanitizer, and random programs for every
//! index.

use gcn_emit::text::{Comments, parse_program, print_program};
use gcn_isa::counters::WaitCnt;
use gcn_isa::wait::{WaitOptions, insert_waits};
use gcn_isa::{Class, Operand, Program, Target};
use gcn_sim::{KernelState, Memory, Options, SimError, Stats};
use gcn_test_support::Random;

use super::harness::{Case, Kernel, state};

/// MI100 ISA 6.6.2: the destination's bit also applies to a destination that is read, and the last operand of `v_madmk` counts as source 2.
#[test]
fn each_bit_moves_its_operand() {
    let case = Case::new(Target::GFX908).v(1, [1; 64]).v(2, [20; 64]).v(3, [300; 64]).v(4, [4000; 64]);
    let run = |mask: &str, inst: &str, result: usize| {
        let body = format!("s_set_gpr_idx_on 1, gpr_idx({mask})\n{inst}\ns_set_gpr_idx_off");
        case.run(&body).v(result)[7]
    };
    assert_eq!(run("SRC0", "v_add_u32 v10, v1, v2", 10), 40);
    assert_eq!(run("SRC1", "v_add_u32 v10, v1, v2", 10), 301);
    assert_eq!(run("DST", "v_add_u32 v10, v1, v2", 11), 21);
    assert_eq!(run("SRC2", "v_add3_u32 v10, v1, v2, v3", 10), 4021);
    assert_eq!(run("SRC0,SRC1,SRC2,DST", "v_add3_u32 v10, v1, v2, v3", 11), 4320);
    let float = |v: u32| f32::from_bits(v);
    let case = Case::new(Target::GFX908)
        .v(1, [1f32.to_bits(); 64])
        .v(2, [20f32.to_bits(); 64])
        .v(3, [300f32.to_bits(); 64]);
    let run = |mask: &str, inst: &str, result: usize| {
        let body = format!("s_set_gpr_idx_on 1, gpr_idx({mask})\n{inst}\ns_set_gpr_idx_off");
        float(case.run(&body).v(result)[7])
    };
    assert_eq!(run("SRC2", "v_madmk_f32 v10, v1, 0x40000000, v2", 10), 302.0);
    assert_eq!(run("SRC1", "v_madmk_f32 v10, v1, 0x40000000, v2", 10), 22.0);
    assert_eq!(run("SRC1", "v_madak_f32 v10, v1, v2, 0x40000000", 10), 302.0);
    assert_eq!(run("DST", "v_mac_f32 v2, v1, v1", 3), 301.0);
    assert_eq!(run("SRC2", "v_mac_f32 v2, v1, v1", 2), 21.0);
}

#[test]
fn what_no_manual_defines_is_refused() {
    let refused = |inst: &str| match Case::new(Target::GFX942)
        .try_run(&format!("s_set_gpr_idx_on 1, gpr_idx(SRC0)\n{inst}"))
    {
        Err(SimError::Unsupported { what, .. }) => what,
        Err(other) => panic!("{inst}: {other}"),
        Ok(_) => panic!("{inst} runs"),
    };
    for inst in ["v_mfma_f32_4x4x4_16b_f16 v[0:3], v[10:11], v[12:13], 0", "v_swap_b32 v1, v2"] {
        assert!(refused(inst).contains("does not define"), "{inst}");
    }
    assert!(refused("s_set_gpr_idx_idx 255\nv_mov_b32 v1, v2").contains("beyond"));
}

const INDICES: u64 = 45;

/// Runs `program` with `index` in s6 and a buffer at s[4:5].
fn run(program: &Program, index: u64, options: &Options) -> Result<Stats, SimError> {
    let text = print_program(program, Comments::None);
    let state = KernelState { vgprs: 128, lds_bytes: 4096, ..state() };
    let kernel = Kernel { target: program.target, state, text };
    let mut memory = Memory::new();
    let buffer = memory.alloc(0x4000);
    kernel.run(&mut memory, [1, 1, 1], [64, 1, 1], &[buffer, index], options)
}

/// Sets up v60 and v61 as addresses. No index selects them.
const PROLOGUE: [&str; 6] = [
    "s_load_dwordx4 s[4:7], s[0:1], 0x0",
    "v_lshlrev_b32_e32 v60, 2, v0",
    "v_mov_b32_e32 v61, v60",
    "s_waitcnt lgkmcnt(0)",
    "s_mov_b32 s12, s6",
    "s_nop 15",
];

const PRODUCERS: [&str; 7] = [
    "v_mfma_f32_32x32x8_f16 v[16:31], v[36:37], v[38:39], v[16:31]",
    "v_mfma_f32_4x4x4_16b_f16 v[12:15], v[36:37], v[38:39], v[12:15]",
    "global_load_dwordx4 v[8:11], v60, s[4:5]",
    "global_load_dwordx2 v[32:33], v60, s[4:5] offset:16",
    "ds_read_b64 v[34:35], v61",
    "v_mov_b32_e32 v33, v47",
    "s_load_dwordx4 s[20:23], s[4:5], 0x0",
];

const INDEXED: [&str; 8] = [
    "v_mov_b32_e32 v6, v2",
    "v_add_f32_e32 v7, v1, v3",
    "v_fma_f32 v5, v0, v2, v4",
    "v_readlane_b32 s16, v2, s13",
    "v_fmac_f32_e32 v4, v1, v3",
    "v_exp_f32_e32 v3, v1",
    "s_movrels_b32 s16, s10",
    "s_movreld_b32 s14, s6",
];

const NEUTRAL: [&str; 3] = ["s_mov_b32 s28, s29", "s_nop 1", "v_mov_b32_e32 v40, s6"];

fn draw(rng: &mut Random, regions: usize) -> Program {
    let mut lines: Vec<String> = PROLOGUE.iter().map(|l| (*l).to_owned()).collect();
    let some = |rng: &mut Random, lines: &mut Vec<String>, most: usize| {
        for _ in 0..rng.below(most + 1) {
            let from: &[&str] = if rng.below(3) == 0 { &NEUTRAL } else { &PRODUCERS };
            lines.push((*rng.pick(from)).to_owned());
        }
    };
    for _ in 0..regions {
        some(rng, &mut lines, 4);
        let inst = *rng.pick(&INDEXED);
        if inst.starts_with("s_") {
            // The index selects an SGPR that is not an address.
            lines.extend(["s_and_b32 s24, s12, 7", "s_mov_b32 m0, s24", "s_nop 0", inst].map(str::to_owned));
        } else {
            lines.push(format!("s_set_gpr_idx_on s12, {:#x}", 1 + rng.below(15)));
            lines.push(inst.to_owned());
            lines.push("s_set_gpr_idx_off".to_owned());
        }
    }
    lines.push("s_endpgm".to_owned());
    parse_program(&lines.join("\n"), Target::GFX942, "test").unwrap()
}

fn text(program: &Program) -> String {
    print_program(program, Comments::None)
}

/// The waits that the inserter adds are sufficient for every index, in strict and in faithful mode.
#[test]
fn inserted_waits_are_enough_for_every_index() {
    let mut rng = Random::new(21);
    for _ in 0..60 {
        let mut program = draw(&mut rng, 3);
        insert_waits(&mut program, &WaitOptions::default());
        for index in 0..INDICES {
            run(&program, index, &Options::strict())
                .unwrap_or_else(|e| panic!("{index}: {e}\n{}", text(&program)));
        }
        let stats = run(&program, 14, &Options::faithful()).unwrap();
        assert!(stats.stale.is_empty(), "{:?}\n{}", stats.stale, text(&program));
    }
}

/// With one wait state less, or without a wait for a counter, both modes report a hazard for some index.
#[test]
fn inserted_waits_are_needed_for_some_index() {
    let mut rng = Random::new(22);
    let (mut tried, mut only_some) = (0, 0);
    for _ in 0..120 {
        let mut program = draw(&mut rng, 1);
        let inserted = insert_waits(&mut program, &WaitOptions::default());
        for wait in inserted.iter().filter(|i| i.count > 0) {
            let Some(weaker) = weakened(&program, wait.at) else { continue };
            let shows: Vec<u64> =
                (0..INDICES).filter(|i| run(&weaker, *i, &Options::strict()).is_err()).collect();
            let index = *shows.first().unwrap_or_else(|| panic!("line {}:\n{}", wait.at, text(&program)));
            let stats = run(&weaker, index, &Options::faithful()).unwrap();
            assert!(!stats.stale.is_empty(), "{index}, line {}:\n{}", wait.at, text(&program));
            tried += 1;
            only_some += usize::from(shows.len() < INDICES as usize);
        }
    }
    assert!(tried > 60 && only_some > 30, "{tried} waits, {only_some} for some index only");
}

/// `program` with one wait state less at `line`, or with the wait there removed. `None` if the `s_nop` is a single wait state.
fn weakened(program: &Program, line: usize) -> Option<Program> {
    let mut weaker = program.clone();
    let inst = weaker.lines[line].inst_mut();
    let less = match (inst.desc.class, &inst.operands[0]) {
        (Class::Waitcnt, _) => WaitCnt::NONE.immediate(gcn_isa::InstructionSet::GFX900).into(),
        (_, Operand::Imm(states)) => states.checked_sub(1).filter(|s| *s >= 0)?,
        _ => return None,
    };
    inst.operands[0] = Operand::Imm(less);
    Some(weaker)
}
