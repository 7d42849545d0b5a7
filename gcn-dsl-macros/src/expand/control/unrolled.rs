//! Host loops, which are unrolled while the kernel is built: `#[unroll] for`, and loops over arrays of values.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ExprForLoop, Pat, parse_quote_spanned};

use crate::attrs;
use crate::expand::control::exit::any_of;
use crate::expand::control::iterate::InPlace;
use crate::expand::control::leaves;
use crate::expand::control::loops::range;
use crate::expand::frame::TargetKind;
use crate::expand::types::counted;
use crate::expand::{Cx, Kind, lang};

impl Cx<'_> {
    pub(in crate::expand) fn unrolled(&mut self, e: &ExprForLoop) -> TokenStream {
        if let Some(block) = leaves::in_blocks(e) {
            return self.expr(&block);
        }
        let explicit = e.attrs.iter().any(attrs::is_unroll);
        let mut pat = (*e.pat).clone();
        let iterator = match (range(&e.expr), InPlace::of(&e.pat, &e.expr)) {
            (Some(r), _) => {
                let (start, end) = (self.operand_expr(r.start), self.operand_expr(r.end));
                let name = if r.inclusive { "unroll_inclusive" } else { "unroll" };
                let call = lang(name, e.expr.span());
                let reversed = r.reversed.then(|| quote!(.rev()));
                let step = r.step.map(|s| {
                    let s = self.operand_expr(s);
                    quote!(.step_by(#s))
                });
                quote_spanned!(e.expr.span()=> #call(#start, #end) #reversed #step)
            }
            (None, Some(places)) => return self.over_places(e, &places),
            (None, None) if explicit => self.operand_expr(&e.expr),
            (None, None) => {
                let iterator = self.elements(&e.pat, &e.expr);
                pat = iterator.0;
                iterator.1
            }
        };
        self.trips_of_host(e, &pat, &iterator, |cx| {
            if let (Pat::Ident(p), true) = (&pat, explicit) {
                cx.declare_as(&p.ident, Kind::Counted);
                if counted::is_mixed(&p.ident, &e.body, &cx.memory) {
                    cx.mixed.push(p.ident.clone());
                }
            }
            TokenStream::new()
        })
    }

    /// Expands a loop whose variables are mutable references to array elements. It ends with the shortest array.
    fn over_places(&mut self, e: &ExprForLoop, of: &InPlace<'_>) -> TokenStream {
        let span = e.expr.span();
        let counter = self.fresh("element", span);
        let mut pat: Pat = parse_quote_spanned!(span=> #counter);
        let mut iterator = quote_spanned!(span=> 0usize..);
        for (array, _) in &of.places {
            let array = self.operand_expr(array);
            iterator = quote_spanned!(span=> (#iterator).take(#array.len()));
        }
        for (value, values) in &of.values {
            let (value, values) = self.elements(value, values);
            pat = parse_quote_spanned!(span=> (#pat, #value));
            iterator = quote_spanned!(span=> (#iterator).zip(#values));
        }
        self.trips_of_host(e, &pat, &iterator, |cx| {
            let lent = of.places.iter().map(|(array, element)| {
                let lent = cx.argument(&parse_quote_spanned!(array.span()=> &mut #array[#counter]));
                let flow = cx.flow(array.span());
                quote_spanned!(element.span()=> let #element = #lent.enter(&#flow);)
            });
            let lent: TokenStream = lent.collect();
            let numbers = of.numbers.iter().map(|number| {
                cx.bind(number);
                if let (Pat::Ident(_), Some(last)) = (number, cx.names.last_mut()) {
                    last.size = true;
                }
                quote_spanned!(number.span()=> let #number = #counter;)
            });
            let numbers: TokenStream = numbers.collect();
            of.places.iter().for_each(|(_, element)| cx.declare_as(element, Kind::Lent));
            quote!(#lent #numbers)
        })
    }

    /// Expands the trips of a host loop. Each trip starts with the statements that `first` returns.
    fn trips_of_host(
        &mut self,
        e: &ExprForLoop,
        pat: &Pat,
        iterator: &TokenStream,
        first: impl FnOnce(&mut Self) -> TokenStream,
    ) -> TokenStream {
        let span = e.for_token.span;
        let guard = self.guard("unrolled", span);
        let body = self.loop_body(TargetKind::Unrolled, e.label.as_ref(), &guard, |cx| {
            cx.scope(|cx| {
                cx.bind(pat);
                cx.enumerated(pat, &e.expr);
                let before = cx.mixed.len();
                let first = first(cx);
                let body = cx.statements_of_unit(&e.body.stmts);
                cx.mixed.truncate(before);
                quote!(#first #body)
            })
        });
        let tokens = &body.tokens;
        let unrolled = quote_spanned!(span=> for #pat in #iterator { #tokens });
        // Without exits, the same lanes run in every trip, so the flow of the surrounding code also holds in the body.
        if body.target.leaves.is_empty() {
            return unrolled;
        }
        let (flow, begin) = (self.flow(span), lang("unrolled_begin", span));
        let declarations = body.target.declarations(span);
        let [left, returned] =
            [&body.target.leaves.left, &body.target.leaves.returned].map(|l| any_of(l, span));
        quote_spanned!(span=> {
            #declarations
            let #guard = #begin(&#flow);
            { let #flow = #guard.flow(); #unrolled }
            #guard.end(&#left, &#returned)
        })
    }
}
