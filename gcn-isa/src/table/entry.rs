//! Common properties of all forms of a mnemonic.

use bitflags::bitflags;

use super::constants::Constants;
use crate::immediate::Immediate;
use crate::target::TargetSet;

/// The facts of a mnemonic that do not depend on its form.
#[derive(Debug)]
pub struct Entry {
    /// The mnemonic, as [`super::InstDesc::mnemonic`].
    pub mnemonic: &'static str,
    /// Its effect, in the notation of [`crate::semantics`].
    pub meaning: &'static str,
    /// The source, see [`crate::semantics::Semantics::witness`].
    pub witness: &'static str,
    /// How bits go from the sources to the results.
    pub rule: Rule,
    /// Its effect beyond that.
    pub behaviours: Behaviours,
    /// The branch on the opposite condition; empty if there is none.
    pub inverse: &'static str,
    /// The mnemonic of the instruction with the effect of this half of VOPD; empty for all others.
    pub alone: &'static str,
    /// Passes by target, see [`super::InstDesc::passes`].
    pub passes: &'static [(TargetSet, u8)],
    /// How the 16-bit immediate is written.
    pub immediate: Immediate,
    /// The types of constants, where they are not the bits of the operands. A later statement has precedence.
    pub constants: &'static [Constants],
    /// Passes of an instruction whose count follows from the formats of A and B, where neither has 8 bits; 0 for all others.
    pub passes_by_format: u8,
}

bitflags! {
    /// Effects of instructions that neither class nor operands define. An entry has the names, in lower case,
    /// as words.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct Behaviours: u64 {
        /// Control never goes on with the next instruction.
        const LEAVES = 1;
        /// Saves the address of the next instruction, to which control comes back.
        const CALLS = 1 << 1;
        /// Goes to an address in a register.
        const TO_REGISTER = 1 << 2;
        /// Ends a trap handler.
        const RETURNS_FROM_TRAP = 1 << 3;
        /// Branches on VCCZ.
        const READS_VCCZ = 1 << 4;
        /// The result is the address of the instruction.
        const READS_PC = 1 << 5;
        /// The result is EXEC as it was before.
        const SAVES_EXEC = 1 << 6;
        /// Chooses whether vector instructions are skipped.
        const SKIPS_VECTOR = 1 << 7;
        /// Chooses the wave's priority.
        const SETS_PRIORITY = 1 << 8;
        /// The data that it sends is in M0.
        const SENDS_M0 = 1 << 9;
        /// The address in LDS has M0 in it.
        const LDS_BASE_IN_M0 = 1 << 10;
        /// The third source is a mask by which lanes choose among the others.
        const SELECTS_BY_MASK = 1 << 11;
        /// The third source is the lanes' carry.
        const CARRIES_IN = 1 << 12;
        /// Converts between types of numbers.
        const CONVERTS = 1 << 13;
        /// Converts with a scale to fp8, bf8 or fp4.
        const NARROWS = 1 << 14;
        /// Converts with a scale to pairs of fp4, with stochastic rounding.
        const STOCHASTIC_PAIRS = 1 << 15;
        /// A fused multiply-add of f64.
        const FUSED_F64 = 1 << 16;
        /// VCC says which lanes are scaled.
        const SCALES_BY_VCC = 1 << 17;
        /// Multiplies elements of 8 or 4 bits: sources have no halves.
        const BYTES_OR_NIBBLES = 1 << 18;
        /// The f64 matrix instruction of the smallest tile.
        const SMALL_TILE = 1 << 19;
        /// Invalidates a cache into which loads that have not returned may still bring data.
        const AFTER_LOADS = 1 << 20;
        /// Writes a cache back.
        const WRITES_BACK = 1 << 21;
        /// Invalidates a vector cache.
        const INVALIDATES = 1 << 22;
        /// Shifts 64 bits by an amount in a VGPR.
        const SHIFTS_PAIR = 1 << 23;
        /// Compares and swaps: two values in, one out.
        const EXCHANGES_IF_EQUAL = 1 << 24;
        /// Memory has elements in the format of the resource or of the instruction.
        const TYPED = 1 << 25;
        /// Offsets count in 64 elements.
        const STRIDE_64 = 1 << 26;
        /// The offset is a pattern of lanes.
        const PATTERN_IN_OFFSET = 1 << 27;
        /// The immediate selects the operands that an index moves.
        const SELECTS_INDEXED = 1 << 28;
        /// The 16-bit immediate is unsigned.
        const UNSIGNED_IMMEDIATE = 1 << 29;
        /// Bits of a destination stay as they were, whatever the modifiers say.
        const KEEPS_PART = 1 << 30;
        /// Exchanges two registers, in the lanes that EXEC has.
        const SWAPS = 1 << 31;
        /// LLVM 22 has no encoding of the bit `sc1` with AGPRs: its assembler drops it, its disassembler refuses it.
        const LOSES_SC1_WITH_AGPRS = 1 << 32;
        /// The result is the exclusive or of two dwords.
        const XORS = 1 << 33;
        /// The result is the source, a scalar.
        const MOVES_SCALAR = 1 << 34;
        /// The result has no bits that source 0 does not have.
        const WITHIN_SOURCE0 = 1 << 35;
        /// The result has no bits that source 1 does not have.
        const WITHIN_SOURCE1 = 1 << 36;
        /// The new EXEC has no bits that the old one does not have.
        const NARROWS_EXEC = 1 << 37;
        /// Reads the first of the lanes that EXEC has.
        const READS_FIRST_ACTIVE = 1 << 38;
        /// Writes a part of the result before it has read all sources.
        const WRITES_EARLY = 1 << 39;
        /// An atomic on floats.
        const FLOAT_ATOMIC = 1 << 40;
        /// Chooses how denormal floats are treated.
        const SETS_DENORM_MODE = 1 << 41;
        /// The data that it loads or stores is the high half of its register.
        const HIGH_HALF = 1 << 42;
        /// A half of VOPD whose first two sources may change places.
        const COMMUTES = 1 << 43;
    }
}

impl Behaviours {
    /// The behaviour that a word of an entry names.
    pub(super) fn of_word(word: &str) -> Option<Behaviours> {
        crate::mods::named(word)
    }
}

/// How the bits of a result depend on those of the sources.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Flow {
    /// Each bit of the result depends on at most one bit of each source (moves, logic, shifts, selections). A
    /// bit of SCC that the instruction writes tells whether the result is 0, if there is a result.
    Bits,
    /// Each bit of the result depends on bits of the sources at its place and below (sums and low halves of products).
    Up,
    /// One bit that compares two sources for equality: any pair of different bits decides it.
    Equal,
    /// Each bit of a part of the result depends on every bit that the part reads.
    #[default]
    All,
}

impl Flow {
    pub(super) const NAMES: [(&'static str, Flow); 4] =
        [("bits", Flow::Bits), ("up", Flow::Up), ("equal", Flow::Equal), ("all", Flow::All)];
}

/// The notation of an entry for the flow of bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rule {
    /// How bits combine.
    pub flow: Flow,
    /// Bit i: source i determines the places that the others' bits go to (amounts of shifts, lanes,
    /// selectors). All of the result depends on all of it.
    pub controls: u8,
}
