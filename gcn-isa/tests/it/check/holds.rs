//! Tests the targets that a counter rule names: they are the targets on which the checker has findings of the rule.

use std::collections::BTreeSet;

use gcn_emit::text::parse_inst;
use gcn_isa::check::{self, MemoryModel, Options};
use gcn_isa::hazards::{Config, counter};
use gcn_isa::program::EntryKind;
use gcn_isa::{InstructionSet, Program, Target};

/// For each rule, programs that break it on every target that has their instructions. `N * INST` stands for N copies of INST. A new rule
/// needs an entry here.
const BROKEN: &[(&str, &[&str])] = &[
    (
        "waitcnt.raw",
        &["s_load_dword s4, s[0:1], 0x0 | s_mov_b32 s5, s4", "s_load_b32 s4, s[0:1], 0x0 | s_mov_b32 s5, s4"],
    ),
    (
        "waitcnt.waw",
        &["s_load_dword s4, s[0:1], 0x0 | s_mov_b32 s4, 0", "s_load_b32 s4, s[0:1], 0x0 | s_mov_b32 s4, 0"],
    ),
    (
        "waitcnt.flat-waw",
        &[
            "flat_load_dword v0, v[2:3] | s_waitcnt lgkmcnt(0) | global_load_dword v0, v[2:3], off",
            "flat_load_b32 v0, v[2:3] | s_waitcnt lgkmcnt(0) | global_load_b32 v0, v[2:3], off",
            "flat_load_b32 v0, v[2:3] | s_wait_dscnt 0x0 | global_load_b32 v0, v[2:3], off",
        ],
    ),
    ("waitcnt.half", &["ds_load_u8_d16 v0, v2 | v_mov_b16_e32 v1.l, v0.h"]),
    (
        "waitcnt.mixed",
        &[
            "ds_read_b32 v0, v2 | ds_read_b32 v1, v2 | s_load_dword s4, s[0:1], 0x0 | s_waitcnt lgkmcnt(1) | v_mov_b32_e32 v3, v0",
            "ds_load_b32 v0, v2 | ds_load_b32 v1, v2 | s_load_b32 s4, s[0:1], 0x0 | s_waitcnt lgkmcnt(1) | v_mov_b32_e32 v3, v0",
            "s_sendmsg_rtn_b32 s4, sendmsg(MSG_RTN_GET_REALTIME) | s_sendmsg_rtn_b32 s5, sendmsg(MSG_RTN_GET_REALTIME) | \
             s_load_b32 s8, s[0:1], 0x0 | s_wait_kmcnt 0x1 | s_mov_b32 s9, s4",
        ],
    ),
    (
        "waitcnt.full",
        &[
            "80 * ds_read_b32 v[0], v100 | v_mov_b32_e32 v100, v0",
            "80 * ds_load_b32 v[0], v100 | v_mov_b32_e32 v100, v0",
        ],
    ),
    (
        "waitcnt.full-unordered",
        &[
            "80 * flat_load_dword v[0], v[100:101] | v_mov_b32_e32 v100, v0",
            "12 * ds_write_b32 v100, v[0] gds | v_mov_b32_e32 v0, 0",
            "12 * ds_store_b32 v100, v[0] gds | v_mov_b32_e32 v0, 0",
        ],
    ),
    ("call.entry", &["v_mov_b32_e32 v0, v1"]),
    (
        "call.exit",
        &[
            "global_load_dword v0, v[2:3], off | s_setpc_b64 s[30:31]",
            "global_load_b32 v0, v[2:3], off | s_setpc_b64 s[30:31]",
        ],
    ),
    (
        "waitcnt.exp-war",
        &[
            "ds_gws_barrier v0 gds | v_mov_b32_e32 v0, 0",
            "ds_write_b32 v1, v0 gds | v_mov_b32_e32 v0, 0",
            "ds_store_b32 v1, v0 gds | v_mov_b32_e32 v0, 0",
        ],
    ),
    (
        "waitcnt.lds-dma",
        &[
            "buffer_load_dword v0, s[8:11], 0 offen lds | ds_read_b32 v1, v2",
            "buffer_load_b32 v0, s[8:11], 0 offen lds | ds_load_b32 v1, v2",
        ],
    ),
    (
        "waitcnt.wbinvl1",
        &[
            "global_load_dword v0, v[2:3], off | buffer_wbinvl1",
            "global_load_dword v0, v[2:3], off | buffer_inv sc1",
        ],
    ),
    ("barrier.counters", &["global_load_dword v0, v[2:3], off | s_barrier"]),
    (
        "barrier.lds",
        &[
            "ds_write_b32 v0, v1 | s_barrier",
            "ds_store_b32 v0, v1 | s_barrier",
            "ds_store_b32 v0, v1 | s_barrier_signal -1 | s_barrier_wait -1",
        ],
    ),
    (
        "barrier.lds-read",
        &[
            "ds_read_b32 v0, v1 | s_barrier",
            "ds_load_b32 v0, v1 | s_barrier",
            "ds_load_b32 v0, v1 | s_barrier_signal -1 | s_barrier_wait -1",
        ],
    ),
    (
        "barrier.lds-dma",
        &[
            "buffer_load_dword v0, s[8:11], 0 offen lds | s_barrier",
            "global_load_async_to_lds_b32 v0, v[2:3], off | s_barrier_signal -1",
        ],
    ),
    (
        "waitcnt.gws",
        &[
            "ds_gws_barrier v4 gds | global_load_dword v0, v[2:3], off",
            "ds_gws_barrier v4 gds | global_load_b32 v0, v[2:3], off",
        ],
    ),
    ("waitcnt.async-lds", &["global_load_async_to_lds_b32 v0, v[2:3], off | ds_load_b32 v1, v2"]),
    ("waitcnt.async-lds-read", &["global_store_async_from_lds_b32 v[2:3], v4, off | ds_store_b32 v4, v1"]),
    ("waitcnt.operand-war", &["global_store_b32 v[2:3], v4, off | v_mov_b32_e32 v4, 0"]),
    ("llvm.vgpr-msb", &["s_set_vgpr_msb 0x40 | v_fmac_f32_e32 v0, v1, v2"]),
    (
        "llvm.sched-mode",
        &[
            "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_SCHED_MODE, 0, 2), 2",
            "s_setreg_b32 hwreg(HW_REG_WAVE_SCHED_MODE), s4",
        ],
    ),
    (
        "llvm.mad-forward",
        &["v_mad_u64_u32 v[0:1], vcc, v2, v3, v[0:1]", "v_mad_u64_u32 v[0:1], vcc_lo, v2, v3, v[0:1]"],
    ),
    ("llvm.shift64", &["v_lshlrev_b64 v[0:1], v7, v[2:3]"]),
    ("xnack.smem-address", &["s_load_dwordx2 s[0:1], s[0:1], 0x4", "s_load_b64 s[0:1], s[0:1], 0x4"]),
    ("llvm.vccz-half", &["s_mov_b64 vcc, 0 | s_mov_b32 vcc_lo, 0 | s_cbranch_vccz 1 | s_nop 0"]),
];

/// The rule that applies only if the descriptor of a kernel enables `tg_split`. Other targets do not allow that.
const BY_DESCRIPTOR: &str = "barrier.store";

/// The program, or `None` if the target lacks one of its instructions.
fn program(text: &str, target: Target) -> Option<Program> {
    let mut program = Program::new(target, "f");
    for statement in text.split(" | ").chain(["s_endpgm"]) {
        let (times, inst) = statement.split_once(" * ").unwrap_or(("1", statement));
        for number in 0..times.parse().expect("a number of instructions") {
            program.push(parse_inst(&inst.replace("v[0]", &format!("v{number}")), target).ok()?);
        }
    }
    Some(program)
}

fn finds(rule: &str, mut program: Program) -> bool {
    if rule == counter::CALL_ENTRY.id {
        program.entries.push(gcn_isa::program::Entry { at: 0, kind: EntryKind::Function });
    }
    let rules = Config::default().with_xnack(true);
    let options = Options { rules, memory_model: MemoryModel::Strict, ..Options::default() };
    check::check_with(&program, options).findings.iter().any(|f| f.rule == rule)
}

#[test]
fn counter_rules_name_the_targets_that_have_them() {
    let named: BTreeSet<&str> = BROKEN.iter().map(|(rule, _)| *rule).chain([BY_DESCRIPTOR]).collect();
    let all: BTreeSet<&str> = counter::ALL.iter().map(|rule| rule.id).collect();
    assert_eq!(named, all);
    let firsts: Vec<Target> = Target::KNOWN.into_iter().filter(|t| t.is_first_of_its_set()).collect();
    assert!(firsts.iter().any(|t| t.instruction_set() == InstructionSet::GFX12_5));
    let mut wrong = Vec::new();
    for (id, programs) in BROKEN {
        let rule = counter::rule(id).expect("named above");
        for target in &firsts {
            let found = programs.iter().filter_map(|p| program(p, *target)).any(|p| finds(id, p));
            if rule.holds_on(*target) != found {
                wrong.push(format!("{id} on {target}: found is {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
