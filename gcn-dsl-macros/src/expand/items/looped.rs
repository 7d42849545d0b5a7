//! Iterators over ranges whose limits are values of the device, such as `(0..n).map(|k| x[k]).sum::<f32>()`: an iterator
//! runs on the host while the kernel is built, so a loop of the device replaces the expression. Ranges with limits of the
//! host, and those whose limits syntax cannot judge, keep the iterator.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, ExprClosure, ExprForLoop, ExprMethodCall, FnArg, GenericArgument, Local, Pat, Stmt, Type,
    parse_quote_spanned,
};

use crate::attrs;
use crate::expand::control::iterate::{limits, without_references};
use crate::expand::control::loops::range;
use crate::expand::items::inlined::Leaves;
use crate::parse::{KernelFn, Known};
use crate::syntax::name_of;
use crate::ty::{Elements, bare, handled, is_handle};

/// The block with such iterators replaced by loops; `None` if it contains none.
pub(in crate::expand) fn looped(block: &Block, function: &KernelFn) -> Option<Block> {
    let mut find = Ranges(false);
    find.visit_block(block);
    if !find.0 {
        return None;
    }
    let elements = crate::ty::elements(&function.sig.generics);
    let hosts = function.host_names();
    let parameter = |input: &FnArg| {
        let FnArg::Typed(typed) = input else { return None };
        let Pat::Ident(name) = &*typed.pat else { return None };
        let name = name.ident.to_string();
        let of =
            if hosts.contains(&name) { Of::Host } else { of_type(&typed.ty, &elements, &function.known) };
        let element = match bare(&typed.ty) {
            Type::Reference(r) => match bare(&r.elem) {
                Type::Slice(slice) => Some((*slice.elem).clone()),
                _ => None,
            },
            _ => None,
        };
        Some(Name { name, of, element })
    };
    let mut looping = Looping {
        known: &function.known,
        elements: &elements,
        names: function.sig.inputs.iter().filter_map(parameter).collect(),
        changed: false,
        numbers: 0,
    };
    let mut block = block.clone();
    if let (syn::ReturnType::Type(_, ty), Some(Stmt::Expr(value, None))) =
        (&function.sig.output, block.stmts.last_mut())
    {
        typed(value, ty);
    }
    looping.visit_block_mut(&mut block);
    looping.changed.then_some(block)
}

/// Searches for methods of ranges.
struct Ranges(bool);

impl<'ast> Visit<'ast> for Ranges {
    fn visit_expr_method_call(&mut self, e: &'ast ExprMethodCall) {
        self.0 |= limits(&e.receiver).is_some();
        visit::visit_expr_method_call(self, e);
    }
}

/// Where a name's value exists.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// On the host, or syntax does not tell.
    Host,
    Device,
    /// On the device, as the elements of an array, whose length the host knows.
    Array,
}

fn of_type(ty: &Type, elements: &Elements, known: &Known) -> Of {
    match bare(ty) {
        ty if elements.is_element(ty) || is_handle(ty) => Of::Device,
        Type::Array(_) => Of::Array,
        Type::Ptr(_) => Of::Device,
        Type::Reference(r) => match bare(&r.elem) {
            Type::Slice(s) if !is_handle(bare(&s.elem)) => Of::Device,
            Type::Slice(_) => Of::Array,
            _ => Of::Host,
        },
        ty if known.is_data(ty) => Of::Device,
        _ => Of::Host,
    }
}

struct Name {
    name: String,
    of: Of,
    /// The type of the elements of a slice.
    element: Option<Type>,
}

/// A `map` or `filter` between the range and the last method.
struct Step<'e> {
    filters: bool,
    closure: &'e Expr,
}

struct Looping<'k> {
    known: &'k Known,
    elements: &'k Elements,
    /// The names in scope, innermost last.
    names: Vec<Name>,
    changed: bool,
    numbers: usize,
}

impl VisitMut for Looping<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let depth = self.names.len();
        visit_mut::visit_block_mut(self, block);
        self.names.truncate(depth);
    }
    fn visit_local_mut(&mut self, local: &mut Local) {
        if let (Pat::Type(p), Some(init)) = (&local.pat, &mut local.init) {
            typed(&mut init.expr, &p.ty);
        }
        let of = local.init.as_ref().map_or(Of::Host, |init| self.of(&init.expr));
        visit_mut::visit_local_mut(self, local);
        match &local.pat {
            Pat::Ident(p) => self.bind(&p.ident, of),
            Pat::Type(p) => match &*p.pat {
                Pat::Ident(name) => self.bind(&name.ident, of),
                pat => self.hide(pat),
            },
            pat => self.hide(pat),
        }
    }
    fn visit_expr_for_loop_mut(&mut self, e: &mut ExprForLoop) {
        self.visit_expr_mut(&mut e.expr);
        let depth = self.names.len();
        // The variable of a loop over a range is one of the device, unless the loop is unrolled.
        let unrolled = e.attrs.iter().any(attrs::is_unroll) || range(&e.expr).is_none();
        match &*e.pat {
            Pat::Ident(p) if !unrolled => self.bind(&p.ident, Of::Device),
            pat => self.hide(pat),
        }
        self.visit_block_mut(&mut e.body);
        self.names.truncate(depth);
    }
    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        let depth = self.names.len();
        self.hide(&arm.pat);
        visit_mut::visit_arm_mut(self, arm);
        self.names.truncate(depth);
    }
    fn visit_expr_let_mut(&mut self, e: &mut syn::ExprLet) {
        self.visit_expr_mut(&mut e.expr);
        self.hide(&e.pat);
    }
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        match e {
            Expr::Block(b) if b.attrs.iter().any(attrs::is_comptime) => return,
            // What an element of memory is assigned has its type.
            Expr::Assign(to) => self.typed_as(&to.left, &mut to.right),
            Expr::Binary(to) if crate::operator::is_compound(&to.op) => {
                self.typed_as(&to.left, &mut to.right);
            }
            _ => {}
        }
        if let Expr::MethodCall(call) = e
            && let Some(other) = self.looped(call)
        {
            (*e, self.changed) = (other, true);
        }
        visit_mut::visit_expr_mut(self, e);
    }
    // A closure that remains one is called on the host.
    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Looping<'_> {
    fn bind(&mut self, name: &Ident, of: Of) {
        self.names.push(Name { name: name.to_string(), of, element: None });
    }

    /// Binds the names of a pattern, of whose values syntax does not tell where they exist.
    fn hide(&mut self, pat: &Pat) {
        struct Names<'n>(&'n mut Vec<Name>);
        impl<'ast> Visit<'ast> for Names<'_> {
            fn visit_pat_ident(&mut self, p: &'ast syn::PatIdent) {
                self.0.push(Name { name: p.ident.to_string(), of: Of::Host, element: None });
            }
        }
        Names(&mut self.names).visit_pat(pat);
    }

    fn name(&self, e: &Expr) -> Option<&Name> {
        let name = name_of(e)?.to_string();
        self.names.iter().rev().find(|n| n.name == name)
    }

    /// Where the value exists.
    fn of(&self, e: &Expr) -> Of {
        let one = |e: &Expr| self.of(e) == Of::Device;
        let device = match e {
            Expr::Paren(e) => return self.of(&e.expr),
            Expr::Group(e) => return self.of(&e.expr),
            Expr::Path(_) => return self.name(e).map_or(Of::Host, |name| name.of),
            Expr::Array(e) if e.elems.iter().any(one) => return Of::Array,
            Expr::Repeat(_) => return Of::Array,
            Expr::Unary(e) => one(&e.expr),
            Expr::Cast(e) => one(&e.expr),
            Expr::Field(e) => one(&e.base),
            Expr::Binary(e) => one(&e.left) || one(&e.right),
            Expr::Index(e) => self.of(&e.expr) != Of::Host || one(&e.index),
            Expr::MethodCall(e) => one(&e.receiver) || e.args.iter().any(one),
            Expr::Call(e) => self.known.is_lanes_own(&e.func) || e.args.iter().any(one),
            _ => false,
        };
        if device { Of::Device } else { Of::Host }
    }

    /// Gives the type of an element of memory to a sum that is assigned to it.
    fn typed_as(&self, to: &Expr, value: &mut Expr) {
        if let Expr::Index(index) = to
            && let Some(element) = self.name(&index.expr).and_then(|name| name.element.as_ref())
        {
            typed(value, element);
        }
    }

    /// The loop that replaces the last call of a chain of methods.
    fn looped(&mut self, call: &ExprMethodCall) -> Option<Expr> {
        let (over, steps) = chain(&call.receiver)?;
        let limits = range(over).map(|range| [range.start, range.end])?;
        if !limits.into_iter().any(|end| self.of(end) == Of::Device) {
            return None;
        }
        self.numbers += 1;
        let span = call.method.span();
        let [total, it] =
            ["total", "it"].map(|name| Ident::new(&format!("__gcn_{name}{}", self.numbers), span));
        let args: Vec<&Expr> = call.args.iter().collect();
        let (first, last) = match (call.method.to_string().as_str(), &args[..]) {
            (name @ ("sum" | "product"), []) => {
                let ty = element(call).filter(|ty| self.elements.is_element(ty))?;
                // As in Rust, the sum of no floats is -0.0, the only number that changes no other one.
                let (value, op) = match (name, is_real(ty)) {
                    ("sum", true) => (quote_spanned!(span=> -0.0), quote_spanned!(span=> +)),
                    ("sum", false) => (quote_spanned!(span=> 0), quote_spanned!(span=> +)),
                    (_, true) => (quote_spanned!(span=> 1.0), quote_spanned!(span=> *)),
                    (_, false) => (quote_spanned!(span=> 1), quote_spanned!(span=> *)),
                };
                (
                    quote_spanned!(span=> let mut #total: #ty = #value;),
                    quote_spanned!(span=> #total = #total #op #it;),
                )
            }
            ("count", []) => {
                (quote_spanned!(span=> let mut #total: u32 = 0;), quote_spanned!(span=> #total = #total + 1;))
            }
            ("fold", [start, with]) => {
                let value = match with {
                    Expr::Path(path) => quote_spanned!(span=> #path(#total, #it)),
                    with => applied(with, &[&total, &it])?,
                };
                (quote_spanned!(span=> let mut #total = #start;), quote_spanned!(span=> #total = #value;))
            }
            (name @ ("any" | "all"), [condition]) => {
                let (decided, condition) = (name == "any", applied(condition, &[&it])?);
                let negated = (!decided).then(|| quote_spanned!(span=> !));
                (
                    quote_spanned!(span=> let mut #total = !#decided;),
                    quote_spanned!(span=> if #negated #condition { #total = #decided; break; }),
                )
            }
            ("for_each", [each]) => {
                let each = applied(each, &[&it])?;
                let trip = nested(&steps, &it, quote_spanned!(span=> #each;))?;
                return Some(parse_quote_spanned!(span=> for #it in #over { #trip }));
            }
            _ => return None,
        };
        let trip = nested(&steps, &it, last)?;
        Some(parse_quote_spanned!(span=> { #first for #it in #over { #trip } #total }))
    }
}

/// The statements of a trip: those that give `it` the value of each method, around the `last` ones.
fn nested(steps: &[Step<'_>], it: &Ident, last: TokenStream) -> Option<TokenStream> {
    steps.iter().rev().try_fold(last, |rest, Step { filters, closure }| {
        let value = applied(closure, &[it])?;
        Some(match filters {
            true => quote_spanned!(closure.span()=> if #value { #rest }),
            false => quote_spanned!(closure.span()=> let #it = #value; #rest),
        })
    })
}

/// The value of the closure for these arguments; `None` for other expressions, and for a closure that a `return` leaves.
fn applied(closure: &Expr, args: &[&Ident]) -> Option<TokenStream> {
    let Expr::Closure(closure) = closure else { return None };
    let mut leaves = Leaves(false);
    leaves.visit_expr(&closure.body);
    if closure.inputs.len() != args.len() || leaves.0 {
        return None;
    }
    let (inputs, body) = (closure.inputs.iter().map(without_references), &closure.body);
    Some(quote_spanned!(body.span()=> { #(let #inputs = #args;)* #body }))
}

/// The range of a chain of methods, with its `rev` and `step_by`, and the methods that follow.
fn chain(e: &Expr) -> Option<(&Expr, Vec<Step<'_>>)> {
    if range(e).is_some() {
        return Some((e, Vec::new()));
    }
    let Expr::MethodCall(call) = e else { return None };
    let (filters, closure) = match (call.method.to_string().as_str(), call.args.first()) {
        ("map", Some(closure)) => (false, closure),
        ("filter", Some(closure)) => (true, closure),
        _ => return None,
    };
    let (over, mut steps) = chain(&call.receiver)?;
    steps.push(Step { filters, closure });
    Some((over, steps))
}

/// The type in `sum::<T>()`.
fn element(call: &ExprMethodCall) -> Option<&Type> {
    match call.turbofish.as_ref()?.args.first()? {
        GenericArgument::Type(ty) => Some(handled(ty)),
        _ => None,
    }
}

fn is_real(ty: &Type) -> bool {
    ["f16", "bf16", "f32", "f64"].iter().any(|name| matches!(ty, Type::Path(p) if p.path.is_ident(name)))
}

/// Gives the type to a sum without one.
fn typed(e: &mut Expr, ty: &Type) {
    match e {
        Expr::Paren(e) => typed(&mut e.expr, ty),
        Expr::MethodCall(call)
            if (call.method == "sum" || call.method == "product")
                && call.turbofish.is_none()
                && call.args.is_empty()
                && chain(&call.receiver).is_some() =>
        {
            call.turbofish = Some(parse_quote_spanned!(call.method.span()=> ::<#ty>));
        }
        _ => {}
    }
}
