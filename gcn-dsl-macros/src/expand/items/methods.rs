//! `#[device] impl` of a `#[device] #[repr(C)] struct`: the methods that a kernel can call on the struct's values.
//!
//! Such a struct is uniform as a kernel argument and varying as an element of memory, and these are two types. Methods
//! with `self` and `&self` are generated for both. The type of `self` determines the types of the fields, and what a
//! scalar type means as the result; parameters have the same meaning as in every device function. Methods with `&mut
//! self`, functions without `self`, and functions that return `Self` exist only for varying values.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{ExprMethodCall, FnArg, Ident, Type, parse_quote, parse_quote_spanned};

use crate::expand::{Cx, lang};
use crate::parse::{DeviceImpl, KernelFn};
use crate::ty::{Elements, handled, is_own};

/// The `impl`s to generate for a struct that is stored in memory: one for varying values, one for uniform values and,
/// for a trait, one for the host's struct. `None` for another type.
pub(in crate::expand) fn places(item: &DeviceImpl) -> Option<Vec<DeviceImpl>> {
    let Type::Path(path) = &*item.frame.self_ty else { return None };
    let name = path.path.get_ident()?;
    let fields = item.functions.first()?.known.data.get(&name.to_string())?;
    let of = |place: &dyn Fn(&Type) -> TokenStream| -> Type {
        let fields = fields.iter().map(place);
        parse_quote!(#name<#(#fields),*>)
    };
    let (mut one, mut own) = (item.clone(), item.clone());
    *one.frame.self_ty = of(&|ty| field(ty, "S", &quote!(ByValue), &quote!(Device)));
    *own.frame.self_ty = of(&|ty| field(ty, "V", &quote!(Stored), &quote!(Value)));
    let name_text = name.to_string();
    let of_one = |f: &KernelFn| has_self(f) && !f.mutates_self() && !f.gives(Some(&name_text));
    let (has_one, has_own) = match item.frame.trait_ {
        // The `impl` of a trait must contain all functions of the trait, with the results that the trait declares.
        Some(_) => (item.functions.iter().all(of_one), !item.functions.iter().any(gives_plain)),
        None => {
            one.functions.retain(of_one);
            one.frame.items.clear();
            (true, true)
        }
    };
    for f in &mut one.functions {
        Itself { name, varying: false }.function(f);
    }
    for f in &mut own.functions {
        f.self_varies = true;
        Itself { name, varying: true }.function(f);
    }
    // Associated types of the `impl`, such as `type Output = Complex`.
    for item in &mut own.frame.items {
        Itself { name, varying: true }.visit_impl_item_mut(item);
    }
    // The host's struct cannot compute with device values; it only has to implement the trait.
    let computes = |f: &KernelFn| f.mutates_self() || f.gives(Some(&name_text));
    let host = item.frame.trait_.as_ref().filter(|_| !item.functions.iter().any(computes));
    let host = host.map(|_| item.clone());
    Some(host.into_iter().chain(has_own.then_some(own)).chain(has_one.then_some(one)).collect())
}

/// True if the result is a uniform value.
fn gives_plain(f: &KernelFn) -> bool {
    matches!(&f.sig.output, syn::ReturnType::Type(_, ty) if Elements::default().is_plain(ty))
}

/// The type of a field in a kernel. For scalars the handle type is spelled out, because rustc cannot prove that two associated-type
/// projections differ.
fn field(ty: &Type, handle: &str, of: &TokenStream, place: &TokenStream) -> TokenStream {
    let handle_name = Ident::new(handle, ty.span());
    match ty {
        Type::Array(array) => {
            let (elem, len) = (field(&array.elem, handle, of, place), &array.len);
            quote_spanned!(ty.span()=> [#elem; #len])
        }
        _ if Elements::default().is_element(ty) => quote_spanned!(ty.span()=> ::gcn_dsl::#handle_name<#ty>),
        _ => quote_spanned!(ty.span()=> <#ty as ::gcn_dsl::__private::#of>::#place),
    }
}

fn has_self(function: &KernelFn) -> bool {
    matches!(function.sig.inputs.first(), Some(FnArg::Receiver(_)))
}

/// Replaces the struct's name by `Self` and, in the varying `impl`, the scalar types that the method computes by
/// `V<T>`.
struct Itself<'n> {
    name: &'n Ident,
    varying: bool,
}

impl Itself<'_> {
    fn function(&mut self, f: &mut KernelFn) {
        if let syn::ReturnType::Type(_, ty) = &mut f.sig.output {
            self.visit_type_mut(ty);
            self.in_lanes(ty);
        }
        for input in &mut f.sig.inputs {
            self.visit_fn_arg_mut(input);
        }
        if let Ok(body) = &mut f.body {
            self.visit_block_mut(body);
        }
    }

    fn in_lanes(&self, ty: &mut Type) {
        match ty {
            Type::Path(_) if self.varying && has_self_type(ty) => {}
            Type::Path(_) if self.varying && Elements::default().is_element(ty) => {
                *ty = parse_quote_spanned!(ty.span()=> V<#ty>);
            }
            Type::Array(array) => self.in_lanes(&mut array.elem),
            Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(|ty| self.in_lanes(ty)),
            _ => {}
        }
    }

    fn is_it(&self, path: &syn::Path) -> bool {
        path.is_ident(self.name)
    }
}

fn has_self_type(ty: &Type) -> bool {
    matches!(ty, Type::Path(p) if p.path.is_ident("Self"))
}

impl VisitMut for Itself<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        let in_lanes = is_own(ty) && matches!(handled(ty), Type::Path(p) if self.is_it(&p.path));
        match ty {
            // Only in the varying `impl` is the varying struct `Self`.
            _ if in_lanes && !self.varying => return,
            Type::Path(p) if in_lanes || self.is_it(&p.path) => {
                *ty = parse_quote_spanned!(ty.span()=> Self);
                return;
            }
            _ => {}
        }
        visit_mut::visit_type_mut(self, ty);
    }
    fn visit_expr_struct_mut(&mut self, e: &mut syn::ExprStruct) {
        if self.is_it(&e.path) {
            e.path = parse_quote_spanned!(e.path.span()=> Self);
        }
        visit_mut::visit_expr_struct_mut(self, e);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Cx<'_> {
    /// Expands the receiver of a method call. If the receiver is an element of memory and its struct has the method,
    /// the whole element is loaded.
    pub(in crate::expand) fn receiver(&mut self, e: &ExprMethodCall) -> TokenStream {
        let receiver = self.operand(&e.receiver);
        let Some(of) = self.known.of_data.get(&e.method.to_string()) else { return receiver };
        let call = match self.known.of_lanes.contains(&e.method.to_string()) {
            true => "receiver_in_lanes",
            false => "receiver",
        };
        let (of, call) = (Ident::new(of, e.receiver.span()), lang(call, e.receiver.span()));
        quote!(#call::<#of, _>(#receiver))
    }
}
