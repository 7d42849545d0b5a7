//! Two alternating buffers for LDS arrays that a loop fills itself: products are compared with plain Rust in every mode
//! of the simulator; also what is rejected and what the compiler chooses.

use gcn_dsl::kernel::SingleReason;
use gcn_dsl::lang::matrix::Spread;
use gcn_dsl::prelude::*;
use gcn_dsl::sim::{Mode, Options, Sanitize};
use gcn_dsl::{BuildError, BuiltKernel};

/// The number of rows and of columns of the workgroup's tile.
const TILE: usize = 64;

macro_rules! products {
    ($($(#[$doc:meta])* $name:ident: $t:ty => $sum:ty, [$depth:literal, $side:literal, $targets:tt], $pipeline:tt;)*) => {$(
        gcn_kernel! {
            $(#[$doc])*
            #[workgroup(256)]
            #[targets $targets]
            fn $name(depth: u32, a: &[$t], b: &[$t], c: &mut [$sum]) {
                let (a, b) = (row_major(a, depth).columns_by(depth, 8), row_major(b, depth).columns_by(depth, 8));
                let (row, col) = (wave_id() / 2 * 32, wave_id() % 2 * 32);
                let left = LdsTile::<$t, 64, $depth, Spread<$side>>::new();
                let right = LdsTile::<$t, 64, $depth, Spread<$side>>::new();
                let mut acc = Tile::<$sum, 32, 32, $side>::zero();
                #[pipeline $pipeline]
                for k in (0..depth).step_by($depth) {
                    left.put(left.fetch(a, 0, k));
                    right.put(right.fetch(b, 0, k));
                    barrier();
                    let x = TileA::<$t, 32, $depth, $side>::load(left, row, 0);
                    let y = TileB::<$t, $depth, 32, $side>::load(right.transposed(), 0, col);
                    acc = matmul(x, y, acc);
                    barrier();
                }
                acc.store_to(row_major(c, 64), row, col);
            }
        }
    )*};
}
products! {
    /// c = a * b. `a` has rows of `depth` elements, a multiple of 8, `b` has columns of `depth` elements.
    two: f16 => f32, [32, 32, (HasMfma)], (stages = 2, buffers = 2);
    three: f16 => f32, [32, 32, (HasMfma)], (stages = 3, buffers = 2);
    four: f16 => f32, [32, 32, (HasMfma)], (stages = 4, buffers = 2);
    bytes: i8 => i32, [64, 32, (HasMfma)], (buffers = 2);
    eighths: f8e4m3 => f32, [64, 32, (gfx942, gfx950)], (buffers = 2);
    one: f16 => f32, [32, 32, (HasMfma)], (stages = 2);
    one_of_three: f16 => f32, [32, 32, (HasMfma)], (stages = 3);
    /// A single step of four products: the last products need the factors of the first ones.
    shallow: f16 => f32, [16, 16, (HasMfma)], (stages = 2, buffers = 2);
    shallow_three: f16 => f32, [16, 16, (HasMfma)], (stages = 3, buffers = 2);
    shallow_one: f16 => f32, [16, 16, (HasMfma)], (stages = 2);
    shallow_one_of_four: f16 => f32, [16, 16, (HasMfma)], (stages = 4);
}

gcn_kernel! {
    /// The same with arrays, addresses computed by hand, factors that are narrowed when they are stored to LDS, and a
    /// barrier before the stores instead of one after the loads.
    #[workgroup(256)]
    #[targets(HasMfma)]
    fn arrays(depth: u32, a: &[f32], b: &[f32], c: &mut [f32]) {
        let (left, right) = (Lds::<f16, 1024>::new(), Lds::<f16, 1024>::new());
        let (line, at) = (local_id().x / 4, local_id().x % 4 * 4);
        let get_a = (wave_id() / 2 * 32 + FragA::<f16, 32, 8>::row()) * 16 + FragA::<f16, 32, 8>::k();
        let get_b = (wave_id() % 2 * 32 + FragB::<f16, 8, 32>::col()) * 16 + FragB::<f16, 8, 32>::k();
        let mut acc = Acc::<f32, 32, 32>::zero();
        #[pipeline(stages = 2, buffers = 2)]
        for k in (0..depth).step_by(16) {
            barrier();
            left.store_vector(local_id().x * 4, a.load_vector::<4>(line * depth + k + at).map(|x| x as f16));
            right.store_vector(local_id().x * 4, b.load_vector::<4>(line * depth + k + at).map(|x| x as f16));
            barrier();
            #[unroll]
            for part in 0..2u32 {
                let x = FragA::<f16, 32, 8>::load(&left, get_a + 8 * part);
                acc = mfma(x, FragB::<f16, 8, 32>::load(&right, get_b + 8 * part), acc);
            }
        }
        let (row, col) = (wave_id() / 2 * 32, wave_id() % 2 * 32);
        #[unroll]
        for r in 0..16usize {
            c[(row + acc.row(r)) * 64 + col + acc.col()] = acc.get(r);
        }
    }

    /// A loop in a loop: the stores of the next product to LDS must not overtake the last trip of the current one.
    #[workgroup(256)]
    fn rounds(times: u32, n: u32, x: &[u32], y: &mut [u32]) {
        let tile = Lds::<u32, 256>::new();
        let i = local_id().x;
        let mut sum: V<u32> = 0;
        for round in 0..times {
            #[pipeline(buffers = 2)]
            for k in round..n {
                tile[i] = x[k * 256 + i];
                barrier();
                sum = sum * 3 + tile[255 - i];
                barrier();
            }
        }
        y[i] = sum;
    }
}

fn numbers(seed: usize, count: usize) -> Vec<i32> {
    (0..count).map(|i| (i * seed % 7) as i32 - 3).collect()
}

fn product(depth: usize, a: &[i32], b: &[i32]) -> Vec<i32> {
    let line = |x: &[i32], at: usize| x[at * depth..][..depth].to_vec();
    let dot = |i: usize| line(a, i / TILE).iter().zip(line(b, i % TILE)).map(|(a, b)| a * b).sum();
    (0..TILE * TILE).map(dot).collect()
}

/// A device for every mode of the simulator that finds faults.
fn devices(target: Target) -> [Device; 4] {
    let with =
        |mode, sanitize| Device::simulator_with(target, Options { mode, sanitize, ..Options::default() });
    [
        with(Mode::Functional, Sanitize::empty()),
        with(Mode::Strict, Sanitize::empty()),
        with(Mode::Faithful, Sanitize::empty()),
        with(Mode::Functional, Sanitize::all()),
    ]
}

macro_rules! right {
    ($($test:ident: $kernel:ident on $targets:expr, $t:ty => $sum:ty, $single:expr, |$x:ident, $target:ident| $to:expr;)*) => {$(
        #[test]
        fn $test() {
            for $target in $targets {
                let built = $kernel.build($target).unwrap();
                let [pipeline] = built.pipelines() else { panic!("one loop") };
                assert_eq!(pipeline.single, $single);
                assert!(pipeline.ahead.len() >= 2);
                for (at, device) in devices($target).into_iter().enumerate() {
                    // Depths of zero to six trips, also such that the last trip is partial; in the slow modes, only a
                    // few of them.
                    let depths = [0, 8, 16, 32, 40, 64, 96, 136, 192, 320, 384];
                    for depth in depths.into_iter().skip(at).step_by(if at == 0 { 1 } else { 4 }) {
                        let (a, b) = (numbers(5, TILE * depth), numbers(11, TILE * depth));
                        let to = |xs: &[i32]| -> Vec<$t> { xs.iter().map(|$x| $to).collect() };
                        let mut c = vec![<$sum>::default(); TILE * TILE];
                        let args = (depth as u32, &to(&a)[..], &to(&b)[..], &mut c[..]);
                        device.launch(&$kernel, &built, Grid::x(1), args).unwrap();
                        let want: Vec<$sum> = product(depth, &a, &b).into_iter().map(|x| x as $sum).collect();
                        assert_eq!(c, want, "{} {at} {depth}", $target);
                    }
                }
            }
        }
    )*};
}
const ALL: [Target; 3] = super::TARGETS;
right! {
    two_buffers: two on ALL, f16 => f32, None, |x, _t| f16::from_f32(*x as f32);
    two_buffers_and_three_stages: three on ALL, f16 => f32, None, |x, _t| f16::from_f32(*x as f32);
    two_buffers_and_four_stages: four on [Target::GFX942], f16 => f32, None, |x, _t| f16::from_f32(*x as f32);
    two_buffers_of_bytes: bytes on ALL, i8 => i32, None, |x, _t| *x as i8;
    two_buffers_of_8_bit_floats: eighths on [Target::GFX942, Target::GFX950], f8e4m3 => f32, None, |x, t| f8e4m3::from_f32(*x as f32, t);
    one_buffer_where_only_stages_are_given: one on ALL, f16 => f32, Some(SingleReason::Asked), |x, _t| f16::from_f32(*x as f32);
    one_buffer_and_three_stages: one_of_three on [Target::GFX942], f16 => f32, Some(SingleReason::Asked), |x, _t| f16::from_f32(*x as f32);
    factors_of_first_and_last_products: shallow on ALL, f16 => f32, None, |x, _t| f16::from_f32(*x as f32);
    the_same_in_three_stages: shallow_three on [Target::GFX942], f16 => f32, None, |x, _t| f16::from_f32(*x as f32);
    the_same_with_one_buffer: shallow_one on ALL, f16 => f32, Some(SingleReason::Asked), |x, _t| f16::from_f32(*x as f32);
    the_same_with_one_buffer_and_four_stages: shallow_one_of_four on [Target::GFX942], f16 => f32, Some(SingleReason::Asked),
        |x, _t| f16::from_f32(*x as f32);
}

#[test]
fn arrays_that_are_addressed_by_hand() {
    for target in ALL {
        let built = arrays.build(target).unwrap();
        assert_eq!(built.pipelines()[0].single, None);
        assert_eq!(
            built.assembly(Comments::None).matches("s_barrier").count(),
            4,
            "one before the loop, one in each copy, and one after the loop"
        );
        for device in devices(target) {
            for depth in [16, 32, 48, 80] {
                let (a, b) = (numbers(5, TILE * depth), numbers(11, TILE * depth));
                let [x, y] = [&a, &b].map(|x| x.iter().map(|x| *x as f32).collect::<Vec<f32>>());
                let mut c = vec![0.0; TILE * TILE];
                device.launch(&arrays, &built, Grid::x(1), (depth as u32, &x, &y, &mut c)).unwrap();
                let want: Vec<f32> = product(depth, &a, &b).into_iter().map(|x| x as f32).collect();
                assert_eq!(c, want, "{target} {depth}");
            }
        }
    }
}

#[test]
fn a_loop_that_begins_again() {
    let x: Vec<u32> = (0..256 * 5).map(|i| i * i).collect();
    for device in devices(Target::GFX942) {
        let mut y = vec![0; 256];
        rounds.launch(&device, Grid::x(1), (3, 5, &x, &mut y)).unwrap();
        let want = |i: usize| {
            let trips = (0..3).flat_map(|round| round..5usize);
            trips.fold(0u32, |sum, k| sum.wrapping_mul(3).wrapping_add(x[k * 256 + 255 - i]))
        };
        assert_eq!(y, (0..256).map(want).collect::<Vec<u32>>());
    }
}

macro_rules! refused {
    ($($name:ident($tile:ident, $i:ident, $k:ident, $x:ident, $y:ident) $body:tt [$($behind:tt)*])*) => {$(
        gcn_kernel! {
            #[workgroup(256)]
            fn $name(n: u32, $x: &[u32], $y: &mut [u32]) {
                let $tile = Lds::<u32, 256>::new();
                let $i = local_id().x;
                #[pipeline(buffers = 2)]
                for $k in 0..n $body
                $($behind)*
            }
        }
    )*};
}
refused! {
    partly_stored(tile, i, k, x, y) {
        let loaded: V<u32> = x[k * 256 + i];
        if i < 100 {
            tile[i] = loaded;
        }
        barrier();
        y[i] = tile[255 - i];
        barrier();
    } []
    stored_by_index(tile, i, k, x, y) {
        tile[x[i] & 255] = x[k * 256 + i];
        barrier();
        y[i] = tile[255 - i];
        barrier();
    } []
    partly_filled(tile, i, k, x, y) {
        tile[i & 127] = x[k * 256 + i];
        barrier();
        y[i] = tile[255 - i];
        barrier();
    } []
    read_afterwards(tile, i, k, x, y) {
        tile[i] = x[k * 256 + i];
        barrier();
        y[i] = tile[255 - i];
        barrier();
    } [y[i] = tile[i];]
    read_first(tile, i, k, x, y) {
        y[i] = tile[255 - i];
        barrier();
        tile[i] = x[k * 256 + i];
        barrier();
    } []
    one_barrier(tile, i, k, x, y) {
        tile[i] = x[k * 256 + i];
        barrier();
        y[i] = tile[255 - i];
    } []
    also_computed(tile, i, k, x, y) {
        let here: V<u32> = x[k * 256 + i];
        tile[i] = here;
        barrier();
        y[i] = tile[255 - i] + here;
        barrier();
    } []
    written_memory(tile, i, k, x, y) {
        tile[i] = x[k * 256 + i];
        barrier();
        y[i] = tile[255 - i] + y[255 - i];
        barrier();
    } []
}

gcn_kernel! {
    /// The stored value is the result of the same trip.
    #[workgroup(256)]
    fn own_result(n: u32, x: &[u32], y: &mut [u32]) {
        let tile = Lds::<u32, 256>::new();
        let i = local_id().x;
        let mut sum: V<u32> = 0;
        #[pipeline(buffers = 2)]
        for k in 0..n {
            tile[i] = x[k * 256 + i] + sum;
            barrier();
            sum = tile[255 - i];
            barrier();
        }
        y[i] = sum;
    }

    /// There is no space for two of these buffers.
    #[workgroup(256)]
    #[targets(gfx942)]
    fn too_large(n: u32, x: &[f32], y: &mut [f32]) {
        let tile = LdsTile::<f32, 128, 128>::new();
        let i = local_id().x;
        #[pipeline(buffers = 2)]
        for k in 0..n {
            tile.put(tile.fetch(row_major(x, 128), k * 128, 0));
            barrier();
            y[i] = tile[i % 128][i % 128];
            barrier();
        }
    }
}

#[test]
fn loops_that_two_buffers_would_change_are_refused() {
    let refuses = |result: Result<BuiltKernel, BuildError>, why: &str| {
        let error = result.map(drop).unwrap_err().to_string();
        assert!(error.contains("cannot have two buffers") && error.contains(why), "{error}");
        assert!(error.contains(&format!("{}:", file!())), "{error}");
    };
    let target = Target::GFX942;
    refuses(partly_stored.build(target).map(BuiltKernel::into_any), "the store in a branch or an inner loop");
    refuses(
        stored_by_index.build(target).map(BuiltKernel::into_any),
        "may read what an earlier trip has stored",
    );
    refuses(
        partly_filled.build(target).map(BuiltKernel::into_any),
        "may read what an earlier trip has stored",
    );
    refuses(read_afterwards.build(target).map(BuiltKernel::into_any), "outside of the loop");
    refuses(read_first.build(target).map(BuiltKernel::into_any), "do not take turns");
    refuses(one_barrier.build(target).map(BuiltKernel::into_any), "has 1 barriers");
    refuses(
        also_computed.build(target).map(BuiltKernel::into_any),
        "computes with what it loads from memory",
    );
    refuses(written_memory.build(target).map(BuiltKernel::into_any), "load from memory that can be written");
    refuses(own_result.build(target).map(BuiltKernel::into_any), "depends on what the trip computes");
    refuses(
        too_large.build(target).map(BuiltKernel::into_any),
        "two take 131072 bytes, and a workgroup has 65536",
    );
}
