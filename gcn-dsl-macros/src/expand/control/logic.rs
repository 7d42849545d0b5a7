//! `&&` and `||`: the right side is evaluated only in the lanes for which the left side does not decide.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{BinOp, Expr, ExprBinary, UnOp};

use crate::expand::{Cx, lang};

impl Cx<'_> {
    /// The expansion of `a && b` or `a || b`. `name` is the name of the operator.
    pub(in crate::expand) fn condition_of_two(
        &mut self,
        name: &str,
        e: &ExprBinary,
        span: Span,
    ) -> TokenStream {
        let left = self.expr(&e.left);
        match self.is_for_all(&e.right) {
            true => {
                let (right, call) = (self.expr(&e.right), lang(name, span));
                quote_spanned!(span=> #call(#left, #right))
            }
            false => self.lazily(name, &left, span, |cx| cx.expr(&e.right)),
        }
    }

    /// A logical operation whose right side is evaluated only in the lanes for which `left` does not decide.
    pub(in crate::expand) fn lazily(
        &mut self,
        name: &str,
        left: &TokenStream,
        span: Span,
        right: impl FnOnce(&mut Self) -> TokenStream,
    ) -> TokenStream {
        let (flow, begin) = (self.flow(span), lang(&format!("{name}_begin"), span));
        let (guard, value) = (self.helper("left", span), self.helper("right", span));
        // The right side may not be executed, so its assignments do not count as made afterwards.
        let (right, ()) = self.ways(right, |_| ());
        quote_spanned!(span=> {
            let #guard = #begin(#left, &#flow);
            let #value = match #guard.right() {
                ::core::option::Option::Some(#flow) => ::core::option::Option::Some(#right),
                ::core::option::Option::None => ::core::option::Option::None,
            };
            #guard.end(#value)
        })
    }

    /// True if syntax shows that all lanes may evaluate the expression, because it contains no memory read, division or
    /// function call. For other expressions, the compiler decides from their instructions.
    pub(in crate::expand) fn is_for_all(&self, e: &Expr) -> bool {
        match e {
            Expr::Path(_) | Expr::Lit(_) => true,
            Expr::Paren(e) => self.is_for_all(&e.expr),
            Expr::Group(e) => self.is_for_all(&e.expr),
            Expr::Field(e) => self.is_for_all(&e.base),
            Expr::Cast(e) => self.is_for_all(&e.expr),
            Expr::Unary(e) => !matches!(e.op, UnOp::Deref(_)) && self.is_for_all(&e.expr),
            Expr::Binary(e) => {
                // A difference of host numbers could underflow if the left side did not protect it, as in `k > 0 && a[k
                // - 1] …`.
                let works = matches!(e.op, BinOp::Div(_) | BinOp::Rem(_) | BinOp::Sub(_))
                    || crate::operator::is_compound(&e.op);
                !works && self.is_for_all(&e.left) && self.is_for_all(&e.right)
            }
            _ => false,
        }
    }
}
