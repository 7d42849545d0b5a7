//! The position of an instruction in a run, and the details of errors and findings there.

use std::fmt;

use crate::core::memory::Range;

/// The instruction that a wave was executing when something happened.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Site {
    /// The workgroup's ID in the grid.
    pub workgroup: [u32; 3],
    /// The wave's number in the workgroup.
    pub wave: u32,
    /// The byte offset of the instruction in the code.
    pub offset: u32,
    /// The instruction as assembly text.
    pub text: String,
    /// The source position, if known ([`Machine::with_lines`](crate::Machine::with_lines)).
    pub line: Option<String>,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.workgroup;
        let Site { text, offset, wave, .. } = self;
        write!(f, "`{text}` at offset {offset:#x}{} (workgroup {x},{y},{z}, wave {wave})", After(&self.line))
    }
}

/// A kind of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// Global memory.
    Global,
    /// LDS.
    Lds,
    /// Scratch.
    Scratch,
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Global => "global memory",
            Space::Lds => "LDS",
            Space::Scratch => "scratch",
        })
    }
}

/// An access outside of every allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutOfBounds {
    /// The instruction that performs the access.
    pub site: Site,
    /// The kind of memory.
    pub space: Space,
    /// True for a store or atomic.
    pub write: bool,
    /// The lane; `None` for scalar memory.
    pub lane: Option<u8>,
    /// First address of the access.
    pub address: u64,
    /// The size of the access in bytes.
    pub bytes: u32,
    /// The nearest allocation.
    pub nearest: Option<Range>,
}

impl fmt::Display for OutOfBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.write { "writes" } else { "reads" };
        write!(f, "{} {verb} {} bytes of {} out of bounds", self.site, self.bytes, self.space)?;
        if let Some(lane) = self.lane {
            write!(f, " in lane {lane}")?;
        }
        write!(f, ": address {:#x}", self.address)?;
        match self.nearest {
            Some(Range { base, bytes }) => {
                write!(f, "; the nearest allocation is {bytes} bytes at {base:#x}")?;
                let end = base + bytes;
                if self.address >= end {
                    write!(f, ", {} bytes before this address", self.address - end)
                } else if self.address < base {
                    write!(f, ", {} bytes after this address", base - self.address)
                } else {
                    write!(f, ", which ends inside the access")
                }
            }
            None => write!(f, "; nothing is allocated"),
        }
    }
}

/// An instruction of the code.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Instruction {
    /// The byte offset in the code.
    pub offset: u32,
    /// The assembly text.
    pub text: String,
    /// The source position, if known.
    pub line: Option<String>,
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at offset {:#x}{}", self.text, self.offset, After(&self.line))
    }
}

/// Formats a source position, if known, to follow a code offset in a message.
pub(crate) struct After<'l>(pub &'l Option<String>);

impl fmt::Display for After<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |line| write!(f, ", {line}"))
    }
}

/// A dependence between two instructions that neither the hardware nor a wait in the program enforces.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Hazard {
    /// The ID of the violated rule.
    pub rule: String,
    /// The earlier instruction.
    pub first: Instruction,
    /// The instruction that executes too early.
    pub second: Site,
    /// The register that causes the dependence, if there is one.
    pub register: Option<String>,
    /// The distance that the rule requires between the two instructions.
    pub need: String,
    /// The actual distance.
    pub have: String,
    /// The instructions to insert.
    pub remedy: String,
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hazard {}: {} comes too early after {}", self.rule, self.second, self.first)?;
        if let Some(register) = &self.register {
            write!(f, " ({register})")?;
        }
        write!(f, ": needs {}, has {}; {}", self.need, self.have, self.remedy)
    }
}
