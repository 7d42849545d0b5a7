//! Expands expressions.

use std::borrow::Cow;
use std::collections::BTreeSet;

use gcn_isa::Target;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary, ExprCall, ExprMethodCall, Token, UnOp, parse_quote_spanned};

use super::{Cx, Kind, is_of_lang, lang};
use crate::attrs;
use crate::check;
use crate::expand::frame::Frame;
use crate::expand::types::counted;
use crate::expand::types::typed::{inferred, is_bare_number, literals, number, shift_count};
use crate::operator::is_compound;
use crate::parse::marked;
use crate::syntax::name_of;

/// The method of `gcn_dsl::__private::Call` that receives the result of a call.
const HERE: &str = "in_a_kernel";

/// For syntax that kernels do not support: the tokens, and a message that names an alternative.
fn unavailable(e: &Expr) -> Option<(TokenStream, &'static str)> {
    let (tokens, what) = match e {
        Expr::Async(e) => (e.async_token.to_token_stream(), "`async` is not available in a kernel"),
        Expr::Await(e) => (e.await_token.to_token_stream(), "`.await` is not available in a kernel"),
        Expr::Try(e) => (
            e.question_token.to_token_stream(),
            "a kernel returns nothing, so that `?` has nowhere to go: `let Some(x) = … else { return };` takes the value of an `Option`, `let Ok(x) = …` that of a `Result`",
        ),
        Expr::Let(e) => (
            e.let_token.to_token_stream(),
            "`let` beside other conditions is not available in a kernel: put an `if` into the other, or match on a tuple",
        ),
        Expr::Yield(e) => (e.yield_token.to_token_stream(), "`yield` is not available in a kernel"),
        _ => return None,
    };
    Some((tokens, what))
}

/// True if an argument of the call is a closure with three parameters.
fn takes_three(e: &ExprMethodCall) -> bool {
    e.args.iter().any(|arg| matches!(arg, Expr::Closure(closure) if closure.inputs.len() == 3))
}

/// A call of a method that the trait `of` provides. The trait is in scope only for this call.
fn with_trait(of: &TokenStream, call: &TokenStream, span: Span) -> TokenStream {
    quote_spanned!(span=> ({
        #[allow(unused_imports)]
        use ::gcn_dsl::__private::#of as _;
        #call
    }))
}

impl Cx<'_> {
    pub fn expr(&mut self, e: &Expr) -> TokenStream {
        if let Some((tokens, what)) = unavailable(e) {
            self.errors.at(tokens, what);
            return TokenStream::new();
        }
        self.attributes(e);
        match e {
            Expr::If(e) => self.if_expr(e),
            Expr::Match(e) => self.match_expr(e),
            Expr::While(e) => self.while_loop(e),
            Expr::ForLoop(e) => self.for_loop(e),
            Expr::Loop(e) => self.endless_loop(e),
            Expr::Break(e) => self.break_expr(e),
            Expr::Continue(e) => self.continue_expr(e),
            Expr::Return(e) => self.return_expr(e),
            Expr::Block(b) if b.attrs.iter().any(attrs::is_comptime) => Self::untouched(e),
            Expr::Block(b) if b.attrs.iter().any(attrs::is_schedule) => self.manual(b),
            Expr::Block(b) if b.attrs.iter().any(attrs::is_matrix) => self.matrix_phase(b),
            Expr::Block(b) if b.attrs.iter().any(attrs::is_unsafe) => {
                self.unsafes += 1;
                let block = self.block(&b.block);
                self.unsafes -= 1;
                block
            }
            // An `unsafe` block remains only in a macro's arguments, which the parser has not normalised.
            Expr::Unsafe(e) => self.expr(&Expr::Block(marked(e))),
            Expr::Block(b) => match &b.label {
                Some(label) => self.labelled_block(label, &b.block.stmts, label.name.span()),
                None => self.block(&b.block),
            },
            Expr::Paren(p) => {
                let inner = self.expr(&p.expr);
                quote_spanned!(e.span()=> (#inner))
            }
            Expr::Group(g) => self.expr(&g.expr),
            _ => {
                self.frames.push(Frame::Operand);
                let tokens = self.plain(e);
                self.frames.pop();
                tokens
            }
        }
    }

    /// Expands expressions that are not control flow.
    fn plain(&mut self, e: &Expr) -> TokenStream {
        match e {
            Expr::Assign(e) => self.assign(e),
            Expr::Binary(e) if is_compound(&e.op) => self.compound(e),
            Expr::Binary(e) => self.binary(e),
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => {
                if let Some(name) = name_of(&e.expr)
                    // A `&mut` parameter is a variable, not a pointer to memory, so `*x` reads the variable.
                    && self.kind(name) == Some(Kind::Lent)
                {
                    return quote_spanned!(name.span()=> #name.get());
                }
                let (call, inner) = (self.through("load_deref", e.span()), self.expr(&e.expr));
                quote_spanned!(e.span()=> #call(#inner))
            }
            Expr::Unary(e) => {
                let (op, inner) = (&e.op, self.operand(&e.expr));
                quote!(#op #inner)
            }
            Expr::Index(e) => {
                let (base, index) = (self.expr(&e.expr), self.index(&e.index));
                let call = lang("load", e.index.span());
                quote_spanned!(e.span()=> #call(&#base, #index))
            }
            // Rust's own `as` works although the operand's type is yet to be inferred.
            Expr::Cast(e) if self.is_counter(&e.expr) && counted::is_integer(&e.ty) => {
                let (inner, ty) = (self.operand(&e.expr), &e.ty);
                quote_spanned!(e.span()=> (#inner as #ty))
            }
            Expr::Cast(e) => {
                let (inner, ty) = (self.expr(&e.expr), &e.ty);
                let call = lang(if counted::is_size(ty) { "cast_to_size" } else { "cast" }, e.span());
                quote_spanned!(e.span()=> #call::<#ty, _>(#inner))
            }
            Expr::Path(p) => match p.path.get_ident().map(|name| (name, self.kind(name))) {
                Some((name, Some(Kind::Variable | Kind::Lent))) => quote_spanned!(name.span()=> #name.get()),
                Some((name, Some(Kind::Deferred))) => {
                    self.read_deferred(name);
                    quote_spanned!(name.span()=> #name.get())
                }
                Some((name, Some(Kind::Token))) => {
                    self.token_elsewhere(name);
                    TokenStream::new()
                }
                Some((name, None)) if name == "None" => {
                    let none = lang("none", name.span());
                    quote_spanned!(name.span()=> #none())
                }
                Some((name, _)) => {
                    self.elsewhere(name);
                    quote!(#p)
                }
                None if p.qself.is_none() && self.is_unit_variant(&p.path) => quote_spanned!(p.span()=> #p()),
                None if p.qself.is_none() && self.may_be_variant(&p.path) => {
                    let written = lang("written", p.span());
                    quote_spanned!(p.span()=> #written(#p).value())
                }
                None => quote!(#p),
            },
            Expr::Call(e) => self.call(e, HERE),
            Expr::Macro(e) => self.macro_call(&e.mac),
            _ => self.structural(e),
        }
    }

    /// The function for an access through `*p`; inside an `unsafe` block it is another one than outside.
    pub(in crate::expand) fn through(&self, access: &str, span: Span) -> TokenStream {
        match self.unsafes {
            0 => lang(access, span),
            _ => lang(&format!("unsafe_{access}"), span),
        }
    }

    /// Expands expressions that keep their form; only their subexpressions change.
    fn structural(&mut self, e: &Expr) -> TokenStream {
        match e {
            // The trait is imported only here, so that its methods cannot conflict with those of the user's types.
            Expr::MethodCall(e) if takes_three(e) => {
                let call = self.method_call(e);
                with_trait(&quote!(matrix::MapPlaced), &call, e.span())
            }
            Expr::MethodCall(e) => self.method_call(e),
            Expr::Field(e) => {
                let (base, dot, member) = (self.operand(&e.base), &e.dot_token, &e.member);
                quote!(#base #dot #member)
            }
            Expr::Tuple(e) => {
                let elems: Vec<TokenStream> = e.elems.iter().map(|x| self.expr(x)).collect();
                quote_spanned!(e.span()=> (#(#elems,)*))
            }
            Expr::Array(e) => {
                if let Some(mixed) = self.mixed_array(e) {
                    return mixed;
                }
                let elems: Vec<TokenStream> = e.elems.iter().map(|x| self.expr(x)).collect();
                quote_spanned!(e.span()=> [#(#elems),*])
            }
            Expr::Repeat(e) => {
                let (elem, len) = (self.expr(&e.expr), &e.len);
                quote_spanned!(e.span()=> [#elem; #len])
            }
            Expr::Reference(e) => {
                if e.mutability.is_some() && self.lendable(&e.expr).is_some() {
                    let what = "a `&mut` to a device variable stands as the argument of a call: `f(&mut x)`";
                    self.errors.at(e, what);
                }
                if let (Some(_), Expr::Index(i)) = (e.mutability, &*e.expr)
                    && !matches!(*i.index, Expr::Range(_))
                {
                    let what = "an element is not borrowed: write to it by its index, `y[i] = …`";
                    self.errors.at(e, what);
                }
                // A part of a slice is itself a slice value, whose type says whether it is writable, so `mut` is
                // dropped.
                let part = matches!(&*e.expr, Expr::Index(i) if matches!(*i.index, Expr::Range(_)));
                let (mutability, inner) = (e.mutability.filter(|_| !part), self.expr(&e.expr));
                quote_spanned!(e.span()=> &#mutability #inner)
            }
            Expr::Range(e) => {
                let limits = &e.limits;
                let (start, end) =
                    (e.start.as_ref().map(|x| self.expr(x)), e.end.as_ref().map(|x| self.expr(x)));
                quote_spanned!(e.span()=> #start #limits #end)
            }
            Expr::Struct(e) => {
                if let Some(variant) = self.variant_with_fields(e) {
                    return variant;
                }
                let path = &e.path;
                let data =
                    path.segments.last().is_some_and(|s| self.known.data.contains_key(&s.ident.to_string()));
                let fields = e.fields.iter().map(|f| {
                    // After `..`, the types of all fields are known.
                    let open = data && e.rest.is_none();
                    let value = if open { self.expr(&inferred(&f.expr)) } else { self.field_value(&f.expr) };
                    let member = &f.member;
                    quote!(#member: #value)
                });
                let fields: Vec<TokenStream> = fields.collect();
                let rest = e.rest.as_ref().map(|r| {
                    let r = self.expr(r);
                    quote!(..#r)
                });
                quote_spanned!(e.span()=> #path { #(#fields,)* #rest })
            }
            Expr::Closure(e) => {
                let body = self.closure(|cx| {
                    e.inputs.iter().for_each(|p| cx.bind(p));
                    cx.expr(&e.body)
                });
                let (capture, inputs, output) = (&e.capture, &e.inputs, &e.output);
                quote_spanned!(e.span()=> #capture |#inputs| #output { #body })
            }
            other => other.to_token_stream(),
        }
    }

    /// Expands `x.method(…)`.
    fn method_call(&mut self, e: &ExprMethodCall) -> TokenStream {
        let limited = self.with_limits(e);
        let e = limited.as_ref().unwrap_or(e);
        if let Some(call) = self.converted_as_expected(e).or_else(|| self.mutating_call(e)) {
            return call;
        }
        if let Some(value) =
            self.method_of_constant(e).or_else(|| self.reduction(e)).or_else(|| self.of_elements(e))
        {
            return value;
        }
        self.atomic_of_value(e);
        self.vector_width(e);
        let receiver = self.unchanged(e);
        let (dot, turbofish) = (&e.dot_token, &e.turbofish);
        let weak = e.method == "compare_exchange" || e.method == "compare_exchange_weak";
        let method = &match (weak, e.args.len()) {
            (true, 5) => Ident::new("compare_exchange_ordered", e.method.span()),
            _ => e.method.clone(),
        };
        self.asynchronous(method);
        if self.takes_literals(e) {
            // A receiver that is not a plain name is computed once, although its type is asked for beside the call.
            let named = matches!(&*e.receiver, Expr::Path(_) | Expr::Field(_));
            let held = self.fresh("receiver", e.receiver.span());
            let on = if named { receiver.clone() } else { quote!(#held) };
            let [numbers, args] = self.beside_receiver(&on, e);
            return match named {
                true => quote_spanned!(e.span()=> ({ #numbers #receiver #dot #method #turbofish #args })),
                // A `match`, so that temporaries live as long as in the call itself.
                false => quote_spanned!(e.span()=> (match #receiver {
                    #[allow(unused_mut)]
                    mut #held => { #numbers #held #dot #method #turbofish #args }
                })),
            };
        }
        let args: Vec<TokenStream> = match method == "then_some" || method == "ok_or" {
            true => self.arguments(&e.args.iter().map(inferred).collect()),
            // The functions of this macro call are known, so literals can take the types of their parameters.
            false => self.arguments(&self.as_taken(&e.method, &e.args)),
        };
        // Has the span of the call, so that the source location of the instruction is the user's line.
        let args = quote_spanned!(e.paren_token.span.join()=> (#(#args),*));
        quote!(#receiver #dot #method #turbofish #args)
    }

    /// True for a method with numbers among its arguments where the elements have type parameters, so that the receiver's type says what the
    /// numbers are: beside a value of the device they take its element type, anywhere else rustc infers them. The parameters of methods of
    /// this macro call are known.
    pub(super) fn takes_literals(&self, e: &ExprMethodCall) -> bool {
        self.elements.are_generic()
            && e.args.iter().any(is_bare_number)
            && !self.known.generics.contains_key(&e.method.to_string())
    }

    /// The arguments of such a method on the receiver `on`: statements that name its numbers, and the list in parentheses. Numbers have no
    /// effects, so they may be named before the other arguments are computed.
    pub(super) fn beside_receiver(&mut self, on: &TokenStream, e: &ExprMethodCall) -> [TokenStream; 2] {
        let (receiver, mut numbers, mut args) =
            (lang("Receiver", e.method.span()), TokenStream::new(), Vec::new());
        for arg in &e.args {
            if !is_bare_number(arg) {
                args.push(self.argument(arg));
                continue;
            }
            let (literal, number) = (self.expr(&literals(arg, &self.elements)), self.expr(arg));
            let name = self.fresh("number", arg.span());
            numbers.extend(quote_spanned! {arg.span()=>
                // If the literal is taken, the number has a default type, which may be too narrow.
                #[allow(overflowing_literals)]
                let #name = (&#receiver(&#on)).argument(#literal, #number);
            });
            args.push(quote!(#name));
        }
        [numbers, quote_spanned!(e.paren_token.span.join()=> (#(#args),*))]
    }

    /// Expands an operand of an operator or method. The expansion is parenthesised where it might not parse as a single
    /// operand.
    pub(super) fn operand(&mut self, e: &Expr) -> TokenStream {
        let inner = self.expr(e);
        match e {
            Expr::Path(_)
            | Expr::Lit(_)
            | Expr::Call(_)
            | Expr::MethodCall(_)
            | Expr::Paren(_)
            | Expr::Field(_) => inner,
            Expr::Index(_) | Expr::Cast(_) => inner,
            _ => quote_spanned!(e.span()=> (#inner)),
        }
    }

    /// The operands of an operator. A literal on the left takes its type from the right operand.
    fn sides<'e>(&self, e: &'e ExprBinary) -> [Cow<'e, Expr>; 2] {
        let shift = matches!(e.op, BinOp::Shl(_) | BinOp::Shr(_));
        match (is_bare_number(&e.left), is_bare_number(&e.right)) {
            // The host computes an operation on two numbers, and rustc infers their type as usual.
            (true, true) => [Cow::Borrowed(&e.left), Cow::Borrowed(&e.right)],
            // The types of a shift's operands are independent of each other.
            (true, false) if shift => [Cow::Owned(inferred(&e.left)), Cow::Borrowed(&e.right)],
            (true, false) => [Cow::Owned(literals(&e.left, &self.elements)), Cow::Borrowed(&e.right)],
            (false, true) if !shift => [Cow::Borrowed(&e.left), number(&e.right, &self.elements)],
            (false, _) => [Cow::Borrowed(&e.left), Cow::Borrowed(&e.right)],
        }
    }

    /// Expands the expression in brackets: an index or a range.
    fn index(&mut self, e: &Expr) -> TokenStream {
        let Expr::Range(range) = e else { return self.position(e) };
        let span = e.span();
        let start = range.start.as_ref().map_or_else(|| quote_spanned!(span=> 0u32), |e| self.expr(e));
        let Some(end) = &range.end else {
            let call = lang("to_last", span);
            return quote_spanned!(span=> #call(#start));
        };
        let (call, end) = (lang("part", span), self.expr(end));
        match range.limits {
            syn::RangeLimits::HalfOpen(_) => quote_spanned!(span=> #call(#start, #end)),
            // Slices have exclusive ends; the parentheses preserve precedence.
            syn::RangeLimits::Closed(_) => quote_spanned!(span=> #call(#start, (#end) + 1)),
        }
    }

    /// Expands an index. If it contains only host numbers, the indexed object determines its type.
    pub(super) fn position(&mut self, e: &Expr) -> TokenStream {
        let index = self.expr(e);
        if !self.counts(e) {
            return index;
        }
        let call = lang("counted", e.span());
        quote_spanned!(e.span()=> #call(#index))
    }

    /// True for a host index that may be used for both memory and arrays of values: it contains a constant parameter,
    /// or the variable of an `#[unroll] for` that indexes both.
    fn counts(&self, e: &Expr) -> bool {
        // With the name of a device value in it, the whole index is a device value and needs no conversion.
        let of_host = |e: &Expr| match name_of(e) {
            Some(name) => match self.kind(name) {
                Some(Kind::Counted) => Some(self.mixed.iter().any(|m| name == m)),
                None if self.hosts.iter().any(|h| name == h) => Some(true),
                _ => None,
            },
            None => None,
        };
        counted::all(e, &of_host) == Some(true)
    }

    /// The conversion that the host number `e` needs next to the operand `beside`; `None` if it needs none. A
    /// conversion is needed for parameters of type `usize`, and for names whose type only rustc knows, unless `beside`
    /// contains such a name too or is a bare number.
    fn size(&self, e: &Expr, beside: &Expr) -> Option<&'static str> {
        let of_size = |e: &Expr| {
            let name = name_of(e)?;
            (self.kind(name).is_none() && self.sizes.iter().any(|size| name == size)).then_some(true)
        };
        let perhaps = |e: &Expr| self.may_be_size(e).then_some(true);
        let is_beside = |of: &dyn Fn(&Expr) -> Option<bool>| {
            counted::all(e, &of) == Some(true) && counted::all(beside, &of).is_none()
        };
        match is_bare_number(beside) {
            true => None,
            false if is_beside(&of_size) => Some("size"),
            false if is_beside(&perhaps) => Some("perhaps_size"),
            false => None,
        }
    }

    /// True for the name of a constant or of another host value whose type may be `usize`.
    pub(super) fn may_be_size(&self, e: &Expr) -> bool {
        match name_of(e).map(|name| (name, self.name(name))) {
            Some((_, Some(name))) => name.size,
            Some((name, None)) => name != "self" && name != "None",
            None => false,
        }
    }

    /// The expansions of the two operands. A possible `usize` next to a device value is marked for conversion.
    fn sized(&self, e: &ExprBinary, [left, right]: [TokenStream; 2], span: Span) -> [TokenStream; 2] {
        [(left, &e.left, &e.right), (right, &e.right, &e.left)].map(|(side, of, beside)| {
            match self.size(of, beside) {
                Some("size") => {
                    let size = lang("size", span);
                    quote_spanned!(span=> #size(#side))
                }
                Some(_) => {
                    let perhaps = lang("PerhapsSize", span);
                    quote_spanned!(span=> (&#perhaps(#side)).operand())
                }
                None => side,
            }
        })
    }

    /// True for the variable of an `#[unroll] for`.
    fn is_counter(&self, e: &Expr) -> bool {
        name_of(e).is_some_and(|name| self.kind(name) == Some(Kind::Counted))
    }

    /// The arguments with their numbers marked, so that they become device values.
    fn numbers(&self, args: &Punctuated<Expr, Token![,]>) -> Punctuated<Expr, Token![,]> {
        args.iter().map(|e| number(e, &self.elements).into_owned()).collect()
    }

    /// True for a comparison of a `#[host]` parameter with a variant. The host computes such a comparison.
    fn is_of_host(&self, e: &ExprBinary) -> bool {
        let is_host = |e: &Expr| name_of(e).is_some_and(|name| self.hosts.iter().any(|h| name == h));
        let is_variant = |e: &Expr| match e {
            Expr::Path(p) => {
                let names: Vec<&Ident> = p.path.segments.iter().rev().take(2).map(|s| &s.ident).collect();
                let upper = |name: &Ident| name.to_string().starts_with(char::is_uppercase);
                // A variant's name contains a lowercase letter, by Rust's convention. A name of capitals only is an
                // associated constant, which may be a device value.
                let constant = |name: &Ident| !name.to_string().contains(char::is_lowercase);
                matches!(names[..], [variant, of] if upper(of) && upper(variant) && !constant(variant))
            }
            _ => false,
        };
        matches!(e.op, BinOp::Eq(_) | BinOp::Ne(_))
            && (is_host(&e.left) && is_variant(&e.right) || is_variant(&e.left) && is_host(&e.right))
    }

    fn binary(&mut self, e: &ExprBinary) -> TokenStream {
        if self.is_of_host(e) {
            return quote_spanned!(e.span()=> (#e));
        }
        let (name, span) = match &e.op {
            BinOp::Lt(t) => ("lt", t.span()),
            BinOp::Le(t) => ("le", t.span()),
            BinOp::Gt(t) => ("gt", t.span()),
            BinOp::Ge(t) => ("ge", t.span()),
            BinOp::Eq(t) => ("eq", t.span()),
            BinOp::Ne(t) => ("ne", t.span()),
            BinOp::And(t) => return self.condition_of_two("and", e, t.span()),
            BinOp::Or(t) => return self.condition_of_two("or", e, t.span()),
            op => {
                let [left, right] = self.sides(e);
                let (left, right) = (self.operand(&left), self.operand(&right));
                if matches!(op, BinOp::Shl(_) | BinOp::Shr(_)) {
                    let right = shift_count(&e.right, right);
                    return quote!(#left #op #right);
                }
                let [left, right] = self.sized(e, [left, right], e.span());
                return quote!(#left #op #right);
            }
        };
        let [left, right] = self.sides(e).map(|side| untyped_none(&side).map_or(side, Cow::Owned));
        let sides = [self.expr(&left), self.expr(&right)];
        let [left, right] = self.sized(e, sides, span);
        let call = lang(name, span);
        quote_spanned!(span=> #call(#left, #right))
    }

    /// True for a function that the same macro call declares, and for a name that the body declares.
    fn is_own_function(&self, name: &Ident, function: &Expr) -> bool {
        let alone = matches!(function, Expr::Path(p) if p.path.segments.len() == 1);
        alone && (self.kind(name).is_some() || self.known.free.contains(&name.to_string()))
    }

    /// True for a call, by any path, of a function that is declared elsewhere. rustc then has to check what the result
    /// requires.
    fn is_asked(&mut self, e: &ExprCall) -> bool {
        let Expr::Path(p) = &*e.func else { return false };
        let Some(last) = p.path.segments.last() else { return false };
        !is_of_lang(&p.path)
            && !self.constructed(&e.func)
            && !self.is_own_function(&last.ident, &e.func)
            && !self.known.is_lanes_own(&e.func)
    }

    /// Expands a call. `taken` is the method that receives the call's result, [`HERE`] or [`ARGUMENT`].
    pub(super) fn call(&mut self, e: &ExprCall, taken: &str) -> TokenStream {
        let name = called(&e.func);
        // Before all other cases: `Some`, `Ok` and `Err` construct device values, which may exist in only some lanes.
        for (name, made) in [("Some", "some"), ("Ok", "ok"), ("Err", "err")] {
            if let (true, Some(value)) = (self.is_prelude(&e.func, name), e.args.first()) {
                let (made, value) = (lang(made, e.func.span()), self.expr(value));
                return quote_spanned!(e.span()=> #made(#value));
            }
        }
        if let Some(call) = self.function_of_std(e) {
            return call;
        }
        if let Some(method) = self.method_of_number(e) {
            return method;
        }
        if let (Some(name), Expr::Path(p)) = (name, &*e.func)
            && p.path.segments.len() == 1
        {
            self.elsewhere(name);
        }
        // The user may declare a function under any name, including a library function's.
        let own = name.is_some_and(|name| self.is_own_function(name, &e.func));
        let qualified = matches!(&*e.func, Expr::Path(p) if p.path.get_ident().is_none());
        if let (Some(name), Some(targets), false) = (name, self.targets, own) {
            check::instruction(name, targets, self.errors);
        }
        let function = match &*e.func {
            Expr::Path(p) => quote!(#p),
            other => self.operand(other),
        };
        // Functions are inlined while the kernel is built, so rustc does not notice an infinite recursion.
        self.no_recursion(&e.func);
        let args: Vec<TokenStream> = match self.constructed(&e.func) {
            true => e.args.iter().map(|a| self.field_value(a)).collect(),
            // A function has no receiver whose type would say what a number beside a type parameter is, so these two names of the language
            // are given. A function of the host that is called by one of them takes no bare number where elements have type parameters;
            // under a path, `own::select(…)`, it does. Elsewhere the names mean nothing.
            false if !own && name.is_some_and(|n| n == "select" || n == "splat") && !qualified => {
                self.arguments(&self.numbers(&e.args))
            }
            false => {
                let given = name.map(|name| match qualified {
                    true => self.as_declared(name, &e.args).into_owned(),
                    false => self.as_taken(name, &e.args).into_owned(),
                });
                self.arguments(given.as_ref().unwrap_or(&e.args))
            }
        };
        let span = e.func.span();
        // A barrier with arguments passes these buffers to the next phase. The types of the arguments determine the
        // overload, so traits select it.
        if !own && name.is_some_and(|n| n == "barrier") && !args.is_empty() {
            let (with, flow) = (lang("CallWith", span), self.flow_of_call(span));
            let (given, args) = match args.as_slice() {
                [arg] => (Ident::new("given", span), quote!(#arg)),
                _ => {
                    (Ident::new("given_all", span), quote_spanned!(e.paren_token.span.join()=> (#(#args),*)))
                }
            };
            let call = quote_spanned!(span=> #with(#function).#given(#flow, #args));
            return self.given_back(&call, taken, [span, e.paren_token.span.close()]);
        }
        let args = quote_spanned!(e.paren_token.span.join()=> (#(#args),*));
        if self.known.is_lanes_own(&e.func) {
            let own = lang("each_lanes_own", e.func.span());
            return quote_spanned!(e.func.span()=> #own(#function #args));
        }
        match self.is_asked(e) {
            true => self.given_back(&quote!(#function #args), taken, [span, e.paren_token.span.close()]),
            false => quote!(#function #args),
        }
    }

    /// True if the value may be one of the device, as far as syntax shows.
    pub(super) fn may_be_of_device(&self, e: &Expr) -> bool {
        match e {
            Expr::Paren(e) => self.may_be_of_device(&e.expr),
            Expr::Group(e) => self.may_be_of_device(&e.expr),
            Expr::Cast(_) | Expr::Binary(_) => true,
            Expr::Unary(e) => !matches!(e.op, UnOp::Deref(_)),
            Expr::Index(e) => !matches!(*e.index, Expr::Range(_)) && self.may_be_of_device(&e.expr),
            Expr::MethodCall(e) => self.may_be_of_device(&e.receiver),
            Expr::Field(e) => self.may_be_of_device(&e.base),
            Expr::Call(_) => true,
            e => name_of(e).and_then(|name| self.kind(name)).is_some_and(|kind| kind != Kind::Counted),
        }
    }

    /// The result of a call, with a check by rustc of what the call requires. It has the spans of the function's name
    /// and of the call's end, so that errors about the result point at the call.
    pub(super) fn given_back(&self, call: &TokenStream, taken: &str, [span, end]: [Span; 2]) -> TokenStream {
        let taken = Ident::new(taken, span);
        let (flow, targets) = (self.flow_of_call(span), self.on_targets(span));
        let flow = quote_spanned!(end=> (#flow));
        let of = lang("Call", span);
        quote_spanned!(span=> #of(#call).#taken::<_, #targets> #flow)
    }

    /// The flow token, whose type says whether all lanes are active, to be passed to a call.
    fn flow_of_call(&self, span: Span) -> TokenStream {
        match self.closures {
            0 => {
                let flow = self.flow(span);
                quote_spanned!(span=> &#flow)
            }
            _ => {
                let closure = lang("InClosure", span);
                quote_spanned!(span=> &#closure::new())
            }
        }
    }
}

impl Cx<'_> {
    /// The targets, as a type: those in `#[targets(…)]`, those of a device function's caller, or `AnyTarget`. Also, as
    /// a second type, the targets whose matrix instructions may be used; for a caller's targets, bounds determine it.
    fn on_targets(&self, span: Span) -> TokenStream {
        if let Some(targets) = &self.callers_targets {
            // Has the span of the call, so that errors about the targets point there.
            let targets = targets.clone().into_iter().map(|mut token| {
                token.set_span(span.resolved_at(token.span()));
                token
            });
            let targets: TokenStream = targets.collect();
            let bound = lang("Bound", span);
            return quote_spanned!(span=> #targets, #bound<#targets>);
        }
        let on = match self.targets {
            Some(targets) if !targets.is_empty() => Ident::new(TARGETS, span).into_token_stream(),
            _ => lang("AnyTarget", span),
        };
        quote_spanned!(span=> #on, #on)
    }
}

/// The name of the kernel's targets, a type, in the expansion of its body.
const TARGETS: &str = "__GcnTargets";

/// The declaration of the kernel's targets as a type: every call in the body names it.
pub(in crate::expand) fn declared_targets(targets: &[Target], span: Span) -> TokenStream {
    // A generic target, such as `gfx9-generic`, is replaced by the targets that it represents, because they determine
    // its matrix instructions.
    let types = targets.iter().flat_map(|target| target.represented_by());
    let types = types.collect::<BTreeSet<_>>().into_iter().map(|target| {
        // The type for `gfx90a` is named `Gfx90a`.
        lang(&target.name().replacen('g', "G", 1), span)
    });
    let pairs = types.reduce(|pairs, next| quote_spanned!(span=> (#pairs, #next)));
    let name = Ident::new(TARGETS, span);
    pairs.map(|pairs| quote_spanned!(span=> #[allow(dead_code)] type #name = #pairs;)).unwrap_or_default()
}

/// `None` for `None::<T>`: in a comparison, the other side says the type.
fn untyped_none(e: &Expr) -> Option<Expr> {
    let Expr::Path(path) = e else { return None };
    let [only] = path.path.segments.iter().collect::<Vec<_>>()[..] else { return None };
    let name = &only.ident;
    (name == "None" && !only.arguments.is_none()).then(|| parse_quote_spanned!(name.span()=> #name))
}

pub(super) fn called(function: &Expr) -> Option<&Ident> {
    match function {
        Expr::Path(p) => p.path.segments.last().map(|s| &s.ident),
        _ => None,
    }
}
