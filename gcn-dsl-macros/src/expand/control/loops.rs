//! `while`, `for` and `loop`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Expr, ExprForLoop, ExprLoop, ExprMethodCall, ExprRange, ExprWhile, Label, Pat, RangeLimits, Stmt,
    parse_quote_spanned,
};

use crate::attrs;
use crate::expand::control::exit::{any, any_of};
use crate::expand::control::iterate;
use crate::expand::frame::{Target, TargetKind, Trips};
use crate::expand::types::typed::inferred;
use crate::expand::{Cx, lang};

/// A range `a..b` or `a..=b`, with any `.rev()` and `.step_by(k)`.
pub(in crate::expand) struct Range<'e> {
    pub start: &'e Expr,
    pub end: &'e Expr,
    pub step: Option<&'e Expr>,
    pub inclusive: bool,
    pub reversed: bool,
}

pub(in crate::expand) fn range(e: &Expr) -> Option<Range<'_>> {
    match e {
        Expr::Paren(p) => range(&p.expr),
        Expr::Range(ExprRange { start: Some(start), end: Some(end), limits, .. }) => {
            let inclusive = matches!(limits, RangeLimits::Closed(_));
            Some(Range { start, end, step: None, inclusive, reversed: false })
        }
        Expr::MethodCall(ExprMethodCall { receiver, method, args, .. })
            if method == "step_by" && args.len() == 1 =>
        {
            let inner = range(receiver).filter(|r| r.step.is_none())?;
            Some(Range { step: args.first(), ..inner })
        }
        // The last value of a stepped range is not known while the kernel is built, so such a range cannot be reversed.
        Expr::MethodCall(ExprMethodCall { receiver, method, args, .. })
            if method == "rev" && args.is_empty() =>
        {
            let inner = range(receiver).filter(|r| r.step.is_none())?;
            Some(Range { reversed: !inner.reversed, ..inner })
        }
        _ => None,
    }
}

/// The expansion of a loop's body: its tokens, and the exits in it.
pub(in crate::expand) struct Body {
    pub tokens: TokenStream,
    pub target: Target,
}

impl Body {
    /// The code at the end of the loop. It passes to the loop's guard the exits by which lanes leave: the condition,
    /// `break` and `return`.
    fn end(&self, guard: &Ident, site: &Cx<'_>, span: Span) -> TokenStream {
        // The loop's condition acts like an exit: the lanes for which it is false leave.
        let own = quote_spanned!(span=> #guard.kind());
        let leaves = &self.target.leaves;
        let left: Vec<TokenStream> =
            std::iter::once(own).chain(leaves.left.iter().map(ToTokens::to_token_stream)).collect();
        let (left, returned) = (any(&left, span), any_of(&leaves.returned, span));
        let [left_name, returned_name] = ["left", "returned"].map(|name| site.helper(name, span));
        let values = match (self.target.kind, self.target.breaks) {
            (TargetKind::Loop { valued: true, .. }, true) => {
                let slots = self.target.slots(span);
                quote_spanned!(span=> end_with(&#left_name, &#returned_name, #slots))
            }
            _ => quote_spanned!(span=> end(&#left_name, &#returned_name)),
        };
        quote_spanned!(span=> let (#left_name, #returned_name) = (#left, #returned); #guard.#values)
    }
}

impl Cx<'_> {
    /// The statements of a loop's body.
    pub(in crate::expand) fn loop_body(
        &mut self,
        kind: TargetKind,
        label: Option<&Label>,
        guard: &Ident,
        f: impl FnOnce(&mut Self) -> TokenStream,
    ) -> Body {
        // Counted before the body, so that the exits in the body affect only assignments in the body.
        let carried = self.carried_so_far();
        let endless = matches!(kind, TargetKind::Loop { valued: true, .. });
        let (tokens, target) = self.trips(endless, |cx| {
            cx.frames.push(Target::frame(kind, label, guard.clone()));
            let tokens = f(cx);
            let mut target = cx.pop_target().unwrap_or_else(|| unreachable!("pushed above"));
            let (breaks, continues) =
                (std::mem::take(&mut target.at_breaks), std::mem::take(&mut target.at_continues));
            ((tokens, target), breaks, continues)
        });
        // An exit skips the rest of the trip, which may contain an assignment that changes the buffer's phase.
        if target.breaks || !target.continues.is_empty() {
            self.not_carried(carried);
        }
        Body { tokens, target }
    }

    pub fn while_loop(&mut self, e: &ExprWhile) -> TokenStream {
        // A `while let`: the names of its pattern must be in scope in the body, so the condition cannot be expanded on
        // its own.
        if let Expr::Let(l) = &*e.cond {
            let (label, pat, value, body) = (&e.label, &l.pat, &l.expr, &e.body.stmts);
            let same = parse_quote_spanned! {e.while_token.span=>
                #label loop {
                    let #pat = #value else { break };
                    #(#body)*
                }
            };
            return self.endless_loop(&same);
        }
        let span = e.while_token.span;
        let cond = self.operand_expr(&e.cond);
        let (flow, guard) = (self.flow(e.cond.span()), self.guard("loop", span));
        let kind = TargetKind::Loop { valued: false, trips: Trips::Free };
        let body = self.loop_body(kind, e.label.as_ref(), &guard, |cx| cx.statements_of_unit(&e.body.stmts));
        let (breaks, continues) = (body.target.breaks, !body.target.continues.is_empty());
        let (declarations, end) = (body.target.declarations(span), body.end(&guard, self, span));
        let (begin, value, tokens) =
            (lang("while_begin", span), self.helper("cond", e.cond.span()), &body.tokens);
        // After the test, the guard has another type, which tells the body whether lanes make different numbers of
        // trips.
        let test = quote_spanned!(e.cond.span()=> #guard.test(#value, #continues));
        let trip = self.trip(&quote_spanned!(span=> let #flow = #guard.flow(); #tokens), span);
        quote_spanned!(span=> {
            #declarations
            let #guard = #begin(&#flow, #breaks);
            let #value = { let #flow = #guard.flow(); #cond };
            let #guard = #test;
            #trip
            #end
        })
    }

    pub fn endless_loop(&mut self, e: &ExprLoop) -> TokenStream {
        let span = e.loop_token.span;
        let (flow, guard) = (self.flow(span), self.guard("loop", span));
        let kind = TargetKind::Loop { valued: true, trips: Trips::Free };
        let body = self.loop_body(kind, e.label.as_ref(), &guard, |cx| cx.statements_of_unit(&e.body.stmts));
        let (breaks, continues) = (body.target.breaks, !body.target.continues.is_empty());
        let (declarations, end) = (body.target.declarations(span), body.end(&guard, self, span));
        let (begin, tokens) = (lang("loop_begin", span), &body.tokens);
        let trip = self.trip(&quote_spanned!(span=> let #flow = #guard.flow(); #tokens), span);
        quote_spanned!(span=> {
            #declarations
            let #guard = #begin(&#flow, #breaks, #continues);
            #trip
            #end
        })
    }

    pub fn for_loop(&mut self, e: &ExprForLoop) -> TokenStream {
        // With such an attribute the user wants a loop on the device, so an error about the range helps more.
        let ordered = |a: &syn::Attribute| attrs::is_pipeline(a) || attrs::is_ping_pong(a);
        if e.attrs.iter().any(attrs::is_unroll)
            || iterate::is_over_elements(&e.expr) && !e.attrs.iter().any(ordered)
        {
            return self.unrolled(e);
        }
        let span = e.for_token.span;
        let Some(range) = range(&e.expr) else {
            self.errors.at(
                &e.expr,
                "a device `for` runs over a range: `a..b` or `a..=b`, then `.rev()` and `.step_by(k)` in this order; for other \
                 iterators write `#[unroll] for`",
            );
            return TokenStream::new();
        };
        let range = self.range(&range, e.expr.span());
        let (flow, guard, pat) = (self.flow(e.expr.span()), self.guard("loop", span), &e.pat);
        if !matches!(**pat, Pat::Ident(_) | Pat::Wild(_)) {
            self.errors.at(pat, "the variable of a device `for` is a plain name or `_`");
        }
        let pipeline = self.pipeline(e, &guard);
        let rolled = e.attrs.iter().find(|a| attrs::is_rolled(a)).map(|attr| {
            let rolled = lang("rolled", attr.path().span());
            quote_spanned!(attr.path().span()=> #rolled(&#guard);)
        });
        let ping_pong = e.attrs.iter().find(|a| attrs::is_ping_pong(a));
        let trips = match (ping_pong, &pipeline) {
            (Some(_), _) => Trips::PingPong,
            (None, Some(_)) => Trips::Pipelined,
            (None, None) => Trips::Free,
        };
        // The `#[matrix]` phases of this loop are those counted while its body is expanded.
        let (kind, phases) = (TargetKind::Loop { valued: false, trips }, self.phases);
        let body = self.loop_body(kind, e.label.as_ref(), &guard, |cx| cx.with_pattern(pat, &e.body.stmts));
        let (breaks, continues) = (body.target.breaks, !body.target.continues.is_empty());
        let (declarations, end) = (body.target.declarations(span), body.end(&guard, self, span));
        let (begin, tokens) = (lang("for_begin", e.expr.span()), &body.tokens);
        let begin = quote_spanned!(e.expr.span()=> #begin(#range, &#flow, #breaks, #continues));
        let trip = quote_spanned!(span=> let #flow = #guard.flow(); let #pat = #guard.index(); #tokens);
        let trip = self.trip(&trip, span);
        let looped = quote_spanned!(span=> {
            #declarations
            let #guard = #begin;
            #pipeline
            #rolled
            #trip
            #end
        });
        match ping_pong {
            Some(attr) => self.ping_pong(attr, e.expr.span(), self.phases - phases, &looped),
            None => looped,
        }
    }

    /// The call that requests pipelining; `None` if the `for` has no `#[pipeline]` attribute.
    fn pipeline(&mut self, e: &ExprForLoop, guard: &Ident) -> Option<TokenStream> {
        let attr = e.attrs.iter().find(|a| attrs::is_pipeline(a))?;
        if self.is_manual() {
            let what = "in a `#[schedule(manual)]` block the order is the written one: start the loads of the next trip with \
                        `load_async`, or take one of the attributes away";
            self.errors.beside(attr, what);
        }
        match attrs::pipeline(attr) {
            Ok(attrs::Pipeline { stages, buffers }) => {
                let span = attr.path().span();
                let (pipeline, count) = (lang("pipeline", span), lang("pipeline_count", span));
                let [stages, buffers] = [stages, buffers].map(|given| match given {
                    Some(n) => quote_spanned!(span=> #count(#n)),
                    None => quote_spanned!(span=> ::core::option::Option::None),
                });
                Some(quote_spanned!(span=> #pipeline(&#guard, #stages, #buffers);))
            }
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    fn with_pattern(&mut self, pat: &Pat, stmts: &[Stmt]) -> TokenStream {
        self.scope(|cx| {
            cx.bind(pat);
            cx.statements_of_unit(stmts)
        })
    }

    fn range(&mut self, r: &Range<'_>, span: Span) -> TokenStream {
        // The loop variable gets its type from its uses, and a name for an untyped number as a bound must not fix that
        // type.
        let ends = [r.start, r.end].map(|e| self.inferred_by_name(e));
        let [start, end] = ends.each_ref().map(|(e, _)| self.operand_expr(e));
        let uses = ends.iter().map(|(_, uses)| uses);
        let range = lang(if r.inclusive { "range_inclusive" } else { "range" }, span);
        let reversed = r.reversed.then(|| quote_spanned!(span=> .rev()));
        let step = r.step.map(|step| {
            let step = self.operand_expr(&inferred(step));
            quote_spanned!(span=> .step_by(#step))
        });
        let range = quote_spanned!(span=> #range(#start, #end) #reversed #step);
        if ends.iter().all(|(_, uses)| uses.is_empty()) {
            range
        } else {
            quote_spanned!(span=> { #(#uses)* #range })
        }
    }
}
