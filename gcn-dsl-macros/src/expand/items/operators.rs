//! `#[device] impl Mul<V<f32>> for Vec3`: also implements the operator for types that convert to `V<f32>`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Path, PathArguments};

use crate::operator::{key, right};
use crate::parse::DeviceImpl;
use crate::ty;

/// The path of the trait `of`, with `right` as the type of the right operand.
fn with_right(of: &Path, right: &TokenStream) -> Path {
    let mut of = of.clone();
    if let Some(last) = of.segments.last_mut() {
        last.arguments = PathArguments::AngleBracketed(syn::parse_quote!(<#right>));
    }
    of
}

/// For an `impl` with the right operand `V<T>`: the same operator for `S<T>`, for a host `T` and for a literal, except
/// where the user has written that `impl`.
pub(in crate::expand) fn for_other_places(item: &DeviceImpl) -> Option<TokenStream> {
    let (_, of, _) = item.frame.trait_.as_ref()?;
    let [function] = item.functions.as_slice() else { return None };
    let elements = ty::elements(&item.frame.generics);
    let varying = right(of)?;
    let element = ty::varying_element(varying).filter(|ty| elements.is_element(ty))?;
    let (left, clause) = (&item.frame.self_ty, &item.frame.generics.where_clause);
    let predicates = clause.iter().flat_map(|c| &c.predicates);
    let predicates = quote!(#(#predicates,)*);
    let params = item.frame.generics.params.iter();
    let params = quote!(#(#params,)*);
    let attrs: Vec<_> = item.frame.attrs.iter().filter(|a| a.path().is_ident("cfg")).collect();
    let method = &function.sig.ident;
    let forward = |right: TokenStream, more: TokenStream, bound: TokenStream, value: TokenStream| {
        let other = with_right(of, &right);
        quote! {
            #(#attrs)*
            impl<#params #more> #other for #left where #predicates #bound {
                type Output = <#left as #of>::Output;
                #[track_caller]
                fn #method(self, other: #right) -> Self::Output {
                    let other: #varying = ::gcn_dsl::__private::IntoDevice::into_device(#value);
                    <#left as #of>::#method(self, other)
                }
            }
        }
    };
    let mut tokens = forward(
        quote!(::gcn_dsl::__private::Literal<GcnNumber>),
        quote!(GcnNumber),
        quote!(#element: ::gcn_dsl::__private::TakesLiteral<GcnNumber>),
        quote!(<#element as ::gcn_dsl::__private::TakesLiteral<GcnNumber>>::of(other.0)),
    );
    let is_new = |right: &TokenStream| {
        key(of, right, left).is_some_and(|key| !function.known.operators.contains(&key))
    };
    if is_new(&quote!(S<#element>)) {
        tokens.extend(forward(quote!(::gcn_dsl::S<#element>), quote!(), quote!(), quote!(other)));
    }
    // A type parameter could be one of the types above, and the `impl`s would then overlap.
    if !elements.are_generic() && is_new(&quote!(#element)) {
        tokens.extend(forward(quote!(#element), quote!(), quote!(), quote!(other)));
    }
    Some(tokens)
}
