//! Collects the module's sections into output sections.

use std::borrow::Cow;
use std::collections::HashMap;

use object::elf;

use super::super::{LinkFault, Module, ObjectError, Section, SymbolPlace};
use super::merge::{MergeKey, Merged, is_mergeable};
use super::output::{Content, Made, Output, Part, output_name};
use super::{section_fault, symbol_fault};

/// `SHT_LLVM_*` tables, which are meant only for the linker.
const SHT_LLVM: std::ops::RangeInclusive<u32> = 0x6fff_4c00..=0x6fff_4c09;

/// The linker's input: the module's sections, followed by the linker's own `.comment`.
#[derive(Clone, Copy)]
pub(super) struct Sources<'m> {
    pub(super) module: &'m Module,
    pub(super) comment: Option<&'m Section>,
}

impl<'m> Sources<'m> {
    pub(super) fn get(self, index: usize) -> Option<&'m Section> {
        let is_comment = index == self.module.sections.len();
        self.module.sections.get(index).or(self.comment.filter(|_| is_comment))
    }

    fn all(self) -> impl Iterator<Item = (usize, &'m Section)> {
        self.module.sections.iter().chain(self.comment).enumerate()
    }
}

/// The `.comment` section that names the program that produced the file.
pub(super) fn comment(producer: &str) -> Section {
    let mut bytes = producer.as_bytes().to_vec();
    bytes.push(0);
    Section {
        name: ".comment".into(),
        kind: elf::SHT_PROGBITS,
        flags: u64::from(elf::SHF_MERGE | elf::SHF_STRINGS),
        align: 1,
        entry_size: 1,
        size: bytes.len() as u64,
        bytes,
        relocations: Vec::new(),
    }
}

/// What the linker does with an input section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    /// Drops it: no part of it is in the output.
    Dropped,
    /// Copies it unchanged to a part of an output section.
    Part { output: usize, part: usize },
    /// Merges it with others, as input number `input` of a merged section.
    Merged { output: usize, part: usize, merged: usize, input: usize },
}

/// The output sections in the order of the file, and what the linker does with each input section.
pub(super) struct Inputs<'m> {
    pub(super) sources: Sources<'m>,
    pub(super) outputs: Vec<Output<'m>>,
    pub(super) homes: Vec<Home>,
    pub(super) merged: Vec<Merged<'m>>,
    /// The output section and the part in it for each common symbol.
    pub(super) commons: HashMap<usize, (usize, usize)>,
}

/// Assigns every section to its output section.
pub(super) fn collect(sources: Sources<'_>) -> Result<Inputs<'_>, ObjectError> {
    let mut collector = Collector {
        inputs: Inputs {
            sources,
            outputs: Vec::new(),
            homes: Vec::new(),
            merged: Vec::new(),
            commons: HashMap::new(),
        },
        by_name: HashMap::new(),
        groups: HashMap::new(),
    };
    collector.commons()?;
    for (index, section) in sources.all() {
        let home = collector.section(index, section)?;
        collector.inputs.homes.push(home);
    }
    collector.end_frames();
    collector.made(sources.module)?;
    let mut inputs = collector.inputs;
    let bytes_of = |index: usize| sources.get(index).map_or(&[][..], |s| &s.bytes[..]);
    for merged in &mut inputs.merged {
        merged.merge(sources.module, bytes_of)?;
    }
    inputs.sort();
    Ok(inputs)
}

struct Collector<'m> {
    inputs: Inputs<'m>,
    by_name: HashMap<Cow<'m, str>, usize>,
    /// The part and its merged section, by output section and merge key.
    groups: HashMap<(usize, MergeKey), (usize, usize)>,
}

impl<'m> Collector<'m> {
    fn commons(&mut self) -> Result<(), ObjectError> {
        for (index, symbol) in self.inputs.sources.module.symbols.iter().enumerate() {
            if symbol.place != SymbolPlace::Common {
                continue;
            }
            let fault = |fault| symbol_fault(&symbol.name, fault);
            let align = alignment(symbol.value).map_err(fault)?;
            let flags = u64::from(elf::SHF_ALLOC | elf::SHF_WRITE);
            let output = self.output(".bss".into(), elf::SHT_NOBITS, flags, 0).map_err(fault)?;
            let part = self.part(output, Content::Zeros, align, symbol.size, "");
            self.inputs.commons.insert(index, (output, part));
        }
        Ok(())
    }

    fn section(&mut self, index: usize, section: &'m Section) -> Result<Home, ObjectError> {
        if is_dropped(section) {
            return Ok(Home::Dropped);
        }
        let module = self.inputs.sources.module;
        let fault = |fault| section_fault(module, index, None, fault);
        refuse(section).map_err(fault)?;
        let align = alignment(section.align).map_err(fault)?;
        let flags = section.flags & !u64::from(elf::SHF_GROUP | elf::SHF_INFO_LINK);
        let name = Cow::Borrowed(output_name(&section.name));
        let output = self.output(name, section.kind, flags, section.entry_size).map_err(fault)?;
        if !is_mergeable(section) {
            let size =
                if section.kind == elf::SHT_NOBITS { section.size } else { section.bytes.len() as u64 };
            let part = self.part(output, Content::Input(index), align, size, &section.name);
            return Ok(Home::Part { output, part });
        }
        self.raise(output, align);
        let key = (output, Merged::key(section));
        let (part, merged) = match self.groups.get(&key) {
            Some(found) => *found,
            None => {
                let merged = self.inputs.merged.len();
                self.inputs.merged.push(Merged::new(section));
                let part = self.part(output, Content::Merged(merged), align, 0, "");
                *self.groups.entry(key).or_insert((part, merged))
            }
        };
        let input = self.inputs.merged[merged].add(index, align);
        Ok(Home::Merged { output, part, merged, input })
    }

    /// Appends an entry of length 0 that ends the call frames. Code that reads them in memory has no other way to find their end (LSB,
    /// `.eh_frame`).
    fn end_frames(&mut self) {
        let frames = self.by_name.get(".eh_frame").copied();
        let has_frames = |output: &usize| self.inputs.outputs[*output].parts.iter().any(|part| part.size > 0);
        if let Some(output) = frames.filter(has_frames) {
            self.part(output, Content::Zeros, 1, 4, "");
        }
    }

    /// Adds the sections that the linker creates.
    fn made(&mut self, module: &'m Module) -> Result<(), ObjectError> {
        for (made, name, kind, flags, align, entry_size) in Made::ALL {
            if let Some(index) = module.sections.iter().position(|s| s.name == name && !is_dropped(s)) {
                let what = "the name is that of a section that the linker makes";
                let fault = LinkFault::Unsupported { what, remedy: "rename the section" };
                return Err(section_fault(module, index, None, fault));
            }
            let mut output = Output::new(Cow::Borrowed(name), kind, flags.into(), entry_size);
            output.align = align;
            output.parts.push(Part { content: Content::Made(made), align, size: 0, priority: 0, offset: 0 });
            self.inputs.outputs.push(output);
        }
        Ok(())
    }

    /// The output section with this name, created if necessary, which takes over the properties of an input section.
    fn output(
        &mut self,
        name: Cow<'m, str>,
        kind: u32,
        flags: u64,
        entry_size: u64,
    ) -> Result<usize, LinkFault> {
        if let Some(&index) = self.by_name.get(&name) {
            let output = &mut self.inputs.outputs[index];
            output.kind = common_kind(output.kind, kind)?;
            output.flags |= flags;
            if output.entry_size != entry_size {
                output.entry_size = 0;
            }
            return Ok(index);
        }
        let index = self.inputs.outputs.len();
        self.inputs.outputs.push(Output::new(name.clone(), kind, flags, entry_size));
        self.by_name.insert(name, index);
        Ok(index)
    }

    fn part(&mut self, output: usize, content: Content, align: u64, size: u64, name: &str) -> usize {
        self.raise(output, align);
        let parts = &mut self.inputs.outputs[output].parts;
        parts.push(Part { content, align, size, priority: priority(name), offset: 0 });
        parts.len() - 1
    }

    fn raise(&mut self, output: usize, align: u64) {
        let output = &mut self.inputs.outputs[output];
        output.align = output.align.max(align);
    }
}

impl Inputs<'_> {
    /// Sorts the output sections into the order of the file.
    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.outputs.len()).collect();
        order.sort_by_key(|&i| self.outputs[i].rank());
        let mut places = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            places[old] = new;
        }
        let mut outputs: Vec<Option<Output<'_>>> =
            std::mem::take(&mut self.outputs).into_iter().map(Some).collect();
        self.outputs = order.iter().filter_map(|&old| outputs[old].take()).collect();
        for home in &mut self.homes {
            match home {
                Home::Dropped => {}
                Home::Part { output, .. } | Home::Merged { output, .. } => *output = places[*output],
            }
        }
        self.commons.values_mut().for_each(|(output, _)| *output = places[*output]);
    }

    /// True for a section that was merged, so that its entries were moved individually.
    pub(super) fn is_merged(&self, section: usize) -> bool {
        matches!(self.homes.get(section), Some(Home::Merged { .. }))
    }

    /// The position in the output of a byte of an input section: output section and offset. Offsets are known only after layout. `None` if
    /// the section was dropped.
    pub(super) fn locate(&self, section: usize, offset: u64) -> Option<(usize, u64)> {
        let at = |output: usize, part: usize, offset: u64| {
            let start = self.outputs.get(output)?.parts.get(part)?.offset;
            Some((output, start.checked_add(offset)?))
        };
        match *self.homes.get(section)? {
            Home::Dropped => None,
            Home::Part { output, part } => at(output, part, offset),
            Home::Merged { output, part, merged, input } => {
                at(output, part, self.merged.get(merged)?.offset_of(input, offset)?)
            }
        }
    }
}

fn is_dropped(section: &Section) -> bool {
    let tables = [
        elf::SHT_NULL,
        elf::SHT_SYMTAB,
        elf::SHT_STRTAB,
        elf::SHT_RELA,
        elf::SHT_REL,
        elf::SHT_GROUP,
        elf::SHT_SYMTAB_SHNDX,
    ];
    tables.contains(&section.kind)
        || SHT_LLVM.contains(&section.kind)
        || section.flags & u64::from(elf::SHF_EXCLUDE) != 0
        || section.name == ".note.GNU-stack"
}

fn refuse(section: &Section) -> Result<(), LinkFault> {
    let kinds = [
        (elf::SHF_TLS, "thread-local sections do not exist on these targets", "use LDS or `.data`"),
        (elf::SHF_COMPRESSED, "the section is compressed", "compile with `-gz=none`"),
        (elf::SHF_LINK_ORDER, "the section is ordered by another one", "leave the section out"),
    ];
    match kinds.into_iter().find(|(flag, ..)| section.flags & u64::from(*flag) != 0) {
        Some((_, what, remedy)) => Err(LinkFault::Unsupported { what, remedy }),
        None => Ok(()),
    }
}

/// Checks an alignment; 0 means 1.
fn alignment(align: u64) -> Result<u64, LinkFault> {
    match align {
        0 => Ok(1),
        align if align.is_power_of_two() => Ok(align),
        align => Err(LinkFault::Align { align }),
    }
}

/// The type of an output section whose inputs have two different types.
fn common_kind(a: u32, b: u32) -> Result<u32, LinkFault> {
    const BYTES: [u32; 6] = [
        elf::SHT_NOBITS,
        elf::SHT_PROGBITS,
        elf::SHT_INIT_ARRAY,
        elf::SHT_PREINIT_ARRAY,
        elf::SHT_FINI_ARRAY,
        elf::SHT_NOTE,
    ];
    if a == b {
        Ok(a)
    } else if BYTES.contains(&a) && BYTES.contains(&b) {
        Ok(elf::SHT_PROGBITS)
    } else {
        let what = "sections of one name have types that do not go together";
        Err(LinkFault::Unsupported { what, remedy: "rename one of them" })
    }
}

/// The N of `.init_array.N`, by which parts are sorted.
fn priority(name: &str) -> u32 {
    const LAST: u32 = 65_536;
    if !name.starts_with(".init_array.") && !name.starts_with(".fini_array.") {
        return LAST;
    }
    name.rsplit('.').next().and_then(|n| n.parse().ok()).unwrap_or(LAST)
}
