//! A code object before linking: sections, symbols and relocations, as an assembler or a compiler produces them.

use object::elf;

use crate::target_id::{GENERIC_VERSION, TargetId};
use crate::version::CodeObjectVersion;

/// Sections, symbols and relocations of one object: the content of a `.o` file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// The processor and its feature settings.
    pub target_id: TargetId,
    /// The version of the code object format.
    pub version: CodeObjectVersion,
    /// The sections, in the order in which they were first named.
    pub sections: Vec<Section>,
    /// The symbols, in the order in which they were first named, except for assembler-local ones (`.L…`).
    pub symbols: Vec<Symbol>,
}

impl Module {
    /// A module without sections and symbols.
    pub fn new(target_id: TargetId, version: CodeObjectVersion) -> Module {
        Module { target_id, version, sections: Vec::new(), symbols: Vec::new() }
    }

    /// The `e_flags` for the target ID. Only in V6 do they include the version of a generic target.
    pub(crate) fn elf_flags(&self) -> u32 {
        let flags = self.target_id.elf_flags();
        if self.version >= CodeObjectVersion::V6 { flags } else { flags & !GENERIC_VERSION }
    }
}

/// The index of a section in [`Module::sections`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SectionId(pub u32);

/// The index of a symbol in [`Module::symbols`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolId(pub u32);

/// A section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// The section's name, such as `.text`.
    pub name: String,
    /// `sh_type`: `SHT_PROGBITS`, `SHT_NOTE`, `SHT_NOBITS` …
    pub kind: u32,
    /// `sh_flags`: `SHF_ALLOC`, `SHF_EXECINSTR`, `SHF_WRITE`, `SHF_MERGE`, `SHF_STRINGS` …
    pub flags: u64,
    /// The alignment in bytes, a power of two.
    pub align: u64,
    /// The size of an entry in a section with `SHF_MERGE`, otherwise 0.
    pub entry_size: u64,
    /// The content; empty for `SHT_NOBITS`.
    pub bytes: Vec<u8>,
    /// The size in bytes: `bytes.len()`, or the size in memory of a `SHT_NOBITS` section.
    pub size: u64,
    /// The relocations, in ascending order of offset: places whose values depend on addresses.
    pub relocations: Vec<Relocation>,
}

impl Section {
    /// A section with content, alignment 1 and no relocations.
    pub fn new(name: impl Into<String>, kind: u32, flags: u64, bytes: Vec<u8>) -> Section {
        let size = bytes.len() as u64;
        let relocations = Vec::new();
        Section { name: name.into(), kind, flags, align: 1, entry_size: 0, bytes, size, relocations }
    }

    /// True if its bytes are instructions (`SHF_EXECINSTR`).
    pub fn is_code(&self) -> bool {
        self.flags & u64::from(elf::SHF_EXECINSTR) != 0
    }

    /// A section with instructions, aligned to 4 bytes.
    pub fn code(name: impl Into<String>, bytes: Vec<u8>) -> Section {
        let flags = u64::from(elf::SHF_ALLOC | elf::SHF_EXECINSTR);
        Section { align: 4, ..Section::new(name, elf::SHT_PROGBITS, flags, bytes) }
    }
}

/// A place in a section whose value depends on an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// Byte offset in the section.
    pub offset: u64,
    /// The kind of value.
    pub kind: RelocationKind,
    /// The symbol or section to which the value is relative.
    pub base: RelocationBase,
    /// The number that is added to the address.
    pub addend: i64,
}

/// The base of a relocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RelocationBase {
    /// A symbol's address.
    Symbol(SymbolId),
    /// A section's address (for a local label that has no symbol).
    Section(SectionId),
}

/// `R_AMDGPU_*` (guide, *Relocation Records*), by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u32)]
pub enum RelocationKind {
    /// Low 32 bits of S + A.
    Abs32Lo = 1,
    /// High 32 bits of S + A.
    Abs32Hi = 2,
    /// S + A, 64 bits.
    Abs64 = 3,
    /// S + A - P, 32 bits.
    Rel32 = 4,
    /// S + A - P, 64 bits.
    Rel64 = 5,
    /// S + A, 32 bits; an error if the value does not fit.
    Abs32 = 6,
    /// G + GOT + A - P, 32 bits.
    GotPcRel = 7,
    /// Low 32 bits of G + GOT + A - P.
    GotPcRel32Lo = 8,
    /// High 32 bits of G + GOT + A - P.
    GotPcRel32Hi = 9,
    /// Low 32 bits of S + A - P.
    Rel32Lo = 10,
    /// High 32 bits of S + A - P.
    Rel32Hi = 11,
    /// (S + A - P - 4) / 4, 16 bits: the distance of a branch.
    Rel16 = 14,
}

impl RelocationKind {
    /// The number of `R_AMDGPU_RELATIVE64`, which only the loader applies: it writes the object's address plus the addend.
    pub const RELATIVE64: u32 = 13;

    /// Every kind that an object file can contain, with its name in the guide and the specifier after `@` that asks for it in assembly. For
    /// a kind without a specifier, the place of the symbol decides.
    const ALL: [(RelocationKind, &'static str, Option<&'static str>); 12] = [
        (RelocationKind::Abs32Lo, "R_AMDGPU_ABS32_LO", Some("abs32@lo")),
        (RelocationKind::Abs32Hi, "R_AMDGPU_ABS32_HI", Some("abs32@hi")),
        (RelocationKind::Abs64, "R_AMDGPU_ABS64", Some("abs64")),
        (RelocationKind::Rel32, "R_AMDGPU_REL32", None),
        (RelocationKind::Rel64, "R_AMDGPU_REL64", Some("rel64")),
        (RelocationKind::Abs32, "R_AMDGPU_ABS32", None),
        (RelocationKind::GotPcRel, "R_AMDGPU_GOTPCREL", Some("gotpcrel")),
        (RelocationKind::GotPcRel32Lo, "R_AMDGPU_GOTPCREL32_LO", Some("gotpcrel32@lo")),
        (RelocationKind::GotPcRel32Hi, "R_AMDGPU_GOTPCREL32_HI", Some("gotpcrel32@hi")),
        (RelocationKind::Rel32Lo, "R_AMDGPU_REL32_LO", Some("rel32@lo")),
        (RelocationKind::Rel32Hi, "R_AMDGPU_REL32_HI", Some("rel32@hi")),
        (RelocationKind::Rel16, "R_AMDGPU_REL16", None),
    ];

    /// Every kind that an object file can contain.
    pub fn all() -> impl Iterator<Item = RelocationKind> {
        RelocationKind::ALL.iter().map(|row| row.0)
    }

    /// The kind with this number; `None` if there is none.
    pub fn from_number(number: u32) -> Option<RelocationKind> {
        RelocationKind::all().find(|kind| kind.number() == number)
    }

    /// The kind for which a specifier asks, written without the `@`; `None` if there is none.
    #[cfg(feature = "tools")]
    pub(crate) fn specified(specifier: &str) -> Option<RelocationKind> {
        let is_named = |name: Option<&str>| name.is_some_and(|name| name.eq_ignore_ascii_case(specifier));
        RelocationKind::ALL.iter().find(|row| is_named(row.2)).map(|row| row.0)
    }

    /// The specifier after `@` that asks for this kind; `None` if there is none.
    #[cfg(feature = "tools")]
    pub(crate) fn specifier(self) -> Option<&'static str> {
        RelocationKind::ALL.iter().find(|row| row.0 == self).and_then(|row| row.2)
    }

    /// The number in `r_info`.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The name in the guide.
    pub fn name(self) -> &'static str {
        RelocationKind::ALL.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }

    /// The number of bytes that are written at the place.
    pub const fn width(self) -> u64 {
        match self {
            RelocationKind::Abs64 | RelocationKind::Rel64 => 8,
            RelocationKind::Rel16 => 2,
            _ => 4,
        }
    }
}

/// A symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// The symbol's name.
    pub name: String,
    /// The symbol's location.
    pub place: SymbolPlace,
    /// The byte offset in the symbol's section; for an absolute symbol its value; for [`SymbolPlace::Lds`] and [`SymbolPlace::Common`] the
    /// alignment.
    pub value: u64,
    /// The size in bytes; 0 if unknown.
    pub size: u64,
    /// The kind of thing that the symbol names.
    pub kind: SymbolKind,
    /// Which files may refer to the symbol.
    pub binding: Binding,
    /// Where the symbol is visible after linking.
    pub visibility: Visibility,
}

/// The location of a symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolPlace {
    /// Defined elsewhere.
    Undefined,
    /// A number, not an address (`.set`).
    Absolute,
    /// In a section.
    Section(SectionId),
    /// In LDS (`.amdgpu_lds`, `SHN_AMDGPU_LDS`); the linker does not allocate it.
    Lds,
    /// Zeroed memory that the linker allocates (`.comm`, `SHN_COMMON`).
    Common,
}

/// `STT_*`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SymbolKind {
    /// `STT_NOTYPE`.
    #[default]
    None,
    /// `STT_OBJECT`.
    Object,
    /// `STT_FUNC`.
    Function,
    /// `STT_SECTION`.
    Section,
    /// `STT_FILE`.
    File,
    /// `STT_TLS`.
    Tls,
}

/// `STB_*`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Binding {
    /// `STB_LOCAL`.
    #[default]
    Local,
    /// `STB_GLOBAL`.
    Global,
    /// `STB_WEAK`.
    Weak,
}

/// `STV_*`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Visibility {
    /// `STV_DEFAULT`.
    #[default]
    Default,
    /// `STV_INTERNAL`.
    Internal,
    /// `STV_HIDDEN`.
    Hidden,
    /// `STV_PROTECTED`.
    Protected,
}

impl SymbolKind {
    /// The number in an ELF file.
    pub const fn number(self) -> u8 {
        match self {
            SymbolKind::None => elf::STT_NOTYPE,
            SymbolKind::Object => elf::STT_OBJECT,
            SymbolKind::Function => elf::STT_FUNC,
            SymbolKind::Section => elf::STT_SECTION,
            SymbolKind::File => elf::STT_FILE,
            SymbolKind::Tls => elf::STT_TLS,
        }
    }

    /// The kind with this number; `None` if there is none.
    pub fn from_number(number: u8) -> Option<SymbolKind> {
        let all = [
            SymbolKind::None,
            SymbolKind::Object,
            SymbolKind::Function,
            SymbolKind::Section,
            SymbolKind::File,
            SymbolKind::Tls,
        ];
        all.into_iter().find(|v| v.number() == number)
    }
}

impl Binding {
    /// The number in an ELF file.
    pub const fn number(self) -> u8 {
        match self {
            Binding::Local => elf::STB_LOCAL,
            Binding::Global => elf::STB_GLOBAL,
            Binding::Weak => elf::STB_WEAK,
        }
    }

    /// The binding with this number; `None` if there is none.
    pub fn from_number(number: u8) -> Option<Binding> {
        let all = [Binding::Local, Binding::Global, Binding::Weak];
        all.into_iter().find(|v| v.number() == number)
    }
}

impl Visibility {
    /// The number in an ELF file.
    pub const fn number(self) -> u8 {
        match self {
            Visibility::Default => elf::STV_DEFAULT,
            Visibility::Internal => elf::STV_INTERNAL,
            Visibility::Hidden => elf::STV_HIDDEN,
            Visibility::Protected => elf::STV_PROTECTED,
        }
    }

    /// The visibility with this number; `None` if there is none.
    pub fn from_number(number: u8) -> Option<Visibility> {
        let all = [Visibility::Default, Visibility::Internal, Visibility::Hidden, Visibility::Protected];
        all.into_iter().find(|v| v.number() == number)
    }
}
