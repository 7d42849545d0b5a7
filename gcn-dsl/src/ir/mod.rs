//! The kernel IR: SSA values in one arena, structured control flow, and types that say whether a value is
//! uniform or varying.
//!
//! A [`Region`] is a list of statements. An instruction defines at most one value; its operands are values defined
//! earlier in the same region or in an enclosing one. State that changes from one iteration of a loop (here also called
//! a *trip*) to the next, or in one side of an `if`, is in a [`Variable`], which instructions read and write. So the IR
//! needs no phis, and a write under a divergent condition simply keeps the values of inactive lanes. `break`,
//! `continue` and `return` are an [`Stmt::Exit`] from a [`Stmt::Block`]: see [`flow`].
//!
//! Values are folded and reused while the IR is built ([`build`]); [`dce`] later removes unused ones. [`Kernel`]'s
//! `Display` is the textual form.

pub mod access;
pub mod align;
pub mod atomic;
pub mod behind;
pub mod build;
pub mod bytes;
pub mod call;
pub mod contract;
pub mod dce;
pub mod defaults;
pub mod distribute;
pub mod division;
mod evaluate;
pub mod far;
pub mod flow;
mod fold;
pub mod gvn;
pub mod implied;
pub mod into_branches;
mod lazy;
pub mod licm;
pub mod mark;
pub mod merge;
pub mod named;
mod operands;
pub mod packed;
mod patterns;
pub mod ping_pong;
pub mod pipeline;
pub mod pipelined;

pub mod private;
pub mod probe;
pub mod products;
pub mod range;
mod rewrite;
pub mod scalar_float;
pub mod schedule;
pub mod sink;
mod stmt;
pub mod tails;
pub mod text;
mod ty;
pub mod uniform;
pub mod verify;
pub mod wave;

use gcn_isa::Reg;
use gcn_isa::program::SourceLoc;
use gcn_isa::target::WaveSize;
use smallvec::SmallVec;

pub use access::{Cache, Manner};
pub use atomic::{Atomic, AtomicOp};
pub use call::{Arg, Call, Effect, Given, Variant};
pub(crate) use fold::is_choice;
pub use schedule::Schedule;
pub use stmt::{Region, Stmt};
pub use ty::{Bin, Label, LdsId, Place, Pred, PrivateId, Type, Un, Value, Variable};
pub use wave::Wave;

use crate::scalar::Elem;

/// The memory that an access goes to, with its base address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Memory {
    /// A slice, accessed through a buffer resource (four uniform dwords); the hardware checks bounds.
    Buffer(Value),
    /// Raw global memory at a uniform 64-bit pointer.
    Global(Value),
    /// Raw global memory at a 64-bit pointer that may differ between lanes; the offset is a constant.
    Lanes(Value),
    /// An LDS array.
    Lds(LdsId),
    /// A private array in scratch. Each lane has its own.
    Private(PrivateId),
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Inst {
    /// A constant, given by its register bits.
    Const(u64),
    /// Dwords of the kernarg segment; the type gives their number.
    KernArg {
        /// The byte offset in the segment.
        offset: u32,
    },
    /// The address of the kernel's constant tables, two dwords.
    Constants,
    /// The workgroup's index in this dimension.
    WorkgroupId(u8),
    /// The number of work-items of the grid in this dimension.
    GridSize(u8),
    /// The work-item's index in its workgroup, in this dimension.
    LocalId(u8),
    /// Converts a uniform value to a varying one, or copies an accumulator to a vector register.
    Splat(Value),
    /// Two-operand arithmetic; the type is that of the result.
    Bin(Bin, Value, Value),
    /// `a * b + c`; for floats, with a single rounding.
    Fma(Value, Value, Value),
    /// One-operand arithmetic.
    Un(Un, Value),
    /// A comparison of two operands of one type.
    Cmp(Pred, Value, Value),
    /// `condition ? a : b`.
    Select(Value, Value, Value),
    /// A conversion to the result's element type, like Rust's `as`.
    Cast(Value),
    /// The bits of the operand, reinterpreted as another type of the same size.
    Bitcast(Value),
    /// Consecutive dwords of a value.
    Extract {
        /// The value.
        from: Value,
        /// The first dword.
        dword: u8,
    },
    /// Concatenates values by dwords. If the result has more dwords than the values, its last dwords are undefined.
    Concat(SmallVec<[Value; 4]>),
    /// A load.
    Load {
        /// The memory.
        memory: Memory,
        /// The byte offset from the memory's base; varying.
        offset: Value,
        /// A special property, such as a cache hint.
        manner: Manner,
    },
    /// A scalar load through a buffer resource.
    LoadUniform {
        /// The resource.
        resource: Value,
        /// The byte offset; uniform.
        offset: Value,
    },
    /// A store.
    Store {
        /// The memory.
        memory: Memory,
        /// The byte offset from the memory's base; varying.
        offset: Value,
        /// The stored value; varying.
        value: Value,
        /// A special property, such as a cache hint.
        manner: Manner,
    },
    /// Reads a variable.
    Read(Variable),
    /// Writes a variable.
    Write {
        /// The variable.
        var: Variable,
        /// The new value.
        value: Value,
        /// True if inactive lanes must keep their value, because lanes may be inactive here that were active at the
        /// variable's declaration.
        keep: bool,
    },
    /// A workgroup barrier.
    Barrier,
    /// The value of the first active lane, as a uniform value.
    ReadFirstLane(Value),
    /// The value of the lane with this uniform number, as a uniform value.
    ReadLane(Value, Value),
    /// A dword of another lane; each lane chooses its source lane (`ds_bpermute_b32`).
    Permute {
        /// The source lane, as the byte address `4 * lane`.
        address: Value,
        /// The value from which the lanes read.
        value: Value,
    },
    /// The mask of the active lanes in which a varying `bool` is true, as u64.
    Ballot(Value),
    /// The lane's number in its wave.
    LaneId,
    /// An atomic access. The result is the loaded value, or the old value of a read-modify-write.
    Atomic(Box<Atomic>),
    /// A fence.
    Fence {
        /// The scope.
        scope: atomic::Scope,
        /// The memory ordering.
        ordering: atomic::Ordering,
    },
    /// A reduction or scan over the lanes of the wave.
    Wave(Wave),
    /// A requirement on instruction order, or a wait.
    Schedule(Box<Schedule>),
    /// A machine instruction; the value is its first result.
    Machine(Box<Call>),
    /// A further result of a machine instruction.
    Result {
        /// The value of the machine instruction.
        of: Value,
        /// The number of the result, counted from 1; the value of the machine instruction itself is result 0.
        index: u8,
    },
}

/// An instruction with its type and source location.
#[derive(Clone, PartialEq, Debug)]
pub struct ValueDef {
    /// The instruction.
    pub inst: Inst,
    /// The type of the result; `None` if there is none.
    pub ty: Option<Type>,
    /// The location in the user's source.
    pub loc: Option<SourceLoc>,
}

/// An LDS array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LdsDef {
    /// The size in bytes.
    pub bytes: u32,
    /// The byte offset in the workgroup's LDS, assigned in order of declaration and aligned to 16 bytes.
    pub offset: u32,
    /// True for the array whose size the launch gives; it starts after all others.
    pub dynamic: bool,
}

/// A private array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PrivateDef {
    /// The size in bytes.
    pub bytes: u32,
    /// The byte offset in each lane's scratch, assigned in order of declaration and aligned to 16 bytes; meaningless if
    /// the array has been moved to registers.
    pub offset: u32,
}

/// A *pinned* variable, whose registers the user chose.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pin {
    /// The variable.
    pub var: Variable,
    /// The registers.
    pub to: Reg,
    /// The location of the user's request.
    pub loc: Option<SourceLoc>,
}

/// A whole kernel.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Kernel {
    /// The kernel's name.
    pub name: String,
    /// The wave size; `None` stands for 64 lanes. Lane masks always have 64 bits in the IR; in waves of 32 lanes only
    /// the lower half is used.
    pub wave: Option<WaveSize>,
    /// All values.
    pub values: Vec<ValueDef>,
    /// The type of each variable.
    pub variables: Vec<Type>,
    /// *Joined* variables, which only merge the values of branches or exits at their common end.
    pub joined: Vec<Variable>,
    /// Pinned variables.
    pub pins: Vec<Pin>,
    /// LDS arrays.
    pub lds: Vec<LdsDef>,
    /// The end of the part of LDS to which registers may be spilled, if the array of dynamic size must come after it; 0
    /// otherwise.
    pub lds_reserved: u32,
    /// Private arrays.
    pub private: Vec<PrivateDef>,
    /// Buffer resources of memory that nothing writes while the kernel runs (`&[T]`).
    pub read_only: Vec<Value>,
    /// Buffer resources of slices that the user has promised to end with a whole dword.
    pub whole_dwords: Vec<Value>,
    /// Buffer resources that may describe overlapping memory: those of written slices from which a subslice was taken,
    /// and those of the subslices.
    pub overlapping: Vec<Value>,
    /// Constant tables that the kernel reads; they are placed after its code.
    pub constants: Vec<u8>,
    /// The body.
    pub body: Region,
    /// Loops for which the user requested pipelining. They stay in the list after pipelining, so that later passes do
    /// not change their form.
    pub pipelines: Vec<pipelined::Request>,
    /// Debug information: the values that the simulator shows, the meanings of traps, and names.
    pub debug: probe::Debug,
}

impl Kernel {
    /// The wave size.
    pub fn wave(&self) -> WaveSize {
        self.wave.unwrap_or(WaveSize::W64)
    }

    /// True for a 64-bit integer whose upper half is known to be 0.
    pub(crate) fn has_zero_above(&self, v: Value) -> bool {
        let unsigned = |v: Value| matches!(self.ty(v).elem, Elem::U8 | Elem::U16 | Elem::U32);
        match &self.def(v).inst {
            Inst::Const(bits) => bits >> 32 == 0,
            Inst::Concat(parts) => parts.len() == 2 && self.constant(parts[1]) == Some(0),
            Inst::Cast(x) => unsigned(*x),
            Inst::Bin(Bin::And, x, y) => self.has_zero_above(*x) || self.has_zero_above(*y),
            Inst::Bin(Bin::Shr, _, count) if self.ty(v).elem == Elem::U64 => {
                self.shift_count(*count, Elem::U64).is_some_and(|count| count >= 32)
            }
            _ => false,
        }
    }

    /// The definition of `v`.
    pub fn def(&self, v: Value) -> &ValueDef {
        &self.values[v.0 as usize]
    }

    /// The value of `v` without bitcasts that do not change its type.
    pub fn resolved(&self, v: Value) -> Value {
        match self.def(v).inst {
            Inst::Bitcast(of) if self.ty(of) == self.ty(v) => self.resolved(of),
            _ => v,
        }
    }

    /// The bits of `v` if it is a constant or a constant that was converted to varying; `None` otherwise.
    pub fn constant(&self, v: Value) -> Option<u64> {
        match self.def(v).inst {
            Inst::Const(bits) => Some(bits),
            Inst::Splat(inner) => self.constant(inner),
            _ => None,
        }
    }

    /// The number of bits by which a shift of type `elem` with this constant count moves; `None` if the count is not
    /// constant. Rust masks shift counts by the width of the type. All passes must read counts with this function,
    /// since a constant may have any value.
    pub fn shift_count(&self, count: Value, elem: Elem) -> Option<u32> {
        self.constant(count).map(|count| count as u32 & elem.shift_mask())
    }

    /// Appends an instruction to `out`, and returns its value.
    pub fn append(&mut self, inst: Inst, ty: Type, loc: Option<SourceLoc>, out: &mut Vec<Stmt>) -> Value {
        self.values.push(ValueDef { inst, ty: Some(ty), loc });
        let v = Value(self.values.len() as u32 - 1);
        out.push(Stmt::Inst(v));
        v
    }

    /// The type of the value. `v` must be the value of an instruction with a result.
    pub fn ty(&self, v: Value) -> Type {
        self.def(v).ty.unwrap_or(Type::uniform(Elem::U32))
    }

    /// The byte offsets in the kernarg segment of the slices that the user has promised to end with a whole dword.
    pub fn whole_dword_arguments(&self) -> Vec<u32> {
        let loaded = |v: Value| match self.def(v).inst {
            Inst::KernArg { offset } => Some(offset),
            _ => None,
        };
        let argument = |resource: &Value| {
            let Inst::Concat(parts) = &self.def(*resource).inst else { return None };
            let pointer = *parts.first()?;
            match self.def(pointer).inst {
                // One load may load several arguments.
                Inst::Extract { from, dword } => loaded(from).map(|at| at + 4 * u32::from(dword)),
                _ => loaded(pointer),
            }
        };
        self.whole_dwords.iter().filter_map(argument).collect()
    }

    /// The number of scratch bytes that each lane needs for private arrays.
    pub fn private_bytes(&self) -> u32 {
        self.private.last().map_or(0, |a| a.offset + a.bytes)
    }

    /// The byte offset of an LDS array in the workgroup's LDS.
    pub fn lds_offset(&self, id: LdsId) -> u32 {
        let array = self.lds[id.0 as usize];
        if array.dynamic { self.lds_end().next_multiple_of(16) } else { array.offset }
    }

    /// The number of LDS bytes of arrays with a known length.
    pub fn lds_bytes(&self) -> u32 {
        self.lds.last().map_or(0, |l| l.offset.saturating_add(l.bytes))
    }

    /// The end of the part of LDS whose size does not depend on the launch, including the part reserved for spilled
    /// registers.
    pub fn lds_end(&self) -> u32 {
        self.lds_bytes().max(self.lds_reserved)
    }
}

impl Inst {
    /// True if the instruction must stay even if its result is unused.
    pub fn has_effect(&self) -> bool {
        match self {
            Inst::Store { .. } | Inst::Write { .. } | Inst::Barrier => true,
            Inst::Atomic(_) | Inst::Fence { .. } | Inst::Schedule(_) => true,
            Inst::Machine(call) => call.effect == Effect::Kept,
            _ => false,
        }
    }

    /// True if two equal instructions give the same value whenever the first dominates the second.
    pub fn is_pure(&self) -> bool {
        if let Inst::Machine(call) = self {
            return call.effect == Effect::Pure;
        }
        !self.has_effect()
            && !matches!(
                self,
                Inst::Load { .. }
                    | Inst::LoadUniform { .. }
                    | Inst::Read(_)
                    // The results of these instructions depend on the set of active lanes.
                    | Inst::ReadFirstLane(_)
                    | Inst::Ballot(_)
                    | Inst::Permute { .. }
                    | Inst::Wave(_)
                    | Inst::ReadLane(..)
            )
    }
}
