//! Handles SCC as a result of machine instructions that the kernel names: finds which of these results are used, and
//! which of them are still in SCC at their reader.

use hashbrown::{HashMap, HashSet};

use crate::ir::{Call, Inst, Kernel, Region, Stmt, Type, Value};

/// For each SCC result that is used, the value that stands for it.
pub(super) fn scc_results(kernel: &Kernel) -> HashMap<(Value, u8), Value> {
    let mut found = HashMap::new();
    kernel.body.each_inst(&mut |v| {
        if let Inst::Result { of, index } = kernel.def(v).inst {
            found.insert((of, index), v);
        }
    });
    found
}

/// The SCC results whose only reader is the next call, so that SCC is still unchanged there and no copy is needed.
pub(super) fn scc_follows(kernel: &Kernel) -> HashSet<Value> {
    let mut uses: HashMap<Value, u32> = HashMap::new();
    let mut count = |v: Value| *uses.entry(v).or_insert(0) += 1;
    kernel.body.each_inst(&mut |v| kernel.def(v).inst.operands(&mut count));
    conditions(&kernel.body, &mut count);
    let mut found = HashSet::new();
    pairs(kernel, &kernel.body, &mut |scc| {
        if uses.get(&scc) == Some(&1) {
            found.insert(scc);
        }
    });
    found
}

fn conditions(region: &Region, f: &mut impl FnMut(Value)) {
    for stmt in &region.stmts {
        stmt.condition().into_iter().for_each(&mut *f);
        stmt.regions().into_iter().for_each(|region| conditions(region, f));
    }
}

/// Calls `f` for each SCC result that the next call in the region reads.
fn pairs(kernel: &Kernel, region: &Region, f: &mut impl FnMut(Value)) {
    let mut last: Option<Value> = None;
    for stmt in &region.stmts {
        match stmt {
            Stmt::Inst(v) => match &kernel.def(*v).inst {
                Inst::Machine(call) => {
                    if let (Some(last), Some(scc)) = (last, call.scc)
                        && is_scc_of(kernel, scc, last)
                    {
                        f(scc);
                    }
                    last = Some(*v);
                }
                // These emit no instruction, so they cannot write SCC.
                Inst::Result { .. } | Inst::Const(_) => {}
                _ => last = None,
            },
            other => {
                other.regions().into_iter().for_each(|region| pairs(kernel, region, f));
                last = None;
            }
        }
    }
}

/// True if `scc` is the SCC result of the call `of`, which is its last result.
fn is_scc_of(kernel: &Kernel, scc: Value, of: Value) -> bool {
    let Inst::Machine(call) = &kernel.def(of).inst else { return false };
    let last = call.results.len() as u8;
    match kernel.def(scc).inst {
        Inst::Result { of: from, index } => from == of && index + 1 == last && is_scc(call),
        _ => scc == of && last == 1 && is_scc(call),
    }
}

/// True if the call's last result is SCC, that is, a uniform `bool`.
fn is_scc(call: &Call) -> bool {
    call.results.last() == Some(&Type::uniform(crate::scalar::Elem::Bool))
}
