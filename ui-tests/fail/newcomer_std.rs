//! Errors: functions and macros of std, which act on host values.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn asserts(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        assert!(i < x.len());
        if x[i] > 0.0 {
            assert_eq!(1, 1);
        }
        y[i] = x[i];
    }

    #[workgroup(64)]
    fn swaps(y: &mut [f32]) {
        let (mut a, mut b) = (1.0f32, 2.0f32);
        std::mem::swap(&mut a, &mut b);
        y[global_id().x] = a;
    }

    #[workgroup(64)]
    fn iterates(x: &[f32], y: &mut [f32]) {
        y[global_id().x] = x.iter().sum();
    }

    #[workgroup(64)]
    fn methods(x: &[f32], n: &[u32], y: &mut [f32], m: &mut [u32]) {
        let i = global_id().x;
        y[i] = x[i].rsqrt();
        m[i] = n[i].checked_add(1);
    }

    #[workgroup(64)]
    fn sizes(y: &mut [u32]) {
        y[global_id().x] = gridDim.x * blockDim.x;
    }
}

fn main() {}
