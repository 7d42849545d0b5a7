//! How many waves a SIMD holds at once, and what limits them.

use std::fmt;

use gcn_isa::Target;

use super::KernelSpec;

/// SIMDs of a compute unit.
pub const SIMDS_PER_CU: u32 = 4;
/// Workgroups of more than one wave that a compute unit holds: each takes one of its barriers.
const BARRIERS_PER_CU: u32 = 16;

/// A resource that limits occupancy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limiter {
    /// The wave slots of the SIMD: nothing else does.
    WaveSlots,
    /// VGPRs, AGPRs included.
    Vgprs,
    /// SGPRs.
    Sgprs,
    /// LDS.
    Lds,
    /// The workgroup size: whole workgroups, and a limited number of them, leave slots empty.
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

/// Waves on a SIMD that each resource alone would allow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Wave slots.
    pub slots: u32,
    /// VGPRs, AGPRs included.
    pub vgprs: u32,
    /// SGPRs.
    pub sgprs: u32,
    /// Workgroups as whole, limited by wave slots and barriers.
    pub workgroups: u32,
    /// LDS.
    pub lds: u32,
}

/// How many waves run at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occupancy {
    /// Waves on the fullest SIMD of a compute unit that is full of whole workgroups; 0 if not even one fits.
    pub waves_per_simd: u32,
    /// Whole workgroups on a compute unit; 0 if not even one fits.
    pub workgroups_per_cu: u32,
    /// The resource that limits the number of waves.
    pub limited_by: Limiter,
    /// The number of waves that each resource alone would allow.
    pub limits: Limits,
}

/// The resources of a kernel that matter to occupancy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// VGPRs with AGPRs, as [`KernelSpec::total_vgprs`] counts them.
    pub vgprs: u32,
    /// SGPRs with the named ones, as [`KernelSpec::total_sgprs`] counts them.
    pub sgprs: u32,
    /// LDS bytes of a workgroup.
    pub lds_bytes: u32,
    /// Waves of a workgroup.
    pub waves_per_workgroup: u32,
}

impl Usage {
    /// The resources that `kernel` uses with its largest workgroup.
    pub fn of(kernel: &KernelSpec) -> Usage {
        Usage {
            vgprs: kernel.total_vgprs(),
            sgprs: kernel.total_sgprs(),
            lds_bytes: kernel.lds_bytes,
            waves_per_workgroup: kernel.workgroup.waves(),
        }
    }

    fn waves(&self) -> u32 {
        self.waves_per_workgroup.max(1)
    }
}

/// SGPRs of a wave and the waves that a SIMD then holds; its 800 SGPRs are handed out in blocks of 16, of
/// which a wave can address 102 and the named ones.
const SGPR_STEPS: [(u32, u32); 3] = [(80, 10), (88, 9), (100, 8)];
/// Waves with more SGPRs than that.
const WAVES_WITH_MOST_SGPRS: u32 = 7;

impl Limits {
    /// The limits for `kernel`.
    pub fn of(kernel: &KernelSpec) -> Limits {
        Limits::of_usage(kernel.target(), Usage::of(kernel))
    }

    /// The limits for `usage` on `target`.
    pub fn of_usage(target: Target, usage: Usage) -> Limits {
        let slots = target.max_waves_per_simd();
        let vgprs = usage.vgprs.max(1).next_multiple_of(target.vgpr_granule());
        let sgprs = SGPR_STEPS.iter().find(|step| usage.sgprs <= step.0);
        let by_slots = workgroups_by_slots(target, usage);
        let by_lds = workgroups_by_lds(target, usage).min(by_slots);
        let per_simd = |workgroups: u32| (workgroups * usage.waves()).div_ceil(SIMDS_PER_CU);
        Limits {
            slots,
            vgprs: (target.vgprs_per_simd() / vgprs).min(slots),
            sgprs: sgprs.map_or(WAVES_WITH_MOST_SGPRS, |step| step.1).min(slots),
            workgroups: per_simd(by_slots),
            lds: per_simd(by_lds),
        }
    }

    /// The least of them, which compilers report as occupancy: it does not count that registers must suffice
    /// for whole workgroups.
    pub fn least(&self) -> u32 {
        [self.slots, self.vgprs, self.sgprs, self.workgroups, self.lds].into_iter().min().unwrap_or(0)
    }
}

/// Workgroups that the wave slots and barriers of a compute unit allow.
fn workgroups_by_slots(target: Target, usage: Usage) -> u32 {
    let barriers = if usage.waves() == 1 { u32::MAX } else { BARRIERS_PER_CU };
    (target.max_waves_per_simd() * SIMDS_PER_CU / usage.waves()).min(barriers)
}

/// Workgroups that the LDS of a compute unit allows.
fn workgroups_by_lds(target: Target, usage: Usage) -> u32 {
    match usage.lds_bytes {
        0 => u32::MAX,
        bytes => target.lds_per_cu() / bytes.checked_next_multiple_of(lds_granule(target)).unwrap_or(bytes),
    }
}

/// Bytes in which LDS is handed out: 128 dwords, 320 where a compute unit has 160 KiB.
fn lds_granule(target: Target) -> u32 {
    if target.lds_per_cu() > 65_536 { 1280 } else { 512 }
}

/// The occupancy of `kernel` with its largest workgroup.
pub fn occupancy(kernel: &KernelSpec) -> Occupancy {
    occupancy_of(kernel.target(), Usage::of(kernel))
}

/// The occupancy of a kernel that takes `usage`.
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
    let limits = Limits::of_usage(target, usage);
    let Limits { slots, vgprs, sgprs, workgroups, lds } = limits;
    // Whole waves on each SIMD, whole workgroups on the compute unit.
    let by_registers = vgprs.min(sgprs) * SIMDS_PER_CU / usage.waves();
    let by_slots = workgroups_by_slots(target, usage);
    let workgroups_per_cu = by_registers.min(by_slots).min(workgroups_by_lds(target, usage));
    let waves_per_simd = (workgroups_per_cu * usage.waves()).div_ceil(SIMDS_PER_CU);
    let candidates = [
        (vgprs, Limiter::Vgprs),
        (sgprs, Limiter::Sgprs),
        (workgroups, Limiter::WorkgroupSize),
        (lds, Limiter::Lds),
    ];
    // Of equal limits the first is named.
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
