//! Which line of which source the code at an address came from: of an assembled file its own lines, of a compiled object
//! what its DWARF says.

mod dwarf;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::asm::Assembly;
use crate::object::{CodeObject, Linked, ObjectError, link_placed};

/// A place in a source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourcePlace {
    /// The file, or any text that says where.
    pub file: Arc<str>,
    /// Line, from 1; 0 if `file` says it all.
    pub line: u32,
    /// Column, from 1; 0 for the whole line.
    pub column: u32,
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
            if self.column > 0 {
                write!(f, ":{}", self.column)?;
            }
        }
        Ok(())
    }
}

/// The places of all code of an object, by address.
#[derive(Clone, Default, Debug)]
pub struct SourceLines {
    /// Each holds up to the next; `None` where nothing is known.
    starts: BTreeMap<u64, Option<SourcePlace>>,
}

impl SourceLines {
    /// What the object's DWARF says (`clang -g`, `-gline-tables-only`). An object without it has no lines, and DWARF that is
    /// broken has those before the fault: who debugs a kernel is not helped by an error about its debug information.
    pub fn of_object(object: &CodeObject<'_>) -> SourceLines {
        dwarf::lines(object)
    }

    /// The place of the code at an address.
    pub fn at(&self, address: u64) -> Option<&SourcePlace> {
        self.starts.range(..=address).next_back().and_then(|(_, place)| place.as_ref())
    }

    /// True if no place is known.
    pub fn is_empty(&self) -> bool {
        self.starts.values().all(Option::is_none)
    }

    fn of_assembly(file: &str, assembly: &Assembly, addresses: &[Option<u64>]) -> SourceLines {
        let file: Arc<str> = file.into();
        let mut starts = BTreeMap::new();
        for inst in &assembly.instructions {
            let Some(Some(section)) = addresses.get(inst.section.0 as usize) else { continue };
            let place = SourcePlace { file: file.clone(), line: inst.line, column: 0 };
            starts.insert(section + inst.offset, Some(place));
        }
        SourceLines { starts }
    }
}

/// Texts that say where the code from an address on comes from.
impl From<BTreeMap<u32, String>> for SourceLines {
    fn from(texts: BTreeMap<u32, String>) -> SourceLines {
        let place = |text: String| SourcePlace { file: text.into(), line: 0, column: 0 };
        SourceLines { starts: texts.into_iter().map(|(at, text)| (at.into(), Some(place(text)))).collect() }
    }
}

impl Assembly {
    /// The code object as [`Assembly::code_object`] makes it, and which line of the assembly file, called `file`, each
    /// instruction in it has. Without [`Options::keep_instructions`](crate::asm::Options::keep_instructions) no line is known.
    ///
    /// # Errors
    /// Those of [`Assembly::code_object`].
    pub fn code_object_with_lines(&self, file: &str) -> Result<(Vec<u8>, SourceLines), ObjectError> {
        let Linked { bytes, addresses } = link_placed(&self.module)?;
        Ok((bytes, SourceLines::of_assembly(file, self, &addresses)))
    }
}
