//! Decodes a kernel's code and resolves each instruction to its function.

use std::collections::BTreeMap;
use std::sync::Arc;

use gcn_isa::target::Subtarget;
use gcn_isa::{Inst, Target};

use super::op::Functions;
use super::{functions, mem};
use crate::core::error::SimError;
use crate::core::fault::Fault;
use crate::core::kernel::KernelState;
use crate::core::machine::{Cx, Exec, Machine, Resolved, Step, text};
use crate::core::operand::RegisterMap;

impl Machine {
    /// Decodes `text`, the code of a kernel from its entry on. [`crate::launch::Program`] loads whole code objects.
    ///
    /// Decoding ends at the first bytes that are not an instruction, provided that the instruction before them does not fall through
    /// (`s_endpgm`, `s_branch`): padding, constants or other functions may follow.
    ///
    /// # Errors
    /// [`SimError::Decode`], [`SimError::Unsupported`] for an instruction that the simulator does not implement, and [`SimError::Register`]
    /// for one that names a register beyond `state`'s allocation.
    pub fn new(target: Target, text: &[u8], state: KernelState) -> Result<Machine, SimError> {
        let on = Subtarget { target, wave: state.wave_size };
        let mut code = BTreeMap::new();
        let mut offset = 0usize;
        let mut open = true;
        while offset < text.len() {
            match gcn_emit::decode::decode_inst(&text[offset..], on) {
                Ok((inst, size)) => {
                    open = inst.falls_through();
                    code.insert(offset as u32, Decoded::Inst(size as u32, inst));
                    offset += size;
                }
                Err(_) if !open => break,
                Err(error) => {
                    let reason = error.to_string();
                    return Err(SimError::Decode { offset: offset as u32, target, reason, line: None });
                }
            }
        }
        let machine = Machine::of_code(target, code, 0, state);
        let fault = machine.faults().next();
        fault.map_or(Ok(machine), Err)
    }

    /// Resolves the code of an image, given by offset; `entry` is the offset of the kernel's first instruction. Since the image may contain
    /// other kernels, an instruction that cannot be executed is an error only when it is reached.
    pub(crate) fn of_code(
        target: Target,
        code: BTreeMap<u32, Decoded>,
        entry: u32,
        state: KernelState,
    ) -> Machine {
        let registers = RegisterMap {
            vgprs: state.vgprs,
            agprs: state.agprs,
            sgprs: state.sgprs,
            first_named: target.addressable_sgprs() as u16,
        };
        let mut loader = Loader { target, registers, faults: BTreeMap::new() };
        let mut steps: Vec<Step> =
            code.into_iter().map(|(offset, decoded)| loader.step(offset, decoded)).collect();
        let offsets: Vec<u32> = steps.iter().map(|s| s.offset).collect();
        for step in &mut steps {
            step.target = branch_target(step, &offsets);
        }
        let copies_to_lds = mem::late::count(&mut steps);
        let entry = offsets.binary_search(&entry).unwrap_or(steps.len());
        let faults = loader.faults;
        Machine::of_steps(target, state, Resolved { steps, registers, copies_to_lds, entry, faults })
    }
}

/// The decoded word at an offset of the code.
pub(crate) enum Decoded {
    /// An instruction and its size.
    Inst(u32, Inst),
    /// No instruction: the reason, and a placeholder instruction.
    Nothing(String, Inst),
}

/// Resolves instructions one by one.
struct Loader {
    target: Target,
    registers: RegisterMap,
    faults: BTreeMap<u32, SimError>,
}

impl Loader {
    fn step(&mut self, offset: u32, decoded: Decoded) -> Step {
        let (size, inst, fault) = match decoded {
            Decoded::Inst(size, inst) => (size, inst, None),
            Decoded::Nothing(reason, inst) => {
                (4, inst, Some(SimError::Decode { offset, target: self.target, reason, line: None }))
            }
        };
        let functions = match fault {
            Some(fault) => Err(fault),
            None => self.functions(offset, &inst),
        };
        let (exec, directed) = match functions {
            Ok(functions) => functions,
            Err(fault) => {
                self.faults.insert(offset, fault);
                let refuse: Arc<dyn Exec> = Arc::new(|_: &mut Cx<'_>, _: &Step| Err(Fault::Loaded));
                (refuse.clone(), Some(refuse))
            }
        };
        Step::resolve(inst, (offset, size), self.target, &self.registers, exec, directed)
    }

    /// The registers that an instruction may name. In a unified register file the AGPRs follow the VGPRs, and a VGPR number from
    /// `ACCUM_OFFSET` on refers to an AGPR. AMD's own kernels rely on that: the flash attention kernel for gfx942 in the `amd-aiter` wheel
    /// uses v160 to v235 with 256 registers and an offset of 160.
    fn reach(&self) -> RegisterMap {
        let RegisterMap { vgprs, agprs, .. } = self.registers;
        let vgprs = if self.target.has_unified_agprs() { vgprs + agprs } else { vgprs };
        RegisterMap { vgprs, ..self.registers }
    }

    fn functions(&self, offset: u32, inst: &Inst) -> Result<Functions, SimError> {
        check_registers(self.target, inst, offset, &self.reach())?;
        let unsupported =
            |what: String| SimError::Unsupported { offset, text: text(self.target, inst), what, line: None };
        functions::of(inst, self.target, &self.registers).map_err(unsupported)
    }
}

/// The code offset of a direct branch's target.
pub(crate) fn branch_offset(inst: &Inst, offset: u32, size: u32) -> Option<u32> {
    u32::try_from(i64::from(offset + size) + inst.distance()?).ok()
}

/// The instruction index of a direct branch's target.
fn branch_target(step: &Step, offsets: &[u32]) -> Option<u32> {
    let target = branch_offset(&step.inst, step.offset, step.size)?;
    u32::try_from(offsets.binary_search(&target).ok()?).ok()
}

fn check_registers(target: Target, inst: &Inst, offset: u32, map: &RegisterMap) -> Result<(), SimError> {
    for reg in inst.operands.iter().filter_map(|o| o.reg()) {
        if let Some((register, allocated)) = map.outside(reg) {
            let (text, register) = (text(target, inst), register.to_string());
            return Err(SimError::Register { offset, text, register, allocated, line: None });
        }
    }
    Ok(())
}
