//! An independent judge of waits for small programs: it follows every path of the program, one concrete state at a time
//! (no joins), with queues of outstanding operations and a list of what was executed within the last wait states.
//! Operations are told apart by their mnemonics.

use std::collections::HashSet;

use gcn_isa::counters::WaitCnt;
use gcn_isa::reg::RegUnit;
use gcn_isa::table::Access;
use gcn_isa::{Inst, Operand, Program, RegFile, Target};

/// How many (line, state) pairs are looked at before a program is given up.
const MOST_STATES: usize = 10_000;
/// Queues are cut at this length: longer ones say no more, as waits end at 62.
const LONGEST_QUEUE: usize = 66;

#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    Clean,
    /// Line and what is wrong there.
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
    /// Registers that will be written.
    writes: Vec<RegUnit>,
    /// Registers that are still to be read.
    reads: Vec<RegUnit>,
    lds_dma: bool,
    lds_write: bool,
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
        for (counter, allowed) in [wait.vm, wait.lgkm, wait.exp].into_iter().enumerate() {
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

    /// What is wrong with executing `inst` now.
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
        // Loads of half a register read it when their data arrives.
        let load = m.contains("_load");
        let reads_at_once =
            indices(inst.reads().iter().filter(|u| !(load && tied(u))).map(|u| u.reg).collect());
        let writes = indices(inst.writes().iter().map(|u| u.reg).collect());
        for (o, counter) in all {
            let on_vm = counter == 0;
            // Vector memory returns in order.
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
            if m == "s_barrier" && (old || o.lds_dma || o.lds_write) {
                return Some(format!("barrier with {:?} outstanding", o.kind));
            }
            if m.starts_with("buffer_wbinvl1") && on_vm {
                return Some("write-back with memory outstanding".into());
            }
        }
        None
    }

    fn issue(&mut self, target: Target, inst: &Inst) -> bool {
        let Some(kind) = memory_kind(target, inst) else { return true };
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
        };
        match kind {
            Kind::Vmem => self.vm.push(Outstanding { lds_write: false, ..op }),
            Kind::Flat => {
                self.vm.push(Outstanding { lds_write: false, ..op.clone() });
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
            let queue = self.of(counter);
            if queue.len() > LONGEST_QUEUE {
                // An old operation that owes nothing, or one of many younger ones that owe nothing.
                let idle = |o: &Outstanding| o.writes.is_empty() && !o.lds_dma && !o.lds_write;
                match queue.iter().position(idle) {
                    Some(i) => drop(queue.remove(i)),
                    None => return false,
                }
            }
        }
        true
    }
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

/// Follows every path; `step` gives the state after a line, or what is wrong there, or `None` to leave the path.
fn explore<S: Clone + Eq + std::hash::Hash + Default>(
    program: &Program,
    step: impl Fn(&S, usize) -> Result<Option<S>, String>,
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
            Ok(None) => {}
            Ok(Some(after)) => work.extend(successors(program, line).into_iter().map(|n| (n, after.clone()))),
        }
    }
    Verdict::Clean
}

/// For each line whether some path reaches it.
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

/// Judges the `s_waitcnt` of a program.
pub fn judge_counters(program: &Program) -> Verdict {
    explore(program, |queues: &Queues, line| {
        let inst = &program.lines[line].inst;
        if let Some(what) = queues.violation(program.target, inst) {
            return Err(what);
        }
        let mut queues = queues.clone();
        match (inst.desc.mnemonic, inst.operands.first()) {
            ("s_waitcnt", Some(Operand::Imm(imm))) => queues.wait(WaitCnt::decode(*imm as u16)),
            _ => {
                if !queues.issue(program.target, inst) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(queues))
    })
}

/// Wait states that must lie between two instructions.
fn required(target: Target, first: &Inst, second: &Inst) -> u32 {
    gcn_isa::hazards::required(target, first, second).map_or(0, |need| u32::from(need.states))
}

/// Wait states that an instruction takes.
pub fn wait_states(inst: &Inst) -> u32 {
    match (inst.desc.mnemonic, inst.operands.first()) {
        ("s_nop", Some(Operand::Imm(n))) => *n as u32 % 16 + 1,
        _ => 1,
    }
}

/// No rule of these targets asks for more.
const LONGEST_RULE: u32 = 32;

/// Judges the distances of a program.
pub fn judge_distances(program: &Program) -> Verdict {
    // The lines executed last, each with the wait states since.
    explore(program, |recent: &Vec<(usize, u32)>, line| {
        let inst = &program.lines[line].inst;
        for &(first, distance) in recent {
            let needed = required(program.target, &program.lines[first].inst, inst);
            if needed > distance {
                return Err(format!("{needed} wait states after line {first}, {distance} are there"));
            }
        }
        let mut after: Vec<(usize, u32)> = recent.iter().map(|r| (r.0, r.1 + wait_states(inst))).collect();
        after.retain(|r| r.1 < LONGEST_RULE);
        // The nearest execution of a line is the one that counts.
        after.retain(|r| r.0 != line);
        after.push((line, 0));
        Ok(Some(after))
    })
}
