//! Mutable borrows in calls: device variables, or parts of them, that the called function may write.

use std::borrow::Cow;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Token, parse_quote_spanned};

use crate::expand::places::place::{Place, Step};
use crate::expand::types::typed;
use crate::expand::{Cx, Kind, lang};
use crate::syntax::name_of;

pub(in crate::expand) const ARGUMENT: &str = "for_argument";

impl Cx<'_> {
    /// Expands the arguments of a call.
    pub fn arguments(&mut self, args: &Punctuated<Expr, Token![,]>) -> Vec<TokenStream> {
        self.lent_once(args);
        args.iter().map(|a| self.argument(a)).collect()
    }

    /// The arguments, adapted to the parameters of `function`: `None` becomes a device `None` where the parameter is a
    /// device `Option`, and numbers are converted where the parameter's element type is a type parameter.
    pub fn as_taken<'e>(
        &self,
        function: &Ident,
        args: &'e Punctuated<Expr, Token![,]>,
    ) -> Cow<'e, Punctuated<Expr, Token![,]>> {
        let function = function.to_string();
        let (options, numbers) = (self.known.options.get(&function), self.known.generics.get(&function));
        if options.is_none() && numbers.is_none() {
            return Cow::Borrowed(args);
        }
        let mut args = args.clone();
        for (arg, _) in args.iter_mut().zip(options.into_iter().flatten()).filter(|(_, takes)| **takes) {
            if self.is_prelude(arg, "None") {
                *arg = parse_quote_spanned!(arg.span()=> ::gcn_dsl::__private::none());
            }
        }
        for (arg, _) in args.iter_mut().zip(numbers.into_iter().flatten()).filter(|(_, takes)| **takes) {
            *arg = typed::number(arg, &self.elements).into_owned();
        }
        Cow::Owned(args)
    }

    /// As [`Cx::as_taken`], for a call by a path, `O::combine(a, 2.0)`. The function of a trait does not convert its arguments,
    /// because its implementations repeat the types of its parameters, so the call does.
    pub fn as_declared<'e>(
        &self,
        function: &Ident,
        args: &'e Punctuated<Expr, Token![,]>,
    ) -> Cow<'e, Punctuated<Expr, Token![,]>> {
        let mut args = self.as_taken(function, args);
        if let Some(converted) = self.known.of_traits.get(&function.to_string())
            && converted.len() == args.len()
        {
            for (arg, _) in args.to_mut().iter_mut().zip(converted).filter(|(_, converts)| **converts) {
                *arg = parse_quote_spanned!(arg.span()=> ::gcn_dsl::__private::convert(#arg));
            }
        }
        args
    }

    /// Expands an argument: a value, the `AllLanes` token, or a device variable that the called function may write.
    pub(in crate::expand) fn argument(&mut self, e: &Expr) -> TokenStream {
        match e {
            Expr::Call(call) if call.args.is_empty() => self.call(call, ARGUMENT),
            Expr::Path(_) if self.is_prelude(e, "None") => {
                quote_spanned!(e.span()=> ::core::option::Option::None)
            }
            // The parameter may be a host `Option`. If it is a device `Option`, the argument is converted implicitly.
            Expr::Call(call) if self.is_prelude(&call.func, "Some") && call.args.len() == 1 => {
                let value = self.argument(&call.args[0]);
                quote_spanned!(e.span()=> ::core::option::Option::Some(#value))
            }
            Expr::Path(p) => match p.path.get_ident().map(|name| (name, self.kind(name))) {
                Some((name, Some(Kind::Token))) => {
                    self.not_in_closure(name, "`AllLanes`", "call the function outside");
                    let call = lang("all_lanes", name.span());
                    self.given_back(&quote_spanned!(name.span()=> #call()), ARGUMENT, [name.span(); 2])
                }
                Some((name, Some(Kind::Lent))) => self.lend(name, name.span()),
                _ => self.expr(e),
            },
            // Memory needs no `&mut`, because every handle of memory may write.
            Expr::Reference(r) if r.mutability.is_some() && self.is_memory(&r.expr) => {
                let memory = self.expr(&r.expr);
                quote_spanned!(e.span()=> &#memory)
            }
            Expr::Reference(r) if r.mutability.is_some() => match self.lendable(&r.expr).cloned() {
                Some(name) => self.lend(&name, r.and_token.span()),
                None => match self.part_of(&r.expr) {
                    Some(Place::Part(root, steps)) if !steps.is_empty() => {
                        self.lend_part(root, steps, r.and_token.span())
                    }
                    _ => {
                        if let Expr::Field(_) | Expr::Index(_) = &*r.expr {
                            let what = "only a device variable, its fields and the elements of an array of device values are lent; \
                                        declare it with `let mut`, and of memory return the new value and assign it";
                            self.errors.at(&r.expr, what);
                            return TokenStream::new();
                        }
                        self.expr(e)
                    }
                },
            },
            _ => self.expr(e),
        }
    }

    /// True for a name that denotes memory.
    fn is_memory(&self, e: &Expr) -> bool {
        name_of(e).is_some_and(|name| self.memory.contains(&name.to_string()))
    }

    /// The device variable that `&mut e` would borrow; `None` if `e` is not one.
    pub fn lendable<'e>(&self, e: &'e Expr) -> Option<&'e Ident> {
        let e = match e {
            // `&mut *out` reborrows `out`, a `&mut` parameter.
            Expr::Unary(u) if matches!(u.op, syn::UnOp::Deref(_)) => {
                return name_of(&u.expr).filter(|name| self.kind(name) == Some(Kind::Lent));
            }
            e => e,
        };
        name_of(e).filter(|name| self.kind(name) == Some(Kind::Variable) || self.has_value(name))
    }

    fn lend(&mut self, name: &Ident, at: Span) -> TokenStream {
        if self.is_captured(name) {
            self.not_in_closure(name, "`&mut` of a variable from outside", "call the function outside");
        }
        let flow = self.flow(at);
        quote_spanned!(name.span()=> #name.lend(&#flow))
    }

    fn lend_part(&mut self, root: &Ident, steps: Vec<Step<'_>>, at: Span) -> TokenStream {
        if self.is_captured(root) {
            self.not_in_closure(root, "`&mut` of a variable from outside", "call the function outside");
        }
        let (flow, whole) = (self.flow(at), self.helper("whole", at));
        let mut indices = Vec::new();
        let steps: Vec<TokenStream> = steps.into_iter().map(|s| self.step(s, &mut indices)).collect();
        let lent = quote_spanned!(root.span()=> #root.lend_part(&#flow, |#whole| &mut #whole #(#steps)*));
        // Not inside the closure, which runs on a stand-in for the value to find out which variables the part consists of.
        if indices.is_empty() { lent } else { quote_spanned!(at=> { #(#indices)* #lent }) }
    }

    /// Reports an error if two arguments borrow the same part of a variable. If they borrow the whole variable, rustc
    /// reports it.
    fn lent_once(&mut self, args: &Punctuated<Expr, Token![,]>) {
        let mut lent: Vec<(String, Vec<String>)> = Vec::new();
        for arg in args {
            let Expr::Reference(r) = arg else { continue };
            if r.mutability.is_none() || self.lendable(&r.expr).is_some() {
                continue;
            }
            let Some((root, steps)) = self.way(&r.expr) else { continue };
            // If one way is a prefix of the other, its part contains the other's.
            let meets = |other: &[String]| other.iter().zip(&steps).all(|(a, b)| a == b);
            if lent.iter().any(|(name, other)| *name == root && meets(other)) {
                let what = "this is lent already by an argument before, in whole or in part; lend different fields, or return one of \
                            the values";
                self.errors.at(&r.expr, what);
            }
            lent.push((root, steps));
        }
    }

    /// The variable that a part belongs to, and the field and index steps to the part as text. As in Rust, all indices
    /// count as equal.
    fn way(&self, e: &Expr) -> Option<(String, Vec<String>)> {
        match e {
            Expr::Paren(p) => self.way(&p.expr),
            Expr::Field(f) => {
                let (root, mut steps) = self.way(&f.base)?;
                steps.push(f.member.to_token_stream().to_string());
                Some((root, steps))
            }
            Expr::Index(i) => {
                let (root, mut steps) = self.way(&i.expr)?;
                steps.push("[]".to_owned());
                Some((root, steps))
            }
            Expr::Unary(u) if matches!(u.op, syn::UnOp::Deref(_)) => self.way(&u.expr),
            e => name_of(e).map(|name| (name.to_string(), Vec::new())),
        }
    }
}
