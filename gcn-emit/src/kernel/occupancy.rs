//! The number of waves that a SIMD can hold at once, and the resources that limit it.

use std::fmt;

use gcn_isa::{Target, WaveSize};

use super::KernelSpec;

/// The number of SIMDs per compute unit, on every target in [`Target::GFX9`].
pub const SIMDS_PER_CU: u32 = Target::GFX942.simds_per_cu();
/// The maximum number of workgroups of more than one wave on a compute unit: each needs one of its barriers.
const BARRIERS_PER_CU: u32 = 16;

/// The wave size, and where a workgroup runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mode {
    /// The wave size.
    pub wave: WaveSize,
    /// True if a workgroup may run on both compute units of a workgroup processor, with the LDS of both.
    pub workgroup_processor: bool,
}

impl Mode {
    /// The usual mode of `target`.
    pub const fn usual(target: Target) -> Mode {
        Mode { wave: target.usual_wave(), workgroup_processor: target.has_workgroup_processors() }
    }

    /// The mode of a kernel.
    pub fn of(kernel: &KernelSpec) -> Mode {
        let has_processors = kernel.target().has_workgroup_processors();
        let workgroup_processor = has_processors && kernel.scheduling.workgroup_processors;
        Mode { wave: kernel.program.wave, workgroup_processor }
    }

    /// Every mode that `target` supports.
    pub fn all(target: Target) -> impl Iterator<Item = Mode> {
        let processors =
            [false, true].into_iter().filter(move |both| !both || target.has_workgroup_processors());
        let waves = target.wave_sizes().iter();
        waves.flat_map(move |wave| {
            processors.clone().map(|both| Mode { wave: *wave, workgroup_processor: both })
        })
    }

    /// The number of compute units over which a workgroup may be distributed.
    pub const fn compute_units(self) -> u32 {
        if self.workgroup_processor { 2 } else { 1 }
    }

    /// The number of SIMDs on which a workgroup may run.
    pub const fn simds(self, target: Target) -> u32 {
        self.compute_units() * target.simds_per_cu()
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.workgroup_processor { "workgroup processor" } else { "compute unit" };
        write!(f, "waves of {} lanes on a {unit}", self.wave.lanes())
    }
}

/// A resource that limits occupancy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limiter {
    /// The wave slots of the SIMD. In this case no other resource limits occupancy.
    WaveSlots,
    /// VGPRs, AGPRs included.
    Vgprs,
    /// SGPRs.
    Sgprs,
    /// LDS.
    Lds,
    /// The workgroup size: slots remain empty because only whole workgroups can run, or because the number of workgroups is limited.
    WorkgroupSize,
}

impl fmt::Display for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limiter::WaveSlots => "wave slots",
            Limiter::Vgprs => "VGPRs",
            Limiter::Sgprs => "SGPRs",
            Limiter::Lds => "LDS",
            Limiter::WorkgroupSize => "the workgroup size",
        })
    }
}

/// For each resource, the number of waves on a SIMD that it alone would allow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Wave slots.
    pub slots: u32,
    /// VGPRs, AGPRs included.
    pub vgprs: u32,
    /// SGPRs.
    pub sgprs: u32,
    /// Whole workgroups, limited by wave slots and barriers.
    pub workgroups: u32,
    /// LDS.
    pub lds: u32,
}

/// The number of waves that run at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occupancy {
    /// The number of waves on the fullest SIMD of a compute unit that runs as many whole workgroups as possible; 0 if not even one fits.
    pub waves_per_simd: u32,
    /// The number of whole workgroups on a compute unit. If a workgroup uses both compute units of a workgroup processor, the number on a
    /// workgroup processor. 0 if not even one fits.
    pub workgroups_per_cu: u32,
    /// The resource that limits the number of waves.
    pub limited_by: Limiter,
    /// The number of waves that each resource alone would allow.
    pub limits: Limits,
}

/// The resources of a kernel that matter to occupancy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// The number of VGPRs and AGPRs, as [`KernelSpec::total_vgprs`] counts them.
    pub vgprs: u32,
    /// The number of SGPRs including the named ones, as [`KernelSpec::total_sgprs`] counts them.
    pub sgprs: u32,
    /// The LDS size of a workgroup in bytes.
    pub lds_bytes: u32,
    /// The number of waves of a workgroup.
    pub waves_per_workgroup: u32,
}

impl Usage {
    /// The resources that `kernel` uses with its largest workgroup.
    pub fn of(kernel: &KernelSpec) -> Usage {
        Usage {
            vgprs: kernel.total_vgprs(),
            sgprs: kernel.total_sgprs(),
            lds_bytes: kernel.lds_bytes,
            waves_per_workgroup: kernel.workgroup.waves(kernel.program.wave),
        }
    }

    fn waves(&self) -> u32 {
        self.waves_per_workgroup.max(1)
    }
}

/// For some numbers of SGPRs of a wave, the number of waves that a SIMD can then run. A SIMD's 800 SGPRs are allocated in blocks of 16; a
/// wave can address 102 SGPRs and the named ones.
const SGPR_STEPS: [(u32, u32); 3] = [(80, 10), (88, 9), (100, 8)];
/// The number of waves if each has more SGPRs than [`SGPR_STEPS`] lists.
const WAVES_WITH_MOST_SGPRS: u32 = 7;

impl Limits {
    /// The limits for `kernel`.
    pub fn of(kernel: &KernelSpec) -> Limits {
        Limits::in_mode(kernel.target(), Mode::of(kernel), Usage::of(kernel))
    }

    /// The limits for `usage` on `target` in its usual mode.
    pub fn of_usage(target: Target, usage: Usage) -> Limits {
        Limits::in_mode(target, Mode::usual(target), usage)
    }

    /// The limits for `usage` on `target`.
    pub fn in_mode(target: Target, mode: Mode, usage: Usage) -> Limits {
        let slots = target.max_waves_per_simd();
        let file = target.vgpr_file(mode.wave);
        let vgprs = usage.vgprs.max(1).next_multiple_of(file.granule);
        let sgprs = match target.counts_sgprs() {
            true => SGPR_STEPS
                .iter()
                .find(|step| usage.sgprs <= step.0)
                .map_or(WAVES_WITH_MOST_SGPRS, |step| step.1),
            false => slots,
        };
        let by_slots = workgroups_by_slots(target, mode, usage);
        let by_lds = workgroups_by_lds(target, mode, usage).min(by_slots);
        let per_simd = |workgroups: u32| (workgroups * usage.waves()).div_ceil(mode.simds(target));
        Limits {
            slots,
            vgprs: (file.registers / vgprs).min(slots),
            sgprs: sgprs.min(slots),
            workgroups: per_simd(by_slots),
            lds: per_simd(by_lds),
        }
    }

    /// The smallest limit, which compilers report as occupancy. It ignores that only whole workgroups can run.
    pub fn least(&self) -> u32 {
        [self.slots, self.vgprs, self.sgprs, self.workgroups, self.lds].into_iter().min().unwrap_or(0)
    }
}

/// The number of workgroups that the wave slots and barriers of a compute unit allow.
fn workgroups_by_slots(target: Target, mode: Mode, usage: Usage) -> u32 {
    let barriers = if usage.waves() == 1 { u32::MAX } else { BARRIERS_PER_CU * mode.compute_units() };
    (target.max_waves_per_simd() * mode.simds(target) / usage.waves()).min(barriers)
}

/// The number of workgroups that the LDS of a compute unit allows.
fn workgroups_by_lds(target: Target, mode: Mode, usage: Usage) -> u32 {
    match usage.lds_bytes {
        0 => u32::MAX,
        // The LDS of a single workgroup cannot exceed that of one compute unit, even if the workgroup runs on two.
        bytes if bytes > target.lds_per_cu() => 0,
        bytes => {
            let allocated = bytes.checked_next_multiple_of(target.lds_granule()).unwrap_or(bytes);
            mode.compute_units() * target.lds_per_cu() / allocated
        }
    }
}

/// The occupancy of `kernel` with its largest workgroup.
pub fn occupancy(kernel: &KernelSpec) -> Occupancy {
    occupancy_in(kernel.target(), Mode::of(kernel), Usage::of(kernel))
}

/// The occupancy of a kernel that needs `usage`, in the usual mode of `target`.
///
/// ```
/// use gcn_emit::occupancy::{Limiter, Usage, occupancy_of};
/// use gcn_isa::Target;
///
/// let usage = Usage { vgprs: 66, sgprs: 32, lds_bytes: 0, waves_per_workgroup: 4 };
/// let occupancy = occupancy_of(Target::GFX90A, usage);
/// assert_eq!((occupancy.waves_per_simd, occupancy.limited_by), (7, Limiter::Vgprs));
/// ```
pub fn occupancy_of(target: Target, usage: Usage) -> Occupancy {
    occupancy_in(target, Mode::usual(target), usage)
}

/// The occupancy of a kernel that needs `usage`.
pub fn occupancy_in(target: Target, mode: Mode, usage: Usage) -> Occupancy {
    let limits = Limits::in_mode(target, mode, usage);
    let Limits { slots, vgprs, sgprs, workgroups, lds } = limits;
    // Waves are not divided between SIMDs, and workgroups are not divided between compute units.
    let by_registers = vgprs.min(sgprs) * mode.simds(target) / usage.waves();
    let by_slots = workgroups_by_slots(target, mode, usage);
    let workgroups_per_cu = by_registers.min(by_slots).min(workgroups_by_lds(target, mode, usage));
    let waves_per_simd = (workgroups_per_cu * usage.waves()).div_ceil(mode.simds(target));
    let candidates = [
        (vgprs, Limiter::Vgprs),
        (sgprs, Limiter::Sgprs),
        (workgroups, Limiter::WorkgroupSize),
        (lds, Limiter::Lds),
    ];
    // If several limits are equal, the first one is reported.
    let tightest = candidates.into_iter().filter(|c| c.0 < slots).min_by_key(|c| c.0);
    let limited_by = match tightest {
        None if waves_per_simd == slots => Limiter::WaveSlots,
        Some((least, limiter)) if waves_per_simd == least || workgroups_per_cu == 0 => limiter,
        _ => Limiter::WorkgroupSize,
    };
    Occupancy { waves_per_simd, workgroups_per_cu, limited_by, limits }
}

impl fmt::Display for Occupancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} waves per SIMD", self.waves_per_simd, self.limits.slots)?;
        match self.limited_by {
            Limiter::WaveSlots => Ok(()),
            limiter => write!(f, ", limited by {limiter}"),
        }
    }
}
