//! The contents of a reference page: plain values, ready to print or to serialise.

/// The facts about one instruction in all its forms, on one target or on all of them.
///
/// Everything on the page is derived: from the [table](crate::table), the [counters](crate::counters), the
/// [hazard rules](crate::hazards), the [layouts](crate::layout) and the [semantics](crate::semantics).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Page {
    /// The name without `_e32`, `_e64`, `_dpp`, `_sdwa`.
    pub mnemonic: &'static str,
    /// The targets that have the instruction (all of them, even if the page was requested for one target).
    pub targets: Vec<&'static str>,
    /// The targets of another family that have the instruction as well, with different encodings: those are on the page
    /// for such a target.
    pub elsewhere: Vec<&'static str>,
    /// The target for which the page was requested.
    pub target: Option<&'static str>,
    /// Other names that the assembler accepts for the instruction.
    pub aliases: Vec<Alias>,
    /// The meaning; empty if the tables do not have it yet. The notation is described in [`crate::semantics`].
    pub semantics: &'static str,
    /// The source of that statement; empty if there is none.
    pub witness: &'static str,
    /// The instruction's encodings and addressing forms.
    pub forms: Vec<Form>,
    /// The wait-state rules that can bind the instruction, on the targets that have wait-state rules.
    pub hazards: Vec<Hazard>,
    /// The targets whose hazards are sequences of instructions with remedies, which `hazards` does not cover:
    /// RDNA.
    pub hazards_elsewhere: Vec<&'static str>,
    /// Matrix shape, passes and layout, one for each target, for matrix instructions.
    pub matrix: Vec<MatrixFacts>,
}

/// Another name of an instruction.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Alias {
    /// The name.
    pub name: &'static str,
    /// The targets on which the assembler accepts it.
    pub targets: Vec<&'static str>,
}

/// One encoding and addressing form, on the targets where its facts are the same: a row of the table.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Form {
    /// The name as the disassembler prints it.
    pub printed: &'static str,
    /// Encoding format, as the manuals name it: `VOP3A`.
    pub format: &'static str,
    /// Addressing form, for example `offen` or `saddr`; empty if the format has only one.
    pub form: &'static str,
    /// The targets to which the facts below apply.
    pub targets: Vec<&'static str>,
    /// The wave sizes, in lanes, to which the facts apply; empty if they apply to all that the targets have.
    pub waves: Vec<u32>,
    /// The opcode field of the format.
    pub opcode: u16,
    /// The size in bytes without an optional literal (a literal that is always present is included).
    pub bytes: u8,
    /// True if an optional 32-bit literal may follow, which adds four bytes.
    pub takes_literal: bool,
    /// Operands in assembly order.
    pub operands: Vec<OperandFacts>,
    /// Pairs of operands that must both be VGPRs or both AGPRs.
    pub same_file: Vec<[&'static str; 2]>,
    /// Registers that the instruction reads implicitly: `exec`, `vcc`, `scc`, `m0`, `flat_scratch`, `mode`.
    pub implicit_reads: Vec<&'static str>,
    /// Registers that the instruction writes implicitly.
    pub implicit_writes: Vec<&'static str>,
    /// The modifiers that the form accepts.
    pub modifiers: Vec<ModifierFacts>,
    /// The permitted constants and scalar registers, as sentences.
    pub constant_rules: Vec<String>,
    /// The scheduling and hazard class, a name of [`Class`](crate::table::Class).
    pub class: &'static str,
    /// The execution pipe that executes it.
    pub pipe: Pipe,
    /// The effects on the counters of `s_waitcnt`.
    pub counters: Vec<CounterFacts>,
    /// How the address `ADDR` in the semantics line is computed in this form; empty if the form accesses no memory.
    pub address: &'static str,
    /// The memory that the form transfers.
    pub memory: Option<MemoryFacts>,
    /// Further notes on the form.
    pub notes: &'static str,
}

/// An operand of a form.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct OperandFacts {
    /// The field's name: `vdst`, `src0`, `saddr` …
    pub name: &'static str,
    /// `read`, `written` or `read and written`.
    pub access: &'static str,
    /// The permitted operands in words: `VGPR`, `AGPR`, `SGPR`, `inline constant` …
    pub kinds: Vec<&'static str>,
    /// The width in dwords: several values if `cbsz` or `blgp` selects the width; empty for operands other than
    /// registers.
    pub dwords: Vec<u8>,
    /// Tuples of vector registers must start at a multiple of this number.
    pub vector_alignment: u8,
    /// Tuples of scalar registers must start at a multiple of this number.
    pub scalar_alignment: u8,
    /// The named registers that the operand accepts (32-bit ones by their `_lo` half; `ttmp` stands for the trap
    /// temporaries).
    pub special_registers: Vec<&'static str>,
    /// Source modifiers: `neg`, `abs`, `sext`.
    pub source_modifiers: Vec<&'static str>,
}

/// A modifier of a form.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ModifierFacts {
    /// The spelling on the form's targets, as a template: `offset:<-4096..4095>`, `clamp`, `op_sel:[0,0,0]`.
    pub syntax: String,
    /// True if the form requires the modifier.
    pub required: bool,
}

/// An execution pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Pipe {
    /// Scalar ALU.
    ScalarAlu,
    /// Executed by the instruction buffer itself: branches, waits, messages, barriers.
    Control,
    /// Scalar memory.
    ScalarMemory,
    /// Vector ALU.
    VectorAlu,
    /// Vector ALU at a quarter of the rate (transcendental functions).
    Transcendental,
    /// Matrix core.
    Matrix,
    /// Vector memory: address, texture cache.
    VectorMemory,
    /// Vector memory or LDS, depending on the address.
    Flat,
    /// LDS (or GDS).
    Lds,
}

/// The effect of an instruction on one counter.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CounterFacts {
    /// `vmcnt`, `lgkmcnt` or `expcnt`.
    pub counter: &'static str,
    /// The amount by which the counter increases at issue.
    pub count: u8,
    /// True if the operations of this kind finish in issue order.
    pub in_order: bool,
    /// The modifier with which the instruction has this effect, if not always: `gds`.
    pub with: Option<&'static str>,
}

/// The memory that a form transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MemoryFacts {
    /// The number of units.
    pub amount: u8,
    /// The unit: `bytes`, or `components` of the buffer's format.
    pub unit: &'static str,
    /// `lane` or `wave`: what the amount refers to.
    pub per: &'static str,
}

/// A wait-state rule that can bind the instruction.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Hazard {
    /// The rule's name.
    pub id: &'static str,
    /// The instructions that must not be too close, in words.
    pub title: &'static str,
    /// The citation of the source.
    pub citation: &'static str,
    /// True if the instruction can be the first of the two.
    pub first: bool,
    /// True if the instruction can be the second of the two.
    pub second: bool,
    /// The wait states between the two, by target.
    pub wait_states: Vec<HazardStates>,
    /// The quality of the rule's evidence: `certain`, `documented` or `cautious`.
    pub grade: String,
    /// True if the rule matters only with XNACK replay on.
    pub xnack_only: bool,
    /// Further remarks on the rule.
    pub note: &'static str,
}

/// The wait states of a rule on one target.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HazardStates {
    /// The target.
    pub target: &'static str,
    /// A number, or a formula in terms of the first instruction's passes.
    pub formula: String,
    /// The numbers if this instruction is the first one (several if its passes depend on modifiers).
    pub after_this: Vec<u8>,
}

/// Shape, speed and layout of a matrix instruction on one target.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MatrixFacts {
    /// The target.
    pub target: &'static str,
    /// The number of lanes of the wave.
    pub wave: u32,
    /// Rows of A, C, D.
    pub m: u16,
    /// Columns of B, C, D.
    pub n: u16,
    /// Columns of A, rows of B (for a sparse A, before compression).
    pub k: u16,
    /// Independent products.
    pub blocks: u8,
    /// The number of passes of 4 clocks; two numbers if it depends on the formats (with and without 8-bit formats);
    /// empty if the tables do not have it.
    pub passes: Vec<u8>,
    /// The number of multiplications plus additions.
    pub flops: u32,
    /// `flops` for each clock of a compute unit with four matrix cores, one number for each of `passes`.
    pub flops_per_clock: Vec<u32>,
    /// The matrices: A, B, C, D, the sparse index, the scales.
    pub matrices: Vec<MatrixLayout>,
    /// What the modifiers that change a layout do.
    pub controls: Vec<&'static str>,
    /// `measured` (every element compared with AMD's matrix instruction calculator) or `argued` (see
    /// `docs/layouts.md`).
    pub provenance: &'static str,
}

/// The layout of one matrix as formulas.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MatrixLayout {
    /// `A`, `B`, `C`, `D`, `index`, `scale A`, `scale B`.
    pub matrix: &'static str,
    /// The operand that contains it.
    pub operand: &'static str,
    /// Element type.
    pub element: &'static str,
    /// The number of dwords of the operand in each lane.
    pub dwords: Vec<u8>,
    /// The lane of element (row, column) of a block.
    pub lane: String,
    /// The position of the element in the lane's registers.
    pub register: String,
}
