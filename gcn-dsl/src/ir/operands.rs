//! The operands of an instruction, for reading and for modification. Both visitors are generated from a single list.
//!
//! The visitors take `dyn` closures: the list is long, and compiling a copy of it for each closure type would take too
//! long.

use super::{Arg, Atomic, Call, Inst, Memory, Value};

/// Defines one kind of visitor: `each` with `&Value`, or `each_mut` with `&mut Value`.
macro_rules! visitors {
    ($each:ident $($mutable:tt)?) => {
        impl Memory {
            fn $each(& $($mutable)? self, f: &mut dyn FnMut(& $($mutable)? Value)) {
                match self {
                    Memory::Buffer(v) | Memory::Global(v) | Memory::Lanes(v) => f(v),
                    Memory::Lds(_) | Memory::Private(_) => {}
                }
            }
        }

        impl Atomic {
            fn $each(& $($mutable)? self, f: &mut dyn FnMut(& $($mutable)? Value)) {
                self.memory.$each(f);
                f(& $($mutable)? self.offset);
                for v in [& $($mutable)? self.value, & $($mutable)? self.expected].into_iter().flatten() {
                    f(v);
                }
            }
        }

        impl Call {
            fn $each(& $($mutable)? self, f: &mut dyn FnMut(& $($mutable)? Value)) {
                for arg in & $($mutable)? self.args {
                    if let Arg::Value(v) = arg {
                        f(v);
                    }
                }
                let implicit = [
                    & $($mutable)? self.old,
                    & $($mutable)? self.scc,
                    & $($mutable)? self.vcc,
                    & $($mutable)? self.m0,
                ];
                for v in implicit.into_iter().flatten() {
                    f(v);
                }
            }
        }

        impl Inst {
            fn $each(& $($mutable)? self, f: &mut dyn FnMut(& $($mutable)? Value)) {
                match self {
                    Inst::Const(_)
                    | Inst::KernArg { .. }
                    | Inst::Constants
                    | Inst::WorkgroupId(_)
                    | Inst::GridSize(_)
                    | Inst::LocalId(_)
                    | Inst::Read(_)
                    | Inst::Barrier
                    | Inst::Fence { .. }
                    | Inst::Schedule(_)
                    | Inst::LaneId => {}
                    Inst::Splat(a)
                    | Inst::Un(_, a)
                    | Inst::Cast(a)
                    | Inst::Bitcast(a)
                    | Inst::Extract { from: a, .. }
                    | Inst::Write { value: a, .. }
                    | Inst::ReadFirstLane(a)
                    | Inst::Ballot(a)
                    | Inst::Result { of: a, .. } => f(a),
                    Inst::Bin(_, a, b)
                    | Inst::Cmp(_, a, b)
                    | Inst::ReadLane(a, b)
                    | Inst::Permute { address: a, value: b }
                    | Inst::LoadUniform { resource: a, offset: b } => {
                        f(a);
                        f(b);
                    }
                    Inst::Fma(a, b, c) | Inst::Select(a, b, c) => {
                        f(a);
                        f(b);
                        f(c);
                    }
                    Inst::Concat(parts) => parts.into_iter().for_each(f),
                    Inst::Load { memory, offset, .. } => {
                        memory.$each(f);
                        f(offset);
                    }
                    Inst::Store { memory, offset, value, .. } => {
                        memory.$each(f);
                        f(offset);
                        f(value);
                    }
                    Inst::Wave(wave) => f(& $($mutable)? wave.value),
                    Inst::Atomic(atomic) => atomic.$each(f),
                    Inst::Machine(call) => call.$each(f),
                }
            }
        }
    };
}
visitors!(each);
visitors!(each_mut mut);

impl Inst {
    /// Calls `f` for each operand.
    pub fn operands(&self, mut f: impl FnMut(Value)) {
        self.each(&mut |v| f(*v));
    }

    /// Calls `f` for each operand; `f` may modify it.
    pub fn operands_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        self.each_mut(&mut f);
    }
}
