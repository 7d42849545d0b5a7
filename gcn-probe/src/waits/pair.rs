//! Finds pairs of instructions that a rule covers, by the rule's conditions on kinds and registers, and checks by simulation that their
//! order matters.

use gcn_isa::hazards::{Condition, Config, Dependency, Link, Role, Rule, RuleSet, Since, Use, View};
use gcn_isa::inst::RegUse;
use gcn_isa::operand::SrcSpecial;
use gcn_isa::reg::{self, RegUnit};
use gcn_isa::table::{self, Access, Behaviours, Class, Format, ImplicitRegs, InstDesc, OperandKinds, Unit};
use gcn_isa::{Inst, Operand, Reg, Target};
use gcn_sim::Options;

use crate::bench::{Bench, FIRST, SMALL, Surroundings};
use crate::builder::Builder;
use crate::case::print;
use crate::random::Random;

/// What stands between two instructions that are far apart.
const SETTLED: &str = "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\ns_nop 15\ns_nop 15\ns_nop 15";

/// Two instructions with the dependence that a rule describes.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The first instruction.
    pub first: Inst,
    /// An instruction that must be between the two for the rule to apply; `None` if none is needed.
    pub between: Option<Inst>,
    /// The second instruction.
    pub second: Inst,
    /// The number of passes of the first instruction.
    pub passes: u8,
    /// Registers that an indexed access may reach in addition to those that the instructions name.
    wider: Vec<Reg>,
    /// The number of wait states that the rule requires.
    pub asked: u8,
    /// The strictest rule for this pair, and the number of wait states that it requires.
    pub most: (&'static str, u8),
}

impl Pair {
    fn insts(&self) -> impl Iterator<Item = &Inst> {
        [Some(&self.first), self.between.as_ref(), Some(&self.second)].into_iter().flatten()
    }

    /// The instructions in order, with `states` wait states in between, or far apart if `states` is `None`. Returns `None` if the
    /// instructions that must be between the two take longer than `states`, for example the wait for a memory result, without which the
    /// second instruction would read nothing meaningful.
    pub fn body(&self, target: Target, states: Option<u8>, around: Surroundings) -> Option<String> {
        let mut between = Vec::new();
        if returns_later(&self.first) {
            between.push("s_waitcnt vmcnt(0) lgkmcnt(0)".to_owned());
        }
        between.extend(self.between.as_ref().map(|inst| print(inst, target)));
        if around == Surroundings::Branch {
            between.push("s_branch over\ns_trap 2\nover:".to_owned());
        }
        match states {
            None => between.push(SETTLED.to_owned()),
            Some(states) => {
                let rest = u32::from(states).checked_sub(between.len() as u32)?;
                between.extend(gcn_isa::hazards::nops(rest).map(|n| format!("s_nop {n}")));
            }
        }
        let (first, second) = (print(&self.first, target), print(&self.second, target));
        Some(format!("{first}\n{}\n{second}", between.join("\n")))
    }

    /// The pair in one line.
    pub fn text(&self, target: Target) -> String {
        self.insts().map(|inst| print(inst, target)).collect::<Vec<_>>().join("; ")
    }
}

/// A pair, and a program whose results depend on the order of the two.
#[derive(Debug, Clone)]
pub struct Measurable {
    /// The pair.
    pub pair: Pair,
    /// The program.
    pub bench: Bench,
}

/// True if the result comes from memory, so that the program must wait on a counter.
fn returns_later(inst: &Inst) -> bool {
    let memory = inst.desc.is_vmem() || inst.desc.is_ds() || inst.desc.is_smem();
    memory && inst.desc.operands.iter().any(|o| o.access != Access::Read)
}

/// The reason why a rule is not measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmeasured {
    /// The rule matters only if page faults are replayed.
    Replay,
    /// No source requires the rule for the results to be correct.
    Moot,
    /// No instruction that a probe may run meets one of the rule's conditions.
    NoInstruction,
    /// No two such instructions have the rule's dependence.
    NoPair,
    /// The results are the same in either order.
    NoSign,
}

impl Unmeasured {
    /// The reason in words.
    pub const fn words(self) -> &'static str {
        match self {
            Unmeasured::Replay => "matters only when page faults are replayed",
            Unmeasured::Moot => "no source says that it matters",
            Unmeasured::NoInstruction => "no instruction that a probe may run meets its conditions",
            Unmeasured::NoPair => "no two instructions that a probe may run depend on each other like this",
            Unmeasured::NoSign => "the order of the two instructions does not show in results",
        }
    }
}

/// The number of random instruction pairs to try for a rule.
const TRIES: usize = 8000;
/// The number of pairs to simulate in order to see whether their order matters.
const SIMULATED: usize = 400;

/// Pairs for a rule: `many` for each pass count of the first instruction. Pairs for which no other rule is stricter come first.
///
/// # Errors
/// The reason why there is no pair.
pub fn pairs(
    rule: &'static Rule,
    target: Target,
    seed: u64,
    many: usize,
) -> Result<Vec<Measurable>, Unmeasured> {
    if rule.xnack {
        return Err(Unmeasured::Replay);
    }
    if !RuleSet::Safe.contains(rule) {
        return Err(Unmeasured::Moot);
    }
    let only = only(rule.id);
    let mut random = Random::of(seed, rule.id, 0);
    let rows: Vec<&'static InstDesc> = table::rows_on(target).filter(|row| is_usable(row)).collect();
    let meets = |condition: Condition, roles: Role| -> Vec<&'static InstDesc> {
        let mut random = Random::of(seed, rule.id, 1);
        let may_meet = |row: &&&'static InstDesc| {
            (0..MODIFIED).any(|i| {
                let inst = Builder::default().inst(row, target, &mut random, i > 0, i > 0);
                let view = inst.map(|inst| View::new(target, &inst));
                view.is_some_and(|view| {
                    let plays = |u: &Use| u.role.intersects(roles);
                    condition.holds(view.kinds()) && (roles.is_empty() || view.uses().iter().any(plays))
                })
            })
        };
        rows.iter().filter(may_meet).copied().collect()
    };
    let (plays, played) = match rule.link {
        // A status flag is not an operand, so the second instruction has no operand role to match.
        Link::Registers { first, second, .. } if second.contains(Role::ZERO_FLAG) => (first, Role::empty()),
        Link::Registers { first, second, .. } => (first, second),
        Link::Crossing { second, .. } => (Role::VDST, second),
        Link::Writes(_) => (Role::SDST, Role::empty()),
        _ => (Role::empty(), Role::empty()),
    };
    let (firsts, seconds) = (meets(rule.first, plays), meets(rule.second, played));
    if firsts.is_empty() || seconds.is_empty() {
        return Err(Unmeasured::NoInstruction);
    }
    let crossing = match rule.link {
        Link::Crossing { by, .. } => meets(Condition::any(by), Role::empty()),
        _ => Vec::new(),
    };
    let mut found: Vec<Measurable> = Vec::new();
    let (mut bound, mut simulated) = (false, 0);
    for attempt in 0..TRIES {
        // Pairs that also depend on each other in another way, or for which another rule is stricter, are accepted only after many attempts
        // have found no better ones.
        let (shadowed, entangled) = (attempt > TRIES / 2, attempt > TRIES / 4);
        let (first, second) = (random.one_of(&firsts), random.one_of(&seconds));
        let between = (!crossing.is_empty()).then(|| random.one_of(&crossing));
        let Some(pair) = candidate(rule, target, (first, between, second), only, &mut random) else {
            continue;
        };
        bound = true;
        let alike = found.iter().filter(|other| other.pair.passes == pair.passes).count();
        let ids = |pair: &Pair| [pair.first.desc.id, pair.second.desc.id];
        let again = found.iter().any(|other| ids(&other.pair) == ids(&pair));
        let refused = pair.most.1 > pair.asked && !shadowed || !depends_only(&pair, rule) && !entangled;
        if alike >= many || again || refused || masks(&pair, rule) {
            continue;
        }
        simulated += 1;
        let small = small(&pair.first, &pair.second);
        let insts: Vec<&Inst> = pair.insts().collect();
        let bench = Bench::new(target, &insts, &small, &pair.wider, &mut random);
        // Inactive lanes would hide a difference, so the order must matter with every lane active as well.
        let by_exec = rule.link == Link::Writes(reg::EXEC);
        let in_all_lanes = || by_exec || shows(&pair, &bench.with_all_lanes(), target, rule);
        if shows(&pair, &bench, target, rule) && in_all_lanes() {
            found.push(Measurable { pair, bench });
            // Pairs are counted per pass count only if the first instruction has passes.
            if found.len() >= many && found.iter().all(|other| other.pair.passes == 0) {
                break;
            }
        }
        if simulated >= SIMULATED {
            break;
        }
    }
    match (found.is_empty(), bound) {
        (false, _) => Ok(found),
        (true, true) => Err(Unmeasured::NoSign),
        (true, false) => Err(Unmeasured::NoPair),
    }
}

/// The number of modifier combinations to try when testing whether a row can meet a condition: first the defaults, then random ones.
const MODIFIED: usize = 12;

/// A configuration in which only this rule is enabled.
///
/// Starts from the default configuration and disables every other rule.
pub fn only(id: &str) -> Config {
    let mut config = Config::default();
    for rule in gcn_isa::hazards::all().filter(|rule| rule.id != id) {
        config = config.without(rule.id).unwrap_or(config);
    }
    config
}

/// The largest number of wait states that any other rule requires between the two; `None` if no other rule applies.
pub fn others_ask(pair: &Pair, rule: &Rule, target: Target) -> Option<u8> {
    let (a, b) = (View::new(target, &pair.first), View::new(target, &pair.second));
    let since = since(pair.between.as_ref(), &a, target);
    let needs = a.required_all_since(&b, Config::default(), since);
    needs.iter().filter(|need| need.rule != rule).map(|need| need.states).max()
}

/// The state that `between` creates for rules that depend on what followed the first instruction.
fn since(between: Option<&Inst>, first: &View, target: Target) -> Since {
    between.map_or(Since::NOTHING, |inst| Since::NOTHING.past(first, &View::new(target, inst)))
}

/// A pair of these rows to which the rule applies.
fn candidate(
    rule: &'static Rule,
    target: Target,
    (first, between, second): (&'static InstDesc, Option<&'static InstDesc>, &'static InstDesc),
    only: Config,
    random: &mut Random,
) -> Option<Pair> {
    let mut builder = Builder::default();
    let mut first = builder.inst(first, target, random, true, true)?;
    let between = match between {
        Some(row) => Some(builder.inst(row, target, random, false, true)?),
        None => None,
    };
    let mut second = builder.inst(second, target, random, true, true)?;
    // Most links are through a register that the first instruction names; some are through a fixed register.
    if let Link::Writes(register) = rule.link {
        give(&mut first, register, Access::Read, random);
    }
    let a = View::new(target, &first);
    if !rule.first.holds(a.kinds()) {
        return None;
    }
    if matches!(rule.link, Link::Registers { .. } | Link::Crossing { .. }) {
        tie(&first, &mut second, random);
    }
    let b = View::new(target, &second);
    let since = since(between.as_ref(), &a, target);
    let asked = a.required_since(&b, only, since)?.states;
    let most =
        a.required_since(&b, Config::default(), since).map_or((rule.id, asked), |n| (n.rule.id, n.states));
    let encodes = |inst: &Inst| gcn_emit::encode::encode_inst(inst, target).is_ok();
    if !encodes(&first) || !encodes(&second) || !between.as_ref().is_none_or(encodes) {
        return None;
    }
    Some(Pair { passes: a.passes(), first, between, second, wider: builder.wider, asked, most })
}

/// True if one of the two changes EXEC for the other, and that is not what the rule is about.
fn masks(pair: &Pair, rule: &Rule) -> bool {
    let is_masked = pair.second.desc.format.unit() != Unit::Scalar;
    let writes_exec = |inst: &Inst| inst.writes().iter().any(|write| write.reg.overlaps(reg::EXEC));
    let by_exec = rule.link == Link::Writes(reg::EXEC);
    writes_exec(&pair.first) && is_masked && !by_exec || writes_exec(&pair.second)
}

/// True if the rule's dependence is the only one between the two. Otherwise their order could affect the results although the rule's
/// dependence does not.
fn depends_only(pair: &Pair, rule: &Rule) -> bool {
    let meet = |a: &[RegUse], b: &[RegUse]| a.iter().any(|a| b.iter().any(|b| a.reg.overlaps(b.reg)));
    let (first, second) = (&pair.first, &pair.second);
    let raw = meet(&first.writes(), &second.reads());
    let waw = meet(&first.writes(), &second.writes());
    let war = meet(&first.reads(), &second.writes());
    match rule.dependency() {
        Dependency::Raw => !waw && !war,
        Dependency::Waw => !raw && !war,
        Dependency::War => !raw && !waw,
        Dependency::Replay | Dependency::Structural => true,
    }
}

/// True if the rule's dependence affects the results, and every register used as an address stays small in all orders.
///
/// Simulates, without hazards, what hardware computes that misses this dependence and no other one: the register of the rule is old, or
/// written late.
fn shows(pair: &Pair, bench: &Bench, target: Target, rule: &Rule) -> bool {
    // A program of some of the instructions, far apart.
    let run = |bench: &Bench, insts: &[&Inst]| {
        let texts: Vec<String> = insts.iter().map(|inst| print(inst, target)).collect();
        let launch = bench.launch(&texts.join(&format!("\n{SETTLED}\n")), Surroundings::Alone).ok()?;
        launch.simulate(&Options::default()).ok()
    };
    let (first, second) = (&pair.first, &pair.second);
    let in_order = pair.body(target, None, Surroundings::Alone);
    let right = in_order
        .and_then(|body| bench.launch(&body, Surroundings::Alone).ok()?.simulate(&Options::default()).ok());
    let (Some(right), Some(after_first)) = (right, run(bench, &[first])) else { return false };
    let linked = linked(pair, target, rule);
    let differ =
        |registers: &[Reg], wrong: &[u8]| bench.written(registers, &right) != bench.written(registers, wrong);
    // An instruction that takes MODE from before the first one: the initial one.
    let of_mode = matches!(rule.link, Link::Hwreg | Link::Always);
    let early = match of_mode {
        true => run(bench, &[second]),
        false => run(&bench.after(&after_first, &linked), &[second]),
    };
    let Some(early) = early else { return false };
    let shows = match rule.dependency() {
        // Both write MODE, and one of the two is lost: either of them must show.
        Dependency::Raw if of_mode && second.desc.class == Class::Setreg => {
            right != early && run(bench, &[second, first]).is_some_and(|late| right != late)
        }
        Dependency::Raw | Dependency::Structural => {
            let writes: Vec<Reg> = second.writes().iter().map(|write| write.reg).collect();
            differ(&writes, &early)
        }
        // The order shows in what both write, and with the result of the first alone.
        Dependency::Waw => {
            differ(&linked, &after_first)
                && run(bench, &[second, first]).is_some_and(|late| differ(&linked, &late))
        }
        // The first is executed again, after the second or before it. If it came only after it, a load would not read what it stores.
        Dependency::War => match (run(bench, &[first, first, second]), run(bench, &[first, second, first])) {
            (Some(right), Some(late)) => right != late,
            _ => false,
        },
        Dependency::Replay => false,
    };
    let is_address = |register: &Reg| {
        let values = |after| bench.scalar(*register, after).into_iter().flatten();
        [&right, &after_first, &early].into_iter().flat_map(|after| values(after)).all(|value| value < SMALL)
    };
    shows && scalar_addresses(second).iter().all(is_address)
}

/// The registers of a rule's dependence; none if that is through MODE.
fn linked(pair: &Pair, target: Target, rule: &Rule) -> Vec<Reg> {
    let (a, b) = match rule.link {
        Link::Registers { first, second, .. } => (first, second),
        Link::Crossing { second, .. } => (Role::VDST, second),
        Link::Writes(register) => return vec![register],
        Link::Hwreg | Link::Always | Link::Clause { .. } => return Vec::new(),
    };
    let [first, second] = [(&pair.first, a), (&pair.second, b)].map(|(inst, roles)| -> Vec<RegUnit> {
        let view = View::new(target, inst);
        let plays = view.uses().iter().filter(|u| u.role.intersects(roles));
        plays.flat_map(|u| u.reg.units()).collect()
    });
    first.into_iter().filter(|unit| second.contains(unit)).map(RegUnit::reg).collect()
}

/// The scalar registers that an instruction uses as an address offset or as an index.
fn scalar_addresses(inst: &Inst) -> Vec<Reg> {
    let offset = inst.operand("soffset").and_then(Operand::reg);
    let indexed = inst.desc.implicit_reads.contains(ImplicitRegs::M0).then_some(reg::M0);
    offset.into_iter().chain(indexed).collect()
}

/// Registers whose values must be small: those used in addresses, and the inputs from which the first instruction computes them.
fn small(first: &Inst, second: &Inst) -> Vec<Reg> {
    let mut small = scalar_addresses(second);
    if first.writes().iter().any(|write| small.iter().any(|s| s.overlaps(write.reg))) {
        small.extend(first.reads().iter().map(|read| read.reg));
    }
    small
}

/// True for an instruction that a probe may run: it neither leaves the program nor accesses state outside the harness.
fn is_usable(row: &InstDesc) -> bool {
    let class = row.class;
    let leaves = row.does(Behaviours::CALLS)
        || row.does(Behaviours::TO_REGISTER)
        || row.does(Behaviours::READS_PC)
        || row.ends_block()
        || row.branch_operand().is_some();
    let indexes = class == Class::Movrel;
    let modes = matches!(class, Class::Setreg | Class::Getreg) || row.does(Behaviours::SKIPS_VECTOR);
    let reads_m0 = row.implicit_reads.contains(ImplicitRegs::M0);
    match row.format.unit() {
        _ if leaves || class.is_boundary() && !modes && !indexes => false,
        Unit::Vector => !reads_m0,
        Unit::Scalar => row.format != Format::Sopp,
        Unit::Lds => {
            !class.is_atomic() && !matches!(class, Class::Gds | Class::Gws) && !row.default_mods().gds
        }
        Unit::VectorMemory => {
            !class.is_atomic()
                && !row.is_typed_buffer()
                && !matches!(row.format, Format::Scratch | Format::Mtbuf)
        }
        Unit::ScalarMemory => false,
    }
}

/// Replaces an operand by the given register where that is possible; operands with access `not` stay.
fn give(inst: &mut Inst, register: Reg, not: Access, random: &mut Random) {
    let slots: Vec<usize> = inst
        .desc
        .operands
        .iter()
        .enumerate()
        .filter(|(_, slot)| slot.access != not && slot.kinds.contains(OperandKinds::SGPR))
        .map(|(i, _)| i)
        .collect();
    if slots.is_empty() {
        return;
    }
    let i = random.one_of(&slots);
    let dwords = inst.desc.operands[i].dwords.max(1);
    if dwords <= register.len {
        inst.operands[i] = register.slice(0, dwords).into();
    }
}

/// Makes an operand of the second instruction equal to, or overlap, a register of the first.
fn tie(first: &Inst, second: &mut Inst, random: &mut Random) {
    let mut registers: Vec<Reg> = first.writes().iter().chain(first.reads().iter()).map(|u| u.reg).collect();
    registers.retain(|reg| !is_own(*reg));
    if registers.is_empty() {
        return;
    }
    let from = random.one_of(&registers);
    let flag = [(reg::VCC, SrcSpecial::Vccz), (reg::EXEC, SrcSpecial::Execz)];
    let flag = flag.into_iter().find(|(register, _)| register.overlaps(from)).map(|f| f.1);
    let slots: Vec<usize> = (0..second.operands.len())
        .filter(|i| match second.operands[*i] {
            Operand::Reg(reg) => reg.file == from.file && !is_own(reg),
            Operand::Inline(_) => {
                second.desc.operands[*i].kinds.contains(OperandKinds::SPECIAL)
                    || second.desc.operands[*i].kinds.contains(OperandKinds::SGPR)
            }
            _ => false,
        })
        .collect();
    if let Some(flag) = flag.filter(|_| random.below(2) == 0) {
        let special = |i: &usize| {
            second.desc.operands[*i].kinds.contains(OperandKinds::SPECIAL)
                && second.desc.operands[*i].access == Access::Read
        };
        let at: Vec<usize> = (0..second.operands.len()).filter(special).collect();
        if !at.is_empty() {
            second.operands[random.one_of(&at)] = Operand::Special(flag);
            return;
        }
    }
    if slots.is_empty() {
        return;
    }
    let i = random.one_of(&slots);
    let len = second.desc.operands[i].dwords.max(1);
    // Either exactly the same registers, or others that overlap them.
    let shift = random.one_of(&[0, 0, 2]);
    let index = from.index + if shift < u16::from(from.len) { shift } else { 0 };
    let tied = Reg { file: from.file, index, len };
    second.operands[i] = tied.into();
    // Sometimes also tie another operand of the same size, so that the matrix instruction accumulates in place.
    if second.desc.multiplies_matrices() && random.below(2) == 0 {
        let alike = |j: &usize| {
            *j != i
                && matches!(second.operands[*j], Operand::Reg(reg) if reg.file == tied.file && reg.len == len)
        };
        let all: Vec<usize> = (0..second.operands.len()).filter(alike).collect();
        if !all.is_empty() && random.below(2) == 0 {
            second.operands[random.one_of(&all)] = tied.into();
        }
    }
}

/// True for a register below [`FIRST`], which the harness uses.
fn is_own(register: Reg) -> bool {
    FIRST.iter().any(|(file, from)| register.file == *file && register.index < *from)
}
