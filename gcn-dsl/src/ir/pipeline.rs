//! Software pipelining for `#[pipeline(stages = n)]`: loads of later trips of a loop run while a trip
//! computes.
//!
//! `plan` divides the body. The loads that may run ahead, and the instructions that compute their addresses,
//! the loop's counter and its condition, form a slice of their own. It has its own copy of each variable that
//! changes from trip to trip. These copies are `stages - 1` trips ahead of the body's, and they stop at the
//! last trip, so that no address is read that the loop as written would not read, whatever the number of
//! trips. All other instructions stay in the body: stores, waits and exchanges happen in program order.
//!
//! `rotate` emits the loads of the first trips before the loop (the prologue), and the body once for each of
//! `stages` sets of variables that hold loaded values: a trip uses one set and loads into another, so that
//! nothing is copied. This is modulo variable expansion (Lam 1988). If the last use of the loaded values comes
//! before a barrier, and LDS is read only after that barrier, the loads of the later trip start after this last use
//! and reuse its registers: one set and one copy of the body fewer. The order within a trip is left to the list
//! scheduler; there is no modulo schedule. The loop's test follows each copy of the body.

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
    /// The loop's counter, which identifies the loop: no other loop writes it.
    pub counter: Variable,
    /// Trips in flight at a time.
    pub stages: u8,
    /// The attribute's position.
    pub at: Option<SourceLoc>,
}

/// Report on a loop that was pipelined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pipelined {
    /// The attribute's position.
    pub at: Option<SourceLoc>,
    /// Trips in flight at a time.
    pub stages: u8,
    /// The loads that run ahead.
    pub ahead: Vec<Option<SourceLoc>>,
    /// The loads that stay in their trip, each with the reason.
    pub left: Vec<StayingLoad>,
}

/// Pipelines the loops of `kernel` that ask for it, inner ones first. Instructions of the body that are now
/// unused are left for [`super::dce`].
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

/// One more than the largest label number.
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

    /// The request for the loop with this body, recognised by the counter that it writes.
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
