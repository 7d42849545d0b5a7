//! Error: a private array is indexed by a type other than the index types of device memory.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let a = Private::<f32, 4>::filled(0.0);
        for i in 0..4i32 {
            a[i] = 1.0;
        }
        x[lane_id()] = a[0];
    }
}

fn main() {}
