//! Expands assignments.

use std::borrow::Cow;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprAssign, ExprBinary, Ident, Member};

use crate::expand::types::typed::{inferred, number, shift_count};
use crate::expand::{Cx, Kind, lang};
use crate::syntax::name_of;

/// The target of an assignment.
pub(in crate::expand) enum Place<'e> {
    /// A device variable.
    Variable(&'e Ident),
    /// A part of a variable, and the steps from the variable to the part.
    Part(&'e Ident, Vec<Step<'e>>),
    /// An element of memory: the memory, and the index.
    Memory(&'e Expr, &'e Expr),
    /// A part of an element of memory: the memory, the index, and the steps from the element to the part.
    Element(&'e Expr, &'e Expr, Vec<Step<'e>>),
    /// The target of a pointer: `*p`.
    Deref(&'e Expr),
}

/// A step from an aggregate to one of its parts.
pub(in crate::expand) enum Step<'e> {
    Index(&'e Expr),
    Field(&'e Member),
}

impl Cx<'_> {
    pub fn assign(&mut self, e: &ExprAssign) -> TokenStream {
        let right = number(&e.right, &self.elements.clone()).into_owned();
        // This first assignment determines the type of a variable without an annotation, so the type of a plain number
        // is left to inference.
        let deferred =
            name_of(&e.left).is_some_and(|n| self.kind(n) == Some(Kind::Deferred) && !self.has_value(n));
        let untyped = deferred && !name_of(&e.left).is_some_and(|n| self.has_type(n));
        let open = self.is_untyped(&e.left) && !self.is_prelude(&right, "None");
        let value = self.expr(&if untyped || open { inferred(&right) } else { right });
        let value = match (&*e.left, open) {
            (Expr::Path(name), true) => quote_spanned!(e.right.span()=> #name.of_each_lane(#value)),
            _ => value,
        };
        self.assign_to(&e.left, value, e.span())
    }

    /// True for a variable whose type is determined by what is assigned to it.
    fn is_untyped(&self, e: &Expr) -> bool {
        name_of(e).and_then(|name| self.name(name)).is_some_and(|name| name.untyped)
    }

    /// Expands `left = value`.
    pub(in crate::expand) fn assign_value(
        &mut self,
        left: &Expr,
        value: TokenStream,
        span: Span,
    ) -> TokenStream {
        self.assign_to(left, value, span)
    }

    fn assign_to(&mut self, left: &Expr, value: TokenStream, span: Span) -> TokenStream {
        match left {
            Expr::Infer(_) => return quote_spanned!(span=> let _ = #value),
            Expr::Tuple(t) => return self.assign_members(t.elems.iter(), |m| quote!((#(#m,)*)), value, span),
            Expr::Array(a) => {
                // Device arrays are not Rust arrays, so the array is converted first; only then can rustc destructure
                // it.
                let apart = lang("taken_apart", span);
                let value = quote_spanned!(span=> #apart(#value));
                return self.assign_members(a.elems.iter(), |m| quote!([#(#m),*]), value, span);
            }
            Expr::Paren(p) => return self.assign_to(&p.expr, value, span),
            _ => {}
        }
        if let Some(name) =
            name_of(left).filter(|n| self.kind(n) == Some(Kind::Deferred) && !self.has_value(n))
        {
            return self.assign_deferred(name, value, span);
        }
        if let Some(name) = name_of(left).filter(|n| self.is_carried(n)) {
            return self.assign_carried(name, &value, span);
        }
        match self.place(left) {
            None => TokenStream::new(),
            Some(Place::Memory(base, index)) => {
                let (base, index) = (self.memory(base), self.position(index));
                let store = lang("store", span);
                quote_spanned!(span=> #store(&#base, #index, #value))
            }
            Some(Place::Deref(pointer)) => {
                let (pointer, store) = (self.expr(pointer), self.through("store_deref", span));
                quote_spanned!(span=> #store(#pointer, #value))
            }
            Some(place) => self.write(place, span, |_| value),
        }
    }

    /// Expands `(a, b) = value` and `[a, b] = value`: destructures the value, then assigns each part.
    fn assign_members<'e>(
        &mut self,
        members: impl Iterator<Item = &'e Expr>,
        pattern: impl FnOnce(&[Ident]) -> TokenStream,
        value: TokenStream,
        span: Span,
    ) -> TokenStream {
        // The parts of nested patterns need distinct names, because the inner assignment is expanded inside the outer
        // one.
        self.nesting += 1;
        let name = |cx: &Self, i: usize, at: Span| cx.helper(&format!("part{}_{i}", cx.nesting), at);
        let (mut names, mut assignments) = (Vec::new(), Vec::new());
        for (i, member) in members.enumerate() {
            let name = name(self, i, member.span());
            assignments.push(self.assign_to(member, quote!(#name), member.span()));
            names.push(name);
        }
        self.nesting -= 1;
        let pattern = pattern(&names);
        quote_spanned!(span=> { let #pattern = #value; #(#assignments;)* })
    }

    /// Expands `place op= value`.
    pub fn compound(&mut self, e: &ExprBinary) -> TokenStream {
        let right = match e.op {
            // The shift count has its own type, which the left side must not determine.
            BinOp::ShlAssign(_) | BinOp::ShrAssign(_) => Cow::Borrowed(&*e.right),
            _ => number(&e.right, &self.elements),
        };
        let inner = self.expr(&right);
        let inner = match e.op {
            BinOp::ShlAssign(_) | BinOp::ShrAssign(_) => shift_count(&e.right, inner),
            _ => inner,
        };
        // In parentheses, because the right side may contain operators of lower precedence.
        let right = quote_spanned!(e.right.span()=> (#inner));
        let op = plain_operator(&e.op);
        match self.place(&e.left) {
            Some(place) => self.write(place, e.span(), move |old| quote!(#old #op #right)),
            None => TokenStream::new(),
        }
    }

    /// Writes to `place` the value that `value` computes from the old content of `place`.
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
            Place::Part(root, steps) if steps_choose(&steps) => self.write_element(root, &steps, span, value),
            Place::Part(root, steps) => {
                // All indices in the steps are literals.
                let steps: Vec<TokenStream> =
                    steps.into_iter().map(|s| self.step(s, &mut Vec::new())).collect();
                let whole = self.helper("whole", span);
                let new = value(quote_spanned!(span=> #root.get() #(#steps)*));
                quote_spanned!(span=> #root.set_part(&#flow, |#whole| &mut #whole #(#steps)*, #new))
            }
            Place::Memory(base, index) => {
                let (b, i) = (self.helper("base", base.span()), self.helper("index", index.span()));
                let (base, index) = (self.memory(base), self.position(index));
                let load = lang("load", span);
                let new = value(quote_spanned!(span=> #load(#b, #i)));
                let store = lang("store", span);
                quote_spanned!(span=> { let (#b, #i) = (&#base, #index); #store(#b, #i, #new) })
            }
            Place::Element(base, index, steps) => {
                let (b, i) = (self.helper("base", base.span()), self.helper("index", index.span()));
                let (base, index) = (self.expr(base), self.expr(index));
                let (mut indices, call) = (Vec::new(), lang("in_element", span));
                let part =
                    self.part_of_element(quote_spanned!(span=> #call(#b, #i)), steps, &mut indices, span);
                let place = self.helper("place", span);
                let new = value(quote_spanned!(span=> #place.read()));
                quote_spanned!(span=> {
                    let (#b, #i) = (&#base, #index);
                    #(#indices)*
                    let #place = #part;
                    #place.write(#new)
                })
            }
            Place::Deref(pointer) => {
                let p = self.helper("pointer", pointer.span());
                let pointer = self.expr(pointer);
                let (load, store) = (self.through("load_deref", span), self.through("store_deref", span));
                let new = value(quote_spanned!(span=> #load(#p)));
                quote_spanned!(span=> { let #p = #pointer; #store(#p, #new) })
            }
        }
    }

    /// The address of a part of the element `of`. Indices are evaluated once, and before the value.
    fn part_of_element(
        &mut self,
        of: TokenStream,
        steps: Vec<Step<'_>>,
        indices: &mut Vec<TokenStream>,
        span: Span,
    ) -> TokenStream {
        let whole = self.helper("whole", span);
        let (mut place, mut parts) = (of, Vec::new());
        let taken = |place: TokenStream, parts: &mut Vec<TokenStream>| match parts.is_empty() {
            true => place,
            false => {
                let parts = std::mem::take(parts);
                quote_spanned!(span=> #place.part(|#whole| &mut #whole #(#parts)*))
            }
        };
        for step in steps {
            match step {
                // Only a computed index selects an element at run time. rustc resolves literal indices and fields, so
                // one closure can contain several of them.
                Step::Index(e) if !matches!(e, Expr::Lit(_)) => {
                    let name = self.helper(&format!("index{}", indices.len()), e.span());
                    let index = self.expr(e);
                    indices.push(quote_spanned!(e.span()=> let #name = #index;));
                    let of = taken(place, &mut parts);
                    place = quote_spanned!(e.span()=> #of.at(#name));
                }
                step => parts.push(self.step(step, &mut Vec::new())),
            }
        }
        taken(place, &mut parts)
    }

    /// Writes to a part that a computed index selects, as in `root[i]` or `root.field[i].other`.
    fn write_element(
        &mut self,
        root: &Ident,
        steps: &[Step<'_>],
        span: Span,
        value: impl FnOnce(TokenStream) -> TokenStream,
    ) -> TokenStream {
        // The indices are computed once, and before the value.
        let (mut indices, mut names) = (Vec::new(), Vec::new());
        let load = lang("load", span);
        // A compound assignment reads the old value with the same indices.
        let mut old = quote_spanned!(span=> #root.get());
        for (k, step) in steps.iter().enumerate() {
            let Step::Index(e) = step else {
                let Step::Field(member) = step else { continue };
                old = quote_spanned!(member.span()=> #old.#member);
                continue;
            };
            let (name, index) = (self.helper(&format!("index{k}"), e.span()), self.position(e));
            indices.push(quote_spanned!(e.span()=> let #name = #index;));
            old = quote_spanned!(e.span()=> #load(&#old, #name));
            names.push(name);
        }
        let [new, here, whole] = ["new", "here", "whole"].map(|name| self.helper(name, span));
        let (flow, new_value) = (self.flow(span), value(old));
        // The value is computed before the closure is called, because the variable is borrowed inside the closure.
        let change = self.change(quote_spanned!(span=> (*#whole)), steps, &names, span);
        quote_spanned! {span=> {
            #(#indices)*
            let #new = #new_value;
            #root.change(&#flow, |#whole, #here| #change)
        }}
    }

    /// The statement that writes the new value to a part of `of`.
    fn change(&mut self, of: TokenStream, steps: &[Step<'_>], names: &[Ident], span: Span) -> TokenStream {
        match (steps, names) {
            ([Step::Field(member), rest @ ..], _) => {
                self.change(quote_spanned!(member.span()=> #of.#member), rest, names, span)
            }
            ([Step::Index(e), rest @ ..], [name, names @ ..]) => {
                let (at, element) =
                    (lang("at", e.span()), self.helper(&format!("element{}", names.len()), span));
                let inner = self.change(quote_spanned!(span=> (*#element)), rest, names, span);
                quote_spanned!(e.span()=> #at(&mut #of, #name, |#element| #inner))
            }
            _ => {
                let (put, new, here) =
                    (lang("put", span), self.helper("new", span), self.helper("here", span));
                // A copy of the new value is written to each element that the index may select.
                quote_spanned!(span=> #put(&mut #of, ::core::clone::Clone::clone(&#new), #here))
            }
        }
    }

    /// Expands the memory that is to be indexed. If that is itself an element `a[i]`, the result is the address of the
    /// element and not its content.
    fn memory(&mut self, base: &Expr) -> TokenStream {
        match base {
            Expr::Paren(p) => self.memory(&p.expr),
            // Otherwise, an inner index would load the whole row instead of addressing it.
            Expr::Index(e) if !matches!(*e.index, Expr::Range(_)) => {
                let (base, index) = (self.memory(&e.expr), self.position(&e.index));
                let call = lang("place_at", e.index.span());
                quote_spanned!(e.span()=> #call(&#base, #index))
            }
            _ => self.expr(base),
        }
    }

    /// A step as tokens. If an index is neither a name nor a number, its value is first bound to a name.
    pub(in crate::expand) fn step(&mut self, step: Step<'_>, indices: &mut Vec<TokenStream>) -> TokenStream {
        match step {
            Step::Field(member) => quote_spanned!(member.span()=> . #member),
            Step::Index(e) => {
                let index = self.expr(e);
                // rustc checks literal indices against the length of the array.
                if matches!(e, Expr::Lit(_)) {
                    return quote_spanned!(e.span()=> [#index]);
                }
                let element = lang("element", e.span());
                if name_of(e).is_some_and(|name| !self.is_variable(name)) {
                    return quote_spanned!(e.span()=> [#element(#index)]);
                }
                let name = self.helper(&format!("index{}", indices.len()), e.span());
                indices.push(quote_spanned!(e.span()=> let #name = #element(#index);));
                quote_spanned!(e.span()=> [#name])
            }
        }
    }

    fn place<'e>(&mut self, left: &'e Expr) -> Option<Place<'e>> {
        if let Some(name) = name_of(left) {
            if self.is_variable(name) || self.has_value(name) {
                self.not_captured(name);
                return Some(Place::Variable(name));
            }
            let what = match self.kind(name) {
                Some(Kind::Lent) => format!("`{name}` is a `&mut`; assign through it: `*{name} = …`"),
                _ if self.memory.contains(&name.to_string()) => format!(
                    "`{name}` is memory, whose elements are assigned and not the whole: `{name}[i] = …`; two buffers that change roles are \
                     the rows of one array, `Lds::<[f32; 256], 2>::new()`, whose index changes"
                ),
                _ => format!("`{name}` is not declared mutable; declare it with `let mut {name} = …`"),
            };
            self.errors.at(name, what);
            return None;
        }
        match left {
            Expr::Paren(p) => self.place(&p.expr),
            Expr::Unary(u) if self.lendable(left).is_some() => name_of(&u.expr).map(|name| {
                self.not_captured(name);
                Place::Variable(name)
            }),
            Expr::Index(index) => Some(
                self.part(left)
                    .or_else(|| element_part(left))
                    .unwrap_or(Place::Memory(&index.expr, &index.index)),
            ),
            Expr::Field(_) => {
                let part = self.part(left).or_else(|| element_part(left));
                if part.is_none() {
                    let what = "a field is assigned to in a device variable: declare it with `let mut`";
                    self.errors.at(left, what);
                }
                part
            }
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

    /// The place of an assignment to a part of a device variable; `None` if `left` is not such a part.
    fn part<'e>(&mut self, left: &'e Expr) -> Option<Place<'e>> {
        let Some(Place::Part(root, steps)) = self.part_of(left) else { return None };
        // The target of a pointer is memory, even if the pointer is in a variable.
        if matches!(steps.first(), Some(Step::Index(_))) && self.name(root).is_some_and(|n| n.pointer) {
            return None;
        }
        self.not_captured(root);
        Some(Place::Part(root, steps))
    }

    /// The part of a device variable that `left` denotes; `None` if `left` is not such a part.
    pub(in crate::expand) fn part_of<'e>(&self, left: &'e Expr) -> Option<Place<'e>> {
        let (base, steps) = path(left);
        let steps = steps.into_iter().map(|(step, _)| step).collect();
        // `out.x` and `(*out).x` denote the same part.
        let root = self.lendable(base).and_then(|_| match base {
            Expr::Unary(u) => name_of(&u.expr),
            _ => None,
        });
        // For fields and indices, Rust dereferences a `&mut` parameter implicitly, so it may also be used without `*`.
        let is_root = |cx: &Self, name: &Ident| matches!(cx.kind(name), Some(Kind::Variable | Kind::Lent));
        let root = root.or_else(|| name_of(base).filter(|name| is_root(self, name)))?;
        Some(Place::Part(root, steps))
    }
}

/// True if a step has an index that may be a device value, or if it indexes a field, which may be memory.
fn steps_choose(steps: &[Step<'_>]) -> bool {
    let chooses = |step: &Step<'_>| matches!(step, Step::Index(e) if !matches!(e, Expr::Lit(_)));
    steps.iter().any(chooses) || matches!(steps, [.., Step::Field(_), Step::Index(_)])
}

/// The root of a chain of field accesses and indices, and the steps, each with the expression that it is applied to.
fn path(whole: &Expr) -> (&Expr, Vec<(Step<'_>, &Expr)>) {
    let (mut steps, mut base) = (Vec::new(), whole);
    loop {
        base = match base {
            Expr::Index(e) => {
                steps.push((Step::Index(&e.index), &*e.expr));
                &e.expr
            }
            Expr::Field(e) => {
                steps.push((Step::Field(&e.member), &*e.base));
                &e.base
            }
            Expr::Paren(e) => &e.expr,
            _ => break,
        };
    }
    steps.reverse();
    (base, steps)
}

/// The place `x[i].part` where `x` is not a variable.
fn element_part(left: &Expr) -> Option<Place<'_>> {
    let (_, mut steps) = path(left);
    // The first index that a field follows. Indices before it only select sub-slices.
    let at = steps.windows(2).position(|pair| matches!(pair, [(Step::Index(_), _), (Step::Field(_), _)]))?;
    let parts = steps.split_off(at + 1);
    let (Step::Index(index), slice) = steps.pop()? else { return None };
    Some(Place::Element(slice, index, parts.into_iter().map(|(step, _)| step).collect()))
}

/// The operator `op` of a compound assignment `op=`.
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
