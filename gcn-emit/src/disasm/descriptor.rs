//! Writes a kernel descriptor as the directives that produce its bytes (guide, *AMDHSA Kernel Assembler Directives*).

use gcn_isa::{Target, WaveSize};

use crate::descriptor::directive::{self, Slot};
use crate::descriptor::field as f;
use crate::descriptor::{CODE_ENTRY_OFFSET, DESCRIPTOR_BYTES, Field, KernelDescriptor};
use crate::target_id::{Feature, TargetId};

/// `KERNEL_CODE_ENTRY_BYTE_OFFSET`, which the linker fills in.
const ENTRY: (usize, usize) = (CODE_ENTRY_OFFSET as usize * 8, 64);
/// The reason why directives cannot express a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Inexpressible {
    /// A bit is set for which there is no directive.
    Bit(usize),
    /// No directive produces this number of SGPRs.
    Sgprs(u32),
    /// `accum_offset` exceeds the number of registers.
    AccumOffset(u32),
    /// There are fewer user SGPRs than are set up, or more than there are.
    UserSgprs(u32),
    /// The halves of a wave share VGPRs, but the wave has only 32 lanes, or too few registers are left.
    SharedVgprs(u32),
}

impl std::fmt::Display for Inexpressible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Inexpressible::Bit(bit) => write!(f, "no directive sets bit {bit} of the descriptor"),
            Inexpressible::Sgprs(count) => write!(f, "no directives give {count} SGPRs"),
            Inexpressible::AccumOffset(offset) => {
                write!(f, "accum_offset {offset} is above the last register")
            }
            Inexpressible::SharedVgprs(blocks) => {
                write!(f, "{blocks} blocks of shared VGPRs do not fit the kernel")
            }
            Inexpressible::UserSgprs(count) => {
                write!(f, "{count} user SGPRs do not fit those that are set up")
            }
        }
    }
}

/// The directives inside `.amdhsa_kernel` that produce these bytes.
pub(super) fn directives(
    bytes: &[u8; DESCRIPTOR_BYTES],
    id: TargetId,
) -> Result<Vec<(&'static str, u32)>, Inexpressible> {
    let target = id.target;
    let descriptor = KernelDescriptor::from_bytes(bytes);
    let mut known = [false; DESCRIPTOR_BYTES * 8];
    let mut cover = |(lo, len): (usize, usize)| known[lo..lo + len].fill(true);
    let place = |field: Field| Slot::Field(field).bits();
    cover(ENTRY);
    place(f::GRANULATED_WORKITEM_VGPR_COUNT).into_iter().for_each(&mut cover);
    let mut list = Vec::new();
    for row in directive::of_target(target) {
        let (Some(place), Some(value)) = (row.slot.bits(), row.value_in(bytes)) else { continue };
        cover(place);
        list.push((row.name, value));
    }
    let vgprs = descriptor.allocated_vgprs(target);
    list.push((".amdhsa_next_free_vgpr", vgprs));
    if target.has_unified_agprs() {
        place(f::ACCUM_OFFSET).into_iter().for_each(&mut cover);
        let offset = (descriptor.get(f::ACCUM_OFFSET) + 1) * 4;
        if offset > vgprs {
            return Err(Inexpressible::AccumOffset(offset));
        }
        list.push((".amdhsa_accum_offset", offset));
    }
    if target.counts_sgprs() {
        place(f::GRANULATED_WAVEFRONT_SGPR_COUNT).into_iter().for_each(&mut cover);
        // The assembler allocates at least the user SGPRs if kernel arguments are preloaded into some of them.
        let preloads = directive::of_target(target).any(|row| {
            row.slot == Slot::PreloadLength && row.value_in(bytes).is_some_and(|length| length > 0)
        });
        let least = if preloads { descriptor.get(f::user_sgpr_count(target)) } else { 0 };
        sgpr_directives(&mut list, descriptor.allocated_sgprs(target), least, id)?;
    } else {
        // On this target, the number of SGPRs is not stored anywhere.
        list.push((".amdhsa_next_free_sgpr", target.addressable_sgprs()));
    }
    user_sgprs(bytes, target)?;
    shared_vgprs(&descriptor, target)?;
    match (0..known.len()).find(|&bit| !known[bit] && directive::bits(bytes, (bit, 1)) == 1) {
        Some(bit) => Err(Inexpressible::Bit(bit)),
        None => Ok(list),
    }
}

/// The directives for a number of SGPRs that allocation rounds to `sgprs`, and for the reservations: VCC takes two additional SGPRs,
/// XNACK_MASK (which is reserved unless the target ID turns XNACK off) four in total, FLAT_SCRATCH six. The assembler accepts at most 102, and
/// counts `least` where the directive names fewer.
fn sgpr_directives(
    list: &mut Vec<(&'static str, u32)>,
    sgprs: u32,
    least: u32,
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
        if next_free < least || (next_free + reserved).max(1).next_multiple_of(8) != sgprs {
            continue;
        }
        list.push((".amdhsa_next_free_sgpr", next_free));
        list.push((".amdhsa_reserve_vcc", vcc));
        if !architected {
            list.push((".amdhsa_reserve_flat_scratch", flat_scratch));
        }
        return Ok(());
    }
    Err(Inexpressible::Sgprs(sgprs))
}

/// Checks a requirement of the assembler: only 64-lane waves share VGPRs, and no more than are left.
fn shared_vgprs(descriptor: &KernelDescriptor, target: Target) -> Result<(), Inexpressible> {
    let shared = if target.has_shared_vgprs() { descriptor.get(f::SHARED_VGPR_COUNT) } else { 0 };
    let field = f::GRANULATED_WORKITEM_VGPR_COUNT;
    let fits =
        descriptor.wave(target) == WaveSize::W64 && 2 * shared + descriptor.get(field) < 1 << field.bits;
    if shared == 0 || fits { Ok(()) } else { Err(Inexpressible::SharedVgprs(shared)) }
}

/// Checks what the assembler requires: exactly the user SGPRs that are set up, including kernarg preloads, and no more than
/// there are.
fn user_sgprs(bytes: &[u8; DESCRIPTOR_BYTES], target: Target) -> Result<(), Inexpressible> {
    let count = KernelDescriptor::from_bytes(bytes).get(f::user_sgpr_count(target));
    let wanted = directive::of_target(target).map(|row| match row.slot {
        Slot::UserSgpr { registers, .. } => u32::from(registers) * row.value_in(bytes).unwrap_or(0),
        Slot::PreloadLength => row.value_in(bytes).unwrap_or(0),
        _ => 0,
    });
    if count < wanted.sum() || count > target.most_user_sgprs() {
        Err(Inexpressible::UserSgprs(count))
    } else {
        Ok(())
    }
}
