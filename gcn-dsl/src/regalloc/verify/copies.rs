//! Copies, and the moves that they became.

use gcn_isa::table::OperandKinds as Kinds;
use gcn_isa::{Inst, Operand, OperandDesc, Reg, RegFile, reg::RegUnit};

use super::super::error::VerifyError;
use super::super::input;
use super::super::moves::{MNEMONICS, Source};
use super::state::{State, Value};
use super::{At, Checker};
use crate::mir::{MInst, MOperand};

/// Where a move takes a dword from.
#[derive(Clone, Copy)]
enum From {
    Unit(RegUnit),
    Value(Value),
}

impl From {
    fn holds(self, state: &State, value: Value) -> bool {
        match self {
            From::Unit(unit) => state.holds(unit, value),
            From::Value(constant) => constant == value,
        }
    }

    fn values(self, state: &State) -> Vec<Value> {
        match self {
            From::Unit(unit) => state.values(unit),
            From::Value(constant) => vec![constant],
        }
    }
}

/// A dword of a copy.
#[derive(Clone, Copy)]
struct Pair {
    dst: Value,
    src: Value,
}

/// What the moves of a copy did besides moving.
#[derive(Default)]
struct Moved {
    /// Vector registers that were written, in active lanes.
    vector: Vec<RegUnit>,
    /// Registers that hold a destination's new value in the active lanes and its old one in the others.
    mixed: Vec<(RegUnit, Value)>,
}

impl Checker<'_> {
    /// Executes the moves, then renames, see the module's header.
    pub(super) fn copy<'i>(
        &self,
        state: &mut State,
        at: At,
        inst: &MInst,
        moves: impl Iterator<Item = &'i Inst>,
    ) -> Result<(), VerifyError> {
        let [dst, src] = inst.operands[..] else {
            return self.fail(at, "a copy without two operands".into());
        };
        let pairs = self.pairs(dst, src);
        let keeps =
            inst.keeps_dst && matches!(dst, MOperand::Virt(s) if self.f.info(s.reg).file != RegFile::Sgpr);
        let mut moved = Moved::default();
        if keeps {
            moved.note_mixtures(state, &pairs);
        }
        for line in moves {
            for (to, from) in self.move_units(at, line)? {
                moved.step(state, to, from, if keeps { &pairs } else { &[] });
            }
        }
        rename(state, &pairs, keeps, moved);
        Ok(())
    }

    /// The dwords of a copy.
    fn pairs(&self, dst: MOperand, src: MOperand) -> Vec<Pair> {
        let values = |o: MOperand| -> Vec<Value> {
            match o {
                MOperand::Virt(slice) => self.dwords(slice).map(Value::Dword).collect(),
                MOperand::Fixed(fixed) => match Source::of(fixed) {
                    Some(Source::Reg(reg)) => reg.units().map(Value::Own).collect(),
                    Some(Source::Const(bits)) => vec![Value::Const(bits); 32],
                    Some(Source::Special(s)) => vec![Value::Special(s as u8); 32],
                    None => Vec::new(),
                },
            }
        };
        values(dst).into_iter().zip(values(src)).map(|(dst, src)| Pair { dst, src }).collect()
    }

    /// What a move writes from what, unit by unit, if it is one that the target has.
    fn move_units(&self, at: At, line: &Inst) -> Result<Vec<(RegUnit, From)>, VerifyError> {
        let plain = MNEMONICS.contains(&line.desc.printed) && line.mods == line.desc.default_mods();
        let [Operand::Reg(to), from] = line.operands[..] else {
            return self.fail(at, "a copy became something without a destination".into());
        };
        if !plain {
            return self.fail(at, format!("a copy became {}", line.desc.printed));
        }
        let sources = sources(from, to.len);
        let slots = || line.desc.operands.iter().zip([Operand::Reg(to), from]);
        if sources.len() != usize::from(to.len) || !slots().all(|(slot, o)| takes(slot, o, to.len)) {
            return self.fail(at, format!("{} cannot move {from:?} to {to}", line.desc.printed));
        }
        let aligned = |reg: Reg| reg.file != RegFile::Sgpr || reg.len == 1 || reg.index.is_multiple_of(2);
        if !aligned(to) || from.reg().is_some_and(|r| !aligned(r)) {
            return self.fail(at, format!("{} of an odd pair of SGPRs", line.desc.printed));
        }
        Ok(to.units().zip(sources).collect())
    }
}

impl Moved {
    /// Registers that hold both old values hold their mixture without any move.
    fn note_mixtures(&mut self, state: &State, pairs: &[Pair]) {
        for p in pairs {
            let units = state.places(p.src).into_iter().chain(state.places(p.dst));
            let both = units.filter(|&u| state.holds(u, p.dst) && state.holds(u, p.src));
            self.mixed.extend(both.map(|u| (u, p.dst)));
        }
    }

    /// One dword of one move; `pairs` of a copy that keeps lanes.
    fn step(&mut self, state: &mut State, to: RegUnit, from: From, pairs: &[Pair]) {
        if to.reg().file != RegFile::Sgpr {
            self.vector.push(to);
        }
        let kept = pairs.iter().filter(|p| state.holds(to, p.dst) && from.holds(state, p.src));
        let kept: Vec<_> = kept.map(|p| (to, p.dst)).collect();
        self.mixed.retain(|m| m.0 != to);
        self.mixed.extend(kept);
        let values = from.values(state);
        state.set(to, values);
    }
}

/// Gives the destinations' names to the registers that hold their values now.
fn rename(state: &mut State, pairs: &[Pair], keeps: bool, moved: Moved) {
    // All sources are looked up before any destination is named: a copy may overlap itself.
    let places = |p: &Pair| -> Vec<RegUnit> {
        if keeps {
            moved.mixed.iter().filter(|m| m.1 == p.dst).map(|m| m.0).collect()
        } else {
            state.places(p.src)
        }
    };
    let named: Vec<_> = pairs
        .iter()
        .map(|p| {
            let undefined = state.is_undefined(p.src) && (!keeps || state.is_undefined(p.dst));
            (p.dst, places(p), undefined)
        })
        .collect();
    named.iter().for_each(|n| state.forget(n.0));
    moved.vector.into_iter().for_each(|unit| state.set(unit, []));
    for (value, units, undefined) in named {
        units.into_iter().for_each(|u| state.add(u, value));
        if undefined {
            state.undefine(value);
        }
    }
    // Hardware values change by themselves.
    pairs.iter().filter(|p| matches!(p.src, Value::Special(_))).for_each(|p| state.forget(p.src));
}

/// The dwords of a move's source; another number than `len` if it is no source for a move of that width.
fn sources(from: Operand, len: u8) -> Vec<From> {
    let value = From::Value;
    match from {
        Operand::Reg(reg) => reg.units().map(From::Unit).collect(),
        Operand::Inline(inline) if len == 2 => {
            let bits = inline.bits64();
            vec![value(Value::Const(bits as u32)), value(Value::Const((bits >> 32) as u32))]
        }
        Operand::Inline(inline) => vec![value(Value::Const(inline.bits32()))],
        Operand::Literal(bits) => vec![value(Value::Const(bits))],
        Operand::Special(s) => vec![value(Value::Special(s as u8))],
        _ => Vec::new(),
    }
}

/// True if the slot of a move of `len` dwords takes the operand.
fn takes(slot: &OperandDesc, operand: Operand, len: u8) -> bool {
    let kind = match operand {
        Operand::Reg(reg) => match reg.file {
            RegFile::Sgpr if !input::allocatable(reg) => Kinds::SPECIAL,
            RegFile::Sgpr => Kinds::SGPR,
            RegFile::Vgpr => Kinds::VGPR,
            RegFile::Agpr => Kinds::AGPR,
        },
        Operand::Inline(_) => Kinds::INLINE_INT,
        Operand::Literal(_) => Kinds::LITERAL,
        Operand::Special(_) => Kinds::SPECIAL,
        _ => return false,
    };
    slot.dwords == len && slot.kinds.contains(kind)
}
