//! Checks that a kernel is well formed: the rules that every pass may rely on and must preserve.
//!
//! - *Dominance*: an instruction occurs once, and after its operands, which are in the same region or in an enclosing
//!   one. The values of a loop's head are visible in its body.
//! - *Types*: operands and result agree in element type, number of elements and registers.
//! - *Places*: a uniform result has uniform operands, except for instructions that reduce lanes to one value.
//! - *Memory*: bases and offsets have the types of their memory space; arrays exist.
//! - *Variables*: each exists, and is read and written with its type.
//! - *Flow*: conditions are `bool`; an exit ends its region and names an enclosing block; no label names two blocks; a
//!   barrier occurs only where all lanes of the wave are active.
//!
//! The verifier runs after each pass in builds with debug assertions, or if
//! [`BuildOptions::verify`](crate::BuildOptions::verify) requests it. Its running time is linear in the size of the
//! kernel.

use std::fmt;

use gcn_isa::program::SourceLoc;
use hashbrown::HashSet;

use super::text::Text;
use super::wave::Spread;
use super::{
    AtomicOp, Bin, Inst, Kernel, Label, Memory, Place, Region, Stmt, Type, Un, Value, Variable, atomic, flow,
};
use crate::scalar::{Elem, LaneMask, Scalar};

/// A violation of a rule of the IR.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The statement in textual form.
    pub at: String,
    /// The violated rule.
    pub rule: String,
    /// The location in the user's source, if the statement has one.
    pub loc: Option<SourceLoc>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.at, self.rule)?;
        self.loc.map_or(Ok(()), |loc| write!(f, " ({loc})"))
    }
}

impl std::error::Error for Fault {}

/// Checks that `kernel` is well formed.
///
/// # Errors
/// The first violation in program order.
pub fn verify(kernel: &Kernel) -> Result<(), Fault> {
    let mut verifier = Verifier {
        kernel,
        // There are two tables for two reasons: an operand that is out of scope and an operand that is defined later
        // give different messages; and a value that a pass has inserted twice must be detected even after its first
        // scope has ended.
        in_sight: vec![false; kernel.values.len()],
        seen: vec![false; kernel.values.len()],
        labels: HashSet::new(),
        blocks: Vec::new(),
        varying: 0,
    };
    verifier.lists()?;
    verifier.region(&kernel.body, |_| Ok(()))
}

/// The number of dwords of a buffer resource, which is uniform.
const RESOURCE_DWORDS: u8 = 4;

/// An open block.
struct Open {
    label: Label,
    /// The number of varying conditions around the block.
    varying: usize,
    /// True if some of the lanes may have left the block.
    left: bool,
}

struct Verifier<'a> {
    kernel: &'a Kernel,
    /// The values that are visible at the current statement: their instructions precede it in an open region.
    in_sight: Vec<bool>,
    /// The values whose instructions have been visited.
    seen: Vec<bool>,
    /// The labels of the blocks visited so far.
    labels: HashSet<Label>,
    /// The open blocks, outermost first.
    blocks: Vec<Open>,
    /// The number of varying conditions around the current statement.
    varying: usize,
}

type Checked = Result<(), Fault>;

impl Verifier<'_> {
    /// Checks the kernel's lists, which are not part of its body.
    fn lists(&self) -> Checked {
        let kernel = self.kernel;
        let listed = |name: &str, values: &[Value]| {
            let missing = values.iter().find(|v| v.0 as usize >= kernel.values.len());
            missing.map_or(Ok(()), |v| Err(fault(name, format!("the kernel has no value {v}"))))
        };
        listed("read_only", &kernel.read_only)?;
        listed("whole_dwords", &kernel.whole_dwords)?;
        listed("overlapping", &kernel.overlapping)?;
        let variables = kernel.pins.iter().map(|pin| pin.var).chain(kernel.joined.iter().copied());
        for var in variables {
            self.variable(var).map_err(|rule| fault("variables", rule))?;
        }
        // `is_joined` searches this list by bisection.
        if !kernel.joined.is_sorted() {
            return Err(fault("joined", "joined variables are listed in ascending order".to_owned()));
        }
        for pin in &kernel.pins {
            let (file, dwords) = self.kernel.variables[pin.var.0 as usize].registers();
            if (pin.to.file, pin.to.len) != (file, dwords) {
                let rule = format!("var{} needs {dwords} registers of {file:?}, not {}", pin.var.0, pin.to);
                return Err(fault("pins", rule));
            }
        }
        Ok(())
    }

    /// Checks a region, then calls `after` while the region's values are still visible.
    fn region(&mut self, region: &Region, after: impl FnOnce(&mut Self) -> Checked) -> Checked {
        let mut defined = Vec::new();
        for (i, stmt) in region.stmts.iter().enumerate() {
            match stmt {
                Stmt::Inst(v) => {
                    self.inst(*v)?;
                    self.in_sight[v.0 as usize] = true;
                    defined.push(*v);
                }
                Stmt::Exit(label) => {
                    let at = || format!("exit {label}");
                    if i + 1 != region.stmts.len() {
                        return Err(fault(&at(), "an exit is the last statement of its region".to_owned()));
                    }
                    self.exit(*label).map_err(|rule| fault(&at(), rule))?;
                }
                other => self.nested(other)?,
            }
        }
        // The body of a `while`, and the condition of a loop, may use values of the region, so the region's scope ends
        // here.
        after(self)?;
        for v in defined {
            self.in_sight[v.0 as usize] = false;
        }
        Ok(())
    }

    fn nested(&mut self, stmt: &Stmt) -> Checked {
        match stmt {
            Stmt::Inst(_) | Stmt::Exit(_) => Ok(()),
            Stmt::If { cond, then, els } => {
                let varying = self.condition("if", *cond)?;
                self.under(varying, |this| {
                    let before = this.left();
                    this.region(then, |_| Ok(()))?;
                    let after_then = this.back_to(&before);
                    this.region(els, |_| Ok(()))?;
                    this.note_left(&after_then);
                    Ok(())
                })
            }
            Stmt::While { head, cond, body } => {
                // Record the exits before visiting the regions: because of the back edge, a barrier at the top of the
                // body also comes after an exit further down.
                self.leaves_on_a_later_trip(&[head, body]);
                // Lanes in which a varying condition is false wait at the loop's end, so the head, too, may run with
                // only some lanes.
                let varying = self.kernel.values.get(cond.0 as usize).is_some_and(|_| self.is_varying(*cond));
                self.under(varying, |this| {
                    this.region(head, |this| {
                        if !flow::ends(head) {
                            this.condition("while", *cond)?;
                        }
                        this.region(body, |_| Ok(()))
                    })
                })
            }
            Stmt::DoWhile { body, cond } => {
                self.leaves_on_a_later_trip(&[body]);
                // If no lane reaches the end of the body, the condition need not be defined.
                self.region(body, |this| match flow::ends(body) || !this.condition("do while", *cond)? {
                    true => Ok(()),
                    false => Err(fault("do while", format!("the condition {cond} is uniform"))),
                })
            }
            Stmt::Loop { body } => {
                self.leaves_on_a_later_trip(&[body]);
                self.region(body, |_| Ok(()))
            }
            Stmt::Block { label, body } => {
                if !self.labels.insert(*label) {
                    return Err(fault(&label.to_string(), "no other block has this label".to_owned()));
                }
                self.blocks.push(Open { label: *label, varying: self.varying, left: false });
                let checked = self.region(body, |_| Ok(()));
                self.blocks.pop();
                checked
            }
        }
    }

    /// Runs `check` on code that only some of the lanes execute if `varying` is true.
    fn under(&mut self, varying: bool, check: impl FnOnce(&mut Self) -> Checked) -> Checked {
        self.varying += usize::from(varying);
        let checked = check(self);
        self.varying -= usize::from(varying);
        checked
    }

    /// Records exits from a loop's body before the body is visited: a lane that exits is missing at the start of the
    /// body in the next iteration.
    fn leaves_on_a_later_trip(&mut self, bodies: &[&Region]) {
        for body in bodies {
            self.note_exits(body, self.varying);
        }
    }

    /// Records the blocks that some lanes leave from within a loop; `varying` is the number of varying conditions
    /// around `region`.
    fn note_exits(&mut self, region: &Region, varying: usize) {
        for stmt in &region.stmts {
            match stmt {
                Stmt::Exit(label) => self.note_exit(*label, varying),
                Stmt::Inst(_) => {}
                Stmt::If { cond, then, els } => {
                    let known = (cond.0 as usize) < self.kernel.values.len();
                    let deeper = varying + usize::from(known && self.is_varying(*cond));
                    let before = self.left();
                    self.note_exits(then, deeper);
                    let after_then = self.back_to(&before);
                    self.note_exits(els, deeper);
                    self.note_left(&after_then);
                }
                Stmt::While { cond, .. } => {
                    let known = (cond.0 as usize) < self.kernel.values.len();
                    let deeper = varying + usize::from(known && self.is_varying(*cond));
                    stmt.regions().into_iter().for_each(|r| self.note_exits(r, deeper));
                }
                _ => stmt.regions().into_iter().for_each(|r| self.note_exits(r, varying)),
            }
        }
    }

    /// For each open block, true if some of its lanes may have left it.
    fn left(&self) -> Vec<bool> {
        self.blocks.iter().map(|open| open.left).collect()
    }

    /// Restores the flags `before` for the `else` branch, which does not run after the `then` branch, so that exits in
    /// the latter remove no lane from it. Returns the current flags.
    fn back_to(&mut self, before: &[bool]) -> Vec<bool> {
        let until_now = self.left();
        self.blocks.iter_mut().zip(before).for_each(|(open, left)| open.left = *left);
        until_now
    }

    /// Adds the flags in `other`.
    fn note_left(&mut self, other: &[bool]) {
        self.blocks.iter_mut().zip(other).for_each(|(open, left)| open.left |= left);
    }

    /// Records that lanes leave a block. If all lanes in the block leave together, no lane is missing from the blocks
    /// in between.
    fn note_exit(&mut self, label: Label, varying: usize) {
        let Some(of) = self.blocks.iter().position(|open| open.label == label) else { return };
        // An exit under a varying condition takes only some of the lanes. Conditions around the block do not count,
        // because lanes in which they are false never entered the block.
        let partial = varying > self.blocks[of].varying || self.blocks[of..].iter().any(|open| open.left);
        if partial {
            // The lanes that left are also missing in the inner blocks.
            self.blocks[of..].iter_mut().for_each(|open| open.left = true);
        }
    }

    fn exit(&mut self, label: Label) -> Result<(), String> {
        if !self.blocks.iter().any(|open| open.label == label) {
            return Err(format!("no block around the exit has the label {label}"));
        }
        self.note_exit(label, self.varying);
        Ok(())
    }

    /// Checks a condition. Returns true if it is varying.
    fn condition(&self, what: &str, cond: Value) -> Result<bool, Fault> {
        let checked = self.operand(cond).and_then(|ty| match (ty.elem, ty.count) {
            (Elem::Bool, 1) => Ok(ty.place == Place::Varying),
            _ => Err(format!("the condition {cond} is a bool, not {ty}")),
        });
        checked.map_err(|rule| fault(&format!("{what} {cond}"), rule))
    }

    fn is_varying(&self, v: Value) -> bool {
        self.kernel.ty(v).place == Place::Varying
    }

    fn inst(&mut self, v: Value) -> Checked {
        let Some(def) = self.kernel.values.get(v.0 as usize) else {
            return Err(fault(&v.to_string(), "the kernel has no such value".to_owned()));
        };
        // Mark the value as visited after its operands have been checked, so that an instruction that is its own
        // operand is an error.
        let checked = self.checked(v, &def.inst, def.ty);
        self.seen[v.0 as usize] = true;
        checked.map_err(|rule| {
            let text = Text(&def.inst);
            let at = def.ty.map_or_else(|| text.to_string(), |ty| format!("{v}: {ty} = {text}"));
            Fault { at, rule, loc: def.loc }
        })
    }

    fn checked(&self, v: Value, inst: &Inst, ty: Option<Type>) -> Result<(), String> {
        if self.seen[v.0 as usize] {
            return Err("the instruction stands at one place only".to_owned());
        }
        // `operands` cannot be stopped early, so keep the first fault.
        let mut operands = Ok(());
        inst.operands(|of| {
            if operands.is_ok() {
                operands = self.operand(of).map(|_| ());
            }
        });
        operands?;
        match ty {
            Some(ty) => self.result(inst, ty),
            None => self.effect(inst),
        }
    }

    /// The type of an operand. It is an error if the operand is not visible.
    fn operand(&self, v: Value) -> Result<Type, String> {
        let Some(def) = self.kernel.values.get(v.0 as usize) else {
            return Err(format!("the kernel has no value {v}"));
        };
        if !self.in_sight[v.0 as usize] {
            return Err(match self.seen[v.0 as usize] {
                true => format!("{v} is used outside of the region that computes it"),
                false => format!("{v} is used before it is computed"),
            });
        }
        def.ty.ok_or_else(|| format!("{v} has no value"))
    }

    /// Checks an instruction without a result.
    fn effect(&self, inst: &Inst) -> Result<(), String> {
        match inst {
            Inst::Store { memory, offset, value, .. } => {
                self.access(*memory, *offset, self.kernel.ty(*value))
            }
            Inst::Atomic(atomic) => self.atomic(atomic, None),
            Inst::Write { var, value, .. } => {
                let of = self.variable(*var)?;
                same("the value", self.kernel.ty(*value), of)
            }
            Inst::Barrier => {
                let partial = self.varying > 0 || self.blocks.iter().any(|open| open.left);
                if partial { Err("some lanes may not come to the barrier".to_owned()) } else { Ok(()) }
            }
            Inst::Fence { .. } | Inst::Schedule(_) => Ok(()),
            Inst::Machine(call) if call.results.is_empty() => Ok(()),
            _ => Err("the instruction has a result".to_owned()),
        }
    }

    /// Checks an instruction with a result of type `ty`.
    fn result(&self, inst: &Inst, ty: Type) -> Result<(), String> {
        let of = |v: &Value| self.kernel.ty(*v);
        if ty.count == 0 {
            return Err("a value has at least one element".to_owned());
        }
        match inst {
            // Passes compare constants by their bits, so the unused upper half must be zero for equal constants to be
            // equal.
            Inst::Const(bits) => match ty.elem.dwords() == 1 && *bits > u64::from(u32::MAX) {
                true => Err(format!("a constant of {} has at most 32 bits", ty.elem)),
                false => Ok(()),
            },
            Inst::KernArg { .. } => uniform("kernel arguments", ty),
            Inst::Constants => {
                uniform("the address of the constants", ty)?;
                pointer_type(ty)
            }
            Inst::WorkgroupId(d) | Inst::GridSize(d) => {
                dimension(*d)?;
                same("it", ty, Type::uniform(Elem::U32))
            }
            Inst::LocalId(d) => {
                dimension(*d)?;
                same("it", ty, Type::varying(Elem::U32))
            }
            Inst::LaneId => same("it", ty, Type::varying(Elem::U32)),
            // A splat may write vector registers of either kind.
            Inst::Splat(a) => {
                if ty.place == Place::Uniform {
                    return Err("a splat is varying".to_owned());
                }
                same("the operand", Type { place: ty.place, ..of(a) }, ty)
            }
            Inst::Bin(op, a, b) => self.bin(*op, of(a), of(b), ty),
            Inst::Fma(a, b, c) => [a, b, c].into_iter().try_for_each(|v| operand_like(of(v), ty)),
            Inst::Un(op, a) => self.un(*op, of(a), ty),
            Inst::Cmp(_, a, b) => {
                if (ty.elem, ty.count) != (Elem::Bool, 1) {
                    return Err("a comparison is a bool".to_owned());
                }
                elements("the operands", of(a), of(b))?;
                [a, b].into_iter().try_for_each(|v| place(of(v), ty))
            }
            Inst::Select(c, a, b) => {
                if (of(c).elem, of(c).count) != (Elem::Bool, 1) {
                    return Err(format!("the condition is a bool, not {}", of(c)));
                }
                place(of(c), ty)?;
                [a, b].into_iter().try_for_each(|v| operand_like(of(v), ty))
            }
            Inst::Cast(a) => match of(a).count == ty.count {
                true => place(of(a), ty),
                false => Err("a cast keeps the number of elements".to_owned()),
            },
            // A lane mask may be a varying bool, or a uniform number as wide as the wave.
            Inst::Bitcast(a) => {
                let registers = |ty: Type| ty.registers_in(self.kernel.wave());
                match registers(of(a)) == registers(ty) {
                    true => Ok(()),
                    false => Err(format!("{} and {ty} have different registers", of(a))),
                }
            }
            Inst::Extract { from, dword } => {
                for_lanes(of(from), ty)?;
                let (end, len) = (u32::from(*dword) + u32::from(ty.dwords()), of(from).registers().1);
                match end <= u32::from(len) {
                    true => Ok(()),
                    false => Err(format!("{from} has {len} dwords, not {end}")),
                }
            }
            Inst::Concat(parts) => {
                parts.iter().try_for_each(|v| for_lanes(of(v), ty))?;
                let dwords: u32 = parts.iter().map(|v| u32::from(of(v).dwords())).sum();
                // The parts may have fewer dwords than the type: the rest of a partly written vector is undefined.
                match dwords <= u32::from(ty.dwords()) {
                    true => Ok(()),
                    false => Err(format!("the parts have {dwords} dwords, {ty} has {}", ty.dwords())),
                }
            }
            Inst::Load { memory, offset, .. } => {
                varying("loaded values", ty)?;
                self.access(*memory, *offset, ty)
            }
            Inst::LoadUniform { resource, offset } => {
                uniform("what scalar loads load", ty)?;
                self.resource(*resource)?;
                uniform("the offset of a scalar load", of(offset))?;
                word("the offset", of(offset))
            }
            Inst::Read(var) => same("the result", ty, self.variable(*var)?),
            Inst::ReadFirstLane(a) => {
                uniform("the value of one lane", ty)?;
                varying("the operand", of(a))?;
                elements("operand and result", of(a), ty)
            }
            Inst::ReadLane(a, lane) => {
                uniform("the value of one lane", ty)?;
                varying("the operand", of(a))?;
                uniform("the number of the lane", of(lane))?;
                elements("operand and result", of(a), ty)
            }
            Inst::Permute { address, value } => {
                varying("the address", of(address))?;
                word("the address", of(address))?;
                same("the value", of(value), ty)?;
                match ty.dwords() {
                    1 => varying("the result", ty),
                    n => Err(format!("one dword is moved, not {n}")),
                }
            }
            Inst::Ballot(a) => {
                same("the operand", of(a), Type::varying(Elem::Bool))?;
                same("the result", ty, self.mask())
            }
            Inst::Wave(wave) => {
                varying("the operand", of(&wave.value))?;
                elements("operand and result", of(&wave.value), ty)?;
                // Only the reduction of a whole wave gives a uniform result; with segments of 16 or 32 lanes, each
                // segment has its own result.
                let (whole, lanes) =
                    (u32::from(wave.width) == self.kernel.wave().lanes(), self.kernel.wave().lanes());
                if !whole && !matches!(wave.width, 16 | 32) {
                    return Err(format!("a segment has 16, 32 or {lanes} lanes, not {}", wave.width));
                }
                match wave.spread {
                    Spread::Reduce if whole => uniform("the reduction of a wave", ty),
                    _ => varying("the result", ty),
                }
            }
            Inst::Atomic(atomic) => self.atomic(atomic, Some(ty)),
            Inst::Machine(call) => match call.results.first() {
                Some(first) => same("the first result", ty, *first),
                None => Err("the instruction has no results".to_owned()),
            },
            Inst::Result { of: call, index } => match &self.kernel.def(*call).inst {
                Inst::Machine(machine) => match machine.results.get(usize::from(*index)) {
                    // Result 0 is the value of the call itself.
                    Some(result) if *index > 0 => same("the result", ty, *result),
                    _ => Err(format!("{call} has no further result {index}")),
                },
                _ => Err(format!("{call} is not a machine instruction")),
            },
            Inst::Store { .. }
            | Inst::Write { .. }
            | Inst::Barrier
            | Inst::Fence { .. }
            | Inst::Schedule(_) => Err("the instruction has no result".to_owned()),
        }
    }

    /// The type of a mask of lanes as a number.
    fn mask(&self) -> Type {
        Type::uniform(LaneMask::elem_in(self.kernel.wave()))
    }

    fn bin(&self, op: Bin, a: Type, b: Type, ty: Type) -> Result<(), String> {
        operand_like(a, ty)?;
        match op {
            // The count of a shift may have another integer type than the shifted value.
            Bin::Shl | Bin::Shr => {
                place(b, ty)?;
                match b.elem.is_float() || b.elem == Elem::Bool {
                    true => Err(format!("the count of a shift is an integer, not {b}")),
                    false => Ok(()),
                }
            }
            Bin::MulHi => match ty.elem {
                Elem::I32 | Elem::U32 | Elem::U64 => operand_like(b, ty),
                other => Err(format!("products of u32, i32 and u64 have upper halves here, not of {other}")),
            },
            // The bits of a float are accessed by a bitcast.
            Bin::And | Bin::Or | Bin::Xor if ty.elem.is_float() => {
                Err(format!("{ty} has no bitwise operations"))
            }
            Bin::Add | Bin::Sub | Bin::Mul | Bin::Div | Bin::Rem | Bin::Min | Bin::Max
                if ty.elem == Elem::Bool || ty.elem.is_eight_bit_float() =>
            {
                Err(format!("{ty} has no arithmetic"))
            }
            _ => operand_like(b, ty),
        }
    }

    fn un(&self, op: Un, a: Type, ty: Type) -> Result<(), String> {
        operand_like(a, ty)?;
        let fits = match op {
            Un::Neg | Un::Abs => ty.elem != Elem::Bool,
            Un::Not => !ty.elem.is_float(),
            // This is the integer reciprocal, which the expansion of a division uses; the float reciprocal is a machine
            // instruction.
            Un::Reciprocal => ty.elem == Elem::U32,
            _ => ty.elem.is_float(),
        };
        if fits { Ok(()) } else { Err(format!("{ty} has no such operation")) }
    }

    fn variable(&self, var: Variable) -> Result<Type, String> {
        let declared = self.kernel.variables.get(var.0 as usize).copied();
        declared.ok_or_else(|| format!("the kernel has no variable var{}", var.0))
    }

    fn resource(&self, v: Value) -> Result<(), String> {
        let ty = self.kernel.ty(v);
        uniform("the resource of a buffer", ty)?;
        match ty.dwords() == RESOURCE_DWORDS {
            true => Ok(()),
            false => Err(format!(
                "the resource of a buffer has {RESOURCE_DWORDS} dwords, {ty} has {}",
                ty.dwords()
            )),
        }
    }

    /// Checks an access to a value of type `ty`.
    fn access(&self, memory: Memory, offset: Value, ty: Type) -> Result<(), String> {
        varying("what is stored", ty)?;
        let at = self.kernel.ty(offset);
        match memory {
            Memory::Buffer(resource) => self.resource(resource)?,
            Memory::Global(pointer) => {
                uniform("the pointer", self.kernel.ty(pointer))?;
                pointer_type(self.kernel.ty(pointer))?;
            }
            Memory::Lanes(pointer) => {
                varying("the pointer", self.kernel.ty(pointer))?;
                pointer_type(self.kernel.ty(pointer))?;
                return match self.kernel.constant(offset) {
                    Some(_) => Ok(()),
                    None => Err("the offset from a pointer of each lane is a constant".to_owned()),
                };
            }
            Memory::Lds(id) if id.0 as usize >= self.kernel.lds.len() => {
                return Err(format!("the kernel has no array lds{}", id.0));
            }
            Memory::Private(id) if id.0 as usize >= self.kernel.private.len() => {
                return Err(format!("the kernel has no array private{}", id.0));
            }
            Memory::Lds(_) | Memory::Private(_) => {}
        }
        varying("the offset", at)?;
        word("the offset", at)
    }

    fn atomic(&self, atomic: &super::Atomic, ty: Option<Type>) -> Result<(), String> {
        self.access(atomic.memory, atomic.offset, atomic.ty)?;
        for v in [atomic.value, atomic.expected].into_iter().flatten() {
            same("the operand", self.kernel.ty(v), atomic.ty)?;
        }
        let (value, expected) = match atomic.op {
            AtomicOp::Load => (false, false),
            AtomicOp::CompareExchange => (true, true),
            _ => (true, false),
        };
        if (atomic.value.is_some(), atomic.expected.is_some()) != (value, expected) {
            return Err("the atomic has the operands of its operation".to_owned());
        }
        match (atomic::value_type(atomic.op, atomic.ty), ty) {
            (Some(expected), Some(ty)) => same("the result", ty, expected),
            (None, None) => Ok(()),
            (Some(_), None) => Err("the atomic has a result".to_owned()),
            (None, Some(_)) => Err("a store has no result".to_owned()),
        }
    }
}

fn fault(at: &str, rule: String) -> Fault {
    Fault { at: at.to_owned(), rule, loc: None }
}

fn same(what: &str, ty: Type, expected: Type) -> Result<(), String> {
    if ty == expected { Ok(()) } else { Err(format!("{what} is {expected}, not {ty}")) }
}

/// Requires equal element types and counts; the register kinds may differ.
fn elements(what: &str, a: Type, b: Type) -> Result<(), String> {
    match (a.elem, a.count) == (b.elem, b.count) {
        true => Ok(()),
        false => Err(format!("{what} have one element type, not {a} and {b}")),
    }
}

/// Requires that the operand has the element type and count of the result.
fn operand_like(operand: Type, result: Type) -> Result<(), String> {
    elements("operand and result", operand, result)?;
    place(operand, result)
}

/// Requires that a uniform result has uniform operands, and a varying one varying operands.
fn place(operand: Type, result: Type) -> Result<(), String> {
    match operand.place == result.place {
        true => Ok(()),
        false => Err(format!("an operand is {operand}, the result {result}")),
    }
}

/// Like [`place`], but does not distinguish varying values in accumulators from those in other registers.
fn for_lanes(operand: Type, result: Type) -> Result<(), String> {
    match (operand.place == Place::Uniform) == (result.place == Place::Uniform) {
        true => Ok(()),
        false => Err(format!("an operand is {operand}, the result {result}")),
    }
}

fn uniform(what: &str, ty: Type) -> Result<(), String> {
    match ty.place {
        Place::Uniform => Ok(()),
        _ => Err(format!("{what}: uniform, not {ty}")),
    }
}

fn varying(what: &str, ty: Type) -> Result<(), String> {
    match ty.place {
        Place::Uniform => Err(format!("{what}: varying, not {ty}")),
        _ => Ok(()),
    }
}

fn word(what: &str, ty: Type) -> Result<(), String> {
    match (ty.elem, ty.count) {
        (Elem::U32 | Elem::I32, 1) => Ok(()),
        _ => Err(format!("{what} is an integer of 32 bits, not {ty}")),
    }
}

fn pointer_type(ty: Type) -> Result<(), String> {
    match ty.dwords() {
        2 => Ok(()),
        _ => Err(format!("the pointer has 64 bits, unlike {ty}")),
    }
}

fn dimension(d: u8) -> Result<(), String> {
    if d < 3 { Ok(()) } else { Err(format!("dimensions are 0, 1 and 2, not {d}")) }
}
