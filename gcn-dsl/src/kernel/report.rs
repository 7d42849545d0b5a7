//! A summary of a kernel's costs.

use std::fmt;

use gcn_emit::occupancy::{Occupancy, occupancy};

use gcn_isa::program::SourceLoc;
use gcn_isa::{Program, hazards};

use super::BuiltKernel;
use crate::ir::{Kernel, is_choice};
use crate::regalloc::Spills;
use crate::sched::wait::{Inserted, InsertedKind};

/// The numbers of inserted waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WaitTotals {
    /// Number of `s_waitcnt` instructions.
    pub waitcnt: usize,
    /// Number of `s_nop` instructions that provide wait states.
    pub nops: usize,
    /// Number of wait states, summed over all `s_nop`.
    pub states: usize,
    /// Number of instructions whose only purpose is to interrupt a hazardous sequence (RDNA). An `s_nop` among them is counted here and not
    /// in `nops`.
    pub remedies: usize,
}

impl WaitTotals {
    fn of(program: &Program, inserted: &[Inserted]) -> WaitTotals {
        let mut totals = WaitTotals::default();
        for wait in inserted {
            match wait.kind {
                InsertedKind::Waitcnt => totals.waitcnt += wait.count,
                InsertedKind::Remedy => totals.remedies += wait.count,
                InsertedKind::WaitStates => {
                    totals.nops += wait.count;
                    let nops = &program.lines[wait.at..wait.at + wait.count];
                    totals.states +=
                        nops.iter().map(|l| hazards::wait_states(&l.inst) as usize).sum::<usize>();
                }
            }
        }
        totals
    }
}

/// An index into an array in registers that is known only on the device. Selections find the element; each takes one or
/// two instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DynamicIndex {
    /// The source location of the index.
    pub at: SourceLoc,
    /// The number of selections that remain for this index after loops have been unrolled and known indices folded.
    pub selections: usize,
}

impl DynamicIndex {
    fn all(ir: &Kernel) -> Vec<DynamicIndex> {
        let mut found: Vec<DynamicIndex> =
            ir.debug.indices.iter().map(|at| DynamicIndex { at: *at, selections: 0 }).collect();
        ir.body.each_inst(&mut |v| {
            let def = ir.def(v);
            let index = found.iter_mut().find(|index| Some(index.at) == def.loc);
            if let (true, Some(index)) = (is_choice(&def.inst), index) {
                index.selections += 1;
            }
        });
        found.retain(|index| index.selections > 0);
        found
    }
}

/// Registers, LDS, occupancy, instructions and waits of a built kernel. `Display` prints them.
#[derive(Debug, Clone)]
pub struct KernelReport {
    /// The kernel's name.
    pub name: String,
    /// The target's name.
    pub target: &'static str,
    /// Number of SGPRs, excluding those with names such as VCC.
    pub sgprs: u32,
    /// Number of VGPRs.
    pub vgprs: u32,
    /// Number of AGPRs.
    pub agprs: u32,
    /// The spill code that was inserted.
    pub spills: Spills,
    /// Bytes of scratch memory per lane, for private arrays and spilled values.
    pub scratch: u32,
    /// Bytes of LDS per workgroup.
    pub lds: u32,
    /// Number of waves per SIMD, and the resource that limits this number.
    pub occupancy: Occupancy,
    /// Number of machine instructions, including waits.
    pub instructions: usize,
    /// Size of the machine code in bytes.
    pub code_bytes: usize,
    /// Numbers of inserted waits.
    pub waits: WaitTotals,
    /// Indices into arrays in registers that are known only on the device.
    pub dynamic_indices: Vec<DynamicIndex>,
}

impl KernelReport {
    pub(super) fn of(kernel: &BuiltKernel) -> KernelReport {
        KernelReport {
            name: kernel.name().to_owned(),
            target: kernel.target().name(),
            sgprs: u32::from(kernel.usage.sgprs),
            vgprs: u32::from(kernel.usage.vgprs),
            agprs: u32::from(kernel.usage.agprs),
            spills: kernel.spills,
            scratch: kernel.spec.scratch_bytes,
            lds: kernel.spec.lds_bytes,
            occupancy: occupancy(&kernel.spec),
            instructions: kernel.program().lines.len(),
            code_bytes: kernel.code().len(),
            waits: WaitTotals::of(kernel.program(), &kernel.inserted),
            dynamic_indices: DynamicIndex::all(&kernel.ir),
        }
    }
}

impl fmt::Display for KernelReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} for {}", self.name, self.target)?;
        writeln!(f, "  registers     {} SGPR, {} VGPR, {} AGPR", self.sgprs, self.vgprs, self.agprs)?;
        let s = &self.spills;
        if s.total() > 0 {
            let memory = format!("{} stores, {} loads", s.stores, s.loads);
            let moves = format!("{} lane moves, {} VGPR-AGPR moves", s.lane_moves, s.register_moves);
            let lds = match s.lds_stores + s.lds_loads {
                0 => String::new(),
                _ => format!(", {} LDS stores, {} LDS loads", s.lds_stores, s.lds_loads),
            };
            writeln!(f, "  spilling      {memory}{lds}, {moves}, {} made again", s.again)?;
        }
        if self.scratch > 0 {
            writeln!(f, "  scratch       {} bytes per lane", self.scratch)?;
        }
        writeln!(f, "  LDS           {} bytes per workgroup", self.lds)?;
        writeln!(f, "  occupancy     {}", self.occupancy)?;
        writeln!(f, "  instructions  {} ({} bytes)", self.instructions, self.code_bytes)?;
        write!(
            f,
            "  waits         {} s_waitcnt, {} s_nop ({} wait states)",
            self.waits.waitcnt, self.waits.nops, self.waits.states
        )?;
        for index in &self.dynamic_indices {
            write!(
                f,
                "\n  {}: note: this index of an array in registers is known on the device only: {} selections; that of `#[unroll] for` \
                 is known when the kernel is built, and a large array is better a `Private`",
                index.at, index.selections
            )?;
        }
        Ok(())
    }
}
