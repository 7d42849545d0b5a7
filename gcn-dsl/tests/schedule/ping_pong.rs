//! `#[ping_pong]`: results in every mode of the simulator, code that is rejected, and the detection of faults in such
//! loops.

use gcn_dsl::lang::matrix::Spread;
use gcn_dsl::prelude::*;
use gcn_dsl::sim::{Mode, Options, Sanitize};

/// The number of columns of A and rows of B in LDS at a time.
const DEPTH: u32 = 16;

gcn_kernel! {
    /// c = a * b for 128 x depth times depth x 64. `a` has rows of `depth` elements, `b` has columns of `depth`
    /// elements.
    #[workgroup(512)]
    #[targets(HasMfma)]
    fn product(depth: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let left = [LdsTile::<f16, 128, { DEPTH as usize }, Spread>::new(), LdsTile::<f16, 128, { DEPTH as usize }, Spread>::new()];
        let right = [LdsTile::<f16, 64, { DEPTH as usize }, Spread>::new(), LdsTile::<f16, 64, { DEPTH as usize }, Spread>::new()];
        let (a, b) = (row_major(a, depth), row_major(b, depth));
        let (row, col) = (wave_id() / 2 * 32, wave_id() % 2 * 32);
        let mut acc = Tile::<f32, 32, 32>::zero();
        left[0].put(left[0].fetch(a, 0, 0));
        right[0].put(right[0].fetch(b, 0, 0));
        #[ping_pong]
        for done in (0..depth).step_by(2 * DEPTH) {
            #[unroll]
            for half in 0..2usize {
                let next = 1 - half;
                let next_a = left[next].fetch(a, 0, done + (half + 1) as u32 * DEPTH);
                let next_b = right[next].fetch(b, 0, done + (half + 1) as u32 * DEPTH);
                let x = TileA::<f16, 32, { DEPTH as usize }>::load(left[half], row, 0);
                let y = TileB::<f16, { DEPTH as usize }, 32>::load(right[half].transposed(), 0, col);
                left[next].put(next_a);
                right[next].put(next_b);
                #[matrix]
                {
                    acc = matmul(x, y, acc);
                }
            }
        }
        acc.store_to(row_major(c, 64), row, col);
    }

    /// Loads an element that another wave of the same group stores in the same phase.
    #[workgroup(512)]
    #[targets(HasMfma)]
    fn racing(n: u32, y: &mut [u32]) {
        let cells = Lds::<u32, 512>::new();
        let i = local_id().x;
        let mut sum: V<u32> = 0;
        let mut acc = Acc::<f32, 32, 32>::zero();
        cells[i] = i;
        #[ping_pong]
        for k in 0..n {
            cells[i] = i + k;
            sum += cells[i ^ 64];
            #[matrix]
            {
                acc = mfma(FragA::<f16, 32, 8>::from_fn(|_| splat(f16::ONE)), FragB::<f16, 8, 32>::from_fn(|_| splat(f16::ONE)), acc);
            }
        }
        y[i] = sum + acc.get(0) as u32;
    }

    #[workgroup(512)]
    fn trips_of_a_wave(n: u32, y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        let trips = if wave_id() > 3 { n } else { n + 1 };
        #[ping_pong]
        for k in 0..trips {
            sum += k;
            #[matrix]
            { sum += 1; }
        }
        y[local_id().x] = sum;
    }

    #[workgroup(512)]
    fn some_waves(n: u32, y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        if wave_id() != 2 {
            #[ping_pong]
            for k in 0..n {
                sum += k;
                #[matrix]
                { sum += 1; }
            }
        }
        y[local_id().x] = sum;
    }

    #[workgroup(512)]
    fn left_around(n: u32, y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        for trip in 0..n {
            #[ping_pong]
            for k in 0..n {
                sum += k;
                #[matrix]
                { sum += 1; }
            }
            if trip == wave_id() { break; }
        }
        y[local_id().x] = sum;
    }

    #[workgroup(512)]
    fn barrier_inside(n: u32, y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[ping_pong]
        for k in 0..n {
            sum += workgroup_sum(local_id().x + k);
            #[matrix]
            { sum += 1; }
        }
        y[local_id().x] = sum;
    }

    #[workgroup(256)]
    fn too_small(n: u32, y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[ping_pong]
        for k in 0..n {
            sum += k;
            #[matrix]
            { sum += 1; }
        }
        y[local_id().x] = sum;
    }

    /// All of these trip counts are uniform over the workgroup.
    #[workgroup(512)]
    fn uniform_trips(n: u32, counts: &[u32], y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        let mut trips: S<u32> = counts[workgroup_id().x];
        for k in 0..wave_id() {
            if k == n { break; }
            sum += 100;
        }
        if n > 2 {
            trips = trips + 1;
            #[ping_pong]
            for k in 0..trips {
                if wave_id() == 3 { sum += k; }
                #[matrix]
                { sum += 1; }
            }
        }
        y[local_id().x] = sum;
    }
}

macro_rules! products_of_rdna {
    ($($name:ident: workgroup $items:tt of waves $wave:tt, $step:tt of the depth;)*) => {$(
        gcn_kernel! {
            /// `product` with accumulators of 16 x 16 elements, by eight waves of either size.
            #[workgroup $items]
            #[wave $wave]
            fn $name(depth: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
                let left = [LdsTile::<f16, 128, 16, Spread<16>>::new(), LdsTile::<f16, 128, 16, Spread<16>>::new()];
                let right = [LdsTile::<f16, 64, 16, Spread<16>>::new(), LdsTile::<f16, 64, 16, Spread<16>>::new()];
                let (a, b) = (row_major(a, depth), row_major(b, depth));
                let (row, col) = (wave_id() / 2 * 32, wave_id() % 2 * 32);
                let mut acc = Tile::<f32, 32, 32, 16>::zero();
                left[0].put(left[0].fetch(a, 0, 0));
                right[0].put(right[0].fetch(b, 0, 0));
                #[ping_pong]
                for done in (0..depth).step_by(2 * DEPTH) {
                    #[unroll]
                    for half in 0..2usize {
                        let next = 1 - half;
                        let next_a = left[next].fetch(a, 0, done + (half + 1) as u32 * DEPTH);
                        let next_b = right[next].fetch(b, 0, done + (half + 1) as u32 * DEPTH);
                        left[next].put(next_a);
                        right[next].put(next_b);
                        #[unroll]
                        for k in (0..16usize).step_by($step) {
                            let x = TileA::<f16, 32, $step, 16>::load(left[half], row, k as u32);
                            let y = TileB::<f16, $step, 32, 16>::load(right[half].transposed(), k as u32, col);
                            #[matrix]
                            {
                                acc = matmul(x, y, acc);
                            }
                        }
                    }
                }
                acc.store_to(row_major(c, 64), row, col);
            }
        }
    )*};
}
products_of_rdna! {
    by_wmma_of_32: workgroup (256) of waves (32), 16 of the depth;
    by_wmma_of_64: workgroup (512) of waves (64), 16 of the depth;
    by_fma_of_32: workgroup (256) of waves (32), 4 of the depth;
    by_fma_of_64: workgroup (512) of waves (64), 4 of the depth;
}

fn matrices(depth: u32) -> (Vec<f16>, Vec<f16>, Vec<f32>) {
    let value = |i: u32| f16::from_f32((i * 7 % 11) as f32 - 5.0);
    let (a, b): (Vec<f16>, Vec<f16>) =
        ((0..128 * depth).map(value).collect(), (0..64 * depth).map(|i| value(i * 3 + 1)).collect());
    let at = |x: &[f16], line: u32, k: u32| x[(line * depth + k) as usize].to_f32();
    let of = |i: u32| (0..depth).map(|k| at(&a, i / 64, k) * at(&b, i % 64, k)).sum();
    let c = (0..128 * 64).map(of).collect();
    (a, b, c)
}

#[test]
fn every_mode_of_the_simulator_gives_the_product() {
    agree(&product, &[Target::GFX908, Target::GFX90A, Target::GFX942, Target::GFX950]);
}

#[test]
fn every_mode_gives_the_product_on_rdna() {
    const WMMA: [Target; 3] = [Target::GFX1100, Target::GFX1151, Target::GFX1201];
    const NO_WMMA: [Target; 2] = [Target::GFX1010, Target::GFX1030];
    agree(&by_wmma_of_32, &WMMA);
    agree(&by_wmma_of_64, &WMMA);
    agree(&by_fma_of_32, &NO_WMMA);
    agree(&by_fma_of_64, &NO_WMMA);
}

fn agree<K>(kernel: &K, targets: &[Target])
where
    K: for<'a> Kernel<Args<'a> = (u32, &'a [f16], &'a [f16], &'a mut [f32])>,
{
    for &target in targets {
        let built = kernel.build(target).unwrap();
        for (mode, sanitize) in [
            (Mode::Functional, Sanitize::empty()),
            (Mode::Strict, Sanitize::empty()),
            (Mode::Faithful, Sanitize::empty()),
            (Mode::Functional, Sanitize::all()),
        ] {
            let device = Device::simulator_with(target, Options { mode, sanitize, ..Options::default() });
            for depth in [32, 96] {
                let (a, b, want) = matrices(depth);
                let mut c = vec![f32::NAN; want.len()];
                device.launch(kernel, &built, Grid::x(1), (depth, &a[..], &b[..], &mut c[..])).unwrap();
                assert_eq!(c, want, "{target} {mode:?} {sanitize:?} {depth}");
            }
        }
    }
}

#[test]
fn a_race_in_such_a_loop_is_found() {
    let options = Options { sanitize: Sanitize::RACES, ..Options::default() };
    let device = Device::simulator_with(Target::GFX942, options);
    let error = racing.launch(&device, Grid::x(1), (3, &mut [0; 512])).unwrap_err().to_string();
    assert!(error.contains("ds_") && error.contains("ping_pong.rs:"), "{error}");
}

#[test]
fn loops_whose_barriers_would_not_pair_are_refused() {
    let wave = "may differ between waves";
    for (result, part) in [
        (trips_of_a_wave.build(Target::GFX942).map(drop), wave),
        (some_waves.build(Target::GFX942).map(drop), wave),
        (left_around.build(Target::GFX942).map(drop), wave),
        (barrier_inside.build(Target::GFX942).map(drop), "a barrier inside a `#[ping_pong]` loop"),
        (too_small.build(Target::GFX942).map(drop), "a multiple of 512 work-items"),
    ] {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("ping_pong.rs:"), "{error}");
    }
}

#[test]
fn what_is_the_same_for_all_waves_may_count() {
    let built = uniform_trips.build(Target::GFX942).unwrap();
    let mut y = vec![0; 512];
    let device = Device::simulator(Target::GFX942);
    device.launch(&uniform_trips, &built, Grid::x(1), (3, &[4], &mut y)).unwrap();
    let want = |i: u32| 100 * (i / 64).min(3) + 5 + if i / 64 == 3 { 10 } else { 0 };
    assert_eq!(y, (0..512).map(want).collect::<Vec<u32>>());
}
