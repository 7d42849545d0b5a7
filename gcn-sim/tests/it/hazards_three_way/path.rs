//! Determines the path of a run, and which instruction on it executes too early, without the simulator and the checker: from the
//! definitions alone.

use std::collections::HashMap;

use gcn_isa::InstructionSet;
use gcn_isa::counters::{self, Counter, MemoryEffect, Stream, WaitCnt};
use gcn_isa::hazards::{self, Config, Kinds, MAX_REACH, Since, View};
use gcn_isa::inst::RegUse;
use gcn_isa::reg::RegUnit;
use gcn_isa::table::{Access, Class};
use gcn_isa::{Inst, Operand, Program, Reg, RegFile};

use super::program::{CHOICES, COUNTERS};

/// The maximum length of a path.
const LONGEST: usize = 3000;

/// The registers that determine branches.
#[derive(Default)]
struct Control {
    scalars: HashMap<Reg, u32>,
    scc: bool,
    vcc_zero: bool,
    exec_zero: bool,
}

impl Control {
    fn value(&self, operand: Operand) -> u32 {
        match operand {
            Operand::Reg(reg) => self.scalars.get(&reg).copied().unwrap_or_default(),
            Operand::Inline(inline) => inline.bits32(),
            Operand::Imm(value) => value as u32,
            _ => 0,
        }
    }

    /// Applies `inst` if it affects these registers.
    fn step(&mut self, inst: &Inst) {
        let [first, rest @ ..] = &inst.operands[..] else { return };
        match (inst.desc.mnemonic, first, rest) {
            ("s_movk_i32", Operand::Reg(to), [value]) if COUNTERS.contains(to) => {
                let value = self.value(*value);
                self.scalars.insert(*to, value);
            }
            ("s_lshr_b32", Operand::Reg(to), [from, Operand::Inline(_)]) if COUNTERS.contains(to) => {
                let value = self.value(*from) >> 1;
                self.scalars.insert(*to, value);
                self.scc = value != 0;
            }
            ("s_bitcmp1_b32", Operand::Reg(of), [bit]) if *of == CHOICES => {
                self.scc = self.value(*first) >> (self.value(*bit) & 31) & 1 == 1;
            }
            ("s_mov_b64", Operand::Reg(to), [Operand::Inline(value)]) => {
                let zero = value.bits64() == 0;
                self.vcc_zero = if *to == gcn_isa::reg::VCC { zero } else { self.vcc_zero };
                self.exec_zero = if *to == gcn_isa::reg::EXEC { zero } else { self.exec_zero };
            }
            _ => {}
        }
    }

    fn taken(&self, branch: &Inst) -> bool {
        match branch.desc.mnemonic {
            "s_branch" => true,
            "s_cbranch_scc0" => !self.scc,
            "s_cbranch_scc1" => self.scc,
            "s_cbranch_vccz" => self.vcc_zero,
            "s_cbranch_vccnz" => !self.vcc_zero,
            "s_cbranch_execz" => self.exec_zero,
            "s_cbranch_execnz" => !self.exec_zero,
            other => unreachable!("{other} is not generated"),
        }
    }
}

/// The lines that a run with these choices executes, in order; `None` if the run is too long.
pub fn walk(program: &Program, choices: u32) -> Option<Vec<usize>> {
    let mut control = Control::default();
    control.scalars.insert(CHOICES, choices);
    let mut path = Vec::new();
    let mut at = 0;
    while path.len() < LONGEST {
        path.push(at);
        let inst = &program.lines.get(at)?.inst;
        match inst.desc.class {
            Class::Endpgm => return Some(path),
            Class::Branch if control.taken(inst) => {
                let Some(Operand::Label(label)) = inst.operands.first() else { return None };
                at = program.labels[label.0 as usize].at?;
            }
            _ => {
                control.step(inst);
                at += 1;
            }
        }
    }
    None
}

/// The kind of a violation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Early {
    /// Of a wait-state rule.
    States,
    /// Of a wait for a counter.
    Counter,
}

/// The position in `path` of the first instruction that executes too early, with the kind of violation; `None` if there is none.
pub fn first_early(program: &Program, path: &[usize]) -> Option<(usize, Early)> {
    let mut run = Run::default();
    for (position, &line) in path.iter().enumerate() {
        if too_close(program, &path[..position], line) {
            return Some((position, Early::States));
        }
        if run.conflicts(program, line) {
            return Some((position, Early::Counter));
        }
        run.step(program, line);
    }
    None
}

/// True if a rule requires more wait states between an instruction of `before` and `line`.
fn too_close(program: &Program, before: &[usize], line: usize) -> bool {
    let view = |line: usize| View::new(program.target, &program.lines[line].inst);
    let second = view(line);
    // A register that a matrix instruction, or an SGPR that any instruction, has overwritten on the way no longer matters.
    let mut overwritten: Vec<RegUnit> = Vec::new();
    let mut crossed = Kinds::empty();
    let mut distance = 0;
    for &earlier in before.iter().rev() {
        let first = view(earlier);
        let mut live = u32::MAX;
        let result = first.owned();
        for (i, unit) in result.iter().flat_map(|r| r.units()).enumerate() {
            live &= if overwritten.contains(&unit) { !(1 << i) } else { u32::MAX };
        }
        let need = first.required_since(&second, Config::default(), Since::new(live, crossed));
        let need = need.map_or(0, |n| n.states);
        if u32::from(need) > distance {
            return true;
        }
        overwritten.extend(first.matrix_result().iter().flat_map(|r| r.units()));
        let scalar = program.lines[earlier].inst.writes().into_iter().filter(|w| w.reg.file == RegFile::Sgpr);
        overwritten.extend(scalar.flat_map(|w| w.reg.units()));
        crossed |= first.crossing();
        distance += hazards::wait_states(&program.lines[earlier].inst);
        if distance >= u32::from(MAX_REACH) {
            break;
        }
    }
    false
}

fn is_load(class: Class) -> bool {
    use Class::{FlatLoad, GlobalLoad, LdsRead, ScratchLoad, SmemLoad, VmemLoad};
    matches!(class, VmemLoad | FlatLoad | GlobalLoad | ScratchLoad | LdsRead | SmemLoad)
}

/// An outstanding memory operation: no wait has guaranteed its completion.
struct Flying {
    line: usize,
    stream: Stream,
    count: u8,
    memory: MemoryEffect,
}

/// The outstanding operations, oldest first.
#[derive(Default)]
struct Run {
    flying: Vec<Flying>,
}

impl Run {
    fn wait(&mut self, wait: WaitCnt) {
        for counter in Counter::ALL {
            let value = counter.of(wait);
            if !counter.is_in(wait) {
                continue;
            }
            let on = |f: &Flying| f.stream.counter(InstructionSet::GFX900) == counter;
            let mut streams: Vec<Stream> = self.flying.iter().filter(|f| on(f)).map(|f| f.stream).collect();
            streams.dedup();
            if value > 0 && !matches!(streams[..], [stream] if stream.in_order()) {
                continue;
            }
            // As many of the youngest operations as the value allows may still be outstanding.
            let mut left = u32::from(value);
            let mut keep: Vec<bool> = Vec::new();
            for f in self.flying.iter().rev() {
                keep.push(!on(f) || left >= u32::from(f.count));
                left = if on(f) { left.saturating_sub(u32::from(f.count)) } else { left };
            }
            self.flying.retain(|_| keep.pop().unwrap_or(true));
        }
    }

    /// True if `line` accesses a register or memory of an outstanding operation that it must not access yet.
    fn conflicts(&self, program: &Program, line: usize) -> bool {
        let inst = &program.lines[line].inst;
        let mine = counters::events(program.target, inst);
        // A load that keeps half of a register merges it when its data arrive, in the order of loads.
        let merged = |u: &RegUse| {
            let tied = |i: u8| inst.desc.operands[usize::from(i)].access == Access::ReadWrite;
            is_load(inst.desc.class) && u.operand.is_some_and(tied)
        };
        let reads: Vec<RegUse> = inst.reads().into_iter().filter(|u| !merged(u)).collect();
        let barrier = inst.desc.class == Class::Barrier;
        // Before gfx90a, a barrier requires all counters to be 0; on later targets, it only orders what other waves can see.
        let drained = barrier && !program.target.has_unified_agprs();
        self.flying.iter().any(|f| {
            let shared = f.memory.intersects(MemoryEffect::LDS_WRITE) && f.stream == Stream::Lds
                || f.memory.intersects(MemoryEffect::LDS_DMA);
            let events = counters::events(program.target, &program.lines[f.line].inst);
            // All FLAT operations of these programs access memory, so their data arrive according to vmcnt.
            let returns = |e: &&counters::Event| e.stream == f.stream && e.stream != Stream::FlatLgkm;
            let targets = events.iter().filter(returns).filter_map(|e| e.writes);
            let mut targets = targets.filter(|target| {
                let later = || {
                    mine.iter().any(|e| counters::finishes_after(InstructionSet::GFX900, f.stream, e.stream))
                };
                reads.iter().any(|r| r.reg.overlaps(*target))
                    || inst.writes().iter().any(|w| w.reg.overlaps(*target)) && !later()
            });
            drained || barrier && shared || targets.next().is_some()
        })
    }

    fn step(&mut self, program: &Program, line: usize) {
        let inst = &program.lines[line].inst;
        if let (Class::Waitcnt, Some(Operand::Imm(imm))) = (inst.desc.class, inst.operands.first()) {
            self.wait(WaitCnt::of_immediate(InstructionSet::GFX900, *imm as u16));
        }
        for event in counters::events(program.target, inst) {
            let (stream, count, memory) = (event.stream, event.count, event.memory);
            self.flying.push(Flying { line, stream, count, memory });
        }
    }
}
