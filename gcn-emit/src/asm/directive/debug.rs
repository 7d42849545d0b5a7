//! Debugging: source files and lines, call frames, the compiler's name.

use object::elf;

use super::super::args::{Args, is_name};
use super::super::emit::SectionKey;
use super::super::fault::{Fault, Located, Result};
use super::super::{Assembler, SourceFile, SourceLocation};

/// `.file "name"`, `.file 1 "directory" "name" md5 0x… source "text"`
pub(super) fn file<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    let numbered = args.peek().is_some_and(|b| b.is_ascii_digit());
    let number = if numbered { Some(plain_number(asm, args)?) } else { None };
    let first = args.text()?.into_owned();
    let Some(number) = number else { return args.end() };
    let (directory, name) = match args.peek() {
        Some(b'"') => (first, args.text()?.into_owned()),
        _ => (String::new(), first),
    };
    while !args.at_end() {
        args.peek();
        match args.take_while(is_name) {
            "md5" => {
                args.peek();
                let digest = args.take_while(is_name);
                if !digest
                    .strip_prefix("0x")
                    .is_some_and(|hex| hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
                {
                    return Err(args.expected("an MD5 digest: 0x and 32 digits"));
                }
            }
            "source" => {
                args.text()?;
            }
            _ => return Err(args.expected("`md5`, `source` or the end of the statement")),
        }
    }
    let span = args.statement();
    let high = i64::from(u32::MAX);
    let range = Fault::Range { what: "the file number", value: number, low: 0, high };
    let number = u32::try_from(number).map_err(|_| Located::new(span, range))?;
    let file = SourceFile { number, directory, name };
    match asm.file_numbers.insert(number, asm.files.len() as u32) {
        None => asm.files.push(file),
        Some(before) => {
            asm.file_numbers.insert(number, before);
            if asm.files.get(before as usize) != Some(&file) {
                return Err(Located::new(span, Fault::FileNumber(number.into())));
            }
        }
    }
    Ok(())
}

/// A number without operators, after which another number may follow, separated by a blank.
fn plain_number<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>) -> Result<i64> {
    args.peek();
    let at = args.position();
    let word = args.take_while(is_name);
    let span = args.span_from(at);
    let mut alone = Args::new(word, span.at as usize);
    let value = asm.absolute(&mut alone)?;
    alone.end()?;
    Ok(value)
}

/// Options of `.loc` that take a number.
const LOC_NUMBERS: [&str; 4] = ["is_stmt", "isa", "discriminator", "debug_line"];

/// `.loc file line [column] [prologue_end] [is_stmt 0] …`
pub(super) fn loc<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    args.peek();
    let at = args.position();
    let number = plain_number(asm, args)?;
    let span = args.span_from(at);
    let file = u32::try_from(number).ok().filter(|n| asm.file_numbers.contains_key(n));
    let file = file.ok_or_else(|| Located::new(span, Fault::UnknownFile(number)))?;
    let line = if args.peek().is_some_and(|b| b.is_ascii_digit()) { plain_number(asm, args)? } else { 0 };
    let column = if args.peek().is_some_and(|b| b.is_ascii_digit()) { plain_number(asm, args)? } else { 0 };
    while !args.at_end() {
        let at = args.position();
        match args.take_while(is_name) {
            "basic_block" | "prologue_end" | "epilogue_begin" => {}
            option if LOC_NUMBERS.contains(&option) => {
                plain_number(asm, args)?;
            }
            _ => {
                args.rewind(at);
                return Err(args.expected("an option of `.loc`"));
            }
        }
    }
    let word = |value: i64| u32::try_from(value).unwrap_or(u32::MAX);
    asm.location = Some(SourceLocation { file, line: word(line), column: word(column) });
    Ok(())
}

/// `.ident "compiler"`: the `.comment` section.
pub(super) fn ident<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    let text = args.string()?;
    args.end()?;
    let span = args.statement();
    let flags = u64::from(elf::SHF_MERGE | elf::SHF_STRINGS);
    let kind = Some(elf::SHT_PROGBITS);
    let key =
        SectionKey { name: ".comment", kind, flags: Some(flags), entry_size: 1, ..SectionKey::default() };
    let first = !std::mem::replace(&mut asm.has_ident, true);
    asm.in_section(&key, span, |asm| {
        if first {
            asm.bytes(&[0], span)?;
        }
        asm.bytes(&text, span)?;
        asm.bytes(&[0], span)
    })
}

/// `.cfi_sections .debug_frame`
pub(super) fn cfi_sections<'s>(_: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    loop {
        let at = args.position();
        let name = args.name()?;
        if !matches!(name, ".debug_frame" | ".eh_frame" | ".sframe") {
            args.rewind(at);
            return Err(args.expected("`.debug_frame` or `.eh_frame`"));
        }
        if !args.eat(b',') {
            return args.end();
        }
    }
}

/// `.cfi_startproc [simple]`
pub(super) fn cfi_start<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    if !args.at_end() && args.name()? != "simple" {
        return Err(args.expected("`simple` or nothing"));
    }
    args.end()?;
    if asm.procedure.is_some() {
        return Err(Located::new(args.statement(), Fault::OpenProcedure));
    }
    asm.procedure = Some(args.statement());
    Ok(())
}

/// `.cfi_endproc`
pub(super) fn cfi_end<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    args.end()?;
    match asm.procedure.take() {
        Some(_) => Ok(()),
        None => Err(Located::new(args.statement(), Fault::OutsideProcedure(name.to_owned()))),
    }
}

/// A rule of a call frame.
pub(super) fn cfi<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    if asm.procedure.is_none() {
        return Err(Located::new(args.statement(), Fault::OutsideProcedure(name.to_owned())));
    }
    while !args.at_end() {
        asm.expr(args)?;
        if !args.eat(b',') {
            break;
        }
    }
    args.end()
}
