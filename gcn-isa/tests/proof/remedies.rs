//! Rules with remedies: an alphabet for each rule, and the claims about each program. They are the claims for wait states
//! ([`super::judge`]), with one difference: instead of removing a wait state, an inserted instruction or one of the dependencies for which
//! it waits is removed, or a changed field is raised by one.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use gcn_emit::text::{parse_inst, parse_program};
use gcn_isa::check::{self, Amount, MemoryModel, Options};
use gcn_isa::hazards::Kinds;
use gcn_isa::hazards::remedy::{EndBy, Fix, Remedy, RemedyRule, WaitField, Within};
use gcn_isa::target::Subtarget;
use gcn_isa::wait::{self, Inserted, WaitOptions};
use gcn_isa::{Inst, Operand, Program, Target, WaveSize};

use super::classes::RDNA_CLASSES;
use super::judge::{is_only_longer_but, one_state_less, text};
use super::program::{Letters, Next, Paths};
use super::sequences::{Facts, Fixes, Rules, rules};

/// A processor of each instruction set.
pub const TARGETS: [Target; 5] =
    [Target::GFX1010, Target::GFX1030, Target::GFX1100, Target::GFX1150, Target::GFX1200];

/// An alphabet and its specification.
pub struct Family {
    pub name: String,
    pub letters: Letters,
    /// The facts about each letter.
    facts: Vec<Facts>,
    rules: Rules,
    /// The number of letters, counted from the first, that are enough for large scopes: the steps, the second instruction, and instructions
    /// that end the sequence.
    core: usize,
}

impl Family {
    fn new(name: String, on: Subtarget, body: Vec<Inst>) -> Family {
        let core = body.len();
        let letters = Letters::new(on, body);
        let facts: Vec<Facts> = letters.all().map(|i| Facts::of(on, i)).collect();
        // An instruction that a remedy inserts may be a step of another rule.
        let put_in = ["v_nop", "v_mov_b32_e32 v0, v0"].map(|text| Facts::of(on, &parse(on, text)));
        let rules = Rules::of(on, facts.iter().chain(&put_in));
        Family { name, letters, facts, rules, core }
    }

    fn on(&self) -> Subtarget {
        self.letters.on
    }

    /// The alphabet without instructions for distances, without further instructions that end sequences, and without waits for other
    /// dependencies.
    pub fn core(&self) -> Family {
        let body = self.letters.body[..self.core].iter().map(|i| (**i).clone()).collect();
        Family::new(self.name.clone(), self.on(), body)
    }
}

fn parse(on: Subtarget, text: &str) -> Inst {
    parse_inst(text, on).unwrap_or_else(|e| panic!("{}: {text}: {e}", on.target))
}

/// The processors, each with all of its wave sizes.
fn subtargets() -> impl Iterator<Item = Subtarget> {
    let both = |t| [WaveSize::W32, WaveSize::W64].into_iter().filter_map(move |w| Subtarget::new(t, w));
    TARGETS.into_iter().flat_map(both)
}

fn name(on: Subtarget, what: &str) -> String {
    format!("{}:w{}:{what}", on.target, on.wave.lanes())
}

/// One alphabet with all representatives of a processor.
fn everything(on: Subtarget) -> Family {
    let classes = RDNA_CLASSES.iter().filter_map(|text| parse_inst(text, on).ok()).collect();
    Family::new(name(on, "everything"), on, classes)
}

/// The alphabet of all representatives for each processor and wave size.
pub fn everythings() -> Vec<Family> {
    subtargets().map(everything).collect()
}

/// False for rules about calls, returns and jumps to an address, because these leave a program of a scope.
fn is_in_a_scope(rule: &RemedyRule) -> bool {
    !rule.second.who.any.intersects(Kinds::JUMP)
}

/// The alphabet of each rule of each processor, with the smallest wave size to which the rule applies.
pub fn families() -> Vec<Family> {
    let families = subtargets().flat_map(|on| {
        let all = everything(on);
        let small = Subtarget::new(on.target, WaveSize::W32).filter(|small| *small != on);
        let new = move |r: &&RemedyRule| small.is_none_or(|small| rules(small).all(|s| s != *r));
        rules(on)
            .filter(new)
            .filter(|r| is_in_a_scope(r))
            .filter_map(move |rule| family(&all, rule))
            .collect::<Vec<_>>()
    });
    families.collect()
}

/// The families with these names.
pub fn named(names: &[&str]) -> Vec<Family> {
    families().into_iter().filter(|f| names.iter().any(|n| f.name == *n)).map(|f| f.core()).collect()
}

/// Every combination of one element of each list.
fn each_choice(of: &[Vec<usize>]) -> impl Iterator<Item = Vec<usize>> {
    let choices: usize = of.iter().map(Vec::len).product();
    (0..choices).map(|mut number| {
        let mut one = |all: &Vec<usize>| {
            let chosen = all[number % all.len()];
            number /= all.len();
            chosen
        };
        of.iter().map(&mut one).collect()
    })
}

/// The control flow of straight code with this number of letters.
fn straight(letters: usize) -> Vec<Next> {
    (1..=letters).map(|l| if l < letters { vec![l] } else { Vec::new() }).collect()
}

fn family(all: &Family, rule: &'static RemedyRule) -> Option<Family> {
    let only = Rules::only(rule);
    let broken = |rules: &Rules, letters: &[usize]| {
        let facts: Vec<&Facts> = letters.iter().map(|l| &all.facts[*l]).collect();
        rules.broken(&facts, &straight(letters.len()))
    };
    let is_broken = |letters: &[usize]| broken(&only, letters).contains_key(&(letters.len() - 1));
    let classes = 0..all.letters.body.len();
    // The branches of a scope end its blocks, so they are not letters of an alphabet.
    let takes = |step| (0..all.facts.len()).filter(|c| all.facts[*c].may_take(step)).collect::<Vec<_>>();
    let steps: Vec<Vec<usize>> = rule.steps.iter().chain([&rule.second]).map(takes).collect();
    let mut chains = each_choice(&steps).filter(|c| is_broken(c)).peekable();
    let first = chains.peek().cloned();
    // Prefer a chain for which no other rule requires more.
    let chain = chains.find(|c| broken(&all.rules, c) == broken(&only, c)).or(first)?;
    let with = |x: usize, stage: usize| [&chain[..=stage], &[x], &chain[stage + 1..]].concat();
    let mut body = chain.clone();
    for end in rule.ends {
        let ends = |x: &usize, stage: usize| {
            let facts = &all.facts[*x];
            end.stages >> stage & 1 == 1 && facts.ends(end.by) && !is_broken(&with(*x, stage))
        };
        let of_stages = |x: &usize| (0..rule.steps.len()).any(|stage| ends(x, stage));
        body.extend(classes.clone().find(|x| !chain.contains(x) && of_stages(x)));
    }
    let core = chain.len() + usize::from(body.len() > chain.len());
    let last = rule.steps.len() - 1;
    let unrelated =
        |x: &usize| !chain.contains(x) && broken(&all.rules, &[*x, chain[chain.len() - 1]]).is_empty();
    let Within { valus, transcendentals, salus, states, .. } = rule.within;
    for (clock, far) in [valus, transcendentals, salus, states].into_iter().enumerate() {
        if far != Within::EVER {
            let counts = |x: &usize| all.facts[*x].counts_one(clock) && is_broken(&with(*x, last));
            body.extend(classes.clone().find(|x| unrelated(x) && counts(x)));
        }
    }
    // Where vector ALU instructions are counted, transcendental instructions count differently.
    if rule.remedy == Remedy::Field(WaitField::Valus) {
        body.extend(classes.clone().find(|x| unrelated(x) && all.facts[*x].counts_one(1)));
    }
    if let Remedy::Wait(_) = rule.remedy {
        let other = |x: &usize| all.facts[*x].is_dependency_wait() && is_broken(&with(*x, last));
        body.extend(classes.clone().find(other));
    }
    let is_letter = |l: &&usize| classes.contains(*l);
    let core = body[..core].iter().filter(is_letter).collect::<BTreeSet<_>>().len();
    let mut known = BTreeSet::new();
    body.retain(|l| is_letter(&l) && known.insert(*l));
    let body = body.into_iter().map(|l| (*all.letters.body[l]).clone()).collect();
    Some(Family { core, ..Family::new(name(all.on(), rule.id), all.on(), body) })
}

/// The fixes that the reachable lines need according to the specification.
fn verdict(family: &Family, program: &Program) -> Fixes {
    let paths = Paths::of(program);
    let facts = program.lines.iter().map(|l| match family.letters.number(&l.inst) {
        Some(letter) => Cow::Borrowed(&family.facts[letter]),
        None => Cow::Owned(Facts::of(family.on(), &l.inst)),
    });
    let facts: Vec<Cow<'_, Facts>> = facts.collect();
    family.rules.broken(&facts.iter().map(|f| &**f).collect::<Vec<_>>(), &paths.next)
}

/// The fixes that the lines need according to the checker.
fn told(program: &Program) -> Fixes {
    let options = Options { memory_model: MemoryModel::Off, errata: false, ..Options::default() };
    let mut told = Fixes::new();
    for finding in check::check_with(program, options).findings {
        if let Amount::Remedy { fix, .. } = finding.need {
            let known = told.entry(finding.second).or_insert(Fix::NONE);
            *known = known.and(fix);
        }
    }
    told
}

/// Judges one program. Returns the number of instructions and fields that were necessary, or a description of the error.
pub fn judge(family: &Family, program: &Program) -> Result<usize, String> {
    let fail = |what: &str, program: &Program| Err(format!("{}: {what}:\n{}", family.name, text(program)));
    let agreed = |program: &Program| {
        let (wrong, told) = (verdict(family, program), told(program));
        if wrong == told { Ok(wrong) } else { Err((wrong, told)) }
    };
    let disagree = |(wrong, told): (Fixes, Fixes), which: &str, program: &Program| {
        fail(&format!("the checker finds {told:?}, the specification {wrong:?} {which}"), program)
    };
    let before = match agreed(program) {
        Ok(before) => before,
        Err(both) => return disagree(both, "", program),
    };
    let mut after = program.clone();
    let inserted = wait::insert_remedies(&mut after, &WaitOptions { notes: false, ..WaitOptions::default() });
    let fields = |line: usize| inserted.iter().any(|i| i.at + i.count == line);
    if let Err(what) = is_only_longer_but(program, &after, &inserted, fields) {
        return fail(&what, &after);
    }
    if inserted.is_empty() {
        return if before.is_empty() { Ok(0) } else { fail("nothing was put in", program) };
    }
    match agreed(&after) {
        Ok(left) if left.is_empty() => {}
        Ok(left) => return fail(&format!("not enough was put in, {left:?}"), &after),
        Err(both) => return disagree(both, "in the result", &after),
    }
    let weaker = all_weaker(program, &after, &inserted);
    for (line, weaker) in &weaker {
        match agreed(weaker) {
            Ok(wrong) if wrong.is_empty() => {
                return fail(&format!("line {line} may be weaker"), &after);
            }
            Ok(_) => {}
            Err(both) => return disagree(both, "with less in it", weaker),
        }
    }
    Ok(weaker.len())
}

/// The programs with one of the insertions or changes undone or weakened, with the line of that insertion or change.
fn all_weaker(before: &Program, after: &Program, inserted: &[Inserted]) -> Vec<(usize, Program)> {
    let new: BTreeSet<usize> = inserted.iter().flat_map(|i| i.at..i.at + i.count).collect();
    let mut all = Vec::new();
    for line in 0..after.lines.len() {
        let is = &after.lines[line].inst;
        let was = (!new.contains(&line)).then(|| &before.lines[line - new.range(..line).count()].inst);
        if was.is_some_and(|was| Arc::ptr_eq(was, is)) {
            continue;
        }
        let other = |inst: Inst| {
            let mut weaker = after.clone();
            *weaker.lines[line].inst_mut() = inst;
            weaker
        };
        let shorter = shorter_waits(was.map(|w| &**w), is);
        let fields = was.map(|was| higher_fields(was, is)).unwrap_or_default();
        let none_left = was.is_none() && shorter.len() < 2;
        all.extend(none_left.then(|| (line, one_state_less(after, line))));
        let kept = shorter.into_iter().filter(|_| !none_left).chain(fields);
        all.extend(kept.map(|inst| (line, other(inst))));
    }
    all
}

/// The waits for dependencies that lack one of the dependencies for which `is` waits and `was` does not.
fn shorter_waits(was: Option<&Inst>, is: &Inst) -> Vec<Inst> {
    /// The fields of a wait for dependencies: the first bit and the number of bits.
    const FIELDS: [(u32, u32); 6] = [(0, 1), (1, 1), (2, 3), (8, 1), (9, 3), (12, 4)];
    let immediate = |inst: &Inst| match inst.operands.first() {
        Some(Operand::Imm(n)) if matches!(inst.desc.mnemonic, "s_waitcnt_depctr" | "s_wait_alu") => Some(*n),
        _ => None,
    };
    let Some(now) = immediate(is) else { return Vec::new() };
    let then = was.and_then(immediate).unwrap_or(i64::from(u16::MAX));
    let fields = FIELDS.into_iter().map(|(from, bits)| ((1 << bits) - 1) << from);
    let more = fields.filter(|mask| now & mask != then & mask);
    let less = more.map(|mask| {
        let mut inst = is.clone();
        inst.operands[0] = Operand::Imm(now | then & mask);
        inst
    });
    less.collect()
}

/// The instruction variants in which one of the changed fields is higher by one.
fn higher_fields(was: &Inst, is: &Inst) -> Vec<Inst> {
    let mut all = Vec::new();
    if is.mods.wait_vdst < was.mods.wait_vdst {
        let mut inst = is.clone();
        inst.mods.wait_vdst += 1;
        all.push(inst);
    }
    if is.mods.wait_vm_vsrc < was.mods.wait_vm_vsrc {
        let mut inst = is.clone();
        inst.mods.wait_vm_vsrc += 1;
        all.push(inst);
    }
    all
}

impl Facts {
    fn ends(&self, by: EndBy) -> bool {
        match by {
            EndBy::Waits(any) => self.waits_for_some(any),
            EndBy::Kind(who) | EndBy::Reads(who, _) | EndBy::Uses(who, ..) | EndBy::UsesThen(who, ..) => {
                self.is(who)
            }
        }
    }
}

#[test]
fn every_rule_with_a_remedy_has_an_alphabet() {
    let names: BTreeSet<String> = families().into_iter().map(|f| f.name).collect();
    for on in subtargets() {
        for rule in rules(on).filter(|r| is_in_a_scope(r)) {
            let named = [WaveSize::W32, WaveSize::W64].map(|wave| Subtarget { wave, ..on });
            assert!(
                named.into_iter().any(|on| names.contains(&name(on, rule.id))),
                "no representatives break {} on {}",
                rule.id,
                on.target
            );
        }
    }
}

/// Tests that the scalar ALU waits before it reads an SGPR that the vector ALU has read. It must wait on a path where the vector ALU has
/// read the register, and on no other path.
#[test]
fn what_has_begun_counts_on_its_own_path() {
    let on = Subtarget::from(Target::GFX1200);
    let family = everything(on);
    let read = "v_mov_b32_e32 v41, s16";
    for (one, other, waits) in [(read, "", 1), (read, read, 0), ("", "", 1)] {
        let text = format!(
            "v_mov_b32_e32 v40, s4\nv_readfirstlane_b32 s4, v20\ns_cbranch_scc1 L1\n{one}\ns_branch L2\n\
             L1: {other}\nL2: s_mov_b32 s22, s16\nv_mov_b32_e32 v40, s4\ns_endpgm\n"
        );
        let program = parse_program(&text, on.target, "").expect("the text is right");
        assert_eq!(judge(&family, &program), Ok(waits), "{text}");
    }
}

/// Tests two paths to the same point, neither of which has the shorter distance in every respect. Either may turn out to be too short.
#[test]
fn arrivals_that_are_not_comparable_both_count() {
    let on = Subtarget::from(Target::GFX1100);
    let family = everything(on);
    let (plain, trans) = ("v_mov_b32_e32 v41, v21\n", "v_exp_f32_e32 v42, v21\n");
    let (read, direct) = ("v_mov_b32_e32 v40, v0", "lds_direct_load v0 wait_vdst:15");
    let cases = [
        // A second transcendental instruction ends only the sequence of the other path.
        ("v_exp_f32_e32 v0, v20", plain.repeat(3), trans.to_owned(), trans, read, 1),
        ("v_exp_f32_e32 v0, v20", trans.to_owned(), trans.to_owned(), trans, read, 0),
        // The farther use requires more, because a transcendental instruction follows it.
        ("v_mov_b32_e32 v0, v20", plain.to_owned(), trans.to_owned() + plain, "", direct, 1),
    ];
    for (first, one, other, then, second, needed) in cases {
        let text = format!(
            "{first}\ns_cbranch_scc1 L1\n{one}s_branch L2\nL1:\n{other}L2:\n{then}{second}\ns_endpgm\n"
        );
        let program = parse_program(&text, on.target, "").expect("the text is right");
        assert_eq!(judge(&family, &program), Ok(needed), "{text}");
    }
}

/// Tests a distance of zero and the distances around the reach of a rule, both on a single path and with a second path of another distance.
#[test]
fn distances_count_as_the_rows_say() {
    let mut judged = 0;
    for family in families() {
        let body = &family.letters.body;
        let rule = rules(family.on()).find(|r| family.name.ends_with(&format!(":{}", r.id)));
        let rule = rule.expect("families are named after their rules");
        let Within { valus, transcendentals, salus, states, .. } = rule.within;
        for (clock, far) in [valus, transcendentals, salus, states].into_iter().enumerate() {
            let fillers = (0..body.len()).filter(|l| family.facts[*l].counts_one(clock));
            for filler in fillers.take(2).filter(|_| far != Within::EVER) {
                let far = usize::from(far);
                for distance in (0..=far + 2).filter(|d| *d < 2 || d + 1 >= far) {
                    for program in family.distances(rule.steps.len(), filler, distance) {
                        judge(&family, &program).unwrap_or_else(|wrong| panic!("{wrong}"));
                        judged += 1;
                    }
                }
            }
        }
    }
    assert!(judged > 1000, "{judged}");
}

impl Family {
    /// Programs that have the steps, `distance` fillers, and the second instruction; and the same programs with another path that has half
    /// as many fillers, or one of each other letter.
    fn distances(&self, steps: usize, filler: usize, distance: usize) -> Vec<Program> {
        let letters = |all: &[usize]| all.iter().map(|l| *l as u8).collect::<Vec<u8>>();
        let chain: Vec<usize> = (0..=steps.min(self.core - 1)).collect();
        let (first, second) = chain.split_at(steps.min(chain.len() - 1));
        let far = vec![filler; distance];
        let whole = letters(&[first, &far, second].concat());
        let straight = super::graphs::Layout { ends: vec![super::graphs::End::Stop] };
        let mut all = vec![self.letters.program(&straight, &[&whole])];
        let others = (0..self.letters.body.len()).map(|l| vec![l]).chain([vec![filler; distance / 2]]);
        for other in others {
            use super::graphs::End;
            // If the same steps are taken twice, the last ones count.
            let twice = letters(&[first, &other, first, &far, second].concat());
            all.push(self.letters.program(&straight, &[&twice]));
            let diamond =
                super::graphs::Layout { ends: vec![End::Branch(2), End::Jump(3), End::RunsOn, End::Stop] };
            for (one, two) in [(&far, &other), (&other, &far)] {
                // The other path begins with the steps again: the nearer steps must not hide the worse ones.
                let again = [first, &two[..]].concat();
                let blocks = [letters(first), letters(one), letters(&again), letters(second)];
                let blocks: Vec<&[u8]> = blocks.iter().map(|b| &b[..]).collect();
                all.push(self.letters.program(&diamond, &blocks));
            }
        }
        all
    }
}
