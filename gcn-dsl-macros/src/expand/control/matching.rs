//! `match`, `if let` and `let … else` become a chain of branches, one for each arm. So that rustc's rules for patterns
//! apply, such as exhaustiveness, the expansion also contains the same patterns in a `match` on a host enum.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Arm, Expr, ExprIf, ExprLet, ExprMatch, Pat};

use crate::attrs;
use crate::expand::control::branch::MOST_BRANCHES;
use crate::expand::control::pattern::Needs;
use crate::expand::types::typed::{branches_of_numbers, has_literals, literals};
use crate::expand::{Cx, lang};
use crate::syntax::{leaves, name_of};

impl Cx<'_> {
    pub fn match_expr(&mut self, e: &ExprMatch) -> TokenStream {
        if e.attrs.iter().any(attrs::is_comptime) || self.is_host_name(&e.expr) {
            return self.comptime_match(e);
        }
        if let Some(Expr::Match(e)) = branches_of_numbers(|| Expr::Match(e.clone()), &self.elements) {
            return self.match_expr(&e);
        }
        // Device values can be copied, so a reference to a value is matched like the value.
        if let Expr::Reference(r) = &*e.expr
            && r.mutability.is_none()
        {
            return self.match_expr(&ExprMatch { expr: r.expr.clone(), ..e.clone() });
        }
        let span = e.match_token.span;
        let value = self.operand_expr(&e.expr);
        if !e.arms.iter().map(|arm| self.pattern_is_known(&arm.pat)).fold(true, |all, known| all & known) {
            return TokenStream::new();
        }
        // Checked here, because rustc's own error about its recursion limit does not mention the `match`.
        if let Some(arm) = e.arms.get(MOST_BRANCHES) {
            let what = format!(
                "a `match` in a kernel has at most {MOST_BRANCHES} arms, each a branch inside of the one before; read the results from \
                 a slice (`table[x]`), or match on ranges first and inside of their arms on the values"
            );
            self.errors.at(&arm.pat, what);
            return TokenStream::new();
        }
        let matched = self.guard("match", span);
        let value_name = self.helper("value", span);
        // The patterns come before the branches, so that rustc reports errors in them first and only once.
        let check = self.check(e, &matched, &value_name);
        let chain = self.chain(&e.arms, &matched, span);
        let at = e.expr.span();
        let bind = quote_spanned!(at=> let #matched = #value;);
        quote_spanned!(span=> { #bind #check #chain })
    }

    /// True for a `#[host]` parameter or a constant parameter.
    fn is_host_name(&self, e: &Expr) -> bool {
        let name = name_of(e);
        name.is_some_and(|name| {
            self.hosts.iter().any(|h| name == h)
                && self
                    .kind(name)
                    .is_none_or(|k| matches!(k, crate::expand::Kind::Value | crate::expand::Kind::Counted))
        })
    }

    /// Expands `comptime match`: the host selects the arm while the kernel is built; the arm's body executes on the
    /// device.
    fn comptime_match(&mut self, e: &ExprMatch) -> TokenStream {
        self.comptime += 1;
        let before = self.deferred.clone();
        let mut after = None;
        let mut arms = Vec::new();
        // If the value of some arm is not a number, the numbers in the others are host values.
        let numbers = e.arms.iter().all(|arm| has_literals(&arm.body));
        for arm in &e.arms {
            // Each arm starts from the same state, because only one arm becomes part of the kernel.
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
        let test = self.condition(&arm.pat, matched);
        if rest.is_empty() || test.is_none() && arm.guard.is_none() {
            // rustc checks that the last arm covers all remaining cases, so it needs no test.
            return self.scope(|cx| {
                let bindings = cx.bindings(&arm.pat, matched);
                let body = cx.arm_body(&arm.body);
                quote_spanned!(arm.body.span()=> { #bindings #body })
            });
        }
        let at = arm.pat.span();
        let guard = arm.guard.as_ref().map(|(_, guard)| &**guard);
        let tested = |cx: &mut Self| cx.guard_of_arm(&arm.pat, matched, guard);
        let cond = match (test, guard) {
            // If all lanes may evaluate the guard, that is cheaper than a separate branch.
            (Some(test), Some(guard)) if self.is_for_all(guard) => {
                let (and, guard) = (lang("and", at), tested(self));
                quote_spanned!(at=> #and(#test, #guard))
            }
            (Some(test), Some(_)) => self.lazily("and", &test, at, tested),
            (Some(test), None) => test,
            (None, _) => tested(self),
        };
        // The remaining arms become the `else`, so lanes that match an earlier arm never test a later one, as in Rust.
        let then = |cx: &mut Self| cx.matched(&arm.pat, matched, |cx| cx.arm_body(&arm.body));
        self.branch(cond, at, span, then, Some(|cx: &mut Self| cx.chain(rest, matched, span)))
    }

    /// The guard of an arm, with the names that its pattern binds.
    fn guard_of_arm(&mut self, pat: &Pat, matched: &Ident, guard: Option<&Expr>) -> TokenStream {
        self.scope(|cx| {
            let bindings = cx.bindings(pat, matched);
            let guard = guard.map(|guard| cx.operand_expr(guard));
            quote_spanned!(pat.span()=> { #bindings #guard })
        })
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

    /// A host `match` with the same patterns, for rustc to check.
    fn check(&mut self, e: &ExprMatch, matched: &Ident, value: &Ident) -> TokenStream {
        let (mut items, mut arms) = (TokenStream::new(), Vec::new());
        for arm in &e.arms {
            let mut needs = Needs::default();
            let pat = self.checked_pattern(&arm.pat, &mut needs);
            items.extend(needs.items);
            // An opaque condition replaces a guard. It is also added to a pattern that rustc would wrongly consider
            // irrefutable, because later arms must not become unreachable.
            let at = arm.guard.as_ref().map(|(token, _)| token.span).or(needs.guard.then(|| arm.pat.span()));
            let guard = at.map(|at| {
                let otherwise = lang("otherwise", at);
                quote_spanned!(at=> if #otherwise())
            });
            arms.push(quote_spanned!(arm.body.span()=> #pat #guard => {}));
        }
        let at = e.expr.span();
        let host = lang("host_value", at);
        // Has the span of the matched value, because rustc points there if a case is missing.
        let value = Ident::new(&value.to_string(), at.resolved_at(value.span()));
        let host = quote_spanned!(at=> #host(&#matched));
        quote_spanned!(e.match_token.span=> #items if let ::core::option::Option::Some(#value) = #host { match #value { #(#arms)* } })
    }

    /// Expands `if let`.
    pub fn if_let(&mut self, e: &ExprIf, of: &ExprLet) -> TokenStream {
        let span = e.if_token.span;
        let value = self.operand_expr(&of.expr);
        if !self.pattern_is_known(&of.pat) {
            return TokenStream::new();
        }
        let (matched, at) = (self.guard("match", span), of.expr.span());
        let bind = quote_spanned!(at=> let #matched = #value;);
        let then = &e.then_branch.stmts;
        // An irrefutable pattern needs no branch.
        let Some(condition) = self.condition(&of.pat, &matched) else {
            return self.scope(|cx| {
                let (bindings, then) = (cx.bindings(&of.pat, &matched), cx.statements(then));
                quote_spanned!(span=> { #bind #bindings #then })
            });
        };
        let at = of.pat.span();
        let branch = match &e.else_branch {
            None => {
                let then = |cx: &mut Self| cx.matched(&of.pat, &matched, |cx| cx.statements_of_unit(then));
                self.branch(condition, at, span, then, None::<fn(&mut Self) -> _>)
            }
            Some((_, els)) => {
                let then = |cx: &mut Self| cx.matched(&of.pat, &matched, |cx| cx.value_of(then, span));
                self.branch(condition, at, span, then, Some(|cx: &mut Self| cx.otherwise(els, span)))
            }
        };
        quote_spanned!(span=> { #bind #branch })
    }

    /// Expands `let pattern = value else { … };`.
    pub fn let_else(&mut self, pat: &Pat, value: &TokenStream, els: &Expr, span: Span) -> TokenStream {
        if !self.pattern_is_known(pat) {
            return TokenStream::new();
        }
        if !leaves(els) {
            let what = "what is left here has no value for the names: the `else` of a `let … else` ends with `return`, `break` or `continue`";
            self.errors.at(els, what);
            return TokenStream::new();
        }
        // The names stay in scope after the statement, so the matched value gets a name of its own, which a second `let
        // … else` does not shadow.
        let matched = self.fresh("matched", span);
        let unless = self.condition(pat, &matched).map(|condition| {
            let branch = self.branch(
                condition,
                pat.span(),
                span,
                |_| quote!(()),
                Some(|cx: &mut Self| cx.otherwise(els, span)),
            );
            quote_spanned!(span=> #branch;)
        });
        let bindings = self.bindings(pat, &matched);
        quote_spanned!(span=> let #matched = #value; #unless #bindings)
    }

    /// The body of an arm, with the names that its pattern binds.
    fn matched(
        &mut self,
        pat: &Pat,
        matched: &Ident,
        then: impl FnOnce(&mut Self) -> TokenStream,
    ) -> TokenStream {
        self.scope(|cx| {
            let (bindings, then) = (cx.bindings(pat, matched), then(cx));
            quote!(#bindings #then)
        })
    }
}
