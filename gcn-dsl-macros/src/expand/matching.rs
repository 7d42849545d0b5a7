//! `match`: a chain of branches, one for each arm. What can be asked of patterns alone, rustc checks on a host value.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Arm, Expr, ExprMatch, Pat, PatRange, RangeLimits};

use super::control::MOST_BRANCHES;
use super::typed::{has_literals, literals};
use super::{Cx, lang};
use crate::attrs;

impl Cx<'_> {
    pub fn match_expr(&mut self, e: &ExprMatch) -> TokenStream {
        if e.attrs.iter().any(attrs::is_comptime) || self.is_host_name(&e.expr) {
            return self.comptime_match(e);
        }
        let span = e.match_token.span;
        self.not_in_closure(
            e.match_token,
            "`match`",
            "use `select(condition, a, b)`, or match on the host in `comptime`",
        );
        let value = self.operand_expr(&e.expr);
        if !e.arms.iter().map(|arm| self.pattern_is_known(&arm.pat)).fold(true, |all, known| all & known) {
            return TokenStream::new();
        }
        if let Some(arm) = e.arms.get(MOST_BRANCHES) {
            let what = format!(
                "a `match` in a kernel has at most {MOST_BRANCHES} arms, each a branch inside of the one before; read the results from \
                 a slice (`table[x]`), or match on ranges first and inside of their arms on the values"
            );
            self.errors.at(&arm.pat, what);
            return TokenStream::new();
        }
        let matched = self.guard("match", span);
        let check = check(e, &matched, self.helper("value", span));
        let chain = self.chain(&e.arms, &matched, span);
        let at = e.expr.span();
        let bind = quote_spanned!(at=> let #matched = #value;);
        quote_spanned!(span=> { #bind #check #chain })
    }

    /// True for a `#[host]` parameter and a constant parameter.
    fn is_host_name(&self, e: &Expr) -> bool {
        let name = super::place::name_of(e);
        name.is_some_and(|name| {
            self.hosts.iter().any(|h| name == h) && self.kind(name).is_none_or(|k| k == super::Kind::Value)
        })
    }

    /// `comptime match`: the host chooses the arm, whose body is of the device.
    fn comptime_match(&mut self, e: &ExprMatch) -> TokenStream {
        self.comptime += 1;
        let before = self.deferred.clone();
        let mut after = None;
        let mut arms = Vec::new();
        // Beside a value of another kind a number is a number of the host.
        let numbers = e.arms.iter().all(|arm| has_literals(&arm.body));
        for arm in &e.arms {
            self.deferred = before.clone();
            let body = self.scope(|cx| {
                cx.bind(&arm.pat);
                cx.comptime_body(&arm.body, numbers)
            });
            let (pat, guard) = (&arm.pat, arm.guard.as_ref().map(|(token, guard)| quote!(#token #guard)));
            arms.push(quote_spanned!(arm.body.span()=> #pat #guard => { #body }));
            let way = std::mem::take(&mut self.deferred);
            after = Some(match after {
                Some(other) => way.meet(other),
                None => way,
            });
        }
        self.deferred = after.unwrap_or(before);
        self.comptime -= 1;
        let matched = &e.expr;
        quote_spanned!(e.match_token.span=> match #matched { #(#arms)* })
    }

    /// The arms as `if … else if … else`.
    fn chain(&mut self, arms: &[Arm], matched: &Ident, span: Span) -> TokenStream {
        let Some((arm, rest)) = arms.split_first() else { return TokenStream::new() };
        let always = matches!(plain(&arm.pat), Pat::Wild(_)) || binds_anything(&arm.pat);
        if rest.is_empty() || always && arm.guard.is_none() {
            // Rustc sees to it that the last arm takes what is left.
            return self.scope(|cx| {
                let bindings = cx.bindings(&arm.pat, matched);
                let body = cx.arm_body(&arm.body);
                quote_spanned!(arm.body.span()=> { #bindings #body })
            });
        }
        let at = arm.pat.span();
        let test = test(&arm.pat, matched);
        let cond = match &arm.guard {
            None => test,
            Some((_, guard)) => self.scope(|cx| {
                let bindings = cx.bindings(&arm.pat, matched);
                let (guard, and) = (cx.operand_expr(guard), lang("and", at));
                quote_spanned!(at=> { #bindings #and(#test, #guard) })
            }),
        };
        let then = |cx: &mut Self| {
            cx.scope(|cx| {
                let bindings = cx.bindings(&arm.pat, matched);
                let body = cx.arm_body(&arm.body);
                quote!(#bindings #body)
            })
        };
        self.branch(cond, at, span, then, Some(|cx: &mut Self| cx.chain(rest, matched, span)))
    }

    fn comptime_body(&mut self, body: &Expr, numbers: bool) -> TokenStream {
        match body {
            Expr::Block(b) if b.label.is_none() && b.attrs.is_empty() => {
                self.value_as_it_is(&b.block.stmts, body.span())
            }
            _ if numbers => self.arm_body(body),
            other => self.expr(other),
        }
    }

    fn arm_body(&mut self, body: &Expr) -> TokenStream {
        match body {
            Expr::Block(b) if b.label.is_none() && b.attrs.is_empty() => {
                self.value_of(&b.block.stmts, body.span())
            }
            other => self.expr(&literals(other, &self.elements.clone())),
        }
    }

    /// `let` for each name that the pattern binds; all of them are the value itself.
    fn bindings(&mut self, pat: &Pat, matched: &Ident) -> TokenStream {
        match plain(pat) {
            Pat::Ident(p) if !is_constant(&p.ident) => {
                self.declare(&p.ident, false);
                let name = &p.ident;
                quote_spanned!(name.span()=> let #name = #matched;)
            }
            _ => TokenStream::new(),
        }
    }

    fn pattern_is_known(&mut self, pat: &Pat) -> bool {
        let known = match plain(pat) {
            Pat::Wild(_) | Pat::Lit(_) | Pat::Range(_) | Pat::Path(_) | Pat::Const(_) => true,
            Pat::Ident(p) if p.by_ref.is_none() && p.mutability.is_none() => {
                return p.subpat.as_ref().is_none_or(|(_, inner)| self.pattern_is_known(inner));
            }
            Pat::Or(or) => return or.cases.iter().map(|p| self.pattern_is_known(p)).fold(true, |a, b| a & b),
            _ => false,
        };
        if !known {
            let what = "a pattern of a `match` in a kernel is a constant, a range, `_`, a name, `name @ pattern`, or several \
                        with `|`";
            self.errors.at(pat, what);
        }
        known
    }
}

/// A pattern without its parentheses.
fn plain(pat: &Pat) -> &Pat {
    match pat {
        Pat::Paren(p) => plain(&p.pat),
        other => other,
    }
}

/// Rust cannot tell a constant from a new name by syntax; its naming convention can.
fn is_constant(name: &Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase)
}

fn binds_anything(pat: &Pat) -> bool {
    matches!(plain(pat), Pat::Ident(p) if !is_constant(&p.ident) && p.subpat.is_none())
}

/// The same patterns on a host value, for rustc to check.
fn check(e: &ExprMatch, matched: &Ident, value: Ident) -> TokenStream {
    let arms = e.arms.iter().map(|arm| {
        let pat = &arm.pat;
        let guard = arm.guard.as_ref().map(|(token, _)| {
            let otherwise = lang("otherwise", token.span);
            quote_spanned!(token.span=> if #otherwise())
        });
        quote_spanned!(arm.body.span()=> #pat #guard => {})
    });
    let at = e.expr.span();
    let host = lang("host_value", at);
    // The place of the value, where rustc points when a case is missing.
    let value = Ident::new(&value.to_string(), at.resolved_at(value.span()));
    let host = quote_spanned!(at=> #host(&#matched));
    quote_spanned!(e.match_token.span=> if let ::core::option::Option::Some(#value) = #host { match #value { #(#arms)* } })
}

/// The condition under which the pattern matches.
fn test(pat: &Pat, matched: &Ident) -> TokenStream {
    let at = pat.span();
    let one = |name: &str, constant: &dyn ToTokens| {
        let (call, constant) = (lang(name, at), constant.to_token_stream());
        quote_spanned!(at=> #call(#matched, #constant))
    };
    match plain(pat) {
        Pat::Ident(p) if is_constant(&p.ident) => one("is", &p.ident),
        Pat::Ident(p) => match &p.subpat {
            Some((_, inner)) => test(inner, matched),
            None => anything(matched, at),
        },
        Pat::Or(or) => {
            let mut tests = or.cases.iter().map(|p| test(p, matched));
            let first = tests.next().unwrap_or_default();
            let or = lang("or", at);
            tests.fold(first, |a, b| quote_spanned!(at=> #or(#a, #b)))
        }
        Pat::Range(r) => range(r, matched, at, one),
        Pat::Wild(_) => anything(matched, at),
        constant => one("is", constant),
    }
}

fn anything(matched: &Ident, at: Span) -> TokenStream {
    let call = lang("is_anything", at);
    quote_spanned!(at=> #call(#matched))
}

fn range(
    r: &PatRange,
    matched: &Ident,
    at: Span,
    one: impl Fn(&str, &dyn ToTokens) -> TokenStream,
) -> TokenStream {
    let closed = matches!(r.limits, RangeLimits::Closed(_));
    match (&r.start, &r.end) {
        (Some(a), Some(b)) if closed => {
            let call = lang("is_between", at);
            quote_spanned!(at=> #call(#matched, #a, #b))
        }
        (Some(a), Some(b)) => {
            let (low, high, and) = (one("is_at_least", a), one("is_below", b), lang("and", at));
            quote_spanned!(at=> #and(#low, #high))
        }
        (Some(a), None) => one("is_at_least", a),
        (None, Some(b)) if closed => one("is_at_most", b),
        (None, Some(b)) => one("is_below", b),
        (None, None) => anything(matched, at),
    }
}
