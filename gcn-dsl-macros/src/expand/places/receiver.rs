//! `&mut self`: device methods that change the variable they are called on.
//!
//! Such a method becomes a Rust method with `&mut self` on the value. Inside the method, `self` is a device variable,
//! and its value is written back at the end. A call passes a copy of the receiver's value. If the method has changed
//! the copy, it is written back to the receiver (`gcn_dsl::__private::called_on`); for a method from another macro
//! call, only rustc knows whether that is so.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall};

use crate::expand::places::place::{Place, Step};
use crate::expand::{Cx, Kind};
use crate::syntax::name_of;

/// Methods of host arrays and iterators, which may return references to their receiver: it has to live as long as the statement, so
/// they are called on the value itself. A name says only that. If it is a user's method with `&mut self`, the call does not compile
/// ([`Cx::unchanged`]): `(&mut x).last()` says that it changes `x`.
const OF_HOST: [&str; 15] = [
    "iter",
    "into_iter",
    "map",
    "len",
    "first",
    "last",
    "get",
    "as_slice",
    "as_ref",
    "copied",
    "cloned",
    "clone",
    "zip",
    "enumerate",
    "elements",
];

/// True for a method that another macro call may have declared with `&mut self`.
pub(in crate::expand) fn may_change(method: &Ident) -> bool {
    let method = method.to_string();
    !OF_HOST.contains(&&*method)
}

/// The name that replaces `self` in the expansion of a method with `&mut self`.
pub(in crate::expand) fn name(at: Span) -> Ident {
    Ident::new(NAME, at)
}

pub(in crate::expand) const NAME: &str = "__gcn_self";

impl Cx<'_> {
    /// Expands a call of a method that changes or may change its receiver: `(&mut x).f()`, or `x.f()` on a variable.
    pub(in crate::expand) fn mutating_call(&mut self, e: &ExprMethodCall) -> Option<TokenStream> {
        let method = e.method.to_string();
        let (receiver, changes) = match strip(&e.receiver) {
            Expr::Reference(r) if r.mutability.is_some() => (strip(&r.expr), true),
            // The methods of this macro call are known; for others rustc has to decide.
            receiver => (receiver, self.known.mutating.contains(&method)),
        };
        if !changes && !may_change(&e.method) {
            return None;
        }
        match self.part_of(receiver) {
            Some(Place::Part(root, _)) if self.is_captured(root) => {
                if changes {
                    let what = "`&mut` of a variable from outside";
                    self.not_in_closure(root, what, "call the method outside");
                }
                None
            }
            Some(Place::Part(..)) if changes => Some(self.changing(receiver, e)),
            Some(Place::Part(root, steps)) => {
                // A computed index selects the part at run time, so there is no single part to write back to.
                let fields = steps.iter().all(|step| matches!(step, Step::Field(_)));
                fields.then(|| self.called_on(root, steps, e))
            }
            _ if changes => {
                let what = format!(
                    "`{method}` changes the value that it is called on (`&mut self`), so that has to be a variable or a part of one: \
                     declare it with `let mut`"
                );
                self.errors.at(&e.receiver, what);
                Some(TokenStream::new())
            }
            _ => None,
        }
    }

    /// Expands a call of a method that may be declared elsewhere, on a variable or on a field of one.
    fn called_on(&mut self, root: &Ident, steps: Vec<Step<'_>>, e: &ExprMethodCall) -> TokenStream {
        let span = e.method.span();
        let [value, result] = ["receiver", "result"].map(|what| self.fresh(what, span));
        let (flow, whole) = (self.flow(span), self.helper("whole", span));
        let on = match steps.is_empty() {
            true => quote_spanned!(e.receiver.span()=> #root.called_on()),
            false => {
                let steps: Vec<TokenStream> =
                    steps.into_iter().map(|s| self.step(s, &mut Vec::new())).collect();
                quote_spanned!(e.receiver.span()=> #root.part_called_on(|#whole| &mut #whole #(#steps)*))
            }
        };
        let (method, turbofish) = (&e.method, &e.turbofish);
        let [numbers, args] = match self.takes_literals(e) {
            true => self.beside_receiver(&quote_spanned!(span=> #value), e),
            false => [TokenStream::new(), self.given(e)],
        };
        // In parentheses, because otherwise no operator could follow at the start of a statement.
        quote_spanned!(e.span()=> ({
            // Method lookup finds `HoldNumber` for `&CalledOn` first, and `HoldOther` for `CalledOn` otherwise.
            let mut #value = (&&#on).hold(&#flow);
            #numbers
            let #result = #value.it().#method #turbofish #args;
            #value.end();
            #result
        }))
    }

    /// Expands a call of a method that certainly changes its receiver. The new value is assigned to the receiver after
    /// the call.
    fn changing(&mut self, receiver: &Expr, e: &ExprMethodCall) -> TokenStream {
        let span = e.method.span();
        let [value, result] = ["receiver", "result"].map(|what| self.fresh(what, span));
        // The receiver is read before the arguments are evaluated, and written after the call.
        let before = self.expr(receiver);
        let (method, turbofish, args) = (&e.method, &e.turbofish, self.given(e));
        // As in Rust, a method call dereferences `&mut`.
        let lent = name_of(receiver).filter(|name| self.kind(name) == Some(Kind::Lent));
        let place: Expr = match lent {
            Some(name) => syn::parse_quote_spanned!(name.span()=> *#name),
            None => receiver.clone(),
        };
        let after = self.assign_value(&place, quote_spanned!(span=> #value), span);
        quote_spanned!(e.span()=> ({
            let mut #value = #before;
            let #result = #value.#method #turbofish #args;
            #after;
            #result
        }))
    }

    /// The arguments in parentheses, with the span of the call, so that the source location of instructions is the
    /// user's line.
    fn given(&mut self, e: &ExprMethodCall) -> TokenStream {
        let args = self.arguments(&self.as_taken(&e.method, &e.args));
        quote_spanned!(e.paren_token.span.join()=> (#(#args),*))
    }

    /// Expands the receiver of an unknown method. An element of memory, a variable that a closure captures, and the receiver of a method
    /// that may return references are passed as a copy, and rustc checks that the method does not change it.
    pub(in crate::expand) fn unchanged(&mut self, e: &ExprMethodCall) -> TokenStream {
        let receiver = self.receiver(e);
        // What takes its receiver by value cannot change it.
        let by_value = e.method == "into_iter";
        let known = by_value || self.known.of_data.contains_key(&e.method.to_string());
        let copied =
            is_element(&e.receiver) || matches!(self.part_of(strip(&e.receiver)), Some(Place::Part(..)));
        match copied && !known {
            // A change of the copy would be lost. Because the reference is shared, rustc rejects a method that changes
            // its receiver.
            true => quote_spanned!(e.receiver.span()=> (&#receiver)),
            false => receiver,
        }
    }
}

/// True for an element of memory and for a part of one.
fn is_element(e: &Expr) -> bool {
    match e {
        Expr::Index(i) => !matches!(*i.index, Expr::Range(_)),
        Expr::Field(e) => is_element(&e.base),
        Expr::Paren(e) => is_element(&e.expr),
        _ => false,
    }
}

fn strip(e: &Expr) -> &Expr {
    match e {
        Expr::Paren(p) => strip(&p.expr),
        Expr::Group(g) => strip(&g.expr),
        other => other,
    }
}
