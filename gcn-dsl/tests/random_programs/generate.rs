//! Generates programs. Every program satisfies `typing`. Behaviour that the language leaves open is rare by
//! construction, and the interpreter rejects such programs.

use gcn_dsl::ir::{Bin, Pred, Un};
use gcn_dsl::scalar::Elem;
use gcn_test_support::Random;

use super::ast::{
    Arm, Expr, Fetch, INPUT_LEN, Id, LDS_LEN, NUMBERS, Op, PRIVATE_LEN, Place, Program, Range, SHARED,
    SHARED_LEN, SLOTS, Shape, Stmt, Ty, VarDecl,
};
use super::data;
use super::typing::{has_bin, has_un, is_int};

/// How LDS may be accessed until the next barrier.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    /// Each lane may access only its own element.
    Own,
    /// Any element may be read.
    Read,
}

pub struct Generator {
    pub rng: Random,
    pub program: Program,
    /// The variables in scope, each with the depth of its declaration.
    pub scope: Vec<(usize, u32)>,
    /// The variables with parts that are in scope.
    pub objects: Vec<usize>,
    /// The number of enclosing varying conditions.
    pub depth: u32,
    /// The number of statements that may still be generated.
    budget: u32,
    /// The number of enclosing loops.
    loops: u32,
    /// For each loop that `break` can leave: true if it may.
    pub leavable: Vec<bool>,
    /// True directly in an unrolled loop, which nothing may leave.
    pub unrolled: bool,
    /// The number of enclosing unrolled loops.
    unrolls: u32,
    phase: Phase,
    /// The element type that this program uses most.
    favourite: Elem,
}

/// The program with this seed.
pub fn program(seed: u64) -> Program {
    let mut rng = Random::new(seed);
    let fetches = [Fetch::Add, Fetch::Min, Fetch::Max, Fetch::And, Fetch::Or, Fetch::Xor];
    let shared = std::array::from_fn(|_| fetches[rng.below(6)]);
    let lds_types = [Elem::U32, Elem::U32, Elem::F32, Elem::I64, Elem::U16, Elem::I8, Elem::F64, Elem::F16];
    let lds = (0..[0, 0, 1, 1, 2][rng.below(5)]).map(|_| lds_types[rng.below(8)]).collect();
    let private = (0..[0, 0, 0, 1, 2][rng.below(5)]).map(|_| NUMBERS[rng.below(12)]).collect();
    let program = Program {
        workgroup: [64, 128][rng.below(2)],
        groups: [1, 1, 2][rng.below(3)],
        vars: Vec::new(),
        lds,
        private,
        objects: Vec::new(),
        shared,
        body: Vec::new(),
        data: seed,
    };
    let favourite = [Elem::U32, Elem::I32, Elem::F32, NUMBERS[rng.below(12)]][rng.below(4)];
    let budget = 3 + rng.below(22) as u32;
    let mut g = Generator {
        rng,
        program,
        scope: Vec::new(),
        objects: Vec::new(),
        depth: 0,
        budget,
        loops: 0,
        leavable: Vec::new(),
        unrolled: false,
        unrolls: 0,
        phase: Phase::Own,
        favourite,
    };
    let mut body = g.prologue();
    body.extend(g.block(true));
    body.extend(g.epilogue());
    g.program.body = body;
    g.program
}

impl Generator {
    pub fn one_in(&mut self, n: usize) -> bool {
        self.rng.one_in(n)
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.below(from.len())]
    }

    pub fn number(&mut self) -> Elem {
        match self.rng.below(10) {
            0..4 => self.favourite,
            4 | 5 => Elem::U32,
            6 => Elem::F32,
            _ => NUMBERS[self.rng.below(12)],
        }
    }

    pub fn place(&mut self) -> Place {
        if self.one_in(3) { Place::Wave } else { Place::Lane }
    }

    pub fn declare(&mut self, ty: Ty, mutable: bool) -> usize {
        self.program.vars.push(VarDecl { ty, mutable });
        self.program.vars.len() - 1
    }

    pub fn enter(&mut self, var: usize) {
        self.scope.push((var, self.depth));
    }

    /// The initialization of LDS, so that reads are defined, and the declarations of a few variables.
    fn prologue(&mut self) -> Vec<Stmt> {
        let mut out = Vec::new();
        for array in 0..self.program.lds.len() {
            let elem = self.program.lds[array];
            let local = Expr::leaf(Op::Id(Id::Local));
            let value = self.expr(Ty::lane(elem), 1);
            out.push(Stmt::LdsStore { array, index: local.clone(), value });
            if self.program.workgroup < LDS_LEN {
                let value = self.expr(Ty::lane(elem), 1);
                let index = Expr::bin(Bin::Add, local, Expr::u32(self.program.workgroup));
                out.push(Stmt::LdsStore { array, index, value });
            }
        }
        for _ in 0..1 + self.rng.below(3) {
            out.extend(self.declaration());
        }
        out
    }

    /// The final values of the variables are the results.
    fn epilogue(&mut self) -> Vec<Stmt> {
        let mut out = Vec::new();
        let mut slots = [0; 15];
        for (var, _) in self.scope.clone() {
            let ty = self.program.vars[var].ty;
            let (elem, value) = match ty.elem {
                Elem::Bool => {
                    let c = Expr::leaf(Op::Var(var));
                    (Elem::U8, Expr::new(Op::Cast(Elem::U8), [c]))
                }
                elem => (elem, Expr::leaf(Op::Var(var))),
            };
            let slot = &mut slots[elem as usize];
            if *slot < SLOTS {
                out.push(Stmt::Store { elem, slot: *slot, value });
                *slot += 1;
            }
        }
        if out.is_empty() {
            let value = self.expr(Ty::lane(Elem::U32), 2);
            out.push(Stmt::Store { elem: Elem::U32, slot: 0, value });
        }
        out
    }

    /// Statements. `top` says whether the variables stay in scope afterwards.
    fn block(&mut self, top: bool) -> Vec<Stmt> {
        let (scope, objects, depth) = (self.scope.len(), self.objects.len(), self.depth);
        let mut out = Vec::new();
        let most = if top { 40 } else { 1 + self.rng.below(4) };
        while self.budget > 0 && out.len() < most {
            self.budget -= 1;
            let before = out.len();
            self.statement(&mut out);
            // Some lanes may be inactive after the statement.
            self.depth += out[before..].iter().filter(|s| s.leaves(0)).count() as u32;
        }
        if !top {
            self.scope.truncate(scope);
            self.objects.truncate(objects);
            self.depth = depth;
        }
        out
    }

    /// The body of a loop that lanes may leave before the loop's condition ends it.
    fn leavable(&mut self, varying: bool) -> Vec<Stmt> {
        let before = (self.depth, self.loops, self.unrolled);
        let leavable = self.one_in(2);
        // Exits are generated only if the whole body counts as divergent.
        self.depth += u32::from(varying || leavable);
        self.loops += 1;
        self.leavable.push(leavable);
        self.unrolled = false;
        let body = self.block(false);
        self.leavable.pop();
        (self.depth, self.loops, self.unrolled) = before;
        body
    }

    /// `if condition { break; }`, or another exit.
    fn exit(&mut self, out: &mut Vec<Stmt>) {
        let loops = self.leavable.len();
        // An exit from an outer loop leaves the inner loops too, so all of them must allow it.
        let reach = self.leavable.iter().rev().take_while(|l| **l).count();
        let all = reach == loops;
        let exit = match self.rng.below(5) {
            0 | 1 if reach > 0 => Stmt::Break(self.rng.below(reach)),
            2 | 3 if reach > 0 => Stmt::Continue(self.rng.below(reach)),
            _ if all && self.unrolls == 0 && self.one_in(4) => Stmt::Return,
            _ if reach > 0 => Stmt::Break(0),
            _ => return out.extend(self.assignment()),
        };
        let place = self.place();
        let cond = self.expr(Ty { elem: Elem::Bool, place }, 2);
        let mut then = Vec::new();
        self.depth += u32::from(place == Place::Lane);
        if self.one_in(3) {
            then.extend(self.assignment());
            // Variables that are declared in the branch are not in scope afterwards.
            self.scope.retain(|v| !then.iter().any(|s| matches!(s, Stmt::Let { var, .. } if *var == v.0)));
        }
        self.depth -= u32::from(place == Place::Lane);
        then.push(exit);
        out.push(Stmt::If { cond, then, els: Vec::new() });
    }

    pub fn inside(&mut self, condition: Place) -> Vec<Stmt> {
        let varying = u32::from(condition == Place::Lane);
        self.depth += varying;
        let body = self.block(false);
        self.depth -= varying;
        body
    }

    fn statement(&mut self, out: &mut Vec<Stmt>) {
        match self.rng.below(40) {
            31..36 => self.object_statement(out),
            36 | 37 if self.depth < 3 => self.later(out),
            38 | 39 if self.depth < 3 => self.bounded(out),
            0..4 => out.extend(self.declaration()),
            4..9 => out.extend(self.assignment()),
            9..11 => {
                let elem = self.number();
                let value = self.value(Ty::lane(elem));
                out.push(Stmt::Store { elem, slot: self.rng.below(SLOTS as usize) as u32, value });
            }
            11 => {
                let elem = self.pick(&SHARED);
                let (index, value) = (self.index(SHARED_LEN), self.value(Ty::lane(elem)));
                out.push(Stmt::Shared { elem, index, value });
            }
            12..15 if !self.program.lds.is_empty() => self.lds_statement(out),
            12..18 if self.depth < 3 => {
                let place = self.place();
                let cond = self.expr(Ty { elem: Elem::Bool, place }, 2);
                let then = self.inside(place);
                let els = if self.one_in(2) { self.inside(place) } else { Vec::new() };
                out.push(Stmt::If { cond, then, els });
            }
            18..20 if self.depth < 3 && self.loops < 2 => self.while_loop(out),
            20..23 if self.depth < 3 && self.loops < 2 => self.for_loop(out),
            23 if self.loops < 2 => {
                let var = self.declare(Ty { elem: Elem::U32, place: Place::Host }, false);
                let scope = self.scope.len();
                let before = self.unrolled;
                (self.loops, self.unrolls, self.unrolled) = (self.loops + 1, self.unrolls + 1, true);
                self.leavable.push(false);
                self.enter(var);
                let body = self.inside(Place::Host);
                self.leavable.pop();
                (self.loops, self.unrolls, self.unrolled) = (self.loops - 1, self.unrolls - 1, before);
                self.scope.truncate(scope);
                out.push(Stmt::Unroll { var, n: self.rng.below(4) as u32, body });
            }
            24..27 if !self.unrolled && self.depth < 5 => self.exit(out),
            27 if self.depth < 3 && self.loops < 2 => self.endless(out),
            28 if self.depth < 3 => self.match_statement(out),
            29 | 30 if !self.program.private.is_empty() => {
                let array = self.rng.below(self.program.private.len());
                let (index, ty) = (self.private_index(array), Ty::lane(self.program.private[array]));
                let value = self.value(ty);
                out.push(Stmt::PrivateStore { array, lent: self.one_in(2), index, value });
            }
            _ => out.extend(self.assignment()),
        }
    }

    /// `if v < 20 { … }`, whose branches read `v` in other lanes: in lanes that are inactive there, too, for which the
    /// condition says nothing.
    fn bounded(&mut self, out: &mut Vec<Stmt>) {
        let elem = self.pick(&[Elem::U32, Elem::U32, Elem::U32, Elem::I32, Elem::I32, Elem::U16, Elem::U8]);
        let constants: Vec<usize> = self.constants(elem).map(|(var, _)| var).collect();
        let var = if constants.is_empty() || self.one_in(3) {
            let value = self.expr(Ty::lane(elem), 2);
            let mask = Expr::leaf(Op::Lit(elem, 127));
            let init = if self.one_in(3) { value } else { Expr::bin(Bin::And, value, mask) };
            let var = self.declare(Ty::lane(elem), false);
            self.enter(var);
            out.push(Stmt::Let { var, init });
            var
        } else {
            self.pick(&constants)
        };
        let limit = self.rng.below(70) as u64;
        let pred = self.pick(&[Pred::Lt, Pred::Le, Pred::Gt, Pred::Ge, Pred::Eq, Pred::Ne]);
        let bound = Expr::new(Op::Cmp(pred), [Expr::leaf(Op::Var(var)), Expr::leaf(Op::Lit(elem, limit))]);
        let cond = match self.one_in(4) {
            true => Expr::new(Op::And, [bound, self.expr(Ty::lane(Elem::Bool), 1)]),
            false => bound,
        };
        let branch = |g: &mut Self| {
            g.depth += 1;
            let value = g.of_another_lane(var, elem, limit);
            let mut body = vec![Stmt::Store { elem, slot: g.rng.below(SLOTS as usize) as u32, value }];
            body.extend(g.block(false));
            g.depth -= 1;
            body
        };
        let then = branch(self);
        let els = if self.one_in(2) { branch(self) } else { Vec::new() };
        out.push(Stmt::If { cond, then, els });
    }

    /// Arithmetic on another lane's value of an immutable variable, often arithmetic that changes no value below `limit`.
    fn of_another_lane(&mut self, var: usize, elem: Elem, limit: u64) -> Expr {
        let v = Expr::leaf(Op::Var(var));
        let lane = self.lane_number();
        let (read, is_uniform) = match self.rng.below(6) {
            0..3 => (Expr::new(Op::ReadLane, [v, lane]), true),
            3 => (Expr::new(Op::ReadFirst, [v]), true),
            4 => (Expr::new(Op::Shuffle, [v, lane]), false),
            _ => (Expr::new(Op::ShuffleXor(self.rng.below(32) as u32), [v]), false),
        };
        let op = self.pick(&[Bin::And, Bin::And, Bin::Min, Bin::Max, Bin::Add, Bin::Sub, Bin::Rem]);
        let operand = match op {
            _ if self.one_in(2) => self.pick(&[1, 3, 7, 15, 16, 31, 63, 64]),
            Bin::And => limit.next_power_of_two() - 1,
            _ => limit.max(1),
        };
        let value = Expr::bin(op, read, Expr::leaf(Op::Lit(elem, operand)));
        match elem {
            Elem::U32 if self.one_in(4) && is_uniform => Expr::new(Op::Uniform(elem), [value]),
            Elem::U32 if self.one_in(4) && !is_uniform => Expr::new(Op::In(elem), [value]),
            _ => value,
        }
    }

    /// The immutable variables per lane in scope, each with the depth of its declaration.
    fn constants(&self, elem: Elem) -> impl Iterator<Item = (usize, u32)> {
        let is = move |decl: &VarDecl| decl.ty == Ty::lane(elem) && !decl.mutable;
        self.scope.iter().copied().filter(move |(var, _)| is(&self.program.vars[*var]))
    }

    /// A lane that waves of both sizes have, if it is a constant: another one would be a build error.
    fn lane_number(&mut self) -> Expr {
        match self.one_in(2) {
            true => Expr::u32(self.rng.below(32) as u32),
            false => Expr::bin(Bin::Rem, self.expr(Ty::wave(Elem::U32), 1), Expr::u32(64)),
        }
    }

    fn match_statement(&mut self, out: &mut Vec<Stmt>) {
        let ints = [Elem::U32, Elem::I32, Elem::U8, Elem::I8, Elem::U16, Elem::I16, Elem::U64, Elem::I64];
        let ty = Ty { elem: self.pick(&ints), place: self.place() };
        // Half of the values are small, so that arms with small patterns are selected.
        let value = match self.one_in(2) {
            true => Expr::bin(Bin::And, self.expr(ty, 2), Expr::leaf(Op::Lit(ty.elem, 7))),
            false => self.expr(ty, 2),
        };
        let arms: Vec<Arm> = (0..1 + self.rng.below(3)).map(|_| self.arm(ty.elem)).collect();
        let bodies = (0..=arms.len()).map(|_| self.inside(ty.place)).collect();
        out.push(Stmt::Match { value, arms, bodies });
    }

    /// A number, or a non-empty range.
    fn arm(&mut self, elem: Elem) -> Arm {
        let bits = u64::MAX >> (64 - 8 * elem.bytes());
        let largest = if elem.is_signed() { bits >> 1 } else { bits };
        let low = self.rng.below(8) as u64;
        match self.rng.below(6) {
            0 => (low, largest),
            1 if elem.is_signed() => (bits - low, 3),
            2 | 3 => (low, low + self.rng.below(8) as u64),
            4 => (largest - low, largest),
            _ => (low, low),
        }
    }

    /// An index of a private array: a literal for arrays with even numbers.
    fn private_index(&mut self, array: usize) -> Expr {
        match array % 2 {
            0 => Expr::u32(self.rng.below(PRIVATE_LEN as usize) as u32),
            _ => self.index(PRIVATE_LEN),
        }
    }

    /// A `loop` with a `break` that is certain to be reached.
    fn endless(&mut self, out: &mut Vec<Stmt>) {
        let fuel = self.declare(Ty::lane(Elem::U32), true);
        out.push(Stmt::Let { var: fuel, init: Expr::u32(0) });
        let limit = Expr::u32(1 + self.rng.below(4) as u32);
        let spent = Expr::new(Op::Cmp(Pred::Gt), [Expr::leaf(Op::Var(fuel)), limit]);
        let mut body = vec![
            Stmt::Set { var: fuel, op: Some(Bin::Add), value: Expr::u32(1) },
            Stmt::If { cond: spent, then: vec![Stmt::Break(0)], els: Vec::new() },
        ];
        // One level for the loop, and one for the code after the `break`.
        self.depth += 2;
        self.loops += 1;
        self.leavable.push(true);
        let before = std::mem::replace(&mut self.unrolled, false);
        body.extend(self.block(false));
        self.unrolled = before;
        self.leavable.pop();
        self.loops -= 1;
        self.depth -= 2;
        out.push(Stmt::Loop { body });
    }

    fn declaration(&mut self) -> Option<Stmt> {
        let elem = if self.one_in(8) { Elem::Bool } else { self.number() };
        let ty = Ty { elem, place: self.place() };
        let mutable = !self.one_in(4);
        let init = match mutable {
            false => self.expr(ty, 2),
            true if self.one_in(4) => self.literal(elem),
            true => self.value(ty),
        };
        let var = self.declare(ty, mutable);
        self.enter(var);
        Some(Stmt::Let { var, init })
    }

    /// A value that converts to `ty` implicitly.
    pub fn value(&mut self, ty: Ty) -> Expr {
        if ty.place == Place::Lane && self.one_in(8) {
            return self.expr(Ty::wave(ty.elem), 2);
        }
        let depth = 1 + self.rng.below(3) as u32;
        self.expr(ty, depth)
    }

    fn assignment(&mut self) -> Option<Stmt> {
        let may = |(var, depth): &(usize, u32)| {
            let decl = self.program.vars[*var];
            decl.mutable && (decl.ty.place == Place::Lane || *depth == self.depth)
        };
        let vars: Vec<usize> = self.scope.iter().filter(|v| may(v)).map(|v| v.0).collect();
        if vars.is_empty() {
            return self.declaration();
        }
        let var = self.pick(&vars);
        let ty = self.program.vars[var].ty;
        let op = self.pick(&[Bin::Add, Bin::Sub, Bin::Mul, Bin::And, Bin::Or, Bin::Xor, Bin::Shl, Bin::Shr]);
        if !has_bin(op, ty.elem) || self.one_in(2) {
            let value = self.value(ty);
            return Some(Stmt::Set { var, op: None, value });
        }
        let shift = matches!(op, Bin::Shl | Bin::Shr);
        let operand = if shift { Ty { elem: Elem::U32, ..ty } } else { ty };
        let value = if self.one_in(3) { self.literal(operand.elem) } else { self.expr(operand, 2) };
        Some(Stmt::Set { var, op: Some(op), value })
    }

    fn lds_statement(&mut self, out: &mut Vec<Stmt>) {
        let array = self.rng.below(self.program.lds.len());
        let elem = self.program.lds[array];
        if self.depth == 0 && self.loops == 0 && self.one_in(2) {
            out.push(Stmt::Barrier);
            self.phase = if self.phase == Phase::Own { Phase::Read } else { Phase::Own };
            return;
        }
        if self.phase == Phase::Read {
            let ty = Ty::lane(elem);
            let index = self.index(LDS_LEN);
            let var = self.declare(ty, false);
            self.enter(var);
            out.push(Stmt::Let { var, init: Expr::new(Op::Lds(array), [index]) });
            return;
        }
        let value = self.value(Ty::lane(elem));
        out.push(Stmt::LdsStore { array, index: Expr::leaf(Op::Id(Id::Local)), value });
        // A whole phase of atomics, between two barriers.
        if self.depth == 0 && self.loops == 0 && SHARED.contains(&elem) && self.one_in(2) {
            out.push(Stmt::Barrier);
            let op = self.pick(&[Fetch::Add, Fetch::Min, Fetch::Max, Fetch::And, Fetch::Or, Fetch::Xor]);
            let (index, value) = (self.index(LDS_LEN), self.value(Ty::lane(elem)));
            out.push(Stmt::LdsAtomic { array, op, index, value });
            out.push(Stmt::Barrier);
            self.phase = Phase::Read;
        }
    }

    fn while_loop(&mut self, out: &mut Vec<Stmt>) {
        let place = self.place();
        let fuel = self.declare(Ty { elem: Elem::U32, place }, true);
        out.push(Stmt::Let { var: fuel, init: Expr::u32(0) });
        let limit = Expr::u32(1 + self.rng.below(5) as u32);
        let left = Expr::new(Op::Cmp(Pred::Lt), [Expr::leaf(Op::Var(fuel)), limit]);
        let cond = match self.one_in(3) {
            true => left,
            false => Expr::new(Op::And, [left, self.expr(Ty { elem: Elem::Bool, place }, 2)]),
        };
        let step = Stmt::Set { var: fuel, op: Some(Bin::Add), value: Expr::u32(1) };
        // A uniform counter is generated only for a loop that no lane leaves early.
        let mut body = match place {
            Place::Lane => self.leavable(true),
            _ => {
                let before = std::mem::replace(&mut self.unrolled, true);
                let body = self.inside_loop();
                self.unrolled = before;
                body
            }
        };
        body.insert(0, step);
        out.push(Stmt::While { cond, body });
    }

    fn for_loop(&mut self, out: &mut Vec<Stmt>) {
        let elem = self.pick(&[
            Elem::U32,
            Elem::U32,
            Elem::I32,
            Elem::I32,
            Elem::U8,
            Elem::I8,
            Elem::U16,
            Elem::I16,
            Elem::U64,
            Elem::I64,
        ]);
        let place = self.place();
        let small = |g: &mut Self, place: Place| {
            let x = g.expr(Ty { elem, place }, 1);
            let mask = Expr::leaf(Op::Lit(elem, 7));
            let small = Expr::bin(Bin::And, x, mask);
            let three = Expr::leaf(Op::Lit(elem, 3));
            if elem.is_signed() { Expr::bin(Bin::Sub, small, three) } else { small }
        };
        let (start, end) = match self.rng.below(6) {
            // Bounds at the ends of the type, where a counter could wrap.
            0 => {
                let last = u64::MAX >> (64 - 8 * elem.bytes() + u32::from(elem.is_signed()));
                let first = Expr::leaf(Op::Lit(elem, last - self.rng.below(4) as u64));
                let last = Expr::leaf(Op::Lit(elem, last));
                let last = if place == Place::Lane { Expr::new(Op::Splat, [last]) } else { last };
                (first, last)
            }
            1 | 2 => (self.small_literal(elem), small(self, place)),
            3 => (small(self, place), self.small_literal(elem)),
            // A trip count that is known when the kernel is built.
            4 => {
                let [first, last] = [0; 2].map(|_| self.small_literal(elem));
                let last = if place == Place::Lane { Expr::new(Op::Splat, [last]) } else { last };
                (first, last)
            }
            _ => {
                let other = self.place().min(place);
                (small(self, other), small(self, place))
            }
        };
        let step = self.one_in(3).then(|| 1 + self.rng.below(4) as u8);
        let range = Range { inclusive: self.one_in(3), reversed: self.one_in(3), step, stages: None };
        let var = self.declare(Ty { elem, place }, false);
        let scope = self.scope.len();
        // The loop counter cannot be assigned, so its depth does not matter.
        self.scope.push((var, self.depth));
        let body = self.leavable(place == Place::Lane);
        self.scope.truncate(scope);
        out.push(Stmt::For { var, range, start, end, body });
    }

    fn inside_loop(&mut self) -> Vec<Stmt> {
        self.loops += 1;
        self.leavable.push(false);
        let body = self.block(false);
        self.leavable.pop();
        self.loops -= 1;
        body
    }

    fn small_literal(&mut self, elem: Elem) -> Expr {
        Expr::leaf(Op::Lit(elem, self.rng.below(6) as u64))
    }

    fn literal(&mut self, elem: Elem) -> Expr {
        Expr::leaf(Op::Lit(elem, data::value(elem, &mut self.rng)))
    }

    /// An index below `len`.
    pub fn index(&mut self, len: u32) -> Expr {
        let x = self.expr(Ty::lane(Elem::U32), 1);
        Expr::bin(Bin::And, x, Expr::u32(len - 1))
    }

    /// An expression of exactly this type.
    pub fn expr(&mut self, ty: Ty, depth: u32) -> Expr {
        if depth == 0 || self.one_in(6) {
            return self.simple(ty);
        }
        if ty.elem == Elem::Bool { self.condition(ty.place, depth - 1) } else { self.compound(ty, depth - 1) }
    }

    fn simple(&mut self, ty: Ty) -> Expr {
        let vars: Vec<usize> =
            self.scope.iter().map(|v| v.0).filter(|v| self.program.vars[*v].ty == ty).collect();
        if !vars.is_empty() && !self.one_in(4) {
            let var = self.pick(&vars);
            return Expr::leaf(Op::Var(var));
        }
        match (ty.place, ty.elem) {
            (Place::Wave, Elem::U32) if self.one_in(3) => {
                let id = self.pick(&[Id::Wave, Id::Group]);
                Expr::leaf(Op::Id(id))
            }
            (Place::Wave, elem) if elem.bytes() >= 4 && self.one_in(3) => {
                let index = Expr::u32(self.rng.below(INPUT_LEN as usize + 4) as u32);
                Expr::new(Op::Uniform(elem), [index])
            }
            (Place::Wave, elem) => Expr::leaf(Op::Arg(elem)),
            (Place::Lane, Elem::Bool) => self.comparison(Place::Lane, 0),
            (Place::Lane, Elem::U32) if self.one_in(2) => {
                let id = self.pick(&[Id::Local, Id::Global, Id::Lane]);
                Expr::leaf(Op::Id(id))
            }
            (Place::Lane, elem) => match self.rng.below(6) {
                0 => Expr::leaf(Op::Own(elem, self.rng.below(SLOTS as usize) as u32)),
                1 => Expr::new(Op::Splat, [self.literal(elem)]),
                2 => Expr::new(Op::Splat, [Expr::leaf(Op::Arg(elem))]),
                _ => {
                    let id = self.pick(&[Id::Local, Id::Global, Id::Lane]);
                    Expr::new(Op::In(elem), [Expr::leaf(Op::Id(id))])
                }
            },
            (Place::Host, elem) => self.literal(elem),
        }
    }

    fn reduction(&mut self) -> Bin {
        self.pick(&[Bin::Add, Bin::Mul, Bin::Min, Bin::Max, Bin::And, Bin::Or, Bin::Xor])
    }

    fn comparison(&mut self, place: Place, depth: u32) -> Expr {
        let elem = self.number();
        let pred = self.pick(&[Pred::Lt, Pred::Le, Pred::Gt, Pred::Ge, Pred::Eq, Pred::Ne]);
        let (a, b) = self.operands(Ty { elem, place }, depth);
        Expr::new(Op::Cmp(pred), [a, b])
    }

    fn condition(&mut self, place: Place, depth: u32) -> Expr {
        let ty = Ty { elem: Elem::Bool, place };
        match self.rng.below(10) {
            0 => {
                let (a, b) = self.operands(ty, depth);
                Expr::new(self.pick(&[Op::And, Op::Or]), [a, b])
            }
            1 => Expr::new(Op::Un(Un::Not), [self.expr(ty, depth)]),
            3 if place == Place::Lane => {
                match self.object(|s| matches!(s, Shape::Option(_) | Shape::Result(..))) {
                    Some(object) => Expr::leaf(Op::IsSome(object)),
                    None => self.comparison(place, depth),
                }
            }
            2 if place == Place::Wave => {
                let c = self.expr(Ty::lane(Elem::Bool), depth);
                Expr::new(self.pick(&[Op::Any, Op::All]), [c])
            }
            _ => self.comparison(place, depth),
        }
    }

    /// Two operands, at least one of which has exactly the type `ty`; the other converts to it.
    fn operands(&mut self, ty: Ty, depth: u32) -> (Expr, Expr) {
        let a = self.expr(ty, depth);
        let b = match self.rng.below(4) {
            0 => self.literal(ty.elem),
            1 if ty.place == Place::Lane => self.expr(Ty::wave(ty.elem), depth),
            _ => self.expr(ty, depth),
        };
        if self.one_in(4) { (b, a) } else { (a, b) }
    }

    fn compound(&mut self, ty: Ty, depth: u32) -> Expr {
        let Ty { elem, place } = ty;
        match self.rng.below(24) {
            20..24 if place == Place::Lane => self.of_objects(elem, depth),
            0..9 => self.arithmetic(ty, depth),
            9 => {
                let op = self.pick(&[Un::Neg, Un::Not, Un::Abs, Un::Floor, Un::Ceil, Un::Trunc, Un::Rndne]);
                if has_un(op, elem) { Expr::new(Op::Un(op), [self.expr(ty, depth)]) } else { self.simple(ty) }
            }
            10 | 11 => {
                let from = if self.one_in(8) { Elem::Bool } else { self.number() };
                Expr::new(Op::Cast(elem), [self.expr(Ty { elem: from, place }, depth)])
            }
            12 => {
                let same: Vec<Elem> = NUMBERS.into_iter().filter(|e| e.bytes() == elem.bytes()).collect();
                let from = self.pick(&same);
                Expr::new(Op::Bits(elem), [self.expr(Ty { elem: from, place }, depth)])
            }
            13 if place == Place::Lane => {
                let c = self.expr(Ty::lane(Elem::Bool), depth);
                let (a, b) = self.operands(ty, depth);
                Expr::new(Op::Select, [c, a, b])
            }
            14 if self.depth < 3 => {
                let cond = self.place().min(place);
                let c = self.expr(Ty { elem: Elem::Bool, place: cond }, depth);
                let varying = u32::from(cond == Place::Lane);
                self.depth += varying;
                let (a, b) = self.operands(ty, depth);
                self.depth -= varying;
                Expr::new(Op::If, [c, a, b])
            }
            15 if matches!(elem, Elem::F32 | Elem::F64) => {
                let args = [self.expr(ty, depth), self.literal(elem), self.expr(ty, depth)];
                Expr::new(Op::MulAdd, args)
            }
            16 if place == Place::Wave => {
                let v = self.expr(Ty::lane(elem), depth);
                if is_int(elem) && self.one_in(2) {
                    let op = self.reduction();
                    return Expr::new(Op::Reduce(op), [v]);
                }
                Expr::new(Op::ReadFirst, [v])
            }
            16 => {
                let v = self.expr(ty, depth);
                if is_int(elem) && self.one_in(3) {
                    let op = self.reduction();
                    return Expr::new(Op::Scan(op, self.one_in(2)), [v]);
                }
                let lane = self.expr(Ty::lane(Elem::U32), 1);
                match self.one_in(2) {
                    true => Expr::new(Op::Shuffle, [v, lane]),
                    false => Expr::new(Op::ShuffleXor(self.rng.below(64) as u32), [v]),
                }
            }
            17 if place == Place::Wave && self.depth == 0 => {
                let v = self.expr(Ty::lane(elem), depth);
                let lane = self.lane_number();
                Expr::new(Op::ReadLane, [v, lane])
            }
            // Only of variables that the lanes computed before some of them became inactive.
            17 if place == Place::Wave && self.constants(elem).any(|(_, depth)| depth < self.depth) => {
                let outer: Vec<usize> = self
                    .constants(elem)
                    .filter(|(_, depth)| *depth < self.depth)
                    .map(|(var, _)| var)
                    .collect();
                let v = Expr::leaf(Op::Var(self.pick(&outer)));
                let lane = self.lane_number();
                Expr::new(Op::ReadLane, [v, lane])
            }
            17 if place == Place::Wave && elem == Elem::U64 => {
                Expr::new(Op::Ballot, [self.expr(Ty::lane(Elem::Bool), depth)])
            }
            18 if place != Place::Host && self.one_in(3) => {
                let own = self.pick(if place == Place::Lane {
                    &[Id::Lane, Id::Global]
                } else {
                    &[Id::Group, Id::Wave]
                });
                let i = self.expr(Ty { elem: Elem::U32, place }, depth);
                let log = self.pick(&[3, 6, 7, 10]);
                Expr::new(Op::Table(elem, log), [Expr::bin(Bin::Xor, Expr::leaf(Op::Id(own)), i)])
            }
            18 if place == Place::Lane && self.program.private.contains(&elem) => {
                let array = self.program.private.iter().position(|e| *e == elem).unwrap_or(0);
                Expr::new(Op::Private(array), [self.private_index(array)])
            }
            18 if place == Place::Lane => {
                let i = self.expr(Ty::lane(Elem::U32), depth);
                Expr::new(Op::In(elem), [Expr::bin(Bin::Rem, i, Expr::u32(INPUT_LEN + 3))])
            }
            _ => self.arithmetic(ty, depth),
        }
    }

    fn arithmetic(&mut self, ty: Ty, depth: u32) -> Expr {
        let ops = [
            Bin::Add,
            Bin::Sub,
            Bin::Mul,
            Bin::Div,
            Bin::Rem,
            Bin::And,
            Bin::Or,
            Bin::Xor,
            Bin::Shl,
            Bin::Shr,
            Bin::Min,
            Bin::Max,
        ];
        let op = self.pick(&ops);
        if !has_bin(op, ty.elem) {
            return self.simple(ty);
        }
        match op {
            Bin::Shl | Bin::Shr => {
                let x = self.expr(ty, depth);
                let count = if self.one_in(2) {
                    Expr::u32(self.rng.below(70) as u32)
                } else {
                    self.expr(Ty { elem: Elem::U32, ..ty }, 1)
                };
                Expr::bin(op, x, count)
            }
            Bin::Div | Bin::Rem if is_int(ty.elem) => {
                let x = self.expr(ty, depth);
                let divisor = if self.one_in(2) {
                    let nonzero = data::value(ty.elem, &mut self.rng) | 1;
                    Expr::leaf(Op::Lit(ty.elem, nonzero))
                } else {
                    Expr::bin(Bin::Or, self.expr(ty, 1), Expr::leaf(Op::Lit(ty.elem, 1)))
                };
                Expr::bin(op, x, divisor)
            }
            Bin::Min | Bin::Max => {
                let x = self.expr(ty, depth);
                let y = if self.one_in(3) { self.literal(ty.elem) } else { self.expr(ty, depth) };
                Expr::bin(op, x, y)
            }
            _ => {
                let (a, b) = self.operands(ty, depth);
                Expr::bin(op, a, b)
            }
        }
    }
}
