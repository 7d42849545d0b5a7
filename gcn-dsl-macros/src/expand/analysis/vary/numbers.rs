//! Recognises expressions whose syntax alone shows that they are numbers.

use syn::{Block, Expr, Lit, Stmt};

use super::{Analysis, Shape};
use crate::ty::is_scalar;

impl Analysis {
    pub(super) fn ends_in_number(&self, block: &Block) -> bool {
        matches!(block.stmts.as_slice(), [Stmt::Expr(e, None)] if self.is_number(e))
    }

    /// True for a name that denotes numbers, such as an array of numbers, and for the elements and fields of such a
    /// name.
    pub(super) fn is_of_numbers(&self, e: &Expr) -> bool {
        match e {
            Expr::Index(e) => self.is_of_numbers(&e.expr),
            Expr::Field(e) => self.is_of_numbers(&e.base),
            Expr::Paren(e) => self.is_of_numbers(&e.expr),
            _ => self.name(e).is_some_and(|binding| binding.number),
        }
    }

    /// True for an expression that is certainly a number, or an array of numbers: only these can be made varying.
    pub(super) fn is_number(&self, e: &Expr) -> bool {
        match e {
            Expr::Lit(l) => !matches!(l.lit, Lit::Str(_)),
            Expr::Paren(e) => self.is_number(&e.expr),
            Expr::Group(e) => self.is_number(&e.expr),
            Expr::Unary(e) => !matches!(e.op, syn::UnOp::Deref(_)) && self.is_number(&e.expr),
            Expr::Cast(e) => !matches!(*e.ty, syn::Type::Ptr(_)),
            Expr::Binary(e) => self.is_number(&e.left) && self.is_number(&e.right),
            Expr::Array(e) => e.elems.iter().all(|e| self.is_element(e)),
            Expr::Repeat(e) => self.is_element(&e.expr),
            Expr::Index(e) => self.is_of_numbers(&e.expr),
            Expr::Path(p) => {
                if let Some(binding) = self.name(e) {
                    return binding.number
                        && matches!(binding.shape, Shape::Other | Shape::Varying | Shape::Asked(_));
                }
                let names: Vec<String> = p.path.segments.iter().map(|s| s.ident.to_string()).collect();
                match names.as_slice() {
                    [name] => name.starts_with(char::is_uppercase),
                    [.., ty, _] => is_scalar(ty) || self.known.listed.contains(ty) || self.elements.has(ty),
                    [] => false,
                }
            }
            Expr::If(e) => {
                let els = e.else_branch.as_ref().is_some_and(|(_, els)| self.is_number(els));
                els && self.ends_in_number(&e.then_branch)
            }
            Expr::Match(e) => e.arms.iter().all(|arm| self.is_number(&arm.body)),
            Expr::Block(e) => self.ends_in_number(&e.block),
            Expr::Field(e) => self.is_of_numbers(&e.base),
            _ => false,
        }
    }

    /// True for a number, and for a tuple of such elements. `e` is an element of an array.
    fn is_element(&self, e: &Expr) -> bool {
        match e {
            Expr::Tuple(e) => e.elems.iter().all(|e| self.is_element(e)),
            e => self.is_number(e),
        }
    }

    /// True for values that keep their types: device structs, whose fields have written types, closures and references.
    pub(super) fn is_whole(&self, e: &Expr) -> bool {
        match e {
            Expr::Struct(_) => self.members(e).is_none(),
            Expr::Closure(_) | Expr::Reference(_) => true,
            Expr::Paren(e) => self.is_whole(&e.expr),
            _ => false,
        }
    }
}
