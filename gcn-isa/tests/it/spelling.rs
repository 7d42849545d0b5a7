//! Tests that code asks for the effect of an instruction instead of its name: no crate that depends on this one inspects the spelling of a
//! mnemonic.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gcn_isa::{Target, table};

/// Files whose subject is the spelling. A file that no longer inspects any spelling must be removed from the list.
const LISTED: &[&str] = &[
    // The results of the simulator that are approximate or assumed, listed as families of names. The reader of the list asks for them by
    // name.
    "gcn-sim/src/semantics/fidelity.rs",
];

const CRATES: [&str; 6] = ["gcn-emit", "gcn-sim", "gcn-dsl", "gcn-dsl-macros", "gcn-report", "gcn-cli"];

/// The source files of the crates in which some line has the property.
fn files(crates: &[&str], property: fn(&str) -> bool) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let mut found = BTreeSet::new();
    for name in crates {
        for folder in ["src", "build"] {
            visit(&root.join(name).join(folder), &mut |path| {
                let text = std::fs::read_to_string(path).expect("a source file");
                let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
                // Join a string literal that extends over several lines.
                let text = text.replace("\\\n", "");
                if text.lines().any(property) {
                    let path = path.strip_prefix(root).expect("a file of the workspace");
                    found.insert(path.to_string_lossy().replace('\\', "/"));
                }
            });
        }
    }
    found
}

#[test]
fn no_mnemonic_is_tested_by_its_spelling() {
    let found = files(&CRATES, tests_spelling);
    let listed: BTreeSet<String> = LISTED.iter().map(|&file| file.to_owned()).collect();
    let new: Vec<_> = found.difference(&listed).collect();
    assert!(new.is_empty(), "ask for a fact of the table, such as `desc.does(Behaviours::CALLS)`: {new:?}");
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(gone.is_empty(), "no longer test mnemonics, and need not be listed: {gone:?}");
}

/// Calls `file` for each source file in a folder, except tests.
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

/// True for a line that compares a mnemonic or a printed name with a text, or that splits it.
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
    // With `let name = desc.mnemonic;`, the line that inspects the name would not show that it inspects a mnemonic.
    let renamed = ["desc.mnemonic;", "row.mnemonic;"].iter().any(|name| code.trim_end().ends_with(name))
        && code.trim_start().starts_with("let ");
    // A text that can only be a mnemonic or the start of a mnemonic is evidence that the name of the variable does not give.
    let prefixes = ["v_", "s_", "ds_", "buffer_", "tbuffer_", "global_", "flat_", "scratch_"];
    let tests = ["starts_with(", "strip_prefix(", "== ", "!= "];
    let begins = prefixes.iter().any(|p| tests.iter().any(|t| code.contains(&format!("{t}\"{p}"))));
    renamed || begins || compared("mnemonic") || compared(".printed")
}

#[test]
fn spellings_are_recognised() {
    for line in [
        r#"if desc.mnemonic == "s_nop" {"#,
        r#"row.mnemonic.starts_with("v_cvt_")"#,
        "match inst.desc.mnemonic {",
        r#"matches!(row.mnemonic, "s_trap" | "s_nop")"#,
        r#"row.printed.ends_with("_e64")"#,
        "let name = desc.mnemonic;",
        r#"if name == "s_nop" {"#,
        r#"name.starts_with("ds_read")"#,
    ] {
        assert!(tests_spelling(line), "{line}");
    }
    for line in [
        r#"let row = table::find(target, "s_nop");"#,
        "// as desc.mnemonic == \"s_nop\" would",
        "rows.entry(row.mnemonic)",
        "if call.mnemonic == row.mnemonic {",
        "let entry = Entry { mnemonic, meaning };",
    ] {
        assert!(!tests_spelling(line), "{line}");
    }
}

/// Tests that the properties of targets are stated in the rows of tables.
#[test]
fn no_target_is_tested_by_its_name() {
    let all = [&CRATES[..], &["gcn-isa", "gcn-hip"]].concat();
    let found = files(&all, tests_target);
    assert_eq!(found, BTreeSet::new());
}

/// True for a line that compares a target with a target of a certain name.
fn tests_target(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    let names = ["Target::GFX", "InstructionSet::GFX"].map(|name| code.match_indices(name));
    names.into_iter().flatten().any(|(at, name)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        let after = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').trim_start();
        // The call's parenthesis is not closed yet.
        let open = |call: &str| {
            let mut depth = 1;
            let mut inside = before.rfind(call).map_or(")", |at| &before[at + call.len()..]).chars();
            inside.all(|c| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                depth > 0
            })
        };
        let compared = ["== ", "!= ", "< ", "> ", "<= ", ">= "].iter().any(|op| before.ends_with(op))
            || ["== ", "!= ", "< ", "> ", "=> ", "| "].iter().any(|op| after.starts_with(op));
        compared || open("matches!(") || open("targets.contains(")
    })
}

#[test]
fn tests_of_targets_are_recognised() {
    for line in [
        "if target == Target::GFX950 {",
        "matches!(self.target, Target::GFX90A | Target::GFX942)",
        "Target::GFX900 | Target::GFX906 => 4,",
        "row.targets.contains(Target::GFX942)",
    ] {
        assert!(tests_target(line), "{line}");
    }
    for line in [
        "let row = table::find(Target::GFX950, name);",
        "matches!(ty, ElemType::F16) || small(ty, Target::GFX950).is_some()",
        "targets: TargetSet::range(Target::GFX900, Target::GFX908),",
        "// target == Target::GFX950",
        "const USUAL: Target = Target::GFX942;",
    ] {
        assert!(!tests_target(line), "{line}");
    }
}

/// Tests that code obtains the number of lanes from `Target::wave_size` or, where no target is available, from `WAVE_SIZE`.
#[test]
fn the_size_of_a_wave_is_written_once() {
    let all = [&CRATES[..], &["gcn-isa", "gcn-hip"]].concat();
    let found = files(&all, repeats_wave_size);
    assert_eq!(
        found,
        ["gcn-isa/src/target.rs", "gcn-isa/src/target/instruction_set.rs"].map(str::to_owned).into()
    );
}

/// True for a line that contains the number of lanes, or the number of the last lane, together with a name of lanes or waves.
fn repeats_wave_size(line: &str) -> bool {
    // Texts, comments, and examples of commands within longer texts may contain the number.
    let code: String = line.split("//").next().unwrap_or("").split('"').step_by(2).collect();
    let code = code.replace("--wave 64", "");
    let lower = code.to_ascii_lowercase();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let numbers = lower.split(|c| !is_word(c));
    let has = |n: &str| ["64", "63"].iter().any(|size| n.strip_prefix(size).is_some_and(is_type));
    (lower.contains("lane") || lower.contains("wave")) && numbers.into_iter().any(has)
}

/// True if the text is a valid end of a number: empty, or the number's type.
fn is_type(text: &str) -> bool {
    ["", "u8", "u16", "u32", "u64", "usize", "i32"].contains(&text)
}

#[test]
fn repetitions_of_the_wave_size_are_recognised() {
    for line in [
        "const LANES: usize = 64;",
        "(0..64u8).map(|lane| lane)",
        "if lane > 63 {",
        "lanes.is_multiple_of(64)",
    ] {
        assert!(repeats_wave_size(line), "{line}");
    }
    for line in [
        "let x: u64 = lanes;",
        "  gcn asm kernel.s --wave 64",
        "fail(\"a wave has 64 lanes\");",
        "for lane in 0..WAVE_SIZE { // 64",
        "const CACHE_LINE: usize = 64;",
    ] {
        assert!(!repeats_wave_size(line), "{line}");
    }
}

/// A question about whether a target has an instruction or other feature with a given name.
type Question = fn(Target, &str) -> bool;

/// The functions of the table that take a name.
const QUESTIONS: [(&str, Question); 3] = [
    ("find(", |target, name| table::find(target, name).next().is_some()),
    ("find_mnemonic(", |target, name| table::find_mnemonic(target, name).next().is_some()),
    ("find_operation(", |target, name| table::find_operation(target, name).next().is_some()),
];

/// The texts in a line of code that could be names of instructions.
fn names(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let prefixes = ["v_", "s_", "ds_", "buffer_", "global_", "flat_", "scratch_"];
    let is_name = move |text: &str| {
        let is_of_one = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        prefixes.iter().any(|p| text.starts_with(p)) && !text.ends_with('_') && text.chars().all(is_of_one)
    };
    let code = if line.trim_start().starts_with("//") { "" } else { line };
    let mut at = 0;
    code.split('"').enumerate().filter_map(move |(number, text)| {
        let start = at;
        at += text.len() + 1;
        (number % 2 == 1 && is_name(text)).then(|| (start - 1, text))
    })
}

/// The question whose argument is a name at the end of `before`.
fn question(before: &str) -> Option<Question> {
    let mut asked = QUESTIONS.iter().rev().filter_map(|(call, answer)| {
        let at = before.rfind(call)?;
        let is_whole = !before[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let mut depth = 1;
        let is_open = before[at + call.len()..].chars().all(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth > 0
        });
        (is_whole && is_open).then_some(*answer)
    });
    asked.next()
}

/// Tests that code does not ask for a name that no target has. The answer to such a question is always no. Examples are a misspelled name
/// and `find_mnemonic` with a printed name.
#[test]
fn every_name_that_is_asked_for_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let (mut asked, mut lowered, mut unknown) = (0, 0, Vec::new());
    for name in CRATES.iter().chain(&["gcn-isa"]) {
        visit(&root.join(name).join("src"), &mut |path| {
            let text = std::fs::read_to_string(path).expect("a source file");
            let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            // The selection of instructions names operations everywhere.
            let lowers = path.starts_with(root.join("gcn-dsl/src/lower"));
            for line in text.lines() {
                for (at, name) in names(line) {
                    let question = question(&line[..at]);
                    asked += usize::from(question.is_some());
                    lowered += usize::from(lowers);
                    let Some(exists) = question.or(lowers.then_some(QUESTIONS[2].1)) else { continue };
                    if !Target::KNOWN.into_iter().any(|target| exists(target, name)) {
                        unknown.push(format!("{}: {}", path.display(), line.trim()));
                    }
                }
            }
        });
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    assert!(asked > 8 && lowered > 200, "{asked} questions and {lowered} names of lowering are seen");
}

#[test]
fn questions_are_recognised() {
    let asked = |line: &str| {
        names(line)
            .filter_map(|(at, name)| question(&line[..at]).map(|exists| exists(Target::GFX942, name)))
            .next()
    };
    assert_eq!(asked(r#"table::find(c.target, "v_mov_b32_dpp")"#), Some(true));
    assert_eq!(asked(r#"table::find_mnemonic(c.target, "v_mov_b32_dpp")"#), Some(false));
    assert_eq!(asked(r#"table::find_operation(f.on(), "v_mov_b32")"#), Some(true));
    assert_eq!(asked(r#"self.machine("v_mov_b32", &[], &[])"#), None);
    assert_eq!(asked(r#"// table::find(c.target, "v_mov_b32")"#), None);
}
