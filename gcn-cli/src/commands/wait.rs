//! `gcn wait`.

use gcn_emit::text::{InstText, parse_inst};
use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::immediate::{self, Immediate};
use gcn_isa::table::{self, Class};
use gcn_isa::target::InstructionSet;
use gcn_isa::{Inst, Operand, Target};

use crate::failure::Failure;
use crate::{commands, file};

/// Decodes the immediate of an `s_waitcnt` or of another wait instruction, or encodes counters into one.
///
/// WAIT is a number, decimal or hexadecimal, or counters as in assembly: `vmcnt(4) lgkmcnt(0)`, also joined by `&` or commas, or a wait
/// instruction. Counters that are not named are not waited for. RDNA's dependency fields (`depctr_va_vdst(0)`) count as counters. `vscnt`,
/// and from gfx12 on every counter, has an instruction of its own.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The immediate or the counters
    #[arg(value_name = "WAIT", required = true, allow_negative_numbers = true)]
    wait: Vec<String>,
    /// The target
    #[arg(long, value_name = "T", value_parser = commands::target, default_value = "gfx942")]
    target: Target,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  gcn wait 3952 --target gfx90a
  gcn wait 'vmcnt(4) lgkmcnt(0)'
  gcn wait 0xc07f --json
  gcn wait 'loadcnt(3) dscnt(0)' --target gfx1201
  gcn wait 'vmcnt(2) vscnt(0)' --target gfx1100
  gcn wait 's_wait_alu 0xff9e' --target gfx1201";

/// The output of `--json`.
#[derive(serde::Serialize)]
struct Wait {
    target: &'static str,
    immediate: u16,
    text: String,
    counters: Vec<Field>,
    unused_bits: u16,
}

/// One counter and its value.
#[derive(serde::Serialize)]
struct Field {
    counter: &'static str,
    value: u8,
    max: u8,
    waits: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let given = args.wait.join(" ");
    let waits = waits(given.trim(), args.target)?;
    let text = match &waits[..] {
        [wait] if args.json => commands::json(wait)?,
        _ if args.json => {
            let texts: Vec<&str> = waits.iter().map(|w| w.text.as_str()).collect();
            return Err(Failure::input(format!(
                "`{}` takes several instructions on {}; ask for one: {}",
                given.trim(),
                args.target,
                texts.join(", ")
            )));
        }
        _ => waits.iter().map(render).collect(),
    };
    file::print(text.as_bytes())
}

/// The wait instructions that `given` describes.
fn waits(given: &str, target: Target) -> Result<Vec<Wait>, Failure> {
    let set = target.instruction_set();
    let has_list = used_bits(set) != 0;
    if let Some(immediate) = number(given)? {
        return match has_list {
            true => Ok(vec![describe(immediate, target)]),
            false => Err(Failure::input(format!(
                "the counters of {target} have instructions of their own: write which, as in `s_wait_loadcnt {immediate:#x}`"
            ))),
        };
    }
    let mnemonic = given.split_whitespace().next().unwrap_or_default();
    if mnemonic == WaitCnt::INSTRUCTION && !has_list {
        return Err(Failure::input(format!(
            "`{mnemonic}` waits for nothing on {target}: its counters have instructions of their own, as in `s_wait_loadcnt 0x0`; give those, \
             or counters by name: {}",
            names(set)
        )));
    }
    if table::find(target, mnemonic).next().is_some() && mnemonic != WaitCnt::INSTRUCTION {
        return instruction(given, target).map(|wait| vec![wait]);
    }
    if let Some(wait) = dependency_wait(given, target) {
        return instruction(&format!("{wait} {given}"), target).map(|wait| vec![wait]);
    }
    // A counter that is not in `s_waitcnt` has a separate instruction.
    let beyond = |c: &Counter| !c.is_in(WaitCnt::of_immediate(set, 0)) && given.contains(c.name(set));
    if has_list && !set.counters().iter().any(beyond) {
        return counters(given, target).map(|immediate| vec![describe(immediate, target)]);
    }
    let wait = counters_by_name(given, set)?;
    Ok(wait.instructions(target).iter().map(|inst| described(inst, target)).collect())
}

/// The name of the instruction that waits for dependencies, if `given` begins with one of its fields.
fn dependency_wait(given: &str, target: Target) -> Option<&'static str> {
    let fields = Immediate::Dependencies.fields(target.instruction_set());
    let is_dependency = fields.iter().any(|field| given.starts_with(&format!("{}(", field.name)));
    let waits = |name: &&str| table::find(target, name).next().is_some();
    ["s_wait_alu", "s_waitcnt_depctr"].into_iter().find(waits).filter(|_| is_dependency)
}

/// Parses a wait instruction.
fn instruction(text: &str, target: Target) -> Result<Wait, Failure> {
    let inst = parse_inst(text, target).map_err(|error| Failure::input(format!("`{text}`: {error}")))?;
    match inst.desc.class {
        Class::Waitcnt => Ok(described(&inst, target)),
        _ => Err(Failure::input(format!("`{text}` is no instruction that waits for counters"))),
    }
}

/// The names of the counters of an instruction set.
fn names(set: InstructionSet) -> String {
    set.counters().iter().map(|c| c.name(set)).collect::<Vec<_>>().join(", ")
}

/// Parses counters by the names that they have on the target: `loadcnt(4) dscnt(0)`.
fn counters_by_name(text: &str, set: InstructionSet) -> Result<WaitCnt, Failure> {
    let mut wait = WaitCnt::NONE;
    for word in text.split([' ', ',', '&']).filter(|word| !word.is_empty()) {
        let parts = word.strip_suffix(')').and_then(|word| word.split_once('('));
        let counter = parts.and_then(|(name, _)| set.counters().iter().find(|c| c.name(set) == name));
        let (Some(&counter), Some((name, value))) = (counter, parts) else {
            let first = set.counters().first().map_or("", |c| c.name(set));
            return Err(Failure::input(format!(
                "`{word}` is not a counter of {set} with its value; write for example `{first}(0)`; there are {}",
                names(set)
            )));
        };
        let most = counter.capacity(set);
        let value = value.parse().ok().filter(|value| *value <= most);
        let value: u8 =
            value.ok_or_else(|| Failure::input(format!("`{word}`: {name} is from 0 to {most}")))?;
        wait = if value < most { counter.set(wait, value) } else { wait };
    }
    Ok(wait)
}

/// Describes a wait instruction.
fn described(inst: &Inst, target: Target) -> Wait {
    let set = target.instruction_set();
    let immediate = match inst.operands.last() {
        Some(Operand::Imm(immediate)) => (*immediate & 0xffff) as u16,
        _ => 0,
    };
    let wait = WaitCnt::of(inst).unwrap_or(WaitCnt::NONE);
    let fields = WaitCnt::fields_of(inst.desc);
    let dependencies = inst.desc.entry.immediate.fields(set);
    let of_counter = |counter: Counter| {
        let max = counter.capacity(set);
        let value = counter.of(wait).min(max);
        Field { counter: counter.name(set), value, max, waits: value < max }
    };
    let of_dependency = |field: &immediate::Field| {
        let (value, max) = (field.decode(immediate) as u8, field.largest() as u8);
        Field { counter: field.name, value, max, waits: value < max }
    };
    let is_counters = inst.desc.entry.immediate != Immediate::Dependencies;
    let counters: Vec<Field> = match is_counters {
        true if fields.is_empty() => wait.counters().map(of_counter).collect(),
        true => fields.iter().map(|field| of_counter(field.0)).collect(),
        false => dependencies.iter().map(of_dependency).collect(),
    };
    let used = match is_counters {
        true => fields.iter().fold(0, |all, field| all | field.1),
        false => dependencies.iter().fold(0, |all, field| all | field.encode(u16::MAX)),
    };
    Wait {
        target: target.name(),
        immediate,
        text: InstText { inst, target, program: None }.to_string(),
        counters,
        unused_bits: if is_counters { immediate & !used } else { 0 },
    }
}

/// Parses an immediate; `None` if the text does not start with a digit.
fn number(text: &str) -> Result<Option<u16>, Failure> {
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return Ok(None);
    }
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let parsed = hexadecimal.map_or_else(|| text.parse::<i64>(), |digits| i64::from_str_radix(digits, 16));
    let value = parsed.ok().and_then(|n| u16::try_from(n).ok());
    value.map(Some).ok_or_else(|| {
        Failure::input(format!(
            "`{text}` is not an immediate of `s_waitcnt`, which is a number from 0 to 65535 (0xffff)"
        ))
    })
}

/// Encodes counters in the assembler's syntax as an immediate.
fn counters(text: &str, target: Target) -> Result<u16, Failure> {
    let operand = text.strip_prefix(WaitCnt::INSTRUCTION).unwrap_or(text).trim();
    let inst = parse_inst(&format!("s_waitcnt {operand}"), target);
    let inst = inst.map_err(|error| Failure::input(format!("`{operand}`: {error}")))?;
    match inst.operands.first() {
        Some(Operand::Imm(immediate)) => Ok((*immediate & 0xffff) as u16),
        _ => Err(Failure::input(format!("`{operand}` is not a wait; write for example `vmcnt(0)`"))),
    }
}

fn describe(immediate: u16, target: Target) -> Wait {
    let set = target.instruction_set();
    let wait = WaitCnt::of_immediate(set, immediate);
    let written = WaitCnt::of_immediate(set, 0);
    let field = |counter: Counter| {
        let max = counter.capacity(set);
        let value = counter.of(wait).min(max);
        Field { counter: counter.name(set), value, max, waits: value < max }
    };
    Wait {
        target: target.name(),
        immediate,
        text: wait.on(set).to_string(),
        counters: Counter::ALL.into_iter().filter(|counter| counter.is_in(written)).map(field).collect(),
        unused_bits: immediate & !used_bits(set),
    }
}

/// The mask of the bits of the immediate that belong to counters.
fn used_bits(set: InstructionSet) -> u16 {
    let zero = WaitCnt::of_immediate(set, 0);
    (0..16)
        .map(|bit| 1 << bit)
        .filter(|bit| WaitCnt::of_immediate(set, *bit) != zero)
        .fold(0, |all, bit| all | bit)
}

fn render(wait: &Wait) -> String {
    let mut out = format!(
        "{}\n  immediate {} ({:#06x}) on {}\n",
        wait.text, wait.immediate, wait.immediate, wait.target
    );
    let longest = wait.counters.iter().map(|field| field.counter.len()).max().unwrap_or_default();
    let width = longest.max(8);
    for field in &wait.counters {
        let what = match (field.waits, field.value) {
            (false, _) => "not waited for".to_owned(),
            (true, 0) => "until nothing is outstanding".to_owned(),
            (true, n) => format!("until at most {n} are outstanding"),
        };
        out += &format!("  {:<width$} {:>2} of {:>2}: {what}\n", field.counter, field.value, field.max);
    }
    if wait.unused_bits != 0 {
        out += &format!("  bits {:#06x} are set but unused\n", wait.unused_bits);
    }
    out
}
