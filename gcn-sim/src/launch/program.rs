//! A kernel of a code object, loaded.

use std::path::Path;
use std::sync::Arc;

use gcn_emit::lines::SourceLines;
use gcn_emit::metadata::{KernelArg, KernelMetadata};
use gcn_emit::target_id::{Feature, TargetId};

use super::image::Image;
use super::object::{Kernel, Object};
use super::{Error, Prepared, Spec, reach};
use crate::core::kernel::{KernelState, PRELOAD_PROLOGUE};
use crate::core::machine::{CODE_BASE, Machine};
use crate::core::matrix::MatrixArithmetic;

/// A kernel with the image that it is in: its code, the functions that it calls, constants and variables.
///
/// ```no_run
/// use gcn_sim::launch::{Program, Spec};
///
/// let program = Program::load(&std::fs::read("saxpy.hsaco")?, Some("saxpy"))?;
/// let spec = Spec::from_json(&std::fs::read_to_string("saxpy.json")?)?;
/// let mut launch = program.prepare(&spec, ".".as_ref())?;
/// let stats = launch.run(&gcn_sim::Options::default())?;
/// println!("{} waves", stats.waves);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    target_id: TargetId,
    machine: Machine,
    image: Arc<Image>,
    metadata: Option<KernelMetadata>,
    kernarg_bytes: u32,
    /// Triton made it.
    triton: bool,
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
    pub(super) fn of_kernel(object: &Object, kernel: &Kernel) -> Result<Program, Error> {
        let target = object.target_id.target;
        let state =
            KernelState::from_descriptor(&kernel.descriptor, target).map_err(crate::SimError::from)?;
        let skipped = if state.kernarg_preload.length > 0 { PRELOAD_PROLOGUE } else { 0 };
        let entry = u32::try_from(kernel.address + skipped).unwrap_or(u32::MAX);
        let code = reach::reachable(target, &object.image, entry);
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

    /// The kernel with source lines for its reports, by address in the code object, instead of those of the object's DWARF.
    #[must_use]
    pub fn with_lines(mut self, lines: SourceLines) -> Program {
        self.machine = self.machine.with_lines(lines);
        self
    }

    /// Chooses how the f16 results of mixed-precision multiply-add are rounded: [`Machine::with_mix_rounded_twice`].
    #[must_use]
    pub fn with_mix_rounded_twice(mut self, twice: bool) -> Program {
        self.machine = self.machine.with_mix_rounded_twice(twice);
        self
    }

    /// Chooses how matrix instructions add products.
    #[must_use]
    pub fn with_matrix(mut self, matrix: MatrixArithmetic) -> Program {
        self.machine = self.machine.with_matrix(matrix);
        self
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the code object is for.
    pub fn target_id(&self) -> TargetId {
        self.target_id
    }

    /// The code, decoded. Offsets are addresses in the code object.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The kernel's metadata, if the object has any.
    pub fn metadata(&self) -> Option<&KernelMetadata> {
        self.metadata.as_ref()
    }

    /// The arguments that a caller gives, in order.
    pub fn args(&self) -> impl Iterator<Item = &KernelArg> {
        self.all_args().iter().filter(|a| !a.value_kind.is_hidden())
    }

    /// The arguments, hidden ones included.
    pub(crate) fn all_args(&self) -> &[KernelArg] {
        self.metadata.as_ref().map_or(&[], |m| &m.args)
    }

    /// True if the compiler does not know how deep the stack gets.
    pub(crate) fn has_dynamic_stack(&self) -> bool {
        self.metadata.as_ref().and_then(|m| m.uses_dynamic_stack) == Some(true)
    }

    /// Bytes of the kernarg segment.
    pub(crate) fn kernarg_bytes(&self) -> u32 {
        self.kernarg_bytes.max(self.metadata.as_ref().map_or(0, |m| m.kernarg_segment_size))
    }

    /// True if its debug information says that Triton made it.
    pub(crate) fn is_triton(&self) -> bool {
        self.triton
    }

    pub(crate) fn image(&self) -> &Image {
        &self.image
    }

    /// A spec for this kernel as JSON, with every argument; the values are to be filled in.
    pub fn template(&self) -> String {
        super::template::of(self)
    }

    /// Puts the image and the buffers into memory and the arguments into the kernarg segment. Files of the spec are relative
    /// to `folder`.
    ///
    /// # Errors
    /// Whatever is wrong with the spec, by argument.
    pub fn prepare(&self, spec: &Spec, folder: &Path) -> Result<Prepared, Error> {
        Prepared::new(self, spec, folder)
    }
}
