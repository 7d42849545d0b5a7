//! Resolves indirect jumps by constant propagation over scalar registers.
//!
//! Code addresses come from `s_getpc_b64` plus a distance, from tables of addresses, and from calls. The analysis tracks the addresses
//! through moves, sums, and lanes of vector registers, over all paths within a function (a forward dataflow analysis). A value is still
//! known after a call if the called function does not write the value's register, or preserves the register by convention.
//!
//! Resolved jumps add edges, which may change what is known elsewhere, so the analysis runs in rounds. Each round assumes the jumps that
//! the previous round resolved; the rounds end when a round finds exactly the jumps that it assumed. The result is then correct: in any
//! execution, consider the first jump that does not go to its resolved target. Up to that jump, control has taken only edges that the last
//! round assumed, so what the round knows about the jump's destination is true, and the jump does go to its resolved target after all.
//!
//! The first rounds are optimistic: they assume that unresolved jumps stay in their functions and that unresolved calls overwrite nothing.
//! Only so can a loop be resolved that calls an address from before the loop: around the loop, the address is known only if the call is
//! resolved. The final rounds do not assume this.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::entries::{roots, unknown_entries};
use super::flow::{Callee, End};
use super::image::{AddressPlace, Image};
use super::values::{Known, Slot, wide};
use super::written::Functions;
use super::{Cfg, RETURN_ADDRESS};
use crate::hwreg::may_index_vgprs;
use crate::inst::Inst;
use crate::program::{EntryKind, Jump, Label, LabelDef, Program};
use crate::reg::Reg;
use crate::table::{Behaviours, Class};

/// The result of a round: the destination of each resolved jump, by the line of the jump.
type Found = BTreeMap<usize, To>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum To {
    Line(usize),
    Known(Jump),
}

/// The maximum number of rounds. Each round can resolve jumps that depend on jumps resolved in the previous round, such as a jump to an
/// address that is still known after a call.
const ROUNDS: usize = 16;

/// Finds the destinations of indirect jumps and records them in [`Line::jump`](crate::program::Line::jump).
pub fn resolve(program: &mut Program, image: &impl Image) {
    if !program.lines.iter().any(|l| target(&l.inst).is_some()) {
        return;
    }
    // An optimistic result may be wrong although it is consistent with itself, so pessimistic rounds make the final decision. They start
    // from the optimistic result and can only confirm or reject its jumps.
    let mut known = to_fixpoint(program, image, true, Found::new()).unwrap_or_default();
    known = to_fixpoint(program, image, false, known).unwrap_or_default();
    set(program, image, &known);
}

/// Runs rounds until a round finds the same jumps as the previous round; `None` if that takes more than [`ROUNDS`] rounds.
fn to_fixpoint(
    program: &mut Program,
    image: &impl Image,
    optimistic: bool,
    mut known: Found,
) -> Option<Found> {
    for _ in 0..ROUNDS {
        let found = Round::new(program, image, optimistic).run();
        if found == known {
            return Some(found);
        }
        set(program, image, &found);
        known = found;
    }
    None
}

/// How a jump that names no label gives its destination.
#[derive(Clone, Copy)]
enum Destination {
    /// As the address in a register pair.
    In(Reg),
    /// As a distance from the next instruction.
    Ahead,
}

/// How the jump gives its destination; `None` for other instructions.
fn target(inst: &Inst) -> Option<Destination> {
    if inst.desc.does(Behaviours::JUMPS_BY) {
        return inst.distance().map(|_| Destination::Ahead);
    }
    let indirect = inst.desc.class == Class::Branch && inst.desc.branch_operand().is_none();
    let pair = inst.operands.last().filter(|_| indirect).and_then(|o| o.reg()).filter(|r| r.len == 2);
    pair.map(Destination::In)
}

/// Records the destinations of jumps in the program. They replace all destinations that were recorded before.
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
    /// The values that are known at the start of each block; `None` while the analysis has not reached the block.
    states: Vec<Option<Known>>,
    open: BTreeSet<usize>,
}

impl<'a, I: Image> Round<'a, I> {
    /// Prepares the analysis. For `optimistic`, see [`Functions::of`].
    fn new(program: &'a Program, image: &'a I, optimistic: bool) -> Round<'a, I> {
        let cfg = Cfg::build(program);
        let ends: Vec<End> = (0..cfg.blocks.len()).map(|b| End::of(program, &cfg, b)).collect();
        let functions = roots(program, &cfg).into_iter().filter(|r| r.kind == EntryKind::Function);
        let functions: Vec<usize> = functions.map(|r| r.block).collect();
        let states = vec![None; cfg.blocks.len()];
        let mut round = Round {
            functions: Functions::of(program, &cfg, &ends, &functions, optimistic),
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

    /// Queues the blocks at which control enters from outside.
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
        // Control may enter here with any register contents, so nothing is known.
        unseen.into_iter().for_each(|block| self.propagate(block, Known::default()));
        links.into_iter().for_each(|(block, links)| self.propagate(block, Known::at_entry(links)));
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
            Some((line, self.resolved(&known, line)?))
        });
        found.collect()
    }

    /// The state before the last line of a block; `None` if the analysis has not reached the block.
    fn at_end(&self, block: usize) -> Option<(usize, Known)> {
        let mut known = self.states[block].clone()?;
        let last = self.cfg.blocks[block].end - 1;
        (self.cfg.blocks[block].start..last).for_each(|line| self.step(&mut known, line));
        Some((last, known))
    }

    fn step(&self, known: &mut Known, line: usize) {
        known.step(&self.program.lines[line].inst, line, self.image);
        // With VGPR indexing, any vector instruction may overwrite a lane that holds a saved register.
        if self.indexes_vgprs {
            known.keep(|slot| matches!(slot, Slot::Scalar(_)));
        }
    }

    /// The destination of the jump in `line`, if it is a jump that names no label, and the destination is known.
    fn resolved(&self, known: &Known, line: usize) -> Option<To> {
        let inst = &self.program.lines[line].inst;
        let target = target(inst)?;
        let address = match target {
            Destination::In(pair) => known.address(pair),
            Destination::Ahead => {
                Some(self.image.after(line).wrapping_add(wide(inst.operands.first(), line, self.image)?))
            }
        };
        if let Some(address) = address {
            return Some(match self.image.place(address)? {
                AddressPlace::Line(line) => To::Line(line),
                AddressPlace::Outside => To::Known(Jump::Outside),
            });
        }
        let Destination::In(pair) = target else { return None };
        let link = known.entry_value(pair)?;
        Some(To::Known(Jump::Back { by_convention: link == RETURN_ADDRESS }))
    }

    fn visit(&mut self, block: usize) {
        let Some((last, mut known)) = self.at_end(block) else { return };
        let to = self.resolved(&known, last);
        self.step(&mut known, last);
        known.end_block();
        if let End::Call(callee) = self.ends[block] {
            let written = self.functions.written_by(callee);
            known.keep(|slot| !written.contains(slot));
            if block + 1 < self.ends.len() {
                self.propagate(block + 1, known);
            }
            return;
        }
        let found = match to {
            // This adds an edge if the target is the start of a block. Otherwise the program gets a new label, and the next round follows
            // the jump.
            Some(To::Line(line)) => {
                Some(self.cfg.block_of(line)).filter(|b| self.cfg.blocks[*b].start == line)
            }
            _ => None,
        };
        let next: Vec<usize> = self.cfg.blocks[block].succs.iter().copied().chain(found).collect();
        next.into_iter().for_each(|block| self.propagate(block, known.clone()));
    }

    /// Joins `known` into the state at the start of a block, and queues the block if that state changed.
    fn propagate(&mut self, block: usize, known: Known) {
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
