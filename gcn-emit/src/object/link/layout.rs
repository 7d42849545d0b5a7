//! Assigns every output section its address and its position in the file, and defines the segments.

use object::elf;

use super::super::ObjectError;
use super::dynamic::Tables;
use super::input::{Home, Inputs};
use super::output::{Content, Made, Output};
use super::reloc::Needs;
use super::strings::Strings;
use super::symbol::{Place, Symbols, made};
use super::too_large;

/// The page size of the segments.
pub(super) const PAGE: u64 = 0x1000;
const FILE_HEADER: u64 = 64;
const PROGRAM_HEADER: u64 = 56;
const SECTION_HEADER: u64 = 64;
/// Section numbers from here on have special meanings (`SHN_LORESERVE`).
const MAX_SECTIONS: usize = 0xff00;
/// The maximum amount of padding in a file, in bytes. A larger alignment is a mistake or an attack.
const MAX_PADDING: u64 = 1 << 26;

/// The complete layout.
pub(super) struct Plan<'m> {
    pub(super) inputs: Inputs<'m>,
    pub(super) segments: Vec<Segment>,
    /// The number of bytes between the file header and the first section: the program headers, including those of empty segments.
    pub(super) program_headers: u64,
    pub(super) section_names: Strings,
    /// The offset of each name in `.shstrtab`, by output section.
    pub(super) name_offsets: Vec<u32>,
    /// `e_shoff`.
    pub(super) section_headers: u64,
    pub(super) file_size: u64,
}

impl Plan<'_> {
    /// The address of an input section that is in the output unchanged; `None` for other sections.
    pub(super) fn address_of(&self, section: usize) -> Option<u64> {
        let Home::Part { output, part } = *self.inputs.homes.get(section)? else { return None };
        let output = self.inputs.outputs.get(output)?;
        Some(output.address + output.parts.get(part)?.offset)
    }
}

/// A segment, which extends from one output section to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    /// `p_type`.
    pub(super) kind: u32,
    /// `p_flags`.
    pub(super) flags: u32,
    pub(super) align: u64,
    pub(super) start: Start,
    /// The last output section; `None` if `start` is the only one.
    pub(super) last: Option<usize>,
}

/// The start of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Start {
    Nothing,
    FileHeader,
    ProgramHeaders,
    Output(usize),
}

/// Computes the layout.
pub(super) fn plan<'m>(
    mut inputs: Inputs<'m>,
    symbols: &Symbols<'_>,
    needs: &Needs,
    tables: &Tables,
) -> Result<Plan<'m>, ObjectError> {
    remove_superfluous(&mut inputs, needs);
    let mut section_names = Strings::sharing();
    let name_offsets = number(&mut inputs.outputs, &mut section_names);
    let names = [&section_names, &symbols.names, &tables.names];
    let has_room = names.iter().all(|names| u32::try_from(names.bytes.len()).is_ok());
    if name_offsets.len() >= MAX_SECTIONS || !has_room {
        return Err(too_large());
    }
    let dynamic_entries = dynamic_entries(&inputs, symbols, needs).len() as u64;
    for output in &mut inputs.outputs {
        if let Some(made) = output.made() {
            let size = made_size(made, symbols, needs, tables, &section_names, dynamic_entries);
            output.parts.iter_mut().for_each(|p| p.size = size);
        }
    }
    for index in 0..inputs.outputs.len() {
        place_parts(&mut inputs, index).ok_or_else(too_large)?;
    }
    let mut segments = segments(&inputs.outputs);
    let program_headers = segments.len() as u64 * PROGRAM_HEADER;
    addresses(&mut inputs.outputs, &segments).ok_or_else(too_large)?;
    remove_empty(&mut segments, &inputs.outputs);
    let end = offsets(&mut inputs.outputs, &segments, program_headers).ok_or_else(too_large)?;
    let section_headers = end.checked_next_multiple_of(8).ok_or_else(too_large)?;
    let headers = (inputs.outputs.iter().filter(|o| o.index > 0).count() as u64 + 1) * SECTION_HEADER;
    let file_size = section_headers + headers;
    if file_size > filled(&inputs) + headers + MAX_PADDING {
        return Err(too_large());
    }
    Ok(Plan { inputs, segments, program_headers, section_names, name_offsets, section_headers, file_size })
}

/// The number of bytes in parts that have bytes in the file. Zeroed memory inside a section with bytes does not count.
fn filled(inputs: &Inputs<'_>) -> u64 {
    let bytes = |content: Content, size: u64| match content {
        Content::Input(index) => inputs.sources.get(index).map_or(0, |s| s.bytes.len() as u64),
        Content::Zeros => 0,
        Content::Merged(_) | Content::Made(_) => size,
    };
    let outputs = inputs.outputs.iter().filter(|o| o.has_bytes());
    outputs.flat_map(|o| &o.parts).map(|p| bytes(p.content, p.size)).fold(0, u64::saturating_add)
}

/// Removes the sections that the linker adds only if they are needed.
fn remove_superfluous(inputs: &mut Inputs<'_>, needs: &Needs) {
    for output in &mut inputs.outputs {
        let is_needed = match output.made() {
            Some(Made::RelaDyn) => !needs.loaded.is_empty(),
            Some(Made::Got) => !needs.got.is_empty(),
            _ => true,
        };
        output.index = u32::from(is_needed);
    }
}

/// Numbers the remaining sections and adds their names.
fn number(outputs: &mut [Output<'_>], names: &mut Strings) -> Vec<u32> {
    let mut next = 1;
    let mut offsets = Vec::with_capacity(outputs.len());
    for output in outputs.iter_mut() {
        offsets.push(if output.index > 0 { names.add(&output.name) } else { 0 });
        if output.index > 0 {
            output.index = next;
            next += 1;
        }
    }
    offsets
}

fn made_size(
    made: Made,
    symbols: &Symbols<'_>,
    needs: &Needs,
    tables: &Tables,
    section_names: &Strings,
    dynamic_entries: u64,
) -> u64 {
    match made {
        Made::DynSym => (tables.symbols.len() as u64 + 1) * 24,
        Made::GnuHash => tables.gnu_hash_size(),
        Made::Hash => tables.hash_size(),
        Made::DynStr => tables.names.bytes.len() as u64,
        Made::RelaDyn => tables.relocations * 24,
        Made::Dynamic => dynamic_entries * 16,
        Made::Got => needs.got.len() as u64 * 8,
        Made::RelroPadding => 0,
        Made::SymTab => (symbols.rows.len() as u64 + 1) * 24,
        Made::ShStrTab => section_names.bytes.len() as u64,
        Made::StrTab => symbols.names.bytes.len() as u64,
    }
}

/// Assigns offsets to the parts of an output section; `None` if an offset overflows.
fn place_parts(inputs: &mut Inputs<'_>, index: usize) -> Option<()> {
    let output = inputs.outputs.get_mut(index)?;
    let mut order: Vec<usize> = (0..output.parts.len()).collect();
    order.sort_by_key(|&i| output.parts[i].priority);
    let mut at = 0u64;
    for i in order {
        let part = &mut output.parts[i];
        if let Content::Merged(merged) = part.content {
            let merged = inputs.merged.get(merged)?;
            (part.align, part.size) = (merged.align(), merged.size);
        }
        at = at.checked_next_multiple_of(part.align)?;
        part.offset = at;
        at = at.checked_add(part.size)?;
    }
    output.size = at;
    Some(())
}

/// The segments in the order of their program headers: one for the program headers themselves, one for each run of sections with equal
/// flags, the dynamic table, the part that becomes read-only, the stack, and notes.
fn segments(outputs: &[Output<'_>]) -> Vec<Segment> {
    let read_write = elf::PF_R | elf::PF_W;
    let segment = |kind, flags, align, start| Segment { kind, flags, align, start, last: None };
    let mut all = vec![segment(elf::PT_PHDR, elf::PF_R, 8, Start::ProgramHeaders)];
    let loaded: Vec<usize> =
        (0..outputs.len()).filter(|&i| outputs[i].index > 0 && outputs[i].is_loaded()).collect();
    all.extend(loads(outputs, &loaded));
    for &i in loaded.iter().filter(|&&i| outputs[i].made() == Some(Made::Dynamic)) {
        let dynamic =
            segment(elf::PT_DYNAMIC, outputs[i].segment_flags(), outputs[i].align, Start::Output(i));
        all.push(Segment { last: Some(i), ..dynamic });
    }
    let mut relro = runs(outputs, &loaded, |o| o.is_relro().then_some(1), elf::PT_GNU_RELRO);
    all.append(&mut relro);
    all.push(segment(elf::PT_GNU_STACK, read_write, 0, Start::Nothing));
    all.extend(runs(outputs, &loaded, |o| o.is_note().then_some(o.align), elf::PT_NOTE));
    all
}

/// The `PT_LOAD` segments. A segment ends before a section of another kind, after a section without file bytes, and at the end of the part
/// that becomes read-only.
fn loads(outputs: &[Output<'_>], loaded: &[usize]) -> Vec<Segment> {
    let first =
        Segment { kind: elf::PT_LOAD, flags: elf::PF_R, align: PAGE, start: Start::FileHeader, last: None };
    let mut all = vec![first];
    let mut previous: Option<&Output<'_>> = None;
    for &i in loaded {
        let output = &outputs[i];
        let flags = output.segment_flags();
        let ends_relro = previous.is_some_and(|p| p.is_relro() && !output.is_relro());
        let has_gap = output.has_bytes() && previous.is_some_and(|p| !p.has_bytes());
        let fits = all.last().is_some_and(|s| s.flags == flags) && !ends_relro && !has_gap;
        if !fits {
            all.push(Segment { flags, start: Start::Output(i), ..first });
        }
        if let Some(segment) = all.last_mut() {
            segment.align = segment.align.max(output.align);
            segment.last = Some(i);
        }
        previous = Some(output);
    }
    all
}

/// A segment for each run of sections that have the same key.
fn runs(
    outputs: &[Output<'_>],
    loaded: &[usize],
    key: impl Fn(&Output<'_>) -> Option<u64>,
    kind: u32,
) -> Vec<Segment> {
    let mut all: Vec<Segment> = Vec::new();
    let mut open = None;
    for &i in loaded {
        let key = key(&outputs[i]);
        match (key, all.last_mut()) {
            (Some(_), Some(segment)) if open == key => segment.last = Some(i),
            (Some(align), _) => {
                all.push(Segment { kind, flags: elf::PF_R, align, start: Start::Output(i), last: Some(i) });
            }
            (None, _) => {}
        }
        open = key;
    }
    all
}

/// Assigns addresses, which increase in the order of the file. Each segment starts on a new page, at the same offset in the page as in the
/// file. `None` if an address overflows.
fn addresses(outputs: &mut [Output<'_>], segments: &[Segment]) -> Option<()> {
    let mut at = FILE_HEADER + segments.len() as u64 * PROGRAM_HEADER;
    let mut loads = segments.iter().filter(|s| s.kind == elf::PT_LOAD).peekable();
    for (i, output) in outputs.iter_mut().enumerate().filter(|(_, o)| o.index > 0 && o.is_loaded()) {
        loads.next_if(|s| s.start == Start::FileHeader);
        if loads.next_if(|s| s.start == Start::Output(i)).is_some() {
            at = at.checked_next_multiple_of(PAGE)?.checked_add(at % PAGE)?;
        }
        at = at.checked_next_multiple_of(output.align)?;
        output.address = at;
        if output.made() == Some(Made::RelroPadding) {
            // Extends the section to the end of its page; the next section starts on a new page anyway.
            output.size = at.checked_next_multiple_of(PAGE)? - at;
        } else {
            at = at.checked_add(output.size)?;
        }
    }
    Some(())
}

/// Removes loaded segments without bytes; their program headers remain empty.
fn remove_empty(segments: &mut Vec<Segment>, outputs: &[Output<'_>]) {
    segments.retain(|segment| match (segment.start, segment.last) {
        (Start::Output(first), Some(last)) if segment.kind == elf::PT_LOAD => {
            outputs[last].address + outputs[last].size > outputs[first].address
        }
        _ => true,
    });
}

/// Assigns offsets in the file; returns the end of the last section. `None` if an offset overflows.
fn offsets(outputs: &mut [Output<'_>], segments: &[Segment], program_headers: u64) -> Option<u64> {
    let mut at = FILE_HEADER + program_headers;
    // The offset minus the address of the segment, modulo 2^64.
    let mut shift = 0u64;
    let mut last = None;
    let mut loads = segments.iter().filter(|s| s.kind == elf::PT_LOAD).peekable();
    for (i, output) in outputs.iter_mut().enumerate().filter(|(_, o)| o.index > 0 && o.is_loaded()) {
        if let Some(segment) = loads.next_if(|s| s.start == Start::FileHeader) {
            last = Some(segment.last.unwrap_or(0));
        }
        if let Some(segment) = loads.next_if(|s| s.start == Start::Output(i)) {
            at = congruent(at, segment.align, output.address)?;
            shift = at.wrapping_sub(output.address);
            last = segment.last;
        } else if output.has_bytes() && last.is_none_or(|last| i <= last) {
            at = output.address.wrapping_add(shift);
        } else if output.has_bytes() {
            // A section after a segment that has turned out to be empty.
            at = at.checked_next_multiple_of(output.align)?;
        }
        output.offset = at;
        if output.has_bytes() {
            at = at.checked_add(output.size)?;
        }
    }
    for output in outputs.iter_mut().filter(|o| o.index > 0 && !o.is_loaded()) {
        at = at.checked_next_multiple_of(output.align)?;
        output.offset = at;
        at = at.checked_add(output.size)?;
    }
    Some(at)
}

/// The smallest number from `at` on that is congruent to `address` modulo `align`; `None` if it overflows.
fn congruent(at: u64, align: u64, address: u64) -> Option<u64> {
    let want = address % align;
    let base = at.checked_sub(want).map_or(Some(0), |rest| rest.checked_next_multiple_of(align))?;
    base.checked_add(want)
}

/// The dynamic table: tags and values, including the final `DT_NULL`.
pub(super) fn dynamic_entries(inputs: &Inputs<'_>, symbols: &Symbols<'_>, needs: &Needs) -> Vec<(u32, u64)> {
    let section = |which| made(&inputs.outputs, which).map_or((0, 0), |o| (o.address, o.size));
    let mut all = Vec::new();
    if !needs.loaded.is_empty() {
        let (address, size) = section(Made::RelaDyn);
        all.extend([(elf::DT_RELA, address), (elf::DT_RELASZ, size), (elf::DT_RELAENT, 24)]);
        let relative = needs.loaded.iter().filter(|l| !l.looks_up).count() as u64;
        if relative > 0 {
            all.push((elf::DT_RELACOUNT, relative));
        }
    }
    all.extend([(elf::DT_SYMTAB, section(Made::DynSym).0), (elf::DT_SYMENT, 24)]);
    all.extend([(elf::DT_STRTAB, section(Made::DynStr).0), (elf::DT_STRSZ, section(Made::DynStr).1)]);
    all.extend([(elf::DT_GNU_HASH, section(Made::GnuHash).0), (elf::DT_HASH, section(Made::Hash).0)]);
    let arrays = [
        (".preinit_array", elf::DT_PREINIT_ARRAY, elf::DT_PREINIT_ARRAYSZ),
        (".init_array", elf::DT_INIT_ARRAY, elf::DT_INIT_ARRAYSZ),
        (".fini_array", elf::DT_FINI_ARRAY, elf::DT_FINI_ARRAYSZ),
    ];
    for (name, tag, size_tag) in arrays {
        if let Some(output) = inputs.outputs.iter().find(|o| o.name == name) {
            all.extend([(tag, output.address), (size_tag, output.size)]);
        }
    }
    for (name, tag) in [("_init", elf::DT_INIT), ("_fini", elf::DT_FINI)] {
        let is_it = |i: &usize| symbols.module[*i].name == name && symbols.list[*i].place != Place::Undefined;
        if let Some(index) = (0..symbols.list.len()).find(is_it) {
            all.push((tag, symbols.value(inputs, index)));
        }
    }
    all.push((elf::DT_NULL, 0));
    all
}
