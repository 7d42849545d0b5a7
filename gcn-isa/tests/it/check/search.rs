//! Tests the checker against exhaustive search: for random small programs, every path is followed separately.

use std::collections::{BTreeMap, BTreeSet};

use gcn_isa::InstructionSet;
use gcn_isa::check::{self, Amount};
use gcn_isa::counters::{self, Counter, Stream, WaitCnt};
use gcn_isa::hazards::AnyRule as _;
use gcn_isa::hazards::{self, Config, Grade, MAX_REACH, Since, View};
use gcn_isa::reg::RegUnit;
use gcn_isa::table::Class;
use gcn_isa::{Operand, Program, Reg, Target};
use gcn_test_support::Random;
use gcn_test_support::env::fuzz_count;

use crate::golden;

/// The lines that may execute after a line.
pub fn successors(program: &Program, line: usize) -> Vec<usize> {
    let inst = &program.lines[line].inst;
    let mut next = Vec::new();
    if inst.falls_through() {
        next.push(line + 1);
    }
    for operand in &inst.operands {
        if let Operand::Label(label) = operand {
            next.extend(program.labels[label.0 as usize].at);
        }
    }
    next.retain(|&n| n < program.lines.len());
    next
}

/// A program of `length` lines chosen from `menu`, with labels and branches in random positions.
pub fn random(rng: &mut Random, target: Target, menu: &[&str], length: usize, forward_only: bool) -> Program {
    let labels = rng.below(4);
    let places: Vec<usize> = (0..labels).map(|_| rng.below(length)).collect();
    let mut text = String::new();
    for line in 0..length {
        for (label, _) in places.iter().enumerate().filter(|p| *p.1 == line) {
            text += &format!("L{label}:\n");
        }
        let targets: Vec<usize> = (0..labels).filter(|&l| !forward_only || places[l] > line).collect();
        if !targets.is_empty() && rng.below(5) == 0 {
            let branch = *rng.pick(&["s_cbranch_scc1", "s_cbranch_scc1", "s_branch"]);
            text += &format!("{branch} L{}\n", rng.pick(&targets));
        } else {
            text += *rng.pick::<&str>(menu);
            text += "\n";
        }
    }
    golden::program(&(text + "s_endpgm"), target)
}

pub const DISTANCE_MENU: [&str; 16] = [
    "v_mfma_f32_4x4x4_16b_f16 v[0:3], v[8:9], v[10:11], v[0:3]",
    "v_mfma_f32_16x16x16_f16 v[0:3], v[8:9], v[10:11], v[0:3]",
    "v_mfma_f32_32x32x8_f16 v[0:15], v[20:21], v[22:23], 0",
    "v_mov_b32_e32 v1, v30",
    "v_mov_b32_e32 v8, v1",
    "v_cmp_eq_u32_e32 vcc, v1, v2",
    "v_cndmask_b32_e32 v4, v5, v6, vcc",
    "v_readfirstlane_b32 s4, v8",
    "global_load_dword v8, v30, s[4:5]",
    "global_store_dwordx4 v[30:31], v[0:3], off",
    "v_exp_f32_e32 v1, v2",
    "v_mov_b32_dpp v5, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0",
    "s_mov_b32 m0, 0",
    "s_nop 0",
    "s_nop 2",
    "s_nop 7",
];

/// Every pair (first, second) that some path brings closer together than a rule of a grade allows, with the largest number of wait states
/// that are missing. A lower grade is included only if it lacks more wait states than the higher grades. Results that a later matrix
/// instruction of the path has overwritten are ignored.
fn too_close(program: &Program) -> BTreeSet<(usize, usize, Grade, u8)> {
    let views: Vec<View> = program.lines.iter().map(|l| View::new(program.target, &l.inst)).collect();
    let mut found: BTreeMap<(usize, usize, Grade), u32> = BTreeMap::new();
    for first in reachable(program) {
        let mut seen: BTreeSet<(usize, u32, Since)> = BTreeSet::new();
        let mut paths: Vec<(usize, u32, Since)> =
            successors(program, first).into_iter().map(|l| (l, 0, Since::NOTHING)).collect();
        while let Some((line, distance, since)) = paths.pop() {
            if !seen.insert((line, distance, since)) {
                continue;
            }
            for need in views[first].required_all_since(&views[line], Config::default(), since) {
                let missing = u32::from(need.states).saturating_sub(distance);
                let worst = found.entry((first, line, need.rule.grade())).or_default();
                *worst = missing.max(*worst);
            }
            let behind = distance + hazards::wait_states(&program.lines[line].inst);
            if behind < u32::from(MAX_REACH) {
                let since = since.past(&views[first], &views[line]);
                paths.extend(successors(program, line).into_iter().map(|l| (l, behind, since)));
            }
        }
    }
    let better = |a, b, grade, missing| {
        found
            .range((a, b, grade)..=(a, b, Grade::Certain))
            .any(|(key, most)| key.2 > grade && *most >= missing)
    };
    let told =
        found.iter().filter(|((a, b, grade), missing)| **missing > 0 && !better(*a, *b, *grade, **missing));
    told.map(|((a, b, grade), missing)| (*a, *b, *grade, *missing as u8)).collect()
}

/// The lines that some path from the first line reaches.
fn reachable(program: &Program) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut open = vec![0];
    while let Some(line) = open.pop() {
        if seen.insert(line) {
            open.extend(successors(program, line));
        }
    }
    seen
}

#[test]
fn distances_are_those_of_the_shortest_path() {
    let mut rng = Random::new(1);
    let mut found = 0;
    for round in 0..3000 {
        let length = 4 + rng.below(20);
        let program = random(&mut rng, Target::GFX942, &DISTANCE_MENU, length, false);
        let ours: BTreeSet<_> = check::check(&program)
            .findings
            .iter()
            .filter_map(|f| match (f.need, f.have) {
                (Amount::States(need), Amount::States(have)) => {
                    Some((f.first?, f.second, f.grade, need - have))
                }
                _ => None,
            })
            .collect();
        assert_eq!(ours, too_close(&program), "round {round}: {program:?}");
        found += ours.len();
    }
    assert!(found > 10_000, "{found}");
}

pub const COUNTER_MENU: [&str; 22] = [
    "global_load_dword v0, v[40:41], off",
    "global_load_dwordx2 v[0:1], v[40:41], off",
    "global_load_dword v2, v[40:41], off",
    "global_store_dword v[40:41], v3, off",
    "flat_load_dword v1, v[40:41]",
    "ds_read_b32 v3, v42",
    "ds_read_b32 v0, v42",
    "ds_write_b32 v42, v2",
    "s_load_dword s4, s[8:9], 0x0",
    "s_load_dwordx2 s[4:5], s[8:9], 0x0",
    "s_mov_b32 s10, s4",
    "v_mov_b32_e32 v50, v0",
    "v_mov_b32_e32 v50, v1",
    "v_add_f32_e32 v50, v2, v3",
    "v_mov_b32_e32 v0, 0",
    "s_waitcnt vmcnt(0)",
    "s_waitcnt vmcnt(1)",
    "s_waitcnt vmcnt(2)",
    "s_waitcnt lgkmcnt(0)",
    "s_waitcnt lgkmcnt(1)",
    "s_waitcnt vmcnt(1) lgkmcnt(2)",
    "s_nop 0",
];

/// An outstanding operation in one concrete execution.
#[derive(Clone)]
struct Flying {
    line: usize,
    stream: Stream,
    count: u8,
    /// The registers that the operation has yet to write.
    owes: Vec<RegUnit>,
    /// True if its counter has been so full that the operation must be done.
    pushed_out: bool,
}

impl Flying {
    /// The rule about the operation's registers, or the rule that doubts that the operation is done.
    fn rule(&self, rule: &'static str) -> &'static str {
        match self.stream {
            _ if !self.pushed_out => rule,
            Stream::FlatVm | Stream::FlatLgkm => "waitcnt.full-unordered",
            _ => "waitcnt.full",
        }
    }
}

/// One concrete execution: the operations that no wait has proved to be done, the oldest first.
#[derive(Clone, Default)]
struct Run {
    flying: Vec<Flying>,
}

impl Run {
    fn wait(&mut self, wait: WaitCnt) {
        for counter in Counter::ALL {
            let value = counter.of(wait);
            if !counter.is_in(wait) {
                continue;
            }
            let on = |f: &Flying| f.stream.counter(InstructionSet::GFX900) == counter;
            let streams: BTreeSet<Stream> = self.flying.iter().filter(|f| on(f)).map(|f| f.stream).collect();
            let in_order = streams.len() == 1 && streams.iter().all(|s| s.in_order());
            if value > 0 && !in_order {
                continue;
            }
            // The youngest operations that the value allows may still be outstanding.
            let mut left = u32::from(value);
            let mut keep = vec![true; self.flying.len()];
            for (i, f) in self.flying.iter().enumerate().rev().filter(|f| on(f.1)) {
                keep[i] = left >= u32::from(f.count);
                left = left.saturating_sub(u32::from(f.count));
            }
            let mut keep = keep.into_iter();
            self.flying.retain(|_| keep.next().unwrap_or(true));
        }
    }

    /// Applies the stall before an instruction, which lasts until no counter exceeds its capacity. All operations of other types may be
    /// done by then, so only the operations of one type can be too many, and the oldest of these is done. Scalar loads are not in order.
    fn make_room(&mut self, program: &Program, line: usize) {
        for event in counters::events(program.target, &program.lines[line].inst) {
            let counter = event.stream.counter(InstructionSet::GFX900);
            let room = u32::from([63u8, 15, 7][counter as usize] - event.count);
            for stream in [Stream::Vmem, Stream::FlatVm, Stream::Lds, Stream::FlatLgkm] {
                let on = |f: &&mut Flying| {
                    f.stream == stream && stream.counter(InstructionSet::GFX900) == counter && !f.pushed_out
                };
                let mut flying: Vec<&mut Flying> = self.flying.iter_mut().filter(on).collect();
                let mut sum: u32 = flying.iter().map(|f| u32::from(f.count)).sum();
                for oldest in &mut flying {
                    if sum <= room {
                        break;
                    }
                    oldest.pushed_out = true;
                    sum -= u32::from(oldest.count);
                }
            }
        }
    }

    /// The lines of operations that must be done before `line`, with the rule about registers.
    fn conflicts(&self, program: &Program, line: usize) -> BTreeSet<(usize, &'static str)> {
        let inst = &program.lines[line].inst;
        let mine = counters::events(program.target, inst);
        let mut found = BTreeSet::new();
        for f in &self.flying {
            let owes = |reg: Reg| reg.units().any(|u| f.owes.contains(&u));
            if inst.reads().iter().any(|r| owes(r.reg)) {
                found.insert((f.line, f.rule("waitcnt.raw")));
            } else if inst.writes().iter().any(|w| owes(w.reg))
                && !mine.iter().any(|e| counters::finishes_after(InstructionSet::GFX900, f.stream, e.stream))
            {
                let flat = f.stream == Stream::FlatVm && mine.iter().any(|e| e.stream == Stream::Vmem);
                found.insert((f.line, f.rule(if flat { "waitcnt.flat-waw" } else { "waitcnt.waw" })));
            }
        }
        found
    }

    fn step(&mut self, program: &Program, line: usize) {
        let inst = &program.lines[line].inst;
        if inst.desc.class == Class::Waitcnt
            && let Some(Operand::Imm(imm)) = inst.operands.first()
        {
            self.wait(WaitCnt::of_immediate(InstructionSet::GFX900, *imm as u16));
        }
        for event in counters::events(program.target, inst) {
            let owes: Vec<RegUnit> = event.writes.iter().flat_map(|r| r.units()).collect();
            // If a later vector memory operation has taken over a register of a FLAT operation, the later one is reported.
            if event.stream == Stream::Vmem {
                for flat in self.flying.iter_mut().filter(|f| f.stream == Stream::FlatVm) {
                    flat.owes.retain(|u| !owes.contains(u));
                }
            }
            let (stream, count) = (event.stream, event.count);
            self.flying.push(Flying { line, stream, count, owes, pushed_out: false });
        }
    }
}

/// The conflicts on all paths of at most `steps` instructions.
fn every_run(program: &Program, steps: usize) -> BTreeSet<(usize, usize, &'static str)> {
    let mut found = BTreeSet::new();
    let mut open = vec![(0, Run::default(), 0)];
    let mut walked = 0;
    while let Some((line, mut run, depth)) = open.pop() {
        walked += 1;
        if walked > 20_000 {
            break;
        }
        run.make_room(program, line);
        found.extend(run.conflicts(program, line).into_iter().map(|(first, rule)| (first, line, rule)));
        run.step(program, line);
        if depth < steps {
            open.extend(successors(program, line).into_iter().map(|l| (l, run.clone(), depth + 1)));
        }
    }
    found
}

fn register_findings(program: &Program) -> BTreeSet<(usize, usize, &'static str)> {
    let findings = check::check(program).findings;
    findings
        .iter()
        .filter(|f| f.rule.starts_with("waitcnt."))
        .filter_map(|f| Some((f.first?, f.second, f.rule)))
        .collect()
}

#[test]
fn nothing_outstanding_is_overlooked_on_any_path() {
    let mut rng = Random::new(2);
    let mut found = 0;
    let rounds = fuzz_count(1000);
    for round in 0..rounds {
        let length = 4 + rng.below(16);
        let program = random(&mut rng, Target::GFX942, &COUNTER_MENU, length, false);
        let ours = register_findings(&program);
        let concrete = every_run(&program, 40);
        // An operation that is followed by a later one on the same register is reported only through the later one.
        let missed: Vec<_> = concrete
            .iter()
            .filter(|c| !ours.contains(c))
            .filter(|c| !ours.iter().any(|o| o.1 == c.1))
            .collect();
        assert!(missed.is_empty(), "round {round}: {missed:?} {program:?}");
        found += concrete.len();
    }
    assert!(found > rounds * 3 / 2, "{found}");
}

#[test]
fn on_a_single_path_nothing_is_invented() {
    let mut rng = Random::new(3);
    let mut found = 0;
    for round in 0..4000 {
        let length = 4 + rng.below(16);
        let lines: Vec<&str> = (0..length).map(|_| *rng.pick(&COUNTER_MENU)).collect();
        let program = golden::program(&(lines.join("\n") + "\ns_endpgm"), Target::GFX942);
        let concrete = every_run(&program, 40);
        let ours = register_findings(&program);
        let known = |o: &&(usize, usize, &str)| {
            concrete.contains(*o)
                || (o.2 == "waitcnt.mixed" && concrete.iter().any(|c| (c.0, c.1) == (o.0, o.1)))
        };
        let invented: Vec<_> = ours.iter().filter(|o| !known(o)).collect();
        assert!(invented.is_empty(), "round {round}: {invented:?} {lines:?}");
        found += ours.len();
    }
    assert!(found > 2000, "{found}");
}

/// Instructions that read few registers, so that many operations are outstanding at the same time.
const CROWDED_MENU: [&str; 12] = [
    "global_load_dword v0, v[40:41], off",
    "global_store_dword v[40:41], v3, off",
    "flat_load_dword v1, v[40:41]",
    "flat_store_dword v[40:41], v43",
    "ds_read_b32 v3, v42",
    "ds_write_b32 v42, v44",
    "ds_write_b32 v42, v44",
    "s_load_dword s4, s[8:9], 0x0",
    "v_mov_b32_e32 v50, v0",
    "v_mov_b32_e32 v50, v1",
    "v_mov_b32_e32 v50, v3",
    "s_waitcnt vmcnt(0)",
];

/// Tests programs with a single path: the findings are exactly those of the execution, with the same rules.
#[test]
fn on_a_single_path_full_counters_are_those_of_the_run() {
    let mut rng = Random::new(5);
    let mut full = 0;
    let rounds = fuzz_count(600);
    for round in 0..rounds {
        let sorts: Vec<&str> = (0..2 + rng.below(3)).map(|_| *rng.pick(&CROWDED_MENU)).collect();
        let lines: Vec<&str> = (0..40 + rng.below(160))
            .map(|_| if rng.below(8) == 0 { *rng.pick(&CROWDED_MENU) } else { *rng.pick(&sorts) })
            .collect();
        let program = golden::program(&(lines.join("\n") + "\ns_endpgm"), Target::GFX942);
        let concrete = every_run(&program, lines.len());
        let ours = register_findings(&program);
        let known = |o: &&(usize, usize, &str)| {
            concrete.contains(*o)
                || (o.2 == "waitcnt.mixed" && concrete.iter().any(|c| (c.0, c.1) == (o.0, o.1)))
        };
        let invented: Vec<_> = ours.iter().filter(|o| !known(o)).collect();
        assert!(invented.is_empty(), "round {round}: {invented:?} {lines:?}");
        // As above, a later operation on the same register represents an earlier one.
        let missed: Vec<_> = concrete.iter().filter(|c| !ours.iter().any(|o| o.1 == c.1)).collect();
        assert!(missed.is_empty(), "round {round}: {missed:?} {lines:?}");
        full += ours.iter().filter(|o| o.2.starts_with("waitcnt.full")).count();
    }
    assert!(full > rounds * 5 / 6, "{full}");
}

#[test]
fn dead_code_is_not_judged() {
    let mut rng = Random::new(4);
    for _ in 0..500 {
        let program = random(&mut rng, Target::GFX942, &COUNTER_MENU, 16, true);
        let reached = reachable(&program);
        for finding in check::check(&program).findings {
            assert!(reached.contains(&finding.second) && finding.first.is_none_or(|f| reached.contains(&f)));
        }
    }
}
