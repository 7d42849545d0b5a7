//! The problems of a file: errors of the assembler, hazards, and descriptors that do not fit the code.

use gcn_emit::asm::{self, Diagnostics, Folders, Salvaged, Severity, assemble_readable_with};
use gcn_emit::code::Unit;
use gcn_emit::lint::lint;
use gcn_emit::target_id::TargetId;
use gcn_isa::WaveSize;
use gcn_isa::check::Finding;
use gcn_isa::hazards::{Config, Grade, citation};
use gcn_report::check::{Checked, Places, counts};
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range,
};
use serde::{Deserialize, Serialize};

use super::document::Document;
use crate::commands::check::show::amounts;
use crate::commands::code::Input;
use crate::commands::rule_set::Xnack;

/// The settings of the analysis.
#[derive(Clone)]
pub struct Settings {
    pub target: Option<TargetId>,
    pub wave: Option<WaveSize>,
    pub level: Grade,
    pub rules: Config,
    pub xnack: Xnack,
    pub folders: Folders,
}

/// The initialization options of an editor.
#[derive(Deserialize)]
struct Wanted {
    target: Option<String>,
    wave: Option<u32>,
}

/// The data that a diagnostic carries for its quick fix.
#[derive(Serialize, Deserialize)]
pub struct Remedy {
    /// The line, from 0, before which the statements are to be inserted.
    pub line: u32,
    /// The missing statements.
    pub statements: Vec<String>,
}

/// The source that the editor shows with each message.
pub const SOURCE: &str = "gcn";

impl Settings {
    /// Applies the editor's initialization options.
    pub fn take_options(&mut self, options: Option<&serde_json::Value>) {
        let Some(wanted) = options.and_then(|o| Wanted::deserialize(o).ok()) else { return };
        self.target = wanted.target.and_then(|t| t.parse().ok()).or(self.target);
        self.wave = wanted.wave.and_then(WaveSize::of_lanes).or(self.wave);
    }

    /// The target of a file: the one that the file specifies, or else the one from the settings. `None` if neither specifies one.
    pub fn target_of(&self, text: &str) -> Option<TargetId> {
        asm::named_target(text).or(self.target)
    }
}

/// Assembles the file, without the statements that cannot be read.
pub fn read(document: &Document, settings: &Settings) -> Result<Salvaged, Diagnostics> {
    let target = settings.target.filter(|_| asm::named_target(&document.text).is_none());
    let options = asm::Options { target, wave: settings.wave, keep_instructions: true };
    assemble_readable_with(document.name(), &document.text, &options, &settings.folders)
}

/// All problems of a file.
pub fn diagnose(document: &Document, settings: &Settings) -> Vec<Diagnostic> {
    let read = match read(document, settings) {
        Ok(read) => read,
        Err(errors) => return of_assembler(document, &errors),
    };
    let mut found: Vec<Diagnostic> = read.left_out.iter().map(|e| error(document, e)).collect();
    if let Ok(unit) = Unit::from_assembly(read.assembly) {
        let input = Input { name: document.name().to_owned(), unit, text: None, left_out: Vec::new() };
        found.extend(of_checker(document, settings, &input));
        found.extend(of_lint(document, settings, &input));
    }
    found
}

fn of_assembler(document: &Document, errors: &Diagnostics) -> Vec<Diagnostic> {
    errors.list.iter().map(|e| error(document, e)).collect()
}

fn error(document: &Document, error: &asm::Diagnostic) -> Diagnostic {
    let help = error.help.as_ref().map_or(String::new(), |help| format!("\n{help}"));
    // An error in an included file is shown at the `.include` of this document.
    let calls = error.notes.iter().rev().find(|note| note.file == document.name());
    let range = match calls {
        Some(call) if error.file != document.name() => document.statement(call.line.saturating_sub(1)),
        _ => document.characters(error.line.saturating_sub(1), error.column.saturating_sub(1), error.length),
    };
    let severity = match error.severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        _ => DiagnosticSeverity::WARNING,
    };
    Diagnostic { message: format!("{}{help}", error.message), ..diagnostic(range, severity) }
}

fn diagnostic(range: Range, severity: DiagnosticSeverity) -> Diagnostic {
    Diagnostic { range, severity: Some(severity), source: Some(SOURCE.to_owned()), ..Diagnostic::default() }
}

fn severity(grade: Grade) -> DiagnosticSeverity {
    if counts(grade) { DiagnosticSeverity::ERROR } else { DiagnosticSeverity::WARNING }
}

fn of_checker(document: &Document, settings: &Settings, input: &Input) -> Vec<Diagnostic> {
    let rules = settings.rules.with_xnack(settings.xnack.counts(input.unit.target_id));
    let checked = Checked::new(input, settings.level, rules, false);
    let mut found = Vec::new();
    for section in &checked.sections {
        let places = Places::new(&input.unit, section.code);
        found.extend(checked.listed(section).filter_map(|f| finding(document, &places, f)));
    }
    found
}

/// Diagnostics for descriptors and metadata that do not match the code.
fn of_lint(document: &Document, settings: &Settings, input: &Input) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for lint in lint(&input.unit).into_iter().filter(|lint| lint.rule.grade >= settings.level) {
        let at = lint.at.and_then(|(section, line)| input.unit.sections.get(section)?.places.get(line)?.line);
        let range = match at {
            Some(line) => document.statement(line - 1),
            None => kernel(document, &lint.kernel),
        };
        found.push(Diagnostic {
            code: Some(NumberOrString::String(lint.rule.id.to_owned())),
            message: format!("kernel {}: {}\n{}\n{}", lint.kernel, lint.message, lint.remedy, lint.rule.cite),
            ..diagnostic(range, severity(lint.rule.grade))
        });
    }
    found
}

fn finding(document: &Document, places: &Places<'_>, finding: &Finding) -> Option<Diagnostic> {
    let line = places.source_line(finding.second)?.saturating_sub(1);
    let reg = finding.reg.map_or(String::new(), |r| format!("{r}{}: ", finding.via.words()));
    let caveat = finding.caveat.map_or(String::new(), |c| format!(" ({c})"));
    let message = format!(
        "{}: {reg}{}{caveat}\n{}\n{} ({})",
        finding.title,
        amounts(finding),
        finding.remedy_at(&places.written(finding.second)),
        citation(finding.rule, Some(places.code.program.target)),
        finding.grade,
    );
    let first = finding.first.and_then(|first| places.source_line(first)).map(|first| {
        let location = Location::new(document.uri.clone(), document.statement(first.saturating_sub(1)));
        vec![DiagnosticRelatedInformation { location, message: "first instruction".to_owned() }]
    });
    // If the instruction comes from a macro or an included file, inserting the wait at this line would be wrong, so no fix is offered.
    let statements = match places.origin(finding.second) {
        None => finding.missing_statements(),
        Some(_) => Vec::new(),
    };
    Some(Diagnostic {
        code: Some(NumberOrString::String(finding.rule.to_owned())),
        related_information: first,
        data: serde_json::to_value(Remedy { line, statements }).ok(),
        message,
        ..diagnostic(document.statement(line), severity(finding.grade))
    })
}

/// The range of the line that describes a kernel.
fn kernel(document: &Document, name: &str) -> Range {
    let describes = |text: &str| {
        let mut words = text.split_ascii_whitespace();
        words.next() == Some(".amdhsa_kernel") && words.next() == Some(name)
    };
    let line = document.lines().find(|(_, text)| describes(text)).map_or(0, |(line, _)| line);
    document.statement(line)
}
