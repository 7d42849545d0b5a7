//! The table of instruction functions by mnemonic.
//!
//! Each family of instructions adds its functions to one table under the mnemonic without encoding suffix. What an encoding adds (operands,
//! modifiers) is part of the resolved [`Step`] and not of the function.

use std::sync::LazyLock;

use gcn_isa::table::{Class, Entry};
use gcn_isa::{Inst, Target};

use super::op::{Directed, Functions, Op, Ops};
use super::{dual, mem, mfma, scalar, valu, wmma};
use crate::core::machine::Step;
use crate::core::operand::RegisterMap;
use crate::core::value::Ty;

const GRAPHICS: &str = "it belongs to the graphics pipeline, which a compute dispatch does not have";
const NAMED: &str =
    "the simulator has the barrier of the workgroup and no named ones, which compilers use from gfx1250 on";
const CLUSTER: &str = "it is for clusters of workgroups, which the simulator does not have";
const TENSOR: &str = "it is a tensor operation, whose descriptors the simulator does not read";
const NARROW_ROWS: &str = "how lanes exchange elements of 4 and 6 bits is not modelled";
const RAYS: &str = "it is for ray tracing, which the simulator does not do";

const TUPLE_RANDOM: &str = "which random bits each element of a tuple is rounded with is not modelled";
const PAIR_RANDOM: &str = "which random bits each of the two results is rounded with is not modelled";
const SCALE_BYTES: &str = "which byte of the scales `scale_sel` selects for which lanes is not modelled";
const INDEX: &str =
    "public sources disagree: AMD's emulator returns an exclusive or, others an address for ds_bpermute_b32";
const LOADS_SCALES: &str =
    "it is the first half of a scaled matrix instruction, and means nothing without the second";

/// Refused instructions, by mnemonic, with the reason.
const REFUSED: [(&str, &str); 66] = [
    ("ds_load_tr4_b64", NARROW_ROWS),
    ("ds_load_tr6_b96", NARROW_ROWS),
    ("global_load_tr4_b64", NARROW_ROWS),
    ("global_load_tr6_b96", NARROW_ROWS),
    ("v_cvt_scalef32_sr_pk8_fp8_bf16", TUPLE_RANDOM),
    ("v_cvt_scalef32_sr_pk8_fp8_f16", TUPLE_RANDOM),
    ("v_cvt_scalef32_sr_pk8_fp8_f32", TUPLE_RANDOM),
    ("v_cvt_scalef32_sr_pk8_bf8_bf16", TUPLE_RANDOM),
    ("v_cvt_scalef32_sr_pk8_bf8_f16", TUPLE_RANDOM),
    ("v_cvt_scalef32_sr_pk8_bf8_f32", TUPLE_RANDOM),
    ("v_cvt_scalef32_sr_pk8_fp4_bf16", TUPLE_RANDOM),
    ("v_cvt_scalef32_sr_pk8_fp4_f16", TUPLE_RANDOM),
    ("v_cvt_scalef32_sr_pk8_fp4_f32", TUPLE_RANDOM),
    ("v_cvt_scalef32_sr_pk16_fp6_bf16", TUPLE_RANDOM),
    ("v_cvt_scalef32_sr_pk16_fp6_f16", TUPLE_RANDOM),
    ("v_cvt_scalef32_sr_pk16_fp6_f32", TUPLE_RANDOM),
    ("v_cvt_scalef32_sr_pk16_bf6_bf16", TUPLE_RANDOM),
    ("v_cvt_scalef32_sr_pk16_bf6_f16", TUPLE_RANDOM),
    ("v_cvt_scalef32_sr_pk16_bf6_f32", TUPLE_RANDOM),
    ("v_cvt_sr_pk_bf16_f32", PAIR_RANDOM),
    ("v_cvt_sr_pk_f16_f32", PAIR_RANDOM),
    ("v_cvt_scale_pk8_bf16_bf8", SCALE_BYTES),
    ("v_cvt_scale_pk8_bf16_fp4", SCALE_BYTES),
    ("v_cvt_scale_pk8_bf16_fp8", SCALE_BYTES),
    ("v_cvt_scale_pk8_f16_bf8", SCALE_BYTES),
    ("v_cvt_scale_pk8_f16_fp4", SCALE_BYTES),
    ("v_cvt_scale_pk8_f16_fp8", SCALE_BYTES),
    ("v_cvt_scale_pk8_f32_bf8", SCALE_BYTES),
    ("v_cvt_scale_pk8_f32_fp4", SCALE_BYTES),
    ("v_cvt_scale_pk8_f32_fp8", SCALE_BYTES),
    ("v_cvt_scale_pk16_bf16_bf6", SCALE_BYTES),
    ("v_cvt_scale_pk16_bf16_fp6", SCALE_BYTES),
    ("v_cvt_scale_pk16_f16_bf6", SCALE_BYTES),
    ("v_cvt_scale_pk16_f16_fp6", SCALE_BYTES),
    ("v_cvt_scale_pk16_f32_bf6", SCALE_BYTES),
    ("v_cvt_scale_pk16_f32_fp6", SCALE_BYTES),
    ("v_permlane_idx_gen_b32", INDEX),
    ("v_wmma_ld_scale_paired_b32", LOADS_SCALES),
    ("v_wmma_ld_scale16_paired_b64", LOADS_SCALES),
    ("s_wakeup_barrier", NAMED),
    ("s_barrier_init", NAMED),
    ("s_barrier_join", NAMED),
    ("s_barrier_leave", NAMED),
    ("s_get_barrier_state", NAMED),
    ("cluster_load_async_to_lds_b8", CLUSTER),
    ("cluster_load_async_to_lds_b32", CLUSTER),
    ("cluster_load_async_to_lds_b64", CLUSTER),
    ("cluster_load_async_to_lds_b128", CLUSTER),
    ("cluster_load_b32", CLUSTER),
    ("cluster_load_b64", CLUSTER),
    ("cluster_load_b128", CLUSTER),
    ("tensor_load_to_lds", TENSOR),
    ("tensor_store_from_lds", TENSOR),
    ("tensor_save", TENSOR),
    ("tensor_stop", TENSOR),
    ("ds_add_gs_reg_rtn", GRAPHICS),
    ("ds_sub_gs_reg_rtn", GRAPHICS),
    ("lds_param_load", GRAPHICS),
    ("global_atomic_ordered_add_b64", GRAPHICS),
    ("ds_bvh_stack_rtn_b32", RAYS),
    ("ds_bvh_stack_push8_pop1_rtn_b32", RAYS),
    ("ds_bvh_stack_push8_pop2_rtn_b64", RAYS),
    ("s_code_end", "it stands after the end of code, for tools to find it"),
    (
        "s_alloc_vgpr",
        "a wave that changes its number of VGPRs has to be launched so, which kernels for the HSA runtime cannot ask for",
    ),
    (
        "ds_ordered_count",
        "it counts in the order in which the graphics pipeline launched the waves, which a compute dispatch does not have",
    ),
    (
        "v_mfma_ld_scale_b32",
        "it is the first half of v_mfma_scale_f32_…_f8f6f4, which is known, and means nothing without the second",
    ),
];

/// The reason why `mnemonic` is refused; `None` if it is not.
pub(crate) fn refusal(mnemonic: &str) -> Option<&'static str> {
    REFUSED.iter().find(|r| r.0 == mnemonic).map(|r| r.1)
}

static OPS: LazyLock<Ops> = LazyLock::new(|| {
    let mut ops = Ops::default();
    scalar::add(&mut ops);
    valu::int32::add(&mut ops);
    valu::int16::add(&mut ops);
    valu::int64::add(&mut ops);
    valu::float32::add(&mut ops);
    valu::float16::add(&mut ops);
    valu::float64::add(&mut ops);
    valu::trans::add(&mut ops);
    valu::divide::add(&mut ops);
    valu::convert::add(&mut ops);
    valu::small::add(&mut ops);
    valu::sad::add(&mut ops);
    valu::cmp::add(&mut ops);
    valu::lane::add(&mut ops);
    valu::permlane::add(&mut ops);
    valu::packed::add(&mut ops);
    valu::mix::add(&mut ops);
    valu::dot::add(&mut ops);
    mem::add(&mut ops);
    ops
});

/// The functions of `inst` for rounding to nearest even and for directed rounding. `map` maps registers to slots.
///
/// # Errors
/// The reason, if the simulator does not support the instruction or one of its modifiers.
pub(crate) fn of(inst: &Inst, target: Target, map: &RegisterMap) -> Result<Functions, String> {
    if let Some(halves) = halves(inst, target, map) {
        return halves.map(dual::functions);
    }
    if let Some(exec) = wmma::exec(inst, target) {
        let exec = exec?;
        return Ok((exec.clone(), Some(exec)));
    }
    if inst.desc.is_matrix() {
        let exec = mfma::exec(inst, target)?;
        return Ok((exec.clone(), Some(exec)));
    }
    let missing =
        || refusal(inst.desc.entry.mnemonic).unwrap_or("its semantics are not implemented").to_owned();
    let op = op(inst.desc.entry).ok_or_else(missing)?;
    refuse_unknown_uses(inst, op)?;
    let exec = match &op.saturating {
        Some(saturating) if inst.mods.clamp => saturating.clone(),
        None if inst.mods.clamp && !clamps_when_written(inst, op) => {
            return Err("its result with clamp is not implemented".to_owned());
        }
        _ => op.exec.clone(),
    };
    let directed = match &op.directed {
        Directed::Same => Some(exec.clone()),
        Directed::Own(directed) => Some(directed.clone()),
        Directed::Unknown => None,
    };
    Ok((exec, directed))
}

/// The two halves of a VOPD instruction, each as a step of its own; `None` for other instructions.
///
/// # Errors
/// As [`of`].
pub(crate) fn halves(inst: &Inst, target: Target, map: &RegisterMap) -> Option<Result<[Step; 2], String>> {
    let [x, y] = dual::halves(inst, inst.desc.halves?);
    Some(step(x, target, map).and_then(|x| Ok([x, step(y, target, map)?])))
}

/// A step for an instruction that is not part of a program, such as a half of a VOPD instruction.
fn step(inst: Inst, target: Target, map: &RegisterMap) -> Result<Step, String> {
    let (exec, directed) = of(&inst, target, map)?;
    Ok(Step::resolve(inst, (0, 0), target, map, exec, directed))
}

/// True if `clamp` needs no separate function: the common write-back clamps floats, and conversions to integers saturate anyway.
fn clamps_when_written(inst: &Inst, op: &Op) -> bool {
    let float = op.result.is_none_or(|ty| matches!(ty, Ty::F16 | Ty::F32 | Ty::F64));
    float || inst.desc.does(gcn_isa::table::Behaviours::CONVERTS)
}

/// Refuses modifiers and operands that the functions do not handle.
fn refuse_unknown_uses(inst: &Inst, op: &Op) -> Result<(), String> {
    let mods = &inst.mods;
    if mods.tfe {
        return Err("tfe is not implemented".to_owned());
    }
    let whole = mods.dpp.is_some() || mods.sdwa.is_some() || mods.neg | mods.abs | mods.omod != 0;
    if op.packed && whole {
        return Err("DPP, SDWA, neg, abs and omod of packed operands: no manual says what they do".to_owned());
    }
    if mods.gds && inst.desc.class != Class::Gws {
        return Err(
            "the global data share is handed out by the driver, and compute kernels get none".to_owned()
        );
    }
    Ok(())
}

/// The function of an entry. A half of a VOPD instruction has the function of the corresponding single instruction.
fn op(entry: &Entry) -> Option<&'static Op> {
    OPS.get(if entry.alone.is_empty() { entry.mnemonic } else { entry.alone })
}

/// True if the simulator has a function for the entry.
pub(crate) fn is_known(entry: &Entry) -> bool {
    op(entry).is_some()
}

#[cfg(test)]
mod tests {
    use gcn_isa::table::{self, Access};
    use gcn_isa::target::Family;

    use super::*;

    /// The instruction table marks destinations that are halves of registers, as in LLVM 22 with `real-true16`. A function with a wider
    /// result would overwrite the other half.
    #[test]
    fn what_goes_to_half_a_register_has_sixteen_bits() {
        let mut halves = 0;
        for row in table::rows_of(Family::RDNA).iter().filter(|row| row.is_valu() && row.halves.is_none()) {
            let written = row.operands.iter().find(|operand| operand.access != Access::Read);
            let is_half = written.is_some_and(|operand| row.half_bit(operand).is_some());
            if !(is_half && row.instruction_set().has_half_vgprs()) {
                continue;
            }
            let result = OPS.get(row.entry.mnemonic).and_then(|op| op.result);
            assert!(result.is_none_or(Ty::is_16), "{} {:?}: {result:?}", row.mnemonic, row.format);
            halves += 1;
        }
        assert!(halves > 600, "{halves}");
    }
}
