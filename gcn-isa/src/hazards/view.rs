//! [`View`]: an instruction in the form in which rules examine it.

use bitflags::bitflags;
use smallvec::SmallVec;

use crate::dataflow;
use crate::hwreg::HwregField;
use crate::indexing::Indexed;
use crate::inst::{Inst, RegUse, Via};
use crate::operand::{Operand, SrcSpecial};
use crate::reg::{self, Half, Reg, RegFile};
use crate::table::{Access, Behaviours, Class, Format, ImplicitRegs, Modifiers, OperandDesc};
use crate::target::{Generation, Target};

bitflags! {
    /// The kinds of instructions that rules distinguish.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
    pub struct Kinds: u128 {
        /// Vector ALU instruction, except for matrix instructions.
        const VALU = 1;
        /// Matrix instruction.
        const MATRIX = 1 << 1;
        /// Matrix instruction of the XDL pipe, including SMFMAC.
        const XDL = 1 << 2;
        /// f32 matrix instruction, on targets where rules distinguish it.
        const SGEMM = 1 << 3;
        /// `v_mfma_f64_4x4x4`.
        const DGEMM4 = 1 << 4;
        /// `v_mfma_f64_16x16x4`.
        const DGEMM16 = 1 << 5;
        /// Dot product.
        const DL = 1 << 6;
        /// Transcendental instruction.
        const TRANS = 1 << 7;
        /// SDWA or op_sel writes the result at a position other than bit 0.
        const MOVED_RESULT = 1 << 8;
        /// Packed math instruction that reads the upper half of source 0 for its upper result.
        const PACKED_HI = 1 << 9;
        /// Scaled conversion to a format of 8 or 4 bits.
        const NARROW_CVT = 1 << 10;
        /// DPP instruction.
        const DPP = 1 << 11;
        /// `v_readlane_b32`, `v_readfirstlane_b32`.
        const READLANE = 1 << 12;
        /// `v_writelane_b32`.
        const WRITELANE = 1 << 13;
        /// `v_permlane*`.
        const PERMLANE = 1 << 14;
        /// `v_div_fmas_*`.
        const DIV_FMAS = 1 << 15;
        /// `v_fma_f64`, `v_fmac_f64`.
        const FMA64 = 1 << 16;
        /// `v_accvgpr_read_b32`.
        const ACC_READ = 1 << 17;
        /// `v_accvgpr_write_b32`.
        const ACC_WRITE = 1 << 18;
        /// Vector memory instruction.
        const VMEM = 1 << 19;
        /// LDS or GDS instruction.
        const DS = 1 << 20;
        /// Scalar memory instruction.
        const SMEM = 1 << 21;
        /// Scalar ALU or program control instruction.
        const SALU = 1 << 22;
        /// Store to memory, or atomic.
        const STORE = 1 << 23;
        /// Vector store or atomic of more than 64 bits of data.
        const WIDE_STORE = 1 << 24;
        /// Buffer instruction whose `soffset` is a register.
        const SGPR_OFFSET = 1 << 25;
        /// GDS, GWS, message or thread trace data: uses M0.
        const M0_MESSAGE = 1 << 26;
        /// LDS add-TID, or LDS DMA of a store, FLAT, global or scratch instruction: uses M0.
        const M0_LDS = 1 << 27;
        /// Buffer load into LDS: uses M0.
        const M0_BUFFER_LDS = 1 << 40;
        /// `s_movrel*`: uses M0.
        const M0_MOVREL = 1 << 28;
        /// Reads `src_lds_direct`: uses M0.
        const M0_DIRECT = 1 << 29;
        /// `s_setreg*`.
        const SETREG = 1 << 30;
        /// `s_getreg_b32`.
        const GETREG = 1 << 31;
        /// `s_getreg_b32` of MODE.
        const GETREG_MODE = 1 << 32;
        /// `s_setreg*` of MODE that covers the VSKIP bit.
        const SETREG_VSKIP = 1 << 33;
        /// `s_setreg*` of TRAPSTS.
        const SETREG_TRAPSTS = 1 << 34;
        /// `s_setvskip`.
        const SETVSKIP = 1 << 35;
        /// `s_rfe*`.
        const RFE = 1 << 36;
        /// Load from memory into LDS.
        const LDS_DMA = 1 << 37;
        /// Scalar or vector memory instruction with a result in registers.
        const LOADS = 1 << 39;
        /// Vector ALU instruction that reads VCC or half of it.
        const READS_VCC = 1 << 38;
        /// Scaled conversion to fp4 with stochastic rounding.
        const STOCHASTIC_FP4 = 1 << 41;
        /// Vector compare.
        const COMPARE = 1 << 42;
        /// `v_nop`.
        const V_NOP = 1 << 43;
        /// Direct load from LDS, including the load of a pixel's parameters.
        const LDS_DIRECT = 1 << 44;
        /// Branch, call or return.
        const BRANCH = 1 << 45;
        /// `s_nop`.
        const NOP = 1 << 46;
        /// Program control instruction: format SOPP.
        const CONTROL = 1 << 47;
        /// Vector memory instruction with an address that may be in LDS.
        const FLAT = 1 << 49;
        /// Buffer instruction.
        const BUFFER = 1 << 50;
        /// Atomic on floats in memory.
        const FLOAT_ATOMIC = 1 << 51;
        /// `s_denorm_mode`.
        const DENORM_MODE = 1 << 52;
        /// Instruction that reads EXEC, except for the vector ALU. A read as the mask of lanes is included.
        const READS_EXEC = 1 << 53;
        /// Vector ALU instruction that reads an SGPR, VCC or M0.
        const SCALAR_SOURCE = 1 << 54;
        /// `s_sendmsg` that releases the wave's VGPRs.
        const DEALLOC_VGPRS = 1 << 55;
        /// Call, return or jump by an address in a register.
        const JUMP = 1 << 56;
        /// Vector ALU instruction with a result in SGPRs, VCC or EXEC.
        const SCALAR_RESULT = 1 << 57;
        /// Vector memory instruction with a result in VGPRs.
        const VMEM_LOAD = 1 << 59;
        /// Scalar ALU instruction that writes EXEC in addition to its named result.
        const SAVES_EXEC = 1 << 60;
        /// Wait for counters or dependencies.
        const WAIT = 1 << 58;
        /// WMMA or SWMMAC of gfx12.5 with two passes.
        const WMMA_2 = 1 << 48;
        /// WMMA or SWMMAC of gfx12.5 with four passes.
        const WMMA_4 = 1 << 61;
        /// WMMA or SWMMAC of gfx12.5 with eight passes.
        const WMMA_8 = 1 << 62;
        /// Instruction that consists of two (VOPD).
        const DUAL = 1 << 63;
        /// `s_getreg_b32` of the wave's status or exception flags.
        const GETREG_STATE = 1 << 64;
        /// `ds_atomic_async_barrier_arrive_b64`.
        const ASYNC_ARRIVE = 1 << 65;
    }

    /// The role in which an instruction uses a register.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct Role: u32 {
        /// Writes a VGPR or AGPR.
        const VDST = 1;
        /// Reads a VGPR or AGPR. An old value that is partly preserved counts as read.
        const VSRC = 2;
        /// Reads a register as source A or B of a matrix or dot instruction.
        const SRC_AB = 4;
        /// Reads a register as source C of a matrix or dot instruction.
        const SRC_C = 8;
        /// Reads a register as the index or scale of a matrix instruction.
        const INDEX = 16;
        /// Reads a register as the data of a store.
        const STORE_DATA = 32;
        /// Writes an SGPR, VCC, M0 or EXEC.
        const SDST = 64;
        /// Reads an SGPR, VCC, M0 or EXEC. A read of EXEC as the mask of lanes is not included.
        const SSRC = 128;
        /// Reads a register as a lane number.
        const LANE_SELECT = 256;
        /// Reads VCCZ or EXECZ. The register of this use is VCC or EXEC.
        const ZERO_FLAG = 512;
        /// Reads a VGPR as the source that DPP permutes.
        const PERMUTED = 1024;
        /// Reads a VGPR in a DPP instruction other than as the permuted source. A read of an old value that is preserved is included.
        const UNPERMUTED = 2048;
        /// Reads an SGPR in a vector ALU instruction as the carry-in.
        const CARRY = 4096;
        /// Reads an SGPR in a vector ALU instruction in any other way.
        const CONSTANT = 8192;
        /// Writes a VGPR in a DPP instruction that does not preserve any part of the old value.
        const REPLACED = 16384;
        /// Reads an SGPR in a vector ALU instruction as the mask that selects between two sources.
        const MASK = 32768;
        /// Reads an SGPR as the base of scratch (`src_flat_scratch_base_lo`).
        const SCRATCH_BASE = 65536;
    }
}

impl Kinds {
    /// `v_mfma_f64_*`.
    pub const DGEMM: Kinds = Kinds::DGEMM4.union(Kinds::DGEMM16);
    /// Vector memory or LDS instruction.
    pub const MEMORY: Kinds = Kinds::VMEM.union(Kinds::DS);
    /// WMMA or SWMMAC of gfx12.5 that overlaps with later vector ALU instructions.
    pub const WMMA_OVERLAPPING: Kinds = Kinds::WMMA_2.union(Kinds::WMMA_4).union(Kinds::WMMA_8);
    /// Vector ALU instruction, including matrix instructions.
    pub const ANY_VALU: Kinds = Kinds::VALU.union(Kinds::MATRIX);
    /// Any instruction.
    pub const EVERY: Kinds = Kinds::VECTOR.union(Kinds::SALU).union(Kinds::SMEM);
    /// Any instruction that uses vector registers.
    pub const VECTOR: Kinds = Kinds::ANY_VALU.union(Kinds::MEMORY);
}

impl Role {
    /// All roles that write a register.
    pub const WRITES: Role = Role::VDST.union(Role::SDST);
    /// All roles that read a register.
    pub const READS: Role = Role::VSRC.union(Role::SSRC);
}

/// A register that an instruction uses, and its role.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    /// The role.
    pub role: Role,
    /// The registers.
    pub reg: Reg,
    /// The half of the register, if only one half is used and halves count as separate registers ([`Inst::half`]).
    pub half: Option<Half>,
    /// Whether the program names the registers or accesses them through an index.
    pub via: Via,
}

impl Use {
    fn named(role: Role, reg: Reg) -> Use {
        Use { role, reg, half: None, via: Via::Name }
    }
}

/// The rules whose first condition an instruction satisfies, as indices into the rules of the instruction's target.
pub(super) type Candidates = SmallVec<[u8; 12]>;

/// An instruction prepared for queries about wait states.
#[derive(Clone, Debug)]
pub struct View {
    pub(super) target: Target,
    pub(super) kinds: Kinds,
    pub(super) passes: u8,
    pub(super) opcode: u16,
    pub(super) hwreg: Option<u8>,
    pub(super) uses: SmallVec<[Use; 8]>,
    /// The union of the roles of all uses.
    pub(super) roles: Role,
    pub(super) candidates: Candidates,
    /// The kinds that the second instruction of any candidate rule may have.
    pub(super) binds: Kinds,
    pub(super) reach: u8,
    /// The registers that this instruction certainly overwrites, so that earlier instructions no longer own them. A register that is
    /// selected by an unknown index is not included.
    overwrites: SmallVec<[Reg; 2]>,
    owned: Option<Reg>,
    pub(super) crossing: Kinds,
}

impl View {
    /// The kinds and uses of `inst`, without its candidate rules. `indexed` lists the operands to which an index is added.
    pub(super) fn without_rules(target: Target, inst: &Inst, indexed: &Indexed) -> View {
        let mut view = View {
            target,
            kinds: kinds(target, inst),
            passes: inst.desc.passes_with(target, &inst.mods),
            opcode: inst.desc.id,
            hwreg: HwregField::of(inst).map(|h| h.id),
            uses: uses(inst, indexed),
            roles: Role::empty(),
            candidates: Candidates::new(),
            binds: Kinds::empty(),
            reach: 0,
            overwrites: SmallVec::new(),
            owned: None,
            crossing: Kinds::empty(),
        };
        let reads_vcc = view.uses.iter().any(|u| u.role.contains(Role::SSRC) && u.reg.overlaps(reg::VCC));
        view.kinds.set(Kinds::READS_VCC, reads_vcc && inst.desc.is_valu());
        view.kinds |= scalar_kinds(inst, &view.uses);
        view.roles = view.uses.iter().fold(Role::empty(), |all, u| all | u.role);
        let ends = if view.kinds.contains(Kinds::MATRIX) { Role::WRITES } else { Role::SDST };
        let overwrites = view.uses.iter().filter(|u| u.role.intersects(ends) && u.via < Via::Range);
        view.overwrites = overwrites.map(|u| u.reg).collect();
        view.owned = view.overwrites.iter().copied().find(|reg| *reg != reg::EXEC);
        view
    }

    /// The largest number of wait states that any rule may require after this instruction, regardless of what follows.
    pub fn reach(&self) -> u8 {
        self.reach
    }

    /// The number of matrix passes of 4 clocks each; 0 for other instructions.
    pub fn passes(&self) -> u8 {
        self.passes
    }

    /// The instruction's kinds.
    pub fn kinds(&self) -> Kinds {
        self.kinds
    }

    /// The registers that the instruction uses.
    pub fn uses(&self) -> &[Use] {
        &self.uses
    }

    /// The result that this instruction *owns*: after a later instruction has overwritten the result, rules apply only to the later
    /// instruction. A matrix instruction owns all registers that it writes, and another instruction owns the SGPRs that it writes. `None`
    /// if there is no such result.
    pub fn owned(&self) -> Option<Reg> {
        self.owned
    }

    /// The result of a matrix instruction; `None` for other instructions.
    pub fn matrix_result(&self) -> Option<Reg> {
        self.owned.filter(|_| self.kinds.contains(Kinds::MATRIX))
    }

    /// The registers of `owned` that this instruction overwrites. Bit i stands for the i-th register.
    pub(super) fn overwritten_of(&self, owned: Reg) -> u32 {
        self.overwrites.iter().fold(0, |all, reg| all | owned.shared_with(*reg))
    }

    /// True if this instruction overwrites a register and a rule about an earlier write of this register could apply to `second`.
    pub fn overwrites_for(&self, second: &View) -> bool {
        let read =
            |reg: &Reg| second.uses.iter().any(|u| u.role.contains(Role::SSRC) && u.reg.overlaps(*reg));
        let scalar = || second.kinds.contains(Kinds::VMEM) && self.overwrites.iter().any(read);
        self.kinds.contains(Kinds::MATRIX) || self.roles.contains(Role::SDST) && scalar()
    }

    /// The kinds of this instruction that matter to rules about an instruction between two others
    /// ([`Link::Crossing`](super::Link::Crossing)).
    pub fn crossing(&self) -> Kinds {
        self.crossing
    }

    /// True if this instruction, between two others, affects their [`Since`](super::Since).
    pub fn matters_between(&self) -> bool {
        !self.overwrites.is_empty() || !self.crossing().is_empty()
    }

    /// True if the instruction uses some register in one of `roles`.
    pub(super) fn uses_any(&self, roles: Role) -> bool {
        self.roles.intersects(roles)
    }

    pub(super) fn writes_scalar(&self, reg: Reg) -> bool {
        self.uses.iter().any(|u| u.role.contains(Role::SDST) && u.reg.overlaps(reg))
    }
}

/// The VSKIP bit of the MODE register.
const VSKIP_BIT: u32 = 28;

fn kinds(target: Target, inst: &Inst) -> Kinds {
    let desc = inst.desc;
    let mut kinds = Kinds::empty();
    // LLVM 22 also treats the copies between memory and LDS of gfx12.5 as vector ALU instructions (measured).
    kinds.set(Kinds::VALU, desc.is_valu() || desc.class.is_async_copy());
    if matches!(desc.class, Class::Wmma | Class::Swmmac) {
        kinds |= match desc.passes_with(target, &inst.mods) {
            2 => Kinds::WMMA_2,
            4 => Kinds::WMMA_4,
            8 => Kinds::WMMA_8,
            _ => Kinds::empty(),
        };
    }
    kinds.set(Kinds::DUAL, desc.format.is_pair());
    kinds.set(Kinds::MATRIX, inst.desc.multiplies_matrices() || desc.class == Class::MfmaLdScale);
    kinds.set(Kinds::VMEM, desc.is_vmem());
    kinds.set(Kinds::DS, desc.is_ds());
    kinds.set(Kinds::SMEM, desc.is_smem());
    kinds.set(Kinds::SALU, desc.is_salu());
    kinds |= class_kinds(inst) | whole_class_kinds(inst);
    if desc.is_valu() {
        kinds |= valu_kinds(target, inst);
    }
    if desc.is_vmem() || desc.is_smem() {
        kinds |= memory_kinds(inst);
    }
    kinds.set(Kinds::CONTROL, desc.format == Format::Sopp);
    kinds.set(Kinds::BUFFER, desc.format.is_buffer());
    kinds.set(Kinds::FLAT, matches!(desc.format, Format::Flat | Format::VFlat));
    if let Some(field) = HwregField::of(inst) {
        let set = desc.class == Class::Setreg;
        let vskip = field.covers(HwregField::MODE, VSKIP_BIT);
        kinds.set(Kinds::SETREG_VSKIP, set && vskip);
        kinds.set(Kinds::SETREG_TRAPSTS, set && field.id == HwregField::TRAPSTS);
        let get = desc.class == Class::Getreg;
        kinds.set(Kinds::GETREG_MODE, get && field.id == HwregField::MODE);
        kinds.set(Kinds::GETREG_STATE, get && HwregField::OF_STATE.contains(&field.id));
    }
    kinds
}

/// Kinds that follow from the table's class or from the mnemonic.
fn class_kinds(inst: &Inst) -> Kinds {
    match inst.desc.class {
        Class::MfmaXdl | Class::Smfmac => Kinds::XDL,
        Class::MfmaSgemm => Kinds::SGEMM,
        Class::MfmaDgemm if inst.desc.does(Behaviours::SMALL_TILE) => Kinds::DGEMM4,
        Class::MfmaDgemm => Kinds::DGEMM16,
        Class::ValuDot => Kinds::DL,
        Class::Trans | Class::TransScalar => Kinds::TRANS,
        Class::Readlane => Kinds::READLANE,
        Class::Writelane => Kinds::WRITELANE,
        Class::Permlane => Kinds::PERMLANE,
        Class::AccvgprRead => Kinds::ACC_READ,
        Class::AccvgprWrite => Kinds::ACC_WRITE,
        Class::Movrel => Kinds::M0_MOVREL,
        Class::Setreg => Kinds::SETREG,
        Class::Getreg => Kinds::GETREG,
        Class::Sendmsg if sends(inst, DEALLOC_VGPRS) => Kinds::M0_MESSAGE.union(Kinds::DEALLOC_VGPRS),
        Class::Gds | Class::Gws | Class::Sendmsg => Kinds::M0_MESSAGE,
        Class::VmemLoadLds => Kinds::M0_BUFFER_LDS.union(Kinds::LDS_DMA),
        Class::GlobalLoadLds | Class::ScratchLoadLds => Kinds::M0_LDS.union(Kinds::LDS_DMA),
        Class::VmemStoreLds => Kinds::M0_LDS,
        _ if inst.mods.gds => Kinds::M0_MESSAGE,
        _ => {
            let kinds = BEHAVIOURS.iter().filter(|b| inst.desc.does(b.0)).map(|b| b.1);
            kinds.fold(Kinds::empty(), Kinds::union)
        }
    }
}

/// Kinds that all instructions of a class have, in addition to their other kinds.
fn whole_class_kinds(inst: &Inst) -> Kinds {
    match inst.desc.class {
        Class::Cmp | Class::Cmpx => Kinds::COMPARE,
        Class::Vnop => Kinds::V_NOP,
        Class::Nop => Kinds::NOP,
        Class::Waitcnt => Kinds::WAIT,
        Class::AsyncArrive => Kinds::ASYNC_ARRIVE,
        Class::LdsDirect | Class::LdsParam => Kinds::LDS_DIRECT,
        Class::Branch if inst.desc.does(Behaviours::TO_REGISTER) => Kinds::BRANCH.union(Kinds::JUMP),
        Class::Branch if inst.desc.does(Behaviours::CALLS) => Kinds::BRANCH.union(Kinds::JUMP),
        Class::Branch => Kinds::BRANCH,
        _ => Kinds::empty(),
    }
}

/// Kinds that follow only from an instruction's behaviour flags.
const BEHAVIOURS: [(Behaviours, Kinds); 8] = [
    (Behaviours::FLOAT_ATOMIC, Kinds::FLOAT_ATOMIC),
    (Behaviours::SETS_DENORM_MODE, Kinds::DENORM_MODE),
    (Behaviours::SENDS_M0, Kinds::M0_MESSAGE),
    (Behaviours::LDS_BASE_IN_M0, Kinds::M0_LDS),
    (Behaviours::SKIPS_VECTOR, Kinds::SETVSKIP),
    (Behaviours::RETURNS_FROM_TRAP, Kinds::RFE),
    (Behaviours::SCALES_BY_VCC, Kinds::DIV_FMAS),
    (Behaviours::FUSED_F64, Kinds::FMA64),
];

/// The message by which a wave releases its VGPRs (RDNA3 ISA, S_SENDMSG).
const DEALLOC_VGPRS: i64 = 3;

fn sends(inst: &Inst, message: i64) -> bool {
    inst.operands.first() == Some(&Operand::Imm(message))
}

/// Kinds that follow from the scalar registers of an instruction.
fn scalar_kinds(inst: &Inst, uses: &[Use]) -> Kinds {
    let desc = inst.desc;
    let any =
        |role: Role, reg: &dyn Fn(Reg) -> bool| uses.iter().any(|u| u.role.intersects(role) && reg(u.reg));
    let mut kinds = Kinds::empty();
    if desc.format.is_vop() {
        let scalar = any(Role::SSRC, &|reg| !reg.overlaps(reg::EXEC) && reg != reg::NULL);
        kinds.set(Kinds::SCALAR_SOURCE, scalar);
        kinds.set(Kinds::SCALAR_RESULT, any(Role::SDST, &|_| true));
    } else {
        let masked = desc.implicit_reads.contains(ImplicitRegs::EXEC);
        kinds.set(Kinds::READS_EXEC, masked || any(Role::SSRC, &|reg| reg.overlaps(reg::EXEC)));
    }
    let saves = desc.is_salu() && desc.implicit_writes.contains(ImplicitRegs::EXEC);
    kinds.set(Kinds::SAVES_EXEC, saves);
    kinds
}

fn valu_kinds(target: Target, inst: &Inst) -> Kinds {
    let desc = inst.desc;
    let mut kinds = Kinds::empty();
    kinds.set(Kinds::DPP, inst.mods.dpp.is_some());
    kinds.set(Kinds::MOVED_RESULT, moves_result(inst));
    // Table rows without the modifier have its bits set in the encoding, except for elements of 8 and 4 bits.
    let high = match desc.modifiers.contains(Modifiers::OP_SEL_HI) {
        true => inst.mods.op_sel_hi & 1 == 1,
        false => !desc.does(Behaviours::BYTES_OR_NIBBLES),
    };
    kinds.set(Kinds::PACKED_HI, desc.format == Format::Vop3p && high);
    let narrow = target.has_narrow_conversion_hazard() && desc.does(Behaviours::NARROWS);
    kinds.set(Kinds::NARROW_CVT, narrow);
    kinds.set(Kinds::STOCHASTIC_FP4, desc.does(Behaviours::STOCHASTIC_PAIRS));
    let direct = inst.operands.contains(&Operand::Special(SrcSpecial::LdsDirect));
    kinds.set(Kinds::M0_DIRECT, direct);
    kinds
}

/// True if the result does not start at bit 0 of its register, or if SDWA selects only a part of a register.
fn moves_result(inst: &Inst) -> bool {
    let sources = inst.desc.operands.iter().filter(|o| o.name.starts_with("src")).count();
    let sdwa = inst.mods.sdwa.is_some_and(|s| s.dst_sel != 6);
    let op_sel = inst.desc.op_sel_dst_bit().is_some() && inst.mods.op_sel >> sources != 0;
    sdwa || op_sel
}

fn memory_kinds(inst: &Inst) -> Kinds {
    let desc = inst.desc;
    let mut kinds = Kinds::empty();
    let stores = !matches!(
        desc.class,
        Class::VmemLoad
            | Class::VmemLoadLds
            | Class::FlatLoad
            | Class::GlobalLoad
            | Class::GlobalLoadLds
            | Class::ScratchLoad
            | Class::ScratchLoadLds
            | Class::SmemLoad
            | Class::SmemTime
            | Class::SmemCache
            | Class::CacheCtl
    );
    kinds.set(Kinds::STORE, stores);
    let loads = desc.operands.iter().any(|o| o.access != Access::Read);
    kinds.set(Kinds::VMEM_LOAD, loads && desc.is_vmem());
    kinds.set(Kinds::LOADS, loads);
    let data = inst.operand("vdata").and_then(Operand::reg);
    kinds.set(Kinds::WIDE_STORE, desc.is_vmem() && stores && data.is_some_and(|r| r.len > 2));
    let offset = inst.operand("soffset").and_then(Operand::reg);
    kinds.set(Kinds::SGPR_OFFSET, offset.is_some());
    kinds
}

/// The SGPR that holds the lower half of the base of scratch on targets where this base is a separate source.
const SCRATCH_BASE: u16 = 102;

fn uses(inst: &Inst, indexed: &Indexed) -> SmallVec<[Use; 8]> {
    let mut uses = SmallVec::new();
    for (i, (operand, slot)) in inst.operands.iter().zip(inst.desc.operands).enumerate() {
        match *operand {
            Operand::Reg(reg) => {
                let named = RegUse::named(reg, Some(i as u8));
                indexed.reached(named).for_each(|used| operand_uses(&mut uses, inst, used, slot));
            }
            Operand::Special(SrcSpecial::Vccz) => {
                uses.push(Use::named(Role::ZERO_FLAG, reg::VCC));
            }
            Operand::Special(SrcSpecial::Execz) => {
                uses.push(Use::named(Role::ZERO_FLAG, reg::EXEC));
            }
            Operand::Special(base @ (SrcSpecial::FlatScratchBaseLo | SrcSpecial::FlatScratchBaseHi)) => {
                let first = SCRATCH_BASE + u16::from(base == SrcSpecial::FlatScratchBaseHi);
                uses.push(Use::named(Role::SCRATCH_BASE, Reg::s(first, slot.dwords)));
            }
            _ => {}
        }
    }
    // A vector ALU instruction's implicit read of VCC is a carry-in or a mask.
    let read = if inst.desc.is_valu() { Role::SSRC.union(implicit_source(inst)) } else { Role::SSRC };
    implicit_uses(&mut uses, inst.desc.implicit_reads, read);
    implicit_uses(&mut uses, inst.desc.implicit_writes, Role::SDST);
    uses
}

/// Adds the registers `used` by an operand, with their roles.
fn operand_uses(uses: &mut SmallVec<[Use; 8]>, inst: &Inst, used: RegUse, slot: &OperandDesc) {
    let RegUse { reg, via, operand } = used;
    if reg.file == RegFile::Sgpr {
        return scalar_uses(uses, inst, used, slot);
    }
    // On RDNA, an instruction that preserves the other half of a register does not read that register, according to compilers.
    let keeps_old = match inst.desc.instruction_set().generation() {
        Generation::GFX9 => inst.preserves_destination(),
        _ => inst.mods.keep_a_part() || inst.desc.modifiers.contains(Modifiers::DPP8) && !inst.mods.fi,
    };
    let half = operand.filter(|_| via == Via::Name).and_then(|i| half(inst, i));
    let keeps_half = half.is_some() && slot.access == Access::ReadWrite && inst.desc.is_valu();
    if slot.access != Access::Read {
        let replaced = inst.mods.dpp.is_some() && !keeps_old;
        let dpp = if replaced { Role::REPLACED } else { Role::empty() };
        uses.push(Use { role: Role::VDST | dpp, reg, half, via });
    }
    if slot.access != Access::Write && !keeps_half || keeps_old {
        let dpp = match inst.mods.dpp {
            Some(_) if slot.name == "src0" => Role::PERMUTED,
            Some(_) => Role::UNPERMUTED,
            None => Role::empty(),
        };
        uses.push(Use { role: Role::VSRC | dpp | position(inst, slot.name), reg, half, via });
    }
}

/// The half of a VGPR that an operand selects, including a selection by the mnemonic; `None` if it selects the whole register.
fn half(inst: &Inst, operand: u8) -> Option<Half> {
    inst.half(operand).or_else(|| {
        let desc = inst.desc;
        let says =
            desc.instruction_set().has_half_vgprs() && desc.is_valu() && desc.does(Behaviours::KEEPS_PART);
        let is_result = desc.operands[usize::from(operand)].access != Access::Read;
        (says && is_result).then(|| dataflow::half_written(inst))?
    })
}

fn scalar_uses(uses: &mut SmallVec<[Use; 8]>, inst: &Inst, used: RegUse, slot: &OperandDesc) {
    let RegUse { reg, via, .. } = used;
    if slot.access != Access::Read {
        uses.push(Use { role: Role::SDST, reg, half: None, via });
    }
    if slot.access != Access::Write {
        let mut role = Role::SSRC;
        if inst.desc.is_valu() {
            role |= if slot.name == "src2" { third_source(inst) } else { Role::CONSTANT };
        }
        if slot.name == "src1" && matches!(inst.desc.class, Class::Readlane | Class::Writelane) {
            role |= Role::LANE_SELECT;
        }
        uses.push(Use { role, reg, half: None, via });
    }
}

/// The role of a vector ALU instruction's scalar third source.
fn third_source(inst: &Inst) -> Role {
    match inst.desc {
        desc if desc.does(Behaviours::SELECTS_BY_MASK) => Role::MASK,
        desc if desc.does(Behaviours::CARRIES_IN) => Role::CARRY,
        _ => Role::CONSTANT,
    }
}

/// The role of an implicit read of VCC, which is never that of a constant.
fn implicit_source(inst: &Inst) -> Role {
    if third_source(inst) == Role::MASK { Role::MASK } else { Role::CARRY }
}

/// Adds the implicit uses. EXEC is not listed as read: every vector instruction reads it as a mask, and rules about such reads test the
/// instruction's kind.
fn implicit_uses(uses: &mut SmallVec<[Use; 8]>, registers: ImplicitRegs, role: Role) {
    let named = [
        (ImplicitRegs::VCC, reg::VCC),
        (ImplicitRegs::M0, reg::M0),
        (ImplicitRegs::FLAT_SCRATCH, reg::FLAT_SCRATCH),
        (ImplicitRegs::EXEC, reg::EXEC),
    ];
    for (flag, reg) in named {
        let mask = flag == ImplicitRegs::EXEC && role != Role::SDST;
        if registers.contains(flag) && !mask {
            uses.push(Use::named(role, reg));
        }
    }
}

/// The additional role of a vector operand that depends on its `name` in the instruction.
fn position(inst: &Inst, name: &str) -> Role {
    let dot = inst.desc.class == Class::ValuDot;
    match name {
        "vdata" => Role::STORE_DATA,
        _ if !inst.desc.multiplies_matrices() && !dot && inst.desc.class != Class::MfmaLdScale => {
            Role::empty()
        }
        "src0" | "src1" => Role::SRC_AB,
        "src2" | "vdst" => Role::SRC_C,
        _ => Role::INDEX,
    }
}
