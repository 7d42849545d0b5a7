//! VOPD (dual issue): two operations in one instruction, which both read their sources before either writes its result.

use std::sync::Arc;

use gcn_isa::table::{ImplicitRegs, InstDesc, Modifiers};
use gcn_isa::{Inst, Operand, reg};

use super::op::Functions;
use crate::core::fault::Next;
use crate::core::machine::{Cx, Exec, Step};
use crate::core::operand::{Const, Src};
use crate::core::wave::Lanes;

/// The two halves of an instruction, each as a separate instruction.
pub(crate) fn halves(inst: &Inst, [x, y]: [&'static InstDesc; 2]) -> [Inst; 2] {
    let (of_x, of_y) = inst.operands.split_at(x.operands.len());
    let half = |desc: &'static InstDesc, operands: &[Operand], neg: u8| {
        Inst::new(desc, operands.iter().copied())
            .with(|mods| (mods.neg, mods.bitop3) = (neg, inst.mods.bitop3))
    };
    // The bits of the second half come after those of the first one's three sources.
    [half(x, of_x, inst.mods.neg & 7), half(y, of_y, inst.mods.neg >> 3)]
}

/// The functions of the instruction that consists of these halves.
pub(crate) fn functions(mut halves: [Step; 2]) -> Functions {
    for half in &mut halves {
        if half.inst.desc.implicit_reads.contains(ImplicitRegs::VCC) {
            half.src[2] = Src::Scalar(reg::VCC.index);
        }
        // The third source of a truth table, which VOPD3 has not, is 0: LLVM 22 writes 0x40 for `and` and 0x14 for `xor`.
        if half.inst.desc.modifiers.contains(Modifiers::BITOP3) && half.src[2] == Src::None {
            half.src[2] = Src::Const(Const::literal(0));
        }
    }
    let both = |[x, y]: [Arc<Step>; 2], directed: bool| -> Arc<dyn Exec> {
        // The result of the first half, which has one or two registers (`v_dual_add_f64`).
        let first = usize::from(x.vdst);
        let result = x.inst.writes().iter().find_map(|used| used.operand.map(|_| usize::from(used.reg.len)));
        let words = result.unwrap_or(1);
        Arc::new(move |cx: &mut Cx<'_>, _: &Step| {
            let run = |cx: &mut Cx<'_>, half: &Step| match &half.directed {
                Some(exec) if directed => exec.run(cx, half),
                _ => half.exec.run(cx, half),
            };
            // The halves write different registers. The second half must read the old values of the first half's destination, so they
            // are restored before the second half executes.
            let mut other = [cx.w.v[first], cx.w.v[first + words - 1]];
            run(cx, &x)?;
            let swap = |v: &mut [Lanes], other: &mut [Lanes]| {
                v[first..first + words].swap_with_slice(&mut other[..words]);
            };
            swap(&mut cx.w.v, &mut other);
            let second = run(cx, &y);
            swap(&mut cx.w.v, &mut other);
            second?;
            Ok(Next::Fall)
        })
    };
    let knows_directed = halves.iter().all(|half| half.directed.is_some());
    let halves = halves.map(Arc::new);
    (both(halves.clone(), false), knows_directed.then(|| both(halves, true)))
}
