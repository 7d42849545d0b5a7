//! Tests the RDNA rules with remedies against the instructions that LLVM's passes insert.

use gcn_emit::text::{Comments, parse_inst, print_program};
use gcn_isa::hazards::{Config, RuleSet};
use gcn_isa::immediate::Immediate;
use gcn_isa::target::{Subtarget, WaveSize};
use gcn_isa::wait::{self, WaitOptions};
use gcn_isa::{Inst, Operand, Program, check};

/// The processor and the wave size that a row of the golden table names.
fn subtarget(target: &str, wave: &str) -> Subtarget {
    let wave = wave.parse().ok().and_then(WaveSize::of_lanes).expect("a wave size");
    let target = gcn_isa::Target::KNOWN.into_iter().find(|known| known.name() == target).expect("a target");
    Subtarget::new(target, wave).expect("a wave size of the target")
}

/// A program of statements and labels such as `L1:`.
fn program<'a>(on: Subtarget, statements: impl IntoIterator<Item = &'a str>) -> Program {
    let mut program = Program::new(on.target, "golden");
    program.wave = on.wave;
    for statement in statements.into_iter().map(crate::golden::of_mir) {
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

/// True if the word is a label: labels are `L1` in the programs and `BB1` in LLVM's output.
fn is_label(word: &str) -> bool {
    let number = word.strip_prefix("BB").or(word.strip_prefix('L'));
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

fn label(program: &mut Program, name: &str) -> gcn_isa::program::Label {
    let name = &name.replace("BB", "L");
    match program.labels.iter().position(|l| l.name == *name) {
        Some(known) => gcn_isa::program::Label(known as u32),
        None => program.new_label(name.as_str()),
    }
}

fn parse(on: Subtarget, text: &str) -> Inst {
    parse_inst(text, on).unwrap_or_else(|e| panic!("{}: {text}: {e}", on.target))
}

/// The instructions of a program as text, without labels. Several successive waits for dependencies are written as one.
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
    // LLVM renumbers the labels.
    let named: Vec<usize> = program
        .lines
        .iter()
        .flat_map(|l| &l.inst.operands)
        .filter_map(|o| match o {
            Operand::Label(label) => program.labels[label.0 as usize].at,
            _ => None,
        })
        .collect();
    for label in &mut program.labels {
        let places: std::collections::BTreeSet<_> = named.iter().filter(|at| Some(**at) < label.at).collect();
        label.name = format!("L{}", places.len());
    }
    let text = print_program(&program, Comments::None);
    text.lines().filter_map(|l| l.strip_prefix('\t')).map(str::to_owned).collect()
}

/// The program with the instructions that our pass inserts.
fn repaired(mut program: Program, rules: Config) -> Program {
    let options = WaitOptions { rules, ..WaitOptions::default() };
    wait::insert_wait_states(&mut program, &options);
    wait::insert_remedies(&mut program, &options);
    let left = check::remedies(&program, rules);
    assert!(left.is_empty(), "{}: {left:?}", print_program(&program, Comments::None));
    program
}

/// The program with the instructions that LLVM inserts: `#k TEXT` stands for an instruction before instruction k, `#k := TEXT` for a
/// replacement of instruction k.
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

/// The outcome of a comparison of our result with another compiler's result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Outcome {
    Same,
    /// Both results have the same instructions, but at different positions.
    Moved,
    /// Our result has more instructions, but LLVM's result breaks no rule.
    More,
    /// LLVM's result breaks a rule.
    Above,
    /// LLVM's result has an instruction that our result lacks.
    Below,
    /// The tables lack one of the instructions (a graphics instruction).
    Skipped,
}

/// Compares the texts. If they differ, compares the instructions that each result has.
fn compare(on: Subtarget, ours: &Program, theirs: &[&str], rules: Config) -> Outcome {
    let theirs = program(on, theirs.iter().copied());
    let (mut a, mut b) = (lines(ours), lines(&theirs));
    if a == b {
        return Outcome::Same;
    }
    if !check::remedies(&theirs, rules).is_empty() {
        return Outcome::Above;
    }
    a.sort();
    b.sort();
    if a == b {
        return Outcome::Moved;
    }
    let count = |of: &[String], text: &String| of.iter().filter(|t| *t == text).count();
    if b.iter().all(|text| count(&a, text) >= count(&b, text)) { Outcome::More } else { Outcome::Below }
}

/// The number of cases with each outcome: same, moved, more, above, below, skipped.
type Tally = [usize; 6];

fn show(outcome: Outcome, on: Subtarget, before: &[&str], theirs: &[&str], ours: &Program) {
    if outcome > Outcome::Moved && outcome != Outcome::Skipped {
        println!(
            "{outcome:?} {on:?}\n   {}\n   LLVM {}\n   ours {}",
            before.join(" | "),
            theirs.join(" | "),
            lines(ours).join(" | ")
        );
    }
}

/// True if the tables have the instruction. They lack graphics instructions.
fn is_known(on: Subtarget, statement: &str) -> bool {
    let named = statement.rsplit_once(' ').is_some_and(|(_, word)| is_label(word));
    statement.ends_with(':') || named || parse_inst(statement, on).is_ok()
}

/// True for an instruction before and after which LLVM always waits. At the start of a function, it waits for what the caller may have issued,
/// which our rules do not see. The programs with such an instruction are therefore compared with an `s_nop` at their start.
fn is_put_between_waits(statement: &str) -> bool {
    statement.starts_with("ds_atomic_async_barrier_arrive_b64")
}

fn outcome(on: Subtarget, before: &[&str], theirs: &[&str], rules: Config) -> Outcome {
    if !before.iter().all(|s| is_known(on, s)) {
        return Outcome::Skipped;
    }
    let caller = before.iter().any(|s| is_put_between_waits(s)).then_some("s_nop 0");
    let [before, theirs] =
        [before, theirs].map(|text| caller.into_iter().chain(text.iter().copied()).collect::<Vec<&str>>());
    let ours = repaired(program(on, before.iter().copied()), rules);
    let outcome = compare(on, &ours, &theirs, rules);
    show(outcome, on, &before, &theirs, &ours);
    outcome
}

/// Compares the rows of a table of pairs or chains, under the rules that LLVM has.
fn table(packed: &[u8]) -> Tally {
    let mut tally = Tally::default();
    for row in crate::golden::rows(&crate::golden::unpack(packed)) {
        let (mut statements, inserted): (Vec<&str>, &str) = match row[..] {
            [_, _, first, second, inserted] => (vec![first, second], inserted),
            [_, _, program, inserted] => (program.split(" | ").collect(), inserted),
            _ => panic!("{row:?}"),
        };
        statements.push("s_endpgm");
        let theirs = by_llvm(&statements, inserted);
        let on = subtarget(row[0], row[1]);
        tally[outcome(on, &statements, &theirs, RuleSet::Llvm.config(true)) as usize] += 1;
    }
    tally
}

/// Compares the programs with branches.
fn streams(target: &str, packed: &[u8]) -> Tally {
    let mut tally = Tally::default();
    for text in crate::golden::unpack(packed).split("\n\n").filter(|t| !t.trim().is_empty()) {
        let (before, after) = text.trim().split_once("\n=== LLVM 22\n").expect("two programs");
        let mut before: Vec<&str> = before.lines().collect();
        let wave = before.remove(0).rsplit_once("wave").expect("the size of waves").1;
        before.push("s_endpgm");
        let after: Vec<&str> = after.lines().collect();
        let on = subtarget(target, wave);
        tally[outcome(on, &before, &after, RuleSet::Llvm.config(true)) as usize] += 1;
    }
    tally
}

macro_rules! data {
    ($kind:literal, $target:literal, $ending:literal) => {
        include_bytes!(concat!("../data/rdna/hazard-", $kind, "-", $target, $ending))
    };
}

/// Tests that a rule can be selected by its name and that no rule of another kind has the same name.
#[test]
fn names_are_unique() {
    let mut names: Vec<&str> = gcn_isa::hazards::pages(None).iter().map(|page| page.id).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

/// Tests that we insert the same instructions as LLVM 22 between the instructions of each pair.
#[test]
fn pairs_are_as_llvm_has_them() {
    let all = [
        table(data!("pairs", "gfx1010", ".tsv.gz")),
        table(data!("pairs", "gfx1030", ".tsv.gz")),
        table(data!("pairs", "gfx1100", ".tsv.gz")),
        table(data!("pairs", "gfx1151", ".tsv.gz")),
        table(data!("pairs", "gfx1201", ".tsv.gz")),
        table(data!("pairs", "gfx1250", ".tsv.gz")),
    ];
    let same = |n| [n, 0, 0, 0, 0, 0];
    // On gfx1250, `Above`: LLVM ignores the scales of matrix instructions. `Below`: LLVM treats the LDS address of an asynchronous copy as
    // a result. `Moved` on gfx1250: around the arrival at a barrier in LDS, LLVM's wait stands on the other side of other waits.
    assert_eq!(
        all,
        [[5343, 0, 0, 0, 0, 355], same(2347), same(3548), same(3491), same(3892), [5781, 7, 0, 5, 22, 0]]
    );
}

/// Tests chains of three to eight instructions.
#[test]
fn chains_are_as_llvm_has_them() {
    let all = [
        table(data!("chains", "gfx1010", ".tsv.gz")),
        table(data!("chains", "gfx1030", ".tsv.gz")),
        table(data!("chains", "gfx1100", ".tsv.gz")),
        table(data!("chains", "gfx1151", ".tsv.gz")),
        table(data!("chains", "gfx1201", ".tsv.gz")),
        table(data!("chains", "gfx1250", ".tsv.gz")),
    ];
    // `Above`: LLVM inserts two waits for one reader at the same position. On gfx1250, LLVM stops at the first group of matrix instructions
    // that contains a near one, although another matrix instruction of the group needs more `v_nop`s. `Below`: as for pairs, and LLVM waits
    // twice where only other waits stand between two arrivals at a barrier in LDS.
    let expected = [
        [3759, 7, 0, 0, 0, 366],
        [2387, 0, 0, 0, 0, 0],
        [4698, 2, 1, 48, 0, 0],
        [4054, 5, 0, 59, 0, 0],
        [4680, 1, 0, 0, 0, 0],
        [2892, 13, 0, 163, 14, 0],
    ];
    assert_eq!(all, expected);
}

/// Tests programs with branches and loops.
#[test]
fn streams_are_as_llvm_has_them() {
    let all = [
        streams("gfx1010", data!("streams", "gfx1010", ".txt.gz")),
        streams("gfx1030", data!("streams", "gfx1030", ".txt.gz")),
        streams("gfx1100", data!("streams", "gfx1100", ".txt.gz")),
        streams("gfx1151", data!("streams", "gfx1151", ".txt.gz")),
        streams("gfx1201", data!("streams", "gfx1201", ".txt.gz")),
        streams("gfx1250", data!("streams", "gfx1250", ".txt.gz")),
    ];
    // `Below`: LLVM processes the head of a loop before the end of the loop, into which it then inserts a wait that makes the wait at the
    // head unnecessary (nine cases on gfx1250, where five more concern the address of an asynchronous copy). `Above` on gfx1250: as for
    // chains; on gfx1201: in two cases, LLVM does not know that `s_movreld_b32` may write the register that is read next.
    let expected = [
        [829, 0, 0, 0, 2, 169],
        [1000, 0, 0, 0, 0, 0],
        [996, 0, 0, 1, 3, 0],
        [998, 1, 0, 0, 1, 0],
        [996, 1, 0, 3, 0, 0],
        [455, 0, 0, 31, 14, 0],
    ];
    assert_eq!(all, expected);
}

/// Tests the cases of Mesa's own tests. Where both compilers require something (`certain`), the checker must report it as missing, and the
/// result of each compiler must not break any rule that both compilers have.
#[test]
fn what_mesa_and_llvm_agree_on_is_certain() {
    let packed = include_bytes!("../data/rdna/aco-cases.tsv.gz");
    let (mut asked, mut found, mut clean, mut skipped) = (0, 0, 0, 0);
    for row in crate::golden::rows(&crate::golden::unpack(packed)) {
        let [target, wave, text, mesa, test, _, llvm, _] = row[..] else { panic!("{row:?}") };
        if !test.starts_with("insert_nops") || !target.starts_with("gfx1") {
            continue;
        }
        let on = subtarget(target, wave);
        let statements: Vec<&str> = text.split(" | ").collect();
        if !statements.iter().all(|s| is_known(on, s)) {
            skipped += 1;
            continue;
        }
        let rules = RuleSet::Certain.config(true);
        if mesa != "-" && llvm != "-" {
            asked += 1;
            let found_here = !check::remedies(&program(on, statements.iter().copied()), rules).is_empty();
            found += usize::from(found_here);
            if !found_here {
                println!("{target} {test}: {text}: Mesa {mesa}, LLVM {llvm}");
            }
        }
        for theirs in [mesa, llvm] {
            let after = by_llvm(&statements, theirs);
            let left = check::remedies(&program(on, after.iter().copied()), rules);
            clean += usize::from(left.is_empty());
            for finding in left {
                println!("{target} {test}: {}: {finding}", after.join(" | "));
            }
        }
    }
    // `found` lacks two masks that are written, but not read in the code of the case. `clean` lacks the results that break such a rule: of
    // three registers on both sides of a write to EXEC, LLVM considers only the last; Mesa assumes that a scalar result has arrived after
    // eleven scalar instructions, even before a jump.
    assert_eq!((asked, found, clean, skipped), (85, 83, 308, 0));
}

/// Tests the rules on programs with calls. LLVM considers each function separately: in a function that is called, it assumes that any SGPR
/// may have been read, and after a call it considers the code before the call. For each program, the table states whether LLVM's passes,
/// given the functions one by one, find that a wait is missing, and whether all rules together find it.
#[test]
fn llvm_looks_at_each_function_by_itself() {
    let mask = "v_add_co_ci_u32_e64 v1, null, 0, v6, vcc";
    let (write, wait) = ("v_add_co_u32 v0, vcc, v5, 4", "s_waitcnt_depctr depctr_va_vcc(0)");
    let (call, leave) = ("s_call_b64 s[30:31], L1", "s_setpc_b64 s[30:31]");
    let rdna3: [(&[&str], bool, bool); 4] = [
        // A mask that the caller reads is not visible in the function.
        (&[mask, call, "s_endpgm", "L1:", write, mask, leave], false, true),
        // A mask that the function reads after the call is not visible in the caller.
        (&[call, write, mask, "s_endpgm", "L1:", mask, leave], false, true),
        // A register that the caller itself has read is visible.
        (&[mask, call, write, mask, "s_endpgm", "L1:", leave], true, true),
        (&[mask, call, write, wait, mask, "s_endpgm", "L1:", leave], false, false),
    ];
    let rdna4: [(&[&str], bool, bool); 2] = [
        // The return address is written outside the function that uses it.
        (&["v_mov_b32_e32 v1, s30", call, "s_endpgm", "L1:", leave], false, true),
        (&[call, "s_endpgm", "L1:", "s_mov_b32 s4, 5", "v_mov_b32_e32 v1, s4", leave], true, false),
    ];
    let all = rdna3.map(|case| (subtarget("gfx1100", "64"), case)).into_iter();
    for (on, (lines, by_llvm, by_all)) in all.chain(rdna4.map(|case| (subtarget("gfx1201", "32"), case))) {
        let program = program(on, lines.iter().copied());
        for (set, expected) in [(RuleSet::Llvm, by_llvm), (RuleSet::Safe, by_all)] {
            let found = check::remedies(&program, set.config(false));
            assert_eq!(!found.is_empty(), expected, "{on:?} {}: {found:?}", lines.join(" | "));
        }
        // The inserter finds the same as the checker.
        repaired(program, RuleSet::Llvm.config(false));
    }
}

/// Tests that the hazard of partial forwarding needs two registers: one register that is written on both sides of a write to EXEC is not
/// enough. A finding names the instruction that completes the sequence and the instruction that needs the remedy.
#[test]
fn a_register_is_not_another_one() {
    let found = |second| {
        let first = ["v_mov_b32_e32 v1, 1", "s_mov_b64 exec, -1", second];
        let lines = first.into_iter().chain(["v_add_f32_e32 v3, v1, v2", "s_endpgm"]);
        let program = program(subtarget("gfx1100", "64"), lines);
        let found = check::remedies(&program, RuleSet::Safe.config(false));
        let forwarding = found.into_iter().filter(|finding| finding.rule.contains("partial-forwarding"));
        forwarding.map(|finding| (finding.first, finding.second)).collect::<Vec<_>>()
    };
    assert_eq!(found("v_mov_b32_e32 v2, 2"), [(Some(2), 3)]);
    assert_eq!(found("v_mov_b32_e32 v1, 2"), []);
}

/// The questions about reads of the wave's state, and about arrivals at barriers, in the table of rules: what LLVM requires, apart from the
/// hold count. An instruction that has nothing before it stands for one at the start of a function here.
#[test]
fn state_is_read_and_barriers_are_arrived_at_between_waits() {
    const IDLE: &str = "s_wait_alu depctr_sa_sdst(0) depctr_va_vdst(0) depctr_va_sdst(0) depctr_va_ssrc(0) depctr_va_vcc(0) depctr_vm_vsrc(0)";
    const READ: &str = "s_wait_alu depctr_vm_vsrc(0)";
    const ARRIVE: &str = "ds_atomic_async_barrier_arrive_b64 v0";
    let on = subtarget("gfx1250", "32");
    let repaired = |statements: &[&str]| {
        lines(&repaired(program(on, statements.iter().copied()), RuleSet::Llvm.config(true)))
    };
    for (register, waits) in [
        ("HW_REG_WAVE_STATUS", true),
        ("HW_REG_WAVE_STATE_PRIV", true),
        ("HW_REG_WAVE_EXCP_FLAG_PRIV", true),
        ("HW_REG_WAVE_EXCP_FLAG_USER", true),
        ("HW_REG_WAVE_MODE", false),
        ("HW_REG_WAVE_SCHED_MODE", false),
        ("HW_REG_WAVE_HW_ID1", false),
        ("HW_REG_IB_STS", false),
        ("HW_REG_SHADER_CYCLES_LO", false),
    ] {
        let read = format!("s_getreg_b32 s4, hwreg({register})");
        let before: &[&str] = if waits { &["v_mov_b32_e32 v0, v1", IDLE] } else { &["v_mov_b32_e32 v0, v1"] };
        assert_eq!(repaired(&["v_mov_b32_e32 v0, v1", &read]), [before, &[&read]].concat(), "{register}");
    }
    let (load, write) = ("global_load_async_to_lds_b32 v0, v[4:5], off", "v_mov_b32_e32 v0, v1");
    assert_eq!(repaired(&[load, ARRIVE, write]), [load, READ, ARRIVE, READ, write]);
    let returning = "ds_atomic_barrier_arrive_rtn_b64 v[0:1], v8, v[2:3]";
    assert_eq!(repaired(&[write, returning]), [write, returning]);
}
