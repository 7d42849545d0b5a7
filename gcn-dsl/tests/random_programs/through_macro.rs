//! The same programs as source text: the kernel that `gcn_kernel!` makes of a program must give the program's result.
//!
//! `GCN_BLESS=1 cargo test -p gcn-dsl-tests --test random_programs through_macro` generates `sample.rs` with
//! [`print`](super::print).

use std::collections::BTreeSet;
use std::fmt::Write;

use gcn_dsl::prelude::Target;
use gcn_dsl::{BuildError, BuildOptions, BuiltKernel};
use gcn_test_support::stored::assert_current;

use super::ast::{Op, Program, Range, Stmt, Ty, VarDecl};
use super::data::Data;
use super::run::{TARGETS, simulate};
use super::sample::SAMPLE;
use super::{generate, interpret, print, typing};

/// A kernel of the sample: the program's number, and the function that builds the kernel.
pub type Sampled = (u64, fn(Target, &BuildOptions) -> Result<BuiltKernel, BuildError>);

/// The number of programs from which the sample is chosen, and the maximum size of each. Both limit rustc's time.
const CANDIDATES: usize = 150;
const LARGEST: usize = 150;

/// The language features that a program uses: each kind of statement, operator and call, and each type of host, uniform
/// and varying values. The macro works on syntax, so combinations of a type and an operation would add kernels but test
/// nothing new.
fn features(program: &Program) -> BTreeSet<String> {
    // The variant's name; for operators, also the operator.
    let kind =
        |text: String, depth: usize| text.split(['(', ' ', ',']).take(depth).collect::<Vec<_>>().join(" ");
    let mut features = BTreeSet::new();
    program.each(&mut |stmt| {
        features.insert(match stmt {
            Stmt::Let { var, .. } => {
                let VarDecl { ty, mutable } = program.vars[*var];
                let plain = mutable && print::is_plain(program, *var);
                format!("let, mutable {mutable}, plain {plain} {:?}", plain.then_some(ty.place))
            }
            Stmt::Later { var, .. } => format!("later, plain {}", print::is_plain(program, *var)),
            Stmt::PrivateStore { lent, .. } => format!("private, lent {lent}"),
            Stmt::Step { object, twice, var, .. } => {
                format!("step {:?} {twice}, written {}", program.objects[*object], var % 2 == 0)
            }
            Stmt::Set { op, .. } => format!("set {op:?}"),
            Stmt::If { els, .. } => format!("if, else {}", !els.is_empty()),
            Stmt::For { range: Range { inclusive, reversed, step, .. }, .. } => {
                format!("for {inclusive} {reversed} {}", step.is_some())
            }
            Stmt::Object { object, new, cond, made } => {
                let shape = kind(format!("{:?}", program.objects[*object]), 1);
                format!("{shape}, new {new}, chosen {}, variant {}", cond.is_some(), made[0].0)
            }
            Stmt::Take { object, .. } => kind(format!("take {:?}", program.objects[*object]), 2),
            _ => kind(format!("{stmt:?}"), 1),
        });
        for expr in stmt.exprs() {
            expr.each(&mut |expr| {
                let Some(Ty { elem, place }) = typing::ty(program, expr) else { return };
                let operator = matches!(expr.op, Op::Un(_) | Op::Bin(_) | Op::Cmp(_));
                let op = kind(format!("{:?}", expr.op), if operator { 2 } else { 1 });
                features.extend([op, format!("{elem:?} {place:?}")]);
            });
        }
    });
    features
}

/// True for a program of a size for rustc that has a meaning.
pub fn is_suitable(program: &Program) -> bool {
    program.size() <= LARGEST
        && !has_unlike_closure(program)
        && interpret::run(program, &Data::new(program)).is_ok()
}

/// True if an operand that is printed inside a closure contains an `if`, which the macro rejects there, or reads other lanes: the closure
/// may run for some lanes only, while the interpreter computes operands for all.
fn has_unlike_closure(program: &Program) -> bool {
    let mut found = false;
    program.each(&mut |stmt| {
        for expr in stmt.exprs() {
            expr.each(&mut |expr| {
                if let Op::Again(_) | Op::Either(_) | Op::MapOr(..) = expr.op {
                    expr.args[1]
                        .each(&mut |inside| found |= inside.op == Op::If || inside.op.reads_other_lanes());
                }
            });
        }
    });
    found
}

/// The programs of the sample: a set of meaningful programs, as small as a greedy choice finds it, that contains every
/// feature that any of the first programs contains.
fn chosen() -> BTreeSet<u64> {
    let candidates = (0..).map(|seed| (seed, generate::program(seed)));
    let candidates = candidates.filter(|(_, program)| is_suitable(program)).take(CANDIDATES);
    let mut left: Vec<_> =
        candidates.map(|(seed, program)| (seed, program.size(), features(&program))).collect();
    let mut chosen = BTreeSet::new();
    // The number of new features in relation to the size; of equal programs, the first.
    let worth = |(_, size, features): &(u64, usize, BTreeSet<String>)| features.len() * 1000 / size;
    while let Some(best) = left.iter().rev().max_by_key(|candidate| worth(candidate)) {
        let (seed, _, covered) = best.clone();
        chosen.insert(seed);
        left.iter_mut().for_each(|(_, _, features)| features.retain(|feature| !covered.contains(feature)));
        left.retain(|(_, _, features)| !features.is_empty());
    }
    chosen
}

/// A file of these programs, each printed by `kernel` under its name.
pub fn source(seeds: impl IntoIterator<Item = u64>, kernel: impl Fn(&Program, &str) -> String) -> String {
    let mut out = String::from("//! Made from random programs; see `through_macro.rs`.\n\n");
    out.push_str("use gcn_dsl::BuiltKernel;\nuse gcn_dsl::prelude::*;\n\nuse super::cells::{Cell, cell, put};\nuse super::shapes::{Long, Machine, Pair, Rows, Thing, Word, again, either, passed};\nuse super::through_macro::Sampled;\n\ngcn_kernel! {\n");
    let (mut kernels, mut list) = (String::new(), String::new());
    for seed in seeds {
        kernels += &kernel(&generate::program(seed), &format!("program_{seed}"));
        kernels.push('\n');
        _ = writeln!(
            list,
            "    ({seed}, |target, options| program_{seed}.build_with(target, options).map(BuiltKernel::into_any)),"
        );
    }
    for line in kernels.trim_end().lines() {
        let indent = if line.is_empty() { "" } else { "    " };
        _ = writeln!(out, "{indent}{line}");
    }
    _ = write!(out, "}}\n\npub const SAMPLE: &[Sampled] = &[\n{list}];\n");
    out
}

#[test]
fn the_sample_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/random_programs/sample.rs");
    assert_current(path, &source(chosen(), print::kernel));
}

#[test]
fn the_macro_gives_what_the_interpreter_gives() {
    all_run(SAMPLE);
}

/// Runs each program on all targets, against the interpreter.
pub fn all_run(sample: &[Sampled]) {
    for &(seed, build) in sample {
        let program = generate::program(seed);
        let data = Data::new(&program);
        let want = interpret::run(&program, &data).unwrap();
        for target in TARGETS {
            let built = build(target, &BuildOptions::default())
                .unwrap_or_else(|e| panic!("program {seed} on {target}: {e}"));
            let got = simulate(&program, &built, &data);
            let got = got.unwrap_or_else(|e| panic!("program {seed} on {target}: {e}"));
            if let Some(what) = got.difference(&want) {
                panic!("program {seed} through the macro on {target}: {what}");
            }
        }
    }
}
