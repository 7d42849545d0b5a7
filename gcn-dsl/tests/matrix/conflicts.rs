//! The layouts of LDS tiles: the cycles that bank conflicts cost in the timed simulator.

use gcn_dsl::lang::matrix::{Linear, Pad, Spread, XorGroups};
use gcn_dsl::prelude::*;
use gcn_dsl::sim::timed;

use crate::timing::report;

macro_rules! layouts {
    ($($name:ident $layout:ty;)*) => {$(
        gcn_kernel! {
            /// Reads a tile of 64 x 64 from LDS as a left factor; each lane reads 16 bytes of a row at a time.
            #[workgroup(64)]
            fn $name(x: &[f16], y: &mut [f32]) {
                let tile = LdsTile::<f16, 64, 64, $layout>::new();
                tile.put(tile.fetch(row_major(x, 64), 0, 0));
                barrier();
                let left = TileA::<f16, 64, 64>::load(tile, 0, 0);
                let right = TileB::<f16, 64, 32>::load(row_major(x, 64), 0, 0);
                matmul(left, right, Tile::<f32, 64, 32>::zero()).store_to(row_major(y, 32), 0, 0);
            }
        }
    )*};
}
layouts! {
    in_rows Linear;
    with_gaps Pad<8>;
    by_xor XorGroups<8, 8>;
    by_finer_xor XorGroups<4, 16>;
    by_pairs XorGroups<8, 8, 2>;
    by_itself Spread;
}

/// A kernel that reads a tile of 64 x 64.
trait Run {
    fn lds(&self, target: Target) -> timed::LdsReport;
}
impl<K: for<'a> Kernel<Args<'a> = (&'a [f16], &'a mut [f32])>> Run for K {
    fn lds(&self, target: Target) -> timed::LdsReport {
        report(self, target, f16::ZERO, [64 * 64, 64 * 32]).lds
    }
}

/// The expected cycles. On gfx942 a bank provides a dword per cycle, so 8 KiB through 32 banks take 64 cycles to write
/// and 64 to read. All rows of 128 bytes start in the same bank. A factor reads 8 bytes of a row at once, with 16 lanes
/// per phase: all of them read the same two banks, unless the rows are shifted against each other. With a shift by
/// groups of 16 bytes per row, the first bank recurs after 8 rows, so two lanes conflict; with groups of 8 bytes, it
/// recurs only after 16 rows. With groups of 16 bytes and a shift every second row, it recurs after 16 rows, but
/// neighbouring rows conflict, which costs the same.
///
/// gfx950 has 64 banks, which two rows fill, and reads 16 bytes at once, with 16 lanes per phase: 32 cycles for each
/// direction, and eight of the rows of a phase start in the same bank. Of these rows, the first and the fifth are
/// shifted by the same distance if every row shifts the groups; if every second row does, no two are.
#[test]
fn swizzles_leave_no_conflicts() {
    let conflicts = |target, least| {
        [&in_rows as &dyn Run, &with_gaps, &by_xor, &by_pairs, &by_itself].map(|kernel| {
            let lds = kernel.lds(target);
            assert_eq!(lds.bytes, 2 * 64 * 64 * 2, "{target}");
            assert_eq!(lds.busy_cycles - lds.conflict_cycles, least, "{target}");
            lds.conflict_cycles
        })
    };
    assert_eq!(conflicts(Target::GFX942, 128), [15 * 64, 64, 64, 64, 0]);
    assert_eq!(conflicts(Target::GFX950, 64), [7 * 32, 32, 32, 0, 0]);
    assert_eq!(by_finer_xor.lds(Target::GFX942).conflict_cycles, 0, "what `Spread` is there");
}

macro_rules! types {
    ($($name:ident $t:ident => $c:ident on $targets:ident, $rows:literal x $cols:literal, $side:literal;)*) => {$(
        gcn_kernel! {
            /// Writes a tile and reads it as a left factor.
            #[workgroup(64)]
            #[targets($targets)]
            fn $name(x: &[$t], y: &mut [$c]) {
                let tile = LdsTile::<$t, $rows, $cols, Spread<$side>>::new();
                tile.put(tile.fetch(row_major(x, $cols), 0, 0));
                barrier();
                let left = TileA::<$t, $rows, $cols, $side>::load(tile, 0, 0);
                let right = TileB::<$t, $cols, $side, $side>::load(col_major(x, $cols), 0, 0);
                let acc = Tile::<$c, $rows, $side, $side>::zero();
                matmul(left, right, acc).store_to(row_major(y, $side), 0, 0);
            }
        }
    )*};
}
types! {
    f16s f16 => f32 on HasMfma, 64 x 64, 32;
    f16s_in_16 f16 => f32 on HasMfma, 64 x 64, 16;
    f16s_short f16 => f32 on HasMfma, 64 x 32, 32;
    f16s_long f16 => f32 on HasMfma, 32 x 256, 32;
    bf16s bf16 => f32 on HasMfma, 64 x 64, 32;
    i8s i8 => i32 on HasMfma, 64 x 64, 32;
    i8s_long i8 => i32 on HasMfma, 64 x 128, 16;
    f32s f32 => f32 on HasMfma, 64 x 32, 32;
    f32s_in_16 f32 => f32 on HasMfma, 32 x 32, 16;
    f32s_long f32 => f32 on HasMfma, 32 x 64, 32;
    f64s f64 => f64 on HasMfmaF64, 32 x 16, 16;
    f8s f8e4m3 => f32 on HasMfmaF8, 64 x 64, 32;
    f8s_long f8e4m3 => f32 on HasMfmaF8, 32 x 256, 16;
}

/// Every bank provides its dword in every cycle, for every element type on every target.
#[test]
fn spread_leaves_no_conflicts() {
    macro_rules! free {
        ($($name:ident $zero:expr, $rows:literal x $cols:literal, $side:literal;)*) => {$(
            for target in $name.signature().targets.representatives() {
                let lds = report(&$name, target, $zero, [$rows * $cols, $rows * $side]).lds;
                assert_eq!(lds.conflict_cycles, 0, "{} on {target}", stringify!($name));
            }
        )*};
    }
    free! {
        f16s f16::ZERO, 64 x 64, 32;
        f16s_in_16 f16::ZERO, 64 x 64, 16;
        f16s_short f16::ZERO, 64 x 32, 32;
        f16s_long f16::ZERO, 32 x 256, 32;
        bf16s bf16::ZERO, 64 x 64, 32;
        i8s 0i8, 64 x 64, 32;
        i8s_long 0i8, 64 x 128, 16;
        f32s 0f32, 64 x 32, 32;
        f32s_in_16 0f32, 32 x 32, 16;
        f32s_long 0f32, 32 x 64, 32;
        f64s 0f64, 32 x 16, 16;
        f8s f8e4m3::default(), 64 x 64, 32;
        f8s_long f8e4m3::default(), 32 x 256, 16;
    }
}

/// The number of banks for which layouts are designed is that of the simulator.
#[test]
fn banks_are_the_simulators() {
    for target in Target::REPRESENTATIVES {
        let banks = timed::parameters(target).into_iter().find(|p| p.name == "lds.banks").unwrap();
        assert_eq!(banks.value, target.lds_banks().to_string(), "{target}");
    }
}
