//! The code objects of a file and its containers, and the selection among them.

use std::fmt::Write as _;

use gcn_emit::object::container;
use gcn_emit::object::typed_arena::Arena;
use gcn_emit::target_id::{Feature, TargetId};
use serde::Serialize;

use crate::commands;
use crate::failure::Failure;
use crate::file;

/// Storage for unpacked compressed bundles.
pub type Unpacked = Arena<Vec<u8>>;

/// The selection of a file's code objects.
#[derive(clap::Args, Clone, Copy, Default)]
pub struct Choice {
    /// In a bundle, host library or program, select the code objects for this target; also the target of
    /// assembly that does not name one
    #[arg(long, value_name = "T")]
    pub target: Option<TargetId>,
    /// In a bundle, host library or program, select the code object with this number in --list
    #[arg(long, value_name = "N")]
    pub entry: Option<usize>,
    /// List the code objects of the file instead
    #[arg(long)]
    pub list: bool,
}

/// A code object of a file.
#[derive(Clone)]
pub struct Object<'d> {
    /// The name in messages: the file, and if it has several objects, number and name of this one.
    pub name: String,
    /// Its number in the file, from 1.
    pub number: usize,
    /// The name of the bundle's entry; empty if the file is the code object itself.
    pub entry: &'d str,
    pub target_id: Option<TargetId>,
    pub bytes: &'d [u8],
}

/// A row of `--list`.
#[derive(Serialize)]
struct Row<'d> {
    entry: usize,
    target_id: Option<String>,
    bytes: usize,
    name: &'d str,
    /// Names of its kernels; `None` if it cannot be read.
    kernels: Option<Vec<String>>,
}

impl Choice {
    /// Every code object for a target.
    pub fn for_target(target: Option<TargetId>) -> Choice {
        Choice { target, ..Choice::default() }
    }

    /// The selected code objects; at least one. `bytes` are those of an ELF file or of a container.
    pub fn select<'d>(
        &self,
        name: &str,
        bytes: &'d [u8],
        unpacked: &'d Unpacked,
    ) -> Result<Vec<Object<'d>>, Failure> {
        let all = objects(name, bytes, unpacked)?;
        let wanted = |o: &&Object<'_>| self.entry.is_none_or(|n| n == o.number) && self.fits(o.target_id);
        let found: Vec<_> = all.iter().filter(wanted).cloned().collect();
        match (found.is_empty(), all.as_slice()) {
            (false, _) => Ok(self.nearest(found)),
            (true, [only]) if only.entry.is_empty() => Err(self.another(name, only)),
            (true, _) => Err(Failure::input(format!("{name}: {}; {}", self.none(), there(&all)))),
        }
    }

    /// The selected code object. If there are several, the one with `kernel`.
    pub fn select_one<'d>(
        &self,
        name: &str,
        bytes: &'d [u8],
        unpacked: &'d Unpacked,
        kernel: Option<&str>,
    ) -> Result<Object<'d>, Failure> {
        let mut found = self.select(name, bytes, unpacked)?;
        if let Some(kernel) = kernel.filter(|_| found.len() > 1) {
            let with: Vec<_> = found.iter().filter(|o| has_kernel(o, kernel)).cloned().collect();
            found = if with.is_empty() { found } else { with };
        }
        match found.as_slice() {
            [one] => Ok(one.clone()),
            several => Err(Failure::usage(format!(
                "{name}: {}; choose one with --target or --entry",
                there(several)
            ))),
        }
    }

    /// Whether a code object for `id` is selected: the same target, and no feature set to opposite values.
    fn fits(&self, id: Option<TargetId>) -> bool {
        let agree = |a: Feature, b: Feature| a == b || a == Feature::Any || b == Feature::Any;
        self.target.is_none_or(|wanted| {
            id.is_some_and(|id| {
                id.target == wanted.target
                    && agree(id.xnack, wanted.xnack)
                    && agree(id.sramecc, wanted.sramecc)
            })
        })
    }

    /// The code objects of `found` whose features agree best with the target id.
    fn nearest<'d>(&self, found: Vec<Object<'d>>) -> Vec<Object<'d>> {
        let Some(wanted) = self.target else { return found };
        let same = |o: &Object<'_>| {
            let count = |a: Feature, b: Feature| u8::from(a == b && a != Feature::Any);
            o.target_id.map_or(0, |id| count(id.xnack, wanted.xnack) + count(id.sramecc, wanted.sramecc))
        };
        let most = found.iter().map(same).max().unwrap_or(0);
        found.into_iter().filter(|o| same(o) == most).collect()
    }

    /// The error for a file that is a single code object other than the selected one.
    fn another(&self, name: &str, only: &Object<'_>) -> Failure {
        match (self.target, only.target_id) {
            (Some(wanted), Some(id)) if self.entry.is_none_or(|n| n == only.number) => {
                Failure::input(format!(
                    "{name}: the file is for {id}, but --target is {wanted}; omit --target, or give another file"
                ))
            }
            _ => Failure::input(format!("{name}: the file is one code object; omit --entry")),
        }
    }

    /// The error for an empty selection.
    fn none(&self) -> String {
        match (self.target, self.entry) {
            (Some(target), None) => format!("there is no code object for {target}"),
            (_, Some(entry)) => format!("no code object matches --entry {entry}"),
            (None, None) => "there is no code object for a supported target".to_owned(),
        }
    }
}

/// Prints the code objects of a file.
pub fn list(file: &str, choice: &Choice, json: bool) -> Result<(), Failure> {
    let (bytes, name) = (file::read_unpacked(file)?, file::shown(file));
    if !file::holds_objects(&bytes) {
        return Err(Failure::input(format!("{name}: neither a code object nor a container of code objects")));
    }
    let unpacked = Unpacked::new();
    let found = choice.select(name, &bytes, &unpacked)?;
    let rows: Vec<Row<'_>> = found.iter().map(row).collect();
    let text = if json { commands::json(&rows)? } else { format!("{name}:\n{}", table(&rows)) };
    file::print(text.as_bytes())
}

/// The code objects for supported targets.
fn objects<'d>(name: &str, bytes: &'d [u8], unpacked: &'d Unpacked) -> Result<Vec<Object<'d>>, Failure> {
    if !file::holds_several(bytes) {
        let read = commands::code_object(name, bytes);
        let host = bytes.get(18..20).is_some_and(|machine| machine != [0xe0, 0]);
        let without = "; a host file has code for GPUs in the section `.hip_fatbin`, which this one lacks";
        let read = if host { read.map_err(|failure| failure.with(without)) } else { read };
        let target_id = read?.target_id;
        let (name, entry) = (name.to_owned(), "");
        return Ok(vec![Object { name, number: 1, entry, target_id: Some(target_id), bytes }]);
    }
    let entries = container::entries(bytes, unpacked);
    let entries = entries.map_err(|error| Failure::input(format!("{name}: {error}")))?;
    let ours = entries.iter().filter(|e| e.target_id.is_some() && !e.bytes.is_empty());
    let object = |(at, e): (usize, &container::Entry<'d>)| Object {
        name: format!("{name} ({}: {})", at + 1, e.name),
        number: at + 1,
        entry: e.name,
        target_id: e.target_id,
        bytes: e.bytes,
    };
    Ok(ours.enumerate().map(object).collect())
}

fn has_kernel(object: &Object<'_>, kernel: &str) -> bool {
    gcn_emit::object::read_code_object(object.bytes).is_ok_and(|o| o.kernel(kernel).is_some())
}

/// The list of code objects for a message.
fn there(objects: &[Object<'_>]) -> String {
    const SHOWN: usize = 16;
    let one = |o: &Object<'_>| {
        let target = o.target_id.map_or_else(String::new, |id| id.to_string());
        format!("{} ({target})", o.number)
    };
    let mut text = objects.iter().take(SHOWN).map(one).collect::<Vec<_>>().join(", ");
    if objects.len() > SHOWN {
        let _ = write!(text, " and {} more, which --list shows", objects.len() - SHOWN);
    }
    if text.is_empty() { "it has none".to_owned() } else { format!("it has {text}") }
}

fn row<'d>(object: &Object<'d>) -> Row<'d> {
    let read = gcn_emit::object::read_code_object(object.bytes);
    Row {
        entry: object.number,
        target_id: object.target_id.map(|id| id.to_string()),
        bytes: object.bytes.len(),
        name: object.entry,
        kernels: read.ok().map(|o| o.kernels.iter().map(|k| k.name.to_owned()).collect()),
    }
}

fn table(rows: &[Row<'_>]) -> String {
    let target = |row: &Row<'_>| row.target_id.clone().unwrap_or_default();
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
