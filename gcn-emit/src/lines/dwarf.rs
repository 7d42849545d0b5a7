//! The line tables of an object's DWARF, read with gimli.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use gimli::{Dwarf, EndianSlice, LineProgramHeader, LittleEndian, Unit};
use object::elf::SHF_COMPRESSED;

use super::{SourceLines, SourcePlace};
use crate::object::CodeObject;

type Bytes<'d> = EndianSlice<'d, LittleEndian>;
type Starts = BTreeMap<u64, Option<SourcePlace>>;

impl SourceLines {
    /// The lines in the object's DWARF (`clang -g`, `-gline-tables-only`). An object without DWARF has none,
    /// and broken DWARF gives the lines before the fault: an error about debug information would not help
    /// someone who debugs a kernel.
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
            ends: Vec::new(),
            seen: HashSet::new(),
        };
        // Lines before a fault are kept.
        let _ = reader.units();
        let Reader { mut starts, ends, .. } = reader;
        // The end of a sequence may be the start of another one, which takes precedence.
        ends.into_iter().for_each(|end| _ = starts.entry(end).or_insert(None));
        SourceLines { starts }
    }
}

struct Reader<'d> {
    dwarf: Dwarf<Bytes<'d>>,
    /// Bytes of line tables that may still be read. Tables do not overlap; if many units claimed the same
    /// bytes, reading them would take longer than the object is long.
    left: usize,
    starts: Starts,
    ends: Vec<u64>,
    /// Offsets of tables that have been read: units may share one.
    seen: HashSet<usize>,
}

impl<'d> Reader<'d> {
    fn units(&mut self) -> gimli::Result<()> {
        let mut headers = self.dwarf.units();
        while let Some(header) = headers.next()? {
            // A unit whose own data is broken says nothing about the next.
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
            // Line 0 is code that no line asked for.
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
        Ok(())
    }
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

    /// The path, relative to the directory of the compilation where it is below that.
    fn path(&self, header: &LineProgramHeader<Bytes<'d>>, number: u64) -> Option<String> {
        let text = |value| {
            let text = self.dwarf.attr_string(self.unit, value).ok()?;
            Some(text.to_string_lossy().into_owned())
        };
        let file = header.file(number)?;
        let name = text(file.path_name())?;
        // Directory 0 is that of the compilation.
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
