//! Factors in which each lane has the elements that one access of 16 bytes loads (`Wide`), compared with plain Rust.
//! Sums of small integers are exact in any order.

use gcn_dsl::lang::matrix::{Spread, Wide};
use gcn_dsl::prelude::*;
use gcn_test_support::Random;

fn numbers(seed: u64, n: usize) -> Vec<i32> {
    let mut rng = Random::new(seed);
    (0..n).map(|_| rng.below(9) as i32 - 4).collect()
}

/// The product. `a` is stored row by row, `b` column by column.
fn product([m, n, k]: [usize; 3], a: &[i32], b: &[i32]) -> Vec<i32> {
    let dot = |i: usize| (0..k).map(|l| a[i / n * k + l] * b[i % n * k + l]).sum();
    (0..m * n).map(dot).collect()
}

macro_rules! wide {
    ($($name:ident: $t:ident => $c:ident on $has:tt [$($target:ident)*], $k:literal, $side:literal, $to:expr;)*) => {$(
        mod $name {
            use super::*;
            gcn_kernel! {
                /// c = a * b for 64 x K times K x 32 elements, with a in LDS and b in memory. Then the same with b
                /// stored row by row, so that `k` is not contiguous.
                #[workgroup(64)]
                #[targets $has]
                fn kernel(a: &[$t], b: &[$t], across: &[$t], c: &mut [$c]) {
                    let tile = LdsTile::<$t, 64, $k, Spread<$side, Wide>>::new();
                    tile.put(tile.fetch(row_major(a, $k), 0, 0));
                    barrier();
                    let left = TileA::<$t, 64, $k, $side, Wide>::load(tile, 0, 0);
                    let right = TileB::<$t, $k, 32, $side, Wide>::load(col_major(b, $k), 0, 0);
                    let zero = Tile::<$c, 64, 32, $side>::zero();
                    matmul(left, right, zero).store_to(row_major(c, 32), 0, 0);
                    let right = TileB::<$t, $k, 32, $side, Wide>::load(row_major(across, 32), 0, 0);
                    matmul(left, right, zero).store_to(row_major(c, 32), 64, 0);
                }
            }

            #[test]
            fn both_factors_in_the_same_order_multiply() {
                let (a, b) = (numbers(1, 64 * $k), numbers(2, 32 * $k));
                let across: Vec<i32> = (0..32 * $k).map(|i| b[i % 32 * $k + i / 32]).collect();
                let want: Vec<$c> = product([64, 32, $k], &a, &b).repeat(2).into_iter().map(|x| x as $c).collect();
                let [a, b, across] = [a, b, across].map(|xs| xs.into_iter().map($to).collect::<Vec<$t>>());
                for target in [$(Target::$target),*] {
                    let mut c = vec![0 as $c; 2 * 64 * 32];
                    kernel.launch(&Device::simulator(target), Grid::x(1), (&a, &b, &across, &mut c)).unwrap();
                    assert_eq!(c, want, "{target}");
                }
            }
        }
    )*};
}
wide! {
    f16_32: f16 => f32 on (HasMfma) [GFX908 GFX90A GFX942 GFX950], 64, 32, |x| f16::from_f32(x as f32);
    f16_16: f16 => f32 on (HasMfma) [GFX908 GFX90A GFX942 GFX950], 64, 16, |x| f16::from_f32(x as f32);
    bf16_32: bf16 => f32 on (HasMfma) [GFX908 GFX90A GFX942 GFX950], 64, 32, |x| bf16::from_f32(x as f32);
    // The depth needs fewer instructions than a load of 16 bytes serves.
    one_step: f16 => f32 on (HasMfma) [GFX908 GFX90A GFX942 GFX950], 8, 32, |x| f16::from_f32(x as f32);
    two_steps: i8 => i32 on (HasMfma) [GFX908 GFX90A GFX942 GFX950], 16, 32, |x| x as i8;
    f32_32: f32 => f32 on (HasMfma) [GFX908 GFX90A GFX942 GFX950], 32, 32, |x| x as f32;
    i8_32: i8 => i32 on (HasMfma) [GFX908 GFX90A GFX942 GFX950], 64, 32, |x| x as i8;
    i8_16: i8 => i32 on (HasMfma) [GFX908 GFX90A GFX942 GFX950], 128, 16, |x| x as i8;
    f8_32: f8e4m3 => f32 on (gfx942) [GFX942], 32, 32, |x| f8e4m3::from_f32(x as f32, Target::GFX942);
    f64_16: f64 => f64 on (gfx90a, gfx942, gfx950) [GFX90A GFX942 GFX950], 16, 16, |x| x as f64;
}

gcn_kernel! {
    /// Reads a tile of 64 x 64 from LDS as a left factor.
    #[workgroup(64)]
    fn through_lds(x: &[f16], y: &mut [f32]) {
        let tile = LdsTile::<f16, 64, 64, Spread<32, Wide>>::new();
        tile.put(tile.fetch(row_major(x, 64), 0, 0));
        barrier();
        let left = TileA::<f16, 64, 64, 32, Wide>::load(tile, 0, 0);
        let right = TileB::<f16, 64, 32, 32, Wide>::load(row_major(x, 64), 0, 0);
        matmul(left, right, Tile::<f32, 64, 32>::zero()).store_to(row_major(y, 32), 0, 0);
    }
}

/// 64 lanes write 8 KiB with 8 accesses of 16 bytes and read as much. No two lanes that are served in the same cycle
/// access the same bank.
#[test]
fn lds_is_written_and_read_by_16_bytes_without_conflicts() {
    for target in [Target::GFX90A, Target::GFX942, Target::GFX950] {
        let text = through_lds.build(target).unwrap().assembly(Comments::None);
        assert_eq!(
            ["ds_write_b128", "ds_read_b128"].map(|name| text.matches(name).count()),
            [8, 8],
            "{target}"
        );
        assert_eq!(
            crate::timing::report(&through_lds, target, f16::ZERO, [64 * 64, 64 * 32]).lds.conflict_cycles,
            0
        );
    }
}
