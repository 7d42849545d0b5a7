//! Error: a function in a kernel's body, which is a host function, is called with a device value.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &[i32], y: &mut [i32]) {
        fn square(a: i32) -> i32 {
            return a * a;
        }
        let i = global_id().x;
        y[i] = square(x[i]) + square(3);
    }
}

fn main() {}
