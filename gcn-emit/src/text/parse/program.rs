//! Programs from text: lines, labels, comments.

use std::borrow::Cow;

use gcn_isa::{Label, Program, Target};
use std::collections::HashMap;

use super::error::{ParseError, ParseFault};
use super::grammar::{self, Located};
use super::resolve;

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
pub fn parse_program(text: &str, target: Target, name: &str) -> Result<Program, ParseError> {
    let mut parser = ProgramParser { program: Program::new(target, name), labels: HashMap::new() };
    let mut in_comment = None;
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        let code = without_comments(line, number, &mut in_comment);
        parser
            .line(&code, number)
            .map_err(|(at, fault)| ParseError { line: number, ..ParseError::at(line, at, fault) })?;
    }
    if let Some((line, column)) = in_comment {
        return Err(ParseError { line, column, fault: ParseFault::OpenComment });
    }
    parser.finish()
}

/// A line with its comments blanked out, so that columns stay. `open` is where an unfinished `/*` began.
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

/// What is known of a label.
struct LabelState {
    label: Label,
    /// Line of the definition.
    defined: Option<usize>,
    /// Line and byte offset of the first use.
    used: Option<(usize, usize)>,
}

struct ProgramParser {
    program: Program,
    labels: HashMap<String, LabelState>,
}

impl ProgramParser {
    fn line(&mut self, code: &str, number: usize) -> Result<(), Located> {
        let mut start = 0;
        while let Some((name, end)) = label_definition(&code[start..]) {
            let at = start + code[start..].find(name).unwrap_or(0);
            self.define(name, number).map_err(|fault| (at, fault))?;
            start += end;
        }
        let statement = &code[start..];
        let blank = statement.len() - statement.trim_start().len();
        let at = start + blank;
        if statement.trim().is_empty() {
            return Ok(());
        }
        if statement.trim_start().starts_with('.') {
            let name = statement.split_whitespace().next().unwrap_or_default();
            return Err((at, ParseFault::Directive(name.to_owned())));
        }
        self.instruction(statement, number).map_err(|(offset, fault)| (start + offset, fault))
    }

    fn instruction(&mut self, statement: &str, number: usize) -> Result<(), Located> {
        let raw = grammar::instruction(statement)?;
        let target = self.program.target;
        let (program, labels) = (&mut self.program, &mut self.labels);
        let inst = resolve::resolve(&raw, target, &mut |name| {
            let state = intern(program, labels, name);
            state.used.get_or_insert((number, raw.at));
            Some(state.label)
        })?;
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

/// `name:` at the start of the text, and where it ends.
fn label_definition(text: &str) -> Option<(&str, usize)> {
    let start = text.len() - text.trim_start().len();
    let word = &text[start..];
    let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '@')))?;
    let valid = end > 0 && !word.starts_with(|c: char| c.is_ascii_digit());
    (valid && word[end..].starts_with(':')).then(|| (&word[..end], start + end + 1))
}
