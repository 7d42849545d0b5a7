//! The state of the jump resolver at one point of the program: for each scalar register, and for each lane of a vector register in which a
//! scalar register is saved, whether it contains a code address or the value from the function's entry.

use smallvec::SmallVec;

use super::image::Image;
use crate::inst::Inst;
use crate::operand::{Inline, Operand};
use crate::reg::{Reg, RegFile};
use crate::table::{Behaviours, Class, ImplicitRegs};
use crate::target::WAVE_SIZE;

/// A place that can hold a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Slot {
    /// A scalar register.
    Scalar(u16),
    /// A lane of a vector register.
    Lane(u16, u8),
}

/// A known 32-bit value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// A number.
    Number(u32),
    /// The low half of an address. The address is relative to the base of the [`Image`].
    Low(i64),
    /// The high half of an address.
    High(i64),
    /// The value that a scalar register had at the function's entry.
    AtEntry(u16),
}

/// An addition to the low half of an address. SCC has the carry or the borrow of the addition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Carry {
    /// The address before the addition. `to` is the address after the addition.
    from: i64,
    to: i64,
    subtracts: bool,
}

/// The state at a point of the program.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Known {
    /// The known values, sorted by slot.
    values: SmallVec<[(Slot, Value); 4]>,
    carry: Option<Carry>,
}

/// The way in which an instruction computes a known value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Transfer {
    Pc,
    Move(u8),
    /// Sign-extends the high half of an address: on GFX12, an address has 48 bits.
    Extend,
    Add {
        with_carry: bool,
        subtracts: bool,
    },
    /// Adds 64 bits.
    AddPair,
    Load,
    WriteLane,
    ReadLane,
}

/// The instructions that propagate known values, by the name of their entry. The result of any other instruction is unknown.
const TRANSFERS: [(&str, Transfer); 12] = [
    ("s_getpc_b64", Transfer::Pc),
    ("s_mov_b32", Transfer::Move(1)),
    ("s_mov_b64", Transfer::Move(2)),
    ("s_sext_i32_i16", Transfer::Extend),
    ("s_add_u32", Transfer::Add { with_carry: false, subtracts: false }),
    ("s_addc_u32", Transfer::Add { with_carry: true, subtracts: false }),
    ("s_sub_u32", Transfer::Add { with_carry: false, subtracts: true }),
    ("s_subb_u32", Transfer::Add { with_carry: true, subtracts: true }),
    ("s_add_nc_u64", Transfer::AddPair),
    ("s_load_dwordx2", Transfer::Load),
    ("v_writelane_b32", Transfer::WriteLane),
    ("v_readlane_b32", Transfer::ReadLane),
];

/// How the instruction propagates known values, or `None` if its results are unknown.
pub(super) fn transfer(inst: &Inst) -> Option<Transfer> {
    match inst.desc.class {
        Class::Salu | Class::SmemLoad | Class::Readlane | Class::Writelane => {
            TRANSFERS.iter().find(|t| t.0 == inst.desc.entry.mnemonic).map(|t| t.1)
        }
        _ => None,
    }
}

impl Known {
    /// The state at the entry of a function that is called with its return address in these registers.
    pub fn at_entry(links: impl IntoIterator<Item = Reg>) -> Known {
        let mut known = Known::default();
        for register in links.into_iter().flat_map(|link| link.index..link.end()) {
            known.set(Slot::Scalar(register), Value::AtEntry(register));
        }
        known
    }

    fn get(&self, slot: Slot) -> Option<Value> {
        let at = self.values.binary_search_by_key(&slot, |v| v.0).ok()?;
        Some(self.values[at].1)
    }

    fn set(&mut self, slot: Slot, value: Value) {
        match self.values.binary_search_by_key(&slot, |v| v.0) {
            Ok(at) => self.values[at].1 = value,
            Err(at) => self.values.insert(at, (slot, value)),
        }
    }

    /// Keeps only the values that are the same in both states. Returns true if that removed a value.
    pub fn meet(&mut self, other: &Known) -> bool {
        let before = self.values.len();
        self.values.retain(|(slot, value)| other.get(*slot) == Some(*value));
        self.values.len() != before
    }

    /// Forgets the values of all slots for which `keeps` returns false.
    pub fn keep(&mut self, mut keeps: impl FnMut(Slot) -> bool) {
        self.values.retain(|(slot, _)| keeps(*slot));
    }

    /// Forgets the values that are useful only within a block. Plain numbers would make states differ where paths meet, and would not help
    /// to resolve any jump.
    pub fn end_block(&mut self) {
        self.carry = None;
        self.values.retain(|(_, value)| !matches!(value, Value::Number(_)));
    }

    /// The address in a pair of registers, or `None` if it is not known.
    pub fn address(&self, pair: Reg) -> Option<i64> {
        match (self.get(Slot::Scalar(pair.index))?, self.get(Slot::Scalar(pair.index + 1))?) {
            // The halves belong to the same address only if the low parts agree: code adds to the low half first, and
            // then to the high half with the carry.
            (Value::Low(low), Value::High(high)) if low as u32 == high as u32 => Some(high),
            _ => None,
        }
    }

    /// The register pair whose value at the function's entry is now in this pair; `None` if there is none.
    pub fn entry_value(&self, pair: Reg) -> Option<Reg> {
        match (self.get(Slot::Scalar(pair.index))?, self.get(Slot::Scalar(pair.index + 1))?) {
            (Value::AtEntry(low), Value::AtEntry(high)) if high == low + 1 => Some(Reg::s(low, 2)),
            _ => None,
        }
    }

    /// Applies the instruction of `line` to the state.
    pub fn step(&mut self, inst: &Inst, line: usize, image: &impl Image) {
        let transfer = transfer(inst);
        if transfer.is_none() && self.values.is_empty() {
            return;
        }
        let new = transfer.map(|transfer| self.results(transfer, inst, line, image)).unwrap_or_default();
        let carry = self.carry.take().filter(|_| !inst.desc.implicit_writes.contains(ImplicitRegs::SCC));
        let carry = new.carry.or(carry);
        self.forget_written(inst, transfer == Some(Transfer::WriteLane));
        for (slot, value) in new.values {
            self.set(slot, value);
        }
        self.carry = carry;
    }

    /// The known values that the instruction computes.
    fn results(&self, transfer: Transfer, inst: &Inst, line: usize, image: &impl Image) -> Known {
        let mut new = Known::default();
        let Some(to) = inst.operands.first().and_then(|o| o.reg()) else { return new };
        match transfer {
            Transfer::Pc => new.set_address(to, image.after(line)),
            Transfer::Move(1) => {
                let value = inst.operands.get(1).and_then(|from| self.operand(*from, line, image));
                new.set_if(Slot::Scalar(to.index), value);
            }
            Transfer::Extend => {
                let value = inst.operands.get(1).and_then(|from| self.operand(*from, line, image));
                new.set_if(Slot::Scalar(to.index), value.filter(|v| matches!(v, Value::High(_))));
            }
            Transfer::Move(_) => {
                let Some(from) = inst.operands.get(1).and_then(|o| o.reg()) else { return new };
                for i in 0..2 {
                    new.set_if(Slot::Scalar(to.index + i), self.get(Slot::Scalar(from.index + i)));
                }
            }
            Transfer::Add { with_carry, subtracts } => {
                let operand = |i: usize| inst.operands.get(i).and_then(|o| self.operand(*o, line, image));
                if let Some((value, carry)) = self.sum(operand(1), operand(2), with_carry, subtracts) {
                    new.set(Slot::Scalar(to.index), value);
                    new.carry = carry;
                }
            }
            Transfer::AddPair => {
                if let [_, a, b] = inst.operands[..] {
                    let sum = |pair: Operand, number| {
                        Some(self.address(pair.reg()?)?.wrapping_add(wide(Some(&number), line, image)?))
                    };
                    if let Some(address) = sum(a, b).or_else(|| sum(b, a)) {
                        new.set_address(to, address);
                    }
                }
            }
            Transfer::Load => {
                if let Some(address) = self.loaded(inst, image) {
                    new.set_address(to, address);
                }
            }
            Transfer::WriteLane => {
                if let Some(lane) = lane(inst) {
                    let from = inst.operands.get(1).and_then(|o| o.reg());
                    let value = from.and_then(|from| self.get(Slot::Scalar(from.index)));
                    new.set_if(Slot::Lane(to.index, lane), value);
                }
            }
            Transfer::ReadLane => {
                if let (Some(from), Some(lane)) = (inst.operands.get(1).and_then(|o| o.reg()), lane(inst)) {
                    new.set_if(Slot::Scalar(to.index), self.get(Slot::Lane(from.index, lane)));
                }
            }
        }
        new
    }

    fn set_if(&mut self, slot: Slot, value: Option<Value>) {
        if let Some(value) = value {
            self.set(slot, value);
        }
    }

    fn set_address(&mut self, pair: Reg, address: i64) {
        self.set(Slot::Scalar(pair.index), Value::Low(address));
        self.set(Slot::Scalar(pair.index + 1), Value::High(address));
    }

    fn operand(&self, operand: Operand, line: usize, image: &impl Image) -> Option<Value> {
        match operand {
            Operand::Reg(reg) => self.get(Slot::Scalar(reg.index)),
            Operand::Literal(number) => image.literal(line, number).map(Value::Number),
            Operand::Inline(Inline::Int(number)) => Some(Value::Number(i32::from(number) as u32)),
            _ => None,
        }
    }

    /// The sum of an addition and the carry. Sums of two plain numbers are not tracked, because code addresses are not computed in this
    /// way. `None` if the sum is unknown.
    fn sum(
        &self,
        a: Option<Value>,
        b: Option<Value>,
        with_carry: bool,
        subtracts: bool,
    ) -> Option<(Value, Option<Carry>)> {
        let (half, number) = match (a?, b?) {
            (half, Value::Number(number)) => (half, number),
            (Value::Number(number), half) if !subtracts => (half, number),
            _ => return None,
        };
        let number = i64::from(number);
        let add =
            |to: i64, number: i64| if subtracts { to.wrapping_sub(number) } else { to.wrapping_add(number) };
        match half {
            Value::Low(from) if !with_carry => {
                let to = add(from, number);
                Some((Value::Low(to), Some(Carry { from, to, subtracts })))
            }
            Value::High(from) if with_carry => {
                let carry = self.carry.filter(|c| c.from == from && c.subtracts == subtracts)?;
                Some((Value::High(add(carry.to, number << 32)), None))
            }
            _ => None,
        }
    }

    /// The address that a scalar load of two registers reads from memory, or `None` if it is not known.
    fn loaded(&self, inst: &Inst, image: &impl Image) -> Option<i64> {
        let base = inst.operands.get(1).and_then(|o| o.reg()).filter(|r| r.len == 2)?;
        let Some(Operand::Imm(offset)) = inst.operand("offset") else { return None };
        image.pointer(self.address(base)?.wrapping_add(offset))
    }

    /// Forgets the registers that the instruction overwrites. If the instruction writes only one lane of a register, the other lanes remain
    /// known.
    fn forget_written(&mut self, inst: &Inst, one_lane: bool) {
        if self.values.is_empty() {
            return;
        }
        if inst.desc.does(Behaviours::DESTINATION_BY_M0) {
            return self.values.clear();
        }
        let lane = if one_lane { lane(inst) } else { None };
        for written in inst.writes().iter().map(|w| w.reg) {
            let covers = |register: u16| written.index <= register && register < written.end();
            self.values.retain(|(slot, _)| match *slot {
                Slot::Scalar(register) => written.file != RegFile::Sgpr || !covers(register),
                Slot::Lane(register, at) => {
                    written.file != RegFile::Vgpr || !covers(register) || lane.is_some_and(|lane| lane != at)
                }
            });
        }
    }
}

/// The constant that a 64-bit operand of a line reads after linking; `None` if it is not known.
pub(super) fn wide(operand: Option<&Operand>, line: usize, image: &impl Image) -> Option<i64> {
    match *operand? {
        Operand::Literal64(number) => image.long_literal(line, number).map(|number| number as i64),
        Operand::Literal(number) => image.literal(line, number).map(|number| i64::from(number as i32)),
        operand => operand.constant64(),
    }
}

/// The lane that `v_writelane_b32` or `v_readlane_b32` selects by an immediate; `None` if the lane is not an immediate.
fn lane(inst: &Inst) -> Option<u8> {
    match inst.operands.get(2) {
        Some(Operand::Inline(Inline::Int(lane))) => Some(*lane as u8 % WAVE_SIZE as u8),
        _ => None,
    }
}
