//! Directives that refer to other files.

use super::super::Assembler;
use super::super::args::Args;
use super::super::fault::{Fault, Located, Result};
use super::super::files::Found;
use super::super::macros::{Entry, Rounds};
use super::super::source::{Call, without_block_comments};
use super::super::span::Span;
use super::super::{MAX_FILLING, without_byte_order_mark};

/// `.include "file"`
pub(super) fn include<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    asm.expands = true;
    let (name, span) = file_name(args)?;
    args.end()?;
    let statement = args.statement();
    let budget = asm.budget();
    let Found { path, bytes } = read(asm, &name, span, budget)?;
    if let Some(chain) = cycle(asm, &path) {
        return Err(Located::new(span, Fault::IncludeCycle { name, chain }));
    }
    let size = bytes.len() as u64;
    asm.charge(size).map_err(|fault| Located::new(span, fault))?;
    let text = String::from_utf8(bytes).map_err(|_| Located::new(span, Fault::IncludeText(name)))?;
    let written: &'s str = without_byte_order_mark(asm.arena.alloc(text));
    let (clean, open_comment) = without_block_comments(written);
    let text = asm.kept(clean);
    let file: &'s str = asm.arena.alloc(path);
    asm.enter(
        &Entry { text: written, file, line: 1 },
        Call { span: statement, name: file, is_file: true },
        Rounds::Over,
    )?;
    // Error messages show the original text; the assembler parses a copy in which comments are blank.
    asm.text = text;
    match open_comment {
        Some(at) => Err(Located::new(asm.span(at, at + 2), Fault::OpenComment)),
        None => Ok(()),
    }
}

/// If the file with this path is being read already: the chain of includes from that file to itself, as text. Otherwise `None`.
fn cycle(asm: &Assembler<'_>, path: &str) -> Option<String> {
    let (main, _) = asm.sources.line(0);
    let open: Vec<&str> = asm.open_files().chain([main]).collect();
    let first = open.iter().position(|file| *file == path)?;
    let chain: Vec<String> =
        open.get(..=first)?.iter().rev().chain([&path]).map(|file| format!("`{file}`")).collect();
    Some(chain.join(" includes "))
}

/// `.incbin "file" [, bytes to skip [, most bytes]]`
pub(super) fn binary<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    let (name, span) = file_name(args)?;
    let (mut skip, mut count) = (0, None);
    if args.eat(b',') {
        if args.peek() != Some(b',') {
            skip = number(asm, args, "the bytes to skip")?;
        }
        if args.eat(b',') {
            let start = args.statement();
            let number = asm.absolute(args)?;
            count = u64::try_from(number).ok();
            if count.is_none() {
                asm.warn(start, "a negative count has no effect");
                return args.end();
            }
        }
    }
    args.end()?;
    let Found { bytes, .. } = read(asm, &name, span, MAX_FILLING)?;
    let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(bytes.len());
    let rest = bytes.get(skip..).unwrap_or_default();
    let length =
        count.map_or(rest.len(), |count| usize::try_from(count).unwrap_or(usize::MAX).min(rest.len()));
    asm.count_filling(length as u64).map_err(|fault| Located::new(span, fault))?;
    asm.bytes(rest.get(..length).unwrap_or_default(), span)
}

fn number<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, what: &'static str) -> Result<u64> {
    args.peek();
    let at = args.position();
    let value = asm.absolute(args)?;
    let range = Fault::Range { what, value, low: 0, high: i64::MAX };
    u64::try_from(value).map_err(|_| Located::new(args.span_from(at), range))
}

fn file_name(args: &mut Args<'_>) -> Result<(String, Span)> {
    args.peek();
    let at = args.position();
    let name = args.text()?.into_owned();
    Ok((name, args.span_from(at)))
}

fn read(asm: &Assembler<'_>, name: &str, span: Span, limit: u64) -> Result<Found> {
    asm.included.read(name, limit).map_err(|error| {
        Located::new(span, Fault::Include { name: name.to_owned(), problem: error.to_string() })
    })
}
