//! Immediates that consist of several numbers, and the names of these in assembly text.

use crate::target::{Generation, InstructionSet};

/// The notation of an instruction's 16-bit immediate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Immediate {
    /// A decimal number if the number is small, otherwise hexadecimal.
    #[default]
    Plain,
    /// A number in hexadecimal.
    Hex,
    /// The counters of `s_waitcnt`: `vmcnt(0) lgkmcnt(1)`.
    Counters,
    /// The dependencies of `s_waitcnt_depctr` (`s_wait_alu`): `depctr_va_vdst(0)`.
    Dependencies,
    /// The distances of `s_delay_alu`: `instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)`.
    Delay,
    /// The versions of `s_version`: `UC_VERSION_GFX11|UC_VERSION_W32_BIT`.
    Version,
}

impl Immediate {
    /// The words for these notations in table entries.
    pub(crate) const NAMES: [(&'static str, Immediate); 5] = [
        ("hex", Immediate::Hex),
        ("counters", Immediate::Counters),
        ("dependencies", Immediate::Dependencies),
        ("delay", Immediate::Delay),
        ("version", Immediate::Version),
    ];

    /// The fields on an instruction set, in the order in which they are printed. An immediate that is a single number has no fields.
    ///
    /// ```
    /// use gcn_isa::immediate::Immediate;
    /// use gcn_isa::InstructionSet;
    ///
    /// let fields = Immediate::Counters.fields(InstructionSet::GFX11);
    /// assert_eq!(fields[0].name, "vmcnt");
    /// assert_eq!(fields[0].decode(0x03f7), 0);
    /// ```
    pub const fn fields(self, set: InstructionSet) -> &'static [Field] {
        match (self, set.generation()) {
            (Immediate::Counters, Generation::GFX9) => &GFX9_COUNTERS,
            (Immediate::Counters, Generation::GFX10) => &GFX10_COUNTERS,
            (Immediate::Counters, Generation::GFX11 | Generation::GFX12) => &GFX11_COUNTERS,
            (Immediate::Dependencies, Generation::GFX10) if !set.has_hold_count() => {
                DEPENDENCIES.split_at(1).1
            }
            (Immediate::Dependencies, _) => &DEPENDENCIES,
            (Immediate::Delay, _) => &DELAY,
            _ => &[],
        }
    }
}

/// A field of an immediate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// The name.
    pub name: &'static str,
    /// The bits of the value, lowest first, as ranges of bits in the immediate: first bit and number of bits.
    pub pieces: &'static [(u8, u8)],
    /// The names of the values, indexed by value. The list is empty if values are written as numbers.
    pub values: &'static [&'static str],
}

impl Field {
    /// The largest value. For a counter, this value means "do not wait".
    pub const fn largest(&self) -> u16 {
        let (mut bits, mut i) = (0, 0);
        while i < self.pieces.len() {
            bits += self.pieces[i].1;
            i += 1;
        }
        (1u16 << bits) - 1
    }

    /// The immediate's bits for a value. If the value is too large, the largest value is used.
    pub fn encode(&self, value: u16) -> u16 {
        let mut left = value.min(self.largest());
        self.pieces.iter().fold(0, |field, &(first, bits)| {
            let piece = left & ((1 << bits) - 1);
            left >>= bits;
            field | piece << first
        })
    }

    /// The field's value in an immediate.
    pub fn decode(&self, immediate: u16) -> u16 {
        let parts = self.pieces.iter().rev();
        parts.fold(0, |value, &(first, bits)| value << bits | (immediate >> first & ((1 << bits) - 1)))
    }
}

const fn number(name: &'static str, pieces: &'static [(u8, u8)]) -> Field {
    Field { name, pieces, values: &[] }
}

// LLVM AMDGPU guide, s_waitcnt; MI100 ISA 4.4, RDNA2 ISA and RDNA3 ISA, "Data dependency resolution".
const GFX9_COUNTERS: [Field; 3] =
    [number("vmcnt", &[(0, 4), (14, 2)]), number("expcnt", &[(4, 3)]), number("lgkmcnt", &[(8, 4)])];
const GFX10_COUNTERS: [Field; 3] =
    [number("vmcnt", &[(0, 4), (14, 2)]), number("expcnt", &[(4, 3)]), number("lgkmcnt", &[(8, 6)])];
const GFX11_COUNTERS: [Field; 3] =
    [number("vmcnt", &[(10, 6)]), number("expcnt", &[(0, 3)]), number("lgkmcnt", &[(4, 6)])];

// Measured with LLVM 22; RDNA3 ISA, S_WAITCNT_DEPCTR.
const DEPENDENCIES: [Field; 7] = [
    number("depctr_hold_cnt", &[(7, 1)]),
    number("depctr_sa_sdst", &[(0, 1)]),
    number("depctr_va_vdst", &[(12, 4)]),
    number("depctr_va_sdst", &[(9, 3)]),
    number("depctr_va_ssrc", &[(8, 1)]),
    number("depctr_va_vcc", &[(1, 1)]),
    number("depctr_vm_vsrc", &[(2, 3)]),
];

/// The dependency for which an instruction waits, by `instid`.
const DEPENDENCY: [&str; 12] = [
    "NO_DEP",
    "VALU_DEP_1",
    "VALU_DEP_2",
    "VALU_DEP_3",
    "VALU_DEP_4",
    "TRANS32_DEP_1",
    "TRANS32_DEP_2",
    "TRANS32_DEP_3",
    "FMA_ACCUM_CYCLE_1",
    "SALU_CYCLE_1",
    "SALU_CYCLE_2",
    "SALU_CYCLE_3",
];

// RDNA3 ISA, S_DELAY_ALU.
const DELAY: [Field; 3] = [
    Field { name: "instid0", pieces: &[(0, 4)], values: &DEPENDENCY },
    Field {
        name: "instskip",
        pieces: &[(4, 3)],
        values: &["SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"],
    },
    Field { name: "instid1", pieces: &[(7, 4)], values: &DEPENDENCY },
];

/// The versions that `s_version` names, in bits 7:0.
pub const VERSIONS: [(&str, u16); 4] =
    [("UC_VERSION_GFX7", 0), ("UC_VERSION_GFX10", 4), ("UC_VERSION_GFX11", 6), ("UC_VERSION_GFX12", 9)];

/// The flags that may accompany a version.
pub const VERSION_FLAGS: [(&str, u16); 3] =
    [("UC_VERSION_W64_BIT", 0x2000), ("UC_VERSION_W32_BIT", 0x4000), ("UC_VERSION_MDP_BIT", 0x8000)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_disjoint_and_read_back() {
        for kind in [Immediate::Counters, Immediate::Dependencies, Immediate::Delay] {
            for set in InstructionSet::ALL {
                let mut taken = 0;
                for field in kind.fields(set) {
                    let all = field.encode(u16::MAX);
                    assert_eq!(taken & all, 0, "{}", field.name);
                    taken |= all;
                    for value in 0..=field.largest() {
                        assert_eq!(field.decode(field.encode(value)), value, "{}", field.name);
                    }
                }
            }
        }
    }
}
