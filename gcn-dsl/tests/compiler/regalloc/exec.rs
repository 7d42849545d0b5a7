//! Executes a function and its allocated program in parallel along one path, with made-up values, and compares every
//! register that is read. This tests both the allocator and the checker, and does not depend on a liveness analysis.
//!
//! A value consists of two numbers: one for the lanes that are always active, and one for the lanes that EXEC activates
//! and deactivates. A vector write changes only the active part. The lowest bit of EXEC's lower half says whether the
//! second part is active.

use gcn_isa::{Access, Class, Inst, InstDesc, Label, Operand, Reg, RegFile, reg, reg::RegUnit};
use gcn_test_support::Random;
use hashbrown::HashMap;

use gcn_dsl::mir::{Function, MInst, MOperand, Op, VSlice};
use gcn_dsl::regalloc::Allocated;

fn mix(x: u64) -> u64 {
    Random::new(x).next_u64()
}

/// Both parts of a value in the function before allocation, in which a part may be undefined.
type Soft = [Option<u64>; 2];

struct Machine<'a> {
    f: &'a Function,
    virt: Vec<Vec<Soft>>,
    /// Values of machine registers as the function defines them: only its own writes change them.
    own: Vec<[u64; 2]>,
    hard: Vec<[u64; 2]>,
    /// True if the second part is active.
    both: bool,
    /// The contents of memory by dword, and of the lanes of VGPRs.
    frame: HashMap<u32, [u64; 2]>,
    lanes: HashMap<(RegUnit, u8), [u64; 2]>,
}

/// True for instructions whose result depends only on their operands, so that they may be repeated.
fn is_function(desc: &InstDesc) -> bool {
    matches!(desc.class, Class::Valu | Class::Salu)
        && desc.implicit_writes.is_empty()
        && desc.operands.iter().skip(1).all(|o| o.access == Access::Read)
}

/// The 32-bit constant, if the operand is one.
fn constant(operand: Operand) -> Option<u32> {
    match operand {
        Operand::Inline(inline) => Some(inline.bits32()),
        Operand::Literal(bits) => Some(bits),
        _ => None,
    }
}

fn exec_low() -> usize {
    reg::EXEC.units().next().unwrap().index()
}

impl Machine<'_> {
    /// The parts that a write to `file` changes.
    fn parts(&self, file: RegFile) -> std::ops::Range<usize> {
        0..if self.both || file == RegFile::Sgpr { 2 } else { 1 }
    }

    fn soft(&self, operand: MOperand, k: usize) -> Soft {
        match operand {
            MOperand::Virt(s) => self.virt[s.reg.0 as usize][usize::from(s.start) + k],
            MOperand::Fixed(fixed) => match fixed {
                Operand::Reg(reg) => self.own[reg.sub(k as u8).units().next().unwrap().index()].map(Some),
                Operand::Special(s) => [Some(1000 + s as u64); 2],
                _ => [constant(fixed).map(u64::from); 2],
            },
        }
    }

    fn check(&self, operand: MOperand, reg: Reg) -> Result<(), String> {
        for (k, unit) in reg.units().enumerate() {
            let (soft, hard) = (self.soft(operand, k), self.hard[unit.index()]);
            for part in self.parts(RegFile::Vgpr) {
                if soft[part].is_some_and(|v| v != hard[part]) {
                    return Err(format!("{operand:?}[{k}] is not in {}", unit.reg()));
                }
            }
        }
        Ok(())
    }

    /// The result of an instruction, as a function of its operands: before allocation and in the allocated program.
    fn result(&self, inst: &MInst, out: &Inst, k: usize) -> (Soft, [u64; 2]) {
        let seed = u64::from(out.desc.id) * 64 + k as u64;
        let (mut soft, mut hard) = ([Some(mix(seed)); 2], [mix(seed); 2]);
        if out.desc.mnemonic == "s_mov_b64" {
            let reg = out.operands[1].reg();
            let unit = reg.and_then(|r| r.units().nth(k));
            let own = self.soft(inst.operands[1], k);
            return (own, unit.map_or(own.map(Option::unwrap_or_default), |u| self.hard[u.index()]));
        }
        for i in 1..out.operands.len() {
            let dwords = out.desc.operands[i].dwords.max(1);
            for j in 0..usize::from(dwords) {
                let own = self.soft(inst.operands[i], j);
                let unit = out.operands[i].reg().and_then(|r| r.units().nth(j));
                let real = unit.map_or(own.map(Option::unwrap_or_default), |u| self.hard[u.index()]);
                for part in 0..2 {
                    soft[part] = soft[part].zip(own[part]).map(|(a, b)| mix(a ^ b.rotate_left(7)));
                    hard[part] = mix(hard[part] ^ real[part].rotate_left(7));
                }
            }
        }
        (soft, hard)
    }

    fn set_hard(&mut self, unit: RegUnit, value: [u64; 2], parts: std::ops::Range<usize>) {
        parts.for_each(|p| self.hard[unit.index()][p] = value[p]);
        self.lanes.retain(|l, _| l.0 != unit);
    }

    /// Handles a machine instruction that was removed because its result is recomputed where it is read.
    fn left_out(&mut self, inst: &MInst) {
        let gcn_dsl::mir::Op::Machine(desc, mods) = inst.op else { return };
        let operands = inst.operands.iter().map(|o| match o {
            MOperand::Fixed(fixed) => *fixed,
            MOperand::Virt(_) => Operand::Off,
        });
        let out = Inst { desc, operands: operands.collect(), mods };
        let MOperand::Virt(dst) = inst.operands[0] else { return };
        let values: Vec<Soft> = (0..usize::from(dst.len)).map(|k| self.result(inst, &out, k).0).collect();
        values.into_iter().enumerate().for_each(|(k, v)| self.set_soft(dst, k, v, inst.keeps_dst));
    }

    /// Handles an instruction that the allocator inserted.
    fn spill(&mut self, inst: &Inst) {
        let name = inst.desc.mnemonic;
        let unit = |o: Operand, k: usize| o.reg().unwrap().units().nth(k).unwrap();
        if name == "v_writelane_b32" || name == "v_readlane_b32" {
            let lane = constant(inst.operands[2]).unwrap_or_else(|| panic!("{inst:?}"));
            let (to, from) = (unit(inst.operands[0], 0), unit(inst.operands[1], 0));
            if name == "v_writelane_b32" {
                let value = self.hard[from.index()];
                self.hard[to.index()] = [mix(value[0]); 2];
                self.lanes.insert((to, lane as u8), value);
            } else {
                let value = self.lanes.get(&(from, lane as u8)).copied().unwrap_or([1; 2]);
                self.set_hard(to, value, 0..2);
            }
        } else if name.starts_with("ds_") {
            // A range of offsets that scratch memory does not use.
            let slot = 0x10_0000 + inst.mods.offset as u32;
            let (data, parts) = (if name == "ds_write_b32" { 1 } else { 0 }, self.parts(RegFile::Vgpr));
            let unit = unit(inst.operands[data], 0);
            if data == 1 {
                let value = self.hard[unit.index()];
                let cell = self.frame.entry(slot).or_insert([2; 2]);
                parts.for_each(|p| cell[p] = value[p]);
            } else {
                let value = self.frame.get(&slot).copied().unwrap_or([3; 2]);
                self.set_hard(unit, value, parts);
            }
        } else if name.starts_with("scratch_") {
            let base = match inst.operand("saddr").unwrap() {
                Operand::Reg(r) => self.hard[r.units().next().unwrap().index()][0] as u32,
                _ => 0,
            };
            let first = (base + inst.mods.offset as u32) / 4;
            let data = inst.operand("vdata").or(inst.operand("vdst")).unwrap();
            for k in 0..data.reg().unwrap().len {
                let (unit, dword) = (unit(data, usize::from(k)), first + u32::from(k));
                let parts = self.parts(RegFile::Vgpr);
                if name.contains("store") {
                    let value = self.hard[unit.index()];
                    let cell = self.frame.entry(dword).or_insert([2; 2]);
                    parts.for_each(|p| cell[p] = value[p]);
                } else {
                    let value = self.frame.get(&dword).copied().unwrap_or([3; 2]);
                    self.set_hard(unit, value, parts);
                }
            }
        } else if inst.operands.len() == 2 && (name.contains("mov_b") || name.starts_with("v_accvgpr")) {
            self.moves(inst);
        } else {
            assert!(is_function(inst.desc), "{inst:?}");
            let plain = MInst {
                op: Op::Machine(inst.desc, inst.mods),
                operands: inst.operands.iter().map(|o| MOperand::Fixed(*o)).collect(),
                keeps_dst: false,
                loc: None,
            };
            let to = inst.operands[0].reg().unwrap();
            let values: Vec<[u64; 2]> =
                (0..usize::from(to.len)).map(|k| self.result(&plain, inst, k).1).collect();
            for (unit, value) in to.units().zip(values) {
                let parts = self.parts(to.file);
                self.set_hard(unit, value, parts);
            }
        }
    }

    fn machine(&mut self, inst: &MInst, out: &Inst, time: u64) -> Result<(), String> {
        for u in out.reads() {
            match u.operand {
                Some(i) => self.check(inst.operands[usize::from(i)], u.reg)?,
                None => self.check(MOperand::Fixed(Operand::Reg(u.reg)), u.reg)?,
            }
        }
        let exec = reg::EXEC.units().next().unwrap();
        let old_exec: Vec<[u64; 2]> = reg::EXEC.units().map(|u| self.hard[u.index()]).collect();
        let function = is_function(out.desc);
        let results: Vec<(Soft, [u64; 2])> = match out.operands.first() {
            Some(Operand::Reg(to)) if function => {
                (0..usize::from(to.len)).map(|k| self.result(inst, out, k)).collect()
            }
            _ => Vec::new(),
        };
        for (n, u) in out.writes().iter().enumerate() {
            let operand = u.operand.map(|i| inst.operands[usize::from(i)]);
            let tied =
                u.operand.is_some_and(|i| out.desc.operands[usize::from(i)].access == Access::ReadWrite);
            let keeps = inst.keeps_dst || out.preserves_destination() || tied;
            for (k, unit) in u.reg.units().enumerate() {
                let made_up = mix(time * 64 + (n * 32 + k) as u64);
                let (mut soft, mut value) = ([Some(made_up); 2], [made_up; 2]);
                if function {
                    (soft, value) = results[k];
                } else if out.desc.mnemonic.ends_with("_saveexec_b64") && u.operand.is_some() {
                    (soft, value) = (old_exec[k].map(Some), old_exec[k]);
                }
                if unit == exec && out.desc.mnemonic != "s_mov_b64" {
                    // A subset of the lanes that were active before, or of those in the saved mask.
                    let from = match inst.operands.get(1) {
                        Some(&o) if out.desc.mnemonic == "s_andn2_b64" => self.soft(o, 0)[0].unwrap_or(0),
                        _ => old_exec[0][0],
                    };
                    value = [(made_up & !1) | (made_up >> 1 & from & 1); 2];
                }
                let parts = self.parts(u.reg.file);
                match operand {
                    Some(MOperand::Virt(s)) => self.set_soft(s, k, soft, keeps),
                    _ => parts.clone().for_each(|p| self.own[unit.index()][p] = value[p]),
                }
                self.set_hard(unit, value, parts);
            }
        }
        self.both = self.hard[exec_low()][0] & 1 == 1;
        Ok(())
    }

    fn set_soft(&mut self, s: VSlice, k: usize, value: Soft, keeps: bool) {
        let parts = self.parts(self.f.info(s.reg).file);
        let place = &mut self.virt[s.reg.0 as usize][usize::from(s.start) + k];
        for (part, value) in value.into_iter().enumerate() {
            if parts.contains(&part) {
                place[part] = value;
            } else if !keeps {
                place[part] = None;
            }
        }
    }

    fn moves(&mut self, inst: &Inst) {
        let [Operand::Reg(to), from] = inst.operands[..] else { panic!("{inst:?}") };
        let from: Vec<[u64; 2]> = match from {
            Operand::Reg(reg) => reg.units().map(|u| self.hard[u.index()]).collect(),
            Operand::Special(s) => vec![[1000 + s as u64; 2]],
            other => {
                let bits = constant(other).unwrap_or_else(|| panic!("{inst:?}"));
                vec![[u64::from(bits); 2]; 2]
            }
        };
        for (unit, value) in to.units().zip(from) {
            let parts = self.parts(to.file);
            self.set_hard(unit, value, parts);
            if to.file == RegFile::Sgpr && to.index >= reg::FIRST_NAMED_SGPR {
                self.own[unit.index()] = self.hard[unit.index()];
            }
        }
        self.both = self.hard[exec_low()][0] & 1 == 1;
    }

    fn copy(&mut self, inst: &MInst) {
        let (dst, src) = (inst.operands[0], inst.operands[1]);
        if let MOperand::Virt(s) = dst {
            let values: Vec<Soft> = (0..usize::from(s.len)).map(|k| self.soft(src, k)).collect();
            values.into_iter().enumerate().for_each(|(k, v)| self.set_soft(s, k, v, inst.keeps_dst));
        }
    }
}

/// Executes up to `steps` instructions along a random path. Returns how many inserted instructions were executed.
pub fn run(f: &Function, a: &Allocated, steps: usize, seed: u64) -> Result<usize, String> {
    let mut rng = Random::new(seed);
    let scalar = |i: usize| RegUnit::from_index(i).is_some_and(|u| u.reg().file == RegFile::Sgpr);
    let mut start = |i: usize| {
        let (a, b) = (rng.next_u64() | u64::from(i == exec_low()), rng.next_u64());
        if scalar(i) { [a; 2] } else { [a, b] }
    };
    let hard: Vec<[u64; 2]> = (0..RegUnit::COUNT).map(&mut start).collect();
    let virt = f.vregs.iter().map(|v| vec![[None; 2]; usize::from(v.len)]).collect();
    let (frame, lanes) = (HashMap::new(), HashMap::new());
    let mut m = Machine { f, virt, own: hard.clone(), hard, both: true, frame, lanes };
    let first: Vec<usize> = f
        .blocks
        .iter()
        .scan(0, |n, b| {
            let first = *n;
            *n += b.insts.len();
            Some(first)
        })
        .collect();
    let (mut block, mut at, mut around) = (0, 0, 0);
    for time in 0..steps as u64 {
        while f.blocks.get(block).is_some_and(|b| at >= b.insts.len()) {
            // Inserted instructions between the last instruction of a block and the next block.
            let last = (first[block] + at).checked_sub(1).filter(|_| at > 0);
            let from = last.map_or(a.block_line[block], |l| a.spans[l].end);
            around += (a.block_line[block + 1] - from) as usize;
            (from..a.block_line[block + 1]).for_each(|l| m.spill(&a.program.lines[l as usize].inst));
            (block, at) = (block + 1, 0);
        }
        let Some(inst) = f.blocks.get(block).map(|b| &b.insts[at]) else { return Ok(around) };
        let span = a.spans[first[block] + at];
        let lines = span.main as usize..span.main_end as usize;
        around += (span.main - span.start + span.end - span.main_end) as usize;
        (span.start..span.main).for_each(|l| m.spill(&a.program.lines[l as usize].inst));
        let fail = |what| Err(format!("block {block} instruction {at}: {what}"));
        match &inst.op {
            Op::Order | Op::Mark(_) => {}
            Op::Undef => {
                if let MOperand::Virt(s) = inst.operands[0] {
                    m.virt[s.reg.0 as usize][usize::from(s.start)..][..usize::from(s.len)].fill([None; 2]);
                }
            }
            Op::Copy => {
                m.copy(inst);
                lines.for_each(|l| m.moves(&a.program.lines[l].inst));
            }
            Op::Machine(..) if lines.is_empty() => m.left_out(inst),
            Op::Machine(desc, _) => {
                if let Err(what) = m.machine(inst, &a.program.lines[lines.start].inst, time) {
                    return fail(what);
                }
                if desc.class == gcn_isa::Class::Endpgm {
                    return Ok(around);
                }
            }
        }
        (span.main_end..span.end).for_each(|l| m.spill(&a.program.lines[l as usize].inst));
        at += 1;
        match branch_target(inst) {
            Some(target) if rng.chance(50) || desc_falls(inst) => (block, at) = (target, 0),
            _ => {}
        }
    }
    Ok(around)
}

/// The block that a branch goes to.
fn branch_target(inst: &MInst) -> Option<usize> {
    matches!(inst.op, Op::Machine(desc, _) if desc.class == Class::Branch).then_some(())?;
    inst.operands.iter().find_map(|o| match o {
        MOperand::Fixed(Operand::Label(Label(block))) => Some(*block as usize),
        _ => None,
    })
}

/// True for an unconditional branch.
fn desc_falls(inst: &MInst) -> bool {
    matches!(inst.op, Op::Machine(desc, _) if !desc.falls_through())
}
