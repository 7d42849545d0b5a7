//! Generates a kernel's struct and its `Kernel` implementation.

use std::rc::Rc;

use gcn_isa::Target;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Block, GenericParam};

use crate::check::{Arg, ArgKind, Declared, HostParam, host_params};
use crate::errors::Errors;
use crate::expand::analysis::unused;
use crate::expand::expr::declared_targets;
use crate::expand::items::{inlined, looped};
use crate::expand::types::counted;
use crate::expand::{Cx, helper, traits_by_type};
use crate::parse::KernelFn;
use crate::ty;

struct Head {
    attrs: Vec<Attribute>,
    /// The generic parameters: with defaults, as in the type's declaration; as in the `impl`; and their names.
    declared: Vec<TokenStream>,
    params: Vec<TokenStream>,
    names: Vec<Ident>,
    /// The names of the constant parameters and of the type parameters.
    consts: Vec<Ident>,
    types: Vec<Ident>,
    clause: Option<TokenStream>,
    /// The `#[host]` parameters, which are the struct's fields.
    hosts: Vec<HostParam>,
}

fn head(kernel: &KernelFn) -> Head {
    let own = ["workgroup", "targets", "schedule", "max_registers", "min_occupancy", "wave", "contract"];
    // Lint levels for variables are applied to the code that triggers the lints, since the expansion itself triggers none.
    let kept = |a: &&Attribute| !own.iter().any(|n| a.path().is_ident(n)) && !unused::is_level(a);
    let mut head = Head {
        attrs: kernel.attrs.iter().filter(kept).cloned().collect(),
        declared: Vec::new(),
        params: Vec::new(),
        names: Vec::new(),
        consts: Vec::new(),
        types: Vec::new(),
        clause: kernel.sig.generics.where_clause.as_ref().map(ToTokens::to_token_stream),
        hosts: host_params(kernel),
    };
    for param in &kernel.sig.generics.params {
        let name = match param {
            GenericParam::Const(c) => {
                let (name, ty) = (&c.ident, &c.ty);
                let default = c.default.as_ref().map(|value| quote!(= #value));
                head.declared.push(quote!(const #name: #ty #default));
                head.params.push(quote!(const #name: #ty));
                head.consts.push(name.clone());
                name
            }
            GenericParam::Type(t) => {
                let (name, bounds) = (&t.ident, &t.bounds);
                let default = t.default.as_ref().map(|ty| quote!(= #ty));
                head.declared.push(quote!(#name #default));
                head.params.push(quote!(#name: #bounds));
                head.types.push(name.clone());
                name
            }
            // The lifetime is dropped, because memory is a handle without a lifetime while a kernel is built.
            GenericParam::Lifetime(_) => continue,
        };
        head.names.push(name.clone());
    }
    head
}

fn declaration(kernel: &KernelFn, head: &Head) -> TokenStream {
    let (vis, name, attrs, params) = (&kernel.vis, &kernel.sig.ident, &head.attrs, &head.declared);
    let generics = (!params.is_empty()).then(|| quote!(<#(#params),*>));
    // If there are type parameters, an enum replaces the struct; see `over_types`.
    if !head.types.is_empty() {
        return over_types(kernel, head);
    }
    if !head.hosts.is_empty() {
        let fields = head.hosts.iter().map(|HostParam { name, ty }| {
            let doc = format!("Parameter `{name}` of the kernel.");
            quote!(#[doc = #doc] #vis #name: #ty)
        });
        return quote! {
            #(#attrs)*
            #[allow(non_camel_case_types)]
            #[derive(Clone, Copy, Debug)]
            #vis struct #name #generics { #(#fields),* }
        };
    }
    quote! {
        #(#attrs)*
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, Default)]
        #vis struct #name #generics;
    }
}

/// Declares a kernel that is generic over types and is used as a value, `name::<f16>`. A unit struct cannot have unused
/// type parameters. A unit variant of an enum can, if another variant uses them; that other variant cannot be
/// constructed. The enum has the kernel's name, so that messages show it, and is in a separate module, where its name
/// does not clash with the imported variant.
fn over_types(kernel: &KernelFn, head: &Head) -> TokenStream {
    let (vis, name, attrs, declared) = (&kernel.vis, &kernel.sig.ident, &head.attrs, &head.declared);
    let (names, types) = (&head.names, &head.types);
    // In the order of declaration, which is also the order of the arguments that the user supplies.
    let params: Vec<TokenStream> = kernel
        .sig
        .generics
        .params
        .iter()
        .filter_map(|param| match param {
            GenericParam::Const(c) => {
                let (name, ty) = (&c.ident, &c.ty);
                Some(quote!(const #name: #ty))
            }
            GenericParam::Type(t) => Some(t.ident.to_token_stream()),
            GenericParam::Lifetime(_) => None,
        })
        .collect();
    let [of, never] = ["", "_never"].map(|what| helper(&format!("{name}{what}"), name.span(), name.span()));
    let doc = format!("The kernel `{name}`.");
    let shared: Vec<&Attribute> = attrs.iter().filter(|a| a.path().is_ident("cfg")).collect();
    quote! {
        #(#shared)*
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        mod #of {
            pub enum #name<#(#params),*> {
                #[doc(hidden)]
                #never(::core::convert::Infallible, ::core::marker::PhantomData<(#(#types,)*)>),
                #[doc = #doc]
                #name,
            }
        }
        #(#shared)*
        #[allow(unused_imports)]
        #vis use #of::#name::*;
        #(#attrs)*
        #[allow(non_camel_case_types)]
        #vis type #name<#(#declared),*> = #of::#name<#(#names),*>;
        #(#shared)*
        impl<#(#params),*> ::core::clone::Clone for #name<#(#names),*> {
            fn clone(&self) -> Self {
                *self
            }
        }
        #(#shared)*
        impl<#(#params),*> ::core::marker::Copy for #name<#(#names),*> {}
        #(#shared)*
        impl<#(#params),*> ::core::fmt::Debug for #name<#(#names),*> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(::core::stringify!(#name))
            }
        }
    }
}

/// Binds the kernel's fields to variables of the same names.
fn fields(head: &Head) -> TokenStream {
    let lets =
        head.hosts.iter().map(|HostParam { name, .. }| quote_spanned!(name.span()=> let #name = self.#name;));
    lets.collect()
}

/// The complete expansion of a kernel.
pub(crate) fn kernel(
    kernel: &KernelFn,
    declared: &Declared,
    body: &Block,
    errors: &mut Errors,
) -> TokenStream {
    let head = head(kernel);
    let signature = signature(kernel, declared, &head);
    let targets = declared.targets.as_deref();
    let inlined = inlined::inlined(body);
    // The lints apply to the body as the user wrote it, before closures are inlined.
    let written = body;
    let body = inlined.as_ref().unwrap_or(body);
    let looped = looped::looped(body, kernel);
    let body = looped.as_ref().unwrap_or(body);
    let trace = trace(kernel, &head, &declared.args, targets, errors, |cx| {
        cx.find_varying(kernel, body);
        match kernel.attrs.iter().any(crate::attrs::is_schedule) {
            true => cx.manual_body(body),
            false => cx.function_body(&body.stmts, body.brace_token.span.open()),
        }
    });
    let implementation = implementation(kernel, &head, &declared.args, &signature, &trace, None);
    let declaration = declaration(kernel, &head);
    let lints = unused::lints(kernel, written);
    quote!(#declaration #implementation #lints)
}

/// The function that is executed when the kernel is built. It executes the body and so records the kernel's operations.
fn trace(
    kernel: &KernelFn,
    head: &Head,
    args: &[Arg],
    targets: Option<&[Target]>,
    errors: &mut Errors,
    statements: impl FnOnce(&mut Cx<'_>) -> TokenStream,
) -> TokenStream {
    let (body, freed) = {
        let mut cx = Cx::new(errors, targets, kernel.sig.fn_token.span);
        cx.kernels = Rc::clone(&kernel.kernels);
        cx.known = Rc::clone(&kernel.known);
        cx.tuple_structs = Rc::clone(&kernel.tuple_structs);
        cx.elements = ty::elements(&kernel.sig.generics).beside(&kernel.known.listed);
        cx.hosts = kernel.host_names();
        cx.sizes = kernel.size_names();
        cx.memory = counted::memory_of(&kernel.sig).collect();
        head.hosts.iter().for_each(|h| cx.declare(&h.name, false));
        args.iter().for_each(|a| cx.declare(&a.name, false));
        (statements(&mut cx), cx.freed_names())
    };
    let site = kernel.sig.fn_token.span;
    let (flow, from) = (helper("flow", site, site), helper("args", site, site));
    let bindings = args.iter().map(|arg| {
        let (name, elem, method) = (&arg.name, &arg.elem, format_ident!("{}", arg.kind.method()));
        quote_spanned!(name.span()=> let #name = #from.#method::<#elem>();)
    });
    let traits = traits_by_type();
    let (fields, on) = (fields(head), declared_targets(targets.unwrap_or_default(), site));
    quote! {
        #on
        #traits
        #freed
        #fields
        let #flow = ::gcn_dsl::__private::WholeWorkgroup::new();
        #(#bindings)*
        { #body }
    }
}

/// Expands a kernel that has no Rust body. `build` is the body of its method `build_with`.
pub(crate) fn without_body(kernel: &KernelFn, declared: &Declared, build: &TokenStream) -> TokenStream {
    let head = head(kernel);
    let signature = signature(kernel, declared, &head);
    let none = TokenStream::new();
    let implementation = implementation(kernel, &head, &declared.args, &signature, &none, Some(build));
    let declaration = declaration(kernel, &head);
    quote!(#declaration #implementation)
}

/// The replacement for a kernel with errors: the same name and arguments without a body, so that uses of the kernel
/// cause no further errors.
pub(crate) fn stub(kernel: &KernelFn) -> TokenStream {
    let head = head(kernel);
    let mut ignored = Errors::default();
    let args = crate::check::arguments(kernel, &mut ignored).unwrap_or_default();
    // Never executed, because the crate does not compile. rustc still checks the code that uses the kernel.
    let unreachable = quote!(::core::unreachable!("the kernel has compile errors"));
    // If the body has a syntax error, the statements that parse are kept, so that an editor can offer completions.
    let statements = match &kernel.body {
        Ok(body) => &body.stmts,
        Err(_) => &kernel.kept,
    };
    let rest = trace(kernel, &head, &args, None, &mut ignored, |cx| cx.whole_statements(statements));
    let body = quote! {
        #[cfg(rust_analyzer)]
        { #rest }
        #unreachable
    };
    let implementation = implementation(kernel, &head, &args, &unreachable, &body, None);
    let declaration = declaration(kernel, &head);
    quote!(#declaration #implementation)
}

fn implementation(
    kernel: &KernelFn,
    head: &Head,
    args: &[Arg],
    signature: &TokenStream,
    trace: &TokenStream,
    build: Option<&TokenStream>,
) -> TokenStream {
    let (name, params, names) = (&kernel.sig.ident, &head.params, &head.names);
    let generics = (!params.is_empty()).then(|| quote!(<#(#params),*>));
    let instance = (!names.is_empty()).then(|| quote!(<#(#names),*>));
    let types = |written: &dyn Fn(&syn::Type) -> TokenStream, read: &dyn Fn(&syn::Type) -> TokenStream| {
        let of = |arg: &Arg| match arg.kind {
            ArgKind::Value => arg.elem.to_token_stream(),
            ArgKind::Slice => read(&arg.elem),
            ArgKind::SliceMut => written(&arg.elem),
            ArgKind::Pointer | ArgKind::PointerMut => {
                let elem = &arg.elem;
                quote!(::gcn_dsl::DevicePtr<#elem>)
            }
        };
        args.iter().map(of).collect::<Vec<_>>()
    };
    let host_types = types(&|e| quote!(&'a mut [#e]), &|e| quote!(&'a [#e]));
    let device_types =
        types(&|e| quote!(&'a mut ::gcn_dsl::DeviceSlice<#e>), &|e| quote!(&'a ::gcn_dsl::DeviceSlice<#e>));
    let clause = &head.clause;
    let site = kernel.sig.fn_token.span;
    let [host, packer, device] = ["host", "packer", "args"].map(|name| helper(name, site, site));
    let packs: Vec<TokenStream> = args
        .iter()
        .enumerate()
        .map(|(i, arg)| {
            let at = arg.elem.span();
            let [host, packer] = ["host", "packer"].map(|name| helper(name, at, site));
            let i = syn::Index { index: i as u32, span: at };
            let method = match arg.kind {
                // The host passes an address in the same way for both kinds of pointer.
                ArgKind::PointerMut => format_ident!("pointer", span = at),
                kind => format_ident!("{}", kind.method(), span = at),
            };
            quote_spanned!(at=> #packer.#method(#host.#i);)
        })
        .collect();
    let shared = head.attrs.iter().filter(|a| a.path().is_ident("cfg") || a.path().is_ident("allow"));
    quote! {
        #(#shared)*
        #[allow(
            unused_variables, unused_mut, unused_parens, unused_braces, unexpected_cfgs, unused_assignments, clippy::all, clippy::pedantic
        )]
        #[deny(unused_must_use)]
        impl #generics ::gcn_dsl::Kernel for #name #instance #clause {
            type Args<'a> = (#(#host_types,)*);
            type DeviceArgs<'a> = (#(#device_types,)*);

            fn signature(&self) -> ::gcn_dsl::__private::Signature {
                #signature
            }

            fn trace(&self, #device: &mut ::gcn_dsl::__private::Arguments) {
                #trace
            }

            fn pack<'b, 'a: 'b>(#host: &'b mut Self::Args<'a>, #packer: &mut ::gcn_dsl::__private::Packer<'b>) {
                #(#packs)*
            }

            fn pack_device<'b, 'a: 'b>(
                #host: &'b mut Self::DeviceArgs<'a>,
                #packer: &mut ::gcn_dsl::launch::DevicePacker<'b>,
            ) {
                #(#packs)*
            }

            #build
        }
    }
}

fn signature(kernel: &KernelFn, declared: &Declared, head: &Head) -> TokenStream {
    let name = kernel.sig.ident.to_string();
    let types = head.types.iter().map(|t| quote!(.of_type::<#t>()));
    let consts = head.consts.iter().map(|n| {
        let text = n.to_string();
        quote!((#text, #n as i128))
    });
    let [x, y, z] = &declared.workgroup;
    let registers = declared.registers.calls();
    let contract = declared.contract.then(|| quote!(.contract()));
    let targets = declared.targets.as_ref().map(|targets| {
        let names = targets.iter().map(|t| t.name());
        quote!(.targets(&[#(#names),*]))
    });
    let args = declared.args.iter().map(|arg| {
        let (method, elem, name) = (format_ident!("{}", arg.kind.method()), &arg.elem, arg.name.to_string());
        quote_spanned!(arg.name.span()=> .#method::<#elem>(#name))
    });
    let fields = fields(head);
    let hosts = head.hosts.iter().map(|HostParam { name, .. }| quote!(.host(&#name)));
    quote_spanned! {kernel.sig.ident.span()=>
        #fields
        ::gcn_dsl::__private::Signature::new(#name, &[#(#consts),*], [(#x) as u32, (#y) as u32, (#z) as u32])
            #(#types)*
            #targets
            #(#hosts)*
            #registers
            #contract
            #(#args)*
    }
}
