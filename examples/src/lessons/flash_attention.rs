//! Attention without the matrix of scores: products chained in registers.
//!
//! O = softmax(Q * K^T / sqrt(D)) * V for each head, in half precision with single-precision sums, causal or
//! not. The scores of all queries and keys would be a matrix as large as the square of the sequence. Instead
//! a wave keeps 32 queries, processes the keys 64 at a time, and corrects its sums whenever it meets a larger
//! score (Dao et al. 2022, "FlashAttention").
//!
//! **Transposed on purpose.** The kernel computes S^T = K * Q^T and O^T = V^T * P^T. An accumulator holds a
//! *column* in the registers of two lanes. With keys as rows, the maximum over the keys is therefore computed
//! inside a lane, with one exchange at the end ([`Tile::col_max`]), and the maximum, the sum and the
//! correction of a query are one number per lane each.
//!
//! **Chained.** P^T is at once accumulator of the first product and right factor of the second.
//! [`Tile::to_b`] converts its elements to f16 in place: the registers of an accumulator are those of a
//! fragment, except for the order of the keys. The type records this order: V^T is loaded with `AsAcc`, in
//! the same order. A factor in another order would not compile.
//!
//! **The mask.** `CAUSAL` is a constant of the kernel: two kernels from one source. Keys after the last query
//! of the workgroup are not visited at all; of the others those after the lane's query score minus infinity.
//!
//! **The numbers.** The reference is computed in f64. P is rounded to f16 before it is multiplied, with an
//! error of at most 2^-11 of each weight; the weights of a query sum to 1 and V is below 1, so that 2^-10
//! allows for this, the rounding of O and `exp2`.

use gcn_dsl::lang::matrix::{AsAcc, Pad};
use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

use crate::data::Random;
use crate::{Comparison, Lesson, Outcome, Size};

/// Elements of a query, a key and a value.
pub const D: usize = 64;
/// Queries of a wave.
const QUERIES: usize = 32;
/// Queries of a workgroup of four waves.
pub const BLOCK: u32 = 4 * QUERIES as u32;
/// Keys and values in LDS at a time.
const KEYS: usize = 64;

// ANCHOR: kernel
gcn_kernel! {
    /// o = softmax(scale * q * k^T) * v. All are rows of `D` elements, `length` rows for each head, a
    /// multiple of 128. The scale includes a factor log2(e), so that powers of two suffice. The grid is
    /// (length / 128, heads).
    #[workgroup(256)]
    #[targets(gfx90a, gfx942, gfx950)]
    pub fn flash_attention<const CAUSAL: bool>(
        length: u32, scale: f32, q: &[f16], k: &[f16], v: &[f16], o: &mut [f16],
    ) {
        let tile_k = LdsTile::<f16, KEYS, D, Pad<8>>::new();
        let tile_v = LdsTile::<f16, KEYS, D, Pad<8>>::new();
        let (keys, values) = (row_major(k, D as u32), row_major(v, D as u32));

        // Rows of the head, of the workgroup's queries and of the wave's.
        let head = workgroup_id().y * length;
        let block = workgroup_id().x * BLOCK;
        let first_query = block + wave_id() * QUERIES as u32;
        let queries = TileB::<f16, D, QUERIES>::load(row_major(q, D as u32).transposed(), 0, head + first_query);

        // The lane's state for its query.
        let mut largest: V<f32> = f32::NEG_INFINITY;
        let mut sum: V<f32> = 0.0;
        let mut out = Tile::<f32, D, QUERIES>::zero().in_vgprs();

        let end = comptime { if CAUSAL { block + BLOCK } else { length } };
        let mut next_k = tile_k.fetch(keys, head, 0);
        let mut next_v = tile_v.fetch(values, head, 0);
        for first_key in (0..end).step_by(KEYS as u32) {
            tile_k.put(next_k);
            tile_v.put(next_v);
            barrier();
            next_k = tile_k.fetch(keys, head + first_key + KEYS as u32, 0);
            next_v = tile_v.fetch(values, head + first_key + KEYS as u32, 0);

            let scores = Tile::<f32, KEYS, QUERIES>::zero().in_vgprs();
            let scores = matmul(TileA::<f16, KEYS, D>::load(tile_k, 0, 0), queries, scores);
            let query = first_query + scores.col(0);
            let scores = scores.map_indexed(|i, score| {
                let visible = scale * score;
                comptime {
                    if CAUSAL {
                        let after = gcn_dsl::lang::gt(scores.row(i) + first_key, query);
                        select(after, f32::NEG_INFINITY, visible)
                    } else {
                        visible
                    }
                }
            });

            let before = largest;
            largest = largest.max(scores.col_max()[0]);
            let correction = (before - largest).exp2();
            let weights = scores.map(|score| (score - largest).exp2());
            sum = sum * correction + weights.col_sum()[0];
            out = out.map(|x| x * correction);

            let columns = TileA::<f16, D, KEYS, 32, AsAcc>::load(tile_v.transposed(), 0, 0);
            out = matmul(columns, weights.to_b(|x| x as f16), out);
            barrier();
        }
        let one: V<f32> = 1.0;
        let share = one / sum;
        out.store_with(row_major(o, D as u32).transposed(), 0, head + first_query, |x| (x * share) as f16);
    }
}
// ANCHOR_END: kernel

/// The same on the host, in f64 and with the whole row of scores.
pub fn reference(causal: bool, length: usize, [q, k, v]: [&[f16]; 3]) -> Vec<f64> {
    let dot = |a: &[f16], b: &[f16]| a.iter().zip(b).map(|(a, b)| a.to_f64() * b.to_f64()).sum::<f64>();
    let mut out = Vec::new();
    for (row, query) in q.chunks_exact(D).enumerate() {
        let head = row / length * length;
        let visible = if causal { row - head + 1 } else { length };
        let keys = k[head * D..].chunks_exact(D).take(visible);
        let scores: Vec<f64> = keys.map(|key| dot(query, key) / (D as f64).sqrt()).collect();
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
        let sum: f64 = weights.iter().sum();
        let element = |d: usize| {
            let values = v[head * D..].chunks_exact(D).map(|value| value[d].to_f64());
            weights.iter().zip(values).map(|(weight, value)| weight * value).sum::<f64>() / sum
        };
        out.extend((0..D).map(element));
    }
    out
}

/// The lesson without a mask; sizes are heads and length.
pub const LESSON: Lesson = Lesson {
    name: "flash_attention",
    build_with: |target, options| {
        flash_attention::<false>.build_with(target, options).map(BuiltKernel::into_any)
    },
    sizes: &[Size(&[1, 128]), Size(&[2, 256]), Size(&[1, 384])],
    run: run::<false>,
    steady: None,
};

/// The lesson with the causal mask.
pub const CAUSAL: Lesson = Lesson {
    name: "flash_attention_causal",
    build_with: |target, options| {
        flash_attention::<true>.build_with(target, options).map(BuiltKernel::into_any)
    },
    sizes: &[Size(&[1, 128]), Size(&[2, 256]), Size(&[1, 384])],
    run: run::<true>,
    steady: None,
};

fn run<const CAUSAL: bool>(
    device: &Device,
    kernel: &BuiltKernel,
    size: Size,
) -> Result<Outcome, LaunchError> {
    let (heads, length) = (size.0[0], size.0[1]);
    let elements = heads as usize * length as usize * D;
    let mut random = Random::new(7);
    // Larger queries, so that some weights stand out.
    let q: Vec<f16> = random.f64s(elements).into_iter().map(|x| f16::from_f64(4.0 * x)).collect();
    let (k, v) = (random.f16s(elements), random.f16s(elements));
    let mut o = vec![f16::NAN; elements];
    let scale = std::f32::consts::LOG2_E / (D as f32).sqrt();
    let grid = Grid::xy(length / BLOCK, heads);
    let stats =
        device.launch(&flash_attention::<CAUSAL>, kernel, grid, (length, scale, &q, &k, &v, &mut o))?;
    let got: Vec<f64> = o.iter().map(|x| x.to_f64()).collect();
    let want = reference(CAUSAL, length as usize, [&q, &k, &v]);
    Ok(Outcome { stats, comparison: Comparison::of(&got, &want).within(f64::exp2(-10.0)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the mask, and on gfx950, whose instruction takes twice the depth.
    #[test]
    fn the_kernel_agrees_with_and_without_a_mask() {
        for (lesson, target) in [
            (CAUSAL, Target::GFX90A),
            (CAUSAL, Target::GFX942),
            (CAUSAL, Target::GFX950),
            (LESSON, Target::GFX950),
        ] {
            let kernel = lesson.build(target).unwrap();
            for &size in lesson.sizes {
                let outcome = (lesson.run)(&Device::simulator(target), &kernel, size).unwrap();
                assert!(
                    outcome.comparison.agrees(),
                    "{} {size} on {target}: {}",
                    lesson.name,
                    outcome.comparison
                );
            }
        }
    }

    #[test]
    fn the_reference_weighs_by_the_keys() {
        let mut q = vec![f16::ZERO; 2 * D];
        let (mut k, mut v) = (q.clone(), q.clone());
        // The second query meets the second key with a score of ln 3: weights 1/4 and 3/4.
        (q[D], k[D]) = (f16::from_f64(8.0), f16::from_f64(3f64.ln()));
        (v[0], v[D]) = (f16::from_f64(1.0), f16::from_f64(2.0));
        let near = |got: f64, want: f64| assert!((got - want).abs() < 1e-3, "{got}, {want}");
        let all = reference(false, 2, [&q, &k, &v]);
        near(all[0], 1.5);
        near(all[D], 1.75);
        let causal = reference(true, 2, [&q, &k, &v]);
        near(causal[0], 1.0);
        near(causal[D], 1.75);
    }
}
