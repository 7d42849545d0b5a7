//! Turns the function into a program: virtual operands become machine registers, copies become moves, block numbers
//! become labels.

use std::num::NonZeroU32;

use gcn_isa::{Access, Class, Inst, Label, Line, Operand, Program, Reg, RegFile};

use super::assign::Places;
use super::classes::Classes;
use super::input;
use super::live::Numbering;
use super::moves::{Moves, Source};
use super::values::{Collector, Values};
use super::{Scratch, Span, two_address};
use crate::ir::mark::Mark;
use crate::mir::{Function, MInst, MOperand, Op, VSlice};
use crate::sched;

/// The finished parts of [`super::Allocated`].
pub(super) struct Rewritten {
    pub program: Program,
    /// For each instruction of the function, the span of its instructions in the program.
    pub spans: Vec<Span>,
    /// For each block, the index of its first instruction in the program, followed by the number of all instructions.
    pub block_line: Vec<u32>,
    /// Marks, each with the index of the instruction that follows it.
    pub marks: Vec<(usize, Mark)>,
    /// The indices of instructions that may have a shorter form.
    pub long: Vec<usize>,
    /// The indices of machine instructions that the kernel names.
    pub named: Vec<usize>,
    /// The registers of named values.
    pub values: Values,
}

struct Rewriter<'a> {
    classes: &'a mut Classes,
    places: &'a Places,
    moves: &'a Moves,
    /// For each block, its label; `None` if no branch leads to it.
    labels: Vec<Option<Label>>,
}

/// Rewrites `f`. The error is the location of a copy that the target has no move for.
pub(super) fn rewrite(
    f: &Function,
    numbers: &Numbering,
    classes: &mut Classes,
    places: &Places,
    moves: &Moves,
    scratch: &[Scratch],
) -> Result<Rewritten, (usize, usize)> {
    let mut program = Program::new(f.target, f.name.clone());
    program.wave = f.wave;
    let labels = labels(f, &mut program);
    let mut rewriter = Rewriter { classes, places, moves, labels };
    let mut spans = Vec::with_capacity(numbers.inst.last().map_or(0, |&n| n as usize));
    let mut block_line = Vec::with_capacity(f.blocks.len() + 1);
    let mut scratch = scratch.iter().peekable();
    let (mut marks, mut long, mut named) = (Vec::new(), Vec::new(), Vec::new());
    let mut collector = Collector::new(f);
    for (b, block) in f.blocks.iter().enumerate() {
        block_line.push(program.lines.len() as u32);
        if let Some(label) = rewriter.labels[b] {
            program.place(label);
        }
        for (i, inst) in block.insts.iter().enumerate() {
            let number = numbers.inst[b] + i as u32;
            let scratch = scratch.next_if(|s| s.inst == number).copied();
            let start = program.lines.len() as u32;
            let origin = NonZeroU32::new(number + 1);
            let line = |inst_out| Line { loc: inst.loc, origin, ..Line::new(inst_out) };
            match &inst.op {
                Op::Undef => {}
                Op::Order => marks.push((program.lines.len(), Mark::Fence(sched::Classes::empty()))),
                Op::Mark(mark) => marks.push((program.lines.len(), mark.clone())),
                Op::Copy => {
                    let moves = rewriter.copy(inst, scratch).ok_or((b, i))?;
                    program.lines.extend(moves.into_iter().map(line));
                }
                Op::Machine(desc, mods) => {
                    if two_address::tied(f, inst).is_some() {
                        long.push(program.lines.len());
                    }
                    let is_named =
                        |o: &MOperand| matches!(o, MOperand::Virt(to) if f.named.contains(&to.reg));
                    if inst
                        .operands
                        .iter()
                        .zip(desc.operands)
                        .any(|(o, slot)| slot.access != Access::Read && is_named(o))
                    {
                        named.push(program.lines.len());
                    }
                    let operands: Option<_> =
                        inst.operands.iter().map(|o| rewriter.operand(*o, desc.class)).collect();
                    program.lines.push(line(Inst { desc, operands: operands.ok_or((b, i))?, mods: *mods }));
                }
            }
            let end = program.lines.len() as u32;
            match end > start {
                true => collector.lines(number + 1, inst, &mut |slice| rewriter.reg(slice)),
                false => collector.no_lines(number + 1, inst, &mut |slice| rewriter.reg(slice)),
            }
            spans.push(Span { start, main: start, main_end: end, end });
        }
        collector.block();
    }
    block_line.push(program.lines.len() as u32);
    Ok(Rewritten { program, spans, block_line, marks, long, named, values: collector.finish() })
}

/// Creates a label for every branch target, in block order.
fn labels(f: &Function, program: &mut Program) -> Vec<Option<Label>> {
    let mut targets: Vec<usize> =
        f.blocks.iter().flat_map(|b| &b.insts).filter_map(input::branch_target).collect();
    targets.sort_unstable();
    targets.dedup();
    let mut labels = vec![None; f.blocks.len()];
    for block in targets {
        labels[block] = Some(program.new_label(format!(".LBB0_{block}")));
    }
    labels
}

impl Rewriter<'_> {
    /// The machine registers of `slice`; `None` for a register that is never live.
    fn reg(&mut self, slice: VSlice) -> Option<Reg> {
        let (root, offset) = self.classes.find(slice.reg);
        let index = self.places.get(root)? + u16::from(offset) + u16::from(slice.start);
        let file: RegFile = self.classes.info(root).file;
        Some(Reg { file, index, len: slice.len })
    }

    fn operand(&mut self, operand: MOperand, class: Class) -> Option<Operand> {
        match operand {
            MOperand::Virt(slice) => self.reg(slice).map(Operand::Reg),
            MOperand::Fixed(Operand::Label(Label(block))) if class == Class::Branch => {
                self.labels[block as usize].map(Operand::Label)
            }
            MOperand::Fixed(fixed) => Some(fixed),
        }
    }

    fn copy(
        &mut self,
        inst: &MInst,
        scratch: Option<Scratch>,
    ) -> Option<impl IntoIterator<Item = Inst> + use<>> {
        let [dst, src] = inst.operands[..] else { return None };
        let dst = match dst {
            MOperand::Virt(slice) => self.reg(slice)?,
            MOperand::Fixed(fixed) => fixed.reg()?,
        };
        let src = match src {
            MOperand::Virt(slice) => Source::Reg(self.reg(slice)?),
            MOperand::Fixed(fixed) => Source::of(fixed)?,
        };
        let scratch = match scratch {
            Some(s) if Source::Reg(dst) != src => Some(self.reg(s.reg.all(self.classes.info(s.reg)))?),
            _ => None,
        };
        self.moves.emit(dst, src, scratch)
    }
}
