//! Layouts of the rows of a matrix in LDS that avoid bank conflicts.

use std::fmt;
use std::marker::PhantomData;

use gcn_isa::layout::{ElemType, Matrix, Shape};
use gcn_isa::target::Subtarget;

use super::format::bits;
use super::k_order::{ByNumber, KOrder};
use super::operand::square_shapes;
use crate::lang::memory::lds_row::Groups;
use crate::scalar::{Elem, Number};

/// The number of bytes of the widest access.
pub(super) const WIDEST: u32 = 16;

/// The layout of the rows of an [`LdsTile`](super::LdsTile). LDS has 32 banks of four bytes (64 on gfx950); accesses of
/// several lanes to different words of one bank are serialised.
pub trait Swizzle: Copy + fmt::Debug + 'static {
    /// The distance from one row to the next, in elements, for rows of `columns` elements.
    fn pitch(columns: u32) -> u32;
    /// The permutation of element groups in rows of `columns` elements of `T` on `target`; `None` if elements stay in
    /// order.
    fn groups<T: Number>(_on: Subtarget, _columns: u32) -> Option<Groups> {
        None
    }
}

/// Rows follow each other without gaps.
#[derive(Debug, Clone, Copy)]
pub struct Linear;

/// Leaves a gap of `N` elements after each row, so that neighbouring rows begin in different banks. The size of `N`
/// elements should be a multiple of 16 bytes, which keeps wide accesses aligned.
#[derive(Debug, Clone, Copy)]
pub struct Pad<const N: usize>;

/// An XOR swizzle without gaps: group `g` of row `r`, where each group has `WIDTH` elements, is stored at position `g ^
/// (r / ROWS % PERIOD)` of the row. All three parameters are powers of two, and the length of a row must be a multiple
/// of `WIDTH * PERIOD`.
///
/// `WIDTH` should be the number of elements that a lane reads at once, `ROWS` the number of rows that fill all banks
/// once, and `WIDTH * PERIOD * ROWS` elements should fill the banks. [`Spread`] chooses the three automatically.
///
/// ```
/// use gcn_dsl::lang::matrix::XorGroups;
/// use gcn_dsl::prelude::*;
///
/// gcn_kernel! {
///     /// Rows of 128 bytes, of which two fill the banks of gfx950: a pair of rows changes places in the same way.
///     #[workgroup(64)]
///     #[targets(gfx950)]
///     fn product(a: &[f16], c: &mut [f32]) {
///         let tile = LdsTile::<f16, 64, 64, XorGroups<8, 8, 2>>::new();
///         tile.put(tile.fetch(row_major(a, 64), 0, 0));
///         barrier();
///         let left = TileA::<f16, 64, 64>::load(tile, 0, 0);
///         let right = TileB::<f16, 64, 64>::load(tile.transposed(), 0, 0);
///         matmul(left, right, Tile::<f32, 64, 64>::zero()).store_to(row_major(c, 64), 0, 0);
///     }
/// }
/// # product.build(Target::GFX950).unwrap();
/// ```
#[derive(Debug, Clone, Copy)]
pub struct XorGroups<const WIDTH: usize, const PERIOD: usize, const ROWS: usize = 1>;

/// An XOR swizzle as in [`XorGroups`], whose parameters are chosen for the target's banks and for the access size of
/// its deepest instruction with `SIDE` rows, so that lanes that read down a column have no bank conflicts. `SIDE` and
/// `O` are those of the tiles that are loaded: with [`AsAcc`](super::AsAcc) a lane reads four elements at once, since
/// an accumulator has four neighbouring rows in each lane; with [`Wide`](super::Wide) it reads 16 bytes.
///
/// ```
/// use gcn_dsl::lang::matrix::Spread;
/// use gcn_dsl::prelude::*;
///
/// gcn_kernel! {
///     #[workgroup(64)]
///     #[targets(HasMfma)]
///     fn square(a: &[f16], c: &mut [f32]) {
///         let tile = LdsTile::<f16, 32, 64, Spread>::new();
///         tile.put(tile.fetch(row_major(a, 64), 0, 0));
///         barrier();
///         let left = TileA::<f16, 32, 64>::load(tile, 0, 0);
///         let right = TileB::<f16, 64, 32>::load(tile.transposed(), 0, 0);
///         matmul(left, right, Tile::<f32, 32, 32>::zero()).store_to(row_major(c, 32), 0, 0);
///     }
/// }
/// # for target in [Target::GFX908, Target::GFX942, Target::GFX950] {
/// #     square.build(target).unwrap();
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Spread<const SIDE: usize = 32, O = ByNumber>(PhantomData<O>);

/// The number of neighbouring rows of an accumulator that are in one lane.
const ROWS_OF_ACC: u32 = 4;

impl Swizzle for Linear {
    fn pitch(columns: u32) -> u32 {
        columns
    }
}

impl<const N: usize> Swizzle for Pad<N> {
    fn pitch(columns: u32) -> u32 {
        columns + N as u32
    }
}

impl<const WIDTH: usize, const PERIOD: usize, const ROWS: usize> Swizzle for XorGroups<WIDTH, PERIOD, ROWS> {
    fn pitch(columns: u32) -> u32 {
        columns
    }
    fn groups<T: Number>(_: Subtarget, _: u32) -> Option<Groups> {
        const {
            let powers = WIDTH.is_power_of_two() && PERIOD.is_power_of_two() && ROWS.is_power_of_two();
            assert!(powers, "XorGroups takes powers of two");
        }
        Some(Groups { width: WIDTH as u32, period: PERIOD as u32, rows: ROWS as u32 })
    }
}

impl<const SIDE: usize, O: KOrder> Swizzle for Spread<SIDE, O> {
    fn pitch(columns: u32) -> u32 {
        columns
    }
    fn groups<T: Number>(on: Subtarget, columns: u32) -> Option<Groups> {
        const { assert!(SIDE == 32 || SIDE == 16, "the SIDE of Spread is that of a tile, 32 or 16") };
        let (banks, bytes) = (4 * on.target.lds_banks(), T::ELEM.bytes());
        let (side, deepest) = reads(on, SIDE as u32, T::ELEM);
        let at_once = match () {
            () if O::WIDE => WIDEST,
            () if O::AS_ACC => deepest.min(ROWS_OF_ACC * bytes),
            () => deepest,
        };
        // One access of `lines` lanes, each in a different row, covers all banks once, so each of these rows needs its
        // group at a different position.
        let lines = side.min(banks / at_once);
        let width = banks / lines / bytes;
        if width == 0 || !columns.is_multiple_of(width) {
            return None;
        }
        // XOR can exchange only as many positions as the largest power of two that divides the number of groups in a
        // row. If that is less than `lines`, consecutive rows share a position.
        let period = lines.min(1 << (columns / width).trailing_zeros());
        Some(Groups { width, period, rows: lines / period })
    }
}

/// For the deepest instruction on such elements: the number of rows of a fragment, and the number of bytes that a lane
/// reads at once. This is less than the lane's part of a row if the part consists of several runs of `k`, as on RDNA 4 in
/// waves of 32 lanes.
fn reads(on: Subtarget, side: u32, elem: Elem) -> (u32, u32) {
    let bytes = elem.bytes();
    let like = square_shapes(on).filter(|s| match s.a {
        ElemType::F16 | ElemType::Bf16 => elem == if s.a == ElemType::F16 { Elem::F16 } else { Elem::Bf16 },
        // Memory of f32 may contain f32 or xf32; assume f32. Memory of bytes may contain any 8-bit format.
        ElemType::Xf32 => false,
        format => bits(format) == 8 * bytes,
    });
    let run = |s: &Shape| {
        let lane = |k| s.place(Matrix::A, 0, 0, k).map(|place| place.lane);
        let length = (0..s.k).take_while(|k| lane(*k).is_some() && lane(*k) == lane(0)).count() as u32;
        if length == 0 { WIDEST } else { length * elem.bytes() }
    };
    let of_lane = |s: &Shape| s.registers(Matrix::A).map_or(WIDEST, |n| 4 * u32::from(n));
    let sizes = like.map(|s| (u32::from(s.m), of_lane(s).min(run(s))));
    let best = sizes.max_by_key(|(rows, read)| (*rows == side, *read));
    best.map_or((side, WIDEST), |(rows, read)| (rows, read.min(WIDEST)))
}

#[cfg(test)]
mod tests {
    use gcn_isa::Target;

    use super::*;

    /// The expected numbers are worked out by hand. A row of 128 bytes of f16 covers all banks of the targets up to
    /// gfx942, where 16 lanes read 8 bytes each, and half of the banks of gfx950, where 16 lanes read 16 bytes each.
    #[test]
    fn spread_fills_the_banks() {
        let f16s = |target: Target, columns| {
            Spread::<32>::groups::<half::f16>(target.into(), columns).map(|g| [g.width, g.period, g.rows])
        };
        assert_eq!(f16s(Target::GFX942, 64), Some([4, 16, 1]));
        assert_eq!(f16s(Target::GFX942, 32), Some([4, 8, 2]));
        assert_eq!(f16s(Target::GFX942, 40), Some([4, 2, 8]));
        assert_eq!(f16s(Target::GFX950, 64), Some([8, 8, 2]));
        assert_eq!(f16s(Target::GFX950, 256), Some([8, 16, 1]));
        assert_eq!(f16s(Target::GFX942, 6), None, "a group does not divide the row");
        // f32: 32 rows with one element each, or 16 rows with two neighbouring elements each.
        assert_eq!(
            Spread::<32>::groups::<f32>(Target::GFX942.into(), 64),
            Some(Groups { width: 1, period: 32, rows: 1 })
        );
        assert_eq!(
            Spread::<16>::groups::<f32>(Target::GFX942.into(), 64),
            Some(Groups { width: 2, period: 16, rows: 1 })
        );
        // bf16 instructions of gfx908 take half as many `k` as those on f16.
        let bf16s = Spread::<32>::groups::<half::bf16>(Target::GFX908.into(), 64);
        assert_eq!(bf16s, Some(Groups { width: 2, period: 32, rows: 1 }));
        // With `AsAcc`, 32 lanes read 8 bytes each, which covers all banks of gfx950 once: four rows of 64 bytes.
        let as_acc = |target: Target, columns| {
            Spread::<32, crate::lang::matrix::AsAcc>::groups::<half::f16>(target.into(), columns)
                .map(|g| [g.width, g.period, g.rows])
        };
        assert_eq!(as_acc(Target::GFX950, 32), Some([4, 8, 4]));
        assert_eq!(as_acc(Target::GFX950, 64), Some([4, 16, 2]));
        assert_eq!(as_acc(Target::GFX942, 32), f16s(Target::GFX942, 32));
        // With accesses of 16 bytes: 8 lanes, each reading in its own row of 128 bytes.
        let wide = Spread::<32, crate::lang::matrix::Wide>::groups::<half::f16>(Target::GFX942.into(), 64);
        assert_eq!(wide, Some(Groups { width: 8, period: 8, rows: 1 }));
        // RDNA 4 in waves of 32 lanes: a lane has two runs of four `k`, so 16 lanes read 8 bytes each.
        let wave32 = Spread::<16>::groups::<half::f16>(Target::GFX1201.into(), 32);
        assert_eq!(wave32, Some(Groups { width: 4, period: 8, rows: 2 }));
        // f64 instructions have 16 rows only.
        assert_eq!(
            Spread::<32>::groups::<f64>(Target::GFX950.into(), 64),
            Some(Groups { width: 2, period: 16, rows: 1 })
        );
    }
}
