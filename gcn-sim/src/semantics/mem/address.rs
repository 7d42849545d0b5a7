//! Per-lane addresses of vector memory instructions.

use gcn_isa::table::MemBytes;

use super::access::Place;
use super::buffer::Buffer;
use crate::core::aperture;
use crate::core::fault::Fault;
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::value::Ty;

/// The kind of address that a vector memory instruction uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Segment {
    Global,
    Flat,
    Scratch,
    Buffer,
}

/// The address operands of an instruction, prepared once for all lanes.
pub(crate) enum Addresses {
    /// A 64-bit VGPR pair plus an offset.
    Wide { slot: u16, offset: i64, flat: bool },
    /// An SGPR base plus an optional 32-bit VGPR; `base` includes the instruction's offset.
    Based { base: u64, slot: Option<u16> },
    /// As `Based` on targets where the VGPR is signed and counts units of `unit` bytes; `flat` addresses may be in LDS or scratch.
    Signed { base: u64, slot: u16, unit: i64, flat: bool },
    /// A 32-bit scratch address: a scalar part plus an optional VGPR, which counts units of `unit` bytes.
    Scratch { base: u32, slot: Option<u16>, unit: u32 },
    /// A buffer resource.
    Buffer(Buffer),
}

impl Addresses {
    pub(crate) fn of(cx: &Cx<'_>, s: &Step, segment: Segment) -> Result<Addresses, Fault> {
        let offset = i64::from(s.inst.mods.offset);
        let slot = match s.src[0] {
            Src::Vector(slot) => Some(slot),
            _ => None,
        };
        Ok(match segment {
            Segment::Buffer => Addresses::Buffer(Buffer::of(cx, s)?),
            Segment::Scratch => {
                let base = match s.src[1] {
                    Src::None => 0,
                    ref base => cx.scalar(base, Ty::B32)?,
                };
                Addresses::Scratch { base: base.wrapping_add(offset as u32), slot, unit: unit(s)? }
            }
            Segment::Global | Segment::Flat if s.src[1] != Src::None => {
                let base = cx.scalar_wide(&s.src[1], Ty::B64)?.wrapping_add_signed(offset);
                match slot.filter(|_| s.arch.signs_vector_offsets()) {
                    Some(slot) => Addresses::Signed {
                        base,
                        slot,
                        unit: unit(s)?.into(),
                        flat: segment == Segment::Flat,
                    },
                    None => Addresses::Based { base, slot },
                }
            }
            Segment::Global | Segment::Flat => {
                let slot = slot.ok_or(Fault::Unsupported("a memory access without an address"))?;
                Addresses::Wide { slot, offset, flat: segment == Segment::Flat }
            }
        })
    }

    /// The place of dword `component` of a lane's datum (or of the whole datum, if it is smaller); `None` if the range check of a buffer
    /// resource fails. `bytes` is the size that must be in range.
    #[inline]
    pub(crate) fn place(&self, cx: &Cx<'_>, lane: usize, component: u32, bytes: u32) -> Option<Place> {
        let place = match self {
            Addresses::Wide { slot, offset, flat } => {
                let slot = *slot as usize;
                let pair = u64::from(cx.w.v[slot][lane]) | u64::from(cx.w.v[slot + 1][lane]) << 32;
                let address = pair.wrapping_add_signed(*offset);
                if *flat { flat_place(cx, address, lane) } else { Place::Global(address) }
            }
            Addresses::Based { base, slot } => {
                let index = slot.map_or(0, |slot| cx.w.v[slot as usize][lane]);
                Place::Global(base.wrapping_add(u64::from(index)))
            }
            Addresses::Signed { base, slot, unit, flat } => {
                let index = cx.w.v[*slot as usize][lane] as i32;
                let address = base.wrapping_add_signed(i64::from(index) * unit);
                if *flat { flat_place(cx, address, lane) } else { Place::Global(address) }
            }
            Addresses::Scratch { base, slot, unit } => {
                let index = slot.map_or(0, |slot| cx.w.v[slot as usize][lane]);
                Place::Scratch(base.wrapping_add(index.wrapping_mul(*unit)))
            }
            Addresses::Buffer(buffer) => return buffer.place(cx, lane, component * 4, bytes),
        };
        Some(place.plus(component * 4))
    }
}

/// The bytes that an offset in a register counts: those of an element with `scale_offset`, otherwise 1.
pub(super) fn unit(s: &Step) -> Result<u32, Fault> {
    match s.inst.desc.mem_bytes {
        _ if !s.inst.mods.scale_offset => Ok(1),
        MemBytes::Bytes(bytes) => Ok(bytes.into()),
        _ => Err(Fault::Unsupported("scale_offset of an element without a fixed size")),
    }
}

/// The place of a flat address of a lane, depending on the aperture that contains it. Where scratch has addresses by which lanes can access
/// the scratch of others, only those of the lane's own scratch are supported; to the others the bounds check objects.
fn flat_place(cx: &Cx<'_>, address: u64, lane: usize) -> Place {
    match address >> 32 << 32 {
        aperture::SHARED_BASE => Place::Lds(address as u32),
        aperture::PRIVATE_BASE => Place::Scratch(address as u32),
        own if own == aperture::scratch_of_lane(cx.w.id, lane)
            && cx.machine.target().has_scratch_addresses() =>
        {
            Place::Scratch(address as u32)
        }
        _ => Place::Global(address),
    }
}
