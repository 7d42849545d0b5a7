//! Links one module to a code object: the same file that `ld.lld -shared` produces from it, byte for byte.
//!
//! The steps are called in `linked`: the assignment of input sections to output sections (`input`, `output`, `merge`),
//! the symbols (`symbol`), the relocations (`reloc`), the loader's symbol tables (`dynamic`), the layout (`layout`),
//! and the bytes (`write`). Differences from LLVM's linker, with reasons, are listed in `docs/code-object.md`.

mod dynamic;
mod input;
mod layout;
mod merge;
mod output;
mod reloc;
mod strings;
mod symbol;
mod write;

use super::{LinkFault, LinkPlace, Module, ObjectError, SectionId};

/// Options of the linker.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkOptions<'a> {
    /// A text for `.comment`, where LLVM's linker writes its name and version. With `None` there is no such text, and no `.comment` unless
    /// the module has one.
    pub producer: Option<&'a str>,
}

/// Links a module to a code object that HSA and HIP can load.
///
/// ```
/// use gcn_emit::object::{CodeObjectVersion, Module, Section, link, read_code_object};
/// use gcn_isa::Target;
///
/// let mut module = Module::new(Target::GFX942.into(), CodeObjectVersion::V6);
/// module.sections.push(Section::code(".text", vec![0x00, 0x00, 0x81, 0xbf]));
/// let bytes = link(&module)?;
/// let object = read_code_object(&bytes)?;
/// assert_eq!(object.text().map(|text| text.bytes), Some(&[0x00, 0x00, 0x81, 0xbf][..]));
/// # Ok::<(), gcn_emit::object::ObjectError>(())
/// ```
///
/// # Errors
/// [`ObjectError::Link`] with section, offset and symbol, and the remedy.
pub fn link(module: &Module) -> Result<Vec<u8>, ObjectError> {
    link_with(module, &LinkOptions::default())
}

/// As [`link`], with options.
///
/// # Errors
/// The errors of [`link`].
pub fn link_with(module: &Module, options: &LinkOptions<'_>) -> Result<Vec<u8>, ObjectError> {
    linked(module, options).map(|linked| linked.bytes)
}

/// A linked file.
#[derive(Clone, Debug)]
pub struct Linked {
    /// The file.
    pub bytes: Vec<u8>,
    /// The address of each section of the module, by the section's number; `None` for a section that is not in the file, or not unchanged.
    pub addresses: Vec<Option<u64>>,
}

/// As [`link`]; also returns the addresses of the sections.
///
/// # Errors
/// The errors of [`link`].
pub fn link_placed(module: &Module) -> Result<Linked, ObjectError> {
    linked(module, &LinkOptions::default())
}

fn linked(module: &Module, options: &LinkOptions<'_>) -> Result<Linked, ObjectError> {
    let comment = options.producer.map(input::comment);
    let inputs = input::collect(input::Sources { module, comment: comment.as_ref() })?;
    let mut symbols = symbol::resolve(&inputs)?;
    let needs = reloc::scan(&inputs, &mut symbols)?;
    let tables = dynamic::Tables::of(&mut symbols, &needs);
    let plan = layout::plan(inputs, &symbols, &needs, &tables)?;
    let addresses = (0..module.sections.len()).map(|section| plan.address_of(section)).collect();
    Ok(Linked { bytes: write::file(&plan, &symbols, &needs, &tables)?, addresses })
}

/// An error that concerns a section.
fn section_fault(module: &Module, section: usize, offset: Option<u64>, fault: LinkFault) -> ObjectError {
    let section_name = module.sections.get(section).map_or_else(String::new, |s| s.name.clone());
    let section = u32::try_from(section).ok().map(SectionId);
    ObjectError::Link { place: LinkPlace { section, section_name, offset, symbol: String::new() }, fault }
}

/// An error that concerns a symbol.
fn symbol_fault(name: &str, fault: LinkFault) -> ObjectError {
    let place = LinkPlace { symbol: name.to_owned(), ..LinkPlace::default() };
    ObjectError::Link { place, fault }
}

/// The error that the whole object is too large.
fn too_large() -> ObjectError {
    ObjectError::Link { place: LinkPlace::default(), fault: LinkFault::TooLarge }
}
