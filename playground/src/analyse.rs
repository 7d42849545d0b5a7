//! Analyses a text: errors, findings, the reason for each wait, and the fixed text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gcn_emit::asm::NoFiles;
use gcn_emit::rewrite::{self, RewriteError};
use gcn_emit::{asm, disasm};
use gcn_isa::hazards::{Config, Grade};
use gcn_report::check::{self, Checked};
use gcn_report::container;
use gcn_report::input::{self, Broken, Input, Loadable};
use gcn_report::{Error, explain, inspect};
use serde_json::{Value, json};

use crate::{NAME, Source};

/// All results for a text that need no launch.
pub fn analyse(source: &Source) -> Result<Value, String> {
    let choice = source.choice()?;
    let bytes = source.text.clone().into_bytes();
    let read = input::read(NAME, bytes, &choice, Broken::LeaveOut, &asm::Folders::default());
    let inputs = match read {
        Ok(inputs) => inputs,
        // Without a target, or in a text without a single statement, there are only errors to report.
        Err(Error::Assembly(errors)) => return Ok(json!({ "errors": errors.list })),
        Err(error) => return Err(error.to_string()),
    };
    let input = inputs.first().ok_or("there is no code")?;
    let mut report = findings(input)?;
    if let Value::Object(report) = &mut report {
        report.insert("errors".to_owned(), json!(input.left_out));
        if let Ok(loadable) = object(source) {
            let (lines, kernels) = encoded(&loadable)?;
            report.insert("lines".to_owned(), lines);
            report.insert("kernels".to_owned(), kernels);
        }
    }
    Ok(report)
}

/// The checker's findings, and the reason for each wait.
fn findings(input: &Input) -> Result<Value, String> {
    let rules = Config::default().with_xnack(input.unit.target_id.may_replay());
    let checked = Checked::new(input, Grade::Cautious, rules, true);
    let mut report = check::json::file(&checked);
    if let Value::Object(report) = &mut report {
        let waits = explain::report(input, Config::default(), false).waits;
        report.insert("waits".to_owned(), json!(waits));
    }
    Ok(report)
}

/// Assembles a text into a code object.
pub fn object(source: &Source) -> Result<Loadable, String> {
    let choice = source.choice()?;
    let bytes = source.text.clone().into_bytes();
    input::one(NAME, bytes, &choice, None, &asm::Folders::default()).map_err(|error| error.to_string())
}

/// Assembles a text; the answer has the code object's bytes in hexadecimal.
pub fn code_object(source: &Source) -> Result<Value, String> {
    let mut digits = String::new();
    for byte in &object(source)?.bytes {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
    }
    Ok(json!({ "object": digits }))
}

/// The instructions of each line of the text, with their offsets and bytes; and the kernels.
fn encoded(loadable: &Loadable) -> Result<(Value, Value), String> {
    let object = container::code_object(NAME, &loadable.bytes).map_err(|error| error.to_string())?;
    let disassembly = disasm::disassemble(&object);
    let code = gcn_report::disasm::report(&object, &disassembly, None);
    let mut lines: BTreeMap<u32, Vec<Value>> = BTreeMap::new();
    for item in code.sections.into_iter().flat_map(|section| section.items) {
        let line = loadable.lines.as_ref().and_then(|lines| lines.at(item.address)).map(|place| place.line);
        if let Some(line) = line {
            lines.entry(line).or_default().push(json!(item));
        }
    }
    Ok((json!(lines), json!(inspect::report(&object, None).kernels)))
}

/// The text with the missing waits inserted, and a list of the changes.
pub fn fix(source: &Source, strip: bool) -> Result<Value, String> {
    let options = rewrite::Options {
        target: source.target()?,
        wave: source.wave()?,
        strip,
        ..rewrite::Options::default()
    };
    let fixed = rewrite::fix_with(NAME, &source.text, &options, &NoFiles).map_err(|error| match error {
        RewriteError::Assembly(errors) => errors.render(false),
        error => error.to_string(),
    })?;
    Ok(json!({
        "text": fixed.text,
        "changes": fixed.changes,
        "kept": fixed.kept,
        "functions": fixed.functions,
    }))
}
