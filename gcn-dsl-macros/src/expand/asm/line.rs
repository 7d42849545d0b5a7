//! A line of `asm!` becomes a call of the function of its instruction.

use gcn_isa::Target;
use gcn_isa::table::{self, Access, Format, ImplicitRegs, InstDesc, Modifiers, OperandKinds};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::modifiers::{DPP, Modifier, SDWA};
use super::{Line, Operand, What, register};
use crate::expand::Cx;

/// Which of the functions of a mnemonic a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    Plain,
    Dpp,
    Sdwa,
}

impl Variant {
    fn of(row: &InstDesc) -> Variant {
        match row.format {
            Format::Vop1Dpp | Format::Vop2Dpp => Variant::Dpp,
            Format::Vop1Sdwa | Format::Vop2Sdwa | Format::VopcSdwa => Variant::Sdwa,
            _ => Variant::Plain,
        }
    }
}

impl Line {
    fn has(&self, flags: Modifiers) -> bool {
        self.modifiers.iter().any(|m| m.flag().is_some_and(|f| f.intersects(flags)))
    }

    fn find(&self, flag: Modifiers) -> Option<&Modifier> {
        self.modifiers.iter().find(|m| m.flag() == Some(flag))
    }

    /// The mnemonic without what only says the variant, and the variant.
    fn variant(&self) -> (String, Variant) {
        let text = self.mnemonic.to_string();
        let named = [("_dpp", Variant::Dpp), ("_sdwa", Variant::Sdwa)];
        if let Some((plain, variant)) = named.iter().find_map(|(s, v)| Some((text.strip_suffix(s)?, *v))) {
            return (plain.to_owned(), variant);
        }
        let variant = if self.has(DPP) {
            Variant::Dpp
        } else if self.has(SDWA) {
            Variant::Sdwa
        } else {
            Variant::Plain
        };
        (text, variant)
    }

    /// The rows of all targets that the line can be, best first: the encoding with the widest choice, the newest target.
    fn rows(&self, mnemonic: &str, variant: Variant) -> Vec<&'static InstDesc> {
        let all = Target::ALL.into_iter().flat_map(|t| table::find_mnemonic(t, mnemonic));
        let mut rows: Vec<_> = all.filter(|row| Variant::of(row) == variant && self.fits(row)).collect();
        rows.sort_by_key(|row| {
            let wide = matches!(row.format, Format::Vop3a | Format::Vop3b);
            (row.operands.len() != self.operands.len(), !wide, !row.targets.contains(Target::GFX942))
        });
        rows
    }

    /// The same way of addressing. What is no memory instruction has one only.
    fn fits(&self, row: &InstDesc) -> bool {
        let off = |(slot, operand): (&table::OperandDesc, &Operand)| {
            (slot.kinds == OperandKinds::OFF) == matches!(operand.what, What::Off)
        };
        let addressing = [Modifiers::OFFEN, Modifiers::IDXEN];
        let same = |flag: Modifiers| row.required.contains(flag) == self.has(flag);
        row.operands.iter().zip(&self.operands).all(off)
            && (row.format != Format::Mubuf || addressing.into_iter().all(same))
            && !row.required.contains(Modifiers::LDS)
    }
}

/// Registers that a line reads without naming them, by the names that they have in the block.
const IMPLICIT: [(ImplicitRegs, &str); 3] =
    [(ImplicitRegs::SCC, "scc"), (ImplicitRegs::VCC, "vcc"), (ImplicitRegs::M0, "m0")];

impl Cx<'_> {
    pub(super) fn asm_line(&mut self, line: &Line, known: &mut Vec<String>) -> Option<TokenStream> {
        let mnemonic = &line.mnemonic;
        let (text, variant) = line.variant();
        let rows = line.rows(&text, variant);
        let Some(row) = rows.first().copied() else {
            let what = match Target::ALL.into_iter().any(|t| table::find_mnemonic(t, &text).next().is_some())
            {
                true => format!(
                    "`{text}` does not address like this, by `off`, `offen` and `idxen` as they stand here; `gcn_dsl::isa::{text}` says how"
                ),
                false => format!("no target has an instruction `{text}`"),
            };
            self.errors.at(mnemonic, what);
            return None;
        };
        let plain = Ident::new(&text, mnemonic.span());
        if let Some(targets) = self.targets {
            crate::check::instruction(&plain, targets, self.errors);
        }
        let computes = row.is_valu() || row.is_matrix() || row.is_salu() && row.format != Format::Sopp;
        let memory =
            matches!(row.format, Format::Ds | Format::Flat | Format::Global | Format::Mubuf | Format::Smem);
        let control =
            row.format != Format::Smem && row.operands.iter().any(|o| o.kinds.contains(OperandKinds::IMM));
        let both = row.required.contains(Modifiers::OFFEN | Modifiers::IDXEN);
        if !(computes || memory) || control || both {
            let what = format!(
                "`{text}` is not available in `asm!`; call `gcn_dsl::isa::{text}`, or write it as a \
                                `gcn_asm!` kernel"
            );
            self.errors.at(mnemonic, what);
            return None;
        }
        if row.operands.len() != line.operands.len() {
            let names: Vec<&str> = row.operands.iter().map(|o| o.name).collect();
            let (given, wanted) = (line.operands.len(), names.len());
            let what = format!("`{text}` has {wanted} operands ({}), not {given}", names.join(", "));
            self.errors.at(mnemonic, what);
            return None;
        }
        let (mut args, mut results) = (Vec::new(), Vec::new());
        for (at, (slot, operand)) in row.operands.iter().zip(&line.operands).enumerate() {
            if slot.access != Access::Write {
                args.extend(self.asm_argument(line, row, at, known)?);
            }
            if slot.access != Access::Read {
                let What::Name(name) = &operand.what else {
                    self.errors
                        .at(mnemonic, format!("`{text}` writes `{}`: write `{{name}}` there", slot.name));
                    return None;
                };
                results.push(name.clone());
            }
        }
        for (reg, name) in IMPLICIT {
            if row.implicit_reads.contains(reg) {
                let name = Ident::new(name, mnemonic.span());
                let operand =
                    Operand { span: mnemonic.span(), neg: false, abs: false, what: What::Name(name) };
                args.push(self.source(&operand, 1, known)?);
            }
        }
        if text.ends_with("_saveexec_b64") {
            self.errors.at(mnemonic, "EXEC is the language's own; write `if` on a `V<bool>`");
            return None;
        }
        let function = self.asm_modifiers(line, (row, variant), &rows, &mut args, &results, known)?;
        if row.implicit_writes.contains(ImplicitRegs::SCC) {
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

    /// What the function takes for an operand that is read; nothing for the second half of an address.
    fn asm_argument(
        &mut self,
        line: &Line,
        row: &InstDesc,
        at: usize,
        known: &[String],
    ) -> Option<Option<TokenStream>> {
        let (slot, operand) = (&row.operands[at], &line.operands[at]);
        Some(match (row.format, slot.name) {
            (Format::Global, "saddr") => None,
            (Format::Global, "vaddr") => {
                let address = self.source(operand, slot.dwords, known)?;
                let base = row.operands.iter().zip(&line.operands).find(|(slot, _)| slot.name == "saddr");
                match base.filter(|(_, base)| !matches!(base.what, What::Off)) {
                    Some((slot, base)) => {
                        let base = self.source(base, slot.dwords, known)?;
                        Some(quote_spanned!(operand.span=> (#address, #base)))
                    }
                    None => Some(address),
                }
            }
            (Format::Mubuf, "vaddr") => {
                let form = match row.form.split('_').next() {
                    Some("offen") => "Offen",
                    Some("idxen") => "Idxen",
                    _ => return Some(Some(quote_spanned!(operand.span=> ::gcn_dsl::isa::Off))),
                };
                let (form, address) =
                    (Ident::new(form, operand.span), self.source(operand, slot.dwords, known)?);
                Some(quote_spanned!(operand.span=> ::gcn_dsl::isa::#form(#address)))
            }
            (Format::Smem, "offset" | "soffset") => match (&operand.what, line.find(Modifiers::OFFSET)) {
                (What::Number(negative, number), _) => {
                    let sign = negative.then(|| quote!(-));
                    Some(quote_spanned!(operand.span=> #sign #number))
                }
                (_, None) => Some(self.source(operand, 1, known)?),
                (_, Some(offset)) => {
                    let (register, offset) = (self.source(operand, 1, known)?, offset.number(self.errors)?);
                    Some(quote_spanned!(operand.span=> (#register, #offset)))
                }
            },
            _ => Some(self.source(operand, slot.dwords, known)?),
        })
    }

    /// Adds to the arguments what modifiers say; gives the function's name.
    fn asm_modifiers(
        &mut self,
        line: &Line,
        (row, variant): (&InstDesc, Variant),
        rows: &[&InstDesc],
        args: &mut Vec<TokenStream>,
        results: &[Ident],
        known: &[String],
    ) -> Option<Ident> {
        let (text, _) = line.variant();
        let has = rows.iter().fold(Modifiers::empty(), |all, row| all | row.modifiers);
        let parameters = [Modifiers::OFFSET, Modifiers::OFFSET0, Modifiers::OFFSET1, Modifiers::BITOP3];
        let addressing = Modifiers::OFFEN | Modifiers::IDXEN;
        let mut options = TokenStream::new();
        for modifier in &line.modifiers {
            let Some(flag) = modifier.flag().filter(|flag| has.contains(*flag)) else {
                let what = format!("`{text}` has no modifier `{}`", modifier.name);
                self.errors.at(&modifier.name, what);
                return None;
            };
            // These follow from the row.
            if !row.required.contains(flag) && !parameters.contains(&flag) && !addressing.contains(flag) {
                options.extend(modifier.call(self.errors)?);
            }
        }
        for flag in parameters {
            let needed = row.modifiers.contains(flag) && row.format != Format::Smem;
            if needed {
                args.push(match line.find(flag) {
                    Some(modifier) => modifier.number(self.errors)?,
                    None => quote!(0),
                });
            }
        }
        let suffix = match variant {
            Variant::Plain if row.form.starts_with("rtn") => "_rtn",
            Variant::Plain => "",
            Variant::Dpp => "_dpp",
            Variant::Sdwa => "_sdwa",
        };
        let extended = variant != Variant::Plain;
        let with = if extended || options.is_empty() { "" } else { "_with" };
        if extended || !options.is_empty() {
            if self.keeps(rows, variant)
                && let Some(slot) =
                    row.operands.iter().find(|o| o.access == Access::Write && o.name == "vdst")
            {
                let old = self.asm_old(line, slot.dwords, results, known)?;
                args.insert(0, old);
            }
            args.push(quote!(::gcn_dsl::isa::Options::new()#options));
        }
        Some(format_ident!("{}{}{}", text, suffix, with, span = line.mnemonic.span()))
    }

    /// A modifier can make the instruction keep a part of what it writes.
    fn keeps(&self, rows: &[&InstDesc], variant: Variant) -> bool {
        match variant {
            Variant::Dpp => true,
            Variant::Sdwa => rows.iter().any(|row| row.modifiers.contains(Modifiers::DST_UNUSED)),
            Variant::Plain => rows.iter().any(|row| row.op_sel_dst_bit().is_some()),
        }
    }

    /// What the destination holds where it is not written.
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
        let all = whole && (!line.has(DPP) || line.has(Modifiers::BOUND_CTRL));
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
