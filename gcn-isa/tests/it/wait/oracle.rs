//! An independent judge of waits for small programs. It follows every path of the program with one concrete state at a time (without
//! joins). The state has queues of outstanding operations and a list of the instructions that were executed within the last wait states.
//! The kinds of operations are determined by their mnemonics.

use std::collections::HashSet;

use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::hazards::{Config, Since, View};
use gcn_isa::reg::RegUnit;
use gcn_isa::table::Access;
use gcn_isa::{Inst, InstructionSet, Operand, Program, RegFile, Target};

/// The number of (line, state) pairs after which the judge gives up.
const MOST_STATES: usize = 10_000;
/// Operations that are farther back in the queue are not distinguished, because the largest value of a wait is 62.
const LONGEST_QUEUE: usize = 66;

#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    Clean,
    /// The line and a description of the violation there.
    Violation(usize, String),
    TooLarge,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Kind {
    Vmem,
    Flat,
    Lds,
    Gds,
    Smem,
    Message,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Outstanding {
    kind: Kind,
    /// The registers that the operation has yet to write.
    writes: Vec<RegUnit>,
    /// The registers that the operation has yet to read.
    reads: Vec<RegUnit>,
    lds_dma: bool,
    lds_write: bool,
    lds_read: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Queues {
    vm: Vec<Outstanding>,
    lgkm: Vec<Outstanding>,
    exp: Vec<Outstanding>,
}

fn units(inst: &Inst, accept: impl Fn(Access) -> bool) -> Vec<RegUnit> {
    let operands = inst.operands.iter().zip(inst.desc.operands);
    let regs = operands.filter_map(|(o, d)| o.reg().filter(|_| accept(d.access)));
    regs.flat_map(|r| r.units().collect::<Vec<_>>()).collect()
}

fn memory_kind(target: Target, inst: &Inst) -> Option<Kind> {
    let m = inst.desc.mnemonic;
    let gfx940 = matches!(target, Target::GFX942 | Target::GFX950);
    let starts = |prefixes: &[&str]| prefixes.iter().any(|p| m.starts_with(p));
    if m == "ds_nop" {
        None
    } else if m.starts_with("ds_") {
        Some(if inst.mods.gds { Kind::Gds } else { Kind::Lds })
    } else if m.starts_with("flat_") {
        Some(Kind::Flat)
    } else if starts(&["buffer_wb", "buffer_inv"]) {
        gfx940.then_some(Kind::Vmem)
    } else if starts(&["global_", "buffer_", "tbuffer_", "scratch_"]) {
        Some(Kind::Vmem)
    } else if starts(&[
        "s_load",
        "s_buffer_load",
        "s_memtime",
        "s_memrealtime",
        "s_atc",
        "s_dcache",
        "s_store",
    ]) {
        Some(Kind::Smem)
    } else {
        m.starts_with("s_sendmsg").then_some(Kind::Message)
    }
}

impl Queues {
    fn of(&mut self, counter: usize) -> &mut Vec<Outstanding> {
        [&mut self.vm, &mut self.lgkm, &mut self.exp][counter]
    }

    fn wait(&mut self, wait: WaitCnt) {
        for (counter, allowed) in
            [Counter::Vm, Counter::Lgkm, Counter::Exp].map(|c| c.of(wait)).into_iter().enumerate()
        {
            let queue = self.of(counter);
            let allowed = usize::from(allowed);
            let ordered = queue.windows(2).all(|w| w[0].kind == w[1].kind)
                && queue.first().is_none_or(|o| matches!(o.kind, Kind::Vmem | Kind::Lds | Kind::Gds));
            let most = [63, 15, 7][counter];
            if allowed == 0 {
                queue.clear();
            } else if ordered && allowed < most && queue.len() > allowed {
                queue.drain(..queue.len() - allowed);
            }
        }
    }

    /// The violation if `inst` executes in this state.
    fn violation(&self, target: Target, inst: &Inst) -> Option<String> {
        let m = inst.desc.mnemonic;
        let all: Vec<(&Outstanding, usize)> = [&self.vm, &self.lgkm, &self.exp]
            .into_iter()
            .zip(0..)
            .flat_map(|(q, c)| q.iter().map(move |o| (o, c)))
            .collect();
        let kind = memory_kind(target, inst);
        let indices = |uses: Vec<gcn_isa::Reg>| -> HashSet<usize> {
            uses.iter().flat_map(|r| r.units().map(RegUnit::index).collect::<Vec<_>>()).collect()
        };
        let tied = |u: &gcn_isa::inst::RegUse| {
            u.operand.is_some_and(|i| inst.desc.operands[usize::from(i)].access == Access::ReadWrite)
        };
        let reads = indices(inst.reads().iter().map(|u| u.reg).collect());
        // Loads of half a register read the register when their data arrives.
        let load = m.contains("_load");
        let reads_at_once =
            indices(inst.reads().iter().filter(|u| !(load && tied(u))).map(|u| u.reg).collect());
        let writes = indices(inst.writes().iter().map(|u| u.reg).collect());
        for (o, counter) in all {
            let on_vm = counter == 0;
            // Vector memory operations return in order.
            let in_order = kind == Some(Kind::Vmem) && o.kind == Kind::Vmem;
            for unit in &o.writes {
                if if in_order { &reads_at_once } else { &reads }.contains(&unit.index()) {
                    return Some(format!("{} is read while it is loaded ({counter})", unit.reg()));
                }
                if writes.contains(&unit.index()) && !in_order {
                    return Some(format!("{} is overwritten while it is loaded ({counter})", unit.reg()));
                }
            }
            if let Some(unit) = o.reads.iter().find(|u| writes.contains(&u.index())) {
                return Some(format!("{} is overwritten while it is to be read", unit.reg()));
            }
            let lds_access =
                (m.starts_with("ds_") && !m.contains("permute") && !m.contains("swizzle") && !inst.mods.gds)
                    || m.starts_with("flat_");
            if o.lds_dma && lds_access {
                return Some("LDS is accessed while a DMA writes it".into());
            }
            let old = matches!(target, Target::GFX900 | Target::GFX906 | Target::GFX908);
            if m == "s_barrier" && (old || o.lds_dma || o.lds_write || o.lds_read) {
                return Some(format!("barrier with {:?} outstanding", o.kind));
            }
            if m.starts_with("buffer_wbinvl1") && on_vm {
                return Some("write-back with memory outstanding".into());
            }
        }
        None
    }

    fn issue(&mut self, target: Target, inst: &Inst) {
        let Some(kind) = memory_kind(target, inst) else { return };
        let m = inst.desc.mnemonic;
        let lds_dma = inst.mods.lds || m.contains("load_lds");
        let stores =
            m.contains("write") || m.contains("store") || m.contains("atomic") || m.starts_with("ds_add");
        let gws = m.starts_with("ds_gws");
        let late_reads: Vec<RegUnit> = if kind == Kind::Gds {
            let vector = |u: &RegUnit| u.reg().file != RegFile::Sgpr;
            units(inst, |a| a != Access::Write).into_iter().filter(vector).collect()
        } else {
            Vec::new()
        };
        let op = Outstanding {
            kind,
            writes: units(inst, |a| a != Access::Read),
            reads: Vec::new(),
            lds_dma,
            lds_write: stores && matches!(kind, Kind::Lds | Kind::Flat),
            lds_read: m.starts_with("ds_read") || m.starts_with("flat_load") || m.contains("store_lds"),
        };
        match kind {
            Kind::Vmem => self.vm.push(Outstanding { lds_write: false, ..op }),
            Kind::Flat => {
                self.vm.push(Outstanding { lds_write: false, lds_read: false, ..op.clone() });
                self.lgkm.push(op);
            }
            Kind::Gds => {
                let reads = if gws { late_reads.clone() } else { Vec::new() };
                self.lgkm.push(Outstanding { reads, ..op.clone() });
                self.exp.push(Outstanding { reads: late_reads, writes: Vec::new(), kind: Kind::Flat, ..op });
            }
            Kind::Lds | Kind::Smem | Kind::Message => self.lgkm.push(op),
        }
        for counter in 0..3 {
            shorten(self.of(counter));
        }
    }
}

/// Shortens a queue without changing what any wait proves about it. If a queue has operations of one ordered kind, every wait finishes both
/// of the two oldest operations or none of them; in a queue with several kinds, only a wait for zero finishes an operation.
fn shorten(queue: &mut Vec<Outstanding>) {
    while queue.len() > LONGEST_QUEUE {
        let oldest = queue.remove(0);
        // There are more operations than kinds, so the queue has another operation of the oldest one's kind. In a queue of one kind, it is
        // the next one.
        let Some(next) = queue.iter_mut().find(|o| o.kind == oldest.kind) else { return };
        next.writes = united(&next.writes, &oldest.writes);
        next.reads = united(&next.reads, &oldest.reads);
        next.lds_dma |= oldest.lds_dma;
        next.lds_write |= oldest.lds_write;
        next.lds_read |= oldest.lds_read;
    }
}

fn united(a: &[RegUnit], b: &[RegUnit]) -> Vec<RegUnit> {
    let mut all = [a, b].concat();
    all.sort_unstable_by_key(|u| u.index());
    all.dedup();
    all
}

/// The lines that may be executed after `line`.
pub fn successors(program: &Program, line: usize) -> Vec<usize> {
    let inst = &program.lines[line].inst;
    let mut next = Vec::new();
    if inst.desc.mnemonic == "s_endpgm" {
        return next;
    }
    if inst.desc.mnemonic != "s_branch" {
        next.push(line + 1);
    }
    if let Some(Operand::Label(l)) = inst.operands.first() {
        next.extend(program.labels[l.0 as usize].at);
    }
    next.retain(|&n| n < program.lines.len());
    next
}

/// Follows every path. `step` returns the state after a line, or a description of the violation at the line.
fn explore<S: Clone + Eq + std::hash::Hash + Default>(
    program: &Program,
    step: impl Fn(&S, usize) -> Result<S, String>,
) -> Verdict {
    let mut seen: HashSet<(usize, S)> = HashSet::new();
    let mut work = vec![(0, S::default())];
    while let Some((line, state)) = work.pop() {
        if line >= program.lines.len() || !seen.insert((line, state.clone())) {
            continue;
        }
        if seen.len() > MOST_STATES {
            return Verdict::TooLarge;
        }
        match step(&state, line) {
            Err(what) => return Verdict::Violation(line, what),
            Ok(after) => work.extend(successors(program, line).into_iter().map(|n| (n, after.clone()))),
        }
    }
    Verdict::Clean
}

/// For each line, whether some path reaches it.
pub fn reached(program: &Program) -> Vec<bool> {
    let mut seen = vec![false; program.lines.len()];
    let mut work = vec![0];
    while let Some(line) = work.pop() {
        if line < seen.len() && !std::mem::replace(&mut seen[line], true) {
            work.extend(successors(program, line));
        }
    }
    seen
}

/// Judges the `s_waitcnt` instructions of a program.
pub fn judge_counters(program: &Program) -> Verdict {
    explore(program, |queues: &Queues, line| {
        let inst = &program.lines[line].inst;
        if let Some(what) = queues.violation(program.target, inst) {
            return Err(what);
        }
        let mut queues = queues.clone();
        match (inst.desc.mnemonic, inst.operands.first()) {
            ("s_waitcnt", Some(Operand::Imm(imm))) => {
                queues.wait(WaitCnt::of_immediate(InstructionSet::GFX900, *imm as u16));
            }
            _ => queues.issue(program.target, inst),
        }
        Ok(queues)
    })
}

/// The number of wait states that an instruction provides.
pub fn wait_states(inst: &Inst) -> u32 {
    match (inst.desc.mnemonic, inst.operands.first()) {
        ("s_nop", Some(Operand::Imm(n))) => *n as u32 % 16 + 1,
        _ => 1,
    }
}

/// The largest number of wait states that any rule of these targets requires.
const LONGEST_RULE: u32 = 32;

/// An instruction that was executed recently: its line, the number of wait states since then, and, for a matrix instruction, the registers
/// of its result that no later matrix instruction has overwritten (one bit for each).
type Recent = (usize, u32, Since);

/// Judges the wait states of a program.
pub fn judge_distances(program: &Program) -> Verdict {
    let views: Vec<View> = program.lines.iter().map(|l| View::new(program.target, &l.inst)).collect();
    explore(program, |recent: &Vec<Recent>, line| {
        for &(first, distance, since) in recent {
            let need = views[first].required_since(&views[line], Config::default(), since);
            let needed = need.map_or(0, |n| u32::from(n.states));
            if needed > distance {
                return Err(format!("{needed} wait states after line {first}, {distance} are there"));
            }
        }
        let states = wait_states(&program.lines[line].inst);
        let now = &views[line];
        let behind = |r: &Recent| (r.0, r.1 + states, r.2.past(&views[r.0], now));
        let mut after: Vec<Recent> = recent.iter().map(behind).collect();
        after.retain(|r| r.1 < LONGEST_RULE);
        // Only the nearest execution of a line matters.
        after.retain(|r| r.0 != line);
        after.push((line, 0, Since::NOTHING));
        Ok(after)
    })
}
