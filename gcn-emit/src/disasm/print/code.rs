//! Writes code: symbols, labels, instructions, padding.

use std::borrow::Cow;
use std::fmt::Write as _;

use gcn_isa::table::Behaviours;
use gcn_isa::{Inst, Operand, Program};

use super::Printer;
use crate::disasm::names::written;
use crate::disasm::sweep::{first_dword, reason};
use crate::disasm::{CodeSection, Content, Item, ZEROS, data};
use crate::encode::S_NOP;
use crate::object::SymbolView;
use crate::text::InstText;

/// The column of comments.
const COMMENT_COLUMN: usize = 60;
/// The minimum number of equal dwords that are written as a single `.fill`. This applies to words that are not instructions, and to `s_nop
/// 0`, which pads code.
const RUN: usize = 8;

/// A run of equal dwords.
struct Run {
    dword: u32,
    address: u64,
    count: usize,
    /// The line for one of the dwords, with its comment.
    line: String,
}

impl<'p, 'd> Printer<'p, 'd> {
    /// Writes the code between two offsets of a section.
    pub(super) fn code_section(&mut self, section: &'p CodeSection<'d>, from: u64, to: u64) {
        self.section_header(section.number);
        let symbols = self.symbols_of(section.number, section.address);
        let mut symbols = symbols.into_iter().skip_while(|s| s.0 < from).peekable();
        let mut labels = section.labels().skip_while(|l| l.0.wrapping_sub(section.address) < from).peekable();
        let mut run: Option<Run> = None;
        for item in section.items_between(from, to) {
            let offset = item.address.wrapping_sub(section.address);
            let named = symbols.peek().is_some_and(|s| s.0 <= offset)
                || labels.peek().is_some_and(|l| l.0.wrapping_sub(section.address) <= offset);
            if named {
                self.flush(&mut run);
            }
            while let Some((_, symbol)) = symbols.next_if(|s| s.0 <= offset) {
                self.define(symbol);
            }
            while let Some((_, label)) = labels.next_if(|l| l.0.wrapping_sub(section.address) <= offset) {
                self.label(label);
            }
            let range = (section.address.wrapping_add(from), section.address.wrapping_add(to));
            self.item(section, &item, range, &mut run);
        }
        self.flush(&mut run);
        // Padding at the end of the section belongs to the whole file, not to a single kernel.
        let end = if self.only.is_some() { None } else { Some(to) };
        while let Some((offset, symbol)) = symbols.next_if(|s| Some(s.0) >= end && end.is_some()) {
            if Some(offset) == end {
                self.define(symbol);
            }
        }
        while let Some((_, label)) = labels.next_if(|l| l.0.wrapping_sub(section.address) <= to) {
            self.label(label);
        }
    }

    /// The symbols of a section, sorted by offset.
    pub(super) fn symbols_of(&self, section: usize, address: u64) -> Vec<(u64, &'p SymbolView<'d>)> {
        let own = self.disassembly.symbols.get(&section).map_or(&[][..], Vec::as_slice);
        let own = own.iter().map(|&number| &self.object.symbols[number]);
        own.filter_map(|s| Some((s.address.checked_sub(address)?, s))).collect()
    }

    fn label(&mut self, label: &str) {
        // A label that equals a symbol's name has already been written.
        if !self.defined.contains(label) {
            let _ = writeln!(self.out, "{}:", written(label).unwrap_or_default());
        }
    }

    fn item(&mut self, section: &CodeSection<'_>, item: &Item<'_>, range: (u64, u64), run: &mut Option<Run>) {
        let dword = first_dword(item.bytes);
        if let Some(line) = self.with_reference(section, item) {
            self.flush(run);
            self.write_line(&line, item.address, item.bytes);
            return;
        }
        if item.bytes.len() == 4
            && let Some(run) = run.as_mut().filter(|r| r.dword == dword)
        {
            run.count += 1;
            return;
        }
        self.flush(run);
        let can_repeat = match &item.content {
            Content::Inst(_) => dword == S_NOP,
            _ => true,
        };
        let line = self.line(section, item, range);
        if can_repeat && item.bytes.len() == 4 {
            *run = Some(Run { dword, address: item.address, count: 1, line });
            return;
        }
        self.write_line(&line, item.address, item.bytes);
    }

    /// The text of an item, part of which a linker or loader computes; `None` for other items.
    fn with_reference(&self, section: &CodeSection<'_>, item: &Item<'_>) -> Option<String> {
        let mut own = self.disassembly.references.within(section.number, item.address..item.end());
        let (place, reference) = own.next()?;
        let (Content::Inst(inst) | Content::Unprintable(inst)) = &item.content else {
            let is_whole = place == item.address && reference.width() == item.bytes.len() as u64;
            return reference.directive().filter(|_| is_whole);
        };
        let is_branch = CodeSection::destination(item.end(), inst).is_some();
        let is_replaced = |operand: &Operand| match operand {
            Operand::Literal(_) | Operand::Literal64(_) => place > item.address,
            Operand::Imm(_) => is_branch && place == item.address,
            _ => false,
        };
        let position = inst.operands.iter().rposition(is_replaced)?;
        let mut program = Program::new(self.disassembly.target, "");
        let label = program.new_label(reference.operand());
        let mut inst = inst.clone();
        inst.operands[position] = Operand::Label(label);
        let text = InstText { inst: &inst, target: self.disassembly.target, program: Some(&program) };
        Some(self.noted(text.to_string(), section, item))
    }

    /// The text of an instruction with its comment, if it has one.
    fn noted(&self, mut text: String, section: &CodeSection<'_>, item: &Item<'_>) -> String {
        if let Some(note) = self.options.notes.and_then(|notes| notes.get(&(section.number, item.address))) {
            let _ = write!(text, " ; {note}");
        }
        text
    }

    /// The text of an item, without address and bytes.
    fn line(&self, section: &CodeSection<'_>, item: &Item<'_>, range: (u64, u64)) -> String {
        match &item.content {
            Content::Inst(inst) => self.noted(self.inst(section, item, inst, range), section, item),
            Content::Unprintable(_) | Content::Undecodable(_) if item.is_padding() => {
                format!(".long 0 ; {ZEROS}")
            }
            Content::Unprintable(inst) => {
                let text = InstText { inst, target: self.disassembly.target, program: None };
                let mut line = String::new();
                data::write(&mut line, item.bytes);
                format!("{} ; an encoding without a text of its own of: {text}", line.trim())
            }
            Content::Undecodable(fault) => {
                format!(".long {:#010x} ; {}", first_dword(item.bytes), reason(fault))
            }
            Content::Data => {
                let mut line = String::new();
                data::write(&mut line, item.bytes);
                line.trim().to_owned()
            }
        }
    }

    /// The text of an instruction. If the labels involved are written, the distance of a branch is replaced by a label, and half of a
    /// distance from `s_getpc_b64` by a difference of two labels.
    fn inst(&self, section: &CodeSection<'_>, item: &Item<'_>, inst: &Inst, range: (u64, u64)) -> String {
        let mut text = InstText { inst, target: self.disassembly.target, program: None }.to_string();
        let label =
            |to: u64| section.label_at(to).filter(|_| (range.0..=range.1).contains(&to)).and_then(written);
        if let Some(distance) = section.distance_at(item.address)
            && let (Some(from), Some(to), Some(space)) =
                (label(distance.from), label(distance.to), text.rfind(' '))
        {
            text.truncate(space + 1);
            let _ = match distance.is_high {
                false => write!(text, "{to}-{from}"),
                true => write!(text, "({to}-{from})>>32"),
            };
            return text;
        }
        let Some(to) = CodeSection::destination(item.end(), inst) else { return text };
        // For a branch with this distance, an assembler would insert an `s_nop` if the target were a label.
        let bad = inst.desc.bad_distance(self.disassembly.target);
        if bad.is_some_and(|bad| item.address + 4 + 4 * u64::from(bad) == to) {
            return text;
        }
        // In every branch with a distance, the distance is the last operand.
        let to_label = label(to);
        let written = match inst.operands.first() {
            _ if !inst.desc.does(Behaviours::JUMPS_BY) => to_label.map(Cow::into_owned),
            // An assembler makes a literal of 64 bits of a difference.
            Some(Operand::Literal64(_)) => {
                to_label.zip(label(item.end())).map(|(to, from)| format!("{to}-{from}"))
            }
            _ => {
                text.extend(to_label.map(|to| format!(" ; to {to}")));
                return text;
            }
        };
        match (written, text.rfind(' ')) {
            (Some(written), Some(space)) => {
                text.truncate(space + 1);
                text.push_str(&written);
            }
            _ => {
                let _ = write!(text, " ; to {to:#x}, where no instruction of this file begins");
            }
        }
        text
    }

    fn flush(&mut self, run: &mut Option<Run>) {
        let Some(run) = run.take() else { return };
        if run.count < RUN {
            for i in 0..run.count {
                self.write_line(&run.line, run.address.wrapping_add(4 * i as u64), &run.dword.to_le_bytes());
            }
            return;
        }
        let what = match run.line.split_once(" ; ") {
            Some((_, reason)) => reason,
            None => &run.line,
        };
        let line = format!(".fill {}, 4, {:#x} ; {what}", run.count, run.dword);
        self.write_line(&line, run.address, &run.dword.to_le_bytes());
    }

    fn write_line(&mut self, line: &str, address: u64, bytes: &[u8]) {
        self.out.push('\t');
        self.out.push_str(line);
        if self.options.bytes {
            let padding = COMMENT_COLUMN.saturating_sub(line.len()).max(1);
            let _ = write!(self.out, "{:padding$}; {address:012X}:", "");
            let (dwords, rest) = bytes.as_chunks::<4>();
            for dword in dwords {
                let _ = write!(self.out, " {:08X}", u32::from_le_bytes(*dword));
            }
            for byte in rest {
                let _ = write!(self.out, " {byte:02X}");
            }
        }
        self.out.push('\n');
    }
}
