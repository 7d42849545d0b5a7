//! Keeps uniform floats that vector instructions compute in vector registers.
//!
//! Before RDNA 3.5 the scalar unit has no floating-point arithmetic, and later ones lack some of it ([`scalar_float`]).
//! A uniform float that the scalar unit cannot compute is computed in a vector register, equal in all lanes, and read
//! back from one lane where a scalar is needed. A variable that receives only such results would move to scalar
//! registers and back in each trip of a loop. This pass keeps the variable in a vector register, and each scalar read
//! of it reads one lane.

use gcn_isa::Target;

use super::{Inst, Kernel, Place, Region, Stmt, Type, Value, ValueDef, Variable, scalar_float};
use crate::scalar::Elem;

/// The largest number of rounds in [`alike`].
const ROUNDS: u32 = 8;

/// Moves uniform float variables to vector registers.
pub fn run(kernel: &mut Kernel, target: Target) {
    let mut moves = vec![false; kernel.variables.len()];
    let mut stays = moves.clone();
    let in_vector = in_vector(kernel, target);
    kernel.body.each_inst(&mut |v| {
        if let Inst::Write { var, value, .. } = kernel.def(v).inst
            && is_float(kernel.variables[var.0 as usize])
            && is_computed(kernel, value)
        {
            let list = if in_vector[value.0 as usize] { &mut moves } else { &mut stays };
            list[var.0 as usize] = true;
        }
    });
    moves.iter_mut().zip(&stays).for_each(|(moves, stays)| *moves &= !stays);
    // Pinned variables must be in the scalar registers that the user chose.
    kernel.pins.iter().for_each(|pin| moves[pin.var.0 as usize] = false);
    if !moves.contains(&true) {
        return;
    }
    for (ty, moves) in kernel.variables.iter_mut().zip(&moves) {
        if *moves {
            ty.place = Place::Varying;
        }
    }
    kernel.rewrite(|kernel, body| region(kernel, &moves, body));
}

/// For each value, whether it is a uniform one that the vector ALU computes: it has to; or only vector instructions read the value, and a
/// vector instruction is cheaper; or all that it is computed from is in vector registers already, so that a scalar instruction would first
/// have to read them back.
pub fn in_vector(kernel: &Kernel, target: Target) -> Vec<bool> {
    let mut order = Vec::new();
    kernel.body.each_inst(&mut |v| order.push(v));
    let computed = |v: Value| is_computed(kernel, v) && kernel.ty(v).place == Place::Uniform;
    let mut in_vector = vec![false; kernel.values.len()];
    let (mut read, mut read_as_scalar) = (in_vector.clone(), in_vector.clone());
    // Backwards, as readers follow what they read.
    for v in order.iter().copied().rev() {
        let at = v.0 as usize;
        in_vector[at] = computed(v)
            && (scalar_float::operation(kernel, target, v).is_none()
                || read[at] && !read_as_scalar[at] && scalar_float::is_cheaper_in_vector(kernel, v));
        let varying = kernel.def(v).ty.is_some_and(|ty| ty.place == Place::Varying);
        let scalar = !in_vector[at] && !varying;
        kernel.def(v).inst.operands(|operand| {
            read[operand.0 as usize] = true;
            read_as_scalar[operand.0 as usize] |= scalar;
        });
    }
    for v in order.into_iter().filter(|v| computed(*v)) {
        let (mut some, mut all) = (false, true);
        kernel.def(v).inst.operands(|operand| {
            if kernel.constant(operand).is_none() {
                some = true;
                all &= in_vector[operand.0 as usize];
            }
        });
        in_vector[v.0 as usize] |= some && all;
    }
    in_vector
}

fn is_float(ty: Type) -> bool {
    ty.place == Place::Uniform
        && ty.count == 1
        && matches!(ty.elem, Elem::F16 | Elem::Bf16 | Elem::F32 | Elem::F64)
}

/// True if an arithmetic instruction computes the uniform value. It is a vector instruction, unless the target has a
/// scalar one.
pub(super) fn is_computed(kernel: &Kernel, v: Value) -> bool {
    matches!(
        kernel.def(v).inst,
        Inst::Bin(..) | Inst::Fma(..) | Inst::Un(..) | Inst::Cast(_) | Inst::ReadFirstLane(_)
    )
}

fn region(kernel: &mut Kernel, moves: &[bool], region_: &mut Region) {
    region_.rebuild(|mut stmt, out| {
        stmt.regions_mut().into_iter().for_each(|inner| region(kernel, moves, inner));
        if let Stmt::Inst(v) = stmt {
            out.extend(before(kernel, moves, v).map(Stmt::Inst));
        }
        out.push(stmt);
    });
}

/// Changes an access to a moved variable to an access to a vector register. Returns the instruction to insert before
/// it, if any.
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

/// For each value, true if its type is varying but it is known to be equal in all active lanes.
pub fn alike(kernel: &Kernel) -> Vec<bool> {
    let mut alike = vec![false; kernel.values.len()];
    // Start optimistically, with all variables equal in all lanes, and iterate down to the greatest fixpoint.
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
        // A chain of variables takes one round per link. If the chain is longer than the limit, assume nothing about
        // any variable, which is safe.
        if round == ROUNDS {
            variables.fill(false);
        }
    }
    alike
}

/// True if the result is equal in all lanes whenever the operands are.
fn copies_alike(kernel: &Kernel, inst: &Inst) -> bool {
    match inst {
        Inst::Splat(_) | Inst::Bin(..) | Inst::Fma(..) | Inst::Un(..) | Inst::Select(..) => true,
        Inst::Cast(_) | Inst::Bitcast(_) | Inst::Extract { .. } | Inst::Concat(_) | Inst::Cmp(..) => true,
        // Some machine instructions on integers compute the lane's number, so only instructions on floats qualify.
        Inst::Machine(call) => {
            let mut float = call.results.iter().any(|ty| ty.elem.is_float());
            inst.operands(|operand| float |= kernel.ty(operand).elem.is_float());
            float && inst.is_pure()
        }
        _ => false,
    }
}
