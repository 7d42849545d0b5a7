//! The three counters of outstanding operations and the `s_waitcnt` immediate.

mod events;

use std::fmt;

pub use events::{Counter, Event, Events, MemoryEffect, Stream, events, finishes_after, room};

/// What an `s_waitcnt` waits for: each counter's largest permitted value. A field at its maximum waits for
/// nothing.
///
/// Immediate layout on these targets: vmcnt in bits 3:0 and 15:14, expcnt in 6:4, lgkmcnt in 11:8
/// (LLVM AMDGPU guide; measured with LLVM 22).
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

impl WaitCnt {
    /// Largest vmcnt field.
    pub const VM_MAX: u8 = 63;
    /// Largest expcnt field.
    pub const EXP_MAX: u8 = 7;
    /// Largest lgkmcnt field.
    pub const LGKM_MAX: u8 = 15;
    /// Waits for nothing.
    pub const NONE: WaitCnt = WaitCnt { vm: Self::VM_MAX, exp: Self::EXP_MAX, lgkm: Self::LGKM_MAX };
    /// Waits for everything.
    pub const ALL: WaitCnt = WaitCnt { vm: 0, exp: 0, lgkm: 0 };

    /// The `simm16` field.
    pub fn encode(self) -> u16 {
        let vm = u16::from(self.vm.min(Self::VM_MAX));
        let exp = u16::from(self.exp.min(Self::EXP_MAX));
        let lgkm = u16::from(self.lgkm.min(Self::LGKM_MAX));
        (vm & 0xf) | (exp << 4) | (lgkm << 8) | ((vm >> 4) << 14)
    }

    /// Reads a `simm16` field; the unused bits 7, 12 and 13 are ignored, as the hardware does.
    pub fn decode(imm: u16) -> WaitCnt {
        WaitCnt {
            vm: ((imm & 0xf) | ((imm >> 14) << 4)) as u8,
            exp: ((imm >> 4) & 7) as u8,
            lgkm: ((imm >> 8) & 0xf) as u8,
        }
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
        let parts = [
            ("vmcnt", self.vm, Self::VM_MAX),
            ("expcnt", self.exp, Self::EXP_MAX),
            ("lgkmcnt", self.lgkm, Self::LGKM_MAX),
        ];
        let waited: Vec<String> =
            parts.iter().filter(|p| p.1 < p.2).map(|p| format!("{}({})", p.0, p.1)).collect();
        if waited.is_empty() {
            // LLVM prints every counter when none is waited for.
            return write!(f, "vmcnt({}) expcnt({}) lgkmcnt({})", self.vm, self.exp, self.lgkm);
        }
        f.write_str(&waited.join(" "))
    }
}
