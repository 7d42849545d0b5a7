//! Matrix products with scales, a bias and an activation, in batches.
//!
//! Each kernel computes `c = activation(alpha * a * b + beta * c + bias)` for every matrix of a batch. `a` is stored row by row
//! and `b` column by column, so that `k` is the fast dimension of both; `c` is stored row by row. Every extent may be anything from 1 on.
//!
//! | argument | meaning |
//! |---|---|
//! | `size` | rows of `a` and `c`, columns of `b` and `c`, and depth: columns of `a`, rows of `b` |
//! | `pitch` | elements from one row of `a` to the next, one column of `b` to the next, one row of `c` to the next |
//! | `batch` | elements from one `a` of the batch to the next, likewise `b` and `c`; 0 where all have the same |
//! | `alpha`, `beta` | factors; where `beta` is 0, `c` is not read |
//! | `bias` | an element for each column, or an empty slice |
//!
//! The parameter `WHOLE` says that depth and pitches and batches of `a` and `b` are multiples of 16 bytes; otherwise elements are
//! loaded one by one. `RELU` replaces negative results by 0. The grid is that of [`grid`]. Sums are `f32` (`i32`, `f64`), and
//! rounded once on their way to memory. Indices are of 32 bits: no slice has 2^32 bytes or more.
//!
//! ```
//! use gcn_dsl::prelude::*;
//! use gcn_kernels::gemm;
//!
//! // Two products of 3 x 8 by 8 x 2, with a bias for each column, on the CPU.
//! let (a, b, bias) = (vec![f16::ONE; 2 * 3 * 8], vec![f16::ONE; 2 * 2 * 8], [0.5, -19.0]);
//! let mut c = vec![f16::ZERO; 2 * 3 * 2];
//! let arguments = ([3, 2, 8], [8, 8, 2], [24, 16, 6], 2.0, 0.0, &a[..], &b[..], &bias[..], &mut c[..]);
//! gemm::f16s::<true, false>.launch(&Device::simulator(Target::GFX942), gemm::grid(3, 2, 2, 256), arguments)?;
//! assert_eq!(c[..2], [16.5, -3.0].map(f16::from_f32));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use gcn_dsl::lang::matrix::Fp8;
use gcn_dsl::lang::select;
use gcn_dsl::prelude::*;

use crate::tile;

/// The grid for `count` products of `rows` x `columns`, computed in tiles of `tile` x `tile`: 256, for [`f64s`] 128.
pub fn grid(rows: u32, columns: u32, count: u32, tile: u32) -> Grid {
    Grid::xyz(columns.div_ceil(tile), rows.div_ceil(tile), count)
}

macro_rules! gemms {
    ($($(#[$doc:meta])* $name:ident: $of:ty => $sum:ty, $to:ty; $targets:tt, [$tile:literal, $m:literal, $n:literal],
        $whole:literal, |$a:ident, $b:ident, $row:ident, $col:ident, $depth:ident| $product:expr;)*) => {$(
        gcn_kernel! {
            $(#[$doc])*
            #[workgroup(512)]
            #[targets $targets]
            pub fn $name<const WHOLE: bool, const RELU: bool>(
                size: [u32; 3],
                pitch: [u32; 3],
                batch: [u32; 3],
                alpha: $sum,
                beta: $sum,
                a: &[$of],
                b: &[$of],
                bias: &[$sum],
                c: &mut [$to],
            ) {
                let [rows, columns, $depth] = size;
                let group = workgroup_id();
                let ($row, $col) = (group.y * $tile, group.x * $tile);
                let a = &a[group.z * batch[0]..];
                let b = &b[group.z * batch[1]..];
                let c = &mut c[group.z * batch[2]..];
                let (a, b) = (row_major(*a, pitch[0]), row_major(*b, pitch[1]));
                let step = comptime { if WHOLE { $whole } else { 1u32 } };
                let ($a, $b) = (a.columns_by($depth, step), b.columns_by($depth, step));
                let acc = $product;
                let (of_row, of_col) = tile::part::<$tile, $m, $n>();
                let (row, col) = ($row + of_row, $col + of_col);
                let scaled = acc.map_indexed(|i, x| alpha * x + bias[col + acc.col(i)]);
                let c = row_major(*c, pitch[2]).rows(rows).columns(columns);
                scaled.update(c, row, col, |x, old| {
                    let sum = x + select(beta == 0 as $sum, 0 as $sum, beta * old as $sum);
                    comptime if RELU { sum.max(0 as $sum) as $to } else { sum as $to }
                });
            }
        }
    )*};
}

gemms! {
    /// f16.
    f16s: f16 => f32, f16; (HasMfma), [256, 128, 64], 8, |a, b, row, col, depth|
        tile::product::<_, f16, f32, 16, 32, 64>(all_lanes(), a, b, row, col, depth);
    /// bf16.
    bf16s: bf16 => f32, bf16; (HasMfma), [256, 128, 64], 8, |a, b, row, col, depth|
        tile::product::<_, bf16, f32, 16, 32, 64>(all_lanes(), a, b, row, col, depth);
    /// f32.
    f32s: f32 => f32, f32; (HasMfma), [256, 128, 64], 4, |a, b, row, col, depth|
        tile::product::<_, f32, f32, 8, 16, 32>(all_lanes(), a, b, row, col, depth);
    /// i8, sums and results in i32.
    i8s: i8 => i32, i32; (HasMfma), [256, 128, 64], 16, |a, b, row, col, depth|
        tile::product::<_, i8, i32, 32, 64, 128>(all_lanes(), a, b, row, col, depth);
    /// Bytes that are 8-bit floats of 4 exponent bits ([`Fp8`]), results in f32.
    fp8s: u8 => f32, f32; (HasMfmaF8), [256, 128, 64], 16, |a, b, row, col, depth|
        tile::product::<_, Fp8, f32, 32, 64, 128>(all_lanes(), a, b, row, col, depth);
    /// f64, in tiles of 128 x 128.
    f64s: f64 => f64, f64; (HasMfmaF64), [128, 64, 32], 2, |a, b, row, col, depth|
        tile::walk::<_, f64, f64, 128, 128, 64, 32, 16, 16, 16>(all_lanes(), a, b, row, col, depth);
}
