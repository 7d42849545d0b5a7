//! Error: a value is assigned to a field of another type. There is no implicit conversion; `as` converts.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    struct Point {
        x: V<f32>,
        n: u32,
    }

    #[workgroup(64)]
    fn kernel(y: &mut [f32], n: &mut [u32]) {
        let i = global_id().x;
        let p = Point { x: n[i], n: 1 };
        let q = Point { x: 1.0, n: n[i] };
        let mut r = Point { x: 0.0, n: 0 };
        r.z = 1.0;
        r.x = n[i];
    }
}

fn main() {}
