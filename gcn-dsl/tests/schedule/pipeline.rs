//! `#[pipeline(stages = n)]`. Results are compared with plain Rust, for each trip count near the number of stages.
//! Speed is measured in the timed simulator.

mod buffers;
mod busy;
mod loops;
mod matrices;
mod refused;
mod speed;

use gcn_dsl::BuildOptions;
use gcn_dsl::prelude::*;

const TARGETS: [Target; 3] = [Target::GFX90A, Target::GFX942, Target::GFX950];

/// The targets of GFX9 and of RDNA, the latter in waves of 32 lanes.
const EVERYWHERE: [Target; 6] =
    [Target::GFX90A, Target::GFX942, Target::GFX950, Target::GFX1030, Target::GFX1100, Target::GFX1201];

/// Runs the block for each target and each number of stages, which is the constant `N`.
macro_rules! for_stages {
    ($device:ident, $n:ident => $body:block) => {
        for_stages!(TARGETS; $device, $n => $body)
    };
    ($targets:ident; $device:ident, $n:ident => $body:block) => {
        for target in $targets {
            let $device = Device::simulator(target);
            for_stages!(@each $n $body 2 3 4 8);
        }
    };
    (@each $n:ident $body:block $($stages:literal)*) => {$({
        const $n: usize = $stages;
        $body
    })*};
}
pub(crate) use for_stages;

gcn_kernel! {
    /// Loads of every kind and width: of one, two, four and sixteen bytes, through scalar memory, streaming, and of
    /// merged neighbours.
    #[workgroup(64)]
    fn mixed<const STAGES: usize>(
        n: u32, bytes: &[u8], halves: &[f16], words: &[u32], wide: &[f32], scalars: &[u64], y: &mut [u64]
    ) {
        let lane = local_id().x;
        let mut sum: V<u64> = 0;
        #[pipeline(stages = STAGES)]
        for k in 0..n {
            let at = k * 64 + lane;
            let v = wide.load_vector::<4>(at * 4);
            let far = words.load_with(at, Cache::Streaming);
            let pair = words[at * 2] ^ words[at * 2 + 1];
            let parts = bytes[at] as u32 + (halves[at] as f32 + v.get(0) * v.get(3)) as u32 + far + pair;
            sum = sum * 3 + parts as u64 + scalars[k] + scalars[k + 1];
        }
        y[lane] = sum;
    }
}

#[test]
fn loads_of_every_width_run_ahead() {
    const MOST: usize = 12;
    let bytes: Vec<u8> = (0..MOST * 64).map(|i| (i * 7) as u8).collect();
    let halves: Vec<f16> = (0..MOST * 64).map(|i| f16::from_f32((i % 99) as f32)).collect();
    let words: Vec<u32> = (0..MOST * 128).map(|i| (i * i) as u32 & 0xffff).collect();
    let wide: Vec<f32> = (0..MOST * 256).map(|i| (i % 31) as f32).collect();
    let scalars: Vec<u64> = (0..=MOST).map(|i| (i as u64) << 33 | 5).collect();
    let want = |lane: usize, n: usize| {
        (0..n).fold(0u64, |sum, k| {
            let at = k * 64 + lane;
            let pair = words[2 * at] ^ words[2 * at + 1];
            let float = halves[at].to_f32() + wide[4 * at] * wide[4 * at + 3];
            let parts = u32::from(bytes[at]) + float as u32 + words[at] + pair;
            sum.wrapping_mul(3)
                .wrapping_add(u64::from(parts))
                .wrapping_add(scalars[k])
                .wrapping_add(scalars[k + 1])
        })
    };
    for_stages!(EVERYWHERE; device, N => {
        // With one of the numbers of stages, the other optimizations that reorder and merge are disabled.
        let options = BuildOptions { schedule: N != 3, merge: N != 3, ..BuildOptions::default() };
        let built = mixed::<N>.build_with(device.target(), &options).unwrap();
        let [pipeline] = built.pipelines() else { panic!("one loop: {:?}", built.pipelines()) };
        assert_eq!((pipeline.stages, pipeline.left.len()), (N as u8, 0), "{pipeline:?}");
        assert!(built.assembly(Comments::Explain).contains("; lgkmcnt(0): scalar loads return in any order"));
        for n in 0..N + 4 {
            let mut y = vec![1u64; 64];
            let args = (n as u32, &bytes[..], &halves[..], &words[..], &wide[..], &scalars[..], &mut y[..]);
            device.launch(&mixed::<N>, &built, Grid::x(1), args).unwrap();
            let want: Vec<u64> = (0..64).map(|lane| want(lane, n)).collect();
            assert_eq!(y, want, "{n} trips, {N} stages, {}", device.target());
        }
    });
}

gcn_kernel! {
    /// Raw pointers, whose loads check no bounds.
    #[workgroup(64)]
    fn raw<const STAGES: usize>(n: u32, x: *const u32, y: *mut u32) {
        let lane = local_id().x;
        let mut sum: V<u32> = 0;
        #[pipeline(stages = STAGES)]
        for k in 0..n {
            sum = sum * 5 + x[k * 64 + lane];
        }
        y[lane] = sum;
    }
}

/// The simulator ends the run at the first byte that is out of bounds of an allocation.
#[test]
fn nothing_is_read_that_the_loop_does_not_read() {
    for_stages!(EVERYWHERE; device, N => {
        for n in 0..N + 4 {
            let x: Vec<u32> = (0..n as u32 * 64).map(|i| i ^ 0x55).collect();
            let (from, to) = (device.alloc::<u32>(x.len()).unwrap(), device.alloc::<u32>(64).unwrap());
            device.write(from, &x).unwrap();
            raw::<N>.launch(&device, Grid::x(1), (n as u32, from, to)).unwrap();
            let want: Vec<u32> = (0..64)
                .map(|lane| (0..n).fold(0u32, |sum, k| sum.wrapping_mul(5).wrapping_add(x[k * 64 + lane])))
                .collect();
            assert_eq!(device.read(to, 64).unwrap(), want, "{n} trips, {N} stages");
        }
    });
}

gcn_kernel! {
    /// A load of memory that the loop stores to stays in its trip, and reads what earlier trips stored. The other loads
    /// run ahead.
    #[workgroup(64)]
    fn scan<const STAGES: usize>(n: u32, x: &[u32], y: &mut [u32]) {
        let lane = local_id().x;
        #[pipeline(stages = STAGES)]
        for k in 1..n {
            y[k * 64 + lane] = y[(k - 1) * 64 + lane] * 3 + x[k * 64 + lane];
        }
    }

    /// Loads run ahead from memory that the kernel may write if nothing in the loop stores to it.
    #[workgroup(64)]
    fn moved<const STAGES: usize>(n: u32, from: &mut [u32], to: &mut [u32]) {
        let lane = local_id().x;
        #[pipeline(stages = STAGES)]
        for k in 0..n {
            to[k * 64 + lane] = from[k * 64 + lane] + k;
        }
        from[lane] = n;
    }
}

#[test]
fn loads_do_not_pass_stores_to_the_same_memory() {
    let x: Vec<u32> = (0..12 * 64).map(|i| i * 11).collect();
    for_stages!(EVERYWHERE; device, N => {
        for n in 0..N + 4 {
            let mut y = x.clone();
            scan::<N>.launch(&device, Grid::x(1), (n as u32, &x, &mut y)).unwrap();
            let mut want = x.clone();
            for i in 64..(64 * n).max(64) {
                want[i] = want[i - 64].wrapping_mul(3).wrapping_add(x[i]);
            }
            assert_eq!(y, want, "{n} trips, {N} stages");

            let (mut from, mut to) = (x.clone(), vec![0; x.len()]);
            moved::<N>.launch(&device, Grid::x(1), (n as u32, &mut from, &mut to)).unwrap();
            let want = |i: usize| if i < 64 * n { x[i] + (i / 64) as u32 } else { 0 };
            assert!(to.iter().enumerate().all(|(i, y)| *y == want(i)), "{n} trips, {N} stages");
            assert!(from[..64].iter().all(|f| *f == n as u32));
        }
    });
    let built = scan::<2>.build(Target::GFX942).unwrap();
    let pipeline = &built.pipelines()[0];
    assert_eq!((pipeline.ahead.len(), pipeline.left.len()), (1, 1));
    assert!(
        pipeline.left[0].to_string().contains("the loop stores to the same memory at"),
        "{}",
        pipeline.left[0]
    );
}
