//! `#[device] #[repr(C)] struct`: data that host and device share, as elements of slices and as kernel arguments.
//!
//! The generated struct has a type parameter for each field, with the field's written type as the default. With the
//! defaults it is the host's struct; with `S`, `V` and arrays of these types it is the struct on which a kernel
//! computes.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Fields, ItemStruct, Member, Type};

use crate::errors::Errors;
use crate::expand::items::aggregate::{Of, derived, implementations, is_derive, placed};
use crate::expand::items::declaration::KEPT;
use crate::parse::is_device;

/// True for a struct with a defined memory layout.
pub(crate) fn is_data(item: &ItemStruct) -> bool {
    item.attrs.iter().any(|a| a.path().is_ident("repr"))
}

pub(crate) fn structure(item: &ItemStruct, errors: &mut Errors) -> TokenStream {
    let mut found = Errors::default();
    for attr in item.attrs.iter().filter(|a| !KEPT.iter().any(|name| a.path().is_ident(name))) {
        let is_c = attr.path().is_ident("repr") && attr.parse_args::<Ident>().is_ok_and(|repr| repr == "C");
        if !is_c {
            found.at(
                attr,
                "a device struct in memory has the layout `#[repr(C)]`, and no other attribute of this kind",
            );
        }
    }
    if !matches!(item.fields, Fields::Named(_)) || item.fields.is_empty() {
        found.at(
            &item.ident,
            "a device struct with `#[repr(C)]` has named fields: `struct Block { d: f16, qs: [u8; 16] }`",
        );
    }
    if let Some(param) = item.generics.params.first() {
        found.at(
            param,
            "a device struct with `#[repr(C)]` is one layout in memory, without parameters; remove this",
        );
    }
    for field in &item.fields {
        if crate::ty::is_handle(crate::ty::bare(&field.ty)) {
            let what = "a field in memory has the type of the host, for example `f32`; in the kernel it becomes `S<f32>` or `V<f32>`";
            found.at(&field.ty, what);
        }
    }
    let spoilt = found.spoilt();
    errors.append(found);
    if spoilt { TokenStream::new() } else { expand(item) }
}

fn expand(item: &ItemStruct) -> TokenStream {
    let types: Vec<&Type> = item.fields.iter().map(|f| &f.ty).collect();
    let params: Vec<Ident> = (0..types.len()).map(|i| format_ident!("Field{}", i)).collect();
    let (vis, name) = (&item.vis, &item.ident);
    let attrs = item.attrs.iter().filter(|a| !is_device(a) && !is_derive(a));
    let derived = derived(&item.attrs, &["Clone", "Copy", "Debug"]);
    let fields = item.fields.iter().zip(&params).map(|(f, param)| {
        let (attrs, vis, name) = (&f.attrs, &f.vis, &f.ident);
        quote!(#(#attrs)* #vis #name: #param)
    });
    let declaration = quote! {
        #(#attrs)*
        #[derive(Clone, Copy, Debug, #(#derived),*)]
        #vis struct #name<#(#params = #types),*> { #(#fields),* }
    };
    let mut generic = item.clone();
    generic.generics = syn::parse_quote!(<#(#params),*>);
    for (field, param) in generic.fields.iter_mut().zip(&params) {
        field.ty = syn::parse_quote!(#param);
    }
    let implementations = implementations(&generic, Of::Parameters);
    let placed = placed(&generic);
    let converted = converted(name, &params, item);
    let stored = stored(name, &types, item);
    quote!(#declaration #implementations #placed #converted #stored)
}

/// Implements the conversions field by field.
fn converted(name: &Ident, params: &[Ident], item: &ItemStruct) -> TokenStream {
    let members: Vec<Member> = item.fields.members().collect();
    let to: Vec<Ident> = (0..params.len()).map(|i| format_ident!("To{}", i)).collect();
    quote! {
        impl<#(#params: ::gcn_dsl::__private::IntoDevice<#to>, #to),*> ::gcn_dsl::__private::IntoDevice<#name<#(#to),*>> for #name<#(#params),*> {
            #[track_caller]
            fn into_device(self) -> #name<#(#to),*> {
                #name { #(#members: ::gcn_dsl::__private::IntoDevice::into_device(self.#members)),* }
            }
        }
        impl<#(#params: ::gcn_dsl::__private::Declare),*> ::gcn_dsl::__private::Declare for #name<#(#params),*>
        where
            #name<#(#params::Value),*>: ::gcn_dsl::__private::Flatten,
        {
            type Value = #name<#(#params::Value),*>;
            #[track_caller]
            fn declare(self) -> Self::Value {
                #name { #(#members: ::gcn_dsl::__private::Declare::declare(self.#members)),* }
            }
        }
        impl<#(#params: ::gcn_dsl::__private::Choice),*> ::gcn_dsl::__private::Choice for #name<#(#params),*> {
            type Varying = #name<#(#params::Varying),*>;
            type Uniform = #name<#(#params::Uniform),*>;
            #[track_caller]
            fn at_varying(list: &[Self], i: ::gcn_dsl::V<u32>) -> Self::Varying {
                #name { #(#members: #params::at_varying(&::gcn_dsl::__private::each(list, |x| x.#members), i)),* }
            }
            #[track_caller]
            fn at_uniform(list: &[Self], i: ::gcn_dsl::S<u32>) -> Self::Uniform {
                #name { #(#members: #params::at_uniform(&::gcn_dsl::__private::each(list, |x| x.#members), i)),* }
            }
        }
        impl<#(#params: ::gcn_dsl::__private::Vary),*> ::gcn_dsl::__private::Vary for #name<#(#params),*> {
            type Varying = #name<#(#params::Varying),*>;
            #[track_caller]
            fn vary(self) -> Self::Varying {
                #name { #(#members: ::gcn_dsl::__private::Vary::vary(self.#members)),* }
            }
        }
    }
}

/// Implements loads and stores of the struct, and its use as an argument.
fn stored(name: &Ident, types: &[&Type], item: &ItemStruct) -> TokenStream {
    let members: Vec<Member> = item.fields.members().collect();
    let stored: Vec<TokenStream> =
        types.iter().map(|t| quote_spanned!(t.span()=> <#t as ::gcn_dsl::__private::Stored>)).collect();
    let by_value: Vec<TokenStream> =
        types.iter().map(|t| quote_spanned!(t.span()=> <#t as ::gcn_dsl::__private::ByValue>)).collect();
    let offsets: Vec<TokenStream> =
        members.iter().map(|m| quote!(::core::mem::offset_of!(#name, #m))).collect();
    quote! {
        impl ::gcn_dsl::__private::Stored for #name {
            const BYTES: u32 = ::core::mem::size_of::<#name>() as u32;
            const ELEM: ::gcn_dsl::scalar::Elem = ::gcn_dsl::scalar::Elem::U8;
            type Read<I: ::gcn_dsl::__private::Index> = #name<#(#stored::Read<I>),*>;
            type Value = #name<#(#stored::Value),*>;
            fn leaves(offset: u32, out: &mut ::std::vec::Vec<::gcn_dsl::__private::Leaf>) {
                #(#stored::leaves(offset + #offsets as u32, out);)*
            }
            #[track_caller]
            fn read<I: ::gcn_dsl::__private::Index>(from: ::gcn_dsl::__private::Bytes, i: I, scale: u32, offset: u32) -> Self::Read<I> {
                #name { #(#members: #stored::read(from, i, scale, offset + #offsets as u32)),* }
            }
            fn append(&self, out: &mut ::std::vec::Vec<u8>) {
                let start = out.len();
                #(
                    out.resize(start + #offsets, 0);
                    #stored::append(&self.#members, out);
                )*
                out.resize(start + ::core::mem::size_of::<#name>(), 0);
            }
            fn take(bytes: &[u8]) -> Self {
                #name { #(#members: #stored::take(&bytes[#offsets..][..#stored::BYTES as usize])),* }
            }
            fn unknown(bytes: &[u8]) -> ::core::option::Option<::gcn_dsl::scalar::UnknownVariant> {
                #(
                    if let ::core::option::Option::Some(unknown) = #stored::unknown(&bytes[#offsets..][..#stored::BYTES as usize]) {
                        return ::core::option::Option::Some(unknown);
                    }
                )*
                ::core::option::Option::None
            }
        }
        impl ::gcn_dsl::__private::LdsElement for #name {
            type Indexed = <#name as ::gcn_dsl::__private::Stored>::Value;
            #[track_caller]
            fn indexed(from: ::gcn_dsl::__private::LdsPlace) -> Self::Indexed {
                from.read::<#name>()
            }
        }
        impl ::gcn_dsl::__private::ByValue for #name {
            type Device = #name<#(#by_value::Device),*>;
            fn declare(signature: ::gcn_dsl::__private::Signature, name: &'static str) -> ::gcn_dsl::__private::Signature {
                #(let signature = #by_value::declare(signature, name);)*
                signature
            }
            fn receive(args: &mut ::gcn_dsl::__private::Arguments) -> Self::Device {
                #name { #(#members: #by_value::receive(args)),* }
            }
            fn pack(self, packer: &mut ::gcn_dsl::__private::Packer<'_>) {
                #(#by_value::pack(self.#members, packer);)*
            }
        }
    }
}
