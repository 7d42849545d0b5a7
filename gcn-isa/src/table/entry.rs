//! Common properties of all forms of a mnemonic.

use bitflags::bitflags;

use super::constants::Constants;
use crate::immediate::Immediate;
use crate::target::TargetSet;

/// The facts of a mnemonic that do not depend on its form.
#[derive(Debug)]
pub struct Entry {
    /// The mnemonic; see [`super::InstDesc::mnemonic`].
    pub mnemonic: &'static str,
    /// The instruction's effect, in the notation of [`crate::semantics`].
    pub meaning: &'static str,
    /// The source; see [`crate::semantics::Semantics::witness`].
    pub witness: &'static str,
    /// The rule that states how the bits of results depend on those of the sources.
    pub rule: Rule,
    /// The effects that neither the class nor the operands express.
    pub behaviours: Behaviours,
    /// The branch on the opposite condition. It is empty if there is none.
    pub inverse: &'static str,
    /// The mnemonic of the instruction that has the same effect as this half of a VOPD pair. It is empty for all other instructions.
    pub alone: &'static str,
    /// The number of passes by target; see [`super::InstDesc::passes`].
    pub passes: &'static [(TargetSet, u8)],
    /// The notation of the 16-bit immediate.
    pub immediate: Immediate,
    /// The types of constants that are not untyped bit patterns. A later entry takes precedence.
    pub constants: &'static [Constants],
    /// For an instruction whose number of passes depends on the formats of A and B: the number if neither format has 8 bits. It is 0 for
    /// all other instructions.
    pub passes_by_format: u8,
}

bitflags! {
    /// Effects of instructions that neither the class nor the operands express. Entries contain these names in lower case.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct Behaviours: u64 {
        /// Control never continues with the next instruction.
        const LEAVES = 1;
        /// The instruction saves the address of the next instruction, to which control returns.
        const CALLS = 1 << 1;
        /// The instruction jumps to an address in a register.
        const TO_REGISTER = 1 << 2;
        /// The instruction ends a trap handler.
        const RETURNS_FROM_TRAP = 1 << 3;
        /// The instruction branches on VCCZ.
        const READS_VCCZ = 1 << 4;
        /// The result is the address of the instruction.
        const READS_PC = 1 << 5;
        /// The result is the old value of EXEC.
        const SAVES_EXEC = 1 << 6;
        /// Switches the execution of vector instructions on or off.
        const SKIPS_VECTOR = 1 << 7;
        /// Assigns a priority to the wave.
        const SETS_PRIORITY = 1 << 8;
        /// The data that the instruction sends comes from M0.
        const SENDS_M0 = 1 << 9;
        /// The LDS address includes M0.
        const LDS_BASE_IN_M0 = 1 << 10;
        /// The third source is a mask by which each lane selects one of the other sources.
        const SELECTS_BY_MASK = 1 << 11;
        /// The third source is the lanes' carry-in.
        const CARRIES_IN = 1 << 12;
        /// The instruction converts between types of numbers.
        const CONVERTS = 1 << 13;
        /// The instruction converts with a scale to fp8, bf8 or fp4.
        const NARROWS = 1 << 14;
        /// The instruction converts with a scale to pairs of fp4, with stochastic rounding.
        const STOCHASTIC_PAIRS = 1 << 15;
        /// A fused multiply-add of f64.
        const FUSED_F64 = 1 << 16;
        /// VCC selects the lanes that are scaled.
        const SCALES_BY_VCC = 1 << 17;
        /// The instruction multiplies elements of 8 or 4 bits, so its sources have no halves.
        const BYTES_OR_NIBBLES = 1 << 18;
        /// The f64 matrix instruction with the smallest tile.
        const SMALL_TILE = 1 << 19;
        /// The instruction invalidates a cache into which outstanding loads may still bring data.
        const AFTER_LOADS = 1 << 20;
        /// The instruction writes back a cache.
        const WRITES_BACK = 1 << 21;
        /// The instruction invalidates a vector cache.
        const INVALIDATES = 1 << 22;
        /// The instruction shifts 64 bits by an amount in a VGPR.
        const SHIFTS_PAIR = 1 << 23;
        /// The instruction compares and swaps: it takes two values and returns one.
        const EXCHANGES_IF_EQUAL = 1 << 24;
        /// Memory elements have the format of the resource or of the instruction.
        const TYPED = 1 << 25;
        /// Offsets are multiples of 64 elements.
        const STRIDE_64 = 1 << 26;
        /// The offset is a pattern of lanes.
        const PATTERN_IN_OFFSET = 1 << 27;
        /// The immediate selects the operands to which an index is added.
        const SELECTS_INDEXED = 1 << 28;
        /// The 16-bit immediate is unsigned.
        const UNSIGNED_IMMEDIATE = 1 << 29;
        /// Bits of a destination are preserved, regardless of the modifiers.
        const KEEPS_PART = 1 << 30;
        /// The instruction exchanges two registers, in the lanes that EXEC enables.
        const SWAPS = 1 << 31;
        /// LLVM 22 does not support the bit `sc1` of the instruction with AGPRs: its assembler drops the bit, and its disassembler rejects
        /// it.
        const LOSES_SC1_WITH_AGPRS = 1 << 32;
        /// The result is the exclusive or of two dwords.
        const XORS = 1 << 33;
        /// The result is the source, which is scalar.
        const MOVES_SCALAR = 1 << 34;
        /// The set bits of the result are a subset of those of source 0.
        const WITHIN_SOURCE0 = 1 << 35;
        /// The set bits of the result are a subset of those of source 1.
        const WITHIN_SOURCE1 = 1 << 36;
        /// The set bits of the new EXEC are a subset of those of the old EXEC.
        const NARROWS_EXEC = 1 << 37;
        /// The instruction reads the first of the lanes that EXEC enables.
        const READS_FIRST_ACTIVE = 1 << 38;
        /// The instruction writes a part of the result before it has read all sources.
        const WRITES_EARLY = 1 << 39;
        /// An atomic on floats.
        const FLOAT_ATOMIC = 1 << 40;
        /// Changes how denormal floats are treated.
        const SETS_DENORM_MODE = 1 << 41;
        /// The data that the instruction loads or stores is the high half of its register.
        const HIGH_HALF = 1 << 42;
        /// A half of a VOPD pair whose first two sources can be exchanged.
        const COMMUTES = 1 << 43;
        /// Sets the upper bits of the numbers of VGPRs in later instructions.
        const SETS_VGPR_MSB = 1 << 44;
        /// The source is the distance in bytes from the next instruction to the one with which control continues.
        const JUMPS_BY = 1 << 45;
        /// The operands are halves of VGPRs in every notation: LLVM 22 accepts no whole registers, as it does for other instructions.
        const NAMES_HALVES = 1 << 46;
        /// The shift may read only one scalar value also where other shifts of 64 bits may read two (measured with LLVM 22 on gfx1250).
        const READS_ONE_SCALAR = 1 << 47;
        /// SCC is written late, when the kmcnt of the instruction decreases.
        const LATE_SCC = 1 << 48;
        /// Waits until all waves have signalled a barrier.
        const WAITS_AT_BARRIER = 1 << 49;
        /// Arrives at a barrier: once all waves have arrived, those that wait at the barrier continue.
        const ARRIVES_AT_BARRIER = 1 << 53;
        /// M0 is added to the number of the source register.
        const SOURCE_BY_M0 = 1 << 50;
        /// M0 is added to the number of the destination register.
        const DESTINATION_BY_M0 = 1 << 51;
        /// Not all of M0 is added: `M0[9:0]` to the number of the source, `M0[25:16]` to that of the destination.
        const HALVES_OF_M0 = 1 << 52;
        /// Adds a product of words to an integer of 64 bits.
        const ADDS_WIDE_PRODUCT = 1 << 54;
    }
}

// Every behaviour has a bit of its own.
const _: () =
    assert!(Behaviours::all().bits().count_ones() as usize == <Behaviours as bitflags::Flags>::FLAGS.len());

impl Behaviours {
    /// The behaviour that a word of an entry names; `None` for other words.
    pub(super) fn of_word(word: &str) -> Option<Behaviours> {
        crate::mods::named(word)
    }
}

/// The way in which the bits of a result depend on those of the sources.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Flow {
    /// Each bit of the result depends on at most one bit of each source (moves, logic, shifts, selections). If the instruction has a result
    /// and also writes SCC, SCC states whether the result is 0.
    Bits,
    /// Each bit of the result depends on bits of the sources at the same position and below (sums and low halves of products).
    Up,
    /// One bit that compares two sources for equality: any pair of different bits determines it.
    Equal,
    /// Each bit of a part of the result depends on every bit that the part reads.
    #[default]
    All,
}

impl Flow {
    pub(super) const NAMES: [(&'static str, Flow); 4] =
        [("bits", Flow::Bits), ("up", Flow::Up), ("equal", Flow::Equal), ("all", Flow::All)];
}

/// How bits flow through an instruction, as stated in its entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rule {
    /// The way in which bits combine.
    pub flow: Flow,
    /// Bit i is set if source i determines where the bits of the other sources are moved (a shift amount, a lane index, a byte selector).
    /// Every bit of the result then depends on every bit of source i.
    pub controls: u8,
}
