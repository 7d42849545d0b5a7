//! rustc's lints about variables apply to kernels and device functions, and so do lint levels.
#![deny(unused)]
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    #[repr(C)]
    struct Pair {
        a: f32,
        b: f32,
    }

    #[device]
    fn helper(x: V<f32>, unused: V<f32>) -> V<f32> {
        let mut unchanged = x;
        unchanged
    }

    #[workgroup(64)]
    fn kernel(n: u32, pairs: &[Pair], y: &mut [f32]) {
        let i = global_id().x;
        let mut assigned = 0.0;
        assigned = y[i];
        let mut overwritten = 1.0;
        overwritten = helper(y[i], 2.0);
        y[i] = overwritten;
        overwritten = 3.0;
        let Pair { a, b } = pairs[i];
        for k in 0..4 {
            y[i] += a;
        }
    }

    #[allow(unused_variables)]
    #[workgroup(64)]
    fn allowed(n: u32, _m: u32, y: &mut [f32]) {
        let i = global_id().x;
    }

    /// Values that a loop carries from trip to trip, and values that are used after the loop.
    #[workgroup(64)]
    fn used(n: u32, y: &mut [f32]) {
        let i = global_id().x;
        let (mut sum, mut last) = (0.0, 0.0);
        let mut steps = 0;
        'all: loop {
            for k in 0..n {
                if y[k] > 1.0 {
                    last = y[k];
                    break 'all;
                }
                sum += y[k] - last;
                last = y[k];
            }
            steps += 1;
            if steps > 3 {
                break;
            }
        }
        let t = dbg!(sum);
        debug_assert!(last >= 0.0, "{t:?}");
        y[i] = Vector::<f32, 2>::from_fn(|k| y[i + k as u32]).get(0);
    }
}

fn main() {
    _ = (kernel, allowed, used);
}
