//! The parameters and the result of a device function: which of their types denote device values, and which values are
//! converted implicitly.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, Ident, Pat, PatType, Receiver, ReturnType, Type};

use crate::errors::Errors;
use crate::expand::items::declaration::{FUNCTION, attributes};
use crate::expand::types::habits::NUMBERS;
use crate::parse::KernelFn;
use crate::ty::{self, Elements};

/// Where a device function is declared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Outside of an `impl`.
    Free,
    /// In an `impl` of a type.
    Method,
    /// In a trait or an `impl` of a trait, which determines the parameters' types.
    TraitMethod,
}

/// A parameter of a device function.
pub(crate) enum Param {
    /// `self`.
    Receiver(Receiver),
    /// `name: AllLanes`. In `AllLanes<T>`, `T` is the type that stands for the caller's targets.
    Token(Ident, Option<TokenStream>),
    /// `name: &mut V<f32>`: a variable of the caller.
    Lent { name: Ident, arg: Ident, ty: TokenStream },
    /// `name: &mut Private<f32, 8>`: memory. Every handle of memory may write.
    Memory { name: Ident, arg: Ident, ty: TokenStream },
    /// A value of type `ty`, to which the caller's argument is converted implicitly.
    Converted { pat: Pat, arg: Ident, ty: TokenStream },
    /// A uniform struct that is stored in memory, to which the argument is converted.
    Data { pat: Pat, arg: Ident, of: TokenStream },
    /// `name: &[V<f32>]`: the elements of an array of device values of any length.
    List { name: Ident, arg: Ident, ty: TokenStream },
    /// A host number of type `ty`.
    Host { pat: Pat, arg: Ident, ty: TokenStream },
    /// A value of type `ty`, without conversion.
    Plain { pat: Pat, arg: Ident, ty: TokenStream },
}

/// A signature translated to device types.
pub(crate) struct Signed {
    pub params: Vec<Param>,
    /// The result's type.
    pub output: Option<TokenStream>,
    /// The result's type, if the body's value is implicitly converted to it.
    pub converted: Option<TokenStream>,
    pub elements: Elements,
}

impl Signed {
    pub fn of(function: &KernelFn, shape: Shape, outer: &Elements, errors: &mut Errors) -> Signed {
        let sig = &function.sig;
        attributes(&function.attrs, FUNCTION, errors);
        qualifiers(function, errors);
        let elements = outer.with(&sig.generics).beside(&function.known.listed);
        let inputs = sig.inputs.iter().enumerate();
        let params: Vec<Param> =
            inputs.filter_map(|(i, input)| param(i, input, function, shape, &elements, errors)).collect();
        let tokens: Vec<&Ident> = params
            .iter()
            .filter_map(|p| match p {
                Param::Token(name, _) => Some(name),
                _ => None,
            })
            .collect();
        if let [_, second, ..] = tokens.as_slice() {
            errors.at(second, "one `AllLanes` says that all lanes run; remove this one");
        }
        let (mut output, mut kept) = (returned(&sig.output), None);
        if let Some(ty @ (Type::Reference(_) | Type::Ptr(_))) = output {
            errors.at(ty, "a device function returns device values, tuples, arrays and structs of them, no reference: give the value, without the `&`; as an \
                        `impl Index` has to give a reference, write a method in its place");
            // The type is dropped, so that the body causes no second error; but a trait's function has to have it.
            if shape == Shape::TraitMethod {
                kept = Some(ty.to_token_stream());
            }
            output = None;
        }
        let data = output.filter(|ty| shape != Shape::TraitMethod && function.known.is_data(ty));
        let device = match data {
            // Like a plain scalar type, a plain struct type denotes a uniform value.
            Some(ty) => Some(quote_spanned!(ty.span()=> <#ty as ::gcn_dsl::__private::ByValue>::Device)),
            None => output.map(|ty| elements.device(ty)),
        };
        // Only types to which values convert implicitly. For other types, rustc itself compares the value with the
        // written type.
        let converts = |ty: &Type| data.is_some() || elements.converts(ty);
        let converted = output.filter(|ty| converts(ty)).and(device.clone());
        Signed { params, output: kept.or(device), converted, elements }
    }
}

fn qualifiers(function: &KernelFn, errors: &mut Errors) {
    let sig = &function.sig;
    let found: [(Option<&dyn ToTokens>, &str); 4] = [
        (sig.asyncness.as_ref().map(|t| t as &dyn ToTokens), "`async`"),
        (sig.constness.as_ref().map(|t| t as &dyn ToTokens), "`const`"),
        (sig.unsafety.as_ref().map(|t| t as &dyn ToTokens), "`unsafe`"),
        (sig.abi.as_ref().map(|t| t as &dyn ToTokens), "`extern`"),
    ];
    for (tokens, what) in found {
        if let Some(tokens) = tokens {
            errors
                .at(tokens.to_token_stream(), format!("a device function cannot be {what}; remove the word"));
        }
    }
}

fn param(
    i: usize,
    input: &FnArg,
    function: &KernelFn,
    shape: Shape,
    elements: &Elements,
    errors: &mut Errors,
) -> Option<Param> {
    let typed = match (input, typed(input)) {
        (_, Some(typed)) => typed,
        (FnArg::Receiver(receiver), None) => {
            if shape == Shape::Free {
                errors.at(receiver, "`self` stands in methods: put the function into a `#[device] impl`");
            }
            // In `mut self`, `mut` concerns only the body and not the callers.
            let mut receiver = receiver.clone();
            receiver.mutability = receiver.mutability.filter(|_| receiver.reference.is_some());
            return Some(Param::Receiver(receiver));
        }
        (FnArg::Typed(_), None) => return None,
    };
    let host = typed.attrs.iter().any(|a| a.path().is_ident("host"));
    for attr in typed.attrs.iter().filter(|a| !a.path().is_ident("host")) {
        errors.at(attr, "a parameter takes the attribute `#[host]`: it keeps its type and lives on the host");
    }
    let name = match &*typed.pat {
        Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => p.ident.clone(),
        // The body destructures the pattern, so that its names become device variables.
        pat => format_ident!("__gcn_arg{}", i, span = pat.span()),
    };
    // A kernel is a unit struct, so a parameter with its name would be a pattern that matches the struct.
    let arg = match function.kernels.iter().any(|kernel| name == kernel) {
        true => format_ident!("__gcn_arg{}", i, span = name.span()),
        false => name.clone(),
    };
    let pat = (*typed.pat).clone();
    let plain = |ty: TokenStream| Param::Plain { pat: pat.clone(), arg: arg.clone(), ty };
    let converted = |ty: TokenStream| Param::Converted { pat: pat.clone(), arg: arg.clone(), ty };
    // Writable memory is also readable, so a parameter that only reads accepts both.
    let memory = |what: &str, elem: &Type, writable: bool| {
        let ty = memory(what, elem, writable, typed.ty.span());
        // The `impl` of a trait has to repeat the types of the trait exactly.
        if writable || shape == Shape::TraitMethod { plain(ty) } else { converted(ty) }
    };
    let mutable = matches!(&pat, Pat::Ident(p) if p.mutability.is_some());
    // Before all device types, because with the attribute the type is meant literally. A trait bound instead of the
    // type makes rustc's error about a wrong argument clearer, but the `impl` of a trait has to repeat the types
    // exactly.
    if shape != Shape::TraitMethod && is_host_number(&typed.ty, host) {
        return Some(Param::Host { pat, arg, ty: typed.ty.to_token_stream() });
    }
    if host {
        return Some(plain(typed.ty.to_token_stream()));
    }
    Some(match &*typed.ty {
        Type::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == "AllLanes") => {
            if mutable || shape == Shape::TraitMethod {
                errors.at(
                    &typed.pat,
                    "`AllLanes` is a plain parameter of a function or method: `all: AllLanes`",
                );
            }
            let targets = p.path.segments.last().and_then(|s| match &s.arguments {
                syn::PathArguments::AngleBracketed(a) => Some(a.args.to_token_stream()),
                _ => None,
            });
            Param::Token(name, targets)
        }
        Type::Reference(r) => match (&*r.elem, r.mutability.is_some()) {
            (Type::Slice(s), false) if ty::is_handle(ty::bare(&s.elem)) && shape != Shape::TraitMethod => {
                Param::List { name, arg: arg.clone(), ty: elements.device(&s.elem) }
            }
            (Type::Slice(s), mutable) => memory("Slice", &s.elem, mutable),
            (inner, true) if is_memory(inner) => {
                Param::Memory { name, arg: arg.clone(), ty: elements.device(inner) }
            }
            (inner, true) if !elements.is_host(inner) => {
                if mutable {
                    errors.at(
                        &typed.pat,
                        "the variable behind `&mut` is mutable, its name is not: remove `mut`",
                    );
                }
                Param::Lent { arg: arg.clone(), name, ty: elements.device(inner) }
            }
            (inner, _) if elements.is_host(inner) => plain(typed.ty.to_token_stream()),
            (inner, _) => {
                let (mutability, lifetime, inner) = (&r.mutability, &r.lifetime, elements.device(inner));
                plain(quote_spanned!(typed.ty.span()=> & #lifetime #mutability #inner))
            }
        },
        Type::Ptr(p) => memory("Ptr", &p.elem, p.mutability.is_some()),
        ty if elements.is_host(ty) => plain(ty.to_token_stream()),
        // Like a plain scalar type, a plain struct type denotes a uniform value.
        ty if function.known.is_data(ty) && shape != Shape::TraitMethod => {
            Param::Data { pat: pat.clone(), arg: arg.clone(), of: ty.to_token_stream() }
        }
        ty if elements.converts(ty) && shape != Shape::TraitMethod => converted(elements.device(ty)),
        ty => plain(elements.device(ty)),
    })
}

/// True for `usize` and `isize` and, for a `#[host]` parameter, for every other number type.
fn is_host_number(ty: &Type, host: bool) -> bool {
    let Type::Path(path) = ty::bare(ty) else { return false };
    let Some(name) = path.path.get_ident().map(ToString::to_string) else { return false };
    ["usize", "isize"].contains(&&*name) || host && (name == "bool" || NUMBERS.contains(&&*name))
}

/// True for the memory types `Private` (of a lane) and `Lds` (of a workgroup).
fn is_memory(ty: &Type) -> bool {
    matches!(ty, Type::Path(p) if p.path.segments.last().is_some_and(|s| ["Private", "Lds", "LdsSlice"].iter().any(|m| s.ident == m)))
}

/// The handle type of memory. `what` is the kind of memory, `elem` the element type.
pub(in crate::expand) fn memory(
    what: &str,
    elem: &Type,
    mutable: bool,
    span: proc_macro2::Span,
) -> TokenStream {
    let (what, access) = (Ident::new(what, span), if mutable { "Writable" } else { "ReadOnly" });
    let access = Ident::new(access, span);
    let elem = quote!(#elem);
    quote_spanned!(span=> ::gcn_dsl::__private::#what<#elem, ::gcn_dsl::__private::#access>)
}

impl ty::Elements {
    /// True for types to which arguments are converted implicitly: scalars, `S` and `V`, and tuples and arrays of them.
    pub fn converts(&self, ty: &Type) -> bool {
        match ty {
            Type::Path(_) if ty::optional(ty).is_some() => {
                ty::optional(ty).is_some_and(|of| self.converts(of))
            }
            // A `Result` is converted only if no type parameter has to be inferred.
            Type::Path(_) if ty::resulting(ty).is_some() => !self.mentions_device_param(ty),
            Type::Path(_) => self.is_element(ty) || ty::is_handle(ty) && !self.mentions_device_param(ty),
            Type::Tuple(t) => !t.elems.is_empty() && t.elems.iter().all(|e| self.converts(e)),
            Type::Array(a) => self.converts(&a.elem),
            Type::Paren(p) => self.converts(&p.elem),
            Type::Group(g) => self.converts(&g.elem),
            _ => false,
        }
    }
}

/// The parameter, if it is not `self`.
fn typed(input: &FnArg) -> Option<&PatType> {
    match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    }
}

/// The result's type as written; `None` if there is none.
pub(in crate::expand) fn returned(output: &ReturnType) -> Option<&syn::Type> {
    match output {
        ReturnType::Type(_, ty) => Some(ty),
        ReturnType::Default => None,
    }
}
