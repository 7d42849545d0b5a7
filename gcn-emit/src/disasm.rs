//! Code objects back to assembly.
//!
//! [`disassemble`] finds the code of an object, its labels and what is not an instruction in it; it never fails.
//! [`Disassembly::to_assembly`] writes the whole object as an assembly file: assembled again, it has the same
//! bytes in `.text`, and descriptors with the same bits. [`CodeSection::items`] gives the instructions one by
//! one, decoded as they are asked for, so that a listing of any length needs no more memory than its labels.
//!
//! Bytes that cannot be written as an instruction are written as `.long`, with the reason as a comment: words that are
//! no instruction, and the rare encodings that no text has (see [`Content::Unprintable`]).
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
mod sweep;

use std::collections::{BTreeMap, HashSet};

use gcn_isa::{Inst, Target};

use crate::decode::DecodeFault;
use crate::object::CodeObject;

pub use sweep::{CodeSection, Items};

/// Options of the listing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options<'o> {
    /// The code, descriptor and metadata of this kernel alone. A name that no kernel has gives a file without
    /// code: [`Disassembly::has_kernel`] tells.
    pub kernel: Option<&'o str>,
    /// Writes the address and machine code of each instruction as a comment after it, as `llvm-objdump` does.
    pub bytes: bool,
}

/// A code object taken apart.
#[derive(Clone, Debug)]
pub struct Disassembly<'o, 'd> {
    object: &'o CodeObject<'d>,
    /// The target.
    pub target: Target,
    /// Sections with code, in the order of the object.
    pub sections: Vec<CodeSection<'d>>,
    /// Numbers of the symbols of each section, by address.
    symbols: BTreeMap<usize, Vec<usize>>,
    /// Sections whose bytes are those of an earlier one, too: only a damaged file has them, and they are not
    /// repeated.
    repeated: HashSet<usize>,
}

/// A piece of code: an instruction or something that is none.
#[derive(Clone, Debug)]
pub struct Item<'d> {
    /// Address in the object; of an object that is not linked, the offset in the section.
    pub address: u64,
    /// Its bytes.
    pub bytes: &'d [u8],
    /// The contents.
    pub content: Content,
}

/// The description of zeros among code.
pub const ZEROS: &str = "zeros, as padding";

impl Item<'_> {
    /// True for a dword of zeros: it pads code. As an instruction it would be
    /// `v_cndmask_b32_e32 v0, s0, v0, vcc`, which reads two scalar values, as no target can.
    pub fn is_padding(&self) -> bool {
        self.bytes == [0; 4]
    }
}

/// The contents of a piece of code.
#[derive(Clone, Debug)]
pub enum Content {
    /// An instruction. Branch distances are the values of their fields; [`CodeSection::destination`] gives
    /// their target.
    Inst(Inst),
    /// An instruction in an encoding that its text does not lead back to, such as a literal where the
    /// assembler writes an inline constant.
    Unprintable(Inst),
    /// No instruction of the target.
    Undecodable(DecodeFault),
    /// Data: part of a symbol of type `STT_OBJECT`, or bytes that are too few for an instruction.
    Data,
}

/// Disassembles a code object. Any object gives a result: bytes that are not instructions become data.
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
    Disassembly { object, target, sections, symbols, repeated }
}

/// Sections that share bytes of the file with an earlier one.
fn repeated(object: &CodeObject<'_>) -> HashSet<usize> {
    // Begin and end of the ranges that are taken, which do not overlap.
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

    /// The object, or one kernel of it, as an assembly file.
    ///
    /// Sections, symbols with their types, sizes and visibility, labels at branch targets, data, one
    /// `.amdhsa_kernel` for each descriptor (data, where no directive expresses a bit that is set), and the
    /// metadata. Assembled again, code is the same byte for byte; relocations that a linker has applied stay
    /// applied, so code that refers to another section by distance expects it where it was.
    pub fn to_assembly(&self, options: &Options<'_>) -> String {
        print::Printer::new(self.object, self, options).file()
    }
}
