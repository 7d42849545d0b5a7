//! Where indirect jumps lead: constant propagation over scalar registers.
//!
//! Addresses of code come from `s_getpc_b64`, to which code adds a distance, from tables of addresses, and from the calls
//! themselves. They are followed through moves, sums, and lanes of vector registers, over all paths within a function; what a
//! called function does not write, or by the convention leaves as it was, outlives the call.
//!
//! What is found is used to find more, in rounds: every round is made anew on what the last one found, until it finds the same
//! (at first in the hope that what is not known yet does no harm, in the end without). That is then true: up to the first jump that goes elsewhere control would have gone as the last round assumes, and so that jump
//! goes where that round says.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::entries::{roots, unknown_entries};
use super::flow::{Callee, End};
use super::values::{Known, Slot};
use super::written::Functions;
use super::{Cfg, RETURN_ADDRESS};
use crate::hwreg::may_index_vgprs;
use crate::inst::Inst;
use crate::program::{EntryKind, Jump, Label, LabelDef, Program};
use crate::reg::Reg;
use crate::table::Class;

/// What a program's code looks like in memory. Addresses count from anywhere, but all from the same.
pub trait Image {
    /// The address after the instruction of a line.
    fn after(&self, line: usize) -> i64;
    /// The literal of a line that has `number` in its text or bytes, as it will be after linking; `None` if that is not known.
    fn literal(&self, line: usize, number: u32) -> Option<u32>;
    /// The address that stands in memory at an address, if that is known.
    fn pointer(&self, address: i64) -> Option<i64>;
    /// What is at an address.
    fn place(&self, address: i64) -> Option<Place>;
    /// What to call a line to which a jump leads.
    fn label(&self, line: usize) -> String;
}

/// What is at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A line of the program.
    Line(usize),
    /// Code that the program does not have.
    Outside,
}

/// What a round finds: by the line of a jump.
type Found = BTreeMap<usize, To>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum To {
    Line(usize),
    Known(Jump),
}

/// How many rounds are made. Each resolves what depends on what the last one resolved, such as an address that outlives a call.
const ROUNDS: usize = 16;

/// Finds out where indirect jumps lead and notes it in [`Line::jump`](crate::program::Line::jump).
pub fn resolve(program: &mut Program, image: &impl Image) {
    if !program.lines.iter().any(|l| target(&l.inst).is_some()) {
        return;
    }
    // What is found with hope may depend on itself, so that the last word has to be without.
    let mut known = settle(program, image, true, Found::new()).unwrap_or_default();
    known = settle(program, image, false, known).unwrap_or_default();
    set(program, image, &known);
}

/// Makes rounds until one finds what the last one found.
fn settle(program: &mut Program, image: &impl Image, hopes: bool, mut known: Found) -> Option<Found> {
    for _ in 0..ROUNDS {
        let found = Round::new(program, image, hopes).run();
        if found == known {
            return Some(found);
        }
        set(program, image, &found);
        known = found;
    }
    None
}

/// The registers that hold where an indirect jump leads.
fn target(inst: &Inst) -> Option<Reg> {
    let indirect = inst.desc.class == Class::Branch && inst.desc.branch_operand().is_none();
    inst.operands.last().filter(|_| indirect).and_then(|o| o.reg()).filter(|r| r.len == 2)
}

/// Notes what was found, and nothing else.
fn set(program: &mut Program, image: &impl Image, found: &Found) {
    let mut labels: HashMap<usize, Label> = HashMap::new();
    for (number, label) in program.labels.iter().enumerate().rev() {
        labels.extend(label.at.map(|at| (at, Label(number as u32))));
    }
    program.lines.iter_mut().for_each(|l| l.jump = None);
    for (&line, &to) in found {
        program.lines[line].jump = Some(match to {
            To::Known(jump) => jump,
            To::Line(at) => {
                let new = Label(program.labels.len() as u32);
                let label = *labels.entry(at).or_insert(new);
                if label == new {
                    program.labels.push(LabelDef { name: image.label(at), at: Some(at) });
                }
                Jump::To(label)
            }
        });
    }
}

struct Round<'a, I> {
    program: &'a Program,
    image: &'a I,
    cfg: Cfg,
    ends: Vec<End>,
    functions: Functions,
    indexes_vgprs: bool,
    /// What is known where each block begins; `None` if control was not seen to come there.
    states: Vec<Option<Known>>,
    open: BTreeSet<usize>,
}

impl<'a, I: Image> Round<'a, I> {
    /// With `hopes` jumps of which nothing is known are taken to stay in their functions.
    fn new(program: &'a Program, image: &'a I, hopes: bool) -> Round<'a, I> {
        let cfg = Cfg::build(program);
        let ends: Vec<End> = (0..cfg.blocks.len()).map(|b| End::of(program, &cfg, b)).collect();
        let functions = roots(program, &cfg).into_iter().filter(|r| r.kind == EntryKind::Function);
        let functions: Vec<usize> = functions.map(|r| r.block).collect();
        let states = vec![None; cfg.blocks.len()];
        let mut round = Round {
            functions: Functions::of(program, &cfg, &ends, &functions, hopes),
            indexes_vgprs: may_index_vgprs(program),
            program,
            image,
            cfg,
            ends,
            states,
            open: BTreeSet::new(),
        };
        round.enter(&functions);
        round
    }

    /// Control comes in.
    fn enter(&mut self, functions: &[usize]) {
        let mut links: BTreeMap<usize, Vec<Reg>> = BTreeMap::new();
        functions.iter().for_each(|f| links.entry(*f).or_default().push(RETURN_ADDRESS));
        for (block, end) in self.ends.iter().enumerate() {
            if let End::Call(Callee::Block(callee)) = end {
                let link = self.last(block).operands.first().and_then(|o| o.reg());
                links.entry(*callee).or_default().extend(link);
            }
        }
        let unknown = unknown_entries(self.program, &self.cfg);
        let others = (0..unknown.len()).filter(|b| unknown[*b] && !links.contains_key(b));
        let roots = roots(self.program, &self.cfg).into_iter().filter(|r| r.kind == EntryKind::Kernel);
        let unseen: Vec<usize> = others.chain(roots.map(|r| r.block)).collect();
        unseen.into_iter().for_each(|block| self.send(block, Known::default()));
        links.into_iter().for_each(|(block, links)| self.send(block, Known::at_entry(links)));
    }

    fn last(&self, block: usize) -> &'a Inst {
        &self.program.lines[self.cfg.blocks[block].end - 1].inst
    }

    fn run(mut self) -> Found {
        while let Some(block) = self.open.pop_first() {
            self.visit(block);
        }
        let found = (0..self.ends.len()).filter_map(|block| {
            let (line, known) = self.at_end(block)?;
            Some((line, self.resolved(&known, target(self.last(block))?)?))
        });
        found.collect()
    }

    /// What is known before the last line of a block.
    fn at_end(&self, block: usize) -> Option<(usize, Known)> {
        let mut known = self.states[block].clone()?;
        let last = self.cfg.blocks[block].end - 1;
        (self.cfg.blocks[block].start..last).for_each(|line| self.step(&mut known, line));
        Some((last, known))
    }

    fn step(&self, known: &mut Known, line: usize) {
        known.step(&self.program.lines[line].inst, line, self.image);
        // With VGPR indexing any vector instruction may overwrite a lane that holds a saved register.
        if self.indexes_vgprs {
            known.keep(|slot| matches!(slot, Slot::Scalar(_)));
        }
    }

    fn resolved(&self, known: &Known, target: Reg) -> Option<To> {
        if let Some(address) = known.address(target) {
            return Some(match self.image.place(address)? {
                Place::Line(line) => To::Line(line),
                Place::Outside => To::Known(Jump::Outside),
            });
        }
        let link = known.entry_value(target)?;
        Some(To::Known(Jump::Back { by_convention: link == RETURN_ADDRESS }))
    }

    fn visit(&mut self, block: usize) {
        let Some((last, mut known)) = self.at_end(block) else { return };
        let inst = self.last(block);
        let to = target(inst).and_then(|target| self.resolved(&known, target));
        self.step(&mut known, last);
        known.end_block();
        if let End::Call(callee) = self.ends[block] {
            let written = self.functions.written_by(callee);
            known.keep(|slot| !written.contains(slot));
            if block + 1 < self.ends.len() {
                self.send(block + 1, known);
            }
            return;
        }
        let found = match to {
            Some(To::Line(line)) => {
                Some(self.cfg.block_of(line)).filter(|b| self.cfg.blocks[*b].start == line)
            }
            _ => None,
        };
        let next: Vec<usize> = self.cfg.blocks[block].succs.iter().copied().chain(found).collect();
        next.into_iter().for_each(|block| self.send(block, known.clone()));
    }

    /// Control comes to a block.
    fn send(&mut self, block: usize, known: Known) {
        let changed = match &mut self.states[block] {
            Some(state) => state.meet(&known),
            new => {
                *new = Some(known);
                true
            }
        };
        if changed {
            self.open.insert(block);
        }
    }
}
