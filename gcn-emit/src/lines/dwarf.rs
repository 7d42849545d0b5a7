//! The line tables of an object's DWARF, read with gimli.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use gimli::{DebuggingInformationEntry, Dwarf, EndianSlice, LineProgramHeader, LittleEndian, Unit};
use object::elf::SHF_COMPRESSED;

use super::{Call, Inlined, SourceLines, SourcePlace};
use crate::object::CodeObject;

type Bytes<'d> = EndianSlice<'d, LittleEndian>;
type Starts = BTreeMap<u64, Option<SourcePlace>>;

impl SourceLines {
    /// The lines in the object's DWARF (`clang -g`, `-gline-tables-only`). An object without DWARF has no lines. Broken DWARF gives the
    /// lines before the error, because an error about debug information would not help someone who debugs a kernel.
    pub fn of_object(object: &CodeObject<'_>) -> SourceLines {
        let section = |name: &str| {
            let plain = object.section(name).filter(|s| s.flags & u64::from(SHF_COMPRESSED) == 0);
            EndianSlice::new(plain.map_or(&[][..], |s| s.bytes), LittleEndian)
        };
        let Ok(dwarf) = Dwarf::load(|id| Ok::<_, gimli::Error>(section(id.name()))) else {
            return SourceLines::default();
        };
        let mut reader = Reader {
            left: section(".debug_line").len(),
            dwarf,
            starts: Starts::new(),
            inlined: Inlined::default(),
            ends: Vec::new(),
            seen: HashSet::new(),
        };
        // If the DWARF is broken, the lines before the error are kept.
        let _ = reader.units();
        let Reader { mut starts, ends, inlined, .. } = reader;
        // The end of a sequence may also be the start of another one, which takes precedence.
        ends.into_iter().for_each(|end| _ = starts.entry(end).or_insert(None));
        SourceLines { starts, inlined }
    }
}

struct Reader<'d> {
    dwarf: Dwarf<Bytes<'d>>,
    /// The number of bytes of line tables that may still be read. Tables do not overlap; if many units claimed the same
    /// bytes, reading them would take longer than linear time in the object's size.
    left: usize,
    starts: Starts,
    inlined: Inlined,
    ends: Vec<u64>,
    /// The offsets of tables that have been read, because several units may share a table.
    seen: HashSet<usize>,
}

impl<'d> Reader<'d> {
    fn units(&mut self) -> gimli::Result<()> {
        let mut headers = self.dwarf.units();
        while let Some(header) = headers.next()? {
            // A unit that is broken does not affect the next one.
            if let Ok(unit) = self.dwarf.unit(header) {
                let _ = self.table(&unit);
            }
        }
        Ok(())
    }

    fn table(&mut self, unit: &Unit<Bytes<'d>>) -> gimli::Result<()> {
        let Some(program) = unit.line_program.clone() else { return Ok(()) };
        let size = program.header().unit_length();
        if !self.seen.insert(program.header().offset().0) || size > self.left {
            return Ok(());
        }
        self.left -= size;
        let mut files = Files { unit, dwarf: &self.dwarf, known: BTreeMap::new() };
        let mut rows = program.rows();
        while let Some((header, row)) = rows.next_row()? {
            if row.end_sequence() {
                self.ends.push(row.address());
                continue;
            }
            // Line 0 marks code that does not belong to any line.
            let place = row.line().and_then(|line| {
                let column = match row.column() {
                    gimli::ColumnType::LeftEdge => 0,
                    gimli::ColumnType::Column(column) => u32::try_from(column.get()).unwrap_or(0),
                };
                let line = u32::try_from(line.get()).ok()?;
                Some(SourcePlace { file: files.name(header, row.file_index())?, line, column, note: None })
            });
            self.starts.insert(row.address(), place);
        }
        let header = rows.header().clone();
        self.inlined.read(&mut files, &header)
    }
}

impl Inlined {
    /// Reads the calls of inlined functions in a unit.
    fn read<'d>(
        &mut self,
        files: &mut Files<'_, 'd>,
        header: &LineProgramHeader<Bytes<'d>>,
    ) -> gimli::Result<()> {
        let (dwarf, unit) = (files.dwarf, files.unit);
        // The functions that enclose an entry, by depth: the declaration of each, and the index of the inlined call to which it belongs, if
        // any.
        let mut around: Vec<(isize, Declared, Option<usize>)> = Vec::new();
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            let depth = entry.depth();
            while around.pop_if(|(outer, ..)| *outer >= depth).is_some() {}
            if entry.tag() == gimli::DW_TAG_subprogram {
                around.push((depth, declared(unit, entry), None));
            }
            if entry.tag() != gimli::DW_TAG_inlined_subroutine {
                continue;
            }
            let (caller, outer) = around.last().map_or((None, None), |(_, caller, call)| (*caller, *call));
            let callee = declared(unit, entry);
            let number = |name| entry.attr_value(name).and_then(|value| value.udata_value());
            let file = entry.attr_value(gimli::DW_AT_call_file).and_then(|value| match value {
                gimli::AttributeValue::FileIndex(file) => Some(file),
                other => other.udata_value(),
            });
            // clang creates two functions for an OpenCL kernel, one of which calls the other; that call is not shown.
            let place = file.filter(|_| callee.is_none() || callee != caller).and_then(|file| {
                let file = files.name(header, file)?;
                let line = u32::try_from(number(gimli::DW_AT_call_line)?).ok()?;
                let column =
                    number(gimli::DW_AT_call_column).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
                Some(SourcePlace { file, line, column, note: None })
            });
            // If the position of a call is unknown, the code gets the call that encloses it.
            let call = match place {
                Some(at) => {
                    self.calls.push(Call { at, outer });
                    Some(self.calls.len() - 1)
                }
                None => outer,
            };
            around.push((depth, callee, call));
            let Some(call) = call else { continue };
            let mut ranges = dwarf.die_ranges(unit, entry)?;
            while let Some(range) = ranges.next()? {
                self.assign(range.begin..range.end, call);
            }
        }
        Ok(())
    }
}

/// The file and line of a function's declaration.
type Declared = Option<(u64, u64)>;

/// The position at which a function is declared: its entry contains the position, or refers to an entry that does.
fn declared(unit: &Unit<Bytes<'_>>, entry: &DebuggingInformationEntry<Bytes<'_>>) -> Declared {
    let of = |entry: &DebuggingInformationEntry<Bytes<'_>>| {
        let file = entry.attr_value(gimli::DW_AT_decl_file).and_then(|value| match value {
            gimli::AttributeValue::FileIndex(file) => Some(file),
            other => other.udata_value(),
        });
        Some((file?, entry.attr_value(gimli::DW_AT_decl_line)?.udata_value()?))
    };
    let origin = |entry: &DebuggingInformationEntry<Bytes<'_>>| match entry
        .attr_value(gimli::DW_AT_abstract_origin)
        .or_else(|| entry.attr_value(gimli::DW_AT_specification))
    {
        Some(gimli::AttributeValue::UnitRef(offset)) => unit.entry(offset).ok(),
        _ => None,
    };
    of(entry).or_else(|| {
        let first = origin(entry)?;
        of(&first).or_else(|| of(&origin(&first)?))
    })
}

/// The files of a unit, by their numbers.
struct Files<'r, 'd> {
    unit: &'r Unit<Bytes<'d>>,
    dwarf: &'r Dwarf<Bytes<'d>>,
    known: BTreeMap<u64, Option<Arc<str>>>,
}

impl<'d> Files<'_, 'd> {
    fn name(&mut self, header: &LineProgramHeader<Bytes<'d>>, number: u64) -> Option<Arc<str>> {
        if let Some(name) = self.known.get(&number) {
            return name.clone();
        }
        let name = self.path(header, number).map(Arc::from);
        self.known.insert(number, name.clone());
        name
    }

    /// The path of a file, relative to the compilation directory if the file is below that directory.
    fn path(&self, header: &LineProgramHeader<Bytes<'d>>, number: u64) -> Option<String> {
        let text = |value| {
            let text = self.dwarf.attr_string(self.unit, value).ok()?;
            Some(text.to_string_lossy().into_owned())
        };
        let file = header.file(number)?;
        let name = text(file.path_name())?;
        // Directory 0 is the compilation directory.
        if file.directory_index() == 0 || name.starts_with('/') {
            return Some(name);
        }
        let folder = file.directory(header).and_then(text).unwrap_or_default();
        let base = self.unit.comp_dir.map(|d| d.to_string_lossy().into_owned()).unwrap_or_default();
        let below = folder.strip_prefix(&base).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let folder =
            below.filter(|_| !base.is_empty()).map_or(folder.as_str(), |r| r.trim_start_matches('/'));
        let folder = folder.trim_start_matches("./");
        Some(if folder.is_empty() { name } else { format!("{folder}/{name}") })
    }
}
