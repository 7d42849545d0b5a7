//! One machine instruction: a table row with operands and modifiers.

use smallvec::SmallVec;

use crate::operand::{Operand, SrcSpecial};
use crate::reg::{self, Half, Reg, RegFile};
use crate::table::{Access, Behaviours, Class, ImplicitRegs, InstDesc, MemBytes};

pub use crate::mods::{Dpp, Mods, Sdwa};

/// A machine instruction: a row of the [table](crate::table), its operands in assembly order, and its modifiers.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// The table row.
    pub desc: &'static InstDesc,
    /// The operands, one for each of the row's [`operands`](InstDesc::operands), in the same order.
    pub operands: SmallVec<[Operand; 5]>,
    /// The modifiers. Modifiers that the row does not allow have their default values.
    pub mods: Mods,
}

/// A register that an instruction reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegUse {
    /// The registers.
    pub reg: Reg,
    /// The index into [`Inst::operands`], or `None` for an implicit register.
    pub operand: Option<u8>,
    /// Whether the program names the register or accesses it through an index.
    pub via: Via,
}

impl RegUse {
    /// A register that the program names.
    pub const fn named(reg: Reg, operand: Option<u8>) -> RegUse {
        RegUse { reg, operand, via: Via::Name }
    }
}

/// The way in which an instruction accesses a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Via {
    /// The program names the register, or the register is implicit.
    #[default]
    Name,
    /// The program names the lower bits of the register's number. The upper bits are known: `s_set_vgpr_msb` has set them.
    Msb,
    /// The instruction uses an index whose value is known ([`crate::indexing`]).
    Index,
    /// The instruction uses an index that the program bounds. The register may be this one or another that the index is meant to select.
    Range,
    /// The program names the lower bits of the register's number. The upper bits may have several values, depending on the path.
    SeveralMsbs,
    /// The instruction uses an index that is unknown, or that may not be added at all. The register may be this one or any other.
    AnyIndex,
}

impl Via {
    /// The text that a message adds to a register that the program does not name. It is empty for a register that the program names.
    pub const fn words(self) -> &'static str {
        match self {
            Via::Name => "",
            Via::Msb => ", with the upper bits that s_set_vgpr_msb has set",
            Via::SeveralMsbs => ", with upper bits that have several values",
            Via::Index | Via::Range | Via::AnyIndex => ", reached by an index",
        }
    }
}

impl Inst {
    /// The number of the `s_trap` that is `llvm.trap`: the trap handler halts the wave and puts its queue into the error state, so that
    /// control does not return (LLVM AMDGPU guide, trap handler ABI).
    pub const ABORTING_TRAP: u8 = 2;
    /// The number of the `s_trap` that is `llvm.debugtrap`: without a debugger, control returns at once (LLVM AMDGPU guide, trap handler
    /// ABI).
    pub const DEBUG_TRAP: u8 = 3;

    /// The number of the trap, the lower 8 bits of the immediate; `None` for instructions other than `s_trap`.
    pub fn trap(&self) -> Option<u8> {
        match self.operands.first() {
            Some(Operand::Imm(number)) if self.desc.class == Class::Trap => Some(*number as u8),
            _ => None,
        }
    }

    /// True if control may continue with the next instruction: [`InstDesc::falls_through`], except after the trap that ends the program
    /// ([`Inst::ABORTING_TRAP`]). On RDNA 3 but not 3.5, where that trap may have no effect, control may also continue
    /// ([`InstructionSet::ignores_trap_if_privileged`](crate::InstructionSet::ignores_trap_if_privileged)).
    ///
    /// ```
    /// use gcn_isa::{Inst, Operand, Target, table};
    /// let trap = |target, id| {
    ///     let row = table::find(target, "s_trap").next().unwrap();
    ///     Inst::new(row, [Operand::Imm(id)]).falls_through()
    /// };
    /// assert!(!trap(Target::GFX942, 2) && trap(Target::GFX942, 3));
    /// assert!(trap(Target::GFX1100, 2) && !trap(Target::GFX1151, 2) && !trap(Target::GFX1201, 2));
    /// ```
    pub fn falls_through(&self) -> bool {
        let ends = self.trap() == Some(Inst::ABORTING_TRAP)
            && !self.desc.instruction_set().ignores_trap_if_privileged();
        !ends && self.desc.falls_through()
    }

    /// True if the instruction is the last of its basic block: [`InstDesc::ends_block`], or control does not continue after it.
    pub fn ends_block(&self) -> bool {
        self.desc.ends_block() || !self.falls_through()
    }

    /// An instruction with the row's default modifiers.
    pub fn new(desc: &'static InstDesc, operands: impl IntoIterator<Item = Operand>) -> Inst {
        Inst { desc, operands: operands.into_iter().collect(), mods: desc.default_mods() }
    }

    /// The same instruction with its modifiers changed by `f`.
    #[must_use]
    pub fn with(mut self, f: impl FnOnce(&mut Mods)) -> Inst {
        f(&mut self.mods);
        self
    }

    /// The operand with the name `name` in the table row (`vdst`, `src0`, `saddr` …); `None` if the row has no such operand.
    pub fn operand(&self, name: &str) -> Option<Operand> {
        self.desc.operand_index(name).map(|i| self.operands[i])
    }

    /// The registers that the instruction reads, as the program names them, the explicit ones first. For registers that are accessed
    /// through an index, see [`crate::indexing`]. Tied operands (read and written) are included, even if a modifier makes them tied: SDWA
    /// `UNUSED_PRESERVE`, DPP (old value of the destination) and op_sel writes of half of a register. `src_vccz` and `src_execz` read the
    /// register of the flag.
    pub fn reads(&self) -> SmallVec<[RegUse; 6]> {
        let mut uses = SmallVec::new();
        for (i, (operand, desc)) in self.operands.iter().zip(self.desc.operands).enumerate() {
            if let Operand::Reg(reg) = *operand
                && (desc.access != Access::Write
                    || (reg.file != RegFile::Sgpr && self.preserves_destination()))
            {
                uses.push(RegUse::named(reg, Some(i as u8)));
            }
            if let Some(reg) = flag_of(*operand) {
                uses.push(RegUse::named(reg, None));
            }
        }
        push_implicit(&mut uses, self.desc.implicit_reads);
        uses
    }

    /// The registers that the instruction writes, as the program names them, the explicit ones first.
    pub fn writes(&self) -> SmallVec<[RegUse; 3]> {
        let mut uses = SmallVec::new();
        for (i, (operand, desc)) in self.operands.iter().zip(self.desc.operands).enumerate() {
            if let Operand::Reg(reg) = *operand
                && desc.access != Access::Read
            {
                uses.push(RegUse::named(reg, Some(i as u8)));
            }
        }
        push_implicit(&mut uses, self.desc.implicit_writes);
        uses
    }

    /// The uses of SCC ([`reg::SCC`]), which [`Inst::reads`] and [`Inst::writes`] do not contain: the read, implicit or through `src_scc`,
    /// and the write. `None` if the instruction does not read or write SCC.
    ///
    /// ```
    /// use gcn_isa::{Inst, Operand, Reg, Target, table};
    /// let row = table::find(Target::GFX942, "s_addc_u32").next().unwrap();
    /// let (read, written) = Inst::new(row, [Reg::s(0, 1), Reg::s(1, 1), Reg::s(2, 1)].map(Operand::Reg)).scc();
    /// assert!(read.is_some() && written.is_some());
    /// ```
    pub fn scc(&self) -> (Option<RegUse>, Option<RegUse>) {
        let used = |is: bool| is.then_some(RegUse::named(reg::SCC, None));
        let named = || self.operands.contains(&Operand::Special(SrcSpecial::Scc));
        let reads = self.desc.implicit_reads.contains(ImplicitRegs::SCC) || named();
        (used(reads), used(self.desc.implicit_writes.contains(ImplicitRegs::SCC)))
    }

    /// The number of the barrier of an instruction on barriers, if the program gives it as a constant: -1 is the barrier of the workgroup,
    /// positive numbers are named barriers.
    pub fn barrier(&self) -> Option<i16> {
        let number = *self.operands.first().filter(|_| self.desc.class == Class::Barrier)?;
        match number {
            Operand::Imm(number) => Some(number as i16),
            _ => number.constant64().map(|number| number as i16),
        }
    }

    /// The half of the register to which the instruction restricts its access in operand `i`, on instruction sets where a half counts as a
    /// register ([`InstructionSet::has_half_vgprs`](crate::InstructionSet::has_half_vgprs)); `None` if the instruction accesses the whole
    /// register. Sources: RDNA3 ISA, 16-bit operands and D16 loads; LLVM's D16 instructions with true16.
    ///
    /// ```
    /// use gcn_isa::reg::Half;
    /// use gcn_isa::{Inst, Operand, Reg, Target, table};
    /// let load = |target| {
    ///     let row = table::find(target, "ds_load_u8_d16_hi").next().or_else(|| table::find(target, "ds_read_u8_d16_hi").next());
    ///     Inst::new(row.unwrap(), [Reg::v(1, 1).into(), Reg::v(2, 1).into()])
    /// };
    /// assert_eq!(load(Target::GFX1100).half(0), Some(Half::High));
    /// assert_eq!(load(Target::GFX1100).half(1), None);
    /// assert_eq!(load(Target::GFX1030).half(0), None);
    /// ```
    pub fn half(&self, i: u8) -> Option<Half> {
        let slot = self.desc.operands.get(usize::from(i))?;
        if !self.desc.instruction_set().has_half_vgprs() {
            return None;
        }
        if let Some(bit) = self.desc.half_bit(slot) {
            return Some(Half::of(self.mods.op_sel >> bit & 1 == 1));
        }
        let of_memory = self.desc.mem_bytes != MemBytes::None && slot.dwords == 1;
        let high = Half::of(self.desc.does(Behaviours::HIGH_HALF));
        let loaded = slot.access != Access::Read && self.desc.does(Behaviours::KEEPS_PART);
        let narrow = high == Half::High || matches!(self.desc.mem_bytes, MemBytes::Bytes(1 | 2));
        let stored = slot.access == Access::Read && slot.is_data() && narrow;
        (of_memory && (loaded || stored)).then_some(high)
    }

    /// True if `is` returns true for one of the registers in [`Inst::reads`] and [`Inst::writes`].
    pub(crate) fn names(&self, is: impl Fn(Reg) -> bool) -> bool {
        self.operands.iter().any(|o| o.reg().or_else(|| flag_of(*o)).is_some_and(&is))
            || implied(self.desc.implicit_reads | self.desc.implicit_writes).any(is)
    }

    /// The distance in bytes from the next instruction to that to which the branch leads, if the instruction gives it as a number.
    ///
    /// ```
    /// use gcn_isa::{Inst, Operand, Target, table};
    /// let branch = |name, to| Inst::new(table::find(Target::GFX1250, name).next().unwrap(), [to]);
    /// assert_eq!(branch("s_branch", Operand::Imm(0xffff)).distance(), Some(-4));
    /// assert_eq!(branch("s_add_pc_i64", Operand::Literal64(1 << 40)).distance(), Some(1 << 40));
    /// ```
    pub fn distance(&self) -> Option<i64> {
        if self.desc.does(Behaviours::JUMPS_BY) {
            return self.operands.first()?.constant64();
        }
        match self.operands.get(self.desc.branch_operand()?)? {
            Operand::Imm(dwords) => Some(4 * i64::from(*dwords as u16 as i16)),
            _ => None,
        }
    }

    /// True if, because of a modifier, lanes or bits of the vector destination that the instruction does not write keep their old value.
    /// This includes the other half of the register for every 16-bit VOP3 result with a destination `op_sel`. It does not include EXEC
    /// masking, which applies to every vector instruction.
    pub fn preserves_destination(&self) -> bool {
        self.desc.preserves_destination(&self.mods)
    }
}

/// The register to whose zero flag the operand refers; `None` for other operands.
fn flag_of(operand: Operand) -> Option<Reg> {
    match operand {
        Operand::Special(SrcSpecial::Vccz) => Some(reg::VCC),
        Operand::Special(SrcSpecial::Execz) => Some(reg::EXEC),
        _ => None,
    }
}

fn push_implicit<const N: usize>(uses: &mut SmallVec<[RegUse; N]>, implicit: ImplicitRegs)
where
    [RegUse; N]: smallvec::Array<Item = RegUse>,
{
    for reg in implied(implicit) {
        uses.push(RegUse::named(reg, None));
    }
}

/// The registers of a set. SCC is not included ([`Inst::scc`]), nor is MODE, which is no register.
fn implied(implicit: ImplicitRegs) -> impl Iterator<Item = Reg> {
    const NAMED: [(ImplicitRegs, Reg); 4] = [
        (ImplicitRegs::EXEC, reg::EXEC),
        (ImplicitRegs::VCC, reg::VCC),
        (ImplicitRegs::M0, reg::M0),
        (ImplicitRegs::FLAT_SCRATCH, reg::FLAT_SCRATCH),
    ];
    NAMED.iter().filter(move |n| implicit.contains(n.0)).map(|n| n.1)
}
