//! `.amdgpu_metadata`: translates YAML into the `MessagePack` note.
//!
//! A third-party library parses the YAML. Scalars are interpreted as in LLVM, which differs from YAML: the type of a scalar, a key or a
//! value, depends on its text alone, quoted or not, unless a tag such as `!str` overrides it. Anchors and aliases are rejected, as in LLVM.

mod rules;
mod yaml;

use object::elf;

use super::Assembler;
use super::emit::SectionKey;
use super::fault::{Fault, Located, Result};
use super::section::Fill;
use super::source::line_end;
use super::span::Span;
use crate::metadata::Metadata;
use crate::object::metadata_note;

const END: &str = ".end_amdgpu_metadata";

impl Assembler<'_> {
    /// Parses a document that begins in the next line; `span` is the position of the directive before it.
    pub fn metadata(&mut self, span: Span) -> Result<()> {
        let next = self.at;
        let Some((end, behind)) = self.metadata_end(next) else {
            self.at = self.text.len();
            return Err(Located::new(span, Fault::OpenMetadata));
        };
        self.at = behind;
        let document = self.text.get(next..end).unwrap_or_default();
        self.metadata_section(document, self.base + next, span)
    }

    /// The offsets of the line with the end directive, and of the line after it; `None` if there is no such line.
    fn metadata_end(&self, from: usize) -> Option<(usize, usize)> {
        let bytes = self.text.as_bytes();
        let mut at = from;
        while at < bytes.len() {
            let end = line_end(bytes, at);
            let line = self.text.get(at..end).unwrap_or_default().trim_ascii();
            let rest = line.strip_prefix(END);
            if rest
                .is_some_and(|rest| rest.trim_start().is_empty() || rest.trim_start().starts_with([';', '/']))
            {
                return Some((at, end + 1));
            }
            at = end + 1;
        }
        None
    }

    fn metadata_section(&mut self, document: &str, at: usize, span: Span) -> Result<()> {
        let mut node = yaml::read(document).map_err(|error| {
            let span = error.at.map_or(span, |offset| Span::new(at + offset, at + offset + 1));
            Located::new(span, Fault::Yaml(error.problem))
        })?;
        rules::check(&mut node).map_err(|broken| {
            let place = yaml::locate(document, &broken.path);
            let span = place.map_or(span, |place| Span::new(at + place.start, at + place.end));
            let fault = Fault::MetadataRule { path: broken.path, problem: broken.problem };
            Located::new(span, fault)
        })?;
        let content = node.to_msgpack();
        // LLVM's rules accept unknown keys, but readers of the metadata may know them and require certain values.
        Metadata::from_msgpack(&content)
            .map_err(|error| Located::new(span, Fault::Yaml(error.to_string())))?;
        let note = metadata_note(&content);
        let kind = Some(elf::SHT_NOTE);
        let flags = Some(u64::from(elf::SHF_ALLOC));
        let key = SectionKey { name: ".note", kind, flags, ..SectionKey::default() };
        self.in_section(&key, span, |asm| {
            asm.bytes(&note, span)?;
            asm.align(4, Fill::Value(0, 1), u64::MAX, span)
        })
    }
}
