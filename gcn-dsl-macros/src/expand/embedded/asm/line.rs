//! Expands a line of `asm!` to a call of the function of its instruction.

use gcn_isa::table::{Access, Format, ImplicitRegs, Modifiers};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::meant::Meant;
use super::modifiers::Modifier;
use super::{Line, Operand, What, register};
use crate::expand::Cx;

/// The registers that instructions read implicitly. The block's value of this name provides the content.
const IMPLICIT: [(ImplicitRegs, &str); 3] =
    [(ImplicitRegs::SCC, "scc"), (ImplicitRegs::VCC, "vcc"), (ImplicitRegs::M0, "m0")];

/// The modifiers that the function takes as parameters. Modifiers such as `neg:` are applied to the operands instead.
const PARAMETERS: [Modifiers; 4] =
    [Modifiers::OFFSET, Modifiers::OFFSET0, Modifiers::OFFSET1, Modifiers::BITOP3];
/// The modifiers that select the row and therefore need no argument.
const ADDRESSING: Modifiers = Modifiers::OFFEN.union(Modifiers::IDXEN).union(Modifiers::LDS);

impl Line {
    pub(super) fn find(&self, flag: Modifiers) -> Option<&Modifier> {
        self.modifiers.iter().find(|m| m.flag() == Some(flag))
    }
}

impl Cx<'_> {
    pub(super) fn asm_line(&mut self, line: &Line, known: &mut Vec<String>) -> Option<TokenStream> {
        let mnemonic = &line.mnemonic;
        let meant = match line.meant() {
            Ok(meant) => meant,
            Err(what) => {
                self.errors.at(mnemonic, what);
                return None;
            }
        };
        if let Some(targets) = self.targets {
            let function = Ident::new(&meant.function(), mnemonic.span());
            crate::check::instruction(&function, targets, self.errors);
        }
        let (mut args, mut results) = (Vec::new(), Vec::new());
        for (at, (slot, operand)) in meant.row.operands.iter().zip(&line.operands).enumerate() {
            if slot.access != Access::Write {
                args.extend(self.asm_argument(line, &meant, at, known)?);
            }
            if slot.access != Access::Read {
                let What::Name(name) = &operand.what else {
                    let what = format!("`{}` writes `{}`: write `{{name}}` there", meant.mnemonic, slot.name);
                    self.errors.push(syn::Error::new(operand.span, what));
                    return None;
                };
                results.push(name.clone());
            }
        }
        for (_, name) in IMPLICIT.iter().filter(|(reg, _)| meant.implicit_reads().contains(*reg)) {
            let what = What::Name(Ident::new(name, mnemonic.span()));
            args.push(self.source(&Operand::plain(mnemonic.span(), what), known)?);
        }
        let function = self.asm_modifiers(line, &meant, &mut args, &results, known)?;
        if meant.row.implicit_writes.contains(ImplicitRegs::SCC) {
            results.push(Ident::new("scc", mnemonic.span()));
        }
        let names: Vec<Ident> = results.iter().map(|name| register(self, name)).collect();
        known.extend(results.iter().map(ToString::to_string));
        let call = quote_spanned!(mnemonic.span()=> ::gcn_dsl::isa::#function(#(#args),*));
        Some(match names.as_slice() {
            [] => quote!(#call;),
            [one] => quote_spanned!(mnemonic.span()=> let #one = #call;),
            all => quote_spanned!(mnemonic.span()=> let (#(#all),*) = #call;),
        })
    }

    /// Adds the arguments that the modifiers require. Returns the function's name.
    fn asm_modifiers(
        &mut self,
        line: &Line,
        meant: &Meant,
        args: &mut Vec<TokenStream>,
        results: &[Ident],
        known: &[String],
    ) -> Option<Ident> {
        let (row, has) = (meant.row, meant.modifiers());
        let mut options = TokenStream::new();
        for modifier in line.modifiers.iter().filter(|m| !(m.is_format() && row.format == Format::Mtbuf)) {
            let Some(flag) = modifier.flag().filter(|flag| (has | row.required).contains(*flag)) else {
                let what = format!("`{}` has no modifier `{}`", meant.mnemonic, modifier.name);
                self.errors.at(&modifier.name, what);
                return None;
            };
            let follows = row.required.contains(flag) || ADDRESSING.contains(flag) || flag == Modifiers::NEG;
            if !follows && !PARAMETERS.contains(&flag) {
                options.extend(modifier.call(self.errors)?);
            }
        }
        for flag in PARAMETERS {
            if row.modifiers.contains(flag) && row.format != Format::Smem {
                args.push(match line.find(flag) {
                    Some(modifier) => self.asm_number(meant, modifier, known)?,
                    None => quote!(0),
                });
            }
        }
        if row.format == Format::Mtbuf {
            let (dfmt, nfmt) = self.asm_format(line, meant)?;
            args.push(quote!(::gcn_dsl::isa::BufferFormat { dfmt: #dfmt, nfmt: #nfmt }));
        }
        let extended = row.format.is_dpp() || row.format.is_sdwa();
        let with = if extended || options.is_empty() { "" } else { "_with" };
        if extended || !options.is_empty() {
            if meant.rows.iter().any(|row| row.can_keep_part())
                && let Some(slot) =
                    meant.rows[0].operands.iter().find(|o| o.access == Access::Write && o.name == "vdst")
            {
                let old = self.asm_old(line, slot.dwords, results, known)?;
                args.insert(0, old);
            }
            args.push(quote!(::gcn_dsl::isa::Options::new()#options));
        }
        Some(format_ident!("{}{}", meant.function(), with, span = line.mnemonic.span()))
    }

    /// The argument for the previous value of a destination of which the instruction writes only a part.
    fn asm_old(
        &mut self,
        line: &Line,
        dwords: u8,
        results: &[Ident],
        known: &[String],
    ) -> Option<TokenStream> {
        let name = results.first()?;
        if known.iter().any(|k| name == k) {
            let name = register(self, name);
            return Some(quote!(#name));
        }
        let whole = line.modifiers.iter().all(Modifier::writes_all);
        let all = whole && (!line.has(Modifiers::DPP) || line.has(Modifiers::BOUND_CTRL));
        if !all {
            let what = format!(
                "`{{{name}}}` keeps what it holds where it is not written: give it a value first, `{name} = inout(value)`, or \
                 write all of it"
            );
            self.errors.at(name, what);
            return None;
        }
        Some(if dwords == 2 { quote!(0u64) } else { quote!(0u32) })
    }
}
