//! Every `.amdhsa_` directive: where its value goes, and which values it takes.
//!
//! Rows: LLVM AMDGPU guide, *AMDHSA Kernel Assembler Directives*. Directives that no target of ours has are
//! known too, so that they are refused with a reason.

use gcn_isa::Target;

/// The destination of a directive's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    /// A field of the descriptor, by its name in [`Field`](crate::descriptor::Field).
    Field(&'static str),
    /// A bit of the descriptor's user SGPRs, and how many registers it takes.
    UserSgpr {
        bit: u32,
        registers: u32,
    },
    /// A bit of the exceptions that trap.
    Exception(u32),
    GroupSegment,
    PrivateSegment,
    KernargSize,
    UserSgprCount,
    PreloadLength,
    PreloadOffset,
    NextFreeVgpr,
    NextFreeSgpr,
    AccumOffset,
    ReserveVcc,
    ReserveFlatScratch,
    ReserveXnackMask,
    /// Nothing: no target of ours has it.
    None,
}

impl Slot {
    /// The [`word`](Slot::word) in front of which the distance to the code stands.
    pub const ENTRY_WORD: u32 = 3;
    /// The last word.
    pub const LAST_WORD: u32 = 6;

    /// Which word of the descriptor holds the value, in the order of the words.
    pub fn word(self) -> u32 {
        match self {
            Slot::GroupSegment => 0,
            Slot::PrivateSegment => 1,
            Slot::KernargSize => 2,
            Slot::AccumOffset | Slot::Field("TG_SPLIT") => 3,
            Slot::NextFreeVgpr | Slot::NextFreeSgpr | Slot::ReserveVcc | Slot::ReserveFlatScratch => 4,
            Slot::Field(name) if name.starts_with("FLOAT_") => 4,
            Slot::Field("ENABLE_DX10_CLAMP" | "ENABLE_IEEE_MODE" | "FP16_OVFL") => 4,
            Slot::Field("USES_DYNAMIC_STACK") | Slot::UserSgpr { .. } => 6,
            _ => 5,
        }
    }
}

/// Which targets have a directive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum On {
    All,
    /// Unified register files.
    Unified,
    Architected,
    NotArchitected,
    /// None, and why.
    Later(&'static str),
}

impl On {
    /// Why a target does not have the directive.
    pub fn refuses(self, target: Target) -> Option<&'static str> {
        let architected = target.has_architected_flat_scratch();
        match self {
            On::Unified if !target.has_unified_agprs() => Some("its register files are not unified"),
            On::Architected if !architected => Some(
                "its flat scratch is not architected; use `.amdhsa_system_sgpr_private_segment_wavefront_offset`",
            ),
            On::NotArchitected if architected => Some("its flat scratch is architected"),
            On::Later(why) => Some(why),
            _ => None,
        }
    }
}

/// A directive.
pub(super) struct Row {
    pub name: &'static str,
    pub slot: Slot,
    /// Bits that the value has.
    pub bits: u8,
    pub on: On,
}

const fn row(name: &'static str, slot: Slot, bits: u8, on: On) -> Row {
    Row { name, slot, bits, on }
}

const fn user(name: &'static str, bit: u32, registers: u32, on: On) -> Row {
    row(name, Slot::UserSgpr { bit, registers }, 1, on)
}

const fn field(name: &'static str, field: &'static str, bits: u8, on: On) -> Row {
    row(name, Slot::Field(field), bits, on)
}

const fn later(name: &'static str, why: &'static str) -> Row {
    row(name, Slot::None, 1, On::Later(why))
}

const GFX10: &str = "it came with GFX10";
const GFX11: &str = "it came with GFX11";
const GFX12: &str = "it came with GFX12";

#[rustfmt::skip]
pub(super) static ROWS: [Row; 50] = [
    row(".amdhsa_group_segment_fixed_size",   Slot::GroupSegment,   32, On::All),
    row(".amdhsa_private_segment_fixed_size", Slot::PrivateSegment, 32, On::All),
    row(".amdhsa_kernarg_size",               Slot::KernargSize,    32, On::All),
    row(".amdhsa_user_sgpr_count",            Slot::UserSgprCount,  32, On::All),
    user(".amdhsa_user_sgpr_private_segment_buffer", 0, 4, On::NotArchitected),
    user(".amdhsa_user_sgpr_dispatch_ptr",           1, 2, On::All),
    user(".amdhsa_user_sgpr_queue_ptr",              2, 2, On::All),
    user(".amdhsa_user_sgpr_kernarg_segment_ptr",    3, 2, On::All),
    user(".amdhsa_user_sgpr_dispatch_id",            4, 2, On::All),
    user(".amdhsa_user_sgpr_flat_scratch_init",      5, 2, On::NotArchitected),
    user(".amdhsa_user_sgpr_private_segment_size",   6, 1, On::All),
    row(".amdhsa_user_sgpr_kernarg_preload_length", Slot::PreloadLength, 7, On::Unified),
    row(".amdhsa_user_sgpr_kernarg_preload_offset", Slot::PreloadOffset, 9, On::Unified),
    field(".amdhsa_uses_dynamic_stack", "USES_DYNAMIC_STACK", 1, On::All),
    field(".amdhsa_system_sgpr_private_segment_wavefront_offset", "ENABLE_PRIVATE_SEGMENT", 1, On::NotArchitected),
    field(".amdhsa_enable_private_segment", "ENABLE_PRIVATE_SEGMENT", 1, On::Architected),
    field(".amdhsa_system_sgpr_workgroup_id_x", "ENABLE_SGPR_WORKGROUP_ID_X", 1, On::All),
    field(".amdhsa_system_sgpr_workgroup_id_y", "ENABLE_SGPR_WORKGROUP_ID_Y", 1, On::All),
    field(".amdhsa_system_sgpr_workgroup_id_z", "ENABLE_SGPR_WORKGROUP_ID_Z", 1, On::All),
    field(".amdhsa_system_sgpr_workgroup_info", "ENABLE_SGPR_WORKGROUP_INFO", 1, On::All),
    field(".amdhsa_system_vgpr_workitem_id",    "ENABLE_VGPR_WORKITEM_ID",    2, On::All),
    row(".amdhsa_next_free_vgpr",       Slot::NextFreeVgpr,       32, On::All),
    row(".amdhsa_next_free_sgpr",       Slot::NextFreeSgpr,       32, On::All),
    row(".amdhsa_accum_offset",         Slot::AccumOffset,        32, On::Unified),
    row(".amdhsa_reserve_vcc",          Slot::ReserveVcc,          1, On::All),
    row(".amdhsa_reserve_flat_scratch", Slot::ReserveFlatScratch,  1, On::NotArchitected),
    row(".amdhsa_reserve_xnack_mask",   Slot::ReserveXnackMask,    1, On::All),
    field(".amdhsa_float_round_mode_32",     "FLOAT_ROUND_MODE_32",     2, On::All),
    field(".amdhsa_float_round_mode_16_64",  "FLOAT_ROUND_MODE_16_64",  2, On::All),
    field(".amdhsa_float_denorm_mode_32",    "FLOAT_DENORM_MODE_32",    2, On::All),
    field(".amdhsa_float_denorm_mode_16_64", "FLOAT_DENORM_MODE_16_64", 2, On::All),
    field(".amdhsa_dx10_clamp",    "ENABLE_DX10_CLAMP", 1, On::All),
    field(".amdhsa_ieee_mode",     "ENABLE_IEEE_MODE",  1, On::All),
    field(".amdhsa_fp16_overflow", "FP16_OVFL",         1, On::All),
    field(".amdhsa_tg_split",      "TG_SPLIT",          1, On::Unified),
    row(".amdhsa_exception_fp_ieee_invalid_op", Slot::Exception(0), 1, On::All),
    row(".amdhsa_exception_fp_denorm_src",      Slot::Exception(1), 1, On::All),
    row(".amdhsa_exception_fp_ieee_div_zero",   Slot::Exception(2), 1, On::All),
    row(".amdhsa_exception_fp_ieee_overflow",   Slot::Exception(3), 1, On::All),
    row(".amdhsa_exception_fp_ieee_underflow",  Slot::Exception(4), 1, On::All),
    row(".amdhsa_exception_fp_ieee_inexact",    Slot::Exception(5), 1, On::All),
    row(".amdhsa_exception_int_div_zero",       Slot::Exception(6), 1, On::All),
    later(".amdhsa_wavefront_size32",           GFX10),
    later(".amdhsa_workgroup_processor_mode",   GFX10),
    later(".amdhsa_memory_ordered",             GFX10),
    later(".amdhsa_forward_progress",           GFX10),
    later(".amdhsa_shared_vgpr_count",          "it exists on GFX10 and GFX11"),
    later(".amdhsa_inst_pref_size",             GFX11),
    later(".amdhsa_round_robin_scheduling",     GFX12),
    later(".amdhsa_named_barrier_count",        "it came with gfx1250"),
];

/// The row of a name.
pub(super) fn find(name: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.name == name)
}
