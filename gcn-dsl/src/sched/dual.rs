//! Combines two instructions into one: VOPD (RDNA 3 and later, in waves of 32 lanes).
//!
//! Two independent vector instructions that are close together in one block become the halves of one instruction, which
//! issues in one cycle. The instruction table lists the instructions that can be halves; the encoder knows which
//! registers the halves may use together. One of the two instructions moves to the position of the other. The later one
//! is not moved up if it is the first reader of the result of a long-latency instruction, because the wave would then
//! wait for that result earlier.

use std::collections::BTreeSet;

use gcn_emit::encode::encode_inst;
use gcn_isa::cfg::{Block, Cfg, Flow};
use gcn_isa::indexing::Indexing;
use gcn_isa::order::{Set, Touched, is_boundary};
use gcn_isa::reg::VCC;
use gcn_isa::table::{self, Behaviours, InstDesc};
use gcn_isa::target::Subtarget;
use gcn_isa::{Inst, Operand, Program};
use smallvec::SmallVec;

use super::fence;
use crate::ir::mark::Mark;

/// The distance, in instructions, within which a second half is searched for.
const LOOK: usize = 32;

/// An instruction that can be a half on every target that has dual instructions.
const SOME_HALF: &str = "v_mov_b32";

/// True if the target has dual instructions.
pub fn joins(on: Subtarget) -> bool {
    table::pair_of(on, [SOME_HALF; 2]).is_some()
}

/// Combines instructions of `program`. `named` are the lines of instructions that the kernel names; these stay as they
/// are. `marks` keep their positions.
pub fn run(program: &mut Program, marks: &mut [(usize, Mark)], named: &[usize]) {
    let on = program.subtarget();
    if !joins(on) {
        return;
    }
    let flow = Flow::of(program);
    let indexing = Indexing::of(program, &flow);
    let touched: Vec<Touched> =
        (0..program.lines.len()).map(|line| Touched::of(program, &indexing, line)).collect();
    let fences = fence::fences(program, marks).into_iter().collect();
    let named = named.iter().copied().collect();
    let mut joiner = Joiner { on, touched, fences, named, gone: vec![false; program.lines.len()] };
    for block in &Cfg::build(program).blocks {
        joiner.block(program, block);
    }
    remove(program, marks, &joiner.gone);
}

struct Joiner {
    on: Subtarget,
    /// The registers that each instruction reads and writes.
    touched: Vec<Touched>,
    /// Indices of instructions: nothing may move across the start of these.
    fences: BTreeSet<usize>,
    /// Indices of instructions that must stay as they are.
    named: BTreeSet<usize>,
    /// For each instruction, true if it has been merged into another.
    gone: Vec<bool>,
}

impl Joiner {
    fn block(&mut self, program: &mut Program, block: &Block) {
        let early = self.first_readers(program, block);
        for first in block.start..block.end {
            if !self.gone[first]
                && !self.named.contains(&first)
                && !Half::of(&program.lines[first].inst, self.on).is_empty()
            {
                self.join(program, first, block.end, &early);
            }
        }
    }

    /// The instructions of the block that are the first to read the result of a long-latency instruction.
    fn first_readers(&self, program: &Program, block: &Block) -> BTreeSet<usize> {
        let mut pending = Set::default();
        let mut found = BTreeSet::new();
        for line in block.start..block.end {
            let touched = &self.touched[line];
            if pending.meets(&touched.reads) {
                found.insert(line);
            }
            pending.take_all(&touched.reads);
            pending.take_all(&touched.writes);
            if touched.is_memory() || program.lines[line].inst.desc.multiplies_matrices() {
                pending.add_all(&touched.writes);
            }
        }
        found
    }

    /// Combines `first` with the nearest later instruction that can be its other half.
    fn join(&mut self, program: &mut Program, first: usize, end: usize, early: &BTreeSet<usize>) {
        let mut between = Touched::default();
        for second in (first + 1..end).filter(|line| !self.gone[*line]).take(LOOK) {
            let passes = (first + 1..=second).all(|line| !self.fences.contains(&line));
            if !passes || is_boundary(&program.lines[second].inst) {
                return;
            }
            let (a, b) = (&self.touched[first], &self.touched[second]);
            // Prefer to move the later instruction up, unless it would then wait for a result earlier.
            let up = b.may_swap_with(&between) && !early.contains(&second);
            let down = a.may_swap_with(&between);
            let independent = !a.writes.meets(&b.reads) && !a.writes.meets(&b.writes);
            if (up || down)
                && independent
                && !self.named.contains(&second)
                && let Some(pair) = pair(&program.lines[first].inst, &program.lines[second].inst, self.on)
            {
                let mut both = *a;
                both.add(b);
                let (kept, gone) = if up { (first, second) } else { (second, first) };
                program.lines[kept].inst = pair.into();
                self.touched[kept] = both;
                self.gone[gone] = true;
                return;
            }
            between.add(b);
        }
    }
}

/// An instruction as a half: its mnemonic when it stands alone, and its operands as a half.
struct Half {
    alone: &'static str,
    operands: SmallVec<[Operand; 4]>,
}

/// A fused multiply-add. The forms with a constant addend or a constant factor, which have a separate field for the
/// constant, can be halves.
const FUSED: &str = "v_fma_f32";
const WITH_ADDEND: &str = "v_fmaak_f32";
const WITH_FACTOR: &str = "v_fmamk_f32";

/// All ways in which an instruction can be a half.
type Ways = SmallVec<[Half; 4]>;

impl Half {
    /// The ways in which an instruction can be a half. There are none, or several that differ in the order of the
    /// operands.
    fn of(inst: &Inst, on: Subtarget) -> Ways {
        let is_plain = inst.desc.format.is_vop() && inst.mods == inst.desc.default_mods();
        if !is_plain || inst.desc.halves.is_some() {
            return Ways::new();
        }
        let alone = inst.desc.entry.mnemonic;
        if alone == FUSED {
            return Half::of_fused(&inst.operands);
        }
        // Look up the instruction as the second half: every instruction that can be a half can be the second one.
        let Some([_, half]) = table::pair_of(on, [SOME_HALF, alone]).and_then(|pair| pair.halves) else {
            return Ways::new();
        };
        let mut operands: SmallVec<[Operand; 4]> = inst.operands.iter().copied().collect();
        // The mask of a selection is implicitly VCC, so it is not an operand.
        let vcc = VCC.slice(0, on.wave.mask_registers());
        if operands.len() == half.operands.len() + 1 && operands.last() == Some(&vcc.into()) {
            operands.pop();
        }
        if operands.len() != half.operands.len() {
            return Ways::new();
        }
        let mut ways = Ways::new();
        if half.does(Behaviours::COMMUTES) {
            let mut other = operands.clone();
            other.swap(1, 2);
            ways.push(Half { alone, operands: other });
        }
        ways.insert(0, Half { alone, operands });
        ways
    }

    /// The forms of `d = a * b + c` with one constant source, with the factors in either order. The field for the
    /// constant has 32 bits.
    fn of_fused(operands: &[Operand]) -> Ways {
        let &[d, a, b, c] = operands else { return Ways::new() };
        let literal = |operand: Operand| match operand {
            Operand::Literal(_) => Some(operand),
            Operand::Inline(inline) => Some(Operand::Literal(inline.bits32())),
            _ => None,
        };
        let way =
            |alone, sources: [Operand; 3]| Half { alone, operands: [d].into_iter().chain(sources).collect() };
        match [a, b, c].map(literal) {
            [None, None, Some(k)] => {
                [way(WITH_ADDEND, [a, b, k]), way(WITH_ADDEND, [b, a, k])].into_iter().collect()
            }
            [None, Some(k), None] => [way(WITH_FACTOR, [a, k, c])].into_iter().collect(),
            [Some(k), None, None] => [way(WITH_FACTOR, [b, k, c])].into_iter().collect(),
            _ => Ways::new(),
        }
    }
}

/// The dual instruction that does what `one` and `other` do; `None` if there is none.
fn pair(one: &Inst, other: &Inst, on: Subtarget) -> Option<Inst> {
    let [one, other] = [Half::of(one, on), Half::of(other, on)];
    [[&one, &other], [&other, &one]].into_iter().find_map(|[x, y]| {
        let mut ways = x.iter().flat_map(|x| y.iter().map(move |y| [x, y]));
        ways.find_map(|[x, y]| {
            let desc = table::pair_of(on, [x.alone, y.alone])?;
            let inst = together(desc, [&x.operands, &y.operands]);
            encode_inst(&inst, on.target).is_ok().then_some(inst)
        })
    })
}

fn together(desc: &'static InstDesc, operands: [&SmallVec<[Operand; 4]>; 2]) -> Inst {
    Inst::new(desc, operands.into_iter().flatten().copied())
}

/// Removes the instructions that were merged into another.
fn remove(program: &mut Program, marks: &mut [(usize, Mark)], gone: &[bool]) {
    let mut place = Vec::with_capacity(gone.len() + 1);
    let mut next = 0;
    for gone in gone {
        place.push(next);
        next += usize::from(!gone);
    }
    place.push(next);
    let mut gone = gone.iter();
    program.lines.retain(|_| !gone.next().copied().unwrap_or_default());
    program.labels.iter_mut().for_each(|label| label.at = label.at.map(|at| place[at]));
    marks.iter_mut().for_each(|mark| mark.0 = place[mark.0]);
}
