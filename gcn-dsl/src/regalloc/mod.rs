//! Register allocation: translates [`crate::mir`] to a [`Program`] on machine registers.
//!
//! # What it decides
//! The allocator finds a machine register for every virtual register, for its whole life, and decides which copies need
//! no instruction. A value without a register is spilled to where [`Limits::spill`] permits (`spill`); if no
//! destination is permitted, the result is [`AllocError::DoesNotFit`]. The allocator does not reorder instructions,
//! inserts no waits, and leaves every operand that is not virtual as it is.
//!
//! # Invariants
//! - Two values that are live at the same time never share a register. Time is counted in slots: instruction `i` reads
//!   at slot `2 i` and writes at slot `2 i + 1`, so a result may take the register of a source that dies in the same
//!   instruction. Early-clobber instructions (matrix instructions, scalar loads of several dwords, atomics with return;
//!   see `access`) write while they still read: their results start at slot `2 i`.
//! - D of a matrix instruction is disjoint from A and B, and either identical to C or disjoint from it.
//! - Liveness is tracked for each dword. The parts of a tuple have separate lives, so a tuple that is assembled piece
//!   by piece occupies each register only from the write of that piece on.
//! - A tuple starts at a multiple of its [`VRegInfo::align`]. SGPRs with a fixed meaning (VCC, EXEC, M0, …) are never
//!   allocated. A register with initial state (`live_in`) is not overwritten before its last reader in the entry block.
//! - A move that implements a copy changes only its destination: no flag and no other register, except a free VGPR for
//!   AGPRs that cannot be written directly.
//! - The result depends only on the function and the limits.
//!
//! # How
//! 1. `input` checks the function's form.
//! 2. `live` computes liveness across blocks and, for each dword, the live segments in slots.
//! 3. `classes` coalesces aggressively (Chaitin 1982): copies and matrix accumulators whose two sides do not interfere
//!    are merged into one class, even if one side is only a part of a tuple. A loop-carried accumulator thus becomes a
//!    single tuple, without moves.
//! 4. `pressure` counts live dwords. If the peak exceeds the limit the attempt ends here, because no assignment could
//!    succeed.
//! 5. `assign` assigns registers by linear scan with lifetime holes (Poletto and Sarkar 1999; Traub, Holloway and Smith
//!    1998). If that fails because of fragmentation, the widest classes are assigned first; if that fails too, both
//!    orders are tried again with less coalescing.
//! 6. `rewrite` produces the program.
//! 7. `verify` checks the result independently; debug builds run it on every allocation that is used (`draft`).
//!
//! All steps take near-linear time in the number of instructions and live segments.

mod access;
mod assign;
mod classes;
mod draft;
mod error;
mod input;
mod limits;
mod live;
mod moves;
mod pins;
mod place;
mod pressure;
mod rewrite;
mod segs;
mod spill;
pub mod two_address;
pub mod values;
mod verify;
mod worklist;

use std::borrow::Cow;

use gcn_isa::{Operand, Program, Reg, RegFile, reg};

pub use draft::{Draft, draft};
pub use error::{AllocError, VerifyError};
pub use limits::{LdsFrame, LdsRoom, Limits, SpillTo, Spills};
pub use place::InstPlace;
pub use pressure::{FilePressure, LiveReg, Pressure};
pub use spill::conservatively;
pub use verify::verify;

use assign::{Order, Places};
use classes::{Classes, Coalesce, Hint};
use live::{Liveness, Numbering};
use moves::{Moves, Source};
use segs::Seg;

use crate::mir::{Function, MOperand, VReg, VRegInfo};

/// The number of registers that a program uses: for each file, the highest register number plus one. Registers with
/// initial state count, since the hardware writes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// SGPRs, not counting named ones (VCC and so on).
    pub sgprs: u16,
    /// VGPRs.
    pub vgprs: u16,
    /// AGPRs.
    pub agprs: u16,
    /// True if VCC is read or written.
    pub uses_vcc: bool,
}

/// A function on machine registers.
#[derive(Clone, PartialEq, Debug)]
pub struct Allocated {
    /// The code. Blocks that are branch targets have labels `.LBB0_<block>`.
    pub program: Program,
    /// The registers that it uses.
    pub usage: Usage,
    /// The points with the highest register pressure.
    pub pressure: Pressure,
    /// Virtual registers that some path may read before writing them.
    pub undefined: Vec<VReg>,
    /// The number of moves that were emitted for copies.
    pub moves: usize,
    /// The indices of instructions that [`two_address::run`] may replace by shorter ones.
    pub long: Vec<usize>,
    /// The indices of machine instructions that the kernel names.
    pub named: Vec<usize>,
    /// The user's scheduling marks, each with the index of the instruction that follows it.
    pub marks: Vec<(usize, crate::ir::mark::Mark)>,
    /// The spill code that was inserted.
    pub spills: Spills,
    /// If the verifier rejected the optimised spill code: the reason. The allocation then has conservative spill code.
    pub refused: Option<VerifyError>,
    /// The registers of named values, by the origins of the program's instructions.
    pub values: values::Values,
    /// For each instruction of the function, by number, the instructions of the program that implement it. `verify`
    /// uses these spans.
    pub spans: Vec<Span>,
    /// For each block, the index of its first instruction in the program, followed by the number of all instructions.
    pub block_line: Vec<u32>,
}

/// The instructions of the program that implement one instruction of the function: moves before it (`start..main`), the
/// instruction itself (`main..main_end`), and moves after it (`main_end..end`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The first move before the instruction.
    pub start: u32,
    /// The instruction itself.
    pub main: u32,
    /// The first move after the instruction.
    pub main_end: u32,
    /// The end of the moves after the instruction.
    pub end: u32,
}

/// A scratch VGPR for the copy with this instruction number; see [`Moves::needs_scratch`].
#[derive(Clone, Copy, Debug)]
struct Scratch {
    inst: u32,
    reg: VReg,
}

/// The register files in the order in which they are allocated. AGPRs come first, because in a unified file their
/// number limits the VGPRs.
const FILES: [RegFile; 3] = [RegFile::Agpr, RegFile::Vgpr, RegFile::Sgpr];

/// Allocates `f` within `limits`, and verifies the result.
///
/// # Errors
/// As for [`draft()`], and the verifier's.
pub fn allocate(f: &Function, limits: &Limits) -> Result<Allocated, AllocError> {
    draft(Cow::Borrowed(f), limits)?.verified()
}

/// Facts that all attempts share.
struct Job<'f> {
    f: &'f Function,
    limits: &'f Limits,
    numbers: Numbering,
    live: Liveness,
    moves: Moves,
    scratch: Vec<Scratch>,
    /// The registers with initial state, each with the segment from the entry to its last reader.
    reserved: Vec<(Reg, Seg)>,
}

/// Classes after coalescing, before they have machine registers.
struct Coalesced {
    classes: Classes,
    hints: Vec<(VReg, Hint)>,
}

impl<'f> Job<'f> {
    fn new(f: &'f Function, limits: &'f Limits) -> Job<'f> {
        let numbers = Numbering::new(f);
        let live = live::solve(f, &numbers);
        let moves = Moves::of(f.target);
        let scratch = scratch_copies(f, &numbers, &moves);
        let reserved = reserved(f, &numbers);
        Job { f, limits, numbers, live, moves, scratch, reserved }
    }

    /// Puts every register, including scratch registers, into a class of its own.
    fn classes(&self) -> Classes {
        let mut segs = live::intervals(self.f, &self.numbers, &self.live);
        let mut infos = self.f.vregs.clone();
        let mut dwords = self.numbers.dword.clone();
        for s in &self.scratch {
            infos.push(VRegInfo { file: RegFile::Vgpr, len: 1, align: 1 });
            segs.push(segs::Segs::default());
            if let Some(lane) = segs.last_mut() {
                lane.insert(Seg { start: 2 * s.inst, end: 2 * s.inst + 2 });
            }
            dwords.push(segs.len() as u32);
        }
        let mut classes = Classes::new(infos, dwords, segs);
        classes.pin(&self.f.pins, &self.reserved);
        classes
    }

    /// Discards the scratch registers of copies that were coalesced and thus need none.
    fn discard_scratch(&self, classes: &mut Classes) {
        for s in &self.scratch {
            let (block, i) = self.numbers.locate(2 * s.inst);
            if let [MOperand::Virt(dst), MOperand::Virt(src)] = self.f.blocks[block].insts[i].operands[..]
                && classes.same_place(dst, src)
            {
                classes.discard(s.reg);
            }
        }
    }

    fn coalesced(&self, coalesce: Coalesce) -> Coalesced {
        let mut classes = self.classes();
        classes.coalesce(self.f, &self.numbers, coalesce);
        self.discard_scratch(&mut classes);
        let hints = classes.hints();
        Coalesced { classes, hints }
    }

    fn attempt(
        &self,
        Coalesced { classes, hints }: &mut Coalesced,
        pressure: &Pressure,
        order: Order,
    ) -> Result<Allocated, AllocError> {
        let mut places = Places::new(self.f.vregs.len() + self.scratch.len());
        let mut agprs = 0;
        for file in FILES {
            let limit = self.limits.of(file, self.f.target, agprs);
            let peak = pressure.of(file);
            let misfit = |tuple, at, live| AllocError::DoesNotFit {
                kernel: self.f.name.clone(),
                file,
                peak: peak.peak,
                limit: u32::from(limit),
                limited: u32::from(limit) < self.f.target.registers(file),
                tuple,
                at,
                live,
            };
            if peak.peak > u32::from(limit) {
                return Err(misfit(None, peak.at, peak.live.clone()));
            }
            let (classes, hints, reserved) = (&*classes, &hints[..], &self.reserved[..]);
            let pairs = assign::Pairs::of(self.f, file);
            assign::File { classes, hints, file, limit, reserved, order, pairs }
                .assign(&mut places)
                .map_err(|no| {
                    let (block, inst) = self.numbers.locate(no.start);
                    misfit(
                        Some(no.len),
                        Some(input::place(self.f, block, inst)),
                        self.live_at(file, no.start),
                    )
                })?;
            if file == RegFile::Agpr {
                agprs = places.used(classes, file);
            }
        }
        self.finish(classes, &places, pressure.clone())
    }

    fn finish(
        &self,
        classes: &mut Classes,
        places: &Places,
        pressure: Pressure,
    ) -> Result<Allocated, AllocError> {
        let rewritten = rewrite::rewrite(self.f, &self.numbers, classes, places, &self.moves, &self.scratch)
            .map_err(|(block, inst)| AllocError::Malformed {
                kernel: self.f.name.clone(),
                at: input::place(self.f, block, inst),
                rule: format!("{} has no move of this kind", self.f.target),
            })?;
        let machine = self.f.blocks.iter().flat_map(|b| &b.insts);
        let machine = machine.filter(|i| matches!(i.op, crate::mir::Op::Machine(..))).count();
        Ok(Allocated {
            usage: usage(self.f, &rewritten.program),
            moves: rewritten.program.lines.len() - machine,
            program: rewritten.program,
            pressure,
            undefined: live::undefined_at_entry(&self.live),
            long: rewritten.long,
            named: rewritten.named,
            values: rewritten.values,
            marks: rewritten.marks,
            spills: Spills::default(),
            refused: None,
            spans: rewritten.spans,
            block_line: rewritten.block_line,
        })
    }

    fn pressure(&self, classes: &Classes) -> Pressure {
        let [agpr, vgpr, sgpr] = FILES.map(|file| {
            let taken = self.reserved.iter().filter(|r| r.0.file == file);
            let taken = taken.flat_map(|(reg, seg)| std::iter::repeat_n(*seg, usize::from(reg.len)));
            let slots = 2 * self.numbers.inst.last().copied().unwrap_or(0) + 1;
            let (peak, slot) = pressure::peak(classes.file_segments(file).chain(taken), slots);
            if peak == 0 {
                return FilePressure { file, peak, at: None, live: Vec::new() };
            }
            let (block, inst) = self.numbers.locate(slot);
            let at = Some(input::place(self.f, block, inst));
            FilePressure { file, peak, at, live: self.live_at(file, slot) }
        });
        Pressure { sgpr, vgpr, agpr }
    }

    /// The registers of `file` that are live at `slot`, widest first.
    fn live_at(&self, file: RegFile, slot: segs::Slot) -> Vec<LiveReg> {
        let live = live::live_at(&self.numbers, &self.live, slot);
        let mut list: Vec<LiveReg> = live
            .into_iter()
            .filter(|(v, _)| self.f.info(*v).file == file)
            .map(|(reg, mask)| LiveReg { reg, dwords: mask.count_ones() as u8, defined: None })
            .collect();
        let mut wanted: hashbrown::HashMap<VReg, usize> =
            list.iter().enumerate().map(|(i, l)| (l.reg, i)).collect();
        let insts = self.f.blocks.iter().flat_map(|b| &b.insts).enumerate();
        for (number, inst) in insts.filter(|(_, inst)| inst.loc.is_some()) {
            for u in self.numbers.uses.at(number as u32).iter().filter(|u| u.write && !u.undef) {
                if let Some(i) = wanted.remove(&u.slice.reg) {
                    list[i].defined = inst.loc;
                }
            }
            if wanted.is_empty() {
                break;
            }
        }
        list.sort_by_key(|l| (std::cmp::Reverse(l.dwords), l.reg));
        list
    }
}

/// A scratch register for each copy that may need one.
fn scratch_copies(f: &Function, numbers: &Numbering, moves: &Moves) -> Vec<Scratch> {
    let mut list = Vec::new();
    for (b, i, number) in live::copies(f, numbers) {
        let [MOperand::Virt(dst), src] = f.blocks[b].insts[i].operands[..] else { continue };
        let src = match src {
            MOperand::Virt(s) => Some(Source::Reg(Reg { file: f.info(s.reg).file, index: 0, len: s.len })),
            MOperand::Fixed(fixed) => Source::of(fixed),
        };
        if src.is_some_and(|src| moves.needs_scratch(f.info(dst.reg).file, src)) {
            list.push(Scratch { inst: number, reg: VReg((f.vregs.len() + list.len()) as u32) });
        }
    }
    list
}

/// The registers with initial state, each with the segment from the entry to its last reader.
fn reserved(f: &Function, numbers: &Numbering) -> Vec<(Reg, Seg)> {
    let Some(entry) = f.blocks.first() else { return Vec::new() };
    let mut last: Vec<(Reg, u32)> = Vec::new();
    for (i, inst) in entry.insts.iter().enumerate() {
        let fixed = inst.operands.iter().filter_map(|o| match o {
            MOperand::Fixed(Operand::Reg(reg)) if input::allocatable(*reg) => Some(*reg),
            _ => None,
        });
        last.extend(fixed.flat_map(Reg::units).map(|u| (u.reg(), i as u32)));
    }
    // If a branch leads back to the entry block, the block's reads execute again, so the registers stay reserved for
    // the whole function.
    let looped = input::successors(f).iter().any(|s| s.contains(&0));
    let all = 2 * numbers.inst.last().copied().unwrap_or(0);
    last.sort_unstable_by_key(|&(reg, i)| (reg, std::cmp::Reverse(i)));
    last.dedup_by_key(|l| l.0);
    last.into_iter()
        .map(|(reg, i)| (reg, Seg { start: 0, end: if looped { all } else { 2 * i + 1 } }))
        .collect()
}

fn usage(f: &Function, program: &Program) -> Usage {
    let mut usage = Usage::default();
    let mut count = |reg: Reg| match reg.file {
        RegFile::Sgpr if !input::allocatable(reg) => usage.uses_vcc |= reg.overlaps(reg::VCC),
        RegFile::Sgpr => usage.sgprs = usage.sgprs.max(reg.end()),
        RegFile::Vgpr => usage.vgprs = usage.vgprs.max(reg.end()),
        RegFile::Agpr => usage.agprs = usage.agprs.max(reg.end()),
    };
    f.live_in.iter().copied().for_each(&mut count);
    for line in &program.lines {
        line.inst.reads().iter().map(|u| u.reg).for_each(&mut count);
        line.inst.writes().iter().map(|u| u.reg).for_each(&mut count);
    }
    usage
}
