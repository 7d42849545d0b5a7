//! Facts about functions, types and traits that follow from the items of one macro call.

use std::collections::{HashMap, HashSet};

use syn::{FnArg, Ident, Type};

use super::{Item, KernelFn, repr};
use crate::ty::Elements;

/// Sets of names. Each fact about a name applies wherever the macro call uses that name.
#[derive(Default)]
pub(crate) struct Known {
    /// Functions that the macro call declares, without methods.
    pub free: HashSet<String>,
    /// Device functions and methods that return `V<…>`.
    pub functions: HashSet<String>,
    /// Fields of device structs that are `V<…>`.
    pub fields: HashSet<String>,
    /// Device structs that are stored in memory (`#[repr(C)]`), with the types of their fields.
    pub data: HashMap<String, Vec<Type>>,
    /// Methods that exactly one of these structs has, and no other type, with the name of the struct.
    pub of_data: HashMap<String, String>,
    /// Those of the methods in `of_data` that return a struct stored in memory.
    pub of_lanes: HashSet<String>,
    /// Methods with `&mut self`.
    pub mutating: HashSet<String>,
    /// For functions and methods: for each parameter except `self`, its type if it is a `&mut V<…>` or a `&mut` of a tuple of such values.
    pub lends: HashMap<String, Vec<Option<Type>>>,
    /// For functions and methods: for each parameter except `self`, true if it is a device `Option`.
    pub options: HashMap<String, Vec<bool>>,
    /// For functions and methods: for each parameter except `self`, true if its element type is a type parameter.
    pub generics: HashMap<String, Vec<bool>>,
    /// For functions of traits, whose arguments the functions themselves do not convert: for each parameter except `self`, true
    /// if an argument converts to its type.
    pub of_traits: HashMap<String, Vec<bool>>,
    /// The variants of device enums in order, each with true if it has no fields.
    pub variants: HashMap<String, Vec<(String, bool)>>,
    /// Device enums that are stored in memory (`#[repr(u32)]`).
    pub listed: HashSet<String>,
    /// Device enums with type parameters.
    pub generic: HashSet<String>,
    /// Device enums whose values are varying.
    pub varying: HashSet<String>,
    /// Operators that the `impl`s of this macro call implement.
    pub operators: HashSet<String>,
}

/// Functions that return a lane's number, the built-in variables of the language: nearly every kernel starts with one, and nearly every
/// condition depends on one, so rustc is not asked whether they vary but told that they do. Under another name (`use … as`), or under a
/// path, rustc is asked as for any function. A function of one's own that is called by one of these names alone and gives anything else is
/// a compile error that says so (`gcn_dsl::__private::each_lanes_own`); no program changes its meaning.
const LANES_OWN: [&str; 3] = ["global_id", "local_id", "lane_id"];

impl Known {
    /// True for a call of such a function, if no other function of this macro call has its name.
    pub fn is_lanes_own(&self, function: &syn::Expr) -> bool {
        let syn::Expr::Path(path) = function else { return false };
        let Some(name) = path.path.get_ident() else { return false };
        LANES_OWN.iter().any(|own| name == own) && !self.free.contains(&name.to_string())
    }

    /// True for a struct that this macro call declares and that is stored in memory.
    pub fn is_data(&self, ty: &Type) -> bool {
        let Type::Path(path) = crate::ty::bare(ty) else { return false };
        path.path.get_ident().is_some_and(|name| self.data.contains_key(&name.to_string()))
    }

    /// True for an enum that this macro call declares and that is stored in memory.
    pub fn is_listed(&self, ty: &Type) -> bool {
        let Type::Path(path) = crate::ty::bare(ty) else { return false };
        path.path.get_ident().is_some_and(|name| self.listed.contains(&name.to_string()))
    }

    /// True for varying types.
    pub fn varies(&self, ty: &Type) -> bool {
        let name = match crate::ty::bare(ty) {
            Type::Path(p) => p.path.get_ident().map(ToString::to_string),
            _ => None,
        };
        Elements::default().is_varying(ty) || name.is_some_and(|name| self.varying.contains(&name))
    }
}

/// `None` for `self`; for another parameter, the type that it borrows mutably, if any.
fn lends(input: &FnArg) -> Option<Option<Type>> {
    let FnArg::Typed(typed) = input else { return None };
    Some(match &*typed.ty {
        Type::Reference(r) if r.mutability.is_some() && !matches!(&*r.elem, Type::Slice(_)) => {
            Some((*r.elem).clone())
        }
        _ => None,
    })
}

/// `None` for `self`; for another parameter, true if it is a device `Option`.
fn takes_option(input: &FnArg) -> Option<bool> {
    let FnArg::Typed(typed) = input else { return None };
    let host = typed.attrs.iter().any(|a| a.path().is_ident("host"));
    Some(!host && crate::ty::optional(&typed.ty).is_some())
}

/// `None` for `self`; for another parameter, true if its type is `V<T>`, `S<T>` or `T`, where `T` is a type parameter.
fn takes_number(input: &FnArg, elements: &Elements) -> Option<bool> {
    let FnArg::Typed(typed) = input else { return None };
    let ty = crate::ty::handled(&typed.ty);
    Some(matches!(ty, Type::Path(p) if p.path.get_ident().is_some_and(|name| elements.is_parameter(name))))
}

/// `None` for `self`; for another parameter, true if arguments convert to its type and no type is inferred from them.
fn takes_converted(input: &FnArg, elements: &Elements) -> Option<bool> {
    let FnArg::Typed(typed) = input else { return None };
    Some(typed.attrs.is_empty() && elements.converts(&typed.ty) && !elements.mentions_param(&typed.ty))
}

/// The operator that an `impl` implements.
fn operator(item: &Item) -> Option<String> {
    let Item::Impl(i) = item else { return None };
    let (_, path, _) = i.frame.trait_.as_ref()?;
    crate::operator::key(path, crate::operator::right(path)?, &i.frame.self_ty)
}

/// The type's name; `None` unless the type is a plain name.
pub(super) fn name_of(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(p) => p.path.get_ident().map(ToString::to_string),
        _ => None,
    }
}

/// The methods of an `impl` that return the type that the `impl` is for.
fn gives_itself(item: &Item) -> Vec<String> {
    let Item::Impl(i) = item else { return Vec::new() };
    let itself = |f: &&KernelFn| f.gives(name_of(&i.frame.self_ty).as_deref());
    i.functions.iter().filter(itself).map(|f| f.sig.ident.to_string()).collect()
}

/// The methods of structs stored in memory, with the struct's name, except those whose name is also that of another
/// type's method.
fn methods_of_data(items: &[Item], known: &Known) -> HashMap<String, String> {
    let (mut found, mut others) = (HashMap::new(), HashSet::new());
    for item in items {
        let (of, functions): (Option<String>, Vec<&KernelFn>) = match item {
            Item::Impl(i) => {
                let own = i.frame.trait_.is_none().then(|| name_of(&i.frame.self_ty)).flatten();
                (own.filter(|name| known.data.contains_key(name)), i.functions.iter().collect())
            }
            Item::Trait(t) => (None, t.functions.iter().map(|(f, _)| f).collect()),
            _ => continue,
        };
        for name in functions.into_iter().map(|f| f.sig.ident.to_string()) {
            match &of {
                Some(of) if found.get(&name).is_none_or(|other| other == of) => {
                    found.insert(name, of.clone());
                }
                _ => {
                    others.insert(name);
                }
            }
        }
    }
    found.retain(|name, _| !others.contains(name));
    found
}

/// A fact about a name holds only if all functions and fields of that name agree.
pub(super) fn known(items: &[Item]) -> Known {
    let (mut known, mut others) = (Known::default(), Known::default());
    for item in items {
        let Item::Enum(e) = item else { continue };
        let variants =
            e.variants.iter().map(|v| (v.ident.to_string(), matches!(v.fields, syn::Fields::Unit)));
        known.variants.insert(e.ident.to_string(), variants.collect());
        if repr(e).is_some() {
            known.listed.insert(e.ident.to_string());
            continue;
        }
        if !e.generics.params.is_empty() {
            known.generic.insert(e.ident.to_string());
        }
        let mut fields = e.variants.iter().flat_map(|v| &v.fields).peekable();
        if fields.peek().is_none() || fields.any(|f| Elements::default().is_varying(&f.ty)) {
            known.varying.insert(e.ident.to_string());
        }
    }
    let enums = Known { varying: known.varying.clone(), ..Known::default() };
    let note =
        |names: &mut HashSet<String>, others: &mut HashSet<String>, name: &Ident, ty: Option<&syn::Type>| {
            let varies = ty.is_some_and(|ty| enums.varies(ty));
            if varies { names } else { others }.insert(name.to_string());
        };
    let mut function = |f: &KernelFn, around: &Elements, of_trait: bool| {
        let ty = match &f.sig.output {
            syn::ReturnType::Type(_, ty) => Some(&**ty),
            syn::ReturnType::Default => None,
        };
        note(&mut known.functions, &mut others.functions, &f.sig.ident, ty);
        if f.mutates_self() {
            known.mutating.insert(f.sig.ident.to_string());
        }
        let lent: Vec<Option<Type>> = f.sig.inputs.iter().filter_map(lends).collect();
        if lent.iter().any(Option::is_some) {
            known.lends.insert(f.sig.ident.to_string(), lent);
        }
        let options: Vec<bool> = f.sig.inputs.iter().filter_map(takes_option).collect();
        if options.contains(&true) {
            known.options.insert(f.sig.ident.to_string(), options);
        }
        let elements = around.with(&f.sig.generics);
        let numbers: Vec<bool> = f.sig.inputs.iter().filter_map(|i| takes_number(i, &elements)).collect();
        // If several functions have this name, the fact must be true for all of them.
        let seen = known.generics.entry(f.sig.ident.to_string()).or_insert_with(|| numbers.clone());
        *seen = seen.iter().zip(numbers).map(|(a, b)| *a && b).collect();
        let converted = f.sig.inputs.iter().filter_map(|i| takes_converted(i, &elements));
        let converted: Vec<bool> = converted.map(|converts| of_trait && converts).collect();
        let seen = known.of_traits.entry(f.sig.ident.to_string()).or_insert_with(|| converted.clone());
        *seen = seen.iter().zip(converted).map(|(a, b)| *a && b).collect();
    };
    for item in items {
        match item {
            Item::Function(f) => function(f, &Elements::default(), false),
            Item::Impl(i) => {
                let around = crate::ty::elements(&i.frame.generics);
                // In `impl From<V<f32>> for P`, the argument's type decides which `impl` is meant.
                let decided = |path: &syn::Path| path.segments.iter().all(|s| s.arguments.is_none());
                let of_trait = i.frame.trait_.as_ref().is_some_and(|(_, path, _)| decided(path));
                i.functions.iter().for_each(|f| function(f, &around, of_trait));
            }
            Item::Trait(t) => {
                let around = crate::ty::elements(&t.frame.generics);
                t.functions.iter().for_each(|(f, _)| function(f, &around, true));
            }
            _ => {}
        }
    }
    for item in items {
        let Item::Struct(s) = item else { continue };
        if s.attrs.iter().any(|a| a.path().is_ident("repr")) {
            known.data.insert(s.ident.to_string(), s.fields.iter().map(|f| f.ty.clone()).collect());
        }
        for field in &s.fields {
            if let Some(name) = &field.ident {
                note(&mut known.fields, &mut others.fields, name, Some(&field.ty));
            }
        }
    }
    known.free = items
        .iter()
        .filter_map(|item| match item {
            Item::Function(f) => Some(f.sig.ident.to_string()),
            _ => None,
        })
        .collect();
    known.of_traits.retain(|_, converted| converted.contains(&true));
    known.of_data = methods_of_data(items, &known);
    known.of_lanes = items.iter().flat_map(gives_itself).collect();
    known.operators = items.iter().filter_map(operator).collect();
    known.functions.retain(|name| !others.functions.contains(name));
    known.fields.retain(|name| !others.fields.contains(name));
    known
}

/// Makes fields of device structs uniform if their type is an enum stored in memory, like fields with a plain scalar
/// type.
pub(super) fn uniform_fields(item: &mut Item, known: &Known) {
    let fields: Vec<&mut syn::Field> = match item {
        Item::Struct(s) if !known.data.contains_key(&s.ident.to_string()) => s.fields.iter_mut().collect(),
        Item::Enum(e) => e.variants.iter_mut().flat_map(|v| v.fields.iter_mut()).collect(),
        _ => return,
    };
    for field in fields {
        if known.is_listed(&field.ty) {
            let ty = &field.ty;
            field.ty = syn::parse_quote_spanned!(syn::spanned::Spanned::span(ty)=> ::gcn_dsl::S<#ty>);
        }
    }
}
