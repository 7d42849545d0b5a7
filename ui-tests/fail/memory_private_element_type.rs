//! A private array holds numbers.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [u32]) {
        let a = Private::<bool, 4>::new();
        x[lane_id()] = a.len();
    }
}

fn main() {}
