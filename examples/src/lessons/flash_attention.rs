//! Attention without the matrix of scores: products chained in registers.
//!
//! O = softmax(Q * K^T / sqrt(D)) * V for each head, in half precision with single-precision sums, with or without a
//! causal mask. The matrix of the scores of all queries and keys would have as many elements as the square of the
//! sequence length. Instead, a wave keeps 32 queries, processes 64 keys at a time (32 for heads of 128 elements), and
//! rescales its sums when it meets a much larger score (Dao et al. 2022, "FlashAttention").
//!
//! **The loop** is a device function of a library, [`gcn_kernels::attention::walk`], about 60 lines: read it together with this text.
//!
//! **Transposed on purpose.** The kernel computes S^T = K * Q^T and O^T = V^T * P^T. A *column* of an accumulator is in
//! the registers of two lanes. With keys as rows, the maximum over the keys is therefore computed inside a lane
//! ([`Tile::lane_max`]), and a lane has one number each for the maximum, the sum and the correction of its query.
//!
//! **Chained.** P^T is both the accumulator of the first product and the right factor of the second. [`Tile::to_b`]
//! converts its elements to f16 in place: the registers of an accumulator are those of a fragment, except for the order
//! of the keys. The type records this order, and V^T is loaded in the same order, with `AsAcc`. A factor in another
//! order would not compile.
//!
//! **V^T.** The keys are the inner dimension of the second product, and in memory they are rows. The tile is transposed
//! in registers, between the load and the store to LDS (`stage_by::<Columns>`), which takes four byte permutes for
//! eight elements. Without that, each element of V would need a separate load from LDS.
//!
//! **Ping-pong.** A softmax has no matrix instructions: a wave that computed one product after the other would leave
//! the matrix pipe idle half of the time. So each wave computes the product of the scores one trip ahead: a phase of
//! matrix instructions consists of the scores for the next keys and the sums for the current ones. In the meantime, the
//! other group of waves computes its softmax (`#[ping_pong]`, gcn-dsl/guide/scheduling.md).
//!
//! **Few corrections.** If every larger maximum rescaled the sums, each trip would multiply all of O. The weights are
//! 2^(s - m), which is correct for any m that is not too small. So m changes only when a weight would exceed 2^8, in a
//! branch that is hardly ever taken after the first keys.
//!
//! **Exponentials and loads.** An exponential occupies the vector ALU four times as long as an addition. A wave can
//! issue loads from LDS in this time, if the loads are interleaved with the exponentials: `interleave!`.
//!
//! **The mask.** `CAUSAL` is a constant of the kernel, so there are two kernels from one source. Keys after the last
//! query of the workgroup are not visited at all. Of the others, those after the lane's query get the score minus
//! infinity.
//!
//! **The numbers.** The reference is computed in f64. P is rounded toward zero to f16 before it is multiplied, with a
//! relative error below 2^-10 for each weight. The weights of a query sum to 1 and V is below 1, so a tolerance of 2^-9
//! allows for this error, for the rounding of O and for that of `exp2`.

use gcn_dsl::lang::{select, shuffle_xor};
use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};
use gcn_kernels::attention::walk;

use crate::data::Random;
use crate::{Arg, Comparison, Lesson, Outcome, Size, Steady};

/// The number of queries of a wave.
const QUERIES: usize = 32;
/// The number of queries of a workgroup of eight waves.
pub const BLOCK: u32 = 8 * QUERIES as u32;

// ANCHOR: kernel
gcn_kernel! {
    /// o = softmax(scale * q * k^T) * v. All matrices have rows of `D` elements, and `length` rows for each head. The
    /// scale includes a factor log2(e), so that powers of two suffice. The grid is (length / 256 rounded up, heads).
    #[workgroup(512)]
    #[targets(gfx90a, gfx942, gfx950)]
    pub fn flash_attention<const CAUSAL: bool, const D: usize>(
        length: u32, scale: f32, q: &[f16], k: &[f16], v: &[f16], o: &mut [f16],
    ) {
        // The rows of this head. Elements after them load as 0 and are not stored.
        let size = length * D as u32;
        let (from, to) = (workgroup_id().y * size, workgroup_id().y * size + size);
        let q = &q[from..to];
        let k = &k[from..to];
        let v = &v[from..to];
        let o = &mut o[from..to];
        let (keys, values) = (row_major(*k, D as u32), row_major(*v, D as u32).transposed());

        // The first query of the workgroup and of the wave, and the query of each lane.
        let block = workgroup_id().x * BLOCK;
        let first_query = block + wave_id() * QUERIES as u32;
        let queries = TileB::<f16, D, QUERIES>::load(row_major(*q, D as u32).transposed(), 0, first_query);
        let query: V<u32> = first_query + Tile::<f32, QUERIES, QUERIES>::zero().col(0);

        // The number of keys that each lane's query sees, that all queries of the wave see, and that at least one query
        // of the workgroup sees.
        let seen: V<u32> = comptime if CAUSAL { (query + 1).min(length) } else { query * 0 + length };
        let clear: u32 = comptime if CAUSAL { first_query + 1 } else { length };
        let end: u32 = comptime if CAUSAL { (block + BLOCK).min(length) } else { length };

        let (out, _largest, sum) = comptime if D == 64 {
            walk::<_, f16, D, 64, QUERIES>(all_lanes(), queries, keys, values, scale, seen, clear, end)
        } else {
            walk::<_, f16, D, 32, QUERIES>(all_lanes(), queries, keys, values, scale, seen, clear, end)
        };
        // The weights of a query are spread over two lanes, each of which has a part of their sum.
        let total: V<f32> = sum + shuffle_xor(sum, 32);
        let share: V<f32> = select(total > 0.0, total.recip(), 0.0);
        out.store_with(row_major(*o, D as u32).transposed(), 0, first_query, |x| (x * share) as f16);
    }
}
// ANCHOR_END: kernel

/// Reference on the host, in f64 and with the whole row of scores.
pub fn reference<const D: usize>(causal: bool, length: usize, [q, k, v]: [&[f16]; 3]) -> Vec<f64> {
    let row = |(row, query): (usize, &[f16])| {
        let head = row / length * length;
        let visible = if causal { row - head + 1 } else { length };
        let seen = head * D..(head + visible) * D;
        attend::<f16, D>(query, &k[seen.clone()], &v[seen])
    };
    q.chunks_exact(D).enumerate().flat_map(row).collect()
}

/// The result for one query, given the keys that it sees and their values, each of `D` elements.
pub fn attend<T: Copy + Into<f64>, const D: usize>(query: &[T], keys: &[T], values: &[T]) -> Vec<f64> {
    let dot = |a: &[T], b: &[T]| a.iter().zip(b).map(|(a, b)| (*a).into() * (*b).into()).sum::<f64>();
    let scores: Vec<f64> = keys.chunks_exact(D).map(|key| dot(query, key) / (D as f64).sqrt()).collect();
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let element = |d: usize| {
        let values = values.chunks_exact(D).map(|value| value[d].into());
        weights.iter().zip(values).map(|(weight, value)| weight * value).sum::<f64>() / sum
    };
    (0..D).map(element).collect()
}

/// How to measure the loop over the keys, for the queries of one workgroup.
const fn steady<const D: usize>() -> Option<Steady> {
    Some(Steady {
        depths: [1024, 2048],
        workgroups: 1,
        operations: 4 * BLOCK as u64 * D as u64,
        args: |length| {
            let slice = Arg::Slice("f16", length * D as u32);
            vec![
                ("length", Arg::Number("u32", length.into())),
                ("scale", Arg::Number("f32", 0.125)),
                ("q", slice),
                ("k", slice),
                ("v", slice),
                ("o", slice),
            ]
        },
    })
}

/// The lesson without a mask; sizes are the numbers of heads and of rows.
pub const LESSON: Lesson = Lesson {
    name: "flash_attention",
    build_with: |target, options| {
        flash_attention::<false, 64>.build_with(target, options).map(BuiltKernel::into_any)
    },
    sizes: &[Size(&[1, 128]), Size(&[2, 256]), Size(&[1, 389])],
    run: run::<false, 64>,
    steady: steady::<64>(),
};

/// The lesson with the causal mask.
pub const CAUSAL: Lesson = Lesson {
    name: "flash_attention_causal",
    build_with: |target, options| {
        flash_attention::<true, 64>.build_with(target, options).map(BuiltKernel::into_any)
    },
    sizes: &[Size(&[1, 128]), Size(&[2, 256]), Size(&[1, 389])],
    run: run::<true, 64>,
    steady: None,
};

/// The lesson with heads of 128 elements.
pub const WIDE: Lesson = Lesson {
    name: "flash_attention_128",
    build_with: |target, options| {
        flash_attention::<false, 128>.build_with(target, options).map(BuiltKernel::into_any)
    },
    sizes: &[Size(&[1, 128]), Size(&[2, 256]), Size(&[1, 389])],
    run: run::<false, 128>,
    steady: steady::<128>(),
};

fn run<const CAUSAL: bool, const D: usize>(
    device: &Device,
    kernel: &BuiltKernel,
    size: Size,
) -> Result<Outcome, LaunchError> {
    let (heads, length) = (size.0[0], size.0[1]);
    let elements = heads as usize * length as usize * D;
    let mut random = Random::new(7);
    // The queries are scaled, so that some weights are much larger than others.
    let q: Vec<f16> = random.f64s(elements).into_iter().map(|x| f16::from_f64(4.0 * x)).collect();
    let (k, v) = (random.f16s(elements), random.f16s(elements));
    let mut o = vec![f16::NAN; elements];
    let scale = std::f32::consts::LOG2_E / (D as f32).sqrt();
    let grid = Grid::xy(length.div_ceil(BLOCK), heads);
    let stats =
        device.launch(&flash_attention::<CAUSAL, D>, kernel, grid, (length, scale, &q, &k, &v, &mut o))?;
    let got: Vec<f64> = o.iter().map(|x| x.to_f64()).collect();
    let want = reference::<D>(CAUSAL, length as usize, [&q, &k, &v]);
    Ok(Outcome { stats, comparison: Comparison::of(&got, &want).within(f64::exp2(-9.0)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With and without the mask, also on gfx950, whose matrix instruction has twice the depth.
    #[test]
    fn the_kernel_agrees_with_and_without_a_mask() {
        for (lesson, target) in [
            (CAUSAL, Target::GFX90A),
            (CAUSAL, Target::GFX942),
            (CAUSAL, Target::GFX950),
            (LESSON, Target::GFX950),
            (WIDE, Target::GFX90A),
            (WIDE, Target::GFX942),
            (WIDE, Target::GFX950),
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
        const D: usize = 64;
        let mut q = vec![f16::ZERO; 2 * D];
        let (mut k, mut v) = (q.clone(), q.clone());
        // The second query and the second key have a score of ln 3: the weights are 1/4 and 3/4.
        (q[D], k[D]) = (f16::from_f64(8.0), f16::from_f64(3f64.ln()));
        (v[0], v[D]) = (f16::from_f64(1.0), f16::from_f64(2.0));
        let near = |got: f64, want: f64| assert!((got - want).abs() < 1e-3, "{got}, {want}");
        let all = reference::<D>(false, 2, [&q, &k, &v]);
        near(all[0], 1.5);
        near(all[D], 1.75);
        let causal = reference::<D>(true, 2, [&q, &k, &v]);
        near(causal[0], 1.0);
        near(causal[D], 1.75);
    }
}
