//! The number of registers that a kernel needs.

use gcn_isa::{Program, Reg, RegFile, Target, reg};

use crate::target_id::Feature;

/// The registers that a kernel uses. Each count is the highest register number plus one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Resources {
    /// VGPRs (`v0`..), AGPRs not included.
    pub next_free_vgpr: u32,
    /// AGPRs (`a0`..).
    pub agprs: u32,
    /// The first AGPR in the unified register file: a multiple of 4 from 4 to 256, at least `next_free_vgpr`. `None`
    /// selects the smallest possible number.
    pub first_agpr: Option<u32>,
    /// SGPRs (`s0` and on); named ones are not included.
    pub next_free_sgpr: u32,
    /// True if VCC is read or written.
    pub uses_vcc: bool,
    /// True if `FLAT_SCRATCH` is read or written, by name or by `flat_` and `scratch_` instructions.
    pub uses_flat_scratch: bool,
}

impl Resources {
    /// The registers that `program` uses, explicitly or implicitly.
    pub fn of(program: &Program) -> Resources {
        let mut resources = Resources::default();
        for line in &program.lines {
            let (reads, writes) = (line.inst.reads(), line.inst.writes());
            reads.iter().chain(&writes).for_each(|used| resources.add(program.target, used.reg));
        }
        resources
    }

    /// Includes a register tuple of a target.
    pub fn add(&mut self, target: Target, used: Reg) {
        let end = u32::from(used.end());
        match used.file {
            RegFile::Vgpr => self.next_free_vgpr = self.next_free_vgpr.max(end),
            RegFile::Agpr => self.agprs = self.agprs.max(end),
            RegFile::Sgpr if u32::from(used.index) < target.addressable_sgprs() => {
                self.next_free_sgpr = self.next_free_sgpr.max(end);
            }
            RegFile::Sgpr => {
                self.uses_vcc |= used.overlaps(reg::VCC);
                self.uses_flat_scratch |=
                    target.named_sgprs().flat_scratch.is_some() && used.overlaps(reg::FLAT_SCRATCH);
            }
        }
    }

    /// True if all registers that `other` includes are included in `self`.
    pub fn covers(&self, other: &Resources) -> bool {
        self.next_free_vgpr >= other.next_free_vgpr
            && self.agprs >= other.agprs
            && self.next_free_sgpr >= other.next_free_sgpr
            && self.uses_vcc >= other.uses_vcc
            && self.uses_flat_scratch >= other.uses_flat_scratch
    }

    /// The first AGPR in a unified file.
    pub fn accum_offset(&self) -> u32 {
        self.first_agpr.unwrap_or_else(|| self.next_free_vgpr.max(1).next_multiple_of(4))
    }

    /// The number of VGPRs and AGPRs for the purpose of allocation (*`compute_pgm_rsrc1`*: `vgprs_used`).
    pub fn total_vgprs(&self, target: Target) -> u32 {
        if !target.has_unified_agprs() {
            self.next_free_vgpr.max(self.agprs)
        } else if self.agprs > 0 || self.first_agpr.is_some() {
            self.accum_offset() + self.agprs
        } else {
            self.next_free_vgpr
        }
    }

    /// The number of SGPRs that are allocated in addition to the numbered ones. In the order VCC, `XNACK_MASK`, `FLAT_SCRATCH`, each named
    /// pair includes the pairs before it (guide: the `.amdhsa_reserve_` directives).
    pub fn extra_sgprs(&self, target: Target, xnack: Feature) -> u32 {
        let vcc = if self.uses_vcc { 2 } else { 0 };
        if !target.counts_sgprs() {
            vcc
        } else if self.uses_flat_scratch || target.has_architected_flat_scratch() {
            6
        } else if target.supports_xnack() && xnack != Feature::Off {
            4
        } else {
            vcc
        }
    }
}
