//! Maps named values to the machine registers that contain them, for debug information.
//!
//! A *fact* says that a machine register contains a certain dword of a virtual register. An instruction creates facts
//! about the registers that it writes. A coalesced copy derives new facts: the register that contained its source now
//! also contains its destination. The range over which a fact holds is determined later, on the finished program,
//! because later passes move instructions.
//!
//! A dword that only one instruction writes is a *value*: copies of it share the same fact. A dword that several
//! instructions write belongs to a *variable*.

use gcn_isa::Reg;
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::access::{self, VUse};
use crate::mir::{Function, MInst, MOperand, Op, VReg, VSlice};

/// The number of a fact.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Fact(pub u32);

/// Facts about consecutive machine registers.
#[derive(Clone, PartialEq, Debug)]
pub struct Held {
    /// The registers.
    pub reg: Reg,
    /// The fact about each of the registers.
    pub facts: SmallVec<[Fact; 4]>,
    /// True if the virtual register is a variable.
    pub variable: bool,
    /// True if inactive lanes of the registers keep their old content.
    pub keeps: bool,
}

/// A coalesced copy. A register that contains the copy's source also contains its destination.
#[derive(Clone, PartialEq, Debug)]
pub struct Renamed {
    /// The instruction number of the copy.
    pub number: u32,
    /// The source.
    pub from: SmallVec<[Fact; 4]>,
    /// The destination.
    pub to: Held,
}

/// The effect of an instruction on facts.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Effect {
    /// The coalesced copies that precede the instruction.
    pub before: Vec<Renamed>,
    /// The facts that the instruction creates.
    pub writes: SmallVec<[Held; 1]>,
}

/// A scalar part (one element) of a named value.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// The number of the name.
    pub name: usize,
    /// The number of the part.
    pub part: usize,
    /// The facts about its dwords.
    pub facts: SmallVec<[Fact; 4]>,
}

/// All facts about the named values of a function.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Values {
    /// The effects of instructions, by [`Line::origin`](gcn_isa::program::Line::origin).
    pub effects: HashMap<u32, Effect>,
    /// The parts of the named values.
    pub parts: Vec<Part>,
    /// For each variable of more than one dword, its facts.
    pub wide: Vec<SmallVec<[Fact; 4]>>,
}

/// Collects effects while a function is rewritten.
pub(super) struct Collector<'f> {
    f: &'f Function,
    /// For each virtual register, the number of its first dword.
    first: Vec<u32>,
    /// For each dword, the number of instructions that write it.
    writers: Vec<u32>,
    /// For each dword that is a copy, the dword of which it is a copy; for all others, the dword itself.
    same: Vec<u32>,
    wanted: HashSet<Fact>,
    pending: Vec<Renamed>,
    values: Values,
}

impl<'f> Collector<'f> {
    pub fn new(f: &'f Function) -> Collector<'f> {
        let mut count = 0;
        let mut first: Vec<u32> = Vec::new();
        if !f.shown.is_empty() {
            for info in &f.vregs {
                first.push(count);
                count += u32::from(info.len);
            }
        }
        let mut new = Collector {
            f,
            first,
            writers: vec![0; count as usize],
            same: (0..count).collect(),
            wanted: HashSet::new(),
            pending: Vec::new(),
            values: Values::default(),
        };
        if !f.shown.is_empty() {
            new.read();
        }
        new
    }

    fn read(&mut self) {
        let f = self.f;
        let insts = || f.blocks.iter().flat_map(|b| &b.insts);
        for write in insts().flat_map(|inst| access::uses(f, inst)).filter(|u| u.write && !u.undef) {
            self.dwords(write.slice).for_each(|d| self.writers[d as usize] += 1);
        }
        let copies: Vec<(VSlice, VSlice)> = insts().filter(|inst| !inst.keeps_dst).filter_map(copy).collect();
        for (to, from) in &copies {
            for (to, from) in self.dwords(*to).zip(self.dwords(*from)) {
                if self.is_value(to) && self.is_value(from) {
                    self.same[to as usize] = from;
                }
            }
        }
        for shown in &f.shown {
            // A value that is only one of several contents of a variable is in the variable's register temporarily.
            if shown.variable || self.dwords(shown.of).all(|d| self.is_value(d)) {
                let facts = self.facts(shown.of);
                self.wanted.extend(&facts);
                self.values.parts.push(Part { name: shown.name, part: shown.part, facts });
            }
        }
        // A dword that debuggers need may be a copy of another one, which they then need as well.
        loop {
            let before = self.wanted.len();
            for (to, from) in &copies {
                if self.facts(*to).iter().any(|fact| self.wanted.contains(fact)) {
                    let facts = self.facts(*from);
                    self.wanted.extend(facts);
                }
            }
            if self.wanted.len() == before {
                break;
            }
        }
        for (number, info) in f.vregs.iter().enumerate().filter(|(_, info)| info.len > 1) {
            let whole = VReg(number as u32).all(*info);
            let facts = self.facts(whole);
            if self.is_variable(whole) && facts.iter().any(|fact| self.wanted.contains(fact)) {
                self.values.wide.push(facts);
            }
        }
    }

    fn dwords(&self, slice: VSlice) -> impl Iterator<Item = u32> + use<> {
        let first = self.first[slice.reg.0 as usize] + u32::from(slice.start);
        first..first + u32::from(slice.len)
    }

    fn is_value(&self, dword: u32) -> bool {
        self.writers[dword as usize] == 1
    }

    fn is_variable(&self, slice: VSlice) -> bool {
        self.dwords(slice).any(|d| self.writers[d as usize] > 1)
    }

    fn facts(&self, slice: VSlice) -> SmallVec<[Fact; 4]> {
        let of = |mut d: u32| {
            while self.same[d as usize] != d {
                d = self.same[d as usize];
            }
            Fact(d)
        };
        self.dwords(slice).map(of).collect()
    }

    fn held(&self, slice: VSlice, reg: Reg, keeps: bool) -> Option<Held> {
        let facts = self.facts(slice);
        let wanted = facts.iter().any(|fact| self.wanted.contains(fact));
        wanted.then(|| Held {
            reg,
            facts,
            variable: self.is_variable(slice.reg.all(self.f.info(slice.reg))),
            keeps,
        })
    }

    /// Records an instruction for which code was emitted.
    pub fn lines(&mut self, number: u32, inst: &MInst, reg: &mut dyn FnMut(VSlice) -> Option<Reg>) {
        if self.first.is_empty() {
            return;
        }
        let writes = |u: &VUse| u.write && !u.undef;
        let mut effect = Effect { before: std::mem::take(&mut self.pending), ..Effect::default() };
        for write in access::uses(self.f, inst).iter().filter(|u| writes(u)) {
            let held = reg(write.slice).and_then(|reg| self.held(write.slice, reg, write.read));
            effect.writes.extend(held);
        }
        self.values.effects.insert(number, effect);
    }

    /// Records a copy that was coalesced, so that no code was emitted.
    pub fn no_lines(&mut self, number: u32, inst: &MInst, reg: &mut dyn FnMut(VSlice) -> Option<Reg>) {
        if self.first.is_empty() {
            return;
        }
        let Some((to, from)) = copy(inst) else { return };
        if let Some(to) = reg(to).and_then(|reg| self.held(to, reg, inst.keeps_dst)) {
            self.pending.push(Renamed { number, from: self.facts(from), to });
        }
    }

    /// Records the end of a block.
    pub fn block(&mut self) {
        self.pending.clear();
    }

    pub fn finish(self) -> Values {
        self.values
    }
}

/// Destination and source of a copy between virtual registers; `None` for other instructions.
fn copy(inst: &MInst) -> Option<(VSlice, VSlice)> {
    match (&inst.op, &inst.operands[..]) {
        (Op::Copy, [MOperand::Virt(to), MOperand::Virt(from)]) => Some((*to, *from)),
        _ => None,
    }
}
