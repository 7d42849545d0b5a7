//! Sites of the wait-state rules.

use smallvec::SmallVec;

use super::Evidence;
use crate::cfg::Cfg;
use crate::hazards::{self, Config, Kinds, Role, Since, View};
use crate::inst::Inst;
use crate::program::Program;
use crate::reg::Reg;
use crate::table::Class;

/// The maximum number of ranges of code that are searched before an instruction. Real code has few ranges; a block with thousands of
/// predecessors must not take quadratic time.
const MOST_STRETCHES: usize = 64;

/// Counts the sites of every rule. Returns the number of visited lines and edges.
pub(super) fn count(program: &Program, config: Config, evidence: &mut Evidence) -> usize {
    let search = Search::new(program, config);
    let mut sites = Vec::new();
    let mut looks = 0;
    for (index, block) in search.cfg.blocks.iter().enumerate() {
        for second in block.start..block.end {
            looks += search.sites(index, second, &mut sites);
            for site in sites.drain(..) {
                site.count(evidence);
            }
        }
    }
    looks
}

/// A summary of the code between two instructions.
#[derive(Clone, Copy, Default)]
struct Between {
    /// The number of wait states.
    states: u32,
    /// The number of wait states that `s_nop` and `v_nop` contribute.
    nops: u32,
    /// The same number as `states`, except that each matrix instruction counts as its number of passes.
    time: u32,
    /// The number of branches.
    branches: u32,
    /// The kinds of the instructions in between that matter to rules.
    crossed: Kinds,
}

impl Between {
    fn of(inst: &Inst, view: &View) -> Between {
        let states = hazards::wait_states(inst);
        let nop = matches!(inst.desc.class, Class::Nop | Class::Vnop);
        Between {
            states,
            nops: if nop { states } else { 0 },
            time: states.max(u32::from(view.passes())),
            branches: u32::from(inst.desc.class == Class::Branch),
            crossed: view.crossing(),
        }
    }

    fn and(self, other: &Between) -> Between {
        Between {
            states: self.states + other.states,
            nops: self.nops + other.nops,
            time: self.time + other.time,
            branches: self.branches + other.branches,
            crossed: self.crossed | other.crossed,
        }
    }
}

/// An occurrence in a program to which a rule applies.
struct Site {
    rule: &'static str,
    reg: Option<Reg>,
    need: u32,
    /// The code between the first instruction and the second.
    between: Between,
}

impl Site {
    /// The number of wait states in excess of what the rule requires.
    fn slack(&self) -> i64 {
        i64::from(self.between.states) - i64::from(self.need)
    }

    fn count(&self, evidence: &mut Evidence) {
        let counts = evidence.entry(self.rule).or_default();
        let slack = self.slack();
        if slack < 0 {
            counts.broken += 1;
            counts.covered += u64::from(self.between.time >= self.need || self.between.branches > 0);
        } else {
            counts.kept += 1;
            counts.exact += u64::from(slack == 0);
            counts.nops += u64::from(slack < i64::from(self.between.nops));
        }
    }
}

/// A range of lines in a block, which is walked backwards.
struct Stretch {
    block: usize,
    /// One more than the index of the last line.
    end: usize,
    /// The code between the end of the range and the second instruction.
    between: Between,
    /// The range that follows this one on the path, as an index into the trail; `None` for the range that ends at the second instruction.
    next: Option<usize>,
}

/// The ranges before an instruction, in the order in which they were found.
type Trail = SmallVec<[Stretch; 4]>;

struct Search {
    cfg: Cfg,
    config: Config,
    views: Vec<View>,
    costs: Vec<Between>,
    /// Twice the largest number of wait states that any rule of this program requires.
    window: u32,
}

impl Search {
    fn new(program: &Program, config: Config) -> Search {
        let views: Vec<View> = program.lines.iter().map(|l| View::new(program.target, &l.inst)).collect();
        let costs = program.lines.iter().zip(&views).map(|(l, v)| Between::of(&l.inst, v)).collect();
        let reach = views.iter().map(View::reach).max().unwrap_or(0);
        Search { cfg: Cfg::build(program), config, views, costs, window: 2 * u32::from(reach) }
    }

    /// Finds the sites whose second instruction is line `second` of `block`. Returns the number of visited lines and edges.
    fn sites(&self, block: usize, second: usize, sites: &mut Vec<Site>) -> usize {
        let mut trail = Trail::new();
        trail.push(Stretch { block, end: second, between: Between::default(), next: None });
        let (mut done, mut looks) = (0, 0);
        while done < trail.len() {
            let walked = trail[done].block;
            // A walk that ends early has visited at most as many lines as the window has wait states.
            looks += (trail[done].end - self.cfg.blocks[walked].start).min(self.window as usize);
            if let Some(between) = self.walk(&trail, done, second, sites) {
                looks += self.cfg.blocks[walked].preds.len();
                for &pred in &self.cfg.blocks[walked].preds {
                    let known = |s: &Stretch| {
                        let nearer = s.between.states <= between.states;
                        s.block == pred && nearer && s.between.crossed.contains(between.crossed)
                    };
                    // The first range is skipped because it is not a whole block.
                    if trail.len() < MOST_STRETCHES && !trail[1..].iter().any(known) {
                        let end = self.cfg.blocks[pred].end;
                        trail.push(Stretch { block: pred, end, between, next: Some(done) });
                    }
                }
            }
            done += 1;
        }
        looks
    }

    /// Checks the lines of the range at `index` against the second instruction. Returns the code between the block's
    /// start and the second instruction, unless that is longer than the window.
    fn walk(&self, trail: &Trail, index: usize, second: usize, sites: &mut Vec<Site>) -> Option<Between> {
        let stretch = &trail[index];
        let mut between = stretch.between;
        for first in (self.cfg.blocks[stretch.block].start..stretch.end).rev() {
            let view = &self.views[first];
            if 2 * u32::from(view.reach()) > between.states {
                let since = Since::across(between.crossed);
                for need in view.required_all_since(&self.views[second], self.config, since) {
                    let site = Site { rule: need.rule.id, reg: need.reg, need: need.states.into(), between };
                    let lost = |reg| self.is_overwritten(trail, index, first, reg);
                    if between.states < 2 * site.need && !need.reg.is_some_and(lost) {
                        keep_shortest(sites, site);
                    }
                }
            }
            between = between.and(&self.costs[first]);
            if between.states >= self.window {
                return None;
            }
        }
        Some(between)
    }

    /// True if the part of `reg` that `first` writes is overwritten before the second instruction. The wording of a rule may still apply to
    /// the two instructions, but the rule is meaningless for a lost value.
    fn is_overwritten(&self, trail: &Trail, index: usize, first: usize, reg: Reg) -> bool {
        let written = self.views[first].uses().iter().filter(|u| u.role.intersects(Role::WRITES));
        let Some(common) = written.filter_map(|u| common(u.reg, reg)).next() else { return false };
        let mut lines = first + 1..trail[index].end;
        let mut stretch = &trail[index];
        loop {
            let uses = self.views[lines].iter().flat_map(View::uses);
            if uses.into_iter().any(|u| u.role.intersects(Role::WRITES) && u.reg.covers(common)) {
                return true;
            }
            let Some(next) = stretch.next else { return false };
            stretch = &trail[next];
            lines = self.cfg.blocks[stretch.block].start..stretch.end;
        }
    }
}

/// The registers that both tuples contain; `None` if there are none.
fn common(a: Reg, b: Reg) -> Option<Reg> {
    let start = a.index.max(b.index);
    a.overlaps(b).then(|| Reg { file: a.file, index: start, len: (a.end().min(b.end()) - start) as u8 })
}

/// Adds a site. If the site is already known, keeps the one with less slack.
fn keep_shortest(sites: &mut Vec<Site>, site: Site) {
    match sites.iter_mut().find(|s| s.rule == site.rule && s.reg == site.reg) {
        Some(known) if known.slack() <= site.slack() => {}
        Some(known) => *known = site,
        None => sites.push(site),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Inst, Operand, Reg, Target, table};

    /// Tests that only the lines within reach of the join visit the join's predecessors, and that only few of these are followed.
    #[test]
    fn a_block_with_thousands_of_predecessors_takes_work_linear_in_their_number() {
        let looks = |number: usize| {
            let find = |name| table::find(Target::GFX942, name).next().expect("an instruction of gfx942");
            let mut program = Program::new(Target::GFX942, "join");
            let join = program.new_label("join");
            for _ in 0..number {
                program.push(Inst::new(find("s_cbranch_scc0"), [Operand::Label(join)]));
            }
            program.place(join);
            for _ in 0..number {
                program.push(Inst::new(find("v_mov_b32_e32"), [Reg::v(1, 1).into(), Reg::v(0, 1).into()]));
                program.push(Inst::new(find("v_rcp_f32_e32"), [Reg::v(0, 1).into(), Reg::v(0, 1).into()]));
            }
            count(&program, Config::default(), &mut Evidence::new())
        };
        let (few, many) = (looks(1000), looks(4000));
        assert!(few > 1000, "the join is looked at: {few}");
        assert!(many < 5 * few, "{few} for 1000 predecessors, {many} for 4000");
    }
}
