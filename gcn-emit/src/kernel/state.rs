//! The state in which a wave starts: user and system registers, and the floating-point mode.

use bitflags::bitflags;
use gcn_isa::Reg;

bitflags! {
    /// User SGPRs that a kernel requests; the bits are those of the kernel descriptor (bits 448 to 454).
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct UserSgprs: u8 {
        /// Buffer resource of scratch, 4 SGPRs. Not available with architected flat scratch.
        const PRIVATE_SEGMENT_BUFFER = 1 << 0;
        /// Address of the dispatch packet, 2 SGPRs.
        const DISPATCH_PTR = 1 << 1;
        /// Address of the queue, 2 SGPRs.
        const QUEUE_PTR = 1 << 2;
        /// Address of the kernarg segment, 2 SGPRs.
        const KERNARG_SEGMENT_PTR = 1 << 3;
        /// Number of the dispatch, 2 SGPRs.
        const DISPATCH_ID = 1 << 4;
        /// The initial value of `FLAT_SCRATCH`, 2 SGPRs. Not available with architected flat scratch.
        const FLAT_SCRATCH_INIT = 1 << 5;
        /// Scratch bytes of a work-item, 1 SGPR.
        const PRIVATE_SEGMENT_SIZE = 1 << 6;
    }
}

/// User SGPRs in the order of their registers: flag, number of SGPRs.
const USER_SGPRS: [(UserSgprs, u8); 7] = [
    (UserSgprs::PRIVATE_SEGMENT_BUFFER, 4),
    (UserSgprs::DISPATCH_PTR, 2),
    (UserSgprs::QUEUE_PTR, 2),
    (UserSgprs::KERNARG_SEGMENT_PTR, 2),
    (UserSgprs::DISPATCH_ID, 2),
    (UserSgprs::FLAT_SCRATCH_INIT, 2),
    (UserSgprs::PRIVATE_SEGMENT_SIZE, 1),
];

impl UserSgprs {
    /// The user SGPRs that do not exist with architected flat scratch.
    pub const NOT_ARCHITECTED: UserSgprs = Self::PRIVATE_SEGMENT_BUFFER.union(Self::FLAT_SCRATCH_INIT);

    /// The total number of SGPRs of the requested values (`USER_SGPR_COUNT`): at most 15 of the 16 that can be initialised.
    pub fn registers(self) -> u32 {
        USER_SGPRS.iter().filter(|u| self.contains(u.0)).map(|u| u32::from(u.1)).sum()
    }
}

/// The SGPRs that are initialised when a wave starts, which are contiguous from `s0` on (*Initial Kernel Execution State*).
///
/// ```
/// use gcn_emit::kernel::{InitialSgprs, UserSgprs};
/// use gcn_isa::Reg;
///
/// let user = UserSgprs::KERNARG_SEGMENT_PTR | UserSgprs::DISPATCH_PTR;
/// let initial = InitialSgprs { user, workgroup_ids: [true, false, true], ..InitialSgprs::default() };
/// assert_eq!(initial.user_sgpr(UserSgprs::KERNARG_SEGMENT_PTR), Some(Reg::s(2, 2)));
/// assert_eq!(initial.workgroup_id(2), Some(Reg::s(5, 1)));
/// assert_eq!(initial.workgroup_id(1), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InitialSgprs {
    /// User SGPRs, which are the same in every wave.
    pub user: UserSgprs,
    /// The number of user SGPRs after those in `user`, into which kernarg dwords are loaded before the kernel starts
    /// (`KERNARG_PRELOAD_SPEC` of the descriptor).
    pub preloaded: u8,
    /// True for each dimension (x, y, z) whose workgroup ID is passed in an SGPR.
    pub workgroup_ids: [bool; 3],
    /// True if the workgroup info is passed in an SGPR.
    pub workgroup_info: bool,
    /// True if the byte offset of the wave's scratch is passed in an SGPR.
    pub scratch_wave_offset: bool,
}

impl InitialSgprs {
    /// The registers of one user value; `None` if the value is not requested.
    pub fn user_sgpr(&self, which: UserSgprs) -> Option<Reg> {
        let at = USER_SGPRS.iter().position(|u| u.0 == which)?;
        let before = USER_SGPRS[..at].iter().fold(UserSgprs::empty(), |set, u| set | u.0);
        let index = (self.user & before).registers();
        self.user.contains(which).then(|| Reg::s(index as u16, USER_SGPRS[at].1))
    }

    /// The register with the workgroup ID in a dimension (0 is x); `None` if it is not requested.
    pub fn workgroup_id(&self, dimension: usize) -> Option<Reg> {
        (dimension < 3).then(|| self.system(dimension)).flatten()
    }

    /// The register with the workgroup info; `None` if it is not requested.
    pub fn workgroup_info(&self) -> Option<Reg> {
        self.system(3)
    }

    /// The register with the wave's scratch offset; `None` if it is not requested.
    pub fn scratch_wave_offset(&self) -> Option<Reg> {
        self.system(4)
    }

    /// The number of SGPRs that are initialised.
    pub fn count(&self) -> u32 {
        self.user_count() + self.enabled().into_iter().map(u32::from).sum::<u32>()
    }

    fn user_count(&self) -> u32 {
        self.user.registers() + u32::from(self.preloaded)
    }

    fn enabled(&self) -> [bool; 5] {
        let [x, y, z] = self.workgroup_ids;
        [x, y, z, self.workgroup_info, self.scratch_wave_offset]
    }

    fn system(&self, which: usize) -> Option<Reg> {
        let enabled = self.enabled();
        let before: u32 = enabled[..which].iter().copied().map(u32::from).sum();
        enabled[which].then(|| Reg::s((self.user_count() + before) as u16, 1))
    }
}

/// Which work-item IDs are in VGPRs when a wave starts (`ENABLE_VGPR_WORKITEM_ID`): in `v0`, `v1`, `v2`, or packed in
/// `v0` if [`gcn_isa::Target::has_packed_tid`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum WorkItemIds {
    /// x only.
    #[default]
    X = 0,
    /// x and y.
    XY = 1,
    /// All three.
    XYZ = 2,
}

impl WorkItemIds {
    /// The IDs of the first dimensions: 1 is x, 2 is x and y, 3 is all; other numbers are clamped.
    pub const fn of_dimensions(dimensions: u8) -> WorkItemIds {
        match dimensions {
            0 | 1 => WorkItemIds::X,
            2 => WorkItemIds::XY,
            _ => WorkItemIds::XYZ,
        }
    }
}

/// Rounding modes (*Floating Point Rounding Mode Enumeration Values*).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RoundMode {
    /// To nearest, ties to even.
    #[default]
    NearEven = 0,
    /// Toward plus infinity.
    PlusInfinity = 1,
    /// Toward minus infinity.
    MinusInfinity = 2,
    /// Toward zero.
    Zero = 3,
}

/// Treatment of denormals (*Floating Point Denorm Mode Enumeration Values*).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DenormMode {
    /// Flushed both as sources and as results.
    FlushSrcDst = 0,
    /// Flushed as results.
    FlushDst = 1,
    /// Flushed as sources.
    FlushSrc = 2,
    /// Preserved.
    FlushNone = 3,
}

impl RoundMode {
    pub(crate) const fn from_bits(bits: u32) -> RoundMode {
        match bits & 3 {
            0 => RoundMode::NearEven,
            1 => RoundMode::PlusInfinity,
            2 => RoundMode::MinusInfinity,
            _ => RoundMode::Zero,
        }
    }
}

impl DenormMode {
    pub(crate) const fn from_bits(bits: u32) -> DenormMode {
        match bits & 3 {
            0 => DenormMode::FlushSrcDst,
            1 => DenormMode::FlushDst,
            2 => DenormMode::FlushSrc,
            _ => DenormMode::FlushNone,
        }
    }
}

/// The MODE register when a wave starts (`compute_pgm_rsrc1`). `Default` is the assembler's: f32 denormals are flushed,
/// those of f16 and f64 are preserved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FloatMode {
    /// Rounding of f32 (`FLOAT_ROUND_MODE_32`).
    pub round_32: RoundMode,
    /// Rounding of f16 and f64 (`FLOAT_ROUND_MODE_16_64`).
    pub round_16_64: RoundMode,
    /// Denormals of f32 (`FLOAT_DENORM_MODE_32`).
    pub denorm_32: DenormMode,
    /// Denormals of f16 and f64 (`FLOAT_DENORM_MODE_16_64`).
    pub denorm_16_64: DenormMode,
    /// True if `clamp` turns NaN into zero (`ENABLE_DX10_CLAMP`).
    pub dx10_clamp: bool,
    /// True if signaling NaNs are quieted and propagated (`ENABLE_IEEE_MODE`).
    pub ieee_mode: bool,
    /// True if an f16 overflow gives the largest finite number (`FP16_OVFL`).
    pub fp16_overflow: bool,
}

impl Default for FloatMode {
    fn default() -> FloatMode {
        FloatMode {
            round_32: RoundMode::NearEven,
            round_16_64: RoundMode::NearEven,
            denorm_32: DenormMode::FlushSrcDst,
            denorm_16_64: DenormMode::FlushNone,
            dx10_clamp: true,
            ieee_mode: true,
            fp16_overflow: false,
        }
    }
}

/// The fields of `compute_pgm_rsrc1` on RDNA that determine how the waves of a workgroup are run. `Default` has the
/// values that the assembler uses without directives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scheduling {
    /// True if a workgroup runs on both compute units of a workgroup processor (`WGP_MODE`) instead of on one.
    pub workgroup_processors: bool,
    /// True if loads and samples return in order (`MEM_ORDERED`).
    pub ordered_loads: bool,
    /// True if each wave of a SIMD makes progress (`FWD_PROGRESS`); otherwise the oldest wave has priority.
    pub forward_progress: bool,
    /// True if the waves of a SIMD are scheduled round-robin (`WG_RR_EN`, GFX12).
    pub round_robin: bool,
}

impl Default for Scheduling {
    fn default() -> Scheduling {
        Scheduling {
            workgroup_processors: true,
            ordered_loads: true,
            forward_progress: true,
            round_robin: false,
        }
    }
}

bitflags! {
    /// Exceptions that trap when a wave starts; the bits are those of `compute_pgm_rsrc2` from bit 24 on.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct FloatExceptions: u8 {
        /// IEEE 754 invalid operation.
        const INVALID_OPERATION = 1 << 0;
        /// A source is denormal.
        const DENORMAL_SOURCE = 1 << 1;
        /// IEEE 754 division by zero.
        const DIVISION_BY_ZERO = 1 << 2;
        /// IEEE 754 overflow.
        const OVERFLOW = 1 << 3;
        /// IEEE 754 underflow.
        const UNDERFLOW = 1 << 4;
        /// IEEE 754 inexact.
        const INEXACT = 1 << 5;
        /// Integer division by zero (`v_rcp_iflag_f32`).
        const INT_DIVIDE_BY_ZERO = 1 << 6;
    }
}
