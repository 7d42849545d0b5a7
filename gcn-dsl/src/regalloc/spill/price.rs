//! What it costs to keep a class out of registers, for each slot of its life.

use super::super::access;
use super::super::assign::Price;
use super::super::classes::Classes;
use super::exec::{InitialExec, ignores_exec};
use super::work::{Kind, Work};
use crate::mir::VReg;
use gcn_isa::RegFile;

/// How much more often the code of a loop runs than what surrounds it.
const LOOP: f32 = 8.0;

/// The weight of an instruction in so many loops.
pub(super) fn frequency(loop_depth: u32) -> f32 {
    LOOP.powi(loop_depth.min(8) as i32)
}

/// The prices of a round's classes, by root.
pub(super) struct Prices(Vec<Option<f32>>);

impl Price for Prices {
    fn of(&self, root: VReg) -> Option<f32> {
        self.0.get(root.0 as usize).copied().flatten()
    }
}

impl Prices {
    pub fn of_round(work: &Work, classes: &mut Classes, exec: &InitialExec) -> Prices {
        let regs = work.f.vregs.len();
        // Loads and stores that each register would cost; negative where it cannot be.
        let mut cost = vec![0.0f32; regs];
        for (b, block) in work.f.blocks.iter().enumerate() {
            let often = frequency(block.loop_depth);
            for (i, inst) in block.insts.iter().enumerate() {
                let blind = ignores_exec(inst) && !exec.at(b, i);
                for u in access::uses(&work.f, inst) {
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
            if matches!(kind, Kind::Temp | Kind::Lanes) || work.gone(VReg(v)).is_some() {
                continue;
            }
            let (root, _) = classes.find(VReg(v));
            // The scratch registers of copies have no number of the function, and are no roots of others.
            let Some(sum) = total.get_mut(root.0 as usize) else { continue };
            let mine = if work.can_spill(VReg(v)) { cost[v as usize] } else { f32::NEG_INFINITY };
            *sum = Some(sum.unwrap_or(0.0) + mine);
        }
        let roots = (0..regs as u32).map(|v| {
            let sum = total[v as usize].filter(|s| *s >= 0.0)?;
            let segs = || classes.lanes(VReg(v)).iter().flat_map(crate::regalloc::segs::Segs::as_slice);
            // What only goes from one instruction to the next would be as long in a temporary register.
            let longest = segs().map(|s| s.end - s.start).max()?;
            let slots: u64 = segs().map(|s| u64::from(s.end - s.start)).sum();
            (longest > 2).then(|| sum / slots as f32)
        });
        Prices(roots.collect())
    }
}
