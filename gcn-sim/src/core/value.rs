//! Operand types: how a Rust value reads and writes the bits of a register.

use crate::fp::{f16_to_f32, f32_to_f16};

/// The maximum number of lanes of a wave.
pub(crate) const LANES: usize = gcn_isa::target::WAVE_SIZE as usize;

/// The number of lanes of the lower half, which is a whole wave of 32 lanes.
pub(crate) const LOWER: usize = LANES / 2;

/// The indices of the set bits of a lane mask, in ascending order.
pub(crate) fn lanes(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

/// The type of an operand, as far as it matters for constants, source modifiers, denormal flushing and write-back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ty {
    /// 16 bits other than f16.
    B16,
    /// f16.
    F16,
    /// 32 bits other than f32.
    B32,
    /// f32.
    F32,
    /// 64 bits, unsigned: a 32-bit literal is zero-extended.
    B64,
    /// 64 bits, signed: a 32-bit literal is sign-extended.
    I64,
    /// f64.
    F64,
}

impl Ty {
    pub(crate) const fn is_16(self) -> bool {
        matches!(self, Ty::B16 | Ty::F16)
    }
}

/// The number of lanes that arithmetic processes at a time, chosen so that the operands and results of a group fit in the host's registers.
pub(crate) const GROUP: usize = 16;

/// The number of groups of lanes in a register.
pub(crate) const GROUPS: usize = LANES / GROUP;

/// The register content of one lane: one dword or two.
pub(crate) trait Raw: Copy + Default + Send + Sync + 'static {
    /// The number of registers: 0 for `()`.
    const WORDS: u8;
    /// Zero in all lanes.
    const ZERO: [Self; LANES];
}

impl Raw for u32 {
    const WORDS: u8 = 1;
    const ZERO: [u32; LANES] = [0; LANES];
}

impl Raw for u64 {
    const WORDS: u8 = 2;
    const ZERO: [u64; LANES] = [0; LANES];
}

/// A typed value of a lane or of a scalar operand.
pub(crate) trait Value: Copy + Send + Sync + 'static {
    /// The register content that represents the value.
    type Raw: Raw;
    /// The type of the value.
    const TY: Ty;
    /// Converts from register bits (for 16-bit types, the low half).
    fn from_raw(raw: Self::Raw) -> Self;
    /// Converts to register bits.
    fn into_raw(self) -> Self::Raw;
}

/// The type of an operand or of a result.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// The number of registers of a lane; 0 if there is no such operand.
    pub words: u8,
    pub ty: Ty,
}

impl Kind {
    pub(crate) const fn of<V: Value>() -> Kind {
        Kind { words: V::Raw::WORDS, ty: V::TY }
    }
}

impl Raw for () {
    const WORDS: u8 = 0;
    const ZERO: [(); LANES] = [(); LANES];
}

/// The type of an operand or a result that an instruction does not have.
impl Value for () {
    type Raw = ();
    const TY: Ty = Ty::B32;
    #[inline(always)]
    fn from_raw((): ()) {}
    #[inline(always)]
    fn into_raw(self) {}
}

macro_rules! values {
    ($($type:ty, $raw:ty, $ty:ident, |$r:ident| $from:expr, |$v:ident| $into:expr;)*) => {
        $(impl Value for $type {
            type Raw = $raw;
            const TY: Ty = Ty::$ty;
            #[inline(always)]
            fn from_raw($r: $raw) -> Self { $from }
            #[inline(always)]
            fn into_raw(self) -> $raw { let $v = self; $into }
        })*
    };
}

values! {
    u16, u32, B16, |r| r as u16, |v| u32::from(v);
    i16, u32, B16, |r| r as i16, |v| u32::from(v as u16);
    u32, u32, B32, |r| r, |v| v;
    i32, u32, B32, |r| r as i32, |v| v as u32;
    f32, u32, F32, |r| f32::from_bits(r), |v| v.to_bits();
    u64, u64, B64, |r| r, |v| v;
    i64, u64, I64, |r| r as i64, |v| v as u64;
    f64, u64, F64, |r| f64::from_bits(r), |v| v.to_bits();
}

/// A half-precision value, widened to f32; a result is rounded from f32 to nearest even.
///
/// Rounding twice (to f32, then to f16) is exact for a single addition, multiplication, division or square root, because the 24 bits of f32
/// are at least two more than twice the 11 bits of f16.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Half(pub f32);

impl Value for Half {
    type Raw = u32;
    const TY: Ty = Ty::F16;
    #[inline(always)]
    fn from_raw(raw: u32) -> Self {
        Half(f16_to_f32(raw as u16))
    }
    #[inline(always)]
    fn into_raw(self) -> u32 {
        u32::from(f32_to_f16(self.0))
    }
}

/// A half-precision value as its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HalfBits(pub u16);

impl Value for HalfBits {
    type Raw = u32;
    const TY: Ty = Ty::F16;
    #[inline(always)]
    fn from_raw(raw: u32) -> Self {
        HalfBits(raw as u16)
    }
    #[inline(always)]
    fn into_raw(self) -> u32 {
        u32::from(self.0)
    }
}
