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
use crate::parse::{KernelFn, Known};
use crate::syntax::name_of;
use crate::ty::{Elements, bare, is_handle};
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
    /// True if the value is the result of a call, or computed from one, so that it may be a number.
    open: bool,
    /// `Some` for a `let mut`, and for a `let` without a value.
    variable: Option<Variable>,
    /// The members of the value, if it is a tuple.
    members: Option<Members>,
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

/// The members of a tuple that a `let` binds.
struct Members {
    /// The source position of the name; a member's key is this position followed by the member's index.
    key: String,
    /// The number of varying conditions around the `let`.
    depth: usize,
    /// For each member, true if it is certainly a number.
    numbers: Vec<bool>,
}

/// A loop or a labelled block: its label, and the data that a variable declared at its start would have.
#[derive(Clone)]
struct Around {
    start: Variable,
    label: Option<String>,
    is_loop: bool,
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

    /// True if this member of the tuple variable `name` varies.
    pub fn has_member(&self, name: &Ident, member: usize) -> bool {
        self.variables.contains(&format!("{}.{member}", key(name)))
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
            (Pat::Ident(p), Some(Expr::Tuple(t))) => {
                let shapes: Vec<Shape> = t.elems.iter().map(|e| self.expr(e)).collect();
                self.bind(pat, Shape::Other, None);
                // A tuple that is bound to one name is one variable; its members are tracked by index.
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
                // Only a number can be made to vary.
                let certain = self.typed || init.is_some_and(|e| self.is_number(e));
                let open = !certain && !pointer && init.is_some_and(|e| self.may_be_number(e));
                let number = certain || shape == Shape::Varying;
                let variable = variable.filter(|_| number || open || pointer || init.is_none());
                if open {
                    self.open.insert(key(&p.ident));
                }
                // A plain type annotation does not say whether the variable varies, so the initial value decides.
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
            Pat::Tuple(p) => p.elems.iter().for_each(|p| self.bind_elements(p, shape)),
            Pat::Reference(p) => self.bind_elements(&p.pat, shape),
            Pat::Paren(p) => self.bind_elements(&p.pat, shape),
            _ => self.bind(pat, shape, None),
        }
    }

    fn name(&self, e: &Expr) -> Option<&Binding> {
        let name = name_of(e)?.to_string();
        self.names.iter().rev().find(|b| name == b.name)
    }

    /// The key of the tuple member that `e` denotes, and the depth of the tuple's declaration; `None` if the member is
    /// not a number.
    fn member(&self, e: &syn::ExprField) -> Option<(String, usize)> {
        let (syn::Member::Unnamed(member), Some(binding)) = (&e.member, self.name(&e.base)) else {
            return None;
        };
        let members = binding.members.as_ref()?;
        let number = members.numbers.get(member.index as usize)?;
        number.then(|| (format!("{}.{}", members.key, member.index), members.depth))
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
