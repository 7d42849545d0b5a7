//! `s_delay_alu`: hints that let other waves issue while a result of the ALU is pending (RDNA 3 and later).
//!
//! A hint affects only performance: the hardware waits for the result even without a hint. Hence the checker never requires one. The hints
//! are those of LLVM 22's pass `AMDGPUInsertDelayAlu`: for each instruction, they state how many instructions and cycles ago the
//! instruction's operands were computed. The latencies are those of LLVM's scheduling model (`../data/latency-rdna.tsv`, measured with
//! llvm-mca).

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use crate::cfg::Cfg;
use crate::immediate::Immediate;
use crate::inst::Inst;
use crate::operand::Operand;
use crate::program::{Line, Program};
use crate::reg::{self, RegFile, RegUnit};
use crate::table::{self, Class, InstDesc};
use crate::target::Generation;
use crate::wait::Inserted;

/// The mnemonic.
const INSTRUCTION: &str = "s_delay_alu";

/// Latencies that differ from the default, by mnemonic. There is one column for RDNA 3 and later and one for earlier generations. All other
/// vector and scalar instructions have a default latency.
const LATENCIES: &str = include_str!("../data/latency-rdna.tsv");

/// The latencies of a mnemonic on RDNA 3 and later, and on earlier generations.
type Cycles = [u8; 2];

static BY_MNEMONIC: LazyLock<HashMap<&'static str, Cycles>> = LazyLock::new(|| {
    let row = |line: &'static str| {
        let mut fields = line.split('\t');
        let mut cycles = || fields.next()?.parse().ok();
        let cycles: Cycles = [cycles()?, cycles()?];
        Some(fields.next()?.split(' ').map(move |mnemonic| (mnemonic, cycles)))
    };
    LATENCIES.lines().skip(1).filter_map(row).flatten().collect()
});

/// The number of cycles until the result of an ALU instruction is available, according to LLVM 22's scheduling models of RDNA; `None` for
/// other instructions and instruction sets.
///
/// ```
/// use gcn_isa::delay::latency;
/// use gcn_isa::{Target, table};
/// let cycles = |name: &str| latency(table::find(Target::GFX1100, name).next().unwrap());
/// assert_eq!((cycles("v_mov_b32_e32"), cycles("v_exp_f32_e32")), (Some(5), Some(10)));
/// ```
pub fn latency(desc: &InstDesc) -> Option<u8> {
    Pipe::of(desc)
        .filter(|_| desc.instruction_set().has_workgroup_processors())
        .map(|pipe| cycles(desc, pipe))
}

/// The number of cycles until the result of an instruction of `pipe` is available.
fn cycles(desc: &InstDesc, pipe: Pipe) -> u8 {
    let usual = if pipe == Pipe::Scalar { 2 } else { 5 };
    let before = usize::from(desc.generation() == Generation::GFX10);
    BY_MNEMONIC.get(desc.mnemonic).map_or(usual, |cycles| cycles[before])
}

/// The positions of the instructions to which a `s_delay_alu` refers, counted from the instruction after it.
///
/// ```
/// use gcn_isa::delay::hinted;
/// use gcn_isa::{Inst, Operand, Target, table};
/// let row = table::find(Target::GFX1100, "s_delay_alu").next().unwrap();
/// // instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
/// let hint = Inst::new(row, [Operand::Imm(0x111)]);
/// assert_eq!(hinted(&hint), [Some(0), Some(1)]);
/// ```
pub fn hinted(inst: &Inst) -> [Option<usize>; 2] {
    let immediate = match inst.operands.first() {
        Some(&Operand::Imm(imm)) if inst.desc.class == Class::DelayAlu => imm as u16,
        _ => 0,
    };
    let [first, skip, second] = Immediate::Delay.fields(crate::InstructionSet::GFX11) else {
        return [None; 2];
    };
    let skipped = usize::from(skip.decode(immediate));
    [(first, 0), (second, skipped)].map(|(field, at)| (field.decode(immediate) != 0).then_some(at))
}

/// The pipe that computes a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pipe {
    Vector,
    Transcendental,
    Scalar,
}

impl Pipe {
    fn of(desc: &InstDesc) -> Option<Pipe> {
        match desc.class {
            Class::Trans | Class::TransScalar => Some(Pipe::Transcendental),
            _ if desc.is_valu() || desc.is_matrix() => Some(Pipe::Vector),
            _ if desc.is_salu() => Some(Pipe::Scalar),
            _ => None,
        }
    }
}

/// One more than the largest distance, counted in vector instructions, that a hint can express.
const MOST_VECTOR: u8 = 5;
/// One more than the largest distance, counted in transcendental instructions, that a hint can express.
const MOST_TRANSCENDENTAL: u8 = 4;
/// One more than the largest relevant number of cycles for a scalar result.
const MOST_SCALAR: u8 = 4;

/// The pending results of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Due {
    vector_cycles: u8,
    /// The number of vector instructions that were issued since the result's vector instruction.
    vectors: u8,
    transcendental_cycles: u8,
    /// The number of transcendental instructions that were issued since the result's transcendental instruction.
    transcendentals: u8,
    /// The number of vector instructions that were issued since the transcendental instruction.
    vectors_since: u8,
    scalar_cycles: u8,
}

impl Due {
    const NOTHING: Due = Due {
        vector_cycles: 0,
        vectors: MOST_VECTOR,
        transcendental_cycles: 0,
        transcendentals: MOST_TRANSCENDENTAL,
        vectors_since: MOST_VECTOR,
        scalar_cycles: 0,
    };

    fn of(pipe: Pipe, cycles: u8) -> Due {
        match pipe {
            Pipe::Vector => Due { vector_cycles: cycles, vectors: 0, ..Due::NOTHING },
            Pipe::Transcendental => {
                Due { transcendental_cycles: cycles, transcendentals: 0, vectors_since: 0, ..Due::NOTHING }
            }
            Pipe::Scalar => Due { scalar_cycles: cycles.min(MOST_SCALAR), ..Due::NOTHING },
        }
    }

    fn merge(&mut self, other: Due) {
        self.vector_cycles = self.vector_cycles.max(other.vector_cycles);
        self.vectors = self.vectors.min(other.vectors);
        self.transcendental_cycles = self.transcendental_cycles.max(other.transcendental_cycles);
        self.transcendentals = self.transcendentals.min(other.transcendentals);
        self.vectors_since = self.vectors_since.min(other.vectors_since);
        self.scalar_cycles = self.scalar_cycles.max(other.scalar_cycles);
    }

    /// Updates the results for an issued instruction that takes `cycles`. Returns true if some result is still pending.
    fn pass(&mut self, pipe: Option<Pipe>, cycles: u8) -> bool {
        let vector = u8::from(pipe == Some(Pipe::Vector));
        self.vectors += vector;
        if self.vectors >= MOST_VECTOR || self.vector_cycles <= cycles {
            (self.vectors, self.vector_cycles) = (MOST_VECTOR, 0);
        } else {
            self.vector_cycles -= cycles;
        }
        self.transcendentals += u8::from(pipe == Some(Pipe::Transcendental));
        self.vectors_since += vector;
        if self.transcendentals >= MOST_TRANSCENDENTAL || self.transcendental_cycles <= cycles {
            self.transcendentals = MOST_TRANSCENDENTAL;
            (self.vectors_since, self.transcendental_cycles) = (MOST_VECTOR, 0);
        } else {
            self.transcendental_cycles -= cycles;
        }
        self.scalar_cycles = self.scalar_cycles.saturating_sub(cycles);
        self.vector_cycles > 0 || self.transcendental_cycles > 0 || self.scalar_cycles > 0
    }

    /// The two hints, as values of `instid`; 0 means no hint. If vector and transcendental results use both hints, there is none for a
    /// scalar result.
    fn hints(self) -> [u16; 2] {
        let mut hints = [0; 2];
        if self.transcendentals < MOST_TRANSCENDENTAL {
            hints[0] = 4 + u16::from(self.transcendentals);
        }
        let mut add = |hint: u16| {
            if let Some(free) = hints.iter_mut().find(|h| **h == 0) {
                *free = hint;
            }
        };
        // A transcendental result that was issued later also arrives later, so the hint for it covers the vector
        // result.
        if self.vectors < MOST_VECTOR && self.vectors <= self.vectors_since {
            add(self.vectors.into());
        }
        if self.scalar_cycles > 0 {
            add(8 + u16::from(self.scalar_cycles));
        }
        hints
    }
}

type State = BTreeMap<RegUnit, Due>;

/// Inserts `s_delay_alu` into a program as LLVM does, after all other passes. Returns the number of inserted instructions, which is 0 on
/// instruction sets before RDNA 3. Existing `s_delay_alu` instructions are left unchanged. The positions in `waits`, which were inserted
/// earlier, are updated.
///
/// ```
/// use gcn_isa::delay::insert_delays;
/// use gcn_isa::{Inst, Program, Reg, Target, table};
/// let row = table::find(Target::GFX1100, "v_mov_b32_e32").next().unwrap();
/// let mut program = Program::new(Target::GFX1100, "example");
/// program.push(Inst::new(row, [Reg::v(1, 1).into(), Reg::v(0, 1).into()]));
/// program.push(Inst::new(row, [Reg::v(2, 1).into(), Reg::v(1, 1).into()]));
/// assert_eq!(insert_delays(&mut program, &mut []), 1);
/// assert_eq!(program.lines[1].inst.desc.mnemonic, "s_delay_alu");
/// ```
pub fn insert_delays(program: &mut Program, waits: &mut [Inserted]) -> usize {
    let set = program.target.instruction_set();
    let has_hints = matches!(set.generation(), Generation::GFX11 | Generation::GFX12);
    let Some(desc) = table::find(program.target, INSTRUCTION).next().filter(|_| has_hints) else { return 0 };
    let cfg = Cfg::build(program);
    let mut after: Vec<State> = vec![State::new(); cfg.blocks.len()];
    let mut waiting = vec![true; cfg.blocks.len()];
    while let Some(b) = waiting.iter().position(|w| *w) {
        waiting[b] = false;
        let mut state = before(&cfg, &after, b);
        walk(program, &cfg, b, &mut state, &mut |_, _| ());
        if state != after[b] {
            after[b] = state;
            cfg.blocks[b].succs.iter().for_each(|s| waiting[*s] = true);
        }
    }
    let mut hints: Vec<(usize, u16)> = Vec::new();
    for b in 0..cfg.blocks.len() {
        let mut state = before(&cfg, &after, b);
        // The index of the last hint of the block, if it has room for a second hint.
        let mut open: Option<usize> = None;
        walk(program, &cfg, b, &mut state, &mut |line, due| emit(&mut hints, &mut open, line, due));
    }
    let count = hints.len();
    let before: Vec<usize> = hints.iter().map(|hint| hint.0).collect();
    waits.iter_mut().for_each(|wait| wait.moved(&before));
    let line = |(at, imm): (usize, u16)| (at, Line::new(Inst::new(desc, [Operand::Imm(imm.into())])));
    program.insert(hints.into_iter().map(line).collect());
    count
}

/// The results that are pending at the start of a block on some path.
fn before(cfg: &Cfg, after: &[State], block: usize) -> State {
    let mut state = State::new();
    for (unit, due) in cfg.blocks[block].preds.iter().flat_map(|p| &after[*p]) {
        state.entry(*unit).and_modify(|mine| mine.merge(*due)).or_insert(*due);
    }
    state
}

/// One more than the largest distance to the instruction of the second hint.
const MOST_SKIPPED: usize = 6;

/// Adds the hint for `line`.
fn emit(hints: &mut Vec<(usize, u16)>, open: &mut Option<usize>, line: usize, due: Due) {
    let fields = Immediate::Delay.fields(crate::InstructionSet::GFX11);
    let [first, skip, second] = fields else { return };
    let wanted = due.hints();
    if wanted[0] == 0 {
        return;
    }
    if wanted[1] == 0
        && let Some(last) = open.take()
    {
        let (at, imm) = &mut hints[last];
        let skipped = line - *at;
        if skipped < MOST_SKIPPED {
            *imm |= second.encode(wanted[0]) | skip.encode(skipped as u16);
            return;
        }
    }
    hints.push((line, first.encode(wanted[0]) | second.encode(wanted[1])));
    *open = (wanted[1] == 0).then(|| hints.len() - 1);
}

/// Goes through a block and calls `needs` with the pending results that each ALU instruction reads.
fn walk(program: &Program, cfg: &Cfg, block: usize, state: &mut State, needs: &mut dyn FnMut(usize, Due)) {
    let mut last_scalar_of_vector: Option<RegUnit> = None;
    for line in cfg.blocks[block].start..cfg.blocks[block].end {
        let inst = &*program.lines[line].inst;
        let pipe = Pipe::of(inst.desc);
        if waits_for_scalar_results(inst)
            && let Some(due) = last_scalar_of_vector.and_then(|unit| state.get(&unit)).copied()
        {
            state.retain(|_, other| other.vectors < due.vectors || other.vector_cycles == 0);
            last_scalar_of_vector = None;
        }
        if waits_for_vectors(inst) {
            state.clear();
        } else if let Some(pipe) = pipe {
            let mut due = Due::NOTHING;
            for unit in explicit(inst, false) {
                if let Some(known) = state.remove(&unit) {
                    due.merge(known);
                }
            }
            if pipe != Pipe::Scalar
                && let Some(unit) = explicit(inst, true).find(|u| u.reg().file == RegFile::Sgpr)
            {
                last_scalar_of_vector = Some(unit);
            }
            needs(line, due);
        }
        if let Some(pipe) = pipe {
            for unit in explicit(inst, true) {
                state.insert(unit, Due::of(pipe, cycles(inst.desc, pipe)));
            }
        }
        let cycles = crate::hazards::wait_states(inst).clamp(1, u32::from(u8::MAX) / 2) as u8;
        state.retain(|_, due| due.pass(pipe, cycles));
    }
}

/// The registers of the explicit operands that are written, or of those that are read. In the short encodings, VCC is implicit, although
/// the text shows it.
fn explicit(inst: &Inst, written: bool) -> impl Iterator<Item = RegUnit> {
    let short = inst.desc.format.is_vop() && !inst.desc.is_vop3();
    let used = inst.operands.iter().zip(inst.desc.operands).filter_map(move |(operand, slot)| {
        let reg = operand.reg()?;
        let access = if written { table::Access::Read } else { table::Access::Write };
        let implied = short && !slot.is_source() && reg::VCC.covers(reg);
        (slot.access != access && !implied && reg != reg::NULL).then_some(reg)
    });
    used.flat_map(crate::Reg::units)
}

/// True if an instruction issues only after all vector ALU results are available.
fn waits_for_vectors(inst: &Inst) -> bool {
    let desc = inst.desc;
    let va_vdst = "depctr_va_vdst";
    let field = desc.entry.immediate.fields(desc.instruction_set()).iter().find(|f| f.name == va_vdst);
    let waited = match (field, inst.operands.last()) {
        (Some(field), Some(Operand::Imm(imm))) => field.decode(*imm as u16) == 0,
        _ => false,
    };
    waited || desc.is_vmem() || desc.is_ds()
}

/// True if an instruction issues only after the vector ALU has written its SGPRs.
fn waits_for_scalar_results(inst: &Inst) -> bool {
    let reads = || explicit(inst, false).any(|u| u.reg().file == RegFile::Sgpr);
    inst.desc.is_smem() || inst.desc.is_salu() && reads()
}
