//! The options that select among the code objects of a file, and the output of `--list`.

use std::fmt::Write as _;

use gcn_emit::target_id::TargetId;
use gcn_report::container::{self, Object};
use serde::Serialize;

use crate::commands;
use crate::failure::Failure;
use crate::file;

/// Options that select code objects of a file.
#[derive(clap::Args, Clone, Copy, Default)]
pub struct Choice {
    /// In a bundle, host library or program, select the code objects for this target; also the target of
    /// assembly that does not name one. Must agree with the target of any other file
    #[arg(long, value_name = "T")]
    pub target: Option<TargetId>,
    #[command(flatten)]
    pub wave: commands::Wave,
    /// In a bundle, host library or program, select the code object with this number in --list
    #[arg(long, value_name = "N")]
    pub entry: Option<usize>,
    /// List the code objects of the file instead
    #[arg(long)]
    pub list: bool,
}

impl From<Choice> for container::Choice {
    fn from(choice: Choice) -> container::Choice {
        container::Choice { target: choice.target, wave: choice.wave.wave, entry: choice.entry }
    }
}

/// A row of `--list`.
#[derive(Serialize)]
struct Row {
    entry: usize,
    target_id: Option<String>,
    bytes: usize,
    name: String,
    /// Names of its kernels; `None` if it cannot be read.
    kernels: Option<Vec<String>>,
}

impl Choice {
    /// Selects every code object for a target; `wave` is the wave size for assembly that specifies none.
    pub fn for_target(target: Option<TargetId>, wave: commands::Wave) -> Choice {
        Choice { target, wave, ..Choice::default() }
    }

    /// Passes each selected code object to `visit`; an error if none is selected. `bytes` are an ELF file or a container.
    pub fn each(
        &self,
        name: &str,
        bytes: &[u8],
        visit: impl FnMut(Object<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        container::Choice::from(*self).each(name, bytes, visit)
    }

    /// The selected code object. If several are selected, the one that contains `kernel`.
    pub fn select_one<'d>(
        &self,
        name: &str,
        bytes: &'d [u8],
        kernel: Option<&str>,
    ) -> Result<Object<'d>, Failure> {
        Ok(container::Choice::from(*self).select_one(name, bytes, kernel)?)
    }
}

/// Prints a table of the code objects of a file.
pub fn list(file: &str, choice: &Choice, json: bool) -> Result<(), Failure> {
    let (bytes, name) = (file::read_unpacked(file)?, file::shown(file));
    if !container::holds_objects(&bytes) {
        return Err(Failure::input(format!("{name}: neither a code object nor a container of code objects")));
    }
    let mut rows = Vec::new();
    choice.each(name, &bytes, |object| {
        rows.push(row(&object));
        Ok(())
    })?;
    let text = if json { commands::json(&rows)? } else { format!("{name}:\n{}", table(&rows)) };
    file::print(text.as_bytes())
}

fn row(object: &Object<'_>) -> Row {
    let read = gcn_emit::object::read_code_object(&object.bytes);
    Row {
        entry: object.number,
        target_id: object.target_id.map(|id| id.to_string()),
        bytes: object.bytes.len(),
        name: object.entry.clone().into_owned(),
        kernels: read.ok().map(|o| o.kernels.iter().map(|k| k.name.to_owned()).collect()),
    }
}

fn table(rows: &[Row]) -> String {
    let target = |row: &Row| row.target_id.clone().unwrap_or_default();
    let width = rows.iter().map(|r| target(r).len()).max().unwrap_or(0).max(6);
    let mut out = format!("entry  {:<width$}  {:>10}  kernels\n", "target", "bytes");
    for row in rows {
        let kernels = match &row.kernels {
            Some(names) => names.len().to_string() + &first_names(names),
            None => "cannot be read".to_owned(),
        };
        let _ = writeln!(out, "{:>5}  {:<width$}  {:>10}  {kernels}", row.entry, target(row), row.bytes);
    }
    out
}

fn first_names(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let more = if names.len() > SHOWN { ", …" } else { "" };
    let shown: Vec<_> = names.iter().take(SHOWN).map(String::as_str).collect();
    if shown.is_empty() { String::new() } else { format!(": {}{more}", shown.join(", ")) }
}
