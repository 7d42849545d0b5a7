//! Finds the registers of the source's variables at each instruction of the finished program, for debug information.
//!
//! A forward data-flow analysis over the control-flow graph determines the values that each register contains on all
//! paths to an instruction. So a value from an earlier iteration of a loop does not count: on the path that enters the
//! loop the register does not contain it. The result of a memory or matrix instruction arrives some time after the
//! instruction issues; it counts from the first instruction that reads it on, since the program waits before that
//! instruction.

use std::ops::Range;

use gcn_emit::kernel::{Piece, PieceAt, Variable, VariableType};
use gcn_isa::Program;
use gcn_isa::cfg::{Cfg, Flow};
use gcn_isa::indexing::Indexing;
use gcn_isa::inst::Inst;
use gcn_isa::program::{Line, SourceLoc};
use gcn_isa::reg::{Reg, RegUnit};
use smallvec::SmallVec;

use crate::ir::named::{Leaf, Named, Shape};
use crate::ir::{self, Place, Type};
use crate::regalloc::values::{Fact, Held, Renamed, Values};
use crate::scalar::Elem;

/// The variables of a kernel, with their registers at each instruction.
pub(super) fn variables(program: &Program, values: &Values, ir: &ir::Kernel) -> Vec<Variable> {
    if ir.debug.names.is_empty() {
        return Vec::new();
    }
    let cfg = Cfg::build(program);
    let indexing = Indexing::of(program, &Flow::of(program));
    let is_indexed = |line| indexing.at(line).is_some();
    if cfg.blocks.iter().any(|b| b.unknown_exit) || (0..program.lines.len()).any(is_indexed) {
        return Vec::new();
    }
    let known = known(program, &cfg, values);
    let positions = program.positions();
    let variable = |(number, named): (usize, &Named)| variable(number, named, ir, values, &known, &positions);
    ir.debug.names.iter().enumerate().filter_map(variable).collect()
}

/// A value that a register contains, or will contain when the result arrives.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Known {
    fact: Fact,
    /// For a variable, the index in this block of the instruction that wrote the value, or 0 if it was written before
    /// the block. Dwords of a variable belong to the same value only if this number is the same.
    written: u32,
    /// True if the value has arrived in the register.
    ready: bool,
}

/// The values that each register contains.
#[derive(Clone, PartialEq)]
struct State(Vec<SmallVec<[Known; 2]>>);

impl State {
    fn new() -> State {
        State(vec![SmallVec::new(); RegUnit::COUNT])
    }

    /// The meet of two paths: keeps the values that are known on both. Returns true if a value was dropped.
    fn meet(&mut self, other: &State) -> bool {
        let mut less = false;
        for (here, there) in self.0.iter_mut().zip(&other.0) {
            here.retain(|known| {
                let also = there.iter().find(|k| k.fact == known.fact);
                let ready = known.ready && also.is_some_and(|k| k.ready);
                less |= also.is_none() || ready != known.ready;
                known.ready = ready;
                also.is_some()
            });
        }
        less
    }

    /// Marks the values of the registers that the instruction reads as arrived. Matrix instructions are excluded, since
    /// a matrix instruction may receive the accumulator from the preceding one before it is in the register.
    fn reads(&mut self, inst: &Inst) {
        if inst.desc.is_matrix() {
            return;
        }
        for unit in inst.reads().iter().flat_map(|u| u.reg.units()) {
            self.0[unit.index()].iter_mut().for_each(|known| known.ready = true);
        }
    }

    fn writes(&mut self, line: &Line, origin: u32, held: &[Held]) {
        let ready = line.inst.desc.is_valu() || line.inst.desc.is_salu();
        for unit in line.inst.writes().iter().flat_map(|u| u.reg.units()) {
            let of = held.iter().find_map(|held| Some((held, position(held.reg, unit)?)));
            let here = &mut self.0[unit.index()];
            let kept =
                of.is_none_or(|(held, k)| held.keeps && here.iter().all(|known| known.fact != held.facts[k]));
            here.clear();
            if let (Some((held, k)), false) = (of, kept) {
                let written = if held.variable { origin } else { 0 };
                here.push(Known { fact: held.facts[k], written, ready });
            }
        }
    }

    fn renames(&mut self, copy: &Renamed) {
        for ((unit, from), to) in copy.to.reg.units().zip(&copy.from).zip(&copy.to.facts) {
            let here = &mut self.0[unit.index()];
            let source = here.iter().find(|known| known.fact == *from).copied();
            here.retain(|known| known.fact != *to);
            if let Some(source) = source {
                let written = if copy.to.variable { copy.number } else { 0 };
                here.push(Known { fact: *to, written, ready: source.ready });
            }
        }
    }

    /// At the end of a block, forgets variables whose dwords were written by different instructions, and resets the
    /// numbers of the writes.
    fn settle(&mut self, wide: &[SmallVec<[Fact; 4]>]) {
        let mut torn: Vec<Fact> = Vec::new();
        for facts in wide {
            let written = facts.iter().map(|fact| self.find(*fact).map(|(_, known)| known.written));
            let mut written: Vec<Option<u32>> = written.collect();
            written.dedup();
            if written.len() != 1 {
                torn.extend(facts);
            }
        }
        for here in &mut self.0 {
            here.retain(|known| !torn.contains(&known.fact));
            here.iter_mut().for_each(|known| known.written = 0);
        }
    }

    fn find(&self, fact: Fact) -> Option<(RegUnit, Known)> {
        let holds = |here: &SmallVec<[Known; 2]>| here.iter().find(|known| known.fact == fact).copied();
        self.0.iter().enumerate().find_map(|(unit, here)| Some((RegUnit::from_index(unit)?, holds(here)?)))
    }
}

/// The index of `unit` among the units of `reg`; `None` if `reg` does not contain it.
fn position(reg: Reg, unit: RegUnit) -> Option<usize> {
    reg.units().position(|u| u == unit)
}

/// The values that have arrived before an instruction, each with its register and the number of its write.
type Holds = Vec<(Fact, RegUnit, u32)>;

fn known(program: &Program, cfg: &Cfg, values: &Values) -> Vec<Holds> {
    let mut before: Vec<Option<State>> = vec![None; cfg.blocks.len()];
    let mut out = vec![Holds::new(); program.lines.len()];
    if let Some(first) = before.first_mut() {
        *first = Some(State::new());
    }
    let mut open = vec![0];
    while let Some(block) = open.pop() {
        let Some(mut state) = before.get(block).cloned().flatten() else { continue };
        let b = &cfg.blocks[block];
        let mut last = 0;
        for (line, out) in program.lines[b.start..b.end].iter().zip(&mut out[b.start..b.end]) {
            let origin = line.origin.map_or(0, std::num::NonZeroU32::get);
            let effect = values.effects.get(&origin);
            // A copy of the IR may become several moves with the same origin number; its effect is applied once.
            if let Some(effect) = effect.filter(|_| origin != last) {
                effect.before.iter().for_each(|copy| state.renames(copy));
            }
            last = origin;
            state.reads(&line.inst);
            *out = holds(&state);
            state.writes(line, origin, effect.map_or(&[], |effect| &effect.writes));
        }
        state.settle(&values.wide);
        for &next in &b.succs {
            let changed = match &mut before[next] {
                Some(known) => known.meet(&state),
                unknown => {
                    *unknown = Some(state.clone());
                    true
                }
            };
            if changed && !open.contains(&next) {
                open.push(next);
            }
        }
    }
    out
}

fn holds(state: &State) -> Holds {
    let all = state.0.iter().enumerate().flat_map(|(unit, here)| {
        let ready = here.iter().filter(|known| known.ready);
        ready.filter_map(move |known| Some((known.fact, RegUnit::from_index(unit)?, known.written)))
    });
    all.collect()
}

fn variable(
    number: usize,
    named: &Named,
    ir: &ir::Kernel,
    values: &Values,
    known: &[Holds],
    positions: &[Option<SourceLoc>],
) -> Option<Variable> {
    if named.leaves.is_empty() || named.leaves.len() != named.shape.leaves() {
        return None;
    }
    let types: Vec<Type> = named.leaves.iter().map(|leaf| type_of(*leaf, ir)).collect();
    let ty = described(&named.shape, &mut types.iter())?;
    let mut locations: Vec<(Range<usize>, Vec<Piece>)> = Vec::new();
    for (line, holds) in known.iter().enumerate().filter(|(line, _)| in_scope(named, positions[*line])) {
        let parts = named.leaves.iter().zip(&types).enumerate();
        let pieces: Vec<Piece> = parts
            .flat_map(|(part, (leaf, ty))| pieces(*leaf, *ty, ir, values, holds, (number, part)))
            .collect();
        if pieces.iter().all(|piece| piece.at.is_none()) {
            continue;
        }
        match locations.last_mut() {
            Some((range, known)) if range.end == line && *known == pieces => range.end += 1,
            _ => locations.push((line..line + 1, pieces)),
        }
    }
    let name = named.name.to_owned();
    (!locations.is_empty()).then_some(Variable { name, at: named.at, end: named.end, ty, locations })
}

/// True if the position is in the scope of the name: after its `let` and before the end of the `let`'s block.
fn in_scope(named: &Named, position: Option<SourceLoc>) -> bool {
    let Some(place) = position.and_then(|place| place.in_frame(named.at.call)) else { return false };
    let at = (place.line, place.column);
    place.file == named.at.file && (named.at.line, named.at.column) < at && at <= named.end
}

fn type_of(leaf: Leaf, ir: &ir::Kernel) -> Type {
    match leaf {
        Leaf::Value(v) => ir.ty(v),
        Leaf::Variable(var) => ir.variables[var.0 as usize],
        Leaf::Constant(_, elem) => Type::uniform(elem),
    }
}

fn described<'t>(shape: &Shape, types: &mut impl Iterator<Item = &'t Type>) -> Option<VariableType> {
    Some(match shape {
        Shape::Value => {
            let ty = types.next()?;
            match (ty.place, ty.elem, ty.count) {
                (Place::Varying, Elem::Bool, 1) => VariableType::Lanes,
                (_, elem, 1) => VariableType::Scalar(elem.name()),
                (_, elem, count) => {
                    VariableType::Array(Box::new(VariableType::Scalar(elem.name())), count.into())
                }
            }
        }
        Shape::Array(of, count) => {
            let mut element = None;
            for _ in 0..*count {
                element = Some(described(of, types)?);
            }
            VariableType::Array(Box::new(element?), *count as u64)
        }
        Shape::Struct(name, fields) => {
            let mut described_fields = Vec::new();
            for (field, shape) in fields {
                described_fields.push((*field, described(shape, types)?));
            }
            VariableType::Struct(name, described_fields)
        }
    })
}

/// The locations of the dwords of one part (a scalar or vector) of a variable.
fn pieces(
    leaf: Leaf,
    ty: Type,
    ir: &ir::Kernel,
    values: &Values,
    holds: &[(Fact, RegUnit, u32)],
    (name, part): (usize, usize),
) -> Vec<Piece> {
    let bytes = if ty.place == Place::Varying && ty.elem == Elem::Bool {
        8
    } else {
        u32::from(ty.count) * ty.elem.bytes()
    };
    let constant = match leaf {
        Leaf::Constant(bits, _) => Some(bits),
        Leaf::Value(v) => ir.constant(v),
        Leaf::Variable(_) => None,
    };
    let of_dword = |at: Option<PieceAt>, dword: u32| Piece { bytes: (bytes - 4 * dword).min(4) as u8, at };
    if let Some(bits) = constant {
        let lanes = ty.elem == Elem::Bool && ty.place == Place::Varying;
        let known = (ty.count == 1 && !lanes).then_some(PieceAt::Constant(bits));
        return vec![Piece { bytes: bytes as u8, at: known }];
    }
    let facts = values.parts.iter().find(|p| (p.name, p.part) == (name, part)).map(|p| &p.facts);
    let found: Option<Vec<(RegUnit, u32)>> = facts.and_then(|facts| {
        let place = |fact: &Fact| holds.iter().find(|h| h.0 == *fact).map(|h| (h.1, h.2));
        facts.iter().map(place).collect()
    });
    // All dwords must have been written by the same instruction.
    let found = found.filter(|found| found.iter().all(|place| place.1 == found[0].1));
    let registers = |dword: u32| {
        found.as_ref().and_then(|found| found.get(dword as usize)).map(|p| PieceAt::Register(p.0))
    };
    (0..bytes.div_ceil(4)).map(|dword| of_dword(registers(dword), dword)).collect()
}
