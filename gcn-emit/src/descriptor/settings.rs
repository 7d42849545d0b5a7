//! Interprets a descriptor's bits.

use gcn_isa::{Target, WaveSize};

use super::{KernelDescriptor, field as f};
use crate::kernel::{
    DenormMode, FloatExceptions, FloatMode, InitialSgprs, RoundMode, Scheduling, UserSgprs, WorkItemIds,
};

/// A kernel descriptor interpreted for a target: the resources of a wave and the state in which it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The wave size.
    pub wave: WaveSize,
    /// The number of allocated VGPRs, including the AGPRs of a unified file.
    pub vgprs: u32,
    /// The first AGPR in a unified file.
    pub accum_offset: Option<u32>,
    /// The number of allocated SGPRs, including the named ones.
    pub sgprs: u32,
    /// The values with which SGPRs are initialised.
    pub initial_sgprs: InitialSgprs,
    /// The work-item IDs with which VGPRs are initialised.
    pub work_item_ids: WorkItemIds,
    /// True if the wave has scratch.
    pub uses_scratch: bool,
    /// True if scratch has no fixed size.
    pub uses_dynamic_stack: bool,
    /// Floating-point mode.
    pub float_mode: FloatMode,
    /// Exceptions that trap.
    pub exceptions: FloatExceptions,
    /// True if the waves of a workgroup may run on different compute units.
    pub tg_split: bool,
    /// How the waves of a workgroup are run; `None` if the target offers no choice (it is offered on RDNA).
    pub scheduling: Option<Scheduling>,
}

impl KernelDescriptor {
    /// Interprets the bits as `target` does.
    pub fn settings(&self, target: Target) -> Settings {
        let flag = |field| self.get(field) != 0;
        let unified = target.has_unified_agprs();
        let user = UserSgprs::from_bits_truncate(self.get(f::USER_SGPRS) as u8);
        Settings {
            wave: self.wave(target),
            vgprs: self.allocated_vgprs(target),
            accum_offset: unified.then(|| (self.get(f::ACCUM_OFFSET) + 1) * 4),
            sgprs: self.allocated_sgprs(target),
            initial_sgprs: InitialSgprs {
                user,
                preloaded: self.get(f::user_sgpr_count(target)).saturating_sub(user.registers()) as u8,
                workgroup_ids: [
                    flag(f::ENABLE_SGPR_WORKGROUP_ID_X),
                    flag(f::ENABLE_SGPR_WORKGROUP_ID_Y),
                    flag(f::ENABLE_SGPR_WORKGROUP_ID_Z),
                ],
                workgroup_info: flag(f::ENABLE_SGPR_WORKGROUP_INFO),
                scratch_wave_offset: flag(f::ENABLE_PRIVATE_SEGMENT)
                    && !target.has_architected_flat_scratch(),
            },
            // The value 3 is undefined; initialising all three IDs covers every meaning that it could have.
            work_item_ids: WorkItemIds::of_dimensions(self.get(f::ENABLE_VGPR_WORKITEM_ID) as u8 + 1),
            uses_scratch: flag(f::ENABLE_PRIVATE_SEGMENT),
            uses_dynamic_stack: flag(f::USES_DYNAMIC_STACK),
            float_mode: self.float_mode(target),
            exceptions: FloatExceptions::from_bits_truncate(self.get(f::EXCEPTIONS) as u8),
            tg_split: target.has_tg_split() && flag(f::TG_SPLIT),
            scheduling: target.has_forward_progress().then(|| Scheduling {
                workgroup_processors: target.has_workgroup_processors() && flag(f::WGP_MODE),
                ordered_loads: flag(f::MEM_ORDERED),
                forward_progress: flag(f::FWD_PROGRESS),
                round_robin: target.has_round_robin_scheduling() && flag(f::WG_RR_EN),
            }),
        }
    }

    fn float_mode(&self, target: Target) -> FloatMode {
        let chosen = |field| target.has_dx10_clamp() && self.get(field) != 0;
        FloatMode {
            round_32: RoundMode::from_bits(self.get(f::FLOAT_ROUND_MODE_32)),
            round_16_64: RoundMode::from_bits(self.get(f::FLOAT_ROUND_MODE_16_64)),
            denorm_32: DenormMode::from_bits(self.get(f::FLOAT_DENORM_MODE_32)),
            denorm_16_64: DenormMode::from_bits(self.get(f::FLOAT_DENORM_MODE_16_64)),
            dx10_clamp: chosen(f::ENABLE_DX10_CLAMP),
            ieee_mode: chosen(f::ENABLE_IEEE_MODE),
            fp16_overflow: self.get(f::FP16_OVFL) != 0,
        }
    }
}
