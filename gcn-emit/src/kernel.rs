//! A kernel with all the information that a code object contains about it: code, registers, memory, initial state,
//! arguments.

mod check;
pub mod occupancy;
mod resources;
mod state;
mod variable;

use gcn_isa::{Program, Target, WaveSize};

pub use check::SpecError;
pub use resources::Resources;
pub use state::{
    DenormMode, FloatExceptions, FloatMode, InitialSgprs, RoundMode, Scheduling, UserSgprs, WorkItemIds,
};
pub use variable::{Piece, PieceAt, Variable, VariableType};

use crate::metadata::{KernelArg, KernelMetadata, Metadata, VERSION_V4, VERSION_V5};
use crate::target_id::{Feature, TargetId};
use crate::version::CodeObjectVersion;

/// The most work-items of a workgroup.
pub const MAX_WORKGROUP: u32 = 1024;

/// The workgroup sizes that a kernel supports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkgroupSize {
    /// Exactly this size (`.reqd_workgroup_size`); the runtime rejects any other.
    Required([u32; 3]),
    /// Any shape with at most this many work-items (`.max_flat_workgroup_size`).
    AtMost(u32),
}

impl WorkgroupSize {
    /// The value of `.max_flat_workgroup_size`; saturates if the product overflows.
    pub fn max_flat(self) -> u32 {
        match self {
            WorkgroupSize::Required(size) => size.into_iter().fold(1, u32::saturating_mul),
            WorkgroupSize::AtMost(size) => size,
        }
    }

    /// The number of waves of the largest workgroup.
    pub fn waves(self, wave: WaveSize) -> u32 {
        self.max_flat().div_ceil(wave.lanes())
    }
}

/// A kernel as a code object contains it. Names in italics in the documentation of the fields are sections of the LLVM AMDGPU guide.
///
/// [`KernelSpec::new`] derives the fields from the program where possible, and uses the assembler's defaults for the rest; assign the
/// fields that must differ.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelSpec {
    /// The code, with target and kernel name. The name is the symbol of the entry point, `<name>.kd` that of
    /// the descriptor (*Symbols*).
    pub program: Program,
    /// The XNACK setting that the code requires (*Target Features*).
    pub xnack: Feature,
    /// The SRAM-ECC setting that the code requires (*Target Features*).
    pub sramecc: Feature,
    /// The number of registers of each kind: the highest number used plus one.
    pub resources: Resources,
    /// The statically known LDS size of a workgroup in bytes (`GROUP_SEGMENT_FIXED_SIZE`); a launch may add more.
    pub lds_bytes: u32,
    /// The scratch size of a work-item in bytes (`PRIVATE_SEGMENT_FIXED_SIZE`).
    pub scratch_bytes: u32,
    /// The size of the kernarg segment in bytes (`KERNARG_SIZE`).
    pub kernarg_bytes: u32,
    /// The alignment of the kernarg segment (`.kernarg_segment_align`), a power of two.
    pub kernarg_align: u32,
    /// True if the code's stack has no fixed size (`USES_DYNAMIC_STACK`).
    pub uses_dynamic_stack: bool,
    /// The user SGPRs that are initialised, from `s0` on (*Initial Kernel Execution State*).
    pub user_sgprs: UserSgprs,
    /// System SGPRs with the workgroup's ID in x, y, z (`ENABLE_SGPR_WORKGROUP_ID_X`, _Y, _Z).
    pub workgroup_ids: [bool; 3],
    /// A system SGPR with the wave's number and the size of the workgroup (`ENABLE_SGPR_WORKGROUP_INFO`).
    pub workgroup_info: bool,
    /// The work-item IDs in VGPRs (`ENABLE_VGPR_WORKITEM_ID`).
    pub work_item_ids: WorkItemIds,
    /// Rounding, denormals, clamping and NaN treatment (`compute_pgm_rsrc1`).
    pub float_mode: FloatMode,
    /// Exceptions that trap (`compute_pgm_rsrc2`).
    pub exceptions: FloatExceptions,
    /// True if the waves of a workgroup may run on different compute units, on gfx90a and later (`TG_SPLIT` of `compute_pgm_rsrc3`).
    pub tg_split: bool,
    /// How the waves of a workgroup are run, on targets that offer a choice (RDNA).
    pub scheduling: Scheduling,
    /// The number of VGPRs that the halves of a 64-lane wave share (RDNA 1 to 3): a multiple of 8 below 128.
    pub shared_vgprs: u32,
    /// The amount of code that is prefetched before a wave starts (RDNA 3 and later, `INST_PREF_SIZE`), in the units of
    /// [`inst_pref_size`](gcn_isa::InstructionSet::inst_pref_size).
    pub inst_pref_size: u32,
    /// The supported workgroup sizes.
    pub workgroup: WorkgroupSize,
    /// True if every grid is a whole number of workgroups in each dimension (`.uniform_work_group_size`).
    pub uniform_workgroups: bool,
    /// The arguments, for the runtime and for tools (`.args`).
    pub args: Vec<KernelArg>,
    /// Data placed after the code for the code to read, [`constants_offset`] bytes from the code's start.
    pub constants: Vec<u8>,
    /// If true, debug information with the source line of each instruction is emitted, for program lines that have one
    /// ([`Line::loc`](gcn_isa::program::Line::loc)): DWARF in a code object, `.loc` in assembly.
    pub source_lines: bool,
    /// With `source_lines`: the variables of the source, and their locations.
    pub variables: Vec<Variable>,
}

/// The distance of [`KernelSpec::constants`] from the start of a kernel's code, whose size is `code` bytes. It is aligned to a cache line,
/// and the constants are more than 64 bytes after the last instruction, so that no distance in the code can be an inline constant.
pub const fn constants_offset(code: u64) -> u64 {
    (code + 65).next_multiple_of(64)
}

impl KernelSpec {
    /// A kernel with the resources that `program` uses, no arguments, and the assembler's defaults: no user SGPRs, the workgroup ID in x,
    /// and the work-item ID in x.
    pub fn new(program: Program, workgroup: WorkgroupSize) -> KernelSpec {
        KernelSpec {
            resources: Resources::of(&program),
            program,
            xnack: Feature::Any,
            sramecc: Feature::Any,
            lds_bytes: 0,
            scratch_bytes: 0,
            kernarg_bytes: 0,
            kernarg_align: 8,
            uses_dynamic_stack: false,
            user_sgprs: UserSgprs::empty(),
            workgroup_ids: [true, false, false],
            workgroup_info: false,
            work_item_ids: WorkItemIds::X,
            float_mode: FloatMode::default(),
            exceptions: FloatExceptions::empty(),
            tg_split: false,
            scheduling: Scheduling::default(),
            shared_vgprs: 0,
            inst_pref_size: 0,
            workgroup,
            uniform_workgroups: false,
            args: Vec::new(),
            constants: Vec::new(),
            source_lines: false,
            variables: Vec::new(),
        }
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.program.name
    }

    /// The processor.
    pub fn target(&self) -> Target {
        self.program.target
    }

    /// The processor with its feature settings.
    pub fn target_id(&self) -> TargetId {
        TargetId { target: self.program.target, xnack: self.xnack, sramecc: self.sramecc }
    }

    /// The symbol of the kernel descriptor.
    pub fn descriptor_symbol(&self) -> String {
        format!("{}.kd", self.name())
    }

    /// The first AGPR in the unified register file, if there is one (`ACCUM_OFFSET`).
    pub fn accum_offset(&self) -> Option<u32> {
        self.target().has_unified_agprs().then(|| self.resources.accum_offset())
    }

    /// The value of `.amdhsa_next_free_vgpr` and `.vgpr_count`: the total of VGPRs and AGPRs in a unified file, or the
    /// larger of the two numbers for separate files.
    pub fn total_vgprs(&self) -> u32 {
        self.resources.total_vgprs(self.target())
    }

    /// The value of `.amdhsa_next_free_sgpr`. It covers the SGPRs that the program uses, and those that are initialised even if the program
    /// does not read them.
    pub fn next_free_sgpr(&self) -> u32 {
        self.resources.next_free_sgpr.max(self.initial_sgprs().count())
    }

    /// The number of SGPRs including those for VCC, `FLAT_SCRATCH` and `XNACK_MASK` (`.sgpr_count`).
    pub fn total_sgprs(&self) -> u32 {
        self.next_free_sgpr() + self.resources.extra_sgprs(self.target(), self.xnack)
    }

    /// True if the wave's scratch is initialised (`ENABLE_PRIVATE_SEGMENT`).
    pub fn uses_scratch(&self) -> bool {
        self.scratch_bytes > 0 || self.uses_dynamic_stack
    }

    /// The registers of the user and system values when a wave starts.
    pub fn initial_sgprs(&self) -> InitialSgprs {
        InitialSgprs {
            user: self.user_sgprs,
            preloaded: 0,
            workgroup_ids: self.workgroup_ids,
            workgroup_info: self.workgroup_info,
            scratch_wave_offset: self.uses_scratch() && !self.target().has_architected_flat_scratch(),
        }
    }

    /// The metadata of the kernel.
    pub fn metadata(&self) -> KernelMetadata {
        KernelMetadata {
            agpr_count: self.target().has_agprs().then_some(self.resources.agprs),
            args: self.args.clone(),
            group_segment_fixed_size: self.lds_bytes,
            kernarg_segment_align: self.kernarg_align,
            kernarg_segment_size: self.kernarg_bytes,
            max_flat_workgroup_size: self.workgroup.max_flat(),
            name: self.name().to_owned(),
            private_segment_fixed_size: self.scratch_bytes,
            reqd_workgroup_size: match self.workgroup {
                WorkgroupSize::Required(size) => Some(size),
                WorkgroupSize::AtMost(_) => None,
            },
            sgpr_count: self.total_sgprs(),
            symbol: self.descriptor_symbol(),
            uniform_work_group_size: self.uniform_workgroups.then_some(1),
            uses_dynamic_stack: Some(self.uses_dynamic_stack),
            vgpr_count: self.total_vgprs(),
            wavefront_size: self.program.wave.lanes(),
            ..KernelMetadata::default()
        }
    }
}

impl Metadata {
    /// The metadata of a code object (V5) that contains `kernels`, which must have the same target ID.
    pub fn of(kernels: &[KernelSpec]) -> Metadata {
        Metadata::of_version(kernels, CodeObjectVersion::V5)
    }

    /// The metadata of a code object of any version. V6 has the same metadata as V5; V4 lacks what V5 added (guide, *Code Object V5
    /// Metadata*).
    pub fn of_version(kernels: &[KernelSpec], version: CodeObjectVersion) -> Metadata {
        let since_v5 = version >= CodeObjectVersion::V5;
        let metadata = |kernel: &KernelSpec| {
            let all = kernel.metadata();
            KernelMetadata {
                uniform_work_group_size: all.uniform_work_group_size.filter(|_| since_v5),
                uses_dynamic_stack: all.uses_dynamic_stack.filter(|_| since_v5),
                ..all
            }
        };
        Metadata {
            kernels: kernels.iter().map(metadata).collect(),
            printf: Vec::new(),
            target: kernels.first().map(|k| k.target_id().triple()).unwrap_or_default(),
            version: if since_v5 { VERSION_V5 } else { VERSION_V4 },
        }
    }
}
