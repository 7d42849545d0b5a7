//! Tokens to functions with their attributes. Nothing is judged here but syntax.

use proc_macro2::TokenStream;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Block, Signature, Visibility};

/// A function in `gcn_kernel!`.
pub(crate) struct KernelFn {
    pub attrs: Vec<Attribute>,
    pub vis: Visibility,
    pub sig: Signature,
    /// The body, or why it is no Rust: the kernel's name and arguments are known even then.
    pub body: syn::Result<Block>,
}

impl Parse for KernelFn {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(KernelFn {
            attrs: input.call(Attribute::parse_outer)?,
            vis: input.parse()?,
            sig: input.parse()?,
            body: body(input)?,
        })
    }
}

fn body(input: ParseStream<'_>) -> syn::Result<syn::Result<Block>> {
    let ahead = input.fork();
    match ahead.parse() {
        Ok(block) => {
            input.advance_to(&ahead);
            Ok(Ok(block))
        }
        Err(error) => {
            // Past the braces the next kernel can still be read; without braces there is no body to go past.
            input.parse::<proc_macro2::Group>().map_err(|_| error.clone())?;
            Ok(Err(error))
        }
    }
}

/// All functions of one macro call.
pub(crate) fn kernels(input: TokenStream) -> syn::Result<Vec<KernelFn>> {
    let parser = |input: ParseStream<'_>| {
        if input.is_empty() {
            return Err(input.error(
                "`gcn_kernel!` is empty; write a kernel, for example `#[workgroup(64)] fn fill(x: &mut [f32]) { … }`",
            ));
        }
        let mut kernels = Vec::new();
        while !input.is_empty() {
            kernels.push(input.parse()?);
        }
        Ok(kernels)
    };
    parser.parse2(input)
}
