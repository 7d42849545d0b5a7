//! Coalesces variables and values during lowering: finds reads and writes of variables that need no copy.
//!
//! Each variable has its own register. A value that was read from the variable can share that register, provided that
//! nothing writes the variable before the value's last use. A value that is written to the variable can be computed in
//! that register, provided that the old value is not needed after the new one's definition, and that nothing writes the
//! variable again before the new value's last use.
//!
//! Statements are numbered in order. A use inside a nested statement counts as a use at the end of that statement in
//! the region of the definition, so loops need no special treatment.

use gcn_isa::reg::RegFile;
use gcn_isa::table::{Access, Class};
use hashbrown::{HashMap, HashSet};

use super::{Lower, Src};
use crate::ir::{Bin, Inst, Kernel, Place, Region, Stmt, Un, Value, Variable};
use crate::mir::{MInst, MOperand, Op, VReg, VSlice};
use crate::scalar::Elem;

/// The accesses that need no copy.
#[derive(Default)]
pub(super) struct Direct {
    /// Read values that share the variable's register.
    pub reads: HashSet<Value>,
    /// Written values that can be computed in the register of a variable, with that variable.
    pub writes: HashMap<Value, Variable>,
}

pub(super) fn direct(kernel: &Kernel, lazy_cmp: &[bool]) -> Direct {
    let mut walk = Walk::new(kernel);
    walk.region(&kernel.body);
    walk.last_uses(lazy_cmp);
    let mut direct = Direct::default();
    // A value that is written to two variables, or twice to one, is not computed in a variable's register: it would
    // have to be in two registers.
    let mut taken: HashMap<Value, u32> = HashMap::new();
    walk.writes.values().flatten().for_each(|w| *taken.entry(w.value).or_default() += 1);
    for (var, reads) in &walk.reads {
        let none = Vec::new();
        let writes = walk.writes.get(var).unwrap_or(&none);
        for v in reads {
            let (from, to) = (walk.def[v.0 as usize], walk.last[v.0 as usize]);
            // The value may share the variable's register until the next write.
            let next = writes.get(writes.partition_point(|w| w.at <= from));
            if next.is_none_or(|w| w.at >= to) {
                direct.reads.insert(*v);
            }
        }
        for (i, write) in writes.iter().enumerate() {
            let x = write.value.0 as usize;
            let written_once = taken.get(&write.value) == Some(&1);
            let next = writes.get(i + 1).map_or(u32::MAX, |w| w.at);
            // If the value is used before the write, it would have to be in the register while the register still
            // contains the variable's old value.
            let used_before = walk.uses[x].iter().any(|(_, at)| *at < write.at);
            if written_once
                && is_simple(kernel, write.value)
                && walk.region_of[x] == write.region
                && !used_before
                && walk.last[x] < next
            {
                direct.writes.insert(write.value, *var);
            }
        }
    }
    direct
}

/// True if the value is lowered to instructions of which only the last one writes the result.
fn is_simple(kernel: &Kernel, v: Value) -> bool {
    let ty = kernel.ty(v);
    let one = ty.elem.is_narrow_integer() || matches!(ty.elem, Elem::F16 | Elem::F32 | Elem::U32 | Elem::I32);
    let wide = !one || ty.count != 1;
    match kernel.def(v).inst {
        Inst::Bin(op, ..) => !wide && !matches!(op, Bin::Div | Bin::Rem | Bin::MulHi),
        Inst::Fma(..) => !wide,
        Inst::Un(Un::Neg | Un::Not | Un::Abs, _) => !wide && ty.place == Place::Varying,
        Inst::Select(..) | Inst::Load { .. } => !wide && ty.place == Place::Varying,
        Inst::Machine(ref call) => ty.place == Place::Varying && call.has_one_result(),
        _ => false,
    }
}

/// A write of a variable, by position.
struct WriteAt {
    at: u32,
    region: u32,
    value: Value,
}

struct Walk<'k> {
    kernel: &'k Kernel,
    /// The number of statements numbered so far.
    number: u32,
    regions: u32,
    /// For each statement that encloses the current point: its region and its number.
    around: Vec<(u32, u32)>,
    /// For each region, its index in `around`.
    place: Vec<u32>,
    /// For each statement, the last number that a statement inside it has.
    ends: Vec<u32>,
    /// For each value: the number of the statement that defines it, that statement's region, and the number of its last
    /// use.
    def: Vec<u32>,
    region_of: Vec<u32>,
    last: Vec<u32>,
    /// For each value: its users, each with the number of the statement of the value's region that contains the use.
    uses: Vec<Vec<(Option<Value>, u32)>>,
    order: Vec<Value>,
    reads: HashMap<Variable, Vec<Value>>,
    writes: HashMap<Variable, Vec<WriteAt>>,
}

impl<'k> Walk<'k> {
    fn new(kernel: &'k Kernel) -> Walk<'k> {
        let n = kernel.values.len();
        Walk {
            kernel,
            number: 0,
            regions: 0,
            around: Vec::new(),
            place: Vec::new(),
            ends: Vec::new(),
            def: vec![0; n],
            region_of: vec![u32::MAX; n],
            last: vec![0; n],
            uses: vec![Vec::new(); n],
            order: Vec::new(),
            reads: HashMap::new(),
            writes: HashMap::new(),
        }
    }

    fn next(&mut self) -> u32 {
        self.ends.push(self.number);
        self.number += 1;
        self.number - 1
    }

    fn region(&mut self, region: &Region) {
        let id = self.open();
        self.statements(region, id);
    }

    fn open(&mut self) -> u32 {
        self.place.push(self.around.len() as u32);
        self.regions += 1;
        self.regions - 1
    }

    fn statements(&mut self, region: &Region, id: u32) {
        for stmt in &region.stmts {
            let at = self.next();
            self.around.push((id, at));
            match stmt {
                Stmt::Inst(v) => self.inst(*v, id, at),
                // A `while` computes its condition in its head and uses it at the head's end.
                Stmt::While { head, cond, body } => {
                    self.with_condition(head, *cond);
                    self.region(body);
                }
                Stmt::DoWhile { body, cond } => self.with_condition(body, *cond),
                other => {
                    other.condition().into_iter().for_each(|c| self.use_of(c, None));
                    other.regions().into_iter().for_each(|r| self.region(r));
                }
            }
            self.around.pop();
            if stmt.repeats() {
                // The loop ends after the last write in it, before which another iteration may start.
                self.next();
            }
            self.ends[at as usize] = self.number - 1;
        }
    }

    fn with_condition(&mut self, region: &Region, cond: Value) {
        let id = self.open();
        self.statements(region, id);
        let at = self.next();
        self.around.push((id, at));
        self.use_of(cond, None);
        self.around.pop();
    }

    fn inst(&mut self, v: Value, region: u32, at: u32) {
        (self.def[v.0 as usize], self.region_of[v.0 as usize]) = (at, region);
        self.order.push(v);
        let inst = &self.kernel.def(v).inst;
        inst.operands(|operand| self.use_of(operand, Some(v)));
        match inst {
            Inst::Read(var) => self.reads.entry(*var).or_default().push(v),
            Inst::Write { var, value, .. } => {
                self.reads.entry(*var).or_default();
                self.writes.entry(*var).or_default().push(WriteAt { at, region, value: *value });
            }
            _ => {}
        }
    }

    fn use_of(&mut self, v: Value, user: Option<Value>) {
        let region = self.region_of[v.0 as usize];
        let place = self.place.get(region as usize);
        let around = place.and_then(|&place| self.around.get(place as usize)).filter(|(id, _)| *id == region);
        let at = around.map_or(u32::MAX, |(_, at)| *at);
        self.uses[v.0 as usize].push((user, at));
    }

    /// Computes the last use of each value. A use by a value that is itself evaluated only where it is used counts at
    /// the latter place.
    fn last_uses(&mut self, lazy_cmp: &[bool]) {
        for v in self.order.clone().into_iter().rev() {
            let mut last = self.def[v.0 as usize];
            for (user, at) in &self.uses[v.0 as usize] {
                last = last.max(self.ends.get(*at as usize).copied().unwrap_or(u32::MAX));
                if let Some(user) = user
                    && self.region_of[user.0 as usize] == self.region_of[v.0 as usize]
                    && self.is_lazy(*user, lazy_cmp)
                {
                    last = last.max(self.last[user.0 as usize]);
                }
            }
            self.last[v.0 as usize] = last;
        }
    }

    /// True if the value may share the register of its operand, or may be evaluated only where it is used. Its operands
    /// must then stay unchanged until the value's own last use.
    fn is_lazy(&self, v: Value, lazy_cmp: &[bool]) -> bool {
        match self.kernel.def(v).inst {
            Inst::Cmp(..) => lazy_cmp[v.0 as usize],
            Inst::Select(..) | Inst::Load { .. } | Inst::LoadUniform { .. } | Inst::Store { .. } => false,
            Inst::Write { .. } => false,
            // Sums that are part of an address are taken apart where the address is used.
            Inst::Bin(..) | Inst::Fma(..) => self.uses[v.0 as usize].iter().any(|(user, _)| {
                user.is_some_and(|u| {
                    !matches!(
                        self.kernel.def(u).inst,
                        Inst::Bin(..) | Inst::Fma(..) | Inst::Write { .. } | Inst::Cmp(..) | Inst::Select(..)
                    )
                })
            }),
            _ => true,
        }
    }
}

impl Lower<'_> {
    /// Computes the value that was just lowered in the variable's register, by renaming the result of its last
    /// instruction. Returns true if that was possible.
    pub(super) fn compute_in(&mut self, value: Value, dst: VSlice, keep: bool) -> bool {
        let Src::Reg(from) = self.operand(value) else { return false };
        if from.start != 0
            || from.len != dst.len
            || self.func.info(from.reg).file != self.func.info(dst.reg).file
        {
            return false;
        }
        let keep = keep && self.func.info(dst.reg).file != RegFile::Sgpr;
        let Some(block) = self.func.blocks.last_mut() else { return false };
        for inst in block.insts.iter_mut().rev() {
            let mentions = |reg: VReg| {
                inst.operands.iter().filter(|o| matches!(o, MOperand::Virt(s) if s.reg == reg)).count()
            };
            if mentions(from.reg) > 0 {
                // The instruction also reads the register: an earlier instruction has already computed a part of the
                // value there.
                if mentions(from.reg) > 1 {
                    return false;
                }
                let Some(slot) = result_slot(inst) else { return false };
                if inst.operands[slot] != MOperand::Virt(from) {
                    return false;
                }
                inst.operands[slot] = MOperand::Virt(dst);
                inst.keeps_dst = keep;
                self.values.insert(value, dst.reg);
                return true;
            }
            if mentions(dst.reg) > 0 || result_slot(inst).is_none() && !is_copy(inst) {
                return false;
            }
        }
        false
    }
}

/// True for a copy to a virtual register, which cannot change EXEC.
fn is_copy(inst: &MInst) -> bool {
    inst.op == Op::Copy && matches!(inst.operands.first(), Some(MOperand::Virt(_)))
}

/// The index of the result operand, if the instruction is arithmetic or a load with a single result.
fn result_slot(inst: &MInst) -> Option<usize> {
    let Op::Machine(row, _) = &inst.op else { return None };
    let plain = matches!(row.class, Class::Valu | Class::Salu | Class::LdsRead) || row.class.loads();
    let fixed = inst.operands.first().is_some_and(|o| matches!(o, MOperand::Fixed(_)));
    if !plain || fixed || inst.keeps_dst {
        return None;
    }
    let mut results = row.operands.iter().enumerate().filter(|(_, o)| o.access != Access::Read);
    match (results.next(), results.next()) {
        (Some((slot, operand)), None) if operand.access == Access::Write => Some(slot),
        _ => None,
    }
}
