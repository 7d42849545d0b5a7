//! The kernel IR: SSA values in one arena, structured control flow, and types that say whether a value is
//! uniform or varying.
//!
//! A [`Region`] is a list of statements. An instruction defines at most one value; its operands are values
//! defined earlier in the same region or in an enclosing one. State that changes from one trip of a loop to
//! the next, or on one side of an `if`, lives in a [`Variable`], which instructions read and write. So the IR
//! needs no phis, and a write under a divergent condition simply keeps the value of inactive lanes. `break`,
//! `continue` and `return` are an [`Stmt::Exit`] from a [`Stmt::Block`]: see [`flow`].
//!
//! Values are folded and shared while the IR is built ([`build`]); [`dce`] later drops unused ones.
//! [`Kernel`]'s `Display` is the textual form.

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
pub mod division;
mod evaluate;
pub mod far;
pub mod flow;
mod fold;
pub mod gvn;
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
pub use schedule::Schedule;
pub use stmt::{Region, Stmt};
pub use ty::{Bin, Label, LdsId, Place, Pred, PrivateId, Type, Un, Value, Variable};
pub use wave::Wave;

use crate::scalar::Elem;

/// Memory that an access goes to, with its base.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Memory {
    /// A slice through a buffer resource (four uniform dwords): the hardware checks bounds.
    Buffer(Value),
    /// Raw global memory from a uniform 64-bit pointer.
    Global(Value),
    /// Raw global memory from a 64-bit pointer of each lane; the offset is a constant.
    Lanes(Value),
    /// An LDS array.
    Lds(LdsId),
    /// An array of each lane's own, in scratch.
    Private(PrivateId),
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Inst {
    /// A constant, by register bits.
    Const(u64),
    /// So many dwords of the kernarg segment from a byte offset.
    KernArg {
        /// Byte offset.
        offset: u32,
    },
    /// The address of the kernel's constants, two dwords.
    Constants,
    /// The workgroup's index in a dimension.
    WorkgroupId(u8),
    /// Work-items of the grid in a dimension.
    GridSize(u8),
    /// The work-item's index in its workgroup in a dimension.
    LocalId(u8),
    /// Uniform value as a varying one (or a vector register copy for an accumulator read).
    Splat(Value),
    /// Arithmetic; the type is the result's.
    Bin(Bin, Value, Value),
    /// `a * b + c`, fused for floats.
    Fma(Value, Value, Value),
    /// Arithmetic.
    Un(Un, Value),
    /// Comparison of operands of one type.
    Cmp(Pred, Value, Value),
    /// `condition ? a : b`.
    Select(Value, Value, Value),
    /// Conversion to the result's element type with Rust's `as` semantics.
    Cast(Value),
    /// Same bits, other type of the same width.
    Bitcast(Value),
    /// Consecutive dwords of a vector as a value.
    Extract {
        /// The vector.
        from: Value,
        /// First dword.
        dword: u8,
    },
    /// Values side by side, by dwords. Dwords of the result after the last part are undefined.
    Concat(SmallVec<[Value; 4]>),
    /// Load from byte address (varying offset from the base).
    Load {
        /// Where.
        memory: Memory,
        /// Byte offset, varying.
        offset: Value,
        /// Its special property.
        manner: Manner,
    },
    /// Scalar load through a buffer resource at a uniform byte offset.
    LoadUniform {
        /// Resource.
        resource: Value,
        /// Byte offset, uniform.
        offset: Value,
    },
    /// Store.
    Store {
        /// Where.
        memory: Memory,
        /// Byte offset, varying.
        offset: Value,
        /// The value, varying.
        value: Value,
        /// Its special property.
        manner: Manner,
    },
    /// Reads a variable.
    Read(Variable),
    /// Writes a variable; `keep` if inactive lanes must keep their value.
    Write {
        /// The variable.
        var: Variable,
        /// The new value.
        value: Value,
        /// Some lanes may be inactive that were active where the variable was declared.
        keep: bool,
    },
    /// Workgroup barrier.
    Barrier,
    /// First active lane's value, as a uniform one.
    ReadFirstLane(Value),
    /// A lane's value by uniform lane number.
    ReadLane(Value, Value),
    /// Value of another lane, by varying byte address `4 * lane` (`ds_bpermute_b32`), one dword.
    Permute {
        /// Byte address of the source lane.
        address: Value,
        /// The value.
        value: Value,
    },
    /// Lane mask of a varying `bool`, EXEC-masked, as u64.
    Ballot(Value),
    /// The lane's number in its wave.
    LaneId,
    /// An atomic access; its value is what a load finds, or the old value of a read-modify-write.
    Atomic(Box<Atomic>),
    /// A fence.
    Fence {
        /// Scope.
        scope: atomic::Scope,
        /// Ordering.
        ordering: atomic::Ordering,
    },
    /// A reduction or scan over the lanes of the wave.
    Wave(Wave),
    /// Something about order and waits.
    Schedule(Box<Schedule>),
    /// A table instruction; the value is its first result.
    Machine(Box<Call>),
    /// Another result of a table instruction.
    Result {
        /// The instruction.
        of: Value,
        /// Which result; from 1.
        index: u8,
    },
}

/// An instruction with its type and origin.
#[derive(Clone, PartialEq, Debug)]
pub struct ValueDef {
    /// The instruction.
    pub inst: Inst,
    /// Result type; `None` for effects only.
    pub ty: Option<Type>,
    /// The user's position.
    pub loc: Option<SourceLoc>,
}

/// An LDS array's size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LdsDef {
    /// Bytes.
    pub bytes: u32,
    /// Byte offset in the workgroup's LDS, assigned in order of declaration at 16-byte alignment.
    pub offset: u32,
    /// The array starts after all others and is as long as the launch says.
    pub dynamic: bool,
}

/// A private array's place in each lane's scratch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PrivateDef {
    /// Bytes.
    pub bytes: u32,
    /// Byte offset, assigned in order of declaration at 16-byte alignment; of no meaning once the array is in
    /// registers.
    pub offset: u32,
}

/// A variable in registers that the user chose.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pin {
    /// The variable.
    pub var: Variable,
    /// Its registers.
    pub to: Reg,
    /// Where the user says so.
    pub loc: Option<SourceLoc>,
}

/// A whole kernel.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Kernel {
    /// Name.
    pub name: String,
    /// The size of waves; 64 lanes if not given. Lane masks have 64 bits in the IR, of which shorter waves use the
    /// lower half.
    pub wave: Option<WaveSize>,
    /// Every value.
    pub values: Vec<ValueDef>,
    /// Every variable's type.
    pub variables: Vec<Type>,
    /// Variables that only join the values of branches or exits at their common end: none lives longer.
    pub joined: Vec<Variable>,
    /// Variables whose registers the user chose.
    pub pins: Vec<Pin>,
    /// LDS arrays.
    pub lds: Vec<LdsDef>,
    /// The end of the LDS to which registers may be spilled, if arrays of dynamic size must come after it.
    pub lds_reserved: u32,
    /// Private arrays.
    pub private: Vec<PrivateDef>,
    /// Buffer resources of memory that nothing writes while the kernel runs (`&[T]`).
    pub read_only: Vec<Value>,
    /// Buffer resources of slices that the user has declared to end with a whole dword.
    pub whole_dwords: Vec<Value>,
    /// Buffer resources that may reach the same memory: those of written slices of which a part has its own resource,
    /// and those of the parts.
    pub overlapping: Vec<Value>,
    /// Constant tables that the kernel reads. They are placed after its code.
    pub constants: Vec<u8>,
    /// The body.
    pub body: Region,
    /// Loops for which the user requested pipelining. They stay listed afterwards, so that later passes keep their
    /// form.
    pub pipelines: Vec<pipelined::Request>,
    /// Debugging information: values to show, and the meanings of traps.
    pub debug: probe::Debug,
}

impl Kernel {
    /// The size of waves.
    pub fn wave(&self) -> WaveSize {
        self.wave.unwrap_or(WaveSize::W64)
    }

    /// True for an integer of 64 bits whose upper half is known to be 0.
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

    /// Definition of `v`.
    pub fn def(&self, v: Value) -> &ValueDef {
        &self.values[v.0 as usize]
    }

    /// The value that `v` is another name of.
    pub fn resolved(&self, v: Value) -> Value {
        match self.def(v).inst {
            Inst::Bitcast(of) if self.ty(of) == self.ty(v) => self.resolved(of),
            _ => v,
        }
    }

    /// The bits, if `v` is a constant (also one made varying).
    pub fn constant(&self, v: Value) -> Option<u64> {
        match self.def(v).inst {
            Inst::Const(bits) => Some(bits),
            Inst::Splat(inner) => self.constant(inner),
            _ => None,
        }
    }

    /// The number of bits by which a constant shift of `elem` moves: Rust masks counts by the width of the type. All
    /// passes use this function to read a count, since the constant may have any size.
    pub fn shift_count(&self, count: Value, elem: Elem) -> Option<u32> {
        self.constant(count).map(|count| count as u32 & elem.shift_mask())
    }

    /// A new value; its instruction goes to the end of `out`.
    pub fn append(&mut self, inst: Inst, ty: Type, loc: Option<SourceLoc>, out: &mut Vec<Stmt>) -> Value {
        self.values.push(ValueDef { inst, ty: Some(ty), loc });
        let v = Value(self.values.len() as u32 - 1);
        out.push(Stmt::Inst(v));
        v
    }

    /// Type of a value that has one.
    pub fn ty(&self, v: Value) -> Type {
        self.def(v).ty.unwrap_or(Type::uniform(Elem::U32))
    }

    /// The positions in the kernarg segment of slices that the user has declared to end with a whole dword.
    pub fn whole_dword_arguments(&self) -> Vec<u32> {
        let loaded = |v: Value| match self.def(v).inst {
            Inst::KernArg { offset } => Some(offset),
            _ => None,
        };
        let argument = |resource: &Value| {
            let Inst::Concat(parts) = &self.def(*resource).inst else { return None };
            let pointer = *parts.first()?;
            match self.def(pointer).inst {
                // Several arguments come by one load.
                Inst::Extract { from, dword } => loaded(from).map(|at| at + 4 * u32::from(dword)),
                _ => loaded(pointer),
            }
        };
        self.whole_dwords.iter().filter_map(argument).collect()
    }

    /// Scratch bytes of each lane for private arrays.
    pub fn private_bytes(&self) -> u32 {
        self.private.last().map_or(0, |a| a.offset + a.bytes)
    }

    /// Byte offset of an LDS array in the workgroup's LDS.
    pub fn lds_offset(&self, id: LdsId) -> u32 {
        let array = self.lds[id.0 as usize];
        if array.dynamic { self.lds_end().next_multiple_of(16) } else { array.offset }
    }

    /// LDS bytes of arrays whose length is known.
    pub fn lds_bytes(&self) -> u32 {
        self.lds.last().map_or(0, |l| l.offset.saturating_add(l.bytes))
    }

    /// The end of the LDS whose size does not depend on the launch, including the part reserved for spilled
    /// registers.
    pub fn lds_end(&self) -> u32 {
        self.lds_bytes().max(self.lds_reserved)
    }
}

impl Inst {
    /// True if the instruction must stay even if its value is unused.
    pub fn has_effect(&self) -> bool {
        match self {
            Inst::Store { .. } | Inst::Write { .. } | Inst::Barrier => true,
            Inst::Atomic(_) | Inst::Fence { .. } | Inst::Schedule(_) => true,
            Inst::Machine(call) => call.effect == Effect::Kept,
            _ => false,
        }
    }

    /// True if two equal instructions give the same value, provided that the first dominates the second.
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
                    // The results of these depend on which lanes are active.
                    | Inst::ReadFirstLane(_)
                    | Inst::Ballot(_)
                    | Inst::Permute { .. }
                    | Inst::Wave(_)
                    | Inst::ReadLane(..)
            )
    }
}
