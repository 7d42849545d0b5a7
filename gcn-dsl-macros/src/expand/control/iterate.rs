//! Iterators over arrays of device values: `for e in v`, `v.iter().sum()`.
//!
//! The array exists on the host while the kernel is built (its elements are handles of IR values), so such a loop is
//! unrolled. An iterator yields values even if the user's iterator yields references: `e`, `*e` and the pattern `&e`
//! all mean the value.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall, ExprRange, Pat, RangeLimits, parse_quote_spanned};

use crate::expand::{Cx, Kind, lang};
use crate::syntax::{bound_name, name_of};

/// The reductions, each with the name of the function that the expansion calls.
const REDUCTIONS: [(&str, &str); 4] =
    [("sum", "sum_of"), ("product", "product_of"), ("min", "least_of"), ("max", "greatest_of")];

/// True if a `for` iterates over an array of values, or over an iterator over one, and not over a range.
pub(in crate::expand) fn is_over_elements(e: &Expr) -> bool {
    match e {
        Expr::Paren(p) => is_over_elements(&p.expr),
        Expr::Range(_) => false,
        Expr::MethodCall(m) if m.method == "rev" || m.method == "step_by" => is_over_elements(&m.receiver),
        _ => true,
    }
}

/// A loop that may assign to the elements of arrays of values: `for e in v.iter_mut()` or `for e in &mut v`, also with
/// `enumerate`, and with `zip` of more such arrays or of iterators over values.
pub(in crate::expand) struct InPlace<'e> {
    /// The arrays that the loop assigns to, each with the name that denotes its element.
    pub places: Vec<(&'e Expr, &'e Ident)>,
    /// The patterns and iterators on the other sides of `zip`, which yield values.
    pub values: Vec<(&'e Pat, &'e Expr)>,
    /// The patterns that `enumerate` binds to the element's index.
    pub numbers: Vec<&'e Pat>,
}

impl<'e> InPlace<'e> {
    /// Recognises such a loop by its pattern and its iterator.
    pub fn of(pat: &'e Pat, e: &'e Expr) -> Option<InPlace<'e>> {
        let array = match e {
            Expr::Paren(p) => return InPlace::of(pat, &p.expr),
            Expr::Reference(r) if r.mutability.is_some() => &*r.expr,
            Expr::MethodCall(m) if m.method == "iter_mut" && m.args.is_empty() => &*m.receiver,
            Expr::MethodCall(m) if m.method == "enumerate" && m.args.is_empty() => {
                let [number, element] = pair(pat)?;
                let mut inner = InPlace::of(element, &m.receiver)?;
                inner.numbers.push(number);
                return Some(inner);
            }
            Expr::MethodCall(m) if m.method == "zip" && m.args.len() == 1 => {
                let [left, right] = pair(pat)?;
                let sides = [(left, &*m.receiver), (right, m.args.first()?)];
                let inner = sides.map(|(pat, of)| InPlace::of(pat, of).ok_or((pat, of)));
                if inner.iter().all(Result::is_err) {
                    return None;
                }
                let mut all = InPlace { places: Vec::new(), values: Vec::new(), numbers: Vec::new() };
                for side in inner {
                    match side {
                        Ok(side) => {
                            all.places.extend(side.places);
                            all.values.extend(side.values);
                            all.numbers.extend(side.numbers);
                        }
                        Err(value) => all.values.push(value),
                    }
                }
                return Some(all);
            }
            _ => return None,
        };
        let places = vec![(array, bound_name(pat)?)];
        Some(InPlace { places, values: Vec::new(), numbers: Vec::new() })
    }
}

fn pair(pat: &Pat) -> Option<[&Pat; 2]> {
    match pat {
        Pat::Tuple(pair) if pair.elems.len() == 2 => Some([&pair.elems[0], &pair.elems[1]]),
        _ => None,
    }
}

/// The iterator, changed to yield values instead of references.
pub(in crate::expand) fn by_value(e: &Expr) -> Expr {
    match e {
        Expr::Reference(r) if r.mutability.is_none() => {
            let (of, span) = (&r.expr, e.span());
            parse_quote_spanned!(span=> (#of).iter().copied())
        }
        _ => {
            let mut e = e.clone();
            chain(&mut e);
            e
        }
    }
}

fn chain(e: &mut Expr) {
    let Expr::MethodCall(call) = e else { return };
    for arg in &mut call.args {
        match arg {
            Expr::Closure(closure) => {
                closure.inputs.iter_mut().for_each(|input| *input = without_references(input));
            }
            // The second iterator has to yield values as well, or the pairs would differ in type.
            Expr::Reference(_) if call.method == "zip" || call.method == "chain" => *arg = by_value(arg),
            arg => chain(arg),
        }
    }
    // `copied` and `cloned` already yield values.
    if call.method == "copied" || call.method == "cloned" {
        return;
    }
    if is_iter(call) {
        let (span, whole) = (call.method.span(), e.clone());
        *e = parse_quote_spanned!(span=> #whole.copied());
        return;
    }
    chain(&mut call.receiver);
}

fn is_iter(call: &ExprMethodCall) -> bool {
    call.method == "iter" && call.args.is_empty()
}

/// The closure, changed to take values instead of references. A path such as `f32::max` is wrapped in a closure.
fn of_values(function: &Expr, parameters: usize) -> Expr {
    match function {
        Expr::Closure(closure) => {
            let mut closure = closure.clone();
            closure.inputs.iter_mut().for_each(|input| *input = without_references(input));
            Expr::Closure(closure)
        }
        // A function of a host number type cannot take device values. In a closure, the call is expanded as a method
        // call.
        Expr::Path(p) if p.path.segments.len() == 2 && parameters == 2 => {
            parse_quote_spanned!(function.span()=> |a, b| #p(a, b))
        }
        other => other.clone(),
    }
}

/// The pattern without references: `e` for `&e`.
pub(in crate::expand) fn without_references(pat: &Pat) -> Pat {
    match pat {
        Pat::Reference(r) => without_references(&r.pat),
        Pat::Paren(p) => without_references(&p.pat),
        Pat::Tuple(t) => {
            let mut t = t.clone();
            t.elems.iter_mut().for_each(|p| *p = without_references(p));
            Pat::Tuple(t)
        }
        other => other.clone(),
    }
}

/// True for a chain of methods that starts with an iterator over an array.
fn is_chain(e: &Expr) -> bool {
    match e {
        Expr::MethodCall(call) => {
            is_iter(call) || (call.method == "into_iter" && call.args.is_empty()) || is_chain(&call.receiver)
        }
        Expr::Paren(p) => matches!(*p.expr, Expr::Range(_)) || is_chain(&p.expr),
        _ => false,
    }
}

/// A range, with or without parentheses.
pub(in crate::expand) fn limits(e: &Expr) -> Option<&ExprRange> {
    match e {
        Expr::Paren(p) => limits(&p.expr),
        Expr::Range(range) => Some(range),
        _ => None,
    }
}

/// The methods of a range that are not those of an iterator; the limits may be values of the device.
const OF_RANGES: [&str; 3] = ["contains", "step_by", "rev"];

impl Cx<'_> {
    /// `(a..b).method(…)` of an iterator, with limits of which rustc says that they are numbers of the host.
    pub(in crate::expand) fn with_limits(&self, e: &ExprMethodCall) -> Option<ExprMethodCall> {
        let range = limits(&e.receiver).filter(|_| !OF_RANGES.iter().any(|name| e.method == name))?;
        let checked = |end: &Option<Box<Expr>>| {
            end.as_ref().map(|end| match self.is_typed(end) {
                true => Box::new(parse_quote_spanned!(end.span()=> ::gcn_dsl::__private::limit(#end))),
                false => end.clone(),
            })
        };
        let range = ExprRange { start: checked(&range.start), end: checked(&range.end), ..range.clone() };
        let mut limited = e.clone();
        *limited.receiver = parse_quote_spanned!(e.receiver.span()=> (#range));
        Some(limited)
    }

    /// True if the expression contains names, and none whose type rustc has yet to infer: a counter, or the parameter of
    /// a closure.
    fn is_typed(&self, e: &Expr) -> bool {
        fn names(tokens: TokenStream, out: &mut Vec<Ident>) {
            for token in tokens {
                match token {
                    TokenTree::Ident(name) => out.push(name),
                    TokenTree::Group(group) => names(group.stream(), out),
                    _ => {}
                }
            }
        }
        let mut found = Vec::new();
        names(e.to_token_stream(), &mut found);
        let inferred =
            |name: &Ident| self.name(name).is_some_and(|n| n.kind == Kind::Counted || n.closures > 0);
        !found.is_empty() && !found.iter().any(inferred)
    }

    /// Expands `v.iter().sum()` and the other reductions.
    pub(in crate::expand) fn reduction(&mut self, e: &ExprMethodCall) -> Option<TokenStream> {
        let (_, function) = REDUCTIONS.iter().find(|(method, _)| e.method == method)?;
        if !e.args.is_empty() || !is_chain(&e.receiver) {
            return None;
        }
        let span = e.method.span();
        let (values, call): (TokenStream, TokenStream) =
            (self.expr(&by_value(&e.receiver)), lang(function, span));
        Some(quote_spanned!(span=> #call(#values)))
    }

    /// Expands `v.iter().any(…)`, `all` and `fold`.
    pub(in crate::expand) fn of_elements(&mut self, e: &ExprMethodCall) -> Option<TokenStream> {
        // Before the test for chains of iterators, because a range is not an iterator over an array.
        if let (Some(of), true) = (limits(&e.receiver), e.method == "contains" && e.args.len() == 1) {
            return Some(self.contains(of, &e.args[0], e.method.span()));
        }
        if !is_chain(&e.receiver) {
            return None;
        }
        let (span, args) = (e.method.span(), e.args.len());
        let function = match e.method.to_string().as_str() {
            "any" if args == 1 => "any_element",
            "all" if args == 1 => "all_elements",
            "position" if args == 1 => "position_of",
            "fold" if args == 2 => return Some(self.folded(e)),
            _ => return None,
        };
        let values = self.expr(&by_value(&e.receiver));
        let (condition, call) = (self.expr(&of_values(e.args.first()?, 1)), lang(function, span));
        Some(quote_spanned!(span=> #call((#values).map(#condition))))
    }

    /// Expands `(a..b).contains(&x)`. Rust's own `contains` requires one type for all three, but each of these values
    /// may have a different one.
    fn contains(&mut self, of: &ExprRange, e: &Expr, span: Span) -> TokenStream {
        let value = match e {
            Expr::Reference(r) => &r.expr,
            e => e,
        };
        let upper = if matches!(of.limits, RangeLimits::Closed(_)) { "le" } else { "lt" };
        // The value is compared twice but must be evaluated only once.
        let name = self.fresh("contained", span);
        let value = self.expr(value);
        let ends = [(&of.start, "ge"), (&of.end, upper)];
        let sides = ends.into_iter().filter_map(|(end, compares)| {
            let (end, call) = (self.expr(end.as_ref()?), lang(compares, span));
            Some(quote_spanned!(span=> #call(#name, #end)))
        });
        let (sides, both): (Vec<TokenStream>, TokenStream) = (sides.collect(), lang("and", span));
        let inside = sides.into_iter().reduce(|a, b| quote_spanned!(span=> #both(#a, #b)));
        let inside = inside.unwrap_or_else(|| quote_spanned!(span=> true));
        quote_spanned!(span=> { let #name = #value; #inside })
    }

    /// Expands a fold. The accumulator has to be varying if the elements are.
    fn folded(&mut self, e: &ExprMethodCall) -> TokenStream {
        let (span, name) = (e.method.span(), self.fresh("values", e.method.span()));
        let [first, with] = [&e.args[0], &e.args[1]];
        let values = self.expr(&by_value(&e.receiver));
        let (first, with) =
            (self.expr(&crate::expand::types::typed::inferred(first)), self.expr(&of_values(with, 2)));
        let (given, start) = (lang("given_by", span), lang("First", span));
        // A `match` keeps the temporaries that the iterator borrows alive until the iteration ends.
        quote_spanned! {span=> match #values {
            #name => {
                let first = (&(&#given(&#name)).accumulator(#start::of(#first))).first();
                #name.fold(first, #with)
            }
        }}
    }

    /// Prepares a loop over elements without `#[unroll]`: returns the pattern and the expansion of the iterator.
    pub(in crate::expand) fn elements(&mut self, pat: &Pat, of: &Expr) -> (Pat, TokenStream) {
        let list = name_of(of).is_some_and(|name| self.lists.iter().any(|list| name == list));
        let span = of.span();
        // A `&[V<T>]` parameter is a slice of handles, over which Rust iterates by reference.
        let of: &Expr = if list { &parse_quote_spanned!(span=> #of.iter()) } else { of };
        let (pat, of) = (without_references(pat), by_value(of));
        (pat, self.operand_expr(&of))
    }
}
