//! Writes sections with data, and the descriptors in them.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;

use object::elf;

use super::Printer;
use crate::descriptor::{DESCRIPTOR_ALIGN, DESCRIPTOR_BYTES};
use crate::disasm::names::written;
use crate::disasm::{data, descriptor};
use crate::object::{KernelCode, SectionView, SymbolView};

/// Sections that the linker creates.
const LINKERS: [&str; 6] = [".dynamic", ".relro_padding", ".got", ".got.plt", ".plt", "PT_LOAD"];
/// The largest alignment that is written: a page.
const MAX_ALIGN: u64 = 4096;

/// Something that begins at an offset of a section.
enum Place<'p, 'd> {
    Symbol(&'p SymbolView<'d>),
    /// A kernel's descriptor, with the kernel's number.
    Descriptor(usize, &'p KernelCode<'d>),
}

impl<'p, 'd> Printer<'p, 'd> {
    /// Writes the directive that begins a section, and its alignment.
    pub(super) fn section_header(&mut self, number: usize) {
        let Some(section) = self.object.sections.get(number) else { return };
        self.out.push('\n');
        let stands_for_text = section.is_code() && (section.name == "PT_LOAD" || section.name == ".text");
        match written(section.name) {
            _ if stands_for_text => self.out.push_str("\t.text\n"),
            Some(name) => {
                let flag = |bit: u32, letter| if section.flags & u64::from(bit) != 0 { letter } else { "" };
                let flags =
                    [flag(elf::SHF_ALLOC, "a"), flag(elf::SHF_WRITE, "w"), flag(elf::SHF_EXECINSTR, "x")]
                        .concat();
                let kind = if section.kind == elf::SHT_NOBITS { "nobits" } else { "progbits" };
                let _ = writeln!(self.out, "\t.section {name},\"{flags}\",@{kind}");
            }
            None => {
                let _ = writeln!(self.out, "\t.section .section{number} ; {:?}", section.name);
            }
        }
        if section.align.is_power_of_two() && (2..=MAX_ALIGN).contains(&section.align) {
            let _ = writeln!(self.out, "\t.p2align {}", section.align.ilog2());
        }
        if let Some(label) = self.disassembly.references.labels.get(&number) {
            let _ = writeln!(self.out, "{label}:");
        }
    }

    /// Writes a section with data. The numbers of the kernels whose descriptors are in the section are added to `descriptors`.
    pub(super) fn data_section(
        &mut self,
        number: usize,
        section: &'p SectionView<'d>,
        descriptors: &mut HashSet<usize>,
    ) {
        let is_data = matches!(section.kind, elf::SHT_PROGBITS | elf::SHT_NOBITS);
        let is_own =
            is_data && !LINKERS.contains(&section.name) && !self.disassembly.repeated.contains(&number);
        if !section.is_loaded() || section.is_code() || !is_own {
            return;
        }
        let size = if section.kind == elf::SHT_NOBITS { section.size } else { section.bytes.len() as u64 };
        let places = self.places(number, section);
        if size == 0 && places.is_empty() {
            return;
        }
        self.section_header(number);
        let mut at = 0;
        for (offset, place) in places {
            if offset < at || offset > size {
                // The symbol or descriptor is inside a range that was already written, or outside of the section.
                continue;
            }
            self.content(number, section, at..offset);
            at = offset;
            match place {
                Place::Symbol(symbol) => self.define(symbol),
                Place::Descriptor(kernel_number, kernel) => {
                    self.descriptor(kernel);
                    descriptors.insert(kernel_number);
                    at += DESCRIPTOR_BYTES as u64;
                }
            }
        }
        self.content(number, section, at..size);
    }

    /// The symbols and descriptors of a section, sorted by offset.
    fn places(&self, number: usize, section: &SectionView<'d>) -> Vec<(u64, Place<'p, 'd>)> {
        let symbols = self.symbols_of(number, section.address);
        let mut places = Vec::with_capacity(symbols.len());
        for (offset, symbol) in symbols {
            let kernel = symbol.name.strip_suffix(".kd").and_then(|name| self.kernels.get(name)).copied();
            // The assembler's directive always writes the descriptor to `.rodata`.
            let fits = section.name == ".rodata"
                && offset.is_multiple_of(DESCRIPTOR_ALIGN)
                && section.bytes_at(symbol.address, DESCRIPTOR_BYTES as u64).is_some();
            match kernel {
                Some(kernel) if fits => {
                    places.push((offset, Place::Descriptor(kernel, &self.object.kernels[kernel])));
                }
                Some(_) => {}
                None => places.push((offset, Place::Symbol(symbol))),
            }
        }
        places
    }

    /// Writes the data between two offsets of a section.
    fn content(&mut self, number: usize, section: &SectionView<'_>, range: Range<u64>) {
        let Range { start, end } = range;
        if start >= end {
            return;
        }
        if section.kind == elf::SHT_NOBITS {
            let _ = writeln!(self.out, "\t.zero {}", end - start);
            return;
        }
        let address = |offset: u64| section.address.wrapping_add(offset);
        let bytes = |from: u64, to: u64| section.bytes_at(from, to.wrapping_sub(from)).unwrap_or_default();
        let mut at = address(start);
        for (place, reference) in self.disassembly.references.within(number, address(start)..address(end)) {
            if let Some(directive) = reference.directive().filter(|_| place >= at) {
                data::write(&mut self.out, bytes(at, place));
                let _ = writeln!(self.out, "\t{directive}");
                at = place.wrapping_add(reference.width());
            }
        }
        data::write(&mut self.out, bytes(at, address(end)));
    }

    /// Writes a kernel's descriptor: as directives that produce its bytes or, if that is not possible, as bytes.
    pub(super) fn descriptor(&mut self, kernel: &KernelCode<'_>) {
        let Some(name) = written(kernel.name) else {
            let _ = writeln!(
                self.out,
                "; the descriptor of a kernel whose name cannot be written: {:?}",
                kernel.name
            );
            return;
        };
        match descriptor::directives(kernel.descriptor_bytes, self.object.target_id) {
            Ok(directives) => {
                let _ = writeln!(self.out, "\t.p2align 6\n\t.amdhsa_kernel {name}");
                for (directive, value) in directives {
                    let _ = writeln!(self.out, "\t\t{directive} {value}");
                }
                self.out.push_str("\t.end_amdhsa_kernel\n");
            }
            Err(reason) => {
                let Some(symbol) = written(&format!("{}.kd", kernel.name)).map(std::borrow::Cow::into_owned)
                else {
                    return;
                };
                let _ = writeln!(
                    self.out,
                    "\t.p2align 6\n\t.globl {symbol}\n\t.type {symbol},@object\n{symbol}: ; {reason}\n\t.size {symbol}, 64"
                );
                data::write(&mut self.out, &kernel.descriptor_bytes[..16]);
                let _ = writeln!(self.out, "\t.quad {name}-{symbol}");
                data::write(&mut self.out, &kernel.descriptor_bytes[24..]);
            }
        }
    }
}
