//! Sweeps a section from the first to the last byte and finds the instructions, the data, and the targets of branches.

use gcn_isa::cfg::OwnAddress;
use gcn_isa::table::{Behaviours, ConstType, OperandDesc, OperandKinds};
use gcn_isa::target::Subtarget;
use gcn_isa::{Inst, Operand, RegFile, Target, WaveSize};

use super::names::Names;
use super::{Content, Item};
use crate::decode::{DecodeFault, decode_at};
use crate::encode::encode_into;
use crate::object::{CodeObject, SectionView, SymbolKind, SymbolView};
use crate::text::source::inline_of_literal;

/// A section with code.
#[derive(Clone, Debug)]
pub struct CodeSection<'d> {
    /// The section's number in the object.
    pub number: usize,
    /// The section's name.
    pub name: &'d str,
    /// The address of the section's first byte.
    pub address: u64,
    /// Its bytes.
    pub bytes: &'d [u8],
    target: Target,
    /// The offsets of kernels with their wave sizes, in ascending order. Code belongs to the kernel that precedes it.
    waves: Vec<(u64, WaveSize)>,
    /// The offsets at which a new piece begins, in ascending order: symbols, and the ends of data.
    marks: Vec<Mark>,
    /// The offsets that need a label, in ascending order, with the label's name: targets of branches, and both ends of distances.
    labels: Vec<(u64, String)>,
    /// The literals that are a distance, or half of one, in bytes within the section, in ascending order of their instructions' offsets.
    distances: Vec<Distance>,
}

/// An instruction that adds a distance, or half of one, to the address of some code, to compute the address of other code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distance {
    /// The offset of the instruction.
    at: u64,
    /// The addresses between which the distance is measured.
    pub from: u64,
    pub to: u64,
    /// True for the upper half of a distance.
    pub is_high: bool,
}

/// The beginning of a piece.
#[derive(Clone, Copy, Debug)]
struct Mark {
    offset: u64,
    /// The bytes up to this offset are data.
    data_until: u64,
}

impl<'d> CodeSection<'d> {
    pub(super) fn new<'s>(
        number: usize,
        section: &SectionView<'d>,
        symbols: impl Iterator<Item = &'s SymbolView<'d>>,
        object: &CodeObject<'d>,
        names: &Names<'d>,
    ) -> CodeSection<'d>
    where
        'd: 's,
    {
        let target = object.target_id.target;
        let own = object.kernels.iter().filter(|kernel| kernel.section == Some(number));
        let mut waves: Vec<(u64, WaveSize)> = own
            .filter_map(|k| Some((k.address.checked_sub(section.address)?, k.descriptor.wave(target))))
            .collect();
        waves.sort_by_key(|wave| wave.0);
        let end = section.bytes.len() as u64;
        let symbols: Vec<_> =
            symbols.filter_map(|s| Some((s.address.checked_sub(section.address)?, s))).collect();
        let mut marks: Vec<Mark> = Vec::new();
        for (offset, symbol) in symbols.iter().filter(|s| s.0 < end) {
            let data = symbol.kind == SymbolKind::Object;
            let data_until = if data { offset.saturating_add(symbol.size).min(end) } else { 0 };
            marks.push(Mark { offset: *offset, data_until });
            if data {
                marks.push(Mark { offset: data_until, data_until: 0 });
            }
        }
        marks.sort_by_key(|m| m.offset);
        let mut code = CodeSection {
            number,
            name: section.name,
            address: section.address,
            bytes: section.bytes,
            target,
            waves,
            marks,
            labels: Vec::new(),
            distances: Vec::new(),
        };
        (code.labels, code.distances) = code.targets();
        let mut named: Vec<(u64, &str)> = symbols
            .iter()
            .filter(|s| super::names::written(s.1.name).is_some())
            .map(|s| (s.0, s.1.name))
            .collect();
        named.sort_unstable();
        for (offset, label) in &mut code.labels {
            *label = match named.get(named.partition_point(|n| n.0 < *offset)) {
                Some((at, name)) if at == offset => (*name).to_owned(),
                _ => names.label(number, section.address.wrapping_add(*offset), section.name == ".text"),
            };
        }
        code
    }

    /// The processor with the wave size of the code at an offset: the size of the kernel that precedes it; before the first kernel, the
    /// size of that kernel.
    fn subtarget(&self, offset: u64) -> Subtarget {
        let before = self.waves.partition_point(|wave| wave.0 <= offset);
        let wave = self.waves.get(before.saturating_sub(1)).map(|wave| wave.1);
        wave.and_then(|wave| Subtarget::new(self.target, wave)).unwrap_or(self.target.into())
    }

    /// The pieces of the section, in order and without gaps.
    pub fn items(&self) -> Items<'_, 'd> {
        self.items_between(0, self.bytes.len() as u64)
    }

    /// The pieces between two offsets. The first offset should be the beginning of a piece.
    pub fn items_between(&self, from: u64, to: u64) -> Items<'_, 'd> {
        let end = usize::try_from(to).unwrap_or(usize::MAX).min(self.bytes.len());
        let at = usize::try_from(from).unwrap_or(usize::MAX).min(end);
        let mark = self.marks.partition_point(|m| m.offset < from);
        Items { code: self, at, end, mark, data_until: 0, scratch: Vec::with_capacity(16) }
    }

    /// The labels that branches lead to: address and name, in ascending order.
    pub fn labels(&self) -> impl Iterator<Item = (u64, &str)> {
        self.labels.iter().map(|(offset, name)| (self.address.wrapping_add(*offset), name.as_str()))
    }

    /// The name of the label at an address; `None` if no branch leads there.
    pub fn label_at(&self, address: u64) -> Option<&str> {
        let offset = address.wrapping_sub(self.address);
        let index = self.labels.binary_search_by_key(&offset, |l| l.0).ok()?;
        Some(&self.labels[index].1)
    }

    /// The target address of a branch that ends at the address `end`; `None` for other instructions. There need not be an instruction at
    /// the target.
    pub fn destination(end: u64, inst: &Inst) -> Option<u64> {
        inst.distance().map(|distance| end.wrapping_add_signed(distance))
    }

    /// If the instruction at an address adds the low or the high half of a [`Distance`] to the program counter, that distance; otherwise
    /// `None`.
    pub(super) fn distance_at(&self, address: u64) -> Option<Distance> {
        let offset = address.wrapping_sub(self.address);
        let index = self.distances.binary_search_by_key(&offset, |d| d.at).ok()?;
        Some(self.distances[index])
    }

    /// The offsets that need a label, if a piece begins there: targets of branches and ends of distances. Also returns these distances.
    fn targets(&self) -> (Vec<(u64, String)>, Vec<Distance>) {
        let mut starts = vec![0u64; self.bytes.len() / 64 + 1];
        let mut targets = Vec::new();
        let mut own_addresses = Vec::new();
        for item in self.items() {
            let offset = item.address.wrapping_sub(self.address);
            starts[(offset / 64) as usize] |= 1 << (offset % 64);
            if let Content::Inst(inst) = &item.content {
                let end = item.end();
                let to = CodeSection::destination(end, inst);
                targets.extend(to.map(|to| to.wrapping_sub(self.address)));
                // The distance of a long branch is written as a difference of labels.
                if inst.desc.does(Behaviours::JUMPS_BY) && to.is_some() {
                    targets.push(end.wrapping_sub(self.address));
                }
                own_addresses.extend(inst.desc.does(Behaviours::READS_PC).then_some(offset));
            }
        }
        let begins = |offset: &u64| {
            let word = usize::try_from(offset / 64).ok().and_then(|word| starts.get(word));
            *offset == self.bytes.len() as u64 || word.is_some_and(|word| word >> (offset % 64) & 1 == 1)
        };
        let mut distances: Vec<Distance> = Vec::new();
        for halves in own_addresses.into_iter().filter_map(|offset| self.halves(offset)) {
            let ends = [halves[0].from, halves[0].to].map(|end| end.wrapping_sub(self.address));
            if ends.iter().all(begins) {
                targets.extend(ends);
                distances.extend(halves);
            }
        }
        distances.sort_unstable_by_key(|d| d.at);
        targets.sort_unstable();
        targets.dedup();
        targets.retain(begins);
        (targets.into_iter().map(|offset| (offset, String::new())).collect(), distances)
    }

    /// If the instruction at an offset reads the address of code, and a distance is then added as a literal or as two: these literals.
    fn halves(&self, offset: u64) -> Option<Vec<Distance>> {
        let mut places = Vec::new();
        let code: Vec<Inst> = self
            .items_between(offset, self.bytes.len() as u64)
            .map_while(|item| match item.content {
                Content::Inst(inst) => {
                    places.push(item.address);
                    Some(inst)
                }
                _ => None,
            })
            .take(1 + OwnAddress::REACH)
            .collect();
        let own = OwnAddress::of(code.iter())?;
        // An assembler makes a literal of the operand's size of a difference of labels.
        let at_once = own.low == own.high;
        let is_literal = |at: &usize| match code[at + 1].operands.last() {
            Some(Operand::Literal(_)) => !at_once,
            Some(Operand::Literal64(_)) => at_once,
            _ => false,
        };
        let is_written = [own.low, own.high].iter().all(is_literal);
        let from = *places.get(1)?;
        let half = |at: usize, is_high| Distance {
            at: places[at + 1].wrapping_sub(self.address),
            from,
            to: from.wrapping_add_signed(own.distance),
            is_high,
        };
        let high = (!at_once).then(|| half(own.high, true));
        is_written.then(|| std::iter::once(half(own.low, false)).chain(high).collect())
    }
}

/// The pieces of a section, see [`CodeSection::items`].
#[derive(Clone, Debug)]
pub struct Items<'c, 'd> {
    code: &'c CodeSection<'d>,
    at: usize,
    end: usize,
    /// The index of the next mark.
    mark: usize,
    data_until: u64,
    scratch: Vec<u8>,
}

impl<'d> Iterator for Items<'_, 'd> {
    type Item = Item<'d>;

    fn next(&mut self) -> Option<Item<'d>> {
        if self.at >= self.end {
            return None;
        }
        let at = self.at as u64;
        while let Some(mark) = self.code.marks.get(self.mark).filter(|m| m.offset <= at) {
            self.data_until = self.data_until.max(mark.data_until);
            self.mark += 1;
        }
        let limit = self.code.marks.get(self.mark).map_or(self.end, |m| self.end.min(m.offset as usize));
        let bytes = &self.code.bytes[self.at..limit];
        let (content, length) = self.piece(bytes);
        let address = self.code.address.wrapping_add(at);
        self.at += length;
        Some(Item { address, bytes: &bytes[..length], content })
    }
}

impl Items<'_, '_> {
    /// The content at the start of `bytes`, which must not be empty, and its length.
    fn piece(&mut self, bytes: &[u8]) -> (Content, usize) {
        // Instructions begin at multiples of four, but data may end at any offset.
        let aligned = 4 - self.at % 4;
        if (self.at as u64) < self.data_until || bytes.len() < 4 || aligned < 4 {
            return (Content::Data, bytes.len().min(aligned));
        }
        match decode_at(bytes, self.code.subtarget(self.at as u64)) {
            Ok((inst, length)) => {
                self.scratch.clear();
                let encoded = encode_into(&inst, self.code.target, &mut self.scratch);
                if encoded.is_ok() && self.scratch == bytes[..length] && has_text(&inst) {
                    (Content::Inst(inst), length)
                } else {
                    (Content::Unprintable(inst), length)
                }
            }
            Err(fault) => (Content::Undecodable(fault), 4),
        }
    }
}

/// False for an instruction whose text some assemblers translate to different bytes (observed with llvm-mc 22).
fn has_text(inst: &Inst) -> bool {
    let desc = inst.desc;
    let is_agpr = |operand: &Operand| operand.reg().is_some_and(|reg| reg.file == RegFile::Agpr);
    // In f64 atomics with AGPRs, sc1 is lost.
    if inst.mods.scc && desc.does(Behaviours::LOSES_SC1_WITH_AGPRS) && inst.operands.iter().any(is_agpr) {
        return false;
    }
    // Some values of the field have no name.
    if inst.mods.th != 0 && crate::text::hint(inst).is_none() {
        return false;
    }
    // An instruction that selects by a mask names only halves of VGPRs, so a half-select bit of another source cannot be expressed.
    if desc.does(Behaviours::SELECTS_BY_MASK) {
        let mut slots = inst.operands.iter().zip(desc.operands);
        let is_vgpr = |operand: &Operand| operand.reg().is_some_and(|reg| reg.file == RegFile::Vgpr);
        let unnamed = |(operand, slot): (&Operand, &OperandDesc)| {
            !is_vgpr(operand) && desc.half_bit(slot).is_some_and(|bit| inst.mods.op_sel >> bit & 1 == 1)
        };
        if slots.any(unnamed) {
            return false;
        }
    }
    inst.operands.iter().zip(desc.operands).enumerate().all(|(position, (operand, slot))| match operand {
        // The upper half of a 16-bit operand's literal is unused and not printed.
        Operand::Literal(value) => {
            let ty = desc.constant_type(position);
            let narrow = matches!(ty, ConstType::I16 | ConstType::F16 | ConstType::Bf16)
                || slot.kinds.contains(OperandKinds::LITERAL16)
                // The instruction's name determines the width of a `lit()`.
                || desc.entry.has_half_floats() && inline_of_literal(ty, *value).is_some();
            *value <= 0xffff || !narrow || desc.format.is_pair()
        }
        Operand::Inline(inline) => desc.spells_inline(position, *inline),
        _ => true,
    })
}

/// The first dword of a piece that has at least four bytes.
pub(super) fn first_dword(bytes: &[u8]) -> u32 {
    bytes.first_chunk::<4>().map_or(0, |chunk| u32::from_le_bytes(*chunk))
}

/// The reason why a piece is not an instruction, for a comment.
pub(super) fn reason(fault: &DecodeFault) -> String {
    fault.to_string().replace(['\n', '\r'], " ")
}
