//! The arbiter's part of stochastic samples; the arbiter lets one wave issue to each pipeline.

use gcn_sim::timed::{Pipe, Stall};
use serde::Serialize;

use super::samples::{Arbiter, PIPES};

/// The arbiter's fields for one pipeline, in samples.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct PipeUse {
    /// Issued to, and accepted.
    pub accepted: u64,
    /// Issued to, and not accepted: backpressure.
    pub backpressured: u64,
    /// No wave issued to it, and it held none back: the front end had nothing for it.
    pub idle: u64,
    /// A wave lost the arbitration for it while it accepted another's instruction: oversubscription.
    pub oversubscribed: u64,
}

/// Samples by what they say of the arbiter.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ArbiterUse {
    /// Samples that have its state.
    pub samples: u64,
    /// Instructions that pipelines accepted; two where `dual_issue_valu` is set.
    pub accepted: u64,
    /// Samples in which no pipeline made progress.
    pub no_progress: u64,
    /// Of `ARBITER_NOT_WIN`: another wave's instruction began.
    pub lost_to_issue: u64,
    /// Of `ARBITER_NOT_WIN`: another wave won, and its instruction was not accepted either.
    pub lost_to_stall: u64,
    /// Of `ARBITER_NOT_WIN`: nothing was issued to the pipeline.
    pub lost_to_none: u64,
    /// The pipelines, in the order of [`PIPES`].
    pub pipes: [PipeUse; PIPES.len()],
}

/// The index in [`PIPES`] of the pipelines that an instruction goes to.
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
    /// The conditions of the documentation, for the sample of a wave whose instruction goes to `pipe`.
    pub fn add(&mut self, arbiter: Arbiter, stall: Option<Stall>, pipe: Pipe) {
        self.samples += 1;
        let (issued, refused) = (arbiter.issue, arbiter.stall);
        let accepted = issued & !refused;
        // Two vector instructions count as two.
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
        // VALU accepted two instructions, Matrix refused one.
        all.add(
            Arbiter { issue: 0b11, stall: 0b10, dual_valu: true },
            Some(Stall::ArbiterNotWin),
            Pipe::Valu,
        );
        assert_eq!((all.accepted, all.no_progress, all.lost_to_issue), (2, 0, 1));
        assert_eq!((all.pipes[0].accepted, all.pipes[0].oversubscribed), (1, 1));
        assert_eq!((all.pipes[1].backpressured, all.pipes[1].accepted, all.pipes[2].idle), (1, 0, 1));
        // Another wave won Matrix, and Matrix did not accept.
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
