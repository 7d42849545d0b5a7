//! Finds the variables that start with a uniform value (the same in all lanes) and are later assigned a varying one.
//!
//! In `let mut sum = 0.0; sum += x[i];` each lane has a different sum, but the type of the initial value does not show
//! that, and a variable declared as uniform would not compile. So, before the body is expanded, this analysis finds the
//! variables that are certainly assigned a varying value or are assigned under a varying condition. It follows names,
//! operators and control flow to a fixpoint, because loops carry values back. Where the syntax is not sufficient, for
//! example for results of functions declared elsewhere, the expansion asks rustc for the type of an expression, called
//! a *question* (see `asked`). If the question cannot be asked, the value counts as uniform. The members of a tuple are
//! analysed separately. A plain type annotation, as in `let mut sum: f32 = 0.0`, states the element type and not
//! whether the variable varies.

mod asked;
mod flow;
mod numbers;
mod parameters;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use syn::{Block, Expr, Ident, Pat, Stmt, Type};

use crate::expand::places::receiver;
use crate::expand::types::counted;
use crate::parse::{KernelFn, Known};
use crate::syntax::name_of;
use crate::ty::{Elements, bare, in_lanes, is_handle};
use asked::Question;
use parameters::parameter;

/// The current knowledge about whether a value varies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// The value is uniform, or this is not yet known.
    Other,
    /// A number that differs between lanes, or an array of such numbers.
    Varying,
    /// Memory from which a load with a uniform index gives a uniform value.
    ReadOnly,
    /// Memory from which a load always gives a varying value.
    Memory,
    /// A pointer that differs between lanes.
    OwnPointer,
    /// A closure that returns a varying value.
    Closure,
    /// Only rustc can decide. Contains the index in `questions`.
    Asked(usize),
    /// A tuple. Contains the index of its members' shapes in `tuples`.
    Tuple(usize),
}

impl Shape {
    /// True if the value may differ between lanes.
    fn varies(self) -> bool {
        matches!(self, Shape::Varying | Shape::OwnPointer)
    }
}

/// Methods of slices and raw pointers that return memory or a pointer. They are syntax: the receiver is known to be a
/// `&mut [T]` or a `*mut T` from the parameter's type or a cast, and these types have no methods but those of the language.
const POINTERS: [&str; 5] = ["add", "offset", "cast", "slice", "as_slice"];

/// A name in scope.
struct Binding {
    name: String,
    shape: Shape,
    /// True if the value is certainly a number, or memory of numbers.
    number: bool,
    /// `Some` for a `let mut`, and for a `let` without a value.
    variable: Option<Variable>,
    /// The members of the variable, if its initial value is a tuple or a struct of memory.
    members: Vec<Part>,
    /// The initial value, if a question may contain it in place of the name.
    value: Option<Question>,
}

/// A variable that can be made to vary.
#[derive(Clone)]
struct Variable {
    /// The source position of the name; for a `let` without a value, the name as text.
    key: String,
    /// At the declaration: the number of enclosing varying conditions, the number of enclosing conditions that only
    /// rustc can decide, and the number of names in scope.
    depth: usize,
    doubts: usize,
    height: usize,
}

/// A member of a variable, at any depth: its path (`1.0` for `x.1.0`), its initial shape, and the variable that it is.
struct Part {
    path: String,
    shape: Shape,
    variable: Variable,
}

/// The path of a member, which is the member `of` of what has the path `path`.
fn member_path(path: &str, of: &syn::Member) -> String {
    let of = match of {
        syn::Member::Named(name) => name.to_string(),
        syn::Member::Unnamed(index) => index.index.to_string(),
    };
    if path.is_empty() { of } else { format!("{path}.{of}") }
}

/// True if one path is the other, or leads to a part of it.
fn is_within(path: &str, of: &str) -> bool {
    path.strip_prefix(of).is_some_and(|rest| rest.is_empty() || of.is_empty() || rest.starts_with('.'))
}

/// A loop or a labelled block: its label, and the data that a variable declared at its start would have.
#[derive(Clone)]
struct Around {
    start: Variable,
    label: Option<String>,
    is_loop: bool,
    /// The shape of the values that its exits give.
    value: Shape,
}

/// The result of the analysis: the varying variables of a function, identified by the source positions of their names.
#[derive(Default)]
pub(crate) struct Varying {
    variables: HashSet<String>,
    /// The variables that are pointers.
    pointers: HashSet<String>,
    /// The variables about which only rustc can decide whether they are numbers.
    open: HashSet<String>,
    /// For each remaining variable, the questions that decide whether it varies: the values assigned to it.
    asked: HashMap<String, Vec<Question>>,
    /// The calls with varying arguments of functions that the body declares, which are host functions.
    pub on_the_host: Vec<Ident>,
}

impl Varying {
    /// True if the variable that this `let` declares varies.
    pub fn has(&self, name: &Ident) -> bool {
        self.variables.contains(&key(name))
    }

    /// True if the variable that this `let` declares is a pointer.
    pub fn is_pointer(&self, name: &Ident) -> bool {
        self.pointers.contains(&key(name))
    }

    /// True if the member with this path of the variable `name` varies.
    fn has_member(&self, name: &Ident, path: &str) -> bool {
        self.variables.contains(&member_key(name, path))
    }

    /// The plain type of the part of the variable `name` at `path`, with the varying counterparts of the types of those
    /// members that vary.
    pub fn members_of_type(&self, name: &Ident, ty: &Type, path: &str) -> Type {
        match bare(ty) {
            _ if self.has_member(name, path) => in_lanes(ty),
            Type::Tuple(tuple) => {
                let members = tuple.elems.iter().enumerate().map(|(member, ty)| {
                    self.members_of_type(name, ty, &member_path(path, &syn::Member::from(member)))
                });
                syn::parse_quote!((#(#members,)*))
            }
            _ => ty.clone(),
        }
    }

    /// True if the variable `name`, whose `let` has no value, varies. Such a variable is identified by its name,
    /// because its assignments are elsewhere.
    pub fn has_deferred(&self, name: &Ident) -> bool {
        self.variables.contains(&name.to_string())
    }
}

fn key(name: &Ident) -> String {
    format!("{name} {:?}", name.span())
}

fn member_key(name: &Ident, path: &str) -> String {
    format!("{}.{path}", key(name))
}

/// The analysis of a function's body.
fn varying(function: &KernelFn, body: &Block, elements: &Elements) -> Varying {
    let mut found =
        Analysis { known: Rc::clone(&function.known), elements: elements.clone(), ..Analysis::default() };
    loop {
        let before = found.progress();
        found.questions.clear();
        found.tuples.clear();
        found.names = function
            .sig
            .inputs
            .iter()
            .filter_map(|input| parameter(input, elements, &function.known))
            .chain(function.self_varies.then(|| {
                Binding {
                    name: if function.mutates_self() || function.owns_mutable_self() {
                        receiver::NAME
                    } else {
                        "self"
                    }
                    .to_owned(),
                    shape: Shape::Varying,
                    number: false,
                    variable: None,
                    members: Vec::new(),
                    value: None,
                }
            }))
            .collect();
        found.ask_for_parameters(function);
        found.on_the_host.clear();
        found.block(body);
        if before == found.progress() {
            return Varying {
                variables: found.varying,
                pointers: found.pointers,
                open: found.open,
                asked: found.asked,
                on_the_host: found.on_the_host,
            };
        }
    }
}

impl crate::expand::Cx<'_> {
    /// Finds the varying variables of the body, before the body is expanded.
    pub(in crate::expand) fn find_varying(&mut self, function: &KernelFn, body: &Block) {
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
    /// `declares` is true while a `let` without a value is analysed, `typed` while one with a plain type is.
    declares: bool,
    typed: bool,
    /// The number of varying conditions around the current point.
    depth: usize,
    /// The questions of the enclosing conditions that only rustc can decide.
    doubts: Vec<usize>,
    /// The enclosing loops and labelled blocks.
    loops: Vec<Around>,
    /// The enclosing loops and blocks in which some lanes are certainly inactive here: they have left the construct, or
    /// wait for its next trip.
    skipped: HashSet<String>,
    /// As `skipped`, where only rustc can decide it; with the index of the question.
    doubted: Vec<(String, usize)>,
    /// The number of names in scope at the start of the pattern that is being bound.
    pattern: Option<usize>,
    /// The variables that vary.
    varying: HashSet<String>,
    pointers: HashSet<String>,
    open: HashSet<String>,
    /// The loops that only some lanes leave by `break`.
    left: HashSet<String>,
    questions: Vec<Vec<Question>>,
    tuples: Vec<Vec<Shape>>,
    /// For each variable or loop, by its key, the questions that decide whether it varies.
    asked: HashMap<String, Vec<Question>>,
    /// The functions declared in the body, and the calls of these functions with varying arguments.
    nested: HashSet<String>,
    on_the_host: Vec<Ident>,
}

impl Analysis {
    fn block(&mut self, block: &Block) -> Shape {
        let (depth, conditions, doubts) = (self.names.len(), self.depth, self.doubts.len());
        let mut shape = Shape::Other;
        for stmt in &block.stmts {
            shape = Shape::Other;
            let (skipped, doubted) = (self.skipped.len(), self.doubted.len());
            match stmt {
                Stmt::Local(local) => self.local(local),
                Stmt::Expr(e, semi) => {
                    let value = self.expr(e);
                    self.written_by(e);
                    if semi.is_none() {
                        shape = value;
                    }
                }
                Stmt::Item(syn::Item::Fn(f)) => {
                    self.nested.insert(f.sig.ident.to_string());
                }
                _ => {}
            }
            // Lanes that have left do not execute the remaining statements.
            if self.skipped.len() > skipped {
                self.depth += 1;
            }
            self.doubts.extend(self.doubted.iter().skip(doubted).map(|(_, doubt)| *doubt));
        }
        self.depth = conditions;
        self.doubts.truncate(doubts);
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
            // A written device type decides; the value can only agree with it.
            Some(ty) if !self.elements.is_plain(ty) && !matches!(bare(ty), Type::Ptr(_)) => {
                let value = init.map_or(Shape::Other, |e| self.expr(e));
                let shape = match value {
                    _ if self.known.varies(ty) => Shape::Varying,
                    // A `usize` is one of the device if its value is.
                    _ if counted::is_size(ty) => value,
                    Shape::Asked(_) if !is_handle(ty) => value,
                    _ => Shape::Other,
                };
                self.bind(pat, shape, None);
            }
            // Without a type annotation, each lane has its own value; `asked` cannot replace the variable by its
            // initial value.
            None if matches!(pat, Pat::Ident(p) if p.mutability.is_some())
                && init.and_then(name_of).is_some_and(|name| name == "None") =>
            {
                self.bind(pat, Shape::Varying, None);
                if let Pat::Ident(p) = pat {
                    self.varying.insert(key(&p.ident));
                }
            }
            ty => {
                self.declares = init.is_none();
                self.bind_value(pat, init, ty.is_some_and(|ty| self.elements.is_plain(ty)));
                self.declares = false;
            }
        }
    }

    /// Binds the names of a pattern to the parts of a value. `typed` says whether the `let` has a plain type
    /// annotation.
    fn bind_value(&mut self, pat: &Pat, init: Option<&Expr>, typed: bool) {
        match (pat, init) {
            (Pat::Tuple(p), Some(Expr::Tuple(t))) if p.elems.len() == t.elems.len() => {
                let parts: Vec<(Shape, &Pat, &Expr)> =
                    // All values are evaluated before any name is bound: `let (a, b) = (b, a)` refers to the outer names.
                    p.elems.iter().zip(&t.elems).map(|(p, e)| (self.expr(e), p, e)).collect();
                self.typed = typed;
                self.of_one_pattern(|cx| {
                    parts.into_iter().for_each(|(shape, p, e)| cx.bind(p, shape, Some(e)));
                });
            }
            // What consists of members is bound to one name, but each member may vary on its own.
            (Pat::Ident(p), Some(e)) if self.members(e).is_some() => {
                let shape = match e {
                    Expr::Tuple(_) => Shape::Other,
                    e => self.expr(e),
                };
                let mut members = Vec::new();
                self.parts(&p.ident, e, String::new(), typed, &mut members);
                self.bind(pat, shape, Some(e));
                if let Some(binding) = self.names.last_mut() {
                    (binding.members, binding.variable) = (members, None);
                }
            }
            _ => {
                let shape = init.map_or(Shape::Other, |e| self.expr(e));
                self.typed = typed;
                self.bind(pat, shape, init);
            }
        }
        self.typed = false;
    }

    /// The members of a tuple or of a struct of memory that is written here.
    fn members<'e>(&self, e: &'e Expr) -> Option<Vec<(syn::Member, &'e Expr)>> {
        members(e, &self.known)
    }

    /// Appends the members of the variable `name` that `e`, the part of its value at `path`, has.
    fn parts(&mut self, name: &Ident, e: &Expr, path: String, typed: bool, out: &mut Vec<Part>) {
        if let Some(members) = self.members(e) {
            for (member, e) in members {
                self.parts(name, e, member_path(&path, &member), typed, out);
            }
            return;
        }
        let (shape, variable) = (self.expr(e), self.variable(member_key(name, &path)));
        if !typed && !self.is_number(e) {
            self.open.insert(variable.key.clone());
        }
        if shape.varies() {
            self.varying.insert(variable.key.clone());
        }
        out.push(Part { path, shape, variable });
    }

    /// Runs `f`, which evaluates a pattern's value and binds the pattern's names. These names are not in scope in the
    /// value.
    fn of_one_pattern(&mut self, f: impl FnOnce(&mut Self)) {
        let around = self.pattern;
        self.pattern = around.or(Some(self.names.len()));
        f(self);
        self.pattern = around;
    }

    fn bind(&mut self, pat: &Pat, shape: Shape, init: Option<&Expr>) {
        self.of_one_pattern(|cx| cx.bind_names(pat, shape, init));
    }

    fn bind_names(&mut self, pat: &Pat, shape: Shape, init: Option<&Expr>) {
        match pat {
            Pat::Ident(p) => {
                let deferred = init.is_none() && self.declares;
                let variable = match deferred {
                    true => Some(self.variable(p.ident.to_string())),
                    false => p.mutability.is_some().then(|| self.variable(key(&p.ident))),
                };
                // True if an earlier iteration of the fixpoint found that the variable varies. In this way values are
                // carried around loops.
                let varies = variable.as_ref().is_some_and(|v| self.varying.contains(&v.key));
                let pointer = matches!(shape, Shape::Memory | Shape::OwnPointer);
                if pointer {
                    self.pointers.insert(key(&p.ident));
                }
                let shape = match (varies, pointer) {
                    (true, true) => Shape::OwnPointer,
                    (true, false) => Shape::Varying,
                    (false, _) => shape,
                };
                // Only numbers, and what consists of them, can be made to vary. Of all that syntax does not show to be a
                // number, rustc says whether it is one.
                let certain = self.typed || init.is_some_and(|e| self.is_number(e));
                if !certain && !pointer && init.is_none_or(|e| !self.is_whole(e)) {
                    self.open.insert(key(&p.ident));
                }
                let open = self.open.contains(&key(&p.ident));
                let number = certain || shape == Shape::Varying;
                let variable = variable.filter(|_| number || open || pointer || init.is_none());
                // A plain type annotation does not say whether the variable varies, so the initial value decides.
                if self.typed && shape.varies() {
                    self.varying.insert(key(&p.ident));
                }
                let value = init.and_then(|e| self.question(e));
                self.names.push(Binding {
                    name: p.ident.to_string(),
                    shape,
                    number,
                    variable,
                    members: Vec::new(),
                    value,
                });
            }
            Pat::Tuple(_) | Pat::Struct(_) if matches!(shape, Shape::Asked(_)) && init.is_some() => {
                self.bind_parts(pat, init);
            }
            Pat::Tuple(p) if self.shapes(shape).is_some_and(|members| members.len() == p.elems.len()) => {
                let members = self.shapes(shape).unwrap_or_default().to_vec();
                p.elems.iter().zip(members).for_each(|(p, shape)| self.bind(p, shape, None));
            }
            // Nothing is known about the individual members: if the tuple varies, all of them do.
            Pat::Tuple(p) => p.elems.iter().for_each(|p| self.bind(p, shape, None)),
            Pat::Slice(p) => p.elems.iter().for_each(|p| self.bind(p, shape, None)),
            // The fields of a varying value vary.
            Pat::TupleStruct(p) => p.elems.iter().for_each(|p| self.bind(p, shape, None)),
            Pat::Struct(p) => p.fields.iter().for_each(|f| self.bind(&f.pat, shape, None)),
            Pat::Paren(p) => self.bind(&p.pat, shape, init),
            Pat::Type(p) => self.bind(&p.pat, shape, init),
            _ => {}
        }
    }

    /// Binds the pattern of a loop to the elements that the loop iterates over. In `(i, e)`, as yielded by `enumerate`
    /// and `zip`, each part may vary.
    fn bind_elements(&mut self, pat: &Pat, shape: Shape) {
        match pat {
            Pat::Tuple(p) => {
                let members = self.shapes(shape).filter(|members| members.len() == p.elems.len());
                let members = members.map_or_else(|| vec![shape; p.elems.len()], <[Shape]>::to_vec);
                p.elems.iter().zip(members).for_each(|(p, shape)| self.bind_elements(p, shape));
            }
            Pat::Reference(p) => self.bind_elements(&p.pat, shape),
            Pat::Paren(p) => self.bind_elements(&p.pat, shape),
            _ => self.bind(pat, shape, None),
        }
    }

    fn name(&self, e: &Expr) -> Option<&Binding> {
        let name = name_of(e)?.to_string();
        self.names.iter().rev().find(|b| name == b.name)
    }

    /// The name of the variable of which `e` is a part, and the part's path.
    fn place(&self, e: &Expr) -> Option<(&Binding, String)> {
        match e {
            Expr::Field(f) => self.place(&f.base).map(|(of, path)| (of, member_path(&path, &f.member))),
            Expr::Paren(p) => self.place(&p.expr),
            e => self.name(e).map(|of| (of, String::new())),
        }
    }

    /// The members of a variable that have a part of `e`, or of which `e` is a part.
    fn parts_of(&self, e: &Expr) -> Vec<(Shape, Variable)> {
        let Some((of, path)) = self.place(e) else { return Vec::new() };
        let overlaps = |part: &&Part| is_within(&path, &part.path) || is_within(&part.path, &path);
        of.members.iter().filter(overlaps).map(|part| (part.shape, part.variable.clone())).collect()
    }

    /// The shape of a value whose parts are known; `None` if `e` is no such value.
    fn of_parts(&mut self, e: &Expr) -> Option<Shape> {
        let parts = self.parts_of(e);
        let shapes = parts.iter().map(|(shape, variable)| match self.varying.contains(&variable.key) {
            true => Shape::Varying,
            false => self.decided_by(*shape, &variable.key, variable.height),
        });
        let shapes: Vec<Shape> = shapes.collect();
        shapes.into_iter().reduce(|all, shape| self.either(all, shape))
    }

    /// Records that a value of this shape is assigned to `to`.
    fn assign(&mut self, to: &Expr, shape: Shape) {
        match to {
            Expr::Index(e) => {
                // With a varying index, lanes write different elements, so the whole array varies.
                let index = self.expr(&e.index);
                let shape = self.either(shape, index);
                self.assign(&e.expr, shape);
            }
            Expr::Paren(e) => self.assign(&e.expr, shape),
            Expr::Unary(e) => self.assign(&e.expr, shape),
            Expr::Tuple(t) => t.elems.iter().for_each(|e| self.assign(e, Shape::Other)),
            _ if let Some(members) = self.shapes(shape).map(<[Shape]>::to_vec) => {
                for (member, shape) in members.into_iter().enumerate() {
                    let member = syn::Member::from(member);
                    self.assign(&syn::parse_quote!(#to.#member), shape);
                }
            }
            _ => {
                let mut written: Vec<Variable> =
                    self.parts_of(to).into_iter().map(|(_, part)| part).collect();
                // The members of other variables are not known one by one. Where all are numbers, all become varying.
                let whole = self.place(to).filter(|(of, path)| path.is_empty() || of.number);
                written.extend(whole.and_then(|(of, _)| of.variable.clone()));
                for variable in written {
                    if shape.varies() || self.depth > variable.depth || self.wonder(&variable, shape) {
                        self.varying.insert(variable.key);
                    }
                }
            }
        }
    }
}

/// The members of a tuple or of a struct of memory that is written here.
fn members<'e>(e: &'e Expr, known: &Known) -> Option<Vec<(syn::Member, &'e Expr)>> {
    match e {
        Expr::Paren(e) => members(&e.expr, known),
        Expr::Tuple(t) => Some(t.elems.iter().enumerate().map(|(i, e)| (syn::Member::from(i), e)).collect()),
        Expr::Struct(s) if s.rest.is_none() => {
            let name = s.path.get_ident()?.to_string();
            known
                .data
                .contains_key(&name)
                .then(|| s.fields.iter().map(|f| (f.member.clone(), &f.expr)).collect())
        }
        _ => None,
    }
}

/// As [`members`], with the members to be changed.
fn members_mut<'e>(e: &'e mut Expr, known: &Known) -> Option<Vec<(syn::Member, &'e mut Expr)>> {
    members(e, known)?;
    match e {
        Expr::Paren(e) => members_mut(&mut e.expr, known),
        Expr::Tuple(t) => {
            Some(t.elems.iter_mut().enumerate().map(|(i, e)| (syn::Member::from(i), e)).collect())
        }
        Expr::Struct(s) => Some(s.fields.iter_mut().map(|f| (f.member.clone(), &mut f.expr)).collect()),
        _ => None,
    }
}
