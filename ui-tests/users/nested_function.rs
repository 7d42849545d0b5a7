//! A function in the body is one of the host, where the kernel's writer may mean one of the device.
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
