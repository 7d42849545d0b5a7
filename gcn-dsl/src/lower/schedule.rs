//! Lowers the marks and waits of manual schedules.

use gcn_isa::Inst;
use gcn_isa::counters::WaitCnt;
use gcn_isa::operand::Operand;

use super::{Lower, Lowered, Src};
use crate::ir::Schedule;
use crate::ir::mark::Mark;
use crate::mir::{MOperand, Op};

impl Lower<'_> {
    pub(super) fn schedule(&mut self, what: &Schedule) -> Lowered {
        match what {
            Schedule::Mark(mark) => {
                self.push(Op::Mark(mark.clone()), []);
                Ok(())
            }
            Schedule::Wait { op, counter } => {
                self.push(Op::Mark(Mark::Wait { op: *op, counter: *counter }), []);
                // A placeholder that waits for nothing; `sched::manual` sets the value after register allocation.
                let mut instructions = counter.at(0).instructions(self.target);
                instructions.iter_mut().for_each(|inst| WaitCnt::NONE.put_into(inst));
                self.waits(&instructions);
                Ok(())
            }
            Schedule::WaitAll(counter) => self.wait_for(counter.at(0)),
            Schedule::Priority(n) => self.immediate("s_setprio", u16::from(*n)),
        }
    }

    /// Emits the instructions that wait for counters.
    pub(super) fn wait_for(&mut self, wait: WaitCnt) -> Lowered {
        self.waits(&wait.instructions(self.target));
        Ok(())
    }

    fn waits(&mut self, instructions: &[Inst]) {
        for inst in instructions {
            let operands = inst.operands.iter().map(|operand| MOperand::Fixed(*operand));
            self.push(Op::Machine(inst.desc, inst.mods), operands);
        }
    }

    fn immediate(&mut self, mnemonic: &str, value: u16) -> Lowered {
        self.machine(mnemonic, &[], &[Src::Fixed(Operand::Imm(i64::from(value)))])
    }
}
