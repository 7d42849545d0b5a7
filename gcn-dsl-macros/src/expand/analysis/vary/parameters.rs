//! Derives the shapes of parameters from their types.

use syn::{FnArg, Pat, Type, parse_quote};

use super::{Analysis, Binding, Shape};
use crate::parse::{KernelFn, Known};
use crate::ty::{Elements, bare, is_handle};

/// True for numbers, for arrays and tuples of numbers, and for structs that are stored in memory.
fn of_numbers(ty: &Type, elements: &Elements, known: &Known) -> bool {
    match bare(ty) {
        Type::Array(array) => of_numbers(&array.elem, elements, known),
        Type::Tuple(tuple) => tuple.elems.iter().all(|ty| of_numbers(ty, elements, known)),
        ty => elements.is_element(ty) || known.is_data(ty),
    }
}

pub(super) fn parameter(input: &FnArg, elements: &Elements, known: &Known) -> Option<Binding> {
    let FnArg::Typed(typed) = input else { return None };
    let Pat::Ident(name) = &*typed.pat else { return None };
    let (shape, number) = match bare(&typed.ty) {
        Type::Reference(r) => match (bare(&r.elem), r.mutability) {
            // A slice of device values is a list of registers, not memory.
            (Type::Slice(s), None) if elements.is_varying(&s.elem) => (Shape::Varying, false),
            (Type::Slice(s), None) if is_handle(&s.elem) => (Shape::Other, false),
            (Type::Slice(s), None) => (Shape::ReadOnly, of_numbers(&s.elem, elements, known)),
            (Type::Slice(_), Some(_)) => (Shape::Memory, false),
            _ if elements.is_varying(&r.elem) => (Shape::Varying, false),
            _ => (Shape::Other, false),
        },
        Type::Ptr(_) => (Shape::Memory, false),
        ty if elements.is_varying(ty) => (Shape::Varying, true),
        ty => (Shape::Other, of_numbers(ty, elements, known)),
    };
    Some(Binding {
        name: name.ident.to_string(),
        shape,
        number,
        variable: None,
        members: Vec::new(),
        value: None,
    })
}

impl Analysis {
    /// Adds questions for the parameters whose types are declared elsewhere.
    pub(super) fn ask_for_parameters(&mut self, function: &KernelFn) {
        for input in &function.sig.inputs {
            let FnArg::Typed(typed) = input else { continue };
            let Pat::Ident(pat) = &*typed.pat else { continue };
            let name = &pat.ident;
            let of = match bare(&typed.ty) {
                Type::Reference(r) => bare(&r.elem),
                ty => ty,
            };
            let open = match of {
                Type::Path(p) => p.path.segments.last().is_some_and(|s| s.ident != "AllLanes"),
                Type::Tuple(_) | Type::Array(_) => true,
                _ => false,
            };
            let host = typed.attrs.iter().any(|a| a.path().is_ident("host")) || self.elements.is_host(of);
            let shape = self.ask(&parse_quote!(#name));
            let binding = self.names.iter_mut().rev().find(|b| name == &b.name);
            if let Some(binding) = binding.filter(|b| b.shape == Shape::Other && !b.number)
                && open
                && !host
                && !is_handle(of)
            {
                binding.shape = shape;
            }
        }
    }
}
