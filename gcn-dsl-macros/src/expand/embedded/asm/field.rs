//! Operands with special assembler syntax: `hwreg(…)`, `sendmsg(…)`, `vmcnt(0)`, `swizzle(…)`, buffer formats. The assembler parses them as
//! part of an instruction with placeholder registers for the other operands.

use gcn_emit::text::{ExprValue, Scope, parse_inst_in};
use gcn_isa::table::{InstDesc, OperandDesc, OperandKinds};
use gcn_isa::{Inst, Operand, Target};
use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use super::Line;
use super::meant::Meant;
use super::modifiers::{Modifier, Value};
use crate::expand::Cx;

/// A scope without symbols, since a line cannot refer to any.
struct NoSymbols;

impl Scope for NoSymbols {
    fn value(&mut self, expr: &str) -> Result<ExprValue, (usize, String)> {
        Err((0, format!("`{expr}` is not known here")))
    }
}

/// Some valid assembly text for the operand, to be used as a placeholder.
fn stand_in(slot: &OperandDesc) -> String {
    let tuple = |file: char| match slot.dwords {
        0 | 1 => format!("{file}0"),
        n => format!("{file}[0:{}]", n - 1),
    };
    let kinds = slot.kinds;
    match () {
        () if kinds == OperandKinds::OFF => "off".to_owned(),
        () if kinds.contains(OperandKinds::VGPR) => tuple('v'),
        () if kinds.contains(OperandKinds::AGPR) => tuple('a'),
        () if kinds.contains(OperandKinds::SGPR) => tuple('s'),
        () if kinds.contains(OperandKinds::SPECIAL) => {
            slot.specials.split(',').next().unwrap_or_default().to_owned()
        }
        () => "0".to_owned(),
    }
}

/// Parses the instruction with `operand` in place of the placeholder at that position, and with modifiers.
fn read(
    row: &InstDesc,
    target: Target,
    operand: Option<(usize, &str)>,
    modifiers: &str,
) -> Result<Inst, String> {
    let operands = row.operands.iter().enumerate().map(|(at, slot)| match operand {
        Some((here, text)) if here == at => text.to_owned(),
        _ => stand_in(slot),
    });
    let operands: Vec<String> = operands.collect();
    let text = format!("{} {} {modifiers}", row.printed, operands.join(", "));
    parse_inst_in(text.trim(), target, &mut NoSymbols).map(|p| p.inst).map_err(|e| e.to_string())
}

impl Cx<'_> {
    /// Parses the line's instruction for each of the kernel's targets and applies `of` to each result. Reports an error
    /// unless all targets agree.
    fn asm_read<T: PartialEq>(
        &mut self,
        meant: &Meant,
        operand: Option<(usize, &str)>,
        modifiers: &str,
        (of, span): (impl Fn(&Inst) -> Option<T>, Span),
    ) -> Option<T> {
        let all: Vec<Target> = Target::KNOWN.to_vec();
        let targets = self.targets.unwrap_or(&all);
        let mut found = None;
        for target in targets {
            let same = |row: &&InstDesc| row.targets.contains(*target) && row.form == meant.row.form;
            let Some(row) = meant.rows.iter().copied().find(same) else { continue };
            let value = read(row, *target, operand, modifiers);
            let value = value.and_then(|inst| of(&inst).ok_or_else(|| "this is not a number".to_owned()));
            match (value, &found) {
                (Err(what), _) => {
                    self.errors.push(syn::Error::new(span, format!("on {target}, {what}")));
                    return None;
                }
                (Ok(value), None) => found = Some(value),
                (Ok(value), Some(other)) if value == *other => {}
                _ => {
                    let what =
                        "this is another number on each of the targets: write `#[targets(…)]`, or the number";
                    self.errors.push(syn::Error::new(span, what));
                    return None;
                }
            }
        }
        found
    }

    /// The number that the text of an immediate operand denotes.
    pub(super) fn asm_field(&mut self, meant: &Meant, (at, text): (usize, &str), span: Span) -> Option<i64> {
        let number = |inst: &Inst| match inst.operands.get(at) {
            Some(Operand::Imm(n)) => Some(*n),
            _ => None,
        };
        self.asm_read(meant, Some((at, text)), "", (number, span))
    }

    /// The value of a modifier that the function takes as a parameter.
    pub(super) fn asm_number(
        &mut self,
        meant: &Meant,
        modifier: &Modifier,
        known: &[String],
    ) -> Option<TokenStream> {
        match &modifier.value {
            Value::Text(text) => {
                let (span, all) = (modifier.name.span(), format!("{}:{text}", modifier.name));
                let offset = self.asm_read(meant, None, &all, (|i: &Inst| Some(i.mods.offset), span))?;
                Some(quote_spanned!(span=> #offset))
            }
            Value::Name(name) => {
                let what = super::What::Name(name.clone());
                self.source(&super::Operand::plain(name.span(), what), known)
            }
            _ => modifier.number(self.errors),
        }
    }

    /// The data and number formats of a typed buffer instruction.
    pub(super) fn asm_format(&mut self, line: &Line, meant: &Meant) -> Option<(u8, u8)> {
        let said = line.modifiers.iter().filter(|m| m.is_format());
        let all: Vec<String> = said.map(|m| format!("{}:{}", m.name, m.value.text())).collect();
        let span =
            line.modifiers.iter().find(|m| m.is_format()).map_or(line.mnemonic.span(), |m| m.name.span());
        let addressing: Vec<&str> = ["idxen", "offen"]
            .into_iter()
            .filter(|name| {
                gcn_emit::text::modifier(name).is_some_and(|flag| meant.row.required.contains(flag))
            })
            .collect();
        let modifiers = format!("{} {}", all.join(" "), addressing.join(" "));
        let format = self.asm_read(meant, None, &modifiers, (|i: &Inst| Some(i.mods.format), span))?;
        Some((format & 0xf, format >> 4))
    }
}
