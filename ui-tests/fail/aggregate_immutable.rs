//! Error: a field or an element of an immutable variable is assigned.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    struct Point {
        x: V<f32>,
        y: V<f32>,
    }

    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let p = Point { x: 0.0, y: 0.0 };
        p.x = 1.0;
        local_id().x = 3;
    }
}

fn main() {}
