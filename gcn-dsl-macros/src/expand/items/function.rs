//! `#[device] fn` and `#[device] impl`: Rust functions on device values.

use std::rc::Rc;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Ident, Pat, Stmt};

use crate::check;
use crate::errors::Errors;
use crate::expand::analysis::unused;
use crate::expand::items::declaration::{is_kept, is_track_caller};
use crate::expand::items::inlined;
use crate::expand::items::looped;
use crate::expand::items::methods;
use crate::expand::items::operators;
use crate::expand::items::signature::{Param, Shape, Signed, returned};
use crate::expand::places::question;
use crate::expand::places::receiver;
use crate::expand::types::counted;
use crate::expand::types::typed::typed_block;
use crate::expand::{Cx, Kind, helper, lang, traits_by_type};
use crate::operator::is_compound;
use crate::parse::{DeviceImpl, KernelFn, is_device};
use crate::syntax::bound_name;
use crate::{rename, ty};

/// Expands a `#[device] fn` outside of an `impl`.
pub(crate) fn free(function: &KernelFn, errors: &mut Errors) -> TokenStream {
    let expanded = expand(function, Shape::Free, errors);
    let lints = lints(function, errors);
    quote!(#expanded #lints)
}

/// Code that the expansion contains only for rustc's lints; `None` if there are errors.
pub(in crate::expand) fn lints(function: &KernelFn, errors: &Errors) -> Option<TokenStream> {
    let body = function.body.as_ref().ok().filter(|_| !errors.spoilt())?;
    Some(unused::lints(function, body))
}

/// Expands a `#[device] impl`.
pub(crate) fn implementation(item: &DeviceImpl, errors: &mut Errors) -> TokenStream {
    if let Some(places) = methods::places(item) {
        // All blocks are expanded from the same source, so an error in it is reported only for the first block.
        let blocks = places.iter().enumerate().map(|(k, place)| match k {
            0 => block(place, true, errors),
            // Errors here would repeat those of the first block.
            _ => block(place, false, &mut Errors::default()),
        });
        return blocks.collect();
    }
    block(item, true, errors)
}

/// Expands one `impl`. If `linted`, the output also contains a copy of the functions' bodies, so that rustc's lints
/// apply to them.
fn block(item: &DeviceImpl, linted: bool, errors: &mut Errors) -> TokenStream {
    let frame = &item.frame;
    let attrs = frame.attrs.iter().filter(|a| !is_device(a));
    let (unsafety, generics) = (&frame.unsafety, &frame.generics);
    let (params, clause) = (&generics.params, &generics.where_clause);
    let params = (!params.is_empty()).then(|| quote!(<#params>));
    let shape = if frame.trait_.is_some() { Shape::TraitMethod } else { Shape::Method };
    let of = frame.trait_.as_ref().map(|(not, path, for_)| quote!(#not #path #for_));
    let (ty, others) = (&frame.self_ty, &frame.items);
    let elements = ty::elements(generics);
    let functions: Vec<TokenStream> = item
        .functions
        .iter()
        .map(|f| {
            let mut found = Errors::default();
            let tokens = expand_with(f, shape, &elements, &mut found);
            errors.append(found);
            tokens
        })
        .collect();
    let lints: Vec<Option<TokenStream>> =
        item.functions.iter().filter(|_| linted).map(|f| lints(f, errors)).collect();
    let other_places = operators::for_other_places(item);
    quote! {
        #other_places
        #(#attrs)*
        #[allow(clippy::all, clippy::pedantic)]
        #unsafety impl #params #of #ty #clause {
            #(#others)*
            #(#functions)*
        }
        #(#lints)*
    }
}

fn expand(function: &KernelFn, shape: Shape, errors: &mut Errors) -> TokenStream {
    expand_with(function, shape, &ty::Elements::default(), errors)
}

pub(in crate::expand) fn expand_with(
    function: &KernelFn,
    shape: Shape,
    outer: &ty::Elements,
    errors: &mut Errors,
) -> TokenStream {
    let mut found = Errors::default();
    let signed = Signed::of(function, shape, outer, &mut found);
    let body = match check::body(function, &mut found) {
        Some(block) if !found.spoilt() => Some(body(function, &signed, block, &mut found)),
        _ => None,
    };
    let body = match body {
        Some(body) if !found.spoilt() => body,
        _ => {
            errors.append(found);
            // Outside an `impl`, rustc would report a second error about `self`.
            let out_of_place = |p: &Param| shape == Shape::Free && matches!(p, Param::Receiver(_));
            if signed.params.iter().any(out_of_place) {
                return TokenStream::new();
            }
            return declare(
                function,
                &signed,
                &quote!(::core::unreachable!("the function has compile errors")),
            );
        }
    };
    errors.append(found);
    declare(function, &signed, &body)
}

fn declare(function: &KernelFn, signed: &Signed, body: &TokenStream) -> TokenStream {
    let kept = function.attrs.iter().filter(|a| !is_device(a) && is_kept(a) && !unused::is_level(a));
    let (vis, name) = (&function.vis, &function.sig.ident);
    let generics = &function.sig.generics;
    let (params, clause) = (&generics.params, &generics.where_clause);
    let params = (!params.is_empty()).then(|| quote!(<#params>));
    let inputs = signed.params.iter().map(Param::declared);
    let output = signed.output.as_ref().map(|ty| quote_spanned!(ty.span()=> -> #ty));
    quote! {
        #(#kept)*
        #[track_caller]
        #[allow(unused_variables, unused_mut, unused_assignments, unused_parens, unused_braces, clippy::all, clippy::pedantic)]
        #vis fn #name #params (#(#inputs),*) #output #clause {
            #body
        }
    }
}

fn body(function: &KernelFn, signed: &Signed, block: &syn::Block, errors: &mut Errors) -> TokenStream {
    let site = function.sig.fn_token.span;
    let name = function.sig.ident.to_string();
    let mut cx = Cx::new(errors, None, site);
    cx.function = Some(function.sig.ident.clone());
    cx.self_type.clone_from(&function.self_type);
    cx.elements = signed.elements.clone();
    cx.hosts = function.host_names();
    cx.sizes = function.size_names();
    cx.memory = counted::memory_of(&function.sig).collect();
    cx.kernels = Rc::clone(&function.kernels);
    cx.known = Rc::clone(&function.known);
    cx.tuple_structs = Rc::clone(&function.tuple_structs);
    cx.result = returned(&function.sig.output).filter(|_| signed.converted.is_some()).cloned();
    // First of all, because the statements that replace `?` are then expanded like the user's statements.
    let unquestioned = question::hoisted(block, returned(&function.sig.output), cx.errors);
    let block = unquestioned.as_ref().unwrap_or(block);
    // Before types are inferred: the arguments of a closure may have different types in each call.
    let inlined = inlined::inlined(block);
    let block = inlined.as_ref().unwrap_or(block);
    let looped = looped::looped(block, function);
    let block = looped.as_ref().unwrap_or(block);
    if cx.errors.spoilt() {
        return TokenStream::new();
    }
    let typed = match &cx.result {
        Some(ty) => Some(typed_block(block, ty, &signed.elements)),
        None => signed.output.is_none().then(|| without_value(block)),
    };
    let block = typed.as_ref().unwrap_or(block);
    let flow = cx.flow(site);
    let token = signed.params.iter().find_map(|p| match p {
        Param::Token(name, targets) => Some((name, targets)),
        _ => None,
    });
    let flow_value = match token {
        Some((token, targets)) => {
            cx.callers_targets.clone_from(targets);
            quote_spanned!(token.span()=> #token.flow())
        }
        None => quote!(::gcn_dsl::__private::Called::new()),
    };
    if let (None, Some(Stmt::Expr(value, None))) = (&signed.output, block.stmts.last())
        && is_value(value)
    {
        let what = "the function gives this value to nobody: write what it returns, for example `-> V<f32>`, or a `;` after it";
        cx.errors.at(value, what);
    }
    // rustc's `self` cannot be a device variable, so a variable of another name replaces it.
    let changes_self = function.mutates_self() || function.owns_mutable_self();
    let renamed = match changes_self.then(|| rename::renamed(block, receiver::NAME)) {
        Some(Ok(block)) => Some(block),
        Some(Err(error)) => {
            cx.errors.push(error);
            None
        }
        None => None,
    };
    let block = renamed.as_ref().unwrap_or(block);
    // Questions to rustc contain the name that replaces `self`.
    cx.find_varying(function, block);
    let itself = renamed.is_some().then(|| receiver::name(site));
    if let Some(name) = &itself {
        cx.declare(name, true);
    }
    let bindings: Vec<TokenStream> = signed.params.iter().map(|p| p.bind(&mut cx)).collect();
    cx.returns_nothing = signed.output.is_none();
    let statements = cx.function_body(&block.stmts, block.brace_token.span.open());
    // After the body is expanded, because only then are the names that it rebinds known.
    let freed = cx.freed_names();
    let frame = helper("frame", site, site);
    let result = match &signed.converted {
        Some(ty) => {
            let span = block.stmts.last().map_or(block.span(), Spanned::span);
            let annotate = lang("annotate", span);
            quote_spanned!(span=> #annotate::<#ty, _>({ #statements }))
        }
        None => statements,
    };
    let (own, result) = match &itself {
        Some(name) => (
            Some(quote!(let #name = ::gcn_dsl::__private::mutable_self(&#flow, __gcn_receiver);)),
            match function.mutates_self() {
                true => quote!({ let __gcn_result = { #result }; (__gcn_result, #name.get()) }),
                false => result,
            },
        ),
        None => (None, result),
    };
    let traits = traits_by_type();
    let inner = quote! {
        #traits
        #freed
        let #flow = #flow_value;
        #own
        #(#bindings)*
        #result
    };
    // Not wrapped in a closure: instructions in a `#[track_caller]` function have the source location of the function's
    // caller, but in a closure they would have their own.
    let inner = match function.attrs.iter().any(is_track_caller) {
        true => quote!({ #inner }),
        false => {
            // Errors about the function's value point at its last statement.
            let span = block.stmts.last().map_or(block.span(), Spanned::span);
            quote_spanned!(span=> (move || { #inner })())
        }
    };
    let inner = match &itself {
        Some(_) if function.owns_mutable_self() => quote! {
            let __gcn_receiver = self;
            #inner
        },
        Some(_) => quote! {
            let __gcn_receiver = *self;
            let (__gcn_result, __gcn_receiver) = #inner;
            *self = __gcn_receiver;
            __gcn_result
        },
        None => inner,
    };
    quote! {
        let #frame = ::gcn_dsl::__private::enter(#name);
        #inner
    }
}

impl Param {
    /// The parameter as it is declared in the parameter list.
    pub fn declared(&self) -> TokenStream {
        match self {
            Param::Receiver(receiver) => receiver.to_token_stream(),
            Param::Token(name, None) => {
                quote_spanned!(name.span()=> #name: ::gcn_dsl::__private::AllLanes<impl Sized>)
            }
            Param::Token(name, Some(targets)) => {
                quote_spanned!(name.span()=> #name: ::gcn_dsl::__private::AllLanes<#targets>)
            }
            Param::Lent { arg, ty, .. } => {
                quote_spanned!(arg.span()=> #arg: ::gcn_dsl::__private::Lent<'_, #ty>)
            }
            Param::Memory { arg, ty, .. } => {
                quote_spanned!(ty.span()=> #arg: impl ::gcn_dsl::__private::LendsMemory<#ty>)
            }
            Param::Converted { arg, ty, .. } => {
                quote_spanned!(ty.span()=> #arg: impl ::gcn_dsl::__private::IntoDevice<#ty>)
            }
            Param::List { arg, ty, .. } => {
                quote_spanned!(ty.span()=> #arg: impl ::gcn_dsl::__private::Listable<#ty>)
            }
            Param::Data { arg, of, .. } => {
                quote_spanned!(of.span()=> #arg: impl ::gcn_dsl::__private::OneForAll<#of>)
            }
            Param::Host { arg, ty, .. } => {
                quote_spanned!(ty.span()=> #arg: impl ::gcn_dsl::__private::KnownNumber<#ty>)
            }
            Param::Plain { arg, ty, .. } => quote!(#arg: #ty),
        }
    }

    /// The statements that give the parameter's name the form that the body expects.
    fn bind(&self, cx: &mut Cx<'_>) -> TokenStream {
        match self {
            Param::Receiver(_) => TokenStream::new(),
            Param::Token(name, _) => {
                cx.declare_as(name, Kind::Token);
                TokenStream::new()
            }
            Param::Lent { name, arg, .. } => {
                cx.declare_as(name, Kind::Lent);
                let flow = cx.flow(name.span());
                quote_spanned!(name.span()=> let mut #name = #arg.enter(&#flow);)
            }
            Param::Memory { name, arg, ty } => {
                cx.declare(name, false);
                cx.memory.insert(name.to_string());
                let memory = lang("LendsMemory", name.span());
                quote_spanned!(name.span()=> let #name: #ty = #memory::memory(#arg);)
            }
            Param::Converted { pat, arg, ty } => {
                let annotate = lang("annotate", arg.span());
                cx.let_pattern(pat, &quote_spanned!(arg.span()=> #annotate::<#ty, _>(#arg)), arg.span())
            }
            Param::List { name, arg, ty } => {
                cx.declare(name, false);
                cx.lists.push(name.to_string());
                let listed = lang("elements_of", arg.span());
                quote_spanned!(arg.span()=> let #name = &#listed::<#ty, _>(#arg)[..];)
            }
            Param::Data { pat, arg, of } => {
                let one = lang("one_for_all", arg.span());
                cx.let_pattern(pat, &quote_spanned!(arg.span()=> #one::<#of, _>(#arg)), arg.span())
            }
            Param::Host { pat, arg, ty } => {
                let known = lang("known", arg.span());
                let known = quote_spanned!(arg.span()=> #known::<#ty, _>(#arg));
                match (pat, bound_name(pat)) {
                    (Pat::Ident(p), Some(name)) if p.mutability.is_none() => {
                        cx.declare(name, false);
                        quote_spanned!(name.span()=> let #name = #known;)
                    }
                    _ => cx.let_pattern(pat, &known, arg.span()),
                }
            }
            Param::Plain { pat, arg, .. } => match (pat, bound_name(pat)) {
                (Pat::Ident(p), Some(name)) if p.mutability.is_none() => {
                    cx.declare(name, false);
                    match name == arg {
                        true => TokenStream::new(),
                        false => quote_spanned!(name.span()=> let #name = #arg;),
                    }
                }
                _ => cx.let_pattern(pat, &quote!(#arg), arg.span()),
            },
        }
    }
}

impl Cx<'_> {
    /// Reports an error for the `AllLanes` token anywhere except as an argument.
    pub fn token_elsewhere(&mut self, at: impl ToTokens) {
        let what = "the token that all lanes run is only the argument of a call: `f(all_lanes(), …)`; elsewhere it could \
                    reach places where some lanes do not run";
        self.errors.at(at, what);
    }

    /// Reports an error if a device function calls itself where no host value can end the recursion.
    pub fn no_recursion(&mut self, callee: &Expr) {
        let Some(function) = &self.function else { return };
        let Expr::Path(path) = callee else { return };
        let segments: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
        let itself = match segments.as_slice() {
            [name] => function == name && self.kind(&path.path.segments[0].ident).is_none(),
            // A path through another type names a different function.
            [ty, name] => ty == "Self" && function == name,
            _ => false,
        };
        if itself && self.comptime == 0 {
            let what = format!(
                "the device function `{function}` calls itself; device functions are inlined, so that this has no end: \
                 write a loop, or let a host value end it in `comptime if`"
            );
            self.errors.at(callee, what);
        }
    }

    /// `let pattern = value;`, with a device variable for each `mut` name in it.
    pub fn let_pattern(&mut self, pat: &Pat, value: &TokenStream, span: Span) -> TokenStream {
        let mut mutable = Vec::new();
        // A single name takes the value directly, so no second binding is needed.
        let whole = matches!(pat, Pat::Ident(_));
        let pat = without_mut(pat.clone(), &mut mutable);
        self.bind(&pat);
        let flow = self.flow(span);
        if let (true, [name]) = (whole, mutable.as_slice()) {
            self.declare(name, true);
            let named = self.named_variable(name);
            return quote_spanned!(span=> let mut #name = ::gcn_dsl::__private::Var::declare(&#flow, #value)#named;);
        }
        let values: Vec<TokenStream> = mutable.iter().map(|name| self.varied(name, quote!(#name))).collect();
        for name in &mutable {
            self.declare(name, true);
        }
        let of_variables: Vec<TokenStream> = mutable.iter().map(|name| self.named_variable(name)).collect();
        let named = self.named_but(&pat, &mutable);
        quote_spanned! {span=>
            let #pat = #value;
            #named
            #(let mut #mutable = ::gcn_dsl::__private::Var::declare(&#flow, #values)#of_variables;)*
        }
    }
}

/// True if every name of the pattern is `mut`.
pub(in crate::expand) fn all_mut(pat: &Pat) -> bool {
    match pat {
        Pat::Ident(p) => p.mutability.is_some() && p.by_ref.is_none(),
        Pat::Tuple(p) => p.elems.iter().all(all_mut),
        Pat::Paren(p) => all_mut(&p.pat),
        _ => false,
    }
}

/// True if the pattern declares a `mut` name.
pub(in crate::expand) fn has_mut(pat: &Pat) -> bool {
    let mut mutable = Vec::new();
    without_mut(pat.clone(), &mut mutable);
    !mutable.is_empty()
}

/// The pattern without `mut`. The names that had `mut` are collected in `mutable`.
fn without_mut(pat: Pat, mutable: &mut Vec<Ident>) -> Pat {
    let mut each = |p: Pat| without_mut(p, mutable);
    match pat {
        Pat::Ident(mut p) => {
            if p.mutability.take().is_some() {
                mutable.push(p.ident.clone());
            }
            Pat::Ident(p)
        }
        Pat::Tuple(mut p) => {
            p.elems = p.elems.into_iter().map(&mut each).collect();
            Pat::Tuple(p)
        }
        Pat::TupleStruct(mut p) => {
            p.elems = p.elems.into_iter().map(&mut each).collect();
            Pat::TupleStruct(p)
        }
        Pat::Slice(mut p) => {
            p.elems = p.elems.into_iter().map(&mut each).collect();
            Pat::Slice(p)
        }
        Pat::Struct(mut p) => {
            for field in &mut p.fields {
                *field.pat = each((*field.pat).clone());
                // `P { mut a }` is a shorthand for `P { a: mut a }`, and remains a shorthand.
            }
            Pat::Struct(p)
        }
        Pat::Paren(mut p) => {
            *p.pat = each((*p.pat).clone());
            Pat::Paren(p)
        }
        other => other,
    }
}

/// The block without a value: a call at its end has to return `()`.
fn without_value(block: &syn::Block) -> syn::Block {
    let mut block = block.clone();
    if let Some(Stmt::Expr(e @ (Expr::Call(_) | Expr::MethodCall(_)), None)) = block.stmts.last_mut() {
        let span = e.span();
        *e = syn::parse_quote_spanned!(span=> ::gcn_dsl::__private::nothing(#e));
    }
    block
}

/// True for an expression that has a value and no other effect.
fn is_value(e: &Expr) -> bool {
    match e {
        Expr::Paren(p) => is_value(&p.expr),
        Expr::Binary(b) => !is_compound(&b.op),
        Expr::Tuple(t) => !t.elems.is_empty(),
        _ => matches!(
            e,
            Expr::Lit(_)
                | Expr::Path(_)
                | Expr::Field(_)
                | Expr::Array(_)
                | Expr::Struct(_)
                | Expr::Unary(_)
                | Expr::Cast(_)
                | Expr::Index(_)
        ),
    }
}
