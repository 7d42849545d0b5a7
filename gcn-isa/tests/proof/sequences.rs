//! The specification of rules with remedies, derived directly from their rows ([`RemedyRule`]): on every path, if instructions take the
//! steps of a rule one after another, no instruction between them ends the sequence, and the distance is short enough, then the second
//! instruction must not follow.
//!
//! Like [`super::spec`], this specification takes only facts from the library (the rows, the properties of an instruction, and the
//! registers that it uses) and no judgement. A path is followed with one choice of instructions for the steps at a time; paths are not
//! joined, and no sequence represents another.

use std::collections::{BTreeMap, HashSet};

use gcn_isa::hazards::remedy::{
    self, Dependency, EndBy, Fix, FixParts, Remedy, RemedyRule, Step, Tie, WaitField, Waits, Which, Within,
};
use gcn_isa::hazards::{Condition, Kinds, Role, RuleSet, Use, View};
use gcn_isa::inst::Via;
use gcn_isa::reg::Half;
use gcn_isa::target::Subtarget;
use gcn_isa::{Inst, InstructionSet, Operand, RegFile, reg};

use super::program::Next;

/// A register, or half of a register, in a sequence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Unit {
    vector: bool,
    number: u16,
    half: Option<Half>,
}

impl Unit {
    fn meets(self, other: Unit) -> bool {
        let disjoint = self.half.is_some() && other.half.is_some() && self.half != other.half;
        (self.vector, self.number) == (other.vector, other.number) && !disjoint
    }

    /// True if `other` is completely contained in this unit.
    fn has_all_of(self, other: Unit) -> bool {
        self.meets(other) && (self.half.is_none() || self.half == other.half)
    }

    fn pair(self) -> u16 {
        self.number / 2
    }
}

/// The registers of a use that count, as separate units.
fn counted(which: Which, of: &Use) -> Vec<Unit> {
    let [vcc, exec, null] = [reg::VCC, reg::EXEC, reg::NULL].map(|r| r.index..r.index + u16::from(r.len));
    let mut units = Vec::new();
    for number in of.reg.index..of.reg.index + u16::from(of.reg.len) {
        let scalar = of.reg.file == RegFile::Sgpr;
        let numbered = scalar && (number < vcc.start || (108..124).contains(&number));
        let number = match which {
            Which::Vgprs if of.reg.file == RegFile::Vgpr => number,
            Which::Sgprs if numbered => number,
            Which::SgprPairs if numbered => number / 2 * 2,
            Which::Vcc if scalar && vcc.contains(&number) => vcc.start,
            Which::VccHalves if scalar && vcc.contains(&number) => number,
            Which::Exec if scalar && exec.contains(&number) => exec.start,
            Which::Scalars if scalar && !exec.contains(&number) && !null.contains(&number) => number,
            _ => continue,
        };
        units.push(Unit { vector: !scalar, number, half: of.half });
    }
    units
}

/// The facts about an instruction.
#[derive(Clone, Debug)]
pub struct Facts {
    pub kinds: Kinds,
    uses: Vec<Use>,
    waits: Waits,
    /// The amounts by which the instruction increases the four clocks: vector ALU instructions, transcendental instructions, scalar ALU
    /// instructions, wait states.
    counts: [u8; 4],
    /// The first source, if it is a VGPR. The following two are the values of the fields that wait.
    source: Option<u16>,
    wait_vdst: Option<u8>,
    wait_vm_vsrc: Option<u8>,
}

impl Facts {
    pub fn of(on: Subtarget, inst: &Inst) -> Facts {
        let view = View::new(on.target, inst);
        let kinds = view.kinds();
        let counts = [
            u8::from(kinds.intersects(Kinds::VALU | Kinds::MATRIX)),
            u8::from(kinds.intersects(Kinds::TRANS)),
            u8::from(kinds.intersects(Kinds::SALU) && !kinds.intersects(Kinds::CONTROL)),
            super::judge::wait_states(inst) as u8,
        ];
        let source = inst.operand("src0").and_then(Operand::reg).map(|r| r.index);
        let direct = kinds.intersects(Kinds::LDS_DIRECT);
        let vm_vsrc = direct && on.target.instruction_set() == InstructionSet::GFX12;
        Facts {
            kinds,
            uses: view.uses().iter().copied().filter(|u| u.via < Via::AnyIndex).collect(),
            waits: waits(on.target.instruction_set(), inst, vm_vsrc),
            counts,
            source,
            wait_vdst: direct.then_some(inst.mods.wait_vdst),
            wait_vm_vsrc: vm_vsrc.then_some(inst.mods.wait_vm_vsrc),
        }
    }

    pub fn is(&self, who: Condition) -> bool {
        self.kinds.intersects(who.any) && !self.kinds.intersects(who.none)
    }

    /// The registers that the instruction uses in some role, without duplicates.
    fn units(&self, roles: Role, which: Which) -> Vec<Unit> {
        let mut units: Vec<Unit> = self.operands(roles, which).into_iter().flatten().collect();
        units.sort_unstable();
        units.dedup();
        units
    }

    /// The registers that the instruction uses in some role, separately for each operand.
    fn operands(&self, roles: Role, which: Which) -> Vec<Vec<Unit>> {
        let uses = self.uses.iter().filter(|u| u.role.intersects(roles));
        uses.map(|u| counted(which, u)).collect()
    }

    pub fn waits_for_some(&self, any: Waits) -> bool {
        self.waits.intersects(any)
    }

    /// True if the instruction is a wait for dependencies.
    pub fn is_dependency_wait(&self) -> bool {
        self.kinds.intersects(Kinds::WAIT) && !self.waits.is_empty() && !self.waits.intersects(Waits::COUNTER)
    }

    /// True if the instruction increases a clock by one. The clocks count vector ALU, transcendental and scalar ALU instructions, and wait
    /// states.
    pub fn counts_one(&self, clock: usize) -> bool {
        self.counts[clock] == 1
    }

    /// True if the instruction is of the kind that the step names and, if the step requires a register, uses such a register.
    pub fn may_take(&self, step: &Step) -> bool {
        self.is(step.who) && (step.roles.is_empty() || !self.units(step.roles, step.which).is_empty())
    }
}

/// The dependencies that an instruction waits to complete, decoded with the operand layouts of the manuals.
fn waits(set: InstructionSet, inst: &Inst, vm_vsrc: bool) -> Waits {
    let imm = inst.operands.iter().find_map(|o| if let Operand::Imm(n) = o { Some(*n) } else { None });
    let imm = imm.unwrap_or_default();
    let field = |from: u32, bits: u32| imm >> from & ((1 << bits) - 1);
    let is_gfx10 = set < InstructionSet::GFX11;
    let mut waits = Waits::empty();
    match inst.desc.mnemonic {
        _ if vm_vsrc => waits.set(Waits::VM_VSRC, inst.mods.wait_vm_vsrc == 0),
        "s_waitcnt_depctr" | "s_wait_alu" => {
            waits.set(Waits::SA_SDST, field(0, 1) == 0);
            waits.set(Waits::VA_VCC, field(1, 1) == 0);
            waits.set(Waits::VM_VSRC, field(2, 3) == 0);
            waits.set(Waits::VA_SSRC, field(8, 1) == 0);
            waits.set(Waits::VA_SDST, field(9, 3) == 0);
            waits.set(Waits::VA_VDST, field(12, 4) == 0);
        }
        // The manual of RDNA 4 lacks this instruction, but assemblers accept it.
        "s_waitcnt" if set < InstructionSet::GFX12 => {
            let [vm, lgkm, exp] = if is_gfx10 {
                [field(0, 4) | field(14, 2), field(8, 6), field(4, 3)]
            } else {
                [field(10, 6), field(4, 6), field(0, 3)]
            };
            waits |= Waits::COUNTER;
            waits.set(Waits::LOADS, vm == 0);
            waits.set(Waits::LDS | Waits::SCALAR, lgkm == 0);
            waits.set(Waits::EVERY, [vm, lgkm, exp] == [0; 3]);
        }
        "s_waitcnt_vscnt" | "s_wait_storecnt" => {
            waits |= Waits::COUNTER;
            waits.set(Waits::STORES, imm == 0);
        }
        "s_waitcnt_vmcnt" | "s_wait_loadcnt" => {
            waits |= Waits::COUNTER;
            waits.set(Waits::LOADS, imm == 0);
        }
        "s_waitcnt_lgkmcnt" => {
            waits |= Waits::COUNTER;
            waits.set(Waits::LDS | Waits::SCALAR, imm == 0);
        }
        "s_wait_dscnt" => {
            waits |= Waits::COUNTER;
            waits.set(Waits::LDS, imm == 0);
        }
        "s_wait_kmcnt" => {
            waits |= Waits::COUNTER;
            waits.set(Waits::SCALAR, imm == 0);
        }
        _ => {}
    }
    waits
}

/// A choice of instructions for the first steps of a rule.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Sequence {
    /// The index of the step that was taken last.
    stage: usize,
    /// The registers that the sequence concerns.
    units: Vec<Unit>,
    /// The counts of the instructions that followed: since the last step, and before that since the first step.
    passed: [u8; 4],
}

/// The fix that each line needs.
pub type Fixes = BTreeMap<usize, Fix>;

/// The rules that apply to some of the letters.
pub struct Rules {
    rules: Vec<&'static RemedyRule>,
}

/// Every rule of `on` that is enabled by default.
pub fn rules(on: Subtarget) -> impl Iterator<Item = &'static RemedyRule> {
    remedy::rules(on.target).filter(move |r| r.waves.has(on.wave) && RuleSet::Safe.contains(*r))
}

impl Rules {
    /// The rules that instructions with these facts can break.
    pub fn of<'a>(on: Subtarget, facts: impl Iterator<Item = &'a Facts> + Clone) -> Rules {
        let some = |step: &Step| facts.clone().any(|f| f.may_take(step));
        Rules { rules: rules(on).filter(|r| r.steps.iter().chain([&r.second]).all(some)).collect() }
    }

    pub fn only(rule: &'static RemedyRule) -> Rules {
        Rules { rules: vec![rule] }
    }

    /// The fix that each line needs, for all lines that control reaches from the first line.
    pub fn broken(&self, facts: &[&Facts], next: &[Next]) -> Fixes {
        let mut found = Fixes::new();
        for rule in &self.rules {
            follow(rule, facts, next, |line, fix| {
                let known = found.entry(line).or_insert(Fix::NONE);
                *known = both(*known, fix);
            });
        }
        found
    }
}

/// The fix that satisfies both requirements.
fn both(a: Fix, b: Fix) -> Fix {
    Fix {
        waits: a.waits | b.waits,
        parts: a.parts | b.parts,
        moves: a.moves.or(b.moves),
        vector_nops: a.vector_nops.max(b.vector_nops),
        states: a.states.max(b.states),
        wait_vdst: a.wait_vdst.min(b.wait_vdst),
    }
}

/// Follows every path with every choice of steps.
fn follow(rule: &RemedyRule, facts: &[&Facts], next: &[Next], mut broken: impl FnMut(usize, Fix)) {
    let mut seen: HashSet<(usize, Vec<Unit>, Option<Sequence>)> = HashSet::new();
    let mut open = vec![(0, Vec::new(), None)];
    while let Some(place) = open.pop() {
        if place.0 >= facts.len() || !seen.insert(place.clone()) {
            continue;
        }
        let (line, begun, sequence) = place;
        let here = facts[line];
        if let Some(sequence) = &sequence
            && completes(rule, sequence, here)
            && let Some(fix) = asked(rule, sequence, here)
        {
            broken(line, fix);
        }
        let after = choices(rule, &begun, sequence.as_ref(), here);
        let begun = now_begun(rule, begun, here);
        for to in &next[line] {
            open.extend(after.iter().map(|s| (*to, begun.clone(), s.clone())));
        }
    }
}

/// The registers with which a sequence has begun on the path, if the rule requires them.
fn now_begun(rule: &RemedyRule, mut begun: Vec<Unit>, here: &Facts) -> Vec<Unit> {
    let asks = rule.ends.iter().any(|e| matches!(e.by, EndBy::Reads(..)));
    if asks && here.may_take(&rule.steps[0]) {
        begun.extend(here.units(rule.steps[0].roles, rule.steps[0].which));
        begun.sort_unstable();
        begun.dedup();
    }
    begun
}

/// The possible choices of steps after an instruction: the choice is unchanged, has one step more, or has just begun.
fn choices(
    rule: &RemedyRule,
    begun: &[Unit],
    sequence: Option<&Sequence>,
    here: &Facts,
) -> Vec<Option<Sequence>> {
    let Some(sequence) = sequence else {
        let first = begins(rule, here);
        let at_once = first.iter().filter(|_| rule.alone).flat_map(|s| goes_on(rule, s, here));
        let mut all: Vec<_> = at_once.collect();
        all.extend(first);
        return all.into_iter().map(Some).chain([None]).collect();
    };
    if !is_near(rule, sequence) || is_ended(rule, begun, sequence, here) {
        return Vec::new();
    }
    let mut all = goes_on(rule, sequence, here);
    // The vector ALU distance is counted from the last instruction that uses the register.
    let again = rule.remedy == Remedy::Field(WaitField::Valus)
        && begins(rule, here).iter().any(|s| s.units == sequence.units);
    if !again && !is_ended_then(rule, sequence, here) {
        let mut kept = sequence.clone();
        pass(rule, &mut kept, here);
        all.push(kept);
    }
    all.into_iter().map(Some).collect()
}

fn begins(rule: &RemedyRule, here: &Facts) -> Vec<Sequence> {
    let step = &rule.steps[0];
    if !here.may_take(step) {
        return Vec::new();
    }
    let begun = |units: Vec<Unit>| Sequence { stage: 0, units, passed: [0; 4] };
    match step.tie {
        Tie::Each => here.units(step.roles, step.which).into_iter().map(|u| begun(vec![u])).collect(),
        _ => vec![begun(Vec::new())],
    }
}

/// The sequences after the next step: one for each register with which the instruction can take the step.
fn goes_on(rule: &RemedyRule, sequence: &Sequence, here: &Facts) -> Vec<Sequence> {
    let stage = sequence.stage + 1;
    let Some(step) = rule.steps.get(stage).filter(|step| here.may_take(step)) else { return Vec::new() };
    let used = here.units(step.roles, step.which);
    let about = |units: Vec<Unit>| {
        let mut next = Sequence { stage, units, passed: sequence.passed };
        if stage + 1 == rule.steps.len() {
            next.passed = [0; 4];
        } else {
            pass(rule, &mut next, here);
        }
        next
    };
    let mine = &sequence.units;
    match step.tie {
        Tie::Each | Tie::Some => vec![about(mine.clone())],
        Tie::Same => used.iter().any(|u| u.meets(mine[0])).then(|| about(mine.clone())).into_iter().collect(),
        Tie::OfPair => {
            used.into_iter().filter(|u| u.pair() == mine[0].pair()).map(|u| about(vec![u])).collect()
        }
        Tie::Another => {
            used.into_iter().filter(|u| !u.meets(mine[0])).map(|u| about(vec![mine[0], u])).collect()
        }
        Tie::Both | Tie::Apart => unreachable!("a tie of second instructions"),
    }
}

/// Counts an instruction between the steps, to the extent that the rule requires.
fn pass(rule: &RemedyRule, sequence: &mut Sequence, here: &Facts) {
    let last = sequence.stage + 1 == rule.steps.len();
    let mut caps = reach(rule, sequence.stage).map(|far| if far == Within::EVER { 0 } else { far + 1 });
    match rule.remedy {
        Remedy::Field(WaitField::Valus) if last => caps[1] = caps[1].max(1),
        Remedy::States(most) if last => caps[3] = caps[3].max(most),
        _ => {}
    }
    for (clock, cap) in caps.into_iter().enumerate() {
        sequence.passed[clock] = (sequence.passed[clock].saturating_add(here.counts[clock])).min(cap);
    }
}

/// The maximum counts of instructions between the steps with which the sequence may continue.
fn reach(rule: &RemedyRule, stage: usize) -> [u8; 4] {
    let Within { valus, transcendentals, salus, states, valus_of_steps } = rule.within;
    match stage + 1 == rule.steps.len() {
        true => [valus, transcendentals, salus, states],
        false => [valus_of_steps, Within::EVER, Within::EVER, Within::EVER],
    }
}

fn is_near(rule: &RemedyRule, sequence: &Sequence) -> bool {
    let mut clocks = reach(rule, sequence.stage).into_iter().zip(sequence.passed);
    clocks.all(|(far, passed)| far == Within::EVER || passed <= far)
}

/// True if the instruction ends the sequence before it could take a step of the sequence.
fn is_ended(rule: &RemedyRule, begun: &[Unit], sequence: &Sequence, here: &Facts) -> bool {
    let mut ends = rule.ends.iter().filter(|e| e.stages >> sequence.stage & 1 == 1);
    ends.any(|end| match end.by {
        EndBy::Kind(who) => here.is(who),
        EndBy::Waits(any) => here.waits.intersects(any),
        EndBy::Reads(who, which) => {
            let is_begun = |u: &Unit| {
                let pairs = rule.steps[0].which == Which::SgprPairs;
                begun.iter().any(|b| if pairs { b.pair() == u.pair() } else { b == u })
            };
            here.is(who) && here.units(Role::SSRC, which).iter().any(is_begun)
        }
        EndBy::Uses(who, roles, which) => here.is(who) && uses_all(sequence, &here.units(roles, which)),
        EndBy::UsesThen(..) => false,
    })
}

/// True if the instruction ends the sequence after it could have taken a step of the sequence.
fn is_ended_then(rule: &RemedyRule, sequence: &Sequence, here: &Facts) -> bool {
    let mut ends = rule.ends.iter().filter(|e| e.stages >> sequence.stage & 1 == 1);
    ends.any(|end| match end.by {
        EndBy::UsesThen(who, roles, which) => here.is(who) && uses_all(sequence, &here.units(roles, which)),
        _ => false,
    })
}

/// True if some register of the sequence is used completely.
fn uses_all(sequence: &Sequence, used: &[Unit]) -> bool {
    sequence.units.iter().any(|mine| used.iter().any(|u| u.has_all_of(*mine)))
}

/// True if the instruction is the second instruction of the sequence.
fn completes(rule: &RemedyRule, sequence: &Sequence, here: &Facts) -> bool {
    let step = &rule.second;
    if sequence.stage + 1 < rule.steps.len() || !is_near(rule, sequence) || !here.may_take(step) {
        return false;
    }
    let used = here.units(step.roles, step.which);
    let has = |mine: &Unit| used.iter().any(|u| u.meets(*mine));
    match (step.tie, &sequence.units[..]) {
        (Tie::Each | Tie::Some, _) => true,
        (Tie::Same | Tie::Both, mine) => mine.iter().all(has),
        (Tie::OfPair, [mine]) => used.iter().any(|u| u.pair() == mine.pair()),
        (Tie::Apart, [a, b]) => {
            let operands = here.operands(step.roles, step.which);
            let in_it = |operand: &Vec<Unit>, mine: &Unit| operand.iter().any(|u| u.meets(*mine));
            let apart = |(x, y): (&Vec<Unit>, &Vec<Unit>)| x != y && in_it(x, a) && in_it(y, b);
            operands.iter().any(|x| operands.iter().any(|y| apart((x, y))))
        }
        (tie, units) => unreachable!("{tie:?} {units:?}"),
    }
}

/// The requirement of the rule before the second instruction or in it; `None` if it is already satisfied.
fn asked(rule: &RemedyRule, sequence: &Sequence, second: &Facts) -> Option<Fix> {
    let field = |most: u8| {
        let waits = second.wait_vdst.filter(|now| *now > most);
        waits.map(|_| Fix { wait_vdst: most, ..Fix::NONE })
    };
    let part = |parts: FixParts| Some(Fix { parts, ..Fix::NONE });
    let [valus, transcendentals, _, states] = sequence.passed;
    match rule.remedy {
        Remedy::Wait(dependency) => Some(Fix { waits: bit(dependency), ..Fix::NONE }),
        Remedy::VectorNops(all) => (valus < all).then(|| Fix { vector_nops: all - valus, ..Fix::NONE }),
        Remedy::MoveNull => part(FixParts::MOVE_NULL),
        Remedy::WaitStores => part(FixParts::WAIT_STORES),
        Remedy::MoveSource => Some(Fix { moves: second.source, ..Fix::NONE }).filter(|f| f.moves.is_some()),
        Remedy::States(all) => (states < all).then(|| Fix { states: all - states, ..Fix::NONE }),
        Remedy::Field(WaitField::Valus) => field(if transcendentals == 0 { valus } else { 0 }),
        Remedy::Field(WaitField::NoValu) => field(0),
        Remedy::Field(WaitField::NoVmem) => {
            second.wait_vm_vsrc.filter(|field| *field > 0).and_then(|_| part(FixParts::NO_VMEM))
        }
    }
}

fn bit(dependency: Dependency) -> Waits {
    match dependency {
        Dependency::SaSdst => Waits::SA_SDST,
        Dependency::VaVdst => Waits::VA_VDST,
        Dependency::VaSdst => Waits::VA_SDST,
        Dependency::VaSsrc => Waits::VA_SSRC,
        Dependency::VaVcc => Waits::VA_VCC,
        Dependency::VmVsrc => Waits::VM_VSRC,
    }
}
