//! Sets of lanes.

use std::fmt;
use std::ops::{BitAnd, BitOr, BitXor, Not};

use gcn_isa::target::WaveSize;

use super::{Elem, Scalar};

/// A set of the lanes of a wave: lane `k` is in the set if bit `k` is set.
///
/// In a kernel, an `S<LaneMask>` is one set for the wave, as [`ballot`](crate::lang::ballot) and
/// [`active_lanes`](crate::lang::active_lanes) return it; a `V<LaneMask>` is one set for each lane, as
/// [`match_any`](crate::lang::match_any) returns it. In waves of 64 lanes a mask takes two registers, in waves of 32
/// lanes one: `!mask` and [`ALL`](LaneMask::ALL) contain exactly the lanes that the wave has.
///
/// - `&`, `|`, `^`, `!`, `==`, `!=` on masks. The right side of the first three may also be a number, a `u64`, whose bits beyond the
///   wave's lanes are ignored; `mask == 0` compares with a host number or a literal.
/// - `count_ones`, `first` (also as `trailing_zeros`), `last`, `is_empty`, `any`, `all`, `contains(lane)`, `below(lane)`.
/// - `bits()` and `mask as u64` are its bits as a number, `LaneMask::from(number)` is the reverse. `mask >> n` and `mask << n` shift
///   the bits as a number.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// For each lane the number of lanes below it with a greater element, and whether it is the last of them.
///     #[workgroup(64)]
///     fn ranks(x: &[u32], rank: &mut [u32], is_last: &mut [u32]) {
///         let i = global_id().x;
///         let big: LaneMask = ballot(x[i] > 10);
///         rank[i] = big.below(lane_id()).count_ones();
///         is_last[i] = (!big.is_empty() && big.last() == lane_id()) as u32;
///     }
/// }
/// let x: Vec<u32> = (0..64).collect();
/// let (mut rank, mut is_last) = (vec![0; 64], vec![0; 64]);
/// ranks.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&x, &mut rank, &mut is_last))?;
/// assert_eq!((rank[10], rank[63], is_last[62], is_last[63]), (0, 52, 0, 1));
/// // In waves of 32 lanes each half has its own masks.
/// ranks.launch(&Device::simulator(Target::GFX1201), Grid::x(1), (&x, &mut rank, &mut is_last))?;
/// assert_eq!((rank[31], rank[63], is_last[31], is_last[63]), (20, 31, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// On the host, a `LaneMask` is a separate type that wraps a 64-bit number, for constants and for arguments of kernels.
/// A kernel ignores the bits for which its waves have no lanes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct LaneMask(u64);

impl LaneMask {
    /// Every lane of the wave.
    pub const ALL: LaneMask = LaneMask(u64::MAX);
    /// No lane.
    pub const EMPTY: LaneMask = LaneMask(0);

    /// The set of the lanes whose bits are set, on the host. In a kernel, write `LaneMask::from(bits)`.
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// const EVEN: LaneMask = LaneMask::from_bits(0x5555_5555_5555_5555);
    /// assert!((EVEN & LaneMask::from_bits(0b10)).is_empty());
    /// ```
    #[must_use]
    pub const fn from_bits(bits: u64) -> LaneMask {
        LaneMask(bits)
    }

    /// The set as a number: bit `k` is that of lane `k`.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// True if no lane is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Debug for LaneMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LaneMask({:#x})", self.0)
    }
}

impl From<u64> for LaneMask {
    fn from(bits: u64) -> LaneMask {
        LaneMask(bits)
    }
}

impl From<LaneMask> for u64 {
    fn from(mask: LaneMask) -> u64 {
        mask.0
    }
}

macro_rules! operators {
    ($($tr:ident $method:ident $op:tt;)*) => {$(
        impl $tr for LaneMask {
            type Output = LaneMask;
            fn $method(self, other: LaneMask) -> LaneMask {
                LaneMask(self.0 $op other.0)
            }
        }
    )*};
}
operators! { BitAnd bitand &; BitOr bitor |; BitXor bitxor ^; }

impl Not for LaneMask {
    type Output = LaneMask;
    fn not(self) -> LaneMask {
        LaneMask(!self.0)
    }
}

impl Scalar for LaneMask {
    const ELEM: Elem = Elem::U64;
    fn elem_in(wave: WaveSize) -> Elem {
        match wave {
            WaveSize::W32 => Elem::U32,
            WaveSize::W64 => Elem::U64,
        }
    }
    fn to_bits(self) -> u64 {
        self.0
    }
    fn write_bytes(self, out: &mut Vec<u8>) {
        self.0.write_bytes(out);
    }
    fn read_bytes(bytes: &[u8]) -> Self {
        LaneMask(u64::read_bytes(bytes))
    }
}
