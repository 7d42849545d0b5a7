//! Buffer resources: address calculation and range checks (MI100 ISA 9.1.5, 9.1.8).
//!
//! The offset of a lane has 32 bits: VOFFSET and the instruction's offset are added modulo 2^32. AMD's emulator does the same, and compiled
//! code relies on it: IREE subtracts a constant from an index and adds it as the instruction's offset, so that the index alone may be
//! negative.
//!
//! It depends on the target whether the range check of raw buffers includes SOFFSET: see [`gcn_isa::Target::checks_soffset`].

use gcn_isa::target::Generation;

use super::access::Place;
use crate::core::fault::Fault;
use crate::core::kernel::SCRATCH_WINDOW;
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::value::Ty;

/// The size of the address range that starts at the scratch window and refers to scratch.
const SCRATCH_WINDOW_BYTES: u64 = 1 << 40;

/// What the range check compares with the number of records. On GFX9 this depends on the addressing mode of the instruction, on RDNA on
/// `OOB_SELECT` of the resource (RDNA3 ISA, "Range checking").
#[derive(Clone, Copy)]
enum Check {
    ByAddressing,
    /// The index. In addition, the offset is compared with the stride.
    Structured,
    Index,
    /// Nothing; the access is in range if there is at least one record.
    Empty,
    /// The end of the access in bytes.
    Raw,
}

/// A buffer resource with the address operands of an instruction.
pub(crate) struct Buffer {
    base: u64,
    stride: u64,
    records: u64,
    /// The element size in bytes, if the buffer is swizzled.
    element: Option<u64>,
    index_stride: u64,
    add_tid: bool,
    check: Check,
    scalar_offset: u64,
    /// The part of SOFFSET that the range check of raw buffers includes.
    checked_offset: u64,
    inst_offset: u32,
    index: Option<u16>,
    offset: Option<u16>,
}

/// The base and the number of bytes of a resource of gfx12.5 ([`gcn_isa::InstructionSet::has_long_buffers`]).
pub(super) fn long_buffer(words: [u32; 4]) -> Result<(u64, u64), Fault> {
    // LLVM 22 and Triton 3.9 use no others.
    if words[3] >> 6 != 0 {
        return Err(Fault::Unsupported(
            "a buffer resource of gfx12.5 with a stride or flags, which no document describes",
        ));
    }
    let [low, high, middle, top] = words.map(u64::from);
    Ok((low | (high & 0x1ff_ffff) << 32, high >> 25 | middle << 7 | top << 39))
}

/// The addresses of a buffer whose lanes differ only in a 32-bit offset.
pub(super) struct Linear {
    /// The address at offset 0, including SOFFSET.
    pub base: u64,
    /// The register with the lanes' offsets, to which `add` is added modulo 2^32.
    pub slot: Option<u16>,
    pub add: u32,
    /// An access is in range if the offset after its last byte is at most this.
    pub end: u64,
}

impl Buffer {
    /// The buffer as a range of memory with offsets; `None` if it has elements with indices, or is swizzled.
    pub(super) fn linear(&self) -> Option<Linear> {
        let checks_end = matches!(self.check, Check::ByAddressing | Check::Raw);
        if self.add_tid || self.element.is_some() || self.index.is_some() || !checks_end {
            return None;
        }
        Some(Linear {
            base: self.base.wrapping_add(self.scalar_offset),
            slot: self.offset,
            add: self.inst_offset,
            // With a SOFFSET beyond the end, no access is in range.
            end: self.records.saturating_sub(self.checked_offset),
        })
    }

    pub(crate) fn of(cx: &Cx<'_>, s: &Step) -> Result<Buffer, Fault> {
        let word = |i: usize| cx.w.s[s.rsrc as usize + i];
        let mods = &s.inst.mods;
        let slot = match s.src[0] {
            Src::Vector(slot) => Some(slot),
            _ => None,
        };
        let (generation, add_tid) = (s.arch.generation(), word(3) >> 23 & 1 == 1);
        // With add_tid, the data format field of GFX9 extends the stride, unless the instruction uses it as a format.
        let extension = if add_tid
            && generation == Generation::GFX9
            && !s.inst.desc.does(gcn_isa::table::Behaviours::TYPED)
        {
            u64::from(word(3) >> 15 & 0xf) << 14
        } else {
            0
        };
        let scalar_offset = match s.src[1] {
            Src::None => 0,
            ref src => cx.scalar(src, Ty::B32)?,
        };
        if s.arch.has_long_buffers() {
            let (base, records) = long_buffer([0, 1, 2, 3].map(word))?;
            return Ok(Buffer {
                base,
                stride: 0,
                records,
                element: None,
                index_stride: 8,
                add_tid: false,
                check: Check::Raw,
                scalar_offset: u64::from(scalar_offset),
                checked_offset: 0,
                inst_offset: mods.offset as u32,
                index: slot.filter(|_| mods.idxen),
                offset: slot.filter(|_| mods.offen).map(|slot| slot + u16::from(mods.idxen)),
            });
        }
        Ok(Buffer {
            base: u64::from(word(0)) | u64::from(word(1) & 0xffff) << 32,
            stride: u64::from(word(1) >> 16 & 0x3fff) | extension,
            records: u64::from(word(2)),
            element: match generation {
                Generation::GFX9 | Generation::GFX10 => (word(1) >> 31 == 1).then_some(4),
                _ => [None, Some(4), Some(8), Some(16)][(word(1) >> 30) as usize],
            },
            check: match (generation, word(3) >> 28 & 3) {
                (Generation::GFX9, _) => Check::ByAddressing,
                (_, 0) => Check::Structured,
                (_, 1) => Check::Index,
                (_, 2) => Check::Empty,
                _ => Check::Raw,
            },
            index_stride: 8 << (word(3) >> 21 & 3),
            add_tid,
            scalar_offset: u64::from(scalar_offset),
            checked_offset: if s.arch.checks_soffset() { u64::from(scalar_offset) } else { 0 },
            inst_offset: mods.offset as u32,
            // If both are present, the index comes first.
            index: slot.filter(|_| mods.idxen),
            offset: slot.filter(|_| mods.offen).map(|slot| slot + u16::from(mods.idxen)),
        })
    }

    /// The place of `bytes` bytes, `ahead` bytes after the start of the lane's datum; `None` if they are out of range.
    #[inline]
    pub(crate) fn place(&self, cx: &Cx<'_>, lane: usize, ahead: u32, bytes: u32) -> Option<Place> {
        let read = |slot: Option<u16>| slot.map_or(0, |slot| cx.w.v[slot as usize][lane]);
        let tid = if self.add_tid { lane as u64 } else { 0 };
        let index = u64::from(read(self.index)) + tid;
        // `ahead` does not wrap around: a dword whose offset would wrap around is out of range of every buffer.
        let offset = u64::from(read(self.offset).wrapping_add(self.inst_offset)) + u64::from(ahead);
        if let Some(wave) = self.scratch_window(cx.w.size() as u64) {
            return Some(Place::Scratch((wave + offset) as u32));
        }
        if !self.in_range(index, offset, u64::from(bytes)) {
            return None;
        }
        let inside = match self.element {
            Some(element) => self.swizzled(index, offset, element),
            None => index * self.stride + offset,
        };
        Some(Place::Global(self.base.wrapping_add(self.scalar_offset).wrapping_add(inside)))
    }

    /// Handles the private segment buffer of gfx900 to gfx90a (LLVM AMDGPU guide, "Private Segment Buffer"): the resource swizzles the
    /// scratch of all lanes, and `soffset` counts bytes of the whole wave. Returns the corresponding offset in the scratch of a single
    /// lane, to which the lane's offsets are added; `None` for other resources.
    fn scratch_window(&self, lanes: u64) -> Option<u64> {
        let start = self.base.wrapping_add(self.scalar_offset).wrapping_sub(SCRATCH_WINDOW);
        (self.add_tid && self.element.is_some() && start < SCRATCH_WINDOW_BYTES).then_some(start / lanes)
    }

    /// The addresses in scratch of a resource for scratch: a part that all lanes share, and the register that is added to it.
    pub(super) fn scratch(&self, lanes: u64) -> Option<(u32, Option<u16>)> {
        let wave = self.scratch_window(lanes)?;
        Some(((wave as u32).wrapping_add(self.inst_offset), self.offset))
    }

    fn in_range(&self, index: u64, offset: u64, bytes: u64) -> bool {
        let end = offset + self.checked_offset + bytes;
        match self.check {
            Check::ByAddressing => self.in_range_by_addressing(index, end),
            Check::Structured => index < self.records && (self.stride == 0 || offset + bytes <= self.stride),
            Check::Index => index < self.records,
            Check::Empty => self.records != 0,
            Check::Raw => match self.element.filter(|_| self.stride != 0) {
                Some(_) => index < self.records / self.stride && offset + bytes <= self.stride,
                None => index * self.stride + end <= self.records,
            },
        }
    }

    /// True if the access is in range. Structured buffers check the index, raw buffers the end in bytes, and scratch buffers nothing.
    fn in_range_by_addressing(&self, index: u64, end: u64) -> bool {
        if self.add_tid && self.index.is_none() {
            true
        } else if self.stride != 0 && self.index.is_some() {
            index < self.records
        } else {
            end <= self.records
        }
    }

    fn swizzled(&self, index: u64, offset: u64, element: u64) -> u64 {
        let (index_high, index_low) = (index / self.index_stride, index % self.index_stride);
        let (offset_high, offset_low) = (offset / element, offset % element);
        (index_high * self.stride + offset_high * element) * self.index_stride
            + index_low * element
            + offset_low
    }
}
