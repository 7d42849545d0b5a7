//! Inserts waits into the text of an assembly file, or removes them, and preserves every other byte.
//!
//! [`fix`] inserts the missing waits. With [`Options::strip`] it first removes all `s_nop` and all `s_waitcnt`, so that the result contains
//! only necessary waits. Labels, comments, directives, blanks and line ends are preserved; a wait that changes is edited in place.
//!
//! ```
//! use gcn_emit::rewrite::{Options, fix};
//!
//! let source = "\
//! \t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"
//! k:\tglobal_load_dword v0, v[2:3], off\t; a
//! \ts_nop 3
//! \tv_add_f32 v1, v0, v0
//! \ts_endpgm
//! ";
//! let fixed = fix("k.s", source, &Options { strip: true, ..Options::default() }).unwrap();
//! assert!(fixed.text.contains("; a\n\ts_waitcnt vmcnt(0)\n\tv_add_f32 v1, v0, v0\n"), "{}", fixed.text);
//! assert_eq!((fixed.functions[0].before.wait_states, fixed.functions[0].after.wait_states), (4, 0));
//! ```
//!
//! # Waits that order memory
//! The hazard rules are about registers. A wait before a barrier, in a release or after an acquire serves other waves and must not be
//! removed. Therefore a removed wait is restored in the following case: the original guarantees that an operation is complete at some
//! instruction; without the wait, the operation could still be outstanding there; and that matters to others:
//!
//! - Stores, atomics, writes to LDS, LDS DMA, cache control, messages and scalar stores matter at every access to memory or LDS, at
//!   barriers, cache control and messages, and where control leaves to an unknown destination.
//! - Loads matter at the same instructions, except at those that only read.
//! - Loads that may be an acquire (LDS reads, FLAT loads, loads with `glc`, `sc0`, `scc` or `sc1`) also matter at every access, if the
//!   original waits directly after them.
//! - Scalar loads and scratch accesses never matter: nothing outside the wave can observe when they happen.
//!
//! [`Fixed::kept`] lists the waits that remain for this reason. No wait is needed before `s_endpgm`, where the hardware waits by itself.
//!
//! # Waits that are never changed
//! - Waits in unreachable code, where they are padding.
//! - Waits that the file writes as data (`.long`), and the padding of alignments.
//! - `v_nop`, `s_sleep`, and all other instructions that take time in addition to having an effect.

mod apply;
mod delays;
mod edit;
mod explain;
mod functions;
mod loops;
mod order;
mod plan;
mod reason;
mod shifts;
mod source;
mod superfluous;
mod totals;
mod writers;

use std::ops::Range;

use gcn_isa::check;
use gcn_isa::counters::WaitCnt;
use gcn_isa::hazards::Config;
use gcn_isa::hazards::counter::{BARRIER_LDS, BARRIER_LDS_DMA, BARRIER_LDS_READ, SHIFT64};
use gcn_isa::wait::{Orders, WaitOptions};
use gcn_isa::{Operand, WaveSize};
use serde::Serialize;

pub use explain::{ExplainedWait, Verdict, explain, is_wait};
pub use functions::{FixedFunction, fix_functions};
pub use gcn_isa::wait::LOOP_WEIGHT;
pub use superfluous::{Superfluous, superfluous};
pub use totals::Waits;
pub use writers::{LastWriters, Writers, writers};

use crate::asm::{self, Assembly, Diagnostics, Files, NoFiles};
use crate::code::{Code, CodeError, Unit};
use crate::target_id::TargetId;
use apply::Writer;
use edit::Edits;
use plan::{How, Plan, part};
use source::SourceText;

/// The kind of wait to which a rewrite is restricted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Only {
    /// `s_nop`.
    WaitStates,
    /// `s_waitcnt`.
    Counters,
}

/// Options of a rewrite.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The target. It replaces the file's target and may set features that the file leaves open, but must not contradict it.
    pub target: Option<TargetId>,
    /// The wave size to use if the file does not specify one.
    pub wave: Option<WaveSize>,
    /// Whether memory accesses may be replayed (XNACK). By default they may, unless the target ID contains `xnack-`.
    pub xnack: Option<bool>,
    /// The rules to satisfy.
    pub rules: Config,
    /// If true, the existing waits are removed first.
    pub strip: bool,
    /// The only kind of wait to change; `None` for both kinds.
    pub only: Option<Only>,
    /// If true, the reason for each inserted wait is written as a comment after it.
    pub comment: bool,
    /// If true, `s_delay_alu` is inserted as by [`gcn_isa::delay`], after the waits; existing ones are replaced.
    pub delays: bool,
    /// If true, [`Change::why`] is left empty, for callers that do not read it: describing a reason takes longer than finding it.
    pub brief: bool,
}

/// A rewritten file.
#[derive(Clone, PartialEq, Debug)]
pub struct Fixed {
    /// The text.
    pub text: String,
    /// The target.
    pub target_id: TargetId,
    /// The changes, in the order of the file.
    pub changes: Vec<Change>,
    /// Waits that no rule needs, but that remain because they order memory.
    pub kept: Vec<KeptWait>,
    /// The functions with their waits, in the order of the file.
    pub functions: Vec<FunctionWaits>,
    /// The instructions that break a rule and cannot be repaired by a wait.
    pub unmended: Vec<Erratum>,
    /// The instructions that were repaired by exchanging registers.
    pub mended: Vec<Erratum>,
    /// The number of `s_delay_alu` that were inserted, including replacements of existing ones; 0 unless
    /// [`Options::delays`] is set.
    pub delays: usize,
}

/// An instruction that executes wrongly on some targets, whatever other instructions are near it. It needs another register.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Erratum {
    /// The instruction's line in the original, from 1.
    pub line: u32,
    /// The rule that the instruction breaks.
    pub rule: &'static str,
    /// The effect and the suggested fix, or the fix that was made.
    pub message: String,
}

/// A change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Change {
    /// The line in the original, from 1: that of the wait or, for an inserted wait, that of the adjacent instruction.
    pub line: u32,
    /// The kind of change.
    pub action: Action,
    /// The old wait; `None` for an inserted wait.
    pub from: Option<String>,
    /// The new wait; `None` for a removed wait.
    pub to: Option<String>,
    /// The reasons: the rules, with lines of the original.
    pub why: Vec<String>,
}

/// A kind of change to a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// The wait is new.
    Inserted,
    /// The wait has different operands.
    Changed,
    /// The wait was removed.
    Removed,
}

/// A wait that remains because it orders memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct KeptWait {
    /// The wait's line in the original, from 1.
    pub line: u32,
    /// The part of the wait that remains, such as `vmcnt(0)`.
    pub wait: String,
    /// The line of an operation that the wait completes.
    pub operation: Option<u32>,
    /// The line at which that operation must be complete: that of a barrier, store, atomic or similar instruction.
    pub before: Option<u32>,
}

/// The waits of a function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FunctionWaits {
    /// The function's name.
    pub name: String,
    /// The waits before the rewrite.
    pub before: Waits,
    /// The waits after the rewrite.
    pub after: Waits,
}

/// The reason why a file could not be rewritten.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The file cannot be assembled.
    #[error(transparent)]
    Assembly(#[from] Diagnostics),
    /// The file has no code that can be decoded.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// A wait would have to be inserted where the file writes instructions as data.
    #[error(
        "a wait is needed at {section}+{offset:#x}, where the file has an instruction as data: write it as an instruction"
    )]
    NoPlace {
        /// The section.
        section: String,
        /// The offset of the instruction that must wait.
        offset: u64,
    },
    /// A wait would have to change in the output of a macro, a repetition or an included file.
    #[error(
        "line {line}: a wait has to change in what this line expands to ({origin}); expand the file first, with `--expand`"
    )]
    Expanded {
        /// The line of the call.
        line: u32,
        /// The position of the instruction that needs the wait.
        origin: String,
    },
    /// A branch has a numeric distance, and waits would change between it and its target.
    #[error(
        "line {line}: waits change between this branch and where it leads, and its distance is a number: use a label"
    )]
    Distance {
        /// The line of the branch.
        line: u32,
    },
    /// Code adds a constant to its own address, and waits would change between that address and the result.
    #[error(
        "line {line}: waits change between `s_getpc_b64` and the instructions that count the bytes after it, such as \
         `s_add_u32` and `s_addc_u32`: put the wait before `s_getpc_b64`"
    )]
    OwnAddress {
        /// The line of the `s_getpc_b64`.
        line: u32,
    },
    /// Code adds a number of bytes to its own address, and waits would change between it and the resulting address.
    #[error(
        "line {line}: waits change between this code and the code to which it adds a distance in bytes: write the distance as the \
         difference of two labels, as `gcn disasm` does, the second one after `s_getpc_b64`"
    )]
    Bytes {
        /// The line of the addition.
        line: u32,
    },
}

impl Options {
    /// The options of the inserter.
    fn wait(&self, target_id: TargetId) -> WaitOptions {
        wait_options(self.xnack.unwrap_or_else(|| target_id.may_replay()), self.rules)
    }
}

/// Rewrites the waits of a file. 64-bit shifts that gfx90a executes wrongly get another register ([`Fixed::mended`]).
///
/// # Errors
/// [`RewriteError`]; in that case nothing is rewritten.
pub fn fix(file: &str, text: &str, options: &Options) -> Result<Fixed, RewriteError> {
    fix_with(file, text, options, &NoFiles)
}

/// As [`fix`], with `files` for `.include` and `.incbin`.
///
/// Only the text itself is rewritten. If a wait would have to change in the output of a macro, a repetition or an
/// included file, the result is [`RewriteError::Expanded`], because changing their text would change every other use of
/// it. [`asm::expand`] produces a text in which everything can be rewritten.
///
/// # Errors
/// The errors of [`fix`].
pub fn fix_with(file: &str, text: &str, options: &Options, files: &dyn Files) -> Result<Fixed, RewriteError> {
    // Excludes the byte order mark, which is not part of the first statement.
    let plain = asm::without_byte_order_mark(text);
    let first = fix_once(file, plain, options, files)?;
    let mut fixed = if options.strip { settle(file, first, options, files)? } else { first };
    if options.only.is_none() && fixed.unmended.iter().any(|erratum| erratum.rule == SHIFT64.id) {
        exchange_amounts(file, &mut fixed, options, files)?;
    }
    if options.delays {
        (fixed.text, fixed.delays) = delays::renewed(file, &fixed.text, options, files)?;
    }
    fixed.text.insert_str(0, text.get(..text.len() - plain.len()).unwrap_or_default());
    Ok(fixed)
}

/// Moves the amounts of 64-bit shifts to other registers, and inserts the waits that these exchanges require.
fn exchange_amounts(
    file: &str,
    fixed: &mut Fixed,
    options: &Options,
    files: &dyn Files,
) -> Result<(), RewriteError> {
    let unit = File::read(file, &fixed.text, (options.target, options.wave), files)?.unit;
    let rules = options.wait(unit.target_id).rules;
    let (text, exchanges) = shifts::mended(&fixed.text, &unit, rules);
    let again = fix_once(file, &text, options, files)?;
    fixed.text = again.text;
    for (function, new) in fixed.functions.iter_mut().zip(again.functions) {
        function.after = new.after;
    }
    let mut exchanges = exchanges.into_iter();
    for erratum in std::mem::take(&mut fixed.unmended) {
        let pairs =
            if erratum.rule == SHIFT64.id { exchanges.next().unwrap_or_default() } else { Vec::new() };
        if pairs.is_empty() {
            fixed.unmended.push(erratum);
            continue;
        }
        let pairs: Vec<String> = pairs.iter().map(|(a, b)| format!("v{a} and v{b}")).collect();
        let message = format!("{} change places around it", pairs.join(", "));
        fixed.mended.push(Erratum { message, ..erratum });
    }
    Ok(())
}

/// The maximum number of times that the result of `--strip` is stripped again until it no longer changes. Nearly always once is sufficient.
const ROUNDS: usize = 4;

fn settle(file: &str, first: Fixed, options: &Options, files: &dyn Files) -> Result<Fixed, RewriteError> {
    let mut settled = first;
    for _ in 0..ROUNDS {
        let again = fix_once(file, &settled.text, options, files)?;
        if again.text == settled.text {
            break;
        }
        settled.text = again.text;
        for (function, new) in settled.functions.iter_mut().zip(again.functions) {
            function.after = new.after;
        }
    }
    Ok(settled)
}

/// A file that has been parsed.
struct File<'a> {
    source: SourceText<'a>,
    unit: Unit,
    /// For each section of the unit, the lines whose text gives a branch distance as a number.
    numbered: Vec<Vec<usize>>,
}

impl<'a> File<'a> {
    fn read(
        file: &str,
        text: &'a str,
        (target, wave): (Option<TargetId>, Option<WaveSize>),
        files: &dyn Files,
    ) -> Result<File<'a>, RewriteError> {
        let named = asm::named_target(text);
        let narrower = target.filter(|target| named.is_some_and(|named| named.runs_on(*target)));
        let options =
            asm::Options { target: narrower.map_or(target, |_| None), wave, keep_instructions: true };
        let assembly = asm::assemble_with(file, text, &options, files)?;
        let branches = numbered_branches(&assembly);
        let mut unit = Unit::from_assembly(assembly)?;
        unit.target_id = narrower.unwrap_or(unit.target_id);
        let numbered = numbered(&branches, &unit);
        Ok(File { source: SourceText::new(text), unit, numbered })
    }
}

/// The branches whose distance the text gives as a number: section name and offset.
fn numbered_branches(assembly: &Assembly) -> Vec<(String, u64)> {
    let is_numbered = |inst: &&asm::AsmInst| {
        let operand = inst.inst.desc.branch_operand().and_then(|i| inst.inst.operands.get(i));
        matches!(operand, Some(Operand::Imm(_)))
    };
    let place = |inst: &asm::AsmInst| {
        let section = assembly.module.sections.get(inst.section.0 as usize)?;
        Some((section.name.clone(), inst.offset))
    };
    assembly.instructions.iter().filter(is_numbered).filter_map(place).collect()
}

/// For each section of the unit, the lines of the program with these branches.
fn numbered(branches: &[(String, u64)], unit: &Unit) -> Vec<Vec<usize>> {
    let lines = |code: &Code| {
        let own = branches.iter().filter(|(section, _)| *section == code.section);
        own.filter_map(|(_, offset)| code.line_at(*offset)).collect()
    };
    unit.sections.iter().map(lines).collect()
}

fn fix_once(file: &str, text: &str, options: &Options, files: &dyn Files) -> Result<Fixed, RewriteError> {
    let file = File::read(file, text, (options.target, options.wave), files)?;
    let how = How { wait: options.wait(file.unit.target_id), strip: options.strip, only: options.only };
    let mut edits = Edits::default();
    let (mut changes, mut kept, mut functions) = (Vec::new(), Vec::new(), Vec::new());
    let mut unmended = Vec::new();
    for (code, numbered) in file.unit.sections.iter().zip(&file.numbered) {
        let ranges: Vec<Range<usize>> = code.functions.iter().map(|f| f.lines.clone()).collect();
        let plan = plan::plan(&code.program, &ranges, &how);
        let mut writer = Writer::new(&file.source, (&file.unit.origins, code), numbered, &mut edits);
        writer.comment = options.comment;
        writer.changes = Some(&mut changes);
        writer.brief = options.brief;
        writer.write(&plan)?;
        kept.extend(kept_waits(code, &plan));
        functions.extend(function_waits(code, &ranges, &plan));
        let wrong = check::register_errata(&code.program, how.wait.rules);
        unmended.extend(wrong.into_iter().filter_map(|finding| {
            let line = code.places.get(finding.second).and_then(|place| place.line)?;
            let message = format!("{}: {}", finding.title, finding.remedy_at(&format!("line {line}")));
            Some(Erratum { line, rule: finding.rule, message })
        }));
    }
    changes.sort_by_key(|c| c.line);
    Ok(Fixed {
        text: edits.apply(text),
        target_id: file.unit.target_id,
        changes,
        kept,
        functions,
        unmended,
        mended: Vec::new(),
        delays: 0,
    })
}

/// Options for the inserter.
fn wait_options(xnack: bool, rules: Config) -> WaitOptions {
    let rules = rules.with_xnack(xnack);
    WaitOptions { rules, barrier_orders: barrier_orders(rules), notes: false, ..WaitOptions::default() }
}

/// The accesses that a barrier orders under these rules, in addition to those that it always orders. Rule sets of a higher grade omit some
/// of them, because hand-pipelined kernels intentionally pass barriers while accesses are outstanding.
fn barrier_orders(rules: Config) -> Orders {
    let ordered = [
        (&BARRIER_LDS, Orders::LDS_WRITES),
        (&BARRIER_LDS_READ, Orders::LDS_READS),
        (&BARRIER_LDS_DMA, Orders::LDS_DMA),
    ];
    ordered
        .into_iter()
        .filter(|(rule, _)| rules.counts(*rule))
        .fold(Orders::empty(), |all, (_, what)| all | what)
}

fn kept_waits<'a>(code: &'a Code, plan: &'a Plan) -> impl Iterator<Item = KeptWait> + 'a {
    let line_of = |line: usize| code.places.get(line).and_then(|p| p.line);
    plan.kept.iter().filter_map(move |kept| {
        let wait = code.program.lines.get(kept.wait).and_then(|l| WaitCnt::of(&l.inst))?;
        Some(KeptWait {
            line: line_of(kept.wait)?,
            wait: part(&code.program, wait, kept.operation.1),
            operation: line_of(kept.operation.0 as usize),
            before: line_of(kept.place),
        })
    })
}

fn function_waits(code: &Code, ranges: &[Range<usize>], plan: &Plan) -> Vec<FunctionWaits> {
    let before = totals::Weighted::new(&code.program);
    let pairs = code.functions.iter().zip(ranges).zip(plan.totals(ranges));
    let waits = |((function, range), after): ((&crate::code::Function, &Range<usize>), Waits)| {
        FunctionWaits { name: function.name.clone(), before: before.count(range.clone()), after }
    };
    pairs.map(waits).collect()
}
