//! Programs as data.

use gcn_dsl::ir::{Bin, Pred, Un};
use gcn_dsl::scalar::Elem;

/// The number types, in the order of everything that has one entry for each of them.
pub const NUMBERS: [Elem; 12] = [
    Elem::I8,
    Elem::U8,
    Elem::I16,
    Elem::U16,
    Elem::I32,
    Elem::U32,
    Elem::I64,
    Elem::U64,
    Elem::F16,
    Elem::Bf16,
    Elem::F32,
    Elem::F64,
];

/// The number of elements of every LDS array, and the maximum number of lanes of a workgroup.
pub const LDS_LEN: u32 = 128;
/// The number of elements of every input slice. Not a multiple of a wide access, so that slices of narrow elements end
/// inside a dword.
pub const INPUT_LEN: u32 = 93;
/// The number of elements of every slice for atomics.
pub const SHARED_LEN: u32 = 16;
/// The number of elements that each pointer argument points to, and their types. A pointer in a variable is advanced by
/// less than half of that number.
pub const POINTED_LEN: u32 = 128;
pub const POINTED: [Elem; 3] = [Elem::U32, Elem::F32, Elem::U16];
/// The number of elements of every private array.
pub const PRIVATE_LEN: u32 = 8;
/// The number of elements of an output slice for each lane of the grid.
pub const SLOTS: u32 = 3;

/// The number of values that an expression has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Place {
    /// One on the host: a literal.
    Host,
    /// One per wave: `S<T>`.
    Wave,
    /// One per lane: `V<T>`.
    Lane,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ty {
    pub elem: Elem,
    pub place: Place,
}

impl Ty {
    pub const fn lane(elem: Elem) -> Ty {
        Ty { elem, place: Place::Lane }
    }
    pub const fn wave(elem: Elem) -> Ty {
        Ty { elem, place: Place::Wave }
    }
}

/// Names that the kernel binds before its body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Id {
    /// `local_id().x`
    Local,
    /// `global_id().x`
    Global,
    /// `lane_id()`
    Lane,
    /// `wave_id()`
    Wave,
    /// `workgroup_id().x`
    Group,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Op {
    /// A literal, given by its bits.
    Lit(Elem, u64),
    Var(usize),
    /// The scalar argument of this type.
    Arg(Elem),
    Id(Id),
    /// `in_t[i]`
    In(Elem),
    /// `in_t.uniform(i)`
    Uniform(Elem),
    /// `out_t[own + k * lanes]`
    Own(Elem, u32),
    /// `ldsK[i]`
    Lds(usize),
    Un(Un),
    Bin(Bin),
    Cmp(Pred),
    And,
    Or,
    Select,
    /// `if c { a } else { b }`
    If,
    MulAdd,
    Cast(Elem),
    /// `x.to_bits_as::<T>()`
    Bits(Elem),
    Splat,
    Ballot,
    Any,
    All,
    ReadFirst,
    ReadLane,
    Shuffle,
    ShuffleXor(u32),
    /// `wave_sum(x)`, `wave_min(x)` and so on, on integers.
    Reduce(Bin),
    /// `wave_inclusive_sum(x)` and so on; `wave_exclusive_sum(x)` and so on if the flag is set.
    Scan(Bin, bool),
    /// `ownK[i]`
    Private(usize),
    /// `table::<T>(k)[i & …]`: a table of 2 to the power of `k` constants.
    Table(Elem, u32),
    /// `(&in_t[a..a + n])[i]`
    Part(Elem, u32),
    /// `in_t.load_vector::<n>(i).get(k)`
    Wide(Elem, u32, u32),
    /// `objectK.is_some()`, `objectK.is_ok()`
    IsSome(usize),
    /// `objectK.unwrap_or(x)`
    UnwrapOr(usize),
    /// `objectK.map_or(x, |v| v op y)`
    MapOr(usize, Bin),
    /// A field of a struct or of a tuple.
    Member(usize, usize),
    /// `objectK.peek()`
    Peek(usize),
    /// `objectK[i & 63]` of a pointer
    Pointed(usize),
    /// `passed(objectK, x)`: `?` on a `Result`
    Passed(usize),
    /// `again(x, |v| v op y)`
    Again(Bin),
    /// `either(x, |v| v > y, |v| v op y).unwrap_or(z)`
    Either(Bin),
}

impl Op {
    /// True if the result for a lane depends on which other lanes compute the operation too.
    pub fn reads_other_lanes(self) -> bool {
        use Op::*;
        matches!(
            self,
            Ballot | Any | All | ReadFirst | ReadLane | Shuffle | ShuffleXor(_) | Reduce(_) | Scan(..)
        )
    }
}

/// The type of a variable with parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// `shapes::Pair`
    Pair,
    /// `shapes::Thing`
    Thing,
    Option(Elem),
    Result(Elem, Elem),
    /// `shapes::Either`, an enum with parameters
    Either(Elem, Elem),
    Tuple(Elem, Elem),
    /// `[V<T>; 3]`
    Array(Elem),
    /// `cells::Cell`, a struct with C layout
    Cell,
    /// `*const T`: the number of elements from the argument to the pointer
    Pointer(Elem),
}

impl Shape {
    /// The types of the fields of each variant.
    pub fn variants(self) -> Vec<Vec<Elem>> {
        match self {
            Shape::Pair => vec![vec![Elem::U32, Elem::F32]],
            Shape::Thing => vec![vec![], vec![Elem::U32], vec![Elem::I32, Elem::F32], vec![Elem::I64]],
            Shape::Option(t) => vec![vec![], vec![t]],
            Shape::Result(a, b) | Shape::Either(a, b) => vec![vec![a], vec![b]],
            Shape::Tuple(a, b) => vec![vec![a, b]],
            Shape::Array(t) => vec![vec![t; 3]],
            Shape::Cell => vec![vec![Elem::U32, Elem::I64]],
            Shape::Pointer(_) => vec![vec![Elem::U32]],
        }
    }
}

/// A value with parts: the index of the variant, and its fields.
pub type Made = (usize, Vec<Expr>);

#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    pub op: Op,
    pub args: Vec<Expr>,
}

impl Expr {
    pub fn new(op: Op, args: impl Into<Vec<Expr>>) -> Expr {
        Expr { op, args: args.into() }
    }
    pub fn leaf(op: Op) -> Expr {
        Expr { op, args: Vec::new() }
    }
    pub fn u32(x: u32) -> Expr {
        Expr::leaf(Op::Lit(Elem::U32, u64::from(x)))
    }
    pub fn bin(op: Bin, a: Expr, b: Expr) -> Expr {
        Expr::new(Op::Bin(op), [a, b])
    }
    /// Calls `f` for the expression and all its subexpressions.
    pub fn each(&self, f: &mut impl FnMut(&Expr)) {
        f(self);
        self.args.iter().for_each(|e| e.each(f));
    }
}

/// An operation on an element of shared memory. Each slice or array has only one, so that the order of the operations
/// does not matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fetch {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    /// `let x = …;` or `let mut x: T = …;`
    Let {
        var: usize,
        init: Expr,
    },
    /// `x = …;` or `x op= …;`
    Set {
        var: usize,
        op: Option<Bin>,
        value: Expr,
    },
    /// `out_t[own + k * lanes] = …;`
    Store {
        elem: Elem,
        slot: u32,
        value: Expr,
    },
    /// `ldsK[i] = …;`
    LdsStore {
        array: usize,
        index: Expr,
        value: Expr,
    },
    /// `shared_t.atomic(i).fetch_…(value, …);`
    Shared {
        elem: Elem,
        index: Expr,
        value: Expr,
    },
    /// `ldsK.atomic(i).fetch_…(value, …);`
    LdsAtomic {
        array: usize,
        op: Fetch,
        index: Expr,
        value: Expr,
    },
    /// `ownK[i] = …;`, or `put(&mut ownK, i, …);`
    PrivateStore {
        array: usize,
        lent: bool,
        index: Expr,
        value: Expr,
    },
    If {
        cond: Expr,
        then: Vec<Stmt>,
        els: Vec<Stmt>,
    },
    /// `match value { low..=high => …, _ => … }`: a body for each arm, and one for `_`.
    Match {
        value: Expr,
        arms: Vec<Arm>,
        bodies: Vec<Vec<Stmt>>,
    },
    While {
        cond: Expr,
        body: Vec<Stmt>,
    },
    For {
        var: usize,
        range: Range,
        start: Expr,
        end: Expr,
        body: Vec<Stmt>,
    },
    Loop {
        body: Vec<Stmt>,
    },
    /// `break` out of a loop that is the given number of loops outside the innermost one, which is 0.
    Break(usize),
    Continue(usize),
    Return,
    /// `#[unroll] for x in 0..n`
    Unroll {
        var: usize,
        n: u32,
        body: Vec<Stmt>,
    },
    Barrier,
    /// `let mut objectK = …;` or `objectK = …;`. The assigned value is a value, or `if cond { value } else { value }`.
    Object {
        object: usize,
        new: bool,
        cond: Option<Expr>,
        made: Vec<Made>,
    },
    /// `objectK.field = …;`
    SetMember {
        object: usize,
        field: usize,
        value: Expr,
    },
    /// `for e in objectK.iter_mut() { *e op= …; }`
    Each {
        object: usize,
        op: Bin,
        value: Expr,
    },
    /// `match objectK { … }`, `if let`, or `let` with a pattern: the variables to which the fields of each variant are
    /// bound.
    Take {
        object: usize,
        vars: Vec<Vec<usize>>,
        bodies: Vec<Vec<Stmt>>,
    },
    /// `let x = objectK.step(by);`, or `.twice(by)`
    Step {
        object: usize,
        twice: bool,
        var: usize,
        by: Expr,
    },
    /// `let x: T; if cond { …; x = …; } else { …; x = …; }`
    Later {
        var: usize,
        cond: Expr,
        bodies: Vec<Vec<Stmt>>,
        values: Vec<Expr>,
    },
}

/// The bits of the least and of the largest value of an arm's pattern.
pub type Arm = (u64, u64);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    pub inclusive: bool,
    pub reversed: bool,
    pub step: Option<u8>,
    /// `#[pipeline(stages = n)]`; only if the bounds are uniform.
    pub stages: Option<u8>,
}

/// True if a branch is marked as rarely executed. The choice is arbitrary.
pub fn is_cold(body: &[Stmt]) -> bool {
    body.len() % 3 == 1
}

/// True if a loop with this body is left by `break`.
pub fn has_breaks(body: &[Stmt]) -> bool {
    fn exits(stmts: &[Stmt], level: usize) -> bool {
        stmts.iter().any(|s| match s {
            Stmt::Break(n) => *n == level,
            _ => s.bodies().iter().any(|b| exits(b, level + usize::from(s.is_loop()))),
        })
    }
    exits(body, 0)
}

/// True if a trip of a loop with this body ends by `continue`.
pub fn has_continues(body: &[Stmt]) -> bool {
    fn exits(stmts: &[Stmt], level: usize) -> bool {
        stmts.iter().any(|s| match s {
            Stmt::Continue(n) => *n == level,
            _ => s.bodies().iter().any(|b| exits(b, level + usize::from(s.is_loop()))),
        })
    }
    exits(body, 0)
}

impl Stmt {
    /// The expressions of the statement itself, without those of nested statements.
    pub fn exprs(&self) -> Vec<&Expr> {
        match self {
            Stmt::Let { init: e, .. }
            | Stmt::Set { value: e, .. }
            | Stmt::Store { value: e, .. }
            | Stmt::If { cond: e, .. }
            | Stmt::Match { value: e, .. }
            | Stmt::While { cond: e, .. } => vec![e],
            Stmt::LdsStore { index: a, value: b, .. }
            | Stmt::PrivateStore { index: a, value: b, .. }
            | Stmt::Shared { index: a, value: b, .. }
            | Stmt::LdsAtomic { index: a, value: b, .. }
            | Stmt::For { start: a, end: b, .. } => vec![a, b],
            Stmt::Unroll { .. } | Stmt::Barrier | Stmt::Loop { .. } => Vec::new(),
            Stmt::Break(_) | Stmt::Continue(_) | Stmt::Return | Stmt::Take { .. } => Vec::new(),
            Stmt::Object { cond, made, .. } => {
                cond.iter().chain(made.iter().flat_map(|m| m.1.iter())).collect()
            }
            Stmt::Step { by, .. } => vec![by],
            Stmt::SetMember { value, .. } | Stmt::Each { value, .. } => vec![value],
            Stmt::Later { cond, values, .. } => std::iter::once(cond).chain(values).collect(),
        }
    }

    pub fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Stmt::Let { init: e, .. }
            | Stmt::Set { value: e, .. }
            | Stmt::Store { value: e, .. }
            | Stmt::If { cond: e, .. }
            | Stmt::Match { value: e, .. }
            | Stmt::While { cond: e, .. } => vec![e],
            Stmt::LdsStore { index: a, value: b, .. }
            | Stmt::PrivateStore { index: a, value: b, .. }
            | Stmt::Shared { index: a, value: b, .. }
            | Stmt::LdsAtomic { index: a, value: b, .. }
            | Stmt::For { start: a, end: b, .. } => vec![a, b],
            Stmt::Unroll { .. } | Stmt::Barrier | Stmt::Loop { .. } => Vec::new(),
            Stmt::Break(_) | Stmt::Continue(_) | Stmt::Return | Stmt::Take { .. } => Vec::new(),
            Stmt::Object { cond, made, .. } => {
                cond.iter_mut().chain(made.iter_mut().flat_map(|m| m.1.iter_mut())).collect()
            }
            Stmt::Step { by, .. } => vec![by],
            Stmt::SetMember { value, .. } | Stmt::Each { value, .. } => vec![value],
            Stmt::Later { cond, values, .. } => std::iter::once(cond).chain(values).collect(),
        }
    }

    pub fn bodies(&self) -> Vec<&Vec<Stmt>> {
        match self {
            Stmt::If { then, els, .. } => vec![then, els],
            Stmt::Match { bodies, .. } | Stmt::Take { bodies, .. } | Stmt::Later { bodies, .. } => {
                bodies.iter().collect()
            }
            Stmt::While { body, .. }
            | Stmt::For { body, .. }
            | Stmt::Unroll { body, .. }
            | Stmt::Loop { body } => vec![body],
            _ => Vec::new(),
        }
    }

    pub fn bodies_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Stmt::If { then, els, .. } => vec![then, els],
            Stmt::Match { bodies, .. } | Stmt::Take { bodies, .. } | Stmt::Later { bodies, .. } => {
                bodies.iter_mut().collect()
            }
            Stmt::While { body, .. }
            | Stmt::For { body, .. }
            | Stmt::Unroll { body, .. }
            | Stmt::Loop { body } => vec![body],
            _ => Vec::new(),
        }
    }

    /// True if the statement contains a `return`, or an exit from the enclosing loop number `level` (0 is the
    /// innermost) or from one further out.
    pub fn leaves(&self, level: usize) -> bool {
        let inner = level + usize::from(self.is_loop());
        match self {
            Stmt::Break(n) | Stmt::Continue(n) => *n >= level,
            Stmt::Return => true,
            _ => self.bodies().iter().any(|b| b.iter().any(|s| s.leaves(inner))),
        }
    }

    /// True for loops that `break` can leave.
    pub fn is_loop(&self) -> bool {
        matches!(self, Stmt::While { .. } | Stmt::For { .. } | Stmt::Loop { .. })
    }

    /// Calls `f` for the statement and all nested ones.
    pub fn each(&self, f: &mut impl FnMut(&Stmt)) {
        f(self);
        for body in self.bodies() {
            body.iter().for_each(|s| s.each(f));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VarDecl {
    pub ty: Ty,
    pub mutable: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The number of lanes in a workgroup.
    pub workgroup: u32,
    /// The number of workgroups.
    pub groups: u32,
    /// The types of the variables, by number.
    pub vars: Vec<VarDecl>,
    /// Element types of the LDS arrays.
    pub lds: Vec<Elem>,
    /// Element types of the private arrays. Arrays with even numbers are indexed only by literals, so that they can be
    /// in registers.
    pub private: Vec<Elem>,
    /// The types of the variables with parts, by number.
    pub objects: Vec<Shape>,
    /// The operations on `shared_u32`, `shared_i32`, `shared_u64`, `shared_i64`.
    pub shared: [Fetch; 4],
    /// The kernel's body.
    pub body: Vec<Stmt>,
    /// The seed for the arguments.
    pub data: u64,
}

/// Element types with atomics, in the order of [`Program::shared`].
pub const SHARED: [Elem; 4] = [Elem::U32, Elem::I32, Elem::U64, Elem::I64];

/// The arguments that a program has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Used {
    pub args: u16,
    pub inputs: u16,
    pub outputs: u16,
    pub shared: u16,
    pub pointed: u16,
}

pub fn bit(elem: Elem) -> u16 {
    1 << elem as u16
}

impl Program {
    pub fn lanes(&self) -> u32 {
        self.workgroup * self.groups
    }

    pub fn used(&self) -> Used {
        let mut used = Used::default();
        let mut exprs = |e: &Expr| match e.op {
            Op::Arg(t) => used.args |= bit(t),
            Op::In(t) | Op::Uniform(t) | Op::Part(t, _) | Op::Wide(t, ..) => used.inputs |= bit(t),
            Op::Own(t, _) => used.outputs |= bit(t),
            _ => {}
        };
        self.each(&mut |s| s.exprs().iter().for_each(|e| e.each(&mut exprs)));
        self.each(&mut |s| match s {
            Stmt::Store { elem, .. } => used.outputs |= bit(*elem),
            Stmt::Shared { elem, .. } => used.shared |= bit(*elem),
            Stmt::Object { object, .. } => {
                if let Shape::Pointer(elem) = self.objects[*object] {
                    used.pointed |= bit(elem);
                }
            }
            _ => {}
        });
        used
    }

    pub fn each(&self, f: &mut impl FnMut(&Stmt)) {
        self.body.iter().for_each(|s| s.each(f));
    }

    /// The size of the program, for the reducer and for reports.
    pub fn size(&self) -> usize {
        let mut size = 0;
        self.each(&mut |s| {
            size += 1;
            s.exprs().iter().for_each(|e| e.each(&mut |_| size += 1));
        });
        size
    }
}
