//! Builds a [`Kernel`] statement by statement, folding constants and sharing equal values on the way.

pub(in crate::ir) mod if_conversion;
mod regions;
pub(crate) mod unroll;

use gcn_isa::target::WaveSize;
use std::rc::Rc;

use gcn_isa::Reg;
use gcn_isa::program::SourceLoc;
use hashbrown::{HashMap, HashSet};

use super::named::Named;
use super::pipelined::Request;
use super::probe::{FIRST, Probe};
use super::{
    Inst, Kernel, LdsDef, LdsId, Manner, Memory, Pin, PrivateDef, PrivateId, Region, Stmt, Type, Value,
    ValueDef, Variable,
};

/// The alignment of a constant table, in bytes.
const CONSTANTS_ALIGN: usize = 16;

/// An instruction with the type of its result, as a key: equal pure instructions give equal values.
type Typed = (Inst, Type);

/// A kernel under construction: a stack of open regions.
#[derive(Debug)]
pub struct Builder {
    kernel: Kernel,
    open: Vec<Open>,
    /// Pure instructions of the open regions (local value numbering). An instruction that is available is not
    /// emitted again, so no two open regions contain the same one.
    shared: HashMap<Rc<Typed>, Value>,
    /// How many varying conditions enclose the current point.
    divergence: u32,
    /// The divergence at each variable's declaration.
    declared_at: Vec<u32>,
    labels: u32,
    /// Constants that represent undefined bits.
    undefined: HashSet<Value>,
    /// Counters of loops that must not be unrolled.
    rolled: HashSet<Variable>,
}

#[derive(Debug, Default)]
struct Open {
    region: Region,
    /// The keys that this region has added to the shared instructions.
    shared: Vec<Rc<Typed>>,
    /// The value that a read of the variable gives, until the next write.
    known: HashMap<Variable, Value>,
    /// The last write of a variable that nothing can have read yet, by its position in the region.
    unread: HashMap<Variable, usize>,
    /// Positions of writes that were overwritten unread.
    dead: Vec<usize>,
    /// No lane continues after the region's last statement: further statements are dropped.
    ended: bool,
    /// The region's condition is a constant, so that no lane enters it.
    never: bool,
    /// Results that functions of the language have computed, by function and argument.
    derived: HashMap<(&'static str, Value), Vec<Value>>,
    /// The variables that this region writes, including those that closed regions inside it write.
    written: HashSet<Variable>,
    /// Variables that are written by closed regions which are not part of a statement yet.
    pending: HashSet<Variable>,
}

impl Open {
    /// The region without its dead writes.
    fn finish(mut self) -> Region {
        if self.dead.is_empty() {
            return self.region;
        }
        self.dead.sort_unstable();
        let mut position = 0;
        self.region.stmts.retain(|_| {
            position += 1;
            self.dead.binary_search(&(position - 1)).is_err()
        });
        self.region
    }
}

impl Builder {
    /// An empty kernel.
    pub fn new(name: impl Into<String>) -> Builder {
        let kernel = Kernel { name: name.into(), ..Kernel::default() };
        Builder {
            kernel,
            open: vec![Open::default()],
            shared: HashMap::new(),
            divergence: 0,
            declared_at: Vec::new(),
            labels: 0,
            undefined: HashSet::new(),
            rolled: HashSet::new(),
        }
    }

    /// Sets the size of waves. Without it they have 64 lanes.
    pub fn set_wave(&mut self, wave: WaveSize) {
        self.kernel.wave = Some(wave);
    }

    /// Notes a name.
    pub fn named(&mut self, named: Named) {
        self.kernel.name(named);
    }

    /// The kernel so far, for look-ups.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Ends the kernel.
    ///
    /// # Panics
    /// If a region is still open: the control-flow functions of the language close every region that they open.
    pub fn finish(mut self) -> Kernel {
        assert_eq!(self.open.len(), 1, "every region is closed by who opened it");
        self.kernel.body = self.top_pop();
        self.kernel
    }

    /// Appends an instruction with a result without folding it, or returns an equal value that is already available.
    /// [`Builder::value`] folds it first.
    pub(super) fn share(&mut self, inst: Inst, ty: Type, loc: Option<SourceLoc>) -> Value {
        if !inst.is_pure() && !self.is_constant_load(&inst) {
            self.forget_if_mode_changes(&inst);
            return self.push(inst, Some(ty), loc);
        }
        let typed = (inst, ty);
        if let Some(v) = self.shared.get(&typed) {
            return *v;
        }
        let v = self.push(typed.0.clone(), Some(ty), loc);
        let typed = Rc::new(typed);
        self.shared.insert(Rc::clone(&typed), v);
        self.top().shared.push(typed);
        v
    }

    /// Appends an instruction for its effect.
    pub fn effect(&mut self, inst: Inst, loc: Option<SourceLoc>) {
        self.forget_if_mode_changes(&inst);
        self.push(inst, None, loc);
    }

    /// True for a load of memory that nothing writes while the kernel runs: it gives the same value at any place.
    fn is_constant_load(&self, inst: &Inst) -> bool {
        match inst {
            Inst::Load { memory: Memory::Buffer(resource), manner: Manner::Plain, .. }
            | Inst::LoadUniform { resource, .. } => self.kernel.read_only.contains(resource),
            _ => false,
        }
    }

    /// The byte offset of a table in the kernel's constants. Equal tables are stored once.
    pub fn constants(&mut self, table: &[u8]) -> u32 {
        let all = &mut self.kernel.constants;
        let places = (0..all.len()).step_by(CONSTANTS_ALIGN);
        let known = places.into_iter().find(|at| all[*at..].starts_with(table));
        let at = known.unwrap_or_else(|| {
            all.resize(all.len().next_multiple_of(CONSTANTS_ALIGN), 0);
            let at = all.len();
            all.extend_from_slice(table);
            at
        });
        at as u32
    }

    /// Records that nothing writes the memory that `resource` describes while the kernel runs.
    pub fn read_only(&mut self, resource: Value) {
        self.kernel.read_only.push(resource);
    }

    /// Records that the memory that `resource` describes ends with a whole dword.
    pub fn whole_dwords(&mut self, resource: Value) {
        if !self.kernel.whole_dwords.contains(&resource) {
            self.kernel.whole_dwords.push(resource);
        }
    }

    /// Records that `part` describes a part of the memory that `whole` describes.
    pub fn part_of(&mut self, part: Value, whole: Value) {
        self.kernel.overlapping.extend([part, whole]);
    }

    /// Under another MODE equal instructions give different values.
    fn forget_if_mode_changes(&mut self, inst: &Inst) {
        if matches!(inst, Inst::Machine(call) if call.changes_mode()) {
            self.shared.clear();
            self.open.iter_mut().for_each(|open| {
                open.shared.clear();
                open.derived.clear();
            });
        }
    }

    /// The results that the function `name` has computed from `of`, if they are defined at the current point.
    pub fn derived(&self, name: &'static str, of: Value) -> Option<&[Value]> {
        self.open.iter().rev().find_map(|open| open.derived.get(&(name, of))).map(Vec::as_slice)
    }

    /// Records the results that the function `name` has computed from `of` with branches, which value numbering does
    /// not see through.
    pub fn derive(&mut self, name: &'static str, of: Value, results: Vec<Value>) {
        self.top().derived.insert((name, of), results);
    }

    /// A constant of register bits `bits`.
    pub fn constant(&mut self, bits: u64, ty: Type) -> Value {
        self.share(Inst::Const(bits), ty, None)
    }

    /// A value of undefined bits: zeros where an instruction needs an operand; a mere copy of it is omitted.
    pub fn undefined(&mut self, ty: Type) -> Value {
        let value = self.push(Inst::Const(0), Some(ty), None);
        self.undefined.insert(value);
        value
    }

    /// True for the result of [`Builder::undefined`], also if it was made varying.
    pub fn is_undefined(&self, v: Value) -> bool {
        self.undefined.contains(&v)
    }

    /// The bits, if `v` is a constant (also one made varying).
    pub fn as_const(&self, v: Value) -> Option<u64> {
        self.kernel.constant(v)
    }

    /// Registers a value to be shown. Returns the literal that its instruction carries.
    pub fn probe(&mut self, probe: Probe) -> u32 {
        let probes = &mut self.kernel.debug.probes;
        probes.push(probe);
        FIRST + probes.len() as u32 - 1
    }

    /// Notes what a trap at a position means.
    pub fn note(&mut self, at: SourceLoc, text: String) {
        self.kernel.debug.notes.push((at, text));
    }

    /// Notes that the selections of a position stand for an index into values in registers.
    pub fn indexed(&mut self, at: SourceLoc) {
        let indices = &mut self.kernel.debug.indices;
        if !indices.contains(&at) {
            indices.push(at);
        }
    }

    /// Requests software pipelining of the loop whose counter is `counter`.
    pub fn pipeline(&mut self, request: Request) {
        self.kernel.pipelines.push(request);
    }

    /// Forbids unrolling of the loop whose counter is `counter`.
    pub fn keep_rolled(&mut self, counter: Variable) {
        self.rolled.insert(counter);
    }

    /// True for the counter of a loop that must not be unrolled.
    pub(super) fn is_rolled(&self, counter: Variable) -> bool {
        self.rolled.contains(&counter)
    }

    /// Declares an LDS array of `len` elements of `element_bytes` bytes. An array that no memory can hold
    /// ends at the last address; the kernel is rejected for it.
    pub fn lds(&mut self, len: usize, element_bytes: u32) -> LdsId {
        let bytes = len.saturating_mul(element_bytes as usize);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let offset = self.kernel.lds_bytes().checked_next_multiple_of(16).unwrap_or(u32::MAX);
        self.kernel.lds.push(LdsDef { bytes, offset, dynamic: false });
        LdsId(self.kernel.lds.len() as u32 - 1)
    }

    /// The LDS array whose size is given at launch. There is one such array, which may have several names.
    pub fn dynamic_lds(&mut self) -> LdsId {
        let offset = self.kernel.lds_bytes();
        self.kernel.lds.push(LdsDef { bytes: 0, offset, dynamic: true });
        LdsId(self.kernel.lds.len() as u32 - 1)
    }

    /// Declares a private array.
    pub fn private(&mut self, bytes: u32) -> PrivateId {
        let offset = self.kernel.private_bytes().next_multiple_of(16);
        self.kernel.private.push(PrivateDef { bytes, offset });
        PrivateId(self.kernel.private.len() as u32 - 1)
    }

    /// Declares a variable without a value.
    pub fn declare(&mut self, ty: Type) -> Variable {
        self.kernel.variables.push(ty);
        self.declared_at.push(self.divergence);
        Variable(self.kernel.variables.len() as u32 - 1)
    }

    /// Declares a variable that joins the values of branches or exits at their common end, and is used for nothing
    /// else.
    pub fn declare_joined(&mut self, ty: Type) -> Variable {
        let var = self.declare(ty);
        self.kernel.joined.push(var);
        var
    }

    /// Declares a variable whose scope began under `divergence` varying conditions, and whose first write comes here.
    /// In other branches it keeps the values that this branch gives to its lanes, although it has no value before.
    pub fn declare_deferred(&mut self, ty: Type, divergence: u32) -> Variable {
        let var = self.declare_joined(ty);
        self.declared_at[var.0 as usize] = divergence;
        var
    }

    /// True for a variable of [`Builder::declare_joined`]. The list of these variables is sorted by number.
    pub(super) fn is_joined(&self, var: Variable) -> bool {
        self.kernel.joined.binary_search_by_key(&var.0, |joined| joined.0).is_ok()
    }

    /// Declares a variable that lives in the given registers.
    pub fn declare_in(&mut self, ty: Type, to: Reg, loc: Option<SourceLoc>) -> Variable {
        let var = self.declare(ty);
        self.kernel.pins.push(Pin { var, to, loc });
        var
    }

    /// True if the user wants the variable's value in a register of its own, rather than where it was computed.
    pub(super) fn is_pinned(&self, var: Variable) -> bool {
        self.kernel.pins.iter().any(|pin| pin.var == var)
    }

    /// Reads a variable.
    pub fn read(&mut self, var: Variable, loc: Option<SourceLoc>) -> Value {
        if let Some(v) = self.top().known.get(&var) {
            return *v;
        }
        let ty = self.kernel.variables[var.0 as usize];
        let v = self.push(Inst::Read(var), Some(ty), loc);
        self.top().unread.remove(&var);
        self.top().known.insert(var, v);
        v
    }

    /// Writes a variable.
    pub fn write(&mut self, var: Variable, value: Value, loc: Option<SourceLoc>) {
        if self.top().known.get(&var) == Some(&value) {
            return;
        }
        // Under a varying condition that does not enclose the declaration, inactive lanes may still need
        // their value.
        let keep = self.divergence > self.declared_at[var.0 as usize];
        self.effect(Inst::Write { var, value, keep }, loc);
        let top = self.top();
        top.written.insert(var);
        if top.ended {
            return;
        }
        let position = top.region.stmts.len() - 1;
        // The earlier write in this region had the same active lanes and was not read: it is dead. A read in
        // a nested region clears `unread`, so none was missed.
        if let Some(earlier) = top.unread.insert(var, position) {
            top.dead.push(earlier);
        }
        // The user wants to see each value of a pinned variable in its register, so reads are not forwarded.
        if self.is_pinned(var) {
            self.top().known.remove(&var);
            return;
        }
        // Inactive lanes still hold the old value, but nothing can read them before the mask widens. That
        // happens at a region's end, where all known values are forgotten.
        self.top().known.insert(var, value);
    }

    fn push(&mut self, inst: Inst, ty: Option<Type>, loc: Option<SourceLoc>) -> Value {
        let v = Value(self.kernel.values.len() as u32);
        self.kernel.values.push(ValueDef { inst, ty, loc });
        let top = self.top();
        if !top.ended {
            top.region.stmts.push(Stmt::Inst(v));
        }
        v
    }

    fn top(&mut self) -> &mut Open {
        self.open.last_mut().expect("the body stays open until finish")
    }

    fn top_pop(&mut self) -> Region {
        let Some(closed) = self.open.pop() else { return Region::default() };
        // Instructions of a closed region do not dominate what follows.
        for typed in &closed.shared {
            self.shared.remove(typed);
        }
        if let Some(around) = self.open.last_mut() {
            around.written.extend(&closed.written);
            around.pending.extend(&closed.written);
        }
        closed.finish()
    }
}
