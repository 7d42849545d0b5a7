//! Tiles whose columns are contiguous in memory: transposed in registers between the loads from memory and the stores
//! to LDS.
//!
//! A lane loads a block of `deep` columns and `wide` rows, `wide` consecutive elements at a time, and stores each row
//! of the block, `deep` consecutive elements at a time. For elements of four bytes and more the transposition only
//! renames registers; smaller elements are rearranged by byte permutes.

use std::panic::Location;

use super::{LdsTile, MOST_PARTS};
use crate::ir::{Inst, Place, Type, Value};
use crate::lang::matrix::place::{At, Run};
use crate::lang::matrix::swizzle::Swizzle;
use crate::lang::matrix::view::AsView;
use crate::lang::values::vector::{element, pack};
use crate::lang::{V, isa, local_id, with};
use crate::scalar::Number;

/// The division of a tile whose columns are contiguous among the lanes of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Blocks {
    /// The number of columns (`deep`) and rows (`wide`) of a block.
    deep: u32,
    wide: u32,
    /// The number of blocks along a column of the tile.
    along: u32,
    /// The number of blocks of each lane, and the number of columns from one of them to the next.
    parts: u32,
    columns: u32,
}

impl Blocks {
    /// The blocks with which `lanes` lanes move a tile in the fewest accesses without splitting groups of `group`
    /// elements; `None` if the tile cannot be divided evenly.
    pub fn of(lanes: u32, [rows, cols]: [u32; 2], group: u32, size: u32) -> Option<Blocks> {
        let widths =
            |most: u32| [16, 8, 4].into_iter().map(move |b| b / size).filter(move |n| *n > 0 && *n <= most);
        let mut best: Option<Blocks> = None;
        for (deep, wide) in widths(group).flat_map(|deep| widths(u32::MAX).map(move |wide| (deep, wide))) {
            let along = rows / wide;
            let even = rows.is_multiple_of(wide)
                && cols.is_multiple_of(deep)
                && lanes.is_multiple_of(along)
                && (cols / deep).is_multiple_of(lanes / along);
            if !even {
                continue;
            }
            let columns = lanes / along * deep;
            let new = Blocks { deep, wide, along, parts: cols / columns, columns };
            let fewer = |old: Blocks| new.parts * (deep + wide) < old.parts * (old.deep + old.wide);
            if new.loads() <= MOST_PARTS as u32 && best.is_none_or(fewer) {
                best = Some(new);
            }
        }
        best
    }

    /// The number of loads of each lane.
    pub fn loads(&self) -> u32 {
        self.parts * self.deep
    }

    /// Row and column of the lane's first element.
    #[track_caller]
    fn first(&self) -> [V<u32>; 2] {
        let [x, y, _] = with(|c| c.workgroup);
        let id = local_id();
        let mut lane = id.x;
        if with(|c| c.workgroup[1] * c.workgroup[2]) > 1 {
            lane = lane + id.y * x + id.z * (x * y);
        }
        [lane % self.along * self.wide, lane / self.along * self.deep]
    }

    #[track_caller]
    pub fn fetch<T: Number>(&self, from: impl AsView<T>, [row, col]: [At; 2], to: &mut [Option<Value>]) {
        let [first_row, first_col] = self.first();
        let at = [row.plus_varying(first_row), col.plus_varying(first_col)];
        for (i, value) in to.iter_mut().enumerate().take(self.loads() as usize) {
            let (part, column) = (i as u32 / self.deep, i as u32 % self.deep);
            let run = Run::plain([0, part * self.columns + column], self.wide, 0);
            *value = Some(from.places().load_bits::<T>(at, &[run], 8 * T::ELEM.bytes()));
        }
    }

    #[track_caller]
    pub fn put<T: Number, L: Swizzle, const ROWS: usize, const COLS: usize>(
        &self,
        tile: &LdsTile<T, ROWS, COLS, L>,
        staged: &[Value],
    ) {
        let [row, col] = self.first().map(At::new);
        for (part, block) in staged.chunks(self.deep as usize).enumerate() {
            for (down, value) in turn::<T>(block, self.wide as usize).into_iter().enumerate() {
                let at = [row.plus(down as u32), col.plus(part as u32 * self.columns)];
                tile.places().store_packed::<T>(at, value);
            }
        }
    }
}

/// Transposes a block: takes its columns, of `wide` elements each, and returns its rows.
#[track_caller]
fn turn<T: Number>(columns: &[Value], wide: usize) -> Vec<Value> {
    let loc = Location::caller();
    if T::ELEM.bytes() >= 4 {
        let row = |i| {
            let parts: Vec<V<T>> =
                columns.iter().map(|column| V::from_value(element::<T>(*column, i, wide, loc))).collect();
            pack(&parts, loc)
        };
        return (0..wide).map(row).collect();
    }
    let per_dword = 4 / T::ELEM.bytes() as usize;
    // One dword of a column contains `per_dword` rows. For each such group of rows, transpose squares of `per_dword`
    // columns.
    let rows = (0..wide / per_dword).flat_map(|dword| {
        let word = |from: &Value| V::emit(Inst::Extract { from: *from, dword: dword as u8 }, loc);
        let words: Vec<V<u32>> = columns.iter().map(word).collect();
        let squares: Vec<Vec<V<u32>>> = words.chunks(per_dword).map(square).collect();
        (0..per_dword)
            .map(|row| squares.iter().map(|square| square[row]).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    });
    let ty = Type { place: Place::Varying, elem: T::ELEM, count: columns.len() as u8 };
    rows.map(|words| {
        let words = words.iter().map(|word| word.value).collect();
        with(|c| c.value(Inst::Concat(words), ty, loc))
    })
    .collect()
}

/// Byte selectors of `v_perm_b32` in `pick`: 0 to 3 select bytes of the dword `a`, 4 to 7 bytes of `b`.
const LOW_HALVES: u32 = 0x0504_0100;
const HIGH_HALVES: u32 = 0x0706_0302;
const LOW_BYTES: u32 = 0x0501_0400;
const HIGH_BYTES: u32 = 0x0703_0602;

/// Transposes two dwords of two 16-bit elements each, or four dwords of four bytes each.
#[track_caller]
fn square(words: &[V<u32>]) -> Vec<V<u32>> {
    let pick = |a: V<u32>, b: V<u32>, bytes: u32| isa::v_perm_b32(b, a, bytes);
    match *words {
        [a, b] => vec![pick(a, b, LOW_HALVES), pick(a, b, HIGH_HALVES)],
        [a, b, c, d] => {
            let pairs = [LOW_BYTES, HIGH_BYTES].map(|bytes| (pick(a, b, bytes), pick(c, d, bytes)));
            let halves = |(ab, cd)| [pick(ab, cd, LOW_HALVES), pick(ab, cd, HIGH_HALVES)];
            pairs.into_iter().flat_map(halves).collect()
        }
        _ => words.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected numbers are worked out by hand: with 512 lanes, 256 x 32 f16 give each lane 16 elements, a 4 x 4
    /// block in 8 accesses; 128 x 32 give each lane 8 elements, in six accesses.
    #[test]
    fn blocks_come_out_even() {
        let block = |lanes, extent, group, size| {
            Blocks::of(lanes, extent, group, size).map(|b| [b.deep, b.wide, b.parts])
        };
        assert_eq!(block(512, [256, 32], 4, 2), Some([4, 4, 1]));
        assert_eq!(block(512, [128, 32], 4, 2), Some([4, 2, 1]));
        assert_eq!(block(512, [256, 64], 16, 1), Some([8, 4, 1]));
        assert_eq!(block(512, [128, 16], 2, 8), Some([2, 2, 1]));
        assert_eq!(block(512, [100, 32], 4, 2), None, "50 lanes along a column do not divide 512");
    }
}
