//! What must stay in order inside a window.
//!
//! Registers: read after write, write after read and write after write, register by register, for virtual registers
//! (parts of tuples apart), machine registers, and SCC. EXEC is a register that every vector instruction reads. As
//! every write of SCC is ordered with every other and with the reads between, a reader keeps its writer.
//! Memory: loads may pass loads; nothing passes a store or an atomic of the same space. LDS is one space, scratch another, each
//! slice one of its own ([`Function::slices`]), all other memory another; FLAT is in LDS and in that.

use gcn_isa::inst::Inst;
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
    /// For each instruction those that must follow it, with the slots that should lie between.
    pub succs: Vec<Vec<(usize, u32)>>,
    /// For each instruction how many edges lead to it.
    pub preds: Vec<u32>,
    /// For each instruction the slots until its result is there.
    results: Vec<u32>,
}

/// Something that orders accesses.
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

#[derive(Default)]
struct History {
    writer: Option<usize>,
    readers: SmallVec<[usize; 4]>,
}

/// True if no instruction may be moved across `inst`, nor it itself.
pub(super) fn is_boundary(inst: &MInst) -> bool {
    let desc = match &inst.op {
        Op::Machine(desc, _) => desc,
        Op::Mark(mark) => return mark.is_boundary(),
        op => return *op == Op::Order,
    };
    desc.class.is_boundary() || inst.operands.iter().any(is_opaque)
}

/// Operands whose value depends on more than registers, or which name the kernel's initial state.
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
    /// Finds the dependences.
    pub fn build(f: &Function, insts: &[MInst]) -> Graph {
        let results: Vec<u32> = insts.iter().map(|i| latency::of_result(f.target, i)).collect();
        let mut graph = Graph { succs: vec![Vec::new(); insts.len()], preds: vec![0; insts.len()], results };
        let mut histories: HashMap<Resource, History> = HashMap::new();
        for (i, inst) in insts.iter().enumerate() {
            let uses = Uses::of(f, inst);
            for resource in &uses.reads {
                let history = histories.entry(*resource).or_default();
                if let Some(writer) = history.writer {
                    graph.edge(writer, i, graph.results[writer]);
                }
            }
            for resource in &uses.writes {
                let history = histories.entry(*resource).or_default();
                if let Some(writer) = history.writer.replace(i) {
                    graph.edge(writer, i, 1);
                }
                for reader in history.readers.drain(..) {
                    graph.edge(reader, i, 0);
                }
            }
            graph.fence(f, insts, i);
            // What is read and written at once has its new writer already.
            for resource in uses.reads.iter().filter(|r| !uses.writes.contains(r)) {
                histories.entry(*resource).or_default().readers.push(i);
            }
        }
        graph
    }

    /// Orders `inst`, the last one so far, with the fences around it.
    fn fence(&mut self, f: &Function, insts: &[MInst], inst: usize) {
        let stays = |classes: &Classes, i: usize| {
            let class = Classes::of_inst(f, &insts[i]);
            class.is_empty() || !classes.contains(class)
        };
        if let Op::Mark(Mark::Fence(classes)) = &insts[inst].op {
            (0..inst).filter(|i| stays(classes, *i)).for_each(|i| self.edge(i, inst, 0));
        }
        for (at, before) in insts[..inst].iter().enumerate() {
            if let Op::Mark(Mark::Fence(classes)) = &before.op
                && stays(classes, inst)
            {
                self.edge(at, inst, 0);
            }
        }
    }

    fn edge(&mut self, from: usize, to: usize, latency: u32) {
        if from == to {
            return;
        }
        // Edges to one instruction are made one after another, so a double one is the last.
        match self.succs[from].last_mut().filter(|e| e.0 == to) {
            Some(edge) => edge.1 = edge.1.max(latency),
            None => {
                self.succs[from].push((to, latency));
                self.preds[to] += 1;
            }
        }
    }

    /// For each instruction the slots from its issue until all that depends on it is done. A result that the window does
    /// not use is taken to be used right after it.
    pub fn heights(&self) -> Vec<u32> {
        let mut heights = self.results.clone();
        for i in (0..self.succs.len()).rev() {
            let longest = self.succs[i].iter().map(|&(next, latency)| heights[next] + latency.max(1)).max();
            heights[i] = heights[i].max(longest.unwrap_or(0));
        }
        heights
    }
}

/// What an instruction reads and writes.
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
                let keeps = inst.keeps_dst
                    || Inst { desc, operands: SmallVec::new(), mods: *mods }.preserves_destination();
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
                    // A copy to a vector register becomes vector moves.
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

/// What a memory instruction other than of LDS reaches.
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
