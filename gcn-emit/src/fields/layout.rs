//! The bit fields of every format. Positions are counted from bit 0 of the first dword; the second dword starts at 32,
//! the second half of a 16-byte instruction at 64.

mod formats;
mod rdna;

use gcn_isa::table::{Access, Behaviours, Class, InstDesc, Modifiers};

use gcn_isa::mods::Modifier;
use gcn_isa::target::Generation;

/// The fields of a row's format.
pub(crate) fn layout(desc: &InstDesc) -> Layout {
    match desc.generation() {
        Generation::GFX9 => formats::layout(desc.format),
        generation => rdna::layout(desc.format, generation),
    }
}

/// How an operand's value is represented in its field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    /// A VGPR number divided by two. The lowest bit of the number is not stored, because it is always the opposite of the bit at this
    /// position, which is the lowest bit of another destination.
    VectorPair(u8),
    /// The source code space: SGPR 0..=127, constants and special values 128..=254, 255 literal, VGPR from
    /// 256.
    Source,
    /// A vector register number.
    Vector,
    /// A scalar register number.
    Scalar,
    /// A scalar register number divided by two.
    ScalarPair,
    /// A scalar register number divided by four.
    ScalarQuad,
    /// An SDWA source: the low byte of the source code, and this bit, which is set if the source is not a vector register.
    SdwaSource(u8),
    /// An SDWA compare destination: a scalar register number with this bit set, or all zeros for VCC.
    SdwaScalar(u8),
    /// An immediate; [`Slot::signed`] tells whether it is signed.
    Imm,
    /// The 32-bit literal dword.
    Literal,
}

/// The field of one operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The operand names of the table for which this field is used.
    pub names: &'static [&'static str],
    /// The rows to which the entry applies.
    pub when: When,
    /// How the value is represented.
    pub code: Code,
    /// The lowest bit.
    pub lo: u8,
    /// The width in bits.
    pub len: u8,
    /// The bit that selects AGPR instead of VGPR, on rows that allow both; `None` if the field has no such bit.
    pub acc: Option<u8>,
    /// The register number that means `off`; `None` if `off` is encoded as an unused zero.
    pub off: Option<u16>,
    /// True for a two's complement immediate.
    pub signed: bool,
}

/// The field of one modifier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModSlot {
    /// The modifier.
    pub field: Modifier,
    /// The rows to which the entry applies.
    pub when: When,
    /// The lowest bit of the modifier's value that is in this field.
    pub shift: u8,
    /// The lowest bit.
    pub lo: u8,
    /// The width in bits.
    pub len: u8,
}

/// Bits with a fixed value on some rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed {
    /// The rows to which the entry applies.
    pub when: When,
    /// The lowest bit.
    pub lo: u8,
    /// The width in bits.
    pub len: u8,
    /// The value.
    pub value: u64,
    /// True if the decoder must ignore the bits.
    pub ignored: bool,
}

/// The rows of a format to which an entry applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    /// All rows.
    Always,
    /// Rows whose addressing form ends with this text.
    Form(&'static str),
    /// Rows that read a 64-bit base address (SMEM offsets are signed there, CDNA3 ISA 8.1).
    Base64,
    /// Rows that read a buffer resource (SMEM offsets are unsigned there).
    Base128,
    /// Rows of global wave sync.
    Gws,
    /// Rows other than global wave sync.
    NotGws,
    /// `v_accvgpr_read_b32` and `v_accvgpr_write_b32`.
    AccvgprMove,
    /// Scratch rows with an address VGPR on targets where a bit indicates it (gfx942 and later).
    ScratchVaddr,
    /// Rows with exactly this addressing form.
    Is(&'static str),
    /// Rows without this operand.
    LacksOperand(&'static str),
    /// Rows with an address VGPR.
    HasVaddr,
    /// Comparisons whose only result is EXEC.
    WritesExec,
    /// Rows whose vector result preserves a part of the register.
    PartOfResult,
    /// Rows whose vector result replaces a whole register.
    WholeResult,
    /// `buffer_wbl2` on the target where it has no modifiers (gfx90a).
    PlainWriteBack,
    /// Rows that write a vector register and do not select a part of it.
    WholeDestination,
    /// Rows with none of these modifiers.
    Lacks(Modifiers),
    /// Rows with this modifier.
    Has(Modifiers),
    /// Copies from LDS to memory.
    StoresAsync,
}

impl When {
    pub(crate) fn holds(self, desc: &InstDesc) -> bool {
        let base = |dwords| desc.operands.iter().any(|o| o.name == "sbase" && o.dwords == dwords);
        match self {
            When::Always => true,
            When::Form(end) => desc.form.ends_with(end),
            When::Base64 => base(2),
            When::Base128 => base(4),
            When::Gws => desc.class == Class::Gws,
            When::NotGws => desc.class != Class::Gws,
            When::AccvgprMove => matches!(desc.class, Class::AccvgprRead | Class::AccvgprWrite),
            When::ScratchVaddr => {
                desc.targets.iter().all(gcn_isa::InstructionSet::is_gfx940_family)
                    && desc.operands.iter().any(|o| o.name == "vaddr" && o.dwords > 0)
            }
            When::Is(form) => desc.form == form,
            When::LacksOperand(name) => desc.operand_index(name).is_none(),
            When::WritesExec => desc.class == Class::Cmpx && desc.operand_index("sdst").is_none(),
            When::PartOfResult => keeps_part(desc),
            When::WholeResult => !keeps_part(desc),
            When::HasVaddr => desc.operands.iter().any(|o| o.name == "vaddr" && o.dwords > 0),
            When::PlainWriteBack => desc.does(Behaviours::WRITES_BACK) && desc.modifiers.is_empty(),
            When::WholeDestination => {
                desc.operand_index("vdst").is_some() && !desc.modifiers.contains(Modifiers::DST_SEL)
            }
            When::Lacks(modifiers) => !desc.modifiers.intersects(modifiers),
            When::StoresAsync => desc.class == Class::AsyncStore,
            When::Has(modifier) => desc.modifiers.contains(modifier),
        }
    }
}

fn keeps_part(desc: &InstDesc) -> bool {
    desc.operands.iter().any(|o| o.name == "vdst" && o.access == Access::ReadWrite)
}

/// A format's fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Fixed bits; those that identify the format come first.
    pub fixed: &'static [Fixed],
    /// The lowest bit of the opcode.
    pub opcode_lo: u8,
    /// If the opcode has two parts: the number of bits of the lower part, and the lowest bit of the upper part. `None` if it has one part.
    pub opcode_hi: Option<(u8, u8)>,
    /// The lower of two bits that always differ; the upper one belongs to a modifier. `None` if the format has no such bits.
    pub opposite: Option<u8>,
    /// The operand fields.
    pub slots: &'static [Slot],
    /// The modifier fields.
    pub mods: &'static [ModSlot],
}

impl Layout {
    /// The layout of a format that no row has.
    const NONE: Layout =
        Layout { fixed: &[], opcode_lo: 0, opcode_hi: None, opposite: None, slots: &[], mods: &[] };
}

const fn slot(names: &'static [&'static str], code: Code, lo: u8, len: u8) -> Slot {
    Slot { names, when: When::Always, code, lo, len, acc: None, off: None, signed: false }
}

impl Slot {
    const fn when(mut self, when: When) -> Slot {
        self.when = when;
        self
    }
    const fn acc(mut self, bit: u8) -> Slot {
        self.acc = Some(bit);
        self
    }
    const fn off(mut self, value: u16) -> Slot {
        self.off = Some(value);
        self
    }
    const fn signed(mut self) -> Slot {
        self.signed = true;
        self
    }
}

const fn bits(lo: u8, len: u8, value: u64) -> Fixed {
    Fixed { when: When::Always, lo, len, value, ignored: false }
}

impl Fixed {
    const fn when(mut self, when: When) -> Fixed {
        self.when = when;
        self
    }
    const fn ignored(mut self) -> Fixed {
        self.ignored = true;
        self
    }
}

const fn field(field: Modifier, lo: u8, len: u8) -> ModSlot {
    ModSlot { field, when: When::Always, shift: 0, lo, len }
}

const fn piece(field: Modifier, shift: u8, lo: u8, len: u8) -> ModSlot {
    ModSlot { field, when: When::Always, shift, lo, len }
}

impl ModSlot {
    const fn when(mut self, when: When) -> ModSlot {
        self.when = when;
        self
    }
}
