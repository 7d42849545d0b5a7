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
    fn pairs(x: &[(u32, u32)], y: &mut [f32]) {
        y[global_id().x] = 0.0;
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
