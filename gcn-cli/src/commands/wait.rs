//! `gcn wait`.

use gcn_emit::text::parse_inst;
use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::target::InstructionSet;
use gcn_isa::{Operand, Target};

use crate::failure::Failure;
use crate::{commands, file};

/// Decodes the immediate of an `s_waitcnt`, or encodes counters as one.
///
/// WAIT is a number, decimal or hexadecimal, or counters as in assembly: `vmcnt(4) lgkmcnt(0)`, also joined
/// by `&` or commas. Counters that are not named are not waited for.
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
  gcn wait 0xc07f --json";

/// The output of `--json`.
#[derive(serde::Serialize)]
struct Wait {
    target: &'static str,
    immediate: u16,
    text: String,
    counters: Vec<Field>,
    unused_bits: u16,
}

/// One counter.
#[derive(serde::Serialize)]
struct Field {
    counter: &'static str,
    value: u8,
    max: u8,
    waits: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let set = args.target.instruction_set();
    if used_bits(set) == 0 {
        return Err(Failure::input(format!(
            "{} has no `s_waitcnt`; its counters have instructions of their own, whose immediate is the count: {}",
            args.target,
            WaitCnt::all(set).on(set)
        )));
    }
    let given = args.wait.join(" ");
    let immediate = match number(given.trim())? {
        Some(number) => number,
        None => counters(given.trim(), args.target)?,
    };
    let wait = describe(immediate, args.target);
    let text = if args.json { commands::json(&wait)? } else { render(&wait) };
    file::print(text.as_bytes())
}

/// The immediate, if it is a number.
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

/// Encodes counters in the assembler's syntax.
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

/// The bits of the immediate that belong to counters.
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
    for field in &wait.counters {
        let what = match (field.waits, field.value) {
            (false, _) => "not waited for".to_owned(),
            (true, 0) => "until nothing is outstanding".to_owned(),
            (true, n) => format!("until at most {n} are outstanding"),
        };
        out += &format!("  {:<8} {:>2} of {:>2}: {what}\n", field.counter, field.value, field.max);
    }
    if wait.unused_bits != 0 {
        out += &format!("  bits {:#06x} are set but unused\n", wait.unused_bits);
    }
    out
}
