//! Addresses that code computes relative to itself: `s_getpc_b64`, followed by additions of a distance in bytes.

use super::values::{Transfer, transfer};
use crate::inst::Inst;
use crate::operand::{Inline, Operand};
use crate::reg::{Reg, RegUnit};
use crate::table::Behaviours;

/// The additions that turn the address of the instruction after `s_getpc_b64` into another address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OwnAddress {
    /// The index of the instruction that adds to the low half. The instruction after `s_getpc_b64` has index 0.
    pub low: usize,
    /// The index of the instruction that adds to the high half; the same as `low` if one instruction adds 64 bits.
    pub high: usize,
    /// The distance in bytes from the instruction after `s_getpc_b64` to the address.
    pub distance: i64,
}

impl OwnAddress {
    /// The number of instructions after `s_getpc_b64` that are searched for the additions.
    pub const REACH: usize = 64;

    /// Searches for the additions. `code` has the instructions from `s_getpc_b64` to the end of the block. `None` if there are none.
    ///
    /// ```
    /// use gcn_isa::{Inst, Operand, Target, cfg::OwnAddress, reg::Reg, table};
    /// let inst = |name, operands: Vec<Operand>| {
    ///     Inst::new(table::find_mnemonic(Target::GFX942, name).next().unwrap(), operands)
    /// };
    /// let (low, high) = (Operand::Reg(Reg::s(4, 1)), Operand::Reg(Reg::s(5, 1)));
    /// let code = [
    ///     inst("s_getpc_b64", vec![Operand::Reg(Reg::s(4, 2))]),
    ///     inst("s_add_u32", vec![low, low, Operand::Literal(0xffff_fff4)]),
    ///     inst("s_addc_u32", vec![high, high, Operand::Literal(u32::MAX)]),
    /// ];
    /// assert_eq!(OwnAddress::of(code.iter()), Some(OwnAddress { low: 0, high: 1, distance: -12 }));
    /// ```
    pub fn of<'i>(mut code: impl Iterator<Item = &'i Inst>) -> Option<OwnAddress> {
        let getpc = code.next().filter(|inst| inst.desc.does(Behaviours::READS_PC))?;
        let pair = getpc.operands.first()?.reg().filter(|reg| reg.len == 2)?;
        let mut low: Option<(usize, u32)> = None;
        for (at, inst) in code.take(OwnAddress::REACH).enumerate() {
            if inst.desc.ends_block() {
                return None;
            }
            let is = |half: u8| inst.operands.first() == Some(&Operand::Reg(pair.sub(half)));
            match (transfer(inst), low) {
                (Some(Transfer::AddPair), None) if inst.operands.first() == Some(&Operand::Reg(pair)) => {
                    let [_, a, b] = inst.operands[..] else { return None };
                    let number = if a == Operand::Reg(pair) { b } else { a };
                    let adds = [a, b].contains(&Operand::Reg(pair));
                    let distance = number.constant64().filter(|_| adds)?;
                    return Some(OwnAddress { low: at, high: at, distance });
                }
                (Some(Transfer::Extend), _) if is(1) => {}
                (Some(Transfer::Add { with_carry: false, subtracts: false }), None) if is(0) => {
                    low = Some((at, addend(inst, pair.sub(0))?));
                }
                (Some(Transfer::Add { with_carry: true, subtracts: false }), Some((first, low))) if is(1) => {
                    let high = addend(inst, pair.sub(1))?;
                    let distance = i64::from(high as i32) << 32 | i64::from(low);
                    return Some(OwnAddress { low: first, high: at, distance });
                }
                _ if overwrites(inst, pair) => return None,
                _ => {}
            }
        }
        None
    }
}

/// The number that the instruction adds to a register; `None` if it does not add a constant to the register `half`.
fn addend(inst: &Inst, half: Reg) -> Option<u32> {
    match inst.operands.get(1..)? {
        [Operand::Reg(reg), number] | [number, Operand::Reg(reg)] if *reg == half => match number {
            Operand::Literal(number) => Some(*number),
            Operand::Inline(inline @ Inline::Int(_)) => Some(inline.bits32()),
            _ => None,
        },
        _ => None,
    }
}

fn overwrites(inst: &Inst, pair: Reg) -> bool {
    let halves: [RegUnit; 2] =
        [pair.sub(0), pair.sub(1)].map(|half| half.units().next().expect("one register"));
    inst.writes().iter().any(|w| w.reg.units().any(|u| halves.contains(&u)))
}
