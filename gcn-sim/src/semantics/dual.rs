//! VOPD: two instructions in one, of which both read their sources before either writes its result.

use std::sync::Arc;

use gcn_isa::table::{ImplicitRegs, InstDesc};
use gcn_isa::{Inst, Target, reg};

use super::functions::{self, Functions};
use crate::core::fault::Next;
use crate::core::machine::{Cx, Exec, Step};
use crate::core::operand::{RegisterMap, Src};
use crate::semantics::op::Ops;

/// Each half with the instruction that does the same.
const HALVES: [(&str, &str); 17] = [
    ("v_dual_fmac_f32", "v_fmac_f32"),
    ("v_dual_fmaak_f32", "v_fmaak_f32"),
    ("v_dual_fmamk_f32", "v_fmamk_f32"),
    ("v_dual_mul_f32", "v_mul_f32"),
    ("v_dual_add_f32", "v_add_f32"),
    ("v_dual_sub_f32", "v_sub_f32"),
    ("v_dual_subrev_f32", "v_subrev_f32"),
    ("v_dual_mul_dx9_zero_f32", "v_mul_legacy_f32"),
    ("v_dual_mov_b32", "v_mov_b32"),
    ("v_dual_cndmask_b32", "v_cndmask_b32"),
    ("v_dual_max_f32", "v_max_f32"),
    ("v_dual_min_f32", "v_min_f32"),
    ("v_dual_dot2acc_f32_f16", "v_dot2c_f32_f16"),
    ("v_dual_dot2acc_f32_bf16", "v_dot2c_f32_bf16"),
    ("v_dual_add_nc_u32", "v_add_u32"),
    ("v_dual_lshlrev_b32", "v_lshlrev_b32"),
    ("v_dual_and_b32", "v_and_b32"),
];

pub(crate) fn add(ops: &mut Ops) {
    for (half, other) in HALVES {
        ops.same(half, other);
    }
}

/// The instruction that does what a half does.
pub(crate) fn same_as(half: &str) -> Option<&'static str> {
    HALVES.iter().find(|row| row.0 == half).map(|row| row.1)
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
