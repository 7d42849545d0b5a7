//! The three counters of outstanding operations and the `s_waitcnt` immediate.

mod events;

use std::fmt;

use crate::immediate::{Field, Immediate};
use crate::target::InstructionSet;

pub use events::{Counter, Event, Events, MemoryEffect, Stream, events, finishes_after, room};

/// What an `s_waitcnt` waits for: each counter's largest permitted value. A field at its maximum waits for
/// nothing.
///
/// The layout of the immediate is that of GFX9 ([`Immediate::Counters`]).
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

/// The counters by their fields, in the order in which LLVM prints them.
const COUNTERS: [Counter; 3] = [Counter::Vm, Counter::Exp, Counter::Lgkm];
const FIELDS: &[Field] = Immediate::Counters.fields(InstructionSet::GFX900);

/// The counters with their fields.
fn fields() -> impl Iterator<Item = (Counter, &'static Field)> {
    COUNTERS.into_iter().zip(FIELDS)
}

impl WaitCnt {
    /// The instruction with such an immediate.
    pub const INSTRUCTION: &str = "s_waitcnt";
    /// Largest vmcnt field.
    pub const VM_MAX: u8 = FIELDS[0].largest() as u8;
    /// Largest expcnt field.
    pub const EXP_MAX: u8 = FIELDS[1].largest() as u8;
    /// Largest lgkmcnt field.
    pub const LGKM_MAX: u8 = FIELDS[2].largest() as u8;
    /// Waits for nothing.
    pub const NONE: WaitCnt = WaitCnt { vm: Self::VM_MAX, exp: Self::EXP_MAX, lgkm: Self::LGKM_MAX };
    /// Waits for everything.
    pub const ALL: WaitCnt = WaitCnt { vm: 0, exp: 0, lgkm: 0 };

    /// The `simm16` field.
    pub fn encode(self) -> u16 {
        fields().fold(0, |imm, (counter, field)| imm | field.encode(counter.of(self).into()))
    }

    /// Reads a `simm16` field; the unused bits 7, 12 and 13 are ignored, as the hardware does.
    pub fn decode(imm: u16) -> WaitCnt {
        fields().fold(WaitCnt::NONE, |wait, (counter, field)| counter.set(wait, field.decode(imm) as u8))
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
        let values = fields().map(|(counter, field)| (field, counter.of(*self)));
        let shown = values.filter(|(field, value)| self.is_none() || u16::from(*value) < field.largest());
        let parts: Vec<String> = shown.map(|(field, value)| format!("{}({value})", field.name)).collect();
        f.write_str(&parts.join(" "))
    }
}
