//! The extension module behind the Python package `gcn`: its functions take the name and the bytes of a file, and options as JSON, and
//! return the results of the libraries as JSON. `python/gcn_tools/__init__.py` adds types.

mod options;
mod sim;

use gcn_emit::asm;
use gcn_emit::disasm as code;
use gcn_emit::rewrite::{self, fix_with};
use gcn_report::check::{Checked, Summary, json as report};
use gcn_report::container;
use gcn_report::input::{self, Broken};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use options::Options;

pyo3::create_exception!(
    gcn,
    Error,
    PyValueError,
    "What the libraries refuse; the message says where, why, and what to do."
);

/// Turns an error into the package's exception.
fn refused(error: impl std::fmt::Display) -> PyErr {
    Error::new_err(error.to_string().trim_end().to_owned())
}

/// Turns a result into JSON text, which the Python side parses.
fn text(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(refused)
}

/// Returns the findings of a file, for each code object in it.
#[pyfunction]
fn check(py: Python<'_>, name: &str, data: Vec<u8>, options: &str) -> PyResult<String> {
    let options = Options::read(options)?;
    py.detach(|| {
        let (rules, level) = (options.rules()?, options.level);
        let mut files = Vec::new();
        let (choice, folders) = (options.choice(), options.folders());
        let read = input::each(name, data, &choice, Broken::LeaveOut, &folders, |input| {
            let xnack = options.xnack.unwrap_or(input.unit.target_id.may_replay());
            let checked = Checked::new(&input, level, rules.with_xnack(xnack), options.advice);
            let mut report = report::file(&checked);
            report["clean"] = json!(Summary::of(&checked).exit_code(false) == 0);
            files.push(report);
            Ok::<_, gcn_report::Error>(())
        });
        read.map_err(refused)?;
        text(&files)
    })
}

/// Returns assembly text with the missing waits inserted.
#[pyfunction]
fn fix(py: Python<'_>, name: &str, source: String, options: &str) -> PyResult<String> {
    let options = Options::read(options)?;
    py.detach(|| {
        let folders = options.folders();
        let source = if options.expand {
            let asm = asm::Options { target: options.target, wave: options.wave, ..asm::Options::default() };
            asm::expand(name, &source, &asm, &folders).map_err(refused)?
        } else {
            source
        };
        let how = rewrite::Options {
            target: options.target,
            wave: options.wave,
            xnack: options.xnack,
            rules: options.rules()?,
            strip: options.strip,
            only: options.only(),
            comment: options.comment,
            delays: false,
            brief: false,
        };
        let fixed = fix_with(name, &source, &how, &folders).map_err(|e| match e {
            rewrite::RewriteError::Assembly(_) => refused(e),
            _ => refused(format!("{name}: {e}")),
        })?;
        let target_id = fixed.target_id.to_string();
        text(&json!({
            "text": fixed.text, "target_id": target_id, "changes": fixed.changes, "kept": fixed.kept,
            "functions": fixed.functions,
        }))
    })
}

/// Returns the reason for each wait in a file.
#[pyfunction]
fn explain(py: Python<'_>, name: &str, data: Vec<u8>, options: &str) -> PyResult<String> {
    let options = Options::read(options)?;
    py.detach(|| {
        let folders = options.folders();
        let inputs = input::read(name, data, &options.choice(), Broken::Refuse, &folders).map_err(refused)?;
        let input = inputs.into_iter().next().filter(|input| input.text.is_some());
        let input =
            input.ok_or_else(|| refused(format!("{name}: not assembly; disasm() makes assembly of it")))?;
        let input = if input.unit.origins.is_empty() {
            input
        } else {
            input::expanded(input, &options.choice(), &folders).map_err(refused)?
        };
        text(&gcn_report::explain::report(&input, options.rules()?, options.writers))
    })
}

/// Returns a code object as assembly text.
#[pyfunction]
fn disasm(py: Python<'_>, name: &str, data: Vec<u8>, options: &str) -> PyResult<String> {
    let options = Options::read(options)?;
    py.detach(|| {
        disassembled(name, &data, &options, |object, disassembly| {
            let unit = gcn_emit::code::Unit::of_object(object);
            let notes = unit.map(|unit| unit.register_notes(disassembly)).unwrap_or_default();
            let how = code::Options {
                kernel: options.kernel.as_deref(),
                bytes: options.bytes,
                notes: Some(&notes),
            };
            Ok(disassembly.to_assembly(&how))
        })
    })
}

/// Returns the instructions of a code object.
#[pyfunction]
fn instructions(py: Python<'_>, name: &str, data: Vec<u8>, options: &str) -> PyResult<String> {
    let options = Options::read(options)?;
    py.detach(|| {
        disassembled(name, &data, &options, |object, disassembly| {
            text(&gcn_report::disasm::report(object, disassembly, options.kernel.as_deref()))
        })
    })
}

fn disassembled(
    name: &str,
    data: &[u8],
    options: &Options,
    show: impl FnOnce(&gcn_emit::object::CodeObject<'_>, &code::Disassembly<'_, '_>) -> PyResult<String>,
) -> PyResult<String> {
    let kernel = options.kernel.as_deref();
    let chosen = options.choice().select_one(name, data, kernel).map_err(refused)?;
    let object = container::code_object(&chosen.name, &chosen.bytes).map_err(refused)?;
    let disassembly = code::disassemble(&object);
    match kernel.filter(|kernel| !disassembly.has_kernel(kernel)) {
        Some(kernel) => Err(refused(container::no_such_kernel(&chosen.name, kernel, &object))),
        None => show(&object, &disassembly),
    }
}

/// Assembles text; returns the code object and the assembler's warnings.
#[pyfunction]
fn assemble(py: Python<'_>, name: &str, source: String, options: &str) -> PyResult<(Vec<u8>, Vec<String>)> {
    let options = Options::read(options)?;
    py.detach(|| {
        let how = asm::Options { target: options.target, wave: options.wave, ..asm::Options::default() };
        let assembly = asm::assemble_with(name, &source, &how, &options.folders()).map_err(refused)?;
        let object = assembly.code_object().map_err(|error| refused(format!("{name}: {error}")))?;
        let warnings = assembly.warnings.iter().map(|w| w.render(false).trim_end().to_owned());
        Ok((object, warnings.collect()))
    })
}

/// Returns what code objects contain: kernels, descriptors, metadata.
#[pyfunction]
fn inspect(py: Python<'_>, name: &str, data: Vec<u8>, options: &str) -> PyResult<String> {
    let options = Options::read(options)?;
    py.detach(|| {
        let mut reports: Vec<Value> = Vec::new();
        let read = options.choice().each(name, &data, |object| {
            let read = container::code_object(&object.name, &object.bytes)?;
            let mut report = json!(gcn_report::inspect::report(&read, None));
            report["name"] = json!(object.name);
            reports.push(report);
            Ok::<_, gcn_report::Error>(())
        });
        read.map_err(refused)?;
        text(&reports)
    })
}

#[pymodule]
fn _gcn(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<Error>())?;
    module
        .add("TARGETS", gcn_isa::Target::KNOWN.into_iter().map(gcn_isa::Target::name).collect::<Vec<_>>())?;
    for function in [
        wrap_pyfunction!(check, module)?,
        wrap_pyfunction!(fix, module)?,
        wrap_pyfunction!(explain, module)?,
        wrap_pyfunction!(disasm, module)?,
        wrap_pyfunction!(instructions, module)?,
        wrap_pyfunction!(assemble, module)?,
        wrap_pyfunction!(inspect, module)?,
        wrap_pyfunction!(sim::template, module)?,
        wrap_pyfunction!(sim::sim, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
