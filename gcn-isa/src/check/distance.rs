//! Wait states, backwards: from each instruction along every path towards the entry, as far as any rule reaches.

use smallvec::SmallVec;

use super::report::{Amount, Finding, Findings};
use crate::cfg::Cfg;
use crate::hazards::{self, Config, MAX_REACH, Need, View};
use crate::program::Program;

/// A program's instructions as the wait-state rules see them.
pub(super) struct Distances<'a> {
    program: &'a Program,
    pub cfg: &'a Cfg,
    pub reachable: &'a [bool],
    pub rules: Config,
    pub views: Vec<View>,
    pub states: Vec<u32>,
}

impl<'a> Distances<'a> {
    pub fn new(program: &'a Program, cfg: &'a Cfg, reachable: &'a [bool], rules: Config) -> Distances<'a> {
        let views = program.lines.iter().map(|l| View::new(program.target, &l.inst)).collect();
        let states = program.lines.iter().map(|l| hazards::wait_states(&l.inst)).collect();
        Distances { program, cfg, reachable, rules, views, states }
    }

    /// Findings of the wait-state rules.
    pub fn findings(&self, findings: &mut Findings) {
        for (index, block) in self.cfg.blocks.iter().enumerate().filter(|b| self.reachable[b.0]) {
            for second in block.start..block.end {
                self.check(index, second, findings);
            }
        }
    }
}

/// A stretch of a block that is to be walked, last line first.
#[derive(Clone, Copy)]
struct Stretch {
    block: usize,
    /// One past the last line.
    end: usize,
    /// Wait states between that and the second instruction.
    distance: u32,
    /// The stretch that follows on the path, as an index into the walk's trail.
    next: Option<usize>,
}

/// A distance that is too short.
struct Short {
    first: usize,
    need: Need,
    distance: u32,
    stretch: usize,
}

impl Distances<'_> {
    fn check(&self, block: usize, second: usize, findings: &mut Findings) {
        // Stretches in order of discovery; those before `done` have been walked.
        let mut trail: SmallVec<[Stretch; 4]> = SmallVec::new();
        trail.push(Stretch { block, end: second, distance: 0, next: None });
        let mut shorts: SmallVec<[Short; 2]> = SmallVec::new();
        let mut done = 0;
        while let Some(&stretch) = trail.get(done) {
            let passed = self.walk(stretch, done, second, &mut shorts);
            if let Some(distance) = passed {
                for &pred in self.cfg.blocks[stretch.block].preds.iter().filter(|p| self.reachable[**p]) {
                    // Whole blocks only: the first stretch ends inside its block.
                    let nearer = trail[1..].iter().any(|s| s.block == pred && s.distance <= distance);
                    if !nearer {
                        let end = self.cfg.blocks[pred].end;
                        trail.push(Stretch { block: pred, end, distance, next: Some(done) });
                    }
                }
            }
            done += 1;
        }
        for short in &shorts {
            findings.push(|| self.finding(short, second, &trail));
        }
    }

    /// Holds the lines of the stretch against the second instruction. Returns the distance of the block's start if rules
    /// may reach beyond it.
    fn walk(
        &self,
        stretch: Stretch,
        index: usize,
        second: usize,
        shorts: &mut SmallVec<[Short; 2]>,
    ) -> Option<u32> {
        let mut distance = stretch.distance;
        for first in (self.cfg.blocks[stretch.block].start..stretch.end).rev() {
            let view = &self.views[first];
            if u32::from(view.reach()) > distance
                && let Some(need) = view.required(&self.views[second], self.rules)
                && u32::from(need.states) > distance
            {
                match shorts.iter_mut().find(|s| s.first == first) {
                    Some(known) if known.distance <= distance => {}
                    Some(known) => *known = Short { first, need, distance, stretch: index },
                    None => shorts.push(Short { first, need, distance, stretch: index }),
                }
            }
            distance += self.states[first];
            if distance >= u32::from(MAX_REACH) {
                return None;
            }
        }
        Some(distance)
    }

    fn finding(&self, short: &Short, second: usize, trail: &[Stretch]) -> Finding {
        let mut path = Vec::new();
        let mut next = trail[short.stretch].next;
        while let Some(i) = next {
            path.push(self.cfg.blocks[trail[i].block].start);
            next = trail[i].next;
        }
        Finding {
            rule: short.need.rule.id,
            grade: short.need.rule.evidence.grade(),
            title: short.need.rule.title,
            first: Some(short.first),
            second,
            first_name: self.program.lines[short.first].inst.desc.printed,
            second_name: self.program.lines[second].inst.desc.printed,
            loc: self.program.lines[second].loc,
            reg: short.need.reg,
            need: Amount::States(short.need.states),
            have: Amount::States(short.distance.min(u32::from(u8::MAX)) as u8),
            path,
        }
    }
}
