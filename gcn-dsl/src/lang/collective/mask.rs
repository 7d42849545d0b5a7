//! The methods of `LaneMask` on the device.

use std::ops::{Shl, Shr};
use std::panic::Location;

use gcn_isa::target::WaveSize;

use crate::ir::{Inst, Place};
use crate::lang::lanes::size::wave_size;
use crate::lang::numbers::shift::ShiftCount;
use crate::lang::values::kind::Kind;
use crate::lang::values::operand::{At, Operand, SameElement};
use crate::lang::{IntoDevice, S, V, cast, eq, ne, with};
use crate::scalar::LaneMask;

fn wave() -> WaveSize {
    with(|c| c.wave)
}

/// Numbers from which `LaneMask::from` makes a lane mask: a `u64`, an `S<u64>` or a `V<u64>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the bits of a mask of lanes",
    label = "expected a `u64`, found `{Self}`",
    note = "a mask of lanes is made of 64 bits in both sizes of waves: convert with `as u64`"
)]
pub trait LaneBits {
    /// The type of the mask: a host value for `u64`, one mask for the wave for `S<u64>`, and one for each lane for
    /// `V<u64>`.
    type Mask;
    /// The conversion.
    fn lanes(self) -> Self::Mask;
}

impl LaneBits for u64 {
    type Mask = LaneMask;
    fn lanes(self) -> LaneMask {
        LaneMask::from_bits(self)
    }
}

impl LaneMask {
    /// The mask of the lanes whose bits are set. Bits for which the wave has no lane are ignored.
    #[track_caller]
    #[allow(clippy::should_implement_trait, reason = "it is `From` for numbers of the device as well")]
    pub fn from<N: LaneBits>(bits: N) -> N::Mask {
        bits.lanes()
    }
}

/// Evaluates an expression with the mask as a number of type `N`: `u32` in waves of 32 lanes, `u64` in waves of 64.
macro_rules! as_number {
    ($handle:ident, $mask:expr, |$number:ident: $n:ident| $result:expr) => {
        match wave() {
            WaveSize::W32 => as_number!(@of u32 $handle, $mask, $number $n $result),
            WaveSize::W64 => as_number!(@of u64 $handle, $mask, $number $n $result),
        }
    };
    (@of $t:ident $handle:ident, $mask:expr, $number:ident $n:ident $result:expr) => {{
        type $n = $t;
        let $number = $handle::<$n>::from_value($mask.value);
        $result
    }};
}

macro_rules! methods {
    ($handle:ident $place:ident) => {
        impl LaneBits for $handle<u64> {
            type Mask = $handle<LaneMask>;
            #[track_caller]
            fn lanes(self) -> $handle<LaneMask> {
                $handle::from_value(<LaneMask as SameElement<u64>>::alike(self.value, Place::$place))
            }
        }

        impl From<$handle<u64>> for $handle<LaneMask> {
            #[track_caller]
            fn from(bits: $handle<u64>) -> Self {
                bits.lanes()
            }
        }

        impl From<$handle<LaneMask>> for $handle<u64> {
            #[track_caller]
            fn from(mask: $handle<LaneMask>) -> Self {
                mask.bits()
            }
        }

        impl $handle<LaneMask> {
            /// The mask as a number: bit `k` is that of lane `k`. Bits for which the wave has no lane are 0.
            #[track_caller]
            pub fn bits(self) -> $handle<u64> {
                match wave() {
                    WaveSize::W32 => $handle::emit(Inst::Cast(self.value), Location::caller()),
                    WaveSize::W64 => $handle::from_value(self.value),
                }
            }

            /// The number of lanes in the mask.
            #[track_caller]
            pub fn count_ones(self) -> $handle<u32> {
                as_number!($handle, self, |n: N| n.count_ones())
            }

            /// The number of the lowest lane in the mask; [`wave_size()`](crate::lang::wave_size) if the mask is empty.
            #[track_caller]
            pub fn first(self) -> $handle<u32> {
                as_number!($handle, self, |n: N| n.trailing_zeros())
            }

            /// The same as `first`, under the name that numbers have for it.
            #[track_caller]
            pub fn trailing_zeros(self) -> $handle<u32> {
                self.first()
            }

            /// The number of the highest lane in the mask; `u32::MAX` if the mask is empty.
            #[track_caller]
            pub fn last(self) -> $handle<u32> {
                let above = as_number!($handle, self, |n: N| n.leading_zeros());
                (wave_size() - 1) - above
            }

            /// True if no lane is in the mask.
            #[track_caller]
            pub fn is_empty(self) -> $handle<bool> {
                eq(self, LaneMask::EMPTY)
            }

            /// True if at least one lane is in the mask.
            #[track_caller]
            pub fn any(self) -> $handle<bool> {
                ne(self, LaneMask::EMPTY)
            }

            /// True if all lanes of the wave are in the mask, active or not. To test whether all *active* lanes are in
            /// it, write `mask & active_lanes() == active_lanes()`.
            #[track_caller]
            pub fn all(self) -> $handle<bool> {
                eq(self, LaneMask::ALL)
            }

            /// True if bit `lane`, modulo the number of bits, is set.
            #[track_caller]
            fn has(self, lane: $handle<u32>) -> $handle<bool> {
                as_number!($handle, self, |n: N| ne((n >> lane) & 1, 0))
            }

            /// The lanes of the mask whose number is lower than `lane`, which is taken modulo the wave's size.
            #[track_caller]
            fn lower(self, lane: $handle<u32>) -> Self {
                as_number!($handle, self, |n: N| $handle::from_value(
                    (n & ((N::from(1u8) << lane) - 1)).value
                ))
            }
        }
    };
}
methods!(S Uniform);
methods!(V Varying);

impl S<LaneMask> {
    /// True if lane `lane`, modulo [`wave_size()`](crate::lang::wave_size), is in the mask.
    #[track_caller]
    pub fn contains<L: Operand<u32>>(self, lane: L) -> At<L::Place, bool> {
        match lane.uniform() {
            Some(lane) => L::Place::picked(Some(self.has(lane)), None),
            None if is_own(lane.varying()) => L::Place::picked(None, Some(own_lane_of(self))),
            None => {
                let mask: V<LaneMask> = self.into_device();
                L::Place::picked(None, Some(mask.has(lane.varying())))
            }
        }
    }

    /// The lanes of the mask whose number is lower than `lane`, which is taken modulo
    /// [`wave_size()`](crate::lang::wave_size). To count the lanes in `mask.below(lane_id())`, use
    /// [`mbcnt(mask)`](crate::lang::mbcnt), which takes one or two instructions.
    #[track_caller]
    pub fn below<L: Operand<u32>>(self, lane: L) -> At<L::Place, LaneMask> {
        match lane.uniform() {
            Some(lane) => L::Place::picked(Some(self.lower(lane)), None),
            None => {
                let mask: V<LaneMask> = self.into_device();
                L::Place::picked(None, Some(mask.lower(lane.varying())))
            }
        }
    }
}

impl V<LaneMask> {
    /// True if lane `lane`, modulo [`wave_size()`](crate::lang::wave_size), is in the mask.
    #[track_caller]
    pub fn contains(self, lane: impl Operand<u32>) -> V<bool> {
        self.has(lane.varying())
    }

    /// The lanes of the mask whose number is lower than `lane`, which is taken modulo
    /// [`wave_size()`](crate::lang::wave_size).
    #[track_caller]
    pub fn below(self, lane: impl Operand<u32>) -> V<LaneMask> {
        self.lower(lane.varying())
    }
}

/// The mask of lane `lane`, modulo the wave's size, if `holds` is true; otherwise the empty mask.
#[track_caller]
pub(in crate::lang) fn of_one_lane(holds: S<bool>, lane: S<u32>) -> S<LaneMask> {
    match wave() {
        WaveSize::W32 => S::from_value((cast::<u32, _>(holds) << lane).value),
        WaveSize::W64 => S::from_value((cast::<u64, _>(holds) << lane).value),
    }
}

/// True if `lane` is the result of `lane_id()`.
fn is_own(lane: V<u32>) -> bool {
    with(|c| c.builder.kernel().def(lane.value).inst == Inst::LaneId)
}

/// For each lane, true if it is in the mask. In registers a `V<bool>` is such a mask, so no instruction is needed.
#[track_caller]
pub(in crate::lang) fn own_lane_of(mask: S<LaneMask>) -> V<bool> {
    V::emit(Inst::Bitcast(mask.value), Location::caller())
}

/// Implements the shift operators, whose result is a number.
macro_rules! shifts {
    ($($tr:ident $method:ident)*) => {$(
        impl<R: ShiftCount> $tr<R> for S<LaneMask> {
            type Output = At<R::Place, u64>;
            #[track_caller]
            fn $method(self, n: R) -> Self::Output {
                self.bits().$method(n)
            }
        }
        impl<R: ShiftCount> $tr<R> for V<LaneMask> {
            type Output = V<u64>;
            #[track_caller]
            fn $method(self, n: R) -> V<u64> {
                self.bits().$method(n)
            }
        }
    )*};
}
shifts!(Shl shl Shr shr);
