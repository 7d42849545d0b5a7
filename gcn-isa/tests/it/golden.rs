//! The golden files, and the parser that reads them.

use std::collections::HashMap;
use std::io::Read;

use gcn_emit::text::{parse_inst, parse_program};
use gcn_isa::hazards::View;
use gcn_isa::{Inst, Program, Target};

/// The text of a gzipped file.
pub fn unpack(packed: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("golden file unpacks");
    text
}

/// A statement of a program that LLVM got as MIR, which names VGPRs by all bits of their numbers: an `s_set_vgpr_msb` in it
/// changes none of them.
pub fn of_mir(statement: &str) -> &str {
    if statement.starts_with("s_set_vgpr_msb ") { "s_set_vgpr_msb 0" } else { statement }
}

/// The rows of a tab-separated file, without its header.
pub fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).map(|line| line.split('\t').collect())
}

/// The target with the name `name`.
pub fn target(name: &str) -> Target {
    name.parse().expect("golden files name known targets")
}

/// The instruction that `text` spells.
pub fn inst(text: &str, target: Target) -> Inst {
    parse_inst(text, target).unwrap_or_else(|e| panic!("{target}: {text}: {e}"))
}

/// The views of instructions that the rules use. Each instruction is parsed only once.
pub struct Views {
    target: Target,
    by_text: HashMap<String, View>,
}

impl Views {
    pub fn new(target: Target) -> Views {
        Views { target, by_text: HashMap::new() }
    }

    pub fn load(&mut self, text: &str) {
        if !self.by_text.contains_key(text) {
            self.by_text.insert(text.to_owned(), View::new(self.target, &inst(text, self.target)));
        }
    }

    pub fn get(&self, text: &str) -> &View {
        &self.by_text[text]
    }
}

/// A program given as lines separated by ` | `.
pub fn program(text: &str, target: Target) -> Program {
    let text = text.replace(" | ", "\n");
    parse_program(&text, target, "golden").unwrap_or_else(|e| panic!("{target}: {text}: {e}"))
}
