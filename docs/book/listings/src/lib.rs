//! The listings of the book `docs/book`, one module for each chapter that has kernels.
//!
//! A chapter includes parts of its module between `ANCHOR` comments. Everything that a listing prints or
//! measures comes from `chapters`: a test compares it with the files in `docs/book/src/output`, which the
//! chapters include, so that no number in the book is stale. `GCN_BLESS=1` writes them. Pictures and reference
//! pages are made when the book is built and are not stored: `src/main.rs`.
#![forbid(unsafe_code)]

pub mod attention;
pub mod barriers;
pub mod figures;
pub mod first;
pub mod gemm;
pub mod host;
pub mod lds;
pub mod matrix;
pub mod memory;
pub mod page;
pub mod quantised;
pub mod reductions;
pub mod reference;
pub mod sanitizers;
pub mod uniform;
pub mod waves;

use std::error::Error;
use std::fmt::Display;

use gcn_dsl::prelude::*;
use gcn_dsl::sim::timed::Config;

/// The target of the book's measurements.
pub const TARGET: Target = Target::GFX942;

/// What the listings can fail with.
pub type Fault = Box<dyn Error + Send + Sync>;

/// A text that a chapter shows.
#[derive(Debug, Clone)]
pub struct Output {
    /// The file's name in `docs/book/src/output`.
    pub name: &'static str,
    /// Its text.
    pub text: String,
}

/// What a chapter shows.
pub type Outputs = Result<Vec<Output>, Fault>;

/// A picture, made when the book is built.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The file's name without its ending.
    pub name: &'static str,
    /// The picture as SVG.
    pub svg: String,
}

/// A chapter's name, and what runs its listings.
pub type Chapter = (&'static str, fn() -> Outputs);

/// The chapters whose text quotes what their listings print.
pub const CHAPTERS: [Chapter; 13] = [
    ("waves", waves::outputs),
    ("uniform", uniform::outputs),
    ("first", first::outputs),
    ("memory", memory::outputs),
    ("lds", lds::outputs),
    ("barriers", barriers::outputs),
    ("reductions", reductions::outputs),
    ("matrix", matrix::outputs),
    ("gemm", gemm::outputs),
    ("attention", attention::outputs),
    ("quantised", quantised::outputs),
    ("sanitizers", sanitizers::outputs),
    ("launching", host::outputs),
];

/// One compute unit, whose memory no other one uses.
pub fn one_cu() -> Config {
    Config::one_cu()
}

/// A table as Markdown. The first column is text, the others are numbers.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(ToString::to_string).collect();
    let rule: Vec<String> = (0..head.len()).map(|i| if i == 0 { "---" } else { "---:" }.to_owned()).collect();
    let rows = rows.iter().map(|row| line(row));
    [line(&head), line(&rule)].into_iter().chain(rows).collect()
}

/// A row of [`table`].
pub fn row(name: &str, cells: &[&dyn Display]) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(cells.iter().map(ToString::to_string)).collect()
}

/// The instructions of a kernel, with labels and the reason of each wait, without directives.
pub fn body(assembly: &str) -> String {
    let code = assembly.lines().skip_while(|line| !line.trim_start().starts_with("s_"));
    let mut out = String::new();
    for line in code {
        out.push_str(line.strip_prefix('\t').unwrap_or(line));
        out.push('\n');
        if line.contains("s_endpgm") {
            break;
        }
    }
    out
}
