//! An independent check of an allocation by symbolic execution, like regalloc2's checker.
//!
//! The checker follows the function and the program in parallel and knows, at each point, which values each machine
//! register contains. It uses none of the allocator's liveness, interference or assignments: the registers that are
//! read and written come from the program's own instructions ([`gcn_isa::Inst::reads`]). The checker computes liveness
//! itself, and only to stop tracking values that are not needed any more. Instructions of the program are called
//! *lines* here, to distinguish them from those of the function.
//!
//! **State.** For each register, each lane of a VGPR that is used as a home, and each dword of the frame: the set of
//! values that it contains *now*, and in which lanes (`state`). A value is a [`Value`]: a dword of a virtual register,
//! a machine register's own value (initial state, VCC, EXEC, M0), or a constant. A virtual dword may be *undefined*;
//! then every location counts as containing it. A value may also be undefined in the active lanes only (if an undefined
//! value was copied under a mask) or in the inactive lanes only (if it was written under the current EXEC). At the
//! entry each machine register contains its own value, and every virtual dword is undefined.
//!
//! **Steps.** In each register that it reads, a machine instruction must find the value that the function names: in the
//! active lanes, or in all lanes if the instruction ignores EXEC. Afterwards each register that it writes contains
//! exactly the new value, and all other copies of the old value are forgotten. With [`MInst::keeps_dst`] they are
//! forgotten in the active lanes only, since in the other lanes they are still equal to the new value. For a copy, its
//! moves are executed first: each move gives its destination the set of values of its source. Then every location that
//! contains the source value also contains the destination value. Lines between the instructions are moves of the same
//! kind, including those from and to lanes and memory, or they repeat an instruction whose sources have not changed
//! (`spills`). To check such repetitions, the checker also tracks which instructions could be repeated (available
//! expressions) and which dwords are copies of the same value or constant.
//!
//! **EXEC.** If a location contains a value only in the active lanes, that fact is lost when EXEC changes, unless EXEC
//! was narrowed.
//!
//! **Join.** The states at the end of the predecessors are intersected. A dword that is undefined in one of them counts
//! as contained everywhere in that one. The states form a finite lattice and only descend, so the iteration reaches a
//! fixpoint (Kildall 1973).

mod copies;
mod edge;
mod facts;
mod operands;
mod pinned;
mod spills;
mod state;
mod value;

use gcn_isa::table::Behaviours;
use gcn_isa::{Inst, Operand, RegFile, reg::RegUnit};
use hashbrown::HashSet;
use smallvec::SmallVec;

use super::error::VerifyError;
use super::live::{self, Liveness, Numbering};
use super::worklist::Worklist;
use super::{Allocated, access, input};
use crate::mir::{Function, MInst, MOperand, Op, VReg, VSlice};
use edge::Edge;
use spills::Repeats;
use state::State;
use value::{ACTIVE, ALL, Cell, Value};

/// Checks that `a` computes what `f` does. The instructions of `a` must be in the order of `f`.
pub fn verify(f: &Function, a: &Allocated) -> Result<(), VerifyError> {
    let checker = Checker::new(f, a);
    checker.labels()?;
    checker.run()
}

struct Checker<'a> {
    f: &'a Function,
    a: &'a Allocated,
    /// The number of the first instruction of each block.
    first: Vec<usize>,
    /// The number of the first dword of each virtual register.
    dword: Vec<u32>,
    /// The virtual register of each dword.
    register: Vec<u32>,
    /// Liveness, which is used only to remove values from states at block boundaries. States then contain fewer facts,
    /// so an error in liveness can make the checker reject a correct allocation but never accept a wrong one.
    live: Liveness,
    /// The dwords that are kept in the states at all block boundaries, because inserted lines in any block may need
    /// them.
    crossing: HashSet<u32>,
    /// The registers that copies write, each with the number of the last instruction that names it, in ascending order.
    last_named: Vec<(u32, VReg)>,
    /// The instructions that inserted lines may repeat.
    repeats: Repeats,
}

/// The location of a check, for messages.
#[derive(Clone, Copy)]
struct At {
    block: usize,
    inst: usize,
}

impl<'a> Checker<'a> {
    fn new(f: &'a Function, a: &'a Allocated) -> Checker<'a> {
        let mut first = Vec::new();
        let mut n = 0;
        for block in &f.blocks {
            first.push(n);
            n += block.insts.len();
        }
        let (mut dword, mut register) = (Vec::with_capacity(f.vregs.len()), Vec::new());
        for (number, v) in f.vregs.iter().enumerate() {
            dword.push(register.len() as u32);
            register.resize(register.len() + usize::from(v.len), number as u32);
        }
        let mut checker = Checker {
            f,
            a,
            first,
            dword,
            register,
            live: live::solve(f, &Numbering::new(f)),
            crossing: HashSet::new(),
            last_named: Vec::new(),
            repeats: Repeats::default(),
        };
        checker.repeats = checker.find_repeats();
        checker.crossing = checker.repeated_results();
        // Inserted LDS accesses may read the address register in any block.
        checker.crossing.extend(a.spills.lds.and_then(|lds| checker.dword.get(lds.address.0 as usize)));
        checker.last_named = checker.last_named();
        checker
    }

    fn dwords(&self, slice: VSlice) -> impl Iterator<Item = u32> + use<> {
        let first = self.dword[slice.reg.0 as usize] + u32::from(slice.start);
        first..first + u32::from(slice.len)
    }

    /// For each register that a copy writes: the last instruction that names the register in a block at whose end it is
    /// not live.
    fn last_named(&self) -> Vec<(u32, VReg)> {
        let mut list = Vec::new();
        if self.a.spills.total() == 0 {
            return list;
        }
        let mut copied = vec![false; self.f.vregs.len()];
        let all = || self.f.blocks.iter().flat_map(|b| &b.insts);
        for inst in all().filter(|i| i.op == Op::Copy) {
            if let Some(MOperand::Virt(s)) = inst.operands.first() {
                copied[s.reg.0 as usize] = true;
            }
        }
        let mut seen = HashSet::new();
        for (b, block) in self.f.blocks.iter().enumerate() {
            seen.clear();
            for (i, inst) in block.insts.iter().enumerate().rev() {
                for operand in &inst.operands {
                    if let MOperand::Virt(s) = operand
                        && copied[s.reg.0 as usize]
                        && seen.insert(s.reg)
                        && live::mask_of(&self.live.live_out[b], s.reg) == 0
                    {
                        list.push(((self.first[b] + i) as u32, s.reg));
                    }
                }
            }
        }
        list.sort_unstable();
        list
    }

    /// After the last instruction that names a register, stops tracking which value the register is a copy of. Without
    /// this, states would grow with the number of copies.
    fn forget_copies(&self, state: &mut State, number: u32) {
        let from = self.last_named.partition_point(|l| l.0 < number);
        for &(_, reg) in self.last_named[from..].iter().take_while(|l| l.0 == number) {
            self.dwords(reg.all(self.f.info(reg))).for_each(|d| state.forget_root(d));
        }
    }

    /// True if a dword must be kept in the state at the block's entry.
    fn crosses(&self, block: usize, dword: u32) -> bool {
        let reg = self.register(dword);
        let bit = dword - self.dword[reg];
        live::mask_of(&self.live.live_in[block], VReg(reg as u32)) >> bit & 1 == 1
            || self.crossing.contains(&dword)
    }

    /// Dwords that may be read before they are written.
    fn undefined_at_entry(&self) -> Vec<u32> {
        let live = self.live.live_in.first().into_iter().flatten().copied();
        let dwords = live.flat_map(|(v, mask)| {
            (0..32).filter(move |k| mask >> k & 1 == 1).map(move |k| self.dword[v as usize] + k)
        });
        dwords.collect()
    }

    fn register(&self, dword: u32) -> usize {
        self.register[dword as usize] as usize
    }

    fn fail<T>(&self, at: At, what: String) -> Result<T, VerifyError> {
        let at = input::place(self.f, at.block, at.inst);
        Err(VerifyError { kernel: self.f.name.clone(), at, what })
    }

    fn lines(&self, at: At) -> std::ops::Range<usize> {
        let number = self.first[at.block] + at.inst;
        self.a.spans.get(number).map_or(usize::MAX..usize::MAX, |s| s.main as usize..s.main_end as usize)
    }

    /// Checks that every label is at the start of its block.
    fn labels(&self) -> Result<(), VerifyError> {
        for (b, block) in self.f.blocks.iter().enumerate() {
            for (i, inst) in block.insts.iter().enumerate() {
                let Some(target) = input::branch_target(inst) else { continue };
                let at = At { block: b, inst: i };
                let line = self.a.program.lines.get(self.lines(at).start);
                let label = line.and_then(|l| {
                    l.inst.operands.iter().find_map(|o| match o {
                        Operand::Label(label) => Some(*label),
                        _ => None,
                    })
                });
                let placed = label.and_then(|l| self.a.program.labels.get(l.0 as usize)?.at);
                if placed != self.a.block_line.get(target).map(|&l| l as usize) {
                    return self.fail(at, format!("the branch does not go to block {target}"));
                }
            }
        }
        Ok(())
    }

    fn run(&self) -> Result<(), VerifyError> {
        if self.f.blocks.is_empty() {
            return Ok(());
        }
        let succs = input::successors(self.f);
        // Find the blocks with more than one predecessor; the kernel's start counts as one.
        let mut joins = vec![false; self.f.blocks.len()];
        let mut is_entered = vec![false; self.f.blocks.len()];
        is_entered[0] = true;
        succs.iter().flatten().for_each(|&s| joins[s] |= std::mem::replace(&mut is_entered[s], true));
        let mut entry: Vec<Option<Edge>> = vec![None; self.f.blocks.len()];
        let mut undefined = self.undefined_at_entry();
        undefined.extend(&self.crossing);
        undefined.sort_unstable();
        undefined.dedup();
        entry[0] = Some(Edge::at_entry(&self.f.live_in, undefined));
        // Iterate to a fixpoint from optimistic states: a block's state is unknown (top) until a predecessor has been
        // executed. A block that is visited again is checked again, with the weaker state.
        let mut work = Worklist::from_entry(self.f.blocks.len());
        let mut state = State::new(self.register.len());
        while let Some(block) = work.next() {
            let Some(edge) = &entry[block] else { continue };
            state = state.enter(edge);
            edge.repeatable.iter().for_each(|&number| self.repeatable(&mut state, number));
            let mut line = self.a.block_line.get(block).map_or(usize::MAX, |&l| l as usize);
            for (i, inst) in self.f.blocks[block].insts.iter().enumerate() {
                let at = At { block, inst: i };
                let own = self.lines(at);
                self.around(&mut state, at, line..own.start)?;
                line = own.end;
                self.step(&mut state, at, inst)?;
                self.note_repeatable(&mut state, at, inst);
                self.forget_copies(&mut state, (self.first[block] + i) as u32);
            }
            let end = self.a.block_line.get(block + 1).map_or(usize::MAX, |&l| l as usize);
            let last = self.f.blocks[block].insts.len().saturating_sub(1);
            self.around(&mut state, At { block, inst: last }, line..end)?;
            for &s in &succs[block] {
                let out = state.edge(|dword| self.crosses(s, dword));
                let joined = match &entry[s] {
                    Some(old) if joins[s] => old.meet(&out, |number| self.results(number)),
                    _ => out,
                };
                if entry[s].as_ref() != Some(&joined) {
                    entry[s] = Some(joined);
                    work.push(s);
                }
            }
        }
        Ok(())
    }

    /// Executes the lines between two instructions.
    fn around(&self, state: &mut State, at: At, lines: std::ops::Range<usize>) -> Result<(), VerifyError> {
        let Some(lines) = self.a.program.lines.get(lines) else {
            return self.fail(at, "the lines are out of order".into());
        };
        lines.iter().try_for_each(|line| self.spill(state, at, &line.inst))
    }

    fn file_of(&self, dword: u32) -> RegFile {
        self.f.vregs[self.register(dword)].file
    }

    fn step(&self, state: &mut State, at: At, inst: &MInst) -> Result<(), VerifyError> {
        let Some(lines) = self.a.program.lines.get(self.lines(at)) else {
            return self.fail(at, "the program ends before".into());
        };
        match (&inst.op, lines) {
            (Op::Undef, []) => {
                if let [MOperand::Virt(slice)] = inst.operands[..] {
                    self.dwords(slice).for_each(|d| state.undefine(Value::Dword(d)));
                }
                Ok(())
            }
            (Op::Order | Op::Mark(_), []) => Ok(()),
            (Op::Copy, lines) => {
                self.copy(state, at, inst, lines.iter().map(|l| &*l.inst))?;
                self.pinned_copy(state, at, inst)
            }
            // The definition of a rematerialised value may have no lines. Its dwords have new values nevertheless,
            // which no location contains yet.
            (Op::Machine(..), []) if self.is_repeated(at) => {
                let written = access::uses(self.f, inst).into_iter().filter(|u| u.write);
                written.for_each(|u| self.dwords(u.slice).for_each(|d| state.forget(Value::Dword(d))));
                Ok(())
            }
            (Op::Machine(desc, mods), [line]) if line.inst.desc == *desc && line.inst.mods == *mods => {
                self.machine(state, at, inst, &line.inst)
            }
            _ => self.fail(at, "the program has another instruction".into()),
        }
    }

    fn machine(&self, state: &mut State, at: At, inst: &MInst, out: &Inst) -> Result<(), VerifyError> {
        if inst.operands.len() != out.operands.len() {
            return self.fail(at, "the program's instruction has another number of operands".into());
        }
        for (want, have) in inst.operands.iter().zip(&out.operands) {
            self.operand(at, *want, *have)?;
            self.pinned(at, *want, *have)?;
        }
        self.overlaps(at, out)?;
        // Instructions that ignore EXEC access all lanes.
        let whole = ignores_exec(out);
        for u in out.reads() {
            for (k, unit) in u.reg.units().enumerate() {
                let value = self.value(inst, u.operand, k, unit);
                let needed = if whole { ALL } else { ACTIVE };
                if state.lanes(Cell::Unit(unit), value) & needed != needed {
                    return self.fail(at, format!("{} does not hold {}", unit.reg(), self.name(value)));
                }
            }
        }
        // Find the saved copies of EXEC before the writes below change the state.
        let marks = exec_marks(state, out);
        let writes = out.writes();
        let mut written: SmallVec<[(RegUnit, Value); 16]> = SmallVec::new();
        for (n, u) in writes.iter().enumerate() {
            if writes[..n].iter().any(|w| w.reg.overlaps(u.reg)) {
                return self.fail(at, format!("{} gets two results", u.reg));
            }
            let named = |(k, unit)| (unit, self.value(inst, u.operand, k, unit));
            written.extend(u.reg.units().enumerate().map(named));
        }
        // Forget all old values before recording any new one, because a result may be in a register that contained the
        // old value of another.
        for &(unit, value) in &written {
            if inst.keeps_dst && !whole && unit.reg().file != RegFile::Sgpr {
                state.change_active(value);
            } else {
                state.forget(value);
            }
        }
        for (unit, value) in written {
            let cell = Cell::Unit(unit);
            if whole || !cell.is_masked() {
                state.clear(cell);
                state.add(cell, value, ALL);
                continue;
            }
            state.overwrite(cell);
            if !inst.keeps_dst {
                state.undefine_inactive(value);
            }
            state.hold_active(cell, value);
        }
        marks.into_iter().for_each(|(unit, mark)| state.add(Cell::Unit(unit), mark, ALL));
        if writes.iter().any(|u| u.reg.overlaps(gcn_isa::reg::EXEC)) {
            state.exec_changed(narrows_exec(out));
        }
        Ok(())
    }

    /// True if the instruction at `at` may be rematerialised elsewhere.
    fn is_repeated(&self, at: At) -> bool {
        self.repeats.contains((self.first[at.block] + at.inst) as u32)
    }

    /// The value that the function names for register `k` of an operand; for an implicit operand, the value of the
    /// register itself.
    fn value(&self, inst: &MInst, operand: Option<u8>, k: usize, unit: RegUnit) -> Value {
        match operand.map(|i| inst.operands[usize::from(i)]) {
            Some(MOperand::Virt(slice)) => {
                Value::Dword(self.dword[slice.reg.0 as usize] + u32::from(slice.start) + k as u32)
            }
            _ => Value::Own(unit),
        }
    }

    fn name(&self, value: Value) -> String {
        match value {
            Value::Dword(d) => {
                let reg = self.register(d);
                format!("dword {} of %{reg}", d - self.dword[reg])
            }
            Value::Own(unit) => format!("the initial {}", unit.reg()),
            Value::Const(bits) => format!("{bits:#x}"),
            Value::Special(code) => format!("hardware value {code}"),
            Value::InitialExec(half) => format!("half {half} of the initial EXEC"),
        }
    }
}

/// True for instructions that may access inactive lanes.
fn ignores_exec(out: &Inst) -> bool {
    use gcn_isa::Class as C;
    let lane = matches!(out.desc.class, C::Readlane | C::Writelane | C::Permlane);
    out.desc.multiplies_matrices() || (lane && !out.desc.does(Behaviours::READS_FIRST_ACTIVE))
}

/// True if every lane that is active after the instruction was active before.
fn narrows_exec(out: &Inst) -> bool {
    // The operand's width does not matter: in waves of 32 lanes EXEC is only the lower half.
    let is_exec = |o: &Operand| matches!(o, Operand::Reg(r) if r.index == gcn_isa::reg::EXEC.index && r.file == RegFile::Sgpr);
    let within =
        |source, behaviour| out.operands.get(source).is_some_and(is_exec) && out.desc.does(behaviour);
    within(1, Behaviours::WITHIN_SOURCE0)
        || within(2, Behaviours::WITHIN_SOURCE1)
        || out.desc.does(Behaviours::NARROWS_EXEC)
        || out.desc.class == gcn_isa::Class::Cmpx
}

/// The registers that contain the initial EXEC after an instruction that saves or moves it, with the values.
fn exec_marks(state: &State, out: &Inst) -> Vec<(RegUnit, Value)> {
    let from = match out.operands.get(1) {
        _ if out.desc.does(Behaviours::SAVES_EXEC) => gcn_isa::reg::EXEC,
        Some(Operand::Reg(reg)) if out.desc.does(Behaviours::MOVES_SCALAR) => *reg,
        _ => return Vec::new(),
    };
    let Some(Operand::Reg(to)) = out.operands.first().copied() else { return Vec::new() };
    let marks = to.units().zip(from.units()).map(|(to, from)| {
        let values = state.values(Cell::Unit(from));
        values
            .into_iter()
            .map(|v| v.0)
            .filter(|v| matches!(v, Value::InitialExec(_)))
            .map(move |v| (to, v))
            .collect::<Vec<_>>()
    });
    marks.flatten().collect()
}
