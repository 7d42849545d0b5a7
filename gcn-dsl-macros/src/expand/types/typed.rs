//! Applies a type annotation to the literals inside tuples, arrays and branches.
//!
//! A tuple is converted member by member, but rustc unifies the types of an array's elements, and of the two values of
//! an `if`, before any conversion. So the parts of a type annotation are applied to the parts of the expression.

use std::borrow::Cow;

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, Lit, Stmt, Type, UnOp, parse_quote_spanned};

use crate::expand::{Cx, lang};
use crate::syntax::{leaves, name_of};
use crate::ty::Elements;

/// The expression with the parts of `ty` applied to its parts.
pub(crate) fn typed(e: &Expr, ty: &Type, elements: &Elements) -> Expr {
    let mut e = e.clone();
    Typing { elements }.expr(&mut e, ty, Inside::Nothing);
    e
}

/// As [`typed`], for the value of a `return`: the types of its literals do not depend on another value.
pub(crate) fn typed_exit(e: &Expr, ty: &Type, elements: &Elements) -> Expr {
    let mut e = e.clone();
    Typing { elements }.expr(&mut e, ty, Inside::Branch);
    e
}

/// The block with the parts of `ty` applied to its value.
pub(crate) fn typed_block(block: &Block, ty: &Type, elements: &Elements) -> Block {
    let mut block = block.clone();
    Typing { elements }.tail(&mut block, ty, Inside::Nothing);
    block
}

/// What contains a subexpression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// Nothing: it is the whole expression, which is converted in any case.
    Nothing,
    /// A branch or a tuple. Device values are joined or converted; literals take the type.
    Branch,
    /// An array. Its elements are unified before they are converted.
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
            // All elements are annotated, and not only literals, because rustc cannot unify a uniform element with a
            // varying one.
            (Expr::Array(x), Type::Array(t)) => {
                x.elems.iter_mut().for_each(|e| self.expr(e, &t.elem, Inside::Array));
            }
            (Expr::Repeat(x), Type::Array(t)) => self.expr(&mut x.expr, &t.elem, Inside::Array),
            (Expr::Call(x), Type::Path(_)) if held(x, ty).is_some() => {
                if let (Some(ty), Some(value)) = (held(x, ty), x.args.first_mut()) {
                    self.expr(value, ty, inside.at_least_branch());
                }
            }
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
            Inside::Array => !leaves(e),
        };
        // A host type follows rustc's rules, and no value converts to a type parameter that stands for a device type.
        if !takes || self.elements.is_host(ty) || self.elements.mentions_device_param(ty) {
            return;
        }
        let (span, device) = (e.span(), self.elements.device(ty));
        let value = number(e, self.elements).into_owned();
        *e = parse_quote_spanned!(span=> ::gcn_dsl::__private::annotate::<#device, _>(#value));
    }
}

impl Inside {
    /// `Branch`, unless the context is already `Array`.
    fn at_least_branch(self) -> Inside {
        if self == Inside::Array { self } else { Inside::Branch }
    }
}

/// The expression with its literals marked. The types of marked literals are inferred from their destination.
pub(crate) fn literals(e: &Expr, elements: &Elements) -> Expr {
    let mut e = e.clone();
    as_literals(&mut e, elements);
    e
}

/// As [`literals`], with the marks for code that has no type parameters.
pub(crate) fn inferred(e: &Expr) -> Expr {
    literals(e, &Elements::default())
}

/// Marks a number next to values whose element type is a type parameter. Without such a parameter, rustc infers the
/// number's type by itself.
pub(in crate::expand) fn number<'e>(e: &'e Expr, elements: &Elements) -> Cow<'e, Expr> {
    if elements.are_generic() && is_bare_number(e) {
        Cow::Owned(literals(e, elements))
    } else {
        Cow::Borrowed(e)
    }
}

/// The `if` or `match` with the literals marked, if the value of every branch is a number. rustc then infers one type
/// for all branches.
pub(in crate::expand) fn branches_of_numbers(e: impl FnOnce() -> Expr, elements: &Elements) -> Option<Expr> {
    if !elements.are_generic() {
        return None;
    }
    let mut e = e();
    infer_branches(&mut e).then_some(e)
}

/// Marks the literals at the ends of the branches. Returns true if the values of all branches are numbers.
fn infer_branches(e: &mut Expr) -> bool {
    let tail = |block: &mut Block| match block.stmts.last_mut() {
        Some(Stmt::Expr(e, None)) => infer_branches(e),
        _ => false,
    };
    match e {
        Expr::If(x) => match &mut x.else_branch {
            // A value other than a number determines the type by itself.
            Some((_, els)) => tail(&mut x.then_branch) && infer_branches(els),
            None => false,
        },
        Expr::Match(x) => x.arms.iter_mut().all(|arm| infer_branches(&mut arm.body)),
        Expr::Block(b) if b.attrs.is_empty() && b.label.is_none() => tail(&mut b.block),
        _ if is_bare_number(e) => {
            *e = inferred(e);
            true
        }
        _ => false,
    }
}

/// True if the number contains a float literal.
fn is_real(e: &Expr) -> bool {
    match e {
        Expr::Lit(l) => matches!(l.lit, Lit::Float(_)),
        Expr::Unary(u) => is_real(&u.expr),
        Expr::Paren(p) => is_real(&p.expr),
        Expr::Group(g) => is_real(&g.expr),
        Expr::Binary(b) => is_real(&b.left),
        _ => false,
    }
}

/// True if [`literals`] changes the expression.
pub(crate) fn has_literals(e: &Expr) -> bool {
    match e {
        Expr::Paren(p) => has_literals(&p.expr),
        Expr::Group(g) => has_literals(&g.expr),
        Expr::Tuple(t) => t.elems.iter().any(has_literals),
        Expr::Array(a) => !a.elems.is_empty() && a.elems.iter().all(is_of_literals),
        Expr::Repeat(r) => has_literals(&r.expr),
        Expr::Call(c) if is_holder(c) => c.args.iter().any(has_literals),
        _ => is_bare_number(e),
    }
}

/// True for a number that [`literals`] marks, and for an array of nothing else.
fn is_of_literals(e: &Expr) -> bool {
    match e {
        Expr::Array(a) => !a.elems.is_empty() && a.elems.iter().all(is_of_literals),
        Expr::Repeat(r) => is_of_literals(&r.expr),
        e => is_bare_number(e),
    }
}

fn as_literals(e: &mut Expr, elements: &Elements) {
    let each = |e: &mut Expr| as_literals(e, elements);
    match e {
        Expr::Paren(p) => each(&mut p.expr),
        Expr::Group(g) => each(&mut g.expr),
        Expr::Tuple(t) => t.elems.iter_mut().for_each(each),
        Expr::Array(a) if a.elems.iter().all(is_of_literals) => a.elems.iter_mut().for_each(each),
        Expr::Repeat(r) => each(&mut r.expr),
        Expr::Call(c) if is_holder(c) => c.args.iter_mut().for_each(each),
        Expr::Block(b) if b.attrs.is_empty() && b.label.is_none() => {
            if let Some(Stmt::Expr(e, None)) = b.block.stmts.last_mut() {
                each(e);
            }
        }
        _ if is_bare_number(e) => {
            // If there are type parameters, integer and float literals are converted by different trait bounds, so the
            // kind has to be stated.
            let name = match (elements.are_generic(), is_real(e)) {
                (false, _) => "literal",
                (true, true) => "real",
                (true, false) => "whole",
            };
            let (span, name) = (e.span(), Ident::new(name, e.span()));
            *e = parse_quote_spanned!(span=> ::gcn_dsl::__private::#name(#e));
        }
        _ => {}
    }
}

/// True for a number without a suffix and for an expression of such numbers alone.
pub(in crate::expand) fn is_bare_number(e: &Expr) -> bool {
    match e {
        Expr::Lit(l) => match &l.lit {
            Lit::Int(i) => i.suffix().is_empty(),
            Lit::Float(f) => f.suffix().is_empty(),
            _ => false,
        },
        Expr::Unary(u) => matches!(u.op, UnOp::Neg(_)) && is_bare_number(&u.expr),
        Expr::Paren(p) => is_bare_number(&p.expr),
        Expr::Group(g) => is_bare_number(&g.expr),
        Expr::Binary(b) => is_arithmetic(&b.op) && is_bare_number(&b.left) && is_bare_number(&b.right),
        _ => false,
    }
}

/// The right operand of a shift. An untyped number becomes a `u32`, since rustc cannot choose among the types that a
/// shift count may have.
pub(in crate::expand) fn shift_count(e: &Expr, count: TokenStream) -> TokenStream {
    match is_bare_number(e) {
        // The type is fixed, since a count may have any integer type.
        true => quote_spanned!(e.span()=> (#count as u32)),
        false => count,
    }
}

/// True for `+ - * / % & | ^`.
pub(in crate::expand) fn is_arithmetic(op: &BinOp) -> bool {
    use BinOp::{Add, BitAnd, BitOr, BitXor, Div, Mul, Rem, Sub};
    matches!(op, Add(_) | Sub(_) | Mul(_) | Div(_) | Rem(_) | BitAnd(_) | BitOr(_) | BitXor(_))
}

/// True for a number literal.
pub(in crate::expand) fn is_number(e: &Expr) -> bool {
    match e {
        Expr::Lit(l) => matches!(l.lit, Lit::Int(_) | Lit::Float(_)),
        Expr::Unary(u) if matches!(u.op, UnOp::Neg(_)) => is_number(&u.expr),
        _ => false,
    }
}

/// True for `Some(x)`, `Ok(x)` and `Err(x)`.
fn is_holder(call: &syn::ExprCall) -> bool {
    let name = name_of(&call.func);
    call.args.len() == 1 && name.is_some_and(|name| ["Some", "Ok", "Err"].iter().any(|n| name == n))
}

/// The type that the argument of this `Some`, `Ok` or `Err` should have, if the whole has the type `ty`.
fn held<'t>(call: &syn::ExprCall, ty: &'t Type) -> Option<&'t Type> {
    let name = name_of(&call.func).filter(|_| is_holder(call))?;
    match name.to_string().as_str() {
        "Some" => crate::ty::optional(ty),
        "Ok" => crate::ty::resulting(ty).map(|[of, _]| of),
        _ => crate::ty::resulting(ty).map(|[_, error]| error),
    }
}

/// True for a literal, with or without a sign.
fn is_literal(e: &Expr) -> bool {
    match e {
        Expr::Lit(l) => !matches!(l.lit, Lit::Str(_)),
        Expr::Unary(u) if matches!(u.op, UnOp::Neg(_)) => is_literal(&u.expr),
        _ => false,
    }
}

impl Cx<'_> {
    /// Expands the value of a field. rustc knows the field's type, to whose parts the parts of a tuple or array are
    /// converted.
    pub(in crate::expand) fn field_value(&mut self, e: &Expr) -> TokenStream {
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
                let number = number(e, &self.elements).into_owned();
                let (value, call) = (self.expr(&number), lang("field", e.span()));
                quote_spanned!(e.span()=> #call(#value))
            }
        }
    }

    /// True for the constructor of a known tuple struct, whose arguments are its fields.
    pub(in crate::expand) fn constructed(&mut self, function: &Expr) -> bool {
        let Expr::Path(p) = function else { return false };
        let Some(last) = p.path.segments.last() else { return false };
        let alone = p.path.segments.len() == 1 && self.kind(&last.ident).is_none();
        alone && (self.tuple_structs.iter().any(|s| last.ident == s) || last.ident == "Self")
    }
}
