//! Products of matrices: with fragments directly from memory, from LDS, and through registers to two alternating LDS
//! buffers.

use gcn_dsl::prelude::*;

use super::{TARGETS, for_stages};

pub type A = FragA<f16, 32, 8>;
pub type B = FragB<f16, 8, 32>;

gcn_kernel! {
    /// c = a * b. Tile `t` of `a` (32 rows of 8) starts at `a[256 t]`, tile `t` of `b` (32 columns of 8) at `b[256 t]`.
    #[workgroup(64)]
    pub fn direct<const STAGES: usize>(tiles: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let (get_a, get_b) = (A::row() * 8 + A::k(), B::col() * 8 + B::k());
        let mut acc = Acc::<f32, 32, 32>::zero();
        #[pipeline(stages = STAGES)]
        for tile in 0..tiles {
            acc = mfma(A::load(&a, tile * 256 + get_a), B::load(&b, tile * 256 + get_b), acc);
        }
        #[unroll]
        for r in 0..16usize {
            c[acc.row(r) * 32 + acc.col()] = acc.get(r);
        }
    }

    /// The same with all tiles in LDS before the loop.
    #[workgroup(64)]
    fn from_lds<const STAGES: usize>(tiles: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let put = lane_id() * 4;
        let (get_a, get_b) = (A::row() * 8 + A::k(), B::col() * 8 + B::k());
        let (left, right) = (Lds::<f16, 4096>::new(), Lds::<f16, 4096>::new());
        for tile in 0..tiles {
            left.store_vector(tile * 256 + put, a.load_vector::<4>(tile * 256 + put));
            right.store_vector(tile * 256 + put, b.load_vector::<4>(tile * 256 + put));
        }
        barrier();
        let mut acc = Acc::<f32, 32, 32>::zero();
        #[pipeline(stages = STAGES)]
        for tile in 0..tiles {
            acc = mfma(A::load(&left, tile * 256 + get_a), B::load(&right, tile * 256 + get_b), acc);
        }
        #[unroll]
        for r in 0..16usize {
            c[acc.row(r) * 32 + acc.col()] = acc.get(r);
        }
    }

    /// The same through registers and two alternating LDS buffers.
    #[workgroup(64)]
    fn double_buffered<const STAGES: usize>(tiles: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let put = lane_id() * 4;
        let (get_a, get_b) = (A::row() * 8 + A::k(), B::col() * 8 + B::k());
        let (left, right) = (LdsPair::<f16, 256>::new().write(), LdsPair::<f16, 256>::new().write());
        left.store_vector(put, a.load_vector::<4>(put));
        right.store_vector(put, b.load_vector::<4>(put));
        #[carried]
        let mut pairs = barrier((left, right));
        let mut acc = Acc::<f32, 32, 32>::zero();
        #[pipeline(stages = STAGES)]
        for tile in 1..tiles + 1 {
            let (left, right) = pairs;
            acc = mfma(A::load(&left, get_a), B::load(&right, get_b), acc);
            let (left, right) = (left.write(), right.write());
            left.store_vector(put, a.load_vector::<4>(tile * 256 + put));
            right.store_vector(put, b.load_vector::<4>(tile * 256 + put));
            pairs = barrier((left, right));
        }
        #[unroll]
        for r in 0..16usize {
            c[acc.row(r) * 32 + acc.col()] = acc.get(r);
        }
    }
}

fn tiles(count: usize, seed: usize) -> Vec<f16> {
    (0..count * 256).map(|i| f16::from_f32((i * seed % 7) as f32 - 3.0)).collect()
}

fn product(tiles: usize, a: &[f16], b: &[f16]) -> Vec<f32> {
    let of = |x: &[f16], line: usize, k: usize| x[k / 8 * 256 + line * 8 + k % 8].to_f32();
    let element = |i: usize| (0..8 * tiles).map(|k| of(a, i / 32, k) * of(b, i % 32, k)).sum();
    (0..1024).map(element).collect()
}

/// A test for each kernel, because the kernels have different types.
macro_rules! products {
    ($($test:ident: $kernel:ident, $ahead:literal ahead;)*) => {$(
        #[test]
        fn $test() {
            for_stages!(device, N => {
                let built = $kernel::<N>.build(device.target()).unwrap();
                assert_eq!(built.pipelines()[0].ahead.len(), $ahead, "{:?}", built.pipelines());
                for count in 0..N + 4 {
                    let (a, b) = (tiles(count, 5), tiles(count, 11));
                    let mut c = vec![1.0f32; 1024];
                    device.launch(&$kernel::<N>, &built, Grid::x(1), (count as u32, &a, &b, &mut c)).unwrap();
                    assert_eq!(c, product(count, &a, &b), "{count} tiles, {N} stages, {}", device.target());
                }
            });
        }
    )*};
}
products! {
    fragments_from_memory: direct, 2 ahead;
    fragments_from_lds: from_lds, 2 ahead;
    registers_before_two_lds_buffers: double_buffered, 2 ahead;
}

/// Loads from LDS after a barrier read what other waves stored, so they stay in their trip.
#[test]
fn lds_that_the_loop_fills_is_read_in_its_trip() {
    let built = double_buffered::<2>.build(Target::GFX942).unwrap();
    let left = &built.pipelines()[0].left;
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(|l| l.to_string().contains("the loop stores to the same memory")), "{left:?}");
}
