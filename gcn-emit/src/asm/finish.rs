//! Turns the statements that were read into a module.

use object::elf;

use super::assembly::RelocationPlace;
use super::eval::{Atom, Memo, Value};
use super::expr::{Expr, Sym};
use super::fault::{Fault, Located};
use super::fixup::{Base, Outcome};
use super::layout::Layout;
use super::place::{Place, StreamId};
use super::section::{Fill, GapKind, write_fill, write_leb, write_repeated};
use super::span::Span;
use super::symbols::Def;
use super::{AsmLabel, Assembler, Assembly, Diagnostics};
use crate::object::{
    Binding, Module, Relocation, RelocationBase, RelocationKind, Section, SectionId, Symbol, SymbolId,
    SymbolPlace, check_notes,
};
use crate::target_id::TargetId;

/// A relocation before symbols have their final numbers.
struct Open {
    section: u32,
    offset: u64,
    kind: RelocationKind,
    base: Base,
    addend: i64,
    span: Span,
}

impl Assembler<'_> {
    /// Lays everything out and produces the module, or all errors.
    pub fn finish(mut self) -> Result<Assembly, Diagnostics> {
        let Some(target) = self.target else {
            if self.diagnostics.list.is_empty() && !self.target_missed {
                self.report(Located::new(Span::default(), Fault::NoTarget));
            }
            return Err(self.diagnostics.in_order());
        };
        if let Some(wave) = self.options.wave.filter(|wave| !target.target.instruction_set().has_wave(*wave))
        {
            let usual = target.target.usual_wave();
            let fault = Fault::Wave(wave.lanes(), target.target, usual.lanes());
            self.report(Located::new(Span::default(), fault));
        }
        self.name_sections();
        let opened = self.open_debug_sections().map_err(|error| self.report(error));
        let laid_out = self.layout().map_err(|error| self.report(error));
        let (Ok(layout), Ok(debug)) = (laid_out, opened) else { return Err(self.diagnostics.in_order()) };
        let mut memo = Memo::new(self.symbols.len());
        let mut bytes = self.section_bytes(&layout, &mut memo);
        self.write_kernels(&layout, &mut memo, &mut bytes);
        let open = self.fill_in(&layout, &mut memo, &mut bytes);
        let debug = self.write_debug_sections(debug, &layout, &mut bytes);
        let mut module = self.module(target, &layout, &mut memo, bytes, &open);
        for (section, relocations) in debug {
            module.sections[section as usize].relocations.extend(relocations);
        }
        self.check_notes(&module);
        if !self.diagnostics.list.is_empty() {
            return Err(self.diagnostics.in_order());
        }
        let wave = self.wave(target.target);
        let places = self.relocation_places(&open);
        self.place_instructions(&layout);
        let labels = self.labels(&layout);
        let (instructions, origins) = (self.instructions, self.origins);
        let (files, warnings) = (self.files, self.warnings);
        let keeps_instructions = self.options.keep_instructions;
        Ok(Assembly {
            module,
            wave,
            instructions,
            labels,
            origins,
            files,
            warnings,
            places,
            keeps_instructions,
        })
    }

    /// Rejects notes that readers of the code object would reject.
    fn check_notes(&mut self, module: &Module) {
        for (index, section) in module.sections.iter().enumerate().filter(|(_, s)| s.kind == elf::SHT_NOTE) {
            // The linker has yet to fill in bytes of this section.
            if !section.relocations.is_empty() {
                continue;
            }
            if let Err((at, problem)) = check_notes(&section.bytes) {
                let span = self.sections.get(index).map_or(Span::default(), |s| s.span);
                let fault = Fault::Note { section: section.name.clone(), at, problem };
                self.report(Located::new(span, fault));
            }
        }
    }

    /// Handles names that nothing defines: such a name may be that of a section, and then stands for the section's first byte.
    fn name_sections(&mut self) {
        let names =
            self.section_ids.iter().filter(|((_, group, unique), _)| group.is_none() && unique.is_none());
        let mut ids: Vec<(String, u32)> = names.map(|((name, ..), id)| (name.clone(), *id)).collect();
        ids.sort_by_key(|(_, id)| *id);
        for (name, id) in ids {
            let Some(sym) = self.symbols.find(&name) else { continue };
            let first =
                self.sections[id as usize].streams.iter().min_by_key(|s| self.streams[s.0 as usize].number);
            let Some(stream) = first.copied() else { continue };
            let symbol = self.symbols.get_mut(sym);
            if symbol.def == Def::Undefined {
                symbol.def = Def::Label(Place { stream, gaps: 0, bytes: 0 });
                symbol.flags.temporary = true;
            }
        }
    }

    /// The contents of every section, with gaps filled.
    fn section_bytes(&mut self, layout: &Layout, memo: &mut Memo) -> Vec<Vec<u8>> {
        let mut all = Vec::with_capacity(self.sections.len());
        for index in 0..self.sections.len() {
            let mut out = Vec::new();
            if !self.sections[index].is_nobits() {
                for id in self.sections[index].streams.clone() {
                    let stream = &mut self.streams[id.0 as usize];
                    if stream.gaps.is_empty() && out.is_empty() {
                        out = std::mem::take(&mut stream.bytes);
                    } else {
                        self.write_stream(id, layout, memo, &mut out);
                    }
                }
            }
            all.push(out);
        }
        all
    }

    fn write_stream(&self, id: StreamId, layout: &Layout, memo: &mut Memo, out: &mut Vec<u8>) {
        let stream = &self.streams[id.0 as usize];
        let mut at = 0;
        for gap in &stream.gaps {
            out.extend_from_slice(stream.bytes.get(at as usize..gap.bytes as usize).unwrap_or_default());
            at = gap.bytes;
            match gap.kind {
                GapKind::Align { fill, .. } => write_fill(out, gap.size, fill),
                GapKind::Repeat { value, size, .. } => {
                    write_repeated(out, gap.size / u64::from(size.max(1)), value, size);
                }
                GapKind::AfterBranch { .. } => write_fill(out, gap.size, Fill::Nops),
                GapKind::Org { value, .. } => write_repeated(out, gap.size, value.into(), 1),
                GapKind::Leb { value, signed } => {
                    // The value has been evaluated during layout.
                    let number = self.value(value, layout, memo).ok().and_then(|v| v.absolute()).unwrap_or(0);
                    let start = out.len();
                    write_leb(out, number, signed);
                    pad_leb(out, start, gap.size as usize, number < 0 && signed);
                }
            }
        }
        out.extend_from_slice(stream.bytes.get(at as usize..).unwrap_or_default());
    }

    /// Fills in the fixups whose values are known; the others become relocations.
    fn fill_in(&mut self, layout: &Layout, memo: &mut Memo, bytes: &mut [Vec<u8>]) -> Vec<Open> {
        let mut open = Vec::new();
        for fixup in std::mem::take(&mut self.fixups) {
            let (section, offset) = layout.offset(self, fixup.place);
            let write = match self.resolve(&fixup, (section, offset), layout, memo) {
                Ok(Outcome::Bytes(value, count)) => Some((value, count)),
                Ok(Outcome::Relocation(kind, base, addend, stale)) => {
                    open.push(Open { section, offset, kind, base, addend, span: fixup.span });
                    stale
                }
                Err(fault) => {
                    self.report(Located::new(fixup.span, fault));
                    continue;
                }
            };
            let Some((value, count)) = write else { continue };
            let at = offset as usize;
            let place = bytes.get_mut(section as usize).and_then(|b| b.get_mut(at..at + usize::from(count)));
            if let (Some(place), Some(value)) = (place, value.to_le_bytes().get(..usize::from(count))) {
                place.copy_from_slice(value);
            }
        }
        // Fixups of subsections are in the order of the file, which differs from the order in the section.
        open.sort_by_key(|o| (o.section, o.offset));
        open
    }

    fn module(
        &mut self,
        target: TargetId,
        layout: &Layout,
        memo: &mut Memo,
        bytes: Vec<Vec<u8>>,
        open: &[Open],
    ) -> Module {
        let mut module = Module::new(target, self.version);
        let numbers = self.module_symbols(layout, memo, open, &mut module);
        for (index, bytes) in bytes.into_iter().enumerate() {
            let section = &self.sections[index];
            let flags = section.flags & !u64::from(elf::SHF_GROUP);
            module.sections.push(Section {
                name: section.name.clone(),
                kind: section.kind,
                flags,
                align: section.align,
                entry_size: section.entry_size,
                // Debug sections are written after layout, so layout does not know their size.
                size: layout.size(self, index as u32).max(bytes.len() as u64),
                bytes,
                relocations: Vec::new(),
            });
        }
        for Open { section, offset, kind, base, addend, .. } in open {
            let base = match base {
                Base::Section(section) => RelocationBase::Section(SectionId(*section)),
                Base::Symbol(sym) => match numbers.get(sym.0 as usize).copied().flatten() {
                    Some(id) => RelocationBase::Symbol(id),
                    None => continue,
                },
            };
            if let Some(section) = module.sections.get_mut(*section as usize) {
                section.relocations.push(Relocation { offset: *offset, kind: *kind, base, addend: *addend });
            }
        }
        module
    }

    /// Adds the symbols to the module. Returns the number that each symbol has in the module.
    fn module_symbols(
        &mut self,
        layout: &Layout,
        memo: &mut Memo,
        open: &[Open],
        module: &mut Module,
    ) -> Vec<Option<SymbolId>> {
        let mut needed = vec![false; self.symbols.len()];
        for sym in open.iter().filter_map(|o| if let Base::Symbol(sym) = o.base { Some(sym) } else { None }) {
            needed[sym.0 as usize] = true;
        }
        let mut numbers = vec![None; self.symbols.len()];
        self.settle_next_free();
        let mut errors = Vec::new();
        for sym in self.symbols.order() {
            match self.module_symbol(*sym, needed[sym.0 as usize], layout, memo) {
                Ok(Some(symbol)) => {
                    numbers[sym.0 as usize] = Some(SymbolId(module.symbols.len() as u32));
                    module.symbols.push(symbol);
                }
                Ok(None) => {}
                Err(error) => errors.push(error),
            }
        }
        errors.into_iter().for_each(|error| self.report(error));
        numbers
    }

    fn module_symbol(
        &self,
        sym: Sym,
        needed: bool,
        layout: &Layout,
        memo: &mut Memo,
    ) -> Result<Option<Symbol>, Located> {
        let symbol = self.symbols.get(sym);
        let flags = symbol.flags;
        if flags.predefined || (flags.replaced && !needed) {
            return Ok(None);
        }
        if !needed && flags.temporary {
            return Ok(None);
        }
        let located = |fault| Located::new(symbol.mention, fault);
        let (place, value, size) = match symbol.def {
            Def::Undefined => (SymbolPlace::Undefined, 0, None),
            Def::Common { size, align } => (SymbolPlace::Common, align, Some(size)),
            Def::Lds { size, align } => (SymbolPlace::Lds, align, Some(size)),
            Def::Label(place) => {
                let (section, offset) = layout.offset(self, place);
                (SymbolPlace::Section(SectionId(section)), offset, None)
            }
            Def::Value(expr) => match self.value(expr, layout, memo).map_err(located)? {
                Value { plus: None, minus: None, number, .. } => (SymbolPlace::Absolute, number as u64, None),
                Value {
                    plus: Some(Atom { place: Some((section, offset)), .. }),
                    minus: None,
                    number,
                    ..
                } => (SymbolPlace::Section(SectionId(section)), offset.wrapping_add_signed(number), None),
                // The symbol is another name for an external symbol: references use that symbol instead.
                Value { minus: None, .. } => return Ok(None),
                _ => return Err(located(Fault::NotRelocatable)),
            },
        };
        let size = match (size, symbol.size) {
            (Some(size), _) => size,
            (None, Some((expr, span))) => {
                let value = self.value(expr, layout, memo).map_err(|fault| Located::new(span, fault))?;
                value.absolute().ok_or_else(|| Located::new(span, Fault::NotAbsolute))? as u64
            }
            (None, None) => self.aliased_size(sym, layout, memo),
        };
        let binding = symbol.binding.unwrap_or(match place {
            SymbolPlace::Undefined | SymbolPlace::Common | SymbolPlace::Lds => Binding::Global,
            _ => Binding::Local,
        });
        Ok(Some(Symbol {
            name: symbol.name.to_string(),
            place,
            value,
            size,
            kind: symbol.kind,
            binding,
            visibility: symbol.visibility,
        }))
    }

    /// If a symbol is defined as an alias of a symbol with a size: that size.
    fn aliased_size(&self, sym: Sym, layout: &Layout, memo: &mut Memo) -> u64 {
        let Def::Value(Expr::Symbol(other)) = self.symbols.get(sym).def else { return 0 };
        let Some((expr, _)) = self.symbols.get(other).size else { return 0 };
        self.value(expr, layout, memo).ok().and_then(|v| v.absolute()).unwrap_or(0) as u64
    }

    fn relocation_places(&self, open: &[Open]) -> Vec<RelocationPlace> {
        // Lines are counted in a single pass over the text, in the order of positions.
        let mut order: Vec<usize> = (0..open.len()).collect();
        let outermost: Vec<u32> = open.iter().map(|o| self.sources.outermost(o.span.at)).collect();
        order.sort_by_key(|i| outermost[*i]);
        let mut places =
            vec![RelocationPlace { section: SectionId(0), offset: 0, line: 0, column: 0 }; open.len()];
        let (mut counted, mut line, mut column) = (0, 1, 1);
        for i in order {
            let at = outermost[i] as usize;
            let piece = self.sources.main().as_bytes().get(counted..at).unwrap_or_default();
            let in_line =
                memchr::memrchr(b'\n', piece).map_or(piece, |n| piece.get(n + 1..).unwrap_or_default());
            if in_line.len() < piece.len() {
                line += memchr::memchr_iter(b'\n', piece).count() as u32;
                column = 1;
            }
            column += in_line.iter().filter(|byte| (**byte & 0xc0) != 0x80).count() as u32;
            counted = at;
            places[i] =
                RelocationPlace { section: SectionId(open[i].section), offset: open[i].offset, line, column };
        }
        places
    }

    /// The labels, if requested.
    fn labels(&self, layout: &Layout) -> Vec<AsmLabel> {
        let wanted = if self.options.keep_instructions { self.symbols.len() } else { 0 };
        let label = |number: usize| {
            let symbol = self.symbols.get(Sym(number as u32));
            let Def::Label(place) = symbol.def else { return None };
            let (section, offset) = layout.offset(self, place);
            let name = symbol.name.to_string();
            (!name.is_empty()).then_some(AsmLabel { section: SectionId(section), offset, name })
        };
        (0..wanted).filter_map(label).collect()
    }

    /// Converts the positions of kept instructions, which are offsets in their stream and in the text, to sections,
    /// offsets and lines.
    fn place_instructions(&mut self, layout: &Layout) {
        let mut instructions = std::mem::take(&mut self.instructions);
        let mut feeds = memchr::memchr_iter(b'\n', self.sources.main().as_bytes()).peekable();
        let mut line = 1;
        for (inst, gaps) in instructions.iter_mut().zip(&self.kept_gaps) {
            while feeds.next_if(|feed| *feed < inst.line as usize).is_some() {
                line += 1;
            }
            inst.line = line;
            let place = Place { stream: StreamId(inst.section.0), gaps: *gaps, bytes: inst.offset };
            let (section, offset) = layout.offset(self, place);
            (inst.section, inst.offset) = (SectionId(section), offset);
        }
        self.instructions = instructions;
    }
}

/// Pads a LEB128 to the size of its gap: sizes never shrink during relaxation.
fn pad_leb(out: &mut Vec<u8>, start: usize, size: usize, negative: bool) {
    let (more, last) = if negative { (0xff, 0x7f) } else { (0x80, 0x00) };
    while out.len() - start < size {
        if let Some(byte) = out.last_mut() {
            *byte |= 0x80;
        }
        out.push(if out.len() - start + 1 < size { more } else { last });
    }
}
