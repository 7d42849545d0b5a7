//! The builder of a [`Kernel`]: appends statements one by one, folds constants, and reuses equal values.

mod bounds;
pub(in crate::ir) mod if_conversion;
mod regions;
pub(crate) mod unroll;

use bounds::Bounds;
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

/// The alignment of a constant table in bytes.
const CONSTANTS_ALIGN: usize = 16;

/// The key of local value numbering: pure instructions that are equal, and have equal types, give equal values.
type Typed = (Inst, Type);

/// A kernel under construction: a stack of open regions.
#[derive(Debug)]
pub struct Builder {
    kernel: Kernel,
    open: Vec<Open>,
    /// The pure instructions of the open regions (local value numbering). An instruction that is available here is not
    /// emitted again, so each occurs in only one open region.
    shared: HashMap<Rc<Typed>, Value>,
    /// The number of varying conditions around the current point.
    divergence: u32,
    /// For each variable, the value of `divergence` at its declaration.
    declared_at: Vec<u32>,
    labels: u32,
    /// Constants that stand for undefined bits.
    undefined: HashSet<Value>,
    /// The counters of loops that must not be unrolled.
    rolled: HashSet<Variable>,
}

#[derive(Debug, Default)]
struct Open {
    region: Region,
    /// The keys that the region has added to [`Builder::shared`].
    shared: Vec<Rc<Typed>>,
    /// For each variable whose value is known: the value that a read of the variable gives until the next write.
    known: HashMap<Variable, Value>,
    /// For each variable, the position in the region of its last write, unless it may have been read since.
    unread: HashMap<Variable, usize>,
    /// The positions of writes that were overwritten before any read.
    dead: Vec<usize>,
    /// True if no lane continues after the region's last statement; further statements are dropped.
    ended: bool,
    /// True if the region's condition is a constant such that no lane enters the region.
    never: bool,
    /// Results that library functions of the DSL have computed, by function and argument.
    derived: HashMap<(&'static str, Value), Vec<Value>>,
    /// The variables that the region writes, including those that its closed nested regions write.
    written: HashSet<Variable>,
    /// The variables that closed regions write which are not yet part of a statement.
    pending: HashSet<Variable>,
    /// What the conditions of the region say about values.
    bounds: Vec<(Value, Bounds)>,
}

impl Open {
    /// Returns the region without its dead writes.
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
    /// A builder for an empty kernel.
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

    /// Sets the wave size. The default is 64 lanes.
    pub fn set_wave(&mut self, wave: WaveSize) {
        self.kernel.wave = Some(wave);
    }

    /// Records the name of a value.
    pub fn named(&mut self, named: Named) {
        self.kernel.name(named);
    }

    /// The kernel as built so far.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Ends the kernel.
    ///
    /// # Panics
    /// If a region is still open. The language's control-flow functions close every region that they open.
    pub fn finish(mut self) -> Kernel {
        assert_eq!(self.open.len(), 1, "every region is closed by who opened it");
        self.kernel.body = self.top_pop();
        self.kernel
    }

    /// Returns an equal value that is already available, or appends the instruction. Does not fold it;
    /// [`Builder::value`] does.
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

    /// Appends an instruction without a result.
    pub fn effect(&mut self, inst: Inst, loc: Option<SourceLoc>) {
        self.forget_if_mode_changes(&inst);
        self.push(inst, None, loc);
    }

    /// True for a load of memory that nothing writes while the kernel runs: the load gives the same value at every
    /// point of the kernel.
    fn is_constant_load(&self, inst: &Inst) -> bool {
        match inst {
            Inst::Load { memory: Memory::Buffer(resource), manner: Manner::Plain, .. }
            | Inst::LoadUniform { resource, .. } => self.kernel.read_only.contains(resource),
            _ => false,
        }
    }

    /// Adds a table to the kernel's constants, unless they already contain an equal one. Returns the table's byte
    /// offset.
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

    /// Records that nothing writes the memory described by `resource` while the kernel runs.
    pub fn read_only(&mut self, resource: Value) {
        self.kernel.read_only.push(resource);
    }

    /// Records that the memory described by `resource` ends with a whole dword.
    pub fn whole_dwords(&mut self, resource: Value) {
        if !self.kernel.whole_dwords.contains(&resource) {
            self.kernel.whole_dwords.push(resource);
        }
    }

    /// Records that the memory described by `part` is a part of the memory described by `whole`.
    pub fn part_of(&mut self, part: Value, whole: Value) {
        self.kernel.overlapping.extend([part, whole]);
    }

    /// After a change of MODE, equal instructions may give different values, so the values that are available must not
    /// be reused.
    fn forget_if_mode_changes(&mut self, inst: &Inst) {
        if matches!(inst, Inst::Machine(call) if call.changes_mode()) {
            self.shared.clear();
            self.open.iter_mut().for_each(|open| {
                open.shared.clear();
                open.derived.clear();
            });
        }
    }

    /// The results that the library function `name` has computed from `of`; `None` if they are not available here.
    pub fn derived(&self, name: &'static str, of: Value) -> Option<&[Value]> {
        self.open.iter().rev().find_map(|open| open.derived.get(&(name, of))).map(Vec::as_slice)
    }

    /// Records results that the library function `name` has computed from `of`. Its code contains branches, so value
    /// numbering cannot find an equal computation.
    pub fn derive(&mut self, name: &'static str, of: Value, results: Vec<Value>) {
        self.top().derived.insert((name, of), results);
    }

    /// A constant, given by its register bits.
    pub fn constant(&mut self, bits: u64, ty: Type) -> Value {
        self.share(Inst::Const(bits), ty, None)
    }

    /// A value of undefined bits. If an instruction needs it as an operand, the bits are zero; a plain copy of the
    /// value is omitted.
    pub fn undefined(&mut self, ty: Type) -> Value {
        let value = self.push(Inst::Const(0), Some(ty), None);
        self.undefined.insert(value);
        value
    }

    /// True for a result of [`Builder::undefined`], also after its conversion to varying.
    pub fn is_undefined(&self, v: Value) -> bool {
        self.undefined.contains(&v)
    }

    /// The bits of `v` if it is a constant or a constant that was converted to varying; `None` otherwise.
    pub fn as_const(&self, v: Value) -> Option<u64> {
        self.kernel.constant(v)
    }

    /// Registers a value that the simulator is to show. Returns the literal that marks the value's instruction.
    pub fn probe(&mut self, probe: Probe) -> u32 {
        let probes = &mut self.kernel.debug.probes;
        probes.push(probe);
        FIRST + probes.len() as u32 - 1
    }

    /// Records the meaning of a trap at this source location.
    pub fn note(&mut self, at: SourceLoc, text: String) {
        self.kernel.debug.notes.push((at, text));
    }

    /// Records that the selects at this source location implement an index into values in registers.
    pub fn indexed(&mut self, at: SourceLoc) {
        let indices = &mut self.kernel.debug.indices;
        if !indices.contains(&at) {
            indices.push(at);
        }
    }

    /// Requests software pipelining of a loop.
    pub fn pipeline(&mut self, request: Request) {
        self.kernel.pipelines.push(request);
    }

    /// Forbids unrolling the loop with this counter.
    pub fn keep_rolled(&mut self, counter: Variable) {
        self.rolled.insert(counter);
    }

    /// True for the counter of a loop that must not be unrolled.
    pub(super) fn is_rolled(&self, counter: Variable) -> bool {
        self.rolled.contains(&counter)
    }

    /// Declares an LDS array of `len` elements of `element_bytes` bytes. If the array is too large for any memory, its
    /// size saturates; the kernel is rejected later.
    pub fn lds(&mut self, len: usize, element_bytes: u32) -> LdsId {
        let bytes = len.saturating_mul(element_bytes as usize);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let offset = self.kernel.lds_bytes().checked_next_multiple_of(16).unwrap_or(u32::MAX);
        self.kernel.lds.push(LdsDef { bytes, offset, dynamic: false });
        LdsId(self.kernel.lds.len() as u32 - 1)
    }

    /// Declares a name for the LDS array whose size the launch gives. There is only one such array, but it may have
    /// several names.
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

    /// Declares a variable without an initial value.
    pub fn declare(&mut self, ty: Type) -> Variable {
        self.kernel.variables.push(ty);
        self.declared_at.push(self.divergence);
        Variable(self.kernel.variables.len() as u32 - 1)
    }

    /// Declares a variable that is used only to merge the values of branches or exits at their common end.
    pub fn declare_joined(&mut self, ty: Type) -> Variable {
        let var = self.declare(ty);
        self.kernel.joined.push(var);
        var
    }

    /// Declares a variable whose scope began under `divergence` varying conditions, and which is first written here.
    /// The write must keep the values that other branches have given to their lanes, although the variable has no value
    /// before all these branches.
    pub fn declare_deferred(&mut self, ty: Type, divergence: u32) -> Variable {
        let var = self.declare_joined(ty);
        self.declared_at[var.0 as usize] = divergence;
        var
    }

    /// True for a variable that [`Builder::declare_joined`] declared. The list of these variables is sorted.
    pub(super) fn is_joined(&self, var: Variable) -> bool {
        self.kernel.joined.binary_search_by_key(&var.0, |joined| joined.0).is_ok()
    }

    /// Declares a variable that is kept in the given registers.
    pub fn declare_in(&mut self, ty: Type, to: Reg, loc: Option<SourceLoc>) -> Variable {
        let var = self.declare(ty);
        self.kernel.pins.push(Pin { var, to, loc });
        var
    }

    /// True if the user chose the variable's registers, so that each of its values must be written to them.
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
        // Under a varying condition that began after the declaration, the variable's values in inactive lanes may still
        // be needed.
        let keep = self.divergence > self.declared_at[var.0 as usize];
        self.effect(Inst::Write { var, value, keep }, loc);
        let top = self.top();
        top.written.insert(var);
        if top.ended {
            return;
        }
        let position = top.region.stmts.len() - 1;
        // The earlier write in this region had the same active lanes and its value was not read, so it is dead. A read
        // in a nested region would have cleared `unread`.
        if let Some(earlier) = top.unread.insert(var, position) {
            top.dead.push(earlier);
        }
        // Reads of a pinned variable are not forwarded, because the user wants each value in the chosen register.
        if self.is_pinned(var) {
            self.top().known.remove(&var);
            return;
        }
        // Inactive lanes still have the old value. They become active again only at the end of a region, where all
        // known values are forgotten, so no read can confuse the two values.
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
        // Instructions of a closed region do not dominate the code after it.
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
