//! A loaded code object with all its kernels.

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

/// A linked code object: its image, which has to be written to memory once, and its kernels, which share the image.
///
/// [`Program::load`] suffices for a kernel that runs once. A runtime instead loads an object, keeps its image in memory between launches,
/// and decodes each kernel on first use.
#[derive(Clone, Debug)]
pub struct Object {
    target_id: TargetId,
    image: Arc<Image>,
    lines: Arc<SourceLines>,
    /// True if Triton compiled the object.
    triton: bool,
    kernels: Vec<Kernel>,
    variables: Vec<Variable>,
}

/// A kernel that is not decoded yet.
#[derive(Clone, Debug)]
struct Kernel {
    pub name: String,
    pub descriptor: [u8; 64],
    /// The address of the kernel's first instruction in the object.
    pub address: u64,
    pub kernarg_bytes: u32,
    pub metadata: Option<KernelMetadata>,
}

/// A variable in global memory: `__device__` or `__constant__` in HIP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The symbol's name.
    pub name: String,
    /// The variable's address in memory.
    pub address: u64,
    /// The variable's size in bytes.
    pub bytes: u64,
}

/// A part of the producer string that Triton writes to the debug information (`DW_AT_producer`).
const TRITON: &[u8] = b"triton";

impl Object {
    /// Loads a code object, which is linked first if it is relocatable. `base` receives the size of the image and returns the load address.
    ///
    /// # Errors
    /// [`Error::Object`] if the bytes are not a code object, [`Error::Image`] if it cannot be loaded.
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

    /// The target for which the object is compiled.
    pub fn target_id(&self) -> TargetId {
        self.target_id
    }

    /// The contents that have to be written to memory at [`Object::base`].
    pub fn image(&self) -> &[u8] {
        &self.image.bytes
    }

    /// The load address of the image.
    pub fn base(&self) -> u64 {
        self.image.base
    }

    /// The names of the object's kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.kernels.iter().map(|k| k.name.as_str())
    }

    /// The variable with this name.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|v| v.name == name)
    }

    /// Decodes the kernel with this name or, if `kernel` is `None`, the only kernel.
    ///
    /// # Errors
    /// An error that lists the kernels, if none has this name, or if there are several and none was named.
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
    /// Loads the kernel with this name or, if `kernel` is `None`, the only kernel. A relocatable object is linked first.
    ///
    /// # Errors
    /// [`Error::Object`] if the bytes are not a code object, [`Error::Image`] if it cannot be loaded, and an error that lists the kernels
    /// if none has this name, or if there are several and none was named. Instructions that the simulator does not know are not errors at
    /// this point: [`Machine::faults`] lists them. Source lines come from the object's DWARF.
    pub fn load(bytes: &[u8], kernel: Option<&str>) -> Result<Program, Error> {
        Object::load(bytes, |_| CODE_BASE)?.program(kernel)
    }

    /// Decodes a kernel of a loaded object.
    fn of_kernel(object: &Object, kernel: &Kernel) -> Result<Program, Error> {
        let target = object.target_id.target;
        let state =
            KernelState::from_descriptor(&kernel.descriptor, target).map_err(crate::SimError::from)?;
        let preloads = state.kernarg_preload.length > 0 && target.has_preload_prologue();
        let skipped = if preloads { PRELOAD_PROLOGUE } else { 0 };
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
