//! Checks a kernel against the limits of its target.

use gcn_isa::{Target, WaveSize};

use super::occupancy::{Limits, Mode};
use super::{KernelSpec, MAX_WORKGROUP, Resources, Scheduling, UserSgprs, WorkgroupSize};
use crate::target_id::Feature;

/// The most VGPRs that the halves of a wave can share.
const MOST_SHARED_VGPRS: u32 = 120;

/// The error for a kernel that cannot be represented in a code object, or that no machine can start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The name cannot be a symbol.
    #[error("kernel name {name:?} cannot be a symbol; use letters, digits, `_`, `.` and `$`")]
    Name {
        /// The name.
        name: String,
    },
    /// A count of registers or bytes exceeds the target's limit.
    #[error("kernel `{kernel}` takes {have} {what}, {target} has {max}; use fewer")]
    TooMany {
        /// Kernel.
        kernel: String,
        /// The resource.
        what: &'static str,
        /// The number that the kernel needs.
        have: u32,
        /// The limit.
        max: u32,
        /// Target.
        target: Target,
    },
    /// The number of the first AGPR is not permitted.
    #[error(
        "kernel `{kernel}`: AGPRs cannot start at {offset} of the unified file after {vgprs} VGPRs; the start is a \
         multiple of 4 from 4 to 256, at or after the last VGPR"
    )]
    AccumOffset {
        /// Kernel.
        kernel: String,
        /// The number of the first AGPR.
        offset: u32,
        /// The number of VGPRs.
        vgprs: u32,
    },
    /// The program uses registers that the specified resources do not include.
    #[error(
        "kernel `{kernel}`: the program uses {used:?}, the resources say {said:?}; start from `Resources::of(&program)`"
    )]
    Uncounted {
        /// Kernel.
        kernel: String,
        /// The registers that the program uses.
        used: Box<Resources>,
        /// The registers in the kernel's specified resources.
        said: Box<Resources>,
    },
    /// The target lacks a feature that the kernel requires.
    #[error("kernel `{kernel}` asks for {what}, which {target} does not have; leave it out")]
    Unsupported {
        /// Kernel.
        kernel: String,
        /// The required feature.
        what: &'static str,
        /// Target.
        target: Target,
    },
    /// A workgroup is empty or has more work-items than the hardware supports.
    #[error(
        "kernel `{kernel}`: a workgroup of {size:?} work-items; every dimension is at least 1 and their product at most {MAX_WORKGROUP}"
    )]
    Workgroup {
        /// Kernel.
        kernel: String,
        /// The workgroup size.
        size: WorkgroupSize,
    },
    /// The waves of one workgroup do not fit on a compute unit together.
    #[error(
        "kernel `{kernel}`: a workgroup of {waves} waves needs {need} waves on a SIMD, but {vgprs} VGPRs and {sgprs} SGPRs \
         leave room for {fit}; use fewer registers or a smaller workgroup"
    )]
    WorkgroupDoesNotFit {
        /// Kernel.
        kernel: String,
        /// The number of waves of the workgroup.
        waves: u32,
        /// The number of waves that a SIMD must hold.
        need: u32,
        /// The number of waves that a SIMD can hold.
        fit: u32,
        /// The number of VGPRs and AGPRs together.
        vgprs: u32,
        /// The number of SGPRs.
        sgprs: u32,
    },
    /// An argument is outside the kernarg segment or overlaps the previous one.
    #[error(
        "kernel `{kernel}`: argument {index} at byte {offset} with {size} bytes does not lie between byte {from} and the \
         segment's end at {end}; arguments are in ascending order and do not overlap"
    )]
    Argument {
        /// Kernel.
        kernel: String,
        /// The argument's index.
        index: usize,
        /// The argument's offset.
        offset: u32,
        /// The argument's size.
        size: u32,
        /// The end of the previous argument.
        from: u32,
        /// The size of the kernarg segment in bytes.
        end: u32,
    },
    /// The alignment of the kernarg segment is not a power of two.
    #[error("kernel `{kernel}`: a kernarg segment cannot be aligned to {align} bytes; give a power of two")]
    KernargAlign {
        /// Kernel.
        kernel: String,
        /// The alignment.
        align: u32,
    },
}

impl KernelSpec {
    /// Checks the kernel against the limits of its target and against its own program.
    ///
    /// # Errors
    /// The first [`SpecError`].
    pub fn check(&self) -> Result<(), SpecError> {
        if !is_symbol(self.name()) {
            return Err(SpecError::Name { name: self.name().to_owned() });
        }
        self.check_counts()?;
        self.check_accum_offset()?;
        let used = Resources::of(&self.program);
        if !self.resources.covers(&used) {
            let (used, said) = (Box::new(used), Box::new(self.resources));
            return Err(SpecError::Uncounted { kernel: self.name().to_owned(), used, said });
        }
        self.check_features()?;
        self.check_workgroup()?;
        self.check_kernarg()
    }

    fn check_counts(&self) -> Result<(), SpecError> {
        let target = self.target();
        let agprs = if target.has_agprs() { 256 } else { 0 };
        let counts = [
            ("VGPRs", self.resources.next_free_vgpr, target.addressable_vgprs()),
            ("AGPRs", self.resources.agprs, agprs),
            ("SGPRs", self.resources.next_free_sgpr, target.addressable_sgprs()),
            ("LDS bytes", self.lds_bytes, target.lds_per_cu()),
            ("shared VGPRs", self.shared_vgprs, MOST_SHARED_VGPRS),
            (
                "pieces of code fetched before the start",
                self.inst_pref_size,
                (1 << target.inst_pref_size_bits()) - 1,
            ),
        ];
        match counts.into_iter().find(|(_, have, max)| have > max) {
            Some((what, have, max)) => {
                Err(SpecError::TooMany { kernel: self.name().to_owned(), what, have, max, target })
            }
            None => Ok(()),
        }
    }

    fn check_accum_offset(&self) -> Result<(), SpecError> {
        let Some(offset) = self.accum_offset() else { return Ok(()) };
        let vgprs = self.resources.next_free_vgpr;
        if offset.is_multiple_of(4) && (4..=256).contains(&offset) && offset >= vgprs {
            return Ok(());
        }
        Err(SpecError::AccumOffset { kernel: self.name().to_owned(), offset, vgprs })
    }

    fn check_features(&self) -> Result<(), SpecError> {
        let target = self.target();
        let absent = [
            (
                target.has_architected_flat_scratch()
                    && self.user_sgprs.intersects(UserSgprs::NOT_ARCHITECTED),
                "the scratch buffer or FLAT_SCRATCH user SGPRs",
            ),
            (!target.has_tg_split() && self.tg_split, "TG_SPLIT"),
            (!target.instruction_set().has_wave(self.program.wave), "waves of this size"),
            (
                !target.has_forward_progress() && self.scheduling != Scheduling::default(),
                "a scheduling of its own",
            ),
            (!target.has_round_robin_scheduling() && self.scheduling.round_robin, "round-robin scheduling"),
            (
                self.shared_vgprs > 0 && !(target.has_shared_vgprs() && self.program.wave == WaveSize::W64),
                "VGPRs that the halves of a wave share",
            ),
            (!target.supports_xnack() && self.xnack != Feature::Any, "an XNACK setting"),
            (!target.supports_sramecc() && self.sramecc != Feature::Any, "an SRAM-ECC setting"),
        ];
        match absent.into_iter().find(|a| a.0) {
            Some((_, what)) => Err(SpecError::Unsupported { kernel: self.name().to_owned(), what, target }),
            None => Ok(()),
        }
    }

    fn check_workgroup(&self) -> Result<(), SpecError> {
        let size = self.workgroup;
        if !(1..=MAX_WORKGROUP).contains(&size.max_flat()) {
            return Err(SpecError::Workgroup { kernel: self.name().to_owned(), size });
        }
        if matches!(size, WorkgroupSize::AtMost(_)) {
            return Ok(()); // A smaller workgroup may still fit.
        }
        let limits = Limits::of(self);
        let waves = size.waves(self.program.wave);
        let need = waves.div_ceil(Mode::of(self).simds(self.target()));
        let fit = limits.vgprs.min(limits.sgprs);
        if need <= fit {
            return Ok(());
        }
        Err(SpecError::WorkgroupDoesNotFit {
            kernel: self.name().to_owned(),
            waves,
            need,
            fit,
            vgprs: self.total_vgprs(),
            sgprs: self.total_sgprs(),
        })
    }

    fn check_kernarg(&self) -> Result<(), SpecError> {
        let kernel = || self.name().to_owned();
        if !self.kernarg_align.is_power_of_two() {
            return Err(SpecError::KernargAlign { kernel: kernel(), align: self.kernarg_align });
        }
        let mut from = 0;
        for (index, arg) in self.args.iter().enumerate() {
            let end = arg.offset.checked_add(arg.size).filter(|end| *end <= self.kernarg_bytes);
            match end {
                Some(end) if arg.offset >= from => from = end,
                _ => {
                    return Err(SpecError::Argument {
                        kernel: kernel(),
                        index,
                        offset: arg.offset,
                        size: arg.size,
                        from,
                        end: self.kernarg_bytes,
                    });
                }
            }
        }
        Ok(())
    }
}

/// True for names that an assembler accepts, in quotes if necessary, and that an ELF string table can contain (without a zero byte).
fn is_symbol(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_control() || matches!(c, '"' | '\\'))
}
