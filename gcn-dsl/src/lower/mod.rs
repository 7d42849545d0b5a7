//! Instruction selection: translates the IR to machine instructions on virtual registers.
//!
//! Selection is one pass over the structured IR. Each IR value gets a virtual register when its instruction is reached.
//! Constants get none: they become operands or, if the operand slot does not accept them, are moved to a register
//! there. Every instruction comes from the table by its mnemonic; `emit` picks the encoding whose slots accept the
//! operands, and copies operands that no encoding accepts. So this module contains no rules about operand kinds.
//!
//! - `call`: explicitly named instructions; `scc`: SCC among their results.
//! - `arith`: integer and floating-point arithmetic; `unary`: operations of one operand; `compare`:
//!   comparisons and selection; `convert`: conversions; `lanes`: single lanes.
//! - `scalar_float`: uniform floats, where the target has scalar instructions for them.
//! - `expand`: operations without a single instruction (reciprocals, division of floats, 64-bit
//!   multiplication).
//! - `memory`: loads, stores, kernel arguments; `constants`: the address of tables after the code.
//! - `atomic`: atomics and fences, with the sequences of the memory model.
//! - `wave`: reductions and scans over lanes.
//! - `schedule`: marks and waits of manual schedules.
//! - `control`: branches and EXEC; `exit`: divergent exits; `skip`: which branches are omitted.
//! - `combine`: peephole patterns; `pairs`: merging of two LDS accesses. Both run at the end.
//!
//! Invariants: EXEC is never zero where instructions of a body run, so that `v_readfirstlane_b32` reads an active lane.
//! Therefore a varying branch has a skip branch, and EXEC is tested after it was restored if lanes may have left. The
//! only exceptions are short bodies that `skip` permits, whose instructions have no effect without active lanes. A
//! uniform `bool` is 0 or 1 in an SGPR. A varying `bool` is a lane mask in an SGPR pair, in which the bits of inactive
//! lanes are undefined.

mod arith;
pub(crate) mod atomic;
mod call;
mod carry;
mod combine;
mod compare;
pub(crate) mod constants;
mod control;
mod convert;
mod copies;
mod division;
mod emit;
mod error;
mod exit;
mod expand;
mod lanes;
mod mask;
mod memory;
mod pairs;
mod scalar_float;
mod scc;
mod schedule;
mod skip;
mod unary;
mod undef;
mod variable;
mod wave;

use gcn_emit::kernel::UserSgprs;
use gcn_emit::text::whole_hwreg;
use gcn_isa::reg::{Reg, RegFile, TTMP};
use gcn_isa::{Operand, Target, table};
use hashbrown::{HashMap, HashSet};

pub use crate::mir::Inputs;
pub use error::{LowerCause, LowerError};

use crate::ir::named::Leaf;
use crate::ir::range::Ranges;
use crate::ir::{Inst, Kernel, Label, Place, Region, Stmt, Value, Variable, flow, uniform};
use crate::mir::{Function, MBlock, MInst, MOperand, Op, Pin, ShownPart, VReg, VSlice};
use crate::scalar::Elem;

/// Lowers `kernel` for `target` and this workgroup size.
///
/// # Errors
/// A [`LowerError`] with the location in the user's source.
pub fn lower(kernel: &Kernel, target: Target, workgroup: [u32; 3]) -> Result<(Function, Inputs), LowerError> {
    let mut cx = Lower {
        kernel,
        target,
        workgroup,
        func: Function { wave: kernel.wave(), ..Function::new(target, kernel.name.clone()) },
        values: HashMap::new(),
        variables: HashMap::new(),
        loop_depth: 0,
        inputs: Inputs::default(),
        entry: EntryRegs::default(),
        alike: uniform::alike(kernel),
        in_vector: uniform::in_vector(kernel, target),
        ranges: Ranges::of(kernel, workgroup),
        direct: variable::direct(kernel, &control::comparisons_at_use(kernel)),
        cmp_at_use: control::comparisons_at_use(kernel),
        further: HashMap::new(),
        used_atomics: atomic::used_atomics(kernel),
        scc_results: scc::scc_results(kernel),
        scc_follows: scc::scc_follows(kernel),
        // The kernel itself is a frame, which lanes leave by `return`.
        frames: vec![exit::Frame::root()],
        varying_blocks: flow::varying_blocks(kernel),
        undefined: undef::before(kernel),
        twins: lanes::Twins::default(),
        names_lds: false,
        readers: kernel.readers(),
        loc: None,
    };
    cx.func.blocks.push(MBlock::default());
    cx.entry_state();
    cx.ids_in_ttmps()?;
    cx.constants()?;
    cx.region(&kernel.body, true)?;
    cx.close_root();
    cx.end_program()?;
    // Eliminate dead code first: for every uniform float a lane is read back, but most of these reads are unused, and a
    // read would prevent patterns from folding its operand.
    crate::mir::dce::run(&mut cx.func);
    cx.func.shown = cx.shown();
    combine::run(&mut cx.func);
    copies::run(&mut cx.func);
    // An LDS access that the kernel names must stay where it is, and so must the accesses around it.
    if !cx.names_lds {
        pairs::run(&mut cx.func);
    }
    cx.start_mode();
    cx.inputs.reserve_scratch(&mut cx.func, kernel.private_bytes(), 16);
    Ok((cx.func, cx.inputs))
}

struct Lower<'k> {
    kernel: &'k Kernel,
    target: Target,
    workgroup: [u32; 3],
    func: Function,
    values: HashMap<Value, VReg>,
    variables: HashMap<Variable, VReg>,
    loop_depth: u32,
    inputs: Inputs,
    entry: EntryRegs,
    ranges: Ranges,
    /// For each value, true if it is varying but known to be the same in all lanes.
    alike: Vec<bool>,
    /// For each value, whether it is a uniform one that vector instructions compute.
    in_vector: Vec<bool>,
    /// For each value, true if it is a uniform comparison that is evaluated only where SCC is needed.
    cmp_at_use: Vec<bool>,
    /// The registers of calls' results other than the first.
    further: HashMap<(Value, u8), VReg>,
    /// The atomics whose old value is used.
    used_atomics: HashSet<Value>,
    /// The SCC results that are used: the value for each, by call and result number.
    scc_results: HashMap<(Value, u8), Value>,
    /// The SCC results whose only reader finds them still in SCC.
    scc_follows: HashSet<Value>,
    /// The enclosing frames (see `exit`), outermost first.
    frames: Vec<exit::Frame>,
    /// The labels of the blocks that some active lanes may leave while others stay.
    varying_blocks: HashSet<Label>,
    /// For each statement, by its address, the variables that have no value before it.
    undefined: undef::Undefined,
    /// The reads and writes of variables that need no copy.
    direct: variable::Direct,
    /// For scalars that vector instructions computed, the vector registers with the same values.
    twins: lanes::Twins,
    /// True if the kernel names an LDS instruction.
    names_lds: bool,
    /// For each value, the number of instructions that read it.
    readers: Vec<u32>,
    loc: Option<gcn_isa::program::SourceLoc>,
}

/// A branch whose target is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub block: usize,
    pub inst: usize,
}

/// The virtual registers for the kernel's initial state.
#[derive(Default)]
struct EntryRegs {
    kernarg: Option<VReg>,
    dispatch_packet: Option<VReg>,
    constants: Option<VReg>,
    workgroup_id: [Option<VReg>; 3],
    /// The work-item ids by dimension; all three are in the first register on targets that pack them.
    local_id: [Option<VReg>; 3],
}

/// The offset of the grid size in x in a dispatch packet; those in y and z follow (HSA Platform System Architecture,
/// 2.9.6).
const GRID_SIZE: u32 = 12;

/// A source operand before an encoding is chosen.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Src {
    /// Virtual registers.
    Reg(VSlice),
    /// A constant and the width at which an operand reads it.
    Const(u64, Width),
    /// A fixed operand: an immediate field, EXEC, VCC or M0.
    Fixed(Operand),
}

/// The width at which a constant is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Width {
    B16,
    B32,
    B64,
}

impl Width {
    fn of(elem: Elem) -> Width {
        match elem {
            Elem::F16 => Width::B16,
            e if e.bytes() == 8 => Width::B64,
            _ => Width::B32,
        }
    }
}

type Lowered<T = ()> = Result<T, LowerError>;

impl Lower<'_> {
    /// Copies the registers that the dispatcher sets to virtual registers, at the start of the kernel. Which of them
    /// are enabled depends on what the kernel reads (LLVM AMDGPU guide, Initial Kernel Execution State).
    fn entry_state(&mut self) {
        let inputs = &mut self.inputs;
        self.kernel.body.each_inst(&mut |v| match self.kernel.def(v).inst {
            Inst::KernArg { .. } => inputs.kernarg = true,
            Inst::WorkgroupId(d) => inputs.workgroup_id[d as usize] = true,
            Inst::GridSize(_) => inputs.dispatch_packet = true,
            Inst::LocalId(d) => inputs.local_id_dims = inputs.local_id_dims.max(d + 1),
            _ => {}
        });
        // The dispatcher always provides the x id; enabling it unconditionally keeps the order of the SGPRs simple.
        self.inputs.workgroup_id[0] = true;
        let initial = self.inputs.initial_sgprs(self.target);
        self.entry.dispatch_packet = initial.user_sgpr(UserSgprs::DISPATCH_PTR).map(|reg| self.live_in(reg));
        self.entry.kernarg = initial.user_sgpr(UserSgprs::KERNARG_SEGMENT_PTR).map(|reg| self.live_in(reg));
        self.entry.workgroup_id = [0, 1, 2].map(|d| initial.workgroup_id(d).map(|reg| self.live_in(reg)));
        let (dims, packed) = (self.inputs.local_id_dims, self.target.has_packed_tid());
        // Where ids are packed, all three dimensions are in the first register, which is live-in if any of them is
        // read.
        let registers = if packed { dims.min(1) } else { dims };
        for d in 0..registers {
            self.entry.local_id[usize::from(d)] = Some(self.live_in(Reg::v(d.into(), 1)));
        }
    }

    /// On targets with workgroup ids in trap temporaries: reads x from `ttmp9`, y and z from the halves of `ttmp7`
    /// (LLVM: architected SGPRs).
    fn ids_in_ttmps(&mut self) -> Lowered {
        if !self.target.has_ids_in_ttmps() {
            return Ok(());
        }
        let read = self.inputs.workgroup_id;
        let ttmp = |cx: &mut Self, n: u16| {
            let dst = cx.new_reg(RegFile::Sgpr, 1);
            cx.copy(dst, Src::Fixed(Reg::s(TTMP.index + n, 1).into()));
            dst
        };
        if read[0] {
            self.entry.workgroup_id[0] = Some(ttmp(self, 9).reg);
        }
        for (d, (mnemonic, bits)) in [(1, ("s_and_b32", 0xffff)), (2, ("s_lshr_b32", 16))] {
            if read[d] {
                let both = Src::Reg(ttmp(self, 7));
                let dst = self.new_reg(RegFile::Sgpr, 1);
                self.machine(mnemonic, &[dst], &[both, Src::Const(bits, Width::B32)])?;
                self.entry.workgroup_id[d] = Some(dst.reg);
            }
        }
        Ok(())
    }

    /// Sets the bit of MODE that kernels set at their start on some targets ([`InstructionSet::replay_mode_bit`]).
    ///
    /// [`InstructionSet::replay_mode_bit`]: gcn_isa::InstructionSet::replay_mode_bit
    fn start_mode(&mut self) {
        let (set, mode) = (self.target.instruction_set(), whole_hwreg(self.target, "HW_REG_MODE"));
        let (Some(bit), Some(mode)) = (set.replay_mode_bit(), mode) else { return };
        let rows = &mut table::find_operation(self.func.on(), "s_setreg_imm32_b32");
        let (Some(row), Some(entry)) = (rows.next(), self.func.blocks.first_mut()) else { return };
        // The register's ID is in bits 5:0 of the operand, the first bit in 10:6, and the size minus one, here 0, in 15:11.
        let field = Operand::Imm(i64::from(mode & 63) | i64::from(bit) << 6);
        let operands = [field, Operand::Literal(1)].into_iter().map(MOperand::Fixed).collect();
        let op = Op::Machine(row, row.default_mods());
        let inputs = entry.insts.iter().take_while(|inst| inst.op == Op::Copy).count();
        entry.insts.insert(inputs, MInst { op, operands, keeps_dst: false, loc: None });
    }

    /// Emits the final instruction. Its operand, if it has one, is the code 0.
    fn end_program(&mut self) -> Lowered {
        let operands =
            table::find_operation(self.func.on(), "s_endpgm").next().map_or(0, |row| row.operands.len());
        self.machine("s_endpgm", &[], &vec![Src::Fixed(Operand::Imm(0)); operands])
    }

    fn live_in(&mut self, reg: Reg) -> VReg {
        self.func.live_in.push(reg);
        let v = self.func.new_vreg(reg.file, reg.len);
        let dst = v.all(self.func.info(v));
        self.push(Op::Copy, [MOperand::Virt(dst), MOperand::Fixed(reg.into())]);
        v
    }

    /// Lowers a region. `tail` is true if nothing runs between the region's end and the end of the innermost frame that
    /// restores EXEC; constructs at the region's end then need not restore EXEC.
    fn region(&mut self, region: &Region, tail: bool) -> Lowered {
        // A vector register that is written in a branch does not contain the scalar's value on the path around the
        // branch.
        let known = self.twins.known();
        let result = self.statements(&region.stmts, tail);
        self.twins.forget_since(known);
        result
    }

    fn statements(&mut self, stmts: &[Stmt], tail: bool) -> Lowered {
        for (i, stmt) in stmts.iter().enumerate() {
            let tail = tail && i + 1 == stmts.len();
            // Statements have no numbers, so they are identified by address; the kernel does not move while it is
            // lowered.
            for var in self.undefined.remove(&std::ptr::from_ref(stmt)).unwrap_or_default() {
                let begins = self.variable(var);
                self.push(Op::Undef, [MOperand::Virt(begins)]);
            }
            match stmt {
                Stmt::Inst(v) => self.inst(*v)?,
                Stmt::If { cond, then, els } => self.lower_if(*cond, then, els, tail)?,
                Stmt::While { head, cond, body } => self.lower_while(head, *cond, body, tail)?,
                Stmt::DoWhile { body, cond } => self.lower_do_while(body, *cond)?,
                Stmt::Loop { body } => self.lower_loop(body)?,
                Stmt::Block { label, body } => self.lower_block(*label, body, tail)?,
                Stmt::Exit(label) => self.lower_exit(*label)?,
            }
        }
        Ok(())
    }

    fn inst(&mut self, v: Value) -> Lowered {
        let def = self.kernel.def(v);
        self.loc = def.loc;
        let ty = self.kernel.ty(v);
        match &def.inst {
            Inst::Const(_) => {} // placed where it is used
            Inst::KernArg { offset } => self.dispatch_load(v, self.entry.kernarg, *offset)?,
            Inst::Constants => self.alias(v, self.entry.constants),
            Inst::WorkgroupId(d) => {
                let from = self.entry.workgroup_id[*d as usize];
                self.alias(v, from);
            }
            Inst::GridSize(d) => {
                self.dispatch_load(v, self.entry.dispatch_packet, GRID_SIZE + 4 * u32::from(*d))?;
            }
            Inst::LocalId(d) => self.local_id(v, *d)?,
            Inst::Splat(a) => self.splat(v, *a)?,
            Inst::Bin(op, a, b) => self.bin(v, *op, *a, *b)?,
            Inst::Fma(a, b, c) => self.fma(v, *a, *b, *c)?,
            Inst::Un(op, a) => self.un(v, *op, *a)?,
            // The comparison is evaluated at its reader, because an instruction in between may overwrite SCC.
            Inst::Cmp(..) if self.cmp_at_use[v.0 as usize] => {}
            Inst::Cmp(pred, a, b) => self.cmp(v, *pred, *a, *b)?,
            Inst::Select(c, a, b) => self.select(v, *c, *a, *b)?,
            Inst::Cast(a) => self.cast(v, *a)?,
            Inst::Bitcast(a) => self.bitcast(v, *a)?,
            // The upper half of the 64-bit form of a mask of 32 lanes is 0.
            Inst::Extract { from, dword }
                if *dword >= self.kernel.ty(*from).registers_in(self.func.wave).1
                    && self.kernel.ty(*from).elem == Elem::Bool =>
            {
                let dst = self.define(v);
                self.copy(dst, Src::Const(0, Width::B32));
            }
            Inst::Extract { from, dword } => {
                let src = self.slice_of(*from, *dword, ty.dwords());
                let dst = self.define(v);
                self.copy(dst, src);
            }
            Inst::Concat(parts) => self.concat(v, parts),
            Inst::Load { memory, offset, manner } => self.load(v, *memory, *offset, *manner)?,
            Inst::LoadUniform { resource, offset } => self.load_uniform(v, *resource, *offset)?,
            Inst::Store { memory, offset, value, manner } => self.store(*memory, *offset, *value, *manner)?,
            Inst::Read(var) if self.direct.reads.contains(&v) => {
                let from = self.variable(*var);
                self.alias(v, Some(from.reg));
            }
            Inst::Read(var) => {
                let from = self.variable(*var);
                let dst = self.define(v);
                self.copy(dst, Src::Reg(from));
            }
            Inst::Write { var, value, keep } => self.write(*var, *value, *keep)?,
            Inst::Barrier => self.barrier()?,
            Inst::ReadFirstLane(a) => self.first_lane(v, *a)?,
            Inst::ReadLane(a, lane) => self.read_lane(v, *a, *lane)?,
            Inst::Permute { address, value }
                if self.target.permuted_lanes() < self.func.wave.lanes() as usize =>
            {
                self.permute_by_halves(v, *address, *value)?;
            }
            Inst::Permute { address, value } => {
                let (address, value) = (self.operand(*address), self.operand(*value));
                let dst = self.define(v);
                self.machine("ds_bpermute_b32", &[dst], &[address, value])?;
            }
            Inst::Ballot(a) => self.ballot(v, *a)?,
            Inst::LaneId => self.lane_id(v)?,
            Inst::Atomic(atomic) => self.atomic(v, atomic)?,
            Inst::Fence { scope, ordering } => self.fence(*scope, *ordering)?,
            Inst::Wave(wave) => self.wave(v, *wave)?,
            Inst::Schedule(what) => self.schedule(what)?,
            Inst::Machine(call) => self.call(v, call)?,
            Inst::Result { of, index } => self.further_result(v, *of, *index),
        }
        Ok(())
    }

    /// Emits the workgroup barrier: one instruction, or two on targets that separate signal and wait, where it has the
    /// number -1.
    fn barrier(&mut self) -> Lowered {
        const WORKGROUP: i64 = -1;
        if gcn_isa::table::find_operation(self.func.on(), "s_barrier").next().is_some() {
            return self.machine("s_barrier", &[], &[]);
        }
        self.machine("s_barrier_signal", &[], &[Src::Const(WORKGROUP as u64 & 0xffff_ffff, Width::B32)])?;
        self.machine("s_barrier_wait", &[], &[Src::Fixed(Operand::Imm(WORKGROUP))])
    }

    /// A new virtual register of this file and width.
    fn new_reg(&mut self, file: RegFile, len: u8) -> VSlice {
        let reg = self.func.new_vreg(file, len);
        VSlice { reg, start: 0, len }
    }

    fn temp_v(&mut self) -> VSlice {
        self.new_reg(RegFile::Vgpr, 1)
    }

    /// A new register for the value `v`.
    fn define(&mut self, v: Value) -> VSlice {
        let (file, len) = self.kernel.ty(v).registers_in(self.func.wave);
        let slice = self.new_reg(file, len);
        self.values.insert(v, slice.reg);
        slice
    }

    /// Makes `from` the register of `v`, without a copy.
    fn alias(&mut self, v: Value, from: Option<VReg>) {
        if let Some(reg) = from {
            self.values.insert(v, reg);
        }
    }

    /// The register of a value.
    fn reg(&self, v: Value) -> VSlice {
        let reg =
            self.values.get(&v).copied().unwrap_or_else(|| unreachable!("{v} is defined before it is used"));
        reg.all(self.func.info(reg))
    }

    fn variable(&mut self, var: Variable) -> VSlice {
        let ty = self.kernel.variables[var.0 as usize];
        let (file, len) = ty.registers_in(self.func.wave);
        if let Some(reg) = self.variables.get(&var) {
            return VSlice { reg: *reg, start: 0, len };
        }
        let slice = self.new_reg(file, len);
        self.variables.insert(var, slice.reg);
        if let Some(pin) = self.kernel.pins.iter().find(|pin| pin.var == var) {
            self.func.pins.push(Pin { reg: slice.reg, to: Reg { len, ..pin.to }, loc: pin.loc });
        }
        slice
    }

    /// A value as a source operand.
    fn operand(&mut self, v: Value) -> Src {
        let ty = self.kernel.ty(v);
        match &self.kernel.def(v).inst {
            // A varying bool is a lane mask.
            Inst::Const(bits) if ty.place == Place::Varying && ty.elem == Elem::Bool => {
                self.mask_of_all(*bits != 0)
            }
            // Accumulators start with a constant that is the same in each dword.
            Inst::Const(bits) if ty.place == Place::Acc => Src::Const(*bits, Width::B32),
            Inst::Const(bits) => Src::Const(*bits, Width::of(ty.elem)),
            _ => Src::Reg(self.reg(v)),
        }
    }

    /// `len` dwords of a value, from dword `start` on.
    fn slice_of(&mut self, v: Value, start: u8, len: u8) -> Src {
        match self.operand(v) {
            Src::Reg(s) => Src::Reg(VSlice { reg: s.reg, start: s.start + start, len }),
            Src::Const(bits, Width::B64) if len == 1 => {
                Src::Const(bits >> (32 * start) & 0xffff_ffff, Width::B32)
            }
            other => other,
        }
    }

    /// For each named value, the registers of its parts.
    fn shown(&self) -> Vec<ShownPart> {
        let mut shown = Vec::new();
        for (name, named) in self.kernel.debug.names.iter().enumerate() {
            for (part, leaf) in named.leaves.iter().enumerate() {
                let (reg, variable) = match leaf {
                    Leaf::Value(v) => (self.values.get(v), false),
                    Leaf::Variable(var) => (self.variables.get(var), true),
                    Leaf::Constant(..) => (None, false),
                };
                let whole = reg.map(|reg| reg.all(self.func.info(*reg)));
                shown.extend(whole.map(|of| ShownPart { name, part, of, variable }));
            }
        }
        shown
    }

    /// An error at the source location that is being lowered.
    fn error(&self, cause: LowerCause) -> LowerError {
        LowerError { at: self.loc, cause }
    }

    fn push(&mut self, op: Op, operands: impl IntoIterator<Item = MOperand>) -> &mut MInst {
        let inst = MInst { op, operands: operands.into_iter().collect(), keeps_dst: false, loc: self.loc };
        let block = self.func.blocks.last_mut().unwrap_or_else(|| unreachable!("there is always a block"));
        block.insts.push(inst);
        block.insts.last_mut().unwrap_or_else(|| unreachable!("just pushed"))
    }

    /// Starts a new block and returns its number.
    fn new_block(&mut self) -> u32 {
        self.func.blocks.push(MBlock { insts: Vec::new(), loop_depth: self.loop_depth });
        self.func.blocks.len() as u32 - 1
    }
}
