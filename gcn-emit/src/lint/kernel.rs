//! A kernel with the code that it reaches.

use std::collections::BTreeSet;

use gcn_isa::cfg::{Cfg, is_call};
use gcn_isa::program::{EntryKind, Line};
use gcn_isa::{Program, Target};

use crate::code::{Code, KernelFacts, Unit};
use crate::descriptor::Settings;
use crate::metadata::KernelMetadata;
use crate::target_id::TargetId;

/// A kernel with the code that it reaches by branches.
pub(super) struct Kernel<'u> {
    pub target_id: TargetId,
    pub facts: &'u KernelFacts,
    pub settings: Settings,
    /// The code that the kernel reaches; `None` if its entry is not in any section.
    pub code: Option<Reached<'u>>,
}

/// The code that a kernel reaches.
pub(super) struct Reached<'u> {
    pub section: usize,
    pub program: &'u Program,
    pub cfg: &'u Cfg,
    /// The blocks at which the dispatcher may start the kernel.
    pub entries: Vec<usize>,
    /// The blocks that the kernel reaches, in ascending order.
    pub blocks: Vec<usize>,
    /// True if control may leave to unknown destinations other than by calls, and may then return anywhere.
    pub jumps: bool,
}

impl<'u> Kernel<'u> {
    pub fn new(unit: &'u Unit, graphs: &'u [Cfg], facts: &'u KernelFacts) -> Kernel<'u> {
        let target = unit.target_id.target;
        let code = facts.entry.and_then(|(section, line)| {
            let code = unit.sections.get(section)?;
            let function = code.function_of(line)?;
            let entries = code.program.entries.iter();
            let own = entries.filter(|e| e.kind == EntryKind::Kernel && function.lines.contains(&e.at));
            let mut starts: Vec<usize> = own.map(|e| e.at).collect();
            if starts.is_empty() {
                starts.push(line);
            }
            Some(Reached::new(section, code, graphs.get(section)?, &starts))
        });
        Kernel { target_id: unit.target_id, facts, settings: facts.descriptor.settings(target), code }
    }

    pub fn target(&self) -> Target {
        self.target_id.target
    }

    pub fn metadata(&self) -> Option<&KernelMetadata> {
        self.facts.metadata.as_ref()
    }

    /// The instructions that the kernel reaches.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &'u Line)> {
        let code = self.code.as_ref();
        code.into_iter().flat_map(|c| c.blocks.iter().flat_map(|b| c.lines(*b)))
    }

    /// The position of a lint at a line; `None` if the kernel's code is not in any section.
    pub fn place(&self, line: usize) -> Option<(usize, usize)> {
        self.code.as_ref().map(|c| (c.section, line))
    }
}

impl<'u> Reached<'u> {
    fn new(section: usize, code: &'u Code, cfg: &'u Cfg, starts: &[usize]) -> Reached<'u> {
        let program = &code.program;
        let mut reached = vec![false; cfg.blocks.len()];
        let block_of = |line: &usize| cfg.blocks.partition_point(|b| b.start <= *line).checked_sub(1);
        let entries: Vec<usize> = starts.iter().filter_map(block_of).collect();
        let mut open = entries.clone();
        while let Some(block) = open.pop() {
            if let Some(flag) = reached.get_mut(block)
                && !std::mem::replace(flag, true)
            {
                open.extend(cfg.blocks.get(block).into_iter().flat_map(|b| &b.succs));
            }
        }
        let blocks: Vec<usize> = (0..reached.len()).filter(|b| reached.get(*b) == Some(&true)).collect();
        let mut reached = Reached { section, program, cfg, entries, blocks, jumps: false };
        reached.jumps = reached.blocks.iter().any(|b| reached.jumps_from(*b));
        reached
    }

    /// The lines that the kernel may reach without having executed a line that satisfies `stops`.
    pub fn before(&self, stops: impl Fn(&Line) -> bool) -> BTreeSet<usize> {
        let mut before = BTreeSet::new();
        let mut open = self.entries.clone();
        let mut seen = BTreeSet::new();
        while let Some(block) = open.pop() {
            if !seen.insert(block) {
                continue;
            }
            let own = self.lines(block).take_while(|(_, line)| !stops(line)).map(|(line, _)| line);
            before.extend(own);
            let passes = self.lines(block).all(|(_, line)| !stops(line));
            open.extend(self.cfg.blocks.get(block).filter(|_| passes).into_iter().flat_map(|b| &b.succs));
        }
        before
    }

    fn jumps_from(&self, block: usize) -> bool {
        let Some(own) = self.cfg.blocks.get(block).filter(|b| b.unknown_exit) else { return false };
        let last = own.end.checked_sub(1).and_then(|l| self.program.lines.get(l));
        !last.is_some_and(|l| is_call(&l.inst))
    }

    /// The instructions of a block.
    pub fn lines(&self, block: usize) -> impl Iterator<Item = (usize, &'u Line)> + use<'u> {
        let range = self.cfg.blocks.get(block).map_or(0..0, |b| b.start..b.end);
        let first = range.start;
        self.program.lines.get(range).unwrap_or_default().iter().enumerate().map(move |(i, l)| (first + i, l))
    }
}
