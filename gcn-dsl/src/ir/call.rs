//! The call of a machine instruction.

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
    /// An immediate field.
    Imm(i64),
    /// A literal dword.
    Literal(u32),
    /// No register: the keyword `off`.
    Off,
}

/// A table instruction by mnemonic, with its operands.
///
/// Its results are the written operands in assembly order, then EXEC and SCC if the instruction writes them.
/// The value of the IR instruction is the first result; [`super::Inst::Result`] names the others.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// Suffix-less mnemonic.
    pub mnemonic: &'static str,
    /// Which of the mnemonic's rows are meant.
    pub variant: Variant,
    /// Operands that are read (also those that are read and written), in assembly order.
    pub args: SmallVec<[Arg; 4]>,
    /// Bit `i` refers to argument `i`: whether it is negated, its absolute value is taken, or it is sign-extended.
    pub arg_mods: ArgMods,
    /// The previous value of a destination of which the instruction writes only a part.
    pub old: Option<Value>,
    /// SCC, a uniform `bool`.
    pub scc: Option<Value>,
    /// VCC.
    pub vcc: Option<Value>,
    /// M0.
    pub m0: Option<Value>,
    /// Modifiers that were given.
    pub given: Given,
    /// Types of all results.
    pub results: SmallVec<[Type; 2]>,
    /// The transformations that it permits.
    pub effect: Effect,
}

impl Call {
    /// The table rows that the mnemonic names: the target's own instruction of that name, and if there is none, the one
    /// that GFX9 called so (names changed in later instruction sets).
    pub fn rows(&self, on: Subtarget) -> impl Iterator<Item = &'static InstDesc> {
        let called = table::find_mnemonic(on, self.mnemonic);
        let renamed = table::find_mnemonic(on, self.mnemonic).next().is_none();
        let operation = table::find_operation(on, self.mnemonic).filter(move |_| renamed);
        called.chain(operation).filter(|row| row.variant() == self.variant)
    }
}

/// Source modifiers by argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ArgMods {
    /// Negated.
    pub neg: u8,
    /// Absolute value.
    pub abs: u8,
    /// Sign-extended.
    pub sext: u8,
}

/// Modifiers, with the set of those that were given; the others have the row's default.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Given {
    /// The values.
    pub mods: Mods,
    /// Which of them count.
    pub set: Modifiers,
}

impl Default for Given {
    fn default() -> Given {
        Given { mods: Mods::default(), set: Modifiers::empty() }
    }
}

/// No DPP yet: the identity.
const DPP: Dpp = Dpp { ctrl: 0xe4, row_mask: 0xf, bank_mask: 0xf, bound_ctrl: false };
/// No SDWA yet: whole dwords.
const SDWA: Sdwa = Sdwa { dst_sel: 6, dst_unused: 2, src0_sel: 6, src1_sel: 6 };

impl Given {
    /// The DPP controls, to be changed.
    pub fn dpp(&mut self) -> &mut Dpp {
        self.mods.dpp.get_or_insert(DPP)
    }

    /// The SDWA selectors, to be changed.
    pub fn sdwa(&mut self) -> &mut Sdwa {
        self.mods.sdwa.get_or_insert(SDWA)
    }

    /// Negates sources of a packed instruction: bit `i` of each mask is source `i` of the low and of the high half.
    pub fn negate(&mut self, [low, high]: [u8; 2]) {
        (self.mods.neg_lo, self.mods.neg_hi) = (low, high);
        self.set |= Modifiers::NEG_LO | Modifiers::NEG_HI;
    }

    /// Selects halves of the sources of a packed instruction, for its low and for its high result. A set bit `i`
    /// selects the high half of source `i`.
    pub fn select_halves(&mut self, [low, high]: [u8; 2]) {
        (self.mods.op_sel, self.mods.op_sel_hi) = (low, high);
        self.set |= Modifiers::OP_SEL | Modifiers::OP_SEL_HI;
    }

    /// The union of both; `other` takes precedence.
    #[must_use]
    pub fn and(self, other: Given) -> Given {
        let mut mods = self.mods;
        other.apply(&mut mods);
        Given { mods, set: self.set | other.set }
    }

    /// Sets the given modifiers in `mods`.
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

/// Represents the format of a typed buffer instruction in [`Given::set`].
pub const BUFFER_FORMAT: Modifiers = Modifiers::from_bits_retain(1 << 63);

impl Call {
    /// A plain instruction with one result and no modifiers.
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

    /// True if the instruction does nothing but compute one result from its operands.
    pub fn has_one_result(&self) -> bool {
        let implicit = [self.old, self.scc, self.vcc, self.m0];
        self.effect == Effect::Pure && self.results.len() == 1 && implicit.iter().all(Option::is_none)
    }

    /// True if the instruction writes MODE, so that later instructions may compute different results from equal
    /// operands.
    pub fn changes_mode(&self) -> bool {
        table::class_of(self.mnemonic) == Some(Class::Setreg)
    }
}
