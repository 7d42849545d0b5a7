//! The specification of wait states, read off the rows of the rule table: on every path, for every pair of instructions on it,
//! the wait states between the two are at least the number of each rule that binds them.
//!
//! It takes facts from the library (the rows; what an instruction is and which registers it uses) and no judgement: how a
//! condition, a link and an overlap are to be read is said here once more, and paths are enumerated, not joined.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use gcn_isa::hazards::{self, Condition, Kinds, Link, Overlap, Role, Rule, RuleSet, Use, View, WaitStates};
use gcn_isa::{Inst, Operand, Reg, Target, reg};

use super::program::Next;

/// An instruction, by its facts.
#[derive(Clone, Debug)]
pub struct Facts {
    pub kinds: Kinds,
    uses: Vec<Use>,
    passes: u8,
    opcode: u16,
    hwreg: Option<i64>,
}

impl Facts {
    pub fn of(target: Target, inst: &Inst) -> Facts {
        let view = View::new(target, inst);
        let hwreg = match inst.operand("hwreg") {
            Some(Operand::Imm(field)) => Some(field & 63),
            _ => None,
        };
        let uses = view.uses().to_vec();
        Facts { kinds: view.kinds(), uses, passes: view.passes(), opcode: inst.desc.id, hwreg }
    }

    fn registers(&self, roles: Role) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(move |u| u.role.intersects(roles))
    }

    /// The registers by which it takes over what earlier instructions have written: of a matrix instruction all, of others SGPRs.
    fn taken_over(&self) -> impl Iterator<Item = Reg> {
        let roles = if self.kinds.intersects(Kinds::MATRIX) { Role::WRITES } else { Role::SDST };
        self.registers(roles).map(|u| u.reg)
    }

    /// What it writes and a later instruction may take over.
    fn owned(&self) -> Option<Reg> {
        self.taken_over().find(|r| *r != reg::EXEC)
    }
}

/// What has come between two instructions of a path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Between {
    /// Of the registers that the first one owns, those that a later instruction has taken over.
    lost: u32,
    /// Of the kinds that some rule asks for between two instructions, those that came.
    passed: Kinds,
}

/// The common registers of two tuples, counted from the start of the first.
fn common(x: Reg, y: Reg) -> impl Iterator<Item = u16> {
    (0..u16::from(x.len)).filter(move |i| {
        let register = x.index + i;
        x.file == y.file && y.index <= register && register < y.index + u16::from(y.len)
    })
}

/// The rules of a target.
pub struct Rules {
    rules: Vec<(&'static Rule, WaitStates)>,
    between: Kinds,
}

impl Rules {
    /// Those of `target` that count by default; with XNACK replay if `xnack`.
    pub fn of(target: Target, xnack: bool) -> Rules {
        let rules = hazards::rules(target).filter(|r| RuleSet::Safe.contains(*r) && (xnack || !r.xnack));
        let rules: Vec<_> = rules.filter_map(|r| Some((r, r.states(target)?))).collect();
        let by = |r: &(&'static Rule, _)| {
            if let Link::Crossing { by, .. } = r.0.link { by } else { Kinds::empty() }
        };
        let between = rules.iter().map(by).fold(Kinds::empty(), Kinds::union);
        Rules { rules, between }
    }

    /// The rules that bind the pair, each with its number.
    pub fn binding<'a>(
        &'a self,
        first: &'a Facts,
        second: &'a Facts,
        between: Between,
    ) -> impl Iterator<Item = (&'static Rule, u8)> + 'a {
        let meets = |c: Condition, f: &Facts| f.kinds.intersects(c.any) && !f.kinds.intersects(c.none);
        let binds = move |r: &Rule| {
            meets(r.first, first) && meets(r.second, second) && is_linked(r.link, first, second, between)
        };
        self.rules.iter().filter(move |r| binds(r.0)).map(|r| (r.0, number(r.1, first.passes)))
    }

    /// The longest wait after `first`, whatever follows.
    pub fn longest_after(&self, first: &Facts) -> u8 {
        let may = self.rules.iter().filter(|r| first.kinds.intersects(r.0.first.any));
        may.map(|r| number(r.1, first.passes)).max().unwrap_or(0)
    }

    /// `between` after one more instruction.
    pub fn pass(&self, between: Between, first: &Facts, passed: &Facts) -> Between {
        let mine = first.owned().into_iter();
        let lost = mine.flat_map(|mine| passed.taken_over().flat_map(move |other| common(mine, other)));
        let lost = lost.fold(0, |set, i| set | 1 << i);
        Between { lost: between.lost | lost, passed: between.passed | (passed.kinds & self.between) }
    }

    /// True if the memory instructions `clause`, which stand one after another, may not be replayed together: what one reads is
    /// overwritten, or a store follows a load.
    pub fn is_unsafe_to_replay(&self, clause: &[&Facts]) -> bool {
        let bounded = self.rules.iter().any(|r| matches!(r.0.link, Link::Clause { .. }));
        let Some((last, earlier)) = clause.split_last().filter(|_| bounded) else { return false };
        let written = |f: &&Facts| f.registers(Role::WRITES).map(|u| u.reg).collect::<Vec<_>>();
        let loads = earlier.iter().any(|f| !written(f).is_empty());
        let stores = last.kinds.intersects(Kinds::STORE | Kinds::LDS_DMA);
        let mut reads = clause.iter().flat_map(|f| f.registers(Role::READS));
        let all: Vec<Reg> = clause.iter().flat_map(written).collect();
        loads && (stores || reads.any(|r| all.iter().any(|w| common(r.reg, *w).next().is_some())))
    }
}

/// A row's number of wait states, after an instruction of so many passes.
fn number(states: WaitStates, passes: u8) -> u8 {
    let plus = |k: i8| (i16::from(passes) + i16::from(k)).max(0) as u8;
    match states {
        WaitStates::Const(n) => n,
        WaitStates::Passes(k) => plus(k),
        WaitStates::PassesBut2 { at2, plus: k } => {
            if passes == 2 {
                at2
            } else {
                plus(k)
            }
        }
        WaitStates::OnlyAt2(n) => {
            if passes == 2 {
                n
            } else {
                0
            }
        }
    }
}

fn is_linked(link: Link, first: &Facts, second: &Facts, between: Between) -> bool {
    match link {
        Link::Registers { first: a, second: b, overlap } => share(first, a, second, b, overlap, between),
        Link::Crossing { second: b, by } => {
            between.passed.intersects(by) && share(first, Role::VDST, second, b, Overlap::Any, between)
        }
        Link::Writes(reg) => first.registers(Role::SDST).any(|u| common(u.reg, reg).next().is_some()),
        Link::Hwreg => first.hwreg.is_some() && first.hwreg == second.hwreg,
        Link::Always => true,
        // It takes the whole clause: `Rules::is_unsafe_to_replay`.
        Link::Clause { .. } => false,
    }
}

/// True if the two use a register in these roles, as `overlap` says, that is still the first one's.
fn share(first: &Facts, a: Role, second: &Facts, b: Role, overlap: Overlap, between: Between) -> bool {
    let (opcode, passes) = (first.opcode == second.opcode, first.passes == second.passes);
    let holds = |exact: bool| match overlap {
        Overlap::Any | Overlap::AnyLive => true,
        Overlap::AnySameOpcode => opcode,
        Overlap::AnyOtherOpcode => !opcode,
        Overlap::Partial | Overlap::PartialEver => !exact,
        Overlap::Exact => exact,
        Overlap::ExactOtherOpcode => exact && !opcode,
        Overlap::ExactSamePassesOtherOpcode => exact && passes && !opcode,
        Overlap::ExactOtherPasses => exact && !passes,
    };
    first.registers(a).any(|x| {
        let counts = match overlap {
            Overlap::AnyLive => true,
            Overlap::PartialEver => false,
            _ => x.role.intersects(Role::VDST),
        };
        let lost = if counts && first.owned() == Some(x.reg) { between.lost } else { 0 };
        second.registers(b).any(|y| holds(x.reg == y.reg) && common(x.reg, y.reg).any(|i| lost >> i & 1 == 0))
    })
}

/// A line of a program under judgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Which of the [`Spec::facts`] it has.
    pub letter: usize,
    /// The wait states that it is worth.
    pub states: u32,
}

/// A pair of lines that some path brings too close together: of the shortest such path, the wait states that are needed and those
/// that are there.
pub type TooClose = BTreeMap<(usize, usize), (u8, u32)>;

/// The specification for programs over a few instructions. What the rules say about two of them is looked up once.
pub struct Spec {
    pub rules: Rules,
    pub facts: Vec<Facts>,
    known: RefCell<HashMap<(usize, usize, Between), u8>>,
}

impl Spec {
    pub fn new(rules: Rules, facts: Vec<Facts>) -> Spec {
        Spec { rules, facts, known: RefCell::default() }
    }

    /// The wait states that the rules ask for between two instructions.
    pub fn need(&self, first: usize, second: usize, between: Between) -> u8 {
        *self.known.borrow_mut().entry((first, second, between)).or_insert_with(|| {
            let binding = self.rules.binding(&self.facts[first], &self.facts[second], between);
            binding.map(|r| r.1).max().unwrap_or(0)
        })
    }

    /// Every pair of lines that some path brings too close together. `next` says where control may go after a line.
    pub fn too_close(&self, lines: &[Step], next: &[Next]) -> TooClose {
        let mut found = TooClose::new();
        for (first, step) in lines.iter().enumerate() {
            let far = u32::from(self.rules.longest_after(&self.facts[step.letter]));
            let mut walked = BTreeSet::new();
            let mut paths: Vec<_> = next[first].iter().map(|l| (*l, 0, Between::default())).collect();
            while let Some((line, distance, between)) = paths.pop() {
                if distance >= far || !walked.insert((line, distance, between)) {
                    continue;
                }
                let second = lines[line];
                let need = self.need(step.letter, second.letter, between);
                if u32::from(need) > distance {
                    let worst = found.entry((first, line)).or_insert((need, distance));
                    *worst = std::cmp::min_by_key(*worst, (need, distance), |w| (w.1, Reverse(w.0)));
                }
                let between = self.rules.pass(between, &self.facts[step.letter], &self.facts[second.letter]);
                paths.extend(next[line].iter().map(|l| (*l, distance + second.states, between)));
            }
        }
        found
    }

    /// Every line at which some path has a clause that may not be replayed: memory instructions of one sort, one after another.
    pub fn unsafe_clauses(&self, lines: &[Step], next: &[Next], roots: &[usize]) -> BTreeSet<usize> {
        let sort = |line: usize| self.facts[lines[line].letter].kinds & (Kinds::SMEM | Kinds::VMEM);
        let mut found = BTreeSet::new();
        let mut walked = BTreeSet::new();
        let mut paths: Vec<(usize, usize)> = roots.iter().map(|r| (*r, *r)).collect();
        while let Some((start, line)) = paths.pop() {
            if !walked.insert((start, line)) {
                continue;
            }
            let clause: Vec<&Facts> = (start..=line).map(|l| &self.facts[lines[l].letter]).collect();
            if !sort(line).is_empty() && self.rules.is_unsafe_to_replay(&clause) {
                found.insert(line);
            }
            let goes_on = |l: usize| l == line + 1 && !sort(line).is_empty() && sort(l) == sort(line);
            paths.extend(next[line].iter().map(|l| (if goes_on(*l) { start } else { *l }, *l)));
        }
        found
    }
}

/// The inserter forgets an execution of a line when the line is executed again: the later one is nearer. For a rule with an
/// instruction between that holds only because the earlier one is then too far away: by the instruction between and by the
/// producer itself.
#[test]
fn rules_with_an_instruction_between_reach_over_no_second_execution_of_their_producer() {
    for rule in hazards::all().filter(|r| matches!(r.link, Link::Crossing { .. })) {
        for (_, states) in rule.need {
            assert!(matches!(states, WaitStates::Const(0..=2)), "{rule}");
        }
    }
}
