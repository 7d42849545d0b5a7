//! Statistics of the arbiter, which in each cycle lets one wave issue to each pipeline, from stochastic samples.

use gcn_sim::timed::{Pipe, Stall};
use serde::Serialize;

use super::samples::{Arbiter, PIPES};

/// Counts for one pipeline; the unit is samples.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct PipeUse {
    /// An instruction was issued to the pipeline and accepted.
    pub accepted: u64,
    /// An instruction was issued to the pipeline and not accepted: backpressure.
    pub backpressured: u64,
    /// Nothing was issued to the pipeline, and it refused nothing: no wave had an instruction for it.
    pub idle: u64,
    /// The sampled wave lost the arbitration for the pipeline, which accepted the instruction of another wave: oversubscription.
    pub oversubscribed: u64,
}

/// Number of samples by arbiter state.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ArbiterUse {
    /// Samples that have the arbiter's state.
    pub samples: u64,
    /// Instructions that pipelines accepted; the VALU counts as two where `dual_issue_valu` is set.
    pub accepted: u64,
    /// Samples in which no pipeline accepted an instruction.
    pub no_progress: u64,
    /// Samples with `ARBITER_NOT_WIN` in which the pipeline accepted another wave's instruction.
    pub lost_to_issue: u64,
    /// Samples with `ARBITER_NOT_WIN` in which another wave won, and the pipeline did not accept its instruction either.
    pub lost_to_stall: u64,
    /// Samples with `ARBITER_NOT_WIN` in which nothing was issued to the pipeline.
    pub lost_to_none: u64,
    /// Counts of each pipeline, in the order of [`PIPES`].
    pub pipes: [PipeUse; PIPES.len()],
}

/// Indices in [`PIPES`] of the pipelines for which an instruction of the model's pipeline `pipe` is arbitrated.
fn arbitrated(pipe: Pipe) -> &'static [usize] {
    match pipe {
        Pipe::Valu => &[0],
        Pipe::Matrix => &[1],
        Pipe::Lds => &[2],
        Pipe::Scalar => &[4],
        Pipe::Tex => &[5],
        Pipe::Flat => &[6],
        Pipe::Misc => &[8, 9],
        _ => &[],
    }
}

impl ArbiterUse {
    /// Adds the sample of a wave whose instruction goes to `pipe`, by the conditions of AMD's documentation (see `samples`).
    pub fn add(&mut self, arbiter: Arbiter, stall: Option<Stall>, pipe: Pipe) {
        self.samples += 1;
        let (issued, refused) = (arbiter.issue, arbiter.stall);
        let accepted = issued & !refused;
        // A dual issue counts as two accepted instructions.
        let both = u64::from(arbiter.dual_valu && accepted & 1 != 0);
        self.accepted += u64::from(accepted.count_ones()) + both;
        self.no_progress += u64::from(accepted == 0);
        for (i, pipe) in self.pipes.iter_mut().enumerate() {
            let has = |set: u16| u64::from(set >> i & 1);
            pipe.accepted += has(accepted);
            pipe.backpressured += has(refused);
            pipe.idle += has(!issued & !refused);
        }
        if stall == Some(Stall::ArbiterNotWin) {
            let of = arbitrated(pipe);
            let any = |set: u16| of.iter().any(|i| set >> i & 1 != 0);
            match (any(accepted), any(issued)) {
                (true, _) => self.lost_to_issue += 1,
                (false, true) => self.lost_to_stall += 1,
                (false, false) => self.lost_to_none += 1,
            }
            for i in of.iter().filter(|i| accepted >> **i & 1 != 0) {
                if let Some(pipe) = self.pipes.get_mut(*i) {
                    pipe.oversubscribed += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arbiters_fields_mean_what_the_documentation_says() {
        let mut all = ArbiterUse::default();
        // The VALU accepted two instructions, and the matrix pipeline refused one.
        all.add(
            Arbiter { issue: 0b11, stall: 0b10, dual_valu: true },
            Some(Stall::ArbiterNotWin),
            Pipe::Valu,
        );
        assert_eq!((all.accepted, all.no_progress, all.lost_to_issue), (2, 0, 1));
        assert_eq!((all.pipes[0].accepted, all.pipes[0].oversubscribed), (1, 1));
        assert_eq!((all.pipes[1].backpressured, all.pipes[1].accepted, all.pipes[2].idle), (1, 0, 1));
        // Another wave won the arbitration for the matrix pipeline, which did not accept the instruction.
        all.add(
            Arbiter { issue: 0b10, stall: 0b10, dual_valu: false },
            Some(Stall::ArbiterNotWin),
            Pipe::Matrix,
        );
        // Nothing was issued to LDS.
        all.add(Arbiter::default(), Some(Stall::ArbiterNotWin), Pipe::Lds);
        assert_eq!((all.lost_to_issue, all.lost_to_stall, all.lost_to_none, all.no_progress), (1, 1, 1, 2));
        assert_eq!(all.samples, 3);
    }
}
