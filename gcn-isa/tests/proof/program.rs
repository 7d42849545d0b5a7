//! The programs of a scope: blocks with instructions from an alphabet in a given layout, and the control flow of these programs.

use std::collections::HashMap;
use std::sync::Arc;

use gcn_isa::target::Subtarget;
use gcn_isa::{Inst, Label, Operand, Program, table};

use super::graphs::{End, Layout};

/// The lines that may execute after a line.
pub type Next = Vec<usize>;

/// The instructions of an alphabet and the instructions that end blocks. Each is created only once, so that a line of a program is
/// identified by its pointer.
pub struct Letters {
    pub on: Subtarget,
    pub body: Vec<Arc<Inst>>,
    stop: Arc<Inst>,
    jumps: Vec<Arc<Inst>>,
    branches: Vec<Arc<Inst>>,
    /// The number of each instruction by its address.
    numbers: HashMap<usize, usize>,
}

/// The maximum number of blocks of a graph.
const BLOCKS: u32 = 4;

impl Letters {
    pub fn new(on: impl Into<Subtarget>, body: Vec<Inst>) -> Letters {
        let on = on.into();
        let make = |name: &str, operand: Option<Operand>| {
            let row = table::find(on.target, name).next().expect("every target has branches");
            Arc::new(Inst::new(row, operand))
        };
        let to = |name| (0..BLOCKS).map(|b| make(name, Some(Operand::Label(Label(b))))).collect();
        let mut letters = Letters {
            on,
            body: body.into_iter().map(Arc::new).collect(),
            stop: make("s_endpgm", None),
            jumps: to("s_branch"),
            branches: to("s_cbranch_scc1"),
            numbers: HashMap::new(),
        };
        letters.numbers = letters.all().map(|l| Arc::as_ptr(l).addr()).zip(0..).collect();
        letters
    }

    /// All letters: first the letters of block bodies, then the letters that end blocks.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Inst>> {
        self.body.iter().chain([&self.stop]).chain(&self.jumps).chain(&self.branches)
    }

    /// The number of the instruction in [`Letters::all`]; `None` for an inserted instruction.
    pub fn number(&self, inst: &Arc<Inst>) -> Option<usize> {
        self.numbers.get(&Arc::as_ptr(inst).addr()).copied()
    }

    /// The program with these blocks.
    pub fn program(&self, layout: &Layout, bodies: &[&[u8]]) -> Program {
        let mut program = Program::new(self.on.target, String::new());
        program.wave = self.on.wave;
        for ((body, end), name) in bodies.iter().zip(&layout.ends).zip(["L0", "L1", "L2", "L3"]) {
            let label = program.new_label(name);
            program.place(label);
            for letter in *body {
                program.push(Arc::clone(&self.body[usize::from(*letter)]));
            }
            let (branch, last) = match *end {
                End::RunsOn => (None, None),
                End::Stop => (None, Some(&self.stop)),
                End::Jump(to) => (None, Some(&self.jumps[to])),
                End::Branch(to) => (Some(&self.branches[to]), None),
                End::BranchOrJump(a, b) => (Some(&self.branches[a]), Some(&self.jumps[b])),
            };
            for inst in branch.into_iter().chain(last) {
                program.push(Arc::clone(inst));
            }
        }
        program
    }
}

/// The lines that may execute after each line, and the lines at which control enters. Control enters at the first line, and at the first
/// line of code to which no line leads, because the analyses assume that such code is also entered. Unreachable code does not lead into the
/// rest.
pub struct Paths {
    pub next: Vec<Next>,
    pub roots: Vec<usize>,
    /// For each line, whether control may reach it.
    pub reached: Vec<bool>,
}

impl Paths {
    pub fn of(program: &Program) -> Paths {
        let lines = program.lines.len();
        let mut next: Vec<Next> = (0..lines).map(|l| after(program, l)).collect();
        let (mut seen, mut roots) = (vec![false; lines], Vec::new());
        let mut reached = Vec::new();
        for line in 0..lines {
            if !seen[line] {
                roots.push(line);
                flood(&next, &mut seen, line);
            }
            if line == 0 {
                reached.clone_from(&seen);
            }
        }
        for (next, _) in next.iter_mut().zip(&reached).filter(|(_, reached)| !**reached) {
            next.retain(|l| !reached[*l]);
        }
        Paths { next, roots, reached }
    }
}

fn after(program: &Program, line: usize) -> Next {
    let inst = &program.lines[line].inst;
    let runs_on = !matches!(inst.desc.mnemonic, "s_endpgm" | "s_branch");
    let mut next: Next = runs_on.then_some(line + 1).into_iter().collect();
    if let Some(Operand::Label(Label(label))) = inst.operands.first() {
        next.extend(program.labels[*label as usize].at);
    }
    next.retain(|l| *l < program.lines.len());
    next.dedup();
    next
}

fn flood(next: &[Next], seen: &mut [bool], from: usize) {
    let mut open = vec![from];
    while let Some(line) = open.pop() {
        if !std::mem::replace(&mut seen[line], true) {
            open.extend(&next[line]);
        }
    }
}
