//! The unit, its subprograms with their parameters and inlined functions (3.1, 3.3), and the range lists (2.17.3) and
//! location lists (2.6.2) to which they refer.

use std::collections::BTreeMap;
use std::ops::Range;

use object::elf;

use super::Lines;
use super::bytes::{ADDRESS_BYTES, Bytes, STRING, UDATA, VERSION};
use super::parameters::Parameter;
use super::scopes::{Block, Inlined, Local};
use super::types::{Scalar, Type};
use crate::object::{RelocationKind, Section, SectionId};

const UNIT: u8 = 1;
const KERNEL: u8 = 2;
const FUNCTION: u8 = 3;
const INLINED: u8 = 4;
const PARAMETER: u8 = 5;
const BASE: u8 = 6;
const POINTER: u8 = 7;
const BLOCK: u8 = 8;
const VARIABLE: u8 = 9;
const ARRAY: u8 = 10;
const COUNT: u8 = 11;
const STRUCT: u8 = 12;
const MEMBER: u8 = 13;
const INLINED_LEAF: u8 = 14;
/// `DW_LANG_Rust` (7.12).
const RUST: u16 = 0x1c;

/// The abbreviations of the unit's entries (7.5.3): tag, whether the entry has children, attributes and forms.
#[rustfmt::skip]
const ABBREVIATIONS: &[u8] = &[
    UNIT, 0x11, 1,     // DW_TAG_compile_unit
        0x25, STRING,  // DW_AT_producer
        0x13, 0x05,    // DW_AT_language: DW_FORM_data2
        0x03, STRING,  // DW_AT_name
        0x10, 0x17,    // DW_AT_stmt_list: DW_FORM_sec_offset
        0x11, 0x01,    // DW_AT_low_pc: DW_FORM_addr
        0x12, 0x07,    // DW_AT_high_pc: DW_FORM_data8, a length
        0, 0,
    KERNEL, 0x2e, 1,   // DW_TAG_subprogram
        0x03, STRING,  // DW_AT_name
        0x11, 0x01,    // DW_AT_low_pc
        0x12, 0x07,    // DW_AT_high_pc
        0x3f, 0x19,    // DW_AT_external: DW_FORM_flag_present
        0x8a, 0x7c, 0x0b, // DW_AT_LLVM_lanes: DW_FORM_data1
        0, 0,
    FUNCTION, 0x2e, 0, // DW_TAG_subprogram
        0x03, STRING,  // DW_AT_name
        0x20, 0x0b,    // DW_AT_inline: DW_FORM_data1
        0, 0,
    INLINED, 0x1d, 1,  // DW_TAG_inlined_subroutine
        0x31, 0x13,    // DW_AT_abstract_origin: DW_FORM_ref4
        0x55, 0x17,    // DW_AT_ranges: DW_FORM_sec_offset
        0x58, UDATA,   // DW_AT_call_file
        0x59, UDATA,   // DW_AT_call_line
        0x57, UDATA,   // DW_AT_call_column
        0, 0,
    PARAMETER, 0x05, 0, // DW_TAG_formal_parameter
        0x03, STRING,  // DW_AT_name
        0x49, 0x13,    // DW_AT_type: DW_FORM_ref4
        0x02, 0x17,    // DW_AT_location: DW_FORM_sec_offset, a list
        0, 0,
    BASE, 0x24, 0,     // DW_TAG_base_type
        0x03, STRING,  // DW_AT_name
        0x3e, 0x0b,    // DW_AT_encoding: DW_FORM_data1
        0x0b, 0x0b,    // DW_AT_byte_size: DW_FORM_data1
        0, 0,
    POINTER, 0x0f, 0,  // DW_TAG_pointer_type
        0x03, STRING,  // DW_AT_name
        0x49, 0x13,    // DW_AT_type
        0, 0,
    BLOCK, 0x0b, 1,    // DW_TAG_lexical_block
        0x55, 0x17,    // DW_AT_ranges
        0, 0,
    VARIABLE, 0x34, 0, // DW_TAG_variable
        0x03, STRING,  // DW_AT_name
        0x3a, UDATA,   // DW_AT_decl_file
        0x3b, UDATA,   // DW_AT_decl_line
        0x49, 0x13,    // DW_AT_type
        0x02, 0x17,    // DW_AT_location
        0, 0,
    ARRAY, 0x01, 1,    // DW_TAG_array_type
        0x49, 0x13,    // DW_AT_type
        0, 0,
    COUNT, 0x21, 0,    // DW_TAG_subrange_type
        0x37, UDATA,   // DW_AT_count
        0, 0,
    STRUCT, 0x13, 1,   // DW_TAG_structure_type
        0x03, STRING,  // DW_AT_name
        0x0b, UDATA,   // DW_AT_byte_size
        0, 0,
    MEMBER, 0x0d, 0,   // DW_TAG_member
        0x03, STRING,  // DW_AT_name
        0x49, 0x13,    // DW_AT_type
        0x38, UDATA,   // DW_AT_data_member_location
        0, 0,
    INLINED_LEAF, 0x1d, 0, // DW_TAG_inlined_subroutine without entries in it
        0x31, 0x13,    // DW_AT_abstract_origin
        0x55, 0x17,    // DW_AT_ranges
        0x58, UDATA,   // DW_AT_call_file
        0x59, UDATA,   // DW_AT_call_line
        0x57, UDATA,   // DW_AT_call_column
        0, 0,
    0,
];

pub(super) fn abbreviations() -> Section {
    Section::new(".debug_abbrev", elf::SHT_PROGBITS, 0, ABBREVIATIONS.to_vec())
}

/// The sections to which the unit refers.
pub(super) struct Places<'u> {
    /// The name of the unit.
    pub(super) unit: &'u str,
    pub(super) text: SectionId,
    pub(super) abbreviations: SectionId,
    pub(super) lines: SectionId,
    pub(super) ranges: SectionId,
    pub(super) locations: SectionId,
}

/// The unit and the lists to which it refers.
pub(super) struct Info {
    pub(super) unit: Section,
    pub(super) ranges: Section,
    pub(super) locations: Section,
}

struct Writer<'p> {
    places: &'p Places<'p>,
    out: Bytes,
    ranges: Bytes,
    locations: Bytes,
    /// The entry of each inlined function, as an offset in the unit.
    functions: BTreeMap<&'static str, u32>,
    /// The entry of each type, as an offset in the unit.
    types: BTreeMap<Type, u32>,
}

/// The unit (7.5.1.1).
pub(super) fn info(kernels: &[Lines<'_>], places: &Places<'_>) -> Info {
    let start = kernels.first().map_or(0, |k| k.span.offset);
    let end = kernels.last().map_or(0, |k| k.span.offset + k.span.size);
    let mut writer = Writer {
        places,
        out: Bytes::default(),
        ranges: list(),
        locations: list(),
        functions: BTreeMap::new(),
        types: BTreeMap::new(),
    };
    writer.header(start, end);
    for kernel in kernels {
        writer.functions(&kernel.inlined, &kernel.blocks);
        kernel.parameters.iter().for_each(|p| _ = writer.type_entry(&p.ty));
        writer.types_of(&kernel.inlined, &kernel.blocks);
    }
    for kernel in kernels {
        let out = &mut writer.out;
        out.unsigned(KERNEL.into());
        out.string(kernel.kernel.name());
        out.address(RelocationKind::Abs64, 8, places.text, kernel.span.offset);
        out.bytes.extend(kernel.span.size.to_le_bytes());
        out.bytes.push(kernel.kernel.program.wave.lanes() as u8);
        let distance = kernel.span.offset - start;
        kernel.parameters.iter().for_each(|parameter| writer.parameter(parameter, distance));
        writer.blocks(&kernel.blocks, distance);
        writer.calls(&kernel.inlined, distance);
        // Ends the list of the kernel's children.
        writer.out.unsigned(0);
    }
    // Ends the list of the unit's children.
    writer.out.unsigned(0);
    writer.out.set_length(0);
    writer.ranges.set_length(0);
    writer.locations.set_length(0);
    Info {
        unit: writer.out.into_section(".debug_info"),
        ranges: writer.ranges.into_section(".debug_rnglists"),
        locations: writer.locations.into_section(".debug_loclists"),
    }
}

/// A section of lists up to the first list (7.28, 7.29): no segments, and no table of offsets.
fn list() -> Bytes {
    let mut out = Bytes { bytes: vec![0; 4], ..Bytes::default() };
    out.bytes.extend(VERSION.to_le_bytes());
    out.bytes.extend([ADDRESS_BYTES, 0, 0, 0, 0, 0]);
    out
}

impl Writer<'_> {
    fn header(&mut self, start: u64, end: u64) {
        const DW_UT_COMPILE: u8 = 1;
        let out = &mut self.out;
        out.bytes.extend([0; 4]);
        out.bytes.extend(VERSION.to_le_bytes());
        out.bytes.extend([DW_UT_COMPILE, ADDRESS_BYTES]);
        out.address(RelocationKind::Abs32, 4, self.places.abbreviations, 0);
        out.unsigned(UNIT.into());
        out.string(concat!("gcn-dsl ", env!("CARGO_PKG_VERSION")));
        out.bytes.extend(RUST.to_le_bytes());
        out.string(self.places.unit);
        out.address(RelocationKind::Abs32, 4, self.places.lines, 0);
        out.address(RelocationKind::Abs64, 8, self.places.text, start);
        out.bytes.extend((end - start).to_le_bytes());
    }

    /// Writes an entry for each function, to which its calls refer.
    fn functions(&mut self, calls: &[Inlined], blocks: &[Block]) {
        const DW_INL_INLINED: u8 = 1;
        for Inlined { call, inner, blocks, .. } in calls {
            let at = self.out.bytes.len() as u32;
            if *self.functions.entry(call.function).or_insert(at) == at {
                self.out.unsigned(FUNCTION.into());
                self.out.string(call.function);
                self.out.bytes.push(DW_INL_INLINED);
            }
            self.functions(inner, blocks);
        }
        blocks.iter().for_each(|block| self.functions(&block.calls, &block.inner));
    }

    /// Writes the types of variables.
    fn types_of(&mut self, calls: &[Inlined], blocks: &[Block]) {
        for block in blocks {
            block.variables.iter().for_each(|local| _ = self.type_entry(&local.ty));
            self.types_of(&block.calls, &block.inner);
        }
        calls.iter().for_each(|call| self.types_of(&call.inner, &call.blocks));
    }

    /// Writes the entry of a type, after the entries of its parts. Returns the entry's offset.
    fn type_entry(&mut self, ty: &Type) -> u32 {
        if let Some(at) = self.types.get(ty) {
            return *at;
        }
        let parts: Vec<u32> = match ty {
            Type::Scalar(_) => Vec::new(),
            Type::Pointer { to, .. } => vec![self.type_entry(&Type::Scalar(to.clone()))],
            Type::Array(of, _) => vec![self.type_entry(of)],
            Type::Struct(_, fields) => fields.iter().map(|field| self.type_entry(&field.1)).collect(),
        };
        let at = self.out.bytes.len() as u32;
        self.described(ty, &parts);
        self.types.insert(ty.clone(), at);
        at
    }

    /// Writes the entry of a type; `parts` are the offsets of the entries of its parts.
    fn described(&mut self, ty: &Type, parts: &[u32]) {
        let out = &mut self.out;
        let mut parts = parts.iter().map(|at| at.to_le_bytes());
        match ty {
            Type::Scalar(Scalar { name, encoding, bytes }) => {
                out.unsigned(BASE.into());
                out.string(name);
                out.bytes.extend([*encoding, *bytes]);
            }
            Type::Pointer { name, .. } => {
                out.unsigned(POINTER.into());
                out.string(name);
                out.bytes.extend(parts.flatten());
            }
            Type::Array(_, count) => {
                out.unsigned(ARRAY.into());
                out.bytes.extend(parts.flatten());
                out.unsigned(COUNT.into());
                out.unsigned(*count);
                out.unsigned(0);
            }
            Type::Struct(name, fields) => {
                out.unsigned(STRUCT.into());
                out.string(name);
                out.unsigned(ty.bytes());
                let mut at = 0;
                for (name, field) in fields {
                    out.unsigned(MEMBER.into());
                    out.string(name);
                    out.bytes.extend(parts.next().unwrap_or_default());
                    out.unsigned(at);
                    at += field.bytes();
                }
                out.unsigned(0);
            }
        }
    }

    /// Writes a parameter of a kernel whose code begins `kernel` bytes after the first code of the unit.
    fn parameter(&mut self, parameter: &Parameter, kernel: u64) {
        let ty = self.type_entry(&parameter.ty);
        self.out.unsigned(PARAMETER.into());
        self.out.string(&parameter.name);
        self.out.bytes.extend(ty.to_le_bytes());
        self.locations(parameter.ranges.iter().map(|range| (range, &parameter.location[..])), kernel);
    }

    /// Writes a list of locations, and a reference to it in the current entry.
    fn locations<'l>(&mut self, list: impl Iterator<Item = (&'l Range<u32>, &'l [u8])>, kernel: u64) {
        const DW_LLE_OFFSET_PAIR: u8 = 4;
        const DW_LLE_END_OF_LIST: u8 = 0;
        let at = self.locations.bytes.len() as u64;
        self.out.address(RelocationKind::Abs32, 4, self.places.locations, at);
        for (range, location) in list {
            self.locations.bytes.push(DW_LLE_OFFSET_PAIR);
            self.locations.unsigned(kernel + u64::from(range.start));
            self.locations.unsigned(kernel + u64::from(range.end));
            self.locations.unsigned(location.len() as u64);
            self.locations.bytes.extend(location);
        }
        self.locations.bytes.push(DW_LLE_END_OF_LIST);
    }

    /// Writes a list of ranges, and a reference to it in the current entry.
    fn ranges(&mut self, ranges: &[Range<u32>], kernel: u64) {
        const DW_RLE_OFFSET_PAIR: u8 = 4;
        const DW_RLE_END_OF_LIST: u8 = 0;
        self.out.address(RelocationKind::Abs32, 4, self.places.ranges, self.ranges.bytes.len() as u64);
        for range in ranges {
            self.ranges.bytes.push(DW_RLE_OFFSET_PAIR);
            self.ranges.unsigned(kernel + u64::from(range.start));
            self.ranges.unsigned(kernel + u64::from(range.end));
        }
        self.ranges.bytes.push(DW_RLE_END_OF_LIST);
    }

    /// Writes blocks with their variables.
    fn blocks(&mut self, blocks: &[Block], kernel: u64) {
        for block in blocks {
            self.out.unsigned(BLOCK.into());
            self.ranges(&block.ranges, kernel);
            for Local { name, file, line, ty, locations } in &block.variables {
                let ty = self.type_entry(ty);
                self.out.unsigned(VARIABLE.into());
                self.out.string(name);
                self.out.unsigned(*file);
                self.out.unsigned((*line).into());
                self.out.bytes.extend(ty.to_le_bytes());
                self.locations(locations.iter().map(|(range, at)| (range, &at[..])), kernel);
            }
            self.blocks(&block.inner, kernel);
            self.calls(&block.calls, kernel);
            self.out.unsigned(0);
        }
    }

    /// Writes the calls in a kernel whose code begins `kernel` bytes after the first code of the unit.
    fn calls(&mut self, calls: &[Inlined], kernel: u64) {
        for Inlined { call, file, ranges, inner, blocks } in calls {
            let leaf = inner.is_empty() && blocks.is_empty();
            self.out.unsigned(if leaf { INLINED_LEAF } else { INLINED }.into());
            self.out.bytes.extend(self.functions[call.function].to_le_bytes());
            self.ranges(ranges, kernel);
            for number in [*file, call.at.line.into(), call.at.column.into()] {
                self.out.unsigned(number);
            }
            if !leaf {
                self.blocks(blocks, kernel);
                self.calls(inner, kernel);
                self.out.unsigned(0);
            }
        }
    }
}
