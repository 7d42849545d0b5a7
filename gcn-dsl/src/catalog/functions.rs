//! The functions of [`crate::isa`], derived from the instruction table, with their parameters and results.
//!
//! There is one function for each mnemonic, and an additional one for each form that takes different operands ([`Variant`]). If
//! an instruction has optional modifiers, a second function `f_with` takes the parameters of `f` followed by the
//! modifiers. Everything is derived from the table. `build.rs` includes this file to generate the functions, the crate
//! uses it to look them up, and tests use it to count them.

use std::collections::BTreeMap;

use gcn_isa::InstructionSet;
use gcn_isa::table::{self, Access, Behaviours, Class, Format, ImplicitRegs, InstDesc, MemBytes, Modifiers};
use gcn_isa::table::{OperandDesc, OperandKinds};
use gcn_isa::target::Family;

use super::excluded::{candidates, excluded};

/// The form of an instruction for which a function is generated.
pub use gcn_isa::table::Variant;

/// The transformations that the compiler may apply to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// An unused call may be removed, and equal calls may be merged.
    Pure,
    /// An unused call may be removed, but equal calls must not be merged: the result depends on the active lanes or on
    /// the time.
    Unshared,
    /// No transformation is allowed: the call must be executed.
    Kept,
}

/// The kind of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// The previous contents of a destination of this many dwords that the instruction writes only partly. If the write
    /// is partial only because of a modifier, `f_with` has this parameter and `f` does not.
    Old(u8),
    /// A vector operand of this many dwords.
    Vector(u8),
    /// A matrix operand whose width depends on the modifier that chooses its format.
    Narrow,
    /// A uniform operand of this many dwords.
    Uniform(u8),
    /// The address of a buffer instruction.
    Buffer,
    /// The address of a global instruction. This parameter gives two operands: `vaddr`, and `saddr`, which is
    /// [`ParamKind::SecondAddress`].
    Global,
    /// The second operand of an address, which is not a parameter of the function.
    SecondAddress,
    /// The offset of a scalar memory instruction.
    Smem,
    /// An immediate operand.
    Imm,
    /// A literal dword.
    Literal,
    /// A literal of two dwords.
    Literal64,
    /// SCC, which the instruction reads.
    Scc,
    /// VCC, which the instruction reads.
    Vcc,
    /// M0, which the instruction reads.
    M0,
    /// The modifier `offset:`.
    Offset,
    /// The modifiers `offset0:` and `offset1:`.
    Offsets,
    /// The modifier `bitop3:`.
    Bitop3,
    /// The modifiers `dfmt` and `nfmt`.
    BufferFormat,
    /// All other modifiers, in one parameter.
    Options,
}

/// A parameter of a function.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// The name of the operand or modifier.
    pub name: &'static str,
    /// The kind of the operand or modifier.
    pub kind: ParamKind,
    /// True if the operand is also written.
    pub tied: bool,
}

/// A result of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The name of the operand that is the result, or `exec` or `scc`.
    pub name: &'static str,
    /// The Rust type of the result.
    pub ty: String,
}

/// A function of [`crate::isa`] and its variant `…_with`, if there is one.
#[derive(Debug, Clone)]
pub struct Function {
    /// The name without `_with`.
    pub name: String,
    /// The mnemonic of the instruction.
    pub mnemonic: &'static str,
    /// The form of the instruction.
    pub variant: Variant,
    /// True if there is a second function `…_with`.
    pub has_with: bool,
    /// The parameters in order, without the last parameter of `…_with`.
    pub params: Vec<Param>,
    /// The results in order.
    pub results: Vec<Outcome>,
    /// The transformations that a call permits.
    pub effect: Effect,
    /// The rows of the instruction table for all targets. The rows from which the signature is derived come first.
    pub rows: Vec<&'static InstDesc>,
    /// The family from whose rows the signature is derived: the first that has the instruction.
    pub family: Family,
}

/// The choice between the two functions of a [`Function`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `f`.
    Short,
    /// `f_with`.
    With,
}

/// All functions, sorted by name. An instruction that several families have, perhaps under different names, has one
/// function, under its name in the first of these families.
pub fn functions() -> Vec<Function> {
    let mut groups: BTreeMap<(&'static str, Variant, &'static str), Vec<&'static InstDesc>> = BTreeMap::new();
    for row in candidates().filter(|row| excluded(row).is_none()) {
        groups.entry((row.entry.mnemonic, row.variant(), row.size_suffix())).or_default().push(row);
    }
    groups.into_values().filter_map(Function::of).collect()
}

impl Function {
    /// The forms that exist: `f`, and `f_with` if there are modifiers.
    pub fn forms(&self) -> &'static [Form] {
        if self.has_with { &[Form::Short, Form::With] } else { &[Form::Short] }
    }

    /// The name of a function.
    pub fn name_of(&self, form: Form) -> String {
        match form {
            Form::Short => self.name.clone(),
            Form::With => format!("{}_with", self.name),
        }
    }

    /// The parameters of a function.
    pub fn params_of(&self, form: Form) -> Vec<Param> {
        let old = |p: &Param| matches!(p.kind, ParamKind::Old(_));
        let extended = self.params.iter().any(|p| p.kind == ParamKind::Options);
        match form {
            Form::Short if extended => self.params.clone(),
            Form::Short => self.params.iter().filter(|p| !old(p)).copied().collect(),
            Form::With => {
                let options = Param { name: "options", kind: ParamKind::Options, tied: false };
                self.params.iter().copied().chain([options]).collect()
            }
        }
    }

    fn of(all: Vec<&'static InstDesc>) -> Option<Function> {
        let of = |row: &InstDesc| row.targets.iter().next().map(InstructionSet::family);
        let family = of(all.first()?)?;
        let rows: Vec<_> = all.iter().copied().filter(|row| of(row) == Some(family)).collect();
        let row = *rows.iter().min_by_key(|row| row.preference())?;
        let variant = row.variant();
        let modifiers = rows.iter().fold(Modifiers::empty(), |m, row| m | optional(row));
        let mut params = operands(row);
        if rows.iter().any(|row| row.can_keep_part())
            && let Some(dst) = row.operands.iter().find(|o| o.access == Access::Write && o.name == "vdst")
        {
            params.insert(0, Param { name: "old", kind: ParamKind::Old(dst.dwords), tied: false });
        }
        params.extend(implicit_inputs(&rows));
        params.extend(essential_modifiers(row));
        let extended = matches!(variant, Variant::Dpp | Variant::Sdwa);
        if extended {
            params.push(Param { name: "options", kind: ParamKind::Options, tied: false });
        }
        Some(Function {
            name: format!("{}{}{}", row.entry.mnemonic, variant.suffix(), row.size_suffix()),
            mnemonic: row.entry.mnemonic,
            variant,
            has_with: !extended && !modifiers.is_empty(),
            params,
            results: results(row),
            effect: effect(row, variant),
            rows: all,
            family,
        })
    }
}

/// The modifiers that a call may omit and that have no parameter of their own, so that they become the last parameter
/// of `…_with`.
fn optional(row: &InstDesc) -> Modifiers {
    let parameters = Modifiers::OFFSET
        | Modifiers::OFFSET0
        | Modifiers::OFFSET1
        | Modifiers::BITOP3
        // These are determined by the address and the variant.
        | Modifiers::OFFEN
        | Modifiers::IDXEN
        | Modifiers::LDS
        // If the source operand can be negated, the operand expresses the negation.
        | Modifiers::NEG;
    row.modifiers - parameters - row.required
}

fn is_off(operand: &OperandDesc) -> bool {
    operand.kinds == OperandKinds::OFF
}

fn operands(row: &InstDesc) -> Vec<Param> {
    let read = row.operands.iter().filter(|o| o.access != Access::Write);
    read.map(|o| Param { name: o.name, kind: operand_kind(row, o), tied: o.access == Access::ReadWrite })
        .collect()
}

fn operand_kind(row: &InstDesc, o: &OperandDesc) -> ParamKind {
    let literal = OperandKinds::LITERAL | OperandKinds::LITERAL16;
    match (row.format, o.name) {
        (format, "vaddr") if format.is_buffer() => ParamKind::Buffer,
        (Format::Global | Format::VGlobal, "vaddr") => ParamKind::Global,
        // Here `saddr` is one part of the address and the lane's number is the other; there is no `vaddr`.
        (Format::Global | Format::VGlobal, "saddr") if row.operand_index("vaddr").is_none() => {
            ParamKind::Uniform(2)
        }
        (Format::Global | Format::VGlobal, "saddr") => ParamKind::SecondAddress,
        (Format::Smem, "offset" | "soffset") if row.class != Class::SmemPrefetch => ParamKind::Smem,
        _ if o.kinds.contains(OperandKinds::IMM) => ParamKind::Imm,
        _ if literal.contains(o.kinds) => ParamKind::Literal,
        _ if o.kinds == OperandKinds::LITERAL64 => ParamKind::Literal64,
        (Format::Vop3pMai | Format::Vop3px2, "src0" | "src1") if row.width_by_format => ParamKind::Narrow,
        _ if super::types::is_vector(o) => ParamKind::Vector(o.dwords),
        // A lane mask is passed as a `V<bool>`, for both wave sizes.
        _ if row.does(Behaviours::SELECTS_BY_MASK) => ParamKind::Uniform(2),
        _ => {
            debug_assert!(!is_off(o), "{}: {} is always off", row.mnemonic, o.name);
            ParamKind::Uniform(o.dwords)
        }
    }
}

fn implicit_inputs(rows: &[&InstDesc]) -> Vec<Param> {
    let read = rows.iter().fold(ImplicitRegs::empty(), |set, row| set | row.implicit_reads);
    [
        (ImplicitRegs::SCC, "scc", ParamKind::Scc),
        (ImplicitRegs::VCC, "vcc", ParamKind::Vcc),
        (ImplicitRegs::M0, "m0", ParamKind::M0),
    ]
    .into_iter()
    .filter(|(reg, ..)| read.contains(*reg))
    .map(|(_, name, kind)| Param { name, kind, tied: false })
    .collect()
}

fn essential_modifiers(row: &InstDesc) -> Vec<Param> {
    let smem = row.format == Format::Smem;
    [
        (row.modifiers.contains(Modifiers::OFFSET) && !smem, "offset", ParamKind::Offset),
        (row.modifiers.contains(Modifiers::OFFSET0), "offsets", ParamKind::Offsets),
        (row.modifiers.contains(Modifiers::BITOP3), "bitop3", ParamKind::Bitop3),
        (matches!(row.format, Format::Mtbuf | Format::VBufferTyped), "format", ParamKind::BufferFormat),
    ]
    .into_iter()
    .filter(|p| p.0)
    .map(|(_, name, kind)| Param { name, kind, tied: false })
    .collect()
}

/// The results: written operands in order, then EXEC if it is not the same as a written operand, then SCC.
fn results(row: &InstDesc) -> Vec<Outcome> {
    let written = row.operands.iter().filter(|o| o.access != Access::Read);
    let mut list: Vec<Outcome> =
        written.map(|o| Outcome { name: o.name, ty: super::types::result(row, o) }).collect();
    if returns_exec(row.mnemonic) {
        list.push(Outcome { name: "exec", ty: "S<u64>".into() });
    }
    if row.implicit_writes.contains(ImplicitRegs::SCC) {
        list.push(Outcome { name: "scc", ty: "S<bool>".into() });
    }
    list
}

/// True if the instruction's function returns the new EXEC as a second result: `s_and_saveexec_b64` and similar
/// instructions, whose destination receives the old EXEC.
pub fn returns_exec(mnemonic: &str) -> bool {
    table::entry(mnemonic).is_some_and(|entry| entry.behaviours.contains(Behaviours::SAVES_EXEC))
}

fn effect(row: &InstDesc, variant: Variant) -> Effect {
    let nothing = results(row).is_empty();
    let acts = row.mem_bytes != MemBytes::None
        || row.is_vmem()
        || matches!(
            row.class,
            Class::SmemLoad
                | Class::SmemStore
                | Class::SmemAtomic
                | Class::SmemAtomicRet
                | Class::LdsRead
                | Class::LdsAtomicRet
                | Class::Gds
                | Class::Gws
                | Class::Setreg
        );
    let by_lanes = variant == Variant::Dpp
        || matches!(
            row.class,
            Class::Cmpx
                | Class::Readlane
                | Class::Writelane
                | Class::Permlane
                | Class::LdsPermute
                | Class::Getreg
                | Class::SmemTime
        )
        || row.implicit_reads.contains(ImplicitRegs::EXEC) && row.is_salu()
        || row.does(Behaviours::SWAPS)
        || row.does(Behaviours::READS_PC);
    match (nothing || acts, by_lanes) {
        (true, _) => Effect::Kept,
        (false, true) => Effect::Unshared,
        (false, false) => Effect::Pure,
    }
}
