//! A loaded kernel of a code object.

use std::sync::Arc;

use gcn_emit::lines::SourceLines;
use gcn_emit::metadata::{KernelArg, KernelMetadata};
use gcn_emit::target_id::TargetId;

use super::image::Image;
use crate::core::machine::Machine;
use crate::core::matrix::MatrixArithmetic;

/// A kernel with the image that contains it: its code, the functions that it calls, constants and variables.
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
    pub(super) name: String,
    pub(super) target_id: TargetId,
    pub(super) machine: Machine,
    pub(super) image: Arc<Image>,
    pub(super) metadata: Option<KernelMetadata>,
    pub(super) kernarg_bytes: u32,
    /// True if Triton compiled the kernel.
    pub(super) triton: bool,
}

impl Program {
    /// Sets the source lines for reports, by address in the code object. They replace the source lines from the object's DWARF.
    #[must_use]
    pub fn with_lines(mut self, lines: SourceLines) -> Program {
        self.machine = self.machine.with_lines(lines);
        self
    }

    /// See [`Machine::with_mix_rounded_twice`].
    #[must_use]
    pub fn with_mix_rounded_twice(mut self, twice: bool) -> Program {
        self.machine = self.machine.with_mix_rounded_twice(twice);
        self
    }

    /// Sets how matrix instructions add products.
    #[must_use]
    pub fn with_matrix(mut self, matrix: MatrixArithmetic) -> Program {
        self.machine = self.machine.with_matrix(matrix);
        self
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The target for which the code object is compiled.
    pub fn target_id(&self) -> TargetId {
        self.target_id
    }

    /// The decoded code. Code offsets are addresses in the code object.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The kernel's metadata, if the object has any.
    pub fn metadata(&self) -> Option<&KernelMetadata> {
        self.metadata.as_ref()
    }

    /// The arguments that a caller passes, in order.
    pub fn args(&self) -> impl Iterator<Item = &KernelArg> {
        self.all_args().iter().filter(|a| !a.value_kind.is_hidden())
    }

    /// All arguments, including hidden ones.
    pub(crate) fn all_args(&self) -> &[KernelArg] {
        self.metadata.as_ref().map_or(&[], |m| &m.args)
    }

    /// True if the compiler did not determine the stack size.
    pub(crate) fn has_dynamic_stack(&self) -> bool {
        self.metadata.as_ref().and_then(|m| m.uses_dynamic_stack) == Some(true)
    }

    /// The size of the kernarg segment in bytes.
    pub(crate) fn kernarg_bytes(&self) -> u32 {
        self.kernarg_bytes.max(self.metadata.as_ref().map_or(0, |m| m.kernarg_segment_size))
    }

    /// True if the debug information names Triton as the producer.
    pub(crate) fn is_triton(&self) -> bool {
        self.triton
    }

    pub(crate) fn image(&self) -> &Image {
        &self.image
    }
}
