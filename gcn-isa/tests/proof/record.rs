//! The record of the long run, `record.tsv`, which has a line for each part of a scope that was tested, and the table of docs/proof.md that
//! summarises the record.

use std::collections::BTreeMap;

use gcn_test_support::stored::assert_current;

use super::run::{Alphabets, Family, LARGE, Part, SMALL, Scope, Tally};

/// A part that has been tested.
pub struct Line {
    /// The scope, the alphabet and the number of the part.
    pub key: String,
    tally: Tally,
    seconds: f64,
}

impl Line {
    fn parse(text: &str) -> Option<Line> {
        let fields: Vec<&str> = text.split('\t').collect();
        let [scope, part, programs, waiting, waits, seconds] = fields[..] else { return None };
        let tally = Tally {
            programs: programs.parse().ok()?,
            waiting: waiting.parse().ok()?,
            waits: waits.parse().ok()?,
        };
        Some(Line { key: format!("{scope}\t{part}"), tally, seconds: seconds.parse().ok()? })
    }
}

/// The lines of a record. A line that is incomplete because a run was interrupted is ignored.
pub fn lines(text: &str) -> impl Iterator<Item = Line> {
    text.lines().filter_map(Line::parse)
}

/// The totals of one scope.
struct Sums {
    scope: Scope,
    parts: usize,
    of: usize,
    tally: Tally,
    seconds: f64,
}

fn sums(text: &str) -> Vec<Sums> {
    let done: BTreeMap<String, Line> = lines(text).map(|line| (line.key.clone(), line)).collect();
    let sum = |scope: &Scope| {
        let parts = Part::all(*scope);
        let mut sums =
            Sums { scope: *scope, parts: 0, of: parts.len(), tally: Tally::default(), seconds: 0.0 };
        for line in parts.iter().filter_map(|part| done.get(&part.key)) {
            sums.parts += 1;
            sums.tally.add(line.tally);
            sums.seconds += line.seconds;
        }
        sums
    };
    SMALL.iter().chain(&LARGE).map(sum).filter(|s| s.parts > 0).collect()
}

/// A number with separators between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let commas = |i: usize| i > 0 && (digits.len() - i).is_multiple_of(3);
    digits.char_indices().flat_map(|(i, d)| [commas(i).then_some(','), Some(d)]).flatten().collect()
}

/// The table that summarises a record.
fn table(text: &str) -> String {
    let row = |name: &str, of: &str, tally: Tally, seconds: f64| {
        let [programs, waiting, waits] = [tally.programs, tally.waiting, tally.waits].map(grouped);
        format!(
            "| {name} | {of} | {programs} | {waiting} | {waits} | {} |\n",
            grouped(seconds.round() as u64)
        )
    };
    let mut page = String::from(
        "| blocks × instructions, alphabets | parts done | programs | of these wait | necessary waits | processor seconds |\n\
         |---|---|---|---|---|---|\n",
    );
    let (mut all, mut time) = (Tally::default(), 0.0);
    for Sums { scope, parts, of, tally, seconds } in sums(text) {
        let done = if parts == of { "all".to_owned() } else { format!("{parts} of {of}") };
        page += &row(&scope.to_string(), &done, tally, seconds);
        all.add(tally);
        time += seconds;
    }
    page + &row("together", "", all, time)
}

/// The page with the number of alphabets added at the end of each line that names a kind of alphabets.
fn numbered(page: &str) -> String {
    let of = |line: &str| {
        let kind = Alphabets::ALL.into_iter().find(|kind| line.starts_with(&format!("| {kind:?} | ")))?;
        let (rest, _) = line.strip_suffix(" |\n")?.rsplit_once("| ")?;
        Some(format!("{rest}| {} |\n", Family::all(kind).len()))
    };
    page.split_inclusive('\n').map(|line| of(line).unwrap_or_else(|| line.to_owned())).collect()
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/proof.md");

/// Tests that docs/proof.md has the current table. `GCN_BLESS=1 cargo test -p gcn-isa --test proof record` writes the table.
#[test]
fn the_page_has_the_table_of_the_record() {
    let page = std::fs::read_to_string(PAGE).expect("docs/proof.md is there");
    let [start, end] =
        ["<!-- table -->\n", "<!-- end -->"].map(|mark| page.find(mark).expect("the mark is there"));
    let start = start + "<!-- table -->\n".len();
    let table = table(include_str!("record.tsv"));
    let fresh = numbered(&page[..start]) + &table + &page[end..];
    assert_current(PAGE, &fresh);
}

#[test]
fn a_line_that_was_cut_off_is_not_done() {
    let keys: Vec<String> = lines("2x2 Few\tf 0\t5\t4\t3\t0.1\n2x2 Few\tf 1\t5\t4").map(|l| l.key).collect();
    assert_eq!(keys, ["2x2 Few\tf 0"]);
}
