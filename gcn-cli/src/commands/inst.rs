//! `gcn inst`.

use std::fmt::Write as _;

use gcn_isa::reference::{self, CounterFacts, Form, Hazard, MatrixFacts, OperandFacts, Page};
use gcn_isa::target::Subtarget;
use gcn_isa::{Target, semantics, table};

use crate::failure::Failure;
use crate::{commands, file};

/// Explains one instruction: operands, encodings, counters, hazards, passes, meaning.
///
/// NAME is a mnemonic with or without its encoding suffix (`_e32`, `_e64`, `_dpp`, `_sdwa`), or another name that the assembler accepts. A
/// prefix of names, or a pattern with `*` and `?`, lists the matching instructions.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The instruction
    #[arg(value_name = "NAME")]
    name: String,
    /// Show only facts about this target
    #[arg(long, value_name = "T", value_parser = commands::target)]
    target: Option<Target>,
    /// Print the page as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  gcn inst v_add_f32                                     on every target that has it
  gcn inst v_mfma_f32_32x32x8_f16 --target gfx942        passes, FLOPs, layout, wait states
  gcn inst global_load_dwordx4 --target gfx90a --json    as JSON
  gcn inst 'v_cvt_*_fp8' --target gfx942                 which there are, with their meaning";

pub fn run(args: &Args) -> Result<(), Failure> {
    let page = match reference::page(&args.name, args.target) {
        Ok(page) => page,
        Err(error) => {
            let names = reference::matching(&args.name, args.target);
            if names.is_empty() || args.json {
                return Err(Failure::input(error.to_string()));
            }
            return file::print(list(&names).as_bytes());
        }
    };
    let text = if args.json { commands::json(&page)? } else { render(&page) };
    file::print(text.as_bytes())
}

/// A line for each instruction, with its name and its effect.
fn list(names: &[&str]) -> String {
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    let line = |name: &&str| {
        let meaning = semantics::of(name).map_or("", |meaning| meaning.line);
        format!("{name:width$}  {meaning}").trim_end().to_owned() + "\n"
    };
    names.iter().map(line).collect()
}

/// The effect, or how the simulator treats an instruction whose effect the tables do not state.
fn meaning(page: &Page) -> String {
    if !page.semantics.is_empty() {
        return page.semantics.to_owned();
    }
    const NONE: &str = "no formula here states what it does";
    let Some(target) = page.targets.last().and_then(|name| name.parse::<Target>().ok()) else {
        return NONE.to_owned();
    };
    let coverage = gcn_sim::coverage(target);
    if coverage.known.contains(&page.mnemonic) {
        return format!("{NONE}, but the simulator executes it");
    }
    match coverage.refused.iter().find(|refusal| refusal.mnemonic == page.mnemonic) {
        Some(refusal) => format!("{NONE}, and the simulator refuses it: {}", refusal.reason),
        None => NONE.to_owned(),
    }
}

fn render(page: &Page) -> String {
    let meaning = meaning(page);
    let mut out = format!("{}\n\n  {meaning}\n", page.mnemonic);
    let _ = writeln!(out, "\n  targets: {}", page.targets.join(", "));
    if let Some(one) = page.elsewhere.first() {
        let _ =
            writeln!(out, "  also on {} (`--target {one}` shows the forms there)", page.elsewhere.join(", "));
    }
    for alias in &page.aliases {
        let _ = writeln!(out, "  also written {} ({})", alias.name, alias.targets.join(", "));
    }
    for matrix in &page.matrix {
        render_matrix(&mut out, page, matrix);
    }
    for form in &page.forms {
        render_form(&mut out, form);
    }
    if !page.hazards.is_empty() {
        out.push_str("\nHazards (wait states between two instructions)\n");
        page.hazards.iter().for_each(|hazard| render_hazard(&mut out, hazard));
    } else if page.hazards_elsewhere.is_empty() {
        out.push_str("\nHazards: no wait-state rule names it\n");
    }
    if !page.hazards_elsewhere.is_empty() {
        let names = page.hazards_elsewhere.join(", ");
        let _ = writeln!(
            out,
            "\nHazards of {names} are sequences of instructions, not pairs: see `gcn rules --target`"
        );
    }
    if !page.witness.is_empty() {
        let _ = writeln!(out, "\nMeaning stated by: {}", page.witness);
    }
    out
}

fn numbers<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

fn render_matrix(out: &mut String, page: &Page, matrix: &MatrixFacts) {
    let _ = write!(
        out,
        "\nMatrix on {}: {}x{}x{}, {} block{}, ",
        matrix.target,
        matrix.m,
        matrix.n,
        matrix.k,
        matrix.blocks,
        if matrix.blocks == 1 { "" } else { "s" },
    );
    let _ = match matrix.passes.as_slice() {
        [] => writeln!(out, "waves of {} lanes, {} FLOPs", matrix.wave, matrix.flops),
        passes => writeln!(
            out,
            "{} passes of 4 cycles, {} FLOPs, {} FLOPs a clock and compute unit",
            numbers(passes),
            matrix.flops,
            numbers(&matrix.flops_per_clock),
        ),
    };
    for layout in &matrix.matrices {
        let _ = writeln!(
            out,
            "  {:<8} {:<10} {:<5} {} dword{}: lane {}, {}",
            layout.matrix,
            layout.operand,
            layout.element,
            numbers(&layout.dwords),
            if layout.dwords == [1] { "" } else { "s" },
            layout.lane,
            layout.register
        );
    }
    if !matrix.controls.is_empty() {
        let _ = writeln!(out, "  layout changed by: {}", matrix.controls.join(", "));
    }
    let _ = writeln!(
        out,
        "  layout {}; `gcn layout {} --target {}{}` lists every element",
        matrix.provenance,
        page.mnemonic,
        matrix.target,
        if matrix.passes.is_empty() { format!(" --wave {}", matrix.wave) } else { String::new() },
    );
}

fn render_form(out: &mut String, form: &Form) {
    let name = if form.form.is_empty() { String::new() } else { format!(" {}", form.form) };
    let _ = writeln!(
        out,
        "\n{} ({}{name}), opcode {} ({:#x}), {} bytes{}",
        form.printed,
        form.format,
        form.opcode,
        form.opcode,
        form.bytes,
        if form.takes_literal { ", 4 more with a literal" } else { "" }
    );
    let waves = match form.waves.as_slice() {
        [] => String::new(),
        waves => format!(", waves of {} lanes", numbers(waves)),
    };
    let _ = writeln!(out, "  on {}{waves}; class {}", form.targets.join(", "), form.class);
    form.operands.iter().for_each(|operand| render_operand(out, operand));
    for [a, b] in &form.same_file {
        let _ = writeln!(out, "  {a} and {b} are both VGPRs or both AGPRs");
    }
    if !form.implicit_reads.is_empty() {
        let _ = writeln!(out, "  reads {}", form.implicit_reads.join(", "));
    }
    if !form.implicit_writes.is_empty() {
        let _ = writeln!(out, "  writes {}", form.implicit_writes.join(", "));
    }
    if !form.modifiers.is_empty() {
        let required = |r: bool| if r { " (required)" } else { "" };
        let list: Vec<_> =
            form.modifiers.iter().map(|m| format!("{}{}", m.syntax, required(m.required))).collect();
        let _ = writeln!(out, "  modifiers: {}", list.join(", "));
    }
    for rule in &form.constant_rules {
        let _ = writeln!(out, "  {rule}");
    }
    if !form.address.is_empty() {
        let _ = writeln!(out, "  address: {}", form.address);
    }
    if let Some(memory) = form.memory {
        let _ = writeln!(out, "  moves {} {} per {}", memory.amount, memory.unit, memory.per);
    }
    for counter in &form.counters {
        render_counter(out, counter);
    }
    if !form.notes.is_empty() {
        let _ = writeln!(out, "  note: {}", form.notes);
    }
}

fn render_operand(out: &mut String, operand: &OperandFacts) {
    let width = match operand.dwords.as_slice() {
        [] | [0] => String::new(),
        [1] => ", 1 dword".to_owned(),
        dwords => format!(", {} dwords", numbers(dwords)),
    };
    let mut aligned = String::new();
    if operand.vector_alignment > 1 {
        let _ = write!(aligned, ", VGPRs from a multiple of {}", operand.vector_alignment);
    }
    if operand.scalar_alignment > 1 {
        let _ = write!(aligned, ", SGPRs from a multiple of {}", operand.scalar_alignment);
    }
    let modifiers = match operand.source_modifiers.as_slice() {
        [] => String::new(),
        list => format!(", {}", list.join("/")),
    };
    let _ = writeln!(
        out,
        "  {:<10} {:<10} {}{width}{aligned}{modifiers}",
        operand.name,
        operand.access,
        operand.kinds.join(" | ")
    );
}

fn render_counter(out: &mut String, counter: &CounterFacts) {
    let with = counter.with.map_or(String::new(), |w| format!(" with {w}"));
    let order = if counter.in_order { "in order" } else { "out of order" };
    let _ = writeln!(out, "  counts {} on {}{with}, {order}", counter.count, counter.counter);
}

fn render_hazard(out: &mut String, hazard: &Hazard) {
    let side = match (hazard.first, hazard.second) {
        (true, true) => "first or second",
        (true, false) => "first",
        _ => "second",
    };
    let xnack = if hazard.xnack_only { ", with XNACK only" } else { "" };
    let _ = writeln!(out, "  {} as the {side} instruction [{}{xnack}]", hazard.id, hazard.grade);
    let _ = writeln!(out, "    {} ({})", hazard.title, hazard.citation);
    for states in &hazard.wait_states {
        let here = match states.after_this.as_slice() {
            [] => String::new(),
            list => format!(", after this one {}", numbers(list)),
        };
        let _ = writeln!(out, "    {}: {}{here}", states.target, states.formula);
    }
}

/// A table row of the matrix instruction `name`.
pub fn matrix_row(name: &str, on: Subtarget) -> Result<&'static table::InstDesc, Failure> {
    let known = reference::page(name, Some(on.target)).map_err(|e| Failure::input(e.to_string()))?;
    let row = table::find_mnemonic(on, known.mnemonic).next();
    row.ok_or_else(|| Failure::input(format!("{} has no instruction `{name}`", on.target)))
}
