//! Extracts the accesses to variables from a body.

use std::rc::Rc;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Block, Expr, FnArg, Ident, Label, Local, Pat, Stmt, Type, UnOp};

use super::events::{Event, Target, Write, nothing};
use super::{Form, Variable};
use crate::attrs;
use crate::expand::places::receiver::may_change;
use crate::operator::is_compound;
use crate::parse::{KernelFn, Known};
use crate::syntax::name_of;

/// The variables of a function, and the accesses of its body to them.
pub(super) fn body(function: &KernelFn, body: &Block) -> (Vec<Variable>, Event) {
    let mut reader = Reader { known: Rc::clone(&function.known), names: Vec::new(), variables: Vec::new() };
    let mut events = Vec::new();
    for input in &function.sig.inputs {
        let FnArg::Typed(typed) = input else { continue };
        let is_token = matches!(&*typed.ty, Type::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == "AllLanes"));
        // The expansion adds calls that use the `AllLanes` token, so the token never counts as unused.
        if !is_token {
            reader.bind(&typed.pat, Form::Parameter, true, &mut events);
        }
    }
    events.push(reader.block(body));
    (reader.variables, Event::Seq(events))
}

struct Reader {
    known: Rc<Known>,
    /// Names in scope, innermost last, each with the index of its variable.
    names: Vec<(String, usize)>,
    variables: Vec<Variable>,
}

fn label(label: Option<&Label>) -> Target {
    label.map(|l| l.name.ident.to_string())
}

impl Reader {
    fn find(&self, name: &Ident) -> Option<usize> {
        let name = name.to_string();
        self.names.iter().rev().find(|(text, _)| name == *text).map(|(_, id)| *id)
    }

    /// The variable that a chain of field accesses and indices starts from.
    fn root(&self, e: &Expr) -> Option<usize> {
        match e {
            Expr::Field(e) => self.root(&e.base),
            Expr::Index(e) => self.root(&e.expr),
            Expr::Paren(e) => self.root(&e.expr),
            Expr::Group(e) => self.root(&e.expr),
            _ => self.find(name_of(e)?),
        }
    }

    fn lend(&mut self, e: &Expr) {
        if let Some(id) = self.root(e) {
            self.variables[id].lent = true;
        }
    }

    /// For tokens that cannot be parsed as expressions: marks every name in them as used in an unknown way.
    fn hidden(&mut self, tokens: TokenStream) -> Event {
        for token in tokens {
            match token {
                TokenTree::Ident(name) => self.hide(&name.to_string()),
                TokenTree::Group(group) => {
                    self.hidden(group.stream());
                }
                // A format string such as `"{x}"`.
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    // Format strings name variables without identifier tokens.
                    for part in text.split('{').skip(1) {
                        let end = part.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(part.len());
                        self.hide(&part[..end]);
                    }
                }
                TokenTree::Punct(_) => {}
            }
        }
        nothing()
    }

    fn hide(&mut self, name: &str) {
        // The variable that the name refers to here is unknown, so all variables of this name count as used.
        for (_, id) in self.names.iter().filter(|(text, _)| text == name) {
            self.variables[*id].hidden = true;
        }
    }

    /// Declares the names of a pattern. `valued` says whether they have an initial value.
    fn bind(&mut self, pat: &Pat, form: Form, valued: bool, out: &mut Vec<Event>) {
        let mut each = |p: &Pat, form| self.bind(p, form, valued, out);
        match pat {
            Pat::Ident(p) => {
                // A capitalised name is a constant or a unit struct, which a pattern compares instead of binding.
                if p.ident.to_string().starts_with(char::is_uppercase) {
                    return;
                }
                if let Some((_, inner)) = &p.subpat {
                    each(inner, Form::Plain);
                }
                let id = self.variables.len();
                self.variables.push(Variable {
                    name: p.ident.clone(),
                    mutable: p.mutability.map(|m| m.span),
                    form,
                    reads: 0,
                    writes: 0,
                    lent: false,
                    hidden: p.by_ref.is_some(),
                });
                self.names.push((p.ident.to_string(), id));
                if valued {
                    let at = p.ident.clone();
                    out.push(Event::Write(Write { variable: id, at, first: true, reads: false }));
                }
            }
            Pat::Tuple(p) => p.elems.iter().for_each(|p| each(p, form)),
            Pat::TupleStruct(p) => p.elems.iter().for_each(|p| each(p, form)),
            Pat::Slice(p) => p.elems.iter().for_each(|p| each(p, form)),
            Pat::Paren(p) => each(&p.pat, form),
            Pat::Reference(p) => each(&p.pat, form),
            Pat::Type(p) => each(&p.pat, form),
            Pat::Struct(p) => {
                p.fields
                    .iter()
                    // To ignore a shorthand field, the user has to write `x: _`, so rustc's advice for such a field
                    // differs.
                    .for_each(|f| each(&f.pat, if f.colon_token.is_none() { Form::Field } else { form }));
            }
            // All alternatives bind the same names.
            Pat::Or(p) => {
                let before = self.variables.len();
                p.cases.iter().for_each(|p| self.bind(p, form, valued, out));
                self.variables[before..].iter_mut().for_each(|v| v.hidden = true);
            }
            _ => {}
        }
    }

    fn scope<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let depth = self.names.len();
        let result = f(self);
        self.names.truncate(depth);
        result
    }

    fn block(&mut self, block: &Block) -> Event {
        self.scope(|r| {
            let mut events = Vec::new();
            for stmt in &block.stmts {
                match stmt {
                    Stmt::Local(local) => r.local(local, &mut events),
                    Stmt::Expr(e, _) => events.push(r.expr(e)),
                    Stmt::Macro(m) => events.push(r.hidden(m.mac.tokens.clone())),
                    Stmt::Item(item) => events.push(r.hidden(item.to_token_stream())),
                }
            }
            Event::Seq(events)
        })
    }

    fn local(&mut self, local: &Local, out: &mut Vec<Event>) {
        if let Some(init) = &local.init {
            out.push(self.expr(&init.expr));
            if let Some((_, els)) = &init.diverge {
                let els = self.expr(els);
                out.push(Event::Either(vec![els, nothing()]));
            }
        }
        let before = self.variables.len();
        self.bind(&local.pat, Form::Plain, local.init.is_some(), out);
        if !local.attrs.is_empty() {
            // Attributes such as `#[carried]` and `#[register(…)]` use the variable in ways that this analysis does not know.
            self.variables[before..].iter_mut().for_each(|v| v.hidden = true);
            local.attrs.iter().for_each(|a| {
                self.hidden(a.to_token_stream());
            });
        }
    }

    fn all<'e>(&mut self, parts: impl IntoIterator<Item = &'e Expr>) -> Event {
        Event::Seq(parts.into_iter().map(|e| self.expr(e)).collect())
    }

    /// A write to `left`, which takes place after the right side has been evaluated.
    fn assign(&mut self, left: &Expr, reads: bool) -> Event {
        match left {
            Expr::Paren(p) => self.assign(&p.expr, reads),
            Expr::Group(g) => self.assign(&g.expr, reads),
            Expr::Tuple(t) => Event::Seq(t.elems.iter().map(|e| self.assign(e, reads)).collect()),
            Expr::Array(a) => Event::Seq(a.elems.iter().map(|e| self.assign(e, reads)).collect()),
            _ => match name_of(left).and_then(|name| Some((name, self.find(name)?))) {
                Some((name, variable)) => {
                    self.variables[variable].writes += 1;
                    Event::Write(Write { variable, at: name.clone(), first: false, reads })
                }
                None => {
                    // A write to a field or an element both reads and changes the whole variable.
                    self.lend(left);
                    self.expr(left)
                }
            },
        }
    }

    fn expr(&mut self, e: &Expr) -> Event {
        match e {
            Expr::Path(_) => match name_of(e).and_then(|name| self.find(name)) {
                Some(id) => {
                    self.variables[id].reads += 1;
                    Event::Read(id)
                }
                None => nothing(),
            },
            Expr::Lit(_) | Expr::Infer(_) => nothing(),
            Expr::Assign(e) => Event::Seq(vec![self.expr(&e.right), self.assign(&e.left, false)]),
            Expr::Binary(e) if is_compound(&e.op) => {
                Event::Seq(vec![self.expr(&e.right), self.assign(&e.left, true)])
            }
            Expr::Binary(e) => self.all([&*e.left, &*e.right]),
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => {
                // An assignment through `*x` may follow: it changes the target of `x` and not `x` itself.
                self.lend(&e.expr);
                self.expr(&e.expr)
            }
            Expr::Unary(e) => self.expr(&e.expr),
            Expr::Paren(e) => self.expr(&e.expr),
            Expr::Group(e) => self.expr(&e.expr),
            Expr::Cast(e) => self.expr(&e.expr),
            Expr::Try(e) => {
                Event::Seq(vec![self.expr(&e.expr), Event::Either(vec![Event::Return, nothing()])])
            }
            Expr::Field(e) => self.expr(&e.base),
            Expr::Index(e) => self.all([&*e.expr, &*e.index]),
            Expr::Repeat(e) => self.all([&*e.expr, &*e.len]),
            Expr::Tuple(e) => self.all(&e.elems),
            Expr::Array(e) => self.all(&e.elems),
            Expr::Range(e) => self.all(e.start.iter().chain(&e.end).map(|e| &**e)),
            Expr::Struct(e) => self.all(e.fields.iter().map(|f| &f.expr).chain(e.rest.as_deref())),
            Expr::Reference(r) => {
                if r.mutability.is_some() {
                    self.lend(&r.expr);
                }
                self.expr(&r.expr)
            }
            Expr::Call(e) => {
                // Calling a closure may change captured variables. Rust then requires `mut` on the closure's own
                // variable.
                self.lend(&e.func);
                self.all([&*e.func].into_iter().chain(&e.args))
            }
            Expr::MethodCall(e) => {
                if self.known.mutating.contains(&e.method.to_string()) || may_change(&e.method) {
                    self.lend(&e.receiver);
                }
                self.all([&*e.receiver].into_iter().chain(&e.args))
            }
            _ => self.flow(e),
        }
    }

    /// A condition and, for `if let`, the names that it binds.
    fn condition(&mut self, e: &Expr) -> Event {
        let Expr::Let(e) = e else { return self.expr(e) };
        let mut events = vec![self.expr(&e.expr)];
        self.bind(&e.pat, Form::Plain, true, &mut events);
        Event::Seq(events)
    }

    fn flow(&mut self, e: &Expr) -> Event {
        match e {
            Expr::If(e) => {
                let (condition, then) = self.scope(|r| (r.condition(&e.cond), r.block(&e.then_branch)));
                let els = e.else_branch.as_ref().map_or_else(nothing, |(_, e)| self.expr(e));
                Event::Seq(vec![condition, Event::Either(vec![then, els])])
            }
            Expr::Match(e) => {
                let matched = self.expr(&e.expr);
                let arms = e.arms.iter().map(|arm| {
                    self.scope(|r| {
                        let mut events = Vec::new();
                        r.bind(&arm.pat, Form::Plain, true, &mut events);
                        events.extend(arm.guard.as_ref().map(|(_, guard)| r.expr(guard)));
                        events.push(r.expr(&arm.body));
                        Event::Seq(events)
                    })
                });
                let arms = Event::Either(arms.collect());
                Event::Seq(vec![matched, arms])
            }
            Expr::Block(b) if b.attrs.iter().any(attrs::is_comptime) => {
                self.hidden(b.block.to_token_stream())
            }
            Expr::Block(b) => {
                let body = self.block(&b.block);
                match &b.label {
                    Some(_) => Event::Block(label(b.label.as_ref()), Box::new(body)),
                    None => body,
                }
            }
            Expr::While(e) => {
                let (condition, body) = self.scope(|r| (r.condition(&e.cond), r.block(&e.body)));
                self.trips(e.label.as_ref(), vec![condition, Event::Either(vec![Event::Break(None), body])])
            }
            Expr::Loop(e) => {
                let body = self.block(&e.body);
                self.trips(e.label.as_ref(), vec![body])
            }
            Expr::ForLoop(e) => {
                e.attrs.iter().for_each(|a| {
                    self.hidden(a.to_token_stream());
                });
                let over = self.expr(&e.expr);
                let body = self.scope(|r| {
                    let mut events = Vec::new();
                    r.bind(&e.pat, Form::Plain, true, &mut events);
                    events.push(r.block(&e.body));
                    Event::Seq(events)
                });
                let trips = self.trips(e.label.as_ref(), vec![Event::Either(vec![Event::Break(None), body])]);
                Event::Seq(vec![over, trips])
            }
            Expr::Break(e) => {
                let value = e.expr.as_ref().map_or_else(nothing, |e| self.expr(e));
                Event::Seq(vec![value, Event::Break(e.label.as_ref().map(|l| l.ident.to_string()))])
            }
            Expr::Continue(e) => Event::Continue(e.label.as_ref().map(|l| l.ident.to_string())),
            Expr::Return(e) => {
                let value = e.expr.as_ref().map_or_else(nothing, |e| self.expr(e));
                Event::Seq(vec![value, Event::Return])
            }
            // It is unknown when the closure is called, so the variables it mentions are only marked as used.
            Expr::Closure(e) => self.hidden(e.body.to_token_stream()),
            other => self.hidden(other.to_token_stream()),
        }
    }

    fn trips(&mut self, name: Option<&Label>, body: Vec<Event>) -> Event {
        Event::Loop(label(name), Box::new(Event::Seq(body)))
    }
}
