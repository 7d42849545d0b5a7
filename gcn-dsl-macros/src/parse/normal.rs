//! Normalises the syntax tree, so that later stages handle fewer forms: `unsafe { … }` becomes a marked block,
//! `v.iter_mut().for_each(|e| …)` a loop, `mem::swap(&mut a, &mut b)` and its like assignments, and a variable of the type
//! `usize` or `isize` one of the 32-bit type that these are on the device.

use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, ExprBlock, ExprCall, ExprMethodCall, ExprUnsafe, Ident, Local, Pat, Type,
    parse_quote_spanned,
};

use crate::attrs;

/// The `unsafe` block as a plain block with an internal attribute.
pub(crate) fn marked(e: &ExprUnsafe) -> ExprBlock {
    let mut attrs = e.attrs.clone();
    attrs.push(attrs::unsafe_mark(e.unsafe_token.span));
    ExprBlock { attrs, label: None, block: e.block.clone() }
}

/// The normalised body. Host code is left unchanged.
pub(super) fn normal(mut body: Block) -> Block {
    Normal.visit_block_mut(&mut body);
    body
}

struct Normal;

impl VisitMut for Normal {
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        let other = match e {
            Expr::Unsafe(of) => Some(Expr::Block(marked(of))),
            Expr::MethodCall(call) => in_place(call),
            Expr::Call(call) => exchange(call),
            _ => None,
        };
        if let Some(other) = other {
            *e = other;
        }
        match e {
            Expr::Block(b) if b.attrs.iter().any(attrs::is_comptime) => {}
            e => visit_mut::visit_expr_mut(self, e),
        }
    }
    fn visit_local_mut(&mut self, local: &mut Local) {
        let (mutable, ty) = match &mut local.pat {
            Pat::Type(p) => (is_mutable(&p.pat), Some(&mut *p.ty)),
            pat => (is_mutable(pat), None),
        };
        if mutable {
            if let Some(ty) = ty {
                on_device(ty);
            }
            if let Some(init) = &mut local.init {
                number_on_device(&mut init.expr);
            }
        }
        visit_mut::visit_local_mut(self, local);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// True for `mut name`, whose value is one of the device.
fn is_mutable(pat: &Pat) -> bool {
    matches!(pat, Pat::Ident(p) if p.mutability.is_some())
}

/// The type that has the meaning of this host type, `usize` or `isize`, on the device.
fn of_device(size: &str) -> Option<&'static str> {
    match size {
        "usize" => Some("u32"),
        "isize" => Some("i32"),
        _ => None,
    }
}

/// Replaces `usize` and `isize` in a variable's type.
fn on_device(ty: &mut Type) {
    match ty {
        Type::Path(p) => {
            let device = p.path.get_ident().and_then(|name| of_device(&name.to_string()));
            if let Some(device) = device {
                let device = Ident::new(device, ty.span());
                *ty = parse_quote_spanned!(device.span()=> #device);
            }
        }
        Type::Array(of) => on_device(&mut of.elem),
        Type::Tuple(of) => of.elems.iter_mut().for_each(on_device),
        Type::Paren(of) => on_device(&mut of.elem),
        Type::Group(of) => on_device(&mut of.elem),
        _ => {}
    }
}

/// Replaces `usize` and `isize` in the numbers of which a variable's first value consists.
fn number_on_device(e: &mut Expr) {
    match e {
        Expr::Lit(of) => {
            if let syn::Lit::Int(number) = &of.lit
                && let Some(device) = of_device(number.suffix())
            {
                let typed = format!("{}{device}", number.base10_digits());
                of.lit = syn::LitInt::new(&typed, number.span()).into();
            }
        }
        Expr::Cast(of) => on_device(&mut of.ty),
        Expr::Paren(of) => number_on_device(&mut of.expr),
        Expr::Group(of) => number_on_device(&mut of.expr),
        Expr::Unary(of) => number_on_device(&mut of.expr),
        Expr::Tuple(of) => of.elems.iter_mut().for_each(number_on_device),
        Expr::Array(of) => of.elems.iter_mut().for_each(number_on_device),
        Expr::Repeat(of) => number_on_device(&mut of.expr),
        _ => {}
    }
}

/// The loop that is equivalent to `for_each` over mutable references to array elements. Only in the loop may the
/// closure's body assign to variables.
fn in_place(call: &ExprMethodCall) -> Option<Expr> {
    let Some(Expr::Closure(closure)) = call.args.first().filter(|_| call.method == "for_each") else {
        return None;
    };
    let mut returns = Returns(false);
    returns.visit_expr(&closure.body);
    let input = closure.inputs.first().filter(|_| closure.inputs.len() == 1 && !returns.0)?;
    if !is_in_place(&call.receiver) {
        return None;
    }
    let (of, body) = (&call.receiver, &closure.body);
    Some(parse_quote_spanned!(call.span()=> for #input in #of { #body; }))
}

/// The assignments that are equivalent to `mem::swap`, `mem::replace` and `mem::take`: a variable of the device is changed only
/// by assignments, which know the lanes that run.
fn exchange(call: &ExprCall) -> Option<Expr> {
    let Expr::Path(path) = &*call.func else { return None };
    let names: Vec<&Ident> = path.path.segments.iter().map(|s| &s.ident).collect();
    let [.., module, name] = names[..] else { return None };
    if module != "mem" {
        return None;
    }
    let span = call.span();
    let args: Vec<&Expr> = call.args.iter().collect();
    let place = |e: &Expr| -> Expr {
        match e {
            Expr::Reference(of) if of.mutability.is_some() => (*of.expr).clone(),
            // A name that is a `&mut` itself.
            of => parse_quote_spanned!(of.span()=> *#of),
        }
    };
    match (name.to_string().as_str(), args[..].as_ref()) {
        ("swap", [a, b]) => {
            let [a, b] = [place(a), place(b)];
            Some(parse_quote_spanned!(span=> (#a, #b) = (#b, #a)))
        }
        ("replace", [of, new]) => {
            let of = place(of);
            Some(parse_quote_spanned!(span=> { let __gcn_old = #of; #of = #new; __gcn_old }))
        }
        ("take", [of]) => {
            let of = place(of);
            Some(parse_quote_spanned!(span=> {
                let __gcn_old = #of;
                #of = ::gcn_dsl::__private::default_of(&__gcn_old);
                __gcn_old
            }))
        }
        _ => None,
    }
}

fn is_in_place(e: &Expr) -> bool {
    match e {
        Expr::MethodCall(call) => {
            call.method == "iter_mut" || is_in_place(&call.receiver) || call.args.iter().any(is_in_place)
        }
        Expr::Paren(p) => is_in_place(&p.expr),
        _ => false,
    }
}

struct Returns(bool);

impl<'ast> Visit<'ast> for Returns {
    fn visit_expr_return(&mut self, _: &'ast syn::ExprReturn) {
        self.0 = true;
    }
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
