//! Generates variables with parts.

use gcn_dsl::ir::Bin;
use gcn_dsl::scalar::Elem;

use super::ast::{Expr, Id, Made, Op, POINTED, Place, Shape, Stmt, Ty};
use super::generate::Generator;
use super::typing::has_bin;

/// The types of the values in an `Option` and in tuples that are generated.
pub const OPTIONS: [Elem; 5] = [Elem::U32, Elem::F32, Elem::I64, Elem::I16, Elem::F16];
pub const TUPLES: [(Elem, Elem); 3] =
    [(Elem::U32, Elem::I64), (Elem::F32, Elem::U16), (Elem::I32, Elem::F64)];

/// The types of the value and the error of a `Result`, and of the fields of `Either`.
pub const RESULTS: [(Elem, Elem); 2] = [(Elem::U32, Elem::I32), (Elem::F32, Elem::U32)];
pub const ARRAYS: [Elem; 3] = [Elem::U32, Elem::F32, Elem::I16];
pub const EITHERS: [(Elem, Elem); 2] = [(Elem::U32, Elem::F32), (Elem::I64, Elem::U16)];

/// True if an expression on a variable of this shape can have a value of the type.
fn gives(shape: Shape, elem: Elem) -> bool {
    match shape {
        Shape::Thing | Shape::Either(..) | Shape::Pointer(_) => false,
        Shape::Result(value, _) => value == elem,
        other => other.variants().concat().contains(&elem),
    }
}

/// True for a struct with methods.
pub fn steps(shape: Shape) -> bool {
    matches!(shape, Shape::Pair | Shape::Cell)
}

/// True for shapes with fields or elements that can be assigned.
pub fn has_fields(shape: Shape) -> bool {
    matches!(shape, Shape::Pair | Shape::Tuple(..) | Shape::Array(_) | Shape::Cell)
}

impl Generator {
    /// A variable in scope whose shape satisfies `is`.
    pub fn object(&mut self, is: impl Fn(Shape) -> bool) -> Option<usize> {
        let fitting: Vec<usize> =
            self.objects.iter().copied().filter(|k| is(self.program.objects[*k])).collect();
        (!fitting.is_empty()).then(|| self.pick(&fitting))
    }

    fn made(&mut self, shape: Shape) -> Made {
        let variants = shape.variants();
        let variant = self.rng.below(variants.len());
        (variant, variants[variant].iter().map(|t| self.value(Ty::lane(*t))).collect())
    }

    pub fn object_statement(&mut self, out: &mut Vec<Stmt>) {
        let some = self.object(|_| true);
        match (some, self.rng.below(8)) {
            (Some(object), 2) => {
                let pointer = matches!(self.program.objects[object], Shape::Pointer(_));
                let cond = self.chosen().filter(|_| !pointer);
                let made = 0..1 + usize::from(cond.is_some());
                let made = made.map(|_| self.made(self.program.objects[object])).collect();
                out.push(Stmt::Object { object, new: false, cond, made });
            }
            (_, 3..5)
                if self.depth < 3
                    && let Some(object) = self.object(|s| !matches!(s, Shape::Pointer(_))) =>
            {
                self.take(object, out);
            }
            (_, 5) if let Some(object) = self.object(steps) => {
                let (by, twice) = (self.value(Ty::lane(Elem::U32)), self.one_in(2));
                let var = self.declare(Ty::lane(Elem::U32), false);
                self.enter(var);
                out.push(Stmt::Step { object, twice, var, by });
            }
            (_, 7) if let Some(object) = self.object(|s| matches!(s, Shape::Array(_))) => {
                let elem = self.program.objects[object].variants()[0][0];
                let ops = [Bin::Add, Bin::Sub, Bin::Mul, Bin::Xor, Bin::And, Bin::Or];
                let op = self.pick(&ops);
                // The value must not use the array, which is borrowed while the value is computed.
                let around = self.objects.clone();
                self.objects.retain(|other| *other != object);
                let value = self.value(Ty::lane(elem));
                self.objects = around;
                out.push(Stmt::Each { object, op: if has_bin(op, elem) { op } else { Bin::Add }, value });
            }
            (_, 6) if let Some(object) = self.object(has_fields) => {
                let fields = &self.program.objects[object].variants()[0];
                let field = self.rng.below(fields.len());
                let elem = fields[field];
                let value = self.value(Ty::lane(elem));
                out.push(Stmt::SetMember { object, field, value });
            }
            _ => {
                let shape = match self.rng.below(15) {
                    13 | 14 => Shape::Pointer(self.pick(&POINTED)),
                    10 | 11 => Shape::Array(self.pick(&ARRAYS)),
                    12 => Shape::Cell,
                    0 => Shape::Pair,
                    1 | 2 => Shape::Thing,
                    3..6 => Shape::Option(self.pick(&OPTIONS)),
                    6 | 7 => {
                        let (value, error) = self.pick(&RESULTS);
                        Shape::Result(value, error)
                    }
                    8 => {
                        let (left, right) = self.pick(&EITHERS);
                        Shape::Either(left, right)
                    }
                    _ => {
                        let (a, b) = self.pick(&TUPLES);
                        Shape::Tuple(a, b)
                    }
                };
                let cond = self.chosen().filter(|_| !matches!(shape, Shape::Pointer(_)));
                let made = (0..1 + usize::from(cond.is_some())).map(|_| self.made(shape)).collect();
                self.program.objects.push(shape);
                let object = self.program.objects.len() - 1;
                out.push(Stmt::Object { object, new: true, cond, made });
                self.objects.push(object);
            }
        }
    }

    /// A condition that selects one of two values; `None` for a single value.
    fn chosen(&mut self) -> Option<Expr> {
        let place = self.place();
        self.one_in(2).then(|| self.expr(Ty { elem: Elem::Bool, place }, 2))
    }

    fn take(&mut self, object: usize, out: &mut Vec<Stmt>) {
        let variants = self.program.objects[object].variants();
        let place = if variants.len() == 1 { Place::Host } else { Place::Lane };
        let (mut vars, mut bodies) = (Vec::new(), Vec::new());
        for fields in variants {
            let scope = self.scope.len();
            let bound: Vec<usize> = fields.iter().map(|t| self.declare(Ty::lane(*t), false)).collect();
            bound.iter().for_each(|var| self.enter(*var));
            bodies.push(self.inside(place));
            self.scope.truncate(scope);
            vars.push(bound);
        }
        out.push(Stmt::Take { object, vars, bodies });
    }

    /// A variable without an initial value that two branches assign.
    pub fn later(&mut self, out: &mut Vec<Stmt>) {
        let (elem, place) = (self.number(), self.place());
        let cond = self.expr(Ty { elem: Elem::Bool, place }, 2);
        let before = (self.unrolled, self.leavable.len());
        // No exit is allowed before the assignment.
        self.unrolled = true;
        let (mut bodies, mut values) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            bodies.push(if self.one_in(2) { self.inside(place) } else { Vec::new() });
            values.push(self.value(Ty::lane(elem)));
        }
        self.unrolled = before.0;
        if bodies.iter().flatten().any(|s: &Stmt| s.leaves(0)) {
            bodies = vec![Vec::new(); 2];
        }
        let var = self.declare(Ty::lane(elem), false);
        out.push(Stmt::Later { var, cond, bodies, values });
        self.enter(var);
    }

    /// A varying value from a variable with parts, a part of a slice, a wide load, or a function with a closure
    /// argument.
    pub fn of_objects(&mut self, elem: Elem, depth: u32) -> Expr {
        let ty = Ty::lane(elem);
        let ops = [Bin::Add, Bin::Sub, Bin::Mul, Bin::Xor, Bin::And, Bin::Or, Bin::Min, Bin::Max];
        let op = self.pick(&ops);
        let op = if has_bin(op, elem) { op } else { Bin::Add };
        match self.rng.below(7) {
            0 => {
                let index = self.index(64);
                let start = match self.one_in(2) {
                    true => Expr::u32(self.rng.below(100) as u32),
                    false => Expr::bin(Bin::And, self.expr(Ty::wave(Elem::U32), 1), Expr::u32(127)),
                };
                Expr::new(Op::Part(elem, self.rng.below(70) as u32), [start, index])
            }
            1 => {
                let widest = (16 / elem.bytes()).min(8);
                // An instruction moves whole dwords, so the width is at least one dword.
                let width = self.pick(&[2, 4, 8]).min(widest).max(4 / elem.bytes());
                let k = self.rng.below(width as usize) as u32;
                Expr::new(Op::Wide(elem, width, k), [self.index(128)])
            }
            2 if let Some(object) = self.object(|s| s == Shape::Pointer(elem)) => {
                Expr::new(Op::Pointed(object), [self.value(Ty::lane(Elem::U32))])
            }
            2 => Expr::new(Op::Again(op), [self.expr(ty, depth), self.value(ty)]),
            3 => Expr::new(Op::Either(op), [self.expr(ty, depth), self.value(ty), self.value(ty)]),
            _ => match self.object(|s| gives(s, elem)) {
                Some(object) => match (self.program.objects[object], self.one_in(2)) {
                    (Shape::Result(Elem::U32, Elem::I32), _) if self.one_in(2) => {
                        Expr::new(Op::Passed(object), [self.value(ty)])
                    }
                    (Shape::Option(_) | Shape::Result(..), true) => {
                        Expr::new(Op::UnwrapOr(object), [self.value(ty)])
                    }
                    (Shape::Option(_) | Shape::Result(..), _) => {
                        Expr::new(Op::MapOr(object, op), [self.value(ty), self.value(ty)])
                    }
                    (shape, true) if elem == Elem::U32 && steps(shape) => Expr::leaf(Op::Peek(object)),
                    (shape, _) => {
                        let field = shape.variants()[0].iter().position(|t| *t == elem).unwrap_or(0);
                        Expr::leaf(Op::Member(object, field))
                    }
                },
                None => Expr::new(Op::In(elem), [Expr::leaf(Op::Id(Id::Local))]),
            },
        }
    }
}
