//! Inlines closures that are only called, such as `let f = |v: u32| v * n;`, and functions on numbers that the body
//! declares: each call is replaced by the closure's or function's body. In this way the arguments of each call keep
//! their own types, uniform or varying, and assignments to captured variables take place in the lanes that make the
//! call, as with Rust's closures. A closure that is passed to a function remains a host closure, and a function call
//! with only literals remains a host call.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprClosure, Local, Pat, ReturnType, Stmt, parse_quote_spanned};

use crate::attrs;
use crate::syntax::name_of;
use crate::ty::Elements;

/// The maximum number of inlined calls of one closure. If closures call closures, the code size grows with the product
/// of their numbers of calls.
const MOST: usize = 32;

/// The block with such calls replaced; `None` if it contains none.
pub(in crate::expand) fn inlined(block: &Block) -> Option<Block> {
    let mut find = Closures(block.stmts.iter().any(|stmt| function(stmt).is_some()));
    find.visit_block(block);
    if !find.0 {
        return None;
    }
    let mut block = block.clone();
    let mut inline = Inline { changed: false, names: 0 };
    inline.visit_block_mut(&mut block);
    inline.changed.then_some(block)
}

struct Closures(bool);

impl<'ast> Visit<'ast> for Closures {
    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {
        self.0 = true;
    }
    fn visit_block(&mut self, block: &'ast Block) {
        self.0 |= block.stmts.iter().any(|stmt| function(stmt).is_some());
        visit::visit_block(self, block);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

struct Inline {
    changed: bool,
    names: usize,
}

impl VisitMut for Inline {
    fn visit_block_mut(&mut self, block: &mut Block) {
        for at in 0..block.stmts.len() {
            let Some((name, as_closure)) = block.stmts.get(at).and_then(function) else { continue };
            let mut bound = Bound(HashSet::new());
            let others = |k: &usize| *k != at;
            // Unlike a closure, an item is visible in its whole block, even before its declaration.
            (0..block.stmts.len()).filter(others).for_each(|k| bound.visit_stmt(&block.stmts[k]));
            // A call might refer to another binding of this name in the block.
            if bound.0.contains(&name.to_string()) {
                continue;
            }
            let before = self.names;
            for k in (0..block.stmts.len()).filter(others) {
                let mut calls = Calls {
                    name: &name,
                    closure: &as_closure,
                    names: &mut self.names,
                    of_host: true,
                    replaced: 0,
                };
                calls.visit_stmt_mut(&mut block.stmts[k]);
                self.changed |= calls.replaced > 0;
            }
            if let (true, Stmt::Item(syn::Item::Fn(f))) = (self.names > before, &mut block.stmts[at]) {
                // The function remains for calls with only literals. If there are no such calls, rustc would report it
                // as unused although the user calls it.
                f.attrs.push(parse_quote_spanned!(name.span()=> #[allow(dead_code)]));
            }
        }
        let mut at = 0;
        // Iterates by index, because inlining a closure removes its declaration from the list.
        while at < block.stmts.len() {
            if let Some((name, closure)) = block.stmts.get(at).and_then(named_closure) {
                let rest = block.stmts.get(at + 1..).unwrap_or_default();
                if may_be_inlined(&name, &closure, rest) {
                    let mut calls = Calls {
                        name: &name,
                        closure: &closure,
                        names: &mut self.names,
                        of_host: false,
                        replaced: 0,
                    };
                    block.stmts.iter_mut().skip(at + 1).for_each(|stmt| calls.visit_stmt_mut(stmt));
                    block.stmts.remove(at);
                    self.changed = true;
                    continue;
                }
            }
            at += 1;
        }
        visit_mut::visit_block_mut(self, block);
    }
    fn visit_expr_block_mut(&mut self, e: &mut syn::ExprBlock) {
        if !e.attrs.iter().any(attrs::is_comptime) {
            visit_mut::visit_expr_block_mut(self, e);
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
}

/// The name and closure of `let f = |…| …;` or `let mut f = |…| …;`.
fn named_closure(stmt: &Stmt) -> Option<(Ident, ExprClosure)> {
    let Stmt::Local(Local { attrs, pat: Pat::Ident(pat), init: Some(init), .. }) = stmt else { return None };
    let Expr::Closure(closure) = &*init.expr else { return None };
    let plain = attrs.is_empty() && pat.by_ref.is_none() && pat.subpat.is_none() && init.diverge.is_none();
    // A closure with `move`, `async` or the like has a meaning that inlining would lose.
    let own = closure.capture.is_none()
        && closure.asyncness.is_none()
        && closure.constness.is_none()
        && closure.attrs.is_empty()
        && closure.lifetimes.is_none();
    (plain && own).then(|| (pat.ident.clone(), closure.clone()))
}

/// A function on numbers, written as a closure.
fn function(stmt: &Stmt) -> Option<(Ident, ExprClosure)> {
    let Stmt::Item(syn::Item::Fn(f)) = stmt else { return None };
    let sig = &f.sig;
    let plain = f.attrs.is_empty()
        && sig.constness.is_none()
        && sig.asyncness.is_none()
        && sig.unsafety.is_none()
        && sig.abi.is_none()
        && sig.generics.params.is_empty();
    let ReturnType::Type(_, output) = &sig.output else { return None };
    let inputs: Option<Vec<&syn::PatType>> = sig
        .inputs
        .iter()
        .map(|input| match input {
            syn::FnArg::Typed(typed) if typed.attrs.is_empty() && is_value(&typed.pat) => Some(typed),
            _ => None,
        })
        .collect();
    let (elements, inputs) = (Elements::default(), inputs?);
    // Only a function on plain numbers means the same on device values. Other functions remain host functions.
    let numbers = elements.is_plain(output) && inputs.iter().all(|input| elements.is_plain(&input.ty));
    let mut leaves = Leaves(false);
    leaves.visit_block(&f.block);
    let mut mentioned = HashSet::new();
    names(f.block.to_token_stream(), &mut mentioned);
    // Inlining a recursive function would not terminate.
    let calls_itself = mentioned.contains(&sig.ident.to_string());
    if !plain || !numbers || inputs.is_empty() || leaves.0 || calls_itself {
        return None;
    }
    let (body, span) = (&f.block, sig.ident.span());
    Some((sig.ident.clone(), parse_quote_spanned!(span=> |#(#inputs),*| -> #output #body)))
}

/// True if the following statements only call the closure, and none of them rebinds a name that the closure uses.
fn may_be_inlined(name: &Ident, closure: &ExprClosure, rest: &[Stmt]) -> bool {
    if !closure.inputs.iter().all(is_value) {
        return false;
    }
    let mut leaves = Leaves(false);
    leaves.visit_expr(&closure.body);
    // A `return` ends the closure; inlined, it would end the kernel.
    if leaves.0 {
        return false;
    }
    let mut uses = Uses { name, arguments: closure.inputs.len(), calls: 0, others: 0 };
    rest.iter().for_each(|stmt| uses.visit_stmt(stmt));
    // A closure that is passed or stored must remain a value. A closure that is never called remains, so that rustc's
    // lint reports it.
    if uses.others > 0 || !(1..=MOST).contains(&uses.calls) {
        return false;
    }
    let mut bound = Bound(HashSet::new());
    rest.iter().for_each(|stmt| bound.visit_stmt(stmt));
    let mut mentioned = HashSet::from([name.to_string()]);
    names(closure.body.to_token_stream(), &mut mentioned);
    let mut own = Bound(HashSet::new());
    own.visit_expr_closure(closure);
    // Inlined tokens have no hygiene of their own, so each captured name must refer to the same variable at every call.
    mentioned.iter().all(|name| own.0.contains(name) || !bound.0.contains(name))
}

/// True for a parameter that is bound by value, without a reference pattern.
fn is_value(pat: &Pat) -> bool {
    match pat {
        Pat::Ident(p) => p.by_ref.is_none() && p.subpat.is_none(),
        Pat::Tuple(p) => p.elems.iter().all(is_value),
        Pat::Paren(p) => is_value(&p.pat),
        Pat::Type(p) => is_value(&p.pat) && !matches!(&*p.ty, syn::Type::Reference(_)),
        Pat::Wild(_) => true,
        _ => false,
    }
}

/// Finds `return` and `?` in a closure's body.
pub(super) struct Leaves(pub bool);

impl<'ast> Visit<'ast> for Leaves {
    fn visit_expr_return(&mut self, _: &'ast syn::ExprReturn) {
        self.0 = true;
    }
    fn visit_expr_try(&mut self, _: &'ast syn::ExprTry) {
        self.0 = true;
    }
    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Counts the calls of the closure and the other uses of its name.
struct Uses<'n> {
    name: &'n Ident,
    arguments: usize,
    calls: usize,
    others: usize,
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_expr_call(&mut self, e: &'ast syn::ExprCall) {
        match name_of(&e.func).is_some_and(|name| name == self.name) {
            true if e.args.len() == self.arguments => self.calls += 1,
            _ => self.visit_expr(&e.func),
        }
        e.args.iter().for_each(|arg| self.visit_expr(arg));
    }
    fn visit_expr_path(&mut self, e: &'ast syn::ExprPath) {
        self.others += usize::from(e.path.is_ident(self.name));
    }
    fn visit_expr_block(&mut self, e: &'ast syn::ExprBlock) {
        match e.attrs.iter().any(attrs::is_comptime) {
            true => self.tokens(e.to_token_stream()),
            false => visit::visit_expr_block(self, e),
        }
    }
    fn visit_expr_if(&mut self, e: &'ast syn::ExprIf) {
        match e.attrs.iter().any(attrs::is_comptime) {
            true => self.tokens(e.to_token_stream()),
            false => visit::visit_expr_if(self, e),
        }
    }
    fn visit_macro(&mut self, m: &'ast syn::Macro) {
        self.tokens(m.tokens.clone());
    }
    fn visit_field_value(&mut self, f: &'ast syn::FieldValue) {
        self.visit_expr(&f.expr);
    }
    fn visit_item(&mut self, item: &'ast syn::Item) {
        self.tokens(item.to_token_stream());
    }
}

impl Uses<'_> {
    fn tokens(&mut self, tokens: TokenStream) {
        let mut found = HashSet::new();
        names(tokens, &mut found);
        self.others += usize::from(found.contains(&self.name.to_string()));
    }
}

/// Collects the names that patterns and items bind.
struct Bound(HashSet<String>);

impl<'ast> Visit<'ast> for Bound {
    fn visit_pat_ident(&mut self, p: &'ast syn::PatIdent) {
        self.0.insert(p.ident.to_string());
        visit::visit_pat_ident(self, p);
    }
    fn visit_macro(&mut self, m: &'ast syn::Macro) {
        names(m.tokens.clone(), &mut self.0);
    }
    fn visit_item(&mut self, item: &'ast syn::Item) {
        names(item.to_token_stream(), &mut self.0);
    }
}

fn names(tokens: TokenStream, found: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                found.insert(name.to_string());
            }
            TokenTree::Group(group) => names(group.stream(), found),
            _ => {}
        }
    }
}

/// Replaces each call by the closure's body.
struct Calls<'c> {
    name: &'c Ident,
    closure: &'c ExprClosure,
    names: &'c mut usize,
    /// True for a function, of which calls with only literals remain host calls.
    of_host: bool,
    replaced: usize,
}

impl VisitMut for Calls<'_> {
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        // Inner calls are replaced first, because an argument may contain another call of the same closure.
        visit_mut::visit_expr_mut(self, e);
        let Expr::Call(call) = e else { return };
        if name_of(&call.func).is_none_or(|name| name != self.name) {
            return;
        }
        if call.args.len() != self.closure.inputs.len()
            // A function call with only literals has a host value, which a constant expression may need.
            || (self.of_host && (self.replaced == MOST || !call.args.iter().any(mentions_names)))
        {
            return;
        }
        self.replaced += 1;
        let (span, body) = (call.func.span(), &self.closure.body);
        let mut statements: Vec<Stmt> = Vec::new();
        let several = call.args.len() > 1;
        let mut parameters: Vec<Stmt> = Vec::new();
        for (pat, arg) in self.closure.inputs.iter().zip(&call.args) {
            // All arguments are evaluated before any parameter is bound: otherwise a parameter could capture a name in
            // a later argument.
            let value: Expr = match several && mentions_names(arg) {
                true => {
                    let name = self.fresh(arg.span());
                    statements.push(parse_quote_spanned!(arg.span()=> let #name = #arg;));
                    parse_quote_spanned!(arg.span()=> #name)
                }
                false => arg.clone(),
            };
            parameters.push(local(pat, value));
        }
        statements.append(&mut parameters);
        let value: Vec<Stmt> = match (&self.closure.output, &**body) {
            // The annotated return type converts the value, like the annotation of a `let`.
            (ReturnType::Type(_, ty), body) => {
                let name = self.fresh(body.span());
                vec![
                    parse_quote_spanned!(body.span()=> let #name: #ty = #body;),
                    Stmt::Expr(parse_quote_spanned!(body.span()=> #name), None),
                ]
            }
            (ReturnType::Default, Expr::Block(b)) if b.attrs.is_empty() && b.label.is_none() => {
                b.block.stmts.clone()
            }
            (ReturnType::Default, body) => vec![Stmt::Expr(body.clone(), None)],
        };
        statements.extend(value);
        *e = parse_quote_spanned!(span=> { #(#statements)* });
    }
    fn visit_expr_repeat_mut(&mut self, e: &mut syn::ExprRepeat) {
        self.visit_expr_mut(&mut e.expr);
    }
    fn visit_expr_block_mut(&mut self, e: &mut syn::ExprBlock) {
        if !e.attrs.iter().any(attrs::is_comptime) {
            visit_mut::visit_expr_block_mut(self, e);
        }
    }
    fn visit_expr_if_mut(&mut self, e: &mut syn::ExprIf) {
        if !e.attrs.iter().any(attrs::is_comptime) {
            visit_mut::visit_expr_if_mut(self, e);
        }
    }
    fn visit_path_arguments_mut(&mut self, _: &mut syn::PathArguments) {}
    fn visit_angle_bracketed_generic_arguments_mut(&mut self, _: &mut syn::AngleBracketedGenericArguments) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
}

impl Calls<'_> {
    fn fresh(&mut self, at: Span) -> Ident {
        *self.names += 1;
        Ident::new(&format!("__gcn_called{}", self.names), at)
    }
}

fn mentions_names(e: &Expr) -> bool {
    let mut found = HashSet::new();
    names(e.to_token_stream(), &mut found);
    !found.is_empty()
}

/// The statement `let parameter = value;`.
fn local(pat: &Pat, value: Expr) -> Stmt {
    parse_quote_spanned!(pat.span()=> let #pat = #value;)
}
