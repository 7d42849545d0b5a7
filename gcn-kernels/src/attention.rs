//! Attention: softmax(scale * q * k^T) * v, without the matrix of scores.
//!
//! [`forward`] is for many queries; [`decode`] with [`combine`] is for one query of each sequence. Elements are f16 or
//! bf16, and sums are f32. Heads have 64, 128 or 256 elements (`D`). The kernels run on CDNA from gfx90a on, and on
//! RDNA 3 and 4. Several query heads may share one head of keys and values.
//!
//! The sequences of a batch may have any length, including 0. Sequence `i` consists of the rows ("tokens") `queries[i]..queries[i + 1]` of
//! `q` and `o`, and `keys[i]..keys[i + 1]` of `k` and `v`.
//!
//! | argument | meaning |
//! |---|---|
//! | `heads` | number of query heads, and of heads of keys and values, which divides the former |
//! | `scale` | a positive factor times log2(e): `LOG2_E / sqrt(D)` |
//! | `pitch` | distance between tokens in `q`, `k`, `v` and `o`, in elements: at least `D` |
//! | `head` | distance between heads in these slices, in elements |
//! | `lse` | output: the natural logarithm of the sum of exponentials, for each token and head; or an empty slice |
//!
//! Pitches, `head` and the lengths of slices have to be multiples of 4 elements, and each slice must be smaller than
//! 2^31 bytes. With `CAUSAL`, a query sees the keys up to its own position; positions are counted backwards from the
//! ends of both sequences. The result of a query that sees no key is 0.
//!
//! The weights are 2^(score - m), where m is an earlier maximum of the query's scores. m is updated, and the sums are
//! rescaled, only when a weight would exceed 2^8, which is rare. Weights are rounded to 16 bits as by
//! [`approx_as`](Vector::approx_as), so the relative error of each is at most 2^-10 (bf16: 2^-8).
//!
//! ```
//! use gcn_dsl::prelude::*;
//! use gcn_kernels::attention;
//!
//! // Two heads of one sequence: 3 queries and 5 keys, all alike, so that the result is the mean of the values.
//! let (q, k) = (vec![f16::ONE; 2 * 3 * 64], vec![f16::ONE; 2 * 5 * 64]);
//! let v: Vec<f16> = (0..2 * 5 * 64).map(|i| f16::from_f32((i / 64 % 5) as f32)).collect();
//! let mut o = vec![f16::ZERO; 2 * 3 * 64];
//! let (pitch, head) = ([64; 4], [3 * 64, 5 * 64, 5 * 64, 3 * 64]);
//! let scale = std::f32::consts::LOG2_E / 8.0;
//! let arguments = ([2, 2], scale, pitch, head, &[0, 3][..], &[0, 5][..], &q[..], &k[..], &v[..], &mut o[..], &mut [][..]);
//! let device = Device::simulator(Target::GFX942);
//! attention::forward::<f16, 64, false>.launch(&device, attention::grid(64, 3, 2, 1), arguments)?;
//! assert!(o.iter().all(|o| *o == f16::from_f32(2.0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use gcn_dsl::lang::matrix::{AsAcc, Columns, Everywhere, Spread, TileFactor, View};
use gcn_dsl::lang::{HalfFloat, any, lt, select, shuffle_xor, target};
use gcn_dsl::prelude::*;

/// The element types of attention.
pub trait Element: TileFactor<Self, f32, Memory = Self, Targets = Everywhere> + HalfFloat {}
impl Element for f16 {}
impl Element for bf16 {}

/// Less than any score, and finite, so that the difference of two such values is 0 and not NaN.
const LOWEST: f32 = -1e30;
/// Weights may grow up to 2^`SLACK` before the sums are rescaled.
const SLACK: f32 = 8.0;
/// The number of waves in a workgroup of [`decode`], each of which processes tiles of 16 keys.
const WAVES: u32 = 4;

/// The grid of [`forward`] for sequences of at most `queries` queries.
pub fn grid(head_size: usize, queries: u32, heads: u32, sequences: u32) -> Grid {
    let block = if head_size > 128 { 8 * 16 } else { 8 * 32 };
    Grid::xyz(queries.div_ceil(block).max(1), heads, sequences)
}

/// The grid of [`decode`]: the keys of each sequence are divided among `splits` workgroups. `heads` is the same as the kernel's argument.
pub fn decode_grid(splits: u32, heads: [u32; 2], sequences: u32) -> Grid {
    Grid::xyz(splits, heads[1] * (heads[0] / heads[1]).div_ceil(16), sequences)
}

/// The number of partial results of [`decode`] for each query head. For each partial result, `parts` has `D` f32 and
/// `states` has two.
pub fn parts(splits: u32) -> u32 {
    splits * WAVES
}

gcn_kernel! {
    /// The number of keys that query `i` sees.
    #[device]
    fn visible<const CAUSAL: bool>(i: u32, q_len: u32, k_len: u32) -> u32 {
        comptime if CAUSAL { (i + 1 + k_len).saturating_sub(q_len).min(k_len) } else { k_len }
    }

    /// Computes the sums over the keys for the wave's `SIDE` queries. `v` is transposed. The lane's query sees the keys
    /// below `seen`; all queries of the wave see the keys below `clear`, and no query of the workgroup sees a key from
    /// `end` on. Returns three results. The first is the unnormalised sums: rows are elements of the head, columns are
    /// queries. The second is the base-2 logarithm of the scale by which all sums are divided. The third is the sum of
    /// the weights of those keys that are in the lane itself.
    ///
    /// On gfx950 the softmax takes longer than the products. With heads of 128, the products of a trip take 512 cycles;
    /// the exponentials, at 8 cycles each, together with the loads from LDS that are issued along with them, take more.
    /// Heads of 128 keep the matrix pipe busy 78% of the time there, and 97% on gfx942, whose products take twice as
    /// long (`tests/busy.rs`).
    ///
    /// The two groups of waves alternate (`#[ping_pong]`): while one multiplies (the scores of the next `KEYS` keys, and the sums for the
    /// current ones), the other computes its softmax. So each wave computes scores one trip ahead.
    #[device]
    #[track_caller]
    pub fn walk<G, T: Element + Float, const D: usize, const KEYS: usize, const SIDE: usize>(
        all: AllLanes<G>,
        queries: TileB<T, D, SIDE, SIDE>,
        k: View<T>,
        v: View<T>,
        scale: f32,
        seen: V<u32>,
        clear: u32,
        end: u32,
    ) -> (Tile<f32, D, SIDE, SIDE>, V<f32>, V<f32>) {
        let tile_k = [LdsTile::<T, KEYS, D, Spread<SIDE>>::new(), LdsTile::<T, KEYS, D, Spread<SIDE>>::new()];
        let tile_v = [
            LdsTile::<T, D, KEYS, Spread<SIDE, AsAcc>>::new(),
            LdsTile::<T, D, KEYS, Spread<SIDE, AsAcc>>::new(),
        ];
        tile_k[0].put(tile_k[0].fetch(k, 0, 0));
        tile_k[1].put(tile_k[1].fetch(k, KEYS as u32, 0));
        tile_v[0].put(tile_v[0].stage_by::<Columns>(v, 0, 0));
        let mut next_k = tile_k[0].fetch(k, 2 * KEYS as u32, 0);
        let mut next_v = tile_v[1].stage_by::<Columns>(v, 0, KEYS as u32);
        barrier();
        let first = TileA::<T, KEYS, D, SIDE>::load(tile_k[0], 0, 0);
        let mut scores = matmul(first, queries, Tile::<f32, KEYS, SIDE, SIDE>::zero().in_vgprs());
        let mut out = Tile::<f32, D, SIDE, SIDE>::zero().in_vgprs();
        let mut largest: V<f32> = LOWEST;
        let mut sum: V<f32> = 0.0;
        #[ping_pong]
        for done in (0..end).step_by(2 * KEYS as u32) {
            #[unroll]
            for here in 0..2usize {
                let key = done + (here * KEYS) as u32;
                if key + KEYS as u32 > clear {
                    cold_path();
                    let left: V<u32> = seen.saturating_sub(key);
                    scores = scores.map_indexed(|i, x| select(lt(scores.row(i), left), x, f32::NEG_INFINITY));
                }
                // With few keys the softmax is shorter than the loads, which therefore start at once. With many keys,
                // the only free issue slots are next to the exponentials, each of which takes four slots, so the loads
                // are issued there.
                let early = comptime if KEYS < 64 {
                    TileA::<T, KEYS, D, SIDE>::load(tile_k[1 - here], 0, 0)
                } else {
                    first // a placeholder of the same type: the other branch loads below
                };
                tile_k[here].put(next_k);
                tile_v[1 - here].put(next_v);
                next_k = tile_k[1 - here].fetch(k, key + 3 * KEYS as u32, 0);
                next_v = tile_v[here].stage_by::<Columns>(v, 0, key + 2 * KEYS as u32);
                let top: V<f32> = scale * scores.lane_max()[0];
                if any(top > largest + SLACK) {
                    cold_path();
                    let before = largest;
                    largest = largest.max(column_max::<SIDE>(top));
                    let correction: V<f32> = (before - largest).approx_exp2();
                    sum *= correction;
                    out = out.map_pairs(|x| x * correction);
                }
                let x = comptime if KEYS < 64 {
                    early
                } else {
                    interleave! { 1 ds_read, 1 trans }
                    TileA::<T, KEYS, D, SIDE>::load(tile_k[1 - here], 0, 0)
                };
                let y = TileA::<T, D, KEYS, SIDE, AsAcc>::load(tile_v[here], 0, 0);
                let down: V<f32> = -largest;
                let weights = scores.map_pairs(|x| {
                    x.mul_add(Vector::splat(scale), Vector::splat(down)).map(|x| x.approx_exp2())
                });
                sum += weights.lane_sum()[0];
                let weights = weights.to_b_pairs(|x| x.approx_as::<T>());
                #[matrix]
                {
                    scores = matmul(x, queries, Tile::<f32, KEYS, SIDE, SIDE>::zero().in_vgprs());
                    out = matmul(y, weights, out);
                }
            }
        }
        (out, largest, sum)
    }

    /// As [`walk`], for RDNA's matrix instructions: all waves process the same keys at the same time, with one tile of
    /// each factor in LDS, and `SIDE` is 16. The sums are those of `ROWS` elements of the head from `first_row` on.
    /// Only what 16 keys need is in registers at a time, because on RDNA 3 each lane has a complete row or column of a
    /// factor.
    #[device]
    #[track_caller]
    fn walk_in_step<G, T: Element + Float, const D: usize, const ROWS: usize, const KEYS: usize>(
        all: AllLanes<G>,
        queries: TileB<T, D, 16, 16>,
        k: View<T>,
        v: View<T>,
        first_row: u32,
        scale: f32,
        seen: V<u32>,
        clear: u32,
        end: u32,
    ) -> (Tile<f32, ROWS, 16, 16>, V<f32>, V<f32>) {
        let tile_k = LdsTile::<T, KEYS, D, Spread<16>>::new();
        let tile_v = LdsTile::<T, D, KEYS, Spread<16, AsAcc>>::new();
        let mut out = Tile::<f32, ROWS, 16, 16>::zero();
        let mut largest: V<f32> = LOWEST;
        let mut sum: V<f32> = 0.0;
        let mut next_k = tile_k.fetch(k, 0, 0);
        let mut next_v = tile_v.stage_by::<Columns>(v, 0, 0);
        for done in (0..end).step_by(KEYS as u32) {
            tile_k.put(next_k);
            tile_v.put(next_v);
            barrier();
            next_k = tile_k.fetch(k, done + KEYS as u32, 0);
            next_v = tile_v.stage_by::<Columns>(v, 0, done + KEYS as u32);
            #[unroll]
            for part in (0..KEYS).step_by(16) {
                let key = done + part as u32;
                let x = TileA::<T, 16, D, 16>::load(tile_k, part as u32, 0);
                let mut scores = matmul(x, queries, Tile::<f32, 16, 16, 16>::zero());
                if key + 16 > clear {
                    cold_path();
                    let left: V<u32> = seen.saturating_sub(key);
                    scores = scores.map_indexed(|i, x| select(lt(scores.row(i), left), x, f32::NEG_INFINITY));
                }
                let top: V<f32> = scale * scores.lane_max()[0];
                if any(top > largest + SLACK) {
                    cold_path();
                    let before = largest;
                    largest = largest.max(column_max::<16>(top));
                    let correction: V<f32> = (before - largest).approx_exp2();
                    sum *= correction;
                    out = out.map_pairs(|x| x * correction);
                }
                let down: V<f32> = -largest;
                let weights = scores.map_pairs(|x| {
                    x.mul_add(Vector::splat(scale), Vector::splat(down)).map(|x| x.approx_exp2())
                });
                sum += weights.lane_sum()[0];
                let y = TileA::<T, ROWS, 16, 16, AsAcc>::load(tile_v, first_row, part as u32);
                out = matmul(y, weights.to_b_pairs(|x| x.approx_as::<T>()), out);
            }
            barrier();
        }
        (out, largest, sum)
    }

    /// Computes a workgroup's `QUERIES` queries on RDNA: each wave has 16 queries and processes `ROWS` elements of the head at a time.
    #[device]
    fn block_in_step<
        G,
        T: Element + Float,
        const D: usize,
        const ROWS: usize,
        const KEYS: usize,
        const QUERIES: usize,
        const CAUSAL: bool,
    >(
        all: AllLanes<G>,
        scale: f32,
        pitch: [u32; 4],
        lengths: (u32, u32),
        q: &[T],
        k: &[T],
        v: &[T],
        o: &mut [T],
        lse: &mut [f32],
        at_lse: (u32, u32),
    ) {
        let (q_len, k_len) = lengths;
        let first = workgroup_id().x * QUERIES as u32;
        let end: u32 = visible::<CAUSAL>(first + QUERIES as u32 - 1, q_len, k_len);
        let v = row_major(v, pitch[2]).transposed();
        let groups = (QUERIES / 16) as u32;
        let lanes = comptime { wave_size() as usize };
        #[unroll]
        for turn in (0..QUERIES / 16 * (D / ROWS) * lanes).step_by(512) {
            let part = (turn / lanes) as u32 + wave_id();
            let query = first + part % groups * 16;
            let first_row = part / groups * ROWS as u32;
            let queries = TileB::<T, D, 16, 16>::load(row_major(q, pitch[0]).transposed(), 0, query);
            let own: V<u32> = query + Tile::<f32, 16, 16, 16>::zero().col(0);
            let seen: V<u32> = comptime if CAUSAL { (own + 1 + k_len).saturating_sub(q_len).min(k_len) } else { gcn_dsl::lang::splat(k_len) };
            let clear: u32 = visible::<CAUSAL>(query, q_len, k_len);
            let (out, largest, sum) = walk_in_step::<G, T, D, ROWS, KEYS>(
                all_lanes(), queries, row_major(k, pitch[1]), v, first_row, scale, seen, clear, end,
            );
            let total = column_sum::<16>(sum);
            let share: V<f32> = select(total > 0.0, total.recip(), 0.0);
            out.store_with(row_major(o, pitch[3]).transposed(), first_row, query, |x| (x * share) as T);
            if first_row == 0 && lane_id() < 16 && own < q_len {
                let (token, heads) = at_lse;
                lse[token + own * heads] = (largest + total.approx_log2()) * std::f32::consts::LN_2;
            }
        }
    }

    /// The maximum over the lanes that have the same column of an accumulator.
    #[device]
    fn column_max<const SIDE: usize>(x: V<f32>) -> V<f32> {
        let half: V<f32> = comptime if wave_size() == 32 { x } else { x.max(shuffle_xor(x, 32)) };
        comptime if SIDE == 32 { half } else { half.max(shuffle_xor(half, 16)) }
    }

    /// The sum over the lanes that have the same column of an accumulator.
    #[device]
    fn column_sum<const SIDE: usize>(x: V<f32>) -> V<f32> {
        let half: V<f32> = comptime if wave_size() == 32 { x } else { x + shuffle_xor(x, 32) };
        comptime if SIDE == 32 { half } else { half + shuffle_xor(half, 16) }
    }

    /// Computes a workgroup's queries.
    #[device]
    fn block<G, T: Element + Float, const D: usize, const KEYS: usize, const SIDE: usize, const CAUSAL: bool>(
        all: AllLanes<G>,
        scale: f32,
        pitch: [u32; 4],
        lengths: (u32, u32),
        q: &[T],
        k: &[T],
        v: &[T],
        o: &mut [T],
        lse: &mut [f32],
        at_lse: (u32, u32),
    ) {
        let (q_len, k_len) = lengths;
        let first = workgroup_id().x * (8 * SIDE) as u32;
        let query = first + wave_id() * SIDE as u32;
        let queries = TileB::<T, D, SIDE, SIDE>::load(row_major(q, pitch[0]).transposed(), 0, query);
        let own: V<u32> = query + Tile::<f32, SIDE, SIDE, SIDE>::zero().col(0);
        let seen: V<u32> = comptime if CAUSAL { (own + 1 + k_len).saturating_sub(q_len).min(k_len) } else { gcn_dsl::lang::splat(k_len) };
        let clear: u32 = visible::<CAUSAL>(query, q_len, k_len);
        let end: u32 = visible::<CAUSAL>(first + (8 * SIDE) as u32 - 1, q_len, k_len);
        let v = row_major(v, pitch[2]).transposed();
        let (out, largest, sum) =
            walk::<G, T, D, KEYS, SIDE>(all_lanes(), queries, row_major(k, pitch[1]), v, scale, seen, clear, end);
        let total = column_sum::<SIDE>(sum);
        let share: V<f32> = select(total > 0.0, total.recip(), 0.0);
        out.store_with(row_major(o, pitch[3]).transposed(), 0, query, |x| (x * share) as T);
        if lane_id() < SIDE as u32 && own < q_len {
            let (token, heads) = at_lse;
            lse[token + own * heads] = (largest + total.approx_log2()) * std::f32::consts::LN_2;
        }
    }

    /// Attention for many queries; see the module for the arguments and [`grid`] for the grid.
    #[workgroup(512)]
    #[targets(HasMatrixBf16)]
    pub fn forward<T: Element + Float, const D: usize, const CAUSAL: bool>(
        heads: [u32; 2],
        scale: f32,
        pitch: [u32; 4],
        head: [u32; 4],
        queries: &[u32],
        keys: &[u32],
        q: &[T],
        k: &[T],
        v: &[T],
        o: &mut [T],
        lse: &mut [f32],
    ) {
        let at = workgroup_id();
        let of_keys = at.y / (heads[0] / heads[1]);
        let (token, key) = (queries[at.z], keys[at.z]);
        let lengths = (queries[at.z + 1] - token, keys[at.z + 1] - key);
        let at_q = token * pitch[0] + at.y * head[0];
        let at_k = key * pitch[1] + of_keys * head[1];
        let at_v = key * pitch[2] + of_keys * head[2];
        let at_o = token * pitch[3] + at.y * head[3];
        let q = &q[at_q..at_q + lengths.0 * pitch[0]];
        let k = &k[at_k..at_k + lengths.1 * pitch[1]];
        let v = &v[at_v..at_v + lengths.1 * pitch[2]];
        let o = &mut o[at_o..at_o + lengths.0 * pitch[3]];
        let at_lse = (token * heads[0] + at.y, heads[0]);
        comptime if !target().has_unified_agprs() {
            comptime if D <= 128 {
                block_in_step::<_, T, D, D, 64, 256, CAUSAL>(all_lanes(), scale, pitch, lengths, *q, *k, *v, *o, lse, at_lse);
            } else {
                block_in_step::<_, T, D, 128, 32, 128, CAUSAL>(all_lanes(), scale, pitch, lengths, *q, *k, *v, *o, lse, at_lse);
            }
        } else {
            comptime if D == 64 {
                block::<_, T, D, 64, 32, CAUSAL>(all_lanes(), scale, pitch, lengths, *q, *k, *v, *o, lse, at_lse);
            } else {
                comptime if D == 128 {
                    block::<_, T, D, 32, 32, CAUSAL>(all_lanes(), scale, pitch, lengths, *q, *k, *v, *o, lse, at_lse);
                } else {
                    block::<_, T, D, 16, 16, CAUSAL>(all_lanes(), scale, pitch, lengths, *q, *k, *v, *o, lse, at_lse);
                }
            }
        }
    }

    /// Attention of one query for each sequence and head, to a part of the keys. `q` has `heads[0]` rows of `D`
    /// elements for each sequence. `keys` contains the first token and the number of tokens of each sequence; `pitch`
    /// and `head` are the distances in `k` and `v`. The results are inputs of [`combine`]: for each of the [`parts`] of
    /// each query, `D` sums and a state.
    #[workgroup(256)]
    #[wave(64)]
    #[targets(HasMatrixBf16)]
    pub fn decode<T: Element + Float, const D: usize>(
        heads: [u32; 2],
        splits: u32,
        scale: f32,
        pitch: [u32; 2],
        head: [u32; 2],
        keys: &[u32],
        q: &[T],
        k: &[T],
        v: &[T],
        parts: &mut [f32],
        states: &mut [f32],
    ) {
        let at = workgroup_id();
        let group = heads[0] / heads[1];
        let blocks = (group + 15) / 16;
        let (of_keys, first_row) = (at.y / blocks, at.y % blocks * 16);
        let rows = group - first_row;
        let row = at.z * heads[0] + of_keys * group + first_row;
        let (token, length) = (keys[2 * at.z], keys[2 * at.z + 1]);
        // The range of keys that this part processes, in whole tiles.
        let each = ((length + splits - 1) / splits + 63) / 64 * 64;
        let from = at.x * each;
        let end = (from + each).min(length);
        let at_k = token * pitch[0] + of_keys * head[0];
        let at_v = token * pitch[1] + of_keys * head[1];
        let k = &k[at_k..at_k + length * pitch[0]];
        let v = &v[at_v..at_v + length * pitch[1]];
        let (k, v) = (row_major(*k, pitch[0]), row_major(*v, pitch[1]).transposed());
        let q = &q[row * D as u32..(row + rows) * D as u32];
        let queries = TileB::<T, D, 16, 16>::load(row_major(*q, D as u32).transposed(), 0, 0);

        let tile_k = LdsTile::<T, 64, D, Spread<16>>::new();
        let tile_v = LdsTile::<T, D, 64, Spread<16, AsAcc>>::new();
        let mut out = Tile::<f32, D, 16, 16>::zero().in_vgprs();
        let mut largest: V<f32> = LOWEST;
        let mut sum: V<f32> = 0.0;
        let mine = wave_id() * 16;
        let mut next_k = tile_k.fetch(k, from, 0);
        let mut next_v = tile_v.stage_by::<Columns>(v, 0, from);
        for key in (from..end).step_by(64) {
            tile_k.put(next_k);
            tile_v.put(next_v);
            barrier();
            next_k = tile_k.fetch(k, key + 64, 0);
            next_v = tile_v.stage_by::<Columns>(v, 0, key + 64);
            let x = TileA::<T, 16, D, 16>::load(tile_k, mine, 0);
            let scores = matmul(x, queries, Tile::<f32, 16, 16, 16>::zero().in_vgprs());
            let left: V<u32> = end.saturating_sub(key + mine);
            let scores = scores.map_indexed(|i, x| select(lt(scores.row(i), left), scale * x, f32::NEG_INFINITY));
            let before = largest;
            largest = largest.max(column_max::<16>(scores.lane_max()[0]));
            let correction: V<f32> = (before - largest).approx_exp2();
            let weights = scores.map(|x| (x - largest).approx_exp2());
            sum = sum * correction + weights.lane_sum()[0];
            out = out.map_pairs(|x| x * correction);
            let y = TileA::<T, D, 16, 16, AsAcc>::load(tile_v, 0, mine);
            out = matmul(y, weights.to_b_pairs(|x| x.approx_as::<T>()), out);
            barrier();
        }
        let total = column_sum::<16>(sum);
        let count = splits * WAVES;
        let part = row * count + at.x * WAVES + wave_id();
        let to = &mut parts[part * D as u32..];
        out.store_to(col_major(*to, count * D as u32).columns(rows), 0, 0);
        let lane = lane_id();
        if lane < 16 && lane < rows {
            let state = 2 * (part + lane * count);
            states[state] = largest;
            states[state + 1] = total;
        }
    }

    /// Combines the partial results of [`decode`] for each query. `o` has `D` elements for each query. The grid has a
    /// workgroup for each query, and `count` is the result of [`parts`].
    #[workgroup(64)]
    pub fn combine<T: HalfFloat + Float, const D: usize>(count: u32, parts: &[f32], states: &[f32], o: &mut [T]) {
        let first = workgroup_id().x * count;
        let mut largest: S<f32> = LOWEST;
        for part in first..first + count {
            largest = largest.max(states[2 * part]);
        }
        let mut sum: S<f32> = 0.0;
        let mut out: [V<f32>; 4] = [0.0; 4];
        for part in first..first + count {
            let weight: S<f32> = (states[2 * part] - largest).approx_exp2();
            sum += weight * states[2 * part + 1];
            #[unroll]
            for i in 0..D / 64 {
                out[i] += weight * parts[part * D as u32 + (64 * i) as u32 + local_id().x];
            }
        }
        let share: V<f32> = select(sum > 0.0, sum.recip(), 0.0);
        #[unroll]
        for i in 0..D / 64 {
            o[workgroup_id().x * D as u32 + (64 * i) as u32 + local_id().x] = (out[i] * share) as T;
        }
    }
}
