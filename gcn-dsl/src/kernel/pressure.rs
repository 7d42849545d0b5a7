//! The report on register pressure as text.

use std::fmt::Write;

use gcn_isa::RegFile;
use gcn_isa::program::SourceLoc;

use super::BuiltKernel;
use crate::regalloc::FilePressure;

/// The maximum number of source lines that are listed for a register file.
const LISTED: usize = 12;

pub(super) fn report(kernel: &BuiltKernel) -> String {
    let (used, limits) = (&kernel.usage, &kernel.limits);
    let mut text = String::new();
    let files = [
        ("VGPRs", RegFile::Vgpr, used.vgprs, limits.vgprs.min(limits.total_vector)),
        ("AGPRs", RegFile::Agpr, used.agprs, limits.agprs.min(limits.total_vector)),
        ("SGPRs", RegFile::Sgpr, used.sgprs, limits.sgprs),
    ];
    for (name, file, used, limit) in files {
        let peak = kernel.pressure.of(file);
        if peak.peak > 0 {
            // Writing to a string does not fail.
            let _ = section(&mut text, kernel, name, used, limit, peak);
        }
    }
    let s = &kernel.spills;
    if s.total() > 0 {
        let _ = writeln!(
            text,
            "note: values that found no register cost {} scratch stores, {} scratch loads, {} lane moves, \
             {} VGPR-AGPR moves and {} instructions that make a value again",
            s.stores, s.loads, s.lane_moves, s.register_moves, s.again
        );
    }
    text
}

fn section(
    text: &mut String,
    kernel: &BuiltKernel,
    name: &str,
    used: u16,
    limit: u16,
    peak: &FilePressure,
) -> std::fmt::Result {
    writeln!(
        text,
        "note: kernel `{}` for {} needs {} {name} at once; it may use {limit} and uses {used}",
        kernel.name(),
        kernel.target(),
        peak.peak
    )?;
    let mut lines: Vec<(Option<SourceLoc>, u32, u32)> = Vec::new();
    for live in &peak.live {
        match lines.iter_mut().find(|l| l.0 == live.defined) {
            Some(line) => (line.1, line.2) = (line.1 + u32::from(live.dwords), line.2 + 1),
            None => lines.push((live.defined, u32::from(live.dwords), 1)),
        }
    }
    lines.sort_by_key(|l| (std::cmp::Reverse(l.1), l.0.map(|s| (s.line, s.column))));
    if let Some(loc) = peak.at.and_then(|at| at.loc) {
        snippet(text, loc, "most are live here")?;
    }
    for (loc, dwords, values) in lines.iter().take(LISTED) {
        let values = if *values == 1 { "1 value".to_owned() } else { format!("{values} values") };
        match loc {
            Some(loc) => snippet(text, *loc, &format!("{dwords} {name}: {values} made here"))?,
            None => writeln!(text, "   = {dwords} {name}: {values} that no line of the kernel makes")?,
        }
    }
    if lines.len() > LISTED {
        let rest: u32 = lines[LISTED..].iter().map(|l| l.1).sum();
        writeln!(text, "   = {rest} {name} more from {} other places", lines.len() - LISTED)?;
    }
    Ok(())
}

/// Appends a location with a label, and the source line if the file is found.
fn snippet(text: &mut String, loc: SourceLoc, label: &str) -> std::fmt::Result {
    let source = source_line(loc);
    let margin = loc.line.to_string().len();
    writeln!(text, "{:margin$}--> {loc}", "")?;
    let Some(source) = source else { return writeln!(text, "{:margin$} = {label}", "") };
    writeln!(text, "{:margin$} |", "")?;
    writeln!(text, "{} | {source}", loc.line)?;
    let before = loc.column.saturating_sub(1) as usize;
    writeln!(text, "{:margin$} | {:before$}^ {label}", "", "")
}

/// The text of a source line; `None` if the file is not found. Paths are relative to the workspace in which the kernel
/// was compiled.
pub(super) fn source_line(loc: SourceLoc) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let found = here.ancestors().take(4).find_map(|dir| std::fs::read_to_string(dir.join(loc.file)).ok())?;
    found.lines().nth(loc.line.checked_sub(1)? as usize).map(|l| l.trim_end().to_owned())
}
