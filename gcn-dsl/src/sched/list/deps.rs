//! The dependence graph of a window: which instructions must stay in order.
//!
//! Registers: read after write, write after read and write after write are tracked for virtual registers (for each
//! dword of a tuple), machine registers, and SCC. EXEC is a register that every vector instruction reads. Every write
//! of SCC is ordered with every other write and with the reads in between, so a reader gets the value of the same
//! writer as before.
//!
//! Memory: loads may be reordered with loads; no access to a space may move across a store or an atomic to the same
//! space. LDS is one space, scratch another, each slice is one ([`Function::slices`]), and all other memory is one
//! more. FLAT instructions access both LDS and that last one.

use gcn_isa::reg::{self, Reg, RegFile, RegUnit};
use gcn_isa::table::{Access, Class, ImplicitRegs, InstDesc};
use gcn_isa::{Operand, SrcSpecial};
use hashbrown::HashMap;
use smallvec::SmallVec;

use super::latency;
use crate::ir::mark::Mark;
use crate::mir::{Function, MInst, MOperand, Op, VReg};
use crate::sched::class::Classes;

/// The dependences of a window.
pub(super) struct Graph {
    /// For each instruction, its successors, each with the minimum distance in slots.
    pub succs: Vec<Vec<(usize, u32)>>,
    /// For each instruction, the number of its predecessors in the graph.
    pub preds: Vec<u32>,
    /// For each instruction, the number of slots until its result is available.
    results: Vec<u32>,
}

/// A register or memory space whose reads and writes must stay in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Resource {
    Virt(VReg, u8),
    Fixed(RegUnit),
    Scc,
    Mode,
    Lds,
    Scratch,
    Slice(VReg),
    Memory,
}

/// The last writer of a resource, and the readers after that write.
#[derive(Default)]
struct History {
    writer: Option<usize>,
    readers: SmallVec<[usize; 4]>,
}

/// True if no instruction may move across `inst`, and `inst` itself may not move.
pub(super) fn is_boundary(inst: &MInst) -> bool {
    let desc = match &inst.op {
        Op::Machine(desc, _) => desc,
        Op::Mark(mark) => return mark.is_boundary(),
        op => return *op == Op::Order,
    };
    desc.class.is_boundary() || inst.operands.iter().any(is_opaque)
}

/// True for an operand whose value does not depend on registers alone, and for a register that contains the kernel's
/// initial state.
fn is_opaque(operand: &MOperand) -> bool {
    match operand {
        MOperand::Fixed(Operand::Reg(reg)) => {
            ![reg::VCC, reg::EXEC, reg::M0, reg::FLAT_SCRATCH].iter().any(|named| named.covers(*reg))
        }
        MOperand::Fixed(fixed) => fixed.is_opaque(),
        _ => false,
    }
}

impl Graph {
    /// Builds the graph.
    pub fn build(f: &Function, insts: &[MInst]) -> Graph {
        let results: Vec<u32> = insts.iter().map(|i| latency::of_result(f.target, i)).collect();
        let mut graph = Graph { succs: vec![Vec::new(); insts.len()], preds: vec![0; insts.len()], results };
        let mut histories: HashMap<Resource, History> = HashMap::new();
        for (i, inst) in insts.iter().enumerate() {
            let uses = Uses::of(f, inst);
            for resource in &uses.reads {
                let history = histories.entry(*resource).or_default();
                if let Some(writer) = history.writer {
                    graph.edge(writer, i, latency::between(graph.results[writer], &insts[writer], inst));
                }
            }
            for resource in &uses.writes {
                let history = histories.entry(*resource).or_default();
                if let Some(writer) = history.writer.replace(i) {
                    // Write after write: the result of the second instruction must arrive after that of the first.
                    graph.edge(writer, i, 1);
                }
                for reader in history.readers.drain(..) {
                    // Write after read: issue order is enough.
                    graph.edge(reader, i, 0);
                }
            }
            // Add the edges of fences now, because they also lead to `i`: `edge` relies on all edges to one instruction
            // being added together.
            graph.fence(f, insts, i);
            // An instruction that both reads and writes a resource is already recorded as the resource's writer.
            for resource in uses.reads.iter().filter(|r| !uses.writes.contains(r)) {
                histories.entry(*resource).or_default().readers.push(i);
            }
        }
        graph
    }

    /// Orders `inst`, the last instruction so far, after the fences before it. If `inst` is itself a fence, orders it
    /// after all instructions before it.
    fn fence(&mut self, f: &Function, insts: &[MInst], inst: usize) {
        let stays = |classes: Classes, i: usize| {
            let class = Classes::of_inst(f, &insts[i]);
            class.is_empty() || !classes.contains(class)
        };
        let passing = |inst: &MInst| if let Op::Mark(mark) = &inst.op { mark.passing() } else { None };
        if let Some(classes) = passing(&insts[inst]) {
            (0..inst).filter(|i| stays(classes, *i)).for_each(|i| self.edge(i, inst, 0));
        }
        for (at, before) in insts[..inst].iter().enumerate() {
            if let Some(classes) = passing(before)
                && stays(classes, inst)
            {
                self.edge(at, inst, 0);
            }
        }
    }

    /// Adds an edge, or raises the latency of an existing one.
    fn edge(&mut self, from: usize, to: usize, latency: u32) {
        if from == to {
            return;
        }
        // All edges to one instruction are added together, so only the last edge of `from` can be a duplicate.
        match self.succs[from].last_mut().filter(|e| e.0 == to) {
            Some(edge) => edge.1 = edge.1.max(latency),
            None => {
                self.succs[from].push((to, latency));
                self.preds[to] += 1;
            }
        }
    }

    /// For each instruction, the length of its critical path: the number of slots from its issue until everything that
    /// depends on it has completed. A result that the window does not use counts as used immediately after the window.
    pub fn heights(&self, insts: &[MInst]) -> Vec<u32> {
        // All instructions before a gate depend on it in the graph and would get the same height, so a gate that is not
        // urgent does not count.
        let counts = |i: usize| !matches!(insts[i].op, Op::Mark(Mark::Gate { urgent: false, .. }));
        let mut heights = self.results.clone();
        for i in (0..self.succs.len()).rev() {
            let later = self.succs[i].iter().filter(|(next, _)| counts(*next));
            let longest = later.map(|&(next, latency)| heights[next] + latency.max(1)).max();
            heights[i] = heights[i].max(longest.unwrap_or(0));
        }
        heights
    }
}

/// The resources that an instruction reads and writes.
#[derive(Default)]
struct Uses {
    reads: SmallVec<[Resource; 16]>,
    writes: SmallVec<[Resource; 16]>,
}

impl Uses {
    fn of(f: &Function, inst: &MInst) -> Uses {
        let mut uses = Uses::default();
        match &inst.op {
            Op::Machine(desc, mods) => {
                let keeps = inst.keeps_dst || desc.preserves_destination(mods);
                for (operand, slot) in inst.operands.iter().zip(desc.operands) {
                    uses.operand(operand, slot.access, keeps);
                }
                uses.implicit(desc);
                uses.memory(desc, mods.gds, object(f, inst, desc));
            }
            Op::Order | Op::Mark(_) => {}
            Op::Copy | Op::Undef => {
                for (i, operand) in inst.operands.iter().enumerate() {
                    let access = if i == 0 { Access::Write } else { Access::Read };
                    uses.operand(operand, access, inst.keeps_dst);
                }
                if matches!(inst.operands.first(), Some(MOperand::Virt(s)) if f.info(s.reg).file != RegFile::Sgpr)
                {
                    // A copy to a vector register becomes vector moves, which execute under EXEC.
                    uses.fixed(reg::EXEC, Access::Read);
                }
            }
        }
        uses
    }

    fn operand(&mut self, operand: &MOperand, access: Access, keeps: bool) {
        let access = if keeps && access == Access::Write { Access::ReadWrite } else { access };
        match operand {
            MOperand::Virt(slice) => {
                for i in slice.start..slice.start + slice.len {
                    self.add(Resource::Virt(slice.reg, i), access);
                }
            }
            MOperand::Fixed(Operand::Reg(reg)) => self.fixed(*reg, access),
            MOperand::Fixed(Operand::Special(SrcSpecial::Scc)) => self.add(Resource::Scc, Access::Read),
            MOperand::Fixed(Operand::Special(SrcSpecial::Vccz)) => self.fixed(reg::VCC, Access::Read),
            MOperand::Fixed(Operand::Special(SrcSpecial::Execz)) => self.fixed(reg::EXEC, Access::Read),
            MOperand::Fixed(_) => {}
        }
    }

    fn fixed(&mut self, reg: Reg, access: Access) {
        for unit in reg.units() {
            self.add(Resource::Fixed(unit), access);
        }
    }

    fn add(&mut self, resource: Resource, access: Access) {
        if access != Access::Write {
            self.reads.push(resource);
        }
        if access != Access::Read {
            self.writes.push(resource);
        }
    }

    fn implicit(&mut self, desc: &InstDesc) {
        for (set, access) in [(desc.implicit_reads, Access::Read), (desc.implicit_writes, Access::Write)] {
            let named = [
                (ImplicitRegs::EXEC, reg::EXEC),
                (ImplicitRegs::VCC, reg::VCC),
                (ImplicitRegs::M0, reg::M0),
                (ImplicitRegs::FLAT_SCRATCH, reg::FLAT_SCRATCH),
            ];
            for (flag, reg) in named {
                if set.contains(flag) {
                    self.fixed(reg, access);
                }
            }
            for (flag, resource) in [(ImplicitRegs::SCC, Resource::Scc), (ImplicitRegs::MODE, Resource::Mode)]
            {
                if set.contains(flag) {
                    self.add(resource, access);
                }
            }
        }
    }

    fn memory(&mut self, desc: &InstDesc, gds: bool, object: Resource) {
        use Class as C;
        let (lds, memory) = match desc.class {
            C::LdsRead => (Some(Access::Read), None),
            C::LdsWrite | C::LdsAtomic | C::LdsAtomicRet => (Some(Access::ReadWrite), None),
            C::VmemLoad | C::GlobalLoad | C::ScratchLoad | C::SmemLoad => (None, Some(Access::Read)),
            C::VmemLoadLds | C::GlobalLoadLds | C::ScratchLoadLds => {
                (Some(Access::ReadWrite), Some(Access::Read))
            }
            C::FlatLoad => (Some(Access::Read), Some(Access::Read)),
            C::VmemStoreLds => (Some(Access::Read), Some(Access::ReadWrite)),
            C::FlatStore | C::FlatAtomic | C::FlatAtomicRet => {
                (Some(Access::ReadWrite), Some(Access::ReadWrite))
            }
            _ if desc.is_vmem() || desc.is_smem() => (None, Some(Access::ReadWrite)),
            _ => (None, None),
        };
        let memory = if gds { Some(Access::ReadWrite) } else { memory };
        if let Some(access) = lds {
            self.add(Resource::Lds, access);
        }
        if let Some(access) = memory {
            self.add(object, access);
        }
    }
}

/// The memory space that a memory instruction other than an LDS instruction accesses.
fn object(f: &Function, inst: &MInst, desc: &InstDesc) -> Resource {
    if matches!(desc.class, Class::ScratchLoad | Class::ScratchStore) {
        return Resource::Scratch;
    }
    let mut named = inst.operands.iter().zip(desc.operands);
    let slice = named.find_map(|(operand, slot)| match operand {
        MOperand::Virt(s) if matches!(slot.name, "srsrc" | "sbase") && f.slices.contains(&s.reg) => {
            Some(s.reg)
        }
        _ => None,
    });
    slice.map_or(Resource::Memory, Resource::Slice)
}
