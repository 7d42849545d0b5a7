//! Carries results of a loop's head to the loop's body, which would otherwise compute them again.
//!
//! An operand must be defined in an enclosing region, and the head does not enclose the body. So such a result is
//! written to a variable in the head, and the body reads the variable: in each iteration the head runs before the body,
//! and all lanes that run the body are active in the head. The variable's values in other lanes are not needed.

use hashbrown::HashMap;

use super::super::{Bin, Inst, Kernel, Manner, Place, Type, Value, ValueDef, Variable};
use crate::scalar::Elem;

pub(super) struct Carried {
    /// Pairs: an instruction of a head, and the instruction of the body that it replaces.
    found: Vec<(Value, Value)>,
    /// For each variable, true if its reads must stay, because the user observes them or because a loop that will be
    /// pipelined carries the variable.
    observed: Vec<bool>,
    /// True if there are loops to be pipelined: those must keep their form until then.
    pipelined: bool,
}

impl Carried {
    /// The state before any instruction is numbered.
    pub fn of(kernel: &Kernel) -> Carried {
        let pipelined = !kernel.pipelines.is_empty();
        let mut observed = vec![pipelined; kernel.variables.len()];
        kernel.pins.iter().for_each(|pin| observed[pin.var.0 as usize] = true);
        Carried { found: Vec::new(), observed, pipelined }
    }

    /// True if reads of the variable must stay as they are.
    pub fn is_observed(&self, var: Variable) -> bool {
        self.observed[var.0 as usize]
    }

    /// Records that the value `v` of a loop's body equals the value `first` of its head, if keeping `first` costs less
    /// than computing it again. Returns true if it was recorded.
    pub fn add(&mut self, kernel: &Kernel, first: Value, v: Value) -> bool {
        let pays = !self.pipelined && is_work(kernel, first);
        if pays {
            self.found.push((first, v));
        }
        pays
    }

    /// Declares the variables. Returns, for each carried instruction of a head, the write to insert after it.
    pub fn apply(self, kernel: &mut Kernel) -> HashMap<Value, Value> {
        let mut variables: HashMap<Value, Variable> = HashMap::new();
        let mut writes = HashMap::new();
        for (first, v) in self.found {
            let loc = kernel.def(first).loc;
            let var = *variables.entry(first).or_insert_with(|| {
                let var = Variable(kernel.variables.len() as u32);
                kernel.variables.push(kernel.ty(first));
                writes.insert(first, Value(kernel.values.len() as u32));
                let inst = Inst::Write { var, value: first, keep: false };
                kernel.values.push(ValueDef { inst, ty: None, loc });
                var
            });
            kernel.values[v.0 as usize].inst = Inst::Read(var);
        }
        writes
    }
}

/// True for a result in one register that takes a separate instruction to compute. Parts of addresses, conditions and
/// constants are excluded, because they are folded into the instructions that use them.
fn is_work(kernel: &Kernel, v: Value) -> bool {
    let ty = kernel.ty(v);
    let one = ty.place == Place::Varying && ty.dwords() == 1 && ty.elem != Elem::Bool;
    let counts = |ty: Type| !matches!(ty.elem, Elem::I32 | Elem::U32) || ty.count != 1;
    one && match kernel.def(v).inst {
        Inst::Bin(Bin::Mul | Bin::MulHi, ..)
        | Inst::Fma(..)
        | Inst::Un(..)
        | Inst::Load { manner: Manner::Plain, .. } => true,
        Inst::Bin(..) | Inst::Select(..) => counts(ty),
        _ => false,
    }
}
