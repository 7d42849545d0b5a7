//! Tests the code sequences of the memory model against those of LLVM 22. The results of LLVM's memory legalizer for every combination are
//! in `tests/data/memory-model-llvm22.tsv`. If LLVM is installed, they are computed again, and `GCN_BLESS=1` writes the file. `DIFFERENCES`
//! must list exactly the sequences that differ from the guide.

mod llvm;
mod rdna;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use gcn_emit::text::parse_program;
use gcn_isa::memory_model::{
    Action, Applies, Bits, DIFFERENCES, MemoryWait, Mode, Operation, Ordering, Row, Scope, Space, TABLES,
    What, memory_wait, page, sequence,
};
use gcn_isa::target::Generation;
use gcn_isa::{Target, table};
use gcn_test_support::stored::assert_current;

const ANSWERS: &str = include_str!("../data/memory-model-llvm22.tsv");

/// The target and mode of each column of the results.
const COLUMNS: [(Target, Mode); 20] = [
    (Target::GFX900, Mode::Normal),
    (Target::GFX906, Mode::Normal),
    (Target::GFX908, Mode::Normal),
    (Target::GFX90A, Mode::Normal),
    (Target::GFX942, Mode::Normal),
    (Target::GFX950, Mode::Normal),
    (Target::GFX90A, Mode::TgSplit),
    (Target::GFX942, Mode::TgSplit),
    (Target::GFX950, Mode::TgSplit),
    (Target::GFX1010, Mode::Normal),
    (Target::GFX1030, Mode::Normal),
    (Target::GFX1100, Mode::Normal),
    (Target::GFX1151, Mode::Normal),
    (Target::GFX1201, Mode::Normal),
    (Target::GFX1010, Mode::Wgp),
    (Target::GFX1030, Mode::Wgp),
    (Target::GFX1100, Mode::Wgp),
    (Target::GFX1151, Mode::Wgp),
    (Target::GFX1201, Mode::Wgp),
    (Target::GFX1250, Mode::Normal),
];

/// The form of an operation in LLVM IR.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Form {
    Load,
    Store,
    Exchange,
    ExchangeReturning,
    CompareExchange,
    Fence,
}

const FORMS: [Form; 6] =
    [Form::Load, Form::Store, Form::Exchange, Form::ExchangeReturning, Form::CompareExchange, Form::Fence];

impl Form {
    fn operation(self) -> Operation {
        match self {
            Form::Load => Operation::Load,
            Form::Store => Operation::Store,
            Form::Exchange | Form::ExchangeReturning | Form::CompareExchange => Operation::Rmw,
            Form::Fence => Operation::Fence,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Case {
    form: Form,
    ordering: Ordering,
    scope: Scope,
    space: Space,
}

impl Case {
    fn name(self) -> String {
        let form = format!("{:?}", self.form).to_lowercase();
        let space = if self.form == Form::Fence { "none" } else { self.space.name() };
        format!("{form}.{}.{}.{space}", self.ordering.name(), self.scope.name())
    }

    fn ours(self, (target, mode): (Target, Mode)) -> Option<String> {
        sequence(target, mode, self.form.operation(), self.ordering, self.scope, self.space)
            .map(|s| s.returning(self.form == Form::ExchangeReturning).to_string())
    }
}

/// Every combination that LLVM IR can express.
fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for form in FORMS {
        for ordering in Ordering::ALL.into_iter().filter(|o| form.operation().allows(*o)) {
            for scope in Scope::ALL {
                for space in Space::ALL {
                    if form != Form::Fence || space == Space::Generic {
                        all.push(Case { form, ordering, scope, space });
                    }
                }
            }
        }
    }
    all
}

/// LLVM's results by case, in the order of the columns.
fn answers() -> BTreeMap<String, Vec<String>> {
    let rows = ANSWERS.lines().skip(1).map(|line| {
        let mut cells = line.split('\t').map(str::to_owned);
        (cells.next().unwrap_or_default(), cells.collect())
    });
    rows.collect()
}

#[test]
fn sequences_are_llvms_but_for_listed_differences() {
    let answers = answers();
    assert_eq!(answers.len(), cases().len());
    let (mut equal, mut listed) = (0, 0);
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut wrong = String::new();
    for case in cases() {
        for (column, &(target, mode)) in COLUMNS.iter().enumerate() {
            let llvm = answers[&case.name()][column].as_str();
            let Some(ours) = case.ours((target, mode)) else {
                // There is no LDS in TgSplit mode, so there is nothing to compare.
                assert!(mode == Mode::TgSplit && case.space == Space::Local, "{case:?} {target}");
                continue;
            };
            let (operation, ordering) = (case.form.operation(), case.ordering);
            let at = Applies { target, mode, operation, ordering, scope: case.scope, space: case.space };
            // The rows of RDNA were taken from LLVM.
            let follows_guide = target.generation() == Generation::GFX9;
            let known: Vec<_> = DIFFERENCES.iter().filter(|d| follows_guide && (d.applies)(at)).collect();
            if ours == llvm {
                equal += 1;
            } else {
                listed += usize::from(!known.is_empty());
                known.iter().for_each(|d| _ = seen.insert(d.id));
            }
            if (ours == llvm) != known.is_empty() {
                writeln!(wrong, "{target} {mode:?} {}\n  ours {ours}\n  llvm {llvm}", case.name()).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "differences that are not listed, or listed and not there:\n{wrong}");
    assert_eq!(seen.len(), DIFFERENCES.len(), "a listed difference was not met: {seen:?}");
    println!("{equal} sequences are LLVM's, {listed} differ as listed");
}

#[test]
fn every_combination_has_one_row() {
    for table in &TABLES {
        for operation in Operation::ALL {
            for ordering in Ordering::ALL {
                for scope in Scope::ALL {
                    for space in Space::ALL {
                        let matching = |row: &&Row| {
                            row.operation == operation
                                && row.ordering == ordering
                                && row.scopes.contains(&scope)
                                && (row.spaces.is_empty() || row.spaces.contains(&space))
                        };
                        let rows = table.rows.iter().filter(matching).count();
                        let narrow = space != Space::Local || scope <= Scope::Workgroup;
                        let wide_row = operation != Operation::Fence && !narrow;
                        let at = format!("{} {operation:?} {ordering:?} {scope:?} {space:?}", table.section);
                        match operation.allows(ordering) {
                            true if wide_row => assert!(rows <= 1, "{at}"),
                            true if scope == Scope::Cluster && !table.has_clusters() => {
                                assert_eq!(rows, 0, "{at}");
                            }
                            true => assert_eq!(rows, 1, "{at}"),
                            false => assert_eq!(rows, 0, "{at}"),
                        }
                        for target in table.targets.targets() {
                            let found = sequence(target, Mode::Normal, operation, ordering, scope, space);
                            assert_eq!(found.is_some(), operation.allows(ordering), "{at}");
                        }
                    }
                }
            }
        }
    }
}

/// Tests that the instructions in the rows exist on their targets and have the bits that the rows specify.
#[test]
fn rows_name_instructions_of_their_targets() {
    for (table, target) in TABLES.iter().flat_map(|t| t.targets.targets().map(move |target| (t, target))) {
        for step in table.rows.iter().flat_map(|row| row.steps) {
            let bits = match step.what {
                What::Cache(mnemonic, bits) => {
                    let text = Action::Cache { mnemonic, bits }.on(target.instruction_set());
                    assert!(table::find(target, mnemonic).next().is_some(), "{target}: {mnemonic}");
                    parse_program(&text, target, "rows").unwrap_or_else(|e| panic!("{target}: {text}: {e}"));
                    bits
                }
                What::Access(bits) => bits,
                What::Wait(_) | What::Same(_) => continue,
            };
            let scopes = Bits::SCOPE_SE | Bits::SCOPE_DEV | Bits::SCOPE_SYS;
            let own = match target.generation() {
                Generation::GFX9 if target.is_gfx940_family() => Bits::SC0 | Bits::SC1,
                Generation::GFX9 | Generation::GFX11 => Bits::GLC,
                Generation::GFX10 => Bits::GLC | Bits::DLC,
                Generation::GFX12 => scopes,
            };
            let foreign = own.complement();
            assert!(!bits.intersects(foreign), "{target}: {bits:?}");
        }
    }
}

#[test]
fn waits_that_order_memory_are_recognised() {
    let kinds = |text: &str| {
        let program = parse_program(text, Target::GFX942, "waits").expect("the listing parses");
        let waits = (0..program.lines.len()).filter_map(|i| memory_wait(&program, i));
        waits.collect::<Vec<_>>()
    };
    // These waits must be distinct: each sequence of the table has a wait of its own, which is not a wait for a register.
    let cases: [(&str, &[MemoryWait]); 8] = [
        ("global_load_dword v0, v1, s[0:1]\ns_waitcnt vmcnt(0)\nv_add_u32 v0, v0, v0", &[]),
        (
            "buffer_wbl2 sc1\ns_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dword v0, v1, s[0:1] sc1",
            &[MemoryWait::WriteBack],
        ),
        (
            "global_load_dword v0, v1, s[0:1] sc1\ns_waitcnt vmcnt(0)\nbuffer_inv sc1",
            &[MemoryWait::Invalidate],
        ),
        ("ds_write_b32 v0, v1\ns_waitcnt lgkmcnt(0)\ns_nop 0\ns_barrier", &[MemoryWait::Barrier]),
        ("s_waitcnt lgkmcnt(0)\nglobal_atomic_add v0, v1, s[0:1]", &[MemoryWait::Release]),
        ("ds_add_rtn_u32 v0, v1, v2\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v3, v4", &[MemoryWait::Acquire]),
        ("s_waitcnt vmcnt(0)\ns_endpgm", &[MemoryWait::Exit]),
        ("s_nop 0\ns_waitcnt vmcnt(0)\ns_waitcnt lgkmcnt(0)\ns_barrier", &[MemoryWait::Barrier; 2]),
    ];
    for (text, expected) in cases {
        assert_eq!(kinds(text), expected, "{text}");
    }
}

/// Tests that the page is current. `GCN_BLESS=1 cargo test -p gcn-isa-tests memory_model` writes the page.
#[test]
fn page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/memory-model.md");
    assert_current(path, &page());
}
