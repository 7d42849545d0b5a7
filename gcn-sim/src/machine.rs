//! A kernel's code, decoded and resolved, with what its descriptor says.

use std::collections::HashMap;

use gcn_emit::text::InstText;
use gcn_isa::table::Class;
use gcn_isa::{Inst, Operand, Target};

use crate::error::SimError;
use crate::kernel::KernelState;
use crate::op;
use crate::step::{RegisterMap, Step};

/// Code address of the first byte, for instructions that read the program counter.
const CODE_BASE: u64 = 0x0000_7000_0000_0000;

/// A kernel ready to run: every instruction resolved once to a function and its operands.
pub struct Machine {
    target: Target,
    state: KernelState,
    steps: Vec<Step>,
    /// Instruction index by byte offset.
    index: HashMap<u32, usize>,
    registers: RegisterMap,
    sram_ecc: bool,
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Machine { target, state, steps, .. } = self;
        f.debug_struct("Machine")
            .field("target", target)
            .field("state", state)
            .field("steps", &steps.len())
            .finish_non_exhaustive()
    }
}

impl Machine {
    /// Decodes `text`, the code of a kernel from its entry point on.
    ///
    /// Decoding ends where bytes that are no instruction follow one that control does not pass (`s_endpgm`, `s_branch`):
    /// padding, constants or other functions may stand there.
    ///
    /// # Errors
    /// [`SimError::Decode`], [`SimError::Unsupported`] for an instruction the simulator does not know, and
    /// [`SimError::Register`] for one that names a register beyond `state`'s allocation.
    pub fn new(target: Target, text: &[u8], state: KernelState) -> Result<Machine, SimError> {
        let mut code = Vec::new();
        let mut offset = 0usize;
        while offset < text.len() {
            match gcn_emit::decode::decode_inst(&text[offset..], target) {
                Ok((inst, size)) => {
                    code.push((offset as u32, size as u32, inst));
                    offset += size;
                }
                Err(_) if code.last().is_some_and(|(_, _, last)| !last.desc.falls_through()) => break,
                Err(error) => {
                    return Err(SimError::Decode {
                        offset: offset as u32,
                        target,
                        reason: error.to_string(),
                    });
                }
            }
        }
        Machine::from_code(target, code, state)
    }

    fn from_code(
        target: Target,
        code: Vec<(u32, u32, Inst)>,
        state: KernelState,
    ) -> Result<Machine, SimError> {
        let registers = RegisterMap { vgprs: state.vgprs, agprs: state.agprs, sgprs: state.sgprs };
        let index: HashMap<u32, usize> = code.iter().enumerate().map(|(i, c)| (c.0, i)).collect();
        let mut steps = Vec::with_capacity(code.len());
        for (offset, size, inst) in code {
            check_registers(target, &inst, offset, &registers)?;
            let unsupported =
                |what: String| SimError::Unsupported { offset, text: text(target, &inst), what };
            let (exec, directed) = op::of(&inst, target).map_err(unsupported)?;
            let mut step = Step::resolve(inst, (offset, size), target, &registers, exec, directed);
            step.target = branch_target(&step, &index);
            steps.push(step);
        }
        Ok(Machine { target, state, steps, index, registers, sram_ecc: target.supports_sramecc() })
    }

    /// Chooses whether the register file has ECC, which makes 16-bit loads clear the other half of the register
    /// (MI100 ISA 9.1.6). Set by default where the target can have it.
    #[must_use]
    pub fn with_sram_ecc(mut self, ecc: bool) -> Machine {
        self.sram_ecc = ecc;
        self
    }

    /// The target.
    pub fn target(&self) -> Target {
        self.target
    }

    /// What the kernel descriptor says.
    pub fn state(&self) -> &KernelState {
        &self.state
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// True if there is no instruction.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The instructions with their byte offsets.
    pub fn instructions(&self) -> impl Iterator<Item = (u32, &Inst)> {
        self.steps.iter().map(|s| (s.offset, &s.inst))
    }

    /// An instruction as assembly text.
    pub(crate) fn text(&self, inst: &Inst) -> String {
        text(self.target, inst)
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(crate) fn vector_registers(&self) -> usize {
        (self.registers.vgprs + self.registers.agprs) as usize
    }

    pub(crate) fn has_sram_ecc(&self) -> bool {
        self.sram_ecc
    }

    pub(crate) fn code_base(&self) -> u64 {
        CODE_BASE
    }

    /// The instruction at a code address.
    pub(crate) fn index_of(&self, address: u64) -> Option<usize> {
        let offset = u32::try_from(address.checked_sub(CODE_BASE)?).ok()?;
        self.index.get(&offset).copied()
    }
}

fn text(target: Target, inst: &Inst) -> String {
    InstText { inst, target, program: None }.to_string()
}

/// Index of a direct branch's target.
fn branch_target(step: &Step, index: &HashMap<u32, usize>) -> Option<usize> {
    if step.inst.desc.class != Class::Branch
        || !step.inst.operands.iter().any(|o| matches!(o, Operand::Imm(_)))
    {
        return None;
    }
    // simm16 counts dwords from the next instruction (MI100 ISA 4.2).
    let next = i64::from(step.offset + step.size);
    let target = u32::try_from(next + i64::from(step.imm as i16) * 4).ok()?;
    index.get(&target).copied()
}

fn check_registers(target: Target, inst: &Inst, offset: u32, map: &RegisterMap) -> Result<(), SimError> {
    for reg in inst.operands.iter().filter_map(|o| o.reg()) {
        if let Some((register, allocated)) = map.outside(reg) {
            let (text, register) = (text(target, inst), register.to_string());
            return Err(SimError::Register { offset, text, register, allocated });
        }
    }
    Ok(())
}
