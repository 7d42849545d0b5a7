//! `#[register("v10")] let`: pins a variable to a register.

use gcn_isa::{Reg, RegFile, Target};
use proc_macro2::TokenStream;
use quote::{format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, LitStr, Local, Pat};

use crate::expand::{Cx, lang};

pub(crate) fn is_register(attr: &Attribute) -> bool {
    attr.path().is_ident("register")
}

const FORM: &str = "write `#[register(\"v10\")]` or, for a range, `#[register(\"v[8:11]\")]`";

/// The register or registers that the attribute names, and the string literal with the name.
fn registers(attr: &Attribute, targets: Option<&[Target]>) -> syn::Result<(Reg, LitStr)> {
    let name: LitStr = attr.parse_args().map_err(|_| syn::Error::new_spanned(attr, FORM))?;
    let text = name.value();
    let at = |what: String| syn::Error::new_spanned(&name, what);
    let reg = Reg::numbered(&text).map_err(|why| at(format!("`{text}` names no registers: {why}")))?;
    // The alignment differs between targets; the strictest one applies.
    let listed = Target::KNOWN.into_iter().filter(|t| targets.is_none_or(|list| list.contains(t)));
    let multiple = listed.map(|t| t.tuple_alignment(reg.file, reg.len)).max().unwrap_or(1);
    if !reg.index.is_multiple_of(multiple.into()) {
        let below = Reg { index: reg.index - reg.index % u16::from(multiple), ..reg };
        let what = format!(
            "the first of {} registers has a number that is a multiple of {multiple}, as in `{below}`",
            reg.len
        );
        return Err(at(what));
    }
    Ok((reg, name))
}

impl Cx<'_> {
    /// Expands `#[register("v10")] let name = value;`, and the same with `mut`.
    pub fn register_let(
        &mut self,
        local: &Local,
        attr: &Attribute,
        pat: &Pat,
        value: &TokenStream,
    ) -> TokenStream {
        let name = match pat {
            Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => p,
            pat => {
                let what = "`#[register(…)]` stands before `let name = …` or `let mut name = …`: one name for the registers";
                self.errors.at(pat, what);
                return TokenStream::new();
            }
        };
        if let Some(other) = local.attrs.iter().find(|a| !is_register(a)) {
            self.errors.at(other, "this attribute and `#[register(…)]` do not go together");
        }
        let found = registers(attr, self.targets);
        self.declare(&name.ident, name.mutability.is_some());
        let (reg, literal) = match found {
            Ok(found) => found,
            Err(error) => {
                self.errors.push(error);
                return TokenStream::new();
            }
        };
        let file = match reg.file {
            RegFile::Sgpr => "Sgprs",
            RegFile::Vgpr => "Vgprs",
            RegFile::Agpr => "Agprs",
        };
        let (flow, span) = (self.flow(name.ident.span()), literal.span());
        let (pinned, file) = (lang("pinned", span), lang(file, span));
        let (Reg { index, len, .. }, name, mutable) = (reg, &name.ident, name.mutability);
        let init = format_ident!("__value", span = value.span());
        let variable = quote_spanned!(span=> #pinned::<#file, _, _, _>(&#flow, #index, #len, #init));
        match mutable {
            Some(mutable) => quote_spanned!(span=> let #mutable #name = { let #init = #value; #variable };),
            None => quote_spanned!(span=> let #name = { let #init = #value; #variable.get() };),
        }
    }
}
