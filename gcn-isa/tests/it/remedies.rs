//! The rules of RDNA that ask for remedies, against what LLVM's passes insert.

use gcn_emit::text::{Comments, parse_inst, print_program};
use gcn_isa::hazards::{Config, RuleSet};
use gcn_isa::immediate::Immediate;
use gcn_isa::target::{Subtarget, WaveSize};
use gcn_isa::wait::{self, WaitOptions};
use gcn_isa::{Inst, Operand, Program, check};

/// The processor and the size of waves that a row names.
#[allow(dead_code)]
fn subtarget(target: &str, wave: &str) -> Subtarget {
    let wave = wave.parse().ok().and_then(WaveSize::of_lanes).expect("a wave size");
    Subtarget::new(target.parse().expect("a target"), wave).expect("a wave size of the target")
}

/// A program of statements and labels `L1:`.
fn program<'a>(on: Subtarget, statements: impl IntoIterator<Item = &'a str>) -> Program {
    let mut program = Program::new(on.target, "golden");
    program.wave = on.wave;
    for statement in statements {
        if let Some(name) = statement.strip_suffix(':') {
            let label = label(&mut program, name);
            program.place(label);
            continue;
        }
        let named = statement.rsplit_once(' ').filter(|(_, word)| is_label(word));
        let inst = match named {
            Some((mnemonic, name)) => {
                let label = label(&mut program, name);
                let mut inst = parse(on, &format!("{mnemonic} 0"));
                let place = inst.operands.len() - 1;
                inst.operands[place] = Operand::Label(label);
                inst
            }
            None => parse(on, statement),
        };
        program.push(inst);
    }
    program
}

/// Labels are `L1` in the programs, `BB1` in what LLVM makes of them.
fn is_label(word: &str) -> bool {
    let number = word.strip_prefix("BB").or(word.strip_prefix('L'));
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

fn label(program: &mut Program, name: &str) -> gcn_isa::program::Label {
    match program.labels.iter().position(|l| l.name == name) {
        Some(known) => gcn_isa::program::Label(known as u32),
        None => program.new_label(name),
    }
}

fn parse(on: Subtarget, text: &str) -> Inst {
    parse_inst(text, on).unwrap_or_else(|e| panic!("{}: {text}: {e}", on.target))
}

/// The instructions of a program as text, without labels. Waits for dependencies in a row are told as one.
fn lines(program: &Program) -> Vec<String> {
    let mut program = program.clone();
    let waits = |p: &Program, at: usize| p.lines[at].inst.desc.entry.immediate == Immediate::Dependencies;
    for at in (1..program.lines.len()).rev() {
        if waits(&program, at) && waits(&program, at - 1) {
            let Operand::Imm(later) = program.lines[at].inst.operands[0] else { continue };
            let earlier = &mut std::sync::Arc::make_mut(&mut program.lines[at - 1].inst).operands[0];
            if let Operand::Imm(earlier) = earlier {
                *earlier &= later;
            }
            program.lines.remove(at);
        }
    }
    let text = print_program(&program, Comments::None);
    text.lines().filter_map(|l| l.strip_prefix('\t')).map(str::to_owned).collect()
}

/// A program with what our pass inserts.
fn repaired(mut program: Program, rules: Config) -> Program {
    let options = WaitOptions { rules, ..WaitOptions::default() };
    wait::insert_wait_states(&mut program, &options);
    wait::insert_remedies(&mut program, &options);
    let left = check::remedies(&program, rules);
    assert!(left.is_empty(), "{}: {left:?}", print_program(&program, Comments::None));
    program
}

/// A program with what LLVM inserts: `#k TEXT` before instruction k, `#k := TEXT` in its place.
fn by_llvm<'a>(statements: &[&'a str], inserted: &'a str) -> Vec<&'a str> {
    let mut all: Vec<Vec<&str>> = statements.iter().map(|s| vec![*s]).collect();
    all.push(Vec::new());
    let instructions: Vec<usize> = (0..statements.len()).filter(|i| !statements[*i].ends_with(':')).collect();
    for edit in inserted.split(" ; ").filter(|e| *e != "-") {
        let (number, text) = edit.strip_prefix('#').and_then(|e| e.split_once(' ')).expect("an edit");
        let number: usize = number.parse().expect("a number");
        let place = instructions.get(number - 1).copied().unwrap_or(statements.len());
        match text.strip_prefix(":= ") {
            Some(text) => *all[place].last_mut().expect("a statement") = text,
            None => {
                let before = all[place].len().saturating_sub(usize::from(place < statements.len()));
                all[place].insert(before, text);
            }
        }
    }
    all.concat()
}

/// How our result compares with LLVM's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Outcome {
    Same,
    /// LLVM's result breaks none of the rules, and is another.
    Other,
    /// LLVM's result breaks a rule.
    Above,
    /// Ours has something less than LLVM's.
    Below,
}

/// Compares by text, and where that differs by what each has.
fn compare(on: Subtarget, ours: &Program, llvm: &[&str], rules: Config) -> Outcome {
    let theirs = program(on, llvm.iter().copied());
    let (mut a, mut b) = (lines(ours), lines(&theirs));
    if a == b {
        return Outcome::Same;
    }
    if !check::remedies(&theirs, rules).is_empty() {
        return Outcome::Above;
    }
    a.sort();
    b.sort();
    if a == b { Outcome::Other } else { Outcome::Below }
}

#[test]
#[ignore = "reads files that are not part of the repository"]
fn scratch() {
    let path = std::env::var("GOLDEN").expect("a path");
    let set = std::env::var("RULES").unwrap_or("llvm".into()).parse::<RuleSet>().unwrap().config(true);
    let shown: usize = std::env::var("SHOW").map_or(10, |n| n.parse().unwrap());
    let text = crate::golden::unpack(&std::fs::read(path).expect("a file"));
    let mut counts = std::collections::BTreeMap::new();
    let mut skipped: std::collections::BTreeMap<String, usize> = Default::default();
    for row in crate::golden::rows(&text) {
        let (statements, inserted): (Vec<&str>, &str) = match row[..] {
            [_, _, first, second, inserted] => (vec![first, second], inserted),
            [_, _, program, inserted] => (program.split(" | ").collect(), inserted),
            _ => panic!("{row:?}"),
        };
        let on = subtarget(row[0], row[1]);
        let mut statements = statements;
        statements.push("s_endpgm");
        if statements.iter().any(|s| !is_label(s.trim_end_matches(':')) && !s.rsplit_once(' ').is_some_and(|(_, w)| is_label(w)) && parse_inst(s, on).is_err()) {
            *skipped.entry(row[1].to_owned()).or_insert(0) += 1;
            continue;
        }
        let ours = repaired(program(on, statements.iter().copied()), set);
        let outcome = compare(on, &ours, &by_llvm(&statements, inserted), set);
        let count = counts.entry((row[1].to_owned(), outcome)).or_insert(0);
        *count += 1;
        if outcome != Outcome::Same && *count <= shown {
            println!("{outcome:?} {} {}\n   {}\n   LLVM {inserted}\n   ours {}", row[0], row[1], statements.join(" | "), lines(&ours).join(" | "));
            for f in check::remedies(&program(on, by_llvm(&statements, inserted)), set) {
                println!("      {f}");
            }
        }
    }
    println!("{counts:?} skipped {skipped:?}");
}
