//! Expands blocks and `let`.

use std::borrow::Cow;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Block, Expr, Local, Pat, PatType, Stmt, parse_quote_spanned};

use crate::expand::Cx;
use crate::expand::control::endless;
use crate::expand::control::exit::any_of;
use crate::expand::frame::{Frame, Leaves};
use crate::expand::items::function;
use crate::expand::statements::naming;
use crate::expand::statements::register;
use crate::expand::statements::schedule;
use crate::expand::types::{counted, typed};
use crate::operator::is_compound;
use crate::syntax::{bound_name, diverges, leaves};
use crate::{attrs, ty};

/// Searches for `return`, `break` and `continue`.
struct Exits(bool);

impl<'ast> Visit<'ast> for Exits {
    fn visit_expr_return(&mut self, _: &'ast syn::ExprReturn) {
        self.0 = true;
    }
    fn visit_expr_break(&mut self, _: &'ast syn::ExprBreak) {
        self.0 = true;
    }
    fn visit_expr_continue(&mut self, _: &'ast syn::ExprContinue) {
        self.0 = true;
    }
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The assigned value, if the statement is an assignment whose value contains an exit.
fn leaving(stmt: &mut Stmt) -> Option<&mut Expr> {
    let value = match stmt {
        Stmt::Expr(Expr::Assign(e), _) => &mut *e.right,
        Stmt::Expr(Expr::Binary(e), _) if is_compound(&e.op) => &mut *e.right,
        _ => return None,
    };
    let mut exits = Exits(false);
    if let Expr::If(_) | Expr::Match(_) | Expr::Block(_) = value {
        exits.visit_expr(value);
    }
    exits.0.then_some(value)
}

/// The statements with such values moved to separate statements before their assignments, so that the exits affect the
/// assignment too.
fn apart(stmts: &[Stmt]) -> Cow<'_, [Stmt]> {
    // Such statements are rare, so the list is copied only if it contains one.
    let assigns = |stmt: &Stmt| matches!(stmt, Stmt::Expr(Expr::Assign(_) | Expr::Binary(_), _));
    if !stmts.iter().any(|stmt| assigns(stmt) && leaving(&mut stmt.clone()).is_some()) {
        return Cow::Borrowed(stmts);
    }
    let mut all = Vec::new();
    for stmt in stmts {
        let mut stmt = stmt.clone();
        if let Some(value) = leaving(&mut stmt) {
            let (at, name) = (value.span(), syn::Ident::new("__gcn_assigned", value.span()));
            // The exit now has a statement of its own, so only the lanes that stay execute the assignment.
            all.push(parse_quote_spanned!(at=> let #name = #value;));
            *value = parse_quote_spanned!(at=> #name);
        }
        all.push(stmt);
    }
    Cow::Owned(all)
}

impl Cx<'_> {
    /// Expands the statements of a block, in a new scope.
    pub fn block(&mut self, block: &Block) -> TokenStream {
        let statements = self.statements(&block.stmts);
        quote_spanned!(block.span()=> { #statements })
    }

    pub fn statements(&mut self, stmts: &[Stmt]) -> TokenStream {
        let stmts = &*apart(stmts);
        self.scope(|cx| {
            cx.frames.push(Frame::Statements(Leaves::default()));
            // In debug information, the scope of the names ends where these statements end.
            let around = std::mem::replace(&mut cx.ends, naming::end(stmts));
            let mut out = TokenStream::new();
            for (i, stmt) in stmts.iter().enumerate() {
                let (tokens, last) = (cx.stmt(stmt), i + 1 == stmts.len());
                // An exit has the type `!` in Rust, which may stand before dead statements. In the expansion it has a
                // value, which the semicolon drops.
                let dropped = matches!(stmt, Stmt::Expr(e, None) if !last && leaves(e)).then(|| quote!(;));
                out.extend(cx.after(stmt, quote!(#tokens #dropped), last));
            }
            cx.ends = around;
            cx.frames.pop();
            out
        })
    }

    /// Completes the expansion of a statement. If lanes can exit in it, only the remaining lanes execute the following
    /// statements.
    fn after(&mut self, stmt: &Stmt, tokens: TokenStream, last: bool) -> TokenStream {
        let leaves = match self.frames.last_mut() {
            // The exits are taken out of the frame, so that each changes the flow token once, directly after its
            // statement.
            Some(Frame::Statements(leaves)) if !leaves.is_empty() => std::mem::take(leaves),
            _ => return tokens,
        };
        let span = stmt.span();
        let declarations = leaves.declarations(span);
        // No statement follows, so the flow token stays unchanged.
        if last {
            return quote!(#declarations #tokens);
        }
        let (flow, after) = (self.flow(span), crate::expand::lang("after", span));
        let (left, returned) = (any_of(&leaves.left, span), any_of(&leaves.returned, span));
        quote_spanned!(span=> #declarations #tokens let #flow = #after(&#flow, &#left, &#returned);)
    }

    /// Expands the statements of a block that has no value.
    pub fn statements_of_unit(&mut self, stmts: &[Stmt]) -> TokenStream {
        let body = self.statements(stmts);
        match stmts.last() {
            // In Rust an exit has the type `!`, but in the expansion it has a value, which the semicolon drops.
            Some(Stmt::Expr(e, None)) if leaves(e) => quote!(#body;),
            _ => body,
        }
    }

    /// Expands the statements of a block whose value is used.
    pub fn value_of(&mut self, stmts: &[Stmt], span: Span) -> TokenStream {
        let literal = match stmts.split_last() {
            // The two sides of a branch must have the same type, so the type of a literal at the end follows from the
            // other side.
            Some((Stmt::Expr(e, None), rest)) if typed::has_literals(e) => {
                let value = Stmt::Expr(typed::literals(e, &self.elements), None);
                Some(rest.iter().cloned().chain([value]).collect::<Vec<Stmt>>())
            }
            _ => None,
        };
        self.value_as_it_is(literal.as_deref().unwrap_or(stmts), span)
    }

    /// Expands the statements of a function's body. The caller converts the value to the return type.
    pub fn value_as_it_is(&mut self, stmts: &[Stmt], span: Span) -> TokenStream {
        let body = self.statements(stmts);
        let never = || {
            let never = crate::expand::lang("Never", span);
            quote_spanned!(span=> #body #never)
        };
        match stmts.last() {
            // Like `!`, `Never` converts to any type.
            Some(Stmt::Expr(Expr::Loop(e), None)) if endless::is_endless(e) => never(),
            Some(Stmt::Expr(_, None)) => body,
            _ if diverges(stmts) => never(),
            _ => body,
        }
    }

    /// For a body with errors: expands those statements that have none.
    pub fn whole_statements(&mut self, stmts: &[Stmt]) -> TokenStream {
        self.scope(|cx| {
            let mut out = TokenStream::new();
            for stmt in stmts {
                let expanded = cx.stmt(stmt);
                // A statement with an error is dropped. An editor still sees the names that the other statements
                // declare.
                if !cx.errors.take_spoilt() {
                    out.extend(expanded);
                }
            }
            out
        })
    }

    fn stmt(&mut self, stmt: &Stmt) -> TokenStream {
        match stmt {
            Stmt::Local(local) => self.local(local),
            Stmt::Expr(expr, semi) => {
                let e = self.expr(expr);
                quote!(#e #semi)
            }
            Stmt::Macro(m) if schedule::is_macro(&m.mac, "interleave") => {
                let call = self.interleave(&m.mac);
                quote!(#call;)
            }
            Stmt::Macro(m) => {
                let (call, semi) = (self.macro_call(&m.mac), &m.semi_token);
                quote!(#call #semi)
            }
            Stmt::Item(_) => stmt.to_token_stream(),
        }
    }

    fn local(&mut self, local: &Local) -> TokenStream {
        self.not_on_let(&local.attrs);
        let (pat, annotation) = match &local.pat {
            Pat::Type(PatType { pat, ty, .. }) => (&**pat, Some(&**ty)),
            pat => (pat, None),
        };
        let Some(init) = &local.init else {
            let Some(name) = bound_name(pat) else {
                self.errors.at(local, "a `let` without a value declares one name: `let x;`");
                return TokenStream::new();
            };
            let mutable = matches!(pat, Pat::Ident(p) if p.mutability.is_some());
            let ty =
                annotation.map(|ty| match self.varying.has_deferred(name) && self.elements.is_plain(ty) {
                    true => ty::in_lanes(ty),
                    false => ty.clone(),
                });
            let declared = self.defer(name, ty.clone(), mutable, local.let_token.span);
            let open =
                |ty: &syn::Type| self.elements.is_plain(ty) || matches!(ty::bare(ty), syn::Type::Ptr(_));
            let ty = ty.filter(|ty| !open(ty)).map(|ty| {
                let (ty, call) = (self.elements.device(&ty), crate::expand::lang("holds", name.span()));
                quote_spanned!(name.span()=> #call::<#ty, _>(&#name);)
            });
            return quote!(#declared #ty);
        };
        let annotation = annotation.map(|ty| self.in_its_lanes(pat, ty));
        let annotation = annotation.as_deref();
        let value = match annotation {
            Some(ty) => {
                let elements = self.elements.clone();
                let init = typed::typed(&init.expr, ty, &elements);
                // In a host value, the literals stay as they are and rustc infers their types.
                let plain = elements.is_host(ty);
                self.expr(&if plain { init } else { typed::number(&init, &elements).into_owned() })
            }
            // The variable's type is inferred from the initial value.
            None if function::all_mut(pat) => {
                let (init, uses) = self.inferred_by_name(&init.expr);
                let init = self.members_in_lanes(pat, init);
                let value = self.expr(&init);
                if uses.is_empty() { value } else { quote!({ #uses #value }) }
            }
            None => self.expr(&init.expr),
        };
        let value = match annotation {
            Some(t) if !self.elements.is_host(t) => self.written(t, &value, init.expr.span()),
            _ => value,
        };
        let value = match pat {
            Pat::Slice(_) => {
                let apart = crate::expand::lang("taken_apart", init.expr.span());
                quote_spanned!(init.expr.span()=> #apart(#value))
            }
            _ => value,
        };
        if let Some((_, els)) = &init.diverge {
            return self.let_else(pat, &value, els, local.let_token.span);
        }
        // rustc's own error would mention a type parameter that exists only in the expansion.
        if let (Pat::Ident(p), true) = (pat, self.is_prelude(&init.expr, "None") && annotation.is_none()) {
            if p.mutability.is_some() {
                return self.without_type(&p.ident);
            }
            let what = format!(
                "an `Option` of what? Write the type: `let {0}: Option<V<f32>> = None`",
                pat.to_token_stream()
            );
            self.errors.at(p, what);
        }
        if let (Pat::Ident(p), Some(_)) = (pat, memory_of(&init.expr)) {
            self.memory.insert(p.ident.to_string());
        }
        if let Some(attr) = local.attrs.iter().find(|a| register::is_register(a)) {
            return self.register_let(local, attr, pat, &value);
        }
        if local.attrs.iter().any(schedule::is_carried) {
            return self.carried_let(local, &value);
        }
        // Rust requires `mut` for assignments to elements. Here, memory is not a variable and needs none.
        if let (Pat::Ident(p), Some(_)) = (pat, memory_of(&init.expr))
            && p.mutability.is_some()
        {
            let name = &p.ident;
            self.declare(name, false);
            return quote_spanned!(local.let_token.span=> let #name = #value;);
        }
        if let Pat::Ident(p) = pat
            && p.mutability.is_some()
            && p.by_ref.is_none()
        {
            if annotation.is_some_and(|t| self.elements.is_host(t)) {
                let what =
                    "a host type cannot be a device variable; use `comptime { … }` for host-time variables";
                self.errors.at(annotation, what);
            }
            let (name, flow) = (&p.ident, self.flow(p.ident.span()));
            self.declare(name, true);
            if let Some(declared) = self.names.last_mut() {
                // An assignment through an index of a pointer variable writes memory and not a part of the variable.
                declared.pointer = self.varying.is_pointer(name);
            }
            let span = init.expr.span();
            let open = annotation
                .is_none_or(|ty| matches!(ty::bare(ty), syn::Type::Ptr(_)) || self.elements.is_plain(ty));
            // If a device type is written, it states whether the variable varies.
            let value = if open { self.varied(name, value) } else { value };
            let named = self.named_variable(name);
            return quote_spanned!(span=> let mut #name = ::gcn_dsl::__private::Var::declare(&#flow, #value)#named;);
        }
        if function::has_mut(pat) && !annotation.is_some_and(|t| self.elements.is_host(t)) {
            return self.let_pattern(pat, &value, local.let_token.span);
        }
        // The value decides whether a `usize` is a number of the host or of the device.
        let size = annotation.filter(|ty| counted::is_size(ty) && self.may_be_of_device(&init.expr));
        let (annotation, value) = match size {
            Some(ty) => {
                let given = crate::expand::lang("given_size", init.expr.span());
                (None, quote_spanned!(init.expr.span()=> #given::<#ty, _>(#value)))
            }
            None => (annotation, value),
        };
        self.bind(pat);
        if let (Pat::Ident(_), Some(_), Some(last)) = (pat, size, self.names.last_mut()) {
            last.size = true;
        } else if annotation.is_none() {
            self.name_number(pat, &init.expr);
            self.name_size(pat, &init.expr);
        }
        // `annotate` has already applied a device type. As an annotation, it would not be the type of the handle.
        let annotation = annotation.filter(|t| self.elements.is_host(t)).map(|t| quote!(: #t));
        let attrs = &local.attrs;
        let named = self.named(pat, attrs);
        quote_spanned!(local.let_token.span=> #(#attrs)* let #pat #annotation = #value; #named)
    }

    /// Expands `let mut name = None;`. The variable's type is that of the first value assigned to it.
    fn without_type(&mut self, name: &syn::Ident) -> TokenStream {
        self.declare(name, true);
        if let Some(declared) = self.names.last_mut() {
            declared.untyped = true;
        }
        let (flow, named) = (self.flow(name.span()), self.named_variable(name));
        quote_spanned!(name.span()=> let mut #name = ::gcn_dsl::__private::Var::absent(&#flow)#named;)
    }

    /// The type annotation of the variable in `pat`, or its varying counterpart if the body assigns varying values to
    /// that variable.
    fn in_its_lanes<'t>(&self, pat: &Pat, written: &'t syn::Type) -> Cow<'t, syn::Type> {
        let Pat::Ident(name) = pat else { return Cow::Borrowed(written) };
        if let Some(of) = ty::optional(ty::bare(written)).filter(|of| self.elements.is_plain(of)) {
            return match self.varying.has(&name.ident) {
                true => {
                    let of = ty::in_lanes(of);
                    Cow::Owned(parse_quote_spanned!(written.span()=> ::core::option::Option<#of>))
                }
                false => Cow::Borrowed(written),
            };
        }
        if !self.elements.is_plain(written) {
            return Cow::Borrowed(written);
        }
        match ty::bare(written) {
            _ if self.varying.has(&name.ident) => Cow::Owned(ty::in_lanes(written)),
            syn::Type::Tuple(_) => Cow::Owned(self.varying.members_of_type(&name.ident, written, "")),
            _ => Cow::Borrowed(written),
        }
    }

    /// The value converted to the annotated type. A plain type does not determine whether the value is uniform.
    pub fn written(&self, ty: &syn::Type, value: &TokenStream, span: Span) -> TokenStream {
        if self.elements.leaves_open(ty) {
            let call = crate::expand::lang("of_type", span);
            return quote_spanned!(span=> #call::<#ty, _>(#value));
        }
        let (device, call) = (self.elements.device(ty), crate::expand::lang("annotate", span));
        quote_spanned!(span=> #call::<#device, _>(#value))
    }

    /// Declares the names of an immutable pattern.
    pub fn bind(&mut self, pat: &Pat) {
        match pat {
            Pat::Ident(p) => {
                if p.mutability.is_some() {
                    self.errors.at(p, "declare each mutable variable with its own `let mut`");
                }
                self.declare(&p.ident, false);
            }
            Pat::Tuple(t) => t.elems.iter().for_each(|p| self.bind(p)),
            Pat::TupleStruct(t) => t.elems.iter().for_each(|p| self.bind(p)),
            Pat::Slice(t) => t.elems.iter().for_each(|p| self.bind(p)),
            Pat::Struct(s) => s.fields.iter().for_each(|f| self.bind(&f.pat)),
            Pat::Paren(p) => self.bind(&p.pat),
            Pat::Reference(p) => self.bind(&p.pat),
            Pat::Type(p) => self.bind(&p.pat),
            _ => {}
        }
    }

    /// An expression for the host, left unchanged.
    pub fn untouched(expr: &Expr) -> TokenStream {
        let mut expr = expr.clone();
        if let Expr::Block(b) = &mut expr {
            b.attrs.retain(|a| !attrs::is_comptime(a));
        }
        expr.to_token_stream()
    }
}

/// The name of the memory type, if the expression declares memory, such as `Lds`.
fn memory_of(e: &Expr) -> Option<String> {
    let Expr::Call(call) = e else { return None };
    let Expr::Path(path) = &*call.func else { return None };
    let of = path.path.segments.iter().rev().nth(1)?.ident.to_string();
    ["Lds", "LdsSlice", "LdsTile", "Private"].contains(&&*of).then_some(of)
}
