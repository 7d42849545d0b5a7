//! The lines of an assembled file.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::asm::Assembly;
use crate::object::{Linked, ObjectError, link_placed};

use super::{SourceLines, SourcePlace};

impl SourceLines {
    fn of_assembly(file: &str, assembly: &Assembly, addresses: &[Option<u64>]) -> SourceLines {
        let file: Arc<str> = file.into();
        let mut starts = BTreeMap::new();
        for inst in &assembly.instructions {
            let Some(Some(section)) = addresses.get(inst.section.0 as usize) else { continue };
            let origin = inst.origin.and_then(|index| assembly.origins.get(index as usize));
            let note = origin.map(|origin| origin.to_string().into());
            let place = SourcePlace { file: file.clone(), line: inst.line, column: 0, note };
            starts.insert(section + inst.offset, Some(place));
        }
        SourceLines { starts, ..SourceLines::default() }
    }
}

impl Assembly {
    /// The code object that [`Assembly::code_object`] produces, and the line of each of its instructions in the assembly file, which is
    /// called `file`. Without [`Options::keep_instructions`](crate::asm::Options::keep_instructions), no line is known.
    ///
    /// # Errors
    /// The errors of [`Assembly::code_object`].
    pub fn code_object_with_lines(&self, file: &str) -> Result<(Vec<u8>, SourceLines), ObjectError> {
        let Linked { bytes, addresses } = link_placed(&self.module)?;
        Ok((bytes, SourceLines::of_assembly(file, self, &addresses)))
    }
}
