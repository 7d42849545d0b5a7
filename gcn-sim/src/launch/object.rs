//! A code object with all its kernels, loaded once.

use std::sync::Arc;

use gcn_emit::lines::SourceLines;
use gcn_emit::metadata::KernelMetadata;
use gcn_emit::object::{CodeObject, Module, SymbolKind, link, read_code_object};
use gcn_emit::target_id::{Feature, TargetId};
use gcn_isa::target::Subtarget;

use super::image::Image;
use super::program::Program;
use super::{Error, reach};
use crate::core::kernel::{KernelState, PRELOAD_PROLOGUE};
use crate::core::machine::{CODE_BASE, Machine};

/// A linked code object: its image, to be put into memory once, and its kernels, which share it.
///
/// [`Program::load`] is enough for one kernel that is run once. A runtime loads an object, keeps its image in memory between
/// launches, and decodes a kernel when it is first asked for.
#[derive(Clone, Debug)]
pub struct Object {
    target_id: TargetId,
    image: Arc<Image>,
    lines: Arc<SourceLines>,
    /// Triton made it.
    triton: bool,
    kernels: Vec<Kernel>,
    variables: Vec<Variable>,
}

/// A kernel that is not decoded yet.
#[derive(Clone, Debug)]
struct Kernel {
    pub name: String,
    pub descriptor: [u8; 64],
    /// Address of its first instruction in the object.
    pub address: u64,
    pub kernarg_bytes: u32,
    pub metadata: Option<KernelMetadata>,
}

/// A variable in global memory: `__device__` or `__constant__` of HIP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The symbol.
    pub name: String,
    /// Its address in memory.
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The producer that Triton's debug information names (`DW_AT_producer`).
const TRITON: &[u8] = b"triton";

impl Object {
    /// Loads a code object, which is linked first if it is relocatable; `base` is told the size of the image and gives the
    /// address that it will have.
    ///
    /// # Errors
    /// [`Error::Object`] for bytes that are not a code object, [`Error::Image`] for what cannot be loaded.
    pub fn load(bytes: &[u8], base: impl FnOnce(usize) -> u64) -> Result<Object, Error> {
        let object = read_code_object(bytes)?;
        if object.is_relocatable {
            let linked = link(&Module::from_relocatable(bytes)?)?;
            return Object::of(&read_code_object(&linked)?.linked()?, base);
        }
        Object::of(&object, base)
    }

    fn of(object: &CodeObject<'_>, base: impl FnOnce(usize) -> u64) -> Result<Object, Error> {
        let image = Image::of(object, base)?;
        let kernels = object.kernels.iter().map(|kernel| Kernel {
            name: kernel.name.to_owned(),
            descriptor: *kernel.descriptor_bytes,
            address: kernel.address,
            kernarg_bytes: kernel.descriptor.kernarg_size,
            metadata: kernel.metadata.clone(),
        });
        let data = object.symbols.iter().filter(|s| s.kind == SymbolKind::Object && s.section.is_some());
        let variables = data.map(|s| Variable {
            name: s.name.to_owned(),
            address: image.base.wrapping_add(s.address),
            bytes: s.size,
        });
        let strings = object.section(".debug_str").map_or(&[][..], |s| s.bytes);
        Ok(Object {
            target_id: object.target_id,
            kernels: kernels.collect(),
            variables: variables.collect(),
            lines: Arc::new(SourceLines::of_object(object)),
            triton: strings.split(|b| *b == 0).any(|text| text == TRITON),
            image: Arc::new(image),
        })
    }

    /// The target that the object is for.
    pub fn target_id(&self) -> TargetId {
        self.target_id
    }

    /// The bytes that belong into memory from [`Object::base`] on.
    pub fn image(&self) -> &[u8] {
        &self.image.bytes
    }

    /// Where the image belongs.
    pub fn base(&self) -> u64 {
        self.image.base
    }

    /// The names of the kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.kernels.iter().map(|k| k.name.as_str())
    }

    /// The variable with this name.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|v| v.name == name)
    }

    /// The only kernel, or the one with this name, decoded.
    ///
    /// # Errors
    /// An error that lists the kernels if there is none of this name or none was named of several.
    pub fn program(&self, kernel: Option<&str>) -> Result<Program, Error> {
        let known = || self.kernels.iter().map(|k| k.name.clone()).collect();
        let chosen = match (kernel, self.kernels.as_slice()) {
            (_, []) => return Err(Error::NoKernel),
            (Some(name), all) => {
                let found = all.iter().find(|k| k.name == name);
                found.ok_or_else(|| Error::NoSuchKernel { name: name.to_owned(), known: known() })?
            }
            (None, [only]) => only,
            (None, _) => return Err(Error::SeveralKernels { known: known() }),
        };
        Program::of_kernel(self, chosen)
    }
}

impl Program {
    /// Loads a kernel: the only one, or the one with this name. A relocatable object is linked first.
    ///
    /// # Errors
    /// [`Error::Object`] for bytes that are no code object, an error that lists the kernels if there is none of this name or
    /// none was named of several, and [`Error::Image`] for what cannot be loaded. Instructions that the simulator does not
    /// know are not errors yet: [`Machine::faults`] lists them. Source lines come from the object's DWARF.
    pub fn load(bytes: &[u8], kernel: Option<&str>) -> Result<Program, Error> {
        Object::load(bytes, |_| CODE_BASE)?.program(kernel)
    }

    /// A kernel of an object that is loaded.
    fn of_kernel(object: &Object, kernel: &Kernel) -> Result<Program, Error> {
        let target = object.target_id.target;
        let state =
            KernelState::from_descriptor(&kernel.descriptor, target).map_err(crate::SimError::from)?;
        let skipped = if state.kernarg_preload.length > 0 { PRELOAD_PROLOGUE } else { 0 };
        let entry = u32::try_from(kernel.address + skipped).unwrap_or(u32::MAX);
        let on = Subtarget { target, wave: state.wave_size };
        let code = reach::reachable(on, &object.image, entry);
        let machine = Machine::of_code(target, code, entry, state).at(object.image.base);
        let ecc = target.supports_sramecc() && object.target_id.sramecc != Feature::Off;
        Ok(Program {
            name: kernel.name.clone(),
            target_id: object.target_id,
            machine: machine.with_sram_ecc(ecc).with_shared_lines(Arc::clone(&object.lines)),
            image: Arc::clone(&object.image),
            metadata: kernel.metadata.clone(),
            kernarg_bytes: kernel.kernarg_bytes,
            triton: object.triton,
        })
    }
}
