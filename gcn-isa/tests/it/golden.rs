//! Golden files, and the parser they are read with.

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

/// The rows of a tab-separated file, without its header.
pub fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).map(|line| line.split('\t').collect())
}

/// The target called `name`.
pub fn target(name: &str) -> Target {
    name.parse().expect("golden files name known targets")
}

/// The instruction `text`.
pub fn inst(text: &str, target: Target) -> Inst {
    parse_inst(text, target).unwrap_or_else(|e| panic!("{target}: {text}: {e}"))
}

/// Instructions as the rules see them, parsed once.
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

/// A small generator of numbers for random programs: splitmix64.
pub struct Rng(pub u64);

impl Rng {
    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}
