//! The code of an assembled file or of an object, as programs that can be analysed.
//!
//! A [`Unit`] has one [`gcn_isa::Program`] for each section with code, which contains all functions of the section.
//! Branches lead to labels of the program; a branch that leaves the section, or whose target is not the start of an
//! instruction, keeps its numeric distance and is an unknown exit. Targets of jumps and calls through registers are
//! resolved as far as possible ([`resolve`](gcn_isa::cfg::resolve())). Padding between functions (`s_nop`,
//! `s_code_end`, zeros) is omitted. Bytes that are not instructions are listed in [`Code::unread`], and the program has
//! a gap there.
//!
//! ```
//! use gcn_emit::{asm, code::Unit};
//! use gcn_isa::check;
//!
//! let source = "
//!     .amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"
//!     global_load_dword v0, v[2:3], off
//!     v_mov_b32 v1, v0
//!     s_endpgm
//! ";
//! let options = asm::Options { keep_instructions: true, ..asm::Options::default() };
//! let assembly = asm::assemble("k.s", source, &options).unwrap();
//! let unit = Unit::of_assembly(&assembly).unwrap();
//! let code = &unit.sections[0];
//! let report = check::check(&code.program);
//! assert_eq!(report.findings[0].rule, "waitcnt.raw");
//! assert_eq!(code.places[report.findings[0].second].line, Some(4));
//! ```

mod assembly;
mod build;
mod functions;
mod image;
mod object;

use std::fmt;
use std::ops::Range;

use gcn_isa::cfg::Flow;
use gcn_isa::indexing::Indexing;
use gcn_isa::program::EntryKind;
use gcn_isa::table::Class;
use gcn_isa::{Program, Target, WaveSize};

use crate::asm::{Assembly, Origin, SourceFile, SourceLocation};
use crate::decode::DecodeFault;
use crate::descriptor::KernelDescriptor;
use crate::disasm::{Disassembly, Notes};
use crate::metadata::{KernelMetadata, Metadata};
use crate::object::CodeObject;
use crate::target_id::TargetId;

/// The code of a file.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The processor and its feature settings.
    pub target_id: TargetId,
    /// The sections that contain code, in file order.
    pub sections: Vec<Code>,
    /// The kernels, in the order of the file.
    pub kernels: Vec<KernelFacts>,
    /// `EI_ABIVERSION`: 1 is code object V3, 2 V4, 3 V5, 4 V6.
    pub abi_version: u8,
    /// The values of `amdhsa.target` and `amdhsa.version` in the metadata, if present.
    pub metadata: Option<MetadataFacts>,
    /// The source files to which [`CodePlace::location`] refers, by [`SourceFile::number`].
    pub files: Vec<SourceFile>,
    /// The origins to which [`CodePlace::origin`] refers.
    pub origins: Vec<Origin>,
}

/// A section of code.
#[derive(Clone, Debug)]
pub struct Code {
    /// The section's name.
    pub section: String,
    /// The address of the section's first byte in the object; 0 if the object is not linked.
    pub address: u64,
    /// The instructions of all functions of the section. The program has the name of the section.
    pub program: Program,
    /// The origin of each line of the program.
    pub places: Vec<CodePlace>,
    /// The functions, in order and without overlaps. Lines outside all functions have no symbol.
    pub functions: Vec<Function>,
    /// The bytes that could not be decoded as instructions, in order.
    pub unread: Vec<Unread>,
}

/// A function of a section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// The function's symbol. A part of the code that has no symbol, and that no branch leads to, is named after its
    /// section and offset; code without any function symbol is one function with the section's name.
    pub name: String,
    /// The function's lines.
    pub lines: Range<usize>,
    /// How the function is entered.
    pub kind: EntryKind,
}

/// Where an instruction comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodePlace {
    /// The byte offset in the section.
    pub offset: u64,
    /// The size of the instruction's machine code in bytes.
    pub length: u8,
    /// The line in the assembly file, from 1. `None` for objects, and for instructions that are written as data
    /// (`.long`) or that pad an alignment.
    pub line: Option<u32>,
    /// If `line` is that of a macro call, a repetition or an `.include`: the index of the instruction's origin in [`Unit::origins`].
    /// Otherwise `None`.
    pub origin: Option<u32>,
    /// The source line that the last `.loc` assigned; `None` if none has.
    pub location: Option<SourceLocation>,
}

/// Bytes of a section that are not instructions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unread {
    /// The byte offset in the section.
    pub offset: u64,
    /// The number of bytes.
    pub length: u64,
    /// The reason why the bytes are not instructions.
    pub why: Unreadable,
}

/// Why bytes are not instructions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unreadable {
    /// A symbol marks them as data, or there are too few bytes, or they are unreachable and the assembly file defines
    /// them by data directives.
    Data,
    /// The target has no such instruction. If several such words follow each other, this is the error for the first one.
    Undecodable(DecodeFault),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::Data => f.write_str("data"),
            Unreadable::Undecodable(fault) => write!(f, "no instruction: {fault}"),
        }
    }
}

/// A kernel, as the loader sees it.
#[derive(Clone, Debug)]
pub struct KernelFacts {
    /// The kernel's name.
    pub name: String,
    /// The kernel's descriptor.
    pub descriptor: KernelDescriptor,
    /// The kernel's metadata, if there is any.
    pub metadata: Option<KernelMetadata>,
    /// The kernel's first instruction: index in [`Unit::sections`], and line; `None` if there is no instruction.
    pub entry: Option<(usize, usize)>,
}

/// True if, according to the metadata of all kernels, a workgroup has at most one wave.
fn are_single_waves(kernels: &[KernelFacts], target: Target) -> bool {
    let is_single = |k: &KernelFacts| {
        k.metadata.as_ref().is_some_and(|m| (1..=target.wave_size()).contains(&m.max_flat_workgroup_size))
    };
    !kernels.is_empty() && kernels.iter().all(is_single)
}

/// Records in the barriers of each section two properties of the kernels that execute them: whether workgroups have a single wave, and
/// whether they may run on several compute units.
fn tell_barriers(sections: &mut [Code], kernels: &[KernelFacts], target: Target) {
    let single_wave = are_single_waves(kernels, target);
    sections.iter_mut().for_each(|s| s.program.single_wave = single_wave);
    let is_split = |k: &KernelFacts| k.descriptor.settings(target).tg_split;
    // A function may be called by any kernel, so its barriers have a property only if all kernels have it.
    let all = !kernels.is_empty() && kernels.iter().all(is_split);
    for kernel in kernels.iter().filter(|k| is_split(k)) {
        let Some((section, entry)) = kernel.entry else { continue };
        let Some(Code { program, functions, .. }) = sections.get_mut(section) else { continue };
        let own = functions.iter().find(|f| f.lines.contains(&entry)).map_or(0..0, |f| f.lines.clone());
        let lines = if all { 0..program.lines.len() } else { own };
        for line in program.lines.get_mut(lines).unwrap_or_default() {
            line.orders_stores |= line.inst.desc.class == Class::Barrier;
        }
    }
}

/// The metadata of a file that concern all its kernels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetadataFacts {
    /// `amdhsa.target`; empty if absent.
    pub target: String,
    /// `amdhsa.version`.
    pub version: [u32; 2],
}

impl MetadataFacts {
    fn of(metadata: &Metadata) -> MetadataFacts {
        MetadataFacts { target: metadata.target.clone(), version: metadata.version }
    }
}

/// Why no [`Unit`] can be created from a file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// The assembler was not told to keep instructions.
    #[error("the instructions of the assembly were not kept; assemble with `keep_instructions`")]
    NotKept,
    /// A section has more code than line numbers can represent.
    #[error("section {section} has {bytes} bytes of code; 4 GiB is the most that can be analysed")]
    TooLarge {
        /// The section.
        section: String,
        /// The section's size.
        bytes: u64,
    },
}

impl Unit {
    /// The code of a file that was assembled with
    /// [`keep_instructions`](crate::asm::Options::keep_instructions).
    ///
    /// Words that are written as data (`.long`) are decoded as instructions if control reaches them.
    ///
    /// # Errors
    /// [`CodeError::NotKept`] if the assembler did not keep the instructions.
    pub fn of_assembly(assembly: &Assembly) -> Result<Unit, CodeError> {
        assembly::unit(assembly, assembly.instructions.clone()).map(|unit| unit.with_waves(assembly.wave))
    }

    /// As [`Unit::of_assembly`], but consumes the assembly's instructions.
    ///
    /// # Errors
    /// [`CodeError::NotKept`], as for [`Unit::of_assembly`].
    pub fn from_assembly(mut assembly: Assembly) -> Result<Unit, CodeError> {
        let instructions = std::mem::take(&mut assembly.instructions);
        assembly::unit(&assembly, instructions).map(|unit| unit.with_waves(assembly.wave))
    }

    /// The code of an object, linked or not, with symbols or stripped.
    ///
    /// # Errors
    /// [`CodeError::TooLarge`].
    pub fn of_object(object: &CodeObject<'_>) -> Result<Unit, CodeError> {
        object::unit(object).map(|unit| {
            let usual = unit.target_id.target.usual_wave();
            unit.with_waves(usual)
        })
    }

    /// Sets the wave size of each section's program to that of its kernels, or to `otherwise` if there are none.
    /// Kernels of both sizes in one section may share code; the program then gets the size of the first.
    fn with_waves(mut self, otherwise: WaveSize) -> Unit {
        let target = self.target_id.target;
        for (number, code) in self.sections.iter_mut().enumerate() {
            let own = |kernel: &&KernelFacts| kernel.entry.is_some_and(|(section, _)| section == number);
            let first = self.kernels.iter().find(own).or(self.kernels.first());
            code.program.wave = first.map_or(otherwise, |kernel| kernel.descriptor.wave(target));
        }
        self
    }

    /// Comments for a disassembly of this unit's object about VGPRs above 255: `v155 is v411`. The number in an instruction is only the
    /// lower part of such a register's number; the last `s_set_vgpr_msb` before the instruction has set the upper part.
    ///
    /// ```
    /// # use gcn_emit::{asm, code::Unit, disasm, object::read_code_object};
    /// let text = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx1250\"\nf:\ns_set_vgpr_msb 0x40\nv_mov_b32_e32 v1, v2\ns_endpgm\n";
    /// let bytes = asm::assemble("f.s", text, &asm::Options::default()).unwrap().code_object().unwrap();
    /// let object = read_code_object(&bytes).unwrap();
    /// let disassembly = disasm::disassemble(&object);
    /// let notes = Unit::of_object(&object).unwrap().register_notes(&disassembly);
    /// let text = disassembly.to_assembly(&disasm::Options { notes: Some(&notes), ..Default::default() });
    /// assert!(text.contains("v_mov_b32_e32 v1, v2 ; v1 is v257"));
    /// ```
    pub fn register_notes(&self, disassembly: &Disassembly<'_, '_>) -> Notes {
        let mut notes = Notes::new();
        let sections = disassembly.sections.iter().filter(|s| !s.bytes.is_empty());
        for (section, code) in sections.zip(&self.sections) {
            let indexing = Indexing::of(&code.program, &Flow::of(&code.program));
            for ((at, line), place) in code.program.lines.iter().enumerate().zip(&code.places) {
                if let Some(text) = indexing.full_numbers(at, &line.inst) {
                    notes.insert((section.number, section.address.wrapping_add(place.offset)), text);
                }
            }
        }
        notes
    }

    /// The origins of an instruction from a macro, a repetition or an included file, the innermost first.
    pub fn origins_of(&self, place: &CodePlace) -> impl Iterator<Item = &Origin> {
        let get = |index: Option<u32>| self.origins.get(index? as usize);
        std::iter::successors(get(place.origin), move |origin| get(origin.outer))
    }

    /// The number of instructions in all sections.
    pub fn instructions(&self) -> usize {
        self.sections.iter().map(|s| s.program.lines.len()).sum()
    }
}

impl Code {
    /// The function to which a line belongs; `None` if it is outside of all functions.
    pub fn function_of(&self, line: usize) -> Option<&Function> {
        let next = self.functions.partition_point(|f| f.lines.start <= line);
        self.functions.get(next.checked_sub(1)?).filter(|f| f.lines.contains(&line))
    }

    /// The line whose instruction begins at an offset in the section; `None` if no instruction begins there.
    pub fn line_at(&self, offset: u64) -> Option<usize> {
        self.places.binary_search_by_key(&offset, |p| p.offset).ok()
    }
}
