//! Counts dual-issue vector instructions (VOPD) and delay hints (`s_delay_alu`), in our code and in clang's, for targets
//! that have them, in waves of 32 lanes.

use std::collections::HashMap;
use std::process::Command;

use gcn_dsl::BuildOptions;
use gcn_dsl::prelude::*;
use gcn_isa::target::WaveSize;
use gcn_test_support::llvm;

use crate::pairs::PAIRS;

/// The number of vector instructions, of those that are VOPD, and of delay hints.
#[derive(Clone, Copy, Default, Debug)]
struct Counted {
    vector: usize,
    dual: usize,
    hints: usize,
}

impl Counted {
    fn of<'a>(mnemonics: impl Iterator<Item = &'a str>) -> Counted {
        let mut counted = Counted::default();
        for mnemonic in mnemonics {
            counted.vector += usize::from(mnemonic.starts_with("v_"));
            counted.dual += usize::from(mnemonic.starts_with("v_dual_"));
            counted.hints += usize::from(mnemonic == "s_delay_alu");
        }
        counted
    }

    fn add(&mut self, other: Counted) {
        self.vector += other.vector;
        self.dual += other.dual;
        self.hints += other.hints;
    }

    /// The share of the vector instructions that are VOPD.
    fn share(self) -> f64 {
        self.dual as f64 / self.vector as f64
    }
}

/// The numbers for each kernel of a disassembly.
fn clangs(text: &str) -> HashMap<&str, Counted> {
    let mut kernels: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut here = "";
    for line in text.lines() {
        match line.split_once(" <").and_then(|(_, rest)| rest.strip_suffix(">:")) {
            Some(name) => here = name,
            None => kernels.entry(here).or_default().extend(line.split_whitespace().next()),
        }
    }
    kernels.into_iter().map(|(name, lines)| (name, Counted::of(lines.into_iter()))).collect()
}

/// RDNA 3 and 4.
const TARGETS: [Target; 2] = [Target::GFX1100, Target::GFX1201];

#[test]
fn ours_are_two_in_one_as_often_as_clangs() {
    TARGETS.into_iter().for_each(compare);
}

fn compare(target: Target) {
    let (Some(object), Some(objdump)) = (crate::clang(target), llvm::tool("llvm-objdump")) else {
        return;
    };
    let shown = Command::new(objdump).args(["-d", "--no-show-raw-insn"]).arg(object).output().unwrap();
    let text = String::from_utf8(shown.stdout).unwrap();
    let theirs = clangs(&text);
    let options = BuildOptions { wave: Some(WaveSize::W32), ..BuildOptions::default() };
    let (mut ours_of_all, mut clangs_of_all, mut kernels) = (Counted::default(), Counted::default(), 0);
    for pair in PAIRS {
        // A kernel for waves of 64 lanes cannot be built for waves of 32.
        let Ok(kernel) = (pair.build_with)(target, &options) else { continue };
        let mnemonics = kernel.program().lines.iter().map(|line| line.inst.desc.mnemonic);
        let (ours, clang) = (Counted::of(mnemonics), theirs[pair.name]);
        if std::env::var_os("GCN_COMPARED").is_some() {
            println!("{}: {ours:?}, clang {clang:?}", pair.name);
        }
        ours_of_all.add(ours);
        clangs_of_all.add(clang);
        kernels += 1;
    }
    println!(
        "{target}, {kernels} kernels: {ours_of_all:?} {:.3}, clang {clangs_of_all:?} {:.3}",
        ours_of_all.share(),
        clangs_of_all.share()
    );
    assert!(kernels > 60 && clangs_of_all.dual > 0, "{kernels}");
    assert!(ours_of_all.share() >= clangs_of_all.share(), "{target}");
    assert!(ours_of_all.hints <= clangs_of_all.hints, "{target}");
}
