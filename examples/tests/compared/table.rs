//! The table of ratios in `docs/compared.md`: written on request, and otherwise held against what was measured.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use gcn_test_support::{env, stored};

/// The lines of the document between which the table is.
const MARKS: [&str; 2] = ["<!-- compared: begin -->\n", "<!-- compared: end -->"];

const HEAD: &str = "| kernel | ideal memory | HBM | instructions |\n|---|---|---|---|\n";
const COLUMNS: [&str; 3] = ["ideal memory", "HBM", "instructions"];

/// How far a ratio of the document may be from the measured one. A change of the compiler that moves a kernel by less than this
/// need not write the page again; a page that is further off is wrong.
const DRIFT: f64 = 0.03;

/// Ours over clang's: cycles with near-ideal memory and with HBM, instructions.
pub type Ratios = [f64; 3];

/// A kernel and its ratios.
pub struct Row {
    pub name: &'static str,
    pub ratios: Ratios,
}

/// The rows as the document has them.
pub fn text(rows: &[Row]) -> String {
    let mut text = String::from(HEAD);
    for Row { name, ratios: [ideal, hbm, instructions] } in rows {
        let _ = writeln!(text, "| {name} | {ideal:.2} | {hbm:.2} | {instructions:.2} |");
    }
    text
}

/// Compares the rows with those of the document, or writes these with `GCN_BLESS=1`. `all` says that the rows are those of all
/// kernels, so that the document must not have others. Gives what is wrong.
pub fn held(rows: &[Row], all: bool) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/compared.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(MARKS[0]).expect("the document has the first mark");
    let (table, after) = rest.split_once(MARKS[1]).expect("the document has the second mark");
    if all && env::bless() {
        stored::assert_current(&path, &format!("{before}{}{}{}{after}", MARKS[0], text(rows), MARKS[1]));
        return Vec::new();
    }
    let mut written: BTreeMap<&str, Ratios> = table.lines().filter_map(read).collect();
    let mut wrong: Vec<String> =
        rows.iter().filter_map(|row| differs(row, written.remove(row.name)).err()).collect();
    if all {
        wrong.extend(written.keys().map(|name| format!("{name}: docs/compared.md has a row of no kernel")));
    }
    wrong
}

/// The kernel and the ratios of a line of the table, if it is one of a kernel.
fn read(line: &str) -> Option<(&str, Ratios)> {
    let mut cells = line.split('|').map(str::trim).skip(1);
    let name = cells.next()?;
    let mut ratio = || cells.next()?.parse().ok();
    Some((name, [ratio()?, ratio()?, ratio()?]))
}

fn differs(row: &Row, written: Option<Ratios>) -> Result<(), String> {
    const REMEDY: &str = "run the test with GCN_BLESS=1 to write the table";
    let Some(written) = written else {
        return Err(format!("{}: docs/compared.md has no row of it; {REMEDY}", row.name));
    };
    for (column, (is, was)) in COLUMNS.iter().zip(row.ratios.iter().zip(written)) {
        if (is - was).abs() > DRIFT {
            return Err(format!("{}, {column}: {is:.3}, docs/compared.md says {was}; {REMEDY}", row.name));
        }
    }
    Ok(())
}

#[test]
fn a_ratio_that_has_moved_is_told() {
    let row = |hbm| Row { name: "scan", ratios: [0.98, hbm, 1.2] };
    let page = text(&[row(1.0)]);
    let written = read(page.lines().last().unwrap());
    assert_eq!(written, Some(("scan", [0.98, 1.0, 1.2])));
    let of = |hbm| differs(&row(hbm), written.map(|w| w.1));
    assert_eq!(of(1.02), Ok(()));
    assert!(of(1.04).is_err_and(|why| why.starts_with("scan, HBM: 1.040, docs/compared.md says 1;")));
    assert!(of(0.96).is_err());
    assert!(differs(&row(1.0), None).is_err_and(|why| why.contains("no row")));
    // Neither heads nor rules are rows.
    assert_eq!(HEAD.lines().filter_map(read).count(), 0);
}
