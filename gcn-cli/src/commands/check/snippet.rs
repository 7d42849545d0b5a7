//! Excerpts of an assembly file with notes under the lines, in the same style as errors of `gcn asm`.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A message about some lines of a file.
pub struct Message<'m> {
    pub level: Level<'m>,
    /// Name of the rule.
    pub id: &'m str,
    pub title: String,
    /// Line numbers, from 1, each with the note under it; the first is the line that the message is about.
    pub marks: Vec<(u32, String)>,
    pub notes: Vec<String>,
    pub help: String,
}

/// The lines of a file.
pub struct Source<'s> {
    pub name: &'s str,
    lines: Vec<&'s str>,
}

/// If two marked lines are at most this far apart, the lines between them are shown, too.
const NEAR: u32 = 6;
/// The number of bytes of a line that are shown; the rest is cut off.
const WIDEST: usize = 200;

impl<'s> Source<'s> {
    pub fn new(name: &'s str, text: &'s str) -> Source<'s> {
        Source { name, lines: text.lines().collect() }
    }

    fn line(&self, number: u32) -> &'s str {
        let line = self.lines.get((number as usize).saturating_sub(1)).copied().unwrap_or_default();
        let mut end = line.len().min(WIDEST);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        line.get(..end).unwrap_or_default()
    }

    pub fn render(&self, message: &Message<'_>, colours: bool) -> String {
        let Some(primary) = message.marks.first().map(|m| m.0) else { return String::new() };
        let mut marks: Vec<&(u32, String)> = message.marks.iter().collect();
        marks.sort_by_key(|m| m.0);
        // Marks close to each other are shown together.
        let mut parts: Vec<Vec<&(u32, String)>> = Vec::new();
        for mark in marks {
            match parts.last_mut() {
                Some(part) if part.last().is_some_and(|last| mark.0 - last.0 <= NEAR) => part.push(mark),
                _ => parts.push(vec![mark]),
            }
        }
        let texts: Vec<String> = parts.iter().map(|part| self.text(part)).collect();
        let mut group = message
            .level
            .clone()
            .primary_title(message.title.as_str())
            .id(message.id)
            .element(snippet(self, &parts, &texts, 0, primary));
        for index in 1..parts.len() {
            group = group.element(snippet(self, &parts, &texts, index, primary));
        }
        for note in &message.notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        if !message.help.is_empty() {
            group = group.element(Level::HELP.message(message.help.as_str()));
        }
        let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
        let column = self.statement(primary).start + 1;
        format!("{}:{primary}:{column}: {}\n\n", self.name, renderer.render(&[group]))
    }

    /// The text of all lines from the first mark of the excerpt to the last.
    fn text(&self, part: &[&(u32, String)]) -> String {
        let (Some(first), Some(last)) = (part.first(), part.last()) else { return String::new() };
        (first.0..=last.0).map(|n| self.line(n)).collect::<Vec<_>>().join("\n")
    }

    /// The byte range of the instruction in a line, without blanks, labels and comments around it.
    fn statement(&self, number: u32) -> std::ops::Range<usize> {
        let line = self.line(number);
        let end = [";", "//", "/*"].iter().filter_map(|c| line.find(c)).min().unwrap_or(line.len());
        let code = line.get(..end).unwrap_or_default();
        let mut start = 0;
        while let Some(rest) = code.get(start..)
            && let Some((label, _)) = rest.split_once(':')
            && !label.trim().is_empty()
            && !label.trim().contains(char::is_whitespace)
        {
            start += label.len() + 1;
        }
        let rest = code.get(start..).unwrap_or_default();
        start += rest.len() - rest.trim_start().len();
        start..(start + rest.trim().len()).max(start)
    }
}

fn snippet<'a>(
    source: &Source<'_>,
    parts: &'a [Vec<&'a (u32, String)>],
    texts: &'a [String],
    index: usize,
    primary: u32,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let text = texts.get(index).map_or("", String::as_str);
    let part = parts.get(index).map_or(&[][..], Vec::as_slice);
    let first = part.first().map_or(1, |m| m.0);
    let mut snippet = Snippet::source(text).line_start(first as usize).fold(false);
    for (number, label) in part {
        // Byte offset of the line in the text of this excerpt.
        let before: usize = text.split('\n').take((number - first) as usize).map(|l| l.len() + 1).sum();
        let own = source.statement(*number);
        let kind = if *number == primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        snippet = snippet.annotation(kind.span(before + own.start..before + own.end).label(label.as_str()));
    }
    snippet
}
