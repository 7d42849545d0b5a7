//! VOPD: two instructions in one, of which both read their sources before either writes its result.

use std::collections::BTreeMap;
use std::sync::Arc;

use gcn_isa::table::{self, ImplicitRegs, InstDesc};
use gcn_isa::target::Family;
use gcn_isa::{Inst, Target, reg};

use super::functions::{self, Functions};
use crate::core::fault::Next;
use crate::core::machine::{Cx, Exec, Step};
use crate::core::operand::{RegisterMap, Src};
use crate::semantics::op::Ops;

pub(crate) fn add(ops: &mut Ops) {
    let rows = table::rows_of(Family::RDNA).iter().filter_map(|row| row.halves);
    let halves: BTreeMap<&str, &str> =
        rows.flatten().map(|half| (half.entry.mnemonic, half.entry.alone)).collect();
    for (half, other) in halves {
        ops.same(half, other);
    }
}

/// The functions of an instruction with these halves.
pub(crate) fn functions(
    inst: &Inst,
    halves: [&'static InstDesc; 2],
    target: Target,
    map: &RegisterMap,
) -> Result<Functions, String> {
    let [x, y] = halves;
    let (of_x, of_y) = inst.operands.split_at(x.operands.len());
    let [x, y] = [half(x, of_x, target, map)?, half(y, of_y, target, map)?];
    let both = |[x, y]: [Arc<Step>; 2], directed: bool| -> Arc<dyn Exec> {
        Arc::new(move |cx: &mut Cx<'_>, _: &Step| {
            let run = |cx: &mut Cx<'_>, half: &Step| match &half.directed {
                Some(exec) if directed => exec.run(cx, half),
                _ => half.exec.run(cx, half),
            };
            // The halves write different registers. The second reads that of the first as it was before.
            let first = usize::from(x.vdst);
            let old = cx.w.v[first];
            run(cx, &x)?;
            let new = std::mem::replace(&mut cx.w.v[first], old);
            let second = run(cx, &y);
            cx.w.v[first] = new;
            second.map(|_| Next::Fall)
        })
    };
    let knows_directed = x.directed.is_some() && y.directed.is_some();
    let steps = [Arc::new(x), Arc::new(y)];
    Ok((both(steps.clone(), false), knows_directed.then(|| both(steps, true))))
}

/// A half as an instruction of its own.
fn half(
    desc: &'static InstDesc,
    operands: &[gcn_isa::Operand],
    target: Target,
    map: &RegisterMap,
) -> Result<Step, String> {
    let inst = Inst::new(desc, operands.iter().copied());
    let (exec, directed) = functions::of(&inst, target, map)?;
    let mut step = Step::resolve(inst, (0, 0), target, map, exec, directed);
    if desc.implicit_reads.contains(ImplicitRegs::VCC) {
        step.src[2] = Src::Scalar(reg::VCC.index);
    }
    Ok(step)
}
