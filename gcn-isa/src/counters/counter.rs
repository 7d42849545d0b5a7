//! The counters' names and largest values.

use crate::target::{Generation, InstructionSet};

/// A counter, named after the operations that it counts. An instruction set that lacks a counter counts those
/// operations on another: see [`super::Stream::counter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Counter {
    /// Vector memory: on GFX9 all operations, from GFX10 on the operations that return data. Names: `vmcnt`, `loadcnt`.
    Vm,
    /// LDS operations, and before GFX12 also scalar memory operations and messages. Names: `lgkmcnt`, `dscnt`.
    Lgkm,
    /// Exports, GDS and GWS operations that have not yet read their data, and LDS direct loads. Name: `expcnt`.
    Exp,
    /// Vector memory operations that do not return data. Names: `vscnt`, `storecnt`.
    Vs,
    /// Scalar memory operations and messages. Name: `kmcnt`.
    Km,
    /// Image sampling. Name: `samplecnt`.
    Sample,
    /// Ray tracing. Name: `bvhcnt`.
    Bvh,
    /// Vector and scalar memory operations that have yet to read their addresses and data, from gfx12.5 on. Name: `xcnt`.
    X,
    /// Copies between memory and LDS that bypass registers, from gfx12.5 on. Name: `asynccnt`.
    Async,
    /// Tensor operations, from gfx12.5 on. Name: `tensorcnt`.
    Tensor,
}

/// A counter with its name and the largest value of its field. That value waits for nothing.
type Row = (Counter, &'static str, u8);

// GFX9: MI100 ISA 4.4. GFX10, GFX11: LLVM 22 measured; RDNA2 ISA 4.4, RDNA3 ISA 5.6. GFX12: LLVM 22 measured; RDNA4 ISA 5.6.
const GFX9: [Row; 3] =
    [(Counter::Vm, "vmcnt", 63), (Counter::Exp, "expcnt", 7), (Counter::Lgkm, "lgkmcnt", 15)];
const GFX10: [Row; 4] = [
    (Counter::Vm, "vmcnt", 63),
    (Counter::Exp, "expcnt", 7),
    (Counter::Lgkm, "lgkmcnt", 63),
    (Counter::Vs, "vscnt", 63),
];
const GFX12: [Row; 7] = [
    (Counter::Vm, "loadcnt", 63),
    (Counter::Exp, "expcnt", 7),
    (Counter::Lgkm, "dscnt", 63),
    (Counter::Vs, "storecnt", 63),
    (Counter::Km, "kmcnt", 31),
    (Counter::Sample, "samplecnt", 63),
    (Counter::Bvh, "bvhcnt", 7),
];
// loadcnt, dscnt, xcnt: LLVM 22 waits for at most 62 (measured). asynccnt has six bits (LLVM pull request 185810). The other counters are
// assumed to be as on GFX12, and tensorcnt is assumed to be like asynccnt. These assumptions have no effect: waits for scalar loads are
// always for 0, and LLVM inserts no waits for tensors.
const GFX12_5: [Row; 7] = [
    (Counter::Vm, "loadcnt", 63),
    (Counter::Lgkm, "dscnt", 63),
    (Counter::Vs, "storecnt", 63),
    (Counter::Km, "kmcnt", 31),
    (Counter::X, "xcnt", 63),
    (Counter::Async, "asynccnt", 63),
    (Counter::Tensor, "tensorcnt", 63),
];

/// The rows of an instruction set, and only the counters of these rows.
struct Table {
    rows: &'static [Row],
    counters: &'static [Counter],
}

const fn table(set: InstructionSet) -> Table {
    match set.generation() {
        Generation::GFX9 => Table { rows: &GFX9, counters: &const { only_counters(&GFX9) } },
        Generation::GFX10 | Generation::GFX11 => {
            Table { rows: &GFX10, counters: &const { only_counters(&GFX10) } }
        }
        Generation::GFX12 if set.has_async_copies() => {
            Table { rows: &GFX12_5, counters: &const { only_counters(&GFX12_5) } }
        }
        Generation::GFX12 => Table { rows: &GFX12, counters: &const { only_counters(&GFX12) } },
    }
}

const fn only_counters<const N: usize>(rows: &[Row; N]) -> [Counter; N] {
    let mut counters = [Counter::Vm; N];
    let mut i = 0;
    while i < N {
        counters[i] = rows[i].0;
        i += 1;
    }
    counters
}

/// The counters of an instruction set.
pub(super) const fn of(set: InstructionSet) -> &'static [Counter] {
    table(set).counters
}

impl Counter {
    /// Every counter of any instruction set.
    pub const ALL: [Counter; 10] = [
        Counter::Vm,
        Counter::Lgkm,
        Counter::Exp,
        Counter::Vs,
        Counter::Km,
        Counter::Sample,
        Counter::Bvh,
        Counter::X,
        Counter::Async,
        Counter::Tensor,
    ];

    const fn row(self, set: InstructionSet) -> Option<Row> {
        let rows = table(set).rows;
        let mut i = 0;
        while i < rows.len() {
            if rows[i].0 as u8 == self as u8 {
                return Some(rows[i]);
            }
            i += 1;
        }
        None
    }

    /// True if the instruction set has the counter.
    pub const fn exists_on(self, set: InstructionSet) -> bool {
        self.row(set).is_some()
    }

    /// The counter's name on an instruction set; empty if the set lacks the counter.
    pub const fn name(self, set: InstructionSet) -> &'static str {
        match self.row(set) {
            Some(row) => row.1,
            None => "",
        }
    }

    /// The largest value that waits. It is one less than the maximum of the field, which means "do not wait".
    pub const fn cap(self, set: InstructionSet) -> u8 {
        self.capacity(set).saturating_sub(1)
    }

    /// The largest number of operations that the counter can count, which is the largest value of its field. A wait for that value
    /// therefore never waits. It is 0 if there is no such counter.
    ///
    /// An instruction that would exceed this number does not issue before enough operations have completed. The manuals do not mention
    /// this. AMD's emulator and its static checker of waits model it (ROCm/rocm-systems, issue 11202 and pull request 10926: 15 and 63),
    /// and LLVM 22 relies on it (measured: LLVM inserts no wait for the data of the first of eight GDS operations, and, after any
    /// `s_waitcnt`, no wait for the first of 17 FLAT loads on lgkmcnt).
    pub const fn capacity(self, set: InstructionSet) -> u8 {
        match self.row(set) {
            Some(row) => row.2,
            None => 0,
        }
    }
}
