//! Which targets have a field of the descriptor, and the directive for it.

use gcn_isa::{Target, WaveSize};

/// The targets that have a field or directive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum On {
    All,
    /// Targets with a unified file of VGPRs and AGPRs.
    Unified,
    /// Targets on which the waves of a workgroup may run on different compute units.
    TgSplit,
    /// Targets on which kernel arguments can be preloaded into SGPRs.
    KernargPreload,
    /// Targets with architected flat scratch.
    Architected,
    /// Targets without architected flat scratch.
    NotArchitected,
    /// Targets that allocate SGPRs by number.
    CountedSgprs,
    /// Targets on which the DX10_CLAMP and IEEE bits can be chosen.
    Dx10Clamp,
    /// Targets that support 32-lane waves.
    Wave32,
    /// Targets on which a workgroup may run on two compute units.
    WorkgroupProcessors,
    /// Targets whose descriptor chooses the order of loads and the progress of waves.
    ForwardProgress,
    /// Targets with this number of user SGPRs.
    MostUserSgprs(u32),
    NamedBarriers,
    SharedVgprs,
    /// Targets that prefetch code before a wave starts, with a field of this width.
    InstPref(u8),
    RoundRobin,
}

impl On {
    /// True if `target` is included.
    pub fn has(self, target: Target) -> bool {
        self.refuses(target).is_none()
    }

    /// The reason why a target is not included; `None` if it is included.
    pub fn refuses(self, target: Target) -> Option<&'static str> {
        let (has, why) = match self {
            On::All => (true, ""),
            On::Unified => (target.has_unified_agprs(), "its register files are not unified"),
            On::TgSplit => (
                target.has_tg_split(),
                "a workgroup of it cannot be split over compute units, as from gfx90a on",
            ),
            On::KernargPreload => (
                target.has_kernarg_preload(),
                "it cannot load kernel arguments into SGPRs, as from gfx90a on",
            ),
            On::Architected => (
                target.has_architected_flat_scratch(),
                "its flat scratch is not architected; use `.amdhsa_system_sgpr_private_segment_wavefront_offset`",
            ),
            On::NotArchitected => (!target.has_architected_flat_scratch(), "its flat scratch is architected"),
            On::CountedSgprs => (target.counts_sgprs(), "each of its waves gets all SGPRs"),
            On::Dx10Clamp => (target.has_dx10_clamp(), "GFX12 has no such bit of MODE"),
            On::Wave32 => (target.instruction_set().has_wave(WaveSize::W32), "it came with GFX10"),
            On::WorkgroupProcessors => {
                (target.has_workgroup_processors(), "its workgroups run on one compute unit")
            }
            On::ForwardProgress => (target.has_forward_progress(), "it came with GFX10"),
            On::MostUserSgprs(most) => {
                (target.most_user_sgprs() == most, "its number of user SGPRs is another")
            }
            On::NamedBarriers => (target.has_named_barriers(), "it came with gfx1250"),
            On::SharedVgprs => (target.has_shared_vgprs(), "it exists on GFX10 and GFX11"),
            On::InstPref(bits) => (target.inst_pref_size_bits() == bits, "it came with GFX11"),
            On::RoundRobin => (target.has_round_robin_scheduling(), "it came with GFX12"),
        };
        (!has).then_some(why)
    }
}
