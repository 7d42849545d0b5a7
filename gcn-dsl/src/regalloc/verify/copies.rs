//! Checks copies and the moves that implement them.

use gcn_isa::table::OperandKinds as Kinds;
use gcn_isa::{Inst, Operand, OperandDesc, Reg, RegFile, reg, reg::RegUnit};
use smallvec::SmallVec;

use super::super::error::VerifyError;
use super::super::input;
use super::super::moves::{MNEMONICS, Source};
use super::state::State;
use super::value::{ACTIVE, ALL, Cell, INACTIVE, Lanes, Value};
use super::{At, Checker};
use crate::mir::{MInst, MOperand};

/// The source of one dword of a move.
#[derive(Clone, Copy)]
enum From {
    Unit(RegUnit),
    Value(Value),
}

impl From {
    fn values(self, state: &State) -> SmallVec<[(Value, Lanes); 2]> {
        match self {
            From::Unit(unit) => state.values(Cell::Unit(unit)),
            From::Value(constant) => SmallVec::from_iter([(constant, ALL)]),
        }
    }
}

/// One dword of a copy.
#[derive(Clone, Copy)]
struct Pair {
    dst: Value,
    src: Value,
}

impl Checker<'_> {
    /// Executes the moves, then adds the destination's name to the locations that contain the source value; see the
    /// documentation of [`super`].
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
        let vector = matches!(dst, MOperand::Virt(s) if self.f.info(s.reg).file != RegFile::Sgpr);
        for line in moves {
            if !self.plain_move(state, at, line)? {
                return self.fail(at, format!("a copy became {}", line.desc.printed));
            }
        }
        rename(state, &self.pairs(dst, src), vector, inst.keeps_dst && vector);
        if matches!(dst, MOperand::Fixed(Operand::Reg(r)) if r.overlaps(reg::EXEC)) {
            state.exec_changed(false);
        }
        Ok(())
    }

    /// The dwords of a copy, as pairs of destination and source.
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

    /// Executes a move of a register or constant. Returns false if the line is not a move.
    pub(super) fn plain_move(&self, state: &mut State, at: At, line: &Inst) -> Result<bool, VerifyError> {
        if !MNEMONICS.contains(&line.desc.printed) {
            return Ok(false);
        }
        for (to, from) in self.move_units(at, line)? {
            let mut values = from.values(state);
            self.add_repeated_copies(state, &mut values);
            state.transfer(Cell::Unit(to), &values);
        }
        Ok(true)
    }

    /// The registers that a move writes, each with its source. An instruction that is not one of the target's moves is
    /// an error.
    fn move_units(&self, at: At, line: &Inst) -> Result<Vec<(RegUnit, From)>, VerifyError> {
        let plain = line.mods == line.desc.default_mods();
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

/// Records in all locations that contain the new values that they contain the destinations. Vector copies affect only
/// the active lanes.
fn rename(state: &mut State, pairs: &[Pair], vector: bool, keeps: bool) {
    struct New {
        value: Value,
        places: Vec<(Cell, Lanes)>,
        /// The constant that the new value equals; `None` if it is not known to equal one.
        constant: Option<u32>,
        undefined: bool,
        /// True if the new value is undefined in the active lanes.
        undef_active: bool,
        dst_undefined: bool,
    }
    // Look up all sources before naming any destination, since a copy may overlap itself.
    let mut sources = (Value::Const(0), state.places(Value::Const(0)));
    let named: Vec<New> = pairs
        .iter()
        .map(|p| {
            // All pairs of a tuple that is filled with a constant have the same source.
            if sources.0 != p.src {
                sources = (p.src, state.places(p.src));
            }
            let sources = &sources.1;
            let (from, to) = (state.is_undefined(p.src), state.is_undefined(p.dst));
            let needed = if vector { ACTIVE } else { ALL };
            let undef_active = from || vector && state.is_undef_active(p.src);
            let mut places: Vec<(Cell, Lanes)> = Vec::new();
            let constant = state.constant(p.src).filter(|_| !keeps && matches!(p.dst, Value::Dword(_)));
            if keeps {
                let olds = state.places(p.dst);
                let mut cells: Vec<Cell> = sources.iter().chain(&olds).map(|s| s.0).collect();
                cells.sort_unstable();
                cells.dedup();
                let now =
                    |c: Cell| match (state.lanes(c, p.src) & ACTIVE) | (state.lanes(c, p.dst) & INACTIVE) {
                        ACTIVE if to || state.is_undef_inactive(p.dst) => ALL,
                        lanes => lanes,
                    };
                places.extend(cells.into_iter().map(|c| (c, now(c))));
            } else {
                // A location that contains the constant in all lanes contains the result as well.
                let implied = |&(cell, lanes): &(Cell, Lanes)| match (p.src, constant) {
                    (Value::Const(_), Some(_)) => lanes == ALL,
                    (_, Some(bits)) => state.lanes(cell, Value::Const(bits)) == ALL,
                    (_, None) => false,
                };
                let new = sources.iter().filter(|s| s.1 & needed == needed && !implied(s));
                places.extend(new.map(|s| (s.0, ALL)));
            }
            New {
                value: p.dst,
                places,
                constant,
                undefined: undef_active && (!keeps || to || state.is_undef_inactive(p.dst)),
                undef_active,
                dst_undefined: to,
            }
        })
        .collect();
    // A vector copy leaves its result undefined in the inactive lanes if it does not keep the destination's inactive
    // lanes, or if these were undefined before.
    let undef_inactive: Vec<bool> =
        named.iter().map(|n| !keeps || n.dst_undefined || state.marked_undef_inactive(n.value)).collect();
    named.iter().for_each(|n| state.forget(n.value));
    for (new, undef_inactive) in named.into_iter().zip(undef_inactive) {
        if vector && undef_inactive {
            state.undefine_inactive(new.value);
        }
        new.places.into_iter().for_each(|(cell, lanes)| state.add(cell, new.value, lanes));
        if let (Value::Dword(dword), Some(bits)) = (new.value, new.constant) {
            state.equals(dword, bits);
        }
        if new.undefined {
            state.undefine(new.value);
        } else if vector && new.undef_active {
            state.undefine_active(new.value);
        }
    }
    // The hardware changes special values by itself, so a later read may give another value.
    pairs.iter().filter(|p| matches!(p.src, Value::Special(_))).for_each(|p| state.forget(p.src));
}

/// The sources of the dwords of a move. If there are not `len` of them, the operand cannot be the source of a move of
/// that width.
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

/// True if an operand slot of a move of `len` dwords accepts the operand.
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
