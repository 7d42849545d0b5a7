//! Error: an argument of a host type. Arguments are device scalars, or slices and pointers of them.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: usize, names: &[String], x: &mut [f32]) {
        x[global_id().x] = n as f32;
    }
}

fn main() {}
