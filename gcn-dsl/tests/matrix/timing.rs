//! Runs one workgroup in the timed simulator.

use gcn_dsl::prelude::*;
use gcn_dsl::sim::{KernelState, Machine, Memory, timed};

/// The report of one wave of a kernel. The kernel reads `size[0]` elements, all of which are `x`, and writes `size[1]`.
pub fn report<K, T: Copy, C: Copy + Default>(
    kernel: &K,
    target: Target,
    x: T,
    size: [usize; 2],
) -> timed::TimedReport
where
    K: for<'a> Kernel<Args<'a> = (&'a [T], &'a mut [C])>,
{
    let built = kernel.build(target).unwrap();
    let mut memory = Memory::new();
    let bytes = [size[0] * size_of::<T>(), size[1] * size_of::<C>()];
    let addresses = bytes.map(|bytes| memory.alloc(bytes));
    let (x, mut y) = (vec![x; size[0]], vec![C::default(); size[1]]);
    let kernarg = kernel.kernarg((&x, &mut y), &addresses).unwrap();
    let state = KernelState::from_descriptor(&built.descriptor(), target).unwrap();
    let machine = Machine::new(target, built.code(), state).unwrap();
    let config = timed::Config::default();
    timed::run(&machine, &mut memory, [1, 1, 1], [64, 1, 1], &kernarg, &config).unwrap()
}
