//! Runs a function and its allocation side by side along one path, with made-up values, and compares every register
//! that is read: the witness for allocator and checker alike, which knows nothing of liveness.
//!
//! A value is two numbers: for the lanes that are always active and for those that EXEC switches on and off at random.
//! A vector write changes the active part only.

use gcn_isa::{Access, Inst, Operand, Reg, RegFile, reg::RegUnit};

use crate::mir::{Function, MInst, MOperand, Op, VSlice};
use crate::regalloc::{Allocated, input, moves::Source};

/// A random number generator (splitmix64).
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Both parts of a value in the function's world, where a part may be undefined.
type Soft = [Option<u64>; 2];

struct Machine<'a> {
    f: &'a Function,
    virt: Vec<Vec<Soft>>,
    /// Values of machine registers as the function sees them: changed only by its own writes.
    own: Vec<[u64; 2]>,
    hard: Vec<[u64; 2]>,
    /// The second part is active.
    both: bool,
}

impl Machine<'_> {
    /// Parts that a write to `file` changes.
    fn parts(&self, file: RegFile) -> std::ops::Range<usize> {
        0..if self.both || file == RegFile::Sgpr { 2 } else { 1 }
    }

    fn soft(&self, operand: MOperand, k: usize) -> Soft {
        match operand {
            MOperand::Virt(s) => self.virt[s.reg.0 as usize][usize::from(s.start) + k],
            MOperand::Fixed(fixed) => match Source::of(fixed) {
                Some(Source::Reg(reg)) => {
                    self.own[reg.sub(k as u8).units().next().unwrap().index()].map(Some)
                }
                Some(Source::Const(bits)) => [Some(u64::from(bits)); 2],
                Some(Source::Special(s)) => [Some(1000 + s as u64); 2],
                None => [None; 2],
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

    fn machine(&mut self, inst: &MInst, out: &Inst, time: u64) -> Result<(), String> {
        for u in out.reads() {
            match u.operand {
                Some(i) => self.check(inst.operands[usize::from(i)], u.reg)?,
                None => self.check(MOperand::Fixed(Operand::Reg(u.reg)), u.reg)?,
            }
        }
        for (n, u) in out.writes().iter().enumerate() {
            let operand = u.operand.map(|i| inst.operands[usize::from(i)]);
            let tied =
                u.operand.is_some_and(|i| out.desc.operands[usize::from(i)].access == Access::ReadWrite);
            let keeps = inst.keeps_dst || out.preserves_destination() || tied;
            for (k, unit) in u.reg.units().enumerate() {
                let value = mix(time * 64 + (n * 32 + k) as u64);
                let parts = self.parts(u.reg.file);
                match operand {
                    Some(MOperand::Virt(s)) => self.set_soft(s, k, [Some(value); 2], keeps),
                    _ => parts.clone().for_each(|p| self.own[unit.index()][p] = value),
                }
                parts.for_each(|p| self.hard[unit.index()][p] = value);
            }
        }
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
            constant => {
                let Some(Source::Const(bits)) = Source::of(constant) else { panic!("{inst:?}") };
                vec![[u64::from(bits); 2]; 2]
            }
        };
        for (unit, value) in to.units().zip(from) {
            self.parts(to.file).for_each(|p| self.hard[unit.index()][p] = value[p]);
            if !input::allocatable(to) {
                self.own[unit.index()] = self.hard[unit.index()];
            }
        }
    }

    fn copy(&mut self, inst: &MInst) {
        let (dst, src) = (inst.operands[0], inst.operands[1]);
        if let MOperand::Virt(s) = dst {
            let values: Vec<Soft> = (0..usize::from(s.len)).map(|k| self.soft(src, k)).collect();
            values.into_iter().enumerate().for_each(|(k, v)| self.set_soft(s, k, v, inst.keeps_dst));
        }
    }
}

/// Runs up to `steps` instructions along a random path.
pub fn run(f: &Function, a: &Allocated, steps: usize, seed: u64) -> Result<(), String> {
    let mut rng = Rng(seed);
    let hard: Vec<[u64; 2]> = (0..RegUnit::COUNT).map(|_| [rng.next(), rng.next()]).collect();
    let virt = f.vregs.iter().map(|v| vec![[None; 2]; usize::from(v.len)]).collect();
    let mut m = Machine { f, virt, own: hard.clone(), hard, both: true };
    let first: Vec<usize> = f
        .blocks
        .iter()
        .scan(0, |n, b| {
            let first = *n;
            *n += b.insts.len();
            Some(first)
        })
        .collect();
    let (mut block, mut at) = (0, 0);
    for time in 0..steps as u64 {
        while f.blocks.get(block).is_some_and(|b| at >= b.insts.len()) {
            (block, at) = (block + 1, 0);
        }
        let Some(inst) = f.blocks.get(block).map(|b| &b.insts[at]) else { return Ok(()) };
        let lines = a.first_line[first[block] + at] as usize..a.first_line[first[block] + at + 1] as usize;
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
            Op::Machine(desc, _) => {
                if let Err(what) = m.machine(inst, &a.program.lines[lines.start].inst, time) {
                    return fail(what);
                }
                if desc.class == gcn_isa::Class::Endpgm {
                    return Ok(());
                }
            }
        }
        at += 1;
        match input::branch_target(inst) {
            Some(target) if rng.chance(50) || desc_falls(inst) => (block, at) = (target, 0),
            _ => {}
        }
        if rng.chance(10) {
            m.both = !m.both;
        }
    }
    Ok(())
}

/// True for the unconditional branch.
fn desc_falls(inst: &MInst) -> bool {
    matches!(inst.op, Op::Machine(desc, _) if !desc.falls_through())
}
