//! Inserts waits into the text of an assembly file, or removes them, and keeps every other byte.
//!
//! [`fix`] inserts the missing waits. With [`Options::strip`] it first removes all `s_nop` and all `s_waitcnt`, so that
//! the result contains only the necessary ones. Labels, comments, directives, blanks and line ends stay as they are; a
//! wait that changes is changed in its place.
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
//! The hazard rules are about registers. A wait before a barrier, in a release or after an acquire serves
//! other waves, and must not be removed. So a removed wait is restored if, without it, an operation could
//! still be outstanding at an instruction where the original guarantees its completion, and if that matters
//! to others:
//!
//! - Stores, atomics, writes to LDS, LDS DMA, cache control, messages and scalar stores matter at every
//!   access of memory or LDS, at barriers, cache control and messages, and where control leaves to an unknown
//!   place.
//! - Loads matter at the same instructions, except at those that only read.
//! - Loads that may be an acquire (LDS reads, FLAT loads, loads with `glc`, `sc0`, `scc` or `sc1`), if the
//!   original waits directly after them, matter at every access too.
//! - Scalar loads and accesses of scratch matter nowhere: nothing outside the wave can observe when they
//!   happen.
//!
//! [`Fixed::kept`] lists the waits that stay for this reason. No wait is needed before `s_endpgm`, where the hardware
//! waits automatically.
//!
//! # Waits that are never changed
//! - Waits in unreachable code: they fill space.
//! - Waits that the file writes as data (`.long`), and the filling of alignments.
//! - `v_nop`, `s_sleep`, and all other instructions that take time besides their effect.

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

/// Which waits are meant.
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
    /// The target, in place of the file's, which it must not contradict: it may set features that the file
    /// leaves open.
    pub target: Option<TargetId>,
    /// Lanes of a wave, where the file does not say.
    pub wave: Option<WaveSize>,
    /// Whether memory accesses may be replayed (XNACK); by default yes, unless the target id has `xnack-`.
    pub xnack: Option<bool>,
    /// Which rules count.
    pub rules: Config,
    /// Take away the waits that are there first.
    pub strip: bool,
    /// Leave the other kind of wait alone.
    pub only: Option<Only>,
    /// Write the reason for each inserted wait as a comment after it.
    pub comment: bool,
    /// Give the code the `s_delay_alu` of [`gcn_isa::delay`], after its waits and in the place of those that it has.
    pub delays: bool,
    /// Leave [`Change::why`] empty: for those who do not read it, as it takes longer to say than to find.
    pub brief: bool,
}

/// A file with its waits.
#[derive(Clone, PartialEq, Debug)]
pub struct Fixed {
    /// The text.
    pub text: String,
    /// The target.
    pub target_id: TargetId,
    /// The changes, in the order of the file.
    pub changes: Vec<Change>,
    /// Waits that no rule needs and that stay because they order memory.
    pub kept: Vec<KeptWait>,
    /// The functions with their waits, in the order of the file.
    pub functions: Vec<FunctionWaits>,
    /// The instructions that break a rule that no wait keeps.
    pub unmended: Vec<Erratum>,
    /// The places that were fixed by exchanging registers instead of waiting.
    pub mended: Vec<Erratum>,
    /// The number of `s_delay_alu` that were inserted, in place of the existing ones; none unless [`Options::delays`]
    /// requests them.
    pub delays: usize,
}

/// An instruction that is an error on some machines even without any other: it needs another register.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Erratum {
    /// Its line in the original, from 1.
    pub line: u32,
    /// The rule that it breaks.
    pub rule: &'static str,
    /// The effect and the suggested fix, or the fix that was made.
    pub message: String,
}

/// A change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Change {
    /// Line in the original, from 1: that of the wait, or for an inserted wait that of the instruction next
    /// to it.
    pub line: u32,
    /// The kind of change.
    pub action: Action,
    /// The wait before.
    pub from: Option<String>,
    /// The wait after.
    pub to: Option<String>,
    /// Why: the rules, with lines of the original.
    pub why: Vec<String>,
}

/// A kind of change to a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It is new.
    Inserted,
    /// It waits for something else.
    Changed,
    /// It was removed.
    Removed,
}

/// A wait that stays because it orders memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct KeptWait {
    /// Its line in the original, from 1.
    pub line: u32,
    /// The part of it that stays: `vmcnt(0)`.
    pub wait: String,
    /// An operation that it finishes, by its line.
    pub operation: Option<u32>,
    /// Where that operation must be done: the line of a barrier, store, atomic …
    pub before: Option<u32>,
}

/// The waits of a function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FunctionWaits {
    /// Its name.
    pub name: String,
    /// Before.
    pub before: Waits,
    /// After.
    pub after: Waits,
}

/// Why a file could not be rewritten.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// It cannot be assembled.
    #[error(transparent)]
    Assembly(#[from] Diagnostics),
    /// It has no code that can be read.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// A wait would have to stand between instructions that the text does not write as instructions.
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
        /// Where the instruction stands that the wait is for.
        origin: String,
    },
    /// A branch is given as a number of words, and waits change between it and where it leads.
    #[error(
        "line {line}: waits change between this branch and where it leads, and its distance is a number: use a label"
    )]
    Distance {
        /// The branch.
        line: u32,
    },
    /// Code adds to its own address, and waits change in between.
    #[error(
        "line {line}: waits change between `s_getpc_b64` and the instructions that count the bytes after it, such as \
         `s_add_u32` and `s_addc_u32`: put the wait before `s_getpc_b64`"
    )]
    OwnAddress {
        /// The `s_getpc_b64`.
        line: u32,
    },
    /// Code adds a number of bytes to its own address, and waits change between it and where that leads.
    #[error(
        "line {line}: waits change between this code and the code to which it adds a distance in bytes: write the distance as the \
         difference of two labels, as `gcn disasm` does, the second one after `s_getpc_b64`"
    )]
    Bytes {
        /// The sum.
        line: u32,
    },
}

impl Options {
    /// The options of the inserter.
    fn wait(&self, target_id: TargetId) -> WaitOptions {
        wait_options(self.xnack.unwrap_or_else(|| target_id.may_replay()), self.rules)
    }
}

/// Rewrites the waits of a file. 64-bit shifts that gfx90a gets wrong are given another register ([`Fixed::mended`]).
///
/// # Errors
/// [`RewriteError`]; nothing is half done.
pub fn fix(file: &str, text: &str, options: &Options) -> Result<Fixed, RewriteError> {
    fix_with(file, text, options, &NoFiles)
}

/// The same with `files` for `.include` and `.incbin`.
///
/// Only the text itself is rewritten. Where a wait would have to change in the output of a macro, a repetition or an
/// included file, the result is [`RewriteError::Expanded`]: a change of their text would change every other use of it.
/// [`asm::expand`] gives a text in which everything can be rewritten.
///
/// # Errors
/// As [`fix`].
pub fn fix_with(file: &str, text: &str, options: &Options, files: &dyn Files) -> Result<Fixed, RewriteError> {
    // The byte order mark is not a part of the first statement.
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

/// Puts the amounts of 64-bit shifts into other registers, and the waits that this needs.
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

/// How often the result of `--strip` is stripped again until it stays the same. Nearly always it does at
/// once.
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

/// A file that was read.
struct File<'a> {
    source: SourceText<'a>,
    unit: Unit,
    /// For each section of the unit the lines in which the text gives a branch's distance as a number.
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

/// The branches whose distance the text gives as a number: names of sections, and offsets.
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

/// For each section of the unit the lines of these branches.
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

/// The accesses that a barrier orders under these rules, besides those that it orders itself. Sets of better supported
/// rules leave some out: kernels that are pipelined by hand pass barriers with accesses outstanding on purpose.
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
