//! The three counters of outstanding operations and the `s_waitcnt` immediate.

mod events;

use std::fmt;

use crate::target::Target;

pub use events::{Counter, Event, Events, MemoryEffect, Stream, events, finishes_after, room};

/// What an `s_waitcnt` waits for: each counter's largest permitted value. A field at its maximum waits for
/// nothing.
///
/// The layout of the immediate is a fact of the target ([`Target::counters`]).
///
/// ```
/// use gcn_isa::counters::WaitCnt;
/// assert_eq!(WaitCnt { vm: 0, ..WaitCnt::NONE }.encode(), 0x0f70);
/// assert_eq!(WaitCnt::decode(0xc07f), WaitCnt { lgkm: 0, ..WaitCnt::NONE });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WaitCnt {
    /// Vector memory operations, 0..=63.
    pub vm: u8,
    /// Exports and GDS/GWS data reads, 0..=7.
    pub exp: u8,
    /// LDS, GDS, scalar memory and messages, 0..=15.
    pub lgkm: u8,
}

/// A counter of a target, and its place in the instruction that waits for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CounterField {
    /// The counter.
    pub counter: Counter,
    /// Its name in the operand.
    pub name: &'static str,
    /// The instruction that waits for it. Counters with the same instruction share its immediate.
    pub instruction: &'static str,
    /// Bits of the value in the immediate, lowest first: the first bit and how many.
    pub pieces: &'static [(u8, u8)],
}

/// The counters in the order in which LLVM prints them.
const FIELDS: [CounterField; 3] = [
    CounterField {
        counter: Counter::Vm,
        name: "vmcnt",
        instruction: WaitCnt::INSTRUCTION,
        pieces: &[(0, 4), (14, 2)],
    },
    CounterField {
        counter: Counter::Exp,
        name: "expcnt",
        instruction: WaitCnt::INSTRUCTION,
        pieces: &[(4, 3)],
    },
    CounterField {
        counter: Counter::Lgkm,
        name: "lgkmcnt",
        instruction: WaitCnt::INSTRUCTION,
        pieces: &[(8, 4)],
    },
];

impl CounterField {
    /// The largest value of the field, which waits for nothing.
    pub const fn largest(&self) -> u8 {
        let (mut bits, mut i) = (0, 0);
        while i < self.pieces.len() {
            bits += self.pieces[i].1;
            i += 1;
        }
        ((1u16 << bits) - 1) as u8
    }

    fn encode(&self, value: u8) -> u16 {
        let mut left = u16::from(value.min(self.largest()));
        self.pieces.iter().fold(0, |field, &(first, bits)| {
            let piece = left & ((1 << bits) - 1);
            left >>= bits;
            field | piece << first
        })
    }

    fn decode(&self, immediate: u16) -> u8 {
        let parts = self.pieces.iter().rev();
        parts.fold(0, |value, &(first, bits)| value << bits | (immediate >> first & ((1 << bits) - 1))) as u8
    }
}

impl Target {
    /// The counters of outstanding operations (LLVM AMDGPU guide; measured with LLVM 22).
    pub const fn counters(self) -> &'static [CounterField] {
        &FIELDS
    }
}

impl WaitCnt {
    /// The instruction with such an immediate.
    pub const INSTRUCTION: &str = "s_waitcnt";
    /// Largest vmcnt field.
    pub const VM_MAX: u8 = FIELDS[0].largest();
    /// Largest expcnt field.
    pub const EXP_MAX: u8 = FIELDS[1].largest();
    /// Largest lgkmcnt field.
    pub const LGKM_MAX: u8 = FIELDS[2].largest();
    /// Waits for nothing.
    pub const NONE: WaitCnt = WaitCnt { vm: Self::VM_MAX, exp: Self::EXP_MAX, lgkm: Self::LGKM_MAX };
    /// Waits for everything.
    pub const ALL: WaitCnt = WaitCnt { vm: 0, exp: 0, lgkm: 0 };

    /// The `simm16` field.
    pub fn encode(self) -> u16 {
        FIELDS.iter().fold(0, |imm, field| imm | field.encode(field.counter.of(self)))
    }

    /// Reads a `simm16` field; the unused bits 7, 12 and 13 are ignored, as the hardware does.
    pub fn decode(imm: u16) -> WaitCnt {
        FIELDS.iter().fold(WaitCnt::NONE, |wait, field| field.counter.set(wait, field.decode(imm)))
    }

    /// The stronger of both waits, counter by counter.
    #[must_use]
    pub fn and(self, other: WaitCnt) -> WaitCnt {
        WaitCnt { vm: self.vm.min(other.vm), exp: self.exp.min(other.exp), lgkm: self.lgkm.min(other.lgkm) }
    }

    /// True if nothing is waited for.
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }
}

impl fmt::Display for WaitCnt {
    /// The operand text as LLVM prints it: `vmcnt(0) lgkmcnt(1)`; counters at their maximum are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // LLVM prints every counter when none is waited for.
        let shown = FIELDS.iter().filter(|p| self.is_none() || p.counter.of(*self) < p.largest());
        let parts: Vec<String> = shown.map(|p| format!("{}({})", p.name, p.counter.of(*self))).collect();
        f.write_str(&parts.join(" "))
    }
}
