//! Fixups: places in the output whose value is known only after layout, or only to the linker.

use super::Assembler;
use super::eval::{Atom, Memo, Value};
use super::expr::{Expr, Item, Sym};
use super::fault::Fault;
use super::layout::Layout;
use super::operator::Binary;
use super::place::Place;
use super::span::Span;
use super::symbols::Def;
use crate::object::{Binding, RelocationKind};

/// A place to fill in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixup {
    pub place: Place,
    pub kind: FixupKind,
    pub expr: Expr,
    pub span: Span,
}

/// The kind of value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FixupKind {
    /// The distance of a branch, in the low half of the instruction.
    Branch,
    /// A literal operand of this many bytes.
    Literal(u8),
    /// A value of this many bytes.
    Data(u8),
    /// The distance from a kernel's descriptor to its code.
    Entry,
}

impl FixupKind {
    fn bytes(self) -> u8 {
        match self {
            FixupKind::Branch => 2,
            FixupKind::Literal(bytes) | FixupKind::Data(bytes) => bytes,
            FixupKind::Entry => 8,
        }
    }
}

/// The result of a fixup.
pub(super) enum Outcome {
    /// A value, and the number of its low bytes to write.
    Bytes(i64, u8),
    /// A relocation: kind, base, addend, and optionally bytes to write at the place, which the linker overwrites.
    Relocation(RelocationKind, Base, i64, Option<(i64, u8)>),
}

/// The base of a relocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Base {
    Symbol(Sym),
    Section(u32),
}

/// The reach of a branch, in dwords.
const BRANCH: std::ops::RangeInclusive<i64> = -0x8000..=0x7fff;

impl Assembler<'_> {
    /// Resolves a fixup in `section` at `offset`.
    pub fn resolve(
        &self,
        fixup: &Fixup,
        at: (u32, u64),
        layout: &Layout,
        memo: &mut Memo,
    ) -> Result<Outcome, Fault> {
        let value = self.value(fixup.expr, layout, memo)?;
        if let Some(number) = value.absolute() {
            return self.plain_number(fixup, number);
        }
        let relative = match fixup.kind {
            FixupKind::Branch => true,
            FixupKind::Literal(_) => value.minus.is_none() && self.is_relative(fixup.expr),
            FixupKind::Data(_) | FixupKind::Entry => false,
        };
        let (plus, number, relative) = self.with_difference(value, at, relative)?;
        self.address(fixup, plus, number, value.specifier, relative, at)
    }

    /// Resolves a fixup whose value is a number without an address.
    fn plain_number(&self, fixup: &Fixup, number: i64) -> Result<Outcome, Fault> {
        if fixup.kind == FixupKind::Branch {
            return Err(Fault::BranchTarget);
        }
        let bytes = fixup.kind.bytes();
        check_width(number, bytes)?;
        Ok(Outcome::Bytes(number, bytes))
    }

    /// Resolves `a - b`. If b is in the section of the place, the value is relative to the place: the distance from the place to a, plus a
    /// number.
    fn with_difference(
        &self,
        value: Value,
        at: (u32, u64),
        relative: bool,
    ) -> Result<(Atom, i64, bool), Fault> {
        let plus = value.plus.ok_or(Fault::NotRelocatable)?;
        let Some(minus) = value.minus else { return Ok((plus, value.number, relative)) };
        match minus.place {
            Some((section, offset)) if section == at.0 && !relative => {
                let number = value.number.wrapping_add(at.1.wrapping_sub(offset) as i64);
                Ok((plus, number, true))
            }
            Some(_) => Err(Fault::AcrossSections),
            None => Err(minus.sym.map_or(Fault::NotRelocatable, |sym| self.undefined(sym))),
        }
    }

    fn undefined(&self, sym: Sym) -> Fault {
        Fault::Undefined(self.symbols.get(sym).name.to_string())
    }

    fn address(
        &self,
        fixup: &Fixup,
        plus: Atom,
        number: i64,
        specifier: Option<RelocationKind>,
        relative: bool,
        at: (u32, u64),
    ) -> Result<Outcome, Fault> {
        let symbol = plus.sym.map(|sym| (sym, self.symbols.get(sym)));
        let global = symbol.is_some_and(|(_, s)| matches!(s.binding, Some(Binding::Global | Binding::Weak)));
        if let (Some((section, offset)), true, None, false) = (plus.place, relative, specifier, global)
            && section == at.0
        {
            let distance = offset.wrapping_sub(at.1) as i64;
            return self.distance(fixup, distance.wrapping_add(number));
        }
        if let Some((sym, symbol)) = symbol {
            if symbol.flags.temporary && symbol.def == Def::Undefined {
                return Err(match symbol.name.is_empty() {
                    true => Fault::NoDirectional("1:".to_owned()),
                    false => self.undefined(sym),
                });
            }
            if fixup.kind == FixupKind::Branch && symbol.def == Def::Undefined {
                return Err(self.undefined(sym));
            }
        }
        let kind = relocation_kind(fixup.kind, specifier, relative)?;
        let (base, number) = self.base(plus, kind, number)?;
        // Like llvm-mc, writes the distance to the section's start into the branch; the linker overwrites it.
        let stale = (fixup.kind == FixupKind::Branch).then_some((-1, 2));
        Ok(Outcome::Relocation(kind, base, number, stale))
    }

    /// The base of a relocation. For a local symbol it is the section, so that the symbol needs no entry in
    /// the symbol table.
    fn base(&self, plus: Atom, kind: RelocationKind, number: i64) -> Result<(Base, i64), Fault> {
        let keeps = |sym: Sym| {
            let symbol = self.symbols.get(sym);
            let got = matches!(
                kind,
                RelocationKind::GotPcRel | RelocationKind::GotPcRel32Lo | RelocationKind::GotPcRel32Hi
            );
            got || matches!(symbol.binding, Some(Binding::Global | Binding::Weak))
        };
        match (plus.sym, plus.place) {
            (Some(sym), Some((section, _))) if keeps(sym) || (number != 0 && self.is_merged(section)) => {
                Ok((Base::Symbol(sym), number))
            }
            (_, Some((section, offset))) => Ok((Base::Section(section), number.wrapping_add(offset as i64))),
            (Some(sym), None) => Ok((Base::Symbol(sym), number)),
            (None, None) => Err(Fault::NotRelocatable),
        }
    }

    /// True if the linker may merge and move pieces of a section. An offset in such a section stands for a piece.
    fn is_merged(&self, section: u32) -> bool {
        let flags = self.sections.get(section as usize).map_or(0, |s| s.flags);
        flags & u64::from(object::elf::SHF_MERGE) != 0
    }

    fn distance(&self, fixup: &Fixup, distance: i64) -> Result<Outcome, Fault> {
        if fixup.kind != FixupKind::Branch {
            let bytes = fixup.kind.bytes();
            check_width(distance, bytes)?;
            return Ok(Outcome::Bytes(distance, bytes));
        }
        if distance % 4 != 0 {
            return Err(Fault::BranchAlign(distance));
        }
        let dwords = distance / 4 - 1;
        if BRANCH.contains(&dwords) {
            Ok(Outcome::Bytes(dwords, 2))
        } else {
            Err(Fault::BranchRange(distance))
        }
    }

    /// True if llvm-mc computes a literal operand relative to its own position: it does so for a symbol and for sums of symbols and
    /// numbers, but not for differences, nor with a specifier for an absolute address.
    fn is_relative(&self, expr: Expr) -> bool {
        let Expr::Items { start, count } = expr else { return matches!(expr, Expr::Symbol(_)) };
        let items = self.exprs.items(start, count);
        let mut relative = items.iter().any(|i| matches!(i, Item::Symbol(_) | Item::Here(_)));
        for item in items {
            match item {
                Item::Binary(Binary::Sub) | Item::Call(..) => relative = false,
                Item::Specifier(
                    RelocationKind::Abs32Lo | RelocationKind::Abs32Hi | RelocationKind::Abs64,
                ) => {
                    relative = false;
                }
                _ => {}
            }
        }
        relative
    }
}

/// Checks that a number fits in `size` bytes, signed or unsigned.
pub(super) fn check_width(value: i64, size: u8) -> Result<(), Fault> {
    if size >= 8 {
        return Ok(());
    }
    let bits = u32::from(size) * 8;
    let (low, high) = (-(1i64 << (bits - 1)), (1i64 << bits) - 1);
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Fault::Range { what: "the value", value, low, high })
}

/// The relocation kind for a fixup.
fn relocation_kind(
    kind: FixupKind,
    specifier: Option<RelocationKind>,
    relative: bool,
) -> Result<RelocationKind, Fault> {
    Ok(match (specifier, kind, relative) {
        (Some(kind), ..) => kind,
        (None, FixupKind::Branch, _) => RelocationKind::Rel16,
        (None, _, relative) => match (kind.bytes(), relative) {
            (4, true) => RelocationKind::Rel32,
            (4, false) => RelocationKind::Abs32,
            (8, true) => RelocationKind::Rel64,
            (8, false) => RelocationKind::Abs64,
            (bytes, _) => return Err(Fault::RelocationSize(bytes.into())),
        },
    })
}
