//! `#[device] struct`: the implementations that make a struct of device values a device value.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Fields, ItemStruct, Member, Path, Token};

use crate::errors::Errors;
use crate::expand::items::declaration::attributes;
use crate::parse::is_device;
use crate::ty;

pub(in crate::expand) fn is_derive(attr: &Attribute) -> bool {
    attr.path().is_ident("derive")
}

/// The derives that the user wrote, except those that the expansion implements itself.
pub(in crate::expand) fn derived(attrs: &[Attribute], own: &[&str]) -> Vec<Path> {
    let lists = attrs.iter().filter(|a| is_derive(a));
    let paths = lists.filter_map(|a| a.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated).ok());
    paths.flatten().filter(|path| !own.iter().any(|name| path.is_ident(name))).collect()
}

/// Rejects derives that device structs and enums do not support.
pub(in crate::expand) fn derives(attrs: &[Attribute], own: &[&str], what: &str, errors: &mut Errors) {
    for attr in attrs.iter().filter(|a| is_derive(a)) {
        let given = attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated);
        let is_own = |path: &Path| own.iter().any(|name| path.is_ident(name));
        if !given.is_ok_and(|given| given.iter().all(is_own)) {
            errors.at(attr, what);
        }
    }
}

/// The struct with its field types translated to device types, and its implementations.
pub(crate) fn structure(item: &ItemStruct, errors: &mut Errors) -> TokenStream {
    let mut found = Errors::default();
    attributes(&item.attrs, "device struct", &mut found);
    for field in &item.fields {
        if matches!(ty::bare(&field.ty), syn::Type::Reference(_)) && memory(&field.ty).is_none() {
            found.at(
                &field.ty,
                "a device struct holds values and slices, no references to values; remove the `&`",
            );
        }
    }
    let what = "a device struct is `Clone`, `Copy` and `Debug` by itself, and derives `Default`, `PartialEq` and nothing else";
    derives(&item.attrs, &["Clone", "Copy", "Debug", "Default", "PartialEq"], what, &mut found);
    let spoilt = found.spoilt();
    errors.append(found);
    if spoilt {
        return TokenStream::new();
    }
    let elements = ty::elements(&item.generics);
    let mut device = item.clone();
    device.attrs.retain(|a| !is_device(a) && !is_derive(a));
    for field in &mut device.fields {
        field.ty = syn::Type::Verbatim(memory(&field.ty).unwrap_or_else(|| elements.device(&field.ty)));
    }
    let implementations = implementations(&device, Of::Values);
    let placed = placed(&device);
    let derives = |name: &str| derived(&item.attrs, &[]).iter().any(|path| path.is_ident(name));
    let default = derives("Default").then(|| quote!(, Default));
    let compared = derives("PartialEq").then(|| compared(&device));
    quote! {
        #[derive(Debug #default)]
        #device
        #implementations
        #placed
        #compared
    }
}

/// The handle type for a field `&[T]` or `&mut [T]`.
fn memory(ty: &syn::Type) -> Option<TokenStream> {
    match ty::bare(ty) {
        syn::Type::Reference(r) => match ty::bare(&r.elem) {
            syn::Type::Slice(s) => Some(crate::expand::items::signature::memory(
                "Slice",
                &s.elem,
                r.mutability.is_some(),
                ty.span(),
            )),
            _ => None,
        },
        _ => None,
    }
}

/// `==` and `!=` of two values of the struct, field by field.
fn compared(item: &ItemStruct) -> TokenStream {
    let name = &item.ident;
    let (params, args, clause) = item.generics.split_for_impl();
    let predicates = clause.iter().flat_map(|c| &c.predicates);
    // `(a, (b, c))`: nested pairs compare any number of fields.
    let nested = |parts: Vec<TokenStream>| {
        parts.into_iter().rev().reduce(|rest, part| quote!((#part, #rest))).unwrap_or_else(|| quote!(()))
    };
    let types = nested(item.fields.iter().map(|f| f.ty.to_token_stream()).collect());
    let values = |of: &TokenStream| nested(item.fields.members().map(|member| quote!(#of.#member)).collect());
    let (left, right) = (values(&quote!(self)), values(&quote!(other)));
    quote! {
        impl #params ::gcn_dsl::__private::Compare<Self> for #name #args
        where
            #(#predicates,)*
            #types: ::gcn_dsl::__private::Compare<#types>,
        {
            type Output = <#types as ::gcn_dsl::__private::Compare<#types>>::Output;
            #[track_caller]
            fn compare(self, pred: ::gcn_dsl::ir::Pred, other: Self) -> Self::Output {
                ::gcn_dsl::__private::Compare::compare(#left, pred, #right)
            }
        }
    }
}

/// The implementations that are needed for a struct in a pattern, and in an enum of the same macro call.
pub(in crate::expand) fn placed(item: &ItemStruct) -> TokenStream {
    let name = &item.ident;
    let (params, args, clause) = item.generics.split_for_impl();
    let bounds =
        clause.map(|c| c.predicates.to_token_stream()).filter(|b| !b.is_empty()).map(|b| quote!(#b,));
    let types = item.fields.iter().map(|f| &f.ty);
    let places =
        types.clone().map(|ty| quote_spanned!(ty.span()=> <#ty as ::gcn_dsl::__private::Placed>::Place));
    let place = places.reduce(|all, next| quote!(<#all as ::gcn_dsl::__private::Kind>::Or<#next>));
    let place = place.unwrap_or_else(|| quote!(::gcn_dsl::__private::Varying));
    quote! {
        impl #params ::gcn_dsl::__private::Placed for #name #args where #bounds #(#types: ::gcn_dsl::__private::Placed,)* {
            type Place = #place;
            type Pattern = Self;
        }
    }
}

/// The kinds of fields of a struct.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::expand) enum Of {
    /// Device values. Such a struct converts only to itself.
    Values,
    /// Values of the struct's type parameters. Such a struct converts field by field.
    Parameters,
}

pub(in crate::expand) fn implementations(item: &ItemStruct, of: Of) -> TokenStream {
    let name = &item.ident;
    let (params, args, clause) = item.generics.split_for_impl();
    let types: Vec<_> = item.fields.iter().map(|f| &f.ty).collect();
    // Without the parameters' defaults, which only the declaration may have.
    let bare: Vec<TokenStream> = item.generics.params.iter().map(without_default).collect();
    let bounds = clause.map(|c| {
        let predicates = &c.predicates;
        quote!(#predicates)
    });
    let bounds = bounds.filter(|b| !b.is_empty()).map(|b| quote!(#b,));
    let parts = quote!(#(#types: ::gcn_dsl::__private::Flatten,)*);
    let members: Vec<Member> = item.fields.members().collect();
    let text = name.to_string();
    let names: Vec<String> = members.iter().map(field_name).collect();
    let build = |values: Vec<TokenStream>| match &item.fields {
        Fields::Unnamed(_) => quote!(#name(#(#values),*)),
        _ => quote!(#name { #(#members: #values),* }),
    };
    let unflattened = build(
        types
            .iter()
            .map(|t| quote_spanned!(t.span()=> <#t as ::gcn_dsl::__private::Flatten>::unflatten(values)))
            .collect(),
    );
    let blank =
        build(types.iter().map(|t| quote!(<#t as ::gcn_dsl::__private::Blank<Any>>::blank())).collect());
    let merged = merged(item, of);
    let own = (of == Of::Values).then(|| {
        quote! {
            impl #params ::core::clone::Clone for #name #args where #bounds #parts {
                fn clone(&self) -> Self {
                    *self
                }
            }
            impl #params ::core::marker::Copy for #name #args where #bounds #parts {}
            impl #params ::gcn_dsl::__private::AsIs for #name #args #clause {}
            impl #params ::gcn_dsl::__private::Choice for #name #args where #bounds #parts {
                type Varying = Self;
                type Uniform = Self;
                #[track_caller]
                fn at_varying(list: &[Self], i: ::gcn_dsl::V<u32>) -> Self {
                    ::gcn_dsl::__private::element_of(list, i)
                }
                #[track_caller]
                fn at_uniform(list: &[Self], i: ::gcn_dsl::S<u32>) -> Self {
                    ::gcn_dsl::__private::element_of(list, i)
                }
            }
            impl #params ::gcn_dsl::__private::Declare for #name #args where #bounds #parts {
                type Value = Self;
                fn declare(self) -> Self {
                    self
                }
            }
        }
    });
    quote! {
        #own
        #merged
        impl #params ::gcn_dsl::__private::Flatten for #name #args where #bounds #parts {
            fn flatten(&self, values: &mut ::std::vec::Vec<::gcn_dsl::ir::Value>) {
                #(::gcn_dsl::__private::Flatten::flatten(&self.#members, values);)*
            }
            fn unflatten(values: &mut dyn ::core::iter::Iterator<Item = ::gcn_dsl::ir::Value>) -> Self {
                #unflattened
            }
            fn shape() -> ::core::option::Option<::gcn_dsl::ir::named::Shape> {
                // Written as one expression, because the name of a variable here could be that of one of the user's
                // kernels.
                ::core::option::Option::Some(::gcn_dsl::ir::named::Shape::Struct(
                    #text,
                    ::std::vec![#((#names, <#types as ::gcn_dsl::__private::Flatten>::shape()?)),*],
                ))
            }
        }
        impl<#(#bare,)* Any> ::gcn_dsl::__private::Blank<Any> for #name #args
        where
            #bounds
            #parts
            #(#types: ::gcn_dsl::__private::Blank<Any>,)*
        {
            fn blank() -> Self {
                #blank
            }
        }
        impl<#(#bare,)* Declared, Here> ::gcn_dsl::__private::AssignIn<Declared, Here> for #name #args
        where
            #bounds
            #(#types: ::gcn_dsl::__private::AssignIn<Declared, Here>,)*
        {}
        impl #params ::gcn_dsl::__private::Aggregate for #name #args #clause {}
    }
}

/// Merging of the values of branches, field by field. The two values of a struct of parameters may have fields of
/// different types, such as literals beside values of the device.
fn merged(item: &ItemStruct, of: Of) -> TokenStream {
    let name = &item.ident;
    let (_, args, clause) = item.generics.split_for_impl();
    let types: Vec<TokenStream> = item.fields.iter().map(|f| f.ty.to_token_stream()).collect();
    let members: Vec<Member> = item.fields.members().collect();
    let bare: Vec<TokenStream> = item.generics.params.iter().map(without_default).collect();
    let bounds = clause.map(|c| c.predicates.to_token_stream()).filter(|b| !b.is_empty());
    let bounds = bounds.map(|b| quote!(#b,));
    let build = |values: Vec<TokenStream>| match &item.fields {
        Fields::Unnamed(_) => quote!(#name(#(#values),*)),
        _ => quote!(#name { #(#members: #values),* }),
    };
    let merge = quote!(::gcn_dsl::__private::Merge);
    // One side of a merge of these fields with fields of the types `others`.
    let side = |method: &str, from: &TokenStream, others: &[TokenStream]| {
        let method = quote::format_ident!("{method}");
        let each = members.iter().zip(types.iter().zip(others));
        build(each.map(|(m, (t, other))| quote!(<#t as #merge<How, #other>>::#method(#from.#m))).collect())
    };
    let (fresh, others): (Vec<TokenStream>, Vec<TokenStream>) = match of {
        Of::Values => (Vec::new(), types.clone()),
        Of::Parameters => (0..types.len())
            .map(|i| quote::format_ident!("Other{}", i).to_token_stream())
            .map(|t| (t.clone(), t))
            .unzip(),
    };
    let (of_others, output, of_itself, fixed, fixed_to_itself) = match of {
        Of::Values => {
            let fixed = quote!(#(#types: #merge<How, #types, Output = #types>,)*);
            (quote!(Self), quote!(Self), quote!(Self), fixed.clone(), fixed)
        }
        Of::Parameters => (
            quote!(#name<#(#others),*>),
            quote!(#name<#(<#types as #merge<How, #others>>::Output),*>),
            quote!(#name<#(<#types as #merge<How, #types>>::Output),*>),
            quote!(#(#types: #merge<How, #others>,)*),
            quote!(#(#types: #merge<How, #types>,)*),
        ),
    };
    let parts = (of == Of::Values).then(|| quote!(#(#types: ::gcn_dsl::__private::Flatten,)*));
    let left = side("left", &quote!(self), &others);
    let right = side("right", &quote!(other), &others);
    let alone = side("left", &quote!(self), &types);
    quote! {
        impl<#(#bare,)* #(#fresh,)* How> #merge<How, #of_others> for #name #args
        where
            #bounds
            #parts
            #fixed
        {
            type Output = #output;
            #[track_caller]
            fn left(self) -> Self::Output {
                #left
            }
            #[track_caller]
            fn right(other: #of_others) -> Self::Output {
                #right
            }
        }
        impl<#(#bare,)* How> #merge<How, ::gcn_dsl::__private::Never> for #name #args
        where
            #bounds
            #parts
            #fixed_to_itself
        {
            type Output = #of_itself;
            const RIGHT_LEAVES: bool = true;
            #[track_caller]
            fn left(self) -> Self::Output {
                #alone
            }
            fn right(_: ::gcn_dsl::__private::Never) -> Self::Output {
                ::core::unreachable!("the branch has no value")
            }
        }
    }
}

/// A field's name in debug information; rustc calls the fields of tuple structs `__0` and so on.
fn field_name(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => format!("__{}", index.index),
    }
}

fn without_default(param: &syn::GenericParam) -> TokenStream {
    match param {
        syn::GenericParam::Type(t) => {
            let (name, colon, bounds) = (&t.ident, &t.colon_token, &t.bounds);
            quote!(#name #colon #bounds)
        }
        syn::GenericParam::Const(c) => {
            let (name, ty) = (&c.ident, &c.ty);
            quote!(const #name: #ty)
        }
        syn::GenericParam::Lifetime(l) => quote!(#l),
    }
}
