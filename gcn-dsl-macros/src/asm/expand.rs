//! Emits checked programs as a constant in the user's crate.

use gcn_emit::text::{Comments, print_program};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::judge::Checked;

/// An `AsmProgram` expression that contains `programs`.
pub(crate) fn program(programs: &[Checked]) -> TokenStream {
    let parts = programs.iter().map(part);
    quote!(::gcn_dsl::asm::AsmProgram::__new(::core::file!(), &[#(#parts),*]))
}

fn part(checked: &Checked) -> TokenStream {
    let target = format_ident!("{}", checked.program.target.identifier().to_uppercase());
    let wave = format_ident!("W{}", checked.program.wave.lanes());
    let text = print_program(&checked.program, Comments::None);
    let code = Literal::byte_string(&checked.code);
    let notes = checked.program.lines.iter().enumerate().filter_map(|(index, line)| {
        let note = line.note.as_deref()?;
        let index = Literal::usize_unsuffixed(index);
        Some(quote!((#index, #note)))
    });
    let places = checked.places.iter().map(|(line, column)| {
        let [line, column] = [line, column].map(|n| Literal::u32_unsuffixed(*n));
        quote!((#line, #column))
    });
    quote! {
        ::gcn_dsl::asm::Part {
            target: ::gcn_dsl::asm::Target::#target,
            wave: ::gcn_dsl::asm::WaveSize::#wave,
            text: #text,
            code: #code,
            notes: &[#(#notes),*],
            places: &[#(#places),*],
        }
    }
}
