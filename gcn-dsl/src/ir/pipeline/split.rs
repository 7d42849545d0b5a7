//! Splits a trip at its first matrix product, for loops whose waves share a compute unit with those of another
//! workgroup.
//!
//! Waves of two workgroups take turns at the matrix pipe: the time that one wave needs for everything but its products
//! must not exceed the time of the other's products. So a wave computes the addresses of the next trip's loads among
//! its products, and starts its products only when all its factors have been requested, because a wave that waits
//! between two products loses the pipe to the other wave.

use hashbrown::HashSet;

use super::super::{Kernel, Place, Region, Stmt, Value};
use super::Machine;
use super::choose;
use super::order::lds;
use super::plan::{Plan, own};

/// The positions at which the parts of a trip begin.
pub(super) struct Split {
    /// The statement before which the loads of a later trip start.
    pub used_up: usize,
    /// The statement of the first product.
    pub products: usize,
    /// The statement after the second product.
    pub taken: usize,
    /// True if all LDS loads come before the first product and waves of two workgroups alternate.
    pub reads_first: bool,
    /// The values computed in the loop that the loads that run ahead need.
    pub addresses: Vec<Value>,
}

/// The number of registers for intermediate results of address computations.
const ON_THE_WAY: u32 = 3;

/// The positions of the split. `None` unless the loads start before the first product and do not depend on each other,
/// and keeping the addresses in registers does not reduce the number of workgroups on a compute unit.
pub(super) fn of(kernel: &Kernel, machine: Machine, body: &Region, plan: &Plan) -> Option<Split> {
    let used_up = plan.used_up? + 1;
    let is_product = |stmt: &Stmt| match stmt {
        Stmt::Inst(v) => choose::matrix_cycles(&kernel.def(*v).inst, machine.target).is_some(),
        _ => false,
    };
    let mut products = (0..body.stmts.len()).filter(|at| is_product(&body.stmts[*at]));
    let first = products.next()?;
    let taken = products.next().map_or(first, |second| second + 1);
    let loads: HashSet<Value> = plan.loads.iter().copied().collect();
    let mut needs_load = false;
    let mut addresses = Vec::new();
    for v in own(body).filter(|v| plan.slice.contains(v)) {
        kernel.def(v).inst.operands(|operand| {
            needs_load |= loads.contains(&operand);
            if loads.contains(&v) && plan.slice.contains(&operand) && !addresses.contains(&operand) {
                addresses.push(operand);
            }
        });
    }
    let varying = addresses.iter().filter(|v| kernel.ty(**v).place != Place::Uniform).count() as u32;
    let groups = |more| choose::groups(kernel, machine, body, plan, more);
    let with = groups(varying + ON_THE_WAY);
    let mut late = false;
    body.stmts[first..].iter().for_each(|stmt| each(stmt, &mut |v| late |= lds(kernel, v).is_some()));
    let fits = used_up <= first && !needs_load && with == groups(0);
    fits.then_some(Split { used_up, products: first, taken, reads_first: !late && with == 2, addresses })
}

/// Calls `f` for the instruction of a statement, or for all instructions inside it.
fn each(stmt: &Stmt, f: &mut impl FnMut(Value)) {
    match stmt {
        Stmt::Inst(v) => f(*v),
        _ => stmt.regions().into_iter().for_each(|region| region.each_inst(f)),
    }
}
