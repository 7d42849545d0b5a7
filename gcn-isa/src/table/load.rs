//! Parses the entries of `data/isa/` into rows; `declarations.isa` describes their notation.
//!
//! The files are part of the crate, so an error in them is a bug that any test that uses the table finds. Hence errors cause a panic with
//! the file, the line and the rule.

mod declarations;
mod dual;
mod forms;
mod modifiers;

use std::collections::HashMap;
use std::fmt;
use std::hash::BuildHasherDefault;

use super::class::Class;
use super::constants::{ConstType, Constants};
use super::desc::InstDesc;
use super::entry::{Behaviours, Entry, Flow, Rule};
use super::format::{Format, Unit};
use super::names::{NameHasher, NameMap};
use super::slot::{ImplicitRegs, MemBytes, OperandDesc, OperandKinds, WaveSizes};
use crate::immediate::Immediate;
use crate::target::{Family, TargetSet, WaveSize};
use declarations::{Class as RegisterClass, Declarations, Opcodes, implicit, opcodes, with_targets};
use forms::{Facts, Form};

/// The table files, in row order.
const FILES: [(&str, &str); 14] = [
    ("declarations", include_str!("../../data/isa/declarations.isa")),
    (RDNA, include_str!("../../data/isa/rdna.isa")),
    ("sop", include_str!("../../data/isa/sop.isa")),
    ("smem", include_str!("../../data/isa/smem.isa")),
    ("vop1", include_str!("../../data/isa/vop1.isa")),
    ("vop2", include_str!("../../data/isa/vop2.isa")),
    ("vopc", include_str!("../../data/isa/vopc.isa")),
    ("vop3", include_str!("../../data/isa/vop3.isa")),
    ("vop3p", include_str!("../../data/isa/vop3p.isa")),
    ("mai", include_str!("../../data/isa/mai.isa")),
    ("ds", include_str!("../../data/isa/ds.isa")),
    ("flat", include_str!("../../data/isa/flat.isa")),
    ("buffer", include_str!("../../data/isa/buffer.isa")),
    ("vopd", include_str!("../../data/isa/vopd.isa")),
];

/// The file with the declarations that apply only to RDNA.
const RDNA: &str = "rdna";

/// The rows of a family. The first row has the number `first`.
pub(super) fn rows(family: Family, first: u16) -> Vec<InstDesc> {
    read(&FILES, family, first).unwrap_or_else(|fault| panic!("{fault}"))
}

/// A description of the rule of the notation that a line breaks.
type Broken = &'static str;

/// A line that breaks a rule of the notation.
#[derive(Debug)]
struct Fault {
    file: &'static str,
    line: usize,
    rule: Broken,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.isa:{}: {}", self.file, self.line, self.rule)
    }
}

/// A line number and the line's text.
type Line = (usize, &'static str);

/// The lines of a text with their numbers, which start at 1, without empty lines and comments. The texts have 6,000
/// lines and are parsed by every command, so speed matters.
struct Lines {
    text: &'static str,
    number: usize,
}

impl Iterator for Lines {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        while !self.text.is_empty() {
            let end = memchr::memchr(b'\n', self.text.as_bytes());
            let line = &self.text[..end.unwrap_or(self.text.len())];
            self.text = end.map_or("", |end| &self.text[end + 1..]);
            self.number += 1;
            if !line.is_empty() && !line.starts_with('#') {
                return Some((self.number, line));
            }
        }
        None
    }
}

/// The text before and after the first `at`. The texts are so short that a loop is faster than a general search. `None` if there is no
/// `at`.
fn cut(text: &'static str, at: u8) -> Option<(&'static str, &'static str)> {
    let place = text.bytes().position(|byte| byte == at)?;
    Some((&text[..place], &text[place + 1..]))
}

/// The words of a line, between spaces.
fn words(line: &'static str) -> impl Iterator<Item = &'static str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let text = rest.trim_ascii_start();
        let (word, after) = cut(text, b' ').unwrap_or((text, ""));
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

/// True for the line of an entry that begins its RDNA part.
fn is_rdna(line: &Line) -> bool {
    line.1.starts_with("  rdna ")
}

/// The two sides of a declaration. The first `=` of an entry has no space before it. `None` for other lines.
fn declaration(line: &'static str) -> Option<(&'static str, &'static str)> {
    let at = memchr::memchr(b'=', line.as_bytes())?;
    Some((line[..at].strip_suffix(' ')?, line[at + 1..].strip_prefix(' ')?))
}

fn read(files: &[(&'static str, &'static str)], family: Family, first: u16) -> Result<Vec<InstDesc>, Fault> {
    let mut reader = Reader::new(family, first);
    let mut body: Vec<Line> = Vec::new();
    for &(file, text) in files.iter().filter(|file| file.0 != RDNA || family == Family::RDNA) {
        reader.declares_again = file == RDNA;
        let mut lines = Lines { text, number: 0 }.peekable();
        while let Some(head) = lines.next() {
            body.clear();
            // The lines from `rdna` on apply to RDNA.
            let mut is_read = true;
            while let Some(line) = lines.next_if(|line| line.1.starts_with(' ')) {
                is_read &= family == Family::RDNA || !is_rdna(&line);
                if is_read {
                    body.push(line);
                }
            }
            reader.line = head.0;
            reader.read(head.1, &body).map_err(|rule| Fault { file, line: reader.line, rule })?;
        }
    }
    dual::pair(&mut reader.rows.rows, first);
    Ok(reader.rows.rows)
}

struct Reader {
    family: Family,
    declarations: Declarations,
    /// True if the file redeclares names that have another meaning for the family.
    declares_again: bool,
    /// The form lines of the entries that do not refer to another entry's forms. Other entries refer to these lines as patterns.
    patterns: NameMap<Vec<Line>>,
    /// The forms of a pattern, after register classes have replaced its placeholders. A pattern is identified by the mnemonic of the entry
    /// that has the lines.
    instances: HashMap<(&'static str, &'static str), Vec<Form>, BuildHasherDefault<NameHasher>>,
    /// How bits flow through the instructions so far. A half of VOPD has the rule of the instruction that it performs.
    rules: NameMap<Rule>,
    rows: Rows,
    /// The number of the current line.
    line: usize,
}

/// The first line of an entry, with the changes that its RDNA line makes.
struct Head {
    entry: Entry,
    /// The mnemonic on instruction sets that use another one.
    names: Vec<(TargetSet, &'static str)>,
    opcodes: Opcodes,
    class: Class,
    pattern: &'static str,
    data: &'static str,
    mem_bytes: MemBytes,
    reads: ImplicitRegs,
    writes: ImplicitRegs,
    ignores_exec: bool,
}

impl Reader {
    fn new(family: Family, first: u16) -> Reader {
        Reader {
            family,
            declarations: Declarations::new(TargetSet::of_family(family)),
            declares_again: false,
            patterns: NameMap::default(),
            instances: HashMap::default(),
            rules: NameMap::default(),
            rows: Rows { first, waves: WaveSizes::of_family(family), rows: Vec::with_capacity(6000) },
            line: 0,
        }
    }

    fn read(&mut self, head: &'static str, body: &[Line]) -> Result<(), Broken> {
        if let Some((left, right)) = declaration(head) {
            return self.declarations.declare(left, right, self.declares_again);
        }
        let begin = self.line;
        let (body, rdna) = body.split_at(body.iter().position(is_rdna).unwrap_or(body.len()));
        let change = match (self.family, rdna) {
            (Family::GFX9, _) => None,
            (Family::RDNA, []) => return Ok(()),
            (Family::RDNA, [change, ..]) => Some(*change),
        };
        let Some(mut head) = self.head(head)? else { return Ok(()) };
        let mut forms = body;
        if let [meaning, rest @ ..] = body {
            self.line = meaning.0;
            head.entry.meaning =
                meaning.1.strip_prefix("  : ").ok_or("an entry begins with its meaning, after `: `")?;
            forms = rest;
        } else if self.family == Family::GFX9 {
            return Err("an entry has no meaning");
        }
        if let Some((line, change)) = change {
            self.line = line;
            head.on_rdna(change, self.declarations.family)?;
            forms = &rdna[1..];
        }
        if forms.is_empty() == (head.pattern == head.entry.mnemonic) {
            return Err("an entry has forms of its own, or those of another by `as=`");
        }
        if !forms.is_empty() {
            self.patterns.insert(head.pattern, forms.to_vec());
        }
        // RDNA has some of these instructions only as halves. Such a half states its own rule.
        if let Some(rule) = self.rules.get(head.entry.alone) {
            head.entry.rule = *rule;
        }
        self.rules.insert(head.entry.mnemonic, head.entry.rule);
        let key = (head.pattern, head.data);
        if !self.instances.contains_key(&key) {
            let instance = self.instance(&head, !forms.is_empty())?;
            self.instances.insert(key, instance);
        }
        self.line = begin;
        self.rows.add(head, &self.instances[&key])
    }

    /// Parses the first line of an entry; `None` if the entry has no forms in the family.
    fn head(&self, line: &'static str) -> Result<Option<Head>, Broken> {
        let mut words = words(line);
        let mut word = || words.next().ok_or("an entry begins with mnemonic, opcode and class");
        let (mnemonic, codes, class) = (word()?, word()?, word()?);
        // An entry without GFX9 opcodes was introduced with RDNA.
        let opcodes = match (self.family, codes) {
            (Family::GFX9, "-") => return Ok(None),
            (Family::GFX9, codes) => opcodes(codes, self.declarations.family)?,
            (Family::RDNA, _) => Opcodes::new(),
        };
        let mut head = Head {
            entry: Entry {
                mnemonic,
                meaning: "",
                witness: "",
                rule: Rule::default(),
                behaviours: Behaviours::empty(),
                inverse: "",
                alone: "",
                passes: &[],
                passes_by_format: 0,
                immediate: Immediate::Plain,
                constants: &[],
            },
            names: Vec::new(),
            opcodes,
            class: Class::named(class).ok_or("unknown class")?,
            pattern: mnemonic,
            data: "",
            mem_bytes: MemBytes::None,
            reads: ImplicitRegs::empty(),
            writes: ImplicitRegs::empty(),
            ignores_exec: false,
        };
        for word in words {
            match cut(word, b'=') {
                Some(("as", other)) => head.pattern = other,
                Some(("data", classes)) => head.data = classes,
                Some(("bytes", count)) => head.mem_bytes = bytes_moved(count)?,
                Some(("passes", counts)) => passes(counts, &mut head.entry)?,
                Some(("constants", types)) => head.entry.constants = constants(types)?,
                Some(("flow", rule)) => head.entry.rule = flow(rule)?,
                Some(("imm", kind)) => {
                    let named = Immediate::NAMES.iter().find(|named| named.0 == kind);
                    head.entry.immediate = named.ok_or("unknown kind of immediate")?.1;
                }
                Some(("inverse", other)) => head.entry.inverse = other,
                Some(("alone", other)) => head.entry.alone = other,
                Some(("by", name)) => head.entry.witness = self.declarations.witness(name)?,
                _ if word == "ignores_exec" => head.ignores_exec = true,
                _ => match Behaviours::of_word(word) {
                    Some(behaviour) => head.entry.behaviours |= behaviour,
                    None => implicit(word, &mut head.reads, &mut head.writes)?,
                },
            }
        }
        if head.entry.witness.is_empty() && codes != "-" {
            return Err("a meaning has a witness, `by=`");
        }
        Ok(Some(head))
    }

    /// The forms of a pattern with the register classes of an entry. `own` is true if the entry itself has the form lines.
    fn instance(&mut self, head: &Head, own: bool) -> Result<Vec<Form>, Broken> {
        let data: Vec<(&RegisterClass, [u8; 2])> = head
            .data
            .split(',')
            .filter(|c| !c.is_empty())
            .map(|c| self.declarations.class(c))
            .collect::<Result<_, _>>()?;
        let lines =
            self.patterns.get(head.pattern).ok_or("`as=` names no entry with forms before this one")?;
        let mut read = Vec::with_capacity(lines.len());
        for (number, line) in lines {
            if own {
                self.line = *number;
            }
            read.push(Form::read(&self.declarations, line, &data)?);
        }
        Ok(read)
    }
}

impl Head {
    /// Parses `rdna 0x3@..gfx10.3,0x5@gfx11.. as=other name=renamed@gfx12 class=valu_dp`.
    fn on_rdna(&mut self, line: &'static str, family: TargetSet) -> Result<(), Broken> {
        let mut words = words(line).skip(1);
        self.opcodes = opcodes(words.next().ok_or("`rdna` has opcodes after it")?, family)?;
        (self.pattern, self.data) = (self.entry.mnemonic, "");
        for word in words {
            match cut(word, b'=') {
                Some(("as", other)) => self.pattern = other,
                Some(("class", name)) => self.class = Class::named(name).ok_or("unknown class")?,
                Some(("name", name)) => {
                    let (name, set) = with_targets(name, family)?;
                    self.names.push((set, name));
                }
                _ => return Err("unknown word after `rdna`"),
            }
        }
        Ok(())
    }
}

/// The rows so far.
struct Rows {
    /// The number of the first row.
    first: u16,
    /// The wave sizes of the family.
    waves: WaveSizes,
    rows: Vec<InstDesc>,
}

impl Rows {
    /// Adds a row for each form and group of targets.
    fn add(&mut self, head: Head, forms: &[Form]) -> Result<(), Broken> {
        let entry: &'static Entry = Box::leak(Box::new(head.entry));
        let stated = all(&head.opcodes);
        let on = |wanted: fn(Format) -> bool| {
            let sets = forms.iter().filter(|f| wanted(f.format)).flat_map(|f| {
                let stated = f.opcodes.as_ref().map_or(stated, all);
                f.facts.iter().map(move |facts| facts.targets.intersection(stated))
            });
            sets.fold(TargetSet::EMPTY, TargetSet::union)
        };
        let (short, long) = (on(is_short), on(is_long));
        let other_names = head.names.iter().fold(TargetSet::EMPTY, |all, name| all.union(name.0));
        let names =
            head.names.iter().copied().chain([(TargetSet::ALL.difference(other_names), entry.mnemonic)]);
        let mut covered = TargetSet::EMPTY;
        for (named, mnemonic) in names {
            let mut printed = Printed { mnemonic, made: [None; 5] };
            for form in forms {
                let codes = form.opcodes.as_ref().unwrap_or(&head.opcodes);
                for (facts, &(set, opcode)) in
                    form.facts.iter().flat_map(|facts| codes.iter().map(move |code| (facts, code)))
                {
                    let here =
                        facts.targets.intersection(set).intersection(named).intersection(with(facts.waves));
                    if here.is_empty() {
                        continue;
                    }
                    covered = covered.union(here);
                    let other = if is_short(form.format) { long } else { short };
                    let parts = [(here.intersection(other), true), (here.difference(other), false)];
                    let parts =
                        parts.into_iter().filter(|part| !part.0.is_empty()).flat_map(|(part, twofold)| {
                            part.generations().into_iter().map(move |targets| (targets, twofold))
                        });
                    for (targets, twofold) in parts.filter(|part| !part.0.is_empty()) {
                        let opcode = match form.opcodes {
                            Some(_) => opcode,
                            None => derived(base(forms, targets), form.format, targets, opcode),
                        };
                        let id = usize::from(self.first) + self.rows.len();
                        self.rows.push(InstDesc {
                            id: u16::try_from(id).map_err(|_| "more than 65535 rows")?,
                            mnemonic,
                            printed: printed.name(suffix(form, facts, twofold)),
                            format: form.format,
                            form: form.form,
                            targets,
                            waves: facts.waves.intersection(self.waves),
                            opcode,
                            bytes: bytes(form.format, facts),
                            operands: facts.operands.get(),
                            same_file: facts.same_file.get(),
                            implicit_reads: head.reads | facts.reads | exec(form.format, head.ignores_exec),
                            implicit_writes: head.writes | facts.writes,
                            modifiers: facts.modifiers.accepted,
                            required: facts.modifiers.required,
                            offset_range: facts.modifiers.offset_range,
                            bits: facts.modifiers.bits,
                            dpp_controls: facts.modifiers.dpp_controls,
                            hints: facts.modifiers.hints,
                            last_selector: facts.modifiers.last_selector,
                            class: class(head.class, form.form),
                            mem_bytes: head.mem_bytes,
                            vgpr_align: facts.align,
                            half: facts.half,
                            halves_by_op_sel: facts.halves_by_op_sel,
                            width_by_format: facts.width_by_format,
                            halves: None,
                            entry,
                        });
                    }
                }
            }
        }
        if stated.difference(covered).is_empty() {
            Ok(())
        } else {
            Err("a target has the opcode and no form")
        }
    }
}

/// The instruction sets that support one of the wave sizes.
fn with(waves: WaveSizes) -> TargetSet {
    const OF_64: TargetSet = TargetSet::with_waves(WaveSize::W64);
    if waves == WaveSizes::W64 { OF_64 } else { TargetSet::ALL }
}

/// The format to which the entry's opcode belongs: that of the first form that exists on the instruction sets.
fn base(forms: &[Form], targets: TargetSet) -> Format {
    let has = |form: &&Form| form.facts.iter().any(|facts| !facts.targets.intersection(targets).is_empty());
    forms.iter().find(has).unwrap_or(&forms[0]).format
}

/// The targets for which there is an opcode.
fn all(opcodes: &Opcodes) -> TargetSet {
    opcodes.iter().fold(TargetSet::EMPTY, |all, (set, _)| all.union(*set))
}

/// The printed names of one mnemonic. Each name is created only once.
struct Printed {
    mnemonic: &'static str,
    made: [Option<&'static str>; 5],
}

impl Printed {
    const SUFFIXES: [&str; 5] = ["_e32", "_e64", "_dpp", "_sdwa", "_e64_dpp"];

    fn name(&mut self, suffix: Option<usize>) -> &'static str {
        let Some(suffix) = suffix else { return self.mnemonic };
        let mnemonic = self.mnemonic;
        self.made[suffix].get_or_insert_with(|| [mnemonic, Self::SUFFIXES[suffix]].concat().leak())
    }
}

/// The suffix that the disassembler prints. If an instruction has both a short and a long encoding, the suffixes distinguish them. `None`
/// if there is no suffix.
fn suffix(form: &Form, facts: &Facts, twofold: bool) -> Option<usize> {
    match form.format {
        _ if facts.plain_name => None,
        // LLVM prints compares with DPP without a suffix.
        Format::VopcDpp | Format::VopcDpp8 => None,
        format if format.is_long_dpp() => Some(4),
        format if format.is_dpp() => Some(2),
        format if format.is_sdwa() => Some(3),
        format if is_short(format) && twofold => Some(0),
        format if is_long(format) && twofold => Some(1),
        _ => None,
    }
}

fn is_short(format: Format) -> bool {
    matches!(format, Format::Vop1 | Format::Vop2 | Format::Vopc)
}

fn is_long(format: Format) -> bool {
    matches!(format, Format::Vop3a | Format::Vop3b)
}

/// The opcode of a form whose line does not state an opcode. DPP and SDWA forms have the opcode of the encoding that they extend. In the
/// long encoding, the opcodes of VOPC start at 0 and those of VOP2 at 0x100. Those of VOP1 start at 0x140 (MI100 ISA 12.13), or on RDNA at
/// 0x180 (RDNA3 ISA 16.5.1).
fn derived(base: Format, format: Format, targets: TargetSet, opcode: u16) -> u16 {
    match base {
        _ if !is_long(format) && !format.is_long_dpp() => opcode,
        Format::Vop1 if targets.intersection(TargetSet::RDNA).is_empty() => opcode + 0x140,
        Format::Vop1 => opcode + 0x180,
        Format::Vop2 => opcode + 0x100,
        _ => opcode,
    }
}

/// The size in bytes without an optional literal.
fn bytes(format: Format, facts: &Facts) -> u8 {
    match format {
        Format::Vop3px2 => 16,
        Format::VFlat
        | Format::VGlobal
        | Format::VScratch
        | Format::VBuffer
        | Format::VBufferTyped
        | Format::VImage
        | Format::Vopd3 => 12,
        format if format.is_long_dpp() => 12,
        Format::Vopd if facts.has_literal => 12,
        Format::Vopd => 8,
        _ if facts.has_literal && facts.operands.get().iter().any(is_long_literal) => 12,
        _ if facts.has_literal => 8,
        Format::LdsDir | Format::VdsDir => 4,
        format if is_short(format) || format.unit() == Unit::Scalar => 4,
        _ => 8,
    }
}

/// True for a 64-bit literal that is always present.
fn is_long_literal(operand: &OperandDesc) -> bool {
    operand.kinds == OperandKinds::LITERAL64
}

/// The implicit read of EXEC: every vector instruction reads EXEC as its mask.
fn exec(format: Format, ignored: bool) -> ImplicitRegs {
    let scalar = matches!(format.unit(), Unit::Scalar | Unit::ScalarMemory);
    if scalar || ignored { ImplicitRegs::empty() } else { ImplicitRegs::EXEC }
}

/// The class of an addressing form, which may differ from the entry's class.
fn class(class: Class, form: &str) -> Class {
    match class {
        Class::SmemAtomic if form.starts_with("rtn") => Class::SmemAtomicRet,
        Class::VmemAtomic if form.starts_with("rtn") => Class::VmemAtomicRet,
        Class::FlatAtomic if form.starts_with("rtn") => Class::FlatAtomicRet,
        Class::GlobalAtomic if form.starts_with("rtn") => Class::GlobalAtomicRet,
        Class::VmemLoad if form.ends_with("_lds") => Class::VmemLoadLds,
        Class::GlobalLoad if form.ends_with("_lds") => Class::GlobalLoadLds,
        Class::ScratchLoad if form.ends_with("_lds") => Class::ScratchLoadLds,
        class => class,
    }
}

fn bytes_moved(text: &str) -> Result<MemBytes, Broken> {
    let (kind, digits) = match text.strip_prefix("format*") {
        Some(digits) => (MemBytes::FormatComponents as fn(u8) -> MemBytes, digits),
        None => (MemBytes::Bytes as fn(u8) -> MemBytes, text),
    };
    digits.parse().map(kind).map_err(|_| "`bytes=` has a number, or `format*` and a number")
}

/// Parses a number of passes: `8`, `8@gfx942,16@gfx950`, or `by_format*4`, which means 4 passes if neither A nor B has 8-bit elements, and
/// 8 otherwise.
fn passes(text: &'static str, entry: &mut Entry) -> Result<(), Broken> {
    let count = |digits: &str| digits.parse().map_err(|_| "`passes=` has numbers");
    if let Some(least) = text.strip_prefix("by_format*") {
        entry.passes_by_format = count(least)?;
        return Ok(());
    }
    let part = |part| with_targets(part, TargetSet::GFX9).and_then(|(digits, set)| Ok((set, count(digits)?)));
    entry.passes = text.split(',').map(part).collect::<Result<Vec<_>, _>>()?.leak();
    Ok(())
}

/// Parses `f16,src2:b32,sdwa.src1:i16`: first the type of all operands, then the types of particular operands.
fn constants(text: &'static str) -> Result<&'static [Constants], Broken> {
    let one = |part: &'static str| {
        let (place, ty) = part.split_once(':').unwrap_or(("", part));
        let (sdwa, operand) = match place.strip_prefix("sdwa") {
            Some(operand) => (true, operand.strip_prefix('.').unwrap_or(operand)),
            None => (false, place),
        };
        let ty = ConstType::NAMES.iter().find(|n| n.0 == ty).ok_or("unknown type of constants")?.1;
        Ok(Constants { sdwa, operand, ty })
    };
    Ok(text.split(',').map(one).collect::<Result<Vec<_>, Broken>>()?.leak())
}

fn flow(text: &'static str) -> Result<Rule, Broken> {
    let (name, controls) = cut(text, b':').unwrap_or((text, ""));
    let flow = Flow::NAMES.iter().find(|n| n.0 == name).ok_or("unknown flow")?.1;
    let controls = controls.bytes().try_fold(0, |all, digit| match digit {
        b'0'..=b'2' => Ok(all | 1 << (digit - b'0')),
        _ => Err("`flow=` has numbers of sources after the colon"),
    })?;
    Ok(Rule { flow, controls })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &str =
        "# registers\nclass v = v\nclass d = v @..gfx908 / v|a @gfx90a..\nwitness w = a manual\n";

    fn fault(entry: &'static str) -> String {
        read(&[("words", WORDS), ("x", entry)], Family::GFX9, 0)
            .map_or_else(|fault| fault.to_string(), |rows| format!("{} rows", rows.len()))
    }

    #[test]
    fn an_entry_becomes_a_row_for_each_form_and_group_of_targets() {
        let text = "v_x_b32 0x2,0x3@gfx950 valu by=w\n";
        assert_eq!(fault(text), "x.isa:1: targets of the opcodes overlap");
        let rows = read(&[
            ("words", WORDS),
            ("x", "ds_x 0x2@..gfx942,0x3@gfx950 lds_read data=d*2 by=w\n  : D = LDS\n  DS vdst=$ addr:v offset[0..9]\nds_y 0x7 lds_read as=ds_x data=v by=w\n  : D = LDS\n"),
        ], Family::GFX9, 0)
        .unwrap();
        let shape = |r: &InstDesc| {
            (r.mnemonic, r.targets.iter().count(), r.opcode, r.vgpr_align, r.operands[0].dwords)
        };
        let shapes: Vec<_> = rows.iter().map(shape).collect();
        assert_eq!(
            shapes,
            [("ds_x", 5, 2, 1, 2), ("ds_x", 2, 2, 2, 2), ("ds_x", 1, 3, 2, 2), ("ds_y", 9, 7, 1, 1)]
        );
    }

    #[test]
    fn a_fault_names_file_line_and_rule() {
        for (entry, expected) in [
            ("v_x 0x1\n", "x.isa:1: an entry begins with mnemonic, opcode and class"),
            ("v_x 0x1 valu by=w\n  VOP1\n", "x.isa:2: an entry begins with its meaning, after `: `"),
            (
                "\nv_x 0x1 valu by=w\n  : y\n",
                "x.isa:3: an entry has forms of its own, or those of another by `as=`",
            ),
            ("v_x 0x1 valu as=v_y by=w\n  : y\n", "x.isa:2: `as=` names no entry with forms before this one"),
            ("v_x 0x1 vector by=w\n  : y\n", "x.isa:1: unknown class"),
            ("v_x 0x1 valu by=me\n  : y\n", "x.isa:1: unknown witness"),
            ("v_x 0x1 valu constants=f8 by=w\n  : y\n", "x.isa:1: unknown type of constants"),
            ("v_x 0x1 valu\n  : y\n", "x.isa:1: a meaning has a witness, `by=`"),
            ("v_x 0x1@gfx90b valu by=w\n", "x.isa:1: unknown target"),
            ("v_x 0x1 valu <cc by=w\n", "x.isa:1: unknown implicit register"),
            ("v_x 0x1 valu by=w\n  : y\n  VOP9\n", "x.isa:3: unknown format"),
            ("v_x 0x1 valu by=w\n  : y\n  VOP1 vdst=w\n", "x.isa:3: unknown register class"),
            ("v_x 0x1 valu by=w\n  : y\n  VOP1 vdst=$\n", "x.isa:3: `$` without a class in `data=`"),
            ("v_x 0x1 valu by=w\n  : y\n  VOP1 vdst=v\n  VOP3A vdst=v wobble\n", "x.isa:4: unknown modifier"),
            (
                "v_x 0x1 valu by=w\n  : y\n  VOP1 vdst=v @gfx950\n",
                "x.isa:1: a target has the opcode and no form",
            ),
        ] {
            assert_eq!(fault(entry), expected, "{entry}");
        }
    }
}
