//! Operators and their traits, such as `Mul<V<f32>>`.

use quote::ToTokens;
use syn::{BinOp, GenericArgument, Path, PathArguments, PathSegment, Type};

use crate::ty;

/// The traits of binary operators.
const OPERATORS: [&str; 10] = ["Add", "Sub", "Mul", "Div", "Rem", "BitAnd", "BitOr", "BitXor", "Shl", "Shr"];

/// The type argument of an operator's trait, which is the type of the right operand.
pub(crate) fn right(of: &Path) -> Option<&Type> {
    argument(of.segments.last().filter(|s| OPERATORS.iter().any(|name| s.ident == name))?)
}

fn argument(of: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(args) = &of.arguments else { return None };
    match args.args.first() {
        Some(GenericArgument::Type(ty)) => Some(ty::bare(ty)),
        _ => None,
    }
}

/// A key for an operator and the types of its operands.
pub(crate) fn key(of: &Path, right: impl ToTokens, left: &Type) -> Option<String> {
    let name = &of.segments.last()?.ident;
    Some(format!("{left} {name} {right}", left = left.to_token_stream(), right = right.to_token_stream()))
}

/// The name of an operator, and the types of its left and right operands.
pub(crate) type Sides = (String, [String; 2]);

/// For the trait of a compound assignment, such as `AddAssign<R>`: the corresponding operator `Add`, with the operand
/// types.
pub(crate) fn of_assignment(of: &Path, left: &Type) -> Option<Sides> {
    named(of, "Assign", left)
}

/// The operator that an `impl` implements, with the operand types.
pub(crate) fn of_impl(of: &Path, left: &Type) -> Option<Sides> {
    named(of, "", left)
}

/// The operator that the path names, without `suffix`.
fn named(of: &Path, suffix: &str, left: &Type) -> Option<Sides> {
    let last = of.segments.last()?;
    let name = last.ident.to_string();
    let name = name.strip_suffix(suffix).filter(|name| OPERATORS.contains(name))?;
    Some((name.to_owned(), sides(last, left)))
}

/// By default the right operand has the type of the left.
fn sides(of: &PathSegment, left: &Type) -> [String; 2] {
    let right = argument(of).filter(|right| !matches!(right, Type::Path(p) if p.path.is_ident("Self")));
    [left, right.unwrap_or(left)].map(|ty| ty.to_token_stream().to_string())
}

/// True for compound assignment operators, such as `+=`.
pub(crate) fn is_compound(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}
