//! A kernel's code, decoded and resolved, with what its descriptor says.

use std::collections::BTreeMap;
use std::sync::Arc;

use gcn_emit::lines::{SourceLines, SourcePlace};
use gcn_emit::text::InstText;
use gcn_isa::reg::Reg;
use gcn_isa::table::Class;
use gcn_isa::{Inst, Operand, Target};

use crate::error::{Instruction, SimError};
use crate::exec::{Cx, Exec, Fault};
use crate::kernel::KernelState;
use crate::op;
use crate::probe::Probes;
use crate::step::{RegisterMap, Step};

/// Code address of offset 0, for instructions that read the program counter. Images are mapped here.
pub(crate) const CODE_BASE: u64 = 0x0000_7000_0000_0000;

/// A kernel ready to run: every instruction resolved once to a function and its operands. A copy shares them.
#[derive(Clone)]
pub struct Machine {
    target: Target,
    state: KernelState,
    /// By offset.
    steps: Arc<[Step]>,
    registers: RegisterMap,
    /// Where the code comes from, by offset.
    lines: Arc<SourceLines>,
    sram_ecc: bool,
    /// See [`Machine::with_mix_rounded_twice`].
    mix_rounded_twice: bool,
    copies_to_lds: bool,
    /// Registers to show.
    probes: Option<Arc<Probes>>,
    /// Index of the kernel's first instruction.
    entry: usize,
    /// What is wrong with instructions of an image that cannot be executed, by offset.
    faults: BTreeMap<u32, SimError>,
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
    /// Decodes `text`, the code of a kernel from its entry point on. [`crate::launch::Program`] loads whole code objects.
    ///
    /// Decoding ends where bytes that are no instruction follow one that control does not pass (`s_endpgm`, `s_branch`):
    /// padding, constants or other functions may stand there.
    ///
    /// # Errors
    /// [`SimError::Decode`], [`SimError::Unsupported`] for an instruction the simulator does not know, and
    /// [`SimError::Register`] for one that names a register beyond `state`'s allocation.
    pub fn new(target: Target, text: &[u8], state: KernelState) -> Result<Machine, SimError> {
        let mut code = BTreeMap::new();
        let mut offset = 0usize;
        let mut open = true;
        while offset < text.len() {
            match gcn_emit::decode::decode_inst(&text[offset..], target) {
                Ok((inst, size)) => {
                    open = inst.desc.falls_through();
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
        match machine.faults.values().next() {
            Some(fault) => Err(fault.clone()),
            None => Ok(machine),
        }
    }

    /// The code of an image, by offset in it, with the offset of the kernel's first instruction. An instruction that cannot
    /// be executed is an error when it is reached: other kernels may be in the image.
    pub(crate) fn of_code(
        target: Target,
        code: BTreeMap<u32, Decoded>,
        entry: u32,
        state: KernelState,
    ) -> Machine {
        let registers = RegisterMap { vgprs: state.vgprs, agprs: state.agprs, sgprs: state.sgprs };
        let mut loader = Loader { target, registers, faults: BTreeMap::new() };
        let mut steps: Vec<Step> =
            code.into_iter().map(|(offset, decoded)| loader.step(offset, decoded)).collect();
        let offsets: Vec<u32> = steps.iter().map(|s| s.offset).collect();
        for step in &mut steps {
            step.target = branch_target(step, &offsets);
        }
        let copies_to_lds = crate::mem::late::count(&mut steps);
        let entry = offsets.binary_search(&entry).unwrap_or(steps.len());
        let sram_ecc = target.supports_sramecc();
        Machine {
            target,
            state,
            steps: steps.into(),
            registers,
            sram_ecc,
            mix_rounded_twice: false,
            entry,
            faults: loader.faults,
            lines: Arc::default(),
            copies_to_lds,
            probes: None,
        }
    }

    /// Chooses whether the register file has ECC, which makes 16-bit loads clear the other half of the register
    /// (MI100 ISA 9.1.6). Set by default where the target can have it.
    #[must_use]
    pub fn with_sram_ecc(mut self, ecc: bool) -> Machine {
        self.sram_ecc = ecc;
        self
    }

    /// Chooses whether `v_fma_mixlo_f16` and `v_fma_mixhi_f16` (on gfx900 `v_mad_mixlo_f16` and `v_mad_mixhi_f16`) round the sum to
    /// f32 first and then to f16. No manual says it. LLVM takes it for granted (pull request 219723: the same two roundings as
    /// `fptrunc` of a multiply-add in f32); AMD's model of RDNA4 rounds once, which is the default here.
    #[must_use]
    pub fn with_mix_rounded_twice(mut self, twice: bool) -> Machine {
        self.mix_rounded_twice = twice;
        self
    }

    /// Tells `sink` after each execution of an instruction at one of these code offsets what its wave has in the SGPR or VGPR
    /// that is given with it, from whatever thread ran it. Waves run in any order, and each in its own.
    #[must_use]
    pub fn with_probes(
        mut self,
        at: BTreeMap<u32, Reg>,
        sink: impl Fn(crate::Probed) + Send + Sync + 'static,
    ) -> Machine {
        self.probes = (!at.is_empty()).then(|| Arc::new(Probes::new(at, Box::new(sink))));
        self
    }

    /// Registers to show.
    pub(crate) fn probes(&self) -> Option<&Probes> {
        self.probes.as_deref()
    }

    /// Gives the machine source lines for its reports, by code offset.
    #[must_use]
    pub fn with_lines(mut self, lines: impl Into<SourceLines>) -> Machine {
        self.lines = Arc::new(lines.into());
        self
    }

    /// True if some instruction loads straight to LDS.
    pub(crate) fn copies_to_lds(&self) -> bool {
        self.copies_to_lds
    }

    /// The source line of the instruction at a code offset.
    pub fn line(&self, offset: u32) -> Option<&SourcePlace> {
        self.lines.at(offset.into())
    }

    /// The same as text.
    pub(crate) fn line_text(&self, offset: u32) -> Option<String> {
        self.line(offset).map(ToString::to_string)
    }

    /// The same machine with other sizes of LDS and scratch, which do not change what the code means.
    #[must_use]
    pub(crate) fn with_sizes(mut self, lds_bytes: u32, private_bytes: u32) -> Machine {
        (self.state.lds_bytes, self.state.private_bytes) = (lds_bytes, private_bytes);
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
    pub fn text(&self, inst: &Inst) -> String {
        text(self.target, inst)
    }

    /// True if the order in which workgroups run can change the result of a kernel without data races: there are atomics that
    /// return what was there, or that round.
    pub fn depends_on_order(&self) -> bool {
        let rounds = |m: &str| ["_add_f", "_pk_add_"].iter().any(|part| m.contains(part));
        let global =
            |m: &str| ["global_atomic", "flat_atomic", "buffer_atomic"].iter().any(|p| m.starts_with(p));
        if self.syncs_globally() {
            return true;
        }
        let mut atomics = self.steps.iter().filter(|s| global(s.inst.desc.mnemonic));
        atomics.any(|s| s.inst.mods.glc || rounds(s.inst.desc.mnemonic))
    }

    /// True if there are instructions of global wave sync.
    pub(crate) fn syncs_globally(&self) -> bool {
        self.steps.iter().any(|s| s.inst.desc.class == Class::Gws)
    }

    /// What is wrong with instructions of an image that cannot be executed; reaching one is this error.
    pub fn faults(&self) -> impl Iterator<Item = SimError> {
        self.faults.iter().map(|(offset, fault)| fault.clone().at_line(self.line_text(*offset)))
    }

    /// The instruction at an index, for reports.
    pub(crate) fn named(&self, index: usize) -> Instruction {
        let step = &self.steps[index];
        let (offset, line) = (step.offset, self.line_text(step.offset));
        Instruction { offset, text: self.text(&step.inst), line }
    }

    /// The error of the instruction at `offset`, one of [`Machine::faults`].
    pub(crate) fn fault_at(&self, offset: u32) -> SimError {
        let unknown = || SimError::Decode {
            offset,
            target: self.target,
            reason: "nothing was decoded here".to_owned(),
            line: None,
        };
        let fault = self.faults.get(&offset).cloned().unwrap_or_else(unknown);
        fault.at_line(self.line_text(offset))
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Index of the kernel's first instruction.
    pub(crate) fn entry(&self) -> usize {
        self.entry
    }

    /// Where the registers are.
    pub(crate) fn registers(&self) -> &RegisterMap {
        &self.registers
    }

    pub(crate) fn vector_registers(&self) -> usize {
        (self.registers.vgprs + self.registers.agprs) as usize
    }

    pub(crate) fn has_sram_ecc(&self) -> bool {
        self.sram_ecc
    }

    pub(crate) fn rounds_mix_twice(&self) -> bool {
        self.mix_rounded_twice
    }

    pub(crate) fn code_base(&self) -> u64 {
        CODE_BASE
    }

    /// The instruction at a code address.
    pub(crate) fn index_of(&self, address: u64) -> Option<usize> {
        let offset = u32::try_from(address.checked_sub(CODE_BASE)?).ok()?;
        self.steps.binary_search_by_key(&offset, |s| s.offset).ok()
    }
}

/// What stands at an offset of the code.
pub(crate) enum Decoded {
    /// An instruction and its size.
    Inst(u32, Inst),
    /// No instruction: why, and something to stand for it.
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

    /// The registers that an instruction can name. In a unified file the AGPRs follow the VGPRs, and a VGPR number beyond
    /// `ACCUM_OFFSET` means one of them: AMD's own kernels rely on it (the `amd-aiter` wheel's flash attention for gfx942
    /// uses v160 to v235 with 256 registers and an offset of 160).
    fn reach(&self) -> RegisterMap {
        let RegisterMap { vgprs, agprs, .. } = self.registers;
        let vgprs = if self.target.has_unified_agprs() { vgprs + agprs } else { vgprs };
        RegisterMap { vgprs, ..self.registers }
    }

    fn functions(&self, offset: u32, inst: &Inst) -> Result<op::Functions, SimError> {
        check_registers(self.target, inst, offset, &self.reach())?;
        let unsupported =
            |what: String| SimError::Unsupported { offset, text: text(self.target, inst), what, line: None };
        op::of(inst, self.target).map_err(unsupported)
    }
}

fn text(target: Target, inst: &Inst) -> String {
    InstText { inst, target, program: None }.to_string()
}

/// Offset that a direct branch goes to.
pub(crate) fn branch_offset(inst: &Inst, offset: u32, size: u32) -> Option<u32> {
    if inst.desc.class != Class::Branch {
        return None;
    }
    let immediate = inst.operands.iter().rev().find_map(|o| match o {
        Operand::Imm(value) => Some(*value),
        _ => None,
    })?;
    // simm16 counts dwords from the next instruction (MI100 ISA 4.2).
    u32::try_from(i64::from(offset + size) + i64::from(immediate as i16) * 4).ok()
}

/// Index of a direct branch's target.
fn branch_target(step: &Step, offsets: &[u32]) -> Option<usize> {
    let target = branch_offset(&step.inst, step.offset, step.size)?;
    offsets.binary_search(&target).ok()
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
