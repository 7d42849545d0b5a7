//! `#[contract]`: a sum or difference with a product as an operand becomes a fused multiply-add, which rounds only
//! once.
//!
//! Product and sum must be in the same region, so that no multiplication moves into a loop. If other instructions read
//! the product as well, the product is still computed; the fused instruction then replaces only the sum, and costs no
//! more than the sum does.

use hashbrown::HashSet;

use super::{Bin, Inst, Kernel, Region, Stmt, Type, Un, Value};
use crate::scalar::Elem;

/// Fuses products and sums in `kernel`. Products that nothing else reads become dead code.
pub fn run(kernel: &mut Kernel) {
    kernel.rewrite(region);
}

fn region(kernel: &mut Kernel, region_: &mut Region) {
    let mut products = HashSet::new();
    region_.rebuild(|mut stmt, out| {
        stmt.regions_mut().into_iter().for_each(|inner| region(kernel, inner));
        if let Stmt::Inst(v) = stmt {
            match kernel.def(v).inst {
                Inst::Bin(Bin::Mul, ..) if is_fused(kernel.ty(v)) => {
                    products.insert(v);
                }
                Inst::Bin(op @ (Bin::Add | Bin::Sub), x, y) => {
                    sum(kernel, &products, (v, op), [x, y], out);
                }
                _ => {}
            }
        }
        out.push(stmt);
    });
}

/// True for types that have a fused multiply-add.
fn is_fused(ty: Type) -> bool {
    ty.count == 1 && matches!(ty.elem, Elem::F16 | Elem::F32 | Elem::F64)
}

/// Fuses a sum that has a product among its operands. If both operands are products, the left one is fused.
fn sum(
    kernel: &mut Kernel,
    products: &HashSet<Value>,
    (v, op): (Value, Bin),
    [x, y]: [Value; 2],
    stmts: &mut Vec<Stmt>,
) {
    let Some(product) = [x, y].into_iter().find(|operand| products.contains(operand)) else { return };
    let Inst::Bin(_, a, b) = kernel.def(product).inst else { return };
    let mut negated =
        |of: Value| kernel.append(Inst::Un(Un::Neg, of), kernel.ty(of), kernel.def(v).loc, stmts);
    let fused = match op {
        Bin::Sub if product == x => Inst::Fma(a, b, negated(y)),
        Bin::Sub => Inst::Fma(negated(a), b, x),
        _ => Inst::Fma(a, b, if product == x { y } else { x }),
    };
    kernel.values[v.0 as usize].inst = fused;
}
