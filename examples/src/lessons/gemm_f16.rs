//! Lesson 5: matrix instructions fed from LDS tiles, at the limit of the machine.
//!
//! C = A * B in half precision with single-precision accumulation. A is stored row by row (M x K) and B column by
//! column (that is, as N rows of K elements), so neighbouring addresses have neighbouring values of the summation index
//! `k` in both.
//!
//! **The instruction.** A matrix instruction multiplies a fragment of A by a fragment of B: 32 x 8 times 8 x 32
//! elements are 8192 multiplications and additions, by one instruction of one wave. The operands are spread over the
//! registers of all 64 lanes, and the instruction determines which lane has which element. The kernel does not see
//! this: [`TileA`] and [`TileB`] load matrices of any size as fragments of the target's instruction, 32x32x8 up to
//! gfx942, 32x32x16 on gfx950, and `matmul` multiplies them. Tiles of sizes that do not fit together do not compile.
//!
//! **The tiles.** A workgroup of eight waves computes a 256 x 256 tile of C, each wave 128 x 64 of it: 4 x 2
//! accumulators. Every fragment of A is multiplied by two of B and every fragment of B by four of A. The fragments come
//! from LDS, to which the workgroup has copied some columns of A and of B^T, so each element is loaded from memory once
//! for the whole workgroup. `Spread` permutes the elements of a row so that the lanes of a wave, which read down a
//! column, have no LDS bank conflicts.
//!
//! **Ping-pong.** The matrix pipe must never wait. `#[ping_pong]` divides the waves into two groups: while one group is
//! in a `#[matrix]` block, the other loads its next fragments and stores tiles to LDS. Each SIMD has one wave of either
//! group, so one of the two always feeds its matrix pipe. The phases must have equal lengths: 32 matrix instructions of
//! 32 clocks take 1024 clocks; in that time four waves read 12 KiB of fragments each and store 4 KiB, which takes LDS
//! 512 clocks. On gfx950 the instructions are twice as fast and LDS is not; tiles of twice the depth, processed in two
//! phases, restore the balance, and gfx950 has enough LDS for them. In the timed simulator the pipe is busy 100% of the
//! time on gfx90a and gfx942 and 97% on gfx950.
//!
//! **Double buffering.** The loads and stores before a `#[matrix]` block are separated from those after it by a
//! barrier, but the waves within a phase are not ordered. So the stores go to the other tile of a pair, from which no
//! wave loads in that phase. The loads from memory for these stores were issued one tile earlier: in the assembly, look
//! for `s_waitcnt vmcnt`.
//!
//! **The edges.** The slices know their lengths, so rows of A and of B^T that do not exist load as 0. An access past
//! the last column would reach the next row; `columns_by` makes it load as 0 as well, in whole accesses of 8 elements,
//! which is why the depth is a multiple of 8. `columns` does the same for the stores.
//!
//! **The waits.** This matrix instruction takes 8 passes of 4 clocks on gfx942 and 16 on gfx90a, and the hardware does
//! not delay a vector instruction that reads the result too early. A certain number of instructions, which differs
//! between the two targets, must be in between. After the loop there are enough, because addresses are computed first;
//! elsewhere an `s_nop` fills the distance, and its comment names the rule and the required distance.
//!
//! **The numbers.** Products of two f16 are exact in f32. Each target adds them in its own way. The simulator uses
//! models whose authors compared them with the hardware bit by bit (docs/sim.md): gfx908 rounds exact sums of four
//! products, gfx90a adds pairs in f32, gfx942 truncates eight products to a common last place. So the reference adds in
//! f64, and a result may differ from it by what all of these methods allow; the function `tolerance` computes this
//! bound. One difference is larger: gfx90a treats denormal f16 inputs (below 2^-14) as zero, the others do not.

use std::num::FpCategory;

use gcn_dsl::lang::matrix::{Spread, View};
use gcn_dsl::lang::{HasMfma, target};
use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::product;
use crate::{Arg, Comparison, Lesson, Outcome, Size, Steady};

/// The number of rows and of columns of the workgroup's tile of C.
pub const TILE: u32 = 256;
/// The number of rows of the workgroup's tiles of A and B^T in LDS.
const SIDE: usize = TILE as usize;
/// The LDS bytes of two pairs of tiles with 64 columns each.
const DEEP: u32 = 128 * 1024;

// ANCHOR: kernel
gcn_kernel! {
    /// Computes a wave's 128 x 64 part of the workgroup's tile. A tile in LDS has `D2` columns of A and B^T; each phase multiplies `D` of
    /// them.
    #[device]
    fn tile<T: HasMfma, const D: usize, const D2: usize>(
        all: AllLanes<T>,
        a: View<f16>,
        b: View<f16>,
        first: (u32, u32),
        part: (u32, u32),
        depth: u32,
    ) -> Tile<f32, 128, 64> {
        let left = [LdsTile::<f16, SIDE, D2, Spread>::new(), LdsTile::<f16, SIDE, D2, Spread>::new()];
        let right = [LdsTile::<f16, SIDE, D2, Spread>::new(), LdsTile::<f16, SIDE, D2, Spread>::new()];
        let mut acc = Tile::<f32, 128, 64>::zero();
        left[0].put(left[0].fetch(a, first.0, 0));
        right[0].put(right[0].fetch(b, first.1, 0));
        let mut next_a = left[1].fetch(a, first.0, D2 as u32);
        let mut next_b = right[1].fetch(b, first.1, D2 as u32);

        #[ping_pong]
        for done in (0..depth).step_by(2 * D2 as u32) {
            #[unroll]
            for here in 0..2usize {
                let (next, after) = (1 - here, done + ((here + 2) * D2) as u32);
                #[unroll]
                for k in (0..D2).step_by(D) {
                    let x = TileA::<f16, 128, D>::load(left[here], part.0, k as u32);
                    let y = TileB::<f16, D, 64>::load(right[here].transposed(), k as u32, part.1);
                    comptime if k + D == D2 {
                        // The loads of the next tiles from memory have completed; start the loads of the tiles after
                        // those.
                        left[next].put(next_a);
                        right[next].put(next_b);
                        next_a = left[next].fetch(a, first.0, after);
                        next_b = right[next].fetch(b, first.1, after);
                    }
                    #[matrix]
                    {
                        acc = matmul(x, y, acc);
                    }
                }
            }
        }
        acc
    }

    /// c = a * b. `a` has rows of `depth` elements, `b` columns of `depth` elements, `c` rows of `columns` elements.
    /// The grid is (columns, rows) / 256, rounded up; depth is a multiple of 8.
    #[workgroup(512)]
    #[targets(HasMfma)]
    pub fn gemm_f16(columns: u32, depth: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let (row, col) = (workgroup_id().y * TILE, workgroup_id().x * TILE);
        let (a, b) = (row_major(a, depth).columns_by(depth, 8), row_major(b, depth).columns_by(depth, 8));
        let part = (wave_id() / 4 * 128, wave_id() % 4 * 64);
        let acc = comptime if target().lds_per_cu() >= DEEP {
            tile::<_, 32, 64>(all_lanes(), a, b, (row, col), part, depth)
        } else {
            tile::<_, 32, 32>(all_lanes(), a, b, (row, col), part, depth)
        };
        acc.store_to(row_major(c, columns).columns(columns), row + part.0, col + part.1);
    }
}
// ANCHOR_END: kernel

/// Reference on the host, which adds in f64, and a bound on the difference of the hardware's sums from it.
pub fn reference(target: Target, columns: usize, depth: usize, a: &[f16], b: &[f16]) -> (Vec<f32>, f64) {
    let is_denormal = |x: &f16| x.classify() == FpCategory::Subnormal;
    let input = |x: &f16| if target == Target::GFX90A && is_denormal(x) { 0.0 } else { x.to_f32() };
    let (a, b): (Vec<f32>, Vec<f32>) = (a.iter().map(input).collect(), b.iter().map(input).collect());
    let dims = [columns, depth];
    (product::rounded(dims, &a, &b), product::tolerance(dims, &a, &b))
}

/// The lesson; sizes are M, N and K.
pub const LESSON: Lesson = Lesson {
    name: "gemm_f16",
    build_with: |target, options| gemm_f16.build_with(target, options).map(BuiltKernel::into_any),
    sizes: &[Size(&[1, 3, 8]), Size(&[40, 136, 72]), Size(&[300, 264, 136]), Size(&[256, 512, 256])],
    run,
    steady: Some(Steady::of_tile([TILE; 2], [512, 1024], |depth| {
        vec![
            ("columns", Arg::Number("u32", 256.0)),
            ("depth", Arg::Number("u32", depth.into())),
            ("a", Arg::Slice("f16", 256 * depth)),
            ("b", Arg::Slice("f16", 256 * depth)),
            ("c", Arg::Slice("f32", 256 * 256)),
        ]
    })),
};

fn run(device: &Device, kernel: &BuiltKernel, size: Size) -> Result<Outcome, LaunchError> {
    let (rows, columns, depth) = (size.0[0], size.0[1], size.0[2]);
    let mut random = Random::new(5);
    let (a, b) = (random.f16s((rows * depth) as usize), random.f16s((columns * depth) as usize));
    let mut c = vec![f32::NAN; (rows * columns) as usize];
    let grid = Grid::xy(columns.div_ceil(TILE), rows.div_ceil(TILE));
    let stats = device.launch(&gemm_f16, kernel, grid, (columns, depth, &a, &b, &mut c))?;
    let (want, tolerance) = reference(device.target(), columns as usize, depth as usize, &a, &b);
    Ok(Outcome { stats, comparison: Comparison::of(&c, &want).within(tolerance) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_multiplies() {
        let half = |xs: [f32; 4]| xs.map(f16::from_f32);
        // [1 2; 3 4] * [5 6; 7 8]. The right factor is stored column by column.
        let (a, b) = (half([1.0, 2.0, 3.0, 4.0]), half([5.0, 7.0, 6.0, 8.0]));
        assert_eq!(reference(Target::GFX942, 2, 2, &a, &b).0, [19.0, 22.0, 43.0, 50.0]);
    }

    #[test]
    fn denormal_inputs_count_where_the_target_has_them() {
        let (tiny, one) = ([f16::from_bits(1)], [f16::ONE]);
        assert_eq!(reference(Target::GFX942, 1, 1, &tiny, &one).0, [f32::exp2(-24.0)]);
        assert_eq!(reference(Target::GFX90A, 1, 1, &tiny, &one).0, [0.0]);
    }

    #[test]
    fn the_first_and_the_last_target_with_matrix_instructions_multiply() {
        LESSON.agrees_on(&[Target::GFX908, Target::GFX950]);
    }
}
