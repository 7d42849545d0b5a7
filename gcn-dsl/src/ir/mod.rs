//! The kernel IR: SSA values in one arena, structured control flow, uniform or varying in the type.
//!
//! A [`Region`] is a list of statements. An instruction defines at most one value; operands are values defined before it in
//! the same region or in an enclosing one. What changes from one trip of a loop to the next, or on one side of an `if`,
//! lives in a [`Variable`]: read and written by instructions, so that no phi is needed and a write under a divergent
//! condition simply keeps the inactive lanes' value. `break`, `continue` and `return` are an [`Stmt::Exit`] from a
//! [`Stmt::Block`]: see [`flow`].
//!
//! Values are folded and shared while the IR is built ([`build`]); [`dce`] then drops what nobody uses.
//! [`Kernel`]'s `Display` is the textual form.

pub mod align;
pub mod atomic;
pub mod build;
pub mod call;
pub mod cse;
pub mod dce;
pub mod flow;
mod fold;
pub mod hinted;
pub mod licm;
pub mod merge;
mod operands;
pub mod pipeline;
mod print;
pub mod private;
pub mod probe;
pub mod schedule;
pub mod wave;

use gcn_isa::program::SourceLoc;
use gcn_isa::{Reg, RegFile};
use smallvec::SmallVec;

pub use atomic::{Atomic, AtomicOp};
pub use call::{Arg, Call, Effect, Given, Variant};
pub use hinted::{Cache, Hinted, Manner};
pub use schedule::Schedule;
pub use wave::Wave;

use crate::scalar::Elem;

/// An SSA value, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value(pub u32);

/// A mutable variable, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variable(pub u32);

/// What an exit leaves, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Label(pub u32);

/// An LDS array, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LdsId(pub u32);

/// An array of each lane's own, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PrivateId(pub u32);

/// Where a value lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// One value per wave, in SGPRs.
    Uniform,
    /// One value per lane, in VGPRs (a `bool` is a lane mask in an SGPR pair).
    Varying,
    /// A matrix accumulator, in AGPRs.
    Acc,
}

/// The type of a value or variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type {
    /// Where it lives.
    pub place: Place,
    /// Element type.
    pub elem: Elem,
    /// How many elements; more than one only for short vectors, fragments and accumulators.
    pub count: u8,
}

impl Type {
    /// One uniform element.
    pub const fn uniform(elem: Elem) -> Type {
        Type { place: Place::Uniform, elem, count: 1 }
    }

    /// One element per lane.
    pub const fn varying(elem: Elem) -> Type {
        Type { place: Place::Varying, elem, count: 1 }
    }

    /// Dwords of registers per lane (or per wave for uniform values). Elements narrower than a dword are packed only
    /// in vectors of several.
    pub const fn dwords(self) -> u8 {
        if self.count == 1 {
            self.elem.dwords()
        } else {
            (self.count as u32 * self.elem.bytes()).div_ceil(4) as u8
        }
    }

    /// The registers that hold a value: which file, and how many. A varying condition is a mask of lanes.
    pub const fn registers(self) -> (RegFile, u8) {
        match self.place {
            Place::Uniform => (RegFile::Sgpr, self.dwords()),
            Place::Varying if matches!(self.elem, Elem::Bool) => (RegFile::Sgpr, 2),
            Place::Varying => (RegFile::Vgpr, self.dwords()),
            Place::Acc => (RegFile::Agpr, self.dwords()),
        }
    }
}

/// Two-operand arithmetic.
#[allow(missing_docs, reason = "the names say it")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bin {
    Add,
    Sub,
    Mul,
    /// High half of the 64-bit product of 32-bit integers.
    MulHi,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Min,
    Max,
}

/// One-operand arithmetic.
#[allow(missing_docs, reason = "the names say it")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Un {
    Neg,
    Not,
    Abs,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    /// Round to nearest, ties to even.
    Rndne,
    /// Approximate reciprocal (`v_rcp_*`).
    Rcp,
    /// Approximate base-2 exponential (`v_exp_*`).
    Exp2,
    /// Approximate base-2 logarithm (`v_log_*`).
    Log2,
    /// Approximate reciprocal square root (`v_rsq_*`).
    Rsq,
    /// Approximate sine of an angle in turns (`v_sin_*`).
    Sin,
    /// Approximate cosine of an angle in turns (`v_cos_*`).
    Cos,
}

/// A comparison.
#[allow(missing_docs, reason = "the names say it")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pred {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

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
#[derive(Clone, PartialEq, Debug)]
pub enum Inst {
    /// A constant, by register bits.
    Const(u64),
    /// So many dwords of the kernarg segment from a byte offset.
    KernArg {
        /// Byte offset.
        offset: u32,
    },
    /// The workgroup's index in a dimension.
    WorkgroupId(u8),
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
    /// Values side by side, by dwords.
    Concat(SmallVec<[Value; 4]>),
    /// Load from byte address (varying offset from the base).
    Load {
        /// Where.
        memory: Memory,
        /// Byte offset, varying.
        offset: Value,
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
        /// What, varying.
        value: Value,
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
        /// What.
        value: Value,
    },
    /// Lane mask of a varying `bool`, EXEC-masked, as u64.
    Ballot(Value),
    /// The lane's number in its wave.
    LaneId,
    /// An atomic access; its value is what a load finds, or the old value of a read-modify-write.
    Atomic(Box<Atomic>),
    /// A load or store with a cache hint.
    Hinted(Box<Hinted>),
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

/// A statement of a region.
#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    /// The instruction that defines this value (or has an effect only).
    Inst(Value),
    /// Two-way branch.
    If {
        /// `bool`, uniform or varying.
        cond: Value,
        /// Taken where true.
        then: Region,
        /// Taken where false.
        els: Region,
    },
    /// Loop tested at the top.
    While {
        /// Computes the condition on each trip.
        head: Region,
        /// `bool`, uniform or varying, defined in `head` or outside.
        cond: Value,
        /// The body.
        body: Region,
    },
    /// Loop tested at the bottom on a uniform condition; runs at least once.
    DoWhile {
        /// The body.
        body: Region,
        /// Uniform `bool`, defined in `body` or outside.
        cond: Value,
    },
    /// Loop without a condition: only exits leave it.
    Loop {
        /// The body.
        body: Region,
    },
    /// Statements that an exit can leave.
    Block {
        /// What exits name; one block only has it.
        label: Label,
        /// The statements.
        body: Region,
    },
    /// The lanes that get here go on behind the enclosing block of this label. The last statement of its region.
    Exit(Label),
}

impl Stmt {
    /// The regions of the statement, in the order in which they run first.
    pub fn regions(&self) -> SmallVec<[&Region; 2]> {
        match self {
            Stmt::Inst(_) | Stmt::Exit(_) => SmallVec::new(),
            Stmt::If { then, els, .. } => SmallVec::from_slice(&[then, els]),
            Stmt::While { head, body, .. } => SmallVec::from_slice(&[head, body]),
            Stmt::DoWhile { body, .. } | Stmt::Loop { body } | Stmt::Block { body, .. } => {
                SmallVec::from_slice(&[body])
            }
        }
    }

    /// The condition that the statement itself branches on.
    pub fn condition(&self) -> Option<Value> {
        match self {
            Stmt::If { cond, .. } | Stmt::While { cond, .. } | Stmt::DoWhile { cond, .. } => Some(*cond),
            Stmt::Inst(_) | Stmt::Loop { .. } | Stmt::Block { .. } | Stmt::Exit(_) => None,
        }
    }

    /// The regions of the statement, to change them.
    pub fn regions_mut(&mut self) -> SmallVec<[&mut Region; 2]> {
        match self {
            Stmt::Inst(_) | Stmt::Exit(_) => SmallVec::new(),
            Stmt::If { then, els, .. } => SmallVec::from([then, els]),
            Stmt::While { head, body, .. } => SmallVec::from([head, body]),
            Stmt::DoWhile { body, .. } | Stmt::Loop { body } | Stmt::Block { body, .. } => {
                std::iter::once(body).collect()
            }
        }
    }
}

/// Statements in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Region {
    /// The statements.
    pub stmts: Vec<Stmt>,
}

impl Region {
    /// Calls `f` for each instruction, those of nested regions included, in order.
    pub fn each_inst(&self, f: &mut impl FnMut(Value)) {
        for stmt in &self.stmts {
            match stmt {
                Stmt::Inst(v) => f(*v),
                other => other.regions().into_iter().for_each(|region| region.each_inst(f)),
            }
        }
    }
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
    /// The array starts behind all others and is as long as the launch says.
    pub dynamic: bool,
}

/// A private array's place in each lane's scratch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PrivateDef {
    /// Bytes.
    pub bytes: u32,
    /// Byte offset, assigned in order of declaration at 16-byte alignment; of no meaning once the array is in registers.
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
    /// Every value.
    pub values: Vec<ValueDef>,
    /// Every variable's type.
    pub variables: Vec<Type>,
    /// Variables that only take the values of branches or exits to their common end: none lives longer than that.
    pub joined: Vec<Variable>,
    /// Variables whose registers the user chose.
    pub pins: Vec<Pin>,
    /// LDS arrays.
    pub lds: Vec<LdsDef>,
    /// The end of LDS that registers may be spilled to, where arrays of dynamic size have to be behind it.
    pub lds_reserved: u32,
    /// Private arrays.
    pub private: Vec<PrivateDef>,
    /// Buffer resources of memory that nothing writes while the kernel runs (`&[T]`).
    pub read_only: Vec<Value>,
    /// The body.
    pub body: Region,
    /// Loops that the user wants pipelined.
    pub pipelines: Vec<pipeline::Request>,
    /// What it says to whoever debugs it.
    pub debug: probe::Debug,
}

impl Kernel {
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

    /// Type of a value that has one.
    pub fn ty(&self, v: Value) -> Type {
        self.def(v).ty.unwrap_or(Type::uniform(Elem::U32))
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
        self.lds.last().map_or(0, |l| l.offset + l.bytes)
    }

    /// Where the LDS ends that does not depend on the launch: what is reserved for spilled registers included.
    pub fn lds_end(&self) -> u32 {
        self.lds_bytes().max(self.lds_reserved)
    }
}

impl Inst {
    /// True if the instruction must stay even if nobody uses its value.
    pub fn has_effect(&self) -> bool {
        match self {
            Inst::Store { .. } | Inst::Write { .. } | Inst::Barrier => true,
            Inst::Atomic(_) | Inst::Fence { .. } | Inst::Schedule(_) => true,
            Inst::Machine(call) => call.effect == Effect::Kept,
            Inst::Hinted(access) => access.value.is_some(),
            _ => false,
        }
    }

    /// True if two equal instructions in sight of each other give the same value.
    pub fn is_pure(&self) -> bool {
        if let Inst::Machine(call) = self {
            return call.effect == Effect::Pure;
        }
        !self.has_effect()
            && !matches!(
                self,
                Inst::Load { .. }
                    | Inst::LoadUniform { .. }
                    | Inst::Hinted(_)
                    | Inst::Read(_)
                    // What these give depends on which lanes are active.
                    | Inst::ReadFirstLane(_)
                    | Inst::Ballot(_)
                    | Inst::Permute { .. }
                    | Inst::Wave(_)
                    | Inst::ReadLane(..)
            )
    }
}
