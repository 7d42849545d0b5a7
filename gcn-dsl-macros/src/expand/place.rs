//! Assignments.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprAssign, ExprBinary, ExprIndex, Ident, Pat};

use super::{Cx, lang};

/// What an assignment writes to.
enum Place<'e> {
    /// A device variable.
    Variable(&'e Ident),
    /// An element of an array variable: root and indices, outermost first.
    Element(&'e Ident, Vec<&'e Expr>),
    /// Memory: what is indexed, and by what.
    Memory(&'e Expr, &'e Expr),
    /// `*p`.
    Deref(&'e Expr),
}

/// A name that is a whole expression.
pub(crate) fn name_of(e: &Expr) -> Option<&Ident> {
    match e {
        Expr::Path(p) if p.qself.is_none() => p.path.get_ident(),
        Expr::Paren(p) => name_of(&p.expr),
        _ => None,
    }
}

/// The name that a pattern binds, if it is no more than a name.
pub(crate) fn bound_name(pat: &Pat) -> Option<&Ident> {
    match pat {
        Pat::Ident(p) => Some(&p.ident),
        _ => None,
    }
}

impl Cx<'_> {
    pub fn assign(&mut self, e: &ExprAssign) -> TokenStream {
        let (value, span) = (self.expr(&e.right), e.span());
        if let Expr::Infer(_) = &*e.left {
            return quote_spanned!(span=> let _ = #value);
        }
        match self.place(&e.left) {
            None => TokenStream::new(),
            Some(Place::Memory(base, index)) => {
                let (base, index) = (self.expr(base), self.expr(index));
                let store = lang("store", span);
                quote_spanned!(span=> #store(&#base, #index, #value))
            }
            Some(Place::Deref(pointer)) => {
                let (pointer, store) = (self.expr(pointer), lang("store_deref", span));
                quote_spanned!(span=> #store(#pointer, #value))
            }
            Some(place) => self.write(place, span, |_| value),
        }
    }

    /// `place op= value`.
    pub fn compound(&mut self, e: &ExprBinary) -> TokenStream {
        let inner = self.expr(&e.right);
        let right = quote_spanned!(e.right.span()=> (#inner));
        let op = plain_operator(&e.op);
        match self.place(&e.left) {
            Some(place) => self.write(place, e.span(), move |old| quote!(#old #op #right)),
            None => TokenStream::new(),
        }
    }

    /// Writes to `place` what `value` makes of its old value.
    fn write(
        &mut self,
        place: Place<'_>,
        span: Span,
        value: impl FnOnce(TokenStream) -> TokenStream,
    ) -> TokenStream {
        let flow = self.flow(span);
        match place {
            Place::Variable(name) => {
                let new = value(quote_spanned!(name.span()=> #name.get()));
                quote_spanned!(span=> #name.set(&#flow, #new))
            }
            Place::Element(root, indices) => {
                let indices: Vec<TokenStream> = indices.into_iter().map(|i| self.expr(i)).collect();
                let (whole, new) = (self.helper("whole", span), self.helper("new", span));
                let old = quote_spanned!(span=> #root.get()#([#indices])*);
                let element = value(old);
                let convert = lang("convert", span);
                quote_spanned!(span=> {
                    let #new = #element;
                    let mut #whole = #root.get();
                    #whole #([#indices])* = #convert(#new);
                    #root.set(&#flow, #whole)
                })
            }
            Place::Memory(base, index) => {
                let (b, i) = (self.helper("base", base.span()), self.helper("index", index.span()));
                let (base, index) = (self.expr(base), self.expr(index));
                let load = lang("load", span);
                let new = value(quote_spanned!(span=> #load(#b, #i)));
                let store = lang("store", span);
                quote_spanned!(span=> { let (#b, #i) = (&#base, #index); #store(#b, #i, #new) })
            }
            Place::Deref(pointer) => {
                let p = self.helper("pointer", pointer.span());
                let pointer = self.expr(pointer);
                let (load, store) = (lang("load_deref", span), lang("store_deref", span));
                let new = value(quote_spanned!(span=> #load(#p)));
                quote_spanned!(span=> { let #p = #pointer; #store(#p, #new) })
            }
        }
    }

    fn place<'e>(&mut self, left: &'e Expr) -> Option<Place<'e>> {
        if let Some(name) = name_of(left) {
            if self.is_variable(name) {
                self.not_captured(name);
                return Some(Place::Variable(name));
            }
            self.errors
                .at(name, format!("`{name}` is not declared mutable; declare it with `let mut {name} = …`"));
            return None;
        }
        match left {
            Expr::Paren(p) => self.place(&p.expr),
            Expr::Index(index) => Some(self.indexed(index)),
            Expr::Unary(u) if matches!(u.op, syn::UnOp::Deref(_)) => Some(Place::Deref(&u.expr)),
            _ => {
                let what = "a kernel assigns to variables, to elements `a[i]` and through pointers `*p`";
                self.errors.at(left, what);
                None
            }
        }
    }

    fn not_captured(&mut self, name: &Ident) {
        if self.is_captured(name) {
            self.not_in_closure(
                name,
                "assignment to a variable from outside",
                "return the value and assign it outside",
            );
        }
    }

    fn indexed<'e>(&mut self, index: &'e ExprIndex) -> Place<'e> {
        let mut indices = vec![&*index.index];
        let mut base = &*index.expr;
        while let Expr::Index(inner) = base {
            indices.push(&inner.index);
            base = &inner.expr;
        }
        indices.reverse();
        match name_of(base) {
            Some(root) if self.is_variable(root) => {
                self.not_captured(root);
                Place::Element(root, indices)
            }
            _ => Place::Memory(&index.expr, &index.index),
        }
    }
}

/// The operator of `op=`.
fn plain_operator(op: &BinOp) -> TokenStream {
    match op {
        BinOp::AddAssign(t) => quote_spanned!(t.span()=> +),
        BinOp::SubAssign(t) => quote_spanned!(t.span()=> -),
        BinOp::MulAssign(t) => quote_spanned!(t.span()=> *),
        BinOp::DivAssign(t) => quote_spanned!(t.span()=> /),
        BinOp::RemAssign(t) => quote_spanned!(t.span()=> %),
        BinOp::BitAndAssign(t) => quote_spanned!(t.span()=> &),
        BinOp::BitOrAssign(t) => quote_spanned!(t.span()=> |),
        BinOp::BitXorAssign(t) => quote_spanned!(t.span()=> ^),
        BinOp::ShlAssign(t) => quote_spanned!(t.span()=> <<),
        BinOp::ShrAssign(t) => quote_spanned!(t.span()=> >>),
        other => quote!(#other),
    }
}

/// True for `+=` and its kin.
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
