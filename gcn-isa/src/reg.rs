//! Machine registers and register tuples.
//!
//! The SGPR file has the numbers of GFX9's encodings, so `vcc`, `exec`, `m0` and the other named scalar registers are
//! tuples of [`RegFile::Sgpr`] with fixed numbers: `vcc` is SGPR 106 and 107.

mod numbered;

use std::fmt;

pub use numbered::NotNumbered;

use crate::target::InstructionSet;
pub use crate::target::RegFile;

/// A register, or a tuple of consecutive registers: `v7`, `s[4:7]`, `a[0:15]`, `vcc`.
///
/// ```
/// use gcn_isa::{Reg, reg};
/// assert_eq!(Reg::v(8, 4).to_string(), "v[8:11]");
/// assert_eq!(reg::VCC.to_string(), "vcc");
/// assert_eq!(Reg::s(107, 1).to_string(), "vcc_hi");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg {
    /// The register file.
    pub file: RegFile,
    /// The first register's number.
    pub index: u16,
    /// The number of consecutive registers (dwords), 1..=32.
    pub len: u8,
}

/// A half of a VGPR.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Half {
    /// Bits 15:0.
    Low,
    /// Bits 31:16.
    High,
}

impl Half {
    /// The high half if `high` is true, otherwise the low half.
    pub const fn of(high: bool) -> Half {
        if high { Half::High } else { Half::Low }
    }

    /// The half's bits in the register.
    pub const fn bits(self) -> u32 {
        match self {
            Half::Low => 0xffff,
            Half::High => 0xffff_0000,
        }
    }

    /// True if these parts of one register are disjoint. `None` stands for the whole register.
    pub fn are_apart(a: Option<Half>, b: Option<Half>) -> bool {
        matches!((a, b), (Some(a), Some(b)) if a != b)
    }
}

/// `flat_scratch`.
pub const FLAT_SCRATCH: Reg = Reg::s(102, 2);
/// `xnack_mask`.
pub const XNACK_MASK: Reg = Reg::s(104, 2);
/// `vcc`.
pub const VCC: Reg = Reg::s(106, 2);
/// The first SGPR with a fixed meaning. All SGPRs from this number on have one (`flat_scratch`, `xnack_mask`, VCC, trap temporaries, M0,
/// EXEC).
pub const FIRST_NAMED_SGPR: u16 = FLAT_SCRATCH.index;
/// The number of SGPRs that every wave has in addition to the numbered ones: VCC, `flat_scratch`, `xnack_mask`.
pub const NAMED_SGPRS: u32 = (VCC.len + FLAT_SCRATCH.len + XNACK_MASK.len) as u32;
/// The trap temporaries `ttmp0` to `ttmp15`.
pub const TTMP: Reg = Reg::s(108, 16);
/// `m0`.
pub const M0: Reg = Reg::s(124, 1);
/// `null` of RDNA, which reads as 0 and ignores writes. The encodings of RDNA 3 and later exchange its number with that of M0.
pub const NULL: Reg = Reg::s(125, 1);
/// `exec`.
pub const EXEC: Reg = Reg::s(126, 2);
/// The scalar condition code. Instructions have no field for it, so its number is that of no encoding.
pub const SCC: Reg = Reg::s(128, 1);

impl Reg {
    /// The SGPR tuple of `len` dwords that starts at encoding number `index`.
    pub const fn s(index: u16, len: u8) -> Reg {
        Reg { file: RegFile::Sgpr, index, len }
    }

    /// A VGPR tuple.
    pub const fn v(index: u16, len: u8) -> Reg {
        Reg { file: RegFile::Vgpr, index, len }
    }

    /// An AGPR tuple.
    pub const fn a(index: u16, len: u8) -> Reg {
        Reg { file: RegFile::Agpr, index, len }
    }

    /// One more than the number of the last register.
    pub const fn end(self) -> u16 {
        self.index + self.len as u16
    }

    /// True if the tuples have at least one common register.
    pub fn overlaps(self, other: Reg) -> bool {
        self.file == other.file && self.index < other.end() && other.index < self.end()
    }

    /// The registers that both tuples contain, as a bit set relative to `self`. Bit i stands for the i-th register of `self`.
    pub fn shared_with(self, other: Reg) -> u32 {
        if !self.overlaps(other) {
            return 0;
        }
        let from = other.index.max(self.index) - self.index;
        let to = other.end().min(self.end()) - self.index;
        (((1u64 << to) - 1) & !((1u64 << from) - 1)) as u32
    }

    /// The registers that both tuples contain, as a tuple. If there are none, the result is `self`.
    #[must_use]
    pub fn common(self, other: Reg) -> Reg {
        let (first, end) = (self.index.max(other.index), self.end().min(other.end()));
        if self.overlaps(other) { Reg { index: first, len: (end - first) as u8, ..self } } else { self }
    }

    /// True if every register of `other` is in `self`.
    pub fn covers(self, other: Reg) -> bool {
        self.file == other.file && self.index <= other.index && other.end() <= self.end()
    }

    /// The single registers of the tuple.
    pub fn units(self) -> impl Iterator<Item = RegUnit> {
        (self.index..self.end()).map(move |i| RegUnit::new(self.file, i))
    }

    /// The `i`-th register of the tuple, as a tuple of one register.
    #[must_use]
    #[expect(
        clippy::should_implement_trait,
        reason = "a sub-register, not a difference; it takes a position"
    )]
    pub fn sub(self, i: u8) -> Reg {
        self.slice(i, 1)
    }

    /// The tuple of `len` registers that starts at register number `start` of this tuple.
    #[must_use]
    pub fn slice(self, start: u8, len: u8) -> Reg {
        debug_assert!(start + len <= self.len, "{self}: slice {start}+{len}");
        Reg { file: self.file, index: self.index + u16::from(start), len }
    }

    fn scalar_name(self) -> Option<&'static str> {
        let name = match (self.index, self.len) {
            (102, 2) => "flat_scratch",
            (102, 1) => "flat_scratch_lo",
            (103, 1) => "flat_scratch_hi",
            (104, 2) => "xnack_mask",
            (104, 1) => "xnack_mask_lo",
            (105, 1) => "xnack_mask_hi",
            (106, 2) => "vcc",
            (106, 1) => "vcc_lo",
            (107, 1) => "vcc_hi",
            (124, 1) => "m0",
            (125, _) => "null",
            (126, 2) => "exec",
            (126, 1) => "exec_lo",
            (127, 1) => "exec_hi",
            (128, 1) => "scc",
            _ => return None,
        };
        Some(name)
    }
}

impl Reg {
    /// Formats the register under the name that it has on an instruction set: RDNA has `s102` to `s105` where GFX9 has `flat_scratch` and
    /// `xnack_mask`.
    ///
    /// ```
    /// use gcn_isa::{InstructionSet, Reg};
    ///
    /// let reg = Reg::s(104, 2);
    /// assert_eq!(reg.on(InstructionSet::GFX942).to_string(), "xnack_mask");
    /// assert_eq!(reg.on(InstructionSet::GFX11).to_string(), "s[104:105]");
    /// ```
    pub fn on(self, set: InstructionSet) -> impl fmt::Display {
        RegOn { reg: self, sgprs: set.addressable_sgprs() }
    }
}

impl fmt::Display for Reg {
    /// Writes the name on GFX9; see [`Reg::on`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        RegOn { reg: *self, sgprs: FIRST_NAMED_SGPR.into() }.fmt(f)
    }
}

/// A register to be printed, and the number of SGPRs that are printed as `s0`, `s1`, …; this number depends on the instruction set. Scalar
/// registers from this number on are printed under their names, such as `vcc_lo`, if they have one.
struct RegOn {
    reg: Reg,
    sgprs: u32,
}

impl fmt::Display for RegOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reg = self.reg;
        let (prefix, index) = match reg.file {
            RegFile::Vgpr => ("v", reg.index),
            RegFile::Agpr => ("a", reg.index),
            RegFile::Sgpr if u32::from(reg.index) < self.sgprs => ("s", reg.index),
            RegFile::Sgpr => match reg.scalar_name() {
                Some(name) => return f.write_str(name),
                None if (TTMP.index..M0.index).contains(&reg.index) => ("ttmp", reg.index - TTMP.index),
                None => ("s", reg.index),
            },
        };
        if reg.len == 1 {
            write!(f, "{prefix}{index}")
        } else {
            write!(f, "{prefix}[{index}:{}]", index + u16::from(reg.len) - 1)
        }
    }
}

/// The largest number of VGPRs of any target ([`InstructionSet::addressable_vgprs`]).
pub const MOST_VGPRS: u16 = 1024;

/// One register of one file as a small dense number, for bit sets and per-register state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RegUnit(u16);

impl RegUnit {
    /// The unit of the first VGPR; the units of a tuple follow each other.
    const VGPRS: u16 = SCC.end();
    /// The unit of the first AGPR.
    const AGPRS: u16 = RegUnit::VGPRS + MOST_VGPRS;
    /// The number of units: 128 SGPRs, SCC, 1024 VGPRs, 256 AGPRs.
    pub const COUNT: usize = RegUnit::AGPRS as usize + 256;

    /// The unit of register `index` of `file`.
    pub const fn new(file: RegFile, index: u16) -> RegUnit {
        match file {
            RegFile::Sgpr => RegUnit(index),
            RegFile::Vgpr => RegUnit(RegUnit::VGPRS + index),
            RegFile::Agpr => RegUnit(RegUnit::AGPRS + index),
        }
    }

    /// The dense number, which is below [`RegUnit::COUNT`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The unit with a dense number; `None` if the number is too large.
    pub const fn from_index(index: usize) -> Option<RegUnit> {
        if index < Self::COUNT { Some(RegUnit(index as u16)) } else { None }
    }

    /// The register, as a tuple of one register.
    pub const fn reg(self) -> Reg {
        match self.0 {
            0..RegUnit::VGPRS => Reg::s(self.0, 1),
            RegUnit::VGPRS..RegUnit::AGPRS => Reg::v(self.0 - RegUnit::VGPRS, 1),
            _ => Reg::a(self.0 - RegUnit::AGPRS, 1),
        }
    }
}
