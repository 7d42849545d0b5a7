//! The names that entries use: special registers, register classes, groups of modifiers, witnesses, sets of targets.

use smallvec::SmallVec;

use super::modifiers::ModifierFacts;
use super::{Broken, cut};
use crate::table::format::Format;
use crate::table::msb::MsbOf;
use crate::table::names::NameMap;
use crate::table::slot::{ImplicitRegs, OperandKinds};
use crate::target::TargetSet;

/// The values that an operand can have, for each group of targets.
pub(super) type Class = Vec<Alternative>;

/// The values that an operand can have on some targets.
#[derive(Clone, Copy)]
pub(super) struct Alternative {
    pub(super) targets: TargetSet,
    pub(super) kinds: OperandKinds,
    /// The special registers, for wave sizes 32 and 64.
    pub(super) specials: [&'static str; 2],
    pub(super) last_vgpr: u8,
}

/// The opcodes, for each group of targets. Usually all targets have the same opcode.
pub(super) type Opcodes = SmallVec<[(TargetSet, u16); 2]>;

/// The declarations that have been read so far.
pub(super) struct Declarations {
    /// The instruction sets that are meant if a line does not name any.
    pub(super) family: TargetSet,
    specials: NameMap<&'static str>,
    classes: NameMap<Class>,
    modifiers: NameMap<Vec<(TargetSet, ModifierFacts)>>,
    witnesses: NameMap<&'static str>,
    /// The fields of `s_set_vgpr_msb`, by the operand's name and perhaps format.
    msbs: Vec<(&'static str, Option<Format>, MsbOf)>,
}

impl Declarations {
    pub(super) fn new(family: TargetSet) -> Declarations {
        Declarations {
            family,
            specials: NameMap::default(),
            classes: NameMap::default(),
            modifiers: NameMap::default(),
            witnesses: NameMap::default(),
            msbs: Vec::new(),
        }
    }

    /// Parses `left = right`. A later file may redeclare a name that has another meaning on another family.
    pub(super) fn declare(
        &mut self,
        left: &'static str,
        right: &'static str,
        again: bool,
    ) -> Result<(), Broken> {
        let (what, name) = left.split_once(' ').ok_or("a declaration begins with its kind and a name")?;
        let new = match what {
            "specials" => self.specials.insert(name, right).is_none(),
            "witness" => self.witnesses.insert(name, right).is_none(),
            "class" => {
                let alternatives =
                    right.split(" / ").map(|a| self.alternative(a)).collect::<Result<_, _>>()?;
                self.classes.insert(name, alternatives).is_none()
            }
            "modifiers" => {
                let group =
                    right.split(" / ").map(|part| group(part, self.family)).collect::<Result<_, _>>()?;
                self.modifiers.insert(name, group).is_none()
            }
            "msb" => {
                let (name, format) =
                    name.split_once(' ').map_or((name, None), |(name, format)| (name, Some(format)));
                let format = format.map(|f| Format::named(f).ok_or("unknown format")).transpose()?;
                let new = !self.msbs.iter().any(|known| (known.0, known.1) == (name, format));
                self.msbs.push((name, format, MsbOf::named(right).ok_or("unknown field")?));
                new
            }
            _ => return Err("a declaration is of msb, specials, class, modifiers or witness"),
        };
        if new || again { Ok(()) } else { Err("declared twice") }
    }

    /// Parses `v|s|m name @targets`, with two names (`words/pairs`) if they depend on the wave size.
    fn alternative(&self, text: &'static str) -> Result<Alternative, Broken> {
        let mut words = text.split(' ');
        let kinds = words
            .next()
            .unwrap_or("")
            .split('|')
            .try_fold(OperandKinds::empty(), |all, kind| Ok::<_, Broken>(all | operand_kind(kind)?))?;
        let mut read = Alternative { targets: self.family, kinds, specials: ["", ""], last_vgpr: 255 };
        for word in words {
            let list = |name| self.specials.get(name).copied().ok_or("unknown list of special registers");
            match (word.strip_prefix('@'), word.split_once('/')) {
                (Some(text), _) => read.targets = targets(text)?,
                (None, Some((narrow, wide))) => read.specials = [list(narrow)?, list(wide)?],
                _ if word == "low" => read.last_vgpr = 127,
                _ => read.specials = [list(word)?; 2],
            }
        }
        if kinds.contains(OperandKinds::SPECIAL) == read.specials.contains(&"") {
            return Err("kind `m` and a list of special registers go together");
        }
        Ok(read)
    }

    /// Parses `class*dwords`. Without a width, the width is one dword, and only registers are accepted. `*1/2` gives the widths for wave
    /// sizes 32 and 64.
    pub(super) fn class(&self, text: &'static str) -> Result<(&Class, [u8; 2]), Broken> {
        let (name, dwords) = cut(text, b'*').map_or((text, None), |(n, d)| (n, Some(d)));
        let class = self.classes.get(name).ok_or("unknown register class")?;
        let dwords = match dwords {
            Some(digits) => {
                let number = |digits: &str| digits.parse::<u8>().map_err(|_| "bad number of dwords");
                let (narrow, wide) = cut(digits, b'/').unwrap_or((digits, digits));
                [number(narrow)?, number(wide)?]
            }
            None if (OperandKinds::IMM | OperandKinds::OFF).contains(class[0].kinds) => [0; 2],
            None => [1; 2],
        };
        Ok((class, dwords))
    }

    /// The group of modifiers with the name `name`; `None` if there is none.
    pub(super) fn group(&self, name: &str) -> Option<&[(TargetSet, ModifierFacts)]> {
        self.modifiers.get(name).map(Vec::as_slice)
    }

    /// The field of `s_set_vgpr_msb` of an operand; `None` if no declaration gives it.
    pub(super) fn msb(&self, name: &str, format: Format) -> Option<MsbOf> {
        let find =
            |format| self.msbs.iter().find(|known| (known.0, known.1) == (name, format)).map(|known| known.2);
        find(Some(format)).or_else(|| find(None))
    }

    pub(super) fn witness(&self, name: &str) -> Result<&'static str, Broken> {
        self.witnesses.get(name).copied().ok_or("unknown witness")
    }
}

/// Parses `modifier modifier @targets`.
fn group(text: &'static str, family: TargetSet) -> Result<(TargetSet, ModifierFacts), Broken> {
    let (mut set, mut facts) = (family, ModifierFacts::default());
    for word in text.split(' ') {
        match word.strip_prefix('@') {
            Some(text) => set = targets(text)?,
            None => facts.add(word)?,
        }
    }
    Ok((set, facts))
}

pub(super) fn targets(text: &str) -> Result<TargetSet, Broken> {
    text.parse().map_err(|_| "unknown target")
}

/// Splits a text at `@` into the part before it and the targets after it. Without `@`, the targets are those of the family.
pub(super) fn with_targets(
    text: &'static str,
    family: TargetSet,
) -> Result<(&'static str, TargetSet), Broken> {
    match cut(text, b'@') {
        Some((value, set)) => Ok((value, targets(set)?)),
        None => Ok((text, family)),
    }
}

pub(super) fn opcodes(text: &'static str, family: TargetSet) -> Result<Opcodes, Broken> {
    let mut read = Opcodes::new();
    for part in text.split(',') {
        let (digits, set) = with_targets(part, family)?;
        let digits = digits.strip_prefix("0x").ok_or("an opcode is hexadecimal")?;
        let opcode = u16::from_str_radix(digits, 16).map_err(|_| "an opcode is hexadecimal")?;
        if read.iter().any(|(other, _)| !other.intersection(set).is_empty()) {
            return Err("targets of the opcodes overlap");
        }
        read.push((set, opcode));
    }
    Ok(read)
}

fn operand_kind(kind: &str) -> Result<OperandKinds, Broken> {
    Ok(match kind {
        "v" => OperandKinds::VGPR,
        "a" => OperandKinds::AGPR,
        "s" => OperandKinds::SGPR,
        "c" => OperandKinds::INLINE_INT | OperandKinds::INLINE_FLOAT,
        "l" => OperandKinds::LITERAL,
        "l16" => OperandKinds::LITERAL16,
        "l64" => OperandKinds::LITERAL64,
        "m" => OperandKinds::SPECIAL,
        "imm" => OperandKinds::IMM,
        "off" => OperandKinds::OFF,
        "h" => OperandKinds::HALF_VGPR,
        _ => return Err("unknown kind of operand"),
    })
}

/// Parses an implicit register: `<register` is read, `>register` is written.
pub(super) fn implicit(
    word: &str,
    reads: &mut ImplicitRegs,
    writes: &mut ImplicitRegs,
) -> Result<(), Broken> {
    let (set, name) = match word.split_at_checked(1) {
        Some(("<", name)) => (reads, name),
        Some((">", name)) => (writes, name),
        _ => return Err("unknown word"),
    };
    *set |= match name {
        "exec" => ImplicitRegs::EXEC,
        "vcc" => ImplicitRegs::VCC,
        "scc" => ImplicitRegs::SCC,
        "m0" => ImplicitRegs::M0,
        "flat_scr" => ImplicitRegs::FLAT_SCRATCH,
        "mode" => ImplicitRegs::MODE,
        _ => return Err("unknown implicit register"),
    };
    Ok(())
}
