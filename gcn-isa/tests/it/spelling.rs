//! Code asks for what an instruction does and not how it is called: no crate above this one looks into the spelling of a mnemonic.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files that still do, by what for. A file that no longer does leaves the list.
const LISTED: &[(&str, &[&str])] = &[
    // Sequences that one's own code generator or LLVM's writes are recognised by their instructions.
    (
        "sequences of code",
        &[
            "gcn-dsl/src/ir/call.rs",
            "gcn-dsl/src/ir/pipeline/plan.rs",
            "gcn-dsl/src/lang/isa/request.rs",
            "gcn-dsl/src/kernel/debug.rs",
            "gcn-dsl/src/lower/exit.rs",
            "gcn-dsl/src/regalloc/spill/exec.rs",
            "gcn-dsl/src/regalloc/spill/moves.rs",
            "gcn-dsl/src/regalloc/verify.rs",
            "gcn-dsl/src/regalloc/verify/spills.rs",
            "gcn-emit/src/rewrite/apply.rs",
        ],
    ),
    // Entries do not have the types of elements; the names do.
    (
        "types of elements",
        &[
            "gcn-dsl/build/docs.rs",
            "gcn-dsl/src/catalog/functions.rs",
            "gcn-dsl/src/catalog/types.rs",
            "gcn-dsl/src/lower/call.rs",
            "gcn-dsl/src/lower/call/fits.rs",
            "gcn-dsl-macros/src/expand/asm/constant.rs",
            "gcn-emit/src/disasm/sweep.rs",
            "gcn-emit/src/text/parse/constant.rs",
        ],
    ),
    // The simulator's tables go from mnemonic to function.
    (
        "semantics",
        &[
            "gcn-sim/src/core/overflow.rs",
            "gcn-sim/src/semantics/fidelity.rs",
            "gcn-sim/src/semantics/mem/late.rs",
            "gcn-sim/src/semantics/valu/overflow.rs",
        ],
    ),
];

const CRATES: [&str; 6] = ["gcn-emit", "gcn-sim", "gcn-dsl", "gcn-dsl-macros", "gcn-report", "gcn-cli"];

#[test]
fn no_mnemonic_is_tested_by_its_spelling() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut found = BTreeSet::new();
    for name in CRATES {
        for folder in ["src", "build"] {
            visit(&root.join(name).join(folder), &mut |path| {
                let text = std::fs::read_to_string(path).expect("a source file");
                if text.lines().any(tests_spelling) {
                    let path = path.strip_prefix(root).expect("a file of the workspace");
                    found.insert(path.to_string_lossy().replace('\\', "/"));
                }
            });
        }
    }
    let listed: BTreeSet<String> = LISTED.iter().flat_map(|l| l.1).map(|&file| file.to_owned()).collect();
    let new: Vec<_> = found.difference(&listed).collect();
    assert!(new.is_empty(), "ask for a fact of the table, such as `desc.does(Behaviours::CALLS)`: {new:?}");
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(gone.is_empty(), "no longer test mnemonics, and need not be listed: {gone:?}");
}

/// Calls `file` for each source file in a folder, tests apart.
fn visit(folder: &Path, file: &mut dyn FnMut(&Path)) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.map(|e| e.expect("a folder's entry").path()).collect::<BTreeSet<PathBuf>>() {
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        match path.is_dir() {
            _ if is_test => {}
            true => visit(&path, file),
            false if path.extension().is_some_and(|e| e == "rs") => file(&path),
            false => {}
        }
    }
}

/// True for a line that compares a mnemonic, or a name as it is printed, with a text or takes it apart.
fn tests_spelling(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    let compared = |name: &str| {
        code.match_indices(name).any(|(at, _)| {
            let (before, after) = (&code[..at], &code[at + name.len()..]);
            let taken_apart =
                [".starts_with(", ".ends_with(", ".contains(", ".strip_prefix(", ".strip_suffix("];
            let text = [" == \"", " != \"", ", \""];
            let examined = before.contains("match ") && after.trim_start().starts_with('{');
            let tested = before.contains("matches!(") && text.iter().any(|t| after.starts_with(t));
            examined || tested || taken_apart.iter().chain(&text[..2]).any(|t| after.starts_with(t))
        })
    };
    compared("mnemonic") || compared(".printed")
}

#[test]
fn spellings_are_recognised() {
    for line in [
        r#"if desc.mnemonic == "s_nop" {"#,
        r#"row.mnemonic.starts_with("v_cvt_")"#,
        "match inst.desc.mnemonic {",
        r#"matches!(row.mnemonic, "s_trap" | "s_nop")"#,
        r#"row.printed.ends_with("_e64")"#,
    ] {
        assert!(tests_spelling(line), "{line}");
    }
    for line in [
        r#"let row = table::find(target, "s_nop");"#,
        "// as desc.mnemonic == \"s_nop\" would",
        "rows.entry(row.mnemonic)",
        "if call.mnemonic == row.mnemonic {",
    ] {
        assert!(!tests_spelling(line), "{line}");
    }
}
