//! `#[pipeline(stages = n)]`: the loads of later trips of a loop run while a trip computes.
//!
//! `plan` splits the body in two. What runs ahead are the loads that may, and what their addresses, the loop's counter and
//! its condition are computed from. It has variables of its own for everything that changes from trip to trip, which are
//! `stages - 1` trips further than the body's, and which stay on the last trip once they are there. So no address is read
//! that the loop as written does not read, whatever the number of trips. Everything else stays where it is: what is
//! stored, waited for and exchanged happens in the order of the program.
//!
//! `rotate` emits the loads of the first trips before the loop, and the body once for each of `stages` sets of variables
//! that hold what was loaded: a trip uses one set and loads into another, so that nothing is copied. The loop's test stands
//! after each of the copies.

mod plan;
mod refuse;
mod rotate;
mod stages;

use gcn_isa::program::SourceLoc;
use hashbrown::HashMap;

use super::{Inst, Kernel, Region, Stmt, Variable};

pub use refuse::{NoLoadAhead, StayingLoad, StaysReason};
pub use stages::STAGES;

/// A loop to pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// What it counts in; no other loop does.
    pub counter: Variable,
    /// Trips that are under way at once.
    pub stages: u8,
    /// The attribute's position.
    pub at: Option<SourceLoc>,
}

/// A loop that was pipelined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pipelined {
    /// The attribute's position.
    pub at: Option<SourceLoc>,
    /// Trips that are under way at once.
    pub stages: u8,
    /// The loads that run ahead.
    pub ahead: Vec<Option<SourceLoc>>,
    /// The loads that stay in their trip, each with the reason.
    pub left: Vec<StayingLoad>,
}

/// Pipelines the loops of `kernel` that ask for it, inner ones first. What the body computed only for addresses is left for
/// [`super::dce`].
///
/// # Errors
/// [`NoLoadAhead`] if no load of a loop can run ahead.
pub fn run(kernel: &mut Kernel) -> Result<Vec<Pipelined>, NoLoadAhead> {
    let requests: HashMap<Variable, Request> =
        std::mem::take(&mut kernel.pipelines).into_iter().map(|r| (r.counter, r)).collect();
    if requests.is_empty() {
        return Ok(Vec::new());
    }
    let mut body = std::mem::take(&mut kernel.body);
    let mut pass = Pass { labels: labels(&body), kernel, requests, done: Vec::new() };
    let outcome = pass.region(&mut body);
    let done = pass.done;
    kernel.body = body;
    outcome.map(|()| done)
}

/// One more than the largest number of a label.
fn labels(region: &Region) -> u32 {
    let of = |stmt: &Stmt| {
        let own = if let Stmt::Block { label, .. } = stmt { label.0 + 1 } else { 0 };
        stmt.regions().into_iter().map(labels).max().unwrap_or(0).max(own)
    };
    region.stmts.iter().map(of).max().unwrap_or(0)
}

struct Pass<'k> {
    kernel: &'k mut Kernel,
    labels: u32,
    requests: HashMap<Variable, Request>,
    done: Vec<Pipelined>,
}

impl Pass<'_> {
    fn region(&mut self, region: &mut Region) -> Result<(), NoLoadAhead> {
        let mut out = Vec::with_capacity(region.stmts.len());
        for mut stmt in std::mem::take(&mut region.stmts) {
            for inner in stmt.regions_mut() {
                self.region(inner)?;
            }
            match &stmt {
                Stmt::DoWhile { body, cond } => match self.request(body) {
                    Some(request) => {
                        let (plan, left) = plan::of(self.kernel, body, *cond);
                        if let Some(plan) = plan {
                            let ahead = plan.loads.iter().map(|v| self.kernel.def(*v).loc).collect();
                            self.done.push(Pipelined { at: request.at, stages: request.stages, ahead, left });
                            out.extend(rotate::rotate(self.kernel, &mut self.labels, request, &plan, body));
                            continue;
                        }
                        refuse::check(request.at, left)?;
                        out.push(stmt);
                    }
                    None => out.push(stmt),
                },
                _ => out.push(stmt),
            }
        }
        region.stmts = out;
        Ok(())
    }

    /// What was asked for the loop with this body: it is the one that moves the counter.
    fn request(&self, body: &Region) -> Option<Request> {
        body.stmts.iter().find_map(|stmt| match stmt {
            Stmt::Inst(v) => match self.kernel.def(*v).inst {
                Inst::Write { var, .. } => self.requests.get(&var).copied(),
                _ => None,
            },
            _ => None,
        })
    }
}
