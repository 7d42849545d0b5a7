//! The traits of operators, `Mul<V<f32>>`.

use quote::ToTokens;
use syn::{GenericArgument, Path, PathArguments, Type};

use crate::ty;

/// Operators of two values.
const OPERATORS: [&str; 10] = ["Add", "Sub", "Mul", "Div", "Rem", "BitAnd", "BitOr", "BitXor", "Shl", "Shr"];

/// The type on the right of an operator's trait.
pub(crate) fn right(of: &Path) -> Option<&Type> {
    let last = of.segments.last().filter(|s| OPERATORS.iter().any(|name| s.ident == name))?;
    let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
    match args.args.first() {
        Some(GenericArgument::Type(ty)) => Some(ty::bare(ty)),
        _ => None,
    }
}

/// An operator by its name and the types of its sides.
pub(crate) fn key(of: &Path, right: impl ToTokens, left: &Type) -> Option<String> {
    let name = &of.segments.last()?.ident;
    Some(format!("{left} {name} {right}", left = left.to_token_stream(), right = right.to_token_stream()))
}

/// What `a += b` of a type needs, for the trait `AddAssign` of that type: `Add`, and the type.
pub(crate) fn of_assignment(of: &Path, left: &Type) -> Option<(String, String)> {
    let name = of.segments.last()?.ident.to_string();
    let plain = name.strip_suffix("Assign").filter(|plain| OPERATORS.contains(plain))?;
    Some((plain.to_owned(), left.to_token_stream().to_string()))
}

/// An operator that an `impl` is for, and the type on its left.
pub(crate) fn with_left(of: &Path, left: &Type) -> Option<(String, String)> {
    let name = of.segments.last()?.ident.to_string();
    OPERATORS.contains(&&*name).then(|| (name, left.to_token_stream().to_string()))
}
