//! Traverses expressions: computes their shapes, the conditions under which they are evaluated, and the loops that they
//! exit.

use std::rc::Rc;

use proc_macro2::Span;
use syn::{Expr, ExprCall, Ident, Pat};

use crate::expand::expr::called;

use super::{Analysis, Around, POINTERS, Shape, Variable};
use crate::attrs;
use crate::expand::control::iterate::InPlace;
use crate::expand::types::habits::NUMBERS;
use crate::operator::is_compound;

impl Analysis {
    /// Runs `f`, which analyses code that executes under a condition of this shape.
    pub(super) fn under<R>(&mut self, condition: Shape, f: impl FnOnce(&mut Self) -> R) -> R {
        let (depth, doubts, condition) = (self.depth, self.doubts.len(), self.whole(condition));
        match condition {
            Shape::Varying => self.depth += 1,
            Shape::Asked(questions) => self.doubts.push(questions),
            _ => {}
        }
        let result = f(self);
        self.depth = depth;
        self.doubts.truncate(doubts);
        result
    }

    /// Analyses a loop's body. Lanes make different numbers of trips if `condition` or a `break` is varying.
    pub(super) fn trips(
        &mut self,
        at: Span,
        label: Option<&syn::Label>,
        condition: Shape,
        body: impl FnOnce(&mut Self),
    ) -> Shape {
        let key = format!("{at:?}");
        let label = label.map(|l| l.name.ident.to_string());
        // If an earlier iteration of the analysis found an exit that only some lanes take, lanes make different numbers
        // of trips whatever the condition is.
        let condition = match self.left.contains(&key) {
            true => Shape::Varying,
            false => self.decided_by(condition, &key, self.names.len()),
        };
        self.under(condition, |cx| {
            cx.around(key, label, true, |cx| {
                body(cx);
                Shape::Other
            })
        })
    }

    /// Runs `f`, which analyses the inside of a loop or a labelled block. Returns the shape of its value.
    fn around(
        &mut self,
        key: String,
        label: Option<String>,
        is_loop: bool,
        f: impl FnOnce(&mut Self) -> Shape,
    ) -> Shape {
        self.loops.push(Around { start: self.variable(key.clone()), label, is_loop, value: Shape::Other });
        let result = f(self);
        let value = self.loops.pop().map_or(Shape::Other, |around| around.value);
        // After the end of the construct, the lanes that left by an exit are active again.
        self.skipped.remove(&key);
        self.doubted.retain(|(of, _)| *of != key);
        self.either(result, value)
    }

    /// The index in `loops` of the loop or block that an exit leaves.
    fn target(&self, label: Option<&syn::Lifetime>) -> Option<usize> {
        self.loops.iter().rposition(|around| match label {
            Some(label) => around.label.as_ref() == Some(&label.ident.to_string()),
            None => around.is_loop,
        })
    }

    pub(super) fn leave(&mut self, label: Option<&syn::Lifetime>) {
        let target = self.target(label);
        // The exit also leaves the loops nested inside its target.
        let left = target.and_then(|target| self.loops.get(target..)).unwrap_or_default().to_vec();
        for (k, Around { start, is_loop, .. }) in left.into_iter().enumerate() {
            // Here more varying conditions enclose the exit than the construct's start, so only some lanes take the
            // exit.
            if self.depth > start.depth || self.wonder(&start, Shape::Other) {
                if k == 0 && !is_loop {
                    self.skipped.insert(start.key.clone());
                }
                self.left.insert(start.key);
            } else if k == 0 && !is_loop {
                self.doubt(&start);
            }
        }
    }

    /// Records that an exit gives its target a value of this shape. If only some lanes take the exit, the target's value
    /// varies.
    fn left_with(&mut self, label: Option<&syn::Lifetime>, shape: Shape) {
        let Some(target) = self.target(label) else { return };
        let Some(Around { start, value, .. }) = self.loops.get(target).cloned() else { return };
        let doubts = self.doubts.get(start.doubts..).unwrap_or_default().to_vec();
        let given = match self.depth > start.depth {
            true => Shape::Varying,
            false => doubts.into_iter().fold(shape, |all, doubt| self.either(all, Shape::Asked(doubt))),
        };
        let value = self.either(value, given);
        if let Some(around) = self.loops.get_mut(target) {
            around.value = value;
        }
    }

    /// Records a doubt: if rustc finds that an enclosing condition varies, some lanes do not execute the rest of this
    /// loop or block.
    fn doubt(&mut self, start: &Variable) {
        let doubts = self.doubts.get(start.doubts..).unwrap_or_default();
        self.doubted.extend(doubts.iter().map(|doubt| (start.key.clone(), *doubt)));
    }

    /// Analyses `continue`: its lanes do not execute the rest of the trip.
    fn next_trip(&mut self, label: Option<&syn::Lifetime>) {
        let Some(target) = self.target(label) else { return };
        let left: Vec<Around> = self.loops.get(target..).unwrap_or_default().to_vec();
        for (k, Around { start, .. }) in left.into_iter().enumerate() {
            // `continue` leaves the inner loops for good. In the loop that it names, the lanes are active again from
            // the next trip on.
            let certain = self.depth > start.depth;
            match k {
                0 if certain => {
                    self.skipped.insert(start.key);
                }
                0 => self.doubt(&start),
                _ if certain || self.wonder(&start, Shape::Other) => {
                    self.left.insert(start.key);
                }
                _ => {}
            }
        }
    }

    pub(super) fn any<'e>(&mut self, parts: impl IntoIterator<Item = &'e Expr>) -> Shape {
        parts.into_iter().fold(Shape::Other, |all, e| {
            let shape = self.expr(e);
            self.either(all, shape)
        })
    }

    pub(super) fn expr(&mut self, e: &Expr) -> Shape {
        if let Some(shape) = self.of_parts(e) {
            return shape;
        }
        match e {
            Expr::Path(p) => match self.name(e) {
                Some(binding) => match (binding.shape, binding.variable.clone()) {
                    (shape, Some(v)) if !shape.varies() => self.decided_by(shape, &v.key, v.height),
                    (shape, _) => shape,
                },
                None if self.is_varying_variant(&p.path) => Shape::Varying,
                None => Shape::Other,
            },
            Expr::Struct(e) if self.is_varying_variant(&e.path) => Shape::Varying,
            Expr::Paren(e) => self.expr(&e.expr),
            Expr::Group(e) => self.expr(&e.expr),
            Expr::Reference(e) => self.expr(&e.expr),
            Expr::Cast(e) => match (self.expr(&e.expr), &*e.ty) {
                (shape, syn::Type::Ptr(_)) if shape.varies() => Shape::OwnPointer,
                (_, syn::Type::Ptr(_)) => Shape::Memory,
                (shape, _) => shape,
            },
            Expr::Unary(u) => match (self.expr(&u.expr), &u.op) {
                (Shape::Memory | Shape::OwnPointer, syn::UnOp::Deref(_)) => Shape::Varying,
                (of @ Shape::Asked(_), syn::UnOp::Deref(_)) => self.ask_part(e, of),
                (shape, _) => shape,
            },
            Expr::Binary(e) if is_compound(&e.op) => {
                let shape = self.expr(&e.right);
                self.assign(&e.left, shape);
                Shape::Other
            }
            Expr::Binary(e) if matches!(e.op, syn::BinOp::And(_) | syn::BinOp::Or(_)) => {
                let left = self.expr(&e.left);
                // The right side is evaluated only in the lanes for which the left side does not decide.
                let right = self.under(left, |cx| cx.expr(&e.right));
                self.either(left, right)
            }
            // Of two tuples, an operator gives one value.
            Expr::Binary(e) => {
                let sides = self.any([&*e.left, &*e.right]);
                self.whole(sides)
            }
            Expr::Assign(e) => {
                match (&*e.left, &*e.right) {
                    // Assigned member by member: in `(a, b) = (b, a)`, a uniform member must not become varying because
                    // of the other one.
                    (Expr::Tuple(to), Expr::Tuple(from)) if to.elems.len() == from.elems.len() => {
                        for (to, from) in to.elems.iter().zip(&from.elems) {
                            let shape = self.expr(from);
                            self.assign(to, shape);
                        }
                    }
                    // An array element is assigned as one value, so it varies if any member does.
                    (to @ Expr::Index(_), Expr::Tuple(from)) => {
                        let shape = self.any(&from.elems);
                        self.assign(to, shape);
                    }
                    (to, from) if self.members(from).is_some() && !self.parts_of(to).is_empty() => {
                        self.assign_members(to, from);
                    }
                    (to, from) => {
                        let shape = self.expr(from);
                        self.assign(to, shape);
                    }
                }
                Shape::Other
            }
            Expr::Index(i) => match (self.expr(&i.expr), self.expr(&i.index)) {
                (Shape::Memory | Shape::OwnPointer | Shape::Varying, _) | (_, Shape::Varying) => {
                    Shape::Varying
                }
                (of @ Shape::Asked(_), _) => self.ask_part(e, of),
                // The elements of an array are tuples of the same shape.
                (of @ Shape::Tuple(_), index) => self.either(of, index),
                (_, index) => self.either(Shape::Other, index),
            },
            Expr::Field(f) => match (self.expr(&f.base), &f.member) {
                (of @ Shape::Tuple(_), syn::Member::Unnamed(member)) => {
                    let of = self.shapes(of).and_then(|members| members.get(member.index as usize));
                    of.copied().unwrap_or(Shape::Other)
                }
                // A field of a slice's element varies if the element does.
                (Shape::Varying, _) => Shape::Varying,
                (of @ Shape::Asked(_), _) => self.ask_part(e, of),
                // A struct declared elsewhere may have a field of this name, so rustc has to be asked.
                (_, syn::Member::Named(name)) if self.known.fields.contains(&name.to_string()) => {
                    self.ask_or(e, true)
                }
                _ => Shape::Other,
            },
            Expr::Struct(s) => {
                self.any(s.fields.iter().map(|f| &f.expr));
                self.ask(e)
            }
            Expr::MethodCall(e) => self.method(e),
            Expr::Call(e) => self.call(e),
            Expr::Tuple(e) => {
                let members = e.elems.iter().map(|e| self.expr(e)).collect();
                self.tuple(members)
            }
            Expr::Array(e) => self.any(&e.elems),
            Expr::Repeat(e) => self.expr(&e.expr),
            _ => self.flow(e),
        }
    }

    /// Records the assignment of a value, member by member.
    fn assign_members(&mut self, to: &Expr, from: &Expr) {
        match self.members(from) {
            Some(members) => {
                for (member, value) in members {
                    self.assign_members(&syn::parse_quote!(#to.#member), value);
                }
            }
            None => {
                let shape = self.expr(from);
                self.assign(to, shape);
            }
        }
    }

    /// The shape of a tuple with members of these shapes.
    fn tuple(&mut self, members: Vec<Shape>) -> Shape {
        self.tuples.push(members);
        Shape::Tuple(self.tuples.len() - 1)
    }

    /// The shape of a value that depends on all members of a tuple.
    fn whole(&mut self, of: Shape) -> Shape {
        let Some(members) = self.shapes(of).map(<[Shape]>::to_vec) else { return of };
        members.into_iter().fold(Shape::Other, |all, member| {
            let member = self.whole(member);
            self.either(all, member)
        })
    }

    /// The shapes of a tuple's members.
    pub(super) fn shapes(&self, of: Shape) -> Option<&[Shape]> {
        match of {
            Shape::Tuple(number) => self.tuples.get(number).map(Vec::as_slice),
            _ => None,
        }
    }

    /// The shape of a value that is a tuple in one case and another value in another one, or of a tuple that `b` decides.
    pub(super) fn either_member(&mut self, a: Shape, b: Shape) -> Option<Shape> {
        let (of_a, of_b) = (self.shapes(a).map(<[Shape]>::to_vec), self.shapes(b).map(<[Shape]>::to_vec));
        let members: Vec<(Shape, Shape)> = match (of_a, of_b) {
            (Some(x), Some(y)) => x.into_iter().zip(y).collect(),
            (Some(x), None) => x.into_iter().map(|x| (x, b)).collect(),
            (None, Some(y)) => y.into_iter().map(|y| (a, y)).collect(),
            (None, None) => return None,
        };
        let members = members.into_iter().map(|(a, b)| self.either(a, b)).collect();
        Some(self.tuple(members))
    }

    /// True for `Enum::Variant`, if the values of the enum are varying.
    pub(super) fn is_varying_variant(&self, path: &syn::Path) -> bool {
        let of = path.segments.iter().rev().nth(1);
        of.is_some_and(|of| self.known.varying.contains(&of.ident.to_string()))
    }

    pub(super) fn flow(&mut self, e: &Expr) -> Shape {
        match e {
            Expr::If(e) => {
                let comptime = e.attrs.iter().any(attrs::is_comptime);
                let condition = match &*e.cond {
                    _ if comptime => Shape::Other,
                    Expr::Let(l) => self.expr(&l.expr),
                    condition => self.expr(condition),
                };
                let names = self.names.len();
                let (then, els) = self.under(condition, |cx| {
                    if let Expr::Let(l) = &*e.cond {
                        cx.bind(&l.pat, condition, None);
                    }
                    let then = cx.block(&e.then_branch);
                    cx.names.truncate(names);
                    (then, e.else_branch.as_ref().map(|(_, e)| cx.expr(e)))
                });
                let condition = self.whole(condition);
                // The value of an `if` varies if the condition does, even if the values of both sides are uniform.
                els.map_or(Shape::Other, |els| {
                    let value = self.either(then, els);
                    self.either(condition, value)
                })
            }
            Expr::Match(e) => {
                let matched = match &*e.expr {
                    Expr::Tuple(t) => self.any(&t.elems),
                    matched => self.expr(matched),
                };
                let names = self.names.len();
                // Which lanes get to an arm depends on the guards of the arms before it too, even if the patterns are
                // uniform.
                let (mut decides, mut value) = (self.whole(matched), Shape::Other);
                for arm in &e.arms {
                    let (guard, shape) = self.under(decides, |cx| {
                        cx.bind(&arm.pat, matched, None);
                        let guard = arm.guard.as_ref().map_or(Shape::Other, |(_, g)| cx.expr(g));
                        (guard, cx.under(guard, |cx| cx.expr(&arm.body)))
                    });
                    self.names.truncate(names);
                    decides = self.either(decides, guard);
                    value = self.either(value, shape);
                }
                self.either(decides, value)
            }
            // Host code cannot assign to device variables.
            Expr::Block(e) if e.attrs.iter().any(attrs::is_comptime) => Shape::Other,
            Expr::Block(e) => match &e.label {
                Some(label) => {
                    let key = format!("{:?}", label.name.apostrophe);
                    self.around(key, Some(label.name.ident.to_string()), false, |cx| cx.block(&e.block))
                }
                None => self.block(&e.block),
            },
            Expr::While(e) => {
                let condition = match &*e.cond {
                    Expr::Let(l) => self.expr(&l.expr),
                    condition => self.expr(condition),
                };
                let names = self.names.len();
                self.trips(e.while_token.span, e.label.as_ref(), condition, |cx| {
                    if let Expr::Let(l) = &*e.cond {
                        cx.bind(&l.pat, condition, None);
                    }
                    cx.block(&e.body);
                });
                self.names.truncate(names);
                Shape::Other
            }
            Expr::Loop(e) => self.trips(e.loop_token.span, e.label.as_ref(), Shape::Other, |cx| {
                cx.block(&e.body);
            }),
            Expr::ForLoop(e) => {
                let unrolled = e.attrs.iter().any(attrs::is_unroll);
                let elements = crate::expand::control::iterate::is_over_elements(&e.expr);
                // The range of an unrolled loop is a range of host numbers.
                let of = if unrolled && !elements { Shape::Other } else { self.expr(&e.expr) };
                // Every lane iterates over all elements, so the trips do not differ.
                let bounds = if unrolled || elements { Shape::Other } else { of };
                let unrolled = unrolled || elements;
                let names = self.names.len();
                let first = match &*e.expr {
                    Expr::Range(r) => r.start.as_ref().and_then(|start| self.question(start)),
                    _ => None,
                };
                let places = InPlace::of(&e.pat, &e.expr);
                let written: Vec<(Ident, Option<Variable>)> = places
                    .iter()
                    .flat_map(|of| &of.places)
                    .map(|(array, element)| {
                        ((*element).clone(), self.name(array).and_then(|array| array.variable.clone()))
                    })
                    .collect();
                self.trips(e.for_token.span, e.label.as_ref(), bounds, |cx| {
                    cx.bind_elements(&e.pat, of);
                    // In the loop, an assignment to the element's name is an assignment to the array.
                    for (element, variable) in written {
                        if let Some(name) = cx.names[names..].iter_mut().find(|name| element == name.name) {
                            (name.shape, name.variable) = (of, variable);
                        }
                    }
                    if let (false, Some(counter)) =
                        (unrolled, cx.names.last_mut().filter(|_| matches!(*e.pat, Pat::Ident(_))))
                    {
                        counter.number = true;
                        counter.value = first;
                    }
                    cx.block(&e.body);
                });
                self.names.truncate(names);
                Shape::Other
            }
            Expr::Range(e) => {
                let ends = e.start.iter().chain(&e.end).map(|e| &**e);
                self.any(ends)
            }
            Expr::Closure(e) => self.closure(e, false),
            Expr::Macro(m) => match crate::expand::embedded::embed::as_match(&m.mac) {
                Some(e) => self.expr(&Expr::Match(e)),
                None => Shape::Other,
            },
            Expr::Break(e) => {
                if let Some(value) = &e.expr {
                    let shape = self.expr(value);
                    self.left_with(e.label.as_ref(), shape);
                }
                self.leave(e.label.as_ref());
                Shape::Other
            }
            Expr::Continue(e) => {
                self.next_trip(e.label.as_ref());
                Shape::Other
            }
            _ => Shape::Other,
        }
    }

    /// The shape of the arguments of a call together. The function says what it gives to a closure among them.
    fn arguments(&mut self, args: &syn::punctuated::Punctuated<Expr, syn::Token![,]>) -> Shape {
        args.iter().fold(Shape::Other, |all, arg| {
            let shape = match arg {
                Expr::Closure(e) => self.closure(e, true),
                e => self.expr(e),
            };
            let shape = self.whole(shape);
            self.either(all, shape)
        })
    }

    /// Analyses a closure. The shapes of its parameters follow from their type annotations or, if rustc `knows` the types
    /// where the closure is written, from rustc's answer.
    pub(super) fn closure(&mut self, e: &syn::ExprClosure, knows: bool) -> Shape {
        // It is unknown where a closure is called, so it cannot leave the loops around its definition.
        let (names, loops) = (self.names.len(), std::mem::take(&mut self.loops));
        for input in &e.inputs {
            let varies = matches!(input, Pat::Type(p) if self.known.varies(&p.ty));
            self.bind(input, if varies { Shape::Varying } else { Shape::Other }, None);
        }
        for input in e.inputs.iter().filter(|_| knows) {
            if let Pat::Ident(syn::PatIdent { ident, mutability: None, .. }) = input {
                let shape = self.ask(&syn::parse_quote!(#ident));
                if let Some(of) = self.names.iter_mut().rev().find(|of| ident == &of.name) {
                    of.shape = shape;
                }
            }
        }
        let value = self.expr(&e.body);
        self.names.truncate(names);
        self.loops = loops;
        if value == Shape::Varying { Shape::Closure } else { Shape::Other }
    }

    pub(super) fn method(&mut self, e: &syn::ExprMethodCall) -> Shape {
        let receiver = self.expr(&e.receiver);
        let arguments = self.arguments(&e.args);
        self.lent(Some(&e.method), &e.args);
        let name = e.method.to_string();
        // An atomic operation returns the old value, which differs between lanes even at a uniform index.
        let atomic = matches!(&*e.receiver, Expr::MethodCall(r) if r.method == "atomic");
        match receiver {
            _ if atomic && name != "store" => Shape::Varying,
            // The place says what it becomes, and the receiver whether lanes have their own.
            _ if name == "into" && e.args.is_empty() => receiver,
            // Receivers such as `(a..b).step_by(k)`.
            Shape::Varying => Shape::Varying,
            Shape::Memory if name == "get" => Shape::Varying,
            // Pointer arithmetic gives a pointer, and a sub-slice of memory is memory.
            Shape::OwnPointer if POINTERS.contains(&&*name) => Shape::OwnPointer,
            Shape::OwnPointer => Shape::Varying,
            Shape::Memory if matches!(&*name, "add" | "offset") && arguments == Shape::Varying => {
                Shape::OwnPointer
            }
            Shape::Memory if matches!(&*name, "add" | "offset") && matches!(arguments, Shape::Asked(_)) => {
                self.ask(&Expr::MethodCall(e.clone()))
            }
            Shape::Memory if POINTERS.contains(&&*name) => Shape::Memory,
            // Other methods of memory, such as its length, give uniform values.
            Shape::Memory | Shape::ReadOnly => Shape::Other,
            _ if crate::expand::control::loops::range(&Expr::MethodCall(e.clone())).is_some() => {
                self.either(receiver, arguments)
            }
            // `(a..b).contains(&x)`: a range has only the methods that the DSL defines.
            _ if crate::expand::control::iterate::limits(&e.receiver).is_some() => {
                self.either(receiver, arguments)
            }
            // A method of a number gives a varying result if an argument varies.
            Shape::Other if self.is_number(&e.receiver) => arguments,
            // A closure among the arguments cannot be asked about; what each lane gives to the method then decides.
            _ => self.ask_or(
                &Expr::MethodCall(e.clone()),
                self.known.functions.contains(&name) || arguments.varies(),
            ),
        }
    }

    /// Records that `a.fill(x);`, a method of an array whose result nothing uses, may write its arguments to the array.
    pub(super) fn written_by(&mut self, statement: &Expr) {
        if let Expr::MethodCall(e) = statement
            && self.is_number(&e.receiver)
        {
            let arguments = self.any(&e.args);
            self.assign(&e.receiver, arguments);
        }
    }

    /// Records that a call may write the variables passed as `&mut V<…>`, or as `&mut` of a tuple with such members.
    pub(super) fn lent(
        &mut self,
        function: Option<&Ident>,
        args: &syn::punctuated::Punctuated<Expr, syn::Token![,]>,
    ) {
        let known = Rc::clone(&self.known);
        let Some(lends) = function.and_then(|name| known.lends.get(&name.to_string())) else { return };
        for (arg, lent) in args.iter().zip(lends) {
            if let (Expr::Reference(r), Some(ty)) = (arg, lent) {
                self.written_as(&r.expr, ty);
            }
        }
    }

    /// Records that a function may write values of type `ty` to `to`.
    fn written_as(&mut self, to: &Expr, ty: &syn::Type) {
        match crate::ty::bare(ty) {
            syn::Type::Tuple(tuple) => {
                for (member, ty) in tuple.elems.iter().enumerate() {
                    let member = syn::Member::from(member);
                    self.written_as(&syn::parse_quote!(#to.#member), ty);
                }
            }
            ty if self.known.varies(ty) => self.assign(to, Shape::Varying),
            _ => {}
        }
    }

    pub(super) fn call(&mut self, e: &ExprCall) -> Shape {
        let arguments = self.arguments(&e.args);
        self.lent(called(&e.func), &e.args);
        let Expr::Path(path) = &*e.func else { return Shape::Other };
        if self.is_varying_variant(&path.path) {
            return Shape::Varying;
        }
        // `Some`, `Ok` and `Err` wrap a value without changing whether it varies.
        let holds = ["Some", "Ok", "Err"].iter().any(|name| path.path.is_ident(name));
        if let (true, Some(value)) = (holds, e.args.first()) {
            return self.expr(value);
        }
        let segments: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
        if let [ty, function] = segments.as_slice() {
            return match NUMBERS.contains(&&**ty) {
                true => arguments,
                false => self.ask_or(&Expr::Call(e.clone()), self.known.functions.contains(function)),
            };
        }
        let Some(name) = called(&e.func).map(ToString::to_string) else { return Shape::Other };
        // A function declared in the body is a host function, which cannot take device values. The call is recorded for
        // the error message.
        if let (Shape::Varying, true, Some(at)) = (arguments, self.nested.contains(&name), called(&e.func)) {
            self.on_the_host.push(at.clone());
        }
        let closure = self.name(&e.func).is_some_and(|binding| binding.shape == Shape::Closure);
        // A method may have the same name as a function declared elsewhere, so the answer is certain only for functions
        // of this macro call.
        let gives_lanes = self.known.functions.contains(&name);
        if closure || gives_lanes && self.known.free.contains(&name) {
            return Shape::Varying;
        }
        match self.nested.contains(&name) {
            true => Shape::Other,
            false if self.known.is_lanes_own(&e.func) => Shape::Varying,
            false => self.ask_or(&Expr::Call(e.clone()), gives_lanes),
        }
    }
}
