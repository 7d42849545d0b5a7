//! The contents of a reference page: plain values, ready to print or to serialise.

/// The facts about one instruction in every form it has, on one target or on all of them.
///
/// Everything on the page is derived: from the [table](crate::table), the [counters](crate::counters), the
/// [hazard rules](crate::hazards), the [layouts](crate::layout) and the [semantics](crate::semantics).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Page {
    /// Name without `_e32`, `_e64`, `_dpp`, `_sdwa`.
    pub mnemonic: &'static str,
    /// Targets that have it (all that do, even if the page was asked for one target).
    pub targets: Vec<&'static str>,
    /// Targets of another family that have it as well, with encodings of their own: those are on a page for such a target.
    pub elsewhere: Vec<&'static str>,
    /// The target that the page was asked for.
    pub target: Option<&'static str>,
    /// Other names that the assembler takes for it.
    pub aliases: Vec<Alias>,
    /// The meaning; empty if the tables do not have it yet. The notation is described in [`crate::semantics`].
    pub semantics: &'static str,
    /// Where that statement comes from; empty if there is none.
    pub witness: &'static str,
    /// Its encodings and addressing forms.
    pub forms: Vec<Form>,
    /// The wait-state rules that can bind it on the targets whose hazards are in the tables.
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
    /// Targets on which the assembler takes it.
    pub targets: Vec<&'static str>,
}

/// One encoding and addressing form, on the targets where its facts are the same: a row of the table.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Form {
    /// Name as the disassembler prints it.
    pub printed: &'static str,
    /// Encoding format, as the manuals name it: `VOP3A`.
    pub format: &'static str,
    /// Addressing form, for example `offen` or `saddr`; empty if the format has only one.
    pub form: &'static str,
    /// The targets to which the facts below apply.
    pub targets: Vec<&'static str>,
    /// The number of lanes of the waves to which they apply; empty if to all that the targets have.
    pub waves: Vec<u32>,
    /// Opcode field of the format.
    pub opcode: u16,
    /// Bytes without a trailing literal (the forms that always have one count it).
    pub bytes: u8,
    /// True if a 32-bit literal may follow, which makes it four bytes longer.
    pub takes_literal: bool,
    /// Operands in assembly order.
    pub operands: Vec<OperandFacts>,
    /// Pairs of operands that must be both VGPRs or both AGPRs.
    pub same_file: Vec<[&'static str; 2]>,
    /// Registers that are read without being written in the text: `exec`, `vcc`, `scc`, `m0`, `flat_scratch`,
    /// `mode`.
    pub implicit_reads: Vec<&'static str>,
    /// Registers that are written without being written in the text.
    pub implicit_writes: Vec<&'static str>,
    /// Modifiers it takes.
    pub modifiers: Vec<ModifierFacts>,
    /// The permitted constants and scalar registers, as sentences.
    pub constant_rules: Vec<String>,
    /// Scheduling and hazard class, a name of [`Class`](crate::table::Class).
    pub class: &'static str,
    /// The execution pipe that takes it.
    pub pipe: Pipe,
    /// The effects on the counters of `s_waitcnt`.
    pub counters: Vec<CounterFacts>,
    /// How `ADDR` of the semantics line is made in this form; empty if it accesses no memory.
    pub address: &'static str,
    /// Memory moved.
    pub memory: Option<MemoryFacts>,
    /// Further notes from the measurement of the table.
    pub notes: &'static str,
}

/// An operand of a form.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct OperandFacts {
    /// Field name: `vdst`, `src0`, `saddr` …
    pub name: &'static str,
    /// `read`, `written` or `read and written`.
    pub access: &'static str,
    /// The permitted operands in words: `VGPR`, `AGPR`, `SGPR`, `inline constant` …
    pub kinds: Vec<&'static str>,
    /// Width in dwords; several if `cbsz` or `blgp` selects the width; empty for operands other than
    /// registers.
    pub dwords: Vec<u8>,
    /// Vector registers must start at a multiple of this.
    pub vector_alignment: u8,
    /// Scalar registers must start at a multiple of this.
    pub scalar_alignment: u8,
    /// Named registers that may stand there (32-bit ones by their `_lo` half; `ttmp` = the trap temporaries).
    pub special_registers: Vec<&'static str>,
    /// Source modifiers: `neg`, `abs`, `sext`.
    pub source_modifiers: Vec<&'static str>,
}

/// A modifier of a form.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ModifierFacts {
    /// Spelling on the form's targets, as a template: `offset:<-4096..4095>`, `clamp`, `op_sel:[0,0,0]`.
    pub syntax: String,
    /// True if the form is not complete without it.
    pub required: bool,
}

/// An execution pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Pipe {
    /// Scalar ALU.
    ScalarAlu,
    /// Taken by the instruction buffer itself: branches, waits, messages, barriers.
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
    /// Vector memory and LDS: an address decides which.
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
    /// By how much it goes up at issue.
    pub count: u8,
    /// True if the operations of this kind finish in issue order.
    pub in_order: bool,
    /// The modifier with which it does so, if not always: `gds`.
    pub with: Option<&'static str>,
}

/// Memory moved by a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MemoryFacts {
    /// The number of `unit`.
    pub amount: u8,
    /// `bytes`, or `components` of the buffer's format.
    pub unit: &'static str,
    /// `lane` or `wave`.
    pub per: &'static str,
}

/// A wait-state rule that can bind the instruction.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Hazard {
    /// Name of the rule.
    pub id: &'static str,
    /// The instructions that must not be too close, in words.
    pub title: &'static str,
    /// Where it is written.
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
    /// Further facts about the rule.
    pub note: &'static str,
}

/// The wait states of a rule on one target.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HazardStates {
    /// The target.
    pub target: &'static str,
    /// The formula: a number, or one in terms of the first instruction's passes.
    pub formula: String,
    /// The numbers after this instruction as the first (several if its passes depend on modifiers).
    pub after_this: Vec<u8>,
}

/// Shape, speed and layout of a matrix instruction on one target.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MatrixFacts {
    /// The target.
    pub target: &'static str,
    /// Lanes of the wave.
    pub wave: u32,
    /// Rows of A, C, D.
    pub m: u16,
    /// Columns of B, C, D.
    pub n: u16,
    /// Columns of A, rows of B (before compression where A is sparse).
    pub k: u16,
    /// Independent products.
    pub blocks: u8,
    /// Passes of 4 clocks; two numbers where the formats decide (with 8-bit formats, without); empty if the tables do not have them.
    pub passes: Vec<u8>,
    /// Multiplications and additions together.
    pub flops: u32,
    /// The same for each clock of a compute unit with four matrix cores, one number for each of `passes`.
    pub flops_per_clock: Vec<u32>,
    /// The matrices: A, B, C, D, the sparse index, the scales.
    pub matrices: Vec<MatrixLayout>,
    /// The effects of the modifiers that change a layout.
    pub controls: Vec<&'static str>,
    /// `measured` (every element compared with AMD's matrix instruction calculator) or `argued` (see
    /// `docs/layouts.md`).
    pub provenance: &'static str,
}

/// The layout of one matrix in formulas.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MatrixLayout {
    /// `A`, `B`, `C`, `D`, `index`, `scale A`, `scale B`.
    pub matrix: &'static str,
    /// The operand that holds it.
    pub operand: &'static str,
    /// Element type.
    pub element: &'static str,
    /// Dwords of the operand in each lane.
    pub dwords: Vec<u8>,
    /// Lane of element (row, column) of a block.
    pub lane: String,
    /// Place of the element in the lane's registers.
    pub register: String,
}
