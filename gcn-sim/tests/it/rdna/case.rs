//! A kernel with inputs and expected outputs.

use std::collections::BTreeSet;
use std::path::Path;

use gcn_emit::code::Unit;
use gcn_emit::object::read_code_object;
use gcn_emit::text::InstText;
use gcn_isa::check;
use gcn_isa::hazards::{Config, Grade};
use gcn_isa::{Class, Inst};
use gcn_sim::Options;
use gcn_sim::launch::{Number, Out, Output, Prepared, Program, Spec};
use gcn_sim::timed::{self, TimedReport};
use serde_json::Value;

/// The outcome of running a kernel.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    /// The outputs are as expected. Contains the table entries of the executed instructions.
    Right(BTreeSet<&'static str>),
    Wrong(String),
}

/// Runs the kernel of a folder.
pub fn run(folder: &Path, options: &Options) -> Outcome {
    match compare(folder, options) {
        Ok(executed) => Outcome::Right(executed),
        Err(reason) => Outcome::Wrong(reason),
    }
}

/// The reason for a failure without names, numbers and operands, by which similar failures are grouped.
pub fn kind(reason: &str) -> String {
    match reason.split_once("does not run `") {
        Some((_, text)) => {
            let mnemonic = text.split([' ', '`']).next().unwrap_or(text);
            let what = text.rsplit(": ").next().unwrap_or("");
            format!("{mnemonic}: {what}")
        }
        None => reason.chars().filter(|c| !c.is_ascii_digit()).take(60).collect(),
    }
}

/// A wait that has been removed.
pub struct Removed {
    /// The text and the address of the wait.
    pub wait: String,
    /// The result of strict mode without the wait.
    pub strict: Result<(), String>,
    /// True if the checker has additional findings without the wait, at the same level.
    pub is_found: bool,
}

/// The checker's findings for an object at this level: rules and lines.
pub fn found(bytes: &[u8], rules: Config) -> BTreeSet<(&'static str, usize)> {
    let unit = Unit::of_object(&read_code_object(bytes).unwrap()).unwrap();
    let options = check::Options { rules, ..check::Options::default() };
    let reports = unit.sections.iter().map(|code| check::check_with(&code.program, options));
    let findings = reports.flat_map(|report| report.findings);
    findings.filter(|f| f.grade >= Grade::Documented).map(|f| (f.rule, f.second)).collect()
}

/// For each wait that the folder's kernel executes, the results with that wait replaced by `s_nop 0`.
pub fn without_each_wait(folder: &Path) -> Vec<Removed> {
    let bytes = std::fs::read(folder.join("k.hsaco")).unwrap();
    let spec = Spec::from_json(&std::fs::read_to_string(folder.join("spec.json")).unwrap()).unwrap();
    let rules = Config::at_least(Grade::Documented);
    let options = Options { parallel: false, max_instructions: 50_000_000, rules, ..Options::strict() };
    let run = |bytes: &[u8]| {
        let program = Program::load(bytes, spec.kernel.as_deref()).unwrap();
        let mut prepared = program.prepare(&spec, folder).unwrap();
        let stats = prepared.run(&options).map_err(|e| e.to_string())?;
        let executed: Vec<u32> = stats.by_instruction.iter().map(|(offset, _)| *offset).collect();
        let waits = prepared.machine().instructions();
        let waits = waits.filter(|(at, inst)| inst.desc.class == Class::Waitcnt && executed.contains(at));
        let target = prepared.machine().target();
        let text = |inst: &Inst| InstText { inst, target, program: None }.to_string();
        Ok::<_, String>(waits.map(|(at, inst)| (at, text(inst))).collect::<Vec<_>>())
    };
    let (waits, before) = (run(&bytes).unwrap(), found(&bytes, rules));
    let removed = |(at, text): (u32, String)| {
        let mut bytes = bytes.clone();
        let place = file_offset(&bytes, at);
        bytes[place..place + 4].copy_from_slice(&S_NOP);
        let is_found = found(&bytes, rules).difference(&before).next().is_some();
        Removed { wait: format!("{text} at {at:#x}"), strict: run(&bytes).map(|_| ()), is_found }
    };
    waits.into_iter().map(removed).collect()
}

/// The encoding of `s_nop 0` on every RDNA target.
const S_NOP: [u8; 4] = 0xbf80_0000_u32.to_le_bytes();

/// The offset in an ELF file of the bytes at an address.
fn file_offset(file: &[u8], address: u32) -> usize {
    let number = |at: usize, bytes: usize| {
        file[at..at + bytes].iter().rev().fold(0, |all, byte| all << 8 | usize::from(*byte))
    };
    let (headers, count) = (number(32, 8), number(56, 2));
    let segments = (0..count).map(|i| headers + 56 * i).filter(|at| number(*at, 4) == 1);
    let mut places = segments.map(|at| (number(at + 8, 8), number(at + 16, 8), number(at + 32, 8)));
    let holds =
        |(_, start, size): &(usize, usize, usize)| (*start..start + size).contains(&(address as usize));
    let (offset, start, _) = places.find(holds).unwrap();
    address as usize - start + offset
}

fn compare(folder: &Path, options: &Options) -> Result<BTreeSet<&'static str>, String> {
    let mut prepared = prepare(folder)?;
    let options = Options { parallel: true, max_instructions: 50_000_000, ..*options };
    let stats = prepared.run(&options).map_err(|e| e.to_string())?;
    if let Some(finding) = stats.findings.iter().find(|finding| !finding.kind.is_note()) {
        return Err(finding.to_string());
    }
    if let Some(stale) = stats.stale.first() {
        return Err(stale.hazard.to_string());
    }
    as_expected(folder, &prepared)?;
    let offsets: BTreeSet<u32> = stats.by_instruction.iter().map(|(offset, _)| *offset).collect();
    let executed = prepared.machine().instructions().filter(|(offset, _)| offsets.contains(offset));
    Ok(executed
        .flat_map(|(_, inst)| match inst.desc.halves {
            Some(halves) => halves.map(|half| half.entry.mnemonic).to_vec(),
            None => vec![inst.desc.entry.mnemonic],
        })
        .collect())
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, String> {
    std::fs::read(folder.join(name)).map_err(|e| format!("{name}: {e}"))
}

fn text(folder: &Path, name: &str) -> Result<String, String> {
    read(folder, name).map(|bytes| String::from_utf8(bytes).unwrap())
}

fn prepare(folder: &Path) -> Result<Prepared, String> {
    let spec = Spec::from_json(&text(folder, "spec.json")?).map_err(|e| e.to_string())?;
    let object = read(folder, "k.hsaco")?;
    let program = Program::load(&object, spec.kernel.as_deref()).map_err(|e| e.to_string())?;
    program.prepare(&spec, folder).map_err(|e| e.to_string())
}

/// Compares the outputs of a kernel after its run.
fn as_expected(folder: &Path, prepared: &Prepared) -> Result<(), String> {
    let outputs = prepared.outputs().map_err(|e| e.to_string())?;
    let expect: Value = serde_json::from_str(&text(folder, "expect.json")?).unwrap();
    let expect = expect.as_object().unwrap();
    assert!(!expect.is_empty(), "{}", folder.display());
    for (name, expected) in expect {
        let output = outputs.iter().find(|o| stem(o) == *name).ok_or_else(|| format!("no output {name}"))?;
        let file = read(folder, expected["file"].as_str().unwrap())?;
        same(output, expected, &file).map_err(|reason| format!("{name} {reason}"))?;
    }
    Ok(())
}

/// Runs the folder's kernel in timed mode and checks its outputs.
pub fn run_timed(folder: &Path) -> Result<TimedReport, String> {
    let mut prepared = prepare(folder)?;
    let report = prepared.run_timed(&timed::Config::default()).map_err(|e| e.to_string())?;
    as_expected(folder, &prepared)?;
    Ok(report)
}

/// The name of an output in the expectations: the name of its file without `.out.npy`.
fn stem(output: &Output) -> String {
    let Some(Out::File(file)) = &output.out else { return String::new() };
    let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.trim_end_matches(".out.npy").to_owned()
}

fn same(output: &Output, expected: &Value, file: &[u8]) -> Result<(), String> {
    let wanted = numbers(file);
    let got: Vec<f64> = match expected["as"].as_str().unwrap() {
        // NumPy has no bf16, so the file contains the bits.
        "bf16" => {
            let bits = |pair: &[u8]| u32::from(u16::from_le_bytes([pair[0], pair[1]])) << 16;
            output.bytes.chunks_exact(2).map(|pair| f64::from(f32::from_bits(bits(pair)))).collect()
        }
        _ => output.numbers().map(number).collect(),
    };
    if got.len() != wanted.len() {
        return Err(format!("has {} elements for {}", got.len(), wanted.len()));
    }
    let exact = expected["compare"] == "exact";
    let tolerance = |name: &str| expected.get(name).and_then(Value::as_f64).unwrap_or(0.0);
    let (rtol, atol) = (tolerance("rtol"), tolerance("atol"));
    let near = |(got, want): (&f64, &f64)| {
        got == want
            || got.is_nan() && want.is_nan()
            || !exact && (got - want).abs() <= atol + rtol * want.abs()
    };
    let pairs = || got.iter().zip(&wanted);
    match pairs().position(|pair| !near(pair)) {
        None => Ok(()),
        Some(at) => {
            let count = pairs().filter(|pair| !near(*pair)).count();
            Err(format!("[{at}] is {} for {}, {count} of {} differ", got[at], wanted[at], got.len()))
        }
    }
}

fn number(number: Number) -> f64 {
    match number {
        Number::Int(i) => i as f64,
        Number::Float(f) => f,
        Number::Bits(bits) => bits as f64,
    }
}

/// The numbers of a file in NumPy's format.
fn numbers(file: &[u8]) -> Vec<f64> {
    let header = usize::from(u16::from_le_bytes([file[8], file[9]]));
    let (head, data) = file[10..].split_at(header);
    let head = std::str::from_utf8(head).unwrap();
    let descr = head.split("'descr': '").nth(1).and_then(|rest| rest.split('\'').next()).unwrap();
    macro_rules! read {
        ($ty:ty) => {{
            let (elements, rest) = data.as_chunks::<{ size_of::<$ty>() }>();
            assert!(rest.is_empty());
            elements.iter().map(|bytes| <$ty>::from_le_bytes(*bytes) as f64).collect()
        }};
    }
    let by_column = head.contains("'fortran_order': True");
    let numbers: Vec<f64> = match descr {
        "<f4" => read!(f32),
        "<f8" => read!(f64),
        "<i4" => read!(i32),
        "<u4" => read!(u32),
        "<i8" => read!(i64),
        other => panic!("elements {other}"),
    };
    if !by_column {
        return numbers;
    }
    let shape = head.split("'shape': (").nth(1).and_then(|rest| rest.split(')').next()).unwrap();
    let sizes: Vec<usize> = shape.split(',').filter_map(|size| size.trim().parse().ok()).collect();
    let [rows, columns] = sizes[..] else { panic!("an array of shape {shape} by columns") };
    (0..rows * columns).map(|i| numbers[i % columns * rows + i / columns]).collect()
}
