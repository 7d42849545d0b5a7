//! Which variables start with one value for all lanes and are then given what varies.
//!
//! `let mut sum = 0.0; sum += x[i];` means a value of each lane, and the type of the first value does not say so. This
//! analysis reads the body before it is expanded and finds the variables to which something is assigned that certainly
//! varies, or under a condition that certainly does: as uniform variables they could not compile. It follows names, operators
//! and control flow to a fixpoint, because loops carry values back. Whatever it cannot see (results of device functions,
//! fields) counts as uniform; rustc then asks for the type.

use std::collections::HashSet;
use std::rc::Rc;

use proc_macro2::Span;
use syn::{Block, Expr, ExprCall, FnArg, Ident, Lit, Pat, Stmt, Type};

use super::expr::called;
use super::habits::{METHODS, NUMBERS};
use super::place::is_compound;
use crate::attrs;
use crate::parse::{KernelFn, Known};
use crate::ty::{Elements, bare};

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// One value for all lanes, or nothing that syntax tells.
    Other,
    /// A number of which every lane has its own, or an array of them.
    Varying,
    /// `global_id()` and the like, whose parts vary.
    Place,
    /// Memory that is read at a uniform index as one value for all lanes.
    ReadOnly,
    /// Memory whose elements vary at every index.
    Memory,
    /// A closure whose value varies.
    Closure,
}

/// Types whose elements vary.
const MEMORY: [&str; 3] = ["Lds", "LdsSlice", "Private"];

/// Methods of memory that give memory.
const POINTERS: [&str; 5] = ["add", "offset", "cast", "slice", "as_slice"];

/// A name in scope.
struct Binding {
    name: String,
    shape: Shape,
    /// A number for certain, or memory of numbers.
    number: bool,
    /// A `let mut`, by its place in the source; how many varying conditions are around it.
    variable: Option<(String, usize)>,
}

/// The variables of a function that vary, by their names' places in the source.
#[derive(Default)]
pub(crate) struct Varying {
    variables: HashSet<String>,
    /// Calls of functions of the host, declared in the body, with what varies.
    pub on_the_host: Vec<Ident>,
}

impl Varying {
    /// True if the `let` with this variable makes it varying.
    pub fn has(&self, name: &Ident) -> bool {
        self.variables.contains(&key(name))
    }

    /// The same of a variable without a first value, by its name: the assignments are elsewhere.
    pub fn has_deferred(&self, name: &Ident) -> bool {
        self.variables.contains(&name.to_string())
    }
}

fn key(name: &Ident) -> String {
    format!("{name} {:?}", name.span())
}

/// The analysis of a function's body.
fn varying(function: &KernelFn, body: &Block, elements: &Elements) -> Varying {
    let mut found =
        Analysis { known: Rc::clone(&function.known), elements: elements.clone(), ..Analysis::default() };
    loop {
        let before = (found.varying.len(), found.left.len());
        found.names = function
            .sig
            .inputs
            .iter()
            .filter_map(|input| parameter(input, elements, &function.known))
            .chain(function.self_varies.then(|| Binding {
                name: "self".to_owned(),
                shape: Shape::Varying,
                number: false,
                variable: None,
            }))
            .collect();
        found.on_the_host.clear();
        found.block(body);
        if before == (found.varying.len(), found.left.len()) {
            return Varying { variables: found.varying, on_the_host: found.on_the_host };
        }
    }
}

/// True for numbers, arrays and tuples of them, and structs of memory.
fn of_numbers(ty: &Type, elements: &Elements, known: &Known) -> bool {
    match bare(ty) {
        Type::Array(array) => of_numbers(&array.elem, elements, known),
        Type::Tuple(tuple) => tuple.elems.iter().all(|ty| of_numbers(ty, elements, known)),
        ty => elements.is_element(ty) || known.is_data(ty),
    }
}

fn parameter(input: &FnArg, elements: &Elements, known: &Known) -> Option<Binding> {
    let FnArg::Typed(typed) = input else { return None };
    let Pat::Ident(name) = &*typed.pat else { return None };
    let (shape, number) = match bare(&typed.ty) {
        Type::Reference(r) => match (bare(&r.elem), r.mutability) {
            (Type::Slice(s), None) => (Shape::ReadOnly, of_numbers(&s.elem, elements, known)),
            (Type::Slice(_), Some(_)) => (Shape::Memory, false),
            _ => (Shape::Other, false),
        },
        Type::Ptr(_) => (Shape::Memory, false),
        Type::Path(p) if p.path.segments.last().is_some_and(|s| MEMORY.iter().any(|m| s.ident == m)) => {
            (Shape::Memory, false)
        }
        ty if elements.is_varying(ty) => (Shape::Varying, true),
        ty => (Shape::Other, of_numbers(ty, elements, known)),
    };
    Some(Binding { name: name.ident.to_string(), shape, number, variable: None })
}

impl super::Cx<'_> {
    /// Reads the body before it is expanded.
    pub(super) fn find_varying(&mut self, function: &KernelFn, body: &Block) {
        self.varying = varying(function, body, &self.elements);
        for name in std::mem::take(&mut self.varying.on_the_host) {
            let what = format!(
                "`{name}` is a function of the host, which the body declares, and this argument is each lane's own: write it beside the \
                 kernel as `#[device] fn {name}`, with parameters such as `V<f32>`"
            );
            self.errors.at(&name, what);
        }
    }
}

#[derive(Default)]
struct Analysis {
    known: Rc<Known>,
    elements: Elements,
    names: Vec<Binding>,
    /// A `let` without a value is being read.
    declares: bool,
    /// How many varying conditions are around.
    depth: usize,
    /// The loops around: where they begin, the depth there, their labels.
    loops: Vec<(String, usize, Option<String>)>,
    /// Variables that vary.
    varying: HashSet<String>,
    /// Loops that some lanes leave by `break`.
    left: HashSet<String>,
    /// Functions declared in the body, and calls of them with what varies.
    nested: HashSet<String>,
    on_the_host: Vec<Ident>,
}

impl Analysis {
    fn block(&mut self, block: &Block) -> Shape {
        let depth = self.names.len();
        let mut shape = Shape::Other;
        for stmt in &block.stmts {
            shape = Shape::Other;
            match stmt {
                Stmt::Local(local) => self.local(local),
                Stmt::Expr(e, semi) => {
                    let value = self.expr(e);
                    if semi.is_none() {
                        shape = value;
                    }
                }
                Stmt::Item(syn::Item::Fn(f)) => {
                    self.nested.insert(f.sig.ident.to_string());
                }
                _ => {}
            }
        }
        self.names.truncate(depth);
        shape
    }

    fn local(&mut self, local: &syn::Local) {
        let (pat, ty) = match &local.pat {
            Pat::Type(p) => (&*p.pat, Some(&*p.ty)),
            pat => (pat, None),
        };
        let init = local.init.as_ref().map(|i| &*i.expr);
        match ty {
            Some(ty) => {
                init.map(|e| self.expr(e));
                let shape = if self.known.varies(ty) { Shape::Varying } else { Shape::Other };
                self.bind(pat, shape, None);
            }
            None => {
                self.declares = init.is_none();
                self.bind_value(pat, init);
                self.declares = false;
            }
        }
    }

    /// Binds the names of a pattern to the parts of a value.
    fn bind_value(&mut self, pat: &Pat, init: Option<&Expr>) {
        match (pat, init) {
            (Pat::Tuple(p), Some(Expr::Tuple(t))) if p.elems.len() == t.elems.len() => {
                let parts: Vec<(Shape, &Pat, &Expr)> =
                    p.elems.iter().zip(&t.elems).map(|(p, e)| (self.expr(e), p, e)).collect();
                parts.into_iter().for_each(|(shape, p, e)| self.bind(p, shape, Some(e)));
            }
            _ => {
                let shape = init.map_or(Shape::Other, |e| self.expr(e));
                self.bind(pat, shape, init);
            }
        }
    }

    fn bind(&mut self, pat: &Pat, shape: Shape, init: Option<&Expr>) {
        match pat {
            Pat::Ident(p) => {
                let variable = p.mutability.is_some().then(|| (key(&p.ident), self.depth));
                let deferred = init.is_none() && self.declares;
                let variable = if deferred { Some((p.ident.to_string(), self.depth)) } else { variable };
                let varies = variable.as_ref().is_some_and(|v| self.varying.contains(&v.0));
                let shape = if varies { Shape::Varying } else { shape };
                // Only a number that is certainly one can be made to vary.
                let number = init.is_some_and(|e| self.is_number(e)) || shape == Shape::Varying;
                let variable = variable.filter(|_| number || init.is_none());
                self.names.push(Binding { name: p.ident.to_string(), shape, number, variable });
            }
            Pat::Tuple(p) => p.elems.iter().for_each(|p| self.bind(p, Shape::Other, None)),
            // The fields of what varies do.
            Pat::TupleStruct(p) => p.elems.iter().for_each(|p| self.bind(p, shape, None)),
            Pat::Struct(p) => p.fields.iter().for_each(|f| self.bind(&f.pat, shape, None)),
            Pat::Paren(p) => self.bind(&p.pat, shape, init),
            Pat::Type(p) => self.bind(&p.pat, shape, init),
            _ => {}
        }
    }

    /// Binds what a loop goes over: of `(i, e)`, which `enumerate` and `zip` give, each part may vary.
    fn bind_elements(&mut self, pat: &Pat, shape: Shape) {
        match pat {
            Pat::Tuple(p) => p.elems.iter().for_each(|p| self.bind_elements(p, shape)),
            Pat::Reference(p) => self.bind_elements(&p.pat, shape),
            Pat::Paren(p) => self.bind_elements(&p.pat, shape),
            _ => self.bind(pat, shape, None),
        }
    }

    fn name(&self, e: &Expr) -> Option<&Binding> {
        let name = super::place::name_of(e)?;
        self.names.iter().rev().find(|b| name == &b.name)
    }

    /// A value of this shape is assigned.
    fn assign(&mut self, to: &Expr, shape: Shape) {
        match to {
            Expr::Index(e) => {
                let index = self.expr(&e.index);
                self.assign(&e.expr, either(shape, index));
            }
            Expr::Paren(e) => self.assign(&e.expr, shape),
            Expr::Tuple(t) => t.elems.iter().for_each(|e| self.assign(e, Shape::Other)),
            _ => {
                let depth = self.depth;
                let variable = self.name(to).and_then(|b| b.variable.clone());
                if let Some((key, declared)) = variable
                    && (shape == Shape::Varying || depth > declared)
                {
                    self.varying.insert(key);
                }
            }
        }
    }

    /// Runs `f` under a condition of this shape.
    fn under<R>(&mut self, condition: Shape, f: impl FnOnce(&mut Self) -> R) -> R {
        let depth = self.depth;
        self.depth += usize::from(condition == Shape::Varying);
        let result = f(self);
        self.depth = depth;
        result
    }

    /// The body of a loop whose trips differ between lanes if `condition` varies, or a `break` does.
    fn trips(
        &mut self,
        at: Span,
        label: Option<&syn::Label>,
        condition: Shape,
        body: impl FnOnce(&mut Self),
    ) {
        let key = format!("{at:?}");
        let label = label.map(|l| l.name.ident.to_string());
        let condition = if self.left.contains(&key) { Shape::Varying } else { condition };
        self.under(condition, |cx| {
            cx.loops.push((key, cx.depth, label));
            body(cx);
            cx.loops.pop();
        });
    }

    fn leave(&mut self, label: Option<&syn::Lifetime>) {
        let target = self.loops.iter().rposition(|l| match label {
            Some(label) => l.2.as_ref() == Some(&label.ident.to_string()),
            None => true,
        });
        // The loops between are left as well.
        for (key, depth, _) in target.and_then(|target| self.loops.get(target..)).unwrap_or_default() {
            if self.depth > *depth {
                self.left.insert(key.clone());
            }
        }
    }

    fn any<'e>(&mut self, parts: impl IntoIterator<Item = &'e Expr>) -> Shape {
        parts.into_iter().fold(Shape::Other, |all, e| either(all, self.expr(e)))
    }

    fn expr(&mut self, e: &Expr) -> Shape {
        match e {
            Expr::Path(p) => match self.name(e) {
                Some(binding) => binding.shape,
                None if self.is_varying_variant(&p.path) => Shape::Varying,
                None => Shape::Other,
            },
            Expr::Struct(e) if self.is_varying_variant(&e.path) => Shape::Varying,
            Expr::Paren(e) => self.expr(&e.expr),
            Expr::Group(e) => self.expr(&e.expr),
            Expr::Reference(e) => self.expr(&e.expr),
            Expr::Cast(e) => self.expr(&e.expr),
            Expr::Unary(e) => match (self.expr(&e.expr), &e.op) {
                (Shape::Memory, syn::UnOp::Deref(_)) => Shape::Varying,
                (shape, _) => shape,
            },
            Expr::Binary(e) if is_compound(&e.op) => {
                let shape = self.expr(&e.right);
                self.assign(&e.left, shape);
                Shape::Other
            }
            Expr::Binary(e) if matches!(e.op, syn::BinOp::And(_) | syn::BinOp::Or(_)) => {
                let left = self.expr(&e.left);
                either(left, self.under(left, |cx| cx.expr(&e.right)))
            }
            Expr::Binary(e) => self.any([&*e.left, &*e.right]),
            Expr::Assign(e) => {
                match (&*e.left, &*e.right) {
                    (Expr::Tuple(to), Expr::Tuple(from)) if to.elems.len() == from.elems.len() => {
                        for (to, from) in to.elems.iter().zip(&from.elems) {
                            let shape = self.expr(from);
                            self.assign(to, shape);
                        }
                    }
                    (to, from) => {
                        let shape = self.expr(from);
                        self.assign(to, shape);
                    }
                }
                Shape::Other
            }
            Expr::Index(e) => match (self.expr(&e.expr), self.expr(&e.index)) {
                (Shape::Memory | Shape::Varying, _) | (_, Shape::Varying) => Shape::Varying,
                _ => Shape::Other,
            },
            Expr::Field(e) => match self.expr(&e.base) {
                // The parts of an element of a slice vary as it does.
                Shape::Place | Shape::Varying => Shape::Varying,
                _ => match &e.member {
                    syn::Member::Named(name) if self.known.fields.contains(&name.to_string()) => {
                        Shape::Varying
                    }
                    _ => Shape::Other,
                },
            },
            Expr::MethodCall(e) => self.method(e),
            Expr::Call(e) => self.call(e),
            Expr::Tuple(e) => {
                self.any(&e.elems);
                Shape::Other
            }
            Expr::Array(e) => self.any(&e.elems),
            Expr::Repeat(e) => self.expr(&e.expr),
            _ => self.flow(e),
        }
    }

    /// True for `Enum::Variant` of an enum whose values are each lane's own.
    fn is_varying_variant(&self, path: &syn::Path) -> bool {
        let of = path.segments.iter().rev().nth(1);
        of.is_some_and(|of| self.known.varying.contains(&of.ident.to_string()))
    }

    fn flow(&mut self, e: &Expr) -> Shape {
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
                els.map_or(Shape::Other, |els| either(condition, either(then, els)))
            }
            Expr::Match(e) => {
                let matched = self.expr(&e.expr);
                let names = self.names.len();
                let arms = e.arms.iter().fold(Shape::Other, |all, arm| {
                    let shape = self.under(matched, |cx| {
                        cx.bind(&arm.pat, matched, None);
                        let guard = arm.guard.as_ref().map_or(Shape::Other, |(_, g)| cx.expr(g));
                        cx.under(guard, |cx| cx.expr(&arm.body))
                    });
                    self.names.truncate(names);
                    either(all, shape)
                });
                either(matched, arms)
            }
            Expr::Block(e) if e.attrs.iter().any(attrs::is_comptime) => Shape::Other,
            Expr::Block(e) => self.block(&e.block),
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
            Expr::Loop(e) => {
                self.trips(e.loop_token.span, e.label.as_ref(), Shape::Other, |cx| {
                    cx.block(&e.body);
                });
                Shape::Other
            }
            Expr::ForLoop(e) => {
                let unrolled = e.attrs.iter().any(attrs::is_unroll);
                let elements = super::iterate::is_over_elements(&e.expr);
                let of = if unrolled && !elements { Shape::Other } else { self.expr(&e.expr) };
                // Every lane goes over all elements.
                let bounds = if unrolled || elements { Shape::Other } else { of };
                let unrolled = unrolled || elements;
                let names = self.names.len();
                self.trips(e.for_token.span, e.label.as_ref(), bounds, |cx| {
                    cx.bind_elements(&e.pat, of);
                    if let (false, Some(counter)) =
                        (unrolled, cx.names.last_mut().filter(|_| matches!(*e.pat, Pat::Ident(_))))
                    {
                        counter.number = true;
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
            Expr::Closure(e) => self.closure(e),
            Expr::Break(e) => {
                e.expr.as_ref().map(|e| self.expr(e));
                self.leave(e.label.as_ref());
                Shape::Other
            }
            _ => Shape::Other,
        }
    }

    /// A closure; what its parameters are is said by their types alone.
    fn closure(&mut self, e: &syn::ExprClosure) -> Shape {
        let (names, loops) = (self.names.len(), std::mem::take(&mut self.loops));
        for input in &e.inputs {
            let varies = matches!(input, Pat::Type(p) if self.known.varies(&p.ty));
            self.bind(input, if varies { Shape::Varying } else { Shape::Other }, None);
        }
        let value = self.expr(&e.body);
        self.names.truncate(names);
        self.loops = loops;
        if value == Shape::Varying { Shape::Closure } else { Shape::Other }
    }

    fn method(&mut self, e: &syn::ExprMethodCall) -> Shape {
        let receiver = self.expr(&e.receiver);
        let arguments = self.any(&e.args);
        self.lent(Some(&e.method), &e.args);
        let name = e.method.to_string();
        let atomic = matches!(&*e.receiver, Expr::MethodCall(r) if r.method == "atomic");
        match receiver {
            _ if atomic && name != "store" => Shape::Varying,
            // `(a..b).step_by(k)`.
            Shape::Varying if name.starts_with("overflowing_") => Shape::Other,
            Shape::Varying => Shape::Varying,
            Shape::Memory if name == "get" => Shape::Varying,
            // A pointer, or a part of memory.
            Shape::Memory if POINTERS.contains(&&*name) => Shape::Memory,
            _ if self.known.functions.contains(&name) => Shape::Varying,
            Shape::Other if METHODS.contains(&&*name) => arguments,
            Shape::Other if matches!(&*name, "rev" | "step_by") => arguments,
            _ => Shape::Other,
        }
    }

    /// Variables that a function writes through a `&mut V<…>`.
    fn lent(&mut self, function: Option<&Ident>, args: &syn::punctuated::Punctuated<Expr, syn::Token![,]>) {
        let known = Rc::clone(&self.known);
        let Some(lends) = function.and_then(|name| known.lends.get(&name.to_string())) else { return };
        for (arg, _) in args.iter().zip(lends).filter(|(_, lent)| **lent) {
            if let Expr::Reference(r) = arg {
                self.assign(&r.expr, Shape::Varying);
            }
        }
    }

    fn call(&mut self, e: &ExprCall) -> Shape {
        let arguments = self.any(&e.args);
        self.lent(called(&e.func), &e.args);
        let Expr::Path(path) = &*e.func else { return Shape::Other };
        if self.is_varying_variant(&path.path) {
            return Shape::Varying;
        }
        let holds = ["Some", "Ok", "Err"].iter().any(|name| path.path.is_ident(name));
        if let (true, Some(value)) = (holds, e.args.first()) {
            return self.expr(value);
        }
        let segments: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
        if let [ty, function] = segments.as_slice() {
            let memory = MEMORY.contains(&&**ty);
            let number = NUMBERS.contains(&&**ty) && METHODS.contains(&&**function);
            return match (memory, number) {
                _ if self.known.functions.contains(function) => Shape::Varying,
                (true, _) => Shape::Memory,
                (_, true) => arguments,
                _ => Shape::Other,
            };
        }
        let Some(name) = called(&e.func).map(ToString::to_string) else { return Shape::Other };
        if let (Shape::Varying, true, Some(at)) = (arguments, self.nested.contains(&name), called(&e.func)) {
            self.on_the_host.push(at.clone());
        }
        let closure = self.name(&e.func).is_some_and(|binding| binding.shape == Shape::Closure);
        if closure || self.known.functions.contains(&name) {
            return Shape::Varying;
        }
        match &*name {
            "global_id" | "local_id" => Shape::Place,
            "lane_id" | "select" | "splat" | "mbcnt" | "match_any" | "write_lane" | "lane_mask"
            | "quad_permute" => Shape::Varying,
            name if ["shuffle", "row_"].iter().any(|p| name.starts_with(p)) => Shape::Varying,
            name if ["wave_", "workgroup_"].iter().any(|p| name.starts_with(p))
                && name.contains("clusive_") =>
            {
                Shape::Varying
            }
            _ => Shape::Other,
        }
    }
}

fn either(a: Shape, b: Shape) -> Shape {
    if a == Shape::Varying || b == Shape::Varying { Shape::Varying } else { Shape::Other }
}

impl Analysis {
    fn ends_in_number(&self, block: &Block) -> bool {
        matches!(block.stmts.as_slice(), [Stmt::Expr(e, None)] if self.is_number(e))
    }

    /// True for arguments that consist of numbers, and for their parts.
    fn is_of_numbers(&self, e: &Expr) -> bool {
        match e {
            Expr::Index(e) => self.is_of_numbers(&e.expr),
            Expr::Field(e) => self.is_of_numbers(&e.base),
            Expr::Paren(e) => self.is_of_numbers(&e.expr),
            _ => self.name(e).is_some_and(|binding| binding.number),
        }
    }

    /// True for what is certainly a number, or an array of them: only those are made to vary.
    fn is_number(&self, e: &Expr) -> bool {
        match e {
            Expr::Lit(l) => !matches!(l.lit, Lit::Str(_)),
            Expr::Paren(e) => self.is_number(&e.expr),
            Expr::Group(e) => self.is_number(&e.expr),
            Expr::Unary(e) => !matches!(e.op, syn::UnOp::Deref(_)) && self.is_number(&e.expr),
            Expr::Cast(_) => true,
            Expr::Binary(e) => self.is_number(&e.left) && self.is_number(&e.right),
            Expr::Array(e) => e.elems.iter().all(|e| self.is_number(e)),
            Expr::Repeat(e) => self.is_number(&e.expr),
            Expr::Index(e) => self.is_of_numbers(&e.expr),
            Expr::Path(p) => {
                if let Some(binding) = self.name(e) {
                    return binding.number && matches!(binding.shape, Shape::Other | Shape::Varying);
                }
                let names: Vec<String> = p.path.segments.iter().map(|s| s.ident.to_string()).collect();
                match names.as_slice() {
                    [name] => name.starts_with(char::is_uppercase),
                    [.., ty, _] => {
                        NUMBERS.contains(&&**ty) || self.known.listed.contains(ty) || self.elements.has(ty)
                    }
                    [] => false,
                }
            }
            Expr::If(e) => {
                let els = e.else_branch.as_ref().is_some_and(|(_, els)| self.is_number(els));
                els && self.ends_in_number(&e.then_branch)
            }
            Expr::Match(e) => e.arms.iter().all(|arm| self.is_number(&arm.body)),
            Expr::Block(e) => self.ends_in_number(&e.block),
            Expr::Call(e) => called(&e.func).is_some_and(|name| {
                let name = name.to_string();
                let reduction = ["wave_", "workgroup_"].iter().find_map(|p| name.strip_prefix(p));
                matches!(&*name, "read_first_lane" | "read_lane" | "lane_id" | "wave_id")
                    || reduction.is_some_and(|op| matches!(op, "sum" | "product" | "min" | "max"))
            }),
            Expr::Field(e) if self.is_of_numbers(&e.base) => true,
            Expr::Field(e) => {
                let uniform = ["workgroup_id", "num_workgroups", "global_size"];
                matches!(&*e.base, Expr::Call(c) if called(&c.func).is_some_and(|f| uniform.iter().any(|u| f == u)))
            }
            Expr::MethodCall(e) => match &*e.receiver {
                _ if e.method == "len" && e.args.is_empty() => true,
                receiver => METHODS.iter().any(|m| e.method == m) && self.is_number(receiver),
            },
            _ => false,
        }
    }
}
