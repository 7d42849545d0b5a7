//! Parses programs: lines, labels, comments.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use gcn_isa::target::Subtarget;
use gcn_isa::{Inst, Label, Program};
use smallvec::SmallVec;

use super::cursor::is_name_byte;
use super::error::{ParseError, ParseFault};
use super::scope::{ExprValue, Scope};

/// Parses the text of one kernel: instructions, labels, and the comments `; …`, `// …` and `/* … */`.
///
/// ```
/// use gcn_emit::text::{Comments, parse_program, print_program};
/// use gcn_isa::Target;
///
/// let text = "start: s_nop 0 ; idle\n  s_branch start\n";
/// let program = parse_program(text, Target::GFX90A, "spin").unwrap();
/// assert_eq!(print_program(&program, Comments::None), "start:\n\ts_nop 0\n\ts_branch start\n");
/// ```
pub fn parse_program(text: &str, on: impl Into<Subtarget>, name: &str) -> Result<Program, ParseError> {
    let on = on.into();
    let program = Program { wave: on.wave, ..Program::new(on.target, name) };
    let mut parser = ProgramParser { program, labels: HashMap::new(), known: HashMap::new() };
    for line in source_lines(text)? {
        let (number, text) = (line.number, line.text);
        parser
            .line(&line)
            .map_err(|(at, fault)| ParseError { line: number, ..ParseError::at(text, at, fault) })?;
    }
    parser.finish()
}

/// A line of assembly text, split into the labels that it defines and the instruction after them.
#[derive(Clone, Debug)]
pub struct SourceLine<'a> {
    /// The line number, from 1.
    pub number: usize,
    /// The original line.
    pub text: &'a str,
    code: Cow<'a, str>,
    labels: SmallVec<[Range<usize>; 1]>,
    start: usize,
}

impl SourceLine<'_> {
    /// The labels that are defined here, each with its byte offset in the line.
    pub fn labels(&self) -> impl Iterator<Item = (usize, &str)> {
        self.labels.iter().map(|range| (range.start, &self.code[range.clone()]))
    }

    /// The instruction, with its byte offset in the line; comments are blanked out. `None` if there is none.
    pub fn instruction(&self) -> Option<(usize, &str)> {
        let rest = &self.code[self.start..];
        let statement = rest.trim_start();
        let at = self.start + rest.len() - statement.len();
        (!statement.trim_end().is_empty()).then_some((at, statement))
    }
}

/// Splits the text of a kernel into lines, as [`parse_program`] does, for a caller that parses each instruction with its own symbols
/// ([`parse_inst_in`](super::parse_inst_in)).
///
/// # Errors
/// [`ParseFault::OpenComment`].
///
/// ```
/// let lines = gcn_emit::text::source_lines("a: b: s_nop 0 ; idle\n/* nothing */").unwrap();
/// assert_eq!(lines[0].labels().collect::<Vec<_>>(), [(0, "a"), (3, "b")]);
/// assert_eq!(lines[0].instruction(), Some((6, "s_nop 0 ")));
/// assert_eq!(lines[1].instruction(), None);
/// ```
pub fn source_lines(text: &str) -> Result<Vec<SourceLine<'_>>, ParseError> {
    let mut in_comment = None;
    let line = |(index, text)| {
        let code = without_comments(text, index + 1, &mut in_comment);
        let (mut labels, mut start) = (SmallVec::new(), 0);
        while let Some((name, end)) = label_definition(&code[start..]) {
            labels.push(start + name.start..start + name.end);
            start += end;
        }
        SourceLine { number: index + 1, text, code, labels, start }
    };
    let lines = text.lines().enumerate().map(line).collect();
    match in_comment {
        Some((line, column)) => Err(ParseError { line, column, fault: ParseFault::OpenComment }),
        None => Ok(lines),
    }
}

/// A line with its comments replaced by blanks, so that columns are unchanged. `open` is the position of an unterminated `/*`.
fn without_comments<'a>(line: &'a str, number: usize, open: &mut Option<(usize, usize)>) -> Cow<'a, str> {
    if open.is_none() && !line.contains(['/', ';']) {
        return Cow::Borrowed(line);
    }
    let mut code = String::with_capacity(line.len());
    let mut rest = line;
    while !rest.is_empty() {
        if open.is_some() {
            let Some(end) = rest.find("*/") else { break };
            code.extend(std::iter::repeat_n(' ', end + 2));
            rest = &rest[end + 2..];
            *open = None;
        } else if rest.starts_with("/*") {
            *open = Some((number, line[..line.len() - rest.len()].chars().count() + 1));
        } else if rest.starts_with("//") || rest.starts_with(';') {
            break;
        } else {
            let next = rest.chars().next().map_or(0, char::len_utf8);
            code.push_str(&rest[..next]);
            rest = &rest[next..];
        }
    }
    Cow::Owned(code)
}

/// What is known about a label.
struct LabelState {
    label: Label,
    /// The line of the definition.
    defined: Option<usize>,
    /// The line and byte offset of the first use.
    used: Option<(usize, usize)>,
}

struct ProgramParser {
    program: Program,
    labels: HashMap<String, LabelState>,
    /// The parsed instruction for each statement text. Most texts occur many times in a program, and equal instructions are shared. Since
    /// labels are local to the program, the same text always has the same meaning.
    known: HashMap<String, Arc<Inst>>,
}

impl ProgramParser {
    fn line(&mut self, line: &SourceLine<'_>) -> Result<(), (usize, ParseFault)> {
        for (at, name) in line.labels() {
            self.define(name, line.number).map_err(|fault| (at, fault))?;
        }
        let Some((at, statement)) = line.instruction() else { return Ok(()) };
        if statement.starts_with('.') {
            let name = statement.split_whitespace().next().unwrap_or_default();
            return Err((at, ParseFault::Directive(name.to_owned())));
        }
        self.instruction(statement, (line.number, at)).map_err(|(offset, fault)| (at + offset, fault))
    }

    fn instruction(&mut self, statement: &str, place: (usize, usize)) -> Result<(), (usize, ParseFault)> {
        let statement = statement.trim_end();
        if let Some(inst) = self.known.get(statement) {
            self.program.push(Arc::clone(inst));
            return Ok(());
        }
        let on = self.program.subtarget();
        let parsed = super::statement(statement, on, &mut Labels { parser: self, place })
            .map_err(|(span, fault)| (span.at(), fault))?;
        if let Some(fixup) = parsed.fixups.first() {
            let name = self.program.labels.get(fixup.expr as usize).map_or("", |l| l.name.as_str());
            let problem = format!("the label `{name}` may stand for the target of a branch only");
            return Err((0, ParseFault::Expression(problem)));
        }
        let inst = Arc::new(parsed.inst);
        self.known.insert(statement.to_owned(), Arc::clone(&inst));
        self.program.push(inst);
        Ok(())
    }

    fn define(&mut self, name: &str, number: usize) -> Result<(), ParseFault> {
        let state = intern(&mut self.program, &mut self.labels, name);
        if let Some(line) = state.defined.replace(number) {
            return Err(ParseFault::DuplicateLabel { name: name.to_owned(), line });
        }
        let label = state.label;
        self.program.place(label);
        Ok(())
    }

    fn finish(self) -> Result<Program, ParseError> {
        let undefined = self.labels.iter().filter(|(_, s)| s.defined.is_none());
        let first = undefined.filter_map(|(name, s)| Some((s.used?, name))).min();
        match first {
            Some(((line, column), name)) => {
                let fault = ParseFault::UndefinedLabel(name.clone());
                Err(ParseError { line, column: column + 1, fault })
            }
            None => Ok(self.program),
        }
    }
}

/// A scope in which names are the program's labels.
struct Labels<'a> {
    parser: &'a mut ProgramParser,
    /// The line and byte offset of the instruction.
    place: (usize, usize),
}

impl Scope for Labels<'_> {
    fn value(&mut self, expr: &str) -> Result<ExprValue, (usize, String)> {
        if expr.starts_with(|c: char| c.is_ascii_digit()) || !expr.bytes().all(is_name_byte) {
            return Err((0, format!("the expression `{expr}` has no meaning here: only labels are known")));
        }
        let state = intern(&mut self.parser.program, &mut self.parser.labels, expr);
        state.used.get_or_insert(self.place);
        Ok(ExprValue::Later(state.label.0))
    }
}

fn intern<'a>(
    program: &mut Program,
    labels: &'a mut HashMap<String, LabelState>,
    name: &str,
) -> &'a mut LabelState {
    labels.entry(name.to_owned()).or_insert_with(|| LabelState {
        label: program.new_label(name),
        defined: None,
        used: None,
    })
}

/// Parses `name:` at the start of the text: the range of the name, and the end of the colon. `None` if there is none.
fn label_definition(text: &str) -> Option<(Range<usize>, usize)> {
    let start = text.len() - text.trim_start().len();
    let word = &text[start..];
    let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '@')))?;
    let valid = end > 0 && !word.starts_with(|c: char| c.is_ascii_digit());
    (valid && word[end..].starts_with(':')).then(|| (start..start + end, start + end + 1))
}
