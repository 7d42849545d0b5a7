//! Batched matrix products with scales, a bias and an activation.
//!
//! Each kernel computes `c = E(alpha * rows * columns * (a * b) + beta * c + bias)` for every matrix of a batch, where `rows` and `columns`
//! are the scales. Every extent may have any value from 1 on; `c` is stored row by row.
//!
//! | argument | meaning |
//! |---|---|
//! | `size` | rows of `a` and `c`, columns of `b` and `c`, and depth: columns of `a`, rows of `b` |
//! | `pitch` | distance between contiguous lines (rows or columns) of `a`, `b` and `c`, in elements |
//! | `batch` | distance between the matrices of the batch for `a`, `b` and `c`, in elements; 0 if all share one matrix |
//! | `order` | the order of tiles, as the number of L2 caches and the number of tile rows in a group: [`ORDER`] or [`SHARED_L2`]; see [`tile::place`] |
//! | `alpha`, `beta` | factors; where `beta` is 0, `c` is not read |
//! | `bias` | one element per column, or an empty slice |
//! | `row_scales`, `column_scales` | one factor per row and per column of the product, or empty slices |
//!
//! | parameter | meaning |
//! |---|---|
//! | `A`, `B` | whether [`Rows`] or [`Columns`] are contiguous in memory, of `a` and of the *transposed* `b`: `Rows` if `b` is stored column by column |
//! | `E` | the [`Activation`] |
//! | `WHOLE` | pitches, batches, the depth and, of factors with contiguous `Columns`, their extent are multiples of 16 bytes; otherwise elements are loaded one by one |
//!
//! [`Rows`]: gcn_dsl::lang::matrix::Rows
//! [`Columns`]: gcn_dsl::lang::matrix::Columns
//!
//! The grid is that of [`grid`]. Sums are `f32` (`i32`, `f64`) and are rounded once, when they are stored. Indices have 32 bits, so each
//! slice must be smaller than 2^32 bytes.
//!
//! **Split depth.** If a product has few tiles and a large depth, the kernels of [`split`] compute partial sums, each over a part of the
//! depth. [`reduce`] adds them in a fixed order, so that results are reproducible, and applies scales, bias and activation.
//!
//! ```
//! use gcn_dsl::lang::matrix::Rows;
//! use gcn_dsl::prelude::*;
//! use gcn_kernels::activation::Identity;
//! use gcn_kernels::gemm;
//!
//! // Two products of 3 x 8 by 8 x 2, b column by column, with a bias for each column, on the CPU.
//! let (a, b, bias) = (vec![f16::ONE; 2 * 3 * 8], vec![f16::ONE; 2 * 2 * 8], [0.5, -19.0]);
//! let mut c = vec![f16::ZERO; 2 * 3 * 2];
//! let (size, pitch, batch) = ([3, 2, 8], [8, 8, 2], [24, 16, 6]);
//! let arguments =
//!     (size, pitch, batch, gemm::ORDER, 2.0, 0.0, &a[..], &b[..], &bias[..], &[][..], &[][..], &mut c[..]);
//! let device = Device::simulator(Target::GFX942);
//! gemm::f16s::<Rows, Rows, Identity, true>.launch(&device, gemm::grid(3, 2, 2, 256), arguments)?;
//! assert_eq!(c[..2], [16.5, -3.0].map(f16::from_f32));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use gcn_dsl::lang::matrix::{AccElement, Contiguous, Fp8, View, Xf32};
use gcn_dsl::lang::{Writable, select};
use gcn_dsl::prelude::*;

use crate::activation::Activation;
use crate::tile;

/// The grid for `count` products of `rows` x `columns`, computed in tiles of `tile` x `tile`, where `tile` is 256, or 128 for [`f64s`].
pub fn grid(rows: u32, columns: u32, count: u32, tile: u32) -> Grid {
    Grid::xyz(columns.div_ceil(tile), rows.div_ceil(tile), count)
}

/// Processes tiles in the order of the grid.
pub const ORDER: [u32; 2] = [1, 1];
/// Assigns neighbouring tiles to the same one of eight L2 caches (gfx942, gfx950), in groups of four rows of tiles.
pub const SHARED_L2: [u32; 2] = [8, 4];

/// The depth of each of `splits` parts in elements, a multiple of 64.
pub fn part(depth: u32, splits: u32) -> u32 {
    depth.div_ceil(splits.max(1)).next_multiple_of(64)
}

gcn_kernel! {
    /// A factor from depth `from` on. Its rows are the rows (or columns) of the result, and its columns are the depth.
    #[device]
    fn factor<T: Number, C: Contiguous, const WHOLE: bool>(
        x: &[T],
        pitch: u32,
        lines: u32,
        from: u32,
        depth: u32,
        #[host] step: u32,
    ) -> View<T> {
        comptime if C::COLUMNS {
            let x = &x[from * pitch..];
            let all = col_major(*x, pitch).columns(depth);
            comptime if WHOLE { all } else { all.rows(lines) }
        } else {
            let x = &x[from..];
            row_major(*x, pitch).columns_by(depth, comptime { if WHOLE { step } else { 1u32 } })
        }
    }

    /// Scales the sums, adds the bias and the old elements of `c`, applies the activation and stores the result from
    /// (`row`, `col`) on.
    #[device]
    fn finish<
        C: AccElement + Arithmetic,
        T: Number,
        E: Activation<C>,
        const M: usize,
        const N: usize,
        const SIDE: usize,
    >(
        acc: Tile<C, M, N, SIDE>,
        row: u32,
        col: u32,
        alpha: C,
        beta: C,
        bias: &[C],
        row_scales: &[C],
        column_scales: &[C],
        c: View<T, Writable>,
    ) {
        let (by_row, by_column) = (row_scales.len() > 0, column_scales.len() > 0);
        let (zero, one): (C, C) = (0, 1);
        let scaled = acc.map_indexed(|i, x| {
            let of_row = select(by_row, row_scales[row + acc.row(i)], one);
            let of_column = select(by_column, column_scales[col + acc.col(i)], one);
            alpha * x * of_row * of_column + bias[col + acc.col(i)]
        });
        scaled.update(c, row, col, |x, old| {
            E::apply(x + select(beta == zero, zero, beta * (old as C))) as T
        });
    }

    /// Adds the partial sums that a kernel of [`split`] has computed. The grid is that of [`reduce_grid`]. The
    /// arguments are those of the product; `parts` contains `splits` times `rows` x `columns` sums for each matrix of
    /// the batch.
    #[workgroup(256)]
    pub fn reduce<C: Arithmetic, T: Number, E: Activation<C>>(
        size: [u32; 2],
        pitch: u32,
        batch: u32,
        splits: u32,
        alpha: C,
        beta: C,
        bias: &[C],
        row_scales: &[C],
        column_scales: &[C],
        parts: &[C],
        c: &mut [T],
    ) {
        let [rows, columns] = size;
        let (at, i) = (workgroup_id().y, global_id().x);
        if i < rows * columns {
            let (row, column) = (i / columns, i % columns);
            let first = at * splits * (rows * columns);
            let mut sum: V<C> = parts[first + i];
            for part in 1..splits {
                sum += parts[first + part * (rows * columns) + i];
            }
            let to = at * batch + row * pitch + column;
            let mut x: V<C> = alpha * sum;
            if row_scales.len() > 0 {
                x = x * row_scales[row];
            }
            if column_scales.len() > 0 {
                x = x * column_scales[column];
            }
            x += bias[column];
            let zero: C = 0;
            if beta != zero {
                x += beta * (c[to] as C);
            }
            c[to] = E::apply(x) as T;
        }
    }
}

/// The grid of [`reduce`] for `count` products.
pub fn reduce_grid(rows: u32, columns: u32, count: u32) -> Grid {
    Grid::xy((rows * columns).div_ceil(256), count)
}

macro_rules! gemms {
    ($($(#[$doc:meta])* $name:ident: $of:ty => $sum:ty, $to:ty $(, $targets:tt)?; [$tile:literal, $m:literal, $n:literal],
        $whole:literal, <$A:ident, $B:ident, $M:ident> |$a:ident, $b:ident, $row:ident, $col:ident, $depth:ident| $product:expr;)*) => {
        $(
            gcn_kernel! {
                $(#[$doc])*
                #[workgroup(512)]
                #[wave(64, 32)]
                $(#[targets $targets])?
                pub fn $name<$A: Contiguous, $B: Contiguous, E: Activation<$sum>, const WHOLE: bool>(
                    size: [u32; 3],
                    pitch: [u32; 3],
                    batch: [u32; 3],
                    order: [u32; 2],
                    alpha: $sum,
                    beta: $sum,
                    a: &[$of],
                    b: &[$of],
                    bias: &[$sum],
                    row_scales: &[$sum],
                    column_scales: &[$sum],
                    c: &mut [$to],
                ) {
                    let [rows, columns, $depth] = size;
                    let at = workgroup_id().z;
                    let (across, down) = ((columns + $tile - 1) / $tile, (rows + $tile - 1) / $tile);
                    let (x, y) = tile::place(order[0], order[1], across, down);
                    let ($row, $col) = (y * $tile, x * $tile);
                    let $a = &a[at * batch[0]..];
                    let $b = &b[at * batch[1]..];
                    let c = &mut c[at * batch[2]..];
                    let $a = factor::<$of, $A, WHOLE>(*$a, pitch[0], rows, 0, $depth, $whole);
                    let $b = factor::<$of, $B, WHOLE>(*$b, pitch[1], columns, 0, $depth, $whole);
                    let c = row_major(*c, pitch[2]).rows(rows).columns(columns);
                    comptime if tile::is_in_one_pass() {
                        const $M: usize = $m;
                        let acc = $product;
                        let (of_row, of_col) = tile::part::<$tile, $M, $n>();
                        let (row, col) = ($row + of_row, $col + of_col);
                        finish::<$sum, $to, E, _, _, _>(acc, row, col, alpha, beta, bias, row_scales, column_scales, c);
                    } else {
                        const $M: usize = $m / 2;
                        for $row in ($row..rows.min($row + $tile)).step_by(comptime { $tile / tile::passes() }) {
                            let acc = $product;
                            // The next pass stores to tiles that other waves may still read.
                            barrier();
                            let (of_row, of_col) = tile::part::<$tile, $M, $n>();
                            let (row, col) = ($row + of_row, $col + of_col);
                            finish::<$sum, $to, E, _, _, _>(acc, row, col, alpha, beta, bias, row_scales, column_scales, c);
                        }
                    }
                }
            }
        )*

        /// Kernels that compute products over parts of the depth, for [`reduce`].
        ///
        /// The arguments are those of the kernel of the same name in the module above, with `each` from [`part`].
        /// `parts` receives `splits` times `rows` x `columns` sums for each matrix of the batch. The grid is that of
        /// [`grid`] for `splits` times as many products.
        pub mod split {
            use gcn_dsl::lang::matrix::{Contiguous, Fp8, Xf32};
            use gcn_dsl::prelude::*;

            use super::factor;
            use crate::tile;

            $(
                gcn_kernel! {
                    $(#[$doc])*
                    #[workgroup(512)]
                    #[wave(64, 32)]
                    $(#[targets $targets])?
                    pub fn $name<$A: Contiguous, $B: Contiguous, const WHOLE: bool>(
                        size: [u32; 3],
                        pitch: [u32; 2],
                        batch: [u32; 2],
                        order: [u32; 2],
                        splits: u32,
                        each: u32,
                        a: &[$of],
                        b: &[$of],
                        parts: &mut [$sum],
                    ) {
                        let [rows, columns, whole] = size;
                        let at = workgroup_id().z / splits;
                        let from = (workgroup_id().z % splits * each).min(whole);
                        let $depth = each.min(whole - from);
                        let (across, down) = ((columns + $tile - 1) / $tile, (rows + $tile - 1) / $tile);
                        let (x, y) = tile::place(order[0], order[1], across, down);
                        let ($row, $col) = (y * $tile, x * $tile);
                        let $a = &a[at * batch[0]..];
                        let $b = &b[at * batch[1]..];
                        let to = &mut parts[workgroup_id().z * (rows * columns)..];
                        let $a = factor::<$of, $A, WHOLE>(*$a, pitch[0], rows, from, $depth, $whole);
                        let $b = factor::<$of, $B, WHOLE>(*$b, pitch[1], columns, from, $depth, $whole);
                        let to = row_major(*to, columns).rows(rows).columns(columns);
                        comptime if tile::is_in_one_pass() {
                            const $M: usize = $m;
                            let acc = $product;
                            let (of_row, of_col) = tile::part::<$tile, $M, $n>();
                            acc.store_to(to, $row + of_row, $col + of_col);
                        } else {
                            const $M: usize = $m / 2;
                            for $row in ($row..rows.min($row + $tile)).step_by(comptime { $tile / tile::passes() }) {
                                let acc = $product;
                                // The next pass stores to tiles that other waves may still read.
                                barrier();
                                let (of_row, of_col) = tile::part::<$tile, $M, $n>();
                                acc.store_to(to, $row + of_row, $col + of_col);
                            }
                        }
                    }
                }
            )*
        }
    };
}

gemms! {
    /// f16.
    f16s: f16 => f32, f16; [256, 128, 64], 8, <A, B, M> |a, b, row, col, depth|
        tile::product_by::<_, f16, f32, A, B, M, 16, 32, 64>(all_lanes(), a, b, row, col, depth);
    /// bf16.
    bf16s: bf16 => f32, bf16; [256, 128, 64], 8, <A, B, M> |a, b, row, col, depth|
        tile::product_by::<_, bf16, f32, A, B, M, 16, 32, 64>(all_lanes(), a, b, row, col, depth);
    /// f32.
    f32s: f32 => f32, f32; [256, 128, 64], 4, <A, B, M> |a, b, row, col, depth|
        tile::product_by::<_, f32, f32, A, B, M, 8, 16, 32>(all_lanes(), a, b, row, col, depth);
    /// f32. Factors are rounded to 10 fraction bits (`Xf32`), and the rate is a multiple of that for f32.
    xf32s: f32 => f32, f32, (HasMfmaXf32); [256, 128, 64], 4, <A, B, M> |a, b, row, col, depth|
        tile::product_by::<_, Xf32, f32, A, B, M, 8, 16, 32>(all_lanes(), a, b, row, col, depth);
    /// i8, with sums and results in i32.
    i8s: i8 => i32, i32; [256, 128, 64], 16, <A, B, M> |a, b, row, col, depth|
        tile::product_by::<_, i8, i32, A, B, M, 32, 64, 128>(all_lanes(), a, b, row, col, depth);
    /// 8-bit floats with 4 exponent bits ([`Fp8`]) stored as bytes, with results in f32.
    fp8s: u8 => f32, f32, (HasMatrixF8); [256, 128, 64], 16, <A, B, M> |a, b, row, col, depth|
        tile::product_by::<_, Fp8, f32, A, B, M, 32, 64, 128>(all_lanes(), a, b, row, col, depth);
    /// f64, in tiles of 128 x 128.
    f64s: f64 => f64, f64, (HasMfmaF64); [128, 64, 32], 2, <A, B, M> |a, b, row, col, depth|
        tile::walk_by::<_, f64, f64, A, B, 128, 128, 64, 32, 16, 16, 16>(all_lanes(), a, b, row, col, depth);
}
