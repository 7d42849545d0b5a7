//! Finds the variables that start with a uniform value and are later assigned a varying one.
//!
//! In `let mut sum = 0.0; sum += x[i];` each lane has its own sum, but the type of the first value does not show that.
//! This analysis reads the body before it is expanded. It finds the variables that are certainly assigned a varying
//! value, or assigned under a varying condition: as uniform variables they would not compile. It follows names,
//! operators and control flow to a fixpoint, because loops carry values back. What syntax does not show, such as
//! results of functions declared elsewhere, is decided by rustc (`asked`); where that is not possible the value counts
//! as uniform. The members of a tuple are analysed separately. A written plain type, `let mut sum: f32 = 0.0`, is an
//! element type and does not determine whether the variable varies.

mod asked;
mod flow;
mod numbers;
mod parameters;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use syn::{Block, Expr, Ident, Pat, Stmt, Type};

use crate::expand::places::receiver;
use crate::parse::{KernelFn, Known};
use crate::syntax::name_of;
use crate::ty::{Elements, bare, is_handle};
use asked::Question;
use parameters::parameter;

/// The knowledge about a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Uniform, or not determined by syntax.
    Other,
    /// A number that differs between lanes, or an array of such numbers.
    Varying,
    /// Memory that gives a uniform value at a uniform index.
    ReadOnly,
    /// Memory whose elements vary at every index.
    Memory,
    /// A pointer that differs between lanes.
    OwnPointer,
    /// A closure whose value varies.
    Closure,
    /// Only rustc knows; the number of the question to it.
    Asked(usize),
}

impl Shape {
    /// True if every lane has its own value.
    fn varies(self) -> bool {
        matches!(self, Shape::Varying | Shape::OwnPointer)
    }
}

/// Types whose elements vary.
const MEMORY: [&str; 3] = ["Lds", "LdsSlice", "Private"];

/// Methods of memory that give memory.
const POINTERS: [&str; 5] = ["add", "offset", "cast", "slice", "as_slice"];

/// A name in scope.
struct Binding {
    name: String,
    shape: Shape,
    /// Certainly a number, or memory of numbers.
    number: bool,
    /// The result of a call, or computed from one: it may be a number.
    open: bool,
    /// For a `let mut`, and for a `let` without a value.
    variable: Option<Variable>,
    /// Of a tuple.
    members: Option<Members>,
    /// Its initial value, if that can replace the name.
    value: Option<Question>,
}

/// A variable that can be made to vary.
#[derive(Clone)]
struct Variable {
    /// The position of the name in the source; for a `let` without a value, the name.
    key: String,
    /// The number of varying conditions around it, of conditions that only rustc knows, and of names in scope.
    depth: usize,
    doubts: usize,
    height: usize,
}

/// The members of a tuple that a `let` binds.
struct Members {
    /// The position of the name in the source; for a member, followed by its index.
    key: String,
    /// The number of varying conditions around the `let`.
    depth: usize,
    /// Which of them are numbers for certain.
    numbers: Vec<bool>,
}

/// A loop or a labelled block: the same data as for a variable declared there, and its label.
#[derive(Clone)]
struct Around {
    start: Variable,
    label: Option<String>,
    is_loop: bool,
}

/// The varying variables of a function, by the positions of their names in the source.
#[derive(Default)]
pub(crate) struct Varying {
    variables: HashSet<String>,
    /// Variables that are pointers.
    pointers: HashSet<String>,
    /// Variables for which only rustc knows whether they are numbers.
    open: HashSet<String>,
    /// For the other variables, the assigned values for which only rustc knows whether they vary.
    asked: HashMap<String, Vec<Question>>,
    /// Calls of host functions, declared in the body, with varying arguments.
    pub on_the_host: Vec<Ident>,
}

impl Varying {
    /// True if the variable of this `let` varies.
    pub fn has(&self, name: &Ident) -> bool {
        self.variables.contains(&key(name))
    }

    /// True if the variable of this `let` is a pointer.
    pub fn is_pointer(&self, name: &Ident) -> bool {
        self.pointers.contains(&key(name))
    }

    /// True if this member of the tuple variable varies.
    pub fn has_member(&self, name: &Ident, member: usize) -> bool {
        self.variables.contains(&format!("{}.{member}", key(name)))
    }

    /// The same for a variable without a first value, by its name: its assignments come later.
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
        let before = found.progress();
        found.questions.clear();
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
                    open: false,
                    variable: None,
                    members: None,
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
    /// Reads the body before it is expanded.
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
    /// The `let` that is being read has no value, or has a plain type.
    declares: bool,
    typed: bool,
    /// The number of varying conditions around the current point.
    depth: usize,
    /// The conditions around it that only rustc knows, by the numbers of the questions.
    doubts: Vec<usize>,
    /// The loops and labelled blocks around.
    loops: Vec<Around>,
    /// Loops and blocks around it whose end, or next trip, some lanes have already reached by an exit.
    skipped: HashSet<String>,
    /// The same if only rustc knows, with the questions.
    doubted: Vec<(String, usize)>,
    /// The number of names in scope at the start of the pattern that is being bound.
    pattern: Option<usize>,
    /// Variables that vary.
    varying: HashSet<String>,
    pointers: HashSet<String>,
    open: HashSet<String>,
    /// Loops that some lanes leave by `break`.
    left: HashSet<String>,
    questions: Vec<Vec<Question>>,
    /// For variables and loops, by the position of their start, the questions that decide whether they vary.
    asked: HashMap<String, Vec<Question>>,
    /// Functions declared in the body, and calls of them with varying arguments.
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
                    if semi.is_none() {
                        shape = value;
                    }
                }
                Stmt::Item(syn::Item::Fn(f)) => {
                    self.nested.insert(f.sig.ident.to_string());
                }
                _ => {}
            }
            // The other lanes do not get to the rest.
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
            // A written device type decides; the value can only confirm it.
            Some(ty) if !self.elements.is_plain(ty) && !matches!(bare(ty), Type::Ptr(_)) => {
                let value = init.map_or(Shape::Other, |e| self.expr(e));
                let shape = match value {
                    _ if self.known.varies(ty) => Shape::Varying,
                    Shape::Asked(_) if !is_handle(ty) => value,
                    _ => Shape::Other,
                };
                self.bind(pat, shape, None);
            }
            // Without a type each lane has its own; `asked` cannot put the value in the variable's place.
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

    /// Binds the names of a pattern to the parts of a value; `typed` if a plain type is written.
    fn bind_value(&mut self, pat: &Pat, init: Option<&Expr>, typed: bool) {
        match (pat, init) {
            (Pat::Tuple(p), Some(Expr::Tuple(t))) if p.elems.len() == t.elems.len() => {
                let parts: Vec<(Shape, &Pat, &Expr)> =
                    // All values before any name is bound: `let (a, b) = (b, a)` refers to the outer names.
                    p.elems.iter().zip(&t.elems).map(|(p, e)| (self.expr(e), p, e)).collect();
                self.typed = typed;
                self.of_one_pattern(|cx| {
                    parts.into_iter().for_each(|(shape, p, e)| cx.bind(p, shape, Some(e)));
                });
            }
            (Pat::Ident(p), Some(Expr::Tuple(t))) => {
                let shapes: Vec<Shape> = t.elems.iter().map(|e| self.expr(e)).collect();
                self.bind(pat, Shape::Other, None);
                // A named tuple is one variable whose members are tracked by their positions.
                let numbers = t.elems.iter().map(|e| typed || self.is_number(e)).collect();
                let varying = shapes.iter().enumerate().filter(|(_, shape)| **shape == Shape::Varying);
                let key = key(&p.ident);
                self.varying.extend(varying.map(|(member, _)| format!("{key}.{member}")));
                if let Some(binding) = self.names.last_mut() {
                    binding.members = Some(Members { key, depth: self.depth, numbers });
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

    /// A pattern's value is computed before any of its names is bound.
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
                // A result of an earlier round: the iteration carries values around loops this way.
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
                // Only a number can be made to vary.
                let certain = self.typed || init.is_some_and(|e| self.is_number(e));
                let open = !certain && !pointer && init.is_some_and(|e| self.may_be_number(e));
                let number = certain || shape == Shape::Varying;
                let variable = variable.filter(|_| number || open || pointer || init.is_none());
                if open {
                    self.open.insert(key(&p.ident));
                }
                // A plain written type leaves the place open, so the first value decides it.
                if self.typed && shape.varies() {
                    self.varying.insert(key(&p.ident));
                }
                let value = init.and_then(|e| self.question(e));
                self.names.push(Binding {
                    name: p.ident.to_string(),
                    shape,
                    number,
                    open,
                    variable,
                    members: None,
                    value,
                });
            }
            Pat::Tuple(_) | Pat::Struct(_) if matches!(shape, Shape::Asked(_)) && init.is_some() => {
                self.bind_parts(pat, init);
            }
            // For a tuple whose members differ nothing is known; if it varies, all its members do.
            Pat::Tuple(p) => p.elems.iter().for_each(|p| self.bind(p, shape, None)),
            Pat::Slice(p) => p.elems.iter().for_each(|p| self.bind(p, shape, None)),
            // The fields of what varies do.
            Pat::TupleStruct(p) => p.elems.iter().for_each(|p| self.bind(p, shape, None)),
            Pat::Struct(p) => p.fields.iter().for_each(|f| self.bind(&f.pat, shape, None)),
            Pat::Paren(p) => self.bind(&p.pat, shape, init),
            Pat::Type(p) => self.bind(&p.pat, shape, init),
            _ => {}
        }
    }

    /// Binds the elements that a loop iterates over: of `(i, e)`, which `enumerate` and `zip` yield, each part may
    /// vary.
    fn bind_elements(&mut self, pat: &Pat, shape: Shape) {
        match pat {
            Pat::Tuple(p) => p.elems.iter().for_each(|p| self.bind_elements(p, shape)),
            Pat::Reference(p) => self.bind_elements(&p.pat, shape),
            Pat::Paren(p) => self.bind_elements(&p.pat, shape),
            _ => self.bind(pat, shape, None),
        }
    }

    fn name(&self, e: &Expr) -> Option<&Binding> {
        let name = name_of(e)?;
        self.names.iter().rev().find(|b| name == &b.name)
    }

    /// The member of a tuple that is a number, by its key, with the depth of its declaration.
    fn member(&self, e: &syn::ExprField) -> Option<(String, usize)> {
        let (syn::Member::Unnamed(member), Some(binding)) = (&e.member, self.name(&e.base)) else {
            return None;
        };
        let members = binding.members.as_ref()?;
        let number = members.numbers.get(member.index as usize)?;
        number.then(|| (format!("{}.{}", members.key, member.index), members.depth))
    }

    /// A value of this shape is assigned.
    fn assign(&mut self, to: &Expr, shape: Shape) {
        match to {
            Expr::Index(e) => {
                // A varying index writes different elements in different lanes, so the whole array varies.
                let index = self.expr(&e.index);
                let shape = self.either(shape, index);
                self.assign(&e.expr, shape);
            }
            Expr::Paren(e) => self.assign(&e.expr, shape),
            Expr::Unary(e) => self.assign(&e.expr, shape),
            Expr::Field(e) => {
                if let Some((key, depth)) = self.member(e)
                    && (shape == Shape::Varying || self.depth > depth)
                {
                    self.varying.insert(key);
                }
            }
            Expr::Tuple(t) => t.elems.iter().for_each(|e| self.assign(e, Shape::Other)),
            _ => {
                let Some(variable) = self.name(to).and_then(|b| b.variable.clone()) else { return };
                if shape.varies() || self.depth > variable.depth || self.wonder(&variable, shape) {
                    self.varying.insert(variable.key);
                }
            }
        }
    }
}
