//! `#[device] enum` becomes a struct with a discriminant and the fields of all variants, and a plain host enum for patterns.
//!
//! The struct has the enum's name, and a function with the name of each variant constructs that variant. rustc checks
//! patterns against the host enum (see `gcn_dsl::__private::Variants`). The host enum has the same name but is in a
//! separate module, so that messages show the user's name.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Fields, ItemEnum, ItemStruct, Type, parse_quote};

use crate::errors::Errors;
use crate::expand::control::pattern::host;
use crate::expand::items::aggregate::{Of, implementations};
use crate::expand::items::declaration::attributes;
use crate::expand::items::listed;
use crate::parse::is_device;
use crate::ty::{Elements, elements};

pub(crate) fn enumeration(item: &ItemEnum, errors: &mut Errors) -> TokenStream {
    if let Some(repr) = crate::parse::repr(item) {
        return listed::enumeration(item, repr, errors);
    }
    let mut found = Errors::default();
    check(item, &mut found);
    let spoilt = found.spoilt();
    errors.append(found);
    if spoilt { TokenStream::new() } else { expand(item) }
}

fn check(item: &ItemEnum, errors: &mut Errors) {
    attributes(&item.attrs, "device enum", errors);
    let what = "a device enum is `Clone`, `Copy` and `Debug` by itself, and derives nothing else; one without fields compares with `==`";
    let compares = item.variants.iter().all(|v| matches!(v.fields, Fields::Unit));
    let own: &[&str] = match compares {
        true => &["Clone", "Copy", "Debug", "PartialEq", "Eq"],
        false => &["Clone", "Copy", "Debug"],
    };
    crate::expand::items::aggregate::derives(&item.attrs, own, what, errors);
    if let Some(lifetime) = item.generics.lifetimes().next() {
        errors.at(lifetime, "a device enum holds values, no references; remove the lifetime");
    }
    if item.variants.is_empty() {
        errors.at(&item.ident, "a device enum has variants: a value is one of them");
    }
    for (k, variant) in item.variants.iter().enumerate() {
        // An explicit discriminant that equals the variant's index changes nothing, so it is accepted.
        let counted = |number: &syn::Expr| number.to_token_stream().to_string() == k.to_string();
        if let Some((_, number)) = variant.discriminant.as_ref().filter(|(_, number)| !counted(number)) {
            let what = "the variants of a device enum are counted from 0; with `#[repr(u32)]` one without fields has the numbers that it says";
            errors.at(number, what);
        }
        if let (Fields::Named(_), Some(_)) = (&variant.fields, item.generics.params.first()) {
            let what = "the fields of a device enum with parameters have no names: write `Circle(T)`, or put a `#[device] struct` into it";
            errors.at(&variant.fields, what);
        }
        let name = variant.ident.to_string();
        if name == name.to_uppercase() && name.len() > 1 {
            let what = "a variant is written as Rust does, `Circle`: a pattern in capitals is a constant";
            errors.at(&variant.ident, what);
        }
    }
}

/// A field of a variant.
struct Field {
    /// The name of the field in the struct. `param` is the field's type parameter in the host enum.
    place: Ident,
    param: Ident,
    ty: Type,
    /// True if the field's type is a parameter of the enum, so that it is inferred from the value.
    inferred: bool,
}

fn is_param(ty: &Type, item: &ItemEnum, elements: &Elements) -> bool {
    let Type::Path(path) = crate::ty::bare(ty) else { return false };
    let name = path.path.get_ident();
    name.is_some_and(|name| item.generics.type_params().any(|p| p.ident == *name)) && !elements.is_element(ty)
}

/// The enum's generics with the bounds that the expansion needs.
fn bounded(item: &ItemEnum, types: &[&Type]) -> syn::Generics {
    let mut generics = item.generics.clone();
    if !generics.params.is_empty() {
        let clause = generics.make_where_clause();
        for ty in types {
            let bounds = quote!(
                ::gcn_dsl::__private::Flatten + ::gcn_dsl::__private::Placed + ::gcn_dsl::__private::Blank
            );
            clause.predicates.push(parse_quote!(#ty: #bounds));
        }
    }
    generics
}

fn expand(item: &ItemEnum) -> TokenStream {
    let (vis, name) = (&item.vis, &item.ident);
    let elements = elements(&item.generics);
    let mut count = 0usize;
    let fields: Vec<Vec<Field>> = item
        .variants
        .iter()
        .map(|variant| {
            let field = |f: &syn::Field| {
                count += 1;
                Field {
                    place: format_ident!("__gcn_field{}", count, span = f.ty.span()),
                    param: format_ident!("Field{}", count),
                    ty: Type::Verbatim(elements.device(&f.ty)),
                    inferred: is_param(&f.ty, item, &elements),
                }
            };
            variant.fields.iter().map(field).collect()
        })
        .collect();
    let all: Vec<&Field> = fields.iter().flatten().collect();
    let types: Vec<&Type> = all.iter().map(|f| &f.ty).collect();
    let params: Vec<&Ident> = all.iter().map(|f| &f.param).collect();
    let places: Vec<&Ident> = all.iter().map(|f| &f.place).collect();
    // All variants share one discriminant, so it varies if any field does.
    let place = place(&types);
    let attrs = item.attrs.iter().filter(|a| !is_device(a) && !crate::expand::items::aggregate::is_derive(a));
    let generics = bounded(item, &types);
    let (of, args, clause) = generics.split_for_impl();
    let unbounded = &item.generics.params;
    let declaration: ItemStruct = parse_quote! {
        #[derive(Debug)]
        #vis struct #name<#unbounded> #clause {
            __gcn_tag: ::gcn_dsl::__private::Tag<#place>,
            #(#places: #types,)*
        }
    };
    let implementations = implementations(&declaration, Of::Values);
    let host = host(name);
    let variants = item.variants.iter().zip(&fields).map(|(variant, fields)| declared(variant, fields));
    let shown = item.variants.iter().zip(&fields).map(|(variant, fields)| {
        let values = fields.iter().map(|f| {
            let place = &f.place;
            quote!(self.#place)
        });
        made(&quote!(#host::#name), variant, values)
    });
    let arms = item
        .variants
        .iter()
        .enumerate()
        .map(|(tag, variant)| of_variant(&host, name, tag as u32, variant, &fields));
    let constructors = item
        .variants
        .iter()
        .zip(&fields)
        .filter_map(|(variant, fields)| constructor(vis, &quote!(#host::#name), variant, fields));
    // A `cfg` on the enum has to apply to everything that is generated from it.
    let docs = item.attrs.iter().filter(|a| a.path().is_ident("cfg"));
    let (shared, plain) = (
        docs.map(ToTokens::to_token_stream).collect::<TokenStream>(),
        all.is_empty().then(|| without_fields(name)),
    );
    // Checks that fields of each type can be left undefined; in a generic enum, the bounds on its parameters guarantee that.
    let blank = types.iter().filter(|_| generics.params.is_empty());
    let blank = blank.map(|ty| quote_spanned!(ty.span()=> ::gcn_dsl::__private::holds_blank::<#ty>()));
    quote! {
        #(#attrs)*
        #declaration
        #implementations
        #shared
        #[doc(hidden)]
        #[allow(non_snake_case, dead_code, missing_docs)]
        mod #host {
            #[derive(Debug)]
            pub enum #name<#(#params),*> { #(#variants),* }
        }
        #shared
        const _: fn() = || { #(#blank;)* };
        #shared
        impl #of ::gcn_dsl::__private::Placed for #name #args #clause {
            type Place = #place;
            type Pattern = #host::#name<#(<#types as ::gcn_dsl::__private::Placed>::Pattern),*>;
        }
        #shared
        impl #of ::gcn_dsl::__private::Variants for #name #args #clause {
            type Host = #host::#name<#(#types),*>;
            type Condition = <#place as ::gcn_dsl::__private::Kind>::Pick<::gcn_dsl::S<bool>, ::gcn_dsl::V<bool>>;
            fn each(&self) -> ::std::vec::Vec<Self::Host> {
                ::std::vec![#(#shown),*]
            }
            #[track_caller]
            fn one_of(&self, chosen: &[bool]) -> Self::Condition {
                self.__gcn_tag.is_one_of(chosen)
            }
        }
        #shared
        impl #of ::gcn_dsl::__private::OfVariant for #name #args #clause {
            fn of(variant: Self::Host) -> Self {
                match variant { #(#arms)* }
            }
        }
        #shared
        impl #of ::gcn_dsl::__private::Vary for #name #args #clause {
            type Varying = Self;
            fn vary(self) -> Self {
                self
            }
        }
        #shared
        #[allow(non_snake_case, dead_code, missing_docs)]
        impl #of #name #args #clause { #(#constructors)* }
        #plain
    }
}

/// The type `Uniform` or `Varying` for the discriminant: uniform if there are fields and all of them are uniform.
fn place(types: &[&Type]) -> TokenStream {
    let places =
        types.iter().map(|ty| quote_spanned!(ty.span()=> <#ty as ::gcn_dsl::__private::Placed>::Place));
    let all = places.reduce(|all, next| quote!(<#all as ::gcn_dsl::__private::Kind>::Or<#next>));
    // Without fields, nothing shows that the value is uniform.
    all.unwrap_or_else(|| quote!(::gcn_dsl::__private::Varying))
}

fn declared(variant: &syn::Variant, fields: &[Field]) -> TokenStream {
    let name = &variant.ident;
    let params: Vec<&Ident> = fields.iter().map(|f| &f.param).collect();
    match &variant.fields {
        Fields::Unit => name.to_token_stream(),
        Fields::Unnamed(_) => quote!(#name(#(#params),*)),
        Fields::Named(named) => {
            let names = named.named.iter().map(|f| &f.ident);
            quote!(#name { #(#names: #params),* })
        }
    }
}

/// The construction of a variant of the enum `of`, or a pattern for it, with these values for the fields.
fn made(of: &TokenStream, variant: &syn::Variant, values: impl Iterator<Item = TokenStream>) -> TokenStream {
    let name = &variant.ident;
    match &variant.fields {
        Fields::Unit => quote!(#of::#name),
        Fields::Unnamed(_) => quote!(#of::#name(#(#values),*)),
        Fields::Named(named) => {
            let names = named.named.iter().map(|f| &f.ident);
            quote!(#of::#name { #(#names: #values),* })
        }
    }
}

/// The match arm that converts a host variant to the struct, in which the fields of the other variants are undefined.
fn of_variant(
    host: &Ident,
    name: &Ident,
    tag: u32,
    variant: &syn::Variant,
    fields: &[Vec<Field>],
) -> TokenStream {
    // The struct has the fields of all variants, but only this variant's own are defined: the registers of the others
    // are never written.
    let own = &fields[tag as usize];
    let pattern = made(&quote!(#host::#name), variant, own.iter().map(|f| f.place.to_token_stream()));
    let values = fields.iter().enumerate().flat_map(|(of, fields)| {
        fields.iter().map(move |Field { place, ty, .. }| match of == tag as usize {
            true => quote!(#place),
            false => quote!(#place: <#ty as ::gcn_dsl::__private::Blank>::blank()),
        })
    });
    quote!(#pattern => #name { __gcn_tag: ::gcn_dsl::__private::Tag::of(#tag), #(#values),* },)
}

/// The function that constructs a variant; `None` if its fields are named.
fn constructor(
    vis: &syn::Visibility,
    of: &TokenStream,
    variant: &syn::Variant,
    fields: &[Field],
) -> Option<TokenStream> {
    let name = &variant.ident;
    // A call cannot name fields; `pattern` expands `Enum::Variant { … }`.
    if let Fields::Named(_) = variant.fields {
        return None;
    }
    let params = fields.iter().map(|Field { place, ty, inferred, .. }| match inferred {
        true => quote_spanned!(ty.span()=> #place: impl ::gcn_dsl::__private::Declare<Value = #ty>),
        false => quote_spanned!(ty.span()=> #place: impl ::gcn_dsl::__private::IntoDevice<#ty>),
    });
    let values = fields.iter().map(|Field { place, inferred, .. }| match inferred {
        true => quote!(::gcn_dsl::__private::Declare::declare(#place)),
        false => quote!(::gcn_dsl::__private::IntoDevice::into_device(#place)),
    });
    let made = made(of, variant, values);
    let docs = variant.attrs.iter().filter(|a| a.path().is_ident("doc"));
    Some(quote! {
        #(#docs)*
        #[track_caller]
        #vis fn #name(#(#params),*) -> Self {
            ::gcn_dsl::__private::OfVariant::of(#made)
        }
    })
}

/// Implementations for an enum without fields, which is represented by a number: comparisons and the conversion to a
/// number.
fn without_fields(name: &Ident) -> TokenStream {
    quote! {
        impl ::gcn_dsl::__private::Compare<#name> for #name {
            type Output = ::gcn_dsl::V<bool>;
            #[track_caller]
            fn compare(self, pred: ::gcn_dsl::ir::Pred, rhs: #name) -> Self::Output {
                ::gcn_dsl::__private::Compare::compare(self.__gcn_tag.number(), pred, rhs.__gcn_tag.number())
            }
        }
        impl<T> ::gcn_dsl::__private::CastTo<T> for #name
        where
            ::gcn_dsl::V<u32>: ::gcn_dsl::__private::CastTo<T>,
        {
            type Output = <::gcn_dsl::V<u32> as ::gcn_dsl::__private::CastTo<T>>::Output;
            #[track_caller]
            fn cast_to(self) -> Self::Output {
                ::gcn_dsl::__private::CastTo::cast_to(self.__gcn_tag.number())
            }
        }
    }
}
