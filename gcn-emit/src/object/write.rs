//! A code object from kernels: the ELF file that LLVM's linker would make.
//!
//! Four regions follow each other in the file, each on its own pages when loaded: headers, note, symbols and descriptors
//! (read only); code; the dynamic table; and what no loader reads.

use std::collections::HashSet;

use object::Endianness;
use object::elf;
use object::write::StringId;
use object::write::elf::{FileHeader, ProgramHeader, SectionHeader, SectionIndex, Sym, Writer};

use super::hash::{self, GnuShape};
use super::layout::{self, Code, KERNEL_ALIGN};
use super::{ABI_VERSION_V5, ELFOSABI_AMDGPU_HSA, ObjectError, note};
use crate::descriptor::{DESCRIPTOR_ALIGN, DESCRIPTOR_BYTES};
use crate::kernel::KernelSpec;
use crate::metadata::Metadata;

/// Page size of the segments.
const PAGE: u64 = 0x1000;
/// `DT_` entries of the dynamic table, the closing `DT_NULL` included.
const DYNAMIC_ENTRIES: usize = 7;
/// `PT_` entries.
const SEGMENTS: u32 = 8;

/// Writes a code object (V5) that holds `kernels`, for `hipModuleLoad` and the HSA loader.
///
/// ```
/// use gcn_emit::kernel::{KernelSpec, WorkgroupSize};
/// use gcn_emit::object::{read_code_object, write_code_object};
/// use gcn_emit::text::parse_program;
/// use gcn_isa::Target;
///
/// let program = parse_program("v_mov_b32 v3, 0\ns_endpgm", Target::GFX942, "nothing")?;
/// let kernel = KernelSpec::new(program, WorkgroupSize::AtMost(256));
/// let bytes = write_code_object(&[kernel])?;
/// let object = read_code_object(&bytes)?;
/// assert_eq!(object.kernels[0].name, "nothing");
/// assert_eq!(object.kernels[0].code, [0x80, 0x02, 0x06, 0x7e, 0x00, 0x00, 0x81, 0xbf]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// An [`ObjectError`]: a kernel breaks a rule ([`KernelSpec::check`]), cannot be encoded, or does not go together with the
/// others.
pub fn write_code_object(kernels: &[KernelSpec]) -> Result<Vec<u8>, ObjectError> {
    check(kernels)?;
    let symbols = Symbols::of(kernels);
    let note = note::metadata_note(&Metadata::of(kernels).to_msgpack());
    let code = layout::code(kernels)?;
    let mut bytes = Vec::new();
    let image = Image { kernels, symbols: &symbols, note: &note, code: &code };
    image.write(&mut Writer::new(Endianness::Little, true, &mut bytes))?;
    Ok(bytes)
}

fn check(kernels: &[KernelSpec]) -> Result<(), ObjectError> {
    let want = kernels.first().ok_or(ObjectError::NoKernels)?.target_id();
    let mut symbols = HashSet::new();
    for kernel in kernels {
        kernel.check()?;
        let name = || kernel.name().to_owned();
        if kernel.target_id() != want {
            return Err(ObjectError::MixedTargets { kernel: name(), have: kernel.target_id(), want });
        }
        for symbol in [name(), kernel.descriptor_symbol()] {
            if let Some(symbol) = symbols.replace(symbol) {
                return Err(ObjectError::DuplicateSymbol { kernel: name(), symbol });
            }
        }
    }
    Ok(())
}

/// A dynamic symbol.
struct Symbol {
    name: String,
    /// Index of the kernel.
    kernel: usize,
    /// The descriptor, not the code.
    is_descriptor: bool,
}

/// The dynamic symbols in the order of their table: by bucket of the GNU hash table.
struct Symbols {
    list: Vec<Symbol>,
    shape: GnuShape,
}

impl Symbols {
    fn of(kernels: &[KernelSpec]) -> Symbols {
        let code = |(kernel, spec): (usize, &KernelSpec)| Symbol {
            name: spec.name().to_owned(),
            kernel,
            is_descriptor: false,
        };
        let descriptor = |(kernel, spec): (usize, &KernelSpec)| Symbol {
            name: spec.descriptor_symbol(),
            kernel,
            is_descriptor: true,
        };
        let numbered = || kernels.iter().enumerate();
        let mut list: Vec<Symbol> = numbered().map(code).chain(numbered().map(descriptor)).collect();
        let shape = GnuShape::of(list.len() as u32);
        list.sort_by_key(|s| hash::gnu(s.name.as_bytes()) % shape.buckets);
        Symbols { list, shape }
    }
}

/// Everything that goes into the file.
struct Image<'a> {
    kernels: &'a [KernelSpec],
    symbols: &'a Symbols,
    note: &'a [u8],
    code: &'a Code,
}

/// Numbers and names of the sections that the writer does not know by itself.
struct Sections {
    note: StringId,
    rodata: (SectionIndex, StringId),
    text: (SectionIndex, StringId),
    dynamic: SectionIndex,
    relro_padding: StringId,
}

/// Names of a symbol in the two string tables.
struct Names {
    dynamic: Vec<StringId>,
    plain: Vec<StringId>,
    dynamic_table: StringId,
}

/// A range of the file that is loaded at an address.
#[derive(Clone, Copy)]
struct Place {
    offset: u64,
    address: u64,
    size: u64,
}

/// Where everything is.
struct Layout {
    note: Place,
    dynsym: Place,
    gnu_hash: Place,
    hash: Place,
    dynstr: Place,
    rodata: Place,
    text: Place,
    dynamic: Place,
    /// What is missing from the end of `dynamic` to the end of its page.
    relro_padding: u64,
}

impl<'a> Image<'a> {
    fn write(&self, w: &mut Writer<'a>) -> Result<(), ObjectError> {
        let sections = reserve_sections(w);
        let names = self.reserve_names(w);
        let layout = self.reserve(w);
        let header = FileHeader {
            os_abi: ELFOSABI_AMDGPU_HSA,
            abi_version: ABI_VERSION_V5,
            e_type: elf::ET_DYN,
            e_machine: elf::EM_AMDGPU,
            e_entry: 0,
            e_flags: self.kernels.first().map_or(0, |k| k.target_id().elf_flags()),
        };
        w.write_file_header(&header).map_err(|e| ObjectError::Elf(e.to_string()))?;
        write_program_headers(w, &layout);
        self.write_read_only(w, &layout, &sections, &names);
        w.pad_until(layout.text.offset as usize);
        w.write(&self.code.bytes);
        write_dynamic(w, &layout);
        w.write_null_symbol();
        w.write_symbol(&dynamic_table_symbol(&layout, &sections, &names));
        for symbol in self.symbols(&layout, &sections, &names.plain) {
            w.write_symbol(&symbol);
        }
        w.write_shstrtab();
        w.write_strtab();
        self.write_section_headers(w, &layout, &sections);
        Ok(())
    }

    fn reserve_names(&self, w: &mut Writer<'a>) -> Names {
        let symbols = &self.symbols.list;
        w.reserve_null_dynamic_symbol_index();
        w.reserve_null_symbol_index();
        w.reserve_symbol_index(None);
        let dynamic_table = w.add_string(b"_DYNAMIC");
        let mut names = Names { dynamic: Vec::new(), plain: Vec::new(), dynamic_table };
        for symbol in symbols {
            w.reserve_dynamic_symbol_index();
            w.reserve_symbol_index(None);
            names.dynamic.push(w.add_dynamic_string(symbol.name.as_bytes()));
            names.plain.push(w.add_string(symbol.name.as_bytes()));
        }
        names
    }

    /// Gives everything its place. What is written later has to come in this order.
    fn reserve(&self, w: &mut Writer<'a>) -> Layout {
        let here = |offset: usize, end: usize, page: u64| Place {
            offset: offset as u64,
            address: offset as u64 + page * PAGE,
            size: (end - offset) as u64,
        };
        let count = self.symbols.list.len() as u32;
        let shape = &self.symbols.shape;
        w.reserve_file_header();
        w.reserve_program_headers(SEGMENTS);
        let at = w.reserve(self.note.len(), note::ALIGN);
        let note = here(at, w.reserved_len(), 0);
        let at = w.reserve_dynsym();
        let dynsym = here(at, w.reserved_len(), 0);
        let at = w.reserve_gnu_hash(shape.bloom_words, shape.buckets, count);
        let gnu_hash = here(at, w.reserved_len(), 0);
        let at = w.reserve_hash(count + 1, count + 1);
        let hash = here(at, w.reserved_len(), 0);
        let at = w.reserve_dynstr();
        let dynstr = here(at, w.reserved_len(), 0);
        let at = w.reserve(self.kernels.len() * DESCRIPTOR_BYTES, DESCRIPTOR_ALIGN as usize);
        let rodata = here(at, w.reserved_len(), 0);
        let at = w.reserve(self.code.bytes.len(), KERNEL_ALIGN as usize);
        let text = here(at, w.reserved_len(), 1);
        let at = w.reserve_dynamic(DYNAMIC_ENTRIES);
        let dynamic = here(at, w.reserved_len(), 2);
        w.reserve_symtab();
        w.reserve_shstrtab();
        w.reserve_strtab();
        w.reserve_section_headers();
        let end = dynamic.address + dynamic.size;
        let relro_padding = end.next_multiple_of(PAGE) - end;
        Layout { note, dynsym, gnu_hash, hash, dynstr, rodata, text, dynamic, relro_padding }
    }

    fn write_read_only(&self, w: &mut Writer<'a>, layout: &Layout, sections: &Sections, names: &Names) {
        w.pad_until(layout.note.offset as usize);
        w.write(self.note);
        w.write_null_dynamic_symbol();
        for symbol in self.symbols(layout, sections, &names.dynamic) {
            w.write_dynamic_symbol(&symbol);
        }
        let list = &self.symbols.list;
        let shape = &self.symbols.shape;
        let name = |i: u32| list.get(i as usize).map_or(&[][..], |s| s.name.as_bytes());
        let count = list.len() as u32;
        w.write_gnu_hash(1, shape.bloom_shift, shape.bloom_words, shape.buckets, count, |i| {
            hash::gnu(name(i))
        });
        w.write_hash(count + 1, count + 1, |i| i.checked_sub(1).map(|i| hash::sysv(name(i))));
        w.write_dynstr();
        w.pad_until(layout.rodata.offset as usize);
        w.write(&layout::descriptors(self.kernels, self.code, layout.rodata.address, layout.text.address));
    }

    fn symbols(&self, layout: &Layout, sections: &Sections, names: &[StringId]) -> Vec<Sym> {
        let make = |(symbol, name): (&Symbol, &StringId)| {
            let span = self.code.kernels[symbol.kernel];
            let (kind, section, st_value, st_size) = if symbol.is_descriptor {
                let address = layout.rodata.address + (symbol.kernel * DESCRIPTOR_BYTES) as u64;
                (elf::STT_OBJECT, sections.rodata.0, address, DESCRIPTOR_BYTES as u64)
            } else {
                (elf::STT_FUNC, sections.text.0, layout.text.address + span.offset, span.size)
            };
            Sym {
                name: Some(*name),
                section: Some(section),
                st_info: elf::STB_GLOBAL << 4 | kind,
                st_other: elf::STV_PROTECTED,
                st_shndx: 0,
                st_value,
                st_size,
            }
        };
        self.symbols.list.iter().zip(names).map(make).collect()
    }

    fn write_section_headers(&self, w: &mut Writer<'a>, layout: &Layout, sections: &Sections) {
        let header = |name, sh_type, sh_flags: u32, place: Place, align| SectionHeader {
            name: Some(name),
            sh_type,
            sh_flags: sh_flags.into(),
            sh_addr: place.address,
            sh_offset: place.offset,
            sh_size: place.size,
            sh_link: 0,
            sh_info: 0,
            sh_addralign: align,
            sh_entsize: 0,
        };
        let alloc = elf::SHF_ALLOC;
        w.write_null_section_header();
        w.write_section_header(&header(sections.note, elf::SHT_NOTE, alloc, layout.note, note::ALIGN as u64));
        w.write_dynsym_section_header(layout.dynsym.address, 1);
        w.write_gnu_hash_section_header(layout.gnu_hash.address);
        w.write_hash_section_header(layout.hash.address);
        w.write_dynstr_section_header(layout.dynstr.address);
        let rodata = header(sections.rodata.1, elf::SHT_PROGBITS, alloc, layout.rodata, DESCRIPTOR_ALIGN);
        w.write_section_header(&rodata);
        let code = alloc | elf::SHF_EXECINSTR;
        w.write_section_header(&header(sections.text.1, elf::SHT_PROGBITS, code, layout.text, KERNEL_ALIGN));
        w.write_dynamic_section_header(layout.dynamic.address);
        let padding = Place {
            offset: layout.dynamic.offset + layout.dynamic.size,
            address: layout.dynamic.address + layout.dynamic.size,
            size: layout.relro_padding,
        };
        let data = alloc | elf::SHF_WRITE;
        w.write_section_header(&header(sections.relro_padding, elf::SHT_NOBITS, data, padding, 1));
        // The null symbol and _DYNAMIC are local.
        w.write_symtab_section_header(2);
        w.write_shstrtab_section_header();
        w.write_strtab_section_header();
    }
}

fn reserve_sections(w: &mut Writer<'_>) -> Sections {
    let named = |w: &mut Writer<'_>, name: &'static [u8]| {
        let name = w.add_section_name(name);
        (w.reserve_section_index(), name)
    };
    w.reserve_null_section_index();
    let note = named(w, b".note").1;
    w.reserve_dynsym_section_index();
    w.reserve_gnu_hash_section_index();
    w.reserve_hash_section_index();
    w.reserve_dynstr_section_index();
    let rodata = named(w, b".rodata");
    let text = named(w, b".text");
    let dynamic = w.reserve_dynamic_section_index();
    let relro_padding = named(w, b".relro_padding").1;
    w.reserve_symtab_section_index();
    w.reserve_shstrtab_section_index();
    w.reserve_strtab_section_index();
    Sections { note, rodata, text, dynamic, relro_padding }
}

fn dynamic_table_symbol(layout: &Layout, sections: &Sections, names: &Names) -> Sym {
    Sym {
        name: Some(names.dynamic_table),
        section: Some(sections.dynamic),
        st_info: elf::STB_LOCAL << 4 | elf::STT_NOTYPE,
        st_other: elf::STV_HIDDEN,
        st_shndx: 0,
        st_value: layout.dynamic.address,
        st_size: 0,
    }
}

fn write_program_headers(w: &mut Writer<'_>, layout: &Layout) {
    let headers = Place { offset: 64, address: 64, size: u64::from(SEGMENTS) * 56 };
    let first = Place { offset: 0, address: 0, size: layout.rodata.offset + layout.rodata.size };
    let nothing = Place { offset: 0, address: 0, size: 0 };
    let (r, w_, x) = (elf::PF_R, elf::PF_W, elf::PF_X);
    let padding = layout.relro_padding;
    let segments = [
        (elf::PT_PHDR, r, headers, 0, 8),
        (elf::PT_LOAD, r, first, 0, PAGE),
        (elf::PT_LOAD, r | x, layout.text, 0, PAGE),
        (elf::PT_LOAD, r | w_, layout.dynamic, padding, PAGE),
        (elf::PT_DYNAMIC, r | w_, layout.dynamic, 0, 8),
        (elf::PT_GNU_RELRO, r, layout.dynamic, padding, 1),
        (elf::PT_GNU_STACK, r | w_, nothing, 0, 0),
        (elf::PT_NOTE, r, layout.note, 0, note::ALIGN as u64),
    ];
    w.write_align_program_headers();
    for (p_type, p_flags, place, more, p_align) in segments {
        w.write_program_header(&ProgramHeader {
            p_type,
            p_flags,
            p_offset: place.offset,
            p_vaddr: place.address,
            p_paddr: place.address,
            p_filesz: place.size,
            p_memsz: place.size + more,
            p_align,
        });
    }
}

fn write_dynamic(w: &mut Writer<'_>, layout: &Layout) {
    w.write_align_dynamic();
    let entries: [(u32, u64); DYNAMIC_ENTRIES] = [
        (elf::DT_SYMTAB, layout.dynsym.address),
        (elf::DT_SYMENT, 24),
        (elf::DT_STRTAB, layout.dynstr.address),
        (elf::DT_STRSZ, layout.dynstr.size),
        (elf::DT_GNU_HASH, layout.gnu_hash.address),
        (elf::DT_HASH, layout.hash.address),
        (elf::DT_NULL, 0),
    ];
    for (tag, value) in entries {
        w.write_dynamic(tag, value);
    }
}
