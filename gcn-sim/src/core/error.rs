//! The simulator's errors, with all details that messages need.

use crate::core::memory::{AllocError, MemoryError};
use crate::core::site::{After, Hazard, OutOfBounds, Site};

/// An error that prevents a simulation from starting or stops it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// Bytes that are not an instruction of the target.
    #[error("offset {offset:#x}{} of the code holds no instruction of {target}: {reason}", After(.line))]
    Decode {
        /// The byte offset in the code.
        offset: u32,
        /// The target.
        target: gcn_isa::Target,
        /// The decoder's reason.
        reason: String,
        /// The source position, if known.
        line: Option<String>,
    },
    /// An instruction, or a use of it, that the simulator does not implement.
    #[error("the simulator does not run `{text}` at offset {offset:#x}{}: {what}", After(.line))]
    Unsupported {
        /// The byte offset of the instruction.
        offset: u32,
        /// The instruction.
        text: String,
        /// What the simulator does not implement.
        what: String,
        /// The source position, if known.
        line: Option<String>,
    },
    /// A register beyond the number that the kernel descriptor allocates.
    #[error(
        "`{text}` at offset {offset:#x}{} names {register}, but the kernel descriptor allocates only {allocated} of them; raise the descriptor's count",
        After(.line)
    )]
    Register {
        /// The byte offset of the instruction.
        offset: u32,
        /// The instruction.
        text: String,
        /// The register.
        register: String,
        /// The number that the descriptor allocates.
        allocated: u32,
        /// The source position, if known.
        line: Option<String>,
    },
    /// A branch to an address at which no instruction starts.
    #[error("{site} jumps to code address {target:#x}, where no instruction starts")]
    BadBranch {
        /// The branch.
        site: Site,
        /// The branch target.
        target: u64,
    },
    /// Launch parameters that the hardware does not accept.
    #[error("cannot launch: {0}")]
    Launch(#[from] LaunchError),
    /// A memory access outside every allocation.
    #[error("{0}")]
    OutOfBounds(Box<OutOfBounds>),
    /// A misaligned access where alignment is required.
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
    /// A missing wait or wait state (strict mode).
    #[error("{0}")]
    Hazard(Box<Hazard>),
    /// Some waves of a workgroup wait at a barrier, and others have ended without reaching it (strict mode).
    #[error("waves of workgroup {workgroup:?} have ended without a barrier at which others wait: {}", waves.join("; "))]
    DivergentBarrier {
        /// The workgroup.
        workgroup: [u32; 3],
        /// The position of each wave.
        waves: Vec<String>,
    },
    /// Waves wait for a resource of global wave sync, and no running wave is left that could release them.
    #[error(
        "the waves of workgroup {workgroup:?} wait for others that do not come: {}; initialise the resource with one less than \
         the waves that meet, and let all of them come",
        waves.join("; ")
    )]
    Deadlock {
        /// The workgroup.
        workgroup: [u32; 3],
        /// The position of each wave.
        waves: Vec<String>,
    },
    /// A wave exceeded the instruction limit of [`crate::Options`].
    #[error(
        "{site} exceeds the limit of {limit} instructions for one wave: an endless loop, or the limit is to be raised"
    )]
    InstructionLimit {
        /// The next instruction.
        site: Site,
        /// The limit.
        limit: u64,
    },
    /// A wave executed `s_trap`.
    #[error("{site} traps with id {id}")]
    Trap {
        /// The instruction.
        site: Site,
        /// The trap ID.
        id: u8,
    },
    /// A sanitizer's finding, which ends the run if [`crate::Options::findings`] is 0.
    #[error("{0}")]
    Finding(Box<crate::core::finding::Finding>),
    /// Host-side access to simulated memory failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The host does not have enough memory for the simulated memory.
    #[error(transparent)]
    Alloc(#[from] AllocError),
}

impl SimError {
    /// Adds the source position to an error that was found when the code was loaded.
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
    /// Timed mode was asked for a target about whose times nothing is known.
    #[error(
        "no times of {target} have been published or measured, so timed mode cannot run it; run it without timing"
    )]
    NotTimed {
        /// The target.
        target: gcn_isa::Target,
    },
    /// An empty grid.
    #[error("the grid {0:?} has no workgroups; every dimension must be at least 1")]
    EmptyGrid([u32; 3]),
    /// A workgroup without work-items, or with too many.
    #[error("a workgroup of {0:?} work-items is not possible; the product must be from 1 to {max}", max = gcn_emit::kernel::MAX_WORKGROUP)]
    WorkgroupSize([u32; 3]),
    /// More work-items in one dimension than a dispatch packet can express.
    #[error(
        "a grid of {grid:?} workgroups of {size:?} work-items has 2^32 work-items or more in a dimension"
    )]
    TooManyItems {
        /// The number of workgroups in each dimension.
        grid: [u32; 3],
        /// The size of a workgroup in work-items.
        size: [u32; 3],
    },
    /// A grid smaller than a workgroup, which a dispatch packet does not allow (`hsa.h`, `grid_size_x`).
    #[error(
        "a grid of {items:?} work-items is smaller than a workgroup of {size:?}; make the workgroup smaller"
    )]
    LessThanAWorkgroup {
        /// The size of the grid in work-items.
        items: [u32; 3],
        /// The size of a workgroup in work-items.
        size: [u32; 3],
    },
    /// A cooperative launch whose workgroups do not all fit on the device at once.
    #[error(
        "a cooperative launch of {asked} workgroups: {target} holds {most} of them at a time; launch fewer, or use less LDS and \
         fewer registers"
    )]
    Cooperative {
        /// The number of workgroups in the launch.
        asked: u64,
        /// The number of workgroups that fit on the device.
        most: u64,
        /// The device.
        target: gcn_isa::Target,
    },
    /// More LDS than a compute unit has.
    #[error("{asked} bytes of LDS asked for, a workgroup has at most {available}")]
    Lds {
        /// The requested size in bytes.
        asked: u32,
        /// The available size in bytes.
        available: u32,
    },
    /// More scratch than the hardware supports.
    #[error(
        "{asked} bytes of scratch for a work-item are asked for, the hardware has at most {available} (8 MiB less 1 KiB a wave)"
    )]
    Scratch {
        /// The requested size in bytes per work-item.
        asked: u32,
        /// The available size in bytes per work-item.
        available: u32,
    },
    /// A kernel that requests an input that the simulator does not provide.
    #[error("the kernel descriptor asks for {0}, which the simulator does not provide")]
    Input(&'static str),
    /// More initial values than there are SGPRs.
    #[error("the initial state needs {0} SGPRs")]
    TooManySgprs(u32),
    /// A kernel descriptor of the wrong size.
    #[error("a kernel descriptor has 64 bytes, this one has {0}")]
    DescriptorSize(usize),
}
