//! What the layouts of LDS tiles are for: the cycles that bank conflicts cost, in the timed simulator.

use gcn_dsl::lang::matrix::{Linear, Pad, XorGroups};
use gcn_dsl::prelude::*;
use gcn_dsl::sim::{KernelState, Machine, Memory, timed};

macro_rules! layouts {
    ($($name:ident $layout:ty;)*) => {$(
        gcn_kernel! {
            /// Reads a tile of 64 x 64 from LDS as a left factor, 16 bytes of a row to each lane.
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
}

/// What the LDS did for one workgroup.
fn lds<K>(kernel: &K, target: Target) -> timed::LdsReport
where
    K: for<'a> Kernel<Args<'a> = (&'a [f16], &'a mut [f32])>,
{
    let built = kernel.build(target).unwrap();
    let mut memory = Memory::new();
    let addresses = [memory.alloc(64 * 64 * 2), memory.alloc(64 * 32 * 4)];
    let (x, mut y) = (vec![f16::ZERO; 64 * 64], vec![0.0; 64 * 32]);
    let kernarg = kernel.kernarg((&x, &mut y), &addresses).unwrap();
    let state = KernelState::from_descriptor(&built.descriptor(), target).unwrap();
    let machine = Machine::new(target, built.code(), state).unwrap();
    let config = timed::Config::default();
    timed::run(&machine, &mut memory, [1, 1, 1], [64, 1, 1], &kernarg, &config).unwrap().lds
}

/// Cycles by counting. On gfx942 a bank gives a dword in a cycle, so that 8 KiB through 32 banks take 64 cycles to write and
/// 64 to read. Rows of 128 bytes all begin in the same bank. A factor takes 8 bytes of a row at once, 16 lanes in a phase: all of
/// them in the same two banks, unless rows are moved against each other. Groups of 16 bytes are back at the first bank after 8
/// rows, so that two lanes meet; groups of 8 bytes only after 16.
///
/// gfx950 has 64 banks, which two rows fill, and takes 16 bytes at once, 16 lanes in a phase: 32 cycles each way, and eight of a
/// phase's rows begin in the same bank. Of these the first and the fifth are moved alike.
#[test]
fn swizzles_leave_few_conflicts() {
    let conflicts = |target, least| {
        [lds(&in_rows, target), lds(&with_gaps, target), lds(&by_xor, target), lds(&by_finer_xor, target)]
            .map(|lds| {
                assert_eq!(lds.bytes, 2 * 64 * 64 * 2, "{target}");
                assert_eq!(lds.busy_cycles - lds.conflict_cycles, least, "{target}");
                lds.conflict_cycles
            })
    };
    assert_eq!(conflicts(Target::GFX942, 128), [15 * 64, 64, 64, 0]);
    assert_eq!(conflicts(Target::GFX950, 64)[..3], [7 * 32, 32, 32]);
}
