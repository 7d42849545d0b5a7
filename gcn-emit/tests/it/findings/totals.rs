//! Tests `fix --strip` on the corpus: the result must be safe, LLVM's assembler must accept it, and it must not wait longer than the
//! original.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use gcn_emit::code::Code;
use gcn_emit::rewrite::{Options, Waits, fix};
use gcn_isa::check::Finding;
use gcn_isa::hazards;

use super::list::{findings, unit};
use super::page;
use crate::asm::corpus::{self, File};
use crate::llvm::{Llvm, Scratch, text};

/// Without `GCN_CORPUS=all`, only every file whose number is a multiple of this is tested.
const SAMPLE: usize = 24;

/// The waits of many functions before and after `fix --strip`.
#[derive(Default)]
struct Sum {
    before: Waits,
    after: Waits,
    functions: usize,
    /// The number of functions with fewer wait states than before.
    cheaper: usize,
}

/// The results for the files so far.
#[derive(Default)]
struct Results {
    /// Sums by tool and target.
    sums: BTreeMap<String, Sum>,
    /// Rows of the table of functions that wait longer than before.
    dearer: Vec<String>,
}

#[test]
fn stripped_and_fixed_files_are_safe_and_not_dearer() {
    let all = std::env::var("GCN_CORPUS").is_ok_and(|v| v == "all");
    let llvm = Llvm::find();
    let scratch = Scratch::new("findings-totals");
    let mut results = Results::default();
    let files = corpus::files();
    for file in files.iter().step_by(if all { 1 } else { SAMPLE }) {
        let fixed = results.fixed(file);
        if let Some(llvm) = &llvm {
            accepted(llvm, &scratch, file, &fixed);
        }
    }
    if all {
        page::compare("totals", &results.totals());
        page::compare("dearer", &results.dearer());
    }
}

/// Checks that LLVM's assembler accepts the text, except for spellings of the target that it does not know.
fn accepted(llvm: &Llvm, scratch: &Scratch, file: &File, fixed: &str) {
    let lines: Vec<&str> = fixed.lines().filter(|line| !line.contains(".amdgcn_target")).collect();
    let source = scratch.write("fixed.s", lines.join("\n").as_bytes());
    let object = scratch.path("fixed.o");
    let cpu = format!("-mcpu={}", file.processor());
    llvm.run(
        "llvm-mc-22",
        &["-triple=amdgcn-amd-amdhsa", &cpu, "-filetype=obj", "-o", text(&object), text(&source)],
    );
}

impl Results {
    /// Fixes a file and adds the results. Returns the new text.
    fn fixed(&mut self, file: &File) -> String {
        let options = Options { strip: true, ..Options::default() };
        let fixed =
            fix(&file.path, &file.text, &options).unwrap_or_else(|error| panic!("{}: {error}", file.path));
        let after = unit(&file.path, &fixed.text);
        let left: Vec<String> = findings(&after).iter().map(|(_, f)| f.to_string()).collect();
        assert!(left.is_empty(), "{}:\n{}", file.path, left.join("\n"));
        let before = unit(&file.path, &file.text);
        let broken = findings(&before);
        let mut parts = file.path.split('/');
        let key = format!("{} | {}", parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let sum = self.sums.entry(key).or_default();
        for function in &fixed.functions {
            let (old, new) = (function.before, function.after);
            sum.before += old;
            sum.after += new;
            sum.functions += 1;
            sum.cheaper += usize::from(new.wait_states < old.wait_states);
            if new.wait_states > old.wait_states || new.weighted_wait_states > old.weighted_wait_states {
                // More wait states than before are right only if the original has too few; then the checker must have reported that.
                let of_function = |(code, finding): &&(&Code, Finding)| {
                    code.function_of(finding.second).is_some_and(|f| f.name == function.name)
                };
                let rules: BTreeSet<&str> = broken.iter().filter(of_function).map(|(_, f)| f.rule).collect();
                let states = |rule: &&str| hazards::rule(rule).is_some();
                assert!(
                    rules.iter().any(states),
                    "{}: {} waits longer for no reason",
                    file.path,
                    function.name
                );
                let rules: Vec<String> = rules.iter().map(|r| format!("`{r}`")).collect();
                self.dearer.push(format!(
                    "| {} | {} | {} → {} | {} → {} | {} |",
                    file.path,
                    function.name,
                    old.wait_states,
                    new.wait_states,
                    old.weighted_wait_states,
                    new.weighted_wait_states,
                    rules.join(", ")
                ));
            }
        }
        fixed.text
    }

    /// The table of totals.
    fn totals(&self) -> String {
        let mut out = String::from(
            "| tool | target | functions | with fewer wait states | wait states | weighted | `s_waitcnt` | weighted |\n\
             |---|---|---|---|---|---|---|---|\n",
        );
        let mut all = Sum::default();
        for (key, sum) in &self.sums {
            let _ = writeln!(out, "| {key} | {}", row(sum));
            all.before += sum.before;
            all.after += sum.after;
            all.functions += sum.functions;
            all.cheaper += sum.cheaper;
        }
        let _ = writeln!(out, "| all | | {}", row(&all));
        out
    }

    /// The table of functions that wait longer.
    fn dearer(&self) -> String {
        let mut out = String::from(
            "| file | function | wait states | weighted | broken before |\n|---|---|---|---|---|\n",
        );
        for row in &self.dearer {
            let _ = writeln!(out, "{row}");
        }
        out
    }
}

fn row(sum: &Sum) -> String {
    let (b, a) = (sum.before, sum.after);
    format!(
        "{} | {} | {} → {} | {} → {} | {} → {} | {} → {} |",
        sum.functions,
        sum.cheaper,
        b.wait_states,
        a.wait_states,
        b.weighted_wait_states,
        a.weighted_wait_states,
        b.waitcnts,
        a.waitcnts,
        b.weighted_waitcnts,
        a.weighted_waitcnts
    )
}
