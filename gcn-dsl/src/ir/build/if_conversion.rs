//! If-conversion: a small varying branch that only computes values becomes straight-line code with selects.
//!
//! A varying branch narrows EXEC, runs both sides, and restores EXEC. If the only effect of the sides is to write
//! variables, all lanes may compute both sides and select between the results. The cost model counts instructions. A
//! branch costs the instructions that change EXEC, and a move for each written value that was not computed in the side
//! itself. A select costs one instruction for each dword; it can negate an f32 at no cost. Sides are converted only if
//! they are so short that `lower::skip` would not put a branch around them, since otherwise lanes would execute code
//! that such a branch skips. Copies of the sides' instructions are appended to the current region, so that they are
//! folded and shared with its code.

use gcn_isa::program::SourceLoc;
use hashbrown::HashMap;

use crate::ir::build::Builder;
use crate::ir::{Bin, Effect, Inst, Kernel, Place, Region, Stmt, Type, Un, Value, Variable};
use crate::scalar::Elem;

/// A side with at least this many instructions is not converted; `lower::skip` uses the same limit.
pub(in crate::ir) const BRANCH_FROM: u32 = 10;
/// The number of instructions that save, narrow and restore EXEC: without and with an `else`.
const EXEC_CHANGES: [u32; 2] = [2, 3];

/// The values that the two sides write to a variable.
struct Written {
    var: Variable,
    sides: [Option<Value>; 2],
    loc: Option<SourceLoc>,
}

/// Appends the branch as selects, if that takes fewer instructions. Returns true if it was appended.
pub(in crate::ir) fn run(b: &mut Builder, cond: Value, sides: [&Region; 2]) -> bool {
    let Some(written) = plan(b, sides) else { return false };
    let mut renamed = HashMap::new();
    for stmt in sides.into_iter().flat_map(|side| &side.stmts) {
        if let Stmt::Inst(v) = stmt {
            append(b, *v, &mut renamed);
        }
    }
    let new = |v: Value| renamed.get(&v).copied().unwrap_or(v);
    // Compute all values before writing any variable: one side may read a variable that the other side writes.
    let selected: Vec<Value> = written
        .iter()
        .map(|w| {
            let ty = b.kernel().variables[w.var.0 as usize];
            let [then, els] = w.sides.map(|side| match side {
                Some(v) => Some(new(v)),
                // A joined variable has no value before the branch, so nothing is lost if one side does not write it.
                None if b.is_joined(w.var) => None,
                None => Some(b.read(w.var, w.loc)),
            });
            match (then, els) {
                (Some(then), Some(els)) => b.value(Inst::Select(cond, then, els), ty, w.loc),
                (one, other) => one.or(other).unwrap_or_else(|| unreachable!("a side writes it")),
            }
        })
        .collect();
    for (w, value) in written.iter().zip(selected) {
        b.write(w.var, value, w.loc);
    }
    true
}

/// The variables that a branch writes, with the values; `None` if selects cannot replace the branch or would take more
/// instructions.
fn plan(b: &Builder, sides: [&Region; 2]) -> Option<Vec<Written>> {
    let kernel = b.kernel();
    let (mut written, mut computed, mut moves): (Vec<Written>, u32, u32) = (Vec::new(), 0, 0);
    let mut signs = 0;
    for (number, side) in sides.into_iter().enumerate() {
        let mut of_side: Vec<Value> = Vec::new();
        for stmt in &side.stmts {
            let Stmt::Inst(v) = *stmt else { return None };
            let def = kernel.def(v);
            let Inst::Write { var, value, .. } = def.inst else {
                let cost = cost(kernel, v)?;
                computed += cost;
                if cost > 0 {
                    of_side.push(v);
                }
                continue;
            };
            let ty = kernel.variables[var.0 as usize];
            // A select of lane masks takes three scalar instructions, so masks are not converted. A pinned variable
            // must be written where the user wrote it.
            if ty.place != Place::Varying || ty.elem == Elem::Bool || b.is_pinned(var) {
                return None;
            }
            let sign =
                ty.elem == Elem::F32 && matches!(kernel.def(value).inst, Inst::Un(Un::Neg | Un::Abs, _));
            // `v_cndmask_b32` has source modifiers for signs, so an instruction that only changes a sign becomes
            // unnecessary.
            signs += u32::from(sign && of_side.contains(&value));
            moves += if of_side.contains(&value) { 0 } else { u32::from(ty.dwords()) };
            let at = written.iter().position(|w| w.var == var).unwrap_or_else(|| {
                written.push(Written { var, sides: [None; 2], loc: def.loc });
                written.len() - 1
            });
            written[at].sides[number] = Some(value);
        }
        if computed >= BRANCH_FROM {
            return None;
        }
    }
    let dwords = |w: &Written| u32::from(kernel.variables[w.var.0 as usize].dwords());
    let selects: u32 = written.iter().map(dwords).sum();
    let exec = EXEC_CHANGES[usize::from(!sides[1].stmts.is_empty())];
    (computed < BRANCH_FROM && selects < moves + signs + exec && !written.is_empty()).then_some(written)
}

/// The number of vector instructions that compute a value which all lanes may compute. A 32-bit product counts as four,
/// since it takes four times as long. `None` if only active lanes may compute the value, or if the cost is unknown.
pub(in crate::ir) fn cost(kernel: &Kernel, v: Value) -> Option<u32> {
    let (def, ty) = (kernel.def(v), kernel.ty(v));
    let word = |ty: Type| ty.count == 1 && matches!(ty.elem, Elem::I32 | Elem::U32 | Elem::F32 | Elem::F16);
    let varying = ty.place == Place::Varying;
    let two = |ty: Type| ty.count == 1 && matches!(ty.elem, Elem::I64 | Elem::U64);
    match &def.inst {
        Inst::Bin(Bin::Add | Bin::Sub | Bin::And | Bin::Or | Bin::Xor, ..) | Inst::Select(..)
            if two(ty) && varying =>
        {
            Some(2)
        }
        Inst::Cmp(_, x, _) if two(kernel.ty(*x)) && varying => Some(1),
        Inst::Const(_) | Inst::Splat(_) | Inst::Bitcast(_) | Inst::Extract { .. } | Inst::Read(_) => Some(0),
        Inst::LocalId(_) | Inst::WorkgroupId(_) | Inst::GridSize(_) | Inst::KernArg { .. } => Some(0),
        Inst::Bin(Bin::Div | Bin::Rem | Bin::MulHi, ..) => None,
        Inst::Bin(Bin::Mul, ..) if word(ty) && !ty.elem.is_float() => Some(4),
        Inst::Bin(..) if word(ty) && (varying || !ty.elem.is_float()) => Some(1),
        Inst::Bin(Bin::And | Bin::Or | Bin::Xor, ..) if ty.elem == Elem::Bool => Some(1),
        Inst::Fma(..) if word(ty) && varying => Some(1),
        Inst::Un(Un::Neg | Un::Not | Un::Abs | Un::Floor | Un::Ceil | Un::Trunc | Un::Rndne, _)
            if word(ty) && varying =>
        {
            Some(1)
        }
        Inst::Cmp(_, x, _) if word(kernel.ty(*x)) && varying => Some(1),
        Inst::Select(..) if word(ty) && varying => Some(1),
        Inst::Cast(x) if word(ty) && word(kernel.ty(*x)) && varying && kernel.ty(*x).elem.bytes() == 4 => {
            Some(if kernel.ty(*x).elem.is_float() { 2 } else { 1 })
        }
        Inst::Machine(call) if call.effect == Effect::Pure && call.results.len() == 1 && varying => Some(1),
        _ => None,
    }
}

/// Appends a copy of an instruction of a side or of a loop's body. Operands that have been copied before are replaced
/// by their copies.
pub(in crate::ir) fn append(b: &mut Builder, v: Value, renamed: &mut HashMap<Value, Value>) {
    let def = b.kernel().def(v).clone();
    let Some(ty) = def.ty else { return };
    let new = match def.inst {
        Inst::Read(var) => b.read(var, def.loc),
        _ if b.is_undefined(v) => b.undefined(ty),
        mut inst => {
            inst.operands_mut(|operand| *operand = renamed.get(operand).copied().unwrap_or(*operand));
            b.value(inst, ty, def.loc)
        }
    };
    renamed.insert(v, new);
}
