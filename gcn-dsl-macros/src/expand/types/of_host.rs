//! Method calls on host numbers with an argument that may be a device value: `N.min(x)`, `0.max(x)`.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall};

use crate::expand::types::typed::{is_bare_number, is_number};
use crate::expand::{Cx, lang};

impl Cx<'_> {
    /// Expands `N.min(x)`, `N.max(x)` and `N.mul_hi(x)`. `N` is a constant or a number, hence a host value; `x` may be
    /// a device value.
    pub(in crate::expand) fn method_of_constant(&mut self, e: &ExprMethodCall) -> Option<TokenStream> {
        if let Some(call) = self.beside_argument(e) {
            return Some(call);
        }
        let function = match e.method.to_string().as_str() {
            "min" => "least",
            "max" => "greatest",
            "mul_hi" => "",
            _ => return None,
        };
        let (Some(other), 1) = (e.args.first(), e.args.len()) else { return None };
        let number = |e: &Expr| is_bare_number(e) || is_number(e);
        if (number(&e.receiver) && !number(other)) || (function.is_empty() && self.is_constant(&e.receiver)) {
            // The result is the same with the operands swapped, and the number then takes the type of the other
            // operand.
            let mut swapped = e.clone();
            *swapped.receiver = syn::parse_quote!((#other));
            swapped.args = [(*e.receiver).clone()].into_iter().collect();
            return Some(self.expr(&Expr::MethodCall(swapped)));
        }
        if function.is_empty() || !self.is_constant(&e.receiver) {
            return None;
        }
        let (constant, other) = (self.expr(&e.receiver), self.expr(other));
        let call = lang(function, e.method.span());
        Some(quote_spanned!(e.method.span()=> #call(#constant, #other)))
    }

    /// `3u32.pow(n)`: a number of the host whose argument may be a value of the device becomes one, too, if it is.
    fn beside_argument(&mut self, e: &ExprMethodCall) -> Option<TokenStream> {
        let suffixed =
            matches!(&*e.receiver, Expr::Lit(_)) && is_number(&e.receiver) && !is_bare_number(&e.receiver);
        let [arg] = e.args.iter().collect::<Vec<_>>()[..] else { return None };
        if !(suffixed || self.is_constant(&e.receiver)) || is_bare_number(arg) || !self.may_be_of_device(arg)
        {
            return None;
        }
        let (span, method, number) = (e.method.span(), &e.method, &e.receiver);
        let (name, receiver, arg) = (self.fresh("argument", span), lang("Receiver", span), self.expr(arg));
        let args = quote_spanned!(e.paren_token.span.join()=> (#name));
        Some(quote_spanned!(e.span()=> ({
            let #name = #arg;
            (&#receiver(&#name)).beside(#number).#method #args
        })))
    }

    /// True for the name of a constant with a known type. The type of a constant that depends on a parameter is
    /// unknown.
    fn is_constant(&self, e: &Expr) -> bool {
        let Expr::Path(path) = e else { return false };
        let mut segments = path.path.segments.iter().rev();
        let Some(name) = segments.next().map(|s| &s.ident) else { return false };
        let upper = name.to_string().chars().all(|c| c.is_uppercase() || c.is_ascii_digit() || c == '_');
        let of_parameter = segments.next().is_some_and(|of| self.elements.is_parameter(&of.ident));
        upper && self.kind(name).is_none() && !of_parameter
    }
}
