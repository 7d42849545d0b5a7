//! Mixed-precision multiply-add: each source is an f32 or, if its bit in `op_sel_hi` is set, the f16 or bf16 half that `op_sel` selects.

use super::read::raw32;
use super::write::{clamp_half, clamp_single, write_mask, write32};
use crate::core::fault::{Fault, Next};
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::value::{LANES, Ty};
use crate::fp::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, flush16, flush32, fma16, fma32};
use crate::semantics::op::{Op, Ops};

#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    Single,
    LowHalf,
    HighHalf,
}

/// The type of the halves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Halves {
    F16,
    /// LLVM 22 selects these instructions for multiply-adds of f32 whose result is rounded to bf16.
    Bf16,
}

pub(crate) fn add(ops: &mut Ops) {
    ops.add("v_fma_mix_f32_bf16", mixed(To::Single, Halves::Bf16));
    ops.add("v_fma_mixlo_bf16", mixed(To::LowHalf, Halves::Bf16));
    ops.add("v_fma_mixhi_bf16", mixed(To::HighHalf, Halves::Bf16));
    // The MAD forms of gfx900 are fused as well (MI100 ISA 6.7).
    for name in ["v_fma_mix_f32", "v_mad_mix_f32"] {
        ops.add(name, mixed(To::Single, Halves::F16));
    }
    for name in ["v_fma_mixlo_f16", "v_mad_mixlo_f16"] {
        ops.add(name, mixed(To::LowHalf, Halves::F16));
    }
    for name in ["v_fma_mixhi_f16", "v_mad_mixhi_f16"] {
        ops.add(name, mixed(To::HighHalf, Halves::F16));
    }
}

/// Source `i` widened to f32.
pub(super) fn source(cx: &Cx<'_>, s: &Step, i: usize, halves: Halves) -> Result<[f32; LANES], Fault> {
    let mods = &s.inst.mods;
    let half = mods.op_sel_hi >> i & 1 == 1;
    let upper = mods.op_sel >> i & 1 == 1;
    // In the forms that write a half, the destination is tied as a source, but the computation does not use it.
    let mut lanes = match s.src[i] {
        Src::Const(c) if half && halves == Halves::Bf16 => [c.packed_bf16(); LANES],
        ref src => raw32(cx, src, if half { Ty::F16 } else { Ty::F32 })?,
    };
    if let (0, Some(dpp)) = (i, s.dpp) {
        lanes = dpp.of_words(cx.w.exec(), &lanes);
    }
    let constant = matches!(s.src[i], Src::Const(_));
    let modified = |value: f32| {
        let value = if mods.abs >> i & 1 == 1 { value.abs() } else { value };
        if mods.neg >> i & 1 == 1 { -value } else { value }
    };
    Ok(lanes.map(|x| {
        let value = if half {
            let bits = if upper && !constant { x >> 16 } else { x & 0xffff };
            if halves == Halves::Bf16 {
                return modified(bf16_to_f32(bits as u16));
            }
            let bits = if cx.w.mode.flush_in16_64 { flush16(bits) } else { bits };
            f16_to_f32(bits as u16)
        } else {
            f32::from_bits(if cx.w.mode.flush_in32 { flush32(x) } else { x })
        };
        modified(value)
    }))
}

fn mixed(to: To, halves: Halves) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let source = |i| source(cx, s, i, halves);
        let [a, b, c] = [source(0)?, source(1)?, source(2)?];
        let mode = cx.w.mode;
        let to_half =
            if cx.machine.rounds_mix_twice() { |a, b, c| f32_to_f16(fma32(a, b, c)) } else { fma16 };
        let old = cx.w.v[s.vdst as usize];
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let (a, b, c) = (a[lane], b[lane], c[lane]);
            let half = || {
                if halves == Halves::Bf16 {
                    let x = fma32(a, b, c);
                    return u32::from(f32_to_bf16(if s.inst.mods.clamp {
                        clamp_single(&mode, x)
                    } else {
                        x
                    }));
                }
                let x = u32::from(to_half(a, b, c));
                let x = if s.inst.mods.clamp { clamp_half(&mode, x) } else { x };
                if mode.flush_out16_64 { flush16(x) } else { x }
            };
            out[lane] = match to {
                To::Single => {
                    let x = fma32(a, b, c);
                    let x = if s.inst.mods.clamp { clamp_single(&mode, x) } else { x };
                    if mode.flush_out32 { flush32(x.to_bits()) } else { x.to_bits() }
                }
                To::LowHalf => old[lane] & 0xffff_0000 | half(),
                To::HighHalf => old[lane] & 0xffff | half() << 16,
            };
        }
        let mask = write_mask(cx, s);
        write32(cx, s.vdst, mask, &out);
        Ok(Next::Fall)
    })
    .rounds()
}
