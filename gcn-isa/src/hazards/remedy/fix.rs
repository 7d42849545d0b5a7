//! Fixes: the remedies of several rules combined, and the instructions that implement them.

use bitflags::bitflags;
use smallvec::SmallVec;

use super::rule::{Remedy, WaitField};
use super::waits::{Dependency, Waits};
use crate::immediate::Immediate;
use crate::inst::Inst;
use crate::operand::{Inline, Operand};
use crate::reg::{self, Reg};
use crate::table::{self, Modifiers};
use crate::target::{Generation, Target};

bitflags! {
    /// The remedies without parameters.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
    pub struct FixParts: u8 {
        /// [`Remedy::MoveNull`].
        const MOVE_NULL = 1;
        /// [`Remedy::WaitStores`].
        const WAIT_STORES = 1 << 1;
        /// [`WaitField::NoVmem`].
        const NO_VMEM = 1 << 2;
    }
}

/// The instructions to insert before an instruction, and the changes to the instruction's fields, that satisfy several rules together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fix {
    /// The dependencies for which the inserted `s_waitcnt_depctr` (`s_wait_alu`) waits.
    pub waits: Waits,
    /// The remedies without parameters.
    pub parts: FixParts,
    /// The VGPR that a `v_mov_b32` copies to itself ([`Remedy::MoveSource`]). `None` for other remedies.
    pub moves: Option<u16>,
    /// The number of `v_nop`s to insert ([`Remedy::VectorNops`]).
    pub vector_nops: u8,
    /// The number of wait states to insert.
    pub states: u8,
    /// The new value of the instruction's `wait_vdst` field; [`Fix::NONE`] leaves it unchanged.
    pub wait_vdst: u8,
}

/// The value that leaves a field unchanged.
const KEPT: u8 = u8::MAX;

impl Fix {
    /// The fix that changes nothing.
    pub const NONE: Fix = Fix {
        waits: Waits::empty(),
        parts: FixParts::empty(),
        moves: None,
        vector_nops: 0,
        states: 0,
        wait_vdst: KEPT,
    };

    /// True if no remedy is required.
    pub fn is_none(self) -> bool {
        self == Fix::NONE
    }

    /// The combination of both fixes.
    #[must_use]
    pub fn and(self, other: Fix) -> Fix {
        Fix {
            waits: self.waits | other.waits,
            parts: self.parts | other.parts,
            moves: self.moves.or(other.moves),
            vector_nops: self.vector_nops.max(other.vector_nops),
            states: self.states.max(other.states),
            wait_vdst: self.wait_vdst.min(other.wait_vdst),
        }
    }

    /// True if this fix includes everything that `other` requires.
    pub fn covers(self, other: Fix) -> bool {
        self.and(other) == self
    }

    /// A fix with the dependencies for which `inst` waits. It is empty if `inst` is not a wait for dependencies.
    pub fn waiting(target: Target, inst: &Inst) -> Fix {
        Fix { waits: super::waits::of(target.instruction_set(), inst), ..Fix::NONE }
    }

    pub(in crate::hazards) fn states(states: u8) -> Fix {
        Fix { states, ..Fix::NONE }
    }

    pub(in crate::hazards) fn vector_nops(count: u8) -> Fix {
        Fix { vector_nops: count, ..Fix::NONE }
    }

    /// A fix that limits the `wait_vdst` field of `inst` to `most`.
    pub(in crate::hazards) fn wait_vdst(most: u8, inst: &Inst) -> Fix {
        let has = inst.desc.modifiers.intersects(Modifiers::WAIT_VDST.union(Modifiers::WAIT_VA_VDST));
        if has && inst.mods.wait_vdst > most { Fix { wait_vdst: most, ..Fix::NONE } } else { Fix::NONE }
    }

    /// The fix that applies a remedy before `inst`.
    pub(in crate::hazards) fn of(remedy: Remedy, inst: &Inst) -> Fix {
        let part = |parts: FixParts| Fix { parts, ..Fix::NONE };
        match remedy {
            Remedy::Wait(dependency) => Fix { waits: dependency.wait(), ..Fix::NONE },
            Remedy::VectorNops(count) => Fix::vector_nops(count),
            Remedy::MoveNull => part(FixParts::MOVE_NULL),
            Remedy::WaitStores => part(FixParts::WAIT_STORES),
            Remedy::Field(WaitField::NoVmem) => {
                let waits =
                    inst.desc.modifiers.contains(Modifiers::WAIT_VM_VSRC) && inst.mods.wait_vm_vsrc > 0;
                if waits { part(FixParts::NO_VMEM) } else { Fix::NONE }
            }
            Remedy::MoveSource => {
                let source = inst.operand("src0").and_then(Operand::reg);
                Fix { moves: source.map(|r| r.index), ..Fix::NONE }
            }
            Remedy::States(states) => Fix::states(states),
            Remedy::Field(WaitField::Valus | WaitField::NoValu) => Fix::wait_vdst(0, inst),
        }
    }

    /// The instructions to insert before the instruction, in order. The wait comes first, because the move also reads its register.
    pub fn instructions(self, target: Target) -> SmallVec<[Inst; 2]> {
        let inst = |Made { name, operands, .. }| {
            let desc = table::find_mnemonic(target, name).find(|d| d.operands.len() == operands.len())?;
            Some(Inst::new(desc, operands))
        };
        self.made(target).into_iter().filter_map(inst).collect()
    }

    /// The instructions of [`Fix::instructions`] as text.
    pub fn statements(self, target: Target) -> Vec<String> {
        self.made(target)
            .into_iter()
            .map(|made| format!("{} {}", made.name, made.text).trim_end().to_owned())
            .collect()
    }

    fn made(self, target: Target) -> SmallVec<[Made; 2]> {
        let mut all = SmallVec::new();
        let mut put = |name, operands: &[Operand], text: String| {
            all.push(Made { name, operands: operands.into(), text });
        };
        if !self.waits.is_empty() {
            let immediate = Dependency::immediate(self.waits, target.instruction_set());
            let named = Dependency::ALL.into_iter().filter(|d| self.waits.contains(d.wait()));
            let named: Vec<String> = named.map(|d| format!("{}(0)", d.name())).collect();
            put(dependency_wait(target), &[Operand::Imm(immediate.into())], named.join(" "));
        }
        for _ in 0..self.vector_nops {
            put("v_nop", &[], String::new());
        }
        if let Some(vgpr) = self.moves {
            let reg = Operand::Reg(Reg::v(vgpr, 1));
            put("v_mov_b32", &[reg, reg], format!("v{vgpr}, v{vgpr}"));
        }
        if self.parts.contains(FixParts::MOVE_NULL) {
            put(
                "s_mov_b32",
                &[Operand::Reg(reg::NULL), Operand::Inline(Inline::Int(0))],
                "null, 0".to_owned(),
            );
        }
        for imm in crate::hazards::nops(self.states.into()) {
            put("s_nop", &[Operand::Imm(imm.into())], imm.to_string());
        }
        if self.parts.contains(FixParts::WAIT_STORES) {
            put("s_waitcnt_vscnt", &[Operand::Reg(reg::NULL), Operand::Imm(0)], "null, 0x0".to_owned());
        }
        all
    }

    /// A wait instruction that is equivalent to the changed fields if it is inserted before the instruction that has these fields; `None`
    /// if this fix does not change such a field.
    pub(in crate::hazards) fn field_as_wait(self, target: Target) -> Option<Inst> {
        let waits = self.parts.contains(FixParts::NO_VMEM);
        let wait = Fix { waits: Waits::VM_VSRC, ..Fix::NONE };
        if waits { wait.instructions(target).into_iter().next() } else { None }
    }

    /// True if fields of the instruction itself change.
    pub fn changes_fields(self) -> bool {
        self.wait_vdst != KEPT || self.parts.contains(FixParts::NO_VMEM)
    }

    /// Changes the fields of the instruction.
    pub fn change(self, inst: &mut Inst) {
        if self.wait_vdst != KEPT {
            inst.mods.wait_vdst = inst.mods.wait_vdst.min(self.wait_vdst);
        }
        if self.parts.contains(FixParts::NO_VMEM) {
            inst.mods.wait_vm_vsrc = 0;
        }
    }

    /// This fix without the changed fields.
    #[must_use]
    pub(crate) fn without_fields(self) -> Fix {
        Fix { wait_vdst: KEPT, parts: self.parts.difference(FixParts::NO_VMEM), ..self }
    }

    /// This fix without the wait for dependencies.
    #[must_use]
    pub(crate) fn without_waits(self) -> Fix {
        Fix { waits: Waits::empty(), ..self }
    }

    /// True if `inst` is a wait for dependencies, so that this fix's waits can be merged into it.
    pub(crate) fn strengthens(self, inst: &Inst) -> bool {
        inst.desc.entry.immediate == Immediate::Dependencies
    }

    /// Merges this fix's waits into a wait for dependencies.
    pub(crate) fn strengthen(self, inst: &mut Inst) {
        let set = inst.desc.instruction_set();
        let more = Dependency::immediate(self.waits, set);
        for operand in &mut inst.operands {
            if let Operand::Imm(immediate) = operand {
                *immediate &= i64::from(more);
            }
        }
    }
}

/// An instruction of a remedy: its name, its operands, and the operands as text.
struct Made {
    name: &'static str,
    operands: SmallVec<[Operand; 2]>,
    text: String,
}

/// The name of the instruction that waits for dependencies.
fn dependency_wait(target: Target) -> &'static str {
    if target.instruction_set().generation() == Generation::GFX12 { "s_wait_alu" } else { "s_waitcnt_depctr" }
}

impl Fix {
    /// The changed fields in assembly syntax.
    pub fn fields(self, target: Target) -> Vec<String> {
        let mut fields = Vec::new();
        if self.wait_vdst != KEPT {
            let name = if target.instruction_set().generation() == Generation::GFX12 {
                "wait_va_vdst"
            } else {
                "wait_vdst"
            };
            fields.push(format!("{name}:{}", self.wait_vdst));
        }
        if self.parts.contains(FixParts::NO_VMEM) {
            fields.push("wait_vm_vsrc:0".to_owned());
        }
        fields
    }

    /// The fix as text: `` `v_nop` before it ``, `` `wait_vdst:0` in it ``.
    pub fn words(self, target: Target) -> String {
        let quoted = |texts: Vec<String>, place: &str| {
            let all: Vec<String> = texts.iter().map(|t| format!("`{t}`")).collect();
            (!all.is_empty()).then(|| format!("{} {place} it", all.join(" and ")))
        };
        let parts = [quoted(self.statements(target), "before"), quoted(self.fields(target), "in")];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" and ")
    }
}
