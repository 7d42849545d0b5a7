//! Converts the source operands of a line to arguments of the function of its instruction.

use gcn_isa::table::{Format, InstDesc, Modifiers, OperandKinds};
use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;

use super::meant::Meant;
use super::modifiers::Modifier;
use super::{Line, Operand, What};
use crate::expand::Cx;

/// The modifiers of an address that has both an index and an offset.
const BOTH: Modifiers = Modifiers::IDXEN.union(Modifiers::OFFEN);

impl Cx<'_> {
    /// The function's argument for a source operand; empty for the second half of an address, which the first half's
    /// argument includes.
    pub(super) fn asm_argument(
        &mut self,
        line: &Line,
        meant: &Meant,
        at: usize,
        known: &[String],
    ) -> Option<Option<TokenStream>> {
        let (row, slot, operand) = (meant.row, &meant.row.operands[at], &line.operands[at]);
        let span = operand.span;
        if matches!(operand.what, What::Pair(..)) && !row.required.contains(BOTH) {
            let what = "two values in one operand are the address of `idxen offen`";
            self.errors.push(syn::Error::new(span, what));
            return None;
        }
        Some(Some(match (row.format, slot.name) {
            (Format::Global, "saddr") => return Some(None),
            (Format::Global, "vaddr") => {
                let address = self.source(operand, known)?;
                let base = row.operands.iter().zip(&line.operands).find(|(slot, _)| slot.name == "saddr");
                match base.filter(|(_, base)| !matches!(base.what, What::Off)) {
                    Some((_, base)) => {
                        let base = self.source(base, known)?;
                        quote_spanned!(span=> (#address, #base))
                    }
                    None => address,
                }
            }
            (Format::Mubuf | Format::Mtbuf, "vaddr") => self.asm_buffer(row, operand, known)?,
            (Format::Smem, "offset" | "soffset") => match (&operand.what, line.find(Modifiers::OFFSET)) {
                (What::Number(..), _) | (_, None) => self.source(operand, known)?,
                (_, Some(offset)) => {
                    let register = self.source(operand, known)?;
                    let offset = self.asm_number(meant, offset, known)?;
                    quote_spanned!(span=> (#register, #offset))
                }
            },
            _ => match &operand.what {
                What::Text(text) => {
                    let value = self.asm_field(meant, (at, text), span)?;
                    quote_spanned!(span=> #value)
                }
                What::Number(negative, number) if !slot.kinds.contains(OperandKinds::IMM) => {
                    let value = self.asm_constant(*negative, number, (row, at))?;
                    operand.modified(value)
                }
                _ => self.source_of(line, row, at, known)?,
            },
        }))
    }

    /// The value of a source operand, with the line's modifiers for it, such as `neg:[…]`, applied.
    fn source_of(&mut self, line: &Line, row: &InstDesc, at: usize, known: &[String]) -> Option<TokenStream> {
        let value = self.source(&line.operands[at], known)?;
        let source: Option<usize> = row.operands[at].name.strip_prefix("src").and_then(|n| n.parse().ok());
        let negated = line.find(Modifiers::NEG).and_then(Modifier::bits).unwrap_or(0);
        Some(match source.filter(|source| negated >> source & 1 == 1) {
            Some(_) => quote_spanned!(line.operands[at].span=> ::gcn_dsl::isa::neg(#value)),
            None => value,
        })
    }

    /// The address argument of a buffer instruction.
    fn asm_buffer(&mut self, row: &InstDesc, operand: &Operand, known: &[String]) -> Option<TokenStream> {
        let span = operand.span;
        let single = |form: &str, address: TokenStream| {
            let form = Ident::new(form, span);
            quote_spanned!(span=> ::gcn_dsl::isa::#form(#address))
        };
        let required = row.required & BOTH;
        if required == BOTH {
            let What::Pair(index, offset) = &operand.what else {
                let what = "`idxen offen` has two address registers: write `[{index}, {offset}]`";
                self.errors.push(syn::Error::new(span, what));
                return None;
            };
            let (index, offset) = (self.source(index, known)?, self.source(offset, known)?);
            return Some(quote_spanned!(span=> ::gcn_dsl::isa::Bothen(#index, #offset)));
        }
        Some(if required == Modifiers::OFFEN {
            single("Offen", self.source(operand, known)?)
        } else if required == Modifiers::IDXEN {
            single("Idxen", self.source(operand, known)?)
        } else {
            quote_spanned!(span=> ::gcn_dsl::isa::Off)
        })
    }
}
