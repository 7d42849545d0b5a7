//! Errors of the simulator, with all the facts.

use crate::core::memory::{AllocError, MemoryError};
use crate::core::site::{After, Hazard, OutOfBounds, Site};

/// Why a simulation could not be set up or could not go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// Bytes that are not an instruction of the target.
    #[error("offset {offset:#x}{} of the code holds no instruction of {target}: {reason}", After(.line))]
    Decode {
        /// Byte offset.
        offset: u32,
        /// The target.
        target: gcn_isa::Target,
        /// The decoder's reason.
        reason: String,
        /// The place in the source, if that is known.
        line: Option<String>,
    },
    /// An instruction, or a use of it, whose semantics the simulator does not have.
    #[error("the simulator does not run `{text}` at offset {offset:#x}{}: {what}", After(.line))]
    Unsupported {
        /// Byte offset.
        offset: u32,
        /// The instruction.
        text: String,
        /// The missing part.
        what: String,
        /// The place in the source, if that is known.
        line: Option<String>,
    },
    /// A register beyond the allocation of the kernel descriptor.
    #[error(
        "`{text}` at offset {offset:#x}{} names {register}, but the kernel descriptor allocates only {allocated} of them; raise the descriptor's count",
        After(.line)
    )]
    Register {
        /// Byte offset.
        offset: u32,
        /// The instruction.
        text: String,
        /// The register.
        register: String,
        /// The number that the descriptor allocates.
        allocated: u32,
        /// The place in the source, if that is known.
        line: Option<String>,
    },
    /// A branch to a place where no instruction starts.
    #[error("{site} jumps to code address {target:#x}, where no instruction starts")]
    BadBranch {
        /// The branch.
        site: Site,
        /// Where it goes.
        target: u64,
    },
    /// Launch parameters that the hardware does not accept.
    #[error("cannot launch: {0}")]
    Launch(#[from] LaunchError),
    /// An access outside every allocation.
    #[error("{0}")]
    OutOfBounds(Box<OutOfBounds>),
    /// An access that must be aligned and is not.
    #[error("{site} accesses address {address:#x} in lane {lane}, which is not aligned to {alignment} bytes")]
    Misaligned {
        /// The instruction.
        site: Box<Site>,
        /// The lane.
        lane: u8,
        /// The address.
        address: u64,
        /// The required alignment.
        alignment: u32,
    },
    /// A missing wait (strict mode).
    #[error("{0}")]
    Hazard(Box<Hazard>),
    /// Waves of a workgroup wait at a barrier, and others have ended (strict mode).
    #[error("waves of workgroup {workgroup:?} have ended without a barrier at which others wait: {}", waves.join("; "))]
    DivergentBarrier {
        /// The workgroup.
        workgroup: [u32; 3],
        /// Where each wave is.
        waves: Vec<String>,
    },
    /// Waves that wait at a resource of global wave sync, and nobody is left to let them go on.
    #[error(
        "the waves of workgroup {workgroup:?} wait for others that do not come: {}; initialise the resource with one less than \
         the waves that meet, and let all of them come",
        waves.join("; ")
    )]
    Deadlock {
        /// The workgroup.
        workgroup: [u32; 3],
        /// Where each wave is.
        waves: Vec<String>,
    },
    /// The instruction budget of [`crate::Options`] ran out.
    #[error(
        "{site} exceeds the limit of {limit} instructions for one wave: an endless loop, or the limit is to be raised"
    )]
    InstructionLimit {
        /// The instruction that was next.
        site: Site,
        /// The limit.
        limit: u64,
    },
    /// `s_trap`.
    #[error("{site} traps with id {id}")]
    Trap {
        /// The instruction.
        site: Site,
        /// Trap id.
        id: u8,
    },
    /// The finding of a sanitizer, if [`crate::Options::findings`] is 0.
    #[error("{0}")]
    Finding(Box<crate::core::finding::Finding>),
    /// Host-side access to simulated memory failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The host has no room for simulated memory.
    #[error(transparent)]
    Alloc(#[from] AllocError),
}

impl SimError {
    /// An error that was found when the code was loaded, with its place in the source.
    pub(crate) fn at_line(mut self, place: Option<String>) -> SimError {
        if let SimError::Decode { line, .. }
        | SimError::Unsupported { line, .. }
        | SimError::Register { line, .. } = &mut self
        {
            *line = place;
        }
        self
    }
}

/// Launch parameters that the hardware does not accept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// An empty grid.
    #[error("the grid {0:?} has no workgroups; every dimension must be at least 1")]
    EmptyGrid([u32; 3]),
    /// A workgroup of no or too many work-items.
    #[error("a workgroup of {0:?} work-items is not possible; the product must be from 1 to {max}", max = gcn_emit::kernel::MAX_WORKGROUP)]
    WorkgroupSize([u32; 3]),
    /// More work-items in a dimension than a dispatch packet can say.
    #[error(
        "a grid of {grid:?} workgroups of {size:?} work-items has 2^32 work-items or more in a dimension"
    )]
    TooManyItems {
        /// Workgroups.
        grid: [u32; 3],
        /// Work-items of each.
        size: [u32; 3],
    },
    /// A grid smaller than a workgroup, which a dispatch packet does not allow (`hsa.h`, `grid_size_x`).
    #[error(
        "a grid of {items:?} work-items is smaller than a workgroup of {size:?}; make the workgroup smaller"
    )]
    LessThanAWorkgroup {
        /// Work-items of the grid.
        items: [u32; 3],
        /// Work-items of a workgroup.
        size: [u32; 3],
    },
    /// A cooperative grid that is not on the device all at once.
    #[error(
        "a cooperative launch of {asked} workgroups: {target} holds {most} of them at a time; launch fewer, or use less LDS and \
         fewer registers"
    )]
    Cooperative {
        /// Workgroups.
        asked: u64,
        /// Workgroups that the device holds.
        most: u64,
        /// The device.
        target: gcn_isa::Target,
    },
    /// More LDS than a compute unit has.
    #[error("{asked} bytes of LDS asked for, a workgroup has at most {available}")]
    Lds {
        /// Asked for.
        asked: u32,
        /// Available.
        available: u32,
    },
    /// More scratch than a wave can have.
    #[error(
        "{asked} bytes of scratch for a work-item are asked for, the hardware has at most {available} (8 MiB less 1 KiB a wave)"
    )]
    Scratch {
        /// Asked for.
        asked: u32,
        /// Available.
        available: u32,
    },
    /// A kernel that wants an input the simulator does not provide.
    #[error("the kernel descriptor asks for {0}, which the simulator does not provide")]
    Input(&'static str),
    /// More initial SGPRs than fit.
    #[error("the initial state needs {0} SGPRs")]
    TooManySgprs(u32),
    /// A descriptor of the wrong size.
    #[error("a kernel descriptor has 64 bytes, this one has {0}")]
    DescriptorSize(usize),
}
