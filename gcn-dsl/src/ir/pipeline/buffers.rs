//! Finds the LDS arrays that a pipelined loop fills anew in each trip, and decides whether they can be double-buffered.
//!
//! In the original loop a trip stores a tile, waits at a barrier, loads from the tile, and waits at another barrier.
//! With two alternating buffers, a trip stores the tile of the next trip while it computes, and one barrier is enough:
//! it separates the stores of one trip from the loads of the next, and the loads of a trip from the stores to the same
//! buffer two trips later.
//!
//! Double buffering preserves the program's meaning under these conditions: the second barrier orders nothing else, the
//! arrays are used nowhere else, a trip reads only bytes that the same trip has written (`cover`), and the stored
//! values can be computed one trip ahead.

use gcn_isa::program::SourceLoc;
use hashbrown::{HashMap, HashSet};

use super::super::merge::is_read_only;
use super::super::{Effect, Inst, Kernel, LdsId, Manner, Memory, Region, Stmt, Value, Variable};
use super::cover::{self, Access};
use super::plan::{Plan, Source, is_probe, own, source, uses};
use super::refuse::SingleReason;
use super::{Request, request};

/// The part of a trip that fills the arrays.
pub(super) struct Fill {
    /// The arrays, in order of declaration.
    pub arrays: Vec<LdsId>,
    /// In order: the stores, and the instructions that compute the stored values from `held` and from values that are
    /// defined outside the loop.
    pub insts: Vec<Value>,
    /// The inputs of `insts` that the slice that runs ahead computes: loads, and variables that change from trip to
    /// trip.
    pub held: Vec<Value>,
    /// The instructions that are removed from a trip, because they belong to the tile of the next trip.
    pub moved: HashSet<Value>,
    /// The one barrier that remains.
    pub barrier: Value,
    /// The number of dwords that each lane stores.
    pub dwords: u32,
}

/// For each loop to be pipelined, by its counter: the arrays that the kernel uses nowhere else.
pub(super) fn alone(
    kernel: &Kernel,
    requests: &HashMap<Variable, Request>,
) -> HashMap<Variable, HashSet<LdsId>> {
    let mut found = HashMap::new();
    let Some(all) = accesses(kernel, &kernel.body) else { return found };
    kernel.body.each_stmt(&mut |stmt| {
        if let Stmt::DoWhile { body, .. } = stmt
            && let Some(request) = request(kernel, requests, body)
            && let Some(here) = accesses(kernel, body)
        {
            // If the loop contains as many accesses as the kernel, no access is elsewhere.
            let own = here.into_iter().filter(|(id, n)| all.get(id) == Some(n)).map(|(id, _)| id);
            found.insert(request.counter, own.filter(|id| !kernel.lds[id.0 as usize].dynamic).collect());
        }
    });
    found
}

/// The number of accesses to each array. `None` if machine instructions that the kernel names may access LDS as well.
fn accesses(kernel: &Kernel, region: &Region) -> Option<HashMap<LdsId, u32>> {
    let (mut counts, mut known) = (HashMap::new(), true);
    region.each_inst(&mut |v| {
        let inst = &kernel.def(v).inst;
        if let Some((Memory::Lds(id), _)) = inst.place() {
            *counts.entry(id).or_insert(0) += 1;
        }
        // Such an instruction may address LDS by a register, so the array that it accesses is unknown.
        known &= !matches!(inst, Inst::Machine(call) if call.effect != Effect::Pure && !is_probe(call));
    });
    known.then_some(counts)
}

/// The plan for double-buffering the arrays, or the reason why it is impossible.
pub(super) fn of(
    kernel: &Kernel,
    workgroup: [u32; 3],
    alone: &HashSet<LdsId>,
    body: &Region,
    plan: &Plan,
) -> Result<Fill, SingleReason> {
    let trip = Trip::of(kernel, body)?;
    let arrays = trip.arrays();
    if arrays.is_empty() {
        return Err(SingleReason::NoArray);
    }
    if arrays.iter().any(|array| !alone.contains(array)) {
        return Err(SingleReason::Elsewhere);
    }
    trip.phases()?;
    let stores: Vec<Access> = trip.stores.iter().map(|store| store.access).collect();
    let loads: Vec<Access> = trip.loads.iter().map(|load| load.access).collect();
    if let Some(at) = cover::unwritten(kernel, workgroup, &stores, &loads) {
        return Err(SingleReason::Older(trip.loads[at].at));
    }
    trip.fill(body, plan, arrays)
}

/// An LDS access in a trip.
struct Use {
    inst: Value,
    /// The index of the body's statement that contains the access.
    stmt: usize,
    access: Access,
    at: Option<SourceLoc>,
}

/// The memory accesses of a trip.
struct Trip<'k> {
    kernel: &'k Kernel,
    inside: HashSet<Value>,
    written: HashSet<Variable>,
    barriers: Vec<(Value, usize)>,
    stores: Vec<Use>,
    loads: Vec<Use>,
}

impl<'k> Trip<'k> {
    fn of(kernel: &'k Kernel, body: &Region) -> Result<Trip<'k>, SingleReason> {
        let mut trip = Trip {
            kernel,
            inside: HashSet::new(),
            written: HashSet::new(),
            barriers: Vec::new(),
            stores: Vec::new(),
            loads: Vec::new(),
        };
        for (at, stmt) in body.stmts.iter().enumerate() {
            match stmt {
                Stmt::Inst(v) => trip.note(*v, at, true)?,
                _ => {
                    let mut nested = Vec::new();
                    stmt.regions().iter().for_each(|region| region.each_inst(&mut |v| nested.push(v)));
                    nested.into_iter().try_for_each(|v| trip.note(v, at, false))?;
                }
            }
        }
        let stored: HashSet<LdsId> = trip.stores.iter().map(|store| store.access.array).collect();
        // Arrays that the loop only reads stay single-buffered.
        trip.loads.retain(|load| stored.contains(&load.access.array));
        Ok(trip)
    }

    fn note(&mut self, v: Value, stmt: usize, own: bool) -> Result<(), SingleReason> {
        let (kernel, def) = (self.kernel, self.kernel.def(v));
        self.inside.insert(v);
        let at = def.loc;
        let of = |array, offset, ty| Use {
            inst: v,
            stmt,
            access: Access { array, offset, bytes: cover::bytes(ty) },
            at,
        };
        match &def.inst {
            Inst::Write { var, .. } => _ = self.written.insert(*var),
            Inst::Barrier if own => self.barriers.push((v, stmt)),
            Inst::Store { memory: Memory::Lds(id), offset, value, manner: Manner::Plain } if own => {
                self.stores.push(of(*id, *offset, kernel.ty(*value)));
            }
            Inst::Load { memory: Memory::Lds(id), offset, manner } => {
                let mut read = of(*id, *offset, kernel.ty(v));
                // A transposing load gives a lane data from the addresses of other lanes, so require that the trip has
                // written the whole array.
                if *manner != Manner::Plain {
                    read.access.bytes = u32::MAX;
                }
                self.loads.push(read);
            }
            // Accesses to other memory are harmless: only code after the loop reads what the loop stores there, and
            // nothing writes what the loop loads.
            Inst::Store { memory, .. } if !matches!(memory, Memory::Lds(_)) => {}
            inst => match source(inst) {
                Some(Source::Memory(Memory::Private(_))) => {}
                Some(Source::Memory(memory)) if is_read_only(kernel, memory) => {}
                Some(Source::Scalar(resource)) if is_read_only(kernel, Memory::Buffer(resource)) => {}
                Some(_) => return Err(SingleReason::Ordered("load from memory that can be written", at)),
                None => self.harmless(inst, at)?,
            },
        }
        Ok(())
    }

    /// Rejects an instruction that the second barrier orders, or whose position matters.
    fn harmless(&self, inst: &Inst, at: Option<SourceLoc>) -> Result<(), SingleReason> {
        let what = match inst {
            Inst::Barrier => "barrier in a branch or an inner loop",
            Inst::Store { .. } => "store in a branch or an inner loop",
            Inst::Atomic(_) => "atomic access",
            Inst::Fence { .. } => "fence",
            Inst::Schedule(_) => "mark of order",
            Inst::Machine(call) if call.effect != Effect::Pure && !is_probe(call) => call.mnemonic,
            _ => return Ok(()),
        };
        Err(SingleReason::Ordered(what, at))
    }

    fn arrays(&self) -> Vec<LdsId> {
        let mut arrays: Vec<LdsId> = self.stores.iter().map(|store| store.access.array).collect();
        arrays.sort_unstable_by_key(|id| id.0);
        arrays.dedup();
        arrays
    }

    /// Checks that a trip has a phase of stores and a phase of loads, with a barrier between them.
    fn phases(&self) -> Result<(), SingleReason> {
        let [(_, first), (_, second)] = self.barriers[..] else {
            return Err(SingleReason::Barriers(self.barriers.len()));
        };
        let phase = |at: usize| usize::from(at > first) + usize::from(at > second);
        let all = |uses: &[Use], which: usize| uses.iter().all(|one| phase(one.stmt) == which);
        // A trip may begin with the loads of what the previous trip stored, or with the stores; in both cases the two
        // barriers separate the phases.
        let takes_turns = (0..2).any(|at| all(&self.stores, at) && all(&self.loads, at + 1));
        if takes_turns { Ok(()) } else { Err(SingleReason::Mixed) }
    }

    /// Collects the instructions that fill the arrays: from the stores back to the values that the slice computes.
    fn fill(&self, body: &Region, plan: &Plan, arrays: Vec<LdsId>) -> Result<Fill, SingleReason> {
        let kernel = self.kernel;
        let loads: HashSet<Value> = plan.loads.iter().copied().collect();
        let (mut held, mut insts) = (HashSet::new(), HashSet::new());
        let mut open: Vec<Value> = self.stores.iter().map(|store| store.inst).collect();
        while let Some(v) = open.pop() {
            let inst = &kernel.def(v).inst;
            if !self.inside.contains(&v) || held.contains(&v) || insts.contains(&v) {
                continue;
            }
            let ahead = plan.slice.contains(&v);
            match inst {
                _ if loads.contains(&v) => _ = held.insert(v),
                // One trip ahead the variable has another value, which only the slice computes.
                Inst::Read(var) if self.written.contains(var) => match ahead {
                    true => _ = held.insert(v),
                    false => return Err(SingleReason::Computed(kernel.def(v).loc)),
                },
                // Lane reads depend on EXEC, so they are not pure; but the same lanes are active throughout the loop.
                Inst::Store { .. } | Inst::Read(_) | Inst::ReadFirstLane(_) | Inst::ReadLane(..) => {
                    insts.insert(v);
                    inst.operands(|operand| open.push(operand));
                }
                _ if inst.is_pure() => {
                    insts.insert(v);
                    inst.operands(|operand| open.push(operand));
                }
                _ => return Err(SingleReason::Computed(kernel.def(v).loc)),
            }
        }
        let ordered = |of: &HashSet<Value>| own(body).filter(|v| of.contains(v)).collect::<Vec<Value>>();
        let (insts, held) = (ordered(&insts), ordered(&held));
        // Then go forwards from the loads: all instructions that use a value that now belongs to the next trip must
        // move, too. An instruction that cannot move is an error.
        let mut moved: HashSet<Value> = loads;
        for (at, stmt) in body.stmts.iter().enumerate() {
            if !uses(kernel, stmt, &moved) {
                continue;
            }
            match stmt {
                Stmt::Inst(v) if insts.contains(v) || plan.slice.contains(v) => _ = moved.insert(*v),
                Stmt::Inst(v) => return Err(SingleReason::Computes(kernel.def(*v).loc)),
                _ => return Err(SingleReason::Computes(self.first_place(body, at))),
            }
        }
        // The condition decides whether there is a next trip, so it must not depend on the next trip's tile.
        if moved.contains(&plan.cond) {
            return Err(SingleReason::Computes(kernel.def(plan.cond).loc));
        }
        moved.extend(self.stores.iter().map(|store| store.inst));
        moved.extend(self.barriers.iter().map(|(barrier, _)| *barrier));
        let barrier = self.barriers[0].0;
        let dwords = self.stores.iter().map(|store| store.access.bytes.div_ceil(4)).sum();
        Ok(Fill { arrays, insts, held, moved, barrier, dwords })
    }

    /// The source location of the first instruction in a statement.
    fn first_place(&self, body: &Region, stmt: usize) -> Option<SourceLoc> {
        let mut found = None;
        for region in body.stmts[stmt].regions() {
            region.each_inst(&mut |v| found = found.or(self.kernel.def(v).loc));
        }
        found
    }
}
