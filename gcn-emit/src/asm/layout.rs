//! The layout: offsets of streams in their sections, for given sizes of gaps.

use super::Assembler;
use super::place::Place;

/// The offsets of all streams and gaps.
#[derive(Debug, Default)]
pub(super) struct Layout {
    streams: Vec<StreamLayout>,
}

#[derive(Clone, Debug, Default)]
struct StreamLayout {
    /// The offset of the stream in its section.
    base: u64,
    /// At index `i`, the total size of the gaps before gap `i`; the last entry is that of all gaps.
    before: Vec<u64>,
}

impl Layout {
    /// The section and offset of a place.
    pub fn offset(&self, asm: &Assembler<'_>, place: Place) -> (u32, u64) {
        let section = asm.streams.get(place.stream.0 as usize).map_or(0, |s| s.section);
        let stream = self.streams.get(place.stream.0 as usize);
        let gaps = stream.map_or(0, |s| s.base + s.before.get(place.gaps as usize).copied().unwrap_or(0));
        (section, gaps + place.bytes)
    }

    /// The size of a section.
    pub fn size(&self, asm: &Assembler<'_>, section: u32) -> u64 {
        let Some(section) = asm.sections.get(section as usize) else { return 0 };
        let ends = section.streams.iter().map(|id| {
            let length = asm.streams.get(id.0 as usize).map_or(0, |s| s.length);
            self.streams
                .get(id.0 as usize)
                .map_or(0, |s| s.base + s.before.last().copied().unwrap_or(0) + length)
        });
        ends.max().unwrap_or(0)
    }

    /// Computes the offsets for the current sizes of gaps.
    pub fn assign(&mut self, asm: &Assembler<'_>) {
        self.streams.resize(asm.streams.len(), StreamLayout::default());
        for section in &asm.sections {
            let mut base = 0u64;
            for id in &section.streams {
                let index = id.0 as usize;
                let (Some(stream), Some(out)) = (asm.streams.get(index), self.streams.get_mut(index)) else {
                    continue;
                };
                out.base = base;
                out.before.clear();
                let mut sum = 0u64;
                out.before.push(0);
                for gap in &stream.gaps {
                    sum = sum.saturating_add(gap.size);
                    out.before.push(sum);
                }
                base = base.saturating_add(sum).saturating_add(stream.length);
            }
        }
    }
}
