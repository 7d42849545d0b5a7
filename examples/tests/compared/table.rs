//! The tables of ratios in `docs/compared.md`. They are written on request and otherwise compared with the
//! measurements.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use gcn_test_support::{env, stored};

/// A table of the document, with three ratios for each kernel.
pub struct Table {
    /// The name in the marker lines before and after the table.
    name: &'static str,
    columns: [&'static str; 3],
}

/// Our numbers divided by clang's for gfx942: cycles with near-ideal memory, cycles with HBM, and instructions.
pub const GFX942: Table = Table { name: "compared", columns: ["ideal memory", "HBM", "instructions"] };

/// Our numbers of executed instructions divided by clang's, for three targets of RDNA.
pub const RDNA: Table = Table { name: "compared on RDNA", columns: ["gfx1030", "gfx1100", "gfx1201"] };

/// The maximum difference between a ratio in the document and the measured one. So a change of the compiler that
/// affects a kernel by less than this does not require an update of the document.
const DRIFT: f64 = 0.03;

/// Our numbers divided by clang's, by column.
pub type Ratios = [f64; 3];

/// A kernel and its ratios.
pub struct Row {
    pub name: &'static str,
    pub ratios: Ratios,
}

/// The geometric mean of each column.
pub fn means(rows: &[Row]) -> Ratios {
    [0, 1, 2].map(|column| {
        let sum: f64 = rows.iter().map(|row| row.ratios[column].ln()).sum();
        (sum / rows.len() as f64).exp()
    })
}

impl Table {
    fn marks(&self) -> [String; 2] {
        ["begin -->\n", "end -->"].map(|mark| format!("<!-- {}: {mark}", self.name))
    }

    /// The rows in the format of the document.
    pub fn text(&self, rows: &[Row]) -> String {
        let mut text = format!("| kernel | {} |\n|---|---|---|---|\n", self.columns.join(" | "));
        for Row { name, ratios: [a, b, c] } in rows {
            let _ = writeln!(text, "| {name} | {a:.2} | {b:.2} | {c:.2} |");
        }
        text
    }

    /// Compares the rows with those of the document, or writes them if `GCN_BLESS=1` is set. `all` is true if the rows
    /// are those of all kernels, in which case the document must not contain others. Returns the differences.
    pub fn held(&self, rows: &[Row], all: bool) -> Vec<String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/compared.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let marks = self.marks();
        let (before, rest) = page.split_once(&*marks[0]).expect("the document has the first mark");
        let (table, after) = rest.split_once(&*marks[1]).expect("the document has the second mark");
        if all && env::bless() {
            stored::assert_current(
                &path,
                &format!("{before}{}{}{}{after}", marks[0], self.text(rows), marks[1]),
            );
            return Vec::new();
        }
        let mut written: BTreeMap<&str, Ratios> = table.lines().filter_map(read).collect();
        let mut wrong: Vec<String> =
            rows.iter().filter_map(|row| self.differs(row, written.remove(row.name)).err()).collect();
        if all {
            wrong.extend(
                written.keys().map(|name| format!("{name}: docs/compared.md has a row of no kernel")),
            );
        }
        wrong
    }

    fn differs(&self, row: &Row, written: Option<Ratios>) -> Result<(), String> {
        const REMEDY: &str = "run the test with GCN_BLESS=1 to write the table";
        let Some(written) = written else {
            return Err(format!("{}: docs/compared.md has no row of it; {REMEDY}", row.name));
        };
        for (column, (is, was)) in self.columns.iter().zip(row.ratios.iter().zip(written)) {
            if (is - was).abs() > DRIFT {
                return Err(format!(
                    "{}, {column}: {is:.3}, docs/compared.md says {was}; {REMEDY}",
                    row.name
                ));
            }
        }
        Ok(())
    }
}

/// The kernel and the ratios in a line of the table; `None` if the line is not that of a kernel.
fn read(line: &str) -> Option<(&str, Ratios)> {
    let mut cells = line.split('|').map(str::trim).skip(1);
    let name = cells.next()?;
    let mut ratio = || cells.next()?.parse().ok();
    Some((name, [ratio()?, ratio()?, ratio()?]))
}

#[test]
fn a_ratio_that_has_moved_is_told() {
    let row = |hbm| Row { name: "scan", ratios: [0.98, hbm, 1.2] };
    let page = GFX942.text(&[row(1.0)]);
    let written = read(page.lines().last().unwrap());
    assert_eq!(written, Some(("scan", [0.98, 1.0, 1.2])));
    let of = |hbm| GFX942.differs(&row(hbm), written.map(|w| w.1));
    assert_eq!(of(1.02), Ok(()));
    assert!(of(1.04).is_err_and(|why| why.starts_with("scan, HBM: 1.040, docs/compared.md says 1;")));
    assert!(of(0.96).is_err());
    assert!(GFX942.differs(&row(1.0), None).is_err_and(|why| why.contains("no row")));
    // The header and the separator line are not rows.
    assert_eq!(GFX942.text(&[]).lines().filter_map(read).count(), 0);
}
