//! The rules for types and flow. Every program that the generator or the reducer makes satisfies them, so that rustc
//! accepts it.

use gcn_dsl::ir::{Bin, Un};
use gcn_dsl::scalar::Elem;

use super::ast::{
    Expr, Id, LDS_LEN, NUMBERS, Op, PRIVATE_LEN, Place, Program, Range, SHARED, SLOTS, Shape, Stmt, Ty,
    has_breaks,
};
use super::objects::{has_fields, steps};

pub fn is_int(elem: Elem) -> bool {
    !elem.is_float() && elem != Elem::Bool
}

/// True if the type has the operator.
pub fn has_bin(op: Bin, elem: Elem) -> bool {
    match op {
        Bin::Add | Bin::Sub | Bin::Mul | Bin::Div | Bin::Min | Bin::Max => elem != Elem::Bool,
        Bin::Rem | Bin::And | Bin::Or | Bin::Xor | Bin::Shl | Bin::Shr => is_int(elem),
        Bin::MulHi => false,
    }
}

pub fn has_un(op: Un, elem: Elem) -> bool {
    match op {
        Un::Neg => elem.is_signed() || elem.is_float(),
        Un::Not => !elem.is_float(),
        Un::Abs | Un::Floor | Un::Ceil | Un::Trunc | Un::Rndne => {
            matches!(elem, Elem::F16 | Elem::F32 | Elem::F64)
        }
        _ => false,
    }
}

struct Checker<'p> {
    program: &'p Program,
    /// The number of varying conditions around each variable's declaration; `None` if the variable is out of scope.
    declared: Vec<Option<u32>>,
    /// For each variable with parts, true if it is in scope.
    objects: Vec<bool>,
    depth: u32,
    /// The number of enclosing loops.
    loops: usize,
}

/// True if the program is well-typed and all its statements are in positions where they are allowed.
pub fn is_valid(program: &Program) -> bool {
    let objects = vec![false; program.objects.len()];
    let mut checker =
        Checker { program, declared: vec![None; program.vars.len()], objects, depth: 0, loops: 0 };
    checker.block(&program.body).is_some()
}

/// The type of an expression whose variables are all in scope.
pub fn ty(program: &Program, e: &Expr) -> Option<Ty> {
    let all = vec![Some(0); program.vars.len()];
    let objects = vec![true; program.objects.len()];
    Checker { program, declared: all, objects, depth: 0, loops: 0 }.ty(e)
}

fn check(holds: bool) -> Option<()> {
    holds.then_some(())
}

impl Checker<'_> {
    fn block(&mut self, stmts: &[Stmt]) -> Option<()> {
        let before = (self.declared.clone(), self.objects.clone(), self.depth);
        for (i, stmt) in stmts.iter().enumerate() {
            self.stmt(stmt)?;
            let exit = matches!(stmt, Stmt::Break(_) | Stmt::Continue(_) | Stmt::Return);
            check(!exit || i + 1 == stmts.len())?;
            // Some lanes may be inactive after the statement. (Not if all leave together, but no program here depends
            // on that.)
            self.depth += u32::from(stmt.leaves(0));
        }
        (self.declared, self.objects, self.depth) = before;
        Some(())
    }

    /// A loop's body. Lanes may have left the loop on an earlier trip.
    fn looped(&mut self, condition: Place, stmts: &[Stmt]) -> Option<()> {
        let leaves = stmts.iter().any(|s| s.leaves(0));
        self.loops += 1;
        let result = self.inside(if leaves { Place::Lane } else { condition }, stmts);
        self.loops -= 1;
        result
    }

    /// A block under a condition.
    fn inside(&mut self, condition: Place, stmts: &[Stmt]) -> Option<()> {
        let varying = u32::from(condition == Place::Lane);
        self.depth += varying;
        let result = self.block(stmts);
        self.depth -= varying;
        result
    }

    fn condition(&self, e: &Expr) -> Option<Place> {
        let ty = self.ty(e)?;
        check(ty.elem == Elem::Bool && ty.place != Place::Host)?;
        Some(ty.place)
    }

    fn index(&self, e: &Expr) -> Option<()> {
        check(self.ty(e)?.elem == Elem::U32)
    }

    fn private_index(&self, e: &Expr) -> Option<()> {
        self.index(e)?;
        check(!matches!(e.op, Op::Lit(_, i) if i >= u64::from(PRIVATE_LEN)))
    }

    /// Checks that the value converts to `want` implicitly.
    fn becomes(&self, e: &Expr, want: Ty) -> Option<()> {
        let ty = self.ty(e)?;
        check(ty.elem == want.elem && ty.place <= want.place)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        match stmt {
            Stmt::Let { var, init } => {
                let decl = *self.program.vars.get(*var)?;
                if decl.mutable {
                    check(decl.ty.place != Place::Host)?;
                    self.becomes(init, decl.ty)?;
                } else {
                    check(self.ty(init)? == decl.ty && decl.ty.place != Place::Host)?;
                }
                self.declared[*var] = Some(self.depth);
                Some(())
            }
            Stmt::Set { var, op, value } => {
                let decl = *self.program.vars.get(*var)?;
                let depth = self.declared[*var]?;
                check(decl.mutable && (decl.ty.place == Place::Lane || depth == self.depth))?;
                match op {
                    Some(op) => {
                        let old = Expr::leaf(Op::Var(*var));
                        let new = self.binary(*op, self.ty(&old)?, self.ty(value)?)?;
                        check(new.place <= decl.ty.place)
                    }
                    None => self.becomes(value, decl.ty),
                }
            }
            Stmt::Store { elem, slot, value } => {
                check(*slot < SLOTS)?;
                self.becomes(value, Ty::lane(*elem))
            }
            Stmt::LdsStore { array, index, value } => {
                self.index(index)?;
                self.becomes(value, Ty::lane(*self.program.lds.get(*array)?))
            }
            Stmt::Shared { elem, index, value } => {
                self.index(index)?;
                check(SHARED.contains(elem))?;
                self.becomes(value, Ty::lane(*elem))
            }
            Stmt::LdsAtomic { array, index, value, .. } => {
                self.index(index)?;
                let elem = *self.program.lds.get(*array)?;
                check(SHARED.contains(&elem))?;
                self.becomes(value, Ty::lane(elem))
            }
            Stmt::PrivateStore { array, index, value, .. } => {
                self.private_index(index)?;
                self.becomes(value, Ty::lane(*self.program.private.get(*array)?))
            }
            Stmt::Match { value, arms, bodies } => {
                let ty = self.ty(value)?;
                check(is_int(ty.elem) && ty.place != Place::Host && bodies.len() == arms.len() + 1)?;
                bodies.iter().try_for_each(|body| self.inside(ty.place, body))
            }
            Stmt::If { cond, then, els } => {
                let place = self.condition(cond)?;
                self.inside(place, then)?;
                self.inside(place, els)
            }
            Stmt::While { cond, body } => {
                let place = self.condition(cond)?;
                self.looped(place, body)
            }
            Stmt::For { var, range, start, end, body } => self.for_loop(*var, *range, start, end, body),
            // A loop without a `break` would not end.
            Stmt::Loop { body } => {
                check(has_breaks(body))?;
                self.looped(Place::Wave, body)
            }
            Stmt::Break(n) | Stmt::Continue(n) => check(*n < self.loops),
            Stmt::Return => Some(()),
            Stmt::Unroll { var, body, .. } => {
                check(!body.iter().any(|s| s.leaves(0)))?;
                self.declared[*var] = Some(self.depth);
                let result = self.inside(Place::Host, body);
                self.declared[*var] = None;
                result
            }
            Stmt::Barrier => check(self.depth == 0),
            Stmt::Object { object, new, cond, made } => {
                let variants = self.program.objects.get(*object)?.variants();
                cond.as_ref().map_or(Some(()), |c| self.condition(c).map(|_| ()))?;
                check(made.len() == 1 + usize::from(cond.is_some()))?;
                check(cond.is_none() || !matches!(self.program.objects[*object], Shape::Pointer(_)))?;
                for (variant, fields) in made {
                    let types = variants.get(*variant)?;
                    check(types.len() == fields.len())?;
                    fields.iter().zip(types).try_for_each(|(e, t)| self.becomes(e, Ty::lane(*t)))?;
                }
                check(*new != self.objects[*object])?;
                self.objects[*object] = true;
                Some(())
            }
            Stmt::SetMember { object, field, value } => {
                let elem = self.member(*object, *field)?;
                self.becomes(value, Ty::lane(elem))
            }
            Stmt::Each { object, op, value } => {
                let Shape::Array(elem) = self.object(*object)? else { return None };
                let mut reads = false;
                value.each(&mut |e| reads |= matches!(e.op, Op::Member(of, _) if of == *object));
                check(!reads)?;
                self.binary(*op, Ty::lane(elem), self.ty(value)?).map(|_| ())
            }
            Stmt::Take { object, vars, bodies } => {
                let shape = self.object(*object)?;
                let variants = shape.variants();
                check(!matches!(shape, Shape::Pointer(_)))?;
                check(variants.len() == vars.len() && bodies.len() == vars.len())?;
                // If there is only one variant, it is a `let` with a pattern, without a condition.
                let place = if vars.len() == 1 { Place::Host } else { Place::Lane };
                for ((types, vars), body) in variants.iter().zip(vars).zip(bodies) {
                    check(types.len() == vars.len())?;
                    for (var, elem) in vars.iter().zip(types) {
                        let decl = *self.program.vars.get(*var)?;
                        check(decl.ty == Ty::lane(*elem) && !decl.mutable)?;
                        self.declared[*var] = Some(self.depth);
                    }
                    self.inside(place, body)?;
                    vars.iter().for_each(|var| self.declared[*var] = None);
                }
                Some(())
            }
            Stmt::Step { object, var, by, .. } => {
                check(steps(self.object(*object)?))?;
                self.becomes(by, Ty::lane(Elem::U32))?;
                let decl = *self.program.vars.get(*var)?;
                check(decl.ty == Ty::lane(Elem::U32) && !decl.mutable)?;
                self.declared[*var] = Some(self.depth);
                Some(())
            }
            Stmt::Later { var, cond, bodies, values } => {
                let (decl, place) = (*self.program.vars.get(*var)?, self.condition(cond)?);
                check(
                    decl.ty.place == Place::Lane && !decl.mutable && bodies.len() == 2 && values.len() == 2,
                )?;
                for (body, value) in bodies.iter().zip(values) {
                    check(!body.iter().any(|s| s.leaves(0)))?;
                    self.inside(place, body)?;
                    self.becomes(value, decl.ty)?;
                }
                self.declared[*var] = Some(self.depth);
                Some(())
            }
        }
    }

    fn object(&self, object: usize) -> Option<Shape> {
        check(*self.objects.get(object)?)?;
        self.program.objects.get(object).copied()
    }

    /// The type of a field of a struct or of a tuple.
    fn member(&self, object: usize, field: usize) -> Option<Elem> {
        match self.object(object)? {
            shape if has_fields(shape) => shape.variants()[0].get(field).copied(),
            _ => None,
        }
    }

    fn option(&self, object: usize) -> Option<Ty> {
        match self.object(object)? {
            Shape::Option(elem) | Shape::Result(elem, _) => Some(Ty::lane(elem)),
            _ => None,
        }
    }

    fn for_loop(&mut self, var: usize, range: Range, start: &Expr, end: &Expr, body: &[Stmt]) -> Option<()> {
        let (a, b, decl) = (self.ty(start)?, self.ty(end)?, *self.program.vars.get(var)?);
        check(a.elem == b.elem && is_int(a.elem))?;
        let place = a.place.max(b.place).max(Place::Wave);
        check(decl.ty == Ty { elem: a.elem, place } && !decl.mutable)?;
        check(range.step != Some(0))?;
        // The counter belongs to the flow of the loop's body.
        self.declared[var] = Some(self.depth);
        let result = self.looped(place, body);
        self.declared[var] = None;
        result
    }

    fn binary(&self, op: Bin, a: Ty, b: Ty) -> Option<Ty> {
        let place = a.place.max(b.place);
        check(place != Place::Host)?;
        if matches!(op, Bin::Shl | Bin::Shr) {
            // `S << V` does not exist.
            check(
                b.elem == Elem::U32 && has_bin(op, a.elem) && a.place != Place::Host && b.place <= a.place,
            )?;
            return Some(a);
        }
        check(a.elem == b.elem && has_bin(op, a.elem))?;
        // Methods: the receiver is a device value, and the argument is converted to the receiver's type.
        if matches!(op, Bin::Min | Bin::Max) {
            check(b.place <= a.place)?;
        }
        Some(Ty { elem: a.elem, place })
    }

    pub fn ty(&self, e: &Expr) -> Option<Ty> {
        let args: Vec<Ty> = e.args.iter().map(|a| self.ty(a)).collect::<Option<_>>()?;
        let device = |i: usize| Some(args[i]).filter(|t: &Ty| t.place != Place::Host);
        Some(match e.op {
            Op::Lit(elem, _) => Ty { elem, place: Place::Host },
            Op::Var(v) => {
                (*self.declared.get(v)?)?;
                self.program.vars.get(v)?.ty
            }
            Op::Arg(elem) => Ty::wave(elem),
            Op::Id(Id::Local | Id::Global | Id::Lane) => Ty::lane(Elem::U32),
            Op::Id(Id::Wave | Id::Group) => Ty::wave(Elem::U32),
            Op::In(elem) => {
                check(args[0] == Ty::lane(Elem::U32) && elem != Elem::Bool)?;
                Ty::lane(elem)
            }
            Op::Table(elem, _) => {
                check(args[0].elem == Elem::U32 && args[0].place != Place::Host && elem != Elem::Bool)?;
                Ty { elem, place: args[0].place }
            }
            Op::Part(elem, _) => {
                check(args[0].elem == Elem::U32 && args[0].place <= Place::Wave)?;
                check(args[1] == Ty::lane(Elem::U32))?;
                Ty::lane(elem)
            }
            Op::Wide(elem, n, k) => {
                check(args[0] == Ty::lane(Elem::U32) && k < n)?;
                Ty::lane(elem)
            }
            Op::IsSome(object) => Ty { elem: Elem::Bool, ..self.option(object)? },
            Op::UnwrapOr(object) => {
                let ty = self.option(object)?;
                self.becomes(&e.args[0], ty)?;
                ty
            }
            Op::MapOr(object, op) => {
                let ty = self.option(object)?;
                self.becomes(&e.args[0], ty)?;
                check(self.binary(op, ty, args[1])? == ty)?;
                ty
            }
            Op::Member(object, field) => Ty::lane(self.member(object, field)?),
            Op::Pointed(object) => {
                let Shape::Pointer(elem) = self.object(object)? else { return None };
                check(args[0].elem == Elem::U32)?;
                Ty::lane(elem)
            }
            Op::Peek(object) => {
                check(steps(self.object(object)?))?;
                Ty::lane(Elem::U32)
            }
            Op::Passed(object) => {
                check(self.object(object)? == Shape::Result(Elem::U32, Elem::I32))?;
                self.becomes(&e.args[0], Ty::lane(Elem::U32))?;
                Ty::lane(Elem::U32)
            }
            Op::Again(op) | Op::Either(op) => {
                check(args[0].place == Place::Lane && self.binary(op, args[0], args[1])? == args[0])?;
                args[2..].iter().zip(&e.args[2..]).try_for_each(|(_, e)| self.becomes(e, args[0]))?;
                args[0]
            }
            Op::Uniform(elem) => {
                check(args[0].elem == Elem::U32 && args[0].place <= Place::Wave && elem.bytes() >= 4)?;
                Ty::wave(elem)
            }
            Op::Own(elem, slot) => {
                check(slot < SLOTS && NUMBERS.contains(&elem))?;
                Ty::lane(elem)
            }
            Op::Lds(array) => {
                check(args[0].elem == Elem::U32)?;
                if let Op::Lit(_, i) = e.args[0].op {
                    check(i < u64::from(LDS_LEN))?;
                }
                Ty::lane(*self.program.lds.get(array)?)
            }
            Op::Private(array) => {
                self.private_index(&e.args[0])?;
                Ty::lane(*self.program.private.get(array)?)
            }
            Op::Reduce(_) | Op::Scan(..) => {
                check(args[0].place == Place::Lane && is_int(args[0].elem))?;
                let place = if matches!(e.op, Op::Reduce(_)) { Place::Wave } else { Place::Lane };
                Ty { elem: args[0].elem, place }
            }
            Op::Un(op) => {
                check(has_un(op, args[0].elem))?;
                device(0)?
            }
            Op::Bin(op) => self.binary(op, args[0], args[1])?,
            Op::Cmp(_) => {
                check(args[0].elem == args[1].elem && args[0].elem != Elem::Bool)?;
                let place = args[0].place.max(args[1].place);
                check(place != Place::Host)?;
                Ty { elem: Elem::Bool, place }
            }
            Op::And | Op::Or => {
                check(args[0].elem == Elem::Bool && args[1].elem == Elem::Bool)?;
                let place = args[0].place.max(args[1].place);
                check(place != Place::Host)?;
                Ty { elem: Elem::Bool, place }
            }
            Op::Select => {
                check(args[0].elem == Elem::Bool && args[1].elem == args[2].elem)?;
                Ty::lane(args[1].elem)
            }
            Op::If => {
                check(args[0].elem == Elem::Bool && args[0].place != Place::Host)?;
                check(args[1].elem == args[2].elem)?;
                let place = args.iter().map(|a| a.place).max()?;
                Ty { elem: args[1].elem, place }
            }
            Op::MulAdd => {
                let elem = args[0].elem;
                check(matches!(elem, Elem::F32 | Elem::F64) && args[1..].iter().all(|a| a.elem == elem))?;
                check(args[1].place <= args[0].place && args[2].place <= args[0].place)?;
                device(0)?
            }
            Op::Cast(elem) => {
                check(elem != Elem::Bool)?;
                Ty { elem, place: device(0)?.place }
            }
            Op::Bits(elem) => {
                let from = device(0)?;
                check(from.elem.bytes() == elem.bytes() && from.elem != Elem::Bool && elem != Elem::Bool)?;
                Ty { elem, place: from.place }
            }
            Op::Splat => Ty::lane(args[0].elem),
            Op::Ballot => {
                check(args[0] == Ty::lane(Elem::Bool))?;
                Ty::wave(Elem::U64)
            }
            Op::Any | Op::All => {
                check(args[0] == Ty::lane(Elem::Bool))?;
                Ty::wave(Elem::Bool)
            }
            Op::ReadFirst => {
                check(args[0].place == Place::Lane && args[0].elem != Elem::Bool)?;
                Ty::wave(args[0].elem)
            }
            Op::ReadLane => {
                check(args[0].place == Place::Lane && args[0].elem != Elem::Bool)?;
                check(args[1].elem == Elem::U32 && args[1].place <= Place::Wave)?;
                Ty::wave(args[0].elem)
            }
            Op::Shuffle => {
                check(args[0].place == Place::Lane && args[0].elem != Elem::Bool)?;
                check(args[1].elem == Elem::U32)?;
                Ty::lane(args[0].elem)
            }
            Op::ShuffleXor(_) => {
                check(args[0].place == Place::Lane && args[0].elem != Elem::Bool)?;
                args[0]
            }
        })
    }
}
