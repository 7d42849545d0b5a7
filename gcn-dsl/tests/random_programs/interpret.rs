//! The meaning of a program: an interpreter over the lanes of a workgroup, in plain Rust.
//!
//! It rejects programs whose meaning the language leaves open: those with races, uninitialised LDS, barriers that not
//! all waves reach, and those that [`bits`](super::bits) rejects.

use gcn_dsl::ir::{Bin, Pred};
use gcn_dsl::scalar::Elem;
use gcn_isa::target::WaveSize;

use super::ast::{
    Expr, Fetch, INPUT_LEN, Id, LDS_LEN, Op, POINTED, PRIVATE_LEN, Program, Range, SHARED, SHARED_LEN, Shape,
    Stmt, Ty,
};
use super::bits::{self, Unspecified};
use super::cells::host_step;
use super::data::{Data, Results};
use super::shapes::host_passed;
use super::typing;

/// The active lanes of the workgroup.
type Mask = u128;
/// A value for each lane.
type Lanes = Vec<u64>;
type Result<T> = std::result::Result<T, Unspecified>;

/// The maximum number of executed statements and expressions, so that an endless program is rejected as well.
const STEPS: u32 = 6_000;

/// An element of an LDS array, and the lanes that have accessed it since the last barrier.
#[derive(Clone, Copy, Default)]
struct Cell {
    value: u64,
    initialised: bool,
    writer: Option<u32>,
    /// The lanes that have read the element: none, one, or several.
    reader: Option<Option<u32>>,
    /// The kind of atomic operations on the element.
    atomic: Option<Fetch>,
}

struct Group<'p> {
    program: &'p Program,
    data: &'p Data,
    results: &'p mut Results,
    group: u32,
    /// The number of lanes in a wave.
    wave: usize,
    vars: Vec<Lanes>,
    /// For each immutable variable, the lanes that its declaration gave a value when it was executed last.
    given: Vec<Mask>,
    lds: Vec<Vec<Cell>>,
    /// The elements for each private array and lane.
    private: Vec<Vec<[u64; PRIVATE_LEN as usize]>>,
    /// The variant and its fields, for each variable with parts and each lane.
    objects: Vec<Vec<(usize, Vec<u64>)>>,
    steps: u32,
    /// For each enclosing loop, the lanes that have left the loop and those that have left its current trip.
    left: Vec<[Mask; 2]>,
    seen: &'p mut Seen,
}

/// The values that variables take, by variable and lane of the grid.
pub type Seen = Vec<Vec<Vec<u64>>>;

/// Runs the program on its data in waves of 64 lanes.
pub fn run(program: &Program, data: &Data) -> Result<Results> {
    run_in(WaveSize::W64, program, data)
}

/// Runs the program on its data in waves of this size.
pub fn run_in(wave: WaveSize, program: &Program, data: &Data) -> Result<Results> {
    watched(wave, program, data).map(|(results, _)| results)
}

/// As [`run_in`], but also returns the values that the variables take.
pub fn watched(wave: WaveSize, program: &Program, data: &Data) -> Result<(Results, Seen)> {
    let mut results = data.results.clone();
    let mut seen = vec![vec![Vec::new(); program.lanes() as usize]; program.vars.len()];
    for group in 0..program.groups {
        let lanes = program.workgroup as usize;
        let mut group = Group {
            program,
            data,
            results: &mut results,
            group,
            wave: wave.lanes() as usize,
            vars: vec![vec![0; lanes]; program.vars.len()],
            given: vec![0; program.vars.len()],
            lds: vec![vec![Cell::default(); LDS_LEN as usize]; program.lds.len()],
            private: vec![vec![Default::default(); lanes]; program.private.len()],
            objects: vec![vec![(0, Vec::new()); lanes]; program.objects.len()],
            steps: STEPS / program.groups,
            left: Vec::new(),
            seen: &mut seen,
        };
        let all = if lanes == 128 { Mask::MAX } else { (1 << lanes) - 1 };
        _ = group.block(&program.body, all)?;
    }
    Ok((results, seen))
}

fn lanes_of(mask: Mask) -> impl Iterator<Item = usize> {
    (0..128).filter(move |l| mask >> l & 1 != 0)
}

impl Group<'_> {
    fn all(&self) -> Mask {
        if self.program.workgroup == 128 { Mask::MAX } else { (1 << self.program.workgroup) - 1 }
    }

    fn step(&mut self) -> Result<()> {
        self.steps = self.steps.checked_sub(1).ok_or(Unspecified("it does not end"))?;
        Ok(())
    }

    /// Executes statements. Returns the lanes that reach their end.
    fn block(&mut self, stmts: &[Stmt], mut mask: Mask) -> Result<Mask> {
        for stmt in stmts {
            if mask == 0 {
                break;
            }
            mask = self.stmt(stmt, mask)?;
        }
        Ok(mask)
    }

    /// Executes one trip of a loop. Returns the lanes that make another one if the condition allows it, and those that
    /// returned.
    fn trip(&mut self, body: &[Stmt], mask: Mask) -> Result<[Mask; 2]> {
        self.left.push([0; 2]);
        let past = self.block(body, mask)?;
        let [whole, trip] = self.left.pop().unwrap_or_default();
        Ok([past | trip, whole])
    }

    /// Executes a statement. Returns the lanes that reach its end.
    fn stmt(&mut self, stmt: &Stmt, mask: Mask) -> Result<Mask> {
        self.step()?;
        match stmt {
            Stmt::Let { var, init } => {
                let value = self.eval(init, mask)?;
                self.write(*var, &value, mask);
                self.given[*var] = if self.program.vars[*var].mutable { 0 } else { mask };
            }
            Stmt::Set { var, op, value } => {
                let value = match op {
                    Some(op) => {
                        let old = Expr::leaf(Op::Var(*var));
                        self.eval(&Expr::bin(*op, old, value.clone()), mask)?
                    }
                    None => self.eval(value, mask)?,
                };
                self.write(*var, &value, mask);
            }
            Stmt::Store { elem, slot, value } => {
                let value = self.eval(value, mask)?;
                for lane in lanes_of(mask) {
                    let own = self.own(lane, *slot);
                    self.results.outputs[*elem as usize][own] = value[lane];
                }
            }
            Stmt::LdsStore { array, index, value } => {
                let (index, value) = (self.eval(index, mask)?, self.eval(value, mask)?);
                for lane in lanes_of(mask) {
                    let cell = self.cell(*array, index[lane])?;
                    let others = |l: u32| l != lane as u32;
                    if cell.writer.is_some_and(others)
                        || cell.reader.is_some_and(|r| r.is_none_or(others))
                        || cell.atomic.is_some()
                    {
                        return Err(Unspecified("a race in LDS"));
                    }
                    *cell =
                        Cell { value: value[lane], initialised: true, writer: Some(lane as u32), ..*cell };
                }
            }
            Stmt::Shared { elem, index, value } => {
                let (index, value) = (self.eval(index, mask)?, self.eval(value, mask)?);
                let k = SHARED.iter().position(|e| e == elem).ok_or(Unspecified("no such slice"))?;
                for lane in lanes_of(mask) {
                    if let Some(i) = in_bounds(index[lane], *elem, SHARED_LEN) {
                        let old = &mut self.results.shared[k][i];
                        *old = fetch(self.program.shared[k], *elem, *old, value[lane]);
                    }
                }
            }
            Stmt::LdsAtomic { array, op, index, value } => {
                let (index, value) = (self.eval(index, mask)?, self.eval(value, mask)?);
                let elem = self.program.lds[*array];
                for lane in lanes_of(mask) {
                    let cell = self.cell(*array, index[lane])?;
                    let plain = cell.writer.is_some() || cell.reader.is_some();
                    if plain || cell.atomic.is_some_and(|a| a != *op) || !cell.initialised {
                        return Err(Unspecified("a race in LDS"));
                    }
                    cell.atomic = Some(*op);
                    cell.value = fetch(*op, elem, cell.value, value[lane]);
                }
            }
            Stmt::PrivateStore { array, index, value, .. } => {
                let (index, value) = (self.eval(index, mask)?, self.eval(value, mask)?);
                for lane in lanes_of(mask) {
                    *self.element(*array, index[lane], lane)? = value[lane];
                }
            }
            Stmt::Match { value, arms, bodies } => {
                let elem = typing::ty(self.program, value).map_or(Elem::U32, |t| t.elem);
                let value = self.eval(value, mask)?;
                let (mut open, mut past) = (mask, 0);
                for ((low, high), body) in arms.iter().zip(bodies) {
                    let is = |l: &usize| {
                        (number(elem, *low)..=number(elem, *high)).contains(&number(elem, value[*l]))
                    };
                    let taken = lanes_of(open).filter(is).fold(0, |m: Mask, l| m | 1 << l);
                    open &= !taken;
                    past |= self.block(body, taken)?;
                }
                return Ok(past | self.block(&bodies[arms.len()], open)?);
            }
            Stmt::If { cond, then, els } => {
                let taken = self.mask(cond, mask)?;
                return Ok(self.block(then, taken)? | self.block(els, mask & !taken)?);
            }
            Stmt::While { cond, body } => {
                let (mut running, mut past) = (mask, 0);
                while running != 0 {
                    self.step()?;
                    let taken = self.mask(cond, running)?;
                    past |= running & !taken;
                    let [again, whole] = self.trip(body, taken)?;
                    (running, past) = (again, past | whole);
                }
                return Ok(past);
            }
            Stmt::Loop { body } => {
                let (mut running, mut past) = (mask, 0);
                while running != 0 {
                    self.step()?;
                    let [again, whole] = self.trip(body, running)?;
                    (running, past) = (again, past | whole);
                }
                return Ok(past);
            }
            Stmt::For { var, range, start, end, body } => {
                return self.for_loop(*var, *range, [start, end], body, mask);
            }
            Stmt::Break(n) | Stmt::Continue(n) => {
                let at = self.left.len() - 1 - n;
                self.left[at][usize::from(matches!(stmt, Stmt::Continue(_)))] |= mask;
                return Ok(0);
            }
            Stmt::Return => return Ok(0),
            Stmt::Unroll { var, n, body } => {
                for k in 0..*n {
                    let value = vec![u64::from(k); self.program.workgroup as usize];
                    self.write(*var, &value, mask);
                    _ = self.block(body, mask)?;
                }
            }
            Stmt::Object { object, cond, made, .. } => {
                let taken = cond.as_ref().map_or(Ok(mask), |c| self.mask(c, mask))?;
                for ((variant, fields), mask) in made.iter().zip([taken, mask & !taken]) {
                    let fields: Vec<Lanes> =
                        fields.iter().map(|e| self.eval(e, mask)).collect::<Result<_>>()?;
                    for lane in lanes_of(mask) {
                        let fields = fields.iter().map(|f| f[lane]).collect();
                        self.objects[*object][lane] = (*variant, fields);
                    }
                }
            }
            Stmt::SetMember { object, field, value } => {
                let value = self.eval(value, mask)?;
                lanes_of(mask).for_each(|lane| self.objects[*object][lane].1[*field] = value[lane]);
            }
            Stmt::Each { object, op, value } => {
                let elem = self.program.objects[*object].variants()[0][0];
                for k in 0..3 {
                    let value = self.eval(value, mask)?;
                    for lane in lanes_of(mask) {
                        let old = &mut self.objects[*object][lane].1[k];
                        *old = bits::bin(*op, elem, *old, value[lane])?;
                    }
                }
            }
            Stmt::Take { object, vars, bodies } => {
                // The value is read once, because bodies may change the variable.
                let whole = self.objects[*object].clone();
                let mut past = 0;
                for (variant, (vars, body)) in vars.iter().zip(bodies).enumerate() {
                    let is = |l: &usize| whole[*l].0 == variant;
                    let taken = lanes_of(mask).filter(is).fold(0, |m: Mask, l| m | 1 << l);
                    for lane in lanes_of(taken) {
                        vars.iter().zip(&whole[lane].1).for_each(|(var, x)| self.set(*var, lane, *x));
                    }
                    past |= self.block(body, taken)?;
                }
                return Ok(past);
            }
            Stmt::Step { object, twice, var, by } => {
                let by = self.eval(by, mask)?;
                let is_cell = self.program.objects[*object] == Shape::Cell;
                for lane in lanes_of(mask) {
                    let pair = &mut self.objects[*object][lane].1;
                    let mut step = |by: u32| {
                        if is_cell {
                            return host_step(pair, by);
                        }
                        let old = pair[0] as u32;
                        pair[0] = u64::from(old.wrapping_mul(5).wrapping_add(by));
                        pair[1] ^= if old > by { 0x8000_0000 } else { 0 };
                        old
                    };
                    let by = by[lane] as u32;
                    let first = step(by);
                    let value = u64::from(if *twice { first ^ step(by.wrapping_add(1)) } else { first });
                    self.set(*var, lane, value);
                }
            }
            Stmt::Later { var, cond, bodies, values } => {
                let taken = self.mask(cond, mask)?;
                for ((body, value), mask) in bodies.iter().zip(values).zip([taken, mask & !taken]) {
                    _ = self.block(body, mask)?;
                    let value = self.eval(value, mask)?;
                    self.write(*var, &value, mask);
                }
            }
            Stmt::Barrier => {
                if mask != self.all() {
                    return Err(Unspecified("not all waves reach a barrier"));
                }
                for cell in self.lds.iter_mut().flatten() {
                    *cell = Cell { writer: None, reader: None, atomic: None, ..*cell };
                }
            }
        }
        Ok(mask)
    }

    fn for_loop(
        &mut self,
        var: usize,
        range: Range,
        ends: [&Expr; 2],
        body: &[Stmt],
        mask: Mask,
    ) -> Result<Mask> {
        let (start, end) = (self.eval(ends[0], mask)?, self.eval(ends[1], mask)?);
        let elem = self.program.vars[var].ty.elem;
        let number = |bits: u64| number(elem, bits);
        let step = i128::from(range.step.unwrap_or(1));
        // The counter is computed from the trip number, so that it cannot overflow.
        let at = |lane: usize, trip: i128| {
            let (first, last) = (number(start[lane]), number(end[lane]) - i128::from(!range.inclusive));
            let at = if range.reversed { last - trip * step } else { first + trip * step };
            (first <= at && at <= last).then_some(at)
        };
        let (mut running, mut past) = (mask, 0);
        for trip in 0.. {
            self.step()?;
            let taken = lanes_of(running).filter(|l| at(*l, trip).is_some()).fold(0, |m: Mask, l| m | 1 << l);
            past |= running & !taken;
            if taken == 0 {
                break;
            }
            let bits = u64::MAX >> (64 - 8 * elem.bytes());
            let counter: Lanes =
                (0..start.len()).map(|l| at(l, trip).map_or(0, |at| at as u64 & bits)).collect();
            self.write(var, &counter, taken);
            let [again, whole] = self.trip(body, taken)?;
            (running, past) = (again, past | whole);
        }
        Ok(past)
    }

    fn write(&mut self, var: usize, value: &Lanes, mask: Mask) {
        lanes_of(mask).for_each(|lane| self.set(var, lane, value[lane]));
    }

    fn set(&mut self, var: usize, lane: usize, value: u64) {
        self.vars[var][lane] = value;
        let seen = &mut self.seen[var][(self.group * self.program.workgroup) as usize + lane];
        if seen.last() != Some(&value) {
            seen.push(value);
        }
    }

    fn own(&self, lane: usize, slot: u32) -> usize {
        (self.group * self.program.workgroup + slot * self.program.lanes()) as usize + lane
    }

    fn some(&self, object: usize, lane: usize) -> Option<u64> {
        let (variant, fields) = &self.objects[object][lane];
        let value = usize::from(matches!(self.program.objects[object], Shape::Option(_)));
        fields.first().copied().filter(|_| *variant == value)
    }

    fn cell(&mut self, array: usize, index: u64) -> Result<&mut Cell> {
        self.lds[array].get_mut(index as usize).ok_or(Unspecified("an LDS index past the end"))
    }

    fn element(&mut self, array: usize, index: u64, lane: usize) -> Result<&mut u64> {
        let array = &mut self.private[array][lane];
        array.get_mut(index as usize).ok_or(Unspecified("a private index past the end"))
    }

    fn mask(&mut self, cond: &Expr, mask: Mask) -> Result<Mask> {
        let value = self.eval(cond, mask)?;
        Ok(lanes_of(mask).filter(|l| value[*l] != 0).fold(0, |m, l| m | 1 << l))
    }

    /// The value for each lane in `mask`; undefined in other lanes.
    fn eval(&mut self, e: &Expr, mask: Mask) -> Result<Lanes> {
        self.step()?;
        if e.op == Op::If {
            let taken = self.mask(&e.args[0], mask)?;
            let (then, els) = (self.eval(&e.args[1], taken)?, self.eval(&e.args[2], mask & !taken)?);
            return Ok((0..then.len()).map(|l| if taken >> l & 1 != 0 { then[l] } else { els[l] }).collect());
        }
        if let Op::And | Op::Or = e.op {
            let left = self.mask(&e.args[0], mask)?;
            let and = e.op == Op::And;
            // The right side is evaluated only where the left side does not decide.
            let right = self.mask(&e.args[1], if and { left } else { mask & !left })?;
            let holds = if and { right } else { left | right };
            return Ok((0..self.program.workgroup).map(|l| (holds >> l & 1) as u64).collect());
        }
        let args: Vec<Lanes> = e.args.iter().map(|a| self.eval(a, mask)).collect::<Result<_>>()?;
        let mut out = vec![0; self.program.workgroup as usize];
        match e.op {
            Op::Ballot
            | Op::Any
            | Op::All
            | Op::ReadFirst
            | Op::ReadLane
            | Op::Shuffle
            | Op::ShuffleXor(_) => {
                self.across(e, &args, mask, &mut out)?;
            }
            Op::Reduce(op) | Op::Scan(op, _) => {
                let elem = typing::ty(self.program, &e.args[0]).map_or(Elem::U32, |t| t.elem);
                for lane in lanes_of(mask) {
                    out[lane] = joined(e.op, op, elem, (lane, self.wave), mask, &args[0])?;
                }
            }
            _ => {
                let types: Vec<Ty> = e.args.iter().filter_map(|a| typing::ty(self.program, a)).collect();
                for lane in lanes_of(mask) {
                    let x: Vec<u64> = args.iter().map(|a| a[lane]).collect();
                    out[lane] = self.scalar(e.op, lane, &x, types.first().map_or(Elem::Bool, |t| t.elem))?;
                }
            }
        }
        Ok(out)
    }

    fn scalar(&mut self, op: Op, lane: usize, x: &[u64], elem: Elem) -> Result<u64> {
        let local = lane as u32;
        let id = |i: u32| Ok(u64::from(i));
        match op {
            Op::Lit(_, bits) => Ok(bits),
            Op::Var(v) => Ok(self.vars[v][lane]),
            Op::Arg(t) => Ok(self.data.args[t as usize]),
            Op::Id(Id::Local) => id(local),
            Op::Id(Id::Global) => id(self.group * self.program.workgroup + local),
            Op::Id(Id::Lane) => id(local % self.wave as u32),
            Op::Id(Id::Wave) => id(local / self.wave as u32),
            Op::Id(Id::Group) => id(self.group),
            Op::In(t) | Op::Uniform(t) => {
                let input = &self.data.inputs[t as usize];
                Ok(in_bounds(x[0], t, input.len() as u32).map_or(0, |i| input[i]))
            }
            Op::Part(t, n) => {
                let (start, index) = (x[0] as u32, x[1]);
                let end = start.saturating_add(n).min(INPUT_LEN);
                let inside = in_bounds(index, t, end.saturating_sub(start));
                Ok(inside.map_or(0, |i| self.data.inputs[t as usize][i + start as usize]))
            }
            Op::Wide(t, _, k) => {
                let element = (x[0] as usize).checked_add(k as usize);
                Ok(element.and_then(|i| self.data.inputs[t as usize].get(i)).copied().unwrap_or(0))
            }
            Op::IsSome(object) => Ok(self.some(object, lane).is_some().into()),
            Op::UnwrapOr(object) => Ok(self.some(object, lane).unwrap_or(x[0])),
            Op::MapOr(object, op) => match self.some(object, lane) {
                Some(v) => bits::bin(op, elem, v, x[1]),
                None => Ok(x[0]),
            },
            Op::Member(object, field) => Ok(self.objects[object][lane].1[field]),
            Op::Pointed(object) => {
                let (start, index) = (self.objects[object][lane].1[0] & 63, x[0] & 63);
                let shape = self.program.objects[object];
                let of = POINTED.iter().position(|t| shape == Shape::Pointer(*t));
                Ok(self.data.pointed[of.ok_or(Unspecified("no such pointer"))?][(start + index) as usize])
            }
            Op::Peek(object) => match &self.objects[object][lane].1[..] {
                [low, wide] if self.program.objects[object] == Shape::Cell => {
                    Ok((low ^ wide) & u64::from(u32::MAX))
                }
                [_, level] if bits::is_nan(Elem::F32, *level) => Err(Unspecified("the bits of a NaN")),
                fields => Ok(fields[0] ^ fields[1]),
            },
            Op::Passed(object) => {
                let error = self.objects[object][lane].1[0] as i32;
                let from = self.some(object, lane).map(|x| x as u32).ok_or(error);
                Ok(host_passed(from, x[0] as u32).into())
            }
            Op::Again(op) => bits::bin(op, elem, bits::bin(op, elem, x[0], x[1])?, x[1]),
            Op::Either(op) => match bits::compare(Pred::Gt, elem, x[0], x[1]) {
                true => bits::bin(op, elem, x[0], x[1]),
                false => Ok(x[2]),
            },
            Op::Table(t, log) => Ok(bits::table_bits(t, x[0] as u32 & ((1 << log) - 1))),
            Op::Own(t, slot) => Ok(self.results.outputs[t as usize][self.own(lane, slot)]),
            Op::Lds(array) => self.lds_load(array, x[0], local),
            Op::Private(array) => self.element(array, x[0], lane).copied(),
            Op::Un(op) => Ok(bits::un(op, elem, x[0])),
            Op::Bin(op) => bits::bin(op, elem, x[0], x[1]),
            Op::Cmp(pred) => Ok(u64::from(bits::compare(pred, elem, x[0], x[1]))),
            Op::Select => Ok(if x[0] != 0 { x[1] } else { x[2] }),
            Op::MulAdd => Ok(bits::mul_add(elem, x[0], x[1], x[2])),
            Op::Cast(to) => Ok(bits::cast(elem, to, x[0])),
            Op::Bits(_) if bits::is_nan(elem, x[0]) => Err(Unspecified("the bits of a NaN")),
            // It could be a signalling NaN, for which `min` and `max` have special rules.
            Op::Bits(to) if bits::is_nan(to, x[0]) => Err(Unspecified("a NaN made of bits")),
            Op::Bits(_) | Op::Splat => Ok(x[0]),
            _ => unreachable!("{op:?} is not of one lane"),
        }
    }

    fn lds_load(&mut self, array: usize, index: u64, lane: u32) -> Result<u64> {
        let cell = self.cell(array, index)?;
        if !cell.initialised {
            return Err(Unspecified("uninitialised LDS"));
        }
        if cell.writer.is_some_and(|l| l != lane) || cell.atomic.is_some() {
            return Err(Unspecified("a race in LDS"));
        }
        cell.reader = match cell.reader {
            None => Some(Some(lane)),
            Some(Some(l)) if l == lane => Some(Some(lane)),
            Some(_) => Some(None),
        };
        Ok(cell.value)
    }

    /// Operations that read other lanes of the wave.
    fn across(&self, e: &Expr, args: &[Lanes], mask: Mask, out: &mut Lanes) -> Result<()> {
        let x = &args[0];
        // What `read_lane` may read beside active lanes: a variable that the lane was given before it became inactive.
        let kept = |l: usize| match e.args[0].op {
            Op::Var(var) if self.given[var] >> l & 1 != 0 => Some(self.vars[var][l]),
            _ => None,
        };
        for lane in lanes_of(mask) {
            let base = lane / self.wave * self.wave;
            let active = |l: usize| mask >> l & 1 != 0;
            let mut wave = (base..base + self.wave).filter(|l| active(*l));
            let from = |l: u64| base + l as usize % self.wave;
            let other = |k: u32| from((lane - base) as u64 ^ u64::from(k));
            out[lane] = match e.op {
                Op::Ballot => wave.filter(|l| x[*l] != 0).fold(0, |m, l| m | 1 << (l - base)),
                Op::Any => u64::from(wave.any(|l| x[l] != 0)),
                Op::All => u64::from(wave.all(|l| x[l] != 0)),
                Op::ReadFirst => wave.next().map_or(0, |l| x[l]),
                Op::ReadLane if active(from(args[1][lane])) => x[from(args[1][lane])],
                Op::ReadLane => {
                    kept(from(args[1][lane])).ok_or(Unspecified("the value of an inactive lane"))?
                }
                Op::Shuffle if active(from(args[1][lane])) => x[from(args[1][lane])],
                Op::ShuffleXor(k) if active(other(k)) => x[other(k)],
                _ => 0,
            };
        }
        Ok(())
    }
}

/// A reduction or scan of integers over the active lanes of a wave: the result in one of its lanes.
fn joined(what: Op, op: Bin, elem: Elem, (lane, wave): (usize, usize), mask: Mask, x: &Lanes) -> Result<u64> {
    let base = lane / wave * wave;
    let last = match what {
        Op::Scan(_, true) => lane,
        Op::Scan(_, false) => lane + 1,
        _ => base + wave,
    };
    let values = (base..last).filter(|l| mask >> l & 1 != 0).map(|l| x[l]);
    let bits = u64::MAX >> (64 - 8 * elem.bytes());
    let largest = if elem.is_signed() { bits >> 1 } else { bits };
    let none = match op {
        Bin::Mul => 1,
        Bin::And => bits,
        Bin::Min => largest,
        Bin::Max => !largest & bits,
        _ => 0,
    };
    values.clone().try_fold(none, |a, b| bits::bin(op, elem, a, b))
}

/// An integer's value.
fn number(elem: Elem, bits: u64) -> i128 {
    let shift = 64 - 8 * elem.bytes();
    if elem.is_signed() { i128::from((bits << shift) as i64 >> shift) } else { i128::from(bits) }
}

/// The element that the hardware accesses: the byte offset wraps at 2^32. `None` past the end.
fn in_bounds(index: u64, elem: Elem, len: u32) -> Option<usize> {
    let element = (index as u32).wrapping_mul(elem.bytes()) / elem.bytes();
    (element < len).then_some(element as usize)
}

fn fetch(op: Fetch, elem: Elem, old: u64, value: u64) -> u64 {
    let op = match op {
        Fetch::Add => Bin::Add,
        Fetch::Min => Bin::Min,
        Fetch::Max => Bin::Max,
        Fetch::And => Bin::And,
        Fetch::Or => Bin::Or,
        Fetch::Xor => Bin::Xor,
    };
    bits::bin(op, elem, old, value).unwrap_or(0)
}
