//! The contents of a reference page: plain values that can be printed or serialised.

/// The facts about one instruction in all its forms, on one target or on all targets.
///
/// All facts on the page are derived: from the [table](crate::table), the [counters](crate::counters), the [hazard rules](crate::hazards),
/// the [layouts](crate::layout) and the [semantics](crate::semantics).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Page {
    /// The name without `_e32`, `_e64`, `_dpp`, `_sdwa`.
    pub mnemonic: &'static str,
    /// All targets that have the instruction, even if the page was requested for one target.
    pub targets: Vec<&'static str>,
    /// The targets of another family that also have the instruction, with different encodings. These encodings are on the page for such a
    /// target.
    pub elsewhere: Vec<&'static str>,
    /// The target for which the page was requested; `None` for a page about all targets.
    pub target: Option<&'static str>,
    /// Other names that the assembler accepts for the instruction.
    pub aliases: Vec<Alias>,
    /// The meaning, in the notation of [`crate::semantics`]. It is empty if the tables do not have it yet.
    pub semantics: &'static str,
    /// The source of the meaning. It is empty if there is none.
    pub witness: &'static str,
    /// The instruction's encodings and addressing forms.
    pub forms: Vec<Form>,
    /// The wait-state rules that can apply to the instruction, on the targets that have wait-state rules.
    pub hazards: Vec<Hazard>,
    /// The targets whose hazards are sequences of instructions with remedies, which `hazards` does not cover:
    /// RDNA.
    pub hazards_elsewhere: Vec<&'static str>,
    /// The shape, passes and layout of a matrix instruction on each target.
    pub matrix: Vec<MatrixFacts>,
}

/// Another name of an instruction.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Alias {
    /// The name.
    pub name: &'static str,
    /// The targets on which the assembler accepts this name.
    pub targets: Vec<&'static str>,
}

/// One encoding and addressing form, on the targets where its facts do not differ: a row of the table.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Form {
    /// The name as the disassembler prints it.
    pub printed: &'static str,
    /// The encoding format with the name that the manuals use, for example `VOP3A`.
    pub format: &'static str,
    /// The addressing form, for example `offen` or `saddr`. It is empty if the format has only one.
    pub form: &'static str,
    /// The targets to which the facts below apply.
    pub targets: Vec<&'static str>,
    /// The wave sizes, in lanes, to which the facts apply. The list is empty if the facts apply to all wave sizes of the targets.
    pub waves: Vec<u32>,
    /// The opcode field of the format.
    pub opcode: u16,
    /// The size in bytes without an optional literal. A literal that is always present is included.
    pub bytes: u8,
    /// True if an optional 32-bit literal, which adds four bytes, may follow.
    pub takes_literal: bool,
    /// The operands in assembly order.
    pub operands: Vec<OperandFacts>,
    /// Pairs of operands that must both be VGPRs or both AGPRs.
    pub same_file: Vec<[&'static str; 2]>,
    /// The registers that the instruction reads implicitly: `exec`, `vcc`, `scc`, `m0`, `flat_scratch`, `mode`.
    pub implicit_reads: Vec<&'static str>,
    /// The registers that the instruction writes implicitly.
    pub implicit_writes: Vec<&'static str>,
    /// The modifiers that the form accepts.
    pub modifiers: Vec<ModifierFacts>,
    /// Sentences about the permitted constants and scalar registers.
    pub constant_rules: Vec<String>,
    /// The scheduling and hazard class: a name of [`Class`](crate::table::Class).
    pub class: &'static str,
    /// The pipe that executes the form.
    pub pipe: Pipe,
    /// The effects on the counters of `s_waitcnt`.
    pub counters: Vec<CounterFacts>,
    /// How the address `ADDR` in the semantics line is computed in this form. It is empty if the form does not access memory.
    pub address: &'static str,
    /// The fields of the immediate, if it consists of several numbers: the counters of a wait, for example.
    pub immediate: Vec<ImmediateField>,
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
    /// The access: `read`, `written` or `read and written`.
    pub access: &'static str,
    /// The names of the permitted kinds of operands: `VGPR`, `AGPR`, `SGPR`, `inline constant` …
    pub kinds: Vec<&'static str>,
    /// The width in dwords. There are several values if `cbsz` or `blgp` selects the width, and none for operands other than registers.
    pub dwords: Vec<u8>,
    /// The first register of a tuple of vector registers must be a multiple of this number.
    pub vector_alignment: u8,
    /// The first register of a tuple of scalar registers must be a multiple of this number.
    pub scalar_alignment: u8,
    /// The named registers that the operand accepts. 32-bit registers are listed by their `_lo` half; `ttmp` stands for the trap
    /// temporaries.
    pub special_registers: Vec<&'static str>,
    /// The source modifiers: `neg`, `abs`, `sext`.
    pub source_modifiers: Vec<&'static str>,
}

/// A field of an immediate that consists of several numbers.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ImmediateField {
    /// The name in assembly text.
    pub name: &'static str,
    /// The bits of the immediate that hold the number, the highest first, as in manuals: `[15:14][3:0]`.
    pub bits: String,
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
    /// The instruction buffer, which executes branches, waits, messages and barriers itself.
    Control,
    /// Scalar memory.
    ScalarMemory,
    /// Vector ALU.
    VectorAlu,
    /// Vector ALU at a quarter of the rate, for transcendental functions.
    Transcendental,
    /// Matrix core.
    Matrix,
    /// Vector memory: addresses and the texture cache.
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
    /// The name of the counter: `vmcnt`, `lgkmcnt` or `expcnt`.
    pub counter: &'static str,
    /// The amount by which the counter increases at issue.
    pub count: u8,
    /// True if the operations of this kind finish in issue order.
    pub in_order: bool,
    /// The modifier that is necessary for this effect: `gds`. `None` if the instruction always has the effect.
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
    /// The unit to which the amount refers: `lane` or `wave`.
    pub per: &'static str,
}

/// A wait-state rule that can apply to the instruction.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Hazard {
    /// The rule's name.
    pub id: &'static str,
    /// A description of the instructions that must not be too close.
    pub title: &'static str,
    /// The citation of the source.
    pub citation: &'static str,
    /// True if the instruction can be the first instruction of the rule.
    pub first: bool,
    /// True if the instruction can be the second instruction of the rule.
    pub second: bool,
    /// The number of wait states between the two instructions on each target.
    pub wait_states: Vec<HazardStates>,
    /// The quality of the rule's evidence: `certain`, `documented` or `cautious`.
    pub grade: String,
    /// True if the rule matters only while XNACK replay is on.
    pub xnack_only: bool,
    /// Further remarks on the rule.
    pub note: &'static str,
}

/// The number of wait states that a rule requires on one target.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HazardStates {
    /// The target.
    pub target: &'static str,
    /// The number, or a formula that depends on the number of passes of the first instruction.
    pub formula: String,
    /// The numbers if this instruction is the first one. There are several if the number of its passes depends on modifiers.
    pub after_this: Vec<u8>,
}

/// The shape, speed and layout of a matrix instruction on one target.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MatrixFacts {
    /// The target.
    pub target: &'static str,
    /// The number of lanes of the wave.
    pub wave: u32,
    /// The number of rows of A, C and D.
    pub m: u16,
    /// The number of columns of B, C and D.
    pub n: u16,
    /// The number of columns of A and rows of B (for a sparse A, before compression).
    pub k: u16,
    /// The number of independent products.
    pub blocks: u8,
    /// The number of passes of 4 clocks. There are two numbers if it depends on the formats (with and without 8-bit formats), and none if
    /// the tables do not have it.
    pub passes: Vec<u8>,
    /// The number of multiplications plus additions.
    pub flops: u32,
    /// `flops` for each clock of a compute unit with four matrix cores, with one number for each element of `passes`.
    pub flops_per_clock: Vec<u32>,
    /// The matrices: A, B, C, D, the sparse index, the scales.
    pub matrices: Vec<MatrixLayout>,
    /// The effects of the modifiers that change a layout.
    pub controls: Vec<&'static str>,
    /// The evidence: `measured` (every element was compared with AMD's matrix instruction calculator) or `argued` (see `docs/layouts.md`).
    pub provenance: &'static str,
}

/// The layout of one matrix as formulas.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MatrixLayout {
    /// The name of the matrix: `A`, `B`, `C`, `D`, `index`, `scale A`, `scale B`.
    pub matrix: &'static str,
    /// The operand that contains the matrix.
    pub operand: &'static str,
    /// The element type.
    pub element: &'static str,
    /// The number of dwords of the operand in each lane.
    pub dwords: Vec<u8>,
    /// The lane of element (row, column) of a block.
    pub lane: String,
    /// The position of the element in the lane's registers.
    pub register: String,
}
