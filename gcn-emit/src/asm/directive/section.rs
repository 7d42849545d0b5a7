//! Sections and the stack of sections.

use object::elf;

use super::super::Assembler;
use super::super::args::{Args, is_name};
use super::super::emit::SectionKey;
use super::super::fault::{Fault, Located, Result};

/// `SHF_GNU_RETAIN`.
const SHF_GNU_RETAIN: u32 = 0x20_0000;

/// Letters of section flags.
const FLAGS: [(char, u32); 11] = [
    ('a', elf::SHF_ALLOC),
    ('e', elf::SHF_EXCLUDE),
    ('x', elf::SHF_EXECINSTR),
    ('w', elf::SHF_WRITE),
    ('o', elf::SHF_LINK_ORDER),
    ('M', elf::SHF_MERGE),
    ('S', elf::SHF_STRINGS),
    ('G', elf::SHF_GROUP),
    ('T', elf::SHF_TLS),
    ('R', SHF_GNU_RETAIN),
    // `?`: the group of the section that is being left, if it has one.
    ('?', 0),
];

/// Words for section flags, each preceded by `#`.
const FLAG_WORDS: [(&str, u32); 4] = [
    ("alloc", elf::SHF_ALLOC),
    ("execinstr", elf::SHF_EXECINSTR),
    ("write", elf::SHF_WRITE),
    ("tls", elf::SHF_TLS),
];

/// Section types by name.
const TYPES: [(&str, u32); 9] = [
    ("progbits", elf::SHT_PROGBITS),
    ("nobits", elf::SHT_NOBITS),
    ("note", elf::SHT_NOTE),
    ("init_array", elf::SHT_INIT_ARRAY),
    ("fini_array", elf::SHT_FINI_ARRAY),
    ("preinit_array", elf::SHT_PREINIT_ARRAY),
    ("unwind", 0x7000_0001),
    ("llvm_odrtab", 0x6fff_4c00),
    ("llvm_linker_options", 0x6fff_4c01),
];

/// `.text`, `.data`, `.bss 2` …
pub(super) fn named<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    let number = number(asm, args)?;
    let section = asm.section_of(&SectionKey { name, ..SectionKey::default() }, args.statement())?;
    let stream = asm.stream_of(section, number);
    asm.switch_to(stream);
    Ok(())
}

/// `.section name [, "flags" [, @type [, …]]]`, `.section name, #alloc [, #write …]`
pub(super) fn section<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    let (key, number) = read_section(asm, args)?;
    let section = asm.section_of(&key, args.statement())?;
    let stream = asm.stream_of(section, number);
    asm.switch_to(stream);
    Ok(())
}

/// `.pushsection …`
pub(super) fn push<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    asm.stack.push((asm.current, asm.previous));
    let switched = section(asm, args, name);
    if switched.is_err() {
        asm.stack.pop();
    }
    switched
}

/// `.popsection`
pub(super) fn pop<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    args.end()?;
    let Some((current, previous)) = asm.stack.pop() else {
        return Err(Located::new(args.statement(), Fault::SectionStack(name)));
    };
    asm.switch_to(current);
    asm.previous = previous;
    Ok(())
}

/// `.previous`
pub(super) fn previous<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    args.end()?;
    let Some(stream) = asm.previous else {
        return Err(Located::new(args.statement(), Fault::SectionStack(name)));
    };
    asm.switch_to(stream);
    Ok(())
}

/// `.subsection 2`
pub(super) fn subsection<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    let number = number(asm, args)?;
    let section = asm.stream().section;
    let stream = asm.stream_of(section, number);
    asm.switch_to(stream);
    Ok(())
}

/// Parses the number of a subsection; 0 if there is none.
fn number<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>) -> Result<u32> {
    if args.at_end() {
        return Ok(0);
    }
    args.peek();
    let at = args.position();
    let number = asm.absolute(args)?;
    let span = args.span_from(at);
    args.end()?;
    let high = i64::from(i32::MAX);
    let range = Fault::Range { what: "the number of a subsection", value: number, low: 0, high };
    u32::try_from(number).ok().filter(|n| i64::from(*n) <= high).ok_or_else(|| Located::new(span, range))
}

fn read_section<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>) -> Result<(SectionKey<'s>, u32)> {
    let name = section_name(args)?;
    let mut key = SectionKey { name, ..SectionKey::default() };
    if !args.eat(b',') {
        args.end()?;
        return Ok((key, 0));
    }
    if args.peek() == Some(b'#') {
        key.flags = Some(flag_words(args)?);
        args.end()?;
        return Ok((key, 0));
    }
    if args.peek() != Some(b'"') {
        // `.pushsection .text, 1`
        let number = number(asm, args)?;
        return Ok((key, number));
    }
    args.peek();
    let at = args.position();
    let letters = args.raw_string()?;
    let mut flags = 0;
    for letter in letters.chars() {
        let found = FLAGS.iter().find(|(l, _)| *l == letter);
        let unknown = || Located::new(args.span_from(at), Fault::SectionFlag(letter));
        flags |= u64::from(found.ok_or_else(unknown)?.1);
    }
    if letters.contains('?') {
        key.group = asm.section().group.clone();
        flags |= if key.group.is_some() { u64::from(elf::SHF_GROUP) } else { 0 };
    }
    key.flags = Some(flags);
    if args.eat(b',') {
        key.kind = Some(section_type(args)?);
    }
    let has = |flag: u32| flags & u64::from(flag) != 0;
    if has(elf::SHF_MERGE) {
        key.entry_size = entry_size(asm, args)?;
    }
    if has(elf::SHF_GROUP) && key.group.is_none() {
        args.comma()?;
        let signature = args.name()?.to_owned();
        let comdat = args.clone().eat(b',') && comdat(args);
        key.group = Some((signature, comdat));
    }
    if has(elf::SHF_LINK_ORDER) {
        args.comma()?;
        if args.peek() == Some(b'0') {
            args.skip(1);
        } else {
            args.name()?;
        }
    }
    if args.eat(b',') {
        if args.name()? != "unique" {
            return Err(args.expected("`unique`"));
        }
        args.comma()?;
        key.unique = Some(asm.absolute(args)?);
    }
    args.end()?;
    Ok((key, 0))
}

/// Parses `#alloc, #write`; only a comma may follow them.
fn flag_words(args: &mut Args<'_>) -> Result<u64> {
    let mut flags = 0;
    while args.peek() == Some(b'#') {
        args.skip(1);
        args.peek();
        let at = args.position();
        let word = args.take_while(is_name);
        let found = FLAG_WORDS.iter().find(|(known, _)| *known == word);
        let unknown = || Located::new(args.span_from(at), Fault::SectionFlagWord(word.to_owned()));
        flags |= u64::from(found.ok_or_else(unknown)?.1);
        if !args.eat(b',') {
            break;
        }
    }
    Ok(flags)
}

/// Consumes `,comdat` if it is next.
fn comdat(args: &mut Args<'_>) -> bool {
    let at = args.position();
    let found = args.eat(b',') && args.name().is_ok_and(|name| name == "comdat");
    if !found {
        args.rewind(at);
    }
    found
}

/// Parses a section's name: anything without blanks and commas, or a string.
fn section_name<'s>(args: &mut Args<'s>) -> Result<&'s str> {
    if args.peek() == Some(b'"') {
        return args.raw_string();
    }
    let name = args.take_while(|b| !matches!(b, b',' | b' ' | b'\t' | b'\r'));
    if name.is_empty() { Err(args.expected("a section name")) } else { Ok(name) }
}

/// Parses `@progbits`, `%progbits`, `"progbits"` or `@0x7fff4c03`.
fn section_type(args: &mut Args<'_>) -> Result<u32> {
    args.peek();
    let at = args.position();
    let name = match args.peek() {
        Some(b'"') => args.raw_string()?,
        Some(b'@' | b'%') => {
            args.skip(1);
            args.take_while(is_name)
        }
        _ => return Err(args.expected("a section type such as `@progbits`")),
    };
    let number = name.strip_prefix("0x").map(|hex| u32::from_str_radix(hex, 16));
    let found = match number {
        Some(number) => number.ok(),
        None => TYPES.iter().find(|(n, _)| *n == name).map(|row| row.1).or_else(|| name.parse().ok()),
    };
    found.ok_or_else(|| Located::new(args.span_from(at), Fault::SectionType(name.to_owned())))
}

fn entry_size<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>) -> Result<u64> {
    if !args.eat(b',') {
        return Err(args.expected("the size of an entry"));
    }
    args.peek();
    let at = args.position();
    let size = asm.absolute(args)?;
    let range = Fault::Range { what: "the size of an entry", value: size, low: 1, high: i64::MAX };
    u64::try_from(size).ok().filter(|n| *n > 0).ok_or_else(|| Located::new(args.span_from(at), range))
}
