//! The properties of an instruction that are needed to propagate undefined bits.

use std::sync::OnceLock;

use gcn_isa::dataflow::{self, Flow, Part};
use gcn_isa::reg::{self, Reg, RegFile};
use gcn_isa::table::{Access, Class, ImplicitRegs};
use gcn_isa::{Inst, Operand};

use super::{M0, Word};
use crate::core::machine::{Machine, Step};
use crate::core::operand::role;
use crate::semantics::functions;
use crate::watch::strict::effect::is_load;

/// The properties of an instruction.
pub(in crate::watch::sanitize) struct Info {
    pub(super) sources: Vec<Source>,
    pub(super) results: Vec<Written>,
    pub(super) flow: Flow,
    pub(super) parts: Vec<Part>,
    pub(super) reads_scc: bool,
    pub(super) writes_scc: bool,
    pub(in crate::watch::sanitize) kind: Kind,
    /// True if the instruction loads from memory.
    pub(in crate::watch::sanitize) loads: bool,
    /// True if the instruction may access scratch.
    pub(super) may_be_scratch: bool,
    /// True if the instruction overwrites a register that it reads.
    pub(super) overwrites_source: bool,
    /// True if the instruction leaves part of a vector destination unchanged in lanes that it writes.
    pub(super) keeps: bool,
    /// The registers that the instruction reads or writes.
    pub(super) words: Box<[Word]>,
    /// True if inactive lanes of these registers count, too.
    pub(super) uses_all_lanes: bool,
    /// True if the loaded data are merged with the old content of the destination.
    pub(super) merges: bool,
    /// True if lanes read other lanes.
    pub(super) crosses: bool,
    /// The step for the same instruction with the registers of the separate wave.
    pub(super) aside: OnceLock<Step>,
    /// The two halves of a VOPD instruction: the result of each depends on its own sources only.
    pub(super) halves: Option<Box<[(Info, Step); 2]>>,
}

/// The kind of an instruction with respect to undefined bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::watch::sanitize) enum Kind {
    /// Computes results from registers.
    Computes,
    /// Computes with matrices, in all lanes.
    Matrix,
    /// Loads, stores or updates memory of any kind.
    Memory,
    /// Determines control flow, the meaning of register names, or the behaviour of other instructions.
    Decides,
    /// Has no effect on registers.
    Nothing,
}

/// A register that is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub reg: Reg,
    pub first: Word,
    /// The operand; `None` for an implicit register.
    pub operand: Option<usize>,
    /// The number of the source (0 to 2); `None` if the register is not one of the sources.
    pub role: Option<usize>,
    /// True if the register determines to which positions the bits of other sources go.
    pub control: bool,
    /// True if the register contains the data that a memory instruction stores.
    pub data: bool,
    /// True if the register is a lane mask.
    pub mask: bool,
}

/// A register that is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub reg: Reg,
    pub first: Word,
    pub operand: Option<usize>,
    /// True if the register is a lane mask, whether the instruction also has a vector result or not.
    pub mask: bool,
}

/// True if the register is a lane mask, whose bit i applies to lane i. In other scalar registers, each bit applies to all lanes.
fn is_mask(machine: &Machine, inst: &Inst, reg: Reg, name: &str) -> bool {
    let vector = inst.desc.format.is_vop() && reg.file == RegFile::Sgpr;
    vector
        && match name {
            "sdst" => {
                let of_all = matches!(inst.desc.class, Class::Readlane | Class::TransScalar);
                !of_all && reg.len == machine.state().wave_size.mask_registers()
            }
            // A 64-bit scalar value also has two SGPRs, but is not a mask.
            "src2" => dataflow::third_source_is_mask(inst.desc),
            _ => false,
        }
}

impl Info {
    pub(in crate::watch::sanitize) fn of(machine: &Machine, inst: &Inst) -> Info {
        let desc = inst.desc;
        let rule = dataflow::of(desc);
        let kind = kind(inst);
        let first = |reg: Reg| Word::all(machine, reg).next().unwrap_or(Word::Scalar(M0));
        let loads = kind == Kind::Memory && is_load(desc.class);
        let merges = loads && desc.operands.iter().any(|o| o.access == Access::ReadWrite);
        let mut sources: Vec<Source> = Vec::new();
        let mut results = Vec::new();
        for (i, (operand, named)) in inst.operands.iter().zip(desc.operands).enumerate() {
            let Operand::Reg(reg) = *operand else { continue };
            let mask = is_mask(machine, inst, reg, named.name);
            if named.access != Access::Read {
                results.push(Written { reg, first: first(reg), operand: Some(i), mask });
            }
            let kept = named.access == Access::ReadWrite && loads;
            if named.access != Access::Write && !kept {
                let role = if named.access == Access::Read { role(named.name) } else { None };
                let control = role.is_some_and(|role| rule.controls >> role & 1 == 1);
                let data = matches!(named.name, "vdata" | "sdata" | "data0" | "data1");
                sources.push(Source { reg, first: first(reg), operand: Some(i), role, control, data, mask });
            }
        }
        let implicit = |reg: Reg, mask: bool| Source {
            reg,
            first: first(reg),
            operand: None,
            role: None,
            control: false,
            data: false,
            mask,
        };
        let reads_vcc = desc.implicit_reads.contains(ImplicitRegs::VCC)
            || inst.operands.contains(&Operand::Special(gcn_isa::SrcSpecial::Vccz));
        if reads_vcc {
            sources.push(implicit(reg::VCC, desc.format.is_vop()));
        }
        if desc.is_relative() && desc.implicit_reads.contains(ImplicitRegs::M0) {
            sources.push(Source { control: true, ..implicit(reg::M0, false) });
        }
        for used in inst.writes().iter().filter(|used| used.operand.is_none()) {
            let mask = desc.format.is_vop();
            results.push(Written { reg: used.reg, first: first(used.reg), operand: None, mask });
        }
        let crosses = inst.mods.dpp.is_some()
            || matches!(desc.class, Class::Readlane | Class::Permlane | Class::Writelane | Class::LdsPermute);
        let reads_scc = desc.implicit_reads.contains(ImplicitRegs::SCC)
            || inst.operands.contains(&Operand::Special(gcn_isa::SrcSpecial::Scc));
        // Scratch can be accessed through scratch instructions, a flat address, or a buffer resource.
        let may_be_scratch = matches!(desc.class, Class::ScratchLoad | Class::FlatLoad | Class::VmemLoad);
        let overwrites = |written: &Written| sources.iter().any(|s| s.reg.overlaps(written.reg));
        let overwrites_source = results.iter().any(overwrites);
        let halves = functions::halves(inst, machine.target(), machine.registers())
            .and_then(Result::ok)
            .map(|halves| Box::new(halves.map(|step| (Info::of(machine, &step.inst), step))));
        let of_halves =
            halves.iter().flat_map(|halves| halves.iter()).flat_map(|half| &half.0.words).copied();
        let words = sources.iter().flat_map(Source::words).chain(results.iter().flat_map(Written::words));
        let words = words.chain(of_halves).collect();
        Info {
            words,
            uses_all_lanes: crosses || kind == Kind::Matrix,
            sources,
            results,
            // With clamp, saturation makes the result depend on the upper bits as well.
            flow: if rule.flow == Flow::Up && inst.mods.clamp { Flow::All } else { rule.flow },
            parts: if desc.format.is_vop() { dataflow::parts(inst) } else { Vec::new() },
            reads_scc,
            writes_scc: desc.implicit_writes.contains(ImplicitRegs::SCC),
            kind,
            loads,
            may_be_scratch,
            overwrites_source,
            keeps: keeps(inst) || machine.target().writes_halves() && writes_half(inst),
            merges,
            crosses,
            aside: OnceLock::new(),
            halves,
        }
    }
}

/// True if the instruction leaves part of a vector destination unchanged in lanes that it writes.
fn keeps(inst: &Inst) -> bool {
    inst.preserves_destination()
        || dataflow::keeps(inst.desc)
        || inst.operands.iter().zip(inst.desc.operands).any(|(_, o)| o.access == Access::ReadWrite)
}

/// True if the vector result has 16 bits. On targets that write only half of the register then, the other half stays.
fn writes_half(inst: &Inst) -> bool {
    let written = dataflow::parts(inst).iter().fold(0, |all, part| all | part.result);
    inst.desc.format.is_vop() && matches!(written, 0xffff | 0xffff_0000)
}

fn kind(inst: &Inst) -> Kind {
    let desc = inst.desc;
    match desc.class {
        _ if desc.is_matrix() => Kind::Matrix,
        Class::Branch | Class::Setreg | Class::GprIdx => Kind::Decides,
        Class::LdsPermute => Kind::Computes,
        // The registers that messages and global wave sync use have no effect on this wave.
        Class::Sendmsg | Class::Gws | Class::Gds | Class::Barrier | Class::Waitcnt | Class::Nop => {
            Kind::Nothing
        }
        _ if desc.is_vmem() || desc.is_ds() || desc.is_smem() => Kind::Memory,
        _ if desc.is_salu() || desc.format.is_vop() => Kind::Computes,
        _ => Kind::Nothing,
    }
}

impl Source {
    pub(super) fn words(&self) -> impl Iterator<Item = Word> + use<> {
        words(self.first, self.reg.len)
    }
}

impl Written {
    pub(super) fn words(&self) -> impl Iterator<Item = Word> + use<> {
        words(self.first, self.reg.len)
    }
}

fn words(first: Word, count: u8) -> impl Iterator<Item = Word> {
    (0..usize::from(count)).map(move |i| match first {
        Word::Vector(slot) => Word::Vector(slot + i),
        Word::Scalar(number) => Word::Scalar(number + i),
    })
}
