//! Halves of packed registers: 16 bits of a dword, or one of two dwords.

use super::super::patterns::{Byte, bytes_of};
use super::super::{Inst, Kernel, Place, Type, Un, Value};
use crate::scalar::Elem;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Half {
    Const(u32),
    /// The low 16 bits of a one-dword value. In pairs of dwords, the whole value.
    Low(Value),
    /// The high 16 bits of a one-dword value.
    High(Value),
    /// A dword of a value of several dwords.
    Dword(Value, u8),
}

/// True for element types of which a packed instruction processes two dwords.
pub(super) fn is_wide(ty: Type) -> bool {
    ty.place != Place::Acc && ty.count == 1 && ty.elem == Elem::F32
}

impl Half {
    /// The half for a value of one element.
    pub fn of(kernel: &Kernel, v: Value) -> Half {
        if is_wide(kernel.ty(v)) { Half::of_dword(kernel, v) } else { Half::of_word(kernel, v) }
    }

    /// The half for a dword.
    pub fn of_dword(kernel: &Kernel, v: Value) -> Half {
        if let Some(bits) = kernel.constant(v) {
            return Half::Const(bits as u32);
        }
        let (mut low, mut from) = (v, v);
        loop {
            match kernel.def(from).inst {
                Inst::Bitcast(of) if kernel.ty(of).dwords() == 1 => (low, from) = (of, of),
                // A vector instruction can read scalar registers directly, so look through the conversion to varying.
                Inst::Splat(of) if matches!(kernel.def(of).inst, Inst::Extract { .. }) => from = of,
                Inst::Extract { from, dword } if kernel.ty(from).place != Place::Acc => {
                    return Half::Dword(original(kernel, from), dword);
                }
                _ => return Half::Low(low),
            }
        }
    }

    /// The half for the low 16 bits of a one-dword value.
    fn of_word(kernel: &Kernel, v: Value) -> Half {
        let mut v = v;
        loop {
            if let Some(bits) = kernel.constant(v) {
                return Half::Const(u32::from(bits as u16));
            }
            let [first, second, ..] = match kernel.def(v).inst {
                Inst::Bitcast(of) if kernel.ty(of).dwords() == 1 => {
                    v = of;
                    continue;
                }
                // A conversion between integers keeps the low bits.
                Inst::Cast(of) if kernel.ty(v).is_narrow_integer() && kernel.ty(of).is_varying_word() => {
                    v = of;
                    continue;
                }
                _ => bytes_of(kernel, v),
            };
            let half = Half::from_bytes(first, second);
            match half {
                Some(Half::Low(word)) if word != v => v = word,
                Some(half) => return half.resolved(kernel),
                None => return Half::Low(v),
            }
        }
    }

    /// Both halves of a word; `None` if the word is not composed of two halves.
    pub fn both(kernel: &Kernel, word: Value) -> Option<[Half; 2]> {
        let [a, b, c, d] = bytes_of(kernel, word);
        let halves = [Half::from_bytes(a, b)?, Half::from_bytes(c, d)?];
        Some(halves.map(|half| match half {
            Half::Low(v) if v != word => Half::of_word(kernel, v),
            half => half.resolved(kernel),
        }))
    }

    fn from_bytes(first: Byte, second: Byte) -> Option<Half> {
        match (first, second) {
            (Byte::Is(low), Byte::Is(high)) => Some(Half::Const(u16::from_le_bytes([low, high]).into())),
            (Byte::Of(v, 0), Byte::Of(w, 1)) if v == w => Some(Half::Low(v)),
            (Byte::Of(v, 2), Byte::Of(w, 3)) if v == w => Some(Half::High(v)),
            _ => None,
        }
    }

    /// The same half of the value without bitcasts.
    fn resolved(self, kernel: &Kernel) -> Half {
        match self {
            Half::High(v) => Half::High(original(kernel, v)),
            other => other,
        }
    }

    /// The half without its negation. The flag is true if there was one.
    pub fn without_sign(kernel: &Kernel, v: Value) -> (Half, bool) {
        match Half::of(kernel, v) {
            Half::Low(v) if matches!(kernel.ty(v).elem, Elem::F16 | Elem::F32) => match kernel.def(v).inst {
                Inst::Un(Un::Neg, of) => (Half::of(kernel, of), true),
                _ => (Half::Low(v), false),
            },
            half => (half, false),
        }
    }
}

/// The value without bitcasts that keep the number of dwords.
fn original(kernel: &Kernel, v: Value) -> Value {
    match kernel.def(v).inst {
        Inst::Bitcast(of) if kernel.ty(of).dwords() == kernel.ty(v).dwords() => original(kernel, of),
        _ => v,
    }
}
