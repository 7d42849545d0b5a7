//! `if`, `while`, `for`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, ExprIf, ExprMethodCall, ExprRange, ExprWhile, Pat, RangeLimits};

use super::{Cx, attrs, lang};

/// `a..b`, `a..=b` or `(a..b).step_by(k)`.
struct Range<'e> {
    start: &'e Expr,
    end: &'e Expr,
    step: Option<&'e Expr>,
    inclusive: bool,
}

fn range(e: &Expr) -> Option<Range<'_>> {
    match e {
        Expr::Paren(p) => range(&p.expr),
        Expr::Range(ExprRange { start: Some(start), end: Some(end), limits, .. }) => {
            Some(Range { start, end, step: None, inclusive: matches!(limits, RangeLimits::Closed(_)) })
        }
        Expr::MethodCall(ExprMethodCall { receiver, method, args, .. })
            if method == "step_by" && args.len() == 1 =>
        {
            let inner = range(receiver).filter(|r| r.step.is_none())?;
            Some(Range { step: args.first(), ..inner })
        }
        _ => None,
    }
}

impl Cx<'_> {
    pub fn if_expr(&mut self, e: &ExprIf) -> TokenStream {
        if e.attrs.iter().any(attrs::is_comptime) {
            return self.comptime_if(e);
        }
        if let Expr::Let(l) = &*e.cond {
            self.errors.at(l, "`if let` is not available in a kernel; compare with `==`, or match on the host in `comptime`");
            return TokenStream::new();
        }
        self.not_in_closure(
            e.if_token,
            "`if`",
            "use `select(condition, a, b)`, or `comptime if` for host conditions",
        );
        let (cond, flow) = (self.expr(&e.cond), self.flow(e.cond.span()));
        let begin = lang("if_begin", e.cond.span());
        let begin = quote_spanned!(e.cond.span()=> #begin(#cond, &#flow));
        let (guard, other, then_value, else_value) =
            ["if", "else", "then_value", "else_value"].map(|name| self.helper(name, e.if_token.span)).into();
        let then = self.statements(&e.then_branch.stmts);
        let span = e.if_token.span;
        let Some((_, els)) = &e.else_branch else {
            return quote_spanned!(span=> {
                let #guard = #begin;
                { let #flow = #guard.flow(); #then }
                #guard.end()
            });
        };
        let els = match &**els {
            Expr::Block(b) => self.statements(&b.block.stmts),
            other => self.expr(other),
        };
        quote_spanned!(span=> {
            let #guard = #begin;
            let #then_value = { let #flow = #guard.flow(); #then };
            let #other = #guard.otherwise();
            let #else_value = { let #flow = #other.flow(); #els };
            #other.end(#then_value, #else_value)
        })
    }

    fn comptime_if(&mut self, e: &ExprIf) -> TokenStream {
        let (cond, then) = (&e.cond, self.block(&e.then_branch));
        let els = e.else_branch.as_ref().map(|(_, els)| {
            let els = match &**els {
                // `else if` of a `comptime if` is one too.
                Expr::If(inner) => self.comptime_if(inner),
                Expr::Block(b) => self.block(&b.block),
                other => self.expr(other),
            };
            quote!(else #els)
        });
        quote_spanned!(e.if_token.span=> if #cond #then #els)
    }

    pub fn while_loop(&mut self, e: &ExprWhile) -> TokenStream {
        if let Expr::Let(l) = &*e.cond {
            self.errors.at(l, "`while let` is not available in a kernel; loop on a condition");
            return TokenStream::new();
        }
        self.no_label(e.label.as_ref());
        self.not_in_closure(e.while_token, "`while`", "write the loop outside");
        let (cond, flow, guard) =
            (self.expr(&e.cond), self.flow(e.cond.span()), self.helper("loop", e.while_token.span));
        let body = self.statements(&e.body.stmts);
        let begin = lang("loop_begin", e.while_token.span);
        let value = self.helper("cond", e.cond.span());
        let test = quote_spanned!(e.cond.span()=> #guard.test(#value));
        quote_spanned!(e.while_token.span=> {
            let #guard = #begin(&#flow);
            let #value = #cond;
            let #guard = #test;
            { let #flow = #guard.flow(); #body }
            #guard.end()
        })
    }

    pub fn for_loop(&mut self, e: &ExprForLoop) -> TokenStream {
        self.no_label(e.label.as_ref());
        if e.attrs.iter().any(attrs::is_unroll) {
            return self.unrolled(e);
        }
        self.not_in_closure(e.for_token, "a device `for`", "write the loop outside, or `#[unroll] for`");
        let Some(range) = range(&e.expr) else {
            self.errors.at(
                &e.expr,
                "a device `for` runs over a range, `a..b`, `a..=b` or `(a..b).step_by(k)`; for a host iterator write \
                 `#[unroll] for`",
            );
            return TokenStream::new();
        };
        let bounds = [self.expr(range.start), self.expr(range.end)];
        let step = range.step.map(|s| self.expr(s));
        if range.inclusive && step.is_some() {
            self.errors.at(&e.expr, "`step_by` takes a range `a..b` in a kernel");
        }
        let name = match (range.inclusive, &step) {
            (true, _) => "for_begin_inclusive",
            (false, Some(_)) => "for_begin_step",
            (false, None) => "for_begin",
        };
        let (flow, guard, pat) = (self.flow(e.expr.span()), self.helper("loop", e.for_token.span), &e.pat);
        if !matches!(**pat, Pat::Ident(_) | Pat::Wild(_)) {
            self.errors.at(pat, "the variable of a device `for` is a plain name or `_`");
        }
        let body = self.scope(|cx| {
            cx.bind(pat);
            cx.statements(&e.body.stmts)
        });
        let begin = lang(name, e.expr.span());
        let [start, end] = bounds;
        let step = step.map(|s| quote!(, #s));
        let begin = quote_spanned!(e.expr.span()=> #begin(#start, #end #step, &#flow));
        quote_spanned!(e.for_token.span=> {
            let #guard = #begin;
            { let #flow = #guard.flow(); let #pat = #guard.index(); #body }
            #guard.end()
        })
    }

    fn unrolled(&mut self, e: &ExprForLoop) -> TokenStream {
        let iterator = match range(&e.expr) {
            Some(r) => {
                let (start, end) = (self.expr(r.start), self.expr(r.end));
                let name = if r.inclusive { "unroll_inclusive" } else { "unroll" };
                let call = lang(name, e.expr.span());
                let step = r.step.map(|s| {
                    let s = self.expr(s);
                    quote!(.step_by(#s))
                });
                quote_spanned!(e.expr.span()=> #call(#start, #end) #step)
            }
            None => self.expr(&e.expr),
        };
        let pat = &e.pat;
        let body = self.scope(|cx| {
            cx.bind(pat);
            cx.statements(&e.body.stmts)
        });
        quote_spanned!(e.for_token.span=> for #pat in #iterator { #body })
    }

    pub fn no_label(&mut self, label: Option<&syn::Label>) {
        if let Some(label) = label {
            self.errors
                .at(label, "loop labels are not available in a kernel yet; leave the loop by its condition");
        }
    }
}
