//! Machine instructions in the IR, named by their mnemonic.

use gcn_isa::mods::{Dpp, Modifier, Modifiers, Mods, Sdwa};
use gcn_isa::table::{self, Class, InstDesc};
use gcn_isa::target::Subtarget;
use smallvec::SmallVec;

use super::{Type, Value};
pub use crate::catalog::{Effect, Variant};

/// An operand of a [`Call`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arg {
    /// A value.
    Value(Value),
    /// A value for an immediate field of the instruction.
    Imm(i64),
    /// A literal dword.
    Literal(u32),
    /// A literal of two dwords.
    Literal64(u64),
    /// No register: the keyword `off`.
    Off,
}

/// A table instruction by mnemonic, with its operands.
///
/// Its results are the operands that it writes, in assembly order, then EXEC and SCC if it writes them. The value of
/// the IR instruction is the first result; [`super::Inst::Result`] gives the others.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// The mnemonic without an encoding suffix.
    pub mnemonic: &'static str,
    /// The variant that selects among the table's rows with this mnemonic.
    pub variant: Variant,
    /// The operands that the instruction reads, in assembly order, including those that it also writes.
    pub args: SmallVec<[Arg; 4]>,
    /// Source modifiers of the arguments.
    pub arg_mods: ArgMods,
    /// The old value of a destination of which the instruction writes only a part.
    pub old: Option<Value>,
    /// The value of SCC that the instruction reads, a uniform `bool`.
    pub scc: Option<Value>,
    /// The value of VCC that the instruction reads.
    pub vcc: Option<Value>,
    /// The value of M0 that the instruction reads.
    pub m0: Option<Value>,
    /// The modifiers that the kernel has set explicitly.
    pub given: Given,
    /// The types of all results.
    pub results: SmallVec<[Type; 2]>,
    /// The transformations that compiler passes may apply to the instruction.
    pub effect: Effect,
}

impl Call {
    /// The table rows that the mnemonic stands for: those with this name on the target. If there are none, those of the
    /// instruction that has this name on GFX9 (later instruction sets renamed some instructions).
    pub fn rows(&self, on: Subtarget) -> impl Iterator<Item = &'static InstDesc> {
        let called = table::find_mnemonic(on, self.mnemonic);
        let renamed = table::find_mnemonic(on, self.mnemonic).next().is_none();
        let operation = table::find_operation(on, self.mnemonic).filter(move |_| renamed);
        called.chain(operation).filter(|row| row.variant() == self.variant)
    }
}

/// Source modifiers of the arguments: bit `i` of each mask is for argument `i`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ArgMods {
    /// The argument is negated.
    pub neg: u8,
    /// The argument's absolute value is taken.
    pub abs: u8,
    /// The argument is sign-extended.
    pub sext: u8,
}

/// Modifiers, and the set of those that were set explicitly; all others have the default of the table row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Given {
    /// The values of the modifiers.
    pub mods: Mods,
    /// The modifiers that were set.
    pub set: Modifiers,
}

impl Default for Given {
    fn default() -> Given {
        Given { mods: Mods::default(), set: Modifiers::empty() }
    }
}

/// DPP controls that leave all lanes in place and enable all rows and banks.
const DPP: Dpp = Dpp { ctrl: 0xe4, row_mask: 0xf, bank_mask: 0xf, bound_ctrl: false };
/// SDWA selectors that select whole dwords.
const SDWA: Sdwa = Sdwa { dst_sel: 6, dst_unused: 2, src0_sel: 6, src1_sel: 6 };

impl Given {
    /// The DPP controls, for modification.
    pub fn dpp(&mut self) -> &mut Dpp {
        self.mods.dpp.get_or_insert(DPP)
    }

    /// The SDWA selectors, for modification.
    pub fn sdwa(&mut self) -> &mut Sdwa {
        self.mods.sdwa.get_or_insert(SDWA)
    }

    /// Negates sources of a packed instruction: bit `i` of `low` and `high` negates source `i` for the low and the high
    /// half.
    pub fn negate(&mut self, [low, high]: [u8; 2]) {
        (self.mods.neg_lo, self.mods.neg_hi) = (low, high);
        self.set |= Modifiers::NEG_LO | Modifiers::NEG_HI;
    }

    /// Selects halves of the sources of a packed instruction: bit `i` of `low` and `high` selects the high half of
    /// source `i` for the low and the high half of the result.
    pub fn select_halves(&mut self, [low, high]: [u8; 2]) {
        (self.mods.op_sel, self.mods.op_sel_hi) = (low, high);
        self.set |= Modifiers::OP_SEL | Modifiers::OP_SEL_HI;
    }

    /// The union of `self` and `other`. If both set a modifier, `other` takes precedence.
    #[must_use]
    pub fn and(self, other: Given) -> Given {
        let mut mods = self.mods;
        other.apply(&mut mods);
        Given { mods, set: self.set | other.set }
    }

    /// Copies the modifiers that were set explicitly to `mods`.
    pub fn apply(&self, mods: &mut Mods) {
        let mut from = self.mods;
        if self.set.intersects(Modifiers::DPP) {
            mods.dpp.get_or_insert(DPP);
            from.dpp.get_or_insert(DPP);
        }
        if self.set.intersects(Modifiers::SDWA) {
            mods.sdwa.get_or_insert(SDWA);
            from.sdwa.get_or_insert(SDWA);
        }
        for modifier in Modifier::ALL.iter().filter(|m| self.set.intersects(m.flag())) {
            modifier.set(mods, modifier.get(&from));
        }
        if self.set.contains(BUFFER_FORMAT) {
            mods.format = from.format;
        }
    }
}

/// The bit of [`Given::set`] that stands for the format of a typed buffer instruction.
pub const BUFFER_FORMAT: Modifiers = Modifiers::from_bits_retain(1 << 63);

impl Call {
    /// A pure instruction with one result and no modifiers.
    pub fn plain(mnemonic: &'static str, args: impl IntoIterator<Item = Value>, result: Type) -> Call {
        Call {
            mnemonic,
            variant: Variant::Plain,
            args: args.into_iter().map(Arg::Value).collect(),
            arg_mods: ArgMods::default(),
            old: None,
            scc: None,
            vcc: None,
            m0: None,
            given: Given::default(),
            results: SmallVec::from_slice(&[result]),
            effect: Effect::Pure,
        }
    }

    /// True if the instruction does no more than compute one result from its explicit operands.
    pub fn has_one_result(&self) -> bool {
        let implicit = [self.old, self.scc, self.vcc, self.m0];
        self.effect == Effect::Pure && self.results.len() == 1 && implicit.iter().all(Option::is_none)
    }

    /// True if the instruction writes MODE; later instructions may then compute different results from equal operands.
    pub fn changes_mode(&self) -> bool {
        table::class_of(self.mnemonic) == Some(Class::Setreg)
    }
}
