//! Reads the entries of `data/isa/` into rows; `declarations.isa` describes their notation.
//!
//! The files are part of the crate, so a fault in them is a bug that the first test which touches the table finds: hence
//! the panic, with file, line and rule.

mod declarations;
mod forms;

use std::collections::HashMap;
use std::fmt;
use std::hash::BuildHasherDefault;

use super::class::Class;
use super::desc::InstDesc;
use super::elements::{ConstType, Constants};
use super::entry::{Behaviours, Entry, Flow, Rule};
use super::format::{Format, Unit};
use super::names::{NameHasher, NameMap};
use super::slot::{ImplicitRegs, MemBytes, WaveSizes};
use crate::mods::TemporalHints;
use crate::target::TargetSet;
use declarations::{Class as RegisterClass, Declarations, Opcodes, implicit, opcodes, with_targets};
use forms::{Facts, Form};

/// The files, in row order.
const FILES: [(&str, &str); 12] = [
    ("declarations", include_str!("../../data/isa/declarations.isa")),
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
];

pub(super) fn rows() -> Vec<InstDesc> {
    read(&FILES).unwrap_or_else(|fault| panic!("{fault}"))
}

/// The rule of the notation that a line breaks.
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

/// A line and its number.
type Line = (usize, &'static str);

fn read(files: &[(&'static str, &'static str)]) -> Result<Vec<InstDesc>, Fault> {
    let mut reader = Reader { rows: Vec::with_capacity(6000), ..Reader::default() };
    for &(file, text) in files {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let mut lines = lines.peekable();
        while let Some(head) = lines.next() {
            let body: Vec<Line> =
                std::iter::from_fn(|| lines.next_if(|line| line.1.starts_with(' '))).collect();
            reader.line = head.0;
            reader.read(head.1, &body).map_err(|rule| Fault { file, line: reader.line, rule })?;
        }
    }
    Ok(reader.rows)
}

#[derive(Default)]
struct Reader {
    declarations: Declarations,
    /// The form lines of the entries that have their own.
    patterns: NameMap<Vec<Line>>,
    /// Forms of a pattern (the mnemonic whose lines they are) with register classes in the places that it leaves open.
    instances: HashMap<(&'static str, &'static str), Vec<Form>, BuildHasherDefault<NameHasher>>,
    rows: Vec<InstDesc>,
    /// The line that is read now.
    line: usize,
}

/// The line that begins an entry.
struct Head {
    entry: Entry,
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
    fn read(&mut self, head: &'static str, body: &[Line]) -> Result<(), Broken> {
        if let Some((left, right)) = head.split_once(" = ") {
            return self.declarations.declare(left, right);
        }
        let begin = self.line;
        let mut head = self.head(head)?;
        let [meaning, forms @ ..] = body else { return Err("an entry has no meaning") };
        self.line = meaning.0;
        head.entry.meaning =
            meaning.1.strip_prefix("  : ").ok_or("an entry begins with its meaning, after `: `")?;
        if forms.is_empty() == (head.pattern == head.entry.mnemonic) {
            return Err("an entry has forms of its own, or those of another by `as=`");
        }
        if !forms.is_empty() {
            self.patterns.insert(head.pattern, forms.to_vec());
        }
        let key = (head.pattern, head.data);
        if !self.instances.contains_key(&key) {
            let instance = self.instance(&head, !forms.is_empty())?;
            self.instances.insert(key, instance);
        }
        self.line = begin;
        add_rows(&mut self.rows, head, &self.instances[&key])
    }

    fn head(&self, line: &'static str) -> Result<Head, Broken> {
        let mut words = line.split_ascii_whitespace();
        let mut word = || words.next().ok_or("an entry begins with mnemonic, opcode and class");
        let (mnemonic, codes, class) = (word()?, word()?, word()?);
        let mut head = Head {
            entry: Entry {
                mnemonic,
                meaning: "",
                witness: "",
                rule: Rule::default(),
                behaviours: Behaviours::empty(),
                inverse: "",
                passes: &[],
                passes_by_format: 0,
                constants: &[],
            },
            opcodes: opcodes(codes)?,
            class: Class::named(class).ok_or("unknown class")?,
            pattern: mnemonic,
            data: "",
            mem_bytes: MemBytes::None,
            reads: ImplicitRegs::empty(),
            writes: ImplicitRegs::empty(),
            ignores_exec: false,
        };
        for word in words {
            match word.split_once('=') {
                Some(("as", other)) => head.pattern = other,
                Some(("data", classes)) => head.data = classes,
                Some(("bytes", count)) => head.mem_bytes = bytes_moved(count)?,
                Some(("passes", counts)) => passes(counts, &mut head.entry)?,
                Some(("constants", types)) => head.entry.constants = constants(types)?,
                Some(("flow", rule)) => head.entry.rule = flow(rule)?,
                Some(("inverse", other)) => head.entry.inverse = other,
                Some(("by", name)) => head.entry.witness = self.declarations.witness(name)?,
                _ if word == "ignores_exec" => head.ignores_exec = true,
                _ => match Behaviours::of_word(word) {
                    Some(behaviour) => head.entry.behaviours |= behaviour,
                    None => implicit(word, &mut head.reads, &mut head.writes)?,
                },
            }
        }
        if head.entry.witness.is_empty() { Err("a meaning has a witness, `by=`") } else { Ok(head) }
    }

    /// The forms of a pattern with the classes of an entry; `own` if the lines are the entry's.
    fn instance(&mut self, head: &Head, own: bool) -> Result<Vec<Form>, Broken> {
        let data: Vec<(&RegisterClass, u8)> = head
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

/// Adds a row for each form and group of targets.
fn add_rows(rows: &mut Vec<InstDesc>, head: Head, forms: &[Form]) -> Result<(), Broken> {
    let entry: &'static Entry = Box::leak(Box::new(head.entry));
    let base = forms[0].format;
    let stated = all(&head.opcodes);
    let on = |wanted: fn(Format) -> bool| {
        let sets = forms.iter().filter(|f| wanted(f.format)).flat_map(|f| {
            let stated = f.opcodes.as_ref().map_or(stated, all);
            f.facts.iter().map(move |facts| facts.targets.intersection(stated))
        });
        sets.fold(TargetSet::EMPTY, TargetSet::union)
    };
    let (short, long) = (on(is_short), on(is_long));
    let mut printed = Printed { mnemonic: entry.mnemonic, made: [None; 4] };
    let mut covered = TargetSet::EMPTY;
    for form in forms {
        let codes = form.opcodes.as_ref().unwrap_or(&head.opcodes);
        for facts in &form.facts {
            for &(set, opcode) in codes {
                let targets = facts.targets.intersection(set);
                if targets.is_empty() {
                    continue;
                }
                covered = covered.union(targets);
                let other = if is_short(form.format) { long } else { short };
                let twofold = !other.intersection(targets).is_empty();
                if twofold && !targets.difference(other).is_empty() {
                    return Err(
                        "a form has another encoding on some of its targets alone, which print it under another name",
                    );
                }
                let opcode = if form.opcodes.is_some() { opcode } else { derived(base, form.format, opcode) };
                rows.push(InstDesc {
                    id: u16::try_from(rows.len()).map_err(|_| "more than 65535 rows")?,
                    mnemonic: entry.mnemonic,
                    printed: printed.name(suffix(form, facts, twofold)),
                    format: form.format,
                    form: form.form,
                    targets,
                    waves: WaveSizes::W64,
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
                    hints: TemporalHints::empty(),
                    last_selector: 0,
                    class: class(head.class, form.form),
                    mem_bytes: head.mem_bytes,
                    vgpr_align: facts.align,
                    half: facts.half,
                    width_by_format: facts.width_by_format,
                    entry,
                });
            }
        }
    }
    if stated.difference(covered).is_empty() { Ok(()) } else { Err("a target has the opcode and no form") }
}

/// The targets that have one of the opcodes.
fn all(opcodes: &Opcodes) -> TargetSet {
    opcodes.iter().fold(TargetSet::EMPTY, |all, (set, _)| all.union(*set))
}

/// The names of one mnemonic, made once.
struct Printed {
    mnemonic: &'static str,
    made: [Option<&'static str>; 4],
}

impl Printed {
    const SUFFIXES: [&str; 4] = ["_e32", "_e64", "_dpp", "_sdwa"];

    fn name(&mut self, suffix: Option<usize>) -> &'static str {
        let Some(suffix) = suffix else { return self.mnemonic };
        let mnemonic = self.mnemonic;
        self.made[suffix].get_or_insert_with(|| [mnemonic, Self::SUFFIXES[suffix]].concat().leak())
    }
}

/// Which suffix the disassembler prints. Names of the short and of the long encoding tell them apart where there are both.
fn suffix(form: &Form, facts: &Facts, twofold: bool) -> Option<usize> {
    match form.format {
        _ if facts.plain_name => None,
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

/// The opcode of a form whose line has none of its own: DPP and SDWA have that of the short encoding, and the long one has the
/// opcodes of VOPC from 0 on, of VOP2 from 0x100 on, of VOP1 from 0x140 on (MI100 ISA 12.13).
fn derived(base: Format, format: Format, opcode: u16) -> u16 {
    match base {
        Format::Vop1 if is_long(format) => opcode + 0x140,
        Format::Vop2 if is_long(format) => opcode + 0x100,
        _ => opcode,
    }
}

/// Size without a literal that an operand may choose to be.
fn bytes(format: Format, facts: &Facts) -> u8 {
    match format {
        Format::Vop3px2 => 16,
        _ if facts.has_literal => 8,
        format if is_short(format) || format.unit() == Unit::Scalar => 4,
        _ => 8,
    }
}

/// Every vector instruction reads EXEC as its mask.
fn exec(format: Format, ignored: bool) -> ImplicitRegs {
    let scalar = matches!(format.unit(), Unit::Scalar | Unit::ScalarMemory);
    if scalar || ignored { ImplicitRegs::empty() } else { ImplicitRegs::EXEC }
}

/// The class of an addressing form.
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

/// `8`, `8@gfx942,16@gfx950`, or `by_format*4` where the count follows from formats.
fn passes(text: &'static str, entry: &mut Entry) -> Result<(), Broken> {
    let count = |digits: &str| digits.parse().map_err(|_| "`passes=` has numbers");
    if let Some(least) = text.strip_prefix("by_format*") {
        entry.passes_by_format = count(least)?;
        return Ok(());
    }
    let part = |part| with_targets(part).and_then(|(digits, set)| Ok((set, count(digits)?)));
    entry.passes = text.split(',').map(part).collect::<Result<Vec<_>, _>>()?.leak();
    Ok(())
}

/// `f16,src2:b32,sdwa.src1:i16`: the type at all operands, then those of some.
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

fn flow(text: &str) -> Result<Rule, Broken> {
    let (name, controls) = text.split_once(':').unwrap_or((text, ""));
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
        read(&[("words", WORDS), ("x", entry)])
            .map_or_else(|fault| fault.to_string(), |rows| format!("{} rows", rows.len()))
    }

    #[test]
    fn an_entry_becomes_a_row_for_each_form_and_group_of_targets() {
        let text = "v_x_b32 0x2,0x3@gfx950 valu by=w\n";
        assert_eq!(fault(text), "x.isa:1: targets of the opcodes overlap");
        let rows = read(&[
            ("words", WORDS),
            ("x", "ds_x 0x2@..gfx942,0x3@gfx950 lds_read data=d*2 by=w\n  : D = LDS\n  DS vdst=$ addr:v offset[0..9]\nds_y 0x7 lds_read as=ds_x data=v by=w\n  : D = LDS\n"),
        ])
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
