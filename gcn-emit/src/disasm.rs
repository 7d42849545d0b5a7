//! Disassembles code objects.
//!
//! [`disassemble`] finds the code of an object, its labels, and the bytes in it that are not instructions; it never
//! fails. [`Disassembly::to_assembly`] writes the whole object as an assembly file: when assembled again, it has the
//! same bytes in `.text`, and descriptors with the same bits. [`CodeSection::items`] returns the instructions one by
//! one, decoded on demand, so that a listing of any length needs memory only for its labels.
//!
//! Bytes that cannot be expressed as an instruction are written as `.long`, with the reason as a comment: words that
//! are not instructions, and the rare encodings that no text produces (see [`Content::Unprintable`]).
//!
//! ```
//! # use gcn_emit::{disasm, object::read_code_object};
//! # fn demo(file: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
//! let object = read_code_object(file)?;
//! let disassembly = disasm::disassemble(&object);
//! println!("{}", disassembly.to_assembly(&disasm::Options::default()));
//! # Ok(())
//! # }
//! ```

mod data;
mod descriptor;
mod names;
mod print;
mod references;
mod sweep;

use std::collections::{BTreeMap, HashSet};

use gcn_isa::{Inst, Target};

use crate::decode::DecodeFault;
use crate::object::CodeObject;

pub use sweep::{CodeSection, Items};

/// Options of the listing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options<'o> {
    /// If given, only the code, descriptor and metadata of this kernel are written. If no kernel has this name, the file contains no code;
    /// [`Disassembly::has_kernel`] tells whether a kernel exists.
    pub kernel: Option<&'o str>,
    /// Writes the address and machine code of each instruction as a comment after it, as `llvm-objdump` does.
    pub bytes: bool,
    /// Comments for instructions.
    pub notes: Option<&'o Notes>,
}

/// Comments for instructions, by the number of the section and the address.
pub type Notes = BTreeMap<(usize, u64), String>;

/// A disassembled code object.
#[derive(Clone, Debug)]
pub struct Disassembly<'o, 'd> {
    object: &'o CodeObject<'d>,
    /// The target.
    pub target: Target,
    /// The sections with code, in the order of the object.
    pub sections: Vec<CodeSection<'d>>,
    /// The indices of each section's symbols, sorted by address.
    symbols: BTreeMap<usize, Vec<usize>>,
    /// Sections that share bytes of the file with an earlier section. They occur only in damaged files, and their bytes are written only
    /// once.
    repeated: HashSet<usize>,
    /// The values that a linker or loader computes.
    references: references::References,
}

/// A piece of code: an instruction, or bytes that are not one.
#[derive(Clone, Debug)]
pub struct Item<'d> {
    /// The address in the object; if the object is not linked, the offset in the section.
    pub address: u64,
    /// The bytes of the piece.
    pub bytes: &'d [u8],
    /// The contents.
    pub content: Content,
}

/// The description of zeros in code.
pub const ZEROS: &str = "zeros, as padding";

impl Item<'_> {
    /// The address of the byte after the piece.
    pub fn end(&self) -> u64 {
        self.address.wrapping_add(self.bytes.len() as u64)
    }

    /// True for a dword of zeros, which is padding. Decoded as an instruction it would be `v_cndmask_b32_e32 v0, s0, v0, vcc`, which reads
    /// two scalar values; no target allows that.
    pub fn is_padding(&self) -> bool {
        self.bytes == [0; 4]
    }
}

/// The contents of a piece of code.
#[derive(Clone, Debug)]
pub enum Content {
    /// An instruction. Branch distances are the raw values of their fields; [`CodeSection::destination`] returns their
    /// targets.
    Inst(Inst),
    /// An instruction whose text would be assembled to a different encoding, for example because the assembler emits an inline constant
    /// instead of the literal.
    Unprintable(Inst),
    /// Not an instruction of the target.
    Undecodable(DecodeFault),
    /// Data: a part of a symbol of type `STT_OBJECT`, or too few bytes for an instruction.
    Data,
}

/// Disassembles a code object. This succeeds for every object: bytes that are not instructions become data.
pub fn disassemble<'o, 'd>(object: &'o CodeObject<'d>) -> Disassembly<'o, 'd> {
    let target = object.target_id.target;
    let mut symbols: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, symbol) in object.symbols.iter().enumerate() {
        if let Some(section) = symbol.section {
            symbols.entry(section).or_default().push(number);
        }
    }
    for numbers in symbols.values_mut() {
        numbers.sort_by_key(|&number| object.symbols[number].address);
    }
    let repeated = repeated(object);
    let names = names::Names::new(object);
    let code = object.sections.iter().enumerate().filter(|(n, s)| s.is_code() && !repeated.contains(n));
    let sections = code
        .map(|(number, section)| {
            let own = symbols.get(&number).map_or(&[][..], Vec::as_slice);
            let own = own.iter().map(|&s| &object.symbols[s]);
            CodeSection::new(number, section, own, object, &names)
        })
        .collect();
    let references = references::References::new(object, &names, &repeated);
    Disassembly { object, target, sections, symbols, repeated, references }
}

/// Sections that share bytes of the file with an earlier one.
fn repeated(object: &CodeObject<'_>) -> HashSet<usize> {
    // The start and end of the byte ranges seen so far, which do not overlap.
    let mut taken: BTreeMap<u64, u64> = BTreeMap::new();
    let mut repeated = HashSet::new();
    for (number, section) in object.sections.iter().enumerate().filter(|(_, s)| !s.bytes.is_empty()) {
        let end = section.offset.saturating_add(section.bytes.len() as u64);
        if taken.range(..end).next_back().is_some_and(|(_, last)| *last > section.offset) {
            repeated.insert(number);
        } else {
            taken.insert(section.offset, end);
        }
    }
    repeated
}

impl Disassembly<'_, '_> {
    /// True if the object has a kernel with this name.
    pub fn has_kernel(&self, name: &str) -> bool {
        self.object.kernel(name).is_some()
    }

    /// The object, or one of its kernels, as an assembly file.
    ///
    /// The file contains sections, symbols with their types, sizes and visibility, labels at branch targets, data, one `.amdhsa_kernel` for
    /// each descriptor (or data, if a bit is set that no directive can express), and the metadata. When assembled again, the code is the
    /// same byte for byte. Values that a linker or loader still has to compute are written as expressions, for example
    /// `table@rel32@lo+4`. Relocations that a linker has applied remain applied, so code that refers to another section by distance
    /// requires that section to be at the same distance again.
    pub fn to_assembly(&self, options: &Options<'_>) -> String {
        print::Printer::new(self.object, self, options).file()
    }
}
