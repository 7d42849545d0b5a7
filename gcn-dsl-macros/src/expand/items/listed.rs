//! `#[device] #[repr(u32)] enum`: an enum without fields that is stored in memory. On the host it is the enum as
//! written. A kernel computes with the discriminant, which is an element type of its own.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Fields, ItemEnum, Path, Token};

use crate::errors::Errors;
use crate::expand::items::aggregate::{derived, is_derive};
use crate::expand::items::declaration::KEPT;
use crate::expand::types::habits::is_integer;
use crate::parse::is_device;

pub(in crate::expand) fn enumeration(item: &ItemEnum, repr: &Attribute, errors: &mut Errors) -> TokenStream {
    let mut found = Errors::default();
    let number = number(repr, &mut found);
    for attr in item.attrs.iter().filter(|a| !KEPT.iter().any(|name| a.path().is_ident(name))) {
        if !attr.path().is_ident("repr") {
            found.at(attr, "this attribute has no meaning on a device enum");
        }
    }
    if let Some(param) = item.generics.params.first() {
        found.at(param, "a device enum in memory is a number, without parameters; remove this");
    }
    for variant in &item.variants {
        if !matches!(variant.fields, Fields::Unit) {
            let what = "a device enum in memory is a number: its variants have no fields; keep these in a struct beside it, or remove `#[repr]`";
            found.at(&variant.fields, what);
        }
    }
    if item.variants.is_empty() {
        found.at(&item.ident, "a device enum has variants: a value is one of them");
    }
    let spoilt = found.spoilt();
    errors.append(found);
    match number {
        Some(number) if !spoilt => expand(item, &number),
        _ => TokenStream::new(),
    }
}

fn number(repr: &Attribute, errors: &mut Errors) -> Option<Ident> {
    let number = repr.parse_args::<Ident>().ok().filter(|n| is_integer(&n.to_string()));
    if number.is_none() {
        errors.at(
            repr,
            "a device enum in memory says which number it is, one of u8..u64 and i8..i64: `#[repr(u32)]`",
        );
    }
    number
}

fn expand(item: &ItemEnum, number: &Ident) -> TokenStream {
    let (vis, name, variants) = (&item.vis, &item.ident, &item.variants);
    let attrs = item.attrs.iter().filter(|a| !is_device(a) && !is_derive(a));
    let derived = derived(&item.attrs, &["Clone", "Copy", "Debug", "PartialEq"]);
    let shared: TokenStream =
        item.attrs.iter().filter(|a| a.path().is_ident("cfg")).map(ToTokens::to_token_stream).collect();
    let names = variants.iter().map(|v| v.ident.clone()).collect();
    let numbered = Numbered { of: name.clone().into(), number: number.clone(), names }.expand();
    quote! {
        #(#attrs)*
        #[derive(Clone, Copy, Debug, PartialEq, #(#derived),*)]
        #vis enum #name { #variants }
        #shared
        #numbered
    }
}

/// An enum and the type of its discriminants: `std::cmp::Ordering: i8 { Less, Equal, Greater }`.
pub(crate) struct Numbered {
    of: Path,
    number: Ident,
    names: Vec<Ident>,
}

impl Parse for Numbered {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let of = input.call(Path::parse_mod_style)?;
        input.parse::<Token![:]>()?;
        let (number, inner) = (input.parse()?, input);
        let names;
        syn::braced!(names in inner);
        let names = Punctuated::<Ident, Token![,]>::parse_terminated(&names)?.into_iter().collect();
        Ok(Numbered { of, number, names })
    }
}

impl Numbered {
    /// The implementations that let a kernel compute with the enum.
    pub(crate) fn expand(&self) -> TokenStream {
        let Numbered { of: name, number, names } = self;
        let (first, joins) = (names.first(), joins(name));
        quote! {
        const _: () = {
            impl ::gcn_dsl::scalar::Scalar for #name {
                const ELEM: ::gcn_dsl::scalar::Elem = <#number as ::gcn_dsl::scalar::Scalar>::ELEM;
                fn to_bits(self) -> u64 {
                    ::gcn_dsl::scalar::Scalar::to_bits(self as #number)
                }
                fn write_bytes(self, out: &mut ::std::vec::Vec<u8>) {
                    ::gcn_dsl::scalar::Scalar::write_bytes(self as #number, out);
                }
                // Called only for discriminants that `unknown` has accepted.
                fn read_bytes(bytes: &[u8]) -> Self {
                    let number = <#number as ::gcn_dsl::scalar::Scalar>::read_bytes(bytes);
                    let known = [#(#name::#names),*].into_iter().find(|known| *known as #number == number);
                    known.unwrap_or(#name::#first)
                }
                fn unknown(bytes: &[u8]) -> ::core::option::Option<::gcn_dsl::scalar::UnknownVariant> {
                    let number = <#number as ::gcn_dsl::scalar::Scalar>::read_bytes(bytes);
                    match [#(#name::#names),*].into_iter().any(|known| known as #number == number) {
                        true => ::core::option::Option::None,
                        false => ::core::option::Option::Some(::gcn_dsl::scalar::UnknownVariant {
                            of: ::core::stringify!(#name),
                            number: ::core::convert::From::from(number),
                        }),
                    }
                }
            }
            impl ::gcn_dsl::scalar::CastTarget for #name {}
            impl ::gcn_dsl::scalar::Number for #name {}
            impl ::gcn_dsl::__private::Listed for #name {
                type Itself = Self;
                fn all() -> ::std::vec::Vec<Self> {
                    ::std::vec![#(#name::#names),*]
                }
            }
            impl ::gcn_dsl::__private::Variants for #name {
                type Host = Self;
                type Condition = bool;
                fn each(&self) -> ::std::vec::Vec<Self> {
                    ::std::vec![*self]
                }
                fn one_of(&self, chosen: &[bool]) -> bool {
                    chosen[0]
                }
            }
            impl ::gcn_dsl::__private::Placed for #name {
                type Place = ::gcn_dsl::__private::Uniform;
                type Pattern = Self;
            }
            impl ::gcn_dsl::__private::AsIs for #name {}
            impl ::gcn_dsl::__private::Declare for #name {
                type Value = ::gcn_dsl::S<#name>;
                fn declare(self) -> Self::Value {
                    ::gcn_dsl::__private::annotate(self)
                }
            }
            impl ::gcn_dsl::__private::Vary for #name {
                type Varying = ::gcn_dsl::V<#name>;
                fn vary(self) -> Self::Varying {
                    ::gcn_dsl::__private::annotate(self)
                }
            }
            impl<T> ::gcn_dsl::__private::CastTo<T> for #name
            where
                #number: ::gcn_dsl::__private::CastTo<T>,
            {
                type Output = <#number as ::gcn_dsl::__private::CastTo<T>>::Output;
                fn cast_to(self) -> Self::Output {
                    ::gcn_dsl::__private::CastTo::cast_to(self as #number)
                }
            }
            impl ::gcn_dsl::__private::Compare<#name> for #name {
                type Output = bool;
                fn compare(self, pred: ::gcn_dsl::ir::Pred, rhs: #name) -> bool {
                    ::gcn_dsl::__private::Compare::compare(self as #number, pred, rhs as #number)
                }
            }
            #joins
        };
        }
    }
}

/// Implementations for the host enum next to device values: in comparisons, and as the value of a branch.
fn joins(name: &Path) -> TokenStream {
    let at = Span::call_site();
    let [s, v] = [quote!(::gcn_dsl::S<#name>), quote!(::gcn_dsl::V<#name>)];
    let own = quote!(#name);
    let [uniform, varying] = [quote!(::gcn_dsl::__private::Uniform), quote!(::gcn_dsl::__private::Varying)];
    let rows = [
        (&uniform, &own, &s),
        (&uniform, &s, &s),
        (&uniform, &v, &v),
        (&varying, &own, &v),
        (&varying, &s, &v),
        (&varying, &v, &v),
    ];
    let merged = rows.into_iter().map(|(how, other, out)| {
        quote! {
            impl ::gcn_dsl::__private::Merge<#how, #other> for #name {
                type Output = #out;
                fn left(self) -> #out {
                    ::gcn_dsl::__private::annotate(self)
                }
                #[track_caller]
                fn right(other: #other) -> #out {
                    ::gcn_dsl::__private::annotate(other)
                }
            }
        }
    });
    let leaving = [(&uniform, &s), (&varying, &v)].into_iter().map(|(how, out)| {
        quote! {
            impl ::gcn_dsl::__private::Merge<#how, ::gcn_dsl::__private::Never> for #name {
                type Output = #out;
                const RIGHT_LEAVES: bool = true;
                fn left(self) -> #out {
                    ::gcn_dsl::__private::annotate(self)
                }
                fn right(_: ::gcn_dsl::__private::Never) -> #out {
                    ::core::unreachable!("the branch has no value")
                }
            }
            impl ::gcn_dsl::__private::Merge<#how, #name> for ::gcn_dsl::__private::Never {
                type Output = #out;
                const LEFT_LEAVES: bool = true;
                fn left(self) -> #out {
                    ::core::unreachable!("the branch has no value")
                }
                fn right(other: #name) -> #out {
                    ::gcn_dsl::__private::annotate(other)
                }
            }
        }
    });
    let compared = ["S", "V"].into_iter().map(|place| {
        let place = Ident::new(place, at);
        let other = quote!(::gcn_dsl::#place<#name>);
        quote! {
            impl ::gcn_dsl::__private::Compare<#other> for #name {
                type Output = ::gcn_dsl::#place<bool>;
                #[track_caller]
                fn compare(self, pred: ::gcn_dsl::ir::Pred, rhs: #other) -> Self::Output {
                    ::gcn_dsl::__private::Compare::compare(::gcn_dsl::__private::annotate::<#other, _>(self), pred, rhs)
                }
            }
        }
    });
    quote!(#(#merged)* #(#leaving)* #(#compared)*)
}
