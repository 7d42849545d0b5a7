//! A kernel's code, decoded and resolved to functions, with the settings of its descriptor; and the interface of these functions.
//!
//! The types refer to each other: a [`Machine`] consists of [`Step`]s; a step has a function ([`Exec`]), which receives the machine in its
//! context ([`Cx`]).

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gcn_emit::lines::{SourceLines, SourcePlace};
use gcn_emit::occupancy::{Mode, Occupancy, Usage, occupancy_in};
use gcn_emit::text::InstText;
use gcn_isa::reg::{Reg, RegFile};
use gcn_isa::table::{Access, Class};
use gcn_isa::{Inst, Operand, Target};

use crate::core::error::SimError;
use crate::core::fault::{Done, Next, Outcome, Ran};
use crate::core::kernel::KernelState;
use crate::core::matrix::MatrixArithmetic;
use crate::core::memory::Memory;
use crate::core::operand::{RegisterMap, Src, role};
use crate::core::overflow::Form;
use crate::core::permutation::Permutation;
use crate::core::plan::Plan;
use crate::core::probe::Probes;
use crate::core::site::Instruction;
use crate::core::trace::Trace;
use crate::core::wave::{NUMBERED, Wave};

/// The default address of code offset 0, for instructions that read the program counter.
pub(crate) const CODE_BASE: u64 = 0x0000_7000_0000_0000;

/// The function that executes an instruction.
pub(crate) trait Exec: Send + Sync {
    /// Executes the instruction. [`Cx::next`] is set if the wave does not continue with the following instruction.
    fn execute(&self, cx: &mut Cx<'_>, step: &Step) -> Done;
}

impl<F: Fn(&mut Cx<'_>, &Step) -> Outcome + Send + Sync> Exec for F {
    fn execute(&self, cx: &mut Cx<'_>, step: &Step) -> Done {
        let outcome = self(cx, step);
        cx.done(outcome)
    }
}

impl dyn Exec + '_ {
    /// As [`Exec::execute`], but returns the next step of the wave.
    #[inline(always)]
    pub(crate) fn run(&self, cx: &mut Cx<'_>, step: &Step) -> Ran {
        self.execute(cx, step)?;
        Ok(if cx.next == Next::Fall { Next::Fall } else { std::mem::take(&mut cx.next) })
    }
}

impl Cx<'_> {
    /// The outcome of an instruction in the form that [`Exec`] has.
    #[inline(always)]
    pub(crate) fn done(&mut self, outcome: Outcome) -> Done {
        match outcome {
            Ok(Next::Fall) => {}
            Ok(next) => self.next = next,
            Err(fault) => return Err(Box::new(fault)),
        }
        Ok(())
    }
}

/// The state that an instruction can access.
pub(crate) struct Cx<'a> {
    pub w: &'a mut Wave,
    pub lds: &'a mut Vec<u8>,
    pub memory: &'a Memory,
    pub machine: &'a Machine,
    /// The record of memory accesses; `None` in functional mode, which keeps no record.
    pub trace: Option<&'a mut Trace>,
    /// What the wave does after the instruction that is executed, if it does not continue with the following one.
    pub next: Next,
}

/// A resolved instruction: its function, and its operands as register slots and constants.
pub(crate) struct Step {
    /// The function in the usual rounding mode.
    pub exec: Arc<dyn Exec>,
    /// The function to use if MODE selects directed rounding; `None` if the instruction does not support that.
    pub directed: Option<Arc<dyn Exec>>,
    /// The instruction, for modifiers and messages.
    pub inst: Inst,
    /// The byte offset in the code.
    pub offset: u32,
    /// The size of the encoding in bytes.
    pub size: u32,
    /// The vector register slot of the destination, or of the data of a load.
    pub vdst: u16,
    /// The SGPR number of the scalar destination (masks, carries, scalar results, scalar data).
    pub sdst: u16,
    /// The sources by role, corresponding to `src0`, `src1` and `src2`.
    pub src: [Src; 3],
    /// The scales of A and B of a matrix instruction.
    pub scales: [Src; 2],
    /// The first SGPR of a buffer resource.
    pub rsrc: u16,
    /// The immediate field.
    pub imm: i64,
    /// The branch target as an instruction index, if known.
    pub target: Option<u32>,
    /// The DPP permutation of the lanes of source 0.
    pub dpp: Option<Permutation>,
    /// True if the last source is the old value of the destination.
    pub tied: bool,
    /// True if lanes and parts of registers stay in place: without DPP, SDWA, `op_sel` and `sext`.
    pub plain_lanes: bool,
    /// True if the sources have no modifier, DPP, SDWA or `op_sel`.
    pub plain_src: bool,
    /// True if the result has no clamp, omod, DPP, SDWA or `op_sel`.
    pub plain_dst: bool,
    /// The half of the destination register to which a 16-bit result is written, if the other half keeps its value.
    pub half: Option<u8>,
    /// The way in which the operands are read, for instructions whose f16 result may overflow.
    pub overflow: Option<Form>,
    /// The target, on whose properties some functions depend.
    pub arch: Target,
    /// For a vector instruction: how it finds its operands. Made when it is executed first, because its function knows their types.
    pub plan: OnceLock<Plan>,
}

impl Step {
    /// Resolves the operands of `inst`.
    pub(crate) fn resolve(
        inst: Inst,
        (offset, size): (u32, u32),
        target: Target,
        map: &RegisterMap,
        exec: Arc<dyn Exec>,
        directed: Option<Arc<dyn Exec>>,
    ) -> Step {
        let mods = inst.mods;
        let dpp = Permutation::of(&inst);
        let wrapped = dpp.is_some() || mods.sdwa.is_some() || mods.op_sel != 0;
        let half = half_of_destination(&inst).or(target.writes_halves().then_some(0));
        let mut step = Step {
            exec,
            directed,
            offset,
            size,
            vdst: 0,
            // Without a mask operand the mask is discarded, as for RDNA compares that write EXEC.
            sdst: NUMBERED as u16,
            src: [Src::None; 3],
            scales: [Src::None; 2],
            rsrc: 0,
            imm: 0,
            target: None,
            dpp,
            tied: false,
            plain_lanes: !wrapped && mods.sext == 0,
            plain_src: !wrapped && mods.neg == 0 && mods.abs == 0 && mods.sext == 0,
            plain_dst: !wrapped && !mods.clamp && mods.omod == 0,
            half,
            overflow: Form::of(&inst),
            arch: target,
            plan: OnceLock::new(),
            inst,
        };
        for (i, desc) in step.inst.desc.operands.iter().enumerate() {
            step.place(map, desc.name, desc.access, step.inst.operands[i]);
        }
        step
    }

    /// A copy of this step for `inst`, the same instruction with other registers.
    pub(crate) fn with(&self, inst: Inst, map: &RegisterMap) -> Step {
        let at = (self.offset, self.size);
        let step = Step::resolve(inst, at, self.arch, map, self.exec.clone(), self.directed.clone());
        Step { target: self.target, ..step }
    }

    fn place(&mut self, map: &RegisterMap, name: &str, access: Access, operand: Operand) {
        let tied = access == Access::ReadWrite;
        match (name, operand) {
            ("srsrc", Operand::Reg(reg)) => self.rsrc = reg.index,
            ("vdst" | "sdst" | "vdata" | "sdata", Operand::Reg(reg)) if access != Access::Read => {
                if reg.file == RegFile::Sgpr {
                    self.sdst = map.scalar_slot(reg);
                } else {
                    self.vdst = map.slot(reg);
                }
                if tied {
                    self.src[2] = map.source(operand);
                    self.tied = true;
                }
            }
            // In `v_swap`, the second register is both source and destination.
            ("vdst1", _) => self.src[1] = map.source(operand),
            ("scale_src0" | "scale_a", _) => self.scales[0] = map.source(operand),
            ("scale_src1" | "scale_b", _) => self.scales[1] = map.source(operand),
            (_, Operand::Imm(value)) => self.imm = value,
            _ => {
                if let Some(role) = role(name) {
                    self.src[role] = map.source(operand);
                }
            }
        }
    }
}

/// The half of the destination register to which a 16-bit result is written; `None` if the instruction does not specify a half.
fn half_of_destination(inst: &Inst) -> Option<u8> {
    let named = inst.desc.operands.iter().find(|o| o.access != Access::Read);
    let bit = named.and_then(|o| inst.desc.half_bit(o)).or(inst.desc.op_sel_dst_bit());
    bit.map(|bit| inst.mods.op_sel >> bit & 1)
}

/// A kernel ready to run: each instruction has been resolved to a function and its operands. Clones share this data.
#[derive(Clone)]
pub struct Machine {
    target: Target,
    state: KernelState,
    /// The address of code offset 0.
    base: u64,
    /// The steps, in ascending order of code offset.
    steps: Arc<[Step]>,
    registers: RegisterMap,
    /// The source positions of instructions, by code offset.
    lines: Arc<SourceLines>,
    sram_ecc: bool,
    /// See [`Machine::with_mix_rounded_twice`].
    mix_rounded_twice: bool,
    matrix: MatrixArithmetic,
    copies_to_lds: bool,
    /// The registers to report after certain instructions.
    probes: Option<Arc<Probes>>,
    /// The index of the kernel's first instruction.
    entry: usize,
    /// The errors of instructions that cannot be executed, by code offset.
    faults: Arc<BTreeMap<u32, SimError>>,
    /// See [`Machine::derived`].
    derived: Arc<Mutex<Vec<Arc<dyn Any + Send + Sync>>>>,
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

/// The result of resolving a kernel's code.
pub(crate) struct Resolved {
    /// The steps, in ascending order of code offset.
    pub steps: Vec<Step>,
    pub registers: RegisterMap,
    pub copies_to_lds: bool,
    /// The index of the kernel's first instruction.
    pub entry: usize,
    /// The errors of instructions that cannot be executed, by code offset.
    pub faults: BTreeMap<u32, SimError>,
}

impl Machine {
    pub(crate) fn of_steps(target: Target, state: KernelState, resolved: Resolved) -> Machine {
        let Resolved { steps, registers, copies_to_lds, entry, faults } = resolved;
        Machine {
            target,
            state,
            base: CODE_BASE,
            steps: steps.into(),
            registers,
            sram_ecc: target.supports_sramecc(),
            mix_rounded_twice: true,
            matrix: MatrixArithmetic::default(),
            entry,
            faults: Arc::new(faults),
            derived: Arc::default(),
            lines: Arc::default(),
            copies_to_lds,
            probes: None,
        }
    }

    /// Sets whether the register file has ECC, which makes 16-bit loads clear the other half of the register (MI100 ISA 9.1.6). By default,
    /// it has ECC on targets that support it.
    #[must_use]
    pub fn with_sram_ecc(mut self, ecc: bool) -> Machine {
        self.sram_ecc = ecc;
        self
    }

    /// Sets whether `v_fma_mixlo_f16` and `v_fma_mixhi_f16` (on gfx900 `v_mad_mixlo_f16` and `v_mad_mixhi_f16`) round the sum twice, first
    /// to f32 and then to f16. The default is true. No manual specifies the rounding. LLVM assumes two roundings (pull request 219723: the
    /// same as `fptrunc` of a multiply-add in f32); AMD's model of RDNA4 rounds once.
    #[must_use]
    pub fn with_mix_rounded_twice(mut self, twice: bool) -> Machine {
        self.mix_rounded_twice = twice;
        self
    }

    /// Sets how matrix instructions add products.
    #[must_use]
    pub fn with_matrix(mut self, matrix: MatrixArithmetic) -> Machine {
        self.matrix = matrix;
        self
    }

    /// Adds probes: after each execution of an instruction at one of the code offsets in `at`, `sink` is called with the contents of the
    /// SGPR or VGPR given for that offset. `sink` may be called from any thread. Waves run in any order, but the calls for one wave are in
    /// program order.
    #[must_use]
    pub fn with_probes(
        mut self,
        at: BTreeMap<u32, Reg>,
        sink: impl Fn(crate::Probed) + Send + Sync + 'static,
    ) -> Machine {
        self.probes = (!at.is_empty()).then(|| Arc::new(Probes::new(at, Box::new(sink))));
        self
    }

    /// The registers to report after certain instructions.
    pub(crate) fn probes(&self) -> Option<&Probes> {
        self.probes.as_deref()
    }

    /// Sets the source positions for reports, by code offset.
    #[must_use]
    pub fn with_lines(self, lines: impl Into<SourceLines>) -> Machine {
        self.with_shared_lines(Arc::new(lines.into()))
    }

    /// As [`Machine::with_lines`], with source positions that several kernels of an object share.
    #[must_use]
    pub(crate) fn with_shared_lines(mut self, lines: Arc<SourceLines>) -> Machine {
        self.lines = lines;
        self
    }

    /// The number of workgroups of `work_items` work-items that fit on a compute unit (on RDNA, a workgroup processor), if a launch adds
    /// `dynamic_lds` bytes of LDS.
    pub fn workgroups_per_cu(&self, work_items: u32, dynamic_lds: u32) -> u32 {
        let waves = work_items.div_ceil(self.state.wave_size.lanes());
        self.of_multiprocessor(&self.occupancy(waves, self.state.lds_bytes.saturating_add(dynamic_lds)))
    }

    /// The number of workgroups that fit on a compute unit (on RDNA, a workgroup processor), given an occupancy.
    pub(crate) fn of_multiprocessor(&self, occupancy: &Occupancy) -> u32 {
        let units = Mode::usual(self.target).compute_units() / self.mode().compute_units();
        occupancy.workgroups_per_cu * units.max(1)
    }

    /// The wave size, and whether a workgroup may run on both compute units of a workgroup processor.
    pub(crate) fn mode(&self) -> Mode {
        let workgroup_processor = self.target.has_workgroup_processors() && self.state.workgroup_processors;
        Mode { wave: self.state.wave_size, workgroup_processor }
    }

    /// The numbers of waves and workgroups that fit on a compute unit, or on a workgroup processor if the kernel requires one.
    pub(crate) fn occupancy(&self, waves_per_workgroup: u32, lds_bytes: u32) -> Occupancy {
        let (target, state) = (self.target, &self.state);
        let vgprs =
            if target.has_unified_agprs() { state.vgprs + state.agprs } else { state.vgprs.max(state.agprs) };
        let sgprs = state.sgprs + gcn_isa::reg::NAMED_SGPRS;
        occupancy_in(target, self.mode(), Usage { vgprs, sgprs, lds_bytes, waves_per_workgroup })
    }

    /// Sets the address of the code, from which PC-relative addresses are computed.
    #[must_use]
    pub fn at(mut self, base: u64) -> Machine {
        self.base = base;
        self
    }

    /// True if any instruction loads directly to LDS.
    pub(crate) fn copies_to_lds(&self) -> bool {
        self.copies_to_lds
    }

    /// The source line of the instruction at a code offset.
    pub fn line(&self, offset: u32) -> Option<&SourcePlace> {
        self.lines.at(offset.into())
    }

    /// The position in the user's source, as text.
    pub(crate) fn line_text(&self, offset: u32) -> Option<String> {
        self.lines.for_author(offset.into()).map(|place| place.to_string())
    }

    /// Returns this machine with other sizes of LDS and scratch.
    #[must_use]
    pub(crate) fn with_sizes(mut self, lds_bytes: u32, private_bytes: u32) -> Machine {
        (self.state.lds_bytes, self.state.private_bytes) = (lds_bytes, private_bytes);
        self
    }

    /// The target.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The settings of the kernel descriptor.
    pub fn state(&self) -> &KernelState {
        &self.state
    }

    /// The number of instructions.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// True if there are no instructions.
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

    /// True if the result of a kernel may depend on the order of workgroups even without data races, because the code uses atomics that
    /// return the old value, floating-point atomics, or global wave sync.
    pub fn depends_on_order(&self) -> bool {
        let rounds = |m: &str| ["_add_f", "_pk_add_"].iter().any(|part| m.contains(part));
        let global =
            |m: &str| ["global_atomic", "flat_atomic", "buffer_atomic"].iter().any(|p| m.starts_with(p));
        let mut atomics = self.steps.iter().filter(|s| global(s.inst.desc.mnemonic));
        self.syncs_globally() || atomics.any(|s| s.inst.mods.glc || rounds(s.inst.desc.mnemonic))
    }

    /// True if the code uses global wave sync.
    pub(crate) fn syncs_globally(&self) -> bool {
        self.steps.iter().any(|s| s.inst.desc.class == Class::Gws)
    }

    /// The errors of instructions that cannot be executed. A wave that reaches one of them stops with its error.
    pub fn faults(&self) -> impl Iterator<Item = SimError> {
        self.faults.iter().map(|(offset, fault)| fault.clone().at_line(self.line_text(*offset)))
    }

    /// The instruction at an index, for reports.
    pub(crate) fn named(&self, index: usize) -> Instruction {
        let step = &self.steps[index];
        let (offset, line) = (step.offset, self.line_text(step.offset));
        Instruction { offset, text: self.text(&step.inst), line }
    }

    /// The error of the instruction at `offset`, from [`Machine::faults`].
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

    /// The value of `make`, which depends only on `key` and on the instructions. The last value of each type is kept for further launches.
    pub(crate) fn derived<K, T>(&self, key: K, make: impl FnOnce() -> T) -> Arc<(K, T)>
    where
        K: PartialEq + Send + Sync + 'static,
        T: Send + Sync + 'static,
    {
        let mut kept = self.derived.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|kept| kept.is::<(K, T)>());
        let known = at.and_then(|at| kept[at].clone().downcast::<(K, T)>().ok());
        known.filter(|known| known.0 == key).unwrap_or_else(|| {
            let made = Arc::new((key, make()));
            match at {
                Some(at) => kept[at] = made.clone(),
                None => kept.push(made.clone()),
            }
            made
        })
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The index of the kernel's first instruction.
    pub(crate) fn entry(&self) -> usize {
        self.entry
    }

    /// The mapping from registers to slots.
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

    /// How matrix instructions add products.
    pub fn matrix(&self) -> MatrixArithmetic {
        self.matrix
    }

    pub(crate) fn code_base(&self) -> u64 {
        self.base
    }

    /// The index of the instruction at a code address.
    pub(crate) fn index_of(&self, address: u64) -> Option<u32> {
        let offset = u32::try_from(address.checked_sub(self.base)?).ok()?;
        u32::try_from(self.steps.binary_search_by_key(&offset, |s| s.offset).ok()?).ok()
    }
}

pub(crate) fn text(target: Target, inst: &Inst) -> String {
    InstText { inst, target, program: None }.to_string()
}
