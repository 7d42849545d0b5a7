//! Checks pinned registers: each instruction that names a pinned value finds or leaves it in the chosen register.

use gcn_isa::Operand;

use super::super::error::VerifyError;
use super::state::State;
use super::value::{ACTIVE, Cell, Value};
use super::{At, Checker};
use crate::mir::{MInst, MOperand, VSlice};
use gcn_isa::Reg;

impl Checker<'_> {
    /// The machine registers that the user chose for `slice`.
    fn promised(&self, slice: VSlice) -> Option<Reg> {
        let pin = self.f.pins.iter().find(|pin| pin.reg == slice.reg)?;
        Some(pin.to.slice(slice.start, slice.len))
    }

    pub(super) fn pinned(&self, at: At, want: MOperand, have: Operand) -> Result<(), VerifyError> {
        let MOperand::Virt(slice) = want else { return Ok(()) };
        match self.promised(slice) {
            Some(to) if have != Operand::Reg(to) => self.fail(at, format!("%{} is not in {to}", slice.reg.0)),
            _ => Ok(()),
        }
    }

    /// Checks both operands after a copy by means of the state, since a coalesced copy names no registers.
    pub(super) fn pinned_copy(&self, state: &State, at: At, inst: &MInst) -> Result<(), VerifyError> {
        for operand in &inst.operands {
            let MOperand::Virt(slice) = *operand else { continue };
            let Some(to) = self.promised(slice) else { continue };
            for (unit, dword) in to.units().zip(self.dwords(slice)) {
                if state.lanes(Cell::Unit(unit), Value::Dword(dword)) & ACTIVE != ACTIVE {
                    return self.fail(at, format!("%{} is not in {to}", slice.reg.0));
                }
            }
        }
        Ok(())
    }
}
