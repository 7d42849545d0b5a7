//! Which 16 bits of which register a value is.

use super::super::patterns::{Byte, bytes_of};
use super::super::{Inst, Kernel, Un, Value};
use crate::scalar::Elem;

/// 16 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Half {
    Const(u16),
    /// The low half of a value of one dword.
    Low(Value),
    /// The high half.
    High(Value),
}

impl Half {
    /// The low 16 bits of a value of one dword.
    pub fn of(kernel: &Kernel, v: Value) -> Half {
        let mut v = v;
        loop {
            if let Some(bits) = kernel.constant(v) {
                return Half::Const(bits as u16);
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

    /// Both halves of a word that is put together.
    pub fn both(kernel: &Kernel, word: Value) -> Option<[Half; 2]> {
        let [a, b, c, d] = bytes_of(kernel, word);
        let halves = [Half::from_bytes(a, b)?, Half::from_bytes(c, d)?];
        Some(halves.map(|half| match half {
            Half::Low(v) if v != word => Half::of(kernel, v),
            half => half.resolved(kernel),
        }))
    }

    fn from_bytes(first: Byte, second: Byte) -> Option<Half> {
        match (first, second) {
            (Byte::Is(low), Byte::Is(high)) => Some(Half::Const(u16::from_le_bytes([low, high]))),
            (Byte::Of(v, 0), Byte::Of(w, 1)) if v == w => Some(Half::Low(v)),
            (Byte::Of(v, 2), Byte::Of(w, 3)) if v == w => Some(Half::High(v)),
            _ => None,
        }
    }

    /// The same half of the value that others are bitcasts of.
    fn resolved(self, kernel: &Kernel) -> Half {
        let original = |mut v: Value| {
            while let Inst::Bitcast(of) = kernel.def(v).inst
                && kernel.ty(of).dwords() == 1
            {
                v = of;
            }
            v
        };
        match self {
            Half::High(v) => Half::High(original(v)),
            other => other,
        }
    }

    /// The half without the change of a float's sign that makes it, and whether there is one.
    pub fn without_sign(kernel: &Kernel, v: Value) -> (Half, bool) {
        match Half::of(kernel, v) {
            Half::Low(v) if kernel.ty(v).elem == Elem::F16 => match kernel.def(v).inst {
                Inst::Un(Un::Neg, of) => (Half::of(kernel, of), true),
                _ => (Half::Low(v), false),
            },
            half => (half, false),
        }
    }
}
