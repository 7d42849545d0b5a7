//! Which registers have been written.

use gcn_isa::Inst;
use gcn_isa::reg::{self, Reg, RegFile};
use gcn_isa::table::{Access, Class};

use crate::exec::Cx;
use crate::machine::Machine;
use crate::step::Step;
use crate::value::Ty;

/// What the sanitizer needs to know about an instruction.
pub(super) struct Info {
    reads: Vec<Reg>,
    writes: Vec<Reg>,
    lanes: Lanes,
    /// Source of a plain copy: the destination is then as initialised as it.
    copies: Option<Reg>,
}

/// Lanes of the vector registers that an instruction reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lanes {
    /// Those of EXEC.
    Active,
    /// All.
    All,
    /// Some, nobody knows which beforehand.
    Some,
}

impl Info {
    pub(super) fn of(inst: &Inst) -> Info {
        let desc = inst.desc;
        let keeps = desc.is_vmem() || desc.is_ds() || desc.class == Class::Writelane;
        let mut reads = Vec::new();
        for (operand, desc) in inst.operands.iter().zip(desc.operands) {
            let read = desc.access == Access::Read || desc.access == Access::ReadWrite && !keeps;
            if let (Some(reg), true) = (operand.reg(), read) {
                reads.push(reg);
            }
        }
        // LDS instructions do not read M0 on these targets, EXEC is always there, and the rest is set up by the launch.
        if inst.reads().iter().any(|u| u.operand.is_none() && u.reg == reg::VCC) {
            reads.push(reg::VCC);
        }
        let crosses = inst.mods.dpp.is_some() || matches!(desc.class, Class::Readlane | Class::Permlane);
        Info {
            writes: inst.writes().iter().map(|u| u.reg).collect(),
            lanes: match () {
                () if desc.is_matrix() => Lanes::All,
                () if crosses => Lanes::Some,
                () => Lanes::Active,
            },
            copies: copied(inst),
            reads: if is_zeroing(inst) { Vec::new() } else { reads },
        }
    }
}

/// The register that a plain move copies.
fn copied(inst: &Inst) -> Option<Reg> {
    const MOVES: [&str; 7] = [
        "v_mov_b32",
        "v_mov_b64",
        "s_mov_b32",
        "s_mov_b64",
        "v_accvgpr_read_b32",
        "v_accvgpr_write_b32",
        "v_accvgpr_mov_b32",
    ];
    let plain = inst.mods.dpp.is_none() && inst.mods.sdwa.is_none();
    if !plain || !MOVES.contains(&inst.desc.mnemonic) {
        return None;
    }
    let source = inst.operands.iter().zip(inst.desc.operands).find(|(_, d)| d.access == Access::Read)?;
    source.0.reg()
}

/// `x ^ x` and `x - x` are 0 whatever x is.
fn is_zeroing(inst: &Inst) -> bool {
    let m = inst.desc.mnemonic;
    let zero = m.starts_with("v_xor_") || m.starts_with("s_xor_") || m.starts_with("v_sub_u32");
    zero && inst.operands.len() == 3 && inst.operands[1] == inst.operands[2]
}

/// The registers of a wave.
#[derive(Clone, Default)]
pub(super) struct Registers {
    /// By slot: lanes that have been written.
    vectors: Vec<u64>,
    /// By number.
    scalars: u128,
}

impl Registers {
    /// The state before the first instruction: `sgprs` initial SGPRs, work-item ids in the first VGPRs.
    pub(super) fn start(&mut self, machine: &Machine, sgprs: usize, exec: u64) {
        let ids =
            if machine.target().has_packed_tid() { 1 } else { 1 + usize::from(machine.state().workitem_id) };
        self.vectors.clear();
        self.vectors.resize(machine.vector_registers(), 0);
        self.vectors.iter_mut().take(ids).for_each(|lanes| *lanes = exec);
        self.scalars = (1u128 << sgprs.min(102)) - 1;
        // FLAT_SCRATCH, XNACK_MASK, the trap handler's registers, EXEC.
        for n in (102..106).chain(108..124).chain(126..128) {
            self.scalars |= 1 << n;
        }
    }

    /// The first register that the instruction reads before anything has written it, with a lane.
    pub(super) fn unwritten(&self, cx: &Cx<'_>, info: &Info) -> Option<(Reg, Option<u8>)> {
        if info.copies.is_some() {
            return None;
        }
        let exec = cx.w.exec();
        info.reads.iter().flat_map(|r| r.units()).find_map(|unit| {
            let reg = unit.reg();
            if reg.file == RegFile::Sgpr {
                return (self.scalars >> reg.index & 1 == 0).then_some((reg, None));
            }
            let lanes = *self.vectors.get(slot(cx.machine, reg))?;
            let missing = match info.lanes {
                Lanes::Active => exec & !lanes,
                Lanes::All => !lanes,
                Lanes::Some if lanes == 0 => exec,
                Lanes::Some => 0,
            };
            (missing != 0).then_some((reg, Some(missing.trailing_zeros() as u8)))
        })
    }

    /// Notes what the instruction, which ran under `exec`, has written.
    pub(super) fn write(&mut self, cx: &Cx<'_>, step: &Step, info: &Info, exec: u64) {
        let lanes = match step.inst.desc.class {
            Class::Writelane => match cx.scalar(&step.src[1], Ty::B32) {
                Ok(lane) => 1 << (lane % 64),
                Err(_) => u64::MAX,
            },
            Class::Permlane => u64::MAX,
            _ if info.lanes == Lanes::All => u64::MAX,
            _ => exec,
        };
        for (i, unit) in info.writes.iter().flat_map(|r| r.units()).enumerate() {
            let source = info.copies.map(|r| if r.len > 1 { r.sub(i as u8 % r.len) } else { r });
            self.write_one(cx.machine, unit.reg(), source, lanes);
        }
    }

    fn write_one(&mut self, machine: &Machine, reg: Reg, source: Option<Reg>, lanes: u64) {
        let from = source.map_or(u64::MAX, |source| match source.file {
            RegFile::Sgpr if self.scalars >> source.index & 1 == 1 => u64::MAX,
            RegFile::Sgpr => 0,
            _ => self.vectors.get(slot(machine, source)).copied().unwrap_or(u64::MAX),
        });
        if reg.file == RegFile::Sgpr {
            let bit = 1u128 << reg.index;
            self.scalars = if from != 0 { self.scalars | bit } else { self.scalars & !bit };
        } else if let Some(register) = self.vectors.get_mut(slot(machine, reg)) {
            *register = *register & !lanes | from & lanes;
        }
    }
}

fn slot(machine: &Machine, reg: Reg) -> usize {
    let first = if reg.file == RegFile::Agpr { machine.state().vgprs as usize } else { 0 };
    first + usize::from(reg.index)
}
