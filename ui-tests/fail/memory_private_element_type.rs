//! Error: an array in private memory or LDS with an element type that memory cannot store.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    struct Point {
        x: V<f32>,
        y: V<f32>,
    }

    #[workgroup(64)]
    fn kernel(x: &mut [u32]) {
        let a = Private::<Point, 4>::new();
        let b = Lds::<Point, 4>::new();
        x[lane_id()] = a.len() + b.len();
    }
}

fn main() {}
