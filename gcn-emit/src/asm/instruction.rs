//! Instructions, and the symbols in them.

use std::borrow::Cow;
use std::sync::Arc;

use gcn_isa::target::Subtarget;
use gcn_isa::{Inst, Operand, RegFile, Target};

use super::args::{Args, is_name};
use super::expr::{Expr, Item, Sym};
use super::fault::{Fault, Located, Result};
use super::fixup::{Fixup, FixupKind};
use super::place::Place;
use super::span::Span;
use super::symbols::Def;
use super::{AsmInst, Assembler, NextFree};
use crate::object::SectionId;
use crate::text::{ExprValue, ParseFault, Scope, parse_inst_in};

/// Predefined symbols that identify the target (guide, *Predefined Symbols*).
const GENERATION: [&str; 3] =
    [".amdgcn.gfx_generation_number", ".amdgcn.gfx_generation_minor", ".amdgcn.gfx_generation_stepping"];
/// The names of the symbols whose value is one more than the highest register number named so far.
const NEXT_FREE: [&str; 2] = [".amdgcn.next_free_vgpr", ".amdgcn.next_free_sgpr"];

impl<'s> Assembler<'s> {
    /// Parses an instruction and appends its machine code.
    pub fn instruction(&mut self, text: &'s str, at: usize) -> Result<()> {
        let Some(target) = self.target else { return self.miss_target(Span::new(at, at + text.len())) };
        let span = Span::new(at, at + text.len());
        if self.section().is_nobits() {
            return Err(Located::new(span, Fault::NotZero(self.section().name.clone())));
        }
        if let Some(known) = self.recall.find(text, target.target).cloned() {
            let place = self.here();
            self.code(known.code());
            self.count_registers(known.ends);
            if let Some(inst) = known.inst {
                self.keep(inst, place, known.length, at);
            }
            return Ok(());
        }
        self.later.clear();
        let on = Subtarget { target: target.target, wave: self.wave(target.target) };
        let mut scope = InstScope { asm: self, asked: false };
        let parsed = parse_inst_in(text, on, &mut scope);
        let alone = !scope.asked;
        let parsed = match parsed {
            Ok(parsed) => parsed,
            Err(error) => {
                // The error in the expression is more specific than that of the instruction.
                if let (ParseFault::Expression(_), Some(inner)) = (&error.fault, self.inner_fault.take()) {
                    return Err(inner);
                }
                let span = Span { at: (at + error.at) as u32, len: error.len as u32 };
                return Err(Located::new(span, Fault::Instruction(error.fault)));
            }
        };
        let place = self.here();
        self.code(&parsed.code);
        let mut ends = [0; 2];
        for operand in &parsed.inst.operands {
            match *operand {
                Operand::Label(label) => {
                    let expr = self.later.get(label.0 as usize).copied().unwrap_or(Expr::Const(0));
                    if !matches!(expr, Expr::Symbol(_)) && !self.is_here(expr) {
                        return Err(Located::new(span, Fault::BranchTarget));
                    }
                    self.fixups.push(Fixup { place, kind: FixupKind::Branch, expr, span });
                }
                Operand::Reg(reg) => count_register(target.target, reg, &mut ends),
                _ => {}
            }
        }
        for fixup in &parsed.fixups {
            let expr = self.later.get(fixup.expr as usize).copied().unwrap_or(Expr::Const(0));
            let long =
                matches!(parsed.inst.operands.get(usize::from(fixup.operand)), Some(Operand::Literal64(_)));
            // A literal ends its instruction.
            let bytes = if long { 8 } else { 4 };
            let place = Place {
                bytes: place.bytes + (parsed.code.len() as u64).saturating_sub(bytes.into()),
                ..place
            };
            self.fixups.push(Fixup { place, kind: FixupKind::Literal(bytes), expr, span });
        }
        // Only branches to labels are changed; distances that are written as numbers are kept.
        if let (Some(bad), Some(to)) = (parsed.inst.desc.bad_distance(target.target), self.later.first()) {
            self.after_branch(*to, bad, span);
        }
        self.count_registers(ends);
        let inst = self.options.keep_instructions.then(|| Arc::new(parsed.inst));
        if let Some(inst) = &inst {
            self.keep(Arc::clone(inst), place, parsed.code.len() as u8, at);
        }
        if alone {
            self.recall.keep(text, target.target, &parsed.code, ends, inst);
        }
        Ok(())
    }

    /// Reports that no target was specified, at most once.
    fn miss_target(&mut self, span: Span) -> Result<()> {
        let fault = if self.target_missed { Fault::ReportedBefore } else { Fault::NoTarget };
        self.target_missed = true;
        Err(Located::new(span, fault))
    }

    fn keep(&mut self, inst: Arc<Inst>, place: Place, length: u8, at: usize) {
        // After the whole file has been read, streams are replaced by sections, and text offsets by lines.
        let (section, offset, line) = (SectionId(place.stream.0), place.bytes, self.outermost(at));
        let origin = if self.frames.is_empty() { None } else { self.origin_at(at) };
        self.kept_gaps.push(place.gaps);
        self.instructions.push(AsmInst {
            section,
            offset,
            length,
            inst,
            line,
            origin,
            location: self.location,
        });
    }

    fn count_registers(&mut self, ends: [u16; 2]) {
        for (next, end) in self.next_free.iter_mut().zip(ends) {
            next.value = next.value.max(end.into());
        }
    }

    /// The value of a symbol that tracks register use; `None` for any other symbol.
    pub fn next_free(&self, sym: Sym) -> Option<i64> {
        self.next_free.iter().find(|next| next.symbol == Some(sym)).map(|next| next.value)
    }

    /// Executes `.set` for a symbol that tracks register use. Returns false for any other symbol.
    pub fn set_next_free(&mut self, sym: Sym, value: i64) -> bool {
        let found = self.next_free.iter_mut().find(|next| next.symbol == Some(sym));
        found.map(|next| next.value = value).is_some()
    }

    /// Sets the symbols that track register use to their final values.
    pub fn settle_next_free(&mut self) {
        for NextFree { symbol, value } in self.next_free {
            if let Some(sym) = symbol {
                self.symbols.get_mut(sym).def = Def::Value(Expr::Const(value));
            }
        }
    }

    /// Defines the predefined symbols of the assembler.
    pub fn define_generation(&mut self) {
        let Some(target) = self.target else { return };
        for (name, value) in GENERATION.into_iter().zip(target.target.version()) {
            let sym = self.symbols.intern(name.into(), Span::default());
            let symbol = self.symbols.get_mut(sym);
            if symbol.def == Def::Undefined {
                symbol.def = Def::Value(Expr::Const(value.into()));
                symbol.flags.predefined = true;
            }
        }
        for (slot, name) in NEXT_FREE.into_iter().enumerate() {
            let sym = self.symbols.intern(name.into(), Span::default());
            let symbol = self.symbols.get_mut(sym);
            symbol.def = Def::Value(Expr::Const(0));
            symbol.flags.predefined = true;
            self.next_free[slot].symbol = Some(sym);
        }
    }
}

/// Raises the ends of the VGPRs or SGPRs in `ends` to the end of `reg`.
fn count_register(target: Target, reg: gcn_isa::Reg, ends: &mut [u16; 2]) {
    let end = match reg.file {
        RegFile::Vgpr => &mut ends[0],
        RegFile::Sgpr if u32::from(reg.index) < target.addressable_sgprs() => &mut ends[1],
        _ => return,
    };
    *end = reg.end().max(*end);
}

/// Gives the instruction parser access to the file's symbols.
struct InstScope<'a, 's> {
    asm: &'a mut Assembler<'s>,
    /// True if the instruction contains an expression with a name.
    asked: bool,
}

impl Scope for InstScope<'_, '_> {
    fn defines(&self, name: &str) -> bool {
        let symbol = self.asm.symbols.find(name);
        symbol.is_some_and(|sym| self.asm.symbols.get(sym).def != Def::Undefined)
    }

    fn value(&mut self, expr: &str) -> std::result::Result<ExprValue, (usize, String)> {
        self.asked = true;
        let asm = &mut *self.asm;
        let local = offset_in(asm.text, expr);
        let base = local.map(|at| asm.base + at);
        let parsed =
            match local.and_then(|at| asm.text.get(at..at + expr.len()).map(|text| (asm.base + at, text))) {
                Some((at, text)) => asm.operand_expr(text, at),
                // This cannot happen, because the parser passes only parts of the text.
                None => Err(Located::new(Span::default(), Fault::Expected("an expression"))),
            };
        let parsed = parsed.and_then(|expr_| {
            let number = asm.number_now(expr_, false);
            number.map(|n| (expr_, n)).map_err(|fault| Located::new(span_of(base, expr), fault))
        });
        match parsed {
            Ok((_, Some(number))) => Ok(ExprValue::Known(number)),
            Ok((expr, None)) => {
                asm.register(expr);
                asm.later.push(expr);
                Ok(ExprValue::Later(asm.later.len() as u32 - 1))
            }
            Err(error) => {
                let at = (error.span.at as usize).saturating_sub(base.unwrap_or(0));
                let message = error.fault.to_string();
                asm.inner_fault = Some(error);
                Err((at, message))
            }
        }
    }
}

fn span_of(base: Option<usize>, expr: &str) -> Span {
    let at = base.unwrap_or(0);
    Span::new(at, at + expr.len())
}

/// The byte offset of `piece` in `text`, of which it is a part.
fn offset_in(text: &str, piece: &str) -> Option<usize> {
    let at = (piece.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    (at + piece.len() <= text.len()).then_some(at)
}

impl<'s> Assembler<'s> {
    /// Parses an expression as an operand. Nearly all of them are a single name.
    fn operand_expr(&mut self, text: &'s str, at: usize) -> Result<Expr> {
        let plain = |b: u8| is_name(b) && b != b'@';
        let starts = text.as_bytes().first().is_some_and(|b| !b.is_ascii_digit());
        if starts && text != "." && text.bytes().all(plain) {
            let sym = self.symbols.intern(Cow::Borrowed(text), Span::new(at, at + text.len()));
            if let Some(value) = self.next_free(sym) {
                return Ok(Expr::Const(value));
            }
            self.symbols.get_mut(sym).flags.used = true;
            return Ok(Expr::Symbol(sym));
        }
        let mut args = Args::new(text, at);
        let expr = self.expr(&mut args)?;
        args.end()?;
        Ok(expr)
    }

    /// True for the expression `.`.
    fn is_here(&self, expr: Expr) -> bool {
        match expr {
            Expr::Items { start, count } => {
                matches!(self.exprs.items(start, count), [Item::Here(_)])
            }
            _ => false,
        }
    }
}
