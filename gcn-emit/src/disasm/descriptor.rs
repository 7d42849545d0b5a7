//! A kernel descriptor as the directives that give its bytes (guide, *AMDHSA Kernel Assembler Directives*).

use gcn_isa::Target;

use crate::descriptor::DESCRIPTOR_BYTES;
use crate::target_id::{Feature, TargetId};

/// Which targets know a directive.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// Where flat scratch is architected.
    Architected,
    /// Where it is not.
    NotArchitected,
    /// Where VGPRs and AGPRs are one file.
    Unified,
}

impl When {
    fn holds(self, target: Target) -> bool {
        match self {
            When::Always => true,
            When::Architected => target.has_architected_flat_scratch(),
            When::NotArchitected => !target.has_architected_flat_scratch(),
            When::Unified => target.has_unified_agprs(),
        }
    }
}

/// A directive whose value is the value of a bit field.
struct Plain {
    directive: &'static str,
    /// First bit in the descriptor.
    lo: usize,
    /// Number of bits.
    len: usize,
    when: When,
}

const fn plain(directive: &'static str, lo: usize, len: usize, when: When) -> Plain {
    Plain { directive, lo, len, when }
}

const RSRC3: usize = 44 * 8;
const RSRC1: usize = 48 * 8;
const RSRC2: usize = 52 * 8;
const PROPERTIES: usize = 56 * 8;
const PRELOAD: usize = 58 * 8;
/// `KERNEL_CODE_ENTRY_BYTE_OFFSET`, which the linker fills in.
const ENTRY: (usize, usize) = (16 * 8, 64);
const VGPRS: (usize, usize) = (RSRC1, 6);
const SGPRS: (usize, usize) = (RSRC1 + 6, 4);
const ACCUM_OFFSET: (usize, usize) = (RSRC3, 6);
const USER_SGPR_COUNT: (usize, usize) = (RSRC2 + 1, 5);

/// Directives with a plain value, in the guide's order.
const PLAIN: [Plain; 36] = [
    plain("group_segment_fixed_size", 0, 32, When::Always),
    plain("private_segment_fixed_size", 32, 32, When::Always),
    plain("kernarg_size", 64, 32, When::Always),
    plain("user_sgpr_count", USER_SGPR_COUNT.0, USER_SGPR_COUNT.1, When::Always),
    plain("user_sgpr_private_segment_buffer", PROPERTIES, 1, When::NotArchitected),
    plain("user_sgpr_dispatch_ptr", PROPERTIES + 1, 1, When::Always),
    plain("user_sgpr_queue_ptr", PROPERTIES + 2, 1, When::Always),
    plain("user_sgpr_kernarg_segment_ptr", PROPERTIES + 3, 1, When::Always),
    plain("user_sgpr_dispatch_id", PROPERTIES + 4, 1, When::Always),
    plain("user_sgpr_flat_scratch_init", PROPERTIES + 5, 1, When::NotArchitected),
    plain("user_sgpr_private_segment_size", PROPERTIES + 6, 1, When::Always),
    plain("user_sgpr_kernarg_preload_length", PRELOAD, 7, When::Unified),
    plain("user_sgpr_kernarg_preload_offset", PRELOAD + 7, 9, When::Unified),
    plain("uses_dynamic_stack", PROPERTIES + 11, 1, When::Always),
    plain("system_sgpr_private_segment_wavefront_offset", RSRC2, 1, When::NotArchitected),
    plain("enable_private_segment", RSRC2, 1, When::Architected),
    plain("system_sgpr_workgroup_id_x", RSRC2 + 7, 1, When::Always),
    plain("system_sgpr_workgroup_id_y", RSRC2 + 8, 1, When::Always),
    plain("system_sgpr_workgroup_id_z", RSRC2 + 9, 1, When::Always),
    plain("system_sgpr_workgroup_info", RSRC2 + 10, 1, When::Always),
    plain("system_vgpr_workitem_id", RSRC2 + 11, 2, When::Always),
    plain("float_round_mode_32", RSRC1 + 12, 2, When::Always),
    plain("float_round_mode_16_64", RSRC1 + 14, 2, When::Always),
    plain("float_denorm_mode_32", RSRC1 + 16, 2, When::Always),
    plain("float_denorm_mode_16_64", RSRC1 + 18, 2, When::Always),
    plain("dx10_clamp", RSRC1 + 21, 1, When::Always),
    plain("ieee_mode", RSRC1 + 23, 1, When::Always),
    plain("fp16_overflow", RSRC1 + 26, 1, When::Always),
    plain("tg_split", RSRC3 + 16, 1, When::Unified),
    plain("exception_fp_ieee_invalid_op", RSRC2 + 24, 1, When::Always),
    plain("exception_fp_denorm_src", RSRC2 + 25, 1, When::Always),
    plain("exception_fp_ieee_div_zero", RSRC2 + 26, 1, When::Always),
    plain("exception_fp_ieee_overflow", RSRC2 + 27, 1, When::Always),
    plain("exception_fp_ieee_underflow", RSRC2 + 28, 1, When::Always),
    plain("exception_fp_ieee_inexact", RSRC2 + 29, 1, When::Always),
    plain("exception_int_div_zero", RSRC2 + 30, 1, When::Always),
];

/// Why a descriptor cannot be written with directives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Inexpressible {
    /// A bit without a directive is set.
    Bit(usize),
    /// The number of SGPRs has no directive that gives it.
    Sgprs(u32),
    /// `accum_offset` lies above the registers.
    AccumOffset(u32),
    /// Fewer user SGPRs than are set up, or more than 16.
    UserSgprs(u32),
}

impl std::fmt::Display for Inexpressible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Inexpressible::Bit(bit) => write!(f, "no directive sets bit {bit} of the descriptor"),
            Inexpressible::Sgprs(count) => write!(f, "no directives give {count} SGPRs"),
            Inexpressible::AccumOffset(offset) => {
                write!(f, "accum_offset {offset} is above the last register")
            }
            Inexpressible::UserSgprs(count) => {
                write!(f, "{count} user SGPRs do not fit those that are set up")
            }
        }
    }
}

/// The nested directives of `.amdhsa_kernel` that give these bytes.
pub(super) fn directives(
    bytes: &[u8; DESCRIPTOR_BYTES],
    id: TargetId,
) -> Result<Vec<(&'static str, u32)>, Inexpressible> {
    let target = id.target;
    let field = |(lo, len): (usize, usize)| bits(bytes, lo, len);
    let mut known = [false; DESCRIPTOR_BYTES * 8];
    let mut cover = |(lo, len): (usize, usize)| known[lo..lo + len].fill(true);
    [ENTRY, VGPRS, SGPRS].into_iter().for_each(&mut cover);
    let mut list = Vec::new();
    for plain in PLAIN.iter().filter(|p| p.when.holds(target)) {
        cover((plain.lo, plain.len));
        list.push((plain.directive, field((plain.lo, plain.len))));
    }
    let vgprs = (field(VGPRS) + 1) * target.vgpr_granule();
    list.push(("next_free_vgpr", vgprs));
    if target.has_unified_agprs() {
        cover(ACCUM_OFFSET);
        let offset = (field(ACCUM_OFFSET) + 1) * 4;
        if offset > vgprs {
            return Err(Inexpressible::AccumOffset(offset));
        }
        list.push(("accum_offset", offset));
    }
    sgpr_directives(&mut list, (field(SGPRS) + 1) * 8, id)?;
    user_sgprs(bytes)?;
    match (0..known.len()).find(|&bit| !known[bit] && bits(bytes, bit, 1) == 1) {
        Some(bit) => Err(Inexpressible::Bit(bit)),
        None => Ok(list),
    }
}

/// A count that the allocation rounds to `sgprs`, with the reservations: VCC takes two more, XNACK_MASK
/// (reserved where the target id does not turn XNACK off) four in all, FLAT_SCRATCH six; the assembler takes
/// 102 at most.
fn sgpr_directives(
    list: &mut Vec<(&'static str, u32)>,
    sgprs: u32,
    id: TargetId,
) -> Result<(), Inexpressible> {
    let architected = id.target.has_architected_flat_scratch();
    let xnack = id.xnack != Feature::Off;
    for (vcc, flat_scratch) in [(0, 0), (1, 0), (1, 1)] {
        let reserved = match (architected || flat_scratch == 1, xnack, vcc) {
            (true, ..) => 6,
            (false, true, _) => 4,
            (false, false, vcc) => 2 * vcc,
        };
        let Some(next_free) = sgprs.checked_sub(reserved).map(|n| n.min(102)) else { continue };
        if (next_free + reserved).max(1).next_multiple_of(8) != sgprs {
            continue;
        }
        list.push(("next_free_sgpr", next_free));
        list.push(("reserve_vcc", vcc));
        if !architected {
            list.push(("reserve_flat_scratch", flat_scratch));
        }
        return Ok(());
    }
    Err(Inexpressible::Sgprs(sgprs))
}

/// The assembler wants as many user SGPRs as are set up, kernarg preloads included, and at most 16.
fn user_sgprs(bytes: &[u8; DESCRIPTOR_BYTES]) -> Result<(), Inexpressible> {
    let count = bits(bytes, USER_SGPR_COUNT.0, USER_SGPR_COUNT.1);
    let set_up: u32 =
        [4, 2, 2, 2, 2, 2, 1].into_iter().enumerate().map(|(i, n)| n * bits(bytes, PROPERTIES + i, 1)).sum();
    let wanted = set_up + bits(bytes, PRELOAD, 7);
    if count < wanted || count > 16 { Err(Inexpressible::UserSgprs(count)) } else { Ok(()) }
}

/// Up to 32 bits of the descriptor.
fn bits(bytes: &[u8; DESCRIPTOR_BYTES], lo: usize, len: usize) -> u32 {
    (lo..lo + len).rev().fold(0, |value, bit| value << 1 | u32::from(bytes[bit / 8] >> (bit % 8) & 1))
}
