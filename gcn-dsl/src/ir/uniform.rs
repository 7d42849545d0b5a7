//! Uniform floats that vector instructions compute.
//!
//! The scalar unit has no floating-point arithmetic: what a kernel computes of uniform floats is computed in vector registers, alike
//! in all lanes, and read back from one lane where a scalar is needed. A variable that takes such results would go back and
//! forth on each trip of a loop; here it becomes a vector register, and each read of it one lane of that.

use super::{Inst, Kernel, Place, Region, Stmt, Type, Value, ValueDef, Variable};
use crate::scalar::Elem;

/// How often [`alike`] looks at all instructions.
const ROUNDS: u32 = 8;

/// Moves uniform float variables to vector registers.
pub fn run(kernel: &mut Kernel) {
    let mut moves = vec![false; kernel.variables.len()];
    kernel.body.each_inst(&mut |v| {
        if let Inst::Write { var, value, .. } = kernel.def(v).inst {
            moves[var.0 as usize] |= is_float(kernel.variables[var.0 as usize]) && is_computed(kernel, value);
        }
    });
    kernel.pins.iter().for_each(|pin| moves[pin.var.0 as usize] = false);
    if !moves.contains(&true) {
        return;
    }
    for (ty, moves) in kernel.variables.iter_mut().zip(&moves) {
        if *moves {
            ty.place = Place::Varying;
        }
    }
    let mut body = std::mem::take(&mut kernel.body);
    region(kernel, &moves, &mut body);
    kernel.body = body;
}

fn is_float(ty: Type) -> bool {
    ty.place == Place::Uniform
        && ty.count == 1
        && matches!(ty.elem, Elem::F16 | Elem::Bf16 | Elem::F32 | Elem::F64)
}

/// True if a vector instruction makes the uniform value.
fn is_computed(kernel: &Kernel, v: Value) -> bool {
    matches!(
        kernel.def(v).inst,
        Inst::Bin(..) | Inst::Fma(..) | Inst::Un(..) | Inst::Cast(_) | Inst::ReadFirstLane(_)
    )
}

fn region(kernel: &mut Kernel, moves: &[bool], region_: &mut Region) {
    let mut stmts = Vec::with_capacity(region_.stmts.len());
    for mut stmt in std::mem::take(&mut region_.stmts) {
        stmt.regions_mut().into_iter().for_each(|inner| region(kernel, moves, inner));
        if let Stmt::Inst(v) = stmt {
            before(kernel, moves, v).into_iter().for_each(|new| stmts.push(Stmt::Inst(new)));
        }
        stmts.push(stmt);
    }
    region_.stmts = stmts;
}

/// Makes `v` read or write a vector register, if it is an access of a variable that moves; what comes before it.
fn before(kernel: &mut Kernel, moves: &[bool], v: Value) -> Option<Value> {
    let vector = |var: Variable| {
        let ty = moves[var.0 as usize].then_some(kernel.variables[var.0 as usize])?;
        Some(Type { place: Place::Varying, ..ty })
    };
    let new = Value(kernel.values.len() as u32);
    let (inst, ty, instead) = match kernel.def(v).inst {
        Inst::Read(var) => (Inst::Read(var), vector(var)?, Inst::ReadFirstLane(new)),
        Inst::Write { var, value, keep } => {
            let ty = vector(var)?;
            let inst = match kernel.def(value).inst {
                Inst::Const(bits) => Inst::Const(bits),
                _ => Inst::Splat(value),
            };
            (inst, ty, Inst::Write { var, value: new, keep })
        }
        _ => return None,
    };
    kernel.values.push(ValueDef { inst, ty: Some(ty), loc: kernel.def(v).loc });
    kernel.values[v.0 as usize].inst = instead;
    Some(new)
}

/// By value: all active lanes have the same, although its type does not say so.
pub fn alike(kernel: &Kernel) -> Vec<bool> {
    let mut alike = vec![false; kernel.values.len()];
    // A variable is one that [`run`] moved if all that is written to it is alike, whichever way it is reached.
    let mut variables = vec![true; kernel.variables.len()];
    for round in 0.. {
        let before = variables.clone();
        kernel.body.each_inst(&mut |v| {
            let uniform =
                |v: Value, alike: &[bool]| alike[v.0 as usize] || kernel.ty(v).place == Place::Uniform;
            let def = kernel.def(v);
            alike[v.0 as usize] = match &def.inst {
                Inst::Const(_) => true,
                Inst::Read(var) => variables[var.0 as usize],
                Inst::Write { var, value, keep } => {
                    variables[var.0 as usize] &= !keep && uniform(*value, &alike);
                    false
                }
                inst => {
                    let mut all = copies_alike(kernel, inst);
                    inst.operands(|operand| all &= uniform(operand, &alike));
                    all
                }
            };
        });
        if variables == before {
            break;
        }
        // A chain of variables as long as this is not worth a walk for each of its links.
        if round == ROUNDS {
            variables.fill(false);
        }
    }
    alike
}

/// The instruction makes of operands that are alike in all lanes a result that is.
fn copies_alike(kernel: &Kernel, inst: &Inst) -> bool {
    match inst {
        Inst::Splat(_) | Inst::Bin(..) | Inst::Fma(..) | Inst::Un(..) | Inst::Select(..) => true,
        Inst::Cast(_) | Inst::Bitcast(_) | Inst::Extract { .. } | Inst::Concat(_) | Inst::Cmp(..) => true,
        // Of integers alone some instructions make the lane's number.
        Inst::Machine(call) => {
            let mut float = call.results.iter().any(|ty| ty.elem.is_float());
            inst.operands(|operand| float |= kernel.ty(operand).elem.is_float());
            float && inst.is_pure()
        }
        _ => false,
    }
}
