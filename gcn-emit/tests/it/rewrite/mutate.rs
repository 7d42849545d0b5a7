//! Compares the superfluous waits with a brute-force search: every wait in some files is weakened, one at a time, and the checker is run.

use gcn_emit::rewrite::{Verdict, explain, superfluous};
use gcn_isa::InstructionSet;
use gcn_isa::cfg::Flow;
use gcn_isa::check::{self, MemoryModel, Options};
use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::hazards::{RuleSet, remedy};
use gcn_isa::table::Class;
use gcn_isa::{Operand, Program};

use super::unit;
use crate::asm::corpus;

/// The maximum number of instructions of a file that is tested.
const SMALL: usize = 400;
/// The number of files that are tested; with `GCN_CORPUS=all`, all small ones.
const FILES: usize = 6;

#[test]
fn a_wait_is_listed_exactly_if_a_weaker_one_breaks_nothing() {
    let all = std::env::var_os("GCN_CORPUS").is_some_and(|v| v == "all");
    let (mut waits, mut listed, mut files) = (0, 0, 0);
    for file in corpus::files().iter().step_by(if all { 1 } else { 7 }) {
        let unit = unit(&file.text);
        if unit.instructions() > SMALL || !all && files >= FILES {
            continue;
        }
        files += 1;
        let found = superfluous(&unit, RuleSet::Safe);
        for code in &unit.sections {
            let program = &code.program;
            let rules = RuleSet::Safe.config(unit.target_id.may_replay());
            // The default memory model assumes that a partial wait before a barrier is intended. Here, it may be the result of weakening.
            let broken = |program: &Program| {
                broken(program, Options { rules, memory_model: MemoryModel::Strict, ..Options::default() })
            };
            let before = broken(program);
            let is_wait =
                |l: &usize| matches!(program.lines[*l].inst.desc.class, Class::Nop | Class::Waitcnt);
            // `superfluous` lists no waits in code that control never reaches, for example after `s_trap 2`.
            let flow = Flow::of(program);
            let reached = flow.reachable();
            let runs = |line: &usize| reached[flow.cfg.block_of(*line)];
            for line in (0..program.lines.len()).filter(is_wait).filter(runs) {
                waits += 1;
                let is_listed = found.iter().any(|s| s.section == code.section && s.index == line);
                listed += usize::from(is_listed);
                let harmless = weaker(program, line).iter().any(|p| broken(p) <= before);
                assert_eq!(is_listed, harmless, "{}: line {:?}", file.path, code.places[line].line);
            }
        }
    }
    println!("{files} files, {waits} waits, {listed} superfluous");
    assert!(files >= FILES && waits > 50, "{files} {waits}");
}

fn broken(program: &Program, options: Options) -> usize {
    let report = check::check_with(program, options);
    report.findings.len() + report.omitted()
}

/// A row of [`SEQUENCES`].
type Sequence = (&'static str, &'static str, &'static [(u32, &'static str)]);

/// Programs for RDNA in which some waits are needed, some partly, and some not at all: the target, the text, and the lines of waits that
/// could be weaker, with the sufficient wait (`-`: none).
const SEQUENCES: [Sequence; 4] = [
    (
        "gfx1201",
        "v_mov_b32 v2, s4
         s_mov_b32 s4, s6
         s_wait_alu depctr_sa_sdst(0) depctr_va_vdst(0)
         v_mov_b32 v2, s4
         s_wait_alu depctr_sa_sdst(0)
         v_nop
         s_endpgm",
        &[(5, "s_wait_alu depctr_sa_sdst(0)"), (7, "-")],
    ),
    // The sequence continues around the loop.
    (
        "gfx1201",
        "L0: s_wait_alu depctr_sa_sdst(0)
         v_mov_b32 v2, s4
         s_mov_b32 s4, s6
         s_cbranch_scc1 L0
         s_endpgm",
        &[],
    ),
    (
        "gfx1100",
        "v_exp_f32 v0, v1
         s_waitcnt_depctr depctr_va_vdst(0)
         v_mov_b32 v2, v0
         s_waitcnt_depctr depctr_va_vdst(0)
         s_nop 1
         s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
         s_endpgm",
        &[(6, "-"), (7, "s_nop 0")],
    ),
    (
        "gfx1010",
        "global_load_dword v0, v1, s[4:5]
         s_waitcnt_depctr depctr_vm_vsrc(0)
         s_mov_b32 s4, 0
         s_waitcnt_depctr depctr_vm_vsrc(0)
         s_endpgm",
        &[(6, "-")],
    ),
];

#[test]
fn waits_in_sequences_of_rdna_are_listed_if_less_is_enough() {
    for (target, body, expected) in SEQUENCES {
        let unit = unit(&format!(".amdgcn_target \"amdgcn-amd-amdhsa--{target}\"\nf:\n{body}\n"));
        let found = superfluous(&unit, RuleSet::Safe);
        let found: Vec<(u32, &str)> = found
            .iter()
            .map(|s| (s.line.expect("assembly has lines"), s.enough.as_deref().unwrap_or("-")))
            .collect();
        assert_eq!(found, expected, "{target}: {body}");
        // Checks the same with the checker: a wait can be left out without a finding exactly if nothing (`-`) is sufficient in its place.
        let program = &unit.sections[0].program;
        for line in
            (0..program.lines.len()).filter(|l| remedy::waits_for_dependencies(&program.lines[*l].inst))
        {
            let mut without = program.clone();
            *without.lines[line].inst_mut() = nop(program);
            let missed = !check::remedies(&without, RuleSet::Safe.config(false)).is_empty();
            let goes = found.iter().any(|(at, enough)| *at as usize == line + 3 && *enough == "-");
            assert_eq!(missed, !goes, "{target}, line {}: {body}", line + 3);
        }
    }
}

/// An instruction that does not interrupt any sequence of these programs.
fn nop(program: &Program) -> gcn_isa::Inst {
    gcn_emit::text::parse_inst("s_clause 0x0", program.target).expect("RDNA has it")
}

#[test]
fn waits_in_sequences_of_rdna_are_explained() {
    let reasons = |place: usize| {
        let (target, body, _) = SEQUENCES[place];
        let unit = unit(&format!(".amdgcn_target \"amdgcn-amd-amdhsa--{target}\"\nf:\n{body}\n"));
        let waits = explain(&unit, RuleSet::Safe).into_iter();
        waits.map(|w| (w.line.unwrap_or(0), w.verdict, w.reasons.join("; "))).collect::<Vec<_>>()
    };
    let all = reasons(0);
    assert_eq!([all[0].1, all[1].1], [Verdict::Needed, Verdict::NotNeeded]);
    assert!(
        all[0].2.starts_with("rdna.read-sgpr.valu: s4 of s_mov_b32 (line 4), then v_mov_b32_e32 (line 6)"),
        "{all:?}"
    );
    let all = reasons(1);
    assert!(all[0].1 == Verdict::Needed && all[0].2.contains("s_mov_b32 (line 5)"), "{all:?}");
    let all = reasons(2);
    assert_eq!([all[0].1, all[1].1, all[2].1], [Verdict::Needed, Verdict::NotNeeded, Verdict::Needed]);
    assert!(all[2].2.contains("mesa.dealloc-vgprs"), "{all:?}");
}

/// Each program in which this wait is weaker by one step.
fn weaker(program: &Program, line: usize) -> Vec<Program> {
    let Some(&Operand::Imm(imm)) = program.lines[line].inst.operands.first() else { return Vec::new() };
    let with = |imm: i64| {
        let mut program = program.clone();
        program.lines[line].inst_mut().operands[0] = Operand::Imm(imm);
        program
    };
    if program.lines[line].inst.desc.class == Class::Waitcnt {
        let wait = WaitCnt::of_immediate(InstructionSet::GFX900, imm as u16);
        let counters = Counter::ALL.into_iter().filter(|c| c.is_in(wait));
        return counters
            .map(|c| with(i64::from(c.set(wait, c.of(wait) + 1).immediate(InstructionSet::GFX900))))
            .collect();
    }
    if imm & 0xf > 0 {
        return vec![with((imm & 0xf) - 1)];
    }
    // Removes the wait and adjusts the labels after it.
    let mut program = program.clone();
    program.lines.remove(line);
    let shift = |at: &mut usize| *at -= usize::from(*at > line);
    program.labels.iter_mut().filter_map(|l| l.at.as_mut()).for_each(shift);
    program.entries.iter_mut().for_each(|e| shift(&mut e.at));
    program.gaps.iter_mut().for_each(shift);
    vec![program]
}
