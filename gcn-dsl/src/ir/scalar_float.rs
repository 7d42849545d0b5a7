//! Operations on uniform floats for which the target has scalar instructions (RDNA 3.5 and later).
//!
//! The scalar ALU adds, multiplies, rounds, compares and converts f32 and f16; on RDNA 4 the transcendental unit also
//! reads and writes scalars. The instruction table says which of these operations a target has.

use gcn_isa::{Target, table};

use super::{Bin, Inst, Kernel, Pred, Un, Value};
use crate::scalar::Elem;

/// The table's name of the scalar instruction that computes the uniform float `v`. If several instructions are needed,
/// the name of the last one. `None` if the vector ALU has to compute `v`.
pub fn operation(kernel: &Kernel, target: Target, v: Value) -> Option<String> {
    let elem = kernel.ty(v).elem;
    let name = match kernel.def(v).inst {
        Inst::Bin(op, ..) => {
            let stem = match op {
                Bin::Add => "add",
                Bin::Sub => "sub",
                Bin::Mul => "mul",
                Bin::Min => "min",
                Bin::Max => "max",
                _ => return None,
            };
            of("s", stem, elem)?
        }
        Inst::Fma(..) => of("s", "fmac", elem)?,
        Inst::Un(op, _) => match op {
            Un::Floor => of("s", "floor", elem)?,
            Un::Ceil => of("s", "ceil", elem)?,
            Un::Trunc => of("s", "trunc", elem)?,
            Un::Rndne => of("s", "rndne", elem)?,
            Un::Sqrt => of("v_s", "sqrt", elem)?,
            Un::Rcp => of("v_s", "rcp", elem)?,
            Un::Rsq => of("v_s", "rsq", elem)?,
            Un::Exp2 => of("v_s", "exp", elem)?,
            Un::Log2 => of("v_s", "log", elem)?,
            // Every target has the scalar integer instructions that do this. They pay if the result need not go to the
            // vector ALU anyway, that is, on targets with scalar floating-point arithmetic.
            Un::Neg | Un::Abs => return exists(target, &of("s", "add", elem)?).then(|| bits(op).to_owned()),
            _ => return None,
        },
        Inst::Cast(x) => return conversion(target, kernel.ty(x).elem, elem),
        _ => return None,
    };
    exists(target, &name).then_some(name)
}

/// True if vector instructions take fewer instructions for `v` than scalar ones, where only vector instructions read it: its sign is a
/// modifier of theirs, and a scalar multiply-add replaces its addend, which has to be copied before.
///
/// Other operations stay scalar even then: by vector instructions, kernels of `examples/tests/compared` execute fewer instructions on gfx1151
/// and gfx1201, which VOPD combines, but take up to 11% more cycles in the timed simulator, as the scalar unit works beside the vector ALU.
pub fn is_cheaper_in_vector(kernel: &Kernel, v: Value) -> bool {
    matches!(kernel.def(v).inst, Inst::Un(Un::Neg | Un::Abs, _) | Inst::Fma(..))
}

/// The name of the scalar instruction that compares two floats; `None` if the target has none.
pub fn comparison(target: Target, pred: Pred, elem: Elem) -> Option<String> {
    let stem = match pred {
        Pred::Lt => "cmp_lt",
        Pred::Le => "cmp_le",
        Pred::Gt => "cmp_gt",
        Pred::Ge => "cmp_ge",
        Pred::Eq => "cmp_eq",
        // `!=` is true if an operand is a NaN, as for this instruction.
        Pred::Ne => "cmp_neq",
    };
    of("s", stem, elem).filter(|name| exists(target, name))
}

/// The name of the last instruction that converts a number, if one of the two types is a float and scalar instructions
/// do the conversion; `None` otherwise. Conversions between integers and f16 go through f32.
fn conversion(target: Target, from: Elem, to: Elem) -> Option<String> {
    let float = |elem| matches!(elem, Elem::F16 | Elem::F32);
    let integer = |elem: Elem| !elem.is_float() && elem != Elem::Bool && elem.bytes() <= 4;
    let name = match (from, to) {
        _ if from == to => return None,
        (Elem::Bool, _) if float(to) => {
            return exists(target, &of("s", "add", to)?).then(|| "s_cselect_b32".to_owned());
        }
        _ if float(from) && float(to) => format!("s_cvt_{to}_{from}"),
        _ if integer(from) && to == Elem::F32 => format!("s_cvt_f32_{}", word(from)),
        _ if integer(from) && to == Elem::F16 => "s_cvt_f16_f32".to_owned(),
        _ if float(from) && integer(to) => format!("s_cvt_{}_f32", word(to)),
        _ => return None,
    };
    exists(target, &name).then_some(name)
}

/// The integer type in the names of conversions: i32 or u32 for any integer of up to 32 bits.
pub fn word(elem: Elem) -> Elem {
    if elem.is_signed() { Elem::I32 } else { Elem::U32 }
}

/// The bitwise instruction that flips or clears the sign bit.
fn bits(op: Un) -> &'static str {
    if op == Un::Neg { "s_xor_b32" } else { "s_and_b32" }
}

fn of(unit: &str, stem: &str, elem: Elem) -> Option<String> {
    matches!(elem, Elem::F16 | Elem::F32).then(|| format!("{unit}_{stem}_{elem}"))
}

fn exists(target: Target, name: &str) -> bool {
    table::find_operation(target, name).next().is_some()
}
