//! Computes a workgroup's tile of a matrix product at the full rate of the matrix pipe.
//!
//! [`walk`] proceeds along `k` with two tiles of each factor in LDS, used alternately (`#[ping_pong]`). Its rate is
//! limited by the balance of a phase: the `M x N x D` multiplications of a wave must take at least as long as the LDS
//! accesses of four waves, which load `(M + N) x D` elements each and store the next tiles. The extents of [`product`]
//! satisfy that for elements of at most two bytes.

use std::array::from_fn;

use gcn_dsl::lang::matrix::{
    AccElement, Bound, Contiguous, ExistsOn, Rows, Spread, TileFactor, View, Wide, has_copied_factors,
    has_instruction, matmul_part,
};
use gcn_dsl::lang::target;
use gcn_dsl::{WaveSize, prelude::*};

/// The LDS size that [`product`] needs for its deeper phases.
const DEEP: u32 = 128 * 1024;

/// The number of tiles of each factor in LDS in `walk_in_step`: while one wave writes the next tile, another may still read the one before.
/// Three would do; four divide the depths of [`product`].
const TILES: usize = 4;

/// The lanes of the workgroups of [`product`].
const LANES: u32 = 512;

/// The registers that a wave of 64 lanes needs for 128 x 64 sums and its parts of the factors.
const WHOLE: u32 = 192;

/// The waves of the kernels of [`gemm`](crate::gemm) on the target of this build: 64 lanes, except on targets that have waves of 32 only
/// (gfx1250).
fn wave() -> WaveSize {
    let set = target().instruction_set();
    if set.has_wave(WaveSize::W64) { WaveSize::W64 } else { WaveSize::W32 }
}

/// True if each wave of a workgroup has enough registers for 128 x 64 sums and for its parts of the factors, on the target of this build.
/// Otherwise a wave of the kernels of [`gemm`](crate::gemm) computes half of the rows at a time, in [`passes`].
///
/// The waves of a workgroup share the registers of a compute unit: on CDNA each has 256, on most processors of RDNA 3 and 4 192. On RDNA 1
/// and 2, on some processors of RDNA 3, and on GFX9 without matrix instructions each has 128, as many as there are sums; on gfx908 each has 128
/// AGPRs besides. On gfx1250 a wave has half of the lanes, and 256 registers, as many as there are sums.
pub fn is_in_one_pass() -> bool {
    let (target, wave) = (target(), wave());
    let waves = (LANES / wave.lanes()).div_ceil(target.simds_per_cu());
    // Where AGPRs are a file of their own (gfx908), they hold the sums.
    let files = if target.has_agprs() && !target.has_unified_agprs() { 2 } else { 1 };
    files * target.vgpr_file(wave).registers / waves >= WHOLE * WaveSize::W64.lanes() / wave.lanes()
}

/// The number of passes in which a workgroup computes a tile if a wave cannot hold 128 x 64 sums: two, of half of the rows each; one on
/// gfx1250, where the workgroup has twice as many waves.
pub fn passes() -> u32 {
    wave().lanes() / WaveSize::W32.lanes()
}

gcn_kernel! {
    /// The wave's 128 x 64 part of a workgroup's 256 x 256 tile of a * b; the first element of the tile is at (`row`, `col`).
    ///
    /// Both factors are matrices with `depth` columns: `b` is the transposed right factor. The workgroup has 512 work-items, and [`part`]
    /// returns the position of the wave's part. `D` elements are 32 bytes; `D2` and `D4` are two and four times `D`. If `D4` does not
    /// divide the number of columns, the views have to state their limit (`columns_by`).
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// use gcn_kernels::tile;
    ///
    /// gcn_kernel! {
    ///     /// c = a * b for 256 x depth times depth x 256.
    ///     #[workgroup(512)]
    ///     #[targets(HasMfma)]
    ///     fn square(depth: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
    ///         let (a, b) = (row_major(a, depth).columns_by(depth, 8), row_major(b, depth).columns_by(depth, 8));
    ///         let acc = tile::product::<_, f16, f32, 16, 32, 64>(all_lanes(), a, b, 0, 0, depth);
    ///         let (row, col) = tile::part::<256, 128, 64>();
    ///         acc.store_to(row_major(c, 256), row, col);
    ///     }
    /// }
    /// let (a, b, mut c) = (vec![f16::ONE; 256 * 8], vec![f16::ONE; 256 * 8], vec![0.0; 256 * 256]);
    /// square.launch(&Device::simulator(Target::GFX942), Grid::x(1), (8, &a, &b, &mut c))?;
    /// assert!(c.iter().all(|c| *c == 8.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[device]
    #[track_caller]
    pub fn product<G, T: TileFactor<T, C>, C: AccElement, const D: usize, const D2: usize, const D4: usize>(
        all: AllLanes<G>,
        a: View<T::Memory>,
        b: View<T::Memory>,
        row: u32,
        col: u32,
        depth: u32,
    ) -> Tile<C, 128, 64>
    where
        T::Targets: ExistsOn<Bound<G>>,
    {
        product_by::<G, T, C, Rows, Rows, 128, D, D2, D4>(all_lanes(), a, b, row, col, depth)
    }

    /// As [`product`], for the wave's `M x 64` part of a tile of `2 * M` x 256 (`4 * M` in waves of 32 lanes), where `M` is 128, or 64 on
    /// targets with fewer registers ([`is_in_one_pass`]). `A` and `B` say what is contiguous in memory, rows or columns: `A` for `a`,
    /// `B` for `b`, the transposed right factor.
    #[device]
    #[track_caller]
    pub fn product_by<
        G,
        T: TileFactor<T, C>,
        C: AccElement,
        A: Contiguous,
        B: Contiguous,
        const M: usize,
        const D: usize,
        const D2: usize,
        const D4: usize,
    >(
        all: AllLanes<G>,
        a: View<T::Memory>,
        b: View<T::Memory>,
        row: u32,
        col: u32,
        depth: u32,
    ) -> Tile<C, M, 64>
    where
        T::Targets: ExistsOn<Bound<G>>,
    {
        // The matrix instructions of gfx1250 take twice the depth.
        comptime if M < 128 && passes() == 1 {
            step_by::<G, T, C, A, B, 256, M, D2>(all_lanes(), a, b, row, col, depth)
        } else if M < 128 {
            step_by::<G, T, C, A, B, 128, M, D>(all_lanes(), a, b, row, col, depth)
        } else if !target().has_agprs() || !has_instruction::<T>() {
            step_by::<G, T, C, A, B, 256, M, D>(all_lanes(), a, b, row, col, depth)
        // Targets with more LDS also have matrix instructions that are twice as fast, for which a phase has to be twice as deep.
        } else if target().lds_per_cu() >= DEEP {
            walk_by::<G, T, C, A, B, 256, 256, M, 64, 32, D2, D4>(all_lanes(), a, b, row, col, depth)
        } else {
            walk_by::<G, T, C, A, B, 256, 256, M, 64, 32, D2, D2>(all_lanes(), a, b, row, col, depth)
        }
    }

    /// `walk_in_step` with fragments that fit into a wave's registers beside the sums.
    #[device]
    #[track_caller]
    fn step_by<
        G,
        T: TileFactor<T, C>,
        C: AccElement,
        A: Contiguous,
        B: Contiguous,
        const TM: usize,
        const M: usize,
        const D: usize,
    >(
        all: AllLanes<G>,
        a: View<T::Memory>,
        b: View<T::Memory>,
        row: u32,
        col: u32,
        depth: u32,
    ) -> Tile<C, M, 64>
    where
        T::Targets: ExistsOn<Bound<G>>,
    {
        comptime if !has_instruction::<T>() {
            // Each lane has 4 of 16 rows and 4 columns of the factors. One instruction adds the products of four bytes.
            comptime if size_of::<T::Memory>() == 1 {
                walk_in_step::<G, T, C, A, B, TM, 256, M, 64, 32, 4, D, 64>(all_lanes(), a, b, row, col, depth)
            } else {
                walk_in_step::<G, T, C, A, B, TM, 256, M, 64, 32, 2, D, 64>(all_lanes(), a, b, row, col, depth)
            }
        // Sums and factors share the registers of a wave. Where lanes have whole columns, half of them fit.
        } else if has_copied_factors() {
            walk_in_step::<G, T, C, A, B, TM, 256, M, 64, 32, D, D, 32>(all_lanes(), a, b, row, col, depth)
        } else {
            walk_in_step::<G, T, C, A, B, TM, 256, M, 64, 32, D, D, 64>(all_lanes(), a, b, row, col, depth)
        }
    }

    /// As [`walk_by`] for the matrix instructions of RDNA, of which several waves of a SIMD fill the pipe between them.
    ///
    /// Each wave has `Q` columns of the right factor in registers, and two times 16 rows of the left one, of which one is on its way while the
    /// other is multiplied. Of four tiles in LDS, one is read and the next one is written; the barrier stands among the products, where all
    /// waves already have the factors with which they go on.
    #[device]
    #[track_caller]
    fn walk_in_step<
        G,
        T: TileFactor<T, C>,
        C: AccElement,
        A: Contiguous,
        B: Contiguous,
        const TM: usize,
        const TN: usize,
        const M: usize,
        const N: usize,
        const SIDE: usize,
        const D: usize,
        const D2: usize,
        const Q: usize,
    >(
        all: AllLanes<G>,
        a: View<T::Memory>,
        b: View<T::Memory>,
        row: u32,
        col: u32,
        depth: u32,
    ) -> Tile<C, M, N, SIDE>
    where
        T::Targets: ExistsOn<Bound<G>>,
    {
        let left = comptime { from_fn::<_, TILES, _>(|_| LdsTile::<T::Memory, TM, D2, Spread<16>>::new()) };
        let right = comptime { from_fn::<_, TILES, _>(|_| LdsTile::<T::Memory, TN, D2, Spread<16>>::new()) };
        let (of_row, of_col) = part::<TN, M, N>();
        let mut acc = Tile::<C, M, N, SIDE>::zero();
        left[0].put(left[0].stage_by::<A>(a, row, 0));
        right[0].put(right[0].stage_by::<B>(b, col, 0));
        let mut next_a = left[1].stage_by::<A>(a, row, D2 as u32);
        let mut next_b = right[1].stage_by::<B>(b, col, D2 as u32);
        barrier();
        for done in (0..depth).step_by((TILES * D2) as u32) {
            let mut x = TileA::<T, 16, D, 16, Wide>::load(left[0], of_row, 0);
            #[unroll]
            for here in 0..TILES {
                let (next, after) = ((here + 1) % TILES, done + ((here + 2) * D2) as u32);
                left[next].put(next_a);
                right[next].put(next_b);
                next_a = left[next].stage_by::<A>(a, row, after);
                next_b = right[next].stage_by::<B>(b, col, after);
                #[unroll]
                for part in 0..D2 / D * (N / Q) {
                    let (k, column) = (part / (N / Q) * D, part % (N / Q) * Q);
                    // Loaded earlier, these columns would need registers beside those before them.
                    sched_barrier();
                    // Fragments of bytes are processed in pairs, so that a lane reads 8 bytes at once, as with wider
                    // elements.
                    let y = TileB::<T, D, Q, 16, Wide>::load(right[here].transposed(), k as u32, of_col + column as u32);
                    #[unroll]
                    for i in (0..M).step_by(16) {
                        comptime if !has_instruction::<T>() {
                            sched_barrier();
                        }
                        let wraps = comptime { i + 16 == M };
                        let ends = comptime { wraps && part + 1 == D2 / D * (N / Q) };
                        comptime if ends && here + 1 == TILES {
                            acc = matmul_part(x, y, acc, i, column);
                        } else {
                            let from = comptime { if ends { next } else { here } };
                            let k = comptime { if wraps { (part + 1) / (N / Q) * D % D2 } else { k } };
                            let following = TileA::<T, 16, D, 16, Wide>::load(left[from], of_row + ((i + 16) % M) as u32, k as u32);
                            acc = matmul_part(x, y, acc, i, column);
                            x = following;
                        }
                        comptime if part + 1 == D2 / D * (N / Q) && i == M / 2 {
                            barrier();
                        }
                    }
                }
            }
        }
        acc
    }

    /// The first row and column of the wave's `M x N` part, in a tile with `TN` columns.
    #[device]
    #[track_caller]
    pub fn part<const TN: usize, const M: usize, const N: usize>() -> (u32, u32) {
        let across = (TN / N) as u32;
        (wave_id() / across * M as u32, wave_id() % across * N as u32)
    }

    /// A workgroup's position (column and row) in the grid of tiles, chosen such that concurrent workgroups share tiles in their L2.
    ///
    /// The hardware distributes workgroups to the `caches` L2s in turn (8 XCDs on gfx942 and gfx950; 1 elsewhere). Here
    /// each L2 gets neighbouring tiles instead: they proceed down `height` rows of tiles before they continue with the
    /// next column. If both numbers are 1, the order is that of the grid.
    #[device]
    #[track_caller]
    pub fn place(caches: u32, height: u32, across: u32, down: u32) -> (u32, u32) {
        let (count, at) = (across * down, workgroup_id());
        let linear = at.y * across + at.x;
        let (each, more, cache) = (count / caches, count % caches, linear % caches);
        let mine = cache * each + cache.min(more) + linear / caches;
        let band = height * across;
        let first = mine / band * height;
        let (rows, inside) = (height.min(down - first), mine % band);
        (inside / rows, first + inside % rows)
    }

    /// As [`product`], with extents as parameters: the wave's `M x N` part of a tile of `TM x TN`, computed with
    /// instructions of `SIDE x SIDE`. A tile in LDS has `D2` columns of a factor, and a phase processes `D` of them.
    /// The kernel needs `2 x (TM + TN) x D2` elements of LDS.
    #[device]
    #[track_caller]
    pub fn walk<
        G,
        T: TileFactor<T, C>,
        C: AccElement,
        const TM: usize,
        const TN: usize,
        const M: usize,
        const N: usize,
        const SIDE: usize,
        const D: usize,
        const D2: usize,
    >(
        all: AllLanes<G>,
        a: View<T::Memory>,
        b: View<T::Memory>,
        row: u32,
        col: u32,
        depth: u32,
    ) -> Tile<C, M, N, SIDE>
    where
        T::Targets: ExistsOn<Bound<G>>,
    {
        walk_by::<G, T, C, Rows, Rows, TM, TN, M, N, SIDE, D, D2>(all_lanes(), a, b, row, col, depth)
    }

    /// As [`walk`], with `A` and `B` as in [`product_by`].
    #[device]
    #[track_caller]
    pub fn walk_by<
        G,
        T: TileFactor<T, C>,
        C: AccElement,
        A: Contiguous,
        B: Contiguous,
        const TM: usize,
        const TN: usize,
        const M: usize,
        const N: usize,
        const SIDE: usize,
        const D: usize,
        const D2: usize,
    >(
        all: AllLanes<G>,
        a: View<T::Memory>,
        b: View<T::Memory>,
        row: u32,
        col: u32,
        depth: u32,
    ) -> Tile<C, M, N, SIDE>
    where
        T::Targets: ExistsOn<Bound<G>>,
    {
        let left = [LdsTile::<T::Memory, TM, D2, Spread<SIDE>>::new(), LdsTile::<T::Memory, TM, D2, Spread<SIDE>>::new()];
        let right = [LdsTile::<T::Memory, TN, D2, Spread<SIDE>>::new(), LdsTile::<T::Memory, TN, D2, Spread<SIDE>>::new()];
        let (of_row, of_col) = part::<TN, M, N>();
        let mut acc = Tile::<C, M, N, SIDE>::zero();
        left[0].put(left[0].stage_by::<A>(a, row, 0));
        right[0].put(right[0].stage_by::<B>(b, col, 0));
        let mut next_a = left[1].stage_by::<A>(a, row, D2 as u32);
        let mut next_b = right[1].stage_by::<B>(b, col, D2 as u32);
        #[ping_pong]
        for done in (0..depth).step_by(2 * D2 as u32) {
            #[unroll]
            for here in 0..2usize {
                let (next, after) = (1 - here, done + ((here + 2) * D2) as u32);
                #[unroll]
                for k in (0..D2).step_by(D) {
                    let x = TileA::<T, M, D, SIDE>::load(left[here], of_row, k as u32);
                    let y = TileB::<T, D, N, SIDE>::load(right[here].transposed(), k as u32, of_col);
                    comptime if k + D == D2 {
                        left[next].put(next_a);
                        right[next].put(next_b);
                        next_a = left[next].stage_by::<A>(a, row, after);
                        next_b = right[next].stage_by::<B>(b, col, after);
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
}
