//! Lifetimes of device structs: `struct Grid<'a> { data: &'a mut [f32], width: u32 }`. While a kernel is built, memory
//! is a handle without a lifetime, so the parameter has no meaning, and is removed wherever the struct is named.

use std::collections::HashSet;

use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{GenericArgument, GenericParam, Generics, PathArguments};

use super::Item;

/// Removes the lifetime parameters from the structs, and from all uses of their names.
pub(super) fn without_lifetimes(items: &mut [Item]) {
    let mut views = Views(HashSet::new());
    for item in items.iter_mut() {
        if let Item::Struct(s) = item
            && s.generics.lifetimes().next().is_some()
        {
            views.0.insert(s.ident.to_string());
            strip(&mut s.generics);
        }
    }
    if views.0.is_empty() {
        return;
    }
    for item in items {
        match item {
            Item::Kernel(f) | Item::Function(f) => views.visit_signature_mut(&mut f.sig),
            Item::Impl(i) => {
                let before = views.named(&i.frame.self_ty);
                views.visit_type_mut(&mut i.frame.self_ty);
                if before {
                    strip(&mut i.frame.generics);
                }
                i.functions.iter_mut().for_each(|f| views.visit_signature_mut(&mut f.sig));
            }
            Item::Struct(s) => s.fields.iter_mut().for_each(|f| views.visit_type_mut(&mut f.ty)),
            Item::Enum(_) | Item::Trait(_) => {}
        }
    }
}

fn strip(generics: &mut Generics) {
    let params = std::mem::take(&mut generics.params);
    generics.params = params.into_iter().filter(|p| !matches!(p, GenericParam::Lifetime(_))).collect();
    if generics.params.is_empty() {
        (generics.lt_token, generics.gt_token) = (None, None);
    }
}

/// The names of structs with lifetimes.
struct Views(HashSet<String>);

impl Views {
    fn named(&self, ty: &syn::Type) -> bool {
        let syn::Type::Path(p) = ty else { return false };
        p.path.segments.last().is_some_and(|s| self.0.contains(&s.ident.to_string()))
    }
}

impl VisitMut for Views {
    fn visit_path_segment_mut(&mut self, s: &mut syn::PathSegment) {
        visit_mut::visit_path_segment_mut(self, s);
        let PathArguments::AngleBracketed(args) = &mut s.arguments else { return };
        if !self.0.contains(&s.ident.to_string()) {
            return;
        }
        let all = std::mem::take(&mut args.args);
        args.args = all
            .into_iter()
            .filter(|a| !matches!(a, GenericArgument::Lifetime(_)))
            .collect::<Punctuated<_, _>>();
        if args.args.is_empty() {
            s.arguments = PathArguments::None;
        }
    }
}
