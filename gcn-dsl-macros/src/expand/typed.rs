//! Literals inside of tuples, arrays and branches: each takes the type that is written for it.
//!
//! A tuple converts member by member, but rustc gives the elements of an array, and both values of an `if`, one type before
//! anything converts. Where the type is written, its parts go to the parts of the expression instead.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Block, Expr, Lit, Stmt, Type, UnOp, parse_quote_spanned};

use super::{Cx, lang};
use crate::ty::Elements;

/// The expression with `ty` given to its parts.
pub(crate) fn typed(e: &Expr, ty: &Type, elements: &Elements) -> Expr {
    let mut e = e.clone();
    Typing { elements }.expr(&mut e, ty, Inside::Nothing);
    e
}

/// The block with `ty` given to the parts of its value.
pub(crate) fn typed_block(block: &Block, ty: &Type, elements: &Elements) -> Block {
    let mut block = block.clone();
    Typing { elements }.tail(&mut block, ty, Inside::Nothing);
    block
}

/// What is around an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// The whole, which converts anyway.
    Nothing,
    /// A branch or a tuple: a value of the device joins or converts, a literal takes the type.
    Branch,
    /// An array, whose elements have one type before they convert.
    Array,
}

struct Typing<'e> {
    elements: &'e Elements,
}

impl Typing<'_> {
    fn expr(&self, e: &mut Expr, ty: &Type, inside: Inside) {
        match (&mut *e, ty) {
            (_, Type::Paren(t)) => self.expr(e, &t.elem, inside),
            (_, Type::Group(t)) => self.expr(e, &t.elem, inside),
            (Expr::Paren(p), _) => self.expr(&mut p.expr, ty, inside),
            (Expr::Group(g), _) => self.expr(&mut g.expr, ty, inside),
            (Expr::Tuple(x), Type::Tuple(t)) if x.elems.len() == t.elems.len() => {
                let members = x.elems.iter_mut().zip(&t.elems);
                members.for_each(|(e, ty)| self.expr(e, ty, inside.at_least_branch()));
            }
            (Expr::Array(x), Type::Array(t)) => {
                x.elems.iter_mut().for_each(|e| self.expr(e, &t.elem, Inside::Array));
            }
            (Expr::Repeat(x), Type::Array(t)) => self.expr(&mut x.expr, &t.elem, Inside::Array),
            (Expr::If(x), _) => {
                let branch = inside.at_least_branch();
                self.tail(&mut x.then_branch, ty, branch);
                if let Some((_, els)) = &mut x.else_branch {
                    self.expr(els, ty, branch);
                }
            }
            (Expr::Match(x), _) => {
                x.arms.iter_mut().for_each(|arm| self.expr(&mut arm.body, ty, inside.at_least_branch()));
            }
            (Expr::Block(b), _) if b.attrs.is_empty() && b.label.is_none() => {
                self.tail(&mut b.block, ty, inside);
            }
            _ => self.leaf(e, ty, inside),
        }
    }

    fn tail(&self, block: &mut Block, ty: &Type, inside: Inside) {
        if let Some(Stmt::Expr(e, None)) = block.stmts.last_mut() {
            self.expr(e, ty, inside);
        }
    }

    fn leaf(&self, e: &mut Expr, ty: &Type, inside: Inside) {
        let takes = match inside {
            Inside::Nothing => false,
            Inside::Branch => is_literal(e),
            Inside::Array => !super::exit::leaves(e),
        };
        if !takes || self.elements.is_host(ty) || self.elements.mentions_device_param(ty) {
            return;
        }
        let (span, device) = (e.span(), self.elements.device(ty));
        *e = parse_quote_spanned!(span=> ::gcn_dsl::lang::annotate::<#device, _>(#e));
    }
}

impl Inside {
    /// A branch, unless it is more.
    fn at_least_branch(self) -> Inside {
        if self == Inside::Array { self } else { Inside::Branch }
    }
}

/// A number without a name.
pub(super) fn is_number(e: &Expr) -> bool {
    match e {
        Expr::Lit(l) => matches!(l.lit, Lit::Int(_) | Lit::Float(_)),
        Expr::Unary(u) if matches!(u.op, UnOp::Neg(_)) => is_number(&u.expr),
        _ => false,
    }
}

/// A literal, with or without a sign.
fn is_literal(e: &Expr) -> bool {
    match e {
        Expr::Lit(l) => !matches!(l.lit, Lit::Str(_)),
        Expr::Unary(u) if matches!(u.op, UnOp::Neg(_)) => is_literal(&u.expr),
        _ => false,
    }
}

impl Cx<'_> {
    /// The value of a field: its type is rustc's to know, and each part of a tuple or array converts to its own.
    pub(super) fn field_value(&mut self, e: &Expr) -> TokenStream {
        match e {
            Expr::Paren(p) => self.field_value(&p.expr),
            Expr::Group(g) => self.field_value(&g.expr),
            Expr::Tuple(t) => {
                let members = t.elems.iter().map(|e| self.field_value(e));
                let members: Vec<TokenStream> = members.collect();
                quote_spanned!(e.span()=> (#(#members,)*))
            }
            Expr::Array(a) => {
                let elements = a.elems.iter().map(|e| self.field_value(e));
                let elements: Vec<TokenStream> = elements.collect();
                quote_spanned!(e.span()=> [#(#elements),*])
            }
            Expr::Repeat(r) => {
                let (element, len) = (self.field_value(&r.expr), &r.len);
                quote_spanned!(e.span()=> [#element; #len])
            }
            _ => {
                let (value, call) = (self.expr(e), lang("field", e.span()));
                quote_spanned!(e.span()=> #call(#value))
            }
        }
    }

    /// The arguments of a tuple struct that the macro knows, which are its fields.
    pub(super) fn constructed(&mut self, function: &Expr) -> bool {
        let Expr::Path(p) = function else { return false };
        let Some(last) = p.path.segments.last() else { return false };
        let alone = p.path.segments.len() == 1 && self.kind(&last.ident).is_none();
        alone && (self.tuple_structs.iter().any(|s| last.ident == s) || last.ident == "Self")
    }
}
