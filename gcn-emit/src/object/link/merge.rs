//! Mergeable sections (`SHF_MERGE`): equal strings or constants of an output section are stored only once.
//!
//! Each linker orders the entries in its own way. The order here is that of LLVM's linker, so that files can be compared: 32 groups by the
//! upper bits of a hash, and in each group the order of first appearance.

use std::collections::HashMap;

use object::elf;

use super::super::{LinkFault, Module, ObjectError, Section};
use super::section_fault;

/// Flags, entry size, and the alignment for strings.
pub(super) type MergeKey = (u64, u64, u64);

/// The number of groups of pieces; the highest bits of a piece's hash select its group.
const GROUPS: usize = 32;

/// A string or constant of an input section.
struct Piece {
    /// The offset in the input section.
    from: u64,
    /// The offset in the merged section.
    to: u64,
}

/// The merged contents of all mergeable sections of one output section with equal flags, entry size and alignment.
pub(super) struct Merged<'m> {
    flags: u64,
    entry_size: u64,
    align: u64,
    /// The input sections, in order.
    inputs: Vec<usize>,
    /// The pieces of each input section, in ascending order of offset.
    pieces: Vec<Vec<Piece>>,
    /// The entries of the merged section: offset and bytes.
    pub(super) kept: Vec<(u64, &'m [u8])>,
    pub(super) size: u64,
}

/// True for a section whose pieces may be merged, which must not be writable or have relocations.
pub(super) fn is_mergeable(section: &Section) -> bool {
    let flag = |flag: u32| section.flags & u64::from(flag) != 0;
    flag(elf::SHF_MERGE)
        && !flag(elf::SHF_WRITE)
        && section.kind != elf::SHT_NOBITS
        && section.entry_size > 0
        && !section.bytes.is_empty()
        && section.relocations.is_empty()
}

impl<'m> Merged<'m> {
    pub(super) fn new(section: &Section) -> Merged<'m> {
        Merged {
            flags: section.flags,
            entry_size: section.entry_size,
            align: section.align,
            inputs: Vec::new(),
            pieces: Vec::new(),
            kept: Vec::new(),
            size: 0,
        }
    }

    /// The properties that two sections must share to be merged.
    pub(super) fn key(section: &Section) -> MergeKey {
        let is_text = section.flags & u64::from(elf::SHF_STRINGS) != 0;
        (section.flags, section.entry_size, if is_text { section.align } else { 0 })
    }

    /// Adds an input section; returns its index in the list of inputs.
    pub(super) fn add(&mut self, input: usize, align: u64) -> usize {
        self.align = self.align.max(align);
        self.inputs.push(input);
        self.inputs.len() - 1
    }

    pub(super) fn align(&self) -> u64 {
        self.align
    }

    /// Splits the inputs into pieces and merges them, after all inputs have been added. `bytes_of` returns the bytes of an input section.
    pub(super) fn merge(
        &mut self,
        module: &'m Module,
        bytes_of: impl Fn(usize) -> &'m [u8],
    ) -> Result<(), ObjectError> {
        let is_text = self.flags & u64::from(elf::SHF_STRINGS) != 0;
        let mut groups: Vec<Group<'m>> = (0..GROUPS).map(|_| Group::default()).collect();
        let mut places = Vec::new();
        // The hash of a string does not include its terminating zero.
        let closing = if is_text { usize::try_from(self.entry_size).unwrap_or(0) } else { 0 };
        for &input in &self.inputs {
            let bytes = bytes_of(input);
            let ends =
                if is_text { texts(bytes, self.entry_size) } else { constants(bytes, self.entry_size) };
            let ends = ends.map_err(|fault| section_fault(module, input, None, fault))?;
            let mut from = 0;
            let mut list = Vec::with_capacity(ends.len());
            for end in ends {
                let piece = &bytes[from..end];
                let hashed = &bytes[from..end - closing];
                let group = (twox_hash::XxHash3_64::oneshot(hashed) as u32 >> 27) as usize;
                list.push((from as u64, group, groups[group].add(piece, self.align)));
                from = end;
            }
            places.push(list);
        }
        let mut at = 0u64;
        let mut starts = [0; GROUPS];
        for (start, group) in starts.iter_mut().zip(&groups) {
            if group.size > 0 {
                at = at.next_multiple_of(self.align);
            }
            *start = at;
            self.kept.extend(group.kept.iter().map(|(offset, bytes)| (at + offset, *bytes)));
            at += group.size;
        }
        self.size = at;
        let place = |(from, group, to): (u64, usize, u64)| Piece { from, to: starts[group] + to };
        self.pieces = places.into_iter().map(|list| list.into_iter().map(place).collect()).collect();
        Ok(())
    }

    /// The offset in the merged section of the byte at `offset` of input number `input`; `None` if the input has no such byte.
    pub(super) fn offset_of(&self, input: usize, offset: u64) -> Option<u64> {
        let pieces = self.pieces.get(input)?;
        let piece = pieces.get(pieces.partition_point(|p| p.from <= offset).checked_sub(1)?)?;
        piece.to.checked_add(offset - piece.from)
    }
}

/// The pieces with a certain range of hashes.
#[derive(Default)]
struct Group<'m> {
    known: HashMap<&'m [u8], u64>,
    kept: Vec<(u64, &'m [u8])>,
    size: u64,
}

impl<'m> Group<'m> {
    fn add(&mut self, piece: &'m [u8], align: u64) -> u64 {
        if let Some(offset) = self.known.get(piece) {
            return *offset;
        }
        let offset = self.size.next_multiple_of(align);
        self.known.insert(piece, offset);
        self.kept.push((offset, piece));
        self.size = offset + piece.len() as u64;
        offset
    }
}

/// The ends of the strings, including the terminating zero.
fn texts(bytes: &[u8], entry_size: u64) -> Result<Vec<usize>, LinkFault> {
    let width = usize::try_from(entry_size).unwrap_or(usize::MAX);
    if !bytes.len().is_multiple_of(width) {
        return Err(LinkFault::Unterminated);
    }
    let is_zero = |(_, unit): &(usize, &[u8])| unit.iter().all(|b| *b == 0);
    let ends: Vec<_> =
        bytes.chunks(width).enumerate().filter(is_zero).map(|(i, _)| (i + 1) * width).collect();
    if ends.last() == Some(&bytes.len()) { Ok(ends) } else { Err(LinkFault::Unterminated) }
}

/// The ends of the constants.
fn constants(bytes: &[u8], entry_size: u64) -> Result<Vec<usize>, LinkFault> {
    let width = usize::try_from(entry_size).unwrap_or(usize::MAX);
    if !bytes.len().is_multiple_of(width) {
        return Err(LinkFault::Unsupported {
            what: "the size of a mergeable section is not a multiple of its entry size",
            remedy: "complete the last entry",
        });
    }
    Ok((1..=bytes.len() / width).map(|i| i * width).collect())
}
