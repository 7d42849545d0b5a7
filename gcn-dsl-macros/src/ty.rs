//! Types in a kernel. A plain scalar type denotes a uniform value.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{GenericParam, Generics, Type, TypeParamBound, WherePredicate};

/// The types of `gcn_dsl::scalar::Scalar`. That a written scalar type means `S<…>` in a kernel is syntax: a type is translated before
/// types exist, and `u32` as a parameter of a constant generic has to stay what it is. The names are those of Rust's primitive types and of
/// the four types that the prelude adds to them. An alias has no part in this and means what it says on the host: `S<Alias>` is the value of
/// the device.
const SCALARS: [&str; 16] = [
    "bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64", "f8e4m3",
    "f8e5m2", "LaneMask",
];
const HOST: [&str; 6] = ["usize", "isize", "u128", "i128", "String", "Vec"];
/// The bounds that make a type parameter an element type: a plain `T` then means `S<T>`.
const ELEMENT_BOUNDS: [&str; 8] =
    ["Scalar", "Number", "Arithmetic", "Integer", "Float", "Bits", "Signed", "Unsigned"];

/// True for the name of a scalar.
pub(crate) fn is_scalar(name: &str) -> bool {
    SCALARS.contains(&name)
}

fn last_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(p) => p.path.segments.last().map(|s| s.ident.to_string()),
        _ => None,
    }
}

/// True for `S<…>` and `V<…>`.
pub(crate) fn is_handle(ty: &Type) -> bool {
    last_name(ty).is_some_and(|n| n == "S" || n == "V")
}

/// True for `V<…>`.
pub(crate) fn is_own(ty: &Type) -> bool {
    last_name(ty).is_some_and(|n| n == "V")
}

/// The type without enclosing parentheses and without the invisible groups that come from a macro's `$t:ty`.
pub(crate) fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(g) => bare(&g.elem),
        Type::Paren(p) => bare(&p.elem),
        other => other,
    }
}

/// The `T` of `Option<T>`.
pub(crate) fn optional(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|s| s.ident == "Option")?;
    let syn::PathArguments::AngleBracketed(args) = &last.arguments else { return None };
    match args.args.first() {
        Some(syn::GenericArgument::Type(of)) => Some(bare(of)),
        _ => None,
    }
}

/// The `T` and `E` of `Result<T, E>`.
pub(crate) fn resulting(ty: &Type) -> Option<[&Type; 2]> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|s| s.ident == "Result")?;
    let syn::PathArguments::AngleBracketed(args) = &last.arguments else { return None };
    match args.args.iter().collect::<Vec<_>>()[..] {
        [syn::GenericArgument::Type(of), syn::GenericArgument::Type(error)] => Some([bare(of), bare(error)]),
        _ => None,
    }
}

/// The `T` of `V<T>` and `S<T>`; any other type itself.
pub(crate) fn handled(ty: &Type) -> &Type {
    let ty = bare(ty);
    if !is_handle(ty) {
        return ty;
    }
    let Type::Path(path) = ty else { return ty };
    match path.path.segments.last().map(|s| &s.arguments) {
        Some(syn::PathArguments::AngleBracketed(args)) => match args.args.first() {
            Some(syn::GenericArgument::Type(of)) => bare(of),
            _ => ty,
        },
        _ => ty,
    }
}

/// The `T` of `V<T>`.
pub(crate) fn varying_element(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = bare(ty) else { return None };
    let last = path.path.segments.last().filter(|s| s.ident == "V")?;
    let syn::PathArguments::AngleBracketed(args) = &last.arguments else { return None };
    match args.args.first() {
        Some(syn::GenericArgument::Type(of)) => Some(bare(of)),
        _ => None,
    }
}

/// The varying counterpart of a plain type.
pub(crate) fn in_lanes(ty: &Type) -> Type {
    match bare(ty) {
        Type::Array(array) => {
            let (elem, len) = (in_lanes(&array.elem), &array.len);
            syn::parse_quote_spanned!(ty.span()=> [#elem; #len])
        }
        Type::Tuple(tuple) => {
            let members = tuple.elems.iter().map(in_lanes);
            syn::parse_quote_spanned!(ty.span()=> (#(#members,)*))
        }
        ty => syn::parse_quote_spanned!(ty.span()=> ::gcn_dsl::V<#ty>),
    }
}

/// True for types that live on the host only.
pub(crate) fn is_host(ty: &Type) -> bool {
    Elements::default().is_host(ty)
}

/// The type parameters in scope, divided into element types and others.
#[derive(Clone, Default)]
pub(crate) struct Elements {
    elements: Vec<String>,
    others: Vec<String>,
    /// The enums stored in memory that this macro call declares.
    listed: Vec<String>,
}

/// The type parameters of an item that is not nested in another.
pub(crate) fn elements(generics: &Generics) -> Elements {
    Elements::default().with(generics)
}

impl Elements {
    /// These type parameters, together with those of a nested item.
    pub fn with(&self, generics: &Generics) -> Elements {
        let mut all = self.clone();
        for param in &generics.params {
            let GenericParam::Type(param) = param else { continue };
            let name = param.ident.to_string();
            let clauses = generics.where_clause.iter().flat_map(|c| &c.predicates);
            let clauses = clauses.filter_map(|p| match p {
                WherePredicate::Type(p) if last_name(&p.bounded_ty).as_ref() == Some(&name) => {
                    Some(&p.bounds)
                }
                _ => None,
            });
            let element = param.bounds.iter().chain(clauses.flatten()).any(is_element_bound);
            if element { &mut all.elements } else { &mut all.others }.push(name);
        }
        all
    }

    /// These type parameters, together with the enums stored in memory that this macro call declares.
    pub fn beside<'a>(mut self, listed: impl IntoIterator<Item = &'a String>) -> Elements {
        self.listed.extend(listed.into_iter().cloned());
        self
    }

    /// True if a type parameter is an element type. The type of a literal next to such a value cannot be inferred.
    pub fn are_generic(&self) -> bool {
        !self.elements.is_empty()
    }

    /// True for a scalar type, and for a type parameter that stands for one.
    pub fn is_element(&self, ty: &Type) -> bool {
        let Type::Path(p) = ty else { return false };
        match (p.path.get_ident(), last_name(ty)) {
            (Some(name), _) if self.elements.iter().chain(&self.listed).any(|e| name == e) => true,
            (_, Some(name)) => is_scalar(&name) && p.qself.is_none(),
            _ => false,
        }
    }

    /// True for the name, as text, of a type parameter that is an element type.
    pub fn has(&self, name: &str) -> bool {
        self.elements.iter().any(|e| e == name)
    }

    /// True for the name of a type parameter that is an element type.
    pub fn is_parameter(&self, name: &proc_macro2::Ident) -> bool {
        self.elements.iter().any(|e| name == e)
    }

    /// True for `V<…>` and for arrays of it.
    pub fn is_varying(&self, ty: &Type) -> bool {
        match bare(ty) {
            Type::Array(a) => self.is_varying(&a.elem),
            ty if optional(ty).is_some() => optional(ty).is_some_and(|of| self.has_varying(of)),
            ty if resulting(ty).is_some() => {
                resulting(ty).is_some_and(|parts| parts.into_iter().any(|of| self.has_varying(of)))
            }
            ty => last_name(ty).is_some_and(|n| n == "V"),
        }
    }

    /// True if a part of the value is varying. Whether an `Option` of this type is `Some` then varies as well.
    fn has_varying(&self, ty: &Type) -> bool {
        match bare(ty) {
            Type::Tuple(t) => t.elems.iter().any(|of| self.has_varying(of)),
            ty => self.is_varying(ty),
        }
    }

    /// True if `ty` contains a type parameter that stands for a device type. No value converts to such a type
    /// implicitly, for rustc infers the parameter from the value. A type that belongs to the parameter, such as `O::Element`,
    /// is not inferred from values.
    pub fn mentions_device_param(&self, ty: &Type) -> bool {
        mentions(ty, &self.others)
    }

    /// As [`Elements::mentions_device_param`], for any type parameter.
    pub fn mentions_param(&self, ty: &Type) -> bool {
        self.mentions_device_param(ty) || mentions(ty, &self.elements)
    }

    /// True for types that do not determine whether values vary: elements, and arrays and tuples of them.
    pub fn is_plain(&self, ty: &Type) -> bool {
        match bare(ty) {
            Type::Array(a) => self.is_plain(&a.elem),
            Type::Tuple(t) => !t.elems.is_empty() && t.elems.iter().all(|ty| self.is_plain(ty)),
            ty => self.is_element(ty),
        }
    }

    /// True for types that leave open whether a part of the value varies: plain scalars, pointers, and arrays and
    /// tuples that contain them.
    pub fn leaves_open(&self, ty: &Type) -> bool {
        fn is_number(elements: &Elements, ty: &Type) -> bool {
            match bare(ty) {
                Type::Array(a) => is_number(elements, &a.elem),
                Type::Tuple(t) => t.elems.iter().all(|ty| is_number(elements, ty)),
                ty => elements.is_element(ty) || (is_handle(ty) && elements.is_element(handled(ty))),
            }
        }
        match bare(ty) {
            Type::Array(a) => self.leaves_open(&a.elem),
            Type::Tuple(t) => is_number(self, ty) && t.elems.iter().any(|ty| self.leaves_open(ty)),
            Type::Ptr(_) => true,
            ty => self.is_element(ty),
        }
    }

    /// True for types that live on the host only.
    pub fn is_host(&self, ty: &Type) -> bool {
        match ty {
            Type::Path(_) if optional(ty).is_some() => optional(ty).is_some_and(|of| self.is_host(of)),
            Type::Path(_) if resulting(ty).is_some() => {
                resulting(ty).is_some_and(|parts| parts.into_iter().any(|of| self.is_host(of)))
            }
            Type::Path(_) => last_name(ty).is_some_and(|n| HOST.contains(&n.as_str())),
            Type::Array(a) => self.is_host(&a.elem),
            Type::Tuple(t) => t.elems.iter().any(|e| self.is_host(e)),
            Type::Reference(_) | Type::BareFn(_) | Type::Infer(_) | Type::ImplTrait(_) => true,
            Type::Paren(p) => self.is_host(&p.elem),
            Type::Group(g) => self.is_host(&g.elem),
            _ => false,
        }
    }

    /// The `Block` of `V<Block>`, which is a varying struct that is stored in memory.
    fn data_in_lanes<'t>(&self, ty: &'t Type) -> Option<&'t Type> {
        let of @ Type::Path(inner) = varying_element(ty)? else { return None };
        let name = inner.path.get_ident()?.to_string();
        let is_param = self.elements.contains(&name) || self.others.contains(&name);
        let is_data =
            name.starts_with(char::is_uppercase) && name != "Self" && !is_param && !self.is_element(of);
        is_data.then_some(of)
    }

    /// The `[u8; 4]` of `V<[u8; 4]>`, which is a varying array.
    fn array_in_lanes<'t>(&self, ty: &'t Type) -> Option<&'t syn::TypeArray> {
        match varying_element(ty)? {
            Type::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The device type that a type annotation denotes.
    pub fn device(&self, ty: &Type) -> TokenStream {
        if let Some(array) = self.array_in_lanes(ty) {
            let (elem, len) = (&array.elem, &array.len);
            let elem = self.device(&syn::parse_quote_spanned!(ty.span()=> V<#elem>));
            return quote_spanned!(ty.span()=> [#elem; #len]);
        }
        if let Some(data) = self.data_in_lanes(ty) {
            return quote_spanned!(ty.span()=> <#data as ::gcn_dsl::__private::Stored>::Value);
        }
        if let Some(of) = optional(ty).filter(|of| !self.is_host(of)) {
            let of = self.device(of);
            return quote_spanned!(ty.span()=> ::gcn_dsl::__private::Maybe<#of>);
        }
        if let Some(parts) = resulting(ty).filter(|_| !self.is_host(ty)) {
            let [of, error] = parts.map(|of| self.device(of));
            return quote_spanned!(ty.span()=> ::gcn_dsl::__private::Outcome<#of, #error>);
        }
        if let Some(Type::Ptr(p)) = varying_element(ty) {
            return pointer("LanePtr", p);
        }
        match ty {
            Type::Path(_) if self.is_element(ty) => quote_spanned!(ty.span()=> ::gcn_dsl::S<#ty>),
            Type::Array(a) => {
                let (elem, len) = (self.device(&a.elem), &a.len);
                quote_spanned!(ty.span()=> [#elem; #len])
            }
            Type::Tuple(t) => {
                let elems = t.elems.iter().map(|e| self.device(e));
                quote_spanned!(ty.span()=> (#(#elems,)*))
            }
            Type::Paren(p) => self.device(&p.elem),
            Type::Group(g) => self.device(&g.elem),
            Type::Ptr(p) => pointer("Ptr", p),
            _ => quote!(#ty),
        }
    }
}

/// True if the type contains one of these type parameters.
fn mentions(ty: &Type, names: &[String]) -> bool {
    let mut found = Mentions { names, found: false };
    found.visit_type(ty);
    found.found
}

/// Searches for type parameters that a value would determine.
struct Mentions<'n> {
    names: &'n [String],
    found: bool,
}

impl<'ast> Visit<'ast> for Mentions<'_> {
    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        let alone = path.qself.is_none().then(|| path.path.get_ident()).flatten();
        self.found |= alone.is_some_and(|name| self.names.iter().any(|n| name == n));
        // The arguments of the path; what stands before `::` is not inferred.
        self.visit_path(&path.path);
    }
}

/// The handle type of a pointer, uniform or varying.
fn pointer(what: &str, ty: &syn::TypePtr) -> TokenStream {
    let (elem, access) = (&ty.elem, if ty.mutability.is_some() { "Writable" } else { "ReadOnly" });
    let [what, access] = [what, access].map(|name| proc_macro2::Ident::new(name, ty.span()));
    quote_spanned!(ty.span()=> ::gcn_dsl::__private::#what<#elem, ::gcn_dsl::__private::#access>)
}

fn is_element_bound(bound: &TypeParamBound) -> bool {
    let TypeParamBound::Trait(bound) = bound else { return false };
    let last = bound.path.segments.last();
    last.is_some_and(|s| ELEMENT_BOUNDS.iter().any(|name| s.ident == name))
}
