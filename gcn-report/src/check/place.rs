//! Formats the positions of instructions as text.

use std::collections::HashMap;

use gcn_emit::code::{Code, Unit};
use gcn_emit::text::InstText;

/// Describes the instructions of a section by source line, or by function and offset.
pub struct Places<'c> {
    /// The file.
    pub unit: &'c Unit,
    /// The section.
    pub code: &'c Code,
    /// Labels by the index of the line before which they stand.
    labels: HashMap<usize, &'c str>,
}

impl<'c> Places<'c> {
    /// For a section of a file.
    pub fn new(unit: &'c Unit, code: &'c Code) -> Places<'c> {
        let labels = code.program.labels.iter().filter_map(|l| Some((l.at?, l.name.as_str()))).collect();
        Places { unit, code, labels }
    }

    /// The line in the assembly file.
    pub fn source_line(&self, line: usize) -> Option<u32> {
        self.code.places.get(line)?.line
    }

    /// A position such as `line 12` or, in an object, the function and the offset in it: `saxpy+0x1c`.
    pub fn of(&self, line: usize) -> String {
        match self.source_line(line) {
            Some(source) => format!("line {source}"),
            None => self.in_function(line),
        }
    }

    /// The function and offset, such as `saxpy+0x1c`.
    pub fn in_function(&self, line: usize) -> String {
        let offset = self.offset(line);
        match self.code.function_of(line) {
            Some(function) => {
                format!("{}+{:#x}", function.name, offset.saturating_sub(self.offset(function.lines.start)))
            }
            None => self.in_section(line),
        }
    }

    /// The section and offset, such as `.text+0x11c`.
    pub fn in_section(&self, line: usize) -> String {
        format!("{}+{:#x}", self.code.section, self.offset(line))
    }

    fn offset(&self, line: usize) -> u64 {
        self.code.places.get(line).map_or(0, |p| p.offset)
    }

    /// The basic block that starts at a line: its label and position.
    pub fn block(&self, line: usize) -> String {
        match self.labels.get(&line) {
            Some(label) => format!("{label} ({})", self.of(line)),
            None => self.of(line),
        }
    }

    /// The position inside of a macro, a repetition or an included file, with the chain of calls; `None` for an instruction that is in the
    /// file itself.
    pub fn origin(&self, line: usize) -> Option<String> {
        let place = self.code.places.get(line)?;
        let chain: Vec<String> = self.unit.origins_of(place).map(ToString::to_string).collect();
        (!chain.is_empty()).then(|| chain.join(", called from "))
    }

    /// The position of the instruction's text: its line, or the line in its macro or included file.
    pub fn written(&self, line: usize) -> String {
        let place = self.code.places.get(line);
        let origin = place.and_then(|place| self.unit.origins_of(place).next());
        origin.map_or_else(|| self.of(line), ToString::to_string)
    }

    /// The instruction's text.
    pub fn text(&self, line: usize) -> String {
        let program = &self.code.program;
        program.lines.get(line).map_or(String::new(), |l| {
            InstText { inst: &l.inst, target: program.target, program: Some(program) }.to_string()
        })
    }

    /// The source line that `.loc` assigns to the instruction; `None` if there is none.
    pub fn location(&self, line: usize) -> Option<String> {
        let location = self.code.places.get(line)?.location?;
        let file = self.unit.files.iter().find(|f| f.number == location.file)?;
        let folder = if file.directory.is_empty() { String::new() } else { format!("{}/", file.directory) };
        (location.line > 0).then(|| format!("{folder}{}:{}:{}", file.name, location.line, location.column))
    }
}
