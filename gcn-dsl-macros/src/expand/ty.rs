//! Types in `let` annotations: a plain scalar means a uniform value.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

/// The names of `gcn_dsl::scalar::Elem`.
const SCALARS: [&str; 15] = [
    "bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64", "f8e4m3",
    "f8e5m2",
];
const HOST: [&str; 7] = ["usize", "isize", "u128", "i128", "String", "Vec", "Option"];

fn last_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(p) => p.path.segments.last().map(|s| s.ident.to_string()),
        _ => None,
    }
}

/// True for types that live on the host only.
pub(crate) fn is_host(ty: &Type) -> bool {
    match ty {
        Type::Path(_) => last_name(ty).is_some_and(|n| HOST.contains(&n.as_str())),
        Type::Array(a) => is_host(&a.elem),
        Type::Tuple(_) | Type::Reference(_) | Type::BareFn(_) | Type::Infer(_) => true,
        _ => false,
    }
}

/// The device type that an annotation means.
pub(crate) fn device(ty: &Type) -> TokenStream {
    match ty {
        Type::Path(p) if p.path.get_ident().is_some() || p.path.segments.len() > 1 => {
            if last_name(ty).is_some_and(|n| SCALARS.contains(&n.as_str())) {
                return quote_spanned!(ty.span()=> ::gcn_dsl::S<#ty>);
            }
            quote!(#ty)
        }
        Type::Array(a) => {
            let (elem, len) = (device(&a.elem), &a.len);
            quote_spanned!(ty.span()=> [#elem; #len])
        }
        Type::Paren(p) => device(&p.elem),
        _ => quote!(#ty),
    }
}
