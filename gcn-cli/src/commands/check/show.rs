//! A file's findings as text.

use std::fmt::Write as _;

use annotate_snippets::Level;
use gcn_emit::asm::Diagnostic;
use gcn_emit::lint::Lint;
use gcn_isa::check::{Advice, Amount, Finding};
use gcn_isa::hazards::{Grade, citation};
use gcn_isa::program::EntryKind;
use gcn_report::check::{Checked, Group, Place, Places, Section, Summary, counts, plural};

use super::snippet::{Message, Source};

/// The number of findings of a rule in a kernel that are shown in full.
const IN_FULL: usize = 5;
/// The number of further findings whose locations are listed.
const MORE_SHOWN: usize = 6;
/// The number of functions, and of instructions after which control flow is unknown, that are listed.
const NAMES_SHOWN: usize = 4;

/// The whole report on a file.
pub fn file(checked: &Checked<'_>, summary: &Summary, limit: usize, colours: bool) -> String {
    let source = checked.input.text.as_deref().map(|text| Source::new(&checked.input.name, text));
    let writer = Writer { checked, source, colours };
    let mut out = String::new();
    let (mut left, mut more) = (limit, 0);
    for group in checked.groups() {
        let shown = group.places.len().min(IN_FULL).min(left);
        left -= shown;
        match shown {
            0 => more += group.findings(),
            _ => out += &writer.group(&group, shown),
        }
    }
    if more > 0 {
        let _ = writeln!(out, "{more} more finding{}; `--limit` shows them\n", plural(more));
    }
    let lints: Vec<&Lint> = checked.listed_lints().collect();
    for lint in lints.iter().take(limit) {
        out += &writer.lint(lint);
    }
    if lints.len() > limit {
        let _ = writeln!(out, "{} more about descriptors; `--limit` shows them\n", lints.len() - limit);
    }
    for section in &checked.sections {
        for advice in section.advice.iter().take(limit) {
            out += &writer.advice(section, advice);
        }
        if section.advice.len() > limit {
            let _ = writeln!(
                out,
                "{} more pieces of advice; `--limit` shows them\n",
                section.advice.len() - limit
            );
        }
    }
    out += &summary.render_line(&checked.input.name);
    out += &left_out(&checked.input.left_out);
    for section in &checked.sections {
        out += &not_checked(&Places::new(&checked.input.unit, section.code), section);
    }
    if summary.undecided > 0 {
        let _ = writeln!(
            out,
            "  not decided: what happens at {} place{}, whose paths are too many to follow",
            summary.undecided,
            plural(summary.undecided)
        );
    }
    out += &summary.render_waits();
    out + &summary.render_rules(checked.level)
}

/// The distance that a rule requires between two instructions, and the actual one.
pub fn amounts(finding: &Finding) -> String {
    match (finding.need, finding.have) {
        (Amount::States(need), Amount::States(have)) => {
            format!("needs {need} wait state{}, has {have}", plural(need.into()))
        }
        (Amount::Wait(wait), _) => format!("needs `{wait}`, nothing on this path is that strong"),
        (Amount::Instruction(text), _) => format!("needs `{text}`"),
        (Amount::OtherRegister, _) => "needs another register".to_owned(),
        (Amount::Remedy { fix, target }, _) => format!("needs {}", fix.words(target)),
        _ => String::new(),
    }
}

/// The severity with which a finding is shown.
fn level(grade: Grade) -> Level<'static> {
    if counts(grade) { Level::ERROR } else { Level::WARNING }
}

/// The lines for statements that could not be read.
fn left_out(left_out: &[Diagnostic]) -> String {
    let mut out = String::new();
    for error in left_out.iter().take(NAMES_SHOWN) {
        let _ = writeln!(out, "  not checked: line {}, which has an error: {}", error.line, error.message);
    }
    if left_out.len() > NAMES_SHOWN {
        let _ = writeln!(out, "  not checked: {} more lines like that", left_out.len() - NAMES_SHOWN);
    }
    out
}

/// The lines for the parts of a section that were not checked.
fn not_checked(places: &Places<'_>, section: &Section<'_>) -> String {
    let mut out = String::new();
    let unread: Vec<_> = section.unread_code().collect();
    for unread in unread.iter().take(NAMES_SHOWN) {
        let name = &section.code.section;
        let _ = writeln!(
            out,
            "  not checked: {} bytes at {name}+{:#x}: {}; nor the paths into them and out of them",
            unread.length, unread.offset, unread.why
        );
    }
    if unread.len() > NAMES_SHOWN {
        let _ = writeln!(out, "  not checked: {} more pieces like that", unread.len() - NAMES_SHOWN);
    }
    let exits = &section.report.unknown_exits;
    if !exits.is_empty() {
        let named: Vec<String> = exits.iter().take(NAMES_SHOWN).map(|l| exit(places, *l)).collect();
        let more = if exits.len() > named.len() {
            format!(" and {} more", exits.len() - named.len())
        } else {
            String::new()
        };
        let _ = writeln!(out, "  not checked: where control goes after {}{more}", named.join(", "));
    }
    let called: Vec<&str> = section
        .code
        .functions
        .iter()
        .filter(|f| f.kind == EntryKind::Function)
        .map(|f| f.name.as_str())
        .collect();
    if !called.is_empty() {
        let shown = called.iter().take(NAMES_SHOWN).copied().collect::<Vec<_>>().join(", ");
        let more = if called.len() > NAMES_SHOWN {
            format!(" and {} more", called.len() - NAMES_SHOWN)
        } else {
            String::new()
        };
        let _ = writeln!(
            out,
            "  not checked: that callers of {shown}{more} keep LLVM's calling convention; this is assumed"
        );
    }
    out
}

fn exit(places: &Places<'_>, line: usize) -> String {
    format!("`{}` ({})", places.text(line), places.of(line))
}

/// The locations of the first few of these lines, without duplicates: all instructions of a macro have the location of the macro call.
fn some(places: &Places<'_>, lines: impl Iterator<Item = usize>) -> String {
    let mut shown: Vec<String> = Vec::new();
    for place in lines.map(|line| places.of(line)) {
        if shown.contains(&place) {
            continue;
        }
        if shown.len() == MORE_SHOWN {
            return shown.join(", ") + ", …";
        }
        shown.push(place);
    }
    shown.join(", ")
}

/// The note about the findings of a rule in a function that are not shown in full.
fn more(places: &Places<'_>, function: &str, others: &[Place<'_>]) -> String {
    let findings: usize = others.iter().map(|p| 1 + p.also.len()).sum();
    let at = some(places, others.iter().map(|p| p.finding.second));
    format!("{findings} more of this rule in {function}: {at}")
}

struct Writer<'c> {
    checked: &'c Checked<'c>,
    source: Option<Source<'c>>,
    colours: bool,
}

/// The content of a finding, for both presentations: under its source line, or with addresses.
struct Shown {
    grade: Grade,
    rule: &'static str,
    title: String,
    /// Lines of the program, each with a label. The line at which the finding is reported comes first.
    marks: Vec<(usize, String)>,
    notes: Vec<String>,
    help: String,
}

impl Writer<'_> {
    /// The first findings of a group in full, and the locations of the others.
    fn group(&self, group: &Group<'_>, shown: usize) -> String {
        let places = Places::new(&self.checked.input.unit, group.section.code);
        let (shown, others) = group.places.split_at(shown);
        let mut out = String::new();
        for (i, place) in shown.iter().enumerate() {
            let more =
                (i + 1 == shown.len() && !others.is_empty()).then(|| more(&places, group.function, others));
            out += &self.finding(&places, place, more);
        }
        out
    }

    fn finding(&self, places: &Places<'_>, place: &Place<'_>, more: Option<String>) -> String {
        let finding = place.finding;
        let reg = finding.reg.map_or(String::new(), |r| format!("{r}{}: ", finding.via.words()));
        let mut marks = vec![(finding.second, format!("second instruction: {reg}{}", amounts(finding)))];
        match finding.first {
            Some(first) => marks.push((first, "first instruction".to_owned())),
            None => marks = vec![(finding.second, format!("{reg}{}", amounts(finding)))],
        }
        let mut notes = Vec::new();
        if !finding.path.is_empty() {
            let path: Vec<String> = finding.path.iter().map(|l| places.block(*l)).collect();
            notes.push(format!("the path goes through {}", path.join(", ")));
        }
        notes.extend(finding.caveat.map(|c| format!("it is a hazard {c}")));
        for line in finding.first.into_iter().chain([finding.second]) {
            notes.extend(places.origin(line).map(|o| format!("`{}` is in {o}", places.text(line))));
        }
        notes.extend(places.location(finding.second).map(|l| format!("compiled from {l}")));
        let cite = citation(finding.rule, Some(places.code.program.target));
        if !cite.is_empty() {
            notes.push(cite);
        }
        if !place.also.is_empty() {
            notes.push(format!("also too early after {}", some(places, place.also.iter().copied())));
        }
        notes.extend(more);
        let shown = Shown {
            grade: finding.grade,
            rule: finding.rule,
            title: finding.title.to_owned(),
            marks,
            notes,
            help: finding.remedy_at(&places.written(finding.second)),
        };
        self.show(places, &shown)
    }

    fn lint(&self, lint: &Lint) -> String {
        let at = lint.at.and_then(|(section, line)| Some((self.checked.sections.get(section)?, line)));
        let shown = |marks| Shown {
            grade: lint.rule.grade,
            rule: lint.rule.id,
            title: format!("kernel {}: {}", lint.kernel, lint.message),
            marks,
            notes: vec![lint.rule.cite.to_owned()],
            help: lint.remedy.clone(),
        };
        match at {
            Some((section, line)) => {
                let places = Places::new(&self.checked.input.unit, section.code);
                self.show(&places, &shown(vec![(line, "shown by this instruction".to_owned())]))
            }
            None => {
                let lint = shown(Vec::new());
                let mut out = format!("{}: {}\n", self.checked.input.name, headline(&lint));
                tail(&mut out, &lint);
                out
            }
        }
    }

    fn advice(&self, section: &Section<'_>, advice: &Advice) -> String {
        let places = Places::new(&self.checked.input.unit, section.code);
        let text = advice.to_string();
        // The text begins with the location and a colon; the location is shown already.
        let text = text.split_once(": ").map_or(text.as_str(), |t| t.1);
        format!(
            "{}: {}: advice: {text}: `{}`\n",
            self.checked.input.name,
            places.of(advice.line),
            places.text(advice.line)
        )
    }

    fn show(&self, places: &Places<'_>, shown: &Shown) -> String {
        let in_source =
            shown.marks.iter().map(|(line, text)| Some((places.source_line(*line)?, text.clone())));
        let in_source: Option<Vec<(u32, String)>> = in_source.collect();
        match (&self.source, in_source) {
            (Some(source), Some(marks)) => {
                let message = Message {
                    level: level(shown.grade),
                    id: shown.rule,
                    title: format!("{} ({})", shown.title, shown.grade),
                    marks,
                    notes: shown.notes.clone(),
                    help: shown.help.clone(),
                };
                source.render(&message, self.colours)
            }
            _ => self.by_address(places, shown),
        }
    }

    /// The presentation without source text: the instructions with their addresses.
    fn by_address(&self, places: &Places<'_>, shown: &Shown) -> String {
        let about = shown.marks.first().map_or(0, |m| m.0);
        let mut out =
            format!("{}: {}: {}\n", self.checked.input.name, places.in_section(about), headline(shown));
        let mut marks: Vec<&(usize, String)> = shown.marks.iter().collect();
        marks.sort_by_key(|m| m.0);
        let width = marks.iter().map(|m| places.in_function(m.0).len()).max().unwrap_or(0);
        for (line, text) in marks {
            let _ =
                writeln!(out, "  {:<width$}  {}  <- {text}", places.in_function(*line), places.text(*line));
        }
        tail(&mut out, shown);
        out
    }
}

fn headline(shown: &Shown) -> String {
    let level = if counts(shown.grade) { "error" } else { "warning" };
    format!("{level}[{}]: {} ({})", shown.rule, shown.title, shown.grade)
}

fn tail(out: &mut String, shown: &Shown) {
    for note in &shown.notes {
        let _ = writeln!(out, "  = note: {note}");
    }
    if !shown.help.is_empty() {
        let _ = writeln!(out, "  = help: {}", shown.help);
    }
    out.push('\n');
}
