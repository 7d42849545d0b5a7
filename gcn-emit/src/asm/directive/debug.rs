//! Debug information: source files and lines, call frames, the compiler's name.

use gcn_isa::RegFile;
use gcn_isa::reg::RegUnit;
use object::elf;

use super::super::args::{Args, is_name};
use super::super::emit::SectionKey;
use super::super::fault::{Fault, Located, Result};
use super::super::fixup::check_width;
use super::super::{Assembler, SourceFile, SourceLocation};
use super::data::octa;
use crate::object::debug::frames::{ReturnRegister, Rule};
use crate::object::debug::line_table::{self, Row};
use crate::object::debug::variables::register_number;

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
    let (mut md5, mut source) = (None, None);
    while !args.at_end() {
        args.peek();
        match args.take_while(is_name) {
            "md5" => {
                args.peek();
                let at = args.position();
                let digest = octa(args.take_while(is_name));
                let digest = digest.map_err(|fault| Located::new(args.span_from(at), fault))?;
                md5 = Some(digest.to_be_bytes());
            }
            "source" => source = Some(args.text()?.into_owned()),
            _ => return Err(args.expected("`md5`, `source` or the end of the statement")),
        }
    }
    let span = args.statement();
    let high = i64::from(u32::MAX);
    let range = Fault::Range { what: "the file number", value: number, low: 0, high };
    let number = u32::try_from(number).map_err(|_| Located::new(span, range))?;
    let file = SourceFile { number, directory, name };
    match asm.file_numbers.insert(number, asm.files.len() as u32) {
        None => {
            let entry = line_table::File { name: file.name.clone(), md5, source, directory: 0 };
            asm.debug.lines.add(number, &file.directory, entry, span);
            asm.files.push(file);
        }
        Some(before) => {
            asm.file_numbers.insert(number, before);
            if asm.files.get(before as usize) != Some(&file) {
                return Err(Located::new(span, Fault::FileNumber(number.into())));
            }
        }
    }
    Ok(())
}

/// Parses a number without operators, so that another number may follow, separated by a blank.
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

/// `.loc file line [column] [prologue_end] [is_stmt 0] …`
pub(super) fn loc<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    args.peek();
    let at = args.position();
    let number = plain_number(asm, args)?;
    let span = args.span_from(at);
    let file = u32::try_from(number).ok().filter(|n| asm.file_numbers.contains_key(n));
    let file = file.ok_or_else(|| Located::new(span, Fault::UnknownFile(number)))?;
    let is_number = |args: &mut Args<'s>| args.peek().is_some_and(|b| b.is_ascii_digit());
    let line = if is_number(args) { number_up_to(u32::MAX, "the line", asm, args)? } else { 0 };
    let column = if is_number(args) { number_up_to(u16::MAX.into(), "the column", asm, args)? } else { 0 };
    let is_statement = !asm.debug.lines.not_statement;
    let mut row = Row { file: asm.debug.lines.number(file), line, column, is_statement, ..Row::default() };
    while !args.at_end() {
        let at = args.position();
        match args.take_while(is_name) {
            "basic_block" => row.marks.basic_block = true,
            "prologue_end" => row.marks.prologue_end = true,
            "epilogue_begin" => row.marks.epilogue_begin = true,
            "is_stmt" => row.is_statement = number_up_to(1, "`is_stmt`", asm, args)? == 1,
            "isa" => row.isa = number_up_to(u32::MAX, "the instruction set", asm, args)?,
            "discriminator" => {
                row.discriminator = number_up_to(u32::MAX, "the discriminator", asm, args)?;
            }
            _ => {
                args.rewind(at);
                return Err(args.expected("an option of `.loc`"));
            }
        }
    }
    asm.locate(row);
    asm.location = Some(SourceLocation { file, line, column });
    Ok(())
}

/// Parses a number from 0 to `most`.
fn number_up_to<'s>(
    most: u32,
    what: &'static str,
    asm: &mut Assembler<'s>,
    args: &mut Args<'s>,
) -> Result<u32> {
    args.peek();
    let at = args.position();
    let value = plain_number(asm, args)?;
    let range = Fault::Range { what, value, low: 0, high: most.into() };
    let number = u32::try_from(value).ok().filter(|number| *number <= most);
    number.ok_or_else(|| Located::new(args.span_from(at), range))
}

/// `.ident "compiler"`: adds to the `.comment` section.
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

/// `.cfi_sections .debug_frame, .eh_frame`
pub(super) fn cfi_sections<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    let (mut eh, mut debug) = (false, false);
    loop {
        let at = args.position();
        match args.name()? {
            ".debug_frame" => debug = true,
            ".eh_frame" => eh = true,
            _ => {
                args.rewind(at);
                return Err(args.expected("`.debug_frame` or `.eh_frame`"));
            }
        }
        if !args.eat(b',') {
            break;
        }
    }
    args.end()?;
    (asm.debug.frames.eh, asm.debug.frames.debug) = (eh, debug);
    Ok(())
}

/// `.cfi_startproc [simple]`
pub(super) fn cfi_start<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    let is_simple = !args.at_end();
    if is_simple && args.name()? != "simple" {
        return Err(args.expected("`simple` or nothing"));
    }
    args.end()?;
    asm.open_procedure(is_simple, args.statement())
}

/// `.cfi_endproc`
pub(super) fn cfi_end<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    args.end()?;
    asm.close_procedure(name, args.statement())
}

/// `.cfi_signal_frame`, `.cfi_return_column 16`: properties of the whole procedure.
pub(super) fn cfi_kind<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    let named = if name == ".cfi_return_column" { Some(register(asm, args)?) } else { None };
    args.end()?;
    let kind = &mut asm.procedure(name, args.statement())?.kind;
    match named {
        Some(register) => kind.return_register = ReturnRegister::Named(register),
        None => kind.is_signal_frame = true,
    }
    Ok(())
}

/// Executes a directive that defines a rule of a call frame.
pub(super) fn cfi<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    let rule = match name {
        ".cfi_def_cfa" => Rule::Cfa(register(asm, args)?, next(asm, args)?),
        ".cfi_def_cfa_offset" => Rule::CfaOffset(asm.absolute(args)?),
        ".cfi_adjust_cfa_offset" => Rule::AdjustCfaOffset(asm.absolute(args)?),
        ".cfi_def_cfa_register" => Rule::CfaRegister(register(asm, args)?),
        ".cfi_llvm_def_aspace_cfa" => {
            let (register, offset) = (register(asm, args)?, next(asm, args)?);
            Rule::CfaInAddressSpace(register, offset, next(asm, args)? as u64)
        }
        ".cfi_offset" => Rule::Offset(register(asm, args)?, next(asm, args)?),
        ".cfi_rel_offset" => Rule::RelativeOffset(register(asm, args)?, next(asm, args)?),
        ".cfi_val_offset" => Rule::ValueOffset(register(asm, args)?, next(asm, args)?),
        ".cfi_register" => {
            let of = register(asm, args)?;
            args.comma()?;
            Rule::Register(of, register(asm, args)?)
        }
        ".cfi_undefined" => Rule::Undefined(register(asm, args)?),
        ".cfi_same_value" => Rule::SameValue(register(asm, args)?),
        ".cfi_restore" => Rule::Restore(register(asm, args)?),
        ".cfi_remember_state" => Rule::Remember,
        ".cfi_restore_state" => Rule::RestoreRemembered,
        ".cfi_window_save" => Rule::WindowSave,
        _ => Rule::Escape(escape(asm, args)?),
    };
    args.end()?;
    asm.frame_rule(rule, name, args.statement())
}

/// Parses a comma and a number.
fn next<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>) -> Result<i64> {
    args.comma()?;
    asm.absolute(args)
}

/// Parses the bytes of `.cfi_escape 0x10, 0x20`.
fn escape<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        args.peek();
        let at = args.position();
        let value = asm.absolute(args)?;
        check_width(value, 1).map_err(|fault| Located::new(args.span_from(at), fault))?;
        bytes.push(value as u8);
        if !args.eat(b',') {
            return Ok(bytes);
        }
    }
}

/// Numbered registers in call frames: prefix, register file, and the number of registers.
const REGISTERS: [(&str, RegFile, u16); 3] =
    [("s", RegFile::Sgpr, 102), ("v", RegFile::Vgpr, 256), ("a", RegFile::Agpr, 256)];
/// Registers without numbered names (LLVM's guide, *Register Identifier*).
const SPECIAL: [(&str, u64); 3] = [("pc", 16), ("exec", 17), ("exec_lo", 1)];

/// Parses a register of a call frame, given by its name or by its number in debug information.
fn register<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>) -> Result<u64> {
    args.peek();
    let at = args.position();
    let word = args.take_while(is_name);
    if let Some((_, number)) = SPECIAL.iter().find(|(name, _)| *name == word) {
        return Ok(*number);
    }
    for (prefix, file, count) in REGISTERS {
        let index = word.strip_prefix(prefix).and_then(|digits| digits.parse().ok());
        if let Some(index) = index.filter(|index| *index < count) {
            return Ok(register_number(RegUnit::new(file, index)));
        }
    }
    args.rewind(at);
    let expected =
        args.expected("a register: `s0`, `v0`, `a0`, `exec`, `pc`, or its number in debug information");
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(expected);
    }
    u64::try_from(asm.absolute(args)?).map_err(|_| expected)
}
