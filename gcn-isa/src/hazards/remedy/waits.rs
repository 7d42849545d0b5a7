//! Determines the waits of an instruction that end sequences.

use bitflags::bitflags;

use crate::counters::{Counter, WaitCnt};
use crate::immediate::{Field, Immediate};
use crate::inst::Inst;
use crate::operand::Operand;
use crate::table::{Class, Modifiers};
use crate::target::InstructionSet;

/// A field of `s_waitcnt_depctr` (`s_wait_alu`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dependency {
    /// `depctr_sa_sdst`: the scalar ALU has written its results.
    SaSdst,
    /// `depctr_va_vdst`: the vector ALU has written VGPRs.
    VaVdst,
    /// `depctr_va_sdst`: the vector ALU has written SGPRs.
    VaSdst,
    /// `depctr_va_ssrc`: the vector ALU has read SGPRs.
    VaSsrc,
    /// `depctr_va_vcc`: the vector ALU has written VCC.
    VaVcc,
    /// `depctr_vm_vsrc`: memory instructions have read their registers.
    VmVsrc,
}

impl Dependency {
    /// Every dependency, in the order of the fields of [`Immediate::Dependencies`]. On some targets, the hold count precedes these fields.
    pub const ALL: [Dependency; 6] = [
        Dependency::SaSdst,
        Dependency::VaVdst,
        Dependency::VaSdst,
        Dependency::VaSsrc,
        Dependency::VaVcc,
        Dependency::VmVsrc,
    ];

    /// The immediate's field on an instruction set. The dependencies are the last fields of the immediate.
    fn field(self, set: InstructionSet) -> &'static Field {
        let fields = Immediate::Dependencies.fields(set);
        &fields[fields.len() - Dependency::ALL.len() + self as usize]
    }

    /// The name in assembly text.
    pub fn name(self) -> &'static str {
        self.field(InstructionSet::GFX11).name
    }

    /// The wait only for this dependency.
    pub const fn wait(self) -> Waits {
        Waits::from_bits_truncate(1 << self as u16)
    }

    /// The immediate that waits for the completion of some dependencies, and for nothing else.
    pub(in crate::hazards) fn immediate(of: Waits, set: InstructionSet) -> u16 {
        let all = Immediate::Dependencies.fields(set).iter().fold(0, |imm, f| imm | f.encode(u16::MAX));
        let waited = Dependency::ALL.into_iter().filter(|d| of.contains(d.wait()));
        waited.fold(all, |imm, d| imm & !d.field(set).encode(u16::MAX))
    }
}

/// True for an instruction whose only effect is to wait for dependencies, and that waits for the completion of at least one of them.
pub fn waits_for_dependencies(inst: &Inst) -> bool {
    let set = inst.desc.instruction_set();
    let waits = of(set, inst);
    let [Operand::Imm(immediate)] = inst.operands[..] else { return false };
    inst.desc.entry.immediate == Immediate::Dependencies
        && !waits.is_empty()
        && Dependency::immediate(waits, set) == immediate as u16
}

bitflags! {
    /// The operations for whose completion an instruction waits: after the wait, no operation of the kind is outstanding.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
    pub struct Waits: u16 {
        /// [`Dependency::SaSdst`].
        const SA_SDST = 1;
        /// [`Dependency::VaVdst`].
        const VA_VDST = 1 << 1;
        /// [`Dependency::VaSdst`].
        const VA_SDST = 1 << 2;
        /// [`Dependency::VaSsrc`].
        const VA_SSRC = 1 << 3;
        /// [`Dependency::VaVcc`].
        const VA_VCC = 1 << 4;
        /// [`Dependency::VmVsrc`].
        const VM_VSRC = 1 << 5;
        /// Loads from memory.
        const LOADS = 1 << 6;
        /// Stores to memory.
        const STORES = 1 << 7;
        /// LDS operations.
        const LDS = 1 << 8;
        /// Scalar memory operations.
        const SCALAR = 1 << 9;
        /// Every counter of `s_waitcnt`, all in one instruction.
        const EVERY = 1 << 10;
        /// Any counter of `s_waitcnt`, regardless of its value.
        const COUNTER = 1 << 11;
    }
}

/// The waits that a counter implies when its value is zero.
const OF_COUNTERS: [(Counter, Waits); 4] = [
    (Counter::Vm, Waits::LOADS),
    (Counter::Vs, Waits::STORES),
    (Counter::Lgkm, Waits::LDS),
    (Counter::Km, Waits::SCALAR),
];

/// The dependencies for whose completion `inst` waits.
pub(in crate::hazards) fn of(set: InstructionSet, inst: &Inst) -> Waits {
    let desc = inst.desc;
    if desc.class == Class::LdsDirect || desc.class == Class::LdsParam {
        let waits = desc.modifiers.contains(Modifiers::WAIT_VM_VSRC) && inst.mods.wait_vm_vsrc == 0;
        return if waits { Waits::VM_VSRC } else { Waits::empty() };
    }
    if desc.entry.immediate == Immediate::Dependencies {
        let immediate =
            inst.operands.iter().find_map(|o| if let Operand::Imm(n) = o { Some(*n as u16) } else { None });
        let immediate = immediate.unwrap_or_default();
        let waited = Dependency::ALL.into_iter().filter(|d| d.field(set).decode(immediate) == 0);
        return waited.fold(Waits::empty(), |all, d| all | d.wait());
    }
    let Some(wait) = WaitCnt::of(inst) else { return Waits::empty() };
    let over = OF_COUNTERS.into_iter().filter(|(counter, _)| counter.of(wait) == 0);
    let mut waits = over.fold(Waits::COUNTER, |all, (_, waits)| all | waits);
    // LDS and scalar memory share one counter on these targets.
    if waits.contains(Waits::LDS) && !Counter::Km.exists_on(set) {
        waits |= Waits::SCALAR;
    }
    let at_once = [Counter::Vm, Counter::Exp, Counter::Lgkm];
    waits.set(Waits::EVERY, at_once.into_iter().all(|counter| counter.of(wait) == 0));
    waits
}
