//! Checks lines that the allocator has inserted: moves between registers, lanes and memory, and rematerialising
//! instructions.
//!
//! A rematerialising line must repeat an instruction of the function that is *available*: it has been executed, and
//! neither its sources nor its result have changed since. This is the classic analysis of available expressions, in
//! which copies are traced to their origin (`State::root`), because a spilled value is often reached through copies.

use gcn_isa::table::{Behaviours, ImplicitRegs as Implicit, MemBytes};
use gcn_isa::{Access, Class, Inst, Operand, RegFile, reg::RegUnit};
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::super::error::VerifyError;
use super::super::moves::Source;
use super::state::State;
use super::value::{ACTIVE, ALL, Cell, Lanes, Value};
use super::{At, Checker};
use crate::mir::{MInst, MOperand, Op};

/// The instructions of the function that a line may repeat, by number.
#[derive(Default)]
pub(super) struct Repeats {
    /// All pure instructions.
    pure: HashSet<u32>,
    /// For each instruction with the same shape as some inserted line, its location.
    at: HashMap<u32, At>,
    /// The same instructions by their shape and, if they have a register source, its first dword, so that the
    /// candidates for a line are found without a search.
    by_source: HashMap<(Shape, Option<u32>), Vec<u32>>,
    /// Instructions whose first register source may be undefined, so that any register contains it.
    with_undefined: HashMap<Shape, Vec<u32>>,
}

/// The properties that a line and the instruction that it repeats must have in common: the table row, and the sources
/// that are not registers.
type Shape = (u16, SmallVec<[Option<Operand>; 4]>);

impl Repeats {
    pub fn contains(&self, number: u32) -> bool {
        self.pure.contains(&number)
    }
}

fn shape_of_line(line: &Inst) -> Shape {
    let source = |o: &Operand| Some(*o).filter(|o| o.reg().is_none());
    (line.desc.id, line.operands.iter().skip(1).map(source).collect())
}

impl Checker<'_> {
    /// Finds the instructions that give the same result whenever their sources are the same.
    pub(super) fn find_repeats(&self) -> Repeats {
        let mut repeats = Repeats::default();
        if self.a.spills.total() == 0 {
            return repeats;
        }
        let (wanted, undefined) = (self.shapes_of_lines(), self.maybe_undefined());
        for (block, b) in self.f.blocks.iter().enumerate() {
            for (i, inst) in b.insts.iter().enumerate() {
                let number = (self.first[block] + i) as u32;
                let [MOperand::Virt(_), ..] = inst.operands[..] else { continue };
                let fixed_reg = |o: &MOperand| matches!(o, MOperand::Fixed(Operand::Reg(_)));
                if inst.keeps_dst || inst.operands.iter().any(fixed_reg) || !self.is_pure(inst) {
                    continue;
                }
                repeats.pure.insert(number);
                let Op::Machine(desc, _) = inst.op else { continue };
                let fixed = |o: &MOperand| match o {
                    MOperand::Virt(_) => None,
                    MOperand::Fixed(fixed) => Some(*fixed),
                };
                let shape = (desc.id, inst.operands.iter().skip(1).map(fixed).collect());
                if !wanted.contains(&shape) {
                    continue;
                }
                let source = inst.operands.iter().skip(1).find_map(|o| match o {
                    MOperand::Virt(s) => self.dwords(*s).next(),
                    MOperand::Fixed(_) => None,
                });
                if source.is_some_and(|d| undefined.contains(&d)) {
                    repeats.with_undefined.entry(shape.clone()).or_default().push(number);
                }
                repeats.by_source.entry((shape, source)).or_default().push(number);
                repeats.at.insert(number, At { block, inst: i });
            }
        }
        repeats
    }

    /// The dwords that are undefined at some point, and their copies.
    fn maybe_undefined(&self) -> HashSet<u32> {
        let mut copies: HashMap<u32, Vec<u32>> = HashMap::new();
        let mut work: Vec<u32> = self.undefined_at_entry();
        for inst in self.f.blocks.iter().flat_map(|b| &b.insts) {
            match (&inst.op, &inst.operands[..]) {
                (Op::Undef, [MOperand::Virt(s)]) => work.extend(self.dwords(*s)),
                (Op::Copy, [MOperand::Virt(dst), MOperand::Virt(src)]) => {
                    let pairs = self.dwords(*src).zip(self.dwords(*dst));
                    pairs.for_each(|(from, to)| copies.entry(from).or_default().push(to));
                }
                _ => {}
            }
        }
        let mut found = HashSet::new();
        while let Some(d) = work.pop() {
            if found.insert(d) {
                work.extend(copies.get(&d).into_iter().flatten());
            }
        }
        found
    }

    /// The shapes of all inserted lines.
    fn shapes_of_lines(&self) -> HashSet<Shape> {
        let (lines, mut shapes, mut from) = (&self.a.program.lines, HashSet::new(), 0);
        let ends = self.a.spans.iter().map(|s| (s.main as usize, s.main_end as usize));
        for (main, end) in ends.chain([(lines.len(), lines.len())]) {
            let between = lines.get(from..main).unwrap_or_default();
            shapes.extend(between.iter().map(|line| shape_of_line(&line.inst)));
            from = end;
        }
        shapes
    }

    /// The dwords that repeatable instructions compute.
    pub(super) fn repeated_results(&self) -> HashSet<u32> {
        let all = self.repeats.at.keys().flat_map(|&number| self.results(number));
        all.filter_map(|value| if let Value::Dword(d) = value { Some(d) } else { None }).collect()
    }

    /// The values that a repeatable instruction computes.
    pub(super) fn results(&self, number: u32) -> impl Iterator<Item = Value> + use<> {
        let inst = self.repeats.at.get(&number).and_then(|at| self.f.blocks[at.block].insts.get(at.inst));
        let dst = inst.and_then(|i| match i.operands.first() {
            Some(MOperand::Virt(s)) => Some(*s),
            _ => None,
        });
        dst.map(|s| self.dwords(s)).into_iter().flatten().map(Value::Dword)
    }

    fn copied_values(&self, src: MOperand) -> Vec<Value> {
        match src {
            MOperand::Virt(s) => self.dwords(s).map(Value::Dword).collect(),
            MOperand::Fixed(fixed) => match Source::of(fixed) {
                Some(Source::Const(bits)) => vec![Value::Const(bits); 32],
                _ => Vec::new(),
            },
        }
    }

    /// True for arithmetic whose result depends only on its operands.
    fn is_pure(&self, inst: &MInst) -> bool {
        match inst.op {
            Op::Machine(desc, mods) => {
                let reads = desc.implicit_reads - Implicit::EXEC - Implicit::MODE;
                matches!(desc.class, Class::Valu | Class::Salu)
                    && desc.implicit_writes.is_empty()
                    && reads.is_empty()
                    && mods.dpp.is_none()
                    && mods.sdwa.is_none()
                    && !desc.keeps_other_half()
                    && !desc.entry.behaviours.intersects(Behaviours::READS_PC | Behaviours::SKIPS_VECTOR)
                    && desc.operands.iter().skip(1).all(|o| o.access == Access::Read)
                    && desc.operands.first().is_some_and(|o| o.access == Access::Write)
            }
            Op::Copy | Op::Undef | Op::Order | Op::Mark(_) => false,
        }
    }

    /// Updates the state after the instruction at `at`: its results have changed, and the instruction itself is
    /// available from here on.
    pub(super) fn note_repeatable(&self, state: &mut State, at: At, inst: &MInst) {
        if self.a.spills.total() == 0 {
            return;
        }
        let roots = self.roots(state, inst);
        // A copy whose destination already has the value changes nothing, so the facts about the destination stay
        // valid.
        let has =
            |&(to, root): &(u32, Value)| root == Value::Dword(to) || root == state.root(Value::Dword(to));
        if !roots.is_empty() && roots.iter().all(has) {
            return;
        }
        let uses = super::access::uses(self.f, inst);
        for u in uses.iter().filter(|u| u.write) {
            for d in self.dwords(u.slice) {
                state.kill(d);
            }
        }
        // A copy that keeps inactive lanes makes its destination equal to the source in the active lanes only. It is
        // therefore recorded as a copy only if the destination's inactive lanes are undefined.
        let whole = !self.keeps_lanes(inst)
            || roots.iter().all(|r| {
                state.is_undefined(Value::Dword(r.0)) || state.marked_undef_inactive(Value::Dword(r.0))
            });
        if whole {
            let kept = |root| roots.iter().all(|r| Value::Dword(r.0) != root);
            roots.iter().filter(|r| kept(r.1)).for_each(|&(to, root)| state.copied(to, root));
        }
        let number = (self.first[at.block] + at.inst) as u32;
        // An instruction that overwrites its own source cannot be repeated.
        let own_source = uses
            .iter()
            .filter(|u| u.read)
            .any(|r| uses.iter().any(|w| w.write && super::access::overlap(r.slice, w.slice)));
        if self.repeats.at.contains_key(&number) && !own_source {
            self.repeatable(state, number);
        }
    }

    /// Records that repeating an instruction would give the same result until one of its dwords changes.
    pub(super) fn repeatable(&self, state: &mut State, number: u32) {
        let Some(at) = self.repeats.at.get(&number) else { return };
        let operands = &self.f.blocks[at.block].insts[at.inst].operands;
        let dwords = operands.iter().filter_map(|o| match o {
            MOperand::Virt(s) => Some(self.dwords(*s)),
            MOperand::Fixed(_) => None,
        });
        state.repeatable_while(number, dwords.flatten());
    }

    /// The dwords that a copy writes, each with the value of which the dword is ultimately a copy.
    fn roots(&self, state: &State, inst: &MInst) -> SmallVec<[(u32, Value); 4]> {
        match inst.operands[..] {
            [MOperand::Virt(dst), src] if inst.op == Op::Copy => {
                let values = self.copied_values(src).into_iter();
                self.dwords(dst).zip(values.map(|v| state.root(v))).collect()
            }
            _ => SmallVec::new(),
        }
    }

    /// True if the instruction keeps the inactive lanes of its result. Only vector results can be kept.
    fn keeps_lanes(&self, inst: &MInst) -> bool {
        let vector =
            |o: &MOperand| matches!(o, MOperand::Virt(s) if self.f.info(s.reg).file != RegFile::Sgpr);
        inst.keeps_dst && inst.operands.first().is_some_and(vector)
    }

    /// Adds copies of the values: a location that contains a value also contains its copies.
    pub(super) fn add_repeated_copies(&self, state: &State, values: &mut SmallVec<[(Value, Lanes); 2]>) {
        for i in 0..values.len() {
            let (value, lanes) = values[i];
            for &dst in state.copies_of(value) {
                let copy = Value::Dword(dst);
                // A location that contains a constant also contains the dwords that equal the constant.
                if state.constant(copy).is_some_and(|bits| value == Value::Const(bits)) {
                    continue;
                }
                if !values.iter().any(|v| v.0 == copy) {
                    // EXEC does not mask scalars.
                    let scalar = self.file_of(dst) == RegFile::Sgpr;
                    values.push((copy, if scalar { ALL } else { lanes & ACTIVE }));
                }
            }
        }
    }

    /// Executes one inserted line.
    pub(super) fn spill(&self, state: &mut State, at: At, line: &Inst) -> Result<(), VerifyError> {
        if self.plain_move(state, at, line)? {
            return Ok(());
        }
        match (line.desc.class, line.desc.mem_bytes) {
            (Class::Writelane | Class::Readlane, _) if !line.desc.does(Behaviours::READS_FIRST_ACTIVE) => {
                self.lane(state, at, line)
            }
            (Class::ScratchStore | Class::ScratchLoad, _) => self.memory(state, at, line),
            (Class::LdsWrite | Class::LdsRead, MemBytes::Bytes(4)) => self.lds(state, at, line),
            _ => self.repeat(state, at, line),
        }
    }

    fn lane(&self, state: &mut State, at: At, line: &Inst) -> Result<(), VerifyError> {
        let number = |o: Operand| match Source::of(o) {
            Some(Source::Const(bits)) if bits < 64 => Some(bits as u8),
            _ => None,
        };
        let [Operand::Reg(to), Operand::Reg(from), lane] = line.operands[..] else {
            return self.fail(at, "a lane is moved from or to something strange".into());
        };
        let (Some(lane), Some(to), Some(from)) = (number(lane), to.units().next(), from.units().next())
        else {
            return self.fail(at, "a lane without a number is moved".into());
        };
        let (cell, source) = match line.desc.class {
            Class::Writelane => (Cell::Lane(to, lane), Cell::Unit(from)),
            _ => (Cell::Unit(to), Cell::Lane(from, lane)),
        };
        let values = state.values(source);
        state.transfer(cell, &values);
        Ok(())
    }

    /// Executes an access to the scratch frame.
    fn memory(&self, state: &mut State, at: At, line: &Inst) -> Result<(), VerifyError> {
        let Some(first) = self.frame_dword(state, line) else {
            return self.fail(at, format!("{} has an address that is not known", line.desc.printed));
        };
        let dwords = matches!(line.desc.mem_bytes, MemBytes::Bytes(bytes) if bytes.is_multiple_of(4));
        let store = dwords && line.desc.class == Class::ScratchStore;
        let load = dwords && line.desc.class == Class::ScratchLoad;
        let plain = gcn_isa::Mods { offset: 0, ..line.mods } == line.desc.default_mods();
        let data = line.operand(if store { "vdata" } else { "vdst" }).and_then(Operand::reg);
        let Some(data) = data.filter(|d| plain && (store || load) && d.file != RegFile::Sgpr) else {
            return self.fail(at, format!("{} is not a plain access to the frame", line.desc.printed));
        };
        let tuple = data.len > 1 && self.f.target.needs_even_vgpr_tuples();
        if tuple && !data.index.is_multiple_of(2) {
            return self.fail(at, format!("{} of an odd tuple", line.desc.printed));
        }
        let (from, end) = (self.a.spills.first_byte / 4, self.a.spills.frame_bytes / 4);
        if first < from || first + u32::from(data.len) > end {
            return self.fail(at, "a dword outside the frame is used".into());
        }
        for (k, unit) in data.units().enumerate() {
            let (unit, frame) = (Cell::Unit(unit), Cell::Frame(first + k as u32));
            let (to, from) = if store { (frame, unit) } else { (unit, frame) };
            let values = state.values(from);
            state.transfer(to, &values);
        }
        Ok(())
    }

    /// Executes an access to an LDS slot at the lane's own address.
    fn lds(&self, state: &mut State, at: At, line: &Inst) -> Result<(), VerifyError> {
        let store = line.desc.class == Class::LdsWrite;
        let reg = |name| line.operand(name).and_then(Operand::reg).and_then(|r| r.units().next());
        let (address, data) = (reg("addr"), reg(if store { "data0" } else { "vdst" }));
        let plain = gcn_isa::Mods { offset: 0, ..line.mods } == line.desc.default_mods();
        let (Some(lds), Some(address), Some(data), true) = (self.a.spills.lds, address, data, plain) else {
            return self.fail(at, format!("{} is not a plain access to a slot of LDS", line.desc.printed));
        };
        let lane = self.dword.get(lds.address.0 as usize).map(|&d| Value::Dword(d));
        if lane.is_none_or(|lane| state.lanes(Cell::Unit(address), lane) & ACTIVE == 0) {
            return self.fail(at, format!("{} has an address that is not known", line.desc.printed));
        }
        let offset = line.mods.offset as u32;
        let Some(slot) = (0..lds.room.slots).find(|&slot| lds.room.offset(slot) == offset) else {
            return self.fail(at, "a dword of LDS outside the slots is used".into());
        };
        let (unit, slot) = (Cell::Unit(data), Cell::Lds(slot));
        let (to, from) = if store { (slot, unit) } else { (unit, slot) };
        let values = state.values(from);
        state.transfer(to, &values);
        Ok(())
    }

    /// The dword of the frame that an access addresses; `None` if the access is not to the frame.
    fn frame_dword(&self, state: &State, line: &Inst) -> Option<u32> {
        if line.operand("vaddr")? != Operand::Off {
            return None;
        }
        let base = match line.operand("saddr")? {
            Operand::Off => 0,
            Operand::Reg(reg) => {
                let unit: RegUnit = reg.units().next()?;
                let constant = |v: &(Value, Lanes)| match v.0 {
                    Value::Const(bits) => Some(bits),
                    _ => None,
                };
                state.values(Cell::Unit(unit)).iter().find_map(constant)?
            }
            _ => return None,
        };
        let byte = base.checked_add_signed(line.mods.offset)?;
        byte.is_multiple_of(4).then_some(byte / 4)
    }

    /// Executes a line that repeats an instruction of the function. The result is that of the instruction if the
    /// sources are.
    fn repeat(&self, state: &mut State, at: At, line: &Inst) -> Result<(), VerifyError> {
        let Some(Operand::Reg(to)) = line.operands.first().copied() else {
            return self.fail(at, format!("{} is none of the function", line.desc.printed));
        };
        let source = line.operands.iter().skip(1).find_map(|o| o.reg()?.units().next());
        let sources: SmallVec<[Option<u32>; 4]> = match source {
            Some(unit) => state.dwords(Cell::Unit(unit)).into_iter().map(Some).collect(),
            None => SmallVec::from_iter([None]),
        };
        let shape = shape_of_line(line);
        let candidates =
            sources.iter().filter_map(|s| self.repeats.by_source.get(&(shape.clone(), *s))).flatten();
        let mut results: Vec<SmallVec<[(Value, Lanes); 2]>> = vec![SmallVec::new(); usize::from(to.len)];
        let mut known = false;
        let loose = self.repeats.with_undefined.get(&shape).into_iter().flatten();
        let repeatable = |n: &&u32| state.repeatable.contains(*n);
        let mut numbers: SmallVec<[u32; 4]> = candidates.chain(loose).filter(repeatable).copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in &numbers {
            let Some(place) = self.repeats.at.get(number) else { continue };
            let inst = &self.f.blocks[place.block].insts[place.inst];
            if !self.same_sources(state, inst, line) {
                continue;
            }
            known = true;
            if let MOperand::Virt(dst) = inst.operands[0] {
                for (list, d) in results.iter_mut().zip(self.dwords(dst)) {
                    list.push((Value::Dword(d), if to.file == RegFile::Sgpr { ALL } else { ACTIVE }));
                }
            }
        }
        if !known {
            return self
                .fail(at, format!("{} repeats no instruction whose sources are there", line.desc.printed));
        }
        for (unit, mut values) in to.units().zip(results) {
            self.add_repeated_copies(state, &mut values);
            state.transfer(Cell::Unit(unit), &values);
        }
        Ok(())
    }

    fn same_sources(&self, state: &State, inst: &MInst, line: &Inst) -> bool {
        let Op::Machine(desc, mods) = inst.op else { return false };
        desc == line.desc
            && mods == line.mods
            && inst.operands.iter().zip(&line.operands).skip(1).all(|(want, have)| match (want, have) {
                (MOperand::Virt(s), Operand::Reg(reg)) => {
                    usize::from(s.len) == reg.units().count()
                        && self
                            .dwords(*s)
                            .zip(reg.units())
                            .all(|(d, unit)| state.lanes(Cell::Unit(unit), Value::Dword(d)) & ACTIVE != 0)
                }
                (MOperand::Fixed(fixed), have) => fixed == have,
                _ => false,
            })
    }
}
