//! Spill costs: the cost of spilling a class, for each slot of its life.
//!
//! This is Chaitin's cost: the spill code, weighted by an estimate of its execution frequency, divided by the length of
//! the life. The benefit of an eviction is the time for which it frees a register, hence the division.

use super::super::assign::SpillCosts;
use super::super::classes::Classes;
use super::super::live::Numbering;
use super::exec::{InitialExec, ignores_exec};
use super::work::{Kind, Work};
use crate::mir::VReg;
use gcn_isa::RegFile;

/// An estimate of how much more often a loop's body executes than the code around the loop.
const LOOP_WEIGHT: f32 = 8.0;

/// The weight of an instruction at this loop depth. Beyond depth eight the weight stays the same, so that sums of `f32`
/// remain exact enough to be compared.
pub(super) fn frequency(loop_depth: u32) -> f32 {
    LOOP_WEIGHT.powi(loop_depth.min(8) as i32)
}

/// For each class of a round, by root, its spill cost; `None` if the class must stay in registers.
pub(super) struct Costs(Vec<Option<f32>>);

impl SpillCosts for Costs {
    fn of(&self, root: VReg) -> Option<f32> {
        self.0.get(root.0 as usize).copied().flatten()
    }
}

impl Costs {
    pub fn of_round(work: &Work, numbers: &Numbering, classes: &mut Classes, exec: &InitialExec) -> Costs {
        let regs = work.f.vregs.len();
        // For each register, the weighted number of loads and stores that its spilling would need; negative infinity if
        // it cannot be spilled.
        let mut cost = vec![0.0f32; regs];
        for (b, block) in work.f.blocks.iter().enumerate() {
            let often = frequency(block.loop_depth);
            for ((i, inst), uses) in block.insts.iter().enumerate().zip(numbers.uses_of(b)) {
                // A masked reload leaves the inactive lanes of the new register undefined. An instruction that reads
                // inactive lanes needs the original register, unless no lane is inactive.
                let blind = ignores_exec(inst) && !exec.at(b, i);
                for u in uses {
                    let cost = &mut cost[u.slice.reg.0 as usize];
                    if blind && work.f.info(u.slice.reg).file != RegFile::Sgpr {
                        *cost = f32::NEG_INFINITY;
                    }
                    let moves = u8::from(u.read) + u8::from(u.write && !u.undef);
                    *cost += often * f32::from(moves * u.slice.len);
                }
            }
        }
        let mut total = vec![None::<f32>; regs];
        for v in 0..regs as u32 {
            let kind = work.kinds[v as usize];
            if matches!(kind, Kind::Temp | Kind::Lanes) || work.spilled(VReg(v)).is_some() {
                continue;
            }
            let (root, _) = classes.find(VReg(v));
            // The scratch registers of copies are not registers of the function, and never the root of another class.
            let Some(sum) = total.get_mut(root.0 as usize) else { continue };
            let mine = if work.can_spill(VReg(v)) { cost[v as usize] } else { f32::NEG_INFINITY };
            *sum = Some(sum.unwrap_or(0.0) + mine);
        }
        let roots = (0..regs as u32).map(|v| {
            let sum = total[v as usize].filter(|s| *s >= 0.0)?;
            let segs = || classes.lanes(VReg(v)).iter().flat_map(crate::regalloc::segs::Segs::as_slice);
            // If every segment lasts only from one instruction to the next, the temporary register of a reload would
            // live just as long: spilling would gain nothing, and the rounds would not terminate.
            let longest = segs().map(|s| s.end - s.start).max()?;
            let slots: u64 = segs().map(|s| u64::from(s.end - s.start)).sum();
            (longest > 2).then(|| sum / slots as f32)
        });
        Costs(roots.collect())
    }
}
