//! A form line of an entry, and its facts for each group of targets.

use std::cell::{Cell, OnceCell};

use smallvec::{SmallVec, smallvec};

use super::declarations::{Class, Declarations, Opcodes, implicit, opcodes, targets};
use super::modifiers::ModifierFacts;
use super::{Broken, cut, words};
use crate::mods::Modifiers;
use crate::reg::MOST_VGPRS;
use crate::table::format::Format;
use crate::table::msb::{MsbField, MsbOf};
use crate::table::slot::{Access, DstHalf, ImplicitRegs, OperandDesc, OperandKinds, SameFile, WaveSizes};
use crate::target::TargetSet;

/// A form of an entry.
pub(super) struct Form {
    pub(super) format: Format,
    pub(super) form: &'static str,
    /// The opcodes, if they do not follow from the entry's opcodes.
    pub(super) opcodes: Option<Opcodes>,
    /// The facts, one for each group of targets that share them. The groups are ordered by their oldest target.
    pub(super) facts: Vec<Facts>,
}

/// The facts of a form on some targets.
pub(super) struct Facts {
    pub(super) targets: TargetSet,
    pub(super) waves: WaveSizes,
    pub(super) operands: Kept<OperandDesc>,
    pub(super) same_file: Kept<SameFile>,
    pub(super) modifiers: ModifierFacts,
    pub(super) reads: ImplicitRegs,
    pub(super) writes: ImplicitRegs,
    pub(super) align: u8,
    pub(super) half: Option<DstHalf>,
    pub(super) halves_by_op_sel: bool,
    pub(super) width_by_format: bool,
    pub(super) plain_name: bool,
    pub(super) has_literal: bool,
}

/// A list that is leaked when a row first requests it, and then shared by rows. It is dropped if no row requests it: a pattern may have
/// forms for targets on which no entry uses them.
pub(super) struct Kept<T: 'static> {
    read: Cell<Vec<T>>,
    kept: OnceCell<&'static [T]>,
}

impl<T> Kept<T> {
    fn new(read: Vec<T>) -> Kept<T> {
        Kept { read: Cell::new(read), kept: OnceCell::new() }
    }

    pub(super) fn get(&self) -> &'static [T] {
        self.kept.get_or_init(|| self.read.take().leak())
    }
}

/// An operand as it is written in a form line.
struct Slot<'a> {
    name: &'static str,
    access: Access,
    class: &'a Class,
    /// The widths for wave sizes 32 and 64.
    dwords: [u8; 2],
    msb: Option<MsbOf>,
}

/// The words of a form line.
struct Words<'a> {
    slots: SmallVec<[Slot<'a>; 6]>,
    modifiers: ModifierFacts,
    groups: SmallVec<[&'a [(TargetSet, ModifierFacts)]; 4]>,
    family: TargetSet,
    targets: TargetSet,
    /// The wave sizes that have the form.
    waves: WaveSizes,
    reads: ImplicitRegs,
    writes: ImplicitRegs,
    align: Option<u8>,
    half: Option<DstHalf>,
    halves_by_op_sel: bool,
    width_by_format: bool,
    plain_name: bool,
}

impl Form {
    /// Parses a form line. `data` has the classes that replace `$` and `$2`.
    pub(super) fn read(
        declarations: &Declarations,
        line: &'static str,
        data: &[(&Class, [u8; 2])],
    ) -> Result<Form, Broken> {
        let mut words = words(line).peekable();
        let name = words.next().ok_or("a form begins with its format")?;
        let (format, form) = cut(name, b'.').unwrap_or((name, ""));
        let format = Format::named(format).ok_or("unknown format")?;
        let opcodes =
            words.next_if(|w| w.starts_with("0x")).map(|w| opcodes(w, declarations.family)).transpose()?;
        let words = Words::read((declarations, format), words, data)?;
        Ok(Form { format, form, opcodes, facts: words.facts(format) })
    }
}

impl<'a> Words<'a> {
    fn read(
        (declarations, format): (&'a Declarations, Format),
        words: impl Iterator<Item = &'static str>,
        data: &[(&'a Class, [u8; 2])],
    ) -> Result<Words<'a>, Broken> {
        let mut read = Words {
            slots: SmallVec::new(),
            modifiers: ModifierFacts::default(),
            groups: SmallVec::new(),
            family: declarations.family,
            targets: declarations.family,
            waves: WaveSizes::all(),
            reads: ImplicitRegs::empty(),
            writes: ImplicitRegs::empty(),
            align: None,
            half: None,
            halves_by_op_sel: false,
            width_by_format: false,
            plain_name: false,
        };
        for word in words {
            match word {
                "half_kept" => read.half = Some(DstHalf::Kept),
                "half_filled" => read.half = Some(DstHalf::Filled),
                "halves_by_op_sel" => read.halves_by_op_sel = true,
                "wave32" => read.waves = WaveSizes::W32,
                "wave64" => read.waves = WaveSizes::W64,
                "width_by_format" => read.width_by_format = true,
                "plain_name" => read.plain_name = true,
                "align=1" => read.align = Some(1),
                "align=2" => read.align = Some(2),
                _ if word.starts_with('@') => read.targets = targets(&word[1..])?,
                _ if word.starts_with(['<', '>']) => implicit(word, &mut read.reads, &mut read.writes)?,
                _ => match slot((declarations, format), word, data)? {
                    Some(slot) => read.slots.push(slot),
                    None => match declarations.group(word) {
                        Some(group) => read.groups.push(group),
                        None => read.modifiers.add(word)?,
                    },
                },
            }
        }
        Ok(read)
    }

    fn facts(&self, format: Format) -> Vec<Facts> {
        let mut groups: SmallVec<[TargetSet; 8]> = smallvec![self.targets];
        for slot in &self.slots {
            if let [all] = slot.class[..]
                && self.targets.difference(all.targets).is_empty()
            {
                continue;
            }
            let parts = slot.class.iter().map(|alternative| alternative.targets);
            // If the class has no alternative for a target, the form does not exist on the target.
            groups = parts.flat_map(|part| groups.iter().map(move |g| g.intersection(part))).collect();
        }
        for group in &self.groups {
            let stated = group.iter().fold(TargetSet::EMPTY, |all, alternative| all.union(alternative.0));
            let parts = group.iter().map(|alternative| alternative.0).chain([self.family.difference(stated)]);
            groups = parts.flat_map(|part| groups.iter().map(move |g| g.intersection(part))).collect();
        }
        if self.align.is_none() && self.slots.iter().any(|slot| slot.dwords[1] > 1 && slot.is_vector()) {
            let even = TargetSet::WITH_EVEN_TUPLES;
            groups = [even, self.family.difference(even)]
                .into_iter()
                .flat_map(|part| groups.iter().map(move |g| g.intersection(part)))
                .collect();
        }
        groups.retain(|g| !g.is_empty());
        groups.sort_by_key(|g| g.iter().next());
        let on = |targets: TargetSet| {
            let (first, second) = match self.differs_by_wave(targets) {
                true => (WaveSizes::W32, Some(WaveSizes::W64)),
                false => (WaveSizes::all(), None),
            };
            let waves = std::iter::once(first).chain(second);
            waves.map(move |waves| self.on(targets, waves.intersection(self.waves), format))
        };
        groups.into_iter().flat_map(on).filter(|facts| !facts.waves.is_empty()).collect()
    }

    /// The field of `s_set_vgpr_msb` of a slot. The field of a result is `dst` where nothing else is declared.
    fn msb(&self, slot: usize) -> Option<MsbField> {
        let (before, Slot { access, msb, .. }) = (&self.slots[..slot], &self.slots[slot]);
        let is_source =
            |slot: &&Slot<'_>| slot.access == Access::Read && slot.msb != Some(MsbOf::Field(MsbField::Dst));
        match msb {
            Some(MsbOf::Field(field)) => Some(*field),
            _ if *access != Access::Read => Some(MsbField::Dst),
            Some(MsbOf::Position) => Some(MsbField::source(before.iter().filter(is_source).count())),
            None => None,
        }
    }

    /// True if an operand depends on the wave size.
    fn differs_by_wave(&self, targets: TargetSet) -> bool {
        self.slots.iter().any(|slot| {
            let here = slot.class.iter().filter(|a| !a.targets.intersection(targets).is_empty());
            slot.dwords[0] != slot.dwords[1] || here.into_iter().any(|a| a.specials[0] != a.specials[1])
        })
    }

    /// The facts on targets that share them, for these wave sizes.
    fn on(&self, targets: TargetSet, waves: WaveSizes, format: Format) -> Facts {
        let wave = usize::from(waves.contains(WaveSizes::W64));
        let holds = |set: TargetSet| !set.intersection(targets).is_empty();
        let long_numbers = targets.iter().any(|set| set.addressable_vgprs() == MOST_VGPRS.into());
        let operands: Vec<OperandDesc> = self
            .slots
            .iter()
            .enumerate()
            .filter_map(|(i, slot)| {
                let class = slot.class.iter().find(|alternative| holds(alternative.targets))?;
                Some(OperandDesc {
                    name: slot.name,
                    access: slot.access,
                    kinds: class.kinds,
                    dwords: slot.dwords[wave],
                    last_vgpr: class.last_vgpr,
                    specials: class.specials[wave],
                    msb: if long_numbers { self.msb(i) } else { None },
                })
            })
            .collect();
        let mut modifiers = self.modifiers;
        for group in &self.groups {
            if let Some((_, more)) = group.iter().find(|alternative| holds(alternative.0)) {
                modifiers.extend(more);
            }
        }
        let half = operands.iter().any(|o| o.name == "vdst" && o.is_half()).then_some(DstHalf::Kept);
        if operands.iter().any(OperandDesc::is_half) {
            modifiers.accepted |= Modifiers::OP_SEL;
            modifiers.bits.op_sel |= source_halves(&operands);
        }
        let wide = operands
            .iter()
            .any(|o| o.dwords > 1 && o.kinds.intersects(OperandKinds::VGPR | OperandKinds::AGPR));
        let even = targets.difference(TargetSet::WITH_EVEN_TUPLES).is_empty();
        let has_literal = operands.iter().any(OperandDesc::is_literal);
        Facts {
            targets,
            waves,
            same_file: Kept::new(same_file(format, &operands)),
            operands: Kept::new(operands),
            modifiers,
            reads: self.reads,
            writes: self.writes,
            align: self.align.filter(|_| even).unwrap_or(if wide && even { 2 } else { 1 }),
            half: half.or(self.half),
            halves_by_op_sel: self.halves_by_op_sel,
            width_by_format: self.width_by_format,
            plain_name: self.plain_name,
            has_literal,
        }
    }
}

impl Slot<'_> {
    fn is_vector(&self) -> bool {
        self.class.iter().any(|a| a.kinds.intersects(OperandKinds::VGPR | OperandKinds::AGPR))
    }
}

/// Parses `name:class` (read), `name=class` (written) or `name:=class` (both), perhaps with `^field`; `None` if the word is not an operand.
fn slot<'a>(
    (declarations, format): (&'a Declarations, Format),
    word: &'static str,
    data: &[(&'a Class, [u8; 2])],
) -> Result<Option<Slot<'a>>, Broken> {
    let Some(at) = word.find([':', '=']) else { return Ok(None) };
    let (access, class) = match &word[at..] {
        both if both.starts_with(":=") => (Access::ReadWrite, &both[2..]),
        read if read.starts_with(':') => (Access::Read, &read[1..]),
        written => (Access::Write, &written[1..]),
    };
    let name = &word[..at];
    let (class, msb) = match class.split_once('^') {
        Some((class, field)) => (class, Some(MsbOf::named(field).ok_or("unknown field after `^`")?)),
        None => (class, declarations.msb(name, format)),
    };
    let (class, dwords) = match class {
        "$" => *data.first().ok_or("`$` without a class in `data=`")?,
        "$2" => *data.get(1).ok_or("`$2` without a second class in `data=`")?,
        class => declarations.class(class)?,
    };
    Ok(Some(Slot { name, access, class, dwords, msb }))
}

/// The bits of `op_sel` that select the half of each source's register.
fn source_halves(operands: &[OperandDesc]) -> u8 {
    let sources = (0..).zip(operands.iter().filter(|o| o.is_source()));
    sources.filter(|(_, o)| o.is_half()).fold(0, |all, (bit, _)| all | 1 << bit)
}

/// The operands that must all be VGPRs or all be AGPRs: the result and source C of a matrix instruction, or all data of a memory
/// instruction.
fn same_file(format: Format, operands: &[OperandDesc]) -> Vec<SameFile> {
    let either = OperandKinds::VGPR | OperandKinds::AGPR;
    let names: &[&str] = match format {
        Format::Vop3pMai | Format::Vop3px2 => &["vdst", "src2"],
        _ => &["vdst", "vdata", "data0", "data1"],
    };
    let bound = |o: &OperandDesc| o.kinds.contains(either) && names.contains(&o.name);
    let bound: Vec<u8> = (0..).zip(operands).filter(|(_, o)| bound(o)).map(|(i, _)| i).collect();
    let pairs =
        bound.iter().enumerate().flat_map(|(i, &a)| bound[i + 1..].iter().map(move |&b| SameFile { a, b }));
    pairs.collect()
}
