//! MODE.FP16_OVFL: an f16 result that overflows becomes the largest finite number of the same sign. A result that is infinite because of an
//! infinite operand or a division by zero stays infinite (LLVM AMDGPU guide, `compute_pgm_rsrc1`, FP16_OVFL).
//!
//! The mode is rarely used, so instructions are executed as if it were off, and infinite results of finite operands are replaced
//! afterwards.

use super::mix;
use super::packed;
use super::read::Fetch;
use super::write::write_mask;
use crate::core::fault::{Fault, Outcome};
use crate::core::machine::{Cx, Exec, Step};
use crate::core::operand::Src;
use crate::core::overflow::Form;
use crate::core::value::{LANES, Ty};

const INFINITE: u32 = 0x7c00;
const GREATEST: u32 = 0x7bff;

/// Executes an instruction with FP16_OVFL set.
pub(crate) fn run(cx: &mut Cx<'_>, s: &Step, form: Form, exec: &dyn Exec) -> Outcome {
    let kept = infinite(cx, s, form)?;
    let mask = write_mask(cx, s);
    let next = exec.run(cx, s)?;
    let register = &mut cx.w.v[usize::from(s.vdst)];
    for (half, kept) in kept.into_iter().enumerate().filter(|(half, _)| written(s, form, *half)) {
        let shift = 16 * half as u32;
        for (lane, word) in register.iter_mut().enumerate() {
            let overflows = *word >> shift & 0x7fff == INFINITE && (mask & !kept) >> lane & 1 == 1;
            if overflows {
                *word ^= (INFINITE ^ GREATEST) << shift;
            }
        }
    }
    Ok(next)
}

/// Masks of the lanes whose result may legitimately be infinite, for the low and the high half of the destination.
fn infinite(cx: &Cx<'_>, s: &Step, form: Form) -> Result<[u64; 2], Fault> {
    let is_infinite = |bits: u32| bits & 0x7fff == INFINITE;
    let mut kept = [0; 2];
    for i in (0..3).filter(|i| s.src[*i] != Src::None) {
        let both = match form {
            Form::FromInteger => [0; 2],
            Form::Half { except } if except == Some(i) => [0; 2],
            Form::Half { .. } => [lanes(&operand(cx, s, i, Ty::F16)?, |x| is_infinite(*x)); 2],
            Form::Reciprocal => {
                [lanes(&operand(cx, s, i, Ty::F16)?, |x| is_infinite(*x) || x & 0x7fff == 0); 2]
            }
            Form::FromSingle => {
                [lanes(&operand(cx, s, i, Ty::F32)?, |x| f32::from_bits(*x).is_infinite()); 2]
            }
            Form::Mixed(_) => [lanes(&mix::source(cx, s, i, mix::Halves::F16)?, |x| x.is_infinite()); 2],
            Form::Packed => {
                let halves = packed::sources(cx, s, true)?[i].map(|x| packed::pick(s, i, x));
                [0, 1].map(|half| lanes(&halves, |pair| is_infinite(pair[half].into())))
            }
        };
        kept.iter_mut().zip(both).for_each(|(kept, both)| *kept |= both);
    }
    Ok(kept)
}

fn operand(cx: &Cx<'_>, s: &Step, i: usize, ty: Ty) -> Result<[u32; LANES], Fault> {
    u32::fetch(cx, s, i, ty, &mut [0; LANES]).copied()
}

fn lanes<T>(values: &[T; LANES], is: impl Fn(&T) -> bool) -> u64 {
    values.iter().enumerate().fold(0, |mask, (lane, value)| mask | u64::from(is(value)) << lane)
}

/// True if the instruction writes this half of its destination as an f16.
fn written(s: &Step, form: Form, half: usize) -> bool {
    let high = half == 1;
    match form {
        Form::Packed => true,
        Form::Mixed(upper) => high == upper,
        _ => match (s.inst.mods.sdwa, s.half) {
            // The whole register or one of its words is written; a byte of an f16 is not an f16.
            (Some(sdwa), _) => matches!((sdwa.dst_sel, high), (4 | 6, false) | (5, true)),
            (None, Some(kept)) => high == (kept == 1),
            (None, None) => !high,
        },
    }
}
