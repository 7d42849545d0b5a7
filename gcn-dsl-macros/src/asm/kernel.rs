//! `gcn_asm!` with a function signature: defines a kernel that is launched like any other.

use std::collections::HashMap;

use gcn_emit::text::parse_inst_in;
use gcn_emit::text::{ExprValue, Scope};
use gcn_isa::Target;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, Signature, Type, Visibility, parse_quote};

use super::{Options, expand, options, programs};
use crate::check::{self, Arg, ArgKind, Declared};
use crate::errors::Errors;
use crate::expand::items::kernel;
use crate::parse::KernelFn;

/// A function whose body is assembly.
struct AsmFn {
    attrs: Vec<Attribute>,
    vis: Visibility,
    sig: Signature,
    body: Group,
}

impl Parse for AsmFn {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (attrs, vis, sig) = (input.call(Attribute::parse_outer)?, input.parse()?, input.parse()?);
        match input.parse()? {
            TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => {
                Ok(AsmFn { attrs, vis, sig, body })
            }
            other => Err(syn::Error::new(other.span(), "the instructions stand in braces")),
        }
    }
}

/// The expansion of one or more kernels.
pub(crate) fn kernels(input: TokenStream) -> TokenStream {
    let parser = |input: ParseStream<'_>| {
        let mut kernels: Vec<AsmFn> = Vec::new();
        while !input.is_empty() {
            kernels.push(input.parse()?);
        }
        Ok(kernels)
    };
    match parser.parse2(input) {
        Ok(kernels) => kernels.into_iter().map(kernel).collect(),
        Err(error) => {
            let form = "#[workgroup(64)] #[targets(gfx942)] fn name(x: *mut f32) { s_endpgm; }";
            syn::Error::new(error.span(), format!("{error}; an assembly kernel looks like `{form}`"))
                .into_compile_error()
        }
    }
}

fn kernel(mut asm: AsmFn) -> TokenStream {
    let mut errors = Errors::default();
    let mut options = Options { whole: true, ..Options::default() };
    let lds = own_attributes(&mut asm.attrs, &mut options, &mut errors);
    let body = Ok(parse_quote!({}));
    let kernel = KernelFn {
        attrs: asm.attrs,
        vis: asm.vis,
        sig: asm.sig,
        body,
        kept: Vec::new(),
        kernels: Default::default(),
        tuple_structs: Default::default(),
        known: std::rc::Rc::default(),
        self_type: None,
        self_varies: false,
    };
    if !kernel.sig.generics.params.is_empty() {
        let message = "an assembly kernel is not generic: its instructions are checked as they stand here";
        errors.at(&kernel.sig.generics.params, message);
    }
    if let Some(host) = check::host_params(&kernel).first() {
        let message =
            "an assembly kernel has no `#[host]` parameters: its instructions are checked as they stand here";
        errors.at(&host.name, message);
    }
    let declared = check::kernel(&kernel, &mut errors);
    let expanded = declared.filter(|_| !errors.spoilt()).and_then(|declared| {
        options.targets = targets(&kernel, &declared, &mut errors)?;
        options.wave = declared.registers.wave();
        let sizes = arguments(&declared.args, &mut options, &mut errors);
        let programs = programs(asm.body.stream(), &options, &mut errors);
        (!errors.spoilt()).then(|| expanded(&kernel, &declared, &expand::program(&programs), &lds, &sizes))
    });
    let mut out = expanded.unwrap_or_else(|| stub(&kernel));
    out.extend(errors.into_compile_errors());
    out
}

/// Removes from the list the attributes that only assembly kernels accept. Returns the LDS size in bytes.
fn own_attributes(attrs: &mut Vec<Attribute>, options: &mut Options, errors: &mut Errors) -> TokenStream {
    let mut lds = quote!(0);
    attrs.retain(|attr| {
        let Some(name) = attr.path().get_ident() else { return true };
        let argument = attr.meta.require_list().map(|l| l.tokens.clone()).unwrap_or_default();
        if name == "check" || name == "rules" {
            options::set(options, name, &options::list(argument).unwrap_or_default(), errors);
        } else if name == "lds" {
            match syn::parse2::<syn::Expr>(argument) {
                Ok(bytes) => lds = bytes.into_token_stream(),
                Err(_) => errors.at(attr, "write the LDS bytes of a workgroup: `#[lds(1024)]`"),
            }
        } else {
            return true;
        }
        false
    });
    lds
}

fn targets(kernel: &KernelFn, declared: &Declared, errors: &mut Errors) -> Option<Vec<Target>> {
    match &declared.targets {
        Some(targets) if !targets.is_empty() => Some(targets.clone()),
        _ => {
            let message = "for which targets is this written? put `#[targets(gfx942)]` before `fn`";
            errors.at(&kernel.sig.ident, message);
            None
        }
    }
}

/// The sizes in bytes of the element types, by name.
const ELEMENTS: [(&str, u32); 13] = [
    ("bool", 1),
    ("i8", 1),
    ("u8", 1),
    ("i16", 2),
    ("u16", 2),
    ("i32", 4),
    ("u32", 4),
    ("i64", 8),
    ("u64", 8),
    ("f16", 2),
    ("bf16", 2),
    ("f32", 4),
    ("f64", 8),
];

/// Defines each argument's name as a constant, the argument's offset in the kernarg segment. The layout is that of
/// `gcn_dsl::__private::Signature`. Returns assertions that the argument types have the sizes that their names suggest:
/// rustc knows the types, this macro only their names.
fn arguments(args: &[Arg], options: &mut Options, errors: &mut Errors) -> TokenStream {
    let mut end: u32 = 0;
    let mut assertions = TokenStream::new();
    for arg in args {
        let name = arg.name.to_string();
        let (size, align) = match arg.kind {
            ArgKind::Slice | ArgKind::SliceMut => (12, 8),
            ArgKind::Pointer | ArgKind::PointerMut => (8, 8),
            ArgKind::Value => match element(&arg.elem) {
                Some(bytes) => {
                    assertions.extend(assertion(&arg.elem, bytes));
                    (bytes.max(4), bytes.max(4))
                }
                None => {
                    let message = "the offset of this argument is not known here; write an element type by its own name, \
                                   such as `f32`";
                    errors.at(&arg.elem, message);
                    continue;
                }
            },
        };
        let offset = end.next_multiple_of(align);
        end = offset + size;
        if means_something_else(&name, &options.targets) {
            let message = format!("`{name}` has a meaning in assembly; rename the argument");
            errors.at(&arg.name, message);
        }
        if matches!(arg.kind, ArgKind::Slice | ArgKind::SliceMut) {
            options.constants.push((format!("{name}.len"), i64::from(offset) + 8));
        }
        options.constants.push((name, i64::from(offset)));
    }
    assertions
}

fn element(ty: &Type) -> Option<u32> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    ELEMENTS.iter().find(|e| last.ident == e.0).map(|e| e.1)
}

fn assertion(ty: &Type, bytes: u32) -> TokenStream {
    quote_spanned! {ty.span()=>
        const _: () = ::core::assert!(
            <#ty as ::gcn_dsl::scalar::Scalar>::ELEM.bytes() == #bytes,
            "this is not the element type of this name"
        );
    }
}

/// True if the assembler reads `name` as a register or keyword, so that an argument cannot have this name.
fn means_something_else(name: &str, targets: &[Target]) -> bool {
    struct Asked(HashMap<String, ()>);
    impl Scope for Asked {
        fn value(&mut self, expr: &str) -> Result<ExprValue, (usize, String)> {
            self.0.insert(expr.to_owned(), ());
            Ok(ExprValue::Known(0))
        }
    }
    targets.iter().any(|target| {
        let mut asked = Asked(HashMap::new());
        let read = parse_inst_in(&format!("s_mov_b32 s0, {name}"), *target, &mut asked);
        read.is_err() || !asked.0.contains_key(name)
    })
}

fn expanded(
    kernel: &KernelFn,
    declared: &Declared,
    program: &TokenStream,
    lds: &TokenStream,
    sizes: &TokenStream,
) -> TokenStream {
    let (name, vis) = (&kernel.sig.ident, &kernel.vis);
    let build = quote! {
        fn build_with(
            &self,
            target: ::gcn_dsl::asm::Target,
            options: &::gcn_dsl::BuildOptions,
        ) -> ::core::result::Result<::gcn_dsl::BuiltKernel<Self>, ::gcn_dsl::BuildError> {
            ::gcn_dsl::asm::__build(::gcn_dsl::Kernel::signature(self), &Self::PROGRAM, target, options, #lds)
        }

        fn build_kept(
            &self,
            target: ::gcn_dsl::asm::Target,
        ) -> ::core::result::Result<::std::sync::Arc<::gcn_dsl::BuiltKernel>, ::gcn_dsl::BuildError> {
            // Not cached: assembly needs no compilation.
            let built = ::gcn_dsl::Kernel::build(self, target)?;
            ::core::result::Result::Ok(::std::sync::Arc::new(built.into_any()))
        }
    };
    let kernel = kernel::without_body(kernel, declared, &build);
    quote! {
        #kernel
        impl #name {
            /// The kernel's instructions for each of its targets.
            #vis const PROGRAM: ::gcn_dsl::asm::AsmProgram = #program;
        }
        #sizes
    }
}

/// Declares a kernel with the same name and arguments but without code, in place of one that has errors.
fn stub(kernel: &KernelFn) -> TokenStream {
    let (name, vis) = (&kernel.sig.ident, &kernel.vis);
    let stub = kernel::stub(kernel);
    let program = kernel.sig.generics.params.is_empty().then(|| {
        let program = expand::program(&[]);
        quote! {
            impl #name {
                #[allow(missing_docs)]
                #vis const PROGRAM: ::gcn_dsl::asm::AsmProgram = #program;
            }
        }
    });
    quote!(#stub #program)
}
