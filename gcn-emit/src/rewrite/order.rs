//! The memory operations that a program's waits order for other waves and the host.
//!
//! The hazard rules are about registers. They do not cover waits that serve other waves and the host: a release waits for its stores before
//! the flag is written, an acquire waits for the flag before the data is read. Such a wait guarantees that certain earlier operations are
//! complete at some later instruction. [`Order`] contains, for each instruction at which that may matter, the operations that may still be
//! outstanding. Code that removes waits must not add operations to these sets.
//!
//! The parent module defines which operations matter at which instructions.
//!
//! This is a forward dataflow analysis over all paths. Its state before an instruction is the set of operations that may be outstanding,
//! each with the smallest number of younger operations of its stream on any path. If a stream completes in order, a wait for `n` completes
//! an operation with at least `n` younger ones; otherwise only a wait for 0 completes it. If the number of younger operations reaches the
//! counter's capacity, the operation is complete, because the hardware does not issue more operations than it can count.

use std::collections::BTreeSet;

use gcn_isa::cfg::{Cfg, Flow};
use gcn_isa::counters::{Counter, MemoryEffect, Stream, WaitCnt, events};
use gcn_isa::table::Class;
use gcn_isa::{Inst, InstructionSet, Operand, Program, Target};

/// An operation: the number of its instruction, and its counter.
pub(super) type Operation = (u32, Counter);

/// An operation that may be outstanding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Open {
    /// The number of the operation's instruction in the original program.
    line: u32,
    stream: Stream,
    /// The smallest number of younger operations of the stream on any path.
    younger: u8,
}

/// The operations that may be outstanding, sorted by instruction and stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct State {
    open: Vec<Open>,
}

impl State {
    fn join(&mut self, other: &State) {
        if self.open.is_empty() {
            self.open.clone_from(&other.open);
            return;
        }
        let mut joined = Vec::with_capacity(self.open.len().max(other.open.len()));
        let (mut a, mut b) = (self.open.iter().peekable(), other.open.iter().peekable());
        loop {
            let key = |o: &Open| (o.line, o.stream);
            match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if key(x) == key(y) => {
                    joined.push(Open { younger: x.younger.min(y.younger), ..**x });
                    a.next();
                    b.next();
                }
                (Some(x), Some(y)) => {
                    joined.extend(if key(x) < key(y) { a.next() } else { b.next() }.copied());
                }
                (Some(_), None) => joined.extend(a.next().copied()),
                (None, Some(_)) => joined.extend(b.next().copied()),
                (None, None) => break,
            }
        }
        self.open = joined;
    }

    /// Applies a wait; `done` is called with each operation that it completes.
    fn wait(&mut self, set: InstructionSet, wait: WaitCnt, mut done: impl FnMut(Operation)) {
        self.open.retain(|open| {
            let counter = open.stream.counter(set);
            let value = counter.of(wait);
            let waits = counter.is_in(wait);
            let finished = waits && (value == 0 || open.stream.in_order() && open.younger >= value);
            if finished {
                done((open.line, counter));
            }
            !finished
        });
    }

    fn issue(&mut self, set: InstructionSet, stream: Stream, line: u32) {
        let most = stream.counter(set).capacity(set);
        self.open.retain_mut(|open| {
            if open.stream == stream {
                open.younger += 1;
            }
            open.younger < most && (open.line, open.stream) != (line, stream)
        });
        let at = self.open.partition_point(|o| (o.line, o.stream) < (line, stream));
        self.open.insert(at, Open { line, stream, younger: 0 });
    }
}

/// What other waves and the host can observe of an instruction's memory operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Nothing: they cannot observe when the operations happen.
    Private,
    /// The operations read.
    Load,
    /// The operations read a location that may be a flag.
    Acquire,
    /// The operations write, or order others themselves.
    Write,
}

/// Which earlier operations must be complete at an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    /// None.
    None,
    /// The instruction reads memory; after an acquire, this may be the data.
    Access,
    /// The instruction may tell other waves that everything before it has happened.
    Publish,
}

fn role(target: Target, inst: &Inst) -> Role {
    use Class as C;
    match inst.desc.class {
        C::SmemLoad | C::SmemTime | C::ScratchLoad | C::ScratchStore | C::LdsPermute | C::LdsNop => {
            Role::Private
        }
        C::CacheCtl | C::SmemCache | C::SmemStore | C::SmemAtomic | C::SmemAtomicRet => Role::Write,
        C::Sendmsg | C::Gds | C::Gws => Role::Write,
        _ => {
            let events = events(target, inst);
            let effects = events.iter().fold(MemoryEffect::empty(), |all, e| all | e.memory);
            let writes = MemoryEffect::STORE | MemoryEffect::LDS_WRITE | MemoryEffect::LDS_DMA;
            if effects.intersects(writes) || inst.mods.gds {
                Role::Write
            } else if effects.contains(MemoryEffect::LDS_READ) || inst.mods.glc || inst.mods.scc {
                Role::Acquire
            } else if effects.contains(MemoryEffect::LOAD) {
                Role::Load
            } else {
                Role::Private
            }
        }
    }
}

fn point(role: Role, inst: &Inst) -> Point {
    let unknown_exit =
        || inst.desc.class == Class::Branch && !inst.operands.iter().any(|o| matches!(o, Operand::Label(_)));
    match role {
        // LDS is shared only within a workgroup. At workgroup scope, a release does not wait for loads from memory; the barrier orders
        // them.
        Role::Write if inst.desc.class == Class::LdsWrite && !inst.mods.gds => Point::Access,
        Role::Write => Point::Publish,
        Role::Load | Role::Acquire => Point::Access,
        Role::Private if inst.desc.class == Class::Barrier || unknown_exit() => Point::Publish,
        Role::Private => Point::None,
    }
}

/// The roles of the original program's instructions, by number.
pub(super) struct Roles {
    roles: Vec<Role>,
    /// Loads that may be an acquire, because the program waits directly after them.
    acquires: BTreeSet<u32>,
}

impl Roles {
    /// The roles in `original`.
    pub fn of(original: &Program) -> Roles {
        let roles = original.lines.iter().map(|l| role(original.target, &l.inst)).collect();
        let mut found = Roles { roles, acquires: BTreeSet::new() };
        for (i, role) in found.roles.iter().enumerate() {
            let behind = original.lines.iter().skip(i + 1).map(|l| l.inst.desc.class);
            let mut waits = behind.take_while(|c| matches!(c, Class::Waitcnt | Class::Nop));
            if *role == Role::Acquire && waits.any(|c| c == Class::Waitcnt) {
                found.acquires.insert(i as u32);
            }
        }
        found
    }

    fn counts(&self, operation: u32, at: Point) -> bool {
        match self.roles.get(operation as usize) {
            Some(Role::Write) => true,
            Some(Role::Acquire) if self.acquires.contains(&operation) => true,
            Some(Role::Load | Role::Acquire) => at == Point::Publish,
            _ => false,
        }
    }
}

/// The operations that may be outstanding at each place where that may matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    /// For each such place (the number of the instruction in the original, ascending), the operations that matter there.
    places: Vec<(u32, Vec<Operation>)>,
    /// The waits, each with an operation that it completes.
    finishes: Vec<(u32, Operation)>,
}

impl Order {
    /// Analyses `program`. `names` contains the number of each line in the original program, so that results for programs with different
    /// waits can be compared. `None` if so many operations may be outstanding that the analysis would take too long.
    pub fn of(program: &Program, names: &[u32], roles: &Roles) -> Option<Order> {
        let flow = Flow::of(program);
        let cfg = &flow.cfg;
        let mut solver = Solver { program, names, entering: vec![None; cfg.blocks.len()], cfg };
        solver.solve(flow.roots.iter().map(|r| r.block))?;
        let mut order = Order { places: Vec::new(), finishes: Vec::new() };
        for block in 0..cfg.blocks.len() {
            solver.report(block, roles, &mut order);
        }
        order.places.sort_unstable_by_key(|p| p.0);
        Some(order)
    }

    /// The operations that may be outstanding at some place in `self`, but not at the same place in `original`, each with the first such
    /// place.
    pub fn beyond(&self, original: &Order) -> Vec<(Operation, u32)> {
        let mut found = Vec::new();
        for (place, open) in &self.places {
            let known = original.places.binary_search_by_key(place, |p| p.0);
            let known = known.ok().and_then(|i| original.places.get(i)).map_or(&[][..], |p| &p.1);
            found.extend(open.iter().filter(|o| !known.contains(o)).map(|o| (*o, *place)));
        }
        found.sort_unstable();
        found.dedup_by_key(|f| f.0);
        found
    }

    /// The waits that complete one of these operations, each with the operation.
    pub fn finishers<'a>(
        &'a self,
        operations: &'a [(Operation, u32)],
    ) -> impl Iterator<Item = (u32, Operation)> {
        let wanted = |f: &&(u32, Operation)| operations.binary_search_by_key(&f.1, |o| o.0).is_ok();
        self.finishes.iter().filter(wanted).copied()
    }
}

struct Solver<'a> {
    program: &'a Program,
    names: &'a [u32],
    cfg: &'a Cfg,
    /// The state before each block that control reaches.
    entering: Vec<Option<State>>,
}

/// Budget in joined operations: the first number for each line of the program, but at least the second number. Programs with waits use only
/// a few for each line.
const BUDGET: (usize, usize) = (64, 1 << 24);

impl Solver<'_> {
    /// Computes the states; `None` if the budget is exceeded.
    fn solve(&mut self, roots: impl Iterator<Item = usize>) -> Option<()> {
        let mut budget = self.program.lines.len().saturating_mul(BUDGET.0).max(BUDGET.1);
        let mut open: BTreeSet<usize> = roots.collect();
        for &block in &open {
            self.entering[block] = Some(State::default());
        }
        while let Some(block) = open.pop_first() {
            let Some(mut state) = self.entering[block].clone() else { continue };
            self.walk(block, &mut state, |_, _| {}, |_, _| {});
            for &next in &self.cfg.blocks[block].succs {
                let mut new = self.entering[next].clone().unwrap_or_default();
                new.join(&state);
                budget = budget.checked_sub(new.open.len())?;
                if self.entering[next].as_ref() != Some(&new) {
                    self.entering[next] = Some(new);
                    open.insert(next);
                }
            }
        }
        Some(())
    }

    /// Walks through a block. `before` is called for each line with the state before it; `done` is called for each operation that a wait
    /// completes.
    fn walk(
        &self,
        block: usize,
        state: &mut State,
        mut before: impl FnMut(usize, &State),
        mut done: impl FnMut(usize, Operation),
    ) {
        let set = self.program.target.instruction_set();
        let block = &self.cfg.blocks[block];
        for line in block.start..block.end {
            before(line, state);
            let inst = &self.program.lines[line].inst;
            if let Some(wait) = WaitCnt::of(inst) {
                state.wait(set, wait, |operation| done(line, operation));
                continue;
            }
            // These operations are private, and their stream has no order.
            if matches!(inst.desc.class, Class::SmemLoad | Class::SmemTime) {
                continue;
            }
            for event in events(self.program.target, inst) {
                state.issue(set, event.stream, self.names[line]);
            }
        }
    }

    fn report(&self, block: usize, roles: &Roles, order: &mut Order) {
        let Some(mut state) = self.entering[block].clone() else { return };
        let Order { places, finishes } = order;
        let set = self.program.target.instruction_set();
        let place = |line: usize, state: &State| {
            let inst = &self.program.lines[line].inst;
            let point = point(role(self.program.target, inst), inst);
            if point != Point::None {
                let open = state.open.iter().filter(|o| roles.counts(o.line, point));
                let open = open.map(|o| (o.line, o.stream.counter(set))).collect();
                places.push((self.names[line], open));
            }
        };
        self.walk(block, &mut state, place, |line, operation| finishes.push((self.names[line], operation)));
    }
}
