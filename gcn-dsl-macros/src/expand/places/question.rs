//! `?` on a device `Option` or `Result` becomes a statement `let Some(value) = … else { return None };` before the
//! statement that contains it.
//!
//! Subexpressions that Rust evaluates before the `?` are first bound to names, which preserves the order. A `?` in a
//! subexpression that is evaluated only conditionally, such as the right side of `&&`, cannot be moved before the
//! statement and is an error.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::Visit;
use syn::{BinOp, Block, Expr, ExprTry, Stmt, parse_quote_spanned};

use crate::attrs;
use crate::errors::Errors;
use crate::operator::is_compound;
use crate::syntax::name_of;
use crate::ty::{optional, resulting};

/// The block with every `?` replaced; `None` if it contains no `?`.
pub(in crate::expand) fn hoisted(
    block: &Block,
    result: Option<&syn::Type>,
    errors: &mut Errors,
) -> Option<Block> {
    let first = first(|v| v.visit_block(block))?;
    let fails = result.is_some_and(|ty| resulting(ty).is_some());
    if !fails && result.and_then(optional).is_none() {
        let what = "`?` ends the function with `None` or an error where there is no value, and this one returns no `Option` and no \
                    `Result`: write `let Some(x) = … else { … };`";
        errors.push(syn::Error::new(first, what));
        return None;
    }
    let mut block = block.clone();
    Hoist { errors, fails, names: 0 }.block(&mut block);
    Some(block)
}

/// The position of the first `?` on a device value.
fn first(visit: impl FnOnce(&mut Find)) -> Option<Span> {
    let mut find = Find(None);
    visit(&mut find);
    find.0
}

struct Find(Option<Span>);

impl<'ast> Visit<'ast> for Find {
    fn visit_expr_try(&mut self, e: &'ast ExprTry) {
        // The inner `?` is evaluated first.
        self.visit_expr(&e.expr);
        self.0.get_or_insert(e.question_token.spans[0]);
    }
    fn visit_expr_block(&mut self, e: &'ast syn::ExprBlock) {
        if !e.attrs.iter().any(attrs::is_comptime) {
            self.visit_block(&e.block);
        }
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

fn find(e: &Expr) -> Option<Span> {
    first(|v| v.visit_expr(e))
}

struct Hoist<'e> {
    errors: &'e mut Errors,
    /// True if the function returns a `Result` and not an `Option`.
    fails: bool,
    names: usize,
}

impl Hoist<'_> {
    fn block(&mut self, block: &mut Block) {
        for mut stmt in std::mem::take(&mut block.stmts) {
            match &mut stmt {
                Stmt::Local(local) => {
                    if let Some(init) = &mut local.init {
                        self.expr(&mut init.expr, &mut block.stmts);
                        if let Some((_, els)) = &mut init.diverge {
                            self.later(els);
                        }
                    }
                }
                Stmt::Expr(e, _) => self.expr(e, &mut block.stmts),
                Stmt::Macro(_) | Stmt::Item(_) => {}
            }
            block.stmts.push(stmt);
        }
    }

    /// Rewrites an expression that is evaluated exactly once: each `?` in it becomes a statement in `before`.
    fn expr(&mut self, e: &mut Expr, before: &mut Vec<Stmt>) {
        if find(e).is_none() {
            return;
        }
        match e {
            Expr::Try(question) => {
                self.expr(&mut question.expr, before);
                let (at, value) = (question.question_token.spans[0], &question.expr);
                let name = self.fresh(at);
                before.push(match self.fails {
                    true => parse_quote_spanned!(at=> let #name = match #value {
                        Ok(#name) => #name,
                        Err(#name) => return Err(#name),
                    };),
                    false => parse_quote_spanned!(at=> let Some(#name) = #value else { return None };),
                });
                *e = parse_quote_spanned!(at=> #name);
            }
            Expr::Paren(x) => self.expr(&mut x.expr, before),
            Expr::Group(x) => self.expr(&mut x.expr, before),
            Expr::Unary(x) => self.expr(&mut x.expr, before),
            Expr::Cast(x) => self.expr(&mut x.expr, before),
            Expr::Field(x) => self.expr(&mut x.base, before),
            Expr::Reference(x) => self.expr(&mut x.expr, before),
            Expr::Repeat(x) => self.expr(&mut x.expr, before),
            Expr::Return(x) => x.expr.iter_mut().for_each(|x| self.expr(x, before)),
            Expr::Break(x) => x.expr.iter_mut().for_each(|x| self.expr(x, before)),
            Expr::Assign(x) if find(&x.left).is_none() => self.assigned(&mut x.right, before),
            Expr::Binary(x) if is_compound(&x.op) && find(&x.left).is_none() => {
                self.assigned(&mut x.right, before);
            }
            // The left side of `&&` and `||` is always evaluated, the right side only sometimes.
            Expr::Binary(x) if matches!(x.op, BinOp::And(_) | BinOp::Or(_)) && find(&x.right).is_none() => {
                self.expr(&mut x.left, before);
            }
            Expr::Binary(x) if !is_compound(&x.op) && !matches!(x.op, BinOp::And(_) | BinOp::Or(_)) => {
                self.sequence(vec![&mut x.left, &mut x.right], before);
            }
            Expr::Index(x) => self.sequence(vec![&mut x.expr, &mut x.index], before),
            Expr::Call(x) => self.sequence(x.args.iter_mut().collect(), before),
            Expr::MethodCall(x) => {
                self.sequence([&mut *x.receiver].into_iter().chain(&mut x.args).collect(), before);
            }
            Expr::Tuple(x) => self.sequence(x.elems.iter_mut().collect(), before),
            Expr::Array(x) => self.sequence(x.elems.iter_mut().collect(), before),
            Expr::Struct(x) => self.sequence(x.fields.iter_mut().map(|f| &mut f.expr).collect(), before),
            Expr::Range(x) => {
                self.sequence(x.start.iter_mut().chain(&mut x.end).map(|e| &mut **e).collect(), before);
            }
            _ => self.flow(e, before),
        }
    }

    /// Rewrites the value of an assignment. A branch that may return is moved to a `let` of its own.
    fn assigned(&mut self, value: &mut Expr, before: &mut Vec<Stmt>) {
        self.expr(value, before);
        if matches!(value, Expr::If(_) | Expr::Match(_) | Expr::Block(_) | Expr::Loop(_)) {
            let at = syn::spanned::Spanned::span(value);
            let name = self.fresh(at);
            before.push(parse_quote_spanned!(at=> let #name = #value;));
            *value = parse_quote_spanned!(at=> #name);
        }
    }

    fn flow(&mut self, e: &mut Expr, before: &mut Vec<Stmt>) {
        match e {
            Expr::If(x) if !x.attrs.iter().any(attrs::is_comptime) => {
                match &mut *x.cond {
                    Expr::Let(l) => self.expr(&mut l.expr, before),
                    condition => self.expr(condition, before),
                }
                self.block(&mut x.then_branch);
                if let Some((_, els)) = &mut x.else_branch {
                    self.later(els);
                }
            }
            // A guard is evaluated only where its pattern matches.
            Expr::Match(x)
                if x.arms.iter().all(|a| a.guard.as_ref().is_none_or(|g| find(&g.1).is_none())) =>
            {
                self.expr(&mut x.expr, before);
                x.arms.iter_mut().for_each(|arm| self.later(&mut arm.body));
            }
            Expr::Block(x) => self.block(&mut x.block),
            Expr::ForLoop(x) => {
                self.expr(&mut x.expr, before);
                self.block(&mut x.body);
            }
            Expr::Loop(x) => self.block(&mut x.body),
            // The condition is evaluated before each trip, but a statement before the loop would run only once.
            Expr::While(x) if find(&x.cond).is_none() => self.block(&mut x.body),
            other => self.refuse(other),
        }
    }

    /// Rewrites an expression that is evaluated only conditionally: it becomes a block with statements of its own.
    fn later(&mut self, e: &mut Expr) {
        if find(e).is_none() {
            return;
        }
        if !matches!(e, Expr::Block(_)) {
            let span = syn::spanned::Spanned::span(e);
            *e = parse_quote_spanned!(span=> { #e });
        }
        if let Expr::Block(b) = e {
            self.block(&mut b.block);
        }
    }

    /// Rewrites expressions that are evaluated one after the other.
    fn sequence(&mut self, parts: Vec<&mut Expr>, before: &mut Vec<Stmt>) {
        // The parts after the last `?` stay where they are, because no later part is moved before them.
        let last = parts.iter().rposition(|e| find(e).is_some()).unwrap_or(0);
        let mut later: Vec<TokenStream> = parts.iter().map(ToTokens::to_token_stream).collect();
        for (i, part) in parts.into_iter().enumerate().take(last + 1) {
            self.expr(part, before);
            // Only parts that are evaluated after this one can change its value.
            later[i] = TokenStream::new();
            if i < last && !is_still(part, &later) {
                let at = syn::spanned::Spanned::span(part);
                let name = self.fresh(at);
                before.push(parse_quote_spanned!(at=> let #name = #part;));
                *part = parse_quote_spanned!(at=> #name);
            }
        }
    }

    fn refuse(&mut self, e: &Expr) {
        let what = "`?` stands where it is not always reached, or reached more than once: give the value a name first, \
                    `let x = …?;`";
        if let Some(at) = find(e) {
            self.errors.push(syn::Error::new(at, what));
        }
    }

    fn fresh(&mut self, at: Span) -> Ident {
        self.names += 1;
        Ident::new(&format!("__gcn_try{}", self.names), at)
    }
}

/// True if the evaluation of the `later` parts cannot change the value of `e`.
fn is_still(e: &Expr, later: &[TokenStream]) -> bool {
    match e {
        Expr::Lit(_) | Expr::Reference(_) | Expr::Closure(_) => true,
        Expr::Path(_) => {
            name_of(e).is_none_or(|name| !later.iter().any(|tokens| mentions(tokens.clone(), name)))
        }
        Expr::Unary(u) => matches!(*u.expr, Expr::Lit(_)),
        _ => false,
    }
}

fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(i) => i == *name,
        TokenTree::Group(g) => mentions(g.stream(), name),
        _ => false,
    })
}
