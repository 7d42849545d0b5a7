//! VOPD (dual issue): two operations in one instruction, which both read their sources before either writes its result.

use std::sync::Arc;

use gcn_isa::table::{ImplicitRegs, InstDesc};
use gcn_isa::{Inst, reg};

use super::op::Functions;
use crate::core::fault::Next;
use crate::core::machine::{Cx, Exec, Step};
use crate::core::operand::Src;

/// The two halves of an instruction, each as a separate instruction.
pub(crate) fn halves(inst: &Inst, [x, y]: [&'static InstDesc; 2]) -> [Inst; 2] {
    let (of_x, of_y) = inst.operands.split_at(x.operands.len());
    [Inst::new(x, of_x.iter().copied()), Inst::new(y, of_y.iter().copied())]
}

/// The functions of the instruction that consists of these halves.
pub(crate) fn functions(mut halves: [Step; 2]) -> Functions {
    for half in &mut halves {
        if half.inst.desc.implicit_reads.contains(ImplicitRegs::VCC) {
            half.src[2] = Src::Scalar(reg::VCC.index);
        }
    }
    let both = |[x, y]: [Arc<Step>; 2], directed: bool| -> Arc<dyn Exec> {
        Arc::new(move |cx: &mut Cx<'_>, _: &Step| {
            let run = |cx: &mut Cx<'_>, half: &Step| match &half.directed {
                Some(exec) if directed => exec.run(cx, half),
                _ => half.exec.run(cx, half),
            };
            // The halves write different registers. The second half must read the old value of the first half's destination, so the old
            // value is restored before the second half executes.
            let first = usize::from(x.vdst);
            let old = cx.w.v[first];
            run(cx, &x)?;
            let new = std::mem::replace(&mut cx.w.v[first], old);
            let second = run(cx, &y);
            cx.w.v[first] = new;
            second.map(|_| Next::Fall)
        })
    };
    let knows_directed = halves.iter().all(|half| half.directed.is_some());
    let halves = halves.map(Arc::new);
    (both(halves.clone(), false), knows_directed.then(|| both(halves, true)))
}
