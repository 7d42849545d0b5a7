//! The specification of wait states, derived directly from the rows of the rule table: on every path, for every pair of instructions on the
//! path, the number of wait states between the two is at least the number that each applicable rule requires.
//!
//! The specification takes only facts from the library (the rows, the properties of an instruction, and the registers that it uses) and no
//! judgement. It interprets conditions, links and overlaps with code of its own, and it enumerates paths instead of joining them.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use gcn_isa::hazards::{self, Condition, Kinds, Link, Overlap, Role, Rule, RuleSet, Use, View, WaitStates};
use gcn_isa::{Inst, Operand, Reg, Target, reg};

use super::program::Next;

/// The facts about an instruction.
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

    /// The registers that the instruction takes over from earlier instructions by writing them: all registers for a matrix instruction,
    /// only SGPRs for other instructions.
    fn taken_over(&self) -> impl Iterator<Item = Reg> {
        let roles = if self.kinds.intersects(Kinds::MATRIX) { Role::WRITES } else { Role::SDST };
        self.registers(roles).map(|u| u.reg)
    }

    /// The register that the instruction writes and that a later instruction may take over.
    fn owned(&self) -> Option<Reg> {
        self.taken_over().find(|r| *r != reg::EXEC)
    }
}

/// The relevant events between two instructions of a path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Between {
    /// The registers that the first instruction owned and that a later instruction has taken over.
    lost: u32,
    /// The kinds of instructions that occurred in between, out of the kinds for which some rule checks.
    passed: Kinds,
}

/// The common registers of two tuples, counted from the start of the first tuple.
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
    /// The rules of `target` that are enabled by default; if `xnack` is true, with the rules for XNACK replay.
    pub fn of(target: Target, xnack: bool) -> Rules {
        let rules = hazards::rules(target).filter(|r| RuleSet::Safe.contains(*r) && (xnack || !r.xnack));
        let rules: Vec<_> = rules.filter_map(|r| Some((r, r.states(target)?))).collect();
        let by = |r: &(&'static Rule, _)| {
            if let Link::Crossing { by, .. } = r.0.link { by } else { Kinds::empty() }
        };
        let between = rules.iter().map(by).fold(Kinds::empty(), Kinds::union);
        Rules { rules, between }
    }

    /// The rules that apply to the pair, each with its required number of wait states.
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

    /// The largest number of wait states that any rule requires after `first`.
    pub fn longest_after(&self, first: &Facts) -> u8 {
        let may = self.rules.iter().filter(|r| first.kinds.intersects(r.0.first.any));
        may.map(|r| number(r.1, first.passes)).max().unwrap_or(0)
    }

    /// The value of `between` after one more instruction.
    pub fn pass(&self, between: Between, first: &Facts, passed: &Facts) -> Between {
        let mine = first.owned().into_iter();
        let lost = mine.flat_map(|mine| passed.taken_over().flat_map(move |other| common(mine, other)));
        let lost = lost.fold(0, |set, i| set | 1 << i);
        Between { lost: between.lost | lost, passed: between.passed | (passed.kinds & self.between) }
    }

    /// True if the successive memory instructions `clause` must not be replayed together, because an instruction reads a register that is
    /// overwritten, or because a store follows a load.
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

/// The number of wait states of a row for an instruction with this number of passes.
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
        // This link depends on the whole clause: see `Rules::is_unsafe_to_replay`.
        Link::Clause { .. } => false,
    }
}

/// True if both instructions use a common register in these roles, as `overlap` specifies, and the first instruction still owns that
/// register.
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

/// A line of a program that is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The index of the line's instruction in [`Spec::facts`].
    pub letter: usize,
    /// The number of wait states that the line provides.
    pub states: u32,
}

/// The pairs of lines that some path brings too close together. For each pair: the wait states that are required, and the wait states on
/// the shortest such path.
pub type TooClose = BTreeMap<(usize, usize), (u8, u32)>;

/// The specification for programs over a few instructions. The rules for each pair of instructions are looked up only once.
pub struct Spec {
    pub rules: Rules,
    pub facts: Vec<Facts>,
    known: RefCell<HashMap<(usize, usize, Between), u8>>,
}

impl Spec {
    pub fn new(rules: Rules, facts: Vec<Facts>) -> Spec {
        Spec { rules, facts, known: RefCell::default() }
    }

    /// The number of wait states that the rules require between two instructions.
    pub fn need(&self, first: usize, second: usize, between: Between) -> u8 {
        *self.known.borrow_mut().entry((first, second, between)).or_insert_with(|| {
            let binding = self.rules.binding(&self.facts[first], &self.facts[second], between);
            binding.map(|r| r.1).max().unwrap_or(0)
        })
    }

    /// Every pair of lines that some path brings too close together. `next` has the lines that may execute after each line.
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

    /// Every line at which some path has a clause that must not be replayed. A clause consists of successive memory instructions of one
    /// kind.
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

/// Tests that the inserter may forget an execution of a line when the line is executed again, because the later execution is nearer. This
/// must also hold for a rule with an instruction in between, because by the second execution the earlier one is too far away. The
/// instruction in between may be another instruction or the producer itself.
#[test]
fn rules_with_an_instruction_between_reach_over_no_second_execution_of_their_producer() {
    for rule in hazards::all().filter(|r| matches!(r.link, Link::Crossing { .. })) {
        for (_, states) in rule.need {
            assert!(matches!(states, WaitStates::Const(0..=2)), "{rule}");
        }
    }
}
