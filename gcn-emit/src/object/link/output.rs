//! Output sections: which input each one contains, and their order in the file.

use std::borrow::Cow;

use object::elf;

/// A section that the linker creates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Made {
    DynSym,
    GnuHash,
    Hash,
    DynStr,
    RelaDyn,
    Dynamic,
    Got,
    RelroPadding,
    SymTab,
    ShStrTab,
    StrTab,
}

impl Made {
    /// All of them, in the order of their creation: name, `sh_type`, `sh_flags`, alignment, entry size.
    pub(super) const ALL: [(Made, &'static str, u32, u32, u64, u64); 11] = {
        const R: u32 = elf::SHF_ALLOC;
        const RW: u32 = elf::SHF_ALLOC | elf::SHF_WRITE;
        [
            (Made::DynSym, ".dynsym", elf::SHT_DYNSYM, R, 8, 24),
            (Made::GnuHash, ".gnu.hash", elf::SHT_GNU_HASH, R, 8, 0),
            (Made::Hash, ".hash", elf::SHT_HASH, R, 4, 4),
            (Made::DynStr, ".dynstr", elf::SHT_STRTAB, R, 1, 0),
            (Made::RelaDyn, ".rela.dyn", elf::SHT_RELA, R, 8, 24),
            (Made::Dynamic, ".dynamic", elf::SHT_DYNAMIC, RW, 8, 16),
            (Made::Got, ".got", elf::SHT_PROGBITS, RW, 8, 0),
            (Made::RelroPadding, ".relro_padding", elf::SHT_NOBITS, RW, 1, 0),
            (Made::SymTab, ".symtab", elf::SHT_SYMTAB, 0, 8, 24),
            (Made::ShStrTab, ".shstrtab", elf::SHT_STRTAB, 0, 1, 0),
            (Made::StrTab, ".strtab", elf::SHT_STRTAB, 0, 1, 0),
        ]
    };
}

/// The contents of a part of an output section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    /// A section of the module.
    Input(usize),
    /// Several mergeable sections merged into one, which contains each entry once.
    Merged(usize),
    /// Memory of a `SymbolPlace::Common` symbol, or the end of the call frames.
    Zeros,
    /// A section created by the linker.
    Made(Made),
}

/// A part of an output section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) content: Content,
    pub(super) align: u64,
    pub(super) size: u64,
    /// The N of `.init_array.N`, by which parts are sorted.
    pub(super) priority: u32,
    /// The byte offset in the output section.
    pub(super) offset: u64,
}

/// An output section.
#[derive(Clone, Debug)]
pub(super) struct Output<'m> {
    pub(super) name: Cow<'m, str>,
    /// `sh_type`.
    pub(super) kind: u32,
    /// `sh_flags`.
    pub(super) flags: u64,
    pub(super) align: u64,
    pub(super) entry_size: u64,
    pub(super) parts: Vec<Part>,
    pub(super) size: u64,
    pub(super) address: u64,
    /// The offset in the file.
    pub(super) offset: u64,
    /// The number of the section header; 0 if the section is not written because it is unnecessary.
    pub(super) index: u32,
}

const ALLOC: u64 = elf::SHF_ALLOC as u64;
const WRITE: u64 = elf::SHF_WRITE as u64;
const EXEC: u64 = elf::SHF_EXECINSTR as u64;

impl<'m> Output<'m> {
    pub(super) fn new(name: Cow<'m, str>, kind: u32, flags: u64, entry_size: u64) -> Output<'m> {
        Output {
            name,
            kind,
            flags,
            align: 1,
            entry_size,
            parts: Vec::new(),
            size: 0,
            address: 0,
            offset: 0,
            index: 0,
        }
    }

    /// Which of the linker's own sections this is; `None` for other sections.
    pub(super) fn made(&self) -> Option<Made> {
        match self.parts.first()?.content {
            Content::Made(made) => Some(made),
            _ => None,
        }
    }

    pub(super) fn is_loaded(&self) -> bool {
        self.flags & ALLOC != 0
    }

    pub(super) fn has_bytes(&self) -> bool {
        self.kind != elf::SHT_NOBITS
    }

    pub(super) fn is_note(&self) -> bool {
        self.kind == elf::SHT_NOTE && self.is_loaded()
    }

    /// True if the section becomes read-only after the loader has filled in addresses.
    pub(super) fn is_relro(&self) -> bool {
        const KINDS: [u32; 3] = [elf::SHT_INIT_ARRAY, elf::SHT_FINI_ARRAY, elf::SHT_PREINIT_ARRAY];
        const NAMES: [&str; 12] = [
            ".bss.rel.ro",
            ".ctors",
            ".data.rel.ro",
            ".dtors",
            ".dynamic",
            ".eh_frame",
            ".fini_array",
            ".got",
            ".init_array",
            ".jcr",
            ".preinit_array",
            ".relro_padding",
        ];
        self.is_loaded()
            && self.flags & WRITE != 0
            && (KINDS.contains(&self.kind) || NAMES.contains(&&*self.name))
    }

    /// The `p_flags` of a segment with this section.
    pub(super) fn segment_flags(&self) -> u32 {
        let write = if self.flags & WRITE != 0 { elf::PF_W } else { 0 };
        let execute = if self.flags & EXEC != 0 { elf::PF_X } else { 0 };
        elf::PF_R | write | execute
    }

    /// The sort key of sections in the file: read-only sections (notes first, data last), code, data that becomes read-only, other data,
    /// and sections that are not loaded. In each group, sections without file bytes come last.
    pub(super) fn rank(&self) -> (bool, u8, bool, bool) {
        if !self.is_loaded() {
            return (true, 0, false, false);
        }
        let class = match (self.flags & WRITE != 0, self.flags & EXEC != 0) {
            (false, false) if self.kind == elf::SHT_NOTE => 0,
            (false, false) if self.kind == elf::SHT_NOBITS => 2,
            (false, false) if self.kind != elf::SHT_PROGBITS => 1,
            (false, false) => 3,
            (false, true) => 4,
            (true, true) => 5,
            (true, false) => 6,
        };
        (false, class, class == 6 && !self.is_relro(), !self.has_bytes())
    }
}

/// The output section for an input section's name.
pub(super) fn output_name(input: &str) -> &str {
    const PREFIXES: [&str; 17] = [
        ".text",
        ".data.rel.ro",
        ".data",
        ".rodata",
        ".bss.rel.ro",
        ".bss",
        ".ldata",
        ".lrodata",
        ".lbss",
        ".gcc_except_table",
        ".init_array",
        ".fini_array",
        ".ctors",
        ".dtors",
        ".sbss",
        ".sdata",
        ".srodata",
    ];
    let fits = |prefix: &str| {
        let rest = input.strip_prefix(prefix)?;
        (rest.is_empty() || rest.starts_with('.')).then_some(&input[..prefix.len()])
    };
    PREFIXES.into_iter().find_map(fits).unwrap_or(input)
}
