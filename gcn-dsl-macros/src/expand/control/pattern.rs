//! Patterns of `match`, `if let` and `let … else`: the condition under which a pattern matches, and the names that it
//! binds.
//!
//! A pattern is decomposed level by level. Tuples and structs become Rust patterns in which fresh names replace the
//! nested patterns. The variant of an enum is resolved by rustc as well: the pattern becomes part of a closure that is
//! called with each variant of the value (`gcn_dsl::__private::Variants`).

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FieldPat, Pat, PatIdent, PatRange, Path, RangeLimits};

use crate::expand::{Cx, lang};
use crate::syntax::name_of;

/// A pattern without its parentheses.
pub(in crate::expand) fn plain(pat: &Pat) -> &Pat {
    match pat {
        Pat::Paren(p) => plain(&p.pat),
        other => other,
    }
}

/// True if the name is a constant. Syntax does not distinguish a constant from a new name, but Rust's naming convention
/// does.
pub(in crate::expand) fn is_constant(name: &Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase)
}

/// True if the name is a variant. Syntax does not distinguish a variant from an associated constant, but a constant's
/// name consists of capitals only.
fn is_variant_name(name: &Ident) -> bool {
    let name = name.to_string();
    name.starts_with(char::is_uppercase) && (name.contains(char::is_lowercase) || name.len() == 1)
}

/// True for `Some`, `None`, `Ok`, `Err` and `Enum::Variant`.
pub(in crate::expand) fn is_variant(path: &Path) -> bool {
    let mut names = path.segments.iter().rev().map(|s| &s.ident);
    match (names.next(), names.next()) {
        (Some(name), None) => ["Some", "None", "Ok", "Err"].iter().any(|n| name == n),
        (Some(name), Some(of)) => is_variant_name(name) && is_constant(of),
        (None, _) => false,
    }
}

/// The path, divided into the path of the enum and the name of the variant.
fn divided(path: &Path, self_type: Option<&Ident>) -> (Path, Option<syn::PathSegment>) {
    let mut of = path.clone();
    let name = of.segments.pop().map(syn::punctuated::Pair::into_value);
    of.segments.pop_punct();
    match self_type {
        // `Self` is replaced by the type's name, because an item inside a function cannot use `Self`.
        Some(itself) if of.is_ident("Self") => (Ident::new(&itself.to_string(), of.span()).into(), name),
        _ => (of, name),
    }
}

/// The expansion of a variant's path: an item that imports the enum, if one is needed, and the path.
fn variant(path: &Path, cx: &mut Cx<'_>, as_what: &str) -> (TokenStream, TokenStream) {
    let span = path.span();
    let (of, name) = divided(path, cx.self_type.as_ref());
    // `Some`, `None`, `Ok` and `Err` are written without their enum.
    if of.segments.is_empty() {
        let result = name.as_ref().is_some_and(|name| name.ident == "Ok" || name.ident == "Err");
        let of = if result { quote!(result::Result) } else { quote!(option::Option) };
        return (TokenStream::new(), quote_spanned!(span=> ::core::#of::#name));
    }
    // An alias would need explicit generic arguments, but those of a generic enum are to be inferred.
    if let Some(of) = of.get_ident().filter(|of| cx.known.generic.contains(&of.to_string())) {
        let host = host(of);
        return (TokenStream::new(), quote_spanned!(span=> #host::#of::#name));
    }
    let fresh = cx.fresh("", span);
    // A path through an associated type cannot name a variant, but a path through an alias can. The alias is named like
    // a type, so that rustc does not warn.
    let alias = Ident::new(&fresh.to_string().replacen("__gcn_", "__GcnEnum", 1), fresh.span());
    let (ty, what) = (of.span(), Ident::new(as_what, span));
    let kind = match as_what {
        "Host" => quote_spanned!(ty=> ::gcn_dsl::__private::Variants),
        _ => quote_spanned!(ty=> ::gcn_dsl::__private::Placed),
    };
    (quote_spanned!(ty=> type #alias = <#of as #kind>::#what;), quote_spanned!(span=> #alias::#name))
}

/// The direct subpatterns of a pattern, without `..`.
fn parts(pat: &Pat) -> Vec<&Pat> {
    let all: Vec<&Pat> = match pat {
        Pat::Tuple(p) => p.elems.iter().collect(),
        Pat::TupleStruct(p) => p.elems.iter().collect(),
        Pat::Slice(p) => p.elems.iter().collect(),
        Pat::Struct(p) => p.fields.iter().map(|f| &*f.pat).collect(),
        _ => Vec::new(),
    };
    all.into_iter().filter(|p| !matches!(p, Pat::Rest(_))).collect()
}

/// The pattern with each direct subpattern replaced by the result of `f`.
fn with_parts(pat: &Pat, f: &mut dyn FnMut(&Pat) -> Pat) -> Pat {
    let mut each = |p: &mut Pat| {
        if !matches!(p, Pat::Rest(_)) {
            *p = f(p);
        }
    };
    let mut pat = pat.clone();
    match &mut pat {
        Pat::Tuple(p) => p.elems.iter_mut().for_each(&mut each),
        Pat::TupleStruct(p) => p.elems.iter_mut().for_each(&mut each),
        Pat::Slice(p) => p.elems.iter_mut().for_each(&mut each),
        Pat::Struct(p) => p.fields.iter_mut().for_each(|field| {
            let before = field.pat.clone();
            each(&mut field.pat);
            // If the pattern in `P { x }` is replaced, the field has to be named explicitly.
            if field.pat != before {
                long(field);
            }
        }),
        _ => {}
    }
    pat
}

/// The pattern `_`, with the span of `pat`.
fn wild(pat: &Pat) -> Pat {
    Pat::Wild(syn::PatWild { attrs: Vec::new(), underscore_token: syn::Token![_](pat.span()) })
}

/// Writes the shorthand `field` as `field: field`.
fn long(field: &mut FieldPat) {
    if field.colon_token.is_none() {
        field.colon_token = Some(syn::Token![:](field.pat.span()));
    }
}

/// The path of the variant in a pattern; `None` if the pattern has none.
fn variant_path(pat: &Pat) -> Option<Path> {
    let path = match pat {
        Pat::TupleStruct(p) => p.path.clone(),
        Pat::Struct(p) => p.path.clone(),
        Pat::Path(p) if p.qself.is_none() => p.path.clone(),
        Pat::Ident(p) if p.ident == "None" => p.ident.clone().into(),
        _ => return None,
    };
    is_variant(&path).then_some(path)
}

/// The pattern with its path replaced.
fn with_path(pat: &Pat, path: &TokenStream) -> TokenStream {
    match pat {
        Pat::TupleStruct(p) => {
            let elems = &p.elems;
            quote_spanned!(p.paren_token.span.join()=> #path(#elems))
        }
        Pat::Struct(p) => {
            let (fields, rest) = (&p.fields, &p.rest);
            let comma = (!fields.is_empty() && !fields.trailing_punct() && rest.is_some()).then(|| quote!(,));
            quote_spanned!(p.brace_token.span.join()=> #path { #fields #comma #rest })
        }
        _ => path.clone(),
    }
}

/// True if the pattern may fail to match.
pub(in crate::expand) fn is_refutable(pat: &Pat) -> bool {
    match plain(pat) {
        Pat::Wild(_) | Pat::Rest(_) => false,
        Pat::Ident(p) if is_constant(&p.ident) => true,
        Pat::Ident(p) => p.subpat.as_ref().is_some_and(|(_, inner)| is_refutable(inner)),
        Pat::Or(or) => or.cases.iter().all(is_refutable),
        p @ (Pat::Tuple(_) | Pat::TupleStruct(_) | Pat::Slice(_) | Pat::Struct(_)) => {
            variant_path(p).is_some() || parts(p).into_iter().any(is_refutable)
        }
        _ => true,
    }
}

/// True for a pattern that binds a single name as an immutable variable.
fn binds_plainly(pat: &Pat) -> bool {
    matches!(pat, Pat::Ident(p) if p.mutability.is_none() && p.subpat.is_none() && !is_constant(&p.ident))
}

/// True if the pattern declares a name.
fn binds(pat: &Pat) -> bool {
    match plain(pat) {
        Pat::Ident(p) => !is_constant(&p.ident),
        Pat::Or(or) => or.cases.iter().any(binds),
        p => parts(p).into_iter().any(binds),
    }
}

/// What rustc needs, in addition to a pattern, to check it.
#[derive(Default)]
pub(crate) struct Needs {
    pub items: TokenStream,
    /// True if the pattern may fail to match although rustc would consider it irrefutable.
    pub guard: bool,
}

impl Cx<'_> {
    /// True if kernels support the pattern; otherwise reports an error and returns false.
    pub fn pattern_is_known(&mut self, pat: &Pat) -> bool {
        let what = match plain(pat) {
            Pat::Path(p) => return self.variant_is_there(&p.path),
            Pat::TupleStruct(syn::PatTupleStruct { path, .. }) | Pat::Struct(syn::PatStruct { path, .. })
                if !self.variant_is_there(path) =>
            {
                return false;
            }
            Pat::Wild(_) | Pat::Lit(_) | Pat::Range(_) | Pat::Const(_) | Pat::Rest(_) => return true,
            Pat::Ident(p) if p.by_ref.is_none() => {
                return p.subpat.as_ref().is_none_or(|(_, inner)| self.pattern_is_known(inner));
            }
            // Each alternative would bind the name to a different register, but all alternatives share one body.
            Pat::Or(or) if binds(&Pat::Or(or.clone())) => {
                "the alternatives of a pattern with `|` bind no names in a kernel; write an arm for each"
            }
            // `&` does not short-circuit, so every unsupported alternative is reported.
            Pat::Or(or) => return or.cases.iter().map(|p| self.pattern_is_known(p)).fold(true, |a, b| a & b),
            p @ (Pat::Tuple(_) | Pat::TupleStruct(_) | Pat::Slice(_) | Pat::Struct(_)) => {
                return parts(p).into_iter().map(|p| self.pattern_is_known(p)).fold(true, |a, b| a & b);
            }
            Pat::Reference(_) | Pat::Ident(_) => {
                "a pattern of a kernel takes values, which are copied; remove the `&` or `ref`"
            }
            _ => {
                "a pattern of a kernel is a constant, a range, `_`, a name, `name @ pattern`, a variant of an enum, a tuple or a \
                 struct of patterns, or several with `|`"
            }
        };
        self.errors.at(pat, what);
        false
    }

    /// The condition under which the value named `of` matches; `None` if it always does.
    pub fn condition(&mut self, pat: &Pat, of: &Ident) -> Option<TokenStream> {
        let pat = plain(pat);
        let at = pat.span();
        let one = |name: &str, constant: &dyn ToTokens| {
            let (call, constant) = (lang(name, at), constant.to_token_stream());
            quote_spanned!(at=> #call(#of, #constant))
        };
        if !is_refutable(pat) {
            return None;
        }
        if let Some(path) = variant_path(pat) {
            return Some(self.variant_condition(pat, &path, of));
        }
        match pat {
            Pat::Ident(PatIdent { subpat: Some((_, inner)), .. }) => self.condition(inner, of),
            Pat::Ident(p) => Some(one("is", &p.ident)),
            Pat::Or(p) => {
                let tests: Vec<TokenStream> = p.cases.iter().filter_map(|p| self.condition(p, of)).collect();
                let or = lang("or", at);
                tests.into_iter().reduce(|a, b| quote_spanned!(at=> #or(#a, #b)))
            }
            Pat::Range(r) => range(r, of, at, one),
            Pat::Tuple(_) | Pat::TupleStruct(_) | Pat::Slice(_) | Pat::Struct(_) => {
                let (shallow, inner) = self.divided(pat, is_refutable);
                let condition = self.all_of(&inner, at)?;
                Some(quote_spanned!(at=> { let #shallow = #of; #condition }))
            }
            constant => Some(one("is", constant)),
        }
    }

    fn variant_condition(&mut self, pat: &Pat, path: &Path, of: &Ident) -> TokenStream {
        let at = pat.span();
        let wild = with_parts(pat, &mut wild);
        let (item, name) = variant(path, self, "Host");
        let (wild, call) = (with_path(&wild, &name), lang("is_variant", at));
        let host = self.helper("host", at);
        let own = quote_spanned!(at=> #call(&#of, |#host| {
            #item
            #[allow(unreachable_patterns)]
            match #host { #wild => true, _ => false }
        }));
        let (shallow, inner) = self.divided(pat, is_refutable);
        // The fields of other variants are undefined, so a test of a field counts only where the test of the variant
        // succeeds.
        let Some(rest) = self.all_of(&inner, at) else { return own };
        let (fields, and) = (self.fields(&shallow, path, &inner, of), lang("and", at));
        quote_spanned!(at=> { #fields #and(#own, #rest) })
    }

    /// A `let` that binds fresh names to the fields of the variant that `pat` names.
    fn fields(&mut self, pat: &Pat, path: &Path, inner: &[(Ident, Pat)], of: &Ident) -> TokenStream {
        let at = pat.span();
        let (item, name) = variant(path, self, "Host");
        let (pat, call, host) = (with_path(pat, &name), lang("variant", at), self.helper("host", at));
        let names = inner.iter().map(|(name, _)| name);
        let names = quote!((#(#names,)*));
        quote_spanned!(at=> let #names = #call(&#of, |#host| {
            #item
            #[allow(unreachable_patterns)]
            match #host { #pat => ::core::option::Option::Some(#names), _ => ::core::option::Option::None }
        });)
    }

    /// The pattern with a fresh name in place of each subpattern that is `wanted`, and `_` in place of each other one.
    /// Also returns these names with their subpatterns.
    fn divided(&mut self, pat: &Pat, wanted: fn(&Pat) -> bool) -> (Pat, Vec<(Ident, Pat)>) {
        let mut inner = Vec::new();
        let shallow = with_parts(pat, &mut |part| {
            if !wanted(part) {
                return wild(part);
            }
            let name = self.fresh("part", part.span());
            inner.push((name.clone(), part.clone()));
            Pat::Ident(PatIdent {
                attrs: Vec::new(),
                by_ref: None,
                mutability: None,
                ident: name,
                subpat: None,
            })
        });
        (shallow, inner)
    }

    fn all_of(&mut self, parts: &[(Ident, Pat)], at: Span) -> Option<TokenStream> {
        let conditions: Vec<TokenStream> =
            parts.iter().filter_map(|(name, p)| self.condition(p, name)).collect();
        let and = lang("and", at);
        conditions.into_iter().reduce(|a, b| quote_spanned!(at=> #and(#a, #b)))
    }

    /// A `let` for each name that the pattern binds.
    pub fn bindings(&mut self, pat: &Pat, of: &Ident) -> TokenStream {
        let pat = plain(pat);
        let at = pat.span();
        if !binds(pat) {
            return TokenStream::new();
        }
        if let Pat::Ident(p) = pat {
            // In `name @ pattern`, the names of the inner pattern are declared as well.
            let inner = p.subpat.as_ref().map(|(_, inner)| self.bindings(inner, of));
            let name = &p.ident;
            let own = match p.mutability {
                Some(_) => {
                    let (flow, value) = (self.flow(at), self.varied(name, quote!(#of)));
                    quote_spanned!(at=> let mut #name = ::gcn_dsl::__private::Var::declare(&#flow, #value);)
                }
                None => quote_spanned!(at=> let #name = #of;),
            };
            self.declare(name, p.mutability.is_some());
            return quote!(#inner #own);
        }
        let (shallow, inner) = self.divided(pat, binds);
        let fields = match variant_path(pat) {
            Some(path) => self.fields(&shallow, &path, &inner, of),
            None => quote_spanned!(at=> let #shallow = #of;),
        };
        let each: Vec<TokenStream> = inner.iter().map(|(name, p)| self.bindings(p, name)).collect();
        quote!(#fields #(#each)*)
    }

    /// The pattern in the form that rustc checks; the items that this form needs are added to `needs`. In device
    /// structs, `_` replaces refutable fields, so the original pattern matches fewer values than rustc assumes.
    pub fn checked_pattern(&mut self, pat: &Pat, needs: &mut Needs) -> TokenStream {
        match plain(pat) {
            Pat::Or(p) => {
                let cases: Vec<TokenStream> =
                    p.cases.iter().map(|p| self.checked_pattern(p, needs)).collect();
                quote!(#(#cases)|*)
            }
            Pat::Ident(p) if p.subpat.is_some() => {
                let inner = p.subpat.as_ref().map(|(at, inner)| (at, self.checked_pattern(inner, needs)));
                let (name, inner) = (&p.ident, inner.map(|(at, inner)| quote!(#at (#inner))));
                quote_spanned!(pat.span()=> #name #inner)
            }
            // The module `unused` handles the lint about needless `mut`.
            Pat::Ident(p) if !is_constant(&p.ident) => p.ident.to_token_stream(),
            inner @ (Pat::Struct(_) | Pat::TupleStruct(_)) if variant_path(inner).is_none() => {
                // With `_` for the refutable fields, rustc would consider the pattern irrefutable, so a guard is
                // needed.
                needs.guard |= parts(inner).into_iter().any(is_refutable);
                with_parts(inner, &mut |p| if is_refutable(p) { wild(p) } else { p.clone() })
                    .to_token_stream()
            }
            inner => {
                let rewritten = with_parts(inner, &mut |p| match binds_plainly(p) {
                    // A shorthand field stays a shorthand.
                    true => p.clone(),
                    false => Pat::Verbatim(self.checked_pattern(p, needs)),
                });
                let Some(path) = variant_path(inner) else { return rewritten.to_token_stream() };
                let (item, name) = variant(&path, self, "Pattern");
                needs.items.extend(item);
                with_path(&rewritten, &name)
            }
        }
    }

    /// Expands `Enum::Variant { field: value }`; `None` if `e` does not have this form.
    pub fn variant_with_fields(&mut self, e: &syn::ExprStruct) -> Option<TokenStream> {
        if !is_variant(&e.path) || e.path.segments.len() < 2 {
            return None;
        }
        if !self.variant_is_there(&e.path) {
            return Some(TokenStream::new());
        }
        let fields = e.fields.iter().map(|f| {
            let (member, value) = (&f.member, self.field_value(&f.expr));
            quote!(#member: #value)
        });
        let fields: Vec<TokenStream> = fields.collect();
        let (item, name) = variant(&e.path, self, "Host");
        let (span, (of, _)) = (e.brace_token.span.join(), divided(&e.path, self.self_type.as_ref()));
        let make = quote_spanned!(of.span()=> <#of as ::gcn_dsl::__private::OfVariant>::of);
        Some(quote_spanned!(span=> { #item #make(#name { #(#fields),* }) }))
    }

    /// The variants of the enum that the path names, if this macro call declares it.
    fn known_variants(&self, path: &Path) -> Option<&[(String, bool)]> {
        let of = divided(path, self.self_type.as_ref()).0;
        let name = of.segments.last()?.ident.to_string();
        self.known.variants.get(&name).map(Vec::as_slice)
    }

    /// True for `Enum::Variant` of an enum that this macro call declares, if the variant has no fields.
    pub fn is_unit_variant(&self, path: &Path) -> bool {
        let of = divided(path, self.self_type.as_ref()).0;
        if of.get_ident().is_some_and(|of| self.known.listed.contains(&of.to_string())) {
            return false;
        }
        let (variants, name) = (self.known_variants(path).unwrap_or_default(), path.segments.last());
        name.is_some_and(|name| variants.iter().any(|(variant, unit)| *unit && name.ident == variant))
    }

    /// True for a path that may be a fieldless variant of a device enum from another macro call.
    pub fn may_be_variant(&self, path: &Path) -> bool {
        const NONE: [&str; 4] = ["Ordering", "Scope", "Cache", "Target"];
        let of = path.segments.iter().rev().nth(1);
        let known = of.is_some_and(|of| NONE.iter().any(|name| of.ident == name));
        is_variant(path) && !known && self.known_variants(path).is_none()
    }

    /// Returns false, after reporting an error, if this macro call declares the enum without a variant of this name.
    pub fn variant_is_there(&mut self, path: &Path) -> bool {
        let (Some(variants), Some(name)) = (self.known_variants(path), path.segments.last()) else {
            return true;
        };
        if !is_variant(path) || variants.iter().any(|(variant, _)| name.ident == variant) {
            return true;
        }
        let all: Vec<String> = variants.iter().map(|(variant, _)| format!("`{variant}`")).collect();
        let what = format!("unknown variant `{}`; the variants are {}", name.ident, all.join(", "));
        self.errors.at(&name.ident, what);
        false
    }

    /// True for the name `name` of Rust's prelude, if no local name shadows it.
    pub fn is_prelude(&self, e: &syn::Expr, name: &str) -> bool {
        name_of(e).is_some_and(|n| n == name && self.kind(n).is_none())
    }
}

fn range(
    r: &PatRange,
    of: &Ident,
    at: Span,
    one: impl Fn(&str, &dyn ToTokens) -> TokenStream,
) -> Option<TokenStream> {
    let closed = matches!(r.limits, RangeLimits::Closed(_));
    Some(match (&r.start, &r.end) {
        (Some(a), Some(b)) if closed => {
            let call = lang("is_between", at);
            quote_spanned!(at=> #call(#of, #a, #b))
        }
        (Some(a), Some(b)) => {
            let (low, high, and) = (one("is_at_least", a), one("is_below", b), lang("and", at));
            quote_spanned!(at=> #and(#low, #high))
        }
        (Some(a), None) => one("is_at_least", a),
        (None, Some(b)) if closed => one("is_at_most", b),
        (None, Some(b)) => one("is_below", b),
        (None, None) => return None,
    })
}

/// The name of the module that contains the host enum of the device enum `name`.
pub(in crate::expand) fn host(name: &Ident) -> Ident {
    format_ident!("__gcn_{}", name, span = name.span())
}
