//! `#[device] trait`: functions on device values. Types of the device and of the host implement the trait.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use crate::errors::Errors;
use crate::expand::items::function::{expand_with, lints};
use crate::expand::items::signature::{Param, Shape, Signed};
use crate::parse::{DeviceTrait, KernelFn, is_device};
use crate::ty::{self, Elements};

pub(crate) fn declaration(item: &DeviceTrait, errors: &mut Errors) -> TokenStream {
    let frame = &item.frame;
    let attrs = frame.attrs.iter().filter(|a| !is_device(a));
    let (vis, name, generics, others) = (&frame.vis, &frame.ident, &frame.generics, &frame.items);
    let (params, clause) = (&generics.params, &generics.where_clause);
    let params = (!params.is_empty()).then(|| quote!(<#params>));
    // The supertraits of the generated trait.
    let bounds = frame.supertraits.iter().map(|bound| quote!(+ #bound));
    // With a `&mut self` method, the type that implements the trait has to be usable as a device variable.
    let mutable = item.functions.iter().any(|(f, _)| f.mutates_self());
    let mutable = mutable.then(|| quote_spanned!(name.span()=> + ::gcn_dsl::__private::Changeable));
    let elements = ty::elements(generics);
    let mut functions = Vec::new();
    for (function, has_body) in &item.functions {
        let mut found = Errors::default();
        functions.push(match has_body {
            true => expand_with(function, Shape::TraitMethod, &elements, &mut found),
            false => required(function, &elements, &mut found),
        });
        errors.append(found);
    }
    let lints: Vec<Option<TokenStream>> =
        item.functions.iter().filter(|(_, has_body)| *has_body).map(|(f, _)| lints(f, errors)).collect();
    quote! {
        #(#attrs)*
        #vis trait #name #params: ::core::marker::Sized #mutable #(#bounds)* #clause {
            #(#others)*
            #(#functions)*
        }
        #(#lints)*
    }
}

/// Expands a function without a body.
fn required(function: &KernelFn, outer: &Elements, errors: &mut Errors) -> TokenStream {
    let signed = Signed::of(function, Shape::TraitMethod, outer, errors);
    let attrs = function.attrs.iter().filter(|a| !is_device(a));
    let (name, generics) = (&function.sig.ident, &function.sig.generics);
    let (params, clause) = (&generics.params, &generics.where_clause);
    let params = (!params.is_empty()).then(|| quote!(<#params>));
    let inputs = signed.params.iter().map(Param::declared);
    let output = signed.output.as_ref().map(|ty| quote!(-> #ty));
    quote_spanned!(name.span()=> #(#attrs)* #[track_caller] fn #name #params (#(#inputs),*) #output #clause;)
}
