//! The `gcn_kernel!` and `gcn_asm!` macros of `gcn-dsl`.
//!
//! This file contains only the entry points: `parse` builds a syntax tree with the user's spans, `check` reports the
//! errors that syntax alone shows, and `expand` turns the tree into calls of `gcn_dsl::__private`. rustc checks the
//! types. The expansion keeps the user's spans, so that rustc's errors point at the user's tokens. All other modules
//! use `proc_macro2` and are unit-tested.
#![forbid(unsafe_code)]

mod asm;
mod attrs;
mod check;
mod comptime;
mod errors;
mod expand;
mod operator;
mod parse;
mod rename;
mod syntax;
#[cfg(test)]
mod tests;
mod ty;

use proc_macro::TokenStream;

/// Declares kernels: functions whose bodies run on the GPU. See `gcn_dsl::gcn_kernel` for the language.
#[proc_macro]
pub fn gcn_kernel(input: TokenStream) -> TokenStream {
    kernels(input.into()).into()
}

/// Literal assembly, parsed and hazard-checked while the crate compiles. See `gcn_dsl::asm`.
#[proc_macro]
pub fn gcn_asm(input: TokenStream) -> TokenStream {
    asm::asm(input.into()).into()
}

/// Makes an enum of another crate usable in kernels, like an enum declared with `#[device] #[repr(i8)]`. Only gcn-dsl
/// uses this macro.
#[doc(hidden)]
#[proc_macro]
pub fn numbered(input: TokenStream) -> TokenStream {
    let expanded = syn::parse::<expand::items::listed::Numbered>(input).map(|numbered| numbered.expand());
    expanded.unwrap_or_else(syn::Error::into_compile_error).into()
}

fn kernels(input: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    let mut errors = errors::Errors::default();
    let parsed = match parse::items(comptime::mark(input)) {
        Ok(parsed) => parsed,
        Err(error) => return check::no_kernel(&error).into_compile_error(),
    };
    let mut out = proc_macro2::TokenStream::new();
    for item in &parsed {
        out.extend(match item {
            parse::Item::Kernel(kernel) if check::is_device_function(kernel) => {
                let what = "a kernel has a `#[workgroup(…)]`, returns nothing and takes its arguments from the host; a function that \
                            kernels call is a `#[device] fn`";
                errors.at(&kernel.sig.ident, what);
                expand::items::function::free(kernel, &mut errors)
            }
            parse::Item::Kernel(kernel) => self::kernel(kernel, &mut errors),
            parse::Item::Function(function) => expand::items::function::free(function, &mut errors),
            parse::Item::Struct(item) if expand::items::data::is_data(item) => expand::items::data::structure(item, &mut errors),
            parse::Item::Struct(item) => expand::items::aggregate::structure(item, &mut errors),
            parse::Item::Enum(item) => expand::items::enumeration::enumeration(item, &mut errors),
            parse::Item::Impl(item) => expand::items::function::implementation(item, &mut errors),
            parse::Item::Trait(item) => expand::items::traits::declaration(item, &mut errors),
        });
    }
    out.extend(errors.into_compile_errors());
    out
}

fn kernel(kernel: &parse::KernelFn, errors: &mut errors::Errors) -> proc_macro2::TokenStream {
    let mut found = errors::Errors::default();
    let declared = check::kernel(kernel, &mut found);
    let body = check::body(kernel, &mut found);
    let expanded = declared
        .zip(body)
        .map(|(declared, body)| expand::items::kernel::kernel(kernel, &declared, body, &mut found));
    // An item with an error keeps its signature and loses its body, so that each mistake gives only one message.
    let tokens = match (expanded, found.spoilt()) {
        (Some(tokens), false) => tokens,
        _ => expand::items::kernel::stub(kernel),
    };
    errors.append(found);
    tokens
}
