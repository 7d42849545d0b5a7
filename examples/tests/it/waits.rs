//! Every wait is necessary: for every wait of every lesson, a program in which that wait is one step weaker is
//! rejected.

use std::fmt;

use gcn_dsl::prelude::*;
use gcn_dsl::{BuildOptions, BuiltKernel, Feature, LaunchError};
use gcn_examples::{Lesson, Size, TARGETS, lessons};
use gcn_isa::InstructionSet;
use gcn_isa::check::{Finding, MemoryModel, Options, check_with};
use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::hazards::RuleSet;
use gcn_isa::{Class, Operand, Program};
use gcn_sim::SimError;
use gcn_test_support::env::fuzz_step;

/// A program in which one wait is weaker.
struct Weakened {
    line: usize,
    what: String,
    program: Program,
}

impl fmt::Display for Weakened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// The program without one line. Labels after the line move up by one, so a label right before the line then refers to
/// the next line.
fn without(program: &Program, line: usize) -> Program {
    let mut program = program.clone();
    program.lines.remove(line);
    for at in program.labels.iter_mut().filter_map(|label| label.at.as_mut()) {
        *at -= usize::from(*at > line);
    }
    program
}

fn with_immediate(program: &Program, line: usize, value: u16) -> Program {
    let mut program = program.clone();
    program.lines[line].inst_mut().operands[0] = Operand::Imm(i64::from(value));
    program
}

fn immediate(program: &Program, line: usize) -> u16 {
    match program.lines[line].inst.operands[..] {
        [Operand::Imm(value)] => value as u16,
        ref other => panic!("line {line}: a wait with operands {other:?}"),
    }
}

/// All variants of the wait in which one of its counters is higher by one.
fn raised(wait: WaitCnt) -> Vec<WaitCnt> {
    let mut out = Vec::new();
    let mut push = |below: bool, raised: WaitCnt| out.extend(below.then_some(raised));
    for counter in [Counter::Vm, Counter::Exp, Counter::Lgkm].into_iter().filter(|c| c.is_in(wait)) {
        push(true, counter.set(wait, counter.of(wait) + 1));
    }
    out
}

/// Every weaker form of the wait at `line`; empty if the line is not a wait.
fn weakened(program: &Program, line: usize) -> Vec<Weakened> {
    let removed =
        |what: &str| Weakened { line, what: format!("{what} removed"), program: without(program, line) };
    match program.lines[line].inst.desc.mnemonic {
        "s_nop" => {
            let states = immediate(program, line);
            let mut out = vec![removed("s_nop")];
            if let Some(fewer) = states.checked_sub(1) {
                let what = format!("s_nop {states} -> {fewer}");
                out.push(Weakened { line, what, program: with_immediate(program, line, fewer) });
            }
            out
        }
        "s_waitcnt" => {
            let wait = WaitCnt::of_immediate(InstructionSet::GFX900, immediate(program, line));
            let mut out = vec![removed("s_waitcnt")];
            out.extend(raised(wait).into_iter().map(|weaker| {
                let what =
                    format!("{} -> {}", wait.on(InstructionSet::GFX900), weaker.on(InstructionSet::GFX900));
                Weakened {
                    line,
                    what,
                    program: with_immediate(program, line, weaker.immediate(InstructionSet::GFX900)),
                }
            }));
            out
        }
        _ => Vec::new(),
    }
}

fn variants(kernel: &BuiltKernel) -> Vec<Weakened> {
    let program = kernel.program();
    (0..program.lines.len()).flat_map(|line| weakened(program, line)).collect()
}

fn every_kernel(xnack: Feature, check: impl Fn(&str, &Lesson, &BuiltKernel)) {
    for lesson in lessons::ALL {
        for target in TARGETS {
            let kernel = (lesson.build_with)(target, &BuildOptions { xnack, ..BuildOptions::default() });
            check(&format!("{} on {target}", lesson.name), lesson, &kernel.unwrap());
        }
    }
}

/// The findings of the checker, including those about LDS DMA and barriers.
fn findings(program: &Program, xnack: bool) -> Vec<Finding> {
    let rules = RuleSet::Safe.config(xnack);
    let options = Options { rules, memory_model: MemoryModel::Strict, ..Options::default() };
    check_with(program, options).findings
}

#[test]
fn the_checker_has_nothing_against_the_lessons() {
    every_kernel(Feature::Any, |name, _, kernel| {
        let findings = findings(kernel.program(), true);
        assert!(findings.is_empty(), "{name}: {findings:#?}");
    });
}

#[test]
fn the_checker_objects_to_every_weakened_wait() {
    every_kernel(Feature::Any, |name, _, kernel| {
        let variants = variants(kernel);
        assert!(!variants.is_empty(), "{name}: no waits at all");
        let accepts = |v: &&Weakened| findings(&v.program, true).is_empty();
        let idle: Vec<String> = variants.iter().filter(accepts).map(ToString::to_string).collect();
        assert!(
            idle.is_empty(),
            "{name}: {} of {} waits are for nothing: {idle:#?}",
            idle.len(),
            variants.len()
        );
    });
}

/// True if the strict simulator reports a hazard and stops the run.
fn simulator_objects(lesson: &Lesson, kernel: &BuiltKernel, weakened: &Weakened, size: Size) -> bool {
    let kernel = kernel.with_program(weakened.program.clone()).unwrap();
    match (lesson.run)(&Device::simulator(kernel.target()), &kernel, size) {
        Ok(_) => false,
        Err(LaunchError::Simulation { error, .. }) => {
            assert!(matches!(*error, SimError::Hazard(_)), "{}, {weakened}: {error}", lesson.name);
            true
        }
        Err(error) => panic!("{}, {weakened}: {error}", lesson.name),
    }
}

/// True if a run executes the line: if the end of the kernel replaces the line, the result is wrong.
fn executes(lesson: &Lesson, kernel: &BuiltKernel, line: usize) -> bool {
    let mut program = kernel.program().clone();
    let end = program.lines.iter().find(|l| l.inst.desc.class == Class::Endpgm).expect("a kernel ends");
    program.lines[line].inst = end.inst.clone();
    let kernel = kernel.with_program(program).unwrap();
    let run = |size: &Size| (lesson.run)(&Device::simulator(kernel.target()), &kernel, *size);
    lesson.sizes[1..].iter().any(|size| !run(size).is_ok_and(|outcome| outcome.comparison.agrees()))
}

#[test]
fn the_strict_simulator_objects_to_every_weakened_wait() {
    // The simulator does not replay memory accesses with XNACK off.
    every_kernel(Feature::Off, |name, lesson, kernel| {
        // By default only every third wait is tested, because each test is a run of its own.
        let variants: Vec<_> = variants(kernel).into_iter().step_by(fuzz_step(3)).collect();
        // The second size executes each loop more than once, and a later size may take a branch that the second does
        // not.
        let accepts =
            |v: &&Weakened| !lesson.sizes[1..].iter().any(|size| simulator_objects(lesson, kernel, v, *size));
        // Both in the simulator and in hardware, a full counter delays the next instruction. The checker marks findings
        // that rely on that.
        let relies_on_a_full_counter =
            |v: &&Weakened| findings(&v.program, false).iter().all(|f| f.rule == "waitcnt.full");
        // Attention rescales its sums if a score is much larger than the previous ones, which does not occur in every
        // copy of the loop's body.
        let accepts =
            |v: &&Weakened| accepts(v) && !relies_on_a_full_counter(v) && executes(lesson, kernel, v.line);
        let idle: Vec<String> = variants.iter().filter(accepts).map(ToString::to_string).collect();
        assert!(
            idle.is_empty(),
            "{name}: {} of {} waits are not missed: {idle:#?}",
            idle.len(),
            variants.len()
        );
    });
}

#[test]
fn removing_a_line_keeps_the_other_places_of_labels() {
    let kernel = lessons::gemm_f64::LESSON.build(gcn_isa::Target::GFX942).unwrap();
    let program = kernel.program();
    let at =
        |p: &Program| p.labels.iter().map(|l| p.lines.get(l.at?).map(|x| x.inst.clone())).collect::<Vec<_>>();
    for line in 0..program.lines.len() {
        if program.labels.iter().all(|l| l.at != Some(line)) {
            assert_eq!(at(program), at(&without(program, line)), "line {line}");
        }
    }
}
