//! `if`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprIf};

use crate::attrs;
use crate::expand::frame::Frame;
use crate::expand::types::typed::branches_of_numbers;
use crate::expand::{Cx, lang};

/// The maximum number of branches in a chain of `if`s, and of arms in a `match`. Each branch is nested in the one
/// before, and so is the type of its flow token (which says whether all lanes are active). rustc's recursion limit for
/// types is 128: a `match` alone compiles with 126 arms.
pub(in crate::expand) const MOST_BRANCHES: usize = 96;

/// The `if`s of an `else if` chain.
fn chained(e: &ExprIf) -> impl Iterator<Item = &ExprIf> {
    std::iter::successors(Some(e), |e| match e.else_branch.as_ref()?.1.as_ref() {
        Expr::If(next) => Some(next),
        _ => None,
    })
}

impl Cx<'_> {
    pub fn if_expr(&mut self, e: &ExprIf) -> TokenStream {
        if e.attrs.iter().any(attrs::is_comptime) {
            return self.comptime_if(e);
        }
        // Done first, because the rewritten expression goes through all the other cases again.
        if let Some(Expr::If(e)) = branches_of_numbers(|| Expr::If(e.clone()), &self.elements) {
            return self.if_expr(&e);
        }
        if let Expr::Let(l) = &*e.cond {
            return self.if_let(e, l);
        }
        // Reported here, because rustc's own message would mention types that only the expansion contains.
        if let Some(one) = chained(e).nth(MOST_BRANCHES) {
            let what = format!(
                "a chain of `if … else if` in a kernel has at most {MOST_BRANCHES} branches, each inside of the one before; divide it, or \
                 read what it decides from a slice (`table[x]`)"
            );
            self.errors.at(one.if_token, what);
            return TokenStream::new();
        }
        let cond = self.operand_expr(&e.cond);
        let (span, at) = (e.if_token.span, e.cond.span());
        let Some((_, els)) = &e.else_branch else {
            return self.branch(
                cond,
                at,
                span,
                |cx| cx.statements_of_unit(&e.then_branch.stmts),
                None::<fn(&mut Self) -> _>,
            );
        };
        self.branch(
            cond,
            at,
            span,
            |cx| cx.value_of(&e.then_branch.stmts, span),
            Some(|cx: &mut Self| cx.otherwise(els, span)),
        )
    }

    /// Expands the expression after `else`.
    pub fn otherwise(&mut self, els: &Expr, span: Span) -> TokenStream {
        match els {
            Expr::Block(b) if b.label.is_none() => self.value_of(&b.block.stmts, span),
            other => self.expr(other),
        }
    }

    /// Expands a branch on `cond`, at `at`. Errors about the value that joins both sides are reported at `span`.
    pub fn branch(
        &mut self,
        cond: TokenStream,
        at: Span,
        span: Span,
        then: impl FnOnce(&mut Self) -> TokenStream,
        els: Option<impl FnOnce(&mut Self) -> TokenStream>,
    ) -> TokenStream {
        // Has the condition's span, so that an error about the condition's type points there.
        let (flow, begin) = (self.flow(at), lang("if_begin", at));
        let begin = quote_spanned!(at=> #begin(#cond, &#flow));
        let [guard, other] = ["if", "else"].map(|name| self.guard(name, span));
        let [then_value, else_value] = ["then_value", "else_value"].map(|name| self.helper(name, span));
        let Some(els) = els else {
            let (then, ()) = self.ways(|cx| cx.inside(Frame::Branch(guard.clone()), then), |_| ());
            return quote_spanned!(span=> {
                let #guard = #begin;
                { let #flow = #guard.flow(); #then }
                #guard.end()
            });
        };
        let (then, els) = self.ways(
            // Each side has its own guard, whose type says whether only some lanes enter that side. The exits inside
            // use it.
            |cx| cx.inside(Frame::Branch(guard.clone()), then),
            |cx| cx.inside(Frame::Branch(other.clone()), els),
        );
        quote_spanned!(span=> {
            let #guard = #begin;
            let #then_value = { let #flow = #guard.flow(); #then };
            let #other = #guard.otherwise();
            let #else_value = { let #flow = #other.flow(); #els };
            #other.end(#then_value, #else_value)
        })
    }

    /// Runs `f` while `frame` is on the stack of constructs.
    pub fn inside(&mut self, frame: Frame, f: impl FnOnce(&mut Self) -> TokenStream) -> TokenStream {
        self.frames.push(frame);
        let tokens = f(self);
        self.frames.pop();
        tokens
    }

    fn comptime_if(&mut self, e: &ExprIf) -> TokenStream {
        self.comptime += 1;
        let expanded = self.comptime_branches(e);
        self.comptime -= 1;
        expanded
    }

    fn comptime_branches(&mut self, e: &ExprIf) -> TokenStream {
        let (then, els) = self.ways(
            |cx| cx.block(&e.then_branch),
            |cx| {
                e.else_branch.as_ref().map(|(_, els)| {
                    let els = match &**els {
                        // An `if` after the `else` of a `comptime if` is evaluated on the host as well.
                        Expr::If(inner) => cx.comptime_if(inner),
                        Expr::Block(b) => cx.block(&b.block),
                        other => cx.expr(other),
                    };
                    quote!(else #els)
                })
            },
        );
        let cond = &e.cond;
        quote_spanned!(e.if_token.span=> if #cond #then #els)
    }
}
