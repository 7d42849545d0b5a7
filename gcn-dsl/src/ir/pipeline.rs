//! Software pipelining for `#[pipeline(stages = n)]`: the loads of a later iteration (*trip*) of a loop run while an
//! earlier trip computes.
//!
//! `plan` divides the body. The loads that may run ahead, and the instructions that compute their addresses, the loop's
//! counter and its condition, form the *slice*, which runs ahead of the rest. The slice has its own copy of each
//! variable that changes from trip to trip. These copies are `stages - 1` trips ahead of the body's variables, and they
//! stop at the last trip, so that no address is read that the original loop would not read, whatever the trip count.
//! All other instructions stay in the body: stores, waits and exchanges happen in program order.
//!
//! `rotate` emits the loads of the first trips before the loop (the prologue), and then `stages` copies of the body,
//! each with its own set of variables for the loaded values: a trip uses one set and loads into another, so that
//! nothing is copied. This is modulo variable expansion (Lam 1988). If the last use of the loaded values comes before a
//! barrier, and LDS is read only after that barrier, the loads of the later trip start after this last use and reuse
//! its registers, which saves one set and one copy of the body (`split`: where products follow, the loads' addresses
//! are computed among those of the previous trip). The order within a trip is left to the list scheduler; there is no
//! modulo schedule. The loop's test follows each copy of the body.
//!
//! LDS arrays that the loop fills anew in each trip can be double-buffered (`buffers`, `double`). The stores to them
//! then run ahead as well, and a trip has one barrier instead of two, placed among its matrix products (`order`).
//! `choose` decides what the attribute does not specify.

mod buffers;
mod choose;
mod cover;
mod double;
mod order;
mod plan;
mod refuse;
mod rotate;
mod split;
mod stages;

use gcn_isa::Target;
use gcn_isa::program::SourceLoc;
use gcn_isa::target::WaveSize;
use hashbrown::{HashMap, HashSet};

use super::pipelined::Request;
use super::{Inst, Kernel, LdsId, Region, Stmt, Value, Variable};
use buffers::Fill;
use plan::Plan;

pub use refuse::{NoLoadAhead, OneBuffer, Refused, SingleReason, StayingLoad, StaysReason};
pub use stages::{BUFFERS, STAGES};

/// The target and the properties of the launch on which pipelining depends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The target.
    pub target: Target,
    /// The wave size.
    pub wave: WaveSize,
    /// The workgroup size.
    pub workgroup: [u32; 3],
    /// True if further LDS arrays may be allocated.
    pub more_lds: bool,
}

/// A report on a pipelined loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pipelined {
    /// The location of the attribute.
    pub at: Option<SourceLoc>,
    /// The number of trips that are in flight at a time.
    pub stages: u8,
    /// The reason why the LDS arrays that the loop fills are single-buffered; `None` if they are double-buffered.
    pub single: Option<SingleReason>,
    /// The loads that run ahead.
    pub ahead: Vec<Option<SourceLoc>>,
    /// The loads that stay in their trip, with the reasons.
    pub left: Vec<StayingLoad>,
}

/// Pipelines the loops of `kernel` for which the user requested it, inner loops first. Instructions of the body that
/// become unused are left for [`super::dce`].
///
/// # Errors
/// An error if no load of a loop can run ahead, or if the attribute requests double buffering and it is impossible.
pub fn run(kernel: &mut Kernel, machine: Machine) -> Result<Vec<Pipelined>, Refused> {
    let requests: HashMap<Variable, Request> =
        kernel.pipelines.iter().map(|request| (request.counter, *request)).collect();
    if requests.is_empty() {
        return Ok(Vec::new());
    }
    let alone = buffers::alone(kernel, &requests);
    kernel.rewrite(|kernel, body| {
        let mut pass = Pass { labels: labels(body), kernel, machine, requests, alone, done: Vec::new() };
        pass.region(body)?;
        Ok(pass.done)
    })
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
    machine: Machine,
    labels: u32,
    requests: HashMap<Variable, Request>,
    /// For each loop's counter, the LDS arrays that only this loop uses.
    alone: HashMap<Variable, HashSet<LdsId>>,
    done: Vec<Pipelined>,
}

impl Pass<'_> {
    fn region(&mut self, region: &mut Region) -> Result<(), Refused> {
        let mut out = Vec::with_capacity(region.stmts.len());
        for mut stmt in std::mem::take(&mut region.stmts) {
            for inner in stmt.regions_mut() {
                self.region(inner)?;
            }
            let replaced = match &stmt {
                Stmt::DoWhile { body, cond } => match request(self.kernel, &self.requests, body) {
                    Some(request) => {
                        // An outer loop also contains a write of this counter, before this loop starts. Remove the
                        // request, so that the outer loop is not pipelined for it.
                        self.requests.remove(&request.counter);
                        self.pipelined(request, body, *cond, &mut out)?
                    }
                    None => false,
                },
                _ => false,
            };
            if !replaced {
                out.push(stmt);
            }
        }
        region.stmts = out;
        Ok(())
    }

    /// Appends the statements that replace the loop with body `body`. If no load can run ahead, the loop stays as it
    /// is.
    fn pipelined(
        &mut self,
        request: Request,
        body: &Region,
        cond: Value,
        out: &mut Vec<Stmt>,
    ) -> Result<bool, Refused> {
        let (plan, left) = plan::of(self.kernel, body, cond);
        let Some(plan) = plan else {
            return refuse::check(request.at, left).map(|()| false).map_err(Refused::Loads);
        };
        let stages = match request.stages {
            Some(stages) => stages,
            None => choose::stages(self.kernel, self.machine, body, &plan),
        };
        let fill = self.fill(request, body, &plan);
        let single = self.two(request, body, &plan, &fill).err();
        if let (Some(2), Some(reason)) = (request.buffers, &single) {
            return Err(Refused::Buffers(OneBuffer { at: request.at, reason: reason.clone() }));
        }
        let order = fill.as_ref().ok().and_then(|fill| {
            let (two, machine) = (single.is_none(), self.machine);
            // If another workgroup shares the SIMD and executes matrix products meanwhile, it pays to load late and to
            // have few loads outstanding.
            let beside = !choose::alone(self.kernel, machine, body, &plan);
            let best =
                (two || !beside).then(|| order::of(self.kernel, machine, body, fill, [two, two && beside]));
            best.flatten().or_else(|| two.then(|| order::as_written(self.kernel, body)))
        });
        let split = split::of(self.kernel, self.machine, body, &plan);
        let ahead = plan.loads.iter().map(|v| self.kernel.def(*v).loc).collect();
        let mut emit = rotate::Emit::new(self.kernel, &mut self.labels, request.at, &plan, body);
        out.extend(match (&fill, &order) {
            (Ok(fill), Some(order)) => emit.in_turns(usize::from(stages), fill, order),
            _ => emit.rotate(usize::from(stages), split.as_ref()),
        });
        self.done.push(Pipelined { at: request.at, stages, single, ahead, left });
        Ok(true)
    }

    /// How the loop fills LDS arrays; an error with the reason if the stores cannot run one trip ahead.
    fn fill(&self, request: Request, body: &Region, plan: &Plan) -> Result<Fill, SingleReason> {
        let none = HashSet::new();
        let alone = self.alone.get(&request.counter).unwrap_or(&none);
        buffers::of(self.kernel, self.machine.workgroup, alone, body, plan)
    }

    /// `Ok` if the LDS arrays of the loop are to be double-buffered; otherwise the reason why they are not.
    fn two(
        &self,
        request: Request,
        body: &Region,
        plan: &Plan,
        fill: &Result<Fill, SingleReason>,
    ) -> Result<(), SingleReason> {
        match (request.buffers, request.stages) {
            (Some(2), _) | (None, None) => {}
            _ => return Err(SingleReason::Asked),
        }
        let fill = fill.as_ref().map_err(Clone::clone)?;
        choose::room(self.kernel, self.machine, fill)?;
        if request.buffers.is_none() && choose::crowds(self.kernel, self.machine, body, plan, fill) {
            return Err(SingleReason::Occupancy);
        }
        Ok(())
    }
}

/// The request for the loop with this body; `None` if there is none. The loop is identified by the counter that it
/// writes.
fn request(kernel: &Kernel, requests: &HashMap<Variable, Request>, body: &Region) -> Option<Request> {
    body.stmts.iter().find_map(|stmt| match stmt {
        Stmt::Inst(v) => match kernel.def(*v).inst {
            Inst::Write { var, .. } => requests.get(&var).copied(),
            _ => None,
        },
        _ => None,
    })
}
