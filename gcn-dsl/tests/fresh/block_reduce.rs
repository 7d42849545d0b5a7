//! Reductions by a functor, as CUB's BlockReduce and PyTorch's reduce kernels are templates over one.

use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

pub struct Add;
pub struct Max;
pub struct Xor;

gcn_kernel! {
    #[device]
    trait ReduceOp {
        fn identity() -> V<u32>;
        fn combine(a: V<u32>, b: V<u32>) -> V<u32>;
    }

    #[device]
    impl ReduceOp for Add {
        fn identity() -> V<u32> {
            0
        }
        fn combine(a: V<u32>, b: V<u32>) -> V<u32> {
            a + b
        }
    }

    #[device]
    impl ReduceOp for Max {
        fn identity() -> V<u32> {
            0
        }
        fn combine(a: V<u32>, b: V<u32>) -> V<u32> {
            a.max(b)
        }
    }

    #[device]
    impl ReduceOp for Xor {
        fn identity() -> V<u32> {
            0
        }
        fn combine(a: V<u32>, b: V<u32>) -> V<u32> {
            a ^ b
        }
    }

    #[device]
    fn warp_reduce<Op: ReduceOp>(mut val: V<u32>) -> V<u32> {
        let mut offset = 32;
        while offset > 0 {
            val = Op::combine(val, shuffle_down(val, offset));
            offset /= 2;
        }
        val
    }

    #[device]
    fn block_reduce<Op: ReduceOp>(all: AllLanes, val: V<u32>) -> V<u32> {
        let shared = Lds::<u32, 4>::new();
        let lane = local_id().x % 64;
        let wid = local_id().x / 64;
        let mut val = warp_reduce::<Op>(val);
        if lane == 0 {
            shared[wid] = val;
        }
        barrier();
        val = if local_id().x < 4 { shared[lane] } else { Op::identity() };
        if wid == 0 {
            val = warp_reduce::<Op>(val);
        }
        val
    }

    #[workgroup(256)]
    #[wave(64)]
    fn reduce(x: &[u32], sum: &mut [u32], max: &mut [u32], xor: &mut [u32]) {
        let mut s = Add::identity();
        let mut m = Max::identity();
        let mut e = Xor::identity();
        for i in (local_id().x..x.len()).step_by(256) {
            s = Add::combine(s, x[i]);
            m = Max::combine(m, x[i]);
            e = Xor::combine(e, x[i]);
        }
        let s = block_reduce::<Add>(all_lanes(), s);
        let m = block_reduce::<Max>(all_lanes(), m);
        let e = block_reduce::<Xor>(all_lanes(), e);
        if local_id().x == 0 {
            sum[0] = s;
            max[0] = m;
            xor[0] = e;
        }
    }
}

#[test]
fn reduces() {
    let x = numbers(1000, 100_000);
    everywhere(|device| {
        let (mut sum, mut max, mut xor) = ([0], [0], [0]);
        reduce.launch(device, Grid::x(1), (&x, &mut sum, &mut max, &mut xor)).unwrap();
        assert_eq!(sum[0], x.iter().sum::<u32>());
        assert_eq!(max[0], *x.iter().max().unwrap());
        assert_eq!(xor[0], x.iter().fold(0, |a, b| a ^ b));
    });
}
