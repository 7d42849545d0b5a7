//! An estimate of register pressure: the number of live registers of each file.
//!
//! A virtual register is local if only one block names it and that block defines it before reading it; it is live from
//! its first to its last mention. Any other register counts as live in every block from the first to the last one that
//! names it. That part of the pressure is the same for every order of a block, so only its size matters. All dwords of
//! a tuple count as long as one is live.

use gcn_isa::reg::RegFile;
use gcn_isa::table::Access;
use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::mir::{Function, MInst, MOperand, Op, VReg};

/// The number of live registers in each of the three files: SGPR, VGPR, AGPR.
pub(super) type Counts = [u32; 3];

/// The number of registers of each file that an order may use in any case: for SGPRs, a number below that of the
/// addressable ones; for VGPRs and AGPRs, the number with which four waves fit on a SIMD with 512 registers.
const GRANTED: Counts = [80, 128, 128];

/// The largest number of registers of each file that an order may need.
#[derive(Clone, Copy)]
pub(super) struct Budget(Counts);

impl Budget {
    /// The budget for a window whose original order needs `original` registers: for each file, that number or the
    /// granted one, whichever is larger.
    pub fn above(original: Counts) -> Budget {
        let mut most = GRANTED;
        for (most, count) in most.iter_mut().zip(original) {
            // The budget is never below the original order's need, so that an order that needs no more is always
            // acceptable.
            *most = count.max(*most);
        }
        Budget(most)
    }

    /// True if `counts` is within the budget.
    pub fn allows(self, counts: Counts) -> bool {
        counts.iter().zip(self.0).all(|(&count, most)| count <= most)
    }
}

/// The live ranges of a function's registers.
pub(super) struct Pressure {
    /// For each register that is local to a block, its first and last mention.
    local_spans: Vec<Option<Span>>,
    /// For each block, the number of registers that are live throughout it.
    everywhere: Vec<Counts>,
}

/// The first and the last mention of a register.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// Block and instruction of the first mention.
    first: (usize, usize),
    /// Block and instruction of the last mention.
    last: (usize, usize),
    /// True if the first mention defines the register without reading an old value.
    defined: bool,
}

impl Pressure {
    /// Computes the live ranges.
    pub fn of(f: &Function) -> Pressure {
        let spans = spans(f);
        let mut steps = vec![[0i64; 3]; f.blocks.len() + 1];
        let mut local_spans = Vec::with_capacity(spans.len());
        for (span, info) in spans.into_iter().zip(&f.vregs) {
            // If a block reads a register before writing it, the value comes from another block, or from the previous
            // execution of the same block in a loop.
            let local = span.filter(|s| s.first.0 == s.last.0 && s.defined);
            if let (Some(s), None) = (span, local) {
                steps[s.first.0][info.file as usize] += i64::from(info.len);
                steps[s.last.0 + 1][info.file as usize] -= i64::from(info.len);
            }
            local_spans.push(local);
        }
        let mut now = [0i64; 3];
        let mut everywhere = Vec::with_capacity(f.blocks.len());
        for step in &steps[..f.blocks.len()] {
            for (now, step) in now.iter_mut().zip(step) {
                *now += step;
            }
            everywhere.push(now.map(|n| n as u32));
        }
        Pressure { local_spans, everywhere }
    }

    /// For each instruction of block `b`, the number of registers that are live before it.
    pub fn before_each(&self, f: &Function, b: usize, insts: &[MInst]) -> Vec<Counts> {
        let mut now = self.everywhere[b];
        let mut before = Vec::with_capacity(insts.len());
        for (i, inst) in insts.iter().enumerate() {
            before.push(now);
            for (_, span, file, len) in self.locals(f, inst) {
                if span.first == (b, i) {
                    now[file as usize] += len;
                }
            }
            for (_, span, file, len) in self.locals(f, inst) {
                if span.last == (b, i) {
                    now[file as usize] -= len;
                }
            }
        }
        before
    }

    fn locals(&self, f: &Function, inst: &MInst) -> SmallVec<[(VReg, Span, RegFile, u32); 6]> {
        let mut found: SmallVec<[(VReg, Span, RegFile, u32); 6]> = SmallVec::new();
        for reg in named(inst) {
            if let Some(span) = self.local_spans[reg.0 as usize]
                && !found.iter().any(|l| l.0 == reg)
            {
                let info = f.info(reg);
                found.push((reg, span, info.file, u32::from(info.len)));
            }
        }
        found
    }

    /// The state at the start of a window whose first instruction has index `at` in its block. `now` is the number of
    /// registers of each file that are live before it.
    pub fn window(&self, f: &Function, at: usize, now: Counts, insts: &[MInst]) -> Live {
        let mut regs: Vec<Local> = Vec::new();
        let mut index = HashMap::new();
        let mut uses = Vec::with_capacity(insts.len());
        for inst in insts {
            let mut mine = SmallVec::new();
            for (reg, span, file, len) in self.locals(f, inst) {
                let i = *index.entry(reg).or_insert_with(|| {
                    let live = span.first.1 < at;
                    regs.push(Local { file, len, left: 0, live, outlives: span.last.1 >= at + insts.len() });
                    regs.len() - 1
                });
                regs[i].left += 1;
                mine.push(i);
            }
            uses.push(mine);
        }
        Live { regs, uses, now }
    }
}

fn spans(f: &Function) -> Vec<Option<Span>> {
    let mut spans: Vec<Option<Span>> = vec![None; f.vregs.len()];
    for (b, block) in f.blocks.iter().enumerate() {
        for (i, inst) in block.insts.iter().enumerate() {
            for reg in named(inst) {
                let at = (b, i);
                spans[reg.0 as usize]
                    .get_or_insert_with(|| Span { first: at, last: at, defined: defines(inst, reg) })
                    .last = at;
            }
        }
    }
    spans
}

/// True if `inst` writes `reg`, or a part of it, and does not read it.
fn defines(inst: &MInst, reg: VReg) -> bool {
    if inst.keeps_dst {
        return false;
    }
    let mut operands = inst.operands.iter().enumerate();
    operands.all(|(i, operand)| match operand {
        MOperand::Virt(slice) if slice.reg == reg => match &inst.op {
            Op::Machine(desc, _) => desc.operands.get(i).is_some_and(|o| o.access == Access::Write),
            Op::Copy | Op::Undef => i == 0,
            Op::Order | Op::Mark(_) => false,
        },
        _ => true,
    })
}

fn named(inst: &MInst) -> impl Iterator<Item = VReg> {
    inst.operands.iter().filter_map(|o| match o {
        MOperand::Virt(slice) => Some(slice.reg),
        MOperand::Fixed(_) => None,
    })
}

/// A register that is local to the block, as seen from a window.
#[derive(Clone, Copy, Debug)]
struct Local {
    file: RegFile,
    len: u32,
    /// The number of instructions of the window that name the register and have not been scheduled.
    left: u32,
    live: bool,
    /// True if a later window of the block names the register.
    outlives: bool,
}

/// The live registers while a window's instructions are scheduled one by one.
#[derive(Clone)]
pub(super) struct Live {
    regs: Vec<Local>,
    /// For each instruction, the indices in `regs` of the registers that it names.
    uses: Vec<SmallVec<[usize; 6]>>,
    now: Counts,
}

impl Live {
    /// The number of live registers of each file while `inst` executes, if it is scheduled next. Operands that die in
    /// `inst` still count, because the allocator may not be able to reuse their registers for the results.
    pub fn after(&self, inst: usize) -> Counts {
        let mut counts = self.now;
        for &r in &self.uses[inst] {
            let reg = &self.regs[r];
            if !reg.live {
                counts[reg.file as usize] += reg.len;
            }
        }
        counts
    }

    /// Records that `inst` is scheduled.
    pub fn take(&mut self, inst: usize) {
        self.now = self.after(inst);
        for &r in &self.uses[inst] {
            let reg = &mut self.regs[r];
            reg.live = true;
            reg.left -= 1;
            if reg.left == 0 && !reg.outlives {
                reg.live = false;
                self.now[reg.file as usize] -= reg.len;
            }
        }
    }

    /// For each file, the largest number of live registers if the window is scheduled in `order`.
    pub fn peak(&self, order: &[usize]) -> Counts {
        let mut live = self.clone();
        let mut peak = live.now;
        for &inst in order {
            for (peak, now) in peak.iter_mut().zip(live.after(inst)) {
                *peak = now.max(*peak);
            }
            live.take(inst);
        }
        peak
    }
}
