//! Attributes in a kernel's body.

use syn::{Attribute, Expr, Meta};

use super::Cx;

/// The attributes of an expression that the expansion takes apart. Others keep theirs.
fn of(e: &Expr) -> &[Attribute] {
    match e {
        Expr::Assign(syn::ExprAssign { attrs, .. })
        | Expr::Binary(syn::ExprBinary { attrs, .. })
        | Expr::Block(syn::ExprBlock { attrs, .. })
        | Expr::Call(syn::ExprCall { attrs, .. })
        | Expr::ForLoop(syn::ExprForLoop { attrs, .. })
        | Expr::If(syn::ExprIf { attrs, .. })
        | Expr::Index(syn::ExprIndex { attrs, .. })
        | Expr::Loop(syn::ExprLoop { attrs, .. })
        | Expr::Match(syn::ExprMatch { attrs, .. })
        | Expr::MethodCall(syn::ExprMethodCall { attrs, .. })
        | Expr::Unary(syn::ExprUnary { attrs, .. })
        | Expr::While(syn::ExprWhile { attrs, .. }) => attrs,
        _ => &[],
    }
}

pub(crate) fn is_comptime(attr: &Attribute) -> bool {
    attr.path().is_ident("comptime")
}

pub(crate) fn is_unroll(attr: &Attribute) -> bool {
    attr.path().is_ident("unroll")
}

pub(crate) fn is_schedule(attr: &Attribute) -> bool {
    attr.path().is_ident("schedule")
}

/// True for `#[schedule(manual)]`; an error for any other argument.
pub(crate) fn is_manual(attr: &Attribute) -> syn::Result<bool> {
    if !is_schedule(attr) {
        return Ok(false);
    }
    let what = "write `#[schedule(manual)]`: in the block the instructions keep the written order";
    let mode: syn::Ident = attr.parse_args().map_err(|_| syn::Error::new_spanned(attr, what))?;
    if mode == "manual" { Ok(true) } else { Err(syn::Error::new_spanned(mode, what)) }
}

impl Cx<'_> {
    /// Refuses attributes that would have no effect.
    pub fn attributes(&mut self, e: &Expr) {
        for attr in of(e) {
            let known = match e {
                Expr::ForLoop(_) => is_unroll(attr),
                Expr::Block(_) if is_schedule(attr) => {
                    if let Err(error) = is_manual(attr) {
                        self.errors.push(error);
                    }
                    continue;
                }
                Expr::If(_) | Expr::Block(_) => is_comptime(attr),
                _ => false,
            };
            if !known {
                let what = "this attribute has no effect here; a kernel's body has `#[unroll]` before `for` and `#[schedule(manual)]` \
                            before a block, lints are allowed before `fn`";
                self.errors.at(attr, what);
            } else if !matches!(attr.meta, Meta::Path(_)) {
                self.errors.at(attr, "`#[unroll]` takes no arguments: the loop is unrolled completely");
            }
        }
    }
}
