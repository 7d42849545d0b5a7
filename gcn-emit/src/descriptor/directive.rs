//! Every `.amdhsa_` directive: the destination of its value, the permitted values, and the targets that have it.
//!
//! Rows: LLVM AMDGPU guide, *AMDHSA Kernel Assembler Directives*, in its order.

use gcn_isa::Target;

use super::DESCRIPTOR_BYTES;
#[cfg(feature = "tools")]
use super::field::Word;
use super::field::{self as f, Field};
use super::on::On;

/// The destination of a directive's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Slot {
    /// A field of the descriptor.
    Field(Field),
    /// A bit that requests a user SGPR in the descriptor, and the number of registers that it adds.
    UserSgpr {
        bit: u8,
        registers: u8,
    },
    /// A bit of the exceptions that trap.
    Exception(u8),
    GroupSegment,
    PrivateSegment,
    KernargSize,
    UserSgprCount(Field),
    PreloadLength,
    PreloadOffset,
    NextFreeVgpr,
    NextFreeSgpr,
    AccumOffset,
    ReserveVcc,
    ReserveFlatScratch,
    ReserveXnackMask,
}

impl Slot {
    /// The [`word`](Slot::word) directly after the distance to the code.
    #[cfg(feature = "tools")]
    pub const ENTRY_WORD: u32 = 3;
    /// The last word.
    #[cfg(feature = "tools")]
    pub const LAST_WORD: u32 = 6;

    /// The index of the descriptor's word that contains the value.
    #[cfg(feature = "tools")]
    pub fn word(self) -> u32 {
        match self {
            Slot::GroupSegment => 0,
            Slot::PrivateSegment => 1,
            Slot::KernargSize => 2,
            Slot::AccumOffset => 3,
            Slot::NextFreeVgpr | Slot::NextFreeSgpr | Slot::ReserveVcc | Slot::ReserveFlatScratch => 4,
            Slot::UserSgpr { .. } => 6,
            Slot::Field(field) => match field.word {
                Word::Rsrc3 => 3,
                Word::Rsrc1 => 4,
                Word::Rsrc2 => 5,
                Word::Properties => 6,
            },
            _ => 5,
        }
    }

    /// The number of bits that the value may have.
    #[cfg(feature = "tools")]
    pub fn value_bits(self) -> usize {
        match (self, self.bits()) {
            (Slot::ReserveVcc | Slot::ReserveFlatScratch | Slot::ReserveXnackMask, _) => 1,
            // A separate error message is given for a count that is too large.
            (Slot::UserSgprCount(_), _) | (_, None) => 32,
            (_, Some((_, bits))) => bits,
        }
    }

    /// The first bit and the number of the descriptor's bits that hold the value; `None` if they are computed from
    /// several values.
    pub fn bits(self) -> Option<(usize, usize)> {
        let at = |field: Field, first: u8, bits: u8| {
            (field.word.first_bit() + usize::from(field.lo + first), usize::from(bits))
        };
        Some(match self {
            Slot::Field(field) | Slot::UserSgprCount(field) => at(field, 0, field.bits),
            Slot::UserSgpr { bit, .. } => at(f::USER_SGPRS, bit, 1),
            Slot::Exception(bit) => at(f::EXCEPTIONS, bit, 1),
            Slot::GroupSegment => (0, 32),
            Slot::PrivateSegment => (32, 32),
            Slot::KernargSize => (64, 32),
            Slot::PreloadLength => (464, 7),
            Slot::PreloadOffset => (471, 9),
            _ => return None,
        })
    }
}

/// A directive.
pub(crate) struct Row {
    pub name: &'static str,
    pub slot: Slot,
    pub on: On,
    /// The value if the directive is missing; `None` if the directive is required, or if its value follows from other directives and the
    /// target ID.
    pub default: Option<u32>,
}

impl Row {
    /// The value in a descriptor, if it is stored unchanged.
    pub fn value_in(&self, bytes: &[u8; DESCRIPTOR_BYTES]) -> Option<u32> {
        self.slot.bits().map(|place| bits(bytes, place))
    }
}

/// Up to 32 bits of a descriptor, given by the first bit and the number of bits.
pub(crate) fn bits(bytes: &[u8; DESCRIPTOR_BYTES], (lo, len): (usize, usize)) -> u32 {
    (lo..lo + len).rev().fold(0, |value, bit| value << 1 | u32::from(bytes[bit / 8] >> (bit % 8) & 1))
}

const fn row(name: &'static str, slot: Slot, on: On) -> Row {
    Row { name, slot, on, default: Some(0) }
}

const fn user(name: &'static str, bit: u8, registers: u8, on: On) -> Row {
    row(name, Slot::UserSgpr { bit, registers }, on)
}

const fn field(name: &'static str, field: Field, on: On) -> Row {
    row(name, Slot::Field(field), on)
}

impl Row {
    const fn or(self, default: u32) -> Row {
        Row { default: Some(default), ..self }
    }

    const fn required(self) -> Row {
        Row { default: None, ..self }
    }
}

#[rustfmt::skip]
pub(crate) static ROWS: [Row; 52] = [
    row(".amdhsa_group_segment_fixed_size",   Slot::GroupSegment, On::All),
    row(".amdhsa_private_segment_fixed_size", Slot::PrivateSegment, On::All),
    row(".amdhsa_kernarg_size",               Slot::KernargSize, On::All),
    row(".amdhsa_user_sgpr_count", Slot::UserSgprCount(f::USER_SGPR_COUNT), On::MostUserSgprs(16)).required(),
    row(".amdhsa_user_sgpr_count", Slot::UserSgprCount(f::USER_SGPR_COUNT_12_5), On::MostUserSgprs(32)).required(),
    user(".amdhsa_user_sgpr_private_segment_buffer", 0, 4, On::NotArchitected),
    user(".amdhsa_user_sgpr_dispatch_ptr",           1, 2, On::All),
    user(".amdhsa_user_sgpr_queue_ptr",              2, 2, On::All),
    user(".amdhsa_user_sgpr_kernarg_segment_ptr",    3, 2, On::All),
    user(".amdhsa_user_sgpr_dispatch_id",            4, 2, On::All),
    user(".amdhsa_user_sgpr_flat_scratch_init",      5, 2, On::NotArchitected),
    user(".amdhsa_user_sgpr_private_segment_size",   6, 1, On::All),
    row(".amdhsa_user_sgpr_kernarg_preload_length", Slot::PreloadLength, On::KernargPreload),
    row(".amdhsa_user_sgpr_kernarg_preload_offset", Slot::PreloadOffset, On::KernargPreload),
    // The default is the usual wave size, or that of the assembler's options.
    field(".amdhsa_wavefront_size32", f::ENABLE_WAVEFRONT_SIZE32, On::Wave32).required(),
    field(".amdhsa_uses_dynamic_stack", f::USES_DYNAMIC_STACK, On::All),
    field(".amdhsa_system_sgpr_private_segment_wavefront_offset", f::ENABLE_PRIVATE_SEGMENT, On::NotArchitected),
    field(".amdhsa_enable_private_segment", f::ENABLE_PRIVATE_SEGMENT, On::Architected),
    field(".amdhsa_system_sgpr_workgroup_id_x", f::ENABLE_SGPR_WORKGROUP_ID_X, On::All).or(1),
    field(".amdhsa_system_sgpr_workgroup_id_y", f::ENABLE_SGPR_WORKGROUP_ID_Y, On::All),
    field(".amdhsa_system_sgpr_workgroup_id_z", f::ENABLE_SGPR_WORKGROUP_ID_Z, On::All),
    field(".amdhsa_system_sgpr_workgroup_info", f::ENABLE_SGPR_WORKGROUP_INFO, On::All),
    field(".amdhsa_system_vgpr_workitem_id",    f::ENABLE_VGPR_WORKITEM_ID,    On::All),
    row(".amdhsa_next_free_vgpr",       Slot::NextFreeVgpr, On::All).required(),
    row(".amdhsa_next_free_sgpr",       Slot::NextFreeSgpr, On::All).required(),
    row(".amdhsa_accum_offset",         Slot::AccumOffset, On::Unified).required(),
    row(".amdhsa_reserve_vcc",          Slot::ReserveVcc, On::All).or(1),
    row(".amdhsa_reserve_flat_scratch", Slot::ReserveFlatScratch, On::NotArchitected).or(1),
    row(".amdhsa_reserve_xnack_mask",   Slot::ReserveXnackMask, On::All).required(),
    field(".amdhsa_float_round_mode_32",     f::FLOAT_ROUND_MODE_32,     On::All),
    field(".amdhsa_float_round_mode_16_64",  f::FLOAT_ROUND_MODE_16_64,  On::All),
    field(".amdhsa_float_denorm_mode_32",    f::FLOAT_DENORM_MODE_32,    On::All),
    field(".amdhsa_float_denorm_mode_16_64", f::FLOAT_DENORM_MODE_16_64, On::All).or(3),
    field(".amdhsa_dx10_clamp",    f::ENABLE_DX10_CLAMP, On::Dx10Clamp).or(1),
    field(".amdhsa_ieee_mode",     f::ENABLE_IEEE_MODE,  On::Dx10Clamp).or(1),
    field(".amdhsa_fp16_overflow", f::FP16_OVFL,         On::All),
    field(".amdhsa_tg_split",      f::TG_SPLIT,          On::TgSplit),
    field(".amdhsa_workgroup_processor_mode", f::WGP_MODE,           On::WorkgroupProcessors).or(1),
    field(".amdhsa_memory_ordered",           f::MEM_ORDERED,        On::ForwardProgress).or(1),
    field(".amdhsa_forward_progress",         f::FWD_PROGRESS,       On::ForwardProgress).or(1),
    field(".amdhsa_shared_vgpr_count",        f::SHARED_VGPR_COUNT,  On::SharedVgprs),
    field(".amdhsa_inst_pref_size",           f::INST_PREF_SIZE,     On::InstPref(6)),
    field(".amdhsa_inst_pref_size",           f::INST_PREF_SIZE_12,  On::InstPref(8)),
    field(".amdhsa_round_robin_scheduling",   f::WG_RR_EN,           On::RoundRobin),
    row(".amdhsa_exception_fp_ieee_invalid_op", Slot::Exception(0), On::All),
    row(".amdhsa_exception_fp_denorm_src",      Slot::Exception(1), On::All),
    row(".amdhsa_exception_fp_ieee_div_zero",   Slot::Exception(2), On::All),
    row(".amdhsa_exception_fp_ieee_overflow",   Slot::Exception(3), On::All),
    row(".amdhsa_exception_fp_ieee_underflow",  Slot::Exception(4), On::All),
    row(".amdhsa_exception_fp_ieee_inexact",    Slot::Exception(5), On::All),
    row(".amdhsa_exception_int_div_zero",       Slot::Exception(6), On::All),
    field(".amdhsa_named_barrier_count", f::NAMED_BAR_CNT, On::NamedBarriers),
];

/// The index of a directive's row. If there are several rows, the one for the target; if none is for the target, any of them. `None` if
/// there is no directive of this name.
#[cfg(feature = "tools")]
pub(crate) fn find(name: &str, target: Option<Target>) -> Option<usize> {
    let named = || (0..ROWS.len()).filter(|index| ROWS[*index].name == name);
    named().find(|index| target.is_none_or(|target| ROWS[*index].on.has(target))).or_else(|| named().next())
}

/// The rows that a target has.
pub(crate) fn of_target(target: Target) -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(move |row| row.on.has(target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_directive_stands_twice() {
        for target in Target::KNOWN {
            let names: Vec<&str> = of_target(target).map(|row| row.name).collect();
            let distinct: std::collections::BTreeSet<&&str> = names.iter().collect();
            assert_eq!(distinct.len(), names.len(), "{target}");
        }
    }

    #[test]
    fn no_bit_belongs_to_two_directives() {
        for target in Target::KNOWN {
            let mut taken = [false; DESCRIPTOR_BYTES * 8];
            for (row, (lo, len)) in of_target(target).filter_map(|row| Some((row, row.slot.bits()?))) {
                assert!(!taken[lo..lo + len].contains(&true), "{} on {target}", row.name);
                taken[lo..lo + len].fill(true);
            }
        }
    }
}
