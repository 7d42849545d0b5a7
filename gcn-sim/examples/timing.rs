//! Generates the tables of `docs/timing.md`: results of micro-benchmarks in timed mode next to published figures.
//!
//! `cargo run --release -p gcn-sim --example timing` prints them. With the path of the document as an argument, they replace its generated
//! part.

/// The line at which the generated part of the document begins.
const MARK: &str = "<!-- generated from here on -->\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tables = gcn_sim::timed::throughput::markdown()?;
    let Some(path) = std::env::args_os().nth(1) else {
        print!("{tables}");
        return Ok(());
    };
    let document = std::fs::read_to_string(&path)?;
    let (head, _) =
        document.split_once(MARK).ok_or("the document has no mark of where its generated part begins")?;
    std::fs::write(&path, format!("{head}{MARK}\n{}\n", tables.trim()))?;
    Ok(())
}
